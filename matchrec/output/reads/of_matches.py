"""Reads of a match as a whole: its number, whether it is one, its pointers in a graph."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from matchrec.dataclass import dataclass
from matchrec.output.reads.read import Nullability, Read, ReadType


@dataclass(frozen=True, slots=True)
class ReadMatchNumber(Read):
    """The number of the match in its partition."""

    type: ClassVar[ReadType] = "bigint"
    nullability: ClassVar[Nullability] = Nullability.WITHOUT_NUMBER
    is_chained: ClassVar[bool] = True
    text: ClassVar[str] = "MATCH_NUMBER()"


@dataclass(frozen=True, slots=True)
class ReadIsMatched(Read):
    """Whether the output row belongs to a match, be it an empty one."""

    type: ClassVar[ReadType] = "boolean"
    nullability: ClassVar[Nullability] = Nullability.NEVER
    text: ClassVar[str] = "whether the row is matched"


@dataclass(frozen=True, slots=True)
class ReadNothing(Read):
    """TRUE of every output row, where nothing else is read: without a column no row crosses."""

    type: ClassVar[ReadType] = "boolean"
    nullability: ClassVar[Nullability] = Nullability.NEVER
    is_chained: ClassVar[bool] = True
    text: ClassVar[str] = "nothing"


@dataclass(frozen=True, slots=True)
class ReadKind(Read):
    """Whether a match is one, or a run whose window has ended: see `nfa.outcomes`."""

    type: ClassVar[ReadType] = "bigint"
    text: ClassVar[str] = "kind of match"


class PointerField(Enum):
    """What the compressed form says of a pointer beside its event and its state."""

    ROW = "row"
    VERSION = "version"
    PREVIOUS_STATE = "previous_state"
    PREVIOUS_ROW = "previous_row"
    COMPLETES = "completes"


POINTER_TYPES = {
    PointerField.ROW: "bigint",
    PointerField.VERSION: "array<int>",
    PointerField.PREVIOUS_STATE: "string",
    PointerField.PREVIOUS_ROW: "bigint",
    PointerField.COMPLETES: "boolean",
}


@dataclass(frozen=True, slots=True)
class ReadPointer(Read):
    """A field of a pointer of the graph of all matches.

    ROW, PREVIOUS_ROW: the positions of the entry and of the one before it in their partition, from
    1. VERSION: a Dewey number. COMPLETES: whether a match ends here.
    """

    field: PointerField

    @property
    def type(self) -> ReadType:
        return POINTER_TYPES[self.field]

    @property
    def text(self) -> str:
        return f"the pointer's {self.field.value}"
