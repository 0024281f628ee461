"""Mathematical functions of floats, compiled apart from the kernels, which call them by a pointer.

What Spark has from Java's StrictMath is the same to the last bit; sine and its relatives, which
Java computes as the processor likes, may differ in the last two.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matchrec.conditions.operations import MathFunction
from matchrec.evaluate import instructions as op
from matchrec.evaluate.instructions import NO_RESULT
from matchrec.evaluate.link import LinkedConditions
from matchrec.evaluate.mathematics.arithmetic import calculate
from matchrec.evaluate.mathematics.rounding import round_half_up
from matchrec.evaluate.mathematics.strict_geometry import atan, atan2, cbrt, hypot
from matchrec.evaluate.mathematics.strict_math import exp, ln, log10, power
from matchrec.jit.bits import bits_of, float_of
from matchrec.jit.callbacks import NO_CALLBACK, pointer_to
from matchrec.jit.decorators import inner

# The places of the functions in the enum.
(
    _SQRT, _CBRT, _EXP, _EXPM1, _LN, _LOG, _LOG2, _LOG10, _LOG1P, _POWER, _SIGN, _RINT, _FLOOR,
    _CEILING, ROUNDING, _HYPOT, _DEGREES, _RADIANS, _SIN, _COS, _TAN, _COT, _SEC, _CSC, _ASIN,
    _ACOS, _ATAN, _ATAN2, _SINH, _COSH, _TANH, _ASINH, _ACOSH, _ATANH,
) = range(len(MathFunction))  # fmt: skip


def mathematics_of(linked: LinkedConditions) -> Any:
    """The pointer to the functions that conditions use; those of arithmetic compile fast."""
    arithmetic = {one for one in linked.functions if one >= op.ARITHMETIC}
    if op.ROUND in linked.operations or linked.functions - arithmetic:
        return pointer_to(compute)
    return pointer_to(compute_arithmetic) if arithmetic else NO_CALLBACK


def compute_arithmetic(function: int, left: int, right: int) -> int:
    """As `compute`, of arithmetic alone."""
    return calculate(function, left, right)


def compute(function: int, left: int, right: int) -> int:
    """The bits of a function of two floats, or NO_RESULT.

    Functions of one look at the left one only. The right one of ROUND is how many places are left.
    FLOOR and CEILING answer the integer, and NARROW_INTEGER is of one.
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
    if function == ROUNDING:
        rounded = round_half_up(x, right)
        return NO_RESULT if rounded != rounded and x == x else bits_of(rounded)
    if function <= _POWER:
        if has_no_logarithm(function, x, y):
            return NO_RESULT
        return bits_of(power_or_logarithm(function, x, y))
    if function >= _SINH:
        return bits_of(hyperbolic(function, x))
    return bits_of(angle(function, x, y) if function >= _DEGREES else size(function, x, y))


@inner
def has_no_logarithm(function: int, x: float, y: float) -> bool:
    """Whether Spark's logarithm is NULL."""
    if function == _LOG:
        return not (x > 0 or x != x) or not (y > 0 or y != y)
    if function == _LOG1P:
        return x <= -1.0
    return _LN <= function <= _LOG10 and x <= 0


@inner
def power_or_logarithm(function: int, x: float, y: float) -> float:
    """A root, a power or a logarithm; of LOG, x is the base."""
    if function == _SQRT:
        return math.sqrt(x)
    if function == _CBRT:
        return cbrt(x)
    if function == _EXP:
        return exp(x)
    if function == _EXPM1:
        return math.expm1(x)
    if function == _LN:
        return ln(x)
    if function == _LOG:
        return ln(y) / ln(x)
    if function == _LOG2:
        return ln(x) / ln(2.0)
    if function == _LOG10:
        return log10(x)
    if function == _LOG1P:
        return math.log1p(x)
    return power(x, y)


@inner
def size(function: int, x: float, y: float) -> float:
    """What is about the size of numbers."""
    if function == _HYPOT:
        return hypot(x, y)
    if function == _SIGN:
        return x if x == 0 or x != x else math.copysign(1.0, x)
    if abs(x) >= 2.0**52 or x != x:
        return x
    return math.copysign((abs(x) + 2.0**52) - 2.0**52, x)


@inner
def angle(function: int, x: float, y: float) -> float:
    """Functions of an angle, and those that give one."""
    if function == _DEGREES:
        return x * (180.0 / math.pi)
    if function == _RADIANS:
        return x * (math.pi / 180.0)
    if function == _SIN:
        return math.sin(x)
    if function == _COS:
        return math.cos(x)
    if function == _TAN:
        return math.tan(x)
    if function == _COT:
        return 1.0 / math.tan(x)
    if function == _SEC:
        return 1.0 / math.cos(x)
    if function == _CSC:
        return 1.0 / math.sin(x)
    if function == _ASIN:
        return math.asin(x)
    if function == _ACOS:
        return math.acos(x)
    if function == _ATAN:
        return atan(x)
    return atan2(x + 0.0, y + 0.0)  # Spark has no negative zero here


@inner
def hyperbolic(function: int, x: float) -> float:
    """Hyperbolic functions and their inverses."""
    if function == _SINH:
        return math.sinh(x)
    if function == _COSH:
        return math.cosh(x)
    if function == _TANH:
        return math.tanh(x)
    if function == _ASINH:
        return math.asinh(x)
    return math.acosh(x) if function == _ACOSH else math.atanh(x)


@inner
def whole(found: float, x: float) -> int:
    """A float as a 64-bit integer; the nearest one where it is too large, 0 for NaN."""
    if x != x:
        return 0
    if x >= 2.0**63 or x < -(2.0**63):
        return 2**63 - 1 if x > 0 else -(2**63)
    return int(found)
