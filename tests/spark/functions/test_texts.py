"""Functions of texts, against Spark; LIKE is in test_patterns.py."""

from __future__ import annotations

from pyspark.sql import SparkSession

from matchrec.conditions.functions.texts import TEXTS
from matchrec.conditions.types import INT, STRING
from tests.quick.scale import INTERPRETED
from tests.spark.functions import arguments as some
from tests.spark.functions.asked import Case, Table, call

SEPARATED = ("a", "ab", ",", "", "X", " ", "aa", "😀", None, "é")


def test_two_texts(spark: SparkSession) -> None:
    rows = some.make_rows(
        (some.TEXTS, (*SEPARATED, *some.TEXTS[:9])), (some.draw_text, some.draw_text), 300
    )
    cases = [call(name, 0, 1) for name in ("concat", "levenshtein")]
    cases += [Case("||", "{0} || {1}", (0, 1))]
    Table((STRING, STRING), rows).check(spark, cases)


def test_texts_and_a_number(spark: SparkSession) -> None:
    rows = some.make_rows(
        (some.TEXTS, SEPARATED, some.INTS),
        (some.draw_text, some.draw_text, some.draw_small_number),
        400,
    )
    if INTERPRETED:  # there Spark takes NULL for 0 as the third argument of levenshtein
        rows = [row for row in rows if row[2] is not None]
    Table((STRING, STRING, INT), rows).check(spark, [call("levenshtein", 0, 1, 2)])


def test_all_are_asked_for() -> None:
    assert TEXTS.keys() == {"||", "CONCAT", "LEVENSHTEIN", "LIKE"}
