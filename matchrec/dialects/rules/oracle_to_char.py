"""Rules for Oracle's TO_CHAR, with and without a format.

    TO_CHAR(t, 'YYYY-MM-DD HH24:MI')     DATE_FORMAT(t, 'yyyy-MM-dd HH:mm')
    TO_CHAR(t), of a time t              UPPER(DATE_FORMAT(t, 'dd-MMM-yy'))
    TO_CHAR(n), of a number n            CAST(n AS STRING)

The module `oracle_formats` converts the formats.
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
    is_number_format,
    list_elements,
)
from matchrec.dialects.rules.oracle_times import is_oracle_date
from matchrec.dialects.rules.value_kinds import TIMES, TIMESTAMPS, ValueKind

# Oracle's default format of a DATE is DD-MON-RR. This is DD-Mon-RR in sqlglot's codes.
_DEFAULT_FORMAT = "%d-%b-%y"


def rewrite_to_char_with_format(node: exp.ToChar | exp.TimeToStr, context: RuleContext) -> exp.Expr:
    """Rewrite `TO_CHAR(time, 'YYYY-MM-DD')`.

    A call with a number format is left unchanged for Snowflake, which has the same number formats.
    So is a call without a literal format: without any format, `rewrite_to_char_without_format`
    rewrites it.

    Raises:
        UnsupportedError: the target product has no equivalent for an element of the format; the
            format is for numbers, and the target is not Snowflake; or there is a third argument,
            which selects a language, because the translated query always writes English names.
    """
    if node.args.get("nlsparam"):
        raise UnsupportedError(
            "the third argument of TO_CHAR (names are always in English): remove it"
        )
    oracle_format = _read_format(node)
    if is_number_format(oracle_format):
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
    """Return the format of a call as it is written in Oracle, such as `YYYY-MM-DD`.

    If sqlglot has recognized a time format (`TimeToStr`), it has replaced the elements by its own
    codes, such as `%Y`. These are converted back.

    Returns:
        The format; an empty string if there is none, or if it is not a string literal.
    """
    literal = node.args.get("format")
    text = literal.name if isinstance(literal, exp.Literal) and literal.is_string else ""
    if isinstance(node, exp.ToChar):
        return text
    return format_time(text, Oracle.INVERSE_TIME_MAPPING) or text


def rewrite_to_char_without_format(node: exp.ToChar, context: RuleContext) -> exp.Expr:
    """Rewrite `TO_CHAR(x)`: a time has the format DD-MON-RR, any other value is cast to text.

    DD-MON-RR is Oracle's default format for a DATE. An Oracle DATE has a time of day, so it is a
    timestamp in Spark. Oracle's default format for a TIMESTAMP also contains the time of day. A
    Spark timestamp can stand for either type, so the rule adds a note, unless the value is
    certainly an Oracle DATE, as SYSDATE and TRUNC(t) are.
    """
    if node.args.get("format"):
        return node
    kind = context.request_kind(node.this)
    if kind in TIMESTAMPS and not is_oracle_date(node.this):
        context.add_note(
            "TO_CHAR(t) writes only the day, as Oracle does for a DATE: write TO_CHAR(t, format) if"
            " t is a TIMESTAMP in Oracle"
        )
    if kind in TIMES:
        formatted_time = exp.TimeToStr(this=node.this, format=exp.Literal.string(_DEFAULT_FORMAT))
        return exp.Upper(this=formatted_time)
    note_number_format(node.this, context)
    return exp.cast(node.this.copy(), "text")


def note_number_format(value: exp.Expr, context: RuleContext) -> None:
    """Add a note that Oracle formats numbers differently, if `value` may have a fraction.

    Oracle writes `11.5` and `.5`, where other products write `11.50` and `0.5`.
    """
    if context.request_kind(value) in (ValueKind.DECIMAL, ValueKind.FRACTION):
        difference = "without trailing zeros and without a zero before the decimal point"
        context.add_note(f"Oracle writes a number {difference}")
