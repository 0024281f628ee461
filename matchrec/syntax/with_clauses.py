"""Find the WITH clauses of a query, and the tables of WITH clauses that a relation can read.

    WITH a AS (...), b AS (SELECT * FROM a MATCH_RECOGNIZE (...)), c AS (...) SELECT * FROM b

The relation of the clause in b can read a, but not c: the definition of a table can read only the
tables that are defined before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.errors.sql import query as errors
from matchrec.source import Span
from matchrec.syntax.tokens import TokenSequence

_FIRST_WORDS_OF_QUERIES = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(", "MAP", "REDUCE")


@dataclass(frozen=True, slots=True)
class CommonTable:
    """A table that a WITH clause defines, as indices of tokens."""

    # The name of the table.
    name: int
    # The parenthesis before its query.
    opening: int
    # The parenthesis after its query.
    closing: int


@dataclass(frozen=True, slots=True)
class WithClause:
    """A WITH clause of a query."""

    # The index of WITH.
    start: int
    # The index of the token after the query that can read the tables.
    end: int
    # Whether RECURSIVE follows WITH.
    is_recursive: bool
    # The tables that the clause defines, in order.
    definitions: tuple[CommonTable, ...]


def find_visible_definitions(
    tokens: TokenSequence, clauses: tuple[WithClause, ...], start: int
) -> tuple[Span, ...]:
    """Return the part of each WITH clause whose tables a relation can read, outermost first.

    A part goes from WITH to the last definition before the relation.

    Args:
        tokens: the tokens of the query.
        clauses: the WITH clauses of the query, outer ones first.
        start: the index of the first token of the relation.

    Raises:
        MatchRecognizeError: the relation is in the definition of a recursive table.
    """
    spans = []
    for clause in clauses:
        if not clause.start < start < clause.end:
            continue
        _reject_recursion(tokens, clause, start)
        visible_tables = [table for table in clause.definitions if table.closing < start]
        if visible_tables:
            spans.append(tokens.span(clause.start, visible_tables[-1].closing + 1))
    return tuple(spans)


def find_with_clauses(tokens: TokenSequence) -> Iterator[WithClause]:
    """Yield every WITH clause of a query, outer ones first."""
    for index in tokens.indices_by_key.get("WITH", ()):
        if tokens.key(index - 1) == ".":
            continue
        is_table_name = tokens.key(index + 2) in ("(", "AS")  # A table can be called `recursive`.
        is_recursive = tokens.key(index + 1) == "RECURSIVE" and not is_table_name
        first_name = index + 2 if is_recursive else index + 1
        tables = tuple(_read_common_tables(tokens, first_name))
        if tables:
            yield WithClause(index, tokens.find_end_of_parentheses(index), is_recursive, tables)


def _read_common_tables(tokens: TokenSequence, index: int) -> Iterator[CommonTable]:
    """Yield the tables that a WITH clause defines. The first one is named at `index`."""
    while index < len(tokens) and tokens[index].is_name:
        opening = _find_table_query(tokens, index)
        if opening is None:
            return
        closing = tokens.pairs[opening]
        yield CommonTable(index, opening, closing)
        if tokens.key(closing + 1) != ",":
            return
        index = closing + 2


def _find_table_query(tokens: TokenSequence, name: int) -> int | None:
    """Return the index of the parenthesis before the query of a table; None without a query.

    The definition is `name [(columns)] [MAX RECURSION LEVEL n] [AS] (query)`.

    Args:
        tokens: the tokens of the query.
        name: the index of the name of the table.
    """
    index = name + 1
    if tokens.key(index) == "(" and tokens.key(index + 1) not in _FIRST_WORDS_OF_QUERIES:
        index = tokens.index_after(index)
    if tokens.key(index) == "MAX":
        index += len(("MAX", "RECURSION", "LEVEL", "n"))
    if tokens.key(index) == "AS":
        index += 1
    is_query = tokens.key(index) == "(" and tokens.key(index + 1) in _FIRST_WORDS_OF_QUERIES
    return index if is_query and index in tokens.pairs else None


def _reject_recursion(tokens: TokenSequence, clause: WithClause, start: int) -> None:
    """Raise an error if the relation at `start` is in the query of a table that reads itself."""
    if not clause.is_recursive:
        return
    for table in clause.definitions:
        if not table.opening < start < table.closing:
            continue
        name = tokens[table.name]
        body = tokens.tokens[table.opening + 1 : table.closing]
        if any(token.is_name and token.variable == name.variable for token in body):
            raise errors.clause_in_recursive_query(tokens[start].span, name=name.text)
