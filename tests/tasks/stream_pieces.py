"""A streaming query run in this process: its events in pieces, under a clock of our own.

Spark computes the columns of a batch of events once; they are handed to the worker as Spark's
stateful operator would hand them, and the same executable matches all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame

from matchrec import RuleMatches
from matchrec.engine.partitions import Frontier, IntArray
from matchrec.spark import execute, wire
from matchrec.spark.rule_sets import asked, streams
from matchrec.spark.rule_sets.keyed import RulesOfBucket
from matchrec.spark.streaming import execute as streaming
from matchrec.spark.streaming.arrival import order_events
from matchrec.spark.streaming.bucket import Bucket, SearchedBucket
from matchrec.spark.streaming.by_key import starts_of
from matchrec.spark.streaming.memory import Memory, load
from matchrec.spark.streaming.prepare import WATERMARK, Crossed
from matchrec.spark.streaming.worker import StreamWorker
from matchrec.spark.worker.arrays import codes_of, number_equal
from matchrec.spark.worker.batches import Piece
from matchrec.spark.worker.match import Worker

QUERY = "a digest"


class Group:
    """A bucket's state, as PySpark's GroupState. timer: milliseconds, or None."""

    def __init__(self) -> None:
        self.value: tuple[Any, ...] | None = None
        self.timer: int | None = None
        self.watermark = 0

    @property
    def exists(self) -> bool:
        return self.value is not None

    @property
    def get(self) -> tuple[Any, ...]:
        assert self.value is not None
        return self.value

    @property
    def bytes(self) -> int:
        return len(self.value[0]) if self.value else 0

    @property
    def memory(self) -> Memory:
        return load(self.get[0], QUERY)

    def update(self, newValue: tuple[Any, ...]) -> None:  # noqa: N803
        self.value = newValue

    def remove(self) -> None:
        assert self.exists
        self.value = None

    def setTimeoutTimestamp(self, timestampMs: int) -> None:  # noqa: N802, N803
        assert timestampMs > self.watermark
        self.timer = timestampMs

    def getCurrentWatermarkMs(self) -> int:  # noqa: N802
        return self.watermark


class Keys:
    """The keys of a stream and what goes on with them. crossed: its events."""

    def __init__(self, crossed: Crossed, bucket: Bucket):
        self.worker = StreamWorker(bucket, crossed.columns)
        self.frame = crossed.frame.toPandas()
        self.number = self.numbers(self.frame)
        keys = range(self.number.max() + 1)
        self.by_key = [self.frame[self.number == key].reset_index(drop=True) for key in keys]

    def numbers(self, frame: pd.DataFrame) -> IntArray:
        """The number of the key of each event."""
        batch = self.worker.batch(frame)
        names = self.worker.bucket.arriving.keys
        return number_equal([codes_of(batch.column(name)) for name in names])[0]

    def buckets(self, random: Random) -> Iterator[pd.DataFrame]:
        """The events of some keys at a time; those of some of them come seconds later."""
        keys = len(self.by_key)
        bucket = np.array([random.randrange(3) for _ in range(keys)])[self.number]
        later = np.array([random.choice((0, 0, 4000)) for _ in range(keys)])[self.number]
        come = np.array(times(self.frame)) + later
        for one in np.unique(bucket):
            events = np.flatnonzero(bucket == one)
            events = events[np.argsort(come[events], kind="stable")]
            yield self.frame.take(events).reset_index(drop=True)

    def in_pieces(
        self, frame: pd.DataFrame, pieces: Sequence[tuple[int, int]], group: Group
    ) -> Iterator[dict[str, Any]]:
        """The output of a bucket's events. pieces: how many come, and the watermark behind them, in
        milliseconds; a last one beyond all is added.
        """
        come = 0
        for size, watermark in (*pieces, (len(frame), 10**15)):
            piece = frame[come : come + size]
            come += len(piece)
            yield from self.batch(piece, group)
            group.watermark = max(group.watermark, watermark)
            if group.timer is not None and group.timer < group.watermark:
                yield from self.batch(piece[:0], group)

    def batch(self, piece: pd.DataFrame, group: Group) -> Iterator[dict[str, Any]]:
        """One call of Spark's."""
        group.timer = None
        for out in self.worker.run([piece.reset_index(drop=True)], group):
            for data in out["rows"]:
                with pa.ipc.open_stream(data) as reader:
                    yield from reader.read_all().to_pylist()


class Streamed(Keys):
    """A query over a stream. make: the query, given a DataFrame. events: its rows."""

    def __init__(self, make: Callable[[DataFrame], DataFrame], events: DataFrame, time: str):
        kept: list[tuple[Crossed, SearchedBucket]] = []

        def keep(crossed: Crossed, bucket: SearchedBucket, _: str, schema: Any) -> DataFrame:
            kept.append((crossed, replace(bucket, query=QUERY)))
            return events.sparkSession.createDataFrame([], schema)

        with (
            patch.object(execute, "is_streaming", return_value=True),
            patch.object(streaming, "run_on_buckets", keep),
        ):
            make(events.withMetadata(time, {WATERMARK: 0}))
        ((crossed, bucket),) = kept
        self.executable = bucket.search.executable
        super().__init__(crossed, bucket)

    def at_once(self, frame: pd.DataFrame) -> list[dict[str, Any]]:
        """The output of a bucket's events, matched as in a batch."""
        number, orders = self.numbers(frame), self.worker.bucket.arriving.orders
        table = pa.Table.from_batches([self.worker.batch(frame)])
        order = order_events(table, orders, number)
        table, rows = table.take(pa.array(order)).combine_chunks(), table.num_rows
        starts = starts_of(np.bincount(number))
        whole = Piece(table, starts, Frontier.of(starts), 0, np.zeros(rows, np.bool_), rows)
        found = Worker(self.executable).match_piece(whole)
        return [row for one in found for row in one.to_pylist()]


class StreamedRules(Keys):
    """A rule set over a stream. make: the set, given a DataFrame. events: its rows."""

    def __init__(self, make: Callable[[DataFrame], RuleMatches], events: DataFrame, time: str):
        kept: list[tuple[Crossed, RulesOfBucket]] = []

        def keep(crossed: Crossed, bucket: RulesOfBucket, _: str, schema: Any) -> DataFrame:
            kept.append((crossed, replace(bucket, query=QUERY)))
            return events.sparkSession.createDataFrame([], schema)

        with (
            patch.object(asked, "is_streaming", return_value=True),
            patch.object(streams, "run_on_buckets", keep),
        ):
            self.found = make(events.withMetadata(time, {WATERMARK: 0}))
        ((crossed, self.bucket),) = kept
        super().__init__(crossed, self.bucket)

    def of(self, rows: DataFrame) -> RuleMatches:
        """The views of the rows that have come out."""
        return RuleMatches(replace(self.found._built, rows=rows))


def times(frame: pd.DataFrame) -> list[int]:
    """Milliseconds."""
    return [int(one) // 1000 for one in frame[wire.MICROSECONDS]]
