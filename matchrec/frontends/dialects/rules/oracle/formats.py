"""Texts of times in Oracle, with a format and without one."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.oracle import Oracle
from sqlglot.errors import UnsupportedError
from sqlglot.time import format_time

from matchrec.frontends.dialects.rules.kinds import TIMES
from matchrec.frontends.dialects.rules.place import Place

_TIME_OF_DAY = re.compile(r"%[HIMSfp]")
_NAMES_IN_CAPITALS = re.compile(r"\b(MON|DY)\b")
_PADDED_NAMES = re.compile(r"\b(MONTH|DAY)\b")


def parsed_time(node: exp.Expr, _: Place) -> exp.Expr:
    """`TO_DATE` gives a time of day where its format has one; without a format it has Oracle's."""
    if not isinstance(node, exp.StrToDate):
        return node
    pattern = node.args.get("format")
    if pattern is None:
        node.set("format", exp.Literal.string("%d-%b-%y"))
    elif _TIME_OF_DAY.search(pattern.name):
        return exp.StrToTime(this=node.this, format=pattern)
    return node


def timestamp_literal(node: exp.Expr, _: Place) -> exp.Expr:
    """`TIMESTAMP '2011-04-01 10:00:00'`, whose fraction of a second may be left out."""
    is_literal = isinstance(node, exp.StrToTime) and isinstance(node.this, exp.Literal)
    if is_literal and node.args["format"].name == "%Y-%m-%d %H:%M:%S.%f":
        return exp.cast(node.this, "timestamp")
    return node


def formatted_time(node: exp.Expr, _: Place) -> exp.Expr:
    """`TO_CHAR(time, 'YYYY-MM-DD')`, where the format is one of times."""
    pattern = node.args.get("format") if isinstance(node, exp.ToChar) else None
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        return node
    written = format_time(pattern.name.upper(), Oracle.TIME_MAPPING)
    if not written or "%" not in written:
        return node
    if _PADDED_NAMES.search(pattern.name.upper()):
        raise UnsupportedError("names of months and days, which Oracle pads: write MON or DY")
    text = exp.TimeToStr(this=node.this, format=exp.Literal.string(written))
    return exp.Upper(this=text) if _NAMES_IN_CAPITALS.search(pattern.name) else text


def text_of_date(node: exp.Expr, place: Place) -> exp.Expr:
    """`TO_CHAR(d)` has Oracle's format DD-MON-RR."""
    is_plain = isinstance(node, exp.ToChar) and not node.args.get("format")
    if not is_plain or place.kind(node.this) not in TIMES:
        return node
    return exp.Upper(this=exp.TimeToStr(this=node.this, format=exp.Literal.string("%d-%b-%y")))
