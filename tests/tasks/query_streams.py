"""A query of a batch as the function of Spark's stateful operator runs it, under our own clock."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
import pyarrow as pa

from matchrec.conditions.row_column import RowColumn
from matchrec.spark.streaming.arrival import Arriving, ColumnMap, read_times
from matchrec.spark.streaming.bucket import PLACES, Bucket, read_key_states
from matchrec.spark.streaming.search import START, ContiguousSearch
from matchrec.spark.transport import PandasEncoding
from matchrec.worker import wire
from matchrec.worker.wire import SortColumn
from tests.tasks.query_batches import Run
from tests.tasks.stream_pieces import QUERY, Group

A_DAY = 86_400_000  # milliseconds
KEY = wire.name_rule_key(0)
FURTHER = SortColumn("__o0", descending=False, nulls_first=True)


@dataclass(frozen=True)
class StreamRun(Run):
    """A run whose rows come in random pieces, out of order, with state as bytes between them.

    time, further: what the rows are ordered by. order: of the second of them. decided: by the
    number of the partition, the first undecided starting row.
    """

    time: RowColumn = RowColumn(("`t`",))
    further: RowColumn = RowColumn(("`n`",))
    order: SortColumn = FURTHER
    seed: int = 0
    decided: dict[int, int] = field(default_factory=dict)

    def of_copies(self, copies: int) -> list[pa.RecordBatch]:
        """Run the compiled query over so many copies of the rows, as keys of the same buckets."""
        compiled_query = replace(self.compiled_query, row_filters=())
        table = self.prepared.table(compiled_query, None)
        time = self.prepared.columns[self.time].cast(pa.int64())
        table = table.append_column(self.order.name, self.prepared.columns[self.further])
        table = table.append_column(wire.EVENT_MICROSECONDS, time).combine_chunks()
        number = np.cumsum(self.prepared.starts) - 1
        table = table.append_column(KEY, pa.array(number))
        column_map = ColumnMap({name: name for name in table.schema.names}, ())
        arriving = Arriving(PandasEncoding(()), table.schema, (KEY,), (self.order,), column_map)
        bucket = Bucket(arriving, QUERY, (ContiguousSearch(compiled_query),), {}, remembers=False)
        chosen = [*(range(number.max() + 1) if self.partitions is None else self.partitions)]
        random = Random(self.seed)
        random.shuffle(chosen)
        found = []
        while chosen:
            keys = [chosen.pop() for _ in range(min(len(chosen), random.choice((1, 2, 4))))]
            rows = table.filter(pa.array(np.isin(number, keys))).combine_chunks()
            found += self.stream(Copied(bucket, copies, int(number.max()) + 1), rows, random)
        return found

    def stream(self, bucket: Copied, rows: pa.Table, random: Random) -> Iterator[pa.RecordBatch]:
        """Yield the output of some partitions, whose rows arrive in pieces.

        The watermark makes none of these rows late. Late copies of earlier rows are mixed in.
        """
        group, seconds = Group(), read_times(rows) // 1000
        waiting = np.argsort(seconds, kind="stable").tolist()
        while waiting:
            new = [take_one(random, waiting) for _ in range(random.choice((0, 1, 1, 2, 3)))]
            piece = [one for one in new if one is not None]
            late = np.flatnonzero(seconds * 1000 <= find_passed_watermark(group)).tolist()
            piece += random.sample(late, random.choice((0, 0, min(2, len(late)))))
            yield from self.call(bucket, rows.take(pa.array(piece, pa.int64())), group)
            latest = min((int(seconds[one]) for one in waiting), default=int(seconds.max()))
            moved = latest - random.choice((1, 600_000, 1_200_000))
            group.watermark = max(group.watermark, moved)
            yield from self.ring(bucket, rows, group)
        group.watermark = int(seconds.max()) + A_DAY
        yield from self.ring(bucket, rows, group)
        self.decided.update(count_decided(bucket.one, rows, group))

    def ring(self, bucket: Copied, rows: pa.Table, group: Group) -> Iterator[pa.RecordBatch]:
        """Call as Spark does when a timer is due, as often as one is."""
        while group.timer is not None and group.timer < group.watermark:
            yield from self.call(bucket, rows.slice(0, 0), group)

    def call(self, bucket: Copied, rows: pa.Table, group: Group) -> list[pa.RecordBatch]:
        group.timer = None
        return list(bucket.batch(rows, group))


@dataclass(frozen=True)
class Copied:
    """A bucket to which many copies of its rows come, whose keys are so far apart."""

    one: Bucket
    copies: int
    apart: int

    def batch(self, rows: pa.Table, group: Group) -> Iterator[pa.RecordBatch]:
        """Yield the output rows of a micro-batch."""
        place = rows.schema.get_field_index(KEY)
        keys = rows.column(KEY).to_numpy()
        copies = [
            rows.set_column(place, KEY, pa.array(keys + copy * self.apart))
            for copy in range(self.copies)
        ]
        yield from self.one.batch(pa.concat_tables(copies).to_batches(), group)


def count_decided(bucket: Bucket, rows: pa.Table, group: Group) -> dict[int, int]:
    """Return how many starting rows are decided, by the number of their partition."""
    found = dict(Counter(rows.column(KEY).to_pylist()))
    if not group.exists:
        return found
    keys = group.memory.keys.column(KEY).to_pylist()
    for needs in read_key_states(group.memory.arrays, bucket.searches).values():
        starts, kept = needs.states[START].values, needs.states[PLACES].sizes
        for key, start, count in zip(needs.keys.tolist(), starts, kept, strict=True):
            if keys[key] in found:  # else it is a copy's
                found[keys[key]] += int(start - count)
    return found


def take_one(random: Random, waiting: list[int]) -> int | None:
    """Remove and return one of the next rows that wait; None if none waits."""
    return waiting.pop(random.randrange(min(4, len(waiting)))) if waiting else None


def find_passed_watermark(group: Group) -> float:
    """Return the watermark, in microseconds, up to which a bucket has put its rows in order."""
    found = group.memory.passed if group.exists else None
    return -math.inf if found is None else found
