"""Divide the tokens of a clause into sections, one for each of its parts.

No keyword of the clause is reserved: `pattern`, `define`, `within` and `measures` can also name
columns and measures. So the tokens before and after such a word decide whether it is a keyword.

    ORDER BY ts  MEASURES A.x AS measures  PATTERN (A B+) ALL MATCHES  DEFINE B AS x > 1

has the sections `ts`, `A.x AS measures`, `(A B+) ALL MATCHES` and `B AS x > 1`.

`find_sections` does this in three steps:

1. Find the first word of each part (`_find_part_starts`).
2. Raise an error if parts are in the wrong order (`_check_order`).
3. Make a section of the tokens from each start to the next, and check that PATTERN is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from matchrec.errors import MatchRecognizeError
from matchrec.errors.misspellings import find_keyword
from matchrec.errors.misspelt_keywords import misspelt_keyword
from matchrec.errors.sql import clause as errors
from matchrec.errors.sql import window as window_errors
from matchrec.errors.sql.query import reject_other_language
from matchrec.errors.sql.tokens import missing_by
from matchrec.plan.clauses import EventSelection, FirstMatches, MatchOutput
from matchrec.source import Span
from matchrec.syntax.amounts import make_first_matches
from matchrec.syntax.clause_parts import ClausePart, find_definite_part
from matchrec.syntax.clause_tokens import ClauseTokens
from matchrec.syntax.durations import is_distance
from matchrec.syntax.item_mistakes import NAMED_ITEMS, explain_missing_name
from matchrec.syntax.misplaced_patterns import (
    explain_missing_parentheses,
    explain_unclosed_parenthesis,
)
from matchrec.syntax.parameter_values import read_parameter
from matchrec.syntax.token_checks import reject_unquoted_characters
from matchrec.syntax.tokens import Cursor

_PARTS_IN_ORDER = tuple(ClausePart)
_PARTS_OF_ONE_WORD = (ClausePart.MEASURES, ClausePart.WITHIN, ClausePart.SUBSET, ClausePart.DEFINE)
KEY_PARTS = (ClausePart.PARTITION_BY, ClausePart.ORDER_BY)
# How many words the keyword of a part has; 1 for parts that are not listed.
_KEYWORD_LENGTHS = {
    ClausePart.PARTITION_BY: 2,
    ClausePart.ORDER_BY: 2,
    ClausePart.ROWS_PER_MATCH: 4,
    ClausePart.AFTER_MATCH: 3,
}
# The parts whose section includes the keyword, because it is read together with the words after it.
_PARTS_WITH_KEYWORD = (
    ClausePart.FRAME,
    ClausePart.SEARCH,
    ClausePart.ROWS_PER_MATCH,
    ClausePart.AFTER_MATCH,
)
_PARTS_AFTER_PATTERN = (ClausePart.WITHIN, ClausePart.SUBSET, ClausePart.DEFINE)
UNITS_OF_FRAMES = ("ROWS", "RANGE", "GROUPS")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a clause: its keyword and its content, which is tokens `start .. end`.

    For the parts in `_PARTS_WITH_KEYWORD`, the content includes the keyword.
    """

    # Where the keyword is in the whole query.
    keyword: Span
    # The first token of the content.
    start: int
    # The token after the content.
    end: int


class PartStart(NamedTuple):
    """A part of a clause, and where it starts."""

    part: ClausePart
    # The index of the first word of its keyword.
    first_word: int


def find_sections(clause: ClauseTokens) -> dict[ClausePart, Section]:
    """Return the sections of a clause, in the order of the text.

    Raises:
        MatchRecognizeError: the clause is empty or does not start with a part, parts are in the
            wrong order, PATTERN is missing, or a window has no frame.
    """
    if not clause.tokens:
        raise errors.empty_clause(clause.inside, clause.text)
    reject_unquoted_characters(clause, "MATCH_RECOGNIZE")
    starts = tuple(_find_part_starts(clause))
    if not starts or starts[0].first_word != 0:
        raise _explain_first_word(clause, starts[0].first_word if starts else len(clause))
    _check_order(clause, starts)
    ends = [following.first_word for following in starts[1:]] + [len(clause)]
    sections: dict[ClausePart, Section] = {}
    for (part, first_word), end in zip(starts, ends, strict=True):
        content_start = first_word
        if part not in _PARTS_WITH_KEYWORD:
            content_start += _KEYWORD_LENGTHS.get(part, 1)
        sections[part] = Section(_find_keyword(clause, part, first_word), content_start, end)
    if ClausePart.PATTERN not in sections:
        _reject_missing_pattern(clause, sections)
    if clause.is_in_window and ClausePart.FRAME not in sections:
        raise window_errors.pattern_window_without_frame(sections[ClausePart.PATTERN].keyword)
    return sections


def _explain_first_word(clause: ClauseTokens, end: int) -> MatchRecognizeError:
    """Return the error for a clause that does not start with a part.

    Args:
        clause: the tokens of the clause.
        end: the first token of the first part.

    Raises:
        MatchRecognizeError: the clause is in a pattern language other than SQL.
    """
    first = clause[0]
    if first.key == "PATTERN":
        return explain_missing_parentheses(clause, 0)
    start = first.span.start
    reject_other_language(clause.text[start - clause.offset :], start)
    without_by = missing_by(
        clause.text_at(clause.span(0, end)), first.span, where="MATCH_RECOGNIZE"
    )
    return without_by or errors.unexpected_first_word(first.text, first.span)


def _find_keyword(clause: ClauseTokens, part: ClausePart, index: int) -> Span:
    """Return the span of the keyword of a part that starts at `index`."""
    end = index + _KEYWORD_LENGTHS.get(part, 1)
    return clause.span(index, min(end, len(clause)))


def _find_part_starts(clause: ClauseTokens) -> Iterator[PartStart]:
    """Yield where each part starts, from left to right. Tokens in brackets are skipped.

    Raises:
        MatchRecognizeError: the parenthesis of PATTERN is not closed.
    """
    pattern_end: int | None = None  # the last token of PATTERN and its options
    content_start: int | None = None  # the token after the keyword of the last part
    for index in clause.walk_level(0, len(clause)):
        part = _recognize_part(clause, index, pattern_end)
        if part in _PARTS_OF_ONE_WORD:
            # Right after the keyword of another part, the word names a column: `ORDER BY measures`.
            # Only DEFINE can still be a keyword, in `DEFINE A AS`.
            certain_part = find_definite_part(clause, index)
            is_column = index == content_start and certain_part is not ClausePart.DEFINE
            if is_column or _is_variable(clause, index):
                part = None
        if part is not None:
            yield PartStart(part, index)
            content_start = index + (2 if part in KEY_PARTS else 1)
        if part is ClausePart.PATTERN:
            closing = clause.pairs.get(index + 1, -1)
            if closing < 0:
                raise explain_unclosed_parenthesis(clause, index + 1)
            pattern_end = read_words_after_pattern(clause, closing).end - 1


class WordsAfterPattern(NamedTuple):
    """The options between PATTERN (...) and the next part; an option is None if not written."""

    # Such as `SKIP TILL NEXT MATCH`.
    selection: EventSelection | None
    # Such as `ALL MATCHES`.
    output: MatchOutput | None
    # Such as `FIRST 3 MATCHES`.
    first_matches: FirstMatches | None
    # The token after the options.
    end: int


def read_words_after_pattern(clause: ClauseTokens, closing: int) -> WordsAfterPattern:
    """Read the options after PATTERN, whose parenthesis closes at `closing`.

    Their order is fixed: `SKIP TILL NEXT MATCH ALL MATCHES FIRST 3 MATCHES`.
    """
    cursor = Cursor(clause)
    cursor.position = closing + 1
    selection = _accept_option(cursor, tuple(EventSelection))
    output = _accept_option(cursor, _OUTPUTS)
    first_matches = _accept_first_matches(cursor)
    return WordsAfterPattern(selection, output, first_matches, cursor.position)


# The outputs of matches that can be written after PATTERN.
_OUTPUTS = (MatchOutput.ALL, MatchOutput.NON_OVERLAPPING, MatchOutput.LONGEST)
ClauseOption = TypeVar("ClauseOption", EventSelection, MatchOutput)


def _accept_option(cursor: Cursor, options: Sequence[ClauseOption]) -> ClauseOption | None:
    """Read the option whose words come next; return None, and read nothing, for other words."""
    for option in options:
        words = option.value.replace("-", " - ").split()  # NON-OVERLAPPING is three tokens
        if cursor.accept(*words):
            return option
    return None


def _accept_first_matches(cursor: Cursor) -> FirstMatches | None:
    """Read `FIRST k MATCHES` if it comes next; return None, and read nothing, for other words.

    Raises:
        MatchRecognizeError: k is neither a parameter nor a positive number.
    """
    start = cursor.position
    is_named_parameter = cursor.key_at(start + 1) == ":"  # `:k` is two tokens
    end = start + (4 if is_named_parameter else 3)
    if cursor.key != "FIRST" or cursor.key_at(end - 1) not in ("MATCHES", "MATCH"):
        return None
    cursor.position = end
    span = cursor.sequence.span(start, end)
    parameter = read_parameter(cursor.tokens[start + 1 : end - 1])
    if parameter is not None:
        return FirstMatches(0, span, parameter)
    return make_first_matches(cursor.tokens[end - 2].text, span)


def _recognize_part(clause: ClauseTokens, index: int, pattern_end: int | None) -> ClausePart | None:
    """Return the part whose keyword seems to be at `index`, or None.

    `_find_part_starts` must still check whether a keyword of one word names a column or a variable.

    Args:
        clause: the tokens of the clause.
        index: the index of a token in no brackets.
        pattern_end: the index of the last token of PATTERN and its options; None if PATTERN is not
            before `index`.
    """
    if clause.key(index - 1) in (".", "AS"):
        return None
    is_at_start_of_part = index == 0 or index - 1 == pattern_end
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
        case "WITHIN", _ if is_at_start_of_part or is_distance(clause, index + 1):
            return ClausePart.WITHIN
        case "WITHIN", "" if clause.ends_expression(index - 1) and not clause.can_name(index + 1):
            return ClausePart.WITHIN
        case "SUBSET", _ if _starts_subset_or_define(clause, index, pattern_end, "="):
            return ClausePart.SUBSET
        case "DEFINE", _ if _starts_subset_or_define(clause, index, pattern_end, "AS"):
            return ClausePart.DEFINE
    return None


def _is_variable(clause: ClauseTokens, index: int) -> bool:
    """Return whether a variable of AFTER MATCH SKIP or of WITHIN is at `index`.

    `SKIP TO v`, `SKIP TO FIRST v`, `WITHIN ... FROM v TO w`
    """
    before = clause.key(index - 1)
    skip = index - 3 if before in ("FIRST", "LAST") else index - 2
    is_skip_target = clause.has_keys(skip, "SKIP", "TO")
    is_within_start = before == "FROM" and clause.key(index + 1) == "TO"
    is_within_end = before == "TO" and clause.key(index - 3) == "FROM"
    return is_skip_target or is_within_start or is_within_end


def _starts_frame(clause: ClauseTokens, index: int) -> bool:
    """Return whether a unit of frames at `index` starts the frame of a window.

    The word can also name a column, as in `ORDER BY rows` or `rows BETWEEN 1 AND 2`.
    """
    if not clause.is_in_window or clause.key(index - 1) in ("BY", ","):
        return False
    bound = index + 1
    if clause.key(bound) == "BETWEEN":
        bound += 1
    has_direction = clause.key(bound + 1) in ("PRECEDING", "FOLLOWING")
    return has_direction or clause.key(bound) in ("CURRENT", "UNBOUNDED")


def _starts_measures(clause: ClauseTokens, index: int) -> bool:
    """Return whether MEASURES at `index` starts the part, and does not name a column.

    The word starts the part if an expression ends before it and another one starts after it. After
    a comma, the word starts the part if an expression of two or more words follows; then the comma
    is superfluous.
    """
    if clause.key(index - 1) == ",":
        has_two_words = clause.can_name(index + 1) and clause.key(index + 2) in ("(", ".", "AS")
        return has_two_words and clause.key(index + 1) not in ("PATTERN", "AS")
    is_followed = index + 1 < len(clause) and clause.key(index + 1) not in (",", ")")
    return clause.ends_expression(index - 1) and is_followed


def _starts_subset_or_define(
    clause: ClauseTokens, index: int, pattern_end: int | None, sign: str
) -> bool:
    """Return whether SUBSET or DEFINE at `index` starts the part, and does not name a column.

    The word starts the part

    - if a name and `sign` follow, as in `SUBSET U =` and `DEFINE A AS`,
    - at the start of the clause, and right after PATTERN and its options,
    - anywhere after PATTERN in `DEFINE A, B AS`, or after a `)`.

    Args:
        clause: the tokens of the clause.
        index: the index of SUBSET or DEFINE.
        pattern_end: see `_recognize_part`.
        sign: the token after each name of the part: `=` in SUBSET, AS in DEFINE.
    """
    is_after_pattern = pattern_end is not None
    name = index + 1
    while is_after_pattern and clause.can_name(name) and clause.key(name + 1) == ",":
        name += 2  # a name and a comma
    if clause.can_name(name) and clause.key(name + 1) == sign:
        return True
    if index == 0 or index - 1 == pattern_end:
        return True
    return is_after_pattern and clause.key(index - 1) == ")"


def _check_order(clause: ClauseTokens, starts: Sequence[PartStart]) -> None:
    """Raise an error for the first part that is repeated, or that comes after a part of later rank.

    Args:
        clause: the tokens of the clause.
        starts: where the parts start, from left to right.
    """
    names = {part: _name_part(clause, part, index) for part, index in starts}
    keywords: dict[ClausePart, Span] = {}  # the keywords of the parts so far
    for part, index in starts:
        keyword = _find_keyword(clause, part, index)
        if part is ClausePart.ROWS_PER_MATCH and clause.is_in_window:
            raise window_errors.part_not_allowed_in_window(keyword, what=names[part])
        if part in keywords:
            raise errors.duplicate_part(keywords[part], keyword, part=part.value)
        rank = _PARTS_IN_ORDER.index(part)
        for other in keywords:
            if _PARTS_IN_ORDER.index(other) > rank:
                right_order = [names[ordered] for ordered in _PARTS_IN_ORDER if ordered in names]
                raise errors.part_out_of_order(
                    keyword, earlier=names[part], later=names[other], order=right_order
                )
        keywords[part] = keyword


def _name_part(clause: ClauseTokens, part: ClausePart, index: int) -> str:
    """Return the name that messages use for a part that starts at `index`."""
    if part is ClausePart.ROWS_PER_MATCH:
        rows = "ONE ROW" if clause.key(index) == "ONE" else "ALL ROWS"
        return f"{rows} PER MATCH"
    if part is ClausePart.SEARCH:
        return clause.key(index)
    return str(part.value)


def _reject_missing_pattern(clause: ClauseTokens, sections: dict[ClausePart, Section]) -> None:
    """Raise the error for a clause without PATTERN, or with a misspelt one.

    In `MEASURES A.x AS PATTERN (A B)`, the name of the measure is missing instead.
    """
    for index, token in enumerate(clause.tokens):
        if clause.has_keys(index - 1, "AS", "PATTERN", "("):
            _reject_missing_name(clause, sections, index - 1)
        if token.key == "PATTERN" and clause.ends_expression(index - 1):
            raise explain_missing_parentheses(clause, index)
        is_misspelt = token.key != "PATTERN" and find_keyword(token.key) == "PATTERN"
        if is_misspelt and clause.key(index + 1) == "(":
            raise misspelt_keyword(
                token.span, text=token.text, keyword="PATTERN", where="MATCH_RECOGNIZE"
            )
    for part, section in sections.items():
        if part in _PARTS_AFTER_PATTERN:
            raise errors.missing_pattern(section.keyword)
    closing = Span(clause.inside.end, clause.inside.end + 1)
    has_closing = closing.end <= len(clause.text)
    raise errors.missing_pattern(closing if has_closing else clause[-1].span)


def _reject_missing_name(
    clause: ClauseTokens, sections: dict[ClausePart, Section], as_index: int
) -> None:
    """Raise an error for an AS without a name if it is in PARTITION BY or MEASURES."""
    for part, section in sections.items():
        if part in NAMED_ITEMS and section.start < as_index < section.end:
            start, _ = clause.split_at_commas(section.start, as_index)[-1]
            raise explain_missing_name(clause, start, as_index, part)
