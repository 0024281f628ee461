"""WITHIN → a distance along the order column, or a number of events.

    12 hours    1 hour 30 minutes    500    500 events

A plain number is measured in the unit of the order column, as in the SASE prototype.
"""

from __future__ import annotations

from matchrec.errors.sase import query as errors
from matchrec.frontends.lexing.numbers import MOST, whole_number
from matchrec.frontends.sase.syntax.nodes import EventWindow, Name, TimeWindow
from matchrec.source import Span

Amount = tuple[Name, Name | None]
"""A number and its unit."""

UNITS = ("WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
CALENDAR = ("MONTH", "YEAR")


def window(amounts: list[Amount], span: Span) -> TimeWindow | EventWindow:
    """The window of one or more numbers, each with its unit."""
    (number, unit), *others = amounts
    if not others and unit is None:
        return TimeWindow(number.text, span)
    if not others and unit is not None and singular(unit) == "EVENT":
        events = whole_number(number.text) if number.text.isdigit() else 0
        if events is None:
            raise errors.too_many_events(MOST, number.span)
        if events == 0:
            raise errors.not_a_number_of_events(number.text, number.span)
        return EventWindow(events, span)
    parts = [f"{one.text} {unit_of(one, other)}" for one, other in amounts]
    return TimeWindow(f"INTERVAL {' '.join(parts)}", span)


def unit_of(number: Name, unit: Name | None) -> str:
    """The interval unit after a number."""
    if unit is None:
        raise errors.missing_unit(number.text, number.span)
    found = singular(unit)
    if found in CALENDAR:
        raise errors.calendar_unit(unit.text, unit.span)
    if found == "EVENT":
        raise errors.mixed_units(unit.span)
    if found not in UNITS:
        known = [f"{one.lower()}s" for one in (*UNITS, "EVENT")]
        raise errors.unknown_unit(unit.text, known, unit.span)
    if not number.text.isdigit() and found != "SECOND":
        raise errors.fraction_of_unit(number.text, unit.text, number.span.to(unit.span))
    return found


def singular(unit: Name) -> str:
    """The unit in upper case without the `s` of the plural."""
    return unit.text.upper().removesuffix("S")
