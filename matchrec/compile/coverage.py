"""Compile a query to count how far its starting rows come: its matches without their output.

Every row is sent, even rows that the query itself would leave out, because each is a starting row.
No measure is read. The columns that are sent are those of conditions, and those that name a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from matchrec.automaton.occurrences import Occurrences, compile_occurrences, occurrences_of_stages
from matchrec.compile.executable import Executable
from matchrec.compile.path import Draft
from matchrec.conditions.residual import NOWHERE, Combined, Nearby, SplitCondition, Step, Value
from matchrec.conditions.row_column import (
    EVERYWHERE,
    RowColumn,
    conjunction,
    row_column,
    show_column,
    true_unless,
)
from matchrec.conditions.split import ConditionSplitter, all_of
from matchrec.errors.run import failures
from matchrec.output.schema import RowOutput
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.expression import Navigation, Scalar, column_term, comparison, joined
from matchrec.plan.match_plan import MatchPlan, search_only
from matchrec.plan.pattern import negations, variable_names
from matchrec.search.coverage import Counts, Coverable
from matchrec.search.interface import NearbyCondition
from matchrec.search.records import compile_task

# A part of a condition that is known before the match, computed by Spark or by the worker.
RowTest = RowColumn | Nearby

HERE = Navigation()
BEFORE = Navigation(physical_offset=-1)


@dataclass(frozen=True, slots=True)
class CoverageDraft:
    """The draft of a query whose starting rows are counted."""

    draft: Draft
    occurrences: Occurrences
    # For each variable, the tests of its condition, guarded against errors: see `guard_tests`.
    tests: Mapping[str, Sequence[RowTest]]
    # Whether a row equals the one before it in all ORDER BY columns; None without ORDER BY.
    tie: RowTest | None


@dataclass(frozen=True, slots=True)
class CoverageTask:
    """What a worker counts. Picklable."""

    executable: Executable
    coverable: Coverable
    # The condition that a row equals the one before it in all ORDER BY columns: the bit that Spark
    # computes, or the condition that the worker computes. None without ORDER BY.
    tie: int | NearbyCondition | None
    # The columns that name a starting row: partition columns, then order columns.
    naming_columns: tuple[int, ...]

    @property
    def selects(self) -> bool:
        """Return whether rows may be skipped, or all matches are needed."""
        return self.executable.task.selects

    @property
    def first_naming_columns(self) -> tuple[int, ...]:
        """Return the columns of the partition, and the first one of its order."""
        return self.naming_columns[: len(self.executable.crossing.keys) + 1]


def check_coverable(plan: MatchPlan) -> None:
    """Check that the starting rows of a plan can be counted.

    Raises:
        MatchRecognizeUnsupportedError: they cannot.
    """
    if plan.output is MatchOutput.LONGEST:
        raise failures.coverage_of_longest()
    if negations(plan.pattern):
        raise failures.coverage_of_negation(negations(plan.pattern)[0].span)


def draft_coverage(draft: Draft) -> CoverageDraft:
    """Return the draft of a query without what only its output needs.

    Raises:
        MatchRecognizePlanError: the pattern is too large.
    """
    plan = search_only(draft.plan, ())
    occurrences = find_occurrences(draft, plan)
    orders = tuple(dict.fromkeys(item.expression.text for item in plan.order_by))
    tie = build_tie_test(orders, draft)
    tests = {condition.variable: guard_tests(condition.tests) for condition in draft.conditions}
    observed = [*chain.from_iterable(tests.values())]
    if tie is not None:
        observed.append(tie)
    narrowed = replace(
        draft,
        plan=plan,
        pattern=occurrences.pattern,
        outputs=tuple(RowOutput(text, text) for text in orders),
        relevant=(),
        observed=tuple(observed),
    )
    return CoverageDraft(narrowed, occurrences, tests, tie)


def find_occurrences(draft: Draft, plan: MatchPlan) -> Occurrences:
    """Return the occurrences of variables in the row pattern of a plan, or its stages."""
    if plan.staging is not None:
        return occurrences_of_stages(draft.pattern, len(variable_names(plan.pattern)))
    every_way = plan.output is not MatchOutput.PREFERRED
    return compile_occurrences(draft.pattern, plan.pattern, every_way=every_way)


def build_tie_test(orders: tuple[str, ...], draft: Draft) -> RowTest | None:
    """Return the test that a row equals the one before it in all of these columns."""
    if not orders:
        return None
    comparisons = [
        comparison("<=>", column_term(HERE, text), column_term(BEFORE, text)) for text in orders
    ]
    any_variable = draft.plan.variables[0]
    splitter = ConditionSplitter(draft.plan, any_variable, draft.scope)
    return splitter.test(joined("AND", comparisons, NOWHERE))


def link_coverage(coverage: CoverageDraft, executable: Executable) -> CoverageTask:
    """Return what a worker counts.

    Raises:
        MatchRecognizeUnsupportedError: a condition reads the match number.
    """
    draft = coverage.draft
    task = executable.task
    if task.selects and compile_task(task, len(executable.crossing.integers)).rules.forgets:
        raise failures.coverage_of_match_number()
    bits = find_test_bits(executable)
    columns = executable.crossing.columns
    keys = [index for _, index in executable.crossing.keys]
    orders = [columns.index(row_column(output.name)) for output in draft.outputs]
    return CoverageTask(
        executable=executable,
        coverable=Coverable(task, coverage.occurrences, number_parts(coverage, bits)),
        tie=link_tie(coverage.tie, executable, bits),
        naming_columns=(*keys, *orders),
    )


def find_test_bits(executable: Executable) -> dict[RowColumn, int]:
    """Return the bit of each test, by its column: those that Spark and the worker compute."""
    bits = {
        condition.column: condition.bit
        for condition in executable.nearby
        if condition.row_condition is None
    }
    bits.update({column: bit for bit, column in enumerate(executable.conditions)})
    return bits


def number_parts(
    coverage: CoverageDraft, bits: Mapping[RowColumn, int]
) -> tuple[tuple[int | None, ...], ...]:
    """Return for each variable the parts of its condition, in the order in which they are counted.

    A part is the bit of a test. None is the part that depends on the run, which is the last.
    """
    depend_on_run = {
        condition.variable
        for condition in coverage.draft.conditions
        if condition.during is not None
    }
    all_parts = []
    for name in coverage.draft.plan.variables:
        parts: list[int | None] = [bits[to_column(test)] for test in coverage.tests.get(name, [])]
        if name in depend_on_run:
            parts.append(None)
        all_parts.append(tuple(parts))
    return tuple(all_parts)


def link_tie(
    tie: RowTest | None, executable: Executable, bits: Mapping[RowColumn, int]
) -> int | NearbyCondition | None:
    """Return how a worker knows that a row equals the one before it, see `CoverageTask.tie`."""
    if tie is None:
        return None
    if isinstance(tie, Nearby):
        return next(condition for condition in executable.nearby if condition.column == tie.column)
    return bits[tie]


def show_condition_parts(
    condition: SplitCondition | None, show_scalar: Callable[[Scalar], str]
) -> Iterator[str]:
    """Yield the parts of a condition as text, in the order in which they are counted.

    Args:
        condition: the condition of a variable, or None.
        show_scalar: writes what depends on the run.
    """
    if condition is None:
        return
    for test in condition.tests:
        yield show_column(to_column(test))
    if condition.during is not None:
        yield " AND ".join(show_scalar(scalar) for scalar in condition.rest)


def guard_tests(tests: Sequence[RowTest]) -> Sequence[RowTest]:
    """Return tests that can each be computed for every row.

    A test that can raise is computed only if the tests before it hold, and is true otherwise.
    """
    guarded: list[RowTest] = []
    for test in tests:
        needs_guard = bool(guarded) and to_column(test).may_fail
        guarded.append(guard_test(guarded, test) if needs_guard else test)
    return guarded


def guard_test(earlier_tests: Sequence[RowTest], test: RowTest) -> RowTest:
    """Return a test that is computed only if earlier tests hold, and is true otherwise.

    A test that Spark computes is guarded only by tests that Spark computes, too.
    """
    if isinstance(test, RowColumn):
        guards = tuple(
            earlier
            for earlier in earlier_tests
            if isinstance(earlier, RowColumn)
            and (earlier.looks_at_one_row or not test.looks_at_one_row)
        )
        return true_unless(conjunction(guards), test) if guards else test
    guard = conjunction(tuple(to_column(earlier) for earlier in earlier_tests))
    guard_step = all_of([to_step(earlier) for earlier in earlier_tests], NOWHERE)
    step = Combined("IF", (guard_step, test.step, to_step(EVERYWHERE)), NOWHERE)
    return Nearby(true_unless(guard, test.column), step)


def to_step(test: RowTest) -> Step:
    """Return a test as the worker would compute it."""
    return test.step if isinstance(test, Nearby) else Value(test, None, None, NOWHERE)


def to_column(test: RowTest) -> RowColumn:
    """Return a test as Spark would compute it."""
    return test.column if isinstance(test, Nearby) else test


@dataclass(frozen=True, slots=True)
class Figures:
    """Numbers of rows and matches.

    Numbers of several workers are added up, except for the last three, which are maximums.
    """

    rows: int = 0
    partitions: int = 0
    matched_partitions: int = 0  # partitions with a match
    matches: int = 0
    covered: int = 0  # rows of matches
    ties: int = 0  # rows that equal the row before them in their order
    longest_match: int = 0  # in rows
    largest_partition: int = 0  # in rows
    rows_held: int = 0  # rows that a worker looked at in one call


# How many fields of `Figures` are added up.
SUMS = 6


@dataclass(frozen=True, slots=True)
class NearestStart:
    """The starting row that came nearest to a match without one."""

    # How many rows a match still needed.
    remaining: int
    # The values of its partition columns and of its order, as text by their names; None for NULL.
    partition: dict[str, str | None] = field(default_factory=dict)
    order: dict[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CountedCoverage:
    """What the workers counted of a clause, and what it was counted of."""

    coverage_draft: CoverageDraft
    task: CoverageTask
    figures: Figures
    counts: Counts
    nearest: NearestStart | None
