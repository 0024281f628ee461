"""Rules of Oracle: its times, and joined texts, for which '' is NULL.

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
from enum import Enum

from sqlglot import exp
from sqlglot.dialects.oracle import Oracle
from sqlglot.errors import UnsupportedError
from sqlglot.time import format_time

from matchrec.dialects.rules.aggregates import distribute_over_and_filter
from matchrec.dialects.rules.context import RewriteRule, RuleContext
from matchrec.dialects.rules.function_calls import call_function, find_function_name
from matchrec.dialects.rules.texts import cut_text_cast
from matchrec.dialects.rules.times import convert_to_microseconds, rewrite_date_difference
from matchrec.dialects.rules.value_kinds import NUMBERS, TIMES, ValueKind
from matchrec.syntax.tokens import split_words

MICROSECONDS_PER_DAY = 86_400_000_000

_NOT_KNOWN = "the types of these columns are not known"
_AMBIGUOUS = (
    "the difference of two timestamps is an interval, as for Oracle's TIMESTAMP; write "
    "`(a - b) * 1` for days, as for its DATE"
)

# The text of a duration, such as `0 01:00:00.00`.
_DURATION = re.compile(r"[+-]?\d+ \d{1,2}:\d\d(:\d\d(\.\d+)?)?")

# The operands of comparisons, by sqlglot's names.
_SIDES: dict[type[exp.Expr], tuple[str, ...]] = {
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

# The parts of Oracle's formats of times that others can write, too, with sqlglot's marks for them.
_COMMON_PARTS = split_words("YYYY YY MM MON MONTH DD DDD DAY DY HH HH12 HH24 MI SS")
_MARKS = {part: Oracle.TIME_MAPPING[part] for part in _COMMON_PARTS}
_MARKS |= {"RRRR": "%Y", "RR": "%y", "FF": "%f", "AM": "%p", "PM": "%p"}

_FORMAT_PART = re.compile(
    r'"[^"]*"|Y+|R+|MONTH|MON|MM|MI|DAY|DY|D+|HH(?:12|24)?|S+|FF\d?|AM|PM|[A-Z"]', re.IGNORECASE
)
_FORMAT_OF_NUMBER = re.compile(
    r"(FM)?[$09.,BCDEGILMPRSTUVX ]*[09][$09.,BCDEGILMPRSTUVX ]*", re.IGNORECASE
)

# The parts of a format that are written in upper or lower case, as they are in the format.
_NAME_PARTS = ("MON", "MONTH", "DAY", "DY")
_CASES = {(True, False): exp.Upper, (False, True): exp.Lower}  # by isupper() and islower()


class DifferenceUse(Enum):
    """What the difference of two times has to be, because of the expression around it."""

    NUMBER = "a number of days"
    INTERVAL = "an interval"
    EITHER = "either"


def rewrite_compared_durations(node: exp.Expr, context: RuleContext) -> exp.Expr:
    """Rewrite what a difference of times is compared with to an interval.

    It is a number of days, or the text of a duration.
    """
    operands = {side: node.args[side] for side in _SIDES.get(type(node), ())}
    if not any(_is_time_difference(part.unnest(), context) for part in operands.values()):
        return node
    for side, operand in operands.items():
        is_text = isinstance(operand, exp.Literal) and operand.is_string
        if is_text and _DURATION.fullmatch(operand.name):
            node.set(side, _build_day_time_interval(operand.name))
        elif context.request_kind(operand) in NUMBERS:
            node.set(side, build_days(operand.copy()))
    return node


def _is_time_difference(node: exp.Expr, context: RuleContext) -> bool:
    """Return whether it is the difference of two times, and nothing else is computed of it."""
    if not isinstance(node, exp.Sub):
        return False
    return {context.request_kind(node.this), context.request_kind(node.expression)} <= TIMES


def rewrite_time_difference(node: exp.Sub, context: RuleContext) -> exp.Expr:
    """Rewrite `d - e` to a number of days, if a number is needed or both have no time of day."""
    left_kind = context.request_kind(node.this)
    right_kind = context.request_kind(node.expression)
    kinds = {left_kind, right_kind}
    if not kinds <= TIMES:
        if kinds <= TIMES | {None}:
            other = "an interval" if context.write.is_spark else "may be another value"
            counted = "the difference of two dates is a number of days in Oracle"
            context.add_note(f"{counted}, and {other} in {context.write.title}; {_NOT_KNOWN}")
        return node
    use = _find_use(node, context)
    left = node.this.copy()
    right = node.expression.copy()
    left_is_date = _is_date(left) or left_kind is ValueKind.DATE
    right_is_date = _is_date(right) or right_kind is ValueKind.DATE
    if use is DifferenceUse.EITHER and left_is_date and right_is_date:
        use = DifferenceUse.NUMBER
    if use is DifferenceUse.INTERVAL:
        return node
    if kinds == {ValueKind.DATE}:
        return rewrite_date_difference(node, context)
    if use is DifferenceUse.EITHER:
        context.add_note(_AMBIGUOUS)
        return node
    later = convert_to_microseconds(left, left_kind)
    earlier = convert_to_microseconds(right, right_kind)
    microseconds = exp.paren(exp.Sub(this=later, expression=earlier), copy=False)
    microseconds_per_day = exp.Literal.number(MICROSECONDS_PER_DAY)
    return exp.paren(exp.Div(this=microseconds, expression=microseconds_per_day), copy=False)


def _is_date(node: exp.Expr) -> bool:
    """Return whether Oracle's type of an expression is DATE, as of SYSDATE or TRUNC(...)."""
    is_sysdate = isinstance(node, exp.CurrentTimestamp) and node.args.get("sysdate")
    return bool(is_sysdate or _is_trunc(node) or isinstance(node, exp.TimestampTrunc))


def _is_trunc(node: exp.Expr) -> bool:
    """Return whether it is a call of TRUNC that may be of a date."""
    return isinstance(node, exp.DateTrunc) or find_function_name(node) == "TRUNC"


def _find_use(node: exp.Expr, context: RuleContext) -> DifferenceUse:
    """Return how a difference of dates is used: as an interval, as a number, or as either."""
    parent = node.parent
    if parent is None or isinstance(parent, (exp.Alias, exp.Select)):
        return DifferenceUse.EITHER
    if isinstance(parent, (*_SIDES, exp.Extract)):
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
    """Rewrite `d + n` and `d - n`, which move a time by n days."""
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
        if number_kind is ValueKind.INTEGER:  # Spark reads that, too
            return type(node)(this=time, expression=number)
        time = exp.cast(time, "timestamp")
    return type(node)(this=time, expression=build_days(number))


def build_days(number: exp.Expr) -> exp.Expr:
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
    value, second = _read_trunc(node)
    if value is None:
        return node
    kind = context.request_kind(value)
    if kind is None and isinstance(second, exp.Literal | exp.Var) and not second.is_number:
        kind = ValueKind.TIMESTAMP  # the second argument is a unit
    if kind in TIMES:
        return _truncate_time(value.copy(), kind, second)
    if kind not in NUMBERS:
        context.add_note(f"TRUNC takes a number or a date: {_NOT_KNOWN}")
        arguments = [value] if second is None else [value, second]
        return call_function("TRUNC", *arguments)
    return _truncate_number(value.copy(), second)


def _read_trunc(node: exp.Expr) -> tuple[exp.Expr | None, exp.Expr | None]:
    """Return the arguments of a call of TRUNC; twice None for anything else.

    sqlglot parses it to one of three classes.
    """
    match node:
        case exp.Anonymous(this="TRUNC", expressions=[value]):
            return value, None
        case exp.Anonymous(this="TRUNC", expressions=[value, second, *_]):
            return value, second
        case exp.Trunc():
            return node.this, node.args.get("decimals")
        case exp.DateTrunc():
            return node.this, node.args.get("unit")
    return None, None


def _truncate_number(number: exp.Expr, decimals: exp.Expr | None) -> exp.Expr:
    """Return a number without its fraction, or with only some digits after the point."""
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
    name = "DAY" if unit is None else _UNITS.get(unit.name.upper())
    if unit is not None and unit.name.upper() in ("DAY", "DY", "D"):
        raise UnsupportedError(f"no TRUNC to {unit}, a week of the session's: write 'IW'")
    if name is None:
        raise UnsupportedError(f"no TRUNC to {unit}")
    if kind is ValueKind.DATE and name == "DAY" and not isinstance(time, exp.Cast):
        return time
    return exp.Anonymous(this="DATE_TRUNC", expressions=[exp.Literal.string(name), time])


def rewrite_timestamp_literal(node: exp.StrToTime, _: RuleContext) -> exp.Expr:
    """Rewrite `TIMESTAMP '2011-04-01 10:00:00'` to a cast.

    sqlglot reads it with a format that needs a fraction of a second, which may be left out.
    """
    has_literal_format = node.args["format"].name == "%Y-%m-%d %H:%M:%S.%f"
    if isinstance(node.this, exp.Literal) and has_literal_format:
        return exp.cast(node.this, "timestamp")
    return node


def rewrite_to_char_with_format(node: exp.ToChar | exp.TimeToStr, context: RuleContext) -> exp.Expr:
    """Rewrite `TO_CHAR(time, 'YYYY-MM-DD')`. A format of numbers stays.

    Raises:
        UnsupportedError: the product that is written has nothing for a part of the format.
    """
    pattern = _read_format(node)
    is_unpadded = pattern.upper().startswith("FM")  # no blanks after names, no leading zeros
    body = pattern[len("FM") :] if is_unpadded else pattern
    parts = [part[0] for part in _FORMAT_PART.finditer(body)]
    if not parts:
        return node
    if _FORMAT_OF_NUMBER.fullmatch(pattern):
        if context.write.is_spark:
            raise _make_format_error(pattern)
        return node
    if not is_unpadded and {part.upper() for part in parts} & {"MONTH", "DAY"}:
        padded = "names of months and days, which Oracle pads"
        raise UnsupportedError(f"{padded}: write MON or DY, or FM before the format")
    marks = _replace_parts_by_marks(body, context)
    if is_unpadded:
        marks = re.sub("%([dmHIMSj])", r"%-\1", marks)
    return _apply_case(parts, exp.TimeToStr(this=node.this, format=exp.Literal.string(marks)))


def _read_format(node: exp.ToChar | exp.TimeToStr) -> str:
    """Return a format as Oracle writes it; "" without one.

    sqlglot has replaced its parts by marks if it knows that it is a format of times.
    """
    literal = node.args.get("format")
    pattern = literal.name if isinstance(literal, exp.Literal) and literal.is_string else ""
    if isinstance(node, exp.ToChar):
        return pattern
    return format_time(pattern, Oracle.INVERSE_TIME_MAPPING) or pattern


def _replace_parts_by_marks(pattern: str, context: RuleContext) -> str:
    """Return a format with sqlglot's marks for its parts, and its texts as Spark writes them.

    Raises:
        UnsupportedError: there is nothing for a part.
    """

    def replace_part(match: re.Match[str]) -> str:
        """Return the mark for one part of a format, or a quoted text as Spark writes it."""
        part = match[0].upper()
        if part[0] == '"' and context.write.is_spark and "%" not in part:
            return "'" + match[0][1:-1].replace("'", "''") + "'"
        if part.startswith("FF") and context.write.is_spark:  # digits of a second
            return "S" * int(part[2:] or 6)
        if part not in _MARKS and not (part == "Q" and context.write.is_spark):
            raise _make_format_error(pattern)
        return _MARKS.get(part, part)

    return _FORMAT_PART.sub(replace_part, pattern)


def _apply_case(parts: list[str], text: exp.Expr) -> exp.Expr:
    """Return a formatted time whose names have the case of the format: `MON`, `Mon` or `mon`.

    Raises:
        UnsupportedError: the names have different cases, or other texts would change as well.
    """
    names = [part for part in parts if part.upper() in _NAME_PARTS or part in ("am", "pm")]
    fixed_parts = [part.strip('"') for part in parts if part[0] == '"' or part in ("AM", "PM")]
    fixed_text = "".join(fixed_parts)
    cases = {_CASES.get((name.isupper(), name.islower())) for name in names}
    case = next(iter(cases), None)
    changes_fixed_text = False
    if case is not None:
        changed = fixed_text.upper() if case is exp.Upper else fixed_text.lower()
        changes_fixed_text = changed != fixed_text
    if len(cases) > 1 or changes_fixed_text:
        raise UnsupportedError("names of months, days and AM in different cases")
    return case(this=text) if case else text


def _make_format_error(pattern: str) -> UnsupportedError:
    """Return the error for a format that only Oracle has."""
    return UnsupportedError(f"the format {pattern} of a time: write its parts one by one")


def rewrite_to_char_without_format(node: exp.ToChar, context: RuleContext) -> exp.Expr:
    """Rewrite `TO_CHAR(d)`: a time has the format DD-MON-RR, all else is a cast."""
    if node.args.get("format"):
        return node
    if context.request_kind(node.this) in TIMES:
        text = exp.TimeToStr(this=node.this, format=exp.Literal.string("%d-%b-%y"))
        return exp.Upper(this=text)
    note_fraction(node.this, context)
    return exp.cast(node.this.copy(), "text")


def note_fraction(number: exp.Expr, context: RuleContext) -> None:
    """Add a note on the text of a number.

    It is `11.5` and `.5` in Oracle, not `11.50` and `0.5`.
    """
    if context.request_kind(number) in (ValueKind.DECIMAL, ValueKind.FRACTION):
        zeros = "without zeros at its end and without a zero before its point"
        context.add_note(f"Oracle writes a number {zeros}")


def drop_dual(node: exp.Select, _: RuleContext) -> exp.Expr:
    """Rewrite `SELECT 1 FROM dual` to a SELECT without FROM."""
    from_ = node.args.get("from_")
    if from_ and from_.this.sql().upper() == "DUAL" and not node.args.get("joins"):
        node.set("from_", None)
    return node


def quote_unusual_name(node: exp.Identifier, _: RuleContext) -> exp.Expr:
    """Quote names like `page#`, which Spark does not read without quotes."""
    if "#" in node.name:
        node.set("quoted", True)
    return node


def rewrite_concatenation(node: exp.Concat | exp.DPipe, context: RuleContext) -> exp.Expr:
    """Rewrite `a || b` and `CONCAT(a, b)`.

    NULL counts as the empty string there, and a result that is empty is NULL.
    """
    if isinstance(node.parent, exp.DPipe):
        return node  # rewritten with the outermost `||`
    operands = node.expressions if isinstance(node, exp.Concat) else node.flatten()
    parts = [operand.copy() for operand in operands]
    for part in parts:
        note_fraction(part, context)
    if context.write.is_spark:  # whose CONCAT_WS skips NULL
        text: exp.Expr = call_function("CONCAT_WS", exp.Literal.string(""), *parts)
    else:
        texts = [
            part if isinstance(part, exp.Literal) else exp.cast(part, "text") for part in parts
        ]
        text = exp.Concat(expressions=texts, coalesce=True)
    is_never_empty = any(isinstance(part, exp.Literal) and part.name for part in parts)
    if is_never_empty:
        return text
    return exp.Nullif(this=text, expression=exp.Literal.string(""))


# What to write in Oracle instead of operators on bits.
_WITHOUT_BITS: dict[type[exp.Expr], str] = {
    exp.BitwiseOr: "write x + y - BITAND(x, y) for x | y",
    exp.BitwiseXor: "write x + y - 2 * BITAND(x, y) for x ^ y",
    exp.BitwiseNot: "write -1 - x for ~x",
    exp.BitwiseLeftShift: "write x * POWER(2, n) for a shift by n bits to the left",
    exp.BitwiseRightShift: "write FLOOR(x / POWER(2, n)) for a shift by n bits to the right",
}


def write_bitwise_operator(
    node: exp.BitwiseAnd
    | exp.BitwiseOr
    | exp.BitwiseXor
    | exp.BitwiseNot
    | exp.BitwiseLeftShift
    | exp.BitwiseRightShift,
    _: RuleContext,
) -> exp.Expr:
    """Rewrite `a & b` to `BITAND(a, b)`. Oracle has no operators on bits.

    Raises:
        UnsupportedError: it is another operator on bits.
    """
    if isinstance(node, exp.BitwiseAnd):
        return call_function("BITAND", node.this.unnest(), node.expression.unnest())
    raise UnsupportedError(f"Oracle has no operators on bits: {_WITHOUT_BITS[type(node)]}")


# The rules for expressions in Oracle's SQL, in the order in which they are applied.
READS: tuple[RewriteRule, ...] = (
    distribute_over_and_filter,
    drop_dual,
    quote_unusual_name,
    rewrite_concatenation,
    rewrite_timestamp_literal,
    rewrite_to_char_with_format,
    cut_text_cast,
    rewrite_compared_durations,
    rewrite_time_difference,
    rewrite_shift,
    rewrite_trunc,
    rewrite_to_char_without_format,
)
