"""Expressions that are put together of others, with the text that Spark evaluates."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.plan.expression import Operation, Piece, Scalar, Term


def joined(operator: str, parts: Sequence[Scalar]) -> Scalar:
    """Several conditions as one, by AND or OR; one condition is itself."""
    if len(parts) == 1:
        return parts[0]
    pieces: list[Piece] = []
    for part in parts:
        pieces += [f" {operator} (" if pieces else "(", *part.pieces, ")"]
    return Operation(operator, tuple(parts), tuple(pieces), parts[0].span.to(parts[-1].span))


def negation(condition: Scalar) -> Operation:
    """NOT of a condition."""
    return Operation("NOT", (condition,), ("NOT (", *condition.pieces, ")"), condition.span)


def comparison(operator: str, left: Term, right: Term) -> Operation:
    """Two values with the operator between them."""
    pieces = (*left.pieces, f" {operator} ", *right.pieces)
    return Operation(operator, (left, right), pieces, left.span)
