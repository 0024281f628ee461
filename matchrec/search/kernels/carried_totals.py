"""The totals that runs carry for aggregates over all matches.

A *path* is a way to map rows that leads to a node of the buffer. The *measure* of an aggregate is
the value that it reads of each match, such as `FIRST(A.price)`. After its own columns, each node
has the totals of all paths that lead to it: the number of paths, and for each aggregate the sum or
the extreme of its measure over these paths.

1. Mapping a row changes the totals of all paths of a node at once (`carry_totals`).
2. When two runs merge, their totals are added (`join_totals`).
3. When a run accepts, its totals are added to the totals of its group (`add_totals`).

So the cost depends on the number of runs, not on the number of matches.

    SEQ(A+ a[]) with skip till any match, count(*), rows A A A: paths that end at each row 1, 2, 4

The words of the totals are the number of paths, then for each aggregate:

    unset count    the number of paths on which the measure has read nothing yet
    known count    the number of paths on which the measure is not NULL
    value          the sum of the measure over the known paths; or its extreme, and the row of it

In this module, `totals` is int64[w], the totals of a node or group, and `begin` is the word at
which the totals of one aggregate begin.

A number has three words. Two words are an integer of 128 bits that wraps, the low word first. The
third word is a double: the sum of the absolute values that were added. It tells the reader whether
the 128 bits have perhaps wrapped. A sum of doubles has only the double, with signs. The double of
an extreme is an upper bound: on every known path, the sum of the absolute values is not greater.

Sources: Poppe, Lei, Rundensteiner, Maier, "GRETA: Graph-based Real-time Event Trend Aggregation",
PVLDB 11(1), 2017; Poppe, Lei, Rundensteiner, Maier, "Event Trend Aggregation under Rich Event
Matching Semantics" (COGRA), 2019.
"""

from __future__ import annotations

import numpy as np

from matchrec.conditions.evaluate.kernels.arithmetic import (
    add_wrapped,
    compare_floats,
    compare_integers,
    multiply_wrapped,
)
from matchrec.jit.bits import bits_to_float, float_to_bits
from matchrec.jit.decorators import inlined, inner
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import TotalArrays
from matchrec.search.matches import DOUBLE_WORD
from matchrec.search.partitions import IntArray
from matchrec.search.task import TotalFunction

# Columns of `TotalArrays.aggregates`. The functions are codes, in the order of `TotalFunction`.
OUTER_FUNCTION = 0  # aggregates the measure over all matches: COUNT, SUM, MIN or MAX
INNER_FUNCTION = 1  # computes the measure from the rows of a match: any of the functions
VALUES = 2  # index of the column in `TotalArrays.values`; negative for a count of rows
IS_FLOAT = 3  # whether the column holds the bits of doubles
AGGREGATE_SIZE = 4

COUNT, SUM, MIN, MAX, FIRST, LAST = range(len(TotalFunction))

# Words of a number, after the low one. The third word is DOUBLE_WORD.
HIGH_WORD = 1
INTEGER_WORDS = 2  # the low and the high word
NUMBER_SIZE = 3

# The words of a node, after its own columns, or of a group: first the number of paths, then the
# totals of each aggregate (see `locate_total`).
PATH_COUNT = 0
# The words at which the numbers of an aggregate begin, counted from where its totals begin.
UNSET_COUNT = 0
KNOWN_COUNT = 3
VALUE = 6
TOTAL_SIZE = 9
ROW = 1  # the word with the row of an extreme, after VALUE

LOW_HALF = np.int64(0xFFFFFFFF)  # of a word
SIGN_BIT = np.int64(-(2**63))


def count_words(aggregates: int) -> int:
    """Return how many words the totals of a node or group have, for a number of aggregates."""
    return NUMBER_SIZE + aggregates * TOTAL_SIZE


@inlined
def locate_total(index: int) -> int:
    """Return the word at which the totals of an aggregate begin."""
    return NUMBER_SIZE + index * TOTAL_SIZE


# Numbers of 128 bits. `word` is where a number begins in its array.


@inlined
def find_carry(low: int, addend: int) -> int:
    """Return 1 if a sum of two low words has wrapped, so that the high word gets a carry, else 0.

    Args:
        low: the low word of the sum.
        addend: either of the words that were added. If the sum has wrapped, it is less than each.
    """
    return int((low ^ SIGN_BIT) < (addend ^ SIGN_BIT))  # compares them as unsigned words


@inlined
def add_to_double(numbers: IntArray, word: int, value: float) -> None:
    """Add a value to the double of the number at `word`."""
    double = bits_to_float(numbers[word + DOUBLE_WORD])
    numbers[word + DOUBLE_WORD] = float_to_bits(double + value)


@inlined
def add_number(numbers: IntArray, word: int, addends: IntArray, addend_word: int) -> None:
    """Add the number at `addend_word` of `addends` to the number at `word` of `numbers`."""
    low = add_wrapped(numbers[word], addends[addend_word])
    high = add_wrapped(numbers[word + HIGH_WORD], addends[addend_word + HIGH_WORD])
    numbers[word + HIGH_WORD] = add_wrapped(high, find_carry(low, addends[addend_word]))
    numbers[word] = low
    add_to_double(numbers, word, bits_to_float(addends[addend_word + DOUBLE_WORD]))


@inlined
def multiply_high(left: int, right: int) -> int:
    """Return the upper word of the product of two unsigned words.

    It is multiplied by halves: (2^32 a + b) (2^32 c + d) = 2^64 ac + 2^32 (ad + bc) + bd. `middle`
    is ad and the carry from bd; `other_middle` is bc and the lower half of `middle`.
    """
    low = left & LOW_HALF
    high = (left >> 32) & LOW_HALF
    other_low = right & LOW_HALF
    other_high = (right >> 32) & LOW_HALF
    middle = add_wrapped(multiply_wrapped(high, other_low), (low * other_low >> 32) & LOW_HALF)
    other_middle = add_wrapped(multiply_wrapped(low, other_high), middle & LOW_HALF)
    carry = add_wrapped((middle >> 32) & LOW_HALF, (other_middle >> 32) & LOW_HALF)
    return add_wrapped(multiply_wrapped(high, other_high), carry)


@inlined
def add_product(numbers: IntArray, word: int, count_word: int, value: int, is_float: int) -> None:
    """Add a value times a count to a number.

    Args:
        numbers: the totals that have both numbers.
        word: where the number begins that is changed.
        count_word: where the count begins.
        value: an integer, or the bits of a double.
        is_float: 1 for the bits of a double, 0 for an integer.
    """
    count = bits_to_float(numbers[count_word + DOUBLE_WORD])
    if is_float:
        add_to_double(numbers, word, count * bits_to_float(value))
        return
    low = numbers[count_word]
    high = numbers[count_word + HIGH_WORD]
    product_low = multiply_wrapped(low, value)
    product_high = add_wrapped(multiply_high(low, value), multiply_wrapped(high, value))
    if value < 0:  # as an unsigned word, `value` is greater by 2**64
        product_high = add_wrapped(product_high, multiply_wrapped(low, -1))
    sum_low = add_wrapped(numbers[word], product_low)
    sum_high = add_wrapped(numbers[word + HIGH_WORD], product_high)
    numbers[word + HIGH_WORD] = add_wrapped(sum_high, find_carry(sum_low, product_low))
    numbers[word] = sum_low
    add_to_double(numbers, word, count * abs(np.float64(value)))


@inlined
def is_zero(numbers: IntArray, word: int) -> bool:
    """Return whether a count is zero. Only its double is read, because counts are not negative."""
    return bits_to_float(numbers[word + DOUBLE_WORD]) == 0.0


@inlined
def clear_number(numbers: IntArray, word: int) -> None:
    """Set a number to zero."""
    numbers[word] = 0
    numbers[word + HIGH_WORD] = 0
    numbers[word + DOUBLE_WORD] = 0


@inlined
def copy_number(numbers: IntArray, word: int, source_word: int) -> None:
    """Set the number at `word` to the number at `source_word`."""
    numbers[word] = numbers[source_word]
    numbers[word + HIGH_WORD] = numbers[source_word + HIGH_WORD]
    numbers[word + DOUBLE_WORD] = numbers[source_word + DOUBLE_WORD]


# Extremes.


@inlined
def beats(value: int, other: int, function: int, is_float: int) -> bool:
    """Return whether `value` is less than `other` for MIN, or greater for MAX.

    Values are integers, or the bits of doubles if `is_float` is 1.
    """
    if is_float:
        order = compare_floats(bits_to_float(value), bits_to_float(other))
    else:
        order = compare_integers(value, other)
    return order < 0 if function == MIN else order > 0


@inlined
def is_new_extreme(totals: IntArray, begin: int, value: int, function: int, is_float: int) -> bool:
    """Return whether a value beats the extreme of the known paths, or no path is known."""
    has_value = not is_zero(totals, begin + KNOWN_COUNT)
    return not has_value or beats(value, totals[begin + VALUE], function, is_float)


@inlined
def find_magnitude(value: int, is_float: int) -> float:
    """Return the absolute value of a value of a column as a double; 0.0 for NaN."""
    number = abs(bits_to_float(value)) if is_float else abs(np.float64(value))
    return 0.0 if np.isnan(number) else number


@inlined
def raise_bound(totals: IntArray, begin: int, bound: float) -> None:
    """Raise the double of an extreme to a bound, if it is less.

    The double is an upper bound for all known paths, not only for the path with the extreme: the
    sum of another path may have wrapped, or become NaN by an infinity, and so have lost against it.
    """
    double_word = begin + VALUE + DOUBLE_WORD
    if bits_to_float(totals[double_word]) < bound:
        totals[double_word] = float_to_bits(bound)


@inlined
def keep_extreme(totals: IntArray, begin: int, value: int, row: int, aggregate: IntArray) -> None:
    """Keep a value and its row if `is_new_extreme`. `aggregate` is a row of `aggregates`."""
    if is_new_extreme(totals, begin, value, aggregate[OUTER_FUNCTION], aggregate[IS_FLOAT]):
        totals[begin + VALUE] = value
        totals[begin + VALUE + ROW] = row
    # The measure can be a sum, to which later rows add.
    raise_bound(totals, begin, find_magnitude(value, aggregate[IS_FLOAT]))


@inlined
def extend_extreme(totals: IntArray, begin: int, value: int, row: int, aggregate: IntArray) -> None:
    """Update the extreme of a measure that changes with each row: a sum, minimum or maximum.

    Adding one value to the sums of all paths keeps their order, and so does taking the minimum or
    maximum of each path and one value. So the path with the extreme keeps it. Only a sum that
    wraps, or that adds an infinity and its opposite, changes the order. The double shows both
    cases: see `raise_bound`.
    """
    inner_function = aggregate[INNER_FUNCTION]
    is_float = aggregate[IS_FLOAT]
    word = begin + VALUE
    if not is_zero(totals, begin + KNOWN_COUNT):
        if inner_function == MIN or inner_function == MAX:
            if beats(value, totals[word], inner_function, is_float):
                totals[word] = value
                totals[word + ROW] = row
        elif is_float:
            totals[word] = float_to_bits(bits_to_float(totals[word]) + bits_to_float(value))
            add_to_double(totals, word, find_magnitude(value, is_float))
        else:
            totals[word] = add_wrapped(totals[word], value)
            add_to_double(totals, word, find_magnitude(value, is_float))
    if not is_zero(totals, begin + UNSET_COUNT):
        keep_extreme(totals, begin, value, row, aggregate)


# The totals of nodes and groups.


@inner
def begin_totals(totals: IntArray, arrays: TotalArrays) -> None:
    """Write the totals before the first row: the totals of one path that has read nothing."""
    for word in range(totals.shape[0]):
        totals[word] = 0
    totals[PATH_COUNT] = 1
    totals[PATH_COUNT + DOUBLE_WORD] = float_to_bits(1.0)
    for index in range(arrays.aggregates.shape[0]):
        begin = locate_total(index)
        is_count = arrays.aggregates[index, INNER_FUNCTION] == COUNT  # 0 before the first row
        copy_number(totals, begin + (KNOWN_COUNT if is_count else UNSET_COUNT), PATH_COUNT)


@inner
def map_row(totals: IntArray, variable: int, row: int, arrays: TotalArrays) -> None:
    """Update the totals for a row that is mapped to a variable on all paths.

    The totals of an aggregate whose measure does not read the variable stay as they are.
    """
    for index in range(arrays.aggregates.shape[0]):
        if not arrays.members[index, variable]:
            continue
        aggregate = arrays.aggregates[index]
        inner_function = aggregate[INNER_FUNCTION]
        column = aggregate[VALUES]
        begin = locate_total(index)
        value = np.int64(1)
        is_present = True
        if column >= 0:
            is_present = arrays.valid[column, row]
            if inner_function != COUNT:
                value = arrays.values[column, row]
        if inner_function == LAST:  # forget the row before, as if nothing had been read
            copy_number(totals, begin + UNSET_COUNT, PATH_COUNT)
            clear_number(totals, begin + KNOWN_COUNT)
            clear_number(totals, begin + VALUE)
        if inner_function == FIRST or inner_function == LAST:
            read_first(totals, begin, value, row, aggregate, is_present)
        elif is_present:
            read_next(totals, begin, value, row, aggregate)


@inlined
def read_first(
    totals: IntArray, begin: int, value: int, row: int, aggregate: IntArray, is_present: bool
) -> None:
    """Give a value to the paths on which nothing has been read: they become known.

    If the value is NULL, they become neither known nor unset, so no later value counts for them.
    """
    if is_present and not is_zero(totals, begin + UNSET_COUNT):
        outer_function = aggregate[OUTER_FUNCTION]
        if outer_function == SUM:
            add_product(totals, begin + VALUE, begin + UNSET_COUNT, value, aggregate[IS_FLOAT])
        elif outer_function != COUNT:
            keep_extreme(totals, begin, value, row, aggregate)
        add_number(totals, begin + KNOWN_COUNT, totals, begin + UNSET_COUNT)
    clear_number(totals, begin + UNSET_COUNT)


@inlined
def read_next(totals: IntArray, begin: int, value: int, row: int, aggregate: IntArray) -> None:
    """Add a value to the measure of each path, a count, sum or extreme. All become known paths."""
    outer_function = aggregate[OUTER_FUNCTION]
    if outer_function == SUM:
        add_product(totals, begin + VALUE, PATH_COUNT, value, aggregate[IS_FLOAT])
    elif outer_function != COUNT:
        extend_extreme(totals, begin, value, row, aggregate)
    copy_number(totals, begin + KNOWN_COUNT, PATH_COUNT)
    clear_number(totals, begin + UNSET_COUNT)


@inner
def add_totals(totals: IntArray, other_totals: IntArray, arrays: TotalArrays) -> None:
    """Add other totals to `totals`, which then are the totals of the paths of both."""
    add_number(totals, PATH_COUNT, other_totals, PATH_COUNT)
    for index in range(arrays.aggregates.shape[0]):
        aggregate = arrays.aggregates[index]
        begin = locate_total(index)
        outer_function = aggregate[OUTER_FUNCTION]
        if outer_function == SUM:
            add_number(totals, begin + VALUE, other_totals, begin + VALUE)
        elif outer_function != COUNT and not is_zero(other_totals, begin + KNOWN_COUNT):
            value = other_totals[begin + VALUE]
            if is_new_extreme(totals, begin, value, outer_function, aggregate[IS_FLOAT]):
                totals[begin + VALUE] = value
                totals[begin + VALUE + ROW] = other_totals[begin + VALUE + ROW]
            raise_bound(totals, begin, bits_to_float(other_totals[begin + VALUE + DOUBLE_WORD]))
        add_number(totals, begin + KNOWN_COUNT, other_totals, begin + KNOWN_COUNT)
        add_number(totals, begin + UNSET_COUNT, other_totals, begin + UNSET_COUNT)


@inlined
def copy_totals(new_node: IntArray, node: IntArray) -> None:
    """Copy the totals of a node to a new node."""
    for word in range(layout.NODE_SIZE, new_node.shape[0]):
        new_node[word] = node[word]


@inner
def carry_totals(
    new_node: IntArray, node_before: IntArray, is_first: bool, row: int, arrays: TotalArrays
) -> None:
    """Give a new node the totals of the node before, and map its row.

    If `is_first`, the new node is the first of its run, and `node_before` is not read.
    """
    totals = new_node[layout.NODE_SIZE :]
    if is_first:
        begin_totals(totals, arrays)
    else:
        copy_totals(new_node, node_before)
    new_node[layout.NODE_BEFORE] = -1  # the node before is not needed any more
    map_row(totals, arrays.variables[new_node[layout.NODE_CHOICE]], row, arrays)


@inner
def join_totals(new_node: IntArray, left: IntArray, right: IntArray, arrays: TotalArrays) -> None:
    """Give a new node the totals of two other nodes, whose runs have merged.

    The new node is no join, because its totals replace the nodes of both runs.
    """
    copy_totals(new_node, left)
    add_totals(new_node[layout.NODE_SIZE :], right[layout.NODE_SIZE :], arrays)
    new_node[layout.NODE_CHOICE] = 0
    new_node[layout.NODE_ROW] = left[layout.NODE_ROW]
    new_node[layout.NODE_BEFORE] = new_node[layout.NODE_OTHER] = -1
