"""Rules for numbers, dates and times, where sqlglot's translation to Spark means something else.

CAST(2.7 AS INTEGER)       3 in Oracle, Snowflake, Trino and BigQuery; 2 in Spark and Flink
CAST(x AS VARCHAR(3))      cuts what is longer, which Spark's does not
7 / 2                      3 in Trino, Flink SQL and Azure
GREATEST(x, NULL)          NULL but in Spark and Databricks
DATEADD(minute, 5, t)      t + INTERVAL '5' MINUTE   sqlglot: DATE_ADD(t, 5), which adds days
DATEDIFF(minute, s, t)     how often a minute begins between s and t: whole minutes of the two
                           times, each without its seconds
date_diff('minute', s, t)  how many minutes there are between s and t
TIMESTAMPDIFF(MINUTE, s, t)  the same

In DEFINE a difference may be of two rows, where it has to be one of numbers.
"""

from __future__ import annotations

import re
from decimal import Decimal

from sqlglot import exp
from sqlglot.dialects.tsql import TSQL
from sqlglot.errors import UnsupportedError

from matchrec.dialects.rules.place import TIMESTAMPS, Domain, RuleContext, call_function
from matchrec.syntax.tokens import words

_ROUNDING = frozenset({"oracle", "snowflake", "trino", "bigquery"})
_CUTTING = {"trino": "TRUNCATE"}  # TRUNC elsewhere
_WHOLE = (exp.Round, exp.Trunc, exp.Ceil, exp.Floor)
_UNCUT = frozenset({"oracle", "trino"})  # whose CAST cuts as well


def round_or_cut_cast(node: exp.Cast, context: RuleContext) -> exp.Expr:
    """`CAST(x AS INTEGER)` of a number with a fraction, rounded or cut as where it is read."""
    rounds, cuts = (product.name in _ROUNDING for product in (context.read, context.write))
    is_cut = node.is_type(*exp.DataType.INTEGER_TYPES) and not isinstance(node.this, _WHOLE)
    if rounds == cuts or not is_cut:
        return node
    if (kind := context.kind(node.this)) is None:
        does, other = ("rounds", "cuts") if rounds else ("cuts", "rounds")
        cast = f"a cast to an integer {does} in {context.read.title}, and {other} in"
        context.remark(f"{cast} {context.write.title}; the types of these columns are not known")
    if kind not in (Domain.FRACTION, Domain.DECIMAL):
        return node
    name = "ROUND" if rounds else _CUTTING.get(context.write.name, "TRUNC")
    node.set("this", call_function(name, node.this))
    return node


def cut_text_cast(node: exp.Cast, context: RuleContext) -> exp.Expr:
    """`CAST(x AS VARCHAR(3))` cuts what is longer, which Spark does not."""
    is_text = node.is_type(*exp.DataType.TEXT_TYPES)
    length = node.to.expressions[0].this if is_text and node.to.expressions else None
    if context.write.name in _UNCUT or length is None:
        return node
    if node.is_type(exp.DType.CHAR, exp.DType.NCHAR) and not context.read.is_spark:
        context.remark(f"CHAR(n) is filled with blanks in {context.read.title}, and here it is not")
    return exp.Anonymous(this="LEFT", expressions=[exp.cast(node.this, "text"), length.copy()])


def rewrite_division(node: exp.Div, context: RuleContext) -> exp.Expr:
    """`a / b` of integers becomes `a DIV b` where the other product would keep the fraction."""
    read, write = context.read, context.write
    if read.divides_integers == write.divides_integers:
        return node
    kinds = {context.kind(node.this), context.kind(node.expression)}
    if kinds == {Domain.INTEGER} and read.divides_integers:
        return exp.IntDiv(this=node.this, expression=node.expression)
    if kinds <= {Domain.INTEGER, None}:
        drops, keeps = (read, write) if read.divides_integers else (write, read)
        whole = f"the quotient of two integers is an integer in {drops.title}"
        context.remark(f"{whole}, and has a fraction in {keeps.title}")
    return node


def rewrite_safe_divide(node: exp.SafeDivide, context: RuleContext) -> exp.Expr:
    """`SAFE_DIVIDE(a, b)` without Spark's TRY_DIVIDE, which Sail has for few types."""
    if not context.write.has_functions_of_spark:
        return node
    sides = node.this.copy(), node.expression.copy()
    dividend, divisor = (exp.paren(one) if isinstance(one, exp.Binary) else one for one in sides)
    divisor = exp.func("NULLIF", divisor, exp.Literal.number(0))
    division = exp.Div(this=dividend, expression=divisor, typed=True, safe=False)  # as it is
    return exp.paren(division, copy=False)


def remark_average_of_integers(node: exp.Avg, context: RuleContext) -> exp.Expr:
    """`AVG` of integers, which Flink gives without a fraction and its documentation with one."""
    if context.kind(node.this) is Domain.INTEGER:
        context.remark("AVG of integers keeps its fraction, which Flink SQL drops")
    return node


def remark_average_of_decimals(node: exp.Avg, context: RuleContext) -> exp.Expr:
    """`AVG` of decimals, which has as many digits as they in Trino, and more elsewhere."""
    reads = context.read.name == "trino"
    if context.kind(node.this) in (Domain.DECIMAL, None if reads else Domain.DECIMAL):
        other = context.write.title if reads else context.read.title
        digits = f"AVG of decimals has their number of digits in Trino, and more in {other}"
        context.remark(f"{digits}; for DECIMAL(10, 2) write CAST(AVG(x) AS DECIMAL(10, 2))")
    return node


def round_decimal_quotient(node: exp.Div, context: RuleContext) -> exp.Expr:
    """`a / b` of decimals, rounded in Trino to the digits of the one that has more of them."""
    kinds = {context.kind(node.this), context.kind(node.expression)}
    are_decimals = Domain.DECIMAL in kinds and kinds <= {Domain.DECIMAL, Domain.INTEGER, None}
    if context.write.name == "trino" or not are_decimals:
        return node
    digits = _digits(node, context)
    if digits is not None and context.write.is_spark:
        return exp.cast(node.copy(), f"DECIMAL(38, {digits})")
    rounded = "a quotient of decimals is rounded in Trino to the digits of the one that has more"
    more = f"{rounded} of them, and has more in {context.write.title}"
    context.remark(f"{more}; for DECIMAL(10, 2) write CAST(a / b AS DECIMAL(10, 2))")
    return node


def _digits(node: exp.Expr, context: RuleContext) -> int | None:
    """How many digits after the point a number has in Trino, None where that is not known."""
    match node:
        case exp.Literal() if not node.is_string:
            return len(node.name.partition(".")[2])
        case exp.Cast() if context.kind(node) is Domain.DECIMAL:
            parameters = node.to.expressions
            return int(parameters[1].name) if len(parameters) == 2 else 0
        case exp.Paren() | exp.Neg() | exp.Abs() | exp.Min() | exp.Max() | exp.Sum():
            return _digits(node.this, context)
        case exp.Mul() | exp.Add() | exp.Sub() | exp.Div() | exp.Mod():
            found = [_digits(one, context) for one in (node.this, node.expression)]
            known = [one for one in found if one is not None]
            if len(known) < len(found):
                return None
            return sum(known) if isinstance(node, exp.Mul) else max(known)
    return 0 if context.kind(node) is Domain.INTEGER else None


def rewrite_greatest_and_least(node: exp.Greatest | exp.Least, context: RuleContext) -> exp.Expr:
    """`GREATEST(a, b)` and `LEAST(a, b)`, NULL where one is NULL but in Spark and Databricks."""
    read, write = context.read, context.write
    is_named = read.name == "snowflake" and node.args.get("ignore_nulls")
    ignores = bool(is_named) or read.has_functions_of_spark
    node.set("ignore_nulls", ignores)
    unsure = [one for one in (node.this, *node.expressions) if not isinstance(one, exp.Literal)]
    if not unsure or ignores is write.has_functions_of_spark or write.name == "snowflake":
        return node
    if ignores:
        context.remark(f"{node.key.upper()} of values and a NULL is NULL in {write.title}")
        return node
    known = [exp.Not(this=exp.Is(this=one.copy(), expression=exp.null())) for one in unsure]
    return exp.Case(ifs=[exp.If(this=exp.and_(*known), true=node.copy())])


def rewrite_to_number(node: exp.ToNumber, _: RuleContext) -> exp.Expr:
    """`TO_NUMBER(x)`, without a format a whole number in Snowflake."""
    if node.args.get("format"):
        return node
    precision, scale = (node.args.get(literal) for literal in ("precision", "scale"))
    sizes = [exp.DataTypeParam(this=one.copy()) for one in (precision, scale) if one]
    type_ = exp.DataType(this=exp.DType.DECIMAL, expressions=sizes)
    if node.args.get("safe"):
        return exp.TryCast(this=node.this.copy(), to=type_, safe=True)
    return exp.Cast(this=node.this.copy(), to=type_)


_Added = exp.DateAdd | exp.TimestampAdd | exp.DatetimeAdd | exp.TsOrDsAdd
_Subtracted = exp.DateSub | exp.TimestampSub | exp.DatetimeSub
_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600}
_COUNTED = words("YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND")
_OF_OTHERS = {
    "WEEK": (Decimal(7), "DAY"),
    "QUARTER": (Decimal(3), "MONTH"),
    "MILLISECOND": (Decimal("0.001"), "SECOND"),
    "MICROSECOND": (Decimal("0.000001"), "SECOND"),
}


def normalize_unit(name: str) -> str:
    """The name of a unit of time, of which products know shorter forms."""
    upper = name.upper()
    return TSQL.DATE_PART_MAPPING.get(upper, upper.removesuffix("S"))


def rewrite_time_addition(node: _Added | _Subtracted, _: RuleContext) -> exp.Expr:
    """A time and an interval, added or subtracted by a function."""
    amount, unit = node.expression, node.args.get("unit")
    if isinstance(amount, exp.Interval):
        amount, unit = amount.this, amount.args.get("unit")
    if unit is None:
        return node
    operator = exp.Add if isinstance(node, _Added) else exp.Sub
    return exp.paren(
        operator(this=node.this, expression=_interval(amount, normalize_unit(unit.name)))
    )


def _interval(amount: exp.Expr, unit: str) -> exp.Expr:
    if unit not in _COUNTED:
        raise UnsupportedError(f"an interval in units of {unit}")
    times, name = _OF_OTHERS.get(unit, (Decimal(1), unit))
    sign, number = ("-", amount.this) if isinstance(amount, exp.Neg) else ("", amount.unnest())
    if isinstance(number, exp.Literal) and number.name.replace(".", "", 1).isdigit():
        count = f"{sign}{Decimal(number.name) * times:f}"
        return exp.Interval(this=exp.Literal.string(count), unit=exp.var(name))
    one = exp.Interval(this=exp.Literal.string(f"{times:f}"), unit=exp.var(name))
    return exp.Mul(this=exp.paren(amount), expression=one)


def rewrite_datediff(node: exp.DateDiff | exp.DatetimeDiff, context: RuleContext) -> exp.Expr:
    """DATEDIFF with a unit: how often one begins between two times.

    In DEFINE of Azure as a difference of numbers, each of one time: these may be of two rows.
    """
    if (unit := node.args.get("unit")) is None:
        return node
    name = normalize_unit(unit.name)
    if name not in _COUNTED:
        raise UnsupportedError(f"a difference in units of {name}")
    if name == "DAY":
        return exp.DateDiff(this=node.this, expression=node.expression)
    sides = node.this, node.expression
    later, earlier = (exp.TimestampTrunc(this=one, unit=exp.var(name)) for one in sides)
    if name in _SECONDS and context.is_condition and context.read.name == "azure":
        seconds = (call_function("UNIX_SECONDS", trunc) for trunc in (later, earlier))
        return _whole_units(exp.Sub(this=next(seconds), expression=next(seconds)), _SECONDS[name])
    return exp.TimestampDiff(this=later, expression=earlier, unit=exp.var(name))


def rewrite_elapsed_time(node: exp.DateDiff | exp.TimestampDiff, context: RuleContext) -> exp.Expr:
    """`date_diff('second', a, b)` and `TIMESTAMPDIFF(SECOND, a, b)` of two timestamps in DEFINE."""
    unit = node.args.get("unit") if context.is_condition else None
    seconds = (_SECONDS | {"DAY": 86_400}).get(unit.name.upper()) if unit else None
    kinds = (context.kind(node.this), context.kind(node.expression)) if seconds else ()
    if seconds is None or not set(kinds) <= TIMESTAMPS:
        return node
    later, earlier = map(convert_to_microseconds, (node.this.copy(), node.expression.copy()), kinds)
    return _whole_units(exp.Sub(this=later, expression=earlier), seconds * 1_000_000)


def _whole_units(length: exp.Expr, unit: int) -> exp.Expr:
    if unit > 1:
        length = exp.IntDiv(this=exp.paren(length, copy=False), expression=exp.Literal.number(unit))
    return exp.paren(length, copy=False)


def convert_to_microseconds(time: exp.Expr, kind: Domain | None) -> exp.Expr:
    """The number of a time of this kind, in microseconds."""
    if kind is Domain.TIMESTAMP_NTZ:  # as if it were of UTC, so that no hour is missing or twice
        text = exp.Concat(expressions=[exp.cast(time, "text"), exp.Literal.string("Z")])
        time = exp.cast(text, "timestamp")
    elif kind not in TIMESTAMPS:
        time = exp.cast(time, "timestamp")
    return exp.Anonymous(this="UNIX_MICROS", expressions=[time])


def rewrite_split(node: exp.Split, context: RuleContext) -> exp.Expr:
    """`SPLIT(x, '.')` at a text, which Spark takes for a regular expression.

    sqlglot puts it between `\\Q` and `\\E`, which Sail does not read.
    """
    is_literal = isinstance(node.expression, exp.Literal)
    if not is_literal or not context.write.is_spark or not node.expression.name:
        return node
    text = re.sub(r"[][.{}()*+?$|^\\]", r"\\\g<0>", node.expression.name)
    return exp.RegexpSplit(this=node.this.copy(), expression=exp.Literal.string(text))


def rewrite_decode(node: exp.DecodeCase, context: RuleContext) -> exp.Expr:
    """`DECODE(x, a, b, ..., c)`, whose NULLs are equal; Sail has it of two arguments alone."""
    if not context.write.is_spark:
        return node
    value, *others = node.expressions
    default = others.pop() if len(others) % 2 else None
    ifs = [
        exp.If(this=exp.NullSafeEQ(this=value.copy(), expression=key), true=then)
        for key, then in zip(others[::2], others[1::2], strict=True)
    ]
    return exp.Case(ifs=ifs, default=default)


def rewrite_date_difference(node: exp.Sub, context: RuleContext) -> exp.Expr:
    """`d - e` of two dates is a number of days."""
    dates = node.this, node.expression
    if not context.write.is_spark or set(map(context.kind, dates)) != {Domain.DATE}:
        return node
    later, earlier = (call_function("UNIX_DATE", date) for date in dates)
    return exp.paren(exp.Sub(this=later, expression=earlier), copy=False)


def cast_truncated_date(node: exp.TimestampTrunc, context: RuleContext) -> exp.Expr:
    """`date_trunc('week', d)` of a date is a date, where Spark makes a timestamp of it."""
    return exp.cast(node.copy(), "date") if context.kind(node.this) is Domain.DATE else node


def drop_fraction_of_second(node: exp.Extract, context: RuleContext) -> exp.Expr:
    """`EXTRACT(SECOND FROM t)`, of which Spark and Oracle have the fraction as well."""
    read, write = context.read, context.write
    is_part = normalize_unit(node.this.name) == "SECOND"
    if not is_part or not write.is_spark or read.has_functions_of_spark or read.name == "oracle":
        return node
    if context.kind(node.expression) in (Domain.INTERVAL, Domain.DIFFERENCE):
        return node
    return exp.Anonymous(this="SECOND", expressions=[node.expression.copy()])


_LEVELS = 10_000  # of a recursion; by itself Spark stops at 100, which is 100 days of a calendar
_SPELLS_RECURSION = frozenset({"trino", "bigquery", "flink"})  # the others need not write RECURSIVE


def rewrite_recursion(node: exp.With, context: RuleContext) -> exp.Expr:
    """`WITH r AS (... UNION ALL ... FROM r)` is RECURSIVE, of more levels than Spark's own 100."""
    read, write = context.read, context.write
    if not write.is_spark or read.has_functions_of_spark:
        return node
    if node.args.get("recursive") or read.name not in _SPELLS_RECURSION:
        for expression in node.expressions:
            name, tables = expression.alias.lower(), expression.this.find_all(exp.Table)
            reads_itself = any(table.name.lower() == name and not table.db for table in tables)
            if not (reads_itself and isinstance(expression.this, exp.Union)):
                continue
            node.set("recursive", True)
            alias = expression.args["alias"].sql("spark")
            expression.set("alias", exp.var(f"{alias} MAX RECURSION LEVEL {_LEVELS}"))
    return node


_TEXTS = {  # of a value that is cast to a text, by product
    "snowflake": "a cast to text gives three digits of a second in Snowflake",
    "bigquery": "a cast to text gives +00 after a timestamp in BigQuery",
    "trino": "a cast to text gives 1.0E0 of a double, and all digits of a timestamp in Trino",
}


def remark_text_cast(node: exp.Cast, context: RuleContext) -> exp.Expr:
    """`CAST(x AS VARCHAR)` of a time, which has other digits elsewhere, or of a double in Trino."""
    is_text = node.is_type(*exp.DataType.TEXT_TYPES)
    if not is_text or node.args.get("format") or context.read.name == context.write.name:
        return node
    others = {Domain.FRACTION} if context.read.name == "trino" else set()
    if context.kind(node.this) in TIMESTAMPS | others:
        context.remark(_TEXTS[context.read.name])
    return node
