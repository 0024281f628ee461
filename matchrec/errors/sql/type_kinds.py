"""Kinds of types, and values of the user with their types.

Types of one kind get the same advice and are compared in the same way.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

# Spark's numeric types. DECIMAL has a precision and a scale, which are left out.
NUMBER_TYPES = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


class TypeKind(Enum):
    """A kind of Spark's types."""

    NUMBER = "number"
    STRING = "string"
    # A STRING with a collation.
    COLLATED = "collated"
    BOOLEAN = "boolean"
    BINARY = "binary"
    DATE = "date"
    # An instant, which has a local time in the time zone of the session.
    TIMESTAMP = "timestamp"
    # A local time without a time zone.
    TIMESTAMP_NTZ = "timestamp_ntz"
    # A time of day.
    TIME = "time"
    # An interval of days and parts of days.
    INTERVAL = "interval"
    # An interval of years and months.
    MONTHS = "months"
    # The literal NULL, which has any type. No name of a type has this kind.
    NULL = "null"
    # Arrays, maps, structs and rare types.
    OTHER = "other"


TIMES = frozenset((TypeKind.DATE, TypeKind.TIMESTAMP, TypeKind.TIMESTAMP_NTZ))
LENGTHS_OF_TIME = frozenset((TypeKind.INTERVAL, TypeKind.MONTHS))

# The kinds that a single type has, by its name.
_KINDS_OF_NAMES = {
    **dict.fromkeys(NUMBER_TYPES, TypeKind.NUMBER),
    "string": TypeKind.STRING,
    "boolean": TypeKind.BOOLEAN,
    "binary": TypeKind.BINARY,
    "date": TypeKind.DATE,
    "timestamp": TypeKind.TIMESTAMP,
    "timestamp_ntz": TypeKind.TIMESTAMP_NTZ,
    "time": TypeKind.TIME,
}


def classify_type(type_name: str) -> TypeKind:
    """Return the kind of a type, given its name in Spark in any case.

    >>> names = ("decimal(18,2)", "interval year to month", "array<int>")
    >>> [classify_type(name).name for name in names]
    ['NUMBER', 'MONTHS', 'OTHER']
    """
    name = type_name.split("(", maxsplit=1)[0].lower()
    if name in _KINDS_OF_NAMES:
        return _KINDS_OF_NAMES[name]
    if name.startswith("string collate"):
        return TypeKind.COLLATED
    if name.startswith("interval "):
        has_months = "month" in name or "year" in name
        return TypeKind.MONTHS if has_months else TypeKind.INTERVAL
    return TypeKind.OTHER


class TypedText(NamedTuple):
    """A value in the user's text, and its type."""

    # The value as the user wrote it, or as SQL.
    text: str
    # The type as Spark names it, such as `array<string>`.
    type_name: str

    @property
    def kind(self) -> TypeKind:
        """The kind of the type."""
        return classify_type(self.type_name)

    @property
    def outer_type(self) -> str:
        """The type without its brackets and their content: `array` for `array<string>`."""
        return re.split(r"[<(]", self.type_name, maxsplit=1)[0]
