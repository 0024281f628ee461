"""The functions of the instruction MATHEMATICS: mathematical functions of floats, and arithmetic.

They are compiled apart from the kernels, which call them by a pointer. There are two pointers:

    compute               all functions
    compute_arithmetic    arithmetic only, which is faster to compile, and enough for most queries

Functions that Spark takes from Java's StrictMath are the same to the last bit. Sine and its
relatives, which Java computes differently on each processor, can differ in the last two bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.instructions import NO_RESULT
from matchrec.conditions.evaluate.kernels.arithmetic import calculate
from matchrec.conditions.evaluate.kernels.strict_math import exp, ln, log10, power
from matchrec.conditions.evaluate.link import LinkedConditions
from matchrec.conditions.run_condition import MathFunction
from matchrec.jit.bits import bits_to_float, float_to_bits
from matchrec.jit.callbacks import NO_CALLBACK, make_callback, make_pointer
from matchrec.jit.decorators import inner

# The numbers of the functions.
_SQRT = op.FUNCTION_NUMBERS[MathFunction.SQRT]
_EXP = op.FUNCTION_NUMBERS[MathFunction.EXP]
_LN = op.FUNCTION_NUMBERS[MathFunction.LN]
_LOG = op.FUNCTION_NUMBERS[MathFunction.LOG]
_LOG2 = op.FUNCTION_NUMBERS[MathFunction.LOG2]
_LOG10 = op.FUNCTION_NUMBERS[MathFunction.LOG10]
_POWER = op.FUNCTION_NUMBERS[MathFunction.POWER]
_SIGN = op.FUNCTION_NUMBERS[MathFunction.SIGN]
_FLOOR = op.FUNCTION_NUMBERS[MathFunction.FLOOR]
_CEILING = op.FUNCTION_NUMBERS[MathFunction.CEILING]
_RADIANS = op.FUNCTION_NUMBERS[MathFunction.RADIANS]
_SIN = op.FUNCTION_NUMBERS[MathFunction.SIN]
_COS = op.FUNCTION_NUMBERS[MathFunction.COS]
_ASIN = op.FUNCTION_NUMBERS[MathFunction.ASIN]
_ROUND = op.FUNCTION_NUMBERS[MathFunction.ROUND]


def find_mathematics(linked: LinkedConditions) -> Any:
    """Return the pointer to the function that computes what conditions need.

    `compute` is compiled here, `compute_arithmetic` only when a compiled search first gets its
    pointer. So for arithmetic, nothing is compiled as long as Python runs the search.

    Returns:
        A pointer of `jit.callbacks`; NO_CALLBACK if no condition calls MATHEMATICS.
    """
    if needs_more_than_arithmetic(linked):
        return make_pointer(compute)
    return ARITHMETIC_POINTER if linked.functions else NO_CALLBACK


def needs_more_than_arithmetic(linked: LinkedConditions) -> bool:
    """Return whether conditions need a function of `compute` that is not arithmetic."""
    return any(function < op.ARITHMETIC for function in linked.functions)


def compute_arithmetic(function: int, left: int, right: int) -> int:
    """Return the bits of an arithmetic function, as `compute` does."""
    return calculate(function, left, right)


def compute_arithmetic_in_python(function: int, left: int, right: int) -> int:
    """Return what `compute_arithmetic` does, computed by Python instead of machine code.

    The operands become integers of NumPy, because integers of Python do not wrap. It must be called
    inside `let_integers_wrap`.
    """
    return int(calculate(function, np.int64(left), np.int64(right)))


ARITHMETIC_POINTER = make_callback(
    compute_arithmetic_in_python, compiled=lambda: make_pointer(compute_arithmetic)
)


def compute(function: int, left: int, right: int) -> int:
    """Return the value of a function of two floats, or NO_RESULT.

    Floats are passed and returned as their bits. FLOOR and CEILING return an integer,
    NARROW_INTEGER takes one.

    Args:
        function: the number of the function: see `instructions`.
        left: the first argument.
        right: the second argument; any number if the function has only one.
    """
    if function >= op.ARITHMETIC:
        return calculate(function, left, right)
    if function == op.NARROW_INTEGER:  # not by way of a float64, which would round twice
        return float_to_bits(np.float64(np.float32(left)))
    x, y = bits_to_float(left), bits_to_float(right)
    if function == op.NARROW:
        return float_to_bits(np.float64(np.float32(x)))
    if function == _FLOOR:
        return convert_to_integer(math.floor(x), x)
    if function == _CEILING:
        return convert_to_integer(math.ceil(x), x)
    if function == _ROUND:
        return round_to_bits(x, y)
    if function <= _POWER:
        if _LN <= function <= _LOG10 and (x <= 0 or (function == _LOG and y <= 0)):
            return NO_RESULT
        return float_to_bits(compute_power_or_logarithm(function, x, y))
    if function == _SIGN:
        return float_to_bits(x if x == 0 or x != x else math.copysign(1.0, x))
    return float_to_bits(compute_angle(function, x))


# Below this limit, a float times a power of ten is off by less than a thousandth.
_SCALED_LIMIT = 2.0**40
# So a result that is nearer than this to the middle of two whole numbers can be on the other side.
_UNCERTAIN_DISTANCE = 0.001


@inner
def round_to_bits(x: float, digits: float) -> int:
    """Return the bits of x rounded to `digits` digits after the point, or NO_RESULT.

    It has no result near the middle between two results. There, the decimal that a float is written
    as decides: the float 0.15 is a little less than fifteen hundredths, but rounds to 0.2. The
    condition lets Python round these.
    """
    size = abs(x)
    scale = 10.0 ** abs(digits)
    scaled = size * scale if digits >= 0 else size / scale
    if not scaled < _SCALED_LIMIT:  # also if it is NaN
        return NO_RESULT
    lower_units = math.floor(scaled)
    fraction = scaled - lower_units
    if abs(fraction - 0.5) < _UNCERTAIN_DISTANCE:
        return NO_RESULT
    rounded_units = float(lower_units + 1 if fraction > 0.5 else lower_units)
    rounded = rounded_units / scale if digits >= 0 else rounded_units * scale
    return float_to_bits(math.copysign(rounded, x))


@inner
def compute_power_or_logarithm(function: int, x: float, y: float) -> float:
    """Return SQRT, EXP, LN, LOG, LOG2, LOG10 or POWER. For LOG, x is the base."""
    if function == _SQRT:
        return math.sqrt(x)
    if function == _EXP:
        return exp(x)
    if function == _LN:
        return ln(x)
    if function == _LOG:
        return ln(y) / ln(x)
    if function == _LOG2:
        return ln(x) / ln(2.0)
    if function == _LOG10:
        return log10(x)
    return power(x, y)


@inner
def compute_angle(function: int, x: float) -> float:
    """Return RADIANS, SIN, COS, ASIN or ACOS."""
    if function == _RADIANS:
        return x * (math.pi / 180.0)
    if function == _SIN:
        return math.sin(x)
    if function == _COS:
        return math.cos(x)
    return math.asin(x) if function == _ASIN else math.acos(x)


@inner
def convert_to_integer(rounded: float, x: float) -> int:
    """Return a rounded float as a 64-bit integer: the nearest one if it is too large, 0 for NaN.

    Args:
        rounded: x without its fraction.
        x: the float, which says whether it is too large.
    """
    if x != x:
        return 0
    if x >= 2.0**63 or x < -(2.0**63):
        return 2**63 - 1 if x > 0 else -(2**63)
    return int(rounded)
