"""Logarithms and powers that equal those of Java's StrictMath to the last bit.

A mathematics library rounds about one result in ten differently, by the last bit. So each operation
is here as in fdlibm, in the same order. Floats are taken apart by frexp and put together by ldexp,
so that the same text runs in Python and compiled.

Names are mostly those of fdlibm, so that the two can be compared line by line:

    x, y             the arguments
    k, n             the power of 2 that is taken out of an argument
    f, s, z, w       in `ln`: the mantissa minus 1, f / (2 + f), s * s and z * z
    ..._high, _low   two floats whose sum is a number with more bits than a float has

Source: the algorithms of fdlibm (Sun Microsystems, 1993), which the Java standard prescribes.
"""

from __future__ import annotations

import math
from math import floor, frexp, inf, isinf, isnan, ldexp, nan

from matchrec.jit.decorators import inner

# A constant as the sum of two floats has the name of the constant with HIGH and LOW.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_INVERSE_LN2 = 1.44269504088896338700
# The arguments above and below which `exp` is infinity and zero.
_LARGEST_EXPONENT, _MIN_EXPONENT = 7.09782712893383973096e02, -7.45133219101941108420e02
# The least floats whose upper 32 bits are greater than the upper 32 bits of ln(2) / 2 and of 1/2.
_HALF_LN2 = float.fromhex("0x1.62e43p-2")
_ABOVE_HALF = float.fromhex("0x1.00001p-1")

_LOG10_2_HIGH, _LOG10_2_LOW = 3.01029995663611771306e-01, 3.69423907715893078616e-13
_INVERSE_LN10 = 4.34294481903251816668e-01


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
    size, k, high, low = abs(x), 0, x, 0.0
    if size >= _HALF_LN2:
        k = int(_INVERSE_LN2 * x + (0.5 if x > 0 else -0.5))
        high, low = x - k * _LN2_HIGH, k * _LN2_LOW
        x = high - low
    elif size < 2.0**-28:
        return 1.0 + x
    c = x - _exp_remainder(x * x)
    x = 1.0 - ((low - (x * c) / (2.0 - c)) - high)
    return ldexp(x, k) if k >= -1021 else ldexp(x, k + 1000) * 2.0**-1000  # rounded once


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
    # x is 2**k * mantissa, and the mantissa is between sqrt(2) / 2 and sqrt(2).
    half, exponent = frexp(x)
    k = exponent - 1
    mantissa = 2.0 * half  # 1 <= mantissa < 2
    top = int((mantissa - 1.0) * 1048576.0)  # the first 20 bits of its fraction
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
    negative = 1 if k < 0 else 0
    near_one = half if negative else 2.0 * half
    y = float(k + negative)
    return (y * _LOG10_2_LOW + _INVERSE_LN10 * ln(near_one)) + y * _LOG10_2_HIGH


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
    odd = abs(y) < 2.0**53 and y == floor(y) and y % 2.0 == 1.0
    if x == 0 or isinf(x) or isinf(y):
        limit = inf if (abs(x) > 1) == (y > 0) else 0.0
        return -limit if odd and math.copysign(1.0, x) < 0 else limit
    if x < 0 and y != floor(y):
        return nan
    size = _power_of_size(abs(x), y)
    return -size if x < 0 and odd else size


@inner
def _power_of_size(x: float, y: float) -> float:
    """Return x to the power of y for a finite x above 0."""
    if abs(y) > 2.0**31:
        return inf if y * math.log(x) > 709.0 else math.pow(x, y)
    high, low = _log2(x)
    y_high = shorten(y)
    product_low = (y - y_high) * high + y * low
    product_high = y_high * high
    z = product_low + product_high
    if z >= 1024.0 and (z > 1024.0 or product_low + 8.0085662595372944372e-17 > z - product_high):
        return inf
    if z <= -1075.0 and (z < -1075.0 or product_low <= z - product_high):
        return 0.0
    return _exp2(product_high, product_low, z)


@inner
def _log2(x: float) -> tuple[float, float]:
    """Return the logarithm to base 2 of a positive number, as the sum of two floats."""
    half, exponent = frexp(x)
    n, ax = exponent - 1, 2.0 * half
    top = int((ax - 1.0) * 1048576.0)
    # x is 2**n * ax. log(ax) = log(ax / base) + high_k + low_k, the last two for the base.
    k, base, high_k, low_k = 0, 1.0, 0.0, 0.0
    word = 0x3FF00000 | top  # the upper half of the bits of ax
    if top > 0x3988E:  # above sqrt(3/2)
        if top < 0xBB67A:  # below sqrt(3)
            k, base = 1, 1.5
            high_k, low_k = 5.84962487220764160156e-01, 1.35003920212974897128e-08
        else:
            n += 1
            ax = half
            word -= 0x100000
    u, v = ax - base, 1.0 / (ax + base)
    s = u * v
    s_high = shorten(s)
    word = ((word >> 1) | 0x20000000) + 0x80000 + (k << 18)  # the upper half; the lower is 0
    t_high = ldexp(1.0 + (word & 0xFFFFF) / 1048576.0, (word >> 20) - 1023)
    t_low = ax - (t_high - base)
    s_low = v * ((u - s_high * t_high) - s_high * t_low)
    r = _log2_series(s * s) + s_low * (s_high + s)
    square = s_high * s_high
    t_high = shorten(3.0 + square + r)
    t_low = r - ((t_high - 3.0) - square)
    u, v = s_high * t_high, s_low * t_high + t_low * s
    p_high = shorten(u + v)
    p_low = v - (p_high - u)
    z_high = 9.61796700954437255859e-01 * p_high
    z_low = -7.02846165095275826516e-09 * p_high + p_low * 9.61796693925975554329e-01 + low_k
    high = shorten(((z_high + z_low) + high_k) + float(n))
    return high, z_low - (((high - float(n)) - high_k) - z_high)


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
    t = shorten(low + high)
    u = t * 6.93147182464599609375e-01
    v = (low - (t - high)) * 6.93147180559945286227e-01 + t * -1.90465429995776804525e-09
    z = u + v
    w = v - (z - u)
    t1 = z - _exp_remainder(z * z)
    r = (z * t1) / (t1 - 2.0) - (w + z * w)
    return ldexp(1.0 - (r - z), n)


@inner
def shorten(x: float) -> float:
    """Return the float without the lower half of its bits."""
    half, exponent = frexp(x)
    return ldexp(float(int(ldexp(half, 21))), exponent - 21)
