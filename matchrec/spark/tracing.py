"""Collect one partition of a clause's input as a search gets it, for `Query.why`.

1. `Target` names the partition and the row that the user asks about.
2. Spark computes columns and bits as for any query, only of this partition, and some more columns
   (`AddedColumns`): the values of ORDER BY as texts, and tests of which rows the user has named.
3. A function in a worker packs the rows as bytes of Arrow, so that values of every type arrive on
   the driver unchanged. All rows are collected. Those that the query would not send to the search
   are marked as irrelevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Number

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.row_column import RowColumn, build_row_column
from matchrec.errors import MatchRecognizeError
from matchrec.errors import inspection as errors
from matchrec.errors.run.location import RowLocation
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quote_string
from matchrec.search.partitions import BoolArray, Partitions
from matchrec.source import make_sort_key
from matchrec.spark import substitutes, types
from matchrec.spark.compile import CompiledRules, compile_request
from matchrec.spark.environment import use_own_interpreter
from matchrec.spark.literals import convert_instant, write_literal
from matchrec.spark.relation import Relation
from matchrec.spark.request import MatchRequest
from matchrec.spark.session import silence_analysis
from matchrec.worker import wire
from matchrec.worker.arrays import read_integers, take_column, write_batches
from matchrec.worker.encode import encode_partitions
from matchrec.worker.locate import locate_failures
from matchrec.worker.windows import check_windows

MOST_ROWS = 100_000  # of a partition that is collected
MOST_KEYS = 5  # partitions that a message lists

# For each row, the values of the ORDER BY columns as texts.
OrderValues = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Target:
    """The partition and the row of a clause that a question is about."""

    # The values of the partition, by the names of their columns; None for the only partition.
    partition: Mapping[str, object] | None = None
    # The values of the first ORDER BY columns; None for all rows.
    row: tuple[object, ...] | None = None


@dataclass(frozen=True)
class CollectedPartition:
    """The rows of a partition on the driver, and the query that searches them."""

    relation: Relation
    plan: MatchPlan
    compiled_query: CompiledQuery
    # The rows, as a worker gets them, and the fields of the columns.
    table: pa.Table
    partitions: Partitions
    fields: tuple[spark_types.StructField, ...]
    # The values of the partition as SQL, by column.
    keys: dict[str, str]
    # The names of the ORDER BY columns, and their values on each row as texts.
    orders: tuple[str, ...]
    order_values: OrderValues
    # The positions of the rows that the target names; none if it names all.
    target_rows: tuple[int, ...]
    # The positions of the rows that the query would not send to the search.
    irrelevant: frozenset[int]


@dataclass(frozen=True)
class AddedColumns:
    """What Spark adds to the columns of the search on each row, in the order of the columns."""

    # For each ORDER BY item, its values as texts.
    order_values: list[pa.Array]
    # Whether the target names the row; and whether the row comes before the target.
    is_target: BoolArray
    is_before: BoolArray
    # For each filter, whether the row passes it.
    passes_filters: list[BoolArray]


def collect_partition(request: MatchRequest, target: Target) -> CollectedPartition:
    """Collect the partition of a target. Runs jobs.

    Args:
        request: has one rule: the clause. It is made for a trace.
        target: the partition and the row.

    Raises:
        MatchRecognizeError: the target names no partition or no row, the partition is too large, or
            the input is a stream.
    """
    if request.is_stream:
        raise errors.method_not_for_stream(call="`why`")
    (rule,) = request.rules
    with silence_analysis(), request.locate_rule_errors(rule):
        compiled = compile_request(request)
        return PartitionCollector(compiled, target).collect()


@dataclass(frozen=True)
class PartitionCollector:
    """A collector of the partition of a target."""

    compiled: CompiledRules
    target: Target

    @property
    def request(self) -> MatchRequest:
        """Return the clause with its input and its options."""
        return self.compiled.request

    @property
    def plan(self) -> MatchPlan:
        """Return the plan of the clause, as it runs."""
        (query,) = self.compiled.queries
        return query.plan

    @cached_property
    def key_texts(self) -> dict[str, str]:
        """Return SQL of the keys that divide the plan's input, by their names."""
        key_texts = {}
        for key in self.plan.partition_keys:
            name = key.name or self.request.columns.find_by_text(key.text) or key.text
            key_texts[name] = key.text
        return key_texts

    @cached_property
    def order_texts(self) -> tuple[str, ...]:
        """Return SQL of the ORDER BY items."""
        return tuple(item.expression.text for item in self.plan.order_by)

    def collect(self) -> CollectedPartition:
        """Collect the partition.

        After the columns that the search needs, Spark computes others on each row: the texts of the
        ORDER BY items, the tests of `build_target_tests`, and the filters. See `AddedColumns`.
        """
        request = self.request
        (query,) = self.compiled.queries
        (compiled_query,) = self.compiled.compiled_queries
        search_columns = compiled_query.sent_columns.columns
        order_columns = [build_row_column(self.write_as_text(text)) for text in self.order_texts]
        target_tests = self.build_target_tests()
        preparation = self.compiled.preparation.with_key_filters(self.key_tests)
        columns = (*search_columns, *order_columns, *target_tests, *query.row_filters)
        sent = preparation.send(columns, self.compiled.fields)
        table = collect_table(sent.rows)
        if not table.num_rows:
            raise self.explain_no_rows()
        starts = np.array([0, table.num_rows], np.int64)
        with locate_failures(lambda row: RowLocation(self.target.partition or {}, row + 1)):
            check_windows(compiled_query, table, starts)
        added = self.read_added_columns(table, len(search_columns), len(sent.fields))
        order_values = self.read_order_values(added.order_values, table.num_rows)
        rows_before = int(added.is_before.sum())
        return CollectedPartition(
            relation=request.relation,
            plan=self.plan,
            compiled_query=compiled_query,
            table=table,
            partitions=encode_partitions(compiled_query, table, starts),
            fields=sent.fields[: len(search_columns)],
            keys=self.sort_key_values(),
            orders=tuple(request.columns.find_by_text(text) or text for text in self.order_texts),
            order_values=order_values,
            target_rows=self.find_target_rows(order_values, added.is_target, rows_before),
            irrelevant=find_irrelevant_rows(added.passes_filters),
        )

    def read_added_columns(self, table: pa.Table, first: int, end: int) -> AddedColumns:
        """Return the columns that Spark computes in addition to those that the search needs.

        Args:
            table: the rows.
            first: the index of the first added column.
            end: the index after the last one.
        """
        arrays = [take_column(table, wire.name_column(index)) for index in range(first, end)]
        tests = [read_integers(array) != 0 for array in arrays[len(self.order_texts) :]]
        is_target, is_before, *passes_filters = tests
        return AddedColumns(
            order_values=arrays[: len(self.order_texts)],
            is_target=is_target,
            is_before=is_before,
            passes_filters=passes_filters,
        )

    def read_order_values(self, order_columns: list[pa.Array], row_count: int) -> OrderValues:
        """Return the values of the ORDER BY columns on each row, from columns of texts."""
        if not order_columns:
            return ((),) * row_count
        texts = [order_column.fill_null("NULL").to_pylist() for order_column in order_columns]
        return tuple(zip(*texts, strict=True))

    # The partition that the target names.

    @cached_property
    def key_tests(self) -> tuple[str, ...]:
        """Return SQL tests of whether a row is in the partition. A row must pass all of them."""
        return tuple(
            f"({self.write_comparable(self.key_texts[name])}) <=> {value}"
            for name, value in self.key_values.items()
        )

    @cached_property
    def key_values(self) -> dict[str, str]:
        """Return the values of the partition as SQL literals, by the names of the keys.

        The dict is empty if the target names no partition and there is only one.

        Raises:
            MatchRecognizeError: there are several partitions and none is named, or the target does
                not name the columns of the keys.
        """
        partition, folded = self.target.partition, self.request.columns.fold_name
        if partition is None:
            some_keys = self.find_some_keys()
            if len(some_keys) > 1:
                lines, example = errors.format_rows(some_keys), self.write_example(some_keys[0])
                raise errors.several_partitions(some=lines, example=example)
            return {}
        key_names = {folded(name): name for name in self.key_texts}
        # the names that the user wrote, by the names of the keys
        target_names = {key_names.get(folded(name), name): name for name in partition}
        for name, target_name in target_names.items():
            if name not in self.key_texts:
                raise errors.unknown_partition_column(name=target_name, keys=self.key_texts)
        for name in self.key_texts:
            if name not in target_names:
                raise errors.partition_column_missing(name, self.key_texts)
        return {
            name: self.write_value("partition", self.key_texts[name], partition[target_name])
            for name, target_name in target_names.items()
        }

    def sort_key_values(self) -> dict[str, str]:
        """Return the values of the partition in the order of the clause's keys."""
        return {name: self.key_values[name] for name in self.key_texts if name in self.key_values}

    def explain_no_rows(self) -> MatchRecognizeError:
        """Return the error for a partition without rows."""
        some_keys = self.find_some_keys()
        if not some_keys:
            return errors.no_rows()
        partition = self.target.partition or {}
        target_text = ", ".join(f"{name} = {value}" for name, value in partition.items())
        lines, example = errors.format_rows(some_keys), self.write_example(some_keys[0])
        return errors.unknown_partition(partition=target_text, some=lines, example=example)

    def find_some_keys(self) -> list[dict[str, str | None]]:
        """Return the keys of some partitions, as dicts of texts; none if nothing divides the rows.

        They are sorted; numbers in texts are compared as numbers. Runs a job.
        """
        if not self.key_texts:
            return []
        items = [
            f"CAST({self.write_comparable(text)} AS STRING) AS k{index}"
            for index, text in enumerate(self.key_texts.values())
        ]
        rows = self.request.relation.select(items).distinct().limit(MOST_KEYS + 1).collect()
        rows.sort(key=lambda row: [make_sort_key(errors.show_key_value(text)) for text in row])
        return [dict(zip(self.key_texts, row, strict=True)) for row in rows]

    def write_example(self, keys: Mapping[str, str | None]) -> str:
        """Return how a user would name the partition of some keys."""
        find_type = self.request.relation.find_type
        number_keys = [
            name
            for name, text in self.key_texts.items()
            if isinstance(find_type(text), spark_types.IntegralType)
        ]
        return errors.write_partition_example(keys, number_keys)

    # The rows that the target names.

    def build_target_tests(self) -> tuple[RowColumn, RowColumn]:
        """Return a test of whether the target names a row, and one of whether the row is before it.

        Both are true of all rows if the target names no row. A row is before the target if its
        first ORDER BY value is, or is NULL.

        Raises:
            MatchRecognizeError: the target has too many values for a row, or none.
        """
        if self.target.row is None:
            return (build_row_column("TRUE"), build_row_column("TRUE"))
        if not 1 <= len(self.target.row) <= len(self.order_texts):
            raise errors.wrong_number_of_order_values(len(self.target.row), self.order_texts)
        comparisons = []
        for text, value in zip(self.order_texts, self.target.row, strict=False):
            literal_text = self.write_value("row", text, value)
            comparisons.append((self.write_comparable(text), literal_text))
        is_target = " AND ".join(f"({text} <=> {value})" for text, value in comparisons)
        first_text, first_value = comparisons[0]
        operator = ">" if self.plan.order_by[0].descending else "<"
        is_before = f"coalesce(({first_text} {operator} {first_value}), TRUE)"
        return (build_row_column(is_target), build_row_column(is_before))

    def find_target_rows(
        self, order_values: OrderValues, is_target: BoolArray, rows_before: int
    ) -> tuple[int, ...]:
        """Return the positions of the rows that the target names; none if it names all rows.

        Args:
            order_values: of all rows.
            is_target: whether the target names a row.
            rows_before: the number of rows before those that the target names.

        Raises:
            MatchRecognizeError: there is no such row. The error lists rows that are near.
        """
        if self.target.row is None:
            return ()
        if not is_target.any():
            near_values = order_values[max(0, rows_before - 2) : rows_before + 2]
            near_rows = [dict(zip(self.order_texts, values, strict=True)) for values in near_values]
            target_values = zip(self.order_texts, self.target.row, strict=False)
            raise errors.unknown_row(
                row=", ".join(f"{text} = {value}" for text, value in target_values),
                rows=errors.format_rows(near_rows),
                nearest=tuple(map(self.read_order_value, self.order_texts, near_values[0])),
            )
        return tuple(np.flatnonzero(is_target).tolist())

    def read_order_value(self, text: str, value: str) -> int | float | str:
        """Return the value of an ORDER BY expression as `row=` takes it: numbers as numbers."""
        type_ = self.request.relation.find_type(text)
        try:
            if isinstance(type_, spark_types.IntegralType):
                return int(value)
            if isinstance(type_, spark_types.FloatType | spark_types.DoubleType):
                return float(value)
        except ValueError:  # NULL
            pass
        return value

    # Values as SQL.

    def write_as_text(self, text: str) -> str:
        """Return SQL of the text that names the value of an expression."""
        return substitutes.write_text(text, self.request.relation.find_type(text))

    def write_comparable(self, text: str) -> str:
        """Return SQL of the value of an expression as it is compared with `write_value`.

        Bytes and nested values are compared by their texts.
        """
        type_ = self.request.relation.find_type(text)
        if is_compared_as_text(type_):
            return self.write_as_text(text)
        return types.normalize_value(text, type_)

    def write_value(self, argument: str, text: str, value: object) -> str:
        """Return a value of the user as SQL that can be compared with an expression.

        Args:
            argument: the argument that has the value, for messages.
            text: the expression.
            value: the value.

        Raises:
            MatchRecognizePlanError: the value is not one of the expression's type.
        """
        type_ = self.request.relation.find_type(text)
        literal_text = write_literal(convert_instant(value, type_), argument)
        is_number = isinstance(value, Number) and not isinstance(value, bool)
        if value is None or (is_number and isinstance(type_, spark_types.NumericType)):
            return literal_text
        if isinstance(type_, spark_types.StringType) or is_compared_as_text(type_):
            is_bytes = isinstance(value, bytes | bytearray)
            return quote_string(literal_text if is_bytes else str(value))
        self.check_type(argument, text, value, literal_text)
        return literal_text

    def check_type(self, argument: str, text: str, value: object, literal_text: str) -> None:
        """Check that Spark can cast a literal to the type of an expression. Runs a job.

        The error shows a value of the expression. Without any, nothing is checked.

        Raises:
            MatchRecognizePlanError: Spark cannot cast it.
        """
        type_name = self.request.relation.find_type(text).simpleString()
        # The error shows a value of the same partition, if a row is named.
        key_tests = self.key_tests if argument == "row" else ()
        items = [
            f"try_cast(CAST({literal_text} AS STRING) AS {type_name}) AS cast_value",
            f"{self.write_as_text(text)} AS example",
            f"{' AND '.join(key_tests) or 'TRUE'} AS in_partition",
        ]
        rows = self.request.relation.select(items)
        for row in rows.where("in_partition AND example IS NOT NULL").limit(1).collect():
            if row.cast_value is None:
                raise errors.value_of_wrong_type(
                    argument=argument,
                    value=value,
                    name=self.request.columns.find_by_text(text) or text,
                    kind=type_name,
                    example=row.example,
                )


def find_irrelevant_rows(filters: list[BoolArray]) -> frozenset[int]:
    """Return the rows that pass none of some filters; none if there are no filters."""
    if not filters:
        return frozenset()
    return frozenset(np.flatnonzero(~np.logical_or.reduce(filters)).tolist())


def is_compared_as_text(type_: spark_types.DataType) -> bool:
    """Return whether the values of a type are named by their text: bytes and nested values."""
    return types.is_nested(type_) or isinstance(type_, spark_types.BinaryType)


def collect_table(rows: DataFrame, max_rows: int = MOST_ROWS) -> pa.Table:
    """Collect the rows of one partition as they are sent, in their order. Runs a job.

    Raises:
        MatchRecognizeUnsupportedError: there are more than `max_rows` rows.
    """
    with use_own_interpreter(rows.sparkSession):
        packed = rows.mapInArrow(partial(pack, max_rows=max_rows), "packed binary")
    tables = [pa.ipc.open_stream(row.packed).read_all() for row in packed.collect()]
    if not tables:
        return pa.table({wire.FIRST_BITS: pa.array([], pa.int64())})
    table = pa.concat_tables(tables).combine_chunks()
    if table.num_rows > max_rows:
        raise errors.partition_too_large(limit=max_rows)
    return table


def pack(batches: Iterable[pa.RecordBatch], max_rows: int) -> Iterator[pa.RecordBatch]:
    """Pack batches as one value of bytes.

    Batches are dropped once there are more than `max_rows` rows, so that the caller sees that there
    are more, and memory does not fill.
    """
    kept_batches: list[pa.RecordBatch] = []
    kept_rows = 0
    for batch in batches:
        if batch.num_rows and kept_rows <= max_rows:
            kept_batches.append(batch)
            kept_rows += batch.num_rows
    if kept_batches:
        packed = pa.array([write_batches(kept_batches)], pa.binary())
        yield pa.RecordBatch.from_arrays([packed], ["packed"])
