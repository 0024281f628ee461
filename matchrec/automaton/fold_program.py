"""Fold the proceed edges of a program away: find the choices of each state in preferment order.

A choice of a folded state is a path of proceed edges and then a begin or take edge, or a path to
the final state. The conditions on the path become the guard of the choice:

    0 start                        0
        proceed if ^ -> 1              A if ^ -> 1
        proceed -> 1                   A -> 1
    1                              1
        begin A -> 2                   accept
    2 final
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.automaton.explore_states import limit_choices, number_states
from matchrec.automaton.folding import ACCEPT, ANCHORS, Choice, Folding, build_not_guard
from matchrec.automaton.program import GUARD_END, Action, Edge, Program, StateId, VariableId
from matchrec.source import Span

# A step of a choice: a state to which proceed edges lead, or a variable and the state after its
# row.
ChoiceStep = StateId | tuple[VariableId, StateId]


def fold_program(
    program: Program, *, all_matches: bool = False, span: Span | None = None
) -> Folding:
    """Fold the proceed edges of a program away.

    Args:
        program: the program. Its starting state becomes number 0.
        all_matches: whether all matches are wanted, not only the preferred one. Then choices less
            preferred than an acceptance count too.
        span: the row pattern, for the error.

    Raises:
        MatchRecognizePlanError: there are more than MOST_CHOICES, up to acceptances.
    """
    if all_matches:
        # Choices after an acceptance are not limited.
        check_number_of_choices(program, span)
        numbered = number_program_states(program, all_matches=True)
    else:
        numbered = limit_choices(number_program_states(program, all_matches=False), span)
    states, choices = zip(*numbered, strict=True)
    return Folding(choices=choices, states=states)


def check_number_of_choices(program: Program, span: Span | None) -> None:
    """Check that a program has at most MOST_CHOICES, up to acceptances.

    Raises:
        MatchRecognizePlanError: there are more.
    """
    for _ in limit_choices(number_program_states(program, all_matches=False), span):
        pass


def number_program_states(
    program: Program, *, all_matches: bool
) -> Iterator[tuple[StateId, tuple[Choice, ...]]]:
    """Yield the states of a program that become folded states, with their choices, in order."""

    def iterate_choices(state: StateId) -> Iterator[tuple[Choice, StateId | None]]:
        """Yield the choices of a state, each with the state that it leads to."""
        for choice in find_choices(program, state, all_matches=all_matches):
            yield choice, choice.target

    return number_states([program.start], iterate_choices)


def find_choices(program: Program, state: StateId, *, all_matches: bool) -> Iterator[Choice]:
    """Yield the choices of a state; their targets are still states of the program.

    Ignore edges are no choices. These choices are left out:

    - what an earlier choice does already, under the same guard or a weaker one,
    - a row at the end of the partition, because there is none,
    - `^` in any state but the first one, because a row came before,
    - what is less preferred than an acceptance without guard, unless `all_matches`.
    """
    possible_anchors = ANCHORS if state == program.start else GUARD_END
    guards_by_step: dict[ChoiceStep, list[int]] = {}
    waiting = [(Edge(Action.PROCEED, state), 0)]
    while waiting:
        edge, guard = waiting.pop()
        if edge.action is Action.IGNORE:
            continue
        if edge.variable is not None:
            step = (edge.variable, edge.target)
            if not guard & GUARD_END and add_step(guards_by_step, step, guard):
                yield build_row_choice(edge, guard, state)
            continue
        guard |= edge.anchor | build_not_guard(edge.forbids)
        has_impossible_anchor = guard & ANCHORS & ~possible_anchors
        if has_impossible_anchor or not add_step(guards_by_step, edge.target, guard):
            continue
        if edge.target == program.final:
            # At the end of the partition there is no next row that a NOT could look at.
            yield replace(ACCEPT, guard=guard & ANCHORS if guard & GUARD_END else guard)
            if guard == 0 and not all_matches:
                return
        waiting += [(next_edge, guard) for next_edge in reversed(program.states[edge.target].edges)]


def build_row_choice(edge: Edge, guard: int, state: StateId) -> Choice:
    """Return the choice of a run in a state that maps the next row by an edge, under a guard."""
    return Choice(
        guard=guard,
        variable=edge.variable,
        target=edge.target,
        excluded=edge.excluded,
        repeats_loop=edge.action is Action.TAKE and edge.target == state,
    )


def add_step(guards_by_step: dict[ChoiceStep, list[int]], step: ChoiceStep, guard: int) -> bool:
    """Add a step that a choice takes under a guard, and return whether it is new.

    It is not if an earlier choice takes it under the same guard or a weaker one, which has fewer
    bits.

    Args:
        guards_by_step: for each step that is taken already, the guards of the choices that take it.
        step: the step.
        guard: the guard of the choice.
    """
    guards = guards_by_step.setdefault(step, [])
    if any(earlier & ~guard == 0 for earlier in guards):
        return False
    guards.append(guard)
    return True
