"""`why` explains attempts to match, and takes values that name a row and a partition.

The answers are worked out by hand from the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, expr

import matchrec
from matchrec import MatchRecognizeError
from matchrec.explain.tracing.story_picture import draw_story
from matchrec.explain.tracing.why import Why
from matchrec.spark.collected_partition import collect_table
from matchrec.spark.literals import to_python_value, write_literal
from tests.properties.test_queries import settings

pytestmark = pytest.mark.one_of(4)

V_SHAPE = """
    SELECT * FROM why_ticks MATCH_RECOGNIZE (
        PARTITION BY ticker ORDER BY day
        MEASURES LAST(DOWN.price) AS bottom
        PATTERN (STRT DOWN+ UP)
        DEFINE DOWN AS price < PREV(price), UP AS price > FIRST(price) * 1.1
    ) AS v
"""
PRICES = {"AAPL": [37, 36, 35, 39, 36, 30, 50], "GOOG": [5]}


@pytest.fixture(scope="module", autouse=True)
def ticks(spark: SparkSession) -> Iterator[None]:
    """Create the view of prices on consecutive days."""
    rows = [
        (ticker, date(2024, 1, day), price)
        for ticker, prices in PRICES.items()
        for day, price in enumerate(prices, 1)
    ]
    frame = spark.createDataFrame(rows, "ticker string, day date, price int")
    frame.createOrReplaceTempView("why_ticks")
    yield
    spark.catalog.dropTempView("why_ticks")


def test_why_shows_the_value_by_which_an_attempt_fails(spark: SparkSession) -> None:
    answer = matchrec.query(spark, V_SHAPE).why(partition={"ticker": "AAPL"}, row=date(2024, 1, 1))
    assert (
        str(answer)
        == """\
PATTERN (STRT DOWN+ UP)
partition ticker = 'AAPL': 7 rows

row 1 (day = 2024-01-01): no match
  row  day
  1    2024-01-01  STRT  taken   no condition: always true
  2    2024-01-02  DOWN  taken   price < PREV(price): 36 < 37 is true (PREV(price) from row 1)
  3    2024-01-03  DOWN  taken   price < PREV(price): 35 < 36 is true (PREV(price) from row 2)
  4    2024-01-04  DOWN  failed  price < PREV(price): 39 < 35 is false (PREV(price) from row 3)
                   UP    failed  price > FIRST(price) * 1.1: 39 > 40.7 is false \
(FIRST(price) = 37 from row 1)
  3    2024-01-03  UP    failed  price > FIRST(price) * 1.1: 35 > 40.7 is false \
(FIRST(price) = 37 from row 1)
  got as far as rows 1 to 3: STRT DOWN{2}
  then row 4 (day = 2024-01-04) had to be DOWN or UP"""
    )
    frame = answer.toPandas()
    assert frame["outcome"].tolist() == ["taken", "taken", "taken", "failed", "failed", "failed"]
    assert frame["row"].tolist() == [1, 2, 3, 4, 4, 3]
    assert set(frame["start"]) == {1}
    (panel,) = draw_story(answer._story).axes
    marks = [line.get_marker() for line in panel.lines]
    assert (marks.count("o"), marks.count("x")) == (3, 3)
    assert "the search goes back to row 3:" in [text.get_text() for text in panel.texts]
    assert "<svg" in answer._repr_html_()
    assert "39 &gt; 40.7 is false" in answer._repr_html_()


def list_texts_of_picture(answer: Why) -> list[str]:
    """Return the texts of the picture of an answer."""
    (panel,) = draw_story(answer._story).axes
    return [text.get_text() for text in panel.texts]


def test_the_picture_shows_a_false_condition_whose_value_says_true(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, "it is true")], "at int, note string")
    answer = matchrec.query(rows, "ORDER BY at PATTERN (A) DEFINE A AS note = 'x'").why()
    assert "A: note = 'x': 'it is true' = 'x' is false" in list_texts_of_picture(answer)


def test_the_picture_shows_no_true_condition_of_a_failed_row(spark: SparkSession) -> None:
    """A condition that is no comparison is followed by its values: `: true (FIRST(x) = 5 ...)`."""
    rows = spark.createDataFrame([(1, 5), (2, 6)], "at int, x int")
    clause = "ORDER BY at PATTERN (A B) DEFINE B AS FIRST(x) IN (5, 7) AND x < 0"
    texts = list_texts_of_picture(matchrec.query(rows, clause).why(row=1))
    assert "B: x < 0: 6 < 0 is false" in texts
    assert not any("IN (5, 7)" in text for text in texts)


def test_a_part_that_would_fail_is_not_evaluated(spark: SparkSession) -> None:
    """A part that can fail is evaluated only if those before it are true, as in the query."""
    rows = [(1, "n", "7"), (2, "n", "8"), (3, "t", "9"), (4, "t", "none")]
    frame = spark.createDataFrame(rows, "k int, kind string, v string")
    why = matchrec.query(
        frame,
        """ORDER BY k MEASURES B.v AS v PATTERN (A B)
        DEFINE B AS A.kind = 'n' AND CAST(B.v AS INT) > CAST(A.v AS INT)""",
    ).why(row=3)
    assert "A.kind = 'n': 't' = 'n' is false" in str(why)
    assert "CAST(B.v AS INT) > CAST(A.v AS INT): not evaluated" in str(why)


def test_decimals_compare_with_doubles_as_in_the_search(spark: SparkSession) -> None:
    """They are compared as doubles, with all digits, and NaN is the greatest."""
    query = """
        SELECT * FROM VALUES (1, 0.30BD, 1D), (2, 0.10BD, double('NaN')), (3, 0.3BD, 0.1D + 0.2D)
            AS t(n, d, z)
        MATCH_RECOGNIZE (ORDER BY n MEASURES count(*) AS rows PATTERN (A B+)
            DEFINE B AS z > 0.25 AND coalesce(FIRST(d) < z, FALSE) AND FIRST(d) <> z)
    """
    text = str(matchrec.query(spark, query).why(row=1))
    assert [" ".join(line.split()) for line in text.splitlines()][3:-2] == [
        "row 1 (n = 1): match 1, rows 1 to 3: A B{2}",
        "row n",
        "1 1 A taken no condition: always true",
        "2 2 B taken z > 0.25: NaN > 0.25 is true",
        "coalesce(FIRST(d) < z, FALSE): true (FIRST(d) = 0.30 from row 1, z = NaN)",
        "FIRST(d) <> z: 0.30 <> NaN is true (FIRST(d) from row 1)",
        "3 3 B taken z > 0.25: 0.30000000000000004 > 0.25 is true",
        "coalesce(FIRST(d) < z, FALSE): true (FIRST(d) = 0.30 from row 1, z = 0.30000000000000004)",
        "FIRST(d) <> z: 0.30 <> 0.30000000000000004 is true (FIRST(d) from row 1)",
    ]


def test_a_window_between_rows_is_a_condition(spark: SparkSession) -> None:
    """Days 6 and 7 are one day apart, and the window is shorter."""
    query = V_SHAPE.replace("DEFINE", "WITHIN INTERVAL 1 DAY FROM DOWN TO UP DEFINE")
    answer = matchrec.query(spark, query).why(partition={"ticker": "AAPL"}, row=date(2024, 1, 5))
    up = next(line for line in answer._story.attempts[0].lines if line.variable == "UP")
    window = "WITHIN INTERVAL 1 DAY"
    assert up.conditions == (
        "price > FIRST(price) * 1.1: 50 > 39.6 is true (FIRST(price) = 36 from row 5)",
        f"{window}: 2024-01-07 < 2024-01-07 is false (PREV(day) = 2024-01-06 from row 6)",
    )
    assert repr(answer) == (
        "<Why: row 5 (day = 2024-01-05): no match; got as far as rows 5 to 6: STRT DOWN; "
        "then row 7 (day = 2024-01-07) had to be DOWN or UP>"
    )


def test_matches_and_the_attempts_that_came_furthest(spark: SparkSession) -> None:
    answer = matchrec.query(spark, V_SHAPE).why(partition={"TICKER": "AAPL"}, limit=2)
    assert answer._story.results == ("match 1: rows 4 to 7: STRT DOWN{2} UP",)
    titles = [attempt.title for attempt in answer._story.attempts]
    assert titles == ["row 1 (day = 2024-01-01): no match", "row 2 (day = 2024-01-02): no match"]
    assert answer._story.attempts[1].ends == (
        "got as far as rows 2 to 3: STRT DOWN",
        "then row 4 (day = 2024-01-04) had to be DOWN or UP",
    )


def test_a_row_inside_an_earlier_match(spark: SparkSession) -> None:
    answer = matchrec.query(spark, V_SHAPE).why(partition={"ticker": "AAPL"}, row="2024-01-06")
    assert answer._story.results == (
        "row 6 (day = 2024-01-06): no search started here",
        "  it is inside match 1, rows 4 to 7: STRT DOWN{2} UP, mapped to DOWN",
        "  AFTER MATCH SKIP PAST LAST ROW: the search continued at row 8",
        "  write AFTER MATCH SKIP TO NEXT ROW to search from every row",
    )
    assert answer._story.attempts == ()


@pytest.mark.parametrize(
    ("day", "reason"),
    [
        (
            "2024-01-02",
            (
                "  it is inside match 1, rows 1 to 3: DOWN{3}, mapped to DOWN",
                "  FIRST 1 MATCHES: the search ended after this match",
            ),
        ),
        ("2024-01-05", ("  FIRST 1 MATCHES: the search ended before this row",)),
    ],
)
def test_no_search_starts_after_the_first_matches(
    spark: SparkSession, day: str, reason: tuple[str, ...]
) -> None:
    """AAPL's prices are 37 36 35 39 36 30 50. Without FIRST, rows 5 to 6 are a match, too."""
    query = matchrec.query(
        spark,
        """
        SELECT * FROM why_ticks MATCH_RECOGNIZE (
            PARTITION BY ticker ORDER BY day
            PATTERN (DOWN+) FIRST 1 MATCHES
            DEFINE DOWN AS price < 38
        )
        """,
    )
    results = query.why(partition={"ticker": "AAPL"})._story.results
    assert results == ("match 1: rows 1 to 3: DOWN{3}",)
    results = query.why(partition={"ticker": "AAPL"}, row=day)._story.results
    row = int(day[-1])
    assert results == (f"row {row} (day = {day}): no search started here", *reason)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "note: some partitions:\n        ticker = AAPL\n        ticker = GOOG\n  help: write"),
        ({"partition": {"tiker": "X"}}, "unknown column `tiker` in `partition`"),
        ({"partition": {}}, "missing value of `ticker` in `partition`"),
        ({"partition": "XYZ"}, 'write partition={"ticker": "XYZ"}'),
        ({"partition": ["XYZ"]}, 'write partition={"ticker": "XYZ"}'),
        ({"partition": {"ticker": "X"}}, "the partition with `ticker` = 'X' has no rows ["),
        ({"partition": {"ticker": 7}}, "the partition with `ticker` = 7 has no rows ["),
        ({"partition": {"ticker": "GOOG"}, "row": "2024-02-01"}, "`day` = 2024-01-01"),
        ({"partition": {"ticker": "GOOG"}, "row": "2024-02-01"}, "such as row='2024-01-"),
        (
            {"partition": {"ticker": "GOOG"}, "row": (1, 2)},
            "`row` has 2 values, but ORDER BY has 1",
        ),
        (
            {"partition": {"ticker": object()}},
            "a date, a datetime or a timedelta, but is of type object [not-a-literal]",
        ),
        ({"clause": 2}, "[unknown-clause]\n  note: the query has:\n        1: why_ticks AS v"),
    ],
)
def test_an_unknown_partition_or_row_is_an_error(
    spark: SparkSession, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        matchrec.query(spark, V_SHAPE).why(**arguments)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("values", "unknown_row", "row"),
    [
        ("1, 2", "9", "row=2"),
        ("1.5D, 2.5D", "9", "row=2.5"),
        ("1, 6", "3", "row=1"),
        ("1, 6", "5", "row=6"),
        ("'a', 'b'", "9", "row='a'"),
        (
            "TIMESTAMP'2026-01-01 08:05:00', TIMESTAMP'2026-01-01 08:10:00'",
            "2026-01-01 08:08:00",
            "row='2026-01-01 08:10:00'",
        ),
    ],
)
def test_the_error_for_an_unknown_row_names_the_nearest_and_writes_numbers_without_quotes(
    spark: SparkSession, values: str, unknown_row: str, row: str
) -> None:
    first, second = values.split(", ")
    query = f"""SELECT * FROM VALUES ({first}), ({second}) AS t(at)
        MATCH_RECOGNIZE (ORDER BY at MEASURES 1 AS x PATTERN (A))"""
    with pytest.raises(MatchRecognizeError) as caught:
        matchrec.query(spark, query).why(row=unknown_row)
    assert str(caught.value).endswith(f"help: write one of these, such as {row}")


def test_a_pattern_without_conditions_and_partitions_can_be_explained(spark: SparkSession) -> None:
    """The rows of such a query are collected without any column of a result."""
    query = "ORDER BY id MEASURES 1 AS x PATTERN (A B)"
    answer = str(matchrec.query(spark.range(3), query).why(row=0))
    assert answer.startswith("PATTERN (A B)\nthe only partition: 3 rows\n")
    assert "row 1 (id = 0): match 1, rows 1 to 2: A B" in answer


def test_a_clause_without_an_alias_is_listed_without_one(spark: SparkSession) -> None:
    query = "SELECT * FROM (SELECT 1 AS x) MATCH_RECOGNIZE (ORDER BY x PATTERN (A))"
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        matchrec.query(spark, query).why(clause=3)
    assert "        1: (SELECT 1 AS x)\n" in str(caught.value)


def test_there_is_no_clause_before_the_first(spark: SparkSession) -> None:
    query = matchrec.query(
        spark, "SELECT * FROM range(1) MATCH_RECOGNIZE (ORDER BY id PATTERN (A))"
    )
    with query._parse(query.options) as parsed, pytest.raises(AssertionError):
        parsed.list_first_clauses(0)


def test_the_only_clause_needs_no_number(spark: SparkSession) -> None:
    query = matchrec.query(spark.range(1), "ORDER BY id PATTERN (A)")
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        query.why(clause=3)
    assert str(caught.value) == (
        "unknown clause 3 [unknown-clause]\n  help: leave `clause` out: the query has one clause"
    )


def test_a_value_of_another_type_has_an_example_of_the_partition(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("a", 1), ("b", 2)], "k string, day int")
    rows = rows.selectExpr("k", "date_add(DATE'2026-01-01', day) AS day")
    for key, day in (("a", "2026-01-02"), ("b", "2026-01-03")):
        with pytest.raises(matchrec.MatchRecognizePlanError, match=f"one row has `day` = {day}"):
            matchrec.query(rows, "PARTITION BY k ORDER BY day PATTERN (A)").why(
                partition={"k": key}, row="noon"
            )


def test_both_zeros_are_one_partition(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(0.0, 1), (-0.0, 2)], "k double, n int")
    answer = matchrec.query(rows, "PARTITION BY k ORDER BY n PATTERN (A B)").why()
    assert "match 1: rows 1 to 2: A B" in str(answer)


def test_one_of_several_clauses_can_be_explained(spark: SparkSession) -> None:
    inner = "(SELECT * FROM why_ticks WHERE ticker = :one)"
    clause = "MATCH_RECOGNIZE (ORDER BY day MEASURES {} PATTERN (A+) DEFINE A AS {})"
    first = clause.format("FIRST(A.day) AS day, max(price) AS top", "price > 35")
    second = clause.format("A.day AS d", "top > :least")
    query = f"SELECT * FROM {inner} {first} AS x {second} AS y"
    args = {"one": "AAPL", "least": 38}
    with pytest.raises(matchrec.MatchRecognizePlanError, match="has 2 MATCH_RECOGNIZE clauses"):
        matchrec.query(spark, query, args).why()
    answer = matchrec.query(spark, query, args).why(clause="y")
    (failed,) = answer.toPandas().query("outcome == 'failed'")["condition"].unique()
    assert failed == "top > :least: 37 > 38 is false"
    assert answer._story.results == ("match 1: rows 2 to 3: A{2}",)
    assert matchrec.query(spark, query, args).why(clause=1)._story.heading[0] == "PATTERN (A+)"


def test_every_kind_of_reference_has_its_value(spark: SparkSession) -> None:
    clause = """
        PARTITION BY ticker ORDER BY day PATTERN (A B C) SUBSET U = (A, B)
        DEFINE A AS price > avg(price) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW),
            B AS count(U.*) = MATCH_NUMBER() + 1 AND CLASSIFIER() = 'B' AND ticker LIKE 'A%',
            C AS stddev(U.price) < 0 OR day > FIRST(U.day, 5)
    """
    partition = {"ticker": "AAPL"}
    df = spark.table("why_ticks")
    answer = matchrec.query(df, clause).why(partition=partition, row=date(2024, 1, 4))
    unknown = (
        "stddev(U.price) < 0 OR day > FIRST(U.day, 5): NULL, so not true (stddev(U.price)"
        " = 2.1213203435596424, day = 2024-01-06, FIRST(U.day, 5) finds no row)"
    )
    lines = answer._story.attempts[0].lines
    assert [line.conditions for line in lines] == [
        ("price > avg(price) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW): 39 > 37.0 is true",),
        (
            "count(U.*) = MATCH_NUMBER() + 1: 2 = 2 is true (MATCH_NUMBER() = 1)",
            "CLASSIFIER() = 'B': 'B' = 'B' is true",
            "ticker LIKE 'A%': true (ticker = 'AAPL')",
        ),
        (unknown,),
    ]


def test_conditions_are_shown_in_the_users_dialect(spark: SparkSession) -> None:
    query = V_SHAPE.replace("price > FIRST(price) * 1.1", "zeroifnull(price) > 45")
    partition = {"ticker": "AAPL"}
    answer = matchrec.query(spark, query, dialect="snowflake").why(
        partition=partition, row="2024-01-02"
    )
    condition = answer._story.attempts[0].lines[-1].conditions
    assert condition == ("zeroifnull(price) > 45: 39 > 45 is false (price = 39)",)


def test_sase_skips_rows(spark: SparkSession) -> None:
    text = """
        PATTERN SEQ(AAPL+ a[], AAPL b)
        WHERE skip_till_next_match(a[], b) {
            a[i].price > avg(a[..i-1].price) AND b.price > 2 * a[1].price }
        WITHIN 4 EVENTS RETURN a[1].day AS day
    """
    df = spark.table("why_ticks").where("ticker = 'AAPL'")
    answer = matchrec.query(df, text, order_by="day", type_column="ticker").why(row="2024-01-02")
    (attempt,) = answer._story.attempts
    assert [(line.row, line.variable, line.outcome.value) for line in attempt.lines] == [
        (2, "a[1]", "taken"),
        (3, "a[i]", "failed"),
        (3, "b", "failed"),
        (3, "", "skipped"),
        (4, "a[i]", "taken"),
        (5, "a[i]", "failed"),
        (5, "b", "failed"),
        (5, "", "skipped"),
        (6, "a[i]", "no row left"),
        (6, "b", "no row left"),
        (4, "b", "failed"),
    ]
    assert attempt.lines[1].conditions[-1] == (
        "`a[i]`.`price` > avg(`a`.`price` so far): 35 > 36.0 is false"
    )
    assert attempt.lines[5].conditions[-1] == (
        "`a[i]`.`price` > avg(`a`.`price` so far): 36 > 37.5 is false"
    )
    assert attempt.ends == (
        "got as far as rows 2 to 4: a[1] a[i]",
        "then it needed a row for a[i] or b, but row 6 (day = 2024-01-06) is outside the window",
    )


def test_attempts_of_a_pattern_are_explained(spark: SparkSession) -> None:
    pattern = (
        matchrec.Pattern.begin("high")
        .where("price > 38")
        .not_followed_by("low")
        .where(col("price") < 31)
        .followed_by("higher")
        .where("price > high.price")
    )
    partition = {"ticker": "AAPL"}
    df = spark.table("why_ticks")
    answer = matchrec.query(df, pattern, order_by="day", partition_by="ticker").why(
        partition=partition, row="2024-01-04"
    )
    (attempt,) = answer._story.attempts
    assert [(line.row, line.variable, line.outcome.value) for line in attempt.lines][-2:] == [
        (6, "low where", "may not be skipped"),
        (6, "higher", "failed"),
    ]
    assert attempt.lines[-1].conditions == (
        "price > LAST(`high`.price): 30 > 39 is false (LAST(`high`.price) from row 4)",
    )
    assert attempt.ends[-1] == "row 6 (day = 2024-01-06) ended it, because it satisfies low where"


def test_a_search_that_its_rows_end(spark: SparkSession) -> None:
    clause = """
        PARTITION BY ticker ORDER BY day AFTER MATCH SKIP TO LAST A PATTERN (A+ B)
        DEFINE A AS price = 35
    """
    partition = {"ticker": "AAPL"}
    with pytest.raises(matchrec.MatchRecognizeRunError) as caught:
        matchrec.query(spark.table("why_ticks"), clause).why(partition=partition)
    assert (caught.value.partition, caught.value.row_number) == (partition, 3)


def test_rows_that_are_left_out_before_the_search(spark: SparkSession) -> None:
    clause = "ORDER BY day PATTERN (A) DEFINE A AS price > 100"
    df = spark.table("why_ticks").where("ticker = 'GOOG'")
    answer = matchrec.query(df, clause).why(row=date(2024, 1, 1))
    assert answer._story.attempts[0].ends == (
        "this row is left out before the search: only loops could take it",
        "no row could be mapped",
        "row 1 (day = 2024-01-01) had to be A",
    )


def test_values_name_a_partition_of_any_type(spark: SparkSession) -> None:
    values = [
        None,
        True,
        3,
        np.int64(4),
        2.5,
        np.float64(-1.5),
        np.float32(0.5),
        float("nan"),
        Decimal("1.50"),
        Decimal("NaN"),
        pd.NA,
        pd.NaT,
        "it's \\ a 'text'",
        date(2024, 2, 29),
        datetime(2024, 2, 29, 12, 30, 15, 250),
        datetime(2024, 2, 29, 12, tzinfo=timezone(timedelta(hours=2))),
        np.datetime64("2024-02-29T12:30:15.000250999"),
        pd.Timestamp("2024-02-29 12:30:15.000250999"),
        timedelta(days=-1, seconds=3, microseconds=5),
        np.timedelta64(1_500_000_999, "ns"),
    ]
    literals = [write_literal(to_python_value(value), "partition") for value in values]
    texts = [f"CAST({literal} AS STRING)" for literal in literals]
    assert list(spark.sql(f"SELECT {', '.join(texts)}").first() or ()) == [
        None,
        "true",
        "3",
        "4",
        "2.5",
        "-1.5",
        "0.5",
        "NaN",
        "1.50",
        "NaN",
        None,
        None,
        "it's \\ a 'text'",
        "2024-02-29",
        "2024-02-29 12:30:15.00025",
        "2024-02-29 10:00:00",
        "2024-02-29 12:30:15.00025",
        "2024-02-29 12:30:15.00025",
        "INTERVAL '-0 23:59:56.999995' DAY TO SECOND",
        "INTERVAL '0 00:00:01.5' DAY TO SECOND",
    ]


def test_a_value_of_pandas_names_its_row_and_its_partition(spark: SparkSession) -> None:
    """`Series.iloc` returns a `numpy.float64`, which is a `float` with another `repr`."""
    frame = pd.DataFrame({"load": [0.5, 0.5, 2.5], "at": [1.5, 2.5, 3.5]})
    query = matchrec.query(
        spark.createDataFrame(frame),
        "PARTITION BY load ORDER BY at PATTERN (A B) DEFINE B AS at > 9",
    )
    partition = {"load": frame["load"].iloc[0]}
    answer = query.why(partition=partition, row=frame["at"].iloc[1])
    assert "row 2 (at = 2.5)" in str(answer)
    assert str(answer) == str(query.why(partition={"load": 0.5}, row=2.5))
    with pytest.raises(matchrec.MatchRecognizeError, match=r"`at` = 3\.5"):
        query.why(partition=partition, row=frame["at"].iloc[2])


def test_an_instant_of_pandas_names_its_row(spark: SparkSession) -> None:
    """`Series.iloc` returns a Timestamp, and the array of the Series a `datetime64[ns]`."""
    frame = pd.DataFrame({"at": pd.to_datetime(["2026-03-05 09:00", "2026-03-05 10:00"])})
    query = matchrec.query(frame, "ORDER BY at PATTERN (A B) DEFINE B AS at > PREV(at)")
    for instant in (frame["at"].iloc[1], frame["at"].to_numpy()[1]):
        assert "row 2 (at = 2026-03-05 10:00:00)" in str(query.why(row=instant))


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_a_collected_instant_names_its_row(spark: SparkSession, zone: str) -> None:
    """PySpark collects it in the zone of the program, which can differ from that of the session."""
    with settings(spark, session__timeZone=zone):
        ts = "timestamp_seconds(1772700000 + 3600 * id)"
        rows = spark.range(24).selectExpr("id", f"{ts} AS ts", f"{ts} AS key")
        (chosen,) = rows.where("id = 12").collect()
        query = matchrec.query(
            rows, "PARTITION BY key ORDER BY ts MEASURES A.id AS i PATTERN (A) DEFINE A AS id = 12"
        )
        for instant in (chosen.ts, chosen.ts.astimezone(timezone(timedelta(hours=3)))):
            assert "match 1, row 1: A" in str(query.why(partition={"key": instant}, row=instant))


def test_a_large_partition_is_refused(spark: SparkSession) -> None:
    frame = spark.range(5).selectExpr("id AS __bits0")
    assert collect_table(frame, 5).num_rows == 5
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="more than 4 rows"):
        collect_table(frame, 4)


def test_a_stream_is_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="`why` is not supported"):
        matchrec.query(stream, "ORDER BY timestamp PATTERN (A) DEFINE A AS value > 1").why()


@pytest.mark.parametrize(
    ("arguments", "message", "example"),
    [
        (
            {"row": "each"},
            "`row` has 'each' for column `day` of type date",
            "one row has `day` = 2024",
        ),
        ({"row": 3}, "`row` has 3 for column `day` of type date", "one row has `day` = 2024"),
        (
            {"partition": {"price": "low"}},
            "`partition` has 'low' for column `price` of type int",
            "one partition has `price` = ",
        ),
        (
            {"partition": {"price": True}},
            "`partition` has True for column `price` of type int",
            "one partition has `price` = ",
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_rejected(
    spark: SparkSession, arguments: dict[str, Any], message: str, example: str
) -> None:
    key = "price" if "partition" in arguments else "ticker"
    rises = f"PARTITION BY {key} ORDER BY day PATTERN (A UP) DEFINE UP AS price > PREV(price)"
    rows = spark.table("why_ticks").where("ticker = 'AAPL'")
    with pytest.raises(MatchRecognizeError) as caught:
        matchrec.query(rows, rises).why(**arguments)
    message_line, note, _ = str(caught.value).split("\n")
    assert message_line == f"{message} [value-of-wrong-type]"
    assert note.startswith(f"  note: for example, {example}")


@pytest.mark.parametrize("value", [True, "true", " T ", 1])
def test_a_boolean_key_is_named_by_a_boolean_or_a_text(spark: SparkSession, value: object) -> None:
    """The command line passes texts, and Sail does not compare them with booleans."""
    rows = spark.sql("VALUES (true, 1), (false, 2) AS t(k, day)")
    ups = "PARTITION BY k ORDER BY day PATTERN (A) DEFINE A AS day > 0"
    answer = matchrec.query(rows, ups).why(partition={"k": value})
    assert "partition k = TRUE: 1 row" in str(answer)
    with pytest.raises(MatchRecognizeError, match="has 'x' for column `k` of type boolean"):
        matchrec.query(rows, ups).why(partition={"k": "x"})


def test_a_nested_key_is_named_by_its_text(spark: SparkSession) -> None:
    for value, text in (("array(1, 2)", "[1, 2]"), ("named_struct('a', 1)", "{1}")):
        rows = spark.sql(f"VALUES ({value}, 1), ({value}, 2) AS t(k, day)")
        ups = "PARTITION BY k ORDER BY day PATTERN (A+) DEFINE A AS day > 0"
        assert "2 rows" in str(matchrec.query(rows, ups).why(partition={"k": text}))
        with pytest.raises(MatchRecognizeError, match="write the value as a string"):
            matchrec.query(rows, ups).why(partition={"k": [1, 2]})
        with pytest.raises(MatchRecognizeError, match="write the value as a string"):
            matchrec.query(rows, ups).why(partition={"k": expr(value)})
        ordered_by_value = "ORDER BY k, day PATTERN (A+) DEFINE A AS day > 0"
        assert "row 1" in str(matchrec.query(rows, ordered_by_value).why(row=(text, 1)))


@pytest.mark.parametrize(
    ("first", "first_text", "second", "second_text"),
    [
        ("array('a, b')", "['a, b']", "array('a', 'b')", "['a', 'b']"),
        ("array('a\\', \\'b')", "['a'', ''b']", "array('a', 'b')", "['a', 'b']"),
        ("array('')", "['']", "array()", "[]"),
        ("struct('1', 'null')", "{'1', 'null'}", "struct('1', 'NULL')", "{'1', 'NULL'}"),
        ("array(array('x'), array())", "[['x'], []]", "array(array('x], ['))", "[['x], [']]"),
    ],
)
def test_different_nested_keys_have_different_texts(
    spark: SparkSession, first: str, first_text: str, second: str, second_text: str
) -> None:
    """In both partitions, the only row has no row before it, so PREV(day) is NULL."""
    rows = spark.sql(f"VALUES (2, {first}), (1, {second}) AS t(day, k)")
    clause = "PARTITION BY k ORDER BY day PATTERN (A) DEFINE A AS PREV(day) IS NULL"
    query = matchrec.query(rows, clause)
    for text in (first_text, second_text):
        assert ": 1 row\nmatch 1" in str(query.why(partition={"k": text}))
    with pytest.raises(MatchRecognizeError) as caught:
        query.why()
    for text in (first_text, second_text):
        assert f" k = {text}\n" in str(caught.value)


def test_null_in_a_nested_key_differs_from_a_string(spark: SparkSession) -> None:
    rows = spark.sql("VALUES (2, array('null')), (1, array(CAST(NULL AS STRING))) AS t(day, k)")
    clause = "PARTITION BY k ORDER BY day PATTERN (A) DEFINE A AS PREV(day) IS NULL"
    query = matchrec.query(rows, clause)
    ((null_text,),) = spark.sql("SELECT CAST(array(NULL) AS STRING)").collect()
    assert null_text in ("[null]", "[NULL]")  # on Spark, on Sail
    for text in ("['null']", null_text):
        assert ": 1 row\nmatch 1" in str(query.why(partition={"k": text}))


def test_equal_numbers_in_nested_keys_have_the_same_text(spark: SparkSession) -> None:
    rows = spark.sql("VALUES (1, array(0.0D)), (2, array(-0.0D)) AS t(day, k)")
    clause = "PARTITION BY k ORDER BY day PATTERN (A+) DEFINE A AS day > 0"
    assert ": 2 rows\n" in str(matchrec.query(rows, clause).why(partition={"k": "[0.0]"}))


def test_the_hint_names_a_partition_with_a_number(spark: SparkSession) -> None:
    rows = spark.sql("VALUES (34, 'b', 1), (7, 'a', 1) AS t(k, s, day)")
    ups = "PARTITION BY k, s ORDER BY day PATTERN (A) DEFINE A AS day > 0"
    with pytest.raises(MatchRecognizeError, match=r'partition={"k": 7, "s": "a"}'):
        matchrec.query(rows, ups).why()
    with pytest.raises(MatchRecognizeError, match=r'partition={"k": 7, "s": "a"}'):
        matchrec.query(rows, ups).why(partition={"k": 8, "s": "a"})
    assert len(matchrec.query(rows, ups).why(partition={"k": 7, "s": "a"})._story.results) == 1


def test_the_hint_names_a_partition_with_null(spark: SparkSession) -> None:
    rows = spark.sql("VALUES (CAST(NULL AS STRING), 1), ('x', 1) AS t(k, day)")
    ups = "PARTITION BY k ORDER BY day PATTERN (A) DEFINE A AS day > 0"
    with pytest.raises(MatchRecognizeError, match=r'partition={"k": None}'):
        matchrec.query(rows, ups).why()
    assert len(matchrec.query(rows, ups).why(partition={"k": None})._story.results) == 1
    texts = spark.sql("VALUES ('NULL', 1), ('x', 1) AS t(k, day)")
    with pytest.raises(MatchRecognizeError, match=r'partition={"k": "NULL"}'):
        matchrec.query(texts, ups).why()


@pytest.mark.parametrize(
    ("value", "shown", "names"),
    [
        ("{}", "X'00FF'", ["X'00FF'", b"\x00\xff"]),
        ("array({})", "[X'00FF']", ["[X'00FF']"]),
        ("map('k', {})", "{'k' -> X'00FF'}", []),  # a map cannot be a key
    ],
)
def test_bytes_are_shown_as_sql_writes_them(
    spark: SparkSession, value: str, shown: str, names: list[str | bytes]
) -> None:
    """Bytes that are not UTF-8 cannot be texts on Sail, and all look the same on Spark."""
    first = value.format("X'00FF'")
    second = value.format("X'00FE'")
    rows = spark.range(1, 3).selectExpr("id", f"IF(id = 1, {first}, {second}) AS v")
    query = matchrec.query(rows, "ORDER BY id PATTERN (A B) DEFINE B AS A.v IS NOT NULL")
    assert f"A.v IS NOT NULL: true (A.v = {shown} from row 1)" in str(query.why(row=1))
    clause = "PARTITION BY v ORDER BY id PATTERN (A) DEFINE A AS id > 0"
    for name in names:
        assert ": 1 row\nmatch 1" in str(matchrec.query(rows, clause).why(partition={"v": name}))


def test_a_query_without_partition_by_has_no_partition_to_name(spark: SparkSession) -> None:
    query = matchrec.query(spark.range(3), "ORDER BY id MEASURES 1 AS n PATTERN (A)")
    with pytest.raises(matchrec.MatchRecognizeError) as refused:
        query.why(partition={"id": 1})
    assert str(refused.value) == (
        "unknown column `id` in `partition` [unknown-partition-column]\n"
        "  note: the query has no PARTITION BY, so all rows are one partition\n"
        "  help: leave partition out, or add PARTITION BY id"
    )


@pytest.mark.parametrize(
    ("key", "written", "shown"),
    [
        ("INTERVAL '1' YEAR", "INTERVAL '1' YEAR", "INTERVAL '1' YEAR"),
        ("INTERVAL '1' DAY", "INTERVAL '1' DAY", "INTERVAL '1' DAY"),
        ("INTERVAL '1' DAY", timedelta(days=1), "INTERVAL '1 00:00:00' DAY TO SECOND"),
        ("DOUBLE('NaN')", "NaN", "DOUBLE('nan')"),
        ("7L", "7", "7"),
        ("DATE'2024-01-02'", "2024-01-02", "DATE'2024-01-02'"),
    ],
)
def test_the_partition_is_shown_as_sql(
    key: str, written: object, shown: str, spark: SparkSession
) -> None:
    """The value may be its text, as messages show it: no engine compares all types with strings."""
    rows = spark.sql(f"SELECT {key} AS k, id FROM range(2)")
    clause = "PARTITION BY k ORDER BY id MEASURES 1 AS x PATTERN (A) DEFINE A AS id > 0"
    explained = matchrec.query(rows, clause).why(partition={"k": written})
    assert f"partition k = {shown}: 2 rows" in str(explained)


def test_a_text_that_is_not_an_interval(spark: SparkSession) -> None:
    rows = spark.sql("SELECT INTERVAL '1' YEAR AS k, id FROM range(2)")
    clause = "PARTITION BY k ORDER BY id MEASURES 1 AS x PATTERN (A) DEFINE A AS id > 0"
    with pytest.raises(MatchRecognizeError, match="value-of-wrong-type"):
        matchrec.query(rows, clause).why(partition={"k": "1-0"})
