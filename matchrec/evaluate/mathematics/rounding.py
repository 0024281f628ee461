"""Rounding a float to decimal places as Spark does: half up, of the decimal that it is written as.

0.15 is a little less than fifteen hundredths, but is written 0.15, and rounds to 0.2. A float is
written as 0.15 if it is the float nearest to that; so it is compared with the floats nearest to the
decimals around it, which are quotients of whole numbers, rounded once.
"""

from __future__ import annotations

from math import floor, inf, nan

from matchrec.jit.decorators import inner

_MOST = 2.0**48  # below which decimals of one more place are further apart than floats


@inner
def round_half_up(x: float, places: int) -> float:
    """The float with so many decimal places, NaN where that is uncertain.

    places: negative for tens and hundreds.
    """
    if x != x or x == inf or x == -inf:
        return x
    if places > 18 or places < -18:
        return nan
    size = abs(x)
    scale = 10.0 ** abs(places)
    scaled = size * scale if places >= 0 else size / scale
    if scaled >= _MOST:
        return nan
    least = float(floor(scaled))
    if size < _unscaled(least, scale, places):
        least -= 1.0
    elif size >= _unscaled(least + 1.0, scale, places):
        least += 1.0
    half = _unscaled(2.0 * least + 1.0, 2.0 * scale, places)
    if places < 0:
        half = (2.0 * least + 1.0) * (scale / 2.0)
    rounded = _unscaled(least + 1.0 if size >= half else least, scale, places)
    return -rounded if x < 0 else rounded


@inner
def _unscaled(number: float, scale: float, places: int) -> float:
    return number / scale if places >= 0 else number * scale
