"""`enable` applies to all sessions of an application, until `disable`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Row, SparkSession

import matchrec
from matchrec.spark import sql_replacement
from matchrec.spark.session import is_connect

pytestmark = pytest.mark.one_of(2)

CLAUSE = "ORDER BY t MEASURES FIRST(t) AS a PATTERN (S U+) DEFINE U AS v > PREV(v)"
QUERY = f"SELECT * FROM VALUES (1, 5), (2, 6) AS rows(t, v) MATCH_RECOGNIZE ({CLAUSE})"
EXPENSIVE = QUERY.replace("v > PREV(v)", "t - v > FIRST(S.t) - sum(v)")


@pytest.fixture
def installed_session(spark: SparkSession) -> Iterator[SparkSession]:
    """Return the session with `enable`."""
    matchrec.enable(spark)
    yield spark
    matchrec.disable(spark)


def open_other_session(spark: SparkSession) -> SparkSession:
    """Return another session of the same application."""
    if not is_connect(spark):
        return spark.newSession()
    address: Any = spark.client
    return SparkSession.builder.remote(f"sc://{address._builder.endpoint}").create()


def test_enable_is_for_all_sessions_of_the_application(installed_session: SparkSession) -> None:
    other = open_other_session(installed_session)
    assert other is not installed_session
    assert other.sql(QUERY).collect() == [Row(a=1)]
    matchrec.disable(other)
    with pytest.raises(AnalysisException):
        installed_session.sql(QUERY).collect()


def test_enable_is_for_every_object_of_a_session(installed_session: SparkSession) -> None:
    assert SparkSession.builder.getOrCreate().sql(QUERY).collect() == [Row(a=1)]
    assert installed_session.range(1).sparkSession.sql(QUERY).collect() == [Row(a=1)]
    assert type(installed_session).sql(installed_session, QUERY).collect() == [Row(a=1)]


def test_other_threads_can_use_the_enabled_session(installed_session: SparkSession) -> None:
    rows: list[Any] = []
    thread = Thread(target=lambda: rows.extend(installed_session.sql(QUERY).collect()))
    thread.start()
    thread.join()
    assert rows == [Row(a=1)]


def test_a_subclass_can_override_the_method(spark: SparkSession) -> None:
    queries: list[str] = []

    class Logging(type(spark)):  # type: ignore[misc]
        """A session that records its queries."""

        def sql(self, sqlQuery: str, args: Any = None, **kwargs: Any) -> Any:  # noqa: N803
            """Record a query, and run it."""
            queries.append(sqlQuery)
            return super().sql(sqlQuery, args, **kwargs)

        def __del__(self) -> None:
            """Keep the connection open, because it belongs to the other session."""

    session = object.__new__(Logging)
    session.__dict__.update(spark.__dict__)
    matchrec.enable(session)
    try:
        assert session.sql(QUERY).collect() == [Row(a=1)]
        assert spark.sql(QUERY).collect() == [Row(a=1)]
    finally:
        matchrec.disable(session)
    assert queries
    assert not any("MATCH_RECOGNIZE" in text for text in queries)
    assert Logging.sql.__qualname__.endswith("Logging.sql")


def test_options_of_the_last_enable_are_those_of_all(spark: SparkSession) -> None:
    other = open_other_session(spark)
    matchrec.enable(spark)
    matchrec.enable(other, options=matchrec.Options(algorithm="breadth_first", max_steps=1))
    try:
        with pytest.raises(Exception, match="more than 1 step, the limit"):
            spark.sql(EXPENSIVE).collect()
    finally:
        matchrec.disable(spark)


def test_another_application_is_not_enabled(
    installed_session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_replacement, "find_application", lambda _: "another one")
    assert installed_session.sql("SELECT 1 AS x").collect() == [Row(x=1)]
    with pytest.raises(AnalysisException):
        installed_session.sql(QUERY).collect()


def test_a_later_wrapper_of_sql_is_kept(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    from functools import wraps

    calls = []
    matchrec.enable(spark)
    enabled_sql = type(spark).sql

    @wraps(enabled_sql)
    def record_call(self: SparkSession, *args: Any, **kwargs: Any) -> DataFrame:
        """Record a call, and run the query."""
        calls.append(args)
        return enabled_sql(self, *args, **kwargs)

    monkeypatch.setattr(type(spark), "sql", record_call)
    assert spark.sql(QUERY).collect() == [Row(a=1)]
    matchrec.disable(spark)
    assert spark.sql("SELECT 1 AS x").collect() == [Row(x=1)]
    assert calls[-1] == ("SELECT 1 AS x",)
    with pytest.raises(AnalysisException):
        spark.sql(QUERY).collect()
    monkeypatch.undo()
    matchrec.enable(spark)
    matchrec.disable(spark)


def test_disable_restores_sql(spark: SparkSession) -> None:
    before = type(spark).sql
    matchrec.disable(spark)
    matchrec.enable(spark)
    assert type(spark).sql is not before
    assert type(spark).sql.__doc__ == before.__doc__
    matchrec.disable(spark)
    assert type(spark).sql is before


def test_a_value_that_is_not_a_table_is_rejected(installed_session: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match=r"`x` of .* is of type object"):
        installed_session.sql(QUERY, x=object())
    with pytest.raises(matchrec.MatchRecognizePlanError, match=r"`args` of .* is 3"):
        installed_session.sql(QUERY, 3)  # type: ignore[arg-type]


def test_args_are_checked_before_the_clause_in_any_dialect(spark: SparkSession) -> None:
    """The types of columns decide what `/` means in Trino, so parsing plans the clause."""
    query = """SELECT n / 2 AS v FROM (VALUES 1, 2) AS t (e) MATCH_RECOGNIZE (ORDER BY e
        MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS e >= ?)"""
    matchrec.enable(spark, dialect="trino")
    try:
        with pytest.raises(matchrec.MatchRecognizePlanError, match=r"`args` of .* is 3"):
            spark.sql(query, 3)  # type: ignore[arg-type]
    finally:
        matchrec.disable(spark)


def test_enable_works_in_foreach_batch(spark: SparkSession, tmp_path: Path) -> None:
    """Over Connect, the function runs in a process of the server and must call `enable` itself."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.csv").write_text("1,5\n2,6\n3,1\n")
    stream = spark.readStream.schema("t int, v int").csv(str(tmp_path / "in"))
    out = str(tmp_path / "out")
    enables_in_batch = is_connect(spark)

    def write(batch: DataFrame, number: int) -> None:
        """Append the matches of a batch to the result."""
        del number
        session = batch.sparkSession
        if enables_in_batch:
            matchrec.enable(session)
        batch.createOrReplaceTempView("batch")
        matches = session.sql(f"SELECT * FROM batch MATCH_RECOGNIZE ({CLAUSE})")
        matches.write.mode("append").parquet(out)

    if not enables_in_batch:
        matchrec.enable(spark)
    try:
        query = stream.writeStream.foreachBatch(write).trigger(availableNow=True).start()
        query.awaitTermination()
    finally:
        matchrec.disable(spark)
    assert spark.read.parquet(out).collect() == [Row(a=1)]


def test_a_misspelt_clause_is_an_error_of_ours(installed_session: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizeParseError, match="MATCH_RECOGNISE"):
        installed_session.sql(QUERY.replace("MATCH_RECOGNIZE", "MATCH_RECOGNISE"))


def test_a_query_without_a_clause_is_spark_s_in_any_dialect(spark: SparkSession) -> None:
    frame = spark.range(2)
    matchrec.enable(spark, dialect="trino")
    try:
        query = "SELECT id AS `an id` FROM {frame} DISTRIBUTE BY id"  # not valid in Trino
        assert spark.sql(query, frame=frame).columns == ["an id"]
    finally:
        matchrec.disable(spark)


@pytest.mark.parametrize("call", ["sql", "installed"])
def test_a_frame_of_another_session_is_named(spark: SparkSession, call: str) -> None:
    """In `foreachBatch`, for example, the batch belongs to another session, with other views."""
    if is_connect(spark):
        pytest.skip("a client of Connect sends its views along")
    other = spark.newSession()
    query = f"SELECT * FROM {{ticks}} MATCH_RECOGNIZE ({CLAUSE})"
    frames = {
        session: session.sql("VALUES (1, 5), (2, 6) AS t(t, v)") for session in (spark, other)
    }
    matchrec.enable(spark)
    try:
        run = SparkSession.sql if call == "installed" else matchrec.sql
        with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
            run(spark, query, ticks=frames[other])  # type: ignore[operator]
        message, location, *_ = str(caught.value).split("\n")
        assert (
            message == "`{ticks}` is a DataFrame of another session [dataframe-of-another-session]"
        )
        assert location == "  line 1, column 15"
        assert "ask that session, ticks.sparkSession" in str(caught.value.hint)
        for session, ticks in frames.items():
            assert run(session, query, ticks=ticks).collect() == [Row(a=1)]  # type: ignore[operator]
    finally:
        matchrec.disable(spark)


def test_a_session_may_have_several_objects(spark: SparkSession) -> None:
    if is_connect(spark):
        pytest.skip("each object is another client")
    same_session: Any = SparkSession(spark.sparkContext, spark._jsparkSession)
    assert same_session is not spark
    ticks = same_session.sql("VALUES (1, 5), (2, 6) AS t(t, v)")
    matches = matchrec.sql(spark, f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({CLAUSE})", t=ticks)
    assert matches.collect() == [Row(a=1)]
