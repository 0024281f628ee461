"""Reads: the values that the output of a match is made of, one column each.

What stands around them in a measure is Spark's to evaluate afterwards. A read says of itself what
its values are, when they may be NULL, how one would write it, and whether chains of shared rows
answer it; the workers' `gather` fills it. `column` is an index among the columns that Spark
computed before the match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from typing import ClassVar

from typing_extensions import override

from matchrec.dataclass import dataclass
from matchrec.plan.expression import Navigation, Semantics
from matchrec.plan.show import (
    show_aggregate,
    show_classifier,
    show_matched_rows,
    show_navigation,
    show_semantics,
)


class TypeForm(Enum):
    """How the type of a read comes from the type of its column."""

    SAME = "the column's"
    SUM = "of a sum of the column"
    ARRAY = "an array of the column's"


@dataclass(frozen=True, slots=True)
class OfColumn:
    """The type of a read that follows from a column."""

    column: int
    form: TypeForm = TypeForm.SAME


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


# Reads of rows of a match: the one that a navigation finds, the output row's own, all.


@dataclass(frozen=True, slots=True)
class ReadRow(Read):
    """The column on the input row that the output row stands for."""

    column: int

    nullability: ClassVar[Nullability] = Nullability.AS_COLUMN
    is_chained: ClassVar[bool] = True

    @property
    def type(self) -> ReadType:
        return OfColumn(self.column)

    @override
    def show(self, columns: Sequence[str]) -> str:
        return columns[self.column]


@dataclass(frozen=True, slots=True)
class ReadAt(Read):
    """The column on the row that a navigation finds."""

    column: int
    navigation: Navigation

    @property
    def type(self) -> ReadType:
        return OfColumn(self.column)

    @property
    def is_chained(self) -> bool:
        return not self.navigation.logical_offset

    @override
    def show(self, columns: Sequence[str]) -> str:
        text = show_navigation(self.navigation, columns[self.column])
        return show_semantics(self.navigation.semantics, text)


@dataclass(frozen=True, slots=True)
class ReadClassifierAt(Read):
    """The name of the variable to which the row found by a navigation is mapped."""

    navigation: Navigation

    type: ClassVar[ReadType] = "string"

    @property
    def is_chained(self) -> bool:
        return not (self.navigation.logical_offset or self.navigation.physical_offset)

    @override
    def show(self, columns: Sequence[str]) -> str:
        return show_semantics(self.navigation.semantics, show_classifier(self.navigation))


@dataclass(frozen=True, slots=True)
class ReadPosition(Read):
    """The position in its match of the row from which measures look, -1 of an empty match."""

    type: ClassVar[ReadType] = "bigint"
    nullability: ClassVar[Nullability] = Nullability.NEVER
    text: ClassVar[str] = "the position in the match"


@dataclass(frozen=True, slots=True)
class ReadMatchedRows(Read):
    """All rows of the match as an array of structs, for aggregates that Spark computes from it.

    columns: become fields of the structs, beside the name of the row's variable and its position in
    the match from 0.
    """

    columns: tuple[int, ...]

    nullability: ClassVar[Nullability] = Nullability.NEVER
    text: ClassVar[str] = "the rows of the match"

    @property
    def type(self) -> ReadType:
        return OfMatchedRows(self.columns)


@dataclass(frozen=True, slots=True)
class ReadMatch(Read):
    """The rows of the match that come out, or those of a variable, as an array of structs.

    column: a struct for each row, in whose last field the name of the row's variable belongs.
    """

    variable: str | None
    column: int

    nullability: ClassVar[Nullability] = Nullability.NEVER

    @property
    def type(self) -> ReadType:
        return OfColumn(self.column, TypeForm.ARRAY)

    @property
    def text(self) -> str:
        return show_matched_rows(self.variable)


# Reads of a match as a whole: its number, whether it is one, its pointers in a graph.


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
    """Whether a match is one, or a run whose window has ended: see `nfa.program`."""

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


# Aggregates of the rows of one variable, over all of a match or as far as the current row.


@dataclass(frozen=True, slots=True)
class ReadAggregate(Read):
    """An aggregate of the values that a variable has in a column."""

    variable: str | None
    column: int
    semantics: Semantics

    is_chained: ClassVar[bool] = True

    @property
    def function(self) -> str:
        """Its name in SQL."""
        raise NotImplementedError

    @override
    def show(self, columns: Sequence[str]) -> str:
        text = show_aggregate(self.function, self.variable, columns[self.column])
        return show_semantics(self.semantics, text)


@dataclass(frozen=True, slots=True)
class ReadCount(Read):
    """How many values, or with `column` None how many rows, the variable has."""

    variable: str | None
    column: int | None
    semantics: Semantics

    type: ClassVar[ReadType] = "bigint"
    nullability: ClassVar[Nullability] = Nullability.NEVER
    is_chained: ClassVar[bool] = True

    @override
    def show(self, columns: Sequence[str]) -> str:
        counted = "*" if self.column is None else columns[self.column]
        return show_semantics(self.semantics, show_aggregate("count", self.variable, counted))


@dataclass(frozen=True, slots=True)
class ReadSum(ReadAggregate):
    """The sum of the variable's values, NULL of none."""

    function: ClassVar[str] = "sum"

    @property
    def type(self) -> ReadType:
        return OfColumn(self.column, TypeForm.SUM)


@dataclass(frozen=True, slots=True)
class ReadAverage(ReadAggregate):
    """The average of the variable's values as a double, NULL of none."""

    type: ClassVar[ReadType] = "double"
    function: ClassVar[str] = "avg"
    is_chained: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class ReadExtreme(ReadAggregate):
    """The least or the greatest of the variable's values."""

    greatest: bool

    @property
    def type(self) -> ReadType:
        return OfColumn(self.column)

    @property
    def function(self) -> str:
        return "max" if self.greatest else "min"


@dataclass(frozen=True, slots=True)
class ReadCollected(ReadAggregate):
    """The variable's values that are not NULL, as an array, in the order of the rows."""

    nullability: ClassVar[Nullability] = Nullability.NEVER
    function: ClassVar[str] = "collect_list"
    is_chained: ClassVar[bool] = False

    @property
    def type(self) -> ReadType:
        return OfColumn(self.column, TypeForm.ARRAY)


def moved(read: Read, places: Sequence[int]) -> Read:
    """The same read. places: by the index of a column, its new one.

    >>> moved(ReadRow(1), (5, 7))
    ReadRow(column=7)
    """
    match read:
        case ReadMatchedRows(columns):
            return ReadMatchedRows(tuple(places[one] for one in columns))
        case (
            ReadRow(column=int() as column)
            | ReadAt(column=int() as column)
            | ReadMatch(column=int() as column)
            | ReadAggregate(column=int() as column)
            | ReadCount(column=int() as column)
        ):
            return replace(read, column=places[column])
        case _:
            return read
