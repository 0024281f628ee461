"""Functions of Snowflake that sqlglot would write as they are.

TIME_SLICE(t, 4, 'HOUR')                 the start of the four hours, counted from 1970, around t
CONDITIONAL_TRUE_EVENT(c) OVER (...)     COUNT_IF(c) over the rows up to this one
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.snowflake import Snowflake
from sqlglot.dialects.spark import Spark
from sqlglot.errors import UnsupportedError
from sqlglot.time import format_time

from matchrec.frontends.dialects.marks import function_name, plain_call
from matchrec.frontends.dialects.rules.by_product.oracle.numbers import formatted_number
from matchrec.frontends.dialects.rules.kinds import TIMESTAMPS, Kind
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.dialects.rules.values.times import microseconds, unit_of

_ALIKE = re.compile(r"%[YymBbdaHIMSfp](?!_)")  # what Spark writes as Snowflake does
_DIGITS = re.compile(r"(FM)?[$09.,DGSMI]*[09][$09.,DGSMI]*", re.IGNORECASE)
_SHOWN_DIGITS = re.compile(r"(FM)?\$?[9,G]*0+([.D]0+)?", re.IGNORECASE)
_ARGUMENTS_OF_STRTOK = ("this", "delimiter", "part_index")
_MICROSECONDS = {"": 1_000_000, "SECOND": 1_000_000, "MILLISECOND": 1_000, "MICROSECOND": 1}
_STARTS = {  # of a slice, by its unit; weeks begin on Monday
    **dict.fromkeys(("SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "QUARTER", "YEAR"), "1970-01-01"),
    "WEEK": "1969-12-29",
}
_TYPES = {Kind.DATE: "date", Kind.TIMESTAMP_NTZ: "timestamp_ntz"}
_UP_TO_THIS_ROW = {
    "kind": "ROWS",
    "start": "UNBOUNDED",
    "start_side": "PRECEDING",
    "end": "CURRENT ROW",
}


def equal_with_nulls(node: exp.Expr, _: Place) -> exp.Expr:
    """`EQUAL_NULL(x, y)`, which other products write as an operator."""
    if not isinstance(node, exp.EqualNull):
        return node
    return exp.paren(exp.NullSafeEQ(this=node.this, expression=node.expression), copy=False)


def days_between_dates(node: exp.Expr, place: Place) -> exp.Expr:
    """`d - e` of two dates is a number of days."""
    if not isinstance(node, exp.Sub) or not place.write.is_spark:
        return node
    dates = node.this, node.expression
    if set(map(place.kind, dates)) != {Kind.DATE}:
        return node
    later, earlier = (plain_call("UNIX_DATE", one) for one in dates)
    return exp.paren(exp.Sub(this=later, expression=earlier), copy=False)


def start_of_unit(node: exp.Expr, place: Place) -> exp.Expr:
    """`TRUNC(t, 'month')` of a time is a time, where Spark's is a date."""
    if not isinstance(node, exp.DateTrunc) or place.kind(node.this) not in TIMESTAMPS:
        return node
    return exp.TimestampTrunc(this=node.this.copy(), unit=exp.var(unit_of(node.text("unit"))))


def seconds_of_epoch(node: exp.Expr, place: Place) -> exp.Expr:
    """`DATE_PART(EPOCH_SECOND, t)`, how many have passed since 1970."""
    unit = node.this.name.upper() if isinstance(node, exp.Extract) else ""
    if not unit.startswith("EPOCH") or not place.write.is_spark:
        return node
    micros = microseconds(node.expression.copy(), place.kind(node.expression))
    count = _MICROSECONDS.get(unit.removeprefix("EPOCH").strip("_").removesuffix("S"))
    if count is None:
        raise UnsupportedError(f"no {unit}: write EPOCH_MICROSECOND")
    return exp.paren(exp.IntDiv(this=micros, expression=exp.Literal.number(count)), copy=False)


def nth_token(node: exp.Expr, place: Place) -> exp.Expr:
    """`STRTOK(x, '-', 2)`, of whose tokens none is empty; each character divides."""
    if node.key != "strtok" and function_name(node) != "STRTOK":
        return node
    if not place.write.is_spark:
        raise UnsupportedError("no STRTOK: write SPLIT_PART")
    given = node.expressions or [*filter(None, map(node.args.get, _ARGUMENTS_OF_STRTOK))]
    divides = given[1].name if len(given) > 1 else " "
    if len(given) > 1 and not isinstance(given[1], exp.Literal):
        raise UnsupportedError("no STRTOK but with characters that are a literal")
    others = exp.Literal.string(f"[^{re.escape(divides)}]+")
    tokens = plain_call("REGEXP_EXTRACT_ALL", given[0], others, exp.Literal.number(0))
    number = given[2] if len(given) > 2 else exp.Literal.number(1)
    return plain_call("TRY_ELEMENT_AT", tokens, number)


def number_in_format(node: exp.Expr, place: Place) -> exp.Expr:
    """`TO_CHAR(x, 'FM990.00')`, as in Oracle where every digit that may be a zero is shown."""
    pattern = node.args.get("format") if isinstance(node, exp.ToChar) else None
    if not isinstance(pattern, exp.Literal) or not place.write.is_spark:
        return node
    if _SHOWN_DIGITS.fullmatch(pattern.name):
        return formatted_number(node, place)
    if _DIGITS.fullmatch(pattern.name):
        raise UnsupportedError(
            f"the format {pattern.name} of a number: write 0 for the last digit before the point "
            "and for those after it, as in FM990.00"
        )
    return node


def formatted_time(node: exp.Expr, _: Place) -> exp.Expr:
    """`TO_CHAR(time, 'YYYY-MM-DD')`, where the format is one of times; a cast without one."""
    if isinstance(node, exp.ToChar) and not node.args.get("format"):
        return exp.cast(node.this.copy(), "text")
    pattern = node.args.get("format") if isinstance(node, exp.ToChar) else None
    if not isinstance(pattern, exp.Literal):
        return node
    written = format_time(pattern.name, Snowflake.TIME_MAPPING) or ""
    if "%" not in written:
        return node
    if re.search(r"[A-Za-z%]", _ALIKE.sub("", written)):
        raise UnsupportedError(f"the format {pattern.name} of a time: write its parts one by one")
    return exp.TimeToStr(this=node.this, format=exp.Literal.string(written))


def tried_time(node: exp.Expr, place: Place) -> exp.Expr:
    """`TRY_TO_DATE(x)` and `TRY_TO_TIMESTAMP(x, 'DD/MM/YYYY')`, NULL where x is no such time."""
    if isinstance(node, exp.TryCast):
        node.set("safe", True)
    is_time = isinstance(node, exp.TsOrDsToDate | exp.StrToDate | exp.StrToTime)
    if not is_time or not node.args.get("safe") or not place.write.is_spark:
        return node
    if not place.write.has_functions_of_spark:
        raise UnsupportedError("no TRY_TO_DATE: write TO_DATE of what is a date")
    written = node.args.get("format")
    if not isinstance(written, exp.Literal):
        return exp.TryCast(this=node.this.copy(), to=exp.DataType.build("date"), safe=True)
    pattern = exp.Literal.string(format_time(written.name, Spark.INVERSE_TIME_MAPPING))
    time = plain_call("TRY_TO_TIMESTAMP", node.this, pattern)
    return time if isinstance(node, exp.StrToTime) else exp.cast(time, "date")


def slice_of_time(node: exp.Expr, place: Place) -> exp.Expr:
    """`TIME_SLICE(t, n, 'HOUR')`: a whole number of slices after the first of 1970."""
    if not isinstance(node, exp.TimeSlice):
        return node
    unit, length = unit_of(node.text("unit")), node.expression
    if not place.write.is_spark or unit not in _STARTS:
        raise UnsupportedError("no TIME_SLICE: write DATE_TRUNC")
    if unit == "WEEK" and length.name != "1":
        raise UnsupportedError("no TIME_SLICE of several weeks: write DATE_TRUNC")
    start = exp.cast(exp.Literal.string(_STARTS[unit]), "timestamp_ntz")
    time = exp.cast(exp.TimestampTrunc(this=node.this.copy(), unit=exp.var(unit)), "timestamp_ntz")
    units = plain_call("TIMESTAMPDIFF", exp.var(unit), start, time)
    passed = plain_call("FLOOR", exp.Div(this=units, expression=length.copy()))
    if node.text("kind").upper() == "END":
        passed = exp.paren(exp.Add(this=passed, expression=exp.Literal.number(1)))
    steps = exp.cast(exp.Mul(this=passed, expression=length.copy()), "int")
    moved = plain_call("TIMESTAMPADD", exp.var(unit), steps, start)
    return exp.cast(moved, _TYPES.get(place.kind(node.this) or Kind.OTHER, "timestamp"))


def numbered_events(node: exp.Expr, _: Place) -> exp.Expr:
    """`CONDITIONAL_TRUE_EVENT(c) OVER (...)`, how many rows up to this one satisfy c."""
    name = function_name(node)
    if name == "CONDITIONAL_CHANGE_EVENT":
        raise UnsupportedError(
            "no CONDITIONAL_CHANGE_EVENT: write LAG(x) OVER w AS before in a subquery, and "
            "CONDITIONAL_TRUE_EVENT(x <> before) OVER w around it"
        )
    if name != "CONDITIONAL_TRUE_EVENT" or not isinstance(node.parent, exp.Window):
        return node
    node.parent.set("spec", exp.WindowSpec(**_UP_TO_THIS_ROW))
    return exp.CountIf(this=node.expressions[0].copy())


def units_of_interval(node: exp.Expr, _: Place) -> exp.Expr:
    """`INTERVAL '1 day, 2 hours'`, whose units Spark wants without a comma between them."""
    text = node.this if isinstance(node, exp.Interval) and not node.args.get("unit") else None
    if isinstance(text, exp.Literal) and "," in text.name:
        node.set("this", exp.Literal.string(text.name.replace(",", "")))
    return node
