"""Search a partition whose rows arrive in batches: all runs at once, stopped and resumed.

A stream makes a call for each batch of new rows:

1. `ResumedSearch(task, state, call)` gets the state of the search before the call, and the rows:
   first the rows that were kept, then the new rows.
2. `ResumedSearch.find_matches` searches the new rows, and ends runs whose windows have ended.
3. `ResumedSearch.finish` returns the state for the next call, and which rows must be kept for it.

After each call, the live runs, their registers and the shared buffer are the same as in a single
search over all rows so far. Between two calls, a `SearchState` stores them, with the rows that they
still need. The last row that is present is not the end of the partition: a run ends only when its
window has ended by the clock (the watermark).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from matchrec.automaton.run_endings import NO_NEIGHBOUR_WINDOW
from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.registers import AggregateRegister, RowRegister
from matchrec.search.compiled_task import compile_task
from matchrec.search.flat_arrays import take_or_default
from matchrec.search.kernel_input import SearchInput, convert_for_kernels, prepare_input
from matchrec.search.kernels import layout
from matchrec.search.kernels.match_order import (
    BOUND_SIZE,
    EARLIEST_START,
    NO_BOUND,
    SET_AT,
    SearchPosition,
)
from matchrec.search.kernels.totals import TotalsSearch
from matchrec.search.live_runs import LiveRuns, list_row_extremes
from matchrec.search.match_lists import concatenate_matches, keep_first_matches, sort_matches
from matchrec.search.matches import Matches, Numbering, make_empty_matches
from matchrec.search.partitions import BoolArray, IntArray, Partitions
from matchrec.search.runs_search import RunsSearch
from matchrec.search.skip_strategies import Release, release_matches
from matchrec.search.task import MAX_STREAM_BYTES, Capacity, Task


@dataclass(frozen=True, slots=True)
class SearchState:
    """The search of a partition between two calls.

    Only the k rows that the search still needs are kept. A field refers to a row by its position
    among the kept rows, or, if the comment of the field says so, by its *number*: rows of a
    partition are numbered from 0 as they arrive, and keep their numbers when others are dropped.

        rows 0 .. 9 have arrived, rows 2, 7 and 8 are kept     row_numbers: 2, 7, 8
    """

    # How many rows of the partition have been searched.
    rows_searched: int
    # The number of the last match that was output; 0 before the first one.
    last_match_number: int
    # int64[k], the numbers of the rows that are kept.
    row_numbers: IntArray
    # The runs that are live, with the nodes of the buffer to which they lead.
    live_runs: LiveRuns
    # int64[b, 2], the start bounds of a skip strategy as numbers of rows: see `match_order.SET_AT`.
    start_bounds: IntArray
    # The matches that a skip strategy holds until runs that began earlier have ended. Their field
    # `completing_rows` has numbers of rows.
    held_matches: Matches

    @property
    def is_idle(self) -> bool:
        """Return whether there is no live run and no held match."""
        return not len(self.live_runs.runs) and not self.held_matches.count


def make_empty_state(register_count: int, node_size: int = layout.NODE_SIZE) -> SearchState:
    """Return the state of a partition without rows.

    Args:
        register_count: how many registers a run has.
        node_size: how many columns a node has, see `live_runs.count_node_columns`.
    """
    return SearchState(
        rows_searched=0,
        last_match_number=0,
        row_numbers=np.zeros(0, np.int64),
        live_runs=LiveRuns(
            runs=np.empty((0, layout.RUN_SIZE), np.int64),
            registers=np.empty((0, register_count), np.int64),
            nodes=np.empty((0, node_size), np.int64),
        ),
        start_bounds=np.zeros((0, BOUND_SIZE), np.int64),
        held_matches=make_empty_matches(),
    )


# Arrays are small at first, because each key of a stream has its own search in each batch.
STREAM_CAPACITY = Capacity(
    mapped_rows=1 << 14, matches=1 << 10, initial_rows=1 << 6, max_bytes=MAX_STREAM_BYTES
)
# Used instead of a row to stop at: search up to the end of the partition.
TO_THE_END = -1


@dataclass(frozen=True, slots=True)
class SearchCall:
    """The n rows of one call, and where the search stops."""

    # One partition: the rows that were kept from earlier calls, then the new ones.
    partitions: Partitions
    # The row before which the search stops. Only conditions of negations read later rows.
    stop: int
    # bool[n], whether the window that begins with a row has ended by the clock. Such a window can
    # have rows after `stop`.
    has_ended: BoolArray
    # All rows from this row on are kept for the next call, even if no run needs them. It is not
    # after `stop`.
    keep_from: int
    # bool[w, n], whether a window between neighbours that begins with a row has ended by the clock;
    # None without such windows.
    has_neighbour_window_ended: BoolArray | None = None


class ResumedSearch:
    """The search of the new rows of a call, which also ends the runs whose windows have ended.

    Read `find_matches` to its end, then call `finish`.

    Args:
        task: a task with event selection.
        state: the state of the search before this call.
        call: the rows, and where the search stops.
    """

    def __init__(self, task: Task, state: SearchState, call: SearchCall) -> None:
        self.task = task
        self.state = state
        self.call = call
        self.arrays = separate_windows(prepare_input(task, call.partitions), call)
        # The runs that are live so far in this call.
        self.live_runs = state.live_runs
        # int64[n], for each starting row, the last row at which a run from it was live; int64[0]
        # if this is not needed.
        self.last_live_rows = np.zeros(0, np.int64)
        new_row_count = len(call.has_ended) - len(state.row_numbers)
        new_numbers = np.arange(state.rows_searched, state.rows_searched + new_row_count)
        # The numbers of all rows of the call: see `SearchState`.
        self.row_numbers = np.concatenate([state.row_numbers, new_numbers])
        self.numbering = Numbering(state.last_match_number)
        # The decisions of the skip strategy. Without a skip strategy, this stays as it is.
        self.release = Release(
            matches=make_empty_matches(),
            held_matches=make_empty_matches(),
            start_bounds=state.start_bounds,
            earliest_start=NO_BOUND,
        )

    def find_matches(self) -> Iterator[Matches]:
        """Yield the matches in chunks, numbered.

        A skip strategy decides when all matches of the call have been found. Without a skip
        strategy, matches are yielded as they are found, because a few rows can have many matches.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        task = self.task
        unordered_chunks = self.find_unordered_matches()
        chunks: Iterator[Matches]
        if task.skip is not None:
            self.release = self.apply_skip_strategy(list(unordered_chunks))
            chunks = iter([self.release.matches])
        elif task.totals is not None:
            chunks = unordered_chunks
        else:
            chunks = map(sort_matches, unordered_chunks)
        for matches in chunks:
            yield keep_first_matches(task, self.numbering.number_matches(matches))

    def find_unordered_matches(self) -> Iterator[Matches]:
        """Yield the matches of the new rows, then the matches of runs whose windows have ended."""
        task = self.task
        arrays = self.arrays
        stop = self.call.stop
        start = len(self.state.row_numbers)
        if stop > start:
            search = resume_search(task, arrays, self.live_runs, start, stop)
            yield from search.find_matches()
            search.prune()
            self.live_runs = search.copy_live_runs()
            self.last_live_rows = search.last_live_rows
        has_ended = self.find_ended_runs()
        if not has_ended.any():
            return
        if arrays.compiled_task.outputs_ended_runs:
            search = resume_search(task, arrays, self.live_runs.keep(has_ended), stop, TO_THE_END)
            yield from search.find_matches()
            if len(self.last_live_rows):
                self.last_live_rows = np.maximum(search.last_live_rows, self.last_live_rows)
            else:
                self.last_live_rows = search.last_live_rows
        self.live_runs = prune_runs(task, arrays, self.live_runs.keep(~has_ended), self.call)

    def find_ended_runs(self) -> BoolArray:
        """Return bool[r], the live runs whose windows have ended.

        The window must have ended by the clock, and all of its rows must have been searched.
        """
        live_runs = self.live_runs
        call = self.call
        is_searched = self.arrays.rows.window_end[live_runs.starts] <= call.stop
        has_ended = np.asarray(call.has_ended[live_runs.starts] & is_searched, np.bool_)
        if call.has_neighbour_window_ended is not None:
            waiting_runs, windows = pair_runs_with_neighbour_windows(self.task, live_runs)
            last_rows = live_runs.last_rows[waiting_runs]
            has_ended[waiting_runs] |= call.has_neighbour_window_ended[windows, last_rows]
        return has_ended

    def apply_skip_strategy(self, new_matches: list[Matches]) -> Release:
        """Apply the skip strategy to the matches that were held and to new matches.

        Returns:
            The decisions, with start bounds and completing rows as numbers of rows.

        Raises:
            RunFailure: a match has no row to which the strategy could skip.
        """
        state = self.state
        # The number of a new row minus its position. Matches are completed, and bounds are set, at
        # rows that can no longer be kept. The positions of such rows are computed with the same
        # difference. They are negative, and only their order matters.
        shift = state.rows_searched - len(state.row_numbers)
        assert state.held_matches.completing_rows is not None
        held_before = replace(
            state.held_matches, completing_rows=state.held_matches.completing_rows - shift
        )
        position = SearchPosition(
            stop=self.call.stop,
            live_first_rows=self.live_runs.first_rows,
            last_live_rows=self.last_live_rows,
            start_bounds=self.convert_to_positions(state.start_bounds, shift),
            starts=np.zeros(1, np.int64),
        )
        matches = concatenate_matches([held_before, *new_matches])
        release = release_matches(self.task, matches, position)
        assert release.held_matches.completing_rows is not None
        held = replace(
            release.held_matches, completing_rows=release.held_matches.completing_rows + shift
        )
        bounds = self.convert_to_numbers(release.start_bounds, shift)
        return replace(release, held_matches=held, start_bounds=bounds)

    def convert_to_positions(self, bounds: IntArray, shift: int) -> IntArray:
        """Return start bounds with positions instead of numbers of rows; -1 stays -1.

        Args:
            bounds: int64[b, 2], see `match_order.SET_AT`.
            shift: the number of a new row minus its position.
        """
        set_at = bounds[:, SET_AT] - shift
        earliest_number = bounds[:, EARLIEST_START]
        earliest_row = np.searchsorted(self.row_numbers, earliest_number)
        return np.stack([set_at, np.where(earliest_number >= 0, earliest_row, -1)], axis=1)

    def convert_to_numbers(self, bounds: IntArray, shift: int) -> IntArray:
        """Return start bounds with numbers of rows, the inverse of `convert_to_positions`."""
        # A bound can be the row after all present rows, which will get the next number.
        next_number = self.row_numbers[-1] + 1 if len(self.row_numbers) else shift
        numbers = np.append(self.row_numbers, next_number)
        set_at = bounds[:, SET_AT] + shift
        return np.stack([set_at, take_or_default(numbers, bounds[:, EARLIEST_START], -1)], axis=1)

    def finish(self) -> tuple[SearchState, IntArray]:
        """Return the state and the rows that the next call needs.

        All matches must have been read before.

        Returns:
            The state of the search; and int64[k], the positions of the rows before `stop` that must
            be kept, ascending.
        """
        state = self.state
        live_runs, held_matches = self.find_useful_runs_and_matches()
        assert held_matches.rows is not None
        row_registers = find_row_registers(self.arrays)
        extremes = list_row_extremes(self.task)
        needed_rows = [
            live_runs.find_needed_rows(row_registers, extremes),
            held_matches.start,
            held_matches.rows,
        ]
        kept_rows = find_kept_rows(needed_rows, self.call, keep_between=bool(self.task.absences))

        new_positions = np.full(len(self.row_numbers), -1, np.int64)
        new_positions[kept_rows] = np.arange(len(kept_rows))
        new_state = SearchState(
            rows_searched=state.rows_searched + self.call.stop - len(state.row_numbers),
            last_match_number=self.numbering.last_number,
            row_numbers=self.row_numbers[kept_rows],
            live_runs=live_runs.move_rows(new_positions, row_registers, extremes),
            start_bounds=self.release.start_bounds,
            held_matches=replace(
                held_matches,
                start=new_positions[held_matches.start],
                rows=new_positions[held_matches.rows],
            ),
        )
        return new_state, kept_rows

    def find_useful_runs_and_matches(self) -> tuple[LiveRuns, Matches]:
        """Return the live runs and the held matches that can still lead to output.

        If `Task.max_matches` have been output, no run and no match is left. A run that began
        before the start bound can no longer be released.
        """
        task = self.task
        live_runs = self.live_runs
        if task.max_matches is not None and self.numbering.last_number >= task.max_matches:
            no_runs = np.zeros(len(live_runs.runs), np.bool_)
            live_runs = prune_runs(task, self.arrays, live_runs.keep(no_runs), self.call)
            return live_runs, make_empty_matches()
        can_be_released = live_runs.starts >= self.release.earliest_start
        if not can_be_released.all():
            live_runs = prune_runs(task, self.arrays, live_runs.keep(can_be_released), self.call)
        return live_runs, self.release.held_matches


def separate_windows(arrays: SearchInput, call: SearchCall) -> SearchInput:
    """Return the arrays of a task with which runs that carry totals merge only if starts are equal.

    Without this change, runs merge if their windows end together. But two windows that end with the
    last present row can end at different rows when more rows have arrived.
    """
    if arrays.totals is None or call.partitions.window_end is None:
        return arrays
    merge_keys = convert_for_kernels(np.arange(call.partitions.row_count), np.int64)
    return replace(arrays, totals=arrays.totals._replace(merge_keys=merge_keys))


def find_row_registers(arrays: SearchInput) -> IntArray:
    """Return the indices of the registers that hold rows."""
    linked = arrays.compiled_task.linked_conditions
    meanings = linked.meanings if linked else ()
    registers = [register for register, meaning in meanings if isinstance(meaning, RowRegister)]
    return np.array(registers, np.int64)


def pair_runs_with_neighbour_windows(task: Task, live_runs: LiveRuns) -> tuple[IntArray, IntArray]:
    """Return the runs that wait in a window between neighbours, and the indices of these windows.

    Both are int64[w], for w such runs: the index of the run in `live_runs`, and of its window.
    """
    windows_by_state = np.array(task.pattern.folding.neighbour_windows, np.int64)
    windows = windows_by_state[live_runs.runs[:, layout.RUN_STATE]]
    waiting_runs = np.flatnonzero(windows != NO_NEIGHBOUR_WINDOW)
    return waiting_runs, windows[waiting_runs]


def prune_runs(task: Task, arrays: SearchInput, live_runs: LiveRuns, call: SearchCall) -> LiveRuns:
    """Return live runs without the nodes to which no run leads any more."""
    search = resume_search(task, arrays, live_runs, call.stop, call.stop)
    search.prune()
    return search.copy_live_runs()


def resume_search(
    task: Task, arrays: SearchInput, live_runs: LiveRuns, start: int, stop: int
) -> RunsSearch:
    """Return a search that goes on with live runs.

    Args:
        task: a task with event selection.
        arrays: the task and its partition, as kernels read them. Their frontier is changed.
        live_runs: the live runs.
        start: the row from which the search goes on.
        stop: the row before which the search stops, or TO_THE_END.
    """
    search_class = RunsSearch if task.totals is None else TotalsSearch
    search = search_class(task, arrays, STREAM_CAPACITY)
    search.progress.start = start
    arrays.rows.frontier.next_start[0] = start
    search.restore(live_runs)
    if stop != TO_THE_END:
        search.progress.keeps_runs = 1
        arrays.rows.frontier.start_limit[0] = stop
    return search


def find_kept_rows(
    needed_rows: Iterable[IntArray], call: SearchCall, *, keep_between: bool
) -> IntArray:
    """Return the positions of the rows before `call.stop` that the next call needs, ascending.

    Args:
        needed_rows: arrays of positions of rows that runs or matches need.
        call: the call, which also says from which row on all rows are kept.
        keep_between: whether all rows after the first needed row are kept, as negations need them.
    """
    is_kept = np.zeros(len(call.has_ended) + 1, np.bool_)
    for rows in needed_rows:
        is_kept[rows] = True
    all_from = call.keep_from
    if keep_between and is_kept.any():
        all_from = min(all_from, int(np.flatnonzero(is_kept)[0]))
    is_kept[all_from:] = True
    return np.flatnonzero(is_kept[: call.stop])


def keeps_values(task: Task, columns: frozenset[int]) -> bool:
    """Return whether registers hold values of some integer columns, and not only rows.

    Such a value is a sum, a minimum or a maximum.

    Args:
        task: the task of a query.
        columns: the indices of the integer columns.
    """
    if not columns:
        return False
    linked = compile_task(task, 1 + max(columns)).linked_conditions
    meanings = [meaning for _, meaning in linked.meanings] if linked else []
    return any(
        isinstance(meaning, AggregateRegister)
        and meaning.operation in (op.SUM_INTEGER, op.MIN_INTEGER, op.MAX_INTEGER)
        and meaning.column in columns
        for meaning in meanings
    )
