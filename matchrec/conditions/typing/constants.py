"""Numbers and intervals that no row need bring."""

from __future__ import annotations

from matchrec.conditions.residual import Value
from matchrec.conditions.run_condition import Constant
from matchrec.conditions.types import DOUBLE, Family, Kind, ValueType, is_wide_decimal
from matchrec.conditions.typing.numbers import Typed
from matchrec.plan.text.amounts import Amount, amount


def constant_of(step: Value, type_: ValueType) -> Typed | None:
    """A column as a constant of a type, if a number or an interval is all that it is."""
    if step.navigation is not None or not step.column.looks_at_one_row:
        return None
    found = amount(step.column.text)
    if found is None or found.is_time is not (type_.family is Family.INTERVAL):
        return None
    if type_ == DOUBLE:
        return Typed(Constant(float(found.value), Kind.FLOATING), DOUBLE)
    held = as_held(found, type_)
    return None if held is None else Typed(Constant(held, Kind.INTEGER), type_)


def as_held(written: Amount, type_: ValueType) -> int | None:
    """The same as the number that holds a value of a type; None where there is none."""
    if is_wide_decimal(type_):
        return None
    if type_.family is Family.DECIMAL:
        held, limit = written.value * 10**type_.scale, 10**type_.precision
    elif type_.family in (Family.INTEGER, Family.INTERVAL):
        held, limit = written.value, 2 ** (type_.bits - 1)
    else:
        return None
    return held.numerator if held.denominator == 1 and held < limit else None
