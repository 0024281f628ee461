"""Rules for Oracle's times: literals, differences, and shifts by a number of days.

Oracle's DATE has a time of day. The difference of two of them is a number of days, and adding a
number moves a DATE by days:

    d - e < 30           d - e < INTERVAL '30' DAY
    (d - e) * 24         ((UNIX_MICROS(d) - UNIX_MICROS(e)) / 86400000000) * 24
    d + 1/24             d + INTERVAL '1' DAY * (1 / 24)

A timestamp of Spark may be a DATE or a TIMESTAMP of Oracle, and the difference of two TIMESTAMPs is
an interval. The expression around a difference shows which of the two is meant: a number of days or
an interval (see `DifferenceUse`). If it shows neither, the difference stays an interval.
"""

from __future__ import annotations

import re
from enum import Enum

from sqlglot import exp

from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.function_calls import find_unknown_function
from matchrec.dialects.rules.times import convert_to_microseconds, rewrite_date_difference
from matchrec.dialects.rules.value_kinds import NUMBERS, TIMES, ValueKind

# The format with which sqlglot reads a TIMESTAMP literal of Oracle.
_FORMAT_OF_TIMESTAMP_LITERAL = "%Y-%m-%d %H:%M:%S.%f"

_MICROSECONDS_PER_DAY = 86_400_000_000

# The end of notes on expressions whose meaning depends on the types of columns.
TYPES_NOT_KNOWN = "the types of these columns are not known"

_AMBIGUOUS_DIFFERENCE = (
    "the difference of two timestamps is an interval, as for Oracle's TIMESTAMP; write "
    "`(a - b) * 1` for days, as for its DATE"
)

# A text that is compared with a difference as a duration, such as `0 01:00:00.00`.
_DURATION = re.compile(r"[+-]?\d+ \d{1,2}:\d\d(:\d\d(\.\d+)?)?")

# The operands of comparisons, by sqlglot's names of the arguments.
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_SIDES_OF_COMPARISONS: dict[type[exp.Expr], tuple[str, ...]] = {
    **dict.fromkeys(_COMPARISONS, ("this", "expression")),
    exp.Between: ("this", "low", "high"),
}

# Operations whose operands are numbers.
_ARITHMETIC = (exp.Mul, exp.Div, exp.Mod, exp.Sqrt, exp.Pow)
_ROUNDING = (exp.Round, exp.Trunc, exp.Ceil, exp.Floor, exp.Abs, exp.Sign)
_AGGREGATES = (exp.Sum, exp.Avg)
_OPERATIONS_ON_NUMBERS = (*_ARITHMETIC, *_ROUNDING, *_AGGREGATES, exp.ToNumber)


class DifferenceUse(Enum):
    """What the difference of two times has to be, because of the expression around it."""

    NUMBER = "a number of days, as in `(d - e) * 24`"
    INTERVAL = "an interval, as in `d - e < INTERVAL '1' DAY`"
    EITHER = "a number or an interval, as in `SELECT d - e`"


def rewrite_timestamp_literal(node: exp.StrToTime, _: RuleContext) -> exp.Expr:
    """Rewrite `TIMESTAMP '2011-04-01 10:00:00'` to a cast.

    sqlglot reads it with a format that needs a fraction of a second, but literals may have none.
    """
    is_timestamp_literal = node.args["format"].name == _FORMAT_OF_TIMESTAMP_LITERAL
    if isinstance(node.this, exp.Literal) and is_timestamp_literal:
        return exp.cast(node.this, "timestamp")
    return node


def rewrite_compared_durations(node: exp.Expr, context: RuleContext) -> exp.Expr:
    """Rewrite the number or the text that a difference of times is compared with to an interval.

        d - e < 30                   d - e < INTERVAL '30' DAY
        d - e < '0 01:00:00'         d - e < INTERVAL '0 01:00:00' DAY TO SECOND

    Other comparisons stay as they are.
    """
    operands = {side: node.args[side] for side in _SIDES_OF_COMPARISONS.get(type(node), ())}
    if not any(_is_time_difference(operand.unnest(), context) for operand in operands.values()):
        return node
    for side, operand in operands.items():
        is_text = isinstance(operand, exp.Literal) and operand.is_string
        if is_text and _DURATION.fullmatch(operand.name):
            node.set(side, _build_day_time_interval(operand.name))
        elif context.request_kind(operand) in NUMBERS:
            node.set(side, _build_days(operand.copy()))
    return node


def _is_time_difference(node: exp.Expr, context: RuleContext) -> bool:
    """Return whether an expression is `d - e` of two times, with nothing around it."""
    if not isinstance(node, exp.Sub):
        return False
    return {context.request_kind(node.this), context.request_kind(node.expression)} <= TIMES


def rewrite_time_difference(node: exp.Sub, context: RuleContext) -> exp.Expr:
    """Rewrite `d - e` to a number of days, unless it is an interval.

    The difference is a number if the expression around it needs a number, or if that expression
    accepts both and both times are DATEs of Oracle. If the types of the times do not show that, the
    difference stays and gets a note.
    """
    left_kind = context.request_kind(node.this)
    right_kind = context.request_kind(node.expression)
    kinds = {left_kind, right_kind}
    if not kinds <= TIMES:
        if kinds <= TIMES | {None}:
            _note_unknown_types(context)
        return node
    use = _find_difference_use(node, context)
    left_is_date = is_oracle_date(node.this) or left_kind is ValueKind.DATE
    right_is_date = is_oracle_date(node.expression) or right_kind is ValueKind.DATE
    if use is DifferenceUse.EITHER and left_is_date and right_is_date:
        use = DifferenceUse.NUMBER
    match use:
        case DifferenceUse.INTERVAL:
            return node
        case DifferenceUse.EITHER:
            context.add_note(_AMBIGUOUS_DIFFERENCE)
            return node
        case DifferenceUse.NUMBER:
            if kinds == {ValueKind.DATE}:
                return rewrite_date_difference(node, context)
            later = convert_to_microseconds(node.this.copy(), left_kind)
            earlier = convert_to_microseconds(node.expression.copy(), right_kind)
            return _divide_by_day(exp.Sub(this=later, expression=earlier))


def _note_unknown_types(context: RuleContext) -> None:
    """Add a note on a difference that is of two times unless a column has another type."""
    result = "an interval" if context.write.is_spark else "may be another value"
    context.add_note(
        "the difference of two dates is a number of days in Oracle, and "
        f"{result} in {context.write.title}; {TYPES_NOT_KNOWN}"
    )


def _divide_by_day(microseconds: exp.Expr) -> exp.Expr:
    """Return a number of microseconds as a number of days, which has a fraction."""
    microseconds_per_day = exp.Literal.number(_MICROSECONDS_PER_DAY)
    days = exp.Div(this=exp.paren(microseconds, copy=False), expression=microseconds_per_day)
    return exp.paren(days, copy=False)


def is_oracle_date(node: exp.Expr) -> bool:
    """Return whether the type of a time is certainly DATE in Oracle, as for SYSDATE and TRUNC(d).

    A call of DATE_TRUNC counts, too: it may be what a rule has written for TRUNC.
    """
    if isinstance(node, exp.CurrentTimestamp):
        return bool(node.args.get("sysdate"))
    is_date_trunc = isinstance(node, exp.TimestampTrunc) or (
        find_unknown_function(node) == "DATE_TRUNC"
    )
    return is_date_trunc or _is_trunc(node)


def _is_trunc(node: exp.Expr) -> bool:
    """Return whether an expression is a call of TRUNC whose value may be a time.

    sqlglot has another class for a call that can only truncate a number: `exp.Trunc`.
    """
    return isinstance(node, exp.DateTrunc) or find_unknown_function(node) == "TRUNC"


def _find_difference_use(node: exp.Expr, context: RuleContext) -> DifferenceUse:
    """Return what the expression around a difference of times needs.

    If the operation right around the difference accepts a number and an interval, the next
    operation outwards decides.
    """
    parent = node.parent
    if parent is None or isinstance(parent, (exp.Alias, exp.Select)):
        return DifferenceUse.EITHER
    if isinstance(parent, (*_SIDES_OF_COMPARISONS, exp.Extract)):
        return DifferenceUse.INTERVAL
    if isinstance(parent, _OPERATIONS_ON_NUMBERS) or _is_trunc(parent):
        return DifferenceUse.NUMBER
    if isinstance(parent, (exp.Add, exp.Sub, exp.Coalesce)):
        operands = parent.iter_expressions()
        kinds = {context.request_kind(operand) for operand in operands if operand is not node}
        if kinds & NUMBERS:
            return DifferenceUse.NUMBER
        if kinds & {ValueKind.INTERVAL, *TIMES}:
            return DifferenceUse.INTERVAL
    return _find_difference_use(parent, context)


def rewrite_shift(node: exp.Add | exp.Sub, context: RuleContext) -> exp.Expr:
    """Rewrite `d + n`, `n + d` and `d - n`, which move a time by n days.

    The result of each form:

        d + 1          d + INTERVAL '1' DAY; it stays if d is a DATE for Spark, too
        d + 1/24       d + INTERVAL '1' DAY * (1 / 24)
    """
    time = node.this.copy()
    number = node.expression.copy()
    time_kind = context.request_kind(node.this)
    number_kind = context.request_kind(node.expression)
    if isinstance(node, exp.Add) and time_kind in NUMBERS:  # n + d
        time, number = number, time
        time_kind, number_kind = number_kind, time_kind
    if time_kind not in TIMES or number_kind not in NUMBERS:
        return node
    if time_kind is ValueKind.DATE:
        if number_kind is ValueKind.INTEGER:
            return type(node)(this=time, expression=number)
        time = exp.cast(time, "timestamp")
    return type(node)(this=time, expression=_build_days(number))


def _build_days(number: exp.Expr) -> exp.Expr:
    """Return an interval of a number of days.

    Args:
        number: the number, which is not copied and must not be a part of another tree.
    """
    if isinstance(number, exp.Literal) and number.name.isdigit():
        return exp.Interval(this=exp.Literal.string(number.name), unit=exp.var("DAY"))
    one_day = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("DAY"))
    if not isinstance(number, (exp.Literal, exp.Column, exp.Paren, exp.Func)):
        number = exp.paren(number, copy=False)
    return exp.Mul(this=one_day, expression=number)


def _build_day_time_interval(text: str) -> exp.Expr:
    """Return the interval that a text like `0 01:00:00.00` means."""
    unit = exp.IntervalSpan(this=exp.var("DAY"), expression=exp.var("SECOND"))
    return exp.Interval(this=exp.Literal.string(text), unit=unit)
