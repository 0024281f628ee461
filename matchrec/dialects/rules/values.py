"""Rules for numbers, dates and times, where sqlglot's translation to Spark means something else.

    CAST(2.7 AS INTEGER)       3 in Oracle, Snowflake, Trino and BigQuery; 2 in Spark and Flink
    CAST(x AS VARCHAR(3))      cuts longer strings; Spark's CAST does not
    7 / 2                      3 in Trino, Flink SQL and Azure
    GREATEST(x, NULL)          NULL, except in Spark and Databricks
    DATEADD(minute, 5, t)      t + INTERVAL '5' MINUTE; sqlglot writes DATE_ADD(t, 5), 5 days
    DATEDIFF(minute, s, t)     the number of times that a minute begins between s and t: the whole
                               minutes between the two times, each without its seconds
    date_diff('minute', s, t)  the number of minutes between s and t
    TIMESTAMPDIFF(MINUTE, s, t)  the same

In DEFINE, a difference may be between two rows. The engine computes such a difference only of
numbers, so times are converted to numbers there.
"""

from __future__ import annotations

import re
from decimal import Decimal

from sqlglot import exp
from sqlglot.dialects.tsql import TSQL
from sqlglot.errors import UnsupportedError

from matchrec.dialects.rules.context import TIMESTAMPS, RuleContext, ValueKind, call_function
from matchrec.syntax.tokens import split_words

# Products in which a cast to an integer rounds. The others cut the fraction off.
_ROUNDING = frozenset({"oracle", "snowflake", "trino", "bigquery"})

# The function that cuts a fraction off, if it is not TRUNC.
_CUTTING = {"trino": "TRUNCATE"}

# Functions after which nothing is left to round or cut.
_WHOLE_NUMBERS = (exp.Round, exp.Trunc, exp.Ceil, exp.Floor)

# Products whose cast to VARCHAR(n) cuts longer strings, too.
_CUTTING_TEXTS = frozenset({"oracle", "trino"})


def round_or_cut_cast(node: exp.Cast, context: RuleContext) -> exp.Expr:
    """Rewrite `CAST(x AS INTEGER)` of a number with a fraction to round or cut as it did."""
    rounds = context.read.name in _ROUNDING
    other_rounds = context.write.name in _ROUNDING
    is_to_integer = node.is_type(*exp.DataType.INTEGER_TYPES)
    if rounds == other_rounds or not is_to_integer or isinstance(node.this, _WHOLE_NUMBERS):
        return node
    kind = context.find_kind(node.this)
    if kind is None:
        does, other = ("rounds", "truncates") if rounds else ("truncates", "rounds")
        cast = f"a cast to an integer {does} in {context.read.title}, and {other} in"
        context.remark(f"{cast} {context.write.title}; the types of these columns are not known")
    if kind not in (ValueKind.FRACTION, ValueKind.DECIMAL):
        return node
    name = "ROUND" if rounds else _CUTTING.get(context.write.name, "TRUNC")
    node.set("this", call_function(name, node.this))
    return node


def cut_text_cast(node: exp.Cast, context: RuleContext) -> exp.Expr:
    """Rewrite `CAST(x AS VARCHAR(3))` to `LEFT(CAST(x AS STRING), 3)`."""
    is_to_text = node.is_type(*exp.DataType.TEXT_TYPES)
    length = node.to.expressions[0].this if is_to_text and node.to.expressions else None
    if context.write.name in _CUTTING_TEXTS or length is None:
        return node
    if node.is_type(exp.DType.CHAR, exp.DType.NCHAR) and not context.read.is_spark:
        context.remark(f"CHAR(n) is padded with spaces in {context.read.title}, and not here")
    return exp.Anonymous(this="LEFT", expressions=[exp.cast(node.this, "text"), length.copy()])


def rewrite_division(node: exp.Div, context: RuleContext) -> exp.Expr:
    """Rewrite `a / b` of integers to `a DIV b` if only the product that is read drops the fraction.

    If types are not known, or only the product that is written drops it, that is a remark.
    """
    read = context.read
    write = context.write
    if read.divides_integers == write.divides_integers:
        return node
    kinds = {context.find_kind(node.this), context.find_kind(node.expression)}
    if kinds == {ValueKind.INTEGER} and read.divides_integers:
        return exp.IntDiv(this=node.this, expression=node.expression)
    if kinds <= {ValueKind.INTEGER, None}:
        drops, keeps = (read, write) if read.divides_integers else (write, read)
        dropped = f"the quotient of two integers is an integer in {drops.title}"
        context.remark(f"{dropped}, and has a fraction in {keeps.title}")
    return node


def rewrite_safe_divide(node: exp.SafeDivide, context: RuleContext) -> exp.Expr:
    """Rewrite `SAFE_DIVIDE(a, b)` to `a / NULLIF(b, 0)`.

    sqlglot writes Spark's TRY_DIVIDE, which Sail has for few types.
    """
    if not context.write.has_functions_of_spark:
        return node
    dividend = _parenthesize(node.this.copy())
    divisor = _parenthesize(node.expression.copy())
    divisor = exp.func("NULLIF", divisor, exp.Literal.number(0))
    # With these arguments, sqlglot writes `/` as it is.
    division = exp.Div(this=dividend, expression=divisor, typed=True, safe=False)
    return exp.paren(division, copy=False)


def _parenthesize(node: exp.Expr) -> exp.Expr:
    """Return a binary operation in parentheses, and anything else as it is."""
    return exp.paren(node) if isinstance(node, exp.Binary) else node


def remark_average_of_integers(node: exp.Avg, context: RuleContext) -> exp.Expr:
    """Remark on `AVG` of integers.

    Flink returns it without a fraction, though its documentation shows one.
    """
    if context.find_kind(node.this) is ValueKind.INTEGER:
        context.remark("AVG of integers keeps its fraction, which Flink SQL drops")
    return node


def remark_average_of_decimals(node: exp.Avg, context: RuleContext) -> exp.Expr:
    """Remark on `AVG` of decimals: in Trino it has as many digits as they, elsewhere more."""
    reads_trino = context.read.name == "trino"
    kind = context.find_kind(node.this)
    if kind is ValueKind.DECIMAL or (kind is None and reads_trino):
        other = context.write.title if reads_trino else context.read.title
        digits = f"AVG of decimals keeps their number of digits in Trino, and has more in {other}"
        context.remark(f"{digits}; for DECIMAL(10, 2) write CAST(AVG(x) AS DECIMAL(10, 2))")
    return node


def round_decimal_quotient(node: exp.Div, context: RuleContext) -> exp.Expr:
    """Round `a / b` of decimals as Trino does, to the digits of the operand that has more."""
    kinds = {context.find_kind(node.this), context.find_kind(node.expression)}
    are_decimals = ValueKind.DECIMAL in kinds and kinds <= {
        ValueKind.DECIMAL,
        ValueKind.INTEGER,
        None,
    }
    if context.write.name == "trino" or not are_decimals:
        return node
    digits = _count_decimal_digits(node, context)
    if digits is not None and context.write.is_spark:
        return exp.cast(node.copy(), f"DECIMAL(38, {digits})")
    rounded = "Trino rounds a quotient of decimals to the larger number of digits of the two"
    message = f"{rounded}, and {context.write.title} keeps more digits"
    context.remark(f"{message}; for DECIMAL(10, 2) write CAST(a / b AS DECIMAL(10, 2))")
    return node


def _count_decimal_digits(node: exp.Expr, context: RuleContext) -> int | None:
    """Return the number of digits that a number has after the point in Trino; None if unknown."""
    match node:
        case exp.Literal() if not node.is_string:
            return len(node.name.partition(".")[2])
        case exp.Cast() if context.find_kind(node) is ValueKind.DECIMAL:
            parameters = node.to.expressions
            return int(parameters[1].name) if len(parameters) == 2 else 0
        case exp.Paren() | exp.Neg() | exp.Abs() | exp.Min() | exp.Max() | exp.Sum():
            return _count_decimal_digits(node.this, context)
        case exp.Mul() | exp.Add() | exp.Sub() | exp.Div() | exp.Mod():
            left = _count_decimal_digits(node.this, context)
            right = _count_decimal_digits(node.expression, context)
            if left is None or right is None:
                return None
            return left + right if isinstance(node, exp.Mul) else max(left, right)
    return 0 if context.find_kind(node) is ValueKind.INTEGER else None


def rewrite_greatest_and_least(node: exp.Greatest | exp.Least, context: RuleContext) -> exp.Expr:
    """Rewrite `GREATEST(a, b)` and `LEAST(a, b)` so that one NULL makes the result NULL.

    Spark and Databricks ignore NULLs, and so does Snowflake's GREATEST_IGNORE_NULLS.
    """
    read = context.read
    write = context.write
    says_ignore = read.name == "snowflake" and bool(node.args.get("ignore_nulls"))
    ignores_nulls = says_ignore or read.has_functions_of_spark
    node.set("ignore_nulls", ignores_nulls)
    operands = (node.this, *node.expressions)
    maybe_null = [operand for operand in operands if not isinstance(operand, exp.Literal)]
    is_alike = ignores_nulls is write.has_functions_of_spark
    if not maybe_null or is_alike or write.name == "snowflake":
        return node
    if ignores_nulls:
        context.remark(f"{node.key.upper()} of values and a NULL is NULL in {write.title}")
        return node
    are_not_null = [
        exp.Not(this=exp.Is(this=operand.copy(), expression=exp.null())) for operand in maybe_null
    ]
    return exp.Case(ifs=[exp.If(this=exp.and_(*are_not_null), true=node.copy())])


def rewrite_to_number(node: exp.ToNumber, _: RuleContext) -> exp.Expr:
    """Rewrite `TO_NUMBER(x)` of Snowflake, which returns a whole number, to a cast.

    A call with a format stays.
    """
    if node.args.get("format"):
        return node
    sizes = [node.args.get(name) for name in ("precision", "scale")]
    parameters = [exp.DataTypeParam(this=size.copy()) for size in sizes if size]
    type_ = exp.DataType(this=exp.DType.DECIMAL, expressions=parameters)
    if node.args.get("safe"):
        return exp.TryCast(this=node.this.copy(), to=type_, safe=True)
    return exp.Cast(this=node.this.copy(), to=type_)


# The functions that add an interval to a time, and those that subtract one.
_AddedInterval = exp.DateAdd | exp.TimestampAdd | exp.DatetimeAdd | exp.TsOrDsAdd
_SubtractedInterval = exp.DateSub | exp.TimestampSub | exp.DatetimeSub

_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600}
_SECONDS_PER_DAY = 86_400
_MICROSECONDS_PER_SECOND = 1_000_000

_UNITS = split_words("YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND")

# Units that intervals do not have, as a number of others.
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
    """Return an interval of `amount` units, which may be an expression.

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
    """Rewrite DATEDIFF with a unit: the number of times that one begins between two times.

    In DEFINE of Azure, it is the difference of two numbers, each of one time, because the times
    may be of two rows.

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
    if name in _SECONDS and context.is_condition and context.read.name == "azure":
        later_seconds = call_function("UNIX_SECONDS", later)
        earlier_seconds = call_function("UNIX_SECONDS", earlier)
        seconds = exp.Sub(this=later_seconds, expression=earlier_seconds)
        return _count_whole_units(seconds, _SECONDS[name])
    return exp.TimestampDiff(this=later, expression=earlier, unit=exp.var(name))


def rewrite_elapsed_time(node: exp.DateDiff | exp.TimestampDiff, context: RuleContext) -> exp.Expr:
    """Rewrite `date_diff('second', a, b)` and `TIMESTAMPDIFF(SECOND, a, b)` in DEFINE.

    It becomes the difference of two numbers. Only timestamps and units of a fixed length can.
    """
    unit = node.args.get("unit")
    if unit is None or not context.is_condition:
        return node
    seconds = (_SECONDS | {"DAY": _SECONDS_PER_DAY}).get(unit.name.upper())
    if seconds is None:
        return node
    later_kind = context.find_kind(node.this)
    earlier_kind = context.find_kind(node.expression)
    if not {later_kind, earlier_kind} <= TIMESTAMPS:
        return node
    later = convert_to_microseconds(node.this.copy(), later_kind)
    earlier = convert_to_microseconds(node.expression.copy(), earlier_kind)
    microseconds = exp.Sub(this=later, expression=earlier)
    return _count_whole_units(microseconds, seconds * _MICROSECONDS_PER_SECOND)


def _count_whole_units(length: exp.Expr, unit: int) -> exp.Expr:
    """Return the number of whole units in a length; both are in the same smaller unit."""
    if unit > 1:
        length = exp.IntDiv(this=exp.paren(length, copy=False), expression=exp.Literal.number(unit))
    return exp.paren(length, copy=False)


def convert_to_microseconds(time: exp.Expr, kind: ValueKind | None) -> exp.Expr:
    """Return a time of this kind as a number of microseconds.

    A time without time zone is read as one of UTC, so that no hour is missing or occurs twice.
    """
    if kind is ValueKind.TIMESTAMP_NTZ:
        text = exp.Concat(expressions=[exp.cast(time, "text"), exp.Literal.string("Z")])
        time = exp.cast(text, "timestamp")
    elif kind not in TIMESTAMPS:
        time = exp.cast(time, "timestamp")
    return exp.Anonymous(this="UNIX_MICROS", expressions=[time])


def rewrite_split(node: exp.Split, context: RuleContext) -> exp.Expr:
    """Rewrite `SPLIT(x, '.')`, whose second argument is a regular expression in Spark.

    sqlglot puts it between `\\Q` and `\\E`, which Sail does not read. We escape its characters.
    """
    is_literal = isinstance(node.expression, exp.Literal)
    if not is_literal or not context.write.is_spark or not node.expression.name:
        return node
    escaped = re.sub(r"[][.{}()*+?$|^\\]", r"\\\g<0>", node.expression.name)
    return exp.RegexpSplit(this=node.this.copy(), expression=exp.Literal.string(escaped))


def rewrite_decode(node: exp.DecodeCase, context: RuleContext) -> exp.Expr:
    """Rewrite `DECODE(x, a, b, ..., c)` to CASE, in which NULL is equal to NULL.

    Spark has this DECODE, but Sail's takes only two arguments.
    """
    if not context.write.is_spark:
        return node
    value, *others = node.expressions
    default = others.pop() if len(others) % 2 else None
    branches = [
        exp.If(this=exp.NullSafeEQ(this=value.copy(), expression=key), true=result)
        for key, result in zip(others[::2], others[1::2], strict=True)
    ]
    return exp.Case(ifs=branches, default=default)


def rewrite_date_difference(node: exp.Sub, context: RuleContext) -> exp.Expr:
    """Rewrite `d - e` of two dates to a number of days."""
    if not context.write.is_spark:
        return node
    if {context.find_kind(node.this), context.find_kind(node.expression)} != {ValueKind.DATE}:
        return node
    later = call_function("UNIX_DATE", node.this)
    earlier = call_function("UNIX_DATE", node.expression)
    return exp.paren(exp.Sub(this=later, expression=earlier), copy=False)


def cast_truncated_date(node: exp.TimestampTrunc, context: RuleContext) -> exp.Expr:
    """Cast `date_trunc('week', d)` of a date to a date. Spark's returns a timestamp."""
    if context.find_kind(node.this) is ValueKind.DATE:
        return exp.cast(node.copy(), "date")
    return node


def drop_fraction_of_second(node: exp.Extract, context: RuleContext) -> exp.Expr:
    """Rewrite `EXTRACT(SECOND FROM t)` to `SECOND(t)`, which has no fraction.

    In Spark and Oracle, EXTRACT returns the fraction as well.
    """
    read = context.read
    if normalize_unit(node.this.name) != "SECOND" or not context.write.is_spark:
        return node
    if read.has_functions_of_spark or read.name == "oracle":
        return node
    if context.find_kind(node.expression) in (ValueKind.INTERVAL, ValueKind.DIFFERENCE):
        return node
    return exp.Anonymous(this="SECOND", expressions=[node.expression.copy()])


# The number of levels that a recursion may have. Spark's default is 100, which would be too few
# for a calendar.
_RECURSION_LEVELS = 10_000

# Products in which a recursion needs the word RECURSIVE.
_SPELLS_RECURSIVE = frozenset({"trino", "bigquery", "flink"})


def rewrite_recursion(node: exp.With, context: RuleContext) -> exp.Expr:
    """Rewrite `WITH r AS (... UNION ALL ... FROM r)` to WITH RECURSIVE with a higher limit."""
    read = context.read
    if not context.write.is_spark or read.has_functions_of_spark:
        return node
    if not node.args.get("recursive") and read.name in _SPELLS_RECURSIVE:
        return node
    for definition in node.expressions:
        if _reads_itself(definition):
            node.set("recursive", True)
            alias = definition.args["alias"].sql("spark")
            with_limit = exp.var(f"{alias} MAX RECURSION LEVEL {_RECURSION_LEVELS}")
            definition.set("alias", with_limit)
    return node


def _reads_itself(definition: exp.CTE) -> bool:
    """Return whether a name in WITH is a union that reads itself."""
    name = definition.alias.lower()
    if not isinstance(definition.this, exp.Union):
        return False
    tables = definition.this.find_all(exp.Table)
    return any(table.name.lower() == name and not table.db for table in tables)


# What is special about casts to text, by product.
_TEXT_CASTS = {
    "snowflake": "Snowflake casts a timestamp to a string with three digits after the second",
    "bigquery": "BigQuery casts a timestamp to a string with +00 at the end",
    "trino": "Trino casts a double to a string such as 1.0E0, and keeps all digits of a timestamp",
}


def remark_text_cast(node: exp.Cast, context: RuleContext) -> exp.Expr:
    """Remark on `CAST(x AS VARCHAR)` of a time, or of a double in Trino, which has other digits."""
    is_to_text = node.is_type(*exp.DataType.TEXT_TYPES)
    if not is_to_text or node.args.get("format") or context.read.name == context.write.name:
        return node
    kinds = set(TIMESTAMPS)
    if context.read.name == "trino":
        kinds.add(ValueKind.FRACTION)
    if context.find_kind(node.this) in kinds:
        context.remark(_TEXT_CASTS[context.read.name])
    return node
