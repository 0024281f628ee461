"""A place among the items of an expression: tokens, and references that are one item each."""

from __future__ import annotations

from matchrec.frontends.expressions.analysis import Analysis
from matchrec.frontends.expressions.references import Hole
from matchrec.frontends.lexing.tokens import Kind, Token, closings
from matchrec.plan.expression import Operation, Piece, Scalar, Term, set_apart
from matchrec.source import Span

Item = Token | Hole

_HOLE = Token(Kind.QUOTED, "", Span(0, 0))


def items_of(analysis: Analysis, holes: tuple[Hole, ...]) -> tuple[Item, ...]:
    """The expression's tokens with each reference as one item."""
    starts = {hole.start: hole for hole in holes}
    items: list[Item] = []
    index = 0
    while index < len(analysis.tokens):
        hole = starts.get(index)
        items.append(hole or analysis.tokens[index])
        index = hole.end if hole else index + 1
    return tuple(items)


def _token(item: Item) -> Token:
    """A token as it is, a hole as some name."""
    return item if isinstance(item, Token) else _HOLE


class Cursor:
    """Reads items `position .. end`, and makes nodes of those already read."""

    def __init__(self, analysis: Analysis, items: tuple[Item, ...]) -> None:
        self.analysis = analysis
        self.items = items
        self.pairs = closings([_token(item) for item in items])
        self.position = 0
        self.end = len(items)

    @property
    def key(self) -> str:
        return self.key_at(self.position)

    def key_at(self, index: int) -> str:
        return _token(self.items[index]).key if index < self.end else ""

    def accept(self, *keys: str) -> bool:
        for place, key in enumerate(keys, self.position):
            if self.key_at(place) != key:
                return False
        self.position += len(keys)
        return True

    def span(self, start: int, end: int) -> Span:
        return self.item_span(start).to(self.item_span(end - 1))

    def item_span(self, index: int) -> Span:
        item = self.items[index]
        return item.span if isinstance(item, Token) else self.analysis.span(item.start, item.end)

    def pieces(self, start: int, end: int) -> tuple[Piece, ...]:
        """The exact text of items `start .. end`, with holes."""
        pieces: list[Piece] = []
        position = self.item_span(start).start
        for index in range(start, end):
            item = self.items[index]
            if isinstance(item, Hole):
                here = self.item_span(index)
                pieces += [self.analysis.written(Span(position, here.start)), *item.read.pieces]
                position = here.end
        pieces.append(self.analysis.written(Span(position, self.item_span(end - 1).end)))
        return set_apart(pieces)

    def term(self, start: int, end: int) -> Term:
        return Term(self.pieces(start, end), self.span(start, end))

    def operation(self, operator: str, start: int, *operands: Scalar) -> Operation:
        """An operation over the items from `start` up to the current position."""
        end = self.position
        return Operation(operator, operands, self.pieces(start, end), self.span(start, end))

    def kind_at(self, index: int) -> Kind | None:
        item = self.items[index] if index < self.end else None
        return item.kind if isinstance(item, Token) else None

    def is_subquery(self, opening: int) -> bool:
        start = self.item_span(opening).start
        return self.analysis.is_subquery(self.analysis.index_at[start])
