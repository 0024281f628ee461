"""Aggregates over all matches, which a search can compute without building the matches.

The search returns a row for each group of matches, with a total for each aggregate. SQL then
combines the rows of one group, because a partition may be searched in parts:

    sum(profit) of the matches of each partition
      the search    AAA, __total_0 = 40    AAA, __total_0 = 2    BBB, __total_0 = 7
      SQL           AAA, 42    BBB, 7
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from matchrec.plan.clauses import Grouping

# The functions of aggregates over all matches.
FUNCTIONS = ("count", "sum", "avg", "min", "max")
# The value of `TotalAggregate.cast` for which the search returns a double.
DOUBLE = "DOUBLE"

# Names of columns that the search returns to SQL. They are internal: no user has written them.

# The only column if matches are just counted.
MATCH_NAME = "__match"
# The beginnings of the names that `name_key` and `name_total` return.
KEY_PREFIX = "__key_"
TOTAL_PREFIX = "__total_"
INTERNAL_NAME = re.compile(rf"{MATCH_NAME}|(?:{KEY_PREFIX}|{TOTAL_PREFIX})\d+")


def name_key(index: int) -> str:
    """Return the name of the column with an ORDER BY key of the row that identifies a group.

    Args:
        index: the index of the key in ORDER BY, from 0.
    """
    return f"{KEY_PREFIX}{index}"


def name_total(index: int) -> str:
    """Return the name of the column with the total of an aggregate.

    Args:
        index: the index of the aggregate in `Totals.aggregates`, from 0.
    """
    return f"{TOTAL_PREFIX}{index}"


def is_name_of_totals(name: str) -> bool:
    """Return whether a column of the search's result has one of these internal names.

    >>> [is_name_of_totals(name) for name in (MATCH_NAME, name_key(0), name_total(12), "__p")]
    [True, True, True, False]
    """
    return INTERNAL_NAME.fullmatch(name) is not None


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
    grouping: Grouping = Grouping.PARTITION
    # The names of the measures that identify the first or last row by which matches are grouped;
    # empty if they are grouped by partition.
    keys: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[TotalAggregate, str]:
        """Return, for each aggregate, the name of the result column that has its total."""
        return {total: name_total(index) for index, total in enumerate(self.aggregates)}
