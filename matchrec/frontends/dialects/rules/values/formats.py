"""Formats of times and tests of texts, as products that are not Spark write them.

date_format(t, 'dd.MM.yy')     TO_CHAR(t, 'DD.MM.YY'); a day without a leading zero is refused
to_date(x, 'd.M.yy')           TO_DATE(x, 'DD.MM.YY'), which reads one digit, too
contains(x, y)                 STRPOS(x, y) > 0
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import plain_call
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.dialects.rules.values.times import unit_of

_UNPADDED = re.compile(r"%-[A-Za-z]")
_OF_TRINO = frozenset({"%-d", "%-m", "%-H", "%-I"})
_READING = (exp.StrToTime, exp.StrToDate, exp.TsOrDsToDate)


def number_in_format(node: exp.Expr, place: Place) -> exp.Expr:
    """A number without leading zeros in the format of a time."""
    pattern = node.args.get("format")
    if not isinstance(pattern, exp.Literal) or not isinstance(node, (exp.TimeToStr, *_READING)):
        return node
    if isinstance(node, _READING):
        node.set("format", exp.Literal.string(pattern.name.replace("%-", "%")))
        return node
    if set(_UNPADDED.findall(pattern.name)) - (_OF_TRINO if place.write.name == "trino" else set()):
        raise UnsupportedError("a number without leading zeros in a format: write dd, MM, HH or mm")
    return node


def part_of_text(node: exp.Expr, _: Place) -> exp.Expr:
    """`contains(x, y)`, `startswith(x, y)` and `endswith(x, y)`."""
    if not isinstance(node, exp.Contains | exp.StartsWith | exp.EndsWith):
        return node
    text, part = node.this.copy(), node.expression.copy()
    if isinstance(node, exp.EndsWith):
        end = plain_call("SUBSTR", text, exp.Neg(this=exp.Length(this=part)))
        return exp.EQ(this=end, expression=part.copy())
    at = exp.StrPosition(this=text, substr=part)
    number = exp.Literal.number(0)
    if isinstance(node, exp.Contains):
        return exp.GT(this=at, expression=number)
    return exp.EQ(this=at, expression=exp.Literal.number(1))


def unit_without_quotes(node: exp.Expr, _: Place) -> exp.Expr:
    """`DATE_PART('minute', t)` and `INTERVAL '2' MINUTES`, whose units are bare and singular."""
    if isinstance(node, exp.Extract) and isinstance(node.this, exp.Literal):
        node.set("this", exp.var(unit_of(node.this.name)))
    unit = node.args.get("unit") if isinstance(node, exp.Interval) else None
    if isinstance(unit, exp.Var):
        node.set("unit", exp.var(unit_of(unit.name)))
    return node


def time_of_text(node: exp.Expr, _: Place) -> exp.Expr:
    """What sqlglot makes a time of for a format, in Oracle a cast."""
    if isinstance(node, exp.TimeToUnix):
        raise UnsupportedError("no seconds since 1970: write (t - DATE '1970-01-01') * 86400")
    return exp.cast(node.this.copy(), "timestamp") if isinstance(node, exp.TimeStrToTime) else node


def same_text_of_number(node: exp.Expr, place: Place) -> exp.Expr:
    """`TO_CHAR(x, '99.9')` of Databricks, which is Spark's."""
    is_same = place.read.has_functions_of_spark and place.write.has_functions_of_spark
    if not isinstance(node, exp.ToChar) or not is_same:
        return node
    return plain_call("TO_CHAR", node.this, *filter(None, [node.args.get("format")]))
