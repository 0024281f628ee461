"""The breadth-first engine where rows may be skipped or all matches are asked for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import RunArray
from matchrec.engine.kernels.selection import breadth_first as kernel
from matchrec.engine.kernels.selection import layout as own
from matchrec.engine.match import Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.search import Room
from matchrec.engine.selection import (
    Output,
    accepting_guards,
    chunks,
    given,
    new_progress,
    raise_failure,
)

_NODES_OF_A_RUN = 16


def search(
    task: Task,
    partitions: Partitions,
    room: Room,
    merge_runs: bool,
    counters: IntArray | None = None,
) -> Iterator[Matches]:
    """All matches in chunks, in the order in which they are complete. Raises RunFailure."""
    return chunks(_Search(task, partitions, room, merge_runs, counters).found(), task.output)


class _Search:
    """The runs, the shared buffer of their rows, and where the kernel is."""

    def __init__(
        self,
        task: Task,
        partitions: Partitions,
        room: Room,
        merge_runs: bool,
        counters: IntArray | None,
    ) -> None:
        self.task = task
        self.room = room
        self.merge_runs = merge_runs
        self.counters = counters
        self.given = given(task, partitions)
        compiled = self.given.compiled
        self.linked = compiled.linked
        self.accepts = accepting_guards(compiled)
        mapping = compiled.tables.source[compiled.tables.target >= 0]
        self.goes_on = np.isin(np.arange(len(self.accepts)), mapping).astype(np.int64)
        self.progress = new_progress(partitions)
        size = room.memory
        self.runs = np.empty((2, size, own.RUN_SIZE), np.int64)
        self.nodes = np.empty((_NODES_OF_A_RUN * size, own.NODE_SIZE), np.int64)
        self.path = np.empty((own.PATH_SIZE, size), np.int64)
        self.table = np.zeros((2 * size, 2), np.int64)
        self.registers: RunArray = None
        self.grow_registers(0, size)

    def found(self) -> Iterator[Matches]:
        """Chunks as the kernel gives them. Raises RunFailure."""
        output = Output.of(self.room.matches, self.room.rows)
        progress = self.progress
        while True:
            status = self.advance(output)
            raise_failure(status, progress, self.given.compiled, self.task)
            if status == layout.OUTPUT_FULL and progress[layout.MATCHES] == 0:
                output = output.larger(progress)
            elif status in (layout.DONE, layout.OUTPUT_FULL):
                yield output.matches(progress, self.given.compiled)
                if status == layout.DONE:
                    return
                output = Output.of(self.room.matches, self.room.rows)
                progress[[layout.MATCHES, layout.MAPPED]] = 0
            else:
                self.grow(status)

    def advance(self, output: Output) -> int:
        arrays, linked = self.given, self.linked
        return int(
            kernel.search(
                arrays.compiled.tables.first,
                arrays.compiled.program,
                self.accepts,
                self.goes_on,
                arrays.starts,
                arrays.satisfied,
                arrays.window_end,
                arrays.selection,
                arrays.output,
                self.merge_runs,
                self.runs,
                self.nodes,
                np.empty(len(self.nodes), np.int64),
                self.path,
                np.empty((self.path.shape[1], 2), np.int64),
                output.found,
                output.taken,
                output.taken_rows,
                self.progress,
                self.counters,
                arrays.absent,
                arrays.members,
                arrays.following,
                arrays.closing,
                self.table,
                linked.instructions if linked else None,
                self.registers,
                arrays.columns,
                arrays.valid,
                np.zeros((2, linked.depth), np.int64) if linked else None,
                linked.live_first if linked else None,
                linked.live_registers if linked else None,
            )
        )

    def grow(self, status: int) -> None:
        """Twice the room in what is full; what it holds stays."""
        if status == layout.RUNS_FULL:
            size = self.runs.shape[1]
            runs = np.empty((2, 2 * size, own.RUN_SIZE), np.int64)
            runs[:, :size] = self.runs
            self.runs = runs
            self.table = np.zeros((4 * size, 2), np.int64)
            self.grow_registers(size, 2 * size)
        elif status == layout.NODES_FULL:
            nodes = np.empty((2 * len(self.nodes), own.NODE_SIZE), np.int64)
            nodes[: len(self.nodes)] = self.nodes
            self.nodes = nodes
        else:
            assert status == layout.PATH_FULL, status
            self.path = np.empty((own.PATH_SIZE, 2 * self.path.shape[1]), np.int64)

    def grow_registers(self, before: int, size: int) -> None:
        """Registers of two banks of runs, and behind them those of a run before its first row."""
        if self.linked is None:
            return
        registers = np.empty((2 * size + 1, len(self.linked.initial)), np.int64)
        registers[-1] = self.linked.initial
        for bank in range(2 if before else 0):
            old = self.registers[bank * before : (bank + 1) * before]
            registers[bank * size : bank * size + before] = old
        self.registers = registers
