"""What Spark evaluates after the match: SQL text with places for reads and for aggregates.

An aggregate that the workers do not compute is Spark's: `RowAggregate` says over which rows of the
match it runs, and what it evaluates on each of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.plan.expression import Aggregate


@dataclass(frozen=True, slots=True)
class AggregatePlace:
    """The place of an aggregate of Spark's, by index."""

    index: int


Piece = str | int | AggregatePlace  # a number is the index of a read
Pieces = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class RowField:
    """A column of a row of the match, by its index among those that the rows bring."""

    index: int


@dataclass(frozen=True, slots=True)
class RowVariable:
    """The name of the variable to which a row of the match is mapped."""


@dataclass(frozen=True, slots=True)
class RowPosition:
    """The number of a row in its match, from 1."""


RowPiece = str | int | RowField | RowVariable | RowPosition  # a number is the index of a read
RowTerm = tuple[RowPiece, ...]


@dataclass(frozen=True, slots=True)
class RowAggregate:
    """An aggregate that Spark computes over the rows of each match.

    call: its function, and what is said beside it. variables: whose rows it is over. ordering: of
    WITHIN GROUP, each with the words after it. last: the index of the read that says up to which
    position of the match it looks; None for all of it.
    """

    call: Aggregate
    variables: tuple[str, ...]
    arguments: tuple[RowTerm, ...]
    ordering: tuple[tuple[RowTerm, str], ...]
    condition: RowTerm | None
    last: int | None
