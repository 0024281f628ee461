"""Compute row conditions that read rows at a fixed distance, for all rows before the search.

    price < PREV(price)     bit 3 of a row is set if its price is less than the price before

For a search, these nearby conditions are row conditions: bits of `Partitions.satisfied`. A query
has nearby conditions only in the scope WORKER of `conditions.split.RowScope`. In the other scopes,
the engine or the search computes such conditions.
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
    """Return the partitions with the bits of nearby conditions set.

    The bits are set in place if the words of `partitions.satisfied` have room for them. They are
    set only for rows that a search may look at, because the neighbours of these rows are present.

    Raises:
        RunFailure: a condition cannot be computed for a row.
    """
    satisfied = partitions.satisfied
    words_needed = 1 + max((condition.bit // 64 for condition in conditions), default=0)
    if words_needed > satisfied.shape[1]:
        wider = np.zeros((partitions.row_count, words_needed), np.uint64)
        wider[:, : satisfied.shape[1]] = satisfied
        partitions = replace(partitions, satisfied=wider)
    set_nearby_bits(partitions, conditions)
    return partitions


def set_nearby_bits(partitions: Partitions, conditions: Sequence[NearbyCondition]) -> None:
    """Set the bits of nearby conditions in place, for the rows that a search may look at.

    Raises:
        RunFailure: a condition cannot be computed for a row.
    """
    if not conditions:
        return
    for evaluator in make_evaluator(partitions).split_into_blocks():
        satisfied = partitions.satisfied[evaluator.begin : evaluator.end]
        for condition in conditions:
            # A failure counts only on rows that satisfy the part that Spark has computed.
            demanded = np.asarray(True)
            if condition.spark_bit is not None:
                demanded = find_rows_with_bit(satisfied, condition.spark_bit)
            try:
                holds = evaluator.find_true_rows(condition.expression, demanded)
            except RowFailure as failure:
                details = {"variable": condition.variable, "origin": failure.origin}
                raise RunFailure(failure.make_error, failure.row, details) from failure
            word, bit = divmod(condition.bit, 64)
            satisfied[:, word] |= np.left_shift(holds, bit, dtype=np.uint64)


def find_satisfying_rows(partitions: Partitions, condition: NearbyCondition) -> BoolArray:
    """Return bool[n], which rows satisfy a condition that cannot raise an error.

    Unlike `satisfy_nearby`, the result has all rows, also those that no search may look at yet.
    """
    satisfies = np.zeros(partitions.row_count, np.bool_)
    all_rows = np.ones(partitions.row_count, np.bool_)
    for evaluator in make_evaluator(replace(partitions, frontier=None)).split_into_blocks():
        rows = slice(evaluator.begin, evaluator.end)
        satisfies[rows] = evaluator.find_true_rows(condition.expression, all_rows[rows])
    return satisfies


def make_evaluator(partitions: Partitions) -> VectorEvaluator:
    """Return an evaluator of conditions for the rows that a search may look at.

    Without a frontier, these are all rows. With a frontier, they are the rows from its first
    starting row to its last edge.
    """
    values = partitions.columns
    valid = partitions.valid
    first_float = partitions.integer_count
    floats = values[first_float:].view(np.float64)
    columns = {Kind.INTEGER: (values, valid), Kind.FLOATING: (floats, valid[first_float:])}
    begin = 0
    end = partitions.row_count
    frontier = partitions.frontier
    if frontier is not None and len(frontier.start):
        begin = int(frontier.start[0])
        end = max(begin, min(end, int(frontier.edge[-1])))
    return VectorEvaluator(columns, partitions.starts, begin, end)


def find_rows_with_bit(satisfied: WordArray, bit: int) -> BoolArray:
    """Return bool[n], which rows satisfy a row condition.

    Args:
        satisfied: see `Partitions`.
        bit: index of the row condition.
    """
    word, bit_of_word = divmod(bit, 64)
    return np.asarray(satisfied[:, word] & np.uint64(1 << bit_of_word) != 0)
