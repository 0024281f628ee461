"""The searches of event selection: what begins each, and hands its matches on in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np

from matchrec.dataclass import dataclass
from matchrec.engine.interface import Room, Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Matches, no_matches
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.engine.records import SearchInput
from matchrec.engine.search import (
    BreadthFirstSearch,
    BufferSearch,
    PathSearch,
    Shapes,
    needs_release_times,
)
from matchrec.engine.selection.graph import versioned
from matchrec.engine.selection.kernels import breadth_first
from matchrec.engine.selection.kernels.starting_rows import search_matches
from matchrec.engine.selection.skip import (
    NO_BOUNDS,
    SearchPosition,
    concatenate,
    number_chunks,
    release_matches,
    sort_matches,
)
from matchrec.plan.clauses import MatchOutput

LARGE_CHUNK = 1 << 16  # mapped rows


class MatchSearch(PathSearch):
    """One run at a time, for the matches that are asked for."""

    kernel = staticmethod(search_matches)

    @property
    def extras(self) -> tuple[Any, ...]:
        """The negation, and what is counted."""
        return self.arrays.negation, None


def find_matches(
    engine: str, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """The matches of a task in order, numbered. Raises RunFailure.

    Preferred ones are found in the order of their starting rows; by all runs at once, when they are
    complete, those of a chunk in some order. By one run at a time all of them are held to be put in
    order, unless a skip strategy decides on them.
    """
    one_at_a_time = engine == "backtracking"
    if task.output is MatchOutput.PREFERRED:
        preferred = MatchSearch if one_at_a_time else BreadthFirstSearch
        return number_chunks(preferred(task, arrays, room, counters).find_matches())
    if task.stages is not None and task.stages.skip is not None:
        return number_chunks(in_large_chunks(skip_runs(engine, task, arrays, room, counters)))
    if one_at_a_time:
        found = list(MatchSearch(task, arrays, room, counters).find_matches())
        return number_chunks(iter([sort_matches(concatenate(found))] if found else []))
    search = RunsSearch(task, arrays, room, counters)
    if task.output is MatchOutput.GRAPH:
        return search.find_graph()
    return number_chunks(map(sort_matches, search.find_matches()))


def skip_runs(
    engine: str, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """The matches that a skip strategy leaves, by first rows. Raises RunFailure."""
    if engine == "backtracking":
        search = MatchSearch(task, arrays, room, counters)
        return ReleasingSearch(search, (room, room)).find_matches()
    soon, rarely = (at_most(room, one) for one in (ROOM, LARGE_ROOM))
    runs = RunsSearch(task, arrays, soon, counters)
    if not needs_release_times(task):
        runs.progress[layout.ALONE] = READS_ALONE * arrays.rows.starts[-1]
    return ReleasingSearch(runs, (soon, rarely)).find_matches()


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


ROOM = Room(rows=1 << 16, matches=1 << 12)  # after which it is decided what is released
LARGE_ROOM = Room(rows=1 << 19, matches=1 << 15)  # where no run waits, and many are released
MANY = 1 / 8
READS_ALONE = 8  # of a row, on average, while runs of one starting row are followed alone


class RunsSearch(BufferSearch):
    """The runs and the shared buffer of their rows, and the path of a match that is written out."""

    kernel: ClassVar[Callable[..., int]] = staticmethod(breadth_first.search)

    def __init__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None = None
    ) -> None:
        super().__init__(task, arrays, room, counters)
        self.progress[layout.PARTITION] = 0

    @property
    def shapes(self) -> Shapes:
        path = self.sizes[layout.PATH_FULL]
        way: Shapes = {"path": ((layout.PATH_SIZE, path), np.int64), "ways": ((path, 2), np.int64)}
        return super().shapes | way

    @property
    def extras(self) -> tuple[Any, ...]:
        """The negation."""
        return (self.arrays.negation,)

    def live_runs(self) -> LiveRuns:
        """A copy of the live runs, and of the nodes in the buffer."""
        work, progress = self.work, self.progress
        bank, count = progress[[layout.BANK, layout.COUNT]].tolist()
        return LiveRuns(
            work.runs[bank, :count].copy(),
            work.registers[1 + bank :: 2][:count].copy(),
            work.nodes[: progress[layout.NODES]].copy(),
        )

    def restore(self, live: LiveRuns) -> None:
        """Go on with these runs and their nodes."""
        for status, least in (
            (layout.RUNS_FULL, 2 * len(live.runs)),
            (layout.NODES_FULL, 4 * len(live.nodes)),
        ):
            while self.sizes[status] < least:
                self.sizes[status] *= 2
        self.make_room()
        work, bank, count = self.work, self.progress[layout.BANK], len(live.runs)
        work.runs[bank, :count] = live.runs
        work.registers[1 + bank :: 2][:count] = live.registers
        work.nodes[: len(live.nodes)] = live.nodes
        work.progress[[layout.COUNT, layout.NODES]] = count, len(live.nodes)

    def find_graph(self) -> Iterator[Matches]:
        """The pointers of all matches, each one as a match of one row. Raises RunFailure."""
        for _ in self.find_matches():
            pass  # no match is written out
        self.prune()
        nodes = self.work.nodes[: self.work.progress[layout.NODES]]
        row, choice = nodes[:, layout.NODE_ROW].copy(), nodes[:, layout.NODE_CHOICE]
        partition = np.searchsorted(self.arrays.rows.starts, row, side="right") - 1
        program = self.rules.program
        variable = program[choice, layout.VARIABLE].astype(np.int16)
        completes = nodes[:, layout.NODE_OTHER] == layout.COMPLETES
        before = nodes[:, layout.NODE_BEFORE].copy()
        again = program[program[:, layout.AGAIN] != 0, layout.VARIABLE]
        loops = np.isin(np.arange(len(self.task.variables)), again)
        state = variable.astype(np.int64)
        pointers = versioned(partition, row, state, (before, completes), loops)
        one_each = np.arange(len(row) + 1, dtype=np.int64)
        excluded = np.zeros(len(row), np.bool_)
        yield Matches(partition, one_each[1:], row, one_each, variable, excluded, row, pointers)


@dataclass(slots=True)
class ReleasingSearch:
    """A search with a skip strategy: it holds no match for longer than until that is decided, and
    drops runs that can no longer be released.

    To decide takes time by itself, so it is done rarely while no run waits and many matches are
    released, or few are found that are not; but else soon, as most runs are to be dropped then.

    rooms: after which it is decided soon, and rarely. held: matches that wait. start_bounds: see
    `SearchPosition`.
    """

    search: MatchSearch | RunsSearch
    rooms: tuple[Room, Room]
    held: Matches = field(default_factory=no_matches)
    start_bounds: IntArray = field(default_factory=lambda: NO_BOUNDS)

    def find_matches(self) -> Iterator[Matches]:
        """What is released, partition by partition, by first rows. Raises RunFailure."""
        for found in self.search.find_matches():
            released = self.release(found)
            yield released
            many = self.is_strict and released.count >= MANY * found.count
            self.search.room = self.rooms[many or self.is_alone]
        yield self.release(no_matches())

    @property
    def is_alone(self) -> bool:
        """Whether the runs of one starting row are followed alone: few matches are left out."""
        return bool(self.search.progress[layout.ALONE])

    @property
    def is_strict(self) -> bool:
        """Whether no run waits."""
        return bool((self.search.rules.waits < 0).all())

    def release(self, found: Matches) -> Matches:
        """What of the matches that are held or found can be released now."""
        search, task, no_runs = self.search, self.search.task, np.zeros(0, np.int64)
        assert task.stages is not None
        assert task.stages.skip is not None
        runs = search if isinstance(search, RunsSearch) else None
        if runs is not None:
            runs.prune()
        position = SearchPosition(
            int(search.progress[layout.START]),
            no_runs if runs is None else runs.live_runs().first_rows,
            search.work.last_live,
            self.start_bounds,
            search.arrays.rows.starts,
        )
        matches = concatenate([self.held, found])
        release = release_matches(task, task.stages.skip, matches, position)
        self.held, self.start_bounds = release.held, release.start_bounds
        if runs is not None and not self.is_alone:
            live = runs.live_runs()
            runs.restore(live.keep(live.starts >= release.settled))
        return release.matches
