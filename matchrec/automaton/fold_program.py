"""Fold the proceed edges of a program away: find the choices of each state in preferment order.

A choice of a state is a path of proceed edges and then a begin or take edge, or a path to
the final state. The conditions on the path become the guard of the choice:

    0 start                        0
        proceed if ^ -> 1              A if ^ -> 1
        proceed -> 1                   A -> 1
    1                              1
        begin A -> 2                   accept
    2 final
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from matchrec.automaton.explore_states import limit_choices, number_states
from matchrec.automaton.folding import ACCEPT, ANCHORS, Choice, Folding, build_not_guard
from matchrec.automaton.program import (
    ANCHOR_END,
    ANCHOR_START,
    Action,
    Edge,
    Program,
    StateId,
    VariableId,
)
from matchrec.source import Span


def fold_program(
    program: Program, *, all_matches: bool = False, span: Span | None = None
) -> Folding:
    """Return the folding of a program.

    Args:
        program: the program. Its starting state becomes state 0 of the folding.
        all_matches: whether all matches are sought, not only the preferred one. Then the folding
            also has choices that are less preferred than an acceptance.
        span: the location of the row pattern, for the error.

    Raises:
        MatchRecognizePlanError: there are more than MAX_CHOICES choices, without those that are
            less preferred than an acceptance.
    """
    # The limit counts the choices for preferred matches in any case, so `all_matches` does not
    # decide whether a pattern is too large.
    numbered_states = list(limit_choices(number_program_states(program, all_matches=False), span))
    if all_matches:
        numbered_states = list(number_program_states(program, all_matches=True))
    return Folding(
        choices=tuple(choices for _, choices in numbered_states),
        states=tuple(state for state, _ in numbered_states),
    )


def number_program_states(
    program: Program, *, all_matches: bool
) -> Iterator[tuple[StateId, tuple[Choice, ...]]]:
    """Yield the states of a program that become states of the folding, with their choices.

    Those are the starting state and the states to which choices lead. The target of a choice is the
    number of a state in the folding: its index among the states that are yielded.
    """

    def iterate_choices(state: StateId) -> Iterator[tuple[Choice, StateId | None]]:
        """Yield the choices of a state, each with the state to which it leads."""
        for choice in find_choices(program, state, all_matches=all_matches):
            yield choice, choice.target

    return number_states([program.start], iterate_choices)


def find_choices(program: Program, start: StateId, *, all_matches: bool) -> Iterator[Choice]:
    """Yield the choices of a run in a state in preferment order.

    Their targets are states of the program. Ignore edges are not choices: `Task.states_after_skip`
    says where a run may skip a row. These choices are left out:

    - a choice that does the same as an earlier choice with the same guard or a weaker one,
    - a choice that maps a row at the end of the partition, because no row is left,
    - a choice with `^` in any state but the first, because a row came before,
    - a choice that is less preferred than an acceptance without guard, unless `all_matches`.

    Args:
        program: the program whose states are folded.
        start: the state in which the run is.
        all_matches: see `fold_program`.
    """
    impossible_anchors = 0 if start == program.start else ANCHOR_START
    # For each variable and target of an edge, the guards under which such an edge was followed. The
    # variable is None for proceed edges.
    earlier_guards: dict[tuple[VariableId | None, StateId], list[int]] = defaultdict(list)
    # A stack of edges to follow, the most preferred edge last, each with the guard of the path
    # before it. The first edge is not in the program: it leads to the start of all paths.
    edges_to_follow = [(Edge(Action.PROCEED, start), 0)]
    while edges_to_follow:
        edge, guard_before = edges_to_follow.pop()
        guard = guard_before | edge.anchor | build_not_guard(edge.forbidden_variables)
        maps_row = edge.variable is not None
        if edge.action is Action.IGNORE or guard & impossible_anchors:
            continue
        if maps_row and guard & ANCHOR_END:
            continue
        guards = earlier_guards[edge.variable, edge.target]
        if any(is_weaker_or_same(earlier_guard, guard) for earlier_guard in guards):
            continue
        guards.append(guard)
        if maps_row:
            yield build_row_choice(edge, guard, start)
            continue
        if edge.target == program.final:
            yield build_acceptance(guard)
            if guard == 0 and not all_matches:
                return
        next_edges = program.states[edge.target].edges
        edges_to_follow += [(next_edge, guard) for next_edge in reversed(next_edges)]


def is_weaker_or_same(guard: int, other_guard: int) -> bool:
    """Return whether `guard` holds whenever `other_guard` holds.

    That is so if each bit of `guard` is a bit of `other_guard`.
    """
    return guard & ~other_guard == 0


def build_row_choice(edge: Edge, guard: int, state: StateId) -> Choice:
    """Return the choice of a run in a state that maps the next row by an edge, under a guard."""
    return Choice(
        guard=guard,
        variable=edge.variable,
        target=edge.target,
        is_excluded=edge.is_excluded,
        repeats_loop=edge.action is Action.TAKE and edge.target == state,
    )


def build_acceptance(guard: int) -> Choice:
    """Return the choice of a run that becomes a match under a guard.

    At the end of the partition there is no next row that a NOT could look at.
    """
    is_at_end = guard & ANCHOR_END != 0
    return replace(ACCEPT, guard=guard & ANCHORS if is_at_end else guard)
