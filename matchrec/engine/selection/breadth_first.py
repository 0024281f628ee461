"""The breadth-first engine where rows may be skipped or all matches are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import numpy as np

from matchrec.dataclass import dataclass
from matchrec.engine.contiguous.search import raise_failure
from matchrec.engine.interface import Room, Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.graph import versioned
from matchrec.engine.selection.kernels import breadth_first, preferred
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.buffer import compact_apart
from matchrec.engine.selection.live_runs import LiveRuns
from matchrec.engine.selection.records import (
    SearchInput,
    add_counters,
    initial_work,
    larger_output,
    matches_of,
    new_output,
    renewed_output,
)
from matchrec.engine.selection.skip import concatenate, filter_matches, keep_matches
from matchrec.engine.selection.skip_release import NO_BOUNDS, SearchPosition, release_matches

_NODES_OF_A_RUN = 16
_MANY_NODES = 1 << 13
ROOM = Room(rows=1 << 16, matches=1 << 12)  # after which it is decided what is released
LARGE_ROOM = Room(rows=1 << 19, matches=1 << 15)  # where no run waits, and many are released
MANY = 1 / 8
READS_ALONE = 8  # of a row, on average, while runs of one starting row are followed alone


class Search:
    """The runs and the shared buffer of their rows."""

    def __init__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
    ) -> None:
        self.task = task
        self.room = room
        self.arrays = arrays
        arrays.show_to_python(lambda: self.work)
        self.counters = counters
        self.work = initial_work(task, self.arrays, room.memory)
        self.enlarge_runs(room.memory)
        self.enlarge_nodes(_NODES_OF_A_RUN * room.memory)

    def find_matches(self) -> Iterator[Matches]:
        """The matches in chunks, as the kernel finds them. Raises RunFailure."""
        output = new_output(self.room.matches, self.room.rows)
        progress, tables = self.work.progress, self.arrays.compiled.tables
        while True:
            status = self.advance(output)
            raise_failure(status, progress, tables, self.task, self.arrays.python)
            if status == layout.OUTPUT_FULL and progress[layout.MATCHES] == 0:
                output = larger_output(output, progress)
            elif status in (layout.DONE, layout.OUTPUT_FULL):
                if status == layout.DONE:
                    add_counters(self.counters, self.work)
                yield matches_of(output, progress, self.arrays)
                if status == layout.DONE:
                    return
                output = renewed_output(output, self.room.matches, self.room.rows)
                progress[[layout.MATCHES, layout.MAPPED]] = 0
            else:
                self.grow(status)

    def advance(self, output: own.Found) -> int:
        """Call the kernel on an output; return its status."""
        arrays = self.arrays
        status = breadth_first.search(arrays.rules, arrays.rows, self.work, output, arrays.negation)
        return int(status)

    def prune(self) -> None:
        """Drop the nodes to which no run leads; called between two rows."""
        work, window_end = self.work, self.arrays.rows.window_end
        bank, row = work.progress[[layout.BANK, layout.START]].tolist()
        arrays = work.runs, work.nodes, work.moved, work.progress, work.counters
        compact_apart(bank, row - 1, window_end, *arrays)

    def live_runs(self) -> LiveRuns:
        """A copy of the live runs, and of the nodes in the buffer."""
        work, progress = self.work, self.work.progress
        bank, count = progress[layout.BANK], progress[layout.COUNT]
        first = bank * work.runs.shape[1]
        return LiveRuns(
            work.runs[bank, :count].copy(),
            work.registers[first : first + count].copy(),
            work.nodes[: progress[layout.NODES]].copy(),
        )

    def restore(self, live: LiveRuns) -> None:
        """Go on with these runs; all their nodes are in the buffer."""
        work, count = self.work, len(live.runs)
        bank = work.progress[layout.BANK]
        first = bank * work.runs.shape[1]
        work.runs[bank, :count] = live.runs
        work.registers[first : first + count] = live.registers
        work.progress[layout.COUNT] = count

    def find_graph(self) -> Iterator[Matches]:
        """The pointers of all matches, each one as a match of one row. Raises RunFailure."""
        for _ in self.find_matches():
            pass  # no match is written out
        self.prune()
        nodes = self.work.nodes[: self.work.progress[layout.NODES]]
        row, choice = nodes[:, own.NODE_ROW].copy(), nodes[:, own.NODE_CHOICE]
        partition = np.searchsorted(self.arrays.rows.starts, row, side="right") - 1
        variable = self.arrays.compiled.tables.variable[choice]
        completes = nodes[:, own.NODE_OTHER] == own.COMPLETES
        before = nodes[:, own.NODE_BEFORE].copy()
        tables = self.arrays.compiled.tables
        loops = np.isin(np.arange(len(self.task.variables)), tables.variable[tables.again])
        state = variable.astype(np.int64)
        pointers = versioned(partition, row, state, (before, completes), loops)
        one_each = np.arange(len(row) + 1, dtype=np.int64)
        excluded = np.zeros(len(row), np.bool_)
        yield Matches(partition, one_each[1:], row, one_each, variable, excluded, row, pointers)

    def grow(self, status: int) -> None:
        """Double what is full; what it holds stays."""
        if status == layout.RUNS_FULL:
            self.enlarge_runs(2 * self.work.runs.shape[1])
        elif status == layout.NODES_FULL:
            self.make_room_for_nodes()
        else:
            assert status == layout.PATH_FULL, status
            size = 2 * self.work.path.shape[1]
            path, ways = np.empty((own.PATH_SIZE, size), np.int64), np.empty((size, 2), np.int64)
            self.work = self.work._replace(path=path, ways=ways)

    def make_room_for_nodes(self) -> None:
        """Drop nodes, or double the room where that leaves many, or where one row needs more.

        A small room is doubled at once, so that few searches have to compile what drops nodes.
        """
        size, progress = len(self.work.nodes), self.work.progress
        one_row = 2 * progress[layout.NODES] <= size
        if size >= _MANY_NODES and not one_row:
            self.prune()
            if 4 * progress[layout.NODES] <= size:
                return
        self.enlarge_nodes(2 * size)

    def enlarge_nodes(self, size: int) -> None:
        """Make room for so many nodes."""
        nodes = np.empty((size, own.NODE_SIZE), np.int64)
        nodes[: len(self.work.nodes)] = self.work.nodes
        self.work = self.work._replace(nodes=nodes, moved=np.empty(size, np.int64))

    def enlarge_runs(self, size: int) -> None:
        """Make room for so many runs in each bank; the initial registers come after both banks."""
        before = self.work.runs.shape[1]
        runs = np.empty((2, size, layout.RUN_SIZE), np.int64)
        runs[:, :before] = self.work.runs
        registers = np.empty((2 * size + 1, self.work.registers.shape[1]), np.int64)
        for bank in range(2 if len(self.work.registers) > 1 else 0):
            old = self.work.registers[bank * before : (bank + 1) * before]
            registers[bank * size : bank * size + before] = old
        if self.arrays.compiled.linked is not None:
            registers[-1] = self.arrays.compiled.linked.initial
        table = np.zeros((2 * size, 2), np.int64)
        self.work = self.work._replace(runs=runs, registers=registers, table=table)


class PreferredSearch(Search):
    """The same, for the preferred match of each starting row."""

    def advance(self, output: own.Found) -> int:
        """Call the kernel, which knows no negation, on an output; return its status."""
        return int(preferred.search(self.arrays.rules, self.arrays.rows, self.work, output))

    def make_room_for_nodes(self) -> None:
        """Double it: the kernel drops nodes itself."""
        self.enlarge_nodes(2 * len(self.work.nodes))


@dataclass(slots=True)
class ReleasingSearch:
    """A search with a skip strategy: it holds no match for longer than until that is decided, and
    drops runs that can no longer be released.

    To decide takes time by itself, so it is done rarely while no run waits and many matches are
    released, or few are found that are not; but else soon, as most runs are to be dropped then.

    rooms: after which it is decided soon, and rarely. partition: in which the search is. held: its
    matches that wait. start_bounds: see `SearchPosition`.
    """

    search: Search
    rooms: tuple[Room, Room]
    partition: int = -1
    held: list[Matches] = field(default_factory=list)
    start_bounds: IntArray = field(default_factory=lambda: NO_BOUNDS)

    def find_matches(self) -> Iterator[Matches]:
        """What is released, partition by partition, by first rows. Raises RunFailure."""
        for found in self.search.find_matches():
            count = 0
            for released in self.release(found):
                count += released.count
                yield released
            many = self.is_strict and count >= MANY * found.count
            self.search.room = self.rooms[many or self.is_alone]

    @property
    def is_alone(self) -> bool:
        """Whether the runs of one starting row are followed alone: few matches are left out."""
        return bool(self.search.work.progress[own.ALONE])

    @property
    def is_strict(self) -> bool:
        """Whether no run waits."""
        return bool((self.search.arrays.compiled.waits < 0).all())

    def release(self, found: Matches) -> Iterator[Matches]:
        """What of the matches that are held or found can be released now."""
        task, starts = self.search.task, self.search.arrays.rows.starts
        assert task.stages is not None
        skip = task.stages.skip
        assert skip is not None
        work = self.search.work
        at = int(work.progress[layout.PARTITION])
        matches = concatenate([*self.held, found])
        if 0 <= self.partition < at:
            here = filter_matches(matches, matches.partition == self.partition)
            yield release_matches(task, skip, here, self.end_of_partition()).matches
            matches = filter_matches(matches, matches.partition > self.partition)
            self.start_bounds = NO_BOUNDS
        if (done := matches.partition < at).any():
            whole = filter_matches(matches, done)
            yield keep_matches(task, skip, whole, (starts, work.last_live))
        self.partition = at
        if at + 1 < len(starts):
            here = filter_matches(matches, matches.partition == at)
            release = release_matches(task, skip, here, self.position())
            self.held, self.start_bounds = [release.held], release.start_bounds
            if not self.is_alone:
                live = self.search.live_runs()
                self.search.restore(live.keep(live.starts >= release.settled))
            yield release.matches

    def end_of_partition(self) -> SearchPosition:
        """The position after all rows of the partition, where no run is live."""
        lower, upper = self.search.arrays.rows.starts[self.partition : self.partition + 2].tolist()
        no_runs, last_live = np.zeros(0, np.int64), self.search.work.last_live
        return SearchPosition(upper + 1, no_runs, last_live, self.start_bounds, lower)

    def position(self) -> SearchPosition:
        """Where the search has stopped."""
        self.search.prune()
        work = self.search.work
        lower = int(self.search.arrays.rows.starts[self.partition])
        stop, first_rows = int(work.progress[layout.START]), self.search.live_runs().first_rows
        return SearchPosition(stop, first_rows, work.last_live, self.start_bounds, lower)
