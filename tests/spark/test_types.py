"""Each type of Spark works as a key, as a navigated value, as a measure and as a column.

Each type has NULL and two values; NULL is before `low`, and `low` before `high`. The rows of a
result are worked out by hand, and the values are read from the table. A test has a column of each
type; in a full run, it is also run for each type alone.
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
from matchrec.spark.substitutes import write_microseconds
from tests.properties.test_queries import settings
from tests.quick.scale import together

pytestmark = pytest.mark.one_of(4)

SPARK_4 = int(pyspark.__version__.split(".")[0]) >= 4


@dataclass(frozen=True, slots=True)
class Case:
    """A type, as DDL, and two of its values, as SQL."""

    type: str
    low: str
    high: str
    sortable: bool = True  # Spark can sort by it

    @property
    def name(self) -> str:
        """Return the name of the column, which a failed comparison of rows shows."""
        return "x_" + re.sub(r"\W+", "_", self.type)

    @property
    def comparable(self) -> bool:
        """Return whether conditions that depend on the run can compare its values."""
        return self.sortable and not re.search("array|struct|collate", self.type)

    def column(self, nulls: int, highs: int) -> str:
        """Return a column that is NULL if k is `nulls`, `high` if k is `highs`, and else `low`."""
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
    """Return the name of a test for some types."""
    return cases[0].type if len(cases) == 1 else "all"


@pytest.fixture(params=together(TYPES), ids=name_of)
def cases(request: pytest.FixtureRequest) -> Cases:
    """Return all types, or each type alone."""
    return tuple(request.param)


@pytest.fixture(params=together([case for case in TYPES if case.sortable]), ids=name_of)
def sortable(request: pytest.FixtureRequest) -> Cases:
    """Return all sortable types, or each one alone."""
    return tuple(request.param)


@pytest.fixture
def typed(spark: SparkSession, cases: Cases) -> DataFrame:
    """Return rows k = 1 to 4 with low, NULL, high, low in the column of each type."""
    columns = (case.column(nulls=2, highs=3) for case in cases)
    return spark.range(1, 5).selectExpr("id AS k").selectExpr("k", *columns)


def match_clause(frame: DataFrame, clause: str) -> DataFrame:
    """Return the rows of a clause. Without DEFINE, its variable A is always true."""
    define = "" if "DEFINE" in clause else " DEFINE A AS TRUE"
    return matchrec.match_recognize(frame, clause + define)


def list_rows(frame: DataFrame) -> list[dict[str, str]]:
    """Return the rows of a DataFrame, with values as text, so that NaN equals NaN."""
    readable = [
        f"CAST({field.name} AS string) AS {field.name}"
        if isinstance(field.dataType, YearMonthIntervalType)
        else field.name
        for field in frame.schema
    ]  # PySpark cannot collect intervals of months
    rows = frame.selectExpr(*readable).collect()
    return [{name: repr(value) for name, value in row.asDict().items()} for row in rows]


# Navigations, and the row that each one reads.
NAVIGATED = {"FIRST({})": 1, "LAST({})": 4, "PREV(LAST({}))": 3, "FIRST(B.{}, 1)": 3}


def test_a_navigated_value_keeps_its_type(typed: DataFrame, cases: Cases) -> None:
    measures = (
        f"{text.format(case.name)} AS {case.name}_{k}_{i}"
        for i, (text, k) in enumerate(NAVIGATED.items())
        for case in cases
    )
    matches = match_clause(
        typed, f"ORDER BY k MEASURES {', '.join(measures)} PATTERN (A B+) DEFINE B AS TRUE"
    )
    stored = list_rows(typed.orderBy("k"))
    assert list_rows(matches) == [
        {
            f"{case.name}_{k}_{i}": stored[k - 1][case.name]
            for i, k in enumerate(NAVIGATED.values())
            for case in cases
        }
    ]
    assert list_types(matches) == list_types(typed.drop("k")) * len(NAVIGATED)


def list_types(frame: DataFrame) -> list[DataType]:
    """Return the types of all columns."""
    return [field.dataType for field in frame.schema]


def test_a_column_of_all_rows_keeps_its_type(typed: DataFrame, cases: Cases) -> None:
    measures = ", ".join(f"LAST({case.name}) AS b_{case.name}" for case in cases)
    matches = match_clause(typed, f"ORDER BY k MEASURES {measures} ALL ROWS PER MATCH PATTERN (A+)")
    expected = typed.selectExpr(
        "k", *(f"{case.name} AS b_{case.name}" for case in cases), *typed.columns[1:]
    )
    assert matches.columns == expected.columns
    assert list_rows(matches.orderBy("k")) == list_rows(expected.orderBy("k"))
    assert list_types(matches) == list_types(expected)


@pytest.fixture
def keys(spark: SparkSession, sortable: Cases) -> DataFrame:
    """Return rows in which all values are low except at most one, which is NULL or high.

    The column `o` says which one. Each row occurs twice.
    """
    columns = (case.column(nulls=2 * i, highs=2 * i + 1) for i, case in enumerate(sortable))
    others = ", ".join(f"'NULL {case.name}', 'high {case.name}'" for case in sortable)
    rows = spark.range(4 * len(sortable) + 2).selectExpr("id DIV 2 AS k")
    return rows.selectExpr(f"coalesce(get(array({others}), CAST(k AS INT)), 'low') AS o", *columns)


def list_others_in_order(keys: DataFrame) -> list[str]:
    """Return the values of `o` for the rows sorted by all types in turn."""
    names = keys.columns[1:]
    return [*(f"NULL {x}" for x in names), "low", *(f"high {x}" for x in reversed(names))]


def test_rows_are_in_one_partition_if_their_keys_are_equal(keys: DataFrame) -> None:
    """Rows are in one partition if all their values are equal, and only then."""
    columns = ", ".join(keys.columns[1:])
    matches = match_clause(
        keys, f"PARTITION BY {columns} ORDER BY o MEASURES array_agg(o) AS os PATTERN (A+)"
    )
    groups = sorted(row.os for row in matches.select("os").collect())
    assert groups == sorted([other] * 2 for other in list_others_in_order(keys))
    assert sorted(map(str, list_rows(matches.drop("os")))) == sorted(
        map(str, list_rows(keys.drop("o").distinct()))
    )


def test_rows_are_sorted_as_spark_sorts_them(keys: DataFrame) -> None:
    columns = ", ".join(keys.columns[1:])
    (row,) = match_clause(
        keys, f"ORDER BY {columns} MEASURES array_agg(o) AS os PATTERN (A+)"
    ).collect()
    assert row.os == [other for other in list_others_in_order(keys) for _ in range(2)]


@pytest.mark.parametrize("case", [case for case in TYPES if not case.sortable], ids=str)
def test_keys_that_spark_cannot_sort_are_refused(spark: SparkSession, case: Case) -> None:
    frame = spark.range(1).selectExpr("id AS k").selectExpr("k", case.column(nulls=2, highs=3))
    for clause in (f"PARTITION BY {case.name} ORDER BY k", f"ORDER BY {case.name}, k"):
        with pytest.raises(matchrec.MatchRecognizePlanError, match="which Spark cannot sort"):
            match_clause(frame, f"{clause} MEASURES count(*) AS n PATTERN (A+)")


NOT_COMPARABLE = [case for case in TYPES if not case.comparable]


@pytest.mark.parametrize("case", NOT_COMPARABLE, ids=str)
def test_whether_a_value_of_another_row_is_null(spark: SparkSession, case: Case) -> None:
    """The values are low, NULL, high, low; PREV is NULL in the first row."""
    column = case.column(nulls=2, highs=3)
    frame = spark.range(1, 5).selectExpr("id AS k").selectExpr("k", column)
    neighbours = f"A AS PREV({case.name}) IS NULL AND {case.name} IS NOT NULL"
    for pattern, condition in (("A", neighbours), ("N A", f"A AS LAST(N.{case.name}) IS NULL")):
        clause = f"ORDER BY k MEASURES LAST(k) AS k PATTERN ({pattern}) DEFINE {condition}"
        rows = [row.k for row in match_clause(frame, clause).orderBy("k").collect()]
        assert rows == ([1, 3] if pattern == "A" else [3])


def test_condition_on_the_run(typed: DataFrame, cases: Cases) -> None:
    """The rows are low, NULL, high, low; each one is compared with the first."""

    def has_match(*names: str) -> bool:
        """Return whether the rows compare with the first one as expected."""
        null = " AND ".join(f"({name} = A.{name}) IS NULL" for name in names)
        above = " AND ".join(f"{name} > A.{name}" for name in names)
        equal = " AND ".join(f"{name} = A.{name}" for name in names)
        define = f"DEFINE N AS {null}, H AS {above}, E AS {equal}"
        clause = f"ORDER BY k MEASURES A.k AS k PATTERN (A N H E) {define}"
        return [row.k for row in match_clause(typed, clause).collect()] == [1]

    names = [case.name for case in cases if case.comparable]
    if names:
        assert has_match(*names), [name for name in names if not has_match(name)]


def test_zeros_and_nan_are_grouped_and_compared_as_in_spark(spark: SparkSession) -> None:
    rows = "(1, 0.0D), (2, -0.0D), (3, double('NaN')), (4, double('NaN'))"
    frame = spark.sql(f"SELECT * FROM VALUES {rows} AS t(k, x)")
    grouped = match_clause(frame, "PARTITION BY x ORDER BY k MEASURES count(*) AS n PATTERN (A+)")
    assert sorted(row.n for row in grouped.collect()) == [2, 2]
    equal = "ORDER BY k MEASURES count(*) AS n PATTERN (A B) DEFINE B AS x = LAST(A.x)"
    assert [row.n for row in match_clause(frame, equal).collect()] == [2, 2]
    above = "ORDER BY k MEASURES FIRST(k) AS f PATTERN (A B) DEFINE B AS x > FIRST(A.x)"
    assert [row.f for row in match_clause(frame, above).collect()] == [2]


def test_a_calendar_interval_is_navigated(spark: SparkSession) -> None:
    frame = spark.sql("SELECT 1 AS k, make_interval(1, 2, 0, 3) AS x")
    matches = match_clause(frame, "ORDER BY k MEASURES CAST(LAST(x) AS string) AS s PATTERN (A)")
    assert [row.s for row in matches.collect()] == ["1 years 2 months 3 days"]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_the_microseconds_of_a_long_interval_do_not_overflow(
    spark: SparkSession, ansi: str
) -> None:
    lengths = {
        "INTERVAL '24855 00:00:01' DAY TO SECOND": 2_147_472_001_000_000,
        "INTERVAL '24856' DAY": 2_147_558_400_000_000,  # the seconds are more than 2 ** 31
        "INTERVAL '-1000000 01:02:03.000004' DAY TO SECOND": -86_400_003_723_000_004,
    }
    numbers = ", ".join(write_microseconds(length) for length in lengths)
    with settings(spark, **{"ansi.enabled": ansi}):
        assert list(spark.sql(f"SELECT {numbers}").first()) == list(lengths.values())


KNOWS_CALENDAR = SPARK_4  # PySpark 3.5 cannot read a schema with this type
CALENDAR = "make_interval(0, i, 0, -i)" if KNOWS_CALENDAR else "make_ym_interval(i, -1)"

# Types that Arrow does not have, alone and inside other types. All values of the last row are NULL.
NOT_IN_ARROW = {
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
def frame_not_in_arrow(spark: SparkSession) -> DataFrame:
    """Return three rows with the types that Arrow does not have."""
    values = (f"IF(i < 3, {text}, NULL) AS {name}" for name, text in NOT_IN_ARROW.items())
    return spark.range(1, 4).selectExpr("CAST(id AS INT) AS i").selectExpr("i", *values)


def show_result(frame: DataFrame) -> tuple[str, list[str]]:
    """Return the types and the rows as Spark prints them."""
    casts = (f"CAST({name} AS STRING)" for name in frame.columns)
    return frame.schema.simpleString(), sorted(map(str, frame.selectExpr(*casts).collect()))


def test_types_that_arrow_lacks_come_through_all_rows_and_measures(
    frame_not_in_arrow: DataFrame,
) -> None:
    clause = "ORDER BY i ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS i > 0"
    assert show_result(matchrec.match_recognize(frame_not_in_arrow, clause)) == show_result(
        frame_not_in_arrow
    )
    measures = ", ".join(f"LAST(A.{name}) AS {name}" for name in ("i", *NOT_IN_ARROW))
    clause = f"ORDER BY i MEASURES {measures} PATTERN (A) DEFINE A AS i > 0"
    assert show_result(matchrec.match_recognize(frame_not_in_arrow, clause)) == show_result(
        frame_not_in_arrow
    )


def test_types_that_arrow_lacks_come_through_arrays_of_events(
    frame_not_in_arrow: DataFrame,
) -> None:
    pattern = matchrec.Pattern.begin("a").where("i > 0")
    for events in (
        matchrec.match_pattern(frame_not_in_arrow, pattern, order_by="i").selectExpr("inline(a)"),
        matchrec.match_sase(frame_not_in_arrow, "PATTERN SEQ(ANY a)", order_by="i").selectExpr(
            "inline(a)"
        ),
        matchrec.match_sase(
            frame_not_in_arrow, "PATTERN SEQ(ANY a)", order_by="i", output="graph"
        ).select("event.*"),
    ):
        assert show_result(events) == show_result(frame_not_in_arrow)


def test_types_that_arrow_lacks_come_through_aggregates(frame_not_in_arrow: DataFrame) -> None:
    for name in NOT_IN_ARROW:
        lists = f"collect_list({name}) AS l, array_agg({name}) AS g, first_value({name}) AS f"
        clause = f"ORDER BY i MEASURES {lists} PATTERN (A+) DEFINE A AS i > 0"
        expected = frame_not_in_arrow.selectExpr(
            f"collect_list({name}) AS l", f"array_agg({name}) AS g"
        )
        expected = expected.selectExpr("*", "l[0] AS f") if name != "nothing" else expected
        matches = matchrec.match_recognize(frame_not_in_arrow, clause).select(*expected.columns)
        assert show_result(matches) == show_result(expected)


def test_an_aggregate_that_a_type_does_not_have_is_refused(frame_not_in_arrow: DataFrame) -> None:
    for call in ("sum(a)", *(["max(calendar)", "sum(calendar)"] if KNOWS_CALENDAR else [])):
        clause = f"ORDER BY i MEASURES {call} AS x PATTERN (A) DEFINE A AS i > 0"
        with pytest.raises(matchrec.MatchRecognizePlanError, match="Spark rejects"):
            matchrec.match_recognize(frame_not_in_arrow, clause)


@pytest.mark.parametrize("algorithm", ["backtracking", "breadth_first"])
@pytest.mark.parametrize("condition", ["B.nothing = A.nothing", "A.nothing > B.nothing"])
def test_a_void_column_in_a_condition_on_the_run_is_null(
    frame_not_in_arrow: DataFrame, algorithm: str, condition: str
) -> None:
    for text, matches in ((condition, 0), (f"({condition}) IS NULL AND A.i < B.i", 1)):
        clause = f"ORDER BY i MEASURES A.i AS i PATTERN (A B) DEFINE B AS {text}"
        rows = matchrec.match_recognize(
            frame_not_in_arrow, clause, options=matchrec.Options(algorithm=algorithm)
        ).collect()
        assert rows == [Row(i=1)] * matches


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
    """The worker returns the number of a row, not an array of values."""
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
    """A sum of two such values wraps around in 128 bits, and one of four would seem small again."""
    frame = spark.range(rows).selectExpr("id", f"CAST('{NINES}' AS DECIMAL(38, 0)) AS v")
    clause = f"ORDER BY id MEASURES {call} AS s PATTERN (A+) DEFINE A AS id >= 0"
    with settings(spark, ansi__enabled="false"):
        assert matchrec.match_recognize(frame, clause).collect() == [Row(s=None)]


def test_sums_of_many_digits_that_are_not_too_large(spark: SparkSession) -> None:
    value = f"CAST(IF(id % 2 = 0, '', '-') || '{NINES}' AS DECIMAL(38, 0)) AS v"
    frame = spark.range(4).selectExpr("id", value)
    clause = """ORDER BY id MEASURES sum(v) AS s AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A+) DEFINE A AS id >= 0"""
    rows = matchrec.match_recognize(frame, clause).collect()
    assert [row.s for row in rows] == [0, Decimal("-" + NINES), 0, Decimal("-" + NINES)]


def test_a_text_is_padded_for_a_comparison_with_a_char(spark: SparkSession) -> None:
    """Spark pads it: a value 'a' of type CHAR(4) is 'a   ', and `k = 'a'` is true."""
    spark.sql("CREATE TABLE padded (k CHAR(4), c CHAR(3), n INT) USING parquet")
    spark.sql("INSERT INTO padded VALUES ('a', 'x', 1), ('a', 'y', 2), ('b', 'x', 1)")
    rule = "MEASURES A.c = 'x' AS x, B.n AS n PATTERN (A B) DEFINE A AS c = 'x'"
    query = """SELECT * FROM padded MATCH_RECOGNIZE (PARTITION BY k ORDER BY n
        MEASURES A.c = 'x' AS begins_with_x, PREV(B.c) IN ('x', 'z') AS comes_after_x, B.n AS n
        PATTERN (A B) DEFINE A AS c = 'x') WHERE k = 'a'"""
    try:
        (row,) = matchrec.sql(spark, query).collect()
        assert tuple(row)[1:] == (True, True, 2)
        result = matchrec.match_rules(
            spark.table("padded"), {"rule": rule}, order_by="n", partition_by="k"
        )
        assert result.matches.where("k = 'a'").count() == 1
        rows = result.rule("rule").where("k = 'a'").collect()
        assert [tuple(row)[1:] for row in rows] == [(True, 2)]
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
def test_chars_of_two_rows_are_compared_like_chars_of_one_row(spark: SparkSession) -> None:
    """Spark pads the columns of a pair of rows when it compares them."""
    spark.sql("CREATE TABLE pairs (n INT, c CHAR(3), c5 CHAR(5), t STRING) USING parquet")
    spark.sql("""INSERT INTO pairs VALUES (1, 'a', 'a', 'a'), (2, 'a', 'b', 'a  '),
        (3, 'b', 'a', 'b'), (4, 'ab', 'b', 'ab '), (5, NULL, 'ab', 'a'), (6, 'x', NULL, 'x')""")
    skip = "AFTER MATCH SKIP TO NEXT ROW PATTERN (X A)"
    rules = {pair: f"{skip} DEFINE A AS {pair}" for pair in PAIRS}
    pairs = ", ".join(
        f"({write_pair_condition(pair)}) AS `{index}`" for index, pair in enumerate(PAIRS)
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
    """Return a condition of PAIRS as SQL over a join of X, the row before, and A."""
    qualified = re.sub(r"(?<![\w.(])(c5?)\b", r"A.\1", condition)
    return re.sub(r"PREV\((\w+)\)", r"X.\1", qualified)


@pytest.mark.parametrize("key", ["PARTITION BY v ORDER BY n", "ORDER BY v"])
def test_a_geometry_cannot_be_a_key(spark: SparkSession, key: str) -> None:
    geometry = "ST_GeomFromWKB(X'0101000000000000000000F03F0000000000000040')"
    try:
        frame = spark.sql(f"SELECT 1 AS n, {geometry} AS v")
    except AnalysisException:
        pytest.skip("has no type for geometry")
    message = r"key of type geometry\(0\), which Spark cannot sort(.|\n)*ST_AsBinary"
    with pytest.raises(matchrec.MatchRecognizePlanError, match=message):
        matchrec.match_recognize(frame, f"{key} MEASURES 1 AS one PATTERN (A)")
