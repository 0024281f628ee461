"""Parentheses around operands where sqlglot groups operators otherwise than a product.

For sqlglot, `|`, `^`, `&`, shifts and `||` are equally strong, and weaker than `+`:

    product                 text          sqlglot reads    the product reads
    Spark SQL, BigQuery     a | b & c     (a | b) & c      a | (b & c)
    Spark SQL, Oracle       a || b + c    a || (b + c)     (a || b) + c
    Azure                   a & b + c     a & (b + c)      (a & b) + c

So the text gets parentheses before sqlglot reads it. A text that both group alike stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import Token

from matchrec.dialects.edits import Edit, apply_edits
from matchrec.dialects.products import Product
from matchrec.source import Span
from matchrec.syntax.tokenize import make_sequence
from matchrec.syntax.tokens import TokenSequence, split_words

# How strong operators are: a stronger one takes its operands first. Equal ones go from the left.
Strengths = Mapping[str, int]

_FACTORS = {"*": 6, "/": 6, "%": 6, "DIV": 6}
_SQLGLOT: Strengths = {
    **dict.fromkeys(("|", "^", "&", "<<", ">>", "||"), 1),
    "+": 5,
    "-": 5,
    **_FACTORS,
}
_SPARK: Strengths = {"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "||": 5, **_FACTORS}
# `||` is as strong as `*`.
_BIGQUERY: Strengths = {**_SPARK, "||": 6}
_AZURE: Strengths = {**dict.fromkeys(("+", "-", "&", "^", "|"), 5), **_FACTORS}

# By the name of a product. Trino and Snowflake have no such operators but `||`, which is weak.
_STRENGTHS: Mapping[str, Strengths] = {
    **dict.fromkeys(("spark", "standard", "databricks", "oracle"), _SPARK),
    **dict.fromkeys(("bigquery", "flink"), _BIGQUERY),
    "azure": _AZURE,
}

# Words with which no operand begins.
_KEYWORDS = frozenset(
    split_words(
        "ALL AND AS ASC BETWEEN BY CASE DESC DISTINCT ELSE END ESCAPE EXCEPT FROM GROUP HAVING "
        "ILIKE IN INTERSECT IS JOIN LIKE LIMIT NOT OFFSET ON OR ORDER OVER QUALIFY RLIKE SELECT "
        "THEN UNION USING VALUES WHEN WHERE WINDOW"
    )
)
_SIGNS = ("-", "+", "~", "@")


@dataclass(frozen=True, slots=True)
class _Operation:
    """An operator and its operands, each an operation or the number of an operand in the text."""

    left: _Operation | int
    operator: str
    right: _Operation | int

    @property
    def first(self) -> int:
        """Return the number of the first operand."""
        return self.left if isinstance(self.left, int) else self.left.first

    @property
    def last(self) -> int:
        """Return the number of the last operand."""
        return self.right if isinstance(self.right, int) else self.right.last


@dataclass(frozen=True, slots=True)
class _Chain:
    """Operands with operators between them, at one level of parentheses."""

    # The tokens of each operand, as half open ranges.
    operands: list[range]
    operators: list[str]


def parenthesize_chains(text: str, tokens: Sequence[Token], product: Product) -> str:
    """Return the text with parentheses, so that sqlglot groups operators as the product does.

    Args:
        text: an expression or a query.
        tokens: its tokens.
        product: the product whose SQL it is.
    """
    strengths = _STRENGTHS.get(product.name)
    if strengths is None or not any(operator in text for operator in ("|", "^", "&", "<<", ">>")):
        return text
    sequence = make_sequence(tokens, text)
    return apply_edits(text, _find_edits(sequence, strengths)).text


def _find_edits(tokens: TokenSequence, strengths: Strengths) -> Iterator[Edit]:
    """Yield the edits that add parentheses to all chains."""
    read_tokens: set[int] = set()  # the tokens of chains, without those in their parentheses
    for index in range(len(tokens)):
        if index in read_tokens:
            continue
        chain = _read_chain(tokens, index)
        if chain.operands:
            read_tokens.update(tokens.walk_level(index, chain.operands[-1].stop))
        if len(chain.operators) < 2 or not {*chain.operators} <= strengths.keys():
            continue
        operation = _group(chain.operators, strengths)
        if operation == _group(chain.operators, _SQLGLOT):
            continue
        for part in _walk_inner_operations(operation):
            start = tokens[chain.operands[part.first][0]].span.start
            end = tokens[chain.operands[part.last][-1]].span.end
            yield Edit(Span(start, start), "(")
            yield Edit(Span(end, end), ")")


def _read_chain(tokens: TokenSequence, start: int) -> _Chain:
    """Return the longest chain that begins with a token."""
    chain = _Chain([], [])
    index = start
    while True:
        end = _find_end_of_operand(tokens, index)
        if end is None:
            if chain.operators:
                chain.operators.pop()
            return chain
        chain.operands.append(range(index, end))
        operator = tokens.key(end)
        index = end + 1
        if operator in ("<", ">") and tokens.key(end + 1) == operator:
            operator *= 2
            index += 1
        if operator not in _SQLGLOT:
            return chain
        chain.operators.append(operator)


def _find_end_of_operand(tokens: TokenSequence, start: int) -> int | None:
    """Return the index after the operand that begins with a token; None if none begins there."""
    index = start
    while tokens.key(index) in _SIGNS:
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


def _group(operators: Sequence[str], strengths: Strengths) -> _Operation | int:
    """Return the operation of a chain.

    >>> _group(["|", "&"], _SPARK)
    _Operation(left=0, operator='|', right=_Operation(left=1, operator='&', right=2))
    """
    # Operations whose right operand is not read yet, from the weakest to the strongest.
    waiting: list[tuple[_Operation | int, str]] = []
    operand: _Operation | int = 0
    for number, operator in enumerate(operators):
        while waiting and strengths[waiting[-1][1]] >= strengths[operator]:
            left, earlier_operator = waiting.pop()
            operand = _Operation(left, earlier_operator, operand)
        waiting.append((operand, operator))
        operand = number + 1
    while waiting:
        left, operator = waiting.pop()
        operand = _Operation(left, operator, operand)
    return operand


def _walk_inner_operations(operation: _Operation | int) -> Iterator[_Operation]:
    """Yield the operations that are operands of others in the tree of an operation."""
    if isinstance(operation, int):
        return
    for operand in (operation.left, operation.right):
        if not isinstance(operand, int):
            yield operand
            yield from _walk_inner_operations(operand)
