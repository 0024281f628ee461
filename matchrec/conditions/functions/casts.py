"""CAST, TRY_CAST and `::` between numbers, texts, booleans, dates and timestamps.

What Spark's text of a floating-point number is depends on the version of Java: that cast is not
here, so that it is refused when the query is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import partial

from matchrec.conditions.functions.calendar import (
    DAY,
    SECOND,
    find_zone,
    read_day,
    read_instant,
    read_without_zone,
    show_day,
    show_time,
)
from matchrec.conditions.functions.function import Compute, Function, FunctionUse, Value
from matchrec.conditions.functions.numerals import (
    BLANK,
    NoValueError,
    fits,
    floating_to_decimal,
    narrow,
    read_decimal,
    read_floating,
    read_whole,
    read_whole_part,
    rescale,
    to_single,
    whole_part,
    wrap,
    wrap_floating,
)
from matchrec.conditions.types import STRING, Family, ValueType, is_wide_decimal, type_named

Rule = Callable[[ValueType, ValueType, FunctionUse], Compute]
"""How values of one type become values of another. Raises NoValueError where one has none."""

TRUE = frozenset({"t", "true", "y", "yes", "1"})
FALSE = frozenset({"f", "false", "n", "no", "0"})


def cast_type(use: FunctionUse) -> ValueType | None:
    """The type that is named, if there is such a cast."""
    target = type_named(use.words[0]) if use.words else None
    if target is None:
        return None
    own = use.types[0]
    return target if own == target or (own.family, target.family) in RULES else None


def cast_strictly(use: FunctionUse) -> Compute:
    """Under ANSI, where what does not fit is an error; that says what was cast."""
    (own,), target = use.types, cast_type(use)
    assert target is not None
    convert: Compute = (
        identity if own == target else RULES[own.family, target.family](own, target, use)
    )

    def cast(value: Value) -> Value:
        try:
            return convert(value)
        except NoValueError:
            raise NoValueError(f"{value!r} of type {own.name} is no {target.name}") from None

    return cast


def cast_leniently(use: FunctionUse) -> Compute:
    """What does not fit is NULL."""
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
            return null_without(whole_number(read_whole_part, target.bits))
    if use.types[0].family is Family.DECIMAL and target == STRING:
        return str
    return cast_leniently(use)


def null_without(convert: Compute) -> Compute:
    """NULL for what has no value."""

    def cast(value: Value) -> Value:
        try:
            return convert(value)
        except NoValueError:
            return None

    return cast


def identity(value: Value) -> Value:
    return value


def whole_number(read: Callable[[Value], int], bits: int) -> Compute:
    """A whole number of so many bits."""

    def convert(value: Value) -> int:
        number = read(value)
        if not fits(number, bits):
            raise NoValueError
        return number

    return convert


def to_integer(read: Callable[[Value], int]) -> Rule:
    return lambda _, target, __: whole_number(read, target.bits)


def floating_to_integer(_: ValueType, target: ValueType, __: FunctionUse) -> Compute:
    if target.bits == 64:
        return floating_to_long
    return whole_number(truncated, target.bits)


def truncated(number: float) -> int:
    if number - number != 0:  # not finite
        raise NoValueError
    return int(number)


def floating_to_long(number: float) -> int:
    """2 ** 63 passes Spark's test, and becomes the largest number."""
    found = truncated(number)
    if not -(1 << 63) <= found <= 1 << 63:
        raise NoValueError
    return min(found, (1 << 63) - 1)


def decimal_to_integer(own: ValueType, target: ValueType, _: FunctionUse) -> Compute:
    """Spark tests a decimal of many digits as a floating-point number."""
    if is_wide_decimal(own) and target.bits < 64:
        return whole_number(lambda number: truncated(float(number)), target.bits)
    return whole_number(whole_part, target.bits)


def integer_to_floating(_: ValueType, target: ValueType, __: FunctionUse) -> Compute:
    return float if target.name == "double" else lambda number: to_single(Fraction(number))


def floating_to_floating(_: ValueType, target: ValueType, __: FunctionUse) -> Compute:
    return identity if target.name == "double" else narrow


def instant_to_floating(_: ValueType, target: ValueType, __: FunctionUse) -> Compute:
    if target.name == "double":
        return lambda instant: float(instant) / SECOND
    return lambda instant: narrow(float(instant) / SECOND)


def to_decimal(read: Callable[[Value], Decimal]) -> Rule:
    def rule(_: ValueType, target: ValueType, __: FunctionUse) -> Compute:
        def convert(value: Value) -> Decimal:
            try:
                return rescale(read(value), target.precision, target.scale)
            except InvalidOperation:
                raise NoValueError from None

        return convert

    return rule


def to_rounded_decimal(_: ValueType, target: ValueType, __: FunctionUse) -> Compute:
    return lambda number: floating_to_decimal(number, target.precision, target.scale)


def read_boolean(text: str) -> bool:
    word = text.strip(BLANK).lower()
    if word in TRUE or word in FALSE:
        return word in TRUE
    raise NoValueError


def always(compute: Compute) -> Rule:
    return lambda *_: compute


def text_to_floating(_: ValueType, target: ValueType, __: FunctionUse) -> Compute:
    return partial(read_floating, single=target.name == "float")


def show_plainly(number: Decimal) -> str:
    return f"{number:f}"


def show_boolean(value: bool) -> str:
    return "true" if value else "false"


def seconds_to_instant(seconds: int) -> int:
    """What leaves 64 bits is the first or the last instant."""
    return max(-(1 << 63), min((1 << 63) - 1, seconds * SECOND))


WRAPPING: Mapping[Family, Callable[[int, Value], int]] = {
    Family.INTEGER: lambda bits, number: wrap(number, bits),
    Family.FLOATING: wrap_floating,
    Family.DECIMAL: lambda bits, number: wrap(whole_part(number), bits),
}

F = Family
RULES: Mapping[tuple[Family, Family], Rule] = {
    (F.INTEGER, F.INTEGER): to_integer(identity),
    (F.FLOATING, F.INTEGER): floating_to_integer,
    (F.DECIMAL, F.INTEGER): decimal_to_integer,
    (F.STRING, F.INTEGER): to_integer(read_whole),
    (F.BOOLEAN, F.INTEGER): always(int),
    (F.TIMESTAMP, F.INTEGER): to_integer(lambda instant: instant // SECOND),
    (F.INTEGER, F.FLOATING): integer_to_floating,
    (F.FLOATING, F.FLOATING): floating_to_floating,
    (F.DECIMAL, F.FLOATING): integer_to_floating,
    (F.STRING, F.FLOATING): text_to_floating,
    (F.BOOLEAN, F.FLOATING): always(float),
    (F.INTEGER, F.DECIMAL): to_decimal(Decimal),
    (F.DECIMAL, F.DECIMAL): to_decimal(identity),
    (F.FLOATING, F.DECIMAL): to_rounded_decimal,
    (F.STRING, F.DECIMAL): to_decimal(read_decimal),
    (F.BOOLEAN, F.DECIMAL): to_decimal(lambda value: Decimal(int(value))),
    (F.INTEGER, F.BOOLEAN): always(bool),
    (F.FLOATING, F.BOOLEAN): always(bool),
    (F.DECIMAL, F.BOOLEAN): always(bool),
    (F.STRING, F.BOOLEAN): always(read_boolean),
    (F.INTEGER, F.STRING): always(str),
    (F.DECIMAL, F.STRING): always(show_plainly),
    (F.BOOLEAN, F.STRING): always(show_boolean),
    (F.DATE, F.STRING): always(show_day),
    (F.TIMESTAMP, F.STRING): lambda _, __, use: _local(use, show_time),
    (F.TIMESTAMP_NTZ, F.STRING): always(show_time),
    (F.STRING, F.BINARY): always(str.encode),
    (F.STRING, F.DATE): always(read_day),
    (F.STRING, F.TIMESTAMP): lambda _, __, use: partial(
        read_instant, zone=find_zone(use.time_zone)
    ),
    (F.STRING, F.TIMESTAMP_NTZ): always(read_without_zone),
    (F.DATE, F.TIMESTAMP): lambda _, __, use: find_zone(use.time_zone).start_of,
    (F.DATE, F.TIMESTAMP_NTZ): always(lambda day: day * DAY),
    (F.TIMESTAMP, F.DATE): lambda _, __, use: _local(use, lambda local: local // DAY),
    (F.TIMESTAMP_NTZ, F.DATE): always(lambda local: local // DAY),
    (F.TIMESTAMP, F.TIMESTAMP_NTZ): lambda _, __, use: find_zone(use.time_zone).local,
    (F.TIMESTAMP_NTZ, F.TIMESTAMP): lambda _, __, use: find_zone(use.time_zone).instant,
    (F.INTEGER, F.TIMESTAMP): always(seconds_to_instant),
    (F.TIMESTAMP, F.FLOATING): instant_to_floating,
}
"""Every cast that Python does, by the families of its types."""


def _local(use: FunctionUse, compute: Callable[[int], Value]) -> Compute:
    """Of the local time of an instant."""
    local = find_zone(use.time_zone).local
    return lambda instant: compute(local(instant))


CASTS: Mapping[str, Function] = {
    "CAST": Function((None,), cast_type, cast_as_set),
    "TRY_CAST": Function((None,), cast_type, cast_leniently),
}
