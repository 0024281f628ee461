"""The types of values, as far as matching distinguishes them.

    `ValueType`, BOOLEAN, INT, ...     a type of Spark, and the types that have no arguments
    `build_..._type`                   types of decimals, arrays, structs and maps
    `find_comparison_type`, ...        the types to which Spark casts two values to compare them
    `find_arithmetic_type`, ...        the types of arithmetic of decimals, of sums and averages
    `find_type`                        the type with a name in SQL

No Spark is needed to know these types: the rules are Spark's, written down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """How values are held during the match."""

    INTEGER = "int64"
    FLOATING = "float64"


class Family(Enum):
    """A group of types for which the search compares values and computes with them in one way.

    Values of OTHER, except for NULL, cannot be compared, and the search cannot compute with them.
    """

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
    """A type of Spark."""

    family: Family
    # The name as Spark prints it, such as `decimal(10,2)`.
    name: str
    # The width of an INTEGER; 64 for every other type.
    bits: int = 64
    # The number of digits of a DECIMAL, and how many of them are after the point; 0 for every other
    # type.
    precision: int = 0
    scale: int = 0
    # The types inside: the element of an ARRAY, the key and the value of a MAP, the fields of a
    # STRUCT.
    parts: tuple[ValueType, ...] = ()
    # The names of the fields of a STRUCT.
    names: tuple[str, ...] = ()

    @property
    def element(self) -> ValueType | None:
        """Return the type of the elements of an ARRAY; None for any other type."""
        return self.parts[0] if self.family is Family.ARRAY else None

    @property
    def is_ordered(self) -> bool:
        """Return whether values can be compared: no maps, and no values that contain maps.

        True for OTHER, because the type of NULL belongs to this family.
        """
        return self.family is not Family.MAP and all(part.is_ordered for part in self.parts)

    @property
    def kind(self) -> Kind:
        """Return how values of the type are held during the match."""
        return Kind.FLOATING if self.family is Family.FLOATING else Kind.INTEGER


BOOLEAN = ValueType(Family.BOOLEAN, "boolean")
TINYINT = ValueType(Family.INTEGER, "tinyint", 8)
SMALLINT = ValueType(Family.INTEGER, "smallint", 16)
INT = ValueType(Family.INTEGER, "int", 32)
BIGINT = ValueType(Family.INTEGER, "bigint")
FLOAT = ValueType(Family.FLOATING, "float")
DOUBLE = ValueType(Family.FLOATING, "double")
DATE = ValueType(Family.DATE, "date")
TIMESTAMP = ValueType(Family.TIMESTAMP, "timestamp")
TIMESTAMP_NTZ = ValueType(Family.TIMESTAMP_NTZ, "timestamp_ntz")
INTERVAL = ValueType(Family.INTERVAL, "interval day to second")
MONTHS = ValueType(Family.MONTHS, "interval year to month")
STRING = ValueType(Family.STRING, "string")
BINARY = ValueType(Family.BINARY, "binary")
VOID = ValueType(Family.OTHER, "void")  # the type of NULL

NUMBERS = frozenset({Family.INTEGER, Family.FLOATING, Family.DECIMAL})
TIMES = frozenset({Family.DATE, Family.TIMESTAMP, Family.TIMESTAMP_NTZ})

# For each family of intervals, the type of sums, quotients and other results.
INTERVAL_TYPES: Mapping[Family, ValueType] = {Family.INTERVAL: INTERVAL, Family.MONTHS: MONTHS}

NESTED = frozenset({Family.ARRAY, Family.STRUCT, Family.MAP})

# Families whose values only the engine compares, except in conditions on the run.
COMPARED_BY_ENGINE = NESTED | {Family.OTHER}

# Families for which the search can have ranks instead of values, see `is_ranked`.
RANKED_FAMILIES = NESTED | {Family.STRING, Family.BINARY}

NARROW_DIGITS = 18  # the precision up to which an int64 holds every decimal
MAX_DIGITS = 38  # the largest precision of a decimal


def is_wide_decimal(type_: ValueType) -> bool:
    """Return whether a type is a decimal with values that an int64 cannot hold."""
    return type_.family is Family.DECIMAL and type_.precision > NARROW_DIGITS


def is_ranked(type_: ValueType) -> bool:
    """Return whether the search has ranks instead of the values of a type, to compare them.

    A value of such a type that is computed during the match has no rank. Only Python holds it.
    """
    return type_.family in RANKED_FAMILIES or is_wide_decimal(type_)


def build_array_type(element: ValueType) -> ValueType:
    """Return the type of arrays whose elements have this type."""
    return build_nested_type(Family.ARRAY, (), (element,))


def build_nested_type(
    family: Family, names: tuple[str, ...], parts: tuple[ValueType, ...]
) -> ValueType:
    """Return a type of arrays, structs or maps.

    >>> build_nested_type(Family.STRUCT, ("id", "name"), (INT, STRING)).name
    'struct<id:int,name:string>'

    Args:
        family: ARRAY, STRUCT or MAP.
        names: the names of the fields of a struct; empty for arrays and maps.
        parts: see `ValueType.parts`.
    """
    prefixes = [f"{name}:" for name in names] or [""] * len(parts)
    contents = ",".join(prefix + part.name for prefix, part in zip(prefixes, parts, strict=True))
    return ValueType(family, f"{family.value}<{contents}>", parts=parts, names=names)


def remove_field_names(type_: ValueType) -> ValueType:
    """Return the type with numbers for the names of its fields, at any depth.

    Structs can be compared if their types differ in these names alone.
    """
    if type_.family not in NESTED:
        return type_
    numbers = tuple(str(index) for index in range(len(type_.names)))
    parts = tuple(remove_field_names(part) for part in type_.parts)
    return build_nested_type(type_.family, numbers, parts)


def build_decimal_type(precision: int, scale: int) -> ValueType:
    """Return a type of decimals.

    Args:
        precision: the number of digits. A number above 38 becomes 38.
        scale: how many of the digits are after the point.
    """
    precision = min(precision, MAX_DIGITS)
    name = f"decimal({precision},{scale})"
    return ValueType(Family.DECIMAL, name, precision=precision, scale=scale)


# For each width of integers, the precision of the decimal type that holds all of them.
DIGITS_BY_BITS = {8: 3, 16: 5, 32: 10, 64: 20}


def find_decimal_type(type_: ValueType) -> ValueType:
    """Return the decimal type that holds all values of an integer or decimal type."""
    if type_.family is Family.INTEGER:
        return build_decimal_type(DIGITS_BY_BITS[type_.bits], 0)
    assert type_.family is Family.DECIMAL
    return type_


def find_comparison_type(left: ValueType, right: ValueType, *, ansi: bool) -> ValueType | None:
    """Return the type to which Spark casts numbers of two types to compare them.

    It is the wider of two integer types, or a decimal type with all digits of both; None if these
    are more than 38. If one of the numbers is floating, see `find_common_floating`.
    """
    families = {left.family, right.family}
    if Family.FLOATING in families:
        return find_common_floating(left, right, ansi=ansi)
    if families == {Family.INTEGER}:
        return left if left.bits >= right.bits else right
    decimals = [find_decimal_type(left), find_decimal_type(right)]
    scale = max(type_.scale for type_ in decimals)
    whole_digits = max(type_.precision - type_.scale for type_ in decimals)
    precision = whole_digits + scale
    return build_decimal_type(precision, scale) if precision <= MAX_DIGITS else None


def find_common_floating(left: ValueType, right: ValueType, *, ansi: bool) -> ValueType:
    """Return the type to which Spark casts two numbers if at least one of them is floating.

    It is FLOAT if both numbers are FLOAT. Without ANSI mode, it is also FLOAT if one of them is
    FLOAT and the other one is an integer. Otherwise, it is DOUBLE.
    """
    other_types = [type_ for type_ in (left, right) if type_ != FLOAT]
    if not other_types:
        return FLOAT
    is_float_with_integer = len(other_types) == 1 and other_types[0].family is Family.INTEGER
    return FLOAT if is_float_with_integer and not ansi else DOUBLE


def find_common_nested_type(left: ValueType, right: ValueType, *, ansi: bool) -> ValueType | None:
    """Return the type to which Spark casts two nested values, or two parts of them.

    For array<int> and array<bigint>, the result is array<bigint>. None if they have no common type.
    """
    if left == right or right == VOID:
        return left
    if left == VOID:
        return right
    if left.family in NUMBERS and right.family in NUMBERS:
        return find_comparison_type(left, right, ansi=ansi)
    if left.family is not right.family or left.family not in NESTED or left.names != right.names:
        return None
    parts = []
    for left_part, right_part in zip(left.parts, right.parts, strict=True):
        part = find_common_nested_type(left_part, right_part, ansi=ansi)
        if part is None:
            return None
        parts.append(part)
    return build_nested_type(left.family, left.names, tuple(parts))


GUARANTEED_SCALE = 6  # the digits after the point that Spark keeps in any case


def find_arithmetic_type(operator: str, left: ValueType, right: ValueType) -> ValueType:
    """Return the type of `+`, `-`, `*`, `/` or `%` of two decimals.

    A type with more than 38 digits loses digits after the point: as few as possible, and never one
    of the first six.

    >>> price = build_decimal_type(5, 2)
    >>> find_arithmetic_type("+", price, price).name, find_arithmetic_type("*", price, price).name
    ('decimal(6,2)', 'decimal(11,4)')
    """
    scale = max(left.scale, right.scale)
    left_whole_digits = left.precision - left.scale
    right_whole_digits = right.precision - right.scale
    match operator:
        case "*":
            scale = left.scale + right.scale
            digits = left.precision + right.precision + 1
        case "/":
            scale = max(GUARANTEED_SCALE, left.scale + right.precision + 1)
            digits = left_whole_digits + right.scale + scale
        case "%":
            digits = min(left_whole_digits, right_whole_digits) + scale
        case _:
            digits = max(left_whole_digits, right_whole_digits) + scale + 1
    if digits > MAX_DIGITS:
        whole_digits = digits - scale
        scale = max(MAX_DIGITS - whole_digits, min(scale, GUARANTEED_SCALE))
    return build_decimal_type(digits, scale)


# The number of digits that a sum and an average of decimals have in Spark beyond the digits of the
# values. The digits of an average are added after the point.
ADDED_BY_SUM = 10
ADDED_BY_AVERAGE = 4

# Spark computes a sum of two decimals, or a quotient, with more digits than the result. If these
# might not fit 38 digits, it keeps only six after the point. So a sum or an average in SQL is exact
# if its result has at most this number of digits, or at most six digits after the point.
DIGITS_OF_SUM = 37
DIGITS_OF_AVERAGE = 28


def keeps_digits(precision: int, scale: int, max_digits: int) -> bool:
    """Return whether SQL computes decimals of this type without losing digits.

    Args:
        precision: the number of digits of the result.
        scale: how many of them are after the point.
        max_digits: DIGITS_OF_SUM or DIGITS_OF_AVERAGE.
    """
    return precision <= max_digits or scale <= GUARANTEED_SCALE


def find_sum_precision(precision: int) -> int:
    """Return the number of digits of Spark's `sum` of decimals with `precision` digits."""
    return min(MAX_DIGITS, precision + ADDED_BY_SUM)


def find_sum_type(type_: ValueType) -> ValueType:
    """Return the type of Spark's `sum` of numbers of a type."""
    if type_.family is Family.DECIMAL:
        return build_decimal_type(find_sum_precision(type_.precision), type_.scale)
    return DOUBLE if type_.family is Family.FLOATING else BIGINT


def find_average_type(type_: ValueType) -> ValueType:
    """Return the type of Spark's `avg` of numbers of a type."""
    if type_.family is Family.DECIMAL:
        scale = min(MAX_DIGITS, type_.scale + ADDED_BY_AVERAGE)
        return build_decimal_type(type_.precision + ADDED_BY_AVERAGE, scale)
    return DOUBLE


# The types without arguments, by their names in SQL.
TYPES_BY_NAME = {
    type_.name.upper(): type_
    for type_ in (
        BOOLEAN,
        TINYINT,
        SMALLINT,
        INT,
        BIGINT,
        FLOAT,
        DOUBLE,
        STRING,
        BINARY,
        DATE,
        TIMESTAMP,
        TIMESTAMP_NTZ,
    )
} | {
    "BYTE": TINYINT,
    "SHORT": SMALLINT,
    "INTEGER": INT,
    "LONG": BIGINT,
    "REAL": FLOAT,
    "TIMESTAMP_LTZ": TIMESTAMP,
}
DECIMAL_NAMES = frozenset({"DECIMAL", "DEC", "NUMERIC"})
DEFAULT_PRECISION = "10"  # of the type DECIMAL without arguments, in Spark


def find_type(name: str) -> ValueType | None:
    """Return the type that has a name in SQL, such as INT or DECIMAL(5,2).

    None if there is no such type, or if Python cannot compute its values.

    >>> find_type("DEC(5,2)").name, find_type("MAP<INT,INT>")
    ('decimal(5,2)', None)

    Args:
        name: the name, in upper case and without blanks.
    """
    word, _, arguments = name.removesuffix(")").partition("(")
    if word not in DECIMAL_NAMES:
        return TYPES_BY_NAME.get(name)
    numbers = arguments.split(",") if arguments else [DEFAULT_PRECISION]
    if len(numbers) > 2 or not all(number.isdecimal() for number in numbers):
        return None
    precision = int(numbers[0])
    scale = int(numbers[1]) if len(numbers) > 1 else 0
    return build_decimal_type(precision, scale) if scale <= precision <= MAX_DIGITS else None
