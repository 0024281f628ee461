"""Every Spark type as a partition key, an order key, a navigated value, a measure and a column.

Each type has three values, `low` before `high` and NULL first; the expected rows are worked out by
hand on positions, and the values compared as what Spark's own query over the table gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import pyspark
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import YearMonthIntervalType

import matchrec
from tests.properties.test_queries import settings


@dataclass(frozen=True, slots=True)
class Case:
    """A type, as DDL, and two of its values, as SQL. sortable: Spark can order it."""

    type: str
    low: str
    high: str
    sortable: bool = True


CASES = (
    Case("tinyint", "-128Y", "127Y"),
    Case("smallint", "-32768S", "32767S"),
    Case("int", "-2147483648", "2147483647"),
    Case("bigint", "-9223372036854775808L", "9223372036854775807L"),
    Case("float", "float('-Infinity')", "float('NaN')"),
    Case("double", "-1e308D", "double('NaN')"),
    Case("decimal(5,2)", "-999.99BD", "999.99BD"),
    Case("decimal(38,0)", "-99999999999999999999999999999999999999BD", "1BD"),
    Case("decimal(38,38)", "-0.99999999999999999999999999999999999999BD", "0.1BD"),
    Case("string", "''", "'é z'"),
    Case("binary", "X''", "X'00FF'"),
    Case("boolean", "false", "true"),
    Case("date", "DATE'0001-01-01'", "DATE'9999-12-31'"),
    Case("timestamp", "TIMESTAMP'1900-01-01 00:00:00.000001Z'", "TIMESTAMP'2024-03-31 02:30:00Z'"),
    Case(
        "timestamp_ntz", "TIMESTAMP_NTZ'1900-01-01 00:00:00'", "TIMESTAMP_NTZ'2024-03-31 02:30:00'"
    ),
    Case("interval day to second", "INTERVAL '-1 02:03:04.5' DAY TO SECOND", "INTERVAL '9' DAY"),
    Case("interval year to month", "INTERVAL '-1-2' YEAR TO MONTH", "INTERVAL '3' YEAR"),
    Case("array<int>", "array(1, NULL)", "array(2)"),
    Case("array<string>", "array()", "array('a')"),
    Case(
        "struct<a:int,b:string>", "named_struct('a', 1, 'b', 'x')", "named_struct('a', 1, 'b', 'y')"
    ),
    Case("map<string,int>", "map('a', 1)", "map('b', 2)", sortable=False),
)
MODERN = (
    Case("string collate UNICODE_CI", "'a'", "'B'"),
    Case("variant", "parse_json('{\"a\": 1}')", "parse_json('[1]')", sortable=False),
)


@pytest.fixture(params=[*CASES, *MODERN], ids=lambda case: case.type)
def case(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[Case]:
    """A table `typed` with k = 1 .. 4 and x = low, NULL, high, low."""
    case: Case = request.param
    if case in MODERN and spark.version < "4":
        pytest.skip("a type of Spark 4")
    values = (case.low, "NULL", case.high, case.low)
    rows = ", ".join(f"({k}, {x})" for k, x in enumerate(values, 1))
    typed = f"SELECT k, CAST(x AS {case.type}) AS x FROM VALUES {rows} AS t(k, x)"
    spark.sql(typed).createOrReplaceTempView("typed")
    yield case
    spark.catalog.dropTempView("typed")


def result(spark: SparkSession, clause: str) -> DataFrame:
    define = "" if "DEFINE" in clause else " DEFINE A AS TRUE"
    return matchrec.sql(spark, f"SELECT * FROM typed MATCH_RECOGNIZE ({clause}{define})")


def values(frame: DataFrame) -> list[str]:
    """The rows of a DataFrame, as text: NaN equals NaN, and maps and variants can be sorted."""
    readable = [
        f"CAST({field.name} AS string) AS {field.name}"
        if isinstance(field.dataType, YearMonthIntervalType)
        else field.name
        for field in frame.schema
    ]  # PySpark cannot collect months
    return sorted(map(repr, frame.selectExpr(*readable).collect()))


def at(spark: SparkSession, *picked: tuple[int, ...]) -> list[str]:
    """Rows of x at these places of the table, 0 for NULL, under the names a, b, c, ..."""
    selects = []
    for row in picked:
        items = ", ".join(
            f"max_by(x, k) FILTER (WHERE k = {k}) AS {name}"
            for k, name in zip(row, "abcdef", strict=False)
        )
        selects.append(f"SELECT {items} FROM typed")
    return values(spark.sql(" UNION ALL ".join(selects)))


def test_navigated_value(spark: SparkSession, case: Case) -> None:
    got = result(
        spark,
        """ORDER BY k MEASURES FIRST(x) AS a, LAST(x) AS b, PREV(LAST(x)) AS c, FIRST(B.x, 1) AS d
           PATTERN (A B+)""",
    )
    assert values(got) == at(spark, (1, 4, 3, 3))
    stored = spark.table("typed").schema["x"].dataType
    assert [field.dataType for field in got.schema] == [stored] * 4


def test_passed_through_column(spark: SparkSession, case: Case) -> None:
    got = result(spark, "ORDER BY k MEASURES LAST(x) AS b ALL ROWS PER MATCH PATTERN (A+)")
    assert got.columns == ["k", "b", "x"]
    assert values(got.selectExpr("b AS a", "x AS b")) == at(spark, (1, 1), (2, 2), (3, 3), (4, 4))
    assert got.schema["x"].dataType == spark.table("typed").schema["x"].dataType


def test_partition_key(spark: SparkSession, case: Case) -> None:
    clause = "PARTITION BY x ORDER BY k MEASURES count(*) AS n, FIRST(k) AS f PATTERN (A+)"
    if not case.sortable:
        with pytest.raises(matchrec.MatchRecognizePlanError, match="which Spark cannot sort"):
            result(spark, clause)
        return
    got = result(spark, clause)
    counts = got.select("n", "f").collect()
    assert sorted(tuple(row) for row in counts) == [(1, 2), (1, 3), (2, 1)]
    assert values(got.selectExpr("x AS a")) == at(spark, (1,), (2,), (3,))


def test_order_key(spark: SparkSession, case: Case) -> None:
    clause = "ORDER BY x, k MEASURES collect_list(k) AS ks PATTERN (A+)"
    if not case.sortable:
        with pytest.raises(matchrec.MatchRecognizePlanError, match="which Spark cannot sort"):
            result(spark, clause)
        return
    order = [row.k for row in spark.sql("SELECT k FROM typed ORDER BY x, k").collect()]
    assert order[0] == 2
    assert [row.ks for row in result(spark, clause).collect()] == [order]


def test_condition_on_the_run(spark: SparkSession, case: Case) -> None:
    clause = """ORDER BY k MEASURES collect_list(k) AS ks
                PATTERN (A B*) DEFINE A AS x IS NOT NULL, B AS x = FIRST(A.x) OR x IS NULL"""
    refused = case.type.split("<")[0] in ("map", "variant", "array", "struct")
    if refused or "collate" in case.type:
        return
    assert sorted(row.ks for row in result(spark, clause).collect()) == [[1, 2], [3], [4]]


def test_zeros_and_nan_are_grouped_and_compared_as_in_spark(spark: SparkSession) -> None:
    rows = "(1, 0.0D), (2, -0.0D), (3, double('NaN')), (4, double('NaN'))"
    spark.sql(f"SELECT * FROM VALUES {rows} AS t(k, x)").createOrReplaceTempView("typed")
    grouped = result(spark, "PARTITION BY x ORDER BY k MEASURES count(*) AS n PATTERN (A+)")
    assert sorted(row.n for row in grouped.collect()) == [2, 2]
    equal = "ORDER BY k MEASURES count(*) AS n PATTERN (A B) DEFINE B AS x = LAST(A.x)"
    assert [row.n for row in result(spark, equal).collect()] == [2, 2]
    above = "ORDER BY k MEASURES FIRST(k) AS f PATTERN (A B) DEFINE B AS x > FIRST(A.x)"
    assert [row.f for row in result(spark, above).collect()] == [2]


def test_a_calendar_interval_is_navigated(spark: SparkSession) -> None:
    spark.sql("SELECT 1 AS k, make_interval(1, 2, 0, 3) AS x").createOrReplaceTempView("typed")
    got = result(spark, "ORDER BY k MEASURES CAST(LAST(x) AS string) AS s PATTERN (A)")
    assert [row.s for row in got.collect()] == ["1 years 2 months 3 days"]


KNOWS_CALENDAR = int(pyspark.__version__.split(".")[0]) >= 4  # 3.5 cannot read such a schema
CALENDAR = "make_interval(0, i, 0, -i)" if KNOWS_CALENDAR else "make_ym_interval(i, -1)"

# What Arrow cannot carry, alone and inside of what it can; the last row is NULL throughout.
ODD = {
    "years": "CAST(make_ym_interval(i) AS INTERVAL YEAR)",
    "months": "make_ym_interval(0, i)",
    "days": "make_dt_interval(-i, 0, 0, 0.000007)",
    "calendar": CALENDAR,
    "nothing": "NULL",
    "a": "array(make_ym_interval(0, i), NULL)",
    "s": f"struct({CALENDAR} AS `it's`, NULL AS n, make_dt_interval(i) AS d)",
    "m": "map(i, array(named_struct('y', make_ym_interval(i))))",
    "k": "map(make_ym_interval(i), array(map('x', make_dt_interval(i))))",
}


@pytest.fixture
def odd(spark: SparkSession) -> DataFrame:
    values = (f"IF(i < 3, {text}, NULL) AS {name}" for name, text in ODD.items())
    return spark.range(1, 4).selectExpr("CAST(id AS INT) AS i").selectExpr("i", *values)


def shown(frame: DataFrame) -> tuple[str, list[str]]:
    """Types and rows as Spark prints them."""
    casts = (f"CAST({name} AS STRING)" for name in frame.columns)
    return frame.schema.simpleString(), sorted(map(str, frame.selectExpr(*casts).collect()))


def test_types_that_arrow_lacks_come_through_all_rows_and_measures(odd: DataFrame) -> None:
    clause = "ORDER BY i ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS i > 0"
    assert shown(matchrec.match_recognize(odd, clause)) == shown(odd)
    measures = ", ".join(f"LAST(A.{name}) AS {name}" for name in ("i", *ODD))
    clause = f"ORDER BY i MEASURES {measures} PATTERN (A) DEFINE A AS i > 0"
    assert shown(matchrec.match_recognize(odd, clause)) == shown(odd)


def test_types_that_arrow_lacks_come_through_arrays_of_events(odd: DataFrame) -> None:
    pattern = matchrec.Pattern.begin("a").where("i > 0")
    for found in (
        matchrec.detect(odd, pattern, order_by="i").selectExpr("inline(a)"),
        matchrec.sase(odd, "PATTERN SEQ(ANY a)", order_by="i").selectExpr("inline(a)"),
        matchrec.sase(odd, "PATTERN SEQ(ANY a)", order_by="i", form="compressed").select("event.*"),
    ):
        assert shown(found) == shown(odd)


def test_types_that_arrow_lacks_come_through_aggregates(odd: DataFrame) -> None:
    for name in ODD:
        lists = f"collect_list({name}) AS l, array_agg({name}) AS g, first_value({name}) AS f"
        clause = f"ORDER BY i MEASURES {lists} PATTERN (A+) DEFINE A AS i > 0"
        expected = odd.selectExpr(f"collect_list({name}) AS l", f"array_agg({name}) AS g")
        expected = expected.selectExpr("*", "l[0] AS f") if name != "nothing" else expected
        found = matchrec.match_recognize(odd, clause).select(*expected.columns)
        assert shown(found) == shown(expected)


def test_an_aggregate_that_a_type_does_not_have_is_refused(odd: DataFrame) -> None:
    for call in ("sum(a)", *(["max(calendar)", "sum(calendar)"] if KNOWS_CALENDAR else [])):
        clause = f"ORDER BY i MEASURES {call} AS x PATTERN (A) DEFINE A AS i > 0"
        with pytest.raises(matchrec.MatchRecognizePlanError, match="Spark refuses"):
            matchrec.match_recognize(odd, clause)


@pytest.mark.parametrize("engine", ["backtracking", "breadth_first"])
@pytest.mark.parametrize("condition", ["B.nothing = A.nothing", "A.nothing > B.nothing"])
def test_a_void_column_in_a_condition_on_the_run_is_null(
    odd: DataFrame, engine: str, condition: str
) -> None:
    for text, matches in ((condition, 0), (f"({condition}) IS NULL AND A.i < B.i", 1)):
        clause = f"ORDER BY i MEASURES A.i AS i PATTERN (A B) DEFINE B AS {text}"
        found = matchrec.match_recognize(odd, clause, engine=engine).collect()
        assert found == [Row(i=1)] * matches


@pytest.mark.parametrize("kind", ["double", "float", "date", "timestamp"])
@pytest.mark.parametrize("call", ["collect_list(v)", "max_by(v, t)"])
def test_pandas_refuses_arrays_whose_values_it_would_alter(
    spark: SparkSession, kind: str, call: str
) -> None:
    frame = spark.createDataFrame([], f"t int, v {kind}")
    clause = f"ORDER BY t MEASURES {call} AS x PATTERN (A) DEFINE A AS t > 0"
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match=f"`v` of type {kind} in an"):
        matchrec.match_recognize(frame, clause, transport="pandas")


NINES = "9" * 38


@pytest.mark.parametrize("call", ["sum(v)", "avg(v)"])
@pytest.mark.parametrize("rows", [2, 3, 4, 7])
def test_a_sum_of_more_digits_than_a_decimal_has(spark: SparkSession, call: str, rows: int) -> None:
    """128 bits wrap at 1.7 times the greatest sum; four of the greatest would seem small again."""
    frame = spark.range(rows).selectExpr("id", f"CAST('{NINES}' AS DECIMAL(38, 0)) AS v")
    clause = f"ORDER BY id MEASURES {call} AS s PATTERN (A+) DEFINE A AS id >= 0"
    with settings(spark, ansi__enabled="false"):
        assert matchrec.match_recognize(frame, clause).collect() == [Row(s=None)]


def test_sums_of_many_digits_that_are_not_too_large(spark: SparkSession) -> None:
    value = f"CAST(IF(id % 2 = 0, '', '-') || '{NINES}' AS DECIMAL(38, 0)) AS v"
    frame = spark.range(4).selectExpr("id", value)
    clause = """ORDER BY id MEASURES sum(v) AS s AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A+) DEFINE A AS id >= 0"""
    found = matchrec.match_recognize(frame, clause).collect()
    assert [row.s for row in found] == [0, Decimal("-" + NINES), 0, Decimal("-" + NINES)]
