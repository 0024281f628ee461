"""Numeric functions of two rows have the values that Spark computes, to the last bit."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.quick.scale import examples
from tests.spark.conditions.pairs import find_true_in_patterns, find_true_in_spark

EDGES = (0.0, -0.0, 0.5, 1.0, -1.0, 2.5, 0.15, 1.005, 1e-310, 1e300, math.inf, -math.inf, math.nan)

CONDITIONS = """
    round(x + A.x, 1) > 0.5
    round(x - A.x) = 1
    round(x * A.x, 2) = 1.25
    round(y + A.y, -2) = 1000
    round(d + A.d, 1) = 1000.1 OR round(d + A.d, 2) > 999
    round(d - A.d, -1) > 10
    round(i * A.i, -1) = 10
    floor(x + A.x) = 1
    ceil(x + A.x) = 1
    ceiling(d - A.d) > 3
    floor(e + A.e) = -2
    ceil(e + A.e) = -2
    floor(i + A.i) = 3
    ln(y / A.y) > 0.1
    log(x + A.x) < 0.5
    log(2, x + A.x) < 0.5
    log10(y + A.y) < 3
    log2(y + A.y) < 9
    exp(x - A.x) > 1.5
    sqrt(x * A.x) > 1.5
    power(x, A.i) > 1.5
    pow(x, A.x) > 1.5
    sign(x - A.x) = 1
    signum(i - A.i) = 1
    mod(i, A.i) = 1
    i DIV A.i = 1
    sin(x + A.x) < 0.5
    cos(x + A.x) < 0.5
    asin(x - A.x) < 0.5
    acos(x - A.x) < 0.5
    radians(x - A.x) < 0.05
    isnan(x - A.x) OR isnull(x - A.x)
    nanvl(x - A.x, 0) > 1
    negative(x - A.x) > 0.1
    d / A.d > 1.5
    d / A.e > 1.5
    d / A.i > 1.5
    d * A.d / A.e > 100
    w + A.d > 1000
    w * A.e > 1000
    w % A.d > 100
    w - A.y > 100
    greatest(abs(w - A.w), 5) < 300
"""

EXACT = ("exp", "ln", "log10", "log2", "sqrt", "radians")


@pytest.fixture(scope="module")
def numbers(spark: SparkSession) -> Iterator[str]:
    """Create a view of numbers of all types, with edge values and NULLs."""
    generator = random.Random(7)

    def draw_float() -> float | None:
        """Return a random number or NULL."""
        return generator.choice(
            [
                None,
                generator.uniform(-5, 5),
                generator.randint(-9, 9) / 2,
                generator.randint(-100, 100) / 20,
                generator.choice(EDGES),
            ]
        )

    rows = [
        (
            n % 3,
            n,
            draw_float(),
            generator.choice([None, *range(-9, 10)]),
            generator.uniform(0, 1000),
        )
        for n in range(examples(2000))
    ]
    frame = spark.createDataFrame(rows, "k int, t int, x double, i int, y double")
    frame.selectExpr(
        "*",
        "CAST(y AS DECIMAL(9, 3)) AS d",
        "CAST(i * y / 7 AS DECIMAL(12, 4)) AS e",
        "CAST(y AS DECIMAL(30, 5)) AS w",
    ).createOrReplaceTempView("numbers")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    yield "numbers"
    spark.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.slow
def test_functions_of_two_rows_have_sparks_values(spark: SparkSession, numbers: str) -> None:
    conditions = [line.strip() for line in CONDITIONS.strip().splitlines()]
    expected = find_true_in_spark(spark, numbers, conditions)
    assert len({number for *_, number in expected}) > len(conditions) - 5, (
        "most conditions are true for some row"
    )
    assert find_true_in_patterns(spark, numbers, conditions) == expected


def test_exact_functions_agree_to_the_last_bit(spark: SparkSession, numbers: str) -> None:
    """The columns have Spark's values. `0 * A.t` makes matchrec compute the functions itself."""
    spark.table(numbers).selectExpr(
        "*",
        *(f"{function}(y) AS {function}" for function in EXACT),
        "power(y, x) AS power",
        "log(y, x) AS log",
    ).createOrReplaceTempView("computed")
    conditions = [f"{function}(y + 0 * A.t) <=> {function}" for function in EXACT]
    conditions += ["power(y + 0 * A.t, x) <=> power", "log(y + 0 * A.t, x) <=> log"]
    true_conditions = find_true_in_patterns(spark, "computed", conditions)
    rows = spark.table("computed").count() - 3
    assert len(true_conditions) == rows * len(conditions)
