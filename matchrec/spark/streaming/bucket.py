"""The events of a bucket of keys from micro-batch to micro-batch.

Events wait until the watermark has passed them; then they are put in order and searched, those of
all keys that have any at once. What the search still needs of each key is kept with its state.
Nothing is at its end because a batch is: a window ends when the watermark passes its end, for which
an event-time timer is set, one for all keys.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from matchrec.dataclass import dataclass
from matchrec.engine.partitions import IntArray
from matchrec.spark.streaming.arrival import Arrived, Arriving, arrange, times
from matchrec.spark.streaming.by_key import OfKeys, States, flat, states_in, take
from matchrec.spark.streaming.memory import Arrays, Memory, dump, load
from matchrec.spark.streaming.search import FOREVER, KeySearch

NO_KEYS = np.zeros(0, np.int64)


class Group(Protocol):
    """What is used of PySpark's GroupState."""

    @property
    def exists(self) -> bool: ...
    @property
    def get(self) -> tuple[Any, ...]: ...
    def update(self, newValue: tuple[Any, ...]) -> None: ...  # noqa: N803
    def remove(self) -> None: ...
    def setTimeoutTimestamp(self, timestampMs: int) -> None: ...  # noqa: N802, N803
    def getCurrentWatermarkMs(self) -> int: ...  # noqa: N802


def wake(group: Group, time: int, watermark: int) -> None:
    """Ask to be called when the watermark has passed a time, in microseconds, if it ever does.

    Spark calls when the watermark is beyond the timer.
    """
    if time != FOREVER:
        before = -(-int(time) // 1000) - 1
        group.setTimeoutTimestamp(max(before, watermark // 1000 + 1, 1))


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a bucket. keys: which of those that have arrived; rows: which of theirs, key
    after key. arrays: what there is of the search. next_end: see `Left`, the least of all.
    """

    keys: IntArray
    rows: IntArray
    arrays: Arrays
    next_end: int


GoingOn = Generator[pa.RecordBatch, None, Kept]
"""The output rows of what is decided, and in the end what is kept."""


@dataclass(frozen=True)
class Bucket(ABC):
    """What goes on with the events of a bucket. Picklable. query: a digest of what is asked."""

    arriving: Arriving
    query: str

    @property
    def schema(self) -> pa.Schema:
        """Of the events."""
        return self.arriving.schema

    @abstractmethod
    def go_on(self, arrays: Arrays, arrived: Arrived, watermark: int) -> GoingOn:
        """Search what has arrived. arrays: what was kept, none in the beginning.

        Among those that are kept, "rows" says how many rows are of each key: int64[k].
        """

    def batch(self, new: Iterable[pa.RecordBatch], group: Group) -> Iterator[pa.RecordBatch]:
        """The output rows of what is decided now; the state is kept in the group."""
        watermark = group.getCurrentWatermarkMs() * 1000
        memory = load(group.get[0], self.query) if group.exists else self.arriving.nothing()
        arrived = arrange(memory, memory.arrays.get("rows", NO_KEYS), new, self.arriving, watermark)
        kept = yield from self.go_on(memory.arrays, arrived, watermark)
        rows = pa.concat_tables([arrived.rows.take(pa.array(kept.rows)), arrived.later])
        if not len(kept.keys) and not rows.num_rows:
            if group.exists:
                group.remove()
            return
        keys = arrived.keys.take(pa.array(kept.keys)).combine_chunks()
        stored = Memory(arrived.passed, kept.arrays, keys, rows.combine_chunks())
        group.update((dump(stored, self.query),))
        wake(group, int(times(arrived.later).min(initial=kept.next_end)), watermark)


@dataclass(frozen=True, slots=True)
class Needs(OfKeys):
    """What a search needs of the k keys of a bucket.

    rows: int64[k], how many of each. next_end: int64[k], see `Left`.
    """

    states: States
    rows: IntArray
    next_end: IntArray

    def arrays(self) -> Arrays:
        """It as plain arrays by name."""
        return {"rows": self.rows, "next end": self.next_end, **flat(self.states)}


@dataclass(frozen=True)
class SearchedBucket(Bucket):
    """One search over the events of a bucket."""

    search: KeySearch

    def needs(self, arrays: Arrays, keys: int) -> Needs:
        """What is needed of so many keys, the first ones with state."""
        if not arrays:
            return self.nothing_of(keys)
        states = states_in(arrays, self.search.nothing())
        known = Needs(states, arrays["rows"], arrays["next end"])
        added = keys - len(known.rows)
        return known.followed_by(self.nothing_of(added)) if added else known

    def nothing_of(self, keys: int) -> Needs:
        """What is needed of so many keys without events."""
        states = take(self.search.nothing(), np.zeros(keys, np.int64))
        return Needs(states, np.zeros(keys, np.int64), np.full(keys, FOREVER))

    def go_on(self, arrays: Arrays, arrived: Arrived, watermark: int) -> GoingOn:
        needs = self.needs(arrays, arrived.keys.num_rows)
        has_any = (arrived.new > 0) | (needs.next_end <= watermark)
        called, others = np.flatnonzero(has_any), np.flatnonzero(~has_any)
        keys, rows, kept = others, arrived.kept_of(others).values, needs
        if len(called):
            known = arrived.known(called, arrived.kept_of(called), watermark)
            left = yield from self.search.search(take(needs.states, called), known)
            stay, left = left.without_idle()
            keys = np.append(keys, called[stay])
            rows = np.append(rows, known.places[left.kept.values])
            after = Needs(left.states, left.kept.sizes, left.next_end)
            kept = needs.take(others).followed_by(after)
        return Kept(keys, rows, kept.arrays(), int(kept.next_end.min(initial=FOREVER)))
