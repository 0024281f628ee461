"""Types the aggregates that the engine grows with a run: count, sum, avg, min and max.

SUM of integers is bigint, AVG is double, as in Spark; wide decimals and intervals are summed over a
list, see `calls`.
"""

from __future__ import annotations

from matchrec.conditions.operations import Reduction
from matchrec.conditions.residual import RunningAggregate
from matchrec.conditions.row_column import RowColumn, cast, row_column
from matchrec.conditions.run_condition import Reduce, RunExpression
from matchrec.conditions.types import (
    BIGINT,
    DOUBLE,
    INT,
    NUMBERS,
    SPANS,
    Family,
    Kind,
    ValueType,
    is_wide_decimal,
    sum_type,
)
from matchrec.conditions.typing.calls import type_list
from matchrec.conditions.typing.numbers import Typed, decimal_average
from matchrec.conditions.typing.typer import Typer
from matchrec.errors.conditions import not_a_number


def type_running_aggregate(typer: Typer, step: RunningAggregate) -> Typed:
    """An aggregate; SUM of integers is bigint, AVG is double, as in Spark."""
    function = Reduction(step.function)
    if function is Reduction.COUNT:
        return Typed(type_count(typer, step), BIGINT)
    if step.column is None:
        raise not_a_number(step.function, "nothing", step.span)
    type_ = typer.types[step.column]
    if function in (Reduction.MIN, Reduction.MAX):
        if type_.family is Family.OTHER or not type_.is_ordered:
            raise not_a_number(step.function, type_.name, step.span)
        return Typed(reduce_column(typer, function, step, step.column, type_), type_)
    if step.listed is not None and (is_wide_decimal(type_) or type_.family in SPANS):
        return type_list(typer, step.listed)
    if type_.family not in NUMBERS:
        raise not_a_number(step.function, type_.name, step.span)
    if function is Reduction.SUM:
        return Typed(reduce_column(typer, function, step, step.column, type_), sum_type(type_))
    if type_.family is Family.DECIMAL:
        total = reduce_column(typer, Reduction.SUM, step, step.column, type_)
        return decimal_average(total, type_count(typer, step), type_)
    column = step.column if type_.family is Family.FLOATING else cast(step.column, "DOUBLE")
    return Typed(reduce_column(typer, function, step, column, DOUBLE), DOUBLE)


def reduce_column(
    typer: Typer, function: Reduction, step: RunningAggregate, column: RowColumn, type_: ValueType
) -> Reduce:
    read = typer.read(column, type_, None)
    return Reduce(function, step.variable, read.column, read.kind, step.so_far)


def type_count(typer: Typer, step: RunningAggregate) -> RunExpression:
    if step.column is None:
        return Reduce(Reduction.COUNT, step.variable, None, Kind.INTEGER, step.so_far)
    column, type_ = step.column, typer.types[step.column]
    if type_.family not in NUMBERS or is_wide_decimal(type_):
        column = row_column(f"IF(({column.text}) IS NULL, NULL, 1)")
        type_ = INT
    return reduce_column(typer, Reduction.COUNT, step, column, type_)
