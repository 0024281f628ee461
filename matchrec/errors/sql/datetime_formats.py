"""Translate formats of dates and times from other languages to Spark's letters, for messages.

YYYY-MM-DD HH24:MI:SS    Oracle, Snowflake and PostgreSQL
%Y-%m-%d %H:%M:%S        Python, MySQL and BigQuery
"""

from __future__ import annotations

import re

from matchrec.errors.kinds import MatchRecognizePlanError
from matchrec.errors.language import name_part
from matchrec.errors.wording import shorten
from matchrec.source import Span

# The letters of Spark's formats.
_LETTERS = frozenset("GyMLdDqQEFahkKHmsSVzOXxZ")
# A part of a format in single quotes, which Spark takes literally.
_QUOTED = re.compile(r"'[^']*'")

# The elements of Oracle's formats that Spark writes differently, the longest first.
_ORACLE = {
    "HH24": "HH",
    "HH12": "hh",
    "YYYY": "yyyy",
    "MONTH": "MMMM",
    "MON": "MMM",
    "DAY": "EEEE",
    "DDD": "D",
    "RRRR": "yyyy",
    "YY": "yy",
    "RR": "yy",
    "MM": "MM",
    "MI": "mm",
    "DD": "dd",
    "DY": "EEE",
    "HH": "HH",
    "SS": "ss",
    "AM": "a",
    "PM": "a",
    "FF3": "SSS",
    "FF6": "SSSSSS",
    "FF": "SSSSSS",
    "T": "'T'",
    "Z": "'Z'",
}
# An element, or a part in quotes: Oracle and Snowflake take a part in double quotes literally.
_ORACLE_PART = re.compile(
    rf"""'(?:[^']|'')*'|"(?P<literal>[^"']*)"|{"|".join(_ORACLE)}""", re.IGNORECASE
)
# The elements of Python's `strftime` that Spark writes differently.
_STRFTIME = {
    "%Y": "yyyy",
    "%y": "yy",
    "%m": "MM",
    "%d": "dd",
    "%H": "HH",
    "%I": "hh",
    "%M": "mm",
    "%S": "ss",
    "%f": "SSSSSS",
    "%b": "MMM",
    "%B": "MMMM",
    "%a": "EEE",
    "%A": "EEEE",
    "%p": "a",
    "%i": "mm",
    "%s": "ss",
    "%j": "D",
    "%T": "HH:mm:ss",
    "%F": "yyyy-MM-dd",
}
# An element, or letters that are taken literally.
_STRFTIME_PART = re.compile(r"%[A-Za-z]|[A-Za-z]+")


def find_foreign_letters(text: str) -> list[str]:
    """Return the letters of a format that Spark does not know, each once.

    >>> find_foreign_letters("yyyy-MM-dd'T'HH:mm"), find_foreign_letters("YYYY-MM-DD HH24:MI")
    ([], ['Y', 'I'])
    """
    unquoted = _QUOTED.sub("", text)
    letters = [letter for letter in unquoted if letter.isalpha() and letter not in _LETTERS]
    return list(dict.fromkeys(letters))


def write_format(text: str) -> str | None:
    """Return a format of another language in Spark's letters; None if it is not clear.

    >>> write_format("YYYY-MM-DD HH24:MI:SS"), write_format("%d/%m/%Y")
    ('yyyy-MM-dd HH:mm:ss', 'dd/MM/yyyy')
    >>> write_format("YYYY-mm-dd hh:mm"), write_format("yyyy-MM-ddTHH:mm"), write_format("foo")
    ('yyyy-MM-dd HH:mm', "yyyy-MM-dd'T'HH:mm", None)
    """
    return _write_strftime(text) if "%" in text else _write_oracle(text)


def _write_strftime(text: str) -> str | None:
    """Return a format of `strftime` in Spark's letters; None if an element is not known.

    >>> _write_strftime("%Y-%m-%dT%H:%M"), _write_strftime("%Y %q")
    ("yyyy-MM-dd'T'HH:mm", None)
    """

    def write_part(part: re.Match[str]) -> str:
        return _STRFTIME.get(part[0], part[0] if part[0].startswith("%") else f"'{part[0]}'")

    written = _STRFTIME_PART.sub(write_part, text)
    return None if "%" in written else written


def _write_oracle(text: str) -> str | None:
    """Return a format in Oracle's elements in Spark's letters; None if it has other letters.

    >>> _write_oracle('YYYY-MM-DD"T"HH24:MI'), _write_oracle("YYYYMMDDHHMM")
    ("yyyy-MM-dd'T'HH:mm", 'yyyyMMddHHmm')
    >>> _write_oracle("HH:MI AM"), _write_oracle("IYYY")
    ('hh:mm a', None)
    """
    pieces: list[str] = []
    start = 0
    previous_piece = ""
    has_half_days = re.search(r"(?i)\b[AP]M\b", text) is not None
    for part in _ORACLE_PART.finditer(text):
        between = text[start : part.start()]
        if any(character.isalpha() for character in between):
            return None
        element = part[0].upper()
        piece = _ORACLE.get(element, part[0])
        if part["literal"] is not None:
            piece = f"'{part['literal']}'"
        elif element == "HH" and has_half_days:
            piece = "hh"
        elif element == "MM" and between in ("", ":") and previous_piece in ("HH", "hh"):
            # MM is the month in Oracle, and the minutes after the hours in other languages
            piece = "mm"
        pieces += [between, piece]
        previous_piece = piece
        start = part.end()
    text_after = text[start:]
    if not pieces or any(character.isalpha() for character in text_after):
        return None
    return "".join((*pieces, text_after))


def invalid_datetime_format(
    span: Span | None, *, literal: str, clause: str, takes_numbers: bool = False
) -> MatchRecognizePlanError:
    """Return the error for a format such as 'YYYY-MM-DD', which the engine does not accept.

    Args:
        span: the format, or an expression with it, in the text of the query.
        literal: the format with its quotes.
        clause: the clause of the format.
        takes_numbers: whether the function also takes formats of numbers.
    """
    text = literal[1:-1]
    letters = find_foreign_letters(text)
    spark_format = write_format(text)
    hint = "write the format in Spark's letters, such as 'yyyy-MM-dd HH:mm:ss'"
    if spark_format is not None and spark_format != text:
        quote = '"' if "'" in spark_format else "'"
        hint = f"write {quote}{spark_format}{quote}"
    elif takes_numbers:
        hint = f"{hint}, or '999.99' for a number"
    shown_letters = ", ".join(f"`{letter}`" for letter in letters)
    noun = "letter" if len(letters) == 1 else "letters"
    note = f"Spark has no {noun} {shown_letters} for formats" if letters else ""
    return MatchRecognizePlanError(
        f"{shorten(literal)} in {name_part(clause)} is not a format of dates and times",
        span,
        notes=(note,),
        hint=hint,
        code="invalid-datetime-format",
    )
