"""Names for positional parameters, so that each `?` can be cut out of its query.

A query is cut up before its parameters are filled in. A `?` in a part no longer shows which of them
it is, so each gets a name that tells where it was written.
"""

from __future__ import annotations

from matchrec.source import Span

# What the names of positional parameters, and other names that we make, begin with.
NAME_PREFIX = "_matchrec_"


def name_parameter(parameter: Span) -> str:
    """Return the name for the `?` at a span, such as `_matchrec_14`."""
    return f"{NAME_PREFIX}{parameter.start}"


def find_positional_parameter(name: str) -> Span | None:
    """Return the span of the `?` that has a name; None if the name is the user's.

    >>> find_positional_parameter(name_parameter(Span(14, 15))), find_positional_parameter("low")
    (Span(start=14, end=15), None)
    """
    digits = name.removeprefix(NAME_PREFIX)
    if digits == name or not digits.isdecimal():
        return None
    return Span(int(digits), int(digits) + len("?"))
