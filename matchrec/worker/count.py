"""What a worker counts: its last row carries it, in a column that is empty in every other row.

The column is an array of BIGINT: the counters, then the number of the task in its stage. In the
others that row is NULL, or an empty array: pandas has no NULL of arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TypeVar

import numpy as np
import pyarrow as pa

from matchrec.search.kernels import layout
from matchrec.search.kernels.totals import WAYS
from matchrec.search.matches import Matches
from matchrec.search.partitions import IntArray
from matchrec.worker import wire
from matchrec.worker.arrays import doubles_of
from matchrec.worker.batches import Piece

KIND = pa.list_(pa.int64())
MOST = 2.0**63 - 1024  # the greatest double that is a BIGINT

# What comes before the counters of the kernels, in their order: those of `layout`.
EVENTS = 0
PARTITIONS = 1
MATCHES = 2
WAITING = 3  # the first of the stages, in nanoseconds: for rows from Spark
ENCODING = 4  # Arrow columns to the arrays of the engine
MATCHING = 5
GATHERING = 6  # positions to Arrow columns
OF_KERNELS = 7

T = TypeVar("T")


@dataclass
class Tally:
    """The counters of one task. schema: of the worker's output, which ends with its counters; None
    where nobody asks for them.
    """

    schema: pa.Schema | None = None
    numbers: list[int] = field(default_factory=lambda: [0] * OF_KERNELS)
    of_kernels: IntArray = field(default_factory=lambda: np.zeros(layout.COUNTERS, np.int64))

    @contextmanager
    def measure_time(self, stage: int) -> Iterator[None]:
        begin = perf_counter_ns()
        yield
        self.numbers[stage] += perf_counter_ns() - begin

    def time_items(self, stage: int, items: Iterator[T]) -> Iterator[T]:
        """Yield the same items, and add the time that each takes to a stage."""
        while True:
            with self.measure_time(stage):
                found = next(items, None)
            if found is None:
                return
            yield found
            del found  # a table less in memory while the next one grows

    def count_matches(self, found: Iterator[Matches], piece: Piece) -> Iterator[Matches]:
        self.numbers[EVENTS] += piece.fresh
        self.numbers[PARTITIONS] += piece.fresh_partitions
        for matches in self.time_items(MATCHING, found):
            self.numbers[MATCHES] += number_of(matches)
            yield matches

    def with_counters(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Add the empty column of counters to a batch of output, if anyone asks for them. The last
        row has the types of the other ones: a stream of Arrow has one schema, in which the names
        inside of lists count.
        """
        if self.schema is None:
            return batch
        columns = [*batch.columns, pa.array([[]] * batch.num_rows, KIND)]
        found = pa.RecordBatch.from_arrays(columns, [*batch.schema.names, wire.COUNTERS])
        self.schema = found.schema
        return found

    def row(self) -> Iterator[pa.RecordBatch]:
        """The row of the counters, once all is counted, if anyone asks for them."""
        if self.schema is not None:
            kinds = self.schema.types[:-1]
            nothing = [pa.array([[] if pa.types.is_list(kind) else None], kind) for kind in kinds]
            numbers = [*self.numbers, *self.of_kernels.tolist(), task_number()]
            counters = pa.array([numbers], KIND)
            yield pa.RecordBatch.from_arrays([*nothing, counters], self.schema.names)


def task_number() -> int:
    """Return the number of this task in its stage, which is the same when Spark runs it again."""
    from pyspark import TaskContext

    task = TaskContext.get()
    return 0 if task is None else int(task.partitionId())


def number_of(matches: Matches) -> int:
    """How many matches a chunk holds; in the graph of all matches, how many end. Of matches that
    are counted and not built, at most the greatest BIGINT.
    """
    if matches.totals is not None:
        return int(min(doubles_of(matches.totals[:, WAYS + 2]).sum(), MOST))
    if matches.pointers is not None:
        return int(matches.pointers.completes.sum())
    return matches.count
