"""Aggregates in MEASURES that the engine computes have the values of Spark's own aggregates.

Each aggregate has an argument that reads CLASSIFIER, so that it cannot be computed before the
match. ALL ROWS PER MATCH shows its value after each row of random matches. The values must agree,
to the last bit, with those that Spark computes from the same rows in the same order.
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
from matchrec.syntax.function_names import AGGREGATES
from tests.quick.scale import some_of
from tests.spark.test_accumulators import (
    COLUMNS,
    MAX_GROUPS,
    Case,
    Rows,
    are_equal,
    groups,  # noqa: F401 -- a fixture
    list_cases,
    list_group_cases,
    write_plain,
)

Expected = Callable[[list[dict[str, Any]]], object]


@dataclass(frozen=True)
class OrderedCase(Case):
    """A call of an aggregate with WITHIN GROUP."""

    order: str = ""
    words: str = ""

    @property
    def sql(self) -> str:
        """Return the call as SQL."""
        return f"{super().sql} WITHIN GROUP (ORDER BY {self.order} {self.words})"


ORDERED_CASES = (
    OrderedCase("mode", order="i"),
    OrderedCase("mode", order="s", words="DESC"),
    OrderedCase("percentile_cont", "0.25", order="l"),
    OrderedCase("percentile_disc", "0.5", order="i", words="DESC"),
    OrderedCase("listagg", "s, NULL", order="i", words="DESC"),
    OrderedCase("listagg", "s, '+'", order="d", words="ASC NULLS LAST"),
    OrderedCase("listagg", "s", order="d", words="DESC NULLS FIRST"),
    OrderedCase("listagg", "y, X'00'", order="c"),
    OrderedCase("listagg", "s, '; '", distinct=True, order="s", words="DESC"),
    Case("max_by", "s, struct(i, t), 2"),  # ties are broken by t, because Spark takes any of them
    Case("min_by", "s, struct(l, t), 3"),
    *([Case("collect_union", "array(i)")] if pyspark.__version__ >= "4.3" else []),
    Case("collect_set", "struct(i)"),
    Case("count", "i, s, b", distinct=True),
    Case("listagg", "i, ', '"),
    Case("listagg", "d"),
)


# The most aggregates in one query.
MAX_CASES = 50
MAX_DISTINCT_CASES = 10

# Terms that `write_classified` changes; the others are literals.
CLASSIFIED = {*COLUMNS, "array(i)", "struct(i)", "abs(i)"}


def test_each_aggregate_is_folded_or_independent_of_the_order() -> None:
    names = {name.lower() for name in AGGREGATES}
    assert FOLDS.keys() | GROUP_AGGREGATES == names
    assert {name for name in FOLDS if name in GROUP_AGGREGATES} == {
        *("sum", "avg", "mean", "try_sum", "try_avg", "regr_avgx", "regr_avgy")
    }


def write_over_match(case: Case) -> str:
    """Return the aggregate with arguments that read CLASSIFIER."""
    arguments = ", ".join(map(write_classified, case.terms))
    if isinstance(case, OrderedCase):
        return replace(case, columns=arguments, order=write_classified(case.order)).sql
    return replace(case, columns=arguments).sql


def write_classified(term: str) -> str:
    """Return a term that is NULL unless CLASSIFIER is A, which it always is."""
    return f"IF(CLASSIFIER() = 'A', {term}, NULL)" if term in CLASSIFIED else term


def check_aggregates(spark: SparkSession, cases: Sequence[Case], expected: DataFrame) -> None:
    """Check that aggregates over matches have the types and values of `expected`.

    Args:
        expected: the columns g and t, and for each case its value over the rows up to this one.
    """
    measures = ", ".join(
        f"{write_over_match(case)} AS a{index}" for index, case in enumerate(cases)
    )
    names = ", ".join(f"a{index}" for index in range(len(cases)))
    result = matchrec.sql(
        spark,
        f"""SELECT g, t, {names} FROM aggregated MATCH_RECOGNIZE (PARTITION BY g ORDER BY t
        MEASURES {measures} ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS t >= 0)""",
    )
    wrong_types = [
        (case.sql, str(field.dataType), str(other.dataType), field.nullable, other.nullable)
        for case, field, other in zip(cases, result.schema[2:], expected.schema[2:], strict=True)
        if (field.dataType, field.nullable) != (other.dataType, other.nullable)
    ]
    assert not wrong_types
    types = [field.dataType for field in expected.schema]
    items = [write_plain(types[index + 2], f"a{index}") for index in range(len(cases))]
    rows, others = (
        sorted(frame.selectExpr("g", "t", *items).collect(), key=lambda row: row[:2])
        for frame in (result, expected)
    )
    assert [row[:2] for row in rows] == [row[:2] for row in others]
    different = [
        (case.sql, row, row[index], other[index])
        for index, case in enumerate(cases, 2)
        for row, other in zip(rows, others, strict=True)
        if not are_equal(case, make_hashable(row[index]), make_hashable(other[index]))
    ]
    assert not different, {sql: (row[:2], *values) for sql, row, *values in different}


def make_hashable(value: object) -> object:
    """Return a list as a tuple, and any other value as it is."""
    return tuple(value) if isinstance(value, list) else value


def test_running_aggregates_have_sparks_values(spark: SparkSession, groups: list[Rows]) -> None:  # noqa: F811
    cases = some_of(list(list_cases()))
    over = "OVER (PARTITION BY g ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    items = ", ".join(f"{case.sql} {over} AS a{index}" for index, case in enumerate(cases))
    check_aggregates(spark, cases, spark.sql(f"SELECT g, t, {items} FROM aggregated"))


def test_aggregates_of_groups_have_sparks_values(spark: SparkSession, groups: list[Rows]) -> None:  # noqa: F811
    # Above this number of groups Spark sorts, and loses the order.
    spark.conf.set(MAX_GROUPS, 100_000)
    rows = "SELECT /*+ COALESCE(1) */ *, explode(sequence(t, 9)) AS n FROM aggregated"
    try:
        for cases in split_cases([*some_of(list(list_group_cases())[::3]), *ORDERED_CASES]):
            items = ", ".join(f"{case.sql} AS a{index}" for index, case in enumerate(cases))
            expected = spark.sql(f"SELECT g, n AS t, {items} FROM ({rows}) GROUP BY g, n")
            expected = expected.join(spark.table("aggregated").select("g", "t"), ["g", "t"])
            check_aggregates(spark, cases, expected)
    finally:
        spark.conf.unset(MAX_GROUPS)


def split_cases(cases: Sequence[Case]) -> Iterator[Sequence[Case]]:
    """Yield lists of cases, each for one query.

    Spark repeats all rows for each DISTINCT in a query. The aggregates without DISTINCT would lose
    their order, so they have queries without it. A sorted listagg with DISTINCT has a query to
    itself, because Spark cannot plan it together with others.
    """
    plain = [case for case in cases if not case.distinct]
    for start in range(0, len(plain), MAX_CASES):
        yield plain[start : start + MAX_CASES]
    distinct = [case for case in cases if case.distinct]
    lists = [case for case in distinct if case.function in ("listagg", "string_agg")]
    others = [case for case in distinct if case not in lists]
    for start in range(0, len(others), MAX_DISTINCT_CASES):
        yield others[start : start + MAX_DISTINCT_CASES]
    yield from ([case] for case in lists)


MANY_GROUPS = {
    MAX_GROUPS: "2",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "97",
    "spark.sql.windowExec.buffer.spill.threshold": "3",
    "spark.sql.shuffle.partitions": "2",
}
MATCHES = 2000


@pytest.fixture
def many_matches(spark: SparkSession) -> Iterator[None]:
    """Create the view `steps`: three to five rows for each p, thousands of matches in each task.

    The settings make Spark sort for GROUP BY, and spill in a shuffle, from the first rows on.
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
    """Return the rows of a match in the view `steps`."""
    return [
        {"t": t, "c": "A" if t == 1 else "B", "n": p * 10 + t, "d": 1e16 * ((t + p) % 3 - 1) + t}
        for t in range(1, 4 + p % 3)
    ]


def add_floats(values: Iterable[float]) -> float:
    """Return the sum of floating-point numbers, added from left to right."""
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
"""Aggregates, and their values for the rows so far. The sum of `d` depends on the order of rows."""

GROUPED_MEASURES: dict[str, Expected] = {
    "collect_list(CLASSIFIER() || (SELECT '!'))": lambda rows: [row["c"] + "!" for row in rows],
    "percentile(t, 0.5)": lambda rows: statistics.median(row["t"] for row in rows),
    "approx_count_distinct(CLASSIFIER())": lambda rows: min(len(rows), 2),
    "count(DISTINCT CLASSIFIER())": lambda rows: min(len(rows), 2),
}
"""Aggregates that the engine computes with a GROUP BY, because no fold over an array can."""


@pytest.mark.parametrize("grouped_measures", [{}, GROUPED_MEASURES], ids=["alone", "beside groups"])
@pytest.mark.parametrize("rows_per_match", ["ONE ROW PER MATCH", "ALL ROWS PER MATCH"])
def test_thousands_of_matches(
    spark: SparkSession,
    many_matches: None,
    rows_per_match: str,
    grouped_measures: dict[str, Expected],
) -> None:
    measures = {**MEASURES, **grouped_measures}
    items = ", ".join(f"{text} AS m{index}" for index, text in enumerate(measures))
    result = matchrec.sql(
        spark,
        f"""SELECT p, m{", m".join(map(str, range(len(measures))))}, size(m0) AS seen
        FROM steps MATCH_RECOGNIZE (PARTITION BY p ORDER BY t
        MEASURES {items} {rows_per_match} PATTERN (A B+) DEFINE B AS t > PREV(t))""",
    ).collect()
    shows_all_rows = rows_per_match.startswith("ALL")
    assert len(result) == sum(
        len(write_rows_of_match(p)) if shows_all_rows else 1 for p in range(MATCHES)
    )
    for row in result:
        rows = write_rows_of_match(row.p)[: row.seen]
        assert shows_all_rows or len(rows) == len(write_rows_of_match(row.p))
        assert list(row[1:-1]) == [expected(rows) for expected in measures.values()]
