"""A counted loop stands in an explanation once."""

from __future__ import annotations

import pytest

from matchrec.explanation.program import find_repeats, program_lines, said_once
from matchrec.frontends.row_pattern import parse_row_pattern
from matchrec.nfa.compile import compile_program
from matchrec.nfa.program import NO_FORMULAS, Program
from matchrec.plan.pattern import variable_names

COUNTED = """\
0 to 97, 49 times these 2:
  0 start
      begin A -> 1
  1
      proceed -> 2
      proceed -> 99
98
    begin A -> 99
99
    begin B -> 100
100 final"""


def program_of(text: str) -> Program:
    pattern = parse_row_pattern(text)
    return compile_program(pattern, variable_names(pattern))


def test_a_counted_loop_is_said_once() -> None:
    assert "\n".join(program_lines(program_of("A{1,50} B"), NO_FORMULAS)) == COUNTED


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        ("A B C", []),
        ("A{4} B", []),  # to leave out three states would not be worth a line
        ("A{5} B", [(0, 1, 5)]),
        ("B A{2,10}? C", [(2, 2, 8)]),
        ("(A | B){1,30}", [(0, 4, 29)]),
        ("A{9} B{1,9}", [(0, 1, 9), (9, 2, 8)]),
        ("(A{8} B){9}", [(0, 9, 9)]),
        ("(A{9})+", [(0, 1, 9)]),
    ],
)
def test_repeats(text: str, repeats: list[tuple[int, int, int]]) -> None:
    found = find_repeats(program_of(text), NO_FORMULAS)
    assert [(one.first, one.length, one.times) for one in found] == repeats


def test_a_repeat_in_a_repeat() -> None:
    (outer,) = find_repeats(program_of("(A{8} B){9}"), NO_FORMULAS)
    (inner,) = outer.inner
    assert (inner.first, inner.length, inner.times) == (0, 1, 8)
    assert outer.original(80) == 8
    assert outer.original(12) == 0


def test_copies_that_differ_in_their_formulas_are_no_copies() -> None:
    program = program_of("A{50}")
    formulas = {(state, 0): str(state) for state in range(50)}
    assert find_repeats(program, formulas) == ()


@pytest.mark.parametrize("text", ["A{1,9} B", "(A | B){2,9}? C", "((A B){5} | C){1,7} D"])
def test_every_copy_is_the_first_one_moved_along(text: str) -> None:
    """What the text leaves out can be written down again from what it says."""
    program = program_of(text)
    for repeat in find_repeats(program, NO_FORMULAS):
        for state in range(repeat.first, repeat.end):
            original = repeat.first + (state - repeat.first) % repeat.length
            moved = state - original
            within = range(repeat.first, repeat.first + repeat.length + 1)
            assert program.states[state].edges == tuple(
                edge.__class__(
                    edge.action,
                    edge.target + moved if edge.target in within else edge.target,
                    edge.variable,
                )
                for edge in program.states[original].edges
            )


def test_of_copies_it_is_said_once_what_is_the_same_of_all() -> None:
    program = program_of("A{9} B")
    same = dict.fromkeys(range(10), "V1")
    assert list(said_once(same, program)) == [(0, "V1"), (9, "V1")]
    assert list(said_once({**same, 4: "V2"}, program)) == list({**same, 4: "V2"}.items())
    assert list(said_once({3: "V1"}, program)) == [(3, "V1")]
