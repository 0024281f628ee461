"""The types of values, as far as the match must tell them apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """How a value is held while matching."""

    INTEGER = "int64"
    FLOATING = "float64"


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
    ARRAY = "array"
    STRUCT = "struct"
    MAP = "map"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ValueType:
    """A type, by its name in Spark. bits: of an INTEGER. precision, scale: of a DECIMAL.

    parts: of an ARRAY its element, of a MAP its key and its value, of a STRUCT its fields.
    """

    family: Family
    name: str
    bits: int = 64
    precision: int = 0
    scale: int = 0
    parts: tuple[ValueType, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def element(self) -> ValueType | None:
        return self.parts[0] if self.family is Family.ARRAY else None

    @property
    def is_ordered(self) -> bool:
        """Whether its values compare: not if a map is among them."""
        return self.family is not Family.MAP and all(part.is_ordered for part in self.parts)

    @property
    def kind(self) -> Kind:
        return Kind.FLOATING if self.family is Family.FLOATING else Kind.INTEGER


BOOLEAN = ValueType(Family.BOOLEAN, "boolean")
BIGINT = ValueType(Family.INTEGER, "bigint")
INT = ValueType(Family.INTEGER, "int", 32)
FLOAT = ValueType(Family.FLOATING, "float")
DOUBLE = ValueType(Family.FLOATING, "double")
VOID = ValueType(Family.OTHER, "void")
INTERVAL = ValueType(Family.INTERVAL, "interval day to second")
MONTHS = ValueType(Family.MONTHS, "interval year to month")
DATE = ValueType(Family.DATE, "date")
STRING = ValueType(Family.STRING, "string")

NUMBERS = frozenset({Family.INTEGER, Family.FLOATING, Family.DECIMAL})
TIMES = frozenset({Family.DATE, Family.TIMESTAMP, Family.TIMESTAMP_NTZ})

# The families of intervals, each with the type of its sums, quotients and the like.
SPANS: Mapping[Family, ValueType] = {Family.INTERVAL: INTERVAL, Family.MONTHS: MONTHS}

NESTED = frozenset({Family.ARRAY, Family.STRUCT, Family.MAP})

# Types whose order and equality are left to Spark, but for conditions on the run.
SPARKS_OWN = NESTED | {Family.OTHER}

RANKED = NESTED | {Family.STRING, Family.BINARY}
NARROW_DIGITS = 18  # of a decimal that is held as an int64, at most
MOST_DIGITS = 38  # of any decimal


def is_wide_decimal(type_: ValueType) -> bool:
    """Whether a decimal has more digits than an int64 surely holds."""
    return type_.family is Family.DECIMAL and type_.precision > NARROW_DIGITS


def is_ranked(type_: ValueType) -> bool:
    """Whether the engine knows values of a type by their rank only, and Python those computed."""
    return type_.family in RANKED or is_wide_decimal(type_)


def array(element: ValueType) -> ValueType:
    return nested(Family.ARRAY, (), (element,))


def nested(family: Family, names: tuple[str, ...], parts: tuple[ValueType, ...]) -> ValueType:
    """The type of arrays, structs or maps of such parts. names: of the fields of a struct."""
    before = [f"{name}:" for name in names] or [""] * len(parts)
    shown = ",".join(name + part.name for name, part in zip(before, parts, strict=True))
    return ValueType(family, f"{family.value}<{shown}>", parts=parts, names=names)


def unnamed(type_: ValueType) -> ValueType:
    """The type with other names of fields: structs compare that differ in these alone."""
    names = tuple(map(str, range(len(type_.names))))
    parts = tuple(map(unnamed, type_.parts))
    return nested(type_.family, names, parts) if type_.family in NESTED else type_


def decimal(precision: int, scale: int) -> ValueType:
    """The decimal type of so many digits, at most 38, `scale` of them after the point."""
    precision = min(precision, 38)
    return ValueType(Family.DECIMAL, f"decimal({precision},{scale})", 64, precision, scale)


DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}


def as_decimal(type_: ValueType) -> ValueType:
    if type_.family is Family.INTEGER:
        return decimal(DIGITS[type_.bits], 0)
    assert type_.family is Family.DECIMAL
    return type_


def common_type(one: ValueType, other: ValueType, ansi: bool) -> ValueType | None:
    """The type in which Spark compares two numbers, or None where there is none."""
    families = {one.family, other.family}
    if Family.FLOATING in families:  # without ANSI, an integer becomes a FLOAT beside one
        others = [type_ for type_ in (one, other) if type_ != FLOAT]
        whole = not ansi and len(others) == 1 and others[0].family is Family.INTEGER
        return FLOAT if whole or not others else DOUBLE
    if families == {Family.INTEGER}:
        return one if one.bits >= other.bits else other
    left, right = as_decimal(one), as_decimal(other)
    scale = max(left.scale, right.scale)
    digits = max(left.precision - left.scale, right.precision - right.scale) + scale
    return decimal(digits, scale) if digits <= 38 else None


def sum_type(type_: ValueType) -> ValueType:
    if type_.family is Family.DECIMAL:
        return decimal(type_.precision + 10, type_.scale)
    return DOUBLE if type_.family is Family.FLOATING else BIGINT


def average_type(type_: ValueType) -> ValueType:
    if type_.family is Family.DECIMAL:
        return decimal(type_.precision + 4, min(38, type_.scale + 4))
    return DOUBLE


SMALLINT = ValueType(Family.INTEGER, "smallint", 16)
TINYINT = ValueType(Family.INTEGER, "tinyint", 8)
TIMESTAMP = ValueType(Family.TIMESTAMP, "timestamp")
TIMESTAMP_NTZ = ValueType(Family.TIMESTAMP_NTZ, "timestamp_ntz")
BINARY = ValueType(Family.BINARY, "binary")

NAMED = BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, STRING, BINARY, DATE
NAMES = {type_.name.upper(): type_ for type_ in (*NAMED, TIMESTAMP, TIMESTAMP_NTZ)} | {
    "BYTE": TINYINT,
    "SHORT": SMALLINT,
    "INTEGER": INT,
    "LONG": BIGINT,
    "REAL": FLOAT,
    "TIMESTAMP_LTZ": TIMESTAMP,
}
DECIMALS = frozenset({"DECIMAL", "DEC", "NUMERIC"})


def type_named(name: str) -> ValueType | None:
    """The type, or None where Python does not have its values.

    >>> type_named("DEC(5,2)").name, type_named("MAP<INT,INT>")
    ('decimal(5,2)', None)
    """
    kind, _, written = name.removesuffix(")").partition("(")
    digits = written.split(",") if written else ["10"]
    if kind not in DECIMALS or len(digits) > 2 or not all(map(str.isdecimal, digits)):
        return NAMES.get(name)
    precision, scale = map(int, (*digits, "0")[:2])
    return decimal(precision, scale) if scale <= precision <= 38 else None
