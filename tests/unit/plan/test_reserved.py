"""The reserved words of the docs are the words that are rejected."""

from __future__ import annotations

from pathlib import Path

from matchrec.plan.words import RESERVED, is_reserved

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "clause.md"


def test_the_documented_words_are_reserved() -> None:
    _, _, behind = DOCUMENT.read_text(encoding="utf-8").partition("ANSI mode does too:\n\n")
    listed, _, _ = behind.partition("\n\n**")
    assert listed.split() == sorted(RESERVED)


def test_words_that_others_call_variables_are_free() -> None:
    free = ("START", "VALUE", "MATCH", "A", "ONE", "OPEN", "CLOSE", "DAY", "UP", "DOWN")
    assert not any(map(is_reserved, free))
    assert is_reserved("not")
