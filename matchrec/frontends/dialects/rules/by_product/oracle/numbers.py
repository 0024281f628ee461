"""Texts of numbers in Oracle: `TO_CHAR(x, 'FM999G990D00')`.

Digits are 9 or 0, of which the first 0 begins those that are always written; `,` or G stands before
each three of them, `.` or D before the fraction. Without FM there is a place for the sign, and
blanks before the number; `$` stands right before it. A number that does not fit is written as `#`.
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import plain_call
from matchrec.frontends.dialects.rules.kinds import Kind
from matchrec.frontends.dialects.rules.place import Place

_FORMAT = re.compile(r"(FM)?(\$)?([09,G]*)(?:[.D](9*|0*))?", re.IGNORECASE)
_THREE_EACH = re.compile(r"[09]{1,3}(,[09]{3})*|[09]*")
_IS_OF_NUMBERS = re.compile(r"(?=.*[09X])[FMTX09,.GDLCUSIPRV$BE]+|TM[9E]?|RN|FMRN", re.IGNORECASE)


def formatted_number(node: exp.Expr, place: Place) -> exp.Expr:
    """`TO_CHAR(number, '999,990.00')` by Spark's FORMAT_NUMBER, whose formats are Java's."""
    written = node.args.get("format") if isinstance(node, exp.ToChar) else None
    if not isinstance(written, exp.Literal) or not _IS_OF_NUMBERS.fullmatch(written.name):
        return node
    if place.write.name == "snowflake":  # whose formats are the same
        return node
    if not place.write.is_spark:
        raise UnsupportedError("no TO_CHAR of numbers with a format: write FORMAT or ROUND")
    found = _FORMAT.fullmatch(written.name)
    whole = found.group(3).upper().replace("G", ",") if found else ""
    if found is None or node.args.get("nlsparam") or not _THREE_EACH.fullmatch(whole):
        raise UnsupportedError(
            f"the format {written.name} of a number: write digits 9 and 0 in groups of three, as "
            "in FM999,990.00"
        )
    fraction = found.group(4)
    digits = _digits(node.this, whole, fraction)
    if found.group(1) and fraction and "9" in fraction:
        digits = exp.Trim(this=digits, expression=exp.Literal.string("0"), position="TRAILING")
    length = len(whole) + (0 if fraction is None else 1 + len(fraction))
    return _signed(node.this, digits, length, currency=found.group(2) or "", is_padded=not found[1])


def _digits(number: exp.Expr, whole: str, fraction: str | None) -> exp.Expr:
    """The digits of a number, whatever its sign."""
    first = whole.find("0")
    pattern = whole if first < 0 else whole[:first] + whole[first:].replace("9", "0")
    pattern = pattern.replace("9", "#") or "#"
    if fraction is not None:
        pattern += "." + "0" * len(fraction)
    places = exp.Literal.number(len(fraction or ""))
    rounded = plain_call("ROUND", exp.Abs(this=number.copy()), places)
    return plain_call("FORMAT_NUMBER", rounded, exp.Literal.string(pattern))


def _signed(
    number: exp.Expr, digits: exp.Expr, length: int, *, currency: str, is_padded: bool
) -> exp.Expr:
    """Digits with the sign before them; what is longer than its format is written as `#`."""
    is_negative = exp.LT(this=number.copy(), expression=exp.Literal.number(0))
    minus, plus = exp.Literal.string(f"-{currency}"), exp.Literal.string(currency)
    sign = exp.If(this=is_negative, true=minus, false=plus)
    text: exp.Expr = plain_call("CONCAT", sign, digits)
    width = exp.Literal.number(length + len(currency) + 1)
    if is_padded:
        text = plain_call("LPAD", text, width, exp.Literal.string(" "))
    is_long = exp.GT(this=plain_call("LENGTH", digits), expression=exp.Literal.number(length))
    return exp.If(
        this=is_long, true=plain_call("REPEAT", exp.Literal.string("#"), width), false=text
    )


def text_of_number(number: exp.Expr, place: Place) -> exp.Expr:
    """A number as Oracle writes it: neither `11.50` nor `0.5`, but `11.5` and `.5`."""
    text: exp.Expr = exp.cast(number.copy(), "text")
    if place.kind(number) not in (Kind.DECIMAL, Kind.FRACTION) or not place.write.is_spark:
        return text
    for pattern, rest in ((r"\.0+$|(\.[0-9]*[1-9])0+$", "$1"), (r"^(-?)0\.", "$1.")):
        found = (exp.Literal.string(one) for one in (pattern, rest))
        text = plain_call("REGEXP_REPLACE", text, *found)
    return text
