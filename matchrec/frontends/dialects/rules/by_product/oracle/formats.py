"""Texts of times in Oracle, with a format and without one."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.oracle import Oracle
from sqlglot.errors import UnsupportedError
from sqlglot.time import format_time

from matchrec.frontends.dialects.rules.by_product.oracle.numbers import text_of_number
from matchrec.frontends.dialects.rules.kinds import TIMES
from matchrec.frontends.dialects.rules.place import Place

_TIME_OF_DAY = re.compile(r"%[HIMSfp]")
_BEFORE_2050 = re.compile(r"\b[0-4]\d$")
_UNKNOWN = re.compile(r"%-?[CGUVWcgnrstuwxz]")  # what Spark cannot write
_NAMES = re.compile(r"(?i:MON|DAY|DY)|\b[ap]m\b")
_NOON_OF_SPARK = re.compile(r"\b[AP]M\b")  # which is always so
_NOON = re.compile(r"\b[AP]M\b", re.IGNORECASE)
_TEXT = re.compile(r'"([^"]*)"')
_OUTSIDE_OF_TEXT = re.compile(r'[^"]+(?=(?:"[^"]*"[^"]*)*$)')
_QUOTE = "'"
_READ = re.compile(r"%-?[A-Za-z]|'(?:[^']|'')*'|RR|S+")
_DIGITS_OF_SECOND = re.compile(r"%f|FF(\d?)")
_PADDED_NUMBERS = re.compile(r"%([dmHIMSj])")
_PADDED_NAMES = re.compile(r"MONTH|DAY", re.IGNORECASE)
_CASES = {(True, False): exp.Upper, (False, True): exp.Lower}  # by isupper() and islower()


def parsed_time(node: exp.Expr, place: Place) -> exp.Expr:
    """`TO_DATE` and `TO_TIMESTAMP`, with a format or Oracle's own, `DD-MON-RR`.

    TO_DATE gives a time of day where its format has one.
    """
    if not isinstance(node, exp.StrToDate | exp.StrToTime):
        return node
    pattern = _words(node.args.get("format")) or "DD-MON-RR"
    if "RRRR" in pattern.upper():
        raise UnsupportedError("a year of two or four digits, RRRR: write YYYY or RR")
    pattern = _complete(_read(_upper(pattern), place), pattern, place)
    new = exp.Literal.string(pattern.replace("RR", "%y"))
    has_time = isinstance(node, exp.StrToTime) or _TIME_OF_DAY.search(pattern)
    time = (exp.StrToTime if has_time else exp.StrToDate)(this=node.this, format=new)
    return _within_rr(time) if "RR" in pattern else time


def _within_rr(time: exp.Expr) -> exp.Expr:
    """A time whose year was read as 2000 to 2099: RR means 1950 to 2049."""
    if time.args["format"].name.endswith("%y") and _BEFORE_2050.search(_literal(time.this)):
        return time
    year = exp.cast(exp.Year(this=time.copy()), "int")
    later = exp.GTE(this=year, expression=exp.Literal.number(2050))
    centuries = exp.If(this=later, true=exp.Literal.number(1), false=exp.Literal.number(0))
    century = exp.Interval(this=exp.Literal.string("100"), unit=exp.var("YEAR"))
    moved = exp.Sub(this=time, expression=exp.Mul(this=century, expression=centuries))
    return exp.paren(moved, copy=False)


def _literal(node: exp.Expr | None) -> str:
    """The text of a literal, nothing of anything else."""
    return node.name if isinstance(node, exp.Literal) and node.is_string else ""


def timestamp_literal(node: exp.Expr, _: Place) -> exp.Expr:
    """`TIMESTAMP '2011-04-01 10:00:00'`, whose fraction of a second may be left out."""
    is_literal = isinstance(node, exp.StrToTime) and isinstance(node.this, exp.Literal)
    if is_literal and node.args["format"].name == "%Y-%m-%d %H:%M:%S.%f":
        return exp.cast(node.this, "timestamp")
    return node


def formatted_time(node: exp.Expr, place: Place) -> exp.Expr:
    """`TO_CHAR(time, 'YYYY-MM-DD')`, where the format is one of times."""
    pattern = _format(node)
    upper = _upper(pattern).replace("RR", "YY")
    is_bare = upper.startswith("FM")  # neither blanks after names nor zeros before numbers
    written = _read(upper.removeprefix("FM"), place)
    if "%" not in written:
        if place.write.is_spark and re.search("[A-PR-Z]", upper):
            raise _not_said(pattern)
        return node
    if _PADDED_NAMES.search(_TEXT.sub("", pattern)) and not is_bare:
        raise UnsupportedError(
            "names of months and days, which Oracle pads: write MON or DY, or FM before the format"
        )
    written = _complete(written, pattern, place)
    if _UNKNOWN.search(written):
        raise _not_said(pattern)
    if is_bare:
        written = _PADDED_NUMBERS.sub(r"%-\1", written)
    text = exp.TimeToStr(this=node.this, format=exp.Literal.string(written))
    return _in_case_of(re.sub("^FM", "", pattern, flags=re.IGNORECASE), text)


def _upper(pattern: str) -> str:
    """A format in capitals, but for texts in quotes."""
    return _OUTSIDE_OF_TEXT.sub(lambda part: part[0].upper(), pattern)


def _read(upper: str, place: Place) -> str:
    """A format with sqlglot's marks for its parts, and digits of a second as Spark writes them."""
    if "SSSSS" in upper:  # the seconds of the day
        raise _not_said(upper)
    read = format_time(upper, Oracle.TIME_MAPPING) or ""
    if not place.write.is_spark:
        return read.replace("FF", "%f")
    return _DIGITS_OF_SECOND.sub(lambda found: "S" * int(found[1] or 6), read)


def _in_case_of(pattern: str, text: exp.Expr) -> exp.Expr:
    """A text with the names in it as a pattern writes its own: `MON`, `Mon` or `mon`."""
    bare = _TEXT.sub("", pattern)
    cases = {_CASES.get((name.isupper(), name.islower())) for name in _NAMES.findall(bare)}
    case = next(iter(cases), None)
    others = "".join([*_TEXT.findall(pattern), *_NOON_OF_SPARK.findall(bare)])
    is_changed = (case is exp.Upper and others.upper() != others) or (
        case is exp.Lower and others.lower() != others
    )
    if len(cases) > 1 or is_changed:
        raise UnsupportedError("names of months, days and AM in different cases")
    return case(this=text) if case else text


def _complete(read: str, pattern: str, place: Place) -> str:
    """What sqlglot has read of a pattern, with AM and with texts in quotes."""
    found = _NOON.sub("%p", read)
    is_mistaken = any("%" in one for one in _TEXT.findall(found))
    if place.write.is_spark:
        found = _TEXT.sub(lambda text: f"'{text[1].replace(_QUOTE, _QUOTE * 2)}'", found)
    if is_mistaken or re.search(r'[A-Za-z"]', _READ.sub("", found)):
        raise _not_said(pattern)
    return found


def _not_said(pattern: str) -> UnsupportedError:
    return UnsupportedError(f"the format {pattern} of a time: write its parts one by one")


def _format(node: exp.Expr) -> str:
    """The format of TO_CHAR in Oracle's words."""
    if isinstance(node, exp.ToChar):
        return _literal(node.args.get("format"))
    return _words(node.args.get("format")) if isinstance(node, exp.TimeToStr) else ""


def _words(read: exp.Expr | None) -> str:
    """A format, of which sqlglot has read a part, in Oracle's words."""
    return format_time(_literal(read), Oracle.INVERSE_TIME_MAPPING) or ""


def text_of_date(node: exp.Expr, place: Place) -> exp.Expr:
    """`TO_CHAR(d)` has Oracle's format DD-MON-RR; of what is no time it is a cast."""
    if not isinstance(node, exp.ToChar) or node.args.get("format"):
        return node
    if place.kind(node.this) not in TIMES:
        return text_of_number(node.this, place)
    return exp.Upper(this=exp.TimeToStr(this=node.this, format=exp.Literal.string("%d-%b-%y")))
