"""Decide whether different runs can match the same rows.

The functions read the choices of each state from a *folding* (see `folding`). The *way* of a run is
the sequence of choices by which it has come to its state. Two questions are independent:

    pattern      ways over k rows          one match can be found by two ways
    (A | B)*     2^k: exponential          no: two ways map some row to different variables
    A? A?        2 over one row: bounded   yes: either A? can map the row
    (A | A A)*   exponential               yes: A A A is A, A, A, or A, A A, or A A, A

Conditions are ignored, as if several of them could be true on any row. So a result of True may be a
false alarm, and False is certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

from matchrec.automaton.explore_states import find_reachable
from matchrec.automaton.facts import can_complete, find_targets
from matchrec.automaton.folding import ChoicesByState, Folding

# A folding with more states counts as exponentially ambiguous without a search, because the search
# takes time proportional to the square of the number of states.
MAX_SEARCHED_STATES = 60


def is_exponentially_ambiguous(choices_by_state: ChoicesByState) -> bool:
    """Return whether the number of ways over k rows may grow exponentially with k.

    The number grows exponentially if, and only if, two different ways of equal length lead from a
    state back to itself. There are such ways if two choices of a state lead back to it, after m and
    n rows: take the first choice n times, and the second choice m times. Conversely, two such ways
    part in a state, and both lead back there, by two choices.

    If there are more than MAX_SEARCHED_STATES states, the result is True without a search.

    Source: Weber and Seidl, "On the degree of ambiguity of finite automata", criterion EDA.

    >>> from matchrec.automaton.folding import Choice
    >>> to_first = Choice(guard=0, variable=0, target=0)
    >>> to_second = Choice(guard=0, variable=0, target=1)
    >>> is_exponentially_ambiguous(((to_first, to_second), ()))
    False
    >>> is_exponentially_ambiguous(((to_first, to_second), (to_first,)))
    True
    """
    if len(choices_by_state) > MAX_SEARCHED_STATES:
        return True
    list_targets = partial(find_targets, choices_by_state)
    reachable_states = [
        set(find_reachable([state], list_targets)) for state in range(len(choices_by_state))
    ]
    for state, choices in enumerate(choices_by_state):
        leading_back_count = sum(
            choice.target is not None and state in reachable_states[choice.target]
            for choice in choices
        )
        if leading_back_count > 1:
            return True
    return False


class RunPair(NamedTuple):
    """Two runs that have mapped the same rows to the same variables."""

    # The state of the first run.
    first: int
    # The state of the second run.
    second: int
    # Whether the runs have come to their states in different ways. If not, the states are equal.
    ways_differ: bool


def can_find_match_twice(folding: Folding, states_after_skip: tuple[int | None, ...]) -> bool:
    """Return whether two ways may map the same rows to the same variables and both be a match.

    The search follows two runs at once: it visits all `RunPair`s that can be reached. Its time is
    proportional to the square of the number of choices.

    Source: Book, Even, Greibach, Ott, "Ambiguity in graphs and expressions", IEEE TC 20(2), 1971.

    Args:
        folding: a folding of a program or of stages.
        states_after_skip: `Task.states_after_skip`: for each state, the state in which a run waits
            after it skips a row; None if it may not skip a row. It is not the folding's field of
            this name, which is empty for row patterns.

    >>> from matchrec.automaton.folding import Choice
    >>> to_first = Choice(guard=0, variable=0, target=0)
    >>> end = Choice(guard=0, variable=None, target=None)
    >>> can_find_match_twice(Folding(((to_first, end),), states=(0,)), (None,))
    False
    >>> can_find_match_twice(Folding(((to_first, to_first, end),), states=(0,)), (None,))
    True
    """
    assert len(states_after_skip) == len(folding.choices), "pass `Task.states_after_skip`"
    can_state_complete = [can_complete(folding, state) for state in range(len(folding.choices))]
    starting_pairs = [
        RunPair(first, second, ways_differ=first != second)
        for first, second in product(range(folding.start_count), repeat=2)
    ]
    list_next_pairs = partial(iterate_next_pairs, folding.choices, states_after_skip)
    for pair in find_reachable(starting_pairs, list_next_pairs):
        if pair.ways_differ and can_state_complete[pair.first] and can_state_complete[pair.second]:
            return True
    return False


def iterate_next_pairs(
    choices_by_state: ChoicesByState, states_after_skip: tuple[int | None, ...], pair: RunPair
) -> Iterator[RunPair]:
    """Yield the pairs of states that two runs reach with the next row.

    Either both runs skip the row, or both map it to the same variable.
    """
    first_after_skip = states_after_skip[pair.first]
    second_after_skip = states_after_skip[pair.second]
    if first_after_skip is not None and second_after_skip is not None:
        yield RunPair(first_after_skip, second_after_skip, pair.ways_differ)
    yield from iterate_pairs_after_mapping(choices_by_state, pair)


def iterate_pairs_after_mapping(
    choices_by_state: ChoicesByState, pair: RunPair
) -> Iterator[RunPair]:
    """Yield the pairs of states that two runs reach if both map the next row to one variable."""
    for first_index, first_choice in enumerate(choices_by_state[pair.first]):
        for second_index, second_choice in enumerate(choices_by_state[pair.second]):
            if first_choice.variable != second_choice.variable:
                continue
            if first_choice.target is not None and second_choice.target is not None:
                # Before the ways differ, both runs are in one state, so the indices are comparable.
                ways_differ = pair.ways_differ or first_index != second_index
                yield RunPair(first_choice.target, second_choice.target, ways_differ)
