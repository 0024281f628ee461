"""Functions of strings that Sail 0.7.2 computes differently have Spark's values."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec.spark.backends import find_backend

# Three rows: a match of A, B and C.
ROWS = """(SELECT * FROM VALUES
    (1, 'abc', -2, 1e7D), (2, 'a-bc dEF_g', 4, double('-inf')), (3, NULL, NULL, NULL)
    AS t(id, s, n, x))"""

MEASURES: dict[str, Any] = {
    # A negative length is an empty string.
    "left(A.s, -1)": "",
    "right(A.s, -1)": "",
    "left(A.s, A.n)": "",
    "left(B.s, B.n)": "a-bc",
    "right(B.s, B.n + 1)": "dEF_g",
    "left(A.s, 2)": "ab",
    "left(C.s, -1)": None,
    "left(A.s, C.n)": None,
    "max(left(s, -1))": "",
    "length(left(A.s, -1)) + 1": 1,
    # The start -5 is two characters before `abc`: 4 characters from there on end with `b`.
    "substring(A.s, -5, 4)": "ab",
    "substring(A.s, -5, 2)": "",
    "substring(A.s, -5, 9)": "abc",
    "substring(A.s, -5)": "abc",
    "substr(A.s FROM -5 FOR 4)": "ab",
    "substring(B.s, -5, 4)": "dEF_",
    "substring(A.s, A.n, 1)": "b",
    "substring(A.s, 2, A.n)": "",
    "substring(A.s, 0, 2)": "ab",
    "substring(A.s, -5, C.n)": None,
    "substring(C.s, -5, 4)": None,
    # A word begins after a space.
    "initcap(B.s)": "A-bc Def_g",
    "initcap(upper(A.s))": "Abc",
    "initcap(C.s)": None,
    # A DOUBLE is written as in Java.
    "CAST(A.x AS STRING)": "1.0E7",
    "CAST(-A.x AS STRING)": "-1.0E7",
    "CAST(B.x AS STRING)": "-Infinity",
    "CAST(C.x AS STRING)": None,
    "CAST(A.x / 10 AS STRING)": "1000000.0",
    "A.x::STRING": "1.0E7",
    "string(max(x))": "1.0E7",
    "concat(A.s, A.x, A.n)": "abc1.0E7-2",
    "A.x || '/' || B.x": "1.0E7/-Infinity",
    "A.x || C.x": None,
    "max(CAST(x AS STRING))": "1.0E7",
    # A cast neither cuts nor pads the string.
    "CAST(A.x AS VARCHAR(3))": "1.0E7",
    "B.x::VARCHAR(3)": "-Infinity",
    "TRY_CAST(A.x AS CHAR(9))": "1.0E7",
    "CAST(A.s AS VARCHAR(2))": "abc",
    "CAST(A.n AS STRING)": "-2",
    "CAST(stddev(n) AS STRING)": "4.242640687119285",  # the square root of 18
}


def test_string_functions_in_measures_have_sparks_values(spark: SparkSession) -> None:
    items = ", ".join(f"{text} AS m{index}" for index, text in enumerate(MEASURES))
    query = f"""SELECT * FROM {ROWS} MATCH_RECOGNIZE (ORDER BY id MEASURES {items}
        PATTERN (A B C) DEFINE B AS true)"""
    (row,) = matchrec.sql(spark, query).collect()
    assert dict(zip(MEASURES, row, strict=True)) == MEASURES


# A condition of B, which is true.
CONDITIONS = [
    "left(s, -1) = '' AND left(A.s, A.n) = ''",
    "substring(A.s, -5, 4) = 'ab' AND substring(s, -5, 4) = 'dEF_'",
    "initcap(s) = 'A-bc Def_g'",
    "CAST(x AS STRING) = '-Infinity' AND CAST(A.x AS STRING) = '1.0E7'",
    "CAST(x + n AS STRING) = '-Infinity' AND n = 4",
    "A.x || B.x = '1.0E7-Infinity'",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_string_functions_in_conditions_have_sparks_values(
    spark: SparkSession, condition: str
) -> None:
    query = f"""SELECT * FROM {ROWS} MATCH_RECOGNIZE (ORDER BY id MEASURES FIRST(id) AS f
        PATTERN (A B) DEFINE B AS {condition})"""
    assert [row["f"] for row in matchrec.sql(spark, query).collect()] == [1]


# Expressions that the engine computes unchanged, and their values in the only match.
UNCHANGED: dict[str, Any] = {
    "FIRST(left(s, -1))": "",
    "FIRST(substring(s, -5, 4))": "ab",
    "FIRST(substring(s FROM -5 FOR 4))": "ab",
    "FIRST(initcap(s))": "Abc",
    "transform(array(A.s), s -> right(s, -1))": [""],
}


@pytest.mark.parametrize(("measure", "value"), UNCHANGED.items(), ids=UNCHANGED.keys())
def test_string_functions_in_arguments_are_right_or_rejected(
    spark: SparkSession, measure: str, value: Any
) -> None:
    query = f"""SELECT * FROM {ROWS} MATCH_RECOGNIZE (ORDER BY id MEASURES {measure} AS m
        PATTERN (A B) DEFINE B AS true)"""
    if find_backend(spark).engine == "Sail":
        with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match=r"write \w+\(\.\.\.\)"):
            matchrec.sql(spark, query)
    else:
        assert [row["m"] for row in matchrec.sql(spark, query).collect()] == [value]


# Keys, and the ids in the order of the key. NULL comes first.
KEYS: dict[str, list[int]] = {
    "left(s, -1)": [3, 1, 2],
    "right(upper(s), -1)": [3, 1, 2],
    "substring(s, -6, 4) DESC": [1, 2, 3],  # 'a' and ' dEF'
    "initcap(s) DESC": [1, 2, 3],
}


@pytest.mark.parametrize(("key", "ids"), KEYS.items(), ids=KEYS.keys())
def test_string_functions_in_keys_are_right_or_rejected(
    spark: SparkSession, key: str, ids: list[int]
) -> None:
    query = f"""SELECT * FROM {ROWS} MATCH_RECOGNIZE (ORDER BY {key}, id
        MEASURES array_agg(id) AS ids PATTERN (A+) DEFINE A AS id >= 0)"""
    if find_backend(spark).engine == "Sail":
        with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="in PARTITION BY or"):
            matchrec.sql(spark, query)
    else:
        assert [row["ids"] for row in matchrec.sql(spark, query).collect()] == [ids]


def test_keys_with_the_same_value_on_both_engines_are_allowed(spark: SparkSession) -> None:
    query = f"""SELECT * FROM {ROWS} MATCH_RECOGNIZE (PARTITION BY left(s, 1) AS k
        ORDER BY right(s, 2) DESC, substring(s, -2)
        MEASURES array_agg(id) AS ids PATTERN (A+) DEFINE A AS id >= 0)"""
    rows = {row["k"]: row["ids"] for row in matchrec.sql(spark, query).collect()}
    assert rows == {None: [3], "a": [1, 2]}  # 'bc' comes after '_g'


@pytest.mark.parametrize(
    ("measure", "value"),
    [("FIRST(left(s, 2))", "ab"), ("FIRST(substring(s, -2))", "bc"), ("FIRST(s)", "abc")],
)
def test_arguments_with_the_same_value_on_both_engines_are_allowed(
    spark: SparkSession, measure: str, value: str
) -> None:
    query = f"""SELECT * FROM {ROWS} MATCH_RECOGNIZE (ORDER BY id MEASURES {measure} AS m
        PATTERN (A B) DEFINE B AS true)"""
    assert [row["m"] for row in matchrec.sql(spark, query).collect()] == [value]
