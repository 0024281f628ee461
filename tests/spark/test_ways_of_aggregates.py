"""Each way to compute an aggregate follows the rules of `conditions.aggregate_table`.

The results are worked out by hand. Doubles are added up in the order of the rows.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import NamedTuple

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import matchrec
from tests.properties.test_queries import settings

FUNCTIONS = ("count", "sum", "avg", "min", "max")


class Column(NamedTuple):
    """Values of one type, and their aggregates."""

    type: str
    values: tuple[str, ...]  # in the order of the rows
    expected: tuple[object, ...]  # in the order of FUNCTIONS


COLUMNS = {
    "integers and NULL": Column("BIGINT", ("1", "NULL", "4"), (2, 5, 2.5, 1, 4)),
    "integers that no double holds": Column(
        "BIGINT",
        ("9007199254740992", "1", "1"),  # 2 to the power of 53: a double loses both ones
        (3, 9007199254740994, 9007199254740992 / 3, 1, 9007199254740992),
    ),
    "narrow integers": Column("TINYINT", ("127", "127", "1"), (3, 255, 85.0, 1, 127)),
    "decimals": Column(
        "DECIMAL(5,2)",
        ("0.01", "NULL", "0.02", "0.02", "0.02"),
        (4, Decimal("0.07"), Decimal("0.017500"), Decimal("0.01"), Decimal("0.02")),
    ),
    "negative decimals": Column(
        "DECIMAL(5,2)",
        ("-0.01", "-0.02"),
        (2, Decimal("-0.03"), Decimal("-0.015000"), Decimal("-0.02"), Decimal("-0.01")),
    ),
    "wide decimals": Column(
        "DECIMAL(20,1)",
        ("9999999999999999999.0", "1.0", "0.5"),
        (
            3,
            Decimal("10000000000000000000.5"),
            Decimal("3333333333333333333.50000"),
            Decimal("0.5"),
            Decimal("9999999999999999999.0"),
        ),
    ),
    "doubles": Column(
        "DOUBLE", ("0.1", "0.2", "0.3"), (3, 0.1 + 0.2 + 0.3, (0.1 + 0.2 + 0.3) / 3, 0.1, 0.3)
    ),
    "not a number": Column(
        "DOUBLE", ("1.0", "'NaN'", "NULL"), (2, math.nan, math.nan, 1.0, math.nan)
    ),
    "no values": Column("DECIMAL(5,2)", ("NULL", "NULL"), (0, None, None, None, None)),
}

# Not computed by a kernel, because CLASSIFIER depends on the match.
AGGREGATE_OF_MATCH = "{function}(A.x) FILTER (WHERE CLASSIFIER(A) = 'A')"
AGGREGATE_OF_COLUMN = "{function}(A.x)"

# Each way to compute an aggregate in MEASURES: the aggregate, and an option of the clause.
MEASURES = {
    "kernel, one row for each match": (AGGREGATE_OF_COLUMN, "ONE ROW PER MATCH"),
    "kernel, up to the current row": (AGGREGATE_OF_COLUMN, "ALL ROWS PER MATCH"),
    "kernel, matches that share rows": (AGGREGATE_OF_COLUMN, "AFTER MATCH SKIP TO NEXT ROW"),
    "engine, one row for each match": (AGGREGATE_OF_MATCH, "ONE ROW PER MATCH"),
    "engine, up to the current row": (AGGREGATE_OF_MATCH, "ALL ROWS PER MATCH"),
}
CONDITIONS = {"kernel": AGGREGATE_OF_COLUMN, "Python": AGGREGATE_OF_MATCH}


def write_rows(column: Column) -> str:
    """Return SQL of rows with kind A for the values, and a last row with kind Z."""
    values = [f"CAST({value} AS {column.type})" for value in (*column.values, "NULL")]
    kinds = ["A"] * len(column.values) + ["Z"]
    rows = [
        f"({number}, '{kind}', {value})"
        for number, (kind, value) in enumerate(zip(kinds, values, strict=True))
    ]
    return f"(SELECT * FROM VALUES {', '.join(rows)} t(k, kind, x))"


def compute_measures(spark: SparkSession, column: Column, way: str) -> tuple[object, ...]:
    """Return the aggregates in MEASURES for the match of the first row, on its last row."""
    aggregate, options = MEASURES[way]
    measures = ", ".join(f"{aggregate.format(function=name)} AS m_{name}" for name in FUNCTIONS)
    matches = matchrec.sql(
        spark,
        f"""SELECT * FROM {write_rows(column)} MATCH_RECOGNIZE (ORDER BY k
        MEASURES FIRST(k) AS first_k, LAST(k) AS last_k, {measures} {options}
        PATTERN (A+ Z) DEFINE A AS kind = 'A', Z AS kind = 'Z')""",
    )
    (row,) = matches.where(f"first_k = 0 AND last_k = {len(column.values)}").collect()
    return tuple(row[f"m_{name}"] for name in FUNCTIONS)


@pytest.mark.parametrize("way", MEASURES)
@pytest.mark.parametrize("name", COLUMNS)
def test_each_way_computes_the_same_measures(spark: SparkSession, name: str, way: str) -> None:
    column = COLUMNS[name]
    assert repr(compute_measures(spark, column, way)) == repr(column.expected)


def write_literal(value: object, type_: str) -> str:
    """Return a value as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"DOUBLE('{value!r}')"
    return f"CAST({value} AS {type_})"


@pytest.mark.parametrize("way", CONDITIONS)
@pytest.mark.parametrize("name", COLUMNS)
def test_each_way_computes_the_same_conditions(spark: SparkSession, name: str, way: str) -> None:
    """The last row matches if each aggregate over the rows before it has the expected value."""
    column = COLUMNS[name]
    digits = "BIGINT" if "INT" in column.type else "DECIMAL(38,6)"
    tests = [
        f"{CONDITIONS[way].format(function=function)} <=> {write_literal(value, digits)}"
        for function, value in zip(FUNCTIONS, column.expected, strict=True)
    ]
    matches = matchrec.sql(
        spark,
        f"""SELECT * FROM {write_rows(column)} MATCH_RECOGNIZE (ORDER BY k
        MEASURES LAST(k) AS last_k PATTERN (A+ Z)
        DEFINE A AS kind = 'A', Z AS kind = 'Z' AND {" AND ".join(tests)})""",
    )
    assert [row.last_k for row in matches.collect()] == [len(column.values)]


LARGEST = Column("BIGINT", ("9223372036854775807", "1"), ())


def sum_largest(spark: SparkSession, aggregate: str, options: str, condition: str) -> list[object]:
    """Return the sums of integers that BIGINT cannot hold, on the last row of the match."""
    rows = write_rows(LARGEST)
    matches = matchrec.sql(
        spark,
        f"""SELECT * FROM {rows} MATCH_RECOGNIZE (ORDER BY k
        MEASURES FIRST(k) AS first_k, LAST(k) AS last_k, {aggregate} AS total {options}
        PATTERN (A+ Z) DEFINE A AS kind = 'A', Z AS kind = 'Z' AND {condition})""",
    )
    return [row.total for row in matches.where("first_k = 0 AND last_k = 2").collect()]


def wraps_in_ansi_mode(spark: SparkSession) -> bool:
    """Return whether integers that the engine adds wrap around in ANSI mode, as on Sail."""
    try:
        spark.sql("SELECT 9223372036854775807L + id FROM range(1, 2)").collect()
    except PySparkException:
        return False
    return True


@pytest.mark.parametrize("way", MEASURES)
def test_a_sum_in_measures_that_is_too_large(spark: SparkSession, way: str) -> None:
    aggregate, options = MEASURES[way]
    total = aggregate.format(function="sum")
    with settings(spark, ansi__enabled="true"):
        if way.startswith("engine") and wraps_in_ansi_mode(spark):
            assert sum_largest(spark, total, options, "TRUE") == [-(2**63)]
        else:
            with pytest.raises(PySparkException):
                sum_largest(spark, total, options, "TRUE")
    with settings(spark, ansi__enabled="false"):
        assert sum_largest(spark, total, options, "TRUE") == [-(2**63)]


@pytest.mark.parametrize("way", CONDITIONS)
def test_a_sum_in_define_that_is_too_large(spark: SparkSession, way: str) -> None:
    total = CONDITIONS[way].format(function="sum")
    condition = f"{total} IS NOT NULL"
    with settings(spark, ansi__enabled="true"), pytest.raises(PySparkException, match="too large"):
        sum_largest(spark, "count(*)", "", condition)
    with settings(spark, ansi__enabled="false"):
        if way == "kernel":  # its registers do not wrap around
            with pytest.raises(PySparkException, match="too large"):
                sum_largest(spark, "count(*)", "", condition)
        else:
            assert sum_largest(spark, "count(*)", "", condition) == [3]
