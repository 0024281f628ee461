"""One partition of a clause's input on the driver, as an engine sees it; and measures of its rows.

All of its rows come, those too that a query leaves behind before the search: what the engine would
not see is marked. Spark computes columns and bits as for any query; a function in a worker packs
the rows as Arrow's bytes, so that every type arrives as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import types as spark_types

from matchrec.compile.executable import Executable
from matchrec.compile.path import Draft
from matchrec.conditions.row_column import RowColumn, row_column
from matchrec.conditions.split import RowScope
from matchrec.dataclass import dataclass
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import Partitions
from matchrec.errors.run import failures as errors
from matchrec.errors.run.failures import no_literal
from matchrec.output.measures import Reader
from matchrec.output.rows import OutputRows
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.plan.text import string_literal
from matchrec.spark import wire
from matchrec.spark.crossing import crossing_schema, decode_columns
from matchrec.spark.environment import able_workers
from matchrec.spark.execute import projected
from matchrec.spark.prepare import Demand, prepare_sorted
from matchrec.spark.question import Options, Question, is_streaming
from matchrec.spark.session import Relation, quiet_analysis
from matchrec.spark.transport import unpacker
from matchrec.spark.types import schema_of_reads
from matchrec.spark.worker.arrays import as_integers, column, to_bytes
from matchrec.spark.worker.encode import partitions_of
from matchrec.spark.worker.gather import Gatherer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_ROWS = 100_000
MOST_KEYS = 5  # partitions that a message names
Values = dict[int, tuple[str | None, ...]]


@dataclass(frozen=True)
class Target:
    """Which partition of a clause, and which row of it.

    partition: values by the names of their columns, None where none is named. row: values of the
    first ORDER BY columns, None for all rows.
    """

    partition: Mapping[str, object] | None = None
    row: tuple[object, ...] | None = None


@dataclass(frozen=True)
class CollectedPartition:
    """What is known of one partition.

    plan: resolved. table: its rows, as a worker gets them. fields: of the columns that cross.
    keys: the partition, as text by column. orders: names of the ORDER BY columns. places: of each
    row their values, as text. asked: positions of the rows asked for. irrelevant: of those that
    are left out before the search.
    """

    relation: Relation
    plan: MatchPlan
    executable: Executable
    table: pa.Table
    partitions: Partitions
    fields: tuple[spark_types.StructField, ...]
    keys: dict[str, str]
    orders: tuple[str, ...]
    places: tuple[tuple[str, ...], ...]
    asked: tuple[int, ...]
    irrelevant: frozenset[int]


def collect_partition(
    plan: MatchPlan, relation: Relation, alias: str | None, engine: str, target: Target
) -> CollectedPartition:
    """The partition that is asked for. Runs a job; raises MatchRecognizeError."""
    if is_streaming(relation.rows):
        raise errors.trace_of_stream()
    question = Question.of_query(plan, relation, alias, Options(engine))
    (rule,) = question.rules
    with quiet_analysis(), question.asking(rule):
        drafted = question.draft(rule, RowScope.NEIGHBOURS)
        keys = partition_keys(drafted.plan, question.columns)
        return PartitionRequest(question, drafted, keys, target).collect()


def partition_keys(plan: MatchPlan, columns: InputColumns) -> dict[str, str]:
    """The texts of what divides a plan's input, by their names."""
    return {key.name or columns.name(key.text) or key.text: key.text for key in plan.keys}


@dataclass(frozen=True)
class PartitionRequest:
    """A partition to be collected. keys: see `partition_keys`."""

    question: Question
    drafted: Draft
    keys: Mapping[str, str]
    target: Target

    @property
    def relation(self) -> Relation:
        """The input."""
        return self.question.relation

    @property
    def columns(self) -> InputColumns:
        """The names of its columns."""
        return self.question.columns

    def collect(self) -> CollectedPartition:
        """The partition, one job later."""
        drafted, keys = replace(self.drafted, relevant=()), self.key_values()
        tests = tuple(f"{self.keys[name]} <=> {value}" for name, value in keys.items())
        (rule,) = self.question.rules
        demand = Demand(drafted, {rule.name: drafted}, drafted, drafted.columns(), tests)
        prepared = prepare_sorted(self.question, demand)
        executable = prepared.link(rule)
        crossing = executable.crossing.columns
        sent = prepared.send((*crossing, *self.further_columns()))
        table = collect_table(sent.rows)
        if not table.num_rows:
            raise self.no_such_partition()
        found = Further(table, len(crossing), len(self.orders), len(self.drafted.relevant))
        return CollectedPartition(
            self.relation,
            drafted.plan,
            executable,
            table,
            partitions_of(executable, table, np.array([0, table.num_rows], np.int64)),
            sent.fields[: len(crossing)],
            self.named_keys(keys),
            tuple(self.columns.name(text) or text for text in self.orders),
            found.places,
            self.rows_asked(found),
            found.irrelevant,
        )

    @property
    def orders(self) -> tuple[str, ...]:
        """What the rows are sorted by, as SQL over one row."""
        return tuple(item.expression.text for item in self.drafted.plan.order_by)

    def key_values(self) -> dict[str, str]:
        """The partition as SQL literals by name. Raises where it is not the only one."""
        wanted = self.target.partition
        if wanted is None:
            return self.only_partition()
        names = {self.columns.folded(name): name for name in self.keys}
        known = {names.get(self.columns.folded(name), name): name for name in wanted}
        if unknown := [one for name, one in known.items() if name not in self.keys]:
            raise errors.unknown_partition_column(unknown[0], self.keys)
        if missing := [name for name in self.keys if name not in known]:
            raise errors.partition_column_missing(missing[0], self.keys)
        return {name: literal(wanted[one], "partition") for name, one in known.items()}

    def only_partition(self) -> dict[str, str]:
        """No test, where there is but one partition. Raises where there are several."""
        if self.keys:
            found = self.some_keys()
            if len(found) > 1:
                raise errors.several_partitions(tuple(self.keys), found)
        return {}

    def some_keys(self) -> list[tuple[str, ...]]:
        """The keys of some partitions, as text."""
        items = [f"CAST({text} AS STRING) AS k{i}" for i, text in enumerate(self.keys.values())]
        found = self.relation.select(items).distinct().limit(MOST_KEYS + 1).collect()
        return sorted(tuple("NULL" if one is None else one for one in row) for row in found)

    def no_such_partition(self) -> Exception:
        """The error of a partition without rows."""
        return errors.no_such_partition(tuple(self.keys), self.some_keys() if self.keys else [])

    def named_keys(self, values: Mapping[str, str]) -> dict[str, str]:
        """The partition as it is shown."""
        return {name: values[name] for name in self.keys if name in values}

    def further_columns(self) -> tuple[RowColumn, ...]:
        """What is collected beside what the engine needs: see `Further`."""
        places = (row_column(f"CAST({text} AS STRING)") for text in self.orders)
        return (*places, *self.row_tests(), *self.drafted.relevant)

    def row_tests(self) -> tuple[RowColumn, ...]:
        """Whether a row is one that is asked for, and whether it comes before."""
        if self.target.row is None:
            return (row_column("TRUE"), row_column("TRUE"))
        wanted = self.target.row
        if not 1 <= len(wanted) <= len(self.orders):
            raise errors.other_number_of_order_values(len(wanted), self.orders)
        values = [literal(value, "row") for value in wanted]
        same = (f"({t} <=> {v})" for t, v in zip(self.orders, values, strict=False))
        descending = self.drafted.plan.order_by[0].descending
        earlier = f"({self.orders[0]} {'>' if descending else '<'} {values[0]})"
        return (row_column(" AND ".join(same)), row_column(f"coalesce({earlier}, TRUE)"))

    def rows_asked(self, found: Further) -> tuple[int, ...]:
        """The rows asked for; none where none is. Raises where there is no such row."""
        if self.target.row is None:
            return ()
        if not found.asked:
            near = found.places[max(0, found.earlier - 2) : found.earlier + 2]
            raise errors.no_such_row(self.target.row, self.orders, near)
        return found.asked


@dataclass(frozen=True)
class Further:
    """The columns behind those that cross: places of rows, two tests, tests of relevance."""

    table: pa.Table
    crossing: int
    orders: int
    tests: int

    def values(self, index: int) -> pa.Array:
        """One of them."""
        return column(self.table, wire.column(self.crossing + index))

    def flags(self, index: int) -> list[bool]:
        """One that is a truth value."""
        return [bool(one) for one in as_integers(self.values(index)).tolist()]

    @property
    def places(self) -> tuple[tuple[str, ...], ...]:
        """Where each row stands in the order, as text."""
        texts = [self.values(index).to_pylist() for index in range(self.orders)]
        rows = zip(*texts, strict=True) if texts else ((),) * self.table.num_rows
        return tuple(tuple("NULL" if one is None else one for one in row) for row in rows)

    @property
    def asked(self) -> tuple[int, ...]:
        """The rows that are asked for."""
        return tuple(i for i, one in enumerate(self.flags(self.orders)) if one)

    @property
    def earlier(self) -> int:
        """How many rows come before the one that is asked for."""
        return sum(self.flags(self.orders + 1))

    @property
    def irrelevant(self) -> frozenset[int]:
        """The rows that are left out before the search."""
        if not self.tests:
            return frozenset()
        first = self.orders + 2
        columns = [self.flags(index) for index in range(first, first + self.tests)]
        return frozenset(i for i, row in enumerate(zip(*columns, strict=True)) if not any(row))


def literal(value: object, argument: str) -> str:
    """A value as SQL, which Spark compares with a column. argument: that has it, for messages.

    >>> literal("it's", "row"), literal(date(2024, 1, 2), "row")
    ("'it\\\\'s'", "DATE'2024-01-02'")
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return str(value)
        case float():
            return f"{value!r}D" if isfinite(value) else f"DOUBLE('{value}')"
        case Decimal():
            return f"{value:f}BD"
        case str():
            return string_literal(value)
        case datetime():
            return timestamp(value)
        case date():
            return f"DATE'{value.isoformat()}'"
        case timedelta():
            return f"make_dt_interval({value.days}, 0, 0, {value.seconds}.{value.microseconds:06d})"
    item = getattr(value, "item", None)  # a number of NumPy's
    if item is not None and not isinstance(plain := item(), type(value)):
        return literal(plain, argument)
    raise no_literal(argument, value)


def timestamp(value: datetime) -> str:
    """An instant, or a time in the session's zone."""
    if value.tzinfo is None:
        return f"TIMESTAMP'{value.isoformat(sep=' ')}'"
    instant = value.astimezone(timezone.utc).replace(tzinfo=None)
    return f"TIMESTAMP'{instant.isoformat(sep=' ')}+00:00'"


def collect_table(rows: DataFrame, most: int = MOST_ROWS) -> pa.Table:
    """The rows of one partition as they cross, in order. Raises where there are too many."""
    with able_workers(rows.sparkSession):
        packed = rows.mapInArrow(partial(pack, most=most), "packed binary")
    tables = [pa.ipc.open_stream(row.packed).read_all() for row in packed.collect()]
    if not tables:
        return pa.table({wire.FIRST_BITS: pa.array([], pa.int64())})
    table = pa.concat_tables(tables).combine_chunks()
    if table.num_rows > most:
        raise errors.partition_too_large(most)
    return table


def pack(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    """The batches as one value, up to the first in which there are more than `most` rows."""
    packed: list[pa.RecordBatch] = []
    for batch in batches:
        if batch.num_rows and sum(one.num_rows for one in packed) <= most:
            packed.append(batch)
    if packed:
        yield pa.RecordBatch.from_arrays([pa.array([to_bytes(packed)], pa.binary())], ["packed"])


def measure_values(partition: CollectedPartition, matches: Matches) -> Values:
    """The values of the plan's measures over some matches, by the first of them. Runs a job.

    With final semantics a measure sees all rows of its match, with running semantics all but the
    last one.
    """
    executable, task = partition.executable, partition.executable.task
    rows = before_the_last(matches)
    reader = Reader(matches, rows, partition.partitions, task.members, len(task.variables))
    batch = Gatherer(executable, partition.table, reader).batch()
    schema = schema_of_reads(executable, partition.fields)
    spark = partition.relation.runner.spark
    packed = spark.createDataFrame([(to_bytes([batch]),)], "packed binary")
    with able_workers(spark):
        sent = packed.mapInArrow(unpacker(), crossing_schema(schema))
    found = projected(partition.relation, executable, decode_columns(sent, schema))
    first = len(executable.outputs) - len(partition.plan.measures)
    collected = [tuple(row)[first:] for row in found.collect()]
    return {int(row[0]): row for row in collected}


def before_the_last(matches: Matches) -> OutputRows:
    """One output row for each match, which looks from the row before the last, if there is one."""
    lengths = np.diff(matches.offsets)
    current = matches.offsets[1:] - np.minimum(lengths, 2)
    return OutputRows(matches.start, np.arange(matches.count), current)
