"""Split the text of a row pattern into tokens.

sqlglot's tokenizer, which divides all other text, does not know the symbols of row patterns. In a
row pattern, `||` is two symbols, `??` is two symbols, and `{-` is one symbol.
"""

from __future__ import annotations

import re

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import pattern as errors
from matchrec.errors.sql import pattern_symbols as symbol_errors
from matchrec.source import Span
from matchrec.syntax.tokens import Token, TokenKind

# A token of a row pattern. Two groups are only for errors. `trap` is `{--`, which may be meant as
# the start of an exclusion, but `--` starts a comment. `bound` is a quantifier or an exclusion with
# a number that is not allowed there: `{1.5}`, `{- 2 -}`.
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
# For the groups whose text becomes a token without a change, the kind of the token.
_KINDS = {"symbol": TokenKind.SYMBOL, "number": TokenKind.NUMBER, "name": TokenKind.WORD}
_COMMENT_MARK = re.compile(r"/\*|\*/")


def read_pattern_tokens(text: str, span: Span) -> tuple[Token, ...]:
    """Return the tokens of a row pattern without comments, and an END token after them.

    Args:
        text: the text of the query.
        span: where the pattern is in the query.

    Raises:
        MatchRecognizeError: the pattern has a character or a number that is not allowed, or a
            comment or a quoted name that is not closed.

    >>> [token.text for token in read_pattern_tokens("a?? {-b-}||$", Span(0, 12))]
    ['a', '?', '?', '{-', 'b', '-}', '|', '|', '$', '']
    """
    tokens = []
    position = span.start
    while position < span.end:
        match = _TOKEN.match(text, position, span.end)
        if match is None:
            raise _explain_stray_character(text, position)
        token_span = Span(*match.span())
        position = token_span.end
        match match.lastgroup:
            case "blank":
                continue
            case "comment":
                position = _find_comment_end(text, token_span, span.end)
            case "trap":
                raise errors.comment_after_brace(token_span)
            case "bound":
                raise errors.malformed_quantifier(token_span, text=match[0])
            case "quoted":
                tokens.append(_read_quoted_name(match[0], token_span))
            case "symbol" | "number" | "name" as group:
                tokens.append(Token(_KINDS[group], match[0], token_span))
    return (*tokens, Token(TokenKind.END, "", Span(span.end, span.end)))


def _read_quoted_name(quoted_text: str, span: Span) -> Token:
    """Return the token of a name in backticks or double quotes.

    Raises:
        MatchRecognizeError: the name is empty.
    """
    quote = quoted_text[0]
    name = quoted_text[1:-1]
    if not name:
        raise errors.empty_variable_name(span)
    return Token(TokenKind.QUOTED, name.replace(quote * 2, quote), span)


def _explain_stray_character(text: str, position: int) -> MatchRecognizeError:
    """Return the error for a character that starts no token of a row pattern."""
    span = Span(position, position + 1)
    braces = _find_braces(text, position)
    if re.fullmatch(r"\{\s*\d+\s*[;.-]+\s*\d+\s*\}", braces):
        opening = text.rindex("{", 0, position)
        return errors.malformed_quantifier(Span(opening, opening + len(braces)), text=braces)
    if text[position] in '`"':
        return errors.unclosed_variable_name(span)
    if text.startswith(("->", "~>"), position):  # Other languages write "A, then B" like this.
        arrow = Span(position, position + 2)
        return symbol_errors.stray_character(arrow, text=text[position : arrow.end])
    group = re.search(r"\(\s*\?P?<?$", text[:position])
    if group is not None:  # as in the groups `(?=...)` of regular expressions
        opening = group.start()
        return errors.regex_group_in_pattern(Span(opening, text.index("?", opening) + 1))
    brackets = re.match(r"\[[^\[\](){}]*\]", text[position:])
    if brackets is not None:
        span = Span(position, position + brackets.end())
        return symbol_errors.stray_character(span, text="[", brackets=brackets[0])
    # The character may be meant as NOT, as in `!B` and `!(B | C)`. Then a variable follows, or
    # several in parentheses.
    variables = re.match(r"[^\W\d]\w*|\(\s*\w+(\s*\|\s*\w+)*\s*\)", text[position + 1 :])
    if variables is not None:
        return symbol_errors.stray_character(span, text=text[position], variables=variables[0])
    return symbol_errors.stray_character(span, text=text[position])


def _find_braces(text: str, position: int) -> str:
    """Return the text of the braces around a position; "" if there are no braces around it."""
    opening = text.rfind("{", 0, position)
    closing = text.find("}", position)
    return text[opening : closing + 1] if 0 <= opening < closing else ""


def _find_comment_end(text: str, opening: Span, end: int) -> int:
    """Return the position after a bracketed comment. Comments nest, as in Spark.

    Args:
        text: the text of the query.
        opening: the `/*` of the comment.
        end: where the pattern ends.

    Raises:
        MatchRecognizeError: the comment is not closed before `end`.
    """
    depth = 0
    for mark in _COMMENT_MARK.finditer(text, opening.start, end):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    raise errors.unclosed_comment(opening)
