"""Compile a task to the arrays that the kernels read: the query, without its rows.

`compile_task` makes these arrays, which equal tasks share:

- `Rules.program`, the choices of all states. State i of a row pattern A B has the choices
  first_choice[i] .. first_choice[i + 1] - 1, in preferment order:

      choice  source  target  variable
      0       0       1       A
      1       1       2       B
      2       2       ACCEPT  -1

- `ConditionCode`, the instructions of the conditions on the run, and the registers that they read;
- `SelectionRules`, for event selection: the states in which a run waits, accepts and is output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from matchrec.automaton.facts import mark_live_states, mark_states_worth_remembering
from matchrec.automaton.program import ANCHOR_END
from matchrec.automaton.run_endings import NOTHING, TIMED_OUT
from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.link import CodeRange, LinkedConditions, Move, link_conditions
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.search.kernels import layout
from matchrec.search.matches import encode_skip, find_skip_targets
from matchrec.search.partitions import BoolArray, IntArray
from matchrec.search.task import Condition, Task
from matchrec.shortcuts import current_shortcuts


@dataclass(frozen=True, slots=True, eq=False)
class CompiledTask:
    """The arrays of a task, without its names. Equal tasks share one object: see `compile_task`."""

    rules: layout.Rules
    # The rules that only searches with event selection read.
    selection_rules: layout.SelectionRules
    # Whether some runs are output when their windows end.
    outputs_ended_runs: bool
    # The code of the conditions on the run.
    code: ConditionCode
    # The conditions on the run, linked; None if no condition depends on the run.
    linked_conditions: LinkedConditions | None
    # Whether failures can be remembered in all states that can be reached twice, because no
    # register decides how a run goes on from any of these states.
    remembers_all: bool

    @property
    def offsets(self) -> tuple[int, ...]:
        """Return the physical offset of each value that conditions on the run read.

        An offset counts rows from a row of the run, or from the row that is about to be mapped: -1
        for PREV, 1 for NEXT.
        """
        if self.linked_conditions is None:
            return ()
        code = self.linked_conditions.all_code
        is_read = code[:, op.OPERATION] == op.READ
        return tuple(code[is_read, op.ARGUMENT_C].tolist())

    @property
    def reads_match_number(self) -> bool:
        """Return whether a condition on the run reads the match number."""
        return self.rules.forgets_after_match

    @property
    def register_count(self) -> int:
        """Return how many registers a run has."""
        return len(self.linked_conditions.initial_registers) if self.linked_conditions else 0


@dataclass(frozen=True, slots=True, eq=False)
class ConditionCode:
    """The code of the conditions on the run. See `layout.RunConditions` for the fields."""

    instructions: IntArray
    tests_before_mapping: bool
    live_first: IntArray
    live_registers: IntArray


def compile_task(task: Task, integer_count: int) -> CompiledTask:
    """Return the arrays of a task. An equal task gets the same object again.

    Args:
        task: the task of a query.
        integer_count: how many integer columns its conditions on the run read. Columns of doubles
            come after them.
    """
    return build_task_arrays(task, integer_count, merges_runs=current_shortcuts().merging)


# Cached, because a worker compiles a task for every batch, and a stream for every key.
@lru_cache(maxsize=1024)
def build_task_arrays(task: Task, integer_count: int, *, merges_runs: bool) -> CompiledTask:
    """Return new arrays for a task, or those that an equal call has built: see `compile_task`.

    Args:
        task: the task of a query.
        integer_count: how many integer columns its conditions on the run read.
        merges_runs: whether equal runs merge, if the task allows it. Tests switch merging off.
    """
    first_choice, program = build_program(task)
    state_count = len(first_choice) - 1
    skip = task.skip or task.after_match
    variables = program[:, layout.VARIABLE]
    program[:, layout.IS_TARGET] = find_skip_targets(skip.variable, task.members, variables)

    memo_numbers = program[:, layout.MEMO].copy()
    linked = link_run_conditions(task, program, integer_count)  # drops some memo numbers
    remembers_all = bool(np.array_equal(program[:, layout.MEMO], memo_numbers))

    states_after_skip, ending_kinds = encode_waiting(task)
    outputs_ended_runs = bool((ending_kinds != NOTHING).any())
    does_not_accept = program[:, layout.TARGET] != layout.ACCEPT
    states_that_continue = program[does_not_accept, layout.SOURCE]
    rules = layout.Rules(
        first_choice=first_choice,
        program=program,
        output=list(MatchOutput).index(task.output),
        skip=encode_skip(skip.to),
        forgets_after_match=linked is not None and op.MATCH_NUMBER in linked.operations,
        merges_runs=merges_runs and task.output is not MatchOutput.GRAPH and not outputs_ended_runs,
    )
    selection_rules = layout.SelectionRules(
        start_count=task.pattern.folding.start_count,
        accepting_guards=find_accepting_guards(program, state_count),
        can_continue=np.isin(np.arange(state_count), states_that_continue).astype(np.int64),
        states_after_skip=states_after_skip,
        ending_kinds=ending_kinds,
    )
    return CompiledTask(
        rules=rules,
        selection_rules=selection_rules,
        outputs_ended_runs=outputs_ended_runs,
        code=build_condition_code(task, linked, state_count),
        linked_conditions=linked,
        remembers_all=remembers_all,
    )


def build_condition_code(
    task: Task, linked: LinkedConditions | None, state_count: int
) -> ConditionCode:
    """Return the code of the conditions on the run; empty arrays if no condition depends on it."""
    tests_before_mapping = task.stages is not None
    if linked is None:
        return ConditionCode(
            instructions=np.empty((0, op.COLUMN_COUNT), np.int64),
            tests_before_mapping=tests_before_mapping,
            live_first=np.zeros(state_count + 1, np.int64),
            live_registers=np.empty(0, np.int64),
        )
    return ConditionCode(
        instructions=linked.instructions,
        tests_before_mapping=tests_before_mapping,
        live_first=linked.live_first,
        live_registers=linked.live_registers,
    )


def find_accepting_guards(program: IntArray, state_count: int) -> IntArray:
    """Return int64[s], the weakest guard under which a run that enters a state accepts.

    0 if the run accepts anywhere, ANCHOR_END if it accepts only at the end of the partition, -1 if
    it does not accept.
    """
    guards = np.full(state_count, -1, np.int64)
    accepting = program[program[:, layout.TARGET] == layout.ACCEPT]
    for guard in (ANCHOR_END, 0):  # the weaker guard last, because it overwrites the other
        states = accepting[accepting[:, layout.GUARD] == guard, layout.SOURCE]
        guards[states] = guard
    return guards


def link_run_conditions(
    task: Task, program: IntArray, integer_count: int
) -> LinkedConditions | None:
    """Link the conditions on the run, and write the code of each choice into `program`.

    A failure in a state with live registers must not be remembered, because another run can succeed
    in this state. So choices that lead to such a state lose their memo number.

    Args:
        task: the task of a query.
        program: the choices, as `build_program` returns them. The columns STEPS, CODE and MEMO are
            changed.
        integer_count: how many integer columns the conditions read.

    Returns:
        The linked conditions; None if no condition depends on the run.
    """
    if task.reads_only_data:
        return None
    target = program[:, layout.TARGET]
    test = program[:, layout.TEST]
    maps_row = target >= 0
    has_test = test >= 0

    # The condition of a stage is tested before the row is mapped. A move is about the test after
    # the row is mapped, so it gets the variable itself, which has no condition.
    test_column = layout.TEST if task.stages is None else layout.VARIABLE
    columns = [layout.SOURCE, layout.VARIABLE, layout.TARGET, test_column]
    moves = tuple(Move(*row) for row in program[maps_row][:, columns].tolist())

    linked = link_conditions(
        conditions=[condition.run_condition for condition in task.conditions],
        members_by_name=task.members,
        integer_count=integer_count,
        moves=moves,
        tested_variables=list_tested_variables(task, program),
    )
    program[maps_row, layout.STEPS : layout.STEPS_END + 1] = np.reshape(linked.step_ranges, (-1, 2))
    code_ranges = np.reshape(linked.code_ranges, (-1, 2))
    program[has_test, layout.CODE : layout.CODE_END + 1] = code_ranges[test[has_test]]

    has_live_registers = np.diff(linked.live_first) > 0
    mapping_choices = np.flatnonzero(maps_row)
    is_decided_by_register = has_live_registers[target[maps_row]]
    program[mapping_choices[is_decided_by_register], layout.MEMO] = layout.NOT_REMEMBERED
    return linked


def list_tested_variables(task: Task, program: IntArray) -> list[list[int]]:
    """Return, for each state, the variables whose conditions are evaluated on a run in the state.

    In a state that accepts, these are the conditions of the match as a whole. In any state, they
    are the conditions that are tested before a row is mapped. Other conditions are evaluated after
    the row is mapped.
    """
    folding = task.pattern.folding
    tested_at_end = [absence.variable for absence in task.absences]
    if task.closing_condition is not None:
        tested_at_end.append(task.closing_condition)
    tested_variables = [
        list(tested_at_end) if any(choice.accepts for choice in choices) else []
        for choices in folding.choices
    ]
    has_test = program[:, layout.TEST] >= 0
    maps_row = program[:, layout.TARGET] >= 0
    is_tested_before_mapping = has_test & (bool(folding.states_after_skip) | ~maps_row)
    for choice in program[is_tested_before_mapping]:
        state = int(choice[layout.SOURCE])
        tested_variables[state].append(int(choice[layout.TEST]))
    return tested_variables


def encode_waiting(task: Task) -> tuple[IntArray, IntArray]:
    """Return `states_after_skip` and `ending_kinds` of `layout.SelectionRules`.

    If all matches are sought and runs that time out are output as well, a run is output when its
    window ends, in each state from which a match can be reached.
    """
    folding = task.pattern.folding
    states_after_skip = np.array(
        [encode_optional(state) for state in task.states_after_skip], np.int64
    )
    if task.stages is None:
        times_out = task.partial is not None and task.output is MatchOutput.ALL
        is_live = (
            mark_live_states(folding.choices) if times_out else np.zeros(len(states_after_skip))
        )
        return states_after_skip, np.where(is_live, TIMED_OUT, NOTHING).astype(np.int64)
    ending_kinds = np.array(folding.ending_kinds, np.int64)
    if not task.stages.outputs_timeouts:
        ending_kinds[ending_kinds >= TIMED_OUT] = NOTHING
    return states_after_skip, ending_kinds


def build_program(task: Task) -> tuple[IntArray, IntArray]:
    """Return `first_choice` and `program` of `layout.Rules`, without the code of conditions.

    `link_run_conditions` adds the code later. Every state that can be reached twice at a row gets a
    memo number. With event selection, every state gets a memo number, because rows can be skipped.
    """
    choices_by_state = task.pattern.folding.choices
    choices = [choice for state_choices in choices_by_state for choice in state_choices]
    first_choice = np.cumsum([0, *map(len, choices_by_state)]).astype(np.int64)
    source = np.repeat(np.arange(len(choices_by_state)), np.diff(first_choice))

    is_worth_remembering = (
        np.array(mark_states_worth_remembering(choices_by_state)) | task.needs_event_selection
    )
    memo_number_by_state = np.where(
        is_worth_remembering, np.cumsum(is_worth_remembering) - 1, layout.NOT_REMEMBERED
    )
    # A choice without a target has the target -1, which selects the last entry.
    memo_numbers = [*memo_number_by_state, layout.NOT_REMEMBERED]

    program = np.zeros((len(choices), layout.CHOICE_SIZE), np.int64)
    columns: dict[int, Sequence[int] | IntArray] = {
        layout.SOURCE: source,
        layout.TARGET: [encode_optional(choice.effect or choice.target) for choice in choices],
        layout.VARIABLE: [encode_optional(choice.variable) for choice in choices],
        layout.GUARD: [choice.guard for choice in choices],
        layout.MEMO: [memo_numbers[encode_optional(choice.target)] for choice in choices],
        layout.TEST: [
            encode_optional(choice.variable if choice.test is None else choice.test)
            for choice in choices
        ],
        layout.EXCLUDED: [choice.is_excluded for choice in choices],
        layout.REPEATS_LOOP: [choice.repeats_loop for choice in choices],
        layout.BLOCKS: [choice.forbids_skip for choice in choices],
    }
    for column, values in columns.items():
        program[:, column] = values

    if task.stages is None:
        program[:, layout.BLOCKS] = find_blocking_choices(task, program)
    for choice in program:
        test = choice[layout.TEST]
        if test >= 0:
            choice[[layout.WORD, layout.MASK]] = find_bit(task.conditions[test])
    return first_choice, program


def find_blocking_choices(task: Task, program: IntArray) -> BoolArray:
    """Return bool[c], for each choice, whether a row that it can map must not be skipped.

    Skip till any match can skip every row. Otherwise, a row that can be mapped must not be skipped.
    But in a state inside a loop, only the choice that stays in the loop counts. The function is not
    for tasks of stages, whose choices say whether they forbid a skip.
    """
    if task.selection is EventSelection.SKIP_TILL_ANY_MATCH:
        return np.zeros(len(program), np.bool_)
    source = program[:, layout.SOURCE]
    stays_in_loop = program[:, layout.REPEATS_LOOP] != 0
    is_loop_state = np.isin(source, source[stays_in_loop])
    return np.asarray(stays_in_loop | ~is_loop_state, np.bool_)


def encode_optional(value: int | None) -> int:
    """Return a number for an array of the kernels, in which -1 stands for None."""
    return -1 if value is None else int(value)


def find_bit(condition: Condition) -> tuple[int, int]:
    """Return the word and the mask with which kernels test a row condition.

    A row satisfies the condition if `condition_bits[row, word] & mask == mask`. Without a row
    condition, the mask is 0, which every row satisfies. The mask is signed, because kernels read
    the words as int64.

    >>> find_bit(Condition(row_bit=70)), find_bit(Condition())
    ((1, 64), (0, 0))
    """
    if condition.row_bit is None:
        return 0, 0
    word, bit = divmod(condition.row_bit, 64)
    mask = np.uint64(1 << bit)
    return word, int(mask.astype(np.int64))


def find_code(variable: int, compiled_task: CompiledTask) -> CodeRange:
    """Return the range of the instructions of a variable's condition on the run.

    The range is empty if the variable has no condition on the run.
    """
    linked = compiled_task.linked_conditions
    return linked.code_ranges[variable] if linked else CodeRange(0, 0)
