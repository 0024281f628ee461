"""Types that Arrow cannot carry between Spark and Python, and what crosses in their place.

A year-month interval crosses as its months, a calendar interval as its text. Before Spark 4, a
day-time interval crosses as its microseconds: the Arrow writer of durations does not grow there.
Everything else that Spark has, Arrow has too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyspark
from pyspark.sql import types as spark_types

from matchrec.spark.wire import SelectItem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DURATIONS_CROSS = int(pyspark.__version__.split(".")[0]) >= 4
SECONDS = (("DAY", 86_400), ("HOUR", 3_600), ("MINUTE", 60), ("SECOND", 1))


def crosses_as(type_: spark_types.DataType) -> spark_types.DataType:
    """The type in which values of a type cross."""
    if isinstance(type_, spark_types.YearMonthIntervalType):
        return spark_types.IntegerType()
    if is_calendar_interval(type_):
        return spark_types.StringType()
    if isinstance(type_, spark_types.DayTimeIntervalType) and not DURATIONS_CROSS:
        return spark_types.LongType()
    return type_


def is_calendar_interval(type_: spark_types.DataType) -> bool:
    """Whether it is the type of `make_interval`, which PySpark names from version 4 on."""
    return type_.typeName() == "interval"


def sent(frame: DataFrame) -> DataFrame:
    """The columns of `frame` as they cross."""
    fields = frame.schema.fields
    if all(crosses_as(field.dataType) == field.dataType for field in fields):
        return frame
    return frame.selectExpr(*(str(SelectItem(encoded(field), field.name)) for field in fields))


def encoded(field: spark_types.StructField) -> str:
    """A column as SQL of the type that crosses."""
    name, type_ = field.name, field.dataType
    if crosses_as(type_) == type_:
        return name
    if is_calendar_interval(type_):
        return f"CAST({name} AS STRING)"
    if isinstance(type_, spark_types.DayTimeIntervalType):
        return microseconds(name)
    assert isinstance(type_, spark_types.YearMonthIntervalType)
    if type_.startField == type_.endField:
        months = 12 if type_.startField == spark_types.YearMonthIntervalType.YEAR else 1
        return f"CAST({name} AS INT) * {months}"
    return f"CAST(EXTRACT(YEAR FROM {name}) * 12 + EXTRACT(MONTH FROM {name}) AS INT)"


def microseconds(name: str) -> str:
    """A day-time interval as SQL of a number."""
    full = f"CAST({name} AS INTERVAL DAY TO SECOND)"
    parts = (f"EXTRACT({unit} FROM {full}) * {seconds}" for unit, seconds in SECONDS)
    return f"CAST(({' + '.join(parts)}) * 1000000 AS BIGINT)"


def received(frame: DataFrame, wanted: spark_types.StructType) -> DataFrame:
    """The columns of `frame`, which crossed, as the types that they stand for."""
    if all(crosses_as(field.dataType) == field.dataType for field in wanted.fields):
        return frame
    items = (SelectItem(decoded(field), field.name) for field in wanted.fields)
    return frame.selectExpr(*map(str, items))


def decoded(field: spark_types.StructField) -> str:
    """A column that crossed as SQL of its own type."""
    name, type_ = field.name, field.dataType
    if crosses_as(type_) == type_:
        return name
    if is_calendar_interval(type_):
        return f"CAST({name} AS INTERVAL)"
    if isinstance(type_, spark_types.DayTimeIntervalType):
        seconds = f"CAST({name} AS DECIMAL(20, 0)) / 1000000"
        value = f"make_dt_interval(0, 0, 0, CAST({seconds} AS DECIMAL(18, 6)))"
    else:
        value = f"make_ym_interval(0, {name})"
    return f"CAST({value} AS {type_.simpleString()})"


def crossing_schema(wanted: spark_types.StructType) -> spark_types.StructType:
    """The schema in which columns of `wanted` cross."""
    return spark_types.StructType(
        [
            spark_types.StructField(field.name, crosses_as(field.dataType), field.nullable)
            for field in wanted.fields
        ]
    )
