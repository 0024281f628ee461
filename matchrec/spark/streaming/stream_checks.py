"""Check that a query can run over a stream, whose rows arrive little by little.

A query that needs all of its rows at once is rejected, with an error that says why.
`spark.compile.compile_stream` calls each check after the first step of compiling whose result the
check needs.
"""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.compile.columns import find_dividing_columns
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.row_column import show_column
from matchrec.conditions.run_condition import PythonAggregate
from matchrec.errors import streams
from matchrec.errors.machine import streams_not_supported
from matchrec.output.reads import ReadNavigation
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import PartitionEnd, list_negations, walk_pattern
from matchrec.search.compiled_task import compile_task
from matchrec.search.incremental import keeps_values
from matchrec.spark.request import MatchRequest, Options


def check_request(request: MatchRequest) -> None:
    """Check that the session, the options and the plans of a request can be used with a stream.

    Raises:
        MatchRecognizeError: one of them cannot.
    """
    if not request.backend.has_watermarks:
        raise streams_not_supported()
    check_options(request.options)
    for rule in request.rules:
        with rule.name_in_errors():
            check_plan(rule.plan)


def check_plan(plan: MatchPlan) -> None:
    """Check that a plan can be matched while its rows arrive little by little.

    Raises:
        MatchRecognizeError: the order, the pattern or an option of the clause needs all rows.
    """
    if not plan.order_by:
        raise streams.stream_without_order(plan.pattern.span)
    first_item = plan.order_by[0]
    if first_item.is_descending:
        raise streams.descending_over_stream(
            first_item.expression.span, order=first_item.expression.text
        )
    if plan.rows_per_match.is_window_output:
        raise streams.pattern_window_over_stream(plan.pattern.span)
    if plan.output is MatchOutput.GRAPH:
        raise streams.graph_over_stream()
    # The next three depend on the last row of a partition, which a stream never has: runs that the
    # end of a partition cuts off, `$`, and negations in a pattern of consecutive rows.
    if plan.partial is not None:
        raise streams.timeouts_over_stream(plan.partial.span, words=plan.partial.words)
    if any(isinstance(part, PartitionEnd) for part in walk_pattern(plan.pattern)):
        raise streams.end_anchor_over_stream(plan.pattern.span)
    if list_negations(plan.pattern) and not plan.needs_event_selection:
        raise streams.negation_over_stream(plan.pattern.span)
    if plan.needs_event_selection and plan.output is MatchOutput.PREFERRED:
        raise streams.preferred_matches_over_stream(plan.pattern.span)
    if plan.row_gap is not None and not plan.needs_event_selection:
        raise streams.row_gap_over_stream(plan.row_gap.span)


def check_options(options: Options) -> None:
    """Check that options can be used with a stream.

    Raises:
        MatchRecognizeError: one of them cannot.
    """
    if options.transport == "arrow":
        raise streams.arrow_over_stream()
    if options.counters is not None:
        raise streams.counters_over_stream()
    if options.sort != "auto":
        raise streams.sort_over_stream(sort=options.sort)


def check_split_queries(request: MatchRequest, queries: Sequence[SplitQuery]) -> None:
    """Check that Spark computes no value of several rows, for which it would have to sort them.

    Raises:
        MatchRecognizeUnsupportedError: Spark computes such a value, or a rule of a set divides
            partitions further.
    """
    for rule, query in zip(request.rules, queries, strict=True):
        with rule.name_in_errors():
            check_one_row(query)
            if not request.is_rule_set:
                continue
            for column in find_dividing_columns(query.plan):
                raise streams.equivalence_test_over_stream(column=show_column(column))


def check_one_row(query: SplitQuery) -> None:
    """Check that Spark computes no value of several rows for a query.

    Raises:
        MatchRecognizeUnsupportedError: Spark computes such a value.
    """
    columns = (*query.columns, *query.row_conditions)
    if all(column.reads_one_row for column in columns):
        return
    if query.plan.needs_event_selection:
        raise streams.neighbouring_rows_over_stream()
    raise streams.frame_over_stream()


def check_compiled_query(compiled_query: CompiledQuery) -> None:
    """Check that a compiled query needs no more rows than a stream keeps.

    Raises:
        MatchRecognizeError: the query needs rows that a stream drops.
    """
    task = compiled_query.task
    sent_columns = compiled_query.sent_columns
    if compiled_query.aggregates:
        raise streams.aggregate_over_stream()
    if not task.needs_event_selection:
        return
    if compiled_query.strategy.algorithm != "breadth_first":
        raise streams.algorithm_over_stream(algorithm=compiled_query.strategy.algorithm)
    if any(isinstance(call, PythonAggregate) for call in task.find_python_expressions()):
        raise streams.list_over_stream()
    # Ranks of strings are only valid in one call, so no run is allowed to keep one.
    ranked_columns = frozenset(
        index
        for index, column in enumerate(sent_columns.integer_columns)
        if column in sent_columns.ranked_columns
    )
    if keeps_values(task, ranked_columns):
        raise streams.min_of_strings_over_stream()
    # Rows around a row that is kept can be dropped.
    condition_offsets = compile_task(task, len(sent_columns.integer_columns)).offsets
    read_offsets = [
        read.navigation.physical_offset
        for read in compiled_query.reads
        if isinstance(read, ReadNavigation)
    ]
    if any(condition_offsets) or any(read_offsets):
        raise streams.skipped_row_over_stream()
