"""WITH clauses: which definitions a relation can see."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.dataclass import dataclass
from matchrec.errors.sql import query as errors
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.source import Span

_QUERY_WORDS = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(", "MAP", "REDUCE")


@dataclass(frozen=True, slots=True)
class Definition:
    """One common table expression: the index of its name and those of its body's parentheses."""

    name: int
    opening: int
    closing: int


@dataclass(frozen=True, slots=True)
class WithClause:
    """A WITH at token `start` that reaches up to token `end`, exclusive."""

    start: int
    end: int
    recursive: bool
    definitions: tuple[Definition, ...]


def find_with_clauses(tokens: TokenSequence) -> tuple[WithClause, ...]:
    """Every WITH of a query, outer ones first."""
    return tuple(_found(tokens))


def find_visible(
    tokens: TokenSequence, clauses: tuple[WithClause, ...], start: int
) -> tuple[Span, ...]:
    """The WITH clauses around the relation at `start`, each up to its last definition there.

    A definition sees those before it; a recursive one that holds a clause is refused.
    """
    spans = []
    for clause in clauses:
        if not clause.start < start < clause.end:
            continue
        _refuse_recursion(tokens, clause, start)
        before = [item for item in clause.definitions if item.closing < start]
        if before:
            spans.append(tokens.span(clause.start, before[-1].closing + 1))
    return tuple(spans)


def _found(tokens: TokenSequence) -> Iterator[WithClause]:
    for index in range(len(tokens)):
        if tokens.key(index) != "WITH" or tokens.key(index - 1) == ".":
            continue
        recursive = tokens.key(index + 1) == "RECURSIVE" and tokens.key(index + 2) != "("
        definitions = tuple(_definitions(tokens, index + 1 + recursive))
        if definitions:
            yield WithClause(index, tokens.enclosing(index), recursive, definitions)


def _definitions(tokens: TokenSequence, index: int) -> Iterator[Definition]:
    while index < len(tokens) and tokens[index].is_name:
        opening = _body(tokens, index)
        if opening is None:
            return
        closing = tokens.pairs[opening]
        yield Definition(index, opening, closing)
        if tokens.key(closing + 1) != ",":
            return
        index = closing + 2


def _body(tokens: TokenSequence, name: int) -> int | None:
    """The parenthesis that opens the query of the definition called at `name`."""
    index = name + 1
    if tokens.key(index) == "(" and tokens.key(index + 1) not in _QUERY_WORDS:
        index = tokens.past(index)
    if tokens.key(index) == "MAX":
        index += 4
    index += tokens.key(index) == "AS"
    is_query = tokens.key(index) == "(" and tokens.key(index + 1) in _QUERY_WORDS
    return index if is_query and index in tokens.pairs else None


def _refuse_recursion(tokens: TokenSequence, clause: WithClause, start: int) -> None:
    for item in clause.definitions:
        if clause.recursive and item.opening < start < item.closing:
            name = tokens[item.name]
            body = tokens.tokens[item.opening + 1 : item.closing]
            if any(token.is_name and token.variable == name.variable for token in body):
                raise errors.recursive_relation(name.text, tokens[start].span)
