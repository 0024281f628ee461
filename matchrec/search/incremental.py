"""Search a partition whose rows come little by little: breadth-first, stopped and resumed.

The live runs, their registers and the shared buffer are those of a search over all rows; between
two calls they are kept with the rows that they still lead to. The end of the rows that are there is
not the end of the partition: only a window that has ended by the clock ends runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from matchrec.automaton.program import NOT_NEAR
from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.registers import Reduced, RowOf
from matchrec.search.interface import MOST_IN_STREAM, Room, Task
from matchrec.search.kernels import layout
from matchrec.search.kernels.order import SearchPosition
from matchrec.search.matches import Matches, Numbering, no_matches
from matchrec.search.partitions import BoolArray, IntArray, Partitions, at
from matchrec.search.records import SearchInput, compile_task, plain, prepare_input, rows_of
from matchrec.search.selection import (
    LiveRuns,
    Release,
    RunsSearch,
    TotalsSearch,
    concatenate,
    extremes_of,
    first_matches,
    release_matches,
    sort_matches,
)

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class SearchState:
    """A partition's search between two calls; rows are positions among those that are kept.

    done: how many rows have been searched. numbered: the last match number. numbers: int64[k], of
    the rows that are kept, as they came, from 0. start_bounds: int64[b, 2], the number of the row
    at which a match was released, and of the row before which no match may begin from then on.
    held: matches that wait for runs that began earlier; they are complete at the numbers of rows.
    """

    done: int
    numbered: int
    numbers: IntArray
    live_runs: LiveRuns
    start_bounds: IntArray
    held: Matches

    @property
    def is_idle(self) -> bool:
        """Whether nothing has been begun that is not at its end."""
        return not len(self.live_runs.runs) and not self.held.count


def new_state(registers: int, columns: int = layout.NODE_SIZE) -> SearchState:
    """Of a partition without rows. registers: of a run. columns: of a node."""
    sizes = layout.RUN_SIZE, registers, columns
    live = LiveRuns(*(np.empty((0, size), np.int64) for size in sizes))
    none = np.zeros(0, np.int64)
    return SearchState(0, 0, none, live, np.zeros((0, 2), np.int64), no_matches())


HELD = tuple(f.name for f in fields(Matches) if getattr(no_matches(), f.name) is not None)


def arrays_of(state: SearchState) -> dict[str, Array]:
    arrays: dict[str, Array] = {
        "counts": np.array([state.done, state.numbered], np.int64),
        "numbers": state.numbers,
        "runs": state.live_runs.runs,
        "registers": state.live_runs.registers,
        "nodes": state.live_runs.nodes,
        "start bounds": state.start_bounds,
    }
    return arrays | {f"held.{name}": getattr(state.held, name) for name in HELD}


def state_of(arrays: Mapping[str, Array]) -> SearchState:
    kept: dict[str, Any] = {name: arrays[f"held.{name}"] for name in HELD}
    held = replace(no_matches(), **kept)
    done, numbered = arrays["counts"].tolist()
    live = LiveRuns(arrays["runs"], arrays["registers"], arrays["nodes"])
    return SearchState(done, numbered, arrays["numbers"], live, arrays["start bounds"], held)


ROOM = Room(rows=1 << 14, matches=1 << 10, memory=1 << 6, most=MOST_IN_STREAM)
TO_THE_END = -1  # no row to stop at: the partition is at its end


@dataclass(frozen=True, slots=True)
class SearchCall:
    """The rows of one call, and where the search stops.

    partitions: one, the rows that are kept, then new ones. stop: the row to stop at; the conditions
    of absences may look at those from there on. ended: bool[n], whether a window that begins with a
    row has ended by the clock, though rows in it may come after `stop`. needed: the first row from
    which on all are kept, at most `stop`. near: bool[w, n], whether a window between neighbours
    that begins with a row has ended by the clock; None without such windows.
    """

    partitions: Partitions
    stop: int
    ended: BoolArray
    needed: int
    near: BoolArray | None = None


class FurtherSearch:
    """The search of a call's new rows, which also ends the runs whose windows have ended. live: the
    runs that are live once all matches have come. last_live: when runs were last live.
    """

    def __init__(self, task: Task, state: SearchState, call: SearchCall) -> None:
        self.task, self.state, self.call = task, state, call
        self.arrays = arrays = prepare_input(task, call.partitions)
        if arrays.totals is not None and call.partitions.window_end is not None:
            # windows that end with the rows that are here may end apart from each other further on
            apart = plain(np.arange(call.partitions.rows), np.int64)
            self.arrays = replace(arrays, totals=arrays.totals._replace(apart=apart))
        self.live, self.last_live = state.live_runs, np.zeros(0, np.int64)
        new = np.arange(state.done, state.done + len(call.ended) - len(state.numbers))
        self.numbers = np.concatenate([state.numbers, new])
        self.numbering = Numbering(state.numbered)
        self.release = Release(no_matches(), no_matches(), state.start_bounds, -1)

    def find_matches(self) -> Iterator[Matches]:
        """The matches in chunks, numbered: without a skip strategy as they are found, as there may
        be many of a few rows. Raises RunFailure.
        """
        task, found = self.task, self.find_all()
        if task.skip is None:
            chunks = found if task.totals is not None else map(sort_matches, found)
        else:
            self.release = self.decide(list(found))
            chunks = iter([self.release.matches])
        for matches in chunks:
            yield first_matches(task, self.numbering.number_matches(matches))

    def find_all(self) -> Iterator[Matches]:
        task, arrays, stop = self.task, self.arrays, self.call.stop
        start = len(self.state.numbers)
        if stop > start:
            search = resume(task, arrays, self.live, (start, stop))
            yield from search.find_matches()
            search.prune()
            self.live, self.last_live = search.live_runs(), search.work.last_live
        live = self.live
        is_out = arrays.rows.window_end[live.starts] <= stop
        ended = np.asarray(self.call.ended[live.starts] & is_out, np.bool_)
        if self.call.near is not None:
            waiting, window = windows_between(task, live)
            ended[waiting] |= self.call.near[window, live.last_rows[waiting]]
        if not ended.any():
            return
        if arrays.rules.flushes:
            search = resume(task, arrays, live.keep(ended), (stop, TO_THE_END))
            yield from search.find_matches()
            later, before = search.work.last_live, self.last_live
            self.last_live = np.maximum(later, before) if len(before) else later
        self.live = compact(task, arrays, live.keep(~ended), self.call)

    def decide(self, found: list[Matches]) -> Release:
        """Release what a skip strategy has decided on, with rows as numbers. Raises RunFailure."""
        state, numbers, stop = self.state, self.numbers, self.call.stop
        shift, (row, bound) = state.done - len(state.numbers), state.start_bounds.T
        bound = np.where(bound >= 0, np.searchsorted(numbers, bound), -1)
        bounds = np.stack([row - shift, bound], axis=1)
        assert state.held.completed is not None
        waiting = replace(state.held, completed=state.held.completed - shift)
        live, starts = (self.live.first_rows, self.last_live), np.zeros(1, np.int64)
        position = SearchPosition(stop, *live, bounds, starts)
        release = release_matches(self.task, concatenate([waiting, *found]), position)
        assert release.held.completed is not None
        held = replace(release.held, completed=release.held.completed + shift)
        row, bound = release.start_bounds.T
        # the row after all others has a number too
        following = np.append(numbers, numbers[-1] + 1 if len(numbers) else shift)
        bounds = np.stack([row + shift, at(following, bound, -1)], axis=1)
        return replace(release, held=held, start_bounds=bounds)

    def answer(self) -> tuple[SearchState, IntArray]:
        """What the next call needs, once all matches have come: the state of the search, and the
        positions of the rows before `stop` that must be there, ascending.
        """
        task, arrays, call, state = self.task, self.arrays, self.call, self.state
        live, held, last = self.live, self.release.held, self.numbering.found
        after = live.keep(live.starts >= self.release.settled)
        if len(after.runs) < len(live.runs):
            after = compact(task, arrays, after, call)
        if task.most_matches is not None and last >= task.most_matches:
            held = no_matches()
            after = compact(task, arrays, live.keep(np.zeros(len(live.runs), np.bool_)), call)
        linked, extremes = arrays.compiled.linked, extremes_of(task)
        held_rows = [n for n, one in linked.meanings if isinstance(one, RowOf)] if linked else []
        registers = np.array(held_rows, np.int64)
        needed = after.needed_rows(registers, extremes), held.start, held.rows
        kept = find_kept_rows(needed, call, whole=bool(task.absent))
        places = np.full(len(self.numbers), -1, np.int64)
        places[kept] = np.arange(len(kept))
        assert held.rows is not None
        then = SearchState(
            done=state.done + call.stop - len(state.numbers),
            numbered=last,
            numbers=self.numbers[kept],
            live_runs=after.change_rows(places.__getitem__, registers, extremes),
            start_bounds=self.release.start_bounds,
            held=replace(held, start=places[held.start], rows=places[held.rows]),
        )
        return then, kept


def find_possible_starts(task: Task, partitions: Partitions) -> BoolArray:
    """bool[n], false where the conditions on a row say that no run begins with it."""
    compiled = compile_task(task, partitions.integers)
    rules = compiled.rules
    ways = rules.program[: rules.first[rules.starts]]
    if (ways[:, layout.TARGET] < 0).any():
        return np.ones(partitions.rows, np.bool_)
    satisfied = rows_of(partitions, compiled, selects=True).satisfied
    found = np.zeros(partitions.rows, np.bool_)
    for word, mask in ways[:, [layout.WORD, layout.MASK]].tolist():
        found |= satisfied[:, word] & mask == mask
    return found


def windows_between(task: Task, live: LiveRuns) -> tuple[IntArray, IntArray]:
    """The runs that wait in a window between neighbours, and which one it is."""
    near = np.array(task.pattern.folding.near, np.int64)[live.runs[:, layout.RUN_STATE]]
    waiting = np.flatnonzero(near != NOT_NEAR)
    return waiting, near[waiting]


def compact(task: Task, arrays: SearchInput, live: LiveRuns, call: SearchCall) -> LiveRuns:
    search = resume(task, arrays, live, (call.stop, call.stop))
    search.prune()
    return search.live_runs()


def resume(task: Task, arrays: SearchInput, live: LiveRuns, rows: tuple[int, int]) -> RunsSearch:
    """A search that goes on with live runs. rows: where it goes on, and where it stops."""
    search = (RunsSearch if task.totals is None else TotalsSearch)(task, arrays, ROOM)
    start, stop = rows
    search.progress.start = arrays.rows.frontier.start[0] = start
    search.restore(live)
    if stop != TO_THE_END:
        search.progress.goes_on = 1
        arrays.rows.frontier.until[0] = stop
    return search


def find_kept_rows(needed: Iterable[IntArray | None], call: SearchCall, *, whole: bool) -> IntArray:
    """The rows before `stop` that are needed further on, ascending. whole: those between, too."""
    keep = np.zeros(len(call.ended) + 1, np.bool_)
    for rows in needed:
        keep[rows] = True
    first = np.flatnonzero(keep)[:1] if whole else np.zeros(0, np.int64)
    keep[min([call.needed, *first]) :] = True
    return np.flatnonzero(keep[: call.stop])


def keeps_values(task: Task, columns: frozenset[int]) -> bool:
    """Whether a run keeps values of some integer columns, apart from the rows that have them."""
    if not columns:
        return False
    linked = compile_task(task, 1 + max(columns)).linked
    kept = [meaning for _, meaning in linked.meanings] if linked else []
    return any(
        isinstance(meaning, Reduced)
        and meaning.operation in (op.SUM_INTEGER, op.MIN_INTEGER, op.MAX_INTEGER)
        and meaning.column in columns
        for meaning in kept
    )
