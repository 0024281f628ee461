"""A session gets messages only for what is not known yet, and changes in it are noticed.

Tests on Sail count the messages that a client sends.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch
from weakref import ref

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.spark.session import is_connect
from tests.properties.test_queries import settings

VIEW = "questions"
RISES = f"""SELECT a, b FROM {VIEW} MATCH_RECOGNIZE (PARTITION BY k ORDER BY n
    MEASURES FIRST(A.n) AS a, LAST(B.n) AS b PATTERN (A B+)
    DEFINE A AS v >= {{low}}, B AS v > PREV(v))"""


@pytest.fixture(autouse=True)
def view(spark: SparkSession) -> Iterator[None]:
    """Create a view with one partition of four rows."""
    create_view(spark, "(1, 1, 10), (1, 2, 20), (1, 3, 15), (1, 4, 16)")
    yield
    spark.catalog.dropTempView(VIEW)


def create_view(spark: SparkSession, rows: str) -> None:
    """Create a view of rows with a key, a number and a value."""
    spark.sql(f"SELECT * FROM VALUES {rows} AS t(k, n, v)").createOrReplaceTempView(VIEW)


def collect_rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows of a DataFrame, sorted."""
    return sorted(tuple(row) for row in frame.collect())


@contextmanager
def count_messages(spark: SparkSession) -> Iterator[list[str]]:
    """Return a list that gets the name of each message that a client of Connect sends."""
    client = type(spark.client)  # type: ignore[attr-defined] -- of Connect
    analyse = client._analyze
    fetch = client._execute_and_fetch
    get_configs = client.get_configs
    messages: list[str] = []

    def record_analyse(self: Any, method: str, **arguments: Any) -> Any:
        """Note the message, and send it."""
        messages.append(method)
        return analyse(self, method, **arguments)

    def record_fetch(self: Any, *arguments: Any, **named: Any) -> Any:
        """Note the message, and send it."""
        messages.append("execute")
        return fetch(self, *arguments, **named)

    def record_get_configs(self: Any, *names: str) -> Any:
        """Note the message, and send it."""
        messages.append("config")
        return get_configs(self, *names)

    with (
        patch.object(client, "_analyze", record_analyse),
        patch.object(client, "_execute_and_fetch", record_fetch),
        patch.object(client, "get_configs", record_get_configs),
    ):
        yield messages


@pytest.fixture
def on_sail(request: pytest.FixtureRequest) -> None:
    """Skip the test unless it runs on Sail."""
    if request.config.getoption("--on") != "sail":
        pytest.skip("counts the messages to Sail")


# The messages of a query: for the columns of its input, for settings, and for the plan of its
# input, which has the types of columns and the number of rows.
MIN_MESSAGES = ["schema", "config", "explain"]


@pytest.mark.usefixtures("on_sail")
@pytest.mark.parametrize("columns", ["*", "a, b", "b", "b, a"])
def test_a_plain_query_asks_about_its_input_only(spark: SparkSession, columns: str) -> None:
    query = RISES.format(low=12).replace("a, b", columns)
    matchrec.sql(spark, query)
    for text in (query, query.replace("A AS v", "A AS n > 0 AND v"), query.replace("12", "11")):
        with count_messages(spark) as messages:
            matchrec.sql(spark, text)
        assert messages == MIN_MESSAGES


@pytest.mark.usefixtures("on_sail")
def test_a_plan_names_the_files_of_an_input(spark: SparkSession, tmp_path: Path) -> None:
    parquet.write_table(
        pa.table({"k": [1, 1, 1], "n": [1, 2, 3], "v": [10, 20, 15]}), tmp_path / "rows.parquet"
    )
    spark.read.parquet(str(tmp_path)).createOrReplaceTempView(VIEW)
    query = RISES.format(low=10)
    matchrec.sql(spark, query)
    with count_messages(spark) as messages:
        matches = matchrec.sql(spark, query)
    assert messages == MIN_MESSAGES
    assert collect_rows(matches) == [(1, 2)]


@pytest.mark.usefixtures("on_sail")
@pytest.mark.parametrize("condition", ["v >= 10.5", "is_odd", "NOT (v < 15.5D OR s = 'x')"])
@pytest.mark.parametrize("measure", ["2 * LAST(v) - FIRST(n)", "LAST(v) > 12 AND LAST(is_odd)"])
def test_types_of_comparisons_and_sums_need_no_message(
    spark: SparkSession, condition: str, measure: str
) -> None:
    """Sail gets 10.5D for 10.5, because it would compare a DOUBLE and a decimal as decimals."""
    rows = "SELECT n, 10D * n AS v, n % 2 = 1 AS is_odd, CAST(n AS STRING) AS s"
    spark.sql(f"{rows} FROM VALUES (0), (1), (2), (3) AS t(n)").createOrReplaceTempView(VIEW)
    query = f"""SELECT * FROM {VIEW} MATCH_RECOGNIZE (ORDER BY n
        MEASURES {measure} AS m PATTERN (A) DEFINE A AS {condition})"""
    matchrec.sql(spark, query)
    with count_messages(spark) as messages:
        result = matchrec.sql(spark, f"{query} -- again")
    assert messages == MIN_MESSAGES
    matches = {"v >= 10.5": [2, 3], "is_odd": [1, 3], "NOT (v < 15.5D OR s = 'x')": [2, 3]}
    is_sum = measure.startswith("2")
    values = [(19.0 * n,) if is_sum else (10 * n > 12 and n % 2 == 1,) for n in matches[condition]]
    assert collect_rows(result) == sorted(values)
    assert result.schema["m"].dataType.simpleString() == ("double" if is_sum else "boolean")


@pytest.mark.usefixtures("on_sail")
def test_another_value_needs_no_other_messages(spark: SparkSession) -> None:
    query = RISES.format(low=":low")
    matchrec.sql(spark, query, {"low": 1})
    with count_messages(spark) as messages:
        matchrec.sql(spark, query, {"low": 2})
    assert messages == MIN_MESSAGES


@pytest.mark.usefixtures("on_sail")
def test_a_computed_column_is_analysed_once(spark: SparkSession) -> None:
    """A worker computes the sum, and the types of `v` and `:more` decide its type."""
    query = RISES.format(low=0).replace("PREV(v)", "PREV(v) + :more")
    matches = {-10: [(1, 4)], 0: [(1, 2), (3, 4)], 1: [(1, 2)], 9.5: [(1, 2)], 10: []}
    with count_messages(spark) as messages:
        for more, rows in matches.items():
            messages.clear()
            result = matchrec.sql(spark, query, {"more": more})
            # The types of -10 and 9.5 are new, so the query is analysed and planned for them.
            asks = [] if more in (0, 1, 10) else ["schema", "explain"]
            assert messages[: len(MIN_MESSAGES)] == MIN_MESSAGES
            assert messages[len(MIN_MESSAGES) :] == asks
            assert collect_rows(result) == rows


def test_kept_plans_keep_no_dataframes(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES (1, 1, 10), (1, 2, 20) AS t(k, n, v)")
    reference = ref(rows)
    query = RISES.format(low=":low").replace(VIEW, "{rows}")
    for low in (10, 20):
        matchrec.sql(spark, query, {"low": low}, rows=rows).collect()
    del rows
    gc.collect()
    assert reference() is None


@pytest.mark.usefixtures("on_sail")
def test_a_function_of_a_value_is_planned_once(spark: SparkSession) -> None:
    query = RISES.format(low="abs(:low)").replace("a, b", "*")
    matchrec.sql(spark, query, {"low": 1})
    with count_messages(spark) as messages:
        matchrec.sql(spark, query, {"low": 2})
    assert messages == [*MIN_MESSAGES, "schema"]
    with count_messages(spark) as messages:
        matchrec.sql(spark, query, {"low": 2.5})
    assert messages == [*MIN_MESSAGES, "schema", "explain"]


# Values of `:low`, and the matches.
VALUES = [
    (10, [(1, 2), (3, 4)]),
    (15, [(3, 4)]),
    (5_000_000_000, []),
    (15.5, []),
    (14.5, [(3, 4)]),
    (Decimal("14.99"), [(3, 4)]),
    (None, []),
    (10, [(1, 2), (3, 4)]),
]


@pytest.mark.filterwarnings("ignore::matchrec.warnings.NeverTrueWarning")  # None is among them
def test_a_parameter_can_have_a_value_of_any_type(spark: SparkSession) -> None:
    for value, matches in VALUES:
        result = matchrec.sql(spark, RISES.format(low=":low"), {"low": value})
        assert collect_rows(result) == matches, value
        assert dict(result.dtypes) == {"a": "int", "b": "int"}


def test_parameters_can_be_texts_and_dates(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT * FROM VALUES (1, 'x', DATE'2024-01-01'), (2, 'y', DATE'2024-01-02') AS t(n, s, d)"
    )
    clause = "ORDER BY n MEASURES A.n AS a PATTERN (A) DEFINE A AS {} = :value"
    for column, value, match in [
        ("s", "x", 1),
        ("s", "y", 2),
        ("s", "x'; --", None),
        ("s", ":value", None),
        ("d", date(2024, 1, 2), 2),
    ]:
        result = matchrec.match_recognize(rows, clause.format(column), {"value": value})
        assert collect_rows(result) == ([] if match is None else [(match,)]), value


def test_a_colon_in_a_string_is_not_a_parameter(spark: SparkSession) -> None:
    """The colon and the question mark in the text are not parameters."""
    query = RISES.format(low="12 AND ':low ?' <> 'x'")
    assert collect_rows(matchrec.sql(spark, query)) == [(3, 4)]
    assert collect_rows(matchrec.sql(spark, query.replace("12", ":low"), {"low": 12})) == [(3, 4)]


def test_parameters_outside_the_clause_get_their_values(spark: SparkSession) -> None:
    query = f"{RISES.format(low=':low')} WHERE b > :least AND a < :most"
    result = matchrec.sql(spark, query, {"low": 10, "least": 2, "most": 9})
    assert collect_rows(result) == [(3, 4)]
    with pytest.raises(matchrec.MatchRecognizeError, match=":most"):
        matchrec.sql(spark, query, {"low": 10, "least": 2})


NUMBERS = ["TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"]
CONSTANTS = ["2", "2.5", "-2", "999999999999999999", "999999999999999999.999999999999999999"]


def test_numbers_of_all_types_are_compared(spark: SparkSession) -> None:
    """These comparisons need no message to the session. Plain SQL gives the same rows."""
    columns = ", ".join(f"CAST(n AS {kind}) AS c_{kind}" for kind in NUMBERS)
    rows = spark.sql(f"SELECT n, {columns} FROM VALUES (1), (2), (3) AS t(n)")
    rows.createOrReplaceTempView(VIEW)
    names = [f"c_{kind}" for kind in NUMBERS]
    tests = [
        f"{left} {sign} {right}"
        for (left, right), sign in product(product(names, [*names, *CONSTANTS]), ("<", "<>"))
        if left != right
    ]
    expected = rows.selectExpr("n", *(f"{test} AS t{i}" for i, test in enumerate(tests))).collect()
    clause = "ORDER BY n MEASURES A.n AS n PATTERN (A) DEFINE A AS {}"
    for i, test in enumerate(tests[::7]):
        result = matchrec.match_recognize(spark.table(VIEW), clause.format(test))
        assert collect_rows(result) == [(row.n,) for row in expected if row[f"t{7 * i}"]], test
    joined = matchrec.match_recognize(spark.table(VIEW), clause.format(" OR ".join(tests)))
    assert collect_rows(joined) == [(1,), (2,), (3,)]


def test_the_session_compares_a_number_with_a_text(spark: SparkSession) -> None:
    """The session converts the text to a number."""
    create_view(spark, "(1, 1, '10'), (1, 2, '8')")
    query = f"""SELECT * FROM {VIEW} MATCH_RECOGNIZE (ORDER BY n MEASURES A.n AS a PATTERN (A)
        DEFINE A AS v > 9)"""
    assert collect_rows(matchrec.sql(spark, query)) == [(1,)]


def test_a_comparison_with_a_truth_value_is_refused(spark: SparkSession) -> None:
    for _ in range(2):
        with pytest.raises(matchrec.MatchRecognizeError):
            matchrec.sql(spark, RISES.format(low="1 > 5")).collect()


def test_settings_are_read_for_each_query(spark: SparkSession) -> None:
    """A worker computes the condition, because it reads several rows."""
    spark.sql(
        "SELECT n, timestamp_seconds(n * 36000) AS at FROM VALUES (1), (2), (3) AS t(n)"
    ).createOrReplaceTempView(VIEW)
    query = f"""SELECT * FROM {VIEW} MATCH_RECOGNIZE (ORDER BY n MEASURES B.n AS b, hour(B.at) AS h
        PATTERN (A B) DEFINE B AS hour(at) < hour(PREV(at)))"""
    # The rows are 10, 20 and 30 hours after the beginning of 1970 in UTC.
    for zone, matches in [("UTC", [(3, 6)]), ("Asia/Tokyo", [(2, 5)]), ("UTC", [(3, 6)])]:
        with settings(spark, session__timeZone=zone):
            assert collect_rows(matchrec.sql(spark, query)) == matches


def test_names_with_other_case(spark: SparkSession) -> None:
    query = RISES.format(low=12).replace("a, b", "A, B")
    assert matchrec.sql(spark, query).columns in (["A", "B"], ["a", "b"])
    assert collect_rows(matchrec.sql(spark, query)) == [(3, 4)]


def test_columns_in_any_order_and_more_than_once(spark: SparkSession) -> None:
    for columns, row in {"b, a": (4, 3), "b": (4,), "a, a": (3, 3), "b, a, b": (4, 3, 4)}.items():
        result = matchrec.sql(spark, RISES.format(low=12).replace("a, b", columns))
        assert result.columns == columns.split(", ")
        assert collect_rows(result) == [row]


def test_selected_columns_keep_their_alias(spark: SparkSession) -> None:
    if is_connect(spark):
        pytest.skip("a result of SQL has no alias there")
    result = matchrec.sql(spark, f"{RISES.format(low=12).replace('a, b', 'b, a')} AS m")
    assert collect_rows(result.select("m.a")) == [(3,)]


def test_an_unknown_column_is_named_each_time(spark: SparkSession) -> None:
    for _ in range(2):
        with pytest.raises(Exception, match=r"\bc\b"):
            matchrec.sql(spark, RISES.format(low=12).replace("a, b", "a, c"))


def test_a_replaced_function_has_its_new_type(spark: SparkSession) -> None:
    query = RISES.format(low="changed(10)")
    for kind, row in (("int", (1, 2)), ("double", (3, 4))):
        value = 10 if kind == "int" else 14.5
        spark.udf.register("changed", lambda _, value=value: value, kind)
        assert row in collect_rows(matchrec.sql(spark, query))


def test_a_new_variable_comes_before_a_measure(spark: SparkSession) -> None:
    if is_connect(spark):
        pytest.skip("Sail has no variables")
    query = f"""SELECT * FROM {VIEW} MATCH_RECOGNIZE (PARTITION BY k ORDER BY n
        MEASURES LAST(A.v) AS peak, peak + 1 AS above PATTERN (A) DEFINE A AS v = 20)"""
    assert collect_rows(matchrec.sql(spark, query)) == [(1, 20, 21)]
    spark.sql("DECLARE VARIABLE peak INT DEFAULT 5")
    try:
        assert collect_rows(matchrec.sql(spark, query)) == [(1, 20, 6)]
    finally:
        spark.sql("DROP TEMPORARY VARIABLE peak")


def test_sessions_share_nothing(spark: SparkSession) -> None:
    if is_connect(spark):
        pytest.skip("clients of Connect have no newSession")
    other = spark.newSession()
    query = RISES.format(low=12)
    assert collect_rows(matchrec.sql(spark, query)) == [(3, 4)]
    create_view(other, "(1L, 1L, 12.5D), (1L, 2L, 13.5D)")
    result = matchrec.sql(other, query)
    assert (collect_rows(result), dict(result.dtypes)) == ([(1, 2)], {"a": "bigint", "b": "bigint"})
