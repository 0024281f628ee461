"""Unfinished matches in SQL are the timed-out runs of `match_pattern`."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import MatchRecognizeUnsupportedError, Pattern
from tests.quick.scale import some_of

A = Pattern.begin("a").where("kind = 'a'")
PATTERNS = {
    "everything strict": A.next("b").where("kind = 'b'").one_or_more().consecutive(),
    "relaxed stages": A.followed_by("b").where("kind = 'b'").followed_by("c").where("kind = 'c'"),
    "everything non-deterministic": (
        A.followed_by_any("b").where("kind = 'b'").followed_by_any("c").where("kind = 'c'")
    ),
    "three in a row": A.next("b").where("kind = 'b'").next("c").where("kind = 'c'"),
}
SQL = """
    PARTITION BY key ORDER BY second
    MEASURES FIRST(second) AS first, MATCH_STATUS() AS status, MATCH_TIMEOUT() AS due
    ONE ROW PER MATCH SHOW TIMEOUT MATCHES
    PATTERN (A X* B) WITHIN 4
    DEFINE A AS kind = 'a', X AS kind <> 'b', B AS kind = 'b'
"""


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    """Return random events for three keys."""
    generator = random.Random(7)
    rows = [(key, generator.choice("aabbcd"), 2 * i) for key in "xyz" for i in range(14)]
    return spark.createDataFrame(rows, "key string, kind string, second int")


@pytest.mark.parametrize("name", some_of(list(PATTERNS)))
def test_sql_has_the_rows_of_match_pattern(events: DataFrame, name: str) -> None:
    pattern = PATTERNS[name].within(8)
    keys = {"order_by": "second", "partition_by": "key"}
    text = matchrec.transpile(pattern, events="{events}", **keys).text
    text = text.replace(
        " AS end_time\n",
        " AS end_time, MATCH_TIMEOUT() AS timed_out_at,\n"
        "    MATCH_NUMBER() AS number ONE ROW PER MATCH SHOW TIMEOUT MATCHES\n",
    )
    matches = matchrec.sql(events.sparkSession, text, events=events)
    expected = matchrec.match_pattern(events, pattern, **keys, timeouts=True)
    expected = expected.selectExpr("key", "start_time", "end_time", "timed_out_at", "match_number")
    rows = Counter(map(tuple, matches.collect()))
    assert rows == Counter(map(tuple, expected.collect()))
    assert any(row[-1] is None for row in rows)


def test_a_run_of_a_rule_set_has_no_number(events: DataFrame) -> None:
    clause = SQL.replace("PARTITION BY key ORDER BY second", "")
    result = matchrec.match_rules(
        events, {"late": clause}, order_by="second", partition_by="key", event_columns=["kind"]
    )
    for row in result.matches.collect():
        assert (row.match_number is None) == (row.events[-1].kind != "b")


@pytest.mark.slow
def test_why_and_coverage_are_those_of_the_matches(spark: SparkSession, events: DataFrame) -> None:
    plain = SQL.replace("SHOW TIMEOUT MATCHES", "").replace("MATCH_STATUS()", "1")
    plain = plain.replace("MATCH_TIMEOUT()", "1")
    partition = {"key": "x"}
    assert str(matchrec.query(events, SQL).why(partition=partition)) == str(
        matchrec.query(events, plain).why(partition=partition)
    )
    covered = [
        str(
            matchrec.query(
                spark, f"SELECT * FROM {{events}} MATCH_RECOGNIZE ({clause})", events=events
            ).coverage()
        )
        for clause in (SQL, plain)
    ]
    assert covered[0] == covered[1]


def test_explain_names_the_output_and_why_partitions_are_kept(
    spark: SparkSession, events: DataFrame
) -> None:
    query = f"SELECT * FROM {{events}} MATCH_RECOGNIZE ({SQL})"
    explained = str(matchrec.query(spark, query, events=events).explain())
    assert "  ONE ROW PER MATCH SHOW TIMEOUT MATCHES\n" in explained
    assert "windowed, then unfinished runs" in explained
    assert "memory: whole partitions, because unfinished runs are output" in explained


@pytest.mark.parametrize("write", ["trino", "flink", "bigquery"])
def test_partial_matches_cannot_be_translated(write: str) -> None:
    clause = SQL.replace("TIMEOUT MATCHES", "UNFINISHED MATCHES").replace("WITHIN 4", "")
    query = f"SELECT * FROM events MATCH_RECOGNIZE ({clause})"
    with pytest.raises(MatchRecognizeUnsupportedError, match="no SHOW TIMEOUT MATCHES and SHOW UN"):
        matchrec.transpile(query, write=write)
