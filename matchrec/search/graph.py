"""The graph of all matches: the pointers of the shared buffer, with Dewey version numbers.

In the SASE+ paper, each state has a stack of the events that runs have selected in it. An *entry*
of the graph is an event in the stack of a state. A *pointer* leads from an entry to the entry that
the same run has selected before, and is labelled with the *version* of the run. Runs that share
events share entries, so the versions say which pointers belong to the same run.

Pointers form a tree: each pointer comes after one other pointer, and several pointers, its
*siblings*, can come after the same one. Siblings are in the order of their rows; a row that leaves
a loop comes before the same row taken by the loop. Versions are numbered along the tree:

1. The k-th start of a partition has version k.
2. After a pointer the run waits: in the same state if that is a loop, otherwise in the next state,
   where its version gets another digit 0.
3. Each pointer that follows has the version with which the run waits at that time. If the run also
   goes on waiting, the last digit of the version with which it waits then counts up.
4. A pointer that leaves a loop appends a digit 0. A pointer that takes a row in a loop while the
   run also goes on waiting appends a digit 0 as well.

For example, with the states a[1], a[i] (a loop) and b:

    e1 in a[1]   1               the first start
    e2 in a[i]   1.0     to e1   the run waits in a[i], with another digit
    e3 in a[i]   1.0     to e2   the run waits in the same state
    e4 in b      1.0.0   to e3   leaves the loop
    e4 in a[i]   1.1     to e3   the same row taken by the loop: the second sibling

A version v is compatible with v' if three things hold: v' is not longer than v; all digits of v'
but the last are those of v; and the last digit of v' is not greater than the same digit of v. A
pointer leads to an entry, and exactly one pointer that leaves this entry has a version with which
its own version is compatible, even if any row can be skipped.

Source: SASE+, "The shared versioned match buffer". In the paper, v' is a prefix of v, or v' has the
length of v and a last digit that is not greater. A run that has waited and then leaves its state
needs both rules at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from matchrec.jit.decorators import allocating
from matchrec.search.partitions import BoolArray, IntArray

DigitArray = npt.NDArray[np.int32]

# The offsets and the digits of version numbers: the digits of version i are
# digits[offsets[i] : offsets[i + 1]].
Versions = tuple[IntArray, DigitArray]


def number_versions(
    partition: IntArray,
    row: IntArray,
    state: IntArray,
    previous_pointers: IntArray,
    is_loop: BoolArray,
) -> Versions:
    """Return the versions of g pointers.

    Args:
        partition: int64[g], the partition of each pointer's entry.
        row: int64[g], the row of each pointer's entry.
        state: int64[g], the state of each pointer's entry. States are numbered in the order of the
            pattern.
        previous_pointers: int64[g], the pointer before each pointer; -1 at the start of a run.
        is_loop: bool[s], whether each state is a loop.
    """
    has_previous = previous_pointers >= 0
    # For each pointer, the state in which its run waits before it. At a start, this is not used.
    waiting_state = np.where(is_loop[state], state, state + 1)[previous_pointers]
    stays_in_loop = has_previous & is_loop[state] & (state == waiting_state)
    siblings_together = np.lexsort((stays_in_loop, row, previous_pointers, partition)).astype(
        np.int64
    )
    rank, is_last_sibling = rank_siblings(siblings_together, partition, previous_pointers)

    waits_in_next_state = has_previous & ~is_loop[state[previous_pointers]]  # rule 2
    leaves_loop = has_previous & (state != waiting_state)
    goes_on_waiting = ~is_last_sibling  # other rows follow the same pointer
    appends_digit = leaves_loop | (stays_in_loop & goes_on_waiting)  # rule 4
    added_digits = np.where(has_previous, waits_in_next_state.astype(np.int64) + appends_digit, 1)
    return number_digits(previous_pointers, rank, waits_in_next_state, added_digits)


def rank_siblings(
    order: IntArray, partition: IntArray, previous_pointers: IntArray
) -> tuple[IntArray, BoolArray]:
    """Return the rank of each pointer among its siblings. The starts of a partition are siblings.

    Args:
        order: int64[g], the pointers, sorted so that siblings follow each other in their order.
        partition: see `number_versions`.
        previous_pointers: see `number_versions`.

    Returns:
        int64[g], the rank from 0; and bool[g], whether the pointer is the last sibling.
    """
    rank = np.empty(len(order), np.int64)
    is_last = np.ones(len(order), np.bool_)
    indices = np.arange(len(order))
    sorted_keys = np.stack([partition, previous_pointers])[:, order]
    # For each pointer in the order but the first, whether it is the first of its siblings.
    begins_siblings = (np.diff(sorted_keys, axis=1) != 0).any(axis=0)
    is_first = np.append(True, begins_siblings)
    index_of_first = np.maximum.accumulate(np.where(is_first, indices, 0))
    rank[order] = indices - index_of_first
    is_last[order[:-1]] = begins_siblings
    return rank, is_last


@allocating
def number_digits(
    previous_pointers: IntArray,
    rank: IntArray,
    waits_in_next_state: BoolArray,
    added_digits: IntArray,
) -> Versions:
    """Return the versions of pointers, each computed from the version of the pointer before.

    Args:
        previous_pointers: int64[g], the index of the pointer before each pointer, which is smaller;
            -1 at the start of a run.
        rank: int64[g], the rank of each pointer among its siblings, which is added to a digit.
        waits_in_next_state: bool[g], whether the run waits in the next state after the pointer
            previous_pointers, so that the version gets another digit: see rule 2.
        added_digits: int64[g], how many more digits the version has than the version of the pointer
            before.
    """
    offsets = np.zeros(len(previous_pointers) + 1, np.int64)
    for pointer in range(len(previous_pointers)):
        previous = previous_pointers[pointer]
        length = offsets[previous + 1] - offsets[previous] if previous >= 0 else 0
        offsets[pointer + 1] = offsets[pointer] + length + added_digits[pointer]
    digits = np.zeros(offsets[-1], np.int32)
    for pointer in range(len(previous_pointers)):
        begin = offsets[pointer]
        previous = previous_pointers[pointer]
        if previous < 0:
            digits[begin] = rank[pointer] + 1
            continue
        length = offsets[previous + 1] - offsets[previous]
        digits[begin : begin + length] = digits[offsets[previous] : offsets[previous + 1]]
        # The digit of the state in which the run waits, which siblings count up: see rule 3.
        waiting_digit = begin + length - 1
        if waits_in_next_state[pointer]:
            waiting_digit += 1
        digits[waiting_digit] += rank[pointer]
    return offsets, digits


def is_compatible(version: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether `version` is compatible with `other`: see the docstring of the module.

    >>> is_compatible((1, 0, 0), (1, 0)), is_compatible((1, 1), (1, 0)), is_compatible((2, 0), (1,))
    (True, True, True)
    >>> is_compatible((1, 0), (1, 1)), is_compatible((1,), (1, 0)), is_compatible((2, 0), (1, 0))
    (False, False, False)
    """
    last = len(other) - 1
    return len(version) > last and version[:last] == other[:last] and version[last] >= other[last]
