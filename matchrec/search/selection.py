"""Event selection: rows may be skipped, and all matches may be asked for.

Goes in: a task and its partitions, as arrays. Comes out: matches in order, each once, numbered, and
only those that a skip strategy leaves. `find_matches` begins a search, of one run at a time or of
all runs at once; a search of all runs can be stopped, and its live runs taken out and put back.

`release_matches` decides while a search goes on, as soon as possible: that is when no live run
began before a match and may still become one. What was decided before counts as start bounds with
the rows at which they were set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from matchrec.automaton.program import A_MATCH
from matchrec.errors.run import failures
from matchrec.plan.clauses import MatchOutput
from matchrec.search.graph import versions_of
from matchrec.search.interface import Room, Task
from matchrec.search.kernels import breadth_first, layout
from matchrec.search.kernels.order import (
    HELD,
    KEPT,
    MappedRows,
    Ranked,
    SearchPosition,
    mark_equal,
    mark_kept,
    settle_ties,
)
from matchrec.search.kernels.skipping import search_matches
from matchrec.search.kernels.starts import NO_ROW
from matchrec.search.kernels.totals import KNOWN, NUMBER, OF_A_TOTAL, ROW, VALUE, WAYS, words_of
from matchrec.search.matches import (
    Matches,
    Numbering,
    Pointers,
    RunFailure,
    next_starts,
    no_matches,
    of_one_row,
)
from matchrec.search.partitions import BoolArray, IntArray, at
from matchrec.search.records import SearchInput
from matchrec.search.search import (
    BreadthFirstSearch,
    BufferSearch,
    PathSearch,
    Shapes,
    at_most,
    needs_release_times,
)


def sort_matches(matches: Matches, *, by_start: bool = False) -> Matches:
    """Sort matches by partition, kind, completing row, first row (`by_start`: that before the
    completing one), positions, variables; each comes once.
    """
    assert matches.rows is not None
    assert matches.completed is not None
    if matches.count < 2:
        return matches
    assert matches.kind is not None
    times = [matches.completed, matches.start]
    keys = np.stack([matches.partition, matches.kind, *(times[::-1] if by_start else times)])
    order = np.lexsort(keys[::-1]).astype(np.int64)
    keys = keys[:, order]
    new = np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1
    groups = np.concatenate([[0], new, [matches.count]]).astype(np.int64)
    if len(groups) <= matches.count:
        again = np.zeros(matches.count, np.bool_)
        found = MappedRows(matches.offsets, matches.rows, matches.classifiers)
        if not mark_equal(groups, order, again, found):
            settle_ties(groups, order, np.empty_like(order), found)
            mark_equal(groups, order, again, found)
        order = order[~again]
    return take_matches(matches, order)


def take_matches(matches: Matches, order: IntArray) -> Matches:
    if len(order) == matches.count and bool(np.all(order[1:] > order[:-1])):
        return matches
    lengths = np.diff(matches.offsets)[order]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    kept: dict[str, Any] = {name: own[order] for name, own in columns_of(matches, OF_MATCHES)}
    before = np.repeat(matches.offsets[:-1][order] - offsets[:-1], lengths)
    places = np.arange(offsets[-1]) + before
    kept |= {name: own[places] for name, own in columns_of(matches, OF_ROWS)}
    return replace(matches, offsets=offsets, **kept)


OF_MATCHES = ("partition", "number", "start", "completed", "kind", "totals")
OF_ROWS = ("classifiers", "excluded", "rows")


def columns_of(matches: Matches, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    found = ((name, getattr(matches, name)) for name in names)
    return ((name, column) for name, column in found if column is not None)


def number_chunks(task: Task, ordered: Iterator[Matches]) -> Iterator[Matches]:
    """Number the matches of sorted chunks, and drop those that are not asked for."""
    numbering = Numbering()
    for matches in ordered:
        yield first_matches(task, numbering.number_matches(matches))


def first_matches(task: Task, numbered: Matches) -> Matches:
    if task.most_matches is None:
        return numbered
    return filter_matches(numbered, numbered.number <= task.most_matches)


def filter_matches(matches: Matches, kept: BoolArray) -> Matches:
    return take_matches(matches, np.flatnonzero(kept))


def concatenate(parts: Sequence[Matches]) -> Matches:
    first, *others = parts = [part for part in parts if part.count] or parts[:1]
    if not others:
        return first
    sizes = [part.offsets[-1] for part in parts]
    before = np.cumsum([0, *sizes[:-1]])
    offsets = [part.offsets[:-1] + add for part, add in zip(parts, before, strict=True)]
    merged: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name, _ in columns_of(first, (*OF_MATCHES, *OF_ROWS))
    }
    ends = np.concatenate([*offsets, [sum(sizes)]]).astype(np.int64)
    return replace(first, offsets=ends, **merged)


@dataclass(frozen=True, slots=True)
class Release:
    """The matches that are released, in order; those that are held; the bounds still needed, from
    the last one on that was set before the row to stop at.

    settled: runs that began before this row can no longer be released.
    """

    matches: Matches
    held: Matches
    start_bounds: IntArray
    settled: int


def release_matches(task: Task, found: Matches, position: SearchPosition) -> Release:
    """Decide on the matches that were held or have been found: of each partition those that are
    kept, then the runs that timed out. Raises RunFailure.
    """
    assert found.kind is not None
    ranked = sort_matches(filter_matches(found, found.kind == A_MATCH), by_start=True)
    outcome, bounds = decide(task, ranked, position)
    bounds = np.concatenate([position.start_bounds, bounds[outcome == KEPT]])
    partial = sort_matches(filter_matches(found, found.kind != A_MATCH))
    assert partial.completed is not None
    before = np.searchsorted(bounds[:, 0], partial.completed, side="left") - 1
    in_time = partial.start >= at(bounds[:, 1], before, -1)
    whole = filter_matches(ranked, outcome == KEPT)
    released = concatenate([whole, filter_matches(partial, in_time)])
    released = take_matches(released, np.argsort(released.partition, kind="stable"))
    held = filter_matches(ranked, outcome == HELD)
    last = int(np.searchsorted(bounds[:, 0], position.stop, side="left")) - 1
    settled = int(bounds[last, 1]) if last >= 0 else -1
    return Release(released, held, bounds[max(0, last) :], settled)


def decide(task: Task, ranked: Matches, position: SearchPosition) -> tuple[IntArray, IntArray]:
    """int64[m], which matches are kept or held, and int64[m, 2], the start bound after each one, of
    matches in the order of their first rows. Raises RunFailure.
    """
    skip = task.skip
    assert skip is not None
    assert ranked.completed is not None
    outcome, bounds = np.zeros(ranked.count, np.int64), np.full((ranked.count + 1, 2), -1)
    if not ranked.count:
        return outcome, bounds[1:]
    bounds[: len(position.start_bounds[-1:])] = position.start_bounds[-1:]
    target = next_starts(skip, task.members, ranked)
    start, completed = map(np.ascontiguousarray, (ranked.start, ranked.completed))
    matches = Ranked(int(position.starts[ranked.partition[0]]), start, completed, target)
    position = position._replace(first_rows=np.sort(position.first_rows))
    missed = mark_kept(matches, position, skip.fails_on_miss, outcome, bounds)
    if missed >= 0:
        is_first = target[missed] != NO_ROW  # that of the match
        message = failures.stage_is_first if is_first else failures.stage_missed
        raise RunFailure(message, int(start[missed]), {"stage": skip.variable})
    return outcome, bounds[1:]


LARGE_CHUNK = 1 << 16  # mapped rows


class MatchSearch(PathSearch):
    """One run at a time, for the matches that are asked for."""

    kernel = staticmethod(search_matches)
    keeps_states = False


def find_matches(
    algorithm: str, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """The matches of a task in order, numbered. Raises RunFailure.

    Preferred ones are found in the order of their starting rows; by all runs at once, when they are
    complete, those of a chunk in some order. By one run at a time all of them are held to be put in
    order, unless a skip strategy decides on them.
    """
    one_at_a_time = algorithm == "backtracking"
    if task.output is MatchOutput.PREFERRED:
        preferred = MatchSearch if one_at_a_time else BreadthFirstSearch
        return number_chunks(task, preferred(task, arrays, room, counters).find_matches())
    if task.skip is not None:
        chunks = skip_runs(algorithm, task, arrays, room, counters)
        return number_chunks(task, in_large_chunks(chunks))
    if one_at_a_time:
        one = MatchSearch(task, arrays, room, counters)
        one.progress.match_limit = layout.NO_LIMIT  # found in no order of ends
        found = list(one.find_matches())
        return number_chunks(task, iter([sort_matches(concatenate(found))] if found else []))
    if task.totals is not None:
        return TotalsSearch(task, arrays, room, counters).find_matches()
    search = RunsSearch(task, arrays, room, counters)
    if task.output is MatchOutput.GRAPH:
        return search.find_graph()
    return number_chunks(task, map(sort_matches, search.find_matches()))


def skip_runs(
    algorithm: str, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """The matches that a skip strategy leaves, by first rows. Raises RunFailure."""
    if algorithm == "backtracking":
        search = MatchSearch(task, arrays, room, counters)
        return ReleasingSearch(search, (room, room)).find_matches()
    soon, rarely = (at_most(room, most) for most in (ROOM, LARGE_ROOM))
    runs = RunsSearch(task, arrays, soon, counters)
    if not needs_release_times(task):
        runs.progress.alone = READS_ALONE * arrays.rows.starts[-1]
    return ReleasingSearch(runs, (soon, rarely)).find_matches()


def in_large_chunks(found: Iterator[Matches]) -> Iterator[Matches]:
    """The matches in fewer chunks: to make output rows of a chunk takes time by itself."""
    held: list[Matches] = []
    for matches in found:
        held.append(matches)
        if sum(int(chunk.offsets[-1]) for chunk in held) >= LARGE_CHUNK:
            yield concatenate(held)
            held = []
    if held:
        yield concatenate(held)


# All runs at once where all matches are asked for.
#
# The live runs, which may still go on where a search stops, can be taken out and put back.


@dataclass(frozen=True, slots=True)
class LiveRuns:
    """Live runs, int64[r, RUN_SIZE], each with its registers, int64[r, q], and the nodes that they
    lead to, int64[n, NODE_SIZE]: see `Work`.
    """

    runs: IntArray
    registers: IntArray
    nodes: IntArray

    def keep(self, kept: BoolArray) -> LiveRuns:
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
        return np.asarray(self.nodes[:, layout.NODE_CHOICE] == layout.JOIN)

    @property
    def first_rows(self) -> IntArray:
        first = (self.nodes[:, layout.NODE_BEFORE] < 0) & ~self.joins
        return np.asarray(self.nodes[first, layout.NODE_ROW], np.int64)

    def needed_rows(self, positions: IntArray, extremes: Extremes) -> IntArray:
        """Every row that the runs need. positions: of registers that hold a row or less than 0."""
        found: list[IntArray] = []

        def note(rows: IntArray) -> IntArray:
            found.append(rows)
            return rows

        self.change_rows(note, positions, extremes)
        return np.concatenate(found)

    def change_rows(
        self, change: Callable[[IntArray], IntArray], positions: IntArray, extremes: Extremes
    ) -> LiveRuns:
        runs, registers, nodes = self.runs.copy(), self.registers.copy(), self.nodes.copy()
        runs[:, layout.RUN_START] = change(runs[:, layout.RUN_START])
        nodes[~self.joins, layout.NODE_ROW] = change(nodes[~self.joins, layout.NODE_ROW])
        nodes[:, layout.NODE_START] = change(nodes[:, layout.NODE_START])
        held = registers[:, positions]
        held[held >= 0] = change(held[held >= 0])
        registers[:, positions] = held
        for extreme in extremes:
            known = extreme.held(nodes)
            nodes[known, extreme.row] = change(nodes[known, extreme.row])
        return LiveRuns(runs, registers, nodes)


ROOM = Room(rows=1 << 16, matches=1 << 12)  # after which it is decided what is released
LARGE_ROOM = Room(rows=1 << 19, matches=1 << 15)  # where no run waits, and many are released
MANY = 1 / 8
READS_ALONE = 8  # of a row, on average, while runs of one starting row are followed alone


class RunsSearch(BufferSearch):
    """The runs and the shared buffer of their rows, and the path of a match that is written out."""

    kernel = staticmethod(breadth_first.search)

    def __init__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None = None
    ) -> None:
        super().__init__(task, arrays, room, counters)
        # the last row is followed by the end of the partition, if that ends runs that come out
        until = arrays.rows.starts[1:] + self.rules.flushes
        arrays.rows.frontier.until[:] = until

    @property
    def shapes(self) -> Shapes:
        path = self.sizes[layout.PATH_FULL]
        way: Shapes = {"path": ((layout.PATH_SIZE, path), np.int64), "ways": ((path, 2), np.int64)}
        return super().shapes | way

    def live_runs(self) -> LiveRuns:
        work, progress = self.work, self.progress
        bank, count = int(progress.bank), int(progress.count)
        runs, nodes = work.runs[bank, :count].copy(), work.nodes[: progress.nodes].copy()
        return LiveRuns(runs, work.registers[1 + bank :: 2][:count].copy(), nodes)

    def restore(self, live: LiveRuns) -> None:
        needed = {layout.RUNS_FULL: 2 * len(live.runs), layout.NODES_FULL: 4 * len(live.nodes)}
        for status, least in needed.items():
            while self.sizes[status] < least:
                self.sizes[status] *= 2
        self.make_room()
        work, bank, count = self.work, self.progress.bank, len(live.runs)
        work.runs[bank, :count] = live.runs
        work.registers[1 + bank :: 2][:count] = live.registers
        work.nodes[: len(live.nodes)] = live.nodes
        work.progress.count, work.progress.nodes = count, len(live.nodes)

    def find_graph(self) -> Iterator[Matches]:
        for _ in self.find_matches():
            pass  # no match is written out
        self.prune()
        nodes = self.work.nodes[: self.work.progress.nodes]
        row, choice = nodes[:, layout.NODE_ROW].copy(), nodes[:, layout.NODE_CHOICE]
        partition = np.searchsorted(self.arrays.rows.starts, row, side="right") - 1
        program = self.rules.program
        variable = program[choice, layout.VARIABLE].astype(np.int16)
        completes = nodes[:, layout.NODE_OTHER] == layout.COMPLETES
        before = nodes[:, layout.NODE_BEFORE].copy()
        again = program[program[:, layout.AGAIN] != 0, layout.VARIABLE]
        loops = np.isin(np.arange(len(self.task.variables)), again)
        versions = versions_of(partition, row, variable.astype(np.int64), before, loops)
        pointers = Pointers(before, completes, *versions)
        yield replace(of_one_row(partition, row, variable), pointers=pointers)


@dataclass(frozen=True, slots=True)
class Extreme:
    """Where a node has an extreme that is the value of a row: the columns with the number of ways
    on which it is known, roughly, with the value and the row. values: see `TotalArrays`.
    """

    known: int
    value: int
    row: int
    values: int

    def held(self, nodes: IntArray) -> BoolArray:
        return np.asarray(nodes[:, self.known] != 0)


Extremes = tuple[Extreme, ...]


def extremes_of(task: Task, begin: int = layout.NODE_SIZE) -> Extremes:
    """The extremes of nodes of a task as rows. begin: the first word of totals, 0 of a group."""
    asked = () if task.totals is None else task.totals.asked
    places = (begin + NUMBER + OF_A_TOTAL * number for number in range(len(asked)))
    return tuple(
        Extreme(place + KNOWN + 2, place + VALUE, place + VALUE + ROW, total.values)
        for place, total in zip(places, asked, strict=True)
        if total.is_of_a_row and total.values is not None
    )


def node_size(task: Task) -> int:
    return layout.NODE_SIZE + (0 if task.totals is None else words_of(len(task.totals.asked)))


class TotalsSearch(RunsSearch):
    """All runs at once, of which only what is added up over all matches comes out."""

    @property
    def shapes(self) -> Shapes:
        size = self.sizes[layout.NODES_FULL], node_size(self.task)
        return super().shapes | {"nodes": (size, np.int64)}

    def grow(self, status: int) -> None:
        """Only live runs need their nodes, so nodes are dropped first."""
        size = self.sizes[status]
        if status == layout.NODES_FULL:
            self.prune()
            nodes, runs = int(self.progress.nodes), int(self.progress.count)
            assert self.arrays.totals is not None
            if 2 * nodes + 4 * self.arrays.totals.widest * (runs + self.rules.starts) <= size:
                return
        super(BufferSearch, self).grow(status)

    def restore(self, live: LiveRuns) -> None:
        """Go on with these runs; extremes are compared as numbers that these rows have."""
        totals, nodes = self.arrays.totals, live.nodes.copy()
        assert totals is not None
        for extreme in extremes_of(self.task):
            held = extreme.held(nodes)
            nodes[held, extreme.value] = totals.values[extreme.values, nodes[held, extreme.row]]
        super().restore(replace(live, nodes=nodes))

    def find_matches(self) -> Iterator[Matches]:
        """The groups that have a match, each one as a match of one row. Raises RunFailure."""
        for _ in super().find_matches():
            pass  # no match is written out
        totals = self.arrays.totals
        assert totals is not None
        group = np.flatnonzero(totals.groups[:, WAYS + 2])
        starts = self.arrays.rows.starts
        if totals.grouped == layout.BY_PARTITION:
            partition, row = group, starts[group]
        else:
            partition, row = np.searchsorted(starts, group, side="right") - 1, group
        groups = of_one_row(partition, row, np.zeros(len(group), np.int16))
        yield replace(groups, totals=totals.groups[group])


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
    start_bounds: IntArray = field(default_factory=lambda: np.zeros((0, 2), np.int64))

    def find_matches(self) -> Iterator[Matches]:
        """What is released, partition by partition, by first rows. Raises RunFailure."""
        waits = (self.search.rules.waits >= 0).any()
        for found in self.search.find_matches():
            released = self.release(found)
            yield released
            # few matches are left out where the runs of one starting row are followed alone
            many = not waits and released.count >= MANY * found.count
            self.search.room = self.rooms[many or bool(self.search.progress.alone)]
        yield self.release(no_matches())

    def release(self, found: Matches) -> Matches:
        search, task = self.search, self.search.task
        runs = search if isinstance(search, RunsSearch) else None
        if runs is not None:
            runs.prune()
        first_rows = np.zeros(0, np.int64) if runs is None else runs.live_runs().first_rows
        stop, starts = int(search.progress.start), search.arrays.rows.starts
        last_live, matches = search.work.last_live, concatenate([self.held, found])
        position = SearchPosition(stop, first_rows, last_live, self.start_bounds, starts)
        release = release_matches(task, matches, position)
        self.held, self.start_bounds = release.held, release.start_bounds
        if runs is not None and not search.progress.alone:
            live = runs.live_runs()
            runs.restore(live.keep(live.starts >= release.settled))
        return release.matches
