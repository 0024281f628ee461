"""The compiled row pattern of a plan: its program, its folding, and facts about them.

`compile.compile_pattern` compiles the row pattern once for a query, after `plan.resolve`. Pruning,
the choice of the algorithm, lookaround and cost read the facts. The search makes its arrays from
the folding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from matchrec.automaton.ambiguity import is_exponentially_ambiguous
from matchrec.automaton.facts import find_targets, mark_states_worth_remembering
from matchrec.automaton.folding import Folding
from matchrec.automaton.follow_sets import FollowSets
from matchrec.automaton.program import Program


@dataclass(frozen=True)
class CompiledPattern:
    """A program, its folding, and facts about them, which are computed when they are first read.

    Instances can be pickled, so that workers need not fold the program again. The hash does not
    visit every edge, because it is needed often.
    """

    program: Program
    folding: Folding

    def __hash__(self) -> int:
        return hash((self.program, len(self.folding.choices)))

    @cached_property
    def longest_match(self) -> int | None:
        """Return the most rows that a match can have; None if there is no limit.

        The result is 3 for `A B? C`. Rows that the match skips do not count.
        """
        choices_by_state = self.folding.choices
        targets_by_state = {
            state: find_targets(choices_by_state, state) for state in range(len(choices_by_state))
        }
        longest_lengths: dict[int, int] = {}
        try:
            # Each state comes after all states to which it leads.
            for state in TopologicalSorter(targets_by_state).static_order():
                lengths = (longest_lengths[target] + 1 for target in targets_by_state[state])
                longest_lengths[state] = max(lengths, default=0)
        except CycleError:
            return None
        return max(longest_lengths[state] for state in range(self.folding.start_count))

    @cached_property
    def is_deterministic(self) -> bool:
        """Return whether every state has at most one choice, accepting included.

        `A B C` is deterministic. `A B+ C` is not, because a row after B may satisfy the conditions
        of both B and C.
        """
        return all(len(choices) <= 1 for choices in self.folding.choices)

    @cached_property
    def is_exponentially_ambiguous(self) -> bool:
        """Return whether the number of ways over k rows may grow exponentially with k.

        See `ambiguity.is_exponentially_ambiguous`.
        """
        return is_exponentially_ambiguous(self.folding.choices)

    @cached_property
    def has_shared_states(self) -> bool:
        """Return whether two runs that skip no rows can be in the same state at the same row.

        They cannot for `A B C D`: the state says how far a run is from its first row. Runs that
        skip rows always can.
        """
        return any(mark_states_worth_remembering(self.folding.choices))

    @cached_property
    def guards(self) -> int:
        """Return the bits of the guards of all choices: see `Choice.guard`."""
        guards = 0
        for choices in self.folding.choices:
            for choice in choices:
                guards |= choice.guard
        return guards

    @cached_property
    def follow_sets(self) -> FollowSets:
        """Return which variables begin and end matches, and which follow each other."""
        return FollowSets.compute(self.folding)
