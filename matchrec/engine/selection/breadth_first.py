"""The breadth-first engine where rows may be skipped or all matches are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from matchrec.engine.contiguous.search import Room, raise_failure
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.graph import versioned
from matchrec.engine.selection.kernels import breadth_first, preferred
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.live_runs import Alive
from matchrec.engine.selection.records import (
    Given,
    add_counters,
    first_work,
    larger_output,
    matches_of,
    new_output,
)
from matchrec.engine.selection.skip import joined, selected, some
from matchrec.engine.selection.skip_release import Moment, released
from matchrec.plan.clauses import MatchOutput

_NODES_OF_A_RUN = 16
ROOM = Room(rows=1 << 16, matches=1 << 12)  # after which it is decided what comes out
NO_BARS = np.zeros((0, 2), np.int64)


class Search:
    """The runs and the shared buffer of their rows."""

    def __init__(self, task: Task, given: Given, room: Room, counters: IntArray | None) -> None:
        self.task = task
        self.room = room
        self.given = given
        self.counters = counters
        one_match = task.output is MatchOutput.PREFERRED
        self.kernel = preferred.search if one_match else breadth_first.search
        self.work = first_work(task, self.given, room.memory)
        self.give_runs(room.memory)
        self.give_nodes(_NODES_OF_A_RUN * room.memory)

    def found(self) -> Iterator[Matches]:
        """Chunks as the kernel gives them. Raises RunFailure."""
        output = new_output(self.room.matches, self.room.rows)
        progress, tables = self.work.progress, self.given.compiled.tables
        while True:
            status = int(self.kernel(self.given.rules, self.given.rows, self.work, output))
            raise_failure(status, progress, tables, self.task)
            if status == layout.OUTPUT_FULL and progress[layout.MATCHES] == 0:
                output = larger_output(output, progress)
            elif status in (layout.DONE, layout.OUTPUT_FULL):
                if status == layout.DONE:
                    add_counters(self.counters, self.work)
                yield matches_of(output, progress, self.given)
                if status == layout.DONE:
                    return
                renewed = new_output(self.room.matches, self.room.rows)
                output = renewed._replace(taken=output.taken)  # which has been looked up
                progress[[layout.MATCHES, layout.MAPPED]] = 0
            else:
                self.grow(status)

    def prune(self) -> None:
        """Let nodes go that no run leads to; called between two rows."""
        progress = self.work.progress
        progress[own.STOP] = progress[layout.START]
        self.kernel(self.given.rules, self.given.rows, self.work, new_output(1, 1))
        progress[own.STOP] = -1

    def alive(self) -> Alive:
        """The runs, and the nodes in the buffer."""
        work, progress = self.work, self.work.progress
        bank, count = progress[own.BANK], progress[own.COUNT]
        first = bank * work.runs.shape[1]
        return Alive(
            work.runs[bank, :count].copy(),
            work.registers[first : first + count].copy(),
            work.nodes[: progress[layout.NODES]].copy(),
        )

    def give_alive(self, alive: Alive) -> None:
        """The runs to go on with; all their nodes are in the buffer."""
        work, count = self.work, len(alive.runs)
        bank = work.progress[own.BANK]
        first = bank * work.runs.shape[1]
        work.runs[bank, :count] = alive.runs
        work.registers[first : first + count] = alive.registers
        work.progress[own.COUNT] = count

    def graph(self) -> Iterator[Matches]:
        """The pointers of all matches, each as a match of one row. Raises RunFailure."""
        for _ in self.found():
            pass  # no match is written out
        nodes = self.work.nodes[: self.work.progress[layout.NODES]]
        row, choice = nodes[:, own.NODE_ROW].copy(), nodes[:, own.NODE_CHOICE]
        partition = np.searchsorted(self.given.rows.starts, row, side="right") - 1
        variable = self.given.compiled.tables.variable[choice]
        completes = nodes[:, own.NODE_OTHER] == own.COMPLETES
        before = nodes[:, own.NODE_BEFORE].copy()
        tables = self.given.compiled.tables
        loops = np.isin(np.arange(len(self.task.variables)), tables.variable[tables.again])
        state = variable.astype(np.int64)
        pointers = versioned(partition, row, state, (before, completes), loops)
        one_each = np.arange(len(row) + 1, dtype=np.int64)
        excluded = np.zeros(len(row), np.bool_)
        yield Matches(partition, one_each[1:], row, one_each, variable, excluded, row, pointers)

    def grow(self, status: int) -> None:
        """Twice the room in what is full; what it holds stays."""
        if status == layout.RUNS_FULL:
            self.give_runs(2 * self.work.runs.shape[1])
        elif status == layout.NODES_FULL:
            self.give_nodes(2 * len(self.work.nodes))
        else:
            assert status == layout.PATH_FULL, status
            size = 2 * self.work.path.shape[1]
            path, ways = np.empty((own.PATH_SIZE, size), np.int64), np.empty((size, 2), np.int64)
            self.work = self.work._replace(path=path, ways=ways)

    def give_nodes(self, size: int) -> None:
        """Room for so many nodes."""
        nodes = np.empty((size, own.NODE_SIZE), np.int64)
        nodes[: len(self.work.nodes)] = self.work.nodes
        self.work = self.work._replace(nodes=nodes, moved=np.empty(size, np.int64))

    def give_runs(self, size: int) -> None:
        """Room for so many runs in each bank; behind the banks' registers stand initial ones."""
        before = self.work.runs.shape[1]
        runs = np.empty((2, size, layout.RUN_SIZE), np.int64)
        runs[:, :before] = self.work.runs
        registers = np.empty((2 * size + 1, self.work.registers.shape[1]), np.int64)
        for bank in range(2 if len(self.work.registers) > 1 else 0):
            old = self.work.registers[bank * before : (bank + 1) * before]
            registers[bank * size : bank * size + before] = old
        if self.given.compiled.linked is not None:
            registers[-1] = self.given.compiled.linked.initial
        table = np.zeros((2 * size, 2), np.int64)
        self.work = self.work._replace(runs=runs, registers=registers, table=table)


@dataclass(slots=True)
class Skipping:
    """A search with a skip strategy: matches are held no longer than until it is decided, and runs
    that can no longer come out are let go.

    partition: in which the search is. held: its matches that wait. bars: see `Moment`.
    """

    search: Search
    partition: int = -1
    held: list[Matches] = field(default_factory=list)
    bars: IntArray = field(default_factory=lambda: NO_BARS)

    def coming_out(self) -> Iterator[Matches]:
        """What comes out, partition by partition, in the order of first rows. Raises RunFailure."""
        task, starts = self.search.task, self.search.given.rows.starts
        assert task.stages is not None
        skip = task.stages.skip
        assert skip is not None
        for found in self.search.found():
            at = int(self.search.work.progress[layout.PARTITION])
            matches = joined([*self.held, found])
            if 0 <= self.partition < at:
                yield released(
                    task, skip, some(matches, matches.partition == self.partition), self.ended()
                ).matches
                matches = some(matches, matches.partition > self.partition)
                self.bars = NO_BARS
            if (over := matches.partition < at).any():
                yield selected(task, skip, some(matches, over), (starts, self.search.work.alive))
            self.partition = at
            if at + 1 < len(starts):
                decided = released(task, skip, some(matches, matches.partition == at), self.now())
                self.held, self.bars = [decided.held], decided.bars
                alive = self.search.alive()
                self.search.give_alive(alive.some(alive.starts >= decided.settled))
                yield decided.matches

    def ended(self) -> Moment:
        """That the partition is at its end."""
        lower, upper = self.search.given.rows.starts[self.partition : self.partition + 2].tolist()
        nothing = np.zeros(0, np.int64)
        return Moment(upper + 1, nothing, self.search.work.alive, self.bars, lower)

    def now(self) -> Moment:
        """Where the search is."""
        self.search.prune()
        work = self.search.work
        lower = int(self.search.given.rows.starts[self.partition])
        stop = int(work.progress[layout.START])
        return Moment(stop, self.search.alive().first_rows, work.alive, self.bars, lower)
