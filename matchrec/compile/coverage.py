"""Compile a query to count how far a match gets from each starting row.

Coverage answers why a query finds few matches: for each place in the row pattern it counts the
starting rows that came there, and for those that went no further the part of a condition that was
false. The worker runs the search of the query and counts on the way.

1. `observe_tests` takes the query whose conditions are split. It keeps the conditions, drops the
   measures and the filters, and adds the tests that are counted one by one.
2. `build_coverage_task` turns the tests into bits, once the query is compiled to a `CompiledQuery`.

All rows are sent, also those that the query itself would leave out, because each of them is a
starting row. The columns that are sent are those of conditions, and those that name a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from matchrec.automaton.occurrences import Occurrences, compile_occurrences, find_stage_occurrences
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.residual import (
    NO_SPAN,
    ColumnRead,
    CombinedStep,
    NearbyTest,
    SplitCondition,
    Step,
)
from matchrec.conditions.row_column import (
    ALWAYS_TRUE,
    RowColumn,
    build_guarded_test,
    build_row_column,
    join_columns,
    show_column,
)
from matchrec.conditions.split import ConditionSplitter, join_steps
from matchrec.errors import inspection as errors
from matchrec.output.schema import RowOutput
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.expression import (
    Navigation,
    Scalar,
    compare_scalars,
    join_conditions,
    make_column,
)
from matchrec.plan.match_plan import MatchPlan, drop_output_options
from matchrec.plan.pattern import list_negations, list_variable_names
from matchrec.search.coverage import AnnotatedTask, Counts
from matchrec.search.kernel_input import compile_task
from matchrec.search.task import NearbyCondition

# A conjunct of a condition that does not depend on the run, computed by Spark or by the worker.
RowTest = RowColumn | NearbyTest

CURRENT_ROW = Navigation()
PREVIOUS_ROW = Navigation(physical_offset=-1)


@dataclass(frozen=True, kw_only=True)
class CoverageQuery(SplitQuery):
    """A query whose starting rows are counted.

    It has nothing that only the output of the query needs, and it observes all tests below.
    """

    # The places in the row pattern that are counted, and which of them each choice of a run takes.
    occurrences: Occurrences
    # For each variable, the tests of its condition. None of them raises: see `guard_tests`.
    tests: Mapping[str, Sequence[RowTest]]
    # Whether a row equals the one before it in all ORDER BY columns; None without ORDER BY.
    tie: RowTest | None


@dataclass(frozen=True, slots=True)
class CoverageTask:
    """What a worker counts, and how it names starting rows. Picklable."""

    compiled_query: CompiledQuery
    # The task of the search, with the places in the row pattern and the parts of conditions.
    coverable: AnnotatedTask
    # The test that a row equals the one before it in all ORDER BY columns: the bit that Spark
    # computes, or the condition that the worker computes. The other one is None; without ORDER BY,
    # both are.
    tie_bit: int | None
    tie_condition: NearbyCondition | None
    # The columns that name a starting row: partition columns, then order columns.
    naming_columns: tuple[int, ...]

    @property
    def needs_event_selection(self) -> bool:
        """Return whether a run may skip rows, or all matches are output, not only preferred ones.

        Then every row is a starting row, whatever AFTER MATCH says.
        """
        return self.compiled_query.task.needs_event_selection

    @property
    def first_naming_columns(self) -> tuple[int, ...]:
        """Return the partition columns, and the first column of ORDER BY."""
        return self.naming_columns[: len(self.compiled_query.sent_columns.keys) + 1]


def check_coverable(plan: MatchPlan) -> None:
    """Check that coverage supports a plan.

    Raises:
        MatchRecognizeUnsupportedError: it does not, because of LONGEST MATCH or NOT.
    """
    if plan.output is MatchOutput.LONGEST:
        raise errors.coverage_of_longest_match()
    if list_negations(plan.pattern):
        raise errors.coverage_of_negation(list_negations(plan.pattern)[0].span)


def observe_tests(query: SplitQuery) -> CoverageQuery:
    """Return the query with the tests that coverage counts.

    Measures and filters are dropped. The only outputs are the columns of ORDER BY. Together with
    the columns of PARTITION BY, which are sent in any case, they name a starting row.

    Args:
        query: a query that `check_coverable` accepts.

    Raises:
        MatchRecognizePlanError: the pattern is too large.
    """
    plan = drop_output_options(query.plan, ())
    occurrences = find_occurrences(query, plan)
    order_texts = tuple(dict.fromkeys(item.expression.text for item in plan.order_by))
    outputs = tuple(RowOutput(text, text) for text in order_texts)
    tie = build_tie_test(order_texts, query)
    tests = {condition.variable: guard_tests(condition.tests) for condition in query.conditions}
    observed = [*chain.from_iterable(tests.values())]
    if tie is not None:
        observed.append(tie)
    return CoverageQuery(
        plan=plan,
        written_plan=query.written_plan,
        pattern=occurrences.pattern,
        outputs=outputs,
        all_outputs=outputs,
        conditions=query.conditions,
        observed=tuple(observed),
        scope=query.scope,
        origins=query.origins,
        conjuncts=query.conjuncts,
        occurrences=occurrences,
        tests=tests,
        tie=tie,
    )


def find_occurrences(query: SplitQuery, plan: MatchPlan) -> Occurrences:
    """Return the places that are counted: variables in the row pattern, or the stages of a plan.

    Raises:
        MatchRecognizePlanError: the pattern is too large.
    """
    if plan.staging is not None:
        return find_stage_occurrences(query.pattern, len(list_variable_names(plan.pattern)))
    every_way = plan.output is not MatchOutput.PREFERRED
    return compile_occurrences(query.pattern, plan.pattern, every_way=every_way)


def build_tie_test(order_texts: tuple[str, ...], query: SplitQuery) -> RowTest | None:
    """Return the test that a row equals the one before it in all order columns.

    Args:
        order_texts: the columns of ORDER BY as SQL.
        query: the query.

    Returns:
        The test; None without ORDER BY.
    """
    if not order_texts:
        return None
    comparisons = [
        compare_scalars("<=>", make_column(CURRENT_ROW, text), make_column(PREVIOUS_ROW, text))
        for text in order_texts
    ]
    # Conditions are split for a variable, but this one depends on none.
    any_variable = query.plan.variables[0]
    splitter = ConditionSplitter(query.plan, any_variable, query.scope)
    return splitter.build_test(join_conditions("AND", comparisons, NO_SPAN))


def build_coverage_task(query: CoverageQuery, compiled_query: CompiledQuery) -> CoverageTask:
    """Return the task by which a worker counts the coverage of a query.

    Args:
        query: the query.
        compiled_query: what it was compiled to.

    Raises:
        MatchRecognizeUnsupportedError: a condition reads the match number.
    """
    task = compiled_query.task
    if (
        task.needs_event_selection
        and compile_task(task, len(compiled_query.sent_columns.integers)).rules.forgets_after_match
    ):
        raise errors.coverage_of_match_number()
    bits = find_test_bits(compiled_query)
    tie = query.tie
    columns = compiled_query.sent_columns.columns
    partition_columns = [index for _, index in compiled_query.sent_columns.keys]
    order_columns = [columns.index(build_row_column(output.name)) for output in query.outputs]
    return CoverageTask(
        compiled_query=compiled_query,
        coverable=AnnotatedTask(task, query.occurrences, number_parts(query, bits)),
        tie_bit=bits[tie] if isinstance(tie, RowColumn) else None,
        tie_condition=find_nearby(tie, compiled_query) if isinstance(tie, NearbyTest) else None,
        naming_columns=(*partition_columns, *order_columns),
    )


def find_test_bits(compiled_query: CompiledQuery) -> dict[RowColumn, int]:
    """Return the bit of each test, whether Spark or the worker computes it, by its column."""
    bits = {
        condition.column: condition.bit
        for condition in compiled_query.nearby
        if condition.row_condition is None
    }
    bits.update({column: bit for bit, column in enumerate(compiled_query.row_conditions)})
    return bits


def number_parts(
    query: CoverageQuery, bits: Mapping[RowColumn, int]
) -> tuple[tuple[int | None, ...], ...]:
    """Return the parts of the condition of each variable, in the order in which they are counted.

    A part is the bit of a test. If some of a condition depends on the run, its last part is None.
    """
    depend_on_run = {
        condition.variable for condition in query.conditions if condition.run_step is not None
    }
    all_parts = []
    for name in query.plan.variables:
        tests = query.tests.get(name, [])
        parts: list[int | None] = [bits[to_column(test)] for test in tests]
        if name in depend_on_run:
            parts.append(None)
        all_parts.append(tuple(parts))
    return tuple(all_parts)


def find_nearby(test: NearbyTest, compiled_query: CompiledQuery) -> NearbyCondition:
    """Return the condition by which the worker computes a test."""
    return next(condition for condition in compiled_query.nearby if condition.column == test.column)


def show_condition_parts(
    condition: SplitCondition | None, show_scalar: Callable[[Scalar], str]
) -> Iterator[str]:
    """Yield the parts of a condition as text, in the order in which they are counted.

    Args:
        condition: the condition of a variable; None if it has none.
        show_scalar: returns the text of a conjunct that depends on the run.
    """
    if condition is None:
        return
    for test in condition.tests:
        yield show_column(to_column(test))
    if condition.run_step is not None:
        yield " AND ".join(show_scalar(scalar) for scalar in condition.run_conjuncts)


def guard_tests(tests: Sequence[RowTest]) -> Sequence[RowTest]:
    """Return tests that can be computed for every row without an error, one by one.

    In `z <> 0 AND x / z > 2`, the second test can raise if it is computed for every row. It becomes
    `CASE WHEN z <> 0 THEN x / z > 2 ELSE TRUE END`: it is computed only if all tests before it
    hold, and is true otherwise, so that the first false test is counted.
    """
    guarded: list[RowTest] = []
    for test in tests:
        needs_guard = bool(guarded) and to_column(test).may_fail
        guarded.append(guard_test(guarded, test) if needs_guard else test)
    return guarded


def guard_test(earlier_tests: Sequence[RowTest], test: RowTest) -> RowTest:
    """Return a test that is computed only if the earlier tests hold, and is true otherwise.

    Spark does not have the tests that the worker computes, so they do not guard a test of Spark.
    Nor does a test of several rows guard a test of one row, which would then need the sorted rows.
    """
    if isinstance(test, RowColumn):
        guards = tuple(
            earlier
            for earlier in earlier_tests
            if isinstance(earlier, RowColumn) and (earlier.reads_one_row or not test.reads_one_row)
        )
        return build_guarded_test(join_columns(guards), test) if guards else test
    guard = join_columns(tuple(to_column(earlier) for earlier in earlier_tests))
    guard_step = join_steps([to_step(earlier) for earlier in earlier_tests], NO_SPAN)
    step = CombinedStep("IF", (guard_step, test.step, to_step(ALWAYS_TRUE)), NO_SPAN)
    return NearbyTest(build_guarded_test(guard, test.column), step)


def to_step(test: RowTest) -> Step:
    """Return a test as the worker would compute it."""
    return test.step if isinstance(test, NearbyTest) else ColumnRead(test, None, None, NO_SPAN)


def to_column(test: RowTest) -> RowColumn:
    """Return a test as Spark would compute it."""
    return test.column if isinstance(test, NearbyTest) else test


@dataclass(frozen=True, slots=True)
class Figures:
    """The rows and matches that one worker, or all of them together, have counted.

    A worker sends the fields in this order.
    """

    rows: int = 0
    partitions: int = 0
    matched_partitions: int = 0  # partitions with a match
    matches: int = 0
    covered: int = 0  # rows that are in a match
    ties: int = 0  # rows that equal the row before them in their order
    longest_match: int = 0  # in rows
    largest_partition: int = 0  # in rows
    rows_held: int = 0  # the most rows that a worker held in memory at once

    def merge(self, other: Figures) -> Figures:
        """Return the figures of two chunks or workers together."""
        return Figures(
            rows=self.rows + other.rows,
            partitions=self.partitions + other.partitions,
            matched_partitions=self.matched_partitions + other.matched_partitions,
            matches=self.matches + other.matches,
            covered=self.covered + other.covered,
            ties=self.ties + other.ties,
            longest_match=max(self.longest_match, other.longest_match),
            largest_partition=max(self.largest_partition, other.largest_partition),
            rows_held=max(self.rows_held, other.rows_held),
        )


@dataclass(frozen=True, slots=True)
class NearestStart:
    """The starting row that came nearest to a match, of those that began none."""

    # The smallest number of rows that a match still needed.
    remaining: int
    # Its values in PARTITION BY and in ORDER BY, by the name of the column: numbers for integer
    # columns, texts for others; None for NULL.
    partition: dict[str, str | int | None] = field(default_factory=dict)
    order: dict[str, str | int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CountedCoverage:
    """What the workers counted of a clause, and the clause as it was compiled."""

    query: CoverageQuery
    task: CoverageTask
    figures: Figures
    # How far the starting rows came, and why they went no further.
    counts: Counts
    # None if no starting row was without a match.
    nearest: NearestStart | None
    # Whether the user asked for ranges, which partitions are not cut into: each row is needed.
    asked_for_ranges: bool
