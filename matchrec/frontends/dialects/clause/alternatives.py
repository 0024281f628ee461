"""Alternatives of several parts in PATTERN, as Snowflake may divide them otherwise.

PATTERN (A B | C)    everywhere (A B) | C; by Snowflake's page A (B | C)

Source: Snowflake's page "MATCH_RECOGNIZE": "The alternative operator has precedence over the
concatenation operator."
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from matchrec.dataclass import dataclass
from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.dialects.notes import Note
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.lexing.tokens import Token, TokenKind
from matchrec.frontends.row_pattern.lexer import pattern_tokens
from matchrec.source import Span

_OPENING, _CLOSING = ("(", "{-"), (")", "-}")
_QUANTIFIERS = ("*", "+", "?")


@dataclass(slots=True)
class _Alternative:
    """What stands between two `|`. parts: how many things follow each other."""

    tokens: list[Token] = field(default_factory=list)
    parts: int = 0

    @property
    def span(self) -> Span:
        return self.tokens[0].span.to(self.tokens[-1].span)


def alternative_notes(text: str, pattern: Span, read: Product, write: Product) -> Iterator[Note]:
    """Where an alternative of a query may be another one there."""
    if not read.divides_sequences or write.divides_sequences:
        return
    message = (
        f"`A B | C` is `A (B | C)` by the page of {read.title}, and `(A B) | C` in {write.title}: "
        "write the parentheses"
    )
    yield from (Note(message, span) for span in _of_several_parts(text, _inside(pattern)))


def alternative_edits(text: str, pattern: Span, read: Product, write: Product) -> Iterator[Edit]:
    """Parentheses around alternatives that would be others without them."""
    if read.divides_sequences or not write.divides_sequences:
        return
    for span in _of_several_parts(text, _inside(pattern)):
        yield Edit(Span(span.start, span.start), "(")
        yield Edit(Span(span.end, span.end), ")")


def _inside(pattern: Span) -> Span:
    return Span(pattern.start + 1, pattern.end - 1)


def _of_several_parts(text: str, span: Span) -> Iterator[Span]:
    """The alternatives that are several parts, without parentheses around them."""
    levels = [[_Alternative()]]
    for token in _without_bounds(pattern_tokens(text, span)):
        if token.key in _CLOSING or token.key == "," or token.kind is TokenKind.END:
            yield from _divided(levels.pop())
        if token.key in _CLOSING:
            levels[-1][-1].tokens.append(token)
        elif token.key == ",":
            levels.append([_Alternative()])
        elif token.key == "|":
            levels[-1].append(_Alternative())
        elif token.kind is not TokenKind.END:
            _put(levels, token)


def _put(levels: list[list[_Alternative]], token: Token) -> None:
    """A token that ends no alternative."""
    here = levels[-1][-1]
    is_permute = bool(here.tokens) and here.tokens[-1].key == "PERMUTE"
    is_part = token.key not in _QUANTIFIERS and not (is_permute and token.key == "(")
    here.parts += is_part
    here.tokens.append(token)
    if token.key in _OPENING:
        levels.append([_Alternative()])


def _divided(level: list[_Alternative]) -> Iterator[Span]:
    if len(level) > 1:
        yield from (one.span for one in level if one.parts > 1)


def _without_bounds(tokens: tuple[Token, ...]) -> Iterator[Token]:
    """The tokens without the bounds of quantifiers, of which only the last brace is left."""
    is_bound = False
    for token in tokens:
        is_bound = is_bound or token.key == "{"
        if not is_bound:
            yield token
        if is_bound and token.key == "}":
            is_bound = False
            yield Token(TokenKind.SYMBOL, "+", token.span)
