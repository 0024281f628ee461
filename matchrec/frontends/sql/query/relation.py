"""The relation before a clause, found by brackets and by the words that precede a relation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.errors.sql import query as errors
from matchrec.frontends.expressions.function_names import words
from matchrec.frontends.lexing.tokens import Kind, split_at_commas
from matchrec.frontends.sql.query.outline import Cut, Outline

_BEFORE_RELATION = words("FROM JOIN USING")
_LITERALS = words("NULL TRUE FALSE")
_TRAVEL = words("VERSION TIMESTAMP SYSTEM_VERSION SYSTEM_TIME")

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Relation:
    """The relation whose tokens start at `start` and end before its clause.

    What the stock parser reads, differently in its versions, is only the rest: table is the range
    of VALUES with its rows, for which a table's name may stand; left_out are samples and versions.
    """

    start: int
    table: Range | None
    left_out: tuple[Range, ...]


def relation_before(outline: Outline, cut: Cut) -> Relation:
    """The relation that a clause applies to."""
    if outline.key(cut.word - 1) == "|>":
        raise errors.clause_in_wrong_place(outline.tokens[cut.word].span)
    values = _bare_values(outline, cut)
    start = values[0] if values else _start(outline, cut.word, stop_at_comma=True)
    if start == cut.word:
        raise errors.clause_without_relation(outline.tokens[cut.word].span)
    if outline.key(0) in ("DELETE", "UPDATE") and start == 2:
        raise errors.changed_relation(outline.key(0), outline.tokens[cut.word].span)
    if outline.key(start) == "LATERAL":
        raise errors.lateral_relation(outline.tokens[start].span)
    if outline.key(start) == "(" and outline.key(start + 1) == "VALUES":
        values = (start, outline.pairs[start] + 1)
    return Relation(start, values, tuple(_left_out(outline, start, cut.word)))


def _start(outline: Outline, end: int, stop_at_comma: bool) -> int:
    """The index after the nearest FROM, JOIN, opening parenthesis or, if asked for, comma."""
    index = end
    while index > 0:
        before = outline.openings.get(index - 1, index - 1)
        key = outline.key(before)
        word = key in _BEFORE_RELATION and outline.key(before - 1) != "."
        if word or (key == "(" and before == index - 1) or (key == "," and stop_at_comma):
            return index
        index = before
    return index


def _bare_values(outline: Outline, cut: Cut) -> Range | None:
    """VALUES without parentheses around it, up to its last row: its commas end no relation."""
    first = _start(outline, cut.word, stop_at_comma=False)
    for index in reversed(tuple(outline.level(first, cut.word))):
        if outline.key(index) == "VALUES" and (index == first or outline.key(index - 1) == ","):
            rows = split_at_commas(outline.tokens, outline.pairs, index + 1, cut.word)
            ends = [_row_end(outline, start, end) for start, end in rows]
            if None not in ends[-1:] and ends[:-1] == [end for _, end in rows[:-1]]:
                return index, ends[-1] or cut.word
    return None


def _row_end(outline: Outline, start: int, end: int) -> int | None:
    """Where the row of VALUES that starts at `start` ends, or None where none does."""
    if start >= end:
        return None
    index = start + (outline.key(start) == "-")
    token = outline.tokens[index]
    if token.key == "(":
        return outline.pairs.get(index, index) + 1
    is_row = token.kind in (Kind.NUMBER, Kind.STRING) or token.key in _LITERALS
    return index + 1 if is_row else None


def _left_out(outline: Outline, start: int, end: int) -> Iterator[Range]:
    """Samples, and versions to travel to."""
    for index in outline.level(start, end):
        if outline.key(index) == "TABLESAMPLE" and index + 1 in outline.pairs:
            after = outline.pairs[index + 1] + 1
            if outline.key(after) == "REPEATABLE":
                after = outline.pairs.get(after + 1, after) + 1
            yield index, after
        if outline.key(index) in _TRAVEL and _is_travel(outline, index):
            first = index - (outline.key(index - 1) == "FOR")
            yield first, _travel_end(outline, index + 3, end)


def _is_travel(outline: Outline, index: int) -> bool:
    return outline.key(index + 1) == "AS" and outline.key(index + 2) == "OF"


def _travel_end(outline: Outline, start: int, end: int) -> int:
    """Where the version that starts at `start` ends: before a sample, an alias or the clause."""
    for index in outline.level(start, end):
        if index > start and outline.key(index) in ("TABLESAMPLE", "AS"):
            return index
    last = outline.tokens[end - 1]
    operand = outline.tokens[end - 2]
    ends = operand.key == ")" or operand.kind in (Kind.NUMBER, Kind.STRING)
    return end - 1 if last.is_name and ends and end - start > 1 else end
