"""Residual conditions: what of a condition is left for the engine, before its types are known."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.conditions.row_column import RowColumn
from matchrec.dataclass import dataclass
from matchrec.plan.expression import LambdaVariable, Navigation, Scalar
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class Value:
    """A column read on the row that `navigation` finds; None is the current row.

    missing: what takes its place, on the current row, where there is no such row; None is NULL.
    formula: the same as arithmetic of columns and constants, if it is that. late: the same as the
    engine computes it, where other rows tell whether it is asked, and it may fail.
    """

    column: RowColumn
    navigation: Navigation | None
    missing: RowColumn | None
    span: Span
    formula: Combined | None = None
    late: Combined | None = None


@dataclass(frozen=True, slots=True)
class RunningAggregate:
    """An aggregate that grows with the run; column None counts rows.

    so_far: the current row is left out. listed: the same over a list, for a sum or an average of
    values that the engine cannot add.
    """

    function: str
    variable: str | None
    column: RowColumn | None
    so_far: bool
    span: Span
    listed: ListAggregate | None = None


@dataclass(frozen=True, slots=True)
class ListAggregate:
    """An aggregate of which the engine keeps all rows in a list, for Python to compute it from.

    columns: what each primary variable's rows have, by id: the condition that lets a row count, or
    TRUE, then the arguments, then what they are ordered by; a step where MATCH_NUMBER() is in it.
    words: how each of the latter is ordered, such as DESC. so_far: the current row is left out.
    """

    function: str
    variable: str | None
    columns: tuple[tuple[RowColumn | Step, ...], ...]
    words: tuple[str, ...]
    distinct: bool
    ignore_nulls: bool
    so_far: bool
    span: Span


@dataclass(frozen=True, slots=True)
class VariableAt:
    """A truth value that depends only on the classifier of the row that `navigation` finds.

    by_variable: for every primary variable, by id, the condition with its name; the last is for
    no row. Constant columns: they look at no row at all.
    """

    navigation: Navigation
    by_variable: tuple[RowColumn, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class NumberOfMatch:
    """The number of the match that is tried."""

    span: Span


@dataclass(frozen=True, slots=True)
class Combined:
    """An operation on values of the run. words: see `plan.expression.Operation`."""

    operator: str
    operands: tuple[Step, ...]
    span: Span
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound:
    """A variable of a lambda function, where its body reads it."""

    variable: LambdaVariable
    span: Span


@dataclass(frozen=True, slots=True)
class Lambda:
    """A lambda function, which stands among the operands of an operation."""

    variables: tuple[LambdaVariable, ...]
    body: Step
    span: Span


Step = (
    Value
    | RunningAggregate
    | ListAggregate
    | VariableAt
    | NumberOfMatch
    | Combined
    | Bound
    | Lambda
)


def values_in(step: Step) -> Iterator[Value]:
    """The values that an operation combines."""
    if isinstance(step, Value):
        yield step
    elif isinstance(step, Combined):
        for operand in step.operands:
            yield from values_in(operand)


@dataclass(frozen=True, slots=True)
class Nearby:
    """What the worker computes for all rows before the match, over rows at a fixed distance.

    column: what Spark would compute. Navigations of the step are physical ones from each row.
    """

    column: RowColumn
    step: Step


@dataclass(frozen=True, slots=True)
class SplitCondition:
    """One variable's condition; an absent part is true.

    tests: the conjuncts of `before` and `nearby`. rest: those that `during` is made of, as they
    were written. nearby: what the worker computes before the match, if it sorts the rows.
    """

    variable: str
    before: RowColumn | None
    during: Step | None
    span: Span | None
    tests: tuple[RowColumn | Nearby, ...] = ()
    rest: tuple[Scalar, ...] = ()
    nearby: Nearby | None = None


COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>"})
BITS = frozenset({"&", "|", "^", "~", "<<", ">>", "SHIFTRIGHTUNSIGNED"})
ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV", "NEG"}) | BITS
LOGIC = frozenset({"AND", "OR", "NOT"})
BASIC = COMPARISONS | ARITHMETIC | LOGIC | {"IS NULL", "IF", "DATEDIFF"}
NULL_IN_NULL_OUT = (COMPARISONS - {"<=>"}) | ARITHMETIC | {"NOT", "ABS", "LIKE", "||"}
