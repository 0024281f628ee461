"""Names for positional parameters, so that each `?` can be cut out of its query.

A query is cut up into parts before the values of its parameters are filled in. In a part, a `?` no
longer shows which parameter of the query it is. So each `?` gets a name made from its position.
"""

from __future__ import annotations

from matchrec.source import Span

# The prefix of the names of positional parameters, and of other names that we make.
NAME_PREFIX = "_matchrec_"


def name_parameter(parameter: Span) -> str:
    """Return the name for the `?` at a span, such as `_matchrec_14` for character 14."""
    return f"{NAME_PREFIX}{parameter.start}"


def find_positional_parameter(name: str) -> Span | None:
    """Return the span of the `?` for which a name was made; None for a name that the user wrote.

    >>> find_positional_parameter(name_parameter(Span(14, 15))), find_positional_parameter("low")
    (Span(start=14, end=15), None)
    """
    digits = name.removeprefix(NAME_PREFIX)
    if digits == name or not digits.isdecimal():
        return None
    return Span(int(digits), int(digits) + len("?"))
