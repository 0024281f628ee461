"""Workers use a dictionary for texts that repeat, and the results are the same."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.shortcuts import Shortcuts, use_shortcuts

ALWAYS = Shortcuts(min_repeats_of_text=1)
NEVER = Shortcuts(min_repeats_of_text=1 << 40)
ORDER = "PARTITION BY k ORDER BY ts"


@pytest.fixture
def steps(spark: SparkSession) -> DataFrame:
    """Return rows of two keys. The events of the first key are a, a, b, NULL, b, b."""
    return spark.sql(
        """VALUES (1, 1, 'a', 'x'), (1, 2, 'a', 'a'), (1, 3, 'b', 'b'), (1, 4, NULL, 'b'),
            (1, 5, 'b', NULL), (1, 6, 'b', 'b'), (2, 1, 'ab', 'ab'), (2, 2, 'abc', 'a'),
            (2, 3, 'ab', 'abc'), (2, 4, 'abcd', 'ab') AS steps(k, ts, event, place)"""
    )


def list_rows(steps: DataFrame, clause: str, shortcuts: Shortcuts) -> list[str]:
    """Return the rows of a clause as text, sorted."""
    with use_shortcuts(shortcuts):
        return sorted(map(str, matchrec.match_recognize(steps, f"{ORDER} {clause}").collect()))


def test_equal_neighbouring_texts_are_one_match(steps: DataFrame) -> None:
    clause = f"""{ORDER} MEASURES A.ts AS ts, A.event AS event, count(*) AS n
        PATTERN (A B*) DEFINE B AS event = PREV(event)"""
    with use_shortcuts(ALWAYS):
        rows = matchrec.match_recognize(steps.where("k = 1"), clause).collect()
    matches = sorted((row.ts, row.event, row.n) for row in rows)
    assert matches == [(1, "a", 2), (3, "b", 1), (4, None, 1), (5, "b", 2)]


def test_two_columns_are_compared(steps: DataFrame) -> None:
    """The two columns have different dictionaries."""
    clause = f"""{ORDER} MEASURES A.ts AS s, LAST(ts) AS e
        PATTERN (A B+) DEFINE B AS place = PREV(event)"""
    with use_shortcuts(ALWAYS):
        rows = matchrec.match_recognize(steps.where("k = 1"), clause).collect()
    assert sorted((row.s, row.e) for row in rows) == [(1, 2), (3, 4), (5, 6)]


@pytest.mark.parametrize(
    "clause",
    [
        "MEASURES A.ts AS s, LAST(B.event) AS e PATTERN (A B+) DEFINE B AS B.event > A.event",
        "MEASURES A.ts AS s, B.ts AS e PATTERN (A B) DEFINE B AS B.event LIKE A.event || '%'",
        """MEASURES max(event) AS m, min(place) AS l, collect_list(event) AS c, count(event) AS n,
            max_by(place, ts) AS x, MATCHED_ROWS() AS r
          PATTERN (A B*) DEFINE B AS coalesce(event <> PREV(event), TRUE)""",
        """MEASURES CLASSIFIER() AS c, FIRST(event) AS f, count(DISTINCT event) AS n
          ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A B+)
          DEFINE A AS event IS NOT NULL, B AS B.event = A.event""",
        """MEASURES LAST(event) AS e AFTER MATCH SKIP TO NEXT ROW PATTERN (A B{0,2})
          DEFINE B AS place IS NULL OR place <> PREV(place)""",
    ],
)
def test_the_result_is_the_same_without_dictionaries(steps: DataFrame, clause: str) -> None:
    rows = list_rows(steps, clause, ALWAYS)
    assert rows
    assert rows == list_rows(steps, clause, NEVER)


def test_a_column_of_nulls_stays_null(steps: DataFrame) -> None:
    nulls = steps.selectExpr("k", "ts", "CAST(NULL AS STRING) AS event")
    clause = f"""{ORDER} MEASURES A.event AS event, count(*) AS n
        PATTERN (A B*) DEFINE B AS event IS NULL AND PREV(event) IS NULL"""
    with use_shortcuts(ALWAYS):
        rows = matchrec.match_recognize(nulls, clause).collect()
    assert sorted((row.k, row.event, row.n) for row in rows) == [(1, None, 6), (2, None, 4)]
