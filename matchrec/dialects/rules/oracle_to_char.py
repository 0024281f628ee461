"""Rules for TO_CHAR of Oracle, with and without a format.

    TO_CHAR(t, 'YYYY-MM-DD HH24:MI')     DATE_FORMAT(t, 'yyyy-MM-dd HH:mm')
    TO_CHAR(t)                           UPPER(DATE_FORMAT(t, 'dd-MMM-yy')) of a time
    TO_CHAR(n)                           CAST(n AS STRING) of a number

`oracle_formats` converts the formats.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.oracle import Oracle
from sqlglot.errors import UnsupportedError
from sqlglot.time import format_time

from matchrec.dialects.products import SNOWFLAKE
from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.oracle_formats import (
    convert_format,
    find_case_function,
    is_format_of_number,
    list_elements,
)
from matchrec.dialects.rules.oracle_times import is_oracle_date
from matchrec.dialects.rules.value_kinds import TIMES, TIMESTAMPS, ValueKind

# Oracle's default format of a DATE is DD-MON-RR. This is DD-Mon-RR in sqlglot's codes.
_DEFAULT_FORMAT = "%d-%b-%y"


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
    if is_format_of_number(oracle_format):
        if context.write is SNOWFLAKE:
            return node
        raise UnsupportedError(
            f"the number format {oracle_format}: write TO_CHAR(x) or ROUND(x, 2)"
        )
    elements = list_elements(oracle_format)
    if not elements:
        return node
    codes = convert_format(oracle_format, context.write)
    formatted_time = exp.TimeToStr(this=node.this, format=exp.Literal.string(codes))
    case_function = find_case_function(elements)
    return formatted_time if case_function is None else case_function(this=formatted_time)


def _read_format(node: exp.ToChar | exp.TimeToStr) -> str:
    """Return a format as Oracle writes it; "" if there is none, or if it is not a literal.

    sqlglot has replaced its elements by codes if it knows that it is a format of times.
    """
    literal = node.args.get("format")
    text = literal.name if isinstance(literal, exp.Literal) and literal.is_string else ""
    if isinstance(node, exp.ToChar):
        return text
    return format_time(text, Oracle.INVERSE_TIME_MAPPING) or text


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
        formatted_time = exp.TimeToStr(this=node.this, format=exp.Literal.string(_DEFAULT_FORMAT))
        return exp.Upper(this=formatted_time)
    note_text_of_number(node.this, context)
    return exp.cast(node.this.copy(), "text")


def note_text_of_number(value: exp.Expr, context: RuleContext) -> None:
    """Add a note that Oracle writes a value otherwise, if it is a number that may have a fraction.

    Its text is `11.5` and `.5` in Oracle, not `11.50` and `0.5`.
    """
    if context.request_kind(value) in (ValueKind.DECIMAL, ValueKind.FRACTION):
        zeros = "without zeros at its end and without a zero before its point"
        context.add_note(f"Oracle writes a number {zeros}")
