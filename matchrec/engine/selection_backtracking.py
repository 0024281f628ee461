"""The backtracking engine where rows may be skipped or all matches are asked for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ByteArray, RunArray
from matchrec.engine.kernels.selection import backtracking as kernel
from matchrec.engine.kernels.selection import layout as own
from matchrec.engine.match import Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.search import Room, larger
from matchrec.engine.selection import Output, chunks, given, new_progress, raise_failure


def search(
    task: Task, partitions: Partitions, room: Room, counters: IntArray | None = None
) -> Iterator[Matches]:
    """All matches, in the order in which they are complete. Raises RunFailure.

    Matches are found by their starting rows, so those of all partitions are held to be put in
    order.
    """
    return chunks(_Search(task, partitions, room, counters).found(), task.output)


class _Search:
    """The path of the one run, its computation state at each depth, the failures remembered."""

    def __init__(
        self, task: Task, partitions: Partitions, room: Room, counters: IntArray | None
    ) -> None:
        self.task = task
        self.room = room
        self.counters = counters
        self.given = given(task, partitions)
        compiled = self.given.compiled
        self.linked = compiled.linked
        self.program = compiled.program
        if task.absent:  # whether a way ends in a match depends on the whole of it
            self.program = compiled.program.copy()
            self.program[:, layout.MEMO] = layout.NOT_REMEMBERED
        self.progress = new_progress(partitions)
        self.path = np.empty((own.PATH_SIZE, room.memory), np.int64)
        self.memo: ByteArray = np.zeros((room.memory, compiled.memo_bytes), np.uint8)
        self.registers: RunArray = None
        self.grow_registers()

    def found(self) -> Iterator[Matches]:
        """The one chunk that the kernel gives. Raises RunFailure."""
        output = Output.of(self.room.matches, self.room.rows)
        self.progress[[layout.MATCHES, layout.MAPPED]] = 0
        while (status := self.advance(output)) != layout.DONE:
            raise_failure(status, self.progress, self.given.compiled, self.task)
            if status == layout.OUTPUT_FULL:
                output = output.larger(self.progress)
            else:
                self.grow(status)
        yield output.matches(self.progress, self.given.compiled)

    def advance(self, output: Output) -> int:
        arrays, linked = self.given, self.linked
        return int(
            kernel.search(
                arrays.compiled.tables.first,
                self.program,
                arrays.starts,
                arrays.satisfied,
                arrays.window_end,
                arrays.selection,
                arrays.output,
                arrays.compiled.skip_to,
                self.path,
                self.memo,
                output.found,
                output.taken,
                output.taken_rows,
                self.progress,
                self.counters,
                arrays.absent,
                arrays.members,
                arrays.following,
                arrays.closing,
                linked.instructions if linked else None,
                self.registers,
                arrays.columns,
                arrays.valid,
                np.zeros((2, linked.depth), np.int64) if linked else None,
            )
        )

    def grow(self, status: int) -> None:
        """At least double what is full; the search of the starting row begins again."""
        if status == layout.MEMO_FULL:
            self.memo = larger(self.memo, int(self.progress[layout.NEEDED]))
            self.progress[layout.MEMO_TO] = self.progress[layout.START]
            return
        assert status == layout.PATH_FULL, status
        path = np.empty((own.PATH_SIZE, 2 * self.path.shape[1]), np.int64)
        path[:, : self.path.shape[1]] = self.path
        self.path = path
        self.grow_registers()

    def grow_registers(self) -> None:
        """Registers for each depth of the path; the search of a starting row begins again."""
        if self.linked is not None:
            size = self.path.shape[1] + 1
            self.registers = np.empty((size, len(self.linked.initial)), np.int64)
            self.registers[0] = self.linked.initial
