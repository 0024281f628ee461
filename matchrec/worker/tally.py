"""Count and time the work of a worker. The last row of the worker's output has the counters.

The output has a column for the counters, an array of BIGINT. In the last row, the array has the
counters and then the number of the task in its stage; in all other rows it is empty. The other
columns of the last row are NULL. But if they are arrays, they are empty, because pandas has no NULL
for arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from time import perf_counter_ns
from typing import TypeVar

import numpy as np
import pyarrow as pa

from matchrec.search.kernels import layout
from matchrec.search.kernels.carried_totals import PATH_COUNT
from matchrec.search.matches import DOUBLE_WORD, Matches
from matchrec.search.partitions import IntArray
from matchrec.worker import internal_names
from matchrec.worker.arrays import view_as_doubles
from matchrec.worker.pieces import Piece

COUNTERS_TYPE = pa.list_(pa.int64())  # the type of the column of counters
GREATEST_BIGINT = 2.0**63 - 1024  # the greatest double that is a BIGINT
# The greatest number of matches that a task counts. Counts above 2^53 are approximate if matches
# are counted without being built.
GREATEST_COUNT = int(GREATEST_BIGINT)

T = TypeVar("T")


class WorkerCounter(IntEnum):
    """The counters of the worker itself. The numbers are their indices in the array of counters.

    The counters of the kernels follow, from `FIRST_OF_KERNELS` on, in the order of
    `kernels.layout`.
    """

    ROWS = 0
    PARTITIONS = 1
    MATCHES = 2
    # Nanoseconds of the stages of a worker.
    WAITING = 3  # waiting for rows from the engine, with sorting if the worker sorts
    ENCODING = 4  # turning Arrow columns into the arrays of the search
    MATCHING = 5  # searching for matches
    GATHERING = 6  # turning matches into Arrow columns


# The index of the first counter of the kernels.
FIRST_OF_KERNELS = len(WorkerCounter)


@dataclass
class Tally:
    """The counters of one task."""

    # The schema of the worker's output, which ends with the counters; None to leave them out.
    schema: pa.Schema | None = None
    # The counters of the worker itself, by `WorkerCounter`.
    counts: list[int] = field(default_factory=lambda: [0] * len(WorkerCounter))
    # The counters of the kernels, in the order of `kernels.layout`. Kernels add to them in place.
    kernel_counters: IntArray = field(
        default_factory=lambda: np.zeros(layout.COUNTER_COUNT, np.int64)
    )

    @contextmanager
    def measure_time(self, stage: WorkerCounter) -> Iterator[None]:
        """Add the time that the `with` block takes to a stage, even if the block fails."""
        begin = perf_counter_ns()
        try:
            yield
        finally:
            self.counts[stage] += perf_counter_ns() - begin

    def time_items(self, stage: WorkerCounter, items: Iterator[T]) -> Iterator[T]:
        """Yield the same items, and add the time that the iterator takes for them to a stage.

        No item may be None.
        """
        while True:
            with self.measure_time(stage):
                item = next(items, None)
            if item is None:
                return
            yield item
            # This item is released before the next one is built, so that memory holds one table.
            del item

    def count_while_matching(self, matches: Iterator[Matches], piece: Piece) -> Iterator[Matches]:
        """Yield the same matches. Count the matches, and the rows and partitions of their piece.

        The number of matches stays at `GREATEST_COUNT` once it is reached, because a counter is a
        BIGINT. That many matches are possible if matches are counted without being built.
        """
        self.counts[WorkerCounter.ROWS] += piece.new_rows
        self.counts[WorkerCounter.PARTITIONS] += piece.new_partitions
        for chunk in self.time_items(WorkerCounter.MATCHING, matches):
            match_count = self.counts[WorkerCounter.MATCHES] + count_matches_of_chunk(chunk)
            self.counts[WorkerCounter.MATCHES] = min(match_count, GREATEST_COUNT)
            yield chunk

    def append_empty_counter_column(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch of output with the column of counters, an empty array in each row.

        If counters are left out, return the batch unchanged. Otherwise its schema is kept for the
        row of the counters: all batches of an Arrow stream have one schema, and the names of
        elements of lists are a part of the schema.
        """
        if self.schema is None:
            return batch
        columns = [*batch.columns, pa.array([[]] * batch.num_rows, COUNTERS_TYPE)]
        counted_batch = pa.RecordBatch.from_arrays(
            columns, [*batch.schema.names, internal_names.COUNTERS]
        )
        self.schema = counted_batch.schema
        return counted_batch

    def make_counter_row(self) -> Iterator[pa.RecordBatch]:
        """Yield the row of the counters as a batch, unless counters are left out."""
        if self.schema is None:
            return
        output_types = self.schema.types[:-1]
        empty_columns = [
            pa.array([[] if pa.types.is_list(data_type) else None], data_type)
            for data_type in output_types
        ]
        # In the order of `WorkerCounter`, then from `FIRST_OF_KERNELS` on of `kernels.layout`.
        counter_values = [*self.counts, *self.kernel_counters.tolist(), find_task_number()]
        counters = pa.array([counter_values], COUNTERS_TYPE)
        yield pa.RecordBatch.from_arrays([*empty_columns, counters], self.schema.names)


def find_task_number() -> int:
    """Return the number of this task in its stage; 0 outside of Spark's tasks, as on Sail.

    If Spark runs a task again, the task has the same number.
    """
    from pyspark import TaskContext

    task = TaskContext.get()
    return 0 if task is None else int(task.partitionId())


def count_matches_of_chunk(matches: Matches) -> int:
    """Return the number of matches in a chunk.

    In the graph of all matches, a match belongs to the chunk with its last pointer. If matches are
    counted without being built, the number is at most the greatest BIGINT.
    """
    if matches.totals is not None:
        match_counts = view_as_doubles(matches.totals[:, PATH_COUNT + DOUBLE_WORD])
        return int(min(match_counts.sum(), GREATEST_BIGINT))
    if matches.pointers is not None:
        return int(matches.pointers.completes.sum())
    return matches.count
