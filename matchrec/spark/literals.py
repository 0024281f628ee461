"""Write the values that users pass in `partition=` and `row=` as SQL literals."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any, cast

import numpy as np
from pyspark.sql import types as spark_types

from matchrec.errors import inspection as errors
from matchrec.plan.text import quote_string


def to_python_value(value: object) -> object:
    """Return a scalar of NumPy or pandas as a value of Python; any other value unchanged.

    A missing value becomes None. Digits after the microseconds are dropped.

    >>> to_python_value(np.float64(1.5)), to_python_value(np.datetime64("NaT"))
    (1.5, None)
    """
    if type(value).__name__ in ("NaTType", "NAType"):  # without loading pandas
        return None
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()
    if isinstance(value, np.timedelta64):
        return value.astype("timedelta64[us]").item()
    if isinstance(value, np.generic):
        return cast("object", value.item())
    if isinstance(value, datetime) and hasattr(value, "to_pydatetime"):  # a Timestamp of pandas
        return cast("object", cast("Any", value).to_pydatetime(warn=False))
    return value


def write_literal(value: object, argument: str) -> str:
    """Return a Python value as an SQL literal.

    Args:
        value: the value, as `to_python_value` returns it.
        argument: the name of the argument that has the value, for messages.

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
            return f"{float(value)!r}D" if isfinite(value) else f"DOUBLE('{value}')"
        case Decimal():
            # No DECIMAL of SQL is infinite or NaN.
            return f"{value:f}BD" if value.is_finite() else f"DOUBLE('{value}')"
        case str():
            return quote_string(value)
        case bytes() | bytearray():
            return f"X'{value.hex().upper()}'"
        case datetime():
            return f"TIMESTAMP'{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE'{value.isoformat()}'"
        case timedelta():
            return write_interval(value)
    raise errors.not_a_literal(argument=argument, value=value)


def write_interval(length: timedelta) -> str:
    """Return a length of time as an SQL literal.

    >>> print(write_interval(timedelta(days=1, seconds=5)), write_interval(-timedelta(hours=30)))
    INTERVAL '1 00:00:05' DAY TO SECOND INTERVAL '-1 06:00:00' DAY TO SECOND
    """
    size = abs(length)
    minutes, seconds = divmod(size.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{size.microseconds:06d}" if size.microseconds else ""
    sign = "-" if length < timedelta(0) else ""
    time_of_day = f"{hours:02d}:{minutes:02d}:{seconds:02d}{fraction}"
    return f"INTERVAL '{sign}{size.days} {time_of_day}' DAY TO SECOND"


def convert_instant(value: object, type_: spark_types.DataType) -> object:
    """Return a datetime for a column of instants with its time zone; any other value unchanged.

    As in PySpark, a datetime without a time zone is in the zone of this program, whatever the
    session's zone is.

    Args:
        value: a Python value.
        type_: the type of the column.
    """
    if isinstance(type_, spark_types.TimestampType) and isinstance(value, datetime):
        return value.astimezone()
    return value
