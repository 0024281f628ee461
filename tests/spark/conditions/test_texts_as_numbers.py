"""A text is compared with a number of another row as Spark compares them in one row."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import matchrec

TYPES = ("TINYINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(5, 2)")
NUMBERS = ("9", "10", "-3", "100", "0")
TEXTS = ("9", " 10 ", "-3", "100", "0", "+7", None)
LOOSE_TEXTS = (*TEXTS, "9.5", "x", "", "1e2")
SIGNS = ("=", "<>", "<", "<=", ">", ">=", "<=>")


@pytest.fixture(params=[True, False], ids=["ansi", "not ansi"])
def is_ansi(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[bool]:
    """Set the ANSI mode, and return whether it is on."""
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", str(request.param).lower())
    yield request.param
    spark.conf.set("spark.sql.ansi.enabled", before)


@pytest.mark.parametrize("type_", TYPES)
def test_each_comparison_of_a_number_with_a_text_is_as_in_spark(
    spark: SparkSession, type_: str, is_ansi: bool
) -> None:
    """Each pair is a partition: its first row has the number, and its second row the text."""
    texts = TEXTS if is_ansi else LOOSE_TEXTS
    quoted = ["NULL" if text is None else f"'{text}'" for text in texts]
    values = ", ".join(f"({number}, {text})" for number in NUMBERS for text in quoted)
    spark.sql(
        f"SELECT row_number() OVER (ORDER BY x, s) AS p, CAST(x AS {type_}) AS x, s "
        f"FROM VALUES {values} AS v(x, s)"
    ).createOrReplaceTempView("pairs")
    rows = "SELECT p, 1 AS t, x, NULL AS s FROM pairs UNION ALL SELECT p, 2, NULL, s FROM pairs"
    signs = "SELECT explode(sequence(0, 13)) AS sign"
    forms = [form for sign in SIGNS for form in (f"{{s}} {sign} {{x}}", f"{{x}} {sign} {{s}}")]
    over_one_row = choose_condition("sign", [form.format(s="s", x="x") for form in forms])
    over_rows = choose_condition("B.sign", [form.format(s="B.s", x="A.x") for form in forms])
    expected = spark.sql(f"SELECT p, sign FROM pairs CROSS JOIN ({signs}) WHERE {over_one_row}")
    matches = matchrec.sql(
        spark,
        f"SELECT p, sign FROM (SELECT * FROM ({rows}) CROSS JOIN ({signs})) MATCH_RECOGNIZE "
        f"(PARTITION BY p, sign ORDER BY t PATTERN (A B) DEFINE B AS {over_rows})",
    )
    assert sorted(matches.collect()) == sorted(expected.collect())
    spark.catalog.dropTempView("pairs")


def choose_condition(sign: str, conditions: list[str]) -> str:
    """Return SQL that chooses a condition by the number in a column."""
    branches = (f"WHEN {number} THEN {condition}" for number, condition in enumerate(conditions))
    return f"CASE {sign} {' '.join(branches)} END"


def test_a_text_is_compared_with_an_aggregate_as_a_number(spark: SparkSession) -> None:
    """9 is less than 3 * 4 as a number, and more as a text."""
    rows = "VALUES (1, '4'), (2, '9'), (3, '13') AS v(t, q)"
    matches = matchrec.sql(
        spark,
        f"SELECT * FROM {rows} MATCH_RECOGNIZE (ORDER BY t MEASURES B.q AS q PATTERN (A C* B) "
        "DEFINE B AS B.q > AVG(CAST(A.q AS INT)) * 3)",
    )
    assert [tuple(row) for row in matches.collect()] == [("13",)]


def test_in_compares_as_texts_without_ansi(spark: SparkSession) -> None:
    """Without ANSI mode '9.0' = 9 is true, but '9.0' IN (9) is false, so IN is rejected."""
    rows = "VALUES (1, '9.0', 9), (2, '9.0', 9) AS v(t, s, n)"
    query = (
        f"SELECT * FROM {rows} MATCH_RECOGNIZE (ORDER BY t MEASURES B.t AS t PATTERN (A B) "
        "DEFINE B AS B.s IN (A.n, 7))"
    )
    before = spark.conf.get("spark.sql.ansi.enabled")
    try:
        spark.conf.set("spark.sql.ansi.enabled", "true")
        assert [
            tuple(row) for row in matchrec.sql(spark, query.replace("'9.0'", "'9'")).collect()
        ] == [(2,)]
        spark.conf.set("spark.sql.ansi.enabled", "false")
        with pytest.raises(matchrec.MatchRecognizeError, match="`IN` in DEFINE cannot combine"):
            matchrec.sql(spark, query)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
