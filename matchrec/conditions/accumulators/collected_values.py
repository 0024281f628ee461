"""Aggregates that keep values of many rows: MODE, COLLECT_LIST, COLLECT_SET and LISTAGG."""

from __future__ import annotations

from dataclasses import dataclass, field

from matchrec.conditions.accumulators.accumulator import Accumulator, find_sort_key
from matchrec.conditions.functions.comparisons import find_representative
from matchrec.conditions.functions.function import AggregateUse, Value


def count_value(
    counts: dict[Value, int], value: Value, _deterministic: Value = None
) -> dict[Value, int]:
    """Add a value to its count unless it is NULL, and return the counts.

    Args:
        counts: the count of each value, in the order in which values first occur; is changed.
        value: the value to count.
        _deterministic: the second argument of MODE, which makes no difference here.
    """
    if value is not None:
        key = find_representative(value)
        counts[key] = counts.get(key, 0) + 1
    return counts


def begin_mode(use: AggregateUse) -> Accumulator:
    """Return an accumulator for MODE, the most frequent value.

    If several values are equally frequent, the result is the least of them. Spark may return any.
    """
    sort_key = find_sort_key(use.types[0])

    def finish(counts: dict[Value, int]) -> Value:
        """Return the most frequent value, or the least of them; None if there are no values."""
        largest_count = max(counts.values(), default=0)
        most_frequent = [value for value, count in counts.items() if count == largest_count]
        return min(most_frequent, key=sort_key, default=None)

    return Accumulator({}, count_value, finish)


def begin_collect_list(_: AggregateUse) -> Accumulator:
    """Return an accumulator for COLLECT_LIST: values without NULL, in the order of the rows."""

    def step(values: list[Value], value: Value) -> list[Value]:
        """Append a value unless it is NULL."""
        if value is not None:
            values.append(value)
        return values

    return Accumulator([], step, tuple)


def begin_collect_set(_: AggregateUse) -> Accumulator:
    """Return an accumulator for COLLECT_SET: each value once, without NULL.

    The values are in the order in which they first occur. Spark promises no order.
    """
    # `tuple` drops the counts, and keeps the values.
    return Accumulator({}, count_value, tuple)


@dataclass(slots=True)
class ListaggState:
    """The texts that LISTAGG has collected, and its delimiter."""

    # The texts, or binary values, in the order of the rows.
    texts: list[Value] = field(default_factory=list)
    # The text between two texts; None if the user passed none or NULL. It is a constant, so it is
    # the same in each row.
    delimiter: Value = None


def begin_listagg(_: AggregateUse) -> Accumulator:
    """Return an accumulator for LISTAGG: texts or binary values, joined by a delimiter.

    They are in the order of the rows, without NULL.
    """

    def step(state: ListaggState, text: Value, delimiter: Value = None) -> ListaggState:
        """Append a text unless it is NULL, and note the delimiter."""
        if text is not None:
            state.texts.append(text)
        state.delimiter = delimiter
        return state

    def finish(state: ListaggState) -> Value:
        """Return the joined texts; NULL if there are none."""
        if not state.texts:
            return None
        delimiter = state.delimiter
        if delimiter is None:
            delimiter = state.texts[0][:0]  # an empty text, or empty bytes
        return delimiter.join(state.texts)

    return Accumulator(ListaggState(), step, finish)
