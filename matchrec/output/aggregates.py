"""Computes aggregates of measures: at each mapped row the sum or the extreme of its match so far.

One pass over the mapped rows of all matches; a measure with final semantics reads the value at its
match's last mapped row. Sums run in row order, so a float sum is the one that Spark's own aggregate
gives over the sorted rows. Kernels, because a sum per match is a loop per row.
"""

from __future__ import annotations

import numpy as np

from matchrec.engine.partitions import BoolArray, FloatArray, IntArray
from matchrec.jit.decorators import allocating
from matchrec.output.measures import Reader, look
from matchrec.plan.expression import Semantics


class SumOverflow(Exception):  # noqa: N818 -- the runtime words the error
    """A sum that its type cannot hold. row: the input row up to which it is."""

    def __init__(self, row: int, type_name: str = "BIGINT") -> None:
        super().__init__(row, type_name)
        self.row = row
        self.type_name = type_name


@allocating
def running_float_sums(
    values: FloatArray, rows: IntArray, counted: BoolArray, offsets: IntArray
) -> FloatArray:
    """float64[k], at each mapped row the sum of its match's counted values so far."""
    sums = np.empty(len(rows), np.float64)
    for match in range(len(offsets) - 1):
        total = 0.0
        for index in range(offsets[match], offsets[match + 1]):
            if counted[index]:
                total += values[rows[index]]
            sums[index] = total
    return sums


@allocating
def running_integer_sums(
    values: IntArray, rows: IntArray, counted: BoolArray, offsets: IntArray
) -> tuple[IntArray, int]:
    """int64[k], as `running_float_sums`, and the first row whose value overflows, or -1."""
    sums = np.empty(len(rows), np.int64)
    overflow = -1
    for match in range(len(offsets) - 1):
        total = np.int64(0)
        for index in range(offsets[match], offsets[match + 1]):
            if counted[index]:
                value = values[rows[index]]
                after = total + value
                if ((total ^ after) & (value ^ after)) < 0 and overflow < 0:
                    overflow = rows[index]
                total = after
            sums[index] = total
    return sums, overflow


@allocating
def running_decimal_sums(
    low: IntArray, high: IntArray, rows: IntArray, counted: BoolArray, offsets: IntArray
) -> tuple[IntArray, IntArray]:
    """Low and high words of the running sums of 128-bit integers; `low` is unsigned in int64."""
    sums_low = np.empty(len(rows), np.int64)
    sums_high = np.empty(len(rows), np.int64)
    for match in range(len(offsets) - 1):
        total_low = np.uint64(0)
        total_high = np.int64(0)
        for index in range(offsets[match], offsets[match + 1]):
            if counted[index]:
                after = total_low + np.uint64(low[rows[index]])
                carry = np.int64(1) if after < total_low else np.int64(0)
                total_high += high[rows[index]] + carry
                total_low = after
            sums_low[index] = np.int64(total_low)
            sums_high[index] = total_high
    return sums_low, sums_high


@allocating
def running_extremes(
    keys: IntArray | FloatArray,
    rows: IntArray,
    counted: BoolArray,
    offsets: IntArray,
    sign: int,
) -> IntArray:
    """int64[k], at each mapped row the input row of its match's least key so far, or -1.

    sign: 1 for the least, -1 for the greatest. NaN is greater than any other number.
    """
    extremes = np.empty(len(rows), np.int64)
    for match in range(len(offsets) - 1):
        best = np.int64(-1)
        for index in range(offsets[match], offsets[match + 1]):
            row = rows[index]
            if counted[index]:
                if best < 0:
                    best = row
                else:
                    one, other = (row, best) if sign > 0 else (best, row)
                    if keys[one] < keys[other] or (
                        keys[other] != keys[other] and keys[one] == keys[one]
                    ):
                        best = row
            extremes[index] = best
    return extremes


class AggregateReader:
    """Reads running and final aggregates of one variable's rows for the output rows of a reader."""

    def __init__(self, reader: Reader, variable: str | None, valid: BoolArray) -> None:
        """valid: bool[n], input rows whose value is not NULL."""
        self.reader = reader
        self.variable = variable
        self.valid = valid
        self.rows = reader.mapped_rows()
        self.counted = reader.mask(variable) & valid[self.rows]

    def index(self, semantics: Semantics) -> IntArray:
        """int64[r], the mapped row at which to read a running value, or -1."""
        seen = look(self.reader.matches, self.reader.rows, semantics)
        return np.where(seen.limit > seen.base, seen.limit - 1, -1)

    def counts(self, semantics: Semantics) -> IntArray:
        """int64[r], how many values each output row's aggregate is over."""
        return self.reader.counts(self.variable, self.valid, semantics)

    def float_sums(self, values: FloatArray) -> FloatArray:
        """float64[k], running sums by mapped row."""
        return running_float_sums(values, self.rows, self.counted, self.reader.matches.offsets)

    def integer_sums(self, values: IntArray, *, ansi: bool) -> IntArray:
        """int64[k], running sums by mapped row. Raises SumOverflow under `ansi`."""
        sums, overflow = running_integer_sums(
            values, self.rows, self.counted, self.reader.matches.offsets
        )
        if ansi and overflow >= 0:
            raise SumOverflow(int(overflow))
        return sums

    def decimal_sums(self, words: IntArray) -> IntArray:
        """int64[k, 2], low and high words of the running sums of `words` int64[n, 2]."""
        low, high = running_decimal_sums(
            np.ascontiguousarray(words[:, 0]),
            np.ascontiguousarray(words[:, 1]),
            self.rows,
            self.counted,
            self.reader.matches.offsets,
        )
        return np.stack([low, high], axis=1)

    def extremes(self, keys: IntArray | FloatArray, *, greatest: bool) -> IntArray:
        """int64[k], by mapped row the input row of the extreme so far, or -1."""
        sign = -1 if greatest else 1
        return running_extremes(keys, self.rows, self.counted, self.reader.matches.offsets, sign)
