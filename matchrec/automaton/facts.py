"""Facts about a row pattern that follow from its folded program alone, whatever the rows are.

`FollowSets` of `A B* (C | D)`: it begins with A, ends with C or D, and has the pairs A B, A C,
A D, B B, B C and B D.

Source: Glushkov, "The abstract theory of automata", the sets First, Last and Follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from matchrec.automaton.explore_states import find_reachable
from matchrec.automaton.folding import Choice, ChoicesByState, Effect, Folding
from matchrec.automaton.program import GUARD_END, VariableId
from matchrec.automaton.run_endings import A_MATCH, NOTHING

# A number of rows that stands for "no number of rows is enough".
UNREACHABLE = 1 << 30


def find_least_rows(choices_by_state: ChoicesByState) -> tuple[int, ...]:
    """Return for each state the least number of rows that a match needs from there.

    UNREACHABLE if no way leads to an acceptance, as in `A $ B`. For `A B* C` it is 2, 1, 0.
    """
    # Breadth-first search from the accepting states, backwards.
    sources: list[list[int]] = [[] for _ in choices_by_state]
    for state in range(len(choices_by_state)):
        for target in find_targets(choices_by_state, state):
            sources[target].append(state)
    least = [
        0 if any(choice.accepts for choice in choices) else UNREACHABLE
        for choices in choices_by_state
    ]
    reached = [state for state, rows in enumerate(least) if rows == 0]
    for state in reached:  # grows while it is read
        for source in sources[state]:
            if least[source] == UNREACHABLE:
                least[source] = least[state] + 1
                reached.append(source)
    return tuple(least)


def find_live_states(choices_by_state: ChoicesByState) -> tuple[bool, ...]:
    """Return for each state whether a run there can become a match by mapping one more row or more.

    The run has mapped a row already.
    """

    def is_possible(choice: Choice) -> bool:
        """Return whether a choice is possible after the first row.

        No such row is the first one of its partition, and no row before another one is the last.
        """
        return choice.guard == 0 or (choice.accepts and choice.guard == GUARD_END)

    later = tuple(tuple(filter(is_possible, choices)) for choices in choices_by_state)
    least = find_least_rows(later)
    return tuple(
        any(least[target] < UNREACHABLE for target in find_targets(later, state))
        for state in range(len(choices_by_state))
    )


def find_least_mapped(folding: Folding, members: frozenset[VariableId]) -> tuple[int, ...]:
    """Return for each state the least number of rows mapped to `members` by a run that is there.

    Args:
        folding: a folding with one starting state.
        members: the variables.
    """
    assert folding.start_count == 1
    choices_by_state = folding.choices
    least = [0, *(UNREACHABLE for _ in choices_by_state[1:])]
    changed = True
    while changed:
        changed = False
        for state, choices in enumerate(choices_by_state):
            for choice in choices:
                rows = least[state] + (choice.variable in members)
                if choice.target is not None and rows < least[choice.target]:
                    least[choice.target] = rows
                    changed = True
    return tuple(least)


def find_states_worth_remembering(choices_by_state: ChoicesByState) -> tuple[bool, ...]:
    """Return for each state whether a search should remember that it failed there at a row.

    It should if a second search or way can reach the state at the same row. That is possible from a
    state with several entries on. Searches begin in the starting state, which is one more entry.
    """
    entries = Counter(choice.target for choices in choices_by_state for choice in choices)
    entries[0] += 1
    shared_states = (state for state in range(len(choices_by_state)) if entries[state] > 1)
    reached = set(find_reachable(shared_states, partial(find_targets, choices_by_state)))
    return tuple(state in reached for state in range(len(choices_by_state)))


def find_targets(choices_by_state: ChoicesByState, state: int) -> tuple[int, ...]:
    """Return the states that one row can lead to from a state, each once."""
    return tuple(
        dict.fromkeys(
            choice.target for choice in choices_by_state[state] if choice.target is not None
        )
    )


@dataclass(frozen=True, slots=True)
class FollowSets:
    """The variables at both ends of matches, and the pairs of variables that follow each other."""

    # Variables to which the first row of a match can be mapped.
    first: frozenset[VariableId]
    # Variables to which the last row of a match can be mapped.
    last: frozenset[VariableId]
    # The variables to which two adjacent rows of a match can be mapped, in order.
    pairs: frozenset[tuple[VariableId, VariableId]]
    # Whether a match can be empty.
    matches_empty: bool

    @classmethod
    def compute(cls, folding: Folding) -> FollowSets:
        """Return the sets of a folded program."""
        choices_by_state = folding.choices
        starts = range(folding.start_count)
        variables_from: list[set[VariableId]] = [set() for _ in choices_by_state]
        accepting = set[int]()
        entries = set[tuple[VariableId, int]]()  # a variable, and the state that its row leads to
        for state, choices in enumerate(choices_by_state):
            for choice in choices:
                if choice.accepts:
                    accepting.add(state)
                if choice.variable is not None:
                    variables_from[state].add(choice.variable)
                    if choice.target is not None:
                        entries.add((choice.variable, choice.target))
        return cls(
            first=frozenset[VariableId]().union(*(variables_from[state] for state in starts)),
            last=frozenset(variable for variable, state in entries if state in accepting),
            pairs=frozenset(
                (variable, following)
                for variable, state in entries
                for following in variables_from[state]
            ),
            matches_empty=any(state in accepting for state in starts),
        )

    def find_predecessors(self, variable: VariableId) -> frozenset[VariableId]:
        """Return the variables to which the row before a row of `variable` can be mapped."""
        return frozenset(first for first, second in self.pairs if second == variable)


def output_needs_condition(folding: Folding, variables: Collection[VariableId]) -> bool:
    """Return whether every output of a partition needs a row that satisfies a condition.

    Other conditions are unknown here, so any of them may hold.

    Args:
        folding: the folded program.
        variables: the variables and tests that have the condition.
    """
    ending_effects = (Effect.COMPLETE_RUN, Effect.TIME_OUT)

    def iterate_targets(state: int) -> Iterator[int]:
        """Yield where a run goes that maps no row by this condition."""
        waiting_state = folding.find_waiting_state(state)
        if waiting_state is not None:
            yield waiting_state
        for choice in folding.choices[state]:
            checked = choice.variable if choice.test is None else choice.test
            if choice.target is not None and checked not in variables:
                yield choice.target

    def has_output(state: int) -> bool:
        """Return whether a run in this state can become a match or time out."""
        choices = folding.choices[state]
        if any(choice.accepts or choice.effect in ending_effects for choice in choices):
            return True
        return folding.find_ending_kind(state) != NOTHING

    states = find_reachable(range(folding.start_count), iterate_targets)
    return not any(has_output(state) for state in states)


def can_complete(folding: Folding, state: int) -> bool:
    """Return whether a run in a state can become a match by mapping no more rows.

    It accepts, or a row that it does not map completes it, or the end of its window does.
    """
    if any(
        choice.accepts or choice.effect is Effect.COMPLETE_RUN for choice in folding.choices[state]
    ):
        return True
    return folding.find_ending_kind(state) == A_MATCH


class RunPair(NamedTuple):
    """Two runs that have mapped the same rows to the same variables."""

    # Their states.
    left: int
    right: int
    # Whether they have come to their states in different ways.
    differs: bool


def can_find_match_twice(folding: Folding, waiting_states: tuple[int | None, ...]) -> bool:
    """Return whether two ways may map the same rows to the same variables and both be a match.

    Conditions, tests and effects are unknown here, so any of them may hold. The search follows two
    ways at once: it visits pairs of states, each with whether the two ways have differed so far.

    Source: Book, Even, Greibach, Ott, "Ambiguity in graphs and expressions", IEEE TC 20(2), 1971.

    Args:
        folding: the folded program.
        waiting_states: for each state the one in which a run waits after it skips a row; None if it
            may not skip one.
    """
    choices_by_state = folding.choices
    completing = [can_complete(folding, state) for state in range(len(choices_by_state))]

    def iterate_next_pairs(pair: RunPair) -> Iterator[RunPair]:
        """Yield the pairs of states that two runs can reach with the next row."""
        left_waiting = waiting_states[pair.left]
        right_waiting = waiting_states[pair.right]
        if left_waiting is not None and right_waiting is not None:
            yield RunPair(left_waiting, right_waiting, pair.differs)
        for left_index, left_choice in enumerate(choices_by_state[pair.left]):
            for right_index, right_choice in enumerate(choices_by_state[pair.right]):
                if left_choice.variable != right_choice.variable:
                    continue
                if left_choice.target is not None and right_choice.target is not None:
                    differs = pair.differs or left_index != right_index
                    yield RunPair(left_choice.target, right_choice.target, differs)

    starts = range(folding.start_count)
    first_pairs = (RunPair(left, right, left != right) for left in starts for right in starts)
    return any(
        pair.differs and completing[pair.left] and completing[pair.right]
        for pair in find_reachable(first_pairs, iterate_next_pairs)
    )
