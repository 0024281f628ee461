"""Lengths of time in messages: where they are written, and what another notation means.

`find_meant_length` translates other notations to Spark SQL:

3m    10 min    1h30m    PT5M    00:05:00    MINUTES(5)    INTERVAL(5, MINUTE)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto
from typing import NamedTuple

from matchrec.errors.misspellings import find_nearest

# Units of time, with what people write for them besides their plurals. Spark has intervals of all
# of them except QUARTER.
_UNITS = {
    "MICROSECOND": ("US", "MICROSEC", "MICROS"),
    "MILLISECOND": ("MS", "MSEC", "MILLI", "MILLISEC"),
    "SECOND": ("S", "SEC"),
    "MINUTE": ("M", "MI", "MIN", "MINUTS"),
    "HOUR": ("H", "HR", "HH"),
    "DAY": ("D", "DD"),
    "WEEK": ("W", "WK"),
    "MONTH": ("MO", "MON", "MONS"),
    "QUARTER": ("Q", "QTR"),
    "YEAR": ("Y", "YR", "YYYY"),
}
_UNIT_BY_SPELLING = {
    spelling: unit
    for unit, abbreviations in _UNITS.items()
    for name in (unit, *abbreviations)
    for spelling in (name, f"{name}S")
}
_UNIT_BY_SPELLING["MS"] = "MILLISECOND"  # not the plural of M

# For each unit, a smaller one, and how many of the smaller ones it has.
_SMALLER_UNITS = {
    "MILLISECOND": (1000, "MICROSECOND"),
    "SECOND": (1000, "MILLISECOND"),
    "MINUTE": (60, "SECOND"),
    "HOUR": (60, "MINUTE"),
    "DAY": (24, "HOUR"),
    "WEEK": (7, "DAY"),
    "QUARTER": (3, "MONTH"),
    "YEAR": (12, "MONTH"),
}

_NUMBER = r"\d+(?:\.\d+)?"
# `3m`, `10 min`, `'10' MINUTES`
_AMOUNT = re.compile(rf"\s*(?P<quote>['\"]?)(?P<number>{_NUMBER})(?P=quote)\s*(?P<unit>[A-Za-z]+)")
# `MINUTES 5`, `MINUTES(5)`
_UNIT_FIRST = re.compile(
    rf"(?P<unit>[A-Za-z]+)(?:\s+|\s*(?P<opening>\()\s*)'?(?P<number>{_NUMBER})'?\s*(?(opening)\))"
)
# `INTERVAL(5, MINUTE)`, without INTERVAL
_ARGUMENTS = re.compile(rf"\(\s*'?(?P<number>{_NUMBER})'?\s*,\s*'?(?P<unit>[A-Za-z]+)'?\s*\)")
# `PT5M`, `P1DT12H`
_ISO_8601 = re.compile(
    r"P(?:(?P<WEEK>\d+)W)?(?:(?P<DAY>\d+)D)?"
    r"(?:T(?:(?P<HOUR>\d+)H)?(?:(?P<MINUTE>\d+)M)?(?:(?P<SECOND>\d+)S)?)?",
    re.IGNORECASE,
)
# `00:05:00`
_CLOCK = re.compile(r"(?P<HOUR>\d{1,2}):(?P<MINUTE>\d\d):(?P<SECOND>\d\d)")
# Words and signs around a length that do not change it.
_WORDS_BEFORE = re.compile(r"(?i)(?:INTERVAL\b|DURATION\b|WITHIN\b|[<=]+|OF\b|IN\b)\s*")
_WORDS_AFTER = re.compile(r"(?i)\s*\b(?:INTERVAL|PRECEDING|FOLLOWING|APART)\s*")


class LengthSource(Enum):
    """What has a length of time as its value."""

    # An argument of a method of Pattern.
    ARGUMENT = auto()
    # A clause in the text of a query.
    CLAUSE = auto()
    # A parameter in a clause, whose value is passed with the query.
    PARAMETER = auto()


@dataclass(frozen=True, slots=True)
class LengthLocation:
    """Where a length of time is written or passed, for messages."""

    source: LengthSource
    # The location as messages show it: "within()", "`gap` of times()", "WITHIN", ":gap in WITHIN".
    name: str
    # The parameter in the user's text, `:gap` or `?`; "" if the source is not a parameter.
    parameter: str = ""


WITHIN_CALL = LengthLocation(LengthSource.ARGUMENT, "within()")
WITHIN_CLAUSE = LengthLocation(LengthSource.CLAUSE, "WITHIN")


class LengthAmount(NamedTuple):
    """A number of units of time, such as 30 minutes."""

    # The number as digits, perhaps with a decimal point.
    number: str
    # The unit as a user abbreviates it, or in a `Length` as Spark SQL has it, such as MINUTE.
    unit: str


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time, such as 1 hour and 30 minutes."""

    # At least one amount: for this example, of hours and of minutes.
    amounts: tuple[LengthAmount, ...]

    @property
    def sql(self) -> str:
        """Return the length as Spark SQL: `INTERVAL 1 HOUR 30 MINUTE`."""
        return f"INTERVAL {' '.join(f'{number} {unit}' for number, unit in self.amounts)}"

    @property
    def words(self) -> str:
        """Return the length in words: `1 hour 30 minutes`."""
        texts = []
        for number, unit in self.amounts:
            texts.append(f"{number} {unit.lower()}{'' if number == '1' else 's'}")
        return " ".join(texts)


def is_spark_unit(word: str) -> bool:
    """Return whether Spark SQL reads a word as a unit of time.

    >>> is_spark_unit("hours"), is_spark_unit("hr")
    (True, False)
    """
    return word.upper().removesuffix("S") in _UNITS


def find_meant_unit(word: str) -> str | None:
    """Return the unit of time that a word abbreviates or misspells, such as MINUTE; else None.

    >>> [find_meant_unit(word) for word in ("min", "ms", "Hours", "secnd", "rows")]
    ['MINUTE', 'MILLISECOND', 'HOUR', 'SECOND', None]
    """
    upper = word.upper()
    if upper in _UNIT_BY_SPELLING:
        return _UNIT_BY_SPELLING[upper]
    return find_nearest(upper.removesuffix("S"), _UNITS) if len(word) > 3 else None


def find_meant_length(text: str) -> Length | None:
    """Return the length of time that a text probably means, whatever its notation; else None.

    >>> find_meant_length("3m").sql, find_meant_length("INTERVAL '1h30min'").sql
    ('INTERVAL 3 MINUTE', 'INTERVAL 1 HOUR 30 MINUTE')
    >>> find_meant_length("PT5M").sql, find_meant_length("00:05:00").sql
    ('INTERVAL 5 MINUTE', 'INTERVAL 5 MINUTE')
    >>> find_meant_length("MINUTES(5)").words, find_meant_length("1.5 hours").words
    ('5 minutes', '90 minutes')
    >>> find_meant_length("price")
    """
    length_text = text.strip()
    while (word := _WORDS_BEFORE.match(length_text)) is not None:
        length_text = length_text[word.end() :]
    length_text = _WORDS_AFTER.sub("", length_text) if len(length_text) > 1 else length_text
    if len(length_text) > 1 and length_text[0] == length_text[-1] and length_text[0] in "'\"":
        length_text = length_text[1:-1].strip()
    return _read_amounts(length_text) or _read_fields(length_text) or _read_unit_first(length_text)


def _read_amounts(text: str) -> Length | None:
    """Return the length of `1h30m`, or of other numbers before their units; else None."""
    amounts = list(_AMOUNT.finditer(text))
    if not amounts or "".join(amount[0] for amount in amounts) != text:
        return None
    return _make_length([LengthAmount(amount["number"], amount["unit"]) for amount in amounts])


def _read_fields(text: str) -> Length | None:
    """Return the length of `PT5M` or `00:05:00`; else None."""
    fields = _ISO_8601.fullmatch(text) or _CLOCK.fullmatch(text)
    if fields is None:
        return None
    numbers = {unit: (number or "").lstrip("0") for unit, number in fields.groupdict().items()}
    return _make_length([LengthAmount(number, unit) for unit, number in numbers.items() if number])


def _read_unit_first(text: str) -> Length | None:
    """Return the length of `MINUTES(5)` or of the arguments `(5, MINUTE)`; else None."""
    amount = _UNIT_FIRST.fullmatch(text) or _ARGUMENTS.fullmatch(text)
    if amount is None:
        return None
    return _make_length([LengthAmount(amount["number"], amount["unit"])])


def _make_length(amounts: Sequence[LengthAmount]) -> Length | None:
    """Return the length of these amounts, whose units may be abbreviated or misspelt.

    Returns None if there are no amounts, or Spark cannot have an interval of one of them.
    """
    spark_amounts = []
    for amount in amounts:
        unit = find_meant_unit(amount.unit)
        spark_amount = None if unit is None else _convert_amount(amount.number, unit)
        if spark_amount is None:
            return None
        spark_amounts.append(spark_amount)
    return Length(tuple(spark_amounts)) if spark_amounts else None


def _convert_amount(number: str, unit: str) -> LengthAmount | None:
    """Return a number of units as Spark reads it: a whole number, and no quarters.

    Returns None for a fraction of a month or of a microsecond.

    >>> _convert_amount("1.5", "HOUR"), _convert_amount("0.5", "MONTH")
    (LengthAmount(number='90', unit='MINUTE'), None)
    """
    if "." not in number and unit != "QUARTER":
        return LengthAmount(number, unit)
    amount = Decimal(number)
    while amount % 1 or unit == "QUARTER":
        if unit not in _SMALLER_UNITS:
            return None
        count, unit = _SMALLER_UNITS[unit]
        amount *= count
    return LengthAmount(f"{amount:.0f}", unit)
