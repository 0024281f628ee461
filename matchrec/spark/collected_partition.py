"""Collect one partition of a clause's input as a search gets it, for `Query.why`.

1. A `Target` names the partition and the row that the user asks about, see `spark.targets`.
2. Spark computes columns and bits as for any query, but only for this partition. It computes some
   more columns: the values of ORDER BY as texts, tests of whether the user has named a row, and the
   filters of the query.
3. A function in a worker packs the rows as bytes of Arrow, so that values of every type arrive on
   the driver unchanged. All rows are collected, also the rows that pass no filter, which the query
   would not send to a search. The result has their positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.row_column import RowColumn, build_row_column
from matchrec.errors import inspection as errors
from matchrec.errors.run.location import RowLocation
from matchrec.plan.match_plan import MatchPlan
from matchrec.search.partitions import BoolArray, Partitions
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.compile import compile_request
from matchrec.spark.compiled_rules import CompiledRule, CompiledRules
from matchrec.spark.environment import use_own_interpreter
from matchrec.spark.preparations.preparation import PartitionPreparation
from matchrec.spark.relation import Relation
from matchrec.spark.request import MatchRequest
from matchrec.spark.targets import OrderValues, Target, TargetFinder
from matchrec.worker import internal_names
from matchrec.worker.arrays import read_integers, take_column, write_batches
from matchrec.worker.encode import encode_partitions
from matchrec.worker.row_locations import locate_failures
from matchrec.worker.windows import check_windows

# The largest number of rows of a partition that is collected.
MAX_ROWS = 100_000


@dataclass(frozen=True)
class CollectedPartition:
    """The rows of a partition on the driver, and the query that searches them."""

    # The input of the clause.
    relation: Relation
    # The plan of the clause, as it runs.
    plan: MatchPlan
    compiled_query: CompiledQuery
    # The rows, as a worker gets them.
    table: pa.Table
    # The same rows, as a search gets them: a single partition.
    partitions: Partitions
    # The fields of the columns that the search reads, which are the first columns of the table.
    fields: tuple[spark_types.StructField, ...]
    # The value of each partition key as an SQL literal, by the name of the key.
    key_values: dict[str, str]
    # The names of the ORDER BY columns.
    order_names: tuple[str, ...]
    # The values of these columns on each row, as texts.
    order_values: OrderValues
    # The positions of the rows that the target names; empty if it names all rows.
    target_rows: tuple[int, ...]
    # The positions of the rows that the query would not send to the search.
    irrelevant_rows: frozenset[int]


def collect_partition(request: MatchRequest, target: Target) -> CollectedPartition:
    """Collect the partition of a target. Runs jobs.

    Args:
        request: a request whose only rule is the clause, with the purpose TRACE.
        target: the partition and the row.

    Raises:
        MatchRecognizeError: the target names no partition or no row, the partition is too large, or
            the input is a stream.
    """
    if request.is_stream:
        raise errors.method_not_for_stream(call="`why`")
    (rule,) = request.rules
    with silence_analysis(), request.locate_rule_errors(rule):
        compiled_rules = compile_request(request)
        (clause,) = compiled_rules.rules
        finder = TargetFinder(request, clause.query.plan, target)
        return collect_compiled_partition(compiled_rules, finder)


def collect_compiled_partition(
    compiled_rules: CompiledRules, finder: TargetFinder
) -> CollectedPartition:
    """Collect the partition of a target, for a compiled clause that reads no stream.

    Args:
        compiled_rules: the compiled rules; the clause is the only rule.
        finder: finds the target in the input of the clause.

    Raises:
        MatchRecognizeError: see `collect_partition`.
    """
    (clause,) = compiled_rules.rules
    compiled_query = clause.compiled_query
    assert not compiled_query.nearby_conditions, "for a trace, Spark reads neighbouring rows"
    key_values = finder.collect_key_values()
    key_tests = finder.write_key_tests(key_values)
    columns = build_partition_columns(clause, finder, key_tests)
    preparation = compiled_rules.preparation.with_key_filters(key_tests)
    assert isinstance(preparation, PartitionPreparation), "the caller has rejected streams"
    table = collect_table(preparation.build_worker_rows(columns.all))
    if not table.num_rows:
        raise finder.explain_no_rows()
    starts = np.array([0, table.num_rows], np.int64)  # of the only partition, and its end
    with locate_failures(lambda row: RowLocation(finder.target.partition or {}, row + 1)):
        check_windows(compiled_query, table, starts)
    order_values = read_order_values(table, columns)
    target_rows: tuple[int, ...] = ()
    if columns.target_tests:
        is_target, is_before = read_tests(table, columns, columns.target_tests)
        target_rows = finder.find_target_rows(order_values, is_target, int(is_before.sum()))
    return CollectedPartition(
        relation=compiled_rules.request.relation,
        plan=finder.plan,
        compiled_query=compiled_query,
        table=table,
        partitions=encode_partitions(compiled_query, table, starts),
        fields=preparation.find_fields(columns.search, compiled_rules.fields),
        key_values=key_values,
        order_names=finder.order_names,
        order_values=order_values,
        target_rows=target_rows,
        irrelevant_rows=find_irrelevant_rows(read_tests(table, columns, columns.filters)),
    )


@dataclass(frozen=True, slots=True)
class PartitionColumns:
    """The columns that Spark computes of a partition, divided by what they are for."""

    # The columns that a search reads.
    search: tuple[RowColumn, ...]
    # The values of the ORDER BY columns, as texts.
    order_values: tuple[RowColumn, ...]
    # A test of whether the target names a row, and a test of whether the row is before the target.
    # Empty if the target names all rows.
    target_tests: tuple[RowColumn, ...]
    # The filters of the query.
    filters: tuple[RowColumn, ...]

    @property
    def all(self) -> tuple[RowColumn, ...]:
        """Return the columns in their order in the table."""
        return (*self.search, *self.order_values, *self.target_tests, *self.filters)


def build_partition_columns(
    clause: CompiledRule, finder: TargetFinder, key_tests: tuple[str, ...]
) -> PartitionColumns:
    """Return the columns that Spark computes of the partition of a target.

    Args:
        clause: the compiled clause.
        finder: finds the target.
        key_tests: the tests of the partition keys, as SQL.
    """
    target_tests: tuple[RowColumn, ...] = ()
    if finder.target.row is not None:
        target_tests = finder.build_target_tests(key_tests)
    order_texts = [finder.write_as_text(text) for text in finder.order_texts]
    return PartitionColumns(
        search=clause.compiled_query.sent_columns.columns,
        order_values=tuple(build_row_column(text) for text in order_texts),
        target_tests=target_tests,
        filters=clause.query.row_filters,
    )


def read_tests(table: pa.Table, columns: PartitionColumns, tests: Sequence[RowColumn]) -> BoolArray:
    """Return bool[t, n]: for each of t tests, whether each of n rows passes it.

    Args:
        table: the n rows.
        columns: the columns of the table.
        tests: the tests, which are among these columns.
    """
    passes = np.empty((len(tests), table.num_rows), np.bool_)
    for index, test in enumerate(tests):
        passes[index] = read_integers(read_column(table, columns, test)) != 0
    return passes


def read_order_values(table: pa.Table, columns: PartitionColumns) -> OrderValues:
    """Return the texts of the ORDER BY columns on each row, with "NULL" for a missing value."""
    arrays = [read_column(table, columns, column) for column in columns.order_values]
    if not arrays:
        return tuple(() for _ in range(table.num_rows))
    texts_by_column: list[list[str]] = [array.fill_null("NULL").to_pylist() for array in arrays]
    return tuple(zip(*texts_by_column, strict=True))


def read_column(table: pa.Table, columns: PartitionColumns, column: RowColumn) -> pa.Array:
    """Return the values of one of the columns of a table."""
    return take_column(table, internal_names.name_column(columns.all.index(column)))


def find_irrelevant_rows(passes_filters: BoolArray) -> frozenset[int]:
    """Return the positions of the rows that pass no filter; empty if there are no filters.

    Args:
        passes_filters: bool[f, n], for each of f filters, whether each of n rows passes it.
    """
    if not len(passes_filters):
        return frozenset()
    return frozenset(np.flatnonzero(~passes_filters.any(axis=0)).tolist())


def collect_table(rows: DataFrame, max_rows: int = MAX_ROWS) -> pa.Table:
    """Collect the rows of one partition as they are sent, in their order. Runs a job.

    Args:
        rows: the rows, as workers get them.
        max_rows: the largest number of rows to collect.

    Raises:
        MatchRecognizeUnsupportedError: there are more than `max_rows` rows.
    """
    with use_own_interpreter(rows.sparkSession):
        packed = rows.mapInArrow(partial(pack_batches, max_rows=max_rows), "packed binary")
    tables = [pa.ipc.open_stream(row.packed).read_all() for row in packed.collect()]
    if not tables:
        return pa.table({internal_names.FIRST_BITS: pa.array([], pa.int64())})  # no rows
    table = pa.concat_tables(tables).combine_chunks()
    if table.num_rows > max_rows:
        raise errors.partition_too_large(limit=max_rows)
    return table


def pack_batches(batches: Iterable[pa.RecordBatch], max_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield one batch with one value: the bytes of all batches. Yields nothing without rows.

    Once the batches have more than `max_rows` rows, later batches are dropped. So memory does not
    fill, and the caller still sees that there are too many rows.
    """
    kept_batches: list[pa.RecordBatch] = []
    kept_row_count = 0
    for batch in batches:
        if batch.num_rows and kept_row_count <= max_rows:
            kept_batches.append(batch)
            kept_row_count += batch.num_rows
    if kept_batches:
        packed = pa.array([write_batches(kept_batches)], pa.binary())
        yield pa.RecordBatch.from_arrays([packed], ["packed"])
