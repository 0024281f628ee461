"""Find the named parameters of a query: `:name`, and `@name` of other products."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from sqlglot import TokenType

from matchrec.source import Span
from matchrec.syntax.tokenize import read_sqlglot_tokens


class NamedParameter(NamedTuple):
    """A `:name` in a query."""

    # The name without the colon.
    name: str
    # Where the parameter is, with the colon.
    span: Span


def find_parameters(text: str) -> Iterator[NamedParameter]:
    """Yield each `:name`, from left to right.

    The type of a field, as in `a: INT`, looks the same, so it is also yielded.
    """
    if ":" not in text:
        return
    for colon, name in pairwise(read_sqlglot_tokens(text)):
        if colon.token_type is TokenType.COLON and name.text.isidentifier():
            yield NamedParameter(name.text, Span(colon.start, name.end + 1))


def find_parameters_with_at_sign(text: str) -> Iterator[str]:
    """Yield the name of each `@name`, as BigQuery and Azure write a parameter.

    >>> list(find_parameters_with_at_sign("SELECT '@a' FROM t WHERE x > @low -- @b"))
    ['low']
    """
    if "@" not in text:
        return
    for sign, name in pairwise(read_sqlglot_tokens(text)):
        if sign.token_type is TokenType.PARAMETER and name.start == sign.end + 1:
            yield name.text


def find_first_parameters(text: str) -> dict[str, Span]:
    """Return the span of the first use of each `:name`, by the name.

    >>> find_first_parameters("SELECT x FROM t WHERE x > :low AND y > :low")
    {'low': Span(start=26, end=30)}
    """
    first_spans: dict[str, Span] = {}
    for name, span in find_parameters(text):
        first_spans.setdefault(name, span)
    return first_spans
