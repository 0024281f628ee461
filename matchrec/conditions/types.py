"""The types of values, as far as the match must tell them apart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Family(Enum):
    """Types that compare and compute alike while matching; OTHER does neither."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOATING = "floating"
    DECIMAL = "decimal"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp_ntz"
    INTERVAL = "day-time interval"
    TIME = "time"
    MONTHS = "year-month interval"
    STRING = "string"
    BINARY = "binary"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ValueType:
    """The type of a column.

    name: as Spark spells it. bits: width of an INTEGER. precision, scale: of a DECIMAL.
    """

    family: Family
    name: str
    bits: int = 64
    precision: int = 0
    scale: int = 0


BOOLEAN = ValueType(Family.BOOLEAN, "boolean")
BIGINT = ValueType(Family.INTEGER, "bigint")
INT = ValueType(Family.INTEGER, "int", 32)
DOUBLE = ValueType(Family.FLOATING, "double")
VOID = ValueType(Family.OTHER, "void")
INTERVAL = ValueType(Family.INTERVAL, "interval day to second")

DATE = ValueType(Family.DATE, "date")

NUMBERS = frozenset({Family.INTEGER, Family.FLOATING, Family.DECIMAL})


def decimal(precision: int, scale: int) -> ValueType:
    """The decimal type of so many digits, `scale` of them after the point."""
    return ValueType(Family.DECIMAL, f"decimal({precision},{scale})", 64, precision, scale)
