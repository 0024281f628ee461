"""Times of Oracle: a DATE has a time of day, `-` of two gives days, `+` a number moves by days.

d - e < 30           d - e < INTERVAL '30' DAY
(d - e) * 24         ((UNIX_MICROS(d) - UNIX_MICROS(e)) / 86400000000) * 24
d + 1/24             d + INTERVAL '1' DAY * (1 / 24)

Spark's timestamps are Oracle's DATE and TIMESTAMP, whose difference is an interval. What it is
compared or computed with tells which one was meant; where nothing does, it is an interval.
"""

from __future__ import annotations

import re
from enum import Enum

from sqlglot import exp

from matchrec.frontends.dialects.marks import function_name
from matchrec.frontends.dialects.rules.kinds import NUMBERS, TIMES, Kind
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.dialects.rules.values.times import microseconds

MICROSECONDS_A_DAY = 86_400_000_000

_DAYS = (
    "the difference of two dates is a number of days in Oracle, and an interval in Spark SQL; the "
    "types of these columns are not known"
)
_AMBIGUOUS = (
    "the difference of two timestamps is an interval, as for Oracle's TIMESTAMP; write "
    "`(a - b) * 1` for days, as for its DATE"
)
_DURATION = re.compile(r"[+-]?\d+ \d{1,2}:\d\d(:\d\d(\.\d+)?)?")
_SIDES: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Between: ("this", "low", "high"),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), ("this", "expression")),
}
_OF_NUMBERS = (
    *(exp.Mul, exp.Div, exp.Mod, exp.Round, exp.Trunc, exp.Ceil, exp.Floor),
    *(exp.Abs, exp.Sign, exp.Sum, exp.Avg, exp.Sqrt, exp.Pow, exp.ToNumber),
)


class Use(Enum):
    """What a difference of times has to be, by what stands around it."""

    NUMBER = "a number of days"
    INTERVAL = "an interval"
    EITHER = "either"


def durations(node: exp.Expr, place: Place) -> exp.Expr:
    """What a difference of times is compared with: days or the text of a duration → an interval."""
    sides = _SIDES.get(type(node), ())
    parts = {side: node.args[side] for side in sides}
    if not any(_is_difference(part.unnest(), place) for part in parts.values()):
        return node
    for side, part in parts.items():
        if isinstance(part, exp.Literal) and part.is_string and _DURATION.fullmatch(part.name):
            node.set(side, day_to_second(part.name))
        elif place.kind(part) in NUMBERS:
            node.set(side, days(part.copy()))
    return node


def _is_difference(node: exp.Expr, place: Place) -> bool:
    """Whether it is the difference of two times, of which nothing has been computed yet."""
    return (
        isinstance(node, exp.Sub)
        and {
            place.kind(node.this),
            place.kind(node.expression),
        }
        <= TIMES
    )


def differences(node: exp.Expr, place: Place) -> exp.Expr:
    """`d - e` as a number of days, where a number is wanted, or where both have no time of day."""
    if not isinstance(node, exp.Sub):
        return node
    of_both = place.kind(node.this), place.kind(node.expression)
    kinds = set(of_both)
    if not kinds <= TIMES:
        if kinds <= TIMES | {None}:
            place.remark(_DAYS)
        return node
    use = _use(node, place)
    operands = tuple(zip(_operands(node), of_both, strict=True))
    if use is Use.EITHER and all(_is_date(one) or kind is Kind.DATE for one, kind in operands):
        use = Use.NUMBER
    if use is Use.INTERVAL:
        return node
    if kinds == {Kind.DATE}:
        return _paren(exp.Sub, *(_function("UNIX_DATE", one) for one in _operands(node)))
    if use is Use.EITHER:
        place.remark(_AMBIGUOUS)
        return node
    micros = (microseconds(one, kind) for one, kind in operands)
    return _paren(exp.Div, _paren(exp.Sub, *micros), exp.Literal.number(MICROSECONDS_A_DAY))


def _is_date(node: exp.Expr) -> bool:
    """Whether it is a DATE, whatever Spark's type for it is: SYSDATE, TRUNC(...) or a cast."""
    is_sysdate = isinstance(node, exp.CurrentTimestamp) and node.args.get("sysdate")
    return bool(is_sysdate or _is_trunc(node) or isinstance(node, exp.TimestampTrunc))


def _is_trunc(node: exp.Expr) -> bool:
    return isinstance(node, exp.DateTrunc) or function_name(node) == "TRUNC"


def _use(node: exp.Expr, place: Place) -> Use:
    """What stands around a difference asks for."""
    above = node.parent
    if above is None or isinstance(above, (exp.Alias, exp.Select)):
        return Use.EITHER
    if isinstance(above, (*_SIDES, exp.Extract)):
        return Use.INTERVAL
    if isinstance(above, _OF_NUMBERS) or _is_trunc(above):
        return Use.NUMBER
    if isinstance(above, (exp.Add, exp.Sub, exp.Coalesce)):
        others = [one for one in above.iter_expressions() if one is not node]
        kinds = {place.kind(one) for one in others}
        if kinds & NUMBERS:
            return Use.NUMBER
        if kinds & {Kind.INTERVAL, *TIMES}:
            return Use.INTERVAL
    return _use(above, place)


def shifts(node: exp.Expr, place: Place) -> exp.Expr:
    """`d + n` and `d - n`, so many days later or earlier."""
    if not isinstance(node, (exp.Add, exp.Sub)):
        return node
    kinds = place.kind(node.this), place.kind(node.expression)
    time, number = _operands(node)
    if isinstance(node, exp.Add) and kinds[0] in NUMBERS:
        time, number, kinds = number, time, kinds[::-1]
    if kinds[0] not in TIMES or kinds[1] not in NUMBERS:
        return node
    if kinds[0] is Kind.DATE:
        if kinds[1] is Kind.INTEGER:
            return type(node)(this=time, expression=number)
        time = exp.cast(time, "timestamp")
    return type(node)(this=time, expression=days(number))


def days(number: exp.Expr) -> exp.Expr:
    """So many days as an interval."""
    if isinstance(number, exp.Literal) and number.name.isdigit():
        return exp.Interval(this=exp.Literal.string(number.name), unit=exp.var("DAY"))
    one = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("DAY"))
    simple = isinstance(number, (exp.Literal, exp.Column, exp.Paren, exp.Func))
    return exp.Mul(this=one, expression=number if simple else exp.paren(number, copy=False))


def day_to_second(text: str) -> exp.Expr:
    """The interval that a text like `0 01:00:00.00` means."""
    unit = exp.IntervalSpan(this=exp.var("DAY"), expression=exp.var("SECOND"))
    return exp.Interval(this=exp.Literal.string(text), unit=unit)


def _operands(node: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return node.this.copy(), node.expression.copy()


def _function(name: str, argument: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[argument])


def _paren(operator: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.paren(operator(this=left, expression=right), copy=False)
