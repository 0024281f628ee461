"""The row pattern of a plan, compiled: its program, the program folded, and facts about them.

`compile.compile_pattern` makes it once for a query, right after `plan.resolve`. Pruning, the choice
of the algorithm, lookaround and cost read its facts. The search makes its arrays from the folding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from graphlib import CycleError, TopologicalSorter

from matchrec.automaton.explore_states import find_reachable
from matchrec.automaton.facts import FollowSets, find_states_worth_remembering, find_targets
from matchrec.automaton.folding import Folding
from matchrec.automaton.program import Program

# A program with more states counts as ambiguous without a search, because the search takes the
# square of the number of states.
MOST_SEARCHED = 60


@dataclass(frozen=True)
class CompiledPattern:
    """A program and its folding, which says what a row does to a run in each state.

    Facts are computed when they are first read. It can be pickled, so that workers need not fold
    the program again. The hash does not visit every edge.
    """

    program: Program
    folding: Folding

    def __hash__(self) -> int:
        return hash((self.program, len(self.folding.choices)))

    @cached_property
    def longest_match(self) -> int | None:
        """Return the number of rows of the longest match, None if there is no bound."""
        choices_by_state = self.folding.choices
        targets_by_state = {
            state: find_targets(choices_by_state, state) for state in range(len(choices_by_state))
        }
        longest: dict[int, int] = {}
        try:
            # Each state comes after all states to which it leads.
            for state in TopologicalSorter(targets_by_state).static_order():
                lengths = (longest[target] + 1 for target in targets_by_state[state])
                longest[state] = max(lengths, default=0)
        except CycleError:
            return None
        return max(longest[state] for state in range(self.folding.start_count))

    @cached_property
    def is_deterministic(self) -> bool:
        """Return whether every state has at most one way out, stopping included.

        Conditions are unknown here, so two variables may hold for the same row.
        """
        return all(len(choices) <= 1 for choices in self.folding.choices)

    @cached_property
    def is_exponentially_ambiguous(self) -> bool:
        """Return whether the number of ways over k rows may grow exponentially with k.

        It does if two different ways of equal length lead from a state back to itself. Conditions
        are unknown here, so any variables may hold for the same row. If two choices of a state lead
        back to it, after m and n rows, there are such ways: the first choice n times and the second
        one m times. A program with more than MOST_SEARCHED states counts as ambiguous.

        Source: Weber and Seidl, "On the degree of ambiguity of finite automata", criterion EDA.
        """
        choices_by_state = self.folding.choices
        if len(choices_by_state) > MOST_SEARCHED:
            return True
        iterate_targets = partial(find_targets, choices_by_state)
        reached = [
            set(find_reachable([state], iterate_targets)) for state in range(len(choices_by_state))
        ]
        for state, choices in enumerate(choices_by_state):
            leads_back = [
                choice.target is not None and state in reached[choice.target] for choice in choices
            ]
            if sum(leads_back) > 1:
                return True
        return False

    @cached_property
    def has_shared_states(self) -> bool:
        """Return whether two runs that begin with different rows can be in one state at one row.

        They cannot for `A B C D`: the state says how far a run is from its first row.
        """
        return any(find_states_worth_remembering(self.folding.choices))

    @cached_property
    def guards(self) -> int:
        """Return the guards of all choices, as one set of bits."""
        guards = 0
        for choices in self.folding.choices:
            for choice in choices:
                guards |= choice.guard
        return guards

    @cached_property
    def follow_sets(self) -> FollowSets:
        """Return which variables begin and end matches, and which follow each other."""
        return FollowSets.compute(self.folding)
