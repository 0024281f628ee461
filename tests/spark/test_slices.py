"""Partitions cut into slices: the rows are those of the same query over whole partitions."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

import matchrec
import matchrec.compile.overlap as reach
from matchrec.compile.executable import Executable
from matchrec.spark import execute
from matchrec.spark.before import slices
from matchrec.spark.transport import map_partitions
from matchrec.spark.worker.match import Worker
from tests.properties.test_queries import INTERPRETED, settings
from tests.tasks.query_batches import fetched

pytestmark = pytest.mark.one_of(4)

ROWS = 300
SCHEMA = "k string, t int, s int, v int, x double"
NEXT_ROW = "AFTER MATCH SKIP TO NEXT ROW"
LAST_WINDOW = "the rows of its last window behind it"


@pytest.fixture(autouse=True)
def many_cuts(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> Iterator[None]:
    """Every row is asked where to cut, so that a few hundred rows are."""
    monkeypatch.setattr(slices, "A_SAMPLED_ROW", 1)
    monkeypatch.setattr(slices, "SAFETY", 8)
    with settings(spark, **INTERPRETED):
        yield


def ticks_of(spark: SparkSession, count: int) -> DataFrame:
    """Rows of four partitions, one of them few; NULL among keys and times, times that are equal."""
    chance = random.Random(5)
    rows = [
        (
            chance.choice(["a", "a", "b", None]) if number > 8 else "few",
            None if chance.random() < 0.05 else chance.randrange(count if number > 8 else 20),
            chance.randrange(3),
            chance.randrange(10),
            chance.choice([0.5, 1.5, None, float("nan")]),
        )
        for number in range(count)
    ]
    return spark.createDataFrame(rows, SCHEMA).repartition(3)


@pytest.fixture(scope="module")
def ticks(spark: SparkSession) -> DataFrame:
    return ticks_of(spark, ROWS)


@pytest.fixture(scope="module")
def more_ticks(spark: SparkSession) -> DataFrame:
    return ticks_of(spark, 3 * ROWS)


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
    "constants": f"""ORDER BY t, s, v, x, k MEASURES 'hit' AS tag
        {NEXT_ROW} PATTERN (A B) DEFINE A AS v < 4, B AS v > 3""",
}


@pytest.mark.parametrize("name", CLAUSES)
def test_slices_give_the_same_rows(ticks: DataFrame, name: str) -> None:
    clause = CLAUSES[name]
    whole, cut = matchrec.Counters(), matchrec.Counters()
    expected = matchrec.match_recognize(ticks, clause, counters=whole)
    found = matchrec.match_recognize(ticks, clause, slices=4, counters=cut)
    assert found.schema == expected.schema
    assert rows_of(found) == rows_of(expected) != Counter()
    assert cut.values()["partitions"] > whole.values()["partitions"]


LEAPING = {
    "past the last row": """PARTITION BY k ORDER BY t, s, v, x
        MEASURES FIRST(t) AS a, LAST(v) AS b, count(*) AS n AFTER MATCH SKIP PAST LAST ROW
        PATTERN (A B{0,3} C) DEFINE A AS v > 2, B AS v > 4, C AS v < 5""",
    "all rows, and rows beside a match": """PARTITION BY k ORDER BY t DESC NULLS FIRST, s, v, x
        MEASURES PREV(A.v, 2) AS b, NEXT(LAST(v), 2) AS c, CLASSIFIER() AS d ALL ROWS PER MATCH
        PATTERN (A B C?) DEFINE B AS v > PREV(v), C AS v < PREV(v) AND sum(v) > 12""",
    "to a variable": """ORDER BY t, s, v, x, k
        MEASURES FIRST(t) AS a, LAST(v) AS b, count(*) AS n AFTER MATCH SKIP TO LAST B
        PATTERN (A A? B{1,2} C?) DEFINE A AS v > 2, B AS v > 1, C AS v < 5""",
    "a window": """ORDER BY t NULLS LAST, s, v, x, k MEASURES sum(v) AS n, CLASSIFIER() AS c
        ALL ROWS PER MATCH PATTERN (A B+ C) WITHIN 6 DEFINE A AS v > 4, B AS v <> 5, C AS x > 1""",
    "windows of keys": """PARTITION BY k ORDER BY t, s, v, x MEASURES A.t AS a, sum(v) AS n
        AFTER MATCH SKIP TO FIRST B PATTERN (A+ B C*) WITHIN 8
        DEFINE A AS v > 3, B AS v > FIRST(v), C AS v <> 5""",
    "a window of conditions": """PARTITION BY k ORDER BY t, s, v, x MEASURES A.t AS a, sum(v) AS n
        AFTER MATCH SKIP TO FIRST B PATTERN (A+ B C*)
        DEFINE A AS v > 3 AND t - FIRST(t) < 8, B AS v > FIRST(v) AND t - FIRST(t) < 8,
        C AS v <> 5 AND t - FIRST(t) < 8 /* not WITHIN */""",
    "a window, and one between rows": """ORDER BY t NULLS LAST, s, v, x, k MEASURES sum(v) AS n
        ALL ROWS PER MATCH PATTERN (A B+ C) WITHIN 6, 3 BETWEEN ROWS
        DEFINE A AS v > 4, B AS v <> 5, C AS x > 1""",
    "windows and a row before": """PARTITION BY k ORDER BY t, s, v, x MEASURES A.t AS a, C.t AS n
        PATTERN (A B+ C) WITHIN 8 DEFINE A AS v > 6, B AS v < PREV(v), C AS v < 2""",
    "rows of its own": """PARTITION BY k ORDER BY t, s, v, x MEASURES A.t AS a, C.v AS c
        PATTERN (A B C) DEFINE A AS v = 4, B AS v > 3, C AS v IN (6, 7, 8)""",
    "rows of its own, and a row before": """PARTITION BY k ORDER BY t, s, v, x
        MEASURES A.t AS a, C.v AS c PATTERN (A B C)
        DEFINE A AS v IN (4, 5, 6), B AS v > PREV(v) AND s = 1, C AS v < PREV(v) AND s < 3""",
}


@pytest.mark.parametrize("name", LEAPING)
def test_slices_give_the_same_rows_where_these_depend_on_matches_before(
    more_ticks: DataFrame, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clause = LEAPING[name]
    if "WITHIN" not in clause:
        monkeypatch.setattr(reach, "LEAPS", 2)
    whole, cut = matchrec.Counters(), matchrec.Counters()
    expected = matchrec.match_recognize(more_ticks, clause, counters=whole)
    found = matchrec.match_recognize(more_ticks, clause, slices=4, counters=cut)
    assert rows_of(found) == rows_of(expected) != Counter()
    assert cut.values()["partitions"] > whole.values()["partitions"]


@pytest.mark.parametrize("name", LEAPING)
def test_slices_come_to_the_engine_in_pieces(
    more_ticks: DataFrame, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clause = LEAPING[name]
    crossing: list[tuple[DataFrame, Executable]] = []

    def kept(rows: DataFrame, worker: Worker, *others: Any) -> DataFrame:
        crossing.append((rows, worker.executable))
        return map_partitions(rows, worker, *others)

    monkeypatch.setattr(execute, "map_partitions", kept)
    if "WITHIN" not in clause:
        monkeypatch.setattr(reach, "LEAPS", 2)
    matchrec.match_recognize(more_ticks, clause, slices=4)
    rows, executable = crossing[-1]
    table = fetched(rows).combine_chunks()

    def found(rows_a_call: int) -> list[str]:
        batches = table.to_batches(max_chunksize=rows_a_call)
        worker = Worker(executable, rows_a_call=rows_a_call)
        return [str(row) for batch in worker.run(batches) for row in batch.to_pylist()]

    whole = found(1 << 17)
    assert whole
    for rows_a_call in (1, 5, 40):
        assert found(rows_a_call) == whole


@pytest.mark.parametrize("bound", ["", "WITHIN 7"])
def test_a_slice_that_cannot_know_where_matches_begin_ends_the_query(
    spark: SparkSession, bound: str
) -> None:
    """Every row is an A: where a match begins is told by the first row of all only."""
    frame = spark.createDataFrame([("x", t) for t in range(1000)], "k string, t int")
    clause = f"""PARTITION BY k ORDER BY t MEASURES A.t AS a
        PATTERN (A{{5}}) {bound} DEFINE A AS t >= 0"""
    with pytest.raises(PythonException, match="cannot know which of its rows") as raised:
        matchrec.match_recognize(frame, clause, slices=2).collect()
    assert "`k` = 'x'" in str(raised.value)
    assert "run the query without slices" in str(raised.value)


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


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (
            LEAPING["past the last row"],
            "each borrows 4 rows behind it, and 40 rows before it, or more",
        ),
        (
            LEAPING["rows of its own, and a row before"],
            "each borrows 2 rows behind it, and 26 rows before it, or more",
        ),
        (
            LEAPING["windows and a row before"],
            f"each borrows {LAST_WINDOW}, and the rows of 8 windows and 1 row before it, or more",
        ),
    ],
)
def test_explain_says_what_tells_where_matches_begin(
    ticks: DataFrame, clause: str, expected: str
) -> None:
    assert slices_line(ticks, clause)[1:] == [
        expected,
        "which of its rows begin a match depends on matches before; mostly those among the",
        "borrowed rows tell, and where they do not, the query ends with an error that says so",
    ]


@pytest.mark.parametrize("count", [0, 1.5, 1000])
def test_what_is_no_number_of_slices_is_refused(ticks: DataFrame, count: int) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="a whole number from 1 to 12"):
        matchrec.match_recognize(ticks, CLAUSES["a window"], slices=count)


@pytest.mark.slow
def test_tasks_that_are_tried_again_give_the_same_rows() -> None:
    """Spark tries tasks again only where a session is made for it."""
    command = [sys.executable, "-m", "tests.spark.retried_tasks"]
    subprocess.run(command, check=True, timeout=300)
