"""Turn a task and its partitions into the arrays that the kernels read.

`prepare_input` returns a `SearchInput`, whose fields are:

    compiled_task      the arrays of the task: see `search.compiled_task`
    selection_rules    the rules of event selection
    rows               the partitions
    values             the columns, callbacks and stack of the conditions on the run
    negation, totals   the arrays that only some tasks need
    end_times          when windows end
    python_calls       the calls in conditions that only Python can compute

In a search with event selection, every row has a window end. If the query has no window, the window
of each row ends with the partition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from matchrec.conditions.evaluate.formulas import RowValues
from matchrec.conditions.evaluate.kernels.machine import MachineInput
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
from matchrec.search.task import Task, Total, TotalFunction

if TYPE_CHECKING:
    from matchrec.conditions.evaluate.python_calls import PythonCalls


@dataclass(frozen=True, slots=True)
class SearchInput:
    """The arrays of a task and its partitions, as the kernels read them."""

    # The arrays of the task, which equal tasks share.
    compiled_task: CompiledTask
    # None for a contiguous search.
    selection_rules: layout.SelectionRules | None
    rows: layout.RowArrays
    # The columns, callbacks and stack of the conditions on the run.
    values: ConditionValues
    # None if the task has no negation and no closing condition.
    negation: layout.NegationArrays | None
    # When windows end: see `Partitions.end_times`.
    end_times: IntArray | None
    # Computes the calls in conditions on the run. None if no condition depends on the run.
    python_calls: PythonCalls | None
    # None if the task outputs matches.
    totals: layout.TotalArrays | None = None

    @property
    def rules(self) -> layout.Rules:
        """Return the rules of the task."""
        return self.compiled_task.rules

    @property
    def uses_event_selection(self) -> bool:
        """Return whether the search uses event selection."""
        return self.selection_rules is not None

    def bind_conditions(
        self, registers: IntArray, progress: layout.Progress
    ) -> layout.RunConditions:
        """Return the conditions on the run for a search.

        Args:
            registers: the registers of all runs.
            progress: the progress of the search; conditions read its partition.
        """
        values = self.values
        code = self.compiled_task.code
        machine_input = MachineInput(
            columns=values.columns,
            valid=values.is_valid,
            mathematics=values.mathematics_pointer,
            python=values.python_pointer,
            progress=layout.view_progress(progress),
        )
        return layout.RunConditions(
            instructions=code.instructions,
            tests_before_mapping=code.tests_before_mapping,
            live_first=code.live_first,
            live_registers=code.live_registers,
            registers=registers,
            stack=values.stack,
            machine_input=machine_input,
        )

    def connect_python_calls(
        self, progress: layout.Progress, get_registers: Callable[[], IntArray]
    ) -> None:
        """Connect the Python callbacks to a search, before it begins.

        The callbacks read the registers and the match number of the search. If the search is
        contiguous, they also read its starting row.

        Args:
            progress: the progress of the search.
            get_registers: returns the registers of all runs. A callback calls it each time, because
                the search replaces the array when it needs a larger one.
        """
        if self.python_calls is None:
            return
        self.python_calls.read_registers = get_registers
        # `progress` has the number of the last match.
        self.python_calls.find_match_number = lambda: int(progress.match_number) + 1
        if not self.uses_event_selection:
            # A contiguous search has no live runs when it sets another `progress.start`. So Python
            # can then drop the lists of earlier runs: see `conditions.evaluate.lists`.
            self.python_calls.find_search_start = lambda: (progress.partition, progress.start)


@dataclass(frozen=True, slots=True)
class ConditionValues:
    """The values that conditions on the run read: see `conditions.evaluate.kernels.machine`."""

    # int64[c, n], the values of c columns of n rows: integers, then the bits of doubles.
    columns: IntArray
    # bool[c, n], which of these values are not NULL.
    is_valid: BoolArray
    # Pointer to the function that computes mathematics, such as square roots.
    mathematics_pointer: Callback
    # Pointer to the function that computes the calls that only Python can compute.
    python_pointer: Callback
    # int64[2, d], the stack on which conditions are evaluated; d is its greatest depth.
    stack: IntArray


def prepare_input(
    task: Task, partitions: Partitions, *, for_event_selection: bool = True
) -> SearchInput:
    """Convert a task and its partitions to the arrays that kernels read.

    Args:
        task: the task of a query.
        partitions: the rows to search.
        for_event_selection: whether the search uses event selection.
    """
    compiled_task = compile_task(task, partitions.integer_count)
    rows = build_row_arrays(partitions, for_event_selection=for_event_selection)
    negation = None
    if task.absences or task.closing_condition is not None:
        negation = build_negation_arrays(task, compiled_task, rows.condition_bits)
    values, python_calls = build_condition_values(compiled_task, partitions)
    return SearchInput(
        compiled_task=compiled_task,
        selection_rules=compiled_task.selection_rules if for_event_selection else None,
        rows=rows,
        values=values,
        negation=negation,
        end_times=partitions.end_times,
        python_calls=python_calls,
        totals=build_total_arrays(task, partitions, compiled_task, rows.window_end),
    )


def build_condition_values(
    compiled_task: CompiledTask, partitions: Partitions
) -> tuple[ConditionValues, PythonCalls | None]:
    """Return the values that conditions on the run read, and the calls that Python computes.

    The calls are None if the task has no condition on the run.
    """
    columns = convert_for_kernels(partitions.columns, np.int64)
    is_valid = convert_for_kernels(partitions.valid, np.bool_)
    if compiled_task.linked_conditions is None:
        values_without_conditions = ConditionValues(
            columns=columns,
            is_valid=is_valid,
            mathematics_pointer=NO_CALLBACK,
            python_pointer=NO_CALLBACK,
            stack=np.zeros((2, 1), np.int64),
        )
        return values_without_conditions, None
    # Imported here, because it loads all functions that conditions can call.
    from matchrec.conditions.evaluate.python_calls import PythonCalls

    calls = PythonCalls(
        compiled_task.linked_conditions, RowValues(columns, is_valid, partitions.ranked_values)
    )
    values = ConditionValues(
        columns=columns,
        is_valid=is_valid,
        mathematics_pointer=calls.mathematics,
        python_pointer=calls.pointer,
        stack=calls.stack,
    )
    return values, calls


def build_row_arrays(partitions: Partitions, *, for_event_selection: bool) -> layout.RowArrays:
    """Return the partitions as kernels read them.

    Args:
        partitions: the rows to search.
        for_event_selection: whether the search uses event selection. Such a search ignores the
            frontier of the partitions, so it gets a new one.
    """
    starts = convert_for_kernels(partitions.starts, np.int64)
    frontier = partitions.frontier
    if for_event_selection or frontier is None:
        frontier = Frontier.create(partitions.starts)
    window_end = partitions.window_end
    if window_end is None:
        # Event selection needs a window end for each row: without a window, its partition's end.
        if for_event_selection:
            window_end = np.repeat(starts[1:], np.diff(starts))
        else:
            window_end = np.empty(0, np.int64)
    return layout.RowArrays(
        starts=starts,
        frontier=frontier,
        condition_bits=convert_for_kernels(partitions.condition_bits, np.uint64).view(np.int64),
        window_end=convert_for_kernels(window_end, np.int64),
        # Searches that pass over starting rows replace this array: see `beginnings`.
        can_begin=convert_for_kernels(np.zeros(0, np.bool_), np.bool_),
    )


def build_negation_arrays(
    task: Task, compiled_task: CompiledTask, condition_bits: IntArray
) -> layout.NegationArrays:
    """Return the arrays for negations and the closing condition.

    Args:
        task: a task with negations or a closing condition.
        compiled_task: the same task, compiled.
        condition_bits: int64[n, w], the row conditions that each row satisfies.
    """
    absence_count = len(task.absences)
    row_count = len(condition_bits)
    absences = np.zeros((absence_count, layout.ABSENCE_SIZE), np.int64)
    members = np.zeros((absence_count, layout.SIDE_COUNT, len(task.variables)), np.bool_)
    next_satisfying_rows = np.full((absence_count, row_count + 1), row_count, np.int64)
    for index, absence in enumerate(task.absences):
        if absence.variables_before is None:
            absence_kind = layout.AT_THE_BEGINNING
        elif absence.variables_after is None:
            absence_kind = layout.AT_THE_END
        else:
            absence_kind = layout.IN_THE_MIDDLE
        code, code_end = find_code(absence.variable, compiled_task)
        absences[index, layout.ABSENCE_KIND] = absence_kind
        absences[index, layout.ABSENCE_CODE] = code
        absences[index, layout.ABSENCE_CODE_END] = code_end
        members[index, layout.BEFORE_ABSENCE, list(absence.variables_before or ())] = True
        members[index, layout.AFTER_ABSENCE, list(absence.variables_after or ())] = True
        word, mask = find_bit(task.conditions[absence.variable])
        is_satisfied = condition_bits[:, word] & mask == mask
        # For each row, the first row from it on that satisfies the condition. Other rows count as
        # `row_count`, so this is the minimum over all rows from the last row back to the row.
        satisfying_rows = np.where(is_satisfied, np.arange(row_count), row_count)
        next_satisfying_rows[index, :row_count] = np.minimum.accumulate(satisfying_rows[::-1])[::-1]
    return layout.NegationArrays(
        absences=absences,
        members=members,
        closing_conditions=build_closing_array(task, compiled_task),
        next_satisfying_rows=next_satisfying_rows,
    )


def build_closing_array(task: Task, compiled_task: CompiledTask) -> IntArray:
    """Return `layout.NegationArrays.closing_conditions`.

    The array has no row if the task has no closing condition.
    """
    if task.closing_condition is None:
        return np.zeros((0, layout.CLOSING_SIZE), np.int64)
    word, mask = find_bit(task.conditions[task.closing_condition])
    code, code_end = find_code(task.closing_condition, compiled_task)
    closing = np.zeros((1, layout.CLOSING_SIZE), np.int64)
    closing[0, layout.CLOSING_WORD] = word
    closing[0, layout.CLOSING_MASK] = mask
    closing[0, layout.CLOSING_CODE] = code
    closing[0, layout.CLOSING_CODE_END] = code_end
    return closing


def build_total_arrays(
    task: Task, partitions: Partitions, compiled_task: CompiledTask, window_end: IntArray
) -> layout.TotalArrays | None:
    """Return the arrays for aggregates over all matches; None if the task has no aggregates."""
    if task.totals is None:
        return None
    aggregates = task.totals.aggregates
    grouping = task.totals.grouping
    # The columns that only totals read come last, and an aggregate reads each of them.
    read_columns = {aggregate.column for aggregate in aggregates} - {None}
    first_column = len(partitions.columns) - len(read_columns)

    if grouping is Grouping.PARTITION:
        group_count = len(partitions.starts) - 1
    else:
        group_count = partitions.row_count
    # Runs with equal keys can merge. Usually the key is the end of the window. If the group or a
    # leading negation depends on the first row, the key is that row.
    has_leading_negation = any(absence.variables_before is None for absence in task.absences)
    if grouping is Grouping.START or has_leading_negation:
        merge_keys = np.arange(partitions.row_count)
    else:
        merge_keys = window_end
    return layout.TotalArrays(
        aggregates=encode_aggregates(aggregates),
        members=mark_members(aggregates, len(task.variables)),
        values=convert_for_kernels(partitions.columns[first_column:], np.int64),
        valid=convert_for_kernels(partitions.valid[first_column:], np.bool_),
        variables=compiled_task.rules.program[:, layout.VARIABLE].copy(),
        merge_keys=convert_for_kernels(merge_keys, np.int64),
        groups=np.zeros((group_count, count_words(len(aggregates))), np.int64),
        # The codes in `layout`, such as BY_PARTITION, are the indices of the members of Grouping.
        grouping=list(Grouping).index(grouping),
        # A run can make every choice of its state, or skip the row.
        max_branches=1 + int(np.diff(compiled_task.rules.first_choice).max()),
    )


def encode_aggregates(aggregates: Sequence[Total]) -> IntArray:
    """Return aggregates as `TotalArrays.aggregates`: int64[t, 4]."""
    # The codes in `carried_totals`, such as COUNT, are the indices of the members.
    functions = list(TotalFunction)
    encoded = np.zeros((len(aggregates), AGGREGATE_SIZE), np.int64)
    for index, aggregate in enumerate(aggregates):
        encoded[index, OUTER_FUNCTION] = functions.index(aggregate.outer_function)
        encoded[index, INNER_FUNCTION] = functions.index(aggregate.inner_function)
        encoded[index, VALUES] = encode_optional(aggregate.column)
        encoded[index, IS_FLOAT] = aggregate.is_float
    return encoded


def mark_members(aggregates: Sequence[Total], variable_count: int) -> BoolArray:
    """Return the variables that aggregates read, as `TotalArrays.members`: bool[t, v]."""
    members = np.zeros((len(aggregates), variable_count), np.bool_)
    for index, aggregate in enumerate(aggregates):
        members[index, list(aggregate.members)] = True
    return members


Scalar = TypeVar("Scalar", bound=np.generic)  # the type of an array's elements


def convert_for_kernels(array: npt.NDArray[np.generic], dtype: type[Scalar]) -> npt.NDArray[Scalar]:
    """Return a contiguous read-only array of `dtype`, as kernels take it.

    The array is copied only if its type or its layout differs. It is read-only, because kernels are
    compiled separately for writable arrays, and some arrays, such as Arrow's, are never writable.
    """
    array_for_kernels: npt.NDArray[Scalar] = read_only(np.ascontiguousarray(array, dtype))
    return array_for_kernels
