"""The order of matches that end and start at the same rows, and which of them are equal."""

import numpy as np
import numpy.typing as npt

from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.jit.decorators import kernel, spliced

VariableArray = npt.NDArray[np.int16]


@kernel
def mark_equal(
    groups: IntArray,
    order: IntArray,
    again: BoolArray,
    offsets: IntArray,
    rows: IntArray,
    variables: VariableArray,
) -> bool:
    """Mark in `again` each match that equals the one before it; false where one is out of order.

    Group g has the matches order[groups[g]] .. order[groups[g + 1]] - 1.
    """
    for group in range(groups.shape[0] - 1):
        for place in range(groups[group] + 1, groups[group + 1]):
            found = compare(order[place - 1], order[place], offsets, rows, variables)
            if found > 0:
                return False
            again[place] = found == 0
    return True


@kernel
def settle_ties(
    groups: IntArray,
    order: IntArray,
    spare: IntArray,
    offsets: IntArray,
    rows: IntArray,
    variables: VariableArray,
) -> None:
    """Sort the matches of each group by row positions, then by variables, by merging.

    Searches find most matches in that order: few need this. spare: like `order`, scratch.
    """
    for group in range(groups.shape[0] - 1):
        begin, end = groups[group], groups[group + 1]
        width = 1
        while width < end - begin:
            for left in range(begin, end, 2 * width):
                middle, right = min(left + width, end), min(left + 2 * width, end)
                one, other = left, middle
                for place in range(left, right):
                    if other == right or (
                        one < middle
                        and compare(order[one], order[other], offsets, rows, variables) <= 0
                    ):
                        spare[place] = order[one]
                        one += 1
                    else:
                        spare[place] = order[other]
                        other += 1
            for place in range(begin, end):
                order[place] = spare[place]
            width *= 2


@spliced
def compare(
    one: int, other: int, offsets: IntArray, rows: IntArray, variables: VariableArray
) -> int:
    """Negative, zero or positive, by row positions, then by variables."""
    first, second = offsets[one], offsets[other]
    length, other_length = offsets[one + 1] - first, offsets[other + 1] - second
    shared = min(length, other_length)
    for index in range(shared):
        if rows[first + index] != rows[second + index]:
            return int(rows[first + index] - rows[second + index])
    if length != other_length:
        return int(length - other_length)
    for index in range(shared):
        if variables[first + index] != variables[second + index]:
            return int(variables[first + index]) - int(variables[second + index])
    return 0
