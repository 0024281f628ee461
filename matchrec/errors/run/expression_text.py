"""Find the operands, operators and calls of an expression in the user's text.

The text is split into tokens here and not by `syntax.tokenize`, because `errors` may not import
`syntax`. Nothing is checked: a text that is not an expression gives useless results, but no errors.

In the arguments, an index is the position of a token among the tokens of the expression.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from matchrec.errors.wording import join_lines

_STRING = r"'(?:[^'\\]|\\.|'')*'"
_QUOTED_NAME = r"`(?:[^`]|``)*`"
# A token of an expression: a string, a name in backticks, a word with points, an operator, or
# another character.
_TOKEN = re.compile(rf"{_STRING}|{_QUOTED_NAME}|[\w.]+|::|<=>|[<>!=]=|<>|\|\||\S", re.DOTALL)
# A comment, or a text in quotes, in which `--` and `/*` do not begin a comment.
_COMMENT_OR_QUOTED_TEXT = re.compile(
    rf"{_STRING}|{_QUOTED_NAME}|(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))", re.DOTALL
)
# Words before a bracket that are not the name of a function.
_KEYWORDS_BEFORE_BRACKET = frozenset(
    (
        *("SELECT", "DISTINCT", "FROM", "ON", "WHERE", "HAVING", "BY", "AS", "AND", "OR", "NOT"),
        *("BETWEEN", "IN", "LIKE", "CASE", "WHEN", "THEN", "ELSE"),
    )
)
_OPENING_BRACKETS = ("(", "[")
_CLOSING_BRACKETS = (")", "]")
_SIGNS = ("-", "+", "~")
DIVISIONS = frozenset(("/", "%", "DIV"))
_COMPARISONS = frozenset(("=", "==", "<=>", "<>", "!=", "<", "<=", ">", ">="))
_OPERATORS = DIVISIONS | _COMPARISONS | {"+", "-", "*", "||"}

# The greatest length of an expression that a hint repeats, in characters.
_MAX_HINT_LENGTH = 100


# Tokens.


class TextToken(NamedTuple):
    """A token of an expression, and where it is in the text: from `start` up to before `end`."""

    text: str
    start: int
    end: int


def read_tokens(text: str) -> list[TextToken] | None:
    """Return the tokens of an expression; None if it has a comment, which is not a token.

    >>> [token.text for token in read_tokens("a <> 'x--y'")], read_tokens("a <> x--y")
    (['a', '<>', "'x--y'"], None)
    """
    has_comment = any(
        match["comment"] is not None for match in _COMMENT_OR_QUOTED_TEXT.finditer(text)
    )
    return None if has_comment else split_tokens(text)


def split_tokens(text: str) -> list[TextToken]:
    """Return the tokens of an expression without comments."""
    return [TextToken(match[0], *match.span()) for match in _TOKEN.finditer(text)]


def _is_word(token: TextToken) -> bool:
    """Return whether a token is a name, a number or a string."""
    return token.text[0] in "`'_" or token.text[0].isalnum()


# Brackets and operands.


def find_closing(tokens: Sequence[TextToken], opening: int) -> int:
    """Return the index of the bracket that closes the bracket at an index.

    If no bracket closes it, return the index of the last token.
    """
    depth = 0
    for index in range(opening, len(tokens)):
        if tokens[index].text in _OPENING_BRACKETS:
            depth += 1
        elif tokens[index].text in _CLOSING_BRACKETS:
            depth -= 1
        if depth == 0:
            return index
    return len(tokens) - 1


def _find_opening(tokens: Sequence[TextToken], closing: int) -> int:
    """Return the index of the bracket that the bracket at an index closes; 0 if none is closed."""
    depth = 0
    for index in range(closing, -1, -1):
        if tokens[index].text in _CLOSING_BRACKETS:
            depth += 1
        elif tokens[index].text in _OPENING_BRACKETS:
            depth -= 1
        if depth == 0:
            return index
    return 0


def is_in_parentheses(tokens: Sequence[TextToken]) -> bool:
    """Return whether parentheses enclose all of some tokens, as in `(a - b)`, not `(a) - (b)`."""
    return tokens[0].text == "(" and find_closing(tokens, 0) == len(tokens) - 1


def find_last_argument(tokens: Sequence[TextToken], opening: int) -> int:
    """Return the index at which the last argument of a call begins.

    Args:
        tokens: the tokens.
        opening: the index of the bracket that opens the arguments.
    """
    closing = find_closing(tokens, opening)
    start = opening + 1
    index = start
    while index < closing:
        if tokens[index].text in _OPENING_BRACKETS:
            index = find_closing(tokens, index)
        elif tokens[index].text == ",":
            start = index + 1
        index += 1
    return start


def find_operand_end(tokens: Sequence[TextToken], start: int) -> int:
    """Return the index after the operand that begins at an index.

    An operand is a name, a literal, a call or an expression in parentheses, with signs before it,
    and with fields, elements and casts after it: `-a.b[1]::INT`. Without an operand, the result is
    the index after the signs.
    """
    index = start
    while index < len(tokens) and tokens[index].text in _SIGNS:
        index += 1
    if index == len(tokens) or not _can_begin_operand(tokens[index]):
        return index
    index = find_closing(tokens, index) + 1 if tokens[index].text == "(" else index + 1
    while index < len(tokens):
        text = tokens[index].text
        if text in _OPENING_BRACKETS:  # the call `f(x)`, or the element `tags[1]`
            index = find_closing(tokens, index) + 1
        elif text in ("::", "."):  # the cast `x::INT`, or the field `f(x) . y`
            index += 2
        elif text.startswith(".") or _is_quoted_field(tokens, index):  # `f(x).y`, or a.`b c`
            index += 1
        else:
            break
    return min(index, len(tokens))


def _is_quoted_field(tokens: Sequence[TextToken], index: int) -> bool:
    """Return whether the token at an index is a name in backticks after a point."""
    return tokens[index].text[0] == "`" and tokens[index - 1].text.endswith(".")


def find_operand_start(tokens: Sequence[TextToken], end: int) -> int:
    """Return the index of the first token of the operand whose last token is before `end`."""
    for start in range(end):
        if find_operand_end(tokens, start) >= end and _can_begin_operand(tokens[start]):
            return start
    return end - 1


def _can_begin_operand(token: TextToken) -> bool:
    """Return whether an operand can begin with a token, apart from its sign."""
    return token.text == "(" or _is_word(token)


def _find_operators(tokens: Sequence[TextToken]) -> list[int]:
    """Return the indices of the operators that are outside of all brackets.

    The list is empty unless all tokens are operands with comparisons and arithmetic between them.
    """
    indices = []
    end = find_operand_end(tokens, 0)
    while end < len(tokens) - 1:
        is_operator = tokens[end].text.upper() in _OPERATORS
        next_end = find_operand_end(tokens, end + 1)
        if not is_operator or next_end == end + 1:
            return []
        indices.append(end)
        end = next_end
    return indices if end == len(tokens) else []


def _find_comparisons(tokens: Sequence[TextToken]) -> list[int]:
    """Return the indices of the comparisons among the operators of `_find_operators`."""
    return [index for index in _find_operators(tokens) if tokens[index].text in _COMPARISONS]


# Parts of an expression.


def remove_parentheses(text: str) -> str:
    """Return an expression without the parentheses around all of it.

    >>> remove_parentheses("(a - b)"), remove_parentheses("(a) - (b)")
    ('a - b', '(a) - (b)')
    """
    tokens = read_tokens(text)
    if not tokens or not is_in_parentheses(tokens):
        return text
    return text[tokens[0].end : tokens[-1].start]


@dataclass(frozen=True, slots=True)
class OperationText:
    """The texts of an operation with an operator between two operands, such as `a + 1 < b`."""

    left: str
    operator: str
    right: str


def split_at_operator(text: str) -> OperationText | None:
    """Split an expression at its only comparison, or else at its only arithmetic operator.

    Parentheses around the whole expression are dropped. Returns None if the expression has no such
    operator, or several.

    >>> split_at_operator("(close + 1 < upper(a || b))")
    OperationText(left='close + 1', operator='<', right='upper(a || b)')
    >>> split_at_operator("a + b + c")
    >>> split_at_operator("a < b AND c")
    """
    tokens = read_tokens(text)
    if not tokens:
        return None
    if is_in_parentheses(tokens):
        return split_at_operator(text[tokens[0].end : tokens[-1].start])
    split_operators = _find_comparisons(tokens) or _find_operators(tokens)
    if len(split_operators) != 1:
        return None
    (operator_index,) = split_operators
    left = text[tokens[0].start : tokens[operator_index - 1].end]
    right = text[tokens[operator_index + 1].start : tokens[-1].end]
    return OperationText(left, tokens[operator_index].text, right)


def split_chain(text: str) -> str | None:
    """Return a chain of two comparisons as two comparisons; None for other texts.

    Parentheses around the whole chain are dropped.

    >>> split_chain("(A.v < B.v < 5)"), split_chain("A.v < 5")
    ('A.v < B.v AND B.v < 5', None)
    """
    tokens = read_tokens(text)
    if not tokens:
        return None
    if is_in_parentheses(tokens):
        return split_chain(text[tokens[0].end : tokens[-1].start])
    comparisons = _find_comparisons(tokens)
    if len(comparisons) != 2:
        return None
    first, second = comparisons
    middle = text[tokens[first + 1].start : tokens[second - 1].end]
    left = text[tokens[0].start : tokens[second - 1].end]
    return fit_on_line(f"{left} AND {middle}{text[tokens[second - 1].end : tokens[-1].end]}")


@dataclass(frozen=True, slots=True)
class IndexedValue:
    """A value with an index in brackets, such as `tags[n]`, and where it is in a text."""

    value: str
    index: str
    start: int
    end: int


def list_indexed_values(text: str) -> list[IndexedValue]:
    """Return the values with an index in brackets, in the order of their brackets.

    >>> list_indexed_values("f(a.x[n + 1]) > 0 AND 'b[i]' <> c /* d[i] */")
    [IndexedValue(value='a.x', index='n + 1', start=2, end=12)]
    >>> [indexed.value for indexed in list_indexed_values("x IN (array(1, 2)[i], y[0][j])")]
    ['array(1, 2)', 'y', 'y[0]']
    """
    tokens = split_tokens(blank_comments(text))
    indexed_values = []
    for opening in range(1, len(tokens)):
        before = tokens[opening - 1]
        has_value = before.text in _CLOSING_BRACKETS or _is_word(before)
        if tokens[opening].text != "[" or not has_value:
            continue
        start = tokens[_find_value_start(tokens, opening)].start
        closing = tokens[find_closing(tokens, opening)]
        value = text[start : before.end]
        index = text[tokens[opening].end : closing.start].strip()
        indexed_values.append(IndexedValue(value, index, start, closing.end))
    return indexed_values


def blank_comments(text: str) -> str:
    """Return a text of the same length that has blanks instead of comments.

    >>> blank_comments("a /* b */ > '--'")
    "a         > '--'"
    """

    def blank_comment(match: re.Match[str]) -> str:
        """Return blanks for a comment, and a string or a name in backticks as it is."""
        return match[0] if match["comment"] is None else " " * len(match[0])

    return _COMMENT_OR_QUOTED_TEXT.sub(blank_comment, text)


def _find_value_start(tokens: Sequence[TextToken], end: int) -> int:
    """Return the index of the first token of the value whose last token is before `end`.

    The value is a name, a call or an expression in parentheses, perhaps with other indices. Unlike
    `find_operand_start`, a sign is not a part of it, and any tokens may be before it.
    """
    index = end - 1
    while index > 0:
        before = tokens[index - 1]
        if tokens[index].text in _CLOSING_BRACKETS:
            opening = _find_opening(tokens, index)
            if opening == 0:
                return 0
            before = tokens[opening - 1]
            is_name = _is_word(before) and before.text.upper() not in _KEYWORDS_BEFORE_BRACKET
            follows_bracket = before.text in _CLOSING_BRACKETS
            # `f(x)` and `y[0]` begin with the name, `f(x)[0]` and `y[0][1]` before the bracket.
            has_value_before = is_name or (tokens[opening].text == "[" and follows_bracket)
            if not has_value_before:
                return opening
            index = opening - 1
        elif tokens[index].text.startswith(".") or before.text.endswith("."):
            index -= 1
        else:
            break
    return index


def fit_on_line(text: str) -> str | None:
    """Return an expression on one line; None if it is too long to be a part of a hint."""
    line = join_lines(text) if "\n" in text else text
    return line if len(line) <= _MAX_HINT_LENGTH else None
