"""Say why a column of CSV files is a STRING, although its values mostly look like numbers or times.

A single `N/A` makes a column of prices a STRING. Comparisons and ORDER BY then compare texts: '9'
is greater than '10'. So the command line reports such a column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from matchrec.errors.wording import write_name
from matchrec.spark.csv_types import (
    DOUBLE_PATTERN,
    TIME_PATTERN,
    ArrowArray,
    parse_doubles,
    parse_times,
)

# Dates with the year at the end. `SHAPES` tries MONTH_AND_DAY first. In a column that has the day
# first, fewer than half of the dates have this shape, because most days are greater than 12.
MONTH_AND_DAY = r"(?:0?[1-9]|1[0-2])/\d{1,2}/\d{4}"
DAY_AND_MONTH = r"\d{1,2}/(?:0?[1-9]|1[0-2])/\d{4}"
DAY_AND_MONTH_WITH_DOTS = r"\d{1,2}\.\d{1,2}\.\d{4}"
# Numbers with the sign of a currency, or with commas between thousands.
AMOUNT = r"[+-]?(?:[$€£¥] ?\d[\d,]*|\d{1,3}(?:,\d{3})+)(?:\.\d+)?"

# How many values are looked at to find the shape of most values.
SAMPLE_SIZE = 1_000
# A value in a message has at most this many characters.
MAX_VALUE_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape that most values of a column can have."""

    # A regular expression, which matches texts of this shape as a whole.
    pattern: str
    # Converts texts to a better type, or raises ArrowInvalid; None if no text of this shape is read
    # as a value of a better type.
    parse: Callable[[ArrowArray], Any] | None
    # What is wrong with a text that keeps the column from being of a better type.
    problem: str
    # SQL that converts the column to a better type. `{}` stands for the name of the column.
    conversion: str


# The shapes, in the order in which they are tried.
SHAPES = (
    Shape(DOUBLE_PATTERN, parse_doubles, "cannot be read as a number", "TRY_CAST({} AS DOUBLE)"),
    Shape(
        TIME_PATTERN,
        partial(parse_times, zone="UTC"),
        "cannot be read as a date or time",
        "TRY_CAST({} AS TIMESTAMP)",
    ),
    Shape(MONTH_AND_DAY, None, "is not written as 2024-01-31", "TO_DATE({}, 'M/d/yyyy')"),
    Shape(DAY_AND_MONTH, None, "is not written as 2024-01-31", "TO_DATE({}, 'd/M/yyyy')"),
    Shape(DAY_AND_MONTH_WITH_DOTS, None, "is not written as 2024-01-31", "TO_DATE({}, 'd.M.yyyy')"),
    Shape(
        AMOUNT,
        None,
        "is not written as 1234.50",
        "CAST(REGEXP_REPLACE({}, '[^0-9.-]', '') AS DOUBLE)",
    ),
)


@dataclass(frozen=True, slots=True)
class StringReason:
    """Why a column is a STRING."""

    # The first value that keeps the column from being of a better type.
    value: str
    # The shape of most values.
    shape: Shape

    def describe(self, column: str) -> str:
        """Return the reason as the end of a sentence, with SQL that reads the column.

        >>> StringReason("N/A", SHAPES[0]).describe("close")
        'because `N/A` cannot be read as a number; to read it, write TRY_CAST(close AS DOUBLE)'
        """
        value = self.value
        if len(value) > MAX_VALUE_LENGTH:
            value = f"{value[:MAX_VALUE_LENGTH]}…"
        conversion = self.shape.conversion.format(write_name(column))
        return f"because `{value}` {self.shape.problem}; to read it, write {conversion}"


def find_string_reason(values: ArrowArray) -> StringReason | None:
    """Return why values make a column a STRING.

    Returns None if most of them do not look like numbers or times, or if a better type fits all of
    them, so that the reason is in the rows before.

    >>> find_string_reason(pa.array(["10.5", "N/A", "9"])).value
    'N/A'
    >>> find_string_reason(pa.array(["IBM", "N/A", "9"]))

    Args:
        values: trimmed texts that are not empty, at least one. No better type fits all of them and
            the values before them.
    """
    sample = values.slice(0, SAMPLE_SIZE)
    for shape in SHAPES:
        has_shape = pc.match_substring_regex(sample, f"^(?:{shape.pattern})$")
        is_shape_of_most = 2 * pc.sum(has_shape).as_py() > len(sample)
        if not is_shape_of_most:
            continue
        if shape.parse is None:
            first_of_shape: str = sample.filter(has_shape)[0].as_py()
            return StringReason(first_of_shape, shape)
        unreadable_value = find_unreadable(values, shape.parse)
        if unreadable_value is not None:
            return StringReason(unreadable_value, shape)
    return None


def find_unreadable(values: ArrowArray, parse: Callable[[ArrowArray], Any]) -> str | None:
    """Return the first value that cannot be parsed; None if each can be.

    This is a binary search. It parses many values at once, which is much faster than value by
    value.
    """
    # All values before `begin` can be parsed. If there is a value at `end`, it or a value before it
    # cannot be parsed.
    begin = 0
    end = len(values)
    while begin < end:
        middle = (begin + end) // 2
        try:
            parse(values.slice(begin, middle + 1 - begin))
        except pa.ArrowInvalid:
            end = middle
        else:
            begin = middle + 1
    if begin == len(values):
        return None
    text: str = values[begin].as_py()
    return text
