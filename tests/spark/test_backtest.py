"""`backtest` compares incidents with matches; its attempts are those that `coverage` counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.api import backtest
from matchrec.api.backtest_attempts import KnownAttempts
from matchrec.explain.clause_coverage import Reason
from matchrec.spark.coverage import plan_attempts
from matchrec.spark.request import Purpose
from matchrec.worker.attempts import ATTEMPT_NOTES

HIGH = """PARTITION BY k ORDER BY at MEASURES count(*) AS n AFTER MATCH SKIP TO NEXT ROW
    PATTERN (HIGH{2}) DEFINE HIGH AS load > 8 AND load < 100"""

FALSE = "HIGH's condition was not true"
SAME_LOAD = """PATTERN SEQ(E a, E b)
    WHERE skip_till_any_match(a, b) { [k] AND a.load = b.load AND b.load > 8 } WITHIN 3"""


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    """Return rows in which b is high all the time, a twice, and c is missing."""
    return spark.sql(
        "VALUES ('a', 1, 5), ('a', 2, 9), ('a', 3, 9), ('a', 7, 9), ('a', 8, 5), ('b', 1, 9),"
        " ('b', 2, 9), ('b', 3, 9), (NULL, 1, 1), (NULL, 2, 9) AS t(k, at, load)"
    )


def make_labels(spark: SparkSession, *rows: tuple[Any, ...]) -> DataFrame:
    """Return incidents: a key, the first instant and the last one."""
    return spark.createDataFrame(list(rows), "k string, b int, e int")


def list_outcomes(result: matchrec.Backtest) -> list[tuple[Any, ...]]:
    """Return the outcome of each incident, in a fixed order."""
    incident_columns = ("k", "b", "e", "matches", "match_start")
    columns = (*incident_columns, "furthest_variable", "attempt_start", "rows_missing")
    return sorted(
        (tuple(row[name] for name in (*columns, "reason")) for row in result.incidents.collect()),
        key=str,
    )


def test_incidents_are_hit_missed_or_not_searched(spark: SparkSession, rows: DataFrame) -> None:
    labels = make_labels(
        spark,
        ("a", 1, 4),
        ("a", 1, 4),
        ("a", 6, None),
        ("a", 8, 9),
        ("a", 9, 8),
        ("b", 4, 9),
        ("c", 1, 9),
        (None, 1, 2),
    )
    result = matchrec.query(rows, HIGH).backtest(labels, start="b", end="e")
    not_searched = (0, None, None, None, None)
    assert list_outcomes(result) == sorted(
        [
            ("a", 1, 4, 2, 2, None, None, None, None),
            ("a", 1, 4, 2, 2, None, None, None, None),
            ("a", 6, None, 1, 3, None, None, None, None),
            ("a", 8, 9, 0, None, None, 8, 2, f"{FALSE}: load > 8 was not true"),
            ("a", 9, 8, *not_searched, "the incident ends before it begins"),
            ("b", 4, 9, *not_searched, "the incident has no rows"),
            ("c", 1, 9, *not_searched, "no row has this key"),
            (None, 1, 2, 0, None, "HIGH", 2, 1, "the partition ended before HIGH"),
        ],
        key=str,
    )
    matches = sorted(tuple(row) for row in result.matches.collect())
    assert matches == [("a", 2, 3, 1, 2), ("a", 3, 7, 1, 3), ("b", 1, 2, 1, 0), ("b", 2, 3, 1, 0)]
    assert (result.score.incidents, result.score.hits, result.score.hit_by_several) == (8, 3, 2)
    assert (result.score.matches, result.score.false_alarms) == (4, 2)
    assert str(result).splitlines()[:3] == [
        "8 incidents: 3 hit, 2 of them by several matches, 5 missed",
        "4 matches: 2 overlapping an incident, 2 false alarms",
        "recall 0.375, precision 0.500, F1 0.429",
    ]
    assert "<svg" in result.svg()
    html = result._repr_html_()
    assert html.index("8 incidents") < html.index("<svg")
    (panel,) = result.figure().axes
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("at", "k")
    assert repr(result) == "<Backtest of incidents in b, e>"
    assert repr(result.score) == (
        "Score(incidents=8, hits=3, hit_by_several=2, misses=5, matches=4, matches_on_incidents=2,"
        " false_alarms=2, recall=0.375, precision=0.5, f1=0.429)"
    )


def test_lanes_of_numbers_are_sorted_by_value(spark: SparkSession, rows: DataFrame) -> None:
    labels = make_labels(spark, ("10", 1, 9), ("9", 1, 9), ("-1", 1, 9))
    result = matchrec.query(rows.where("k = 'nobody'"), HIGH).backtest(labels, start="b", end="e")
    (panel,) = result.figure().axes
    assert [label.get_text() for label in panel.get_yticklabels()] == ["-1", "9", "10"]


@pytest.mark.parametrize(
    ("query_type", "lanes"),
    [("INT", ["2", "1"]), ("DOUBLE", ["2.0", "1.0"]), ("DECIMAL(3, 2)", ["2.00", "1.00"])],
)
def test_equal_keys_of_two_types_have_one_lane(
    spark: SparkSession, query_type: str, lanes: list[str]
) -> None:
    """The incident in partition 1 is hit. The incident in partition 2 is missed, so it is first."""
    rows = spark.sql(f"SELECT CAST(1 AS {query_type}) AS k, at FROM VALUES (1), (2) AS t(at)")
    labels = spark.sql("VALUES (1, 1, 2), (2, 1, 2) AS t(k, b, e)")
    query = matchrec.query(rows, "PARTITION BY k ORDER BY at PATTERN (A A)")
    result = query.backtest(labels, start="b", end="e")
    assert result.score.hits == 1
    (panel,) = result.figure().axes
    assert [label.get_text() for label in panel.get_yticklabels()] == lanes
    (line,) = panel.get_lines()
    assert list(line.get_ydata()) == [1, 1]  # the match is on the lane of the incident that it hits


def test_keys_with_the_same_text_have_two_lanes(spark: SparkSession) -> None:
    """Only the partition ('a, b', 'c') has a match, on the second incident."""
    labels = spark.sql("VALUES ('a', 'b, c', 1, 2), ('a, b', 'c', 1, 2) AS t(col1, col2, b, e)")
    rows = spark.sql("SELECT 'a, b' AS col1, 'c' AS col2, at FROM VALUES (1), (2) AS t(at)")
    query = matchrec.query(rows, "PARTITION BY col1, col2 ORDER BY at PATTERN (A A)")
    (panel,) = query.backtest(labels, start="b", end="e").figure().axes
    assert [label.get_text() for label in panel.get_yticklabels()] == ["a, b, c", "a, b, c"]
    (line,) = panel.get_lines()
    assert list(line.get_ydata()) == [1, 1]


def test_incidents_open_at_both_ends_without_a_match(spark: SparkSession, rows: DataFrame) -> None:
    labels = make_labels(spark, ("a", None, None))
    result = matchrec.query(rows.where("k = 'nobody'"), HIGH).backtest(labels, start="b", end="e")
    (panel,) = result.figure().axes
    assert [label.get_text() for label in panel.get_yticklabels()] == ["a"]
    assert len(panel.get_xticks()) == 0


def test_without_a_key_incidents_are_of_all_partitions(
    spark: SparkSession, rows: DataFrame
) -> None:
    labels = make_labels(spark, ("x", 1, 1), ("y", 7, 7), ("z", 10, 11))
    result = matchrec.query(rows, HIGH).backtest(labels, start="b", end="e", key=[])
    assert [row[:4] for row in list_outcomes(result)] == [
        ("x", 1, 1, 1),
        ("y", 7, 7, 1),
        ("z", 10, 11, 0),
    ]
    assert "<svg" in result.svg()


def test_empty_matches_hit_no_incident(spark: SparkSession, rows: DataFrame) -> None:
    """Each row begins an empty match, and an empty match hits no incident."""
    query = matchrec.query(rows, "PARTITION BY k ORDER BY at PATTERN (())")
    result = query.backtest(make_labels(spark, ("b", 1, 2)), start="b", end="e")
    (incident,) = result.incidents.collect()
    assert incident.reason == "only empty matches begin here"


def test_no_incidents_and_no_matches(spark: SparkSession, rows: DataFrame) -> None:
    without_rows = matchrec.query(rows.where("k = 'x'"), HIGH)
    result = without_rows.backtest(make_labels(spark), start="b", end="e")
    assert str(result).splitlines() == [
        "0 incidents: 0 hit, 0 missed",
        "0 matches: 0 overlapping an incident, 0 false alarms",
        "recall -, precision -, F1 -",
    ]


QUERIES: list[tuple[Any, dict[str, Any]]] = [
    (HIGH, {}),
    (HIGH.replace("ORDER BY at", "ORDER BY at DESC, load"), {}),
    (HIGH.replace("HIGH{2}", "A HIGH{1,2}").replace("AFTER MATCH SKIP TO NEXT ROW", ""), {}),
    (HIGH.replace("HIGH{2}", "A HIGH+").replace("HIGH AS", "HIGH AS load = A.load AND"), {}),
    (SAME_LOAD, {"order_by": "at"}),
    (
        matchrec.Pattern.begin("low").where("load < 9").followed_by("high").where("load > 8"),
        {"order_by": "at", "partition_by": "k"},
    ),
]


@pytest.mark.night  # compiles a search that no other test uses
@pytest.mark.parametrize(("query", "arguments"), QUERIES[1:])
def test_attempts_equal_the_counts_of_coverage(
    rows: DataFrame, query: Any, arguments: dict[str, Any]
) -> None:
    prepared = matchrec.query(rows.selectExpr("*", "'E' AS event_type"), query, **arguments)
    with prepared._parse(prepared.options) as parsed:
        clause = parsed.find_clause(1)
        plan = backtest.build_plan_of_matches(clause)
        request = clause.build_request(plan, clause.options, purpose=Purpose.COVERAGE)
        attempts = plan_attempts(request)
        words = KnownAttempts(attempts.query, attempts.task, attempts.rows, plan)
    collected = attempts.rows.toDF("k", "first", "last", *ATTEMPT_NOTES).collect()
    failed = [attempt for attempt in collected if attempt.remaining is not None]
    ended: Counter[tuple[str | None, str]] = Counter()
    for attempt in failed:
        reason = words.reasons[attempt.choice * len(Reason) + attempt.reason]
        ended[words.variables[attempt.choice], reason] += 1
    counted: Counter[tuple[str | None, str]] = Counter()
    covered = prepared.coverage().clauses[1]
    for occurrence in covered.occurrences:
        for stop_reason in occurrence.stop_reasons:
            counted[occurrence.variable, str(stop_reason)] += stop_reason.count
    assert ended == counted
    assert len(collected) == covered.figures.rows
    if attempts.task.needs_event_selection:
        assert len(collected) - len(failed) == covered.figures.matches


def count_overlapping(ends: Sequence[Any], spans: list[tuple[Any, Any]]) -> int:
    """Return how many spans overlap the span between two ends. An end of None is open."""
    begin, end = ends
    return sum(
        (begin is None or last >= begin) and (end is None or first <= end) for first, last in spans
    )


@pytest.mark.slow  # compiles a search that no other test uses
@pytest.mark.parametrize(("query", "arguments"), [QUERIES[0], QUERIES[4]])
def test_hits_overlap_matches(spark: SparkSession, query: Any, arguments: dict[str, Any]) -> None:
    rows = spark.sql(
        "SELECT CAST(id % 5 AS STRING) AS k, CAST(id AS INT) AS at, 'E' AS event_type,"
        " CAST(abs(hash(id)) % 4 AS INT) + 6 AS load FROM range(200)"
    )
    labels = spark.sql(
        "SELECT CAST(id % 6 AS STRING) AS host, CAST(abs(hash(id)) % 200 AS INT) AS b,"
        " CAST(abs(hash(id)) % 200 + id % 9 AS INT) AS e FROM range(60)"
    )
    if isinstance(query, str) and "MEASURES" in query:
        query = query.replace("count(*) AS n", "FIRST(at) AS first, LAST(at) AS last")
    prepared = matchrec.query(rows, query, **arguments)
    matches: dict[str, list[tuple[int, int]]] = {}
    for row in prepared.to_df().collect():
        if "first" in row:
            key = row.k
            span = (row.first, row.last)
        elif "start_time" in row:
            key = row.k
            span = (row.start_time, row.end_time)
        else:
            key = row.a[0].k
            span = (row.a[0].at, row.b[0].at)
        matches.setdefault(key, []).append(span)
    result = prepared.backtest(labels, key="host", start="b", end="e")
    for row in result.incidents.collect():
        assert row.matches == count_overlapping((row.b, row.e), matches.get(row.host, [])), row
        assert (row.outcome == "hit") == (row.matches > 0) == (row.reason is None)
    incidents: dict[str, set[tuple[int, int]]] = {}
    for row in labels.collect():
        incidents.setdefault(row.host, set()).add((row.b, row.e))
    found_matches = result.matches.collect()
    assert sum(row.matches for row in found_matches) == sum(map(len, matches.values()))
    for row in found_matches:
        ends = (row.match_start, row.match_end)
        assert row.incidents == count_overlapping(ends, list(incidents.get(row[0], ()))), row


def test_a_miss_without_attempts_has_a_reason(spark: SparkSession, rows: DataFrame) -> None:
    labels = make_labels(spark, ("a", 1, 4), ("b", 5, 9))
    longest = "PARTITION BY k ORDER BY at PATTERN (H+) LONGEST MATCH DEFINE H AS load > 8"
    result = matchrec.query(rows, longest).backtest(labels, start="b", end="e")
    (_, hit), (_, miss) = sorted((row.k, row) for row in result.incidents.collect())
    assert (hit.outcome, hit.reason) == ("hit", None)
    assert miss.reason.startswith("no attempts are known: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": "nix"}, "unknown column `nix` in `start`"),
        ({"end": "moment"}, "the incidents in `labels` have: k, b, e\n  help: name one of these"),
        ({"key": "nix"}, "unknown column `nix` in `key`"),
        ({"key": ["k", "b"]}, "`key` has 2 columns, but the query partitions its rows by k"),
        (
            {"key": "b"},
            "`b` of the incidents in `labels` must be string, as `k` of the query is, but is int",
        ),
        ({"start": "k"}, "must be int, as the order of the query is, but is string"),
    ],
)
def test_labels_that_do_not_fit(
    spark: SparkSession, rows: DataFrame, arguments: dict[str, Any], message: str
) -> None:
    query = matchrec.query(rows, HIGH)
    with pytest.raises(matchrec.MatchRecognizePlanError) as raised:
        query.backtest(make_labels(spark), **{"start": "b", "end": "e", **arguments})
    assert message in str(raised.value)


def test_labels_of_pandas_have_times_where_the_order_has_dates(spark: SparkSession) -> None:
    rows = spark.sql("SELECT DATE'2026-01-31' + CAST(id AS INT) AS d, id FROM range(4)")
    query = matchrec.query(rows, "ORDER BY d PATTERN (A B) DEFINE B AS id = 2")
    labels = pd.DataFrame(
        {"b": pd.to_datetime(["2026-02-01"]), "e": pd.to_datetime(["2026-02-05"])}
    )
    with pytest.raises(
        matchrec.MatchRecognizePlanError,
        match=r"`b` of the incidents in `labels` must be .*, but is timestamp",
    ) as raised:
        query.backtest(labels, start="b", end="e")
    hint = "labels.assign(b=pandas.to_datetime(labels.b).dt.date)"
    assert hint in " ".join(str(raised.value).split())
    labels = labels.assign(b=pd.to_datetime(labels.b).dt.date, e=pd.to_datetime(labels.e).dt.date)
    assert query.backtest(labels, start="b", end="e").score.hits == 1


def test_integers_with_null_stay_integers(spark: SparkSession) -> None:
    """Rows 1 and 2 match; the incident from 5 to 6 has no rows, so its match has no first row."""
    query = matchrec.query(
        spark.sql("VALUES (1, 9), (2, 9) AS t(at, load)"),
        "ORDER BY at PATTERN (A) DEFINE A AS load > 8",
    )
    labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
    frame = query.backtest(labels, start="start", end="end").toPandas().sort_values("start")
    assert frame["match_start"].dtype == "Int64"
    columns = frame[["start", "matches", "match_start"]]
    assert columns.to_csv(index=False) == "start,matches,match_start\n1,2,1\n5,0,\n"


def test_large_integers_beside_null_stay_exact(spark: SparkSession) -> None:
    """A float has 53 bits, so 2**53 + 1 would become 2**53."""
    query = matchrec.query(
        spark.sql("VALUES (1, 9), (2, 9) AS t(at, load)"),
        "ORDER BY at PATTERN (A) DEFINE A AS load > 8",
    )
    labels = spark.sql(
        "VALUES (1, 4, 9007199254740993L, 7Y), (5, 6, NULL, 8Y) AS t(start, end, id, day)"
    )
    frame = query.backtest(labels, start="start", end="end").toPandas().sort_values("start")
    assert frame["id"].isna().tolist() == [False, True]
    assert frame["id"].iloc[0] == 9007199254740993
    assert {name: str(frame[name].dtype) for name in ("start", "id", "day")} == {
        "start": "int32",
        "id": "Int64",
        "day": "int8",
    }


def test_labels_or_queries_without_columns_are_rejected(
    spark: SparkSession, rows: DataFrame
) -> None:
    labels = make_labels(spark)
    query = matchrec.query(rows, HIGH)
    with pytest.raises(matchrec.MatchRecognizePlanError, match="have no column `k`, by which"):
        query.backtest(labels.drop("k"), start="b", end="e")
    with pytest.raises(
        matchrec.MatchRecognizePlanError,
        match="`Outcome` of the incidents in `labels` has the name",
    ):
        query.backtest(labels.selectExpr("*", "1 AS Outcome"), start="b", end="e")
    unordered = matchrec.query(rows, "PARTITION BY k PATTERN (A)")
    with pytest.raises(matchrec.MatchRecognizePlanError, match="missing ORDER BY"):
        unordered.backtest(labels, start="b", end="e")


def test_key_needs_partition_by(spark: SparkSession, rows: DataFrame) -> None:
    labels = make_labels(spark)
    unpartitioned = matchrec.query(rows, "ORDER BY at PATTERN (A)")
    for key in ("k", "nix", ["k", "b"]):
        with pytest.raises(matchrec.MatchRecognizePlanError) as raised:
            unpartitioned.backtest(labels, start="b", end="e", key=key)
        assert raised.value.message == "`key` is not allowed: the query has no PARTITION BY"
        assert raised.value.hint == "leave key out"
    assert unpartitioned.backtest(labels, start="b", end="e", key=[]).score.incidents == 0


def test_the_error_says_which_dataframe_is_a_stream(spark: SparkSession, rows: DataFrame) -> None:
    stream = spark.readStream.format("rate").load()
    query_over_rows = matchrec.query(rows, HIGH)
    query_over_stream = matchrec.query(stream, "ORDER BY timestamp PATTERN (A)")
    for query, labels, note in (
        (query_over_stream, make_labels(spark), "the input of the query is a stream"),
        (query_over_rows, stream, "`labels` is a stream"),
    ):
        with pytest.raises(matchrec.MatchRecognizeUnsupportedError) as raised:
            query.backtest(labels, start="b", end="e", key=[])
        assert raised.value.message == ("a backtest is not supported over a streaming DataFrame")
        assert raised.value.notes == (note,)
