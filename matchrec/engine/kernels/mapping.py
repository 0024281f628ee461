"""A row is mapped where the condition depends on the run: registers first, then the condition."""

from matchrec.engine.kernels.layout import (
    ASKED,
    CODE,
    CODE_END,
    MOST_ASKED,
    STEPS,
    STEPS_END,
)
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.evaluate.kernels import holds, update_registers
from matchrec.jit.decorators import inlined


@inlined
def is_asked_too_often(progress: IntArray) -> bool:
    """Counts one more condition that depends on the run, against the limit of steps."""
    progress[ASKED] += 1
    return bool(progress[ASKED] > progress[MOST_ASKED])


@inlined
def map_row(
    program: IntArray,
    choice: int,
    before: int,
    after: int,
    row: int,
    lower: int,
    upper: int,
    instructions: IntArray,
    registers: IntArray,
    columns: IntArray,
    valid: BoolArray,
    stack: IntArray,
) -> int:
    """Map `row` by `choice` in a copy of the registers, from place `before` to place `after`.

    HOLDS, HOLDS_NOT or an error, of the choice's condition with the row mapped already.
    """
    for register in range(registers.shape[1]):
        registers[after, register] = registers[before, register]
    update_registers(
        instructions,
        program[choice, STEPS],
        program[choice, STEPS_END],
        registers,
        after,
        row,
        columns,
        valid,
    )
    return holds(
        instructions,
        program[choice, CODE],
        program[choice, CODE_END],
        registers,
        after,
        row,
        lower,
        upper,
        columns,
        valid,
        stack,
    )
