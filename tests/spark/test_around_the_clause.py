"""Spark's errors in the query around a clause are short, and point into the user's text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import SparkSession

import matchrec

pytestmark = [
    pytest.mark.one_of(4),
    pytest.mark.filterwarnings("ignore:MATCH_RECOGNIZE has no:UserWarning"),
]

INTERNAL_WORDS = (
    "_pyspark_",
    "__r0",
    "__c0",
    "MapInArrow",
    "matchrec_",
    "SubqueryAlias",
    "JVM",
    "View (",
)
CLAUSE = """t MATCH_RECOGNIZE (
  PARTITION BY g ORDER BY n
  MEASURES LAST(B.v) AS bottom
  PATTERN (A B+) DEFINE B AS v < PREV(v))"""
SHORT = "t MATCH_RECOGNIZE(ALL ROWS PER MATCH PATTERN(A))"


def list_tables(spark: SparkSession) -> set[str]:
    """Return the names of all tables and views."""
    return {row.tableName for row in spark.sql("SHOW TABLES").collect()}


@pytest.fixture(autouse=True)
def tables(spark: SparkSession) -> Iterator[None]:
    """Create the views `t` and `d`."""
    rows = [("a", 1, 3), ("a", 2, 2), ("a", 3, 1)]
    spark.createDataFrame(rows, "g string, n int, v int").createOrReplaceTempView("t")
    spark.createDataFrame([("a", 1)], "g string, w int").createOrReplaceTempView("d")
    before = list_tables(spark)
    yield
    assert list_tables(spark) == before  # no internal view is left
    for name in ("t", "d"):
        spark.catalog.dropTempView(name)


@pytest.fixture
def frame(spark: SparkSession) -> Any:
    """Return a DataFrame with the columns of `d`."""
    return spark.createDataFrame([("a", 1)], "g string, w int")


def catch_error(
    spark: SparkSession, query: str, args: Any = None, **frames: Any
) -> AnalysisException:
    """Return the error of a query, which must be short and have no internal words."""
    with pytest.raises(AnalysisException) as caught:
        matchrec.sql(spark, query, args, **frames)
    text = str(caught.value)
    assert len(text) < 2000
    assert not [word for word in INTERNAL_WORDS if word in text]
    assert not any(word in str(caught.value.getMessageParameters()) for word in INTERNAL_WORDS)
    return caught.value


def write_location(query: str, marked: str) -> list[str]:
    """Return the lines with which an error shows the last occurrence of `marked`.

    They are its location, its line, and the carets.
    """
    start = query.rindex(marked)
    line = query[:start].count("\n")
    column = start - (query[:start].rfind("\n") + 1)
    text = query.split("\n")[line]
    wide = text[:column].count("値") + text[:column].count("段")
    space = len(text) - len(text.lstrip()) - wide
    return [
        f"  line {line + 1}, column {column + 1}",
        f"      {text.strip()}",
        f"      {' ' * (column - space)}{'^' * len(marked)}",
    ]


UNKNOWN = {
    "select": "SELECT nosuch\nFROM {} m",
    "where": "SELECT * FROM {} m WHERE m.nosuch > 1",
    "without an alias": "SELECT * FROM {} WHERE nosuch > 1",
    "right behind the parenthesis": "SELECT * FROM {}m WHERE m.nosuch > 1",
    "between keywords": "SELECT bottom FROM(SELECT*FROM {})q WHERE q.nosuch > 1",
    "join": "SELECT * FROM {} m JOIN d ON d.g = m.nosuch",
    "order": "SELECT * FROM {} m\nORDER BY nosuch",
    "group": "SELECT count(*) FROM {} m GROUP BY nosuch",
    "cte": "WITH c AS (SELECT nosuch FROM {} m) SELECT * FROM c",
    "after a cte": "WITH c AS (SELECT * FROM {} m) SELECT nosuch FROM c",
    "subquery": "SELECT * FROM (SELECT g FROM {} m) q WHERE nosuch = 'a'",
    "scalar subquery": "SELECT (SELECT g FROM d WHERE w = m.nosuch) FROM {} m",
    "exists": "SELECT * FROM d WHERE EXISTS (SELECT 1 FROM {} m WHERE m.g = d.nosuch)",
    "first of two": "SELECT m1.nosuch FROM {0} m1 JOIN {0} m2 ON m1.g = m2.g",
    "second of two": "SELECT * FROM {0} m1,\n\n {0} m2 WHERE m2.nosuch = 1",
    "view": "CREATE TEMPORARY VIEW v AS SELECT nosuch FROM {} m",
    "lateral view": "SELECT * FROM {} m LATERAL VIEW explode(nosuch) AS e",
    "union": "SELECT g FROM {} m UNION ALL SELECT nosuch FROM d",
    "wide characters": "SELECT '値段' AS p, nosuch FROM {} m",
}


@pytest.mark.parametrize("query", UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_column_is_marked_wherever_it_is(spark: SparkSession, query: str) -> None:
    query = query.format(CLAUSE)
    error = catch_error(spark, query)
    marked = next(
        word
        for word in ("m1.nosuch", "m2.nosuch", "m.nosuch", "d.nosuch", "q.nosuch", "nosuch")
        if word in query
    )
    lines = str(error).split("\n")[1:]
    assert lines[:3] == write_location(query, marked)
    is_of_clause = marked in ("m.nosuch", "m1.nosuch", "m2.nosuch") or query.count("SELECT") == 1
    help_lines = ["  note: the clause returns: g, bottom", "  help: write one of these"]
    if is_of_clause:
        assert lines[3:] == help_lines
    else:
        assert all(line.startswith("  note: similar columns: ") for line in lines[3:])
    assert str(error).startswith(f"unknown column `{marked}` [unknown-column]\n")


@pytest.mark.parametrize("query", ["SELECT nosuch FROM {}", "SELECT * FROM {}m WHERE m.nosuch > 1"])
def test_a_clause_shorter_than_a_name(spark: SparkSession, query: str) -> None:
    query = query.format(SHORT)
    error = catch_error(spark, query)
    marked = "m.nosuch" if "m.nosuch" in query else "nosuch"
    help_lines = ["  note: the clause returns: g, n, v", "  help: write one of these"]
    lines = [*write_location(query, marked), *help_lines]
    assert str(error).split("\n")[1:] == lines


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("SELECT x FROM nosuch {}", "nosuch"),
        ("SELECT x FROM\nnosuch\n{}", "nosuch"),
        ("SELECT x FROM d, (SELECT nosuch FROM t) q {}", "nosuch"),
        ("WITH c AS (SELECT * FROM t), e AS (SELECT nosuch FROM c) SELECT * FROM e {}", "nosuch"),
        ("SELECT 1 FROM (WITH c AS (TABLE t) SELECT * FROM (TABLE nosuch) {}) z", "nosuch"),
        ("FROM(SELECT nosuch FROM t) {} SELECT *", "nosuch"),
    ],
)
def test_an_error_in_the_input_of_a_clause_is_marked(
    spark: SparkSession, query: str, marked: str
) -> None:
    query = query.format(SHORT.removeprefix("t "))
    lines = str(catch_error(spark, query)).split("\n")
    picture = write_location(query, marked)
    start = lines.index(picture[0])
    assert lines[start : start + 3] == picture


@pytest.mark.parametrize(
    ("query", "condition", "marked"),
    [
        ("SELECT * FROM {} m JOIN nosuch x ON true", "TABLE_OR_VIEW_NOT_FOUND", "nosuch"),
        ("INSERT INTO nosuch SELECT * FROM {} m", "TABLE_OR_VIEW_NOT_FOUND", "nosuch"),
        ("SELECT nosuch(bottom) FROM {} m", "UNRESOLVED_ROUTINE", "nosuch(bottom)"),
        ("SELECT bottom + array(1) FROM {} m", "DATATYPE_MISMATCH", "bottom + array(1)"),
        ("SELECT g FROM {} m JOIN d", "AMBIGUOUS_REFERENCE", "g"),
        ("SELECT g FROM {} JOIN d", "AMBIGUOUS_REFERENCE", "g"),
        ("SELECT g, bottom FROM {} m GROUP BY g", "MISSING_AGGREGATION", None),
    ],
)
def test_errors_of_spark_keep_their_condition_and_state(
    spark: SparkSession, query: str, condition: str, marked: str | None
) -> None:
    query = query.format(CLAUSE)
    error = catch_error(spark, query)
    name = error.getCondition if hasattr(error, "getCondition") else error.getErrorClass
    assert condition in str(name())
    assert error.getSqlState()
    if marked is not None:
        until_first = query[: query.index(marked) + len(marked)]
        assert write_location(until_first, marked)[0] in str(error).split("\n")


def test_an_error_of_a_union_shows_the_first_line(spark: SparkSession) -> None:
    query = f"SELECT * FROM {CLAUSE} m UNION ALL SELECT 1"
    error = catch_error(spark, query)
    assert str(error).split("\n")[1:4] == write_location(query, "SELECT * FROM t MATCH_RECOGNIZE (")
    assert "3 columns" in str(error) or "2 columns" in str(error)


def test_a_frame_before_the_clause_keeps_the_location(spark: SparkSession, frame: Any) -> None:
    query = f"SELECT *\nFROM {{f}} x JOIN {CLAUSE} m ON x.g = m.nosuch"
    error = catch_error(spark, query, f=frame)
    assert str(error).split("\n")[1:4] == write_location(query, "m.nosuch")


def test_columns_have_no_internal_qualifier(spark: SparkSession, frame: Any) -> None:
    query = f"SELECT nosuch FROM {{f}} JOIN {CLAUSE} m WHERE nosuch > 1"
    error = catch_error(spark, query, f=frame)
    assert "note: the clause returns: g, bottom" in str(error)
    assert not [word for word in INTERNAL_WORDS if word in str(error)]
    assert str(error).split("\n")[1:4] == write_location(query, "nosuch")


def test_parameters_keep_the_location(spark: SparkSession) -> None:
    query = f"SELECT ? AS long_name, ? AS b, nosuch FROM {CLAUSE} m WHERE g = ?"
    error = catch_error(spark, query, ["a long text, longer than the parameter", 1, "a"])
    assert str(error).split("\n")[1:4] == write_location(query, "nosuch")
    named = query.replace("?", ":p")
    error = catch_error(spark, named, {"p": "a long text, longer than the parameter"})
    assert str(error).split("\n")[1:4] == write_location(named, "nosuch")


def test_positional_parameters_can_be_in_and_around_a_clause(spark: SparkSession) -> None:
    query = """SELECT ? AS a, g, low FROM (SELECT *, ? AS p FROM t) MATCH_RECOGNIZE (
      PARTITION BY g ORDER BY n MEASURES LAST(v) + ? AS low PATTERN (A+) DEFINE A AS v > ?
    ) m WHERE g = ?"""
    rows = matchrec.sql(spark, query, [1, 2, 10, 0, "a"]).collect()
    assert [tuple(row) for row in rows] == [(1, "a", 11)]


def test_a_syntax_error_of_spark_has_no_internal_words(spark: SparkSession) -> None:
    query = f"SELECT * FROM {CLAUSE} m LIMIT 3 OFFSET 'x' ROWS"
    with pytest.raises((ParseException, AnalysisException, matchrec.MatchRecognizeError)) as caught:
        matchrec.sql(spark, query)
    assert not [word for word in INTERNAL_WORDS if word in str(caught.value)]


def test_a_text_in_a_subquery_that_spark_takes_for_a_typed_literal(spark: SparkSession) -> None:
    with pytest.raises(ParseException, match="give the string a name: SELECT 'a' AS name"):
        matchrec.sql(spark, f"SELECT * FROM {CLAUSE} m WHERE g IN (SELECT 'a')")


def test_with_enable_an_error_points_into_the_query(spark: SparkSession) -> None:
    matchrec.enable(spark)
    try:
        with pytest.raises(AnalysisException) as caught:
            spark.sql(f"SELECT nosuch FROM {CLAUSE} m")
    finally:
        matchrec.disable(spark)
    assert str(caught.value).split("\n")[1:4] == write_location(
        f"SELECT nosuch FROM {CLAUSE} m", "nosuch"
    )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 / (bottom - bottom) AS q\nFROM {} m",
        "SELECT *\nFROM {} m WHERE 1 / (bottom - bottom) > 1",
    ],
)
def test_a_run_time_error_has_its_location(spark: SparkSession, query: str) -> None:
    query = query.format(CLAUSE)
    start = query.index("1 / (bottom - bottom)")
    line = query[:start].count("\n") + 1
    column = start - (query[:start].rfind("\n") + 1) + 1
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    try:
        with pytest.raises(PySparkException) as caught:
            matchrec.sql(spark, query).collect()
    finally:
        spark.conf.set("spark.sql.ansi.enabled", str(before))
    text = str(caught.value).partition("JVM stacktrace")[0]
    assert f"(line {line}, position {column})" in text
    assert not [word for word in INTERNAL_WORDS if word in text]


def test_a_name_in_a_subquery_of_a_condition(spark: SparkSession) -> None:
    query = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n MEASURES 1 AS x PATTERN (A) {})"
    query = query.format("DEFINE A AS v > (SELECT max(nosuch) FROM d)")
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, query)
    assert "`nosuch` cannot be resolved" in caught.value.message
    assert not caught.value.notes  # columns of the input are not suggested


@pytest.mark.parametrize(
    ("condition", "hint"),
    [("to_number(g) > 1", "CAST(s AS DOUBLE)"), ("date_diff('hour', n, n) > 1", "timestampdiff")],
)
def test_a_function_that_takes_other_arguments_elsewhere(
    spark: SparkSession, condition: str, hint: str
) -> None:
    query = f"""SELECT * FROM t MATCH_RECOGNIZE (
      ORDER BY n MEASURES 1 AS x PATTERN (A) DEFINE A AS {condition})"""
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, query)
    assert hint in str(caught.value.hint)


def test_the_function_window_is_allowed_right_after_group_by(spark: SparkSession) -> None:
    query = """SELECT window(at, '1 hour').start AS since, COUNT(*) AS n
        FROM (SELECT g, n, v, timestamp_seconds(n) AS at FROM t) MATCH_RECOGNIZE (
        ORDER BY n MEASURES LAST(at) AS at PATTERN (A)) GROUP BY window(at, '1 hour')"""
    assert [row.n for row in matchrec.sql(spark, query).collect()] == [3]
