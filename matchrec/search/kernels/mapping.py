"""Decide whether a run can map a row by a choice, and update its registers.

A run can map a row if

1. the row satisfies the row condition of the choice,
2. the anchors of the choice hold before the row, and
3. the condition on the run holds. It is evaluated on a copy of the run's registers, in which the
   row has been mapped already; for stages, before the row is mapped.

A run has its registers in a *slot*: a row of `RunConditions.registers`. A search of one run at a
time has a slot for each depth of its path. A search of all runs at once has a slot for each run
before a row and for each run after it: see `find_slot`.
"""

from __future__ import annotations

import numpy as np

from matchrec.automaton.program import ANCHOR_END, ANCHOR_START
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.conditions.evaluate.kernels.machine import evaluate_condition, update_registers
from matchrec.jit.decorators import inlined, spliced, stopping_test
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import Progress, RunConditions
from matchrec.search.partitions import IntArray


@inlined
def find_slot(run: int, bank: int) -> int:
    """Return the slot with the registers of a run, in a search of all runs at once.

    `run` and `bank` are its indices in `runs`. Slot 0 has the registers before the first row. In
    the slots after it, runs of both banks alternate.
    """
    return 1 + 2 * run + bank


def uncount_steps(number: int, progress: Progress) -> None:
    """Subtract the last `number` evaluations from the count, because they will be repeated."""
    progress.step_count -= number


@stopping_test(uncount_steps)
@spliced
def takes_too_many_steps(progress: Progress) -> bool:
    """Count an evaluation of a condition on the run; return whether there are too many now."""
    progress.step_count += 1
    return bool(progress.step_count > progress.step_limit)


@spliced
def evaluate_run_condition(
    choice: int, slot: int, row: int, program: IntArray, conditions: RunConditions
) -> int:
    """Evaluate a choice's condition on the run, whose registers are in a slot.

    Returns:
        HOLDS, HOLDS_NOT or an error.
    """
    begin = program[choice, layout.CODE]
    end = program[choice, layout.CODE_END]
    instructions = conditions.instructions
    stack = conditions.stack
    registers = conditions.registers[slot]
    machine_input = conditions.machine_input
    return evaluate_condition(instructions, begin, end, registers, row, machine_input, stack)


@spliced
def copy_registers(slot: int, new_slot: int, registers: IntArray) -> None:
    """Copy the registers of a run from one slot to another."""
    # A loop over a range would be turned into a hundred instructions by the compiler.
    register = np.int64(0)
    while register < registers.shape[1]:
        registers[new_slot, register] = registers[slot, register]
        register += 1


@spliced
def map_row_in_copy(
    choice: int, slot: int, new_slot: int, row: int, program: IntArray, conditions: RunConditions
) -> None:
    """Copy the registers of a run to a new slot, and update the copy for a row that is mapped."""
    registers = conditions.registers
    copy_registers(slot, new_slot, registers)
    begin = program[choice, layout.STEPS]
    end = program[choice, layout.STEPS_END]
    update_registers(
        conditions.instructions, begin, end, registers[new_slot], row, conditions.machine_input
    )


@spliced
def can_map_row(
    choice: int,
    slot: int,
    new_slot: int,
    row: int,
    program: IntArray,
    condition_bits: IntArray,
    progress: Progress,
    conditions: RunConditions,
) -> int:
    """Return whether a run can map a row by a choice: HOLDS, HOLDS_NOT or an error.

    `slot` has the registers of the run. `new_slot` gets its registers after the row. An error is
    as `evaluate_condition` returns it: see `make_failure_status`.
    """
    mask = program[choice, layout.MASK]
    if condition_bits[row, program[choice, layout.WORD]] & mask != mask:
        return HOLDS_NOT
    guard = program[choice, layout.GUARD]
    if guard != 0 and not is_anchored(guard, row, progress):
        return HOLDS_NOT
    return test_run_condition(choice, slot, new_slot, row, program, conditions)


@spliced
def test_run_condition(
    choice: int, slot: int, new_slot: int, row: int, program: IntArray, conditions: RunConditions
) -> int:
    """Return whether the condition on the run lets it map a row: HOLDS, HOLDS_NOT or an error.

    The row must satisfy the row condition and the anchors of the choice. For stages, the condition
    is evaluated before the row is mapped, otherwise after it is mapped. The loop runs the two steps
    in either order, so that each of them is compiled in one place only.
    """
    tests_first = conditions.tests_before_mapping
    if conditions.instructions.shape[0] == 0:
        return HOLDS
    tested_slot = slot if tests_first else new_slot
    step = np.int64(-1)
    while step < 1:
        step += 1
        if (step == 0) == tests_first:
            answer = evaluate_run_condition(choice, tested_slot, row, program, conditions)
            if answer != HOLDS:
                return answer
        else:
            map_row_in_copy(choice, slot, new_slot, row, program, conditions)
    return HOLDS


@inlined
def make_failure_status(answer: int) -> int:
    """Return the status for an error that evaluating a condition has returned."""
    return layout.ERROR_TO_STATUS + answer


@inlined
def is_failure_status(answer: int) -> bool:
    """Return whether an answer is a status of `make_failure_status`, not HOLDS or HOLDS_NOT."""
    return answer > layout.ERROR_TO_STATUS


@spliced
def note_failure(answer: int, choice: int, row: int, progress: Progress) -> int:
    """Note in `progress` which condition has failed at which row; return the status for it."""
    progress.row = row
    progress.choice = choice
    return make_failure_status(answer)


@spliced
def find_window_end(window_end: IntArray, start: int, progress: Progress) -> int:
    """Return the row before which a match that starts at `start` must end."""
    return progress.partition_end if window_end.shape[0] == 0 else window_end[start]


@spliced
def is_anchored(guard: int, row: int, progress: Progress) -> bool:
    """Return whether the anchors in `guard` hold before `row` of the partition that is searched."""
    if guard & ANCHOR_START and row != progress.partition_begin:
        return False
    return not (guard & ANCHOR_END and row != progress.partition_end)
