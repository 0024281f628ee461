"""Comparison as Spark SQL has it, compiled: NaN equals NaN and is greater than any other number."""

import math

from matchrec.jit.decorators import inlined, spliced


@spliced
def order_of_integers(left: int, right: int) -> int:
    """-1, 0 or 1: whether left is less, equal or greater."""
    return int(left > right) - int(left < right)


@inlined
def order_of_floats(left: float, right: float) -> int:
    """-1, 0 or 1: whether left is less, equal or greater; NaN is one number, the greatest."""
    if left == right:
        return 0
    if left < right or (math.isnan(right) and not math.isnan(left)):
        return -1
    return int(not math.isnan(right))


@spliced
def compare(comparison: int, order: int) -> bool:
    """What a comparison says of two values in that order: see `instructions`."""
    return bool(comparison >> (order + 1) & 1)
