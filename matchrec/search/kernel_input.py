"""Turn a task and its partitions into the arrays that the kernels read.

1. `compile_task` makes the arrays of the query: the choices of each state and the code of the
   conditions on the run. Equal tasks share them.
2. `prepare_input` adds the arrays of the partitions, negations and totals.

With event selection no array is missing: without conditions on the run, a row of registers is
empty; without a window, the window of each row ends with the partition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from matchrec.automaton.facts import find_live_states, find_states_worth_remembering
from matchrec.automaton.program import GUARD_END
from matchrec.automaton.run_endings import TIMED_OUT
from matchrec.conditions.evaluate.formulas import RowValues
from matchrec.conditions.evaluate.instructions import MATCH_NUMBER, READ
from matchrec.conditions.evaluate.kernels.machine import Input
from matchrec.conditions.evaluate.link import LinkedConditions, Move, link_conditions
from matchrec.jit.callbacks import NO_CALLBACK, Callback
from matchrec.jit.views import read_only
from matchrec.plan.clauses import EventSelection, Grouping, MatchOutput
from matchrec.search.kernels import layout
from matchrec.search.kernels.carried_totals import (
    AGGREGATE_SIZE,
    INNER_FUNCTION,
    IS_FLOAT,
    OUTER_FUNCTION,
    VALUES,
    count_words,
)
from matchrec.search.matches import encode_skip, find_skip_targets
from matchrec.search.partitions import BoolArray, Frontier, IntArray, Partitions
from matchrec.search.task import Condition, Task, TotalFunction
from matchrec.shortcuts import current_shortcuts

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

    columns: IntArray
    valid: BoolArray
    # Pointers to the functions that compute mathematics, and the calls that Python computes.
    mathematics: Callback
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

    columns = make_read_only(partitions.columns, np.int64)
    valid = make_read_only(partitions.valid, np.bool_)
    values = ConditionValues(
        columns=columns,
        valid=valid,
        mathematics=NO_CALLBACK,
        python=NO_CALLBACK,
        stack=np.zeros((2, 1), np.int64),
    )
    python_calls = None
    if compiled.linked is not None:
        # Imported here, because it loads all functions that conditions can call.
        from matchrec.conditions.evaluate.python_calls import PythonCalls

        source = RowValues(columns, valid, partitions.ranked)
        python_calls = PythonCalls(compiled.linked, source)
        values = replace(
            values,
            mathematics=python_calls.mathematics,
            python=python_calls.pointer,
            stack=python_calls.stack,
        )
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
            kind = layout.AT_THE_BEGINNING
        elif absence.before is None:
            kind = layout.AT_THE_END
        else:
            kind = layout.IN_THE_MIDDLE
        absences[index] = kind, *find_code(absence.variable, compiled)
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


def find_code(variable: int, compiled: CompiledTask) -> tuple[int, int]:
    """Return where the instructions of a variable's condition begin and end.

    Both are equal if the variable has no condition on the run.
    """
    return compiled.linked.code_ranges[variable] if compiled.linked else (0, 0)


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
    by_start = grouping is Grouping.START or any(absence.after is None for absence in task.absences)
    merge_keys = np.arange(partitions.rows) if by_start else window_end
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


@dataclass(frozen=True, slots=True, eq=False)
class CompiledTask:
    """The arrays of a task, without its names. Equal tasks share one object: see `compile_task`."""

    rules: layout.Rules
    # What only searches with event selection read.
    selecting: layout.SelectionRules
    # Whether some runs are output when their windows end.
    outputs_ended_runs: bool
    # The code of the conditions on the run.
    code: ConditionCode
    # The conditions on the run, linked; None if no condition depends on the run.
    linked: LinkedConditions | None
    # Whether failures can be remembered in all states that can be reached twice: no register
    # decides what follows in any of them.
    remembers_all: bool

    @property
    def offsets(self) -> tuple[int, ...]:
        """Return the distance of each row that conditions on the run read; PREV is negative.

        It is counted from a row of the run, or from the row that is about to be mapped.
        """
        if self.linked is None:
            return ()
        code = self.linked.all_code
        return tuple(code[code[:, 0] == READ, 3].tolist())

    @property
    def registers(self) -> int:
        """Return how many registers a run has."""
        return len(self.linked.initial_registers) if self.linked else 0


@dataclass(frozen=True, slots=True, eq=False)
class ConditionCode:
    """The code of the conditions on the run. See `layout.RunConditions` for the fields."""

    instructions: IntArray
    tests_before_mapping: bool
    live_first: IntArray
    live: IntArray


def compile_task(task: Task, integers: int) -> CompiledTask:
    """Return the arrays of a task over `integers` integer columns.

    An equal task gets the same object again, so what is computed for one serves all.
    """
    return build_task_arrays(task, integers, merging=current_shortcuts().merging)


# A worker calls it for every batch, and a stream for every key.
@lru_cache(maxsize=1024)
def build_task_arrays(task: Task, integers: int, *, merging: bool) -> CompiledTask:
    """Build the arrays of a task, see `compile_task`.

    Args:
        task: the task of a query.
        integers: how many integer columns its conditions on the run read.
        merging: whether equal runs may merge. Tests switch it off.
    """
    first, program = number_choices(task)
    state_count = len(first) - 1
    skip = task.skip or task.after_match
    variables = program[:, layout.VARIABLE]
    program[:, layout.IS_TARGET] = find_skip_targets(skip.variable, task.members, variables)

    memo_numbers = program[:, layout.MEMO].copy()
    linked = link_run_conditions(task, program, integers)
    remembers_all = bool(np.array_equal(program[:, layout.MEMO], memo_numbers))

    waiting_states, ending_kinds = encode_waiting(task)
    outputs_ended_runs = bool(ending_kinds.any())
    maps_further_rows = program[:, layout.TARGET] != layout.ACCEPT
    going_on = program[maps_further_rows, layout.SOURCE]
    rules = layout.Rules(
        first_choice=first,
        program=program,
        output=list(MatchOutput).index(task.output),
        skip=encode_skip(skip.to),
        forgets_after_match=linked is not None and MATCH_NUMBER in linked.operations,
        merge_runs=merging and task.output is not MatchOutput.GRAPH and not outputs_ended_runs,
    )
    selecting = layout.SelectionRules(
        start_count=task.pattern.folding.start_count,
        accepts=find_accepting_guards(program, state_count),
        may_continue=np.isin(np.arange(state_count), going_on).astype(np.int64),
        waiting_states=waiting_states,
        ending_kinds=ending_kinds,
    )
    return CompiledTask(
        rules=rules,
        selecting=selecting,
        outputs_ended_runs=outputs_ended_runs,
        code=build_condition_code(task, linked, state_count),
        linked=linked,
        remembers_all=remembers_all,
    )


def build_condition_code(
    task: Task, linked: LinkedConditions | None, state_count: int
) -> ConditionCode:
    """Return the code of the conditions on the run; empty arrays if no condition depends on it."""
    return ConditionCode(
        instructions=linked.instructions if linked else np.empty((0, 5), np.int64),
        tests_before_mapping=task.stages is not None,
        live_first=linked.live_first if linked else np.zeros(state_count + 1, np.int64),
        live=linked.live_registers if linked else np.empty(0, np.int64),
    )


def find_accepting_guards(program: IntArray, state_count: int) -> IntArray:
    """Return int64[s], the weakest guard under which a run that enters a state accepts, or -1."""
    guards = np.full(state_count, -1, np.int64)
    accepting = program[program[:, layout.TARGET] == layout.ACCEPT]
    for guard in (GUARD_END, 0):  # the weakest one last, because it overwrites the other
        guards[accepting[accepting[:, layout.GUARD] == guard, layout.SOURCE]] = guard
    return guards


def link_run_conditions(task: Task, program: IntArray, integers: int) -> LinkedConditions | None:
    """Link the conditions on the run, and write into `program` where each choice's code is.

    Failures that a register decides must not be remembered, so their choices lose the memo number.

    Args:
        task: the task of a query.
        program: the choices, as `number_choices` returns them. It is changed.
        integers: how many integer columns the conditions read.

    Returns:
        The linked conditions; None if no condition depends on the run.
    """
    if task.reads_only_data:
        return None
    folding = task.pattern.folding
    target = program[:, layout.TARGET]
    test = program[:, layout.TEST]
    maps_row = target >= 0
    has_test = test >= 0

    # By state, the variables whose conditions read the registers of a run in it: those that are
    # tested when the match is complete, and those that are tested before a row is mapped.
    tested_at_end = [absence.variable for absence in task.absences]
    if task.closing_condition is not None:
        tested_at_end.append(task.closing_condition)
    tested = [
        list(tested_at_end) if any(choice.accepts for choice in choices) else []
        for choices in folding.choices
    ]
    is_tested_before_mapping = has_test & (bool(folding.waiting_states) | ~maps_row)
    for choice in program[is_tested_before_mapping]:
        tested[int(choice[layout.SOURCE])].append(int(choice[layout.TEST]))

    # Stages are tested before the row is mapped, so nothing more is tested once it is.
    tested_after_mapping = layout.TEST if task.stages is None else layout.VARIABLE
    columns = [layout.SOURCE, layout.VARIABLE, layout.TARGET, tested_after_mapping]
    moves = tuple(Move(*row) for row in program[maps_row][:, columns].tolist())

    conditions = [condition.run_condition for condition in task.conditions]
    linked = link_conditions(conditions, task.members, integers, moves, tested)
    program[maps_row, layout.STEPS : layout.STEPS_END + 1] = np.reshape(linked.step_ranges, (-1, 2))
    code = np.reshape(linked.code_ranges, (-1, 2))
    program[has_test, layout.CODE : layout.CODE_END + 1] = code[test[has_test]]

    has_live_registers = np.diff(linked.live_first) > 0
    mapping_choices = np.flatnonzero(maps_row)
    is_decided_by_register = has_live_registers[target[maps_row]]
    program[mapping_choices[is_decided_by_register], layout.MEMO] = layout.NOT_REMEMBERED
    return linked


def encode_waiting(task: Task) -> tuple[IntArray, IntArray]:
    """Return `waiting_states` and `ending_kinds` of `layout.SelectionRules`.

    If all matches are searched and runs that time out are output as well, a run whose window ends
    is output in each state that is live.
    """
    folding = task.pattern.folding
    waiting_states = np.array([encode_optional(state) for state in task.waiting_states], np.int64)
    if task.stages is None:
        times_out = task.partial is not None and task.output is MatchOutput.ALL
        is_live = find_live_states(folding.choices) if times_out else np.zeros(len(waiting_states))
        return waiting_states, np.where(is_live, TIMED_OUT, 0).astype(np.int64)
    ending_kinds = np.array(folding.ending_kinds, np.int64)
    if not task.stages.outputs_timeouts:
        ending_kinds[ending_kinds >= TIMED_OUT] = 0
    return waiting_states, ending_kinds


def number_choices(task: Task) -> tuple[IntArray, IntArray]:
    """Return `first` and `program` of `layout.Rules`, without the code of conditions on the run.

    Every state that can be reached twice gets a memo number. With event selection, that is every
    state, because rows may be skipped.
    """
    choices_by_state = task.pattern.folding.choices
    choices = [choice for state in choices_by_state for choice in state]
    first = np.cumsum([0, *map(len, choices_by_state)]).astype(np.int64)
    source = np.repeat(np.arange(len(choices_by_state)), np.diff(first))

    is_worth_remembering = (
        np.array(find_states_worth_remembering(choices_by_state)) | task.needs_event_selection
    )
    memo_numbers = np.where(
        is_worth_remembering, np.cumsum(is_worth_remembering) - 1, layout.NOT_REMEMBERED
    )
    # A choice without a target has the target -1, which is the index of the last entry.
    memo = [*memo_numbers, layout.NOT_REMEMBERED]

    program = np.zeros((len(choices), layout.CHOICE_SIZE), np.int64)
    columns: dict[int, Sequence[int] | IntArray] = {
        layout.SOURCE: source,
        layout.TARGET: [encode_optional(choice.effect or choice.target) for choice in choices],
        layout.VARIABLE: [encode_optional(choice.variable) for choice in choices],
        layout.GUARD: [choice.guard for choice in choices],
        layout.MEMO: [memo[encode_optional(choice.target)] for choice in choices],
        layout.TEST: [
            encode_optional(choice.variable if choice.test is None else choice.test)
            for choice in choices
        ],
        layout.EXCLUDED: [choice.excluded for choice in choices],
        layout.REPEATS_LOOP: [choice.repeats_loop for choice in choices],
        layout.BLOCKS: [choice.blocks for choice in choices],
    }
    for column, values in columns.items():
        program[:, column] = values

    if task.stages is None:
        program[:, layout.BLOCKS] = find_blocking_choices(task, program)
    for choice in program:
        test = choice[layout.TEST]
        if test >= 0:
            choice[[layout.WORD, layout.MASK]] = find_bit(task.conditions[test])
    return first, program


def find_blocking_choices(task: Task, program: IntArray) -> BoolArray:
    """Return bool[c], whether a row that a choice can map may not be skipped.

    In a state inside a loop, only the choice that stays in the loop keeps a row from being skipped.
    This is for tasks without stages: the choices of stages say so themselves.
    """
    if task.selection is EventSelection.SKIP_TILL_ANY_MATCH:
        return np.zeros(len(program), np.bool_)
    source = program[:, layout.SOURCE]
    stays_in_loop = program[:, layout.REPEATS_LOOP] != 0
    is_loop_state = np.isin(source, source[stays_in_loop])
    return np.asarray(stays_in_loop | ~is_loop_state, np.bool_)


def encode_optional(value: int | None) -> int:
    """Return a number as the arrays of the kernels hold it, where -1 stands for None."""
    return -1 if value is None else int(value)


def find_bit(condition: Condition) -> tuple[int, int]:
    """Return where `satisfied` has the bit of a row condition: the word, and the mask in it.

    A row satisfies the condition if `satisfied[row, word] & mask == mask`. If there is no row
    condition, the mask is 0, which every row satisfies. The mask is signed, as the words are int64
    in kernels.

    >>> find_bit(Condition(row_condition=70)), find_bit(Condition())
    ((1, 64), (0, 0))
    """
    if condition.row_condition is None:
        return 0, 0
    word, bit = divmod(condition.row_condition, 64)
    mask = np.uint64(1 << bit)
    return word, int(mask.astype(np.int64))


S = TypeVar("S", bound=np.generic)


def make_read_only(array: npt.NDArray[np.generic], dtype: type[S]) -> npt.NDArray[S]:
    """Return a contiguous array of `dtype`, as kernels take it. It is copied only if it must be.

    The result cannot be written to: then kernels need no other machine code for arrays that never
    could, such as those that Arrow made.
    """
    array_for_kernels: npt.NDArray[S] = read_only(np.ascontiguousarray(array, dtype))
    return array_for_kernels
