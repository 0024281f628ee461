"""Split the conditions of a resolved query between Spark, the worker and the search.

`split_query` also replaces NOTs by tests, and finds rows that need not be sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from matchrec.compile.columns import find_columns_of_output, find_key_columns, find_step_columns
from matchrec.compile.negation import compile_negations
from matchrec.compile.origins import ComputedValue, find_origins
from matchrec.compile.pruning.irrelevant_rows import find_row_filters
from matchrec.compile.resolved_query import ResolvedQuery
from matchrec.conditions.residual import NearbyTest, SplitCondition
from matchrec.conditions.row_column import ALWAYS_TRUE, RowColumn, show_column
from matchrec.conditions.split import RowScope, split_conditions
from matchrec.conditions.window_columns import list_window_columns
from matchrec.errors.run.origins import SqlOrigin
from matchrec.plan.clauses import Measure
from matchrec.plan.expression import Scalar
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operations import can_fail_besides_overflow
from matchrec.plan.pattern import list_negations


@dataclass(frozen=True)
class SplitQuery(ResolvedQuery):
    """A resolved query whose conditions are split. The types of its columns are not known yet."""

    # The split conditions of variables and tests. A variable without a condition has no entry.
    conditions: tuple[SplitCondition, ...]
    # Who reads neighbouring rows for the conditions.
    scope: RowScope
    # Filters. A row is sent if it passes at least one of them; all rows are sent if there are none.
    row_filters: tuple[RowColumn, ...] = ()
    # Truth values of rows that are not part of a condition, but are needed for another purpose,
    # such as coverage. Spark or the worker computes them.
    observed_tests: tuple[RowColumn | NearbyTest, ...] = ()
    # Where the user wrote the values that Spark computes, for errors of Spark. The origins are
    # found while the query is planned, because its text and its language are known only then.
    origins: Mapping[ComputedValue, SqlOrigin] = field(default_factory=dict)
    # For each test that Spark computes, its conjuncts, if they are known. If all of them are known
    # to be boolean, so is the test, and the session need not be asked for its type.
    conjuncts: Mapping[RowColumn, tuple[Scalar, ...]] = field(default_factory=dict)

    @cached_property
    def row_conditions(self) -> tuple[RowColumn, ...]:
        """Return the truth values that Spark computes before the match, each once.

        For stages, a condition that is always true is left out. For other patterns, it is kept,
        because later steps look up the bit of a TRUE that the user wrote.
        """
        row_tests = [condition.row_test for condition in self.conditions]
        if self.plan.staging is not None:
            row_tests = [test for test in row_tests if test != ALWAYS_TRUE]
        tests = (*row_tests, *self.observed_tests)
        return tuple(dict.fromkeys(test for test in tests if isinstance(test, RowColumn)))

    @cached_property
    def columns(self) -> tuple[RowColumn, ...]:
        """Return every column whose type must be known to compile the query, each once."""
        run_steps = [condition.run_step for condition in self.conditions]
        steps = [step for step in run_steps if step is not None]
        steps += [test.step for _, test in self.find_nearby_tests()]
        columns = (
            *chain.from_iterable(find_columns_of_output(output) for output in self.all_outputs),
            *chain.from_iterable(find_step_columns(step) for step in steps),
            *list_window_columns(self.plan),
            *find_key_columns(self.plan),
        )
        return tuple(dict.fromkeys(columns))

    def find_nearby_tests(self) -> list[tuple[SplitCondition, NearbyTest]]:
        """Return the tests that the worker computes, each with the condition to which it belongs.

        The conditions of variables come first. Each observed test gets its own condition, with the
        text of the test instead of a variable.
        """
        tests = [
            (condition, condition.nearby_test)
            for condition in self.conditions
            if condition.nearby_test is not None
        ]
        for test in self.observed_tests:
            if isinstance(test, NearbyTest):
                text = show_column(test.column)
                tests.append((SplitCondition(text, span=None, nearby_test=test), test))
        return tests

    @property
    def reason_for_spark_sort(self) -> str | None:
        """Return why Spark must sort the rows; None if the workers may be able to.

        Spark must sort if it has to compute a value of several rows.
        """
        for column in (*self.row_conditions, *self.columns):
            if not column.reads_one_row:
                return (
                    f"only the engine can compute {show_column(column)}, which reads several rows"
                )
        return None

    @property
    def can_raise_before_match(self) -> bool:
        """Return whether a condition that is computed before the match can raise an error.

        The condition of a variable under NOT is split only as a part of tests, so here it counts as
        a whole. Sums do not count: their overflow is checked where they are added up.
        """
        split_variables = {condition.variable for condition in self.conditions}
        conjuncts = [
            definition.condition
            for definition in self.plan.definitions
            if definition.variable not in split_variables
        ]
        for condition in self.conditions:
            conjuncts += condition.test_conjuncts
        return any(can_fail_besides_overflow(conjunct.operations) for conjunct in conjuncts)

    def select_unused_outputs(self) -> SplitQuery:
        """Return the query with only the columns that nobody uses, to check them."""
        outputs = self.unused_outputs
        measures = tuple(output for output in outputs if isinstance(output, Measure))
        return replace(self, plan=replace(self.plan, measures=measures), outputs=outputs)


def split_query(query: ResolvedQuery, scope: RowScope) -> SplitQuery:
    """Split the conditions of a query, and find the rows that need not be sent.

    Args:
        query: the resolved query.
        scope: who reads neighbouring rows for the conditions.

    Raises:
        MatchRecognizeError: a condition is not supported, whatever the types of its columns are.
    """
    plan = query.plan
    if list_negations(plan.pattern):
        pattern, conditions = compile_negations(plan, query.pattern, scope)
    else:
        pattern = query.pattern
        conditions = split_conditions(plan, scope)
    reads_neighbours = any(condition.nearby_test is not None for condition in conditions)
    has_row_condition = any(condition.row_test is not None for condition in conditions)
    row_filters: tuple[RowColumn, ...] = ()
    # A neighbouring row may be any row, so no row may be left out if a condition reads neighbours.
    if has_row_condition and not reads_neighbours:
        row_filters = find_row_filters(plan, pattern, conditions)
    return SplitQuery(
        plan=plan,
        resolved_plan=query.resolved_plan,
        pattern=pattern,
        outputs=query.outputs,
        all_outputs=query.all_outputs,
        conditions=conditions,
        row_filters=row_filters,
        scope=scope,
        origins=find_origins(plan, conditions, query.all_outputs),
        conjuncts=find_conjuncts(plan, conditions),
    )


def find_conjuncts(
    plan: MatchPlan, conditions: Iterable[SplitCondition]
) -> Mapping[RowColumn, tuple[Scalar, ...]]:
    """Return, for each test that Spark computes before the search, its conjuncts.

    From `sym = 'X' AND price >= 90 AND price < PREV(price)`, Spark computes three tests: each of
    the first two conjuncts, and both of them joined by AND.

    Args:
        plan: the plan of the query.
        conditions: the split conditions. A condition without a definition, such as a test that
            replaces a NOT, is left out.
    """
    variables = {definition.variable for definition in plan.definitions}
    conjuncts_by_test: dict[RowColumn, tuple[Scalar, ...]] = {}
    for condition in conditions:
        if condition.variable not in variables:
            continue
        conjuncts_of_row = []
        for conjunct, test in zip(condition.test_conjuncts, condition.tests, strict=True):
            if isinstance(test, RowColumn):
                conjuncts_by_test[test] = (conjunct,)
                conjuncts_of_row.append(conjunct)
        if condition.row_test is not None:
            conjuncts_by_test[condition.row_test] = tuple(conjuncts_of_row)
    return conjuncts_by_test
