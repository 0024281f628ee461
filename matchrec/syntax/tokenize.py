"""Split a text into tokens. sqlglot finds tokens, which are then converted to ours.

The tokens of sqlglot differ from ours: `PARTITION BY` is one of them, and `1BD` is three (`1::BD`),
one of which is not in the text. `read_tokens` is what all parsers call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from operator import attrgetter
from typing import Any

from sqlglot import Dialect as SqlglotDialect
from sqlglot import Token as SqlglotToken
from sqlglot import TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError

from matchrec.errors.kinds import MatchRecognizeParseError
from matchrec.errors.sql.tokens import malformed_binary, unclosed_text
from matchrec.shortcuts import keep_parsed
from matchrec.source import Span
from matchrec.syntax.tokens import SPARK, Dialect, Token, TokenKind, TokenSequence, pair_brackets

_SEVERAL_WORDS = re.compile(r"\w+(\s+\w+)*")
# Our kind for a kind of sqlglot. All others are words or symbols, which depends on their text.
_KINDS = {
    token_type: TokenKind.STRING
    for token_type in TokenType
    if f"_{token_type.name}".endswith("_STRING")
} | {TokenType.IDENTIFIER: TokenKind.QUOTED, TokenType.NUMBER: TokenKind.NUMBER}


def read_sqlglot_tokens(text: str, offset: int = 0, dialect: Dialect = SPARK) -> list[SqlglotToken]:
    """Return the tokens that sqlglot finds in a text of Spark SQL.

    In `"a".x` the quotes enclose a name in every dialect, because no dot follows a string.

    Args:
        text: the text.
        offset: where it starts in the query, for the error.
        dialect: how double quotes are read.

    Raises:
        MatchRecognizeParseError: a string, a quoted name or a comment is not closed, or a binary
            value has other characters than hexadecimal digits.
    """
    try:
        tokens = tokenize_sql(Spark, text)
    except TokenError as error:
        raise _explain_token_error(text, offset) from error
    if '"' not in text:
        return tokens
    return list(_read_double_quotes(tokens, text, dialect))


@cache
def _make_tokenizer(dialect: type[SqlglotDialect]) -> Any:
    """Return the tokenizer of a dialect without its commands.

    So EXPLAIN, and a column called `show`, are words; a command would take the rest of the text.
    """
    tokenizer = type("Words", (dialect.tokenizer_class,), {"COMMANDS": set()})
    # sqlglot reads `{# ... #}` as a comment of Jinja in every dialect. SQL has no such comments, so
    # the text would be lost.
    tokenizer._COMMENTS.pop("{#", None)  # type: ignore[attr-defined]
    return tokenizer


def tokenize_sql(dialect: type[SqlglotDialect], text: str) -> list[SqlglotToken]:
    """Return the tokens that a dialect of sqlglot finds in a query, a script or an expression."""
    tokens: list[SqlglotToken] = _make_tokenizer(dialect)(dialect=dialect()).tokenize(text)
    if _MAY_BE_NAMES.isdisjoint(map(attrgetter("token_type"), tokens)):
        return tokens
    for index, (token, next_token) in enumerate(pairwise(tokens)):
        types = token.token_type, next_token.token_type
        is_window_function = types == (TokenType.WINDOW, TokenType.L_PAREN)  # not the clause
        is_table_named_output = types == (TokenType.INTO, TokenType.RETURNING)
        if is_window_function:
            tokens[index] = rename_token(token, TokenType.VAR, token.text)
        elif is_table_named_output:
            tokens[index + 1] = rename_token(next_token, TokenType.VAR, next_token.text)
    return tokens


_MAY_BE_NAMES = frozenset({TokenType.WINDOW, TokenType.RETURNING})


def _read_double_quotes(
    tokens: Sequence[SqlglotToken], text: str, dialect: Dialect
) -> Iterator[SqlglotToken]:
    """Yield the tokens with a name for each string in double quotes that is a name.

    sqlglot reads `"a""b"` as two strings. It is one name; if it is not a name, it stays as it is.
    """
    index = 0
    while index < len(tokens):
        first = last = tokens[index]
        start = index
        index += 1
        if first.token_type is not TokenType.STRING or text[first.start] != '"':
            yield first
            continue
        while index < len(tokens) and text[last.end : last.end + 2] == '""':
            last = tokens[index]
            index += 1
        is_before_dot = index < len(tokens) and tokens[index].token_type is TokenType.DOT
        if dialect is Dialect.QUOTED_NAMES or is_before_dot:
            name = text[first.start + 1 : last.end].replace('""', '"')
            yield rename_token(first, TokenType.IDENTIFIER, name, last.end)
        else:
            yield from tokens[start:index]


def rename_token(
    token: SqlglotToken, kind: TokenType, text: str, end: int | None = None
) -> SqlglotToken:
    """Return a copy of a token with another kind and text.

    Args:
        token: the token.
        kind: the new kind.
        text: the new text.
        end: the last character that it replaces, if it replaces tokens after it, too.
    """
    last = token.end if end is None else end
    return SqlglotToken(kind, text, token.line, token.col, token.start, last, token.comments)


def convert_tokens(tokens: Sequence[SqlglotToken], text: str, offset: int = 0) -> tuple[Token, ...]:
    """Convert the tokens of sqlglot to our own.

    Hints to Spark are dropped like comments. A number that sqlglot splits, such as `.5`, is one
    token, and tokens that it invents are dropped: they overlap the one before.

    Args:
        tokens: the tokens of sqlglot.
        text: their text.
        offset: where it starts in the query.
    """
    converted: list[Token] = []
    end = -1  # of the characters that have a token
    for token in tokens:
        if token.start < end or token.token_type is TokenType.HINT:
            continue
        new_tokens = _convert_token(token, text, offset)
        number = new_tokens[0]
        if number.kind is TokenKind.NUMBER and converted and converted[-1].key == ".":
            point = converted[-1]
            if point.span.end == number.span.start:
                converted.pop()
                span = point.span.to(number.span)
                new_tokens = [Token(TokenKind.NUMBER, f".{number.text}", span)]
        converted += new_tokens
        end = token.end + 1
    return tuple(converted)


def _convert_token(token: SqlglotToken, text: str, offset: int) -> list[Token]:
    """Return our tokens for one of sqlglot, which may have several words, such as `PARTITION BY`.

    `text` and `offset` are as for `convert_tokens`.
    """
    token_text = text[token.start : token.end + 1]
    span = Span(token.start + offset, token.end + 1 + offset)
    kind = _KINDS.get(token.token_type)
    is_hexadecimal_number = kind is TokenKind.STRING and token_text.isalnum()  # not in Spark's SQL
    if kind is not None and not is_hexadecimal_number:
        return [Token(kind, token.text if kind is TokenKind.QUOTED else token_text, span)]
    if token_text.isascii() and token_text.isidentifier():
        return [Token(TokenKind.WORD, token_text, span)]
    if _SEVERAL_WORDS.fullmatch(token_text):
        return [
            Token(TokenKind.WORD, word[0], Span(*word.span()).shift_by(span.start))
            for word in re.finditer(r"\w+", token_text)
        ]
    return [Token(TokenKind.SYMBOL, token_text, span)]


# A comment of one line; or what opens another comment, a string or a quoted name. The strings of
# Spark may be raw: `r'C:\'`.
_OPENING = re.compile(r"""--[^\n]*|(?P<comment>/\*)|(?P<raw>\b[rR](?=['"]))?(?P<quote>['"`])""")
# What follows the quote that opens a string or a quoted name, up to the one that closes it.
_REST_OF_QUOTE = {
    "'": re.compile(r"(?:[^'\\]|\\.|'')*'", re.DOTALL),
    '"': re.compile(r'(?:[^"\\]|\\.|"")*"', re.DOTALL),
    "`": re.compile(r"(?:[^`]|``)*`"),
}
_COMMENT_MARK = re.compile(r"/\*|\*/")


_MALFORMED_BINARY = re.compile(r"\b[xX]'[^']*[^0-9a-fA-F'][^']*'")


def _explain_token_error(text: str, offset: int) -> MatchRecognizeParseError:
    """Return the error for a text that sqlglot cannot divide into tokens.

    `offset` is where the text starts in the query.
    """
    unclosed = _find_unclosed(text)
    if unclosed is not None:
        return unclosed_text(unclosed.shift_by(offset), mark=text[unclosed.start])
    binary = _MALFORMED_BINARY.search(text)
    if binary is not None:
        return malformed_binary(Span(*binary.span()).shift_by(offset), text=binary[0])
    return unclosed_text(Span(offset, offset + len(text)))


def _find_unclosed(text: str) -> Span | None:
    """Return the first character of a string, a quoted name or a comment that is not closed.

    None if all of them are closed.
    """
    position = 0
    while opening := _OPENING.search(text, position):
        end = _find_end(text, opening)
        if end is None:
            first = opening.start("comment") if opening["comment"] else opening.start("quote")
            return Span(first, first + 1)
        position = end
    return None


def _find_end(text: str, opening: re.Match[str]) -> int | None:
    """Return the position after a quote or comment; None if it is not closed.

    Args:
        text: the text.
        opening: what opens it, a match of `_OPENING`.
    """
    start = opening.end()
    quote = opening["quote"]
    if opening["comment"]:
        return _find_comment_end(text, start)
    if opening["raw"]:
        closing = text.find(quote, start)
        return None if closing < 0 else closing + 1
    if quote:
        rest = _REST_OF_QUOTE[quote].match(text, start)
        return None if rest is None else rest.end()
    return start


def _find_comment_end(text: str, start: int) -> int | None:
    """Return the position after a comment, in which other comments may be nested.

    `start` is the position after its `/*`. Returns None if it is not closed.
    """
    depth = 1
    for mark in _COMMENT_MARK.finditer(text, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return None


def read_tokens(text: str, dialect: Dialect = SPARK, offset: int = 0) -> TokenSequence:
    """Return the tokens of a text of Spark SQL.

    Args:
        text: the text.
        dialect: how double quotes are read.
        offset: where the text starts in the query.

    Raises:
        MatchRecognizeParseError: a string, a quoted name or a comment is not closed, or a binary
            value has other characters than hexadecimal digits.

    >>> [token.key for token in read_tokens("order by a.x").tokens]
    ['ORDER', 'BY', 'A', '.', 'X']
    """
    return make_sequence(read_sqlglot_tokens(text, offset, dialect), text, dialect, offset)


def make_sequence(
    sqlglot_tokens: Sequence[SqlglotToken], text: str, dialect: Dialect = SPARK, offset: int = 0
) -> TokenSequence:
    """Return the sequence of the tokens that a tokenizer of sqlglot has found in a text."""
    tokens = convert_tokens(sqlglot_tokens, text, offset)
    return TokenSequence(text, tokens, pair_brackets(tokens), offset, dialect)


# Reads the tokens of a whole query. Several readers ask for them one after another, so those of the
# last queries are kept.
read_query_tokens = keep_parsed(read_tokens, most=1 << 14)
