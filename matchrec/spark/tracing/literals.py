"""Values of Python as SQL literals, to name a partition or a row."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from math import isfinite

from matchrec.errors.run.tracing import no_literal
from matchrec.plan.text.sql_text import string_literal


def literal(value: object, argument: str) -> str:
    """A value as SQL, which Spark compares with a column. argument: that has it, for messages.

    >>> literal("it's", "row"), literal(date(2024, 1, 2), "row")
    ("'it\\\\'s'", "DATE'2024-01-02'")
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return str(value)
        case float():
            return f"{value!r}D" if isfinite(value) else f"DOUBLE('{value}')"
        case Decimal():
            return f"{value:f}BD"
        case str():
            return string_literal(value)
        case datetime():
            return timestamp(value)
        case date():
            return f"DATE'{value.isoformat()}'"
        case timedelta():
            return f"make_dt_interval({value.days}, 0, 0, {value.seconds}.{value.microseconds:06d})"
    item = getattr(value, "item", None)  # a number of NumPy's
    if item is not None and not isinstance(plain := item(), type(value)):
        return literal(plain, argument)
    raise no_literal(argument, value)


def timestamp(value: datetime) -> str:
    """An instant, or a time in the session's zone."""
    if value.tzinfo is None:
        return f"TIMESTAMP'{value.isoformat(sep=' ')}'"
    instant = value.astimezone(timezone.utc).replace(tzinfo=None)
    return f"TIMESTAMP'{instant.isoformat(sep=' ')}+00:00'"
