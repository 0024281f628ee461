"""Rewrite an expression that could not be computed, so that it is NULL instead.

    10/a > 1               10/NULLIF(a, 0) > 1
    CAST(A.w AS INT)       TRY_CAST(A.w AS INT)
    close < ticker         close < TRY_CAST(ticker AS INT)

The text is the user's. A rewritten expression is one line; it is None if it is too long for a hint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from matchrec.errors.run.expression_text import (
    DIVISIONS,
    TextToken,
    find_closing,
    find_last_argument,
    find_operand_end,
    find_operand_start,
    fit_on_line,
    is_in_parentheses,
    read_tokens,
    split_at_operator,
    split_tokens,
)

# Functions that divide by their last argument.
_DIVIDING_CALLS = frozenset(("MOD", "PMOD"))
# Functions that cast a string, with the type.
_CASTING_CALLS = {"TO_DATE": "DATE", "TO_TIMESTAMP": "TIMESTAMP"}
_TYPE_SYNONYMS = {"INTEGER": "INT", "LONG": "BIGINT", "SHORT": "SMALLINT", "REAL": "FLOAT"}


def guard_divisors(text: str) -> str | None:
    """Return an expression in which a division by zero is NULL; None if no division is found.

    >>> guard_divisors("10/A.a > 1"), guard_divisors("x / (a - b) + y")
    ('10/NULLIF(A.a, 0) > 1', 'x / NULLIF(a - b, 0) + y')
    >>> guard_divisors("mod(x, y - z) > 1"), guard_divisors("x + y")
    ('mod(x, NULLIF(y - z, 0)) > 1', None)
    """
    tokens = read_tokens(text)
    if tokens is None:
        return None
    guarded = _guard_tokens(text, tokens)
    return None if guarded == text else fit_on_line(guarded)


def _guard_tokens(text: str, tokens: Sequence[TextToken]) -> str:
    """Return a text in which each divisor is in a NULLIF, unless it is a number."""
    pieces = []
    copied_end = 0  # `pieces` has the text up to here
    for index in range(len(tokens)):
        divisor = _find_divisor(tokens, index)
        if not divisor or divisor[0].start < copied_end:  # in a divisor that is guarded
            continue
        is_number = len(divisor) == 1 and divisor[0].text[0].isdigit()
        inner = divisor[1:-1] if is_in_parentheses(divisor) else divisor
        if is_number or not inner:
            continue
        inner_text = text[inner[0].start : inner[-1].end]
        guarded = _guard_tokens(inner_text, split_tokens(inner_text))
        pieces += [text[copied_end : divisor[0].start], f"NULLIF({guarded}, 0)"]
        copied_end = divisor[-1].end
    return "".join((*pieces, text[copied_end:]))


def _find_divisor(tokens: Sequence[TextToken], index: int) -> Sequence[TextToken]:
    """Return the tokens of the divisor that follows a division.

    Args:
        tokens: the tokens of an expression.
        index: the index of an operator that divides, or of the name of a function that divides.

    Returns:
        The operand after the operator, or the last argument of the function; empty if the token at
        the index is another token.
    """
    word = tokens[index].text.upper()
    operand = index + 1
    if operand == len(tokens):
        return ()
    if word in DIVISIONS:
        return tokens[operand : find_operand_end(tokens, operand)]
    if word in _DIVIDING_CALLS and tokens[operand].text == "(":
        return tokens[find_last_argument(tokens, operand) : find_closing(tokens, operand)]
    return ()


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
    tokens = read_tokens(text)
    if tokens is None:
        return None
    pieces = []
    copied_end = 0  # `pieces` has the text up to here
    for cast in _find_casts(text, tokens, _name_type(type_name)):
        if cast.start >= copied_end:  # a cast in another cast stays
            pieces += [text[copied_end : cast.start], cast.try_cast]
            copied_end = cast.end
    return fit_on_line("".join((*pieces, text[copied_end:]))) if pieces else None


class _Cast(NamedTuple):
    """A cast in an expression, and where it is in the text: from `start` up to before `end`."""

    start: int
    end: int
    # The cast, written as a TRY_CAST.
    try_cast: str


def _find_casts(text: str, tokens: Sequence[TextToken], type_name: str) -> Iterator[_Cast]:
    """Yield the casts to a type, in the order in which they begin.

    Casts are CAST(w AS INT), w::INT, INT(w), and TO_DATE(w) for a DATE.

    Args:
        text: the expression.
        tokens: its tokens.
        type_name: the type, as `_name_type` returns it.
    """
    for index, token in enumerate(tokens[:-1]):
        word = token.text.upper()
        next_token = tokens[index + 1]
        if word == "::" and index > 0:
            start = tokens[find_operand_start(tokens, index)].start
            value = text[start : tokens[index - 1].end]
            end = _find_type_end(tokens, index + 1)
            target_name = text[next_token.start : end]
            if _name_type(target_name) == type_name:
                yield _Cast(start, end, f"TRY_CAST({value} AS {target_name})")
        if next_token.text != "(":
            continue
        closing = tokens[find_closing(tokens, index + 1)]
        inside = text[next_token.end : closing.start]
        if word == "CAST":
            target = re.search(r"(?is)\bAS\s+(?P<type>[\w\s(),]+)$", inside)
            if target is not None and _name_type(target["type"]) == type_name:
                yield _Cast(token.start, closing.end, f"TRY_CAST({inside})")
        elif _name_type(_CASTING_CALLS.get(word, word)) == type_name:
            has_format = find_last_argument(tokens, index + 1) != index + 2
            if not has_format:
                yield _Cast(token.start, closing.end, f"TRY_CAST({inside} AS {type_name})")


def _find_type_end(tokens: Sequence[TextToken], index: int) -> int:
    """Return the position after the type that begins with a token: INT, DECIMAL(10, 2)."""
    has_arguments = index + 1 < len(tokens) and tokens[index + 1].text == "("
    return tokens[find_closing(tokens, index + 1) if has_arguments else index].end


def _name_type(name: str) -> str:
    """Return the name by which Spark shows a type.

    >>> _name_type("decimal(10, 2)"), _name_type("Integer")
    ('DECIMAL(10,2)', 'INT')
    """
    compact = re.sub(r"\s+", "", name).upper()
    return _TYPE_SYNONYMS.get(compact, compact)


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
    tokens = read_tokens(text)
    if not tokens:
        return None
    end = find_operand_end(tokens, 0)
    is_value = end > 0 and tokens[0].text[0] not in "'(" and not tokens[0].text[0].isdigit()
    if end < len(tokens):
        if not is_value or tokens[end].text.upper() not in ("IN", "BETWEEN", "NOT"):
            return None
        value = text[tokens[0].start : tokens[end - 1].end]
        return fit_on_line(f"TRY_CAST({value} AS {type_name}){text[tokens[end - 1].end :]}")
    is_call = len(tokens) > 3 and tokens[1].text == "(" and find_closing(tokens, 1) == end - 1
    is_call = is_call and tokens[0].text.upper() not in ("CAST", "TRY_CAST")
    if not is_value or not is_call or find_last_argument(tokens, 1) != 2:
        return None
    value = text[tokens[2].start : tokens[-2].end]
    return fit_on_line(f"{tokens[0].text}(TRY_CAST({value} AS {type_name}))")


def try_cast_beside_number(text: str, type_name: str) -> str | None:
    """Return an operation of a string and a number literal, with the string in a TRY_CAST.

    Returns None for other expressions.

    >>> try_cast_beside_number("B.size > 5", "BIGINT")
    'TRY_CAST(B.size AS BIGINT) > 5'
    >>> try_cast_beside_number("B.size > B.n", "BIGINT")
    """
    operation = split_at_operator(text)
    if operation is None:
        return None
    left, right = operation.left, operation.right
    if right[0].isdigit() and not left[0].isdigit():
        return fit_on_line(f"TRY_CAST({left} AS {type_name}) {operation.operator} {right}")
    if left[0].isdigit() and not right[0].isdigit():
        return fit_on_line(f"{left} {operation.operator} TRY_CAST({right} AS {type_name})")
    return None
