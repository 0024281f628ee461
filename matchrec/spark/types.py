"""Spark types as the plan knows them."""

from __future__ import annotations

from pyspark.sql import types as spark

from matchrec.conditions.types import VOID, Family, ValueType, nested

INTEGER_BITS: dict[type[spark.DataType], int] = {
    spark.ByteType: 8,
    spark.ShortType: 16,
    spark.IntegerType: 32,
    spark.LongType: 64,
}

NESTED: dict[type[spark.DataType], Family] = {
    spark.ArrayType: Family.ARRAY,
    spark.MapType: Family.MAP,
    spark.StructType: Family.STRUCT,
}

FAMILIES: dict[type[spark.DataType], Family] = {
    spark.BooleanType: Family.BOOLEAN,
    spark.FloatType: Family.FLOATING,
    spark.DoubleType: Family.FLOATING,
    spark.DateType: Family.DATE,
    spark.TimestampType: Family.TIMESTAMP,
    spark.TimestampNTZType: Family.TIMESTAMP_NTZ,
    spark.DayTimeIntervalType: Family.INTERVAL,
    spark.YearMonthIntervalType: Family.MONTHS,
    spark.BinaryType: Family.BINARY,
}


def value_type(type_: spark.DataType) -> ValueType:
    """The plan's type of a Spark type.

    A collated string is OTHER, because its order is Spark's own; so is what has such parts.
    """
    name = type_.simpleString()
    if type(type_) in NESTED:
        return nested_type(type_)
    if type(type_) in INTEGER_BITS:
        return ValueType(Family.INTEGER, name, INTEGER_BITS[type(type_)])
    if isinstance(type_, spark.DecimalType):
        return ValueType(Family.DECIMAL, name, 64, type_.precision, type_.scale)
    if isinstance(type_, spark.StringType):
        return ValueType(Family.STRING if name == "string" else Family.OTHER, name)
    if name.startswith("time("):  # since Spark 4.1
        return ValueType(Family.TIME, name)
    return ValueType(FAMILIES.get(type(type_), Family.OTHER), name)


def nested_type(type_: spark.DataType) -> ValueType:
    """The plan's type of an array, a map or a struct."""
    names: tuple[str, ...] = ()
    match type_:
        case spark.ArrayType():
            inner = [type_.elementType]
        case spark.MapType():
            inner = [type_.keyType, type_.valueType]
        case spark.StructType():
            inner, names = [field.dataType for field in type_.fields], tuple(type_.names)
        case _:
            raise AssertionError(type_)
    parts = tuple(map(value_type, inner))
    if any(part.family is Family.OTHER and part != VOID for part in parts):
        return ValueType(Family.OTHER, type_.simpleString())
    return nested(NESTED[type(type_)], names, parts)


def sum_type(type_: spark.DataType) -> spark.DataType:
    """The type of Spark's `sum` over a number."""
    if isinstance(type_, spark.DecimalType):
        return spark.DecimalType(min(38, type_.precision + 10), type_.scale)
    if type(type_) in INTEGER_BITS:
        return spark.LongType()
    return spark.DoubleType()
