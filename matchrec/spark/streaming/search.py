"""The search of a key's events from micro-batch to micro-batch, whatever it looks for.

Events wait until the watermark has passed them; then they are put in order and searched. What the
search still needs is kept with its state. Nothing is at its end because a batch is: a window ends
when the watermark passes its end, for which an event-time timer is set.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from matchrec.compile.executable import Executable
from matchrec.spark.streaming.arrival import Arrived, Order, arrange, times
from matchrec.spark.streaming.group import Group, wake
from matchrec.spark.streaming.memory import Arrays, Memory, dump, load


@dataclass(frozen=True, slots=True)
class Left:
    """What a search needs further on.

    arrays: its state. rows: those that it looks at again, in order. next_end: when to go on though
    no event comes, in microseconds, or FOREVER. is_idle: whether nothing is lost if the state is
    forgotten, once no row is kept.
    """

    arrays: Arrays
    rows: pa.Table
    next_end: int
    is_idle: bool


Searching = Generator[pa.RecordBatch, None, Left]
"""The output rows of what is decided, and in the end what is left."""


@dataclass(frozen=True)
class KeySearch(ABC):
    """Runs an executable over the events of one key. Picklable.

    schema: of the rows as they are kept. orders: columns beside the time that put them in order.
    query: a digest of what is asked.
    """

    executable: Executable
    schema: pa.Schema
    orders: tuple[Order, ...]
    query: str

    @abstractmethod
    def nothing(self) -> Arrays:
        """The state of a key without events."""

    @abstractmethod
    def searched(self, arrays: Arrays) -> int:
        """How many of the rows that were left have been searched, the first ones."""

    @abstractmethod
    def search(self, arrays: Arrays, arrived: Arrived, watermark: int) -> Searching:
        """Go on with the events that have arrived. watermark: in microseconds.

        Raises MatchRecognizeRunError.
        """

    def batch(self, new: Iterable[pa.RecordBatch], group: Group) -> Iterator[pa.RecordBatch]:
        """The output rows of what is decided now; the state is kept in the group."""
        memory, watermark = self.memory(group), group.getCurrentWatermarkMs() * 1000
        kept = self.searched(memory.arrays)
        arrived = arrange(memory, kept, new, self.orders, watermark)
        left = yield from self.search(memory.arrays, arrived, watermark)
        rows = pa.concat_tables([left.rows, arrived.later]).combine_chunks()
        if left.is_idle and not rows.num_rows:
            if group.exists:
                group.remove()
            return
        group.update((dump(Memory(arrived.passed, left.arrays, rows), self.query),))
        wake(group, min([left.next_end, *times(arrived.later)[:1].tolist()]), watermark)

    def memory(self, group: Group) -> Memory:
        """What is known of a key."""
        if group.exists:
            return load(group.get[0], self.query)
        return Memory(None, self.nothing(), self.schema.empty_table())
