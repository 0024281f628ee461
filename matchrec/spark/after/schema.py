"""The Spark types of what measures read."""

from __future__ import annotations

from collections.abc import Sequence

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
from matchrec.output.reads import (
    Form,
    Nullability,
    OfColumn,
    OfMatchedRows,
    Read,
    ReadKind,
    ReadType,
)
from matchrec.spark import wire
from matchrec.spark.types import sum_type

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
        case OfColumn(column, Form.SAME):
            return inputs[column].dataType
        case OfColumn(column, Form.SUM):
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
