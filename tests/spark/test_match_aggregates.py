"""Aggregates of MEASURES that Spark computes: those of its window functions, in the order of rows.

Every aggregate is asked for at each row of random matches, with an argument that only Spark can
compute over a match, and compared to the last bit with Spark's own over the same rows, sorted.
"""

from __future__ import annotations

import operator
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.spark.after.aggregates import GROUP_AGGREGATES
from matchrec.spark.after.folds import FOLDS
from matchrec.syntax.tokens import AGGREGATES
from tests.quick.scale import some_of
from tests.spark.test_accumulators import (
    COLUMNS,
    MOST_GROUPS,
    Case,
    Rows,
    are_equal,
    cases,
    cases_of_groups,
    groups,  # noqa: F401 -- a fixture
    write_plain,
)

Expected = Callable[[list[dict[str, Any]]], object]


@dataclass(frozen=True)
class OrderedCase(Case):
    """One with WITHIN GROUP."""

    order: str = ""
    words: str = ""

    @property
    def sql(self) -> str:
        return f"{super().sql} WITHIN GROUP (ORDER BY {self.order} {self.words})"


FURTHER = (
    OrderedCase("mode", order="i"),
    OrderedCase("mode", order="s", words="DESC"),
    OrderedCase("percentile_cont", "0.25", order="l"),
    OrderedCase("percentile_disc", "0.5", order="i", words="DESC"),
    OrderedCase("listagg", "s, NULL", order="i", words="DESC"),
    OrderedCase("listagg", "s, '+'", order="d", words="ASC NULLS LAST"),
    OrderedCase("listagg", "s", order="d", words="DESC NULLS FIRST"),
    OrderedCase("listagg", "y, X'00'", order="c"),
    OrderedCase("listagg", "s, '; '", distinct=True, order="s", words="DESC"),
    Case("max_by", "s, struct(i, t), 2"),  # of equal ones Spark's takes any
    Case("min_by", "s, struct(l, t), 3"),
    *([Case("collect_union", "array(i)")] if pyspark.__version__ >= "4.3" else []),
    Case("collect_set", "struct(i)"),
    Case("count", "i, s, b", distinct=True),
    Case("listagg", "i, ', '"),
    Case("listagg", "d"),
)


PART, DISTINCT_PART = 50, 10  # aggregates of a query
SEEN = {*COLUMNS, "array(i)", "struct(i)", "abs(i)"}


def test_each_aggregate_is_folded_or_independent_of_the_order() -> None:
    names = {name.lower() for name in AGGREGATES}
    assert FOLDS.keys() | GROUP_AGGREGATES == names
    assert {name for name in FOLDS if name in GROUP_AGGREGATES} == {
        *("sum", "avg", "mean", "try_sum", "try_avg", "regr_avgx", "regr_avgy")
    }


def write_over_match(case: Case) -> str:
    """Return the aggregate with arguments that look at the match."""
    first, *rest = case.columns.split(", ") if case.columns else [""]
    taken = ", ".join([write_seen(first), *map(write_seen, rest)]) if first else ""
    if isinstance(case, OrderedCase):
        return replace(case, columns=taken, order=write_seen(case.order)).sql
    return replace(case, columns=taken).sql


def write_seen(term: str) -> str:
    """Return a column as a term that asks for its row's variable, which is always A."""
    return f"IF(CLASSIFIER() = 'A', {term}, NULL)" if term in SEEN else term


def compare(spark: SparkSession, several: Sequence[Case], expected: DataFrame) -> None:
    """expected: columns g, t, then an aggregate of each case over the rows up to this one."""
    measures = ", ".join(
        f"{write_over_match(case)} AS a{place}" for place, case in enumerate(several)
    )
    names = ", ".join(f"a{place}" for place in range(len(several)))
    found = matchrec.sql(
        spark,
        f"""SELECT g, t, {names} FROM aggregated MATCH_RECOGNIZE (PARTITION BY g ORDER BY t
        MEASURES {measures} ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS t >= 0)""",
    )
    wrong = [
        (case.sql, str(one.dataType), str(other.dataType), one.nullable, other.nullable)
        for case, one, other in zip(several, found.schema[2:], expected.schema[2:], strict=True)
        if (one.dataType, one.nullable) != (other.dataType, other.nullable)
    ]
    assert not wrong
    types_of = [field.dataType for field in expected.schema]
    items = [write_plain(types_of[place + 2], f"a{place}") for place in range(len(several))]
    rows, others = (
        sorted(frame.selectExpr("g", "t", *items).collect(), key=lambda row: row[:2])
        for frame in (found, expected)
    )
    assert [row[:2] for row in rows] == [row[:2] for row in others]
    different = [
        (case.sql, row, row[place], other[place])
        for place, case in enumerate(several, 2)
        for row, other in zip(rows, others, strict=True)
        if not are_equal(case, make_hashable(row[place]), make_hashable(other[place]))
    ]
    assert not different, {one[0]: (one[1][:2], *one[2:]) for one in different}


def make_hashable(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def test_row_after_row(spark: SparkSession, groups: list[Rows]) -> None:  # noqa: F811
    several = some_of(list(cases()))
    over = "OVER (PARTITION BY g ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    items = ", ".join(f"{case.sql} {over} AS a{place}" for place, case in enumerate(several))
    compare(spark, several, spark.sql(f"SELECT g, t, {items} FROM aggregated"))


def test_groups(spark: SparkSession, groups: list[Rows]) -> None:  # noqa: F811
    spark.conf.set(MOST_GROUPS, 100_000)  # with more, Spark's own loses the order
    rows = "SELECT /*+ COALESCE(1) */ *, explode(sequence(t, 9)) AS n FROM aggregated"
    try:
        for several in split_cases([*some_of(list(cases_of_groups())[::3]), *FURTHER]):
            items = ", ".join(f"{case.sql} AS a{place}" for place, case in enumerate(several))
            expected = spark.sql(f"SELECT g, n AS t, {items} FROM ({rows}) GROUP BY g, n")
            expected = expected.join(spark.table("aggregated").select("g", "t"), ["g", "t"])
            compare(spark, several, expected)
    finally:
        spark.conf.unset(MOST_GROUPS)


def split_cases(several: Sequence[Case]) -> Iterator[Sequence[Case]]:
    """Yield the cases in parts: Spark repeats all rows for each DISTINCT of a query.

    It loses the order of the others then, and has no plan for a sorted listagg beside several.
    """
    plain_ones = [one for one in several if not one.distinct]
    for place in range(0, len(plain_ones), PART):
        yield plain_ones[place : place + PART]
    distinct = [one for one in several if one.distinct]
    lists = [one for one in distinct if one.function in ("listagg", "string_agg")]
    others = [one for one in distinct if one not in lists]
    for place in range(0, len(others), DISTINCT_PART):
        yield others[place : place + DISTINCT_PART]
    yield from ([one] for one in lists)


MANY_GROUPS = {
    MOST_GROUPS: "2",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "97",
    "spark.sql.windowExec.buffer.spill.threshold": "3",
    "spark.sql.shuffle.partitions": "2",
}
MATCHES = 2000


@pytest.fixture
def many_matches(spark: SparkSession) -> Iterator[None]:
    """The view `steps`: of each p three to five rows; thousands of matches in each task.

    Spark has settings with which a group by sorts, and a shuffle spills, from the first rows on.
    """
    before = {name: spark.conf.get(name) for name in MANY_GROUPS}
    for name, setting in MANY_GROUPS.items():
        spark.conf.set(name, setting)
    spark.range(MATCHES).selectExpr("id AS p", "explode(sequence(1, 3 + id % 3)) AS t").selectExpr(
        "p", "t", "p * 10 + t AS n", "CAST(1e16 * ((t + p) % 3 - 1) + t AS DOUBLE) AS d"
    ).createOrReplaceTempView("steps")
    yield
    for name, setting in before.items():
        spark.conf.set(name, setting)


def write_rows_of_match(p: int) -> list[dict[str, object]]:
    """Return the rows of a match, as the view makes them."""
    return [
        {"t": t, "c": "A" if t == 1 else "B", "n": p * 10 + t, "d": 1e16 * ((t + p) % 3 - 1) + t}
        for t in range(1, 4 + p % 3)
    ]


def add_floats(values: Iterable[float]) -> float:
    """Return the sum of floating-point numbers one after the other."""
    return reduce(operator.add, values, 0.0)


MEASURES: dict[str, Expected] = {
    "collect_list(CLASSIFIER())": lambda rows: [row["c"] for row in rows],
    "array_agg(IF(CLASSIFIER() = 'B', n, NULL))": lambda rows: [row["n"] for row in rows[1:]],
    "array_join(collect_list(CLASSIFIER()), '')": lambda rows: "".join(row["c"] for row in rows),
    "listagg(CLASSIFIER() || t, '-')": lambda rows: "-".join(
        f"{row['c']}{row['t']}" for row in rows
    ),
    "collect_list(struct(n, CLASSIFIER() AS c))": lambda rows: [
        (row["n"], row["c"]) for row in rows
    ],
    "collect_list(n) FILTER (WHERE t <> 2)": lambda rows: [
        row["n"] for row in rows if row["t"] != 2
    ],
    "first_value(CLASSIFIER())": lambda rows: rows[0]["c"],
    "any_value(CLASSIFIER())": lambda rows: rows[0]["c"],
    "last_value(t)": lambda rows: rows[-1]["t"],
    "max_by(t, CLASSIFIER())": lambda rows: rows[-1]["t"],
    "min_by(t, least(t, 1))": lambda rows: rows[-1]["t"],
    "sum(IF(CLASSIFIER() = 'A', d, d))": lambda rows: add_floats(row["d"] for row in rows),
}
"""Aggregates of the rows seen, and what they are. A sum of such numbers depends on their order."""

BESIDE: dict[str, Expected] = {
    "collect_list(CLASSIFIER() || (SELECT '!'))": lambda rows: [row["c"] + "!" for row in rows],
    "percentile(t, 0.5)": lambda rows: statistics.median(row["t"] for row in rows),
    "approx_count_distinct(CLASSIFIER())": lambda rows: min(len(rows), 2),
    "count(DISTINCT CLASSIFIER())": lambda rows: min(len(rows), 2),
}
"""A term that no function over arrays takes, and aggregates of which Spark's groups are enough."""


@pytest.mark.parametrize("beside", [{}, BESIDE], ids=["alone", "beside groups"])
@pytest.mark.parametrize("rows_per_match", ["ONE ROW PER MATCH", "ALL ROWS PER MATCH"])
def test_thousands_of_matches(
    spark: SparkSession, many_matches: None, rows_per_match: str, beside: dict[str, Expected]
) -> None:
    measures = {**MEASURES, **beside}
    items = ", ".join(f"{text} AS m{place}" for place, text in enumerate(measures))
    found = matchrec.sql(
        spark,
        f"""SELECT p, m{", m".join(map(str, range(len(measures))))}, size(m0) AS seen
        FROM steps MATCH_RECOGNIZE (PARTITION BY p ORDER BY t
        MEASURES {items} {rows_per_match} PATTERN (A B+) DEFINE B AS t > PREV(t))""",
    ).collect()
    each = rows_per_match.startswith("ALL")
    assert len(found) == sum(len(write_rows_of_match(p)) if each else 1 for p in range(MATCHES))
    for row in found:
        seen = write_rows_of_match(row.p)[: row.seen]
        assert each or len(seen) == len(write_rows_of_match(row.p))
        assert list(row[1:-1]) == [expected(seen) for expected in measures.values()]
