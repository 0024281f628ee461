"""A row is mapped where the condition depends on the run: registers first, then the condition."""

from typing import NamedTuple

from matchrec.engine.contiguous.kernels.coverage_layout import CoverageWork
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import Partition
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import layout as own
from matchrec.evaluate.kernels.conditions import Input, holds
from matchrec.evaluate.kernels.steps import update_registers
from matchrec.jit.decorators import inlined, spliced

Rules = layout.Rules | own.Rules
Rows = layout.Rows | own.Rows
Work = layout.Work | own.Work | CoverageWork


class Places(NamedTuple):
    """Where the registers of a run stand before and after a row."""

    before: int
    after: int


@inlined
def takes_too_many_steps(progress: IntArray) -> bool:
    """Count one more evaluation of a condition on the run; whether that is more than allowed."""
    progress[layout.STEP_COUNT] += 1
    return bool(progress[layout.STEP_COUNT] > progress[layout.STEP_LIMIT])


@inlined
def map_row(
    choice: int,
    places: Places,
    row: int,
    partition: Partition,
    rules: Rules,
    rows: Rows,
    work: Work,
) -> int:
    """Map `row` by `choice` in a copy of the registers; evaluate the choice's condition on it.

    HOLDS, HOLDS_NOT or an error.
    """
    update_copy(choice, places, row, partition, rules, rows, work)
    return holds_after(choice, places.after, row, partition, rules, rows, work)


@inlined
def input_of(partition: Partition, rows: Rows, work: Work) -> Input:
    """What conditions read of a partition, while the match after those found is tried."""
    number = work.progress[layout.NUMBER] + 1
    return Input(
        rows.columns,
        rows.valid,
        rows.mathematics,
        rows.python,
        partition.lower,
        partition.upper,
        number,
    )


@spliced
def holds_after(
    choice: int, after: int, row: int, partition: Partition, rules: Rules, rows: Rows, work: Work
) -> int:
    """The answer of the choice's condition on the registers after the row: HOLDS or another one."""
    begin, end = rules.program[choice, layout.CODE], rules.program[choice, layout.CODE_END]
    source = input_of(partition, rows, work)
    return holds(rules.instructions, begin, end, work.registers, after, row, source, work.stack)


@spliced
def copy_registers(before: int, after: int, work: Work) -> None:
    """Copy the registers of a run from one place to another."""
    registers = work.registers
    for register in range(registers.shape[1]):
        registers[after, register] = registers[before, register]


@spliced
def update_copy(
    choice: int,
    places: Places,
    row: int,
    partition: Partition,
    rules: Rules,
    rows: Rows,
    work: Work,
) -> None:
    """Copy the registers of a run, and update the copy by the row that `choice` maps."""
    copy_registers(places.before, places.after, work)
    registers = work.registers
    begin, end = rules.program[choice, layout.STEPS], rules.program[choice, layout.STEPS_END]
    source = input_of(partition, rows, work)
    update_registers(rules.instructions, begin, end, registers, places.after, row, source)
