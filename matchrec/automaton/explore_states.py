"""Explore the states of an automaton: number the reachable states, and limit their choices.

States can be of any hashable type, such as records with facts about the runs in a state.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from matchrec.automaton.folding import Choice
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.source import Span

# The most choices of a folding.
MAX_CHOICES = 200_000

_State = TypeVar("_State", bound=Hashable)


def number_states(
    starts: Iterable[_State],
    iterate_choices: Callable[[_State], Iterable[tuple[Choice, _State | None]]],
) -> Iterator[tuple[_State, tuple[Choice, ...]]]:
    """Explore states from some starts, and number them in the order in which they are found.

    Args:
        starts: the states with the first numbers.
        iterate_choices: returns the choices of a state, each with the state to which it leads; None
            if it leads nowhere.

    Yields:
        Each state with its choices, whose targets are numbers of states.
    """
    states = list(starts)
    numbers = {state: number for number, state in enumerate(states)}
    for state in states:  # grows while it is read
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
    """Yield the states of `number_states`, unless they have too many choices together.

    Args:
        numbered_states: the states with their choices.
        span: the location of the row pattern, for the error; None for a pattern of stages.

    Raises:
        MatchRecognizePlanError: there are more than MAX_CHOICES choices.
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
