"""`- n` of a DECIMAL is right, although Sail 0.7.2 computes it wrong without ANSI mode."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec.spark.backends import find_backend
from matchrec.spark.sail.probes import negates_to_scale_ten
from tests.properties.test_queries import settings

# 0.50, 1.50, 2.50, 3.50
ROWS = "(SELECT id, CAST(id + 0.5 AS DECIMAL(10, 2)) AS n FROM range(4))"

MEASURES = {
    "-n": Decimal("-3.50"),
    "- - n": Decimal("3.50"),
    "-FIRST(n)": Decimal("-0.50"),
    "negative(LAST(n))": Decimal("-3.50"),
    "-(n + 1)": Decimal("-4.50"),
    "-sum(n)": Decimal("-8.00"),
    "sum(-n)": Decimal("-8.00"),
    "-LAST(n, 1)": Decimal("-2.50"),
    "CAST(-FIRST(n) AS DOUBLE)": -0.5,
    "CAST(-n AS STRING)": "-3.50",
    "concat('a', -FIRST(n))": "a-0.50",
    "round(-n, 0)": Decimal("-4"),
    "-n + 1D": -2.5,
    "-CAST(n AS DECIMAL(38, 20)) * 1D": -3.5,
    "-count(*)": -4,
    "-1.5": Decimal("-1.5"),
}


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_negated_decimals_in_measures_are_right(spark: SparkSession, ansi: str) -> None:
    items = ", ".join(f"{text} AS m{index}" for index, text in enumerate(MEASURES))
    query = f"""SELECT * FROM {ROWS} MATCH_RECOGNIZE (ORDER BY id MEASURES {items} PATTERN (A+)
        DEFINE A AS id >= 0)"""
    with settings(spark, ansi__enabled=ansi):
        (row,) = matchrec.sql(spark, query).collect()
    assert dict(zip(MEASURES, row, strict=True)) == MEASURES


# A condition of B, and how many rows each match of A B+ has.
CONDITIONS = {
    "-n < 0": [4],
    "CAST(-n AS DOUBLE) > -2D": [2],  # 0.5 and 1.5; 2.5 and 3.5 are too large
    "-B.n < -A.n": [4],
    "-B.n + A.n = -1": [2, 2],
    "-PREV(n) - B.n = -2": [2],  # 0.5 and 1.5
    "concat('a', -n) = 'a-1.50'": [2],
}


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(("condition", "lengths"), CONDITIONS.items(), ids=CONDITIONS.keys())
def test_negated_decimals_in_conditions_are_right(
    spark: SparkSession, condition: str, lengths: list[int], ansi: str
) -> None:
    query = f"""SELECT * FROM {ROWS} MATCH_RECOGNIZE (ORDER BY id MEASURES FIRST(id) AS f,
        count(*) AS length PATTERN (A B+) DEFINE B AS {condition})"""
    with settings(spark, ansi__enabled=ansi):
        rows = matchrec.sql(spark, query).orderBy("f").collect()
    assert [row["length"] for row in rows] == lengths


# Keys of ORDER BY, and whether they negate a decimal. They sort the rows from the last one.
KEYS = {
    "-n": True,
    "CAST(- n AS DOUBLE)": True,
    "CASE WHEN id >= 0 THEN -(n) END": True,
    "negative(n) + 1": True,
    "0 - n": False,
    "-id, n - 1": False,
    "-1 * n": False,
    "5 - id - (n)": False,
    "CASE - n WHEN -3.50 THEN 0 ELSE 1 END, -id": True,
    "-100 DIV - n": True,
    "-id, - n IS DISTINCT FROM - n": True,
    "-id, concat(id, '- n')": False,
    "-id, CAST((SELECT max(- n) FROM (SELECT 1.5 AS n)) AS DOUBLE) + id": True,
}


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(("key", "negates"), KEYS.items(), ids=KEYS.keys())
def test_negated_decimals_in_keys_are_right_or_rejected(
    spark: SparkSession, key: str, negates: bool, ansi: str
) -> None:
    query = f"""SELECT * FROM {ROWS} MATCH_RECOGNIZE (ORDER BY {key}
        MEASURES array_agg(id) AS ids PATTERN (A+) DEFINE A AS id >= 0)"""
    with settings(spark, ansi__enabled=ansi):
        if find_backend(spark).engine == "Sail" and ansi == "false" and negates:
            with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="write 0 - x"):
                matchrec.sql(spark, query)
        else:
            assert [row["ids"] for row in matchrec.sql(spark, query).collect()] == [[3, 2, 1, 0]]


# Expressions that Sail computes unchanged, and their values in the only match.
UNCHANGED: dict[str, Any] = {
    "FIRST(-n)": Decimal("-0.50"),
    "FIRST(CAST(-n AS DOUBLE))": -0.5,
    "transform(array(n), x -> -x)": [Decimal("-3.50")],
}


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(("measure", "value"), UNCHANGED.items(), ids=UNCHANGED.keys())
def test_negated_decimals_in_arguments_are_right_or_rejected(
    spark: SparkSession, measure: str, value: Any, ansi: str
) -> None:
    query = f"""SELECT * FROM {ROWS} MATCH_RECOGNIZE (ORDER BY id MEASURES {measure} AS m
        PATTERN (A+)
        DEFINE A AS id >= 0)"""
    with settings(spark, ansi__enabled=ansi):
        if find_backend(spark).engine == "Sail" and ansi == "false":
            with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="write 0 - x"):
                matchrec.sql(spark, query)
        else:
            assert [row["m"] for row in matchrec.sql(spark, query).collect()] == [value]


# Columns whose names are not one word.
QUOTED_COLUMNS = ("unit price", "net-price", "a`b", "größe in €", "€")


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(("key", "negates"), {"-n": True, "0 - n": False, "-id": False}.items())
def test_negated_decimals_in_keys_of_patterns_are_right_or_rejected(
    spark: SparkSession, key: str, negates: bool, ansi: str
) -> None:
    pattern = matchrec.Pattern.begin("a").where("id >= 0").one_or_more()
    rows = spark.sql(f"SELECT * FROM {ROWS}")
    with settings(spark, ansi__enabled=ansi):
        if find_backend(spark).engine == "Sail" and ansi == "false" and negates:
            with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="write 0 - x"):
                matchrec.match_pattern(rows, pattern, order_by=key)
        else:
            matches = matchrec.match_pattern(rows, pattern, order_by=key).collect()
            assert [event["id"] for event in matches[0]["a"]] == [3]


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("column", QUOTED_COLUMNS)
def test_negated_columns_with_quoted_names_are_right_or_rejected(
    spark: SparkSession, column: str, ansi: str
) -> None:
    name = f"`{column.replace('`', '``')}`"
    query = f"""SELECT * FROM (SELECT id, n AS {name} FROM {ROWS}) MATCH_RECOGNIZE (ORDER BY id
        MEASURES LAST(CAST(- {name} AS DOUBLE)) AS m PATTERN (A+) DEFINE A AS id >= 0)"""
    with settings(spark, ansi__enabled=ansi):
        if find_backend(spark).engine == "Sail" and ansi == "false":
            with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="write 0 - x"):
                matchrec.sql(spark, query)
        else:
            assert [row["m"] for row in matchrec.sql(spark, query).collect()] == [-3.5]


# Negations of decimals that are in no column, and their values in the last row.
COMPUTED_DECIMALS = {
    "- CAST(id AS DECIMAL(10, 2))": -3.0,
    "- CAST(id AS dec(10, 2))": -3.0,
    "- CAST(id AS NUMERIC(10, 2))": -3.0,
    "- (id * 1.5)": -4.5,
    "- (id + .5)": -3.5,
    "- (id * 2BD)": -6.0,
    "- (id * 15e-1BD)": -4.5,
    "- (id + 10000000000000000000)": -1.0000000000000000003e19,
    "- ceil(id + 0D, 1)": -3.0,
    "- extract(SECOND FROM timestamp_seconds(id))": -3.0,
}


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(
    ("negation", "value"), COMPUTED_DECIMALS.items(), ids=COMPUTED_DECIMALS.keys()
)
def test_negated_computed_decimals_are_right_or_rejected(
    spark: SparkSession, negation: str, value: float, ansi: str
) -> None:
    query = f"""SELECT * FROM range(4) MATCH_RECOGNIZE (ORDER BY id
        MEASURES LAST(CAST({negation} AS DOUBLE)) AS m PATTERN (A+) DEFINE A AS id >= 0)"""
    with settings(spark, ansi__enabled=ansi):
        if find_backend(spark).engine == "Sail" and ansi == "false":
            with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="write 0 - x"):
                matchrec.sql(spark, query)
        else:
            assert [row["m"] for row in matchrec.sql(spark, query).collect()] == [value]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_other_numbers_are_negated(spark: SparkSession, ansi: str) -> None:
    # The column `n` has decimals. `n of x` has not, although `n` is a word of its name.
    query = f"""SELECT * FROM (SELECT id, n, id AS `n of x`, n AS `x y` FROM {ROWS})
        MATCH_RECOGNIZE (ORDER BY id MEASURES LAST(- id) AS m,
        LAST(CAST(- (id * 1.5D) AS DOUBLE)) AS d PATTERN (A+) DEFINE A AS id >= 0)"""
    with settings(spark, ansi__enabled=ansi):
        (row,) = matchrec.sql(spark, query).collect()
    assert (row["m"], row["d"]) == (-3, -4.5)


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_when_a_session_needs_another_spelling(spark: SparkSession, ansi: str) -> None:
    with settings(spark, ansi__enabled=ansi):
        is_needed = find_backend(spark).engine == "Sail" and ansi == "false"
        assert negates_to_scale_ten(spark) is is_needed
