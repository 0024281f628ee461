"""The searches of event selection: what begins each, and hands its matches on in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np

from matchrec.dataclass import dataclass
from matchrec.engine.interface import Room, Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Matches, no_matches
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.engine.preferred import BreadthFirstSearch
from matchrec.engine.records import SearchInput
from matchrec.engine.search import KernelSearch, PathSearch, needs_release_times
from matchrec.engine.selection.graph import versioned
from matchrec.engine.selection.kernels import breadth_first
from matchrec.engine.selection.kernels.matches import compact_apart
from matchrec.engine.selection.kernels.starting_rows import search_matches
from matchrec.engine.selection.skip import (
    NO_BOUNDS,
    SearchPosition,
    concatenate,
    filter_matches,
    keep_by_partition,
    keep_matches,
    number_chunks,
    release_matches,
    sort_matches,
)

LARGE_CHUNK = 1 << 16  # mapped rows

Begin = Callable[[Task, SearchInput, Room, IntArray | None], Iterator[Matches]]


class MatchSearch(PathSearch):
    """One run at a time, for the matches that are asked for."""

    kernel = staticmethod(search_matches)

    @property
    def extras(self) -> tuple[Any, ...]:
        """The negation, and what is counted."""
        return self.arrays.negation, None


def try_one_run(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Preferred matches, which are found in the order of their starting rows."""
    return number_chunks(MatchSearch(task, arrays, room, counters).find_matches())


def try_every_run(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Matches are found by their starting rows, so all of them are held to be put in order."""
    found = list(MatchSearch(task, arrays, room, counters).find_matches())
    return number_chunks(iter([sort_matches(concatenate(found))] if found else []))


def try_and_skip(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """As every run, but those that a skip strategy leaves no room for."""
    search = MatchSearch(task, arrays, room, counters)
    found, last_live = search.find_matches(), search.work.last_live
    return number_chunks(keep_by_partition(task, found, arrays.rows.starts, last_live))


def advance_preferred_runs(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Preferred matches, which are found in the order of their starting rows."""
    return number_chunks(BreadthFirstSearch(task, arrays, room, counters).find_matches())


def advance_all_runs(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Matches are found when they are complete, those of a chunk in some order."""
    search = RunsSearch(task, arrays, room, counters)
    return number_chunks(map(sort_matches, search.find_matches()))


def skip_runs(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """As all runs, without those that a skip strategy leaves no room for."""
    soon, rarely = (at_most(room, one) for one in (ROOM, LARGE_ROOM))
    search = RunsSearch(task, arrays, soon, counters)
    if not needs_release_times(task):
        search.work.progress[layout.ALONE] = READS_ALONE * arrays.rows.starts[-1]
    released = ReleasingSearch(search, (soon, rarely)).find_matches()
    return number_chunks(in_large_chunks(released))


def at_most(room: Room, most: Room) -> Room:
    """The room, for no more matches and their rows than another one has."""
    rows, matches = min(room.rows, most.rows), min(room.matches, most.matches)
    return replace(room, rows=rows, matches=matches)


def in_large_chunks(found: Iterator[Matches]) -> Iterator[Matches]:
    """The same matches in fewer chunks: to make output rows of a chunk takes time by itself."""
    held: list[Matches] = []
    for matches in found:
        held.append(matches)
        if sum(int(one.offsets[-1]) for one in held) >= LARGE_CHUNK:
            yield concatenate(held)
            held = []
    if held:
        yield concatenate(held)


def build_graph(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """The pointers of all matches."""
    return RunsSearch(task, arrays, room, counters).find_graph()


SEARCHES: Mapping[tuple[str, str], Begin] = {
    ("backtracking", "preferred matches that skip rows"): try_one_run,
    ("backtracking", "all matches"): try_every_run,
    ("backtracking", "matches that do not overlap"): try_every_run,
    ("backtracking", "matches that a skip strategy leaves"): try_and_skip,
    ("breadth_first", "preferred matches that skip rows"): advance_preferred_runs,
    ("breadth_first", "all matches"): advance_all_runs,
    ("breadth_first", "matches that do not overlap"): advance_all_runs,
    ("breadth_first", "matches that a skip strategy leaves"): skip_runs,
    ("breadth_first", "graph of all matches"): build_graph,
}
"""What begins the search of an algorithm, by its engine and its name."""


# All runs at once where all matches are asked for.
#
# The live runs, which may still go on where a search stops, can be taken out and put back.


@dataclass(frozen=True, slots=True)
class LiveRuns:
    """Live runs, each with its registers, and the nodes of the buffer that they lead to.

    runs: int64[r, RUN_SIZE]. registers: int64[r, q]. nodes: int64[n, NODE_SIZE]: see `Work`.
    """

    runs: IntArray
    registers: IntArray
    nodes: IntArray

    def keep(self, kept: BoolArray) -> LiveRuns:
        """The runs that are marked; all nodes stay."""
        return LiveRuns(self.runs[kept], self.registers[kept], self.nodes)

    @property
    def starts(self) -> IntArray:
        """int64[r], the latest first row of what each run stands for."""
        return self.runs[:, layout.RUN_START]

    @property
    def last_rows(self) -> IntArray:
        """int64[r], the row that each run has mapped last: of merged ones the same."""
        node = self.runs[:, layout.RUN_NODE].copy()
        while (joins := self.joins[node]).any():
            node[joins] = self.nodes[node[joins], layout.NODE_BEFORE]
        return np.asarray(self.nodes[node, layout.NODE_ROW], np.int64)

    @property
    def joins(self) -> BoolArray:
        """bool[n], which of the nodes are no rows."""
        return np.asarray(self.nodes[:, layout.NODE_CHOICE] == layout.JOIN)

    @property
    def first_rows(self) -> IntArray:
        """The rows with which the runs begin, unsorted."""
        first = (self.nodes[:, layout.NODE_BEFORE] < 0) & ~self.joins
        return np.asarray(self.nodes[first, layout.NODE_ROW], np.int64)

    def needed_rows(self, positions: IntArray) -> IntArray:
        """Every row that the runs need. positions: of registers that hold a row or less than 0."""
        held = self.registers[:, positions].ravel()
        return np.concatenate(
            [
                self.runs[:, layout.RUN_START],
                self.nodes[~self.joins, layout.NODE_ROW],
                self.nodes[:, layout.NODE_START],
                held[held >= 0],
            ]
        )

    def move(self, places: IntArray, positions: IntArray) -> LiveRuns:
        """The same runs over other rows: row i has become row places[i]."""
        runs, registers, nodes = self.runs.copy(), self.registers.copy(), self.nodes.copy()
        runs[:, layout.RUN_START] = places[runs[:, layout.RUN_START]]
        nodes[~self.joins, layout.NODE_ROW] = places[nodes[~self.joins, layout.NODE_ROW]]
        nodes[:, layout.NODE_START] = places[nodes[:, layout.NODE_START]]
        held = registers[:, positions]
        registers[:, positions] = np.where(held >= 0, places[np.maximum(held, 0)], held)
        return LiveRuns(runs, registers, nodes)


_NODES_OF_A_RUN = 16
_MANY_NODES = 1 << 13
ROOM = Room(rows=1 << 16, matches=1 << 12)  # after which it is decided what is released
LARGE_ROOM = Room(rows=1 << 19, matches=1 << 15)  # where no run waits, and many are released
MANY = 1 / 8
READS_ALONE = 8  # of a row, on average, while runs of one starting row are followed alone


class RunsSearch(KernelSearch):
    """The runs and the shared buffer of their rows."""

    kernel: ClassVar[Callable[..., int]] = staticmethod(breadth_first.search)

    def __init__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None = None
    ) -> None:
        super().__init__(task, arrays, room, counters)
        memory, self.progress[layout.PARTITION] = room.memory, 0
        self.work = self.work._replace(
            path=np.empty((layout.PATH_SIZE, memory), np.int64),
            ways=np.empty((memory, 2), np.int64),
            runs=np.empty((2, 0, layout.RUN_SIZE), np.int64),
            registers=self.new_registers(1, -1),
            nodes=np.empty((0, layout.NODE_SIZE), np.int64),
        )
        self.enlarge_runs(memory)
        self.enlarge_nodes(_NODES_OF_A_RUN * memory)

    @property
    def extras(self) -> tuple[Any, ...]:
        """The negation."""
        return (self.arrays.negation,)

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
        row, choice = nodes[:, layout.NODE_ROW].copy(), nodes[:, layout.NODE_CHOICE]
        partition = np.searchsorted(self.arrays.rows.starts, row, side="right") - 1
        variable = self.tables.variable[choice]
        completes = nodes[:, layout.NODE_OTHER] == layout.COMPLETES
        before = nodes[:, layout.NODE_BEFORE].copy()
        tables = self.tables
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
            path, ways = np.empty((layout.PATH_SIZE, size), np.int64), np.empty((size, 2), np.int64)
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
        nodes = np.empty((size, layout.NODE_SIZE), np.int64)
        nodes[: len(self.work.nodes)] = self.work.nodes
        self.work = self.work._replace(nodes=nodes, moved=np.empty(size, np.int64))

    def enlarge_runs(self, size: int) -> None:
        """Make room for so many runs in each bank; the initial registers come after both banks."""
        before = self.work.runs.shape[1]
        runs = np.empty((2, size, layout.RUN_SIZE), np.int64)
        runs[:, :before] = self.work.runs
        registers = self.new_registers(2 * size + 1, -1)
        for bank in range(2):
            old = self.work.registers[bank * before : (bank + 1) * before]
            registers[bank * size : bank * size + before] = old
        table = np.zeros((2 * size, 2), np.int64)
        self.work = self.work._replace(runs=runs, registers=registers, table=table)


@dataclass(slots=True)
class ReleasingSearch:
    """A search with a skip strategy: it holds no match for longer than until that is decided, and
    drops runs that can no longer be released.

    To decide takes time by itself, so it is done rarely while no run waits and many matches are
    released, or few are found that are not; but else soon, as most runs are to be dropped then.

    rooms: after which it is decided soon, and rarely. partition: in which the search is. held: its
    matches that wait. start_bounds: see `SearchPosition`.
    """

    search: RunsSearch
    rooms: tuple[Room, Room]
    partition: int = -1
    held: Matches = field(default_factory=no_matches)
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
        yield from self.release(no_matches())

    @property
    def is_alone(self) -> bool:
        """Whether the runs of one starting row are followed alone: few matches are left out."""
        return bool(self.search.work.progress[layout.ALONE])

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
        matches, self.held = concatenate([self.held, found]), no_matches()
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
            self.held, self.start_bounds = release.held, release.start_bounds
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
