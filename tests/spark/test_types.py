"""Every Spark type as a partition key, an order key, a navigated value, a measure and a column.

Each type has three values, `low` before `high` and NULL first; the expected rows are worked out by
hand on positions, and the values compared as what Spark's own query over the table gives. A query
asks for all types at once, in a full run for each on its own.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from decimal import Decimal

import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import DataType, YearMonthIntervalType

import matchrec
from tests.properties.test_queries import settings
from tests.quick.scale import together

pytestmark = pytest.mark.one_of(4)

SPARK_4 = int(pyspark.__version__.split(".")[0]) >= 4


@dataclass(frozen=True, slots=True)
class Case:
    """A type, as DDL, and two of its values, as SQL. sortable: Spark can order it."""

    type: str
    low: str
    high: str
    sortable: bool = True

    @property
    def name(self) -> str:
        """The column's name, which the difference of two rows shows."""
        return "x_" + re.sub(r"\W+", "_", self.type)

    @property
    def comparable(self) -> bool:
        """Whether conditions on the run compare its values."""
        return self.sortable and not re.search("array|struct|collate", self.type)

    def column(self, nulls: int, highs: int) -> str:
        """`low`, but NULL and `high` where k is one of these."""
        value = f"CASE k WHEN {nulls} THEN NULL WHEN {highs} THEN {self.high} ELSE {self.low} END"
        return f"CAST({value} AS {self.type}) AS {self.name}"


Cases = tuple[Case, ...]


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


TYPES = (*CASES, *MODERN) if SPARK_4 else CASES


def name_of(cases: Cases) -> str:
    return cases[0].type if len(cases) == 1 else "all"


@pytest.fixture(params=together(TYPES), ids=name_of)
def cases(request: pytest.FixtureRequest) -> Cases:
    return tuple(request.param)


@pytest.fixture(params=together([case for case in TYPES if case.sortable]), ids=name_of)
def sortable(request: pytest.FixtureRequest) -> Cases:
    return tuple(request.param)


@pytest.fixture
def typed(spark: SparkSession, cases: Cases) -> DataFrame:
    """Rows k = 1 .. 4 with low, NULL, high, low in the column of each type."""
    columns = (case.column(nulls=2, highs=3) for case in cases)
    return spark.range(1, 5).selectExpr("id AS k").selectExpr("k", *columns)


def result(frame: DataFrame, clause: str) -> DataFrame:
    define = "" if "DEFINE" in clause else " DEFINE A AS TRUE"
    return matchrec.match_recognize(frame, clause + define)


def list_rows(frame: DataFrame) -> list[dict[str, str]]:
    """Return the rows of a DataFrame, values as text: NaN equals NaN."""
    readable = [
        f"CAST({field.name} AS string) AS {field.name}"
        if isinstance(field.dataType, YearMonthIntervalType)
        else field.name
        for field in frame.schema
    ]  # PySpark cannot collect months
    found = frame.selectExpr(*readable).collect()
    return [{name: repr(value) for name, value in row.asDict().items()} for row in found]


NAVIGATED = {"FIRST({})": 1, "LAST({})": 4, "PREV(LAST({}))": 3, "FIRST(B.{}, 1)": 3}  # to row k


def test_navigated_value(typed: DataFrame, cases: Cases) -> None:
    measures = (
        f"{text.format(case.name)} AS {case.name}_{k}_{i}"
        for i, (text, k) in enumerate(NAVIGATED.items())
        for case in cases
    )
    got = result(
        typed, f"ORDER BY k MEASURES {', '.join(measures)} PATTERN (A B+) DEFINE B AS TRUE"
    )
    stored = list_rows(typed.orderBy("k"))
    assert list_rows(got) == [
        {
            f"{case.name}_{k}_{i}": stored[k - 1][case.name]
            for i, k in enumerate(NAVIGATED.values())
            for case in cases
        }
    ]
    assert list_types(got) == list_types(typed.drop("k")) * len(NAVIGATED)


def list_types(frame: DataFrame) -> list[DataType]:
    return [field.dataType for field in frame.schema]


def test_passed_through_column(typed: DataFrame, cases: Cases) -> None:
    measures = ", ".join(f"LAST({case.name}) AS b_{case.name}" for case in cases)
    got = result(typed, f"ORDER BY k MEASURES {measures} ALL ROWS PER MATCH PATTERN (A+)")
    expected = typed.selectExpr(
        "k", *(f"{c.name} AS b_{c.name}" for c in cases), *typed.columns[1:]
    )
    assert got.columns == expected.columns
    assert list_rows(got.orderBy("k")) == list_rows(expected.orderBy("k"))
    assert list_types(got) == list_types(expected)


@pytest.fixture
def keys(spark: SparkSession, sortable: Cases) -> DataFrame:
    """Each row twice: all values low, or one of them NULL or high, of the type that `other` tells.

    Sorted by all types in turn, NULL of the first type is first, and what is high in it last.
    """
    columns = (case.column(nulls=2 * i, highs=2 * i + 1) for i, case in enumerate(sortable))
    others = ", ".join(f"'NULL {case.name}', 'high {case.name}'" for case in sortable)
    rows = spark.range(4 * len(sortable) + 2).selectExpr("id DIV 2 AS k")
    return rows.selectExpr(f"coalesce(get(array({others}), CAST(k AS INT)), 'low') AS o", *columns)


def list_others_in_order(keys: DataFrame) -> list[str]:
    """Return what `o` says, as sorted by all types."""
    names = keys.columns[1:]
    return [*(f"NULL {x}" for x in names), "low", *(f"high {x}" for x in reversed(names))]


def test_partition_key(keys: DataFrame) -> None:
    """A value that differs makes a partition; equal ones do not."""
    by = ", ".join(keys.columns[1:])
    got = result(keys, f"PARTITION BY {by} ORDER BY o MEASURES array_agg(o) AS os PATTERN (A+)")
    groups = sorted(row.os for row in got.select("os").collect())
    assert groups == sorted([other] * 2 for other in list_others_in_order(keys))
    assert sorted(map(str, list_rows(got.drop("os")))) == sorted(
        map(str, list_rows(keys.drop("o").distinct()))
    )


def test_order_key(keys: DataFrame) -> None:
    by = ", ".join(keys.columns[1:])
    (row,) = result(keys, f"ORDER BY {by} MEASURES array_agg(o) AS os PATTERN (A+)").collect()
    assert row.os == [other for other in list_others_in_order(keys) for _ in range(2)]


@pytest.mark.parametrize("case", [case for case in TYPES if not case.sortable], ids=str)
def test_keys_that_spark_cannot_sort_are_refused(spark: SparkSession, case: Case) -> None:
    frame = spark.range(1).selectExpr("id AS k").selectExpr("k", case.column(nulls=2, highs=3))
    for clause in (f"PARTITION BY {case.name} ORDER BY k", f"ORDER BY {case.name}, k"):
        with pytest.raises(matchrec.MatchRecognizePlanError, match="which Spark cannot sort"):
            result(frame, f"{clause} MEASURES count(*) AS n PATTERN (A+)")


OF_NULLS = [case for case in TYPES if not case.comparable]


@pytest.mark.parametrize("case", OF_NULLS, ids=str)
def test_whether_a_value_of_another_row_is_null(spark: SparkSession, case: Case) -> None:
    """The values are low, NULL, high, low; before the first there is none."""
    column = case.column(nulls=2, highs=3)
    frame = spark.range(1, 5).selectExpr("id AS k").selectExpr("k", column)
    neighbours = f"A AS PREV({case.name}) IS NULL AND {case.name} IS NOT NULL"
    for pattern, condition in (("A", neighbours), ("N A", f"A AS LAST(N.{case.name}) IS NULL")):
        clause = f"ORDER BY k MEASURES LAST(k) AS k PATTERN ({pattern}) DEFINE {condition}"
        found = [row.k for row in result(frame, clause).orderBy("k").collect()]
        assert found == ([1, 3] if pattern == "A" else [3])


def test_condition_on_the_run(typed: DataFrame, cases: Cases) -> None:
    """The rows are low, NULL, high, low; each is compared with the first."""

    def holds(*names: str) -> bool:
        null = " AND ".join(f"({name} = A.{name}) IS NULL" for name in names)
        above = " AND ".join(f"{name} > A.{name}" for name in names)
        equal = " AND ".join(f"{name} = A.{name}" for name in names)
        define = f"DEFINE N AS {null}, H AS {above}, E AS {equal}"
        clause = f"ORDER BY k MEASURES A.k AS k PATTERN (A N H E) {define}"
        return [row.k for row in result(typed, clause).collect()] == [1]

    names = [case.name for case in cases if case.comparable]
    if names:
        assert holds(*names), [name for name in names if not holds(name)]


def test_zeros_and_nan_are_grouped_and_compared_as_in_spark(spark: SparkSession) -> None:
    rows = "(1, 0.0D), (2, -0.0D), (3, double('NaN')), (4, double('NaN'))"
    frame = spark.sql(f"SELECT * FROM VALUES {rows} AS t(k, x)")
    grouped = result(frame, "PARTITION BY x ORDER BY k MEASURES count(*) AS n PATTERN (A+)")
    assert sorted(row.n for row in grouped.collect()) == [2, 2]
    equal = "ORDER BY k MEASURES count(*) AS n PATTERN (A B) DEFINE B AS x = LAST(A.x)"
    assert [row.n for row in result(frame, equal).collect()] == [2, 2]
    above = "ORDER BY k MEASURES FIRST(k) AS f PATTERN (A B) DEFINE B AS x > FIRST(A.x)"
    assert [row.f for row in result(frame, above).collect()] == [2]


def test_a_calendar_interval_is_navigated(spark: SparkSession) -> None:
    frame = spark.sql("SELECT 1 AS k, make_interval(1, 2, 0, 3) AS x")
    got = result(frame, "ORDER BY k MEASURES CAST(LAST(x) AS string) AS s PATTERN (A)")
    assert [row.s for row in got.collect()] == ["1 years 2 months 3 days"]


KNOWS_CALENDAR = SPARK_4  # 3.5 cannot read such a schema
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
    "e": "array()",
    "h": "map(i, named_struct('e', array(array()), 'm', map()))",
}


@pytest.fixture
def odd(spark: SparkSession) -> DataFrame:
    values = (f"IF(i < 3, {text}, NULL) AS {name}" for name, text in ODD.items())
    return spark.range(1, 4).selectExpr("CAST(id AS INT) AS i").selectExpr("i", *values)


def show_result(frame: DataFrame) -> tuple[str, list[str]]:
    """Return types and rows as Spark prints them."""
    casts = (f"CAST({name} AS STRING)" for name in frame.columns)
    return frame.schema.simpleString(), sorted(map(str, frame.selectExpr(*casts).collect()))


def test_types_that_arrow_lacks_come_through_all_rows_and_measures(odd: DataFrame) -> None:
    clause = "ORDER BY i ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS i > 0"
    assert show_result(matchrec.match_recognize(odd, clause)) == show_result(odd)
    measures = ", ".join(f"LAST(A.{name}) AS {name}" for name in ("i", *ODD))
    clause = f"ORDER BY i MEASURES {measures} PATTERN (A) DEFINE A AS i > 0"
    assert show_result(matchrec.match_recognize(odd, clause)) == show_result(odd)


def test_types_that_arrow_lacks_come_through_arrays_of_events(odd: DataFrame) -> None:
    pattern = matchrec.Pattern.begin("a").where("i > 0")
    for found in (
        matchrec.match_pattern(odd, pattern, order_by="i").selectExpr("inline(a)"),
        matchrec.match_sase(odd, "PATTERN SEQ(ANY a)", order_by="i").selectExpr("inline(a)"),
        matchrec.match_sase(odd, "PATTERN SEQ(ANY a)", order_by="i", output="graph").select(
            "event.*"
        ),
    ):
        assert show_result(found) == show_result(odd)


def test_types_that_arrow_lacks_come_through_aggregates(odd: DataFrame) -> None:
    for name in ODD:
        lists = f"collect_list({name}) AS l, array_agg({name}) AS g, first_value({name}) AS f"
        clause = f"ORDER BY i MEASURES {lists} PATTERN (A+) DEFINE A AS i > 0"
        expected = odd.selectExpr(f"collect_list({name}) AS l", f"array_agg({name}) AS g")
        expected = expected.selectExpr("*", "l[0] AS f") if name != "nothing" else expected
        found = matchrec.match_recognize(odd, clause).select(*expected.columns)
        assert show_result(found) == show_result(expected)


def test_an_aggregate_that_a_type_does_not_have_is_refused(odd: DataFrame) -> None:
    for call in ("sum(a)", *(["max(calendar)", "sum(calendar)"] if KNOWS_CALENDAR else [])):
        clause = f"ORDER BY i MEASURES {call} AS x PATTERN (A) DEFINE A AS i > 0"
        with pytest.raises(matchrec.MatchRecognizePlanError, match="Spark refuses"):
            matchrec.match_recognize(odd, clause)


@pytest.mark.parametrize("algorithm", ["backtracking", "breadth_first"])
@pytest.mark.parametrize("condition", ["B.nothing = A.nothing", "A.nothing > B.nothing"])
def test_a_void_column_in_a_condition_on_the_run_is_null(
    odd: DataFrame, algorithm: str, condition: str
) -> None:
    for text, matches in ((condition, 0), (f"({condition}) IS NULL AND A.i < B.i", 1)):
        clause = f"ORDER BY i MEASURES A.i AS i PATTERN (A B) DEFINE B AS {text}"
        found = matchrec.match_recognize(
            odd, clause, options=matchrec.Options(algorithm=algorithm)
        ).collect()
        assert found == [Row(i=1)] * matches


@pytest.mark.parametrize("kind", ["double", "float", "date", "timestamp"])
@pytest.mark.parametrize("call", ["collect_list(v)", "array_agg(v)"])
def test_pandas_refuses_arrays_whose_values_it_would_alter(
    spark: SparkSession, kind: str, call: str
) -> None:
    frame = spark.createDataFrame([], f"t int, v {kind}")
    clause = f"ORDER BY t MEASURES {call} AS x PATTERN (A) DEFINE A AS t > 0"
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match=f"`v` of type {kind} in an"):
        matchrec.match_recognize(frame, clause, options=matchrec.Options(transport="pandas"))


def test_pandas_takes_the_value_of_a_chosen_row(spark: SparkSession) -> None:
    """No array of values crosses, only the number of a row."""
    rows = spark.sql(
        "SELECT * FROM VALUES (1, DATE'1000-02-03', -0.0D), (2, NULL, CAST('NaN' AS DOUBLE)),"
        " (3, DATE'2024-02-29', NULL) AS t(t, day, v)"
    )
    clause = (
        "ORDER BY t MEASURES max_by(day, -t) AS day, CAST(min_by(v, t) AS STRING) AS first_v,"
        " CAST(max_by(v, t) AS STRING) AS last_v AFTER MATCH SKIP TO NEXT ROW PATTERN (A A?)"
        " DEFINE A AS t > 0"
    )
    options = matchrec.Options(transport="pandas")
    assert matchrec.match_recognize(rows, clause, options=options).orderBy("first_v").collect() == [
        Row(day=datetime.date(2024, 2, 29), first_v=None, last_v=None),
        Row(day=datetime.date(1000, 2, 3), first_v="-0.0", last_v="NaN"),
        Row(day=None, first_v="NaN", last_v=None),
    ]


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


def test_what_is_compared_with_a_char_is_padded(spark: SparkSession) -> None:
    """Spark pads it: in its table, `k` of type CHAR(4) is 'a   ', and `k = 'a'` is true."""
    spark.sql("CREATE TABLE padded (k CHAR(4), c CHAR(3), n INT) USING parquet")
    spark.sql("INSERT INTO padded VALUES ('a', 'x', 1), ('a', 'y', 2), ('b', 'x', 1)")
    rule = "MEASURES A.c = 'x' AS x, B.n AS n PATTERN (A B) DEFINE A AS c = 'x'"
    query = """SELECT * FROM padded MATCH_RECOGNIZE (PARTITION BY k ORDER BY n
        MEASURES A.c = 'x' AS begins_with_x, PREV(B.c) IN ('x', 'z') AS comes_after_x, B.n AS n
        PATTERN (A B) DEFINE A AS c = 'x') WHERE k = 'a'"""
    try:
        (row,) = matchrec.sql(spark, query).collect()
        assert tuple(row)[1:] == (True, True, 2)
        found = matchrec.match_rules(
            spark.table("padded"), {"rule": rule}, order_by="n", partition_by="k"
        )
        assert found.matches.where("k = 'a'").count() == 1
        of_rule = found.rule("rule").where("k = 'a'").collect()
        assert [tuple(one)[1:] for one in of_rule] == [(True, 2)]
    finally:
        spark.sql("DROP TABLE padded")


PAIRS = (
    "PREV(c) = 'a'",
    "PREV(c) < c5",
    "X.c = A.c5",
    "(X.c) = (A.c5)",
    "'x' = X.c OR X.c <=> A.c",
    "PREV(c) IN ('zzzz', NULL, 'a')",
    "PREV(c) IN ('zzzz', 'a')",
    "X.c IN (A.c5, 'ab')",
    "X.c NOT IN ('a', A.c5)",
    "X.c = A.t",
    "CASE X.c WHEN 'a' THEN A.c5 = 'b' WHEN A.c5 THEN TRUE ELSE A.c5 = 'a' END",
    "CASE PREV(c) WHEN 'a' THEN TRUE END",
    "DECODE(X.c, 'a', 1, A.c5, 2, 3) < 3",
)


@pytest.mark.slow
def test_chars_of_two_rows_are_compared_as_those_of_one(spark: SparkSession) -> None:
    """Spark pads the columns of a pair of rows when it compares them."""
    spark.sql("CREATE TABLE pairs (n INT, c CHAR(3), c5 CHAR(5), t STRING) USING parquet")
    spark.sql("""INSERT INTO pairs VALUES (1, 'a', 'a', 'a'), (2, 'a', 'b', 'a  '),
        (3, 'b', 'a', 'b'), (4, 'ab', 'b', 'ab '), (5, NULL, 'ab', 'a'), (6, 'x', NULL, 'x')""")
    skip = "AFTER MATCH SKIP TO NEXT ROW PATTERN (X A)"
    rules = {pair: f"{skip} DEFINE A AS {pair}" for pair in PAIRS}
    pairs = ", ".join(
        f"({write_pair_condition(one)}) AS `{place}`" for place, one in enumerate(PAIRS)
    )
    joined = spark.sql(f"SELECT {pairs}, A.n FROM pairs A JOIN pairs X ON X.n + 1 = A.n").collect()
    expected = {
        (rule, *row[-1:])
        for row in joined
        for rule, holds in zip(PAIRS, row, strict=False)
        if holds
    }
    try:
        for sort in ("auto", "engine"):
            matches = matchrec.match_rules(
                spark.table("pairs"), rules, order_by="n", options=matchrec.Options(sort=sort)
            ).matches
            assert {*map(tuple, matches.select("rule", "end_time").collect())} == expected, sort
    finally:
        spark.sql("DROP TABLE pairs")


def write_pair_condition(condition: str) -> str:
    """Return the condition over two rows, X before A."""
    with_own = re.sub(r"(?<![\w.(])(c5?)\b", r"A.\1", condition)
    return re.sub(r"PREV\((\w+)\)", r"X.\1", with_own)


@pytest.mark.parametrize("key", ["PARTITION BY v ORDER BY n", "ORDER BY v"])
def test_a_place_on_a_map_is_no_key(spark: SparkSession, key: str) -> None:
    place = "ST_GeomFromWKB(X'0101000000000000000000F03F0000000000000040')"
    try:
        frame = spark.sql(f"SELECT 1 AS n, {place} AS v")
    except AnalysisException:
        pytest.skip("has no places on a map")
    words = r"key of type geometry\(0\), which Spark cannot sort(.|\n)*ST_AsBinary"
    with pytest.raises(matchrec.MatchRecognizePlanError, match=words):
        matchrec.match_recognize(frame, f"{key} MEASURES 1 AS one PATTERN (A)")
