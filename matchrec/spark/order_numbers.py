"""Values of ORDER BY as whole numbers, such as the times from which rules are valid.

The workers hold the same numbers for the order of rows: the microseconds of an instant, the days of
a date, and whole numbers as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, date, datetime, timedelta
from typing import Any, NamedTuple

from pyspark.sql import types as spark_types
from pyspark.sql.types import DataType

from matchrec.plan.text import MICROSECONDS
from matchrec.spark.substitutes import write_microseconds
from matchrec.spark.types import to_value_type

EPOCH = datetime(1970, 1, 1)

# The Gregorian calendar repeats itself after 400 years, which have this number of days.
YEARS_PER_CYCLE = 400
DAYS_PER_CYCLE = 146_097

# A template: SQL of the microseconds of a TIMESTAMP_NTZ.
MICROSECONDS_SINCE_EPOCH = write_microseconds(f"{{0}} - TIMESTAMP_NTZ'{EPOCH}'")


class NumberConversion(NamedTuple):
    """How the values of a type are converted to whole numbers and back."""

    # What messages call a Python value of the type.
    value_noun: str
    # The class of Python values, and a subclass of it whose values are not of the type: True and
    # False are no whole numbers, and a datetime is no date.
    python_class: type[Any]
    excluded_class: type | tuple[()]
    # A template: SQL of the number of a value `{0}`.
    number_sql: str
    # A template: SQL of the value of a number. `{number}` stands for the number, `{shown}` for the
    # text of `OrderNumbers.show`, and `{type}` for the name of the type.
    value_sql: str


TypeClass = type[DataType]


NUMBER_CONVERSIONS: Mapping[TypeClass, NumberConversion] = {
    spark_types.TimestampType: NumberConversion(
        value_noun="a datetime",
        python_class=datetime,
        excluded_class=(),
        number_sql="unix_micros({0})",
        value_sql="timestamp_micros({number}L)",
    ),
    spark_types.TimestampNTZType: NumberConversion(
        value_noun="a datetime without a time zone",
        python_class=datetime,
        excluded_class=(),
        number_sql=MICROSECONDS_SINCE_EPOCH,
        value_sql="TIMESTAMP_NTZ'{shown}'",
    ),
    spark_types.DateType: NumberConversion(
        value_noun="a date",
        python_class=date,
        excluded_class=datetime,
        number_sql="CAST(unix_date({0}) AS BIGINT)",
        value_sql="date_from_unix_date({number})",
    ),
    spark_types.IntegralType: NumberConversion(
        value_noun="a whole number",
        python_class=int,
        excluded_class=bool,
        number_sql="CAST({0} AS BIGINT)",
        value_sql="CAST({number}L AS {type})",
    ),
}


@dataclass(frozen=True)
class OrderNumbers:
    """A converter of the values of an ORDER BY column to whole numbers and back.

    >>> from pyspark.sql.types import DateType
    >>> OrderNumbers(DateType()).convert_value(date(1970, 1, 3))
    2
    >>> OrderNumbers(DateType()).write_literal(2)
    'date_from_unix_date(2)'
    """

    type: DataType  # one of `NUMBER_CONVERSIONS`, unless `kind` is None

    @property
    def kind(self) -> TypeClass | None:
        """The class of the type in `NUMBER_CONVERSIONS`; None if it has no conversion."""
        return next((kind for kind in NUMBER_CONVERSIONS if isinstance(self.type, kind)), None)

    @property
    def conversion(self) -> NumberConversion:
        """The conversion of the values. The type must have one."""
        assert self.kind is not None
        return NUMBER_CONVERSIONS[self.kind]

    def has_same_kind(self, other: DataType) -> bool:
        """Return whether another type has values of the same kind, or only NULL."""
        return isinstance(other, spark_types.NullType) or OrderNumbers(other).kind is self.kind

    def convert_value(self, value: Any) -> int | None:
        """Return a Python value as a number; None if it is not a value of the type."""
        conversion = self.conversion
        if not isinstance(value, conversion.python_class):
            return None
        if isinstance(value, conversion.excluded_class):
            return None
        if isinstance(self.type, spark_types.TimestampNTZType) and value.tzinfo is not None:
            return None
        return int(self.type.toInternal(value))

    def has_number(self, number: int) -> bool:
        """Return whether a number is in the range of the type.

        The numbers of all datetimes and dates of Python are.
        """
        limit = 1 << (to_value_type(self.type).bits - 1)
        return -limit <= number < limit

    def write_number(self, name: str) -> str:
        """Return SQL of the number of a column."""
        return self.conversion.number_sql.format(name)

    def write_literal(self, number: int | None) -> str:
        """Return SQL of the value with this number, or SQL of NULL for None."""
        name = self.type.simpleString()
        if number is None:
            return f"CAST(NULL AS {name})"
        return self.conversion.value_sql.format(number=number, shown=self.show(number), type=name)

    def show(self, number: int) -> str:
        """Return the value with this number as messages show it. Instants are in UTC.

        >>> from pyspark.sql.types import TimestampType
        >>> OrderNumbers(TimestampType()).show(0)
        '1970-01-01 00:00:00 UTC'
        """
        if self.kind is spark_types.IntegralType:
            return str(number)
        if self.kind is spark_types.DateType:
            return show_date(number)
        days, microseconds = divmod(number, MICROSECONDS["DAY"])
        time = (datetime.min + timedelta(microseconds=microseconds)).time()
        suffix = " UTC" if self.kind is spark_types.TimestampType else ""
        return f"{show_date(days)} {time}{suffix}"


def show_date(days: int) -> str:
    """Return the date that is this many days after 1970-01-01, as SQL writes it.

    Dates of Spark may be beyond the years 1 to 9999, which are all that a `date` of Python can
    have.

    >>> [show_date(days) for days in (0, 3_663_000, -800_000)]
    ['1970-01-01', '+11998-12-15', '-0221-09-04']
    """
    cycles, days_of_cycle = divmod(days, DAYS_PER_CYCLE)
    date_of_first_cycle = EPOCH.date() + timedelta(days=days_of_cycle)
    year = date_of_first_cycle.year + cycles * YEARS_PER_CYCLE
    year_text = f"{year:04}" if 0 <= year <= MAXYEAR else f"{year:+05}"
    return f"{year_text}-{date_of_first_cycle:%m-%d}"
