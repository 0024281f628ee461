"""Functions of two texts: one after the other, their distance, and LIKE.

As in Spark, the characters of a text are its code points.
"""

from __future__ import annotations

import fnmatch
import glob
import re
from collections.abc import Mapping
from functools import lru_cache

from matchrec.conditions.functions.function import (
    Function,
    FunctionError,
    list_by_name,
    make_function,
)
from matchrec.conditions.types import BOOLEAN, INT, STRING


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


# LIKE: `%` is any text and `_` any character, unless the escape character precedes it.

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
                location = f"before {escaped!r} in" if escaped else "at the end of"
                reason = f"{escape!r} is not allowed {location} {pattern!r}"
                raise FunctionError(f"{reason}, but only before %, _ and {escape}")
            parts.append(glob.escape(escaped))
        else:
            parts.append(WILDCARDS.get(character) or glob.escape(character))
    return re.compile(fnmatch.translate("".join(parts)))


def is_like(text: str, pattern: str, escape: str = "\\") -> bool:
    """Return whether a text matches a pattern of LIKE."""
    return compile_like(pattern, escape).match(text) is not None


TEXTS: Mapping[str, Function] = list_by_name(
    {
        "|| CONCAT": make_function((STRING,), STRING, concatenate, repeats=True),
        "LEVENSHTEIN": make_function((STRING, STRING, INT), INT, levenshtein, least=2),
        "LIKE": make_function((STRING, STRING, STRING), BOOLEAN, is_like, least=2),
    }
)
