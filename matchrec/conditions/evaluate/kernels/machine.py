"""Evaluate conditions, and keep registers up to date, in compiled code.

All search kernels call two functions for each row that a run tries to map: `evaluate_condition` if
the row satisfies the row condition, and `update_registers` once the row is mapped. All values are
int64; a float is held as its bits. `registers`, int64[r], is the computation state of a run.
"""

from typing import Any, NamedTuple, Protocol

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
from matchrec.jit.bits import bits_to_float, float_to_bits
from matchrec.jit.decorators import inlined, inner, spliced

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


class SearchedPartition(Protocol):
    """The partition that is searched: the fields of a search's progress that conditions read."""

    # Its first row, and the row after its last one.
    partition_begin: int
    partition_end: int
    # How many matches come before the one that is tried.
    match_number: int


class Input(NamedTuple):
    """What conditions read."""

    # int64[c, n]: the integer columns, then the floating ones.
    columns: IntArray
    # bool[c, n]: where the columns are not NULL.
    valid: BoolArray
    # A function called by a pointer, see `kernels.functions`.
    mathematics: Any
    # A function called by a pointer, see `python_calls.PythonCalls.answer`.
    python: Any
    # The progress of the search.
    progress: SearchedPartition


@inlined
def evaluate_condition(
    code: IntArray, at: int, end: int, registers: IntArray, row: int, inputs: Input, stack: IntArray
) -> int:
    """Evaluate a condition for a candidate row; return HOLDS, HOLDS_NOT or an error.

    One flat dispatch, in the order of how often instructions occur.

    Args:
        code: the instructions.
        at: where the code of the condition begins.
        end: where it ends.
        registers: the registers of the run.
        row: the position of the candidate row.
        inputs: what the condition reads.
        stack: int64[2, d], values and whether they are not NULL. If Python holds a value, its
            number here does not count, see `python_calls.HELD`.
    """
    if at == end:
        return op.HOLDS
    values, valid = stack[0], stack[1]
    top = np.int64(-1)
    while at < end:
        operation, a, b = code[at, 0], code[at, 1], code[at, 2]
        if operation == op.READ:
            top += 1
            position = row if b < 0 else registers[b]
            shifted = position + code[at, 3]
            valid[top] = 0
            if (
                position >= 0
                and inputs.progress.partition_begin <= shifted < inputs.progress.partition_end
            ):
                values[top] = inputs.columns[a, shifted]
                valid[top] = inputs.valid[a, shifted]
        elif operation <= op.VARIABLE:
            top += 1
            values[top] = a if operation <= op.NULL_CONSTANT else registers[a]
            valid[top] = operation == op.CONSTANT or operation == op.REGISTER
            if operation == op.VARIABLE:
                valid[top] = values[top] >= 0
        elif operation <= op.AVERAGE:
            top += 1
            flag = registers[a]
            if flag < 0:
                return op.OVERFLOW
            valid[top] = flag != 0
            if operation == op.REDUCED:
                values[top] = registers[a + 1]
            elif flag != 0:
                values[top] = float_to_bits(bits_to_float(registers[b + 1]) / flag)
        elif operation == op.JUMP_IF_FALSE or operation == op.JUMP_IF_TRUE:
            if valid[top] and values[top] == operation - op.JUMP_IF_FALSE:
                at = a
                continue
        elif operation == op.JUMP_UNLESS:
            top -= 1
            if not (valid[top + 1] and values[top + 1]):
                at = a
                continue
        elif operation == op.JUMP:
            at = a
            continue
        elif operation == op.NOT:
            values[top] = 1 - values[top]
        elif operation == op.IS_NULL:
            values[top] = 1 - valid[top]
            valid[top] = 1
        elif operation == op.WIDEN:
            values[top] = float_to_bits(float(values[top]))
        elif operation == op.MATCH_NUMBER:
            top += 1
            values[top] = inputs.progress.match_number + 1
            valid[top] = 1
        elif operation <= op.COMPARE_FLOAT:
            top -= 1
            compare_values(operation, a, top, values, valid)
        elif operation <= op.OR:
            top -= 1
            connect(operation - op.AND, top, values, valid)
        elif operation == op.MATHEMATICS:
            top -= b - 1
            status = apply(a, b, top, inputs.mathematics, values, valid)
            if status != VALUE:
                return status
        else:
            top -= b - 1
            status = int(inputs.python(a, top, 0))
            if status != VALUE:
                return status
        at += 1
    return op.HOLDS if valid[0] and values[0] else op.HOLDS_NOT


@inner
def apply(
    function: int, arguments: int, top: int, mathematics: Any, values: IntArray, valid: IntArray
) -> int:
    """Replace one or two values, from top on, by a function of them; return VALUE or an error."""
    left, right = values[top], values[top + arguments - 1]
    answer = valid[top] & valid[top + arguments - 1]
    if answer == VALUE:
        value = mathematics(function, left, right)
        values[top] = value
        if value == NO_RESULT and function < op.ARITHMETIC:
            answer = np.int64(NULL)
        elif value == NO_RESULT:
            answer = mathematics(function + op.WHY, left, right)
    valid[top] = answer == VALUE
    return answer if answer > VALUE else VALUE


@spliced
def compare_values(kind: int, comparison: int, top: int, values: IntArray, valid: IntArray) -> None:
    """Replace the values at top and above by the result of a comparison.

    Args:
        kind: COMPARE_INTEGER or COMPARE_FLOAT.
        comparison: the comparison, see `instructions.COMPARISONS`.
        top: the index of the left value on the stack.
        values: the values on the stack.
        valid: whether they are not NULL.
    """
    left, right = values[top], values[top + 1]
    both = valid[top] & valid[top + 1]
    if comparison == op.NULL_SAFE_EQUAL and not both:
        values[top] = valid[top] == valid[top + 1]
        valid[top] = 1
        return
    if kind == op.COMPARE_INTEGER:
        order = order_of_integers(left, right)
    else:
        order = order_of_floats(bits_to_float(left), bits_to_float(right))
    values[top] = compare(comparison, order)
    valid[top] = both


@spliced
def connect(decisive: int, top: int, values: IntArray, valid: IntArray) -> None:
    """Replace the truth values at top and above by their AND or OR.

    The one at top does not decide, because otherwise the code would have jumped.

    Args:
        decisive: the truth value that decides: 0 for AND, 1 for OR.
        top: the index of the left value on the stack.
        values: the values on the stack.
        valid: whether they are not NULL.
    """
    if valid[top + 1] and values[top + 1] == decisive:
        values[top] = decisive
        valid[top] = 1
    else:
        values[top] = 1 - decisive
        valid[top] &= valid[top + 1]


@inlined
def update_registers(
    steps: IntArray, at: int, end: int, registers: IntArray, row: int, inputs: Input
) -> None:
    """Apply the steps `at` .. `end` to the registers of a run after a row has been mapped."""
    while at < end:
        operation, a, b = steps[at, 0], steps[at, 1], steps[at, 2]
        if operation == op.SET_ROW:
            registers[a] = row
        elif operation == op.SET:
            registers[a] = b
        elif operation == op.COPY:
            registers[a] = registers[b]
        elif operation == op.COUNT_DOWN:
            if registers[a] < -1:
                registers[a] += 1
            elif registers[a] == -1:
                registers[a] = row
        elif operation == op.COPY_AT:
            if registers[steps[at, 3]] == row:
                registers[a] = registers[b]
        elif operation == op.SET_AT:
            if registers[b] >= 0 and row == registers[b] + steps[at, 3]:
                registers[a] = steps[at, 4]
        else:
            counted = row
            if steps[at, 3] > 0:
                counted = registers[steps[at, 3] - 1]
            if operation == op.APPEND:
                if counted >= 0:
                    registers[a] = inputs.python(-1 - b, registers[a], counted)
            elif counted >= 0 and (operation == op.ADD_ONE or inputs.valid[b, counted]):
                if operation == op.ADD_ONE or operation == op.ADD_VALID:
                    registers[a] += 1
                else:
                    reduce(operation, registers, a, inputs.columns[b, counted])
        at += 1


@spliced
def reduce(operation: int, registers: IntArray, a: int, value: int) -> None:
    """Add a value to an aggregate: the flag in register a, and the sum or extreme after it."""
    flag = registers[a]
    former = registers[a + 1]
    if flag == 0:
        flag = 1
        former = value
    elif operation == op.SUM_INTEGER:
        total = wrapped_sum(former, value)
        if ((former ^ total) & (value ^ total)) < 0:
            flag = -1
        former = total
    elif operation == op.SUM_FLOAT:
        former = float_to_bits(bits_to_float(former) + bits_to_float(value))
    elif operation == op.MIN_INTEGER or operation == op.MAX_INTEGER:
        if (value < former) == (operation == op.MIN_INTEGER):
            former = value
    else:
        order = order_of_floats(bits_to_float(value), bits_to_float(former))
        if order == (-1 if operation == op.MIN_FLOAT else 1):
            former = value
    registers[a] = flag
    registers[a + 1] = former
