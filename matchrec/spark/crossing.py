"""Types that Arrow cannot carry between Spark and Python, and what crosses in their place.

A year-month interval crosses as its months, a calendar interval as its text. Everything else that
Spark has, Arrow has too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import types as spark_types

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def crosses_as(type_: spark_types.DataType) -> spark_types.DataType:
    """The type in which values of a type cross."""
    if isinstance(type_, spark_types.YearMonthIntervalType):
        return spark_types.IntegerType()
    if isinstance(type_, spark_types.CalendarIntervalType):
        return spark_types.StringType()
    return type_


def sent(frame: DataFrame) -> DataFrame:
    """The columns of `frame` as they cross."""
    fields = frame.schema.fields
    if all(crosses_as(field.dataType) == field.dataType for field in fields):
        return frame
    return frame.selectExpr(*(f"{encoded(field)} AS {field.name}" for field in fields))


def encoded(field: spark_types.StructField) -> str:
    """A column as SQL of the type that crosses."""
    name, type_ = field.name, field.dataType
    if isinstance(type_, spark_types.CalendarIntervalType):
        return f"CAST({name} AS STRING)"
    if not isinstance(type_, spark_types.YearMonthIntervalType):
        return name
    if type_.startField == type_.endField:
        months = 12 if type_.startField == spark_types.YearMonthIntervalType.YEAR else 1
        return f"CAST({name} AS INT) * {months}"
    return f"CAST(EXTRACT(YEAR FROM {name}) * 12 + EXTRACT(MONTH FROM {name}) AS INT)"


def received(frame: DataFrame, wanted: spark_types.StructType) -> DataFrame:
    """The columns of `frame`, which crossed, as the types that they stand for."""
    if all(crosses_as(field.dataType) == field.dataType for field in wanted.fields):
        return frame
    return frame.selectExpr(*(f"{decoded(field)} AS {field.name}" for field in wanted.fields))


def decoded(field: spark_types.StructField) -> str:
    """A column that crossed as SQL of its own type."""
    if isinstance(field.dataType, spark_types.YearMonthIntervalType):
        type_name = field.dataType.simpleString()
        return f"CAST(make_ym_interval(0, {field.name}) AS {type_name})"
    if isinstance(field.dataType, spark_types.CalendarIntervalType):
        return f"CAST({field.name} AS INTERVAL)"
    return field.name


def crossing_schema(wanted: spark_types.StructType) -> spark_types.StructType:
    """The schema in which columns of `wanted` cross."""
    return spark_types.StructType(
        [
            spark_types.StructField(field.name, crosses_as(field.dataType), field.nullable)
            for field in wanted.fields
        ]
    )
