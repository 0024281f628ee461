"""matchrec over a whole batch of queries, for two Spark jobs instead of one or more for each query.

Every stage is the package's own. What changes is who starts it: one query before the match
computes the columns of all queries, the function of Spark's workers runs here over batches made by
hand, and one query after the match evaluates all measures.
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

from matchrec.compile.executable import Executable
from matchrec.compile.path import Draft, draft_query
from matchrec.compile.pruning.irrelevant_rows import fails
from matchrec.conditions.row_column import OrderType, RowColumn
from matchrec.conditions.split import RowScope
from matchrec.errors import MatchRecognizeError
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.plan.text import template
from matchrec.spark.after.aggregates import aggregate_matches
from matchrec.spark.backends import runner_of
from matchrec.spark.columns import Preparation
from matchrec.spark.execute import build_result_items
from matchrec.spark.relation import Relation
from matchrec.spark.types import (
    crossing_schema,
    decode_columns,
    encode_columns,
    schema_of_reads,
    value_type,
)
from matchrec.syntax.locate import parse
from matchrec.syntax.lower import lower
from matchrec.syntax.lower_windows import lower_window
from matchrec.worker.matching import Incoming, QueryWorker
from tests.generators.queries import NAMES
from tests.quick.scale import copies_of
from tests.tasks.linking import link
from tests.tasks.many_keys import of_each_copy

ROWS_A_CALL = 256  # of the second size
LARGE_RUNS = 4  # of a batch's, whose measures Spark computes of many copies

Texts = list[tuple[str | None, ...]]
Result = Texts | str  # rows with every value as Spark's text, or the message of the error


def fetched(frame: DataFrame) -> pa.Table:
    """The rows of a DataFrame as a worker would get them."""

    def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            sink = io.BytesIO()
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue()])], ["packed"])

    rows = encode_columns(frame).mapInArrow(packed, "packed binary").collect()
    return pa.concat_tables(pa.ipc.open_stream(row.packed).read_all() for row in rows)


def handed_over(spark: SparkSession, table: pa.Table, schema: StructType) -> DataFrame:
    """A table as the DataFrame that workers would make of it."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)

    def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for packed in batch.column(0).to_pylist():
                yield from pa.ipc.open_stream(packed).read_all().to_batches()

    packed = spark.createDataFrame([(sink.getvalue(),)], "packed binary").coalesce(1)
    return decode_columns(packed.mapInArrow(unpacked, crossing_schema(schema)), schema)


@dataclass(frozen=True)
class Prepared:
    """What Spark computed before the match: whole partitions, `starts` marks their first rows."""

    columns: Mapping[RowColumn, pa.Array]
    fields: Mapping[RowColumn, StructField]
    starts: npt.NDArray[np.bool_]

    def table(self, executable: Executable, partitions: Sequence[int] | None) -> pa.Table:
        """The columns and bits of one query, as `spark.columns` lays them out."""
        held = [self.columns[column] for column in executable.crossing.columns]
        bits = self.starts.astype(np.int64)
        for bit, condition in enumerate(executable.conditions):
            truth = self.columns[condition].fill_null(False).to_numpy(zero_copy_only=False)
            bits |= truth.astype(np.int64) << (bit + 1)
        names = [*(f"__c{i}" for i in range(len(held))), "__bits0"]
        table = pa.table([*held, pa.array(bits)], names)
        partition = np.cumsum(self.starts) - 1
        kept = np.isin(partition, np.arange(len(bits)) if partitions is None else partitions)
        if executable.relevant:
            kept &= satisfying_one(executable, bits)
        return marked(table.filter(pa.array(kept)), partition[kept])


def satisfying_one(executable: Executable, bits: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which rows satisfy a test of those that matter: a condition holds, or one of a loop fails."""
    known = [one for one in executable.conditions if one.looks_at_one_row]
    tests = {one: bits & 2 << executable.conditions.index(one) != 0 for one in known}
    tests |= {fails(one): ~satisfied for one, satisfied in tests.items()}
    return np.logical_or.reduce([tests[one] for one in executable.relevant])


def marked(table: pa.Table, partition: npt.NDArray[np.int64]) -> pa.Table:
    """The table with the first row of each partition marked, some rows having been left out."""
    bits = table.column("__bits0").to_numpy() & ~np.int64(1)
    bits |= np.diff(partition, prepend=-1) != 0
    return table.set_column(table.column_names.index("__bits0"), "__bits0", pa.array(bits))


class QueryBatch:
    """The drafts of queries that share a table and a window. refused: by text, the error.

    scope: of conditions that Spark computes. names: of the columns.
    """

    def __init__(
        self,
        spark: SparkSession,
        table: str,
        queries: Sequence[str],
        scope: RowScope = RowScope.NEIGHBOURS,
        names: Sequence[str] = NAMES,
    ) -> None:
        self.spark, self.runner = spark, runner_of(spark)
        self.relation = Relation(
            self.runner, lambda items: template("SELECT ", items, f" FROM {table}")
        )
        self.drafts: dict[str, Draft] = {}
        self.refused: dict[str, str] = {}
        for query in queries:
            with self.refusing(query):
                self.drafts[query] = drafted(plan_of(query), names, scope=scope)

    @contextmanager
    def refusing(self, query: str) -> Iterator[None]:
        """Keeps the error that a query is refused with."""
        try:
            yield
        except MatchRecognizeError as error:
            self.refused[query] = str(error)

    def link(self, engine: str, *, ansi: bool = True) -> dict[str, Executable]:
        """The executables; a query that cannot be linked is refused."""
        wanted = dict.fromkeys(c for one in self.drafts.values() for c in one.columns())
        fields = self.columns(tuple(wanted)).schema.fields
        types = {c: value_type(f.dataType) for c, f in zip(wanted, fields, strict=False)}
        linked = {}
        for query, one in self.drafts.items():
            with self.refusing(query):
                linked[query] = link(one, types, engine, ansi=ansi)
        return linked

    def columns(self, wanted: tuple[RowColumn, ...]) -> DataFrame:
        """Columns of all rows; no condition, so no row stays behind."""
        plan = next(iter(self.drafts.values())).plan
        return Preparation(self.relation, Draft(plan, plan, (), (), ())).dataframe(wanted)

    def prepared(
        self, executables: Iterable[Executable], others: Sequence[RowColumn] = ()
    ) -> Prepared:
        """One job for the columns and conditions of all executables, and for other columns."""
        asked = (c for e in executables for c in (*e.crossing.columns, *e.conditions))
        wanted = tuple(dict.fromkeys((*asked, *others)))
        frame = self.columns(wanted)
        table = fetched(frame).combine_chunks()
        arrays = [table.column(f"__c{i}").combine_chunks() for i in range(len(wanted))]
        return Prepared(
            dict(zip(wanted, arrays, strict=True)),
            dict(zip(wanted, frame.schema.fields, strict=False)),
            table.column("__bits0").to_numpy() == 1,
        )

    def answers(self, runs: Sequence[Run]) -> list[Result]:
        """One job for the measures of all runs, and one for those of many copies of some."""
        projected, numbers = Projected(self.spark), list[int | str]()
        for run in runs:
            found = batches_or_error(run)
            numbers.append(found if isinstance(found, str) else projected.add(run, found))
        texts = projected.texts()
        answers = [texts[one] if isinstance(one, int) else one for one in numbers]
        self.check_copies([(run, of) for run, of in zip(runs, answers, strict=True) if of])
        return answers

    def check_copies(self, answered: Sequence[tuple[Run, Result]]) -> None:
        """Whether many copies give the rows of one as often, for a few of the runs."""
        known = [(run, rows) for run, rows in answered if not isinstance(rows, str)]
        projected, few = Projected(self.spark), known[:: -(-len(known) // LARGE_RUNS) or 1]
        for run, _ in few:
            projected.add(run, run.of_copies(run.copies))
        expected = Counter((n, row) for n, (_, rows) in enumerate(few) for row in rows)
        if projected.tables:
            found = of_each_copy(projected.to_df(), few[0][0].copies)
            assert Counter((row.run, tuple(row.texts)) for row in found) == expected


def plan_of(query: str) -> MatchPlan:
    """The plan of a query's clause or row pattern window."""
    (site,) = parse(query).sites
    return lower(site.clause) if site.calls is None else lower_window(site.clause, site.calls)


def drafted(
    plan: MatchPlan,
    names: Sequence[str] = NAMES,
    type_of_order: Callable[[str], OrderType] | None = None,
    scope: RowScope = RowScope.NEIGHBOURS,
) -> Draft:
    """The draft of a plan. names: of the columns. type_of_order, scope: see `draft_query`."""
    columns = InputColumns(tuple(names))
    return draft_query(plan, columns, str, type_of_order=type_of_order, scope=scope)


@dataclass(frozen=True)
class Run:
    """An executable over some partitions, in batches of some rows, each worth a search."""

    executable: Executable
    prepared: Prepared
    partitions: Sequence[int] | None
    rows_a_batch: int

    @property
    def copies(self) -> int:
        """How many copies of the partitions its second size has, see `tests/tasks/copies.py`."""
        return copies_of(len(self.prepared.starts))

    def batches(self) -> list[pa.RecordBatch]:
        """What comes out, which comes out of each of many copies too.

        Raises MatchRecognizeRunError, as copies do.
        """
        try:
            found = self.of_copies(1)
        except MatchRecognizeError as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                self.of_copies(self.copies)
            raise
        check_copies(found, self.of_copies(self.copies), self.copies)
        return found

    def of_copies(self, copies: int) -> list[pa.RecordBatch]:
        """What comes out of so many copies of the partitions. Raises MatchRecognizeRunError."""
        rows_a_batch = self.rows_a_batch if copies == 1 else ROWS_A_CALL
        table = self.prepared.table(self.executable, self.partitions)
        table = pa.concat_tables([table] * copies).combine_chunks()
        batches = table.to_batches(max_chunksize=rows_a_batch)
        incoming = Incoming(rows_a_call=rows_a_batch)
        return list(QueryWorker(self.executable, incoming).run(batches))

    def schema(self, first: int) -> list[StructField]:
        """The fields of the output, numbered from `first`; other runs leave them NULL."""
        inputs = [self.prepared.fields[column] for column in self.executable.crossing.columns]
        fields = schema_of_reads(self.executable, inputs).fields
        return [StructField(f"__r{first + i}", f.dataType) for i, f in enumerate(fields)]


def batches_or_error(run: Run) -> list[pa.RecordBatch] | str:
    """What comes out, or the message of the error."""
    try:
        return run.batches()
    except MatchRecognizeError as error:
        return str(error)


def check_copies(
    one: Sequence[pa.RecordBatch], many: Sequence[pa.RecordBatch], copies: int
) -> None:
    """Whether as much comes out of copies; they are counted only where they come in another order,
    or differ by NaN.
    """
    if one and many:
        expected = pa.concat_tables([pa.Table.from_batches(one)] * copies)
        if pa.Table.from_batches(many).equals(expected):
            return
    counts = {row: count * copies for row, count in counted(one).items()}
    assert counted(many) == counts, "copies differ"


def counted(batches: Sequence[pa.RecordBatch]) -> Counter[str]:
    """How often each row comes out; as text, in which NaN equals NaN."""
    return Counter(str(row) for batch in batches for row in batch.to_pylist())


@dataclass(frozen=True)
class Placed:
    """A run whose output has the columns from `first` on."""

    executable: Executable
    number: int
    first: int

    def grouped(self, spark: SparkSession, side_by_side: DataFrame) -> DataFrame:
        """The rows of a run with aggregates that are Spark's."""
        reads = range(len(self.executable.reads))
        names = [f"__r{self.first + i} AS __r{i}" for i in reads]
        own = side_by_side.where(f"run = {self.number}").selectExpr(*names)
        matched = aggregate_matches(runner_of(spark), own, self.executable, "")
        return matched.selectExpr(
            f"{self.number} AS run", f"{texts_of(self.executable, 0)} AS texts"
        )


class Projected:
    """The output of many runs side by side in one table; each has columns of its own."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.runs = 0
        self.fields: list[StructField] = []
        self.tables: list[pa.Table] = []
        self.placed: list[Placed] = []

    def add(self, run: Run, batches: Sequence[pa.RecordBatch]) -> int:
        """The number of a run that gives these batches."""
        number, first = self.runs, len(self.fields)
        self.runs += 1
        if batches:
            self.placed.append(Placed(run.executable, number, first))
            fields = run.schema(first)
            self.fields += fields
            table = pa.Table.from_batches(batches).rename_columns([f.name for f in fields])
            numbers = pa.array(np.full(table.num_rows, number, np.int32))
            self.tables.append(table.append_column("run", numbers))
        return number

    def texts(self) -> list[Texts]:
        """The rows of every run."""
        found: list[Texts] = [[] for _ in range(self.runs)]
        for row in self.to_df().collect() if self.tables else ():
            found[row.run].append(tuple(row.texts))
        return found

    def to_df(self) -> DataFrame:
        """One row for every output row of every run."""
        schema = StructType([*self.fields, StructField("run", IntegerType())])
        table = pa.concat_tables(self.tables, promote_options="default").select(schema.names)
        side_by_side = handed_over(self.spark, table, schema).localCheckpoint()
        with_aggregates = (one for one in self.placed if one.executable.aggregates)
        frames = [one.grouped(self.spark, side_by_side) for one in with_aggregates]
        plain = [one for one in self.placed if not one.executable.aggregates]
        cases = "".join(f" WHEN {p.number} THEN {texts_of(p.executable, p.first)}" for p in plain)
        if plain:
            only = side_by_side.where(f"run IN ({', '.join(str(p.number) for p in plain)})")
            frames.append(only.selectExpr("run", f"CASE run{cases} END AS texts"))
        return reduce(DataFrame.unionAll, frames)


def texts_of(executable: Executable, first: int) -> str:
    """SQL for the array of an output row's values as text; its reads are numbered from `first`."""
    slots = range(first, first + len(executable.reads))
    items = (f"CAST({item.sql} AS STRING)" for item in build_result_items(executable, slots))
    return f"array({', '.join(items)})"
