"""Pipes of BigQuery, written so that what precedes one is a relation where that is needed.

FROM t |> LIMIT 9 |> WHERE k > 1    FROM (FROM t |> LIMIT 9) |> WHERE k > 1
FROM t |> MATCH_RECOGNIZE (...)     FROM (FROM t) MATCH_RECOGNIZE (...)
FROM t |> SELECT DISTINCT k         FROM t |> SELECT k |> DISTINCT

What is left, sqlglot reads; by itself it would put `k > 1` before LIMIT, and leave DISTINCT out.
Source: BigQuery's reference, "Pipe query syntax".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.source import Span

_QUERY = ("FROM", "SELECT", "VALUES", "TABLE")
_ENDS = ("LIMIT", "DISTINCT", "TABLESAMPLE")  # what sqlglot does not do before what follows
_BEGINS = ("RIGHT", "FULL")  # joins, before which it does not do what precedes


def pipe_edits(tokens: TokenSequence) -> Iterator[Edit]:
    """The edits for all pipes of a query."""
    queries: dict[int, list[int]] = {}
    for index in range(len(tokens)):
        if tokens.key(index) == "|>":
            queries.setdefault(tokens.around[index], []).append(index)
    for pipes in queries.values():
        yield from _relation_edits(tokens, pipes)
        yield from _distinct_edits(tokens, pipes)


def _relation_edits(tokens: TokenSequence, pipes: Sequence[int]) -> Iterator[Edit]:
    """The outermost relation comes first: all of them start where the query does."""
    start = _query_start(tokens, pipes[0])
    place = Span(tokens[start].span.start, tokens[start].span.start)
    found = [at for at in range(len(pipes)) if _needs_relation(tokens, start, pipes, at)]
    for at in reversed(found):
        yield Edit(place, "FROM (")
        pipe = tokens[pipes[at]].span
        is_clause = tokens.key(pipes[at] + 1) == "MATCH_RECOGNIZE"
        yield Edit(pipe, ")") if is_clause else Edit(Span(pipe.start, pipe.start), ") ")


def _needs_relation(tokens: TokenSequence, start: int, pipes: Sequence[int], at: int) -> bool:
    """Whether what precedes a pipe must be a relation."""
    operator = tokens.key(pipes[at] + 1)
    if operator == "MATCH_RECOGNIZE" or operator in _BEGINS:
        return True
    if at == 0:
        return tokens.key(start) != "FROM"
    before = pipes[at - 1] + 1
    return tokens.key(before) in _ENDS or tokens.key(before + 1) == "DISTINCT"


def _query_start(tokens: TokenSequence, pipe: int) -> int:
    """Where the query before a pipe starts: after the WITH clause, or what the query is for."""
    first = tokens.around[pipe] + 1
    if tokens.key(first) == "(":
        return first
    return next((at for at in tokens.level(first, pipe) if tokens.key(at) in _QUERY), first)


def _distinct_edits(tokens: TokenSequence, pipes: Sequence[int]) -> Iterator[Edit]:
    closing = tokens.pairs.get(tokens.around[pipes[0]], len(tokens))
    for pipe, after in zip(pipes, (*pipes[1:], closing), strict=True):
        if tokens.says(pipe + 1, "SELECT", "DISTINCT"):
            end = tokens[after - 1].span.end
            yield Edit(tokens[pipe + 2].span, "")
            yield Edit(Span(end, end), " |> DISTINCT")
