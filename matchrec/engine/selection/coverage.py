"""Where rows may be skipped or all matches are asked for: counts how far each starting row comes.

Every row is a starting row, whatever AFTER MATCH says, and one match of it is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from matchrec.engine.contiguous.coverage import WORD, Counts, Coverable, parts_of, ways_of
from matchrec.engine.contiguous.search import raise_failure
from matchrec.engine.interface import Room, Staged
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.seen import SEEN_REGISTERS
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.selection import backtracking
from matchrec.engine.selection.kernels import coverage as kernel
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.nearest_run import NEAREST_SIZE, Counting
from matchrec.engine.selection.records import matches_of, new_output, prepare_input


def find_matches(
    coverable: Coverable, counts: Counts, partitions: Partitions, room: Room | None = None
) -> Iterator[Matches]:
    """A match of each starting row that begins one, in chunks; all are counted on the way.

    Raises RunFailure.
    """
    return CoverageSearch(coverable, counts, partitions, room or Room()).find_runs()


class CoverageSearch(backtracking.Search):
    """The path of the one run, its trail, and the nearest run of the starting row."""

    def __init__(
        self, coverable: Coverable, counts: Counts, partitions: Partitions, room: Room
    ) -> None:
        task = coverable.task
        if task.stages is not None:
            task = replace(task, stages=Staged())  # what times out is no match
        self.words = -(-max(1, coverable.occurrences) // WORD)
        self.trails = np.zeros((1, self.words), np.int64)
        super().__init__(task, prepare_input(task, partitions), room)
        self.between = self.decided_when_mapped()
        self.work.progress[layout.STEP_LIMIT] = min(
            task.max_steps or layout.NO_LIMIT, layout.NO_LIMIT
        )
        self.counting = Counting(
            *ways_of(coverable),
            self.arrays.compiled.tables.test.astype(np.int64),
            *parts_of(coverable),
            counts.came,
            counts.ended,
            counts.parts_false,
            counts.best,
            np.zeros(NEAREST_SIZE, np.int64),
            self.trails,
            self.new_seen(room.memory),
        )

    def decided_when_mapped(self) -> own.Negation | None:
        """The absences between rows whose conditions look only at the data."""
        negation = self.arrays.negation
        if negation is None:
            return None
        absent = negation.absent
        at_once = absent[:, own.KIND] == own.IN_THE_MIDDLE
        at_once &= absent[:, own.ABSENT_CODE] == absent[:, own.ABSENT_CODE_END]
        members, following = negation.members[at_once], negation.following[at_once]
        return negation._replace(absent=absent[at_once], members=members, following=following)

    def new_seen(self, states: int) -> IntArray:
        """An empty table of computation states, which is full with half as many.

        No table where an absence depends on the run: then runs differ by where their rows are.
        """
        negation = self.arrays.negation
        merges = True
        if negation is not None and self.between is not None:
            between = negation.absent[:, own.KIND] == own.IN_THE_MIDDLE
            merges = int(between.sum()) == len(self.between.absent)
        registers = self.work.registers.shape[1]
        return np.zeros((states if merges else 0, SEEN_REGISTERS + registers), np.int64)

    def find_runs(self) -> Iterator[Matches]:
        """The matches, in chunks. Raises RunFailure."""
        progress, arrays = self.work.progress, self.arrays
        rows, status = self.room.rows, layout.OUTPUT_FULL
        while status == layout.OUTPUT_FULL:
            output = new_output(self.room.matches, rows)
            progress[[layout.MATCHES, layout.MAPPED]] = 0
            status = self.advance(output)
            while layout.OUTPUT_FULL < status < layout.SKIP_TO_NO_ROW:
                self.grow(status)
                status = self.advance(output)
            raise_failure(status, progress, arrays.compiled.tables, self.task, arrays.python)
            rows = max(rows, int(progress[layout.NEEDED]))
            if progress[layout.MATCHES]:
                yield matches_of(output, progress, arrays)

    def advance(self, output: own.Found) -> int:
        """Call the kernel on an output; return its status."""
        counting = self.counting._replace(trails=self.trails)
        between, rows, negation = self.between, self.arrays.rows, self.arrays.negation
        return int(kernel.search(between, self.rules, rows, self.work, counting, output, negation))

    def grow(self, status: int) -> None:
        """At least double what is full; the search of the starting row begins again."""
        if status == layout.RUNS_FULL:
            seen = self.new_seen(2 * len(self.counting.seen))
            self.counting = self.counting._replace(seen=seen)
        else:
            assert status == layout.PATH_FULL, status
            self.enlarge_path(2 * self.work.path.shape[1])

    def enlarge_path(self, size: int) -> None:
        """Make room for so many rows of a run, each with its registers and its trail."""
        super().enlarge_path(size)
        self.trails = np.zeros((size + 2, self.words), np.int64)
