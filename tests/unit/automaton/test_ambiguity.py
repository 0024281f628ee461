"""Whether a row pattern can find a match twice, or in exponentially many ways."""

import pytest

from matchrec.automaton.ambiguity import can_find_match_twice
from matchrec.plan.clauses import MatchOutput
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.tasks.compiled import compile_for_output


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A B+ C", False),
        ("A* B* C*", False),
        ("(A+)+ B", False),
        ("(A | B)*", True),
        ("(A | A B)* C", True),
        ("(A | A A)* C", True),
        ("(A B)* C", False),
        ("(A B? | C)+", True),
        ("A{1,70}", True),
    ],
)
def test_loops_with_two_ways_of_one_length_are_ambiguous(text: str, expected: bool) -> None:
    assert compile_for_output(parse_row_pattern(text)).is_exponentially_ambiguous is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(A | B)*", False),  # two ways map some row to different variables
        ("(A | A A)*", True),  # A A is one match by A, A and by A A
        ("A? A?", True),  # either A? maps the only row
        ("A+ A", False),  # the last row is the second A
        ("A A | A A", True),
        ("A B | A C", False),
        ("A* A*", True),
    ],
)
def test_two_ways_to_the_same_match(text: str, expected: bool) -> None:
    pattern = compile_for_output(parse_row_pattern(text), output=MatchOutput.ALL)
    no_skips = (None,) * len(pattern.folding.choices)
    assert can_find_match_twice(pattern.folding, no_skips) is expected


def test_runs_that_skip_rows_are_followed() -> None:
    """Both runs of `A A | A A` skip a row after their first A."""
    pattern = compile_for_output(parse_row_pattern("A A | A A"), output=MatchOutput.ALL)
    states = tuple(range(len(pattern.folding.choices)))
    assert can_find_match_twice(pattern.folding, states)
