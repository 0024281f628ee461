"""How far a window of conditions reaches, exactly, in the units in which its order is held.

Integers, decimals, dates and times have whole numbers of units, so each form of a condition is one
limit there. With a DOUBLE the forms round in different ways. Where Spark's own result is not one
limit for all rows, there is none: local times that go back, an interval of days along them.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, nextafter

from matchrec.conditions.types import DOUBLE, Family, is_wide_decimal
from matchrec.conditions.within import OrderType
from matchrec.dataclass import dataclass
from matchrec.plan.clauses import Form
from matchrec.plan.text.amounts import MICROSECONDS, Amount
from matchrec.pruning.distances import Bound

MOST = {Family.DATE: 10**6, Family.TIMESTAMP: 2**56, Family.TIMESTAMP_NTZ: 2**56}
LONGEST = 2**60  # of numbers
HELD = (32, 64)  # widths of integers, of which a difference is as wide as its order


@dataclass(frozen=True, slots=True)
class Limit:
    """Rows are in a window up to this distance, or less where it is strict."""

    value: int | float
    form: Form = Form.DIFFERENCE
    strict: bool = False

    @property
    def reach(self) -> tuple[float, bool]:
        """By which limits of one form compare."""
        return self.value, not self.strict


def limit_of(bound: Bound, order: OrderType) -> Limit | None:
    """The limit that a bound is along an order column; None where it is none, or below zero."""
    if order.type == DOUBLE:
        return limit_of_doubles(bound)
    unit = unit_of(bound, order)
    if unit is None:
        return None
    units = bound.amount.value / unit
    limit = ceil(units) - 1 if bound.strict else floor(units)
    return Limit(limit) if 0 <= limit < MOST.get(order.type.family, LONGEST) else None


def limit_of_doubles(bound: Bound) -> Limit | None:
    """The same of a DOUBLE."""
    if bound.amount.is_time or bound.form is Form.DAYS:
        return None
    value, strict = float(bound.amount.value), bound.strict
    if bound.form is Form.DIFFERENCE and strict:
        value, strict = nextafter(value, -1), False
    return Limit(value, bound.form, strict) if value >= 0 and not (strict and not value) else None


def unit_of(bound: Bound, order: OrderType) -> Fraction | None:
    """How much a unit of the order is in an amount's; None where Spark does not count in it."""
    length, family = bound.amount, order.type.family
    if bound.form is Form.DAYS:
        return Fraction(1) if family is Family.DATE and not length.is_time else None
    match family:
        case Family.INTEGER if order.type.bits in HELD and not length.is_time:
            return Fraction(1)
        case Family.DECIMAL if not is_wide_decimal(order.type) and not length.is_time:
            return Fraction(1, 10**order.type.scale)
        case Family.DATE:
            return unit_of_dates(bound.form, length)
        case Family.TIMESTAMP_NTZ if length.is_time:
            return Fraction(1)
        case Family.TIMESTAMP if length.is_time:
            in_hours = bound.form is not Form.DIFFERENCE and length.value < MICROSECONDS["DAY"] - 1
            return Fraction(1) if order.has_one_offset or in_hours else None
    return None


def unit_of_dates(form: Form, length: Amount) -> Fraction | None:
    """The same of dates: they differ by intervals, and days are added to them."""
    if form is Form.DIFFERENCE or length.is_days:
        return Fraction(MICROSECONDS["DAY"]) if length.is_time else None
    is_whole = not length.is_time and length.value.denominator == 1
    return Fraction(1) if is_whole else None


def interval_of(limit: Limit, order: OrderType) -> str:
    """SQL of what comes after the limit, to be added to a key; empty where that could overflow."""
    assert isinstance(limit.value, int) or order.type == DOUBLE
    match order.type.family:
        case Family.INTEGER if order.type.bits == 32:
            return f"{limit.value + 1}L"
        case Family.DATE:
            return f"INTERVAL {limit.value + 1} DAY"
        case Family.TIMESTAMP | Family.TIMESTAMP_NTZ:
            return f"INTERVAL {limit.value + 1} MICROSECOND"
        case Family.DECIMAL:
            digits = f"{limit.value + 1:0{order.type.scale + 1}}"
            place = len(digits) - order.type.scale
            return f"{digits[:place]}.{digits[place:]}"
    return ""
