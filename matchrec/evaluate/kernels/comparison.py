"""Comparison as Spark SQL has it, compiled: NaN equals NaN and is greater than any other number."""

import math

from matchrec.evaluate import instructions as op
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
    """What a comparison says of two values in that order; NULL_SAFE_EQUAL compares like EQUAL."""
    if comparison == op.NOT_EQUAL:
        return order != 0
    if comparison == op.LESS:
        return order < 0
    if comparison == op.LESS_OR_EQUAL:
        return order <= 0
    if comparison == op.GREATER:
        return order > 0
    if comparison == op.GREATER_OR_EQUAL:
        return order >= 0
    return order == 0
