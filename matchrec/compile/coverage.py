"""Compile a query to count how far a match gets from each starting row.

Coverage answers why a query finds few matches. For each occurrence of a variable in PATTERN, it
counts the starting rows that reached it. For the starting rows that stopped there, it counts which
part of the condition was false. The worker runs the search of the query and counts on the way.

1. `build_coverage_query` builds a `CoverageQuery` from a split query. It keeps the conditions,
   drops the measures and the filters, and adds the tests that are counted one by one.
2. `build_coverage_task` finds the bits of the tests, once the query is compiled to a
   `CompiledQuery`.
3. The workers count: see `worker.coverage`. The result is `counted_coverage.CountedCoverage`.

All rows are sent, even rows that the query itself would leave out: every row can be a starting row,
and such a row is counted as a starting row that stopped at once. The sent columns are the columns
of conditions, and the columns that name a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from matchrec.automaton.occurrences import Occurrences, compile_occurrences, find_stage_occurrences
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.guarded_tests import RowTest, guard_tests, to_column
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.residual import NO_SPAN, NearbyTest, SplitCondition
from matchrec.conditions.row_column import RowColumn, build_row_column, show_column
from matchrec.conditions.split import ConditionSplitter
from matchrec.errors import inspection as errors
from matchrec.output.schema import RowOutput
from matchrec.plan.build_expressions import join_conditions, make_column, make_comparison
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.expression import Navigation, Scalar
from matchrec.plan.match_plan import MatchPlan, drop_output_options
from matchrec.plan.pattern import Variable, list_negations, list_variable_names
from matchrec.search.compiled_task import compile_task
from matchrec.search.coverage import AnnotatedTask, PartBit
from matchrec.search.task import NearbyCondition

CURRENT_ROW = Navigation()
PREVIOUS_ROW = Navigation(physical_offset=-1)


@dataclass(frozen=True, kw_only=True)
class CoverageQuery(SplitQuery):
    """A query whose starting rows are counted.

    A coverage query has no measures and no filters. Its tests are computed for all rows.
    """

    # The occurrences that are counted, and the occurrence to which each choice of a run belongs.
    occurrences: Occurrences
    # For each variable, the tests of its condition. No test can raise an error: see `guard_tests`.
    tests: Mapping[str, Sequence[RowTest]]
    # The columns of ORDER BY as SQL, each once.
    order_texts: tuple[str, ...]
    # The test that a row equals the row before it in all ORDER BY columns; None without ORDER BY.
    tie_test: RowTest | None


@dataclass(frozen=True, slots=True)
class CoverageTask:
    """The task of a worker that counts the coverage of a query. Picklable."""

    # The coverage query, compiled.
    compiled_query: CompiledQuery
    # The task of the search, with the occurrences and the parts of conditions.
    annotated_task: AnnotatedTask
    # The test that a row equals the row before it in all ORDER BY columns: a bit if Spark computes
    # the test, or a condition if the worker does. None without ORDER BY.
    tie_test: int | NearbyCondition | None
    # The columns that name a starting row, as indices in `SentColumns.columns`: partition columns,
    # then order columns.
    naming_columns: tuple[int, ...]

    @property
    def needs_event_selection(self) -> bool:
        """Return whether the query needs event selection.

        If it does, every row is a starting row; otherwise AFTER MATCH SKIP decides.
        """
        return self.compiled_query.task.needs_event_selection

    @property
    def first_naming_columns(self) -> tuple[int, ...]:
        """Return the partition columns and the first ORDER BY column.

        The query must have ORDER BY.
        """
        return self.naming_columns[: len(self.compiled_query.sent_columns.partition_keys) + 1]


def check_coverable(plan: MatchPlan) -> None:
    """Check that coverage supports a plan.

    Raises:
        MatchRecognizeUnsupportedError: the plan has LONGEST MATCH or NOT.
    """
    if plan.output is MatchOutput.LONGEST:
        raise errors.coverage_of_longest_match()
    negations = list_negations(plan.pattern)
    if negations:
        raise errors.coverage_of_negation(negations[0].span)


def build_coverage_query(query: SplitQuery) -> CoverageQuery:
    """Build the coverage query of a split query: its conditions, and the tests that are counted.

    Measures and filters are dropped. The only outputs are the columns of ORDER BY. Together with
    the columns of PARTITION BY, which are sent in any case, they name a starting row.

    Args:
        query: a query that `check_coverable` accepts.

    Raises:
        MatchRecognizePlanError: the pattern is too large.
    """
    plan = drop_output_options(query.plan, measures=())
    occurrences = compile_counted_occurrences(query, plan)
    order_texts = tuple(dict.fromkeys(item.expression.text for item in plan.order_by))
    outputs = tuple(RowOutput(text=text, name=text) for text in order_texts)
    tie_test = build_tie_test(order_texts, query)
    tests = {condition.variable: guard_tests(condition.tests) for condition in query.conditions}
    observed = list(chain.from_iterable(tests.values()))
    if tie_test is not None:
        observed.append(tie_test)
    return CoverageQuery(
        plan=plan,
        resolved_plan=query.resolved_plan,
        pattern=occurrences.pattern,
        outputs=outputs,
        all_outputs=outputs,
        conditions=query.conditions,
        observed_tests=tuple(observed),
        scope=query.scope,
        origins=query.origins,
        conjuncts=query.conjuncts,
        occurrences=occurrences,
        tests=tests,
        order_texts=order_texts,
        tie_test=tie_test,
    )


def compile_counted_occurrences(query: SplitQuery, plan: MatchPlan) -> Occurrences:
    """Compile the occurrences that are counted: the variables in PATTERN, or the stages.

    Args:
        query: the split query, which has the compiled pattern.
        plan: its plan without options of the output.

    Raises:
        MatchRecognizePlanError: the pattern is too large.
    """
    if plan.staging is not None:
        return find_stage_occurrences(query.pattern, len(list_variable_names(plan.pattern)))
    all_matches = plan.output is not MatchOutput.PREFERRED
    return compile_occurrences(query.pattern, plan.pattern, all_matches=all_matches)


def build_tie_test(order_texts: tuple[str, ...], query: SplitQuery) -> RowTest | None:
    """Return the test that a row equals the row before it in all order columns.

    Args:
        order_texts: the columns of ORDER BY as SQL.
        query: the query, whose scope says who computes the test.

    Returns:
        The test; None without ORDER BY.
    """
    if not order_texts:
        return None
    comparisons = [
        make_comparison("<=>", make_column(CURRENT_ROW, text), make_column(PREVIOUS_ROW, text))
        for text in order_texts
    ]
    # A condition is split for a variable, but this condition is the same for all variables. So a
    # pattern without variables, such as `()`, can be replaced by any variable.
    plan = query.plan
    if not plan.variables:
        plan = replace(plan, pattern=Variable("A"))
    splitter = ConditionSplitter(plan, plan.variables[0], query.scope)
    return splitter.build_test(join_conditions("AND", comparisons, NO_SPAN))


def build_coverage_task(query: CoverageQuery, compiled_query: CompiledQuery) -> CoverageTask:
    """Build the task by which a worker counts the coverage of a query.

    Args:
        query: the coverage query.
        compiled_query: the result of compiling it, which has the bits of its tests.

    Raises:
        MatchRecognizeUnsupportedError: the query has event selection, and a condition reads the
            match number.
    """
    task = compiled_query.task
    if task.needs_event_selection:
        integer_count = len(compiled_query.sent_columns.integer_columns)
        if compile_task(task, integer_count).reads_match_number:
            raise errors.coverage_of_match_number()
    columns = compiled_query.sent_columns.columns
    partition_columns = [index for _, index in compiled_query.sent_columns.partition_keys]
    order_columns = [columns.index(build_row_column(text)) for text in query.order_texts]
    parts = list_part_bits(query, find_test_bits(compiled_query))
    return CoverageTask(
        compiled_query=compiled_query,
        annotated_task=AnnotatedTask(task, query.occurrences, parts),
        tie_test=find_tie_test(query, compiled_query),
        naming_columns=(*partition_columns, *order_columns),
    )


def find_test_bits(compiled_query: CompiledQuery) -> dict[RowColumn, int]:
    """Return the bit of each test, whether Spark or the worker computes it, by its column."""
    worker_tests = find_worker_tests(compiled_query)
    bits = {column: condition.bit for column, condition in worker_tests.items()}
    bits.update({column: bit for bit, column in enumerate(compiled_query.row_conditions)})
    return bits


def find_worker_tests(compiled_query: CompiledQuery) -> dict[RowColumn, NearbyCondition]:
    """Return the tests that the worker computes, by their column."""
    return {
        condition.column: condition
        for condition in compiled_query.nearby_conditions
        # A condition with a bit of Spark is a test of Spark and a test of the worker together.
        if condition.spark_bit is None
    }


def list_part_bits(
    query: CoverageQuery, bits: Mapping[RowColumn, int]
) -> tuple[tuple[PartBit, ...], ...]:
    """Return the bits of the parts of each condition, in the order in which they are counted.

    The result has an element for each variable, by its id. The part that depends on the run, if
    there is one, is the last part.

    Args:
        query: the coverage query.
        bits: the bit of each test, by its column.
    """
    depend_on_run = {
        condition.variable for condition in query.conditions if condition.run_step is not None
    }
    bits_by_variable = []
    for name in query.plan.variables:
        tests = query.tests.get(name, [])
        part_bits: list[PartBit] = [bits[to_column(test)] for test in tests]
        if name in depend_on_run:
            part_bits.append(None)
        bits_by_variable.append(tuple(part_bits))
    return tuple(bits_by_variable)


def find_tie_test(
    query: CoverageQuery, compiled_query: CompiledQuery
) -> int | NearbyCondition | None:
    """Return the test that a row equals the row before it, in the form of `CoverageTask.tie_test`.

    Args:
        query: the coverage query.
        compiled_query: the result of compiling it.
    """
    match query.tie_test:
        case None:
            return None
        case NearbyTest(column=column):
            return find_worker_tests(compiled_query)[column]
        case column:
            return compiled_query.row_conditions.index(column)


def show_condition_parts(
    condition: SplitCondition | None, show_scalar: Callable[[Scalar], str]
) -> Iterator[str]:
    """Yield the parts of a condition as text, in the order in which they are counted.

    Args:
        condition: the condition of a variable; None if the variable has no condition.
        show_scalar: returns the text of a conjunct that depends on the run.
    """
    if condition is None:
        return
    for test in condition.tests:
        yield show_column(to_column(test))
    if condition.run_step is not None:
        yield " AND ".join(show_scalar(scalar) for scalar in condition.run_conjuncts)
