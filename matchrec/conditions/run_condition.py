"""Run conditions: what of a condition is evaluated while matching, a small closed typed tree.

A condition that looks at one row, or at rows a fixed distance away, is Spark's and crosses as a
bit. What remains combines values from rows that depend on the run; it is spelled here over columns
that Spark computed, so no scalar function needs to be known during the match.

Every value is an int64 or a float64 with a NULL flag: integers, booleans (0 and 1), dates (days),
timestamps and day-time intervals (microseconds), and ranks of any other sortable type are INTEGER.
Logic is three-valued. NaN equals NaN and is greater than any other number, as in Spark.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from matchrec.plan.expression import Navigation


class Kind(Enum):
    """How a value is held while matching."""

    INTEGER = "int64"
    FLOATING = "float64"


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal; None is NULL."""

    value: int | float | None
    kind: Kind


@dataclass(frozen=True, slots=True)
class Read:
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
class ReadMatchNumber:
    """The number of the match that is tried: how many were found before in the partition, plus 1.

    All runs that are tried at once read the same; it is no part of what tells them apart.
    """


class Reduction(Enum):
    """The aggregates that grow with a run."""

    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"


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


class Comparison(Enum):
    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    NULL_SAFE_EQUAL = "<=>"


@dataclass(frozen=True, slots=True)
class Compare:
    """A truth value from two values of one kind."""

    comparison: Comparison
    left: RunExpression
    right: RunExpression


class ArithmeticOperator(Enum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    REMAINDER = "%"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two values of one kind. DIVIDE of integers rounds half away from zero.

    bits: width of an integer result, 8 to 64; a result that does not fit is an error under `ansi`
    and wraps otherwise. Division and remainder by zero are errors under `ansi`, NULL otherwise.
    """

    operator: ArithmeticOperator
    left: RunExpression
    right: RunExpression
    kind: Kind
    bits: int = 64
    ansi: bool = True


@dataclass(frozen=True, slots=True)
class Widen:
    """An INTEGER value as FLOATING."""

    value: RunExpression


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[RunExpression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[RunExpression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: RunExpression


@dataclass(frozen=True, slots=True)
class IsNull:
    part: RunExpression


@dataclass(frozen=True, slots=True)
class Choose:
    """`then` where the condition is true, else `otherwise`; the other one is not evaluated.

    Both are of one kind.
    """

    condition: RunExpression
    then: RunExpression
    otherwise: RunExpression


RunExpression = (
    Constant
    | Read
    | ReadClassifier
    | ReadMatchNumber
    | Reduce
    | Compare
    | Arithmetic
    | Widen
    | And
    | Or
    | Not
    | IsNull
    | Choose
)
