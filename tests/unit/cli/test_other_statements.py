"""`matchrec check` of statements that are not queries, and of texts that are no statements."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.quick.embedded import invoke, invoke_failing
from tests.unit.cli.conftest import STREAKS

SCHEMA = ("--schema", "t: sym STRING, ts TIMESTAMP, price DOUBLE")
CLAUSE = STREAKS.partition("FROM t")[2]
SYNTAX_CHECKED = "not a query; only its syntax was checked\n"
INSERT = f"INSERT INTO results SELECT * FROM t {CLAUSE}"


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE other (a INT)", "SHOW TABLES", "SET a = 1", "RESET", INSERT]
)
def test_check_of_other_statements_checks_their_syntax(statement: str, embedded: Path) -> None:
    result = invoke("check", "-", *SCHEMA, stdin=statement)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", SYNTAX_CHECKED)


@pytest.mark.parametrize(
    "statement",
    ["TRUNCATE TABLE t", "ANALYZE TABLE t COMPUTE STATISTICS", "CREATE FUNCTION f AS 'x.F'"],
)
def test_check_accepts_statements_of_spark_that_sail_lacks(statement: str, embedded: Path) -> None:
    result = invoke("check", "-", *SCHEMA, stdin=statement)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("not a query")


@pytest.mark.parametrize(
    ("text", "message", "code"),
    [
        ("hello world", "Syntax error at or near 'hello'", "syntax-error"),
        ("-- a\n\nhello world", "Syntax error at or near 'hello'", "syntax-error"),
        ("import matchrec", "Syntax error at or near '", "syntax-error"),
        ("EXPLAIN hello", "Syntax error at or near 'hello'", "syntax-error"),
        ("CREATE TABLE other (a INT", "Syntax error at or near end of input", "syntax-error"),
        ("INSERT INTO r SELECT a FRM t", "unknown keyword `FRM` in the query", "misspelt-keyword"),
        (f"{INSERT} WHER low > 1", "unknown keyword `WHER`", "misspelt-keyword"),
        ("PATTERN (A B) DEFINE B AS x > 1", "a clause of MATCH_RECOGNIZE is", "not-a-query"),
        ("ORDER BY ts PATTERN (A DEFINE A AS x > 1", "a clause of MATCH_RECOGNIZE", "not-a-query"),
        ("PATTERN SEQ(A a)", "SASE+ is not a SQL query", "not-a-query"),
    ],
)
def test_check_rejects_a_text_that_is_no_statement(
    text: str, message: str, code: str, embedded: Path
) -> None:
    error = invoke_failing("check", "-", *SCHEMA, stdin=text, code=1)
    headline = error.splitlines()[0]
    assert headline.startswith("matchrec: error: ")
    assert message in headline  # Spark's sentence begins with its condition
    assert headline.endswith(f"[{code}]")


def test_an_error_at_the_first_word_says_how_a_statement_begins(embedded: Path) -> None:
    error = invoke_failing("check", "-", stdin="hello world", code=1)
    assert "help: begin a statement with a keyword of SQL, such as SELECT," in error


def test_check_of_a_view_shows_no_columns_of_its_statement(embedded: Path) -> None:
    view = "CREATE OR REPLACE TEMP VIEW checked AS SELECT 1 AS one; SELECT * FROM checked"
    result = invoke("check", "-", stdin=view)
    assert result.stdout.splitlines() == [
        "statement 1 of 2: ok",
        "statement 2 of 2: ok; columns of the result: one INT",
    ]


def test_another_statement_needs_values_of_parameters(embedded: Path) -> None:
    statement = "INSERT INTO results VALUES (:low, ':x', CAST(NULL AS STRUCT<a:INT>))"
    message = invoke_failing("check", "-c", statement, code=1)
    assert message.startswith("matchrec: error: parameter `:low` has no value [")
    result = invoke("check", "-c", statement, "--arg", "low=3")
    assert (result.exit_code, result.stderr) == (0, SYNTAX_CHECKED)
