"""Compile NOT in a row pattern whose matches skip no rows: replace it by tests of rows.

For example, the C of `A NOT B C` gets the test `C not B`, with the condition of C and the
complement of the condition of B. The complement also holds if the condition of B is NULL:

    DEFINE B AS x < 5, C AS y = 1      →      test: y = 1 AND (x < 5) IS NOT TRUE

The steps of `compile_negations`:

1. `automaton.negation` replaces NOTs by tests, and returns what each test checks.
2. `NegationTestBuilder` writes each test as a condition on the row that is mapped.
3. The conditions of tests are split like the conditions of variables, because the search treats a
   test as a variable.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from matchrec.automaton.compiled_pattern import CompiledPattern
from matchrec.automaton.facts import count_least_mapped_rows
from matchrec.automaton.folding import Folding
from matchrec.automaton.negation import Restriction, replace_negations
from matchrec.automaton.program import VariableIds
from matchrec.conditions.negation import CandidateOffset, NegatedCondition, join_tests
from matchrec.conditions.residual import SplitCondition
from matchrec.conditions.split import ConditionSplitter, RowScope, split_conditions
from matchrec.plan.build_expressions import make_complement
from matchrec.plan.clauses import Definition
from matchrec.plan.expression import Scalar
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import list_negations


@dataclass(frozen=True, slots=True)
class NegationTest:
    """A test of the rows that are mapped to a variable."""

    # The name of the variable.
    variable: str
    # The condition that the test checks, with the name of the test as its variable.
    definition: Definition


def compile_negations(
    plan: MatchPlan, compiled_pattern: CompiledPattern, scope: RowScope
) -> tuple[CompiledPattern, tuple[SplitCondition, ...]]:
    """Return the pattern with tests instead of NOTs, and the conditions of variables and tests.

    Args:
        plan: a plan with NOT in its pattern.
        compiled_pattern: the pattern of the plan, compiled with its NOTs.
        scope: which rows Spark and the worker can read to test a row.

    Raises:
        MatchRecognizeUnsupportedError: a NOT can be the first element of a match.
    """
    folding, tests = replace_negations_by_tests(plan, compiled_pattern)
    test_names = tuple(test.definition.variable for test in tests)
    program = replace(compiled_pattern.program, variables=(*plan.variables, *test_names))
    definitions = tuple(
        definition
        for definition in plan.definitions
        if definition.variable not in plan.variables_without_rows
    )
    conditions = split_conditions(replace(plan, definitions=definitions), scope)
    test_conditions = (split_test(plan, test, scope) for test in tests)
    return CompiledPattern(program, folding), (*conditions, *test_conditions)


def split_test(plan: MatchPlan, test: NegationTest, scope: RowScope) -> SplitCondition:
    """Split the condition of a test into parts for Spark, the worker and the search."""
    condition = ConditionSplitter(plan, test.variable, scope).split(test.definition.condition)
    return replace(condition, variable=test.definition.variable)


def find_negation_tests(
    plan: MatchPlan, compiled_pattern: CompiledPattern
) -> tuple[NegationTest, ...]:
    """Return the tests of a plan. There are none if its pattern has no NOT.

    Args:
        plan: the plan, with or without NOT.
        compiled_pattern: its pattern, compiled with its NOTs.
    """
    if not list_negations(plan.pattern):
        return ()
    _, tests = replace_negations_by_tests(plan, compiled_pattern)
    return tests


def replace_negations_by_tests(
    plan: MatchPlan, compiled_pattern: CompiledPattern
) -> tuple[Folding, tuple[NegationTest, ...]]:
    """Return the folding of a pattern with tests instead of NOTs, and the tests in order.

    Tests are numbered after the variables, so the number of variables is the first test number.
    """
    first_test = len(plan.variables)
    folding, restrictions = replace_negations(compiled_pattern.folding, first_test, plan.pattern)
    builder = NegationTestBuilder(plan, folding)
    tests: list[NegationTest] = []
    # Conditions are looked up by their names, so a test must not have the name of a variable.
    used_names = {*plan.variables, *plan.unions}
    for test_number, restriction in enumerate(restrictions, first_test):
        name = make_unique_name(builder.name_test(restriction), used_names)
        used_names.add(name)
        tests.append(builder.build_test(test_number, name, restriction))
    return folding, tuple(tests)


def make_unique_name(name: str, used_names: Set[str]) -> str:
    """Return the name, with a number after it if it is already used.

    >>> make_unique_name("C not B", {"C not B", "C not B (2)"})
    'C not B (3)'
    """
    unique_name = name
    number = 1
    while unique_name in used_names:
        number += 1
        unique_name = f"{name} ({number})"
    return unique_name


@dataclass(frozen=True, slots=True)
class NegationTestBuilder:
    """A builder of the conditions of tests."""

    plan: MatchPlan
    # The folding with the tests.
    folding: Folding

    def build_test(self, test_number: int, name: str, restriction: Restriction) -> NegationTest:
        """Return the test for a restriction: the variable's condition AND the extra checks.

        Args:
            test_number: the number of the test.
            name: the name of the test.
            restriction: the variable of the test, and its extra checks.
        """
        variable = self.plan.variables[restriction.variable]
        mapped_row = CandidateRow(self.folding, test_number, CandidateOffset.MAPPED_ROW)
        next_row = CandidateRow(self.folding, test_number, CandidateOffset.NEXT_ROW)
        conjuncts = [
            definition.condition
            for definition in self.plan.definitions
            if definition.variable == variable
        ]
        conjuncts += self.build_absence_conditions(
            restriction.forbidden_on_row, variable, mapped_row
        )
        conjuncts += self.build_absence_conditions(
            restriction.forbidden_on_next_row, variable, next_row
        )
        if restriction.required_on_next_row:
            # The next row satisfies one of the conditions: it does not fail all of them.
            conditions = self.build_absence_conditions(
                restriction.required_on_next_row, variable, next_row
            )
            conjuncts.append(make_complement(join_tests(conditions)))
        return NegationTest(variable, Definition(name, join_tests(conjuncts)))

    def build_absence_conditions(
        self, variables: VariableIds, mapped: str, candidate: CandidateRow
    ) -> list[Scalar]:
        """Return a condition for each variable: the candidate does not satisfy its condition.

        Args:
            variables: the variables under NOT.
            mapped: the variable to which the tested row is mapped.
            candidate: the row whose conditions are returned.
        """
        conditions = []
        for variable in sorted(variables):
            negated_condition = NegatedCondition(
                plan=self.plan,
                negated_variable=self.plan.variables[variable],
                mapped_variable=mapped,
                candidate_offset=candidate.offset,
                count_rows_before=candidate.count_rows_before,
            )
            conditions.append(negated_condition.make_absence_condition())
        return conditions

    def name_test(self, restriction: Restriction) -> str:
        """Return a name for a test, such as `C not B` or `A before no B`.

        A variable in quotes may have the same name.
        """
        words = [self.plan.variables[restriction.variable]]
        if restriction.forbidden_on_row:
            words.append(f"not {self.join_variables(restriction.forbidden_on_row)}")
        if restriction.forbidden_on_next_row:
            words.append(f"before no {self.join_variables(restriction.forbidden_on_next_row)}")
        if restriction.required_on_next_row:
            words.append(f"before {self.join_variables(restriction.required_on_next_row)}")
        return " ".join(words)

    def join_variables(self, variables: VariableIds) -> str:
        """Return the names of variables, such as `B | D`."""
        return " | ".join(self.plan.variables[variable] for variable in sorted(variables))


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """The row on which a test evaluates the conditions under NOT."""

    # The folding with the tests.
    folding: Folding
    # The number of the test.
    test_number: int
    # Which row is the candidate: the tested row, or the row after it.
    offset: CandidateOffset

    def count_rows_before(self, members: VariableIds) -> int:
        """Return the least number of rows that are mapped to some variables before this row."""
        least_by_state = count_least_mapped_rows(self.folding, members)
        least_by_choice = []
        for state, choices in enumerate(self.folding.choices):
            for choice in choices:
                if choice.test != self.test_number:
                    continue
                least = least_by_state[state]
                # The tested row is before the next row.
                if self.offset is CandidateOffset.NEXT_ROW and choice.variable in members:
                    least += 1
                least_by_choice.append(least)
        return min(least_by_choice)
