"""Guards: conditions of the current row under which a part of a condition is asked at all.

    x <> 0 AND 10 / x < A.y   →   CASE WHEN x <> 0 THEN 10 / x END < A.y

What Spark computes for every row before the match must not fail on rows on which the condition
would not have come to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from matchrec.plan.combined import complement, joined, negation
from matchrec.plan.expression import ColumnReference, Operation, Scalar, set_apart

_QUOTIENT = re.compile(r"[/%](?!\s*[\d.]*[1-9])|\b(?:DIV|P?MOD)\b", re.IGNORECASE)
_READING = re.compile(
    r"""\[ | :: | \b(?: CAST | (?:TINY|SMALL|BIG)?INT | DOUBLE | FLOAT | DECIMAL | BOOLEAN | DATE
    | TIMESTAMP | ELEMENT_AT | ELT | RAISE_ERROR | ASSERT_TRUE | (?:TO|MAKE|PARSE)_\w+ )\b""",
    re.VERBOSE | re.IGNORECASE,
)


def may_divide(scalar: Scalar) -> bool:
    """Whether it has a quotient whose divisor may be zero, by its words."""
    return _has(_QUOTIENT, scalar)


def may_fail(scalar: Scalar) -> bool:
    """Whether it has such a quotient, a cast, an element or a text that is read, by its words."""
    return may_divide(scalar) or _has(_READING, scalar)


def _has(words: re.Pattern[str], scalar: Scalar) -> bool:
    texts = (
        piece.argument if isinstance(piece, ColumnReference) else piece for piece in scalar.pieces
    )
    return any(words.search(text) for text in texts if isinstance(text, str))


def under(guards: Sequence[Scalar], scalar: Scalar) -> Scalar:
    """The expression where all guards hold, in their order; NULL elsewhere."""
    if not guards:
        return scalar
    guard = joined("AND", guards)
    pieces = set_apart(("CASE WHEN ", *guard.pieces, " THEN ", *scalar.pieces, " END"))
    return Operation("CASE", (guard, scalar), pieces, scalar.span)


def guards_of(operation: Operation) -> Iterator[tuple[Scalar, ...]]:
    """For each operand, what of those before it must hold for it to be asked."""
    operands = operation.operands
    for place in range(len(operands)):
        before = operands[:place]
        match operation.operator:
            case "AND":
                yield tuple(complement(negation(one)) for one in before)
            case "OR":
                yield tuple(map(complement, before))
            case "COALESCE" | "NVL" | "IFNULL":
                yield tuple(map(_unknown, before))
            case "IF" | "CASE":
                yield _of_branch(before)
            case _:
                yield ()


def _of_branch(before: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Of a condition or a value of CASE: earlier conditions fail, that of the value holds."""
    conditions = before[0::2]
    is_value = len(before) % 2 == 1
    taken = conditions[-1:] if is_value else ()
    return (*map(complement, conditions[:-1] if is_value else conditions), *taken)


def _unknown(scalar: Scalar) -> Operation:
    return Operation("IS NULL", (scalar,), ("(", *scalar.pieces, ") IS NULL"), scalar.span)
