"""Spark types as the plan knows them, and those of what measures read."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import types as spark
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)
from typing_extensions import assert_never

from matchrec.compile.executable import Executable
from matchrec.conditions.types import SPARKS_OWN, VOID, Family, ValueType, nested
from matchrec.output.reads import (
    Nullability,
    OfColumn,
    OfMatchedRows,
    Read,
    ReadKind,
    ReadType,
    TypeForm,
)
from matchrec.spark import wire

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


def sorts_exactly(type_: spark.DataType) -> bool:
    """Whether the order and the equality of a type's values are Spark's.

    For PARTITION BY as for ORDER BY. Collated texts, nested values, maps, variants and calendar
    intervals stay with Spark's own sort.
    """
    return value_type(type_).family not in SPARKS_OWN


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


NAMED: dict[str, DataType] = {
    "array<int>": ArrayType(IntegerType(), containsNull=False),
    "bigint": LongType(),
    "boolean": BooleanType(),
    "double": DoubleType(),
    "string": StringType(),
}


def schema_of_reads(executable: Executable, inputs: Sequence[StructField]) -> StructType:
    """The schema of the reads. inputs: the fields of the columns that crossed."""
    return StructType(
        [
            StructField(
                wire.read(index),
                type_of(read.type, inputs),
                may_be_null(read, executable, inputs),
            )
            for index, read in enumerate(executable.reads)
        ]
    )


def may_be_null(read: Read, executable: Executable, inputs: Sequence[StructField]) -> bool:
    """Whether a read can be NULL, as Spark says of the same value."""
    match read.nullability:
        case Nullability.NEVER:
            return False
        case Nullability.AS_COLUMN:
            assert isinstance(read.type, OfColumn)
            return inputs[read.type.column].nullable
        case Nullability.WITHOUT_NUMBER:
            unmatched = executable.rows_per_match.shows_unmatched
            partial = executable.task.partial is not None or ReadKind() in executable.reads
            return unmatched or partial
        case Nullability.ALWAYS:
            return True
        case never:
            assert_never(never)


def type_of(type_: ReadType, inputs: Sequence[StructField]) -> DataType:
    """The Spark type of a read."""
    match type_:
        case str():
            return NAMED[type_]
        case OfMatchedRows(columns):
            return ArrayType(matched_row_type(columns, inputs), containsNull=False)
        case OfColumn(column, TypeForm.SAME):
            return inputs[column].dataType
        case OfColumn(column, TypeForm.SUM):
            return sum_type(inputs[column].dataType)
        case OfColumn(column):
            return ArrayType(inputs[column].dataType, containsNull=False)
        case never:
            assert_never(never)


def matched_row_type(columns: tuple[int, ...], inputs: Sequence[StructField]) -> StructType:
    """The struct that is one row of a match."""
    fields = [
        StructField(wire.field(place), inputs[column].dataType)
        for place, column in enumerate(columns)
    ]
    fields.append(StructField(wire.VARIABLE, StringType()))
    fields.append(StructField(wire.POSITION, LongType()))
    return StructType(fields)
