"""Functions of numbers that Python computes, against Spark."""

from __future__ import annotations

import random

from pyspark.sql import SparkSession

from matchrec.conditions.functions.function import Value
from matchrec.conditions.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING
from tests.spark.functions import arguments as some
from tests.spark.functions.asked import Table, call

EDGES = (None, 0, 1, -1, 5, 2**31, 2**63 - 1, -(2**63), -12345)
BASES = (2, 10, 16, 36, -2, -10, -16, 1, 37, None)
NUMERALS = (*some.NUMERALS, "-1F", "zz", "-8000000000000000", "FFFFFFFFFFFFFFFF", "1" * 66)


def a_float(drawn: random.Random) -> Value:
    return drawn.choice([float(drawn.randint(-6, 6)), drawn.uniform(-9, 9)])


def test_bits(spark: SparkSession) -> None:
    small = (None, 0, 1, -1, 7, 31, 32, 63, 64)
    rows = some.rows((EDGES, some.INTS, small), (some.small, some.small, some.small), 60)
    rows = [(*row, number % 2 == 0) for number, row in enumerate(rows)]
    cases = [call("bin", 0), call("bin", 1), call("bit_count", 0), call("bit_count", 1)]
    cases += [call("bit_count", 3), call("bit_get", 0, 2), call("getbit", 1, 2)]
    cases += [call("factorial", 1), call("factorial", 2)]
    Table((BIGINT, INT, INT, BOOLEAN), rows).check(spark, cases)


def test_bases(spark: SparkSession) -> None:
    def base(drawn: random.Random) -> Value:
        return drawn.choice(BASES)

    rows = some.rows((NUMERALS, BASES, BASES), (some.text_of, base, base), 300)
    Table((STRING, INT, INT), rows).check(spark, [call("conv", 0, 1, 2)])


def test_buckets(spark: SparkSession) -> None:
    ends = (None, 0.0, -0.0, 1.0, -3.5, float("nan"), float("inf"))
    numbers = (None, 0, 1, 5, -2, 2**63 - 1, 10**18)
    rows = some.rows(
        (some.FLOATS, ends, ends, numbers), (a_float, a_float, a_float, some.small), 400
    )
    Table((DOUBLE, DOUBLE, DOUBLE, BIGINT), rows).check(spark, [call("width_bucket", 0, 1, 2, 3)])
