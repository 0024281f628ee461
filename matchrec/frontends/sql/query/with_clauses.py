"""WITH clauses: which definitions a relation can see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.errors.sql import query as errors
from matchrec.frontends.sql.query.outline import Outline
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


def with_clauses(outline: Outline) -> tuple[WithClause, ...]:
    """Every WITH of a query, outer ones first."""
    return tuple(_found(outline))


def visible(outline: Outline, clauses: tuple[WithClause, ...], start: int) -> tuple[Span, ...]:
    """Of each WITH that reaches the relation at `start`, the text up to its last definition there.

    A definition sees those before it; a recursive one that holds a clause is refused.
    """
    spans = []
    for clause in clauses:
        if not clause.start < start < clause.end:
            continue
        _refuse_recursion(outline, clause, start)
        before = [item for item in clause.definitions if item.closing < start]
        if before:
            spans.append(outline.span(clause.start, before[-1].closing + 1))
    return tuple(spans)


def _found(outline: Outline) -> Iterator[WithClause]:
    for index in range(len(outline.tokens)):
        if outline.key(index) != "WITH" or outline.key(index - 1) == ".":
            continue
        recursive = outline.key(index + 1) == "RECURSIVE" and outline.key(index + 2) != "("
        definitions = tuple(_definitions(outline, index + 1 + recursive))
        if definitions:
            yield WithClause(index, outline.enclosing(index), recursive, definitions)


def _definitions(outline: Outline, index: int) -> Iterator[Definition]:
    while index < len(outline.tokens) and outline.tokens[index].is_name:
        opening = _body(outline, index)
        if opening is None:
            return
        closing = outline.pairs[opening]
        yield Definition(index, opening, closing)
        if outline.key(closing + 1) != ",":
            return
        index = closing + 2


def _body(outline: Outline, name: int) -> int | None:
    """The parenthesis that opens the query of the definition called at `name`."""
    index = name + 1
    if outline.key(index) == "(" and outline.key(index + 1) not in _QUERY_WORDS:
        index = outline.pairs.get(index, index) + 1
    if outline.key(index) == "MAX":
        index += 4
    index += outline.key(index) == "AS"
    is_query = outline.key(index) == "(" and outline.key(index + 1) in _QUERY_WORDS
    return index if is_query and index in outline.pairs else None


def _refuse_recursion(outline: Outline, clause: WithClause, start: int) -> None:
    for item in clause.definitions:
        if clause.recursive and item.opening < start < item.closing:
            name = outline.tokens[item.name]
            body = outline.tokens[item.opening + 1 : item.closing]
            if any(token.is_name and token.variable == name.variable for token in body):
                raise errors.recursive_relation(name.text, outline.tokens[start].span)
