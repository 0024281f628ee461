"""Functions of texts, against Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession

from matchrec.conditions.functions.texts import TEXTS
from matchrec.conditions.types import INT, STRING
from tests.quick.scale import INTERPRETED, some_of
from tests.spark.functions import arguments as some
from tests.spark.functions.asked import Case, Table, call

ONE = "length len char_length character_length upper ucase lower lcase trim ltrim rtrim"
TWO = (
    "concat trim ltrim rtrim instr locate position replace startswith endswith contains levenshtein"
)
SEPARATED = ("a", "ab", ",", "", "X", " ", "aa", "😀", None, "é")


def test_one_text(spark: SparkSession) -> None:
    rows = some.rows((some.TEXTS,), (some.text_of,), 400)
    Table((STRING,), rows).check(spark, [call(name, 0) for name in ONE.split()])


def test_every_character_in_upper_and_lower_case(spark: SparkSession) -> None:
    codes = [code for code in range(0x10FFFF) if not 0xD800 <= code < 0xE000]
    rows = [("".join(map(chr, codes[i : i + 64])),) for i in range(0, len(codes), 64)]
    rows = [*rows[:128], *some_of(rows[128:])]
    Table((STRING,), rows).check(spark, [call(one, 0) for one in ("upper", "lower")])


def test_two_texts(spark: SparkSession) -> None:
    rows = some.rows((some.TEXTS, (*SEPARATED, *some.TEXTS[:9])), (some.text_of, some.text_of), 300)
    cases = [call(name, 0, 1) for name in TWO.split()]
    cases += [Case("||", "{0} || {1}", (0, 1)), call("locate", 1, 0)]
    Table((STRING, STRING), rows).check(spark, cases)


def test_text_and_numbers(spark: SparkSession) -> None:
    rows = some.rows(
        (some.TEXTS, some.INTS, some.INTS), (some.text_of, some.small, some.small), 300
    )
    cases = [call(name, 0, 1) for name in ("left", "right", "substring", "substr")]
    cases += [call("substring", 0, 1, 2)]
    Table((STRING, INT, INT), rows).check(spark, cases)


def test_texts_and_a_number(spark: SparkSession) -> None:
    rows = some.rows(
        (some.TEXTS, SEPARATED, some.INTS), (some.text_of, some.text_of, some.small), 400
    )
    if INTERPRETED:  # there Spark takes NULL for 0 as the third argument of levenshtein
        rows = [row for row in rows if row[2] is not None]
    rows = [row for row in rows if row[2] != -(2**31)]  # at which Spark's split_part breaks
    names = "locate position split_part levenshtein"
    cases = [call(name, 0, 1, 2) for name in names.split()]
    Table((STRING, STRING, INT), rows).check(spark, cases)


def test_three_texts(spark: SparkSession) -> None:
    rows = some.rows((some.TEXTS, SEPARATED, SEPARATED), (some.text_of,) * 3, 300)
    Table((STRING,) * 3, rows).check(spark, [call("replace", 0, 1, 2)])


def test_all_are_asked_for() -> None:
    asked = {*ONE.upper().split(), *TWO.upper().split()}
    patterns = {"LIKE", "ILIKE"}  # for which there are tests of patterns
    assert TEXTS.keys() - patterns <= asked | {
        "||",
        "LEFT",
        "RIGHT",
        "SUBSTRING",
        "SUBSTR",
        "SPLIT_PART",
    }
