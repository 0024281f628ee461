"""The statement that a query stands in: whether it stores the text of its query."""

from __future__ import annotations

from matchrec.errors.sql import query as errors
from matchrec.frontends.lexing.function_names import words
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.frontends.sql.query.cuts import Cut

_BEFORE_KIND = words("CREATE ALTER OR REPLACE GLOBAL TEMP TEMPORARY MATERIALIZED STREAMING REFRESH")


def keeps_text(tokens: TokenSequence) -> bool:
    """Whether the statement makes a temporary view of its query: CREATE ... VIEW, CACHE TABLE."""
    return tokens.key(0) == "CACHE" or tokens.key(_created(tokens)) == "VIEW"


def _created(tokens: TokenSequence) -> int:
    """The index of what CREATE or ALTER is about, such as VIEW; 0 in other statements."""
    index = 0
    if tokens.key(0) in ("CREATE", "ALTER"):
        while tokens.key(index) in _BEFORE_KIND:
            index += 1
    return index


def refuse_stored_text(tokens: TokenSequence, cut: Cut) -> None:
    """A clause in a view that other sessions have, in a function, in a script."""
    if tokens.key(0) == "BEGIN":
        raise errors.clause_in_script(tokens[0].span)
    kind = _created(tokens)
    head = [tokens.key(index) for index in range(min(kind, cut.word))]
    temporary = "TEMP" in head or "TEMPORARY" in head
    if tokens.key(kind) == "VIEW" and "GLOBAL" in head:
        raise errors.global_view(tokens.span(0, kind + 1))
    if tokens.key(kind) == "VIEW" and kind and not temporary:
        raise errors.stored_text("a permanent view", tokens.span(0, kind + 1))
    if tokens.key(kind) == "FUNCTION" and kind:
        raise errors.stored_text("a function", tokens.span(0, kind + 1))
