"""Rules for dates and times, where sqlglot's translation to Spark means something else.

DATEADD(minute, 5, t)            t + INTERVAL '5' MINUTE   sqlglot: DATE_ADD(t, 5), which adds days
DATEDIFF(minute, s, t)           how often a minute begins between s and t: whole minutes of the two
                                 times, each without its seconds
date_diff('minute', s, t)        how many minutes there are between s and t
TIMESTAMPDIFF(MINUTE, s, t)      the same

In DEFINE a difference may be of two rows, where it has to be one of numbers.
"""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.rules.kinds import TIMESTAMPS, Kind
from matchrec.frontends.dialects.rules.place import Place

_ADDED = (exp.DateAdd, exp.TimestampAdd, exp.DatetimeAdd, exp.TsOrDsAdd)
_SUBTRACTED = (exp.DateSub, exp.TimestampSub, exp.DatetimeSub)
_SHORT = {
    "YY": "YEAR",
    "YYYY": "YEAR",
    "QQ": "QUARTER",
    "MM": "MONTH",
    "MON": "MONTH",
    "WK": "WEEK",
    "WW": "WEEK",
    "DD": "DAY",
    "D": "DAY",
    "HH": "HOUR",
    "MI": "MINUTE",
    "N": "MINUTE",
    "SS": "SECOND",
    "S": "SECOND",
    "MS": "MILLISECOND",
    "MCS": "MICROSECOND",
}
_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600}
_COUNTED = frozenset(_SHORT.values())
_DAY = 86_400
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_OF_OTHERS = {
    "WEEK": (Decimal(7), "DAY"),
    "QUARTER": (Decimal(3), "MONTH"),
    "MILLISECOND": (Decimal("0.001"), "SECOND"),
    "MICROSECOND": (Decimal("0.000001"), "SECOND"),
}


def unit_of(name: str) -> str:
    """The name of a unit of time, of which products know shorter forms."""
    upper = name.upper()
    return _SHORT.get(upper, upper.removesuffix("S"))


def added_time(node: exp.Expr, _: Place) -> exp.Expr:
    """A time and an interval, added or subtracted by a function."""
    adds = isinstance(node, _ADDED)
    if not adds and not isinstance(node, _SUBTRACTED):
        return node
    amount, unit = node.expression, node.args.get("unit")
    if isinstance(amount, exp.Interval):
        amount, unit = amount.this, amount.args.get("unit")
    if unit is None:
        return node
    interval = _interval(amount, unit_of(unit.name))
    if adds:
        return exp.paren(exp.Add(this=node.this, expression=interval))
    return exp.paren(exp.Sub(this=node.this, expression=interval))


def _interval(amount: exp.Expr, unit: str) -> exp.Expr:
    if unit not in _COUNTED:
        raise UnsupportedError(f"an interval in units of {unit}")
    times, name = _OF_OTHERS.get(unit, (Decimal(1), unit))
    sign, number = ("-", amount.this) if isinstance(amount, exp.Neg) else ("", amount.unnest())
    if isinstance(number, exp.Literal) and _is_number(number.name):
        count = f"{sign}{Decimal(number.name) * times:f}"
        return exp.Interval(this=exp.Literal.string(count), unit=exp.var(name))
    one = exp.Interval(this=exp.Literal.string(f"{times:f}"), unit=exp.var(name))
    return exp.Mul(this=exp.paren(amount), expression=one)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def crossed_boundaries(node: exp.Expr, _: Place) -> exp.Expr:
    """DATEDIFF with a unit: how often one begins between two times."""
    unit = node.args.get("unit")
    if not isinstance(node, exp.DateDiff | exp.DatetimeDiff) or unit is None:
        return node
    name = unit_of(unit.name)
    if name not in _COUNTED:
        raise UnsupportedError(f"a difference in units of {name}")
    if name == "DAY":
        return exp.DateDiff(this=node.this, expression=node.expression)
    ends = (exp.TimestampTrunc(this=one, unit=exp.var(name)) for one in _operands(node))
    return exp.TimestampDiff(this=next(ends), expression=next(ends), unit=exp.var(name))


def counted_boundaries(node: exp.Expr, place: Place) -> exp.Expr:
    """The same as a difference of numbers, each of one time: in DEFINE they may be of two rows."""
    unit = node.args.get("unit")
    seconds = _SECONDS.get(unit_of(unit.name)) if unit is not None else None
    if not place.is_condition or not isinstance(node, exp.DateDiff):
        return node
    if unit is None or seconds is None:
        return node
    later, earlier = (_number(one, unit_of(unit.name), seconds) for one in _operands(node))
    return exp.paren(exp.Sub(this=later, expression=earlier))


def _number(time: exp.Expr, unit: str, seconds: int) -> exp.Expr:
    start = exp.TimestampTrunc(this=time, unit=exp.var(unit))
    count = exp.Anonymous(this="UNIX_SECONDS", expressions=[start])
    return count if seconds == 1 else exp.IntDiv(this=count, expression=exp.Literal.number(seconds))


def _operands(node: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return node.this, node.expression


def elapsed(node: exp.Expr, place: Place) -> exp.Expr:
    """`date_diff('second', a, b)` and `TIMESTAMPDIFF(SECOND, a, b)` of two timestamps in DEFINE."""
    if not place.is_condition or not isinstance(node, exp.DateDiff | exp.TimestampDiff):
        return node
    unit = node.args.get("unit")
    seconds = (_SECONDS | {"DAY": _DAY}).get(unit.name.upper()) if unit else None
    kinds = place.kind(node.this), place.kind(node.expression)
    if seconds is None or not set(kinds) <= TIMESTAMPS:
        return node
    later, earlier = map(microseconds, (node.this.copy(), node.expression.copy()), kinds)
    length = exp.paren(exp.Sub(this=later, expression=earlier), copy=False)
    micros = exp.Literal.number(seconds * 1_000_000)
    return exp.paren(exp.IntDiv(this=length, expression=micros), copy=False)


def microseconds(time: exp.Expr, kind: Kind | None) -> exp.Expr:
    """The number of a time of this kind, in microseconds."""
    if kind is Kind.TIMESTAMP_NTZ:  # as if it were of UTC, so that no hour is missing or twice
        text = exp.Concat(expressions=[exp.cast(time, "text"), exp.Literal.string("Z")])
        time = exp.cast(text, "timestamp")
    elif kind not in TIMESTAMPS:
        time = exp.cast(time, "timestamp")
    return exp.Anonymous(this="UNIX_MICROS", expressions=[time])


def truncated_date(node: exp.Expr, place: Place) -> exp.Expr:
    """`date_trunc('week', d)` of a date is a date, where Spark makes a timestamp of it."""
    is_date = isinstance(node, exp.TimestampTrunc) and place.kind(node.this) is Kind.DATE
    return exp.cast(node.copy(), "date") if is_date else node


def whole_second(node: exp.Expr, place: Place) -> exp.Expr:
    """`EXTRACT(SECOND FROM t)`, of which Spark and Oracle have the fraction as well."""
    read, write = place.read, place.write
    is_part = isinstance(node, exp.Extract) and unit_of(node.this.name) == "SECOND"
    if not is_part or not write.is_spark or read.has_functions_of_spark or read.name == "oracle":
        return node
    if place.kind(node.expression) in (Kind.INTERVAL, Kind.DIFFERENCE):
        return node
    return exp.Anonymous(this="SECOND", expressions=[node.expression.copy()])


def passed_months(node: exp.Expr, place: Place) -> exp.Expr:
    """`date_diff('month', a, b)`: how many months later b is; the last day of one stays one."""
    unit = unit_of(node.text("unit")) if isinstance(node, exp.DateDiff) else ""
    if unit not in _MONTHS or not place.write.is_spark:
        return node
    later, earlier = _operands(node)
    forwards = _months(earlier, later)
    backwards = exp.Neg(this=_months(later, earlier))
    is_later = exp.LTE(this=earlier.copy(), expression=later.copy())
    months = exp.If(this=is_later, true=forwards, false=backwards)
    if unit == "MONTH":
        return months
    return exp.paren(exp.IntDiv(this=months, expression=exp.Literal.number(_MONTHS[unit])))


def _months(start: exp.Expr, end: exp.Expr) -> exp.Expr:
    """How many months may be added to a time without passing another one."""
    count = exp.TimestampDiff(this=end.copy(), expression=start.copy(), unit=exp.var("MONTH"))
    one = exp.Literal.number(1)
    more = exp.Anonymous(
        this="MAKE_YM_INTERVAL",
        expressions=[exp.Literal.number(0), exp.cast(exp.Add(this=count, expression=one), "int")],
    )
    is_passed = exp.GT(this=exp.Add(this=start.copy(), expression=more), expression=end.copy())
    rest = exp.If(this=is_passed, true=exp.Literal.number(0), false=one.copy())
    return exp.paren(exp.Add(this=count.copy(), expression=rest))
