"""The base class of searches: the loop that calls a kernel, enlarges its arrays, reads matches.

A search is a subclass of `KernelSearch` with a kernel. It is in the file of its kernel, except for
`RunsSearch`, which has the module `runs_search`. Most searches have one of two base classes:

    path_search.PathSearch      follows one run at a time, and remembers failures
    buffer_search.BufferSearch  follows all runs at once, which share a buffer of rows

A kernel searches all partitions in one call, unless an array is full or a condition fails. It
returns a status. `KernelSearch.find_matches` acts on the status, and calls the kernel again after
the second and the third one:

    done                 end
    output full          yield the matches found so far, and make a new output
    working arrays full  make them larger: the path, the memo, the runs or the nodes
    failure              raise RunFailure

So only the matches of one chunk are in memory, not all of them. A chunk grows only if it must hold
more: one match, or, with event selection, all matches of a starting row or of the row that
completes them.

With event selection, `selection` puts the matches in order. If all matches are output, they come in
the order in which they are complete: by partition, last row, first row, then row positions, then
variables. Preferred matches come by starting row, and the matches that a skip strategy keeps by
first row. Equal matches are returned once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from math import ceil, prod
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from matchrec import memory
from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.code import list_failing_operations
from matchrec.conditions.functions.function import AnsiError
from matchrec.errors.kinds import MakeRunError
from matchrec.errors.run import failures
from matchrec.errors.run.origins import OperationOrigin
from matchrec.errors.streams import stream_out_of_memory
from matchrec.jit.cached_function import CachedFunction
from matchrec.jit.views import read_only
from matchrec.plan.clauses import MatchOutput
from matchrec.search.beginnings import find_possible_beginnings
from matchrec.search.ended_windows import choose_first_ended_windows
from matchrec.search.kernel_input import SearchInput
from matchrec.search.kernels import layout
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import IntArray
from matchrec.search.progress import make_progress
from matchrec.search.task import Capacity, Task
from matchrec.shortcuts import current_shortcuts

# An array that the kernel of a search reads and writes. `Shapes` says which elements it has.
WorkingArray = npt.NDArray[Any]
# The possible types of elements.
Element = np.int64 | np.int32 | np.uint8

# For the name of each working array, its shape and the type of its elements.
Shapes = dict[str, tuple[tuple[int, ...], type[Element]]]

# The number of nodes for which there is room at first, for each run.
INITIAL_NODES_PER_RUN = 16
# An output has room for at least this many matches, unless the capacity is smaller.
MIN_OUTPUT_MATCHES = 1 << 12
# An output has room for this many mapped rows of each match.
OUTPUT_ROWS_PER_MATCH = 16
# How many bytes a mapped row takes, roughly, until it has left the worker.
OUTPUT_ROW_BYTES = 128

# For each status of a kernel that ends the search, the function that makes the user's error.
ERROR_BY_STATUS: dict[int, MakeRunError] = {
    layout.SKIP_TO_NO_ROW: failures.skip_to_missing_row,
    layout.SKIP_TO_FIRST_ROW: failures.skip_to_first_row,
    layout.OVERFLOW: failures.overflow_in_condition,
    layout.DIVISION_BY_ZERO: failures.division_by_zero,
    layout.FUNCTION_FAILED: failures.function_failed,
    layout.TOO_MANY_STEPS: failures.too_many_steps,
}
# The statuses of an operation in a condition that has failed.
ARITHMETIC_FAILURES = (layout.OVERFLOW, layout.DIVISION_BY_ZERO)
# The statuses after which `Progress.choice` is the choice whose condition has failed.
CONDITION_FAILURES = (*ARITHMETIC_FAILURES, layout.FUNCTION_FAILED)

W = TypeVar("W", bound=layout.Work)


class KernelSearch(ABC, Generic[W]):
    """A search of one task over some partitions, which calls a kernel until it is done.

    A subclass names its kernel and the shapes of the working arrays, and puts the arrays into the
    kernel's record of work.

    Args:
        task: the task of a query.
        arrays: the task and its partitions, as kernels read them.
        capacity: how much a chunk can hold, and how large the working arrays are at first.
        counters: int64[COUNTER_COUNT], to which the search adds its counts when it ends; None if no
            counts are needed.
    """

    # The kernel that searches.
    kernel: CachedFunction[..., int]
    # How far the search has come: a record with the fields of `progress_class`, which each subclass
    # names.
    progress: layout.Progress
    progress_class: ClassVar[type[layout.Progress]]
    # Whether the search can pass over rows with which no match can begin: see `search.beginnings`.
    # True for searches that go from starting row to starting row by `seek_start`.
    can_skip_starts: ClassVar[bool] = False

    def __init__(
        self, task: Task, arrays: SearchInput, capacity: Capacity, counters: IntArray | None = None
    ) -> None:
        if self.can_skip_starts and current_shortcuts().starting_rows:
            can_begin = read_only(find_possible_beginnings(task, arrays))
            arrays = replace(arrays, rows=arrays.rows._replace(can_begin=can_begin))
        self.task = task
        self.arrays = arrays
        self.capacity = capacity
        self.rules = arrays.rules
        self.selection_rules = arrays.selection_rules
        self.progress = make_progress(self.progress_class, task)
        self.counters = counters
        # The counters of this search alone, which are added to `counters` when it ends.
        self.search_counters = np.zeros(layout.COUNTER_COUNT, np.int64)
        # For each status that says that arrays are full, the size of these arrays: the number of
        # rows of the path or the memo, of runs, or of nodes.
        size = max(capacity.initial_rows, 2)
        self.sizes = {
            layout.PATH_FULL: size,
            layout.MEMO_FULL: size,
            layout.RUNS_FULL: size,
            layout.NODES_FULL: INITIAL_NODES_PER_RUN * size,
        }
        self.output = layout.OutputArrays(
            matches=np.zeros((layout.MATCH_SIZE, 1), np.int64),
            choices=np.zeros(0, np.int32),
            rows=np.zeros(0, np.int64),
        )
        # The arrays that `shapes` describes, under their names.
        self.working_arrays: dict[str, WorkingArray] = {}
        self.allocate_arrays()
        arrays.connect_python_calls(self.progress, lambda: self.working_arrays["registers"])

    @property
    @abstractmethod
    def shapes(self) -> Shapes:
        """Return the shapes of the working arrays, as large as `sizes` says."""

    @abstractmethod
    def make_work(self) -> W:
        """Return the kernel's record of work: the working arrays, the output and the progress."""

    @abstractmethod
    def build_arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel, in its order."""

    @property
    def conditions(self) -> layout.RunConditions:
        """Return the conditions on the run, with the registers of this search."""
        return self.arrays.bind_conditions(self.working_arrays["registers"], self.progress)

    def remove_match_limit(self) -> None:
        """Let the search find all matches of a partition, even if `Task.max_matches` limits them.

        It must be called before the search begins.
        """
        self.progress.match_limit = layout.NO_LIMIT

    def find_matches(self) -> Iterator[Matches]:
        """Yield the matches in chunks, as the kernel finds them.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        progress = self.progress
        # The output has room for as many matches as rows, up to the capacity. It is not larger,
        # because large arrays take milliseconds to allocate. It grows only if a single match does
        # not fit.
        max_matches = max(int(self.arrays.rows.starts[-1]), MIN_OUTPUT_MATCHES)
        largest_output = Capacity(
            mapped_rows=OUTPUT_ROWS_PER_MATCH * max_matches, matches=max_matches
        )
        match_room = 0
        row_room = 0
        status = layout.OUTPUT_FULL
        while status == layout.OUTPUT_FULL:
            # `skip_strategies` changes the capacity between two chunks.
            capacity = self.capacity.limit_output(largest_output)
            match_room = max(match_room, capacity.matches)
            row_room = max(row_room, capacity.mapped_rows)
            self.begin_output(match_room, row_room)
            status = self.call_until_output_full()
            self.check_status(status)
            if progress.match_count:
                yield self.read_matches(self.output)
            elif status == layout.OUTPUT_FULL:  # a single match does not fit
                match_room = 2 * match_room
                row_room = max(2 * row_room, int(progress.needed_rows))
        self.add_counters()

    def begin_output(self, match_count: int, row_count: int) -> None:
        """Make a new output, to which the kernel writes.

        Args:
            match_count: the number of matches for which the output has room.
            row_count: the number of mapped rows for which the output has room.
        """
        self.output = self.make_output(match_count, row_count)
        self.output.matches[layout.MATCH_OFFSET, 0] = 0
        self.work = self.make_work()
        self.progress.match_count = self.progress.mapped_count = 0

    def call_until_output_full(self) -> int:
        """Call the kernel until no working array is full, and return its last status."""
        status = self.call_kernel()
        while status in self.sizes:  # working arrays are full
            self.grow_arrays(status)
            status = self.call_kernel()
        return status

    def add_counters(self) -> None:
        """Add the counts of this search to `counters`."""
        if self.counters is None:
            return
        # MAX_LIVE is a maximum, not a sum.
        most_live = max(self.counters[layout.MAX_LIVE], self.search_counters[layout.MAX_LIVE])
        self.counters += self.search_counters
        self.counters[layout.MAX_LIVE] = most_live

    def call_kernel(self) -> int:
        """Call the kernel, and return its status."""
        return int(self.kernel(*self.build_arguments()))

    def allocate_arrays(self) -> None:
        """Make the working arrays as large as `sizes` says. Arrays that grow keep their content."""
        for name, (shape, dtype) in self.shapes.items():
            smaller = self.working_arrays.get(name)
            if smaller is None or smaller.shape != shape:
                array = self.allocate_array(np.zeros, shape, dtype)
                if smaller is not None:
                    array[tuple(map(slice, smaller.shape))] = smaller
                self.working_arrays[name] = array
        linked = self.arrays.compiled_task.linked_conditions
        if linked is not None:
            self.working_arrays["registers"][0] = linked.initial_registers
        self.work = self.make_work()

    def allocate_array(
        self, create_array: CreateArray, shape: tuple[int, ...], dtype: type[Element]
    ) -> WorkingArray:
        """Return a new array if there is enough memory for it.

        Args:
            create_array: `np.zeros` or `np.empty`.
            shape: the number of elements along each axis.
            dtype: the type of the elements.

        Raises:
            RunFailure: there is not enough memory, or the array exceeds the limit of a stream.
        """
        size = prod(shape) * np.dtype(dtype).itemsize
        self.check_stream_limit(size)
        if memory.has_room(size):
            with suppress(MemoryError):
                return create_array(shape, dtype)
        make_error = failures.no_room_for_search
        if self.task.output is MatchOutput.ALL and self.task.totals is None:
            make_error = failures.no_room_for_matches
        raise RunFailure(make_error, int(self.progress.start), {"mebibytes": size >> 20})

    def check_stream_limit(self, size: int) -> None:
        """Check that a search over a stream is allowed to take more memory.

        Searches over tables have no limit.

        Args:
            size: the number of additional bytes.

        Raises:
            RunFailure: the memory would exceed the limit of the stream.
        """
        limit = self.capacity.max_bytes
        if limit is not None and not memory.can_take(size, limit):
            # The error names a row, but after the last partition progress.start is not a row.
            row = min(int(self.progress.start), int(self.arrays.rows.starts[-1]) - 1)
            fields = {"mebibytes": size >> 20, "limit": limit >> 20}
            raise RunFailure(stream_out_of_memory, row, fields)

    def grow_arrays(self, status: int) -> None:
        """Make the arrays that are full at least twice as large.

        A larger ring of rows, such as the memo, begins empty, because a row has another place in
        it. Finding its values again takes no longer than filling the smaller ring did.

        Args:
            status: the status of the kernel, which says which arrays are full: a key of `sizes`.
        """
        size = 2 * self.sizes[status]
        while status == layout.MEMO_FULL and size < self.progress.needed_rows:
            size *= 2
        self.sizes[status] = size
        self.allocate_arrays()
        if status == layout.MEMO_FULL:
            progress = cast("layout.RememberedRows", self.progress)
            progress.memo_to = progress.start

    def make_output(self, match_count: int, row_count: int) -> layout.OutputArrays:
        """Return an empty output with room for some matches and mapped rows."""
        self.check_stream_limit(row_count * OUTPUT_ROW_BYTES)
        # Without event selection, the rows of a match follow each other, so they have no positions.
        position_count = row_count if self.arrays.uses_event_selection else 0
        return layout.OutputArrays(
            matches=self.allocate_array(np.empty, (layout.MATCH_SIZE, match_count + 1), np.int64),
            choices=self.allocate_array(np.empty, (row_count,), np.int32),
            rows=self.allocate_array(np.empty, (position_count,), np.int64),
        )

    def read_matches(self, output: layout.OutputArrays) -> Matches:
        """Return the matches in an output. With event selection, their numbers are 0 for now."""
        count = self.progress.match_count
        mapped = self.progress.mapped_count
        match_facts = output.matches[:, :count]
        matches = Matches(
            partition=match_facts[layout.MATCH_PARTITION],
            number=match_facts[layout.MATCH_NUMBER],
            start=match_facts[layout.MATCH_START],
            offsets=output.matches[layout.MATCH_OFFSET, : count + 1],
            classifiers=np.empty(mapped, np.int16),
            is_excluded=np.zeros(mapped, np.bool_),
        )
        self.fill_by_choice(layout.VARIABLE, output.choices, matches.classifiers)
        if self.rules.program[:, layout.EXCLUDED].any():
            self.fill_by_choice(layout.EXCLUDED, output.choices, matches.is_excluded)
        if not self.arrays.uses_event_selection:
            return matches
        # Preferred matches are not compared with each other, so it does not matter where they end.
        is_preferred = self.task.output is MatchOutput.PREFERRED
        matches = replace(
            matches,
            number=np.zeros(count, np.int64),
            rows=output.rows[:mapped],
            completing_rows=None if is_preferred else match_facts[layout.MATCH_COMPLETED],
            kind=match_facts[layout.MATCH_KIND],
        )
        if self.arrays.end_times is None:
            return matches
        return choose_first_ended_windows(matches, self.arrays.end_times)

    def fill_by_choice(
        self, column: int, choices: layout.ChoiceArray, values: WorkingArray
    ) -> None:
        """Fill `values` with the values that a column of `program` has for some choices.

        No other array of the size of `values` is allocated, because matches can have many rows.
        """
        by_choice = self.rules.program[:, column].astype(values.dtype)
        # With "clip", NumPy writes into `out` without a copy. No choice is out of bounds.
        np.take(by_choice, choices[: len(values)], out=values, mode="clip")

    def check_status(self, status: int) -> None:
        """Check that the kernel has not failed.

        Raises:
            RunFailure: a condition or AFTER MATCH SKIP has failed, or there were too many steps.
        """
        make_error = ERROR_BY_STATUS.get(status)
        if make_error is None:
            return
        progress = self.progress
        if status == layout.TOO_MANY_STEPS:
            raise RunFailure(make_error, int(progress.start), {"limit": self.task.max_steps})
        if status not in CONDITION_FAILURES:  # AFTER MATCH SKIP has failed
            fields: dict[str, object] = {"variable": self.task.after_match.variable}
            raise RunFailure(make_error, int(progress.row), fields)
        variable = self.rules.program[progress.choice, layout.TEST]
        fields = {"variable": self.task.variables[variable]}
        if status in ARITHMETIC_FAILURES:
            fields["origin"] = self.find_failed_operation(variable)
        if status == layout.FUNCTION_FAILED:
            assert self.arrays.python_calls is not None
            error = self.arrays.python_calls.get_failure()
            fields["reason"] = str(error)
            if isinstance(error, AnsiError):
                make_error = failures.function_failed_under_ansi
        raise RunFailure(make_error, int(progress.row), fields)

    def find_failed_operation(self, variable: int) -> OperationOrigin | None:
        """Return where the user wrote the operation that has failed; None if this is not known.

        Args:
            variable: the id of the variable whose condition has failed.
        """
        linked = self.arrays.compiled_task.linked_conditions
        assert linked is not None
        # `machine.evaluate_condition` stores the index of the instruction on the stack.
        stack = self.arrays.values.stack
        failed_instruction = int(stack[op.BITS_ROW, op.FAILED_INSTRUCTION])
        operation_index = linked.find_failing_operation_index(variable, failed_instruction)
        # The condition of the task itself has the text of this query. The compiled task can come
        # from an equal query with another text.
        condition = self.task.conditions[variable].run_condition
        if operation_index is None or condition is None:
            return None
        return list_failing_operations(condition)[operation_index].origin

    def shape_registers(self, run_count: int) -> Shapes:
        """Return the shape of the registers of some runs; empty if the search has no registers.

        Row 0 of the array has the registers before the first row of a run. Each other row has the
        registers of one run.
        """
        if (
            self.arrays.compiled_task.linked_conditions is None
            and not self.arrays.uses_event_selection
        ):
            return {}
        return {"registers": ((run_count + 1, self.arrays.compiled_task.register_count), np.int64)}

    def shape_table(self, size: int) -> Shapes:
        """Return the shape of the hash table of computation states.

        At most half of its `size` entries are used. `size` is 0 or a power of two.
        """
        columns = layout.TABLE_REGISTERS + self.arrays.compiled_task.register_count
        return {"table": ((size, columns), np.int64)}

    def shape_memo(self) -> Shapes:
        """Return the shape of the memo of failures: a ring of rows, a bit for each memo number."""
        bytes_per_row = ceil(self.memo_number_count / 8)
        return {"memo": ((self.sizes[layout.MEMO_FULL], bytes_per_row), np.uint8)}

    @property
    def memo_number_count(self) -> int:
        """Return how many states have memo numbers, which count from 0."""
        return int(self.arrays.rules.program[:, layout.MEMO].max(initial=-1)) + 1


class CreateArray(Protocol):
    """A function that creates an array: `np.zeros` or `np.empty`."""

    def __call__(self, shape: tuple[int, ...], dtype: type[Element], /) -> WorkingArray:
        """Return an array with this shape and type."""
