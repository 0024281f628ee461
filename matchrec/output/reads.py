"""Reads: the values that the output of a match is made of, one column each.

What stands around them in a measure is Spark's to evaluate afterwards. `column` is an index among
the columns that Spark computed before the match.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from matchrec.plan.expression import Navigation, Semantics


@dataclass(frozen=True, slots=True)
class ReadRow:
    """The column on the input row that the output row stands for."""

    column: int


@dataclass(frozen=True, slots=True)
class ReadAt:
    """The column on the row that a navigation finds."""

    column: int
    navigation: Navigation


@dataclass(frozen=True, slots=True)
class ReadClassifierAt:
    """The name of the variable to which the row found by a navigation is mapped."""

    navigation: Navigation


@dataclass(frozen=True, slots=True)
class ReadMatchNumber:
    """The number of the match in its partition."""


@dataclass(frozen=True, slots=True)
class ReadIsMatched:
    """Whether the output row belongs to a match, be it an empty one."""


@dataclass(frozen=True, slots=True)
class ReadCount:
    """How many values, or with `column` None how many rows, the variable has."""

    variable: str | None
    column: int | None
    semantics: Semantics


@dataclass(frozen=True, slots=True)
class ReadSum:
    """The sum of the variable's values, NULL of none."""

    variable: str | None
    column: int
    semantics: Semantics


@dataclass(frozen=True, slots=True)
class ReadAverage:
    """The average of the variable's values as a double, NULL of none."""

    variable: str | None
    column: int
    semantics: Semantics


@dataclass(frozen=True, slots=True)
class ReadExtreme:
    """The least or the greatest of the variable's values."""

    variable: str | None
    column: int
    semantics: Semantics
    greatest: bool


@dataclass(frozen=True, slots=True)
class ReadCollected:
    """The variable's values that are not NULL, as an array, in the order of the rows."""

    variable: str | None
    column: int
    semantics: Semantics


@dataclass(frozen=True, slots=True)
class ReadMatchedRows:
    """All rows of the match as an array of structs, for aggregates that Spark computes from it.

    columns: become fields c0, c1, ... of the structs; field v is the name of the row's variable, p
    its position in the match from 0.
    """

    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReadPosition:
    """The position in its match of the row from which measures look, -1 of an empty match."""


@dataclass(frozen=True, slots=True)
class ReadNothing:
    """TRUE of every output row, where nothing else is read: without a column no row crosses."""


@dataclass(frozen=True, slots=True)
class ReadKind:
    """Whether a match is one, or a run whose window has ended: see `nfa.places`."""


class PointerField(Enum):
    """What the compressed form says of a pointer beside its event and its state."""

    ROW = "row"
    VERSION = "version"
    PREVIOUS_STATE = "previous_state"
    PREVIOUS_ROW = "previous_row"
    COMPLETES = "completes"


@dataclass(frozen=True, slots=True)
class ReadPointer:
    """A field of a pointer of the graph of all matches.

    ROW, PREVIOUS_ROW: the positions of the entry and of the one before it in their partition, from
    1. VERSION: a Dewey number. COMPLETES: whether a match ends here.
    """

    field: PointerField


Read = (
    ReadMatchedRows
    | ReadPosition
    | ReadRow
    | ReadAt
    | ReadCollected
    | ReadClassifierAt
    | ReadKind
    | ReadNothing
    | ReadMatchNumber
    | ReadPointer
    | ReadIsMatched
    | ReadCount
    | ReadSum
    | ReadAverage
    | ReadExtreme
)
