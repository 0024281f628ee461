"""Messages about expressions that Sail rejects and Spark computes."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import matchrec

ROWS = "(SELECT 1 AS id, 'A' AS sym, TIMESTAMP'2026-01-31 12:00:00' AS at)"


@pytest.fixture(autouse=True)
def _only_on_sail(request: pytest.FixtureRequest) -> None:
    """Skip the test unless it runs on Sail."""
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark computes these expressions, or has other messages")


@pytest.mark.parametrize(
    ("condition", "sentence", "hint"),
    [
        ("sym LIKE ANY ('A', 'B')", "LIKE ANY is not supported",
         "write one LIKE for each pattern: x LIKE 'a' OR x LIKE 'b'"),
        ("sym NOT ILIKE ANY ('A', 'B')", "NOT ILIKE ANY is not supported",
         "write one NOT ILIKE for each pattern: x NOT ILIKE 'a' OR x NOT ILIKE 'b'"),
        ("sym LIKE ALL ('A', 'B')", "unknown function `all` in DEFINE",
         "write one condition for each value: x LIKE 'a' AND x LIKE 'b'"),
        ("CURRENT_TIME > at", "values of type TIME are not supported",
         "write date_format(x, 'HH:mm:ss') for the time of day of a timestamp x"),
    ],
)  # fmt: skip
def test_the_help_says_what_to_write(
    spark: SparkSession, condition: str, sentence: str, hint: str
) -> None:
    query = f"""SELECT * FROM {ROWS} MATCH_RECOGNIZE (
      ORDER BY at MEASURES id AS n PATTERN (A) DEFINE A AS {condition})"""
    with pytest.raises(Exception, match=r"rejected|unknown|computed") as caught:
        matchrec.sql(spark, query).collect()
    assert sentence in str(caught.value)
    assert f"help: {hint}" in str(caught.value)


@pytest.mark.parametrize(
    ("item", "sentence", "hint"),
    [
        ("CAST('5 EUR' AS DOUBLE)", "'5 EUR' cannot be cast to DOUBLE",
         "write a number instead of the string"),
        ("day > '01-JAN-20'", "'01-JAN-20' cannot be cast to DATE",
         "write a date such as DATE'2026-01-31' instead of the string"),
        ("n + sym", "`+` cannot combine int and string", "write n + CAST(sym AS DOUBLE)"),
        ("sym * n", "`*` cannot combine string and int", "write CAST(sym AS DOUBLE) * n"),
    ],
)  # fmt: skip
def test_errors_around_the_clause_say_what_to_write(
    spark: SparkSession, item: str, sentence: str, hint: str
) -> None:
    query = f"""SELECT {item} AS x FROM {ROWS} MATCH_RECOGNIZE (
      ORDER BY at MEASURES id AS n, sym AS sym, DATE'2026-01-31' AS day PATTERN (A)
      DEFINE A AS id > 0)"""
    with pytest.raises(PySparkException) as caught:
        matchrec.sql(spark, query).collect()
    headline, line, _, _, help_line = str(caught.value).splitlines()
    assert headline == f"{sentence} [rejected-by-engine]"
    assert line.startswith("  line 1, column ")
    assert help_line == f"  help: {hint}"
