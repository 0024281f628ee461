"""States that the same occurrences lead to: what each of them awaits, and which have copies."""

from __future__ import annotations

import pytest

from matchrec.automaton import folding
from matchrec.automaton.occurrences import Occurrences, compile_occurrences
from matchrec.errors import MatchRecognizePlanError
from tests.tasks.contiguous import Query, make_query


def occurrences(text: str) -> tuple[Query, Occurrences]:
    asked = make_query(text)
    return asked, compile_occurrences(asked.task().pattern, asked.pattern)


@pytest.mark.parametrize(
    ("text", "after", "awaited"),
    [
        ("A B | A C", 0, {"B"}),  # two occurrences of A, so two runs
        ("PERMUTE(A+, B, C)", 0, {"B", "C"}),
        ("PERMUTE(A, B, C)", 0, {"B", "C"}),
        ("PERMUTE(A*, B*) C", 0, {"C"}),
    ],
)
def test_what_brings_a_first_row_nearer(text: str, after: int, awaited: set[str]) -> None:
    asked, found = occurrences(text)
    choices = [one for state in found.pattern.folding.choices for one in state]
    first = len(found.pattern.folding.choices[0])
    states = [choices[i].target for i in range(first) if found.occurrence_by_choice[i] == after]
    assert states
    for state in states:
        assert state is not None
        nearer = (found.occurrence_by_choice[choice] for choice in found.nearer_choices[state])
        assert {asked.variables[found.variables[one]] for one in nearer} == awaited


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("A B+ A", False),
        ("(A{0,9}){9} B", False),  # all await the same
        ("PERMUTE(A+, B, C)", False),  # each state is in one set
        ("PERMUTE(A+, B, C)+", True),  # after a round, a row may also be one more of its last A
    ],
)
def test_copies_where_needed(text: str, copied: bool) -> None:
    asked, found = occurrences(text)
    plain = asked.task().pattern.folding.choices
    assert (len(found.remaining) > len(plain)) is copied


def test_too_many_copies_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "MOST_CHOICES", 30)
    with pytest.raises(MatchRecognizePlanError, match="over 30 choices"):
        occurrences("PERMUTE(A+, B, C)+")
