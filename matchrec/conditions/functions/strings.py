"""Functions of texts. A text is counted in code points, as Spark counts it."""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.conditions.functions.function import Function, function, of_any_number
from matchrec.conditions.types import BOOLEAN, INT, STRING, Family

TEXT = Family.STRING
WHOLE = Family.INTEGER


def concat(*parts: str) -> str:
    return "".join(parts)


def substring(text: str, start: int, length: int | None = None) -> str:
    """From the start-th code point on, from 1; from the end where it is negative."""
    begin = start - 1 if start > 0 else (len(text) + start if start < 0 else 0)
    end = len(text) if length is None else begin + length
    return text[max(begin, 0) : max(end, 0)]


STRINGS: Mapping[str, Function] = {
    "||": of_any_number(function((TEXT,), STRING, concat)),
    "CONCAT": of_any_number(function((TEXT,), STRING, concat)),
    "LENGTH": function((TEXT,), INT, len),
    "UPPER": function((TEXT,), STRING, str.upper),
    "LOWER": function((TEXT,), STRING, str.lower),
    "SUBSTRING": function((TEXT, WHOLE, WHOLE), STRING, substring, least=2),
    "STARTSWITH": function((TEXT, TEXT), BOOLEAN, str.startswith),
    "ENDSWITH": function((TEXT, TEXT), BOOLEAN, str.endswith),
    "CONTAINS": function((TEXT, TEXT), BOOLEAN, lambda text, part: part in text),
}
