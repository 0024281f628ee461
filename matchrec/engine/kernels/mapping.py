"""A row is mapped where the condition depends on the run: registers first, then the condition."""

from typing import NamedTuple

import numpy as np

from matchrec.engine.contiguous.kernels.coverage_layout import CoverageWork
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import Partition
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import layout as own
from matchrec.evaluate.kernels.conditions import Input, holds
from matchrec.evaluate.kernels.steps import update_registers
from matchrec.jit.decorators import spliced

Rules = layout.Rules | own.Rules
Rows = layout.Rows | own.Rows
Work = layout.Work | own.Work | CoverageWork


class Places(NamedTuple):
    """Where the registers of a run stand before and after a row."""

    before: int
    after: int


class OnRun(NamedTuple):
    """What conditions on the run read, and where they are evaluated: see `evaluate.kernels`.

    Of all records it is what they need: each word of a record costs the compiler time wherever that
    is passed on or read.
    """

    instructions: IntArray
    registers: IntArray
    stack: IntArray
    given: Input


@spliced
def on_run_of(partition: Partition, rules: Rules, rows: Rows, work: Work) -> OnRun:
    """What conditions on the run read in a partition, for the match after those found."""
    given = Input(
        rows.columns,
        rows.valid,
        rows.mathematics,
        rows.python,
        partition.lower,
        partition.upper,
        work.progress,
    )
    return OnRun(rules.instructions, work.registers, work.stack, given)


@spliced
def takes_too_many_steps(progress: IntArray) -> bool:
    """Count one more evaluation of a condition on the run; whether that is more than allowed."""
    progress[layout.STEP_COUNT] += 1
    return bool(progress[layout.STEP_COUNT] > progress[layout.STEP_LIMIT])


@spliced
def map_row(choice: int, places: Places, row: int, program: IntArray, on_run: OnRun) -> int:
    """Map `row` by `choice` in a copy of the registers; evaluate the choice's condition on it.

    HOLDS, HOLDS_NOT or an error.
    """
    update_copy(choice, places, row, program, on_run)
    return holds_at(choice, places.after, row, program, on_run)


@spliced
def holds_at(choice: int, place: int, row: int, program: IntArray, on_run: OnRun) -> int:
    """The answer of the choice's condition on the registers at a place: HOLDS or another one."""
    begin, end = program[choice, layout.CODE], program[choice, layout.CODE_END]
    instructions, registers, stack = on_run.instructions, on_run.registers, on_run.stack
    return holds(instructions, begin, end, registers, place, row, on_run.given, stack)


@spliced
def copy_registers(before: int, after: int, registers: IntArray) -> None:
    """Copy the registers of a run from one place to another."""
    register = np.int64(0)  # for the compiler, a range is a hundred instructions
    while register < registers.shape[1]:
        registers[after, register] = registers[before, register]
        register += 1


@spliced
def update_copy(choice: int, places: Places, row: int, program: IntArray, on_run: OnRun) -> None:
    """Copy the registers of a run, and update the copy by the row that `choice` maps."""
    registers, after = on_run.registers, places.after
    copy_registers(places.before, after, registers)
    begin, end = program[choice, layout.STEPS], program[choice, layout.STEPS_END]
    update_registers(on_run.instructions, begin, end, registers, after, row, on_run.given)
