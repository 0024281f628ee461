"""Types arithmetic: `numbers` has what is compiled, `calls` leaves the rest to Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.conditions.operations import ArithmeticOperator
from matchrec.conditions.residual import Combined, Step, Value
from matchrec.conditions.types import DATE, DOUBLE, INT, NUMBERS, Family, is_wide_decimal
from matchrec.conditions.typing.calls import (
    is_along_calendar,
    type_along_calendar,
    type_call,
    type_of_times,
)
from matchrec.conditions.typing.mathematics import type_quotient
from matchrec.conditions.typing.numbers import (
    Typed,
    common_type,
    compute,
    integer_arithmetic,
    negative,
    on_times,
)
from matchrec.errors.conditions import cannot_combine, not_a_number

if TYPE_CHECKING:
    from matchrec.conditions.typing.typer import Typer


def type_arithmetic(typer: Typer, step: Combined) -> Typed:
    """An operation on numbers, times and intervals."""
    if step.operator == "DIV":
        return type_quotient(typer, step)
    if step.operator == "NEG":
        value = typer.type_step(step.operands[0])
        if value.type.family not in NUMBERS | {Family.INTERVAL}:
            raise not_a_number("-", value.type.name, step.span)
        return negative(value, typer.ansi)
    if step.operator == "DATEDIFF":
        return type_days_between(typer, step)
    left, right = step.operands
    one, other = typer.type_of(left), typer.type_of(right)
    if one.family in NUMBERS and other.family in NUMBERS:
        return type_of_numbers(typer, step, left, right)
    if is_along_calendar(one, other, typer.settings.time_zone):
        return type_along_calendar(typer, step)
    found = on_times(
        ArithmeticOperator(step.operator), typer.type_step(left), typer.type_step(right)
    )
    return type_of_times(typer, step) if found is None else found


def type_of_numbers(typer: Typer, step: Combined, left: Step, right: Step) -> Typed:
    one, other = typer.type_of(left), typer.type_of(right)
    operator = ArithmeticOperator(step.operator)
    families = {one.family, other.family}
    exact = Family.DECIMAL in families and Family.FLOATING not in families
    too_wide = is_wide_decimal(one) or is_wide_decimal(other)
    if exact and (operator is ArithmeticOperator.DIVIDE or too_wide):
        return type_call(typer, step)
    quotient = operator is ArithmeticOperator.DIVIDE and Family.DECIMAL not in families
    if quotient or Family.FLOATING in families:
        values = typer.as_number(step, left, DOUBLE), typer.as_number(step, right, DOUBLE)
    elif operator is ArithmeticOperator.MULTIPLY:
        values = typer.as_number(step, left, one), typer.as_number(step, right, other)
    else:
        common = common_type(one, other) or one
        values = typer.as_number(step, left, common), typer.as_number(step, right, common)
    found = compute(operator, values[0], values[1], typer.ansi)
    if found is None:
        raise cannot_combine(step.operator, one.name, other.name, step.span)
    return found


def type_days_between(typer: Typer, step: Combined) -> Typed:
    """DATEDIFF(end, start), whole days; columns are cast to dates by Spark."""
    if not all(isinstance(part, Value) for part in step.operands):
        return type_call(typer, step)
    left, right = (typer.cast_column(part, DATE) for part in step.operands)
    return Typed(
        integer_arithmetic(ArithmeticOperator.SUBTRACT, left.expression, right.expression), INT
    )
