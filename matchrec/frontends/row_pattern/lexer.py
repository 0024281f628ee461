"""The lexer of PATTERN text, whose `??`, `||`, `{-` and `$` mean other things to SQL's lexer."""

from __future__ import annotations

import re

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import pattern as errors
from matchrec.frontends.lexing.tokens import Token, TokenKind
from matchrec.source import Span

_TOKEN = re.compile(
    r"""
    (?P<blank>   \s+ | --[^\n]* )
  | (?P<comment> /\* )
  | (?P<trap>    \{-- )
  | (?P<bound>   \{-?\s*[0-9]+\.[0-9]*[^}]*\}? | \{-\s*[0-9][^}]*\}? )
  | (?P<symbol>  \{- | -\} | [()|*+?{},^$:@] )
  | (?P<number>  [0-9]+ )
  | (?P<name>    [^\W\d]\w* )
  | (?P<quoted>  `(?:[^`]|``)*` | "(?:[^"]|"")*" )
    """,
    re.VERBOSE,
)
_COMMENT_MARK = re.compile(r"/\*|\*/")


def pattern_tokens(text: str, span: Span) -> tuple[Token, ...]:
    """The tokens of a row pattern and an END token after them, comments left out.

    >>> [token.text for token in pattern_tokens("a?? {-b-}||$", Span(0, 12))]
    ['a', '?', '?', '{-', 'b', '-}', '|', '|', '$', '']
    """
    tokens = []
    position = span.start
    while position < span.end:
        match = _TOKEN.match(text, position, span.end)
        if match is None:
            raise _unreadable(text[position], Span(position, position + 1))
        here = Span(*match.span())
        position = here.end
        match match.lastgroup:
            case "blank":
                continue
            case "comment":
                position = _comment_end(text, here, span.end)
            case "trap":
                raise errors.comment_after_brace(here)
            case "bound":
                raise errors.malformed_quantifier(here)
            case kind:
                tokens.append(_token(kind or "", match.group(), here))
    return (*tokens, Token(TokenKind.END, "", Span(span.end, span.end)))


def _unreadable(character: str, span: Span) -> MatchRecognizeError:
    if character in '`"':
        return errors.unclosed_name(span)
    return errors.stray_character(character, span)


def _comment_end(text: str, opening: Span, end: int) -> int:
    """The position after a bracketed comment; they nest, as in Spark."""
    depth = 0
    for mark in _COMMENT_MARK.finditer(text, opening.start, end):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    raise errors.unclosed_comment(opening)


def _token(kind: str, text: str, span: Span) -> Token:
    match kind:
        case "name":
            return Token(TokenKind.WORD, text, span)
        case "number":
            return Token(TokenKind.NUMBER, text, span)
        case "quoted":
            quote = text[0]
            name = text[1:-1].replace(quote * 2, quote)
            if not name:
                raise errors.empty_name(span)
            return Token(TokenKind.QUOTED, name, span)
        case _:
            return Token(TokenKind.SYMBOL, text, span)
