"""Brackets that nothing closes, or that close too early, said where they are.

A clause whose brackets do not pair up is cut at the wrong place, and what is found there would be
blamed for it. The words that start its parts tell which bracket is at fault.
"""

from __future__ import annotations

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import clause as clause_errors
from matchrec.errors.sql import query as errors
from matchrec.errors.sql import syntax as syntax_errors
from matchrec.frontends.sql.query.outline import Outline, is_clause


def refuse_unbalanced(outline: Outline) -> None:
    """Refuses a query with clauses whose parentheses do not pair up."""
    clauses = [index for index in range(len(outline.tokens)) if is_clause(outline, index)]
    for word in clauses:
        if word + 1 not in outline.pairs:
            raise _not_closed(outline, word)
        _refuse_early_end(outline, word + 1)
    if clauses:
        _refuse_stray(outline)


def part_at(outline: Outline, index: int) -> str | None:
    """PATTERN, SUBSET or DEFINE, where such a part starts at `index` and nothing else can."""
    word = outline.key(index)
    if outline.key(index - 1) in (".", "AS"):
        return None
    starts = (
        (word == "PATTERN" and outline.key(index + 1) == "(")
        or (word == "SUBSET" and outline.key(index + 2) == "=")
        or (word == "DEFINE" and outline.key(index + 2) == "AS")
    )
    return word if starts else None


def _not_closed(outline: Outline, word: int) -> MatchRecognizeError:
    """The bracket of the clause, or one in it that holds the start of a part."""
    index = word + 2
    while index < len(outline.tokens):
        closing = outline.pairs.get(index)
        if closing is not None and outline.key(index - 1) == "MATCH_RECOGNIZE":
            index = closing
        elif closing is not None:
            for inner in outline.level(index + 1, closing):
                if part := part_at(outline, inner):
                    spans = outline.tokens[index].span, outline.tokens[inner].span
                    return clause_errors.not_closed_before(outline.key(index), part, spans)
        index += 1
    return errors.clause_not_closed(outline.span(word, word + 2))


def _refuse_early_end(outline: Outline, opening: int) -> None:
    """A `)` too many in the clause, so that some of its parts stand after it."""
    closing = outline.pairs[opening]
    parts = {part_at(outline, index) for index in outline.level(opening + 1, closing)}
    for index in outline.level(closing + 1, outline.enclosing(closing)):
        part = part_at(outline, index)
        if outline.key(index) == "MATCH_RECOGNIZE":
            return
        if part and part not in parts and (index == closing + 1 or "PATTERN" not in parts):
            spans = outline.tokens[closing].span, outline.tokens[index].span
            raise clause_errors.closed_before(part, spans)


def _refuse_stray(outline: Outline) -> None:
    closed = set(outline.pairs.values())
    for index, token in enumerate(outline.tokens):
        if token.key == ")" and index not in closed:
            raise syntax_errors.unexpected_token(")", "the query", token.span)
    for index, token in enumerate(outline.tokens):
        if token.key == "(" and index not in outline.pairs:
            raise syntax_errors.unclosed_bracket("(", "the query", token.span)
