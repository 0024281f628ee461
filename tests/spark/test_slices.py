"""Partitions cut into slices: the rows are those of the same query over whole partitions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.spark import slices
from tests.test_random_queries import INTERPRETED, settings

ROWS = 300
SCHEMA = "k string, t int, s int, v int, x double"
NEXT_ROW = "AFTER MATCH SKIP TO NEXT ROW"


@pytest.fixture(autouse=True)
def many_cuts(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> Iterator[None]:
    """Every row is asked where to cut, so that a few hundred rows are."""
    monkeypatch.setattr(slices, "A_SAMPLED_ROW", 1)
    monkeypatch.setattr(slices, "SAFETY", 8)
    with settings(spark, **INTERPRETED):
        yield


@pytest.fixture(scope="module")
def ticks(spark: SparkSession) -> DataFrame:
    """Rows of four partitions, one of them few; NULL among keys and times, times that are equal."""
    chance = random.Random(5)
    rows = [
        (
            chance.choice(["a", "a", "b", None]) if number > 8 else "few",
            None if chance.random() < 0.05 else chance.randrange(ROWS if number > 8 else 20),
            chance.randrange(3),
            chance.randrange(10),
            chance.choice([0.5, 1.5, None, float("nan")]),
        )
        for number in range(ROWS)
    ]
    return spark.createDataFrame(rows, SCHEMA).repartition(3)


def rows_of(frame: DataFrame) -> Counter[str]:
    return Counter(str(row) for row in frame.collect())


CLAUSES = {
    "a greatest length": f"""PARTITION BY k ORDER BY t, s, v, x
        MEASURES FIRST(t) AS a, LAST(v) AS b, count(*) AS n {NEXT_ROW}
        PATTERN (A B{{0,3}} C) DEFINE A AS v > 2, B AS v > 4, C AS v < 5""",
    "rows beside a match": f"""PARTITION BY k ORDER BY t DESC NULLS FIRST, s, v, x
        MEASURES t AS a, PREV(A.v, 2) AS b, NEXT(LAST(v), 2) AS c {NEXT_ROW}
        PATTERN (A B C?) DEFINE B AS v > PREV(v), C AS v < PREV(v) AND sum(v) > 12""",
    "a window": f"""ORDER BY t NULLS LAST, s, v, x, k MEASURES sum(v) AS n, CLASSIFIER() AS c
        ALL ROWS PER MATCH {NEXT_ROW} PATTERN (A B+ C) WITHIN 6
        DEFINE A AS v > 4, B AS v <> 5, C AS x > 1""",
    "rows of its own": f"""PARTITION BY k ORDER BY t, s, v, x MEASURES A.t AS a, C.v AS c
        {NEXT_ROW} PATTERN (A B C) DEFINE A AS v < 4, B AS v > 3, C AS v < 6""",
}


@pytest.mark.parametrize("clause", CLAUSES.values(), ids=CLAUSES)
def test_slices_give_the_same_rows(ticks: DataFrame, clause: str) -> None:
    whole, cut = matchrec.Counters(), matchrec.Counters()
    expected = matchrec.match_recognize(ticks, clause, counters=whole)
    found = matchrec.match_recognize(ticks, clause, slices=4, counters=cut)
    assert found.schema == expected.schema
    assert rows_of(found) == rows_of(expected) != Counter()
    assert cut.values()["partitions"] > whole.values()["partitions"]


def test_rows_that_are_equal_in_order_by_have_one_order_for_all_slices(ticks: DataFrame) -> None:
    clause = f"""PARTITION BY k ORDER BY t MEASURES FIRST(v) AS a, LAST(v) AS b, LAST(x) AS c
        {NEXT_ROW} PATTERN (A B{{1,2}}) DEFINE B AS v >= PREV(v)"""
    many = ticks.withColumn("t", ticks.t % 40)
    found = [
        rows_of(matchrec.match_recognize(many.repartition(parts), clause, slices=count))
        for parts, count in ((1, 5), (4, 3))
    ]
    by_all = clause.replace("ORDER BY t", "ORDER BY t, v, x")
    assert found == [rows_of(matchrec.match_recognize(many, by_all))] * 2


def test_few_rows_are_not_cut(spark: SparkSession) -> None:
    clause = f"ORDER BY t MEASURES A.t AS a {NEXT_ROW} PATTERN (A B) DEFINE B AS t > 1"
    for rows in ([], [(1,)], [(1,), (2,)], [(None,), (None,), (None,)]):
        frame = spark.createDataFrame(rows, "t int")
        expected = rows_of(matchrec.match_recognize(frame, clause))
        assert rows_of(matchrec.match_recognize(frame, clause, slices=3)) == expected


def slices_line(ticks: DataFrame, clause: str) -> list[str]:
    explained = matchrec.explain(
        ticks.sparkSession,
        f"SELECT * FROM {{ticks}} MATCH_RECOGNIZE ({clause})",
        slices=4,
        ticks=ticks,
    )
    (clause_,) = explained.clauses
    return [line for title, lines in clause_.sections() if title == "slices" for line in lines]


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (
            f"ORDER BY t MEASURES A.t AS a {NEXT_ROW} PATTERN (A B+) DEFINE B AS v > 1",
            "none: a match may have any number of rows, and there is no WITHIN",
        ),
        (
            "ORDER BY t MEASURES A.t AS a PATTERN (A B) DEFINE B AS v > 1",
            "none: which rows start a match depends on all matches before",
        ),
        (
            f"ORDER BY t MEASURES MATCH_NUMBER() AS a {NEXT_ROW} PATTERN (A B) DEFINE B AS v > 1",
            "none: MATCH_NUMBER() counts all matches before",
        ),
        (
            f"ORDER BY t MEASURES A.t AS a {NEXT_ROW} PATTERN (^ A B) DEFINE B AS v > 1",
            "none: ^ or $ ask where a partition begins or ends",
        ),
        (
            f"""ORDER BY t MEASURES NEXT(B.t) AS a {NEXT_ROW} PATTERN (A B+) WITHIN 5
            DEFINE B AS v > 1""",
            "none: NEXT looks behind the last row of a window",
        ),
        (
            "ORDER BY t MEASURES A.t AS a PATTERN (A B) SKIP TILL ANY MATCH DEFINE B AS v > 1",
            "none: event selection looks at each partition as a whole",
        ),
    ],
)
def test_explain_says_why_a_partition_stays_whole(
    ticks: DataFrame, clause: str, expected: str
) -> None:
    assert slices_line(ticks, clause) == [expected]


def test_explain_says_how_a_partition_is_cut(ticks: DataFrame) -> None:
    assert slices_line(ticks, CLAUSES["rows beside a match"]) == [
        "at most 4 of each partition, by `t`; sorted and searched in parallel",
        "each borrows 4 rows behind it, and 3 rows before it, or more",
    ]
    assert slices_line(ticks, CLAUSES["a window"])[1] == (
        "each borrows the rows of its last window behind it, and 0 rows before it, or more"
    )


@pytest.mark.parametrize("count", [0, 1.5, 1000])
def test_what_is_no_number_of_slices_is_refused(ticks: DataFrame, count: int) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="can be cut into 1 to"):
        matchrec.match_recognize(ticks, CLAUSES["a window"], slices=count)
