"""MATCHED_ROWS has the rows of ALL ROWS PER MATCH and of Spark's own aggregate."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec

CLAUSE = """PARTITION BY sym ORDER BY ts MEASURES {measures} {rows} PER MATCH {omit}
    AFTER MATCH SKIP TO NEXT ROW PATTERN (A? {{- LOW -}} B* | PERMUTE(B, C))
    DEFINE A AS price > 3, LOW AS price < PREV(price), B AS price > PREV(price)"""
ARRAY = "collect_list(struct(sym, ts, price, CLASSIFIER() AS classifier))"


@pytest.fixture
def prices(spark: SparkSession) -> DataFrame:
    """Return 40 prices of one key, which is a zero of either sign."""
    return spark.sql(
        "SELECT IF(id % 2 = 0, 0.0D, -0.0D) AS sym, id AS ts, id * id % 7 AS price FROM range(40)"
    )


def find_matches(prices: DataFrame, measures: str) -> DataFrame:
    """Return the matches of CLAUSE."""
    clause = CLAUSE.format(measures=measures, rows="ONE ROW", omit="")
    return matchrec.match_recognize(prices, clause)


def test_the_rows_are_those_of_all_rows_per_match(prices: DataFrame) -> None:
    number = "MATCH_NUMBER() AS n"
    exploded = matchrec.explode_matches(find_matches(prices, f"{number}, MATCHED_ROWS() AS rows"))
    clause = CLAUSE.format(
        measures=f"{number}, CLASSIFIER() AS classifier", rows="ALL ROWS", omit="OMIT EMPTY MATCHES"
    )
    all_rows = matchrec.match_recognize(prices, clause).select(*exploded.columns)
    assert exploded.columns == ["sym", "n", "ts", "price", "classifier"]
    assert sorted(map(str, exploded.collect())) == sorted(map(str, all_rows.collect()))


def test_the_value_is_that_of_an_aggregate(prices: DataFrame) -> None:
    matches = find_matches(prices, f"MATCHED_ROWS() AS rows, {ARRAY} AS collected").collect()
    assert any(len(match.rows) < len(match.collected) for match in matches)
    for match in matches:
        assert match.rows == [row for row in match.collected if row.classifier != "LOW"]


def test_arrays_of_stages_have_rows_too(spark: SparkSession) -> None:
    events = spark.sql("VALUES (1, 'a'), (2, 'b'), (3, 'b') AS e(ts, kind)")
    pattern = matchrec.Pattern.begin("a").where("kind = 'a'").next("b").where("kind = 'b'").times(2)
    matches = matchrec.match_pattern(events, pattern, order_by="ts")
    rows = matchrec.explode_matches(matches.select("match_number", "b"), "b").orderBy("ts")
    assert [tuple(row) for row in rows.collect()] == [(1, 2, "b"), (1, 3, "b")]


def test_a_measure_is_not_taken_for_a_column_of_the_rows(prices: DataFrame) -> None:
    matches = find_matches(prices, "LAST(price) AS price, MATCHED_ROWS() AS rows")
    with pytest.raises(Exception, match="`price` has one value in the match and another"):
        matchrec.explode_matches(matches).collect()
    with pytest.raises(
        matchrec.MatchRecognizePlanError, match="`ts` has type double in the match and type big"
    ):
        matchrec.explode_matches(find_matches(prices, "1D AS ts, MATCHED_ROWS() AS rows"))


@pytest.mark.parametrize(
    ("column", "measures", "message"),
    [
        (
            None,
            "1 AS one",
            "no column has the rows of a .*\n.*\n  help: add MATCHED_ROWS.. AS rows to MEASURES$",
        ),
        ("ts", "1 AS ts", "`ts` is not a .*\n.*\n  help: add MATCHED_ROWS.. AS rows to MEASURES$"),
        (
            None,
            "collect_list(struct(ts)) AS a, collect_list(struct(price)) AS b",
            "no column has .*\n.*\n.*: a, b\n  help: name one of them: explode_matches.df, .a..$",
        ),
        (
            "one",
            "1 AS one, MATCHED_ROWS() AS rows",
            "`one` is not a column with .*\n.*\n.*\n  help: write explode_matches",
        ),
        (
            None,
            "MATCHED_ROWS() AS r, MATCHED_ROWS(A) AS s",
            "several columns have.*: r, s .*\n  help: name",
        ),
    ],
)
def test_results_without_matched_rows_are_rejected(
    prices: DataFrame, column: str | None, measures: str, message: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match=message):
        matchrec.explode_matches(find_matches(prices, measures), column)
