"""Compile a row pattern so that each choice says which occurrence of a variable a row takes.

Coverage counts how often each occurrence of a variable in PATTERN was taken. The program of a query
has one id for all occurrences of a variable, so it cannot say which one a row took. For `A B+ A`,
`compile_occurrences` returns occurrences 0, 1 and 2, of the variables A, B and A:

    state    choices    occurrences of the choices    rows that a match still needs
    0        A          0                             3
    1        B          1                             2
    2        B, A       1, 2                          1
    3        accept     -1                            0

The steps of `compile_occurrences`:

1. Compile the row pattern with a separate variable for each occurrence.
2. Copy states, so that a state alone says which occurrences a run awaits: see
   `copy_states_by_occurrences`.
3. Give the choices the variables of the query back.

The matches and their preferment order stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, count

from matchrec.automaton.compile import compile_program
from matchrec.automaton.compiled_pattern import CompiledPattern
from matchrec.automaton.facts import find_least_rows
from matchrec.automaton.folding import (
    ACCEPT,
    Choice,
    Effect,
    Folded,
    Folding,
    fold,
    limit_choices,
    number_states,
)
from matchrec.automaton.program import A_MATCH, GUARD_START
from matchrec.plan.pattern import RowPattern, Variable, replace_children
from matchrec.source import Span

# Copies of states, so that a state alone says which occurrences may follow those that were taken.
#
# A run is identified by the occurrences that its rows take, and these may lead to several states:
# after the first A of `PERMUTE(A+, B, C)`, a run is in a state that awaits B or in one that awaits
# C. The states that the same occurrences lead to are siblings. An occurrence is awaited in a state
# if a match needs fewer rows after it. If siblings await different occurrences, each state gets a
# copy for each set of siblings. The matches and their preferment order stay the same.
#
# Cost: linear in the choices; with copies, at worst exponential in the states, so they are limited.
# Source: Rabin and Scott, "Finite automata and their decision problems", the subsets of states.

StateIds = frozenset[int]
# A state, and its siblings with the state itself.
Copy = tuple[int, StateIds]
START: Copy = (0, frozenset())  # no row leads back to this copy of the start


def copy_states_by_occurrences(
    folding: Folding, span: Span | None
) -> tuple[Folding, list[StateIds]]:
    """Copy states of a folding so that each state has one set of siblings.

    Args:
        folding: a folding whose variables are occurrences.
        span: the row pattern, for the error.

    Returns:
        The folding, with copies if any are needed. And for each of its states, the siblings from
        which a match needs as many rows and which await other occurrences; one copy of each.

    Raises:
        MatchRecognizePlanError: the copies have more than MOST_CHOICES.
    """
    folding = drop_past_anchors(folding)
    folded = folding.choices
    remaining = find_least_rows(folded)
    awaited = [
        frozenset(choice.variable for choice in choices if is_nearer(choice, rows, remaining))
        for choices, rows in zip(folded, remaining, strict=True)
    ]
    no_siblings = [frozenset[int]() for _ in folded]
    if not may_need_copies(folded, remaining, awaited):
        return folding, no_siblings
    numbered = limit_choices(number_states([START], partial(list_choices_of_copy, folded)), span)
    copies, copied_choices = zip(*numbered, strict=True)
    siblings_by_state = [
        frozenset(
            sibling
            for sibling in states
            if remaining[sibling] == remaining[state] and not awaited[sibling] <= awaited[state]
        )
        for state, states in copies
    ]
    if not any(siblings_by_state):
        return folding, no_siblings
    # All copies of a state await the same occurrences, so any of them will do.
    copy_by_state = {state: number for number, (state, _) in enumerate(copies)}
    siblings = [frozenset(copy_by_state[state] for state in states) for states in siblings_by_state]
    program_states = tuple(folding.states[state] for state, _ in copies)
    return replace(folding, choices=copied_choices, states=program_states), siblings


def drop_past_anchors(folding: Folding) -> Folding:
    """Redirect choices that lead back to the start to a copy of it that has no choice with `^`.

    `^` does not hold after a row. Without the copy, the start of `A* ^ A B` would say that two more
    rows are a match even after a row.
    """
    choices = folding.choices[0]
    if not any(choice.guard & GUARD_START for choice in choices):
        return folding
    later = tuple(choice for choice in choices if not choice.guard & GUARD_START)
    return add_copy_of_start(folding, later)


def drop_empty_match(folding: Folding) -> Folding:
    """Drop acceptances from the start. Choices that lead back to it lead to a copy with them."""
    choices = folding.choices[0]
    if not any(choice.accepts for choice in choices):
        return folding
    copied = add_copy_of_start(folding, choices)
    start = tuple(choice for choice in copied.choices[0] if not choice.accepts)
    return replace(copied, choices=(start, *copied.choices[1:]))


def add_copy_of_start(folding: Folding, copy: tuple[Choice, ...]) -> Folding:
    """Add a state with the choices `copy`, and redirect choices that lead to the start to it."""
    folded = folding.choices
    if not any(choice.target == 0 for choices in folded for choice in choices):
        return folding
    new_state = len(folded)
    redirected = tuple(
        tuple(
            replace(choice, target=new_state) if choice.target == 0 else choice
            for choice in choices
        )
        for choices in (*folded, copy)
    )
    return replace(folding, choices=redirected, states=(*folding.states, folding.states[0]))


def is_nearer(choice: Choice, rows: int, remaining: tuple[int, ...]) -> bool:
    """Return whether a match needs fewer rows after a choice than before it.

    Args:
        choice: the choice.
        rows: the least number of rows that a match needs before the choice.
        remaining: that number for each state, see `find_least_rows`.
    """
    return choice.target is not None and remaining[choice.target] < rows


def may_need_copies(
    folded: Folded, remaining: tuple[int, ...], awaited: list[frozenset[int | None]]
) -> bool:
    """Return whether siblings might await different occurrences, so that states need copies.

    Only states from which a match needs equally many rows are compared. A quick check, which may be
    true although no copies turn out to be needed.

    Args:
        folded: the choices; their variables are occurrences.
        remaining: see `find_least_rows`.
        awaited: for each state, the occurrences by which a match needs fewer rows.
    """
    forks = any(len({choice.variable for choice in choices}) < len(choices) for choices in folded)
    if not forks:
        return False
    awaited_after: dict[tuple[int | None, int], frozenset[int | None]] = {}
    for choices in folded:
        for choice in choices:
            if choice.target is None:
                continue
            key = (choice.variable, remaining[choice.target])
            if awaited_after.setdefault(key, awaited[choice.target]) != awaited[choice.target]:
                return True
    return False


def list_choices_of_copy(folded: Folded, copy: Copy) -> Iterator[tuple[Choice, Copy | None]]:
    """Yield the choices of a copy, and the copy to which each leads.

    If `^` decides to which states the first row leads, a choice with `^` comes before the one
    without.
    """
    state, states = copy
    for choice in folded[state]:
        if choice.target is None:
            yield choice, None
            continue
        targets = find_targets_of_occurrence(folded, states or {state}, choice, 0) | {choice.target}
        if copy == START:
            anchored_targets = find_targets_of_occurrence(folded, {state}, choice, GUARD_START)
            if anchored_targets != targets or choice.guard:
                yield replace(choice, guard=GUARD_START), (choice.target, anchored_targets)
            if choice.guard:
                continue
        yield choice, (choice.target, targets)


def find_targets_of_occurrence(
    folded: Folded, states: StateIds | set[int], choice: Choice, guard: int
) -> StateIds:
    """Return the states to which a row leads that takes the same occurrence as `choice`.

    Args:
        folded: the choices of all states.
        states: the states from which the row may lead.
        choice: the choice of the occurrence.
        guard: anchors that hold before the row.
    """
    return frozenset(
        other.target
        for state in states
        for other in folded[state]
        if other.target is not None
        and other.variable == choice.variable
        and not other.guard & ~guard
    )


@dataclass(frozen=True, slots=True)
class Occurrences:
    """A compiled pattern, and how its choices relate to the row pattern as it is written."""

    # The pattern. Its choices map rows to the variables of the query.
    pattern: CompiledPattern
    # The variable's id, for each occurrence in the order of PATTERN.
    variables: tuple[int, ...]
    # The occurrence that a row takes, for each choice of all states in order; -1 if it accepts.
    occurrence_by_choice: tuple[int, ...]
    # The least number of rows that a match needs, for each state.
    remaining: tuple[int, ...]
    # For each state, the numbers of choices after which a match would need fewer rows, one for each
    # variable and guard. They are choices of the state or of its siblings.
    nearer_choices: tuple[tuple[int, ...], ...]


def compile_occurrences(
    compiled: CompiledPattern, pattern: RowPattern, *, every_way: bool = False
) -> Occurrences:
    """Compile a row pattern by occurrences of its variables.

    Args:
        compiled: the row pattern, compiled by variables.
        pattern: the row pattern.
        every_way: see `fold`. If it is set, the empty match is left out.

    Raises:
        MatchRecognizePlanError: the program would be too large.
    """
    names = compiled.program.variables
    numbers = count()
    variables: list[int] = []

    def number(node: RowPattern) -> RowPattern:
        """Replace each variable by one with the number of the occurrence as its name."""
        if not isinstance(node, Variable):
            return replace_children(node, number)
        variables.append(names.index(node.name))
        return replace(node, name=str(next(numbers)))

    numbered = number(pattern)
    program = compile_program(numbered, tuple(map(str, range(len(variables)))))
    folding = fold(program, every_way=every_way, span=pattern.span)
    if every_way:
        folding = drop_empty_match(folding)
    folding, siblings = copy_states_by_occurrences(folding, pattern.span)
    choices = tuple(
        tuple(restore_variable(choice, variables) for choice in state_choices)
        for state_choices in folding.choices
    )
    remaining = find_least_rows(choices)
    return Occurrences(
        pattern=CompiledPattern(compiled.program, replace(folding, choices=choices)),
        variables=tuple(variables),
        occurrence_by_choice=tuple(list_occurrences(folding.choices)),
        remaining=remaining,
        nearer_choices=tuple(list_nearer_choices(choices, remaining, siblings)),
    )


def find_stage_occurrences(compiled: CompiledPattern, stages: int) -> Occurrences:
    """Return the occurrences of a program of stages.

    Each stage is one occurrence, because no two have the same name.

    Args:
        compiled: the pattern of stages, compiled.
        stages: how many stages it has.
    """
    folding = compiled.folding
    remaining = find_least_rows(add_acceptances_by_time(folding))
    first_states = frozenset(range(folding.start_count))
    # A run that begins awaits the occurrences that any of the first states awaits.
    siblings = [
        first_states if state in first_states else frozenset()
        for state in range(len(folding.choices))
    ]
    return Occurrences(
        pattern=compiled,
        variables=tuple(range(stages)),
        occurrence_by_choice=tuple(list_occurrences(folding.choices)),
        remaining=remaining,
        nearer_choices=tuple(list_nearer_choices(folding.choices, remaining, siblings)),
    )


def add_acceptances_by_time(folding: Folding) -> Folded:
    """Return the choices, with an acceptance in states where a run needs only time, not rows."""
    accepting = []
    for choices, end in zip(folding.choices, folding.ending_kinds, strict=True):
        needs_only_time = end == A_MATCH or any(
            choice.effect is Effect.COMPLETE_RUN for choice in choices
        )
        accepting.append((*choices, ACCEPT) if needs_only_time else choices)
    return tuple(accepting)


def restore_variable(choice: Choice, variables: list[int]) -> Choice:
    """Return a choice of an occurrence as a choice of the variable that occurs there."""
    if choice.variable is None:
        return choice
    return replace(choice, variable=variables[choice.variable])


def list_occurrences(folded: Folded) -> Iterator[int]:
    """Yield the occurrence that each choice takes, -1 if it accepts."""
    for choices in folded:
        for choice in choices:
            yield -1 if choice.variable is None else choice.variable


def list_nearer_choices(
    folded: Folded, remaining: tuple[int, ...], siblings: list[StateIds]
) -> Iterator[tuple[int, ...]]:
    """Yield for each state the numbers of its nearer choices, see `Occurrences`."""
    first_numbers = [0, *accumulate(map(len, folded))]
    for state, rows in enumerate(remaining):
        numbers: dict[tuple[int | None, int], int] = {}
        for source in (state, *sorted(siblings[state])):
            for number, choice in enumerate(folded[source], first_numbers[source]):
                if is_nearer(choice, rows, remaining):
                    numbers.setdefault((choice.variable, choice.guard), number)
        yield tuple(numbers.values())
