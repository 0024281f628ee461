"""The aggregates that Python computes, each with an accumulator of rows."""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.conditions.functions.aggregate import AggregateFunction, AggregateUse
from matchrec.conditions.functions.function import Value
from matchrec.conditions.types import BIGINT, ValueType


class CountDistinct:
    """COUNT(DISTINCT ...): rows without NULL."""

    def __init__(self, _: AggregateUse) -> None:
        self.seen: set[tuple[Value, ...]] = set()

    def add(self, *values: Value) -> None:
        if None not in values:
            self.seen.add(values)

    def result(self) -> int:
        return len(self.seen)


def count_type(use: AggregateUse) -> ValueType | None:
    return BIGINT if use.types else None


AGGREGATES: Mapping[str, AggregateFunction] = {
    "count": AggregateFunction(count_type, CountDistinct),
}
