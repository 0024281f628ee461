"""Errors of the engine about a text without a clause have our class, code, place and help."""

from __future__ import annotations

import logging

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import matchrec
from matchrec.spark.errors import rewritten_errors

# The text, the code, the characters that the caret marks, and the help; None for any help.
REJECTED = {
    "no text": ("", "empty-query", None, "write SELECT * FROM t MATCH_RECOGNIZE (...)"),
    "a semicolon": (" ; ", "empty-query", ";", "write SELECT * FROM t MATCH_RECOGNIZE (...)"),
    "a comment": (
        "-- nothing\n",
        "empty-query",
        "-- nothing",
        "write SELECT * FROM t MATCH_RECOGNIZE (...)",
    ),
    "two statements": (
        "SELECT ';' AS x; SELECT 2",
        "several-statements",
        "; SELECT",
        "pass each statement in its own call",
    ),
    "a mistake in the first of two statements": (
        "SELECT * FRM quotes; SELECT 2",
        "misspelt-keyword",
        "FRM quotes",
        "write FROM",
    ),
    "a keyword": ("SELECT *\nFRM quotes", "misspelt-keyword", "FRM quotes", "write FROM"),
    "a column": ("SELECT sym\nFROM quotes\nWHERE pric > 1", "unknown-column", "pric >", None),
    "a column of two letters": ("SELECT dy FROM quotes", "unknown-column", "dy FROM", None),
    "a table": ("SELECT * FROM quots q", "unknown-table", "quots q", "write quotes"),
    "a table in JOIN": (
        "SELECT * FROM quotes JOIN tixs ON tixs.sym = quotes.sym",
        "unknown-table",
        "tixs ON",
        None,
    ),
    "a function": ("SELECT uppr(sym) FROM quotes", "unknown-function", "uppr(sym", None),
    "a parameter without a value": (
        "SELECT sym FROM quotes WHERE day = :n AND ':n' <> sym",
        "parameter-without-value",
        ":n AND",
        'pass args={"n": value}, or write the value itself',
    ),
    "a DataFrame in braces": ("SELECT nosuch FROM {days}", "unknown-column", "nosuch FROM", None),
}


@pytest.fixture(scope="module", autouse=True)
def _quotes(spark: SparkSession) -> None:
    spark.sql("SELECT 'X' AS sym, 1 AS day, 90 AS price").createOrReplaceTempView("quotes")


@pytest.fixture
def on_sail(request: pytest.FixtureRequest) -> None:
    """Skip the test unless it runs on Sail."""
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark finds the mistake only when the query runs")


@pytest.mark.parametrize(("text", "code", "marked", "hint"), REJECTED.values(), ids=REJECTED)
def test_the_error_of_a_text_without_a_clause(
    spark: SparkSession, text: str, code: str, marked: str | None, hint: str | None
) -> None:
    frames = {"days": spark.range(2)} if "{days}" in text else {}
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, text, **frames)
    error = caught.value
    assert isinstance(error, PySparkException)
    assert error.code == code
    assert f"[{code}]" in str(error).partition("\n  ")[0]
    if marked is None:
        assert error.span is None
    else:
        assert error.span is not None
        assert text[error.span.start :].startswith(marked)
    if hint is not None:
        assert error.hint == hint


def test_an_unknown_column_lists_the_columns_of_the_table(spark: SparkSession) -> None:
    """Spark suggests columns itself, in its own sentence."""
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, "SELECT q.pric FROM quotes AS q")
    assert str(caught.value).endswith("  note: quotes has: sym, day, price\n  help: write price")
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, "SELECT pric FROM quotes, (SELECT 1)")
    assert "quotes has" not in str(caught.value)


@pytest.mark.usefixtures("on_sail")
@pytest.mark.parametrize("string", ["z", "a(b"])
def test_a_string_that_is_not_a_number_is_marked(spark: SparkSession, string: str) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, f"SELECT day FROM quotes WHERE day > '{string}'")
    assert caught.value.column == 36
    assert caught.value.hint == "write a number instead of the string"


def test_a_text_without_a_mistake_asks_for_nothing(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(rewritten_errors, "rewrite_engine_error", None)
    caplog.set_level(logging.ERROR)
    assert matchrec.sql(spark, "SELECT day FROM quotes;").collect() == [(1,)]
    assert not caplog.records


def test_spark_sql_keeps_its_own_errors(spark: SparkSession) -> None:
    matchrec.enable(spark)
    try:
        with pytest.raises(PySparkException) as caught:
            spark.sql("SELECT nosuch FROM quotes").collect()
    finally:
        matchrec.disable(spark)
    assert not isinstance(caught.value, matchrec.MatchRecognizeError)
