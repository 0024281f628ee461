"""Event selection over a stream: the new events of a key in, what is complete out.

The runs and the shared buffer are kept between two micro-batches, with the events that these lead
to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from matchrec.compile.executable import Executable
from matchrec.engine.compiled import compile_task
from matchrec.engine.incremental.search import (
    Answer,
    Call,
    registers_of,
    search_further,
    windows_between,
)
from matchrec.engine.incremental.state import SearchState, arrays_of, new_state, state_of
from matchrec.engine.matches import Matches, RunFailure
from matchrec.engine.partitions import BoolArray, IntArray, Partitions
from matchrec.engine.windows import ends_by_number
from matchrec.errors.run.failures import sum_too_large
from matchrec.errors.run.place import Place
from matchrec.output.aggregates import SumOverflow
from matchrec.output.measures import Reader
from matchrec.output.reads import ReadMatchNumber
from matchrec.output.rows import output_rows
from matchrec.spark import wire
from matchrec.spark.streaming.arrival import Arrived, times
from matchrec.spark.streaming.group import FOREVER, window_bounds
from matchrec.spark.streaming.memory import Arrays
from matchrec.spark.streaming.search import KeySearch, Left, Searching
from matchrec.spark.worker.arrays import as_integers, column
from matchrec.spark.worker.encode import partitions_of, value_at
from matchrec.spark.worker.failures import run_error
from matchrec.spark.worker.gather import Gatherer


@dataclass(frozen=True)
class Keyed(KeySearch):
    """Runs an executable of event selection over the events of one key. Picklable."""

    def nothing(self) -> Arrays:
        integers = len(self.executable.crossing.integers)
        return arrays_of(new_state(registers_of(self.executable.task, integers)))

    def searched(self, arrays: Arrays) -> int:
        return len(arrays["numbers"])

    def search(self, arrays: Arrays, arrived: Arrived, watermark: int) -> Searching:
        rows = Rows.of(self.executable, state_of(arrays), arrived, watermark)
        answer = self.answer(rows)
        if answer.matches.count:
            yield from self.written(rows, answer.matches)
        return self.left(rows, answer)

    @property
    def counts(self) -> bool:
        """Whether the number of matches is asked for."""
        return ReadMatchNumber() in self.executable.reads

    def answer(self, rows: Rows) -> Answer:
        """What the search says. Raises MatchRecognizeRunError."""
        try:
            return search_further(self.executable.task, rows.state, rows.call())
        except RunFailure as failure:
            place = self.place(failure.row, rows)
            raise run_error(failure, place) from failure

    def written(self, rows: Rows, matches: Matches) -> Iterator[pa.RecordBatch]:
        """The output rows of what comes out. Raises MatchRecognizeRunError."""
        try:
            yield from self.gather(rows, matches)
        except SumOverflow as overflow:
            place = self.place(overflow.row, rows)
            raise sum_too_large(overflow.type_name, place) from overflow

    def gather(self, rows: Rows, matches: Matches) -> Iterator[pa.RecordBatch]:
        """The reads of what comes out."""
        task = self.executable.task
        out = output_rows(matches, self.executable.rows_per_match)
        reader = Reader(matches, out, rows.partitions, task.members, len(task.variables))
        yield Gatherer(self.executable, rows.known, reader).batch()

    def left(self, rows: Rows, answer: Answer) -> Left:
        """What is needed further on, and when something may end."""
        state = answer.state
        kept = rows.known.take(pa.array(answer.kept))
        pending = rows.known.slice(rows.stop)
        starts = answer.kept[state.live_runs.starts]
        ends = rows.bounds[starts][~rows.ended[starts]].tolist()  # else the row to stop at decides
        ends += rows.bounds[rows.stop : rows.stop + 1].tolist()
        ends += self.near_ends(rows, answer).tolist()
        return Left(
            arrays_of(state),
            pa.concat_tables([kept, pending]),
            min(ends, default=FOREVER),
            state.is_idle and not (self.counts and state.numbered),
        )

    def near_ends(self, rows: Rows, answer: Answer) -> IntArray:
        """When the windows between neighbours end that runs wait in; microseconds."""
        if rows.near is None:
            return np.zeros(0, np.int64)
        compiled = compile_task(self.executable.task, len(self.executable.crossing.integers))
        live = answer.state.live_runs
        waiting, window = windows_between(compiled, live)
        return np.asarray(rows.near[window, answer.kept[live.last_rows[waiting]]], np.int64)

    def place(self, row: int, rows: Rows) -> Place:
        """A row as its partition's keys and its number there."""
        names = self.executable.crossing.keys
        keys = {name: value_at(rows.known, wire.column(place), row) for name, place in names}
        return Place(keys, int(rows.numbers[row]) + 1, bool(self.executable.relevant))


@dataclass(frozen=True)
class Rows:
    """The events of a key in one micro-batch.

    known: those that the search needs from before, then those that the watermark has passed, in
    order. stop: the row before which the search stops. bounds: when the window ends that begins
    with a known row, in microseconds, FOREVER without one; near: int64[w, n] or None, the same of
    windows between neighbours.
    """

    state: SearchState
    known: pa.Table
    partitions: Partitions
    numbers: IntArray
    bounds: IntArray
    near: IntArray | None
    watermark: int
    stop: int
    needed: int

    @staticmethod
    def of(executable: Executable, state: SearchState, arrived: Arrived, watermark: int) -> Rows:
        """state: of the key. arrived: its events. watermark: in microseconds."""
        known, passed = arrived.known, arrived.new
        numbers = np.append(state.numbers, np.arange(state.done, state.done + passed))
        starts = np.array([0, known.num_rows])
        partitions = partitions_of(executable, known, starts)
        if executable.window_rows is not None:
            ends = ends_by_number(numbers, executable.window_rows)
            partitions = replace(partitions, window_end=ends)
        bounds = window_bounds(executable, known)
        edges = Edges(executable, len(state.numbers), numbers, bounds, times(known), watermark)
        stop = edges.stop()
        return Rows(
            state,
            known,
            partitions,
            numbers,
            bounds,
            near_bounds(executable, known),
            watermark,
            stop,
            edges.needed(stop),
        )

    def call(self) -> Call:
        """What the search is given."""
        near = None if self.near is None else self.near <= self.watermark
        return Call(self.partitions, self.stop, self.ended, self.needed, near)

    @property
    def ended(self) -> BoolArray:
        """Whether the watermark has passed the end of a row's window."""
        return np.asarray(self.bounds <= self.watermark)


@dataclass(frozen=True, slots=True)
class Edges:
    """Which of the known rows are searched, and which are kept afterwards.

    Absences before a match and after it are looked for in all its window: a row is searched
    when the window that begins with it has ended, and kept while a match may still lie in it.
    """

    executable: Executable
    kept: int
    numbers: IntArray
    bounds: IntArray
    times: IntArray
    watermark: int

    def stop(self) -> int:
        """The row before which to stop."""
        rows, size = len(self.numbers), self.executable.window_rows
        if all(one.before is not None for one in self.executable.task.absent):
            return rows
        if size is not None:
            return max(self.kept, rows - size + 1)
        return max(self.kept, int(np.searchsorted(self.bounds, self.watermark, side="right")))

    def needed(self, stop: int) -> int:
        """The first row from which on all are kept."""
        size = self.executable.window_rows
        if all(one.after is not None for one in self.executable.task.absent):
            return stop
        if size is not None:
            behind = int(self.numbers[-1]) + 1 if len(self.numbers) else 0
            number = int(self.numbers[stop]) if stop < len(self.numbers) else behind
            return min(stop, int(np.searchsorted(self.numbers, number - size, side="right")))
        time = min([self.watermark, *self.times[stop : stop + 1].tolist()])
        return min(stop, int(np.searchsorted(self.bounds, time, side="right")))


def near_bounds(executable: Executable, rows: pa.Table) -> IntArray | None:
    """int64[w, n], when windows between neighbours end that begin with a row; microseconds."""
    near = executable.crossing.ends[1 if executable.crossing.window else 0 :]
    if not near:
        return None
    if not rows.num_rows:
        return np.zeros((len(near), 0), np.int64)
    return np.stack([as_integers(column(rows, wire.column(i))) for i in near])
