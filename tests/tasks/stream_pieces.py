"""Run a streaming query in this process: its events arrive in pieces, with a simulated clock.

Spark computes the columns of a batch of events once. Then the worker gets the events in pieces, as
from Spark's stateful operator. The same compiled query also matches all events at once.
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
from matchrec.search.flat_arrays import find_group_starts
from matchrec.search.partitions import IntArray
from matchrec.spark import request
from matchrec.spark.streaming import event_preparation
from matchrec.spark.streaming.arrival import sort_rows
from matchrec.spark.streaming.bucket_state import BucketState, read_bucket_state
from matchrec.spark.streaming.event_preparation import WATERMARK
from matchrec.spark.streaming.stream_worker import RuleSetStreamWorker, StreamWorker
from matchrec.worker import internal_names
from matchrec.worker.equal_codes import encode_by_equality, number_rows
from matchrec.worker.match import PieceWorker
from matchrec.worker.pieces import Piece
from tests.quick.scale import copies_of

T = TypeVar("T")
# The digest of every query here. A state must have the digest of the query that reads it.
QUERY = "a digest"
# The sign before the number of a copy in its keys, and the text of a NULL key in a copy. The keys
# of events contain neither.
MARK = "\N{REFERENCE MARK}"
NULL = "no key"


class FakeGroupState:
    """The state of a bucket, with the interface of PySpark's GroupState."""

    def __init__(self) -> None:
        # The fields of the state; None if there is no state.
        self.value: tuple[Any, ...] | None = None
        # The time at which the worker wants to be called again, in milliseconds; None if it is not.
        self.timer: int | None = None
        # In milliseconds.
        self.watermark = 0

    @property
    def exists(self) -> bool:
        """Return whether there is a state."""
        return self.value is not None

    @property
    def get(self) -> tuple[Any, ...]:
        """Return the state."""
        assert self.value is not None
        return self.value

    @property
    def bytes(self) -> int:
        """Return the size of the state."""
        return len(self.value[0]) if self.value else 0

    @property
    def bucket_state(self) -> BucketState:
        """Return the decoded state."""
        return read_bucket_state(self.get[0], QUERY)

    def update(self, newValue: tuple[Any, ...]) -> None:  # noqa: N803
        """Replace the state."""
        self.value = newValue

    def remove(self) -> None:
        """Remove the state."""
        assert self.exists
        self.value = None

    def setTimeoutTimestamp(self, timestampMs: int) -> None:  # noqa: N802, N803
        """Set the timer."""
        assert timestampMs >= max(self.watermark, 1)  # PySpark checks this, too
        self.timer = timestampMs

    def getCurrentWatermarkMs(self) -> int:  # noqa: N802
        """Return the watermark."""
        return self.watermark


class StreamKeys:
    """The events of a stream by their keys, and a worker that processes them."""

    def __init__(self, events: DataFrame, worker: StreamWorker):
        self.worker = worker
        encoding = worker.event_layout.encoding
        self.events = encoding.encode(events, *event_preparation.UNENCODED_COLUMNS).toPandas()
        self.key_numbers = self.number_keys(self.events)
        keys = range(self.key_numbers.max() + 1)
        self.events_by_key = [
            self.events[self.key_numbers == key].reset_index(drop=True) for key in keys
        ]

    def number_keys(self, frame: pd.DataFrame) -> IntArray:
        """Return the number of the key of each event."""
        batch = self.worker.event_layout.encoding.decode_frame(frame)
        names = self.worker.event_layout.keys
        return number_rows([encode_by_equality(batch.column(name)) for name in names]).numbers

    def draw_buckets(self, random: Random) -> Iterator[pd.DataFrame]:
        """Yield the events of three buckets. The events of some keys arrive seconds later."""
        keys = len(self.events_by_key)
        bucket = np.array([random.randrange(3) for _ in range(keys)])[self.key_numbers]
        later = np.array([random.choice((0, 0, 4000)) for _ in range(keys)])[self.key_numbers]
        arrival = np.array(read_times(self.events)) + later
        for number in np.unique(bucket):
            events = np.flatnonzero(bucket == number)
            events = events[np.argsort(arrival[events], kind="stable")]
            yield self.events.take(events).reset_index(drop=True)

    def search_in_pieces(
        self, frame: pd.DataFrame, pieces: Sequence[tuple[int, int]], group: FakeGroupState
    ) -> Iterator[dict[str, Any]]:
        """Yield the output of the events of a bucket, which arrive in pieces.

        Also check that copies of the events have copies of the output, see `tests/tasks/copies.py`.

        Args:
            frame: the events.
            pieces: for each piece, the number of its events, and the watermark after it in
                milliseconds. A last piece is added, with a watermark that ends all windows.
            group: the state of the bucket.
        """
        output = list(self.run_copies(1, frame, pieces, group))
        copies = copies_of(len(frame))
        texts = [
            self.worker.event_layout.schema.field(key).type == pa.string() for key in self.keys
        ]
        if texts and all(texts):
            copied_output = self.run_copies(copies, frame, pieces, FakeGroupState())
            counts = Counter(map(remove_marks, output))
            expected = {row: count * copies for row, count in counts.items()}
            assert Counter(map(remove_marks, copied_output)) == expected
        yield from output

    @property
    def keys(self) -> Sequence[str]:
        """Return the names of the key columns."""
        return self.worker.event_layout.keys

    def run_copies(
        self,
        copies: int,
        frame: pd.DataFrame,
        pieces: Sequence[tuple[int, int]],
        group: FakeGroupState,
    ) -> Iterator[dict[str, Any]]:
        """Yield the output of a number of copies of events, each with other keys."""
        arrived = 0
        for size, watermark in (*pieces, (len(frame), 10**15)):
            piece = frame[arrived : arrived + size]
            arrived += len(piece)
            yield from self.call_worker(piece, group, copies)
            group.watermark = max(group.watermark, watermark)
            if group.timer is not None and group.timer < group.watermark:
                yield from self.call_worker(piece[:0], group, copies)

    def call_worker(
        self, piece: pd.DataFrame, group: FakeGroupState, copies: int = 1
    ) -> Iterator[dict[str, Any]]:
        """Yield the output of one call by Spark."""
        group.timer = None
        events = piece.reset_index(drop=True)
        if copies > 1:
            batches = []
            if len(piece):
                batch = self.worker.event_layout.encoding.decode_frame(events)
                batches = mark_copies(batch, self.keys, copies)
            for output in self.worker.search_events(batches, group):
                yield from output.to_pylist()
            return
        for out in self.worker.run(None, [events], group):
            for data in out["rows"]:
                with pa.ipc.open_stream(data) as reader:
                    yield from reader.read_all().to_pylist()


def mark_copies(events: pa.RecordBatch, keys: Sequence[str], copies: int) -> list[pa.RecordBatch]:
    """Return copies of events, with marks in their keys that tell the copies apart."""

    def copy(mark: str) -> pa.RecordBatch:
        """Return one copy, with a mark at the end of each key."""
        columns = dict(zip(events.schema.names, events.columns, strict=True))
        for key in keys:
            values = compute.fill_null(columns[key], NULL)
            columns[key] = compute.binary_join_element_wise(values, mark, "")
        return pa.RecordBatch.from_arrays([*columns.values()], schema=events.schema)

    return [copy(f"{MARK}{number}") for number in range(copies)]


def remove_marks(row: dict[str, Any]) -> str:
    """Return a row as text, without the marks in keys and with one kind of quotes.

    Keys are also in the messages of rows.
    """
    text = re.sub(f"'{NULL}{MARK}[0-9]+'", "None", str(row).replace('"', "'"))
    return re.sub(f"{MARK}[0-9]+", "", text)


def build_over_stream(
    make: Callable[[DataFrame], T], events: DataFrame, time: str
) -> tuple[T, DataFrame, Any]:
    """Build a query over a stream of events, without starting it.

    Args:
        make: returns the result of the query for the events.
        time: the column that has the watermark.

    Returns:
        What `make` returns, the events, and the worker that would search them.
    """
    kept: list[tuple[DataFrame, Any]] = []

    def keep(planned_events: DataFrame, worker: StreamWorker, schema: Any, _: str) -> DataFrame:
        """Keep what `plan_stream_output` would plan, and return an empty result."""
        kept.append((planned_events, replace(worker, query_digest=QUERY)))
        return events.sparkSession.createDataFrame([], schema)

    with (
        patch.object(request, "is_streaming", return_value=True),
        patch.object(event_preparation, "plan_stream_output", keep),
    ):
        result = make(events.withMetadata(time, {WATERMARK: 0}))
    ((planned_events, worker),) = kept
    return result, planned_events, worker


class StreamedQuery(StreamKeys):
    """A query over a stream."""

    def __init__(self, make: Callable[[DataFrame], DataFrame], events: DataFrame, time: str):
        """Build the query; `build_over_stream` explains the arguments."""
        worker: StreamWorker
        _, planned_events, worker = build_over_stream(make, events, time)
        self.compiled_query = worker.searches[0].compiled_query
        super().__init__(planned_events, worker)

    def search_at_once(self, frame: pd.DataFrame) -> list[dict[str, Any]]:
        """Return the output of the events of a bucket, matched as in a batch query."""
        number = self.number_keys(frame)
        orders = self.worker.event_layout.order_after_time
        table = pa.Table.from_batches([self.worker.event_layout.encoding.decode_frame(frame)])
        table = sort_rows(table, orders, number).combine_chunks()
        starts = find_group_starts(np.bincount(number))
        piece = Piece.create_whole(table, starts)
        batches = PieceWorker(self.compiled_query).match_piece(piece)
        return [row for batch in batches for row in batch.to_pylist()]


class StreamedRules(StreamKeys):
    """A rule set over a stream."""

    def __init__(self, make: Callable[[DataFrame], RuleMatches], events: DataFrame, time: str):
        """Build the rule set; `build_over_stream` explains the arguments."""
        self.worker: RuleSetStreamWorker
        self.matches, sent_events, self.worker = build_over_stream(make, events, time)
        super().__init__(sent_events, self.worker)

    def make_matches(self, rows: DataFrame) -> RuleMatches:
        """Return the views of some output rows."""
        return RuleMatches(replace(self.matches._built_set, rows=rows))


def read_times(frame: pd.DataFrame) -> list[int]:
    """Return the time of each event, in milliseconds."""
    return [int(time) // 1000 for time in frame[internal_names.EVENT_MICROSECONDS]]
