"""Functions of strings have the values that Spark computes. LIKE is in test_patterns.py."""

from __future__ import annotations

from pyspark.sql import SparkSession

from matchrec.conditions.functions.texts import TEXTS
from matchrec.conditions.types import INT, STRING
from tests.quick.scale import INTERPRETED
from tests.spark.functions import arguments
from tests.spark.functions.spark_checks import ArgumentTable, FunctionCall, call

SHORT_TEXTS = ("a", "ab", ",", "", "X", " ", "aa", "😀", None, "é")


def test_functions_of_two_texts_give_the_values_of_spark(spark: SparkSession) -> None:
    rows = arguments.make_rows(
        (arguments.TEXTS, (*SHORT_TEXTS, *arguments.TEXTS[:9])),
        (arguments.draw_text, arguments.draw_text),
        300,
    )
    calls = [call(name, 0, 1) for name in ("concat", "levenshtein")]
    calls += [FunctionCall("||", "{0} || {1}", (0, 1))]
    ArgumentTable((STRING, STRING), rows).check(spark, calls)


def test_levenshtein_with_a_limit_has_sparks_values(spark: SparkSession) -> None:
    rows = arguments.make_rows(
        (arguments.TEXTS, SHORT_TEXTS, arguments.INTS),
        (arguments.draw_text, arguments.draw_text, arguments.draw_small_number),
        400,
    )
    if (
        INTERPRETED
    ):  # without code generation, Spark reads NULL as 0 in the third argument of levenshtein
        rows = [row for row in rows if row[2] is not None]
    ArgumentTable((STRING, STRING, INT), rows).check(spark, [call("levenshtein", 0, 1, 2)])


def test_all_are_asked_for() -> None:
    assert TEXTS.keys() == {"||", "CONCAT", "LEVENSHTEIN", "LIKE"}
