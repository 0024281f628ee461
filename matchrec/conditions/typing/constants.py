"""Constants of a type: numbers and intervals that the user wrote, and NULL."""

from __future__ import annotations

from matchrec.conditions.residual import ColumnRead, TypedStep
from matchrec.conditions.run_condition import Constant
from matchrec.conditions.types import DOUBLE, Family, Kind, ValueType, is_wide_decimal


def find_constant(step: ColumnRead, type_: ValueType) -> TypedStep | None:
    """Return a column as a constant, if it is a number or an interval that the user wrote.

    The value of a decimal is its digits: 1.5 as a decimal(5,2) is the constant 150. An interval is
    a number of microseconds. None if the column is anything else, if the type does not hold the
    value exactly, or if it is neither a number that the search holds nor an interval.

    Args:
        step: the read of the column.
        type_: the type of the constant.
    """
    amount = step.column.amount
    if step.navigation is not None or amount is None:
        return None
    if amount.is_time is not (type_.family is Family.INTERVAL):
        return None
    if type_ == DOUBLE:
        return TypedStep(Constant(float(amount.value), Kind.FLOATING), DOUBLE)
    if type_.family is Family.DECIMAL and not is_wide_decimal(type_):
        integer = amount.value * 10**type_.scale
        limit = 10**type_.precision
    elif type_.family in (Family.INTEGER, Family.INTERVAL):
        integer = amount.value
        limit = 2 ** (type_.bits - 1)
    else:
        return None
    is_exact = integer.denominator == 1
    if not is_exact or abs(integer) >= limit:
        return None
    return TypedStep(Constant(integer.numerator, Kind.INTEGER), type_)


def is_nonzero_constant(operand: TypedStep) -> bool:
    """Return whether an operand is a number that the user wrote, other than zero."""
    if operand.column_read is None or not isinstance(operand.expression, Constant):
        return False
    return operand.expression.value != 0


def make_null(type_: ValueType) -> TypedStep:
    """Return NULL as a value of a type."""
    return TypedStep(Constant(None, type_.kind), type_)
