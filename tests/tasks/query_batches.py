"""Run a batch of queries with two Spark jobs, instead of one or more jobs for each query.

The stages are the same as in matchrec, but they are started differently:

1. One Spark job computes the columns before the match for all queries (`QueryBatch.prepared`).
2. The function that Spark's workers would call runs in this process (`Run.batches`).
3. One Spark job computes the measures of all queries (`Projected`).
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, StructField, StructType

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.joined_queries import JoinedQueries
from matchrec.compile.pruning.irrelevant_rows import negate_test
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.split import RowScope
from matchrec.conditions.window_columns import OrderType
from matchrec.errors import MatchRecognizeError
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.spark.after.aggregates import aggregate_matches
from matchrec.spark.backends import make_runner
from matchrec.spark.clause_result import build_result_items
from matchrec.spark.preparations.spark_sorts import SortedPreparation
from matchrec.spark.read_types import build_read_schema
from matchrec.spark.relation import Relation
from matchrec.spark.substitutes import build_sent_schema, decode_columns, encode_columns
from matchrec.spark.types import to_value_type
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.lower_windows import lower_window
from matchrec.worker.query_worker import QueryWorker
from matchrec.worker.task_input import TaskInput
from tests.generators.queries import NAMES
from tests.quick.scale import copies_of
from tests.tasks.linking import link, split_plan
from tests.tasks.many_keys import take_one_copy

ROWS_PER_CALL = 256  # for copies, see `tests.tasks.copies`
LARGE_RUNS = 4  # the number of runs of a batch for which Spark computes the measures of copies

Texts = list[tuple[str | None, ...]]
"""Output rows, in which every value is the text that Spark casts it to."""

Result = Texts | str
"""The output rows of a query, or the message of its error."""


def fetch_rows(frame: DataFrame) -> pa.Table:
    """Return the rows of a DataFrame as a worker would get them."""

    def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield each batch as one binary value, so that `collect` does not convert the values."""
        for batch in batches:
            sink = io.BytesIO()
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue()])], ["packed"])

    rows = encode_columns(frame).mapInArrow(packed, "packed binary").collect()
    return pa.concat_tables(pa.ipc.open_stream(row.packed).read_all() for row in rows)


def hand_over(spark: SparkSession, table: pa.Table, schema: StructType) -> DataFrame:
    """Return a table as the DataFrame that Spark would get from workers."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)

    def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches that are packed into binary values."""
        for batch in batches:
            for packed in batch.column(0).to_pylist():
                yield from pa.ipc.open_stream(packed).read_all().to_batches()

    packed = spark.createDataFrame([(sink.getvalue(),)], "packed binary").coalesce(1)
    return decode_columns(packed.mapInArrow(unpacked, build_sent_schema(schema)), schema)


@dataclass(frozen=True)
class Prepared:
    """The columns that Spark computed before the match, for all rows of whole partitions."""

    columns: Mapping[RowColumn, pa.Array]
    fields: Mapping[RowColumn, StructField]
    starts: npt.NDArray[np.bool_]  # whether a row is the first of its partition

    def table(self, compiled_query: CompiledQuery, partitions: Sequence[int] | None) -> pa.Table:
        """Return the columns and bits of one query, in the layout of `spark.preparations`.

        Args:
            partitions: the numbers of the partitions, from 0; None for all.
        """
        columns = [self.columns[column] for column in compiled_query.sent_columns.columns]
        bits = self.starts.astype(np.int64)
        for bit, condition in enumerate(compiled_query.row_conditions):
            truth = self.columns[condition].fill_null(False).to_numpy(zero_copy_only=False)
            bits |= truth.astype(np.int64) << (bit + 1)
        names = [*(f"__c{i}" for i in range(len(columns))), "__bits0"]
        table = pa.table([*columns, pa.array(bits)], names)
        partition = np.cumsum(self.starts) - 1
        kept = np.isin(partition, np.arange(len(bits)) if partitions is None else partitions)
        if compiled_query.row_filters:
            kept &= find_relevant_rows(compiled_query, bits)
        return mark_partitions(table.filter(pa.array(kept)), partition[kept])


def find_relevant_rows(
    compiled_query: CompiledQuery, bits: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return for each row whether it is relevant: it satisfies one of the `row_filters`.

    A filter tests that a condition holds, or that the condition of a loop does not hold.
    """
    satisfied = {
        condition: bits & 2 << bit != 0
        for bit, condition in enumerate(compiled_query.row_conditions)
        if condition.reads_one_row
    }
    failed = {negate_test(condition): ~rows for condition, rows in satisfied.items()}
    tests = satisfied | failed
    return np.logical_or.reduce([tests[test] for test in compiled_query.row_filters])


def mark_partitions(table: pa.Table, partition: npt.NDArray[np.int64]) -> pa.Table:
    """Mark the first row of each partition again, after some rows have been left out."""
    bits = table.column("__bits0").to_numpy() & ~np.int64(1)
    bits |= np.diff(partition, prepend=-1) != 0
    return table.set_column(table.column_names.index("__bits0"), "__bits0", pa.array(bits))


class QueryBatch:
    """The split queries that share a table, PARTITION BY and ORDER BY.

    Attributes:
        split_queries: by the text of the query.
        refused: the message of the error for each query that cannot be split or compiled.

    Args:
        scope: whether Spark or the worker reads neighbouring rows for the conditions.
        names: the columns of the table.
    """

    def __init__(
        self,
        spark: SparkSession,
        table: str,
        queries: Sequence[str],
        scope: RowScope = RowScope.SPARK,
        names: Sequence[str] = NAMES,
    ) -> None:
        self.spark = spark
        self.runner = make_runner(spark)
        self.relation = Relation(self.runner, (table,))
        self.split_queries: dict[str, SplitQuery] = {}
        self.refused: dict[str, str] = {}
        for query in queries:
            with self.translate_server_errors(query):
                self.split_queries[query] = split_table_plan(
                    lower_only_clause(query), names, scope=scope
                )

    @contextmanager
    def translate_server_errors(self, query: str) -> Iterator[None]:
        """Catch the error that rejects a query, and keep its message."""
        try:
            yield
        except MatchRecognizeError as error:
            self.refused[query] = str(error)

    def link(self, algorithm: str, *, ansi: bool = True) -> dict[str, CompiledQuery]:
        """Compile each query that is not rejected."""
        columns = dict.fromkeys(c for split in self.split_queries.values() for c in split.columns)
        fields = self.columns(tuple(columns)).schema.fields
        types = {c: to_value_type(f.dataType) for c, f in zip(columns, fields, strict=False)}
        linked = {}
        for query, split in self.split_queries.items():
            with self.translate_server_errors(query):
                linked[query] = link(split, types, algorithm, ansi=ansi)
        return linked

    def columns(self, columns: tuple[RowColumn, ...]) -> DataFrame:
        """Return columns of all rows. Without conditions, Spark leaves no row out."""
        plan = next(iter(self.split_queries.values())).plan
        return SortedPreparation(
            self.relation, JoinedQueries((), plan.partition_keys, plan.order_by, (), ())
        ).build_rows(columns)

    def prepared(
        self, compiled_queries: Iterable[CompiledQuery], others: Sequence[RowColumn] = ()
    ) -> Prepared:
        """Compute the columns and conditions of compiled queries, and other columns, in one job."""
        read = (c for e in compiled_queries for c in (*e.sent_columns.columns, *e.row_conditions))
        columns = tuple(dict.fromkeys((*read, *others)))
        frame = self.columns(columns)
        table = fetch_rows(frame).combine_chunks()
        arrays = [table.column(f"__c{i}").combine_chunks() for i in range(len(columns))]
        return Prepared(
            dict(zip(columns, arrays, strict=True)),
            dict(zip(columns, frame.schema.fields, strict=False)),
            table.column("__bits0").to_numpy() == 1,
        )

    def answers(self, runs: Sequence[Run]) -> list[Result]:
        """Return the result of each run: one job computes all measures.

        For a few of the runs another job computes the measures of copies.
        """
        projected = Projected(self.spark)
        numbers: list[int | str] = []  # the number of the run in `projected`, or its error
        for run in runs:
            batches = run_worker(run)
            numbers.append(batches if isinstance(batches, str) else projected.add(run, batches))
        texts = projected.texts()
        results = [texts[number] if isinstance(number, int) else number for number in numbers]
        self.check_copies([(run, rows) for run, rows in zip(runs, results, strict=True) if rows])
        return results

    def check_copies(self, answered: Sequence[tuple[Run, Result]]) -> None:
        """Check for a few runs that each of many copies has the output rows of the run."""
        with_rows = [(run, rows) for run, rows in answered if not isinstance(rows, str)]
        distance = -(-len(with_rows) // LARGE_RUNS) or 1
        chosen = with_rows[::distance]
        projected = Projected(self.spark)
        for run, _ in chosen:
            projected.add(run, run.run_copies(run.copies))
        expected = Counter((number, row) for number, (_, rows) in enumerate(chosen) for row in rows)
        if projected.tables:
            rows_of_one_copy = take_one_copy(projected.to_df(), chosen[0][0].copies)
            counts = Counter((row.run, tuple(row.texts)) for row in rows_of_one_copy)
            assert counts == expected


def lower_only_clause(query: str) -> MatchPlan:
    """Return the plan of the only clause or row pattern window of a query."""
    (site,) = parse_sql(query).sites
    return (
        lower_clause(site.clause) if site.calls is None else lower_window(site.clause, site.calls)
    )


def split_table_plan(
    plan: MatchPlan,
    names: Sequence[str] = NAMES,
    find_order_type: Callable[[str], OrderType] | None = None,
    scope: RowScope = RowScope.SPARK,
) -> SplitQuery:
    """Split the conditions of a plan over a table with these columns.

    `split_plan` explains the other arguments.
    """
    columns = InputColumns(tuple(names))
    return split_plan(plan, columns, str, find_order_type=find_order_type, scope=scope)


@dataclass(frozen=True)
class Run:
    """A run of a compiled query over some partitions."""

    compiled_query: CompiledQuery
    prepared: Prepared
    partitions: Sequence[int] | None  # their numbers, from 0; None for all
    rows_per_batch: int  # each batch is searched separately if partitions allow it

    @property
    def copies(self) -> int:
        """Return the number of copies in the second size of the test, see `tests.tasks.copies`."""
        return copies_of(len(self.prepared.starts))

    def batches(self) -> list[pa.RecordBatch]:
        """Return the output of the worker, and check that copies have the same output.

        Raises:
            MatchRecognizeRunError: the rows cause an error; copies cause the same error.
        """
        try:
            output = self.run_copies(1)
        except MatchRecognizeError as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                self.run_copies(self.copies)
            raise
        check_copies(output, self.run_copies(self.copies), self.copies)
        return output

    def run_copies(self, copies: int) -> list[pa.RecordBatch]:
        """Return the output of the worker for a number of copies of the partitions.

        Raises:
            MatchRecognizeRunError: the rows cause an error.
        """
        rows_per_batch = self.rows_per_batch if copies == 1 else ROWS_PER_CALL
        table = self.prepared.table(self.compiled_query, self.partitions)
        table = pa.concat_tables([table] * copies).combine_chunks()
        batches = table.to_batches(max_chunksize=rows_per_batch)
        task_input = TaskInput(rows_per_call=rows_per_batch)
        return list(QueryWorker(self.compiled_query, task_input).run(batches))

    def schema(self, first: int) -> list[StructField]:
        """Return the fields of the output, named with numbers from `first` on."""
        inputs = [
            self.prepared.fields[column] for column in self.compiled_query.sent_columns.columns
        ]
        fields = build_read_schema(self.compiled_query, inputs).fields
        return [StructField(f"__r{first + i}", f.dataType) for i, f in enumerate(fields)]


def run_worker(run: Run) -> list[pa.RecordBatch] | str:
    """Return the output of the worker, or the message of its error."""
    try:
        return run.batches()
    except MatchRecognizeError as error:
        return str(error)


def check_copies(
    output: Sequence[pa.RecordBatch], output_of_copies: Sequence[pa.RecordBatch], copies: int
) -> None:
    """Check that the output of copies has each row of the output `copies` times."""
    if output and output_of_copies:
        expected = pa.concat_tables([pa.Table.from_batches(output)] * copies)
        if pa.Table.from_batches(output_of_copies).equals(expected):
            return
    # Counting is slower, but the rows may be in another order, or contain NaN.
    counts = {row: count * copies for row, count in count_rows(output).items()}
    assert count_rows(output_of_copies) == counts, "copies differ"


def count_rows(batches: Sequence[pa.RecordBatch]) -> Counter[str]:
    """Count each row. Rows are compared as text, in which NaN equals NaN."""
    return Counter(str(row) for batch in batches for row in batch.to_pylist())


@dataclass(frozen=True)
class ProjectedRun:
    """A run in the table of `Projected`."""

    compiled_query: CompiledQuery
    number: int  # of the run
    first: int  # the number of the first of its columns

    def aggregate(self, spark: SparkSession, side_by_side: DataFrame) -> DataFrame:
        """Return the output rows of a run with aggregates that Spark computes."""
        reads = range(len(self.compiled_query.reads))
        names = [f"__r{self.first + i} AS __r{i}" for i in reads]
        rows = side_by_side.where(f"run = {self.number}").selectExpr(*names)
        matched = aggregate_matches(make_runner(spark), rows, self.compiled_query)
        return matched.selectExpr(
            f"{self.number} AS run", f"{write_texts(self.compiled_query, 0)} AS texts"
        )


class Projected:
    """The output of many runs in one table, so that one Spark job computes all measures.

    Each run has its own columns, which are NULL in the rows of other runs. `run` is its number.
    """

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.runs = 0
        self.fields: list[StructField] = []
        self.tables: list[pa.Table] = []
        self.projected_runs: list[ProjectedRun] = []

    def add(self, run: Run, batches: Sequence[pa.RecordBatch]) -> int:
        """Add the output of a run, and return its number."""
        number = self.runs
        first = len(self.fields)
        self.runs += 1
        if batches:
            self.projected_runs.append(ProjectedRun(run.compiled_query, number, first))
            fields = run.schema(first)
            self.fields += fields
            table = pa.Table.from_batches(batches).rename_columns([f.name for f in fields])
            numbers = pa.array(np.full(table.num_rows, number, np.int32))
            self.tables.append(table.append_column("run", numbers))
        return number

    def texts(self) -> list[Texts]:
        """Return the output rows of each run."""
        texts: list[Texts] = [[] for _ in range(self.runs)]
        for row in self.to_df().collect() if self.tables else ():
            texts[row.run].append(tuple(row.texts))
        return texts

    def to_df(self) -> DataFrame:
        """Return the output rows of all runs: the number of the run, and the values as texts."""
        schema = StructType([*self.fields, StructField("run", IntegerType())])
        table = pa.concat_tables(self.tables, promote_options="default").select(schema.names)
        side_by_side = hand_over(self.spark, table, schema).localCheckpoint()
        with_aggregates = (run for run in self.projected_runs if run.compiled_query.aggregates)
        frames = [run.aggregate(self.spark, side_by_side) for run in with_aggregates]
        plain = [run for run in self.projected_runs if not run.compiled_query.aggregates]
        cases = "".join(
            f" WHEN {p.number} THEN {write_texts(p.compiled_query, p.first)}" for p in plain
        )
        if plain:
            rows = side_by_side.where(f"run IN ({', '.join(str(p.number) for p in plain)})")
            frames.append(rows.selectExpr("run", f"CASE run{cases} END AS texts"))
        return reduce(DataFrame.unionAll, frames)


def write_texts(compiled_query: CompiledQuery, first: int) -> str:
    """Return SQL for an array with the values of an output row as texts.

    Args:
        first: the number of the first column that the run has.
    """
    slots = range(first, first + len(compiled_query.reads))
    items = (f"CAST({item.sql} AS STRING)" for item in build_result_items(compiled_query, slots))
    return f"array({', '.join(items)})"
