"""Rules for TO_CHAR with and without a format, and for TIMESTAMP literals, which sqlglot formats.

Oracle calls the whole text a format and its parts elements. sqlglot has a code for each element, as
in `strftime`. From the codes, it writes the format of each product:

    Oracle      TO_CHAR(t, 'YYYY-MM-DD HH24:MI')
    sqlglot     %Y-%m-%d %H:%M
    Spark       DATE_FORMAT(t, 'yyyy-MM-dd HH:mm')
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.oracle import Oracle
from sqlglot.errors import UnsupportedError
from sqlglot.time import format_time

from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.oracle_times import is_oracle_date
from matchrec.dialects.rules.value_kinds import TIMES, TIMESTAMPS, ValueKind
from matchrec.syntax.tokens import split_words

# sqlglot's codes for the elements that other products can write, too.
_COMMON_ELEMENTS = split_words("YYYY YY MM MON MONTH DD DDD DAY DY HH HH12 HH24 MI SS")
_CODES = {element: Oracle.TIME_MAPPING[element] for element in _COMMON_ELEMENTS}
_CODES |= {"RRRR": "%Y", "RR": "%y", "FF": "%f", "AM": "%p", "PM": "%p"}

# The letters of sqlglot's codes for numbers that can have leading zeros, and which of them products
# other than Spark can write without the zeros.
_CODES_OF_NUMBERS = "dmHIMSj"
_UNPADDED_CODES = {"trino": "dmHI"}

# Elements for which sqlglot has no code, or one with another meaning, as Spark writes them. sqlglot
# keeps letters that are not codes.
_ELEMENTS_OF_SPARK = {"Q": "Q", "FF": "SSSSSS"}
_ELEMENTS_OF_SPARK |= {f"FF{digits}": "S" * digits for digits in range(1, 10)}

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
_FORMAT_OF_NUMBER = re.compile(
    r"(FM)?(TM[9E]?|[$09.,BCDEGILMPRSUVX ]*[09][$09.,BCDEGILMPRSUVX ]*)", re.IGNORECASE
)

# The elements that are written as names. The name is in upper case if the element is.
_NAME_ELEMENTS = ("MON", "MONTH", "DAY", "DY")

# The names that Oracle pads with blanks to the length of the longest one.
_PADDED_NAMES = {"MONTH", "DAY"}

_DIFFERENT_CASES = "names of months, days and AM in different cases"

# The format with which sqlglot reads a TIMESTAMP literal of Oracle.
_FORMAT_OF_TIMESTAMP_LITERAL = "%Y-%m-%d %H:%M:%S.%f"


def rewrite_timestamp_literal(node: exp.StrToTime, _: RuleContext) -> exp.Expr:
    """Rewrite `TIMESTAMP '2011-04-01 10:00:00'` to a cast.

    sqlglot reads it with a format that needs a fraction of a second, but literals may have none.
    """
    is_timestamp_literal = node.args["format"].name == _FORMAT_OF_TIMESTAMP_LITERAL
    if isinstance(node.this, exp.Literal) and is_timestamp_literal:
        return exp.cast(node.this, "timestamp")
    return node


def rewrite_to_char_with_format(node: exp.ToChar | exp.TimeToStr, context: RuleContext) -> exp.Expr:
    """Rewrite `TO_CHAR(time, 'YYYY-MM-DD')`.

    A call with a format of numbers stays for Snowflake, which has the same formats.

    Raises:
        UnsupportedError: the product that is written has nothing for an element of the format, or
            it is a format of numbers, and the product is not Snowflake. Or there is a third
            argument, which changes the language: names are written in English.
    """
    if node.args.get("nlsparam"):
        raise UnsupportedError("the third argument of TO_CHAR, as names are in English: remove it")
    oracle_format = _read_format(node)
    if _FORMAT_OF_NUMBER.fullmatch(oracle_format):
        if context.write.name == "snowflake":
            return node
        raise UnsupportedError(
            f"the number format {oracle_format}: write TO_CHAR(x) or ROUND(x, 2)"
        )
    # FM: names are not padded with blanks, and numbers have no leading zeros.
    is_unpadded = oracle_format.upper().startswith("FM")
    format_of_elements = oracle_format[len("FM") :] if is_unpadded else oracle_format
    elements = _ELEMENT.findall(format_of_elements)
    if not elements:
        return node
    if not is_unpadded and _PADDED_NAMES & {element.upper() for element in elements}:
        padded = "names of months and days, which Oracle pads"
        raise UnsupportedError(f"{padded}: write MON or DY, or FM before the format")
    codes = _replace_elements_by_codes(format_of_elements, context)
    if is_unpadded:
        codes = _remove_leading_zeros(codes, context)
    formatted_time = exp.TimeToStr(this=node.this, format=exp.Literal.string(codes))
    return _apply_case(elements, formatted_time)


def _read_format(node: exp.ToChar | exp.TimeToStr) -> str:
    """Return a format as Oracle writes it; "" if there is none, or if it is not a literal.

    sqlglot has replaced its elements by codes if it knows that it is a format of times.
    """
    literal = node.args.get("format")
    text = literal.name if isinstance(literal, exp.Literal) and literal.is_string else ""
    if isinstance(node, exp.ToChar):
        return text
    return format_time(text, Oracle.INVERSE_TIME_MAPPING) or text


def _replace_elements_by_codes(oracle_format: str, context: RuleContext) -> str:
    """Return a format with sqlglot's codes for its elements, and its texts as Spark writes them.

    Raises:
        UnsupportedError: there is no code for an element, or a character is not punctuation.
    """
    is_spark = context.write.is_spark
    codes = _CODES | _ELEMENTS_OF_SPARK if is_spark else _CODES

    def replace_element(match: re.Match[str]) -> str:
        """Return the code for one element, or a quoted text as Spark writes it."""
        element = match[0]
        if len(element) == 1 and not element.isalpha():
            raise UnsupportedError(
                f"the character {element} in the format {oracle_format} of a time"
            )
        is_text = element[0] == '"'
        if is_text and is_spark and "%" not in element:  # sqlglot reads % as the start of a code
            text = element[1:-1].replace("'", "''")
            return f"'{text}'"
        code = codes.get(element.upper())
        if code is None:
            raise UnsupportedError(
                f"the format {oracle_format} of a time: write its parts one by one"
            )
        return code

    return _ELEMENT.sub(replace_element, oracle_format)


def _remove_leading_zeros(codes: str, context: RuleContext) -> str:
    """Return the codes of a format without leading zeros. sqlglot's `%-d` is such a day.

    Raises:
        UnsupportedError: the product that is written always writes a number with its zeros.
    """
    if context.write.is_spark:
        possible_codes = _CODES_OF_NUMBERS
    else:
        possible_codes = _UNPADDED_CODES.get(context.write.name, "")
    for code in re.findall(f"%([{_CODES_OF_NUMBERS}])", codes):
        if code not in possible_codes:
            raise UnsupportedError("numbers without leading zeros: write the format without FM")
    return re.sub(f"%([{_CODES_OF_NUMBERS}])", r"%-\1", codes)


def _apply_case(elements: list[str], formatted_time: exp.Expr) -> exp.Expr:
    """Return a formatted time whose names have the case of the format: `MON`, `Mon` or `mon`.

    UPPER or LOWER changes all of the text, so all names must have the same case, and what stays as
    it is must not change. AM is among the latter: all products write it in upper case.

    Args:
        elements: the elements of the format.
        formatted_time: the call that formats the time. Its names are like `Mon`.

    Raises:
        UnsupportedError: the names have different cases, or a case that Oracle's documentation
            does not explain, or other texts would change as well.
    """
    functions: set[type[exp.Upper | exp.Lower] | None] = set()
    fixed_text = ""
    for element in elements:
        if element.upper() in _NAME_ELEMENTS or element in ("am", "pm"):
            functions.add(_find_case_function(element))
        elif element[0] == '"' or element in ("AM", "PM"):
            fixed_text += element.strip('"')
        elif element.upper() in ("AM", "PM"):
            raise _make_case_error(element)
    if len(functions) > 1:
        raise UnsupportedError(_DIFFERENT_CASES)
    function = next(iter(functions), None)
    if function is None:
        return formatted_time
    changed_text = fixed_text.upper() if function is exp.Upper else fixed_text.lower()
    if changed_text != fixed_text:
        raise UnsupportedError(_DIFFERENT_CASES)
    return function(this=formatted_time)


def _find_case_function(element: str) -> type[exp.Upper | exp.Lower] | None:
    """Return the function that writes a name in the case of its element; None for `Mon`.

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
    if cases in _NAME_ELEMENTS:
        cases += f", {element.capitalize()}"
    return UnsupportedError(f"{element} in a format of a time: write {cases} or {element.lower()}")


def rewrite_to_char_without_format(node: exp.ToChar, context: RuleContext) -> exp.Expr:
    """Rewrite `TO_CHAR(x)`: a time has the format DD-MON-RR, any other value is cast to text.

    DD-MON-RR is Oracle's default for a DATE, which has a time of day and is therefore a timestamp
    in Spark. The default for a TIMESTAMP of Oracle also has the time. The types of Spark do not say
    which of the two a timestamp is, so there is a note, except for SYSDATE and TRUNC(t).
    """
    if node.args.get("format"):
        return node
    kind = context.request_kind(node.this)
    if kind in TIMESTAMPS and not is_oracle_date(node.this):
        context.add_note(
            "the text of a time has the day only, as for a DATE of Oracle: write TO_CHAR(t, format)"
            " if t is a TIMESTAMP in Oracle"
        )
    if kind in TIMES:
        formatted_time = exp.TimeToStr(this=node.this, format=exp.Literal.string("%d-%b-%y"))
        return exp.Upper(this=formatted_time)
    note_fraction(node.this, context)
    return exp.cast(node.this.copy(), "text")


def note_fraction(number: exp.Expr, context: RuleContext) -> None:
    """Add a note on the text of a number.

    It is `11.5` and `.5` in Oracle, not `11.50` and `0.5`.
    """
    if context.request_kind(number) in (ValueKind.DECIMAL, ValueKind.FRACTION):
        zeros = "without zeros at its end and without a zero before its point"
        context.add_note(f"Oracle writes a number {zeros}")
