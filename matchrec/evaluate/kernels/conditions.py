"""Evaluates conditions in compiled code.

Both engines call these for each row that a run tries to map, after its row condition has held.
All values are int64, a float as its bits.

registers: int64[p, r], one computation state at each place.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.evaluate import instructions as op
from matchrec.evaluate.kernels.arithmetic import (
    VALUE,
    combine_floats,
    combine_integers,
    compare,
    order_of_floats,
    order_of_integers,
)
from matchrec.evaluate.mathematics.functions import NO_RESULT, ROUNDING
from matchrec.jit.bits import bits_of, float_of
from matchrec.jit.decorators import inlined, inner, kernel

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


class Input(NamedTuple):
    """What conditions read. columns, valid: [c, n], the integer columns, then the floating ones.

    mathematics, python: functions that are called by a pointer, see `evaluate.mathematics` and
    `evaluate.python_calls`. lower, upper: the rows of the partition, lower .. upper - 1.
    matches_before: int64[1], how many matches come before the one that is tried, by any run.
    """

    columns: IntArray
    valid: BoolArray
    mathematics: Any
    python: Any
    lower: int
    upper: int
    matches_before: IntArray


@inlined
def holds(
    instructions: IntArray,
    at: int,
    end: int,
    registers: IntArray,
    place: int,
    row: int,
    given: Input,
    stack: IntArray,
) -> int:
    """HOLDS, HOLDS_NOT or an error: the condition in code at .. end for the candidate `row`.

    stack: int64[2, d], values and whether they are not NULL.
    One flat dispatch, in the order of how often instructions occur.
    """
    if at == end:
        return op.HOLDS
    top = -1
    while at < end:
        operation, a, b = instructions[at, 0], instructions[at, 1], instructions[at, 2]
        if operation == op.READ:
            top += 1
            position = row if b < 0 else registers[place, b]
            shifted = position + instructions[at, 3]
            stack[1, top] = 0
            if position >= 0 and given.lower <= shifted < given.upper:
                stack[0, top] = given.columns[a, shifted]
                stack[1, top] = given.valid[a, shifted]
        elif operation <= op.VARIABLE:
            top += 1
            stack[0, top] = a if operation <= op.NULL_CONSTANT else registers[place, a]
            stack[1, top] = operation == op.CONSTANT or operation == op.REGISTER
            if operation == op.VARIABLE:
                stack[1, top] = stack[0, top] >= 0
        elif operation <= op.AVERAGE:
            top += 1
            flag = registers[place, a]
            if flag < 0:
                return op.OVERFLOW
            stack[1, top] = flag != 0
            if operation == op.REDUCED:
                stack[0, top] = registers[place, a + 1]
            elif flag != 0:
                stack[0, top] = bits_of(float_of(registers[place, b + 1]) / flag)
        elif operation == op.JUMP_IF_FALSE or operation == op.JUMP_IF_TRUE:
            if stack[1, top] and stack[0, top] == operation - op.JUMP_IF_FALSE:
                at = a
                continue
        elif operation == op.JUMP_UNLESS:
            top -= 1
            if not (stack[1, top + 1] and stack[0, top + 1]):
                at = a
                continue
        elif operation == op.JUMP:
            at = a
            continue
        elif operation == op.NOT:
            stack[0, top] = 1 - stack[0, top]
        elif operation == op.IS_NULL:
            stack[0, top] = 1 - stack[1, top]
            stack[1, top] = 1
        elif operation == op.WIDEN:
            stack[0, top] = bits_of(float(stack[0, top]))
        elif operation == op.MATCH_NUMBER:
            top += 1
            stack[0, top] = given.matches_before[0] + 1
            stack[1, top] = 1
        elif operation <= op.COMPARE_FLOAT:
            top -= 1
            compare_values(operation, a, top, stack)
        elif operation == op.MATHEMATICS:
            top -= b - 1
            apply(a, b, top, given.mathematics, stack)
        elif operation == op.ROUND:
            if round_value(b, top, given.mathematics, stack):
                at = a
                continue
        elif operation == op.CALL:
            top -= b - 1
            status = int(given.python(a, top, 0))
            if status != VALUE:
                return status
        else:
            top -= 1
            status = combine(operation, a, b, instructions[at, 3], top, stack)
            if status != VALUE:
                return status
        at += 1
    return op.HOLDS if stack[1, 0] and stack[0, 0] else op.HOLDS_NOT


@kernel
def push_values(
    instructions: IntArray, at: int, end: int, row: int, given: Input, stack: IntArray
) -> int:
    """Leave the values of code over one row, which reads no register, on the stack.

    HOLDS and HOLDS_NOT say nothing; otherwise an error.
    """
    return holds(instructions, at, end, stack, 0, row, given, stack)


@inner
def apply(function: int, arguments: int, top: int, mathematics: Any, stack: IntArray) -> None:
    """Replace one value or two, from top on, by a function of them."""
    both = stack[1, top] & stack[1, top + arguments - 1]
    if both:
        value = mathematics(function, stack[0, top], stack[0, top + arguments - 1])
        both = np.int64(value != NO_RESULT)
        stack[0, top] = value
    stack[1, top] = both


@inner
def round_value(places: int, top: int, mathematics: Any, stack: IntArray) -> bool:
    """Round the float on top, unless that is uncertain; whether it has been."""
    if not stack[1, top]:
        return True
    value = mathematics(ROUNDING, stack[0, top], places)
    if value == NO_RESULT:
        return False
    stack[0, top] = value
    return True


@inlined
def compare_values(operation: int, comparison: int, top: int, stack: IntArray) -> None:
    """Replace the values at top and above by how they compare."""
    left, right = stack[0, top], stack[0, top + 1]
    both = stack[1, top] & stack[1, top + 1]
    if comparison == op.NULL_SAFE_EQUAL and not both:
        stack[0, top] = stack[1, top] == stack[1, top + 1]
        stack[1, top] = 1
        return
    if operation == op.COMPARE_INTEGER:
        order = order_of_integers(left, right)
    else:
        order = order_of_floats(float_of(left), float_of(right))
    stack[0, top] = compare(comparison, order)
    stack[1, top] = both


@inner
def combine(operation: int, a: int, b: int, c: int, top: int, stack: IntArray) -> int:
    """Replace the values at top and above by what an operation makes of them; VALUE or an error.

    Rarer than comparing, and large: were it inlined, each kernel would cost a second to compile.
    """
    left, right = stack[0, top], stack[0, top + 1]
    both = stack[1, top] & stack[1, top + 1]
    if operation == op.AND or operation == op.OR:
        decisive = operation == op.OR
        decided = stack[1, top + 1] and right == decisive
        stack[0, top] = decisive if decided else 1 - decisive
        stack[1, top] = 1 if decided else both
        return VALUE
    stack[1, top] = both
    if not both:
        return VALUE
    if operation == op.ARITHMETIC_INTEGER:
        stack[0, top], status = combine_integers(a, left, right, b, c)
    else:
        value, status = combine_floats(a, float_of(left), float_of(right), c)
        stack[0, top] = bits_of(value)
    stack[1, top] = status == VALUE
    return max(status, VALUE)
