"""The loop around a kernel: it gives the kernel arrays, makes them grow and takes matches away.

A kernel searches all partitions in one call and returns a status when something is full or has
failed. `KernelSearch.find_matches` then acts on the status and calls the kernel again:

    output full      yield the matches found so far, and make a new output
    own arrays full  make them larger: the path, the memo, the runs or the nodes
    failure          raise RunFailure

So only the matches of one chunk are in memory, not all of them. A chunk grows only if it must hold
more: one match, or, with event selection, all matches of a starting row or of the row that
completes them.

With event selection, matches are returned in the order in which they are complete: by partition,
last row, first row, then row positions, then variables. Equal matches are returned once.

A kernel takes long to compile. Until its machine code is there, Python runs the first steps of a
search over few rows: see `KernelSearch.advance`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from math import prod
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from matchrec import memory
from matchrec.automaton.closure import may_map_twice
from matchrec.automaton.program import A_MATCH, FIRST_NEAR, TIMED_OUT
from matchrec.conditions.functions.function import AnsiError
from matchrec.errors.kinds import MakeRunError
from matchrec.errors.run import failures
from matchrec.errors.streams import stream_out_of_memory
from matchrec.jit.decorators import read_only
from matchrec.plan.clauses import MatchOutput
from matchrec.search.interface import Room, Task
from matchrec.search.kernels import chained, depth_first, distances, layout, preferred
from matchrec.search.kernels.buffer import compact
from matchrec.search.matches import Chains, Matches, RunFailure
from matchrec.search.partitions import NO_EDGE, BoolArray, IntArray
from matchrec.search.records import SearchInput
from matchrec.shortcuts import current_shortcuts

# The shape and the type of arrays of `Work`, by name.
Shapes = dict[str, tuple[tuple[int, ...], type]]

NODES_OF_A_RUN = 16  # nodes for which there is room at first, for each run
MANY_NODES = 1 << 13  # a buffer of fewer nodes grows at once: see `BufferSearch.prune_if_enough`
LEAST_OUTPUT = 1 << 12  # matches
BYTES_OF_OUTPUT_ROW = 128  # what a mapped row takes, roughly, until it has left the worker
STEPS_A_SECOND = 1 << 14  # of Python

_FAILURES: dict[int, MakeRunError] = {
    layout.SKIP_TO_NO_ROW: failures.skip_to_missing_row,
    layout.SKIP_TO_FIRST_ROW: failures.skip_to_first_row,
    layout.OVERFLOW: failures.overflow_in_condition,
    layout.DIVISION_BY_ZERO: failures.division_by_zero,
    layout.FUNCTION_FAILED: failures.function_failed,
    layout.TOO_MANY_STEPS: failures.too_many_steps,
}
CONDITION_FAILURES = (layout.OVERFLOW, layout.DIVISION_BY_ZERO, layout.FUNCTION_FAILED)


def at_most(room: Room, most: Room) -> Room:
    """Return the room, with no more matches and mapped rows than `most` has."""
    rows = min(room.rows, most.rows)
    matches = min(room.matches, most.matches)
    return replace(room, rows=rows, matches=matches)


class KernelSearch(ABC):
    """One search of one task.

    A subclass names its kernel and the shapes of the arrays in which the kernel works.

    Args:
        task: the task of a query.
        arrays: the task and its partitions, as kernels read them.
        room: how much a chunk may hold, and how large the working arrays are at first.
        counters: int64[COUNTERS], to which the search adds at its end what it has counted.
    """

    # What searches.
    kernel: Any
    # Whether the search begins again with the row after a starting row without a match, so that it
    # may pass over rows with which no match can begin: see `find_possible_beginnings`.
    begins_anew: ClassVar[bool] = False

    def __init__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None = None
    ) -> None:
        if self.begins_anew and current_shortcuts().beginnings:
            begins = read_only(find_possible_beginnings(task, arrays.rules, arrays.rows))
            arrays = replace(arrays, rows=arrays.rows._replace(begins=begins))
        self.task = task
        self.arrays = arrays
        self.room = room
        self.counters = counters
        self.rules = arrays.rules
        self.work = initial_work(task, arrays)
        # How many steps Python may still take; None until that is known.
        self.steps_left: int | None = None
        arrays.show_to_python(lambda: self.work)
        # How large arrays are, by the status that says that they are full.
        size = max(room.memory, 2)
        self.sizes = {
            layout.PATH_FULL: size,
            layout.MEMO_FULL: size,
            layout.RUNS_FULL: size,
            layout.NODES_FULL: NODES_OF_A_RUN * size,
        }
        self.make_room()

    @property
    def progress(self) -> layout.Progress:
        """Return how far the kernel has come."""
        return self.work.progress

    @property
    def hooks(self) -> tuple[Any, Any]:
        """Return the two arguments that the kernel takes after the records.

        They are the registers, or with event selection the negation; then what is added up or
        counted. Each is None if the kernel has nothing to do for it.
        """
        if self.arrays.selects:
            return self.arrays.negation, self.arrays.totals
        return self.work.registers, self.arrays.totals

    def find_matches(self) -> Iterator[Matches]:
        """Yield the matches in chunks, as the kernel finds them.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        progress = self.progress
        least_matches = least_rows = 0  # of an output
        # No larger than a few rows need at first: large arrays take milliseconds to allocate.
        few = max(int(self.arrays.rows.starts[-1]), LEAST_OUTPUT)
        status = layout.OUTPUT_FULL
        while status == layout.OUTPUT_FULL:
            room = at_most(self.room, Room(rows=16 * few, matches=few))
            least_matches = max(least_matches, room.matches)
            least_rows = max(least_rows, room.rows)
            output = self.output(least_matches, least_rows)
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
            elif status == layout.OUTPUT_FULL:  # a single match does not fit
                least_matches = 2 * least_matches
                least_rows = max(2 * least_rows, int(progress.needed))
        self.add_counters()

    def add_counters(self) -> None:
        """Add what this search has counted to `counters`; of live runs, keep the larger number."""
        counted = self.work.counters
        if self.counters is None or counted is None:
            return
        most_live = max(self.counters[layout.MOST_LIVE], counted[layout.MOST_LIVE])
        self.counters += counted
        self.counters[layout.MOST_LIVE] = most_live

    def advance(self) -> int:
        """Call the kernel and return its status.

        While its machine code is missing, Python takes the first steps of a search over few rows.
        Totals are compiled at once, because each is two words that wrap, and Python's integers do
        not wrap.
        """
        arguments = self.rules, self.arrays.rows, self.work, *self.hooks
        if self.steps_left is None:
            has_few_rows = self.arrays.rows.starts[-1] <= current_shortcuts().few_steps
            may_use_python = has_few_rows and self.arrays.totals is None
            self.steps_left = self.kernel.steps_left(arguments) if may_use_python else 0
        if self.steps_left > 0:
            steps_before = self.steps_left
            status = self.advance_by_python(*arguments)
            self.kernel.count_steps(steps_before - self.steps_left, arguments)
            if status != layout.TOO_MANY_STEPS:
                return status
            self.steps_left = 0
        return int(self.kernel(*arguments))

    def advance_by_python(
        self, rules: layout.Rules, rows: layout.RowArrays, work: layout.Work, *hooks: Any
    ) -> int:
        """Do as the kernel does, unless that takes more steps than are left.

        Returns:
            The status of the kernel. TOO_MANY_STEPS if there are no steps left; then the search is
            where it was before the starting row, or the row, that took too many.
        """
        progress = layout.share_fields(self.progress)
        search_start = self.kernel.part("search_start")
        limit = progress.step_limit

        def search_few(*arguments: Any) -> int:
            """Search as `search_start` does, and count the steps."""
            assert self.steps_left is not None
            if self.steps_left <= 0:
                return layout.TOO_MANY_STEPS
            mapped_before = progress.mapped
            steps_before = progress.step_count
            begun = perf_counter()
            progress.step_limit = min(limit, steps_before + self.steps_left)
            status = int(search_start(*arguments))
            mapped = progress.mapped - mapped_before
            evaluated = progress.step_count - steps_before
            steps = 1 + progress.count + mapped + evaluated
            # Conditions on the data only are not counted as steps, so time counts as well.
            steps_by_time = int((perf_counter() - begun) * STEPS_A_SECOND)
            self.steps_left -= max(steps, steps_by_time)
            if status == layout.TOO_MANY_STEPS:
                progress.step_count = steps_before
            return status

        arguments = rules, rows, work._replace(progress=progress), *hooks
        try:
            return int(self.kernel.by_python(*arguments, search_start=search_few))
        finally:
            progress.step_limit = limit

    @property
    @abstractmethod
    def shapes(self) -> Shapes:
        """Return the arrays in which the search works, as large as `sizes` says."""

    def make_room(self) -> None:
        """Make the arrays as large as `sizes` says. They keep what the smaller ones held."""
        for name, (shape, dtype) in self.shapes.items():
            smaller = getattr(self.work, name)
            if smaller is None or smaller.shape != shape:
                array = self.new_array(np.zeros, shape, dtype)
                if smaller is not None:
                    array[tuple(map(slice, smaller.shape))] = smaller
                self.work = self.work._replace(**{name: array})
        linked = self.arrays.compiled.linked
        if linked is not None:
            self.work.registers[0] = linked.initial

    def new_array(self, make: Callable[..., Any], shape: tuple[int, ...], dtype: Any) -> Any:
        """Return a new array.

        Args:
            make: what makes it, such as `np.zeros`.
            shape: its shape.
            dtype: its type.

        Raises:
            RunFailure: there is not enough memory for it.
        """
        size = prod(shape) * np.dtype(dtype).itemsize
        self.check_most(size)
        if memory.has_room(size):
            with suppress(MemoryError):
                return make(shape, dtype)
        builds_all = self.task.output is MatchOutput.ALL and self.task.totals is None
        make_error = failures.no_room_for_matches if builds_all else failures.no_room_for_search
        raise RunFailure(make_error, int(self.progress.start), {"mebibytes": size >> 20})

    def check_most(self, size: int) -> None:
        """Raise RunFailure if a search over a stream may not take `size` bytes."""
        most = self.room.most
        if most is not None and not memory.may_take(size, most):
            row = min(int(self.progress.start), int(self.arrays.rows.starts[-1]) - 1)
            fields = {"mebibytes": size >> 20, "limit": most >> 20}
            raise RunFailure(stream_out_of_memory, row, fields)

    def grow(self, status: int) -> None:
        """Make at least twice as large what `status` says is full.

        If it is the memo, what it holds is forgotten, because a row is elsewhere in a larger ring.
        To find it out again takes no longer than it took to fill the smaller ring.
        """
        size = 2 * self.sizes[status]
        while status == layout.MEMO_FULL and size < self.progress.needed:
            size *= 2
        self.sizes[status] = size
        self.make_room()
        if status == layout.MEMO_FULL:
            self.progress.memo_to = self.progress.start

    def output(self, matches: int, rows: int) -> layout.OutputArrays:
        """Return an empty output with room for `matches` matches and `rows` mapped rows."""
        self.check_most(rows * BYTES_OF_OUTPUT_ROW)
        match_facts = self.new_array(np.empty, (layout.FOUND_SIZE, matches + 1), np.int64)
        choices = self.new_array(np.empty, (rows,), np.int32)
        positions = self.new_array(np.empty, (rows,), np.int64) if self.arrays.selects else None
        return layout.OutputArrays(match_facts, choices, positions)

    def matches(self, output: layout.OutputArrays) -> Matches:
        """Return the matches in an output. With event selection they have no numbers yet."""
        count = self.progress.matches
        mapped = self.progress.mapped
        match_facts = output.found[:, :count]
        matches = Matches(
            partition=match_facts[layout.FOUND_PARTITION],
            number=match_facts[layout.FOUND_NUMBER],
            start=match_facts[layout.FOUND_START],
            offsets=output.found[layout.FOUND_OFFSET, : count + 1],
            classifiers=np.empty(mapped, np.int16),
            excluded=np.zeros(mapped, np.bool_),
        )
        self.look_up(layout.VARIABLE, output.choices, matches.classifiers)
        if self.rules.program[:, layout.EXCLUDED].any():
            self.look_up(layout.EXCLUDED, output.choices, matches.excluded)
        if not self.arrays.selects:
            return matches
        is_preferred = self.task.output is MatchOutput.PREFERRED  # nothing ranks these
        matches = replace(
            matches,
            number=np.zeros(count, np.int64),
            rows=output.rows[:mapped],
            completed=None if is_preferred else match_facts[layout.FOUND_COMPLETED],
            kind=match_facts[layout.FOUND_KIND],
        )
        return matches if self.arrays.ends is None else by_first_end(matches, self.arrays.ends)

    def look_up(self, column: int, choices: layout.ChoiceArray, values: npt.NDArray[Any]) -> None:
        """Fill `values` with what a column of `program` has for each choice.

        It does not allocate an array of the size of `values`, because all matches have many rows.
        """
        by_choice = self.rules.program[:, column].astype(values.dtype)
        # With "clip", numpy writes at once into `out`. No choice is out of bounds.
        np.take(by_choice, choices[: len(values)], out=values, mode="clip")

    def raise_failure(self, status: int) -> None:
        """Raise RunFailure if a status of the kernel says that something has failed."""
        make_error = _FAILURES.get(status)
        if make_error is None:
            return
        progress = self.progress
        row = progress.row
        fields: dict[str, object] = {"variable": self.task.after_match.variable}
        if status in CONDITION_FAILURES:
            variable = self.rules.program[progress.choice, layout.TEST]
            fields["variable"] = self.task.variables[variable]
        if status == layout.TOO_MANY_STEPS:
            row = progress.start
            fields = {"limit": self.task.max_steps}
        if status == layout.FUNCTION_FAILED:
            assert self.arrays.python is not None
            error = self.arrays.python.failed()
            fields["reason"] = str(error)
            if isinstance(error, AnsiError):
                make_error = failures.function_failed_under_ansi
        raise RunFailure(make_error, int(row), fields)

    def shape_registers(self, runs: int) -> Shapes:
        """Return the registers before the first row of a run, and of `runs` runs after that.

        No array if the search needs no registers.
        """
        if self.arrays.compiled.linked is None and not self.arrays.selects:
            return {}
        return {"registers": ((runs + 1, self.arrays.compiled.registers), np.int64)}

    def shape_table(self, size: int) -> Shapes:
        """Return the hash table of computation states. It may hold half as many as its size."""
        columns = layout.TABLE_REGISTERS + self.arrays.compiled.registers
        return {"table": ((size, columns), np.int64)}

    @property
    def memo(self) -> Shapes:
        """Return the memo of failures: a ring of rows with a bit for each memo number."""
        return {"memo": ((self.sizes[layout.MEMO_FULL], -(-self.remembered // 8)), np.uint8)}

    @property
    def remembered(self) -> int:
        """Return how many states have memo numbers."""
        return int(self.arrays.rules.program[:, layout.MEMO].max(initial=-1)) + 1


def initial_work(task: Task, arrays: SearchInput) -> layout.Work:
    """Return what every search works in. A search adds the arrays that only it needs."""
    row_count = arrays.rows.starts[-1] if needs_release_times(task) else 0
    stack = arrays.python.stack if arrays.python else None
    if arrays.selects and stack is None:
        stack = np.zeros((2, 1), np.int64)
    first_row = arrays.rows.starts[0]
    progress = layout.new_progress()
    progress.start = first_row
    progress.memo_from = first_row
    progress.memo_to = first_row
    progress.best_start = -1
    progress.memo_window = -1
    progress.unfinished_in = -1
    progress.partition = -1
    progress.match_kind = A_MATCH
    progress.match_limit = find_match_limit(task)
    max_steps = None if task.selects else task.max_steps
    progress.step_limit = min(max_steps or layout.NO_LIMIT, layout.NO_LIMIT)
    return layout.Work(
        progress=progress,
        stack=stack,
        counters=np.zeros(layout.COUNTERS, np.int64) if arrays.selects else None,
        last_live=np.full(row_count, -1, np.int64) if arrays.selects else None,
    )


def find_match_limit(task: Task) -> int:
    """Return after how many matches the search of a partition may end.

    It may not end early if a skip strategy leaves out matches later, or if all matches are output
    and some of them are found twice. `selection.find_matches` lifts the limit for a search that
    does not find matches in the order in which they are numbered.
    """
    if task.most_matches is None or task.skip is not None:
        return layout.NO_LIMIT
    if task.output is MatchOutput.ALL and may_map_twice(task.pattern.folding, task.waits):
        return layout.NO_LIMIT
    return task.most_matches


def needs_release_times(task: Task) -> bool:
    """Return whether it matters when a match is released.

    It does if runs that time out before that are output as well.
    """
    return task.stages is not None and task.stages.timeouts and task.skip is not None


def by_first_end(matches: Matches, ends: IntArray) -> Matches:
    """Return the matches; each run that timed out names the first window that ended at that time.

    So a run has the same kind whichever window it waited in, if several ended at the same time.

    Args:
        matches: matches, and runs that timed out.
        ends: see `Partitions.ends`.
    """
    assert matches.kind is not None
    assert matches.rows is not None
    timed_out = np.flatnonzero(matches.kind >= FIRST_NEAR)
    last_row = matches.rows[matches.offsets[timed_out + 1] - 1]
    ends_near = ends[1:, last_row]
    time = ends_near[matches.kind[timed_out] - FIRST_NEAR, np.arange(len(timed_out))]
    has_match_window_ended = ends[0, matches.start[timed_out]] <= time
    first_near = FIRST_NEAR + (ends_near == time).argmax(axis=0)
    kind = matches.kind.copy()
    kind[timed_out] = np.where(has_match_window_ended, TIMED_OUT, first_near)
    return replace(matches, kind=kind)


class PathSearch(KernelSearch):
    """A search of one run at a time.

    It works in the path of the run, its computation state at each depth, and the memo of failures.
    """

    def __init__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None = None
    ) -> None:
        super().__init__(task, arrays, room, counters)
        if task.absent or needs_release_times(task):
            # A run without a match may still matter: for a negation, or for when it was live last.
            self.remember_nothing()

    @property
    def keeps_states(self) -> bool | None:
        """Return whether the computation states that a starting row has reached are kept.

        None if no task of this kind of search keeps them.
        """
        return None

    def remember_nothing(self) -> None:
        """Remember no failures: try each way again whenever the search comes to it."""
        program = self.rules.program.copy()
        program[:, layout.MEMO] = layout.NOT_REMEMBERED
        self.rules = self.rules._replace(program=program)

    @property
    def shapes(self) -> Shapes:
        """Return the path, the memo and the registers; and the table if it is ever used."""
        size = self.sizes[layout.PATH_FULL]
        path: Shapes
        if self.arrays.selects:
            path = {"path": ((layout.PATH_SIZE, size), np.int64)}
        else:
            path = {"path": ((size,), np.int32)}
        shapes = path | self.memo | self.shape_registers(size)
        if self.keeps_states is not None:
            shapes |= self.shape_table(self.sizes[layout.RUNS_FULL] if self.keeps_states else 0)
        return shapes


class BufferSearch(KernelSearch):
    """A search of all runs at once, with the shared buffer of their rows. Equal runs merge."""

    @property
    def shapes(self) -> Shapes:
        """Return the runs before and after a row, the buffer, the table and the registers."""
        runs = self.sizes[layout.RUNS_FULL]
        nodes = self.sizes[layout.NODES_FULL]
        buffer: Shapes = {
            "runs": ((2, runs, layout.RUN_SIZE), np.int64),
            "nodes": ((nodes, layout.NODE_SIZE), np.int64),
        }
        return buffer | self.shape_table(2 * runs) | self.shape_registers(2 * runs)

    @property
    def windows(self) -> tuple[layout.RunArray, layout.RunArray]:
        """Return what the buffer is pruned by: the ends of windows, and the counters."""
        return self.arrays.rows.window_end, self.work.counters

    def prune(self) -> None:
        """Drop the nodes to which no run leads. It is called between two rows."""
        work = self.work
        row = int(self.progress.start) - 1
        moved = self.new_array(np.empty, work.nodes.shape[:1], work.nodes.dtype)
        compact(row, *self.windows, work.runs, work.nodes, moved, work.progress)

    def grow(self, status: int) -> None:
        """Make twice as large what is full. The nodes are pruned instead if that is enough."""
        if status == layout.NODES_FULL and self.prune_if_enough():
            return
        super().grow(status)

    def prune_if_enough(self) -> bool:
        """Prune the nodes if that may make room; return whether the buffer need not grow.

        It must grow if many nodes are left, or if one row needs more. A small buffer grows at once,
        so that few searches have to compile `compact`.
        """
        size = self.sizes[layout.NODES_FULL]
        if not MANY_NODES <= size < 2 * self.progress.nodes:
            return False
        self.prune()
        return bool(4 * self.progress.nodes <= size)


class BreadthFirstSearch(BufferSearch):
    """All runs at once, for the preferred match of each starting row, or for its longest one."""

    kernel = staticmethod(preferred.search)

    @property
    def shapes(self) -> Shapes:
        """Return the arrays of `BufferSearch`, with a memo and smaller nodes.

        A node has no row if no rows are skipped, because then its row follows from its place in the
        match. Without registers, the table is indexed by the state.
        """
        nodes = self.sizes[layout.NODES_FULL]
        states = len(self.rules.first) - 1
        shapes = super().shapes | self.memo
        if "registers" not in shapes:
            shapes["table"] = ((states, layout.TABLE_STATE), np.int64)
        columns = layout.NODE_ROW + self.arrays.selects
        return shapes | {"nodes": ((nodes, columns), np.int32)}

    @property
    def windows(self) -> tuple[layout.RunArray, layout.RunArray]:
        """Return no windows: a node leads to one match only, and its run ends with the window."""
        return None, None

    @property
    def hooks(self) -> tuple[Any, Any]:
        """Return the registers, and the states in which a run waits; see `KernelSearch.hooks`."""
        return self.work.registers, self.rules.waits

    def grow(self, status: int) -> None:
        """Grow as any buffer does; more runs also get room for the nodes that they create."""
        if status == layout.RUNS_FULL:
            least = 8 * self.sizes[layout.RUNS_FULL]
            self.sizes[layout.NODES_FULL] = max(self.sizes[layout.NODES_FULL], least)
        super().grow(status)


# Rows with which a match may begin, so that a search need not try the other ones.
#
# This is proven for searches that, after a starting row without a match, begin again with the next
# row. The row conditions of the first rows of a match are compared for all rows at once. This stops
# at the first row whose mapping evaluates a condition on the run: a row whose search would raise an
# error is never left out. If steps are limited, each row that is taken may be one too many; then
# only the first row of a match is compared.

ROWS_COMPARED = 8  # at the beginning of a match
FEW = 16  # comparing stops when at most one row in 16 is left


def find_possible_beginnings(task: Task, rules: layout.Rules, rows: layout.RowArrays) -> BoolArray:
    """Return bool[n], whether a match may begin with a row.

    The result is bool[0] if most rows may begin a match: then it would not pay. Rows that are
    missing may satisfy any condition, and so may the rows of the next partition.

    Example: for PATTERN (A B), a row may begin a match if it satisfies A's row condition and the
    next row satisfies B's.
    """
    edges = rows.frontier.edge
    may_begin = np.ones(len(rows.satisfied), np.bool_)
    if task.stages is not None or (edges[:-1] != NO_EDGE).any():
        return may_begin[:0]
    satisfied = rows.satisfied[: edges[-1]] if len(edges) else rows.satisfied
    program = rules.program
    has_run_condition = program[:, layout.CODE] < program[:, layout.CODE_END]
    is_limited = task.max_steps is not None and has_run_condition.any()
    rows_compared = 1 if is_limited else ROWS_COMPARED
    masks = program[:, layout.MASK].astype(np.uint64)
    # All bits that are compared mostly fit into one byte, which makes it faster.
    bits = satisfied.astype(np.min_scalar_type(np.bitwise_or.reduce(masks)))
    states = {0}
    for depth in range(min(rows_compared, len(satisfied))):
        is_choice = [source in states for source in program[:, layout.SOURCE].tolist()]
        states = {*program[is_choice, layout.TARGET].tolist()}
        if layout.ACCEPT in states:
            break
        words = program[is_choice, layout.WORD].tolist()
        tests = {*zip(words, masks[is_choice].tolist(), strict=True)}
        if all(mask for _, mask in tests):
            results = (bits[depth:, word] & mask == mask for word, mask in tests)
            may_begin[: len(satisfied) - depth] &= reduce(np.logical_or, results, np.False_)
            if FEW * np.count_nonzero(may_begin) < len(may_begin):
                break
        if has_run_condition[is_choice].any():
            break
    return may_begin if 2 * np.count_nonzero(may_begin) < len(may_begin) else may_begin[:0]


# The searches that skip no row and find one match of each starting row.


class BacktrackingSearch(PathSearch):
    """One run at a time: see `kernels.depth_first`."""

    kernel = staticmethod(depth_first.search)
    begins_anew = True


class DistanceSearch(KernelSearch):
    """How far acceptance is from each state and row, and the path of one run: `distances`."""

    kernel = staticmethod(distances.search)
    begins_anew = True

    @property
    def shapes(self) -> Shapes:
        """Return rings of rows: the path, the best path before it, and the distances."""
        rows = self.sizes[layout.MEMO_FULL]
        states = len(self.rules.first) - 1
        return {
            "path": ((rows,), np.int32),
            "best_before": ((rows,), np.int32),
            "known": ((rows, states), np.int32),
        }


class ChainedSearch(KernelSearch):
    """How a match goes on from each state and row, and the path of one run: `kernels.chained`."""

    kernel = staticmethod(chained.search)
    begins_anew = True

    @property
    def shapes(self) -> Shapes:
        """Return rings of rows: the path, and the chain from each state and row on."""
        rows = self.sizes[layout.MEMO_FULL]
        return {"path": ((rows,), np.int32), "known": ((rows, self.remembered), np.int32)}

    def output(self, matches: int, rows: int) -> layout.OutputArrays:
        """Return an empty output, and forget the chains that lead into the one before."""
        self.progress.memo_to = self.progress.start
        nodes = self.new_array(np.empty, (chained.CHAIN_SIZE, rows), np.int32)
        return super().output(matches, 0)._replace(choices=nodes)

    def matches(self, output: layout.OutputArrays) -> Matches:
        """Return the matches in an output, as chains."""
        nodes = output.choices[:, : self.progress.mapped]
        matches = super().matches(output._replace(choices=nodes[chained.CHAIN_CHOICE]))
        first = output.found[chained.FOUND_FIRST, : matches.count]
        return replace(
            matches,
            rows=nodes[chained.CHAIN_ROW].astype(np.int64),
            chains=Chains(first=first, following=nodes[chained.CHAIN_NEXT]),
        )
