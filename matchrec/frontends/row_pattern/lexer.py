"""The lexer of PATTERN text, whose `??`, `||`, `{-` and `$` mean other things to SQL's lexer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import pattern as errors
from matchrec.source import Span


class Kind(Enum):
    """What a token is, apart from its text."""

    NAME = "name"
    NUMBER = "number"
    SYMBOL = "symbol"
    END = "end"


@dataclass(frozen=True, slots=True)
class PatternToken:
    """text: a name normalized, a number's digits, a symbol's characters; empty at the end.

    quoted: the name stood in quotes and is no keyword.
    """

    kind: Kind
    text: str
    span: Span
    quoted: bool = False

    @property
    def symbol(self) -> str:
        """The text where it can be a symbol, a keyword or the end; `?` is never a name's."""
        return f"`{self.text}`" if self.quoted else self.text


_TOKEN = re.compile(
    r"""
    (?P<blank>   \s+ | --[^\n]* )
  | (?P<comment> /\* )
  | (?P<trap>    \{-- )
  | (?P<bound>   \{-?\s*[0-9]+\.[0-9]*[^}]*\}? | \{-\s*[0-9][^}]*\}? )
  | (?P<symbol>  \{- | -\} | [()|*+?{},^$:] )
  | (?P<number>  [0-9]+ )
  | (?P<name>    [^\W\d]\w* )
  | (?P<quoted>  `(?:[^`]|``)*` | "(?:[^"]|"")*" )
    """,
    re.VERBOSE,
)
_COMMENT_MARK = re.compile(r"/\*|\*/")


def tokens(text: str, span: Span) -> tuple[PatternToken, ...]:
    """The tokens of a row pattern and an END token after them, comments left out.

    >>> [token.text for token in tokens("a?? {-b-}||$", Span(0, 12))]
    ['A', '?', '?', '{-', 'B', '-}', '|', '|', '$', '']
    """
    found = []
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
                found.append(_token(kind or "", match.group(), here))
    return (*found, PatternToken(Kind.END, "", Span(span.end, span.end)))


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


def _token(kind: str, text: str, span: Span) -> PatternToken:
    match kind:
        case "name":
            return PatternToken(Kind.NAME, text.upper(), span)
        case "number":
            return PatternToken(Kind.NUMBER, text, span)
        case "quoted":
            quote = text[0]
            name = text[1:-1].replace(quote * 2, quote)
            if not name:
                raise errors.empty_name(span)
            return PatternToken(Kind.NAME, name, span, quoted=True)
        case _:
            return PatternToken(Kind.SYMBOL, text, span)
