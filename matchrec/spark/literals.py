"""Write values that the user has passed as literals of SQL."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isfinite

from pyspark.sql import types as spark_types

from matchrec.errors import inspection as errors
from matchrec.plan.text import quote_string


def write_literal(value: object, argument: str) -> str:
    """Return a value as a literal of SQL.

    Args:
        value: the value.
        argument: the argument that has the value, for messages.

    Raises:
        MatchRecognizePlanError: SQL has no literal for the value.

    >>> write_literal("it's", "row"), write_literal(date(2024, 1, 2), "row")
    ("'it\\\\'s'", "DATE'2024-01-02'")
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return str(int(value))
        case float():
            # A `numpy.float64` is a `float`, but its `repr` is not a literal.
            number = float(value)
            return f"{number!r}D" if isfinite(number) else f"DOUBLE('{number}')"
        case Decimal():
            return f"{value:f}BD"
        case str():
            return quote_string(value)
        case bytes() | bytearray():
            return f"X'{value.hex().upper()}'"
        case datetime():
            return f"TIMESTAMP'{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE'{value.isoformat()}'"
        case timedelta():
            return f"make_dt_interval({value.days}, 0, 0, {value.seconds}.{value.microseconds:06d})"
    to_python = getattr(value, "item", None)  # a number of NumPy has this method
    if callable(to_python):
        python_value = to_python()
        if not isinstance(python_value, type(value)):
            return write_literal(python_value, argument)
    raise errors.not_a_literal(argument=argument, value=value)


def convert_instant(value: object, type_: spark_types.DataType) -> object:
    """Return a value for a column of instants as PySpark reads it; other values unchanged.

    A time without a time zone is in the time zone of this program, whatever the session's zone is.
    """
    if isinstance(type_, spark_types.TimestampType) and isinstance(value, datetime):
        return value.astimezone()
    return value
