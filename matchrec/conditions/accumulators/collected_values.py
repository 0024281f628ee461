"""Aggregates that keep values of many rows: MODE, COLLECT_LIST, COLLECT_SET and LISTAGG."""

from __future__ import annotations

from dataclasses import dataclass, field

from matchrec.conditions.accumulators.accumulator import Accumulator, find_sort_key
from matchrec.conditions.functions.comparisons import find_representative
from matchrec.conditions.functions.function import AggregateUse, Value


def count_value(counts: dict[Value, int], value: Value, *_: Value) -> dict[Value, int]:
    """Count a value that is not NULL. The counts are in the order in which values come first."""
    if value is not None:
        key = find_representative(value)
        counts[key] = counts.get(key, 0) + 1
    return counts


def begin_mode(use: AggregateUse) -> Accumulator:
    """Begin MODE: the most frequent value; the least of them if several are equally frequent.

    Spark may return another one of these.
    """
    sort_key = find_sort_key(use.types[0])

    def finish(counts: dict[Value, int]) -> Value:
        """Return the most frequent value, the least of several; None if there are no values."""
        largest_count = max(counts.values(), default=0)
        most_frequent = [value for value, count in counts.items() if count == largest_count]
        return min(most_frequent, key=sort_key, default=None)

    return Accumulator({}, count_value, finish)


def begin_list(_: AggregateUse) -> Accumulator:
    """Begin COLLECT_LIST: the values without NULL, in the order of the rows."""

    def step(values: list[Value], value: Value) -> list[Value]:
        """Append a value unless it is NULL."""
        if value is not None:
            values.append(value)
        return values

    return Accumulator([], step, tuple)


def begin_set(_: AggregateUse) -> Accumulator:
    """Begin COLLECT_SET: different values without NULL, in the order in which they come first."""
    return Accumulator({}, count_value, tuple)


@dataclass(slots=True)
class JoinedTexts:
    """The state of LISTAGG."""

    # The texts, or binary values, in the order of the rows.
    texts: list[Value] = field(default_factory=list)
    # The text between two texts; None for no text. It is a constant, so each row has the same.
    delimiter: Value = None


def begin_joined_texts(_: AggregateUse) -> Accumulator:
    """Begin LISTAGG: texts or binary values, joined in the order of the rows by a delimiter.

    NULLs are left out.
    """

    def step(joined: JoinedTexts, text: Value, delimiter: Value = None) -> JoinedTexts:
        """Append a text unless it is NULL, and note the delimiter."""
        if text is not None:
            joined.texts.append(text)
        joined.delimiter = delimiter
        return joined

    def finish(joined: JoinedTexts) -> Value:
        """Return the joined texts; NULL if there are none."""
        if not joined.texts:
            return None
        delimiter = joined.delimiter
        if delimiter is None:
            delimiter = joined.texts[0][:0]  # an empty text, or empty bytes
        return delimiter.join(joined.texts)

    return Accumulator(JoinedTexts(), step, finish)
