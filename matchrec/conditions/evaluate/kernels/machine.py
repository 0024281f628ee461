"""A machine for conditions on the run: it runs instructions over a stack and steps over registers.

All search kernels call two functions for a row that a run tries to map to a variable.
`update_registers` notes what later conditions will read of the row. `evaluate_condition` decides
whether the row satisfies the run condition. `search.kernels.mapping` says which one comes first.

For `B AS price > LAST(A.price)`, with prices 5.0 and 7.0 in rows 0 and 1:

    row 0 is mapped to A     SET_ROW 0            registers: 0
    row 1 is tried as B      READ price           stack: 7.0           the current row
                             READ price, r[0]     stack: 7.0, 5.0      row r[0]
                             COMPARE_FLOAT >      stack: 1             HOLDS

All values are int64. A float is held as its bits, a truth value as 0 or 1. `instructions` says what
each instruction and step does, and what its arguments a, b, c and d are.

The registers of a run, int64[r], are its computation state. The stack is two arrays, int64[d] each:
`values`, and `valid`, which is 0 if the value is NULL. `top` is the index of the uppermost value;
-1 if the stack is empty.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.instructions import NO_RESULT, NULL, VALUE
from matchrec.conditions.evaluate.kernels.arithmetic import (
    add_wrapped,
    compare_floats,
    compare_integers,
    comparison_holds,
)
from matchrec.jit.array_types import BoolArray, IntArray
from matchrec.jit.bits import bits_to_float, float_to_bits
from matchrec.jit.decorators import inlined, inner, spliced


class SearchedPartition(Protocol):
    """The partition that is searched: the fields of a search's progress that conditions read."""

    # Its first row, and the row after its last one.
    partition_begin: int
    partition_end: int
    # How many matches come before the one that is tried.
    match_number: int


class MachineInput(NamedTuple):
    """What conditions and steps read besides the registers of the run."""

    # int64[c, n]: the integer columns, then the floating ones.
    columns: IntArray
    # bool[c, n]: where the columns are not NULL.
    valid: BoolArray
    # A pointer to the function that computes MATHEMATICS: see `kernels.functions`.
    mathematics: Any
    # A pointer to the function that computes CALL and APPEND: see `python_calls.PythonCalls`.
    python: Any
    # The progress of the search.
    progress: SearchedPartition


@inlined
def evaluate_condition(
    code: IntArray,
    begin: int,
    end: int,
    registers: IntArray,
    row: int,
    inputs: MachineInput,
    stack: IntArray,
) -> int:
    """Evaluate a condition for a candidate row; return HOLDS, HOLDS_NOT or an error.

    A condition without instructions holds. The most frequent operations are tested first. Some
    tests cover several operations, whose numbers follow each other, and rely on the tests before
    them. When all instructions have run, one value is left on the stack. If an instruction fails,
    its index is left there instead.

    Args:
        code: int64[k, 5], instructions: see `instructions.OPERATION`.
        begin: the index of the condition's first instruction.
        end: the index after its last instruction.
        registers: the registers of the run.
        row: the position of the candidate row.
        inputs: what the condition reads besides the registers.
        stack: int64[2, d], see `instructions.BITS_ROW`; it is overwritten. If Python holds a value,
            its bits have no meaning: see `python_calls.HELD_BY_PYTHON`.
    """
    if begin == end:
        return op.HOLDS
    values = stack[op.BITS_ROW]
    valid = stack[op.VALIDITY_ROW]
    top = np.int64(-1)
    index = begin
    while index < end:
        operation = code[index, op.OPERATION]
        a = code[index, op.ARGUMENT_A]
        b = code[index, op.ARGUMENT_B]
        if operation == op.READ:
            top += 1
            origin = row if b < 0 else registers[b]
            offset = code[index, op.ARGUMENT_C]
            read_column(a, origin, offset, inputs, top, values, valid)
        elif operation <= op.VARIABLE:  # CONSTANT, NULL_CONSTANT, REGISTER or VARIABLE
            top += 1
            values[top] = a if operation <= op.NULL_CONSTANT else registers[a]
            valid[top] = operation == op.CONSTANT or operation == op.REGISTER
            if operation == op.VARIABLE:
                valid[top] = values[top] >= 0
        elif operation <= op.AVERAGE:  # REDUCED or AVERAGE
            flag_or_count = registers[a]  # the flag of REDUCED, the count of AVERAGE
            if flag_or_count < 0:
                values[op.FAILED_INSTRUCTION] = index
                return op.OVERFLOW
            top += 1
            valid[top] = flag_or_count != 0
            if operation == op.REDUCED:
                values[top] = registers[a + 1]
            elif flag_or_count != 0:
                values[top] = float_to_bits(bits_to_float(registers[b + 1]) / flag_or_count)
        elif operation == op.JUMP_IF_FALSE or operation == op.JUMP_IF_TRUE:
            if valid[top] and values[top] == operation - op.JUMP_IF_FALSE:
                index = a
                continue
        elif operation == op.JUMP_UNLESS:
            top -= 1
            if not (valid[top + 1] and values[top + 1]):
                index = a
                continue
        elif operation == op.JUMP:
            index = a
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
        elif operation <= op.COMPARE_FLOAT:  # COMPARE_INTEGER or COMPARE_FLOAT
            top -= 1
            compare_values(operation, a, top, values, valid)
        elif operation <= op.OR:  # AND or OR
            top -= 1
            connect_truth_values(operation - op.AND, top, values, valid)
        elif operation == op.MATHEMATICS:
            top -= b - 1
            status = apply_function(a, b, top, inputs.mathematics, values, valid)
            if status != VALUE:
                values[op.FAILED_INSTRUCTION] = index
                return status
        else:  # CALL
            top -= b - 1
            status = int(inputs.python(a, top, 0))
            if status != VALUE:
                values[op.FAILED_INSTRUCTION] = index
                return status
        index += 1
    return op.HOLDS if valid[0] and values[0] else op.HOLDS_NOT


@spliced
def read_column(
    column: int,
    origin: int,
    offset: int,
    inputs: MachineInput,
    top: int,
    values: IntArray,
    valid: IntArray,
) -> None:
    """Put the value of a column at the top of the stack.

    The value is NULL if there is no row `origin`, or if the row at the offset from it is outside of
    the partition.

    Args:
        column: the index of the column in `inputs.columns`.
        origin: the position of a row; negative if the run has no such row.
        offset: how many rows after `origin` the row is that is read; negative for rows before.
        inputs: what the condition reads besides the registers.
        top: the index of the uppermost value on the stack.
        values: the values on the stack.
        valid: whether they are not NULL.
    """
    position = origin + offset
    valid[top] = 0
    if origin >= 0 and inputs.progress.partition_begin <= position < inputs.progress.partition_end:
        values[top] = inputs.columns[column, position]
        valid[top] = inputs.valid[column, position]


@inner
def apply_function(
    function: int,
    argument_count: int,
    top: int,
    mathematics: Any,
    values: IntArray,
    valid: IntArray,
) -> int:
    """Replace the arguments of a mathematical function by its value.

    Args:
        function: the number of the function: see `instructions`.
        argument_count: 1 or 2.
        top: the index of the first argument on the stack.
        mathematics: a pointer to the function that computes the value: see `MachineInput`.
        values: the values on the stack.
        valid: whether they are not NULL.

    Returns:
        VALUE, also if the value is NULL, or an error.
    """
    last = top + argument_count - 1  # if there is one argument, it is passed twice
    left = values[top]
    right = values[last]
    answer = valid[top] & valid[last]  # VALUE (1) if no argument is NULL, otherwise NULL (0)
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
def compare_values(
    operation: int, comparison: int, top: int, values: IntArray, valid: IntArray
) -> None:
    """Replace the values at `top` and above it by the result of their comparison.

    Args:
        operation: COMPARE_INTEGER or COMPARE_FLOAT.
        comparison: the comparison: see `instructions.COMPARISON_MASKS`.
        top: the index of the left value on the stack.
        values: the values on the stack.
        valid: whether they are not NULL.
    """
    left, right = values[top], values[top + 1]
    both_valid = valid[top] & valid[top + 1]
    if comparison == op.NULL_SAFE_EQUAL and not both_valid:
        values[top] = valid[top] == valid[top + 1]
        valid[top] = 1
        return
    if operation == op.COMPARE_INTEGER:
        order = compare_integers(left, right)
    else:
        order = compare_floats(bits_to_float(left), bits_to_float(right))
    values[top] = comparison_holds(comparison, order)
    valid[top] = both_valid


@spliced
def connect_truth_values(decisive: int, top: int, values: IntArray, valid: IntArray) -> None:
    """Replace the truth values at `top` and above it by their AND or OR.

    The value at `top` does not decide the result: otherwise a jump would have skipped this
    instruction.

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
    steps: IntArray, begin: int, end: int, registers: IntArray, row: int, inputs: MachineInput
) -> None:
    """Apply the steps that update the registers of a run when a row is mapped to a variable.

    Args:
        steps: int64[k, 5], steps: see `instructions.OPERATION`.
        begin: the index of the variable's first step.
        end: the index after its last step.
        registers: the registers of the run, which are changed.
        row: the position of the row that has been mapped.
        inputs: what the steps read besides the registers.
    """
    index = begin
    while index < end:
        operation = steps[index, op.OPERATION]
        a = steps[index, op.ARGUMENT_A]
        b = steps[index, op.ARGUMENT_B]
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
            if registers[steps[index, op.ARGUMENT_C]] == row:
                registers[a] = registers[b]
        elif operation == op.SET_AT:
            if registers[b] >= 0 and row == registers[b] + steps[index, op.ARGUMENT_C]:
                registers[a] = steps[index, op.ARGUMENT_D]
        else:  # a step of an aggregate
            added_row = row
            if steps[index, op.ARGUMENT_C] > 0:
                added_row = registers[steps[index, op.ARGUMENT_C] - 1]
            if added_row >= 0:
                add_row_to_aggregate(operation, a, b, added_row, registers, inputs)
        index += 1


@spliced
def add_row_to_aggregate(
    operation: int, a: int, b: int, row: int, registers: IntArray, inputs: MachineInput
) -> None:
    """Add a row to an aggregate of the run.

    Args:
        operation: ADD_ONE or a later step: see `instructions`.
        a: the first register of the aggregate.
        b: the column, or for APPEND the form of the listed rows.
        row: the position of the row.
        registers: the registers of the run, which are changed.
        inputs: what the steps read besides the registers.
    """
    if operation == op.APPEND:
        # A negative first argument asks Python for a longer list instead of a formula.
        registers[a] = inputs.python(-1 - b, registers[a], row)
    elif operation == op.ADD_ONE:
        registers[a] += 1
    elif inputs.valid[b, row]:
        if operation == op.ADD_VALID:
            registers[a] += 1
        else:
            reduce_value(operation, registers, a, inputs.columns[b, row])


@spliced
def reduce_value(operation: int, registers: IntArray, a: int, value: int) -> None:
    """Add a value to a sum, or keep it if it is the least or the greatest so far.

    Register a has a flag: 0 before the first value, 1 after it, -1 once the sum has overflowed.
    Register a + 1 has the result.
    """
    flag = registers[a]
    result = registers[a + 1]
    if flag == 0:
        flag = 1
        result = value
    elif operation == op.SUM_INTEGER:
        total = add_wrapped(result, value)
        has_overflowed = ((result ^ total) & (value ^ total)) < 0  # both have the other sign
        if has_overflowed:
            flag = -1
        result = total
    elif operation == op.SUM_FLOAT:
        result = float_to_bits(bits_to_float(result) + bits_to_float(value))
    elif operation == op.MIN_INTEGER or operation == op.MAX_INTEGER:
        if (value < result) == (operation == op.MIN_INTEGER):
            result = value
    else:
        order_of_better_value = -1 if operation == op.MIN_FLOAT else 1
        order = compare_floats(bits_to_float(value), bits_to_float(result))
        if order == order_of_better_value:
            result = value
    registers[a] = flag
    registers[a + 1] = result
