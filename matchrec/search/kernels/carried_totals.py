"""What runs carry for aggregates over all matches: the totals of all ways to a node.

A *way* is a run that leads to a node of the buffer. Each node has, after its own columns, the
totals of all ways that lead to it: how many ways there are, and for each aggregate the sum or the
extreme of its measure over them.

1. Mapping a row changes the totals of all ways of a node at once (`carry_totals`).
2. Where runs merge, the totals of both are added (`join_totals`).
3. Where runs accept, their totals are added to those of their group (`merge_ways`).

So the cost is that of the runs, however many matches they stand for.

    SEQ(A+ a[]) with skip till any match, count(*), rows A A A: ways that end at each row 1, 2, 4

The words of a node or group are the number of ways, then for each aggregate:

    unset       number of ways on which the measure has read nothing yet
    known       number of ways on which it is not NULL
    value       the sum of the measure over the known ways; or its extreme, and the row of that

A number has three words: 128 bits that wrap, the low word first, and the sum of what was added,
without signs, as a double. By the double, the reader can tell whether the 128 bits may have
wrapped. A sum of doubles is only the double. The double of an extreme bounds, over all known ways,
the sum of the values without their signs.

Sources: Poppe, Lei, Rundensteiner, Maier, "GRETA: Graph-based Real-time Event Trend Aggregation",
PVLDB 11(1), 2017; Poppe, Lei, Rundensteiner, Maier, "Event Trend Aggregation under Rich Event
Matching Semantics" (COGRA), 2019.
"""

from __future__ import annotations

import numpy as np

from matchrec.conditions.evaluate.kernels.arithmetic import (
    order_of_floats,
    order_of_integers,
    wrapped_product,
    wrapped_sum,
)
from matchrec.jit.bits import bits_to_float, float_to_bits
from matchrec.jit.decorators import inlined, inner
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import TotalArrays
from matchrec.search.matches import DOUBLE_WORD
from matchrec.search.partitions import IntArray

# Columns of `TotalArrays.aggregates`.
OVER_MATCHES = 0  # the aggregate over all matches
IN_A_MATCH = 1  # the aggregate of a match's rows, or the row, that the measure is
VALUES = 2  # index of the column in `TotalArrays.values`, -1 for a count of rows
IS_FLOAT = 3  # whether the column holds the bits of doubles
AGGREGATE_SIZE = 4

COUNT, SUM, MIN, MAX, FIRST, LAST = range(6)
CODES = {"count": COUNT, "sum": SUM, "min": MIN, "max": MAX, "first": FIRST, "last": LAST}

# Words of a number, after the low one. The third word is DOUBLE_WORD.
HIGH_WORD = 1
NUMBER_SIZE = 3

# A node, after its own columns, and a group have first the number of ways, which begins at the word
# WAYS, and then the totals: see `locate_total`.
WAYS = 0
# The words of a total at which its numbers begin, counted from where the total begins.
UNSET = 0
KNOWN = 3
VALUE = 6
TOTAL_SIZE = 9
ROW = 1  # the word with the row of an extreme, after VALUE

LOW_HALF = np.int64(0xFFFFFFFF)  # of a word
SIGN_BIT = np.int64(-(2**63))


def count_words(totals: int) -> int:
    """Return how many words the totals of a node or group have."""
    return NUMBER_SIZE + totals * TOTAL_SIZE


@inlined
def locate_total(index: int) -> int:
    """Return the word at which a total begins."""
    return NUMBER_SIZE + index * TOTAL_SIZE


@inlined
def find_carry(low: int, added: int) -> int:
    """Return 1 if adding the low word `added` has given `low` with a carry, otherwise 0."""
    return int((low ^ SIGN_BIT) < (added ^ SIGN_BIT))  # compares them as unsigned words


@inlined
def add_to_double(numbers: IntArray, at: int, added: float) -> None:
    """Add to the double of the number at `at`."""
    double = bits_to_float(numbers[at + DOUBLE_WORD])
    numbers[at + DOUBLE_WORD] = float_to_bits(double + added)


@inlined
def add_number(to: IntArray, at: int, other: IntArray, other_at: int) -> None:
    """Add the number at `other_at` of `other` to the number at `at` of `to`."""
    low = wrapped_sum(to[at], other[other_at])
    high = wrapped_sum(to[at + HIGH_WORD], other[other_at + HIGH_WORD])
    to[at + HIGH_WORD] = wrapped_sum(high, find_carry(low, other[other_at]))
    to[at] = low
    add_to_double(to, at, bits_to_float(other[other_at + DOUBLE_WORD]))


@inlined
def multiply_high(left: int, right: int) -> int:
    """Return the upper word of the product of two unsigned words."""
    low = left & LOW_HALF
    high = (left >> 32) & LOW_HALF
    other_low = right & LOW_HALF
    other_high = (right >> 32) & LOW_HALF
    middle = wrapped_sum(wrapped_product(high, other_low), (low * other_low >> 32) & LOW_HALF)
    other_middle = wrapped_sum(wrapped_product(low, other_high), middle & LOW_HALF)
    carried = wrapped_sum((middle >> 32) & LOW_HALF, (other_middle >> 32) & LOW_HALF)
    return wrapped_sum(wrapped_product(high, other_high), carried)


@inlined
def add_product(
    to: IntArray, at: int, ways: IntArray, ways_at: int, value: int, is_float: int
) -> None:
    """Add a value times a number of ways to the number at `at` of `to`.

    The number of ways is at `ways_at` of `ways`. `is_float` is 1 if the value is the bits of a
    double, and 0 if it is an integer.
    """
    number_of_ways = bits_to_float(ways[ways_at + DOUBLE_WORD])
    if is_float:
        add_to_double(to, at, number_of_ways * bits_to_float(value))
        return
    low = ways[ways_at]
    high = ways[ways_at + HIGH_WORD]
    product_low = wrapped_product(low, value)
    product_high = wrapped_sum(multiply_high(low, value), wrapped_product(high, value))
    if value < 0:  # as an unsigned word it is greater by 2**64
        product_high = wrapped_sum(product_high, wrapped_product(low, -1))
    sum_low = wrapped_sum(to[at], product_low)
    sum_high = wrapped_sum(to[at + HIGH_WORD], product_high)
    to[at + HIGH_WORD] = wrapped_sum(sum_high, find_carry(sum_low, product_low))
    to[at] = sum_low
    add_to_double(to, at, number_of_ways * abs(np.float64(value)))


@inlined
def is_zero(numbers: IntArray, at: int) -> bool:
    """Return whether a number of ways is zero. Its double suffices, as it is never negative."""
    return bits_to_float(numbers[at + DOUBLE_WORD]) == 0.0


@inlined
def clear_number(numbers: IntArray, at: int) -> None:
    """Set a number to zero."""
    numbers[at] = 0
    numbers[at + HIGH_WORD] = 0
    numbers[at + DOUBLE_WORD] = 0


@inlined
def copy_number(to: IntArray, at: int, other: IntArray, other_at: int) -> None:
    """Set the number at `at` of `to` to the number at `other_at` of `other`."""
    to[at] = other[other_at]
    to[at + HIGH_WORD] = other[other_at + HIGH_WORD]
    to[at + DOUBLE_WORD] = other[other_at + DOUBLE_WORD]


@inlined
def is_before(value: int, other: int, aggregate: int, is_float: int) -> bool:
    """Return whether `value` is the extreme of two values. `aggregate` is MIN or MAX."""
    if is_float:
        order = order_of_floats(bits_to_float(value), bits_to_float(other))
    else:
        order = order_of_integers(value, other)
    return order < 0 if aggregate == MIN else order > 0


@inlined
def is_extreme(ways: IntArray, at: int, value: int, aggregate: int, is_float: int) -> bool:
    """Return whether a value is the extreme of itself and the value of the known ways."""
    has_value = not is_zero(ways, at + KNOWN)
    return not has_value or is_before(value, ways[at + VALUE], aggregate, is_float)


@inner
def begin_ways(ways: IntArray, totals: TotalArrays) -> None:
    """Write the totals before the first row: one way, on which nothing has been read."""
    for word in range(ways.shape[0]):
        ways[word] = 0
    ways[WAYS] = 1
    ways[WAYS + DOUBLE_WORD] = float_to_bits(1.0)
    for total in range(totals.aggregates.shape[0]):
        at = locate_total(total)
        is_counted = totals.aggregates[total, IN_A_MATCH] == COUNT
        copy_number(ways, at + (KNOWN if is_counted else UNSET), ways, WAYS)


@inner
def map_row(ways: IntArray, variable: int, row: int, totals: TotalArrays) -> None:
    """Change the totals as a row is mapped to a variable on all ways."""
    for total in range(totals.aggregates.shape[0]):
        if not totals.members[total, variable]:
            continue
        spec = totals.aggregates[total]
        aggregate = spec[OVER_MATCHES]
        inside = spec[IN_A_MATCH]
        column = spec[VALUES]
        at = locate_total(total)
        value = np.int64(1)
        is_present = True
        if column >= 0:
            is_present = totals.valid[column, row]
            if inside != COUNT:
                value = totals.values[column, row]
        if inside == LAST:  # forget the row before, as if nothing had been read
            copy_number(ways, at + UNSET, ways, WAYS)
            clear_number(ways, at + KNOWN)
            clear_number(ways, at + VALUE)
        if inside == FIRST or inside == LAST:
            read_first(ways, at, value, row, spec, is_present)
        elif is_present:
            if aggregate == SUM:
                add_product(ways, at + VALUE, ways, WAYS, value, spec[IS_FLOAT])
            elif aggregate != COUNT:
                extend_extreme(ways, at, value, row, spec)
            copy_number(ways, at + KNOWN, ways, WAYS)
            clear_number(ways, at + UNSET)


@inlined
def read_first(
    ways: IntArray, at: int, value: int, row: int, spec: IntArray, is_present: bool
) -> None:
    """Give a value, or NULL, to the ways on which nothing has been read."""
    if is_present and not is_zero(ways, at + UNSET):
        aggregate = spec[OVER_MATCHES]
        if aggregate == SUM:
            add_product(ways, at + VALUE, ways, at + UNSET, value, spec[IS_FLOAT])
        elif aggregate != COUNT:
            keep_extreme(ways, at, value, row, spec)
        add_number(ways, at + KNOWN, ways, at + UNSET)
    clear_number(ways, at + UNSET)


@inlined
def find_magnitude(value: int, is_float: int) -> float:
    """Return a value of a column without its sign; 0.0 for NaN."""
    number = abs(bits_to_float(value)) if is_float else abs(np.float64(value))
    return 0.0 if np.isnan(number) else number


@inlined
def raise_bound(ways: IntArray, at: int, bound: float) -> None:
    """Make sure that the double of the extreme at `at` is at least a bound.

    It bounds what has been added up on all ways, not only on the one that has the extreme: a sum
    that has wrapped, or that an infinity has made NaN, may lose every comparison.
    """
    double_at = at + VALUE + DOUBLE_WORD
    if bits_to_float(ways[double_at]) < bound:
        ways[double_at] = float_to_bits(bound)


@inlined
def keep_extreme(ways: IntArray, at: int, value: int, row: int, spec: IntArray) -> None:
    """Keep a value and its row if it is the extreme of itself and the value of the known ways."""
    if is_extreme(ways, at, value, spec[OVER_MATCHES], spec[IS_FLOAT]):
        ways[at + VALUE] = value
        ways[at + VALUE + ROW] = row
    raise_bound(ways, at, find_magnitude(value, spec[IS_FLOAT]))  # if it begins a sum


@inlined
def extend_extreme(ways: IntArray, at: int, value: int, row: int, spec: IntArray) -> None:
    """Change the extreme of a measure that changes with each row, such as a sum.

    Adding a value to all ways keeps their order, and so does taking the extreme with one value. So
    the extreme way stays the extreme one. Only a sum that wraps, or an infinity and its opposite,
    change the order. Then the double tells it: see `raise_bound`.
    """
    inside = spec[IN_A_MATCH]
    is_float = spec[IS_FLOAT]
    value_at = at + VALUE
    if not is_zero(ways, at + KNOWN):
        if inside == MIN or inside == MAX:
            if is_before(value, ways[value_at], inside, is_float):
                ways[value_at] = value
                ways[value_at + ROW] = row
        elif is_float:
            ways[value_at] = float_to_bits(bits_to_float(ways[value_at]) + bits_to_float(value))
            add_to_double(ways, value_at, find_magnitude(value, is_float))
        else:
            ways[value_at] = wrapped_sum(ways[value_at], value)
            add_to_double(ways, value_at, find_magnitude(value, is_float))
    if not is_zero(ways, at + UNSET):
        keep_extreme(ways, at, value, row, spec)


@inner
def merge_ways(ways: IntArray, others: IntArray, totals: TotalArrays) -> None:
    """Add the totals `others` to `ways`."""
    add_number(ways, WAYS, others, WAYS)
    for total in range(totals.aggregates.shape[0]):
        spec = totals.aggregates[total]
        at = locate_total(total)
        aggregate = spec[OVER_MATCHES]
        if aggregate == SUM:
            add_number(ways, at + VALUE, others, at + VALUE)
        elif aggregate != COUNT and not is_zero(others, at + KNOWN):
            if is_extreme(ways, at, others[at + VALUE], aggregate, spec[IS_FLOAT]):
                ways[at + VALUE] = others[at + VALUE]
                ways[at + VALUE + ROW] = others[at + VALUE + ROW]
            raise_bound(ways, at, bits_to_float(others[at + VALUE + DOUBLE_WORD]))
        add_number(ways, at + KNOWN, others, at + KNOWN)
        add_number(ways, at + UNSET, others, at + UNSET)


@inlined
def copy_ways(new_node: IntArray, node: IntArray) -> None:
    """Copy the totals of a node to a new one."""
    for word in range(layout.NODE_SIZE, new_node.shape[0]):
        new_node[word] = node[word]


@inner
def carry_totals(
    new_node: IntArray, before: IntArray, is_first: bool, row: int, totals: TotalArrays
) -> None:
    """Give a new node the totals of the node before, and map its row."""
    ways = new_node[layout.NODE_SIZE :]
    if is_first:
        begin_ways(ways, totals)
    else:
        copy_ways(new_node, before)
    new_node[layout.NODE_BEFORE] = -1  # the node before is not needed any more
    map_row(ways, totals.variables[new_node[layout.NODE_CHOICE]], row, totals)


@inner
def join_totals(new_node: IntArray, left: IntArray, right: IntArray, totals: TotalArrays) -> None:
    """Give a new node the totals of two others, whose runs have merged."""
    ways = new_node[layout.NODE_SIZE :]
    copy_ways(new_node, left)
    merge_ways(ways, right[layout.NODE_SIZE :], totals)
    new_node[layout.NODE_CHOICE] = 0
    new_node[layout.NODE_ROW] = left[layout.NODE_ROW]
    new_node[layout.NODE_BEFORE] = new_node[layout.NODE_OTHER] = -1
