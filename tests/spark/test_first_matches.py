"""`FIRST k MATCHES` limits aggregates, rule sets and labels, but not `why` and `coverage`."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import AfterMatch

PAIRS = """PARTITION BY k ORDER BY id MEASURES A.id AS a, B.id AS b
    PATTERN (A B) SKIP TILL ANY MATCH ALL MATCHES FIRST 2 MATCHES DEFINE B AS v > A.v"""


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    """Return three rising rows for each of two keys."""
    return spark.sql("SELECT id % 2 AS k, id, id AS v FROM range(6)")


def test_matches_are_not_counted_before_they_are_left_out(rows: DataFrame) -> None:
    query = matchrec.query(rows, PAIRS)
    totals = sorted(tuple(row) for row in query.aggregate().collect())
    assert totals == [(0, 2), (1, 2)]
    explained = str(query.explain())
    assert "FIRST 2 MATCHES: the search of a partition ends after them" in explained


def test_the_number_may_be_a_parameter(rows: DataFrame) -> None:
    named = PAIRS.replace("FIRST 2", "FIRST :most")
    rows.createOrReplaceTempView("first_rows")
    query = (
        f"SELECT ? AS x, * FROM first_rows MATCH_RECOGNIZE ({PAIRS.replace('FIRST 2', 'FIRST ?')})"
    )
    matches = matchrec.sql(rows.sparkSession, query, [7, 2]).collect()
    assert [row.x for row in matches] == [7] * 4
    errors = (
        ({"most": 0}, "the number of matches in FIRST, must be"),
        ({"most": "2"}, "the number of matches in FIRST, must be"),
        ({"most": 10**5000}, "the number of matches in FIRST, must be"),
        ({}, "parameter `:most` has no value"),
    )
    for args, message in errors:
        with pytest.raises(matchrec.MatchRecognizeError, match=message):
            matchrec.match_recognize(rows, named, args)


def test_first_matches_are_counted_for_each_rule(rows: DataFrame) -> None:
    pairs = PAIRS.replace("PARTITION BY k ORDER BY id", "")
    rules = {"pairs": pairs, "all": pairs.replace("FIRST 2 MATCHES", "")}
    matches = matchrec.match_rules(rows, rules, order_by="id", partition_by="k").matches
    counted = matches.groupBy("rule", "k").count()
    counts = {(row.rule, row.k): row["count"] for row in counted.collect()}
    assert counts == {("pairs", 0): 2, ("pairs", 1): 2, ("all", 0): 3, ("all", 1): 3}


EVENTS = """PATTERN SEQ(ANY p, ANY q) FIRST 2 MATCHES WHERE skip_till_any_match { q.v > p.v }
    RETURN p.id AS p, q.id AS q"""
STAGES = matchrec.Pattern.begin("p").followed_by_any("q").where("v > p.v").first_matches(2)


def test_sase_and_patterns_can_limit_matches(rows: DataFrame) -> None:
    keys = {"order_by": "id", "partition_by": "k"}
    matches = matchrec.match_sase(rows, EVENTS, **keys).collect()
    assert sorted(map(tuple, matches)) == [(0, 0, 2), (0, 0, 4), (1, 1, 3), (1, 1, 5)]
    pattern = STAGES.after_match(AfterMatch.SKIP_TO_NEXT).first_matches(1)
    stages = matchrec.match_pattern(rows, pattern, **keys)
    assert {(row.k, row.match_number, row.start_time) for row in stages.collect()} == {
        (0, 1, 0),
        (1, 1, 1),
    }


def test_first_matches_of_sase_and_patterns_are_counted(rows: DataFrame) -> None:
    rules = {"pairs": EVENTS, "stages": STAGES}
    matches = matchrec.match_rules(rows, rules, order_by="id", partition_by="k").matches
    counted = matches.groupBy("rule", "k").count()
    counts = {(row.rule, row.k): row["count"] for row in counted.collect()}
    assert counts == {(rule, k): 2 for rule in rules for k in (0, 1)}


def test_a_limit_is_rejected_if_the_output_has_more_than_matches(rows: DataFrame) -> None:
    for query, arguments in ((EVENTS, {"output": "graph"}), (STAGES, {"timeouts": True})):
        with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="more than matches"):
            matchrec.query(rows, query, order_by="id", **arguments).to_df()
    with pytest.raises(matchrec.MatchRecognizeParseError, match="`0` is not a number of matches"):
        matchrec.match_sase(rows, EVENTS.replace("2", "0"), order_by="id")
    with pytest.raises(matchrec.MatchRecognizePlanError, match="`count` of"):
        STAGES.first_matches(0)
    # The argument has no default, so it cannot be left out.
    with pytest.raises(TypeError, match=r"argument: 'count'; write first_matches\(1\)$"):
        STAGES.first_matches()  # type: ignore[call-arg]
    with pytest.raises(matchrec.MatchRecognizePlanError, match=r"first_matches\(2\)"):
        matchrec.Pattern.begin(STAGES)


def test_sase_converts_to_sql_and_a_pattern_does_not(rows: DataFrame) -> None:
    query = matchrec.query(rows, EVENTS, order_by="id")
    as_sql = query.to_sql().text
    assert "ALL MATCHES FIRST 2 MATCHES" in " ".join(as_sql.split())
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match=r"first_matches\(2\)"):
        matchrec.query(rows, STAGES, order_by="id").to_sql()


@pytest.mark.night  # compiles a search that no other test uses
def test_why_and_coverage_count_all_matches(rows: DataFrame) -> None:
    clause = """PARTITION BY k ORDER BY id AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A B) FIRST 1 MATCHES DEFINE B AS v > A.v"""
    query = matchrec.query(rows, clause)
    assert "match 2" in str(query.why(partition={"k": 0}))
    assert query.coverage().clauses[1].figures.matches == 4
    labels = rows.sparkSession.sql("VALUES (0L, 0L, 1L), (0L, 4L, 9L) AS t(k, b, e)")
    result = query.backtest(labels, start="b", end="e")
    assert sorted((row.b, row.matches) for row in result.incidents.collect()) == [(0, 1), (4, 0)]
