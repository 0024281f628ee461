"""Lambda functions and structs over two rows of a run, as a join of neighbours has them."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.properties.test_queries import settings
from tests.quick.scale import some_of
from tests.spark.functions.neighbours import check_conditions

ROWS = """
    (0, 2, 1.5D, 'a', array(1, 2, NULL), array('a', 'b'), map('a', 1, 'b', 2), 1.25, TRUE),
    (1, 1, 0.5D, 'b', array(3, 1), array('b', NULL), map('a', 5), 2.00, FALSE),
    (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (3, 0, double('NaN'), 'aa', array(), array(), map(), 0.01, TRUE),
    (4, -3, -0.0D, '', array(NULL), array(NULL), map('', NULL), -1.50, NULL),
    (5, 7, 2D, 'b', array(7, 7, 0, -3), array('bb', 'a'), map('b', 7, 'aa', 0), 9.99, TRUE),
    (6, 1, 1D, 'a', array(2147483647, 1), array('a'), map('a', 7), 0.50, FALSE),
    (7, 2, 1.5D, 'a', array(1, 2, NULL), array('a', 'b'), map('a', 1, 'b', 2), 1.25, TRUE)
"""

LAMBDAS = (
    "exists(A.xs, v -> v > B.i)",
    "exists(A.xs, v -> v > B.i) IS NULL",
    "NOT exists(A.names, name -> name = B.s)",
    "forall(A.xs, v -> v >= B.i)",
    "forall(A.xs, v -> v IS NULL OR v >= B.i) IS NOT TRUE",
    "exists(A.xs, v -> v > B.d AND v * B.d < 9)",
    "exists(A.xs, v -> v + B.m > 3)",
    "exists(A.xs, v -> v / B.i > 1)",
    "exists(A.xs, v -> sqrt(v + B.i) > 2 OR round(v * B.d, 1) = 1.5)",
    "exists(A.xs, v -> CASE WHEN B.i <> 0 THEN v % B.i = 1 END)",
    "exists(A.xs, v -> exists(B.xs, w -> w = v AND A.i <> B.i))",
    "exists(A.xs, v -> exists(A.xs, w -> w = v + B.i))",
    "exists(A.names, name -> upper(name) || B.s LIKE 'A%')",
    "exists(A.names, name -> levenshtein(name, B.s) = 1)",
    "exists(A.names, name -> coalesce(name, B.s) > A.s)",
    "filter(A.xs, v -> v > B.i) = array(7, 7)",
    "size(filter(A.xs, (v, place) -> v > B.i AND place < 2)) = 1",
    "transform(A.xs, v -> v % 1000 + B.i) = array(2, 3, NULL)",
    "transform(A.names, (name, place) -> name || place || B.s) = array('a0b', 'b1b')",
    "aggregate(A.xs, 0, (sum, v) -> sum + coalesce(v % 1000, 0) * B.i) > 5",
    "aggregate(A.xs, 0L, (sum, v) -> sum + v, sum -> sum * 2) > B.i",
    "aggregate(A.xs, CAST(NULL AS INT), (last, v) -> v) = B.i",
    "reduce(A.names, B.s, (text, name) -> text || coalesce(name, '?')) = 'bab'",
    "exists(A.xs, v -> A.i <> 1 AND B.i DIV (A.i - 1) < v)",
    "exists(A.xs, v -> B.ok AND v > A.i)",
    "exists(A.xs, v -> A.d > B.d)",
    "exists(A.xs, v -> IF(v > B.i, A.s, B.s) = 'b')",
    "exists(A.xs, v -> IF(A.ok, A.s, B.s) || v = 'a1')",
    "exists(A.xs, v -> v BETWEEN B.i AND A.i OR v IN (B.i + 5, A.i))",
    "exists(A.xs, v -> nullif(v, B.i) IS NULL)",
)
STRUCTS = (
    "(A.i, A.s) = (B.i, B.s)",
    "(A.s, A.i) IN ((B.s, B.i), ('b', 1))",
    "(A.i, A.s) < (B.i, B.s)",
    "(A.d, A.i) >= (B.d, B.i)",
    "struct(A.i, A.s) <=> struct(B.i, B.s)",
    "struct(A.i AS x, A.i AS y).y = B.i",
    "greatest(struct(A.i, A.d), struct(B.i, B.d)) > struct(1, 0.0D)",
    "CASE WHEN A.i <> 0 THEN CAST(B.i DIV A.i AS STRING) ELSE B.s || 'none' END = '0'",
)


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.sql(f"SELECT * FROM VALUES {ROWS} AS t(id, i, d, s, xs, names, mp, m, ok)")


def test_lambdas(spark: SparkSession, rows: DataFrame) -> None:
    check_conditions(spark, rows, LAMBDAS, ansi=False)


def test_lambdas_under_ansi(spark: SparkSession, rows: DataFrame) -> None:
    failing = ("v / B.i", "sqrt", "v % B.i = 1 END", "w = v + B.i")
    conditions = [one for one in LAMBDAS if not any(part in one for part in failing)]
    check_conditions(spark, rows, some_of(conditions))


def test_structs(spark: SparkSession, rows: DataFrame) -> None:
    check_conditions(spark, rows, STRUCTS)


def test_a_setting_that_leaves_nothing_unknown(spark: SparkSession, rows: DataFrame) -> None:
    with settings(spark, legacy__followThreeValuedLogicInArrayExists="false"):
        check_conditions(spark, rows, ["exists(A.xs, v -> v > B.i) IS NULL"])
