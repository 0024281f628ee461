"""Number the states of a program in the order of the row pattern, and drop unreachable ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from matchrec.automaton.program import State, StateId


def order_states(
    states: Sequence[State], start: StateId, ends: tuple[StateId, ...]
) -> dict[StateId, StateId]:
    """Number the states reachable from `start` in the order of the pattern.

    A state comes after all states that lead to it, except over edges that go back: the copies of
    what a counted loop repeats follow each other. Of alternatives the preferred one comes first.

    Args:
        states: the states.
        start: the state that gets number 0.
        ends: states that get the last numbers.

    Returns:
        The new number of each state, in the new order.
    """
    # A state is finished after all states that it leads to (depth-first search, postorder).
    finished: list[StateId] = []
    visited = set(ends)
    waiting = [(start, False)]  # a state, and whether the states that it leads to are finished
    while waiting:
        state, targets_are_finished = waiting.pop()
        if targets_are_finished:
            finished.append(state)
        elif state not in visited:
            visited.add(state)
            waiting.append((state, True))
            waiting += [(edge.target, False) for edge in states[state].edges]
    order = [*reversed(finished), *ends]
    return {state: number for number, state in enumerate(order)}


def renumber_states(states: Sequence[State], order: Mapping[StateId, StateId]) -> tuple[State, ...]:
    """Return the states in a new order, as `order_states` gives it, with edges renumbered."""
    return tuple(
        State(tuple(replace(edge, target=order[edge.target]) for edge in states[old].edges))
        for old in order
    )
