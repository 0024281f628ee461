"""Tokens of Spark SQL: stock sqlglot finds them, we keep what our parsers ask of them.

The stock tokens are what goes back to the stock parser; ours have one word each (`PARTITION BY` is
two), half-open spans in the whole query, and no invented ones (sqlglot reads `1BD` as `1::BD`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import Token as StockToken
from sqlglot import TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError

from matchrec.errors.sql import syntax as errors
from matchrec.frontends.lexing.dialect import SPARK, Dialect, DoubleQuotes
from matchrec.source import Span


class Kind(Enum):
    """What a token is, apart from its text."""

    WORD = "word"
    QUOTED = "quoted name"
    NUMBER = "number"
    STRING = "string"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Token:
    """text: as written; of a quoted name, the name. span: in the whole query.

    key: an upper-case word, a symbol, or nothing: what grammars compare.
    """

    kind: Kind
    text: str
    span: Span
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = self.text.upper() if self.kind in (Kind.WORD, Kind.SYMBOL) else ""
        object.__setattr__(self, "key", key)

    @property
    def is_name(self) -> bool:
        """Whether it can name something."""
        return self.kind in (Kind.WORD, Kind.QUOTED)

    @property
    def is_string(self) -> bool:
        """Whether it is a string, in either kind of quotes."""
        return self.kind is Kind.STRING

    @property
    def in_double_quotes(self) -> bool:
        """Whether it is a string in double quotes, which would be a name in another dialect."""
        return self.kind is Kind.STRING and self.text.startswith('"')

    @property
    def can_name(self) -> bool:
        """Whether it names something where no string can stand: double quotes are for both."""
        return self.is_name or self.in_double_quotes

    @property
    def name(self) -> str:
        """The name as it was written, without quotes."""
        return self.text[1:-1].replace('""', '"') if self.kind is Kind.STRING else self.text

    @property
    def variable(self) -> str:
        """The pattern variable that it names, normalized: upper case unless quoted."""
        return self.name.upper() if self.kind is Kind.WORD else self.name


OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())
_WORDS = re.compile(r"\w+(\s+\w+)*")
_STRINGS = (
    TokenType.STRING,
    TokenType.RAW_STRING,
    TokenType.HEX_STRING,
    TokenType.BIT_STRING,
    TokenType.BYTE_STRING,
    TokenType.NATIONAL_STRING,
    TokenType.UNICODE_STRING,
    TokenType.HEREDOC_STRING,
)


def stock_tokens(text: str, offset: int = 0, dialect: Dialect = SPARK) -> list[StockToken]:
    """The tokens that sqlglot finds in `text`, which starts at `offset` of the query.

    In `"a".x` the quotes are those of a name, because nothing follows a string with a dot.
    """
    try:
        found = list(Spark().tokenize(text))
        found = _not_as_command(text) if _is_command(found) else found
    except TokenError as error:
        raise errors.unreadable_text(_unclosed(text, offset)) from error
    if dialect.double_quotes is DoubleQuotes.NAME:
        return list(_with_names(found, text))
    return [_as_name(found, index, text) for index in range(len(found))]


def _with_names(found: Sequence[StockToken], text: str) -> Iterator[StockToken]:
    """The tokens with a name for each string in double quotes; `"a""b"` is one name."""
    index = 0
    while index < len(found):
        first = last = found[index]
        index += 1
        if first.token_type is not TokenType.STRING or text[first.start] != '"':
            yield first
            continue
        while index < len(found) and text[last.end : last.end + 2] == '""':
            last = found[index]
            index += 1
        name = text[first.start + 1 : last.end].replace('""', '"')
        yield StockToken(
            TokenType.IDENTIFIER, name, first.line, first.col, first.start, last.end, first.comments
        )


def _as_name(found: Sequence[StockToken], index: int, text: str) -> StockToken:
    token = found[index]
    quoted = token.token_type is TokenType.STRING and text[token.start] == '"'
    dotted = index + 1 < len(found) and found[index + 1].token_type is TokenType.DOT
    return renamed(token, TokenType.IDENTIFIER, token.text) if quoted and dotted else token


def renamed(stock: StockToken, kind: TokenType, text: str, end: int | None = None) -> StockToken:
    """A token of another kind and text in the place of `stock`, or up to the character `end`."""
    last = stock.end if end is None else end
    return StockToken(kind, text, stock.line, stock.col, stock.start, last, stock.comments)


def _is_command(found: Sequence[StockToken]) -> bool:
    """Whether all after the first word, EXPLAIN or a column `show`, was taken as one string.

    Such a string is longer than its place, which has no quotes.
    """
    if len(found) < 2 or found[1].token_type is not TokenType.STRING:
        return False
    return found[1].end - found[1].start + 1 < len(found[1].text) + 2


def _not_as_command(text: str) -> list[StockToken]:
    """The tokens of a text that does not start a statement: a parenthesis stands before it."""
    return [
        StockToken(
            token.token_type,
            token.text,
            token.line,
            token.col - (token.line == 1),
            token.start - 1,
            token.end - 1,
            token.comments,
        )
        for token in Spark().tokenize(f"({text}")[1:]
    ]


def tokens(text: str, dialect: Dialect = SPARK) -> tuple[Token, ...]:
    """Our tokens of a query.

    >>> [token.key for token in tokens("order by a.x")]
    ['ORDER', 'BY', 'A', '.', 'X']
    """
    return own_tokens(stock_tokens(text, dialect=dialect), text)


def own_tokens(stock: Sequence[StockToken], text: str, offset: int = 0) -> tuple[Token, ...]:
    """The stock tokens of `text` as ours."""
    found: list[Token] = []
    end = -1
    for token in stock:
        if token.start >= end:
            found.extend(_own(token, text, offset))
            end = token.end + 1
    return tuple(found)


def _own(stock: StockToken, text: str, offset: int) -> Iterator[Token]:
    written = text[stock.start : stock.end + 1]
    span = Span(stock.start + offset, stock.end + 1 + offset)
    if stock.token_type is TokenType.IDENTIFIER:
        yield Token(Kind.QUOTED, stock.text, span)
    elif stock.token_type in _STRINGS:
        yield Token(Kind.STRING, written, span)
    elif stock.token_type is TokenType.NUMBER:
        yield Token(Kind.NUMBER, written, span)
    elif _WORDS.fullmatch(written):
        for word in re.finditer(r"\w+", written):
            here = Span(*word.span()).shifted(span.start)
            yield Token(Kind.WORD, word.group(), here)
    else:
        yield Token(Kind.SYMBOL, written, span)


def closings(found: Sequence[Token]) -> dict[int, int]:
    """For the index of each bracket that opens, the index of the one that closes it.

    A `]` or `}` that does not close the innermost bracket closes nothing; a `)` closes what is open
    inside its parentheses.
    """
    pairs: dict[int, int] = {}
    waiting: list[int] = []
    for index, token in enumerate(found):
        if token.key in OPENING:
            waiting.append(index)
        elif token.key == ")" and any(found[opening].key == "(" for opening in waiting):
            while found[waiting[-1]].key != "(":
                waiting.pop()
            pairs[waiting.pop()] = index
        elif token.key in CLOSING and waiting and OPENING[found[waiting[-1]].key] == token.key:
            pairs[waiting.pop()] = index
    return pairs


def innermost(pairs: dict[int, int], count: int) -> tuple[int, ...]:
    """For each of `count` tokens, the innermost bracket around it, by its opening; -1 for none."""
    found = []
    waiting = [-1]
    ends = set(pairs.values())
    for index in range(count):
        if index in ends:
            waiting.pop()
        found.append(waiting[-1])
        if index in pairs:
            waiting.append(index)
    return tuple(found)


def split_at_commas(
    found: Sequence[Token], pairs: dict[int, int], start: int, end: int
) -> tuple[tuple[int, int], ...]:
    """The index ranges between the commas of `start .. end` that stand in no bracket."""
    parts = []
    first = index = start
    while index < end:
        if found[index].key == ",":
            parts.append((first, index))
            first = index + 1
        index = pairs.get(index, index) + 1
    return (*parts, (first, end))


_QUOTE_OR_COMMENT = re.compile(
    r"""--[^\n]* | /\*.*?\*/ | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | `(?:[^`]|``)*`""",
    re.VERBOSE | re.DOTALL,
)


def _unclosed(text: str, offset: int) -> Span:
    """The mark that opens a string, a quoted name or a comment which nothing closes."""
    position = 0
    while position < len(text):
        if match := _QUOTE_OR_COMMENT.match(text, position):
            position = match.end()
        elif text[position] in "'\"`" or text.startswith("/*", position):
            break
        else:
            position += 1
    return Span(position, position + 1).shifted(offset)
