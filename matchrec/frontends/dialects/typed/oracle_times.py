"""Times of Oracle: a DATE has a time of day, `-` of two gives days, `+` a number moves by days.

d - e < 30           d - e < INTERVAL '30' DAY
(d - e) * 24         (UNIX_MICROS(d) - UNIX_MICROS(e)) / 86400000000 * 24
d + 1/24             d + INTERVAL '1' DAY * (1 / 24)

Spark's timestamps are Oracle's DATE and TIMESTAMP, whose difference is an interval. What it is
compared or computed with tells which one was meant; where nothing does, it is an interval.
"""

from __future__ import annotations

import re

from sqlglot import exp

from matchrec.frontends.dialects.typed.context import Context
from matchrec.frontends.dialects.typed.kinds import NUMBERS, TIMES, TIMESTAMPS, Kind

MICROSECONDS_A_DAY = 86_400_000_000
_DURATION = re.compile(r"[+-]?\d+ \d{1,2}:\d\d(:\d\d(\.\d+)?)?")
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_OF_NUMBERS = (
    (exp.Round, exp.Trunc, exp.DateTrunc, exp.Ceil, exp.Floor, exp.Abs, exp.Sign)
    + (exp.Sum, exp.Avg, exp.Sqrt, exp.Mod, exp.ToChar, exp.ToNumber)
)  # fmt: skip


def comparison_of_times(node: exp.Expr, context: Context) -> exp.Expr:
    """A difference of times beside a number of days, or beside the text of a duration."""
    if isinstance(node, exp.Between):
        sides = ("this", "low", "high")
    elif isinstance(node, _COMPARISONS):
        sides = ("this", "expression")
    else:
        return node
    parts = {side: node.args[side] for side in sides}
    if not any(_is_duration(part, context) for part in parts.values()):
        return node
    for side, part in parts.items():
        node.set(side, _as_duration(part, context))
    return node


def _is_duration(part: exp.Expr, context: Context) -> bool:
    """Whether it is a difference, and nothing has been computed of it yet."""
    inner = part.unnest()
    if not isinstance(inner, exp.Sub):
        return False
    return _is_difference(inner, context)


def _is_difference(node: exp.Expr, context: Context) -> bool:
    return {context.kind(node.this), context.kind(node.expression)} <= TIMES


def _as_duration(part: exp.Expr, context: Context) -> exp.Expr:
    """What a duration is compared with, as an interval."""
    if isinstance(part, exp.Literal) and part.is_string and _DURATION.fullmatch(part.name):
        return day_to_second(part.name)
    return days(part) if context.kind(part) in NUMBERS else part


def difference(node: exp.Expr, context: Context) -> exp.Expr:
    """`d - e` as a number of days, where a number is wanted, or where both have no time of day."""
    if not isinstance(node, exp.Sub):
        return node
    kinds = context.kind(node.this), context.kind(node.expression)
    if not set(kinds) <= TIMES:
        if None in kinds and not set(kinds) & (NUMBERS | {Kind.INTERVAL, Kind.TEXT, Kind.OTHER}):
            context.remarks.append("the difference of two dates is a number of days in Oracle, "
                                   "and an interval in Spark SQL")
        return node
    if set(kinds) == {Kind.DATE}:
        return _quotient(node, "UNIX_DATE", None)
    if _wants_number(node):
        return _quotient(node, "UNIX_MICROS", MICROSECONDS_A_DAY)
    if _is_whole(node):
        context.remarks.append("the difference of two timestamps is an interval, as of Oracle's "
                               "TIMESTAMP; of its DATE it is a number of days: add `* 1` for that")
    return node
