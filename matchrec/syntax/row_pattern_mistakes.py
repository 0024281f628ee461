"""Explain mistakes in the text of a row pattern.

    A**        two quantifiers      A{5,3}      bounds in the wrong order
    A THEN B   a reserved word      A{{2,3}}    braces that are doubled for an f-string
    A 3        a stray number       A(2, 3)     braces that an f-string has turned into parentheses

The functions get the tokens of the row pattern, which end with a token of kind END.
"""

from __future__ import annotations

import re

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import pattern as errors
from matchrec.errors.sql import pattern_symbols as symbol_errors
from matchrec.errors.wording import shorten
from matchrec.plan.words import is_reserved
from matchrec.source import Span
from matchrec.syntax.tokens import TokenKind, TokenSequence

# A variable with its quantifier at the end of a text, and at its start.
_VARIABLE = r"\b(?P<name>[^\W\d]\w*)(?:[*+?]\??|\{[\d, ]*\}\??)?"
_VARIABLE_BEFORE = re.compile(rf"{_VARIABLE}$")
_VARIABLE_AFTER = re.compile(_VARIABLE)


def check_quantifier_bounds(least: int, most: int | None, span: Span | None) -> None:
    """Raise an error if the lower bound of a quantifier is greater than the upper bound.

    `{0}` is allowed: such a part has no row.

    Args:
        least: the lower bound.
        most: the upper bound; None if there is none.
        span: the quantifier, at which the error points.
    """
    if most is not None and least > most:
        raise errors.bounds_reversed(span, least=least, most=most)


def explain_malformed_quantifier(
    tokens: TokenSequence, brace: int, unexpected: int
) -> MatchRecognizeError:
    """Return the error for a quantifier in braces.

    The error shows the text up to the next `}`; if there is none, up to the unexpected token.

    Args:
        tokens: the tokens of the row pattern.
        brace: the index of the `{`.
        unexpected: the index of the first token that cannot belong to the quantifier.
    """
    start = tokens[brace].span.start
    closing = tokens.text.find("}", start, tokens[-1].span.end)
    braces = Span(start, tokens[unexpected].span.end if closing == -1 else closing + 1)
    return errors.malformed_quantifier(braces, text=tokens.text_at(braces))


def reject_doubled_braces(tokens: TokenSequence, brace: int) -> None:
    """Raise an error for `{{3,5}}`, which users write in f-strings.

    Args:
        tokens: the tokens of the row pattern.
        brace: the index of a `{`. A second one may follow it.
    """
    if tokens.key(brace + 1) not in ("{", "{-"):
        return
    start = tokens[brace].span.start
    end = tokens.text.find("}}", start, tokens[-1].span.end)
    if end != -1:
        bounds = tokens.text[start + len("{{") : end]
        raise errors.doubled_braces(Span(start, end + len("}}")), bounds=bounds)


def reject_lost_braces(tokens: TokenSequence, part: int, part_end: int) -> None:
    """Raise an error for `(3,)` or `(3, 5)` after a part, tokens `part .. part_end`.

    A Python f-string turns `{3,}` and `{3, 5}` into these.
    """
    shape = [
        "number" if token.kind is TokenKind.NUMBER else token.key
        for token in tokens.tokens[part_end : part_end + 5]
    ]
    if shape[:4] == ["(", "number", ",", ")"]:
        end = part_end + 4
    elif shape == ["(", "number", ",", "number", ")"]:
        end = part_end + 5
    else:
        return
    span = tokens.span(part_end, end)
    parenthesized = tokens.text_at(span)
    bounds = parenthesized[1:-1].replace(" ", "")
    raise errors.braces_lost_in_pattern(
        span,
        parenthesized=parenthesized,
        part=tokens.text_at(tokens.span(part, part_end)),
        braced=f"{{{bounds}}}",
    )


def explain_two_quantifiers(
    tokens: TokenSequence, first: int, second: int, end: int
) -> MatchRecognizeError:
    """Return the error for two quantifiers after a part: tokens `first .. second .. end`."""
    first_span = tokens.span(first, second)
    second_span = tokens.span(second, end)
    return errors.two_quantifiers(
        first_span.to(second_span),
        part=_find_part_before(tokens, first),
        first=tokens.text_at(first_span),
        second=tokens.text_at(second_span),
    )


def _find_part_before(tokens: TokenSequence, end: int) -> str:
    """Return the text of the part before the token at `end`, for messages.

    For an exclusion, the result is "A", as an example.
    """
    start = end - 1
    if tokens.key(start) == ")":
        depth = 1
        while depth > 0 and start > 0:
            start -= 1
            depth += {")": 1, "(": -1}.get(tokens.key(start), 0)
        if tokens.key(start - 1) == "PERMUTE":
            start -= 1
    elif not tokens[start].can_name:
        return "A"
    return shorten(tokens.text_at(tokens.span(start, end)))


def explain_stray_token(tokens: TokenSequence, index: int) -> MatchRecognizeError:
    """Return the error for a number or a symbol that is neither a part nor belongs to one."""
    token = tokens[index]
    if token.kind is TokenKind.NUMBER:
        return symbol_errors.stray_number(token.span, text=token.text)
    # In `{- A }`, the `}` is meant for the exclusion.
    exclusion = re.search(r"\{-(?P<inside>[^{}]*)$", tokens.text[: token.span.start])
    if token.text == "}" and exclusion is not None:
        return symbol_errors.unclosed_exclusion(token.span, inside=exclusion["inside"].strip())
    return symbol_errors.stray_character(token.span, text=token.text)


def explain_reserved_word(tokens: TokenSequence, index: int) -> MatchRecognizeError:
    """Return the error for a reserved word without quotes where a variable belongs.

    The error repeats the variables next to the word, because `A THEN B` and `A AND B` are usually
    meant as `A B`.
    """
    word = tokens[index]
    span = word.span
    if word.key == "BY" and tokens.key(index - 1) == "FOLLOWED":
        span = tokens[index - 1].span.to(span)
    before = tokens.text_at(Span(tokens[0].span.start, span.start)).rstrip()
    after = tokens.text_at(Span(span.end, tokens[-1].span.start)).lstrip()
    return symbol_errors.reserved_word_in_pattern(
        word.key,
        span,
        before=_read_variable(_VARIABLE_BEFORE.search(before)),
        after=_read_variable(_VARIABLE_AFTER.match(after)),
    )


def _read_variable(variable: re.Match[str] | None) -> str:
    """Return the text of a variable with its quantifier; "" if it is None or a reserved word."""
    return "" if variable is None or is_reserved(variable["name"]) else variable[0]
