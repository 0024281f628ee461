"""One partition of a clause's input on the driver, as an engine sees it; and measures of its rows.

All of its rows come, those too that a query leaves behind before the search: what the engine would
not see is marked. Spark computes columns and bits as for any query; a function in a worker packs
the rows as Arrow's bytes, so that every type arrives as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property, partial
from math import isfinite
from numbers import Number

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types

from matchrec.compile.executable import Executable, Sorter
from matchrec.compile.path import Draft
from matchrec.conditions.row_column import RowColumn, row_column
from matchrec.conditions.split import RowScope
from matchrec.errors import MatchRecognizeError
from matchrec.errors.run import failures as errors
from matchrec.errors.run.place import RowPlace
from matchrec.output.measures import Reader
from matchrec.output.rows import OutputRows
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quoted, string_literal
from matchrec.search.matches import Matches
from matchrec.search.partitions import BoolArray, Partitions
from matchrec.source import by_number
from matchrec.spark import types
from matchrec.spark.environment import able_workers
from matchrec.spark.execute import Demand, analyse_demand, project, type_rules
from matchrec.spark.question import Question
from matchrec.spark.relation import Relation
from matchrec.spark.session import quiet_analysis
from matchrec.worker import wire
from matchrec.worker.arrays import as_integers, column, to_bytes
from matchrec.worker.encode import check_windows, partitions_of
from matchrec.worker.gather import Gatherer
from matchrec.worker.match import naming_rows

MOST_ROWS = 100_000
MOST_KEYS = 5  # partitions that a message names
Values = dict[int, tuple[str | None, ...]]
Places = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Target:
    """Which partition of a clause, by its columns, and which row of it, by the values of the first
    ORDER BY columns. partition: None where none is named. row: None for all rows.
    """

    partition: Mapping[str, object] | None = None
    row: tuple[object, ...] | None = None


@dataclass(frozen=True)
class CollectedPartition:
    """What is known of one partition.

    table: its rows, as a worker gets them. keys: the partition, as text by column. places: of each
    row the values of `orders`, as text. asked: positions of rows that are asked for; irrelevant: of
    those that are left out before the search.
    """

    relation: Relation
    plan: MatchPlan
    executable: Executable
    table: pa.Table
    partitions: Partitions
    fields: tuple[spark_types.StructField, ...]
    keys: dict[str, str]
    orders: tuple[str, ...]
    places: Places
    asked: tuple[int, ...]
    irrelevant: frozenset[int]


def collect_partition(question: Question, target: Target) -> CollectedPartition:
    """The partition that is asked for. Runs a job; raises MatchRecognizeError."""
    if question.is_stream:
        raise errors.asked_of_stream(asked="`why`")
    (rule,) = question.rules
    with quiet_analysis(), question.locating_errors(rule):
        drafted = question.draft(rule, RowScope.NEIGHBOURS)
        return PartitionRequest(question, drafted, target).collect()


@dataclass(frozen=True)
class PartitionRequest:
    question: Question
    drafted: Draft
    target: Target

    @cached_property
    def keys(self) -> dict[str, str]:
        """The texts of what divides the plan's input, by their names."""
        name_of, keys = self.question.columns.name, self.drafted.plan.keys
        return {key.name or name_of(key.text) or key.text: key.text for key in keys}

    @cached_property
    def orders(self) -> tuple[str, ...]:
        return tuple(item.expression.text for item in self.drafted.plan.order_by)

    def collect(self) -> CollectedPartition:
        question, drafted = self.question, replace(self.drafted, relevant=())
        (rule,) = question.rules
        demand = Demand(drafted, {rule.name: drafted}, drafted, drafted.columns(), self.key_tests)
        prepared = type_rules(analyse_demand(question, demand, Sorter(is_worker=False)))
        executable = prepared.link(rule)
        crossing = executable.crossing.columns
        shown = (row_column(self.as_text(text)) for text in self.orders)
        sent = prepared.send((*crossing, *shown, *self.row_tests(), *self.drafted.relevant))
        table = collect_table(sent.rows)
        if not table.num_rows:
            raise self.without_rows()
        starts = np.array([0, table.num_rows], np.int64)
        with naming_rows(lambda row: RowPlace(self.target.partition or {}, row + 1)):
            check_windows(executable, table, starts)
        further = [column(table, wire.column(i)) for i in range(len(crossing), len(sent.fields))]
        texts = (one.fill_null("NULL").to_pylist() for one in further[: len(self.orders)])
        places = tuple(zip(*texts, strict=True)) if self.orders else ((),) * table.num_rows
        flags = [as_integers(one) != 0 for one in further[len(self.orders) :]]
        asked, earlier, relevant = flags[0], flags[1], flags[2:]
        left_out = ~np.logical_or.reduce(relevant) if relevant else np.zeros(len(asked), np.bool_)
        keys = {name: self.key_values[name] for name in self.keys if name in self.key_values}
        orders = tuple(question.columns.name(text) or text for text in self.orders)
        rows = table, partitions_of(executable, table, starts), sent.fields[: len(crossing)]
        rows_asked = self.rows_asked(places, asked, int(earlier.sum()))
        told = rows_asked, frozenset(np.flatnonzero(left_out).tolist())
        query = question.relation, drafted.plan, executable
        return CollectedPartition(*query, *rows, keys, orders, places, *told)

    def as_text(self, text: str) -> str:
        return types.as_text(text, self.question.relation.type_of(text))

    def alike(self, text: str) -> str:
        """SQL over one row as it is compared: bytes and what holds other values by its text."""
        type_ = self.question.relation.type_of(text)
        return self.as_text(text) if by_text(type_) else types.in_one_form(text, type_)

    @cached_property
    def key_tests(self) -> tuple[str, ...]:
        """Whether a row is one of the partition, as SQL over one row."""
        values = self.key_values.items()
        return tuple(f"({self.alike(self.keys[name])}) <=> {value}" for name, value in values)

    @cached_property
    def key_values(self) -> dict[str, str]:
        """The partition as SQL literals by name; none for the only one, if none is named."""
        wanted, folded = self.target.partition, self.question.columns.folded
        if wanted is None:
            if len(some := self.some_keys()) > 1:
                example = self.example(some[0])
                raise errors.several_partitions(some=errors.lines_of(some), example=example)
            return {}
        names = {folded(name): name for name in self.keys}
        known = {names.get(folded(name), name): name for name in wanted}
        if unknown := [one for name, one in known.items() if name not in self.keys]:
            raise errors.unknown_partition_column(name=unknown[0], known=self.keys)
        if missing := [name for name in self.keys if name not in known]:
            raise errors.partition_column_missing(missing[0], self.keys)
        as_sql = partial(self.as_sql, "partition")
        return {name: as_sql(self.keys[name], wanted[one]) for name, one in known.items()}

    def as_sql(self, argument: str, text: str, value: object) -> str:
        """A value as SQL of the type of `text`. Raises MatchRecognizePlanError where it is none."""
        relation = self.question.relation
        of_column = relation.type_of(text)
        given = literal(as_instant(value, of_column), argument)
        are_numbers = isinstance(of_column, spark_types.NumericType) and isinstance(value, Number)
        if value is None or (are_numbers and not isinstance(value, bool)):
            return given
        if isinstance(of_column, spark_types.StringType) or by_text(of_column):
            return string_literal(given if isinstance(value, bytes | bytearray) else str(value))
        kind = of_column.simpleString()
        read = f"try_cast(CAST({given} AS STRING) AS {kind}) AS c"
        of_partition = " AND ".join(self.key_tests if argument == "row" else ()) or "TRUE"
        items = [read, f"{self.as_text(text)} AS s", f"{of_partition} AS k"]
        for row in relation.select(items).where("k AND s IS NOT NULL").limit(1).collect():
            if row.c is None:
                name = self.question.columns.name(text) or text
                raise errors.no_value_of_type(
                    argument=argument, value=value, name=name, kind=kind, example=row.s
                )
        return given

    def without_rows(self) -> MatchRecognizeError:
        if not (some := self.some_keys()):
            return errors.no_rows_at_all()
        wanted = ", ".join(f"{name} = {one}" for name, one in (self.target.partition or {}).items())
        lines, example = errors.lines_of(some), self.example(some[0])
        return errors.no_such_partition(wanted=wanted, some=lines, example=example)

    def some_keys(self) -> list[dict[str, str | None]]:
        """The keys of some partitions by name, as texts; none where nothing divides the rows."""
        if not self.keys:
            return []
        alike = map(self.alike, self.keys.values())
        items = [f"CAST({text} AS STRING) AS k{i}" for i, text in enumerate(alike)]
        rows = self.question.relation.select(items).distinct().limit(MOST_KEYS + 1).collect()
        in_order = sorted(rows, key=lambda row: [by_number(errors.known(one)) for one in row])
        return [dict(zip(self.keys, row, strict=True)) for row in in_order]

    def example(self, keys: Mapping[str, str | None]) -> str:
        """A partition as one asks for it."""
        type_of = self.question.relation.type_of
        kinds = {name: type_of(text) for name, text in self.keys.items()}
        whole = [name for name, one in kinds.items() if isinstance(one, spark_types.IntegralType)]
        return errors.example(keys, whole)

    def row_tests(self) -> tuple[RowColumn, ...]:
        """Whether a row is one that is asked for, and whether it comes before."""
        if self.target.row is None:
            return (row_column("TRUE"), row_column("TRUE"))
        wanted = self.target.row
        if not 1 <= len(wanted) <= len(self.orders):
            raise errors.other_number_of_order_values(len(wanted), self.orders)
        asked = zip(self.orders, wanted, strict=False)
        values = [self.as_sql("row", text, value) for text, value in asked]
        same = (f"({self.alike(t)} <=> {v})" for t, v in zip(self.orders, values, strict=False))
        descending = self.drafted.plan.order_by[0].descending
        earlier = f"({self.alike(self.orders[0])} {'>' if descending else '<'} {values[0]})"
        return (row_column(" AND ".join(same)), row_column(f"coalesce({earlier}, TRUE)"))

    def rows_asked(self, places: Places, asked: BoolArray, earlier: int) -> tuple[int, ...]:
        """The rows asked for. earlier: how many come before. Raises where there is no such row."""
        if self.target.row is None:
            return ()
        if not asked.any():
            near = places[max(0, earlier - 2) : earlier + 2]
            wanted = zip(self.orders, self.target.row, strict=False)
            raise errors.no_such_row(
                wanted=", ".join(f"{order} = {value}" for order, value in wanted),
                rows=errors.lines_of(dict(zip(self.orders, one, strict=True)) for one in near),
            )
        return tuple(np.flatnonzero(asked).tolist())


def by_text(type_: spark_types.DataType) -> bool:
    """Whether values are named by their text."""
    return types.is_nested(type_) or isinstance(type_, spark_types.BinaryType)


def as_instant(value: object, type_: spark_types.DataType) -> object:
    """A time as PySpark has it for a column of instants: without a zone, in that of the program."""
    if isinstance(type_, spark_types.TimestampType) and isinstance(value, datetime):
        return value.astimezone()
    return value


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
        case bytes() | bytearray():
            return f"X'{value.hex().upper()}'"
        case datetime():
            return f"TIMESTAMP'{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE'{value.isoformat()}'"
        case timedelta():
            return f"make_dt_interval({value.days}, 0, 0, {value.seconds}.{value.microseconds:06d})"
    item = getattr(value, "item", None)  # a number of NumPy's
    if callable(item) and not isinstance(plain := item(), type(value)):
        return literal(plain, argument)
    raise errors.no_literal(argument=argument, value=value)


def collect_table(rows: DataFrame, most: int = MOST_ROWS) -> pa.Table:
    """The rows of one partition as they cross, in order. Raises where there are too many."""
    with able_workers(rows.sparkSession):
        packed = rows.mapInArrow(partial(pack, most=most), "packed binary")
    tables = [pa.ipc.open_stream(row.packed).read_all() for row in packed.collect()]
    if not tables:
        return pa.table({wire.FIRST_BITS: pa.array([], pa.int64())})
    table = pa.concat_tables(tables).combine_chunks()
    if table.num_rows > most:
        raise errors.partition_too_large(limit=most)
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
    """The plan's measures over some matches as texts, by the first of them. Runs a job."""
    executable, members = partition.executable, partition.executable.task.members
    # one output row for each match, which looks from the row before the last, if there is one:
    # with running semantics a measure sees all rows but the last one
    current = matches.offsets[1:] - np.minimum(np.diff(matches.offsets), 2)
    rows = OutputRows(matches.start, np.arange(matches.count), current)
    reader = Reader(matches, rows, partition.partitions, members)
    batch = Gatherer(executable, partition.table, reader).batch()
    schema = types.schema_of_reads(executable, partition.fields)
    spark = partition.relation.runner.spark
    packed = to_bytes([batch])

    def give(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in rows:
            yield from pa.ipc.open_stream(packed)

    with able_workers(spark):
        sent = spark.range(0, 1, 1, 1).mapInArrow(give, types.crossing_schema(schema))
    found = project(partition.relation, executable, types.decode_columns(sent, schema))
    first = len(executable.outputs) - len(partition.plan.measures)
    texts = found.selectExpr(*map(in_quotes, found.schema.fields[first:]))
    return {int(row[0]): tuple(row) for row in texts.collect()}


def in_quotes(field: spark_types.StructField) -> str:
    """A column as SQL of its text, in quotes where it is one."""
    text = types.as_text(quoted(field.name), field.dataType)
    is_text = isinstance(field.dataType, spark_types.StringType)
    return f"concat(chr(39), {text}, chr(39))" if is_text else text
