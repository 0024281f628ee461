"""Event selection over a stream: the new events of some keys in, what is complete out.

The runs and the shared buffer of each key are kept between two micro-batches, with the events that
these lead to. Keys are searched one after the other, those without a run that could go on or begin
not at all; everything else is done once for all of them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

import numpy as np

from matchrec.compile.executable import Executable
from matchrec.errors.run.place import RowPlace
from matchrec.output.rows import output_rows
from matchrec.search.incremental import (
    FurtherSearch,
    SearchCall,
    SearchState,
    arrays_of,
    find_possible_starts,
    new_state,
    state_of,
    windows_between,
)
from matchrec.search.interface import Task
from matchrec.search.matches import Matches
from matchrec.search.partitions import BoolArray, IntArray, Partitions, ranges
from matchrec.search.records import compile_task
from matchrec.search.selection import extremes_of, in_large_chunks, node_size
from matchrec.spark.streaming.arrival import Array, ByKey, Known, States, join, take, times
from matchrec.spark.streaming.search import (
    IDLE,
    KEPT,
    NEVER,
    NEXT_END,
    KeySearch,
    Searching,
    near_bounds,
    window_bounds,
)
from matchrec.worker.encode import partitions_of
from matchrec.worker.match import Worker, locate_row, naming_rows


@dataclass(frozen=True)
class SelectingSearch(KeySearch):
    def nothing(self) -> States:
        task = self.executable.task
        compiled = compile_task(task, len(self.executable.crossing.integers))
        arrays = arrays_of(new_state(compiled.registers, node_size(task)))
        return {name: ByKey.joined([array]) for name, array in arrays.items()}

    def search(self, states: States, known: Known) -> Searching:
        rows = KnownRows.of(self.executable, states, known, self.end)
        is_quiet = self.find_quiet(states, known, rows)
        quiet, others = np.flatnonzero(is_quiet), np.flatnonzero(~is_quiet)
        after = self.quiet(take(states, quiet), known.new[quiet])
        if not len(others):
            return after
        arrays = {name: one.each() for name, one in states.items()}
        left: list[dict[str, Array]] = []

        def search_keys() -> Iterator[Matches]:
            for place in others.tolist():
                state = state_of({name: each[place] for name, each in arrays.items()})
                left.append((yield from self.search_key(rows, place, state)))

        worker = Worker(self.executable, output=self.output)
        with naming_rows(rows.place):
            for matches in in_large_chunks(search_keys()):
                out = output_rows(matches, self.executable.rows_per_match)
                yield from worker.make_batches(rows.known.rows, rows.partitions, matches, out)
        searched = {name: ByKey.joined([one[name] for one in left]) for name in left[0]}
        return take(join(searched, after), np.argsort(np.append(others, quiet)))

    def search_key(
        self, rows: KnownRows, place: int, state: SearchState
    ) -> Generator[Matches, None, dict[str, Array]]:
        """The matches of one key, and what is needed of it further on."""
        task, own = self.executable.task, rows.of_key(place)
        call = own.call(len(state.numbers))
        search = FurtherSearch(task, state, call)
        with naming_rows(own.place):
            for matches in search.find_matches():
                if matches.count:
                    yield moved(task, matches, place, own.first)
        return self.left(own, call, *search.answer())

    def find_quiet(self, states: States, known: Known, rows: KnownRows) -> BoolArray:
        """bool[p], the keys of which no row is kept and no run begins with a new one."""
        task = self.executable.task
        if task.absent:  # rows are kept in which no run begins
            return np.zeros(len(known.new), np.bool_)
        before = np.append(0, np.cumsum(find_possible_starts(task, rows.partitions)))
        begins = np.diff(before[known.starts]) > 0
        if task.most_matches is not None:  # no run begins after the last match that is asked for
            begins &= states["counts"].values.reshape(-1, 2)[:, 1] < task.most_matches
        return np.asarray((states["numbers"].sizes == 0) & ~begins, np.bool_)

    def quiet(self, states: States, new: IntArray) -> States:
        """What is needed of such keys: their new rows are counted. new: how many each has."""
        counts = states["counts"].values.reshape(-1, 2) + np.stack([new, np.zeros_like(new)], 1)
        return {
            **states,
            "counts": replace(states["counts"], values=counts.ravel()),
            KEPT: ByKey(np.zeros(0, np.int64), np.zeros(len(new), np.int64)),
            NEXT_END: ByKey.one_each(np.full(len(new), NEVER)),
            IDLE: ByKey.one_each(self.may_forget(counts[:, 1])),
        }

    def left(
        self, rows: KnownRows, call: SearchCall, state: SearchState, kept: IntArray
    ) -> dict[str, Array]:
        """What is needed of a key further on. state, kept: see `FurtherSearch.answer`."""
        stop, live = call.stop, state.live_runs
        starts = kept[live.starts]
        ends = rows.bounds[starts][~call.ended[starts]].tolist()  # else the row to stop at decides
        ends += rows.bounds[stop : stop + 1].tolist()
        if rows.near is not None:  # of the windows between neighbours that runs wait in
            waiting, window = windows_between(self.executable.task, live)
            ends += rows.near[window, kept[live.last_rows[waiting]]].tolist()
        is_idle = state.is_idle & self.may_forget(np.array([state.numbered]))
        return {
            **arrays_of(state),
            KEPT: rows.first + np.append(kept, np.arange(stop, len(rows.numbers))),
            NEXT_END: np.array([min(ends, default=NEVER)], np.int64),
            IDLE: is_idle,
        }


def moved(task: Task, matches: Matches, partition: int, first: int) -> Matches:
    """The matches of one of several partitions. first: its first row."""
    if matches.totals is not None:
        totals = matches.totals.copy()
        for extreme in extremes_of(task, 0):
            totals[extreme.held(totals), extreme.row] += first
        matches = replace(matches, totals=totals)
    assert matches.rows is not None
    own = np.full(matches.count, partition)
    return replace(matches, partition=own, start=matches.start + first, rows=matches.rows + first)


@dataclass(frozen=True, slots=True)
class KnownRows:
    """Known events of some keys, or of one. numbers: int64[n], of each in its partition, from 0.

    first: where those of one key are in the table. bounds: when the window ends that begins with a
    row, in microseconds, NEVER without one; near: int64[w, n] or None, the same of windows
    between neighbours.
    """

    executable: Executable
    known: Known
    partitions: Partitions
    times: IntArray
    numbers: IntArray
    bounds: IntArray
    near: IntArray | None
    end: int
    first: int = 0

    @staticmethod
    def of(executable: Executable, states: States, known: Known, end: int) -> KnownRows:
        """states: of the keys. end: when all windows end, as no further row comes."""
        near = near_bounds(executable, known.rows)
        kept, done = states["numbers"], states["counts"].values[::2]
        numbers = np.empty(known.rows.num_rows, np.int64)
        numbers[ranges(known.starts[:-1], kept.sizes)] = kept.values
        numbers[ranges(known.starts[1:] - known.new, known.new)] = ranges(done, known.new)
        partitions = partitions_of(executable, known.rows, known.starts)
        bounds = np.minimum(window_bounds(executable, known.rows), end)
        near = None if near is None else np.minimum(near, end)
        own = times(known.rows), numbers, bounds, near, end
        return KnownRows(executable, known, partitions, *own)

    def of_key(self, place: int) -> KnownRows:
        begin, end = self.partitions.starts[place : place + 2].tolist()
        rows = slice(begin, end)
        partitions, numbers = self.partitions.only(place), self.numbers[rows]
        if self.executable.window_rows is not None:
            ends = np.searchsorted(numbers, numbers + self.executable.window_rows)
            partitions = replace(partitions, window_end=ends.astype(np.int64))
        return replace(
            self,
            partitions=partitions,
            times=self.times[rows],
            numbers=numbers,
            bounds=self.bounds[rows],
            near=None if self.near is None else self.near[:, rows],
            first=begin,
        )

    def place(self, row: int) -> RowPlace:
        """A row as its partition's keys, its number there and its time."""
        number = int(self.numbers[row]) + 1
        place = locate_row(self.executable, self.known.rows, self.first + row, number)
        return replace(place, time=str(np.datetime64(int(self.times[row]), "us")))

    def call(self, kept: int) -> SearchCall:
        """What the search of one key is given. kept: how many rows have been looked at before.

        Absences before a match and after it are looked for in all its window: a row is searched
        when the window that begins with it has ended, and kept while a match may still lie in it.
        """
        near = None if self.near is None else self.near <= self.known.watermark
        ended = np.asarray(self.bounds <= self.known.watermark)
        stop = self.stop(kept)
        return SearchCall(self.partitions, stop, ended, self.needed(stop), near)

    def stop(self, kept: int) -> int:
        """The row before which the search stops."""
        rows, size = len(self.numbers), self.executable.window_rows
        if all(one.before is not None for one in self.executable.task.absent):
            return rows
        if self.end <= self.known.watermark:
            return rows
        if size is not None:
            return max(kept, rows - size + 1)
        return max(kept, int(np.searchsorted(self.bounds, self.known.watermark, side="right")))

    def needed(self, stop: int) -> int:
        """The first row from which on all are kept."""
        size = self.executable.window_rows
        if all(one.after is not None for one in self.executable.task.absent):
            return stop
        if size is not None:
            end = int(self.numbers[-1]) + 1 if len(self.numbers) else 0
            number = int(self.numbers[stop]) if stop < len(self.numbers) else end
            return min(stop, int(np.searchsorted(self.numbers, number - size, side="right")))
        time = min([self.known.watermark, *self.times[stop : stop + 1].tolist()])
        return min(stop, int(np.searchsorted(self.bounds, time, side="right")))
