"""Errors in WITHIN whose length does not fit the key of ORDER BY.

They apply to SQL, SASE+ and Patterns.
"""

from __future__ import annotations

from fractions import Fraction

from matchrec.errors.kinds import (
    MatchRecognizeError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    about_argument,
)
from matchrec.errors.language import current_language, find_argument, name_part
from matchrec.errors.sql.type_kinds import TypedText, TypeKind
from matchrec.errors.surface import current_surface
from matchrec.source import Span

# A number without a unit, this large or larger, is rather meant as seconds than as minutes.
_MANY_MINUTES = 300


def wrong_within_type(
    *spans: Span | None, order: TypedText, length: TypedText, seconds: Fraction | None = None
) -> MatchRecognizeError:
    """Return the error for WITHIN whose type is not a distance along the key of ORDER BY.

    Args:
        spans: the key and the length in the text of the query.
        order: the key.
        length: the length in WITHIN.
        seconds: the length in seconds; None for a number, and for a time of unknown length, such
            as a month.
    """
    match order.kind:
        case TypeKind.DATE:
            hint = _find_time_window_hint(length, "DAY")
        case TypeKind.TIMESTAMP | TypeKind.TIMESTAMP_NTZ:
            number = int(length.text) if length.text.isdecimal() else 0
            unit = "SECOND" if number >= _MANY_MINUTES else "MINUTE"
            hint = _find_time_window_hint(length, unit)
        case TypeKind.NUMBER:
            hint = _find_number_window_hint(order.text, seconds)
        case _:
            hint = f"order by a number or a time, such as CAST({order.text} AS TIMESTAMP)"
    within, order_by = name_part("WITHIN"), name_part("ORDER BY")
    return MatchRecognizePlanError(
        f"{within} has type {length.type_name.upper()}, but {order_by} has type "
        f"{order.type_name.upper()}",
        *spans,
        notes=(f"{within} is a distance along the first {order_by} key",),
        hint=hint,
        code="wrong-within-type",
    )


def _find_time_window_hint(length: TypedText, unit: str) -> str:
    """Return what to write in WITHIN, for a key that is a date or a time and another length.

    Args:
        length: the length that the user wrote.
        unit: the unit of time that the help writes, such as MINUTE.
    """
    language = current_language()
    if length.text.startswith((":", "?")):
        return current_surface().advise_on_length(length.text)
    if not length.text.isdecimal():
        return f"write a length of time, such as {language.write_window(10, unit)}"
    hint = f"write {language.write_window(length.text, unit)}, or another unit"
    if language.row_window is None:
        return hint
    rows = language.row_window.format(number=length.text)
    return f"{hint}; or {rows} for a number of {language.rows}"


def _find_number_window_hint(key: str, seconds: Fraction | None) -> str:
    """Return what to write in WITHIN, for a key that is a number and another length.

    Args:
        key: the key of ORDER BY.
        seconds: the length that the user wrote, in seconds; None if it is not known.
    """
    as_time = f"or order by a time: timestamp_seconds({key}) or timestamp_millis({key})"
    if seconds is None or (seconds * 1000).denominator > 1:
        return f"write a number in the unit of {key}; {as_time}"
    numbers = f"{seconds * 1000} if {key} has milliseconds"
    if seconds.denominator == 1:
        numbers = f"{seconds} if {key} has seconds, {seconds * 1000} if it has milliseconds"
    return f"write {numbers}; {as_time}"


def within_not_a_length(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for WITHIN whose length is not a distance along the key of ORDER BY.

    `wrong_within_type` says more, but needs the types of the length and the key.
    """
    return about_argument(
        MatchRecognizeUnsupportedError(
            f"WITHIN is not a distance along the {name_part('ORDER BY')} key",
            span,
            hint=(
                "write an interval if the key is a date or a time, such as WITHIN INTERVAL 1 HOUR; "
                "write a number if the key is a number, such as WITHIN 10"
            ),
            code="within-not-a-length",
        ),
        find_argument("ORDER BY"),
    )


def within_needs_ascending_order(
    key_span: Span | None, length_span: Span | None
) -> MatchRecognizeUnsupportedError:
    """Return the error for WITHIN along a key of ORDER BY that descends.

    Args:
        key_span: the key with its direction, as in `day DESC`.
        length_span: the length after WITHIN.
    """
    return about_argument(
        MatchRecognizeUnsupportedError(
            f"WITHIN needs a first {name_part('ORDER BY')} key that ascends",
            key_span,
            length_span,
            hint="remove DESC, or remove WITHIN",
            code="within-needs-ascending-order",
        ),
        find_argument("ORDER BY"),
    )
