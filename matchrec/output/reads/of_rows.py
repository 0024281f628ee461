"""Reads of rows of a match: the one that a navigation finds, the output row's own, all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override

from matchrec.dataclass import dataclass
from matchrec.output.reads.read import Form, Nullability, OfColumn, OfMatchedRows, Read, ReadType
from matchrec.plan.expression import Navigation
from matchrec.plan.show import show_classifier, show_matched_rows, show_navigation, show_semantics


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
        return OfColumn(self.column, Form.ARRAY)

    @property
    def text(self) -> str:
        return show_matched_rows(self.variable)
