"""The types of CSV columns: which type fits all values of a column, and what the values are.

A column has the first type of a chain that fits all of its values:

    BOOLEAN
    INT, BIGINT, DECIMAL(38, 0), DOUBLE
    DATE, TIMESTAMP
    STRING, if no other type fits

In a chain each type fits every value that the types before it fit, so a reader that has seen some
rows needs to keep only the types from the first fitting one on. docs/how-to/command_line.md has the
table for users.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from matchrec.errors import command as errors
from matchrec.spark.time_zones import find_offset, find_region

Array = Any  # of pyarrow, which has no types

DECIMAL_DIGITS = 38

# A whole number of more digits than a decimal has stays a text: a double would lose some of them.
DOUBLE = r"[+-]?(?:\d{1,38}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|NaN|[+-]?Inf(?:inity)?"
WHOLE_NUMBER = r"[+-]?\d+"
DATE = r"\d{4}-\d\d-\d\d"
TIME = (
    rf"(?P<day>{DATE})"
    r"(?:[T ](?P<minute>\d\d:\d\d)(?P<second>:\d\d)?(?:\.(?P<fraction>\d{1,9}))?"
    r" ?(?P<offset>Z|[+-]\d\d(?::?\d\d)?)?)?"
)
FINER_THAN_MICROSECONDS = r"\.\d{6}\d*[1-9]"
MICROSECONDS = pa.timestamp("us")
INSTANTS = pa.timestamp("us", "UTC")


@dataclass(frozen=True, slots=True)
class ValueType:
    """A type that a column may have."""

    # converts trimmed texts that are not empty; raises ArrowInvalid for one of another type
    parse: Callable[[Array], Array]
    is_time: bool = False


def type_chains(zone: str) -> list[tuple[ValueType, ...]]:
    """Return the chains that are described at the top of this file, without STRING.

    Args:
        zone: the time zone of times without an offset, as Arrow writes it.
    """
    numbers = (
        ValueType(partial(parse_whole_numbers, integer=pa.int32())),
        ValueType(partial(parse_whole_numbers, integer=pa.int64())),
        ValueType(parse_long_numbers),
        ValueType(parse_doubles),
    )
    times = (ValueType(parse_dates), ValueType(partial(parse_times, zone=zone), is_time=True))
    return [(ValueType(parse_booleans),), numbers, times]


@dataclass(slots=True)
class ColumnType:
    """The type of a column that fits the rows read so far."""

    # what is left of each chain; its first type fits all values so far
    chains: list[tuple[ValueType, ...]]
    has_values: bool = False
    loses_digits: bool = field(default=False, init=False)  # a time is finer than microseconds

    def add(self, texts: Array) -> None:
        """Widen the type so that it fits more values."""
        trimmed, has_value = trim(texts)
        values = trimmed.filter(has_value)
        if len(values) == 0:
            return
        self.has_values = True
        rests = (from_first_fitting(chain, values) for chain in self.chains)
        self.chains = [rest for rest in rests if rest]
        if self.best is not None and self.best.is_time:
            are_finer = pc.match_substring_regex(values, FINER_THAN_MICROSECONDS)
            self.loses_digits |= pc.any(are_finer).as_py()

    @property
    def best(self) -> ValueType | None:
        """The first type that fits; None if the column stays a STRING."""
        return self.chains[0][0] if self.has_values and self.chains else None

    def convert(self, texts: Array) -> Array:
        """Return the values of texts; a blank text is NULL in all types but STRING."""
        if self.best is None:
            return texts
        trimmed, has_value = trim(texts)
        values = self.best.parse(trimmed.filter(has_value))
        # the index of each row's value in `values`; NULL for a row without a value
        index = pc.subtract(pc.cumulative_sum(has_value.cast(pa.int64())), 1)
        return values.take(pc.if_else(has_value, index, pa.scalar(None, pa.int64())))

    @property
    def arrow_type(self) -> Any:
        """The Arrow type of the values that `convert` returns."""
        return self.convert(pa.array([], pa.string())).type


def trim(texts: Array) -> tuple[Array, Array]:
    """Return the texts without spaces around them, and for each whether it has a value.

    A text that is NULL or blank has none.
    """
    trimmed = pc.utf8_trim_whitespace(texts)
    return trimmed, pc.fill_null(pc.not_equal(trimmed, ""), False)


def from_first_fitting(chain: Sequence[ValueType], values: Array) -> tuple[ValueType, ...]:
    """Return the chain from the first type that fits all values on; empty if no type fits."""
    for index, value_type in enumerate(chain):
        try:
            value_type.parse(values)
        except pa.ArrowInvalid:
            continue
        return tuple(chain[index:])
    return ()


# Parsers. Each gets trimmed texts without empty ones.


def check_texts(texts: Array, pattern: str) -> Array:
    """Return the texts. Raises ArrowInvalid unless the pattern matches each text as a whole."""
    if pc.all(pc.match_substring_regex(texts, f"^(?:{pattern})$")).as_py() is False:
        raise pa.ArrowInvalid(f"not {pattern}")
    return texts


def drop_plus(texts: Array) -> Array:
    """Return the texts without a plus sign before them, which Arrow does not read."""
    return pc.replace_substring_regex(texts, r"^\+", "")


def parse_booleans(texts: Array) -> Array:
    return pc.equal(pc.utf8_lower(check_texts(texts, "(?i)true|false")), "true")


def parse_whole_numbers(texts: Array, integer: Any) -> Array:
    """Return whole numbers of an Arrow type such as int32."""
    return drop_plus(check_texts(texts, WHOLE_NUMBER)).cast(integer)


def parse_long_numbers(texts: Array) -> Array:
    """Return whole numbers of up to 38 digits, as decimals."""
    digits = pc.replace_substring_regex(
        check_texts(texts, WHOLE_NUMBER), r"^\+?(-?)0*(\d)", r"\1\2"
    )
    most_digits = pc.max(pc.utf8_length(pc.utf8_ltrim(digits, "-"))).as_py() or 1
    if most_digits > DECIMAL_DIGITS:
        raise pa.ArrowInvalid("too many digits")
    return digits.cast(pa.decimal128(DECIMAL_DIGITS, 0))


def parse_doubles(texts: Array) -> Array:
    return drop_plus(check_texts(texts, DOUBLE)).cast(pa.float64())


def parse_dates(texts: Array) -> Array:
    return check_texts(texts, DATE).cast(pa.date32())


def parse_times(texts: Array, zone: str) -> Array:
    """Return instants of times such as `2024-01-05 10:00` and `2024-01-05T10:00:00.25+01:00`.

    Args:
        texts: the times. Digits after those of microseconds are dropped.
        zone: the time zone of times without an offset, as Arrow writes it.
    """
    parts = pc.extract_regex(check_texts(texts, TIME), f"^{TIME}$")
    day, minute, second, fraction, offset = (
        pc.struct_field(parts, name) for name in ("day", "minute", "second", "fraction", "offset")
    )
    minute = replace_empty(minute, "00:00")
    second = replace_empty(second, ":00")
    whole_seconds = pc.binary_join_element_wise(day, "T", minute, second, "")
    local = whole_seconds.cast(pa.timestamp("s")).cast(MICROSECONDS).cast(pa.int64())
    six_digits = pc.utf8_slice_codeunits(pc.utf8_rpad(fraction, 6, "0"), 0, 6)
    local = pc.add(local, six_digits.cast(pa.int64()))
    with_offset = pc.subtract(local, parse_offsets(offset))
    has_offset = pc.not_equal(offset, "")
    if pc.all(has_offset).as_py():
        return with_offset.cast(INSTANTS)
    without_offset = convert_local_times(local.cast(MICROSECONDS), zone)
    return pc.if_else(has_offset, with_offset, without_offset).cast(INSTANTS)


def replace_empty(texts: Array, replacement: str) -> Array:
    return pc.if_else(pc.equal(texts, ""), replacement, texts)


def parse_offsets(offsets: Array) -> Array:
    """Return by how many microseconds times with these offsets are ahead of UTC."""
    digits = pc.utf8_rpad(pc.replace_substring_regex(offsets, r"[^\d]", ""), 4, "0")
    hours = pc.utf8_slice_codeunits(digits, 0, 2).cast(pa.int64())
    minutes = pc.utf8_slice_codeunits(digits, 2, 4).cast(pa.int64())
    if (pc.max(hours).as_py() or 0) > 18 or (pc.max(minutes).as_py() or 0) > 59:  # as in Java
        raise pa.ArrowInvalid("not an offset")
    size = pc.multiply(pc.add(pc.multiply(hours, 60), minutes), 60_000_000)
    return pc.if_else(pc.starts_with(offsets, "-"), pc.negate(size), size)


def convert_local_times(local: Array, zone: str) -> Array:
    """Return the instants of local times in a time zone, in microseconds since 1970.

    As in Java: a time that clocks show twice is the earlier one, and a time that clocks skip is
    moved on by what they skip.
    """
    earliest = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="earliest")
    shown = pc.local_timestamp(earliest)
    instants = earliest.cast(pa.int64())
    ahead = pc.subtract(shown.cast(pa.int64()), instants)
    is_skipped = pc.not_equal(shown, local)
    return pc.if_else(is_skipped, pc.subtract(local.cast(pa.int64()), ahead), instants)


def arrow_zone(zone: str) -> str:
    """Return the name that Arrow has for the time zone of a session.

    >>> [arrow_zone(zone) for zone in ("America/New_York", "GMT+3", "-05:30")]
    ['America/New_York', '+03:00', '-05:30']

    Raises:
        MatchRecognizeError: Arrow does not know the time zone. It knows few of Java's short names,
            such as PST.
    """
    name = find_offset(zone) or find_region(zone)
    if name is None:
        raise errors.time_zone_not_for_csv(zone=zone)
    try:
        pc.assume_timezone(pa.array([0], MICROSECONDS), name)
    except pa.ArrowInvalid as error:  # an offset with seconds, or no database of time zones
        raise errors.time_zone_not_for_csv(zone=zone) from error
    return name
