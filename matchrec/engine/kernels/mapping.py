"""A row is mapped where the condition depends on the run: registers first, then the condition."""

from matchrec.engine.kernels import layout
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import layout as own
from matchrec.evaluate.kernels import Input, holds, update_registers
from matchrec.jit.decorators import inlined

Rules = layout.Rules | own.Rules
Rows = layout.Rows | own.Rows
Work = layout.Work | own.Work


@inlined
def is_asked_too_often(progress: IntArray) -> bool:
    """Counts one more condition that depends on the run, against the limit of steps."""
    progress[layout.ASKED] += 1
    return bool(progress[layout.ASKED] > progress[layout.MOST_ASKED])


@inlined
def map_row(
    choice: int,
    before: int,
    after: int,
    row: int,
    lower: int,
    upper: int,
    rules: Rules,
    rows: Rows,
    work: Work,
) -> int:
    """Map `row` by `choice` in a copy of the registers, from place `before` to place `after`.

    HOLDS, HOLDS_NOT or an error, of the choice's condition with the row mapped already.
    """
    given = Input(rows.columns, rows.valid, lower, upper)
    update(choice, before, after, row, given, rules, work)
    begin, end = rules.program[choice, layout.CODE], rules.program[choice, layout.CODE_END]
    return holds(rules.instructions, begin, end, work.registers, after, row, given, work.stack)


@inlined
def update(
    choice: int, before: int, after: int, row: int, given: Input, rules: Rules, work: Work
) -> None:
    """Copy the registers from place `before` to place `after`, and bring them up to date there."""
    registers = work.registers
    for register in range(registers.shape[1]):
        registers[after, register] = registers[before, register]
    begin, end = rules.program[choice, layout.STEPS], rules.program[choice, layout.STEPS_END]
    update_registers(rules.instructions, begin, end, registers, after, row, given)
