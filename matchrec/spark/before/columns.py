"""What Spark computes before the match: sorted partitions with the columns and bits that cross.

    SELECT <SQL over one row> AS __c0, ..., AS __x0, ... FROM <the user's relation> [WHERE ...]
    SELECT *, row_number() OVER w AS __n, lag(__x0, 1) OVER w AS __s0, ... FROM that
    SELECT __c0, ..., <bits> AS __bits0 FROM that [without rows that no match contains]

The inner query narrows the rows before the shuffle. The window's row_number makes Spark shuffle
and sort by its own rules and marks where partitions start by its own notion of equal keys; lag and
lead over the same window read rows at a fixed distance, each once. A column keeps its name from the
inner query on: Spark would send a renamed one through the shuffle a second time. Bit 0 of
`__bits0` marks the first row of a partition, bit c + 1 the rows on which condition c holds; a
further column takes over every 62 bits. A text by which rows are partitioned crosses once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql.types import DataType

from matchrec.conditions.row_column import Neighbours, RowColumn, Shifted
from matchrec.conditions.within import window_columns
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text.template import Template, View, template
from matchrec.spark.before.slices import BORROWED, SLICE, Cutting, Slicing, tie_breakers
from matchrec.spark.before.sort import presorting
from matchrec.spark.session import SUBQUERY, Runner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from matchrec.compile.executable import Draft

BITS_A_COLUMN = 62
NARROWEST = ((7, "TINYINT"), (15, "SMALLINT"), (31, "INT"), (BITS_A_COLUMN + 1, "BIGINT"))

SelectFrom = Callable[[Template], Template]


@dataclass(frozen=True)
class Relation:
    """The input of a clause: how to select from it.

    all_rows: the rows themselves, with a runner and a query that puts errors in the user's terms.
    """

    runner: Runner
    select_from: SelectFrom
    all_rows: tuple[Runner, Template] | None = None

    def rows(self) -> DataFrame:
        """The DataFrame of the input."""
        runner, query = self.all_rows or (self.runner, self.query(["*"]))
        return runner.sql(query)

    def query(self, items: Iterable[str]) -> Template:
        """The query of a select list over the input."""
        return self.select_from(self.runner.written(", ".join(items)))

    def select(self, items: Iterable[str]) -> DataFrame:
        """The DataFrame of a select list over the input."""
        return self.runner.sql(self.query(items))

    def having(self, **frames: DataFrame) -> Relation:
        """The same relation with more DataFrames, which queries over it may name."""
        return replace(self, runner=self.runner.having(**frames))

    def over(self, query: Template, items: Iterable[str], where: str = "") -> DataFrame:
        """The DataFrame of a select list over a query; one text, which Spark analyses once."""
        text = ", ".join(items)
        behind = f") AS __rows WHERE {where}" if where else ")"
        whole = template("SELECT ", self.runner.written(text), " FROM (", query, behind)
        return self.runner.sql(self.runner.in_scope(whole) if SUBQUERY.search(text) else whole)

    def type_of(self, text: str) -> DataType:
        """The type of an expression over the input."""
        return self.select([text]).schema[0].dataType

    def name_of(self, text: str) -> str:
        """The name that Spark gives to an expression over the input."""
        return str(self.select([text]).columns[0])


@dataclass(frozen=True)
class Preparation:
    """Computes columns and bits for one plan over one relation.

    keys: SQL over one row that must hold of it; each decides on whole partitions. order: the type
    of the first ORDER BY column, if there is one.
    """

    relation: Relation
    plan: MatchPlan
    keys: tuple[str, ...] = ()
    order: DataType | None = None

    def dataframe(
        self, columns: tuple[RowColumn, ...], drafted: Draft, slicing: Slicing | None = None
    ) -> DataFrame:
        """Columns __c0, __c1, ..., then __bits0, ...; sorted partitions, nothing else.

        What stays behind is as the draft says: irrelevant rows before the sort; rows that no match
        contains, by their neighbours, behind the sort, and then a last column __n has each row's
        number in its partition. slicing: how partitions are cut into slices, if they are: each
        slice is a partition then, and a last column __borrowed, before __n, is 0 on its own rows.
        Raises one of Spark's `REFUSALS` for what Spark cannot make sense of.
        """
        conditions = drafted.row_conditions
        names = self.inner_names(columns, conditions)
        shifts = shift_names(columns, conditions)
        source = self.source(names, drafted)
        relation, window, marks = self.relation, self.window(names), []
        if slicing is not None:
            rows = relation.over(source, ["*"])
            relation = relation.having(match_slices=self.cutting(rows, names, slicing).slices())
            source = template("SELECT * FROM ", View("match_slices"))
            window, marks = self.window(names, rows), [BORROWED]
        else:
            source = self.presorted(source, names)
        items = [
            f"__c{i}" if column.looks_at_one_row else f"{outer(column, names, shifts)} AS __c{i}"
            for i, column in enumerate(columns)
        ]
        items += bit_columns([outer(condition, names, shifts) for condition in conditions])
        items += marks
        moved = [f"{shifted(names, one)} OVER ({window}) AS {name}" for one, name in shifts.items()]
        numbered = template(
            ", ".join(["SELECT *", f"row_number() OVER ({window}) AS __n", *moved]),
            " FROM (",
            source,
            ")",
        )
        if not drafted.neighbours:
            return relation.over(numbered, items)
        kept = [name for name in ("__n", *names.values()) if name not in own_names(columns)]
        kept += [SLICE] * len(marks)
        beside = template(
            f"SELECT *, lag(__bits0, 1, 0) OVER ({window}) AS __before, "
            f"lead(__bits0, 1, 0) OVER ({window}) AS __behind FROM (SELECT ",
            relation.runner.written(", ".join([*items, *kept])),
            " FROM (",
            numbered,
            "))",
        )
        sent = [*(item.rsplit(" AS ", 1)[-1] for item in items), "__n"]
        return relation.over(beside, sent, side_by_side(drafted.neighbours))

    def source(self, names: dict[str, str], drafted: Draft) -> Template:
        """The query of what Spark computes over one row, without rows that stay behind."""
        query = self.relation.query(f"{text} AS {name}" for text, name in names.items())
        where = self.kept_rows(names, drafted)
        return template("SELECT * FROM (", query, f") AS __rows {where}") if where else query

    def presorted(self, source: Template, names: dict[str, str]) -> Template:
        """The rows of `source` in an order in which the window's sort has little to do."""
        if self.order is None:
            return source
        keys = [names[part.text] for part in self.plan.keys]
        order = [names[item.expression.text] for item in self.plan.order_by]
        number = presorting(keys, order, self.order, self.plan.order_by[0].descending)
        if number is None:
            return source
        return template("SELECT * FROM (", source, f") SORT BY {number}")

    def cutting(self, rows: DataFrame, names: dict[str, str], slicing: Slicing) -> Cutting:
        """What cuts the rows of `source` into slices."""
        first = self.plan.order_by[0]
        window = window_columns(self.plan) if slicing.reach.behind is None else ()
        return Cutting(
            self.relation.runner,
            rows,
            tuple(names[part.text] for part in self.plan.keys),
            names[first.expression.text],
            first,
            names[window[1].text] if window else None,
            slicing,
        )

    def kept_rows(self, names: dict[str, str], drafted: Draft) -> str:
        """The WHERE that leaves irrelevant rows and unused partitions out, if any are."""
        tests = [names[test] for test in self.keys]
        if drafted.relevant:
            tests.append(f"({' OR '.join(names[one.text] for one in drafted.relevant)})")
        return f"WHERE {' AND '.join(tests)}" if tests else ""

    def inner_names(
        self, columns: tuple[RowColumn, ...], conditions: tuple[RowColumn, ...]
    ) -> dict[str, str]:
        """The name of every text over one row: __c of a column that crosses, else __x."""
        names = {c.text: f"__c{i}" for i, c in enumerate(columns) if c.looks_at_one_row}
        keys = [part.text for part in self.plan.keys]
        keys += [item.expression.text for item in self.plan.order_by]
        parts = [text for column in (*columns, *conditions) for text in inner_parts(column)]
        for text in (*keys, *self.keys, *parts):
            names.setdefault(text, f"__x{len(names)}")
        return names or {"1": "__x0"}

    def window(self, names: dict[str, str], rows: DataFrame | None = None) -> str:
        """The window that puts equal keys together and sorts them.

        rows: whose slices are partitions, if they are; then no two rows that differ are equal.
        """
        keys = [names[part.text] for part in self.plan.keys]
        orders = [f"{names[item.expression.text]} {item.direction}" for item in self.plan.order_by]
        if rows is not None:
            orders += tie_breakers(rows, {*keys, *(one.split()[0] for one in orders)})
            keys = [SLICE, *keys]
        partition = f"PARTITION BY {', '.join(keys)} " if keys else ""
        return f"{partition}ORDER BY {', '.join(orders) or '1'}"


def with_keys_once(frame: DataFrame, once: tuple[int, ...]) -> DataFrame:
    """The columns that cross, those of `once` NULL but for the first row of each partition."""
    if not once:
        return frame
    keys = {f"__c{i}" for i in once}
    first = "CASE WHEN __bits0 & 1 <> 0 THEN {0} END AS {0}"
    return frame.selectExpr(*(first.format(c) if c in keys else c for c in frame.columns))


def own_names(columns: tuple[RowColumn, ...]) -> set[str]:
    """The names of the columns that cross."""
    return {f"__c{i}" for i in range(len(columns))}


def side_by_side(neighbours: tuple[Neighbours, ...]) -> str:
    """Whether a row may be in a match by its bits and its neighbours'; first rows always stay."""
    ways = ["__n = 1"]
    for one in neighbours:
        tests = [f"__bits0 & {flags([one.here])} <> 0"]
        if one.before is not None:
            tests.append(f"__before & {flags(one.before)} <> 0")
        if one.behind is not None:
            tests.append(f"__behind & {flags(one.behind)} <> 0")
        ways.append(f"({' AND '.join(tests)})")
    return " OR ".join(ways)


def flags(conditions: Iterable[int]) -> str:
    """The bits of some conditions as a SQL literal."""
    return f"{sum(2 << condition for condition in conditions)}L"


def inner_parts(column: RowColumn) -> tuple[str, ...]:
    """The texts over one row from which a column is made."""
    if column.looks_at_one_row:
        return (column.text,)
    return tuple(piece.argument for piece in column.pieces if isinstance(piece, Shifted))


def shift_names(
    columns: tuple[RowColumn, ...], conditions: tuple[RowColumn, ...]
) -> dict[Shifted, str]:
    """The name of every value that is read on another row, each once."""
    pieces = (piece for column in (*columns, *conditions) for piece in column.pieces)
    moved = dict.fromkeys(one for one in pieces if isinstance(one, Shifted) and one.offset)
    return {one: f"__s{i}" for i, one in enumerate(moved)}


def outer(column: RowColumn, names: dict[str, str], shifts: dict[Shifted, str]) -> str:
    """A column as SQL over the windowed query's names."""
    if column.looks_at_one_row:
        return names[column.text]
    return "".join(
        piece if isinstance(piece, str) else shifts.get(piece) or names[piece.argument]
        for piece in column.pieces
    )


def shifted(names: dict[str, str], one: Shifted) -> str:
    """A column's value some rows further on in the sorted partition, else NULL."""
    function = "lag" if one.offset < 0 else "lead"
    return f"{function}({names[one.argument]}, {abs(one.offset)})"


def bit_columns(conditions: list[str], first: str = "__n = 1") -> list[str]:
    """The packed truth values of partition starts and conditions, as narrow as they can be."""
    flags = [first, *conditions]
    chunks = [flags[i : i + BITS_A_COLUMN] for i in range(0, len(flags), BITS_A_COLUMN)]
    return [f"{packed(chunk)} AS __bits{i}" for i, chunk in enumerate(chunks)]


def packed(flags: list[str]) -> str:
    """One integer column of up to 62 truth values."""
    width = next(name for bits, name in NARROWEST if len(flags) <= bits)
    bits = [f"CASE WHEN {flag} THEN {1 << i}L ELSE 0L END" for i, flag in enumerate(flags)]
    return f"CAST({' | '.join(bits)} AS {width})"
