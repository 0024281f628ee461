"""Convert values of ORDER BY to whole numbers: instants, wall-clock times, dates and integers.

Values are converted to be compared outside of Spark: the times from which versions of rules are
valid, the positions at which partitions are cut into ranges, and the times of events in a stream.
The workers sort rows by the same numbers:

    type            number                                       2026-01-02 is
    TIMESTAMP       microseconds since 1970-01-01 in UTC         1767312000000000
    TIMESTAMP_NTZ   microseconds since 1970-01-01 00:00          1767312000000000
    DATE            days since 1970-01-01                        20455
    integers        the integer

`find_order_converter` returns the converter of a type. Each line of the table has its class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import MAXYEAR, date, datetime, timedelta
from typing import ClassVar, TypeGuard

from pyspark.sql import types as spark_types
from pyspark.sql.types import DataType
from typing_extensions import override

from matchrec.conditions.functions.calendar import find_month_and_day
from matchrec.plan.amounts import MICROSECONDS
from matchrec.spark.substitutes import write_microseconds
from matchrec.spark.types import to_value_type

MONTHS_PER_YEAR = 12


@dataclass(frozen=True)
class OrderConverter(ABC):
    """A converter of the values of one type to whole numbers and back.

    >>> from pyspark.sql.types import DateType
    >>> dates = DateConverter(DateType())
    >>> dates.convert_value(date(1970, 1, 3))
    2
    >>> dates.write_number("day")
    'CAST(unix_date(day) AS BIGINT)'
    >>> dates.write_literal(2)
    'date_from_unix_date(2)'
    """

    # The type of the values.
    type: DataType

    # The noun by which messages name a Python value of the type.
    value_noun: ClassVar[str]

    @abstractmethod
    def accepts(self, value: object) -> bool:
        """Return whether `convert_value` can convert a Python value."""

    @abstractmethod
    def write_number(self, value: str) -> str:
        """Return SQL of the number of a value. The number is a BIGINT.

        Args:
            value: SQL of the value, such as the name of a column.
        """

    @abstractmethod
    def write_value(self, number: int) -> str:
        """Return SQL of the value that has a number."""

    @abstractmethod
    def show(self, number: int) -> str:
        """Return the value that has a number, as messages show it."""

    def convert_value(self, value: object) -> int | None:
        """Return the number of a Python value; None if it is of another type."""
        return int(self.type.toInternal(value)) if self.accepts(value) else None

    def has_same_numbers(self, other: DataType) -> bool:
        """Return whether values of another type have the same numbers. True if all are NULL."""
        if isinstance(other, spark_types.NullType):
            return True
        return type(find_order_converter(other)) is type(self)

    def has_number(self, number: int) -> bool:
        """Return whether the type has a value for this number.

        It has one for the number of every datetime and date of Python, but not for every int.
        """
        limit = 1 << (to_value_type(self.type).bits - 1)
        return -limit <= number < limit

    def write_literal(self, number: int | None) -> str:
        """Return SQL of the value that has a number, or of NULL for None."""
        if number is None:
            return f"CAST(NULL AS {self.type.simpleString()})"
        return self.write_value(number)


def is_datetime(value: object) -> TypeGuard[datetime]:
    """Return whether a value is a datetime. NaT of pandas is not, although it has this class."""
    # NaT is the only datetime that is not equal to itself.
    return isinstance(value, datetime) and value == value


@dataclass(frozen=True)
class InstantConverter(OrderConverter):
    """A converter of instants, TIMESTAMP, to microseconds since 1970-01-01 in UTC."""

    value_noun = "a datetime"

    @override
    def accepts(self, value: object) -> bool:
        """Return whether a value is a datetime. Without a zone, it is in the program's zone."""
        return is_datetime(value)

    @override
    def write_number(self, value: str) -> str:
        return f"unix_micros({value})"

    @override
    def write_value(self, number: int) -> str:
        return f"timestamp_micros({number}L)"

    @override
    def show(self, number: int) -> str:
        return show_instant(number)


@dataclass(frozen=True)
class WallClockConverter(OrderConverter):
    """A converter of times without a zone, TIMESTAMP_NTZ, to microseconds since 1970 began."""

    value_noun = "a datetime without a time zone"

    @override
    def accepts(self, value: object) -> bool:
        return is_datetime(value) and value.tzinfo is None

    @override
    def write_number(self, value: str) -> str:
        """Return SQL of the time since 1970 began: `unix_micros` accepts only instants."""
        return write_microseconds(f"{value} - {self.write_value(0)}")

    @override
    def write_value(self, number: int) -> str:
        return f"TIMESTAMP_NTZ'{self.show(number)}'"

    @override
    def show(self, number: int) -> str:
        return show_wall_clock(number)


@dataclass(frozen=True)
class DateConverter(OrderConverter):
    """A converter of dates to days since 1970-01-01."""

    value_noun = "a date"

    @override
    def accepts(self, value: object) -> bool:
        """Return whether a value is a date. A datetime is not, although its class is a subclass."""
        return isinstance(value, date) and not isinstance(value, datetime)

    @override
    def write_number(self, value: str) -> str:
        return f"CAST(unix_date({value}) AS BIGINT)"

    @override
    def write_value(self, number: int) -> str:
        return f"date_from_unix_date({number})"

    @override
    def show(self, number: int) -> str:
        return show_date(number)


@dataclass(frozen=True)
class IntegerConverter(OrderConverter):
    """A converter of integers, which are their own numbers."""

    value_noun = "a whole number"

    @override
    def accepts(self, value: object) -> bool:
        """Return whether a value is an int. True and False are not, although bool is a subclass."""
        return isinstance(value, int) and not isinstance(value, bool)

    @override
    def write_number(self, value: str) -> str:
        return f"CAST({value} AS BIGINT)"

    @override
    def write_value(self, number: int) -> str:
        return f"CAST({number}L AS {self.type.simpleString()})"

    @override
    def show(self, number: int) -> str:
        return str(number)


def find_order_converter(type_: DataType) -> OrderConverter | None:
    """Return the converter of the values of a type; None if no class converts them."""
    match type_:
        case spark_types.TimestampType():
            return InstantConverter(type_)
        case spark_types.TimestampNTZType():
            return WallClockConverter(type_)
        case spark_types.DateType():
            return DateConverter(type_)
        case spark_types.IntegralType():
            return IntegerConverter(type_)
    return None


# The texts of values. Python's datetimes have only the years 1 to 9999, but Spark's have others.


def show_instant(microseconds: int) -> str:
    """Return the text of the instant that is some microseconds after 1970-01-01 in UTC.

    >>> show_instant(0)
    '1970-01-01 00:00:00 UTC'
    """
    return f"{show_wall_clock(microseconds)} UTC"


def show_wall_clock(microseconds: int) -> str:
    """Return the time that is some microseconds after 1970-01-01 00:00, as SQL writes it.

    >>> show_wall_clock(-1)
    '1969-12-31 23:59:59.999999'
    """
    days, microseconds_of_day = divmod(microseconds, MICROSECONDS["DAY"])
    time = (datetime.min + timedelta(microseconds=microseconds_of_day)).time()
    return f"{show_date(days)} {time}"


def show_date(days: int) -> str:
    """Return the date that is some days after 1970-01-01, as SQL writes it.

    >>> [show_date(days) for days in (0, 3_663_000, -800_000)]
    ['1970-01-01', '+11998-12-15', '-0221-09-04']
    """
    month, day_of_month = find_month_and_day(days)  # January of the year 0 has the number 1
    year, months_before = divmod(month - 1, MONTHS_PER_YEAR)
    has_four_digits = 0 <= year <= MAXYEAR
    year_text = f"{year:04}" if has_four_digits else f"{year:+05}"  # a sign and four digits or more
    return f"{year_text}-{months_before + 1:02}-{day_of_month:02}"
