"""Functions of texts. A text is counted in code points, as Spark counts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from matchrec.conditions.functions.function import (
    AnsiError,
    Compute,
    Function,
    FunctionError,
    UndecidedError,
    Use,
    function,
    gives,
)
from matchrec.conditions.functions.texts.letters import capitalise, lower, mask, soundex, upper
from matchrec.conditions.types import BOOLEAN, INT, STRING, Family

TEXT = Family.STRING
WHOLE = Family.INTEGER
MOST = (1 << 31) - 1
LONGEST = 1 << 24  # of a text that is made longer: what Java has the memory for is not known


def concat(*parts: str) -> str:
    return "".join(parts)


def concat_with(separator: str | None, *parts: str | None) -> str | None:
    """NULLs are left out, but for the separator."""
    if separator is None:
        return None
    return separator.join(part for part in parts if part is not None)


def substring(text: str, start: int, length: int = MOST) -> str:
    """From the start-th code point on, from 1; from the end where it is negative."""
    begin = start - 1 if start > 0 else (len(text) + start if start < 0 else 0)
    end = begin + length
    return text[max(begin, 0) : max(end, 0)]


def left(text: str, length: int) -> str:
    return text[: max(length, 0)]


def right(text: str, length: int) -> str:
    return text[max(len(text) - length, 0) :] if length > 0 else ""


def trimming(strip: Callable[[str, str], str]) -> Function:
    """Of one text; or, of two, what the first has is taken from the second."""

    def trim(one: str, other: str | None = None) -> str:
        return strip(one, " ") if other is None else strip(other, one)

    return function(texts(2), STRING, trim, least=1)


def trim_both(text: str, characters: str = " ") -> str:
    return text.strip(characters)


def padding(text: str, length: int, pad: str) -> str:
    """What makes a text as long."""
    missing = length - len(text)
    if missing > LONGEST:
        raise UndecidedError(f"a text of {length} characters is too long")
    return (pad * missing)[:missing] if missing > 0 else ""


def pad_left(text: str, length: int, pad: str = " ") -> str:
    return left(padding(text, length, pad) + text, length)


def pad_right(text: str, length: int, pad: str = " ") -> str:
    return left(text + padding(text, length, pad), length)


def find(text: str, part: str) -> int:
    """From 1; 0 where it is not in the text."""
    return text.find(part) + 1


def locate(part: str | None, text: str | None, start: int | None = 1) -> int | None:
    """From 1, not before `start`; without a start there is nothing."""
    if start is None:
        return 0
    if part is None or text is None:
        return None
    if start < 1:
        return 0
    return text.find(part, start - 1) + 1 if part else 1


def substitute(text: str, searched: str, instead: str = "") -> str:
    return text.replace(searched, instead) if searched else text


def repeat(text: str, times: int) -> str:
    if len(text) * times > LONGEST:
        raise UndecidedError(f"a text of {times} times {len(text)} characters is too long")
    return text * times


def space(length: int) -> str:
    return repeat(" ", length)


def overlay(text: str, put: str, start: int, length: int = -1) -> str:
    """The text with another one in place of so many characters."""
    taken = len(put) if length < 0 else length
    return substring(text, 1, start - 1) + put + substring(text, start + taken, 2 * MOST)


def part_of(text: str, separator: str, number: int) -> str:
    """From 1, or from the end where it is negative; nothing where there is no such part."""
    if number == 0:
        raise FunctionError("INVALID_INDEX_OF_ZERO: parts are counted from 1")
    parts = text.split(separator) if separator else [text]
    place = number - 1 if number > 0 else len(parts) + number
    return parts[place] if 0 <= place < len(parts) else ""


def up_to(text: str, separator: str, count: int) -> str:
    """What is before so many separators; what is after them, from the end, where negative."""
    if not separator or count == 0:
        return ""
    place = -1 if count > 0 else len(text)
    for _ in range(abs(count)):
        place = (
            text.find(separator, place + 1)
            if count > 0
            else text.rfind(separator, 0, max(place - 1 + len(separator), 0))
        )
        if place < 0:
            return text
    return text[:place] if count > 0 else text[place + len(separator) :]


def translate(text: str, characters: str, others: str) -> str:
    """Each of the characters as the other one in its place, or gone where there is none."""
    table: dict[int, str] = {}
    for place, character in enumerate(characters):
        table.setdefault(ord(character), others[place : place + 1])
    return text.translate(table)


def place_in_list(word: str, listed: str) -> int:
    """From 1, among words between commas."""
    words = listed.split(",")
    return words.index(word) + 1 if word in words else 0


def levenshtein(one: str, other: str, limit: int | None = None) -> int:
    """How many characters one must change, put in or leave out; -1 where it is beyond a limit."""
    if limit is not None and abs(len(one) - len(other)) > limit:
        return -1
    row = list(range(len(other) + 1))
    for number, here in enumerate(one, 1):
        diagonal, row[0] = row[0], number
        for place, there in enumerate(other, 1):
            changed = diagonal + (here != there)
            diagonal = row[place]
            row[place] = min(changed, diagonal + 1, row[place - 1] + 1)
    return row[-1] if limit is None or row[-1] <= limit else -1


def levenshtein_within(one: str | None, other: str | None, *limits: int | None) -> int | None:
    """With a limit or without; NULL as a limit is 0."""
    if one is None or other is None:
        return None
    return levenshtein(one, other, *(limit or 0 for limit in limits))


def first_code(text: str) -> int:
    return ord(text[0]) if text else 0


def character(code: int) -> str:
    """Of the lowest eight bits."""
    return chr(code & 255) if code >= 0 else ""


def chosen_text(use: Use) -> Compute:
    """The number-th text, from 1; beyond them NULL, or an error under ANSI."""

    def compute(number: int | None, *given: str | None) -> str | None:
        if number is None or 1 <= number <= len(given):
            return None if number is None else given[number - 1]
        if use.ansi:
            raise AnsiError(f"INVALID_ARRAY_INDEX: there are {len(given)} texts, not {number}")
        return None

    return compute


def texts(count: int) -> tuple[Family, ...]:
    return (TEXT,) * count


LOCATE = function((TEXT, TEXT, WHOLE), INT, locate, least=2, takes_nulls=True)
CONCAT = replace(function((TEXT,), STRING, concat), repeats=True)
LENGTH = function((TEXT,), INT, len)
UPPER = function((TEXT,), STRING, upper)
LOWER = function((TEXT,), STRING, lower)
SUBSTRING = function((TEXT, WHOLE, WHOLE), STRING, substring, least=2)

STRINGS: Mapping[str, Function] = {
    "||": CONCAT,
    "CONCAT": CONCAT,
    "CONCAT_WS": replace(CONCAT, build=lambda _: concat_with, takes_nulls=True),
    "LENGTH": LENGTH,
    "LEN": LENGTH,
    "CHAR_LENGTH": LENGTH,
    "CHARACTER_LENGTH": LENGTH,
    "OCTET_LENGTH": function((TEXT,), INT, lambda text: len(text.encode())),
    "BIT_LENGTH": function((TEXT,), INT, lambda text: 8 * len(text.encode())),
    "UPPER": UPPER,
    "UCASE": UPPER,
    "LOWER": LOWER,
    "LCASE": LOWER,
    "INITCAP": function((TEXT,), STRING, capitalise),
    "SUBSTRING": SUBSTRING,
    "SUBSTR": SUBSTRING,
    "LEFT": function((TEXT, WHOLE), STRING, left),
    "RIGHT": function((TEXT, WHOLE), STRING, right),
    "TRIM": trimming(str.strip),
    "LTRIM": trimming(str.lstrip),
    "RTRIM": trimming(str.rstrip),
    "BTRIM": function(texts(2), STRING, trim_both, least=1),
    "LPAD": function((TEXT, WHOLE, TEXT), STRING, pad_left, least=2),
    "RPAD": function((TEXT, WHOLE, TEXT), STRING, pad_right, least=2),
    "INSTR": function(texts(2), INT, find),
    "LOCATE": LOCATE,
    "POSITION": LOCATE,
    "REPLACE": function(texts(3), STRING, substitute, least=2),
    "OVERLAY": function((TEXT, TEXT, WHOLE, WHOLE), STRING, overlay, least=3),
    "REVERSE": function((TEXT,), STRING, lambda text: text[::-1]),
    "REPEAT": function((TEXT, WHOLE), STRING, repeat),
    "SPACE": function((WHOLE,), STRING, space),
    "STARTSWITH": function(texts(2), BOOLEAN, str.startswith),
    "ENDSWITH": function(texts(2), BOOLEAN, str.endswith),
    "CONTAINS": function(texts(2), BOOLEAN, lambda text, part: part in text),
    "SPLIT_PART": function((TEXT, TEXT, WHOLE), STRING, part_of),
    "SUBSTRING_INDEX": function((TEXT, TEXT, WHOLE), STRING, up_to),
    "TRANSLATE": function(texts(3), STRING, translate),
    "FIND_IN_SET": function(texts(2), INT, place_in_list),
    "LEVENSHTEIN": function(
        (TEXT, TEXT, WHOLE), INT, levenshtein_within, least=2, takes_nulls=True
    ),
    "ASCII": function((TEXT,), INT, first_code),
    "CHR": function((WHOLE,), STRING, character),
    "CHAR": function((WHOLE,), STRING, character),
    "SOUNDEX": function((TEXT,), STRING, soundex),
    "MASK": function((TEXT,), STRING, mask),
    "ELT": Function((WHOLE, TEXT), gives(STRING), chosen_text, takes_nulls=True, repeats=True),
}
