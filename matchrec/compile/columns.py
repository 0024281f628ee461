"""Find the columns that each part of a query reads. Spark computes them before the search.

The parts are partition keys, output columns, and the steps of conditions that the search or the
worker computes. `sent_columns` numbers the columns that are sent to the workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from matchrec.conditions import residual
from matchrec.conditions.aggregates import build_framed_aggregate, find_basic_form
from matchrec.conditions.row_column import RowColumn, build_aggregate_term_column, build_row_column
from matchrec.conditions.typing.run_columns import TRUE_COLUMN
from matchrec.output.schema import OutputColumn, RowOutput, TimeoutOutput, TotalOutput
from matchrec.output.worker_aggregates import is_collected_list
from matchrec.plan.clauses import Measure
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    Scalar,
    list_inputs,
    reads_columns_only,
)
from matchrec.plan.match_plan import MatchPlan


def find_key_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """Return the columns of PARTITION BY, whose values name a partition in messages."""
    return tuple(build_row_column(key.text) for key in plan.partition_by)


def find_dividing_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """Return the columns of equivalence tests of SASE+, which also divide rows into partitions.

    Columns of PARTITION BY are not among them.
    """
    keys = find_key_columns(plan)
    columns = dict.fromkeys(
        build_row_column(expression.text) for expression in plan.equivalence_keys
    )
    return tuple(column for column in columns if column not in keys)


def find_columns_of_output(output: OutputColumn) -> Iterator[RowColumn]:
    """Yield the columns that an output column reads."""
    if isinstance(output, RowOutput):
        yield build_row_column(output.text)
    for scalar in find_output_scalars(output):
        for reference in scalar.references:
            if isinstance(reference, ColumnReference):
                yield build_row_column(reference.argument)
            elif isinstance(reference, Aggregate):
                yield from find_aggregate_columns(reference)


def find_output_scalars(output: OutputColumn) -> list[Scalar]:
    """Return the expressions over the rows of a match from which an output column is computed."""
    if isinstance(output, Measure):
        return [output.value]
    if isinstance(output, TotalOutput):
        return [] if output.measure is None else [output.measure.value]
    if isinstance(output, TimeoutOutput):
        ends = [window.end for window in output.timeouts.neighbour_windows]
        if output.timeouts.match_end is not None:
            ends.append(output.timeouts.match_end)
        return ends
    return []


def find_aggregate_columns(aggregate: Aggregate) -> Iterator[RowColumn]:
    """Yield the columns that an aggregate can read, whether the worker or Spark computes it."""
    if aggregate.frame is not None:
        yield RowColumn((build_framed_aggregate(aggregate),))
        return
    basic_form = find_basic_form(aggregate)
    if basic_form is not None and basic_form.column is not None:
        yield basic_form.column
    for scalar in list_inputs(aggregate):
        if reads_columns_only(scalar) and (scalar.references or is_collected_list(aggregate)):
            yield build_aggregate_term_column(scalar)
        for reference in scalar.references:
            if isinstance(reference, ColumnReference):
                yield build_row_column(reference.argument)


def find_step_columns(
    step: residual.Step | residual.NearbyTest | residual.SplitCondition,
) -> Iterator[RowColumn]:
    """Yield the columns that a step or a condition reads, also inside its operands."""
    if isinstance(step, residual.ColumnRead) and step.column_without_row is not None:
        yield TRUE_COLUMN  # It shows whether the row exists: see `Typer.read_column`.
    for step_field in fields(step):
        yield from find_columns_in(getattr(step, step_field.name))


def find_columns_in(value: object) -> Iterator[RowColumn]:
    """Yield the columns in the value of a step's field.

    The value may be a column, a step, or a tuple of such values. Other values have no columns.
    """
    if isinstance(value, RowColumn):
        yield value
    elif isinstance(value, tuple):
        for element in value:
            yield from find_columns_in(element)
    elif isinstance(value, residual.Step | residual.NearbyTest | residual.SplitCondition):
        yield from find_step_columns(value)
