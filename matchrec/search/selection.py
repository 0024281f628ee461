"""Event selection: rows may be skipped, and all matches may be asked for.

`find_matches` runs the search of a task and returns its matches in order, each once and numbered,
without those that a skip strategy leaves out. The search follows one run at a time (`MatchSearch`)
or all runs at once (`RunsSearch`). The second kind can be stopped; its live runs can then be taken
out and put back, as a stream needs it.

`release_matches` applies a skip strategy while the search goes on. A match can be released as soon
as no live run that began before it can still become a match. A released match sets a *start bound*:
no later match may begin before that row. So a decision is a pair, the row at which the match was
released and the start bound from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from matchrec.automaton.program import A_MATCH
from matchrec.errors.run import failures
from matchrec.plan.clauses import MatchOutput
from matchrec.search.graph import number_versions
from matchrec.search.interface import BACKTRACKING, Room, Task
from matchrec.search.kernels import breadth_first, layout
from matchrec.search.kernels.order import (
    HELD,
    KEPT,
    MappedRows,
    RankedMatches,
    SearchPosition,
    mark_equal,
    mark_kept,
    settle_ties,
)
from matchrec.search.kernels.skipping import search_matches
from matchrec.search.kernels.starts import NO_ROW
from matchrec.search.kernels.totals import KNOWN, NUMBER, OF_A_TOTAL, ROW, VALUE, WAYS, count_words
from matchrec.search.matches import (
    DOUBLE_WORD,
    Matches,
    Numbering,
    Pointers,
    RunFailure,
    make_one_row_matches,
    next_starts,
    no_matches,
)
from matchrec.search.partitions import BoolArray, IntArray, take_or
from matchrec.search.records import SearchInput
from matchrec.search.search import (
    BreadthFirstSearch,
    BufferSearch,
    PathSearch,
    Shapes,
    at_most,
    needs_release_times,
)

# Matches in order


def sort_matches(matches: Matches, *, by_start: bool = False) -> Matches:
    """Sort matches, and return equal ones once.

    They are sorted by partition, kind, completing row, first row, row positions, then variables.

    Args:
        matches: matches of event selection.
        by_start: whether the first row counts before the completing row.
    """
    assert matches.rows is not None
    assert matches.completed is not None
    if matches.count < 2:
        return matches
    assert matches.kind is not None
    if by_start:
        keys = np.stack([matches.partition, matches.kind, matches.start, matches.completed])
    else:
        keys = np.stack([matches.partition, matches.kind, matches.completed, matches.start])
    order = np.lexsort(keys[::-1]).astype(np.int64)
    keys = keys[:, order]
    # Groups of matches with equal keys: only in these do rows and variables decide.
    begins_group = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    later_groups = np.flatnonzero(begins_group) + 1
    group_bounds = np.concatenate([[0], later_groups, [matches.count]]).astype(np.int64)
    has_equal_keys = len(group_bounds) - 1 < matches.count
    if has_equal_keys:
        is_repeated = np.zeros(matches.count, np.bool_)
        mapped = MappedRows(matches.offsets, matches.rows, matches.classifiers)
        if not mark_equal(group_bounds, order, is_repeated, mapped):
            settle_ties(group_bounds, order, np.empty_like(order), mapped)
            mark_equal(group_bounds, order, is_repeated, mapped)
        order = order[~is_repeated]
    return take_matches(matches, order)


def take_matches(matches: Matches, order: IntArray) -> Matches:
    """Return the matches with these indices, in this order."""
    is_all_in_order = len(order) == matches.count and bool(np.all(order[1:] > order[:-1]))
    if is_all_in_order:
        return matches
    lengths = np.diff(matches.offsets)[order]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    columns: dict[str, Any] = {
        name: column[order] for name, column in columns_of(matches, MATCH_COLUMNS)
    }
    # where each mapped row was before
    shifts = np.repeat(matches.offsets[:-1][order] - offsets[:-1], lengths)
    indices = np.arange(offsets[-1]) + shifts
    columns |= {name: column[indices] for name, column in columns_of(matches, ROW_COLUMNS)}
    return replace(matches, offsets=offsets, **columns)


# Fields of `Matches` with an element for each match, and for each mapped row.
MATCH_COLUMNS = ("partition", "number", "start", "completed", "kind", "totals")
ROW_COLUMNS = ("classifiers", "excluded", "rows")


def columns_of(matches: Matches, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield the name and the array of each of these fields that is not None."""
    for name in names:
        column = getattr(matches, name)
        if column is not None:
            yield name, column


def number_chunks(task: Task, ordered: Iterator[Matches]) -> Iterator[Matches]:
    """Number the matches of sorted chunks, and drop those that the task does not output."""
    numbering = Numbering()
    for matches in ordered:
        yield first_matches(task, numbering.number_matches(matches))


def first_matches(task: Task, numbered: Matches) -> Matches:
    """Return the matches of each partition that the task outputs, by their numbers."""
    if task.most_matches is None:
        return numbered
    return filter_matches(numbered, numbered.number <= task.most_matches)


def filter_matches(matches: Matches, is_kept: BoolArray) -> Matches:
    """Return the matches that are marked."""
    return take_matches(matches, np.flatnonzero(is_kept))


def concatenate(parts: Sequence[Matches]) -> Matches:
    """Return the matches of several parts, one part after the other."""
    parts = [part for part in parts if part.count] or parts[:1]
    first = parts[0]
    if len(parts) == 1:
        return first
    sizes = [part.offsets[-1] for part in parts]
    rows_before = np.cumsum([0, *sizes[:-1]])
    offsets = [part.offsets[:-1] + rows for part, rows in zip(parts, rows_before, strict=True)]
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name, _ in columns_of(first, (*MATCH_COLUMNS, *ROW_COLUMNS))
    }
    all_offsets = np.concatenate([*offsets, [sum(sizes)]]).astype(np.int64)
    return replace(first, offsets=all_offsets, **columns)


# Skip strategies


@dataclass(frozen=True, slots=True)
class Release:
    """What a skip strategy has decided on the matches that were held or found."""

    # The matches that are released, in order.
    matches: Matches
    # The matches that must wait for a run that began earlier.
    held: Matches
    # int64[b, 2], the start bounds that are still needed: the last one that was set before the row
    # at which the search stopped, and those after it.
    start_bounds: IntArray
    # Runs that began before this row can no longer be released.
    settled: int


def release_matches(task: Task, matches: Matches, position: SearchPosition) -> Release:
    """Decide on the matches that were held or have been found.

    Of each partition, the released ones are the matches that are kept, then the runs that timed
    out. A run that timed out is released unless it began before the start bound of that time.

    Args:
        task: a task with a skip strategy.
        matches: the matches that were held or have been found, and runs that timed out.
        position: where the search has stopped.

    Raises:
        RunFailure: a match has no row to which the strategy could skip.
    """
    assert matches.kind is not None
    ranked = sort_matches(filter_matches(matches, matches.kind == A_MATCH), by_start=True)
    outcome, new_bounds = decide(task, ranked, position)
    bounds = np.concatenate([position.start_bounds, new_bounds[outcome == KEPT]])
    kept = filter_matches(ranked, outcome == KEPT)
    held = filter_matches(ranked, outcome == HELD)

    timed_out = sort_matches(filter_matches(matches, matches.kind != A_MATCH))
    assert timed_out.completed is not None
    set_at, first_allowed = bounds.T  # the rows at which bounds were set, and the bounds
    bound_index = np.searchsorted(set_at, timed_out.completed, side="left") - 1
    is_in_bounds = timed_out.start >= take_or(first_allowed, bound_index, -1)

    released = concatenate([kept, filter_matches(timed_out, is_in_bounds)])
    released = take_matches(released, np.argsort(released.partition, kind="stable"))
    last_bound = int(np.searchsorted(set_at, position.stop, side="left")) - 1
    return Release(
        matches=released,
        held=held,
        start_bounds=bounds[max(0, last_bound) :],
        settled=int(first_allowed[last_bound]) if last_bound >= 0 else -1,
    )


def decide(task: Task, ranked: Matches, position: SearchPosition) -> tuple[IntArray, IntArray]:
    """Decide on each match whether it is kept, held or left out.

    Args:
        task: a task with a skip strategy.
        ranked: matches in the order of their first rows.
        position: where the search has stopped.

    Returns:
        int64[m], KEPT, HELD or 0 for each match; and int64[m, 2], the start bound after it.

    Raises:
        RunFailure: a match has no row to which the strategy could skip.
    """
    skip = task.skip
    assert skip is not None
    assert ranked.completed is not None
    outcome = np.zeros(ranked.count, np.int64)
    # The bound before the first match, then the bound after each match.
    bounds = np.full((ranked.count + 1, 2), -1)
    if not ranked.count:
        return outcome, bounds[1:]
    last_bound = position.start_bounds[-1:]
    bounds[: len(last_bound)] = last_bound
    target = next_starts(skip, task.members, ranked)
    matches = RankedMatches(
        lower=int(position.starts[ranked.partition[0]]),
        start=np.ascontiguousarray(ranked.start),
        completed=np.ascontiguousarray(ranked.completed),
        target=target,
    )
    position = position._replace(first_rows=np.sort(position.first_rows))
    missed = mark_kept(matches, position, skip.fails_on_miss, outcome, bounds)
    if missed >= 0:
        is_first_row = target[missed] != NO_ROW  # the target is the match's own first row
        make_error = (
            failures.skip_to_first_event if is_first_row else failures.skip_to_missing_stage
        )
        raise RunFailure(make_error, int(matches.start[missed]), {"stage": skip.variable})
    return outcome, bounds[1:]


# One run at a time

LARGE_CHUNK = 1 << 16  # mapped rows


class MatchSearch(PathSearch):
    """One run at a time, for the preferred match or for all matches: see `kernels.skipping`."""

    kernel = staticmethod(search_matches)
    keeps_states = False


def find_matches(
    algorithm: str, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Yield the matches of a task in order, numbered.

    Preferred matches are found in the order of their starting rows. All runs at once find all
    matches when they are complete; within a chunk, the order is arbitrary. One run at a time finds
    them in another order, so all of them are held to be sorted, unless a skip strategy decides on
    them.

    Args:
        algorithm: "backtracking" for one run at a time, "breadth_first" for all runs at once.
        task: a task with event selection.
        arrays: the task and its partitions, as kernels read them.
        room: how much a chunk may hold.
        counters: see `KernelSearch`.

    Raises:
        RunFailure: the search has failed because of the rows.
    """
    one_at_a_time = algorithm == BACKTRACKING
    if task.output is MatchOutput.PREFERRED:
        search_class = MatchSearch if one_at_a_time else BreadthFirstSearch
        return number_chunks(task, search_class(task, arrays, room, counters).find_matches())
    if task.skip is not None:
        chunks = skip_runs(algorithm, task, arrays, room, counters)
        return number_chunks(task, join_chunks(chunks))
    if one_at_a_time:
        match_search = MatchSearch(task, arrays, room, counters)
        # The first ones found need not be the first ones complete.
        match_search.progress.match_limit = layout.NO_LIMIT
        chunks_found = list(match_search.find_matches())
        if not chunks_found:
            return number_chunks(task, iter([]))
        return number_chunks(task, iter([sort_matches(concatenate(chunks_found))]))
    if task.totals is not None:
        return TotalsSearch(task, arrays, room, counters).find_matches()
    search = RunsSearch(task, arrays, room, counters)
    if task.output is MatchOutput.GRAPH:
        return search.find_graph()
    return number_chunks(task, map(sort_matches, search.find_matches()))


def skip_runs(
    algorithm: str, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Yield the matches that a skip strategy keeps, by first rows; arguments as `find_matches`.

    Raises:
        RunFailure: the search has failed because of the rows.
    """
    if algorithm == BACKTRACKING:
        search = MatchSearch(task, arrays, room, counters)
        return ReleasingSearch(search, room, room).find_matches()
    small = at_most(room, ROOM)
    large = at_most(room, LARGE_ROOM)
    runs = RunsSearch(task, arrays, small, counters)
    if not needs_release_times(task):
        runs.progress.alone = READS_ALONE * arrays.rows.starts[-1]
    return ReleasingSearch(runs, small, large).find_matches()


def join_chunks(chunks: Iterator[Matches]) -> Iterator[Matches]:
    """Yield the matches in fewer chunks, because the output of each chunk has a fixed cost."""
    joined: list[Matches] = []
    for matches in chunks:
        joined.append(matches)
        if sum(int(chunk.offsets[-1]) for chunk in joined) >= LARGE_CHUNK:
            yield concatenate(joined)
            joined = []
    if joined:
        yield concatenate(joined)


# All runs at once, for all matches
#
# The live runs, which may still go on when a search stops, can be taken out and put back.


@dataclass(frozen=True, slots=True)
class LiveRuns:
    """The live runs of a search that has stopped, with all that they need to go on."""

    # int64[r, RUN_SIZE], see `layout.Work`.
    runs: IntArray
    # int64[r, q], the registers of each run.
    registers: IntArray
    # int64[n, NODE_SIZE], the nodes of the buffer to which the runs lead.
    nodes: IntArray

    def keep(self, is_kept: BoolArray) -> LiveRuns:
        """Return the runs that are marked. All nodes stay."""
        return LiveRuns(self.runs[is_kept], self.registers[is_kept], self.nodes)

    @property
    def starts(self) -> IntArray:
        """Return int64[r], the latest first row of the runs that each run stands for."""
        return self.runs[:, layout.RUN_START]

    @property
    def last_rows(self) -> IntArray:
        """Return int64[r], the row that each run has mapped last. Merged runs have the same."""
        node = self.runs[:, layout.RUN_NODE].copy()
        while (joins := self.joins[node]).any():
            node[joins] = self.nodes[node[joins], layout.NODE_BEFORE]
        return np.asarray(self.nodes[node, layout.NODE_ROW], np.int64)

    @property
    def joins(self) -> BoolArray:
        """Return bool[n], which nodes are joins and have no row."""
        return np.asarray(self.nodes[:, layout.NODE_CHOICE] == layout.JOIN)

    @property
    def first_rows(self) -> IntArray:
        """Return the rows with which the runs begin, unsorted."""
        is_first = (self.nodes[:, layout.NODE_BEFORE] < 0) & ~self.joins
        return np.asarray(self.nodes[is_first, layout.NODE_ROW], np.int64)

    def needed_rows(self, row_registers: IntArray, extremes: Extremes) -> IntArray:
        """Return every row that the runs need; arguments as `change_rows`."""
        needed: list[IntArray] = []

        def note(rows: IntArray) -> IntArray:
            """Note the rows, and leave them as they are."""
            needed.append(rows)
            return rows

        self.change_rows(note, row_registers, extremes)
        return np.concatenate(needed)

    def change_rows(
        self, change: Callable[[IntArray], IntArray], row_registers: IntArray, extremes: Extremes
    ) -> LiveRuns:
        """Return the runs with other row positions.

        Args:
            change: returns the new positions of rows.
            row_registers: the registers that hold a row, or a negative number.
            extremes: the extremes that a node holds as rows.
        """
        runs = self.runs.copy()
        registers = self.registers.copy()
        nodes = self.nodes.copy()
        has_row = ~self.joins
        runs[:, layout.RUN_START] = change(runs[:, layout.RUN_START])
        nodes[has_row, layout.NODE_ROW] = change(nodes[has_row, layout.NODE_ROW])
        nodes[:, layout.NODE_START] = change(nodes[:, layout.NODE_START])
        register_rows = registers[:, row_registers]
        is_row = register_rows >= 0
        register_rows[is_row] = change(register_rows[is_row])
        registers[:, row_registers] = register_rows
        for extreme in extremes:
            has_value = extreme.has_value(nodes)
            nodes[has_value, extreme.row] = change(nodes[has_value, extreme.row])
        return LiveRuns(runs, registers, nodes)


# The room after which a search with a skip strategy decides on its matches, by `ReleasingSearch`.
ROOM = Room(rows=1 << 16, matches=1 << 12)
LARGE_ROOM = Room(rows=1 << 19, matches=1 << 15)  # if no run waits, and many are released
MANY = 1 / 8  # of the matches that were found
# How often a row may be read, on average, while the runs of one starting row are followed alone.
READS_ALONE = 8


class RunsSearch(BufferSearch):
    """All runs at once, for all matches: see `kernels.breadth_first`.

    Besides the runs and the buffer, it works in the path of the match that is written out.
    """

    kernel = staticmethod(breadth_first.search)

    def __init__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None = None
    ) -> None:
        super().__init__(task, arrays, room, counters)
        # If runs are output that are live at the end of the partition, that end is one more step
        # after the last row.
        until = arrays.rows.starts[1:] + self.rules.flushes
        arrays.rows.frontier.until[:] = until

    @property
    def shapes(self) -> Shapes:
        """Return the arrays of `BufferSearch`, the path, and the joins still to be unwound."""
        length = self.sizes[layout.PATH_FULL]
        arrays: Shapes = {
            "path": ((layout.PATH_SIZE, length), np.int64),
            "ways": ((length, 2), np.int64),
        }
        return super().shapes | arrays

    def live_runs(self) -> LiveRuns:
        """Return a copy of the live runs, and of the nodes in the buffer."""
        work = self.work
        bank = int(self.progress.bank)
        count = int(self.progress.count)
        return LiveRuns(
            runs=work.runs[bank, :count].copy(),
            registers=work.registers[1 + bank :: 2][:count].copy(),
            nodes=work.nodes[: self.progress.nodes].copy(),
        )

    def restore(self, live: LiveRuns) -> None:
        """Go on with these runs and their nodes."""
        needed = {layout.RUNS_FULL: 2 * len(live.runs), layout.NODES_FULL: 4 * len(live.nodes)}
        for status, least in needed.items():
            while self.sizes[status] < least:
                self.sizes[status] *= 2
        self.make_room()
        work = self.work
        bank = self.progress.bank
        count = len(live.runs)
        work.runs[bank, :count] = live.runs
        work.registers[1 + bank :: 2][:count] = live.registers
        work.nodes[: len(live.nodes)] = live.nodes
        work.progress.count = count
        work.progress.nodes = len(live.nodes)

    def run_to_end(self) -> None:
        """Run the search for what it leaves in its arrays: the nodes, or the totals of groups.

        `find_matches` is a generator, which searches only as it is read. Here it yields nothing
        that is needed, because no match is written out.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        for _ in super().find_matches():
            pass

    def find_graph(self) -> Iterator[Matches]:
        """Yield the pointers of all matches, each as a match of one row: see `graph`.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        self.run_to_end()
        self.prune()
        nodes = self.work.nodes[: self.work.progress.nodes]
        row = nodes[:, layout.NODE_ROW].copy()
        choice = nodes[:, layout.NODE_CHOICE].copy()
        before = nodes[:, layout.NODE_BEFORE].copy()
        completes = nodes[:, layout.NODE_OTHER] == layout.COMPLETES
        partition = np.searchsorted(self.arrays.rows.starts, row, side="right") - 1
        program = self.rules.program
        variable = program[choice, layout.VARIABLE].astype(np.int16)
        looping_variables = program[program[:, layout.AGAIN] != 0, layout.VARIABLE]
        is_loop = np.isin(np.arange(len(self.task.variables)), looping_variables)
        # In this graph, each variable is a state.
        state = variable.astype(np.int64)
        versions = number_versions(partition, row, state, before, is_loop)
        pointers = Pointers(before, completes, *versions)
        yield replace(make_one_row_matches(partition, row, variable), pointers=pointers)


# Totals over all matches


@dataclass(frozen=True, slots=True)
class Extreme:
    """A total whose value is the value of a row, and the columns of a node that hold it."""

    # The column with the number of ways on which the value is known, as the bits of a double.
    known: int
    # The columns with the value, and with the row that has it.
    value: int
    row: int
    # Index of the column of `TotalArrays.values` from which the value comes.
    values: int

    def has_value(self, nodes: IntArray) -> BoolArray:
        """Return bool[n], which nodes have a value."""
        return np.asarray(nodes[:, self.known] != 0)


Extremes = tuple[Extreme, ...]


def find_extremes(task: Task, begin: int = layout.NODE_SIZE) -> Extremes:
    """Return the totals of a task whose value is the value of a row.

    Args:
        task: any task.
        begin: the first column that belongs to totals: NODE_SIZE for a node, 0 for a group.
    """
    if task.totals is None:
        return ()
    extremes = []
    for index, total in enumerate(task.totals.asked):
        if total.is_of_a_row and total.values is not None:
            first = begin + NUMBER + OF_A_TOTAL * index
            extremes.append(
                Extreme(
                    known=first + KNOWN + DOUBLE_WORD,
                    value=first + VALUE,
                    row=first + VALUE + ROW,
                    values=total.values,
                )
            )
    return tuple(extremes)


def count_node_columns(task: Task) -> int:
    """Return how many columns a node has in a search for all matches."""
    return layout.NODE_SIZE + (0 if task.totals is None else count_words(len(task.totals.asked)))


class TotalsSearch(RunsSearch):
    """All runs at once, for aggregates over all matches. No match is written out."""

    @property
    def shapes(self) -> Shapes:
        """Return the arrays of `RunsSearch`, with totals in each node."""
        size = self.sizes[layout.NODES_FULL], count_node_columns(self.task)
        return super().shapes | {"nodes": (size, np.int64)}

    def prune_if_enough(self) -> bool:
        """Prune the nodes, and return whether the next row then surely has room for its nodes.

        They are always pruned, even in a small buffer, because only live runs need their nodes.
        """
        self.prune()
        nodes = int(self.progress.nodes)
        runs = int(self.progress.count)
        assert self.arrays.totals is not None
        new_nodes = 2 * self.arrays.totals.widest * (runs + self.rules.starts)
        return 2 * (nodes + new_nodes) <= self.sizes[layout.NODES_FULL]

    def restore(self, live: LiveRuns) -> None:
        """Go on with these runs and their nodes.

        Extremes are compared by numbers, which may be ranks among the rows that are present. So
        each node gets the number that its row has now.
        """
        totals = self.arrays.totals
        nodes = live.nodes.copy()
        assert totals is not None
        for extreme in find_extremes(self.task):
            has_value = extreme.has_value(nodes)
            rows = nodes[has_value, extreme.row]
            nodes[has_value, extreme.value] = totals.values[extreme.values, rows]
        super().restore(replace(live, nodes=nodes))

    def find_matches(self) -> Iterator[Matches]:
        """Yield the groups that have a match, each as a match of one row.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        self.run_to_end()
        totals = self.arrays.totals
        assert totals is not None
        group = np.flatnonzero(totals.groups[:, WAYS + DOUBLE_WORD])
        starts = self.arrays.rows.starts
        if totals.grouped == layout.BY_PARTITION:
            partition = group
            row = starts[group]
        else:
            partition = np.searchsorted(starts, group, side="right") - 1
            row = group
        groups = make_one_row_matches(partition, row, np.zeros(len(group), np.int16))
        yield replace(groups, totals=totals.groups[group])


@dataclass(slots=True)
class ReleasingSearch:
    """A search with a skip strategy.

    It holds matches only until they are decided on, and drops runs that can no longer be released.
    Each decision has a fixed cost. So decisions are rare if no run waits and many of the
    matches found are released, or if runs of one starting row are followed alone. Otherwise they
    are frequent, because then most runs will be dropped.
    """

    search: MatchSearch | RunsSearch
    # The room of a chunk, after which it decides, if decisions are frequent.
    small_room: Room
    # The same if decisions are rare.
    large_room: Room
    # Matches that wait.
    held: Matches = field(default_factory=no_matches)
    # See `SearchPosition`.
    start_bounds: IntArray = field(default_factory=lambda: np.zeros((0, 2), np.int64))

    def find_matches(self) -> Iterator[Matches]:
        """Yield the released matches, partition by partition, by first rows.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        waits = (self.search.rules.waits >= 0).any()
        for matches in self.search.find_matches():
            released = self.release(matches)
            yield released
            releases_many = not waits and released.count >= MANY * matches.count
            # If the runs of one starting row are followed alone, few matches are left out.
            is_rare = releases_many or bool(self.search.progress.alone)
            self.search.room = self.large_room if is_rare else self.small_room
        yield self.release(no_matches())

    def release(self, new_matches: Matches) -> Matches:
        """Return which of the held and the new matches can be released now.

        Raises:
            RunFailure: a match has no row to which the strategy could skip.
        """
        search = self.search
        runs = search if isinstance(search, RunsSearch) else None
        first_rows = np.zeros(0, np.int64)
        if runs is not None:
            runs.prune()
            first_rows = runs.live_runs().first_rows
        position = SearchPosition(
            stop=int(search.progress.start),
            first_rows=first_rows,
            last_live=search.work.last_live,
            start_bounds=self.start_bounds,
            starts=search.arrays.rows.starts,
        )
        release = release_matches(search.task, concatenate([self.held, new_matches]), position)
        self.held = release.held
        self.start_bounds = release.start_bounds
        if runs is not None and not search.progress.alone:
            live = runs.live_runs()
            runs.restore(live.keep(live.starts >= release.settled))
        return release.matches
