"""Roots, distances and angles to the last bit as Java's StrictMath has them: see `strict_math`."""

from __future__ import annotations

import math
from math import copysign, frexp, inf, isinf, isnan, ldexp, nan, sqrt

from matchrec.evaluate.mathematics.strict_math import high_word, of_high_word, shortened
from matchrec.jit.decorators import inner

_PI, _PI_LOW = math.pi, 1.2246467991473531772e-16


@inner
def cbrt(x: float) -> float:
    """The cube root."""
    if x == 0 or isnan(x) or isinf(x):
        return x
    size = abs(x)
    if size < 2.0**-1022:
        t = of_high_word(high_word(size * 2.0**54) // 3 + 696219795)
    else:
        t = of_high_word(high_word(size) // 3 + 715094163)
    s = 5.42857142857142815906e-01 + t * t / size * t
    t *= 3.57142857142857150787e-01 + 1.60714285714285720630e00 / (
        s + 1.41428571428571436819e00 + -7.05306122448979611050e-01 / s
    )
    t = of_high_word(high_word(t) + 1)
    r = size / (t * t)
    r = (r - t) / (t + t + r)
    return copysign(t + t * r, x)


@inner
def hypot(x: float, y: float) -> float:
    """The square root of the sum of two squares."""
    if isinf(x) or isinf(y):
        return inf
    if isnan(x) or isnan(y):
        return nan
    a, b = max(abs(x), abs(y)), min(abs(x), abs(y))
    if b == 0 or frexp(a)[1] - frexp(b)[1] > 61 or a > b * 2.0**60:
        return a + b
    k = 0
    if a > 2.0**500:
        k = 600
    elif b < 2.0**-500:
        k = -600
    a, b = ldexp(a, -k), ldexp(b, -k)
    w = a - b
    if w > b:
        first = shortened(a)
        rest = a - first
        w = sqrt(first * first - (b * (-b) - rest * (a + first)))
    else:
        twice = a + a
        high, first = shortened(b), shortened(twice)
        low, rest = b - high, twice - first
        w = sqrt(first * high - (w * (-w) - (first * low + rest * b)))
    return _large(w, k)


@inner
def _large(x: float, k: int) -> float:
    """X times two to the power of k, infinite where that is too large."""
    return inf if frexp(x)[1] + k > 1024 else ldexp(x, k)


@inner
def atan(x: float) -> float:
    """The angle whose tangent is x."""
    if isnan(x):
        return x
    size = abs(x)
    if size >= 2.0**66:
        return copysign(1.57079632679489655800e00 + 6.12323399573676603587e-17, x)
    if size < 2.0**-29:
        return x
    if size < 0.4375:
        return x - x * _atan_rest(x)
    if size < 0.6875:
        high, low = 4.63647609000806093515e-01, 2.26987774529616870924e-17
        t = (2.0 * size - 1.0) / (2.0 + size)
    elif size < 1.1875:
        high, low = 7.85398163397448278999e-01, 3.06161699786838301793e-17
        t = (size - 1.0) / (size + 1.0)
    elif size < 2.4375:
        high, low = 9.82793723247329054082e-01, 1.39033110312309984516e-17
        t = (size - 1.5) / (1.0 + 1.5 * size)
    else:
        high, low = 1.57079632679489655800e00, 6.12323399573676603587e-17
        t = -1.0 / size
    return copysign(high - ((t * _atan_rest(t) - low) - t), x)


@inner
def _atan_rest(x: float) -> float:
    z = x * x
    w = z * z
    odd = 4.97687799461593236017e-02 + w * 1.62858201153657823623e-02
    odd = 9.09088713343650656196e-02 + w * (6.66107313738753120669e-02 + w * odd)
    odd = z * (3.33333333333329318027e-01 + w * (1.42857142725034663711e-01 + w * odd))
    even = -5.83357013379057348645e-02 + w * -3.65315727442169155270e-02
    even = -1.11111104054623557880e-01 + w * (-7.69187620504482999495e-02 + w * even)
    even = w * (-1.99999999998764832476e-01 + w * even)
    return odd + even


@inner
def atan2(y: float, x: float) -> float:
    """The angle of the point (x, y)."""
    if isnan(x) or isnan(y):
        return nan
    if x == 0 or y == 0 or isinf(x) or isinf(y):
        return math.atan2(y, x)
    if x == 1.0:
        return atan(y)
    distance = high_word(abs(y)) // 0x100000 - high_word(abs(x)) // 0x100000
    if distance > 60:
        z = math.pi / 2 + 0.5 * _PI_LOW
    elif x < 0 and distance < -60:
        z = 0.0
    else:
        z = atan(abs(y / x))
    if x > 0:
        return copysign(z, y)
    return copysign(_PI - (z - _PI_LOW), y)
