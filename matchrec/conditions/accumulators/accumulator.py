"""Accumulators and aggregate functions: what all aggregates have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from matchrec.conditions.functions.comparisons import find_representative, make_rank_key
from matchrec.conditions.functions.function import AggregateUse, Value
from matchrec.conditions.types import NESTED, Family, ValueType

AggregateState = Any  # what an aggregate keeps of the rows so far
OrderingKey = Any  # can be compared with other ordering keys
AddRow = Callable[..., AggregateState]  # see `Accumulator.step`
# Returns None if the arguments do not fit.
FindAggregateType = Callable[[AggregateUse], ValueType | None]


@dataclass(slots=True)
class Accumulator:
    """The state of an aggregate over the rows that have been added so far.

    For SUM, the state is a total and a count, `step` adds a number to the total, and `finish`
    returns the total.
    """

    # The aggregate keeps here what it needs of these rows. The type depends on the aggregate.
    state: AggregateState
    # Returns the state after one more row, from the state and the arguments of the aggregate. It
    # can change and return a mutable state, because no other accumulator has this state.
    step: AddRow
    # Returns the aggregate of the rows so far, from the state.
    finish: Callable[[AggregateState], Value]

    def add(self, *values: Value) -> None:
        """Add a row with these arguments of the aggregate."""
        self.state = self.step(self.state, *values)

    def compute_result(self) -> Value:
        """Return the aggregate of the rows so far. More rows can be added after that."""
        return self.finish(self.state)


@dataclass(slots=True)
class DistinctAccumulator(Accumulator):
    """The state of an aggregate with DISTINCT, to which equal rows are added only once."""

    # The rows that have been added.
    added_rows: set[tuple[Value, ...]] = field(default_factory=set)

    def add(self, *values: Value) -> None:
        """Add a row, unless an equal row has been added.

        A floating zero loses its sign, as it does if Spark groups by it.
        """
        row = tuple(map(find_representative, values))
        if row not in self.added_rows:
            self.added_rows.add(row)
            self.state = self.step(self.state, *row)


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """An aggregate function of Spark."""

    # Returns the type of the aggregate, or None if the arguments do not fit.
    find_type: FindAggregateType
    # Returns an accumulator without rows that adds every row, even if the aggregate has DISTINCT.
    begin_with_repeats: Callable[[AggregateUse], Accumulator]
    # The index of the argument that must be a constant, such as the delimiter of LISTAGG; None if
    # there is none.
    constant_argument: int | None = None
    # Whether DISTINCT changes nothing, so that Spark leaves it out.
    ignores_repeats: bool = False

    def begin(self, use: AggregateUse) -> Accumulator:
        """Return an accumulator without rows. With DISTINCT, it adds equal rows once."""
        accumulator = self.begin_with_repeats(use)
        if use.distinct and not self.ignores_repeats:
            return DistinctAccumulator(accumulator.state, accumulator.step, accumulator.finish)
        return accumulator


def find_sort_key(type_: ValueType) -> Callable[[Value], OrderingKey]:
    """Return the function that makes the sort key of a value of a type, to sort as Spark does.

    The values must not be NULL. NaN is the greatest number.
    """
    if type_.family is Family.FLOATING or type_.family in NESTED:
        return make_rank_key
    return lambda value: value
