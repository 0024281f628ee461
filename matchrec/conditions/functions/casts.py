"""CAST, TRY_CAST and `::` between numbers, texts, booleans, dates and timestamps.

There are three ways to handle a value that does not fit the target, for example 300 as a TINYINT:

    TRY_CAST, in any session       NULL     `build_lenient_cast`
    CAST in ANSI mode              error    `build_strict_cast`
    CAST without ANSI mode         44       `build_legacy_cast`: integers wrap around; NULL for
                                            most other types

Casts of floating-point numbers and of times to texts are not here, so that they are rejected when
the query is built. The text of a floating-point number depends on the version of Java, and the
texts of times from several rows are hardly ever needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from matchrec.conditions.functions import number_conversions, number_texts
from matchrec.conditions.functions.calendar import DAY, Zone, find_zone
from matchrec.conditions.functions.function import ANY_TYPE, Compute, Function, FunctionUse, Value
from matchrec.conditions.functions.number_conversions import NoValueError
from matchrec.conditions.types import (
    BIGINT,
    FLOAT,
    STRING,
    Family,
    ValueType,
    find_type,
    is_wide_decimal,
)


@dataclass(frozen=True, slots=True)
class Cast:
    """A cast from one type to another."""

    source: ValueType
    target: ValueType
    # The time zone of the session, such as Europe/Berlin.
    time_zone: str

    @property
    def zone(self) -> Zone:
        """Return the time zone of the session, with its rules."""
        return find_zone(self.time_zone)

    @property
    def has_float32_target(self) -> bool:
        """Return whether the result is a floating-point number of 32 bits."""
        return self.target == FLOAT


# Returns a value as another type. Raises NoValueError if it has no such value.
Converter = Callable[[Value, Cast], Value]
# Returns a number as an integer of some bits. Never fails.
Wrapper = Callable[[Value, int], int]


def find_cast_type(use: FunctionUse) -> ValueType | None:
    """Return the target of a cast, or None if Python does not have the cast."""
    target = find_type(use.words[0]) if use.words else None
    if target is None:
        return None
    source = use.types[0]
    has_cast = source == target or (source.family, target.family) in CONVERTERS
    return target if has_cast else None


def make_cast(use: FunctionUse) -> Cast:
    """Return the cast that a call needs, which `find_cast_type` has found to exist."""
    (source,) = use.types
    target = find_cast_type(use)
    assert target is not None
    return Cast(source, target, use.time_zone)


def build_cast(use: FunctionUse) -> Compute:
    """Return the function for CAST, which depends on ANSI mode."""
    return build_strict_cast(use) if use.ansi else build_legacy_cast(use)


def build_strict_cast(use: FunctionUse) -> Compute:
    """Return a cast as in ANSI mode: it raises NoValueError if the value does not fit."""
    cast = make_cast(use)
    source, target = cast.source, cast.target
    converter = keep_value if source == target else CONVERTERS[source.family, target.family]

    def compute(value: Value) -> Value:
        """Convert a value; raise NoValueError, which names both types, if it does not fit."""
        try:
            return converter(value, cast)
        except NoValueError:
            raise NoValueError(
                f"{value!r} of type {source.name} cannot be cast to {target.name}"
            ) from None

    return compute


def build_lenient_cast(use: FunctionUse) -> Compute:
    """Return a cast that is NULL if the value does not fit."""
    return return_null_on_failure(build_strict_cast(use))


def build_legacy_cast(use: FunctionUse) -> Compute:
    """Return a cast as without ANSI mode.

    - A number cast to an integer wraps around.
    - A text cast to an integer loses its fraction; it becomes NULL if it is too large or not a
      number.
    - A decimal cast to a text gets an exponent if it has many zeros after the point.
    - Any other value that does not fit becomes NULL.
    """
    cast = make_cast(use)
    source, target = cast.source, cast.target
    if target.family is Family.INTEGER and source.family in WRAPPERS:
        wrap = WRAPPERS[source.family]
        bits = target.bits
        return lambda number: wrap(number, bits)
    if target.family is Family.INTEGER and source.family is Family.STRING:
        return return_null_on_failure(
            lambda text: check_integer(number_texts.read_integer_part(text), cast)
        )
    if target == STRING and source.family is Family.DECIMAL:
        return str
    return build_lenient_cast(use)


def keep_value(value: Value, _: Cast) -> Value:
    """Return a value that has the type already."""
    return value


def return_null_on_failure(convert: Compute) -> Compute:
    """Return a conversion that is NULL if `convert` raises NoValueError."""

    def compute(value: Value) -> Value:
        """Convert a value; return NULL if it has no value in the other type."""
        try:
            return convert(value)
        except NoValueError:
            return None

    return compute


# Converters. They raise NoValueError if there is no value of the target.


def check_integer(number: int, cast: Cast) -> int:
    """Return an integer unchanged.

    Raises:
        NoValueError: the integer needs more bits than the target has.
    """
    if not number_conversions.fits(number, cast.target.bits):
        raise NoValueError
    return number


def truncate_floating(number: float) -> int:
    """Return a floating-point number without its fraction.

    Raises:
        NoValueError: the number is infinite or NaN.
    """
    if not math.isfinite(number):
        raise NoValueError
    return int(number)


def convert_floating_to_integer(number: float, cast: Cast) -> int:
    """Return a floating-point number without its fraction.

    2 ** 63 passes Spark's test of a bigint, and becomes the largest one.
    """
    integer = truncate_floating(number)
    if cast.target == BIGINT and integer == 1 << 63:
        integer -= 1
    return check_integer(integer, cast)


def convert_decimal_to_integer(number: Decimal, cast: Cast) -> int:
    """Return a decimal without its fraction.

    For a wide decimal and a target of fewer than 64 bits, Spark converts the decimal to a
    floating-point number first.
    """
    if is_wide_decimal(cast.source) and cast.target != BIGINT:
        return check_integer(truncate_floating(float(number)), cast)
    return check_integer(number_conversions.drop_fraction(number), cast)


def convert_exact_to_floating(number: int | Decimal, cast: Cast) -> float:
    """Return an integer or a decimal as a floating-point number of the target's width."""
    if cast.has_float32_target:
        return number_conversions.round_to_single(Fraction(number))
    return float(number)


def convert_floating(number: float, cast: Cast) -> float:
    """Return a floating-point number as one of the target's width."""
    return number_conversions.narrow_to_single(number) if cast.has_float32_target else number


def convert_text_to_floating(text: str, cast: Cast) -> float:
    """Return a text as a floating-point number of the target's width."""
    return number_texts.read_floating(text, is_single=cast.has_float32_target)


def rescale_to_target(number: Decimal, cast: Cast) -> Decimal:
    """Return a decimal as one of the target's precision and scale."""
    return number_conversions.rescale(number, cast.target.precision, cast.target.scale)


def wrap_decimal(number: Decimal, bits: int) -> int:
    """Return a decimal without its fraction, wrapped to a number of bits."""
    return number_conversions.wrap(number_conversions.drop_fraction(number), bits)


# How numbers of each family become integers without ANSI.
WRAPPERS: Mapping[Family, Wrapper] = {
    Family.INTEGER: number_conversions.wrap,
    Family.FLOATING: number_conversions.wrap_floating,
    Family.DECIMAL: wrap_decimal,
}

F = Family  # a short name for the table

# All casts that Python has, by the families of source and target.
CONVERTERS: Mapping[tuple[Family, Family], Converter] = {
    (F.INTEGER, F.INTEGER): check_integer,
    (F.FLOATING, F.INTEGER): convert_floating_to_integer,
    (F.DECIMAL, F.INTEGER): convert_decimal_to_integer,
    (F.STRING, F.INTEGER): lambda text, cast: check_integer(number_texts.read_integer(text), cast),
    (F.BOOLEAN, F.INTEGER): lambda value, _: int(value),
    (F.INTEGER, F.FLOATING): convert_exact_to_floating,
    (F.FLOATING, F.FLOATING): convert_floating,
    (F.DECIMAL, F.FLOATING): convert_exact_to_floating,
    (F.STRING, F.FLOATING): convert_text_to_floating,
    (F.BOOLEAN, F.FLOATING): lambda value, _: float(value),
    (F.INTEGER, F.DECIMAL): lambda number, cast: rescale_to_target(Decimal(number), cast),
    (F.DECIMAL, F.DECIMAL): rescale_to_target,
    (F.FLOATING, F.DECIMAL): lambda number, cast: number_conversions.convert_to_decimal(
        number, cast.target.precision, cast.target.scale
    ),
    (F.STRING, F.DECIMAL): lambda text, cast: rescale_to_target(
        number_texts.read_decimal(text), cast
    ),
    (F.BOOLEAN, F.DECIMAL): lambda value, cast: rescale_to_target(Decimal(int(value)), cast),
    (F.INTEGER, F.BOOLEAN): lambda number, _: bool(number),
    (F.FLOATING, F.BOOLEAN): lambda number, _: bool(number),
    (F.DECIMAL, F.BOOLEAN): lambda number, _: bool(number),
    (F.STRING, F.BOOLEAN): lambda text, _: number_texts.read_boolean(text),
    (F.INTEGER, F.STRING): lambda number, _: str(number),
    (F.DECIMAL, F.STRING): lambda number, _: f"{number:f}",
    (F.BOOLEAN, F.STRING): lambda value, _: "true" if value else "false",
    (F.DATE, F.TIMESTAMP): lambda day, cast: cast.zone.find_start_of_day(day),
    (F.DATE, F.TIMESTAMP_NTZ): lambda day, _: day * DAY,
    (F.TIMESTAMP, F.DATE): lambda instant, cast: cast.zone.convert_to_local(instant) // DAY,
    (F.TIMESTAMP_NTZ, F.DATE): lambda local, _: local // DAY,
    (F.TIMESTAMP, F.TIMESTAMP_NTZ): lambda instant, cast: cast.zone.convert_to_local(instant),
    (F.TIMESTAMP_NTZ, F.TIMESTAMP): lambda local, cast: cast.zone.convert_to_instant(local),
}

CASTS: Mapping[str, Function] = {
    "CAST": Function((ANY_TYPE,), find_cast_type, build_cast),
    "TRY_CAST": Function((ANY_TYPE,), find_cast_type, build_lenient_cast),
}
