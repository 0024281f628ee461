"""Conditions on structs of two rows of a run hold for the pairs that a self-join finds."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

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


def test_conditions_on_neighbouring_structs_are_as_in_spark(
    spark: SparkSession, rows: DataFrame
) -> None:
    check_conditions(spark, rows, STRUCTS)
