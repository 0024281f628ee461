"""The kinds of values that rules tell apart, and the kind of an expression.

Rules ask for kinds and not for types, because only these differences matter to them:

    price              DECIMAL, if the session says so
    price / 2          DECIMAL: the wider kind of the two numbers
    ts - PREV(ts)      DIFFERENCE: an interval in some products, a number of days in others
    COUNT(*) / 2       FRACTION: a quotient of integers

`find_kind` needs a function that returns the kinds of columns, such as `VisibleColumns.find_kind`.
The kinds of calls are in `kinds.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from enum import Enum

from sqlglot import exp

from matchrec.dialects.rules.function_calls import find_pattern_function
from matchrec.source import read_package_table

# Returns the kind of a column, given the node that names the column; None if it is not known.
ColumnLookup = Callable[[exp.Column], "ValueKind | None"]


class ValueKind(Enum):
    """A kind of values: types that rules treat alike."""

    INTEGER = "integer"
    FRACTION = "number with a fraction"
    DECIMAL = "decimal"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp without time zone"
    INTERVAL = "interval"
    # An interval or a number of days: products disagree on what `t - u` of two timestamps is.
    DIFFERENCE = "difference of timestamps"
    TEXT = "text"
    OTHER = "other"


NUMBERS = frozenset({ValueKind.INTEGER, ValueKind.FRACTION, ValueKind.DECIMAL})
TIMESTAMPS = frozenset({ValueKind.TIMESTAMP, ValueKind.TIMESTAMP_NTZ})
TIMES = TIMESTAMPS | {ValueKind.DATE}

# Intervals, and what may be one.
_DURATIONS = frozenset({ValueKind.INTERVAL, ValueKind.DIFFERENCE})

# The kind of an operation on two numbers is the first of these that one of its operands has.
_WIDEST_FIRST = (ValueKind.FRACTION, ValueKind.DECIMAL, ValueKind.INTEGER)

# Expressions whose value is one of several others: see `_list_alternatives`.
_CHOICES = (exp.Case, exp.If, exp.Coalesce, exp.Greatest, exp.Least, exp.Lag, exp.Lead)

# The entry in `kinds.txt` for a call whose result has the kind of its first operand.
_SAME_AS_OPERAND = "SAME"

# The name of the kind of each call's result. A call is named by sqlglot's class, or by the
# function's name if sqlglot does not know it.
_KIND_NAMES_OF_CALLS = {
    call: kind
    for kind, calls in read_package_table("matchrec.dialects.rules", "kinds.txt")
    for call in calls.split()
}

_DECIMAL_TYPES = {exp.DType.DECIMAL, exp.DType.BIGDECIMAL, exp.DType.MONEY, exp.DType.SMALLMONEY}
# Sets of sqlglot's types, each with its kind. A type may be in several sets: the first set decides.
_KINDS_OF_TYPES = (
    (exp.DataType.INTEGER_TYPES, ValueKind.INTEGER),
    (_DECIMAL_TYPES, ValueKind.DECIMAL),
    (exp.DataType.REAL_TYPES - _DECIMAL_TYPES, ValueKind.FRACTION),
    (exp.DataType.TEXT_TYPES, ValueKind.TEXT),
    ({exp.DType.DATE}, ValueKind.DATE),
    ({exp.DType.INTERVAL}, ValueKind.INTERVAL),
    ({exp.DType.TIMESTAMPNTZ, exp.DType.DATETIME}, ValueKind.TIMESTAMP_NTZ),
    (exp.DataType.TEMPORAL_TYPES - {exp.DType.TIME, exp.DType.TIMETZ}, ValueKind.TIMESTAMP),
)


def find_kind_of_type(type_: exp.DataType) -> ValueKind:
    """Return the kind of a type's values."""
    if isinstance(type_.this, exp.Interval):
        return ValueKind.INTERVAL
    for types, kind in _KINDS_OF_TYPES:
        if type_.this in types:
            return kind
    return ValueKind.OTHER


def find_kind_of_type_name(name: str) -> ValueKind:
    """Return the kind of a type, given its name in Spark.

    >>> find_kind_of_type_name("decimal(10,2)")
    <ValueKind.DECIMAL: 'decimal'>
    """
    word = re.split(r"\W", name, maxsplit=1)[0]
    return find_kind_of_type(exp.DataType.build(word, dialect="spark", udt=True))


def find_kind(node: exp.Expr | None, look_up_column: ColumnLookup) -> ValueKind | None:
    """Return the kind of an expression; None if it is not known.

    Args:
        node: the expression.
        look_up_column: returns the kinds of the columns in it.

    >>> from sqlglot import parse_one
    >>> kinds = {"ts": ValueKind.TIMESTAMP, "price": ValueKind.DECIMAL}
    >>> find_kind(parse_one("price / 2"), lambda column: kinds.get(column.name))
    <ValueKind.DECIMAL: 'decimal'>
    >>> find_kind(parse_one("ts + price"), lambda column: kinds.get(column.name))
    <ValueKind.TIMESTAMP: 'timestamp'>
    """
    match node:
        case exp.Column():
            return look_up_column(node)
        case exp.Literal():
            return _find_kind_of_literal(node)
        case exp.Cast():
            return find_kind_of_type(node.to)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.IntDiv() | exp.Mod():
            return _find_kind_of_arithmetic(node, look_up_column)
        case exp.Expr() if isinstance(node, _CHOICES):
            return _find_common_kind(_list_alternatives(node), look_up_column)
        case exp.Predicate():
            return ValueKind.OTHER
        case exp.Round():
            kind = find_kind(node.this, look_up_column)
            return ValueKind.FRACTION if kind is ValueKind.TEXT else kind
        case exp.Ceil() | exp.Floor():  # of a fraction, products have different types
            kind = find_kind(node.this, look_up_column)
            return kind if kind is ValueKind.INTEGER else None
        case exp.Anonymous(this=str(name)) if name.upper() == "MOD":
            return _find_common_kind(node.expressions, look_up_column)
        case exp.Anonymous():
            name = find_pattern_function(node) or str(node.this).upper()
            first_operand = node.expressions[0] if node.expressions else None
            return _find_kind_of_call(name, first_operand, look_up_column)
        case exp.Expr():
            return _find_kind_of_call(type(node).__name__, node.this, look_up_column)
    return None


def _find_kind_of_call(
    name: str, first_operand: exp.Expr | None, look_up_column: ColumnLookup
) -> ValueKind | None:
    """Return the kind of a call's result, by the table `kinds.txt`; None if it is not known.

    Args:
        name: the name of sqlglot's class for the call, or of the function if it has no class.
        first_operand: the first operand of the call, if there is one.
        look_up_column: returns the kinds of columns.
    """
    kind_name = _KIND_NAMES_OF_CALLS.get(name)
    if kind_name is None:
        return None
    if kind_name == _SAME_AS_OPERAND:
        return find_kind(first_operand, look_up_column)
    return ValueKind[kind_name]


def _find_kind_of_literal(node: exp.Literal) -> ValueKind:
    """Return the kind of a string or a number: `1.5` is a decimal, `1.5E0` is not."""
    if node.is_string:
        return ValueKind.TEXT
    if node.name.isdigit():
        return ValueKind.INTEGER
    return ValueKind.FRACTION if "E" in node.name.upper() else ValueKind.DECIMAL


def _find_kind_of_arithmetic(node: exp.Expr, look_up_column: ColumnLookup) -> ValueKind | None:
    """Return the kind of a sum, difference, product, quotient or remainder; None if not known.

        number and number               the wider number; a fraction for `/` of two integers
        time - time                     DIFFERENCE
        time + duration, duration + time, time - duration
                                        the time; a date and hours give a timestamp
        time + number, number + time, time - number
                                        the time, moved by days; a date and a fraction of days
                                        give a timestamp
        duration + duration, duration - duration
                                        the duration; DIFFERENCE if one of them is
        duration * number, number * duration, duration / number
                                        the duration

    A duration is an INTERVAL or a DIFFERENCE. The kinds of all other pairs are not known.
    """
    left = find_kind(node.this, look_up_column)
    right = find_kind(node.expression, look_up_column)
    if left is None or right is None:
        return None
    if left in NUMBERS and right in NUMBERS:
        if left is right is ValueKind.INTEGER and isinstance(node, exp.Div):
            return ValueKind.FRACTION
        return combine_kinds({left, right})
    match node:
        case exp.Sub() if left in TIMES and right in TIMES:
            return ValueKind.DIFFERENCE
        case exp.Add() | exp.Sub() if left in TIMES:
            return _find_kind_of_moved_time(left, right, node.expression)
        case exp.Add() if right in TIMES:
            return _find_kind_of_moved_time(right, left, node.this)
        case exp.Add() | exp.Sub() if left in _DURATIONS and right in _DURATIONS:
            return left if left is right else ValueKind.DIFFERENCE
        case exp.Mul() | exp.Div() if left in _DURATIONS and right in NUMBERS:
            return left
        case exp.Mul() if left in NUMBERS and right in _DURATIONS:
            return right
    return None


def _find_kind_of_moved_time(
    time: ValueKind, shift: ValueKind, shift_node: exp.Expr
) -> ValueKind | None:
    """Return the kind of a time that is moved by a duration or by a number of days.

    Args:
        time: the kind of the time.
        shift: the kind of the duration or number.
        shift_node: the expression of the duration or number.

    Returns:
        The kind; None if `shift` is the kind of neither.
    """
    if shift in _DURATIONS:
        has_hours = any(_has_hours(interval) for interval in shift_node.find_all(exp.Interval))
        return ValueKind.TIMESTAMP if time is ValueKind.DATE and has_hours else time
    if shift not in NUMBERS:
        return None
    if time is ValueKind.DATE and shift is not ValueKind.INTEGER:
        return ValueKind.TIMESTAMP
    return time


def _has_hours(interval: exp.Interval) -> bool:
    """Return whether an interval has hours, minutes or seconds."""
    unit = interval.unit.sql() if interval.unit else interval.name
    return re.search("hour|minute|second", unit, re.IGNORECASE) is not None


def _list_alternatives(node: exp.Expr) -> list[exp.Expr]:
    """Return the expressions from which a CASE, IF, COALESCE or the like chooses its value.

    `CASE WHEN a THEN b ELSE c END` chooses from b and c, and `LAG(x, 2, y)` from x and y.
    """
    match node:
        case exp.Case():
            results = [branch.args["true"] for branch in node.args["ifs"]]
            results.append(node.args.get("default"))
        case exp.If():
            results = [node.args["true"], node.args.get("false")]
        case exp.Lag() | exp.Lead():
            results = [node.this, node.args.get("default")]
        case _:
            return [node.this, *node.expressions]
    return [result for result in results if result]


def _find_common_kind(values: Sequence[exp.Expr], look_up_column: ColumnLookup) -> ValueKind | None:
    """Return the kind that several expressions have in common; None if it is not known.

    A NULL does not count, because it takes the type of the others.
    """
    typed_values = [value for value in values if not isinstance(value.unnest(), exp.Null)]
    return combine_kinds({find_kind(value, look_up_column) for value in typed_values})


def combine_kinds(kinds: Set[ValueKind | None]) -> ValueKind | None:
    """Return the kind that values of several kinds have in common; None if it is not known.

    This is the widest kind of numbers. A date and a timestamp are both timestamps.
    """
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds and kinds <= NUMBERS:
        return next(kind for kind in _WIDEST_FIRST if kind in kinds)
    timestamps = kinds - {ValueKind.DATE}
    if len(timestamps) == 1 and timestamps <= TIMESTAMPS:
        return next(iter(timestamps))
    return None
