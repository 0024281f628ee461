"""Calls with more in their parentheses than values: types, units, and words between the arguments.

CAST(x AS DECIMAL(10, 2))     CAST(x), of the word DECIMAL(10,2)
TIMESTAMPDIFF(MINUTE, a, b)   TIMESTAMPDIFF(a, b), of the word MINUTE
EXTRACT(HOUR FROM x)          EXTRACT(x), of the word HOUR
TRIM(LEADING 'x' FROM y)      LTRIM('x', y)
POSITION(a IN b)              POSITION(a, b)
SUBSTRING(x FROM 2 FOR 3)     SUBSTRING(x, 2, 3)
STRUCT(x, 1 AS y)             STRUCT(x, 1), of the words x and y
NAMED_STRUCT('x', 1)          STRUCT(1), of the word x
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Protocol

from matchrec.dataclass import dataclass
from matchrec.frontends.lexing.function_names import words
from matchrec.frontends.lexing.tokens import TokenKind
from matchrec.plan.expression import Scalar


class Reader(Protocol):
    """What reads the tokens between the parentheses."""

    def key_at(self, index: int) -> str:
        """The key of a token."""

    def kind_at(self, index: int) -> TokenKind:
        """What sort of token it is."""

    def string_at(self, index: int) -> str:
        """The text of a string, as it was written, without its quotes."""

    def type_name(self, start: int, end: int) -> str:
        """The tokens of a type, as a word."""

    def top_level(self, key: str, start: int, end: int) -> int | None:
        """Where the first token with a key stands that is in no brackets."""

    def argument(self, start: int, end: int) -> Scalar:
        """One expression. Raises where it is opaque."""

    def separated(self, start: int, end: int) -> tuple[Scalar, ...]:
        """The expressions between commas. Raises where one is opaque."""

    def between_commas(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The ranges of tokens between commas."""

    def fields(self, start: int, end: int) -> Iterator[tuple[str, Scalar]]:
        """The expressions between commas, with their names. Raises where one is opaque."""


@dataclass(frozen=True, slots=True)
class SpecialCall:
    """What has been read: see `plan.expression.Operation`."""

    operator: str
    operands: tuple[Scalar, ...]
    words: tuple[str, ...] = ()


Form = Callable[[Reader, str, int, int], SpecialCall | None]
"""Reads the tokens between the parentheses of a call; None where it is an ordinary one."""


def read_cast(reader: Reader, name: str, start: int, end: int) -> SpecialCall | None:
    place = reader.top_level("AS", start, end)
    if place is None:
        return None
    operand = reader.argument(start, place)
    return SpecialCall(name, (operand,), (reader.type_name(place + 1, end),))


def read_with_unit(reader: Reader, name: str, start: int, end: int) -> SpecialCall | None:
    unit = reader.key_at(start)
    if reader.kind_at(start) is not TokenKind.WORD or reader.key_at(start + 1) != ",":
        return None
    if unit not in UNITS:
        return None
    return SpecialCall(WITH_UNIT[name], reader.separated(start + 2, end), (unit,))


def read_extract(reader: Reader, _: str, start: int, end: int) -> SpecialCall | None:
    if reader.kind_at(start) is not TokenKind.WORD or reader.key_at(start + 1) != "FROM":
        return None
    return SpecialCall("EXTRACT", (reader.argument(start + 2, end),), (reader.key_at(start),))


def read_date_part(reader: Reader, _: str, start: int, end: int) -> SpecialCall | None:
    if reader.kind_at(start) is not TokenKind.STRING or reader.key_at(start + 1) != ",":
        return None
    field = reader.string_at(start).upper()
    return SpecialCall("EXTRACT", (reader.argument(start + 2, end),), (field,))


def read_trim(reader: Reader, _: str, start: int, end: int) -> SpecialCall | None:
    place = reader.top_level("FROM", start, end)
    if place is None:
        return None
    side = TRIMS.get(reader.key_at(start))
    first = start + (side is not None)
    texts = [reader.argument(first, place)] if first < place else []
    return SpecialCall(side or "TRIM", (*texts, reader.argument(place + 1, end)))


def read_position(reader: Reader, name: str, start: int, end: int) -> SpecialCall | None:
    place = reader.top_level("IN", start, end)
    if place is None:
        return SpecialCall(name, reader.separated(start, end))
    return SpecialCall(name, (reader.argument(start, place), reader.argument(place + 1, end)))


def read_clauses(*keys: str) -> Form:
    """`x FROM 2 FOR 3`: arguments with words before them, of which the last may be missing."""

    def read(reader: Reader, name: str, start: int, end: int) -> SpecialCall | None:
        places = [reader.top_level(key, start, end) for key in keys]
        found = [place for place in places if place is not None]
        if not found:
            return None
        bounds = pairwise((start - 1, *found, end))
        return SpecialCall(name, tuple(reader.argument(one + 1, next_) for one, next_ in bounds))

    return read


def read_struct(reader: Reader, _: str, start: int, end: int) -> SpecialCall:
    names, values = zip(*reader.fields(start, end), strict=True)
    return SpecialCall("STRUCT", values, names)


def read_named_struct(reader: Reader, _: str, start: int, end: int) -> SpecialCall | None:
    """Names that are no literals, or have a backslash in them, are not read."""
    ranges = list(reader.between_commas(start, end))
    names = [
        reader.string_at(first)
        for first, last in ranges[::2]
        if reader.kind_at(first) is TokenKind.STRING and last == first + 1
    ]
    if 2 * len(names) != len(ranges) or "\\" in "".join(names):
        return None
    values = tuple(reader.argument(*one) for one in ranges[1::2])
    return SpecialCall("STRUCT", values, tuple(names))


TRIMS = {"BOTH": "TRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}

UNITS = words(
    """
    YEAR QUARTER MONTH WEEK DAY DAYOFYEAR HOUR MINUTE SECOND MILLISECOND MICROSECOND
    """
)

WITH_UNIT = {
    "TIMESTAMPDIFF": "TIMESTAMPDIFF",
    "TIMEDIFF": "TIMESTAMPDIFF",
    "DATEDIFF": "TIMESTAMPDIFF",
    "DATE_DIFF": "TIMESTAMPDIFF",
    "TIMESTAMPADD": "TIMESTAMPADD",
    "DATEADD": "TIMESTAMPADD",
    "DATE_ADD": "TIMESTAMPADD",
}
"""The functions of a unit, each with the one that it is another name of."""

SPECIAL_CALLS: Mapping[str, Form] = {
    "CAST": read_cast,
    "TRY_CAST": read_cast,
    "EXTRACT": read_extract,
    "DATE_PART": read_date_part,
    "DATEPART": read_date_part,
    "TRIM": read_trim,
    "POSITION": read_position,
    "STRUCT": read_struct,
    "NAMED_STRUCT": read_named_struct,
    "SUBSTRING": read_clauses("FROM", "FOR"),
    "SUBSTR": read_clauses("FROM", "FOR"),
    "OVERLAY": read_clauses("PLACING", "FROM", "FOR"),
} | dict.fromkeys(WITH_UNIT, read_with_unit)
