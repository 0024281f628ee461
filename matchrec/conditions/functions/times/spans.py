"""Arithmetic of intervals: multiples and fractions of them, and times before and after.

Instants are moved along the calendar of the session's time zone: by whole days, which are not all
as long, then by the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from matchrec.conditions.functions.function import Compute, Function, FunctionError, Use, Value
from matchrec.conditions.functions.numerals import divided
from matchrec.conditions.functions.times.calendar import add_months
from matchrec.conditions.functions.times.distances import zone_of
from matchrec.conditions.functions.times.shifts import add_months_to, add_span, checked
from matchrec.conditions.types import DATE, INTERVAL, SPANS, TIMES, Family, ValueType


def bits_of(span: ValueType) -> int:
    return 64 if span.family is Family.INTERVAL else 32


def half_up(number: Fraction) -> int:
    """The nearest whole number, a half away from zero."""
    return divided(number.numerator, number.denominator)


def scaled(use: Use) -> ValueType | None:
    """The interval's type, which stands first. Floating numbers are rounded by Java."""
    span, number = use.types
    exact = number.family in (Family.INTEGER, Family.DECIMAL)
    return SPANS.get(span.family) if exact else None


def multiplied(use: Use) -> Compute:
    """Rounded half up where the number has a fraction."""
    bits = bits_of(use.types[0])
    return lambda span, number: checked(half_up(span * Fraction(number)), bits)


def quotient(use: Use) -> Compute:
    bits = bits_of(use.types[0])

    def compute(span: int, number: Value) -> int:
        if number == 0:
            raise FunctionError("INTERVAL_DIVIDED_BY_ZERO")
        return checked(half_up(span / Fraction(number)), bits)

    return compute


def added(sign: int) -> Function:
    """A time and an interval."""

    def build(use: Use) -> Compute:
        zone, of_months = zone_of(use), use.types[1].family is Family.MONTHS
        if use.types[0].family is Family.DATE:
            return lambda day, months: checked(add_months(day, sign * months), 32)
        add = add_months_to if of_months else add_span
        return lambda time, span: add(zone, time, sign * span)

    return Function((None, None), moved_type, build)


def moved_type(use: Use) -> ValueType | None:
    time, span = use.types
    if time.family is Family.DATE:
        return DATE if span.family is Family.MONTHS else None
    return time if time.family in TIMES and span.family in SPANS else None


def subtracted_type(use: Use) -> ValueType | None:
    both = all(one.family is Family.TIMESTAMP for one in use.types)
    return INTERVAL if both else moved_type(use)


def subtracted(use: Use) -> Compute:
    """An interval from a time; or between two instants, which Spark measures in local time."""
    if use.types[1].family is not Family.TIMESTAMP:
        return added(-1).build(use)
    local = zone_of(use).local
    return lambda end, start: local(end) - local(start)


SPAN_ARITHMETIC: Mapping[str, Function] = {
    "TIME *": Function((None, None), scaled, multiplied),
    "TIME /": Function((None, None), scaled, quotient),
    "TIME +": added(1),
    "TIME -": Function((None, None), subtracted_type, subtracted),
}
