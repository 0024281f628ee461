"""Types that Arrow cannot carry between Spark and Python, and what crosses in their place.

A year-month interval crosses as its months, a calendar interval as its text. Before Spark 4, a
day-time interval crosses as its microseconds: the Arrow writer of durations does not grow there.
Where an array, a map or a struct holds one, its parts cross so. Everything else that Spark has,
Arrow has too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyspark
from pyspark.sql import types as spark_types

from matchrec.plan.text import quoted, string_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DURATIONS_CROSS = int(pyspark.__version__.split(".")[0]) >= 4
SECONDS = (("DAY", 86_400), ("HOUR", 3_600), ("MINUTE", 60), ("SECOND", 1))

Leaf = Callable[[str, spark_types.DataType], str]  # SQL of a value, and its type, as other SQL


def crosses_as(type_: spark_types.DataType) -> spark_types.DataType:
    """The type in which values of a type cross."""
    match type_:
        case spark_types.YearMonthIntervalType():
            return spark_types.IntegerType()
        case spark_types.DayTimeIntervalType() if not DURATIONS_CROSS:
            return spark_types.LongType()
        case spark_types.ArrayType():
            return spark_types.ArrayType(crosses_as(type_.elementType), type_.containsNull)
        case spark_types.MapType():
            key, value = crosses_as(type_.keyType), crosses_as(type_.valueType)
            return spark_types.MapType(key, value, type_.valueContainsNull)
        case spark_types.StructType():
            return spark_types.StructType([crossing_field(field) for field in type_.fields])
        case _ if is_calendar_interval(type_):
            return spark_types.StringType()
    return type_


def is_calendar_interval(type_: spark_types.DataType) -> bool:
    """Whether it is the type of `make_interval`, which PySpark names from version 4 on."""
    return type_.typeName() == "interval"


def crossing_field(field: spark_types.StructField) -> spark_types.StructField:
    """A field of a struct as it crosses."""
    type_ = crosses_as(field.dataType)
    return spark_types.StructField(field.name, type_, field.nullable, field.metadata)


def crossing_schema(wanted: spark_types.StructType) -> spark_types.StructType:
    """The schema in which columns of `wanted` cross."""
    return spark_types.StructType(
        [
            spark_types.StructField(field.name, crosses_as(field.dataType), field.nullable)
            for field in wanted.fields
        ]
    )


def encode_columns(frame: DataFrame) -> DataFrame:
    """Convert the columns of `frame` to types that cross."""
    return convert_columns(frame, frame.schema, encode)


def decode_columns(frame: DataFrame, wanted: spark_types.StructType) -> DataFrame:
    """Convert the columns of `frame` back from the types in which they crossed."""
    return convert_columns(frame, wanted, decode)


def convert_columns(frame: DataFrame, own: spark_types.StructType, leaf: Leaf) -> DataFrame:
    """Convert with `leaf` what does not cross as it is. own: the types of the columns."""
    if all(crosses_as(field.dataType) == field.dataType for field in own.fields):
        return frame
    items = (
        f"{convert_parts(field.name, field.dataType, leaf)} AS {field.name}" for field in own.fields
    )
    return frame.selectExpr(*items)


def convert_parts(value: str, type_: spark_types.DataType, leaf: Leaf, depth: int = 0) -> str:
    """Convert with `leaf` the parts of a value that do not cross as they are; SQL to SQL.

    depth: how many arrays and maps are around it; each has a name of its own for its elements.
    """
    if crosses_as(type_) == type_:
        return value
    match type_:
        case spark_types.ArrayType():
            element = convert_parts(f"e{depth}", type_.elementType, leaf, depth + 1)
            return f"transform({value}, e{depth} -> {element})"
        case spark_types.MapType():
            names = f"(k{depth}, v{depth})"
            key = convert_parts(f"k{depth}", type_.keyType, leaf, depth + 1)
            held = convert_parts(f"v{depth}", type_.valueType, leaf, depth + 1)
            values = f"transform_values({value}, {names} -> {held})"
            return f"transform_keys({values}, {names} -> {key})"
        case spark_types.StructType():
            fields = (
                f"{string_literal(field.name)}, "
                + convert_parts(f"{value}.{quoted(field.name)}", field.dataType, leaf, depth)
                for field in type_.fields
            )
            return f"IF({value} IS NULL, NULL, named_struct({', '.join(fields)}))"
    return leaf(value, type_)


def encode(value: str, type_: spark_types.DataType) -> str:
    """Encode a value whose type does not cross, SQL to SQL."""
    if is_calendar_interval(type_):
        return f"CAST({value} AS STRING)"
    if isinstance(type_, spark_types.DayTimeIntervalType):
        return microseconds(value)
    assert isinstance(type_, spark_types.YearMonthIntervalType)
    if type_.startField == type_.endField:
        months = 12 if type_.startField == spark_types.YearMonthIntervalType.YEAR else 1
        return f"CAST({value} AS INT) * {months}"
    return f"CAST(EXTRACT(YEAR FROM {value}) * 12 + EXTRACT(MONTH FROM {value}) AS INT)"


def microseconds(value: str) -> str:
    """A day-time interval as SQL of a number."""
    full = f"CAST({value} AS INTERVAL DAY TO SECOND)"
    units = (f"EXTRACT({unit} FROM {full}) * {seconds}" for unit, seconds in SECONDS)
    return f"CAST(({' + '.join(units)}) * 1000000 AS BIGINT)"


def decode(value: str, type_: spark_types.DataType) -> str:
    """Decode a value that crossed, SQL to SQL of its own type."""
    if is_calendar_interval(type_):
        return f"CAST({value} AS INTERVAL)"
    if isinstance(type_, spark_types.DayTimeIntervalType):
        seconds = f"CAST({value} AS DECIMAL(20, 0)) / 1000000"
        interval = f"make_dt_interval(0, 0, 0, CAST({seconds} AS DECIMAL(18, 6)))"
    else:
        interval = f"make_ym_interval(0, {value})"
    return f"CAST({interval} AS {type_.simpleString()})"
