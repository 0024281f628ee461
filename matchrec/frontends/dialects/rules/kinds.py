"""The kind of an expression's value, as far as the rules must tell kinds apart."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from sqlglot import exp

from matchrec.frontends.dialects.marks import function_name, name_of

Columns = Callable[[exp.Column], "Kind | None"]
"""The kind of a column where it stands, None where it is not known."""


class Kind(Enum):
    """What a value is; a difference is of two timestamps: an interval, or a number of days."""

    INTEGER = "integer"
    FRACTION = "number with a fraction"
    DECIMAL = "decimal"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp without time zone"
    INTERVAL = "interval"
    DIFFERENCE = "difference of timestamps"
    TEXT = "text"
    OTHER = "other"


NUMBERS = frozenset({Kind.INTEGER, Kind.FRACTION, Kind.DECIMAL})
_BY_WEIGHT = (Kind.FRACTION, Kind.DECIMAL, Kind.INTEGER)  # what a number and another one give
TIMESTAMPS = frozenset({Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ})
TIMES = TIMESTAMPS | {Kind.DATE}

_SAME_AS_FIRST = frozenset(
    {"FIRST", "LAST", "PREV", "NEXT", "RUNNING", "FINAL", "TRUNC", "ADD_MONTHS"}
)
_COUNTS: tuple[type[exp.Expr], ...] = (
    exp.ApproxDistinct,
    exp.ArraySize,
    exp.DateDiff,
    exp.DatetimeDiff,
    exp.TimestampDiff,
    exp.TsOrDsDiff,
    exp.StrPosition,
    exp.Levenshtein,
    exp.Year,
    exp.Quarter,
    exp.Month,
    exp.Week,
    exp.Day,
    exp.DayOfMonth,
    exp.DayOfWeek,
    exp.DayOfWeekIso,
    exp.DayOfYear,
    exp.Hour,
    exp.Minute,
    exp.RowNumber,
)
_TEXTS: tuple[type[exp.Expr], ...] = (
    exp.DPipe,
    exp.Concat,
    exp.Lower,
    exp.Upper,
    exp.Substring,
    exp.Left,
    exp.Right,
    exp.Trim,
    exp.Replace,
    exp.SplitPart,
    exp.GroupConcat,
    exp.RegexpExtract,
    exp.RegexpReplace,
    exp.JSONExtract,
    exp.JSONExtractScalar,
    exp.ToChar,
    exp.TimeToStr,
)
_OF_FUNCTIONS: dict[type[exp.Expr], Kind] = {
    exp.Count: Kind.INTEGER,
    exp.CountIf: Kind.INTEGER,
    exp.Length: Kind.INTEGER,
    exp.Extract: Kind.INTEGER,
    **dict.fromkeys(_COUNTS, Kind.INTEGER),
    exp.Avg: Kind.FRACTION,
    exp.MonthsBetween: Kind.FRACTION,
    exp.Round: Kind.FRACTION,
    exp.Interval: Kind.INTERVAL,
    exp.CurrentTimestamp: Kind.TIMESTAMP,
    exp.Systimestamp: Kind.TIMESTAMP,
    exp.StrToTime: Kind.TIMESTAMP,
    exp.CurrentDate: Kind.DATE,
    exp.StrToDate: Kind.DATE,
    exp.DateStrToDate: Kind.DATE,
    exp.LastDay: Kind.DATE,
    **dict.fromkeys(_TEXTS, Kind.TEXT),
}
_OF_OWN_FUNCTIONS = {
    "CLASSIFIER": Kind.TEXT,
    "GET_JSON_OBJECT": Kind.TEXT,
    "MATCH_NUMBER": Kind.INTEGER,
    "MATCH_STATUS": Kind.TEXT,
    "ROW_NUMBER": Kind.INTEGER,
    "UNIX_DATE": Kind.INTEGER,
    "UNIX_MICROS": Kind.INTEGER,
    **dict.fromkeys(("DAY_OF_WEEK", "DAYOFWEEKISO", "MOD", "WEEKDAY"), Kind.INTEGER),
    **dict.fromkeys(("MAKE_DT_INTERVAL", "MAKE_YM_INTERVAL"), Kind.INTERVAL),
}
_SAME_AS_OPERAND = (
    exp.Paren,
    exp.Neg,
    exp.Min,
    exp.Max,
    exp.Sum,
    exp.Abs,
    exp.AnyValue,
    exp.ArgMax,
    exp.ArgMin,
    exp.DateTrunc,
    exp.TimestampTrunc,
    exp.FirstValue,
    exp.LastValue,
    exp.Lag,
    exp.Lead,
    exp.IgnoreNulls,
    exp.Nullif,
    exp.Filter,
    exp.Window,
)
_DECIMALS = {exp.DType.DECIMAL, exp.DType.BIGDECIMAL, exp.DType.MONEY, exp.DType.SMALLMONEY}
_WITHOUT_ZONE = {exp.DType.TIMESTAMPNTZ, exp.DType.DATETIME}
_OF_TYPES = (
    (exp.DataType.INTEGER_TYPES, Kind.INTEGER),
    (_DECIMALS, Kind.DECIMAL),
    (exp.DataType.REAL_TYPES - _DECIMALS, Kind.FRACTION),
    (exp.DataType.TEXT_TYPES, Kind.TEXT),
    ({exp.DType.DATE}, Kind.DATE),
    (_WITHOUT_ZONE, Kind.TIMESTAMP_NTZ),
    (exp.DataType.TEMPORAL_TYPES - {exp.DType.TIME, exp.DType.TIMETZ}, Kind.TIMESTAMP),
)
_OF_NAMES = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Kind.INTEGER),
    **dict.fromkeys(("float", "double"), Kind.FRACTION),
    "decimal": Kind.DECIMAL,
    **dict.fromkeys(("string", "varchar", "char"), Kind.TEXT),
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamp_ntz": Kind.TIMESTAMP_NTZ,
    "interval": Kind.INTERVAL,
}


def kind_of_type(type_: exp.DataType) -> Kind:
    """The kind of a type's values."""
    if isinstance(type_.this, exp.Interval):
        return Kind.INTERVAL
    return next((kind for types, kind in _OF_TYPES if type_.this in types), Kind.OTHER)


def kind_named(name: str) -> Kind:
    """The kind of a type by the name that Spark has for it."""
    return _OF_NAMES.get(name.partition("(")[0].partition(" ")[0], Kind.OTHER)


def kind_of(node: exp.Expr | None, columns: Columns) -> Kind | None:
    """The kind of an expression, None where it is not known."""
    match node:
        case exp.Column():
            return columns(node)
        case exp.Literal():
            return _of_literal(node)
        case exp.Cast():
            return kind_of_type(node.to)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.IntDiv() | exp.Mod():
            return _of_arithmetic(node, columns)
        case exp.Coalesce() | exp.If() | exp.Case() | exp.Greatest() | exp.Least():
            return _of_first(_results(node), columns)
        case exp.Anonymous():
            name = name_of(node) or function_name(node)
            if name in _SAME_AS_FIRST and node.expressions:
                return kind_of(node.expressions[0], columns)
            return _OF_OWN_FUNCTIONS.get(name)
        case exp.Predicate():
            return Kind.OTHER
    if isinstance(node, _SAME_AS_OPERAND):
        return kind_of(node.this, columns)
    return _OF_FUNCTIONS.get(type(node)) if node else None


def _of_literal(node: exp.Literal) -> Kind:
    if node.is_string:
        return Kind.TEXT
    if node.name.isdigit():
        return Kind.INTEGER
    return Kind.FRACTION if "E" in node.name.upper() else Kind.DECIMAL


def _of_arithmetic(node: exp.Expr, columns: Columns) -> Kind | None:
    """Of two numbers, a number; otherwise the kind of what is moved, or of what lies between."""
    left, right = kind_of(node.this, columns), kind_of(node.expression, columns)
    if left in NUMBERS and right in NUMBERS:
        if {left, right} == {Kind.INTEGER} and isinstance(node, exp.Div):
            return Kind.FRACTION
        return next(kind for kind in _BY_WEIGHT if kind in (left, right))
    if left in TIMES and right in TIMES:
        return Kind.DIFFERENCE
    if left is None or right is None:
        return None
    return right if left in NUMBERS else left


def _of_first(nodes: list[exp.Expr], columns: Columns) -> Kind | None:
    found = (kind_of(node, columns) for node in nodes)
    return next((kind for kind in found if kind), None)


def _results(node: exp.Expr) -> list[exp.Expr]:
    """What an expression may be."""
    match node:
        case exp.Case():
            found = [branch.args["true"] for branch in node.args["ifs"]]
            return [*found, *filter(None, [node.args.get("default")])]
        case exp.If():
            return [*filter(None, [node.args["true"], node.args.get("false")])]
    return [node.this, *node.expressions]
