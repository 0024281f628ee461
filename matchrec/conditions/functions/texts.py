"""Functions of texts: parts, letters and LIKE. Texts are counted in code points, as in Spark."""

from __future__ import annotations

import fnmatch
import glob
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from matchrec.conditions.functions.function import (
    Function,
    FunctionError,
    UndecidedError,
    by_name,
    function,
)
from matchrec.conditions.types import BOOLEAN, INT, STRING

TEXT = STRING
MOST = (1 << 31) - 1


def substring(text: str, start: int, length: int = MOST) -> str:
    """From the start-th code point on, from 1; from the end where it is negative."""
    begin = start - 1 if start > 0 else (len(text) + start if start < 0 else 0)
    end = begin + length
    return text[max(begin, 0) : max(end, 0)]


def trimming(strip: Callable[[str, str], str]) -> Function:
    """Of one text; or, of two, what the first has is taken from the second."""

    def trim(one: str, other: str | None = None) -> str:
        return strip(one, " ") if other is None else strip(other, one)

    return function((TEXT, TEXT), STRING, trim, least=1)


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


def split_part(text: str, separator: str, number: int) -> str:
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


# Letters with a case that Unicode 12 did not have, the oldest of a Spark or a Python.
NEW_CASES = re.compile(
    "[\u019b\u0264\u1c89\u1c8a\u2c2f\u2c5f\ua7c0-\ua7ff\U00010570-\U000105bf\U00010d50-\U00010d8f"
    "\U00016ea0-\U00016edf]"
)


def check_letters(text: str) -> str:
    """The text, if its letters have had their cases for long."""
    found = NEW_CASES.search(text)
    if found is not None:
        raise UndecidedError(f"the case of U+{ord(found[0]):04X} depends on the version of Unicode")
    return text


def lower(text: str) -> str:
    return check_letters(text).lower()


# LIKE and ILIKE: `%` is any text, `_` any character, and the escape takes that from them.

# What Python's patterns of file names have in the place of that.
WILD = {"%": "*", "_": "?"}


@lru_cache(maxsize=1000)
def like(pattern: str, escape: str) -> re.Pattern[str]:
    """What matches whole texts, in linear time. Raises where the escape is before anything else."""
    parts: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            escaped = next(characters, "")
            if escaped not in ("%", "_", escape):
                told = f"{escape!r} escapes {escaped!r} in {pattern!r}"
                raise FunctionError(f"INVALID_FORMAT: {told}")
            parts.append(glob.escape(escaped))
        else:
            parts.append(WILD.get(character) or glob.escape(character))
    return re.compile(fnmatch.translate("".join(parts)))


def is_like(text: str, pattern: str, escape: str = "\\") -> bool:
    return like(pattern, escape).match(text) is not None


def is_ilike(text: str, pattern: str, escape: str = "\\") -> bool:
    return is_like(lower(text), lower(pattern), escape)


TEXTS: Mapping[str, Function] = by_name(
    {
        "|| CONCAT": function((TEXT,), STRING, lambda *parts: "".join(parts), repeats=True),
        "LENGTH LEN CHAR_LENGTH CHARACTER_LENGTH": function((TEXT,), INT, len),
        "UPPER UCASE": function((TEXT,), STRING, lambda text: check_letters(text).upper()),
        "LOWER LCASE": function((TEXT,), STRING, lower),
        "SUBSTRING SUBSTR": function((TEXT, INT, INT), STRING, substring, least=2),
        "LEFT": function((TEXT, INT), STRING, lambda text, length: text[: max(length, 0)]),
        "RIGHT": function((TEXT, INT), STRING, lambda text, n: text[-n:] if n > 0 else ""),
        "TRIM": trimming(str.strip),
        "LTRIM": trimming(str.lstrip),
        "RTRIM": trimming(str.rstrip),
        "INSTR": function((TEXT, TEXT), INT, lambda text, part: text.find(part) + 1),
        "LOCATE POSITION": function((TEXT, TEXT, INT), INT, locate, least=2, takes_nulls=True),
        "REPLACE": function((TEXT, TEXT, TEXT), STRING, substitute, least=2),
        "STARTSWITH": function((TEXT, TEXT), BOOLEAN, str.startswith),
        "ENDSWITH": function((TEXT, TEXT), BOOLEAN, str.endswith),
        "CONTAINS": function((TEXT, TEXT), BOOLEAN, lambda text, part: part in text),
        "SPLIT_PART": function((TEXT, TEXT, INT), STRING, split_part, fails=True),
        "LEVENSHTEIN": function((TEXT, TEXT, INT), INT, levenshtein, least=2),
        "LIKE": function((TEXT, TEXT, TEXT), BOOLEAN, is_like, least=2, fails=True),
        "ILIKE": function((TEXT, TEXT, TEXT), BOOLEAN, is_ilike, least=2, fails=True),
    }
)
