"""NOT in a pattern that skips no rows: what the tests of choices that come through one ask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from matchrec.conditions.negation import Forbidden, Viewpoint, all_of
from matchrec.conditions.residual import SplitCondition
from matchrec.conditions.split import ConditionSplitter, RowScope, split
from matchrec.errors.sql.pattern import negation_at_start, several_ends
from matchrec.nfa.closure import ANCHORS, Choice, Folding, forbidden_by, least_mapped, number_states
from matchrec.nfa.compile import CompiledPattern, compile_pattern
from matchrec.plan.clauses import Definition
from matchrec.plan.expression import Scalar, complement
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import negations
from matchrec.source import Span

# A test asks the variable's condition and what NOT forbids. Where a state may accept only if a NOT
# holds, it becomes two, with and without the acceptance: the row after decides which of them a row
# leads to, and that is a part of the test of the row that leads there.
#
#     A NOT B C      A, then C where the row is no B
#     A+ NOT B       A where the row after it is no B → a match; A where it is one → go on

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
class KnownState:
    """A state, and what is known of the row after: that it is none of `absent`, or a `present`."""

    state: int
    absent: Names = NONE
    present: Names = NONE


@dataclass(slots=True)
class Separation:
    """Makes the states of a folding without NOTs. tests: the number of the first test."""

    folding: Folding
    tests: int
    span: Span | None
    restrictions: dict[Restriction, int] = field(default_factory=dict)

    def separate(self) -> Folding:
        if any(choice.guard & ~ANCHORS for choice in self.folding.choices[0]):
            raise negation_at_start(self.span)
        places, choices = zip(*number_states([KnownState(0)], self.choices), strict=True)
        return Folding(choices, tuple(self.folding.states[place.state] for place in places))

    def choices(self, place: KnownState) -> Iterator[tuple[Choice, KnownState | None]]:
        for choice in self.possible(place):
            for target in self.targets(choice):
                yield self.tested(choice, place, target), target
            if choice.target is None:
                yield replace(choice, guard=choice.guard & ANCHORS), None

    def possible(self, place: KnownState) -> Iterator[Choice]:
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

    def targets(self, choice: Choice) -> Iterator[KnownState]:
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
            yield KnownState(choice.target)
            return
        yield KnownState(choice.target, absent=next(iter(ends)))
        other = KnownState(choice.target, present=next(iter(ends)))
        if any(True for _ in self.possible(other)):
            yield other

    def tested(self, choice: Choice, source: KnownState, target: KnownState) -> Choice:
        assert choice.variable is not None
        here = forbidden_by(choice.guard) - source.absent
        asked = Restriction(choice.variable, here, target.absent, target.present)
        found = replace(choice, guard=choice.guard & ANCHORS)
        if asked == Restriction(choice.variable):
            return found
        number = self.restrictions.setdefault(asked, len(self.restrictions))
        return replace(found, test=self.tests + number)


@dataclass(frozen=True, slots=True)
class NegationTest:
    """A test of rows that are mapped to a variable. definition: what it asks, by its own name."""

    mapped: str
    definition: Definition


def with_negations(
    plan: MatchPlan, pattern: CompiledPattern, scope: RowScope
) -> tuple[CompiledPattern, tuple[SplitCondition, ...]]:
    """The pattern with tests in the place of NOTs, and the conditions of variables and tests.

    Raises MatchRecognizeUnsupportedError for a NOT that may be the first of a match.
    """
    folding, tests = separate(plan, pattern)
    names = tuple(test.definition.variable for test in tests)
    program = replace(pattern.program, variables=(*plan.variables, *names))
    kept = tuple(one for one in plan.definitions if one.variable not in plan.forbidden)
    conditions = split(replace(plan, definitions=kept), scope)
    for test in tests:
        asked = ConditionSplitter(plan, test.mapped, scope).condition(test.definition.condition)
        conditions += (replace(asked, variable=test.definition.variable),)
    return CompiledPattern(program, folding), conditions


def negation_tests(plan: MatchPlan) -> tuple[NegationTest, ...]:
    """The tests of a plan, none without a NOT in its pattern."""
    return separate(plan, compile_pattern(plan))[1] if negations(plan.pattern) else ()


def separate(plan: MatchPlan, pattern: CompiledPattern) -> tuple[Folding, tuple[NegationTest, ...]]:
    first = len(plan.variables)
    separation = Separation(pattern.folding, first, negations(plan.pattern)[0].span)
    tests = Tests(plan, separation.separate(), first)
    made = (tests.test(number, one) for number, one in enumerate(separation.restrictions))
    return tests.folding, tuple(made)


@dataclass(frozen=True, slots=True)
class Tests:
    """Makes the conditions of tests. folding: with the tests, of which `first` is the first."""

    plan: MatchPlan
    folding: Folding
    first: int

    __test__ = False  # for pytest: no test

    def test(self, number: int, asked: Restriction) -> NegationTest:
        own = self.plan.variables[asked.variable]
        definitions = (one for one in self.plan.definitions if one.variable == own)
        parts = [definition.condition for definition in definitions]
        parts += self.absent(number, asked.here, asked.variable, Forbidden.HERE)
        parts += self.absent(number, asked.absent, asked.variable, Forbidden.AFTER)
        if asked.present:
            absent = self.absent(number, asked.present, asked.variable, Forbidden.AFTER)
            parts.append(complement(all_of(absent)))
        return NegationTest(own, Definition(self.name(asked), all_of(parts)))

    def absent(self, number: int, names: Names, own: int, row: Forbidden) -> list[Scalar]:
        variables = self.plan.variables
        least = partial(self.least, number, row)
        views = (
            Viewpoint(self.plan, variables[n], variables[own], row, least) for n in sorted(names)
        )
        return [view.absence() for view in views]

    def least(self, number: int, row: Forbidden, members: Names) -> int:
        before = least_mapped(self.folding.choices, members)
        return min(
            before[state] + (row is Forbidden.AFTER and choice.variable in members)
            for state, choices in enumerate(self.folding.choices)
            for choice in choices
            if choice.test == self.first + number
        )

    def name(self, asked: Restriction) -> str:
        words = [self.plan.variables[asked.variable]]
        said = ("not", asked.here), ("before no", asked.absent), ("before", asked.present)
        for what, names in (one for one in said if one[1]):
            words.append(f"{what} {' | '.join(self.plan.variables[n] for n in sorted(names))}")
        return " ".join(words)
