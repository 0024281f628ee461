"""Partitions of which some rows have stayed behind: stretches of rows that stood side by side.

The engine sees each stretch as a partition. A match lies in one stretch, but matches are numbered,
and rows are named in messages, by partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from matchrec.engine.matches import Matches, Numbering
from matchrec.engine.partitions import Frontier, IntArray
from matchrec.spark import wire


@dataclass(frozen=True)
class Stretches:
    """The rows of some partitions. starts: of the stretches, with the end of the rows.

    partition: int64[stretches], the partition of each.
    """

    starts: IntArray
    partition: IntArray

    def numbered(self, found: Iterable[Matches], frontier: Frontier) -> Iterator[Matches]:
        """The matches of the stretches, numbered by partition; then the frontier knows the last."""
        numbering = Numbering(frontier.number)
        for matches in found:
            of_partition = replace(matches, partition=self.partition[matches.partition])
            yield replace(matches, number=numbering.number_matches(of_partition).number)
        frontier.number = numbering.found


def stretches_of(table: pa.Table, starts: IntArray) -> Stretches:
    """The stretches of partitions whose column __n numbers their rows before some were left out."""
    rows = np.asarray(table.column(wire.ROW_NUMBER).to_numpy()).astype(np.int64)
    goes_on = np.diff(rows, prepend=rows[:1]) == 1
    goes_on[starts[:-1]] = False
    begins = np.flatnonzero(~goes_on)
    partition = np.searchsorted(starts, begins, side="right") - 1
    return Stretches(np.append(begins, len(rows)), partition)
