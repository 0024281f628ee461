"""The table of aggregates: what every stage knows about an aggregate function, in one entry.

An entry has the facts that several stages need. Three parts of the program compute aggregates:

    kernels        compute the basic forms over numbers in arrays: `evaluate.kernels.machine` during
                   the search, and `output.aggregates` over the rows of a match. The latter also
                   choose rows, as for `max_by`.
    accumulators   add up objects of Python, row by row: `conditions.accumulators`.
    the engine     computes every aggregate, as SQL over the rows of a match: `spark.after`.

All of them follow these rules, which are Spark's:

1. A row does not count if an argument is NULL, or if FILTER is not true. `count(*)` counts all
   rows. `first_value`, `last_value` and `any_value` can return NULL unless IGNORE NULLS is written.
2. Without rows that count, a count is 0, an array is empty, and any other aggregate is NULL.
3. The sum of integers is a BIGINT, of decimals a decimal with ten more digits, of floats a DOUBLE.
   The average of decimals has four more digits, also after the point; any other is a DOUBLE.
4. A sum that its type cannot hold is an error in ANSI mode. In other modes an integer wraps around,
   and a decimal is NULL. In a condition on the run it is an error in every mode if a kernel adds.
   Sail wraps around in every mode, if it is the engine that adds.
5. An average is the sum divided by the count, so it never divides by zero: see rule 2. The average
   of integers adds up doubles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from matchrec.conditions.run_condition import Reduction


class ValueChoice(Enum):
    """The row from which an aggregate such as `first_value` or `max_by` takes its value.

    Of several rows with the least or greatest key, it is the last one, as in Spark.
    """

    FIRST = "first row"
    LAST = "last row"
    LEAST_KEY = "row with the least second argument"
    GREATEST_KEY = "row with the greatest second argument"

    @property
    def has_key(self) -> bool:
        """Return whether rows are compared by a second argument."""
        return self in (ValueChoice.LEAST_KEY, ValueChoice.GREATEST_KEY)


@dataclass(frozen=True, slots=True)
class AggregateEntry:
    """The facts about an aggregate function, or about several functions with equal facts."""

    # The name of the function. Several names if functions have the same facts, such as `avg` and
    # its alias `mean`.
    names: tuple[str, ...]
    # The reduction of its basic form, which kernels compute; None if it has no basic form.
    reduction: Reduction | None = None
    # Whether its argument and its value are truth values.
    is_truth: bool = False
    # The row whose first argument is the value; None if the value does not come from one row, or is
    # an extreme.
    choice: ValueChoice | None = None
    # Whether the value is a statistic of numbers, a DOUBLE.
    is_statistic: bool = False
    # Whether it compares the values of its first argument, which then cannot contain maps.
    compares_values: bool = True


ENTRIES = (
    AggregateEntry(("count",), Reduction.COUNT, compares_values=False),
    AggregateEntry(("count_if",), Reduction.COUNT),
    AggregateEntry(("sum",), Reduction.SUM),
    AggregateEntry(("avg", "mean"), Reduction.AVG),
    AggregateEntry(("min",), Reduction.MIN),
    AggregateEntry(("max",), Reduction.MAX),
    AggregateEntry(("bool_and", "every"), Reduction.MIN, is_truth=True),
    AggregateEntry(("bool_or", "some", "any"), Reduction.MAX, is_truth=True),
    AggregateEntry(("any_value", "first_value"), choice=ValueChoice.FIRST, compares_values=False),
    AggregateEntry(("last_value",), choice=ValueChoice.LAST, compares_values=False),
    AggregateEntry(("min_by",), choice=ValueChoice.LEAST_KEY, compares_values=False),
    AggregateEntry(("max_by",), choice=ValueChoice.GREATEST_KEY, compares_values=False),
    AggregateEntry(("stddev", "stddev_samp", "std", "stddev_pop"), is_statistic=True),
    AggregateEntry(("variance", "var_samp", "var_pop"), is_statistic=True),
    AggregateEntry(("regr_slope", "median"), is_statistic=True),
    AggregateEntry(("collect_list", "array_agg", "listagg", "string_agg"), compares_values=False),
)

AGGREGATE_ENTRIES: Mapping[str, AggregateEntry] = {
    name: entry for entry in ENTRIES for name in entry.names
}

# The entry of any other aggregate.
OTHER_AGGREGATE = AggregateEntry(names=())


# Aggregates that workers can add up row by row in MEASURES: see
# `output.worker_aggregates.can_accumulate`.
STATISTICS = frozenset(name for name, entry in AGGREGATE_ENTRIES.items() if entry.is_statistic)


def find_entry(function: str) -> AggregateEntry:
    """Return the entry of an aggregate function, whose name is in lower case."""
    return AGGREGATE_ENTRIES.get(function, OTHER_AGGREGATE)
