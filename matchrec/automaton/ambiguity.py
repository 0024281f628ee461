"""Find out from a folding whether runs can take the same rows in several ways.

The *way* of a run is the sequence of choices by which it has come to its state. `(A | B)*` has 2^k
ways over k rows, but finds no match twice, because two ways map some row to different variables.
`(A | A A)*` has three ways over the rows A A A, and all of them are the same match.

The results hold for any conditions: several conditions may be true on the same row.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

from matchrec.automaton.explore_states import find_reachable
from matchrec.automaton.facts import can_complete, find_targets
from matchrec.automaton.folding import ChoicesByState, Folding

# A folding with more states counts as ambiguous without a search, because the search takes the
# square of the number of states.
MAX_SEARCHED_STATES = 60


def is_exponentially_ambiguous(choices_by_state: ChoicesByState) -> bool:
    """Return whether the number of ways over k rows may grow exponentially with k.

    The number grows exponentially if two different ways of equal length lead from a state back to
    itself. If two choices of a state lead back to it, after m and n rows, there are such ways: the
    first choice n times, and the second choice m times.

    The result is True for any choices of more than MAX_SEARCHED_STATES states.

    Source: Weber and Seidl, "On the degree of ambiguity of finite automata", criterion EDA.
    """
    if len(choices_by_state) > MAX_SEARCHED_STATES:
        return True
    iterate_targets = partial(find_targets, choices_by_state)
    reachable_states = [
        set(find_reachable([state], iterate_targets)) for state in range(len(choices_by_state))
    ]
    for state, choices in enumerate(choices_by_state):
        choices_that_lead_back = [
            choice
            for choice in choices
            if choice.target is not None and state in reachable_states[choice.target]
        ]
        if len(choices_that_lead_back) > 1:
            return True
    return False


class RunPair(NamedTuple):
    """Two runs that have mapped the same rows to the same variables."""

    # The state of the first run.
    first: int
    # The state of the second run.
    second: int
    # Whether the runs have come to their states in different ways.
    has_two_ways: bool


def can_find_match_twice(folding: Folding, states_after_skip: tuple[int | None, ...]) -> bool:
    """Return whether two ways may map the same rows to the same variables and both be a match.

    The result holds for any tests and effects. The search follows two runs at once: it visits all
    `RunPair`s that can be reached.

    Source: Book, Even, Greibach, Ott, "Ambiguity in graphs and expressions", IEEE TC 20(2), 1971.

    Args:
        folding: a folding of a program or of stages.
        states_after_skip: for each state, the state in which a run waits after it skips a row; None
            if it may not skip a row.
    """

    def iterate_next_pairs(pair: RunPair) -> Iterator[RunPair]:
        """Yield the pairs of states that two runs can reach with the next row."""
        first_state_after_skip = states_after_skip[pair.first]
        second_state_after_skip = states_after_skip[pair.second]
        if first_state_after_skip is not None and second_state_after_skip is not None:
            yield RunPair(first_state_after_skip, second_state_after_skip, pair.has_two_ways)
        yield from iterate_pairs_after_mapping(folding.choices, pair)

    can_state_complete = [can_complete(folding, state) for state in range(len(folding.choices))]
    starting_pairs = [
        RunPair(first, second, first != second)
        for first, second in product(range(folding.start_count), repeat=2)
    ]
    for pair in find_reachable(starting_pairs, iterate_next_pairs):
        if pair.has_two_ways and can_state_complete[pair.first] and can_state_complete[pair.second]:
            return True
    return False


def iterate_pairs_after_mapping(
    choices_by_state: ChoicesByState, pair: RunPair
) -> Iterator[RunPair]:
    """Yield the pairs of states that two runs reach if both map the next row to one variable."""
    for first_index, first_choice in enumerate(choices_by_state[pair.first]):
        for second_index, second_choice in enumerate(choices_by_state[pair.second]):
            if first_choice.variable != second_choice.variable:
                continue
            if first_choice.target is not None and second_choice.target is not None:
                has_two_ways = pair.has_two_ways or first_index != second_index
                yield RunPair(first_choice.target, second_choice.target, has_two_ways)
