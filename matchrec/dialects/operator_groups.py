"""Add parentheses around operations that sqlglot would group otherwise than a product.

sqlglot gives `|`, `^`, `&`, shifts and `||` the same precedence, which is lower than that of `+`:

    product                 text          sqlglot reads    the product reads
    Spark SQL, BigQuery     a | b & c     (a | b) & c      a | (b & c)
    Spark SQL, Oracle       a || b + c    a || (b + c)     (a || b) + c
    Azure                   a & b + c     a & (b + c)      (a & b) + c

So the text gets parentheses before sqlglot reads it. A text that both group alike stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot import Token

from matchrec.dialects.edits import Edit, apply_edits
from matchrec.dialects.products import Product
from matchrec.source import Span
from matchrec.syntax.tokenize import make_token_sequence
from matchrec.syntax.tokens import TokenSequence, split_words

# The precedence of each operator: an operator with a higher precedence takes its operands first.
# Operators with the same precedence are grouped from the left.
Precedences = Mapping[str, int]

# Operators of multiplication, whose precedence is the highest in all products.
_FACTORS = {"*": 6, "/": 6, "%": 6, "DIV": 6}
# The precedences with which sqlglot reads all dialects.
_SQLGLOT: Precedences = {
    **dict.fromkeys(("|", "^", "&", "<<", ">>", "||"), 1),
    **dict.fromkeys(("+", "-"), 5),
    **_FACTORS,
}
_SPARK: Precedences = {
    "|": 1,
    "^": 2,
    "&": 3,
    **dict.fromkeys(("<<", ">>"), 4),
    **dict.fromkeys(("+", "-", "||"), 5),
    **_FACTORS,
}
# `||` has the precedence of `*`.
_BIGQUERY: Precedences = {**_SPARK, "||": 6}
_AZURE: Precedences = {**dict.fromkeys(("+", "-", "&", "^", "|"), 5), **_FACTORS}

# The precedences in each product that differs from sqlglot. Trino and Snowflake have only `||`,
# which is weaker than `+` in sqlglot as well.
_PRECEDENCES_BY_PRODUCT: Mapping[str, Precedences] = {
    **dict.fromkeys(("spark", "standard", "databricks", "oracle"), _SPARK),
    **dict.fromkeys(("bigquery", "flink"), _BIGQUERY),
    "azure": _AZURE,
}

# Only in texts with these operators do sqlglot and a product differ. `||` has a `|`.
_DISPUTED_OPERATORS = ("|", "^", "&", "<<", ">>")

# Words with which no operand begins.
_KEYWORDS = frozenset(
    split_words(
        "ALL AND AS ASC BETWEEN BY CASE DESC DISTINCT ELSE END ESCAPE EXCEPT FROM GROUP HAVING "
        "ILIKE IN INTERSECT IS JOIN LIKE LIMIT NOT OFFSET ON OR ORDER OVER QUALIFY RLIKE SELECT "
        "THEN UNION USING VALUES WHEN WHERE WINDOW"
    )
)
# Operators before an operand, and `@`, which begins a parameter of BigQuery.
_PREFIXES = ("-", "+", "~", "@")


@dataclass(frozen=True, slots=True)
class _Operation:
    """An operator and its two operands."""

    left: _Operand
    operator: str
    right: _Operand


# An operation, or the tokens of an operand that has no operators outside of its brackets.
_Operand = _Operation | range


def _find_tokens(operand: _Operand) -> range:
    """Return the indices of all tokens of an operand, from its first to its last token."""
    if isinstance(operand, range):
        return operand
    return range(_find_tokens(operand.left).start, _find_tokens(operand.right).stop)


class _PendingOperator(NamedTuple):
    """An operator whose right operand is not complete yet."""

    left: _Operand
    operator: str


@dataclass(frozen=True, slots=True)
class _Chain:
    """Operands with operators between them, at one level of brackets: `a | (b + c) & d`."""

    # The indices of the tokens of each operand, in the order of the text.
    operands: Sequence[range]
    # The operators, each between two operands: there is one operator fewer than operands.
    operators: Sequence[str]


def parenthesize_chains(text: str, tokens: Sequence[Token], product: Product) -> str:
    """Return the text with parentheses, so that sqlglot groups operators as the product does.

    Args:
        text: an expression or a query.
        tokens: sqlglot's tokens of the text.
        product: the product whose SQL it is.
    """
    precedences = _PRECEDENCES_BY_PRODUCT.get(product.name)
    if precedences is None or not any(operator in text for operator in _DISPUTED_OPERATORS):
        return text
    sequence = make_token_sequence(tokens, text)
    return apply_edits(text, _find_parentheses(sequence, precedences)).text


def _find_parentheses(tokens: TokenSequence, precedences: Precedences) -> Iterator[Edit]:
    """Yield the edits that add parentheses to all chains."""
    for chain in _find_chains(tokens):
        if len(chain.operators) < 2 or not {*chain.operators} <= precedences.keys():
            continue
        operation = _group_by_precedence(chain, precedences)
        if operation == _group_by_precedence(chain, _SQLGLOT):
            continue
        for operand in _walk_inner_operations(operation):
            operand_tokens = _find_tokens(operand)
            start = tokens[operand_tokens[0]].span.start
            end = tokens[operand_tokens[-1]].span.end
            yield Edit(Span(start, start), "(")
            yield Edit(Span(end, end), ")")


def _find_chains(tokens: TokenSequence) -> Iterator[_Chain]:
    """Yield the chains of a text, each in full length. A chain in brackets is separate."""
    read_tokens: set[int] = set()  # the tokens of chains, without those in their brackets
    for index in range(len(tokens)):
        if index in read_tokens:
            continue
        chain = _read_chain(tokens, index)
        if chain.operands:
            read_tokens.update(tokens.walk_level(index, chain.operands[-1].stop))
            yield chain


def _read_chain(tokens: TokenSequence, start: int) -> _Chain:
    """Return the longest chain that begins with a token, or an empty chain if no operand does."""
    operands: list[range] = []
    operators: list[str] = []
    operator = ""  # the one before the next operand
    index = start
    while (end := _find_end_of_operand(tokens, index)) is not None:
        if operands:
            operators.append(operator)
        operands.append(range(index, end))
        operator, index = _read_operator(tokens, end)
        if operator not in _SQLGLOT:
            break
    return _Chain(operands, operators)


def _read_operator(tokens: TokenSequence, index: int) -> tuple[str, int]:
    """Return the operator at an index, and the index after it. `<<` and `>>` are two tokens each.

    The operator is the key of the token, which may also be something else than an operator.
    """
    key = tokens.key(index)
    if key in ("<", ">") and tokens.key(index + 1) == key:
        return key * 2, index + 2
    return key, index + 1


def _find_end_of_operand(tokens: TokenSequence, start: int) -> int | None:
    """Return the index after the operand that begins with a token; None if none begins there.

    An operand is a name, a constant, a call, a CASE or something in brackets, with its prefixes and
    suffixes: `-f(x) OVER w`, `a.b[1]::INT`.
    """
    index = start
    while tokens.key(index) in _PREFIXES:
        index += 1
    if index >= len(tokens):
        return None
    token = tokens[index]
    if token.key == "CASE":
        index = _find_end_of_case(tokens, index)
    elif index in tokens.pairs:
        index = tokens.index_after(index)
    elif token.key in _KEYWORDS or not (token.is_name or token.is_constant):
        return None
    else:
        index += 1
        if token.is_word and index < len(tokens) and tokens[index].is_string:
            index += 1  # DATE '2024-01-02'
    return _skip_suffixes(tokens, index)


def _skip_suffixes(tokens: TokenSequence, start: int) -> int:
    """Return the index after all suffixes of an operand, such as arguments, casts and OVER.

    Args:
        tokens: the tokens of the text.
        start: the index after the name, constant or bracket to which the suffixes belong.
    """
    index = start
    while True:
        key = tokens.key(index)
        if index in tokens.pairs:
            index = tokens.index_after(index)
        elif key in (".", "::"):
            index += 2
        elif key in ("OVER", "FILTER"):
            index = tokens.index_after(index + 1)
        else:
            return index


def _find_end_of_case(tokens: TokenSequence, start: int) -> int:
    """Return the index after the END of a CASE, or after the last token if it has no END."""
    depth = 0
    for index in range(start, len(tokens)):
        depth += {"CASE": 1, "END": -1}.get(tokens.key(index), 0)
        if depth == 0:
            return index + 1
    return len(tokens)


def _group_by_precedence(chain: _Chain, precedences: Precedences) -> _Operand:
    """Return a chain as a tree of operations; its only operand if it has no operators.

    In Spark SQL, `a | b & c` is this operation, where `b` is the token at index 2:

    >>> chain = _Chain([range(0, 1), range(2, 3), range(4, 5)], ["|", "&"])
    >>> _group_by_precedence(chain, _SPARK).right
    _Operation(left=range(2, 3), operator='&', right=range(4, 5))
    """
    operand: _Operand = chain.operands[0]
    pending: list[_PendingOperator] = []  # a stack, in which precedences increase
    for operator, next_operand in zip(chain.operators, chain.operands[1:], strict=True):
        while pending and precedences[pending[-1].operator] >= precedences[operator]:
            earlier = pending.pop()
            operand = _Operation(earlier.left, earlier.operator, operand)
        pending.append(_PendingOperator(operand, operator))
        operand = next_operand
    while pending:
        earlier = pending.pop()
        operand = _Operation(earlier.left, earlier.operator, operand)
    return operand


def _walk_inner_operations(operand: _Operand) -> Iterator[_Operation]:
    """Yield all operations inside an operation, outer ones first."""
    if isinstance(operand, range):
        return
    for inner in (operand.left, operand.right):
        if isinstance(inner, _Operation):
            yield inner
            yield from _walk_inner_operations(inner)
