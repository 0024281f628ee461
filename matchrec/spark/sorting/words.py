"""The columns of a table that sort it → words: the codes of columns, packed in 64 bits.

Codes are packed from the last column to the first, so that words compare as rows do, the first
word first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from matchrec.dataclass import dataclass
from matchrec.engine.partitions import WordArray
from matchrec.spark.sorting.code import Code, code_of
from matchrec.spark.sorting.parts import parts_of, where_null
from matchrec.spark.sorting.sorting import SortColumn, Sorting
from matchrec.spark.worker.arrays import column

BITS = 64


@dataclass(frozen=True, slots=True)
class Word:
    """uint64[n], how many bits are used, and which of them are of keys."""

    values: WordArray
    bits: int
    of_keys: int

    def add(self, code: Code) -> Word:
        """The same with a code that decides before the others."""
        code.add_to(self.values, self.bits)
        of_keys = self.of_keys | (code.all_bits << self.bits if code.of_key else 0)
        return Word(self.values, self.bits + code.bits, of_keys)


def words_of(table: pa.Table, sorting: Sorting) -> list[Word]:
    """The words of a table of at least one row, the last first; none where all rows are equal."""
    words: list[Word] = []
    for code in codes_of(table, sorting):
        if not words or words[-1].bits + code.bits > BITS:
            words.append(Word(np.zeros(table.num_rows, np.uint64), 0, 0))
        words[-1] = words[-1].add(code)
    return words


def codes_of(table: pa.Table, sorting: Sorting) -> Iterator[Code]:
    """The codes of columns that are not the same in all rows, the last first."""
    keys = len(sorting.keys)
    for place, item in reversed([*enumerate(sorting.columns)]):
        for code in codes_of_column(column(table, item.name), item, of_key=place < keys):
            if code.bits:
                yield code


def codes_of_column(values: pa.Array, item: SortColumn, *, of_key: bool) -> Iterator[Code]:
    """The codes of a column, the last first; before its values decides whether there is one."""
    parts = parts_of(values)
    if not values.null_count:
        for part in reversed(parts):
            yield code_of(part, falling=item.descending, of_key=of_key)
        return
    null = where_null(values)
    known = null == 0
    for part in reversed(parts):
        least = part[known].min(initial=np.iinfo(np.int64).max)
        yield code_of(np.where(known, part, least), falling=item.descending, of_key=of_key)
    yield code_of(null, falling=item.nulls_first, of_key=of_key)
