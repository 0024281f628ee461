"""The columns of the row pattern output table, in order.

- ONE ROW PER MATCH: partition columns, measures.
- ALL ROWS PER MATCH: partition columns, order columns, measures, then the other input columns.
- ALL ROWS PER MATCH with `ColumnOrder.INPUT_FIRST`, and row pattern windows: columns of the input,
  measures.
- Aggregates over all matches: partition columns, measures that group matches, aggregates.

A `Pattern` that outputs timeouts has one more column, `timed_out_at`. The graph of all matches also
has the fields of its pointers. They come last.

Each input column is listed at most once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matchrec.errors.language import PATTERN_CALLS, current_language
from matchrec.errors.result_columns import (
    duplicate_classifier_field,
    duplicate_output_column,
    measure_with_taken_name,
    no_output_columns,
)
from matchrec.errors.rules import duplicate_measure
from matchrec.errors.stages import stage_name_taken
from matchrec.output.reads import PointerField
from matchrec.plan.clauses import ColumnOrder, MatchOutput, Measure
from matchrec.plan.expression import CLASSIFIER_FIELD
from matchrec.plan.match_plan import MatchPlan, ResultUse
from matchrec.plan.parameters import NAME_PREFIX
from matchrec.plan.resolve import InputColumns
from matchrec.plan.text import quote_name
from matchrec.plan.totals import TotalAggregate, Totals
from matchrec.source import Span

if TYPE_CHECKING:
    from matchrec.plan.stages import Timeouts


@dataclass(frozen=True, slots=True)
class RowOutput:
    """A column computed from the input row."""

    # The value, as SQL over the input row.
    text: str
    name: str
    # Where the name is written; None if the user gave no name.
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class PointerOutput:
    """A column of a match graph, which has a row for each pointer of the shared buffer."""

    field: PointerField
    name: str


@dataclass(frozen=True, slots=True)
class TimeoutOutput:
    """A column with the time at which the window of a timed-out run ended; NULL for a match."""

    # The windows at whose end runs time out.
    timeouts: Timeouts
    name: str = "timed_out_at"


@dataclass(frozen=True, slots=True)
class TotalOutput:
    """A column with an aggregate over all matches."""

    name: str
    aggregate: TotalAggregate
    # The measure that is aggregated; None for a count of matches.
    measure: Measure | None


# The column of a result that would have no column. No query can name it, and messages do not show
# it.
PLACEHOLDER_COLUMN = f"{NAME_PREFIX}match"

OutputColumn = RowOutput | Measure | PointerOutput | TimeoutOutput | TotalOutput


def list_output_columns(
    plan: MatchPlan, input_columns: InputColumns, name_expression: Callable[[str], str]
) -> tuple[OutputColumn, ...]:
    """Return the columns of the result of a resolved plan.

    A plan without a column gets `PLACEHOLDER_COLUMN`, because a DataFrame needs a column. The query
    around the clause may then read no column, as SELECT COUNT(*) does; see `check_has_columns`.

    Args:
        plan: a resolved plan.
        input_columns: the columns of the input.
        name_expression: returns the name that the engine gives to the column of an expression in
            SQL.

    Raises:
        MatchRecognizePlanError: two columns have the same name, or an input column has the name of
            the field of MATCHED_ROWS() that holds the classifier.
    """
    outputs = list_table_columns(plan, input_columns, name_expression)
    if plan.totals is not None:
        outputs = list_total_columns(plan, plan.totals, outputs)
    elif plan.staging is not None and plan.staging.timeouts is not None:
        outputs.append(TimeoutOutput(plan.staging.timeouts))
    if plan.output is MatchOutput.GRAPH:
        outputs += [PointerOutput(field, field.value) for field in PointerField]
    if not outputs:
        outputs = [RowOutput("TRUE", PLACEHOLDER_COLUMN)]
    check_output_names(outputs, input_columns, plan)
    if input_columns.find((CLASSIFIER_FIELD,)) and plan.matched_rows_calls:
        raise duplicate_classifier_field(plan.matched_rows_calls[0].span)
    return tuple(outputs)


def check_has_columns(outputs: tuple[OutputColumn, ...], plan: MatchPlan, use: ResultUse) -> None:
    """Check that a result has a column if the query around the clause may read any column.

    This is checked when the types of all columns are known, so that an unknown column in a
    condition is reported first.

    Args:
        outputs: the columns of the result, from `list_output_columns`.
        plan: the plan of the clause.
        use: what the query around the clause reads.

    Raises:
        MatchRecognizePlanError: the result has no column, and the query may read any column.
    """
    if use.columns is None and outputs[0].name == PLACEHOLDER_COLUMN:
        raise no_output_columns(plan.pattern.span)


def list_total_columns(
    plan: MatchPlan, totals: Totals, match_outputs: list[OutputColumn]
) -> list[OutputColumn]:
    """Return the columns of a result of totals: the columns that group matches, then the totals.

    Args:
        plan: a resolved plan.
        totals: the plan's aggregates over all matches.
        match_outputs: the columns of the result if matches were not aggregated.
    """
    outputs = [
        column
        for column in match_outputs
        if not isinstance(column, Measure) or column.name in totals.keys
    ]
    measures = {measure.name: measure for measure in plan.measures}
    for total, name in totals.columns.items():
        measure = None if total.measure is None else measures[total.measure]
        outputs.append(TotalOutput(name, total, measure))
    return outputs


def list_table_columns(
    plan: MatchPlan, input_columns: InputColumns, name_expression: Callable[[str], str]
) -> list[OutputColumn]:
    """Return the columns of the row pattern output table, without the columns of totals and graphs.

    The docstring of the module has their order. For the arguments see `list_output_columns`.
    """
    partition_outputs = list_partition_columns(plan, input_columns, name_expression)
    input_outputs = [RowOutput(quote_name(name), name) for name in input_columns.names]
    if plan.rows_per_match.summarizes_matches:
        return [*partition_outputs, *plan.measures]
    if plan.rows_per_match.is_window_output or plan.column_order is ColumnOrder.INPUT_FIRST:
        return [*input_outputs, *plan.measures]
    listed_texts = {column.text for column in partition_outputs}
    order_outputs = []
    for item in plan.order_by:
        text = item.expression.text
        order_name = input_columns.find_by_text(text)
        if text not in listed_texts and order_name is not None:
            order_outputs.append(RowOutput(text, order_name))
            listed_texts.add(text)
    other_outputs = [column for column in input_outputs if column.text not in listed_texts]
    return [*partition_outputs, *order_outputs, *plan.measures, *other_outputs]


def list_partition_columns(
    plan: MatchPlan, input_columns: InputColumns, name_expression: Callable[[str], str]
) -> list[RowOutput]:
    """Return the columns of PARTITION BY, each once.

    An expression has the name that the user gave, or else the name of the input column, or else
    the name that the engine gives it. For the arguments see `list_output_columns`.
    """
    partition_outputs = []
    for key in dict.fromkeys(plan.partition_by):
        name = key.output_name or input_columns.find_by_text(key.text) or name_expression(key.text)
        partition_outputs.append(RowOutput(key.text, name, key.span if key.output_name else None))
    return partition_outputs


def check_output_names(
    outputs: list[OutputColumn], input_columns: InputColumns, plan: MatchPlan
) -> None:
    """Check that no two columns have the same name.

    The session decides whether names may differ in case alone.

    Args:
        outputs: the columns of the result.
        input_columns: the columns of the input, for comparisons of names.
        plan: the plan of the clause.

    Raises:
        MatchRecognizePlanError: two columns have the same name.
    """
    first_columns: dict[str, OutputColumn] = {}
    for column in outputs:
        first_column = first_columns.setdefault(input_columns.fold_name(column.name), column)
        if first_column is column:
            continue
        if current_language() is PATTERN_CALLS:
            raise stage_name_taken(name=column.name)
        if isinstance(first_column, Measure) and isinstance(column, Measure):
            raise duplicate_measure(first_column.span, column.span, name=column.name)
        for measure, other in ((column, first_column), (first_column, column)):
            if isinstance(measure, Measure) and isinstance(other, RowOutput):
                raise measure_with_taken_name(
                    measure.span,
                    name=measure.name,
                    has_input_columns=not plan.rows_per_match.summarizes_matches,
                )
        span = find_name_span(column) or find_name_span(first_column)
        raise duplicate_output_column(span, name=column.name)


def find_name_span(column: OutputColumn) -> Span | None:
    """Return where the user has written the name of a column; None if it is not in the query."""
    return column.span if isinstance(column, Measure | RowOutput) else None
