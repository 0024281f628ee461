"""Aggregates over all matches, which a search can compute without building them.

The search gives a row for each group of matches; SQL puts the rows of several groups together. So a
partition may be searched in parts, and whatever stands around the aggregates stays Spark's.
"""

from __future__ import annotations

from dataclasses import field

from matchrec.dataclass import dataclass
from matchrec.plan.clauses import Grouping
from matchrec.plan.text import quoted

FUNCTIONS = ("count", "sum", "avg", "min", "max")
ROUGH_COUNT = "rough count"


@dataclass(frozen=True, slots=True)
class AskedTotal:
    """A column with an aggregate over all matches: count, ROUGH_COUNT as a double, sum, min, max,
    or avg, which is a sum that is to be divided.

    measure: the name of the measure that it is over; None of a count of matches.
    """

    name: str
    function: str
    measure: str | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """What is asked of all matches in place of the matches.

    A row comes out for each group that has a match: of the matches of a partition, or of those that
    start, or end, with one row. keys: the measures that say which row that is.
    """

    asked: tuple[AskedTotal, ...]
    grouped: Grouping = Grouping.PARTITION
    keys: tuple[str, ...] = ()


_TOO_LARGE = "raise_error('an aggregate over all matches has more than 38 digits')"


@dataclass
class Asking:
    """Collects what is asked of all matches: each aggregate of groups once, as a column."""

    asked: dict[tuple[str, str | None], AskedTotal] = field(default_factory=dict)

    def column(self, function: str, measure: str | None) -> str:
        """The column with an aggregate of each group."""
        new = AskedTotal(f"__total_{len(self.asked)}", function, measure)
        return quoted(self.asked.setdefault((function, measure), new).name)

    def over_groups(self, function: str, measure: str | None, *, roughly: bool = False) -> str:
        """SQL of an aggregate over the rows of groups. roughly: a count as a double.

        A sum of more than 38 digits is an error in every mode.
        """
        if function == "count" and roughly:
            return f"coalesce(sum({self.column(ROUGH_COUNT, measure)}), 0D)"
        if function == "avg":
            total, number = self.column("avg", measure), self.column("count", measure)
            return f"(sum(CAST({total} AS DOUBLE)) / nullif(sum(CAST({number} AS DOUBLE)), 0D))"
        column = self.column(function, measure)
        if function in ("min", "max"):
            return f"{function}({column})"
        nothing = "CAST(0 AS DECIMAL(38, 0))" if function == "count" else "NULL"
        exact = f"coalesce(sum({column}), if(count({column}) = 0, {nothing}, {_TOO_LARGE}))"
        size = f"abs(avg(CAST({column} AS DOUBLE))) * count({column})"
        return f"if({size} > 1e38D, {_TOO_LARGE}, {exact})"  # a sum may wrap around

    def of_group(self, function: str, measure: str | None) -> str:
        """SQL of an aggregate of one group."""
        if function == "avg":
            total, number = self.column("avg", measure), self.column("count", measure)
            return f"(CAST({total} AS DOUBLE) / nullif(CAST({number} AS DOUBLE), 0D))"
        return self.column(function, measure)

    def totals(self, grouped: Grouping, keys: tuple[str, ...]) -> Totals:
        """All that is asked."""
        return Totals(tuple(self.asked.values()), grouped, keys)
