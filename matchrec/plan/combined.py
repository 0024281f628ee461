"""Expressions that are put together of others, with the text that Spark evaluates."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.plan.expression import Operation, Piece, Scalar, Term, set_apart
from matchrec.source import Span


def joined(operator: str, parts: Sequence[Scalar], span: Span | None = None) -> Scalar:
    """Several conditions as one, by AND or OR; one condition is itself.

    span: of the whole; None for the least one that covers the parts.
    """
    if len(parts) == 1:
        return parts[0]
    pieces: list[Piece] = []
    for part in parts:
        pieces += [f" {operator} (" if pieces else "(", *part.pieces, ")"]
    covered = span or parts[0].span.to(parts[-1].span)
    return Operation(operator, tuple(parts), tuple(pieces), covered)


def conjuncts(condition: Scalar) -> tuple[Scalar, ...]:
    """The parts of a condition that must all be true."""
    if isinstance(condition, Operation) and condition.operator == "AND":
        return tuple(part for operand in condition.operands for part in conjuncts(operand))
    return (condition,)


def negation(condition: Scalar) -> Operation:
    """NOT of a condition: unknown where the condition is."""
    return Operation("NOT", (condition,), ("NOT (", *condition.pieces, ")"), condition.span)


def complement(condition: Scalar) -> Operation:
    """That a condition does not hold: it is false, or unknown.

    Its text is a CASE: Spark casts what IS NOT TRUE is asked of, and a text is no condition.
    """
    pieces = set_apart(("CASE WHEN ", *condition.pieces, " THEN FALSE ELSE TRUE END"))
    return Operation("IS NOT TRUE", (condition,), pieces, condition.span)


def comparison(operator: str, left: Term, right: Term) -> Operation:
    """Two values with the operator between them."""
    pieces = (*left.pieces, f" {operator} ", *right.pieces)
    return Operation(operator, (left, right), pieces, left.span)
