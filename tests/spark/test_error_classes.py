"""An error of the engine around a clause has the engine's class and a class of matchrec."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import matchrec
from matchrec.spark.errors import rewritten_errors
from tests.properties.test_queries import settings

CLAUSE = """MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(price) AS p
  PATTERN (A B+) DEFINE B AS price < PREV(price))"""

# The query, the text under the carets, and the code.
REJECTED = {
    "a missing table": ("SELECT * FROM nosuch {}", "nosuch", "unknown-table"),
    "PREV in SELECT": ("SELECT PREV(p) FROM ticks {}", "PREV", "unknown-function"),
    "an unknown column": ("SELECT q FROM ticks {}", "q", "unknown-column"),
    "an unknown column in the input": (
        "SELECT p FROM (SELECT nosuch FROM ticks) {}",
        "nosuch",
        "unknown-column",
    ),
    "an unknown function": (
        "SELECT p FROM ticks {} WHERE nosuch(p) > 1",
        "nosuch",
        "unknown-function",
    ),
    "a syntax error": ("SELECT p FROM ticks {} WHERE p > > 1", ">", "syntax-error"),
}


@pytest.fixture(autouse=True)
def ticks(spark: SparkSession) -> None:
    """Create the view `ticks`."""
    spark.sql("SELECT 1 AS ts, 90 AS price").createOrReplaceTempView("ticks")


@pytest.mark.parametrize(("query", "marked", "code"), REJECTED.values(), ids=REJECTED)
def test_a_refusal_is_caught_by_both_classes(
    spark: SparkSession, query: str, marked: str, code: str
) -> None:
    query = query.format(CLAUSE)
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, query)
    error = caught.value
    assert isinstance(error, PySparkException)
    assert isinstance(error, ValueError)
    assert not isinstance(error, matchrec.MatchRecognizeRunError)
    assert type(error).__name__ in {base.__name__ for base in type(error).__mro__[1:]}
    assert error.span is not None
    assert query[error.span.start : error.span.end].startswith(marked)
    first_line = error.message.partition("\n")[0]  # a sentence of Spark can have more lines
    assert str(error).startswith(f"{first_line} [{code}]\n")
    assert error.code == code
    assert "nosuch" not in marked or "nosuch" in error.message
    with pytest.raises(PySparkException, match=r"line \d+, column \d+"):
        matchrec.sql(spark, query)


def test_the_help_is_the_hint(spark: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, f"SELECT PREV(p) FROM ticks {CLAUSE}")
    assert caught.value.hint == (
        "write it in MEASURES of the clause, with a name, and select that name"
    )
    assert caught.value.hint in str(caught.value)


def test_a_failure_of_the_run_is_no_refusal(spark: SparkSession) -> None:
    clause = "MATCH_RECOGNIZE (ORDER BY ts MEASURES 'x' AS p PATTERN (A) DEFINE A AS price > 1)"
    rows = matchrec.sql(spark, f"SELECT assert_true(p = 'y') FROM ticks {clause}")
    with pytest.raises(PySparkException) as caught:
        rows.collect()
    assert not isinstance(caught.value, matchrec.MatchRecognizeError)


@pytest.mark.parametrize("measure", ["1 / (A.price - 90)", "CAST(concat('x', A.ts) AS INT)"])
def test_an_expression_that_fails_is_a_failure_of_the_run(
    spark: SparkSession, measure: str
) -> None:
    """The class of Spark differs: some engines say AnalysisException for a division by zero."""
    clause = f"ORDER BY ts MEASURES {measure} AS p PATTERN (A) DEFINE A AS price > 1"
    with settings(spark, ansi__enabled="true"):
        rows = matchrec.match_recognize(spark.table("ticks"), clause)
        with pytest.raises(PySparkException) as caught:
            rows.collect()
    error = caught.value
    assert isinstance(error, matchrec.MatchRecognizeRunError)
    assert not isinstance(error, matchrec.MatchRecognizePlanError)
    assert error.code == "expression-not-computed"
    assert (error.line, error.column) == (1, 1 + len("ORDER BY ts MEASURES "))
    assert "[expression-not-computed]" in str(error)


def catch_message(spark: SparkSession, query: str) -> list[str]:
    """Return the labelled lines of the error for a query."""
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, query)
    assert caught.value.code == "unknown-table"
    return [line for line in str(caught.value).split("\n") if line.startswith(("  note", "  help"))]


def test_an_unknown_table_has_help(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewritten_errors, "MAX_TABLES", 1000)  # other tests leave tables behind
    [note, hint] = catch_message(spark, f"SELECT * FROM tiks {CLAUSE}")
    assert note.startswith("  note: the session has: ")
    assert "ticks" in note
    assert hint == "  help: write ticks"
    [_, hint] = catch_message(spark, f"SELECT * FROM shelves {CLAUSE}")
    view = 'make a view of your DataFrame, df.createOrReplaceTempView("shelves")'
    assert hint == f"  help: {view}, or write {{shelves}} and pass shelves=df"


def test_a_file_without_quotes_is_no_table(spark: SparkSession) -> None:
    *_, hint = catch_message(spark, f"SELECT * FROM prices.csv {CLAUSE}")
    # a table with a similar name, which another test may have left behind, is suggested first
    assert hint.endswith(
        "read a file into a DataFrame first, with its header, and write that in braces"
    )


def test_an_error_has_its_line_and_column(spark: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.match_recognize(
            spark.table("ticks"), "ORDER BY ts\n  PATTERN (A) DEFINE B AS 1 = 1"
        )
    assert (caught.value.line, caught.value.column) == (2, 22)
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.query(spark.table("ticks"), "ORDER BY ts PATTERN (A)").why(partition={"x": 1})
    assert (caught.value.line, caught.value.column) == (None, None)


@pytest.mark.parametrize("name", [name for name in matchrec.__all__ if name.endswith("Error")])
def test_help_shows_only_what_users_need(name: str) -> None:
    """An error has only public names that its documentation explains."""
    error_class = getattr(matchrec, name)
    names = {name for base in error_class.__mro__[:-4] for name in vars(base) if name[0] != "_"}
    assert names <= {
        *("code", "condition", "rule", "line", "column", "span"),
        *("partition", "row_number", "from_exception"),
    }
