"""Facts about the states of a folding that hold for any rows and any conditions.

Any condition may be true or false on any row. The functions that get `ChoicesByState` know nothing
of event selection, which lets a run skip rows and end without a choice: what they return is true
for foldings without it, and their callers add what it changes. The functions that get a `Folding`
respect it.

`follow_sets` and `ambiguity` have more facts about a folding.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator
from functools import partial

from matchrec.automaton.explore_states import find_reachable
from matchrec.automaton.folding import ChoicesByState, Effect, Folding
from matchrec.automaton.program import ANCHOR_END, VariableId, VariableIds
from matchrec.automaton.run_endings import A_MATCH, NOTHING

# The least number of rows, larger than any real one, of a state from which no match can be reached,
# or which no run can reach.
UNREACHABLE = 1 << 30


def find_least_rows(choices_by_state: ChoicesByState) -> tuple[int, ...]:
    """Return, for each state, the least number of further rows that a match needs.

    UNREACHABLE if no choices lead from the state to an acceptance, as in `A $ B`, where the choice
    of B has been dropped, because its guard cannot hold. For `A B* C`, the states are the first
    one, the one after A or B, and the one after C; their numbers are 2, 1 and 0.
    """
    sources: list[list[int]] = [[] for _ in choices_by_state]
    for state in range(len(choices_by_state)):
        for target in find_targets(choices_by_state, state):
            sources[target].append(state)
    # Breadth-first search from the accepting states, backwards.
    least_rows = [
        0 if any(choice.accepts for choice in choices) else UNREACHABLE
        for choices in choices_by_state
    ]
    queue = deque(state for state, rows in enumerate(least_rows) if rows == 0)
    while queue:
        state = queue.popleft()
        for source in sources[state]:
            if least_rows[source] == UNREACHABLE:
                least_rows[source] = least_rows[state] + 1
                queue.append(source)
    return tuple(least_rows)


def mark_live_states(choices_by_state: ChoicesByState) -> tuple[bool, ...]:
    """Return, for each state, whether a run can become a match by mapping at least one more row.

    Only runs that have mapped a row count, so a choice with `^` is impossible. A choice with `$`
    that maps a row is impossible, too; but a choice that accepts may have `$`, as the rows may end
    after that further row.
    """
    possible_choices = tuple(
        tuple(
            choice
            for choice in choices
            if choice.guard == 0 or (choice.accepts and choice.guard == ANCHOR_END)
        )
        for choices in choices_by_state
    )
    least_rows = find_least_rows(possible_choices)
    return tuple(
        any(least_rows[target] < UNREACHABLE for target in find_targets(possible_choices, state))
        for state in range(len(choices_by_state))
    )


def count_least_mapped_rows(folding: Folding, variables: VariableIds) -> tuple[int, ...]:
    """Return, for each state, the least number of rows that a run has mapped to `variables`.

    UNREACHABLE if no run reaches the state. For `A+ B` and the variable A, the states are the first
    one, the one after A, and the one after B; their numbers are 0, 1 and 1.

    Args:
        folding: a folding with one starting state.
        variables: the variables whose rows are counted.
    """
    assert folding.start_count == 1
    # Bellman-Ford: a step costs one row or none. States are numbered in the order in which they are
    # found, so most choices lead to later states, and few rounds are needed: 8,000 states of nested
    # loops take 13 ms.
    least_rows = [UNREACHABLE] * len(folding.choices)
    least_rows[0] = 0
    is_settled = False
    while not is_settled:
        is_settled = True
        for state, choices in enumerate(folding.choices):
            for choice in choices:
                if choice.target is None:
                    continue
                rows = least_rows[state] + (1 if choice.variable in variables else 0)
                if rows < least_rows[choice.target]:
                    least_rows[choice.target] = rows
                    is_settled = False
            state_after_skip = folding.find_state_after_skip(state)
            if state_after_skip is not None and least_rows[state] < least_rows[state_after_skip]:
                least_rows[state_after_skip] = least_rows[state]
                is_settled = False
    return tuple(least_rows)


def mark_states_worth_remembering(choices_by_state: ChoicesByState) -> tuple[bool, ...]:
    """Return, for each state, whether two runs that skip no rows can be in it at the same row.

    Only then it pays to remember that the search failed in the state at a row, because only then a
    second run can save the search from there. These are the states to which several choices lead,
    and all states after them. Beginning a run counts as one more choice, which leads to the first
    state. With event selection, which the result leaves aside, all states are worth remembering.

    For `A B+ C`, the result is true for the states after B and after C.
    """
    entry_counts = Counter(choice.target for choices in choices_by_state for choice in choices)
    entry_counts[0] += 1
    states = range(len(choices_by_state))
    shared_states = (state for state in states if entry_counts[state] > 1)
    worth_remembering = set(find_reachable(shared_states, partial(find_targets, choices_by_state)))
    return tuple(state in worth_remembering for state in states)


def find_targets(choices_by_state: ChoicesByState, state: int) -> tuple[int, ...]:
    """Return the states to which the next row can lead from a state, each once."""
    targets = (choice.target for choice in choices_by_state[state])
    return tuple(dict.fromkeys(target for target in targets if target is not None))


def output_needs_condition(folding: Folding, variables: Collection[VariableId]) -> bool:
    """Return whether a partition has no output unless some row satisfies a condition.

    For `A B*`, a partition has no output unless a row satisfies the condition of A.

    Args:
        folding: the folding of a program or of stages.
        variables: the variables that have the condition, and the tests of it. A test is numbered as
            a variable is.
    """

    def iterate_states_without_condition(state: int) -> Iterator[int]:
        """Yield the states to which a row leads if it does not satisfy the condition."""
        state_after_skip = folding.find_state_after_skip(state)
        if state_after_skip is not None:
            yield state_after_skip
        for choice in folding.choices[state]:
            tested_variable = choice.variable if choice.test is None else choice.test
            if choice.target is not None and tested_variable not in variables:
                yield choice.target

    starts = range(folding.start_count)
    states_without_condition = find_reachable(starts, iterate_states_without_condition)
    return not any(can_be_output(folding, state) for state in states_without_condition)


def can_be_output(folding: Folding, state: int) -> bool:
    """Return whether a run in a state can become a match or time out without mapping a row."""
    return (
        can_complete(folding, state)
        or any(choice.effect is Effect.TIME_OUT for choice in folding.choices[state])
        or folding.find_ending_kind(state) != NOTHING
    )


def can_complete(folding: Folding, state: int) -> bool:
    """Return whether a run in a state can become a match without mapping another row.

    The run can accept, a row that the run does not map can complete it, or the end of the window of
    the run can complete it.
    """
    if folding.find_ending_kind(state) == A_MATCH:
        return True
    return any(
        choice.accepts or choice.effect is Effect.COMPLETE_RUN for choice in folding.choices[state]
    )
