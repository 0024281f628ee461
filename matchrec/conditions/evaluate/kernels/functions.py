"""Mathematical functions of floats, compiled apart from the kernels, which call them by a pointer.

What Spark has from Java's StrictMath is the same to the last bit; sine and its relatives, which
Java computes as the processor likes, may differ in the last two.
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
from matchrec.jit.bits import bits_of, float_of
from matchrec.jit.callbacks import NO_CALLBACK, pointer_to
from matchrec.jit.decorators import inner

# The places of the functions in the enum.
(
    _SQRT, _EXP, _LN, _LOG, _LOG2, _LOG10, _POWER, _SIGN, _FLOOR, _CEILING, _RADIANS,
    _SIN, _COS, _ASIN, _ACOS, _ROUND,
) = range(len(MathFunction))  # fmt: skip


def mathematics_of(linked: LinkedConditions) -> Any:
    """The pointer to the functions that conditions use; those of arithmetic compile fast."""
    arithmetic = {function for function in linked.functions if function >= op.ARITHMETIC}
    if linked.functions - arithmetic:
        return pointer_to(compute)
    return pointer_to(compute_arithmetic) if arithmetic else NO_CALLBACK


def compute_arithmetic(function: int, left: int, right: int) -> int:
    return calculate(function, left, right)


def compute(function: int, left: int, right: int) -> int:
    """The bits of a function of two floats, or NO_RESULT.

    Functions of one look at the left one only. FLOOR and CEILING answer the integer, and
    NARROW_INTEGER is of one.
    """
    if function >= op.ARITHMETIC:
        return calculate(function, left, right)
    if function == op.NARROW_INTEGER:  # at once: by way of a float it would be rounded twice
        return bits_of(np.float64(np.float32(left)))
    x, y = float_of(left), float_of(right)
    if function == op.NARROW:
        return bits_of(np.float64(np.float32(x)))
    if function == _FLOOR:
        return whole(math.floor(x), x)
    if function == _CEILING:
        return whole(math.ceil(x), x)
    if function == _ROUND:
        return rounded_bits(x, y)
    if function <= _POWER:
        if _LN <= function <= _LOG10 and (x <= 0 or (function == _LOG and y <= 0)):
            return NO_RESULT
        return bits_of(power_or_logarithm(function, x, y))
    if function == _SIGN:
        return bits_of(x if x == 0 or x != x else math.copysign(1.0, x))
    return bits_of(angle(function, x))


_MOST = 2.0**40  # below which a float times a power of ten is off by less than a thousandth


@inner
def rounded_bits(x: float, places: float) -> int:
    """The bits of the float with so many decimal places, or NO_RESULT near the middle of two.

    There the decimal that a float is written as decides: 0.15 is a little less than fifteen
    hundredths, and rounds to 0.2.
    """
    size, scale = abs(x), 10.0 ** abs(places)
    scaled = size * scale if places >= 0 else size / scale
    if not scaled < _MOST:
        return NO_RESULT
    least = math.floor(scaled)
    if abs(scaled - least - 0.5) < 0.001:
        return NO_RESULT
    whole_units = float(least + 1 if scaled - least > 0.5 else least)
    rounded = whole_units / scale if places >= 0 else whole_units * scale
    return bits_of(math.copysign(rounded, x))


@inner
def power_or_logarithm(function: int, x: float, y: float) -> float:
    """A root, a power or a logarithm; of LOG, x is the base."""
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
def angle(function: int, x: float) -> float:
    if function == _RADIANS:
        return x * (math.pi / 180.0)
    if function == _SIN:
        return math.sin(x)
    if function == _COS:
        return math.cos(x)
    return math.asin(x) if function == _ASIN else math.acos(x)


@inner
def whole(found: float, x: float) -> int:
    """A float as a 64-bit integer; the nearest one where it is too large, 0 for NaN."""
    if x != x:
        return 0
    if x >= 2.0**63 or x < -(2.0**63):
        return 2**63 - 1 if x > 0 else -(2**63)
    return int(found)
