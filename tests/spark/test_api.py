"""The public functions take SQL and DataFrames, return rows, and reject wrong arguments."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any
from unittest.mock import patch

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import expr

import matchrec
from matchrec.shortcuts import ALL, use_shortcuts
from matchrec.spark.session import is_connect

pytestmark = pytest.mark.one_of(2)

CLAUSE = "ORDER BY t MEASURES FIRST(t) AS a, LAST(t) AS b PATTERN (S U+) DEFINE U AS v > PREV(v)"


@pytest.fixture
def steps(spark: SparkSession) -> DataFrame:
    """Return rows whose values rise twice, and create the view `steps` of them."""
    frame = spark.createDataFrame([(1, 5), (2, 6), (3, 7), (4, 1), (5, 2)], "t int, v int")
    frame.createOrReplaceTempView("steps")
    return frame


EXPECTED = [Row(a=1, b=3), Row(a=4, b=5)]


def test_sql_reads_a_table(spark: SparkSession, steps: DataFrame) -> None:
    matches = matchrec.sql(spark, f"SELECT * FROM steps MATCH_RECOGNIZE ({CLAUSE})")
    assert sorted(matches.collect()) == EXPECTED


def test_sql_in_the_session_that_runs(
    spark: SparkSession, steps: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = f"SELECT a, :n AS n FROM {{rows}} MATCH_RECOGNIZE ({CLAUSE})"
    expected = [Row(a=1, n=7), Row(a=4, n=7)]
    assert sorted(matchrec.sql(query, {"n": 7}, rows=steps).collect()) == expected
    assert sorted(matchrec.sql(query=query, args={"n": 7}, rows=steps).collect()) == expected
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    for call in (lambda: matchrec.sql(query, rows=steps), lambda: matchrec.sql(query=query)):
        with pytest.raises(matchrec.MatchRecognizePlanError, match="missing session") as refused:
            call()
        assert refused.value.hint is not None
        assert "spark = matchrec.session()" in refused.value.hint
    assert sorted(matchrec.sql(spark, query, {"n": 7}, rows=steps).collect()) == expected


def test_a_query_has_methods_of_a_dataframe(
    spark: SparkSession, steps: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    query = matchrec.query(steps, CLAUSE)
    assert query.columns == ["a", "b"]
    assert query.schema == query.to_df().schema
    assert query.count() == 2
    assert sorted(query.collect()) == EXPECTED
    assert sorted(query.toPandas()["b"]) == [3, 5]
    if hasattr(DataFrame, "toArrow"):  # PySpark 4
        assert sorted(query.toArrow()["a"].to_pylist()) == [1, 4]
    query.createOrReplaceTempView("runs_of_a_query")
    assert sorted(spark.table("runs_of_a_query").collect()) == EXPECTED
    matchrec.query(spark, "SELECT 'a long text' AS text").show(1, truncate=4)
    assert "|a...|" in capsys.readouterr().out


def test_a_query_takes_its_arguments_by_name(spark: SparkSession, steps: DataFrame) -> None:
    queries = [
        matchrec.query(df=steps, clause=CLAUSE),
        matchrec.query(spark=spark, query=f"SELECT * FROM steps MATCH_RECOGNIZE ({CLAUSE})"),
    ]
    for query in queries:
        assert sorted(query.collect()) == EXPECTED
    events = steps.withColumn("event_type", expr("'E'"))
    pair = "PATTERN SEQ(ANY a, ANY b) WHERE strict_contiguity { b.v > a.v + 5 } RETURN a.t AS t"
    assert matchrec.query(df=events, text=pair, order_by="t").collect() == []
    pattern = matchrec.Pattern.begin("x").where("v > 6")
    assert matchrec.query(df=steps, pattern=pattern, order_by="t").count() == 1


def test_match_recognize_over_a_dataframe(steps: DataFrame) -> None:
    assert sorted(matchrec.match_recognize(steps, CLAUSE).collect()) == EXPECTED


def test_braces_of_the_pattern_are_not_holes(spark: SparkSession, steps: DataFrame) -> None:
    query = """SELECT m.n, '{rows}' AS s FROM {rows} MATCH_RECOGNIZE (
        ORDER BY t MEASURES count(*) AS n ALL ROWS PER MATCH PATTERN (S{1,2} {- U -})
        DEFINE U AS v > PREV(v) AND v > (SELECT min(v) FROM {rows})) m"""
    matches = matchrec.sql(spark, query, rows=steps).collect()
    assert sorted(tuple(row) for row in matches) == [(1, "{rows}"), (1, "{rows}"), (2, "{rows}")]


def test_a_temporary_view_can_be_created_over_a_clause(
    spark: SparkSession, steps: DataFrame
) -> None:
    matchrec.sql(
        spark,
        f"CREATE OR REPLACE TEMP VIEW runs AS SELECT * FROM {{rows}} MATCH_RECOGNIZE ({CLAUSE})",
        rows=steps,
    )
    assert sorted(spark.sql("SELECT * FROM runs").collect()) == EXPECTED


def test_any_spark_aggregate_is_a_measure(spark: SparkSession, steps: DataFrame) -> None:
    query = """SELECT * FROM steps MATCH_RECOGNIZE (ORDER BY t
        MEASURES max_by(t, v) AS best, percentile(U.v, :p) AS median, count(DISTINCT v % 2) AS n,
            array_agg(CLASSIFIER() || t) FILTER (WHERE t <> 2) AS marks
        PATTERN (S U+) DEFINE U AS v > PREV(v))"""
    matches = matchrec.sql(spark, query, {"p": 0.5}).collect()
    assert sorted(matches) == [
        Row(best=3, median=6.5, n=2, marks=["S1", "U3"]),
        Row(best=5, median=2.0, n=2, marks=["S4", "U5"]),
    ]


def test_subqueries_see_the_tables_of_with(spark: SparkSession, steps: DataFrame) -> None:
    query = """WITH bounds AS (SELECT 4 AS low, 2 AS step)
        SELECT * FROM steps MATCH_RECOGNIZE (ORDER BY t
            MEASURES LAST(v) + (SELECT max(low) FROM bounds) AS x
            PATTERN (A B+)
            DEFINE B AS v > PREV(v) AND v < PREV(v) + (SELECT step FROM bounds)
                AND v > (SELECT low FROM bounds) AND v IN (SELECT v FROM steps))"""
    assert matchrec.sql(spark, query).collect() == [Row(x=11)]


def test_parameters_can_be_named_or_positional(spark: SparkSession, steps: DataFrame) -> None:
    query = """SELECT * FROM steps MATCH_RECOGNIZE (ORDER BY t
        MEASURES LAST(v) + :more AS x PATTERN (A B?) DEFINE A AS v = :v) WHERE x < :most"""
    named = matchrec.sql(spark, query, {"v": 7, "more": 10, "most": 100})
    assert named.collect() == [Row(x=11)]
    positional = query.replace(":more", "?").replace(":v", "?").replace(":most", "?")
    assert matchrec.sql(spark, positional, [10, 7, 100]).collect() == [Row(x=11)]
    with pytest.raises(matchrec.MatchRecognizePlanError, match="3 positional parameters"):
        matchrec.sql(spark, positional, [10])


def test_a_query_without_the_clause_goes_to_spark(spark: SparkSession) -> None:
    assert matchrec.sql(spark, "SELECT :x AS match_recognize", {"x": 1}).collect() == [Row(1)]
    assert str(matchrec.query(spark, "SELECT 1").explain()).startswith("no MATCH_RECOGNIZE clause")


def test_enable_and_disable(spark: SparkSession, steps: DataFrame) -> None:
    query = f"SELECT a FROM steps MATCH_RECOGNIZE ({CLAUSE}) WHERE b = 3"
    matchrec.enable(spark)
    matchrec.enable(spark, options=matchrec.Options(algorithm="breadth_first"))
    try:
        assert spark.sql(query).collect() == [Row(a=1)]
        assert spark.sql("SELECT {x} AS x", x=3).collect() == [Row(x=3)]
    finally:
        matchrec.disable(spark)
    with pytest.raises(AnalysisException):
        spark.sql(query)
    matchrec.disable(spark)


def test_wrong_values_of_options_are_rejected(spark: SparkSession, steps: DataFrame) -> None:
    with pytest.raises(
        matchrec.MatchRecognizeError, match="unknown value `depth_first` for `algorithm`"
    ) as caught:
        matchrec.match_recognize(steps, CLAUSE, options=matchrec.Options(algorithm="depth_first"))
    assert "backtracking" in str(caught.value)
    with pytest.raises(matchrec.MatchRecognizeError, match="for `transport`"):
        matchrec.match_recognize(steps, CLAUSE, options=matchrec.Options(transport="csv"))


def test_explain_shows_every_stage(spark: SparkSession, steps: DataFrame) -> None:
    explained = matchrec.query(spark, f"SELECT * FROM steps MATCH_RECOGNIZE ({CLAUSE})").explain()
    text = str(explained)
    for part in (
        "row pattern",
        "S U+",
        "condition 0",
        "PREV(`v`)",
        "begin S",
        "take U",
        "algorithm",
    ):
        assert part in text
    assert explained.dot().startswith("digraph")
    assert repr(explained) == "<Explanation: S U+ (backtracking, memoised)>"
    assert repr(explained.clauses[1]) == "<ExplainedClause: S U+ (backtracking, memoised)>"
    assert explained.svg().count("<svg") == 1
    html = explained._repr_html_()
    assert html.count("<svg") == 1
    assert escape(text) in html
    html_of_clause = explained.clauses[1]._repr_html_()
    assert html_of_clause.count("<svg") == 1
    assert escape(str(explained.clauses[1])) in html_of_clause


def test_errors_around_the_clause_come_from_spark(spark: SparkSession, steps: DataFrame) -> None:
    with pytest.raises(AnalysisException, match="nowhere"):
        matchrec.sql(spark, f"SELECT nowhere FROM steps MATCH_RECOGNIZE ({CLAUSE})")
    with pytest.raises(AnalysisException, match="no_table"):
        matchrec.sql(spark, f"SELECT * FROM no_table MATCH_RECOGNIZE ({CLAUSE})")


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        (CLAUSE.replace("PREV(v)", "PREV(w)"), "unknown column `w` in DEFINE"),
        (CLAUSE.replace("PREV(v)", "PREV(W.v)"), "unknown pattern variable `W` in DEFINE"),
        (CLAUSE.replace("v > PREV(v)", "v"), "must be boolean, but this is int"),
        (CLAUSE.replace("ORDER BY t", "ORDER BY tt"), "unknown column `tt` in ORDER BY"),
        (CLAUSE.replace("AS b", "AS a"), "two measures"),
        (CLAUSE.replace("U+", "U++"), "quantifier"),
        (CLAUSE.replace("v > PREV(v)", "v > approx_count_distinct(v)"), "count(DISTINCT x)"),
        (CLAUSE.replace("v > PREV(v)", "v > percentile(v, v)"), "must be a constant"),
        (CLAUSE.replace("FIRST(t)", "nope(t)"), "nope"),
    ],
)
def test_mistakes_are_errors_with_a_location(
    spark: SparkSession, steps: DataFrame, clause: str, message: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, f"SELECT *\nFROM steps MATCH_RECOGNIZE (\n  {clause})")
    text = str(caught.value)
    assert message in text
    assert "  line 3, column" in text
    assert "^" in text


def test_unused_measures_and_partitions_are_pruned(spark: SparkSession, steps: DataFrame) -> None:
    clause = """{t} MATCH_RECOGNIZE (PARTITION BY k ORDER BY t
        MEASURES LAST(v) AS high, count(*) AS days, CLASSIFIER() AS c
        PATTERN (A B+) DEFINE B AS v > PREV(v))"""
    steps = steps.selectExpr("'X' AS k", "*").union(steps.selectExpr("'Y' AS k", "t", "v % 7"))
    all_matches = matchrec.sql(spark, f"SELECT * FROM {clause}", t=steps).collect()
    narrow = f"SELECT days FROM {clause} AS m WHERE m.k = 'X'"
    expected = [row.days for row in all_matches if row.k == "X"]
    assert expected
    assert [row.days for row in matchrec.sql(spark, narrow, t=steps).collect()] == expected
    explained = str(matchrec.query(spark, narrow, t=steps).explain())
    assert "only partitions with `k` = 'X'" in explained
    assert "high" not in explained
    assert matchrec.sql(spark, f"SELECT count(*) FROM {clause}", t=steps).first() == (
        len(all_matches),
    )


@pytest.mark.parametrize(
    ("measure", "message"),
    [("nothing(LAST(v))", "nothing"), ("LAST(array(v)) + 1", "MEASURES"), ("LAST(w)", "`w`")],
)
def test_an_unused_measure_is_checked(
    spark: SparkSession, steps: DataFrame, measure: str, message: str
) -> None:
    query = f"""SELECT n FROM {{t}} MATCH_RECOGNIZE (ORDER BY t MEASURES count(*) AS n,
        {measure} AS wrong PATTERN (A) DEFINE A AS v > 1)"""
    with pytest.raises(matchrec.MatchRecognizeError, match=message) as caught:
        matchrec.sql(spark, query, t=steps)
    assert "line 2, column 9" in str(caught.value) or measure == "LAST(w)"


def test_all_rows_of_a_clause_need_no_view(spark: SparkSession, steps: DataFrame) -> None:
    """Spark gets two queries: for the columns of the input, and for those that the search reads.

    Over Connect, matchrec itself makes the plans of both.
    """
    texts: list[str] = []

    def record_query(self: SparkSession, text: str, *others: Any, **named: Any) -> DataFrame:
        """Record the text of a query, and run it."""
        texts.append(text)
        return plain(self, text, *others, **named)

    plain = type(spark).sql
    with (
        patch.object(type(spark), "sql", record_query),
        use_shortcuts(replace(ALL, parsed_texts=False)),
    ):
        matches = matchrec.sql(spark, f"SELECT * FROM steps MATCH_RECOGNIZE ({CLAUSE}) AS m;")
    assert len(texts) == (0 if is_connect(spark) else 2)
    assert sorted(matches.select("m.b", "a").collect()) == [(3, 1), (5, 4)]


def test_an_unknown_attribute_suggests_the_dataframe(steps: DataFrame) -> None:
    query: Any = matchrec.query(steps, CLAUSE)
    with pytest.raises(
        AttributeError, match=r"a Query has no `filter`; write \.to_df\(\)\.filter\(\)$"
    ):
        query.filter("a > 1")
    for name, advice in {
        "run": ".show() or .to_df()",
        "execute": ".show() or .to_df()",
        "toDF": ".to_df()",
        "b": ".to_df()['b'] for a column",
    }.items():
        with pytest.raises(AttributeError) as caught:
            getattr(query, name)
        assert str(caught.value) == f"a Query has no `{name}`; write {advice}"
    result: Any = matchrec.match_rules(
        steps, {"up": CLAUSE.removeprefix("ORDER BY t ")}, order_by="t"
    )
    with pytest.raises(
        AttributeError, match=r"a RuleMatches has no `count`; write \.matches\.count\(\)$"
    ):
        result.count()
    assert not hasattr(query, "nothing")


def test_a_method_name_of_flink_is_corrected() -> None:
    pattern: Any = matchrec.Pattern.begin("a")
    for call, name in {"followedBy": "followed_by", "oneOrMore": "one_or_more"}.items():
        with pytest.raises(AttributeError) as caught:
            getattr(pattern, call)
        assert str(caught.value) == f"a Pattern has no `{call}`; write .{name}()"
    assert not hasattr(pattern, "nothing")


def test_the_name_of_a_skip_strategy_of_flink_is_corrected() -> None:
    strategies: Any = matchrec.AfterMatch
    for name, advice in {
        "noSkip": "NO_SKIP",
        "no_skip": "NO_SKIP",
        "skipToNext": "SKIP_TO_NEXT",
        "skipPastLastEvent": "SKIP_PAST_LAST_EVENT",
        "skipToFirst": "skip_to_first()",
    }.items():
        with pytest.raises(AttributeError) as caught:
            getattr(strategies, name)
        assert str(caught.value) == f"AfterMatch has no `{name}`; write AfterMatch.{advice}"
    assert not hasattr(strategies, "nothing")
    assert not hasattr(strategies, "_nothing")


def test_a_pattern_is_made_by_begin() -> None:
    make: Any = matchrec.Pattern
    for arguments in ((), ("a",)):
        with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
            make(*arguments)
        assert caught.value.hint == 'write Pattern.begin("name")'
    with pytest.raises(
        AttributeError, match=r"Pattern has no `start`; write Pattern\.begin\(\.\.\.\)$"
    ):
        make.start("a")


def test_a_misspelt_argument_is_corrected(steps: DataFrame) -> None:
    query: Any = matchrec.query(steps, CLAUSE)
    with pytest.raises(AttributeError, match=r"has no `to_pandas`; write \.toPandas\(\)$"):
        query.to_pandas()
    with pytest.raises(TypeError, match=r"Query\.why\(\) .*'limits'; write limit=$"):
        query.why(limits=1)
    with pytest.raises(TypeError, match=r"; it takes partition=, row=, limit=, clause=$"):
        query.why(user_id="ann")
    with pytest.raises(
        TypeError, match=r"by position; it takes partition=, row=, limit=, clause=$"
    ):
        query.why("ann")
    match_pattern: Any = matchrec.match_pattern
    with pytest.raises(TypeError, match=r"; write order_by=$"):
        match_pattern(steps, matchrec.Pattern.begin("a"), orderBy="t")
