"""The backtracking engine: one run at a time, in preferment order, with remembered failures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from matchrec.engine.interface import Task
from matchrec.engine.kernels import backtracking as kernel
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ByteArray, ChoiceArray
from matchrec.engine.match import Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.search import (
    SKIP_TO,
    Chunk,
    new_progress,
    plain,
    program_of,
    run,
    satisfied_of,
    tables_of,
)


@dataclass(frozen=True, slots=True)
class Backtracking:
    """Depth-first search. Linear in the rows where conditions look only at the data."""

    chunk: Chunk = Chunk()
    name: str = field(default="backtracking", init=False)

    def supports(self, task: Task) -> str | None:  # noqa: ARG002 -- of the protocol
        """Every task."""
        return None

    def search(self, task: Task, partitions: Partitions) -> Iterator[Matches]:
        """All matches, in chunks, in order of partition and match number. Raises RunFailure."""
        return run(_BacktrackingSearch(task, partitions), task, self.chunk)


class _BacktrackingSearch:
    """The path of the one run, and the failures remembered."""

    def __init__(self, task: Task, partitions: Partitions) -> None:
        self.first = tables_of(task.program).first
        self.program = program_of(task)
        self.starts = plain(partitions.starts, np.int64)
        self.satisfied = satisfied_of(partitions)
        self.skip_to = SKIP_TO[task.after_match.to]
        self.progress = new_progress(partitions)
        self.path = np.empty(1 << 10, np.int32)
        bits = int(self.program[:, layout.MEMO].max(initial=-1)) + 1
        self.memo: ByteArray = np.zeros((1 << 10, -(-bits // 8)), np.uint8)

    def advance(self, found: IntArray, taken: ChoiceArray) -> int:
        return int(
            kernel.search(
                self.first,
                self.program,
                self.starts,
                self.satisfied,
                self.skip_to,
                self.path,
                self.memo,
                found,
                taken,
                self.progress,
            )
        )

    def grow(self, status: int) -> None:
        """Double what is full; the search of the starting row begins again.

        A larger ring begins empty: what must be found out again is no more than what fitted.
        """
        if status == layout.PATH_FULL:
            self.path = np.empty(2 * len(self.path), np.int32)
        else:
            assert status == layout.MEMO_FULL
            self.memo = np.zeros((2 * len(self.memo), self.memo.shape[1]), np.uint8)
            self.progress[layout.MEMO_TO] = self.progress[layout.START]
