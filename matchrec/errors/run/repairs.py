"""Rewrite an expression that could not be computed, so that it is NULL instead.

    10/a > 1               10/NULLIF(a, 0) > 1
    CAST(A.w AS INT)       TRY_CAST(A.w AS INT)
    close < ticker         close < TRY_CAST(ticker AS INT)

The text is the user's. It is split into tokens here and not by `syntax.tokenize`, because `errors`
may not import `syntax`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from matchrec.errors.wording import join_lines

# A token of an expression: a quoted name, a string, a word with points, an operator, or another
# character.
_TOKEN_PATTERN = re.compile(r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|[\w.]+|::|<=>|[<>!=]=|<>|\|\||\S")
_COMMENT = re.compile(r"--|/\*")
_STRING_OR_COMMENT = re.compile(
    r"'(?:[^'\\]|\\.)*'|`[^`]*`|(?P<comment>--[^\n]*|/\*.*?\*/)", re.DOTALL
)
# Words before a bracket that are not the name of a function.
_KEYWORDS = frozenset(
    (
        "SELECT",
        "DISTINCT",
        "FROM",
        "ON",
        "WHERE",
        "HAVING",
        "BY",
        "AS",
        "AND",
        "OR",
        "NOT",
        "BETWEEN",
        "IN",
        "LIKE",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
    )
)
_DIVISIONS = frozenset(("/", "%", "DIV"))
# Functions that divide by their last argument.
_DIVIDING_CALLS = frozenset(("MOD", "PMOD"))
_COMPARISONS = frozenset(("=", "==", "<=>", "<>", "!=", "<", "<=", ">", ">="))
_OPERATORS = _DIVISIONS | _COMPARISONS | {"+", "-", "*", "||"}
# Functions that cast a string, with the type.
_CASTING_CALLS = {"TO_DATE": "DATE", "TO_TIMESTAMP": "TIMESTAMP"}
_TYPE_SYNONYMS = {"INTEGER": "INT", "LONG": "BIGINT", "SHORT": "SMALLINT", "REAL": "FLOAT"}
# The longest expression that a hint repeats, in characters.
_LONGEST = 100


class _Token(NamedTuple):
    """A token of an expression, and where it is in the text: from `start` up to before `end`."""

    text: str
    start: int
    end: int


def guard_divisors(text: str) -> str | None:
    """Return an expression in which a division by zero is NULL; None if no division is found.

    >>> guard_divisors("10/A.a > 1"), guard_divisors("x / (a - b) + y")
    ('10/NULLIF(A.a, 0) > 1', 'x / NULLIF(a - b, 0) + y')
    >>> guard_divisors("mod(x, y - z) > 1"), guard_divisors("x + y")
    ('mod(x, NULLIF(y - z, 0)) > 1', None)
    """
    tokens = _read_tokens(text)
    if tokens is None:
        return None
    guarded = _guard_tokens(text, tokens)
    return None if guarded == text else write_line(guarded)


def _guard_tokens(text: str, tokens: Sequence[_Token]) -> str:
    """Return a text in which each divisor is in a NULLIF, unless it is a number."""
    pieces = []
    copied_end = 0  # `pieces` has the text up to here
    for index in range(len(tokens)):
        divisor = _find_divisor(tokens, index)
        if not divisor or divisor[0].start < copied_end:  # in a divisor that is guarded
            continue
        is_number = len(divisor) == 1 and divisor[0].text[0].isdigit()
        inner = divisor[1:-1] if _is_in_parentheses(divisor) else divisor
        if is_number or not inner:
            continue
        inner_text = text[inner[0].start : inner[-1].end]
        guarded = _guard_tokens(inner_text, _split_tokens(inner_text))
        pieces += [text[copied_end : divisor[0].start], f"NULLIF({guarded}, 0)"]
        copied_end = divisor[-1].end
    return "".join((*pieces, text[copied_end:]))


def _find_divisor(tokens: Sequence[_Token], index: int) -> Sequence[_Token]:
    """Return the tokens of the divisor that follows a division.

    Args:
        tokens: the tokens of an expression.
        index: the index of an operator that divides, or of the name of a function that divides.

    Returns:
        The operand after the operator, or the last argument of the function; empty if the token at
        the index is another token.
    """
    word = tokens[index].text.upper()
    following = index + 1
    if following == len(tokens):
        return ()
    if word in _DIVISIONS:
        return tokens[following : _find_operand_end(tokens, following)]
    if word in _DIVIDING_CALLS and tokens[following].text == "(":
        return tokens[_find_last_argument(tokens, following) : _find_closing(tokens, following)]
    return ()


def _is_in_parentheses(tokens: Sequence[_Token]) -> bool:
    """Return whether parentheses enclose all of some tokens, as in `(a - b)`, not `(a) - (b)`."""
    return tokens[0].text == "(" and _find_closing(tokens, 0) == len(tokens) - 1


def try_casts(text: str, type_name: str) -> str | None:
    """Return an expression whose casts to a type are NULL if they fail; None if it has none.

    Args:
        text: the expression.
        type_name: the type, as Spark writes it.

    >>> try_casts("CAST(A.w AS INT) > 1", "INT"), try_casts("cast(w AS integer)", "INT")
    ('TRY_CAST(A.w AS INT) > 1', 'TRY_CAST(w AS integer)')
    >>> try_casts("A.w::INT > 1", "INT"), try_casts("1 < int(lower(w))", "INT")
    ('TRY_CAST(A.w AS INT) > 1', '1 < TRY_CAST(lower(w) AS INT)')
    >>> try_casts("CAST(w AS STRING) < close", "INT")
    """
    tokens = _read_tokens(text)
    if tokens is None:
        return None
    pieces = []
    copied_end = 0  # `pieces` has the text up to here
    for start, cast_end, try_cast in _find_casts(text, tokens, _name_type(type_name)):
        if start >= copied_end:  # a cast in another cast stays
            pieces += [text[copied_end:start], try_cast]
            copied_end = cast_end
    return write_line("".join((*pieces, text[copied_end:]))) if pieces else None


def _find_casts(
    text: str, tokens: Sequence[_Token], type_name: str
) -> Iterator[tuple[int, int, str]]:
    """Yield the position of each cast to a type, the position after it, and the cast as TRY_CAST.

    Casts are CAST(w AS INT), w::INT, INT(w), and TO_DATE(w) for a DATE.

    Args:
        text: the expression.
        tokens: its tokens.
        type_name: the type, as `_name_type` returns it.
    """
    for index, token in enumerate(tokens[:-1]):
        word = token.text.upper()
        following = tokens[index + 1]
        if word == "::" and index > 0:
            start = tokens[_find_operand_start(tokens, index)].start
            value = text[start : tokens[index - 1].end]
            end = _find_type_end(tokens, index + 1)
            target_name = text[following.start : end]
            if _name_type(target_name) == type_name:
                yield start, end, f"TRY_CAST({value} AS {target_name})"
        if following.text != "(":
            continue
        closing = _find_closing(tokens, index + 1)
        inside = text[following.end : tokens[closing].start]
        target = re.search(r"(?is)\bAS\s+(?P<type>[\w\s(),]+)$", inside)
        if word == "CAST":
            if target is not None and _name_type(target["type"]) == type_name:
                yield token.start, tokens[closing].end, f"TRY_CAST({inside})"
        elif _name_type(_CASTING_CALLS.get(word, word)) == type_name:
            has_format = _find_last_argument(tokens, index + 1) != index + 2
            if not has_format:
                end = tokens[closing].end
                yield token.start, end, f"TRY_CAST({inside} AS {type_name})"


def try_cast_only_value(text: str, type_name: str) -> str | None:
    """Return an expression of one value and literals, with the value in a TRY_CAST.

    Returns None for other expressions.

    >>> try_cast_only_value("w IN (1, 2)", "INT")
    'TRY_CAST(w AS INT) IN (1, 2)'
    >>> try_cast_only_value("A.w NOT BETWEEN 1 AND 2", "INT")
    'TRY_CAST(A.w AS INT) NOT BETWEEN 1 AND 2'
    >>> try_cast_only_value("abs(lower(w))", "DOUBLE")
    'abs(TRY_CAST(lower(w) AS DOUBLE))'
    >>> try_cast_only_value("power(v, w)", "DOUBLE")
    """
    tokens = _read_tokens(text)
    if not tokens:
        return None
    end = _find_operand_end(tokens, 0)
    is_value = end > 0 and tokens[0].text[0] not in "'(" and not tokens[0].text[0].isdigit()
    if end < len(tokens):
        if not is_value or tokens[end].text.upper() not in ("IN", "BETWEEN", "NOT"):
            return None
        value = text[tokens[0].start : tokens[end - 1].end]
        return write_line(f"TRY_CAST({value} AS {type_name}){text[tokens[end - 1].end :]}")
    is_call = len(tokens) > 3 and tokens[1].text == "(" and _find_closing(tokens, 1) == end - 1
    is_call = is_call and tokens[0].text.upper() not in ("CAST", "TRY_CAST")
    if not is_value or not is_call or _find_last_argument(tokens, 1) != 2:
        return None
    value = text[tokens[2].start : tokens[-2].end]
    return write_line(f"{tokens[0].text}(TRY_CAST({value} AS {type_name}))")


def try_cast_beside_number(text: str, type_name: str) -> str | None:
    """Return an operation of a string and a number literal, with the string in a TRY_CAST.

    Returns None for other expressions.

    >>> try_cast_beside_number("B.size > 5", "BIGINT")
    'TRY_CAST(B.size AS BIGINT) > 5'
    >>> try_cast_beside_number("B.size > B.n", "BIGINT")
    """
    operands = split_at_operator(text)
    if operands is None:
        return None
    left, operator, right = operands
    if right[0].isdigit() and not left[0].isdigit():
        return write_line(f"TRY_CAST({left} AS {type_name}) {operator} {right}")
    if left[0].isdigit() and not right[0].isdigit():
        return write_line(f"{left} {operator} TRY_CAST({right} AS {type_name})")
    return None


def remove_parentheses(text: str) -> str:
    """Return an expression without the parentheses around all of it.

    >>> remove_parentheses("(a - b)"), remove_parentheses("(a) - (b)")
    ('a - b', '(a) - (b)')
    """
    tokens = _read_tokens(text)
    if not tokens or not _is_in_parentheses(tokens):
        return text
    return text[tokens[0].end : tokens[-1].start]


def split_at_operator(text: str) -> tuple[str, str, str] | None:
    """Split an expression at its only comparison, or else at its only arithmetic operator.

    Parentheses around the whole expression are dropped.

    Returns:
        The left operand, the operator and the right operand; None if the expression has no such
        operator, or several.

    >>> split_at_operator("(close + 1 < upper(a || b))")
    ('close + 1', '<', 'upper(a || b)')
    >>> split_at_operator("a + b + c")
    >>> split_at_operator("a < b AND c")
    """
    tokens = _read_tokens(text)
    if not tokens:
        return None
    if _is_in_parentheses(tokens):
        return split_at_operator(text[tokens[0].end : tokens[-1].start])
    operators = _find_operators(tokens)
    comparisons = [index for index in operators if tokens[index].text in _COMPARISONS]
    splits = comparisons or operators
    if len(splits) != 1:
        return None
    (index,) = splits
    left = text[tokens[0].start : tokens[index - 1].end]
    right = text[tokens[index + 1].start : tokens[-1].end]
    return left, tokens[index].text, right


def split_chain(text: str) -> str | None:
    """Return a chain of two comparisons as two comparisons; None for other texts.

    >>> split_chain("A.v < B.v < 5"), split_chain("A.v < 5")
    ('A.v < B.v AND B.v < 5', None)
    """
    tokens = _read_tokens(text)
    if not tokens:
        return None
    operators = _find_operators(tokens)
    comparisons = [index for index in operators if tokens[index].text in _COMPARISONS]
    if len(comparisons) != 2:
        return None
    first, second = comparisons
    middle = text[tokens[first + 1].start : tokens[second - 1].end]
    left = text[: tokens[second - 1].end]
    return write_line(f"{left} AND {middle}{text[tokens[second - 1].end :]}")


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
    tokens = _split_tokens(_STRING_OR_COMMENT.sub(_blank_comment, text))
    indexed_values = []
    for opening in range(1, len(tokens)):
        before = tokens[opening - 1]
        has_value = before.text in (")", "]") or _is_word(before)
        if tokens[opening].text != "[" or not has_value:
            continue
        start = tokens[_find_value_start(tokens, opening)].start
        closing = tokens[_find_closing(tokens, opening)]
        value = text[start : before.end]
        index = text[tokens[opening].end : closing.start].strip()
        indexed_values.append(IndexedValue(value, index, start, closing.end))
    return indexed_values


def _blank_comment(match: re.Match[str]) -> str:
    """Return blanks for a comment, and a string or a name in backticks as it is."""
    return match[0] if match["comment"] is None else " " * len(match[0])


def _find_value_start(tokens: Sequence[_Token], end: int) -> int:
    """Return the index of the first token of the value whose last token is before `end`.

    The value is a name, a call or an expression in parentheses, perhaps with other indices.
    """
    index = end - 1
    while index > 0:
        before = tokens[index - 1]
        if tokens[index].text in (")", "]"):
            opening = _find_opening(tokens, index)
            if opening == 0:
                return 0
            before = tokens[opening - 1]
            is_name = _is_word(before) and before.text.upper() not in _KEYWORDS
            if not is_name and (tokens[opening].text == "(" or before.text not in (")", "]")):
                return opening
            index = opening - 1
        elif tokens[index].text.startswith(".") or before.text.endswith("."):
            index -= 1
        else:
            break
    return index


def _find_opening(tokens: Sequence[_Token], closing: int) -> int:
    """Return the index of the bracket that the bracket at an index closes; 0 if none is closed."""
    depth = 0
    for index in range(closing, -1, -1):
        depth += (tokens[index].text in (")", "]")) - (tokens[index].text in ("(", "["))
        if depth == 0:
            return index
    return 0


def _find_operators(tokens: Sequence[_Token]) -> list[int]:
    """Return the indices of the operators between operands that are outside of all brackets.

    The list is empty unless all tokens are operands with comparisons and arithmetic between them.
    """
    indices = []
    end = _find_operand_end(tokens, 0)
    while end < len(tokens) - 1:
        is_operator = tokens[end].text.upper() in _OPERATORS
        next_end = _find_operand_end(tokens, end + 1)
        if not is_operator or next_end == end + 1:
            return []
        indices.append(end)
        end = next_end
    return indices if end == len(tokens) else []


def _read_tokens(text: str) -> list[_Token] | None:
    """Return the tokens of an expression; None if it has a comment, which is not a token."""
    return None if _COMMENT.search(text) else _split_tokens(text)


def _split_tokens(text: str) -> list[_Token]:
    """Return the tokens of an expression without comments."""
    return [_Token(match[0], *match.span()) for match in _TOKEN_PATTERN.finditer(text)]


def _find_operand_end(tokens: Sequence[_Token], start: int) -> int:
    """Return the index after the operand that begins at an index.

    An operand is a name, a literal, a call or an expression in parentheses, with signs before it,
    and with fields, elements and casts after it: `-a.b[1]::INT`. Without an operand, the result is
    the index after the signs.
    """
    index = start
    while index < len(tokens) and tokens[index].text in ("-", "+", "~"):
        index += 1
    if index < len(tokens) and (tokens[index].text == "(" or _is_word(tokens[index])):
        index = _find_closing(tokens, index) + 1 if tokens[index].text == "(" else index + 1
        while index < len(tokens):
            if tokens[index].text in ("(", "["):
                index = _find_closing(tokens, index) + 1
            elif tokens[index].text == "::" or tokens[index].text.startswith("."):
                index += 2 if tokens[index].text in ("::", ".") else 1
            elif tokens[index].text[0] == "`" and tokens[index - 1].text.endswith("."):
                index += 1
            else:
                break
    return min(index, len(tokens))


def _is_word(token: _Token) -> bool:
    """Return whether a token is a name, a number or a string."""
    return token.text[0] in "`'_" or token.text[0].isalnum()


def _find_closing(tokens: Sequence[_Token], opening: int) -> int:
    """Return the index of the bracket that closes the bracket at an index.

    If no bracket closes it, return the index of the last token.
    """
    depth = 0
    for index in range(opening, len(tokens)):
        depth += (tokens[index].text in ("(", "[")) - (tokens[index].text in (")", "]"))
        if depth == 0:
            return index
    return len(tokens) - 1


def _find_last_argument(tokens: Sequence[_Token], opening: int) -> int:
    """Return the index at which the last argument of a call begins.

    Args:
        tokens: the tokens.
        opening: the index of the bracket that opens the arguments.
    """
    closing = _find_closing(tokens, opening)
    start = opening + 1
    index = start
    while index < closing:
        if tokens[index].text in ("(", "["):
            index = _find_closing(tokens, index)
        elif tokens[index].text == ",":
            start = index + 1
        index += 1
    return start


def _find_operand_start(tokens: Sequence[_Token], end: int) -> int:
    """Return the index of the first token of the operand whose last token is before `end`."""
    for start in range(end):
        if _find_operand_end(tokens, start) >= end and _is_word_or_bracket(tokens[start]):
            return start
    return end - 1


def _find_type_end(tokens: Sequence[_Token], index: int) -> int:
    """Return the position after the type that begins with a token: INT, DECIMAL(10, 2)."""
    has_arguments = index + 1 < len(tokens) and tokens[index + 1].text == "("
    return tokens[_find_closing(tokens, index + 1) if has_arguments else index].end


def _is_word_or_bracket(token: _Token) -> bool:
    """Return whether an operand can begin with a token, apart from its sign."""
    return token.text == "(" or _is_word(token)


def _name_type(name: str) -> str:
    """Return the name by which Spark shows a type.

    >>> _name_type("decimal(10, 2)"), _name_type("Integer")
    ('DECIMAL(10,2)', 'INT')
    """
    compact = re.sub(r"\s+", "", name).upper()
    return _TYPE_SYNONYMS.get(compact, compact)


def write_line(text: str) -> str | None:
    """Return an expression on one line; None if it is longer than `_LONGEST`."""
    line = join_lines(text) if "\n" in text else text
    return line if len(line) <= _LONGEST else None
