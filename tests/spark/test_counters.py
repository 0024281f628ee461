"""Counters add up figures of all tasks. Without them, nothing is counted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.spark.tuning import MAX_BYTES
from tests.properties.test_queries import settings

pytestmark = pytest.mark.one_of(2)

CLAUSE = "PARTITION BY k ORDER BY t MEASURES count(*) AS n PATTERN (A B+) DEFINE B AS v > PREV(v)"
SEQUENCE = "PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match RETURN a.LEN AS n"
RUN_COUNTERS = [
    "row_reads",
    "runs",
    "most_live_runs",
    "forks",
    "merges",
    "buffer_entries",
    "removed_entries",
]
STAGES = ["waiting_seconds", "encoding_seconds", "matching_seconds", "gathering_seconds"]


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    """Return five events of types A, B and C for each of three keys."""
    rows = [(key, i, event, i % 3) for key in "xyz" for i, event in enumerate("AACAB")]
    return spark.createDataFrame(rows, "k string, t int, event_type string, v int")


def find_sequences(events: DataFrame, **options: Any) -> DataFrame:
    """Return the matches of SEQUENCE."""
    return matchrec.match_sase(
        events, SEQUENCE, order_by="t", partition_by="k", options=matchrec.Options(**options)
    )


@pytest.mark.parametrize("transport", ["arrow", "pandas"])
def test_event_selection_counts_runs_and_buffer(events: DataFrame, transport: str) -> None:
    counters = matchrec.Counters()
    matches = find_sequences(events, counters=counters, transport=transport)
    plain = find_sequences(events)
    assert matches.columns == plain.columns
    assert sorted(matches.collect()) == sorted(plain.collect())
    values = counters.values()
    assert list(values) == ["rows", "partitions", *RUN_COUNTERS, "matches", *STAGES]
    assert values["partitions"] == 3
    assert values["rows"] == 12  # the query has no C
    assert values["matches"] == 3 * 7  # one for each non-empty set of three events
    assert values["runs"] > values["most_live_runs"] > 0
    assert values["merges"] > 0
    assert all(values[stage] > 0 for stage in STAGES)
    matches.collect()
    assert counters.values() == values  # a second action does not count


def test_matches_of_a_pattern_are_counted(events: DataFrame) -> None:
    counters = matchrec.Counters()
    pattern = matchrec.Pattern.begin("a").where("event_type = 'A'").next("b")
    matches = matchrec.match_pattern(
        events, pattern, order_by="t", partition_by="k", options=matchrec.Options(counters=counters)
    )
    assert {len(row.a) for row in matches.collect()} == {1}
    assert counters.values()["matches"] == 9  # each A has an event after it


def test_counters_show_themselves(events: DataFrame) -> None:
    counters = matchrec.Counters()
    assert repr(counters) == "<Counters: no action has finished>"
    assert "no action" in counters._repr_html_()
    find_sequences(events, counters=counters).collect()
    assert repr(counters) == "<Counters: 12 rows, 21 matches>"
    assert ">buffer entries</td>" in counters._repr_html_()


def test_tasks_add_up_except_for_the_most_live_runs(spark: SparkSession, events: DataFrame) -> None:
    of_one_task = matchrec.Counters()
    of_several_tasks = matchrec.Counters()
    assert find_sequences(events, counters=of_one_task).count() == 21
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    try:
        assert find_sequences(events, counters=of_several_tasks).count() == 21
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "1")
    for name in ("rows", "matches"):  # other counters depend on the rows of a task
        assert of_one_task.values()[name] == of_several_tasks.values()[name], name
    assert of_several_tasks.values()["most_live_runs"] <= of_one_task.values()["most_live_runs"]


def test_tasks_that_run_twice_count_once(spark: SparkSession) -> None:
    """Spark runs the clause twice to sort its result: the first time for a sample of the rows."""
    counters = matchrec.Counters()
    events = spark.range(600).selectExpr("id % 20 AS k", "id AS t")
    clause = "PARTITION BY k ORDER BY t MEASURES A.t AS t PATTERN (A B) DEFINE A AS t >= 0"
    matches = matchrec.match_recognize(events, clause, options=matchrec.Options(counters=counters))
    with settings(spark, shuffle__partitions="3"):
        assert len(matches.orderBy("t").collect()) == 300
    values = counters.values()
    assert [values[name] for name in ("rows", "partitions", "matches")] == [600, 20, 300]


def test_without_event_selection_runs_are_not_counted(events: DataFrame) -> None:
    counters = matchrec.Counters()
    matches = matchrec.match_recognize(events, CLAUSE, options=matchrec.Options(counters=counters))
    assert matches.count() == 6
    values = counters.values()
    assert list(values) == ["rows", "partitions", "matches", *STAGES]
    assert (values["rows"], values["matches"]) == (15, 6)
    assert "are counted only for queries with event selection" in str(counters)


def test_clauses_of_a_query_add_up(spark: SparkSession, events: DataFrame) -> None:
    counters = matchrec.Counters()
    query = f"""SELECT * FROM {{e}} MATCH_RECOGNIZE ({CLAUSE}) UNION ALL
                SELECT * FROM {{e}} MATCH_RECOGNIZE ({CLAUSE})"""
    assert (
        len(
            matchrec.sql(
                spark, query, e=events, options=matchrec.Options(counters=counters)
            ).collect()
        )
        == 12
    )
    assert counters.values()["rows"] == 30


def test_columns_that_are_never_null_and_no_matches(spark: SparkSession) -> None:
    rows = spark.range(4).selectExpr(
        "id", "'x' AS name", "array(struct(id AS y)) AS parts", "timestamp '2024-01-01' AS t"
    )
    clause = "ORDER BY id ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS id > {}"
    for least, expected in ((1, 2), (9, 0)):
        counters = matchrec.Counters()
        matches = matchrec.match_recognize(
            rows, clause.format(least), options=matchrec.Options(counters=counters)
        )
        assert len(matches.collect()) == expected
        assert counters.values()["rows"] == 4


def test_counters_are_zero_without_rows(events: DataFrame) -> None:
    counters = matchrec.Counters()
    assert find_sequences(events.filter("v > 9"), counters=counters).collect() == []
    assert counters.values()["rows"] == 0


def test_counters_print_aligned_lines(events: DataFrame) -> None:
    counters = matchrec.Counters()
    find_sequences(events, counters=counters).collect()
    lines = str(counters).splitlines()
    assert re.fullmatch(r"rows +12", lines[0])
    assert re.fullmatch(r"gathering seconds +\d+\.\d{3}", lines[-1])
    assert len({len(line) for line in lines}) == 1


def test_there_are_no_values_before_an_action(events: DataFrame) -> None:
    counters = matchrec.Counters()
    with pytest.raises(matchrec.MatchRecognizeError, match="no action"):
        counters.values()
    find_sequences(events, counters=counters)
    with pytest.raises(matchrec.MatchRecognizeError, match="no action"):
        counters.values(timeout=0.1)


def test_the_plan_has_no_metrics_without_counters(
    events: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    find_sequences(events).explain(mode="extended")
    plan = capsys.readouterr().out
    assert "match_recognize" in plan
    assert "CollectMetrics" not in plan
    assert "__counters" not in plan
    find_sequences(events, counters=matchrec.Counters()).explain(mode="extended")
    assert "CollectMetrics" in capsys.readouterr().out


def test_explain_analyze_runs_the_query_and_shows_what_it_counted(
    spark: SparkSession, events: DataFrame
) -> None:
    query = f"SELECT * FROM {{events}} MATCH_RECOGNIZE ({CLAUSE})"
    explained = matchrec.query(spark, query, events=events).explain(analyze=True)
    text = str(explained)
    assert re.search(
        r"counters of the last execution\n +rows +15\n +partitions +3\n +matches +[1-9]", text
    ), text
    assert "counters" not in str(matchrec.query(spark, query, events=events).explain())
    assert "counters" not in str(matchrec.query(spark, "SELECT 1").explain(analyze=True))


def test_explain_analyze_names_what_would_make_the_session_faster(
    spark: SparkSession, events: DataFrame
) -> None:
    query = matchrec.query(
        spark, f"SELECT * FROM {{events}} MATCH_RECOGNIZE ({CLAUSE})", events=events
    )
    assert "matchrec.tune" not in str(query.explain(analyze=True))
    before = spark.conf.get(MAX_BYTES)
    spark.conf.unset(MAX_BYTES)
    try:
        assert f"matchrec.tune sets {MAX_BYTES}" in str(query.explain(analyze=True))
    finally:
        spark.conf.set(MAX_BYTES, before or "64m")
