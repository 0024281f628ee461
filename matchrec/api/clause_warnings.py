"""Warnings about queries that run but may not do what the user meant. `explain` shows them too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.split_query import SplitQuery
from matchrec.errors.kinds import with_source
from matchrec.errors.language import Language
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.errors.warnings import (
    days_counted_as_hours,
    order_lost_with_nanoseconds,
    unbounded_runs,
    unbounded_state,
)
from matchrec.plan.clauses import RowExpression
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.warning_rules.every_rule import find_warnings
from matchrec.source import Source
from matchrec.spark.clause_result import ClauseResult
from matchrec.spark.compiled_rules import CompiledRules
from matchrec.spark.holes import list_holes
from matchrec.spark.nanoseconds import find_nanosecond_ties
from matchrec.spark.request import MatchRequest
from matchrec.spark.tuning import warn_once_if_untuned

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

# Warnings about one query, in the order in which they are issued.
Warnings = tuple[MatchRecognizeWarning, ...]


def find_plan_warnings(query: SplitQuery, request: MatchRequest, source: Source) -> Warnings:
    """Return the warnings about a clause or a rule, with their locations in its text."""
    args = request.relation.runner.args
    values = args if isinstance(args, Mapping) else {}
    warnings = list(find_warnings(query.resolved_plan, values))
    intervals = request.backend.find_windows_in_hours(query.plan, request.find_order_type)
    warnings += [
        days_counted_as_hours(interval.span, interval=interval.text) for interval in intervals
    ]
    warnings += find_nanosecond_warnings(query.plan, request)
    return tuple(with_source(warning, source) for warning in warnings)


def find_nanosecond_warnings(
    plan: MatchPlan, request: MatchRequest
) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each frame with rows that are equal in ORDER BY without nanoseconds."""
    columns = request.columns
    relation = request.relation
    frames = [relation.runner.frames[name] for name in list_holes(relation.write_query(["*"]))]
    if not frames:
        return  # tables and views have no nanoseconds

    def find_name(expression: RowExpression) -> str:
        """Return the name of the column that an expression is; "" if it is not a column."""
        return columns.find_by_text(expression.text) or columns.find(expression.column_path) or ""

    order = [find_name(item.expression) for item in plan.order_by]
    keys = [find_name(key) for key in plan.partition_keys]
    for ties in find_nanosecond_ties(frames, order, keys):
        yield order_lost_with_nanoseconds(
            plan.order_by[order.index(ties.column)].expression.span,
            count=ties.row_count,
            frame=ties.times.frame_name,
            column=ties.column,
            frame_with_ns=ties.times.expressions[ties.column],
        )


def find_clause_warnings(
    result: ClauseResult, source: Source, language: Language | None
) -> Warnings:
    """Return the warnings about a planned clause.

    For SQL over a stream, they include the warning of `find_state_warnings`.
    """
    request = result.request
    warnings = find_plan_warnings(result.split_query, request, source)
    if not request.is_stream or language is not None:
        return warnings
    return (
        *warnings,
        *find_state_warnings(result.split_query.resolved_plan, result.compiled_query, source),
    )


def find_state_warnings(plan: MatchPlan, compiled_query: CompiledQuery, source: Source) -> Warnings:
    """Return the warning that the state of a stream grows without bound, if it does."""
    if compiled_query.is_bounded or compiled_query.sent_columns.window_end_columns:
        return ()
    if compiled_query.task.needs_event_selection:
        warning = unbounded_runs(plan.pattern.span)
    else:
        warning = unbounded_state(plan.pattern.span)
    return (with_source(warning, source),)


def find_tuning_warnings(
    spark: SparkSession, compiled_clauses: Sequence[CompiledRules]
) -> Warnings:
    """Return the warning that `tune` would help, for the first query that would gain from it."""
    if not compiled_clauses or any(compiled.request.is_stream for compiled in compiled_clauses):
        return ()
    types = (type_ for compiled in compiled_clauses for type_ in find_value_types(compiled))
    warning = warn_once_if_untuned(spark, types)
    return () if warning is None else (warning,)


def find_value_types(compiled: CompiledRules) -> Iterator[DataType]:
    """Yield the types of columns that may be sent, except keys and order.

    Keys and order are left out, because their values are short in practice.
    """
    sorted_by = {expression.text for expression in compiled.preparation.joined.sorted_by}
    for column, field in compiled.fields.items():
        if not (column.reads_one_row and column.text in sorted_by):
            yield field.dataType
