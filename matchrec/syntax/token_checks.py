"""Check the tokens of a text for common mistakes before a rule of the grammar reads them.

    price > 1)              a bracket without a counterpart
    price > 1 → 2           a character that SQL allows only in quotes
    day > 2026-01-01        a date without quotes
    A.x AS a, , A.y AS b    an empty item of a list

All functions name the part of the query in their errors: the argument `where`.
"""

from __future__ import annotations

import re

from matchrec.errors.sql import incomplete as errors
from matchrec.errors.sql.clause import extra_comma
from matchrec.errors.sql.token_advice import TokenInText
from matchrec.errors.sql.tokens import strange_sign, unexpected_token
from matchrec.source import Span
from matchrec.syntax.tokens import (
    CLOSING,
    OPENING,
    Token,
    TokenKind,
    TokenRange,
    TokenSequence,
    split_words,
)

# Signs right before a number that make the number part of a longer calculation.
_ARITHMETIC_SIGNS = split_words("- + * / %")


def reject_unquoted_characters(sequence: TokenSequence, where: str) -> None:
    """Raise an error for a character that SQL allows only in quotes, such as `→`.

    Args:
        sequence: the tokens to check.
        where: the part of the clause, for messages.

    Raises:
        MatchRecognizeParseError: there is such a character.
    """
    if sequence.text.isascii():
        return
    for token in sequence.tokens:
        if token.needs_quotes:
            raise strange_sign(token.text, where, token.span)


def split_items(sequence: TokenSequence, inside: TokenRange, where: str) -> tuple[TokenRange, ...]:
    """Return the ranges of tokens between the commas of a list.

    Args:
        sequence: the tokens of the text.
        inside: the range of the whole list.
        where: the part of the clause, for messages.

    Raises:
        MatchRecognizeParseError: an item of the list is empty.
    """
    items = sequence.split_at_commas(*inside)
    for start, end in items:
        if start == end:
            comma = end if end < inside[1] else end - 1
            raise extra_comma(sequence[comma].span, part=where)
    return items


_BRACKETS = CLOSING | OPENING.keys()


def check_brackets(sequence: TokenSequence, where: str) -> None:
    """Check that an expression has tokens, and that their brackets pair up.

    Args:
        sequence: the tokens of the expression.
        where: the part of the clause, for messages.

    Raises:
        MatchRecognizeParseError: there are no tokens, a bracket has no counterpart, or a character
            is allowed only in quotes.
    """
    if not sequence.tokens:
        span = Span(sequence.offset, max(sequence.offset + 1, sequence.full_span.end))
        raise errors.missing_expression(span, where=where)
    reject_unquoted_characters(sequence, where)
    paired = {*sequence.pairs, *sequence.pairs.values()}
    unclosed: list[Token] = []
    for index, token in enumerate(sequence.tokens):
        if index in paired or token.key not in _BRACKETS:
            continue
        if token.key in OPENING:
            unclosed.append(token)
            continue
        could_be_closed = any(OPENING[opening.key] == token.key for opening in unclosed)
        if not could_be_closed:
            misplaced = TokenInText(token.text, where, *sequence.split_at(token.span))
            raise unexpected_token(misplaced, token.span)
        break  # A bracket before this token is not closed: the innermost one is the error.
    if unclosed:
        opening = unclosed[-1]
        raise errors.unclosed_bracket_in_expression(
            opening.span,
            opening=opening.text,
            where=where,
            before=_find_keyword_after(sequence, opening),
        )


# The words that end the part of the query before them, if they are not in a cast.
_WORDS_AFTER_PART = re.compile(r"(?i)\b(?:WHERE|WITHIN|RETURN|AS)\b")


def _find_keyword_after(sequence: TokenSequence, opening: Token) -> str:
    """Return the first word after a bracket that must come after its end; "" if there is none."""
    before, after = sequence.split_at(opening.span)
    word = _WORDS_AFTER_PART.search(after)
    is_cast = re.search(r"(?i)CAST\s*$", before) is not None
    return "" if word is None or is_cast else word[0]


# The most characters of a date with a time of day, and the characters before and after it.
_LONGEST_DATE = 32


def reject_unquoted_dates(sequence: TokenSequence, where: str) -> None:
    """Raise an error for a date without quotes: in SQL, `2026-01-01` is the number 2024.

    A subtraction with blanks, `2026 - 01 - 01`, is not rejected.

    Args:
        sequence: the tokens of an expression.
        where: the part of the clause, as in messages.
    """
    for index, token in enumerate(sequence.tokens):
        if token.kind is not TokenKind.NUMBER or not token.text.isdecimal():
            continue
        start = token.span.start
        follows_sign = sequence.key(index - 1) in _ARITHMETIC_SIGNS
        if follows_sign and sequence[index - 1].span.end == start:
            continue
        date = errors.find_unquoted_date(sequence.text_at(Span(start, start + _LONGEST_DATE)))
        if date:
            before = sequence.key(index - 1)
            raise errors.date_without_quotes(
                Span(start, start + len(date)),
                text=date,
                where=where,
                type_name=before if before in ("DATE", "TIMESTAMP") else "",
            )
