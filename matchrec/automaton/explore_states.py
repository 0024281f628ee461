"""Explore the states of an automaton: number them with their choices, or only find them.

`number_states` numbers the states that can be reached, and `limit_choices` stops it if the
automaton becomes too large. `find_reachable` finds the same states without their choices. States
can be of any hashable type, such as records with facts about the runs in a state.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from matchrec.automaton.folding import Choice
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.source import Span

# The largest number of choices in a folding. It keeps the time and the memory for compiling a row
# pattern within bounds: quantifiers such as `(A{1,1000} B){1,1000}` write a large folding in few
# characters.
MAX_CHOICES = 200_000

_State = TypeVar("_State", bound=Hashable)


def number_states(
    starts: Iterable[_State],
    iterate_choices: Callable[[_State], Iterable[tuple[Choice, _State | None]]],
) -> Iterator[tuple[_State, tuple[Choice, ...]]]:
    """Yield the states reachable from `starts`, numbered in the order in which they are found.

    Args:
        starts: the states with the first numbers, each once.
        iterate_choices: returns the choices of a state, each with its target state, or with None if
            the choice has no target.

    Yields:
        Each state in the order of the numbers, with its choices. Their targets are numbers.
    """
    states = list(starts)
    numbers = {state: number for number, state in enumerate(states)}
    for state in states:  # the loop appends to `states`
        choices = []
        for choice, target in iterate_choices(state):
            if target is None:
                choices.append(choice)
                continue
            if target not in numbers:
                numbers[target] = len(states)
                states.append(target)
            choices.append(replace(choice, target=numbers[target]))
        yield state, tuple(choices)


def limit_choices(
    numbered_states: Iterable[tuple[_State, tuple[Choice, ...]]], span: Span | None
) -> Iterator[tuple[_State, tuple[Choice, ...]]]:
    """Yield numbered states, until they have more than MAX_CHOICES choices in total.

    Args:
        numbered_states: the states with their choices, as `number_states` yields them.
        span: the location of the row pattern, at which the error points; None for a pattern of
            stages.

    Raises:
        MatchRecognizePlanError: the states have more than MAX_CHOICES choices in total.
    """
    choice_count = 0
    for state, choices in numbered_states:
        choice_count += len(choices)
        if choice_count > MAX_CHOICES:
            raise pattern_too_large(span, limit=MAX_CHOICES, what="choices")
        yield state, choices


def find_reachable(
    starts: Iterable[_State], iterate_targets: Callable[[_State], Iterable[_State]]
) -> Iterator[_State]:
    """Yield the starts and all states that can be reached from them, each once, in any order.

    Args:
        starts: the states from which the search begins.
        iterate_targets: returns the states to which a state leads directly.
    """
    reached_states = set(starts)
    unvisited_states = list(reached_states)
    while unvisited_states:
        state = unvisited_states.pop()
        yield state
        new_states = set(iterate_targets(state)) - reached_states
        reached_states |= new_states
        unvisited_states += new_states
