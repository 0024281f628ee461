"""Aggregates over all matches, which a search can compute without building the matches.

The search returns a row for each group of matches, and SQL combines the rows of several groups. So
a partition may be searched in parts.
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.plan.clauses import Grouping

# The functions of aggregates over all matches.
FUNCTIONS = ("count", "sum", "avg", "min", "max")
DOUBLE = "DOUBLE"


@dataclass(frozen=True, slots=True)
class TotalAggregate:
    """An aggregate over all matches: `sum(profit)`."""

    # One of FUNCTIONS. For avg, the search returns the sum.
    function: str
    # The measure that is aggregated; None to count the matches.
    measure: str | None = None
    # The type to which a count or a sum is cast: DOUBLE, or a DECIMAL of 38 digits.
    cast: str | None = None

    def __str__(self) -> str:
        call = f"{self.function}({self.measure or '*'})"
        return call if self.cast is None else f"CAST({call} AS {self.cast})"

    @property
    def is_double(self) -> bool:
        """Return whether the search returns a double, whatever the type of the measure is."""
        return self.cast == DOUBLE or self.function == "avg"


@dataclass(frozen=True, slots=True)
class Totals:
    """The aggregates over all matches that a query returns instead of matches.

    The result has a row for each group that has a match.
    """

    aggregates: tuple[TotalAggregate, ...]
    # How matches are grouped: by partition, or by their first or last row.
    grouped: Grouping = Grouping.PARTITION
    # The measures that identify this row.
    keys: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[TotalAggregate, str]:
        """The column of the search's result that holds each aggregate."""
        return {total: f"__total_{index}" for index, total in enumerate(self.aggregates)}
