"""Events of a bucket of keys as they come: first in order, as far as the watermark has passed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from matchrec.dataclass import dataclass
from matchrec.engine.partitions import IntArray
from matchrec.spark import wire
from matchrec.spark.streaming.by_key import ByKey, positions_of, starts_of
from matchrec.spark.streaming.memory import Memory
from matchrec.spark.worker.arrays import (
    as_integers,
    codes_of,
    column,
    number_equal,
    sort_keys,
    validity,
)


@dataclass(frozen=True, slots=True)
class Order:
    """A column beside the time that puts events of one time in order."""

    name: str
    descending: bool = False
    nulls_last: bool = False


@dataclass(frozen=True, slots=True)
class Arriving:
    """What events are and how they are put in order.

    schema: of the rows as they are kept. keys: columns that the rows of a partition have in common.
    orders: columns beside the time.
    """

    schema: pa.Schema
    keys: tuple[str, ...]
    orders: tuple[Order, ...]

    def nothing(self) -> Memory:
        """What is known of a bucket before its first event."""
        rows = self.schema.empty_table()
        return Memory(None, {}, rows.select(self.keys), rows)


@dataclass(frozen=True, slots=True)
class Known:
    """Rows of some keys that a search looks at, key after key.

    starts: int64[p + 1], where those of each key start. new: int64[p], how many of each key, its
    last ones, no search has had before. places: int64[n], which of the bucket's rows they are.
    watermark: in microseconds.
    """

    rows: pa.Table
    starts: IntArray
    new: IntArray
    places: IntArray
    watermark: int

    @property
    def sizes(self) -> IntArray:
        """int64[p], how many rows each key has."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True)
class Arrived:
    """The rows of a bucket in one micro-batch.

    keys: those that had any state, then those that are new, k in all. rows: what searches need from
    before, then the new ones that the watermark has passed, key after key and in order. kept, new:
    int64[k], how many of them each key has of either. later: rows that wait. passed: see `Memory`.
    """

    keys: pa.Table
    rows: pa.Table
    kept: IntArray
    new: IntArray
    later: pa.Table
    passed: int

    def key_of_rows(self) -> IntArray:
        """int64[n], the number of the key of each row."""
        keys = np.arange(len(self.new))
        return np.append(np.repeat(keys, self.kept), np.repeat(keys, self.new))

    def kept_of(self, keys: IntArray) -> ByKey:
        """Which rows some keys have from before."""
        return ByKey(positions_of(self.kept, keys), self.kept[keys])

    def known(self, keys: IntArray, kept: ByKey, watermark: int) -> Known:
        """Rows of some keys: those that are kept of each, and its new ones."""
        new = self.new[keys]
        places = np.append(kept.values, int(self.kept.sum()) + positions_of(self.new, keys))
        key = np.concatenate([np.repeat(np.arange(len(keys)), one) for one in (kept.sizes, new)])
        places = places[np.argsort(key, kind="stable")]
        rows = self.rows.take(pa.array(places)).combine_chunks()
        return Known(rows, starts_of(kept.sizes + new), new, places, watermark)


def arrange(
    memory: Memory,
    kept: IntArray,
    new: Iterable[pa.RecordBatch],
    arriving: Arriving,
    watermark: int,
) -> Arrived:
    """Put the new events of a bucket in order with those that wait. watermark: in microseconds.

    kept: int64[k], how many rows of the memory searches need of each key; the others wait.
    """
    count = int(kept.sum())
    fresh = in_time(pa.Table.from_batches(list(new), arriving.schema), memory.passed)
    waiting = pa.concat_tables([memory.rows.slice(count), fresh]).combine_chunks()
    is_passed = times(waiting) <= watermark
    here = waiting.filter(pa.array(is_passed)).combine_chunks()
    both = pa.concat_tables([memory.keys, here.select(arriving.keys)]).combine_chunks()
    number, first = number_equal([codes_of(column(both, name)) for name in arriving.keys])
    number = number[memory.keys.num_rows :]
    here = here.take(pa.array(order_events(here, arriving.orders, number)))
    kept = np.append(kept, np.zeros(len(first) - len(kept), np.int64))
    return Arrived(
        keys=both.take(pa.array(first)).combine_chunks(),
        rows=pa.concat_tables([memory.rows.slice(0, count), here]).combine_chunks(),
        kept=kept,
        new=np.bincount(number, minlength=len(first)).astype(np.int64),
        later=waiting.filter(pa.array(~is_passed)),
        passed=watermark if memory.passed is None else max(memory.passed, watermark),
    )


def in_time(rows: pa.Table, passed: int | None) -> pa.Table:
    """The rows that are not late; Spark itself drops those, and counts them."""
    return rows if passed is None else rows.filter(pa.array(times(rows) > passed))


def times(rows: pa.Table) -> IntArray:
    """Microseconds."""
    return as_integers(column(rows, wire.MICROSECONDS)) if rows.num_rows else np.zeros(0, np.int64)


def order_events(rows: pa.Table, orders: tuple[Order, ...], key: IntArray) -> IntArray:
    """Sort the rows by the number of their key, by time, by `orders`, then by arrival: places."""
    keys: list[Any] = [key, times(rows)]
    for order in orders if rows.num_rows else ():
        values = column(rows, order.name)
        there = validity(values)
        keys.append(~there if order.nulls_last else there)
        ascending = sort_keys(values)
        keys.append(descending(ascending) if order.descending else ascending)
    return np.lexsort(keys[::-1]).astype(np.int64)


def descending(keys: Any) -> IntArray:
    """Numbers in the opposite order; NaN is first."""
    return np.asarray(~np.unique(keys, return_inverse=True)[1], np.int64)
