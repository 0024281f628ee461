"""Partitions cut into slices: the rows are those of the same query without slices."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.spark import slices

ROWS = 400


@pytest.fixture(autouse=True)
def small_samples(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every row is asked where to cut, so that a few hundred rows are."""
    monkeypatch.setattr(slices, "A_SAMPLED_ROW", 1)
    monkeypatch.setattr(slices, "SAFETY", 2)
    return


@pytest.fixture(scope="module")
def ticks(spark: SparkSession) -> DataFrame:
    """Rows of four partitions, one of them few, some equal in `t` and `s`, some NULL in `t`."""
    chance = random.Random(5)
    rows = [
        (
            chance.choice(["a", "a", "b", None]) if number > 10 else "few",
            None if chance.random() < 0.05 else chance.randrange(ROWS),
            chance.randrange(3),
            chance.randrange(10),
            chance.choice([0.5, 1.5, None, float("nan")]),
        )
        for number in range(ROWS)
    ]
    return spark.createDataFrame(rows, "k string, t int, s int, v int, x double").repartition(3)


def taken(frame: DataFrame) -> Counter[str]:
    return Counter(str(row) for row in frame.collect())


CLAUSES = {
    "one key": """PARTITION BY k ORDER BY t, s, v, x MEASURES FIRST(A.t) AS s, LAST(v) AS e,
        count(*) AS n AFTER MATCH SKIP TO NEXT ROW PATTERN (A B{0,3} C)
        DEFINE A AS v > 2, B AS v > 4, C AS v < 5""",
}


@pytest.mark.parametrize("clause", CLAUSES.values(), ids=CLAUSES)
def test_slices_give_the_same_rows(ticks: DataFrame, clause: str) -> None:
    whole = matchrec.match_recognize(ticks, clause)
    cut = matchrec.match_recognize(ticks, clause, slices=4)
    assert cut.schema == whole.schema
    assert taken(cut) == taken(whole)
