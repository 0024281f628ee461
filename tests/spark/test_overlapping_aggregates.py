"""Aggregates of overlapping matches are exact, although they share the work for their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from unittest.mock import patch

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.search.task import Task
from matchrec.worker import match

COUNT = 2_000
CLAUSE = """ORDER BY i MEASURES FIRST(i) AS f, {measures}
    AFTER MATCH SKIP TO NEXT ROW PATTERN (A+) DEFINE A AS TRUE"""


@pytest.fixture
def shared() -> Iterator[list[bool]]:
    """Return a list that says for each search whether its matches share rows.

    It has the searches of this process: all on Sail, and none on Spark.
    """
    shares_rows: list[bool] = []
    chain_matches = match.request_chains

    def record_search(*arguments: object) -> Task:
        """Note whether the matches of a search share rows."""
        task = chain_matches(*arguments)  # type: ignore[arg-type]
        shares_rows.append(task.wants_chains)
        return task

    with patch.object(match, "request_chains", record_search):
        yield shares_rows


def make_rows(spark: SparkSession, value: str) -> DataFrame:
    """Return COUNT rows with an expression over `id` as `x`."""
    return spark.range(COUNT).selectExpr("id AS i", f"{value} AS x")


def compute_measures(rows: DataFrame, measures: str) -> dict[int, tuple[object, ...]]:
    """Return the measures of the match that starts at each row."""
    matches = matchrec.match_recognize(rows, CLAUSE.format(measures=measures)).collect()
    return {row[0]: tuple(row)[1:] for row in matches}


def is_sail(spark: SparkSession) -> bool:
    """Return whether a session runs on Sail."""
    return not hasattr(spark, "_jvm")


AVERAGES: dict[str, Callable[[int], float]] = {
    "id": lambda first: (first + COUNT - 1) / 2,
    "CAST(id AS INT)": lambda first: (first + COUNT - 1) / 2,
    "CAST(-3 * id AS DOUBLE)": lambda first: -3 * (first + COUNT - 1) / 2,
    "CAST(id AS FLOAT)": lambda first: (first + COUNT - 1) / 2,
}


@pytest.mark.parametrize("value", AVERAGES)
def test_averages_of_overlapping_matches_are_exact(
    spark: SparkSession, value: str, shared: list[bool]
) -> None:
    """The match that starts at row i has the rows i to COUNT - 1."""
    rows = make_rows(spark, value)
    measures = compute_measures(rows, "avg(x) AS a, count(x) AS n")
    assert measures == {i: (AVERAGES[value](i), COUNT - i) for i in range(COUNT)}
    if is_sail(spark):
        assert shared == [True]


@pytest.mark.parametrize(
    "value", ["id / 4", "IF(id = 7, double('NaN'), id)", "9007199254740992 - id % 2", "1e300D * id"]
)
def test_averages_that_are_rounded_on_their_way(
    spark: SparkSession, value: str, shared: list[bool]
) -> None:
    """Python, too, adds doubles in the order of the rows."""
    rows = make_rows(spark, value).where("i < 300")
    values = [float(row.x) for row in rows.orderBy("i").collect()]
    measures = compute_measures(rows, "avg(x) AS a, sum(CAST(x AS DOUBLE)) AS s")
    for first in range(len(values)):
        total = 0.0
        for value_of_row in values[first:]:
            total += value_of_row
        expected = (total / (len(values) - first), total)
        assert repr(measures[first]) == repr(expected)
    if is_sail(spark):
        assert shared == [True]


def test_rounded_sums_of_long_matches(spark: SparkSession, shared: list[bool]) -> None:
    """NumPy, too, adds up doubles in the order of the rows; 0.1 is not exact as a double."""
    count = 20_000
    rows = spark.range(count).selectExpr("id AS i", "id / 10 AS x").coalesce(1)
    measures = compute_measures(rows, "avg(x) AS a, sum(x) AS s, count(x) AS n")
    values = np.arange(count) / 10
    for first in (0, 1, 777, count // 2, count - 1):
        total = float(np.cumsum(values[first:])[-1])
        assert measures[first] == (total / (count - first), total, count - first)
    if is_sail(spark):
        assert shared == [True]


def test_sums_that_could_overflow_in_another_order(spark: SparkSession) -> None:
    """One row has the largest BIGINT, and the rows after it have -1."""
    value = f"IF(id < {COUNT - 300}, 0, IF(id = {COUNT - 300}, 9223372036854775807, -1))"
    measures = compute_measures(make_rows(spark, value), "sum(x) AS s, avg(x) AS a")
    assert measures[0] == (2**63 - 1 - 299, float(2**63) / COUNT)
    assert measures[COUNT - 1] == (-1, -1.0)


def test_rows_that_are_counted_or_chosen(spark: SparkSession, shared: list[bool]) -> None:
    """A row has the value i % 100. Among equal keys, Spark chooses the last row."""
    rows = make_rows(spark, "IF(id % 10 = 0, NULL, id % 100)")
    measures = (
        "FIRST(i, 2) AS f2, LAST(i, 1) AS l1, first_value(x) AS v,"
        " first_value(x) IGNORE NULLS AS g, last_value(x) FILTER (WHERE i < 1500) AS l,"
        " any_value(x) AS a, max_by(i, x) AS b, min_by(i, x) FILTER (WHERE i < 1995) AS c"
    )
    values = compute_measures(rows, measures)
    assert values[0] == (2, 1998, None, 1, 99, None, 1999, 1901)
    assert values[1950] == (1952, 1998, None, 51, None, None, 1999, 1951)
    assert values[1995] == (1997, 1998, 95, 95, None, 95, 1999, None)
    assert values[1999] == (None, None, 99, 99, None, 99, 1999, None)
    if is_sail(spark):
        assert shared == [True]


def test_other_aggregates_of_matches_that_share_their_rows(
    spark: SparkSession, shared: list[bool]
) -> None:
    """docs/reference/aggregate_functions.md lists these aggregates."""
    rows = make_rows(spark, "CAST(id AS DECIMAL(12, 2))")
    measures = (
        "sum(x) AS s, min(x) AS l, max(x) AS g, count_if(i > 9) AS n, bool_and(i > 5) AS b, "
        "avg(x) AS a, count(x) FILTER (WHERE i < 5) AS c"
    )
    values = compute_measures(rows, measures)
    for i in (0, 6, COUNT - 1):
        count = COUNT - i
        total = count * (i + COUNT - 1) // 2
        s, least, greatest, n, b, a, c = values[i]
        assert (s, least, greatest, n) == (total, i, COUNT - 1, count - max(0, 10 - i))
        assert (b, a, c) == (i > 5, total / count, max(0, 5 - i))
    if is_sail(spark):
        assert shared == [True]
