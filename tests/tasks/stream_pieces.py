"""A streaming query run in this process: its events in pieces, under a clock of our own.

Spark computes the columns of a batch of events once; they are handed to the worker as Spark's
stateful operator would hand them, and the same executable matches all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame

from matchrec import RuleMatches
from matchrec.compile.executable import Executable
from matchrec.engine.incremental.state import SearchState, state_of
from matchrec.engine.partitions import Frontier
from matchrec.spark import execute, wire
from matchrec.spark.rule_sets import asked, streams
from matchrec.spark.rule_sets.keyed import RulesOfKey
from matchrec.spark.streaming.arrival import order_events
from matchrec.spark.streaming.contiguous import KeyedContiguous
from matchrec.spark.streaming.keyed import Keyed
from matchrec.spark.streaming.memory import load
from matchrec.spark.streaming.prepare import WATERMARK, Crossed
from matchrec.spark.streaming.worker import RunsKeys, StreamWorker
from matchrec.spark.worker.batches import Piece
from matchrec.spark.worker.match import Worker

QUERY = "a digest"


class Group:
    """A key's state, as PySpark's GroupState. timer: milliseconds, or None."""

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
    def state(self) -> SearchState:
        return state_of(load(self.get[0], QUERY).arrays)

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

    def __init__(self, crossed: Crossed, keyed: RunsKeys):
        self.worker = StreamWorker(keyed, crossed.columns)
        frame = crossed.frame.toPandas()
        keys = [frame[name] for name in crossed.keys]
        groups = frame.groupby(keys, dropna=False, sort=False)
        self.by_key = [one.reset_index(drop=True) for _, one in groups]

    def in_pieces(
        self, frame: pd.DataFrame, pieces: Sequence[tuple[int, int]], group: Group
    ) -> Iterator[dict[str, Any]]:
        """The output of a key's events. pieces: how many come, and the watermark behind them, in
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
        kept: list[tuple[Crossed, Executable]] = []

        def keep(crossed: Crossed, executable: Executable, schema: Any) -> DataFrame:
            kept.append((crossed, executable))
            return events.sparkSession.createDataFrame([], schema)

        with (
            patch.object(execute, "is_streaming", return_value=True),
            patch.object(execute, "matched_events", keep),
        ):
            make(events.withMetadata(time, {WATERMARK: 0}))
        ((crossed, self.executable),) = kept
        kind = Keyed if self.executable.task.selects else KeyedContiguous
        self.keyed = kind(self.executable, crossed.schema, crossed.orders, QUERY)
        super().__init__(crossed, self.keyed)

    def at_once(self, frame: pd.DataFrame) -> list[dict[str, Any]]:
        """The output of a key's events, matched as in a batch."""
        batch = self.worker.batch(frame)
        table = pa.Table.from_batches([batch])
        table = table.take(pa.array(order_events(table, self.keyed.orders))).combine_chunks()
        rows = table.num_rows
        starts = np.array([0, rows])
        whole = Piece(table, starts, Frontier.of(starts), 0, np.zeros(rows, np.bool_), rows)
        found = Worker(self.executable).match_piece(whole)
        return [row for one in found for row in one.to_pylist()]


class StreamedRules(Keys):
    """A rule set over a stream. make: the set, given a DataFrame. events: its rows."""

    def __init__(self, make: Callable[[DataFrame], RuleMatches], events: DataFrame, time: str):
        kept: list[tuple[Crossed, RulesOfKey]] = []

        def keep(crossed: Crossed, keyed: RulesOfKey, _: str, schema: Any) -> DataFrame:
            kept.append((crossed, replace(keyed, query=QUERY)))
            return events.sparkSession.createDataFrame([], schema)

        with (
            patch.object(asked, "is_streaming", return_value=True),
            patch.object(streams, "run_on_keys", keep),
        ):
            self.found = make(events.withMetadata(time, {WATERMARK: 0}))
        ((crossed, self.keyed),) = kept
        super().__init__(crossed, self.keyed)

    def of(self, rows: DataFrame) -> RuleMatches:
        """The views of the rows that have come out."""
        return RuleMatches(replace(self.found._built, rows=rows))


def times(frame: pd.DataFrame) -> list[int]:
    """Milliseconds."""
    return [int(one) // 1000 for one in frame[wire.MICROSECONDS]]
