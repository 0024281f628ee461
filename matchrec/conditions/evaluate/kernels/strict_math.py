"""Logarithms and powers that equal those of Java's StrictMath to the last bit.

A mathematics library rounds about one result in ten differently, by the last bit. So each operation
is here as in fdlibm, in the same order: do not simplify the arithmetic. Floats are taken apart by
frexp and put together by ldexp, so that the same text runs in Python and compiled.

Each function moves its argument to a small range, and evaluates a polynomial there:

    exp(x)       2**k * exp(r), with x = k * ln(2) + r
    ln(x)        k * ln(2) + ln(1 + f), with x = 2**k * (1 + f)
    log10(x)     from `ln` of the mantissa of x
    power(x, y)  2 ** (y * log2(x)), with the logarithm as the sum of two floats

Names are mostly those of fdlibm, so that the two can be compared line by line:

    x, y             the arguments
    k, n             the power of 2 that is taken out of an argument
    f, s, z, w       in `ln`: the mantissa minus 1, f / (2 + f), s * s and z * z
    top              the first 20 bits of the fraction of a mantissa, which are in the upper half
                     of the 64 bits of a float
    ..._high, _low   two floats whose sum is a number with more bits than a float has

The coefficients of polynomials are written where they are used. In fdlibm they are P1 to P5 for
`exp`, Lg1 to Lg7 for `ln`, and L1 to L6 for `_log2`.

Source: the algorithms of fdlibm (Sun Microsystems, 1993), which the Java standard prescribes: the
files e_exp.c, e_log.c, e_log10.c and e_pow.c.
"""

from __future__ import annotations

import math
from math import floor, frexp, inf, isinf, isnan, ldexp, nan

from matchrec.jit.decorators import inner

# A constant as the sum of two floats has the name of the constant with HIGH and LOW.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_INVERSE_LN2 = 1.44269504088896338700
_LOG10_2_HIGH = 3.01029995663611771306e-01
_LOG10_2_LOW = 3.69423907715893078616e-13
_INVERSE_LN10 = 4.34294481903251816668e-01
# 2 / (3 * ln(2)), and 2 / (3 * ln(2)) as the sum of two floats.
_TWO_THIRDS_INVERSE_LN2 = 9.61796693925975554329e-01
_TWO_THIRDS_INVERSE_LN2_HIGH = 9.61796700954437255859e-01
_TWO_THIRDS_INVERSE_LN2_LOW = -7.02846165095275826516e-09
# ln(2), and ln(2) as the sum of two floats, of which the first has 24 bits.
_LN2 = 6.93147180559945286227e-01
_SHORT_LN2_HIGH = 6.93147182464599609375e-01
_SHORT_LN2_LOW = -1.90465429995776804525e-09

# The arguments above which `exp` is infinity, and below which it is zero.
_LARGEST_EXPONENT = 7.09782712893383973096e02
_MIN_EXPONENT = -7.45133219101941108420e02

# The least floats whose upper 32 bits are greater than the upper 32 bits of ln(2) / 2 and of 1/2.
_HALF_LN2 = float.fromhex("0x1.62e43p-2")
_ABOVE_HALF = float.fromhex("0x1.00001p-1")

# A fraction of 20 bits times this is an integer.
_TWO_TO_20 = 1048576.0


@inner
def exp(x: float) -> float:
    """Return e to the power of x."""
    if isnan(x):
        return x
    if x > _LARGEST_EXPONENT:
        return inf
    if x < _MIN_EXPONENT:
        return 0.0
    # The argument is k * ln(2) + (high - low), and high - low is small.
    size = abs(x)
    k = 0
    high = x
    low = 0.0
    if size >= _HALF_LN2:
        k = int(_INVERSE_LN2 * x + (0.5 if x > 0 else -0.5))
        high = x - k * _LN2_HIGH
        low = k * _LN2_LOW
        x = high - low
    elif size < 2.0**-28:
        return 1.0 + x
    c = x - _exp_remainder(x * x)
    mantissa = 1.0 - ((low - (x * c) / (2.0 - c)) - high)
    if k >= -1021:
        return ldexp(mantissa, k)
    return ldexp(mantissa, k + 1000) * 2.0**-1000  # a denormal number, rounded only once


@inner
def _exp_remainder(t: float) -> float:
    """Return the polynomial of `exp`, without its first term, for t = x * x."""
    tail = -1.65339022054652515390e-06 + t * 4.13813679705723846039e-08
    middle = -2.77777777770155933842e-03 + t * (6.61375632143793436117e-05 + t * tail)
    return t * (1.66666666666666019037e-01 + t * middle)


@inner
def ln(x: float) -> float:
    """Return the natural logarithm of x."""
    if isnan(x) or x == inf:
        return x
    if x <= 0:
        return -inf if x == 0 else nan
    # x is 2**k * mantissa. In the end, the mantissa is between sqrt(2) / 2 and sqrt(2).
    half, exponent = frexp(x)
    k = exponent - 1
    mantissa = 2.0 * half  # 1 <= mantissa < 2
    top = int((mantissa - 1.0) * _TWO_TO_20)
    if top + 0x95F64 >= 0x100000:  # above sqrt(2)
        mantissa = half
        k += 1
    f = mantissa - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    odd_tail = 2.222219843214978396e-01 + w * 1.531383769920937332e-01
    even_tail = 1.818357216161805012e-01 + w * 1.479819860511658591e-01
    odd = w * (3.999999999940941908e-01 + w * odd_tail)
    even = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * even_tail))
    series = even + odd
    if 0x6147A <= top <= 0x6B851:  # between about 1.38 and 1.42
        square = 0.5 * f * f
        return k * _LN2_HIGH - ((square - (s * (square + series) + k * _LN2_LOW)) - f)
    correction = s * (f - series)
    if (top + 2) % 0x100000 < 3:  # near one: abs(f) < 2**-20
        correction = f * f * (0.5 - 0.33333333333333333 * f)
    return k * _LN2_HIGH - ((correction - k * _LN2_LOW) - f)


@inner
def log10(x: float) -> float:
    """Return the logarithm of x to base 10."""
    if not 0 < x < inf:
        return ln(x)
    half, exponent = frexp(x)
    k = exponent - 1
    # The mantissa is between 1 and 2, or for a number below 1 between 1/2 and 1.
    is_below_one = 1 if k < 0 else 0
    mantissa = half if is_below_one else 2.0 * half
    y = float(k + is_below_one)
    return (y * _LOG10_2_LOW + _INVERSE_LN10 * ln(mantissa)) + y * _LOG10_2_HIGH


@inner
def power(x: float, y: float) -> float:
    """Return x to the power of y. If the size of y is 2**31 or more, the last bit can differ."""
    if y == 0:
        return 1.0
    if isnan(x) or isnan(y) or (abs(x) == 1.0 and isinf(y)):
        return nan
    if y == 1.0:
        return x
    if y == 2.0:
        return x * x
    if y == -1.0 and x != 0:
        return 1.0 / x
    if y == 0.5 and x != -inf:
        return math.sqrt(x + 0.0) if x >= 0 else nan
    is_odd = abs(y) < 2.0**53 and y == floor(y) and y % 2.0 == 1.0  # beyond 2**53, all are even
    if x == 0 or isinf(x) or isinf(y):
        limit = inf if (abs(x) > 1) == (y > 0) else 0.0
        return -limit if is_odd and math.copysign(1.0, x) < 0 else limit
    if x < 0 and y != floor(y):
        return nan
    size = _power_of_size(abs(x), y)
    return -size if x < 0 and is_odd else size


@inner
def _power_of_size(x: float, y: float) -> float:
    """Return x to the power of y for a finite x above 0."""
    # fdlibm has another formula for these. They are hardly ever needed, so it is not here.
    if abs(y) > 2.0**31:
        return inf if y * math.log(x) > 709.0 else math.pow(x, y)
    high, low = _log2(x)
    y_high = clear_low_bits(y)
    product_low = (y - y_high) * high + y * low
    product_high = y_high * high
    z = product_low + product_high
    # 2**z is infinity above 1024, and zero below -1075. At these numbers, the part of the sum that
    # was lost in z decides. The constant is the distance from 1024 to the logarithm of the largest
    # float plus half a unit.
    if z >= 1024.0 and (z > 1024.0 or product_low + 8.0085662595372944372e-17 > z - product_high):
        return inf
    if z <= -1075.0 and (z < -1075.0 or product_low <= z - product_high):
        return 0.0
    return _exp2(product_high, product_low, z)


@inner
def _log2(x: float) -> tuple[float, float]:
    """Return the logarithm to base 2 of a positive number, as the sum of two floats."""
    half, exponent = frexp(x)
    # x is 2**n * ax. log2(ax) = log2(ax / base) + (base_high + base_low), and base is 1 or 1.5.
    n = exponent - 1
    ax = 2.0 * half
    k = 0
    base = 1.0
    base_high = 0.0
    base_low = 0.0
    top = int((ax - 1.0) * _TWO_TO_20)
    word = 0x3FF00000 | top  # the upper half of the bits of ax
    if top > 0x3988E:  # above sqrt(3/2)
        if top < 0xBB67A:  # below sqrt(3)
            k = 1
            base = 1.5
            base_high = 5.84962487220764160156e-01
            base_low = 1.35003920212974897128e-08
        else:
            n += 1
            ax = half
            word -= 0x100000
    # s is (ax - base) / (ax + base), as s_high + s_low; t_high + t_low is ax + base.
    u = ax - base
    v = 1.0 / (ax + base)
    s = u * v
    s_high = clear_low_bits(s)
    word = ((word >> 1) | 0x20000000) + 0x80000 + (k << 18)  # the upper half of t_high's bits
    t_high = ldexp(1.0 + (word & 0xFFFFF) / _TWO_TO_20, (word >> 20) - 1023)
    t_low = ax - (t_high - base)
    s_low = v * ((u - s_high * t_high) - s_high * t_low)
    # t_high + t_low is 3 + s * s + r, and p_high + p_low is its product with s.
    r = _log2_series(s * s) + s_low * (s_high + s)
    square = s_high * s_high
    t_high = clear_low_bits(3.0 + square + r)
    t_low = r - ((t_high - 3.0) - square)
    u = s_high * t_high
    v = s_low * t_high + t_low * s
    p_high = clear_low_bits(u + v)
    p_low = v - (p_high - u)
    # Times 2 / (3 * ln(2)), which is log2(ax / base).
    z_high = _TWO_THIRDS_INVERSE_LN2_HIGH * p_high
    z_low = _TWO_THIRDS_INVERSE_LN2_LOW * p_high + p_low * _TWO_THIRDS_INVERSE_LN2 + base_low
    high = clear_low_bits(((z_high + z_low) + base_high) + float(n))
    low = z_low - (((high - float(n)) - base_high) - z_high)
    return high, low


@inner
def _log2_series(s: float) -> float:
    """Return the polynomial of `_log2`."""
    tail = 2.30660745775561754067e-01 + s * 2.06975017800338417784e-01
    middle = 3.33333329818377432918e-01 + s * (2.72728123808534006489e-01 + s * tail)
    return s * s * (5.99999999999994648725e-01 + s * (4.28571428578550184252e-01 + s * middle))


@inner
def _exp2(high: float, low: float, z: float) -> float:
    """Return 2 to the power of high + low; z is their sum."""
    n = 0  # the integer nearest to z
    if abs(z) >= _ABOVE_HALF:
        n = int(abs(z) + 0.5)
        n = -n if z < 0 else n
        high -= float(n)
    t = clear_low_bits(low + high)
    u = t * _SHORT_LN2_HIGH
    v = (low - (t - high)) * _LN2 + t * _SHORT_LN2_LOW
    # The result is 2**n * exp(z + w).
    z = u + v
    w = v - (z - u)
    t1 = z - _exp_remainder(z * z)
    r = (z * t1) / (t1 - 2.0) - (w + z * w)
    return ldexp(1.0 - (r - z), n)


@inner
def clear_low_bits(x: float) -> float:
    """Return the float without the lower half of its bits: only 21 bits of the mantissa stay."""
    half, exponent = frexp(x)
    return ldexp(float(int(ldexp(half, 21))), exponent - 21)
