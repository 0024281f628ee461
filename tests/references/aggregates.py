"""Aggregates of lists of rows as one would compute them by hand, for the reference matcher."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

Number = int | float | None
Row = tuple[Number, ...]


def of_known(compute: Callable[[list[int]], Number]) -> Callable[[Sequence[Row], bool], Number]:
    """An aggregate of the values that are not NULL, NULL of none."""

    def aggregate(rows: Sequence[Row], distinct: bool) -> Number:
        values = [row[0] for row in rows if row[0] is not None]
        if distinct:
            values = list(dict.fromkeys(values))
        return compute(values) if values else None

    return aggregate


def counted(rows: Sequence[Row], distinct: bool) -> int:
    known = [row for row in rows if None not in row]
    return len(set(known) if distinct else known)


def beside_largest(rows: Sequence[Row], _: bool) -> Number:
    known = [row for row in rows if row[1] is not None]
    largest = max((row[1] for row in known), default=None)
    return next((row[0] for row in reversed(known) if row[1] == largest), None)


def most_frequent(values: list[int]) -> int:
    counts = Counter(values)
    return min(value for value in values if counts[value] == max(counts.values()))


AGGREGATES = {
    "count": counted,
    "max_by": beside_largest,
    "first_value": lambda rows, _: rows[0][0] if rows else None,
    "last_value": lambda rows, _: rows[-1][0] if rows else None,
    "median": of_known(lambda values: float(statistics.median(values))),
    "mode": of_known(most_frequent),
    "var_pop": of_known(lambda values: float(statistics.pvariance(map(Fraction, values)))),
    "sum": of_known(sum),
}
