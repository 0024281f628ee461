"""A window whose length is 0, negative or NULL is an error when the query is built."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import lit

import matchrec

ZERO = "WITHIN needs a length above 0, not 0 or less [within-not-positive]"
NEGATIVE = "WITHIN needs a length above 0, not a negative length [within-not-positive]"
NULL = "WITHIN needs a length above 0, not NULL [within-not-positive]"


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """Return three rows with a number, a time and a day."""
    return spark.sql(
        "SELECT n, timestamp_seconds(n) AS ts, date_add(DATE'2024-01-01', n) AS day "
        "FROM VALUES (1), (2), (4) AS v (n)"
    )


def write_query(order: str, within: str) -> str:
    """Return a query with a window."""
    return f"""SELECT c FROM {{rows}} MATCH_RECOGNIZE (ORDER BY {order} MEASURES count(*) AS c
  PATTERN (A+) WITHIN {within}
  DEFINE A AS TRUE)"""


def catch_error(rows: DataFrame, order: str, within: str, args: Any = None) -> tuple[str, str]:
    """Return the message of the error, and the text above its carets."""
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(rows.sparkSession, write_query(order, within), args, rows=rows)
    lines = str(caught.value).split("\n")
    carets = lines[3]
    marked = lines[2][carets.index("^") : carets.rindex("^") + 1]
    return lines[0], marked


LITERALS = [
    ("ts", "INTERVAL '0' SECOND"),
    ("ts", "INTERVAL 0 SECONDS"),
    ("ts", "INTERVAL -5 SECOND"),
    ("ts", "INTERVAL '-5' SECOND"),
    ("ts", "- INTERVAL 5 SECOND"),
    ("ts", "INTERVAL 0 MONTH"),
    ("ts", "INTERVAL '-1' MONTH"),
    ("ts", "INTERVAL '0 00:00:00' DAY TO SECOND"),
    ("day", "INTERVAL 0 DAYS"),
    ("day", "INTERVAL 0 MONTH"),
    ("n", "0"),
    ("n", "-1"),
    ("n", "0L"),
    ("n", "0.0"),
]
EXPRESSIONS = [
    ("ts", "INTERVAL 5 SECOND - INTERVAL 5 SECOND"),
    ("ts", "INTERVAL 5 SECOND * 0"),
    ("n", "1 - 1"),
    ("n", "-(1)"),
    ("n", "CAST('0' AS INT)"),
    ("n", "0e0"),
]


@pytest.mark.parametrize(("order", "within"), [*LITERALS, *EXPRESSIONS])
def test_constant_lengths_of_zero_or_less_are_rejected(
    rows: DataFrame, order: str, within: str
) -> None:
    is_negative = within.startswith(("-1", "INTERVAL -", "INTERVAL '-"))
    assert catch_error(rows, order, within) == (NEGATIVE if is_negative else ZERO, within)


@pytest.mark.parametrize("end", [" BETWEEN ROWS", " FROM A TO B"])
def test_windows_inside_of_a_match(rows: DataFrame, end: str) -> None:
    text = write_query("n", f"0{end}").replace("A+", "A+ B")
    with pytest.raises(matchrec.MatchRecognizePlanError, match="WITHIN needs a length above 0"):
        matchrec.sql(rows.sparkSession, text, rows=rows)


@pytest.mark.parametrize("order", ["n", "ts"])
def test_a_length_of_null_is_rejected(rows: DataFrame, order: str) -> None:
    value = "CAST(NULL AS INT)" if order == "n" else "CAST(NULL AS INTERVAL SECOND)"
    assert catch_error(rows, order, value) == (NULL, value)


@pytest.mark.parametrize("value", [0, -1, 0.0])
def test_a_number_that_is_not_positive_is_rejected(rows: DataFrame, value: float) -> None:
    sentence, marked = catch_error(rows, "n", ":gap", {"gap": value})
    assert sentence.startswith(f":gap in WITHIN must be more than 0, but is {value} [")
    assert marked == ":gap"
    assert catch_error(rows, "n", ":gap * 1", {"gap": value}) == (ZERO, ":gap * 1")
    assert catch_error(rows, "n", "? * 1", [value]) == (ZERO, "? * 1")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (timedelta(0), "0:00:00"),
        (timedelta(seconds=-1), "-1 day, 23:59:59"),
        ("0 seconds", "'0 seconds'"),
    ],
)
def test_a_time_that_is_not_positive_is_rejected(
    rows: DataFrame, value: object, shown: str
) -> None:
    sentence, marked = catch_error(rows, "ts", ":gap", {"gap": value})
    assert sentence == (
        f":gap in WITHIN must be more than 0, but is {shown} [not-a-positive-duration]"
    )
    assert marked == ":gap"


def test_parameters_of_zero_or_null_are_rejected(rows: DataFrame) -> None:
    assert catch_error(rows, "n", ":gap", {"gap": lit(0)}) == (ZERO, ":gap")
    assert catch_error(rows, "n", ":gap", {"gap": None}) == (NULL, ":gap")
    text = "INTERVAL '0 0' DAY TO HOUR"
    assert catch_error(rows, "ts", ":gap", {"gap": text}) == (ZERO, ":gap")


@pytest.mark.parametrize(
    ("order", "within", "args", "counts"),
    [
        ("n", "3 - 1", None, [2, 1]),  # 1 and 2; 4 is alone
        ("n", ":gap", {"gap": 2}, [2, 1]),
        ("n", ":gap + 2", {"gap": 2}, [3]),
        ("ts", "INTERVAL 1 SECOND * 4", None, [3]),
        ("ts", "INTERVAL 1 MONTH", None, [3]),
        ("day", "INTERVAL 1 MONTH", None, [3]),
    ],
)
def test_constant_lengths_above_zero_are_accepted(
    rows: DataFrame, order: str, within: str, args: Any, counts: list[int]
) -> None:
    matches = matchrec.sql(rows.sparkSession, write_query(order, within), args, rows=rows)
    assert sorted(matches.collect(), reverse=True) == [Row(c=count) for count in counts]


@pytest.mark.parametrize("within", ["0", "0 seconds", "0 hours 0 seconds", "INTERVAL 0 MONTH"])
def test_a_length_of_zero_is_rejected_in_sase(rows: DataFrame, within: str) -> None:
    order = "n" if within == "0" else "ts"
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        matchrec.match_sase(rows, f"PATTERN SEQ(* a, * b) WITHIN {within}", order_by=order)
    assert str(caught.value).split("\n")[0] == ZERO


def test_a_length_of_zero_is_rejected_in_rules(rows: DataFrame) -> None:
    rule = "MEASURES count(*) AS c PATTERN (A+) WITHIN 1 - 1 DEFINE A AS TRUE"
    with pytest.raises(matchrec.MatchRecognizePlanError, match="WITHIN needs a length above 0"):
        matchrec.match_rules(rows, {"empty": rule}, order_by="n")


def test_a_length_of_zero_is_rejected_in_limit_duration(rows: DataFrame) -> None:
    text = """SELECT * FROM {rows} MATCH_RECOGNIZE (LIMIT DURATION (minute, 0)
  MEASURES LAST(A.n) AS n PATTERN (A B) DEFINE A AS TRUE, B AS TRUE)"""
    text = text.replace("{rows}", "{rows} TIMESTAMP BY ts")
    with pytest.raises(matchrec.MatchRecognizePlanError, match="WITHIN needs a length above 0"):
        matchrec.sql(rows.sparkSession, text, dialect="azure", rows=rows)


@pytest.mark.parametrize(
    ("number", "type_name", "unit"),
    [("30s", "SMALLINT", "SECOND"), ("30D", "DOUBLE", "DAY"), ("2y", "TINYINT", "YEAR")],
)
def test_numbers_that_look_like_times(
    rows: DataFrame, number: str, type_name: str, unit: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizeParseError) as caught:
        matchrec.sql(rows.sparkSession, write_query("n", number), rows=rows)
    lines = str(caught.value).split("\n")
    assert lines[0] == f"`{number}` in WITHIN is not a length of time [unit-without-interval]"
    assert (
        lines[-2] == f"  note: Spark SQL reads it as the number {number[:-1]} of type {type_name}"
    )
    assert f"write WITHIN INTERVAL {number[:-1]} {unit}, or {number[:-1]} for" in lines[-1]


def test_numbers_with_a_type_are_accepted(rows: DataFrame) -> None:
    matches = matchrec.sql(rows.sparkSession, write_query("n", "30L"), rows=rows)
    assert matches.collect() == [Row(c=3)]
