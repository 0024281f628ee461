"""An error about the types of two values in DEFINE has a hint that works."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec.spark.session import is_connect

pytestmark = pytest.mark.one_of(2)

ROWS = """SELECT id, CAST(id AS INT) AS i, CAST(id AS STRING) AS s, id > 1 AS b,
  CAST(CAST(id AS STRING) AS BINARY) AS r, array(id) AS a, map(id, id) AS c,
  CAST(id AS DECIMAL(38, 0)) AS z, CAST(0 AS DECIMAL(38, 38)) AS w,
  DATE'2024-01-01' + CAST(id AS INT) AS d,
  TIMESTAMP'2024-01-01 00:00:00' + make_dt_interval(CAST(id AS INT)) AS t,
  TIMESTAMP_NTZ'2024-01-01 00:00:00' + make_dt_interval(CAST(id AS INT)) AS n,
  make_dt_interval(CAST(id AS INT)) AS e, make_ym_interval(0, CAST(id AS INT)) AS m
  FROM range(1, 4)"""

# A rejected condition, a part of the hint, and a condition that follows the hint.
CORRECTIONS = [
    ("LAST(A.t) - FIRST(A.t) < 30", "INTERVAL '30' SECOND, or MINUTE, HOUR or DAY",
     "LAST(A.t) - FIRST(A.t) < INTERVAL '30' DAY"),
    ("LAST(A.t) - FIRST(A.t) < 30", "INTERVAL '30' SECOND",
     "LAST(A.t) - FIRST(A.t) < INTERVAL '30' SECOND"),
    ("LAST(A.d) - FIRST(A.d) > i", "write LAST(A.d) - FIRST(A.d) > i * INTERVAL '1' SECOND, or",
     "LAST(A.d) - FIRST(A.d) > i * INTERVAL '1' DAY"),
    ("m > FIRST(A.i)", "write m > INTERVAL '1' MONTH, or YEAR", "FIRST(A.m) < INTERVAL '3' MONTH"),
    ("d > FIRST(A.i)", "write unix_date(d) > FIRST(A.i) for days", "unix_date(d) > FIRST(A.i)"),
    ("t > FIRST(A.i)", "write unix_timestamp(t) > FIRST(A.i)",
     "unix_timestamp(t) > FIRST(A.i)"),
    ("n > FIRST(A.i)", "write unix_timestamp(n) > FIRST(A.i)",
     "unix_timestamp(n) > FIRST(A.i)"),
    ("i < FIRST(A.t)", "write i < unix_timestamp(FIRST(A.t))",
     "i < unix_timestamp(FIRST(A.t))"),
    ("t - FIRST(A.i) > t", "write t - INTERVAL '1' DAY, or HOUR,",
     "t - INTERVAL '30' DAY < FIRST(A.t)"),
    ("greatest(d, FIRST(A.d)) > FIRST(A.t)", "CAST(LAST(A.x) AS TIMESTAMP) for the date",
     "greatest(CAST(d AS TIMESTAMP), CAST(FIRST(A.d) AS TIMESTAMP)) > FIRST(A.t)"),
    ("n > greatest(d, FIRST(A.d))", "CAST(LAST(A.x) AS TIMESTAMP_NTZ) for the date",
     "n > CAST(FIRST(A.d) AS TIMESTAMP_NTZ)"),
    ("t > greatest(n, FIRST(A.n))", "CAST(LAST(A.x) AS TIMESTAMP) for the timestamp_ntz",
     "t > CAST(FIRST(A.n) AS TIMESTAMP)"),
    ("d + FIRST(A.e) > d", "write CAST(d AS TIMESTAMP) + FIRST(A.e)",
     "CAST(d AS TIMESTAMP) + FIRST(A.e) > t"),
    ("t > FIRST(A.e)", "write the difference of two times, such as (t - PREV(t)) > FIRST(A.e)",
     "t - FIRST(A.t) > INTERVAL '30' DAY"),
    ("t + FIRST(A.t) > t", "x - LAST(A.x) > INTERVAL", "t - FIRST(A.t) > INTERVAL '30' DAY"),
    ("d + FIRST(A.d) > d", "datediff(LAST(A.x), FIRST(A.x))", "datediff(d, FIRST(A.d)) > 1"),
    ("s - FIRST(A.i) > 1", "write CAST(s AS DOUBLE) - FIRST(A.i)",
     "CAST(s AS DOUBLE) - FIRST(A.i) > 1"),
    ("s - FIRST(A.s) > i", "CAST(LAST(A.x) AS DOUBLE)",
     "CAST(s AS DOUBLE) - CAST(FIRST(A.s) AS DOUBLE) > i"),
    ("d > FIRST(A.s)", "write d > CAST(FIRST(A.s) AS DATE)",
     "d > CAST(FIRST('2024-01-0' || A.s) AS DATE)"),
    ("FIRST(A.s) < t", "write CAST(FIRST(A.s) AS TIMESTAMP) < t",
     "CAST(FIRST('200' || A.s) AS TIMESTAMP) < t"),
    ("s = FIRST(A.b)", "write CAST(s AS BOOLEAN) = FIRST(A.b)",
     "CAST(FIRST(substr('ttt', A.i, 1)) AS BOOLEAN) = b"),
    ("b = FIRST(A.i)", "write CAST(b AS INT) = FIRST(A.i)", "CAST(b AS INT) = FIRST(A.i)"),
    ("e > FIRST(A.s)", "INTERVAL '10' MINUTE instead of FIRST(A.s)", "e > INTERVAL '10' MINUTE"),
    ("r = FIRST(A.s)", "CAST(LAST(A.x) AS STRING) for the binary",
     "CAST(r AS STRING) = FIRST(A.s)"),
    ("a = FIRST(A.s)", "size(x)", "size(a) = size(FIRST(A.a))"),
    ("c = FIRST(A.c)", "size(x)", "size(c) = size(FIRST(A.c))"),
    ("e > FIRST(A.m)", "columns of one type in the input", "i > FIRST(A.i)"),
    ("sum(A.d) > i", "write sum(unix_date(A.d))", "sum(unix_date(A.d)) > i"),
    ("sum(A.t) > i", "write sum(unix_timestamp(A.t))", "sum(unix_timestamp(A.t)) > i"),
    ("avg(A.s) > i", "write avg(CAST(A.s AS DOUBLE))", "avg(CAST(A.s AS DOUBLE)) > i"),
    ("sum(A.a) > i", "write sum(size(A.a))", "sum(size(A.a)) > i"),
    ("abs(greatest(s, FIRST(A.s))) > i", "write abs(CAST(greatest(s, FIRST(A.s)) AS DOUBLE))",
     "abs(greatest(CAST(s AS DOUBLE), CAST(FIRST(A.s) AS DOUBLE))) > i"),
]  # fmt: skip


def write_query(*conditions: str) -> str:
    """Return a query in which each condition defines a variable."""
    definitions = ", ".join(f"B{i} AS {condition}" for i, condition in enumerate(conditions))
    variables = " | ".join(f"B{i}" for i in range(len(conditions)))
    return f"""SELECT * FROM ({ROWS}) MATCH_RECOGNIZE (ORDER BY id MEASURES CLASSIFIER() AS c
      PATTERN (A ({variables})) DEFINE {definitions})"""


@pytest.mark.parametrize(("condition", "hint"), [correction[:2] for correction in CORRECTIONS])
def test_a_condition_of_two_types_is_rejected_with_a_hint(
    spark: SparkSession, condition: str, hint: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, write_query(condition))
    assert hint in str(caught.value.hint)


def test_corrected_conditions_run(spark: SparkSession) -> None:
    [row] = matchrec.sql(
        spark, write_query(*(correction[2] for correction in CORRECTIONS))
    ).collect()
    assert row.c.startswith("B")


# The same for conditions that read one row.
CORRECTIONS_OF_ONE_ROW = [
    ("(i > 1) & b", "write AND instead of &", "(i > 1) AND b"),
    ("b | (i > 1)", "write OR instead of |", "b OR (i > 1)"),
    ("~b", "write NOT b", "NOT (i > 5)"),
    ("1 < i < 4", "write 1 < i AND i < 4", "1 < i AND i < 4"),
    ("s IN (:list)", "write array_contains(:list, s)", "array_contains(:list, s)"),
    ("s.isin('1', '2')", "write x IN (1, 2)", "s IN ('1', '2')"),
    ("i > i.shift(1)", "write PREV(x)", "i > PREV(i)"),
    ("s.upper() = s", "write upper(x): a function comes before its argument", "upper(s) = s"),
]


@pytest.mark.parametrize("case", CORRECTIONS_OF_ONE_ROW)
def test_a_condition_of_one_row_is_rejected_with_a_hint(
    spark: SparkSession, case: tuple[str, str, str]
) -> None:
    condition, hint, corrected = case
    args = {"list": ["2", "3"]} if ":list" in condition else {}
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, write_query(condition), args)
    assert hint in str(caught.value.hint)
    assert matchrec.sql(spark, write_query(corrected), args).count() == 1


@pytest.mark.parametrize("name", ["any", "some", "bool_or", "every", "bool_and"])
def test_boolean_aggregates_reject_other_types(spark: SparkSession, name: str) -> None:
    """Internally they are MIN and MAX of booleans, but they must not accept other types."""
    clause = "MATCH_RECOGNIZE (ORDER BY id MEASURES {} AS c PATTERN (A+) DEFINE A AS {})"
    for measure, condition in ((f"{name}(i)", "TRUE"), ("1", f"s = {name}(A.s)")):
        with pytest.raises(matchrec.MatchRecognizeError, match=r"does not take|cannot combine"):
            matchrec.sql(spark, f"SELECT * FROM ({ROWS}) {clause.format(measure, condition)}")
    accepted = clause.format(f"{name}(b)", f"{name}(A.b) OR {name}(A.b) IS NULL OR TRUE")
    [row] = matchrec.sql(spark, f"SELECT * FROM ({ROWS}) {accepted}").collect()
    assert row.c is (name in ("any", "some", "bool_or"))


def test_texts_with_a_collation_cannot_be_compared_between_rows(spark: SparkSession) -> None:
    """`Cart` and `cart` are equal under this collation, but not after CAST alone."""
    if spark.version < "4" or is_connect(spark):
        pytest.skip("the session has no collations")
    texts = "(1, 'Cart'), (2, 'cART'), (3, 'pay') AS t(id, s)"
    rows = f"(SELECT id, s COLLATE UTF8_LCASE AS s FROM VALUES {texts})"
    clause = "MATCH_RECOGNIZE (ORDER BY id MEASURES count(*) AS n PATTERN (A B+) DEFINE B AS {})"
    with pytest.raises(
        matchrec.MatchRecognizeError, match="`=` cannot combine values of this type"
    ) as caught:
        matchrec.sql(spark, f"SELECT * FROM {rows} {clause.format('s = FIRST(A.s)')}")
    assert caught.value.hint == (
        "compare CAST(LAST(A.x) AS STRING) with CAST(x AS STRING),"
        " both in lower(...) if the collation ignores case"
    )
    corrected = "lower(CAST(s AS STRING)) = lower(CAST(FIRST(A.s) AS STRING))"
    assert matchrec.sql(spark, f"SELECT * FROM {rows} {clause.format(corrected)}").collect() == [
        (2,)
    ]
