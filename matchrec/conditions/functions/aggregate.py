"""What an aggregate over a list takes, what it gives, and how it is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from matchrec.conditions.functions.function import Compute, Value
from matchrec.conditions.types import ValueType


class Accumulator(Protocol):
    """The rows of a list so far."""

    def add(self, *values: Value) -> None:
        """One more row: the arguments, then what the rows are ordered by."""

    def result(self) -> Value:
        """The aggregate of the rows."""


@dataclass(frozen=True, slots=True)
class AggregateUse:
    """One aggregate of a query. types: of the arguments.

    ordering: of each thing that WITHIN GROUP orders by, its type and how, such as DESC. See `Use`.
    """

    types: tuple[ValueType, ...]
    ordering: tuple[tuple[ValueType, str], ...] = ()
    distinct: bool = False
    ignore_nulls: bool = False
    ansi: bool = True


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """An aggregate of Spark.

    result: its type, or None where the arguments do not fit. begin: an accumulator without rows.
    """

    result: Callable[[AggregateUse], ValueType | None]
    begin: Callable[[AggregateUse], Accumulator]


class ListOfRows(Protocol):
    """A list that shares its rows with the list before its last row was appended."""

    @property
    def number(self) -> int:
        """It has this number alone."""

    @property
    def before(self) -> int:
        """The number of the list without the last row."""

    @property
    def last(self) -> tuple[Value, ...]:
        """The values of the last row."""

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        """The values of all rows."""


def fold(begin: Callable[[], Accumulator]) -> Compute:
    """An aggregate of a list, which is not computed anew where one row has been appended."""
    latest, rows = -1, begin()

    def compute(found: ListOfRows) -> Value:
        nonlocal latest, rows
        if found.number != latest:
            if found.number and found.before == latest:
                rows.add(*found.last)
            else:
                rows = begin()
                for values in found:
                    rows.add(*values)
            latest = found.number
        return rows.result()

    return compute
