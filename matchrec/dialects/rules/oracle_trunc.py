"""The rule for TRUNC of Oracle, which truncates a number or a time.

The rewritten calls:

    TRUNC(x)              CAST(x AS BIGINT)
    TRUNC(x, 2)           (CAST((x) * POWER(10, 2) AS BIGINT) / POWER(10, 2))
    TRUNC(d)              DATE_TRUNC('DAY', d)
    TRUNC(d, 'HH24')      DATE_TRUNC('HOUR', d)
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.function_calls import call_function
from matchrec.dialects.rules.oracle_times import TYPES_NOT_KNOWN
from matchrec.dialects.rules.value_kinds import NUMBERS, TIMES, ValueKind

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


@dataclass(frozen=True, slots=True)
class TruncCall:
    """A call of TRUNC, of a number or of a time."""

    # The number or time.
    value: exp.Expr
    # The number of digits after the point, or the unit of time; None if it is not written.
    precision: exp.Expr | None = None


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
    context.add_note(f"TRUNC takes a number or a date: {TYPES_NOT_KNOWN}")
    arguments = [call.value] if precision is None else [call.value, precision]
    return call_function("TRUNC", *arguments)


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

    Args:
        number: the number, which is not copied.
        decimals: the number of digits after the point; None for no digits.
    """
    if decimals is None:
        return exp.cast(number, "bigint")
    power = exp.Pow(this=exp.Literal.number(10), expression=decimals.copy())
    product = exp.Mul(this=exp.paren(number), expression=power)
    return exp.paren(exp.Div(this=exp.cast(product, "bigint"), expression=power.copy()))


def _truncate_time(time: exp.Expr, kind: ValueKind | None, unit: exp.Expr | None) -> exp.Expr:
    """Return the start of the unit that a time is in.

    Args:
        time: the time, which is not copied.
        kind: the kind of the time.
        unit: Oracle's name of the unit; None for a day.

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
