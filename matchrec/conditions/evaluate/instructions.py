"""Numbers of steps and instructions, and what their columns a, b, c and d hold.

All are rows of one int64 array. r[a] is register number a. Registers, columns and values on the
stack are int64 throughout; a float is held as its bits.
"""

from matchrec.conditions.run_condition import ArithmeticOperator, Comparison, MathFunction

# Steps, applied when `row` is mapped to a variable.
SET_ROW = 0  # r[a] = row
SET = 1  # r[a] = b
COPY = 2  # r[a] = r[b]
COUNT_DOWN = 3  # r[a] += 1 if r[a] < -1, r[a] = row if it is -1: it begins with -1 - offset
COPY_AT = 4  # r[a] = r[b] if r[c] == row
SET_AT = 5  # r[a] = d if r[b] >= 0 and row == r[b] + c
# From here on, c says which row is added: 0 for `row`, else the one whose position is in r[c - 1].
ADD_ONE = 6  # r[a] += 1
ADD_VALID = 7  # r[a] += 1 if column b is not NULL on the row
APPEND = 8  # r[a] = the list that Python makes of list r[a] and the row, which has form b
SUM_INTEGER = 9  # r[a]: 0 no value yet, 1 some, -1 overflow; r[a + 1] the sum of column b
SUM_FLOAT = 10
MIN_INTEGER = 11  # r[a]: 0 no value yet, 1 some; r[a + 1] the least of column b
MIN_FLOAT = 12
MAX_INTEGER = 13  # and the greatest
MAX_FLOAT = 14

# Instructions. A value on the stack is an int64 or a float64, and whether it is not NULL.
READ = 0  # push column a on row r[b] + c, or on the current row + c if b is -1
CONSTANT = 1  # push a
NULL_CONSTANT = 2  # push NULL
REGISTER = 3  # push r[a]
VARIABLE = 4  # push r[a]; NULL if it is negative
REDUCED = 5  # push r[a + 1]; NULL if r[a] is 0, an overflow if it is negative
AVERAGE = 6  # push r[b + 1] / r[a]; NULL if r[a] is 0
COMPARE_INTEGER = 7  # a: the comparison, see below
COMPARE_FLOAT = 8
WIDEN = 9
AND = 10
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

# Functions of the operation MATHEMATICS, besides the ones in FUNCTIONS below.
NARROW = -1  # a float64, rounded to 32 bits
NARROW_INTEGER = -2  # an int64, as a float rounded to 32 bits
# + the number of the operator + ANSI, NULL_ON_ERROR or neither + BITS * the width of integers
ARITHMETIC = 1 << 13
ANSI = 16
NULL_ON_ERROR = 32
BITS = 64
WHY = 1 << 14  # + a function of arithmetic: returns whether that has a value, or why not

# What a function returns if it has no value, or none that is certain. No mathematical function
# returns these bits as a value. Arithmetic of integers may, so it is called again with WHY.
NO_RESULT = 0x7FF8_0000_0000_DEAD
NULL = 0
VALUE = 1  # otherwise OVERFLOW or DIVISION_BY_ZERO

# The results of conditions: HOLDS, HOLDS_NOT (false or NULL), or an error. FUNCTION_FAILED is that
# of a function that Python computes.
HOLDS_NOT, HOLDS, OVERFLOW, DIVISION_BY_ZERO, FUNCTION_FAILED = range(5)

# Comparisons, as bits of the orders for which they hold: less, equal, greater.
LESS, EQUAL, GREATER = 1, 2, 4
NULL_SAFE_EQUAL = 8 + EQUAL
COMPARISONS = {
    Comparison.EQUAL: EQUAL,
    Comparison.NOT_EQUAL: LESS + GREATER,
    Comparison.LESS: LESS,
    Comparison.LESS_OR_EQUAL: LESS + EQUAL,
    Comparison.GREATER: GREATER,
    Comparison.GREATER_OR_EQUAL: GREATER + EQUAL,
    Comparison.NULL_SAFE_EQUAL: NULL_SAFE_EQUAL,
}

# The numbers of arithmetic operators and of mathematical functions in compiled code.
OPERATORS = {operator: number for number, operator in enumerate(ArithmeticOperator)}
FUNCTIONS = {function: number for number, function in enumerate(MathFunction)}

PLUS = OPERATORS[ArithmeticOperator.ADD]
MINUS = OPERATORS[ArithmeticOperator.SUBTRACT]
TIMES = OPERATORS[ArithmeticOperator.MULTIPLY]
DIVIDE = OPERATORS[ArithmeticOperator.DIVIDE]
REMAINDER = OPERATORS[ArithmeticOperator.REMAINDER]
