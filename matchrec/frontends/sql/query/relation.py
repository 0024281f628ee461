"""Brackets and the words before a relation tell where the relation of a clause starts."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.dataclass import dataclass
from matchrec.errors.sql import query as errors
from matchrec.frontends.lexing.function_names import words
from matchrec.frontends.lexing.token_sequence import Range, TokenSequence
from matchrec.frontends.sql.query.cuts import Cut

_BEFORE_RELATION = words("FROM JOIN USING")
_LITERALS = words("NULL TRUE FALSE")
_BEFORE_OPERAND = words("DIV OF TO")
_TRAVEL = words("VERSION TIMESTAMP SYSTEM_VERSION SYSTEM_TIME")


@dataclass(frozen=True, slots=True)
class Relation:
    """The relation whose tokens start at `start` and end before its clause, `cut`.

    What the sqlglot parser reads, differently in its versions, is only the rest: table is the range
    of VALUES with its rows, for which a table's name may stand; left_out are samples and versions.
    """

    cut: Cut
    start: int
    table: Range | None
    left_out: tuple[Range, ...]


def find_relation(tokens: TokenSequence, cut: Cut) -> Relation:
    """The relation that a clause applies to."""
    if tokens.key(cut.word - 1) == "|>":
        raise errors.clause_in_wrong_place(tokens[cut.word].span)
    values = _bare_values(tokens, cut)
    start = values[0] if values else _start(tokens, cut.word, stop_at_comma=True)
    if start == cut.word:
        raise errors.clause_without_relation(tokens[cut.word].span)
    if tokens.key(0) in ("DELETE", "UPDATE") and start == 2:
        raise errors.changed_relation(tokens.key(0), tokens[cut.word].span)
    if tokens.key(start) == "LATERAL":
        raise errors.lateral_relation(tokens[start].span)
    if tokens.says(start, "(", "VALUES"):
        values = (start, tokens.pairs[start] + 1)
    return Relation(cut, start, values, tuple(_left_out(tokens, start, cut.word)))


def _start(tokens: TokenSequence, end: int, stop_at_comma: bool) -> int:
    """The index after the nearest FROM, JOIN or opening parenthesis, or comma if that counts."""
    index = end
    while index > 0:
        before = tokens.openings.get(index - 1, index - 1)
        key = tokens.key(before)
        word = key in _BEFORE_RELATION and tokens.key(before - 1) != "."
        if word or (key == "(" and before == index - 1) or (key == "," and stop_at_comma):
            return index
        index = before
    return index


def _bare_values(tokens: TokenSequence, cut: Cut) -> Range | None:
    """VALUES without parentheses around it, up to its last row: its commas end no relation."""
    first = _start(tokens, cut.word, stop_at_comma=False)
    for index in reversed(tuple(tokens.level(first, cut.word))):
        if tokens.key(index) == "VALUES" and (index == first or tokens.key(index - 1) == ","):
            rows = tokens.separated(index + 1, cut.word)
            ends = [_row_end(tokens, start, end) for start, end in rows]
            if None not in ends[-1:] and ends[:-1] == [end for _, end in rows[:-1]]:
                return index, ends[-1] or cut.word
    return None


def _row_end(tokens: TokenSequence, start: int, end: int) -> int | None:
    """Where the row of VALUES that starts at `start` ends, or None where none does."""
    if start >= end:
        return None
    index = start + (tokens.key(start) == "-")
    token = tokens[index]
    if token.key == "(":
        return tokens.past(index)
    is_row = token.is_constant or token.key in _LITERALS
    return index + 1 if is_row else None


def _left_out(tokens: TokenSequence, start: int, end: int) -> Iterator[Range]:
    """Samples, and versions to travel to."""
    for index in tokens.level(start, end):
        if tokens.key(index) == "TABLESAMPLE" and index + 1 in tokens.pairs:
            after = tokens.pairs[index + 1] + 1
            if tokens.key(after) == "REPEATABLE":
                after = tokens.pairs.get(after + 1, after) + 1
            yield index, after
        if tokens.key(index) in _TRAVEL and _is_travel(tokens, index):
            first = index - (tokens.key(index - 1) == "FOR")
            yield first, _travel_end(tokens, index + 3, end)


def _is_travel(tokens: TokenSequence, index: int) -> bool:
    return tokens.says(index + 1, "AS", "OF")


def _travel_end(tokens: TokenSequence, start: int, end: int) -> int:
    """Where the version that starts at `start` ends: before a sample, an alias or the clause."""
    for index in tokens.level(start, end):
        if index > start and tokens.key(index) in ("TABLESAMPLE", "AS"):
            return index
    is_alias = end - start > 1 and tokens[end - 1].is_name and not _is_unit(tokens, end - 1)
    operand = tokens[end - 2]
    ends = operand.key == ")" or operand.is_constant or operand.is_name
    return end - 1 if is_alias and ends and operand.key not in _BEFORE_OPERAND else end


def _is_unit(tokens: TokenSequence, index: int) -> bool:
    """Whether a word is a unit in INTERVAL 1 DAY 2 HOURS or INTERVAL '1:30' HOUR TO MINUTE."""
    if tokens.key(index - 1) == "TO":
        return _is_unit(tokens, index - 2)
    value = tokens.openings.get(index - 1, index - 1)
    if value == index - 1 and not tokens[value].is_constant:
        return False
    before = value - 1 - (tokens.key(value - 1) in ("-", "+"))
    return tokens.key(before) == "INTERVAL" or (before > 1 and _is_unit(tokens, before))
