"""Evaluates conditions, and keeps registers up to date, in compiled code.

Both engines call these for each row that a run tries to map: `holds` after its row condition has
held, `update_registers` once it is mapped. All values are int64, a float as its bits.

Registers: int64[r], a computation state.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.instructions import NO_RESULT, NULL, VALUE
from matchrec.conditions.evaluate.kernels.arithmetic import (
    compare,
    order_of_floats,
    order_of_integers,
    wrapped_sum,
)
from matchrec.jit.bits import bits_of, float_of
from matchrec.jit.decorators import inlined, inner, spliced

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


class Input(NamedTuple):
    """What conditions read. columns, valid: [c, n], the integer columns, then the floating ones.

    mathematics, python: functions that are called by a pointer, see `evaluate.kernels` and
    `evaluate.python_calls`. progress: of the search, which says where the partition is, and by its
    `number` how many matches come before the one that is tried.
    """

    columns: IntArray
    valid: BoolArray
    mathematics: Any
    python: Any
    progress: Any


@inlined
def holds(
    code: IntArray, at: int, end: int, own: IntArray, row: int, given: Input, stack: IntArray
) -> int:
    """HOLDS, HOLDS_NOT or an error: the condition in code at .. end for the candidate `row`.

    own: the registers of the run. stack: int64[2, d], values and whether they are not NULL; of one
    that Python holds the value does not count.
    One flat dispatch, in the order of how often instructions occur.
    """
    if at == end:
        return op.HOLDS
    values, known = stack[0], stack[1]
    top = np.int64(-1)
    while at < end:
        operation, a, b = code[at, 0], code[at, 1], code[at, 2]
        if operation == op.READ:
            top += 1
            position = row if b < 0 else own[b]
            shifted = position + code[at, 3]
            known[top] = 0
            if position >= 0 and given.progress.lower <= shifted < given.progress.upper:
                values[top] = given.columns[a, shifted]
                known[top] = given.valid[a, shifted]
        elif operation <= op.VARIABLE:
            top += 1
            values[top] = a if operation <= op.NULL_CONSTANT else own[a]
            known[top] = operation == op.CONSTANT or operation == op.REGISTER
            if operation == op.VARIABLE:
                known[top] = values[top] >= 0
        elif operation <= op.AVERAGE:
            top += 1
            flag = own[a]
            if flag < 0:
                return op.OVERFLOW
            known[top] = flag != 0
            if operation == op.REDUCED:
                values[top] = own[a + 1]
            elif flag != 0:
                values[top] = bits_of(float_of(own[b + 1]) / flag)
        elif operation == op.JUMP_IF_FALSE or operation == op.JUMP_IF_TRUE:
            if known[top] and values[top] == operation - op.JUMP_IF_FALSE:
                at = a
                continue
        elif operation == op.JUMP_UNLESS:
            top -= 1
            if not (known[top + 1] and values[top + 1]):
                at = a
                continue
        elif operation == op.JUMP:
            at = a
            continue
        elif operation == op.NOT:
            values[top] = 1 - values[top]
        elif operation == op.IS_NULL:
            values[top] = 1 - known[top]
            known[top] = 1
        elif operation == op.WIDEN:
            values[top] = bits_of(float(values[top]))
        elif operation == op.MATCH_NUMBER:
            top += 1
            values[top] = given.progress.number + 1
            known[top] = 1
        elif operation <= op.COMPARE_FLOAT:
            top -= 1
            compare_values(operation, a, top, values, known)
        elif operation <= op.OR:
            top -= 1
            connect(operation - op.AND, top, values, known)
        elif operation == op.MATHEMATICS:
            top -= b - 1
            status = apply(a, b, top, given.mathematics, values, known)
            if status != VALUE:
                return status
        else:
            top -= b - 1
            status = int(given.python(a, top, 0))
            if status != VALUE:
                return status
        at += 1
    return op.HOLDS if known[0] and values[0] else op.HOLDS_NOT


@inner
def apply(
    function: int, arguments: int, top: int, mathematics: Any, values: IntArray, known: IntArray
) -> int:
    """Replace one value or two, from top on, by a function of them; VALUE or an error."""
    left, right = values[top], values[top + arguments - 1]
    answer = known[top] & known[top + arguments - 1]
    if answer == VALUE:
        value = mathematics(function, left, right)
        values[top] = value
        if value == NO_RESULT and function < op.ARITHMETIC:
            answer = np.int64(NULL)
        elif value == NO_RESULT:
            answer = mathematics(function + op.WHY, left, right)
    known[top] = answer == VALUE
    return answer if answer > VALUE else VALUE


@spliced
def compare_values(kind: int, comparison: int, top: int, values: IntArray, known: IntArray) -> None:
    left, right = values[top], values[top + 1]
    both = known[top] & known[top + 1]
    if comparison == op.NULL_SAFE_EQUAL and not both:
        values[top] = known[top] == known[top + 1]
        known[top] = 1
        return
    if kind == op.COMPARE_INTEGER:
        order = order_of_integers(left, right)
    else:
        order = order_of_floats(float_of(left), float_of(right))
    values[top] = compare(comparison, order)
    known[top] = both


@spliced
def connect(decisive: int, top: int, values: IntArray, known: IntArray) -> None:
    """Replace the truth values at top and above by their AND, or OR, which `decisive` decides.

    The one at top does not decide: otherwise code jumps.
    """
    if known[top + 1] and values[top + 1] == decisive:
        values[top] = decisive
        known[top] = 1
    else:
        values[top] = 1 - decisive
        known[top] &= known[top + 1]


@inlined
def update_registers(
    steps: IntArray, at: int, end: int, own: IntArray, row: int, given: Input
) -> None:
    """Apply the steps at .. end to the registers of a run after a row has been mapped."""
    while at < end:
        operation, a, b = steps[at, 0], steps[at, 1], steps[at, 2]
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
            if own[steps[at, 3]] == row:
                own[a] = own[b]
        elif operation == op.SET_AT:
            if own[b] >= 0 and row == own[b] + steps[at, 3]:
                own[a] = steps[at, 4]
        else:
            counted = row
            if steps[at, 3] > 0:
                counted = own[steps[at, 3] - 1]
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
