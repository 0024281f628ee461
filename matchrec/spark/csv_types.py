"""Choose the types of the columns of CSV files, and convert their texts to values of these types.

A column has the first type in one of these chains that fits all of its values:

    BOOLEAN
    INT, BIGINT, DECIMAL(38, 0), DOUBLE
    DATE, TIMESTAMP

The column is a STRING if no type fits. In a chain, each type fits every value that the types before
it fit. So a `CsvColumn` that has read some rows keeps only the first fitting type of a chain and
the types after it:

    texts read so far    types that can still fit
    -                    all three chains
    1, 20                INT, BIGINT, DECIMAL(38, 0), DOUBLE
    1, 20, 2.5           DOUBLE
    1, 20, 2.5, x        none: a STRING

The page docs/reference/command_line.md has the table for users.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import available_timezones

import pyarrow as pa
import pyarrow.compute as pc

from matchrec.conditions.functions.calendar import find_zone
from matchrec.errors import tables as errors
from matchrec.errors.machine import wrong_setting_value
from matchrec.spark.time_zones import TIME_ZONE, find_fixed_offset, find_region

ArrowArray = Any  # an array of pyarrow, which has no type hints

DECIMAL_DIGITS = 38

# Regular expressions for the texts of each type. A whole number with more than 38 digits does not
# match `DOUBLE_PATTERN` and stays a text, because a double would lose some of its digits.
DOUBLE_PATTERN = r"[+-]?(?:\d{1,38}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|NaN|[+-]?Inf(?:inity)?"
BOOLEAN_PATTERN = r"(?i)true|false"
WHOLE_NUMBER_PATTERN = r"[+-]?\d+"
DATE_PATTERN = r"\d{4}-\d\d-\d\d"
TIME_PATTERN = (
    rf"(?P<day>{DATE_PATTERN})"
    r"(?:[T ](?P<minute>\d\d:\d\d)(?P<second>:\d\d)?(?:\.(?P<fraction>\d{1,9}))?"
    r" ?(?P<offset>Z|[+-]\d\d(?::?\d\d)?)?)?"
)
# Matches a time whose fraction has a digit other than 0 after the sixth.
FINER_THAN_MICROSECONDS = r"\.\d{6}\d*[1-9]"

# Arrow's types of local times and of instants.
LOCAL_TIME = pa.timestamp("us")
INSTANT = pa.timestamp("us", "UTC")
MICROSECONDS_PER_MINUTE = 60_000_000

# A short name of a time zone in Java, such as PST.
JAVA_SHORT_NAME = re.compile(r"[A-Z]{3}")

# The first local time for which Arrow does not know when clocks are changed.
FIRST_TIME_WITHOUT_RULES = datetime(2038, 1, 1)

# The largest offset of a time zone, as in Java.
MAX_OFFSET_HOURS = 18
MAX_OFFSET_MINUTES = 59


@dataclass(frozen=True, slots=True)
class CsvType:
    """A type that a column can have, except STRING."""

    # Converts trimmed texts that are not empty to values of the type. Raises ArrowInvalid if one of
    # them is not such a value: see the parsers below.
    parse: Callable[[ArrowArray], ArrowArray]
    # Whether the type is TIMESTAMP, which can lose digits: see `CsvColumn.loses_digits`.
    is_timestamp: bool = False


def build_type_chains(zone: str) -> list[tuple[CsvType, ...]]:
    """Return the three chains of types, in the order in which the module docstring lists them.

    Args:
        zone: the time zone of times without an offset, as Arrow writes it.
    """
    numbers = (
        CsvType(partial(parse_whole_numbers, integer_type=pa.int32())),
        CsvType(partial(parse_whole_numbers, integer_type=pa.int64())),
        CsvType(parse_long_numbers),
        CsvType(parse_doubles),
    )
    times = (CsvType(parse_dates), CsvType(partial(parse_times, zone=zone), is_timestamp=True))
    return [(CsvType(parse_booleans),), numbers, times]


@dataclass(slots=True)
class CsvColumn:
    """A column of CSV files, and the types that fit its values in the rows read so far."""

    # The types of each chain that can still fit. The first type of each chain fits all values so
    # far, once there are values. A chain without a fitting type is left out.
    chains: list[tuple[CsvType, ...]]
    # Whether any text so far is neither NULL nor blank.
    has_values: bool = field(default=False, init=False)
    # Whether the column is a TIMESTAMP and a time is finer than microseconds, so that its last
    # digits are dropped.
    loses_digits: bool = field(default=False, init=False)

    def add(self, texts: ArrowArray) -> None:
        """Read the texts of more rows, and drop the types that do not fit their values."""
        trimmed, has_value = trim(texts)
        values = trimmed.filter(has_value)
        if len(values) == 0:
            return
        self.has_values = True
        fitting_chains = [find_fitting_types(chain, values) for chain in self.chains]
        self.chains = [chain for chain in fitting_chains if chain]
        if self.fitting_type is not None and self.fitting_type.is_timestamp:
            is_finer = pc.match_substring_regex(values, FINER_THAN_MICROSECONDS)
            self.loses_digits |= pc.any(is_finer).as_py()

    @property
    def fitting_type(self) -> CsvType | None:
        """Return the first type that fits all values so far; None if the column is a STRING.

        A column without values is a STRING.
        """
        return self.chains[0][0] if self.has_values and self.chains else None

    def convert(self, texts: ArrowArray) -> ArrowArray:
        """Return the values of texts. A blank text is NULL, except in a STRING column."""
        if self.fitting_type is None:
            return texts
        trimmed, has_value = trim(texts)
        values = self.fitting_type.parse(trimmed.filter(has_value))
        # How many rows up to each row have a value. So the index of a row's value is one less.
        value_counts = pc.cumulative_sum(has_value.cast(pa.int64()))
        indices = pc.if_else(has_value, pc.subtract(value_counts, 1), pa.scalar(None, pa.int64()))
        return values.take(indices)  # an index that is NULL gives NULL

    @property
    def arrow_type(self) -> Any:
        """Return the Arrow type of the values that `convert` returns."""
        return self.convert(pa.array([], pa.string())).type


def trim(texts: ArrowArray) -> tuple[ArrowArray, ArrowArray]:
    """Return the texts without spaces around them, and whether each text has a value.

    A text that is NULL or blank has no value. Both arrays have the length of `texts`.
    """
    trimmed = pc.utf8_trim_whitespace(texts)
    return trimmed, pc.fill_null(pc.not_equal(trimmed, ""), False)


def find_fitting_types(chain: Sequence[CsvType], values: ArrowArray) -> tuple[CsvType, ...]:
    """Return the first type of a chain that fits all values, and the types after it.

    The result is empty if no type fits.
    """
    for index, value_type in enumerate(chain):
        try:
            value_type.parse(values)
        except pa.ArrowInvalid:
            continue
        return tuple(chain[index:])
    return ()


# Parsers. Each gets trimmed texts that are not empty, and raises ArrowInvalid if one of them has
# another type.


def check_texts(texts: ArrowArray, pattern: str) -> ArrowArray:
    """Check that a regular expression matches each text as a whole, and return the texts.

    Raises:
        ArrowInvalid: the expression does not match one of the texts.
    """
    has_other_text = pc.any(pc.invert(pc.match_substring_regex(texts, f"^(?:{pattern})$"))).as_py()
    if has_other_text:  # None if there are no texts
        raise pa.ArrowInvalid(f"not {pattern}")
    return texts


def drop_plus(texts: ArrowArray) -> ArrowArray:
    """Return numbers without their plus signs, which Arrow does not accept."""
    return pc.replace_substring_regex(texts, r"^\+", "")


def parse_booleans(texts: ArrowArray) -> ArrowArray:
    """Return the values of `true` and `false`, in lower or upper case."""
    return pc.equal(pc.utf8_lower(check_texts(texts, BOOLEAN_PATTERN)), "true")


def parse_whole_numbers(texts: ArrowArray, integer_type: Any) -> ArrowArray:
    """Return whole numbers as values of an Arrow type such as int32."""
    return drop_plus(check_texts(texts, WHOLE_NUMBER_PATTERN)).cast(integer_type)


def parse_long_numbers(texts: ArrowArray) -> ArrowArray:
    """Return whole numbers of up to 38 digits, as decimals. Zeros at the beginning do not count."""
    numbers = check_texts(texts, WHOLE_NUMBER_PATTERN)
    without_zeros = pc.replace_substring_regex(numbers, r"^\+?(-?)0*(\d)", r"\1\2")
    digit_counts = pc.utf8_length(pc.utf8_ltrim(without_zeros, "-"))
    max_digit_count = pc.max(digit_counts).as_py() or 0  # 0 if there are no texts
    if max_digit_count > DECIMAL_DIGITS:
        raise pa.ArrowInvalid("too many digits")
    return without_zeros.cast(pa.decimal128(DECIMAL_DIGITS, 0))


def parse_doubles(texts: ArrowArray) -> ArrowArray:
    """Return the values of numbers such as `1.5`, `-2e10`, `NaN` and `Infinity`."""
    return drop_plus(check_texts(texts, DOUBLE_PATTERN)).cast(pa.float64())


def parse_dates(texts: ArrowArray) -> ArrowArray:
    """Return the values of dates such as `2024-01-05`."""
    return check_texts(texts, DATE_PATTERN).cast(pa.date32())


def parse_times(texts: ArrowArray, zone: str) -> ArrowArray:
    """Return the instants of times such as `2024-01-05 10:00` and `2024-01-05T10:00:00.25+01:00`.

    Digits after the microseconds are dropped.

    Args:
        texts: the times. A time without hours and minutes is midnight.
        zone: the time zone of times without an offset, as Arrow writes it.
    """
    # A struct of the groups of the expression. A group without a match is an empty text.
    parts = pc.extract_regex(check_texts(texts, TIME_PATTERN), f"^{TIME_PATTERN}$")
    fraction = pc.struct_field(parts, "fraction")
    offset = pc.struct_field(parts, "offset")
    day = pc.struct_field(parts, "day")
    minute = replace_empty(pc.struct_field(parts, "minute"), "00:00")
    second = replace_empty(pc.struct_field(parts, "second"), ":00")
    whole_seconds = pc.binary_join_element_wise(day, "T", minute, second, "")
    microseconds = whole_seconds.cast(pa.timestamp("s")).cast(LOCAL_TIME).cast(pa.int64())
    six_digits = pc.utf8_slice_codeunits(pc.utf8_rpad(fraction, 6, "0"), 0, 6)
    # Microseconds since 1970-01-01 00:00, on the clocks of the time's own zone.
    local = pc.add(microseconds, six_digits.cast(pa.int64()))
    instant_by_offset = pc.subtract(local, parse_offsets(offset))
    has_offset = pc.not_equal(offset, "")
    if pc.all(has_offset).as_py():
        return instant_by_offset.cast(INSTANT)
    instant_by_zone = convert_local_times(local.cast(LOCAL_TIME), zone)
    return pc.if_else(has_offset, instant_by_offset, instant_by_zone).cast(INSTANT)


def replace_empty(texts: ArrowArray, replacement: str) -> ArrowArray:
    """Return the texts with a replacement for each empty text."""
    return pc.if_else(pc.equal(texts, ""), replacement, texts)


def parse_offsets(offsets: ArrowArray) -> ArrowArray:
    """Return offsets in microseconds ahead of UTC, int64[n]: `+01:00` is 3,600,000,000.

    Args:
        offsets: `Z`, or hours and perhaps minutes: `+01:00`, `+0100`, `-05`. `Z` and an empty text
            are 0.

    Raises:
        ArrowInvalid: an offset is too large.
    """
    digits = pc.replace_substring_regex(offsets, r"[^\d]", "")
    four_digits = pc.utf8_rpad(digits, 4, "0")
    hours = pc.utf8_slice_codeunits(four_digits, 0, 2).cast(pa.int64())
    minutes = pc.utf8_slice_codeunits(four_digits, 2, 4).cast(pa.int64())
    max_hours = pc.max(hours).as_py() or 0  # 0 if there are no offsets
    max_minutes = pc.max(minutes).as_py() or 0
    if max_hours > MAX_OFFSET_HOURS or max_minutes > MAX_OFFSET_MINUTES:
        raise pa.ArrowInvalid("not an offset")
    all_minutes = pc.add(pc.multiply(hours, 60), minutes)
    microseconds = pc.multiply(all_minutes, MICROSECONDS_PER_MINUTE)
    is_behind_utc = pc.starts_with(offsets, "-")
    return pc.if_else(is_behind_utc, pc.negate(microseconds), microseconds)


def convert_local_times(local: ArrowArray, zone: str) -> ArrowArray:
    """Return the instants of local times in a time zone, in microseconds since 1970, int64[n].

    As in Java, a time that clocks show twice is the earlier of the two instants. A time that clocks
    skip is moved forward by the length of the gap: it has the offset from before the gap.

    Args:
        local: the times, with the type LOCAL_TIME.
        zone: the time zone, as Arrow writes it.
    """
    instants = convert_times_by_arrow(local, zone)
    is_late = pc.greater_equal(local, pa.scalar(FIRST_TIME_WITHOUT_RULES, LOCAL_TIME))
    if not pc.any(is_late).as_py():
        return instants
    late_instants = convert_times_by_python(local.filter(is_late), zone)
    return pc.replace_with_mask(instants, is_late, late_instants)


def convert_times_by_python(local: ArrowArray, zone: str) -> ArrowArray:
    """Return the instants of local times as `convert_local_times` does.

    Each different time is converted once, because this takes microseconds for each of them.
    """
    convert_to_instant = find_zone(zone).convert_to_instant
    encoded = local.cast(pa.int64()).dictionary_encode()
    different_times = encoded.dictionary.to_pylist()
    instants = [convert_to_instant(time) for time in different_times]
    return pa.array(instants, pa.int64()).take(encoded.indices)


def convert_times_by_arrow(local: ArrowArray, zone: str) -> ArrowArray:
    """Return the instants of local times before FIRST_TIME_WITHOUT_RULES.

    The arguments and the result are as in `convert_local_times`. The instants of other times can
    be wrong by an hour.
    """
    earliest = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="earliest")
    instants = earliest.cast(pa.int64())
    # What clocks show at these instants. For a skipped time, this is the last moment before the gap
    # instead of `local`.
    shown = pc.local_timestamp(earliest)
    is_skipped = pc.not_equal(shown, local)
    offset_before_gap = pc.subtract(shown.cast(pa.int64()), instants)
    instants_of_skipped = pc.subtract(local.cast(pa.int64()), offset_before_gap)
    return pc.if_else(is_skipped, instants_of_skipped, instants)


def find_arrow_zone(zone: str) -> str:
    """Return the name that Arrow has for the time zone of a session.

    >>> [find_arrow_zone(zone) for zone in ("America/New_York", "GMT+3", "-05:30")]
    ['America/New_York', '+03:00', '-05:30']

    Raises:
        MatchRecognizeError: Arrow does not know the time zone. It knows few of Java's short names,
            such as PST. Any other zone that Python does not know does not exist.
    """
    name = find_fixed_offset(zone) or find_region(zone)
    if name is None:
        regions = available_timezones()  # empty without a database of time zones
        if regions and not JAVA_SHORT_NAME.fullmatch(zone):
            raise wrong_setting_value(name=TIME_ZONE, value=zone, choices=regions)
        raise errors.time_zone_not_for_csv(zone=zone)
    try:
        pc.assume_timezone(pa.array([0], LOCAL_TIME), name)
    except pa.ArrowInvalid as error:  # an offset with seconds, or no database of time zones
        raise errors.time_zone_not_for_csv(zone=zone) from error
    return name
