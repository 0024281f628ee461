"""Compute row conditions that read rows at a fixed distance, for all rows before the search.

    price < PREV(price)     bit 3 of a row is set if its price is less than the price before

To a search they are row conditions like any other: bits of `Partitions.satisfied`. The worker
computes them in the scope WORKER of `conditions.split.RowScope`, whoever has sorted the rows. In
the other scopes there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from matchrec.conditions.evaluate.vectors import RowFailure, VectorEvaluator
from matchrec.conditions.types import Kind
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import BoolArray, Partitions, WordArray
from matchrec.search.task import NearbyCondition


def satisfy_nearby(partitions: Partitions, conditions: tuple[NearbyCondition, ...]) -> Partitions:
    """Return the partitions with the bits of these conditions set.

    The bits are set in place if the words of `partitions.satisfied` have room for them. They are
    set only for rows that a search may look at, whose neighbours are all present.

    Raises:
        RunFailure: a condition cannot be computed for a row.
    """
    satisfied = partitions.satisfied
    words_needed = 1 + max((condition.bit // 64 for condition in conditions), default=0)
    if words_needed > satisfied.shape[1]:
        wider = np.zeros((partitions.rows, words_needed), np.uint64)
        wider[:, : satisfied.shape[1]] = satisfied
        partitions = replace(partitions, satisfied=wider)
    set_nearby_bits(partitions, conditions)
    return partitions


def set_nearby_bits(partitions: Partitions, conditions: Sequence[NearbyCondition]) -> None:
    """Set the bits of conditions in place, for the rows that a search may look at.

    Raises:
        RunFailure: a condition cannot be computed for a row.
    """
    if not conditions:
        return
    for evaluator in make_evaluator(partitions).split_into_blocks():
        satisfied = partitions.satisfied[evaluator.begin : evaluator.end]
        for condition in conditions:
            # The rows on which the condition may fail: those that satisfy what comes before it.
            demanded = np.asarray(True)
            if condition.spark_bit is not None:
                demanded = find_rows_with(satisfied, condition.spark_bit)
            try:
                holds = evaluator.find_true_rows(condition.expression, demanded)
            except RowFailure as failure:
                details = {"variable": condition.variable, "origin": failure.origin}
                raise RunFailure(failure.make_error, failure.row, details) from failure
            word, bit = divmod(condition.bit, 64)
            satisfied[:, word] |= np.left_shift(holds, bit, dtype=np.uint64)


def find_satisfying_rows(partitions: Partitions, condition: NearbyCondition) -> BoolArray:
    """Return bool[n], which rows satisfy a condition that cannot fail.

    Unlike `satisfy_nearby`, it looks at all rows, also at those that no search may look at yet.
    """
    satisfies = np.zeros(partitions.rows, np.bool_)
    all_rows = np.ones(partitions.rows, np.bool_)
    for evaluator in make_evaluator(replace(partitions, frontier=None)).split_into_blocks():
        rows = slice(evaluator.begin, evaluator.end)
        satisfies[rows] = evaluator.find_true_rows(condition.expression, all_rows[rows])
    return satisfies


def make_evaluator(partitions: Partitions) -> VectorEvaluator:
    """Return an evaluator of conditions for the rows that a search may look at.

    These are all rows, or those from the frontier's first starting row to its last edge.
    """
    values = partitions.columns
    valid = partitions.valid
    first_float = partitions.integers
    floats = values[first_float:].view(np.float64)
    columns = {Kind.INTEGER: (values, valid), Kind.FLOATING: (floats, valid[first_float:])}
    begin = 0
    end = partitions.rows
    frontier = partitions.frontier
    if frontier is not None and len(frontier.start):
        begin = int(frontier.start[0])
        end = max(begin, min(end, int(frontier.edge[-1])))
    return VectorEvaluator(columns, partitions.starts, begin, end)


def find_rows_with(satisfied: WordArray, bit: int | None) -> BoolArray:
    """Return bool[n], which rows satisfy a row condition; all if `bit` is None.

    Args:
        satisfied: see `Partitions`.
        bit: index of the row condition, or None if there is none.
    """
    if bit is None:
        return np.ones(len(satisfied), np.bool_)
    word, bit_of_word = divmod(bit, 64)
    return np.asarray(satisfied[:, word] & np.uint64(1 << bit_of_word) != 0)
