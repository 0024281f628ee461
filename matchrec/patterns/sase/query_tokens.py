"""Split the text of a SASE+ query into tokens.

The tokens are those of SQL, with these differences:

    80% * a.x     `80%` before `*` is one number, 0.8
    12hours       a number and a word, with or without a blank between them
    "a""b"        always one string, in which a doubled quote is a quote. In Spark SQL, a setting of
                  the session decides whether double quotes enclose strings or names

`quote_singly` writes a string in single quotes, which enclose strings in every session.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from matchrec.plan.text import quote_string
from matchrec.source import Span
from matchrec.syntax.tokenize import convert_tokens, read_sqlglot_tokens
from matchrec.syntax.tokens import Token, TokenKind, TokenSequence, pair_brackets

# `12hours` or `1.5hours`
_NUMBER_AND_WORD = re.compile(r"(\d+(?:\.\d+)?)([^\W\d]\w*)")
_NUMBER = re.compile(r"\d+(\.\d+)?")


def read_sase_tokens(text: str) -> TokenSequence:
    """Return the tokens of a query.

    Raises:
        MatchRecognizeParseError: a quote or a comment is not closed.

    >>> [token.text for token in read_sase_tokens("WITHIN 12hours 80%*a.x").tokens]
    ['WITHIN', '12', 'hours', '0.8', '*', 'a', '.', 'x']
    """
    tokens: list[Token] = []
    for token in convert_tokens(read_sqlglot_tokens(text), text):
        if tokens and _continues_string(tokens[-1], token):
            start = tokens.pop()
            tokens.append(Token(start.kind, start.text + token.text, start.span.to(token.span)))
        elif token.key == "*" and _ends_with_percentage(tokens):
            percent_sign = tokens.pop()
            number = tokens.pop()
            tokens += [_convert_percentage(number, percent_sign), token]
        else:
            tokens += _split_number_and_word(token)
    return TokenSequence(text, tuple(tokens), pair_brackets(tokens))


def _continues_string(token_before: Token, token: Token) -> bool:
    """Return whether a token continues the string in the token before it, as in `"a""b"`.

    The tokens of SQL are split at a doubled quote, into `"a"` and `"b"`.
    """
    is_adjacent = token_before.span.end == token.span.start
    return token.is_string and is_adjacent and token_before.text[-1] == token.text[0]


def _ends_with_percentage(tokens: Sequence[Token]) -> bool:
    """Return whether the last two tokens are a number and a percent sign."""
    if len(tokens) < 2 or tokens[-1].key != "%":
        return False
    return _NUMBER.fullmatch(tokens[-2].text) is not None


def _convert_percentage(number: Token, percent_sign: Token) -> Token:
    """Return a percentage as one number: `0.8` for `80` and `%`."""
    share = Decimal(number.text).scaleb(-2).normalize()
    return Token(TokenKind.NUMBER, f"{share:f}", number.span.to(percent_sign.span))


def _split_number_and_word(token: Token) -> tuple[Token, ...]:
    """Return the tokens `12` and `hours` for `12hours`, and any other token alone."""
    number_and_word = _NUMBER_AND_WORD.fullmatch(token.text)
    # `12hours` is a WORD, and `1.5hours` a SYMBOL. `12d` and `5s` are a NUMBER, because SQL has
    # numbers with these suffixes; they are not split, and their errors name the suffix.
    if number_and_word is None or token.kind not in (TokenKind.WORD, TokenKind.SYMBOL):
        return (token,)
    number, word = number_and_word.groups()
    middle = token.span.start + len(number)
    return (
        Token(TokenKind.NUMBER, number, Span(token.span.start, middle)),
        Token(TokenKind.WORD, word, Span(middle, token.span.end)),
    )


def quote_singly(text: str) -> str:
    r"""Return a string of a query as a string in single quotes, with the same value.

    Args:
        text: the string as it is written, with its quotes and perhaps `r` before them.

    >>> quote_singly('"it\'s"'), quote_singly("'it''s'")
    ("'it\\'s'", "'it''s'")
    """
    if text.endswith("'"):
        return text
    content = text[text.index('"') + 1 : -1].replace('""', '"')
    is_raw = not text.startswith('"')  # the text is a raw string, such as r"\d"
    if is_raw:
        return quote_string(content)
    # Escape single quotes. `\\.` skips characters that are escaped already.
    escaped_content = re.sub(
        r"(?s)\\.|'", lambda match: "\\'" if match[0] == "'" else match[0], content
    )
    return f"'{escaped_content}'"
