"""Aggregates over all matches, which a search can compute without building the matches.

The search returns a row for each group of matches, and SQL combines the rows of several groups. So
a partition may be searched in parts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from matchrec.plan.clauses import Grouping

# The functions of aggregates over all matches.
FUNCTIONS = ("count", "sum", "avg", "min", "max")
DOUBLE = "DOUBLE"

# The names of the columns between the search and the aggregates, which no user has written: the
# only column of matches that are just counted, an ORDER BY column of a group, and a total.
MATCH_NAME = "__match"
name_key = "__key_{}".format
name_total = "__total_{}".format
_NAMES = re.compile(r"__match|__key_\d+|__total_\d+")


def is_name_of_totals(name: str) -> bool:
    """Return whether a column of the search's result is for aggregates, and has no user's name.

    >>> [is_name_of_totals(name) for name in (MATCH_NAME, name_key(0), name_total(12), "__p")]
    [True, True, True, False]
    """
    return _NAMES.fullmatch(name) is not None


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
        return {total: name_total(index) for index, total in enumerate(self.aggregates)}
