"""Count rows that ORDER BY does not tell apart, while a worker sorts.

Two neighbours among sorted rows tie if they have the same partition and the same ORDER BY values.
Which of the two rows comes first is random, which matters only if they differ in a column that the
query reads.

The sort has packed the values that it compares into words. So `OrderedWords.find_ties` finds all
ties by comparing the words of neighbouring rows. Other columns are compared only for rows that tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.errors.run.location import LONGEST_VALUE
from matchrec.worker import arrays, internal_names
from matchrec.worker.column_roles import ShownColumn
from matchrec.worker.sorting.tie_reports import TieChannel, TieCount

if TYPE_CHECKING:  # the module is loaded while a query is planned, without kernels
    from matchrec.search.partitions import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class TieReporter:
    """A `TieCounter` that reports the ties of one query to the program that runs it. Picklable."""

    query_id: str
    channel: TieChannel
    clause: str  # see `TieCount`
    # The columns that rows are sorted by: the keys, then the order.
    columns: tuple[ShownColumn, ...]

    def count(self, table: pa.Table, ties: IntArray) -> None:
        """Count and report the ties of sorted rows that may change the result.

        Args:
            table: the rows in order.
            ties: int64[k], the positions of the rows that tie with the row before them.
        """
        if not len(ties):
            return
        sorted_by = {column.name for column in self.columns}
        other_names = [name for name in table.column_names if name not in sorted_by]
        differing = ties[mark_differing_rows(table, other_names, ties)]
        if len(differing):
            example = self.show_row(table, int(differing[0]))
            self.channel.report({self.query_id: TieCount(len(differing), self.clause, example)})

    def show_row(self, table: pa.Table, row: int) -> str:
        """Return the key and ORDER BY values of a row, as a message shows them."""
        return ", ".join(
            f"{column.text} = {show_value_as_sql(table.column(column.name)[row])}"
            for column in self.columns
        )


def show_value_as_sql(scalar: pa.Scalar) -> str:
    """Return a value roughly as SQL writes it. A long value is cut off."""
    try:
        value = scalar.as_py()
    except (OverflowError, ValueError):  # Python has no such date or time
        value = scalar.cast(pa.string()).as_py()
    if value is None:
        text = "NULL"
    elif isinstance(value, str):
        text = f"'{value}'"
    else:
        text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def mark_differing_rows(table: pa.Table, names: Sequence[str], rows: IntArray) -> BoolArray:
    """Return which rows differ from the row before them in some column: bool[k].

    Values that Arrow cannot compare, such as arrays, count as different.

    Args:
        table: the rows in order.
        names: the names of the columns to compare.
        rows: int64[k], the positions of the rows, from 1 on.
    """
    is_different = np.zeros(len(rows), np.bool_)
    for name in names:
        equal_so_far = np.flatnonzero(~is_different)  # the other rows need no further comparison
        column = arrays.take_column(table, name)
        values = column.take(arrays.make_array(rows[equal_so_far]))
        values_before = column.take(arrays.make_array(rows[equal_so_far] - 1))
        if name == internal_names.FIRST_BITS:
            # Bit 0 marks the start of a partition. The query does not read it.
            values = clear_first_bits(values)
            values_before = clear_first_bits(values_before)
        is_different[equal_so_far] = mark_differing_values(values, values_before)
    return is_different


def clear_first_bits(words: pa.Array) -> pa.Array:
    """Return words of bits with bit 0 of each set to 0."""
    return arrays.make_array(arrays.read_numbers(words) & ~1)


def mark_differing_values(values: pa.Array, others: pa.Array) -> BoolArray:
    """Return which pairs of values differ: bool[k]. NULL equals NULL, and NaN equals NaN.

    Args:
        values: the first value of each pair.
        others: the second value of each pair.
    """
    if pa.types.is_nested(values.type):
        return np.ones(len(values), np.bool_)
    equal = pc.fill_null(pc.equal(values, others), fill_value=False)
    equal = pc.or_(equal, pc.and_(pc.is_null(values), pc.is_null(others)))
    if pa.types.is_floating(values.type):
        both_nan = pc.and_(pc.is_nan(values), pc.is_nan(others))
        equal = pc.or_(equal, pc.fill_null(both_nan, fill_value=False))
    return ~np.asarray(equal.to_numpy(zero_copy_only=False), np.bool_)
