"""Functions of texts. A text is counted in code points, as Spark counts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from matchrec.conditions.functions.function import Function, FunctionError, function
from matchrec.conditions.functions.texts.letters import lower, upper
from matchrec.conditions.types import BOOLEAN, INT, STRING, ValueType

TEXT, WHOLE = STRING, INT
MOST = (1 << 31) - 1


def concat(*parts: str) -> str:
    return "".join(parts)


def concat_with(separator: str | None, *parts: str | None) -> str | None:
    """NULLs are left out, but for the separator."""
    if separator is None:
        return None
    return separator.join(part for part in parts if part is not None)


def substring(text: str, start: int, length: int = MOST) -> str:
    """From the start-th code point on, from 1; from the end where it is negative."""
    begin = start - 1 if start > 0 else (len(text) + start if start < 0 else 0)
    end = begin + length
    return text[max(begin, 0) : max(end, 0)]


def left(text: str, length: int) -> str:
    return text[: max(length, 0)]


def right(text: str, length: int) -> str:
    return text[max(len(text) - length, 0) :] if length > 0 else ""


def trimming(strip: Callable[[str, str], str]) -> Function:
    """Of one text; or, of two, what the first has is taken from the second."""

    def trim(one: str, other: str | None = None) -> str:
        return strip(one, " ") if other is None else strip(other, one)

    return function(texts(2), STRING, trim, least=1)


def trim_both(text: str, characters: str = " ") -> str:
    return text.strip(characters)


def find(text: str, part: str) -> int:
    """From 1; 0 where it is not in the text."""
    return text.find(part) + 1


def locate(part: str | None, text: str | None, start: int | None = 1) -> int | None:
    """From 1, not before `start`; without a start there is nothing."""
    if start is None:
        return 0
    if part is None or text is None:
        return None
    if start < 1:
        return 0
    return text.find(part, start - 1) + 1 if part else 1


def substitute(text: str, searched: str, instead: str = "") -> str:
    return text.replace(searched, instead) if searched else text


def part_of(text: str, separator: str, number: int) -> str:
    """From 1, or from the end where it is negative; nothing where there is no such part."""
    if number == 0:
        raise FunctionError("INVALID_INDEX_OF_ZERO: parts are counted from 1")
    parts = text.split(separator) if separator else [text]
    place = number - 1 if number > 0 else len(parts) + number
    return parts[place] if 0 <= place < len(parts) else ""


def levenshtein(one: str, other: str, limit: int | None = None) -> int:
    """How many characters one must change, put in or leave out; -1 where it is beyond a limit.

    A column of the table of distances is two numbers, whose bits say where it grows or falls by one
    from row to row. Source: Myers, "A Fast Bit-Vector Algorithm for Approximate String Matching".
    """
    if limit is not None and abs(len(one) - len(other)) > limit:
        return -1
    every = (1 << len(one)) - 1
    bits: dict[str, int] = {}
    for place, character in enumerate(one):
        bits[character] = bits.get(character, 0) | 1 << place
    grows, falls, distance = every, 0, len(one)
    for character in other:
        equal = bits.get(character, 0)
        same = (((equal & grows) + grows) ^ grows) | equal | falls
        up, down = falls | every & ~(same | grows), grows & same
        distance += (up > every >> 1) - (down > every >> 1) if one else 1
        up, down = up << 1 | 1, down << 1
        grows, falls = every & (down | ~(equal | falls | up)), every & up & (equal | falls)
    return distance if limit is None or distance <= limit else -1


def levenshtein_within(one: str | None, other: str | None, *limits: int | None) -> int | None:
    """With a limit or without; NULL as a limit is 0."""
    if one is None or other is None:
        return None
    return levenshtein(one, other, *(limit or 0 for limit in limits))


def texts(count: int) -> tuple[ValueType, ...]:
    return (TEXT,) * count


LOCATE = function((TEXT, TEXT, WHOLE), INT, locate, least=2, takes_nulls=True)
CONCAT = replace(function((TEXT,), STRING, concat), repeats=True)
LENGTH = function((TEXT,), INT, len)
UPPER = function((TEXT,), STRING, upper)
LOWER = function((TEXT,), STRING, lower)
SUBSTRING = function((TEXT, WHOLE, WHOLE), STRING, substring, least=2)

STRINGS: Mapping[str, Function] = {
    "||": CONCAT,
    "CONCAT": CONCAT,
    "CONCAT_WS": replace(CONCAT, build=lambda _: concat_with, takes_nulls=True),
    "LENGTH": LENGTH,
    "LEN": LENGTH,
    "CHAR_LENGTH": LENGTH,
    "CHARACTER_LENGTH": LENGTH,
    "UPPER": UPPER,
    "UCASE": UPPER,
    "LOWER": LOWER,
    "LCASE": LOWER,
    "SUBSTRING": SUBSTRING,
    "SUBSTR": SUBSTRING,
    "LEFT": function((TEXT, WHOLE), STRING, left),
    "RIGHT": function((TEXT, WHOLE), STRING, right),
    "TRIM": trimming(str.strip),
    "LTRIM": trimming(str.lstrip),
    "RTRIM": trimming(str.rstrip),
    "BTRIM": function(texts(2), STRING, trim_both, least=1),
    "INSTR": function(texts(2), INT, find),
    "LOCATE": LOCATE,
    "POSITION": LOCATE,
    "REPLACE": function(texts(3), STRING, substitute, least=2),
    "STARTSWITH": function(texts(2), BOOLEAN, str.startswith),
    "ENDSWITH": function(texts(2), BOOLEAN, str.endswith),
    "CONTAINS": function(texts(2), BOOLEAN, lambda text, part: part in text),
    "SPLIT_PART": function((TEXT, TEXT, WHOLE), STRING, part_of),
    "LEVENSHTEIN": function(
        (TEXT, TEXT, WHOLE), INT, levenshtein_within, least=2, takes_nulls=True
    ),
}
