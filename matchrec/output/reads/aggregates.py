"""Aggregates of the rows of one variable, over all of a match or as far as the current row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override

from matchrec.dataclass import dataclass
from matchrec.output.reads.read import Form, Nullability, OfColumn, Read, ReadType
from matchrec.plan.expression import Semantics
from matchrec.plan.show import show_aggregate, show_semantics


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
        return OfColumn(self.column, Form.SUM)


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
        return OfColumn(self.column, Form.ARRAY)
