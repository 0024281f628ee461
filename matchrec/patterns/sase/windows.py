"""Make the window of WITHIN from its numbers and units.

A window has one of these forms:

    1 hour 30 minutes    a length of time: INTERVAL 1 HOUR 30 MINUTE
    500                  a length in the unit of the column that orders the events
    20 EVENTS            a number of events
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matchrec.errors import sase as errors
from matchrec.plan.amounts import MICROSECONDS
from matchrec.plan.clauses import RowExpression
from matchrec.source import Span
from matchrec.syntax.amounts import (
    MAX_ROWS,
    read_amount,
    read_interval_amount,
    read_whole_number,
    reject_unit_in_number,
)
from matchrec.syntax.tokens import Token

# The words after a number of events.
EVENT_UNITS = ("EVENT", "EVENTS")


class NumberWithUnit(NamedTuple):
    """A part of a window: `30 minutes`."""

    # The number, which may have a fraction.
    number: Token
    # The word after the number; None if there is none.
    unit: Token | None


def make_window(parts: Sequence[NumberWithUnit], span: Span) -> RowExpression | int:
    """Return the length of a window as an expression, or its number of events as an integer.

    Args:
        parts: one or more numbers with their units.
        span: where all parts are written.

    Raises:
        MatchRecognizeError: a number or a unit is wrong or missing.
    """
    first_number, first_unit = parts[0]
    if len(parts) == 1 and first_unit is None:
        reject_unit_in_number(first_number)
        value = read_amount(first_number.text)
        return RowExpression(first_number.text, span, amount=value, is_constant=value is None)
    counts_events = first_unit is not None and first_unit.text.upper() in EVENT_UNITS
    if len(parts) == 1 and counts_events:
        return _read_event_count(first_number)
    words: list[str] = []  # such as 1, HOUR, 30, MINUTE
    for part in parts:
        words += [part.number.text, _find_interval_unit(part)]
    return RowExpression(f"INTERVAL {' '.join(words)}", span, amount=read_interval_amount(words))


def _read_event_count(number: Token) -> int:
    """Return the number of events of a window.

    Raises:
        MatchRecognizeError: the number is not a whole number, or not from 1 to MAX_ROWS.
    """
    count = read_whole_number(number.text) if number.text.isdecimal() else 0
    if count is None:
        raise errors.too_many_events(number.span, limit=MAX_ROWS)
    if count == 0:
        raise errors.not_a_number_of_events(number.span, number=number.text)
    return count


def _find_interval_unit(part: NumberWithUnit) -> str:
    """Return the unit of a part of a window as it is called in SQL: `MINUTE` for `30 minutes`.

    Raises:
        MatchRecognizeError: the unit is missing or unknown, has no fixed length, or counts events;
            or the number has a fraction, which is allowed only for seconds.
    """
    number, unit = part
    if unit is None:
        raise errors.missing_unit(number.span, number=number.text)
    singular = unit.text.upper().removesuffix("S")
    if singular in ("MONTH", "YEAR"):
        raise errors.calendar_unit(unit.span, unit=unit.text)
    if singular == "EVENT":
        raise errors.mixed_units(unit.span)
    if singular not in MICROSECONDS:
        unit_names = [f"{name.lower()}s" for name in (*MICROSECONDS, "EVENT")]
        raise errors.unknown_unit(unit.span, name=unit.text, units=unit_names)
    if not number.text.isdecimal() and singular != "SECOND":
        raise errors.fraction_of_unit(number.span.to(unit.span), number=number.text, unit=unit.text)
    return singular
