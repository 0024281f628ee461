"""Arithmetic and comparison of two values as in Spark SQL, compiled.

Integers of fewer than 64 bits wrap around, or overflow, at their own width. The remainder has the
sign of its left side. NaN equals NaN and is greater than any other number.

Kernels contain the comparisons. They call arithmetic, `calculate`, by a pointer (see
`kernels.functions`): as a part of them it would make each half a second slower to compile.
"""

import math

import numpy as np

from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.instructions import NO_RESULT, NULL, VALUE
from matchrec.jit.bits import bits_to_float, float_to_bits
from matchrec.jit.decorators import inlined, inner, spliced


@spliced
def add_wrapped(left: int, right: int) -> int:
    """Return the sum in 64 bits.

    Unsigned, because the compiler would assume that signed integers never overflow.
    """
    return int(np.int64(np.uint64(left) + np.uint64(right)))


@spliced
def subtract_wrapped(left: int, right: int) -> int:
    """Return the difference in 64 bits, see `add_wrapped`."""
    return int(np.int64(np.uint64(left) - np.uint64(right)))


@spliced
def multiply_wrapped(left: int, right: int) -> int:
    """Return the product in 64 bits, see `add_wrapped`."""
    return int(np.int64(np.uint64(left) * np.uint64(right)))


@spliced
def compare_integers(left: int, right: int) -> int:
    """Return -1, 0 or 1 if left is less than, equal to or greater than right."""
    return int(left > right) - int(left < right)


@inlined
def compare_floats(left: float, right: float) -> int:
    """Return -1, 0 or 1 if left is less than, equal to or greater than right.

    NaN equals NaN and is greater than any other number.
    """
    if left == right:
        return 0
    if left < right or (math.isnan(right) and not math.isnan(left)):
        return -1
    return int(not math.isnan(right))


@spliced
def comparison_holds(comparison: int, order: int) -> bool:
    """Return whether a comparison holds for two values.

    Args:
        comparison: one of `instructions.COMPARISON_MASKS`.
        order: -1, 0 or 1, as `compare_integers` returns it for the values.
    """
    return bool(comparison >> (order + 1) & 1)


_MIN_INTEGER = np.int64(-(2**63))


@inner
def calculate(function: int, left: int, right: int) -> int:
    """Compute an arithmetic operation.

    Args:
        function: its number, see `instructions.number_arithmetic`.
        left: an integer, or the bits of a float.
        right: the same for the right operand.

    Returns:
        The value in the same form, or NO_RESULT. If WHY is added to the function: VALUE, NULL or an
        error.
    """
    operator = function & (op.ANSI - 1)
    ansi = function & op.ANSI
    bits = (function & (op.ARITHMETIC - 1)) // op.WIDTH_UNIT
    if bits > 0:
        mode = function & (op.ANSI | op.NULL_ON_ERROR)
        value, answer = combine_integers(operator, left, right, bits, mode)
    else:
        result, answer = combine_floats(operator, bits_to_float(left), bits_to_float(right), ansi)
        value = float_to_bits(result)
    if function & op.WHY:
        return answer
    return value if answer == VALUE else NO_RESULT


@inlined
def combine_integers(operator: int, left: int, right: int, bits: int, mode: int) -> tuple[int, int]:
    """Return the value of an integer operation, and the answer VALUE, NULL or an error.

    Without a value, the first number has no meaning.

    Args:
        operator: PLUS, MINUS, TIMES, DIVIDE or REMAINDER.
        left: the left operand.
        right: the right operand.
        bits: the width of the value.
        mode: ANSI or NULL_ON_ERROR; 0 if integers wrap around.
    """
    overflow = False
    if operator == op.PLUS:
        value = add_wrapped(left, right)
        overflow = ((left ^ value) & (right ^ value)) < 0
    elif operator == op.MINUS:
        value = subtract_wrapped(left, right)
        overflow = ((left ^ right) & (left ^ value)) < 0
    elif operator == op.TIMES:
        value = multiply_wrapped(left, right)
        overflow = product_overflows(left, right, value)
    elif right == 0:
        return 0, op.DIVISION_BY_ZERO if mode == op.ANSI else NULL
    elif operator == op.DIVIDE:
        value = divide_rounded(left, right)
        overflow = right == -1 and left == _MIN_INTEGER
    else:
        value = find_remainder(left, right)
    unused = 64 - bits
    fitting = (np.int64(value) << unused) >> unused  # an integer of Python would not wrap
    if mode and (overflow or fitting != value):
        return 0, op.OVERFLOW if mode == op.ANSI else NULL
    return fitting, VALUE


@inlined
def product_overflows(left: int, right: int, product: int) -> bool:
    """Return whether `product`, computed in 64 bits, is not left times right."""
    if left == -1:
        return bool(right == _MIN_INTEGER)
    return left != 0 and product // left != right


@inlined
def divide_rounded(left: int, right: int) -> int:
    """Return the quotient, rounded half away from zero; right is not 0.

    The least integer divided by -1 wraps around to itself. Sizes are compared as numbers below
    zero, because there is one more of these than above zero.
    """
    if right == -1:
        return subtract_wrapped(0, left)
    remainder = find_remainder(left, right)
    quotient = (left - remainder) // right
    remainder_size = remainder if remainder < 0 else -remainder
    divisor_size = right if right < 0 else -right
    # Round up if twice the remainder is at least the divisor. Both sizes are negated.
    if remainder_size <= divisor_size - remainder_size:
        quotient += 1 if (left < 0) == (right < 0) else -1
    return quotient


@inlined
def find_remainder(left: int, right: int) -> int:
    """Return the remainder of division towards zero; right is not 0."""
    if right == -1:
        return 0
    remainder = left % right
    if remainder != 0 and (left < 0) != (right < 0):
        remainder -= right
    return remainder


@inlined
def combine_floats(operator: int, left: float, right: float, ansi: int) -> tuple[float, int]:
    """Return the value of an operation on floats, and the answer VALUE, NULL or an error.

    In Spark, division of floats by zero is NULL, or an error in ANSI mode: if `ansi` is not 0.
    """
    if operator == op.PLUS:
        return left + right, VALUE
    if operator == op.MINUS:
        return left - right, VALUE
    if operator == op.TIMES:
        return left * right, VALUE
    if right == 0.0:
        return 0.0, op.DIVISION_BY_ZERO if ansi else NULL
    if operator == op.DIVIDE:
        return left / right, VALUE
    return np.fmod(left, right), VALUE
