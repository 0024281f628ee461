"""Rules for days of the week and the ends of months, which products number and shift differently.

DAYOFWEEK(d)          Sunday is 1 in Spark, Databricks, Flink SQL and BigQuery, and 0 in Snowflake
day_of_week(d)        Monday is 1 in Trino, and so is DAYOFWEEKISO in Snowflake
ADD_MONTHS(d, n)      of the last day of a month is one in Oracle and Snowflake, not in Spark
"""

from __future__ import annotations

from enum import Enum

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import plain_call
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.dialects.rules.kinds import TIMESTAMPS
from matchrec.frontends.dialects.rules.place import Place

_DAYS = frozenset({"DAYOFWEEK", "DAY_OF_WEEK", "DOW", "DW", "WEEKDAY"})
_ISO_DAYS = frozenset({f"{name}{end}" for name in _DAYS for end in ("ISO", "_ISO")}) | {"ISODOW"}
_MONTHS = {"YEAR": 12, "QUARTER": 3}


class FirstDay(Enum):
    """The number of a day from which a week's days are counted."""

    SUNDAY_0 = "Sunday is 0"
    SUNDAY_1 = "Sunday is 1"
    MONDAY_1 = "Monday is 1, Sunday is 7"


def day_of_week(node: exp.Expr, place: Place) -> exp.Expr:
    """`DAYOFWEEK(d)` and `EXTRACT(DOW FROM d)`, by the number that the day has where it is read."""
    read, write = place.read, place.write
    first = _first_day(node, read)
    if first is None:
        return node
    is_part = isinstance(node, exp.Extract)
    is_alike = first is _usual(write) is FirstDay.SUNDAY_1 and write.name != "oracle"
    if (read.is_spark and write.is_spark) or (is_alike and not is_part):
        return node
    value = (node.expression if is_part else node.this).copy()
    time = value.this if isinstance(value, exp.TsOrDsToDate) else value
    iso = _number(time, write)
    if first is FirstDay.MONDAY_1:
        return exp.paren(iso, copy=False)
    number = plain_call("MOD", iso, exp.Literal.number(7))
    if first is FirstDay.SUNDAY_0:
        return number
    return exp.paren(exp.Add(this=number, expression=exp.Literal.number(1)), copy=False)


def _first_day(node: exp.Expr, read: Product) -> FirstDay | None:
    """How a node counts days; None where it does not."""
    if isinstance(node, exp.DayOfWeekIso):
        return FirstDay.MONDAY_1
    if isinstance(node, exp.DayOfWeek):
        return _usual(read)
    unit = node.this.name.upper() if isinstance(node, exp.Extract) else ""
    if unit in _ISO_DAYS or (unit in _DAYS and read.name == "trino"):
        return FirstDay.MONDAY_1
    return _usual(read) if unit in _DAYS else None


def _usual(product: Product) -> FirstDay:
    """How DAYOFWEEK counts."""
    return FirstDay.SUNDAY_0 if product.name == "snowflake" else FirstDay.SUNDAY_1


def _number(time: exp.Expr, write: Product) -> exp.Expr:
    """The number of a day, 1 on Monday."""
    one = exp.Literal.number(1)
    match write.name:
        case "trino":
            return plain_call("DAY_OF_WEEK", time)
        case "snowflake":
            return plain_call("DAYOFWEEKISO", time)
        case "oracle":
            day, week = plain_call("TRUNC", time), exp.Literal.string("IW")
            passed = exp.Sub(this=day, expression=plain_call("TRUNC", time, week))
            return exp.Add(this=passed, expression=one)
        case "flink" | "bigquery":
            part = exp.Extract(this=exp.var("DAYOFWEEK"), expression=time.copy())
            usual = part if write.name == "bigquery" else plain_call("DAYOFWEEK", time)
            later = exp.Add(this=usual, expression=exp.Literal.number(5))
            return exp.Add(this=plain_call("MOD", later, exp.Literal.number(7)), expression=one)
    return exp.Add(this=plain_call("WEEKDAY", time), expression=one)


def week_of_year(node: exp.Expr, place: Place) -> exp.Expr:
    """`EXTRACT(ISOWEEK FROM d)`; weeks of BigQuery that begin on Sunday have no number in Spark."""
    if isinstance(node, exp.Week) and place.write.is_spark:
        return plain_call("WEEKOFYEAR", node.this)
    if isinstance(node, exp.DateTrunc | exp.TimestampTrunc) and place.write.is_spark:
        if node.text("unit").upper() == "ISOWEEK":
            node.set("unit", exp.Literal.string("WEEK"))
        return node
    unit = node.this.name.upper() if isinstance(node, exp.Extract) else ""
    if unit == "WEEK" and place.read.name == "bigquery":
        raise UnsupportedError("no number of a week that begins on Sunday: write ISOWEEK")
    if unit in ("ISOWEEK", "WEEKISO", "WEEK_ISO") and place.write.is_spark:
        node.set("this", exp.var("WEEK"))
    return node


def date_or_day_of_year(node: exp.Expr, place: Place) -> exp.Expr:
    """`EXTRACT(DATE FROM t)` and `EXTRACT(DAYOFYEAR FROM t)`."""
    unit = node.this.name.upper() if isinstance(node, exp.Extract) else ""
    if unit not in ("DATE", "DAYOFYEAR") or not place.write.is_spark:
        return node
    value = node.expression
    return exp.cast(value, "date") if unit == "DATE" else plain_call("DAYOFYEAR", value)


def later_month(node: exp.Expr, place: Place) -> exp.Expr:
    """`ADD_MONTHS(d, n)`, which keeps the time of day, and the last day of a month as such."""
    if not isinstance(node, exp.AddMonths) or not place.write.is_spark:
        return node
    time, months = node.this, node.expression
    if place.kind(time) in TIMESTAMPS:
        moved: exp.Expr = exp.Add(
            this=time.copy(),
            expression=plain_call("MAKE_YM_INTERVAL", exp.Literal.number(0), months),
        )
        moved = exp.paren(moved, copy=False)
        last = at_day(moved, exp.LastDay(this=day_of(moved)))
    else:
        moved = plain_call("ADD_MONTHS", time, months)
        last = exp.LastDay(this=moved.copy())
    is_last = exp.EQ(this=day_of(time), expression=exp.LastDay(this=day_of(time)))
    return exp.If(this=is_last, true=last, false=moved)


def day_of(time: exp.Expr) -> exp.Expr:
    """A time without its time of day."""
    return exp.cast(time.copy(), "date")


def at_day(time: exp.Expr, day: exp.Expr) -> exp.Expr:
    """A time on another day."""
    days = plain_call("DATEDIFF", day, day_of(time))
    shift = plain_call("MAKE_DT_INTERVAL", days)
    return exp.paren(exp.Add(this=time.copy(), expression=shift), copy=False)


def last_day_of_unit(node: exp.Expr, place: Place) -> exp.Expr:
    """`LAST_DAY(d, 'year')`, where Spark knows months only."""
    unit = node.text("unit").upper() if isinstance(node, exp.LastDay) else ""
    if unit in ("", "MONTH") or place.write.name in ("snowflake", "bigquery"):
        return node
    if not place.write.is_spark:
        raise UnsupportedError(f"no LAST_DAY of a {unit}")
    first = plain_call("TRUNC", node.this, exp.Literal.string(unit))
    if unit == "WEEK" and place.read.name == "snowflake":
        return plain_call("DATE_ADD", first, exp.Literal.number(6))
    if unit not in _MONTHS:
        raise UnsupportedError(f"no LAST_DAY of a {unit}")
    after = plain_call("ADD_MONTHS", first, exp.Literal.number(_MONTHS[unit]))
    return plain_call("DATE_SUB", after, exp.Literal.number(1))


def on_another_day(node: exp.Expr, place: Place) -> exp.Expr:
    """`LAST_DAY(d)` and `NEXT_DAY(d, 'MONDAY')`, which keep the time of day in Oracle."""
    if not isinstance(node, exp.LastDay | exp.NextDay) or not place.write.is_spark:
        return node
    if place.kind(node.this) not in TIMESTAMPS:
        return node
    day = type(node)(**{**node.args, "this": day_of(node.this)})
    return at_day(node.this, day)
