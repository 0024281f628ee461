"""NOT in a pattern that skips no rows: the choices that come through a NOT get tests of their own.

A test asks the variable's condition and what NOT forbids. Where a state may accept only if a NOT
holds, it becomes two, with and without the acceptance: the row after decides which of them a row
leads to, and that is a part of the test of the row that leads there.

    A NOT B C      A, then C where the row is no B
    A+ NOT B       A where the row after it is no B → a match; A where it is one → go on
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from matchrec.dataclass import dataclass
from matchrec.errors.sql.negation import negation_at_start, several_ends
from matchrec.nfa.closure import ANCHORS, Choice, Folding, forbidden_by
from matchrec.source import Span

Names = frozenset[int]
NONE: Names = frozenset()


@dataclass(frozen=True, slots=True)
class Restriction:
    """What a test asks beside the condition of `variable`; ids of variables.

    here: that the row satisfies none of these conditions. absent: that the row after it, if there
    is one, satisfies none of these; present: that there is one that satisfies some of these.
    """

    variable: int
    here: Names = NONE
    absent: Names = NONE
    present: Names = NONE


@dataclass(frozen=True, slots=True)
class Place:
    """A state, and what is known of the row after: that it is none of `absent`, or a `present`."""

    state: int
    absent: Names = NONE
    present: Names = NONE


@dataclass(slots=True)
class Separation:
    """Makes the states of a folding without NOTs. tests: the number of the first test.

    places: what has become a state, in order. restrictions: of the tests, in order.
    """

    folding: Folding
    tests: int
    span: Span | None
    places: dict[Place, int] = field(default_factory=dict)
    restrictions: dict[Restriction, int] = field(default_factory=dict)

    def separate(self) -> Folding:
        """The folding with tests instead of NOTs."""
        if any(choice.guard & ~ANCHORS for choice in self.folding.choices[0]):
            raise negation_at_start(self.span)
        order = [Place(0)]
        self.places[order[0]] = 0
        states = []
        for place in order:  # grows while it is read
            choices = []
            for choice in self.possible(place):
                for target in self.targets(choice):
                    if target not in self.places:
                        self.places[target] = len(order)
                        order.append(target)
                    choices.append(self.tested(choice, place, target))
                if choice.target is None:
                    choices.append(replace(choice, guard=choice.guard & ANCHORS))
            states.append(tuple(choices))
        return Folding(tuple(states), tuple(self.folding.states[one.state] for one in order))

    def possible(self, place: Place) -> Iterator[Choice]:
        """The choices of a state that the row after does not rule out."""
        accepts = False
        for choice in self.folding.choices[place.state]:
            here = forbidden_by(choice.guard)
            if choice.target is None and (not here or here == place.absent):
                if not accepts:
                    yield choice
                accepts = accepts or not choice.guard & ANCHORS
            elif choice.target is not None and not (place.present and place.present <= here):
                yield choice

    def targets(self, choice: Choice) -> Iterator[Place]:
        """Where a choice leads to, by the row after."""
        if choice.target is None:
            return
        ends = {
            forbidden_by(one.guard)
            for one in self.folding.choices[choice.target]
            if one.target is None
        } - {NONE}
        if len(ends) > 1:
            raise several_ends(self.span)
        if not ends:
            yield Place(choice.target)
            return
        yield Place(choice.target, absent=next(iter(ends)))
        other = Place(choice.target, present=next(iter(ends)))
        if any(True for _ in self.possible(other)):
            yield other

    def tested(self, choice: Choice, source: Place, target: Place) -> Choice:
        """The choice with the test that it needs, if it needs one."""
        assert choice.variable is not None
        here = forbidden_by(choice.guard) - source.absent
        asked = Restriction(choice.variable, here, target.absent, target.present)
        found = replace(choice, guard=choice.guard & ANCHORS, target=self.places[target])
        if asked == Restriction(choice.variable):
            return found
        number = self.restrictions.setdefault(asked, len(self.restrictions))
        return replace(found, test=self.tests + number)
