"""States of occurrences: the variables that each state awaits, and the states with copies."""

from __future__ import annotations

import pytest

from matchrec.automaton import explore_states
from matchrec.automaton.occurrences import Occurrences, compile_occurrences
from matchrec.errors import MatchRecognizePlanError
from tests.tasks.contiguous import Query, make_query


def compile_query(text: str) -> tuple[Query, Occurrences]:
    """Return the query for a row pattern, and its occurrences."""
    query = make_query(text)
    return query, compile_occurrences(query.task().pattern, query.pattern)


@pytest.mark.parametrize(
    ("text", "after", "awaited"),
    [
        ("A B | A C", 0, {"B"}),  # two occurrences of A, so two runs
        ("PERMUTE(A+, B, C)", 0, {"B", "C"}),
        ("PERMUTE(A, B, C)", 0, {"B", "C"}),
        ("PERMUTE(A*, B*) C", 0, {"C"}),
    ],
)
def test_a_starting_row_awaits_the_nearer_variables(
    text: str, after: int, awaited: set[str]
) -> None:
    query, occurrences = compile_query(text)
    choices = [choice for state in occurrences.pattern.folding.choices for choice in state]
    first = len(occurrences.pattern.folding.choices[0])
    states = [
        choices[i].target for i in range(first) if occurrences.occurrence_by_choice[i] == after
    ]
    assert states
    for state in states:
        assert state is not None
        nearer = (
            occurrences.occurrence_by_choice[choice] for choice in occurrences.nearer_choices[state]
        )
        assert {query.variables[occurrences.variables[choice]] for choice in nearer} == awaited


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("A B+ A", False),
        ("(A{0,9}){9} B", False),  # all await the same
        ("PERMUTE(A+, B, C)", False),  # each state is in one set
        ("PERMUTE(A+, B, C)+", True),  # after a round, a row may also be one more of its last A
    ],
)
def test_states_are_copied_only_where_needed(text: str, copied: bool) -> None:
    query, occurrences = compile_query(text)
    plain = query.task().pattern.folding.choices
    assert (len(occurrences.remaining_rows) > len(plain)) is copied


def test_too_many_copies_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_states, "MAX_CHOICES", 30)
    with pytest.raises(MatchRecognizePlanError, match="over 30 choices"):
        compile_query("PERMUTE(A+, B, C)+")
