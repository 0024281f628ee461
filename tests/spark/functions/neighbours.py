"""Compare conditions over two rows of a run with a self-join, in which Spark computes them.

PATTERN (A B) with AFTER MATCH SKIP TO NEXT ROW finds each row A for which the condition of B is
true of the row and the row after it. A self-join of neighbours finds the same pairs. One query
checks many conditions: each has its own partition, in which CASE chooses it.
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
    cases = " ".join(f"WHEN B.k = {k} THEN {condition}" for k, condition in enumerate(conditions))
    with settings(spark, ansi__enabled=str(ansi).lower(), session__timeZone=zone):
        numbers = spark.range(len(conditions)).selectExpr("CAST(id AS INT) AS k")
        frame = rows.crossJoin(numbers).cache()
        frame.createOrReplaceTempView("t")
        joined = spark.sql(JOINED.format(cases=f"(CASE {cases} END)")).collect()
        expected = find_pairs(joined, conditions)
        matched = matchrec.sql(spark, MATCHED.format(cases=cases), t=frame).collect()
        pairs = find_pairs(matched, conditions)
        differences = {
            condition: (pairs[condition], expected[condition])
            for condition in conditions
            if pairs[condition] != expected[condition]
        }
        assert differences == {}


def find_pairs(rows: Sequence[Sequence[int]], conditions: Sequence[str]) -> dict[str, list[int]]:
    """Return for each condition the ids of the rows A."""
    return {
        condition: sorted(id_ for k, id_ in rows if k == number)
        for number, condition in enumerate(conditions)
    }
