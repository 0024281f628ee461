"""Read the tokens of a text: sqlglot divides it, and `convert_tokens` makes our tokens.

`read_tokens` does both for Spark SQL. For the SQL of another product, `tokenize_sql` divides the
text, and `make_token_sequence` makes our tokens. sqlglot's tokens differ from ours:

    text           sqlglot's tokens      our tokens
    PARTITION BY   `PARTITION BY`        `PARTITION`, `BY`
    1BD            `1`, `::`, `BD`       `1BD`
    .5             `.`, `5`              `.5`
    "a""b"         `"a"`, `"b"`          the name `a"b`, where double quotes enclose a name
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
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
from matchrec.syntax.tokens import (
    SPARK,
    QuoteDialect,
    Token,
    TokenKind,
    TokenSequence,
    pair_brackets,
)

# Types of keywords that `_name_keywords` may turn into names.
_KEYWORDS_USED_AS_NAMES = frozenset({TokenType.WINDOW, TokenType.RETURNING})

# sqlglot has a type for each form of string: STRING, RAW_STRING, HEX_STRING and others.
_STRING_TYPES = frozenset(
    token_type
    for token_type in TokenType
    if token_type.name == "STRING" or token_type.name.endswith("_STRING")
)
# Our kind of a sqlglot token. The other tokens are words or symbols, which depends on their text.
_KINDS = {
    **dict.fromkeys(_STRING_TYPES, TokenKind.STRING),
    TokenType.IDENTIFIER: TokenKind.QUOTED,
    TokenType.NUMBER: TokenKind.NUMBER,
}

_SEVERAL_WORDS = re.compile(r"\w+(\s+\w+)*")


def read_tokens(text: str, dialect: QuoteDialect = SPARK, *, offset: int = 0) -> TokenSequence:
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
    tokens = read_sqlglot_tokens(text, dialect, offset=offset)
    return make_token_sequence(tokens, text, dialect, offset=offset)


# Returns the tokens of a whole query. Several parsers read the same query one after another, so the
# tokens of the last queries are kept.
read_query_tokens = keep_parsed(read_tokens, max_characters=1 << 14)


# Tokens of sqlglot.


def read_sqlglot_tokens(
    text: str, dialect: QuoteDialect = SPARK, *, offset: int = 0
) -> list[SqlglotToken]:
    """Return the tokens that sqlglot finds in a text of Spark SQL.

    The arguments and the errors are the same as for `read_tokens`.
    """
    try:
        tokens = tokenize_sql(Spark(), text)
    except TokenError as error:
        raise _explain_token_error(text, offset) from error
    if '"' not in text:
        return tokens
    return list(_read_double_quotes(tokens, text, dialect))


def tokenize_sql(dialect: SqlglotDialect, text: str) -> list[SqlglotToken]:
    """Return the tokens that a dialect of sqlglot finds in a query, a script or an expression.

    Words that are commands or keywords elsewhere, such as SHOW, are words if they can be names.

    Raises:
        TokenError: a string, a quoted name or a comment is not closed, or a binary value has other
            characters than hexadecimal digits.
    """
    tokens: list[SqlglotToken] = _make_tokenizer(type(dialect))(dialect=dialect).tokenize(text)
    if any(token.token_type in _KEYWORDS_USED_AS_NAMES for token in tokens):
        _name_keywords(tokens)
    return tokens


@cache
def _make_tokenizer(dialect: type[SqlglotDialect]) -> Any:
    """Return a class of tokenizers that read all parts of a text in a dialect of sqlglot.

    sqlglot's own tokenizer reads the whole rest of a text after a command word, such as EXPLAIN or
    a column called `show`, as one token. It also takes `{# ... #}` for a comment of Jinja and drops
    it, although SQL has no such comments.
    """
    tokenizer = type("TokenizerWithoutCommands", (dialect.tokenizer_class,), {"COMMANDS": set()})
    tokenizer._COMMENTS.pop("{#", None)  # type: ignore[attr-defined]
    return tokenizer


def _name_keywords(tokens: list[SqlglotToken]) -> None:
    """Replace keywords that are names, in the list itself.

    In `WINDOW(...)`, the keyword names a function. In Azure's `INTO output`, `output` names a
    table, but sqlglot reads it as the keyword RETURNING.
    """
    for index, (token, next_token) in enumerate(pairwise(tokens)):
        match token.token_type, next_token.token_type:
            case TokenType.WINDOW, TokenType.L_PAREN:
                tokens[index] = replace_token(token, TokenType.VAR, token.text)
            case TokenType.INTO, TokenType.RETURNING:
                tokens[index + 1] = replace_token(next_token, TokenType.VAR, next_token.text)


def _read_double_quotes(
    tokens: Sequence[SqlglotToken], text: str, dialect: QuoteDialect
) -> Iterator[SqlglotToken]:
    """Yield the tokens, with a name instead of each string in double quotes that is a name.

    Before a dot, as in `"a".x`, double quotes enclose a name in every dialect, because no dot
    follows a string. sqlglot reads `"a""b"` as two strings. They become one name, or stay two
    strings if they are not a name.
    """
    start = 0
    while start < len(tokens):
        strings = _find_double_quotes(tokens, start, text)
        end = start + max(len(strings), 1)
        is_before_dot = end < len(tokens) and tokens[end].token_type is TokenType.DOT
        if strings and (dialect is QuoteDialect.QUOTED_NAMES or is_before_dot):
            last = strings[-1].end
            name = text[strings[0].start + 1 : last].replace('""', '"')
            yield replace_token(strings[0], TokenType.IDENTIFIER, name, end=last)
        else:
            yield from tokens[start:end]
        start = end


def _find_double_quotes(
    tokens: Sequence[SqlglotToken], start: int, text: str
) -> Sequence[SqlglotToken]:
    """Return the strings in double quotes from a token on that follow each other without a gap.

    For `"a""b"`, these are `"a"` and `"b"`. The result is empty if the token at `start` is not a
    string in double quotes.
    """
    first = tokens[start]
    if first.token_type is not TokenType.STRING or text[first.start] != '"':
        return ()
    end = start + 1
    while end < len(tokens) and text.startswith('""', tokens[end - 1].end):
        end += 1
    return tokens[start:end]


def replace_token(
    token: SqlglotToken, token_type: TokenType, text: str, *, end: int | None = None
) -> SqlglotToken:
    """Return a copy of a sqlglot token with another type and text.

    Args:
        token: the token.
        token_type: the new type.
        text: the new text.
        end: the position of the last character of the new token, if it also covers later tokens.
    """
    last = token.end if end is None else end
    return SqlglotToken(token_type, text, token.line, token.col, token.start, last, token.comments)


# Our tokens.


def make_token_sequence(
    tokens: Sequence[SqlglotToken], text: str, dialect: QuoteDialect = SPARK, *, offset: int = 0
) -> TokenSequence:
    """Return our tokens of a text, with their brackets paired up.

    Args:
        tokens: the tokens of sqlglot.
        text: the text that sqlglot has divided into these tokens.
        dialect: how the text is read.
        offset: where the text starts in the query.
    """
    converted_tokens = convert_tokens(tokens, text, offset=offset)
    return TokenSequence(text, converted_tokens, pair_brackets(converted_tokens), offset, dialect)


def convert_tokens(
    tokens: Sequence[SqlglotToken], text: str, *, offset: int = 0
) -> tuple[Token, ...]:
    """Convert the tokens of sqlglot to our own.

    - Hints to Spark, `/*+ ... */`, are dropped like comments.
    - A number that begins with a point, such as `.5`, is one token.
    - `1BD` is one token. sqlglot makes `1`, `::` and `BD` of it, all at the same positions. Of
      tokens that overlap, only the first one counts.

    Args:
        tokens: the tokens of sqlglot.
        text: the text that sqlglot has divided into these tokens.
        offset: where the text starts in the query.
    """
    converted: list[Token] = []
    # The position after the last converted character.
    end = 0
    for token in tokens:
        overlaps = token.start < end
        if overlaps or token.token_type is TokenType.HINT:
            continue
        converted += _convert_token(token, text, offset)
        end = token.end + 1
        if _ends_with_fraction(converted):
            point, digits = converted[-2:]
            number = Token(TokenKind.NUMBER, f".{digits.text}", point.span.to(digits.span))
            converted[-2:] = [number]
    return tuple(converted)


def _ends_with_fraction(tokens: Sequence[Token]) -> bool:
    """Return whether the last two tokens are a point and, directly after it, a number."""
    if len(tokens) < 2:
        return False
    point, digits = tokens[-2:]
    is_adjacent = point.span.end == digits.span.start
    return point.key == "." and digits.kind is TokenKind.NUMBER and is_adjacent


def _convert_token(token: SqlglotToken, text: str, offset: int) -> list[Token]:
    """Return our tokens for one token of sqlglot, which may have several words: `PARTITION BY`.

    `text` and `offset` are as for `convert_tokens`.
    """
    token_text = text[token.start : token.end + 1]
    span = Span(token.start + offset, token.end + 1 + offset)
    kind = _KINDS.get(token.token_type)
    # sqlglot reads `0x1F` as a string. In Spark it is a name.
    is_hexadecimal_name = kind is TokenKind.STRING and token_text.isalnum()
    if kind is not None and not is_hexadecimal_name:
        return [Token(kind, token.text if kind is TokenKind.QUOTED else token_text, span)]
    if token_text.isascii() and token_text.isidentifier():
        return [Token(TokenKind.WORD, token_text, span)]
    if _SEVERAL_WORDS.fullmatch(token_text):
        return [
            Token(TokenKind.WORD, word[0], Span(*word.span()).shift_by(span.start))
            for word in re.finditer(r"\w+", token_text)
        ]
    return [Token(TokenKind.SYMBOL, token_text, span)]


# Errors.

# A comment of one line, or the characters that open another comment, a string or a quoted name. The
# strings of Spark may be raw: `r'C:\'`.
_OPENING = re.compile(r"""--[^\n]*|(?P<comment>/\*)|(?P<raw>\b[rR](?=['"]))?(?P<quote>['"`])""")
# The text after the quote that opens a string or a quoted name, up to the quote that closes it.
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
    """Return the span of the first character of a string, quoted name or comment without an end.

    The result is None if all of them are closed.
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
    """Return the position after a string, a quoted name or a comment; None if it is not closed.

    Args:
        text: the text.
        opening: the match of `_OPENING` at the start of the string, name or comment.
    """
    start = opening.end()
    quote = opening["quote"]
    if opening["comment"]:
        return _find_comment_end(text, start)
    if opening["raw"]:
        closing = text.find(quote, start)
        return None if closing < 0 else closing + 1
    if quote:
        rest_of_quote = _REST_OF_QUOTE[quote].match(text, start)
        return None if rest_of_quote is None else rest_of_quote.end()
    return start


def _find_comment_end(text: str, start: int) -> int | None:
    """Return the position after a comment, in which other comments may be nested.

    `start` is the position after the `/*` of the comment. The result is None if the comment is not
    closed.
    """
    depth = 1
    for mark in _COMMENT_MARK.finditer(text, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return None
