"""Split the text of a SASE+ query into tokens.

They are tokens of SQL, with these differences:

    80% * a.x     `80%` before `*` is one number, 0.8
    12hours       a number and a word
    "a""b"        one string. Spark SQL reads texts in double quotes as names if the session is set
                  so, but texts in single quotes are strings in every session: see `quote_singly`
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from matchrec.plan.text import quote_string
from matchrec.source import Span
from matchrec.syntax.tokenize import convert_tokens, read_sqlglot_tokens
from matchrec.syntax.tokens import Token, TokenKind, TokenSequence, pair_brackets

_NUMBER_AND_WORD = re.compile(r"(\d+(?:\.\d+)?)([^\W\d]\w*)")
_NUMBER = re.compile(r"\d+(\.\d+)?")


def read_query_tokens(text: str) -> TokenSequence:
    """Return the tokens of a query.

    >>> [token.text for token in read_query_tokens("WITHIN 12hours 80%*a.x").tokens]
    ['WITHIN', '12', 'hours', '0.8', '*', 'a', '.', 'x']
    """
    query_tokens: list[Token] = []
    for token in convert_tokens(read_sqlglot_tokens(text), text):
        if query_tokens and _continues_string(query_tokens[-1], token):
            start = query_tokens.pop()
            query_tokens.append(
                Token(start.kind, start.text + token.text, start.span.to(token.span))
            )
        elif token.key == "*" and _ends_with_percentage(query_tokens):
            percent_sign = query_tokens.pop()
            number = query_tokens.pop()
            query_tokens += [_convert_percentage(number, percent_sign), token]
        else:
            query_tokens += _split_number_and_word(token)
    return TokenSequence(text, tuple(query_tokens), pair_brackets(query_tokens))


def _continues_string(before: Token, token: Token) -> bool:
    """Return whether a token continues the string before it, as in `"a""b"`.

    SQL reads a doubled quote as the end of one string and the start of the next.
    """
    is_adjacent = before.span.end == token.span.start
    return token.is_string and is_adjacent and before.text[-1] == token.text[0]


def _ends_with_percentage(query_tokens: Sequence[Token]) -> bool:
    """Return whether the last two tokens are a number and a percent sign."""
    if len(query_tokens) < 2 or query_tokens[-1].key != "%":
        return False
    return _NUMBER.fullmatch(query_tokens[-2].text) is not None


def _convert_percentage(number: Token, percent_sign: Token) -> Token:
    """Return a percentage as one number: `0.8` for `80` and `%`."""
    share = Decimal(number.text).scaleb(-2).normalize()
    return Token(TokenKind.NUMBER, f"{share:f}", number.span.to(percent_sign.span))


def _split_number_and_word(token: Token) -> tuple[Token, ...]:
    """Return `12hours` as a number and a word, and any other token alone."""
    number_and_word = _NUMBER_AND_WORD.fullmatch(token.text)
    if number_and_word is None or token.kind not in (TokenKind.WORD, TokenKind.SYMBOL):
        return (token,)
    number, word = number_and_word.groups()
    middle = token.span.start + len(number)
    return (
        Token(TokenKind.NUMBER, number, Span(token.span.start, middle)),
        Token(TokenKind.WORD, word, Span(middle, token.span.end)),
    )


def quote_singly(text: str) -> str:
    r"""Return the string of a token in single quotes, with the same value.

    >>> quote_singly('"it\'s"'), quote_singly("'it''s'")
    ("'it\\'s'", "'it''s'")
    """
    if text.endswith("'"):
        return text
    content = text[text.index('"') + 1 : -1].replace('""', '"')
    is_raw = not text.startswith('"')  # r"\d"
    if is_raw:
        return quote_string(content)
    # Escape single quotes, and keep what is escaped already.
    escaped = re.sub(r"(?s)\\.|'", lambda match: "\\'" if match[0] == "'" else match[0], content)
    return f"'{escaped}'"
