"""Values keep their types, borders of batches do not matter, and only needed columns are sent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Literal

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import matchrec
from matchrec.plan.text import quote_name

pytestmark = pytest.mark.one_of(2)

PAIRS = "PARTITION BY k ORDER BY t ALL ROWS PER MATCH PATTERN (A B) DEFINE B AS t > PREV(t)"
VALUES = (
    "k string, t int, big bigint, flag boolean, x double, f float, m decimal(38,10), s string, "
    "b binary, d date, ts timestamp, i interval day to second"
)
ROWS = [
    ("k", 1, 9007199254740993, None, math.nan, 1.5, Decimal("1.0000000001"), "é", b"\x00\xff",
     date(1, 1, 1), datetime(2026, 10, 25, 0, 30, tzinfo=timezone.utc),
     timedelta(days=-3, microseconds=7)),
    ("k", 2, None, True, None, None, None, None, None, None, None, None),
    (None, 1, -1, False, math.inf, math.nan, Decimal("-9" + "9" * 27), "", b"",
     date(9999, 12, 31), datetime(2026, 10, 25, 1, 30, tzinfo=timezone.utc),
     timedelta(0)),
    (None, 2, 2**63 - 1, None, -0.0, None, Decimal(0), "x", None, None, None, None),
]  # fmt: skip


@pytest.fixture
def small_batches(spark: SparkSession) -> Iterator[SparkSession]:
    """Set batches of two rows, so that partitions and matches cross their borders."""
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "2")
    yield spark
    spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


@pytest.fixture
def berlin(spark: SparkSession) -> Iterator[SparkSession]:
    """Set a time zone in which an hour of 2026-10-25 occurs twice."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before or "UTC")


def write_rows(frame: DataFrame) -> list[str]:
    """Return the rows as Spark prints them, sorted. NaN differs from NULL."""
    casts = [f"CAST(`{name}` AS STRING) AS `{name}`" for name in frame.columns if name != "b"]
    if "b" in frame.columns:
        casts.append("hex(b) AS b")
    return sorted(str(row.asDict()) for row in frame.selectExpr(*casts).collect())


@pytest.mark.parametrize("transport", ["arrow", "pandas"])
def test_values_of_every_kind_come_through_unaltered(berlin: SparkSession, transport: str) -> None:
    frame = berlin.createDataFrame(ROWS, VALUES)
    matched = matchrec.match_recognize(frame, PAIRS, options=matchrec.Options(transport=transport))
    assert write_rows(matched) == write_rows(frame)
    assert [field.dataType for field in matched.schema] == [
        field.dataType for field in frame.schema
    ]


def test_pandas_rejects_columns_that_it_would_alter(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("k", 1, [1])], "k string, t int, list array<int>")
    with pytest.raises(
        matchrec.MatchRecognizeUnsupportedError, match="column `list` of type array"
    ):
        matchrec.match_recognize(frame, PAIRS, options=matchrec.Options(transport="pandas"))


@pytest.mark.parametrize("transport", ["arrow", "pandas"])
def test_matches_cross_batch_borders(small_batches: SparkSession, transport: str) -> None:
    rows = [(key, t, t % 5) for key in range(4) for t in range(11 + key)]
    frame = small_batches.createDataFrame(rows, "k int, t int, v int").repartition(3)
    clause = """PARTITION BY k ORDER BY t MEASURES FIRST(t) AS a, LAST(t) AS b, count(*) AS n
        PATTERN (S U+) DEFINE U AS v > PREV(v)"""
    matches = matchrec.match_recognize(
        frame, clause, options=matchrec.Options(transport=transport)
    ).collect()
    expected = {
        (key, t, min(t + 4, 10 + key), min(5, 11 + key - t))
        for key in range(4)
        for t in range(0, 10 + key, 5)
    }
    assert {tuple(row) for row in matches} == expected


@pytest.mark.parametrize("partitions", ["1", "7"])
def test_the_number_of_spark_partitions_does_not_matter(
    spark: SparkSession, partitions: str
) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", partitions)
    rows = [(key, t) for key in range(20) for t in range(key)]
    frame = spark.createDataFrame(rows, "k int, t int")
    clause = "PARTITION BY k ORDER BY t MEASURES count(*) AS n PATTERN (A{2,3})"
    with pytest.warns(UserWarning, match="has no DEFINE"):
        matches = matchrec.match_recognize(frame, clause).groupBy("k").sum("n").collect()
    spark.conf.set("spark.sql.shuffle.partitions", before or "1")
    assert {row[0]: row[1] for row in matches} == {k: k - (k % 3 == 1) for k in range(2, 20)}


def test_null_keys_form_one_partition(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(None, 1), (None, 2), ("a", 1)], "k string, t int")
    clause = "PARTITION BY k ORDER BY t MEASURES count(*) AS n PATTERN (A+) DEFINE A AS TRUE"
    matches = matchrec.match_recognize(frame, clause).collect()
    assert sorted(matches, key=str) == sorted([Row(k=None, n=2), Row(k="a", n=1)], key=str)


def test_an_empty_dataframe_gives_no_rows_and_the_right_schema(spark: SparkSession) -> None:
    frame = spark.createDataFrame([], "k string, t int, x decimal(10,2)")
    clause = """PARTITION BY k ORDER BY t MEASURES sum(x) AS total, CLASSIFIER() AS c
        PATTERN (A*) DEFINE A AS x > 1"""
    matches = matchrec.match_recognize(frame, clause)
    assert matches.schema.simpleString() == "struct<k:string,total:decimal(20,2),c:string>"
    assert matches.collect() == []


def test_a_partition_can_have_one_row(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", 1), ("b", 1)], "k string, t int")
    clause = """PARTITION BY k ORDER BY t MEASURES PREV(t) AS p, NEXT(t) AS n, t AS t
        PATTERN (^ A $) DEFINE A AS PREV(t) IS NULL AND NEXT(t) IS NULL"""
    matches = matchrec.match_recognize(frame, clause).collect()
    assert sorted(matches) == [Row(k="a", p=None, n=None, t=1), Row(k="b", p=None, n=None, t=1)]


def test_duplicate_columns_of_the_input_are_an_error_only_where_they_matter(
    spark: SparkSession,
) -> None:
    frame = spark.createDataFrame([("a", 1, 1)], "k string, t int, t2 int").toDF("k", "x", "x")
    clause = "PARTITION BY k ORDER BY upper(k) MEASURES count(*) AS n PATTERN (A) DEFINE A AS k='a'"
    assert matchrec.match_recognize(frame, clause).collect() == [Row(k="a", n=1)]
    with pytest.raises(matchrec.MatchRecognizePlanError, match="two columns `x`"):
        matchrec.match_recognize(frame, clause.replace("PATTERN", "ALL ROWS PER MATCH PATTERN"))
    with pytest.raises(matchrec.MatchRecognizePlanError, match=r"[Aa]mbiguous"):
        matchrec.match_recognize(frame, clause.replace("k='a'", "x = 1"))


def test_only_needed_columns_are_sent(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1,) * 5], "k int, t int, a int, b int, c int")
    frame.createOrReplaceTempView("wide")
    clause = "PARTITION BY k ORDER BY t MEASURES A.a AS a PATTERN (A) DEFINE A AS b > c"
    explained = matchrec.query(spark, f"SELECT * FROM wide MATCH_RECOGNIZE ({clause})").explain()
    (clause_explained,) = explained.clauses.values()
    assert [column.text for column in clause_explained._compiled_query.sent_columns.columns] == [
        "`k`",
        "`a`",
    ]


def test_sparks_plan_names_the_pattern(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = spark.createDataFrame([("a", 1)], "k string, t int")
    for sort, sorts in (("worker", 0), ("engine", 1)):
        matchrec.match_recognize(frame, PAIRS, options=matchrec.Options(sort=sort)).explain()
        plan = capsys.readouterr().out
        assert "match_recognize[PATTERN (A B)]" in plan
        assert plan.count("Exchange") == 1
        assert plan.count("Sort ") == sorts


UNUSUAL_NAMES = ["a.b", "a`b", "é", "select", "two words", "AS"]


@pytest.mark.parametrize(
    "names", [UNUSUAL_NAMES, ["__r1", "__r0"], ["x", "__counters"]], ids=", ".join
)
@pytest.mark.parametrize("transport", ["auto", "pandas"])
def test_columns_of_any_name(
    spark: SparkSession, names: list[str], transport: Literal["auto", "pandas"]
) -> None:
    """The workers name the columns if the result needs no SQL after the match; else Spark does."""
    columns = [f"c{index}" for index in range(len(names))]
    frame = spark.createDataFrame([tuple(range(len(names)))], [*columns])
    measures = [
        f"A.{column} AS {quote_name(name)}" for column, name in zip(columns, names, strict=True)
    ]
    clause = f"ORDER BY c0 MEASURES {', '.join(measures)} PATTERN (A) DEFINE A AS c0 = 0"
    options = matchrec.Options(transport=transport)
    matches = matchrec.match_recognize(frame, clause, options=options)
    assert matches.columns == names
    assert [tuple(row) for row in matches.collect()] == [tuple(range(len(names)))]
    assert matches.toPandas().columns.tolist() == names


@pytest.mark.parametrize("name", ["__r0", "__r1", "r0"])
def test_a_formula_of_any_name_is_computed(spark: SparkSession, name: str) -> None:
    frame = spark.createDataFrame([(1, "a")], "t int, s string")
    clause = f"ORDER BY t MEASURES upper(A.s) AS {name} PATTERN (A) DEFINE A AS t > 0"
    assert [*matchrec.match_recognize(frame, clause).collect()[0]] == ["A"]


@pytest.mark.filterwarnings("ignore::matchrec.warnings.SkipTargetWarning")
def test_a_failing_run_names_partition_and_row(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", 1), ("a", 2)], "k string, t int")
    clause = """PARTITION BY k ORDER BY t MEASURES count(*) AS n AFTER MATCH SKIP TO B
        PATTERN (A B*) DEFINE B AS t > 5"""
    with pytest.raises(Exception, match=r"(?s)the match has no row of B.*'a', row 1"):
        matchrec.match_recognize(frame, clause).collect()


def test_a_query_can_have_more_conditions_than_a_word_has_bits(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(t,) for t in range(130)], "t int")
    names = [f"V{i}" for i in range(130)]
    definitions = ", ".join(f"V{i} AS t = {i}" for i in range(130))
    clause = f"ORDER BY t MEASURES count(*) AS n PATTERN ({' '.join(names)}) DEFINE {definitions}"
    assert matchrec.match_recognize(frame, clause).collect() == [Row(n=130)]


def test_nullability_is_that_of_the_same_expression_in_spark(spark: SparkSession) -> None:
    frame = spark.range(3).selectExpr("id % 2 AS k", "id AS t", "nullif(id, 1) AS x")
    clause = """PARTITION BY k ORDER BY t
        MEASURES count(*) AS n, MATCH_NUMBER() + 1 AS m, sum(t) AS s, coalesce(LAST(x), 0L) AS x
        PATTERN (A+) DEFINE A AS t >= 0"""
    schema = matchrec.match_recognize(frame, clause).schema
    assert {field.name: field.nullable for field in schema} == {
        "k": True,
        "n": False,
        "m": False,
        "s": True,
        "x": False,
    }


def test_an_aggregate_of_spark_keeps_the_nullability_of_others(spark: SparkSession) -> None:
    frame = spark.range(3).selectExpr("id AS t", "-0.0D AS z", "map(1, 2) AS o")
    clause = """ORDER BY t MEASURES count(*) AS n, collect_list(t) AS ts ALL ROWS PER MATCH
        PATTERN (A+) DEFINE A AS t >= 0"""
    result = matchrec.match_recognize(frame, clause)
    nullable = {field.name: field.nullable for field in result.schema}
    assert {name: nullable[name] for name in ("t", "n", "ts")} == {
        "t": False,
        "n": False,
        "ts": False,
    }
    assert {str(row.z) for row in result.collect()} == {"-0.0"}
