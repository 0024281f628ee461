"""Tokens of the clause → `MatchRecognize`. Only grammar: no name is looked up here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import meant_keyword, shown_in
from matchrec.errors.sql import clause as errors
from matchrec.errors.sql import pattern as pattern_errors
from matchrec.errors.sql import window as window_errors
from matchrec.errors.sql.expression import column_in_double_quotes
from matchrec.plan.clauses import (
    OF_CLAUSES,
    AfterMatchSkip,
    EventSelection,
    FirstMatches,
    MatchOutput,
    PartialMatches,
    RowsPerMatch,
    SkipTo,
    Subset,
)
from matchrec.plan.pattern import RowPattern
from matchrec.plan.text import is_reserved, words_of
from matchrec.source import Origin, Source, Span
from matchrec.syntax import nodes
from matchrec.syntax.durations import interval
from matchrec.syntax.expressions.reader import ClausePart, items_between, refuse_strange
from matchrec.syntax.relation import part_at
from matchrec.syntax.row_pattern import parameter_at, parse_row_pattern, pattern_outside
from matchrec.syntax.tokens import (
    SPARK,
    UNITS_OF_TIME,
    Dialect,
    Range,
    Token,
    TokenKind,
    TokenSequence,
    first_matches,
    is_distance,
    is_time,
    number_of_rows,
    pair_brackets,
    read_tokens,
    refuse_unit_in_number,
    whole_number,
    words,
)

# The parts of a clause: which word starts one, where each ends, and what stands outside of them.
#
# No word of the clause is reserved. `pattern`, `define`, `within`, `measures` and the others may
# name columns and measures, so each is recognized by what stands around it.

_ORDER = tuple(ClausePart)
_ONE_WORD = (ClausePart.MEASURES, ClausePart.WITHIN, ClausePart.SUBSET, ClausePart.DEFINE)
OF_TWO_WORDS = (ClausePart.PARTITION_BY, ClausePart.ORDER_BY)
_OF_MORE_WORDS = {ClausePart.ROWS_PER_MATCH: 4, ClausePart.AFTER_MATCH: 3}
_WORDS = {**dict.fromkeys(OF_TWO_WORDS, 2), **_OF_MORE_WORDS}
_WITH_KEYWORD = (ClausePart.FRAME, ClausePart.SEARCH, *_OF_MORE_WORDS)
_AFTER_PATTERN = (ClausePart.WITHIN, ClausePart.SUBSET, ClausePart.DEFINE)
_NOT_AT_AN_END = words_of("NOT AT AN END")
_AFTER_CASE = words("WHEN CASE AS PATTERN")
UNITS_OF_FRAMES = ("ROWS", "RANGE", "GROUPS")


@dataclass(frozen=True, slots=True)
class Section:
    """Tokens `start .. end` are what a part holds. keyword: where it starts in the query."""

    keyword: Span
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class ClauseTokens(TokenSequence):
    """The tokens between the clause's parentheses, which stand at `inside` of the query."""

    inside: Span
    in_window: bool = False  # of a window, which has a frame

    def ends_expression(self, index: int) -> bool:
        """Whether an expression, or the clause's start, may end with the token at `index`."""
        key, before = self.key(index), self.key(index - 1)
        if index >= 0 and self[index].kind is TokenKind.SYMBOL:
            return key in (")", "]", "?")
        if key not in _NOT_AT_AN_END or before == ".":  # no operator, no AS; else a field
            return True
        if key != "CASE" or before not in ("BY", ","):
            return before in ("BY", ",") and key != "NOT"  # a column
        rest = (self.key(at) for at in self.level(index + 1, len(self)))
        return next((word for word in rest if word in _AFTER_CASE), "") != "WHEN"


def cut_out_tokens(query: TokenSequence, opening: int, closing: int) -> ClauseTokens:
    """The tokens of the clause whose parentheses are at two indices of its query."""
    tokens = query.tokens[opening + 1 : closing]
    inside = Span(query[opening].span.end, query[closing].span.start)
    pairs = pair_brackets(tokens)
    return ClauseTokens(query.text, tokens, pairs, dialect=query.dialect, inside=inside)


def all_tokens(text: TokenSequence) -> ClauseTokens:
    """The tokens of a clause of which nothing but the content is written."""
    inside = Span(0, len(text.text))
    return ClauseTokens(text.text, text.tokens, text.pairs, dialect=text.dialect, inside=inside)


def find_sections(clause: ClauseTokens) -> dict[ClausePart, Section]:
    """The parts that are written, after checking their order."""
    if not clause.tokens:
        raise errors.empty_clause(clause.inside)
    refuse_strange(clause, "MATCH_RECOGNIZE")
    starts = tuple(_starts(clause))
    if not starts or starts[0][1] > 0:
        first = clause[0]
        if first.key == "PATTERN":
            raise _without_parentheses(clause, 0)
        place = first.span.start
        errors.refuse_other_language(clause.text[place - clause.offset :], place)
        raise errors.unexpected_start(first.text, first.span)
    _check_order(clause, starts)
    ends = [index for _, index in starts[1:]] + [len(clause)]
    written: dict[ClausePart, Section] = {}
    for (part, index), end in zip(starts, ends, strict=True):
        start = index if part in _WITH_KEYWORD else index + _WORDS.get(part, 1)
        written[part] = Section(_keyword(clause, part, index), start, end)
    if ClausePart.PATTERN not in written:
        _refuse_without_pattern(clause, written)
    if clause.in_window and ClausePart.FRAME not in written:
        raise window_errors.window_without_frame(written[ClausePart.PATTERN].keyword)
    return written


def _keyword(clause: ClauseTokens, part: ClausePart, index: int) -> Span:
    return clause.span(index, min(index + _WORDS.get(part, 1), len(clause)))


def _starts(clause: ClauseTokens) -> Iterator[tuple[ClausePart, int]]:
    """Where each part starts, left to right; brackets are skipped."""
    pattern_end = keyword_end = -1
    for index in clause.level(0, len(clause)):
        part = _part_at(clause, index, pattern_end)
        first = index == keyword_end and part_at(clause, index) != "DEFINE"
        if part in _ONE_WORD and (first or _is_variable(clause, index)):
            part = None  # the first item of the part before, e.g. a column called measures
        if part:
            yield part, index
            keyword_end = index + (2 if part in OF_TWO_WORDS else 1)
        if part is ClausePart.PATTERN:
            closing = clause.pairs.get(index + 1, -1)
            if closing < 0:
                raise errors.parenthesis_not_closed(clause[index + 1].span, part="PATTERN")
            pattern_end = read_words_after_pattern(clause, closing)[1] - 1


AfterPattern = tuple[EventSelection | None, MatchOutput | None, FirstMatches | None]


def read_words_after_pattern(clause: ClauseTokens, closing: int) -> tuple[AfterPattern, int]:
    """What the words after PATTERN's parenthesis say, and the token after them."""
    selection, end = _one_of(tuple(EventSelection), clause, closing + 1)
    output, end = _one_of(_OUTPUTS, clause, end)
    first, end = _first_matches(clause, end)
    return (selection, output, first), end


def _first_matches(clause: ClauseTokens, start: int) -> tuple[FirstMatches | None, int]:
    """`FIRST k MATCHES` at `start`, and the token after it."""
    end = start + (4 if clause.key(start + 1) == ":" else 3)
    if clause.key(start) != "FIRST" or clause.key(end - 1) not in ("MATCHES", "MATCH"):
        return None, start
    span, parameter = clause.span(start, end), parameter_at(clause.tokens[start + 1 : end - 1])
    if parameter is not None:
        return FirstMatches(0, span, parameter), end
    return first_matches(clause[end - 2].text, span), end


_OUTPUTS = (MatchOutput.ALL, MatchOutput.NON_OVERLAPPING, MatchOutput.LONGEST)
T = TypeVar("T")
Words = TypeVar("Words", EventSelection, MatchOutput)


def _one_of(members: tuple[Words, ...], clause: ClauseTokens, at: int) -> tuple[Words | None, int]:
    """The member whose words stand at a token, and the token after them."""
    for member in members:
        written = member.value.replace("-", " - ").split()
        if clause.says(at, *written):
            return member, at + len(written)
    return None, at


def _part_at(clause: ClauseTokens, index: int, pattern_end: int) -> ClausePart | None:
    word, following = clause.key(index), clause.key(index + 1)
    if clause.key(index - 1) in (".", "AS"):
        return None
    match word, following:
        case "PARTITION", "BY":
            return ClausePart.PARTITION_BY
        case "ORDER", "BY":
            return ClausePart.ORDER_BY
        case (("ONE" | "ALL"), ("ROW" | "ROWS")):
            return ClausePart.ROWS_PER_MATCH
        case "AFTER", "MATCH":
            return ClausePart.AFTER_MATCH
        case (("INITIAL" | "SEEK"), "PATTERN") if clause.key(index + 2) == "(":
            return ClausePart.SEARCH
        case "PATTERN", "(":
            return ClausePart.PATTERN
        case unit, _ if unit in UNITS_OF_FRAMES and _starts_frame(clause, index):
            return ClausePart.FRAME
        case "MEASURES", _ if _starts_measures(clause, index):
            return ClausePart.MEASURES
        case "WITHIN", _ if index - 1 == pattern_end or is_distance(clause, index + 1):
            return ClausePart.WITHIN
        case "WITHIN", "" if clause.ends_expression(index - 1) and not clause.can_name(index + 1):
            return ClausePart.WITHIN
        case "SUBSET", _ if _starts_item(clause, index, pattern_end, "="):
            return ClausePart.SUBSET
        case "DEFINE", _ if _starts_item(clause, index, pattern_end, "AS"):
            return ClausePart.DEFINE
    return None


def _is_variable(clause: ClauseTokens, index: int) -> bool:
    """Whether `index` is the variable of SKIP TO, FIRST, LAST, or one of WITHIN ... FROM A TO B."""
    before = clause.key(index - 1)
    skip = index - 3 if before in ("FIRST", "LAST") else index - 2
    is_to = before == "TO" and clause.key(index - 3) == "FROM"
    is_from = before == "FROM" and clause.key(index + 1) == "TO"
    return clause.says(skip, "SKIP", "TO") or is_to or is_from


def _starts_frame(clause: ClauseTokens, index: int) -> bool:
    """Not a column of that name, as in ORDER BY rows or `rows BETWEEN 1 AND 2`."""
    if not clause.in_window or clause.key(index - 1) in ("BY", ","):
        return False
    first = index + 1 + (clause.key(index + 1) == "BETWEEN")
    is_side = clause.key(first + 1) in ("PRECEDING", "FOLLOWING")
    return is_side or clause.key(first) in ("CURRENT", "UNBOUNDED")


def _starts_measures(clause: ClauseTokens, index: int) -> bool:
    """Not a column: an expression ends before it and another starts after it.

    After a comma too many an expression of two words starts with it.
    """
    if clause.key(index - 1) == ",":
        two = clause.can_name(index + 1) and clause.key(index + 2) in ("(", ".", "AS")
        return two and clause.key(index + 1) not in ("PATTERN", "AS")
    followed = index + 1 < len(clause) and clause.key(index + 1) not in (",", ")")
    return clause.ends_expression(index - 1) and followed


def _starts_item(clause: ClauseTokens, index: int, pattern_end: int, sign: str) -> bool:
    """A name and `sign` follow, or what precedes can be nothing but a part's end."""
    name = index + 1
    while pattern_end >= 0 and clause.can_name(name) and clause.key(name + 1) == ",":
        name += 2  # DEFINE A, B AS
    named = clause.can_name(name) and clause.key(name + 1) == sign
    return named or index - 1 == pattern_end or (clause.key(index - 1) == ")" and pattern_end >= 0)


def _check_order(clause: ClauseTokens, starts: Sequence[tuple[ClausePart, int]]) -> None:
    """Raises at the first part that stands there twice, or after one that it must precede."""
    names = {part: _name(clause, part, index) for part, index in starts}
    before: dict[ClausePart, Span] = {}
    for part, index in starts:
        keyword = _keyword(clause, part, index)
        if part is ClausePart.ROWS_PER_MATCH and clause.in_window:
            raise window_errors.not_in_window(keyword, what=names[part])
        if part in before:
            raise errors.written_twice((before[part], keyword), part=part.value)
        if later := next((one for one in before if _ORDER.index(one) > _ORDER.index(part)), None):
            order = [names[one] for one in _ORDER if one in names]
            raise errors.out_of_order(keyword, earlier=names[part], later=names[later], order=order)
        before[part] = keyword


def _name(clause: ClauseTokens, part: ClausePart, index: int) -> str:
    """What a message calls a part that is written."""
    if part is ClausePart.ROWS_PER_MATCH:
        return f"{clause.key(index)} {clause.key(index + 1)} PER MATCH"
    return clause.key(index) if part is ClausePart.SEARCH else str(part.value)


def _without_parentheses(clause: ClauseTokens, index: int) -> MatchRecognizeError:
    """The error of PATTERN at `index` that no parenthesis follows."""
    opening = next((at for at in range(index, len(clause)) if clause.key(at) == "("), index)
    between = [clause.key(at) for at in range(index + 1, opening)]
    outside = pattern_outside(clause, index, index + 1) if set(between) == {"^"} else None
    return outside or errors.pattern_without_parentheses(clause[index].span)


def _refuse_without_pattern(clause: ClauseTokens, written: dict[ClausePart, Section]) -> None:
    for index, token in enumerate(clause.tokens):
        if token.key == "PATTERN" and clause.ends_expression(index - 1):
            raise _without_parentheses(clause, index)
        misspelt = token.key != "PATTERN" and meant_keyword(token.key) == "PATTERN"
        if misspelt and clause.key(index + 1) == "(":
            raise errors.misspelt_pattern(token.span, where="MATCH_RECOGNIZE", text=token.text)
    after = [section for part, section in written.items() if part in _AFTER_PATTERN]
    closing = Span(clause.inside.end, clause.inside.end + 1)
    here = closing if closing.end <= len(clause.text) else clause[-1].span
    raise errors.missing_pattern(after[0].keyword if after else here)


def _window(clause: ClauseTokens, start: int, end: int) -> nodes.WindowNode:
    """`interval`, `n ROWS`, `interval BETWEEN ROWS` or `interval FROM variable TO variable`."""
    span, parameter = clause.span(start, end), parameter_at(clause.tokens[start : end - 1])
    if clause.key(end - 1) == "ROWS" and (parameter or end - start == 2):
        written = clause.part(start, end - 1)
        rows = 0 if parameter else number_of_rows(written.text, span)
        return nodes.WindowNode(written, span, rows=rows, parameter=parameter, place=written.whole)
    between = end - start > 1 and clause.says(end - 2, "BETWEEN", "ROWS")
    pair = end - start > 4 and (clause.key(end - 4), clause.key(end - 2)) == ("FROM", "TO")
    stop = end - 2 if between else end - 4 if pair else end
    if stop == start:
        raise errors.nothing_in(span, part="WITHIN")
    last = clause.key(stop - 1)
    unit = last * (last in UNITS_OF_TIME) if clause.key(start) == "INTERVAL" else None
    written = _interval(clause, start, stop, unit)
    after, to = (clause[end - 3].variable, clause[end - 1].variable) if pair else (None, None)
    parameter = parameter_at(clause.tokens[start + (unit is not None) : stop - bool(unit)])
    place = clause.span(start, stop)
    return nodes.WindowNode(written, span, between, after, to, None, parameter, unit, place)


def _interval(clause: ClauseTokens, start: int, end: int, unit: str | None) -> TokenSequence:
    """An interval as SQL. A text is read as the value of a parameter, as a set of rules has it."""
    written = clause.part(start, end)
    if is_time(clause, start):
        raise errors.distance_without_interval(written.whole, text=written.text)
    if end - start == 1:
        refuse_unit_in_number(clause[start])
    last, words = clause[end - 1 - bool(unit)], (unit is not None) + bool(unit)
    value = last.text[1:-1].replace("\\'", "'") if last.is_string else last.text
    is_read = last.is_string and (not unit or any(map(str.isalpha, value)))
    if end - start > 1 + words or not (is_read or (last.is_constant and unit == "")):
        return written
    length = interval(value, "WITHIN", written.whole, last.text, unit)
    return read_tokens(length.text, offset=written.offset)


def read_clause(clause: ClauseTokens) -> nodes.MatchRecognize:
    written = find_sections(clause)
    pattern = written[ClausePart.PATTERN]
    (selection, output, first), end = read_words_after_pattern(clause, clause.pairs[pattern.start])

    def items(part: ClausePart) -> tuple[Range, ...]:
        if part not in written:
            return ()
        section = written[part]
        if section.start == section.end:
            raise errors.nothing_in(section.keyword, part=part.value)
        return items_between(clause, (section.start, section.end), part.value)

    def each(part: ClausePart, read: Callable[[ClauseTokens, int, int], T]) -> tuple[T, ...]:
        return tuple(read(clause, *item) for item in items(part))

    def one(part: ClausePart, read: Callable[[ClauseTokens, Section], T]) -> T | None:
        return read(clause, written[part]) if part in written else None

    rows, partial = one(ClausePart.ROWS_PER_MATCH, _rows_per_match) or (None, None)
    return nodes.MatchRecognize(
        pattern=_pattern(clause, pattern, end),
        pattern_span=clause.span(pattern.start, clause.pairs[pattern.start] + 1),
        selection=selection,
        output=output,
        first_matches=first,
        partition_by=each(ClausePart.PARTITION_BY, _partition_key),
        order_by=each(ClausePart.ORDER_BY, _sort_key),
        measures=each(ClausePart.MEASURES, _measure),
        rows_per_match=rows,
        partial=partial,
        after_match=one(ClausePart.AFTER_MATCH, _after_match),
        frame=one(ClausePart.FRAME, _frame),
        search=one(ClausePart.SEARCH, lambda _, section: nodes.Search(clause.key(section.start))),
        search_span=one(ClausePart.SEARCH, lambda _, section: section.keyword),
        windows=nodes.check_windows(each(ClausePart.WITHIN, _window)),
        subsets=each(ClausePart.SUBSET, _subset),
        definitions=tuple(_definitions(clause, items(ClausePart.DEFINE))),
        span=clause.inside,
    )


def _pattern(clause: ClauseTokens, section: Section, end: int) -> RowPattern:
    """The pattern of a section in which nothing may stand from token `end` on."""
    opening = section.start
    closing = clause.pairs[opening]
    for index in range(opening, closing):
        if clause.key(index) == "DEFINE" and clause.key(index + 2) == "AS":
            spans = clause[opening].span, clause[index].span
            raise errors.not_closed_before(spans, opening="(", keyword="DEFINE")
    if end < section.end:
        token = clause[end]
        if token.key in ("PARTITION", "SKIP", "STRICT", "ALL", "NON", "LONGEST", "FIRST"):
            raise errors.malformed_selection(clause.span(end, section.end))
        outside = pattern_outside(clause, opening - 1, end)
        raise outside or errors.unexpected_token(token.text, "MATCH_RECOGNIZE", token.span)
    inside = Span(clause[opening].span.end, clause[closing].span.start)
    return parse_row_pattern(clause.text, inside)


def _partition_key(clause: ClauseTokens, start: int, end: int) -> nodes.PartitionKey:
    name = _name_after_as(clause, (start, end), "partition column", "PARTITION BY")
    written = clause.part(start, end - 2 if name else end)
    return nodes.PartitionKey(written, name.name if name else None, clause.span(start, end))


def _name_after_as(clause: ClauseTokens, item: Range, what: str, where: str) -> Token | None:
    """The name that an item ends with after AS, if it does. Raises for a string in its place."""
    start, end = item
    if end - start < 3 or clause.key(end - 2) != "AS":
        return None
    name = clause[end - 1]
    if name.in_double_quotes:
        raise column_in_double_quotes(name.span, clause=where, text=name.text)
    if name.is_string:
        raise errors.string_as_name(name.span, what=what, clause=where, text=name.text)
    return name if name.is_name else None


def _sort_key(clause: ClauseTokens, start: int, end: int) -> nodes.SortKey:
    span, has_nulls = clause.span(start, end), end - start > 2 and clause.key(end - 2) == "NULLS"
    nulls_first = {"FIRST": True, "LAST": False}.get(clause.key(end - 1)) if has_nulls else None
    end -= 2 if nulls_first is not None else 0
    way = clause.key(end - 1) if end - start > 1 else ""
    descending = {"ASC": False, "DESC": True}.get(way)
    end -= descending is not None
    return nodes.SortKey(clause.part(start, end), descending, nulls_first, span)


def _measure(clause: ClauseTokens, start: int, end: int) -> nodes.NamedExpression:
    for index in clause.level(start, end - 2):
        if clause.key(index) == "AS" and clause.key(index - 1) != "." and index > start:
            token = clause[index + 2]  # of another measure, or of no part of the clause
            raise errors.unexpected_token(token.text, "MEASURES", token.span)
    name, stop = _name_after_as(clause, (start, end), "measure", "MEASURES"), end - 2
    if name is None:
        name, stop = clause[end - 1], end - 1
        follows = stop > start and clause.ends_expression(end - 2)
        if not (name.is_name and follows and name.key not in ("END", "NULL")):
            raise _without_name(clause, start, end)
    return nodes.NamedExpression(clause.part(start, stop), name.name, name.span)


def _without_name(clause: ClauseTokens, start: int, end: int) -> MatchRecognizeError:
    expression = clause.part(start, end)
    if clause.key(end - 1) == "*" and (end - start == 1 or clause.key(end - 2) == "."):
        return errors.star_as_measure(expression.whole, text=expression.text)
    text, name = expression.text, "name"
    if clause.key(end - 2) in ("IS", ":=", ":") and clause[end - 1].is_name and end - 2 > start:
        text, name = clause.part(start, end - 2).text, clause[end - 1].text
    elif clause.key(start + 1) == "=" and clause[start].is_name and end - start > 3:
        text, name = clause.part(start + 2, end).text, clause[start].text
    return errors.measure_without_name(expression.whole, text=text, name=name)


_ROWS_PER_MATCH = {rows.value: rows for rows in OF_CLAUSES}
_ROWS_PER_MATCH["ALL ROWS PER MATCH"] = RowsPerMatch.ALL_ROWS_SHOW_EMPTY
_PARTIAL = (PartialMatches(True), PartialMatches(False, True), PartialMatches(True, True))


def _words(clause: ClauseTokens, start: int, end: int) -> str:
    return " ".join(clause.key(index) for index in range(start, end))


Rows = tuple[RowsPerMatch, PartialMatches | None]


def _rows_per_match(clause: ClauseTokens, section: Section) -> Rows:
    """What comes out of a match, and of runs that are no matches."""
    written = _words(clause, section.start, section.end)
    if rows := _ROWS_PER_MATCH.get(written):
        return rows, None
    for partial in _PARTIAL:
        if rows := _ROWS_PER_MATCH.get(written.removesuffix(f" {partial.words}")):
            first = section.end - len(partial.words.split())
            return rows, replace(partial, span=clause.span(first, section.end))
    found = clause.part(section.start, section.end)
    raise errors.malformed_rows_per_match(found.text, found.whole)


_SKIPS = {f"AFTER MATCH SKIP {to.value}": to for to in SkipTo}
_SKIPS["AFTER MATCH SKIP TO"] = SkipTo.LAST
_TO_ROWS = [to for to in SkipTo if to.value.endswith("ROW")]


def _after_match(clause: ClauseTokens, section: Section) -> AfterMatchSkip:
    start, end = section.start, section.end
    span, target = clause.span(start, end), clause[end - 1]
    to = _SKIPS.get(_words(clause, start, end))
    if to in _TO_ROWS:
        return AfterMatchSkip(to, None, span)
    to = _SKIPS.get(_words(clause, start, end - 1))
    if to is None or to in _TO_ROWS or not target.can_name:
        raise errors.malformed_skip(span, text=clause.text_at(span))
    _refuse_reserved(target, "AFTER MATCH SKIP")
    return AfterMatchSkip(to, target.variable, target.span)


def _frame(clause: ClauseTokens, section: Section) -> nodes.FrameEnd:
    """The end of a frame that starts at the current row."""
    start, span = section.start, clause.span(section.start, section.end)
    end = section.end - 3 * clause.says(section.end - 3, "EXCLUDE", "NO", "OTHERS")
    keys = [clause.key(index) for index in range(start, end)]
    match keys[5:]:
        case _ if keys[:5] != ["ROWS", "BETWEEN", "CURRENT", "ROW", "AND"] or "EXCLUDE" in keys:
            pass
        case ["UNBOUNDED", "FOLLOWING"]:
            return nodes.FrameEnd(None, span)
        case ["CURRENT", "ROW"]:
            return nodes.FrameEnd(0, span)
        case [_, *_, "FOLLOWING"]:
            place = start + 5, end - 1
            bound = clause.part(*place)
            if bound.text.isdigit():  # beyond all numbers: no limit
                return nodes.FrameEnd(whole_number(bound.text), span)
            is_literal = len(bound) == 1 and (bound[0].is_constant or bound.key(0) == "NULL")
            if is_literal or clause.may_be_of_one_row(*place):
                return nodes.FrameEnd(parameter_at(clause.tokens[slice(*place)]) or bound, span)
    raise window_errors.wrong_frame(span, text=" ".join(clause.text_at(span).split()))


def _subset(clause: ClauseTokens, start: int, end: int) -> Subset:
    name = clause[start]
    is_list = clause.says(start + 1, "=", "(") and clause.pairs.get(start + 2) == end - 1
    parts = clause.separated(start + 3, end - 1) if is_list and name.can_name else ()
    if not parts or any(stop - first != 1 or not clause.can_name(first) for first, stop in parts):
        written = clause.part(start, end)
        raise errors.malformed_subset(written.whole, text=written.text)
    members = tuple(clause[first] for first, _ in parts)
    for token in (name, *members):
        _refuse_reserved(token, "SUBSET")
    variables = tuple(member.variable for member in members)
    return Subset(name.variable, variables, name.span, tuple(member.span for member in members))


def _definitions(clause: ClauseTokens, items: Sequence[Range]) -> Iterator[nodes.NamedExpression]:
    """`A, B AS condition` is a definition of each: names share the condition after them."""
    names: list[Token] = []
    for start, end in items:
        is_name = end - start == 1 and (start, end) != items[-1]
        is_defined = clause.key(start + 1) == "AS" and end - start > 2
        if not clause.can_name(start) or not (is_name or is_defined):
            raise _malformed_definition(clause, start, end)
        _refuse_reserved(clause[start], "DEFINE")
        names.append(clause[start])
        if is_name:
            continue
        _refuse_second_definition(clause, start + 2, end)
        condition = clause.part(start + 2, end)
        yield from (nodes.NamedExpression(condition, name.variable, name.span) for name in names)
        names.clear()


def _refuse_reserved(name: Token, where: str) -> None:
    """A reserved word names a variable in quotes only."""
    if name.kind is TokenKind.WORD and is_reserved(name.text):
        raise pattern_errors.reserved_word(name.variable, where, name.span)


def _refuse_second_definition(clause: ClauseTokens, start: int, end: int) -> None:
    """`name AS` in a condition starts another definition."""
    for index in clause.level(start, end - 1):
        if clause.key(index + 1) == "AS" and clause.can_name(index) and index > start:
            if clause.key(index - 1) in ("AND", "OR"):
                raise errors.joined_definitions(clause[index - 1].span, word=clause.key(index - 1))
            token = clause[index]
            raise errors.unexpected_token(token.text, "DEFINE", token.span)


def _malformed_definition(clause: ClauseTokens, start: int, end: int) -> MatchRecognizeError:
    found = (index for index in clause.level(start + 1, end) if clause.key(index) == "AS")
    first = next(found, start) + 1
    while clause.key(first) in _FOR_AS or (first == start + 1 and _may_be_as(clause, first)):
        first += 1
    has_name = clause.can_name(start) and clause.key(start + 1) not in (".", ",") and first < end
    meant = (clause[start].text, clause.part(first, end).text) if has_name else None
    span = clause.span(start, end)
    after_comma = clause.key(start - 1) == ","
    return errors.malformed_definition(clause.text_at(span), meant, after_comma, span)


_FOR_AS = words("= : := IS AS ;")


def _may_be_as(clause: ClauseTokens, index: int) -> bool:
    """Whether a short word before an operand may be AS, misspelt."""
    key, after = clause.key(index), index + 1
    begins = after < len(clause) and clause[after].kind is not TokenKind.SYMBOL
    return begins and len(key) <= len("ASS") and key.isalpha() and key not in _NOT_AT_AN_END


def parse_clause(
    text: str, dialect: Dialect = SPARK, origin: Origin | None = None
) -> nodes.MatchRecognize:
    """The clause of which `text` is what stands between the parentheses."""
    with shown_in(Source(text, origin)):
        return read_clause(all_tokens(read_tokens(text, dialect)))
