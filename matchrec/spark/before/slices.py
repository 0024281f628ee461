"""Partitions cut into slices along the order, so that several tasks sort and search one of them.

A slice has the rows from one cut on to the next, and borrows those of its neighbours that a search
from its own rows may look at. Cuts are values of the first ORDER BY column, so that rows which are
equal in it stay together; a sample of the rows says where. How far to borrow is counted over all
rows: a cut is left out where the sampled rows beside it do not make sure of enough rows of every
partition, or where two slices would lie too close. So few rows are not cut at all.

    rows     SELECT <SQL over one row> AS __c0, ... FROM <the user's relation> [WHERE ...]
    points   by a sample, three values for each cut: from where on the slice after it borrows, the
             cut, and to where the slice before it borrows
    borrowed SELECT <keys>, __cell, count(*) FROM rows GROUP BY ..., what these points would mean
    cuts     the points of the cuts that hold
    slices   SELECT *, inline(...) AS (__borrowed, __slice) FROM rows DISTRIBUTE BY __slice

A row's cell is how many points lie at or before it, so it has its slice and its borrower. Where
matches decide on which rows others begin, a slice borrows more rows before it, so that a worker
finds out from where on to search (`engine.slices`); if windows are all that bounds matches, it is
told which of these rows may be in the window of a row that it has not.

All of this is in the plan of the query and runs with it, so the input is read three times, and must
be the same rows each time; a task that is tried again sees the same cuts. Rows that are equal in
ORDER BY come in the order of their other columns, so that two slices which share them see them in
the same order.

Each task first sorts by the one column, which Spark does by radix where it is a number or a time:
what the window then sorts is nearly in order.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import types as spark_types

from matchrec.engine.slices.starting_rows import LENT, LENT_EARLY, OWN, SliceOverlap
from matchrec.plan.clauses import SortItem
from matchrec.plan.text.template import View, template
from matchrec.spark import wire
from matchrec.spark.session import Runner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_SLICES = 12  # with 16 HotSpot leaves what Spark generates uncompiled: four times as slow
A_SAMPLED_ROW = 1024  # is one of so many
SAFETY = 16  # so many times the rows needed are expected between sampled ones, over all keys

SORT_BY_THEMSELVES = (
    spark_types.NumericType,
    spark_types.BooleanType,
    spark_types.BinaryType,
    spark_types.DateType,
    spark_types.TimestampType,
    spark_types.TimestampNTZType,
)


@dataclass(frozen=True)
class Slicing:
    """How partitions are cut. count: into how many slices at most. overlap: by what."""

    count: int
    overlap: SliceOverlap


@dataclass(frozen=True)
class Cutting:
    """Cuts rows whose columns have names of ours.

    keys, order: the names of what partitions are made by and of the first ORDER BY column; item:
    how that one sorts. bound: the name of the end of each row's window, if windows are the bound.
    """

    runner: Runner
    rows: DataFrame
    keys: tuple[str, ...]
    order: str
    item: SortItem
    bound: str | None
    slicing: Slicing

    def slices(self) -> DataFrame:
        """The rows with their slice, borrowed ones once more; in tasks by slice, sorted."""
        own, borrower = "(__cell + 1) DIV 3", "(__cell + 1) DIV 3 + IF(__cell % 3 = 1, 1, -1)"
        mine, lent = f"struct({OWN}, {own})", f"struct({self.lent_as}, {borrower})"
        return self.sql(
            f"SELECT {', '.join(self.rows.columns)}, inline(IF(__cell % 3 = 0, array({mine}), "
            f"array({mine}, {lent}))) AS ({wire.BORROWED}, {wire.SLICE}) FROM (SELECT *, "
            f"{self.cell} AS __cell FROM (SELECT *, __cuts.points AS __points FROM (SELECT *, "
            "(SELECT cuts FROM ",
            View("match_cuts"),
            ") AS __cuts FROM ",
            View("match_rows"),
            f"))) DISTRIBUTE BY {wire.SLICE} SORT BY {self.order} {self.item.direction}",
            match_cuts=self.cuts(),
        )

    def cuts(self) -> DataFrame:
        """The cuts that hold for every partition: one row, a struct `cuts` of two arrays.

        points: three of each cut. ends: of each cut the last end of a window that begins before it
        of its first point, where starting rows depend on that.
        """
        overlap = self.slicing.overlap
        before, after = overlap.borrowed_before, overlap.after or 0
        cut, until, early = self.first_of("__from"), self.first_of("__until"), "NULL"
        if self.bound is not None:
            until = f"greatest({cut}, max(__bound))"
        if self.leaps_in_windows:
            early = "max(__early)"
        enough = (
            f"bool_and((__lent_before >= {before} OR __before = 0 OR __lent_behind + __behind = 0)"
            f" AND (__lent_behind >= {after} OR __behind = 0 OR __lent_before + __before = 0))"
        )
        return self.sql(
            "SELECT struct(flatten(transform(held, c -> array(c.since, c.cut, c.until))) AS points,"
            " transform(held, c -> c.early) AS ends) AS cuts FROM ("
            "SELECT filter(cuts, (c, i) -> c.holds AND (i = 0 OR c.since "
            f"{self.at_or_behind} cuts[i - 1].until)) AS held FROM ("
            "SELECT sort_array(collect_list(struct(__cut AS number, since, cut, until, early, "
            "enough AND since IS NOT NULL AND cut IS NOT NULL AND "
            "(early IS NULL OR early <= cut) AS holds))) AS cuts "
            f"FROM (SELECT __cut, {self.first_of('__since')} AS since, {cut} AS cut, "
            f"{until} AS until, {early} AS early, {enough} AS enough FROM ",
            View("match_borrowed"),
            " GROUP BY __cut)))",
            match_borrowed=self.borrowed_rows(),
        )

    def borrowed_rows(self) -> DataFrame:
        """For each cut and partition the points, and the rows that would be borrowed.

        __since, __from, __until: the first values at or after the three points; __lent_before,
        __lent_behind: how many rows lie between them; __before, __behind: how many lie further
        away; __bound, __early: the last ends of windows that begin before the cut, and before the
        first point.
        """
        keys = "".join(f"{key}, " for key in self.keys)
        bound = "" if self.bound is None else f", max({self.bound}) AS __bound"
        last = "" if self.bound is None else ", max(IF(place < 2, __bound, NULL)) AS __bound"
        if self.leaps_in_windows:
            last += ", max(IF(place < 1, __bound, NULL)) AS __early"
        return self.sql(
            f"SELECT __cut, {self.first_of('IF(place > 0, __first, NULL)')} AS __since, "
            f"{self.first_of('IF(place > 1, __first, NULL)')} AS __from, "
            f"{self.first_of('IF(place > 2, __first, NULL)')} AS __until, "
            "sum(IF(place < 1, __rows, 0)) AS __before, "
            "sum(IF(place = 1, __rows, 0)) AS __lent_before, "
            "sum(IF(place = 2, __rows, 0)) AS __lent_behind, "
            f"sum(IF(place > 2, __rows, 0)) AS __behind{last} FROM ("
            "SELECT *, __cell - 3 * __cut AS place FROM ("
            f"SELECT *, explode(sequence(0, {self.slicing.count - 2})) AS __cut FROM ("
            f"SELECT /*+ COALESCE(1) */ {keys}__cell, count(*) AS __rows, "
            f"{self.first_of(self.order)} AS __first{bound} FROM ("
            f"SELECT *, {self.cell} AS __cell FROM (SELECT *, (SELECT points FROM ",
            View("match_points"),
            ") AS __points FROM ",
            View("match_rows"),
            f")) GROUP BY {keys}__cell))) GROUP BY {keys}__cut",
            match_points=self.points(),
        )

    def points(self) -> DataFrame:
        """Where to cut by the sample: one row, an array `points`, three of each cut in order.

        From the first one on the slice after the cut borrows, to the last one the slice before.
        """
        count, overlap = self.slicing.count, self.slicing.overlap
        before, behind = sampled_rows(overlap.borrowed_before), sampled_rows(overlap.after or 0)
        sampled, cut = self.order, "i"
        if self.leaps_in_windows:
            sampled = f"struct({self.order} AS value, {self.bound} AS bound)"
            cut = (
                f"aggregate(sequence(1, {overlap.leaps}), i, (at, leap) -> "
                "size(filter(s, row -> row.bound <= get(s, at).value)) - 1)"
            )
        value = ".value" if self.leaps_in_windows else ""
        return self.sql(
            "SELECT flatten(transform(filter(transform(transform("
            f"sequence(1, {count - 1}), k -> CAST(size(s) * k DIV {count} AS INT)), "
            f"i -> struct({cut} - {before} AS since, i AS cut)), c -> c.since >= 0 AND "
            f"size(s) DIV {count} > {before + behind} AND c.cut + {behind} < size(s)), c -> array("
            f"s[c.since]{value}, s[c.cut]{value}, s[c.cut + {behind}]{value}))) AS points FROM ("
            f"SELECT sort_array(collect_list({sampled}), {not self.item.descending}) AS s FROM ",
            View("match_rows"),
            f" WHERE rand(1) < {1 / A_SAMPLED_ROW} AND {self.order} IS NOT NULL)",
        )

    @property
    def leaps_in_windows(self) -> bool:
        """Whether the window of a starting row is the bound of where the next one is."""
        return self.slicing.overlap.leap is None

    @property
    def lent_as(self) -> str:
        """The mark that tells the borrower what a borrowed row is for, as SQL."""
        if not self.leaps_in_windows:
            return f"{LENT}"
        end = "get(__cuts.ends, CAST(__cell DIV 3 AS INT))"
        return f"IF(__cell % 3 = 1 AND {self.order} < {end}, {LENT_EARLY}, {LENT})"

    @property
    def at_or_behind(self) -> str:
        return "<=" if self.item.descending else ">="

    def first_of(self, text: str) -> str:
        """The value that comes first in the order, as SQL."""
        return f"{'max' if self.item.descending else 'min'}({text})"

    @property
    def cell(self) -> str:
        """How many of `__points` a row lies at or after, as SQL."""
        tests = (
            f"IF({self.order} {self.at_or_behind} get(__points, {i}), 1, 0)"
            for i in range(3 * (self.slicing.count - 1))
        )
        of_null = "size(__points)" if self.item.puts_nulls_last else "0"
        return f"IF({self.order} IS NULL, {of_null}, {' + '.join(tests)})"

    def sql(self, *pieces: str | View, **frames: DataFrame) -> DataFrame:
        """The DataFrame of a query over the rows and other DataFrames."""
        return self.runner.having(match_rows=self.rows, **frames).sql(template(*pieces))


def sampled_rows(rows: int) -> int:
    """The number of sampled rows among which at least so many rows are expected."""
    return -(-SAFETY * rows // A_SAMPLED_ROW)


def tie_breakers(rows: DataFrame, others: Container[str]) -> list[str]:
    """Sort items for rows with equal keys: each column as Spark sorts it, other types as text."""
    return [
        field.name if isinstance(field.dataType, SORT_BY_THEMSELVES) else as_text(field)
        for field in rows.schema.fields
        if field.name not in others
    ]


def as_text(field: spark_types.StructField) -> str:
    """A column as SQL of a plain string, which is ordered whatever the column's type is."""
    return f"CAST({field.name} AS STRING)"
