"""Rules of Oracle: its times, and texts that are joined, of which '' is NULL.

Its DATE has a time of day, `-` of two gives days, `+` a number moves by days:

d - e < 30           d - e < INTERVAL '30' DAY
(d - e) * 24         ((UNIX_MICROS(d) - UNIX_MICROS(e)) / 86400000000) * 24
d + 1/24             d + INTERVAL '1' DAY * (1 / 24)

Spark's timestamps are Oracle's DATE and TIMESTAMP, whose difference is an interval. What it is
compared or computed with tells which one was meant; where nothing does, it is an interval.
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.oracle import Oracle
from sqlglot.errors import UnsupportedError
from sqlglot.time import format_time

from matchrec.dialects.rules.aggregates import distribute_over_and_filter
from matchrec.dialects.rules.place import (
    NUMBERS,
    TIMES,
    Domain,
    Rule,
    RuleContext,
    call_function,
    find_function_name,
)
from matchrec.dialects.rules.values import (
    convert_to_microseconds,
    cut_text_cast,
    rewrite_date_difference,
)
from matchrec.syntax.tokens import words

MICROSECONDS_A_DAY = 86_400_000_000

_NOT_KNOWN = "the types of these columns are not known"
_AMBIGUOUS = (
    "the difference of two timestamps is an interval, as for Oracle's TIMESTAMP; write "
    "`(a - b) * 1` for days, as for its DATE"
)
_DURATION = re.compile(r"[+-]?\d+ \d{1,2}:\d\d(:\d\d(\.\d+)?)?")
_SIDES: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Between: ("this", "low", "high"),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), ("this", "expression")),
}
_OF_NUMBERS = (
    *(exp.Mul, exp.Div, exp.Mod, exp.Round, exp.Trunc, exp.Ceil, exp.Floor),
    *(exp.Abs, exp.Sign, exp.Sum, exp.Avg, exp.Sqrt, exp.Pow, exp.ToNumber),
)
_UNITS = {
    **dict.fromkeys(("DD", "DDD", "J"), "DAY"),
    **dict.fromkeys(("MM", "MON", "MONTH", "RM"), "MONTH"),
    **dict.fromkeys(("YYYY", "YY", "YEAR", "SYYYY", "Y"), "YEAR"),
    **dict.fromkeys(("HH", "HH12", "HH24"), "HOUR"),
    "Q": "QUARTER",
    "IW": "WEEK",
    "MI": "MINUTE",
}
_ALIKE = words("YYYY YY MM MON MONTH DD DDD DAY DY HH HH12 HH24 MI SS")
_MARKS = {word: Oracle.TIME_MAPPING[word] for word in _ALIKE}

# The parts of Oracle's formats of times that others write too, with sqlglot's marks for them.
_MARKS |= {"RRRR": "%Y", "RR": "%y", "FF": "%f", "AM": "%p", "PM": "%p"}
_PART = re.compile(
    r'"[^"]*"|Y+|R+|MONTH|MON|MM|MI|DAY|DY|D+|HH(?:12|24)?|S+|FF\d?|AM|PM|[A-Z"]', re.IGNORECASE
)
_OF_NUMBER = re.compile(r"(FM)?[$09.,BCDEGILMPRSTUVX ]*[09][$09.,BCDEGILMPRSTUVX ]*", re.IGNORECASE)
_NAMES = ("MON", "MONTH", "DAY", "DY")
_CASES = {(True, False): exp.Upper, (False, True): exp.Lower}  # by isupper() and islower()


def rewrite_compared_durations(node: exp.Expr, context: RuleContext) -> exp.Expr:
    """What a difference of times is compared with: days or the text of a duration → an interval."""
    parts = {side: node.args[side] for side in _SIDES.get(type(node), ())}
    found = (part.unnest() for part in parts.values() if isinstance(part.unnest(), exp.Sub))
    if not any({context.kind(one.this), context.kind(one.expression)} <= TIMES for one in found):
        return node
    for side, part in parts.items():
        if isinstance(part, exp.Literal) and part.is_string and _DURATION.fullmatch(part.name):
            unit = exp.IntervalSpan(this=exp.var("DAY"), expression=exp.var("SECOND"))
            node.set(side, exp.Interval(this=exp.Literal.string(part.name), unit=unit))
        elif context.kind(part) in NUMBERS:
            node.set(side, build_days(part.copy()))
    return node


def rewrite_time_difference(node: exp.Sub, context: RuleContext) -> exp.Expr:
    """`d - e` as a number of days, where a number is wanted, or where both have no time of day."""
    of_both = context.kind(node.this), context.kind(node.expression)
    kinds = set(of_both)
    if not kinds <= TIMES:
        if kinds <= TIMES | {None}:
            other = "an interval" if context.write.is_spark else "may be another value"
            counted = "the difference of two dates is a number of days in Oracle"
            context.remark(f"{counted}, and {other} in {context.write.title}; {_NOT_KNOWN}")
        return node
    use = _use(node, context)
    operands = tuple(zip((node.this.copy(), node.expression.copy()), of_both, strict=True))
    if use is None and all(_is_date(one) or kind is Domain.DATE for one, kind in operands):
        use = Domain.FRACTION
    if use is Domain.INTERVAL:
        return node
    if kinds == {Domain.DATE}:
        return rewrite_date_difference(node, context)
    if use is None:
        context.remark(_AMBIGUOUS)
        return node
    later, earlier = (convert_to_microseconds(one, kind) for one, kind in operands)
    length = exp.paren(exp.Sub(this=later, expression=earlier), copy=False)
    day = exp.Literal.number(MICROSECONDS_A_DAY)
    return exp.paren(exp.Div(this=length, expression=day), copy=False)


def _is_date(node: exp.Expr) -> bool:
    """Whether it is a DATE, whatever Spark's type for it is: SYSDATE or TRUNC(...)."""
    is_sysdate = isinstance(node, exp.CurrentTimestamp) and node.args.get("sysdate")
    return bool(is_sysdate or _is_trunc(node) or isinstance(node, exp.TimestampTrunc))


def _is_trunc(node: exp.Expr) -> bool:
    return isinstance(node, exp.DateTrunc) or find_function_name(node) == "TRUNC"


def _use(node: exp.Expr, context: RuleContext) -> Domain | None:
    """What stands around a difference asks for: a number of days, an interval, None for either."""
    above = node.parent
    if above is None or isinstance(above, (exp.Alias, exp.Select)):
        return None
    if isinstance(above, (*_SIDES, exp.Extract)):
        return Domain.INTERVAL
    if isinstance(above, _OF_NUMBERS) or _is_trunc(above):
        return Domain.FRACTION
    if isinstance(above, (exp.Add, exp.Sub, exp.Coalesce)):
        others = [expression for expression in above.iter_expressions() if expression is not node]
        kinds = {context.kind(one) for one in others}
        if kinds & NUMBERS:
            return Domain.FRACTION
        if kinds & {Domain.INTERVAL, *TIMES}:
            return Domain.INTERVAL
    return _use(above, context)


def rewrite_shift(node: exp.Add | exp.Sub, context: RuleContext) -> exp.Expr:
    """`d + n` and `d - n`, so many days later or earlier."""
    kinds = context.kind(node.this), context.kind(node.expression)
    time, number = node.this.copy(), node.expression.copy()
    if isinstance(node, exp.Add) and kinds[0] in NUMBERS:
        time, number, kinds = number, time, kinds[::-1]
    if kinds[0] not in TIMES or kinds[1] not in NUMBERS:
        return node
    if kinds[0] is Domain.DATE:
        if kinds[1] is Domain.INTEGER:
            return type(node)(this=time, expression=number)
        time = exp.cast(time, "timestamp")
    return type(node)(this=time, expression=build_days(number))


def build_days(number: exp.Expr) -> exp.Expr:
    if isinstance(number, exp.Literal) and number.name.isdigit():
        return exp.Interval(this=exp.Literal.string(number.name), unit=exp.var("DAY"))
    one = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("DAY"))
    simple = isinstance(number, (exp.Literal, exp.Column, exp.Paren, exp.Func))
    return exp.Mul(this=one, expression=number if simple else exp.paren(number, copy=False))


def rewrite_trunc(node: exp.Expr, context: RuleContext) -> exp.Expr:
    """`TRUNC(x)`, `TRUNC(x, n)` of a number and `TRUNC(d)`, `TRUNC(d, 'HH24')` of a date."""
    value, second = _truncation(node)
    if value is None:
        return node
    kind = context.kind(value)
    if kind is None and isinstance(second, exp.Literal | exp.Var) and not second.is_number:
        kind = Domain.TIMESTAMP
    if kind in TIMES:
        return _truncated_time(value.copy(), kind, second)
    if kind not in NUMBERS:
        context.remark(f"TRUNC takes a number or a date: {_NOT_KNOWN}")
        return call_function("TRUNC", *filter(None, (value, second)))
    if second is None:
        return exp.cast(value.copy(), "bigint")
    power = exp.Pow(this=exp.Literal.number(10), expression=second.copy())
    product = exp.Mul(this=exp.paren(value.copy()), expression=power)
    return exp.paren(exp.Div(this=exp.cast(product, "bigint"), expression=power.copy()))


def _truncation(node: exp.Expr) -> tuple[exp.Expr | None, exp.Expr | None]:
    """What a call of TRUNC takes, as sqlglot reads it."""
    match node:
        case exp.Anonymous(this="TRUNC", expressions=[value, *rest]):
            return value, rest[0] if rest else None
        case exp.Trunc():
            return node.this, node.args.get("decimals")
        case exp.DateTrunc():
            return node.this, node.args.get("unit")
    return None, None


def _truncated_time(time: exp.Expr, kind: Domain | None, unit: exp.Expr | None) -> exp.Expr:
    name = "DAY" if unit is None else _UNITS.get(unit.name.upper())
    if unit is not None and unit.name.upper() in ("DAY", "DY", "D"):
        raise UnsupportedError(f"no TRUNC to {unit}, a week of the session's: write 'IW'")
    if name is None:
        raise UnsupportedError(f"no TRUNC to {unit}")
    if kind is Domain.DATE and name == "DAY" and not isinstance(time, exp.Cast):
        return time
    return exp.Anonymous(this="DATE_TRUNC", expressions=[exp.Literal.string(name), time])


def rewrite_timestamp_literal(node: exp.StrToTime, _: RuleContext) -> exp.Expr:
    """`TIMESTAMP '2011-04-01 10:00:00'`, whose fraction of a second may be left out."""
    is_whole = node.args["format"].name == "%Y-%m-%d %H:%M:%S.%f"
    is_literal = isinstance(node.this, exp.Literal) and is_whole
    return exp.cast(node.this, "timestamp") if is_literal else node


def rewrite_to_char_with_format(node: exp.ToChar | exp.TimeToStr, context: RuleContext) -> exp.Expr:
    """`TO_CHAR(time, 'YYYY-MM-DD')`, where the format is one of times."""
    format_ = node.args.get("format")
    pattern = format_.name if isinstance(format_, exp.Literal) and format_.is_string else ""
    if not isinstance(node, exp.ToChar):  # sqlglot has read it
        pattern = format_time(pattern, Oracle.INVERSE_TIME_MAPPING) or pattern
    is_bare = pattern.upper().startswith("FM")  # no blanks after names, no zeros before numbers
    parts = [found[0] for found in _PART.finditer(pattern[2 * is_bare :])]
    if not parts or _OF_NUMBER.fullmatch(pattern):
        if parts and context.write.is_spark:
            raise _not_said(pattern)
        return node
    if not is_bare and {part.upper() for part in parts} & {"MONTH", "DAY"}:
        padded = "names of months and days, which Oracle pads"
        raise UnsupportedError(f"{padded}: write MON or DY, or FM before the format")
    marks = _marks(pattern[2 * is_bare :], context)
    if is_bare:
        marks = re.sub("%([dmHIMSj])", r"%-\1", marks)
    return _in_case_of(parts, exp.TimeToStr(this=node.this, format=exp.Literal.string(marks)))


def _marks(pattern: str, context: RuleContext) -> str:
    """A format with sqlglot's marks for its parts, and with texts as Spark writes them."""

    def mark(found: re.Match[str]) -> str:
        part = found[0].upper()
        if part[0] == '"' and context.write.is_spark and "%" not in part:
            return "'" + found[0][1:-1].replace("'", "''") + "'"
        if part.startswith("FF") and context.write.is_spark:  # digits of a second
            return "S" * int(part[2:] or 6)
        if part not in _MARKS and not (part == "Q" and context.write.is_spark):
            raise _not_said(pattern)
        return _MARKS.get(part, part)

    return _PART.sub(mark, pattern)


def _in_case_of(parts: list[str], text: exp.Expr) -> exp.Expr:
    """A text with the names in it as a format writes its own: `MON`, `Mon` or `mon`."""
    names = [part for part in parts if part.upper() in _NAMES or part in ("am", "pm")]
    others = "".join(part.strip('"') for part in parts if part[0] == '"' or part in ("AM", "PM"))
    cases = {_CASES.get((name.isupper(), name.islower())) for name in names}
    case = next(iter(cases), None)
    is_changed = case and others != (others.upper() if case is exp.Upper else others.lower())
    if len(cases) > 1 or is_changed:
        raise UnsupportedError("names of months, days and AM in different cases")
    return case(this=text) if case else text


def _not_said(pattern: str) -> UnsupportedError:
    return UnsupportedError(f"the format {pattern} of a time: write its parts one by one")


def rewrite_to_char_without_format(node: exp.ToChar, context: RuleContext) -> exp.Expr:
    """`TO_CHAR(d)` has Oracle's format DD-MON-RR; of what is no time it is a cast."""
    if node.args.get("format"):
        return node
    if context.kind(node.this) in TIMES:
        return exp.Upper(this=exp.TimeToStr(this=node.this, format=exp.Literal.string("%d-%b-%y")))
    remark_fraction(node.this, context)
    return exp.cast(node.this.copy(), "text")


def remark_fraction(number: exp.Expr, context: RuleContext) -> None:
    """Oracle writes neither `11.50` nor `0.5`, but `11.5` and `.5`."""
    if context.kind(number) in (Domain.DECIMAL, Domain.FRACTION):
        context.remark(
            "a number has neither zeros at its end nor a zero before its point in Oracle"
        )


def drop_dual(node: exp.Select, _: RuleContext) -> exp.Expr:
    """`SELECT 1 FROM dual` is a SELECT without FROM."""
    read = node.args.get("from_")
    if read and read.this.sql().upper() == "DUAL" and not node.args.get("joins"):
        node.set("from_", None)
    return node


def quote_unusual_name(node: exp.Identifier, _: RuleContext) -> exp.Expr:
    """`page#` is a name that Spark wants in quotes."""
    if "#" in node.name:
        node.set("quoted", True)
    return node


def rewrite_concatenation(node: exp.Concat | exp.DPipe, context: RuleContext) -> exp.Expr:
    """`a || b`, `CONCAT(a, b)`: NULL is the empty string, and the empty string is NULL."""
    if isinstance(node.parent, exp.DPipe):
        return node
    found = node.expressions if isinstance(node, exp.Concat) else node.flatten()
    parts = [part.copy() for part in found]
    for part in parts:
        remark_fraction(part, context)
    if context.write.is_spark:  # which leaves NULL out
        text: exp.Expr = call_function("CONCAT_WS", exp.Literal.string(""), *parts)
    else:
        texts = (one if isinstance(one, exp.Literal) else exp.cast(one, "text") for one in parts)
        text = exp.Concat(expressions=list(texts), coalesce=True)
    if any(isinstance(part, exp.Literal) and part.name for part in parts):
        return text
    return exp.Nullif(this=text, expression=exp.Literal.string(""))


READS: tuple[Rule, ...] = (
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
