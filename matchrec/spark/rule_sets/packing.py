"""Conditions of many rules as words of bits: those on one row before the sort, the others after it.

A condition on one row would go through the shuffle as a column of its own. Packed, 62 of them are
one number:

    SELECT ..., CAST(CASE WHEN a > 1 THEN 1L ELSE 0L END | ... AS INT) AS __c7 FROM input
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from matchrec.compile.rule_set import Bits
from matchrec.conditions.row_column import RowColumn, row_column
from matchrec.engine.nearby import no_bits
from matchrec.engine.partitions import WordArray
from matchrec.spark import wire
from matchrec.spark.before.bits import BITS_A_COLUMN, chunks_of, pack
from matchrec.spark.worker.arrays import as_integers, column

WORD = 64
Conditions = tuple[tuple[RowColumn, ...], tuple[RowColumn, ...]]


def early_words(conditions: Conditions) -> tuple[RowColumn, ...]:
    """The columns that Spark computes before the sort."""
    tests = [one.text for one in conditions[0]]
    return tuple(row_column(pack(chunk)) for chunk in chunks_of(tests))


def find_bits(conditions: Conditions) -> Bits:
    """The bit of each condition among the words: those of early columns, then of late ones.

    Bit 0 of the first late word marks the first row of a partition; without a late condition no
    late column is a word.
    """
    early, late = conditions
    first_late = columns_for(len(early))
    places = (
        *(bit_at(0, number) for number in range(len(early))),
        *(bit_at(first_late, number + 1) for number in range(len(late))),
    )
    return Bits(places, max(places, default=-1) + 1)


def columns_for(bits: int) -> int:
    """How many columns so many bits take."""
    return -(-bits // BITS_A_COLUMN)


def bit_at(first: int, number: int) -> int:
    """The bit of a truth value by its number among those from a word on."""
    word, bit = divmod(number, BITS_A_COLUMN)
    return (first + word) * WORD + bit


def words_of(table: pa.Table, columns: Iterable[str], bits: int) -> WordArray:
    """uint64[n, w] with room for so many bits. columns: the names of the first words."""
    words = no_bits(table.num_rows, bits)
    for place, name in enumerate(columns):
        words[:, place] = as_integers(column(table, name)).view(np.uint64)
    return words


def word_columns(columns: int, conditions: Conditions) -> Iterator[str]:
    """The names of the columns of words. columns: how many others cross before them."""
    early, late = conditions
    yield from (wire.column(columns + i) for i in range(columns_for(len(early))))
    yield from map(wire.bits, range(columns_for(len(late) + 1) if late else 0))
