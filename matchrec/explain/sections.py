"""Write the lines of the sections of an explained clause.

Each `describe_...` function yields the lines of one section, or nothing if the query has nothing of
the kind. The functions are in the order in which a query runs: before, during and after the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typing_extensions import assert_never

from matchrec.automaton.compile import compile_pattern
from matchrec.compile.compiled_query import CompiledQuery, SorterChoice
from matchrec.compile.negation import NegationTest, find_negation_tests
from matchrec.compile.pruning.irrelevant_rows import negate_test
from matchrec.conditions.functions import TIME_PREFIX
from matchrec.conditions.row_column import show_column
from matchrec.conditions.run_condition import PythonAggregate, PythonCall, walk_expression
from matchrec.errors.wording import show_count
from matchrec.explain.condition_texts import show_conditions
from matchrec.output.measure_sql import AggregateInSql, ReadInSql, SqlPiece
from matchrec.output.reads import ReadTotal
from matchrec.plan.clauses import ONE_MATCH_PER_START, RowExpression, SortItem
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import list_negations
from matchrec.plan.show import show_reference
from matchrec.plan.text import quote_name
from matchrec.plan.totals import MATCH_NAME, is_name_of_totals
from matchrec.search.strategies import classify_time
from matchrec.search.task import Condition

# The rows that a search keeps in memory while it reads a partition in chunks.
UNFINISHED_ROWS = "the rows that the search has not finished with"


# Before the search.


def describe_partitions(
    plan: MatchPlan, key_filters: tuple[str, ...], sorter: SorterChoice | None
) -> Iterator[str]:
    """Yield lines about how rows are divided and ordered, and about who sorts them.

    Args:
        plan: the resolved plan of the query.
        key_filters: see `ExplainedClause`.
        sorter: who sorts the rows; None for a stream and for a single rule of a rule set.
    """
    yield show_partition_by(plan.partition_by, plan.equivalence_keys)
    if key_filters:
        tests = " AND ".join(key_filters)
        yield f"only partitions with {tests}, which the outer query requires"
    yield show_order_by(plan.order_by)
    if sorter is not None:
        yield f"sorted by {sorter}"


def show_partition_by(
    keys: Sequence[RowExpression], equivalence_keys: Sequence[RowExpression] = ()
) -> str:
    """Return the line about PARTITION BY and the equivalence tests of SASE+."""
    texts = [show_partition_key(key) for key in keys]
    texts += [f"{key.text} (equivalence test: not NULL)" for key in equivalence_keys]
    return f"partition by {', '.join(texts)}" if texts else "all rows form one partition"


def show_order_by(items: Sequence[SortItem]) -> str:
    """Return the line about ORDER BY."""
    if not items:
        return "no ORDER BY: the result can differ from run to run"
    return f"order by {', '.join(show_sort_item(item) for item in items)}"


def show_partition_key(key: RowExpression) -> str:
    """Return a key of PARTITION BY as it is written in a query."""
    return f"{key.text} AS {quote_name(key.output_name)}" if key.output_name else key.text


def show_sort_item(item: SortItem) -> str:
    """Return an item of ORDER BY as it is written in a query."""
    text = item.expression.text
    if item.is_descending:
        text += " DESC"
    if item.nulls_first is not None:
        text += " NULLS FIRST" if item.nulls_first else " NULLS LAST"
    return text


def describe_needed_partitions(
    compiled_query: CompiledQuery, sorter: SorterChoice | None
) -> Iterator[str]:
    """Yield a line about the partitions that the workers drop before they sort, if any."""
    if compiled_query.bits_needed_for_output and sorter is not None and sorter.is_worker:
        tests = (
            show_column(compiled_query.row_conditions[bit])
            for bit in compiled_query.bits_needed_for_output
        )
        conditions = ", or without a row for ".join(tests)
        yield f"skipped before the sort: partitions without a row for {conditions}"


def describe_work_before(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield the columns and conditions that the engine computes, and which rows it sends."""
    for index in compiled_query.sent_columns.used_columns:
        yield f"c{index} = {show_column(compiled_query.sent_columns.columns[index])}"
    for bit in compiled_query.tested_bits:
        yield f"condition {bit} = {show_column(compiled_query.row_conditions[bit])}"
    if not compiled_query.sent_columns.used_columns and not compiled_query.tested_bits:
        yield "nothing"
    if compiled_query.row_filters:
        tests = " or ".join(name_filters(compiled_query))
        yield f"only rows with {tests} are sent to the workers: no other row can change a match"


def name_filters(compiled_query: CompiledQuery) -> list[str]:
    """Return the name of each row filter: `condition 2` or `not condition 2`.

    A filter is a condition that is also sent as a bit, or the negation of one.
    """
    names = {}
    for bit, condition in enumerate(compiled_query.row_conditions):
        names[condition] = f"condition {bit}"
    for bit, condition in enumerate(compiled_query.row_conditions):
        if condition.reads_one_row:
            names[negate_test(condition)] = f"not condition {bit}"
    return [names[row_filter] for row_filter in compiled_query.row_filters]


def describe_nearby_conditions(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield the conditions on neighbouring rows that the workers compute."""
    for condition in compiled_query.nearby_conditions:
        row_test = "" if condition.spark_bit is None else f"condition {condition.spark_bit} AND "
        yield f"condition {condition.bit} = {row_test}{show_column(condition.column)}"


# The search.


def describe_conditions(plan: MatchPlan, compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield how the condition of each variable is tested, then what the conditions depend on.

    Examples of the lines are `A: condition 0, and during the search: price > LAST(A.price)`,
    `N (must not follow): price > 9`, and `the conditions depend on the run`.
    """
    task = compiled_query.task
    has_negations = bool(list_negations(plan.pattern))
    negation_tests: tuple[NegationTest, ...] = ()
    if has_negations:
        # The compiled query has tests instead of NOTs, and cannot tell which test belongs to which
        # NOT, so the tests are made again from the plan.
        negation_tests = find_negation_tests(plan, compile_pattern(plan))
    texts = show_conditions(plan, (test.definition for test in negation_tests))
    for variable, condition in zip(task.variables, task.conditions, strict=True):
        if has_negations and variable in plan.variables_without_rows:
            yield f"{variable} (must not follow): {texts.get(variable, 'true')}"
            continue
        # In a plan of stages, the conditions belong to tests: a stage itself has none.
        is_stage = plan.staging is not None and variable not in texts
        if not is_stage:
            # The names of the tests of stages begin with a colon.
            yield f"{variable.removeprefix(':')}: {show_tests(condition, texts.get(variable, ''))}"
    yield f"the conditions depend on the {'data only' if task.reads_only_data else 'run'}"
    yield from describe_python_functions(compiled_query)


def show_tests(condition: Condition, text: str) -> str:
    """Return how the condition of a variable is tested: before the search, during it, or both.

    Args:
        condition: the condition in the task.
        text: the condition as text; empty if the variable has no condition.
    """
    tests = []
    if condition.row_bit is not None:
        tests.append(f"condition {condition.row_bit}")
    if condition.run_condition is not None:
        tests.append(f"during the search: {text}")
    return ", and ".join(tests) or "true"


def describe_python_functions(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield a line with the functions that Python computes during the search, if there are any."""
    names = [
        call.name
        for condition in compiled_query.task.conditions
        if condition.run_condition
        for call in walk_expression(condition.run_condition)
        if isinstance(call, PythonCall | PythonAggregate)
    ]
    if names:
        functions = dict.fromkeys(name.removeprefix(TIME_PREFIX).lower() for name in names)
        yield f"computed in Python, which is slower: {', '.join(functions)}"


def describe_algorithm(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield lines about the algorithm: why it was chosen, and how much time and memory it needs."""
    strategy = compiled_query.strategy
    name = strategy.make_name(compiled_query.task)
    yield f"{strategy.algorithm}, {name}: {compiled_query.strategy_reason}"
    if not compiled_query.task.needs_event_selection:
        yield f"time: {classify_time(compiled_query.task, compiled_query.strategy.algorithm)}"
    lookaround = compiled_query.lookaround
    if lookaround is None:
        reason = "unfinished runs are output"
        if compiled_query.task.needs_event_selection:
            reason = "event selection is used"
        yield f"memory: whole partitions, because {reason}"
        return
    rows_around = []
    if lookaround.rows_before:
        rows_around.append(f"{show_count(lookaround.rows_before, 'row')} before them")
    if lookaround.rows_after:
        rows_around.append(f"{show_count(lookaround.rows_after, 'row')} after a match")
    more = f", and {' and '.join(rows_around)}" if rows_around else ""
    yield f"memory: {UNFINISHED_ROWS}{more}"


def describe_stream(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield lines about the state of a stream: what it keeps between two micro-batches.

    The last line says what bounds the number of rows that it keeps of a partition.
    """
    yield "state of each partition: the rows that the watermark has not passed, and"
    if compiled_query.task.needs_event_selection:
        yield "the unfinished runs with their rows"
    else:
        before = compiled_query.lookaround.rows_before if compiled_query.lookaround else 0
        rows_before = f", and {show_count(before, 'row')} before them" if before else ""
        yield f"{UNFINISHED_ROWS}{rows_before}"
    yield describe_row_bound(compiled_query)


def describe_row_bound(compiled_query: CompiledQuery) -> str:
    """Return a line that says what bounds the number of rows that a stream keeps."""
    longest = compiled_query.task.pattern.longest_match
    if compiled_query.window_rows is not None:
        return f"bounded by the window: a run ends after {compiled_query.window_rows:,} rows"
    if compiled_query.task.has_window:
        return "bounded by the window: a run ends when the watermark passes its end"
    if compiled_query.is_bounded:
        return f"bounded by the length of a match: at most {longest:,} rows"
    return "unbounded: a run can wait for any number of rows"


# After the search.


def describe_totals(
    plan: MatchPlan, compiled_query: CompiledQuery, reason_for_building_matches: str | None
) -> Iterator[str]:
    """Yield the aggregates over all matches, and who computes them.

    Args:
        plan: the plan of the query. It has totals if the search computes them, without building
            matches.
        compiled_query: the compiled query.
        reason_for_building_matches: see `ExplainedClause`.
    """
    if reason_for_building_matches is not None:
        yield f"computed by the engine from all matches, because {reason_for_building_matches}"
    if plan.totals is not None:
        rows = f"a row for {plan.totals.grouping.meaning}"
        yield f"computed by the search, which builds no matches: {rows}"
        columns = [show_column(column) for column in compiled_query.sent_columns.columns]
        for read in compiled_query.reads:
            if isinstance(read, ReadTotal):
                yield read.show(columns)


def describe_output_rows(plan: MatchPlan) -> Iterator[str]:
    """Yield which rows of a match are output, and where the search goes on after a match."""
    partial = f" {plan.partial.words}" if plan.partial else ""
    yield f"{plan.rows_per_match.value}{partial}"
    if plan.output in ONE_MATCH_PER_START:
        yield plan.after_match.words


def describe_output_columns(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield each output column, as SQL over what the workers return."""
    columns = [show_column(column) for column in compiled_query.sent_columns.columns]
    for output in compiled_query.outputs:
        text = "".join(show_piece(piece, compiled_query, columns) for piece in output.pieces)
        if output.name == MATCH_NAME:
            yield "a row for each match, which is only counted"
        elif is_name_of_totals(output.name):
            yield text
        else:
            yield f"{output.name} = {text}"


def show_piece(piece: SqlPiece, compiled_query: CompiledQuery, columns: list[str]) -> str:
    """Return a piece of an output column's SQL as text: reads and aggregates as a query has them.

    Args:
        piece: SQL text, or the read or aggregate that is inserted there.
        compiled_query: the compiled query, which has the reads and aggregates.
        columns: the texts of the columns that the engine computes before the search, by index.
    """
    match piece:
        case str():
            return piece
        case ReadInSql(index):
            return compiled_query.reads[index].show(columns)
        case AggregateInSql(index):
            call = compiled_query.aggregates[index].call
            return f"{call.semantics.value} {show_reference(call)} over the rows of the match"
        case _:
            assert_never(piece)
