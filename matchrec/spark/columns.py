"""What Spark computes before the match: the columns and bits that cross, for Spark's sort or ours.

Where Spark sorts, sorted partitions:

    SELECT <SQL over one row> AS __c0, ..., <bits> AS __x0, ... FROM <the relation> [WHERE ...]
    SELECT *, row_number() OVER w AS __n, lag(__x0, 1) OVER w AS __s0, ... FROM that
    SELECT __c0, ..., <bits> AS __bits0 FROM that

The inner query narrows the rows before the shuffle. The window's row_number makes Spark shuffle
and sort by its own rules and marks where partitions start by its own notion of equal keys; lag and
lead over the same window read rows at a fixed distance, each once. A column keeps its name from the
inner query on: Spark would send a renamed one through the shuffle a second time.

Where the workers sort, one projection, and a shuffle:

    SELECT <SQL over one row> AS __c0, ..., AS __x0, ... FROM <the user's relation> [WHERE ...]
    SELECT __c0, ..., <keys and order that are no __c>, <bits> AS __bits0 FROM that
    that, shuffled by the keys

There is no window, so every column and every bit is of one row. Bits are packed before the shuffle:
what the workers do not need does not go through it. Where there is none, the workers make the
column that marks the first row of a partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr
from pyspark.sql.types import StructField, StructType

from matchrec.compile.columns import ComputedValue
from matchrec.compile.path import Draft
from matchrec.conditions.row_column import Framed, RowColumn, Shifted, show_column, texts_in
from matchrec.errors.run.origins import SqlOrigin, with_origin
from matchrec.plan.clauses import SortItem
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import show_frame
from matchrec.plan.text import Template, quoted, template
from matchrec.spark import wire
from matchrec.spark.backend import Backend
from matchrec.spark.backends import backend_of
from matchrec.spark.relation import Relation
from matchrec.spark.transport import Sent, arrow_schema
from matchrec.spark.types import crossing_schema, encode_columns, in_one_form
from matchrec.spark.wire import (
    PlannedColumn,
    SelectItem,
    SortColumn,
    Sorting,
    Struct,
    packed_columns,
)
from matchrec.spark.worker.matching import Incoming

if TYPE_CHECKING:
    from matchrec.spark.ranges import Ranges

TEXT = attrgetter("text")

# Names of the time zone UTC, in lower case, as the settings of a session are read.
UTC_NAMES = {"utc", "etc/utc", "gmt", "etc/gmt", "z", "+00:00"}

RowColumns = tuple[RowColumn, ...]
KnownFields = Mapping[RowColumn, StructField]


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """The names of texts over one row, `inner`: __c of what crosses, else __x; and of values that
    are read on other rows, `others`. origins: where the user wrote them.
    """

    inner: Mapping[str, str]
    others: Mapping[Shifted | Framed, str]
    origins: Mapping[ComputedValue, SqlOrigin]

    def rows(self) -> list[SelectItem]:
        return [SelectItem(self.add_origin(text, text), name) for text, name in self.inner.items()]

    def other_rows(self, window: str, frame: str) -> Iterator[SelectItem]:
        """What is read on other rows of the sorted partition, NULL where there is none. frame: of
        the window where one row is read, which does not depend on it.
        """
        for one, name in self.others.items():
            if isinstance(one, Framed):
                parts = (p if isinstance(p, str) else self.inner[p.argument] for p in one.call)
                call, seen = "".join(parts), show_frame(one.frame)
            else:
                function, seen = "lag" if one.offset < 0 else "lead", frame
                call = f"{function}({self.inner[one.argument]}, {abs(one.offset)})"
            yield SelectItem(self.add_origin(f"{call} OVER ({window} {seen})", one), name)

    def over_window(self, column: RowColumn) -> str:
        if column.looks_at_one_row:
            return self.inner[column.text]
        return self.add_origin("".join(map(self.piece, column.pieces)), column)

    def add_origin(self, sql: str, computed: ComputedValue) -> str:
        return with_origin(sql, self.origins.get(computed))

    def piece(self, piece: str | Shifted | Framed) -> str:
        if isinstance(piece, str):
            return piece
        if isinstance(piece, Framed) or piece.offset:
            return self.others[piece]
        return self.inner[piece.argument]

    def crossing(self, columns: Iterable[RowColumn]) -> list[SelectItem]:
        """The columns that cross; one that looks at one row has its name from the start."""
        return [SelectItem(self.over_window(c), wire.column(i)) for i, c in enumerate(columns)]


@dataclass(frozen=True)
class Preparation:
    """Computes columns and bits for one draft over one relation; Spark sorts the rows. keys: SQL
    over one row that must hold of it. sorts: who sorts the rows of each partition, and why; empty
    of a stream.
    """

    relation: Relation
    draft: Draft
    row_filters: tuple[str, ...] = ()
    sorts: str = ""

    @property
    def plan(self) -> MatchPlan:
        return self.draft.plan

    @property
    def backend(self) -> Backend:
        return backend_of(self.relation.runner.spark)

    def dataframe(self, columns: RowColumns) -> DataFrame:
        """The rows with columns. Raises as `explode_matches`."""
        return self.rows_of(self.query(columns), columns)

    def rows_of(self, query: Template, _columns: RowColumns) -> DataFrame:
        """The rows of the `query` of columns. Raises one of Spark's `REFUSALS`."""
        return self.relation.runner.sql(query)

    def query(self, columns: RowColumns) -> Template:
        """Columns __c0, __c1, ..., then __bits0, ...; sorted partitions without irrelevant rows."""
        conditions, origins = self.draft.row_conditions, self.draft.origins
        several = tuple(one for one in conditions if not one.looks_at_one_row)
        on_one_row = [
            with_origin(one.text, origins.get(one.text)) if one.looks_at_one_row else "FALSE"
            for one in conditions
        ]
        before = packed_columns(["FALSE", *on_one_row], wire.bits)
        names = self.names(columns, several, [one.sql for one in before])
        tests = ["FALSE" if one.looks_at_one_row else names.over_window(one) for one in conditions]
        after = packed_columns([f"{wire.ROW_NUMBER} = 1", *tests], wire.bits)
        bits = [
            SelectItem(f"{names.inner[packed.sql]} | {one.sql}", one.name)
            for packed, one in zip(before, after, strict=True)
        ]
        frame = self.backend.running_frame
        window = self.window(names)
        number = SelectItem(f"row_number() OVER ({window} {frame})", wire.ROW_NUMBER)
        items = ", ".join(map(str, [number, *names.other_rows(window, frame)]))
        numbered = template(f"SELECT *, {items} FROM (", self.source(names), ")")
        return self.relation.over(numbered, map(str, names.crossing(columns) + bits))

    def fields(self, rows: Sequence[StructField], columns: RowColumns) -> KnownFields:
        """The fields of columns. rows: of the `dataframe` of these."""
        return dict(zip(columns, rows, strict=False))

    def incoming(self, _columns: RowColumns) -> Incoming:
        return Incoming()

    def show_ranges(self) -> str:
        """Whether partitions are cut into ranges, in words; empty where nobody would ask."""
        return ""

    def send(self, columns: RowColumns, known: KnownFields, rows: DataFrame | None = None) -> Sent:
        """The rows with these columns. known: fields of columns. rows: these, if there are any.
        Spark analyses no query of which all fields are known already. Of a stream this raises
        MatchRecognizeUnsupportedError for a column that pandas would alter.
        """
        rows = self.dataframe(columns) if rows is None else rows
        if not known.keys() >= set(columns):
            known = self.fields(self.relation.runner.fields(rows), columns)
        fields = tuple(map(known.__getitem__, columns))
        incoming = replace(self.incoming(columns), planned=self.planned(rows, columns))
        return Sent(encode_columns(rows), fields, incoming)

    def planned(self, rows: DataFrame, columns: RowColumns) -> tuple[PlannedColumn, ...]:
        """Return the columns that cross as they are now, for the workers to compare with.

        Nothing is returned for a session that analyses a DataFrame once, when it is made.
        """
        runner = self.relation.runner
        if not self.backend.analyses_again:
            return ()
        texts = {name: text for text, name in self.names(columns).inner.items()}
        texts |= {wire.column(i): show_column(column) for i, column in enumerate(columns)}
        fields = runner.fields(rows, " ".join(texts.values()))
        schema = arrow_schema(crossing_schema(StructType(fields)))
        in_utc = runner.settings["spark.sql.session.timeZone"] in UTC_NAMES
        return tuple(
            PlannedColumn(texts.get(one.name, one.name), one.dataType.simpleString(), field, in_utc)
            for one, field in zip(fields, schema, strict=True)
        )

    def names(
        self, columns: RowColumns, conditions: RowColumns | None = None, texts: Iterable[str] = ()
    ) -> ColumnNames:
        """The names of all that is computed. conditions: None for all. texts: SQL wanted beside."""
        sorted_by, tests = map(TEXT, self.plan.sorted_by), map(TEXT, self.draft.relevant)
        every = (*columns, *(self.draft.row_conditions if conditions is None else conditions))
        inner = {c.text: wire.column(i) for i, c in enumerate(columns) if c.looks_at_one_row}
        for text in (*sorted_by, *self.row_filters, *tests, *texts, *chain(*map(texts_in, every))):
            inner.setdefault(text, wire.inner(len(inner)))
        moved: dict[Shifted | Framed, str] = {}
        for column in every:
            for piece in () if column.looks_at_one_row else column.pieces:
                if isinstance(piece, Framed) or (isinstance(piece, Shifted) and piece.offset):
                    moved.setdefault(piece, wire.other_row(len(moved)))
        return ColumnNames(inner or {"1": wire.inner(0)}, moved, self.draft.origins)

    def source(self, names: ColumnNames) -> Template:
        """The query of what Spark computes over one row, without rows that stay behind."""
        query = self.relation.query(map(str, names.rows()))
        tests = [names.inner[test] for test in self.row_filters]
        if self.draft.relevant:
            relevant = (names.inner[column.text] for column in self.draft.relevant)
            tests.append(f"({' OR '.join(relevant)})")
        where = f") AS __rows WHERE {' AND '.join(tests)}"
        return template("SELECT * FROM (", query, where) if tests else query

    def sorting(self, names: ColumnNames) -> Sorting:
        """The columns by which rows are partitioned, and by which a worker sorts a partition."""
        order = (
            SortColumn(names.inner[item.expression.text], item.descending, not item.puts_nulls_last)
            for item in self.plan.order_by
        )
        return Sorting(tuple(names.inner[key.text] for key in self.plan.keys), tuple(order))

    def in_one_form(self, names: ColumnNames, key: str) -> str:
        return in_one_form(names.inner[key], self.relation.type_of(key))

    def order_key(self, names: ColumnNames, item: SortItem) -> str:
        """Return an item of ORDER BY as SQL."""
        text, relation = item.expression.text, self.relation
        key = self.in_one_form(names, text)
        return self.backend.order_key(key, item, relation.type_of(text))

    def window(self, names: ColumnNames) -> str:
        """The window that puts equal keys together and sorts them, as SQL."""
        order = ", ".join(self.order_key(names, item) for item in self.plan.order_by)
        keys = ", ".join(self.in_one_form(names, part.text) for part in self.plan.keys)
        keys = self.backend.window_keys(keys)
        partition = f"PARTITION BY {keys} " if keys else ""
        return f"{partition}ORDER BY {order or '1'}"


@dataclass(frozen=True)
class Unsorted(Preparation):
    """As `Preparation`, of rows that come together by their keys. ranges: cuts, or why none."""

    ranges: Ranges | str = ""

    def query(self, columns: RowColumns) -> Template:
        """Columns __c0, ..., keys and order that are not there yet, then __bits0, ... A struct
        comes as its fields, each once. Irrelevant rows are left out.
        """
        names = self.names_of_parts(columns)
        crossing = zip(names.crossing(columns), columns, strict=True)
        items = [item for item, column in crossing if not column.fields]
        texts = (*texts_of_fields(columns), *map(TEXT, self.plan.sorted_by))
        items = add_columns(items, map(names.inner.__getitem__, texts))
        if self.draft.row_conditions or not items:
            tests = map(names.over_window, self.draft.row_conditions)
            items += packed_columns(["FALSE", *tests], wire.bits)
        return self.relation.over(self.source(names), map(str, items))

    def rows_of(self, query: Template, columns: RowColumns) -> DataFrame:
        """As of `Preparation`; rows of one partition are in one task, in no order."""
        names, rows = self.names_of_parts(columns), super().rows_of(query, columns)
        alike = [self.in_one_form(names, part.text) for part in self.plan.keys]
        if not isinstance(self.ranges, str):
            order = names.inner[self.plan.order_by[0].expression.text]
            rows = self.ranges.assign(self.relation.runner, rows, alike, order)
            alike.append(wire.RANGE)
        return self.backend.repartition(rows, [expr(key) for key in alike])

    def fields(self, rows: Sequence[StructField], columns: RowColumns) -> KnownFields:
        found = {field.name: field for field in rows}
        for struct in self.structs(columns):
            parts = zip(struct.fields, map(found.__getitem__, struct.parts), strict=True)
            fields = [StructField(name, p.dataType, p.nullable, p.metadata) for name, p in parts]
            found[struct.name] = StructField(struct.name, StructType(fields), nullable=False)
        return {column: found[wire.column(place)] for place, column in enumerate(columns)}

    def incoming(self, columns: RowColumns) -> Incoming:
        sorting = self.sorting(self.names_of_parts(columns))
        if not isinstance(self.ranges, str):
            sorting = replace(sorting, keys=(*sorting.keys, wire.RANGE))
        return Incoming(sorting, self.structs(columns), self.backend.tasks or 1)

    def show_ranges(self) -> str:
        if not isinstance(self.ranges, str):
            order = self.plan.order_by[0].expression.text
            return f"cut into ranges of {order} for several tasks, where no match lies"
        asks = self.ranges and (self.plan.within is not None or not self.plan.keys)
        return f"one task for a partition: {self.ranges}" if asks else ""

    def structs(self, columns: RowColumns) -> tuple[Struct, ...]:
        inner = self.names_of_parts(columns).inner
        own = [(wire.column(place), one.fields) for place, one in enumerate(columns) if one.fields]
        parts = (tuple(inner[quoted(field)] for field in fields) for _, fields in own)
        return tuple(Struct(*one, names) for one, names in zip(own, parts, strict=True))

    @cached_property
    def names_of_parts(self) -> Callable[[RowColumns], ColumnNames]:
        return cache(lambda columns: self.names(columns, texts=texts_of_fields(columns)))


def texts_of_fields(columns: Iterable[RowColumn]) -> list[str]:
    return [quoted(name) for column in columns for name in column.fields]


def add_columns(items: Iterable[SelectItem], names: Iterable[str]) -> list[SelectItem]:
    found = {item.name: item for item in items}
    for name in names:
        found.setdefault(name, SelectItem(name, name))
    return [*found.values()]
