"""NOT in a pattern that skips no rows: what the tests of choices that come through one ask."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from matchrec.compile.guards import Guard, Names, Separation
from matchrec.conditions.negation import Forbidden, Viewpoint, all_of, complement
from matchrec.conditions.residual import SplitCondition
from matchrec.conditions.split import ConditionSplitter, split
from matchrec.nfa.closure import Folding
from matchrec.nfa.compiled_pattern import CompiledPattern
from matchrec.nfa.facts import least_mapped
from matchrec.plan.expression import Scalar
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import negations


def with_guards(
    plan: MatchPlan, pattern: CompiledPattern
) -> tuple[CompiledPattern, tuple[SplitCondition, ...]]:
    """The pattern with tests in the place of NOTs, and the conditions of variables and tests.

    Raises MatchRecognizeUnsupportedError for a NOT that may be the first of a match.
    """
    found = negations(plan.pattern)
    if not found:
        return pattern, split(plan)
    kept = tuple(one for one in plan.definitions if one.variable not in plan.forbidden)
    conditions = split(replace(plan, definitions=kept))
    first = len(plan.variables)
    separation = Separation(pattern.folding, first, found[0].span)
    folding = separation.separate()
    tests = Tests(plan, folding, first)
    names = tuple(map(tests.name, separation.guards))
    program = replace(pattern.program, variables=(*plan.variables, *names))
    guarded = (tests.condition(number, guard) for number, guard in enumerate(separation.guards))
    return CompiledPattern(program, folding), (*conditions, *guarded)


@dataclass(frozen=True, slots=True)
class Tests:
    """Makes the conditions of tests. folding: with the tests, of which `first` is the first."""

    plan: MatchPlan
    folding: Folding
    first: int

    __test__ = False  # for pytest: no test

    def condition(self, number: int, guard: Guard) -> SplitCondition:
        """What a test asks."""
        own = self.plan.variables[guard.variable]
        definitions = (one for one in self.plan.definitions if one.variable == own)
        parts = [one.condition for one in definitions]
        parts += self.absent(number, guard.here, guard.variable, Forbidden.HERE)
        parts += self.absent(number, guard.absent, guard.variable, Forbidden.AFTER)
        if guard.present:
            absent = self.absent(number, guard.present, guard.variable, Forbidden.AFTER)
            parts.append(complement(all_of(absent)))
        condition = ConditionSplitter(self.plan, own).condition(all_of(parts))
        return replace(condition, variable=self.name(guard))

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

    def name(self, guard: Guard) -> str:
        """What a test is called."""
        words = [self.plan.variables[guard.variable]]
        asked = ("not", guard.here), ("before no", guard.absent), ("before", guard.present)
        for what, names in (one for one in asked if one[1]):
            words.append(f"{what} {' | '.join(self.plan.variables[n] for n in sorted(names))}")
        return " ".join(words)
