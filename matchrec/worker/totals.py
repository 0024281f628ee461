"""Fill the columns of aggregates over all matches. An output row is a group of matches.

A search returns the totals of each group as words: see `search.kernels.carried_totals`. A count or
sum has 128 bits, which may have wrapped around, and a double that shows whether they have. This
module turns the totals into values of the type that the aggregate has in Spark, or into an error
that names the aggregate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.row_column import show_column
from matchrec.errors.kinds import MakeRunError
from matchrec.errors.match_totals import (
    infinite_values_in_total,
    large_values_in_total,
    total_too_large,
)
from matchrec.output.match_reader import MatchReader
from matchrec.output.reads import ReadTotal
from matchrec.search.kernels import carried_totals
from matchrec.search.matches import DOUBLE_WORD, RunFailure
from matchrec.search.partitions import BoolArray, FloatArray, IntArray
from matchrec.search.task import Total, TotalFunction
from matchrec.worker import internal_names
from matchrec.worker.arrays import make_array, take_column, view_as_doubles
from matchrec.worker.decimals import (
    SURELY_TOO_LARGE,
    find_too_large_sums,
    make_decimals,
    widen_for_sum,
)

# A sum has not wrapped around a BIGINT if its values, without their signs, add up to at most this
# number.
SURELY_A_BIGINT = 9.2e18


@dataclass(frozen=True, slots=True)
class WideNumbers:
    """A number for each of m groups: a count, a sum or an extreme.

    - A count or a sum of integers is in `words`, as 128 bits that may have wrapped around. Its
      double is the sum of the absolute values, which shows whether they have.
    - A sum of doubles is in `doubles`, with its sign. `words` have no meaning.
    - The extreme of a count, or of a sum, is in the low words: an integer, or the bits of a double.
      `doubles` are upper bounds: in no match, the absolute values add up to more.
    """

    words: IntArray  # int64[m, 2], the low and the high word of each number
    doubles: FloatArray  # float64[m]

    @property
    def low(self) -> IntArray:
        """Return the low words: int64[m]."""
        return self.words[:, 0]

    @property
    def high(self) -> IntArray:
        """Return the high words: int64[m]."""
        return self.words[:, 1]

    @property
    def fits_into_low_word(self) -> BoolArray:
        """Return which numbers equal their low word as a signed number: bool[m]."""
        return np.asarray(self.high == self.low >> 63, np.bool_)

    def to_doubles(self) -> FloatArray:
        """Return the 128 bits as doubles: float64[m]. Numbers of 64 bits are rounded only once."""
        rounded = self.high * 2.0**64 + self.low.view(np.uint64)
        return np.where(self.fits_into_low_word, self.low.astype(np.float64), rounded)


@dataclass(frozen=True)
class TotalFiller:
    """A filler of the column of one aggregate over all matches, for m groups."""

    compiled_query: CompiledQuery
    table: pa.Table  # the input rows
    reader: MatchReader  # has the totals of the groups, and an output row for each group
    read: ReadTotal
    index: int  # the index of the aggregate among the aggregates of the task
    total: Total  # how the search computes the aggregate

    @property
    def totals(self) -> IntArray:
        """Return the w words of totals of each group, as the search returns them: int64[m, w]."""
        totals = self.reader.matches.totals
        assert totals is not None
        return totals

    def read_numbers(self, word: int) -> WideNumbers:
        """Return the number of each group whose words begin at `word`, see `carried_totals`."""
        integer_end = word + carried_totals.INTEGER_WORDS
        words = np.ascontiguousarray(self.totals[:, word:integer_end])
        return WideNumbers(words, view_as_doubles(self.totals[:, word + DOUBLE_WORD]))

    @property
    def values(self) -> pa.Array:
        """Return the values that the measure reads, by row position. It must read a column."""
        assert self.read.measure is not None
        assert self.read.measure.column is not None
        return take_column(self.table, internal_names.name_column(self.read.measure.column))

    def fill(self) -> pa.Array:
        """Return the aggregate for each group.

        Raises:
            RunFailure: a number is too large for its type, or a total of doubles is infinite.
        """
        begin = carried_totals.locate_total(self.index)
        # The number of matches whose measure is not NULL, and the sum or extreme of their measures.
        known_count = self.read_numbers(begin + carried_totals.KNOWN_COUNT)
        value = self.read_numbers(begin + carried_totals.VALUE)
        # The words of a count can wrap around to 0, but its double cannot.
        is_null = np.asarray(known_count.doubles == 0, np.bool_)
        if self.total.outer_function is TotalFunction.COUNT:
            no_nulls = np.zeros(len(is_null), np.bool_)
            counts_matches = self.read.measure is None
            count = self.read_numbers(carried_totals.PATH_COUNT) if counts_matches else known_count
            return self.make_numbers(count, no_nulls)
        if self.total.outer_function is TotalFunction.SUM:
            return self.make_numbers(value, is_null)
        if not self.total.is_row_value:
            return self.make_extremes(value, is_null)
        # The extreme is a value of the column, which may be text. The search knows its row.
        row_word = begin + carried_totals.VALUE + carried_totals.ROW
        rows = np.where(is_null, -1, self.totals[:, row_word])
        return self.values.take(make_array(rows, rows < 0))

    def make_numbers(self, numbers: WideNumbers, is_null: BoolArray) -> pa.Array:
        """Return counts or sums over all matches.

        Args:
            numbers: the count or sum of each group.
            is_null: bool[m], the groups whose number is NULL.

        Raises:
            RunFailure: a number is too large for its type.
        """
        if self.total.is_float or self.read.aggregate.is_double:
            return self.make_doubles(numbers, is_null)
        number_type = self.find_exact_type()
        if pa.types.is_decimal(number_type):
            limit = 10**number_type.precision
            is_too_large = find_too_large_sums(numbers.words, numbers.doubles, 0, limit)
            type_name = f"DECIMAL({number_type.precision}, {number_type.scale})"
            self.check_sizes(is_too_large & ~is_null, type_name)
            return make_decimals(numbers.words, is_null, number_type)
        is_too_large = find_too_large_sums(numbers.words, numbers.doubles, 0)
        is_too_large |= ~numbers.fits_into_low_word
        self.check_sizes(is_too_large & ~is_null, "BIGINT")
        return make_array(numbers.low, is_null)

    def make_doubles(self, numbers: WideNumbers, is_null: BoolArray) -> pa.Array:
        """Return counts or sums over all matches as DOUBLE.

        Args:
            numbers: the count or sum of each group.
            is_null: bool[m], the groups whose number is NULL.

        Raises:
            RunFailure: a number is too large for DOUBLE, or has perhaps wrapped around.
        """
        has_wrapped = ~(numbers.doubles <= SURELY_TOO_LARGE)  # true for NaN
        if self.total.is_float:
            values = numbers.doubles
            # An infinite number of matches makes a sum infinite or NaN, whatever the values are.
            match_counts = self.read_numbers(carried_totals.PATH_COUNT).doubles
            is_too_large = np.isinf(match_counts)
        elif self.is_made_of_counts:
            # No count is negative, so the doubles are the numbers, if only roughly.
            values = np.where(has_wrapped, numbers.doubles, numbers.to_doubles())
            is_too_large = np.isinf(numbers.doubles)
        else:
            values = numbers.to_doubles()
            is_too_large = has_wrapped
        self.check_sizes(np.asarray(is_too_large & ~is_null, np.bool_), "DOUBLE")
        return make_array(values, is_null)

    @property
    def is_made_of_counts(self) -> bool:
        """Return whether the aggregate counts matches, or is computed from counts of rows."""
        return TotalFunction.COUNT in (self.total.outer_function, self.total.inner_function)

    def find_exact_type(self) -> pa.DataType:
        """Return the type of a count or of an exact sum: BIGINT or a decimal."""
        number_type = pa.int64() if self.is_made_of_counts else self.values.type
        is_decimal = pa.types.is_decimal(number_type)
        if self.read.aggregate.cast is not None:
            return pa.decimal128(38, number_type.scale if is_decimal else 0)
        if not is_decimal:
            return pa.int64()
        # Spark widens the type at each sum: over the matches, and perhaps over the rows of a match.
        type_of_sum = widen_for_sum(number_type)
        if self.total.inner_function is TotalFunction.SUM:
            return widen_for_sum(type_of_sum)
        return type_of_sum

    def make_extremes(self, extremes: WideNumbers, is_null: BoolArray) -> pa.Array:
        """Return the least or greatest count or sum of a match in each group.

        Sums of decimals never come here: `compile.totals` lets their matches be built.

        Args:
            extremes: the extreme of each group.
            is_null: bool[m], the groups whose extreme is NULL.

        Raises:
            RunFailure: a count or sum may be too large for BIGINT, or a sum adds up infinities.
        """
        assert self.is_made_of_counts or not pa.types.is_decimal(self.values.type)
        if self.total.is_float:
            is_infinite = np.isinf(extremes.doubles)
            self.check_groups(is_infinite & ~is_null, infinite_values_in_total, {})
            return make_array(view_as_doubles(extremes.low), is_null)
        may_have_wrapped = extremes.doubles > SURELY_A_BIGINT
        self.check_groups(may_have_wrapped & ~is_null, large_values_in_total, {})
        return make_array(extremes.low, is_null)

    def check_sizes(self, is_too_large: BoolArray, type_name: str) -> None:
        """Check that no group has a number that is too large for its type.

        Args:
            is_too_large: bool[m], the groups whose number is too large.
            type_name: the type that the number is too large for.

        Raises:
            RunFailure: a number is too large. The error names the first such group.
        """
        self.check_groups(is_too_large, total_too_large, {"type_name": type_name})

    def check_groups(
        self, is_rejected: BoolArray, make_error: MakeRunError, fields: dict[str, str]
    ) -> None:
        """Check that the aggregate of no group is rejected.

        Args:
            is_rejected: bool[m], the groups whose aggregate cannot be returned.
            make_error: makes the error.
            fields: the arguments of `make_error`, apart from the aggregate and the location.

        Raises:
            RunFailure: a group is rejected. The error names the first such group.
        """
        if is_rejected.any():
            columns = [
                show_column(row_column) for row_column in self.compiled_query.sent_columns.columns
            ]
            group = int(np.flatnonzero(is_rejected)[0])
            row = int(self.reader.output_rows.input_rows[group])
            raise RunFailure(make_error, row, {**fields, "aggregate": self.read.show(columns)})
