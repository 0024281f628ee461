"""The graph of all matches: the pointers of the shared buffer, with Dewey version numbers.

An entry is an event in the stack of a state; a pointer leads from it to the entry selected before,
labelled with the version of its run in that state. Runs that share events share pointers. Versions
as told along the tree of pointers, in which the ways on from a pointer are in the order of their
rows, a row that leaves a loop before the same row taken by it:

    the k-th start is k
    after a pointer, the run waits: in the same state if that is a loop, else in the next one,
    where its version has a further digit 0
    each way on has the version in which the run waits then; if the run goes on waiting beside it,
    what waits counts its last digit up
    a way on that leaves a loop, or takes a row in a loop that goes on waiting beside it, appends 0

A version v is compatible with v' if v' is not longer, its digits but the last are those of v, and
its last is not greater. From a pointer, exactly one pointer of the entry that it leads to has a
version compatible with its own, also where rows may be skipped at will.

Source: SASE+, "The shared versioned match buffer". The paper states compatibility for v' a prefix
of v, or of equal length; a run that has waited and then leaves its state needs both at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from matchrec.jit.decorators import allocating
from matchrec.search.partitions import BoolArray, IntArray

Versions = tuple[IntArray, npt.NDArray[np.int32]]  # where the digits of each begin and end; digits


def versions_of(
    partition: IntArray, row: IntArray, state: IntArray, before: IntArray, loops: BoolArray
) -> Versions:
    """The versions of pointers. partition, row, state: of the entry of each. loops: whether a state
    is one; states are numbered in the pattern's order.
    """
    started = before >= 0
    waiting = np.where(loops[state], state, state + 1)[before]
    stays = started & loops[state] & (state == waiting)
    order = np.lexsort((stays, row, before, partition)).astype(np.int64)
    rank, last = siblings(order, partition, before)
    entered = started & ~loops[state[before]]
    left = started & (state != waiting)
    appended = left | (stays & ~last)
    longer = np.where(started, entered.astype(np.int64) + appended, 1)
    return digits_of(before, rank, entered, longer)


def siblings(order: IntArray, partition: IntArray, before: IntArray) -> tuple[IntArray, BoolArray]:
    """The place of each pointer among those that lead to the same one, and whether it is the last:
    of starts among those of their partition. order: by partition, then by `before`.
    """
    rank, last = np.empty(len(order), np.int64), np.ones(len(order), np.bool_)
    places, keys = np.arange(len(order)), np.stack([partition, before])[:, order]
    other = (np.diff(keys, axis=1) != 0).any(axis=0)
    first = np.maximum.accumulate(np.where(np.append(True, other), places, 0))
    rank[order] = places - first
    last[order[:-1]] = other
    return rank, last


@allocating
def digits_of(before: IntArray, rank: IntArray, entered: BoolArray, longer: IntArray) -> Versions:
    """The versions, from those of the pointers before.

    entered: whether the run waits in another state, with a further digit. longer: how much longer
    the version is than the one before it.
    """
    offsets = np.zeros(len(before) + 1, np.int64)
    for pointer in range(len(before)):
        former = before[pointer]
        length = offsets[former + 1] - offsets[former] if former >= 0 else 0
        offsets[pointer + 1] = offsets[pointer] + length + longer[pointer]
    digits = np.zeros(offsets[-1], np.int32)
    for pointer in range(len(before)):
        begin, former = offsets[pointer], before[pointer]
        if former < 0:
            digits[begin] = rank[pointer] + 1
            continue
        length = offsets[former + 1] - offsets[former]
        digits[begin : begin + length] = digits[offsets[former] : offsets[former + 1]]
        digits[begin + length - (0 if entered[pointer] else 1)] += rank[pointer]
    return offsets, digits


def is_compatible(version: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether a pointer of version `other` may be followed from one of `version`.

    >>> is_compatible((1, 0, 0), (1, 0)), is_compatible((1, 1), (1, 0)), is_compatible((2, 0), (1,))
    (True, True, True)
    >>> is_compatible((1, 0), (1, 1)), is_compatible((1,), (1, 0)), is_compatible((2, 0), (1, 0))
    (False, False, False)
    """
    last = len(other) - 1
    return len(version) > last and version[:last] == other[:last] and version[last] >= other[last]
