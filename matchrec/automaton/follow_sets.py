"""Find the variables that can begin and end matches, and the pairs that can follow each other.

The sets follow from the pattern: `A B* (C | D)` begins with A, ends with C or D, and has the pairs
A B, A C, A D, B B, B C and B D.

Source: Glushkov, "The abstract theory of automata", the sets First, Last and Follow.
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.automaton.folding import Folding
from matchrec.automaton.program import VariableId


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
        """Return the follow sets of a folding."""
        next_variables: list[set[VariableId]] = [set() for _ in folding.choices]
        accepting_states = set[int]()
        # Each variable with each state to which a row of the variable leads.
        entered_states = set[tuple[VariableId, int]]()
        for state, choices in enumerate(folding.choices):
            for choice in choices:
                if choice.accepts:
                    accepting_states.add(state)
                if choice.variable is not None:
                    next_variables[state].add(choice.variable)
                    if choice.target is not None:
                        entered_states.add((choice.variable, choice.target))

        starts = range(folding.start_count)
        first = {variable for state in starts for variable in next_variables[state]}
        last = {variable for variable, state in entered_states if state in accepting_states}
        pairs = {
            (variable, next_variable)
            for variable, state in entered_states
            for next_variable in next_variables[state]
        }
        return cls(
            first=frozenset(first),
            last=frozenset(last),
            pairs=frozenset(pairs),
            matches_empty=any(state in accepting_states for state in starts),
        )

    def find_predecessors(self, variable: VariableId) -> frozenset[VariableId]:
        """Return the variables to which the row before a row of `variable` can be mapped."""
        return frozenset(
            earlier_variable
            for earlier_variable, later_variable in self.pairs
            if later_variable == variable
        )
