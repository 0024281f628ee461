"""What a worker counts: its last row carries it, in a column that is empty in every other row.

The column is an array of BIGINT; in the others that row is NULL, or an empty array: pandas has no
NULL of arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter_ns

import numpy as np
import pyarrow as pa

from matchrec.engine.kernels.selection import layout
from matchrec.engine.match import Matches
from matchrec.engine.partitions import IntArray

COLUMN = "__counters"
KIND = pa.list_(pa.int64())

# What comes before the counters of the kernels, in their order: those of `layout`.
EVENTS = 0
MATCHES = 1
NANOSECONDS = 2
OF_KERNELS = 3


@dataclass
class Tally:
    """The counters of one task. schema: of the worker's output, with COLUMN at its end."""

    schema: pa.Schema
    numbers: list[int] = field(default_factory=lambda: [0] * OF_KERNELS)
    of_kernels: IntArray = field(default_factory=lambda: np.zeros(layout.COUNTERS, np.int64))

    def timed(self, found: Iterator[Matches], events: int) -> Iterator[Matches]:
        """The same matches, counted, with the time that it took to find them."""
        self.numbers[EVENTS] += events
        while True:
            begin = perf_counter_ns()
            matches = next(found, None)
            self.numbers[NANOSECONDS] += perf_counter_ns() - begin
            if matches is None:
                return
            self.numbers[MATCHES] += number_of(matches)
            yield matches

    def beside(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch of output with its empty column."""
        columns = [*batch.columns, pa.array([[]] * batch.num_rows, KIND)]
        return pa.RecordBatch.from_arrays(columns, [*batch.schema.names, COLUMN])

    def row(self) -> pa.RecordBatch:
        """The row of the counters."""
        nothing = [empty(column.type) for column in self.schema][:-1]
        counters = pa.array([[*self.numbers, *self.of_kernels.tolist()]], KIND)
        return pa.RecordBatch.from_arrays([*nothing, counters], self.schema.names)


def empty(kind: pa.DataType) -> pa.Array:
    """One value of a type that says nothing."""
    return pa.array([[]], kind) if pa.types.is_list(kind) else pa.nulls(1, kind)


def number_of(matches: Matches) -> int:
    """How many matches a chunk holds; in the graph of all matches, how many end."""
    if matches.pointers is not None:
        return int(matches.pointers.completes.sum())
    return matches.count
