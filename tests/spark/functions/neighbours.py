"""Conditions over two rows of a run, beside a join of neighbours in which Spark computes them.

PATTERN (A B) with AFTER MATCH SKIP TO NEXT ROW finds each row A with the row after it: just those
pairs of a self-join for which the condition of B is true. Many conditions are one query: each has a
partition of its own, in which CASE chooses it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.properties.test_queries import settings

MATCHED = """SELECT k, id FROM {{t}} MATCH_RECOGNIZE (PARTITION BY k ORDER BY id MEASURES A.id AS id
    AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) DEFINE B AS CASE {cases} END)"""
JOINED = "SELECT A.k, A.id FROM t AS A JOIN t AS B ON A.k = B.k AND A.id + 1 = B.id WHERE {cases}"


def check_conditions(
    spark: SparkSession,
    rows: DataFrame,
    conditions: Sequence[str],
    *,
    ansi: bool = True,
    zone: str = "UTC",
) -> None:
    """Check that a query with each condition finds the same pairs of neighbours as a join.

    Args:
        rows: the rows. Their column `id` has the numbers from 0 on.
    """
    cases = " ".join(f"WHEN B.k = {k} THEN {one}" for k, one in enumerate(conditions))
    with settings(spark, ansi__enabled=str(ansi).lower(), session__timeZone=zone):
        numbers = spark.range(len(conditions)).selectExpr("CAST(id AS INT) AS k")
        frame = rows.crossJoin(numbers).cache()
        frame.createOrReplaceTempView("t")
        joined = spark.sql(JOINED.format(cases=f"(CASE {cases} END)")).collect()
        expected = find_pairs(joined, conditions)
        found = matchrec.sql(spark, MATCHED.format(cases=cases), t=frame).collect()
        ours = find_pairs(found, conditions)
        assert {our: (ours[our], expected[our]) for our in ours if ours[our] != expected[our]} == {}


def find_pairs(rows: Sequence[Sequence[int]], conditions: Sequence[str]) -> dict[str, list[int]]:
    """Return the rows A by condition."""
    return {
        condition: sorted(id_ for k, id_ in rows if k == number)
        for number, condition in enumerate(conditions)
    }
