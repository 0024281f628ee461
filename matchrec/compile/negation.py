"""Compile NOT in a row pattern whose matches skip no rows: replace it by tests of rows.

A choice after a NOT gets a test, which checks the condition of its variable and that the row does
not satisfy the condition under NOT:

    A NOT B C      A, then C if the row does not satisfy B

If a NOT ends the pattern, the row after the match decides whether it is a match. A state that can
accept only if a NOT holds is divided into two: one that accepts, and one that goes on. The test of
the row that leads there looks at the row after it, to choose between the two:

    A+ NOT B       A if the row after it does not satisfy B → a match
                   A if the row after it satisfies B        → go on
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from matchrec.automaton.compiled_pattern import CompiledPattern
from matchrec.automaton.facts import find_least_mapped
from matchrec.automaton.folding import (
    ANCHORS,
    Choice,
    Folding,
    find_forbidden_variables,
    number_states,
)
from matchrec.automaton.program import VariableIds
from matchrec.conditions.negation import ForbiddenRow, Viewpoint, join_tests
from matchrec.conditions.residual import SplitCondition
from matchrec.conditions.split import ConditionSplitter, RowScope, split_conditions
from matchrec.errors.sql.pattern import negation_at_start, several_negations_at_end
from matchrec.plan.clauses import Definition
from matchrec.plan.expression import Scalar, make_complement
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import list_negations
from matchrec.source import Span

NO_VARIABLES: VariableIds = frozenset()


@dataclass(frozen=True, slots=True)
class Restriction:
    """The extra checks of a test. Variable ids stand for their conditions."""

    # The variable to which the tested row is mapped.
    variable: int
    # The tested row must not satisfy any of these conditions.
    forbidden: VariableIds = NO_VARIABLES
    # The row after it, if there is one, must not satisfy any of these conditions.
    absent: VariableIds = NO_VARIABLES
    # If not empty, there must be a row after it, which satisfies at least one of these conditions.
    present: VariableIds = NO_VARIABLES


@dataclass(frozen=True, slots=True)
class KnownState:
    """A state of the folding, and what the test of the last row has shown about the next row."""

    # The number of the state in the folding.
    state: int
    # The next row, if there is one, does not satisfy any of these conditions.
    absent: VariableIds = NO_VARIABLES
    # If not empty, there is a next row, and it satisfies at least one of these conditions.
    present: VariableIds = NO_VARIABLES


@dataclass(slots=True)
class Separation:
    """A rewriter of a folding to one without NOTs. It collects what the tests must check."""

    # The folding of the row pattern, whose choices have bits for NOTs in their guards.
    folding: Folding
    # The number of the first test. Tests are numbered after the variables.
    first_test: int
    # The first NOT in the query, for messages.
    span: Span | None
    # What each test checks, with the index of the test.
    restrictions: dict[Restriction, int] = field(default_factory=dict)

    def separate(self) -> Folding:
        """Return the folding with tests instead of NOTs.

        Raises:
            MatchRecognizeUnsupportedError: a NOT can be the first element of a match, or different
                NOTs can follow the same row as the last element.
        """
        if any(choice.guard & ~ANCHORS for choice in self.folding.choices[0]):
            raise negation_at_start(self.span)
        folded_choices = []
        program_states = []
        for known_state, choices in number_states([KnownState(0)], self.build_choices):
            folded_choices.append(choices)
            program_states.append(self.folding.states[known_state.state])
        return Folding(tuple(folded_choices), tuple(program_states))

    def build_choices(self, source: KnownState) -> Iterator[tuple[Choice, KnownState | None]]:
        """Yield the choices of a state with their tests, and the state to which each of them leads.

        A choice is yielded twice if the row after it decides where it leads.
        """
        for choice in self.find_possible_choices(source):
            for target in self.find_targets(choice):
                yield self.add_test(choice, source, target), target
            if choice.target is None:
                yield replace(choice, guard=choice.guard & ANCHORS), None

    def find_possible_choices(self, source: KnownState) -> Iterator[Choice]:
        """Yield the choices of a state that are possible, given what its tests have shown."""
        accepts_always = False
        for choice in self.folding.choices[source.state]:
            forbidden = find_forbidden_variables(choice.guard)
            if choice.target is None:
                # `find_targets` allows only one set of NOTs at the ends of a state. So either the
                # last test has already excluded the conditions, which are `absent` then, or they
                # are `present`: the next row satisfies one of them, and the match cannot end here.
                if forbidden and forbidden != source.absent:
                    continue
                if not accepts_always:
                    yield choice
                accepts_always = accepts_always or not choice.guard & ANCHORS
            # If every condition in `present` is forbidden here, the next row cannot be mapped by
            # this choice, because it satisfies at least one of them.
            elif not source.present or not source.present <= forbidden:
                yield choice

    def find_targets(self, choice: Choice) -> Iterator[KnownState]:
        """Yield the states to which a choice leads, depending on the row after the one it maps.

        Raises:
            MatchRecognizeUnsupportedError: the pattern can end there with different NOTs.
        """
        if choice.target is None:
            return
        ends = {
            find_forbidden_variables(end.guard)
            for end in self.folding.choices[choice.target]
            if end.target is None
        } - {NO_VARIABLES}
        if len(ends) > 1:
            raise several_negations_at_end(self.span)
        if not ends:
            yield KnownState(choice.target)
            return
        (forbidden,) = ends
        yield KnownState(choice.target, absent=forbidden)
        continued = KnownState(choice.target, present=forbidden)
        can_continue = any(True for _ in self.find_possible_choices(continued))
        if can_continue:
            yield continued

    def add_test(self, choice: Choice, source: KnownState, target: KnownState) -> Choice:
        """Return a choice with the test that replaces its NOTs, if it needs one."""
        assert choice.variable is not None
        unchecked = find_forbidden_variables(choice.guard) - source.absent
        restriction = Restriction(choice.variable, unchecked, target.absent, target.present)
        plain_choice = replace(choice, guard=choice.guard & ANCHORS)
        if restriction == Restriction(choice.variable):
            return plain_choice
        index = self.restrictions.setdefault(restriction, len(self.restrictions))
        return replace(plain_choice, test=self.first_test + index)


@dataclass(frozen=True, slots=True)
class NegationTest:
    """A test of the rows that are mapped to a variable."""

    mapped: str  # the name of the variable
    definition: Definition  # the name of the test, and the condition that it checks


def compile_negations(
    plan: MatchPlan, pattern: CompiledPattern, scope: RowScope
) -> tuple[CompiledPattern, tuple[SplitCondition, ...]]:
    """Return the pattern with tests instead of NOTs, and the conditions of variables and tests.

    Args:
        plan: a plan with NOT in its pattern.
        pattern: the pattern of the plan, compiled.
        scope: who reads neighbouring rows for the conditions.

    Raises:
        MatchRecognizeUnsupportedError: a NOT can be the first element of a match.
    """
    folding, tests = separate_negations(plan, pattern)
    test_names = tuple(test.definition.variable for test in tests)
    program = replace(pattern.program, variables=(*plan.variables, *test_names))
    definitions = tuple(
        definition for definition in plan.definitions if definition.variable not in plan.forbidden
    )
    conditions = split_conditions(replace(plan, definitions=definitions), scope)
    test_conditions = (split_test(plan, test, scope) for test in tests)
    return CompiledPattern(program, folding), (*conditions, *test_conditions)


def split_test(plan: MatchPlan, test: NegationTest, scope: RowScope) -> SplitCondition:
    """Split the condition of a test into parts for Spark, the worker and the search."""
    condition = ConditionSplitter(plan, test.mapped, scope).split(test.definition.condition)
    return replace(condition, variable=test.definition.variable)


def find_negation_tests(plan: MatchPlan, pattern: CompiledPattern) -> tuple[NegationTest, ...]:
    """Return the tests of a plan. There are none if its pattern has no NOT.

    Args:
        plan: the plan.
        pattern: its pattern, compiled with its NOTs.
    """
    if not list_negations(plan.pattern):
        return ()
    _, tests = separate_negations(plan, pattern)
    return tests


def separate_negations(
    plan: MatchPlan, pattern: CompiledPattern
) -> tuple[Folding, tuple[NegationTest, ...]]:
    """Return the folding of a pattern with tests instead of NOTs, and the tests in order."""
    first_test = len(plan.variables)
    separation = Separation(pattern.folding, first_test, list_negations(plan.pattern)[0].span)
    folding = separation.separate()
    builder = NegationTestBuilder(plan, folding, first_test)
    tests = tuple(
        builder.build_test(first_test + index, restriction)
        for restriction, index in separation.restrictions.items()
    )
    return folding, tests


@dataclass(frozen=True, slots=True)
class NegationTestBuilder:
    """A builder of the conditions of tests."""

    plan: MatchPlan
    folding: Folding  # with the tests
    first_test: int

    def build_test(self, number: int, restriction: Restriction) -> NegationTest:
        """Return the test with a number, which checks the condition of its variable and more.

        Args:
            number: the number of the test.
            restriction: what it checks besides the condition.
        """
        variable = self.plan.variables[restriction.variable]
        parts = [
            definition.condition
            for definition in self.plan.definitions
            if definition.variable == variable
        ]
        parts += self.build_absences(number, restriction.forbidden, variable, ForbiddenRow.HERE)
        parts += self.build_absences(number, restriction.absent, variable, ForbiddenRow.AFTER)
        if restriction.present:
            absences = self.build_absences(
                number, restriction.present, variable, ForbiddenRow.AFTER
            )
            parts.append(make_complement(join_tests(absences)))
        definition = Definition(self.name_test(restriction), join_tests(parts))
        return NegationTest(variable, definition)

    def build_absences(
        self, number: int, variables: VariableIds, mapped: str, row: ForbiddenRow
    ) -> list[Scalar]:
        """Return conditions which say that a row does not satisfy the conditions under NOT.

        Args:
            number: the number of the test.
            variables: the variables under NOT.
            mapped: the variable to which the tested row is mapped.
            row: the row that must not satisfy them: the tested row, or the row after it.
        """
        count_rows_before = partial(self.count_rows_before, number, row)
        absences = []
        for variable in sorted(variables):
            negated = self.plan.variables[variable]
            view = Viewpoint(self.plan, negated, mapped, row, count_rows_before)
            absences.append(view.make_absence_condition())
        return absences

    def count_rows_before(self, number: int, row: ForbiddenRow, members: VariableIds) -> int:
        """Return the least number of rows that are mapped to some variables before a forbidden row.

        Args:
            number: the number of the test.
            row: the forbidden row: the tested row, or the row after it.
            members: the variables.
        """
        least = find_least_mapped(self.folding, members)
        return min(
            least[state] + (row is ForbiddenRow.AFTER and choice.variable in members)
            for state, choices in enumerate(self.folding.choices)
            for choice in choices
            if choice.test == number
        )

    def name_test(self, restriction: Restriction) -> str:
        """Return the name of a test, such as `C not B` or `A before no B`."""
        words = [self.plan.variables[restriction.variable]]
        parts = (
            ("not", restriction.forbidden),
            ("before no", restriction.absent),
            ("before", restriction.present),
        )
        for relation, variables in parts:
            if variables:
                names = " | ".join(self.plan.variables[variable] for variable in sorted(variables))
                words.append(f"{relation} {names}")
        return " ".join(words)
