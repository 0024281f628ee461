"""Functions of Oracle that take a number or a date, and casts to DATE, which keep the time."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.rules.kinds import NUMBERS, TIMES, Kind
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.dialects.rules.values.numbers import truncated_number

_UNITS = {
    **dict.fromkeys(("DD", "DDD", "J"), "DAY"),
    **dict.fromkeys(("MM", "MON", "MONTH", "RM"), "MONTH"),
    **dict.fromkeys(("YYYY", "YY", "YEAR", "SYYYY", "Y"), "YEAR"),
    **dict.fromkeys(("HH", "HH12", "HH24"), "HOUR"),
    "Q": "QUARTER",
    "IW": "WEEK",
    "MI": "MINUTE",
}

_UNKNOWN = "TRUNC takes a number or a date: the types of these columns are not known"


def truncated(node: exp.Expr, place: Place) -> exp.Expr:
    """`TRUNC(x)`, `TRUNC(x, n)` of a number and `TRUNC(d)`, `TRUNC(d, 'HH24')` of a date."""
    value, second = truncation(node)
    if value is None:
        return node
    kind = place.kind(value)
    if kind is None and isinstance(second, exp.Literal | exp.Var) and not second.is_number:
        kind = Kind.TIMESTAMP
    if kind in TIMES:
        return _truncated_time(value.copy(), kind, second)
    if kind not in NUMBERS:
        place.remark(_UNKNOWN)
        arguments = [one.copy() for one in (value, second) if one]
        return exp.Anonymous(this="TRUNC", expressions=arguments)
    return truncated_number(value.copy(), second)


def truncation(node: exp.Expr) -> tuple[exp.Expr | None, exp.Expr | None]:
    """What a call of TRUNC takes, as sqlglot reads it."""
    match node:
        case exp.Anonymous(this="TRUNC", expressions=[value, *rest]):
            return value, rest[0] if rest else None
        case exp.Trunc():
            return node.this, node.args.get("decimals")
        case exp.DateTrunc():
            return node.this, node.args.get("unit")
    return None, None


def _truncated_time(time: exp.Expr, kind: Kind | None, unit: exp.Expr | None) -> exp.Expr:
    name = "DAY" if unit is None else _UNITS.get(unit.name.upper())
    if unit is not None and unit.name.upper() in ("DAY", "DY", "D"):
        raise UnsupportedError(f"no TRUNC to {unit}, a week of the session's: write 'IW'")
    if name is None:
        raise UnsupportedError(f"no TRUNC to {unit}")
    if kind is Kind.DATE and name == "DAY" and not isinstance(time, exp.Cast):
        return time
    return exp.Anonymous(this="DATE_TRUNC", expressions=[exp.Literal.string(name), time])


def date_with_time(node: exp.Expr, place: Place) -> exp.Expr:
    """`CAST(x AS DATE)` keeps the time of day, but for fractions of a second."""
    if not isinstance(node, exp.Cast) or not node.is_type("date"):
        return node
    if place.kind(node.this) in (Kind.DATE, Kind.TEXT):
        return node
    return exp.TimestampTrunc(this=exp.cast(node.this, "timestamp"), unit=exp.var("SECOND"))
