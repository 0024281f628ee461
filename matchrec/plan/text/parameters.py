"""Names for `?`, whose order is lost where a query is cut up."""

from __future__ import annotations

from matchrec.source import Span

PREFIX = "_matchrec_"


def parameter_name(marker: Span) -> str:
    """The named parameter that stands for the `?` at `marker`, wherever that text ends up."""
    return f"{PREFIX}{marker.start}"


def marker_of(name: str) -> Span | None:
    """The `?` that a named parameter stands for, or None for one of the user's.

    >>> marker_of(parameter_name(Span(14, 15))), marker_of("low")
    (Span(start=14, end=15), None)
    """
    number = name.removeprefix(PREFIX)
    if number == name or not number.isdecimal():
        return None
    return Span(int(number), int(number) + 1)
