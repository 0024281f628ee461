"""Estimate how many bytes output rows take, and divide them into batches that are not too large.

Most output rows are small. So the first estimate assumes the longest value of each column for every
row. If all rows fit into one batch even then, no row is estimated by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import inf

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matchrec import memory
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.errors.run import failures
from matchrec.loading import makes_queries
from matchrec.output.match_reader import MatchReader
from matchrec.output.reads import Read, ReadNavigation, ReadRow, RowList
from matchrec.plan.expression import Semantics
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import IntArray
from matchrec.worker import arrays, internal_names
from matchrec.worker.arrays import read_integers, read_numbers
from matchrec.worker.arrow_types import is_text

# The bytes of a number. Any other value of fixed length has about as many.
BYTES_OF_A_NUMBER = 8
# About how many bytes a batch has at most.
BYTES_PER_BATCH = 128 << 20
# The most bytes of one output row. Offsets in an Arrow column have 31 bits, and a batch may have up
# to BYTES_PER_BATCH in other rows. The same again is left for errors of the estimate.
MAX_BYTES_OF_ROW = (1 << 31) - 2 * BYTES_PER_BATCH
# Sail makes batches of SAIL_ROWS rows, and holds SAIL_COPIES copies of a batch.
SAIL_ROWS = 1 << 13
SAIL_COPIES = 5


@dataclass(frozen=True)
class SizeEstimator:
    """An estimator of the sizes of r output rows over one table, in bytes."""

    compiled_query: CompiledQuery
    table: pa.Table
    reader: MatchReader

    def find_batch_borders(self, event_columns: Collection[int] = ()) -> IntArray:
        """Return the output rows at which batches begin, then the number r of output rows: int64.

        Args:
            event_columns: columns that the caller adds to each output row, with their values on all
                rows of the match. There must be one output row for each match.

        Raises:
            RunFailure: a row is too large for Arrow, or a batch is too large for this machine.
        """
        matches = self.reader.matches
        row_count = self.reader.output_rows.count
        one_batch = np.array([0, row_count])
        if matches.totals is not None or matches.pointers is not None:
            return one_batch  # rows of totals or of a graph have no values of input rows
        most_bytes = self.estimate_longest_row() * row_count
        most_bytes += self.estimate_longest_values(event_columns) * len(matches.classifiers)
        if most_bytes <= BYTES_PER_BATCH:
            return one_batch
        sizes = self.estimate_sizes()
        if event_columns:
            event_list = RowList(None, tuple(event_columns), Semantics.FINAL)
            sizes += self.estimate_list_sizes(event_list)
        self.check_sizes(sizes)
        first_rows = np.flatnonzero(np.diff(np.cumsum(sizes) // BYTES_PER_BATCH, prepend=0))
        return np.unique([0, *first_rows, row_count])

    def is_wide(self, read: Read) -> bool:
        """Return whether some values of a read take more bytes than others."""
        if read.row_list is not None:
            return True
        index = read.value_column
        return index is not None and not isinstance(self.estimate_column(index), int)

    def estimate_longest_row(self) -> float:
        """Return about how many bytes an output row takes at most; infinity if it has arrays."""
        reads = self.compiled_query.reads
        if any(read.row_list is not None for read in reads):
            return inf
        columns = [read.value_column for read in reads if read.value_column is not None]
        return BYTES_OF_A_NUMBER * len(reads) + self.estimate_longest_values(columns)

    def estimate_longest_values(self, columns: Iterable[int]) -> int:
        """Return about how many bytes a row takes at most in all of these columns."""
        total = 0
        for index in columns:
            sizes = self.estimate_column(index)
            total += int(np.max(sizes, initial=0))
        return total

    def estimate_sizes(self) -> IntArray:
        """Return about how many bytes each output row takes, as int64[r]."""
        reader = self.reader
        reads = self.compiled_query.reads
        sizes = np.full(reader.output_rows.count, BYTES_OF_A_NUMBER * len(reads), np.int64)
        for read in reads:
            if isinstance(read, ReadRow):
                sizes += self.estimate_sizes_at(read.column, reader.output_rows.input_rows)
            elif isinstance(read, ReadNavigation):
                sizes += self.estimate_sizes_at(
                    read.column, reader.find_row_positions(read.navigation)
                )
            elif read.row_list is not None:
                sizes += self.estimate_list_sizes(read.row_list)
            elif read.value_column is not None:
                sizes += int(np.mean(self.estimate_column(read.value_column)))
        return sizes

    def estimate_sizes_at(self, index: int, positions: IntArray) -> IntArray:
        """Return about how many bytes each value of a column at row positions takes, as int64[p].

        Args:
            index: the index of the column.
            positions: int64[p], row positions; -1 for NULL, which takes no bytes.
        """
        sizes = self.estimate_column(index)
        sizes_at_positions = sizes if isinstance(sizes, int) else sizes[positions]
        return np.where(positions < 0, 0, sizes_at_positions)

    def estimate_list_sizes(self, row_list: RowList) -> IntArray:
        """Return about how many bytes the array of rows of each output row takes, as int64[r]."""
        reader = self.reader
        rows = reader.matches.mapped_rows
        sizes = np.full(len(rows), BYTES_OF_A_NUMBER, np.int64)
        for index in row_list.columns:
            sizes += self.estimate_sizes_at(index, rows)
        is_listed = reader.mark_mapped_rows(row_list.variable)
        return reader.add_up_values(sizes * is_listed, row_list.semantics)

    def check_sizes(self, sizes: IntArray) -> None:
        """Check that each output row fits into a batch, and that batches of Sail fit into memory.

        Args:
            sizes: int64[r], about how many bytes each output row takes.

        Raises:
            RunFailure: a row does not fit into a batch, or the SAIL_ROWS largest rows do not fit
                into memory SAIL_COPIES times.
        """
        largest = int(np.argmax(sizes))
        row = int(self.reader.output_rows.input_rows[largest])
        size = int(sizes[largest])
        if size > MAX_BYTES_OF_ROW:
            fields = {"mebibytes": size >> 20, "limit": MAX_BYTES_OF_ROW >> 20}
            raise RunFailure(failures.row_too_large, row, fields)
        if makes_queries.is_set():  # the worker is a thread of a program with Sail
            sail_bytes = SAIL_COPIES * int(np.sort(sizes)[-SAIL_ROWS:].sum())
            if not memory.has_room(sail_bytes):
                raise RunFailure(failures.rows_too_large, row, {"mebibytes": sail_bytes >> 20})

    def estimate_column(self, index: int) -> IntArray | int:
        """Return what `estimate_value_sizes` returns for a column, given its index."""
        values = arrays.take_encoded_column(self.table, internal_names.name_column(index))
        return estimate_value_sizes(values)


def estimate_value_sizes(values: pa.Array) -> IntArray | int:
    """Return about how many bytes each value takes: int64[n], or one number for all values."""
    data_type = values.type
    if pa.types.is_dictionary(data_type):
        sizes = estimate_value_sizes(values.dictionary)
        if isinstance(sizes, int) or not len(sizes):  # no values, so all are NULL
            return BYTES_OF_A_NUMBER
        return sizes[read_integers(values.indices)]
    if pa.types.is_struct(data_type):
        return sum(map(estimate_value_sizes, values.flatten()))
    if is_text(data_type):
        return read_integers(pc.binary_length(values))
    if pa.types.is_list(data_type) or pa.types.is_map(data_type):
        lengths = np.diff(read_numbers(values.offsets).astype(np.int64))
        bytes_per_element = values.nbytes // max(1, int(lengths.sum())) + 1
        return np.asarray(lengths * bytes_per_element, np.int64)
    return BYTES_OF_A_NUMBER
