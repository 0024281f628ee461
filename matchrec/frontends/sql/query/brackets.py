"""Refuses brackets that nothing closes, or that close too early, at their place.

A clause whose brackets do not pair up is cut at the wrong place, and what stands there would be
blamed for it. The words that start its parts tell which bracket is at fault.
"""

from __future__ import annotations

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import clause as clause_errors
from matchrec.errors.sql import syntax as syntax_errors
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.frontends.sql.clause.misplaced import part_outside
from matchrec.frontends.sql.query.cuts import is_clause


def refuse_unbalanced(tokens: TokenSequence) -> None:
    """Refuses a query with clauses whose parentheses do not pair up."""
    clauses = [index for index in range(len(tokens)) if is_clause(tokens, index)]
    for word in clauses:
        if word + 1 not in tokens.pairs:
            raise _not_closed(tokens, word)
        _refuse_early_end(tokens, word + 1)
    if clauses:
        _refuse_stray(tokens)


def part_at(tokens: TokenSequence, index: int) -> str | None:
    """PATTERN, SUBSET or DEFINE, where such a part starts at `index` and nothing else can."""
    word = tokens.key(index)
    if tokens.key(index - 1) in (".", "AS"):
        return None
    starts = (
        (word == "PATTERN" and tokens.key(index + 1) == "(")
        or (word == "SUBSET" and tokens.key(index + 2) == "=")
        or (word == "DEFINE" and tokens.key(index + 2) == "AS")
    )
    return word if starts else None


def _not_closed(tokens: TokenSequence, word: int) -> MatchRecognizeError:
    """The bracket of the clause, or one in it that holds the start of a part."""
    index = word + 2
    while index < len(tokens):
        closing = tokens.pairs.get(index)
        if closing is not None and tokens.key(index - 1) == "MATCH_RECOGNIZE":
            index = closing
        elif closing is not None:
            for inner in tokens.level(index + 1, closing):
                if part := part_at(tokens, inner):
                    spans = tokens[index].span, tokens[inner].span
                    return clause_errors.not_closed_before(tokens.key(index), part, spans)
        index += 1
    whole = tokens.span(word, word + 2)
    closing = max(tokens.openings, default=word)
    opening = tokens.openings.get(closing, word)
    if opening > word + 1 and _stands_alone(tokens, opening, closing):
        return clause_errors.last_closes_another(tokens[opening].span, whole)
    return clause_errors.parenthesis_not_closed("MATCH_RECOGNIZE", whole)


def _stands_alone(tokens: TokenSequence, opening: int, closing: int) -> bool:
    """Whether a `)` begins a line, below what stands in it: probably the end of a clause."""
    before, after = tokens[closing - 1].span.end, tokens[closing].span.start
    return closing > opening + 1 and "\n" in tokens.text[before:after]


def _refuse_early_end(tokens: TokenSequence, opening: int) -> None:
    """A `)` too many in the clause, so that some of its parts stand after it."""
    closing = tokens.pairs[opening]
    parts = {part_at(tokens, index) for index in tokens.level(opening + 1, closing)}
    for index in tokens.level(closing + 1, tokens.enclosing(closing)):
        part = part_at(tokens, index)
        if tokens.key(index) == "MATCH_RECOGNIZE":
            return
        if part and part not in parts and (index == closing + 1 or "PATTERN" not in parts):
            raise _outside(tokens, closing, index, part)
    named = tokens.key(closing + 1) == "AS"
    for index in (closing + 1, closing + 2, closing + 3)[: 3 if named else 2]:
        if part := part_outside(tokens, index):
            raise _outside(tokens, closing, index, part)


def _outside(tokens: TokenSequence, closing: int, index: int, part: str) -> MatchRecognizeError:
    """The error of a part after the clause: one `)` is too many, or all are where they belong."""
    if any(tokens.key(at) == ")" and at not in tokens.openings for at in range(len(tokens))):
        return clause_errors.closed_before(part, (tokens[closing].span, tokens[index].span))
    return clause_errors.outside_parentheses(part, tokens[index].span)


def _refuse_stray(tokens: TokenSequence) -> None:
    closed = set(tokens.pairs.values())
    for index, token in enumerate(tokens.tokens):
        if token.key == ")" and index not in closed:
            raise syntax_errors.unexpected_token(")", "the query", token.span)
    for index, token in enumerate(tokens.tokens):
        if token.key == "(" and index not in tokens.pairs:
            raise syntax_errors.unclosed_bracket("(", "the query", token.span)
