"""Rules for dates, times and intervals, where sqlglot's translation to Spark means something else.

    DATEADD(minute, 5, t)          t + INTERVAL '5' MINUTE; sqlglot writes DATE_ADD(t, 5), 5 days
    DATEDIFF(minute, s, t)         how many times a minute begins between s and t: 1 from 10:00:59
                                   to 10:01:00
    date_diff('minute', s, t)      how many whole minutes are between s and t: 0 for these times
    TIMESTAMPDIFF(MINUTE, s, t)    the same

In DEFINE, a difference may be between two rows. The engine computes such a difference only of
numbers, so times are converted to numbers there.
"""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp
from sqlglot.dialects.tsql import TSQL
from sqlglot.errors import UnsupportedError

from matchrec.dialects.products import AZURE, ORACLE
from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.function_calls import call_function
from matchrec.dialects.rules.value_kinds import TIMESTAMPS, ValueKind
from matchrec.syntax.tokens import split_words

# The functions that add an interval to a time, and those that subtract one.
_AddedInterval = exp.DateAdd | exp.TimestampAdd | exp.DatetimeAdd | exp.TsOrDsAdd

_SubtractedInterval = exp.DateSub | exp.TimestampSub | exp.DatetimeSub

# The lengths of the units that count as numbers of seconds.
_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600}

_SECONDS_PER_DAY = 86_400

_MICROSECONDS_PER_SECOND = 1_000_000

# The units of time that rules can write for Spark.
_UNITS = split_words("YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND")

# Units that intervals do not have: for each, how many of another unit it is.
_MULTIPLES = {
    "WEEK": (Decimal(7), "DAY"),
    "QUARTER": (Decimal(3), "MONTH"),
    "MILLISECOND": (Decimal("0.001"), "SECOND"),
    "MICROSECOND": (Decimal("0.000001"), "SECOND"),
}


def normalize_unit(name: str) -> str:
    """Return the full name of a unit of time, in the singular.

    >>> normalize_unit("mi"), normalize_unit("hours")
    ('MINUTE', 'HOUR')
    """
    upper = name.upper()
    return TSQL.DATE_PART_MAPPING.get(upper, upper.removesuffix("S"))


def rewrite_time_addition(node: _AddedInterval | _SubtractedInterval, _: RuleContext) -> exp.Expr:
    """Rewrite a function that adds an interval to a time, or subtracts one, to an operator.

    Raises:
        UnsupportedError: Spark has no intervals of this unit.
    """
    amount = node.expression
    unit = node.args.get("unit")
    if isinstance(amount, exp.Interval):
        unit = amount.args.get("unit")
        amount = amount.this
    if unit is None:
        return node
    operator = exp.Add if isinstance(node, _AddedInterval) else exp.Sub
    interval = _build_interval(amount, normalize_unit(unit.name))
    return exp.paren(operator(this=node.this, expression=interval))


def _build_interval(amount: exp.Expr, unit: str) -> exp.Expr:
    """Return an interval of `amount` units.

    An amount that is not a number in the text, such as `x + 1`, is multiplied by one unit.

    Args:
        amount: the number of units.
        unit: the name of the unit, as from `normalize_unit`.

    Raises:
        UnsupportedError: Spark has no intervals of this unit.
    """
    if unit not in _UNITS:
        raise UnsupportedError(f"an interval in units of {unit}")
    factor, name = _MULTIPLES.get(unit, (Decimal(1), unit))
    sign = ""
    number = amount.unnest()
    if isinstance(amount, exp.Neg):
        sign = "-"
        number = amount.this
    if isinstance(number, exp.Literal) and number.name.replace(".", "", 1).isdigit():
        count = f"{sign}{Decimal(number.name) * factor:f}"
        return exp.Interval(this=exp.Literal.string(count), unit=exp.var(name))
    one_unit = exp.Interval(this=exp.Literal.string(f"{factor:f}"), unit=exp.var(name))
    return exp.Mul(this=exp.paren(amount), expression=one_unit)


def rewrite_datediff(node: exp.DateDiff | exp.DatetimeDiff, context: RuleContext) -> exp.Expr:
    """Rewrite `DATEDIFF(unit, s, t)`, which counts how often a unit begins between s and t.

    Both times are truncated to the unit before they are subtracted; for days, Spark's DATEDIFF does
    that. In DEFINE of Azure, each time is also converted to a number, because the two times may be
    of two rows.

    Raises:
        UnsupportedError: Spark does not have the unit.
    """
    unit = node.args.get("unit")
    if unit is None:
        return node
    name = normalize_unit(unit.name)
    if name not in _UNITS:
        raise UnsupportedError(f"a difference in units of {name}")
    if name == "DAY":
        return exp.DateDiff(this=node.this, expression=node.expression)
    later = exp.TimestampTrunc(this=node.this, unit=exp.var(name))
    earlier = exp.TimestampTrunc(this=node.expression, unit=exp.var(name))
    if name in _SECONDS and context.is_condition and context.read is AZURE:
        later_seconds = call_function("UNIX_SECONDS", later)
        earlier_seconds = call_function("UNIX_SECONDS", earlier)
        seconds = exp.Sub(this=later_seconds, expression=earlier_seconds)
        return _count_whole_units(seconds, _SECONDS[name])
    return exp.TimestampDiff(this=later, expression=earlier, unit=exp.var(name))


def rewrite_elapsed_time(node: exp.DateDiff | exp.TimestampDiff, context: RuleContext) -> exp.Expr:
    """Rewrite `date_diff('second', a, b)` and `TIMESTAMPDIFF(SECOND, a, b)` in DEFINE.

    The call becomes the difference of two numbers. It stays as it is if a value is not a timestamp,
    or if the unit has no fixed length.
    """
    unit = node.args.get("unit")
    if unit is None or not context.is_condition:
        return node
    seconds = (_SECONDS | {"DAY": _SECONDS_PER_DAY}).get(unit.name.upper())
    if seconds is None:
        return node
    later_kind = context.request_kind(node.this)
    earlier_kind = context.request_kind(node.expression)
    if not {later_kind, earlier_kind} <= TIMESTAMPS:
        return node
    later = convert_to_microseconds(node.this.copy(), later_kind)
    earlier = convert_to_microseconds(node.expression.copy(), earlier_kind)
    microseconds = exp.Sub(this=later, expression=earlier)
    return _count_whole_units(microseconds, seconds * _MICROSECONDS_PER_SECOND)


def _count_whole_units(length: exp.Expr, unit: int) -> exp.Expr:
    """Return the number of whole units in a length of time, such as minutes in a number of seconds.

    Args:
        length: the length, as a number.
        unit: the length of the unit, in the same smaller unit as `length`: 60 for minutes in
            seconds.
    """
    if unit > 1:
        length = exp.IntDiv(this=exp.paren(length, copy=False), expression=exp.Literal.number(unit))
    return exp.paren(length, copy=False)


def convert_to_microseconds(time: exp.Expr, kind: ValueKind | None) -> exp.Expr:
    """Return a time as a number of microseconds since 1970 in UTC.

    A time without time zone is read as one of UTC, so that no hour is missing or occurs twice.
    """
    if kind is ValueKind.TIMESTAMP_NTZ:
        text = exp.Concat(expressions=[exp.cast(time, "text"), exp.Literal.string("Z")])
        time = exp.cast(text, "timestamp")
    elif kind not in TIMESTAMPS:
        time = exp.cast(time, "timestamp")
    return exp.Anonymous(this="UNIX_MICROS", expressions=[time])


def rewrite_date_difference(node: exp.Sub, context: RuleContext) -> exp.Expr:
    """Rewrite `d - e` of two dates to a number of days."""
    if not context.write.is_spark:
        return node
    if {context.request_kind(node.this), context.request_kind(node.expression)} != {ValueKind.DATE}:
        return node
    later = call_function("UNIX_DATE", node.this)
    earlier = call_function("UNIX_DATE", node.expression)
    return exp.paren(exp.Sub(this=later, expression=earlier), copy=False)


def cast_truncated_date(node: exp.TimestampTrunc, context: RuleContext) -> exp.Expr:
    """Cast `date_trunc('week', d)` of a date to a date. Spark's returns a timestamp."""
    if context.request_kind(node.this) is ValueKind.DATE:
        return exp.cast(node.copy(), "date")
    return node


def drop_fraction_of_second(node: exp.Extract, context: RuleContext) -> exp.Expr:
    """Rewrite `EXTRACT(SECOND FROM t)` to `SECOND(t)`, which has no fraction.

    In Spark and Oracle, EXTRACT returns the fraction as well.
    """
    read = context.read
    if normalize_unit(node.this.name) != "SECOND" or not context.write.is_spark:
        return node
    if read.has_spark_functions or read is ORACLE:
        return node
    if context.request_kind(node.expression) in (ValueKind.INTERVAL, ValueKind.DIFFERENCE):
        return node
    return exp.Anonymous(this="SECOND", expressions=[node.expression.copy()])


def cast_nullif(node: exp.Nullif, context: RuleContext) -> exp.Expr:
    """Cast the date of `NULLIF(date, datetime)`, which is a DATETIME in BigQuery.

    Versions of sqlglot read DATETIME as different types, so the kind of the second operand decides
    about the type. It is never a TIMESTAMP of BigQuery, which NULLIF does not compare with a date.
    """
    if context.request_kind(node.this) is not ValueKind.DATE:
        return node
    match context.request_kind(node.expression):
        case ValueKind.TIMESTAMP_NTZ:
            type_name = "timestampntz"
        case ValueKind.TIMESTAMP:
            type_name = "timestamp"
        case _:
            return node
    date = exp.cast(node.this.copy(), type_name)
    return exp.Nullif(this=date, expression=node.expression.copy())
