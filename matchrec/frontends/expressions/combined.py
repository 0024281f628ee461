"""Text with other pieces in the places of some of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from matchrec.plan.expression import Piece, set_apart
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
