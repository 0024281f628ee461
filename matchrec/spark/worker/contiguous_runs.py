"""Finds the contiguous runs of rows in partitions from which rows were left out.

The engine sees each contiguous run as a partition. A match lies in one of them, but matches are
numbered, and rows are named in messages, by partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from matchrec.dataclass import dataclass
from matchrec.engine.matches import Matches, Numbering
from matchrec.engine.partitions import Frontier, IntArray
from matchrec.spark import wire
from matchrec.spark.worker.arrays import as_integers, column


@dataclass(frozen=True)
class ContiguousRuns:
    """The contiguous runs of rows of a table. starts: where each begins, then the end of the rows.

    partition: int64[runs], the partition of each.
    """

    starts: IntArray
    partition: IntArray

    def frontier(self, whole: Frontier) -> Frontier:
        """That of the contiguous runs. whole: that of the partitions."""
        if not len(whole.start):
            return whole
        first = whole.start[0], whole.edge[-1], whole.number[0], whole.steps[0]
        return Frontier.of(self.starts, *map(int, first))

    def number_matches(self, found: Iterable[Matches], frontier: Frontier) -> Iterator[Matches]:
        """Number the matches by partition; the frontier then knows the last number."""
        numbering = Numbering(int(frontier.number[:1].sum()))
        for matches in found:
            of_partition = replace(matches, partition=self.partition[matches.partition])
            yield replace(matches, number=numbering.number_matches(of_partition).number)
        frontier.number[-1:] = numbering.found


def find_contiguous_runs(table: pa.Table, starts: IntArray) -> ContiguousRuns:
    """Find them by column __n, which numbered the rows of a partition before rows were left out."""
    rows = as_integers(column(table, wire.ROW_NUMBER))
    goes_on = np.diff(rows, prepend=rows[:1]) == 1
    goes_on[starts[:-1]] = False
    begins = np.flatnonzero(~goes_on)
    partition = np.searchsorted(starts, begins, side="right") - 1
    return ContiguousRuns(np.append(begins, len(rows)), partition)
