"""`FIRST k MATCHES` where others ask for matches: aggregates, rule sets, questions, labels."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec

PAIRS = """PARTITION BY k ORDER BY id MEASURES A.id AS a, B.id AS b
    PATTERN (A B) SKIP TILL ANY MATCH ALL MATCHES FIRST 2 MATCHES DEFINE B AS v > A.v"""


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    """Of each of two keys three rows, which rise."""
    return spark.sql("SELECT id % 2 AS k, id, id AS v FROM range(6)")


def test_matches_are_not_counted_before_they_are_left_out(rows: DataFrame) -> None:
    asked = matchrec.query(rows, PAIRS)
    found = sorted(tuple(row) for row in asked.aggregate().collect())
    assert found == [(0, 2), (1, 2)]
    explained = str(asked.explain())
    assert "FIRST 2 MATCHES: of a partition, which is not searched any further" in explained


def test_a_rule_of_a_set(rows: DataFrame) -> None:
    pairs = PAIRS.replace("PARTITION BY k ORDER BY id", "")
    rules = {"pairs": pairs, "all": pairs.replace("FIRST 2 MATCHES", "")}
    matches = matchrec.match_rules(rows, rules, order_by="id", partition_by="k").matches
    found = matches.groupBy("rule", "k").count()
    counts = {(row.rule, row.k): row["count"] for row in found.collect()}
    assert counts == {("pairs", 0): 2, ("pairs", 1): 2, ("all", 0): 3, ("all", 1): 3}


def test_questions_look_at_all_matches(rows: DataFrame) -> None:
    first = """PARTITION BY k ORDER BY id AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A B) FIRST 1 MATCHES DEFINE B AS v > A.v"""
    asked = matchrec.query(rows, first)
    assert "match 2" in str(asked.why(partition={"k": 0}))
    assert asked.coverage().clauses[1].figures.matches == 4
    labels = rows.sparkSession.sql("VALUES (0L, 0L, 1L), (0L, 4L, 9L) AS t(k, b, e)")
    found = asked.against(labels, start="b", end="e")
    assert sorted((row.b, row.matches) for row in found.incidents.collect()) == [(0, 1), (4, 0)]
