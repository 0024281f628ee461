"""Functions of texts: parts, upper and lower case, and LIKE.

As in Spark, the characters of a text are its code points.
"""

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
    """Return a part of a text.

    >>> substring("match", 2, 3), substring("match", -2)
    ('atc', 'ch')

    Args:
        text: the text.
        start: the number of the first character, from 1, or -1 for the last one.
        length: the number of characters.
    """
    if start > 0:
        begin = start - 1
    elif start < 0:
        begin = len(text) + start
    else:
        begin = 0
    end = begin + length
    return text[max(begin, 0) : max(end, 0)]


def build_trim(strip: Callable[[str, str], str]) -> Function:
    """Return the function for TRIM(text) or TRIM(characters, text), and so on.

    Args:
        strip: removes characters from a text.
    """

    def trim(first: str, second: str | None = None) -> str:
        """Strip blanks from a text or, with two arguments, the characters `first` from `second`."""
        return strip(first, " ") if second is None else strip(second, first)

    return function((TEXT, TEXT), STRING, trim, least=1)


def locate(part: str | None, text: str | None, start: int | None = 1) -> int | None:
    """Return the position of a part of a text, from 1, that is not before `start`; else 0.

    If `start` is NULL, the result is 0.
    """
    if start is None:
        return 0
    if part is None or text is None:
        return None
    if start < 1:
        return 0
    return text.find(part, start - 1) + 1 if part else 1


def find_part(text: str, part: str) -> int:
    """Return the position of a part of a text, from 1, or 0."""
    return text.find(part) + 1


def substitute(text: str, searched: str, replacement: str = "") -> str:
    """Return a text in which a part is replaced wherever it occurs. An empty part never does."""
    return text.replace(searched, replacement) if searched else text


def split_part(text: str, separator: str, number: int) -> str:
    """Return one of the parts into which a separator divides a text.

    Args:
        text: the text.
        separator: an empty one divides nothing.
        number: the number of the part, from 1, or -1 for the last one. If there is no such part,
            the result is empty.

    Raises:
        FunctionError: the number is 0.
    """
    if number == 0:
        raise FunctionError("INVALID_INDEX_OF_ZERO: parts are counted from 1")
    parts = text.split(separator) if separator else [text]
    index = number - 1 if number > 0 else len(parts) + number
    return parts[index] if 0 <= index < len(parts) else ""


def left(text: str, length: int) -> str:
    """Return the first characters of a text."""
    return text[: max(length, 0)]


def right(text: str, length: int) -> str:
    """Return the last characters of a text."""
    return text[-length:] if length > 0 else ""


def concatenate(*texts: str) -> str:
    """Return texts one after the other."""
    return "".join(texts)


def levenshtein(source: str, target: str, limit: int | None = None) -> int:
    """Return how many characters must be changed, inserted or deleted to get `target`.

    If that is more than the limit, the result is -1.

    A column of the table of distances is two numbers. Their bits say where the distance grows or
    falls by one from row to row. Source: Myers, "A Fast Bit-Vector Algorithm for Approximate String
    Matching".
    """
    if limit is not None and abs(len(source) - len(target)) > limit:
        return -1
    all_rows = (1 << len(source)) - 1
    rows_of_character: dict[str, int] = {}
    for index, character in enumerate(source):
        rows_of_character[character] = rows_of_character.get(character, 0) | 1 << index
    grows, falls, distance = all_rows, 0, len(source)
    for character in target:
        equal = rows_of_character.get(character, 0)
        same = (((equal & grows) + grows) ^ grows) | equal | falls
        up, down = falls | all_rows & ~(same | grows), grows & same
        distance += (up > all_rows >> 1) - (down > all_rows >> 1) if source else 1
        up, down = up << 1 | 1, down << 1
        grows, falls = all_rows & (down | ~(equal | falls | up)), all_rows & up & (equal | falls)
    return distance if limit is None or distance <= limit else -1


# Letters whose upper or lower case is newer than Unicode 12, the oldest version in a Spark or a
# Python.
NEW_CASES = re.compile(
    "[\u019b\u0264\u1c89\u1c8a\u2c2f\u2c5f\ua7c0-\ua7ff\U00010570-\U000105bf\U00010d50-\U00010d8f"
    "\U00016ea0-\U00016edf]"
)


def check_letters(text: str) -> str:
    """Return a text if the case of its letters is the same in all versions of Unicode.

    Raises:
        UndecidedError: it is not.
    """
    letter = NEW_CASES.search(text)
    if letter is not None:
        code_point = f"U+{ord(letter[0]):04X}"
        raise UndecidedError(f"the case of {code_point} depends on the version of Unicode")
    return text


def to_upper_case(text: str) -> str:
    """Return a text in upper case."""
    return check_letters(text).upper()


def to_lower_case(text: str) -> str:
    """Return a text in lower case."""
    return check_letters(text).lower()


# LIKE and ILIKE: `%` is any text and `_` any character, unless the escape character precedes it.

# The same in Python's patterns of file names.
WILDCARDS = {"%": "*", "_": "?"}


@lru_cache(maxsize=1000)
def compile_like(pattern: str, escape: str) -> re.Pattern[str]:
    """Return a regular expression that matches what LIKE matches, in linear time.

    Raises:
        FunctionError: the escape character precedes a character that is none of `%`, `_` and
            itself.
    """
    parts: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            escaped = next(characters, "")
            if escaped not in ("%", "_", escape):
                reason = f"{escape!r} escapes {escaped!r} in {pattern!r}"
                raise FunctionError(f"INVALID_FORMAT: {reason}")
            parts.append(glob.escape(escaped))
        else:
            parts.append(WILDCARDS.get(character) or glob.escape(character))
    return re.compile(fnmatch.translate("".join(parts)))


def is_like(text: str, pattern: str, escape: str = "\\") -> bool:
    """Return whether a text matches a pattern of LIKE."""
    return compile_like(pattern, escape).match(text) is not None


def is_ilike(text: str, pattern: str, escape: str = "\\") -> bool:
    """Return whether a text matches a pattern of ILIKE, in upper or lower case."""
    return is_like(to_lower_case(text), to_lower_case(pattern), escape)


TEXTS: Mapping[str, Function] = by_name(
    {
        "|| CONCAT": function((TEXT,), STRING, concatenate, repeats=True),
        "LENGTH LEN CHAR_LENGTH CHARACTER_LENGTH": function((TEXT,), INT, len),
        "UPPER UCASE": function((TEXT,), STRING, to_upper_case),
        "LOWER LCASE": function((TEXT,), STRING, to_lower_case),
        "SUBSTRING SUBSTR": function((TEXT, INT, INT), STRING, substring, least=2),
        "LEFT": function((TEXT, INT), STRING, left),
        "RIGHT": function((TEXT, INT), STRING, right),
        "TRIM": build_trim(str.strip),
        "LTRIM": build_trim(str.lstrip),
        "RTRIM": build_trim(str.rstrip),
        "INSTR": function((TEXT, TEXT), INT, find_part),
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
