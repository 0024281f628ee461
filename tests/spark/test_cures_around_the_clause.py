"""Errors of the query around a clause say what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import matchrec

CLAUSE = """clicks MATCH_RECOGNIZE (PARTITION BY user ORDER BY ts MEASURES count(*) AS s
  PATTERN (A+) DEFINE A AS ts > 0)"""
INSIDE = [
    "  note: the clause returns: user, s",
    "  help: add LAST(page) AS page to MEASURES, or write ALL ROWS PER MATCH",
]
UNNAMED = [
    "  note: the rows of the clause have no name",
    "  help: write user, or MATCH_RECOGNIZE (...) AS m",
]
ROW_FUNCTION_HELP = [
    "  help: write it in MEASURES of the clause, with a name, and select that name"
]
NOTES_AND_HINTS = {
    "SELECT CLASSIFIER() AS c FROM {}": ROW_FUNCTION_HELP,
    "SELECT match_number() FROM {}": ROW_FUNCTION_HELP,
    "SELECT PREV(user) FROM {}": ROW_FUNCTION_HELP,
    "SELECT RUNNING sum(ts) AS s FROM {}": ROW_FUNCTION_HELP,
    "SELECT user, A.ts FROM {}": [
        "  note: A is known only inside the clause",
        "  help: write LAST(A.ts) AS x in MEASURES, and select x",
    ],
    "SELECT count(A.*) FROM {}": [
        "  note: A is known only inside the clause",
        "  help: write count(A.*) AS x in MEASURES, and select x",
    ],
    "SELECT page FROM {}": INSIDE,
    "SELECT page FROM {} WHERE user <> 'SELECT'": INSIDE,
    "SELECT user FROM {} WHERE page = 'home'": INSIDE,
    "SELECT m.page FROM {} AS m": INSIDE,
    "SELECT clicks.page FROM {}": INSIDE,
    "SELECT clicks.page FROM {} AS m": INSIDE,
    "SELECT v.user FROM {} AS m": [
        "  note: the rows of the clause are called m",
        "  help: write m.user",
    ],
    "SELECT clicks.user FROM {}": UNNAMED,
    "SELECT user FROM {} WHERE clicks.user > 'a'": UNNAMED,
    "SELECT clicks.* FROM {}": [
        "  note: the rows of the clause have no name",
        "  help: write *, or MATCH_RECOGNIZE (...) AS m",
    ],
    "SELECT clicks.* FROM {} AS m": [
        "  note: the rows of the clause are called m",
        "  help: write m.*",
    ],
    "SELECT m.s FROM {} AS m(x, y)": [
        "  note: the clause returns: x, y",
        "  help: write one of these",
    ],
    "SELECT v.x FROM {} AS m(`x`, `my page`)": [
        "  note: the rows of the clause are called m",
        "  help: write m.x",
    ],
    "SELECT m.my_page FROM {} AS m(`x`, `my page`)": [
        "  note: the clause returns: x, my page",
        "  help: write `my page`",
    ],
    "SELECT nosuch FROM {}": ["  note: the clause returns: user, s", "  help: write one of these"],
    "SELECT m.usr FROM {} AS m": ["  note: the clause returns: user, s", "  help: write user"],
    "SELECT s FROM {} ORDER BY usr": ["  note: the clause returns: user, s", "  help: write user"],
}
# Unknown columns of other relations. Spark suggests columns, the most similar first; Sail does not.
SIMILAR_COLUMNS_ON_SPARK = {
    "SELECT d.usr FROM {} m JOIN (SELECT 1 AS one) d": "m.user, d.one",
    "SELECT d.page FROM {} m JOIN (SELECT 1 AS one) d": "d.one, m.user",
}


@pytest.fixture(autouse=True)
def clicks(spark: SparkSession) -> Iterator[None]:
    """Create the view `clicks`."""
    rows = spark.createDataFrame(
        [("a", 1, "home"), ("a", 2, "cart")], "user string, ts int, page string"
    )
    rows.createOrReplaceTempView("clicks")
    yield
    spark.catalog.dropTempView("clicks")


def catch_error_lines(spark: SparkSession, query: str) -> list[str]:
    """Return the lines of the error message of a query."""
    with pytest.raises(PySparkException) as caught:
        matchrec.sql(spark, query.format(CLAUSE)).collect()
    return str(caught.value).split("\n")


def catch_notes_and_hints(spark: SparkSession, query: str) -> list[str]:
    """Return the lines of the error message of a query after the line of carets."""
    lines = catch_error_lines(spark, query)
    carets = next(index for index, line in enumerate(lines) if re.fullmatch(r" *\^+", line))
    return lines[carets + 1 :]


@pytest.mark.parametrize(
    ("query", "note", "hint"),
    [
        ("SELECT v.`b.c` FROM {} AS m(x, `b.c`)", "are called m", "write m.`b.c`"),
        ("SELECT m.`b.d` FROM {} AS m(x, `b.c`)", "returns: x, b.c", "write `b.c`"),
        ("SELECT m.`b``d` FROM {} AS m(x, `b``c`)", "returns: x, b`c", "write `b``c`"),
        ("SELECT v.`b c`.d FROM {} AS m(x, d)", "are called m", "write m.d"),
    ],
)
def test_a_name_in_backticks_may_have_points(
    spark: SparkSession, query: str, note: str, hint: str
) -> None:
    *_, note_line, hint_line = catch_error_lines(spark, query)
    assert note_line.endswith(note)
    assert hint_line == f"  help: {hint}"


@pytest.mark.parametrize("query", NOTES_AND_HINTS)
def test_an_unknown_column_has_notes_and_hints(spark: SparkSession, query: str) -> None:
    assert catch_notes_and_hints(spark, query) == NOTES_AND_HINTS[query]


@pytest.mark.parametrize("query", SIMILAR_COLUMNS_ON_SPARK)
def test_an_unknown_column_of_another_relation_gets_no_hint_about_the_clause(
    spark: SparkSession, request: pytest.FixtureRequest, query: str
) -> None:
    notes = []
    if request.config.getoption("--on") == "spark":
        notes = [f"  note: similar columns: {SIMILAR_COLUMNS_ON_SPARK[query]}"]
    assert catch_notes_and_hints(spark, query) == notes


def test_an_alias_may_be_called_as_a_variable(spark: SparkSession) -> None:
    assert matchrec.sql(spark, f"SELECT a.s FROM {CLAUSE} AS a").collect() == [(2,)]
    assert catch_error_lines(spark, "SELECT a.page FROM {} AS a")[-2:] == INSIDE


@pytest.mark.parametrize(
    ("query", "name", "column"),
    [
        ("SELECT user, count(*) FROM {}", "user", 8),
        ("SELECT m.s + 1, max(s) FROM {} AS m GROUP BY user", "s", 10),
        ("SELECT user AS u, s, max(s) FROM {} AS m GROUP BY 1", "s", 19),
        ("SELECT upper(user), count(*), s FROM {} AS m GROUP BY upper(user)", "s", 31),
    ],
)
def test_a_column_that_is_not_grouped(
    spark: SparkSession, query: str, name: str, column: int
) -> None:
    message, location, _, carets, hint = catch_error_lines(spark, query)
    sentence = f"column `{name}` is neither in GROUP BY nor in an aggregate"
    assert message == f"{sentence} [rejected-by-engine]"
    assert location == f"  line 1, column {column}"
    assert carets == f"{' ' * (5 + column)}{'^' * len(name)}"
    assert f"add {name} to GROUP BY, or write an aggregate of it, such as max({name})" in hint


UNGROUPED = {
    "SELECT * FROM {} HAVING count(*) > 1": "`*` is not allowed with HAVING",
    "SELECT user FROM {} HAVING s > 1": "HAVING has neither GROUP BY nor an aggregate",
}


@pytest.mark.parametrize("query", UNGROUPED)
def test_errors_about_groups_have_no_internal_words(
    spark: SparkSession, request: pytest.FixtureRequest, query: str
) -> None:
    message = "\n".join(catch_error_lines(spark, query))
    assert not re.search(r"#\d|Wildcard|Int64|VALUES", message)
    if request.config.getoption("--on") == "sail":
        assert UNGROUPED[query] in message


@pytest.mark.parametrize("having", ["s > 1", "m.s > 1", "upper(user) = 'A' AND s > 1"])
def test_a_column_in_having_that_is_not_grouped(spark: SparkSession, having: str) -> None:
    query = f"SELECT user, count(*) AS n FROM {{}} AS m GROUP BY user HAVING {having}"
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.sql(spark, query.format(CLAUSE)).collect()
    error = refused.value
    assert error.source is not None
    assert error.span is not None
    assert error.source.text_at(error.span).removeprefix("m.") == "s"
    assert error.hint == "add s to GROUP BY, or write an aggregate of it, such as max(s)"


# Queries around the clause that both engines reject: the marked part, and what to write instead.
REFUSED: dict[str, tuple[str, str]] = {
    "SELECT user FROM {} LIMIT -1": ("(LIMIT )?-1", "write a whole number of rows, 0 or more"),
    "SELECT user FROM {} LIMIT 2 OFFSET -3": (
        "(OFFSET )?-3",
        "write a whole number of rows, 0 or more",
    ),
    "SELECT user FROM {} LIMIT 'x'": ("", "write a whole number of rows, 0 or more"),
    "SELECT user FROM {} WHERE s +": ("", "write what is missing after the last word"),
    "SELECT user s s FROM {}": ("s", "write a comma or an operator before it"),
    "SELECT CAST(s AS NUMBER) FROM {}": ("", "write DECIMAL(18, 2), BIGINT or DOUBLE"),
    "SELECT TIMESTAMP'x' FROM {}": (
        "",
        "write a valid timestamp, such as TIMESTAMP'2026-01-31 12:00:00'",
    ),
    "SELECT INTERVAL 'x' DAY FROM {}": ("", "write INTERVAL '1' DAY"),
    "SELECT uper(user) FROM {}": ("", "write upper"),
    "SELECT own_score(s) FROM {}": (
        "",
        "if own_score is your own function, register it with spark.udf.register",
    ),
    "SELECT row_number() FROM {}": ("", "write OVER (ORDER BY ...) after the parentheses"),
    "SELECT upper(user, 1) FROM {}": ("", "https://spark.apache.org/docs/latest/api/sql/"),
    "SELECT user FROM {} WHERE s": ("", "IS NOT NULL"),
    "SELECT user FROM {} WHERE sum(s) > 1": ("", "write a condition on groups in HAVING"),
    "SELECT user FROM {} HAVING s > 1": ("", "write WHERE instead of HAVING"),
    "SELECT sum(sum(s)) FROM {}": ("", "compute the inner aggregate in a subquery"),
    "SELECT user FROM {} ORDER BY 7": ("", "write the name of a column, or the position of one"),
    "SELECT user FROM {} UNION SELECT 1, 2": ("", "write the same number of columns in both"),
    "SELECT user FROM {} JOIN (SELECT 1 AS one) USING (one)": ("", "that both sides of the JOIN"),
    "SELECT user[1] FROM {}": ("", "write the name alone: x[0] and x.y are for arrays"),
    "SELECT s.x FROM {}": ("", "alone: x"),
    "SELECT * FROM read_csv('t.csv') MATCH_RECOGNIZE (ORDER BY x PATTERN (A) DEFINE A AS x > 1)": (
        r"read_csv(\('t.csv'\))?",
        "read a file into a DataFrame first",
    ),
}


@pytest.mark.parametrize("query", REFUSED)
def test_a_rejected_query_has_a_hint(spark: SparkSession, query: str) -> None:
    part, hint = REFUSED[query]
    with pytest.raises(matchrec.MatchRecognizeError) as refused:
        matchrec.sql(spark, query.format(CLAUSE)).collect()
    error = refused.value
    assert hint in (error.hint or "")
    if part:
        assert error.source is not None
        assert error.span is not None
        assert re.fullmatch(part, error.source.text_at(error.span))


def test_an_error_without_a_specific_hint_has_a_general_one(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    """There is a general hint on Sail. On Spark, its message allows a specific hint."""
    with pytest.raises(matchrec.MatchRecognizeError) as refused:
        matchrec.sql(spark, f"SELECT map_filter(s, 1) FROM {CLAUSE}").collect()
    assert refused.value.hint
    if request.config.getoption("--on") == "sail":
        assert "add the other parts of the query one at a time" in refused.value.hint


MIXED_TYPES = {
    '"page" > 5': "write page for the column",
    "page - PREV(page) > 5": "CAST(page AS DOUBLE) - CAST(PREV(page) AS DOUBLE)",
    "ts > 'high'": "write a number without quotes instead of 'high'",
    "timestamp_seconds(ts) - PREV(timestamp_seconds(ts)) > 600": "INTERVAL '600' SECOND",
    "timestamp_seconds(ts) - 600 > PREV(timestamp_seconds(ts))": "INTERVAL '600' DAY, or HOUR",
    "timestamp_seconds(ts) > 5": "such as TIMESTAMP'",
    "date_add(DATE'2026-01-01', ts) > '2026-13-01'": "write a date such as DATE'2026-01-31'",
    "timestamp_seconds(ts) - PREV(timestamp_seconds(ts)) < '10 MINUTES'": "INTERVAL '10' MINUTE",
    "ts = TRUE": "write ts <> 0",
    "NOT page": "write NOT (page = 'a')",
    "page LIKE 5": "write page LIKE '5%'",
}


@pytest.mark.parametrize("condition", MIXED_TYPES)
def test_types_that_do_not_go_together(
    spark: SparkSession, request: pytest.FixtureRequest, condition: str
) -> None:
    clause = f"ORDER BY ts MEASURES 1 AS m PATTERN (A) DEFINE A AS {condition}"
    assert MIXED_TYPES[condition] in (check_refused_on_sail(spark, request, clause).hint or "")


@pytest.mark.parametrize("function", ["avg", "stddev"])
def test_an_aggregate_of_a_text_needs_a_cast(
    spark: SparkSession, request: pytest.FixtureRequest, function: str
) -> None:
    clause = f"ORDER BY ts MEASURES {function}(page) AS m PATTERN (A) DEFINE A AS ts > 1"
    error = check_refused_on_sail(spark, request, clause)
    assert error.message == f"`{function}` in MEASURES does not take string"
    assert error.hint == f"write {function}(CAST(page AS DOUBLE))"


def check_refused_on_sail(
    spark: SparkSession, request: pytest.FixtureRequest, clause: str
) -> matchrec.MatchRecognizePlanError:
    """Check that Sail rejects a clause when it plans it, and return the error.

    Spark accepts most strings, and rejects their values later.
    """
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark casts the strings, or has other messages")
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.match_recognize(spark.table("clicks"), clause)
    return refused.value


def test_a_misspelt_table_is_corrected(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match=r"write clicks$"):
        matchrec.sql(spark, f"SELECT * FROM {CLAUSE.replace('clicks', 'cliks')}")


def test_a_file_with_nanoseconds_is_rejected_with_advice(
    spark: SparkSession, tmp_path: Path
) -> None:
    times = pd.DataFrame({"ts": [pd.Timestamp("2026-01-31").as_unit("ns")]})
    times.to_parquet(file := tmp_path / "ns.parquet")
    query = f"SELECT * FROM parquet.`{file}` {CLAUSE.removeprefix('clicks ')}"
    with pytest.raises(
        PySparkException, match="write the file with microseconds, in pandas by frame"
    ):
        matchrec.sql(spark, query)
    with pytest.raises(PySparkException, match=r"write the file with microseconds|NANOS"):
        matchrec.match_recognize(spark.read.parquet(str(file)), "ORDER BY ts PATTERN (A)")


def test_floats_of_16_bits_are_widened_or_rejected(spark: SparkSession, tmp_path: Path) -> None:
    halves = pd.DataFrame({"ts": [1, 2], "x": pd.Series([1.5, 0.25], dtype="float16")})
    clause = "ORDER BY ts MEASURES A.x AS x PATTERN (A) DEFINE A AS x > 1"
    table = pa.Table.from_pandas(halves)
    for frame in (halves,) if spark.version.startswith("3.") else (halves, table):
        matches = matchrec.sql(spark, f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})", t=frame)
        assert [tuple(row) for row in matches.collect()] == [(1.5,)]
        assert matches.dtypes == [("x", "float")]
    pq.write_table(table, file := tmp_path / "halves.parquet")
    with pytest.raises(PySparkException, match="write them as float32"):
        matchrec.sql(spark, f"SELECT * FROM parquet.`{file}` MATCH_RECOGNIZE ({clause})")


TIMES = pd.DatetimeIndex(["2026-01-31", "2026-02-01"])


@pytest.mark.parametrize(
    ("index", "order", "hint"),
    [
        (TIMES, "ts", 'write df.rename_axis("ts").reset_index() for'),
        (TIMES.rename("ts"), "ts", "write df.reset_index() for"),
        (pd.Index([1, 2], name="ts"), "ts", "write df.reset_index() for"),
        (TIMES, "prise", "write price"),
        (TIMES.rename("at"), "ts", "write one of these"),
        (None, "ts", "write one of these"),
    ],
)
def test_an_order_that_is_the_index_of_pandas(
    spark: SparkSession, index: Any, order: str, hint: str
) -> None:
    prices = pd.DataFrame({"price": [1.0, 2.0], "volume": [3, 4]}, index=index)
    query = f"SELECT * FROM {{df}} MATCH_RECOGNIZE (ORDER BY {order} PATTERN (A))"
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.sql(spark, query, df=prices)
    assert (refused.value.hint or "").startswith(hint)


def test_rows_without_a_column_show_no_hidden_name(spark: SparkSession) -> None:
    clause = "clicks MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS ts > 0)"
    with pytest.raises(PySparkException) as caught:
        matchrec.sql(spark, f"SELECT COUNT(page) FROM {clause}")
    headline, *lines = str(caught.value).split("\n")
    assert "`page`" in headline
    assert "_matchrec" not in headline
    assert lines[-2:] == ["  note: the clause returns no columns", INSIDE[1]]


def test_a_clause_without_columns_suggests_measures(spark: SparkSession) -> None:
    clause = "clicks MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS ts > 0)"
    with pytest.raises(PySparkException) as caught:
        matchrec.sql(spark, f"SELECT nosuch FROM {clause}")
    assert str(caught.value).split("\n")[-2:] == [
        "  note: the clause returns no columns",
        "  help: write MEASURES ... AS nosuch in the clause",
    ]
