"""Type aggregates over the run.

The search updates count, sum, avg, min and max with each row. Python computes all other aggregates
from a list of rows, and sums and averages of wide decimals and of intervals, too. As in Spark, SUM
of integers is a bigint, and AVG of them a double.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.conditions.aggregate_table import find_entry
from matchrec.conditions.functions.function import AggregateUse
from matchrec.conditions.residual import ColumnRead, RunningAggregate, Step, TypedStep
from matchrec.conditions.row_column import RowColumn, build_row_column, cast_column
from matchrec.conditions.run_condition import (
    ListItem,
    PythonAggregate,
    Reduction,
    RunAggregate,
    RunExpression,
)
from matchrec.conditions.types import (
    BIGINT,
    DOUBLE,
    INT,
    INTERVAL_TYPES,
    NUMBERS,
    VOID,
    Family,
    Kind,
    ValueType,
    find_sum_type,
    is_wide_decimal,
)
from matchrec.conditions.typing.numbers import build_decimal_average, name_wider_decimal
from matchrec.conditions.typing.typer import Typer
from matchrec.errors.conditions import filter_not_boolean, wrong_aggregate_argument_type
from matchrec.errors.run.origins import make_operation_origin


def type_running_aggregate(typer: Typer, step: RunningAggregate) -> TypedStep:
    """Return an aggregate with its type.

    Raises:
        MatchRecognizeUnsupportedError: it does not take arguments of these types.
        MatchRecognizePlanError: its FILTER is not boolean.
    """
    function = step.function
    if function is None:
        return type_list_aggregate(typer, step)
    if function is Reduction.COUNT:
        return TypedStep(type_count(typer, step), BIGINT)
    if step.column is None:
        raise wrong_aggregate_argument_type(function.value, [], step.span)
    if function.is_extreme:
        return type_extreme(typer, function, step, step.column)
    type_ = typer.types[step.column]
    if step.listed_steps and (is_wide_decimal(type_) or type_.family in INTERVAL_TYPES):
        return type_list_aggregate(typer, step)
    if type_.family not in NUMBERS:
        raise wrong_aggregate_argument_type(function.value, [type_.name], step.span)
    if function is Reduction.SUM:
        total = reduce_column(typer, function, step, step.column, type_)
        return TypedStep(total, find_sum_type(type_))
    return type_average(typer, step, step.column)


def type_extreme(
    typer: Typer, function: Reduction, step: RunningAggregate, column: RowColumn
) -> TypedStep:
    """Return MIN or MAX of a column, which has the type of the column.

    Raises:
        MatchRecognizeUnsupportedError: the values have no order.
    """
    type_ = typer.types[column]
    if type_.family is Family.OTHER or not type_.is_ordered:
        raise wrong_aggregate_argument_type(function.value, [type_.name], step.span)
    return TypedStep(reduce_column(typer, function, step, column, type_), type_)


def type_average(typer: Typer, step: RunningAggregate, column: RowColumn) -> TypedStep:
    """Return AVG of a column of numbers with its type.

    The average of decimals is computed from their sum and their count. All other numbers are added
    up as doubles.
    """
    type_ = typer.types[column]
    if type_.family is Family.DECIMAL:
        total = reduce_column(typer, Reduction.SUM, step, column, type_)
        return build_decimal_average(total, type_count(typer, step), type_)
    if type_.family is not Family.FLOATING:
        column = cast_column(column, "DOUBLE")
    return TypedStep(reduce_column(typer, Reduction.AVG, step, column, DOUBLE), DOUBLE)


def reduce_column(
    typer: Typer, function: Reduction, step: RunningAggregate, column: RowColumn, type_: ValueType
) -> RunAggregate:
    """Return an aggregate of a column that the search updates with each row.

    Args:
        typer: drafts the column.
        function: the aggregate function.
        step: the aggregate, which says over which rows to compute it.
        column: the column.
        type_: its type.
    """
    read = typer.read_column(column, type_)
    aggregate = build_run_aggregate(function, step, read.column, read.kind)
    if read.kind is Kind.FLOATING or not step.aggregate.arguments:
        return aggregate  # it cannot overflow
    argument_span = step.aggregate.arguments[0].span
    wider_type = name_wider_decimal(type_.scale)
    return replace(aggregate, origin=make_operation_origin(step.span, argument_span, wider_type))


def build_run_aggregate(
    function: Reduction, step: RunningAggregate, column: int | None, kind: Kind
) -> RunAggregate:
    """Return an aggregate that the search updates with each row.

    Args:
        function: the aggregate function.
        step: the aggregate, which says over which rows to compute it.
        column: the index of the column among the drafts; None to count rows.
        kind: the kind of the column.
    """
    aggregate = step.aggregate
    return RunAggregate(
        function=function,
        variable=aggregate.variable,
        column=column,
        kind=kind,
        excludes_current_row=aggregate.excludes_current_row,
    )


def type_count(typer: Typer, step: RunningAggregate) -> RunExpression:
    """Return the count of rows, or of the values that are not NULL.

    The search counts only values of numbers that it holds. So a column of texts, times or wide
    decimals, for example, is replaced by a column that is 1 where it has a value.
    """
    if step.column is None:
        return build_run_aggregate(Reduction.COUNT, step, column=None, kind=Kind.INTEGER)
    column = step.column
    type_ = typer.types[column]
    if type_.family not in NUMBERS or is_wide_decimal(type_):
        column = build_row_column(f"IF(({column.text}) IS NULL, NULL, 1)")
        type_ = INT
    return reduce_column(typer, Reduction.COUNT, step, column, type_)


def type_list_aggregate(typer: Typer, step: RunningAggregate) -> TypedStep:
    """Return an aggregate that Python computes from a list of rows, with its type.

    Raises:
        MatchRecognizeUnsupportedError: it does not take arguments of these types.
        MatchRecognizePlanError: its FILTER is not boolean.
    """
    aggregate = step.aggregate
    function = aggregate.function
    items_by_variable = tuple(
        tuple(build_list_item(typer, listed) for listed in steps) for steps in step.listed_steps
    )
    condition, *arguments = items_by_variable[0]
    if condition.type.family is not Family.BOOLEAN and condition.type != VOID:
        # The condition of an aggregate without FILTER is TRUE.
        assert aggregate.condition is not None
        raise filter_not_boolean(
            aggregate.condition.span, function=function, type_name=condition.type.name
        )
    types = tuple(argument.type for argument in arguments)
    use = AggregateUse(types, aggregate.is_distinct, aggregate.ignore_nulls, ansi=typer.ansi)
    use = use.with_settings(typer.settings)
    result_type = find_result_type(function, use)
    if result_type is None:
        raise wrong_aggregate_argument_type(function, [type_.name for type_ in types], step.span)
    python_aggregate = PythonAggregate(
        name=function,
        variable=aggregate.variable,
        items_by_variable=items_by_variable,
        use=use,
        type=result_type,
        excludes_current_row=aggregate.excludes_current_row,
    )
    return TypedStep(python_aggregate, result_type)


def find_result_type(function: str, use: AggregateUse) -> ValueType | None:
    """Return the type of an aggregate over a list; None if it does not take these arguments.

    The values that an aggregate compares must have an order. Every aggregate compares the arguments
    after the first one. Most compare the first one, too, and all do with DISTINCT; without it,
    collect_list and max_by do not.
    """
    from matchrec.conditions.accumulators.table import AGGREGATES

    compares_first_argument = find_entry(function).compares_values or use.distinct
    compared_types = use.types if compares_first_argument else use.types[1:]
    has_unknown_type = any(type_.family is Family.OTHER and type_ != VOID for type_ in use.types)
    if has_unknown_type or not all(type_.is_ordered for type_ in compared_types):
        return None
    return AGGREGATES[function].find_type(use)


def build_list_item(typer: Typer, step: Step) -> ListItem:
    """Return an item of a list: the value of a step on a listed row."""
    if isinstance(step, ColumnRead):
        type_ = typer.types[step.column]
        return ListItem(typer.read_column(step.column, type_), type_)
    typed_step = typer.type_step(step)
    return ListItem(typed_step.expression, typed_step.type)
