"""Values that rows are ordered by, such as the times from which rules hold, as whole numbers.

They are the numbers as which the workers hold the order: microseconds of an instant, days of a
date, and whole numbers as they are.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

from pyspark.sql import types as spark_types

from matchrec.dataclass import dataclass

WHOLE = (
    spark_types.ByteType,
    spark_types.ShortType,
    spark_types.IntegerType,
    spark_types.LongType,
)
EPOCH = datetime(1970, 1, 1)
EPOCH_IN_SQL = f"TIMESTAMP_NTZ'{EPOCH}'"


@dataclass(frozen=True)
class OrderTimes:
    """Values of the type of an order, which is an instant, a wall clock, a date or a number."""

    type: spark_types.DataType

    @property
    def is_known(self) -> bool:
        """Whether values of the type are whole numbers."""
        kinds = (spark_types.TimestampType, spark_types.TimestampNTZType, spark_types.DateType)
        return isinstance(self.type, kinds + WHOLE)

    @property
    def wanted(self) -> str:
        """What a value is in Python."""
        if isinstance(self.type, spark_types.TimestampType):
            return "a datetime"
        if isinstance(self.type, spark_types.TimestampNTZType):
            return "a datetime without a time zone"
        return "a date" if isinstance(self.type, spark_types.DateType) else "a whole number"

    def is_alike(self, other: spark_types.DataType) -> bool:
        """Whether another type has such values, or only NULL."""
        if isinstance(other, spark_types.NullType):
            return True
        return isinstance(other, WHOLE if isinstance(self.type, WHOLE) else type(self.type))

    def number(self, value: object) -> int | None:
        """A value of Python's as a number; None for what is no such value."""
        if isinstance(self.type, WHOLE):
            return value if isinstance(value, int) and not isinstance(value, bool) else None
        if isinstance(self.type, spark_types.DateType):
            fits = isinstance(value, date) and not isinstance(value, datetime)
        else:
            fits = isinstance(value, datetime)
            if isinstance(self.type, spark_types.TimestampNTZType):
                fits = fits and value.tzinfo is None  # type: ignore[attr-defined]
        return int(self.type.toInternal(value)) if fits else None

    def number_of_column(self, name: str) -> str:
        """A column as SQL of numbers."""
        if isinstance(self.type, WHOLE):
            return f"CAST({name} AS BIGINT)"
        if isinstance(self.type, spark_types.DateType):
            return f"CAST(unix_date({name}) AS BIGINT)"
        if isinstance(self.type, spark_types.TimestampNTZType):
            return f"timestampdiff(MICROSECOND, {EPOCH_IN_SQL}, {name})"
        return f"unix_micros({name})"

    def literal(self, number: int | None) -> str:
        """A number as SQL of the type."""
        if number is None:
            return f"CAST(NULL AS {self.type.simpleString()})"
        if isinstance(self.type, WHOLE):
            return f"CAST({number}L AS {self.type.simpleString()})"
        if isinstance(self.type, spark_types.DateType):
            return f"date_from_unix_date({number})"
        if isinstance(self.type, spark_types.TimestampType):
            return f"timestamp_micros({number}L)"
        return f"TIMESTAMP_NTZ'{EPOCH + timedelta(microseconds=number)}'"

    def shown(self, number: int) -> str:
        """A number as people read it, an instant in UTC."""
        if isinstance(self.type, WHOLE):
            return str(number)
        if isinstance(self.type, spark_types.DateType):
            return str(EPOCH.date() + timedelta(days=number))
        wall = EPOCH + timedelta(microseconds=number)
        return f"{wall} UTC" if isinstance(self.type, spark_types.TimestampType) else str(wall)


def shown_instant(microseconds_of_epoch: int) -> str:
    """An instant in UTC, as people read it."""
    return OrderTimes(spark_types.TimestampType()).shown(microseconds_of_epoch)
