"""An error of the session shows the expression that failed, as the user wrote it.

Sail does not say which one it is; matchrec finds it by a second look at the rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import MatchRecognizeRunError
from matchrec.errors.run.origins import SqlOrigin
from matchrec.spark.errors.second_look import SecondLook
from tests.properties.test_queries import settings

ACTIONS: dict[str, Callable[[DataFrame], object]] = {
    "collect": lambda frame: frame.collect(),
    "count": lambda frame: frame.count(),
    "toPandas": lambda frame: frame.toPandas(),
    "toLocalIterator": lambda frame: list(frame.toLocalIterator()),
    "write": lambda frame: frame.write.format("noop").mode("overwrite").save(),
}
FAILING_PARTS = {
    "DEFINE A AS v > 0 AND 10 / (v - 2) > A.v": "10 / (v - 2)",
    "DEFINE A AS CASE WHEN v > 9 THEN 1 / v ELSE 10 / (A.v - 2) END > 3": "10 / (A.v - 2)",
    "DEFINE A AS s > 3": "s > 3",
    "DEFINE A AS v > 0 AND element_at(array(1), v) > 0": "element_at(array(1), v)",
    "DEFINE A AS CAST(A.s AS INT) + 1 > 3": "CAST(A.s AS INT)",
}
FAILING = "ORDER BY n MEASURES count(*) AS k PATTERN (A) DEFINE A AS 10 / (v - 2) > 0"


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    """Return two rows; the second one makes expressions fail."""
    return spark.createDataFrame([(1, 3, "7"), (2, 2, "home")], "n int, v int, s string")


def catch_failure(action: Callable[[], object]) -> MatchRecognizeRunError:
    """Return the error of an action as matchrec explains it."""
    with pytest.raises(PySparkException) as caught:
        action()
    error = MatchRecognizeRunError.from_exception(caught.value)
    assert error is not None, str(caught.value)
    assert error.__cause__ is caught.value
    return error


def find_marked(error: MatchRecognizeRunError) -> str:
    """Return the text over the carets."""
    _, _, line, carets, *_ = str(error).split("\n")
    return line[carets.index("^") : len(carets)]


def test_an_aggregate_that_casts_texts_is_shown(spark: SparkSession, rows: DataFrame) -> None:
    """The aggregate is computed for each match, so no expression over one row fails."""
    clause = "ORDER BY n MEASURES 1 + SUM({}) AS k PATTERN (A+) DEFINE A AS v > 0"
    with settings(spark, ansi__enabled="true"):
        error = catch_failure(matchrec.match_recognize(rows, clause.format("A.s")).collect)
        assert find_marked(error) == "SUM(A.s)"
        corrected = matchrec.match_recognize(rows, clause.format("TRY_CAST(A.s AS INT)"))
        assert [row.k for row in corrected.collect()] == [8]


def test_a_part_that_its_expression_guards_is_not_blamed(spark: SparkSession) -> None:
    texts = spark.createDataFrame([(1, "home"), (2, "7")], "n int, s string")
    condition = "s <> 'home' AND 10 DIV (CAST(s AS INT) - 7) > 0"
    clause = f"ORDER BY n MEASURES count(*) AS k PATTERN (A+) DEFINE A AS {condition}"
    with settings(spark, ansi__enabled="true"):
        error = catch_failure(matchrec.match_recognize(texts, clause).collect)
    assert error.message == "the condition of `A` cannot be computed: division by zero"
    assert "CAST(s AS INT) - 7" in find_marked(error)


@pytest.mark.filterwarnings("ignore:toPandas attempted")
@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_shows_the_expression(
    spark: SparkSession, rows: DataFrame, action: str
) -> None:
    with settings(spark, ansi__enabled="true"):
        matches = matchrec.match_recognize(rows, FAILING).where("k > 0")
        error = catch_failure(lambda: ACTIONS[action](matches))
    assert error.message == "the condition of `A` cannot be computed: division by zero"
    assert find_marked(error) == "10 / (v - 2)"
    assert error.hint is not None


@pytest.mark.parametrize("define", FAILING_PARTS)
def test_the_smallest_failing_part_is_shown(
    spark: SparkSession, rows: DataFrame, define: str
) -> None:
    clause = f"ORDER BY n MEASURES count(*) AS k PATTERN (A) {define}"
    with settings(spark, ansi__enabled="true"):
        error = catch_failure(matchrec.match_recognize(rows, clause).collect)
    assert error.message.startswith("the condition of `A` cannot be computed: ")
    assert find_marked(error) == FAILING_PARTS[define]
    assert error.hint


def test_a_comparison_with_a_text_of_another_row_is_marked(
    spark: SparkSession, rows: DataFrame
) -> None:
    """The text is converted to a number for the row before, so no expression over one row fails."""
    clause = "ORDER BY n MEASURES count(*) AS k PATTERN (A) DEFINE A AS v > NEXT(s)"
    with settings(spark, ansi__enabled="true"):
        error = catch_failure(matchrec.match_recognize(rows, clause).collect)
    assert error.message.startswith("the condition of `A` cannot be computed: ")
    assert "NEXT(s)" in find_marked(error)
    assert error.hint
    two_conditions = clause + ", B AS v < NEXT(s)"
    with settings(spark, ansi__enabled="true"):
        error = catch_failure(
            matchrec.match_recognize(rows, two_conditions.replace("(A)", "(A | B)")).collect
        )
    assert "'home'" in error.message


@pytest.mark.parametrize(
    ("define", "advice"),
    [
        ("10/(v - 2) > 1", "write 10/NULLIF(v - 2, 0), or set spark.sql.ansi.enabled to false"),
        ("CAST(A.s AS INT) + 1 > 3", "write TRY_CAST(A.s AS INT), which is NULL for such a value"),
        ("v < upper(s)", "write v < TRY_CAST(upper(s) AS {}), which is NULL for such a value"),
        ("s > v AND n > 0", "write TRY_CAST(s AS {}) > v, which is NULL for such a value"),
        ("A.s=v+1", "write TRY_CAST(A.s AS {}) = v+1, which is NULL for such a value"),
    ],
)
def test_the_advice_repeats_the_expression(
    spark: SparkSession, request: pytest.FixtureRequest, rows: DataFrame, define: str, advice: str
) -> None:
    """To compare a string with an INT, Sail casts it to INT, and Spark to BIGINT."""
    on_sail = request.config.getoption("--on") == "sail"
    advice = advice.format("INT" if on_sail else "BIGINT")
    query = "ORDER BY n MEASURES count(*) AS k PATTERN (A) DEFINE A AS "
    with settings(spark, ansi__enabled="true"):
        frame = matchrec.match_recognize(rows, query + define)
        error = catch_failure(frame.collect)
        assert error.hint == advice
        failing = find_marked(error)
        repaired = advice.removeprefix("write ").split(", which")[0].split(", or set")[0]
        clause = query + define.replace(failing, repaired)
        assert matchrec.match_recognize(rows, clause).collect() is not None


@pytest.mark.parametrize(
    ("measure", "advice"),
    [
        ("A.w > 30", "write CAST(A.w AS DOUBLE) > 30"),
        ("round(100 * (A.w - 1), 1)", "write CAST(A.w AS DOUBLE) - 1"),
    ],
)
def test_a_string_with_a_fraction_is_not_cast_to_an_integer(
    spark: SparkSession, request: pytest.FixtureRequest, measure: str, advice: str
) -> None:
    """TRY_CAST to the integer would be NULL for each price of a CSV file without types."""
    prices = spark.createDataFrame([(1, "34.39"), (2, "35.10")], "n int, w string")
    clause = f"ORDER BY n MEASURES {measure} AS x PATTERN (A) DEFINE A AS n > 0"
    if "round" in measure and request.config.getoption("--on") == "sail":
        return  # Sail rejects `w - 1` when the query is built
    with settings(spark, ansi__enabled="true"):
        error = catch_failure(matchrec.match_recognize(prices, clause).collect)
    assert "'34.39' cannot be cast to" in error.message
    assert error.hint == advice


@pytest.mark.parametrize("length", ["IF(n = 1, 5, NULL)", "1 - n"])
@pytest.mark.parametrize("define", ["A AS v > 0", "B AS v > 0"])
def test_no_condition_is_blamed_for_the_length_of_a_frame(
    spark: SparkSession, rows: DataFrame, length: str, define: str
) -> None:
    """Conditions compare the length with the number of the row."""
    query = f"""
        SELECT k OVER w FROM {{rows}} WINDOW w AS (
          ORDER BY n MEASURES count(*) AS k ROWS BETWEEN CURRENT ROW AND {length} FOLLOWING
          PATTERN (A B?) DEFINE {define})"""
    with pytest.raises(PySparkException) as caught:
        matchrec.sql(spark, query, rows=rows).collect()
    assert "the length of the frame must not be NULL or negative" in str(caught.value)
    error = MatchRecognizeRunError.from_exception(caught.value)
    if error is not None:  # Spark's raise_error does not show the SQL that raised it
        assert error.message == "the length of the frame must not be NULL or negative"
        assert find_marked(error) == length
        assert error.hint == f"write greatest({length}, 0), which is 0 for such a length"


def test_an_error_of_a_key_or_a_measure_is_marked(spark: SparkSession, rows: DataFrame) -> None:
    key = "PARTITION BY 1 / (v - 2) ORDER BY n MEASURES 1 AS k PATTERN (A) DEFINE A AS v > 0"
    measure = "ORDER BY n MEASURES 1 AS k, 1 / (LAST(v) - 2) AS q PATTERN (A) DEFINE A AS v > 0"
    with settings(spark, ansi__enabled="true"):
        of_key = catch_failure(matchrec.match_recognize(rows, key).collect)
        of_measure = catch_failure(matchrec.match_recognize(rows, measure).collect)
    assert of_key.message == "an expression in PARTITION BY cannot be computed: division by zero"
    assert find_marked(of_key) == "1 / (v - 2)"
    assert of_measure.message == "the measure `q` cannot be computed: division by zero"
    assert find_marked(of_measure) == "1 / (LAST(v) - 2)"


def test_a_measure_in_a_query_with_match_timeout(spark: SparkSession, rows: DataFrame) -> None:
    """Sail does not have the function with which Spark computes MATCH_TIMEOUT."""
    clause = """ORDER BY n MEASURES MATCH_TIMEOUT() AS due, 10 / (LAST(A.v) - 2) AS x
        ONE ROW PER MATCH SHOW TIMEOUT MATCHES PATTERN (A B) WITHIN 5
        DEFINE A AS v > 0, B AS v > 9"""
    with settings(spark, ansi__enabled="true"):
        error = catch_failure(matchrec.match_recognize(rows, clause).collect)
    assert find_marked(error) == "10 / (LAST(A.v) - 2)"


def test_an_error_in_a_query_or_a_rule_is_marked(spark: SparkSession, rows: DataFrame) -> None:
    query = f"SELECT k + 1 AS more FROM {{rows}} MATCH_RECOGNIZE ({FAILING}) WHERE k > 0"
    rules = {"falls": FAILING.removeprefix("ORDER BY n ")}
    with settings(spark, ansi__enabled="true"):
        of_query = catch_failure(matchrec.sql(spark, query, rows=rows).collect)
        of_rule = catch_failure(matchrec.match_rules(rows, rules, order_by="n").matches.collect)
    for error in (of_query, of_rule):
        assert error.message == "the condition of `A` cannot be computed: division by zero"
        assert find_marked(error) == "10 / (v - 2)"


def test_an_error_marks_the_measure_of_its_rule(spark: SparkSession, rows: DataFrame) -> None:
    """Each result shows its own measure, although the others fail over the same match, too."""
    rest = "PATTERN (A+) DEFINE A AS v > 0"
    measures = {
        "over_first": "10 DIV (FIRST(A.v) - 3)",
        "over_last": "10 DIV (LAST(A.v) - 2)",
        "over_sum": "10 DIV (SUM(DISTINCT A.v) - 5)",
    }
    rules = {name: f"MEASURES {text} AS {name} {rest}" for name, text in measures.items()}
    with settings(spark, ansi__enabled="true"):
        result = matchrec.match_rules(rows, rules, order_by="n")
        results = {name: result.rule(name) for name in measures}
        errors = {name: catch_failure(results[name].collect) for name in measures}
    for name, error in errors.items():
        assert error.message == f"the measure `{name}` cannot be computed: division by zero"
        assert find_marked(error) == measures[name]


def test_an_error_of_a_measure_over_an_aggregate_is_named(
    spark: SparkSession, rows: DataFrame
) -> None:
    clause = (
        "ORDER BY n MEASURES 10 DIV (SUM(DISTINCT A.v) - 5) AS q PATTERN (A+) DEFINE A AS v > 0"
    )
    with settings(spark, ansi__enabled="true"):
        error = catch_failure(matchrec.match_recognize(rows, clause).collect)
    assert error.message == "the measure `q` cannot be computed: division by zero"


def test_an_error_around_the_clause_has_no_location_in_it(
    spark: SparkSession, rows: DataFrame
) -> None:
    with settings(spark, ansi__enabled="true"):
        clause = "ORDER BY n MEASURES v AS k PATTERN (A) DEFINE A AS v > 0"
        output_fails = matchrec.match_recognize(rows, clause).selectExpr("1 / (k - 2) AS q")
        input_fails = matchrec.match_recognize(rows.selectExpr("n", "1 / (v - 2) AS v"), clause)
        for frame in (output_fails, input_fails):
            with pytest.raises(PySparkException) as caught:
                frame.collect()
            error = MatchRecognizeRunError.from_exception(caught.value)
            assert error is None or error.span is None
            assert re.search("by zero", str(caught.value), re.IGNORECASE)


def test_a_syntax_error_needs_no_second_look(spark: SparkSession, rows: DataFrame) -> None:
    query = f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({FAILING}) m n"
    with (
        settings(spark, ansi__enabled="true"),
        pytest.raises(PySparkException, match="Syntax error at or near 'n'"),
    ):
        matchrec.sql(spark, query, rows=rows)


def test_rows_are_read_again_only_where_something_fails(
    spark: SparkSession, rows: DataFrame
) -> None:
    """If no expression fails, there is no check whether the rows can be read."""

    @dataclass(frozen=True, eq=False)
    class Look(SecondLook):
        """A look at expressions over `rows`, which must not be read without any expression."""

        origins: Mapping[str, SqlOrigin]

        def find_origins(self) -> Mapping[str, SqlOrigin]:
            """Return the origins."""
            return self.origins

        def select(self, items: Sequence[str]) -> DataFrame:
            """Return the rows with some expressions."""
            return rows.selectExpr(*items)

        def select_rows(self) -> DataFrame:
            """Fail, because the rows must not be read."""
            raise AssertionError("the rows are read")

    origins = {"v + 1": SqlOrigin("the condition of `A`", "DEFINE")}
    assert Look("", origins).find_error("divide by zero") is None
    assert Look("", {}).find_error(None) is None


@pytest.mark.filterwarnings("ignore::matchrec.warnings.SkipTargetWarning")
@pytest.mark.filterwarnings("ignore:toPandas attempted")
@pytest.mark.parametrize("action", ACTIONS)
def test_the_error_of_a_worker_repeats_nothing(spark: SparkSession, action: str) -> None:
    rows = spark.createDataFrame([("X", 1), ("X", 2)], "sym string, day int")
    clause = """PARTITION BY sym ORDER BY day MEASURES LAST(B.day) AS day
        AFTER MATCH SKIP TO B PATTERN (A B?) DEFINE B AS FALSE"""
    matches = matchrec.match_recognize(rows, clause)
    with pytest.raises((PySparkException, Py4JJavaError)) as caught:
        ACTIONS[action](matches)
    # PySpark does not convert the error of `toLocalIterator` from Java.
    assert isinstance(caught.value, Py4JJavaError) or str(caught.value) == (
        "AFTER MATCH SKIP TO `B`: the match has no row of B [skip-to-missing-row]\n"
        "  note: the match starts in the partition with `sym` = 'X', row 1 (`day` = 1)\n"
        "  help: make B match at least one row, or write AFTER MATCH SKIP PAST LAST ROW"
    )
    error = MatchRecognizeRunError.from_exception(caught.value)
    assert error is not None
    assert (error.code, error.partition, error.row_number) == (
        "skip-to-missing-row",
        {"sym": "X"},
        1,
    )
