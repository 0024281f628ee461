"""Run conditions: the parts of conditions that are evaluated during the search, as typed trees.

Conjuncts that read one row, or rows at a fixed distance, are evaluated before the search, which
gets their truth value as a bit. A run condition has the other conjuncts. They depend on the run,
and read columns that Spark sends.

Every value is an int64 (INTEGER) or a float64 (FLOATING) with a NULL flag. Integers, booleans (0
and 1), dates (days), times of day (nanoseconds), timestamps and day-time intervals (microseconds),
year-month intervals (months) and the digits of decimals up to 18 digits are INTEGER. So are ranks,
which stand for the values of texts, wider decimals and other types with an order. Logic is
three-valued. NaN equals NaN and is greater than any other number, as in Spark.

For `price > 2 * LAST(A.price)`, where `price` is column 0 and `2 * price` column 1, both doubles:

    RunOperation(Comparison.GREATER, (
        ReadValue(0, Kind.FLOATING),
        ReadValue(1, Kind.FLOATING, Navigation("A")),
    ))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from typing_extensions import assert_never

from matchrec.conditions.types import BIGINT, Kind, ValueType
from matchrec.errors.run.origins import OperationOrigin
from matchrec.plan.expression import Navigation

if TYPE_CHECKING:
    from matchrec.conditions.functions.function import AggregateUse, FunctionUse


# Operators. Their values are Spark's names or symbols for them.


class Reduction(Enum):
    """The aggregates that the search updates row by row: the basic forms of `aggregate_table`."""

    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"

    @property
    def is_additive(self) -> bool:
        """Return whether the aggregate adds up values, which must be numbers."""
        return self in (Reduction.SUM, Reduction.AVG)

    @property
    def is_extreme(self) -> bool:
        """Return whether the result is one of the values, which must have an order."""
        return self in (Reduction.MIN, Reduction.MAX)


class MathFunction(Enum):
    """Functions of one or two floats.

    Their value is NULL if an argument is NULL, or if the function is not defined for the arguments.
    FLOOR and CEILING return an INTEGER. ROUND, whose second argument is the number of decimal
    digits, is also NULL if compiled code cannot be certain of the result.
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
    """Comparisons of two values of one kind."""

    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    NULL_SAFE_EQUAL = "<=>"


class ArithmeticOperator(Enum):
    """Operators of arithmetic. Compiled code knows them by their index in this order."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    REMAINDER = "%"


class OnFailure(Enum):
    """The effect of an integer result that does not fit its type, and of a divisor that is zero."""

    # The query ends with an error: ANSI mode.
    RAISE = "error"
    # The integer wraps around, the quotient is NULL: a session without ANSI mode.
    WRAP = "wrap around"
    # The result is NULL, as of `try_add`.
    NULL = "NULL"

    @classmethod
    def choose_by_mode(cls, *, ansi: bool) -> OnFailure:
        """Return the effect in a session with or without ANSI mode."""
        return cls.RAISE if ansi else cls.WRAP


class BasicOperator(Enum):
    """Operators of logic, the choice between two values, and conversions of one value."""

    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    IS_NULL = "IS NULL"
    # The second operand if the first one is true, otherwise the third one. The operand that is not
    # chosen is not evaluated. The second and the third one are of one kind.
    CHOOSE = "IF"
    # An INTEGER value as FLOATING.
    WIDEN = "WIDEN"
    # A value as FLOATING, rounded to the 32 bits of a float.
    NARROW = "NARROW"


Operator = Comparison | MathFunction | BasicOperator

# Functions whose value is an INTEGER.
INTEGER_FUNCTIONS = (MathFunction.FLOOR, MathFunction.CEILING)
# Operators whose value is FLOATING.
FLOATING_OPERATORS = {*MathFunction, BasicOperator.WIDEN, BasicOperator.NARROW} - set(
    INTEGER_FUNCTIONS
)


# Expressions.


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal."""

    # The value; None for NULL.
    value: int | float | None
    # How the value is held.
    kind: Kind


@dataclass(frozen=True, slots=True)
class ReadValue:
    """The value of a column on a row of the run; NULL if there is no such row."""

    # The index of the column among the columns of its kind.
    column: int
    # The kind of the column.
    kind: Kind
    # Finds the row. None is the current row: the candidate that the condition tests.
    navigation: Navigation | None = None


@dataclass(frozen=True, slots=True)
class ReadClassifier:
    """The id of the variable to which a row of the run is mapped; NULL if there is no such row."""

    # Finds the row.
    navigation: Navigation


@dataclass(frozen=True, slots=True)
class TriedMatchNumber:
    """The number of the match that is searched for: 1 + the number of matches before it.

    All runs that are searched for at the same time read the same number, so it does not distinguish
    them.
    """


@dataclass(frozen=True, slots=True)
class RunAggregate:
    """An aggregate over the run's rows mapped to `variable`, the current row included.

    NULLs are left out. Without a value, COUNT is 0 and the others are NULL.
    """

    # The aggregate function.
    function: Reduction
    # The variable; None for the universal variable.
    variable: str | None
    # The index of the column, as in `ReadValue`; None for COUNT of rows.
    column: int | None
    # The kind of the column. AVG needs a FLOATING column.
    kind: Kind
    # Whether the current row is left out if it is mapped to a member of the variable.
    excludes_current_row: bool = False
    # Where the user wrote the aggregate, for the message about an overflow; None if not known.
    origin: OperationOrigin | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ListItem:
    """A value that a row adds to the list of a `PythonAggregate`.

    It is one of the row's columns, or is computed by Python from several of them.
    """

    # Computes the value from the row.
    expression: RunExpression
    # The type of the value.
    type: ValueType


@dataclass(frozen=True, slots=True)
class PythonCall:
    """A call of a function of Spark that Python computes.

    Its arguments are values of the run, or such calls again. For example,
    `levenshtein(name || '.', LAST(A.name))` is a call of LEVENSHTEIN whose arguments are a call of
    `||` and a read of A's last name.
    """

    # The name of the function, a key of `functions.load_functions()`.
    name: str
    # The arguments, in the order of the call.
    operands: tuple[RunExpression, ...]
    # Everything else about the call, such as the types of the arguments.
    use: FunctionUse
    # The type of its value.
    type: ValueType


@dataclass(frozen=True, slots=True)
class PythonAggregate:
    """An aggregate that Python computes over the run's rows mapped to `variable`.

    Python keeps these rows as a list.
    """

    # The name of the function, a key of `accumulators.table.AGGREGATES`.
    name: str
    # The variable; None for the universal variable.
    variable: str | None
    # For each primary variable by id, what a row that is mapped to it adds to the list: first
    # whether the row counts, then its values.
    items_by_variable: tuple[tuple[ListItem, ...], ...]
    # Everything else about the aggregate, such as the types of its arguments.
    use: AggregateUse
    # The type of the aggregate.
    type: ValueType
    # Whether the current row is left out if it is mapped to a member of the variable.
    excludes_current_row: bool = False


# An expression that Python computes.
PythonExpression = PythonCall | PythonAggregate


@dataclass(frozen=True, slots=True)
class RunOperation:
    """An operation that has no options, unlike `Arithmetic`: a comparison, logic, or a function."""

    # The operation.
    operator: Operator
    # AND and OR have any number of operands.
    operands: tuple[RunExpression, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """An arithmetic operation on two values of one kind.

    DIVIDE of integers rounds half away from zero.
    """

    # The operation.
    operator: ArithmeticOperator
    # The two operands.
    operands: tuple[RunExpression, ...]
    # The kind of the operands and of the result.
    kind: Kind
    # The width of an integer result, 8 to 64.
    bits: int = 64
    # The effect of a result that does not fit, and of a divisor that is zero.
    on_error: OnFailure = OnFailure.RAISE
    # Where the user wrote the operation, for the message about a failure; None if not known.
    origin: OperationOrigin | None = field(default=None, compare=False)


# An expression of a run condition: a literal, a read from the run, or an operation on expressions.
RunExpression = (
    Constant
    | ReadValue
    | ReadClassifier
    | TriedMatchNumber
    | RunAggregate
    | RunOperation
    | Arithmetic
    | PythonExpression
)


def build_operation(operator: Operator, *operands: RunExpression) -> RunOperation:
    """Return the operation of an operator whose operands are the other arguments."""
    return RunOperation(operator, operands)


def walk_expression(expression: RunExpression) -> Iterator[RunExpression]:
    """Yield an expression, then all of its subexpressions, from left to right.

    The items of the list of a `PythonAggregate` are not subexpressions.
    """
    yield expression
    if isinstance(expression, RunOperation | Arithmetic | PythonCall):
        for operand in expression.operands:
            yield from walk_expression(operand)


def find_python_arguments(
    expression: RunExpression, type_: ValueType
) -> Iterator[tuple[RunExpression, ValueType]]:
    """Yield the values that the kernel must put on the stack before Python computes an expression.

    These are the innermost arguments of its functions, in order, each with its type. An aggregate
    is one argument: the number of its list, a BIGINT. For example, the arguments of
    `(name || '.') LIKE B.name` are `name`, `'.'` and `B.name`.

    Args:
        expression: a run condition or a part of one.
        type_: the type of its value.
    """
    match expression:
        case PythonAggregate():
            yield expression, BIGINT
        case PythonCall(_, operands, use):
            for operand, operand_type in zip(operands, use.types, strict=True):
                yield from find_python_arguments(operand, operand_type)
        case _:
            yield expression, type_


def find_kind(expression: RunExpression) -> Kind:
    """Return the kind of an expression's value. Truth values are integers."""
    match expression:
        case Constant() | ReadValue() | Arithmetic():
            return expression.kind
        case PythonCall() | PythonAggregate():
            return expression.type.kind
        case RunAggregate(function=Reduction.COUNT):
            return Kind.INTEGER
        case RunAggregate():
            return expression.kind
        case RunOperation(BasicOperator.CHOOSE, (_, then, _)):
            return find_kind(then)
        case RunOperation(operator):
            return Kind.FLOATING if operator in FLOATING_OPERATORS else Kind.INTEGER
        case ReadClassifier() | TriedMatchNumber():
            return Kind.INTEGER
        case _:
            assert_never(expression)
