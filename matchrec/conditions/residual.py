"""Residual conditions: the part of a condition that remains for the search, as a tree of steps.

`split` builds the tree before types are known; `typing` gives each step its type. An operation that
the search does not have is rewritten with the few basic operations that it has, as the table of
operators says:

    COALESCE(a, b)   →   IF(a IS NOT NULL, a, b)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from matchrec.conditions.row_column import RowColumn, build_row_column
from matchrec.conditions.run_condition import Reduction, RunExpression
from matchrec.conditions.types import ValueType
from matchrec.plan.expression import Aggregate, Navigation, Scalar
from matchrec.plan.operators import OPERATORS, ZERO_FORM, OperatorKind, build_form
from matchrec.plan.text import Amount
from matchrec.source import Span

NO_SPAN = Span(0, 0)

# The number zero in rewritten functions. It is not a column of the query, so Spark does not have to
# find out its type.
ZERO = build_row_column("0", Amount(Fraction(0)))


@dataclass(frozen=True, slots=True)
class ColumnRead:
    """A column that is read on one row."""

    column: RowColumn
    # Finds the row from the run; None for the current row.
    navigation: Navigation | None
    # What is read on the current row instead if `navigation` finds no row; None for NULL.
    missing: RowColumn | None
    span: Span
    # Two other ways to compute the same value, of which types decide: `typer.type_formula` and
    # `typer.type_deferred`. Without them, or if neither is possible, Spark computes the column.
    # As arithmetic of columns and constants, if it is that. The search then needs fewer columns.
    formula: CombinedStep | None = None
    # As an operation of the search, if it can fail and guards over other rows decide whether it is
    # evaluated.
    deferred: CombinedStep | None = None


@dataclass(frozen=True, slots=True)
class RunningAggregate:
    """An aggregate over rows of the run.

    The search either updates its value with each row, or keeps its rows in a list from which Python
    computes it. Python also computes sums and averages of values that the search cannot add.
    """

    # The basic form that the search updates; None if there is none.
    function: Reduction | None
    # The aggregate as the user wrote it.
    aggregate: Aggregate
    # The argument of the basic form; None if it counts rows.
    column: RowColumn | None
    span: Span
    # If there may be a list, what it holds of a row, by the id of the row's primary variable: the
    # FILTER condition or TRUE, which lets the row count, then the arguments.
    listed: tuple[tuple[Step, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class VariableAt:
    """A value that depends only on the classifier of one row."""

    # Finds the row from the run.
    navigation: Navigation
    # The value for each primary variable, by id, and last the value if there is no such row. These
    # columns are constants: they read no row.
    by_variable: tuple[RowColumn, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class CombinedStep:
    """An operation on values of the run."""

    operator: str
    operands: tuple[Step, ...]
    span: Span
    # What the operator needs besides its operands, such as a type; see `plan.expression.Operation`.
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TypedStep:
    """A step with its type."""

    expression: RunExpression
    type: ValueType
    span: Span = NO_SPAN
    # If it reads a column and nothing else: the column, which Spark may still cast.
    column_read: ColumnRead | None = None
    # The operands of an operation, as the user wrote it.
    operands: tuple[TypedStep, ...] = ()
    # How many operations it consists of, once it is rewritten with the operations of the search.
    size: int = 1
    # How deep these operations are nested.
    depth: int = 0
    # Whether it may have no result on some row.
    may_fail: bool = False


@dataclass(frozen=True, slots=True)
class TypedOperation(CombinedStep):
    """An operation whose operands have types, while its own type is not known yet."""

    operands: tuple[TypedStep, ...]


Step = ColumnRead | RunningAggregate | VariableAt | CombinedStep | TypedStep


def read_current_row(column: RowColumn, span: Span) -> ColumnRead:
    """Return the step that reads a column on the current row."""
    return ColumnRead(column, navigation=None, missing=None, span=span)


def find_column_reads(step: Step) -> Iterator[ColumnRead]:
    """Yield the columns that an operation combines, at any depth; a column yields itself."""
    if isinstance(step, ColumnRead):
        yield step
    elif isinstance(step, CombinedStep):
        for operand in step.operands:
            yield from find_column_reads(operand)


@dataclass(frozen=True, slots=True)
class NearbyTest:
    """A truth value over neighbouring rows that the worker computes for all rows, before the match.

    Its types are not known yet. Once it is typed and has a bit, it is a
    `search.interface.NearbyCondition`.
    """

    # The same test as Spark would compute it.
    column: RowColumn
    # What the worker computes. Its navigations are physical ones from the row itself.
    step: Step


@dataclass(frozen=True, slots=True)
class SplitCondition:
    """The condition of one variable, in parts by who computes them. A part may be missing.

    A row satisfies the condition if all parts are true:

        x > 3 AND x < PREV(x) AND x > LAST(A.x)
          row_test     x > 3             Spark, before the match
          nearby_test  x < PREV(x)       the worker, before the match
          run_step     x > LAST(A.x)     the search, during the match
    """

    variable: str
    span: Span | None
    row_test: RowColumn | None = None
    # None in every scope but WORKER. In the scope SPARK, `row_test` reads neighbouring rows, too.
    nearby_test: NearbyTest | None = None
    run_step: Step | None = None
    # The conjuncts of `row_test` and `nearby_test`, one by one in the order of the condition.
    tests: tuple[RowColumn | NearbyTest, ...] = ()
    # The conjuncts of `run_step`, as the user wrote them.
    run_conjuncts: tuple[Scalar, ...] = ()


def rewrite(step: TypedOperation) -> Step | None:
    """Return an operation rewritten with others, one step closer to the basic ones.

    None if the operation is not rewritten.
    """
    entry = OPERATORS.get(step.operator)
    if entry is None:
        return None
    if entry.kind is OperatorKind.CAST:
        assert isinstance(entry.form, str)
        return CombinedStep("CAST", step.operands, step.span, (entry.form,))
    if entry.kind is not OperatorKind.REWRITTEN:
        return None
    assert entry.form is not None

    def combine(operator: str, *operands: Step) -> Step:
        """Return a step for an operation of the form."""
        if operator == ZERO_FORM:
            return read_current_row(ZERO, step.span)
        return CombinedStep(operator, operands, step.span)

    rewritten: Step = build_form(entry.form, step.operands, combine)
    return rewritten
