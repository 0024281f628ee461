"""What every read says of itself: its type, whether it may be NULL, how one would write it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from matchrec.dataclass import dataclass


class Form(Enum):
    """How the type of a read comes from the type of its column."""

    SAME = "the column's"
    SUM = "of a sum of the column"
    ARRAY = "an array of the column's"


@dataclass(frozen=True, slots=True)
class OfColumn:
    """The type of a read that follows from a column."""

    column: int
    form: Form = Form.SAME


@dataclass(frozen=True, slots=True)
class OfMatchedRows:
    """The type of an array of structs with the values of some columns."""

    columns: tuple[int, ...]


ReadType = OfColumn | OfMatchedRows | str  # a text is the name of a type in Spark


class Nullability(Enum):
    """When a read may be NULL, as Spark says of the same value."""

    NEVER = "never"
    AS_COLUMN = "where its column may"
    WITHOUT_NUMBER = "where rows come out that have no match number"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class Read:
    """What all reads can say; each kind of read says it in its own way."""

    @property
    def type(self) -> ReadType:
        """What its values are."""
        raise NotImplementedError

    @property
    def nullability(self) -> Nullability:
        """When it may be NULL."""
        return Nullability.ALWAYS

    @property
    def is_chained(self) -> bool:
        """Whether matches that share their rows are enough to answer it, if sums are exact."""
        return False

    @property
    def text(self) -> str:
        """How one would write it where no column is in it."""
        raise NotImplementedError

    def show(self, columns: Sequence[str]) -> str:  # noqa: ARG002 -- for reads of columns
        """The read as one would write it. columns: the texts of those that Spark computed."""
        return self.text
