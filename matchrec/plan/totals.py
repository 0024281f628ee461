"""Aggregates over all matches, which a search can compute without building them.

The search gives a row for each group of matches; SQL puts the rows of several groups together. So a
partition may be searched in parts.
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.plan.clauses import Grouping

FUNCTIONS = ("count", "sum", "avg", "min", "max")
DOUBLE = "DOUBLE"


@dataclass(frozen=True, slots=True)
class AskedTotal:
    """An aggregate over all matches: count, sum, min, max or avg; of avg a search gives the sum."""

    function: str
    measure: str | None = None  # None of a count of matches
    cast: str | None = None  # of a count or a sum: DOUBLE or a DECIMAL of 38 digits

    def __str__(self) -> str:
        call = f"{self.function}({self.measure or '*'})"
        return call if self.cast is None else f"CAST({call} AS {self.cast})"

    @property
    def is_double(self) -> bool:
        """Whether the search gives a double, whatever the measure is."""
        return self.cast == DOUBLE or self.function == "avg"


@dataclass(frozen=True, slots=True)
class Totals:
    """What is asked of all matches in place of the matches.

    A row comes out for each group that has a match: of the matches of a partition, or of those that
    start, or end, with one row. keys: the measures that say which row that is.
    """

    asked: tuple[AskedTotal, ...]
    grouped: Grouping = Grouping.PARTITION
    keys: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[AskedTotal, str]:
        return {asked: f"__total_{place}" for place, asked in enumerate(self.asked)}
