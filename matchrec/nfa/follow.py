"""Which variables begin a match, which end it, and which follow each other in it.

`A B* (C | D)` begins with A, ends with C or D, and has the pairs A B, A C, A D, B B, B C and B D.

Source: Glushkov, "The abstract theory of automata", the sets First, Last and Follow.
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.nfa.closure import Folded
from matchrec.nfa.program import VariableId


@dataclass(frozen=True, slots=True)
class FollowSets:
    """Variables at the ends of matches, and the pairs of variables that follow each other.

    pairs: of adjacent rows, the variable of the first and that of the second. matches_empty:
    whether a match may be without rows.
    """

    first: frozenset[VariableId]
    last: frozenset[VariableId]
    pairs: frozenset[tuple[VariableId, VariableId]]
    matches_empty: bool

    @classmethod
    def of(cls, folded: Folded) -> FollowSets:
        """What the folded program allows."""
        accepting = {state for state, ways in enumerate(folded) if any(c.accepts for c in ways)}
        onward = [{c.variable for c in choices if c.variable is not None} for choices in folded]
        into = {
            (choice.variable, choice.target)
            for choices in folded
            for choice in choices
            if choice.variable is not None and choice.target is not None
        }
        pairs = frozenset((one, other) for one, state in into for other in onward[state])
        last = frozenset(variable for variable, state in into if state in accepting)
        return cls(frozenset(onward[0]), last, pairs, 0 in accepting)

    def before(self, variable: VariableId) -> frozenset[VariableId]:
        """The variables that may stand before one."""
        return frozenset(one for one, other in self.pairs if other == variable)

    def after(self, variable: VariableId) -> frozenset[VariableId]:
        """The variables that may stand after one."""
        return frozenset(other for one, other in self.pairs if one == variable)
