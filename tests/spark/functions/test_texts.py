"""Functions of texts, against Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession

from matchrec.conditions.functions.texts.strings import STRINGS
from matchrec.conditions.types import BIGINT, INT, STRING
from tests.quick.scale import some_of
from tests.spark.functions import arguments as some
from tests.spark.functions.asked import Case, Table, call

ONE = (
    "length len char_length character_length octet_length bit_length upper ucase lower lcase"
    " initcap trim ltrim rtrim btrim reverse ascii soundex md5 sha sha1 crc32 hex base64 mask"
    " unhex url_encode url_decode"
)
TWO = (
    "concat concat_ws trim ltrim rtrim btrim instr locate position replace startswith"
    " endswith contains find_in_set levenshtein"
)
SEPARATED = ("a", "ab", ",", "", "X", " ", "aa", "😀", None, "é")


def test_one_text(spark: SparkSession) -> None:
    rows = some.rows((some.TEXTS,), (some.text_of,), 400)
    Table((STRING,), rows).check(spark, [call(name, 0) for name in ONE.split()])


def test_every_character_in_upper_and_lower_case(spark: SparkSession) -> None:
    codes = [code for code in range(0x10FFFF) if not 0xD800 <= code < 0xE000]
    rows = [("".join(map(chr, codes[i : i + 64])),) for i in range(0, len(codes), 64)]
    rows = [*rows[:128], *some_of(rows[128:])]
    Table((STRING,), rows).check(spark, [call(one, 0) for one in ("upper", "lower", "mask")])


def test_two_texts(spark: SparkSession) -> None:
    rows = some.rows((some.TEXTS, (*SEPARATED, *some.TEXTS[:9])), (some.text_of, some.text_of), 300)
    cases = [call(name, 0, 1) for name in TWO.split()]
    cases += [Case("||", "{0} || {1}", (0, 1)), call("concat_ws", 1, 0, 0, 1)]
    cases += [call(name, 1, 0) for name in ("find_in_set", "locate")]
    Table((STRING, STRING), rows).check(spark, cases)


def test_text_and_numbers(spark: SparkSession) -> None:
    rows = some.rows(
        (some.TEXTS, some.INTS, some.INTS), (some.text_of, some.small, some.small), 300
    )
    cases = [call(name, 0, 1) for name in ("left", "right", "substring", "substr", "lpad", "rpad")]
    cases += [call("substring", 0, 1, 2), call("repeat", 0, 1), call("space", 1)]
    Table((STRING, INT, INT), rows).check(spark, cases)


def test_texts_and_a_number(spark: SparkSession) -> None:
    rows = some.rows(
        (some.TEXTS, SEPARATED, some.INTS), (some.text_of, some.text_of, some.small), 400
    )
    names = "locate position split_part substring_index levenshtein overlay"
    cases = [call(name, 0, 1, 2) for name in names.split()]
    cases += [call("lpad", 0, 2, 1), call("rpad", 0, 2, 1), call("overlay", 0, 1, 2, 2)]
    cases += [call("elt", 2, 0, 1, 0)]
    Table((STRING, STRING, INT), rows).check(spark, cases)


def test_three_texts(spark: SparkSession) -> None:
    rows = some.rows((some.TEXTS, SEPARATED, SEPARATED), (some.text_of,) * 3, 300)
    Table((STRING,) * 3, rows).check(spark, [call("translate", 0, 1, 2), call("replace", 0, 1, 2)])


def test_numbers(spark: SparkSession) -> None:
    rows = some.rows(((None, 0, 65, 255, 256, 321, -1, 2**63 - 1, -(2**63)),), (some.small,))
    Table((BIGINT,), rows).check(spark, [call(name, 0) for name in ("chr", "char", "hex")])


def test_digests_of_so_many_bits(spark: SparkSession) -> None:
    rows = [(text, bits) for text in some.TEXTS for bits in (0, 1, 224, 256, 384, 512, None)]
    Table((STRING, INT), rows).check(spark, [call("sha2", 0, 1)])


def test_numbers_that_are_checked_and_shown(spark: SparkSession) -> None:
    texts = (
        *some.NUMERALS,
        *some.TEXTS,
        "79927398713",
        "79927398710",
        "0",
        "00",
        "4111111111111111",
    )
    rows = [(text, number) for text in texts for number in (None, 0, 7, -12345)]
    formats = ("%s:%d", "%-6s|%3d", "%6s|%05d%%", "%s", "d", "%s %s")
    cases = [
        Case("FORMAT_STRING", f"{name}({{{place}}}, {{0}}, {{1}})", (place, 0, 1))
        for name, place in zip(("format_string", "printf") * 3, range(2, 8), strict=True)
    ]
    known = [(*row, *formats) for row in rows]
    Table((STRING, INT, *[STRING] * 6), known).check(spark, [call("luhn_check", 0), *cases])


def test_all_are_asked_for() -> None:
    asked = {*ONE.upper().split(), *TWO.upper().split()}
    others = "|| LEFT RIGHT SUBSTRING SUBSTR LPAD RPAD REPEAT SPACE SPLIT_PART SUBSTRING_INDEX"
    assert STRINGS.keys() <= asked | set(f"{others} OVERLAY TRANSLATE CHR CHAR ELT".split())
