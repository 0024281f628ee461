"""Row conditions over rows at a fixed distance, computed for all rows before they are searched.

Spark computes them over the window that sorts the rows; where the worker sorts them, it does. To an
engine they are row conditions as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from matchrec.conditions.evaluate.vectors import RowFailure, Vectors
from matchrec.conditions.types import Kind
from matchrec.search.interface import NearbyCondition
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import BoolArray, Partitions, WordArray


def satisfy_nearby(partitions: Partitions, conditions: tuple[NearbyCondition, ...]) -> Partitions:
    """The partitions with such conditions among those that rows satisfy; in place, if they have
    room for them.

    Only for rows that a search may look at, whose neighbours are here. Raises RunFailure.
    """
    known = partitions.satisfied
    words = 1 + max((condition.bit // 64 for condition in conditions), default=0)
    if words > known.shape[1]:
        satisfied = np.zeros((partitions.rows, words), np.uint64)
        satisfied[:, : known.shape[1]] = known
        partitions = replace(partitions, satisfied=satisfied)
    set_nearby_bits(partitions, conditions)
    return partitions


def set_nearby_bits(partitions: Partitions, conditions: Sequence[NearbyCondition]) -> None:
    """Note in place which rows satisfy some conditions. Raises RunFailure."""
    for vectors in vectors_of(partitions).blocks() if conditions else ():
        rows = partitions.satisfied[vectors.begin : vectors.end]
        for condition in conditions:
            asked = rows_with(rows, condition.row_condition)
            try:
                found = vectors.holds(condition.expression, asked)
            except RowFailure as failure:
                message, row = failure.args
                raise RunFailure(message, row, {"variable": condition.variable}) from failure
            word, bit = divmod(condition.bit, 64)
            rows[:, word] |= np.left_shift(found, bit, dtype=np.uint64)


def rows_that_satisfy(partitions: Partitions, condition: NearbyCondition) -> BoolArray:
    """bool[n], of all rows, also those that no search may look at yet. It cannot fail."""
    found = np.zeros(partitions.rows, np.bool_)
    asked = np.ones(partitions.rows, np.bool_)
    for vectors in vectors_of(replace(partitions, frontier=None)).blocks():
        rows = slice(vectors.begin, vectors.end)
        found[rows] = vectors.holds(condition.expression, asked[rows])
    return found


def vectors_of(partitions: Partitions) -> Vectors:
    values, valid, count = partitions.columns, partitions.valid, partitions.integers
    floats = values[count:].view(np.float64)
    columns = {Kind.INTEGER: (values, valid), Kind.FLOATING: (floats, valid[count:])}
    begin, end = 0, partitions.rows
    if partitions.frontier is not None and len(partitions.frontier.start):
        begin = int(partitions.frontier.start[0])
        end = max(begin, min(end, int(partitions.frontier.edge[-1])))
    return Vectors(columns, partitions.starts, begin, end)


def rows_with(satisfied: WordArray, bit: int | None) -> BoolArray:
    if bit is None:
        return np.ones(len(satisfied), np.bool_)
    return np.asarray(satisfied[:, bit // 64] & np.uint64(1 << bit % 64) != 0)
