"""Methods of `Pattern` and `AfterMatch` that are called on the class, and `begin` on a pattern."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from matchrec import AfterMatch, MatchRecognizePlanError, Pattern

CLASS: Any = Pattern  # a type checker finds the mistakes below

METHODS = [
    name
    for name, method in inspect.getmembers(Pattern, inspect.isfunction)
    if not name.startswith("_") and name != "begin"
]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("arguments", [(), ("a",), ("a", "b")])
def test_a_method_on_the_class_says_how_to_begin(name: str, arguments: tuple[str, ...]) -> None:
    with pytest.raises(MatchRecognizePlanError) as raised:
        getattr(Pattern, name)(*arguments)
    assert raised.value.code == "called-on-class"
    assert raised.value.message == f"missing pattern before `.{name}(...)`"
    assert raised.value.hint == f'write Pattern.begin("name").{name}(...)'


def test_a_call_on_the_class_is_rejected_with_named_arguments() -> None:
    with pytest.raises(MatchRecognizePlanError, match=r"missing pattern before `\.where\(...\)`"):
        CLASS.where(condition="x > 1")


def test_throw_on_miss_on_the_class_is_rejected() -> None:
    wrong_class: Any = AfterMatch
    with pytest.raises(MatchRecognizePlanError, match="missing AfterMatch") as raised:
        wrong_class.throw_on_miss()
    assert raised.value.hint == 'write AfterMatch.skip_to_last("name").throw_on_miss(...)'


def test_begin_on_a_pattern_would_drop_its_stages() -> None:
    with pytest.raises(MatchRecognizePlanError, match="starts a new pattern") as raised:
        Pattern.begin("a").begin("b")
    assert raised.value.code == "begin-on-pattern"


def test_help_shows_the_signatures() -> None:
    assert str(inspect.signature(Pattern.next)) == "(self, stage: str | Pattern) -> Pattern"
    assert str(inspect.signature(Pattern.begin)) == "(stage: str | Pattern) -> Pattern"
