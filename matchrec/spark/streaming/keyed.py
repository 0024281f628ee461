"""The function of Spark's stateful operator: the new events of a key in, what is complete out.

Events wait until the watermark has passed them; then they are put in order and searched. What the
search still needs is kept with its runs. Nothing is at its end because a batch is: a window ends
when the watermark passes its end, for which an event-time timer is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
from matchrec.engine.matches import RunFailure
from matchrec.engine.partitions import BoolArray, IntArray, Partitions
from matchrec.engine.windows import ends_by_number
from matchrec.errors.run.failures import sum_too_large
from matchrec.errors.run.place import Place
from matchrec.output.aggregates import SumOverflow
from matchrec.output.measures import Reader
from matchrec.output.reads import ReadMatchNumber
from matchrec.output.rows import output_rows
from matchrec.spark import wire
from matchrec.spark.streaming.arrival import Order, arrange, times
from matchrec.spark.streaming.group import FOREVER, Group, wake, window_bounds
from matchrec.spark.streaming.memory import Memory, dump, load
from matchrec.spark.worker.arrays import as_integers, column
from matchrec.spark.worker.encode import partitions_of, value_at
from matchrec.spark.worker.failures import run_error
from matchrec.spark.worker.gather import Gatherer


@dataclass(frozen=True)
class Keyed:
    """Runs an executable over the events of one key. Picklable.

    schema: of the rows as they are kept. orders: columns beside the time that put them in order.
    query: a digest of what is asked.
    """

    executable: Executable
    schema: pa.Schema
    orders: tuple[Order, ...]
    query: str

    def batch(self, new: Iterable[pa.RecordBatch], group: Group) -> Iterator[pa.RecordBatch]:
        """The output rows of what is complete now; the state is kept in the group."""
        memory = load(group.get[0], self.query) if group.exists else self.nothing()
        watermark = group.getCurrentWatermarkMs() * 1000
        rows = Rows.of(self, memory, list(new), watermark)
        answer = self.answer(rows)
        if answer.matches.count:
            yield self.written(rows, answer)
        self.keep(rows, answer, group)

    def nothing(self) -> Memory:
        """What is known of a key without events."""
        state = new_state(
            registers_of(self.executable.task, len(self.executable.crossing.integers))
        )
        return Memory(None, arrays_of(state), self.schema.empty_table())

    def answer(self, rows: Rows) -> Answer:
        """What the search says. Raises MatchRecognizeRunError."""
        try:
            return search_further(self.executable.task, rows.state, rows.call())
        except RunFailure as failure:
            place = self.place(failure.row, rows)
            raise run_error(failure, place) from failure

    def written(self, rows: Rows, answer: Answer) -> pa.RecordBatch:
        """The reads of what comes out."""
        task = self.executable.task
        out = output_rows(answer.matches, self.executable.rows_per_match)
        variables = len(task.variables)
        reader = Reader(answer.matches, out, rows.partitions, task.members, variables)
        try:
            return Gatherer(self.executable, rows.known, reader).batch()
        except SumOverflow as overflow:
            place = self.place(overflow.row, rows)
            raise sum_too_large(overflow.type_name, place) from overflow

    def keep(self, rows: Rows, answer: Answer, group: Group) -> None:
        """Store what is needed further on, and ask to be called when something may end."""
        kept = rows.known.take(pa.array(answer.kept))
        pending = rows.known.slice(rows.stop)
        left = pa.concat_tables([kept, pending, rows.later]).combine_chunks()
        counts = any(isinstance(read, ReadMatchNumber) for read in self.executable.reads)
        if answer.state.is_idle and not left.num_rows and not counts:
            if group.exists:
                group.remove()
            return
        memory = Memory(rows.passed, arrays_of(answer.state), left)
        group.update((dump(memory, self.query),))
        starts = answer.kept[answer.state.live_runs.starts]
        ends = rows.bounds[starts][~rows.ended[starts]].tolist()  # else the row to stop at decides
        ends += rows.bounds[rows.stop : rows.stop + 1].tolist()
        ends += self.near_ends(rows, answer).tolist()
        ends += times(rows.later)[:1].tolist()
        wake(group, min(ends, default=FOREVER), rows.watermark)

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
    order; later: those that wait. stop: the row before which the search stops. bounds: when the
    window ends that begins with a known row, in microseconds, FOREVER without one; near:
    int64[w, n] or None, the same of windows between neighbours. passed: see `Memory`.
    """

    state: SearchState
    known: pa.Table
    later: pa.Table
    partitions: Partitions
    numbers: IntArray
    bounds: IntArray
    near: IntArray | None
    watermark: int
    passed: int
    stop: int
    needed: int

    @staticmethod
    def of(keyed: Keyed, memory: Memory, new: list[pa.RecordBatch], watermark: int) -> Rows:
        """memory: of the key. new: its new events. watermark: in microseconds."""
        executable, state = keyed.executable, state_of(memory.arrays)
        arrived = arrange(memory, len(state.numbers), new, keyed.orders, watermark)
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
            arrived.later,
            partitions,
            numbers,
            bounds,
            near_bounds(executable, known),
            watermark,
            arrived.passed,
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
