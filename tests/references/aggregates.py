"""The reference for aggregates in conditions: compute them over a list of rows, as if by hand."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

# None is NULL.
Number = int | float | None

# The arguments of an aggregate on one row.
Row = tuple[Number, ...]

# Computes an aggregate over rows. The second argument says whether it has DISTINCT.
Aggregate = Callable[[Sequence[Row], bool], Number]


def ignore_nulls(compute: Callable[[list[int]], Number]) -> Aggregate:
    """Return an aggregate that computes a function over the values that are not NULL.

    Without such values the aggregate is NULL.
    """

    def aggregate(rows: Sequence[Row], distinct: bool) -> Number:
        """Compute the function over the values that are not NULL."""
        values = [row[0] for row in rows if row[0] is not None]
        if distinct:
            values = list(dict.fromkeys(values))
        return compute(values) if values else None

    return aggregate


def count_rows(rows: Sequence[Row], distinct: bool) -> int:
    """Return the number of rows without a NULL."""
    complete = [row for row in rows if None not in row]
    return len(set(complete)) if distinct else len(complete)


def find_value_at_maximum(rows: Sequence[Row], _distinct: bool) -> Number:
    """Return the first argument on the last of the rows whose second argument is the largest."""
    comparable = [row for row in rows if row[1] is not None]
    largest = max((row[1] for row in comparable), default=None)
    return next((row[0] for row in reversed(comparable) if row[1] == largest), None)


def find_mode(values: list[int]) -> int:
    """Return the most frequent value; if there are several, the smallest of them."""
    counts = Counter(values)
    return min(value for value in values if counts[value] == max(counts.values()))


# By the name of the aggregate in SQL.
AGGREGATES: dict[str, Aggregate] = {
    "count": count_rows,
    "max_by": find_value_at_maximum,
    "first_value": lambda rows, _: rows[0][0] if rows else None,
    "last_value": lambda rows, _: rows[-1][0] if rows else None,
    "median": ignore_nulls(lambda values: float(statistics.median(values))),
    "mode": ignore_nulls(find_mode),
    "var_pop": ignore_nulls(lambda values: float(statistics.pvariance(map(Fraction, values)))),
    "sum": ignore_nulls(sum),
}
