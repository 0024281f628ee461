"""A DataFrame whose view is replaced has the old rows, or an error that says so.

Classic Spark analyses a query once: the DataFrame has the rows of the old view. Sail reads the view
when the query runs, as for plain `spark.sql`. Spark Connect does the same, unless the server still
has the plan of the query in its cache, with the old view.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import MatchRecognizeRunError
from matchrec.spark.backends import find_backend
from matchrec.spark.session import is_connect
from matchrec.worker.column_roles import PlannedColumn
from matchrec.worker.planned_columns import check_batches, is_same_type
from tests.properties.test_queries import settings

VIEW = "replaced_view"
CLAUSE = """MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(A.v) AS f, LAST(v) AS l
    PATTERN (A B+) DEFINE B AS v > PREV(v))"""
QUERY = f"SELECT * FROM {VIEW} {CLAUSE}"
NOTE = "the input has changed since this DataFrame was made, such as a view that was replaced"
HINT = "build the query again, by the call that made this DataFrame"


def create_view(spark: SparkSession, select_list: str, rows: str) -> None:
    """Create or replace the view."""
    text = f"SELECT {select_list} FROM VALUES {rows} AS t(k, ts, v)"
    spark.sql(text).createOrReplaceTempView(VIEW)


@pytest.fixture
def old_view(spark: SparkSession) -> None:
    """Create the view with its old rows."""
    create_view(spark, "k, ts, v", "(1, 1, 10), (1, 2, 20), (1, 3, 30)")


def list_rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows of a DataFrame."""
    return [tuple(row) for row in frame.collect()]


def check_old_rows_or_error(
    result: DataFrame, message: str, old_rows: list[tuple[Any, ...]]
) -> None:
    """Check that a result has the rows of the old view, or raises an error with a message.

    On Sail it raises the error, on classic Spark it has the rows. Spark Connect may do either.

    Args:
        result: a result that was made before the view was replaced.
        message: the message of the error.
        old_rows: the rows for the old view.
    """
    spark = result.sparkSession
    try:
        rows = list_rows(result)
    except PySparkException as raised:
        assert is_connect(spark)
        error = MatchRecognizeRunError.from_exception(raised)
        assert error is not None
        assert (error.message, error.notes, error.hint) == (message, (NOTE,), HINT)
    else:
        assert rows == old_rows
        assert find_backend(spark).engine == "Spark"


# The new rows, and the new type of `v` in the error.
OTHER_TYPES = {
    "double": ("(1, 1, 10.5D), (1, 2, 20.5D), (1, 3, 30.5D)", "double"),
    "bigint": ("(1, 1, 6000000000), (1, 2, 6000000001), (1, 3, 6000000002)", "bigint"),
    "string": ("(1, 1, 'a'), (1, 2, 'b'), (1, 3, 'c')", "string"),
    "decimal": ("(1, 1, 1.5), (1, 2, 2.5), (1, 3, 3.5)", "decimal(2,1)"),
    "timestamp": (
        "(1, 1, TIMESTAMP'2024-01-01'), (1, 2, TIMESTAMP'2024-01-02'), (1, 3, NULL)",
        "timestamp",
    ),
}


@pytest.mark.usefixtures("old_view")
@pytest.mark.parametrize(("rows", "new_type"), OTHER_TYPES.values(), ids=OTHER_TYPES.keys())
def test_a_replaced_view_with_another_type_is_rejected(
    spark: SparkSession, rows: str, new_type: str
) -> None:
    result = matchrec.sql(spark, QUERY)
    create_view(spark, "k, ts, v", rows)
    check_old_rows_or_error(
        result, f"column `v` is {new_type}, and was int when the query was built", [(1, 10, 30)]
    )


@pytest.mark.usefixtures("old_view")
@pytest.mark.parametrize("name", ["double", "bigint", "decimal"])
def test_a_replaced_view_with_another_type_is_rejected_over_pandas(
    spark: SparkSession, name: str
) -> None:
    result = matchrec.sql(spark, QUERY, options=matchrec.Options(transport="pandas"))
    rows, new_type = OTHER_TYPES[name]
    create_view(spark, "k, ts, v", rows)
    check_old_rows_or_error(
        result, f"column `v` is {new_type}, and was int when the query was built", [(1, 10, 30)]
    )


def test_local_times_that_become_instants_are_rejected(spark: SparkSession) -> None:
    """In New York, a local time and its instant are different numbers."""
    with settings(spark, session__timeZone="America/New_York"):
        create_view(spark, "k, ts, TIMESTAMP_NTZ'2024-01-01' AS v", "(1, 1, 10), (1, 2, 20)")
        result = matchrec.sql(spark, QUERY.replace("v >", "v >="))
        create_view(spark, "k, ts, timestamp_seconds(ts) AS v", "(1, 1, 10), (1, 2, 20)")
        midnight = datetime(2024, 1, 1)
        message = "column `v` is timestamp, and was timestamp_ntz when the query was built"
        check_old_rows_or_error(result, message, [(1, midnight, midnight)])


@pytest.mark.usefixtures("old_view")
def test_a_query_that_is_built_again_has_the_new_types(spark: SparkSession) -> None:
    assert list_rows(matchrec.sql(spark, QUERY)) == [(1, 10, 30)]
    create_view(spark, "k, ts, v", "(1, 1, 6000000000), (1, 2, 6000000001), (1, 3, 6000000001)")
    assert list_rows(matchrec.sql(spark, QUERY)) == [(1, 6000000000, 6000000001)]


def test_a_text_is_planned_again_with_an_aggregate_beside_a_column(spark: SparkSession) -> None:
    """The session cannot analyse the two in one SELECT, so their types are not requested together.

    The rows were worked out by hand.
    """
    create_view(spark, "k, ts, v", "('a', 1, 1), ('a', 2, 2), ('a', 3, 1)")
    query = f"""SELECT * FROM {VIEW} MATCH_RECOGNIZE (ORDER BY ts
        MEASURES FIRST(k) || '-' || ARRAY_JOIN(ARRAY_AGG(v), '-') AS path
        PATTERN (A B+) DEFINE B AS v > 0)"""
    for _ in range(3):
        assert [row.path for row in matchrec.sql(spark, query).collect()] == ["a-1-2-1"]


# The columns of the new view, its rows, and the error.
OTHER_KEYS_AND_ORDERS = {
    "a key that has a NULL": (
        "k, ts, v",
        "(1, 1, 10), (NULL, 2, 20), (NULL, 3, 30)",
        "column `k` has a NULL, and was NOT NULL when the query was built",
    ),
    "a key of another type": (
        "CAST(k AS STRING) AS k, ts, v",
        "(1, 1, 10), (1, 2, 20)",
        "column `k` is string, and was int when the query was built",
    ),
    "an order of another type that no measure reads": (
        "k, CAST(ts AS DOUBLE) AS ts, v",
        "(1, 1, 10), (1, 2, 20)",
        "column `ts` is double, and was int when the query was built",
    ),
}


@pytest.mark.usefixtures("old_view")
@pytest.mark.parametrize(
    ("columns", "rows", "message"), OTHER_KEYS_AND_ORDERS.values(), ids=OTHER_KEYS_AND_ORDERS.keys()
)
def test_a_replaced_view_with_another_key_or_order_is_rejected(
    spark: SparkSession, columns: str, rows: str, message: str
) -> None:
    result = matchrec.sql(spark, QUERY)
    create_view(spark, columns, rows)
    check_old_rows_or_error(result, message, [(1, 10, 30)])


# Columns of a new view that has the same types. Its rows have one match, from 7 to 8.
SAME_TYPES = {"columns in another order": "v, ts, k", "another column": "'new' AS z, ts, k, v"}


@pytest.mark.usefixtures("old_view")
@pytest.mark.parametrize("select_list", SAME_TYPES.values(), ids=SAME_TYPES.keys())
@pytest.mark.parametrize("order", ["ts", "timestamp_seconds(ts) AS ts"], ids=["number", "time"])
def test_columns_are_read_by_their_names(spark: SparkSession, select_list: str, order: str) -> None:
    create_view(spark, f"k, {order}, v", "(1, 1, 10), (1, 2, 20), (1, 3, 30)")
    result = matchrec.sql(spark, QUERY)
    create_view(spark, select_list.replace("ts", order, 1), "(1, 5, 7), (1, 6, 8)")
    assert list_rows(result) == ([(1, 7, 8)] if is_connect(spark) else [(1, 10, 30)])


@pytest.mark.usefixtures("old_view")
@pytest.mark.parametrize("select_list", ["k, ts", "k, ts, v AS w"], ids=["dropped", "renamed"])
def test_a_replaced_view_without_a_column_is_rejected(
    spark: SparkSession, select_list: str
) -> None:
    result = matchrec.sql(spark, QUERY)
    create_view(spark, select_list, "(1, 1, 10), (1, 2, 20)")
    if is_connect(spark):
        with pytest.raises(PySparkException, match=r"\bv\b"):
            result.collect()
    else:
        assert list_rows(result) == [(1, 10, 30)]


@pytest.mark.parametrize(
    ("new_struct", "new_type"),
    [
        ("named_struct('y', v, 'x', v)", "struct<y:int,x:int>"),
        ("named_struct('x', v)", "struct<x:int>"),
        ("named_struct('x', v, 'z', v)", "struct<x:int,z:int>"),
    ],
)
def test_a_struct_with_other_fields_is_rejected(
    spark: SparkSession, new_struct: str, new_type: str
) -> None:
    old_type = "struct<x:int,y:int>"
    create_view(spark, "k, ts, named_struct('x', v, 'y', v) AS v", "(1, 1, 10), (1, 2, 20)")
    clause = CLAUSE.replace("v > PREV(v)", "v.x > PREV(v.x)")
    result = matchrec.sql(spark, f"SELECT f.x AS x, l.y AS y FROM {VIEW} {clause}")
    create_view(spark, f"k, ts, {new_struct} AS v", "(1, 1, 100), (1, 2, 200)")
    check_old_rows_or_error(
        result, f"column `v` is {new_type}, and was {old_type} when the query was built", [(10, 20)]
    )


def test_the_error_names_the_column_of_events_that_changed(spark: SparkSession) -> None:
    """The columns of events are sent one by one, and the error names the one that changed.

    `v` is in no condition, so only the events have it.
    """
    create_view(spark, "k, ts, CAST(v AS STRING) AS v", "(1, 1, 10), (1, 2, 20)")
    pattern = matchrec.Pattern.begin("a").where("ts > 1")
    matches = matchrec.match_pattern(spark.table(VIEW), pattern, order_by="ts")
    result = matches.selectExpr("a[0].v AS v")
    create_view(spark, "k, ts, v", "(1, 1, 10), (1, 2, 20)")
    check_old_rows_or_error(
        result, "column `v` is int, and was string when the query was built", [("20",)]
    )


@pytest.mark.usefixtures("old_view")
def test_a_view_that_two_clauses_read_is_rejected(spark: SparkSession) -> None:
    result = matchrec.sql(
        spark,
        f"""SELECT a.f, b.n FROM {VIEW} {CLAUSE} AS a JOIN {VIEW} MATCH_RECOGNIZE (
            PARTITION BY k ORDER BY ts MEASURES count(*) AS n
            PATTERN (X+) DEFINE X AS v > 0) AS b ON a.k = b.k""",
    )
    create_view(spark, "k, ts, CAST(v AS DOUBLE) AS v", "(1, 1, 10), (1, 2, 20)")
    check_old_rows_or_error(
        result, "column `v` is double, and was int when the query was built", [(10, 3)]
    )


def match_by_rules(rows: DataFrame) -> DataFrame:
    """Return the matches of a rule set."""
    rules = {"rise": "MEASURES LAST(v) AS l PATTERN (A B) DEFINE B AS v > PREV(v)"}
    return matchrec.match_rules(rows, rules, partition_by="k", order_by="ts").matches


def match_by_sase(rows: DataFrame) -> DataFrame:
    """Return the matches of a SASE+ query."""
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { b.v > a.v } RETURN b.v AS l"
    typed = rows.selectExpr("*", "CASE ts WHEN 1 THEN 'A' ELSE 'B' END AS event_type")
    return matchrec.match_sase(typed, text, order_by="ts")


def match_by_pattern(rows: DataFrame) -> DataFrame:
    """Return the matches of a pattern of stages."""
    pattern = matchrec.Pattern.begin("a").followed_by("b").where("v > a.v")
    return matchrec.match_pattern(rows, pattern, partition_by="k", order_by="ts")


@pytest.mark.usefixtures("old_view")
@pytest.mark.parametrize("build", [match_by_rules, match_by_sase, match_by_pattern])
def test_every_front_end_rejects_a_replaced_view(
    spark: SparkSession, build: Callable[[DataFrame], DataFrame]
) -> None:
    result = build(spark.table(VIEW))
    old_rows = list_rows(result)
    assert old_rows
    create_view(spark, "k, ts, CAST(v AS DOUBLE) AS v", "(1, 1, 10), (1, 2, 20)")
    check_old_rows_or_error(
        result, "column `v` is double, and was int when the query was built", old_rows
    )


POINT = pa.struct([pa.field("x", pa.int32(), nullable=False)])
PLANNED = [PlannedColumn("`p`", "struct<x: int>", pa.field("p", POINT))]


def test_a_null_field_is_rejected_and_a_null_struct_is_not() -> None:
    null_struct = pa.array([{"x": 1}, None], POINT)
    batch = pa.RecordBatch.from_arrays([null_struct], names=["p"])
    assert list(check_batches([batch], PLANNED, ())) == [batch]
    null_field = pa.StructArray.from_arrays([pa.array([1, None], pa.int32())], names=["x"])
    with pytest.raises(MatchRecognizeRunError, match="column `p` has a NULL"):
        list(check_batches([pa.RecordBatch.from_arrays([null_field], names=["p"])], PLANNED, ()))


@pytest.mark.parametrize(
    ("planned", "new_type", "is_same"),
    [
        (pa.string(), pa.large_string(), True),
        (pa.string(), pa.dictionary(pa.int32(), pa.string()), True),
        (pa.timestamp("us", "UTC"), pa.timestamp("us", "+00:00"), True),
        (pa.timestamp("us", "UTC"), pa.timestamp("us"), False),
        (pa.map_(pa.string(), pa.int32()), pa.map_(pa.string(), pa.int64()), False),
        (pa.list_(pa.int32()), pa.list_(pa.field("element", pa.int32(), False)), True),
        (pa.decimal128(10, 2), pa.decimal128(10, 3), False),
        (pa.int16(), pa.uint8(), False),
    ],
)
def test_types_are_the_same_if_their_values_are(
    planned: pa.DataType, new_type: pa.DataType, is_same: bool
) -> None:
    assert is_same_type(planned, new_type) is is_same
