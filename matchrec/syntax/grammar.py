"""Parse the tokens of a clause to a `MatchRecognize` node.

1. `find_sections` divides the clause at the keywords of its parts, and checks their order.
2. `read_clause` reads each section.

This is grammar only: no name is looked up, and expressions stay tokens until `lower` reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import locate_errors
from matchrec.errors.sql import clause as errors
from matchrec.errors.sql import pattern as pattern_errors
from matchrec.errors.sql import window as window_errors
from matchrec.errors.sql.expression import column_in_double_quotes
from matchrec.errors.sql.tokens import unexpected_token
from matchrec.plan.clauses import (
    CLAUSE_CHOICES,
    AfterMatchSkip,
    PartialMatches,
    RowsPerMatch,
    SkipTo,
    Subset,
)
from matchrec.plan.pattern import RowPattern
from matchrec.plan.words import NONDETERMINISTIC, is_reserved
from matchrec.source import Origin, Source, Span
from matchrec.syntax import nodes
from matchrec.syntax.amounts import read_number_of_rows, read_whole_number, reject_unit_in_number
from matchrec.syntax.durations import WrittenDuration, build_interval, is_length_of_time
from matchrec.syntax.expressions.reader import ClausePart, split_items
from matchrec.syntax.row_pattern import make_symbol_outside_error, parse_row_pattern, read_parameter
from matchrec.syntax.sections import (
    NOT_AT_END_OF_EXPRESSION,
    ClauseTokens,
    Section,
    cut_out_tokens,
    find_sections,
    read_section_tokens,
    read_words_after_pattern,
)
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import (
    CALLS_OVER_SEVERAL_ROWS,
    SPARK,
    UNITS_OF_TIME,
    Dialect,
    Token,
    TokenKind,
    TokenRange,
    TokenSequence,
    split_words,
)

# Other packages import these from here.
__all__ = [
    "ClauseTokens",
    "cut_out_tokens",
    "find_sections",
    "parse_clause",
    "read_clause",
    "read_section_tokens",
]

T = TypeVar("T")


def _read_window(clause: ClauseTokens, start: int, end: int) -> nodes.WindowNode:
    """Read an item of WITHIN.

    It is `interval`, `n ROWS`, `interval BETWEEN ROWS` or `interval FROM variable TO variable`.
    """
    if clause.key(end - 1) == "ROWS":
        row_window = _read_row_window(clause, start, end)
        if row_window is not None:
            return row_window
    span = clause.span(start, end)
    is_between_rows = end - start > 1 and clause.has_keys(end - 2, "BETWEEN", "ROWS")
    has_variables = end - start > 4 and (clause.key(end - 4), clause.key(end - 2)) == ("FROM", "TO")
    interval_end = end
    if is_between_rows:
        interval_end = end - 2
    elif has_variables:
        interval_end = end - 4
    if interval_end == start:
        raise errors.empty_part(span, part="WITHIN")
    has_interval_word = clause.key(start) == "INTERVAL"
    unit: str | None = None
    if has_interval_word and clause.key(interval_end - 1) in UNITS_OF_TIME:
        unit = clause.key(interval_end - 1)
    value_start = start + 1 if has_interval_word else start
    value_end = interval_end if unit is None else interval_end - 1
    return nodes.WindowNode(
        interval=_read_interval(clause, start, interval_end, unit),
        span=span,
        between_rows=is_between_rows,
        from_variable=clause[end - 3].variable if has_variables else None,
        to_variable=clause[end - 1].variable if has_variables else None,
        parameter=read_parameter(clause.tokens[value_start:value_end]),
        has_interval_word=has_interval_word,
        unit=unit,
        interval_span=clause.span(start, interval_end),
    )


def _read_row_window(clause: ClauseTokens, start: int, end: int) -> nodes.WindowNode | None:
    """Read the item `n ROWS` of WITHIN, or return None if it is `interval BETWEEN ROWS`."""
    parameter = read_parameter(clause.tokens[start : end - 1])
    if parameter is None and end - start != 2:
        return None
    span = clause.span(start, end)
    number = clause.cut_out(start, end - 1)
    rows = 0 if parameter else read_number_of_rows(number.text, span)
    return nodes.WindowNode(
        number, span, rows=rows, parameter=parameter, interval_span=number.full_span
    )


def _read_interval(clause: ClauseTokens, start: int, end: int, unit: str | None) -> TokenSequence:
    """Return the interval `start .. end` of WITHIN as SQL.

    A single text is read like the value of a parameter: `'2 hours'` becomes an INTERVAL, as in the
    files of rule sets.

    Args:
        clause: the tokens of the clause.
        start: its first token.
        end: the token after it.
        unit: the unit of time at its end, if it begins with INTERVAL.

    Raises:
        MatchRecognizeError: the interval is written without INTERVAL, or it is not a length of
            time.
    """
    interval = clause.cut_out(start, end)
    if is_length_of_time(clause, start):
        raise errors.missing_interval(interval.full_span, text=interval.text)
    if end - start == 1:
        reject_unit_in_number(clause[start])
    has_interval_word = clause.key(start) == "INTERVAL"
    value_start = start + 1 if has_interval_word else start
    value_end = end if unit is None else end - 1
    token = clause[value_end - 1]
    value = token.text
    if token.is_string:
        value = token.text[1:-1].replace("\\'", "'")
    has_letters = any(character.isalpha() for character in value)
    is_text = token.is_string and (unit is None or has_letters)
    lacks_unit = token.is_constant and has_interval_word and unit is None
    is_single_token = value_end - value_start == 1
    if not is_single_token or not (is_text or lacks_unit):
        return interval
    duration = WrittenDuration(
        value, text=token.text, has_interval_word=has_interval_word, unit=unit
    )
    length = build_interval(duration, "WITHIN", interval.full_span)
    return read_tokens(length.text, offset=interval.offset)


def read_clause(clause: ClauseTokens) -> nodes.MatchRecognize:
    """Read a clause.

    Raises:
        MatchRecognizeError: a part is malformed, or see `find_sections`.
    """
    parts = PartReader(clause, find_sections(clause))
    pattern = parts.sections[ClausePart.PATTERN]
    options = read_words_after_pattern(clause, clause.pairs[pattern.start])
    rows_per_match, partial = parts.read_section(
        ClausePart.ROWS_PER_MATCH, _read_rows_per_match
    ) or (None, None)
    search = parts.sections.get(ClausePart.SEARCH)
    return nodes.MatchRecognize(
        pattern=_read_pattern(clause, pattern, options.end),
        pattern_span=clause.span(pattern.start, clause.pairs[pattern.start] + 1),
        selection=options.selection,
        output=options.output,
        first_matches=options.first_matches,
        partition_by=parts.read_items(ClausePart.PARTITION_BY, _read_partition_key),
        order_by=parts.read_items(ClausePart.ORDER_BY, _read_sort_key),
        measures=parts.read_items(ClausePart.MEASURES, _read_measure),
        rows_per_match=rows_per_match,
        partial=partial,
        after_match=parts.read_section(ClausePart.AFTER_MATCH, _read_after_match),
        frame=parts.read_section(ClausePart.FRAME, _read_frame),
        search=nodes.InitialOrSeek(clause.key(search.start)) if search else None,
        search_span=search.keyword if search else None,
        windows=nodes.check_distinct_windows(parts.read_items(ClausePart.WITHIN, _read_window)),
        subsets=parts.read_items(ClausePart.SUBSET, _read_subset),
        definitions=tuple(_read_definitions(clause, parts.find_items(ClausePart.DEFINE))),
        span=clause.inside,
    )


@dataclass(frozen=True, slots=True)
class PartReader:
    """A clause and its sections. For each section, a function of this module reads it."""

    clause: ClauseTokens
    sections: Mapping[ClausePart, Section]

    def find_items(self, part: ClausePart) -> tuple[TokenRange, ...]:
        """Return the items of a part, which are separated by commas; none if it is not written."""
        if part not in self.sections:
            return ()
        section = self.sections[part]
        if section.start == section.end:
            raise errors.empty_part(section.keyword, part=part.value)
        return split_items(self.clause, (section.start, section.end), part.value)

    def read_items(
        self, part: ClausePart, read: Callable[[ClauseTokens, int, int], T]
    ) -> tuple[T, ...]:
        """Read every item of a part."""
        return tuple(read(self.clause, start, end) for start, end in self.find_items(part))

    def read_section(
        self, part: ClausePart, read: Callable[[ClauseTokens, Section], T]
    ) -> T | None:
        """Read a part; None if it is not written."""
        return read(self.clause, self.sections[part]) if part in self.sections else None


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
            raise errors.bracket_not_closed(*spans, query=clause.text, keyword="DEFINE")
    if end < section.end:
        token = clause[end]
        if token.key in ("PARTITION", "SKIP", "STRICT", "ALL", "NON", "LONGEST", "FIRST"):
            words = clause.cut_out(end, section.end)
            raise errors.malformed_event_selection(words.full_span, text=words.text)
        outside = make_symbol_outside_error(clause, opening - 1, end)
        raise outside or unexpected_token(token.text, "MATCH_RECOGNIZE", token.span)
    inside = Span(clause[opening].span.end, clause[closing].span.start)
    return parse_row_pattern(clause.text, inside)


def _read_partition_key(clause: ClauseTokens, start: int, end: int) -> nodes.PartitionKey:
    """Read an item of PARTITION BY: `expression` or `expression AS name`."""
    name = _read_name_after_as(clause, (start, end), "partition column", "PARTITION BY")
    expression = clause.cut_out(start, end - 2 if name else end)
    return nodes.PartitionKey(expression, name.name if name else None, clause.span(start, end))


def _read_name_after_as(
    clause: ClauseTokens, item: TokenRange, what: str, where: str
) -> Token | None:
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
    return nodes.SortKey(clause.cut_out(start, end), descending, nulls_first, span)


def _read_measure(clause: ClauseTokens, start: int, end: int) -> nodes.NamedExpression:
    """Read an item of MEASURES: `expression AS name` or `expression name`."""
    for index in clause.walk_level(start, end - 2):
        if clause.key(index) == "AS" and clause.key(index - 1) != "." and index > start:
            # What follows the name belongs to another measure, or to no part of the clause.
            token = clause[index + 2]
            raise unexpected_token(token.text, "MEASURES", token.span)
    name = _read_name_after_as(clause, (start, end), "measure", "MEASURES")
    expression_end = end - 2
    if name is None:
        name = clause[end - 1]
        expression_end = end - 1
        follows_expression = expression_end > start and clause.ends_expression(end - 2)
        can_be_name = name.is_name and name.key not in ("END", "NULL")
        if not (can_be_name and follows_expression):
            raise _explain_measure_without_name(clause, start, end)
    return nodes.NamedExpression(clause.cut_out(start, expression_end), name.name, name.span)


def _explain_measure_without_name(
    clause: ClauseTokens, start: int, end: int
) -> MatchRecognizeError:
    """Return the error for a measure without a name.

    It proposes the name of `x IS m`, `x := m` and `m = x`.
    """
    measure = clause.cut_out(start, end)
    if clause.key(end - 1) == "*" and (end - start == 1 or clause.key(end - 2) == "."):
        return errors.star_as_measure(measure.full_span, text=measure.text)
    text = measure.text
    name = "name"
    if clause.key(end - 2) in ("IS", ":=", ":") and clause[end - 1].is_name and end - 2 > start:
        text = clause.cut_out(start, end - 2).text
        name = clause[end - 1].text
    elif clause.key(start + 1) == "=" and clause[start].is_name and end - start > 3:
        text = clause.cut_out(start + 2, end).text
        name = clause[start].text
    return errors.measure_without_name(measure.full_span, text=text, name=name)


_ROWS_PER_MATCH = {rows.value: rows for rows in CLAUSE_CHOICES}
_ROWS_PER_MATCH["ALL ROWS PER MATCH"] = RowsPerMatch.ALL_ROWS_SHOW_EMPTY
_PARTIAL = (PartialMatches(True), PartialMatches(False, True), PartialMatches(True, True))


def _join_keys(clause: ClauseTokens, start: int, end: int) -> str:
    """Return the keys of tokens `start .. end` with blanks between them."""
    return " ".join(clause.key(index) for index in range(start, end))


def _read_rows_per_match(
    clause: ClauseTokens, section: Section
) -> tuple[RowsPerMatch, PartialMatches | None]:
    """Read which rows a match outputs, and which runs that are no matches are output, too."""
    keys = _join_keys(clause, section.start, section.end)
    rows = _ROWS_PER_MATCH.get(keys)
    if rows:
        return rows, None
    for partial in _PARTIAL:
        rows = _ROWS_PER_MATCH.get(keys.removesuffix(f" {partial.words}"))
        if rows:
            start = section.end - len(partial.words.split())
            return rows, replace(partial, span=clause.span(start, section.end))
    part = clause.cut_out(section.start, section.end)
    raise errors.malformed_rows_per_match(part.text, part.full_span)


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
    _reject_reserved_word(target, "AFTER MATCH SKIP")
    return AfterMatchSkip(to, target.variable, target.span)


def _read_frame(clause: ClauseTokens, section: Section) -> nodes.FrameEnd:
    """Read the frame of a window, which must start at the current row.

    `ROWS BETWEEN CURRENT ROW AND end [EXCLUDE NO OTHERS]`
    """
    start = section.start
    end = section.end
    span = clause.span(start, end)
    if clause.has_keys(end - 3, "EXCLUDE", "NO", "OTHERS"):
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
            bound = clause.cut_out(bound_start, bound_end)
            if bound.text.isdigit():  # None, which is no limit, if it is beyond all row numbers
                return nodes.FrameEnd(read_whole_number(bound.text), span)
            is_literal = len(bound) == 1 and (bound[0].is_constant or bound.key(0) == "NULL")
            if is_literal or _may_be_row_count(bound):
                parameter = read_parameter(clause.tokens[bound_start:bound_end])
                return nodes.FrameEnd(parameter or bound, span)
    raise window_errors.wrong_pattern_window_frame(
        span, text=" ".join(clause.text_at(span).split())
    )


def _may_be_row_count(expression: TokenSequence) -> bool:
    """Return whether an expression may be a whole number of each row.

    It is not if it is a constant other than a whole number, or if it calls a function that reads
    several rows or returns another value each time.
    """
    first = expression[0]
    is_constant = len(expression) == 1 and (first.is_constant or first.key == "NULL")
    if is_constant and not first.text.isdigit():
        return False
    indices = range(len(expression))
    calls = {expression.key(index) for index in indices if expression.is_call(index)}
    return calls.isdisjoint(CALLS_OVER_SEVERAL_ROWS | NONDETERMINISTIC)


def _read_subset(clause: ClauseTokens, start: int, end: int) -> Subset:
    """Read an item of SUBSET: `name = (variable, ...)`."""
    name = clause[start]
    is_list = clause.has_keys(start + 1, "=", "(") and clause.pairs.get(start + 2) == end - 1
    items = clause.split_at_commas(start + 3, end - 1) if is_list and name.can_name else ()
    are_names = all(last - first == 1 and clause.can_name(first) for first, last in items)
    if not items or not are_names:
        item = clause.cut_out(start, end)
        raise errors.malformed_subset(item.full_span, text=item.text)
    members = tuple(clause[first] for first, _ in items)
    for token in (name, *members):
        _reject_reserved_word(token, "SUBSET")
    variables = tuple(member.variable for member in members)
    return Subset(name.variable, variables, name.span, tuple(member.span for member in members))


def _read_definitions(
    clause: ClauseTokens, items: Sequence[TokenRange]
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
        _reject_reserved_word(clause[start], "DEFINE")
        names.append(clause[start])
        if is_name_alone:
            continue
        _reject_second_definition(clause, start + 2, end)
        condition = clause.cut_out(start + 2, end)
        for name in names:
            yield nodes.NamedExpression(condition, name.variable, name.span)
        names.clear()


def _reject_reserved_word(name: Token, where: str) -> None:
    """Raise an error if a variable's name is a reserved word without quotes."""
    if name.kind is TokenKind.WORD and is_reserved(name.text):
        raise pattern_errors.reserved_word(name.variable, where, name.span)


def _reject_second_definition(clause: ClauseTokens, start: int, end: int) -> None:
    """Raise an error if another definition, `name AS`, starts in the condition `start .. end`.

    A comma is missing before it, or it is joined with AND or OR.
    """
    for index in clause.walk_level(start, end - 1):
        starts_definition = clause.key(index + 1) == "AS" and clause.can_name(index)
        if not starts_definition or index == start:
            continue
        before = clause[index - 1]
        if before.key in ("AND", "OR"):
            raise errors.and_between_definitions(before.span, word=before.key)
        token = clause[index]
        raise unexpected_token(token.text, "DEFINE", token.span)


def _explain_malformed_definition(
    clause: ClauseTokens, start: int, end: int
) -> MatchRecognizeError:
    """Return the error for a definition that is not `name AS condition`.

    It proposes a definition if the item begins with a name: `A = x > 1` becomes `A AS x > 1`.
    """
    level = clause.walk_level(start + 1, end)
    condition = 1 + next((index for index in level if clause.key(index) == "AS"), start)
    while clause.key(condition) in _WRITTEN_FOR_AS or (
        condition == start + 1 and _may_be_misspelt_as(clause, condition)
    ):
        condition += 1
    has_name = clause.can_name(start) and clause.key(start + 1) not in (".", ",")
    proposal: tuple[str, str] | None = None
    if has_name and condition < end:
        proposal = clause[start].text, clause.cut_out(condition, end).text
    span = clause.span(start, end)
    after_comma = clause.key(start - 1) == ","
    return errors.malformed_definition(clause.text_at(span), proposal, after_comma, span)


_WRITTEN_FOR_AS = split_words("= : := IS AS ;")


def _may_be_misspelt_as(clause: ClauseTokens, index: int) -> bool:
    """Return whether the word at `index` may be AS, misspelt: it is short, before an operand."""
    key = clause.key(index)
    after = index + 1
    precedes_operand = after < len(clause) and clause[after].kind is not TokenKind.SYMBOL
    is_short_word = len(key) <= len("ASS") and key.isalpha()
    return precedes_operand and is_short_word and key not in NOT_AT_END_OF_EXPRESSION


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
    with locate_errors(Source(text, origin)):
        return read_clause(read_section_tokens(read_tokens(text, dialect)))
