"""One search: the records that a kernel reads, the arrays that it works in, the loop around it.

A kernel searches all partitions in one call. When the output is full, the matches so far are handed
on and the kernel is called again, so that the matches of a chunk, not all of them, are in memory;
when its own memory is full, that grows. Only what must be in one chunk makes chunks grow: a match,
and with event selection those of a starting row or of a row that completes them.

With event selection matches are handed on in the order in which they are complete: by partition,
last row, first row, then row positions, then variables; equal ones once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial, reduce
from math import prod
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from matchrec import memory
from matchrec.automaton.closure import may_map_twice
from matchrec.automaton.program import A_MATCH, FIRST_NEAR, TIMED_OUT
from matchrec.conditions.functions.function import AnsiError
from matchrec.errors.run import failures
from matchrec.errors.streams import stream_without_room
from matchrec.jit.decorators import read_only
from matchrec.plan.clauses import MatchOutput
from matchrec.search.interface import Room, Task
from matchrec.search.kernels import chained, depth_first, distances, layout, preferred
from matchrec.search.kernels.buffer import compact
from matchrec.search.matches import Chains, Matches, RunFailure
from matchrec.search.partitions import NO_EDGE, BoolArray, IntArray
from matchrec.search.records import SearchInput
from matchrec.shortcuts import taken

Shapes = dict[str, tuple[tuple[int, ...], type]]  # arrays of `Work` by their names

NODES_OF_A_RUN = 16
MANY_NODES = 1 << 13
LEAST_OUTPUT = 1 << 12  # matches
BYTES_COMING_OUT = 128  # about; of a mapped row, until it has left the worker
STEPS_A_SECOND = 1 << 14  # of Python

_FAILURES = {
    layout.SKIP_TO_NO_ROW: failures.skip_to_no_row,
    layout.SKIP_TO_FIRST_ROW: failures.skip_to_first_row,
    layout.OVERFLOW: failures.overflow_in_condition,
    layout.DIVISION_BY_ZERO: failures.division_by_zero,
    layout.FUNCTION_FAILED: failures.function_failed,
    layout.TOO_MANY_STEPS: failures.too_many_steps,
}
CONDITION_FAILURES = (layout.OVERFLOW, layout.DIVISION_BY_ZERO, layout.FUNCTION_FAILED)


def at_most(room: Room, most: Room) -> Room:
    rows, matches = min(room.rows, most.rows), min(room.matches, most.matches)
    return replace(room, rows=rows, matches=matches)


class KernelSearch(ABC):
    """One search of one task. kernel: what searches in `work`. begins_anew: see `beginnings`. room:
    of a chunk, and at first. counters: to which it adds, at its end, what it has counted.
    """

    kernel: Any
    begins_anew: ClassVar[bool] = False

    def __init__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None = None
    ) -> None:
        if self.begins_anew and taken().beginnings:
            begins = read_only(beginnings(task, arrays.rules, arrays.rows))
            arrays = replace(arrays, rows=arrays.rows._replace(begins=begins))
        self.task, self.arrays, self.room, self.counters = task, arrays, room, counters
        self.rules = arrays.rules
        self.work = initial_work(task, arrays)
        self.steps_left: int | None = None  # that Python may take
        arrays.show_to_python(lambda: self.work)
        size = max(room.memory, 2)
        self.sizes = dict.fromkeys((layout.PATH_FULL, layout.MEMO_FULL, layout.RUNS_FULL), size)
        self.sizes[layout.NODES_FULL] = NODES_OF_A_RUN * size
        self.make_room()

    @property
    def progress(self) -> layout.Progress:
        return self.work.progress

    @property
    def hooks(self) -> tuple[Any, Any]:
        """What the kernel takes beside the records: the registers, or with event selection the
        negation; then what is added up or counted. None where it does nothing about it.
        """
        given = self.arrays.negation if self.arrays.selects else self.work.registers
        return given, self.arrays.totals

    def find_matches(self) -> Iterator[Matches]:
        """The matches in chunks, as the kernel finds them. Raises RunFailure."""
        progress = self.progress
        matches = rows = 0  # at least
        # no more than few rows have at first: large arrays take milliseconds to come by
        few = max(int(self.arrays.rows.starts[-1]), LEAST_OUTPUT)
        status = layout.OUTPUT_FULL
        while status == layout.OUTPUT_FULL:
            room = at_most(self.room, Room(rows=16 * few, matches=few))
            matches, rows = max(matches, room.matches), max(rows, room.rows)
            output = self.output(matches, rows)
            output.found[layout.FOUND_OFFSET, 0] = 0
            self.work = self.work._replace(output=output)
            progress.matches = progress.mapped = 0
            status = self.advance()
            while layout.OUTPUT_FULL < status < layout.SKIP_TO_NO_ROW:
                self.grow(status)
                status = self.advance()
            self.raise_failure(status)
            if progress.matches:
                yield self.matches(output)
            elif status == layout.OUTPUT_FULL:
                matches, rows = 2 * matches, max(2 * rows, int(progress.needed))
        done, most = self.work.counters, layout.MOST_LIVE
        if self.counters is not None and done is not None:
            live = max(self.counters[most], done[most])
            self.counters += done
            self.counters[most] = live

    def advance(self) -> int:
        """Call the kernel; while its code is not there, have Python take its first steps over few
        rows. Returns the kernel's status.

        Totals are of two words each, which Python's numbers do not make: they are compiled.
        """
        arguments = self.rules, self.arrays.rows, self.work, *self.hooks
        if self.steps_left is None:
            few = self.arrays.rows.starts[-1] <= taken().few_steps
            is_asked = few and self.arrays.totals is None
            self.steps_left = self.kernel.steps_left(arguments) if is_asked else 0
        if self.steps_left > 0:
            before = self.steps_left
            status = self.advance_by_python(*arguments)
            self.kernel.count_steps(before - self.steps_left, arguments)
            if status != layout.TOO_MANY_STEPS:
                return status
            self.steps_left = 0
        return int(self.kernel(*arguments))

    def advance_by_python(
        self, rules: layout.Rules, rows: layout.RowArrays, work: layout.Work, *hooks: Any
    ) -> int:
        """As the kernel, unless that takes more steps than are left: TOO_MANY_STEPS.

        Then the search is where it was before the starting row, or the row, that took too many.
        """
        progress, search_start = layout.fields_of(self.progress), self.kernel.part("search_start")
        limit = progress.step_limit

        def search_few(*arguments: Any) -> int:
            assert self.steps_left is not None
            if self.steps_left <= 0:
                return layout.TOO_MANY_STEPS
            mapped, steps, begun = progress.mapped, progress.step_count, perf_counter()
            progress.step_limit = min(limit, steps + self.steps_left)
            status = int(search_start(*arguments))
            counted = 1 + progress.count + progress.mapped - mapped + progress.step_count - steps
            slow = int((perf_counter() - begun) * STEPS_A_SECOND)  # ways on the data are no steps
            self.steps_left -= max(counted, slow)
            if status == layout.TOO_MANY_STEPS:
                progress.step_count = steps
            return status

        arguments = rules, rows, work._replace(progress=progress), *hooks
        try:
            return int(self.kernel.by_python(*arguments, search_start=search_few))
        finally:
            progress.step_limit = limit

    @property
    @abstractmethod
    def shapes(self) -> Shapes:
        """The arrays that the search works in, as large as `sizes` says."""

    def make_room(self) -> None:
        """Make the arrays as large as `sizes` says; what smaller ones hold stays."""
        for name, (shape, dtype) in self.shapes.items():
            before = getattr(self.work, name)
            if before is None or before.shape != shape:
                array = self.new_array(np.zeros, shape, dtype)
                if before is not None:
                    array[tuple(map(slice, before.shape))] = before
                self.work = self.work._replace(**{name: array})
        linked = self.arrays.compiled.linked
        if linked is not None:
            self.work.registers[0] = linked.initial

    def new_array(self, make: Callable[..., Any], shape: tuple[int, ...], dtype: Any) -> Any:
        """A new array. Raises RunFailure where there is no room for it."""
        size = prod(shape) * np.dtype(dtype).itemsize
        self.check_most(size)
        if memory.has_room(size):
            with suppress(MemoryError):
                return make(shape, dtype)
        builds_all = self.task.output is MatchOutput.ALL and self.task.totals is None
        message = failures.no_room_for_matches if builds_all else failures.no_room_for_search
        raise RunFailure(message, int(self.progress.start), {"mebibytes": size >> 20})

    def check_most(self, size: int) -> None:
        most = self.room.most
        if most is not None and not memory.may_take(size, most):
            row = min(int(self.progress.start), int(self.arrays.rows.starts[-1]) - 1)
            fields = {"mebibytes": size >> 20, "limit": most >> 20}
            raise RunFailure(stream_without_room, row, fields)

    def grow(self, status: int) -> None:
        """At least double what `status` says is full; what a ring has remembered is forgotten."""
        size = 2 * self.sizes[status]
        while status == layout.MEMO_FULL and size < self.progress.needed:
            size *= 2
        self.sizes[status] = size
        self.make_room()
        if status == layout.MEMO_FULL:
            self.progress.memo_to = self.progress.start

    def output(self, matches: int, rows: int) -> layout.FoundArrays:
        self.check_most(rows * BYTES_COMING_OUT)
        new = partial(self.new_array, np.empty)
        found, taken = new((layout.FOUND_SIZE, matches + 1), np.int64), new((rows,), np.int32)
        positions = new((rows,), np.int64) if self.arrays.selects else None
        return layout.FoundArrays(found, taken, positions)

    def matches(self, output: layout.FoundArrays) -> Matches:
        """The matches in an output; with event selection, without numbers."""
        count, mapped = self.progress.matches, self.progress.mapped
        found = output.found[:, :count]
        matches = Matches(
            partition=found[layout.FOUND_PARTITION],
            number=found[layout.FOUND_NUMBER],
            start=found[layout.FOUND_START],
            offsets=output.found[layout.FOUND_OFFSET, : count + 1],
            classifiers=np.empty(mapped, np.int16),
            excluded=np.zeros(mapped, np.bool_),
        )
        self.look_up(layout.VARIABLE, output.taken, matches.classifiers)
        if self.rules.program[:, layout.EXCLUDED].any():
            self.look_up(layout.EXCLUDED, output.taken, matches.excluded)
        if not self.arrays.selects:
            return matches
        is_preferred = self.task.output is MatchOutput.PREFERRED  # which nobody ranks
        completed = None if is_preferred else found[layout.FOUND_COMPLETED]
        number, rows = np.zeros(count, np.int64), output.rows[:mapped]
        kind = found[layout.FOUND_KIND]
        matches = replace(matches, number=number, rows=rows, completed=completed, kind=kind)
        return matches if self.arrays.ends is None else by_first_end(matches, self.arrays.ends)

    def look_up(self, column: int, choices: layout.ChoiceArray, found: npt.NDArray[Any]) -> None:
        of_choice = self.rules.program[:, column].astype(found.dtype)
        # to clip is to write at once: no choice is out of bounds
        np.take(of_choice, choices[: len(found)], out=found, mode="clip")

    def raise_failure(self, status: int) -> None:
        message = _FAILURES.get(status)
        if message is None:
            return
        progress, task = self.progress, self.task
        row, fields = progress.row, dict[str, object](variable=task.after_match.variable)
        if status in CONDITION_FAILURES:
            fields["variable"] = task.variables[self.rules.program[progress.choice, layout.TEST]]
        if status == layout.TOO_MANY_STEPS:
            row, fields = progress.start, {"limit": task.max_steps}
        if status == layout.FUNCTION_FAILED:
            assert self.arrays.python is not None
            error = self.arrays.python.failed()
            fields["reason"] = str(error)
            if isinstance(error, AnsiError):
                message = failures.function_failed_under_ansi
        raise RunFailure(message, int(row), fields)

    def registers_of(self, runs: int) -> Shapes:
        """Registers before the first row of a run, then those of so many runs; or none at all."""
        if self.arrays.compiled.linked is None and not self.arrays.selects:
            return {}
        return {"registers": ((runs + 1, self.arrays.compiled.registers), np.int64)}

    def table_of(self, size: int) -> Shapes:
        """The hash table of computation states, of which it may hold half as many."""
        columns = layout.TABLE_REGISTERS + self.arrays.compiled.registers
        return {"table": ((size, columns), np.int64)}

    @property
    def memo(self) -> Shapes:
        return {"memo": ((self.sizes[layout.MEMO_FULL], -(-self.remembered // 8)), np.uint8)}

    @property
    def remembered(self) -> int:
        return int(self.arrays.rules.program[:, layout.MEMO].max(initial=-1)) + 1


def initial_work(task: Task, arrays: SearchInput) -> layout.Work:
    """What every search works in. Whoever goes on from it makes the arrays that are its own."""
    rows = arrays.rows.starts[-1] if needs_release_times(task) else 0
    stack = arrays.python.stack if arrays.python else None
    if arrays.selects and stack is None:
        stack = np.zeros((2, 1), np.int64)
    progress = layout.new_progress()
    progress.start = progress.memo_from = progress.memo_to = arrays.rows.starts[0]
    progress.best_start = progress.memo_window = progress.unfinished_in = -1
    progress.partition = -1
    progress.match_kind = A_MATCH
    progress.match_limit = layout.NO_LIMIT
    if task.most_matches is not None and task.skip is None:
        is_all = task.output is MatchOutput.ALL
        if not (is_all and may_map_twice(task.pattern.folding, task.waits)):  # each is found once
            progress.match_limit = task.most_matches
    steps = None if task.selects else task.max_steps
    progress.step_limit = min(steps or layout.NO_LIMIT, layout.NO_LIMIT)
    return layout.Work(
        progress=progress,
        stack=stack,
        counters=np.zeros(layout.COUNTERS, np.int64) if arrays.selects else None,
        last_live=np.full(rows, -1, np.int64) if arrays.selects else None,
    )


def needs_release_times(task: Task) -> bool:
    """Whether it matters when a match is released: runs that time out before it come out too."""
    return task.stages is not None and task.stages.timeouts and task.skip is not None


def by_first_end(matches: Matches, ends: IntArray) -> Matches:
    """Matches, each run that timed out by the first window of those that end at that time: so it is
    the same in whichever place it waited.
    """
    assert matches.kind is not None
    assert matches.rows is not None
    timed_out = np.flatnonzero(matches.kind >= FIRST_NEAR)
    last = matches.rows[matches.offsets[timed_out + 1] - 1]
    near = ends[1:, last]
    time = near[matches.kind[timed_out] - FIRST_NEAR, np.arange(len(timed_out))]
    kind = matches.kind.copy()
    whole = ends[0, matches.start[timed_out]] <= time
    kind[timed_out] = np.where(whole, TIMED_OUT, FIRST_NEAR + (near == time).argmax(axis=0))
    return replace(matches, kind=kind)


class PathSearch(KernelSearch):
    """The path of the one run, its computation state at each depth, the failures remembered."""

    def __init__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None = None
    ) -> None:
        super().__init__(task, arrays, room, counters)
        if task.absent or needs_release_times(task):
            self.remember_nothing()  # a way that leads to no match may still matter

    @property
    def keeps_states(self) -> bool | None:
        """Whether computation states are kept that a starting row has seen; None where never."""
        return None

    def remember_nothing(self) -> None:
        program = self.rules.program.copy()
        program[:, layout.MEMO] = layout.NOT_REMEMBERED
        self.rules = self.rules._replace(program=program)

    @property
    def shapes(self) -> Shapes:
        size, selects = self.sizes[layout.PATH_FULL], self.arrays.selects
        path: Shapes = {"path": ((size,), np.int32)}
        if selects:
            path = {"path": ((layout.PATH_SIZE, size), np.int64)}
        shapes = path | self.memo | self.registers_of(size)
        if self.keeps_states is not None:
            shapes |= self.table_of(self.sizes[layout.RUNS_FULL] if self.keeps_states else 0)
        return shapes


class BufferSearch(KernelSearch):
    """All runs at once, with the shared buffer of their rows; equal runs merge."""

    @property
    def shapes(self) -> Shapes:
        runs, nodes = self.sizes[layout.RUNS_FULL], self.sizes[layout.NODES_FULL]
        buffer: Shapes = {
            "runs": ((2, runs, layout.RUN_SIZE), np.int64),
            "nodes": ((nodes, layout.NODE_SIZE), np.int64),
        }
        return buffer | self.table_of(2 * runs) | self.registers_of(2 * runs)

    @property
    def windows(self) -> tuple[layout.RunArray, layout.RunArray]:
        """What the buffer is pruned by: the ends of windows, and the counters."""
        return self.arrays.rows.window_end, self.work.counters

    def prune(self) -> None:
        """Drop the nodes to which no run leads; called between two rows."""
        work, row = self.work, int(self.progress.start) - 1
        moved = self.new_array(np.empty, work.nodes.shape[:1], work.nodes.dtype)
        compact(row, *self.windows, work.runs, work.nodes, moved, work.progress)

    def grow(self, status: int) -> None:
        """Double what is full; of nodes if dropping some leaves many, or if one row needs more.

        A small room is doubled at once, so that few searches have to compile what drops nodes.
        """
        size, progress = self.sizes[status], self.progress
        if status == layout.NODES_FULL and MANY_NODES <= size < 2 * progress.nodes:
            self.prune()
            if 4 * progress.nodes <= size:
                return
        super().grow(status)


class BreadthFirstSearch(BufferSearch):
    """All runs at once, for the preferred match of each starting row, or for its longest one."""

    kernel = staticmethod(preferred.search)

    @property
    def shapes(self) -> Shapes:
        """Where rows follow each other, a node does not say which row it is."""
        nodes, states = self.sizes[layout.NODES_FULL], len(self.rules.first) - 1
        shapes = super().shapes | self.memo
        if "registers" not in shapes:
            shapes["table"] = ((states, layout.TABLE_STATE), np.int64)
        columns = layout.NODE_ROW + self.arrays.selects
        return shapes | {"nodes": ((nodes, columns), np.int32)}

    @property
    def windows(self) -> tuple[layout.RunArray, layout.RunArray]:
        """A node leads to one match only, whose run has its window."""
        return None, None

    @property
    def hooks(self) -> tuple[Any, Any]:
        return self.work.registers, self.rules.waits

    def grow(self, status: int) -> None:
        if status == layout.RUNS_FULL:
            least = 8 * self.sizes[layout.RUNS_FULL]
            self.sizes[layout.NODES_FULL] = max(self.sizes[layout.NODES_FULL], least)
        super().grow(status)


# With which rows a match may begin, so that a search need not try all others.
#
# Proven for searches that begin anew with the row after one that begins no match. Looked at are the
# first rows of a match up to one of which a condition on the run is asked: so no row is left out
# whose search would fail. Where steps are limited each row that is taken is one: then the first.

LOOKED_AT = 8  # rows of a match
FEW = 16  # rows for each one with which a match may begin, so that no more have to be left out


def beginnings(task: Task, rules: layout.Rules, rows: layout.RowArrays) -> BoolArray:
    """bool[n], whether a match may begin with a row, by the row conditions of its first rows.

    bool[0] where most rows are such. Of the rows after those that are here, nothing is known; nor
    are partitions told apart.
    """
    edges, found = rows.frontier.edge, np.ones(len(rows.satisfied), np.bool_)
    if task.stages is not None or (edges[:-1] != NO_EDGE).any():
        return found[:0]
    satisfied = rows.satisfied[: edges[-1]] if len(edges) else rows.satisfied
    asks = rules.program[:, layout.CODE] < rules.program[:, layout.CODE_END]
    looked_at = 1 if task.max_steps is not None and asks.any() else LOOKED_AT
    masks = rules.program[:, layout.MASK].astype(np.uint64)
    bits = satisfied.astype(np.min_scalar_type(np.bitwise_or.reduce(masks)))  # mostly one byte
    states = {0}
    for depth in range(min(looked_at, len(satisfied))):
        is_choice = [source in states for source in rules.program[:, layout.SOURCE].tolist()]
        states = {*rules.program[is_choice, layout.TARGET].tolist()}
        if layout.ACCEPT in states:
            break
        words = rules.program[is_choice, layout.WORD].tolist()
        tests = {*zip(words, masks[is_choice].tolist(), strict=True)}
        if all(mask for _, mask in tests):
            hold = (bits[depth:, word] & mask == mask for word, mask in tests)
            found[: len(satisfied) - depth] &= reduce(np.logical_or, hold, np.False_)
            if FEW * np.count_nonzero(found) < len(found):
                break
        if asks[is_choice].any():
            break
    return found if 2 * np.count_nonzero(found) < len(found) else found[:0]


# The searches which skip no row and find one match of each starting row.


class BacktrackingSearch(PathSearch):
    """One run at a time, of which nothing is counted."""

    kernel = staticmethod(depth_first.search)
    begins_anew = True


class DistanceSearch(KernelSearch):
    """How far acceptance is from each state and row, and the path of the one run."""

    kernel = staticmethod(distances.search)
    begins_anew = True

    @property
    def shapes(self) -> Shapes:
        rows, states = self.sizes[layout.MEMO_FULL], len(self.rules.first) - 1
        paths: Shapes = dict.fromkeys(("path", "best_before"), ((rows,), np.int32))
        return paths | {"known": ((rows, states), np.int32)}


class ChainedSearch(KernelSearch):
    """What is known of states and rows, and the path of the one run."""

    kernel = staticmethod(chained.search)
    begins_anew = True

    @property
    def shapes(self) -> Shapes:
        rows = self.sizes[layout.MEMO_FULL]
        return {"path": ((rows,), np.int32), "known": ((rows, self.remembered), np.int32)}

    def output(self, matches: int, rows: int) -> layout.FoundArrays:
        """An empty output; what is known leads into the one before, and is forgotten."""
        self.progress.memo_to = self.progress.start
        nodes = self.new_array(np.empty, (chained.CHAIN_SIZE, rows), np.int32)
        return super().output(matches, 0)._replace(taken=nodes)

    def matches(self, output: layout.FoundArrays) -> Matches:
        nodes = output.taken[:, : self.progress.mapped]
        found = super().matches(output._replace(taken=nodes[chained.CHAIN_CHOICE]))
        first = output.found[chained.FOUND_FIRST, : found.count]
        rows = nodes[chained.CHAIN_ROW].astype(np.int64)
        return replace(found, rows=rows, chains=Chains(first, nodes[chained.CHAIN_NEXT]))
