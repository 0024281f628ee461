"""A streaming query run in this process: its events in pieces, under a clock of our own.

Spark computes the columns of a batch of events once; they are handed to the worker as Spark's
stateful operator would hand them, and the same compiled query matches all of them at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import compute
from pyspark.sql import DataFrame

from matchrec import RuleMatches
from matchrec.search.partitions import Frontier, IntArray, find_group_starts
from matchrec.spark import request
from matchrec.spark.streaming.arrival import Memory, read_memory, sort_rows
from matchrec.spark.streaming.bucket import Bucket, RulesOfBucket
from matchrec.spark.streaming.bucket import build_bucket as build_stream_bucket
from matchrec.spark.streaming.prepare import WATERMARK, SentEvents
from matchrec.spark.transport import Worker
from matchrec.worker import wire
from matchrec.worker.arrays import encode_equal, number_rows
from matchrec.worker.batches import Piece
from matchrec.worker.match import PieceWorker
from tests.quick.scale import copies_of

T = TypeVar("T")
QUERY = "a digest"
MARK, NULL = "\N{REFERENCE MARK}", "no key"


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
        return read_memory(self.get[0], QUERY)

    def update(self, newValue: tuple[Any, ...]) -> None:  # noqa: N803
        self.value = newValue

    def remove(self) -> None:
        assert self.exists
        self.value = None

    def setTimeoutTimestamp(self, timestampMs: int) -> None:  # noqa: N802, N803
        assert timestampMs >= max(self.watermark, 1)  # as PySpark has it
        self.timer = timestampMs

    def getCurrentWatermarkMs(self) -> int:  # noqa: N802
        return self.watermark


class Keys:
    """The keys of a stream and what goes on with them. crossed: its events."""

    def __init__(self, crossed: SentEvents, bucket: Bucket):
        self.bucket = bucket
        self.frame = crossed.rows.toPandas()
        self.number = self.numbers(self.frame)
        keys = range(self.number.max() + 1)
        self.by_key = [self.frame[self.number == key].reset_index(drop=True) for key in keys]

    def numbers(self, frame: pd.DataFrame) -> IntArray:
        """Return the number of the key of each event."""
        batch = self.bucket.arriving.encoding.decode_frame(frame)
        names = self.bucket.arriving.keys
        return number_rows([encode_equal(batch.column(name)) for name in names])[0]

    def buckets(self, random: Random) -> Iterator[pd.DataFrame]:
        """Yield the events of some keys at a time; those of some of them come seconds later."""
        keys = len(self.by_key)
        bucket = np.array([random.randrange(3) for _ in range(keys)])[self.number]
        later = np.array([random.choice((0, 0, 4000)) for _ in range(keys)])[self.number]
        come = np.array(read_times(self.frame)) + later
        for one in np.unique(bucket):
            events = np.flatnonzero(bucket == one)
            events = events[np.argsort(come[events], kind="stable")]
            yield self.frame.take(events).reset_index(drop=True)

    def in_pieces(
        self, frame: pd.DataFrame, pieces: Sequence[tuple[int, int]], group: Group
    ) -> Iterator[dict[str, Any]]:
        """Yield the output of a bucket's events, which arrive in pieces.

        Assert that many copies of the events give as many copies of the output, see
        `tests/tasks/copies.py`.

        Args:
            frame: the events.
            pieces: for each piece, how many events it has, and the watermark after it, in
                milliseconds. A last piece is added, with a watermark that ends all windows.
            group: the state of the bucket.
        """
        found = list(self.of_copies(1, frame, pieces, group))
        copies = copies_of(len(frame))
        texts = [self.bucket.arriving.schema.field(key).type == pa.string() for key in self.keys]
        if texts and all(texts):
            many = Counter(map(remove_marks, self.of_copies(copies, frame, pieces, Group())))
            assert many == {row: n * copies for row, n in Counter(map(remove_marks, found)).items()}
        yield from found

    @property
    def keys(self) -> Sequence[str]:
        """The names of the columns of keys."""
        return self.bucket.arriving.keys

    def of_copies(
        self, copies: int, frame: pd.DataFrame, pieces: Sequence[tuple[int, int]], group: Group
    ) -> Iterator[dict[str, Any]]:
        """Yield the output of so many copies of events, each copy's with keys of their own."""
        come = 0
        for size, watermark in (*pieces, (len(frame), 10**15)):
            piece = frame[come : come + size]
            come += len(piece)
            yield from self.batch(piece, group, copies)
            group.watermark = max(group.watermark, watermark)
            if group.timer is not None and group.timer < group.watermark:
                yield from self.batch(piece[:0], group, copies)

    def batch(self, piece: pd.DataFrame, group: Group, copies: int = 1) -> Iterator[dict[str, Any]]:
        """Yield the output of one call by Spark."""
        group.timer = None
        events = piece.reset_index(drop=True)
        if copies > 1:
            new = (
                mark_copies(self.bucket.arriving.encoding.decode_frame(events), self.keys, copies)
                if len(piece)
                else []
            )
            for found in self.bucket.batch(new, group):
                yield from found.to_pylist()
            return
        for out in self.bucket.run(None, [events], group):
            for data in out["rows"]:
                with pa.ipc.open_stream(data) as reader:
                    yield from reader.read_all().to_pylist()


def mark_copies(events: pa.RecordBatch, keys: Sequence[str], copies: int) -> list[pa.RecordBatch]:
    """Return so many copies of events, with marks in their keys that tell the copies apart."""

    def copy(mark: str) -> pa.RecordBatch:
        columns = dict(zip(events.schema.names, events.columns, strict=True))
        for key in keys:
            known = compute.fill_null(columns[key], NULL)
            columns[key] = compute.binary_join_element_wise(known, mark, "")
        return pa.RecordBatch.from_arrays([*columns.values()], schema=events.schema)

    return [copy(f"{MARK}{number}") for number in range(copies)]


def remove_marks(row: dict[str, Any]) -> str:
    """Return a row as text, without the marks in keys, and with one kind of quotes.

    The messages in rows name keys, too.
    """
    text = re.sub(f"'{NULL}{MARK}[0-9]+'", "None", str(row).replace('"', "'"))
    return re.sub(f"{MARK}[0-9]+", "", text)


def build_bucket(crossed: SentEvents, worker: Worker) -> Any:
    """Return the bucket of a worker, which matches the events that it gets."""
    return replace(build_stream_bucket(worker, crossed.arriving), query=QUERY)


def build_over_stream(
    make: Callable[[DataFrame], T], events: DataFrame, time: str
) -> tuple[T, SentEvents, Any]:
    """Build a query over a stream of events, without starting it.

    Args:
        make: returns the result of the query for the events.
        time: the column that has the watermark.

    Returns:
        What `make` returns, the events as they are sent, and a bucket of the worker.
    """
    kept: list[tuple[SentEvents, Any]] = []

    def keep(crossed: SentEvents, worker: Worker, schema: Any, *_: object) -> DataFrame:
        """Keep what `SentEvents.run` would start, and return an empty result."""
        kept.append((crossed, build_bucket(crossed, worker)))
        return events.sparkSession.createDataFrame([], schema)

    with (
        patch.object(request, "is_streaming", return_value=True),
        patch.object(SentEvents, "run", keep),
    ):
        result = make(events.withMetadata(time, {WATERMARK: 0}))
    ((crossed, bucket),) = kept
    return result, crossed, bucket


class Streamed(Keys):
    """A query over a stream. make: the query, given a DataFrame. events: its rows."""

    def __init__(self, make: Callable[[DataFrame], DataFrame], events: DataFrame, time: str):
        bucket: Bucket
        _, crossed, bucket = build_over_stream(make, events, time)
        self.compiled_query = bucket.searches[0].compiled_query
        super().__init__(crossed, bucket)

    def at_once(self, frame: pd.DataFrame) -> list[dict[str, Any]]:
        """Return the output of a bucket's events, matched as in a batch."""
        number, orders = self.numbers(frame), self.bucket.arriving.orders
        table = pa.Table.from_batches([self.bucket.arriving.encoding.decode_frame(frame)])
        table, rows = sort_rows(table, orders, number).combine_chunks(), table.num_rows
        starts = find_group_starts(np.bincount(number))
        whole = Piece(table, starts, Frontier.create(starts), 0, np.zeros(rows, np.bool_), rows)
        found = PieceWorker(self.compiled_query).match_piece(whole)
        return [row for one in found for row in one.to_pylist()]


class StreamedRules(Keys):
    """A rule set over a stream. make: the set, given a DataFrame. events: its rows."""

    def __init__(self, make: Callable[[DataFrame], RuleMatches], events: DataFrame, time: str):
        self.bucket: RulesOfBucket
        self.found, crossed, self.bucket = build_over_stream(make, events, time)
        super().__init__(crossed, self.bucket)

    def of(self, rows: DataFrame) -> RuleMatches:
        """Return the views of the rows that have come out."""
        return RuleMatches(replace(self.found._built, rows=rows))


def read_times(frame: pd.DataFrame) -> list[int]:
    """Return the time of each event, in milliseconds."""
    return [int(one) // 1000 for one in frame[wire.EVENT_MICROSECONDS]]
