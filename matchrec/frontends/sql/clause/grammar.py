"""Tokens of the clause → `MatchRecognize`. Only grammar: no name is looked up here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import clause as errors
from matchrec.errors.sql import pattern as pattern_errors
from matchrec.errors.sql import syntax as syntax_errors
from matchrec.errors.sql.expression import column_in_double_quotes
from matchrec.frontends.lexing.tokens import Token, TokenKind
from matchrec.frontends.row_pattern.grammar import parse_row_pattern
from matchrec.frontends.sql.clause.items import expression_at, items_of
from matchrec.frontends.sql.clause.misplaced import pattern_outside
from matchrec.frontends.sql.clause.nodes import (
    DefinitionNode,
    MatchRecognize,
    MeasureNode,
    PartitionKey,
    Search,
    SortKey,
)
from matchrec.frontends.sql.clause.sections import (
    ClauseTokens,
    Part,
    Section,
    find_sections,
    read_words_after_pattern,
)
from matchrec.frontends.sql.clause.windows import read_windows
from matchrec.plan.clauses import (
    OF_CLAUSES,
    AfterMatchSkip,
    PartialMatches,
    RowsPerMatch,
    SkipTo,
    Subset,
)
from matchrec.plan.pattern import RowPattern
from matchrec.plan.text.reserved import is_reserved
from matchrec.source import Span

T = TypeVar("T")


def read_clause(clause: ClauseTokens) -> MatchRecognize:
    """The clause as a syntax node."""
    written = find_sections(clause)
    pattern = written[Part.PATTERN]
    (selection, output), end = read_words_after_pattern(clause, clause.pairs[pattern.start])

    def items(part: Part) -> tuple[tuple[int, int], ...]:
        return items_of(clause, written[part]) if part in written else ()

    def one(part: Part, read: Callable[[ClauseTokens, Section], T]) -> T | None:
        return read(clause, written[part]) if part in written else None

    return MatchRecognize(
        pattern=_pattern(clause, pattern, end),
        pattern_span=clause.span(pattern.start, clause.pairs[pattern.start] + 1),
        selection=selection,
        output=output,
        partition_by=tuple(_partition_key(clause, *item) for item in items(Part.PARTITION_BY)),
        order_by=tuple(_sort_key(clause, *item) for item in items(Part.ORDER_BY)),
        measures=tuple(_measure(clause, *item) for item in items(Part.MEASURES)),
        rows_per_match=one(Part.ROWS_PER_MATCH, _rows_per_match),
        partial=one(Part.ROWS_PER_MATCH, _partial),
        after_match=one(Part.AFTER_MATCH, _after_match),
        search=one(Part.SEARCH, lambda _, section: Search(clause.key(section.start))),
        search_span=one(Part.SEARCH, lambda _, section: section.keyword),
        windows=read_windows(clause, written.get(Part.WITHIN)),
        subsets=tuple(_subset(clause, *item) for item in items(Part.SUBSET)),
        definitions=tuple(_definition(clause, *item) for item in items(Part.DEFINE)),
        dialect=clause.dialect,
        span=clause.inside,
    )


def _pattern(clause: ClauseTokens, section: Section, end: int) -> RowPattern:
    """The pattern of a section in which nothing may stand from token `end` on."""
    opening = section.start
    closing = clause.pairs[opening]
    for index in range(opening, closing):
        if clause.key(index) == "DEFINE" and clause.key(index + 2) == "AS":
            spans = clause[opening].span, clause[index].span
            raise errors.not_closed_before("(", "DEFINE", spans)
    if end < section.end:
        token = clause[end]
        if token.key in ("PARTITION", "SKIP", "STRICT", "ALL", "NON", "LONGEST"):
            raise errors.malformed_selection(clause.span(end, section.end))
        outside = pattern_outside(clause, opening - 1, end)
        raise outside or syntax_errors.unexpected_token(token.text, "MATCH_RECOGNIZE", token.span)
    inside = Span(clause[opening].span.end, clause[closing].span.start)
    return parse_row_pattern(clause.text, inside)


def _partition_key(clause: ClauseTokens, start: int, end: int) -> PartitionKey:
    span, name = clause.span(start, end), clause[end - 1]
    if end - start < 3 or clause.key(end - 2) != "AS":
        return PartitionKey(expression_at(clause, start, end), None, span)
    if name.in_double_quotes:
        raise column_in_double_quotes(name.text, Part.PARTITION_BY.value, name.span)
    if name.is_string:
        raise errors.string_as_name("partition column in PARTITION BY", name.text, name.span)
    if not name.is_name:
        return PartitionKey(expression_at(clause, start, end), None, span)
    return PartitionKey(expression_at(clause, start, end - 2), name.name, span)


def _sort_key(clause: ClauseTokens, start: int, end: int) -> SortKey:
    span = clause.span(start, end)
    nulls_first: bool | None = None
    descending: bool | None = None
    if end - start > 2 and clause.key(end - 2) == "NULLS":
        nulls_first = {"FIRST": True, "LAST": False}.get(clause.key(end - 1))
        end -= 2 if nulls_first is not None else 0
    if end - start > 1 and clause.key(end - 1) in ("ASC", "DESC"):
        descending = clause.key(end - 1) == "DESC"
        end -= 1
    return SortKey(expression_at(clause, start, end), descending, nulls_first, span)


def _measure(clause: ClauseTokens, start: int, end: int) -> MeasureNode:
    _refuse_second_name(clause, start, end)
    name = clause[end - 1]
    has_as = end - start > 1 and clause.key(end - 2) == "AS"
    if has_as and name.in_double_quotes:
        raise column_in_double_quotes(name.text, "MEASURES", name.span)
    follows = clause.ends_expression(end - 2) and name.key not in ("END", "NULL")
    stop = end - 2 if has_as else end - 1
    if not (name.is_name and (has_as or follows)) or stop <= start:
        raise _without_name(clause, start, end)
    return MeasureNode(expression_at(clause, start, stop), name.name, name.span)


def _refuse_second_name(clause: ClauseTokens, start: int, end: int) -> None:
    """What follows `AS name` belongs to another measure, or to no part of the clause."""
    for index in clause.level(start, end - 2):
        if clause.key(index) == "AS" and clause.key(index - 1) != "." and index > start:
            token = clause[index + 2]
            raise syntax_errors.unexpected_token(token.text, "MEASURES", token.span)


def _without_name(clause: ClauseTokens, start: int, end: int) -> MatchRecognizeError:
    expression = expression_at(clause, start, end)
    if clause.key(end - 1) == "*" and (end - start == 1 or clause.key(end - 2) == "."):
        return errors.star_as_measure(expression.text, expression.span)
    if end - start > 2 and clause.key(end - 2) == "AS" and clause[end - 1].is_string:
        token = clause[end - 1]
        return errors.string_as_name("measure in MEASURES", token.text, token.span)
    return errors.measure_without_name(expression.text, expression.span)


_ROWS_PER_MATCH = {rows.value: rows for rows in OF_CLAUSES} | {
    "ALL ROWS PER MATCH": RowsPerMatch.ALL_ROWS_SHOW_EMPTY
}


def _words(clause: ClauseTokens, section: Section) -> str:
    return " ".join(clause.key(index) for index in range(section.start, section.end))


def _rows_per_match(clause: ClauseTokens, section: Section) -> RowsPerMatch:
    partial = _partial(clause, section)
    words = _words(clause, section)
    rows = _ROWS_PER_MATCH.get(words.removesuffix(f" {partial.words}") if partial else words)
    if rows is None:
        written = expression_at(clause, section.start, section.end)
        raise errors.malformed_rows_per_match(written.text, written.span)
    return rows


_PARTIAL = (PartialMatches(True), PartialMatches(False, True), PartialMatches(True, True))


def _partial(clause: ClauseTokens, section: Section) -> PartialMatches | None:
    """What the words after ONE ROW or ALL ROWS PER MATCH say of runs that are no matches."""
    words = _words(clause, section)
    for partial in _PARTIAL:
        if words.endswith(f" {partial.words}"):
            first = section.end - len(partial.words.split())
            return replace(partial, span=clause.span(first, section.end))
    return None


def _after_match(clause: ClauseTokens, section: Section) -> AfterMatchSkip:
    span = clause.span(section.start, section.end)
    written = _words(clause, section).removeprefix("AFTER MATCH SKIP ")
    for to in (SkipTo.NEXT_ROW, SkipTo.PAST_LAST_ROW):
        if written == to.value:
            return AfterMatchSkip(to, None, span)
    start = section.start + 3
    target = clause[section.end - 1]
    direction = [clause.key(index) for index in range(start, section.end - 1)]
    ends = {"TO": SkipTo.LAST, "TO FIRST": SkipTo.FIRST, "TO LAST": SkipTo.LAST}
    to_end = ends.get(" ".join(direction))
    if clause.key(start - 1) != "SKIP" or to_end is None or not target.can_name:
        raise errors.malformed_skip(clause.text_at(span), span)
    _refuse_reserved(target, "AFTER MATCH SKIP")
    return AfterMatchSkip(to_end, target.variable, target.span)


def _subset(clause: ClauseTokens, start: int, end: int) -> Subset:
    name = clause[start]
    opening = start + 2
    well_formed = (
        name.can_name
        and clause.key(start + 1) == "="
        and clause.key(opening) == "("
        and clause.pairs.get(opening) == end - 1
        and end - opening > 2
    )
    parts = clause.separated(opening + 1, end - 1) if well_formed else ()
    if not parts or any(stop - first != 1 or not clause.can_name(first) for first, stop in parts):
        written = expression_at(clause, start, end)
        raise errors.malformed_subset(written.text, written.span)
    members = tuple(clause[first] for first, _ in parts)
    for token in (name, *members):
        _refuse_reserved(token, "SUBSET")
    return Subset(
        name.variable,
        tuple(member.variable for member in members),
        name.span,
        tuple(member.span for member in members),
    )


def _definition(clause: ClauseTokens, start: int, end: int) -> DefinitionNode:
    name = clause[start]
    if not name.can_name or clause.key(start + 1) != "AS" or end - start < 3:
        raise _malformed_definition(clause, start, end)
    _refuse_reserved(name, "DEFINE")
    _refuse_second_definition(clause, start + 2, end)
    return DefinitionNode(name.variable, expression_at(clause, start + 2, end), name.span)


def _refuse_reserved(name: Token, where: str) -> None:
    """A reserved word names a variable in quotes only."""
    if name.kind is TokenKind.WORD and is_reserved(name.text):
        raise pattern_errors.reserved_word(name.variable, where, name.span)


def _refuse_second_definition(clause: ClauseTokens, start: int, end: int) -> None:
    """`name AS` in a condition starts another definition."""
    for index in clause.level(start, end - 1):
        if clause.key(index + 1) == "AS" and clause.can_name(index) and index > start:
            token = clause[index]
            raise syntax_errors.unexpected_token(token.text, "DEFINE", token.span)


def _malformed_definition(clause: ClauseTokens, start: int, end: int) -> MatchRecognizeError:
    written = expression_at(clause, start, end)
    first = start + 1 + (clause.key(start + 1) in ("=", ":", ":=", "IS", "AS"))
    meant = None
    if clause.can_name(start) and first < end and clause.key(start + 1) not in (".", ","):
        meant = clause[start].text, expression_at(clause, first, end).text
    return errors.malformed_definition(written.text, meant, written.span)
