"""Fill the columns of basic aggregates of the rows of a match: counts, sums, averages, extremes.

`output.aggregates` computes a total for each mapped row, which is the aggregate of the rows of the
match up to this row, and says which total each output row reads. This module turns the totals into
Arrow columns of the types that the aggregates have in Spark. In ANSI mode, a sum that is too large
for its type is an error. Otherwise integers wrap around, and decimals become NULL.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from matchrec.conditions.run_condition import Reduction
from matchrec.errors.run import failures
from matchrec.output.aggregates import AggregateReader, find_total_rows
from matchrec.output.match_reader import MatchReader
from matchrec.output.reads import ReadBasicAggregate
from matchrec.search.flat_arrays import take_or_default
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import BoolArray, FloatArray, IntArray
from matchrec.worker import arrays
from matchrec.worker.arrays import find_valid, make_array
from matchrec.worker.decimals import (
    find_too_large_sums,
    has_exact_sums,
    make_decimals,
    widen_for_sum,
)
from matchrec.worker.sort_keys import make_sort_keys


@dataclass(frozen=True)
class AggregateFiller:
    """A filler of the column of one basic aggregate, for r output rows and k mapped rows."""

    reader: MatchReader
    read: ReadBasicAggregate
    values: pa.Array  # the values of the column, by row position; None for a count of rows
    ansi: bool  # whether a sum that is too large is an error

    def fill(self) -> pa.Array:
        """Return the aggregate for each output row. If a row sees no value: NULL, or 0 for a count.

        Raises:
            RunFailure: a sum is too large for its type, in ANSI mode.
        """
        counts = self.totals.count_values(self.read.semantics)
        match self.read.reduction:
            case Reduction.COUNT:
                return make_array(counts)
            case Reduction.SUM:
                return self.sum_values(counts == 0)
            case Reduction.AVG:
                return make_array(self.sum_floats() / np.maximum(counts, 1), counts == 0)
            case Reduction.MIN | Reduction.MAX as function:
                keys = make_sort_keys(self.values)
                is_greatest = function is Reduction.MAX
                extremes = self.totals.find_extreme_rows(keys, greatest=is_greatest)
                rows = self.take_totals(extremes, default=-1)
                return self.values.take(make_array(rows, rows < 0))

    @cached_property
    def totals(self) -> AggregateReader:
        """Return the reader of totals, for which rows with a NULL value do not count."""
        if self.values is None:
            valid = np.ones(self.reader.partitions.row_count, np.bool_)
        else:
            valid = find_valid(self.values)
        return AggregateReader(self.reader, self.read.variable, valid)

    @cached_property
    def total_rows(self) -> IntArray:
        """Return the mapped row whose total each output row reads, or -1: int64[r]."""
        return find_total_rows(self.reader, self.read.semantics)

    def take_totals(self, totals: IntArray, default: int = 0) -> IntArray:
        """Return the total that each output row reads: int64[r] or int64[r, w].

        Args:
            totals: int64[k], the total of each mapped row; or int64[k, w] if a total has w words.
            default: the total of an output row that sees no row.
        """
        return take_or_default(totals, self.total_rows, default)

    def sum_values(self, is_null: BoolArray) -> pa.Array:
        """Return the sum for each output row.

        Args:
            is_null: bool[r], the output rows that see no value.

        Raises:
            RunFailure: a sum is too large for its type, in ANSI mode.
        """
        value_type = self.values.type
        if pa.types.is_decimal(value_type):
            return self.sum_decimals(is_null)
        if pa.types.is_floating(value_type):
            return make_array(self.sum_floats(), is_null)
        integers = arrays.read_integers(self.values)
        sums = self.totals.sum_integers(integers, ansi=self.ansi)
        return make_array(self.take_totals(sums), is_null)

    def sum_decimals(self, is_null: BoolArray) -> pa.Array:
        """Return the sum of decimals for each output row, see `sum_values`.

        As in Spark, a sum of more than 38 digits is NULL, or an error in ANSI mode.

        Raises:
            RunFailure: a sum is too large for its type, in ANSI mode.
        """
        value_type = self.values.type
        type_of_sum = widen_for_sum(value_type)
        words = self.take_totals(self.totals.sum_decimals(arrays.read_decimal_words(self.values)))
        if has_exact_sums(self.values):
            return make_decimals(words, is_null, type_of_sum)
        is_too_large = find_too_large_sums(words, self.sum_floats(), value_type.scale) & ~is_null
        if self.ansi and is_too_large.any():
            first = int(np.flatnonzero(is_too_large)[0])
            row = int(self.totals.input_rows[self.total_rows[first]])
            fields = {"type_name": f"DECIMAL(38, {value_type.scale})"}
            raise RunFailure(failures.sum_too_large, row, fields)
        return make_decimals(words, is_null | is_too_large, type_of_sum)

    def sum_floats(self) -> FloatArray:
        """Return the sum as a double for each output row, added up in the order of the rows."""
        values = self.values
        if pa.types.is_decimal(values.type):
            values = values.cast(pa.float64())
        return self.totals.sum_floats(arrays.read_floats(values), self.read.semantics)
