"""LIKE and regular expressions, against Spark: what is taken means the same."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession

from matchrec.conditions.functions.function import FunctionError
from matchrec.conditions.functions.texts import known_pattern
from matchrec.conditions.types import STRING
from tests.quick.scale import SEED, examples
from tests.spark.functions import arguments as some
from tests.spark.functions.asked import Case, Table, call

LIKED = (
    "", "%", "_", "a%", "%b%", "_b_", "a\\%", "\\\\", "\\_%", "%%", "A%", "!%", "!!", "a!_",
    "\\a", "a\\", "__", "日_語", "%😀", "😀_", "%\n%", "[a]", ".*", "(", "İ%", "Σ%",
)  # fmt: skip
EXPRESSIONS = (
    "", "a", "^a", "b$", "a.b", "a*", "a+?", "(a|b)", "(a|b)+c", "[a-c]", "[^a-c]", "[\\d.]+",
    "\\w+", "\\s", "\\d{2,3}", "(\\w)(\\d)?", "(?i)AB", "(?s)a.b", "a|", "(?:ab)+", "(?<n>a)b",
    "\\bab\\b", "\\.", "\\$", "x{2}", "[-a]", "[a\\-z]", "^$", "$", ".",
    "\\Aa\\z", "b\\Z", "\\u00e9", "\\x41", "[é日]", "😀", "(a)(b)(c)", "\\n", "[\\t ]+", "a{0}b",
    "(a?)b", "\\S+$", "}", "]",
)  # fmt: skip
SEARCHED = (
    None, "", "a", "ab", "abc", "aab", "b\n", "a\nb", "ab\r\n", "a\r\nb", "b\r", "b\u2028", "AB",
    "x.y", "12", "a1b22c333", "cab ab", "é", "a é", "日本語", "x😀y", "$", "a-z", "xx", "a\tb  c",
    "K", "ſ", "}]",
)  # fmt: skip
DIFFERENT = (
    "a++", "a*+", "[a[b]]", "[a&&b]", "\\p{L}", "(?m)^a", "(?x)a b", "\\Qa\\E", "(a*)*",
    "(a|b*)+", "\\1", "(a)\\1", "\\h", "\\R", "\\G", "a{,2}", "{", "(?>a)", "[]a]", "\\0", "a**",
    "(?<=a*)b", "(", ")", "[", "[z-a]", "\\", "\\B", "(?=(a))", "a{1001}", "\\ud800", "*a",
    "[\\w-z]", "(?i:a)", "a(?i)b", "a(?=b)", "a(?!b)", "(?<=a)b", "(?<!a)b", "(?<a>a)(?<a>b)",
    "((a{900}){900}){900}",
)  # fmt: skip


def texts(drawn: random.Random) -> str:
    return some.text_of(drawn, "aabbc12 .\n\r😀éA", 7)


def expressions(drawn: random.Random) -> str:
    """An expression that is taken."""
    while True:
        text = some.text_of(drawn, "aabbc.*+?|()[]^$\\dw1-{}2,:é", 8)
        try:
            known_pattern(text)
        except FunctionError:
            continue
        return text


def test_like(spark: SparkSession) -> None:
    rows = some.rows((some.TEXTS, LIKED), (some.text_of, lambda one: one.choice(LIKED)), 200)
    cases = [
        Case(name, f"{{0}} {name} {{1}}{escape}", (0, 1), ())
        for name in ("LIKE", "ILIKE")
        for escape in ("",)
    ]
    Table((STRING, STRING), rows).check(spark, cases)


@pytest.mark.parametrize("name", ["LIKE", "ILIKE"])
def test_like_with_an_escape(spark: SparkSession, name: str) -> None:
    rows = some.rows((some.TEXTS, LIKED, ("!",)), (some.text_of,) * 2 + (lambda _: "!",), 100)
    case = Case(name, f"{{0}} {name} {{1}} ESCAPE '!'", (0, 1, 2))
    Table((STRING,) * 3, rows).check(spark, [case])


def test_expressions(spark: SparkSession) -> None:
    rows = some.rows((SEARCHED, EXPRESSIONS), (texts, expressions), 1000, most=examples(1000))
    cases = [call("regexp_like", 0, 1), Case("RLIKE", "{0} RLIKE {1}", (0, 1))]
    Table((STRING, STRING), rows).check(spark, cases)


@pytest.mark.parametrize("text", DIFFERENT)
def test_what_is_read_in_different_ways_is_refused(text: str) -> None:
    with pytest.raises(FunctionError):
        known_pattern(text)


def test_random_texts_are_taken_or_refused() -> None:
    drawn = random.Random(SEED)
    for _ in range(examples(10_000)):
        text = some.text_of(drawn, "ab.*+?|()[]^$\\dwbA1-{}2,:<>=!iQEé&", 10)
        try:
            known_pattern(text)
        except FunctionError:
            continue
