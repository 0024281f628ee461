"""Parse the tokens of a clause to a `MatchRecognize` node.

1. `find_sections` divides the clause at the keywords of its parts, and checks their order.
2. `read_clause` calls one function for each section. Parts that are lists, such as MEASURES, are
   split at their commas first, and the function reads one item: the tokens `start .. end`.
   `within` reads the items of WITHIN, and `item_mistakes` explains items that are malformed.

This is grammar only: no name is looked up, and expressions stay tokens until `lower` reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from matchrec.errors.kinds import locate_errors
from matchrec.errors.sql import clause as errors
from matchrec.errors.sql import clause_items as item_errors
from matchrec.errors.sql import pattern_symbols as pattern_errors
from matchrec.errors.sql import window as window_errors
from matchrec.errors.sql.expression import column_in_double_quotes
from matchrec.errors.sql.match_options import malformed_rows_per_match, malformed_skip
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
from matchrec.syntax import item_mistakes as mistakes
from matchrec.syntax import nodes
from matchrec.syntax.amounts import read_whole_number
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.clause_tokens import ClauseTokens, make_clause_tokens
from matchrec.syntax.function_names import CALLS_OVER_SEVERAL_ROWS
from matchrec.syntax.misplaced_patterns import (
    explain_unclosed_parenthesis,
    reject_part_inside_pattern,
)
from matchrec.syntax.parameter_values import read_parameter
from matchrec.syntax.row_pattern import parse_row_pattern
from matchrec.syntax.sections import Section, find_sections, read_words_after_pattern
from matchrec.syntax.token_checks import split_items
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import SPARK, QuoteDialect, Token, TokenKind, TokenRange, TokenSequence
from matchrec.syntax.within import read_within_item

T = TypeVar("T")


def parse_clause(
    text: str, dialect: QuoteDialect = SPARK, origin: Origin | None = None
) -> nodes.MatchRecognize:
    """Parse a clause from the text between its parentheses.

    Args:
        text: the text.
        dialect: how double quotes are read.
        origin: the text from which `text` was translated; None if it was not translated.

    Raises:
        MatchRecognizeError: the text is not a clause.

    >>> clause = parse_clause("PATTERN (A B+) WITHIN 5 ROWS DEFINE B AS B.price > A.price")
    >>> clause.windows[0].rows, clause.definitions[0].name, clause.definitions[0].expression.text
    (5, 'B', 'B.price > A.price')
    """
    with locate_errors(Source(text, origin)):
        return read_clause(make_clause_tokens(read_tokens(text, dialect)))


def read_clause(clause: ClauseTokens) -> nodes.MatchRecognize:
    """Read the tokens of a clause.

    Raises:
        MatchRecognizeError: a part is malformed, or the parts are not as `find_sections` requires.
    """
    parts = PartReader(clause, find_sections(clause))
    pattern = parts.sections[ClausePart.PATTERN]
    after_pattern = clause.pairs[pattern.start] + 1
    options = read_words_after_pattern(clause, after_pattern - 1)
    has_options = options.end > after_pattern
    output_rows = parts.read_section(ClausePart.ROWS_PER_MATCH, _read_rows_per_match)
    search = parts.sections.get(ClausePart.SEARCH)
    subset = parts.sections.get(ClausePart.SUBSET)
    part_after_keys = next(
        section.keyword
        for part, section in parts.sections.items()
        if part is not ClausePart.PARTITION_BY
    )
    windows = parts.read_items(ClausePart.WITHIN, read_within_item)
    nodes.check_distinct_windows(windows)
    return nodes.MatchRecognize(
        pattern=_read_pattern(clause, pattern, options.end),
        pattern_span=clause.span(pattern.start, after_pattern),
        selection=options.selection,
        output=options.output,
        first_matches=options.first_matches,
        options_span=clause.span(after_pattern, options.end) if has_options else None,
        partition_by=parts.read_items(ClausePart.PARTITION_BY, _read_partition_key),
        order_by=parts.read_items(ClausePart.ORDER_BY, _read_sort_key),
        measures=parts.read_items(ClausePart.MEASURES, _read_measure),
        rows_per_match=output_rows.rows_per_match if output_rows else None,
        partial=output_rows.partial if output_rows else None,
        after_match=parts.read_section(ClausePart.AFTER_MATCH, _read_after_match),
        frame=parts.read_section(ClausePart.FRAME, _read_frame),
        search=nodes.InitialOrSeek(clause.key(search.start)) if search else None,
        search_span=search.keyword if search else None,
        windows=windows,
        subsets=parts.read_items(ClausePart.SUBSET, _read_subset),
        subset_span=subset.keyword if subset else None,
        definitions=tuple(_read_definitions(clause, parts.find_items(ClausePart.DEFINE))),
        part_after_keys=part_after_keys,
        span=clause.inside,
    )


@dataclass(frozen=True, slots=True)
class PartReader:
    """A reader of the parts of a clause: it finds the tokens of a part for a function to read."""

    clause: ClauseTokens
    sections: Mapping[ClausePart, Section]

    def find_items(self, part: ClausePart) -> tuple[TokenRange, ...]:
        """Return the items of a part, which are separated by commas; () if it is not written.

        Raises:
            MatchRecognizeError: the part is written, but has no content or an empty item.
        """
        if part not in self.sections:
            return ()
        section = self.sections[part]
        if section.start == section.end:
            raise errors.empty_part(section.keyword, part=part.value)
        return split_items(self.clause, (section.start, section.end), part.value)

    def read_items(
        self, part: ClausePart, read: Callable[[ClauseTokens, int, int], T]
    ) -> tuple[T, ...]:
        """Read each item of a part.

        Args:
            part: the part, which is a list with commas.
            read: reads an item from the clause, the index of the item's first token, and the index
                after its last token.
        """
        return tuple(read(self.clause, start, end) for start, end in self.find_items(part))

    def read_section(
        self, part: ClausePart, read: Callable[[ClauseTokens, Section], T]
    ) -> T | None:
        """Read a part that is not a list; return None if the part is not written.

        Args:
            part: the part.
            read: reads the part from the clause and the section of the part.
        """
        if part not in self.sections:
            return None
        return read(self.clause, self.sections[part])


def _read_pattern(clause: ClauseTokens, section: Section, options_end: int) -> RowPattern:
    """Read the row pattern between PATTERN's parentheses.

    Args:
        clause: the tokens of the clause.
        section: the section of PATTERN.
        options_end: the token after the options of PATTERN, which must end the section.

    Raises:
        MatchRecognizeError: the pattern is malformed, or other words follow its options.
    """
    opening = section.start
    closing = clause.pairs[opening]
    reject_part_inside_pattern(clause, opening)
    if options_end < section.end:
        raise mistakes.explain_words_after_pattern(clause, opening, options_end, section.end)
    inside = Span(clause[opening].span.end, clause[closing].span.start)
    return parse_row_pattern(clause.text, inside)


def _read_partition_key(clause: ClauseTokens, start: int, end: int) -> nodes.PartitionKey:
    """Read an item of PARTITION BY: `expression` or `expression AS name`."""
    span = clause.span(start, end)
    mistakes.reject_key_without_name(clause, start, end)
    name = _read_name_after_as(clause, start, end, ClausePart.PARTITION_BY)
    if name is None:
        return nodes.PartitionKey(clause.cut_out(start, end), None, span)
    return nodes.PartitionKey(clause.cut_out(start, end - 2), name.name, span)


def _read_name_after_as(
    clause: ClauseTokens, start: int, end: int, part: ClausePart
) -> Token | None:
    """Return the name of an item that ends with `AS name`; None for other items.

    Args:
        clause: the tokens of the clause.
        start: the first token of the item.
        end: the token after the item.
        part: PARTITION BY or MEASURES.

    Raises:
        MatchRecognizeError: the name is a string.
    """
    if end - start < 3 or clause.key(end - 2) != "AS":
        return None
    name = clause[end - 1]
    if name.is_string_in_double_quotes:
        raise column_in_double_quotes(name.span, clause=part.value, text=name.text)
    if name.is_string:
        raise item_errors.string_as_name(
            name.span, what=mistakes.NAMED_ITEMS[part], clause=part.value, text=name.text
        )
    return name if name.is_name else None


def _read_sort_key(clause: ClauseTokens, start: int, end: int) -> nodes.SortKey:
    """Read an item of ORDER BY: `expression [ASC | DESC] [NULLS FIRST | NULLS LAST]`."""
    span = clause.span(start, end)
    expression_end = end
    nulls_first: bool | None = None
    if end - start > 2 and clause.key(end - 2) == "NULLS":
        nulls_first = {"FIRST": True, "LAST": False}.get(clause.key(end - 1))
    if nulls_first is not None:
        expression_end -= 2
    is_descending: bool | None = None
    if expression_end - start > 1:
        is_descending = {"ASC": False, "DESC": True}.get(clause.key(expression_end - 1))
    if is_descending is not None:
        expression_end -= 1
    mistakes.reject_malformed_direction(clause, (start, end), expression_end)
    expression = clause.cut_out(start, expression_end)
    return nodes.SortKey(expression, is_descending, nulls_first, span)


def _read_measure(clause: ClauseTokens, start: int, end: int) -> nodes.NamedExpression:
    """Read an item of MEASURES: `expression AS name` or `expression name`."""
    mistakes.reject_malformed_name(clause, start, end)
    name = _read_name_after_as(clause, start, end, ClausePart.MEASURES)
    expression_end = end - 2
    if name is None:
        name = clause[end - 1]
        expression_end = end - 1
        follows_expression = expression_end > start and clause.ends_expression(end - 2)
        can_be_name = name.is_name and name.key not in ("END", "NULL")
        if not (can_be_name and follows_expression):
            raise mistakes.explain_measure_without_name(clause, start, end)
    return nodes.NamedExpression(clause.cut_out(start, expression_end), name.name, name.span)


# The choices of ROWS PER MATCH, by their words.
_ROWS_PER_MATCH = {choice.value: choice for choice in CLAUSE_CHOICES}
_ROWS_PER_MATCH["ALL ROWS PER MATCH"] = RowsPerMatch.ALL_ROWS_SHOW_EMPTY

# The options for partial matches that may follow such a choice.
_PARTIAL_MATCHES = (
    PartialMatches(shows_timed_out=True),
    PartialMatches(shows_unfinished=True),
    PartialMatches(shows_timed_out=True, shows_unfinished=True),
)


def _join_keys(clause: ClauseTokens, start: int, end: int) -> str:
    """Return the keys of tokens `start .. end` with blanks between them."""
    return " ".join(clause.key(index) for index in range(start, end))


class _OutputRows(NamedTuple):
    """The part ROWS PER MATCH."""

    rows_per_match: RowsPerMatch
    # The option for partial matches; None if it is not written.
    partial: PartialMatches | None


def _read_rows_per_match(clause: ClauseTokens, section: Section) -> _OutputRows:
    """Read `ONE ROW PER MATCH` or another choice, and the option for partial matches after it."""
    keys = _join_keys(clause, section.start, section.end)
    rows_per_match = _ROWS_PER_MATCH.get(keys)
    if rows_per_match is not None:
        return _OutputRows(rows_per_match, None)
    for partial in _PARTIAL_MATCHES:
        rows_per_match = _ROWS_PER_MATCH.get(keys.removesuffix(f" {partial.words}"))
        if rows_per_match is not None:
            start = section.end - len(partial.words.split())
            span = clause.span(start, section.end)
            return _OutputRows(rows_per_match, replace(partial, span=span))
    part = clause.cut_out(section.start, section.end)
    raise malformed_rows_per_match(part.text, part.full_span)


# The choices of AFTER MATCH SKIP, by their words before the variable.
_SKIPS = {f"AFTER MATCH SKIP {skip_to.value}": skip_to for skip_to in SkipTo}
# `AFTER MATCH SKIP TO a` means TO LAST a.
_SKIPS["AFTER MATCH SKIP TO"] = SkipTo.LAST
_SKIPS_WITHOUT_VARIABLE = (SkipTo.NEXT_ROW, SkipTo.PAST_LAST_ROW)


def _read_after_match(clause: ClauseTokens, section: Section) -> AfterMatchSkip:
    """Read AFTER MATCH SKIP, which ends with a variable unless it goes to a row of the match."""
    start, end = section.start, section.end
    span = clause.span(start, end)
    skip_to = _SKIPS.get(_join_keys(clause, start, end))
    if skip_to in _SKIPS_WITHOUT_VARIABLE:
        return AfterMatchSkip(skip_to, None, span)
    variable = clause[end - 1]
    skip_to = _SKIPS.get(_join_keys(clause, start, end - 1))
    if skip_to is None or skip_to in _SKIPS_WITHOUT_VARIABLE or not variable.can_name:
        raise malformed_skip(span, text=clause.text_at(span))
    _reject_reserved_word(variable, "AFTER MATCH SKIP")
    return AfterMatchSkip(skip_to, variable.variable, variable.span)


_START_OF_FRAME = ("ROWS", "BETWEEN", "CURRENT", "ROW", "AND")


def _read_frame(clause: ClauseTokens, section: Section) -> nodes.FrameEnd:
    """Read the frame of a window, which must start at the current row.

    `ROWS BETWEEN CURRENT ROW AND end [EXCLUDE NO OTHERS]`

    Raises:
        MatchRecognizeError: the frame is another one, or is malformed.
    """
    span = clause.span(section.start, section.end)
    end = section.end
    if clause.has_keys(end - 3, "EXCLUDE", "NO", "OTHERS"):
        end -= 3
    excludes_rows = any(clause.key(index) == "EXCLUDE" for index in range(section.start, end))
    if clause.has_keys(section.start, *_START_OF_FRAME) and not excludes_rows:
        frame_end = _read_frame_end(clause, section.start + len(_START_OF_FRAME), end, span)
        if frame_end is not None:
            return frame_end
    raise window_errors.wrong_pattern_window_frame(span, text=clause.text_at(span))


def _read_frame_end(
    clause: ClauseTokens, start: int, end: int, frame: Span
) -> nodes.FrameEnd | None:
    """Read `UNBOUNDED FOLLOWING`, `CURRENT ROW` or `number FOLLOWING`; return None for others.

    The number may also be a parameter, or an expression of the row at which the frame starts.
    """
    keys = _join_keys(clause, start, end)
    if keys == "UNBOUNDED FOLLOWING":
        return nodes.FrameEnd(None, frame)
    if keys == "CURRENT ROW":
        return nodes.FrameEnd(0, frame)
    if end - start < 2 or clause.key(end - 1) != "FOLLOWING":
        return None
    number = clause.cut_out(start, end - 1)
    if number.text.isdecimal():
        # If the number is greater than any row number, the result of the call is None: no limit.
        return nodes.FrameEnd(read_whole_number(number.text), frame)
    if not _is_computed_from_one_row(number):
        return None
    return nodes.FrameEnd(read_parameter(number.tokens) or number, frame)


def _is_computed_from_one_row(expression: TokenSequence) -> bool:
    """Return whether an expression calls only functions with one result for each row.

    The other functions read several rows, as `sum` does, or may return a different value each time,
    as `rand` does.
    """
    indices = range(len(expression))
    calls = {expression.key(index) for index in indices if expression.is_call(index)}
    return calls.isdisjoint(CALLS_OVER_SEVERAL_ROWS | NONDETERMINISTIC)


def _read_subset(clause: ClauseTokens, start: int, end: int) -> Subset:
    """Read an item of SUBSET: `name = (variable, ...)`."""
    name = clause[start]
    if clause.has_keys(start + 1, "=", "(") and start + 2 not in clause.pairs:
        raise explain_unclosed_parenthesis(clause, start + 2)
    has_list = clause.has_keys(start + 1, "=", "(") and clause.pairs.get(start + 2) == end - 1
    members = _read_names(clause, start + 3, end - 1) if has_list else None
    if members is None or not name.can_name:
        raise mistakes.explain_malformed_subset(clause, start, end)
    for token in (name, *members):
        _reject_reserved_word(token, "SUBSET")
    variables = tuple(member.variable for member in members)
    return Subset(name.variable, variables, name.span, tuple(member.span for member in members))


def _read_names(clause: ClauseTokens, start: int, end: int) -> tuple[Token, ...] | None:
    """Return the names in a list with commas, tokens `start .. end`; None for other tokens."""
    names: list[Token] = []
    for item_start, item_end in clause.split_at_commas(start, end):
        if item_end - item_start != 1 or not clause.can_name(item_start):
            return None
        names.append(clause[item_start])
    return tuple(names)


def _read_definitions(
    clause: ClauseTokens, items: Sequence[TokenRange]
) -> Iterator[nodes.NamedExpression]:
    """Yield the definitions of DEFINE.

    `A, B AS condition` defines both variables: a name without a condition shares the condition of
    the next name.
    """
    names: list[Token] = []  # the names read since the last condition
    for start, end in items:
        is_name_alone = end - start == 1 and (start, end) != items[-1]
        has_condition = clause.key(start + 1) == "AS" and end - start > 2
        if not clause.can_name(start) or not (is_name_alone or has_condition):
            raise mistakes.explain_malformed_definition(clause, start, end)
        _reject_reserved_word(clause[start], "DEFINE")
        names.append(clause[start])
        if is_name_alone:
            continue
        mistakes.reject_second_definition(clause, start + 2, end)
        condition = clause.cut_out(start + 2, end)
        for name in names:
            yield nodes.NamedExpression(condition, name.variable, name.span)
        names.clear()


def _reject_reserved_word(name: Token, where: str) -> None:
    """Raise an error if a variable's name is a reserved word without quotes."""
    if name.kind is TokenKind.WORD and is_reserved(name.text):
        raise pattern_errors.reserved_word(name.variable, where, name.span)
