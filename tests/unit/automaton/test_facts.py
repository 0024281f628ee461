"""Facts about a program that are known before its search, such as the length of matches."""

from graphlib import CycleError

import pytest

from matchrec.automaton import facts
from matchrec.automaton.compile_program import compile_program
from matchrec.automaton.compiled_pattern import CompiledPattern
from matchrec.automaton.dot import draw_dot
from matchrec.automaton.folding import ACCEPT, Choice, ChoicesByState, Folding
from matchrec.automaton.follow_sets import FollowSets
from matchrec.automaton.program import Action, Edge, Program, State
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.tasks import compiled


def compile_choices(text: str) -> ChoicesByState:
    """Return the choices of a row pattern."""
    return compiled.list_folded_choices(parse_row_pattern(text))


@pytest.mark.parametrize(
    ("text", "most", "deterministic"),
    [
        ("A B C", 3, True),
        ("A B+ C", None, False),
        ("A? B*", None, False),
        ("A{2,4} (B | C D)", 6, False),
        ("()", 0, True),
        ("^ | A", 1, False),
        ("PERMUTE(A, B?)", 2, False),
    ],
)
def test_longest_match_and_whether_a_pattern_is_deterministic(
    text: str, most: int | None, deterministic: bool
) -> None:
    pattern = compiled.compile_for_output(parse_row_pattern(text))
    assert pattern.longest_match == most
    assert pattern.is_deterministic is deterministic


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("A B", (True, True, False)),
        ("A B*", (True, True)),
        ("A B $", (True, True, False)),  # the end may come after B
        ("A $ B", (False, False)),  # but not before it
        ("A ^ B", (False, False)),
        ("A (B ^ C | D)", (True, True, False, False)),
    ],
)
def test_a_run_is_live_where_rows_could_still_make_a_match(
    text: str, live: tuple[bool, ...]
) -> None:
    assert facts.mark_live_states(compile_choices(text)) == live


def test_only_states_that_two_ways_reach_are_worth_remembering() -> None:
    assert facts.mark_states_worth_remembering(compile_choices("A B C")) == (False,) * 4
    assert facts.mark_states_worth_remembering(compile_choices("A B+ C")) == (
        False,
        False,
        True,
        True,
    )
    assert facts.mark_states_worth_remembering(compile_choices("(A | B) C")) == (False, True, True)


def test_a_program_draws_itself() -> None:
    pattern = parse_row_pattern("^ A+ {- B -}")
    dot = draw_dot(compile_program(pattern, ("A", "B")))
    assert '0 -> 1 [label="1: proceed if ^", style=dotted];' in dot
    assert '[label="1: take A", style=bold];' in dot
    assert "begin B excluded" in dot


def test_check_refuses_a_cycle_of_proceed_edges() -> None:
    cycle = Program((State((Edge(Action.PROCEED, 0),)), State()), 0, 1, ())
    with pytest.raises(CycleError):
        cycle.check()


@pytest.mark.parametrize(
    ("text", "choices"),
    [("(A?){30} A{30}", 600), ("((A*)* (B*)*)*", 10), ("PERMUTE(A, B, C, D, E)", 90)],
)
def test_programs_stay_small(text: str, choices: int) -> None:
    assert sum(map(len, compile_choices(text))) < choices


def test_follow_sets_list_first_last_and_adjacent_variables() -> None:
    follow_sets = FollowSets.compute(
        compiled.compile_for_output(parse_row_pattern("A B* (C | D)")).folding
    )
    a, b, c, d = range(4)
    assert (follow_sets.first, follow_sets.last) == ({a}, {c, d})
    assert follow_sets.pairs == {(a, b), (a, c), (a, d), (b, b), (b, c), (b, d)}


def test_matches_may_begin_in_each_starting_state() -> None:
    """The first stage, of variable 0, is optional, and variable 1 follows it."""
    choices = (
        (Choice(guard=0, variable=0, target=1),),
        (Choice(guard=0, variable=1, target=2),),
        (ACCEPT,),
    )
    folding = Folding(choices=choices, states=(0, 1, 2), start_count=2)
    follow = FollowSets.compute(folding)
    assert (follow.first, follow.last, follow.pairs) == ({0, 1}, {1}, {(0, 1)})
    program = Program((State(), State(), State()), 0, 2, ("a", "b"))
    assert CompiledPattern(program, folding).longest_match == 2
    with pytest.raises(AssertionError):
        facts.count_least_mapped_rows(folding, frozenset({0}))


def test_a_skipped_row_leads_to_a_state_without_mapping_a_row() -> None:
    """A run that skips a row in state 0 waits in state 1, from which it need not map A."""
    choices = (
        (Choice(guard=0, variable=0, target=2),),
        (Choice(guard=0, variable=1, target=2),),
        (ACCEPT,),
    )
    folding = Folding(choices=choices, states=(0, 1, 2), states_after_skip=(1, 1, None))
    assert facts.count_least_mapped_rows(folding, frozenset({0})) == (0, 0, 0)
