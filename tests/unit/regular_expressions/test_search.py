"""Regular expressions are found in bounded time, and where Python's own search finds them."""

from __future__ import annotations

import re
from random import Random

import pytest

from matchrec.conditions.functions.function import UndecidedError
from matchrec.conditions.functions.texts import is_found, is_like, places
from matchrec.regular_expressions.program import RefusedError
from matchrec.regular_expressions.search import Found, java_pattern
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
    """Each search for `a*b` looks at the rest of the text, but not again."""
    text = "a" * 30_000
    assert sum(1 for _ in places(text, "a*b|a")) == 30_000


def test_like_with_many_signs() -> None:
    assert not is_like("a" * 3_000, "%a" * 50 + "b")
    assert is_like("a" * 3_000, "%a" * 50)


@pytest.mark.parametrize("count", [0, 1, 100, 100_000])
def test_what_is_tried_later_has_room(count: int) -> None:
    """Each letter leaves a choice to go back to; the groups of the last one are kept."""
    found = java_pattern("((a)|b)*(c?)").first("ab" * count)
    assert found is not None
    assert found.places[:2] == (0, 2 * count)
    assert found.group(1) == ("b" if count else "")
    assert found.places[6:] == (2 * count, 2 * count)


def test_a_text_that_is_too_large_is_refused() -> None:
    with pytest.raises(UndecidedError, match="too large for a text of 10000000 characters"):
        is_found("a" * 10_000_000, "(a|b|c|d|e|f|g|h)*z")


def text_of(drawn: Random, letters: str, most: int) -> str:
    return "".join(drawn.choice(letters) for _ in range(drawn.randint(0, most)))


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
def test_places_are_those_of_python() -> None:
    """Of what both read alike: no end of a line, no empty part that is found again."""
    drawn, read = Random(SEED), 0
    while read < examples(20_000):
        expression = text_of(drawn, "aab|()*+?{2}.[^b]c,", 9)
        text = text_of(drawn, "aabbc", 12)
        try:
            ours = java_pattern(expression)
        except RefusedError:
            continue
        theirs = re.compile(expression)
        read += 1
        once, alike = ours.first(text), theirs.search(text)
        assert (once is None) == (alike is None), (expression, text)
        if once is not None and alike is not None:
            groups = [n for n in range(1, theirs.groups + 1) if n not in ours.expression.repeated]
            assert spans(once, groups) == [alike.span(n) for n in (0, *groups)], (expression, text)


def spans(found: Found, groups: list[int]) -> list[tuple[int, int]]:
    return [(found.places[2 * n], found.places[2 * n + 1]) for n in (0, *groups)]
