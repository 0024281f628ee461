"""Give values codes that are equal if Spark calls the values equal, and number rows by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from matchrec.worker.arrays import find_valid, make_array, read_floats, read_numbers

if TYPE_CHECKING:
    from matchrec.search.partitions import IntArray


def encode_by_equality(values: pa.Array) -> IntArray:
    """Return codes of values: int64[n], -1 for NULL.

    Codes are equal if the values are equal in Spark, where NaN equals NaN and -0.0 equals 0.0. All
    codes are less than n. Their order has no meaning.

    Args:
        values: values of any type except arrays and maps, to which Arrow gives no dictionary.
    """
    if pa.types.is_struct(values.type):
        present = find_valid(values).astype(np.int64)
        rows = number_rows([present, *map(encode_by_equality, values.flatten())])
        return np.where(find_valid(values), rows.numbers, -1)
    if pa.types.is_floating(values.type):
        _, codes = np.unique(read_floats(values), return_inverse=True)
        return np.where(find_valid(values), codes, -1).astype(np.int64)
    indices = values.dictionary_encode().indices
    return np.where(find_valid(indices), read_numbers(indices), -1).astype(np.int64)


class NumberedRows(NamedTuple):
    """Rows that are numbered so that rows with equal codes have the same number."""

    numbers: IntArray  # int64[n], the number of each row; a new number is the next one, from 0
    first_rows: IntArray  # int64[d], for each number the first row that has it


def number_rows(codes: Sequence[IntArray]) -> NumberedRows:
    """Assign numbers to rows, the same number to rows with equal codes in all arrays.

    >>> number_rows([np.array([2, 0, 2]), np.array([0, 0, 0])]).numbers
    array([0, 1, 0])

    Args:
        codes: one or more arrays int64[n]. Each code is at least -1 and less than n.
    """
    numbers = np.zeros(len(codes[0]), np.int64)
    for codes_of_column in codes:
        code_count = int(codes_of_column.max(initial=0)) + 2  # the codes begin with -1
        pairs = make_array(numbers * code_count + codes_of_column)
        numbers = read_numbers(pairs.dictionary_encode().indices).astype(np.int64)
    first_rows = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    # From the last row to the first, so that the first row with a number is written last.
    first_rows[numbers[::-1]] = np.arange(len(numbers))[::-1]
    return NumberedRows(numbers, first_rows)
