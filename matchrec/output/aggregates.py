"""Read the aggregates of measures over the rows of matches: counts, sums and extremes.

The kernels in `output.total_kernels` compute a total for each mapped row: the aggregate of its
match up to this row. An output row reads the total of the last row that it sees: with running
semantics, the current row; with final semantics, the last row of the match.

    rows of a match, price                   3    1    2
    sum(price) up to each mapped row         3    4    6
    RUNNING sum(price) of its output rows    3    4    6
    FINAL sum(price) of its output rows      6    6    6
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from matchrec.errors.run.failures import sum_too_large
from matchrec.output import total_kernels
from matchrec.output.exact_sums import are_float_sums_exact, are_integer_sums_exact
from matchrec.output.match_reader import Links, MatchReader
from matchrec.output.total_kernels import find_links, sum_each_match, sum_values
from matchrec.plan.expression import Semantics
from matchrec.search.flat_arrays import take_or_default
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import BoolArray, FloatArray, IntArray

# The position of the sign in an int64. `value >> SIGN_BIT` is -1 or 0: the sign in all bits.
SIGN_BIT = 63


def find_total_rows(reader: MatchReader, semantics: Semantics) -> IntArray:
    """Return the mapped row whose total an output row reads, or -1: int64[r].

    The mapped row is the last row that the output row sees. If matches share their rows, totals are
    added up towards the first row, so the mapped row is the first row of the match.
    """
    if reader.matches.chains is not None:
        return reader.output_rows.current_rows
    begin, end = reader.find_visible_rows(semantics)
    return np.where(end > begin, end - 1, -1)


class AggregateReader:
    """A reader of aggregates over the rows of one variable, for r output rows and k mapped rows.

    `count_values` and `sum_floats` return a value for each output row. The other methods return a
    total for each mapped row: a sum, or the input row of an extreme. `find_total_rows` says which
    total an output row reads.
    """

    def __init__(self, reader: MatchReader, variable: str | None, is_valid: BoolArray) -> None:
        """Prepare the aggregates.

        Args:
            reader: the matches and their output rows.
            variable: the variable; None for the universal variable.
            is_valid: bool[n], which input rows count if they are mapped to the variable.
        """
        self.reader = reader
        self.variable = variable
        self.is_valid = is_valid
        # Whether every mapped row counts, as for `count(*)`. Then no mask is needed.
        self.counts_all_rows = variable is None and bool(is_valid.all())

    @cached_property
    def input_rows(self) -> IntArray:
        """Return the input row of each mapped row: int64[k]."""
        return self.reader.matches.mapped_rows

    @cached_property
    def counted_rows(self) -> IntArray:
        """Return the input row of each mapped row, -1 if it does not count: int64[k]."""
        if self.counts_all_rows:
            return self.input_rows
        is_counted = self.reader.mark_mapped_rows(self.variable) & self.is_valid[self.input_rows]
        return np.where(is_counted, self.input_rows, -1)

    @cached_property
    def links(self) -> Links:
        """Return for each mapped row the mapped row whose total it continues: see `find_links`."""
        return find_links(self.reader.matches)

    def count_values(self, semantics: Semantics) -> IntArray:
        """Return the number of counted rows that each output row sees: int64[r]."""
        if self.reader.matches.chains is None:
            if self.counts_all_rows:
                begin, end = self.reader.find_visible_rows(semantics)
                return end - begin
            return self.reader.add_up_values(self.counted_rows >= 0, semantics)
        ones = np.ones(self.reader.partitions.row_count, np.int64)
        sums = self.sum_integers(ones, ansi=False)
        return take_or_default(sums, find_total_rows(self.reader, semantics), 0)

    def sum_integers(self, values: IntArray, *, ansi: bool) -> IntArray:
        """Return for each mapped row the sum of the values up to it: int64[k].

        Args:
            values: int64[n], the value of each input row.
            ansi: whether overflow is an error. Otherwise sums wrap.

        Raises:
            RunFailure: a sum is too large.
        """
        if ansi and not are_integer_sums_exact(values):
            # Add up with 128 bits: a sum fits 64 bits if its high word only repeats its sign.
            words = np.stack([values, values >> SIGN_BIT], axis=1)
            low_words, high_words = self.sum_decimals(words).T
            overflowing_rows = np.flatnonzero(high_words != low_words >> SIGN_BIT)
            if len(overflowing_rows):
                row = int(self.counted_rows[overflowing_rows[0]])
                raise RunFailure(sum_too_large, row, {"type_name": "BIGINT"})
        return sum_values(values, self.counted_rows, self.links)

    def sum_floats(self, values: FloatArray, semantics: Semantics) -> FloatArray:
        """Return the sum that each output row sees, added up in the order of its rows: float64[r].

        Args:
            values: float64[n], the value of each input row.
            semantics: which rows an output row sees.
        """
        chains = self.reader.matches.chains
        if chains is not None and not are_float_sums_exact(values, self.counted_rows, self.links):
            first_rows = self.reader.output_rows.current_rows
            return sum_each_match(values, self.counted_rows, chains.next_mapped_rows, first_rows)
        sums = sum_values(values, self.counted_rows, self.links)
        return take_or_default(sums, find_total_rows(self.reader, semantics), 0)

    def sum_decimals(self, words: IntArray) -> IntArray:
        """Return for each mapped row the sum of the values up to it, as two words: int64[k, 2].

        Args:
            words: int64[n, 2], the low word and the high word of the value of each input row, which
                is an integer of 128 bits.
        """
        return total_kernels.sum_decimals(words, self.counted_rows, self.links)

    def find_extreme_rows(
        self, keys: IntArray, *, greatest: bool, takes_last: bool = False
    ) -> IntArray:
        """Return for each mapped row the input row of the extreme up to it: int64[k].

        Args:
            keys: int64[n], a number for each input row. The rows are compared by these numbers.
            greatest: whether to find the greatest key, not the least.
            takes_last: of rows with the extreme key, whether to return the last one of the match.
                Otherwise the first one is returned.
        """
        sign = -1 if greatest else 1
        # The kernel visits the rows of chains from the last one to the first. So a later row of the
        # match is one that it has visited before.
        is_reversed = self.reader.matches.chains is not None
        takes_equal = takes_last != is_reversed
        return total_kernels.find_extreme_rows(
            keys, self.counted_rows, self.links, sign, takes_equal
        )
