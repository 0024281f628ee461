"""Warnings as a program meets them: once for each query, at its own line, in its language's words.

Which are given is in `tests/unit/plan/remarks.txt`.
"""

from __future__ import annotations

import warnings

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import Pattern

NO_ORDER = "ALL ROWS PER MATCH PATTERN (A B) DEFINE B AS price > PREV(price)"


@pytest.fixture(scope="module")
def prices(spark: SparkSession) -> DataFrame:
    rows = [("p", 1, 10, "2024-01-01"), ("p", 2, 8, "2024-01-02"), ("p", 3, 9, "2024-01-04")]
    frame = spark.createDataFrame(rows, "kind string, ts int, price int, day string")
    return frame.selectExpr("kind", "ts", "price", "to_date(day) AS day")


def test_a_query_warns_once_at_the_line_that_calls(spark: SparkSession, prices: DataFrame) -> None:
    query = """SELECT * FROM {p} MATCH_RECOGNIZE (ALL ROWS PER MATCH PATTERN (A B)
      DEFINE B AS day - PREV(day) < 2)"""
    with pytest.warns(matchrec.warnings.NoOrderWarning) as found:
        matchrec.sql(spark, query, dialect="oracle", p=prices)  # asks for types, so it reads twice
    assert [one.filename for one in found] == [__file__]
    with pytest.warns(matchrec.warnings.NoOrderWarning, match="line 1, column 29") as found:
        matchrec.match_recognize(prices, NO_ORDER)
    assert [one.filename for one in found] == [__file__]


def test_explain_prints_them_instead(spark: SparkSession, prices: DataFrame) -> None:
    query = f"SELECT * FROM {{p}} MATCH_RECOGNIZE ({NO_ORDER})"
    *_, section = str(matchrec.query(spark, query, p=prices).explain()).partition("\nwarnings\n")
    assert section.startswith("  MATCH_RECOGNIZE without ORDER BY\n    line 1, column 64\n")
    assert "warnings" not in str(
        matchrec.query(spark, query.replace("ALL", "ORDER BY ts ALL"), p=prices).explain()
    )


def test_sase_text_has_its_own_words(prices: DataFrame) -> None:
    text = "PATTERN SEQ(p a, p b) WHERE skip_till_any_match { b.ts > 1 AND b.price = b.price }"
    with pytest.warns(
        matchrec.warnings.SameValueWarning, match="comparison in WHERE has the same"
    ) as found:
        matchrec.match_sase(prices, text, order_by="ts", type_column="kind")
    assert "b.price = b.price }\n" in str(found[0].message)
    assert "write a[i-1].x for the event before" in str(found[0].message)
    explained = matchrec.query(prices, text, order_by="ts", type_column="kind").explain()
    assert "\nwarnings\n  a comparison in WHERE has the same value" in str(explained)


def test_a_pattern_has_its_own_words(prices: DataFrame) -> None:
    pattern = Pattern.begin("a").where("price > 8").next("b").where("price <> NULL")
    with pytest.warns(
        matchrec.warnings.NeverTrueWarning, match="`<>` with NULL in a condition"
    ) as found:
        matchrec.match_pattern(prices, pattern, order_by="ts")
    assert str(found[0].message).endswith("write x IS NOT NULL")
    explained = matchrec.query(prices, pattern, order_by="ts").explain()
    assert "\nwarnings\n  `<>` with NULL in a condition" in str(explained)


def begin(name: str, condition: str) -> Pattern:
    return Pattern.begin(name).where(condition)


@pytest.mark.parametrize(
    ("pattern", "read", "note"),
    [
        (begin("a", "price > b.price").next("b"), "b.price", "a row is tested for a"),
        (begin("a", "price > last(b.price)").next("b"), "b.price", "a row is tested for a"),
        (begin("a", "a.price > 5").next("b"), "a.price", "its first is tested"),
        (begin("a", "a.price > 5").one_or_more().next("b"), "a.price", "its first is tested"),
        (
            begin("a", "TRUE").not_followed_by("n").where("price > c.price").followed_by("c"),
            "c.price",
            "a row is tested for n",
        ),
        (
            Pattern.begin(begin("c", "price > d.price").next("d")).times(2),
            "d.price",
            "a row is tested for c",
        ),
        (
            begin("a", "TRUE").one_or_more().until("price > b.price").next("b"),
            "b.price",
            "a row is tested for a",
        ),
    ],
)
def test_a_stage_that_has_no_event_yet(
    prices: DataFrame, pattern: Pattern, read: str, note: str
) -> None:
    with pytest.warns(matchrec.warnings.NeverTrueWarning) as found:
        matchrec.match_pattern(prices, pattern, order_by="ts")
    (told,) = found
    assert f"a comparison with `{read}` in a condition is never true" in str(told.message)
    assert f"no row yet when {note}, so that {read} is NULL" in str(told.message)
    assert "NEXT" not in str(told.message)


@pytest.mark.parametrize(
    "pattern",
    [
        begin("a", "TRUE").next("b").where("price > a.price"),
        begin("a", "price > a.price OR count(a) = 0").one_or_more(),
        begin("a", "TRUE").one_or_more().until("price > a.price").next("b"),
        Pattern.begin(
            begin("a", "TRUE").not_followed_by("n").where("price > c.price").followed_by("c")
        ).times(2),
        begin("a", "count(b) = 0 AND price <=> b.price").next("b"),
    ],
)
def test_a_stage_that_may_have_events(prices: DataFrame, pattern: Pattern) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", matchrec.warnings.NeverTrueWarning)
        matchrec.match_pattern(prices, pattern, order_by="ts")
