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
from matchrec.spark.csv_types import DOUBLE, TIME, ArrowArray, parse_doubles, parse_times

# Dates with the year at the end. Of a column of days from all over the month, less than half can be
# read with the month first if the day is first.
MONTH_AND_DAY = r"(?:0?[1-9]|1[0-2])/\d{1,2}/\d{4}"
DAY_AND_MONTH = r"\d{1,2}/(?:0?[1-9]|1[0-2])/\d{4}"
DAY_AND_MONTH_WITH_DOTS = r"\d{1,2}\.\d{1,2}\.\d{4}"
# Numbers with the sign of a currency, or with commas between thousands.
AMOUNT = r"[+-]?(?:[$€£¥] ?\d[\d,]*|\d{1,3}(?:,\d{3})+)(?:\.\d+)?"

# How many values show what most values of a column look like.
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
    # SQL that reads the column as a better type. `{}` stands for the name of the column.
    cure: str


SHAPES = (
    Shape(DOUBLE, parse_doubles, "cannot be read as a number", "TRY_CAST({} AS DOUBLE)"),
    Shape(
        TIME,
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
        cure = self.shape.cure.format(write_name(column))
        return f"because `{value}` {self.shape.problem}; to read it, write {cure}"


def find_string_reason(values: ArrowArray) -> StringReason | None:
    """Return why a column is a STRING; None if most values do not look like numbers or times.

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
        if 2 * pc.sum(has_shape).as_py() <= len(sample):
            continue
        if shape.parse is not None:
            return StringReason(find_unreadable(values, shape.parse), shape)
        return StringReason(sample.filter(has_shape)[0].as_py(), shape)
    return None


def find_unreadable(values: ArrowArray, parse: Callable[[ArrowArray], Any]) -> str:
    """Return the first value that cannot be parsed; the first of all if each can be.

    Each half of the values is parsed as a whole, because this is much faster than value by value.
    """
    begin, end = 0, len(values)
    while end - begin > 1:
        middle = (begin + end) // 2
        try:
            parse(values.slice(begin, middle - begin))
        except pa.ArrowInvalid:
            end = middle
        else:
            begin = middle
    text: str = values[begin].as_py()
    return text
