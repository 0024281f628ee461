"""Turn sums of decimals into Arrow columns, and find sums that are too large for their type.

A sum is an integer of 128 bits, in units of its last digit: a low and a high word of 64 bits. If it
is too large for 128 bits, the words have wrapped around.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from matchrec.conditions.types import find_sum_precision
from matchrec.search.partitions import BoolArray, FloatArray, IntArray
from matchrec.worker import arrays

DECIMAL_LIMIT = 10**38  # the least positive integer with more digits than a decimal can have
# If the double of a sum is greater than this number, the sum is at least DECIMAL_LIMIT, whatever
# rounding has lost. If a sum has wrapped around to less than the limit, it is really beyond 2.4e38,
# so its double is greater, too.
SURELY_TOO_LARGE = 1.2e38


def has_exact_sums(values: pa.Array) -> bool:
    """Return whether every sum of some of these decimals has at most 38 digits."""
    if values.type.precision <= 28 or not len(values):  # no table has 10^10 rows
        return True
    high = arrays.read_decimal_words(values)[:, 1]
    largest_word = max(int(high.max()), -int(high.min())) + 1
    return len(values) * largest_word << 64 < DECIMAL_LIMIT


def find_too_large_sums(
    words: IntArray, doubles: FloatArray, scale: int, limit: int = DECIMAL_LIMIT
) -> BoolArray:
    """Return which sums are at least a limit, or at most minus the limit: bool[n].

    Args:
        words: int64[n, 2], low and high words of the sums, which may have wrapped around.
        doubles: float64[n], the sums as doubles; or upper bounds of them, without their signs.
        scale: the number of digits behind the decimal point. A double times 10^scale is in units of
            the last digit, as the words are.
        limit: the limit, in units of the last digit.
    """
    low = words[:, 0].view(np.uint64)
    high = words[:, 1]
    upper_high, upper_low = divmod(limit, 2**64)
    is_over = (high > upper_high) | ((high == upper_high) & (low >= np.uint64(upper_low)))
    lower_high, lower_low = divmod(-limit, 2**64)
    is_under = (high < lower_high) | ((high == lower_high) & (low <= np.uint64(lower_low)))
    has_wrapped = ~(np.abs(doubles) * 10.0**scale <= SURELY_TOO_LARGE)  # true for NaN
    return np.asarray(is_over | is_under | has_wrapped, np.bool_)


def widen_for_sum(decimal_type: pa.DataType) -> pa.DataType:
    """Return the type of Spark's sum of decimals: 10 more digits, at most 38."""
    return pa.decimal128(find_sum_precision(decimal_type.precision), decimal_type.scale)


def make_decimals(words: IntArray, is_null: BoolArray, decimal_type: pa.DataType) -> pa.Array:
    """Return decimals as an Arrow array.

    Args:
        words: int64[n, 2], the low and the high word of each decimal.
        is_null: bool[n], which decimals are NULL. The words of other decimals must fit into the
            type.
        decimal_type: the type of the result.
    """
    data = pa.py_buffer(np.ascontiguousarray(words).tobytes())
    valid = pa.py_buffer(np.packbits(~is_null, bitorder="little").tobytes())
    widest = pa.decimal128(38, decimal_type.scale)
    return pa.Array.from_buffers(widest, len(words), [valid, data]).cast(decimal_type)
