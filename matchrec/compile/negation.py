"""NOT in a pattern that skips no rows: what the tests of choices that come through one ask."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from matchrec.compile.separation import Names, Restriction, Separation
from matchrec.conditions.negation import Forbidden, Viewpoint, all_of
from matchrec.conditions.residual import SplitCondition
from matchrec.conditions.split import ConditionSplitter, Scope, split
from matchrec.dataclass import dataclass
from matchrec.nfa.closure import Folding
from matchrec.nfa.compiled_pattern import CompiledPattern, compile_pattern
from matchrec.nfa.facts import least_mapped
from matchrec.plan.clauses import Definition
from matchrec.plan.combined import complement
from matchrec.plan.expression import Scalar
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import negations


@dataclass(frozen=True, slots=True)
class NegationTest:
    """A test of rows that are mapped to a variable. definition: what it asks, by its own name."""

    mapped: str
    definition: Definition


def with_negations(
    plan: MatchPlan, pattern: CompiledPattern, scope: Scope
) -> tuple[CompiledPattern, tuple[SplitCondition, ...]]:
    """The pattern with tests in the place of NOTs, and the conditions of variables and tests.

    scope: of conditions that Spark computes.

    Raises MatchRecognizeUnsupportedError for a NOT that may be the first of a match.
    """
    if not negations(plan.pattern):
        return pattern, split(plan, scope)
    folding, tests = separate(plan, pattern)
    names = tuple(test.definition.variable for test in tests)
    program = replace(pattern.program, variables=(*plan.variables, *names))
    kept = tuple(one for one in plan.definitions if one.variable not in plan.forbidden)
    conditions = split(replace(plan, definitions=kept), scope)
    split_tests = (split_test(plan, test, scope) for test in tests)
    return CompiledPattern(program, folding), (*conditions, *split_tests)


def negation_tests(plan: MatchPlan) -> tuple[NegationTest, ...]:
    """The tests of a plan, none without a NOT in its pattern."""
    return separate(plan, compile_pattern(plan))[1] if negations(plan.pattern) else ()


def separate(plan: MatchPlan, pattern: CompiledPattern) -> tuple[Folding, tuple[NegationTest, ...]]:
    """The folded pattern with tests, and the tests in order."""
    first = len(plan.variables)
    separation = Separation(pattern.folding, first, negations(plan.pattern)[0].span)
    tests = Tests(plan, separation.separate(), first)
    made = (tests.test(number, one) for number, one in enumerate(separation.restrictions))
    return tests.folding, tuple(made)


def split_test(plan: MatchPlan, test: NegationTest, scope: Scope) -> SplitCondition:
    """Who computes what of a test."""
    condition = ConditionSplitter(plan, test.mapped, scope).condition(test.definition.condition)
    return replace(condition, variable=test.definition.variable)


@dataclass(frozen=True, slots=True)
class Tests:
    """Makes the conditions of tests. folding: with the tests, of which `first` is the first."""

    plan: MatchPlan
    folding: Folding
    first: int

    __test__ = False  # for pytest: no test

    def test(self, number: int, asked: Restriction) -> NegationTest:
        """The test for a restriction."""
        own = self.plan.variables[asked.variable]
        definitions = (one for one in self.plan.definitions if one.variable == own)
        parts = [one.condition for one in definitions]
        parts += self.absent(number, asked.here, asked.variable, Forbidden.HERE)
        parts += self.absent(number, asked.absent, asked.variable, Forbidden.AFTER)
        if asked.present:
            absent = self.absent(number, asked.present, asked.variable, Forbidden.AFTER)
            parts.append(complement(all_of(absent)))
        return NegationTest(own, Definition(self.name(asked), all_of(parts)))

    def absent(self, number: int, names: Names, own: int, row: Forbidden) -> list[Scalar]:
        """That a row satisfies none of some conditions."""
        variables = self.plan.variables
        least = partial(self.least, number, row)
        views = (
            Viewpoint(self.plan, variables[n], variables[own], row, least) for n in sorted(names)
        )
        return [view.lacks() for view in views]

    def least(self, number: int, row: Forbidden, members: Names) -> int:
        """How many rows are mapped to some variables before the row that must not be there."""
        before = least_mapped(self.folding.choices, members)
        return min(
            before[state] + (row is Forbidden.AFTER and choice.variable in members)
            for state, choices in enumerate(self.folding.choices)
            for choice in choices
            if choice.test == self.first + number
        )

    def name(self, asked: Restriction) -> str:
        """What a test is called."""
        words = [self.plan.variables[asked.variable]]
        said = ("not", asked.here), ("before no", asked.absent), ("before", asked.present)
        for what, names in (one for one in said if one[1]):
            words.append(f"{what} {' | '.join(self.plan.variables[n] for n in sorted(names))}")
        return " ".join(words)
