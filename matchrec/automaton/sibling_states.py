"""Copy states of a folding, so that the state of a run says which occurrences the run awaits.

Coverage identifies a run by the occurrences of variables that its rows take. The same occurrences
can lead to several states, which are *siblings*. An occurrence is *awaited* in a state if a match
needs fewer rows after it.

For example, the row B of `PERMUTE(A, B, C)` leads to two siblings. One sibling awaits A, for the
order B A C, and the other awaits C, for B C A. Coverage says that a run after B awaits A or C, so
each of the two states must know the other.

A state has different siblings after different occurrences if its rows can belong to different loops
or orders. For example, in `PERMUTE(A, B?, C)+`:

    rows     siblings after these rows
    B        B begins B A C; B begins B C A
    A C B    B begins B A C; B begins B C A; B ends A C B

Then each set of siblings gets a copy of the state. The matches and their preferment order stay the
same.

Cost: if `can_siblings_differ` says that no copies are needed, two passes over the choices. With
copies, the number of states is at worst exponential, so the number of choices is limited.

Source: Rabin and Scott, "Finite automata and their decision problems", the subsets of states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from matchrec.automaton.explore_states import limit_choices, number_states
from matchrec.automaton.facts import find_least_rows
from matchrec.automaton.folding import Choice, ChoicesByState, Folding
from matchrec.automaton.program import ANCHOR_START
from matchrec.source import Span

StateSet = frozenset[int]
OccurrenceSet = frozenset[int]


@dataclass(frozen=True, slots=True)
class StateCopy:
    """A copy of a state, for runs that have certain siblings of the state."""

    state: int
    # All states to which the occurrences of the run can lead, `state` included.
    siblings: StateSet


def copy_states_by_siblings(folding: Folding, span: Span | None) -> tuple[Folding, list[StateSet]]:
    """Copy states of a folding so that every run in a state has the same siblings.

    Args:
        folding: a folding whose variables are occurrences, without NOT. Only the choices of its
            start are allowed to have `^`.
        span: the location of the row pattern, for the error.

    Returns:
        The folding, with copies if any are needed; and for each of its states, the siblings in
        which a run awaits other occurrences and needs as many rows for a match.

    Raises:
        MatchRecognizePlanError: the copies have more than MAX_CHOICES choices.
    """
    remaining_rows = find_least_rows(folding.choices)
    awaited_occurrences = [
        find_awaited(folding.choices, state, remaining_rows)
        for state in range(len(folding.choices))
    ]
    no_siblings = [StateSet() for _ in folding.choices]
    if not can_siblings_differ(folding.choices, remaining_rows, awaited_occurrences):
        return folding, no_siblings

    start = StateCopy(0, StateSet([0]))
    numbered_states = number_states([start], partial(iterate_choices_of_copy, folding.choices))
    copies, copied_choices = zip(*limit_choices(numbered_states, span), strict=True)
    differing_siblings = [
        find_differing_siblings(copy, remaining_rows, awaited_occurrences) for copy in copies
    ]
    if not any(differing_siblings):
        return folding, no_siblings
    # All copies of a state await the same occurrences, so any copy can stand for a sibling: here,
    # the last copy.
    last_copies = {copy.state: number for number, copy in enumerate(copies)}
    siblings = [StateSet(last_copies[state] for state in states) for states in differing_siblings]
    program_states = tuple(folding.states[copy.state] for copy in copies)
    return replace(folding, choices=copied_choices, states=program_states), siblings


def find_awaited(
    choices_by_state: ChoicesByState, state: int, remaining_rows: Sequence[int]
) -> OccurrenceSet:
    """Return the occurrences by which a run in a state comes nearer to a match.

    Args:
        choices_by_state: the choices of all states; their variables are occurrences.
        state: the state in which the run waits.
        remaining_rows: see `brings_nearer`.
    """
    return OccurrenceSet(
        choice.variable
        for choice in choices_by_state[state]
        if choice.variable is not None
        and brings_nearer(choice, remaining_rows[state], remaining_rows)
    )


def brings_nearer(choice: Choice, rows_before: int, remaining_rows: Sequence[int]) -> bool:
    """Return whether a match needs fewer rows after a choice than before it.

    Args:
        choice: a choice of the state before it.
        rows_before: the least number of rows that a match needs before the choice.
        remaining_rows: the least number of rows that a match needs from each state, see
            `find_least_rows`.
    """
    return choice.target is not None and remaining_rows[choice.target] < rows_before


def can_siblings_differ(
    choices_by_state: ChoicesByState,
    remaining_rows: Sequence[int],
    awaited_occurrences: Sequence[OccurrenceSet],
) -> bool:
    """Return whether siblings might await different occurrences, so that states need copies.

    This is a quick check: it can be true although no siblings differ.

    Args:
        choices_by_state: the choices of all states; their variables are occurrences.
        remaining_rows: the least number of rows that a match needs from each state.
        awaited_occurrences: the occurrences that are awaited in each state.
    """
    has_siblings = any(
        len({choice.variable for choice in choices}) < len(choices) for choices in choices_by_state
    )
    if not has_siblings:
        return False
    # The occurrences that are awaited after an occurrence, in states with equally many further
    # rows.
    awaited_after: dict[tuple[int | None, int], OccurrenceSet] = {}
    for choices in choices_by_state:
        for choice in choices:
            if choice.target is None:
                continue
            key = (choice.variable, remaining_rows[choice.target])
            if (
                awaited_after.setdefault(key, awaited_occurrences[choice.target])
                != awaited_occurrences[choice.target]
            ):
                return True
    return False


def find_differing_siblings(
    copy: StateCopy, remaining_rows: Sequence[int], awaited_occurrences: Sequence[OccurrenceSet]
) -> StateSet:
    """Return the siblings in which a run awaits occurrences that the state itself does not await.

    Only siblings from which a match needs as many rows as from the state count.
    """
    return StateSet(
        sibling
        for sibling in copy.siblings
        if remaining_rows[sibling] == remaining_rows[copy.state]
        and not awaited_occurrences[sibling] <= awaited_occurrences[copy.state]
    )


def iterate_choices_of_copy(
    choices_by_state: ChoicesByState, copy: StateCopy
) -> Iterator[tuple[Choice, StateCopy | None]]:
    """Yield the choices of a copy, and the copy to which each leads; None if it accepts.

    An anchor can add siblings: in `PERMUTE(^ A?, B, C)`, B leads to the order `^ A? B C` only if
    `^` holds. Then a choice without `^` becomes two choices: first a choice with `^`, then the
    choice itself.
    """
    for choice in choices_by_state[copy.state]:
        if choice.target is None:
            yield choice, None
            continue
        siblings = find_siblings_after(choices_by_state, copy.siblings, choice.variable, anchors=0)
        siblings_at_start = find_siblings_after(
            choices_by_state, copy.siblings, choice.variable, ANCHOR_START
        )
        if choice.guard & ANCHOR_START:
            yield choice, StateCopy(choice.target, siblings_at_start)
            continue
        if siblings_at_start != siblings:
            anchored_choice = replace(choice, guard=ANCHOR_START)
            yield anchored_choice, StateCopy(choice.target, siblings_at_start)
        yield choice, StateCopy(choice.target, siblings)


def find_siblings_after(
    choices_by_state: ChoicesByState, states: StateSet, occurrence: int | None, anchors: int
) -> StateSet:
    """Return the states to which a row leads if it takes an occurrence.

    Args:
        choices_by_state: the choices of all states; their variables are occurrences.
        states: the states in which the run can be before the row.
        occurrence: the occurrence that the row takes.
        anchors: bits of the anchors that hold before the row.
    """
    return StateSet(
        choice.target
        for state in states
        for choice in choices_by_state[state]
        if choice.target is not None
        and choice.variable == occurrence
        and is_guarded_only_by(choice, anchors)
    )


def is_guarded_only_by(choice: Choice, anchors: int) -> bool:
    """Return whether a choice has only the guard bits of `anchors`."""
    return choice.guard & ~anchors == 0
