"""Find the types of the columns that the workers return: the reads of a compiled query.

A read has a `ReadType` in terms of the columns that are sent to the workers. Here it becomes a type
of Spark:

    ColumnType(0)        the type of sent column 0
    ListType(0)          an array of this type
    FixedType.BIGINT     BIGINT for every input
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import types as spark_types
from pyspark.sql.types import DataType, StructField, StructType
from typing_extensions import assert_never

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.types import MAX_DIGITS
from matchrec.errors import match_totals as errors
from matchrec.output.reads import (
    ColumnType,
    FixedType,
    ListType,
    Nullability,
    ReadEndingKind,
    ReadNavigation,
    ReadRow,
    ReadType,
    RowsType,
    SumType,
    TotalType,
)
from matchrec.plan.totals import TotalAggregate
from matchrec.spark.types import find_char_metadata, find_scale, find_sum_type, make_struct_type
from matchrec.worker import internal_names


def build_read_schema(
    compiled_query: CompiledQuery, sent_fields: Sequence[StructField]
) -> StructType:
    """Return the schema of the rows that the workers return: a field for each read.

    Args:
        compiled_query: the compiled query.
        sent_fields: the fields of the columns that are sent to the workers.
    """
    # Both output runs that did not become a match.
    shows_partial = compiled_query.task.partial is not None
    reads_ending_kind = any(isinstance(read, ReadEndingKind) for read in compiled_query.reads)
    shows_unmatched = compiled_query.rows_per_match.shows_unmatched
    nullability = Nullability(
        columns=tuple(field.nullable for field in sent_fields),
        has_rows_without_match=shows_unmatched or shows_partial or reads_ending_kind,
    )
    fields = []
    for name, read in zip(
        internal_names.name_output(compiled_query), compiled_query.reads, strict=True
    ):
        read_type = find_read_type(read.type, sent_fields)
        char_metadata = None
        if isinstance(read, ReadRow | ReadNavigation):
            char_metadata = find_char_metadata(sent_fields[read.column])
        fields.append(StructField(name, read_type, read.can_be_null(nullability), char_metadata))
    return StructType(fields)


# The Spark types of reads that have the same type for every input.
FIXED_TYPES: dict[FixedType, DataType] = {
    FixedType.STRING: spark_types.StringType(),
    FixedType.BIGINT: spark_types.LongType(),
    FixedType.BOOLEAN: spark_types.BooleanType(),
    FixedType.DOUBLE: spark_types.DoubleType(),
    FixedType.INT_ARRAY: spark_types.ArrayType(spark_types.IntegerType(), containsNull=False),
}


def find_read_type(type_: ReadType, sent_fields: Sequence[StructField]) -> DataType:
    """Return the Spark type of the values of a read.

    Args:
        type_: the type of the read in terms of the sent columns.
        sent_fields: the fields of these columns.
    """
    match type_:
        case ColumnType(column):
            return sent_fields[column].dataType
        case SumType(column):
            return find_sum_type(sent_fields[column].dataType)
        case ListType(column):
            return spark_types.ArrayType(sent_fields[column].dataType, containsNull=False)
        case RowsType(columns, names):
            value_types = [sent_fields[column].dataType for column in columns]
            field_types = [*value_types, spark_types.StringType(), spark_types.LongType()]
            row_type = make_struct_type(dict(zip(names, field_types, strict=True)))
            return spark_types.ArrayType(row_type, containsNull=False)
        case FixedType():
            return FIXED_TYPES[type_]
        case TotalType(aggregate, measure):
            measure_type = None if measure is None else find_read_type(measure, sent_fields)
            return find_total_type(aggregate, measure_type)
        case _:
            assert_never(type_)


def find_total_type(aggregate: TotalAggregate, measure_type: DataType | None) -> DataType:
    """Return the type of an aggregate over all matches.

    It is the type that Spark's aggregate over the matches would have, or the type of the CAST
    around the aggregate.

    Args:
        aggregate: the aggregate.
        measure_type: the type of the measure that it aggregates; None if it counts matches.

    Raises:
        MatchRecognizePlanError: the CAST is to a decimal that would round the aggregate.
    """
    if measure_type is not None and aggregate.function in ("min", "max"):
        return measure_type
    if aggregate.is_double:
        return spark_types.DoubleType()
    spark_type: DataType = spark_types.LongType()
    if measure_type is not None and aggregate.function != "count":
        spark_type = find_sum_type(measure_type)
    if aggregate.cast is None:
        return spark_type
    exact_type = spark_types.DecimalType(MAX_DIGITS, find_scale(spark_type))
    exact_cast = None  # no cast of a DOUBLE to a decimal is exact
    if spark_type != spark_types.DoubleType():
        exact_cast = f"DECIMAL({MAX_DIGITS}, {exact_type.scale})"
    if aggregate.cast != exact_cast:
        raise errors.inexact_cast(aggregate=aggregate, exact=replace(aggregate, cast=exact_cast))
    return exact_type
