"""What the words after a key of ORDER BY mean: a direction, and the order of NULLs.

ts ASCE    ts NULL LAST    ts NULLS FRST    ts NULLS LAST DESC    ts ASC DESC
"""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeParseError
from matchrec.errors.misspellings import count_misspelt_letters, find_nearest
from matchrec.errors.wording import join_lines, shorten
from matchrec.source import Span

_DIRECTIONS = ("ASC", "DESC")


def find_direction(word: str) -> str | None:
    """Return the direction of a key of ORDER BY that `word` probably misspells, or None.

    >>> find_direction("DES"), find_direction("ascending"), find_direction("day")
    ('DESC', 'ASC', None)
    >>> find_direction("descending"), find_direction("description"), find_direction("DSC")
    ('DESC', None, 'DESC')
    """
    upper = word.upper()
    if len(upper) < 3:  # AS before the name of a key
        return None
    # DESCENDING is also a misspelt ASCENDING, so the words that are spelt right come first.
    for direction in _DIRECTIONS:
        if f"{direction}ENDING".startswith(upper):
            return direction
    # DSC is one letter away from both directions: the one with the same first letter comes first.
    for direction in sorted(_DIRECTIONS, key=lambda direction: direction[0] != upper[0]):
        if count_misspelt_letters(upper, direction, 1) <= 1:
            return direction
    full_word = find_nearest(upper, [f"{direction}ENDING" for direction in _DIRECTIONS])
    is_near = full_word is not None and count_misspelt_letters(upper, full_word, 2) <= 2
    return full_word.removesuffix("ENDING") if full_word is not None and is_near else None


def may_follow_key(word: str) -> bool:
    """Return whether a word after a key of ORDER BY is, or misspells, a part of its direction.

    >>> [may_follow_key(word) for word in ("DESC", "NULL", "FRST", "price")]
    [True, True, True, False]
    """
    return find_directions_hint("", word) is not None


def malformed_direction(span: Span, *, key: str, words: str) -> MatchRecognizeParseError:
    """Return the error for a key of ORDER BY with words such as NULL LAST or ASC DESC after it.

    Args:
        span: the words in the text of the query.
        key: the key.
        words: the words.
    """
    return MatchRecognizeParseError(
        f"`{join_lines(words)}` is not allowed here in ORDER BY",
        span,
        hint=find_directions_hint(key, words),
        code="malformed-direction",
    )


def find_directions_hint(key: str, words: str) -> str | None:
    """Return what to write for a key of ORDER BY and the words after it.

    Returns None if a word is neither a direction nor about the order of NULLs.

    Args:
        key: the key.
        words: the words after it.

    >>> find_directions_hint("ts", "NULL LAST"), find_directions_hint("ts", "NULLS FRST DES")
    ('write ts NULLS LAST', 'write ts DESC NULLS FIRST')
    >>> find_directions_hint("ts", "DESC NULLS"), find_directions_hint("ts", "ASC DESC")
    ('write ts DESC NULLS FIRST or ts DESC NULLS LAST', 'write ts ASC or ts DESC')
    >>> find_directions_hint("ts", "DESC symbol")
    """
    directions: list[str] = []
    ends: list[str] = []  # FIRST or LAST, at which NULLs are
    has_nulls = False
    for word in words.split():
        upper = word.upper()
        if upper in ("NULL", "NULLS", "NUL"):
            has_nulls = True
        elif direction := find_direction(word):
            directions.append(direction)
        elif end := find_nearest(upper, ("FIRST", "LAST")):
            ends.append(end)
        elif find_nearest(upper, ("NULLS",)):
            has_nulls = True
        else:
            return None
    if not directions and not has_nulls and not ends:
        return None
    null_orders = [f" NULLS {end}" for end in dict.fromkeys(ends)] or [""]
    if has_nulls and not ends:
        null_orders = [" NULLS FIRST", " NULLS LAST"]
    key_directions = [f" {direction}" for direction in dict.fromkeys(directions)] or [""]
    sort_keys = [
        f"{shorten(key)}{direction}{null_order}"
        for direction in key_directions
        for null_order in null_orders
    ]
    return f"write {' or '.join(sort_keys)}"
