"""Texts put together by a format, and as parts of an address; the digit that checks a number."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from urllib.parse import quote_plus, unquote_to_bytes

from matchrec.conditions.functions.function import (
    Function,
    FunctionError,
    UndecidedError,
    Use,
    Value,
    function,
)
from matchrec.conditions.types import BOOLEAN, STRING, Family, ValueType

TEXT = Family.STRING
PART = re.compile(r"%(?:%|(-?)(0?)([1-9]\d{0,3})?([sd]))|[^%]+")
ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")

Show = Callable[[Value], str]
"""A value as text."""


def format_type(use: Use) -> ValueType | None:
    """Of a format, then texts, truth values and whole numbers."""
    first, *others = (one.family for one in use.types)
    shown = {Family.STRING, Family.BOOLEAN, Family.INTEGER}
    return STRING if first is TEXT and set(others) <= shown else None


@lru_cache(maxsize=1000)
def read_format(text: str) -> tuple[str | tuple[str, Show], ...]:
    """Texts that stand there, and by its letter what shows a value. Raises UndecidedError."""
    found: list[str | tuple[str, Show]] = []
    place = 0
    while place < len(text):
        part = PART.match(text, place)
        if part is None or (part[2] and (part[1] or part[4] == "s" or not part[3])):
            raise UndecidedError(f"the format {text!r} has {text[place : place + 2]!r}")
        left, zeros, width, letter = part.groups()
        found.append((letter, shower(left, zeros, int(width or 0))) if letter else part[0])
        place = part.end()
    return tuple("%" if one == "%%" else one for one in found)


def shower(left: str, zeros: str, width: int) -> Show:
    """What shows a value in a width."""

    def show(value: Value) -> str:
        text = "null" if value is None else str(value)
        text = text.lower() if isinstance(value, bool) else text
        length = width - sum(one > "\uffff" for one in text)  # Java counts these twice
        if left:
            return text.ljust(length)
        return text.zfill(length) if zeros and value is not None else text.rjust(length)

    return show


def put_together(text: str | None, *values: Value) -> str | None:
    """FORMAT_STRING."""
    if text is None:
        return None
    left, parts = iter(values), []
    for part in read_format(text):
        if isinstance(part, str):
            parts.append(part)
            continue
        letter, show = part
        try:
            value = next(left)
        except StopIteration:
            raise FunctionError(f"the format {text!r} has more parts than values") from None
        if letter == "d" and isinstance(value, str | bool):
            raise FunctionError(f"the format {text!r} shows a number, not {value!r}")
        parts.append(show(value))
    return "".join(parts)


def url_encode(text: str) -> str:
    """As java.net.URLEncoder does, which keeps `*` and not `~`."""
    return quote_plus(text, safe="*").replace("~", "%7E")


def url_decode(text: str) -> str:
    if ESCAPE.search(text):
        raise FunctionError(f"CANNOT_DECODE_URL: {text!r}")
    return unquote_to_bytes(text.replace("+", " ")).decode(errors="replace")


def has_check_digit(digits: str) -> bool:
    """LUHN_CHECK: every second digit, from the end, counts twice."""
    if not digits or not set(digits) <= set("0123456789"):
        return False
    numbers = [int(one) for one in reversed(digits)]
    twice = (sum(divmod(2 * one, 10)) for one in numbers[1::2])
    return (sum(numbers[::2]) + sum(twice)) % 10 == 0


FORMAT = Function((None,), format_type, lambda _: put_together, takes_nulls=True, repeats=True)

ENCODINGS: Mapping[str, Function] = {
    "FORMAT_STRING": FORMAT,
    "PRINTF": FORMAT,
    "URL_ENCODE": function((TEXT,), STRING, url_encode),
    "URL_DECODE": function((TEXT,), STRING, url_decode),
    "LUHN_CHECK": function((TEXT,), BOOLEAN, has_check_digit),
}
