"""Run a query of a batch as Spark's stateful operator does, with a simulated clock."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
import pyarrow as pa

from matchrec.conditions.row_column import RowColumn
from matchrec.spark.pandas_encoding import PandasEncoding
from matchrec.spark.streaming.arrival import EventLayout, read_times
from matchrec.spark.streaming.bucket_state import ColumnMap
from matchrec.spark.streaming.key_states import read_all_key_states
from matchrec.spark.streaming.search import ContiguousSearch, ContiguousStates
from matchrec.spark.streaming.stream_worker import StreamWorker
from matchrec.worker import internal_names
from matchrec.worker.column_roles import SortColumn
from tests.tasks.query_batches import Run
from tests.tasks.stream_pieces import QUERY, FakeGroupState

A_DAY = 86_400_000  # milliseconds
KEY = internal_names.name_rule_key(0)
BY_NUMBER = SortColumn("__o0", descending=False, nulls_first=True)


@dataclass(frozen=True)
class StreamRun(Run):
    """A run whose rows arrive in random pieces and out of order.

    Between two pieces the state of the search is kept as bytes.
    """

    # The columns that order the rows, and how the second one does.
    time: RowColumn = RowColumn(("`t`",))
    second_column: RowColumn = RowColumn(("`n`",))
    order: SortColumn = BY_NUMBER
    seed: int = 0
    # By the number of the partition: how many starting rows are decided at the end.
    decided: dict[int, int] = field(default_factory=dict)

    def run_copies(self, copies: int) -> list[pa.RecordBatch]:
        """Run the query over copies of the rows, whose keys are in the same buckets."""
        compiled_query = replace(self.compiled_query, row_filters=())
        table = self.prepared.table(compiled_query, None)
        time = self.prepared.columns[self.time].cast(pa.int64())
        table = table.append_column(self.order.name, self.prepared.columns[self.second_column])
        table = table.append_column(internal_names.EVENT_MICROSECONDS, time).combine_chunks()
        number = np.cumsum(self.prepared.starts) - 1
        table = table.append_column(KEY, pa.array(number))
        column_map = ColumnMap({name: name for name in table.schema.names}, ())
        event_layout = EventLayout(
            PandasEncoding(()), table.schema, (KEY,), (self.order,), column_map
        )
        worker = StreamWorker(
            event_layout, QUERY, (ContiguousSearch(compiled_query),), {}, stores_watermark=False
        )
        chosen = [*(range(number.max() + 1) if self.partitions is None else self.partitions)]
        random = Random(self.seed)
        random.shuffle(chosen)
        batches: list[pa.RecordBatch] = []
        while chosen:
            keys = [chosen.pop() for _ in range(min(len(chosen), random.choice((1, 2, 4))))]
            rows = table.filter(pa.array(np.isin(number, keys))).combine_chunks()
            batches += self.stream(
                CopyingWorker(worker, copies, int(number.max()) + 1), rows, random
            )
        return batches

    def stream(
        self, worker: CopyingWorker, rows: pa.Table, random: Random
    ) -> Iterator[pa.RecordBatch]:
        """Yield the output of some partitions, whose rows arrive in pieces.

        The watermark makes none of these rows late. Some earlier rows arrive a second time, late.
        """
        group = FakeGroupState()
        seconds = read_times(rows) // 1000  # in milliseconds
        waiting = np.argsort(seconds, kind="stable").tolist()
        while waiting:
            new = [remove_one(random, waiting) for _ in range(random.choice((0, 1, 1, 2, 3)))]
            piece = [row for row in new if row is not None]
            late = np.flatnonzero(seconds * 1000 <= find_passed_watermark(group)).tolist()
            piece += random.sample(late, random.choice((0, 0, min(2, len(late)))))
            yield from self.call(worker, rows.take(pa.array(piece, pa.int64())), group)
            latest = min((int(seconds[row]) for row in waiting), default=int(seconds.max()))
            moved = latest - random.choice((1, 600_000, 1_200_000))
            group.watermark = max(group.watermark, moved)
            yield from self.fire_timer(worker, rows, group)
        group.watermark = int(seconds.max()) + A_DAY
        yield from self.fire_timer(worker, rows, group)
        self.decided.update(count_decided(worker.worker, rows, group))

    def fire_timer(
        self, worker: CopyingWorker, rows: pa.Table, group: FakeGroupState
    ) -> Iterator[pa.RecordBatch]:
        """Call the worker as Spark does when its timer is due, until no timer is due."""
        while group.timer is not None and group.timer < group.watermark:
            yield from self.call(worker, rows.slice(0, 0), group)

    def call(
        self, worker: CopyingWorker, rows: pa.Table, group: FakeGroupState
    ) -> list[pa.RecordBatch]:
        """Return the output of one call of the worker."""
        group.timer = None
        return list(worker.search_events(rows, group))


@dataclass(frozen=True)
class CopyingWorker:
    """A worker that gets several copies of its rows, each with other keys."""

    worker: StreamWorker
    copies: int
    distance: int  # between the keys of two copies

    def search_events(self, rows: pa.Table, group: FakeGroupState) -> Iterator[pa.RecordBatch]:
        """Yield the output rows of a micro-batch."""
        index = rows.schema.get_field_index(KEY)
        keys = rows.column(KEY).to_numpy()
        copies = [
            rows.set_column(index, KEY, pa.array(keys + copy * self.distance))
            for copy in range(self.copies)
        ]
        yield from self.worker.search_events(pa.concat_tables(copies).to_batches(), group)


def count_decided(worker: StreamWorker, rows: pa.Table, group: FakeGroupState) -> dict[int, int]:
    """Return how many starting rows are decided, by the number of their partition."""
    decided = dict(Counter(rows.column(KEY).to_pylist()))
    if not group.exists:
        return decided
    keys = group.bucket_state.keys.column(KEY).to_pylist()
    for key_states in read_all_key_states(group.bucket_state.arrays, worker.searches).values():
        assert isinstance(key_states.search_states, ContiguousStates)
        starts = key_states.search_states.undecided_start.values
        kept_rows = key_states.kept_rows.sizes
        for key, start, count in zip(key_states.keys.tolist(), starts, kept_rows, strict=True):
            if keys[key] in decided:  # otherwise it is the key of a copy
                # The rows before `start` are decided. The kept rows from there on are not.
                decided[keys[key]] += int(start - count)
    return decided


def remove_one(random: Random, waiting: list[int]) -> int | None:
    """Remove one of the next four waiting rows, and return it; None if no row is waiting."""
    return waiting.pop(random.randrange(min(4, len(waiting)))) if waiting else None


def find_passed_watermark(group: FakeGroupState) -> float:
    """Return the watermark, in microseconds, up to which a bucket has put its rows in order."""
    watermark = group.bucket_state.ordered_until if group.exists else None
    return -math.inf if watermark is None else watermark
