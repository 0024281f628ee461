"""Windows may end after the last value of the type of their order column.

`cases/clause/within.test` and `gaps.test` show it in SQL, in ANSI mode.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import MatchRecognizeRunError, Options, Pattern
from tests.properties.test_queries import settings
from tests.spark.test_run_errors import catch_error

LAST = 2**63 - 1
ROWS = [(1, "a", 9), (3, "b", 9), (LAST - 7, "a", 9), (LAST - 1, "b", 9), (LAST, "b", 9)]
MATCHED = "MEASURES FIRST(k) AS f, LAST(k) AS l"


@pytest.fixture(params=["true", "false"])
def far(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[DataFrame]:
    """Return rows at the end of BIGINT, with ANSI mode and without."""
    with settings(spark, ansi__enabled=request.param):
        yield spark.createDataFrame(ROWS, "k bigint, e string, n bigint")


def find_matches(rows: DataFrame, after_order: str, **options: Any) -> list[tuple[Any, ...]]:
    """Return the matches of a clause over rows in the order of `k`, sorted."""
    clause = f"ORDER BY k {after_order}"
    return sorted(map(tuple, matchrec.match_recognize(rows, clause, **options).collect()))


@pytest.mark.parametrize(
    "window", ["WITHIN 8", "WITHIN 7 BETWEEN ROWS", "WITHIN 8 FROM A TO B", "WITHIN 7.5"]
)
def test_all_rows_that_follow_are_in_the_window(far: DataFrame, window: str) -> None:
    clause = f"{MATCHED} PATTERN (A B*) {window} DEFINE A AS e = 'a', B AS e = 'b'"
    assert find_matches(far, clause) == [(1, 3), (LAST - 7, LAST)]


def test_cut_into_ranges(far: DataFrame) -> None:
    clause = f"{MATCHED} PATTERN (A B*) WITHIN 8 DEFINE A AS e = 'a', B AS e = 'b'"
    ranges = Options(sort="ranges")
    assert find_matches(far, clause, options=ranges) == [(1, 3), (LAST - 7, LAST)]


def test_windows_of_sase_end_at_their_length(far: DataFrame) -> None:
    events = far.withColumnRenamed("e", "event_type")
    where = "WHERE skip_till_any_match(x, y) { x.n > 0 }"
    query = f"PATTERN SEQ(a x, b y) {where} WITHIN 8 RETURN x.k AS f, y.k AS l"
    matches = matchrec.match_sase(events, query, order_by="k").collect()
    assert sorted(map(tuple, matches)) == [(1, 3), (LAST - 7, LAST - 1), (LAST - 7, LAST)]


@pytest.mark.parametrize("kind", ["first_to_last", "previous_to_current"])
def test_windows_of_patterns_end_at_their_length(far: DataFrame, kind: str) -> None:
    pattern = Pattern.begin("a").where("e = 'a'").followed_by("b").where("e = 'b'").within(7, kind)
    matches = matchrec.match_pattern(far, pattern, order_by="k").collect()
    assert [(match.start_time, match.end_time) for match in matches] == [
        (1, 3),
        (LAST - 7, LAST - 1),
    ]


@pytest.mark.parametrize("kind", ["first_to_last", "previous_to_current"])
def test_a_run_does_not_time_out_after_the_last_value(far: DataFrame, kind: str) -> None:
    pattern = Pattern.begin("b").where("e = 'b'").next("c").where("e = 'c'").within(9, kind)
    rows = matchrec.match_pattern(
        far.where("n = 9"), pattern, order_by="k", timeouts=True
    ).collect()
    assert {(row.start_time, row.timed_out_at) for row in rows} <= {
        (3, 12),
        (LAST - 1, None),
        (LAST, None),
    }


def test_a_timed_out_run_says_when_its_window_ended(far: DataFrame) -> None:
    measures = "MEASURES FIRST(k) AS f, MATCH_STATUS() AS s, MATCH_TIMEOUT() AS t"
    rows = "ONE ROW PER MATCH SHOW TIMEOUT MATCHES"
    clause = f"{measures} {rows} PATTERN (A B C) WITHIN 9 DEFINE A AS e = 'a', B AS e = 'b'"
    assert find_matches(far, clause) == [(1, "TIMED OUT", 10), (LAST - 7, "MATCHED", None)]


def test_a_frame_can_be_longer_than_all_rows(far: DataFrame) -> None:
    far.createOrReplaceTempView("far")
    query = f"""SELECT k, l OVER w FROM far WINDOW w AS (ORDER BY k MEASURES LAST(k) AS l
        ROWS BETWEEN CURRENT ROW AND {LAST} + 0 * n FOLLOWING
        AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE A AS e = 'a', B AS e = 'b')"""
    rows = matchrec.sql(far.sparkSession, query).collect()
    assert [row[1] for row in sorted(rows)] == [3, None, LAST - 1, None, None]


@pytest.mark.parametrize("window", ["WITHIN n", "WITHIN n BETWEEN ROWS", "WITHIN -n"])
def test_a_length_that_is_added_and_has_no_end_there(far: DataFrame, window: str) -> None:
    rows = matchrec.match_recognize(
        far, f"ORDER BY k {MATCHED} PATTERN (A B*) {window} DEFINE B AS n > 0"
    )
    error = MatchRecognizeRunError.from_exception(catch_error(rows.collect))
    assert error is not None
    assert " is NULL, negative or too large at this row" in error.message
    assert error.row_number == (1 if "-" in window else 3)


def test_a_window_can_end_after_the_last_date(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT date_from_unix_date(2147483647 - y) AS k, 2147483647 - y AS x "
        "FROM VALUES (7), (1), (0) AS t(y)"
    )
    window = "PATTERN (A B*) WITHIN INTERVAL 7 {} DEFINE B AS x > 0"
    clause = f"MEASURES FIRST(x) AS f, LAST(x) AS l {window}"
    assert find_matches(rows, clause.format("DAYS")) == [
        (2**31 - 8, 2**31 - 2),
        (2**31 - 1, 2**31 - 1),
    ]
    months = matchrec.match_recognize(rows, f"ORDER BY k {clause.format('MONTHS')}")
    error = MatchRecognizeRunError.from_exception(catch_error(months.collect))
    assert error is not None
    assert error.row_number == 1
