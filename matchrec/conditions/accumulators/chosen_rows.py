"""Aggregates that return the value of one row, such as MIN, MAX_BY and FIRST_VALUE.

Their state is the row that they have chosen so far, or None before they have chosen one. The table
also computes BOOL_AND as MIN, and BOOL_OR as MAX, of truth values.
"""

from __future__ import annotations

import operator
from functools import partial
from typing import NamedTuple

from matchrec.conditions.accumulators.accumulator import Accumulator, OrderingKey, find_sort_key
from matchrec.conditions.functions.function import AggregateUse, Value


class ChosenRow(NamedTuple):
    """The row that an aggregate has chosen so far."""

    value: Value
    # The value that is compared to choose the row; None if only the order of the rows decides.
    key: OrderingKey = None


def read_chosen_value(chosen: ChosenRow | None) -> Value:
    """Return the value of the chosen row, or NULL if no row is chosen."""
    return None if chosen is None else chosen.value


def begin_extreme(use: AggregateUse, *, is_largest: bool) -> Accumulator:
    """Return an accumulator for MIN, MAX, MIN_BY or MAX_BY.

    MIN and MAX compare their only argument, MIN_BY and MAX_BY their second argument. Rows on which
    it is NULL do not count. If several rows have the extreme, MIN and MAX choose the first of them,
    and MIN_BY and MAX_BY the last.
    """
    sort_key = find_sort_key(use.types[-1])
    is_better = operator.gt if is_largest else operator.lt
    prefers_last_row = len(use.types) == 2

    def step(best: ChosenRow | None, *arguments: Value) -> ChosenRow | None:
        """Return the better of the best row so far and a new row."""
        value = arguments[0]
        compared_value = arguments[-1]
        if compared_value is None:
            return best
        row = ChosenRow(value, sort_key(compared_value))
        if best is None or is_better(row.key, best.key):
            return row
        if prefers_last_row and row.key == best.key:
            return row
        return best

    return Accumulator(None, step, read_chosen_value)


def begin_value_at_end(use: AggregateUse, *, is_first: bool) -> Accumulator:
    """Return an accumulator for FIRST_VALUE or LAST_VALUE.

    Rows with NULL do not count with IGNORE NULLS, or if the second argument is true.
    """

    def step(
        chosen: ChosenRow | None, value: Value, ignore_nulls: Value = None
    ) -> ChosenRow | None:
        """Return the first or last row that counts so far; None if there is none."""
        is_ignored = value is None and (use.ignore_nulls or ignore_nulls is True)
        is_decided = is_first and chosen is not None
        if is_ignored or is_decided:
            return chosen
        return ChosenRow(value)

    return Accumulator(None, step, read_chosen_value)


# Each returns an accumulator for the aggregate of its name.
begin_min = partial(begin_extreme, is_largest=False)
begin_max = partial(begin_extreme, is_largest=True)
begin_first_value = partial(begin_value_at_end, is_first=True)
begin_last_value = partial(begin_value_at_end, is_first=False)
