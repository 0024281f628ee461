"""Expressions that are put together of others, with the text that Spark evaluates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from matchrec.plan.expression import Operation, Piece, Scalar, Term, set_apart
from matchrec.source import Span


def with_holes(
    write: Callable[[Span], str], span: Span, holes: Iterable[tuple[Span, Iterable[Piece]]]
) -> tuple[Piece, ...]:
    """The text at `span`, as `write` gives it, with other pieces in the places of `holes`.

    The holes come in order; one that starts inside of another is left out.

    >>> text = "max(x) + 1"
    >>> with_holes(lambda at: text[at.start : at.end], Span(0, 10), [(Span(0, 6), ("y", ""))])
    ('y', ' + 1')
    """
    pieces: list[Piece] = []
    position = span.start
    for hole, inside in holes:
        if hole.start >= position:
            pieces += [write(Span(position, hole.start)), *inside]
            position = hole.end
    pieces.append(write(Span(position, span.end)))
    return set_apart(pieces)


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
