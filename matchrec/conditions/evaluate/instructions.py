"""The numbers of steps and instructions, and what their arguments a, b, c and d are.

`code` and `registers` write steps and instructions, `kernels.machine` runs them. Each is a row of
one int64 array: the operation, then a, b, c and d. Which of the two a row is depends on where it
is, so steps and instructions have the same numbers. r[a] is register number a. Registers, columns
and values on the stack are int64 throughout; a float is held as its bits.
"""

from matchrec.conditions.run_condition import (
    ArithmeticOperator,
    Comparison,
    MathFunction,
    OnFailure,
)

# The columns of the array of steps and instructions.
OPERATION = 0
ARGUMENT_A = 1
ARGUMENT_B = 2
ARGUMENT_C = 3
ARGUMENT_D = 4
COLUMN_COUNT = 5

# The rows of the stack, int64[2, d]: the bits of its values, and for each value 0 if it is NULL. If
# an instruction fails, its index is left in the row of bits, at FAILED_INSTRUCTION.
BITS_ROW = 0
VALIDITY_ROW = 1
FAILED_INSTRUCTION = 0

# Steps, applied when `row` is mapped to a variable.
SET_ROW = 0  # r[a] = row
SET = 1  # r[a] = b
COPY = 2  # r[a] = r[b]
COUNT_DOWN = 3  # r[a] += 1 if r[a] < -1, r[a] = row if it is -1: it begins with -1 - offset
COPY_AT = 4  # r[a] = r[b] if r[c] == row
SET_AT = 5  # r[a] = d if r[b] >= 0 and row == r[b] + c
# Steps that add a row to an aggregate. c says which row: 0 for `row`, and otherwise the row whose
# position is in r[c - 1].
ADD_ONE = 6  # r[a] += 1
ADD_VALID = 7  # r[a] += 1 if column b is not NULL on the row
APPEND = 8  # r[a] = the list that Python makes of list r[a] and the row, which has form b
# Steps that change two registers: r[a] is a flag, 0 before the first value and 1 after it, and
# r[a + 1] is the sum or the extreme of column b.
SUM_INTEGER = 9  # the flag is -1 once the sum has overflowed
SUM_FLOAT = 10
MIN_INTEGER = 11
MIN_FLOAT = 12
MAX_INTEGER = 13
MAX_FLOAT = 14


def changes_two_registers(operation: int) -> bool:
    """Return whether a step with this operation changes r[a] and r[a + 1], and not only r[a]."""
    return operation >= SUM_INTEGER


# The argument b of READ if it reads the current row, and not the row in a register.
CURRENT_ROW = -1

# Instructions. A value on the stack is an int64 or a float64, and whether it is not NULL.
READ = 0  # push column a on row r[b] + c, or on the current row + c if b is CURRENT_ROW
CONSTANT = 1  # push a
NULL_CONSTANT = 2  # push NULL
REGISTER = 3  # push r[a]
VARIABLE = 4  # push r[a]; NULL if it is negative
REDUCED = 5  # push r[a + 1]; NULL if r[a] is 0, an overflow if it is negative
AVERAGE = 6  # push r[b + 1] / r[a], a sum of floats by a count; NULL if r[a] is 0
COMPARE_INTEGER = 7  # pop two values; push whether they are in an order of COMPARISON_MASKS, a
COMPARE_FLOAT = 8
WIDEN = 9  # replace an integer by the float with its value
AND = 10  # pop two truth values; push their conjunction
OR = 11
NOT = 12
IS_NULL = 13
JUMP_IF_FALSE = 14  # to a if the value on top is false; it stays on the stack
JUMP_IF_TRUE = 15
JUMP_UNLESS = 16  # pop a value; to a unless it is true
JUMP = 17  # to a
MATHEMATICS = 18  # pop b values; push function a of them
CALL = 19  # pop b values; push what Python computes from them by formula a
MATCH_NUMBER = 20  # push the number of the match that is tried

# The functions of MATHEMATICS are mathematical functions, by their FUNCTION_NUMBERS, these two, and
# arithmetic, by the numbers that `number_arithmetic` returns.
NARROW = -1  # a float64, rounded to 32 bits
NARROW_INTEGER = -2  # an int64, as a float rounded to 32 bits

# The number of an arithmetic function is the sum of these parts:
#
#     the number of the operator         less than ANSI
#     ANSI, NULL_ON_ERROR or neither     see `OnFailure`; neither is WRAP
#     WIDTH_UNIT * the bits of integers  0 for floats
#     ARITHMETIC                         in every such number, so that it is above all others
#     WHY                                if the function is called for its answer
ANSI = 16
NULL_ON_ERROR = 32
WIDTH_UNIT = 64
ARITHMETIC = 1 << 13
WHY = 1 << 14

_FAILURE_FLAGS = {OnFailure.RAISE: ANSI, OnFailure.WRAP: 0, OnFailure.NULL: NULL_ON_ERROR}


def number_arithmetic(operator: ArithmeticOperator, on_error: OnFailure, bits: int) -> int:
    """Return the number of an arithmetic function of MATHEMATICS.

    Args:
        operator: the operator of the arithmetic.
        on_error: what the function does if it has no result.
        bits: the width of integers, 8 to 64; 0 for floats.
    """
    operator_number = OPERATOR_NUMBERS[operator]
    return ARITHMETIC + WIDTH_UNIT * bits + _FAILURE_FLAGS[on_error] + operator_number


# What a function of MATHEMATICS returns if it has no value, or no value that is certain. For a
# mathematical function, this always means NULL: none of its values has these bits. But arithmetic
# of integers can have a value with these bits. So arithmetic is called again with WHY, and returns
# an answer: VALUE if it has a value; else NULL, OVERFLOW or DIVISION_BY_ZERO.
NO_RESULT = 0x7FF8_0000_0000_DEAD
NULL = 0
VALUE = 1

# The results of conditions: HOLDS, HOLDS_NOT (false or NULL), or an error. FUNCTION_FAILED is the
# error of a function that Python computes.
HOLDS_NOT, HOLDS, OVERFLOW, DIVISION_BY_ZERO, FUNCTION_FAILED = range(5)

# Comparisons, as bits of the orders for which they hold: less, equal, greater.
LESS, EQUAL, GREATER = 1, 2, 4
NULL_SAFE_EQUAL = 8 + EQUAL
COMPARISON_MASKS = {
    Comparison.EQUAL: EQUAL,
    Comparison.NOT_EQUAL: LESS + GREATER,
    Comparison.LESS: LESS,
    Comparison.LESS_OR_EQUAL: LESS + EQUAL,
    Comparison.GREATER: GREATER,
    Comparison.GREATER_OR_EQUAL: GREATER + EQUAL,
    Comparison.NULL_SAFE_EQUAL: NULL_SAFE_EQUAL,
}

# The numbers of arithmetic operators and of mathematical functions in compiled code.
OPERATOR_NUMBERS = {operator: number for number, operator in enumerate(ArithmeticOperator)}
FUNCTION_NUMBERS = {function: number for number, function in enumerate(MathFunction)}

PLUS = OPERATOR_NUMBERS[ArithmeticOperator.ADD]
MINUS = OPERATOR_NUMBERS[ArithmeticOperator.SUBTRACT]
TIMES = OPERATOR_NUMBERS[ArithmeticOperator.MULTIPLY]
DIVIDE = OPERATOR_NUMBERS[ArithmeticOperator.DIVIDE]
REMAINDER = OPERATOR_NUMBERS[ArithmeticOperator.REMAINDER]
