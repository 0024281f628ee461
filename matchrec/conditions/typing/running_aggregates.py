"""Types aggregates: count, sum, avg, min and max, which the engine grows with a run, and others.

SUM of integers is bigint, AVG is double, as in Spark. Python computes the others from a list of
rows, among them sums of wide decimals and intervals.
"""

from __future__ import annotations

from matchrec.conditions.functions.function import AggregateUse
from matchrec.conditions.residual import RunningAggregate, Step, Typed, Value
from matchrec.conditions.row_column import RowColumn, cast, row_column
from matchrec.conditions.run_condition import (
    Aggregated,
    Collected,
    Reduce,
    Reduction,
    RunExpression,
)
from matchrec.conditions.types import (
    BIGINT,
    DOUBLE,
    INT,
    NUMBERS,
    SPANS,
    VOID,
    Family,
    Kind,
    ValueType,
    is_wide_decimal,
    sum_type,
)
from matchrec.conditions.typing.numbers import average_decimals
from matchrec.conditions.typing.typer import Typer
from matchrec.errors.conditions import aggregate_cannot_take, filter_not_boolean


def type_running_aggregate(typer: Typer, step: RunningAggregate) -> Typed:
    if step.function is None:
        return type_list(typer, step)
    function = Reduction(step.function)
    if function is Reduction.COUNT:
        return Typed(type_count(typer, step), BIGINT)
    if step.column is None:
        raise aggregate_cannot_take(step.function, [], step.span)
    type_ = typer.types[step.column]
    if function in (Reduction.MIN, Reduction.MAX):
        if type_.family is Family.OTHER or not type_.is_ordered:
            raise aggregate_cannot_take(step.function, [type_.name], step.span)
        return Typed(reduce_column(typer, function, step, step.column, type_), type_)
    if step.columns and (is_wide_decimal(type_) or type_.family in SPANS):
        return type_list(typer, step)
    if type_.family not in NUMBERS:
        raise aggregate_cannot_take(step.function, [type_.name], step.span)
    if function is Reduction.SUM:
        return Typed(reduce_column(typer, function, step, step.column, type_), sum_type(type_))
    if type_.family is Family.DECIMAL:
        total = reduce_column(typer, Reduction.SUM, step, step.column, type_)
        return average_decimals(total, type_count(typer, step), type_)
    column = step.column if type_.family is Family.FLOATING else cast(step.column, "DOUBLE")
    return Typed(reduce_column(typer, function, step, column, DOUBLE), DOUBLE)


def reduce_column(
    typer: Typer, function: Reduction, step: RunningAggregate, column: RowColumn, type_: ValueType
) -> Reduce:
    read, own = typer.read_column(column, type_, None), step.aggregate
    return Reduce(function, own.variable, read.column, read.kind, own.so_far)


def type_count(typer: Typer, step: RunningAggregate) -> RunExpression:
    if step.column is None:
        own = step.aggregate
        return Reduce(Reduction.COUNT, own.variable, None, Kind.INTEGER, own.so_far)
    column, type_ = step.column, typer.types[step.column]
    if type_.family not in NUMBERS or is_wide_decimal(type_):
        column = row_column(f"IF(({column.text}) IS NULL, NULL, 1)")
        type_ = INT
    return reduce_column(typer, Reduction.COUNT, step, column, type_)


def type_list(typer: Typer, step: RunningAggregate) -> Typed:
    from matchrec.conditions.accumulators import AGGREGATES, CHOOSING

    own, function = step.aggregate, step.aggregate.function
    rows = tuple(tuple(collected(typer, one) for one in row) for row in step.columns)
    counts, *first = (one.type for one in rows[0])
    if counts.family is not Family.BOOLEAN and counts != VOID:
        raise filter_not_boolean(step.span, function=function, type_name=counts.name)
    use = AggregateUse(tuple(first), own.distinct, own.ignore_nulls, typer.ansi)
    use = use.under(typer.settings)
    compared = first[1:] if function in CHOOSING and not own.distinct else first
    unread = any(one.family is Family.OTHER and one != VOID for one in first)
    unread |= not all(one.is_ordered for one in compared)
    type_ = None if unread else AGGREGATES[function].result(use)
    if type_ is None:
        raise aggregate_cannot_take(function, [one.name for one in first], step.span)
    return Typed(Aggregated(function, own.variable, rows, use, type_, own.so_far), type_)


def collected(typer: Typer, step: Step) -> Collected:
    if isinstance(step, Value):
        type_ = typer.types[step.column]
        return Collected(typer.read_column(step.column, type_, None), type_)
    typed = typer.type_step(step)
    return Collected(typed.expression, typed.type)
