"""An error in a running query is raised as a `MatchRecognizeRunError` that names the rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.errors.exceptions import captured
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import MatchRecognizeRunError
from tests.properties.test_queries import settings

pytestmark = pytest.mark.one_of(4)

CLAUSE = """PARTITION BY key, id % 1 ORDER BY id MEASURES count(*) AS n
    PATTERN (A B) DEFINE B AS A.id / B.id > 0"""
ACTIONS = {
    "collect": lambda frame: frame.collect(),
    "count": lambda frame: frame.count(),
    "toPandas": lambda frame: frame.toPandas(),
    "toLocalIterator": lambda frame: list(frame.toLocalIterator()),
    "write": lambda frame: frame.write.format("noop").mode("overwrite").save(),
}


def catch_error(action: Callable[[], object]) -> Exception:
    """Return the error that an action raises. PySpark 3.5 does not convert all errors of Java."""
    with pytest.raises((PySparkException, Py4JJavaError)) as caught:
        action()
    return caught.value


@pytest.fixture
def failing(spark: SparkSession) -> DataFrame:
    """Return two rows; the second one divides by zero, and the key needs escapes."""
    return spark.createDataFrame([(-1, 'é"\n\\'), (0, 'é"\n\\')], "id int, key string")


def check_error(error: Exception) -> None:
    """Check that an error is the one that `failing` causes."""
    run_error = MatchRecognizeRunError.from_exception(error)
    assert run_error is not None
    assert run_error.message == "the condition of `B` divides by zero"
    assert run_error.notes == (
        r"""in the partition with `key` = 'é"\n\\', id % 1 = 0, row 2 (`id` = 0)""",
    )
    guarded = "A.id / NULLIF(B.id, 0)"
    assert run_error.hint == f"write {guarded}, or set spark.sql.ansi.enabled to false"
    assert (run_error.line, run_error.column) == (2, 31)
    expected = (
        f"{run_error.message} [division-by-zero]\n"
        "  line 2, column 31\n"
        "      PATTERN (A B) DEFINE B AS A.id / B.id > 0\n"
        "                                ^^^^^^^^^^^\n"
        f"  note: {run_error.notes[0]}\n"
        f"  help: {run_error.hint}"
    )
    assert str(run_error) == expected
    assert run_error.partition == {"key": 'é"\n\\', "id % 1": 0}
    assert run_error.row_number == 2
    assert run_error.__cause__ is error
    # Spark's error has no traceback of a worker and no text of Java, and says nothing twice.
    if isinstance(error, PySparkException):
        assert str(error) == expected
        assert isinstance(error, MatchRecognizeRunError)
        assert not isinstance(error, matchrec.MatchRecognizePlanError)
        assert error.code == "division-by-zero"
        assert error.partition == run_error.partition
        assert error.row_number == 2
        assert error.hint == run_error.hint


@pytest.mark.filterwarnings("ignore:toPandas attempted")
@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_raises_the_error(
    spark: SparkSession, failing: DataFrame, action: str
) -> None:
    with settings(spark, ansi__enabled="true"):
        frame = matchrec.match_recognize(failing, CLAUSE)
        check_error(catch_error(lambda: ACTIONS[action](frame)))


@pytest.mark.parametrize("algorithm", ["backtracking", "breadth_first"])
@pytest.mark.parametrize("transport", ["arrow", "pandas"])
@pytest.mark.parametrize("simplified", ["true", "false"])
def test_every_transport_and_algorithm_raises_the_error(
    spark: SparkSession, failing: DataFrame, algorithm: str, transport: str, simplified: str
) -> None:
    traceback = "execution__pyspark__udf__simplifiedTraceback__enabled"
    with settings(spark, ansi__enabled="true", **{traceback: simplified}):
        frame = matchrec.match_recognize(
            failing, CLAUSE, options=matchrec.Options(algorithm=algorithm, transport=transport)
        )
        check_error(catch_error(frame.collect))


def test_values_without_a_json_type_are_texts(spark: SparkSession) -> None:
    keys = "DATE'2026-01-02' AS day, timestamp'+12000-01-01 00:00:00' AS far, X'00FF' AS bytes"
    frame = spark.range(2).selectExpr("CAST(id - 1 AS INT) AS id", *keys.split(", "))
    clause = CLAUSE.replace("key, id % 1", "day, far, bytes")
    with settings(spark, ansi__enabled="true"):
        error = catch_error(matchrec.match_recognize(frame, clause).collect)
    run_error = MatchRecognizeRunError.from_exception(error)
    assert run_error is not None
    assert run_error.partition["day"] == "2026-01-02"
    assert str(run_error.partition["far"]).startswith("12000-01-01 00:00:00")
    assert run_error.partition["bytes"] == repr(b"\x00\xff")


def test_a_long_key_is_shortened_only_in_the_message(spark: SparkSession) -> None:
    frame = spark.range(2).selectExpr("CAST(id - 1 AS INT) AS id", "repeat('x', 9999) AS key")
    with settings(spark, ansi__enabled="true"):
        error = catch_error(matchrec.match_recognize(frame, CLAUSE).collect)
    run_error = MatchRecognizeRunError.from_exception(error)
    assert run_error is not None
    assert len(str(run_error)) < 600
    assert run_error.partition["key"] == "x" * 9999


def test_a_stream_raises_the_error(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a program whose first query is the stream: no other query has replaced the function.
    convert_exception = captured.convert_exception
    original = getattr(convert_exception, "__wrapped__", convert_exception)
    monkeypatch.setattr(captured, "convert_exception", original)
    (tmp_path / "in").mkdir()
    for number, (second, x) in enumerate([(1, 1), (2, 0), (100, 1)]):
        event = {"ts": f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z", "x": x}
        (tmp_path / "in" / f"{number}.json").write_text(json.dumps(event))
    with settings(spark, ansi__enabled="true"):
        stream = spark.readStream.schema("ts timestamp, x int").json(str(tmp_path / "in"))
        pattern = (
            matchrec.Pattern.begin("a").next("b").where("last(a.x) / x > 0").within("9 seconds")
        )
        matches = matchrec.match_pattern(
            stream.withWatermark("ts", "1 second"), pattern, order_by="ts"
        )
        query = matches.writeStream.format("noop").trigger(availableNow=True)
        streaming_query = query.option("checkpointLocation", str(tmp_path / "state")).start()
        awaited = catch_error(streaming_query.awaitTermination)
    if isinstance(awaited, PySparkException):
        assert str(awaited) == str(MatchRecognizeRunError.from_exception(awaited))
    for error in (awaited, streaming_query.exception()):
        assert error is not None
        run_error = MatchRecognizeRunError.from_exception(error)
        assert run_error is not None
        assert run_error.message.endswith("divides by zero")
        assert (run_error.partition, run_error.row_number) == ({}, 2)


def test_other_errors_have_no_run_error(spark: SparkSession) -> None:
    with settings(spark, ansi__enabled="true"):
        error_of_spark = catch_error(spark.range(1).selectExpr("1 / id").collect)
    for error in (error_of_spark, ValueError("x")):
        assert MatchRecognizeRunError.from_exception(error) is None


def test_a_udf_does_not_get_null_from_a_variable_with_a_row(spark: SparkSession) -> None:
    # double(None) would raise. A has a row in each match, so the function gets only numbers.
    spark.udf.register("double", lambda x: x + x, "int")
    frame = spark.createDataFrame([(1, 1), (2, 3), (3, 4)], "k int, x int")
    clause = "ORDER BY k MEASURES A.k AS a, B.k AS b PATTERN (A B) DEFINE B AS B.x > double(A.x)"
    matches = matchrec.match_recognize(frame, clause).collect()
    assert [tuple(row) for row in matches] == [(1, 2)]


BOUNDS = ("B.id - A.id <= 5", "B.id <= A.id + 5", "B.id - 5 <= A.id")


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_window_of_conditions_does_not_wrap_around(spark: SparkSession, bound: str) -> None:
    rows = spark.createDataFrame([(-(2**31),), (2**31 - 1,), (2**31 - 1,)], "id int")
    clause = "ORDER BY id MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE B AS "
    query = f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({clause}{bound})"
    with settings(spark, ansi__enabled="false"):
        errors = [
            catch_error(matchrec.match_recognize(rows, clause + bound).collect),
            catch_error(lambda: matchrec.query(spark, query, rows=rows).coverage()),
        ]
        with pytest.raises(MatchRecognizeRunError, match="too large for the type of the order"):
            matchrec.query(spark, query, rows=rows).why()
    for error in errors:
        run_error = MatchRecognizeRunError.from_exception(error)
        assert run_error is not None
        assert "is too large for the type of the order column" in run_error.message
    with settings(spark, ansi__enabled="true"):
        matches = matchrec.match_recognize(rows, clause + BOUNDS[0]).collect()
    assert [tuple(row) for row in matches] == [(2**31 - 1, 2**31 - 1)]


ROWS = [(1, 3), (2, 3), (3, 0), (4, 2)]  # the third row divides by zero
HINT = (
    "use `try_divide` to tolerate divisor being 0 and return NULL instead; "
    'if necessary set "spark.sql.ansi.enabled" to "false" to bypass this error'
)


@pytest.fixture
def zeros(spark: SparkSession) -> DataFrame:
    """Return rows; the third one divides by zero."""
    return spark.createDataFrame(ROWS, "id int, b int")


def show_error(error: Exception) -> list[str]:
    """Return the lines of the message of the `MatchRecognizeRunError`."""
    run_error = MatchRecognizeRunError.from_exception(error)
    assert run_error is not None
    assert run_error.__cause__ is error
    return str(run_error).split("\n")


def catch_clause_error(
    spark: SparkSession, rows: DataFrame, clause: str, **options: Any
) -> Exception:
    """Return the error of a clause with an expression that Spark computes in ANSI mode."""
    with settings(spark, ansi__enabled="true"):
        return catch_error(
            matchrec.match_recognize(rows, clause, options=matchrec.Options(**options)).collect
        )


@pytest.mark.filterwarnings("ignore:toPandas attempted")
@pytest.mark.parametrize("action", ACTIONS)
def test_a_failing_expression_is_shown_as_written(
    spark: SparkSession, zeros: DataFrame, action: str
) -> None:
    clause = "ORDER BY id MEASURES COUNT(*) AS n\nPATTERN (A+)\n  DEFINE A AS 10/A.b > 2"
    with settings(spark, ansi__enabled="true"):
        matches = matchrec.match_recognize(zeros, clause).where("n > 0")
        error = catch_error(lambda: ACTIONS[action](matches))
    assert "/* DEFINE A, line 3 */ 10/`b` > 2" in str(error)
    assert show_error(error) == [
        "the condition of `A` cannot be computed: division by zero [expression-not-computed]",
        "  line 3, column 15",
        "      DEFINE A AS 10/A.b > 2",
        "                  ^^^^^^",
        f"  help: {HINT}",
    ]


def test_a_failing_part_is_found_in_a_long_condition(spark: SparkSession, zeros: DataFrame) -> None:
    tests = "b < 9 AND id < 99 AND b > -1 AND b < 7"
    clause = f"ORDER BY id MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS {tests}\n AND "
    lines = show_error(catch_clause_error(spark, zeros, f"{clause}10 / b > 2 AND {tests}"))
    assert (
        lines[0]
        == "the condition of `A` cannot be computed: division by zero [expression-not-computed]"
    )
    assert lines[1:4] == [
        "  line 2, column 6",
        f"      AND 10 / b > 2 AND {tests}",
        "          ^^^^^^",
    ]


def test_a_condition_over_neighbours_that_spark_sorts(
    spark: SparkSession, zeros: DataFrame
) -> None:
    clause = "ORDER BY id MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS id / PREV(b, 1) + b > 0"
    lines = show_error(catch_clause_error(spark, zeros, clause, transport="pandas"))
    assert (
        lines[0]
        == "the condition of `A` cannot be computed: division by zero [expression-not-computed]"
    )
    assert lines[3].strip() == "^" * len("id / PREV(b, 1)")
    assert lines[3].index("^") == lines[2].index("id / PREV")


def test_an_error_marks_the_measure_or_the_aggregate(spark: SparkSession, zeros: DataFrame) -> None:
    clause = "ORDER BY id MEASURES COUNT(*) AS n,\n {measure} AS q PATTERN (A+) DEFINE A AS b >= 0"
    lines = show_error(
        catch_clause_error(spark, zeros, clause.format(measure="10 /\n (LAST(b) - 2)"))
    )
    assert (
        lines[0] == "the measure `q` cannot be computed: division by zero [expression-not-computed]"
    )
    assert lines[1:4] == ["  line 2, column 2", "      10 /", "      ^^^^"]
    lines = show_error(
        catch_clause_error(spark, zeros, clause.format(measure="regr_count(A.b, 10 / A.b)"))
    )
    assert (
        lines[0] == "the measure `q` cannot be computed: division by zero [expression-not-computed]"
    )
    assert lines[3].index("^") == lines[2].index("10 / A.b")
    lines = show_error(
        catch_clause_error(spark, zeros, clause.format(measure="max_by(A.id, 10 / (A.b - 3))"))
    )
    assert lines[0].endswith("division by zero [expression-not-computed]")
    assert lines[3].index("^") == lines[2].index("10 / (A.b - 3)")


def test_a_failing_measure_is_shown_as_written(spark: SparkSession, zeros: DataFrame) -> None:
    measure = "10 / LAST(A.b - length('{a} /* ? */') + 11 - 2) AS q"
    clause = f"ORDER BY id MEASURES {measure} PATTERN (A+) DEFINE A AS b >= 0"
    error = catch_clause_error(spark, zeros, clause)
    assert "*/ 10 / __r0 /* FINAL A.b - length('{a}" in str(error)
    lines = show_error(error)
    assert (
        lines[0] == "the measure `q` cannot be computed: division by zero [expression-not-computed]"
    )
    assert lines[3].index("^") == lines[2].index("10 / LAST")


def test_a_key_that_cannot_be_computed(spark: SparkSession, zeros: DataFrame) -> None:
    clause = "PARTITION BY 6 / b ORDER BY id MEASURES COUNT(*) AS n PATTERN (A) DEFINE A AS id > 0"
    lines = show_error(catch_clause_error(spark, zeros, clause))
    reason = "division by zero [expression-not-computed]"
    assert lines[0] == f"an expression in PARTITION BY cannot be computed: {reason}"
    assert lines[3].strip() == "^^^^^"


def test_run_errors_name_the_location_in_sase_and_patterns(
    spark: SparkSession, zeros: DataFrame
) -> None:
    with settings(spark, ansi__enabled="true"):
        sase = "PATTERN SEQ(T a, T b)\nWHERE skip_till_next_match { a.b > 0 AND 10 / b.b > 2 }"
        events = zeros.selectExpr("*", "'T' AS event_type")
        error = catch_error(matchrec.match_sase(events, sase, order_by="id").collect)
        lines = show_error(error)
        assert (
            lines[0]
            == "the condition of `b` cannot be computed: division by zero [expression-not-computed]"
        )
        assert lines[1] == "  line 2, column 42"
        assert lines[3].strip() == "^^^^^^^^"
        pattern = matchrec.Pattern.begin("a").where("10 / b > 2")
        lines = show_error(
            catch_error(matchrec.match_pattern(zeros, pattern, order_by="id").collect)
        )
        assert lines[:4] == [
            "where() of stage `a` cannot be computed: division by zero [expression-not-computed]",
            "  where() of stage `a`, line 1, column 1",
            "      10 / b > 2",
            "      ^^^^^^",
        ]


def test_an_error_marks_the_measure_of_a_rule(spark: SparkSession, zeros: DataFrame) -> None:
    rules = {
        "one": "MEASURES COUNT(*) AS n PATTERN (A) DEFINE A AS b > 0",
        "two": "MEASURES 10 / (A.b - 3) AS q PATTERN (A) DEFINE A AS b > 0",
    }
    with settings(spark, ansi__enabled="true"):
        result = matchrec.match_rules(zeros, rules, order_by="id")
        lines = show_error(catch_error(result.rule("two").collect))
    assert (
        lines[0] == "the measure `q` cannot be computed: division by zero [expression-not-computed]"
    )
    assert lines[2].strip() == rules["two"]
    assert lines[3].index("^") == lines[2].index("10 / (A.b - 3)")


def test_an_error_of_a_text_with_a_newline_is_marked(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, "a. B\nc")], "id int, s string")
    clause = "ORDER BY id MEASURES COUNT(*) AS n PATTERN (A) DEFINE A AS CAST(s AS INT) > 1"
    lines = show_error(catch_clause_error(spark, rows, clause))
    assert lines[0].startswith("the condition of `A` cannot be computed: the value")
    assert any(line.strip() == "^" * len("CAST(s AS INT)") for line in lines)


def test_an_error_of_plain_sql_has_no_run_error(spark: SparkSession, zeros: DataFrame) -> None:
    clause = "ORDER BY id MEASURES COUNT(*) AS n PATTERN (A) DEFINE A AS 10 / b > 2"
    catch_clause_error(spark, zeros, clause)
    with settings(spark, ansi__enabled="true"):
        error = catch_error(zeros.selectExpr("10 / `b` > 2").collect)
    assert MatchRecognizeRunError.from_exception(error) is None


@pytest.mark.parametrize(("bound", "first"), [(BOUNDS[1], 2**31 - 4), (BOUNDS[2], -(2**31))])
def test_a_sum_in_a_window_does_not_wrap_around(
    spark: SparkSession, bound: str, first: int
) -> None:
    # The distance fits, but the number that Spark compares with does not, and would wrap around.
    rows = spark.createDataFrame([(first,), (first + 2,)], "id int")
    clause = f"ORDER BY id MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE B AS {bound}"
    with settings(spark, ansi__enabled="false"):
        error = catch_error(matchrec.match_recognize(rows, clause).collect)
    run_error = MatchRecognizeRunError.from_exception(error)
    assert run_error is not None
    assert "is too large for the type of the order column" in run_error.message


def test_errors_of_rules_and_of_coverage_name_the_row_as_those_of_a_query_do(
    spark: SparkSession,
) -> None:
    rows = spark.createDataFrame([(-1, "a"), (0, "a")], "id int, key string")
    pattern = "PATTERN (A B) DEFINE B AS A.id / B.id > 0"
    rules = matchrec.match_rules(rows, {"quotients": pattern}, partition_by="key", order_by="id")
    query = matchrec.query(rows, f"PARTITION BY key ORDER BY id {pattern}")
    calls = {"rule `quotients`: ": rules.matches.collect, "": query.coverage}
    for prefix, call in calls.items():
        with pytest.raises((PySparkException, Py4JJavaError, MatchRecognizeRunError)) as caught:
            call()
        run_error = MatchRecognizeRunError.from_exception(caught.value)
        assert run_error is not None
        assert run_error.message == f"{prefix}the condition of `B` divides by zero"
        assert run_error.notes == ("in the partition with `key` = 'a', row 2 (`id` = 0)",)


def test_a_string_that_cannot_be_cast_is_named_by_the_error_itself(spark: SparkSession) -> None:
    """A user who prints the error of the engine sees the condition, and no words of Java."""
    rows = spark.createDataFrame([(1, "1"), (2, "high")], "id int, size string")
    clause = "ORDER BY id MEASURES 1 AS n PATTERN (A B) DEFINE B AS B.size > 5"
    error = catch_error(lambda: matchrec.match_recognize(rows, clause).collect())
    headline, _, excerpt, carets, *_, hint = str(error).split("\n")
    assert re.fullmatch(
        r"the condition of `B` cannot be computed: 'high' cannot be cast to (BIG)?INT "
        r"\[expression-not-computed\]",
        headline,
    )
    assert excerpt[carets.index("^") : carets.rindex("^") + 1] == "B.size > 5"
    assert re.fullmatch(
        r"  help: write TRY_CAST\(B.size AS (BIG)?INT\) > 5, which is NULL for such a value", hint
    )
