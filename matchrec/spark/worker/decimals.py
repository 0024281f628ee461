"""Sums of decimals: 128-bit integers, which wrap where a sum has more than Spark's 38 digits."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from matchrec.engine.partitions import BoolArray, FloatArray, IntArray
from matchrec.spark.worker.arrays import decimal_words

LIMIT = 10**38  # the first number of more digits than a decimal has
SURELY_MORE = 1.2e38  # beyond it whatever a sum of doubles has lost; a wrapped sum is beyond 2.4e38


def always_fit(values: pa.Array) -> bool:
    """Whether every sum of some of the values has at most 38 digits."""
    if values.type.precision <= 28 or not len(values):
        return True
    high = decimal_words(values)[:, 1]
    return len(values) * (max(int(high.max()), -int(high.min())) + 1) << 64 < LIMIT


def too_large(words: IntArray, roughly: FloatArray, scale: int) -> BoolArray:
    """bool[n], sums of more than 38 digits.

    words: int64[n, 2], of the sums, which may have wrapped. roughly: the same sums of doubles.
    """
    low, high = words[:, 0].view(np.uint64), words[:, 1]
    most, least = divmod(LIMIT, 2**64), divmod(-LIMIT, 2**64)
    over = (high > most[0]) | ((high == most[0]) & (low >= np.uint64(most[1])))
    under = (high < least[0]) | ((high == least[0]) & (low <= np.uint64(least[1])))
    return np.asarray(over | under | (np.abs(roughly) * 10.0**scale > SURELY_MORE), np.bool_)


def decimals(words: IntArray, absent: BoolArray, kind: pa.DataType) -> pa.Array:
    """Decimals of their words, NULL where `absent`."""
    data = pa.py_buffer(np.ascontiguousarray(words).tobytes())
    valid = pa.py_buffer(np.packbits(~absent, bitorder="little").tobytes())
    widest = pa.decimal128(38, kind.scale)
    return pa.Array.from_buffers(widest, len(words), [valid, data]).cast(kind)
