"""Where the named parameters of a query stand."""

from __future__ import annotations

from itertools import pairwise

from sqlglot import TokenType

from matchrec.frontends.lexing.sqlglot_tokens import sqlglot_tokens
from matchrec.source import Span


def named_parameters(text: str) -> dict[str, Span]:
    """Where each `:name` stands first; the type of a field, `a: INT`, looks the same.

    >>> named_parameters("SELECT x FROM t WHERE x > :low AND x < :high")
    {'low': Span(start=26, end=30), 'high': Span(start=39, end=44)}
    """
    if ":" not in text:
        return {}
    tokens = sqlglot_tokens(text)
    found: dict[str, Span] = {}
    for colon, name in pairwise(tokens):
        if colon.token_type is TokenType.COLON and name.text.isidentifier():
            found.setdefault(name.text, Span(colon.start, name.end + 1))
    return found
