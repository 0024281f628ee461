"""Convert Oracle's formats of times, as in `TO_CHAR(t, 'YYYY-MM-DD HH24:MI')`.

Oracle calls the whole text a format and its parts elements. sqlglot has a code for each element, as
in `strftime`. From the codes, it writes the format of each product:

    Oracle      YYYY-MM-DD HH24:MI
    sqlglot     %Y-%m-%d %H:%M
    Spark       yyyy-MM-dd HH:mm

A format with FM before its elements writes names without padding, and numbers without leading
zeros. The names are in the case of their elements, which no code says: `MON` writes JAN, and `Mon`
writes Jan. So a function is called on the formatted time (see `find_case_function`).
"""

from __future__ import annotations

import re
from typing import TypeAlias

from sqlglot import exp
from sqlglot.dialects.oracle import Oracle
from sqlglot.errors import UnsupportedError

from matchrec.dialects.products import Product
from matchrec.syntax.tokens import split_words

# The classes of UPPER and LOWER.
CaseFunction: TypeAlias = type[exp.Upper] | type[exp.Lower]

# The prefix of elements of a format whose names and numbers are not padded.
_FM = "FM"

# sqlglot's codes for the elements that other products can write, too.
_COMMON_ELEMENTS = split_words("YYYY YY MM MON MONTH DD DDD DAY DY HH HH12 HH24 MI SS")
_CODES = {element: Oracle.TIME_MAPPING[element] for element in _COMMON_ELEMENTS}
_CODES |= {"RRRR": "%Y", "RR": "%y", "FF": "%f", "AM": "%p", "PM": "%p"}

# Elements for which sqlglot has no code, or one with another meaning, as Spark writes them. sqlglot
# keeps letters that are not codes.
_ELEMENTS_OF_SPARK = {"Q": "Q", "FF": "SSSSSS"}
_ELEMENTS_OF_SPARK |= {f"FF{digits}": "S" * digits for digits in range(1, 10)}

# The letters of sqlglot's codes for numbers with leading zeros. `%-d` is the day without them.
_PADDED_NUMBERS = "dmHIMSj"

# By product, the letters of numbers that it can write without the zeros. Spark can write all of
# them so, and products that are not listed none.
_UNPADDED_NUMBERS = {"trino": "dmHI"}

# An element of a format of times. Everything else in a format is punctuation, which stays.
_ELEMENT = re.compile(
    r"""
    "[^"]*"             # a text
    | MONTH | MON | MM | MI | DAY | DY | HH(?:12|24)? | FF[1-9]? | AM | PM
    | Y+ | R+ | D+ | S+ # all letters of a run, so that SSSSS is not read as SS, SS and S
    | [A-Z]             # any other letter: Q, or an element that is rejected
    | [0-9"'\#%\[\]{}]  # characters that are rejected: they are not among Oracle's documented
                        # punctuation, and have a meaning in the formats of other products
    """,
    re.IGNORECASE | re.VERBOSE,
)

# A format of numbers, such as `FM999.00`, or `TM9` for the shortest text.
_NUMBER_FORMAT = re.compile(
    r"(FM)?(TM[9E]?|[$09.,BCDEGILMPRSUVX ]*[09][$09.,BCDEGILMPRSUVX ]*)", re.IGNORECASE
)

# The elements that are written as names. The name has the case of the element.
_NAMES = ("MON", "MONTH", "DAY", "DY")

# The names that Oracle pads with blanks to the length of the longest one.
_PADDED_NAMES = {"MONTH", "DAY"}

# Marks before or after noon. All products write them in upper case.
_NOON_MARKS = ("AM", "PM")

_DIFFERENT_CASES = "names of months, days and AM in different cases"


def is_number_format(oracle_format: str) -> bool:
    """Return whether a format is for numbers, such as `FM999.00`."""
    return _NUMBER_FORMAT.fullmatch(oracle_format) is not None


def list_elements(oracle_format: str) -> list[str]:
    """Return the elements of a format of times, without FM and punctuation.

    >>> list_elements('FMDD. Mon "of" YYYY')
    ['DD', 'Mon', '"of"', 'YYYY']
    """
    elements: list[str] = _ELEMENT.findall(_remove_fm(oracle_format))
    return elements


def _remove_fm(oracle_format: str) -> str:
    """Return a format without the FM before its elements, if it has one."""
    return oracle_format[len(_FM) :] if _has_fm(oracle_format) else oracle_format


def _has_fm(oracle_format: str) -> bool:
    """Return whether a format has FM before its elements."""
    return oracle_format.upper().startswith(_FM)


def convert_format(oracle_format: str, write: Product) -> str:
    """Return a format of times with sqlglot's codes for its elements.

    The result is the same for all products, except that Spark has more elements, and quoted texts.

    Args:
        oracle_format: the format.
        write: the product that is written.

    Raises:
        UnsupportedError: the product has nothing for an element, or names would be padded.
    """
    elements = list_elements(oracle_format)
    is_unpadded = _has_fm(oracle_format)
    if not is_unpadded and _PADDED_NAMES & {element.upper() for element in elements}:
        padded = "names of months and days, which Oracle pads"
        raise UnsupportedError(f"{padded}: write MON or DY, or FM before the format")
    codes = _replace_elements(_remove_fm(oracle_format), write)
    return _remove_leading_zeros(codes, write) if is_unpadded else codes


def _replace_elements(format_of_elements: str, write: Product) -> str:
    """Return a format, which has no FM, with codes instead of its elements.

    Raises:
        UnsupportedError: there is no code for an element, or a character is not punctuation.
    """
    codes = _CODES | _ELEMENTS_OF_SPARK if write.is_spark else _CODES

    def replace_element(match: re.Match[str]) -> str:
        """Return the code for one element, or a quoted text as Spark writes it."""
        element = match[0]
        if len(element) == 1 and not element.isalpha():
            raise UnsupportedError(
                f"the character {element} in the format {format_of_elements} of a time"
            )
        is_text = element[0] == '"'
        if is_text and write.is_spark and "%" not in element:  # % would begin a code of sqlglot
            text = element[1:-1].replace("'", "''")
            return f"'{text}'"
        code = codes.get(element.upper())
        if code is None:
            raise UnsupportedError(
                f"the format {format_of_elements} of a time: write its parts one by one"
            )
        return code

    return _ELEMENT.sub(replace_element, format_of_elements)


def _remove_leading_zeros(codes: str, write: Product) -> str:
    """Return the codes of a format without leading zeros: `%-d` instead of `%d`.

    Raises:
        UnsupportedError: the product that is written always writes a number with its zeros.
    """
    possible = _PADDED_NUMBERS if write.is_spark else _UNPADDED_NUMBERS.get(write.name, "")
    for letter in re.findall(f"%([{_PADDED_NUMBERS}])", codes):
        if letter not in possible:
            raise UnsupportedError("numbers without leading zeros: write the format without FM")
    return re.sub(f"%([{_PADDED_NUMBERS}])", r"%-\1", codes)


def find_case_function(elements: list[str]) -> CaseFunction | None:
    """Return the function that gives a formatted time the case of its elements.

        MON-YY     UPPER, because without it the name is like Jan
        Mon-YY     None
        mon-YY     LOWER

    The function changes the whole text. So all names must have the same case, and texts in quotes
    must be in this case already, and AM, too, which all products write in upper case.

    Args:
        elements: the elements of the format, as from `list_elements`.

    Raises:
        UnsupportedError: the names have different cases, or a case that Oracle's documentation
            does not explain, or other texts would change as well.
    """
    case_functions: set[CaseFunction | None] = set()
    unchanged_text = ""
    for element in elements:
        if element.upper() in _NAMES or element in ("am", "pm"):
            case_functions.add(_find_case_function_of_name(element))
        elif element[0] == '"' or element in _NOON_MARKS:
            unchanged_text += element.strip('"')
        elif element.upper() in _NOON_MARKS:
            raise _make_case_error(element)
    if len(case_functions) > 1:
        raise UnsupportedError(_DIFFERENT_CASES)
    case_function = next(iter(case_functions), None)
    if case_function is not None:
        is_upper = case_function is exp.Upper
        changed_text = unchanged_text.upper() if is_upper else unchanged_text.lower()
        if changed_text != unchanged_text:
            raise UnsupportedError(_DIFFERENT_CASES)
    return case_function


def _find_case_function_of_name(element: str) -> CaseFunction | None:
    """Return the function that gives a name the case of its element; None for `Mon`.

    Raises:
        UnsupportedError: the element is written like `MOn`. Oracle's documentation has only `MON`,
            `Mon` and `mon`.
    """
    if element.isupper():
        return exp.Upper
    if element.islower():
        return exp.Lower
    if element != element.capitalize():
        raise _make_case_error(element)
    return None


def _make_case_error(element: str) -> UnsupportedError:
    """Return the error for an element whose case Oracle's documentation does not explain."""
    cases = element.upper()
    if cases in _NAMES:
        cases += f", {element.capitalize()}"
    return UnsupportedError(f"{element} in a format of a time: write {cases} or {element.lower()}")
