"""Keeps registers up to date in compiled code, after a row has been mapped.

All values are int64, a float as its bits.

registers: int64[p, r], one computation state at each place.
"""

import numpy as np
import numpy.typing as npt

from matchrec.evaluate import instructions as op
from matchrec.evaluate.kernels.comparison import order_of_floats
from matchrec.evaluate.kernels.conditions import Input
from matchrec.evaluate.kernels.wrapping import wrapped_sum
from matchrec.jit.bits import bits_of, float_of
from matchrec.jit.decorators import inlined, spliced

IntArray = npt.NDArray[np.int64]


@inlined
def update_registers(
    instructions: IntArray,
    at: int,
    end: int,
    registers: IntArray,
    place: int,
    row: int,
    given: Input,
) -> None:
    """Apply the steps at .. end to the registers at `place` after a row has been mapped."""
    own = registers[place]
    while at < end:
        operation, a, b = instructions[at, 0], instructions[at, 1], instructions[at, 2]
        if operation == op.SET_ROW:
            own[a] = row
        elif operation == op.SET:
            own[a] = b
        elif operation == op.COPY:
            own[a] = own[b]
        elif operation == op.COUNT_DOWN:
            if own[a] < -1:
                own[a] += 1
            elif own[a] == -1:
                own[a] = row
        elif operation == op.COPY_AT:
            if own[instructions[at, 3]] == row:
                own[a] = own[b]
        elif operation == op.SET_AT:
            if own[b] >= 0 and row == own[b] + instructions[at, 3]:
                own[a] = instructions[at, 4]
        else:
            counted = row
            if instructions[at, 3] > 0:
                counted = own[instructions[at, 3] - 1]
            if operation == op.APPEND:
                if counted >= 0:
                    own[a] = given.python(-1 - b, own[a], counted)
            elif counted >= 0 and (operation == op.ADD_ONE or given.valid[b, counted]):
                if operation == op.ADD_ONE or operation == op.ADD_VALID:
                    own[a] += 1
                else:
                    reduce(operation, own, a, given.columns[b, counted])
        at += 1


@spliced
def reduce(operation: int, own: IntArray, a: int, value: int) -> None:
    """Add a value to the flag at register a and the sum or extreme after it."""
    flag = own[a]
    former = own[a + 1]
    if flag == 0:
        flag = 1
        former = value
    elif operation == op.SUM_INTEGER:
        total = wrapped_sum(former, value)
        if ((former ^ total) & (value ^ total)) < 0:
            flag = -1
        former = total
    elif operation == op.SUM_FLOAT:
        former = bits_of(float_of(former) + float_of(value))
    elif operation == op.MIN_INTEGER or operation == op.MAX_INTEGER:
        if (value < former) == (operation == op.MIN_INTEGER):
            former = value
    else:
        order = order_of_floats(float_of(value), float_of(former))
        if order == (-1 if operation == op.MIN_FLOAT else 1):
            former = value
    own[a] = flag
    own[a + 1] = former
