"""Turn a task and its partitions into the arrays that the kernels read.

`prepare_input` puts together the arrays of the task (`search.compiled_task`), of the rows, of
negations, and of totals. Kernels get them as named tuples of `kernels.layout`.

With event selection no array is missing: without conditions on the run, a row of registers is
empty; without a window, the window of each row ends with the partition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from matchrec.conditions.evaluate.formulas import RowValues
from matchrec.conditions.evaluate.kernels.machine import Input
from matchrec.jit.callbacks import NO_CALLBACK, Callback
from matchrec.jit.views import read_only
from matchrec.plan.clauses import Grouping
from matchrec.search.compiled_task import (
    CompiledTask,
    compile_task,
    encode_optional,
    find_bit,
    find_code,
)
from matchrec.search.kernels import layout
from matchrec.search.kernels.carried_totals import (
    AGGREGATE_SIZE,
    INNER_FUNCTION,
    IS_FLOAT,
    OUTER_FUNCTION,
    VALUES,
    count_words,
)
from matchrec.search.partitions import BoolArray, Frontier, IntArray, Partitions
from matchrec.search.task import Task, TotalFunction

if TYPE_CHECKING:
    from matchrec.conditions.evaluate.python_calls import PythonCalls


@dataclass(frozen=True, slots=True)
class SearchInput:
    """A task over some partitions, as the kernels read them."""

    # Whether the search is one with event selection.
    for_event_selection: bool
    # The arrays of the task, which equal tasks share.
    compiled: CompiledTask
    rules: layout.Rules
    # None for a contiguous search.
    selecting: layout.SelectionRules | None
    rows: layout.RowArrays
    # What conditions on the run read of the rows.
    values: ConditionValues
    # None if the task has no negation.
    negation: layout.NegationArrays | None
    # When windows end: see `Partitions.end_times`.
    end_times: IntArray | None
    # Computes the calls in conditions on the run. None if no condition depends on the run.
    python_calls: PythonCalls | None
    # None if the task outputs matches.
    totals: layout.TotalArrays | None = None

    def bind_conditions(
        self, registers: IntArray, progress: layout.Progress
    ) -> layout.RunConditions:
        """Return the conditions on the run for a search.

        Args:
            registers: the registers of all runs.
            progress: the progress of the search; conditions read its partition.
        """
        values = self.values
        code = self.compiled.code
        machine_input = Input(
            columns=values.columns,
            valid=values.valid,
            mathematics=values.mathematics,
            python=values.python,
            progress=layout.view_progress(progress),
        )
        return layout.RunConditions(
            instructions=code.instructions,
            tests_before_mapping=code.tests_before_mapping,
            live_first=code.live_first,
            live=code.live,
            registers=registers,
            stack=values.stack,
            machine_input=machine_input,
        )

    def connect_python_calls(
        self, progress: layout.Progress, registers: Callable[[], IntArray]
    ) -> None:
        """Let the functions that Python computes read the runs and the match of a search.

        Args:
            progress: the progress of the search.
            registers: returns the registers at the time of the call. The search replaces them as it
                grows.
        """
        if self.python_calls is None:
            return
        self.python_calls.read_registers = registers
        self.python_calls.find_match_number = lambda: int(progress.match_number) + 1
        if not self.for_event_selection:
            # A contiguous search has no live runs when it sets another `progress.start`. So Python
            # can drop the lists of the runs before.
            self.python_calls.find_search_start = lambda: (progress.partition, progress.start)


@dataclass(frozen=True, slots=True)
class ConditionValues:
    """The values that conditions on the run read: see `conditions.evaluate.kernels.machine`."""

    # int64[c, n], the values of the columns: integers, then the bits of doubles.
    columns: IntArray
    # bool[c, n], which of these values are not NULL.
    valid: BoolArray
    # Pointer to the function that computes mathematics, such as square roots.
    mathematics: Callback
    # Pointer to the function that computes the calls that only Python can compute.
    python: Callback
    # int64[2, d], the stack on which conditions are evaluated.
    stack: IntArray


def prepare_input(
    task: Task, partitions: Partitions, *, for_event_selection: bool = True
) -> SearchInput:
    """Return the arrays of a task and its partitions.

    Args:
        task: the task of a query.
        partitions: the rows to search.
        for_event_selection: whether they are for a search with event selection.
    """
    compiled = compile_task(task, partitions.integers)
    rows = build_row_arrays(partitions, for_event_selection=for_event_selection)
    negation = None
    if task.absences or task.closing_condition is not None:
        negation = build_negation_arrays(task, compiled, rows.satisfied)
    values, python_calls = bind_values(compiled, partitions)
    return SearchInput(
        for_event_selection=for_event_selection,
        compiled=compiled,
        rules=compiled.rules,
        selecting=compiled.selecting if for_event_selection else None,
        rows=rows,
        values=values,
        negation=negation,
        end_times=partitions.end_times,
        python_calls=python_calls,
        totals=build_total_arrays(task, partitions, compiled, rows.window_end),
    )


def bind_values(
    compiled: CompiledTask, partitions: Partitions
) -> tuple[ConditionValues, PythonCalls | None]:
    """Return what conditions on the run read, and the calls in them.

    Without conditions on the run, there are no functions to call, and the second is None.
    """
    columns = make_read_only(partitions.columns, np.int64)
    valid = make_read_only(partitions.valid, np.bool_)
    if compiled.linked is None:
        no_stack = np.zeros((2, 1), np.int64)
        return ConditionValues(columns, valid, NO_CALLBACK, NO_CALLBACK, no_stack), None
    # Imported here, because it loads all functions that conditions can call.
    from matchrec.conditions.evaluate.python_calls import PythonCalls

    calls = PythonCalls(compiled.linked, RowValues(columns, valid, partitions.ranked))
    values = ConditionValues(
        columns=columns,
        valid=valid,
        mathematics=calls.mathematics,
        python=calls.pointer,
        stack=calls.stack,
    )
    return values, calls


def build_row_arrays(partitions: Partitions, *, for_event_selection: bool) -> layout.RowArrays:
    """Return the partitions as kernels read them.

    Args:
        partitions: the rows to search.
        for_event_selection: whether they are for a search with event selection. Such a search does
            not keep to the frontier of the partitions, so it gets a new one.
    """
    starts = make_read_only(partitions.starts, np.int64)
    frontier = partitions.frontier
    if for_event_selection or frontier is None:
        frontier = Frontier.create(partitions.starts)
    window_end = partitions.window_end
    if window_end is None:
        sizes = np.diff(starts)
        window_end = np.repeat(starts[1:], sizes if for_event_selection else 0)
    return layout.RowArrays(
        starts=starts,
        frontier=frontier,
        satisfied=make_read_only(partitions.satisfied, np.uint64).view(np.int64),
        window_end=make_read_only(window_end, np.int64),
        # `beginnings.find_possible_beginnings` computes it for the searches that use it.
        may_begin=make_read_only(np.empty(0), np.bool_),
    )


def build_negation_arrays(
    task: Task, compiled: CompiledTask, satisfied: IntArray
) -> layout.NegationArrays:
    """Return the tests of a match as a whole, as kernels read them.

    Args:
        task: a task with negations or a closing condition.
        compiled: the same task, compiled.
        satisfied: int64[n, w], the row conditions that each row satisfies.
    """
    count = len(task.absences)
    rows = len(satisfied)
    absences = np.zeros((count, layout.ABSENCE_SIZE), np.int64)
    members = np.zeros((count, 2, len(task.variables)), np.bool_)
    following = np.full((count, rows + 1), rows, np.int64)
    for index, absence in enumerate(task.absences):
        if absence.after is None:
            place = layout.AT_THE_BEGINNING
        elif absence.before is None:
            place = layout.AT_THE_END
        else:
            place = layout.IN_THE_MIDDLE
        absences[index] = place, *find_code(absence.variable, compiled)
        for side, variables in enumerate((absence.after, absence.before)):
            members[index, side, list(variables or ())] = True
        word, mask = find_bit(task.conditions[absence.variable])
        is_satisfied = satisfied[:, word] & mask == mask
        # For each row, the first row from there on that satisfies the condition.
        satisfying = np.where(is_satisfied, np.arange(rows), rows)
        following[index, :rows] = np.minimum.accumulate(satisfying[::-1])[::-1]
    closing = np.zeros((0 if task.closing_condition is None else 1, layout.CLOSING_SIZE), np.int64)
    if task.closing_condition is not None:
        bit = find_bit(task.conditions[task.closing_condition])
        closing[0] = *bit, *find_code(task.closing_condition, compiled)
    return layout.NegationArrays(
        absences=absences, members=members, closing=closing, following=following
    )


def build_total_arrays(
    task: Task, partitions: Partitions, compiled: CompiledTask, window_end: IntArray
) -> layout.TotalArrays | None:
    """Return the aggregates over all matches, as kernels read them; None if a task has none."""
    if task.totals is None:
        return None
    totals = task.totals.aggregates
    grouping = task.totals.grouping
    members = np.zeros((len(totals), len(task.variables)), np.bool_)
    codes = np.zeros((len(totals), AGGREGATE_SIZE), np.int64)
    functions = list(TotalFunction)
    for index, total in enumerate(totals):
        members[index, list(total.members)] = True
        codes[index, OUTER_FUNCTION] = functions.index(total.outer_function)
        codes[index, INNER_FUNCTION] = functions.index(total.inner_function)
        codes[index, VALUES] = encode_optional(total.column)
        codes[index, IS_FLOAT] = total.is_float

    # The columns that only totals read are the last ones.
    last_column = max((encode_optional(total.column) for total in totals), default=-1)
    first_column = len(partitions.columns) - 1 - last_column

    if grouping is Grouping.PARTITION:
        group_count = len(partitions.starts) - 1
    else:
        group_count = partitions.rows
    # Runs merge only if their keys are equal: their windows end together, or they have the same
    # first row, if the group or a negation before the match depends on it.
    has_negation_before = any(absence.after is None for absence in task.absences)
    keeps_starts_apart = grouping is Grouping.START or has_negation_before
    merge_keys = np.arange(partitions.rows) if keeps_starts_apart else window_end
    return layout.TotalArrays(
        aggregates=codes,
        members=members,
        values=make_read_only(partitions.columns[first_column:], np.int64),
        valid=make_read_only(partitions.valid[first_column:], np.bool_),
        variables=compiled.rules.program[:, layout.VARIABLE].copy(),
        merge_keys=make_read_only(merge_keys, np.int64),
        groups=np.zeros((group_count, count_words(len(totals))), np.int64),
        grouping=list(Grouping).index(grouping),
        max_branches=1 + int(np.diff(compiled.rules.first_choice).max()),
    )


S = TypeVar("S", bound=np.generic)


def make_read_only(array: npt.NDArray[np.generic], dtype: type[S]) -> npt.NDArray[S]:
    """Return a contiguous array of `dtype`, as kernels take it. It is copied only if it must be.

    The result cannot be written to. Otherwise kernels would be compiled twice: for such arrays, and
    for arrays that are never writable, such as Arrow's.
    """
    array_for_kernels: npt.NDArray[S] = read_only(np.ascontiguousarray(array, dtype))
    return array_for_kernels
