"""Arithmetic and comparison as Spark SQL has them, compiled.

Arithmetic is called by a pointer: were it a part of the kernels, each would take half a second
longer to compile. Integers of fewer than 64 bits wrap, or overflow, at their own width; remainder
has the sign of its left side. NaN equals NaN and is greater than any other number.
"""

import math

import numpy as np

from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.instructions import NO_RESULT, NULL, VALUE
from matchrec.jit.bits import bits_of, float_of
from matchrec.jit.decorators import inlined, inner, spliced


@spliced
def wrapped_sum(left: int, right: int) -> int:
    """The sum in 64 bits; of signed integers the compiler would assume that they never overflow."""
    return int(np.int64(np.uint64(left) + np.uint64(right)))


@spliced
def wrapped_difference(left: int, right: int) -> int:
    return int(np.int64(np.uint64(left) - np.uint64(right)))


@spliced
def wrapped_product(left: int, right: int) -> int:
    return int(np.int64(np.uint64(left) * np.uint64(right)))


@spliced
def order_of_integers(left: int, right: int) -> int:
    """-1, 0 or 1: whether left is less, equal or greater."""
    return int(left > right) - int(left < right)


@inlined
def order_of_floats(left: float, right: float) -> int:
    """-1, 0 or 1: whether left is less, equal or greater; NaN is one number, the greatest."""
    if left == right:
        return 0
    if left < right or (math.isnan(right) and not math.isnan(left)):
        return -1
    return int(not math.isnan(right))


@spliced
def compare(comparison: int, order: int) -> bool:
    """What a comparison says of two values in that order: see `instructions`."""
    return bool(comparison >> (order + 1) & 1)


_LEAST = np.int64(-(2**63))


@inner
def calculate(function: int, left: int, right: int) -> int:
    """The bits of an operation's value, or NO_RESULT; asked WHY, its answer: VALUE or another.

    function: see `instructions.ARITHMETIC`. NO_RESULT may be the value, too.
    """
    operator, ansi = function & (op.ANSI - 1), function & op.ANSI
    bits = (function & (op.ARITHMETIC - 1)) // op.BITS
    if bits > 0:
        mode = function & (op.ANSI | op.TRIES)
        value, answer = combine_integers(operator, left, right, bits, mode)
    else:
        result, answer = combine_floats(operator, float_of(left), float_of(right), ansi)
        value = bits_of(result)
    if function & op.WHY:
        return answer
    return value if answer == VALUE else NO_RESULT


@inlined
def combine_integers(operator: int, left: int, right: int, bits: int, mode: int) -> tuple[int, int]:
    """Value and answer of an integer operation. mode: ANSI, TRIES or 0."""
    overflow = False
    if operator == op.PLUS:
        value = wrapped_sum(left, right)
        overflow = ((left ^ value) & (right ^ value)) < 0
    elif operator == op.MINUS:
        value = wrapped_difference(left, right)
        overflow = ((left ^ right) & (left ^ value)) < 0
    elif operator == op.TIMES:
        value = wrapped_product(left, right)
        overflow = product_overflows(left, right, value)
    elif right == 0:
        return 0, op.DIVISION_BY_ZERO if mode == op.ANSI else NULL
    elif operator == op.DIVIDE:
        value = rounded_quotient(left, right)
        overflow = right == -1 and left == _LEAST
    else:
        value = integer_remainder(left, right)
    unused = 64 - bits
    fitting = (value << unused) >> unused
    if mode and (overflow or fitting != value):
        return 0, op.OVERFLOW if mode == op.ANSI else NULL
    return fitting, VALUE


@inlined
def product_overflows(left: int, right: int, product: int) -> bool:
    if left == -1:
        return bool(right == _LEAST)
    return left != 0 and product // left != right


@inlined
def rounded_quotient(left: int, right: int) -> int:
    """The quotient, rounded half away from zero; right is not 0. Of the least number by -1 itself.

    Sizes are compared as numbers below zero, of which there is one more.
    """
    if right == -1:
        return wrapped_difference(0, left)
    remainder = integer_remainder(left, right)
    quotient = (left - remainder) // right
    rest = remainder if remainder < 0 else -remainder
    whole = right if right < 0 else -right
    if rest <= whole - rest:  # twice the rest is the whole at least
        quotient += 1 if (left < 0) == (right < 0) else -1
    return quotient


@inlined
def integer_remainder(left: int, right: int) -> int:
    """Remainder of division towards zero; right is not 0."""
    if right == -1:
        return 0
    remainder = left % right
    if remainder != 0 and (left < 0) != (right < 0):
        remainder -= right
    return remainder


@inlined
def combine_floats(operator: int, left: float, right: float, ansi: int) -> tuple[float, int]:
    """Value and answer of a floating operation; Spark divides no float by zero."""
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
