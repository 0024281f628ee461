"""Sums and products of 64-bit integers that wrap where they overflow, compiled."""

import numpy as np

from matchrec.jit.decorators import spliced


@spliced
def wrapped_sum(left: int, right: int) -> int:
    """The sum in 64 bits; of signed integers the compiler would assume that they never overflow."""
    return int(np.int64(np.uint64(left) + np.uint64(right)))


@spliced
def wrapped_difference(left: int, right: int) -> int:
    """The difference in 64 bits."""
    return int(np.int64(np.uint64(left) - np.uint64(right)))


@spliced
def wrapped_product(left: int, right: int) -> int:
    """The product in 64 bits."""
    return int(np.int64(np.uint64(left) * np.uint64(right)))
