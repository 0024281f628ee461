"""Run conditions: what of a condition is evaluated while matching, a small closed typed tree.

A condition that looks at one row, or at rows a fixed distance away, is Spark's and crosses as a
bit. What remains combines values from rows that depend on the run, over columns of Spark's.

Every value is an int64 or a float64 with a NULL flag: integers, booleans (0 and 1), dates (days),
timestamps and day-time intervals (microseconds), and ranks of any other sortable type are INTEGER.
Logic is three-valued. NaN equals NaN and is greater than any other number, as in Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from typing_extensions import assert_never

from matchrec.conditions.types import BIGINT, Kind, ValueType
from matchrec.plan.expression import Navigation

if TYPE_CHECKING:
    from matchrec.conditions.functions.function import AggregateUse, FunctionUse


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal; None is NULL."""

    value: int | float | None
    kind: Kind


@dataclass(frozen=True, slots=True)
class ReadValue:
    """The value of a column on the row that `navigation` finds in the run, NULL when there is none.

    column: index among the integer or the floating columns, by `kind`.
    navigation None: the current row (the candidate that the condition is about).
    """

    column: int
    kind: Kind
    navigation: Navigation | None = None


@dataclass(frozen=True, slots=True)
class ReadClassifier:
    """The id of the variable to which the row found by `navigation` is mapped, NULL when none."""

    navigation: Navigation


@dataclass(frozen=True, slots=True)
class TriedMatchNumber:
    """The number of the match that is tried: how many were found before in the partition, plus 1.

    All runs that are tried at once read the same; it is no part of what tells them apart.
    """


@dataclass(frozen=True, slots=True)
class Reduce:
    """An aggregate over the run's rows mapped to `variable`, the current row included.

    NULLs are left out. column None: COUNT of rows. kind: of the column; AVG takes a FLOATING one.
    On no value COUNT is 0 and the others NULL. so_far: in the condition of one of the variable's
    members, the current row is left out.
    """

    function: Reduction
    variable: str | None
    column: int | None
    kind: Kind
    so_far: bool = False


@dataclass(frozen=True, slots=True)
class Collected:
    """A value of a list: a column of the row that is appended, or what Python computes of some."""

    expression: RunExpression
    type: ValueType


# What Python computes: functions over one another, and over values of the run.
#
# levenshtein(upper(name || '.'), LAST(A.name))
# LEVENSHTEIN( UPPER( ||(read name, constant) ), read name at A )


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of Spark. The types of its parts are those of its use."""

    name: str
    parts: tuple[RunExpression, ...]
    use: FunctionUse
    type: ValueType


@dataclass(frozen=True, slots=True)
class Aggregated:
    """An aggregate, by its name, of the run's rows mapped to `variable`, a list that Python keeps.

    columns: by primary variable, by id: the first says whether a row counts, the others are what
    it adds. so_far: see `Reduce`.
    """

    name: str
    variable: str | None
    columns: tuple[tuple[Collected, ...], ...]
    use: AggregateUse
    type: ValueType
    so_far: bool = False


Call = Apply | Aggregated  # what Python computes, or has


@dataclass(frozen=True, slots=True)
class Operate:
    """An operation that its operator says all of; AND and OR have any number of parts."""

    operator: Operator
    parts: tuple[RunExpression, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two values of one kind. DIVIDE of integers rounds half away from zero.

    bits: width of an integer result, 8 to 64; a result that does not fit is an error under `ansi`
    and wraps otherwise. Division and remainder by zero are errors under `ansi`, NULL otherwise.
    tries: NULL in all of these cases.
    """

    operator: ArithmeticOperator
    parts: tuple[RunExpression, ...]
    kind: Kind
    bits: int = 64
    ansi: bool = True
    tries: bool = False


RunExpression = (
    Constant | ReadValue | ReadClassifier | TriedMatchNumber | Reduce | Operate | Arithmetic | Call
)


def operate(operator: Operator, *parts: RunExpression) -> Operate:
    return Operate(operator, parts)


def parts_of(expression: RunExpression) -> Iterator[RunExpression]:
    """The expression and all that it is made of, itself first; a list is no expression."""
    yield expression
    if isinstance(expression, Operate | Arithmetic | Apply):
        for part in expression.parts:
            yield from parts_of(part)


def arguments_of(
    expression: RunExpression, type_: ValueType
) -> Iterator[tuple[RunExpression, ValueType]]:
    """What an engine is asked for before Python computes an expression, in order, and its types.

    type_: of the value. Of an aggregate it is the list that is asked for.
    """
    match expression:
        case Aggregated():
            yield expression, BIGINT
        case Apply(_, parts, use):
            for part, own in zip(parts, use.types, strict=True):
                yield from arguments_of(part, own)
        case _:
            yield expression, type_


def kind_of(expression: RunExpression) -> Kind:
    """How the value of a node is held; truth values are integers."""
    match expression:
        case Constant() | ReadValue() | Arithmetic():
            return expression.kind
        case Apply() | Aggregated():
            return expression.type.kind
        case Reduce(function=function, kind=kind):
            return {Reduction.COUNT: Kind.INTEGER, Reduction.AVG: Kind.FLOATING}.get(function, kind)
        case Operate(Basic.CHOOSE, (_, then, _)):
            return kind_of(then)
        case Operate(operator):
            return Kind.FLOATING if operator in OF_FLOATING else Kind.INTEGER
        case ReadClassifier() | TriedMatchNumber():
            return Kind.INTEGER
        case _:
            assert_never(expression)


# The operations that the engine has, by the names by which Spark calls them.


class Reduction(Enum):
    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"


class MathFunction(Enum):
    """Functions of one or two floats, NULL where any is or where Spark has none.

    FLOOR and CEILING give an INTEGER. The second argument of ROUND is how many places are left; it
    is NULL where compiled code cannot be certain of it.
    """

    SQRT = "SQRT"
    EXP = "EXP"
    LN = "LN"
    LOG = "LOG"
    LOG2 = "LOG2"
    LOG10 = "LOG10"
    POWER = "POWER"
    SIGN = "SIGN"
    FLOOR = "FLOOR"
    CEILING = "CEIL"
    RADIANS = "RADIANS"
    SIN = "SIN"
    COS = "COS"
    ASIN = "ASIN"
    ACOS = "ACOS"
    ROUND = "ROUND"


class Comparison(Enum):
    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    NULL_SAFE_EQUAL = "<=>"


class ArithmeticOperator(Enum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    REMAINDER = "%"


class Basic(Enum):
    """What is made of truth values, and of one value.

    CHOOSE: the second part where the first is true, else the third; the other one is not evaluated.
    Both are of one kind. WIDEN: an INTEGER value as FLOATING. NARROW: a value as FLOATING, rounded
    to the 32 bits of a float.
    """

    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    IS_NULL = "IS NULL"
    CHOOSE = "IF"
    WIDEN = "WIDEN"
    NARROW = "NARROW"


Operator = Comparison | MathFunction | Basic

WHOLE = (MathFunction.FLOOR, MathFunction.CEILING)
OF_FLOATING = {*MathFunction, Basic.WIDEN, Basic.NARROW} - set(WHOLE)
