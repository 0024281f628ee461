"""Rules for computations with Oracle's times: differences, shifts by days, and TRUNC.

Oracle's DATE has a time of day. The difference of two of them is a number of days, and adding a
number moves a DATE by days:

    d - e < 30           d - e < INTERVAL '30' DAY
    (d - e) * 24         ((UNIX_MICROS(d) - UNIX_MICROS(e)) / 86400000000) * 24
    d + 1/24             d + INTERVAL '1' DAY * (1 / 24)

Spark's timestamps stand for both DATE and TIMESTAMP, and the difference of two TIMESTAMPs is an
interval. Which one was meant shows in what the difference is compared or computed with. If nothing
shows it, it is an interval.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.function_calls import call_function, find_unknown_function
from matchrec.dialects.rules.times import convert_to_microseconds, rewrite_date_difference
from matchrec.dialects.rules.value_kinds import NUMBERS, TIMES, ValueKind

_MICROSECONDS_PER_DAY = 86_400_000_000

_TYPES_NOT_KNOWN = "the types of these columns are not known"
_AMBIGUOUS = (
    "the difference of two timestamps is an interval, as for Oracle's TIMESTAMP; write "
    "`(a - b) * 1` for days, as for its DATE"
)

# A text that is compared with a difference as a duration, such as `0 01:00:00.00`.
_DURATION = re.compile(r"[+-]?\d+ \d{1,2}:\d\d(:\d\d(\.\d+)?)?")

# The operands of comparisons, by sqlglot's names of the arguments.
_SIDES_OF_COMPARISONS: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Between: ("this", "low", "high"),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), ("this", "expression")),
}

# Operations whose operands are numbers.
_OPERATIONS_ON_NUMBERS = (
    *(exp.Mul, exp.Div, exp.Mod, exp.Round, exp.Trunc, exp.Ceil, exp.Floor),
    *(exp.Abs, exp.Sign, exp.Sum, exp.Avg, exp.Sqrt, exp.Pow, exp.ToNumber),
)

# Spark's units of DATE_TRUNC for Oracle's formats of TRUNC.
_UNITS = {
    **dict.fromkeys(("DD", "DDD", "J"), "DAY"),
    **dict.fromkeys(("MM", "MON", "MONTH", "RM"), "MONTH"),
    **dict.fromkeys(("YYYY", "YY", "YEAR", "SYYYY", "Y"), "YEAR"),
    **dict.fromkeys(("HH", "HH12", "HH24"), "HOUR"),
    "Q": "QUARTER",
    "IW": "WEEK",
    "MI": "MINUTE",
}


class DifferenceUse(Enum):
    """What the difference of two times has to be, because of the expression around it."""

    NUMBER = "a number of days, as in `(d - e) * 24`"
    INTERVAL = "an interval, as in `d - e < INTERVAL '1' DAY`"
    EITHER = "a number or an interval, as in `SELECT d - e`"


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

    It is a number if the expression around it needs one, or if it needs neither and both times are
    DATEs of Oracle. If that cannot be told, the difference stays and gets a note.
    """
    left_kind = context.request_kind(node.this)
    right_kind = context.request_kind(node.expression)
    kinds = {left_kind, right_kind}
    if not kinds <= TIMES:
        if kinds <= TIMES | {None}:
            _note_unknown_types(context)
        return node
    use = _find_use(node, context)
    left_is_date = is_oracle_date(node.this) or left_kind is ValueKind.DATE
    right_is_date = is_oracle_date(node.expression) or right_kind is ValueKind.DATE
    if use is DifferenceUse.EITHER and left_is_date and right_is_date:
        use = DifferenceUse.NUMBER
    match use:
        case DifferenceUse.INTERVAL:
            return node
        case DifferenceUse.EITHER:
            context.add_note(_AMBIGUOUS)
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
        f"{result} in {context.write.title}; {_TYPES_NOT_KNOWN}"
    )


def _divide_by_day(microseconds: exp.Expr) -> exp.Expr:
    """Return a number of microseconds as a number of days, which has a fraction."""
    microseconds_per_day = exp.Literal.number(_MICROSECONDS_PER_DAY)
    days = exp.Div(this=exp.paren(microseconds, copy=False), expression=microseconds_per_day)
    return exp.paren(days, copy=False)


def is_oracle_date(node: exp.Expr) -> bool:
    """Return whether the type of a time is certainly DATE in Oracle: for SYSDATE and TRUNC(...).

    `rewrite_trunc` replaces TRUNC by DATE_TRUNC, which counts as well.
    """
    if isinstance(node, exp.CurrentTimestamp):
        return bool(node.args.get("sysdate"))
    is_date_trunc = find_unknown_function(node) == "DATE_TRUNC"
    return is_date_trunc or _is_trunc(node) or isinstance(node, exp.TimestampTrunc)


def _is_trunc(node: exp.Expr) -> bool:
    """Return whether an expression is a call of TRUNC that sqlglot has not read as a number's."""
    return isinstance(node, exp.DateTrunc) or find_unknown_function(node) == "TRUNC"


def _find_use(node: exp.Expr, context: RuleContext) -> DifferenceUse:
    """Return what the expression around a difference of times needs.

    If the operation right around it can have both, the next one outwards decides.
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
    return _find_use(parent, context)


def rewrite_shift(node: exp.Add | exp.Sub, context: RuleContext) -> exp.Expr:
    """Rewrite `d + n`, `n + d` and `d - n`, which move a time by n days.

    d + 1          d + INTERVAL '1' DAY, or as it is if d is a date for Spark, too
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
    """Return an interval of a number of days."""
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


def rewrite_trunc(node: exp.Expr, context: RuleContext) -> exp.Expr:
    """Rewrite `TRUNC(x)`, `TRUNC(x, n)` of a number and `TRUNC(d)`, `TRUNC(d, 'HH24')` of a time.

    Raises:
        UnsupportedError: Spark has nothing for the unit.
    """
    call = _read_trunc(node)
    if call is None:
        return node
    kind = context.request_kind(call.value)
    precision = call.precision
    if kind is None and isinstance(precision, exp.Literal | exp.Var) and not precision.is_number:
        kind = ValueKind.TIMESTAMP  # the precision is a unit of time
    if kind in TIMES:
        return _truncate_time(call.value.copy(), kind, precision)
    if kind in NUMBERS:
        return _truncate_number(call.value.copy(), precision)
    context.add_note(f"TRUNC takes a number or a date: {_TYPES_NOT_KNOWN}")
    arguments = [call.value] if precision is None else [call.value, precision]
    return call_function("TRUNC", *arguments)


@dataclass(frozen=True, slots=True)
class TruncCall:
    """A call of TRUNC, of a number or of a time."""

    # The number or time.
    value: exp.Expr
    # The number of digits after the point, or the unit of time; None if it is not written.
    precision: exp.Expr | None = None


def _read_trunc(node: exp.Expr) -> TruncCall | None:
    """Return the arguments of a call of TRUNC; None for any other expression.

    sqlglot parses it to one of three classes.
    """
    match node:
        case exp.Anonymous(this="TRUNC", expressions=[value]):
            return TruncCall(value)
        case exp.Anonymous(this="TRUNC", expressions=[value, precision, *_]):
            return TruncCall(value, precision)
        case exp.Trunc():
            return TruncCall(node.this, node.args.get("decimals"))
        case exp.DateTrunc():
            return TruncCall(node.this, node.args.get("unit"))
    return None


def _truncate_number(number: exp.Expr, decimals: exp.Expr | None) -> exp.Expr:
    """Return a number without its fraction, or with only some digits after the point.

    TRUNC(x)           CAST(x AS BIGINT)
    TRUNC(x, 2)        (CAST((x) * POWER(10, 2) AS BIGINT) / POWER(10, 2))
    """
    if decimals is None:
        return exp.cast(number, "bigint")
    power = exp.Pow(this=exp.Literal.number(10), expression=decimals.copy())
    product = exp.Mul(this=exp.paren(number), expression=power)
    return exp.paren(exp.Div(this=exp.cast(product, "bigint"), expression=power.copy()))


def _truncate_time(time: exp.Expr, kind: ValueKind | None, unit: exp.Expr | None) -> exp.Expr:
    """Return the start of the unit that a time is in; the default unit is a day.

    Raises:
        UnsupportedError: Spark has nothing for the unit.
    """
    spark_unit = "DAY"
    if unit is not None:
        oracle_unit = unit.name.upper()
        if oracle_unit in ("DAY", "DY", "D"):
            raise UnsupportedError(f"no TRUNC to {unit}, a week of the session's: write 'IW'")
        if oracle_unit not in _UNITS:
            raise UnsupportedError(f"no TRUNC to {unit}")
        spark_unit = _UNITS[oracle_unit]
    if kind is ValueKind.DATE and spark_unit == "DAY" and not isinstance(time, exp.Cast):
        return time
    return exp.Anonymous(this="DATE_TRUNC", expressions=[exp.Literal.string(spark_unit), time])
