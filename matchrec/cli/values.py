"""The values of arguments such as `--arg n=3`: text on the command line, values in Python."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import Column

# A value whose type a text alone shows.
PlainValue: TypeAlias = int | float | Decimal | bool | str | None

NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
KEYWORDS = {"true": True, "false": False, "null": None}

# A literal of SQL that begins with the name of its type, such as DATE'2026-01-31'.
TYPED_LITERAL = re.compile(
    r"(DATE|TIMESTAMP(_NTZ|_LTZ)?|X)\s*'[^']*'|INTERVAL\s*'[^']*'\s+\w+(\s+TO\s+\w+)?",
    re.IGNORECASE,
)


def read_plain_value(text: str) -> PlainValue:
    """Return the number, the truth value, None for NULL, or the text that an argument means.

    Dates and times stay texts, and so do numbers with a leading zero and texts in single quotes.

    >>> [read_plain_value(text) for text in ("12", "1.5", "1e3", "007", "null", "O'Hara", "'12'")]
    [12, Decimal('1.5'), 1000.0, '007', None, "O'Hara", '12']
    """
    if NUMBER.fullmatch(text):
        if "e" in text.lower():
            return float(text)
        return Decimal(text) if "." in text else int(text)
    if text.lower() in KEYWORDS:
        return KEYWORDS[text.lower()]
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text


def read_argument_value(text: str) -> PlainValue | Column:
    """Return the value of a query parameter.

    A typed literal, such as `DATE'2026-01-31'`, becomes a Column. PySpark needs a session for this,
    so a session must be running. Every other text becomes a plain value.
    """
    if TYPED_LITERAL.fullmatch(text):
        from pyspark.sql.functions import expr

        return expr(text)
    return read_plain_value(text)
