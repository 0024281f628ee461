"""Find out from the values of a column whether their sums are exact: no overflow, no rounding.

Exact sums are the same in any order of additions. So they can be added up along the shared rows of
matches, which is faster than adding up each match.
"""

from __future__ import annotations

import numpy as np

from matchrec.output.match_reader import Links
from matchrec.output.total_kernels import sum_values
from matchrec.search.partitions import FloatArray, IntArray

DIGITS_OF_DOUBLE = 53  # a double holds every integer of this many binary digits

VALUES_IN_SAMPLE = 1_000  # the number of values that `are_float_sums_exact` tests first

# Every int64 is less than this.
LIMIT_OF_INT64 = 2**63

# The number of bits of one half of a 64-bit integer, and the mask of its low half.
BITS_OF_HALF = 32
LOW_HALF = 0xFFFF_FFFF


def are_integer_sums_exact(values: IntArray) -> bool:
    """Return whether no sum of the values, or of some of them, wraps around: each fits int64.

    The absolute values are added up, so the answer may be False although all sums fit.

    >>> are_integer_sums_exact(np.array([2**62, -(2**62) + 1]))
    True
    >>> are_integer_sums_exact(np.array([2**62, -(2**62)]))
    False
    """
    if not len(values):
        return True
    greatest_magnitude = max(int(values.max()), -int(values.min()))
    if len(values) * greatest_magnitude < LIMIT_OF_INT64:
        return True
    # Unsigned, since the absolute value of the least int64 does not fit int64.
    magnitudes = np.abs(values).view(np.uint64)
    # The halves of the values are added up separately, so that these sums do not wrap.
    high_halves = magnitudes >> np.uint64(BITS_OF_HALF)
    low_halves = magnitudes & np.uint64(LOW_HALF)
    sum_of_magnitudes = (int(high_halves.sum()) << BITS_OF_HALF) + int(low_halves.sum())
    return sum_of_magnitudes < LIMIT_OF_INT64


def find_common_exponent(values: FloatArray) -> int | None:
    """Return the largest e such that all values are multiples of 2^e; None if all are 0.

    >>> find_common_exponent(np.array([0.75, 0.0, -3.5]))
    -2
    >>> find_common_exponent(np.array([96.0, 32.0]))
    5

    Args:
        values: float64[n], finite.
    """
    fractions, exponents = np.frexp(values[values != 0])
    if not len(fractions):
        return None
    # value = digits * 2^(exponent - 53), where digits is an integer
    digits = np.ldexp(fractions, DIGITS_OF_DOUBLE).astype(np.int64)
    lowest_bits = (digits & -digits).astype(np.float64)
    trailing_zeros = np.frexp(lowest_bits)[1] - 1  # frexp returns 2^t as 0.5 * 2^(t + 1)
    return int((exponents - DIGITS_OF_DOUBLE + trailing_zeros).min())


def find_limit_of_sums(values: FloatArray) -> float:
    """Return a limit below which every sum of the values, or of some of them, is exact.

    Args:
        values: float64[n], finite.
    """
    exponent = find_common_exponent(values)
    if exponent is None:
        return np.inf
    with np.errstate(over="ignore"):  # no double is as large as some limits
        return float(np.ldexp(1.0, exponent + DIGITS_OF_DOUBLE))


def are_float_sums_exact(values: FloatArray, counted_rows: IntArray, links: Links) -> bool:
    """Return whether the sums of the counted values are the same in any order of additions.

    That is so if all values are multiples of one power of two, and the sum of their absolute values
    is less than 2^53 multiples of it. Then a double holds every sum on the way.

    >>> rows, links = np.array([0, 1, 2]), np.array([-1, 0, 1], np.int32)
    >>> are_float_sums_exact(np.array([3.5, -5.25, 2.0**50]), rows, links)
    True
    >>> are_float_sums_exact(np.array([3.5, -5.25, 2.0**51]), rows, links)
    False
    >>> are_float_sums_exact(np.array([0.1, 0.2, 0.3]), rows, links)
    False

    Args:
        values: float64[n], the value of each input row.
        counted_rows: see `sum_values`.
        links: see `sum_values`.
    """
    counted_values = values[counted_rows[counted_rows >= 0]]
    limit = np.inf
    # A few values are tested first, because they are mostly enough if the answer is False.
    sample = counted_values[:VALUES_IN_SAMPLE]
    for tested_values in (sample, counted_values):
        if not np.isfinite(tested_values).all():
            return False
        limit = find_limit_of_sums(tested_values)
        if np.abs(tested_values).max(initial=0) >= limit:
            return False
    # A sum below the limit is exact. A sum of absolute values that is rounded has reached the
    # limit, and the rounded sum has, too, because the limit itself is a double.
    sums = sum_values(np.abs(values), counted_rows, links)
    return bool((sums < min(limit, np.finfo(np.float64).max)).all())
