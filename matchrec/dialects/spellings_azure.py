"""Rewrite the spellings of Azure Stream Analytics in a clause and before it.

    LIMIT DURATION (minute, 5)       PATTERN (...) WITHIN INTERVAL '5' MINUTE
    FROM input TIMESTAMP BY time     FROM input, with ORDER BY time in the clause
    PATTERN (A .* B)                 PATTERN (A ANY_ROW* B)
    PATTERN ([A] B)                  PATTERN (A B)

Source: Azure Stream Analytics' page "MATCH_RECOGNIZE".
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from matchrec.dialects.edits import Edit, insert_part, remove_part
from matchrec.dialects.product_options import ProductOption, find_option_end
from matchrec.dialects.rules.times import normalize_unit
from matchrec.errors.sql import products as errors
from matchrec.syntax.clause_locations import ClauseLocation
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.clause_tokens import ClauseTokens
from matchrec.syntax.sections import find_sections
from matchrec.syntax.tokens import TokenKind, TokenSequence

# The units of LIMIT DURATION.
_DURATION_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")


def read_duration(clause: ClauseTokens, index: int) -> ProductOption:
    """Read `LIMIT DURATION (minute, 5)`, in which LIMIT is at `index`.

    Raises:
        MatchRecognizeError: the option has another form than in this example, or is not closed.
    """
    opening = index + 2
    if clause.key(opening) != "(":
        raise errors.malformed_limit_duration(clause.span(index, opening))
    closing = find_option_end(clause, opening)
    span = clause.span(index, closing + 1)
    match [token.text for token in clause.tokens[opening + 1 : closing]]:
        case [name, ",", amount] if amount.isdigit():
            unit = normalize_unit(name)
            if unit in _DURATION_UNITS:
                return ProductOption(span, f"WITHIN INTERVAL '{amount}' {unit}")
    raise errors.malformed_limit_duration(span)


def find_timestamp_by(tokens: TokenSequence, location: ClauseLocation) -> int | None:
    """Return the index of TIMESTAMP BY after the relation of a clause; None if there is none.

    Raises:
        MatchRecognizeError: the relation has PARTITION BY, which belongs into the clause.
    """
    opening = tokens.enclosing_openings[location.word]
    relation = list(tokens.walk_level(opening + 1, location.word))
    keywords = [index for index in relation if tokens.key(index) in ("FROM", "JOIN")]
    if keywords:
        relation = [index for index in relation if index > keywords[-1]]
    for index in relation:
        if tokens.has_keys(index, "PARTITION", "BY"):
            raise errors.partition_by_after_input(tokens.span(index, index + 2))
    for index in relation:
        if tokens.has_keys(index, "TIMESTAMP", "BY"):
            return index
    return None


def move_timestamp_by(
    tokens: TokenSequence, timestamp_by: int, location: ClauseLocation, clause: ClauseTokens
) -> Iterator[Edit]:
    """Yield the edits that turn TIMESTAMP BY after a relation into ORDER BY in the clause.

        FROM input TIMESTAMP BY time OVER id MATCH_RECOGNIZE (LIMIT DURATION ...)
        FROM input MATCH_RECOGNIZE (ORDER BY time LIMIT DURATION ...)

    The keys of OVER must be keys of PARTITION BY. Then OVER can be left out.

    Args:
        tokens: the tokens of the query.
        timestamp_by: the index of TIMESTAMP BY.
        location: where the clause is.
        clause: the tokens of the clause.

    Raises:
        MatchRecognizeError: OVER has a key that does not divide the rows of the clause.
    """
    over = location.word  # where the time ends if there is no OVER
    for index in tokens.walk_level(timestamp_by + 2, location.word):
        if tokens.key(index) == "OVER":
            over = index
            break
    sections = find_sections(clause)
    partition_by = sections.get(ClausePart.PARTITION_BY)
    partition_keys = set()
    if partition_by:
        for key in clause.split_at_commas(partition_by.start, partition_by.end):
            partition_keys.add(clause.text_at(clause.span(*key)).upper())
    if over < location.word:
        for key in tokens.split_at_commas(over + 1, location.word):
            span = tokens.span(*key)
            if tokens.text_at(span).upper() not in partition_keys:
                raise errors.timestamp_over_other_key(span, key=tokens.text_at(span))
    time_span = tokens.span(timestamp_by + 2, over)
    # ORDER BY comes before all other sections, except PARTITION BY.
    start = min(
        section.keyword.start for section in sections.values() if section is not partition_by
    )
    yield remove_part(tokens.text, tokens.span(timestamp_by, location.word))
    yield insert_part(tokens.text, start, f"ORDER BY {tokens.text_at(time_span)}", time_span)


def reject_other_timestamp_by(tokens: TokenSequence, moved_timestamps: Set[int]) -> None:
    """Raise an error for a TIMESTAMP BY that does not belong to a clause.

    Args:
        tokens: the tokens of the query.
        moved_timestamps: the indices of the TIMESTAMP BYs that belong to clauses.

    Raises:
        MatchRecognizeError: a TIMESTAMP BY does not belong to a clause.
    """
    for index in range(len(tokens)):
        if tokens.has_keys(index, "TIMESTAMP", "BY") and index not in moved_timestamps:
            raise errors.misplaced_timestamp_by(tokens.span(index, index + 2))


def name_any_rows(clause: ClauseTokens, start: int, end: int) -> Iterator[Edit]:
    """Yield the edits that write a variable without a condition for each `.` of a pattern.

    Args:
        clause: the tokens of the clause.
        start: the index of the first token of the pattern.
        end: the index after its last token.

    Raises:
        MatchRecognizeError: the clause calls CLASSIFIER, which could return the new name.
    """
    dots = [token.span for token in clause.tokens[start:end] if token.key == "."]
    if not dots:
        return
    keys = {token.key for token in clause.tokens}
    if "CLASSIFIER" in keys:
        raise errors.any_row_without_name(dots[0])
    name = "ANY_ROW"
    while name in keys:
        name += "_"
    for span in dots:
        yield Edit(span, f" {name} ")


def unbracket_names(clause: ClauseTokens, start: int, end: int) -> Iterator[Edit]:
    """Yield the edits that write `[A]` without brackets, if A is a variable.

    The lexer of PATTERN does not know names in brackets.

    Args:
        clause: the tokens of the clause.
        start: the index of the first token of the pattern.
        end: the index after its last token.
    """
    names = {token.name.upper() for token in clause.tokens[start:end]}
    for token in clause.tokens:
        is_bracketed = token.kind is TokenKind.QUOTED and clause.text_at(token.span)[0] == "["
        if is_bracketed and token.name.upper() in names:
            yield Edit(token.span, token.name if token.name.isidentifier() else f'"{token.name}"')
