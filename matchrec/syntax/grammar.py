"""Parse the tokens of a clause to a `MatchRecognize` node.

1. `find_sections` divides the clause at the keywords of its parts, and checks their order.
2. `read_clause` reads each section.

This is grammar only: no name is looked up, and expressions stay tokens until `lower` reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

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
    pair_brackets,
    read_number_of_rows,
    read_tokens,
    refuse_unit_in_number,
    whole_number,
    words,
)

# Find the parts of a clause: which word starts each, where it ends, and what is outside of them.
#
# No word of the clause is reserved. `pattern`, `define`, `within`, `measures` and the others may
# name columns and measures, so the tokens before and after such a word tell whether it is one.

_PARTS_IN_ORDER = tuple(ClausePart)
_PARTS_OF_ONE_WORD = (ClausePart.MEASURES, ClausePart.WITHIN, ClausePart.SUBSET, ClausePart.DEFINE)
OF_TWO_WORDS = (ClausePart.PARTITION_BY, ClausePart.ORDER_BY)
_PARTS_OF_MORE_WORDS = {ClausePart.ROWS_PER_MATCH: 4, ClausePart.AFTER_MATCH: 3}
# How many words the keyword of a part has; 1 for those that are not listed.
_WORDS_OF_KEYWORDS = {**dict.fromkeys(OF_TWO_WORDS, 2), **_PARTS_OF_MORE_WORDS}
# The parts whose section includes the keyword, because the words after it depend on it.
_PARTS_WITH_KEYWORD = (ClausePart.FRAME, ClausePart.SEARCH, *_PARTS_OF_MORE_WORDS)
_PARTS_AFTER_PATTERN = (ClausePart.WITHIN, ClausePart.SUBSET, ClausePart.DEFINE)
_NOT_AT_END_OF_EXPRESSION = words_of("NOT AT AN END")
# The words of which the first one after CASE tells whether it starts an expression.
_WORDS_AFTER_CASE = words("WHEN CASE AS PATTERN")
UNITS_OF_FRAMES = ("ROWS", "RANGE", "GROUPS")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a clause: its keyword and tokens `start .. end`."""

    # The keyword, in the whole query.
    keyword: Span
    # The first token of the content. For the parts in `_PARTS_WITH_KEYWORD` it is the keyword.
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class ClauseTokens(TokenSequence):
    """The tokens between the parentheses of a clause."""

    # What is between the parentheses, in the whole query.
    inside: Span
    # Whether it is a row pattern window, which has a frame.
    in_window: bool = False

    def ends_expression(self, index: int) -> bool:
        """Return whether an expression may end with the token at `index`.

        It may also be -1: the start of the clause is where a part may start, too.
        """
        key, before = self.key(index), self.key(index - 1)
        if index >= 0 and self[index].kind is TokenKind.SYMBOL:
            return key in (")", "]", "?")
        if key not in _NOT_AT_END_OF_EXPRESSION or before == ".":  # else an operator or AS
            return True
        starts_item = before in ("BY", ",")
        if not starts_item or key == "NOT":
            return False
        # The word is all of an item, so it is a column of that name, unless it is a CASE.
        return key != "CASE" or not self._is_case(index)

    def _is_case(self, index: int) -> bool:
        """Return whether the CASE at `index` starts an expression: a WHEN belongs to it."""
        for following in self.level(index + 1, len(self)):
            if self.key(following) in _WORDS_AFTER_CASE:
                return self.key(following) == "WHEN"
        return False


def cut_out_tokens(query: TokenSequence, opening: int, closing: int) -> ClauseTokens:
    """Return the tokens of a clause of a query.

    Args:
        query: the tokens of the query.
        opening: the index of the clause's opening parenthesis.
        closing: the index of the clause's closing parenthesis.
    """
    tokens = query.tokens[opening + 1 : closing]
    inside = Span(query[opening].span.end, query[closing].span.start)
    pairs = pair_brackets(tokens)
    return ClauseTokens(query.text, tokens, pairs, dialect=query.dialect, inside=inside)


def all_tokens(text: TokenSequence) -> ClauseTokens:
    """Return the tokens of a clause whose text is the content of its parentheses alone."""
    inside = Span(0, len(text.text))
    return ClauseTokens(text.text, text.tokens, text.pairs, dialect=text.dialect, inside=inside)


def find_sections(clause: ClauseTokens) -> dict[ClausePart, Section]:
    """Return the sections of a clause, in the order of the text.

    Raises:
        MatchRecognizeError: parts are in the wrong order, or PATTERN is missing, or the frame of a
            window is.
    """
    if not clause.tokens:
        raise errors.empty_clause(clause.inside)
    refuse_strange(clause, "MATCH_RECOGNIZE")
    starts = tuple(_find_starts(clause))
    starts_with_part = bool(starts) and starts[0][1] == 0
    if not starts_with_part:
        first = clause[0]
        if first.key == "PATTERN":
            raise _explain_missing_parentheses(clause, 0)
        start = first.span.start
        errors.refuse_other_language(clause.text[start - clause.offset :], start)
        raise errors.unexpected_start(first.text, first.span)
    _check_order(clause, starts)
    ends = [index for _, index in starts[1:]] + [len(clause)]
    sections: dict[ClausePart, Section] = {}
    for (part, index), end in zip(starts, ends, strict=True):
        start = index
        if part not in _PARTS_WITH_KEYWORD:
            start += _WORDS_OF_KEYWORDS.get(part, 1)
        sections[part] = Section(_find_keyword(clause, part, index), start, end)
    if ClausePart.PATTERN not in sections:
        _refuse_without_pattern(clause, sections)
    if clause.in_window and ClausePart.FRAME not in sections:
        raise window_errors.window_without_frame(sections[ClausePart.PATTERN].keyword)
    return sections


def _find_keyword(clause: ClauseTokens, part: ClausePart, index: int) -> Span:
    """Return the span of the keyword of a part that starts at `index`."""
    end = index + _WORDS_OF_KEYWORDS.get(part, 1)
    return clause.span(index, min(end, len(clause)))


def _find_starts(clause: ClauseTokens) -> Iterator[tuple[ClausePart, int]]:
    """Yield each part with the index of its first word, from left to right.

    What is in brackets is skipped.
    """
    pattern_end = -1  # the last token of PATTERN and of the words after it
    keyword_end = -1  # the first token after the keyword of the last part
    for index in clause.level(0, len(clause)):
        part = _part_at(clause, index, pattern_end)
        is_first_item = index == keyword_end and part_at(clause, index) != "DEFINE"
        if part in _PARTS_OF_ONE_WORD and (is_first_item or _is_variable(clause, index)):
            part = None  # a name, such as a column called `measures`
        if part:
            yield part, index
            keyword_end = index + (2 if part in OF_TWO_WORDS else 1)
        if part is ClausePart.PATTERN:
            closing = clause.pairs.get(index + 1, -1)
            if closing < 0:
                raise errors.parenthesis_not_closed(clause[index + 1].span, part="PATTERN")
            pattern_end = read_words_after_pattern(clause, closing).end - 1


class WordsAfterPattern(NamedTuple):
    """The options between PATTERN's parenthesis and the next part; None if not written."""

    selection: EventSelection | None
    output: MatchOutput | None
    first_matches: FirstMatches | None
    end: int  # the token after them


def read_words_after_pattern(clause: ClauseTokens, closing: int) -> WordsAfterPattern:
    """Read the options after PATTERN, whose parenthesis closes at `closing`.

    `SKIP TILL NEXT MATCH ALL MATCHES FIRST 3 MATCHES`
    """
    selection, end = _read_words_of(tuple(EventSelection), clause, closing + 1)
    output, end = _read_words_of(_OUTPUTS, clause, end)
    first, end = _read_first_matches(clause, end)
    return WordsAfterPattern(selection, output, first, end)


def _read_first_matches(clause: ClauseTokens, start: int) -> tuple[FirstMatches | None, int]:
    """Return the `FIRST k MATCHES` at `start`, and the token after it.

    It is None and `start` if other words are there.
    """
    is_named_parameter = clause.key(start + 1) == ":"
    end = start + (4 if is_named_parameter else 3)
    if clause.key(start) != "FIRST" or clause.key(end - 1) not in ("MATCHES", "MATCH"):
        return None, start
    span = clause.span(start, end)
    parameter = parameter_at(clause.tokens[start + 1 : end - 1])
    if parameter is not None:
        return FirstMatches(0, span, parameter), end
    return first_matches(clause[end - 2].text, span), end


_OUTPUTS = (MatchOutput.ALL, MatchOutput.NON_OVERLAPPING, MatchOutput.LONGEST)
T = TypeVar("T")
Option = TypeVar("Option", EventSelection, MatchOutput)


def _read_words_of(
    options: tuple[Option, ...], clause: ClauseTokens, index: int
) -> tuple[Option | None, int]:
    """Return the option whose words are at `index`, and the token after them.

    It is None and `index` if no option is there.
    """
    for option in options:
        option_words = option.value.replace("-", " - ").split()
        if clause.says(index, *option_words):
            return option, index + len(option_words)
    return None, index


def _part_at(clause: ClauseTokens, index: int, pattern_end: int) -> ClausePart | None:
    """Return the part whose keyword is at `index`, or None.

    Args:
        clause: the tokens of the clause.
        index: a token in no brackets.
        pattern_end: the last token of PATTERN and its options if it is before `index`, else -1.
    """
    if clause.key(index - 1) in (".", "AS"):
        return None
    match clause.key(index), clause.key(index + 1):
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
    """Return whether `index` is a variable in AFTER MATCH SKIP or in WITHIN.

    `SKIP TO v`, `SKIP TO FIRST v`, `WITHIN ... FROM v TO w`
    """
    before = clause.key(index - 1)
    skip = index - 3 if before in ("FIRST", "LAST") else index - 2
    is_second_of_within = before == "TO" and clause.key(index - 3) == "FROM"
    is_first_of_within = before == "FROM" and clause.key(index + 1) == "TO"
    return clause.says(skip, "SKIP", "TO") or is_second_of_within or is_first_of_within


def _starts_frame(clause: ClauseTokens, index: int) -> bool:
    """Return whether a unit of frames at `index` starts the frame of a window.

    It does not if it names a column, as in `ORDER BY rows` or `rows BETWEEN 1 AND 2`.
    """
    if not clause.in_window or clause.key(index - 1) in ("BY", ","):
        return False
    bound = index + 1
    if clause.key(bound) == "BETWEEN":
        bound += 1
    has_side = clause.key(bound + 1) in ("PRECEDING", "FOLLOWING")
    return has_side or clause.key(bound) in ("CURRENT", "UNBOUNDED")


def _starts_measures(clause: ClauseTokens, index: int) -> bool:
    """Return whether MEASURES at `index` starts the part, and does not name a column.

    It does if an expression ends before it and another one starts after it. After a comma, which
    is then one too many, it does if an expression of two words or more follows.
    """
    if clause.key(index - 1) == ",":
        has_two_words = clause.can_name(index + 1) and clause.key(index + 2) in ("(", ".", "AS")
        return has_two_words and clause.key(index + 1) not in ("PATTERN", "AS")
    is_followed = index + 1 < len(clause) and clause.key(index + 1) not in (",", ")")
    return clause.ends_expression(index - 1) and is_followed


def _starts_item(clause: ClauseTokens, index: int, pattern_end: int, sign: str) -> bool:
    """Return whether SUBSET or DEFINE at `index` starts the part, and does not name a column.

    It does if a name and `sign` follow, or if what precedes it can only be the end of a part.
    """
    name = index + 1
    while pattern_end >= 0 and clause.can_name(name) and clause.key(name + 1) == ",":
        name += 2  # DEFINE A, B AS
    if clause.can_name(name) and clause.key(name + 1) == sign:
        return True
    follows_parenthesis = clause.key(index - 1) == ")" and pattern_end >= 0
    return index - 1 == pattern_end or follows_parenthesis


def _check_order(clause: ClauseTokens, starts: Sequence[tuple[ClausePart, int]]) -> None:
    """Raise an error for the first part that is written twice or after one that it must precede.

    Args:
        clause: the tokens of the clause.
        starts: each part and the index of its first word, from left to right.
    """
    names = {part: _name_part(clause, part, index) for part, index in starts}
    keywords: dict[ClausePart, Span] = {}  # of the parts so far
    for part, index in starts:
        keyword = _find_keyword(clause, part, index)
        if part is ClausePart.ROWS_PER_MATCH and clause.in_window:
            raise window_errors.not_in_window(keyword, what=names[part])
        if part in keywords:
            raise errors.written_twice((keywords[part], keyword), part=part.value)
        turn = _PARTS_IN_ORDER.index(part)
        for other in keywords:
            if _PARTS_IN_ORDER.index(other) > turn:
                order = [names[ordered] for ordered in _PARTS_IN_ORDER if ordered in names]
                raise errors.out_of_order(
                    keyword, earlier=names[part], later=names[other], order=order
                )
        keywords[part] = keyword


def _name_part(clause: ClauseTokens, part: ClausePart, index: int) -> str:
    """Return the name in messages of a part that starts at `index`."""
    if part is ClausePart.ROWS_PER_MATCH:
        return f"{clause.key(index)} {clause.key(index + 1)} PER MATCH"
    if part is ClausePart.SEARCH:
        return clause.key(index)
    return str(part.value)


def _explain_missing_parentheses(clause: ClauseTokens, index: int) -> MatchRecognizeError:
    """Return the error for PATTERN at `index` without a parenthesis after it.

    If `^` is before the parenthesis, it belongs inside of it.
    """
    indices = range(index, len(clause))
    opening = next((inner for inner in indices if clause.key(inner) == "("), index)
    keys_between = {clause.key(inner) for inner in range(index + 1, opening)}
    if keys_between == {"^"}:
        outside = pattern_outside(clause, index, index + 1)
        if outside:
            return outside
    return errors.pattern_without_parentheses(clause[index].span)


def _refuse_without_pattern(clause: ClauseTokens, sections: dict[ClausePart, Section]) -> None:
    """Raise the error for a clause without PATTERN, which may be misspelt."""
    for index, token in enumerate(clause.tokens):
        if token.key == "PATTERN" and clause.ends_expression(index - 1):
            raise _explain_missing_parentheses(clause, index)
        is_misspelt = token.key != "PATTERN" and meant_keyword(token.key) == "PATTERN"
        if is_misspelt and clause.key(index + 1) == "(":
            raise errors.misspelt_pattern(token.span, where="MATCH_RECOGNIZE", text=token.text)
    for part, section in sections.items():
        if part in _PARTS_AFTER_PATTERN:
            raise errors.missing_pattern(section.keyword)
    closing = Span(clause.inside.end, clause.inside.end + 1)
    has_closing = closing.end <= len(clause.text)
    raise errors.missing_pattern(closing if has_closing else clause[-1].span)


def _read_window(clause: ClauseTokens, start: int, end: int) -> nodes.WindowNode:
    """Read an item of WITHIN.

    It is `interval`, `n ROWS`, `interval BETWEEN ROWS` or `interval FROM variable TO variable`.
    """
    span = clause.span(start, end)
    parameter = parameter_at(clause.tokens[start : end - 1])
    if clause.key(end - 1) == "ROWS" and (parameter or end - start == 2):
        number = clause.part(start, end - 1)
        rows = 0 if parameter else read_number_of_rows(number.text, span)
        return nodes.WindowNode(number, span, rows=rows, parameter=parameter, place=number.whole)
    is_between_rows = end - start > 1 and clause.says(end - 2, "BETWEEN", "ROWS")
    has_variables = end - start > 4 and (clause.key(end - 4), clause.key(end - 2)) == ("FROM", "TO")
    interval_end = end
    if is_between_rows:
        interval_end = end - 2
    elif has_variables:
        interval_end = end - 4
    if interval_end == start:
        raise errors.nothing_in(span, part="WITHIN")
    unit: str | None = None
    if clause.key(start) == "INTERVAL":
        last = clause.key(interval_end - 1)
        unit = last if last in UNITS_OF_TIME else ""
    written = _read_interval(clause, start, interval_end, unit)
    parameter_start = start if unit is None else start + 1
    parameter_end = interval_end - 1 if unit else interval_end
    return nodes.WindowNode(
        interval=written,
        span=span,
        between_rows=is_between_rows,
        after=clause[end - 3].variable if has_variables else None,
        to=clause[end - 1].variable if has_variables else None,
        parameter=parameter_at(clause.tokens[parameter_start:parameter_end]),
        unit=unit,
        place=clause.span(start, interval_end),
    )


def _read_interval(clause: ClauseTokens, start: int, end: int, unit: str | None) -> TokenSequence:
    """Return the interval `start .. end` of WITHIN as SQL.

    A single text is read like the value of a parameter: `'2 hours'` becomes an INTERVAL, as in the
    files of rule sets.

    Args:
        clause: the tokens of the clause.
        start: its first token.
        end: the token after it.
        unit: None without the word INTERVAL, "" without a unit at the end.

    Raises:
        MatchRecognizeError: the interval is written without INTERVAL, or it is not a length of
            time.
    """
    written = clause.part(start, end)
    if is_time(clause, start):
        raise errors.distance_without_interval(written.whole, text=written.text)
    if end - start == 1:
        refuse_unit_in_number(clause[start])
    has_interval = unit is not None
    has_unit = bool(unit)
    last = clause[end - 1 - has_unit]  # the last token before the unit
    value = last.text
    if last.is_string:
        value = last.text[1:-1].replace("\\'", "'")
    is_single_token = end - start == 1 + has_interval + has_unit
    has_letters = any(character.isalpha() for character in value)
    is_text = last.is_string and (not unit or has_letters)
    is_constant_without_unit = last.is_constant and unit == ""
    if not is_single_token or not (is_text or is_constant_without_unit):
        return written
    length = interval(value, "WITHIN", written.whole, last.text, unit)
    return read_tokens(length.text, offset=written.offset)


def read_clause(clause: ClauseTokens) -> nodes.MatchRecognize:
    """Read a clause.

    Raises:
        MatchRecognizeError: a part is malformed, or see `find_sections`.
    """
    sections = find_sections(clause)
    pattern = sections[ClausePart.PATTERN]
    options = read_words_after_pattern(clause, clause.pairs[pattern.start])

    def find_items(part: ClausePart) -> tuple[Range, ...]:
        """Return the items of a part, which are separated by commas; none if it is not written."""
        if part not in sections:
            return ()
        section = sections[part]
        if section.start == section.end:
            raise errors.nothing_in(section.keyword, part=part.value)
        return items_between(clause, (section.start, section.end), part.value)

    def read_items(part: ClausePart, read: Callable[[ClauseTokens, int, int], T]) -> tuple[T, ...]:
        """Read every item of a part."""
        return tuple(read(clause, start, end) for start, end in find_items(part))

    def read_section(part: ClausePart, read: Callable[[ClauseTokens, Section], T]) -> T | None:
        """Read a part; None if it is not written."""
        return read(clause, sections[part]) if part in sections else None

    rows_per_match, partial = read_section(ClausePart.ROWS_PER_MATCH, _read_rows_per_match) or (
        None,
        None,
    )
    search = sections.get(ClausePart.SEARCH)
    return nodes.MatchRecognize(
        pattern=_read_pattern(clause, pattern, options.end),
        pattern_span=clause.span(pattern.start, clause.pairs[pattern.start] + 1),
        selection=options.selection,
        output=options.output,
        first_matches=options.first_matches,
        partition_by=read_items(ClausePart.PARTITION_BY, _read_partition_key),
        order_by=read_items(ClausePart.ORDER_BY, _read_sort_key),
        measures=read_items(ClausePart.MEASURES, _read_measure),
        rows_per_match=rows_per_match,
        partial=partial,
        after_match=read_section(ClausePart.AFTER_MATCH, _read_after_match),
        frame=read_section(ClausePart.FRAME, _read_frame),
        search=nodes.Search(clause.key(search.start)) if search else None,
        search_span=search.keyword if search else None,
        windows=nodes.check_windows(read_items(ClausePart.WITHIN, _read_window)),
        subsets=read_items(ClausePart.SUBSET, _read_subset),
        definitions=tuple(_read_definitions(clause, find_items(ClausePart.DEFINE))),
        span=clause.inside,
    )


def _read_pattern(clause: ClauseTokens, section: Section, end: int) -> RowPattern:
    """Read PATTERN.

    Args:
        clause: the tokens of the clause.
        section: the section of PATTERN.
        end: the token after its options, which must be the end of the section.
    """
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


def _read_partition_key(clause: ClauseTokens, start: int, end: int) -> nodes.PartitionKey:
    """Read an item of PARTITION BY: `expression` or `expression AS name`."""
    name = _read_name_after_as(clause, (start, end), "partition column", "PARTITION BY")
    expression = clause.part(start, end - 2 if name else end)
    return nodes.PartitionKey(expression, name.name if name else None, clause.span(start, end))


def _read_name_after_as(clause: ClauseTokens, item: Range, what: str, where: str) -> Token | None:
    """Return the name after AS with which an item ends; None if it ends otherwise.

    Args:
        clause: the tokens of the clause.
        item: the tokens of the item.
        what: what is named, for messages.
        where: the part of the clause, for messages.

    Raises:
        MatchRecognizeError: the name is a string.
    """
    start, end = item
    if end - start < 3 or clause.key(end - 2) != "AS":
        return None
    name = clause[end - 1]
    if name.in_double_quotes:
        raise column_in_double_quotes(name.span, clause=where, text=name.text)
    if name.is_string:
        raise errors.string_as_name(name.span, what=what, clause=where, text=name.text)
    return name if name.is_name else None


def _read_sort_key(clause: ClauseTokens, start: int, end: int) -> nodes.SortKey:
    """Read an item of ORDER BY: `expression [ASC | DESC] [NULLS FIRST | NULLS LAST]`."""
    span = clause.span(start, end)
    nulls_first: bool | None = None
    if end - start > 2 and clause.key(end - 2) == "NULLS":
        nulls_first = {"FIRST": True, "LAST": False}.get(clause.key(end - 1))
    if nulls_first is not None:
        end -= 2
    descending: bool | None = None
    if end - start > 1:
        descending = {"ASC": False, "DESC": True}.get(clause.key(end - 1))
    if descending is not None:
        end -= 1
    return nodes.SortKey(clause.part(start, end), descending, nulls_first, span)


def _read_measure(clause: ClauseTokens, start: int, end: int) -> nodes.NamedExpression:
    """Read an item of MEASURES: `expression AS name` or `expression name`."""
    for index in clause.level(start, end - 2):
        if clause.key(index) == "AS" and clause.key(index - 1) != "." and index > start:
            # What follows the name belongs to another measure, or to no part of the clause.
            token = clause[index + 2]
            raise errors.unexpected_token(token.text, "MEASURES", token.span)
    name = _read_name_after_as(clause, (start, end), "measure", "MEASURES")
    expression_end = end - 2
    if name is None:
        name = clause[end - 1]
        expression_end = end - 1
        follows_expression = expression_end > start and clause.ends_expression(end - 2)
        can_be_name = name.is_name and name.key not in ("END", "NULL")
        if not (can_be_name and follows_expression):
            raise _explain_measure_without_name(clause, start, end)
    return nodes.NamedExpression(clause.part(start, expression_end), name.name, name.span)


def _explain_measure_without_name(
    clause: ClauseTokens, start: int, end: int
) -> MatchRecognizeError:
    """Return the error for a measure without a name.

    It proposes the name of `x IS m`, `x := m` and `m = x`.
    """
    written = clause.part(start, end)
    if clause.key(end - 1) == "*" and (end - start == 1 or clause.key(end - 2) == "."):
        return errors.star_as_measure(written.whole, text=written.text)
    text = written.text
    name = "name"
    if clause.key(end - 2) in ("IS", ":=", ":") and clause[end - 1].is_name and end - 2 > start:
        text = clause.part(start, end - 2).text
        name = clause[end - 1].text
    elif clause.key(start + 1) == "=" and clause[start].is_name and end - start > 3:
        text = clause.part(start + 2, end).text
        name = clause[start].text
    return errors.measure_without_name(written.whole, text=text, name=name)


_ROWS_PER_MATCH = {rows.value: rows for rows in OF_CLAUSES}
_ROWS_PER_MATCH["ALL ROWS PER MATCH"] = RowsPerMatch.ALL_ROWS_SHOW_EMPTY
_PARTIAL = (PartialMatches(True), PartialMatches(False, True), PartialMatches(True, True))


def _join_keys(clause: ClauseTokens, start: int, end: int) -> str:
    """Return the keys of tokens `start .. end` with blanks between them."""
    return " ".join(clause.key(index) for index in range(start, end))


def _read_rows_per_match(
    clause: ClauseTokens, section: Section
) -> tuple[RowsPerMatch, PartialMatches | None]:
    """Read which rows a match outputs, and which runs that are no matches are output, too."""
    written = _join_keys(clause, section.start, section.end)
    rows = _ROWS_PER_MATCH.get(written)
    if rows:
        return rows, None
    for partial in _PARTIAL:
        rows = _ROWS_PER_MATCH.get(written.removesuffix(f" {partial.words}"))
        if rows:
            start = section.end - len(partial.words.split())
            return rows, replace(partial, span=clause.span(start, section.end))
    part = clause.part(section.start, section.end)
    raise errors.malformed_rows_per_match(part.text, part.whole)


_SKIPS = {f"AFTER MATCH SKIP {to.value}": to for to in SkipTo}
_SKIPS["AFTER MATCH SKIP TO"] = SkipTo.LAST
# The targets that name no variable: TO NEXT ROW and PAST LAST ROW.
_TO_ROWS = [to for to in SkipTo if to.value.endswith("ROW")]


def _read_after_match(clause: ClauseTokens, section: Section) -> AfterMatchSkip:
    """Read AFTER MATCH SKIP, which goes to a row or, with its last word, to a variable."""
    start, end = section.start, section.end
    span = clause.span(start, end)
    to = _SKIPS.get(_join_keys(clause, start, end))
    if to in _TO_ROWS:
        return AfterMatchSkip(to, None, span)
    target = clause[end - 1]
    to = _SKIPS.get(_join_keys(clause, start, end - 1))
    if to is None or to in _TO_ROWS or not target.can_name:
        raise errors.malformed_skip(span, text=clause.text_at(span))
    _refuse_reserved(target, "AFTER MATCH SKIP")
    return AfterMatchSkip(to, target.variable, target.span)


def _read_frame(clause: ClauseTokens, section: Section) -> nodes.FrameEnd:
    """Read the frame of a window, which must start at the current row.

    `ROWS BETWEEN CURRENT ROW AND end [EXCLUDE NO OTHERS]`
    """
    start = section.start
    end = section.end
    span = clause.span(start, end)
    if clause.says(end - 3, "EXCLUDE", "NO", "OTHERS"):
        end -= 3
    keys = [clause.key(index) for index in range(start, end)]
    match keys[5:]:
        case _ if keys[:5] != ["ROWS", "BETWEEN", "CURRENT", "ROW", "AND"] or "EXCLUDE" in keys:
            pass
        case ["UNBOUNDED", "FOLLOWING"]:
            return nodes.FrameEnd(None, span)
        case ["CURRENT", "ROW"]:
            return nodes.FrameEnd(0, span)
        case [_, *_, "FOLLOWING"]:
            bound_start, bound_end = start + 5, end - 1
            bound = clause.part(bound_start, bound_end)
            if bound.text.isdigit():  # None, which is no limit, if it is beyond all row numbers
                return nodes.FrameEnd(whole_number(bound.text), span)
            is_literal = len(bound) == 1 and (bound[0].is_constant or bound.key(0) == "NULL")
            if is_literal or clause.may_be_of_one_row(bound_start, bound_end):
                parameter = parameter_at(clause.tokens[bound_start:bound_end])
                return nodes.FrameEnd(parameter or bound, span)
    raise window_errors.wrong_frame(span, text=" ".join(clause.text_at(span).split()))


def _read_subset(clause: ClauseTokens, start: int, end: int) -> Subset:
    """Read an item of SUBSET: `name = (variable, ...)`."""
    name = clause[start]
    is_list = clause.says(start + 1, "=", "(") and clause.pairs.get(start + 2) == end - 1
    items = clause.separated(start + 3, end - 1) if is_list and name.can_name else ()
    are_names = all(last - first == 1 and clause.can_name(first) for first, last in items)
    if not items or not are_names:
        written = clause.part(start, end)
        raise errors.malformed_subset(written.whole, text=written.text)
    members = tuple(clause[first] for first, _ in items)
    for token in (name, *members):
        _refuse_reserved(token, "SUBSET")
    variables = tuple(member.variable for member in members)
    return Subset(name.variable, variables, name.span, tuple(member.span for member in members))


def _read_definitions(
    clause: ClauseTokens, items: Sequence[Range]
) -> Iterator[nodes.NamedExpression]:
    """Yield the definitions of DEFINE.

    `A, B AS condition` defines both: names without a condition share the next one.
    """
    names: list[Token] = []  # those that wait for their condition
    for start, end in items:
        is_name_alone = end - start == 1 and (start, end) != items[-1]
        has_condition = clause.key(start + 1) == "AS" and end - start > 2
        if not clause.can_name(start) or not (is_name_alone or has_condition):
            raise _explain_malformed_definition(clause, start, end)
        _refuse_reserved(clause[start], "DEFINE")
        names.append(clause[start])
        if is_name_alone:
            continue
        _refuse_second_definition(clause, start + 2, end)
        condition = clause.part(start + 2, end)
        for name in names:
            yield nodes.NamedExpression(condition, name.variable, name.span)
        names.clear()


def _refuse_reserved(name: Token, where: str) -> None:
    """Raise an error if a variable's name is a reserved word without quotes."""
    if name.kind is TokenKind.WORD and is_reserved(name.text):
        raise pattern_errors.reserved_word(name.variable, where, name.span)


def _refuse_second_definition(clause: ClauseTokens, start: int, end: int) -> None:
    """Raise an error if another definition, `name AS`, starts in the condition `start .. end`.

    A comma is missing before it, or it is joined with AND or OR.
    """
    for index in clause.level(start, end - 1):
        starts_definition = clause.key(index + 1) == "AS" and clause.can_name(index)
        if not starts_definition or index == start:
            continue
        before = clause[index - 1]
        if before.key in ("AND", "OR"):
            raise errors.joined_definitions(before.span, word=before.key)
        token = clause[index]
        raise errors.unexpected_token(token.text, "DEFINE", token.span)


def _explain_malformed_definition(
    clause: ClauseTokens, start: int, end: int
) -> MatchRecognizeError:
    """Return the error for a definition that is not `name AS condition`.

    It proposes a definition if the item begins with a name: `A = x > 1` becomes `A AS x > 1`.
    """
    level = clause.level(start + 1, end)
    condition = 1 + next((index for index in level if clause.key(index) == "AS"), start)
    while clause.key(condition) in _WRITTEN_FOR_AS or (
        condition == start + 1 and _may_be_misspelt_as(clause, condition)
    ):
        condition += 1
    has_name = clause.can_name(start) and clause.key(start + 1) not in (".", ",")
    proposal: tuple[str, str] | None = None
    if has_name and condition < end:
        proposal = clause[start].text, clause.part(condition, end).text
    span = clause.span(start, end)
    after_comma = clause.key(start - 1) == ","
    return errors.malformed_definition(clause.text_at(span), proposal, after_comma, span)


_WRITTEN_FOR_AS = words("= : := IS AS ;")


def _may_be_misspelt_as(clause: ClauseTokens, index: int) -> bool:
    """Return whether the word at `index` may be AS, misspelt: it is short, before an operand."""
    key = clause.key(index)
    after = index + 1
    precedes_operand = after < len(clause) and clause[after].kind is not TokenKind.SYMBOL
    is_short_word = len(key) <= len("ASS") and key.isalpha()
    return precedes_operand and is_short_word and key not in _NOT_AT_END_OF_EXPRESSION


def parse_clause(
    text: str, dialect: Dialect = SPARK, origin: Origin | None = None
) -> nodes.MatchRecognize:
    """Parse a clause from the text between its parentheses.

    Args:
        text: the text.
        dialect: how double quotes are read.
        origin: the text from which `text` was translated, if it was.

    Raises:
        MatchRecognizeError: the text is not a clause.
    """
    with shown_in(Source(text, origin)):
        return read_clause(all_tokens(read_tokens(text, dialect)))
