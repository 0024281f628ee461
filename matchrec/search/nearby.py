"""Compute row conditions that read rows at a fixed distance, before the search starts.

    price < PREV(price)     for example, bit 3 of a row is set if its price is less than the price
                            of the row before it

For a search, these nearby conditions are row conditions: bits of `Partitions.condition_bits`. A
query has nearby conditions only in the scope WORKER of `conditions.split.RowScope`. In the other
scopes, the engine or the search computes such conditions.
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


def add_nearby_bits(partitions: Partitions, conditions: Sequence[NearbyCondition]) -> Partitions:
    """Return the partitions with the bits of nearby conditions set.

    The bits of rows that a search is allowed to look at are computed, because the neighbours of
    these rows are present. The bits of other rows stay 0.

    To save memory, the bits are set in place if the words of `partitions.condition_bits` have room
    for them. So the argument must not be used afterwards.

    Raises:
        RunFailure: a condition cannot be computed for a row.
    """
    condition_bits = partitions.condition_bits
    words_needed = 1 + max((split_bit(condition.bit)[0] for condition in conditions), default=0)
    if words_needed > condition_bits.shape[1]:
        wider = np.zeros((partitions.row_count, words_needed), np.uint64)
        wider[:, : condition_bits.shape[1]] = condition_bits
        partitions = replace(partitions, condition_bits=wider)
    set_nearby_bits(partitions, conditions)
    return partitions


def set_nearby_bits(partitions: Partitions, conditions: Sequence[NearbyCondition]) -> None:
    """Set the bits of nearby conditions in place, for the rows that a search is allowed to look at.

    Raises:
        RunFailure: a condition cannot be computed for a row.
    """
    if not conditions:
        return
    for evaluator in make_evaluator(partitions).split_into_blocks():
        condition_bits = partitions.condition_bits[evaluator.begin : evaluator.end]
        for condition in conditions:
            # An error is raised only for rows that satisfy the part that Spark has computed. One
            # truth value stands for all rows.
            demanded_rows = np.asarray(True)
            if condition.spark_bit is not None:
                demanded_rows = find_rows_with_bit(condition_bits, condition.spark_bit)
            try:
                holds = evaluator.find_true_rows(condition.expression, demanded_rows)
            except RowFailure as failure:
                details = {"variable": condition.name, "origin": failure.origin}
                raise RunFailure(failure.make_error, failure.row, details) from failure
            word, bit_of_word = split_bit(condition.bit)
            condition_bits[:, word] |= np.left_shift(holds, bit_of_word, dtype=np.uint64)


def find_satisfying_rows(partitions: Partitions, condition: NearbyCondition) -> BoolArray:
    """Return bool[n], which rows satisfy a condition.

    Unlike `add_nearby_bits`, the result has all rows, also those that no search is allowed to look
    at yet.

    Args:
        partitions: the rows.
        condition: a condition that cannot raise an error and has no part that Spark computes, such
            as the condition that a row is equal to the row before it in the order.
    """
    assert condition.spark_bit is None
    satisfies = np.zeros(partitions.row_count, np.bool_)
    for evaluator in make_evaluator(replace(partitions, frontier=None)).split_into_blocks():
        rows = slice(evaluator.begin, evaluator.end)
        satisfies[rows] = evaluator.find_true_rows(condition.expression, np.asarray(True))
    return satisfies


def make_evaluator(partitions: Partitions) -> VectorEvaluator:
    """Return an evaluator of conditions for the rows that a search is allowed to look at.

    Without a frontier, these are all rows. With a frontier, they are the rows from its first
    starting row to its last edge, with the rows of complete partitions between them.
    """
    values = partitions.columns
    valid = partitions.valid
    first_float = partitions.integer_count
    # The columns that only totals read come last, so `floats` has them, too, but no condition reads
    # them.
    floats = values[first_float:].view(np.float64)
    columns_by_kind = {Kind.INTEGER: (values, valid), Kind.FLOATING: (floats, valid[first_float:])}
    begin = 0
    end = partitions.row_count
    frontier = partitions.frontier
    if frontier is not None and len(frontier.next_start):
        begin = int(frontier.next_start[0])
        end = max(begin, min(end, int(frontier.edge[-1])))
    return VectorEvaluator(columns_by_kind, partitions.starts, begin, end)


def find_rows_with_bit(condition_bits: WordArray, bit: int) -> BoolArray:
    """Return bool[n], which rows satisfy a row condition.

    Args:
        condition_bits: see `Partitions`.
        bit: index of the row condition.
    """
    word, bit_of_word = split_bit(bit)
    return np.asarray(condition_bits[:, word] & np.uint64(1 << bit_of_word) != 0)


def split_bit(bit: int) -> tuple[int, int]:
    """Return the index of the word in `Partitions.condition_bits`, and the index of the bit in it.

    >>> split_bit(3), split_bit(64)
    ((0, 3), (1, 0))
    """
    return divmod(bit, 64)
