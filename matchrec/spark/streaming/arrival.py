"""Events of a key as they come: those that the watermark has passed are in order, others wait."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from matchrec.engine.partitions import IntArray
from matchrec.spark import wire
from matchrec.spark.streaming.memory import Memory
from matchrec.spark.worker.arrays import as_floats, as_integers, column, dense_ranks, validity


@dataclass(frozen=True, slots=True)
class Order:
    """A column beside the time that puts events of one time in order."""

    name: str
    descending: bool = False
    nulls_last: bool = False


@dataclass(frozen=True, slots=True)
class Arrived:
    """The events of a key in one micro-batch.

    known: those that the search needs from before, then `new` ones that the watermark has passed,
    in order; later: those that wait. passed: see `Memory`.
    """

    known: pa.Table
    later: pa.Table
    new: int
    passed: int


def arrange(
    memory: Memory,
    kept: int,
    new: Iterable[pa.RecordBatch],
    orders: tuple[Order, ...],
    watermark: int,
) -> Arrived:
    """Put the new events of a key in order with those that wait. watermark: in microseconds.

    kept: how many rows of the memory the search needs; the others wait.
    """
    fresh = in_time(pa.Table.from_batches(list(new), memory.rows.schema), memory.passed)
    waiting = pa.concat_tables([memory.rows.slice(kept), fresh]).combine_chunks()
    waiting = waiting.take(pa.array(order_events(waiting, orders)))
    count = int(np.searchsorted(times(waiting), watermark, side="right"))
    known = pa.concat_tables([memory.rows.slice(0, kept), waiting.slice(0, count)])
    passed = watermark if memory.passed is None else max(memory.passed, watermark)
    return Arrived(known.combine_chunks(), waiting.slice(count), count, passed)


def in_time(rows: pa.Table, passed: int | None) -> pa.Table:
    """The rows that are not late; Spark itself drops those, and counts them."""
    return rows if passed is None else rows.filter(pa.array(times(rows) > passed))


def times(rows: pa.Table) -> IntArray:
    """Microseconds."""
    return as_integers(column(rows, wire.MICROSECONDS)) if rows.num_rows else np.zeros(0, np.int64)


def order_events(rows: pa.Table, orders: tuple[Order, ...]) -> IntArray:
    """Sort the rows by time, then by `orders`, then by arrival: their places."""
    keys: list[Any] = [times(rows)]
    for order in orders if rows.num_rows else ():
        values = column(rows, order.name)
        there = validity(values)
        keys.append(~there if order.nulls_last else there)
        ascending = sort_key(values)
        keys.append(descending(ascending) if order.descending else ascending)
    return np.lexsort(keys[::-1]).astype(np.int64)


def sort_key(values: pa.Array) -> Any:
    """Numbers in the order of the values; NaN is last."""
    kind = values.type
    if pa.types.is_floating(kind):
        return as_floats(values)
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind) or pa.types.is_boolean(kind):
        return as_integers(values)
    return as_integers(dense_ranks(values))


def descending(keys: Any) -> IntArray:
    """Numbers in the opposite order; NaN is first."""
    return np.asarray(~np.unique(keys, return_inverse=True)[1], np.int64)
