"""Aggregates over all matches, carried along the runs: no match is built.

Each node of the buffer has, behind its own columns, what is known of all ways that lead to it: how
many they are, and of each total what its measure has come to on them. Mapping a row changes that at
once for all ways; where runs merge, the ways of both are put together; and what arrives at a match
is put together with what its group has. So the cost is that of the runs, not of the matches.

    number      of ways                           words COUNT .. COUNT + 2
    unset       ways on which the measure has read nothing yet
    known       ways on which it is not NULL
    value       the sum of the measure over the known ways, or its extreme and the row that it is of

A number is three words: 128 bits that wrap, low word first, and a double of what was added without
its sign, by which the reader tells a number that may have wrapped; of doubles only the double.

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
from matchrec.jit.bits import bits_of, float_of
from matchrec.jit.decorators import inlined, inner
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import TotalArrays
from matchrec.search.partitions import IntArray

# Columns of `asked`, what each total is.
OVER_MATCHES = 0  # the aggregate over all matches
IN_A_MATCH = 1  # the aggregate, or the row, that the measure reads in each of them
VALUES = 2  # the row of `values` that has the column, -1 of a count of rows
IS_FLOAT = 3
ASKED_SIZE = 4

COUNT, SUM, MIN, MAX, FIRST, LAST = range(6)
CODES = {"count": COUNT, "sum": SUM, "min": MIN, "max": MAX, "first": FIRST, "last": LAST}

# Words behind the columns of a node, or of a group.
WAYS = 0
NUMBER = 3  # words that a number has
UNSET = 0  # of each total
KNOWN = 3
VALUE = 6
OF_A_TOTAL = 9
ROW = 1  # beside an extreme

_LOW = np.int64(0xFFFFFFFF)
_SIGN = np.int64(-(2**63))


def words_of(totals: int) -> int:
    return NUMBER + totals * OF_A_TOTAL


@inlined
def add(to: IntArray, at: int, other: IntArray, place: int) -> None:
    low = wrapped_sum(to[at], other[place])
    carried = np.int64((low ^ _SIGN) < (other[place] ^ _SIGN))
    to[at + 1] = wrapped_sum(wrapped_sum(to[at + 1], other[place + 1]), carried)
    to[at] = low
    to[at + 2] = bits_of(float_of(to[at + 2]) + float_of(other[place + 2]))


@inlined
def upper_half(left: int, right: int) -> int:
    """The upper word of the product of two words without signs."""
    low, high = left & _LOW, (left >> 32) & _LOW
    other_low, other_high = right & _LOW, (right >> 32) & _LOW
    across = wrapped_sum(wrapped_product(high, other_low), (low * other_low >> 32) & _LOW)
    again = wrapped_sum(wrapped_product(low, other_high), across & _LOW)
    both = wrapped_sum((across >> 32) & _LOW, (again >> 32) & _LOW)
    return wrapped_sum(wrapped_product(high, other_high), both)


@inlined
def add_times(to: IntArray, at: int, ways: IntArray, place: int, value: int, floats: int) -> None:
    """Add what a value comes to on so many ways. floats: whether it is the bits of a double."""
    roughly = float_of(ways[place + 2])
    if floats:
        to[at + 2] = bits_of(float_of(to[at + 2]) + roughly * float_of(value))
        return
    low, high = ways[place], ways[place + 1]
    product_low = wrapped_product(low, value)
    product_high = wrapped_sum(upper_half(low, value), wrapped_product(high, value))
    if value < 0:  # which as a word without sign is greater by 2**64
        product_high = wrapped_sum(product_high, wrapped_product(low, -1))
    sum_low = wrapped_sum(to[at], product_low)
    carried = np.int64((sum_low ^ _SIGN) < (product_low ^ _SIGN))
    to[at + 1] = wrapped_sum(wrapped_sum(to[at + 1], product_high), carried)
    to[at] = sum_low
    to[at + 2] = bits_of(float_of(to[at + 2]) + roughly * abs(np.float64(value)))


@inlined
def is_none(numbers: IntArray, at: int) -> bool:
    """Whether a number is zero: of ways none is negative."""
    return float_of(numbers[at + 2]) == 0.0


@inlined
def clear(numbers: IntArray, at: int) -> None:
    numbers[at] = numbers[at + 1] = numbers[at + 2] = 0


@inlined
def copy(to: IntArray, at: int, other: IntArray, place: int) -> None:
    to[at], to[at + 1], to[at + 2] = other[place], other[place + 1], other[place + 2]


@inlined
def is_before(value: int, other: int, aggregate: int, floats: int) -> bool:
    """Whether an extreme is the one of two values. aggregate: MIN or MAX."""
    if floats:
        order = order_of_floats(float_of(value), float_of(other))
    else:
        order = order_of_integers(value, other)
    return order < 0 if aggregate == MIN else order > 0


@inlined
def is_extreme(ways: IntArray, at: int, value: int, aggregate: int, floats: int) -> bool:
    known = not is_none(ways, at + KNOWN)
    return not known or is_before(value, ways[at + VALUE], aggregate, floats)


@inner
def begin_ways(ways: IntArray, totals: TotalArrays) -> None:
    """What is known before the first row: one way, on which nothing has been read."""
    for word in range(ways.shape[0]):
        ways[word] = 0
    ways[WAYS], ways[WAYS + 2] = 1, bits_of(1.0)
    for total in range(totals.asked.shape[0]):
        at = NUMBER + total * OF_A_TOTAL
        is_counted = totals.asked[total, IN_A_MATCH] == COUNT
        copy(ways, at + (KNOWN if is_counted else UNSET), ways, WAYS)


@inner
def map_row(ways: IntArray, variable: int, row: int, totals: TotalArrays) -> None:
    """Change what is known as a row is mapped to a variable on all ways."""
    for total in range(totals.asked.shape[0]):
        if not totals.members[total, variable]:
            continue
        asked = totals.asked[total]
        aggregate, inside, column = asked[OVER_MATCHES], asked[IN_A_MATCH], asked[VALUES]
        at, value, present = NUMBER + total * OF_A_TOTAL, np.int64(1), True
        if column >= 0:
            present = totals.valid[column, row]
            if inside != COUNT:
                value = totals.values[column, row]
        if inside == LAST:  # as if nothing had been read
            copy(ways, at + UNSET, ways, WAYS)
            clear(ways, at + KNOWN)
            clear(ways, at + VALUE)
        if inside == FIRST or inside == LAST:
            read_first(ways, at, value, row, asked, present)
        elif present:
            if aggregate == SUM:
                add_times(ways, at + VALUE, ways, WAYS, value, asked[IS_FLOAT])
            elif aggregate != COUNT:
                extend(ways, at, value, row, asked)
            copy(ways, at + KNOWN, ways, WAYS)
            clear(ways, at + UNSET)


@inlined
def read_first(ways: IntArray, at: int, value: int, row: int, asked: IntArray, given: bool) -> None:
    """Give a value, or NULL, to the ways on which nothing has been read."""
    if given and not is_none(ways, at + UNSET):
        aggregate = asked[OVER_MATCHES]
        if aggregate == SUM:
            add_times(ways, at + VALUE, ways, at + UNSET, value, asked[IS_FLOAT])
        elif aggregate != COUNT:
            keep_extreme(ways, at, value, row, asked)
        add(ways, at + KNOWN, ways, at + UNSET)
    clear(ways, at + UNSET)


@inlined
def keep_extreme(ways: IntArray, at: int, value: int, row: int, asked: IntArray) -> None:
    """Keep a value beside those of the known ways, if it is their extreme."""
    if is_extreme(ways, at, value, asked[OVER_MATCHES], asked[IS_FLOAT]):
        ways[at + VALUE], ways[at + VALUE + ROW] = value, row
        ways[at + VALUE + 2] = bits_of(abs(np.float64(value)))  # if it begins a sum


@inlined
def extend(ways: IntArray, at: int, value: int, row: int, asked: IntArray) -> None:
    """Change the extreme of an aggregate that grows with each way."""
    # addition keeps the order of the ways, and so does the extreme with one value
    inside, floats, held = asked[IN_A_MATCH], asked[IS_FLOAT], at + VALUE
    if not is_none(ways, at + KNOWN):
        if inside == MIN or inside == MAX:
            if is_before(value, ways[held], inside, floats):
                ways[held], ways[held + ROW] = value, row
        elif floats:
            ways[held] = bits_of(float_of(ways[held]) + float_of(value))
        else:
            ways[held] = wrapped_sum(ways[held], value)
            ways[held + 2] = bits_of(float_of(ways[held + 2]) + abs(np.float64(value)))
    if not is_none(ways, at + UNSET):
        keep_extreme(ways, at, value, row, asked)


@inner
def put_together(ways: IntArray, others: IntArray, totals: TotalArrays) -> None:
    """Make what is known of some ways what is known of them and of others."""
    add(ways, WAYS, others, WAYS)
    for total in range(totals.asked.shape[0]):
        asked, at = totals.asked[total], NUMBER + total * OF_A_TOTAL
        aggregate = asked[OVER_MATCHES]
        if aggregate == SUM:
            add(ways, at + VALUE, others, at + VALUE)
        elif aggregate != COUNT and not is_none(others, at + KNOWN):
            if is_extreme(ways, at, others[at + VALUE], aggregate, asked[IS_FLOAT]):
                copy(ways, at + VALUE, others, at + VALUE)
        add(ways, at + KNOWN, others, at + KNOWN)
        add(ways, at + UNSET, others, at + UNSET)


@inlined
def copy_ways(made: IntArray, node: IntArray) -> None:
    for word in range(layout.NODE_SIZE, made.shape[0]):
        made[word] = node[word]


@inner
def carry(made: IntArray, before: IntArray, is_first: bool, row: int, totals: TotalArrays) -> None:
    """Give a node what is known of the ways to it, from the node before; the row is mapped."""
    ways = made[layout.NODE_SIZE :]
    if is_first:
        begin_ways(ways, totals)
    else:
        copy_ways(made, before)
    made[layout.NODE_BEFORE] = -1  # which is not needed any more
    map_row(ways, totals.variables[made[layout.NODE_CHOICE]], row, totals)


@inner
def join(made: IntArray, left: IntArray, right: IntArray, totals: TotalArrays) -> None:
    ways = made[layout.NODE_SIZE :]
    copy_ways(made, left)
    put_together(ways, right[layout.NODE_SIZE :], totals)
    made[layout.NODE_CHOICE], made[layout.NODE_ROW] = 0, left[layout.NODE_ROW]
    made[layout.NODE_BEFORE] = made[layout.NODE_OTHER] = -1
