"""Rules for TO_CHAR with and without a format, and for TIMESTAMP literals, which sqlglot formats.

sqlglot has its own marks for the parts of a format, as in `strftime`. From them, it writes the
format of each product:

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
from matchrec.dialects.rules.value_kinds import TIMES, TIMESTAMPS, ValueKind
from matchrec.syntax.tokens import split_words

# sqlglot's marks for the parts of Oracle's formats of times that other products can write, too.
_COMMON_PARTS = split_words("YYYY YY MM MON MONTH DD DDD DAY DY HH HH12 HH24 MI SS")
_MARKS = {part: Oracle.TIME_MAPPING[part] for part in _COMMON_PARTS}
_MARKS |= {"RRRR": "%Y", "RR": "%y", "FF": "%f", "AM": "%p", "PM": "%p"}

# A part of a format of times: a quoted text, or letters that stand for a part of the time. Also a
# character that is rejected: Oracle's documentation does not list it as punctuation, and it is
# syntax in the formats of other products.
_FORMAT_PART = re.compile(
    r'"[^"]*"|Y+|R+|MONTH|MON|MM|MI|DAY|DY|D+|HH(?:12|24)?|S+|FF[1-9]?|AM|PM|'
    r"""[A-Z0-9"'#%\[\]{}]""",
    re.IGNORECASE,
)

# A format of numbers, such as `FM999.00`, or `TM9` for the shortest text.
_FORMAT_OF_NUMBER = re.compile(
    r"(FM)?(TM[9E]?|[$09.,BCDEGILMPRSUVX ]*[09][$09.,BCDEGILMPRSUVX ]*)", re.IGNORECASE
)

# The parts that stand for names. A name is in upper case if its part of the format is.
_NAME_PARTS = ("MON", "MONTH", "DAY", "DY")

_MIXED_CASES = "names of months, days and AM in different cases"


def rewrite_timestamp_literal(node: exp.StrToTime, _: RuleContext) -> exp.Expr:
    """Rewrite `TIMESTAMP '2011-04-01 10:00:00'` to a cast.

    sqlglot reads it with a format that needs a fraction of a second, which may be left out.
    """
    has_literal_format = node.args["format"].name == "%Y-%m-%d %H:%M:%S.%f"
    if isinstance(node.this, exp.Literal) and has_literal_format:
        return exp.cast(node.this, "timestamp")
    return node


def rewrite_to_char_with_format(node: exp.ToChar | exp.TimeToStr, context: RuleContext) -> exp.Expr:
    """Rewrite `TO_CHAR(time, 'YYYY-MM-DD')`. A format of numbers stays for Snowflake.

    Raises:
        UnsupportedError: the product that is written has nothing for a part of the format, or has
            no formats of numbers like Oracle's.
    """
    pattern = _read_format(node)
    is_unpadded = pattern.upper().startswith("FM")  # no blanks after names, no leading zeros
    body = pattern[len("FM") :] if is_unpadded else pattern
    parts = [part[0] for part in _FORMAT_PART.finditer(body)]
    if not parts:
        return node
    if _FORMAT_OF_NUMBER.fullmatch(pattern):
        if context.write.name == "snowflake":
            return node
        raise UnsupportedError(f"the number format {pattern}: write TO_CHAR(x) or ROUND(x, 2)")
    if not is_unpadded and {part.upper() for part in parts} & {"MONTH", "DAY"}:
        padded = "names of months and days, which Oracle pads"
        raise UnsupportedError(f"{padded}: write MON or DY, or FM before the format")
    marks = _replace_parts_by_marks(body, context)
    if is_unpadded:  # sqlglot's `%-d` is a day without leading zero
        marks = re.sub("%([dmHIMSj])", r"%-\1", marks)
    return _apply_case(parts, exp.TimeToStr(this=node.this, format=exp.Literal.string(marks)))


def _read_format(node: exp.ToChar | exp.TimeToStr) -> str:
    """Return a format as Oracle writes it; "" without one.

    sqlglot has replaced its parts by marks if it knows that it is a format of times.
    """
    literal = node.args.get("format")
    pattern = literal.name if isinstance(literal, exp.Literal) and literal.is_string else ""
    if isinstance(node, exp.ToChar):
        return pattern
    return format_time(pattern, Oracle.INVERSE_TIME_MAPPING) or pattern


def _replace_parts_by_marks(pattern: str, context: RuleContext) -> str:
    """Return a format with sqlglot's marks for its parts, and its texts as Spark writes them.

    Raises:
        UnsupportedError: there is nothing for a part, or a character is not punctuation.
    """

    def replace_part(match: re.Match[str]) -> str:
        """Return the mark for one part of a format, or a quoted text as Spark writes it."""
        part = match[0].upper()
        if len(part) == 1 and not part.isalpha():
            raise UnsupportedError(f"the character {part} in the format {pattern} of a time")
        if part[0] == '"' and context.write.is_spark and "%" not in part:
            return "'" + match[0][1:-1].replace("'", "''") + "'"
        if part.startswith("FF") and context.write.is_spark:  # digits of a second
            return "S" * int(part[2:] or 6)
        if part not in _MARKS and not (part == "Q" and context.write.is_spark):
            raise _make_format_error(pattern)
        return _MARKS.get(part, part)

    return _FORMAT_PART.sub(replace_part, pattern)


def _apply_case(parts: list[str], text: exp.Expr) -> exp.Expr:
    """Return a formatted time whose names have the case of the format: `MON`, `Mon` or `mon`.

    Args:
        parts: the parts of the format.
        text: the call that formats the time. Its names are like `Mon`.

    Raises:
        UnsupportedError: the names have different cases, or a case that Oracle's documentation
            does not explain, or other texts would change as well.
    """
    for part in parts:
        if part.upper() in ("AM", "PM") and not (part.isupper() or part.islower()):
            raise _make_case_error(part)
    names = [part for part in parts if part.upper() in _NAME_PARTS or part in ("am", "pm")]
    functions = {_find_case_function(name) for name in names}
    if len(functions) > 1:
        raise UnsupportedError(_MIXED_CASES)
    function = next(iter(functions), None)
    if function is None:
        return text
    fixed_parts = [part.strip('"') for part in parts if part[0] == '"' or part in ("AM", "PM")]
    fixed_text = "".join(fixed_parts)
    changed_text = fixed_text.upper() if function is exp.Upper else fixed_text.lower()
    if changed_text != fixed_text:
        raise UnsupportedError(_MIXED_CASES)
    return function(this=text)


def _find_case_function(name: str) -> type[exp.Upper | exp.Lower] | None:
    """Return the function that writes a text in the case of a name; None for `Mon`.

    Raises:
        UnsupportedError: the name is written like `MOn`. Oracle's documentation has only `MON`,
            `Mon` and `mon`.
    """
    if name.isupper():
        return exp.Upper
    if name.islower():
        return exp.Lower
    if name != name.capitalize():
        raise _make_case_error(name)
    return None


def _make_case_error(name: str) -> UnsupportedError:
    """Return the error for a name whose case Oracle's documentation does not explain."""
    cases = name.upper()
    if cases in _NAME_PARTS:
        cases += f", {name.capitalize()}"
    return UnsupportedError(f"{name} in a format of a time: write {cases} or {name.lower()}")


def _make_format_error(pattern: str) -> UnsupportedError:
    """Return the error for a format that only Oracle has."""
    return UnsupportedError(f"the format {pattern} of a time: write its parts one by one")


def rewrite_to_char_without_format(node: exp.ToChar, context: RuleContext) -> exp.Expr:
    """Rewrite `TO_CHAR(x)`: a time has the format DD-MON-RR, any other value is cast to text.

    DD-MON-RR is Oracle's default for a DATE, which has a time of day and is therefore a timestamp
    in Spark. The default for a TIMESTAMP of Oracle also has the time. The types of Spark do not say
    which of the two a timestamp is, so there is a note.
    """
    if node.args.get("format"):
        return node
    kind = context.request_kind(node.this)
    if kind in TIMESTAMPS:
        context.add_note(
            "TO_CHAR(t) returns the day only, as for a DATE of Oracle: write a format if t is a "
            "TIMESTAMP in Oracle"
        )
    if kind in TIMES:
        text = exp.TimeToStr(this=node.this, format=exp.Literal.string("%d-%b-%y"))
        return exp.Upper(this=text)
    note_fraction(node.this, context)
    return exp.cast(node.this.copy(), "text")


def note_fraction(number: exp.Expr, context: RuleContext) -> None:
    """Add a note on the text of a number.

    It is `11.5` and `.5` in Oracle, not `11.50` and `0.5`.
    """
    if context.request_kind(number) in (ValueKind.DECIMAL, ValueKind.FRACTION):
        zeros = "without zeros at its end and without a zero before its point"
        context.add_note(f"Oracle writes a number {zeros}")
