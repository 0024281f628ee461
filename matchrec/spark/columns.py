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
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.row_column import Neighbours, RowColumn, Shifted
from matchrec.plan.template import Template, template
from matchrec.spark.session import SUBQUERY, Runner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from matchrec.executable import Draft

BITS_A_COLUMN = 62
NARROWEST = ((7, "TINYINT"), (15, "SMALLINT"), (31, "INT"), (BITS_A_COLUMN + 1, "BIGINT"))

SelectFrom = Callable[[Template], Template]


@dataclass(frozen=True)
class Relation:
    """The input of a clause: how to select from it."""

    runner: Runner
    select_from: SelectFrom

    def query(self, items: Iterable[str]) -> Template:
        """The query of a select list over the input."""
        return self.select_from(self.runner.written(", ".join(items)))

    def select(self, items: Iterable[str]) -> DataFrame:
        """The DataFrame of a select list over the input."""
        return self.runner.sql(self.query(items))

    def over(self, query: Template, items: Iterable[str], where: str = "") -> DataFrame:
        """The DataFrame of a select list over a query; one text, which Spark analyses once."""
        text = ", ".join(items)
        behind = f") AS __rows WHERE {where}" if where else ")"
        whole = template("SELECT ", self.runner.written(text), " FROM (", query, behind)
        return self.runner.sql(self.runner.in_scope(whole) if SUBQUERY.search(text) else whole)

    @property
    def is_streaming(self) -> bool:
        """Whether its rows come little by little."""
        return bool(self.select(["*"]).isStreaming)

    def name_of(self, text: str) -> str:
        """The name that Spark gives to an expression over the input."""
        return str(self.select([text]).columns[0])


@dataclass(frozen=True)
class Preparation:
    """Computes columns and bits for one plan over one relation.

    keys: SQL over one row that must hold of it; each decides on whole partitions.
    """

    relation: Relation
    plan: MatchPlan
    keys: tuple[str, ...] = ()

    def dataframe(self, columns: tuple[RowColumn, ...], drafted: Draft) -> DataFrame:
        """Columns __c0, __c1, ..., then __bits0, ...; sorted partitions, nothing else.

        What stays behind is as the draft says: irrelevant rows before the sort; rows that no match
        contains, by their neighbours, behind the sort, and then a last column __n has each row's
        number in its partition.
        Raises Spark's AnalysisException for what Spark cannot make sense of.
        """
        conditions = drafted.row_conditions
        names = self.inner_names(columns, conditions)
        shifts = shift_names(columns, conditions)
        window = self.window(names)
        items = [
            f"__c{i}" if column.looks_at_one_row else f"{outer(column, names, shifts)} AS __c{i}"
            for i, column in enumerate(columns)
        ]
        items += bit_columns([outer(condition, names, shifts) for condition in conditions])
        moved = [f"{shifted(names, one)} OVER ({window}) AS {name}" for one, name in shifts.items()]
        numbered = template(
            ", ".join(["SELECT *", f"row_number() OVER ({window}) AS __n", *moved]),
            " FROM (",
            self.relation.query(f"{text} AS {name}" for text, name in names.items()),
            f") AS __rows {self.kept_rows(names, drafted)}",
        )
        if not drafted.neighbours:
            return self.relation.over(numbered, items)
        kept = [name for name in ("__n", *names.values()) if name not in own_names(columns)]
        beside = template(
            f"SELECT *, lag(__bits0, 1, 0) OVER ({window}) AS __before, "
            f"lead(__bits0, 1, 0) OVER ({window}) AS __behind FROM (SELECT ",
            self.relation.runner.written(", ".join([*items, *kept])),
            " FROM (",
            numbered,
            "))",
        )
        sent = [*(item.rsplit(" AS ", 1)[-1] for item in items), "__n"]
        return self.relation.over(beside, sent, side_by_side(drafted.neighbours))

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

    def window(self, names: dict[str, str]) -> str:
        """The window that puts equal keys together and sorts them."""
        keys = ", ".join(names[part.text] for part in self.plan.keys)
        orders = [
            names[item.expression.text]
            + (" DESC" if item.descending else " ASC")
            + (
                ""
                if item.nulls_first is None
                else f" NULLS {'FIRST' if item.nulls_first else 'LAST'}"
            )
            for item in self.plan.order_by
        ]
        partition = f"PARTITION BY {keys} " if keys else ""
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
