"""Each parameter of a query has its value, or the error says which one has none."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import expr

import matchrec
from matchrec.spark import backend, connect

pytestmark = pytest.mark.one_of(2)

QUERY = """SELECT a FROM {t} MATCH_RECOGNIZE (ORDER BY t
  MEASURES FIRST(t) AS a PATTERN (S U+) DEFINE U AS v > ?)
WHERE a >= ?"""
NAMED = QUERY.replace("v > ?", "v > :low").replace("a >= ?", "a >= :high")


@pytest.fixture(scope="module")
def steps(spark: SparkSession) -> DataFrame:
    """Return rows whose `v` rises from 5 to 7."""
    return spark.createDataFrame([(1, 5), (2, 6), (3, 7)], "t int, v int")


def catch_message(spark: SparkSession, query: str, args: Any, **frames: Any) -> list[str]:
    """Return the lines of the error message of a query."""
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        matchrec.sql(spark, query, args, **frames)
    return str(caught.value).split("\n")


@pytest.mark.parametrize(
    ("args", "given_values", "line", "column"),
    [
        (None, "has no values", 2, 57),
        ([], "has no values", 2, 57),
        ([1], "has 1 value", 3, 12),
        ({"low": 1}, "is a dict", 2, 57),
    ],
)
def test_positional_parameters_without_values_are_marked(
    spark: SparkSession, steps: DataFrame, args: Any, given_values: str, line: int, column: int
) -> None:
    message, location, _, caret, hint = catch_message(spark, QUERY, args, t=steps)
    assert message == (
        "the query has 2 positional parameters (?), "
        f"but args {given_values} [wrong-number-of-values]"
    )
    assert location == f"  line {line}, column {column}"
    assert caret.strip() == "^"
    assert hint == "  help: pass a list with one value for each ?, in their order"


BOUNDS = """SELECT a, n FROM {t} MATCH_RECOGNIZE (ORDER BY t
  MEASURES FIRST(t) AS a, count(*) AS n PATTERN (A+) DEFINE A AS v > :low) WHERE a >= :high"""


@pytest.mark.parametrize(
    "query", ["SELECT '?' AS q, ? AS x", "SELECT * FROM VALUES (1) WHERE ? = 1"]
)
@pytest.mark.parametrize(
    ("args", "problem"), [(None, "has no values"), ([], "has no values"), ({}, "is a dict")]
)
def test_a_query_without_a_clause_counts_its_positional_parameters(
    spark: SparkSession, query: str, args: Any, problem: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as raised:
        matchrec.sql(spark, query, args).collect()
    assert raised.value.message == f"the query has 1 positional parameter (?), but args {problem}"
    assert raised.value.code == "wrong-number-of-values"
    assert raised.value.column == query.rindex("?") + 1


def test_a_list_of_values_for_a_name_without_a_clause(spark: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as raised:
        matchrec.sql(spark, "SELECT :x AS x", [3]).collect()
    assert raised.value.code in ("wrong-number-of-values", "parameter-without-value")


def write_bounds(quantifier: str) -> str:
    """Return BOUNDS with a quantifier."""
    return BOUNDS.replace("A+", f"A{quantifier}")


@pytest.mark.parametrize(
    ("quantifier", "values", "rows"),
    [
        ("{?}", [2], [(1, 2)]),
        ("{?,?}", [1, 2], [(1, 2), (3, 1)]),
        ("{?,}", [3], [(1, 3)]),
        ("{,?}", [1], [(1, 1), (2, 1), (3, 1)]),
        ("* A{,?}", [0], [(1, 3)]),
        ("{ 1 , ? }", [2], [(1, 2), (3, 1)]),
        ("{?,2}?", [1], [(1, 1), (2, 1), (3, 1)]),
    ],
)
@pytest.mark.filterwarnings("ignore::matchrec.warnings.ReluctantEndWarning")
def test_bounds_of_quantifiers_can_be_positional_parameters(
    spark: SparkSession,
    steps: DataFrame,
    quantifier: str,
    values: list[int],
    rows: list[tuple[int, int]],
) -> None:
    """Positional parameters get their values from left to right, in all parts of the query."""
    query = write_bounds(quantifier).replace(":low", "?").replace(":high", "?")
    result = matchrec.sql(spark, query, [*values, 4, 0], t=steps)
    assert [tuple(row) for row in result.orderBy("a").collect()] == rows


LOST = """SELECT d FROM VALUES (1, 5) AS t(day, x) MATCH_RECOGNIZE (
  ORDER BY day MEASURES day AS d PATTERN (A) DEFINE A AS x > 1) WHERE d > 0"""


@pytest.mark.parametrize("written", ["x > 1", "d > 0"])
@pytest.mark.parametrize("parameter", [":low", "?"])
def test_a_value_that_the_session_does_not_put_in(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, written: str, parameter: str
) -> None:
    """With an extension that parses SQL, only spark.sql reports that :low has no value."""
    query = LOST.replace(written, f"{written[:-1]}{parameter}")
    plain = backend.find_plain_sql
    for module in (backend, connect):
        monkeypatch.setattr(
            module, "find_plain_sql", lambda spark: lambda text, *_: plain(spark)(text, {})
        )
    # Without a plan, all texts go to `find_plain_sql`.
    monkeypatch.setattr(connect, "make_text_plan", lambda *_: None)
    lines = catch_message(spark, query, [1] if parameter == "?" else {"low": 1})
    described = "positional parameter `?`" if parameter == "?" else "parameter `:low`"
    assert (
        lines[0] == f"this session ignores the value of {described} in args [parameter-value-lost]"
    )
    start = lines[2].index(parameter, lines[2].index(written[:-1]))
    assert lines[3] == " " * start + "^" * len(parameter)
    hint = "or set spark.sql.legacy.parameterSubstitution.constantsOnly to true"
    assert lines[-1] == f"  help: write the value itself, {hint}"


def test_bounds_of_quantifiers_can_be_named_parameters(
    spark: SparkSession, steps: DataFrame
) -> None:
    args = {"low": 4, "high": 0, "n": 1, "m": 2}
    result = matchrec.sql(spark, write_bounds("{:n,:m}"), args, t=steps).orderBy("a")
    assert [tuple(row) for row in result.collect()] == [(1, 2), (3, 1)]
    result = matchrec.sql(spark, write_bounds("{:m}"), args, t=steps)
    assert [tuple(row) for row in result.collect()] == [(1, 2)]


def test_bounds_can_be_parameters_of_bigquery(spark: SparkSession, steps: DataFrame) -> None:
    steps.createOrReplaceTempView("steps_of_bounds")
    query = """SELECT a, n FROM steps_of_bounds MATCH_RECOGNIZE (ORDER BY t
      MEASURES MIN(t) AS a, COUNT(*) AS n PATTERN (A{@n,@m}) DEFINE A AS v > @low)"""
    args = {"low": 4, "n": 1, "m": 2}
    result = matchrec.sql(spark, query, args, dialect="bigquery").orderBy("a")
    assert [tuple(row) for row in result.collect()] == [(1, 2), (3, 1)]
    translated = matchrec.transpile(query, read="bigquery", write="spark").text
    assert "A{:n,:m}" in translated
    assert "A{@n,@m}" in matchrec.transpile(translated, read="spark", write="bigquery").text


BOUND_IS = (
    "parameter `:n`, the bound of a quantifier in PATTERN, must be a whole number from 0 to "
    "2,147,483,647, but is"
)


@pytest.mark.parametrize(
    ("length", "args"), [(":k", {"k": 1}), ("?", [1]), (":k", {"k": 0}), ("1", None)]
)
def test_the_length_of_a_frame_can_be_a_parameter(
    spark: SparkSession, length: str, args: Any
) -> None:
    result = matchrec.sql(spark, write_frame(length), args).orderBy("id")
    counts_by_length = {0: [1, 1, 0, 1], 1: [2, 0, 0, 1]}  # the second row is in the first match
    value = 1 if args is None else next(iter(args.values() if isinstance(args, dict) else args))
    assert [row.c for row in result.collect()] == counts_by_length[value]


@pytest.mark.parametrize("value", [None, 1.5, -1, "2"])
def test_an_invalid_length_of_a_frame_is_rejected(spark: SparkSession, value: Any) -> None:
    message, location, _, caret, *_ = catch_message(spark, write_frame(":k"), {"k": value})
    assert "the length of a frame, must be" in message
    assert location == "  line 3, column 63"
    assert caret.strip() == "^^"


def write_frame(length: str) -> str:
    """Return a query whose window frame has a length."""
    return f"""SELECT id, count(*) OVER w AS c
        FROM VALUES (1, 5), (2, 5), (3, -1), (4, 2) AS t(id, v)
        WINDOW w AS (ORDER BY id ROWS BETWEEN CURRENT ROW AND {length} FOLLOWING
            PATTERN (A+) DEFINE A AS v > 0)"""


@pytest.mark.parametrize(
    ("quantifier", "args", "message", "carets"),
    [
        ("{:n}", {}, "parameter `:n` has no value", 2),
        ("{:n}", {"n": "3"}, f"{BOUND_IS} '3', of type str", 2),
        ("{:n}", {"n": 2.0}, f"{BOUND_IS} 2.0, of type float", 2),
        ("{:n}", {"n": True}, f"{BOUND_IS} True, of type bool", 2),
        ("{2,:n}", {"n": None}, f"{BOUND_IS} NULL", 2),
        ("{:n,}", {"n": -1}, f"{BOUND_IS} -1", 2),
        ("{:n}", {"n": 2**31}, f"{BOUND_IS} 2147483648", 2),
        (
            "{:n,:m}",
            {"n": 3, "m": 2},
            "the lower bound 3 of the quantifier in PATTERN is above its upper bound 2",
            7,
        ),
        ("{@n}", {"n": 1}, "parameter `@n` is not supported in PATTERN", 2),
        ("{:}", {}, "missing name after `:` in a quantifier in PATTERN", 1),
    ],
)
def test_values_that_cannot_be_bounds_are_rejected(
    spark: SparkSession,
    steps: DataFrame,
    quantifier: str,
    args: dict[str, Any],
    message: str,
    carets: int,
) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, write_bounds(quantifier), {"low": 4, "high": 0} | args, t=steps)
    _, location, _, caret, *_ = str(caught.value).split("\n")
    assert caught.value.message == message
    assert location.startswith("  line 2, column 5")
    assert caret.strip() == "^" * carets


@pytest.mark.parametrize(
    ("quantifier", "message"),
    [("{:n}", "parameter `:n` has no value"), ("{?}", "positional parameter `?` has no value")],
)
def test_a_bound_without_a_value_is_rejected(
    steps: DataFrame, quantifier: str, message: str
) -> None:
    clause = f"ORDER BY t MEASURES 1 AS a PATTERN (S{quantifier}) DEFINE S AS v > 1"
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        matchrec.match_recognize(steps, clause)
    assert caught.value.message == message


def test_more_values_than_parameters_are_rejected(spark: SparkSession, steps: DataFrame) -> None:
    message, *_ = catch_message(spark, QUERY, [1, 0, 3], t=steps)
    assert message == (
        "the query has 2 positional parameters (?), but args has 3 values [wrong-number-of-values]"
    )
    message, hint = catch_message(spark, NAMED, [1, 0], t=steps)
    assert message == (
        "the query has no positional parameters (?), but args has 2 values [wrong-number-of-values]"
    )
    assert (
        hint
        == '  help: write ? for each value, or :name and args={"name": value}, or leave args out'
    )


@pytest.mark.parametrize(
    ("args", "missing", "location", "hint_part"),
    [
        ({"high": 1}, ":low", "  line 2, column 57", "args={"),
        ({"low": 1}, ":high", "  line 3, column 12", "args={"),
        (
            {"low": 1, "hihg": 1},
            ":high",
            "  line 3, column 12",
            "write :hihg in the query, or high instead of hihg in args",
        ),
    ],
)
def test_a_named_parameter_without_a_value_is_rejected(
    spark: SparkSession, steps: DataFrame, args: Any, missing: str, location: str, hint_part: str
) -> None:
    message, location_line, _, caret, note, hint = catch_message(spark, NAMED, args, t=steps)
    assert message == f"parameter `{missing}` has no value [parameter-without-value]"
    assert location_line == location
    assert caret.strip() == "^" * len(missing)
    assert note == (
        f"  note: args has: {', '.join(args)}" if args else "  note: args has no values"
    )
    assert hint_part in hint


@pytest.mark.parametrize("parameter", ["?", ":low"])
def test_functions_without_args_say_so(steps: DataFrame, parameter: str) -> None:
    clause = f"ORDER BY t MEASURES FIRST(t) AS a PATTERN (S) DEFINE S AS v > {parameter}"
    message = f"parameter `{parameter}` has no value"
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        matchrec.match_recognize(steps, clause)
    assert message in str(caught.value)
    assert "args=" in str(caught.value)
    pattern = matchrec.Pattern.begin("a").where(f"v > {parameter}")
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        matchrec.match_pattern(steps, pattern, order_by="t")
    assert message in str(caught.value)


def test_the_field_of_a_struct_type_is_not_a_parameter(
    spark: SparkSession, steps: DataFrame
) -> None:
    query = NAMED.replace("SELECT a", "SELECT CAST(named_struct('x', a) AS STRUCT<x: INT>).x")
    result = matchrec.sql(spark, query, {"low": 1, "high": 0}, t=steps)
    assert result.collect() == [Row(x=1)]


def test_a_literal_where_the_clause_has_its_input(spark: SparkSession, steps: DataFrame) -> None:
    message, location, _, caret, *_, hint = catch_message(spark, QUERY, [1, 0], t=3)
    assert message == (
        "`{t}` before MATCH_RECOGNIZE must be a DataFrame, but is 3, of type int [not-a-dataframe]"
    )
    assert (location, caret.strip(), hint) == (
        "  line 1, column 15",
        "^^^",
        "  help: pass a DataFrame: t=df",
    )
    query = QUERY.replace("v > ?", "v > {low}").replace("a >= ?", "a IN {days}")
    assert matchrec.sql(spark, query, t=steps, low=1, days=(1, 2)).collect() == [Row(a=1)]


def test_names_that_differ_in_case(spark: SparkSession, steps: DataFrame) -> None:
    clause = """PARTITION BY k ORDER BY t MEASURES LAST(v) AS m, FIRST(v) AS M, LAST(t) AS K
        PATTERN (s u+) DEFINE U AS V > PREV(V) AND v <= V"""
    rows = steps.selectExpr("'x' AS k", "t", "v", "v + 1 AS V")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        assert matchrec.match_recognize(rows, clause).collect() == [Row(k="x", m=7, M=5, K=3)]
        query = f"SELECT M FROM {{t}} MATCH_RECOGNIZE ({clause}) WHERE k = 'x' AND K = 3"
        assert matchrec.sql(spark, query, t=rows).collect() == [Row(M=5)]
        text = "PATTERN SEQ(ANY a, ANY b) RETURN a.v AS x, b.v AS X"
        matches = matchrec.match_sase(rows.where("t < 3"), text, order_by="t")
        assert matches.collect() == [Row(x=5, X=6)]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    with pytest.raises(matchrec.MatchRecognizePlanError, match="two measures named `M`"):
        matchrec.match_recognize(steps.selectExpr("'x' AS k", "*"), clause.replace("AS K", "AS j"))


def test_a_clause_has_values(spark: SparkSession, steps: DataFrame) -> None:
    clause = """ORDER BY t MEASURES :label AS label, FIRST(v) + :add AS m
        PATTERN (A{:most}) DEFINE A AS v >= :low"""
    args = {"label": "x", "add": 1, "low": 6, "most": 2}
    query = f"SELECT * FROM {{steps}} MATCH_RECOGNIZE ({clause})"
    expected = matchrec.sql(spark, query, args, steps=steps).collect()
    assert [tuple(row) for row in expected] == [("x", 7)]
    assert matchrec.match_recognize(steps, clause, args).collect() == expected
    prepared = matchrec.query(steps, clause, args=args)
    assert prepared.to_df().collect() == expected
    assert "v >= :low" in prepared.why().text
    del args["low"]
    with pytest.raises(matchrec.MatchRecognizePlanError, match="parameter `:low` has no value"):
        matchrec.match_recognize(steps, clause, args)


def test_events_have_values(steps: DataFrame) -> None:
    rises = matchrec.Pattern.begin("a").next("b").where("v > :low AND v = last(a.v) + :add")
    args = {"low": 6, "add": 1}
    (match,) = matchrec.match_pattern(steps, rises, args, order_by="t").collect()
    assert (match.start_time, match.b) == (2, [Row(t=3, v=7)])
    text = """PATTERN SEQ(ANY a, ANY b) WHERE strict_contiguity
        { b.v > :low AND b.v = a.v + :add } RETURN b.t + :add AS t"""
    assert matchrec.match_sase(steps, text, args, order_by="t").collect() == [Row(t=4)]
    for query in (
        matchrec.query(steps, rises, args, order_by="t"),
        matchrec.query(steps, text, args=args, order_by="t"),
    ):
        assert query.to_df().count() == 1
        assert "match 1" in query.why().text
    with pytest.raises(matchrec.MatchRecognizePlanError, match="parameter `:add` has no value"):
        matchrec.match_sase(steps, text, {"low": 6}, order_by="t")


@pytest.mark.parametrize("library", ["pandas", "arrow"])
def test_frames_of_other_libraries_fill_holes(spark: SparkSession, library: str) -> None:
    table = pa.table({"t": [1, 2, 3], "v": [7, None, 9]}, pa.schema({"t": "int32", "v": "int64"}))
    frame = table.to_pandas() if library == "pandas" else table
    query = "SELECT * FROM {rows} MATCH_RECOGNIZE (ORDER BY t MEASURES A.t AS a PATTERN (A) {0})"
    query = query.replace("{0}", "DEFINE A AS v > 8")
    if library == "arrow" and spark.version < "4":
        with pytest.raises(
            matchrec.MatchRecognizePlanError, match="cannot make a DataFrame of `rows`"
        ):
            matchrec.sql(spark, query, rows=frame)
    else:
        assert matchrec.sql(spark, query, rows=frame).collect() == [Row(a=3)]
        assert matchrec.sql(spark, "SELECT max(t) AS a FROM {rows}", rows=frame).first() == Row(a=3)


OFFSETS = ("PREV(v, :k)", "PREV(v, ?)", "PREV(v, (2))", "PREV(v, ((:k)))", "PREV(LAST(v, :one))")


@pytest.mark.parametrize("offset", OFFSETS)
def test_the_offset_of_a_navigation_can_be_a_parameter(spark: SparkSession, offset: str) -> None:
    """The value 9 is greater by more than 3 than the value 5, two rows before it."""
    rows = spark.createDataFrame([(1, 4), (2, 5), (3, 6), (4, 9)], "t int, v int")
    query = f"""SELECT * FROM {{rows}} MATCH_RECOGNIZE (
        ORDER BY t MEASURES B.t AS t, LAST(v, {"?" if "?" in offset else ":one"}) AS before
        PATTERN (A A B) DEFINE B AS v > {offset} + 3)"""
    values: Any = [1, 2] if "?" in offset else {"k": 2, "one": 1}
    assert matchrec.sql(spark, query, values, rows=rows).collect() == [Row(t=4, before=6)]


@pytest.mark.parametrize("value", [-1, "x", True, None, 1.5, 2**40])
def test_an_invalid_offset_is_rejected(steps: DataFrame, value: Any) -> None:
    clause = "ORDER BY t MEASURES PREV(t, :k) AS m PATTERN (A)"
    with pytest.raises(matchrec.MatchRecognizePlanError, match="the offset of PREV in MEASURES"):
        matchrec.match_recognize(steps, clause, {"k": value})
    with pytest.raises(matchrec.MatchRecognizePlanError, match="parameter `:k` has no value"):
        matchrec.match_recognize(steps, clause)


def test_a_sweep_can_vary_offsets(spark: SparkSession) -> None:
    """With offset 1, 2 > 1 and 3 > 2; with offset 2, only 3 > 1."""
    rows = spark.createDataFrame([(1, 1), (2, 2), (3, 3)], "t int, v int")
    clause = "ORDER BY t PATTERN (A) DEFINE A AS v > PREV(v, :k)"
    assert matchrec.sweep(rows, clause, {"k": [1, 2]}).toPandas()["matches"].to_list() == [2, 1]


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_functions_take_frames_of_other_libraries(spark: SparkSession, library: str) -> None:
    """Each function takes a pandas or Arrow table instead of a DataFrame. Rows 2 and 3 match."""
    table = pa.table({"t": [1, 2, 3], "v": [7, 8, 9]})
    if library == "pyarrow" and spark.version.startswith("3."):
        pytest.skip("PySpark takes tables of Arrow from 4.0 on")
    frame: Any = table.to_pandas() if library == "pandas" else table
    clause = "ORDER BY t MEASURES A.t AS t PATTERN (A) DEFINE A AS v >= 8"
    high = matchrec.Pattern.begin("a").where("v >= 8")
    sase = "PATTERN SEQ(ANY a) WHERE skip_till_next_match { a.v >= 8 } RETURN a.t AS t"
    results = (
        matchrec.match_recognize(frame, clause),
        matchrec.query(frame, clause).to_df(),
        matchrec.match_sase(frame, sase, order_by="t"),
        matchrec.match_pattern(frame, high, order_by="t").selectExpr("start_time AS t"),
        matchrec.match_rules(frame, {"high": high}, order_by="t").matches.selectExpr(
            "start_time AS t"
        ),
    )
    for result in results:
        assert sorted(row.t for row in result.collect()) == [2, 3]
    swept = matchrec.sweep(frame, clause.replace("8", ":least"), {"least": [8, 9]})
    assert swept.toPandas()["matches"].to_list() == [2, 1]
    labels: Any = pd.DataFrame({"begins": [1, 3], "ends": [1, 3]})
    backtest = matchrec.query(frame, clause).backtest(labels, start="begins", end="ends")
    assert str(backtest).startswith("2 incidents: 1 hit, 1 missed")


def test_spark_sql_takes_frames_of_other_libraries(spark: SparkSession) -> None:
    frame = pd.DataFrame({"t": [1, 2, 3], "v": [7, 8, 9]})
    query = (
        "FROM {rows} MATCH_RECOGNIZE (ORDER BY t MEASURES 1 AS m PATTERN (A) DEFINE A AS v >= 8)"
    )
    matchrec.enable(spark)
    try:
        assert spark.sql(f"SELECT count(*) AS n {query}", rows=frame).collect()[0].n == 2
    finally:
        matchrec.disable(spark)


def test_a_window_of_rows_can_be_a_parameter(spark: SparkSession) -> None:
    spark.range(9).createOrReplaceTempView("nine")
    clause = "ORDER BY id MEASURES count(*) AS n PATTERN (A+) WITHIN {} ROWS DEFINE A AS id >= 0"
    query = f"SELECT ? AS x, * FROM nine MATCH_RECOGNIZE ({clause.format('?')})"
    rows = spark.table("nine")
    expected = [(4,), (4,), (1,)]
    assert [(row.n,) for row in matchrec.sql(spark, query, [7, 4]).collect()] == expected
    named = clause.format(":w")
    assert matchrec.match_recognize(rows, named, {"w": 4}).collect() == expected
    swept = matchrec.sweep(rows, named, {"w": [4, 9]})
    assert [row[:2] for row in swept.rows] == [(4, 3), (9, 1)]
    for wrong in (0, -1, 2.5, "4", 2**40, None, True):
        with pytest.raises(
            matchrec.MatchRecognizeError, match="the number of rows in WITHIN, must be"
        ):
            matchrec.match_recognize(rows, named, {"w": wrong})


def test_within_after_the_clause_is_rejected(spark: SparkSession) -> None:
    query = "SELECT * FROM range(3) MATCH_RECOGNIZE (ORDER BY id PATTERN (A)) WITHIN :w ROWS"
    with pytest.raises(
        matchrec.MatchRecognizeParseError, match="WITHIN is not allowed after the closing"
    ):
        matchrec.sql(spark, query, {"w": 3})


@pytest.fixture(scope="module")
def pings(spark: SparkSession) -> DataFrame:
    """Return rows at 10, 15, 30 and 40 minutes, and on days with these distances."""
    minutes = ", ".join(
        f"(TIMESTAMP'2024-01-01 00:{m}:00', date_add(DATE'2024-01-01', {m}))" for m in MINUTES
    )
    return spark.sql(f"SELECT * FROM VALUES {minutes} AS t(at, day)")


MINUTES = (10, 15, 30, 40)
PINGS = "ORDER BY at MEASURES count(*) AS n PATTERN (A+) {} DEFINE A AS at IS NOT NULL"
TEN_MINUTES = (timedelta(minutes=10), "10 MINUTES", "INTERVAL '10' MINUTE", "interval 10 minutes")
FIELDS = ("INTERVAL '0 00:10:00' DAY TO SECOND", "'0:10' hour to minute")
LENGTHS = {
    ":gap": TEN_MINUTES,
    "INTERVAL :gap": (*TEN_MINUTES, *FIELDS),
    "INTERVAL :gap MINUTE": (*TEN_MINUTES, 10, "10", Decimal(10)),
    "INTERVAL :gap SECONDS": (600, "600.0", 600.0),
}


@pytest.mark.parametrize("within", LENGTHS)
def test_a_parameter_is_an_interval(spark: SparkSession, pings: DataFrame, within: str) -> None:
    """A match ends less than ten minutes after it began: rows 1 and 2; row 3; row 4."""
    clause = PINGS.format(f"WITHIN {within}")
    for gap in LENGTHS[within]:
        result = matchrec.match_recognize(pings, clause, {"gap": gap})
        assert [row.n for row in result.collect()] == [2, 1, 1], gap
    query = f"SELECT n FROM {{pings}} MATCH_RECOGNIZE ({clause})"
    result = matchrec.sql(spark, query, {"gap": LENGTHS[within][-1]}, pings=pings)
    assert [row.n for row in result.collect()] == [2, 1, 1]
    result = matchrec.sql(spark, query.replace(":gap", "?"), [LENGTHS[within][0]], pings=pings)
    assert [row.n for row in result.collect()] == [2, 1, 1]
    grid = {"gap": [LENGTHS[within][0], "INTERVAL 11 MINUTES"]}
    if "MINUTE" not in within and "SECOND" not in within:
        assert [row[1] for row in matchrec.sweep(pings, clause, grid).rows] == [3, 2]
    assert within in matchrec.transpile(query, write="spark").text


@pytest.mark.parametrize("within", [":gap BETWEEN ROWS", "INTERVAL :gap DAYS FROM A TO B"])
def test_a_parameter_is_an_interval_of_days(pings: DataFrame, within: str) -> None:
    clause = f"ORDER BY day MEASURES count(*) AS n PATTERN (A B) WITHIN {within} DEFINE A AS true"
    result = matchrec.match_recognize(pings, clause, {"gap": timedelta(days=11)})
    assert [row.n for row in result.collect()] == [2, 2]
    result = matchrec.match_recognize(pings, clause, {"gap": timedelta(days=6)})
    assert [row.n for row in result.collect()] == [2]


def test_a_column_is_an_interval(spark: SparkSession, pings: DataFrame) -> None:
    clause = PINGS.format("WITHIN INTERVAL :gap")
    result = matchrec.match_recognize(pings, clause, {"gap": expr("INTERVAL '10' MINUTE")})
    assert [row.n for row in result.collect()] == [2, 1, 1]


LENGTH_HINT = (
    'write a length, such as "10 minutes", "1 hour 30 minutes" or timedelta(minutes=10), or a '
)
NUMBER_WITHOUT_UNIT = (
    "INTERVAL :gap",
    10,
    "INTERVAL :gap in WITHIN has a number without a unit",
    "MINUTE",
)


@pytest.mark.parametrize(
    ("within", "gap", "message", "hint_part"),
    [
        (":gap", "ten", ":gap in WITHIN needs a length of time, not 'ten'", LENGTH_HINT),
        ("INTERVAL :gap", None, ":gap in WITHIN needs a length of time, not None", LENGTH_HINT),
        (":gap", "10 minuts", "unknown unit `minuts` in :gap in WITHIN", 'write "10 minutes"'),
        (
            ":gap",
            timedelta(0),
            ":gap in WITHIN must be more than 0, but is 0:00:00",
            "write a length above 0",
        ),
        NUMBER_WITHOUT_UNIT,
        ("INTERVAL :gap DAY", True, ":gap in WITHIN needs a length of time, not True", LENGTH_HINT),
    ],
)
def test_a_parameter_that_is_no_interval(
    pings: DataFrame, within: str, gap: Any, message: str, hint_part: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.match_recognize(pings, PINGS.format(f"WITHIN {within}"), {"gap": gap})
    message_line, location, _, carets, *_, hint = str(caught.value).split("\n")
    assert message in message_line
    assert (location, carets.strip()) == ("  line 1, column 56", "^" * len(within))
    assert hint_part in hint


def test_an_interval_in_a_condition_can_be_a_parameter(pings: DataFrame) -> None:
    clause = "ORDER BY at MEASURES count(*) AS n PATTERN (A B+) DEFINE B AS at < PREV(at) + {}"
    gap = {"gap": timedelta(minutes=10)}
    result = matchrec.match_recognize(pings, clause.format(":gap"), gap)
    assert [row.n for row in result.collect()] == [2]
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="write :gap alone, and pass"):
        matchrec.match_recognize(pings, clause.format("INTERVAL :gap MINUTE"), gap)


UNSIGNED = {"uint8": "smallint", "uint16": "int", "uint32": "bigint", "uint64": "decimal(20,0)"}
NO_DATAFRAME = "cannot make a DataFrame of `rows`"


@pytest.mark.parametrize(("kind", "spark_type"), UNSIGNED.items())
def test_unsigned_integers_of_arrow_keep_their_values(
    spark: SparkSession, kind: str, spark_type: str
) -> None:
    greatest = 2 ** int(kind.removeprefix("uint")) - 1
    lists = pa.array([[greatest], None, []], pa.list_(pa.type_for_alias(kind)))
    rows = pa.table({"v": pa.array([0, greatest, None], kind), "l": lists})
    query = """SELECT *, typeof(v) AS t FROM {rows} MATCH_RECOGNIZE (
        ORDER BY v NULLS LAST MEASURES B.v AS v, FIRST(l)[0] AS l PATTERN (A B)
        DEFINE B AS B.v > A.v)"""
    if spark.version < "4":
        with pytest.raises(matchrec.MatchRecognizePlanError, match=NO_DATAFRAME):
            matchrec.sql(spark, query, rows=rows)
    else:
        (row,) = matchrec.sql(spark, query, rows=rows).collect()
        assert tuple(row) == (greatest, greatest, spark_type)


EMPTY = pd.DataFrame({"v": []})
REFUSED_FRAMES = {
    "column `v` of `rows` has type uint64": pd.DataFrame({"v": [2**64 - 1]}),
    NO_DATAFRAME: pa.table({"v": pa.array([], pa.decimal256(50, 2))}),
    "PySpark cannot make a DataFrame of `rows`: ": pd.DataFrame({"v": [1j]}),
    "column `v` is of type period": pd.DataFrame(
        {"v": pd.period_range("2026-01", "2026-02", freq="M")}
    ),
}


@pytest.mark.parametrize("message", REFUSED_FRAMES)
def test_frames_that_spark_does_not_take(spark: SparkSession, message: str) -> None:
    rows = REFUSED_FRAMES[message]
    query = "SELECT * FROM {rows} MATCH_RECOGNIZE (ORDER BY v PATTERN (A) DEFINE A AS v > 0)"
    with pytest.raises(matchrec.MatchRecognizePlanError, match=message):
        matchrec.sql(spark, query, rows=rows)


def test_a_table_of_arrow_without_rows_has_its_types(spark: SparkSession) -> None:
    if spark.version.startswith("3."):
        pytest.skip("no DataFrame of a table of Arrow")
    kinds = {"v": pa.int32(), "s": pa.string(), "l": pa.list_(pa.date32()), "f": pa.float16()}
    rows = pa.schema(kinds.items()).empty_table()
    result = matchrec.sql(
        spark,
        """SELECT * FROM {rows} MATCH_RECOGNIZE (PARTITION BY s ORDER BY v
        MEASURES sum(v) AS n, FIRST(l) AS l, LAST(f) AS f
        PATTERN (A+) DEFINE A AS v >= FIRST(v))""",
        rows=rows,
    )
    assert result.dtypes == [("s", "string"), ("n", "bigint"), ("l", "array<date>"), ("f", "float")]
    assert result.collect() == []


@pytest.mark.parametrize("transport", ["auto", "arrow", "pandas"])
def test_a_frame_without_rows_and_with_a_schema_runs(spark: SparkSession, transport: str) -> None:
    rows = spark.createDataFrame(EMPTY, "v int")
    clause = "ORDER BY v MEASURES sum(v) AS s, FIRST(v) AS f PATTERN (A) DEFINE A AS v >= FIRST(v)"
    options = matchrec.Options(transport=transport)
    assert matchrec.match_recognize(rows, clause, options=options).collect() == []


@pytest.mark.parametrize(
    ("name", "headline", "hint"),
    [
        (
            "algoritm",
            "`algoritm` is not an argument, and the query has no {algoritm}",
            "write options=matchrec.Options(algorithm=...)",
        ),
        (
            "dialekt",
            "`dialekt` is not an argument, and the query has no {dialekt}",
            "write dialect=",
        ),
        (
            "least",
            "the query has no {least} for the argument least=",
            "write {least} in the query, pass the value of :least in args, or leave least= out",
        ),
    ],
)
def test_a_name_that_the_query_does_not_have(
    spark: SparkSession, name: str, headline: str, hint: str
) -> None:
    query = """SELECT * FROM range(3) MATCH_RECOGNIZE (
      ORDER BY id PATTERN (A) DEFINE A AS id > :least)"""
    assert catch_message(spark, query, None, **{name: "auto"}) == [
        f"{headline} [unknown-argument]",
        f"  help: {hint}",
    ]


def test_a_name_in_braces_without_an_argument_and_an_argument_without_a_name(
    spark: SparkSession, steps: DataFrame
) -> None:
    query = "SELECT * FROM {evs} MATCH_RECOGNIZE (ORDER BY id PATTERN (A))"
    assert catch_message(spark, query, None, ev=steps) == [
        "the query has {evs}, but the call passes ev [unknown-argument]",
        "  line 1, column 15",
        f"      {query}",
        "                    ^^^^^",
        "  help: write {ev} instead of {evs} in the query, or pass evs=",
    ]


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("{least}", 'write :least, and pass args={"least": value}'),
        ("':least'", "write :least, without quotes, for the value of a parameter"),
    ],
)
def test_a_name_in_braces_or_quotes_is_not_a_parameter(
    spark: SparkSession, written: str, hint: str
) -> None:
    query = f"""SELECT * FROM range(3) MATCH_RECOGNIZE (
      ORDER BY id ALL ROWS PER MATCH PATTERN (A) DEFINE A AS id > {written})"""
    lines = catch_message(spark, query, None)
    assert lines[-1] == f"  help: {hint}"
    assert matchrec.sql(spark, query.replace(written, ":least"), {"least": 1}).collect() == [(2,)]


def test_a_misspelt_table_is_corrected_in_a_query_with_values(
    spark: SparkSession, steps: DataFrame
) -> None:
    steps.createOrReplaceTempView("stairs")
    with pytest.raises(PySparkException, match=r"write stairs$"):
        matchrec.sql(spark, NAMED.replace("{t}", "stars"), {"low": 5, "high": 1})


def test_a_string_that_is_not_a_number_is_compared_with_one(spark: SparkSession) -> None:
    query = "SELECT * FROM range(3) MATCH_RECOGNIZE (ORDER BY id PATTERN (A) DEFINE A AS id > :low)"
    with pytest.raises(matchrec.MatchRecognizePlanError) as raised:
        matchrec.sql(spark, query, {"low": "cheap"})
    error = raised.value
    assert error.code == "unreadable-parameter"
    assert error.column == 1 + query.index(":low")
    assert error.notes[0] == ":low is 'cheap'"
    assert error.hint == "pass a number instead of the string, or compare CAST(id AS STRING)"
