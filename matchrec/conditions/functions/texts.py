"""Functions of texts: concatenation, the Levenshtein distance of two texts, and LIKE.

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
    split_names,
    use_for_all_types,
)
from matchrec.conditions.types import BOOLEAN, INT, STRING

# Spark's distance of two texts whose distance is greater than the limit.
BEYOND_LIMIT = -1


def concatenate(*texts: str) -> str:
    """Return texts one after the other."""
    return "".join(texts)


def compute_levenshtein_distance(source: str, target: str, limit: int | None = None) -> int:
    """Return how many characters must be changed, inserted or deleted to get `target`.

    If that is more than the limit, the result is -1, as in Spark.

    >>> compute_levenshtein_distance("kitten", "sitting")
    3
    >>> compute_levenshtein_distance("kitten", "sitting", limit=2)
    -1

    The usual algorithm fills a table: row i and column j have the distance of the first i
    characters of `source` and the first j of `target`. Neighbours in the table differ by at most 1,
    so a column is kept as two integers. Bit i of `grows` is set if the distance grows by one from
    row i to row i + 1, bit i of `falls` if it falls by one. `distance` is the last row.

    Sources: Myers, "A Fast Bit-Vector Algorithm for Approximate String Matching"; Hyyro, "A
    Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit Distances".
    """
    if limit is not None and abs(len(source) - len(target)) > limit:
        return BEYOND_LIMIT
    if not source:
        return len(target)
    all_rows = (1 << len(source)) - 1  # a bit for each row but the last
    last_row = 1 << (len(source) - 1)
    rows_by_character: dict[str, int] = {}  # bit i: whether character i of `source` is the key
    for index, character in enumerate(source):
        rows_by_character[character] = rows_by_character.get(character, 0) | 1 << index
    grows = all_rows
    falls = 0
    distance = len(source)
    for character in target:
        # Bit i: whether character i of `source` is the character of this column.
        equal = rows_by_character.get(character, 0)
        # Bit i: whether the distance is the same in row i of the last column and in row i + 1 of
        # this column. The addition carries such a bit on along rows in which the distance grows.
        is_same_diagonally = (((equal & grows) + grows) ^ grows) | equal | falls
        # Bit i: whether the distance grows or falls by one in row i + 1, from the last column to
        # this one.
        grows_right = falls | all_rows & ~(is_same_diagonally | grows)
        falls_right = grows & is_same_diagonally
        if grows_right & last_row:
            distance += 1
        elif falls_right & last_row:
            distance -= 1
        # The same for row i. In row 0, the distance grows with each column.
        grows_right = grows_right << 1 | 1
        falls_right <<= 1
        grows = all_rows & (falls_right | ~(is_same_diagonally | grows_right))
        falls = all_rows & grows_right & is_same_diagonally
    return distance if limit is None or distance <= limit else BEYOND_LIMIT


# LIKE: `%` is any text and `_` any character, unless the escape character precedes it.

# The wildcards of LIKE, and what Python's module `fnmatch` has for them.
WILDCARDS = {"%": "*", "_": "?"}


@lru_cache(maxsize=1000)
def compile_like(pattern: str, escape: str) -> re.Pattern[str]:
    """Return a regular expression that matches what LIKE matches.

    The pattern is translated to a pattern for names of files: with `!` as the escape character,
    `a%!_?` becomes `a*_[?]`. `fnmatch` makes a regular expression of this, which never goes back
    across a `*`. So the time of a match is at most the product of both lengths.

    Raises:
        FunctionError: the escape character precedes a character other than `%`, `_` and itself, or
            is the last character.
    """
    file_pattern = ""
    is_escaped = False  # whether the escape character precedes the character
    for character in pattern:
        if is_escaped:
            if character not in ("%", "_", escape):
                raise wrong_escape(pattern, escape, f"before {character!r} in")
            file_pattern += glob.escape(character)
            is_escaped = False
        elif character == escape:
            is_escaped = True
        else:
            file_pattern += WILDCARDS.get(character) or glob.escape(character)
    if is_escaped:
        raise wrong_escape(pattern, escape, "at the end of")
    return re.compile(fnmatch.translate(file_pattern))


def wrong_escape(pattern: str, escape: str, location: str) -> FunctionError:
    """Return the error for an escape character that escapes nothing.

    Args:
        pattern: the pattern of LIKE.
        escape: the escape character.
        location: where in the pattern it is, such as "at the end of".
    """
    return FunctionError(
        f"{escape!r} is not allowed {location} {pattern!r}, but only before %, _ and {escape}"
    )


def is_like(text: str, pattern: str, escape: str = "\\") -> bool:
    """Return whether a text matches a pattern of LIKE."""
    return compile_like(pattern, escape).match(text) is not None


TEXTS: Mapping[str, Function] = split_names(
    {
        "|| CONCAT": Function(
            (STRING,), STRING, use_for_all_types(concatenate), repeats_last_parameter=True
        ),
        "LEVENSHTEIN": Function(
            (STRING, STRING, INT),
            INT,
            use_for_all_types(compute_levenshtein_distance),
            min_arguments=2,
        ),
        "LIKE": Function(
            (STRING, STRING, STRING), BOOLEAN, use_for_all_types(is_like), min_arguments=2
        ),
    }
)
