"""CAST, TRY_CAST and `::` between numbers, texts, booleans, dates and timestamps.

What Spark's text of a floating-point number is depends on the version of Java; and nobody puts
together the text of a time of several rows. These casts are refused when the query is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import partial

from matchrec.conditions.functions import numerals
from matchrec.conditions.functions.calendar import DAY, SECOND, Zone, find_zone
from matchrec.conditions.functions.function import Compute, Function, FunctionUse, Value
from matchrec.conditions.functions.numerals import NoValueError, wrap
from matchrec.conditions.types import FLOAT, STRING, Family, ValueType, is_wide_decimal, type_named


@dataclass(frozen=True, slots=True)
class Cast:
    """From one type to another, in the time zone of the session."""

    own: ValueType
    target: ValueType
    time_zone: str

    @property
    def zone(self) -> Zone:
        return find_zone(self.time_zone)

    @property
    def is_single(self) -> bool:
        return self.target == FLOAT


# How a value of one type becomes one of another. Raises NoValueError where there is none.
Rule = Callable[[Value, Cast], Value]

TRUE = frozenset({"t", "true", "y", "yes", "1"})
FALSE = frozenset({"f", "false", "n", "no", "0"})


def cast_type(use: FunctionUse) -> ValueType | None:
    target = type_named(use.words[0]) if use.words else None
    if target is None:
        return None
    own = use.types[0]
    return target if own == target or (own.family, target.family) in RULES else None


def cast_strictly(use: FunctionUse) -> Compute:
    """Under ANSI, where what does not fit is an error; that says what was cast."""
    (own,), target = use.types, cast_type(use)
    assert target is not None
    asked = Cast(own, target, use.time_zone)
    rule: Rule = (lambda value, _: value) if own == target else RULES[own.family, target.family]

    def cast(value: Value) -> Value:
        try:
            return rule(value, asked)
        except NoValueError:
            raise NoValueError(
                f"{value!r} of type {own.name} cannot be cast to {target.name}"
            ) from None

    return cast


def cast_leniently(use: FunctionUse) -> Compute:
    return null_without(cast_strictly(use))


def cast_as_set(use: FunctionUse) -> Compute:
    """Without ANSI, whole numbers are wrapped around, and what else does not fit is NULL."""
    target = cast_type(use)
    if use.ansi:
        return cast_strictly(use)
    if target is not None and target.family is Family.INTEGER:
        wrapping = WRAPPING.get(use.types[0].family)
        if wrapping is not None:
            return partial(wrapping, target.bits)
        if use.types[0].family is Family.STRING:
            asked = Cast(STRING, target, use.time_zone)
            return null_without(lambda text: whole(numerals.read_whole_part(text), asked))
    if use.types[0].family is Family.DECIMAL and target == STRING:
        return str
    return cast_leniently(use)


def null_without(convert: Compute) -> Compute:
    def cast(value: Value) -> Value:
        try:
            return convert(value)
        except NoValueError:
            return None

    return cast


def whole(number: int, cast: Cast) -> int:
    if not numerals.fits(number, cast.target.bits):
        raise NoValueError
    return number


def truncated(number: float) -> int:
    if number - number != 0:  # not finite
        raise NoValueError
    return int(number)


def floating_to_integer(number: float, cast: Cast) -> int:
    """2 ** 63 passes Spark's test of a bigint, and becomes the largest one."""
    found = truncated(number)
    return whole(found - (cast.target.bits == 64 and found == 1 << 63), cast)


def decimal_to_integer(number: Decimal, cast: Cast) -> int:
    """Spark tests a decimal of many digits as a floating-point number."""
    if is_wide_decimal(cast.own) and cast.target.bits < 64:
        return whole(truncated(float(number)), cast)
    return whole(numerals.whole_part(number), cast)


def exact_to_floating(number: int | Decimal, cast: Cast) -> float:
    return numerals.to_single(Fraction(number)) if cast.is_single else float(number)


def to_floating(number: float, cast: Cast) -> float:
    return numerals.narrow(number) if cast.is_single else number


def to_decimal(number: Decimal, cast: Cast) -> Decimal:
    try:
        return numerals.rescale(number, cast.target.precision, cast.target.scale)
    except InvalidOperation:
        raise NoValueError from None


def read_boolean(text: str) -> bool:
    word = text.strip(numerals.BLANK).lower()
    if word in TRUE or word in FALSE:
        return word in TRUE
    raise NoValueError


WRAPPING: Mapping[Family, Callable[[int, Value], int]] = {
    Family.INTEGER: lambda bits, number: wrap(number, bits),
    Family.FLOATING: numerals.wrap_floating,
    Family.DECIMAL: lambda bits, number: wrap(numerals.whole_part(number), bits),
}

F = Family
RULES: Mapping[tuple[Family, Family], Rule] = {
    (F.INTEGER, F.INTEGER): whole,
    (F.FLOATING, F.INTEGER): floating_to_integer,
    (F.DECIMAL, F.INTEGER): decimal_to_integer,
    (F.STRING, F.INTEGER): lambda text, cast: whole(numerals.read_whole(text), cast),
    (F.BOOLEAN, F.INTEGER): lambda value, _: int(value),
    (F.TIMESTAMP, F.INTEGER): lambda instant, cast: whole(instant // SECOND, cast),
    (F.INTEGER, F.FLOATING): exact_to_floating,
    (F.FLOATING, F.FLOATING): to_floating,
    (F.DECIMAL, F.FLOATING): exact_to_floating,
    (F.STRING, F.FLOATING): lambda text, cast: numerals.read_floating(text, single=cast.is_single),
    (F.BOOLEAN, F.FLOATING): lambda value, _: float(value),
    (F.TIMESTAMP, F.FLOATING): lambda instant, cast: to_floating(float(instant) / SECOND, cast),
    (F.INTEGER, F.DECIMAL): lambda number, cast: to_decimal(Decimal(number), cast),
    (F.DECIMAL, F.DECIMAL): to_decimal,
    (F.FLOATING, F.DECIMAL): lambda number, cast: numerals.floating_to_decimal(
        number, cast.target.precision, cast.target.scale
    ),
    (F.STRING, F.DECIMAL): lambda text, cast: to_decimal(numerals.read_decimal(text), cast),
    (F.BOOLEAN, F.DECIMAL): lambda value, cast: to_decimal(Decimal(int(value)), cast),
    (F.INTEGER, F.BOOLEAN): lambda number, _: bool(number),
    (F.FLOATING, F.BOOLEAN): lambda number, _: bool(number),
    (F.DECIMAL, F.BOOLEAN): lambda number, _: bool(number),
    (F.STRING, F.BOOLEAN): lambda text, _: read_boolean(text),
    (F.INTEGER, F.STRING): lambda number, _: str(number),
    (F.DECIMAL, F.STRING): lambda number, _: f"{number:f}",
    (F.BOOLEAN, F.STRING): lambda value, _: "true" if value else "false",
    (F.STRING, F.BINARY): lambda text, _: str.encode(text),
    (F.DATE, F.TIMESTAMP): lambda day, cast: cast.zone.start_of(day),
    (F.DATE, F.TIMESTAMP_NTZ): lambda day, _: day * DAY,
    (F.TIMESTAMP, F.DATE): lambda instant, cast: cast.zone.local(instant) // DAY,
    (F.TIMESTAMP_NTZ, F.DATE): lambda local, _: local // DAY,
    (F.TIMESTAMP, F.TIMESTAMP_NTZ): lambda instant, cast: cast.zone.local(instant),
    (F.TIMESTAMP_NTZ, F.TIMESTAMP): lambda local, cast: cast.zone.instant(local),
    # what leaves 64 bits is the first or the last instant
    (F.INTEGER, F.TIMESTAMP): lambda n, _: max(-(1 << 63), min((1 << 63) - 1, n * SECOND)),
}

CASTS: Mapping[str, Function] = {
    "CAST": Function((None,), cast_type, cast_as_set),
    "TRY_CAST": Function((None,), cast_type, cast_leniently),
}
