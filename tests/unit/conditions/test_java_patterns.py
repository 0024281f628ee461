"""Regular expressions are found in bounded time, and where Python's own search finds one."""

from __future__ import annotations

import re
from random import Random

import pytest

from matchrec.conditions.functions.function import UndecidedError
from matchrec.conditions.functions.java_patterns import RefusedError, java_pattern
from matchrec.conditions.functions.texts import is_found, is_like
from tests.quick.scale import SEED, examples


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("(a+)+b", "a" * 5_000),
        ("^(a|aa)+$", "a" * 5_000 + "b"),
        ("(a|a)*?b", "a" * 5_000),
        ("a*a*a*a*a*b", "a" * 5_000),
        ("(.*)(.*)(.*)(.*)x", "a" * 5_000),
        ("a?" * 40 + "a" * 40 + "b", "a" * 40),
        ("(?:(?:a{1,9}){1,9}){1,9}b", "a" * 5_000),
    ],
)
def test_what_takes_others_years(expression: str, text: str) -> None:
    assert not is_found(text, expression)


def test_all_places_take_no_longer_than_one() -> None:
    """A search for `a*b` from each place looks at the rest of the text, but not again."""
    assert not is_found("a" * 30_000, "a*b")


def test_like_with_many_signs() -> None:
    assert not is_like("a" * 3_000, "%a" * 50 + "b")
    assert is_like("a" * 3_000, "%a" * 50)


@pytest.mark.parametrize("count", [0, 1, 100, 100_000])
def test_what_is_tried_later_has_room(count: int) -> None:
    """Each letter leaves a choice to go back to."""
    assert java_pattern("^((a)|b)*(c?)$").is_found("ab" * count)
    assert not java_pattern("^((a)|b)*(c?)$").is_found("ab" * count + "d")


def test_a_text_that_is_too_large_is_refused() -> None:
    with pytest.raises(UndecidedError, match="too large for a text of 10000000 characters"):
        is_found("a" * 10_000_000, "(a|b|c|d|e|f|g|h)*z")


def text_of(drawn: Random, letters: str, most: int) -> str:
    return "".join(drawn.choice(letters) for _ in range(drawn.randint(0, most)))


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
def test_what_is_found_is_found_by_python() -> None:
    """Of what both read alike: no end of a line."""
    drawn, read = Random(SEED), 0
    while read < examples(20_000):
        expression = text_of(drawn, "aab|()*+?{2}.[^b]c,", 9)
        text = text_of(drawn, "aabbc", 12)
        try:
            ours = java_pattern(expression)
        except RefusedError:
            continue
        read += 1
        alike = re.search(expression, text) is not None
        assert ours.is_found(text) == alike, (expression, text)
