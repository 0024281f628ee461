"""A query of a batch as the function of Spark's stateful operator runs it, under our own clock."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
import pyarrow as pa

from matchrec.conditions.row_column import RowColumn
from matchrec.spark import wire
from matchrec.spark.streaming.arrival import Order, times
from matchrec.spark.streaming.contiguous import NOTHING, Begun, KeyedContiguous
from matchrec.spark.streaming.memory import load
from tests.tasks.query_batches import Run
from tests.tasks.stream_pieces import QUERY, Group

A_DAY = 86_400_000  # milliseconds


@dataclass(frozen=True)
class StreamRun(Run):
    """A run whose rows come in random pieces, out of order, with state as bytes between them.

    time, further: what the rows are ordered by. order: of the second of them. decided: by the
    number of the partition, the first undecided starting row.
    """

    time: RowColumn = RowColumn(("`t`",))
    further: RowColumn = RowColumn(("`n`",))
    order: Order = Order(wire.further_order(0))
    seed: int = 0
    decided: dict[int, int] = field(default_factory=dict)

    def batches(self) -> list[pa.RecordBatch]:
        """Raises MatchRecognizeRunError."""
        executable = replace(self.executable, relevant=(), neighbours=())
        table = self.prepared.table(executable, None)
        time = self.prepared.columns[self.time].cast(pa.int64())
        table = table.append_column(self.order.name, self.prepared.columns[self.further])
        table = table.append_column(wire.MICROSECONDS, time).combine_chunks()
        keyed = KeyedContiguous(executable, table.schema, (self.order,), QUERY)
        starts = np.append(np.flatnonzero(self.prepared.starts), table.num_rows)
        chosen = range(len(starts) - 1) if self.partitions is None else self.partitions
        found = []
        for number in chosen:
            rows = table.slice(starts[number], starts[number + 1] - starts[number])
            found += self.stream(keyed, number, rows)
        return found

    def stream(
        self, keyed: KeyedContiguous, number: int, rows: pa.Table
    ) -> Iterator[pa.RecordBatch]:
        """One partition, in pieces that the watermark never makes late, with some that are."""
        random, group = Random(f"{self.seed} {number}"), Group()
        seconds, waiting = times(rows) // 1000, [*range(rows.num_rows)]
        while waiting:
            new = [take_one(random, waiting) for _ in range(random.choice((0, 1, 1, 2, 3)))]
            piece = [one for one in new if one is not None]
            late = np.flatnonzero(seconds * 1000 <= passed(group)).tolist()
            piece += random.sample(late, random.choice((0, 0, min(2, len(late)))))
            yield from self.call(keyed, rows.take(pa.array(piece, pa.int64())), group)
            latest = min((int(seconds[one]) for one in waiting), default=int(seconds.max()))
            moved = latest - random.choice((1, 600_000, 1_200_000))
            group.watermark = max(group.watermark, moved)
            yield from self.ring(keyed, rows, group)
        group.watermark = int(seconds.max()) + A_DAY
        yield from self.ring(keyed, rows, group)
        begun = Begun.of(load(group.get[0], QUERY).arrays) if group.exists else NOTHING
        self.decided[number] = rows.num_rows - len(begun.covered) + begun.start

    def ring(
        self, keyed: KeyedContiguous, rows: pa.Table, group: Group
    ) -> Iterator[pa.RecordBatch]:
        """Call as Spark does when a timer is due, as often as one is."""
        while group.timer is not None and group.timer < group.watermark:
            yield from self.call(keyed, rows.slice(0, 0), group)

    def call(self, keyed: KeyedContiguous, rows: pa.Table, group: Group) -> list[pa.RecordBatch]:
        group.timer = None
        return list(keyed.batch(rows.to_batches(), group))


def take_one(random: Random, waiting: list[int]) -> int | None:
    """One of the next rows, which no longer waits; None without any."""
    return waiting.pop(random.randrange(min(4, len(waiting)))) if waiting else None


def passed(group: Group) -> float:
    """The watermark up to which the rows of a key have been put in order, in microseconds."""
    found = load(group.get[0], QUERY).passed if group.exists else None
    return -math.inf if found is None else found
