"""Encode rows for mapInPandas, so that pandas does not alter their values.

Pandas has one mark for both NULL and NaN. It turns integers into floats if one of them is NULL, and
instants into local times. So for mapInPandas the columns are encoded:

    column             what pandas gets
    price (DOUBLE)     __c0 = coalesce(price, 0), and a bit of __null0: whether price is NULL
    at (TIMESTAMP)     __c1 = coalesce(unix_micros(at), 0), and another bit of __null0
    point (STRUCT)     __c2_0, __c2_1: its fields, and __c2_n: whether the struct is NULL

1. `build_encoding` returns a `PandasEncoding`. It rejects a query if pandas would still alter one
   of its columns, or if one is a struct: only streams send structs.
2. `PandasEncoding.encode` encodes the rows in the engine.
3. `PandasEncoding.adapt_to_pandas` lets a worker decode them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types
from pyspark.sql.types import DateType, DoubleType, FloatType, TimestampNTZType, TimestampType

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.row_column import show_column
from matchrec.errors.calls import column_altered_by_pandas
from matchrec.errors.run.failures import column_type_changed
from matchrec.plan.text import quote_name
from matchrec.spark.arrow_tables import to_arrow_schema
from matchrec.spark.order_numbers import WallClockConverter
from matchrec.spark.select_items import SelectItem, pack_bit_columns
from matchrec.spark.substitutes import write_microseconds
from matchrec.spark.types import make_struct_type
from matchrec.worker import internal_names

if TYPE_CHECKING:
    import pandas as pd  # takes a second to load, and few queries need it


# The types whose values pandas keeps if they are encoded as in this module. It also keeps decimals
# and day-time intervals, whose names have parameters.
UNALTERED_TYPES = {
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "string",
    "binary",
    "date",
    "timestamp",
    "timestamp_ntz",
}

# The types whose values pandas alters in an array of the output, because the elements of arrays are
# Python objects: NaN becomes NULL, and an instant becomes a local time.
ALTERED_IN_ARRAYS = (FloatType, DoubleType, DateType, TimestampType, TimestampNTZType)


class LeafColumn(NamedTuple):
    """A column that pandas gets: a column of the rows, a field of a struct, or a struct's NULLs."""

    sql: str  # SQL of its value over the rows
    name: str  # its name in the frame
    data_type: spark_types.DataType  # its type before it is encoded


@dataclass(frozen=True)
class PandasColumn:
    """A column of the rows that are sent, or a field of a struct."""

    # The name of the column. The fields of a struct named `__c2` get the names `__c2_0`, `__c2_1`.
    name: str
    # SQL of the column over the rows.
    sql: str
    data_type: spark_types.DataType
    # The fields of a struct, each with its name in the struct; empty for another type. A struct
    # named `__c2` is sent as its fields and as the column `__c2_n`, which is true if the struct is
    # NULL.
    fields: tuple[tuple[str, PandasColumn], ...] = ()

    @staticmethod
    def build(name: str, sql: str, data_type: spark_types.DataType) -> PandasColumn:
        """Return a column with its fields, and the fields of its fields.

        Args:
            name: the name of the column.
            sql: SQL of the column over the rows.
            data_type: its type.
        """
        struct_fields = data_type.fields if isinstance(data_type, spark_types.StructType) else ()
        fields = []
        for index, struct_field in enumerate(struct_fields):
            field_sql = f"{sql}.{quote_name(struct_field.name)}"
            column = PandasColumn.build(f"{name}_{index}", field_sql, struct_field.dataType)
            fields.append((struct_field.name, column))
        return PandasColumn(name, sql, data_type, fields=tuple(fields))

    @property
    def null_column_name(self) -> str:
        """Return the name of the column that is true if this struct is NULL."""
        return f"{self.name}_n"

    def list_leaves(self) -> list[LeafColumn]:
        """Return the columns that pandas gets for this column: several for a struct."""
        if not self.fields:
            return [LeafColumn(self.sql, self.name, self.data_type)]
        is_null = f"{self.sql} IS NULL"
        leaves = [LeafColumn(is_null, self.null_column_name, spark_types.BooleanType())]
        for _, column in self.fields:
            leaves += column.list_leaves()
        return leaves

    def find_altered_type(self) -> spark_types.DataType | None:
        """Return the type of the first leaf whose values pandas alters; None if it keeps all."""
        for leaf in self.list_leaves():
            if find_unaltered_arrow_type(leaf.data_type) is None:
                return leaf.data_type
        return None

    def find_arrow_type(self) -> pa.DataType:
        """Return the Arrow type of the column, whose values pandas must not alter."""
        if self.fields:
            return pa.struct(
                [pa.field(name, column.find_arrow_type()) for name, column in self.fields]
            )
        arrow_type = find_unaltered_arrow_type(self.data_type)
        assert arrow_type is not None, "the caller has checked `find_altered_type`"
        return arrow_type

    def assemble(self, leaves: Mapping[str, pa.Array]) -> pa.Array:
        """Return the values of the column, made from its leaves.

        Args:
            leaves: the values of all leaves of the rows, by their names.
        """
        if not self.fields:
            return leaves[self.name]
        is_null = leaves[self.null_column_name]
        names = [name for name, _ in self.fields]
        arrays = [column.assemble(leaves) for _, column in self.fields]
        return pa.StructArray.from_arrays(arrays, names, mask=is_null)


@dataclass(frozen=True)
class PandasEncoding:
    """How the rows of a query are encoded for pandas. Picklable."""

    # The columns of the rows, in their order.
    columns: tuple[PandasColumn, ...]
    # The user's text for a column, by the name of the column.
    texts: Mapping[str, str] = field(default_factory=dict)

    def list_leaves(self) -> list[LeafColumn]:
        """Return the columns that pandas gets, without the columns of NULL marks."""
        return [leaf for column in self.columns for leaf in column.list_leaves()]

    def encode(self, rows: DataFrame, *plain_columns: str) -> DataFrame:
        """Return rows with their columns encoded, followed by columns of packed NULL marks.

        Args:
            rows: the rows.
            plain_columns: the names of other columns of the rows, which are not encoded.
        """
        leaves = self.list_leaves()
        if any(leaf.sql != leaf.name for leaf in leaves):  # there are structs
            leaf_items = [SelectItem(leaf.sql, leaf.name) for leaf in leaves]
            rows = rows.selectExpr(*map(str, leaf_items), *plain_columns)
        values = [
            SelectItem(write_encoded_value(leaf.name, leaf.data_type), leaf.name) for leaf in leaves
        ]
        marks = pack_bit_columns(
            [f"{leaf.name} IS NULL" for leaf in leaves], internal_names.name_null_bits
        )
        return rows.selectExpr(*map(str, [*values, *plain_columns, *marks]))

    def decode_frame(self, frame: pd.DataFrame) -> pa.RecordBatch:
        """Return the rows of a frame as they were before they were encoded.

        Raises:
            MatchRecognizeRunError: values have another type than the query was built for, because
                the input has changed since then.
        """
        leaves = {}
        for index, leaf in enumerate(self.list_leaves()):
            mark_column, bit = divmod(index, internal_names.count_bits_per_column())
            marks = frame[internal_names.name_null_bits(mark_column)].to_numpy().astype(np.int64)
            is_null = (marks >> bit) & 1 == 1
            leaves[leaf.name] = self.decode_leaf(leaf, frame[leaf.name].to_numpy(), is_null)
        columns = [column.assemble(leaves) for column in self.columns]
        return pa.RecordBatch.from_arrays(columns, [column.name for column in self.columns])

    def decode_leaf(
        self, leaf: LeafColumn, values: npt.NDArray[Any], is_null: npt.NDArray[np.bool_]
    ) -> pa.Array:
        """Return the values of a leaf as they were before they were encoded.

        Args:
            leaf: the leaf.
            values: the encoded values.
            is_null: bool[n], which of the values were NULL.

        Raises:
            MatchRecognizeRunError: see `decode_frame`.
        """
        data_type = find_unaltered_arrow_type(leaf.data_type)
        are_microseconds = pa.types.is_timestamp(data_type) or pa.types.is_duration(data_type)
        sent_type = pa.int64() if are_microseconds else data_type
        try:
            # Numbers of another type could be converted. That is an error instead, because the
            # input has changed since the query was built.
            has_other_type = is_number_or_boolean(sent_type) and (
                pa.from_numpy_dtype(values.dtype) != sent_type
            )
            array = pa.array(values, sent_type, mask=is_null, from_pandas=False)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            has_other_type = True
        if has_other_type:
            # This module is not loaded while a query is planned.
            from matchrec.worker.planned_columns import name_type

            column_name = leaf.sql.partition(".")[0]  # without the field of a struct
            raise column_type_changed(
                column=self.texts.get(column_name, column_name),
                planned=leaf.data_type.simpleString(),
                arrived=name_type(pa.array(values, mask=is_null).type),
            )
        return array.cast(data_type)

    def adapt_to_pandas(self, run: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """Return a function for mapInPandas that does what `run` does for mapInArrow.

        The function decodes the frames, calls `run` with their batches, and yields frames whose
        columns are backed by Arrow.
        """

        def run_over_frames(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
            """Call `run` with the rows of pandas frames."""
            import pandas as pd

            for batch in run(map(self.decode_frame, frames)):
                yield batch.to_pandas(types_mapper=pd.ArrowDtype)

        return run_over_frames


def build_encoding(rows: DataFrame, compiled_query: CompiledQuery) -> PandasEncoding:
    """Return how the rows of a query are encoded for pandas.

    Args:
        rows: the rows, with the columns of `compiled_query.sent_columns` first.
        compiled_query: the query.

    Raises:
        MatchRecognizeUnsupportedError: pandas would alter a column.
    """
    indices_in_arrays = find_columns_in_arrays(compiled_query)
    sent_fields = rows.schema.fields
    columns_of_query = compiled_query.sent_columns.columns
    # Not strict: other columns, such as bits, follow the columns of the query.
    fields_and_columns = zip(sent_fields, columns_of_query, strict=False)
    for index, (sent_field, column) in enumerate(fields_and_columns):
        column_text = str(column.pieces[0])
        data_type = sent_field.dataType
        if find_unaltered_arrow_type(data_type) is None:
            raise column_altered_by_pandas(column=column_text, type_name=data_type.simpleString())
        if index in indices_in_arrays and isinstance(data_type, ALTERED_IN_ARRAYS):
            type_name = f"{data_type.simpleString()} in an array"
            raise column_altered_by_pandas(column=column_text, type_name=type_name)
    pandas_columns = [
        PandasColumn.build(sent_field.name, sent_field.name, sent_field.dataType)
        for sent_field in sent_fields
    ]
    texts = {
        internal_names.name_column(index): show_column(column)
        for index, column in enumerate(columns_of_query)
    }
    return PandasEncoding(tuple(pandas_columns), texts)


def find_columns_in_arrays(compiled_query: CompiledQuery) -> set[int]:
    """Return the indices of the sent columns whose values are in arrays of the output."""
    columns: set[int] = set()
    for read in compiled_query.reads:
        if read.row_list is not None:
            columns.update(read.row_list.columns)
    return columns


def is_number_or_boolean(data_type: pa.DataType) -> bool:
    """Return whether pandas holds values of a type as numbers or truth values, not as objects."""
    is_boolean = pa.types.is_boolean(data_type)
    return bool(is_boolean or pa.types.is_integer(data_type) or pa.types.is_floating(data_type))


@cache  # because a stream calls this function for each of its batches
def find_unaltered_arrow_type(data_type: spark_types.DataType) -> pa.DataType | None:
    """Return the Arrow type of a Spark type whose encoded values pandas keeps.

    Returns None if pandas alters the values, and for a struct.
    """
    has_parameters = isinstance(
        data_type, spark_types.DecimalType | spark_types.DayTimeIntervalType
    )
    if not has_parameters and data_type.simpleString() not in UNALTERED_TYPES:
        return None
    return to_arrow_schema(make_struct_type({"": data_type})).field(0).type


def write_encoded_value(name: str, data_type: spark_types.DataType) -> str:
    """Return SQL of the encoded value of a column, whose type pandas keeps.

    NULL becomes 0 or FALSE if it would make pandas change the type of the column.

    >>> write_encoded_value("__c1", spark_types.TimestampType())
    'coalesce(unix_micros(__c1), 0L)'
    """
    match data_type:
        case spark_types.BooleanType():
            return f"coalesce({name}, FALSE)"
        case spark_types.TimestampType():
            return f"coalesce(unix_micros({name}), 0L)"
        case spark_types.TimestampNTZType():
            return f"coalesce({WallClockConverter(data_type).write_number(name)}, 0L)"
        case spark_types.DayTimeIntervalType():
            return f"coalesce({write_microseconds(name)}, 0L)"
        case spark_types.IntegralType() | spark_types.FloatType() | spark_types.DoubleType():
            return f"coalesce({name}, CAST(0 AS {data_type.simpleString()}))"
    return name
