"""Residual conditions: the parts of conditions that are left for the search, as trees of steps.

`split` builds a tree before types are known, and `typing` gives each step its type. The condition
`price > 2 * LAST(A.price) AND count(A.*) < 9` is this tree:

    CombinedStep AND
        CombinedStep >
            ColumnRead price, on the current row
            ColumnRead `2 * price`, at LAST(A)
        CombinedStep <
            RunningAggregate count(A.*)
            ColumnRead `9`, on the current row
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.run_condition import Reduction, RunExpression
from matchrec.conditions.types import ValueType
from matchrec.plan.expression import Aggregate, Navigation, Scalar
from matchrec.source import Span

# The span of a step that no text of the query corresponds to.
NO_SPAN = Span(0, 0)


@dataclass(frozen=True, slots=True)
class ColumnRead:
    """A column that is read on one row."""

    # The column, which Spark computes for every row.
    column: RowColumn
    # Finds the row on which the column is read; None for the current row.
    navigation: Navigation | None
    # The column of the current row that is read if `navigation` finds no row; None for NULL.
    column_without_row: RowColumn | None
    # Where the expression is in the query.
    span: Span
    # The same value as arithmetic of columns and constants; None if the expression is something
    # else. If the types allow it, the search computes the arithmetic instead of reading the column,
    # so that it needs fewer columns: see `typing.steps.type_column_arithmetic`.
    arithmetic: CombinedStep | None = None
    # The same value as an operation, if the expression can fail and guards over other rows decide
    # whether it is evaluated; otherwise None. If its types say, too, that it can fail, the search
    # computes the operation instead of reading the column: see `typing.steps.type_deferred`.
    deferred_operation: CombinedStep | None = None


@dataclass(frozen=True, slots=True)
class RunningAggregate:
    """An aggregate over rows of the run.

    The search either updates its value with each row, or keeps its rows in a list from which Python
    computes it. Python also computes sums and averages of values that the search cannot add.
    """

    # The basic form that the search updates, see `aggregates`; None if there is none.
    function: Reduction | None
    # The aggregate as the user wrote it.
    aggregate: Aggregate
    # The argument of the basic form; None if it counts rows.
    column: RowColumn | None
    # Where the aggregate is in the query.
    span: Span
    # For each primary variable, by id, what the list holds of a row that is mapped to it: first the
    # FILTER condition or TRUE, which says whether the row counts, then the arguments. Empty if
    # there is never a list.
    listed_steps: tuple[tuple[Step, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ClassifierChoice:
    """A value that depends only on the classifier of one row."""

    # Finds the row.
    navigation: Navigation
    # The value if the row is mapped to a variable, for each primary variable by id. These columns
    # are constants: they read no row.
    columns_by_variable: tuple[RowColumn, ...]
    # The value if there is no such row: also a constant.
    column_without_row: RowColumn
    # Where the expression is in the query.
    span: Span


@dataclass(frozen=True, slots=True)
class CombinedStep:
    """An operation on values of the run."""

    # The operator, as in `plan.expression.Operation`.
    operator: str
    # The steps that compute the operands.
    operands: tuple[Step, ...]
    # Where the operation is in the query.
    span: Span
    # Arguments that are not values, such as a type; as in `plan.expression.Operation`.
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TypedStep:
    """A step with its type."""

    # What the search computes.
    expression: RunExpression
    # The type of the value.
    type: ValueType
    # Where the expression is in the query.
    span: Span = NO_SPAN
    # The column, if the step reads a column and does nothing else; Spark may still cast the column.
    # None for any other step.
    column_read: ColumnRead | None = None
    # The operands of an operation, as the user wrote it; empty for any other step.
    operands: tuple[TypedStep, ...] = ()
    # The number of operations in `expression`, in which the user's operation may have become
    # several.
    size: int = 1
    # How deeply these operations are nested.
    depth: int = 0
    # Whether computing the value can raise an error on some row.
    can_fail: bool = False


@dataclass(frozen=True, slots=True)
class TypedOperation(CombinedStep):
    """An operation whose operands have types, while its own type is not known yet."""

    operands: tuple[TypedStep, ...]


# A step by which the search computes a value during the match.
Step = ColumnRead | RunningAggregate | ClassifierChoice | CombinedStep | TypedStep


@dataclass(frozen=True, slots=True)
class NearbyTest:
    """A truth value over neighbouring rows that the worker computes for all rows, before the match.

    Its types are not known yet. Once it is typed and has a bit, it becomes a
    `search.task.NearbyCondition`.
    """

    # The same test as Spark would compute it.
    column: RowColumn
    # What the worker computes. Its navigations are physical ones from the row itself.
    step: Step


@dataclass(frozen=True, slots=True)
class SplitCondition:
    """The condition of one variable, in parts by who computes them. A part can be missing.

    A row satisfies the condition if all parts are true:

        x > 3 AND x < PREV(x) AND x > LAST(A.x)
          row_test     x > 3             Spark, before the match
          nearby_test  x < PREV(x)       the worker, before the match
          run_step     x > LAST(A.x)     the search, during the match
    """

    # The variable that the condition defines.
    variable: str
    # Where the condition is in the query.
    span: Span | None
    # What Spark computes. In the scope SPARK, it reads neighbouring rows, too.
    row_test: RowColumn | None = None
    # What the worker computes; None in every scope but WORKER.
    nearby_test: NearbyTest | None = None
    # What the search computes.
    run_step: Step | None = None
    # The conjuncts of `row_test` and `nearby_test`, one by one in the order of the condition.
    tests: tuple[RowColumn | NearbyTest, ...] = ()
    # For each of `tests`, the conjunct of the plan that it computes.
    test_conjuncts: tuple[Scalar, ...] = ()
    # The conjuncts of the plan that `run_step` computes, in the order of the condition.
    run_conjuncts: tuple[Scalar, ...] = ()


def read_current_row(column: RowColumn, span: Span) -> ColumnRead:
    """Return the step that reads a column on the current row."""
    return ColumnRead(column, navigation=None, column_without_row=None, span=span)


def find_column_reads(step: Step) -> Iterator[ColumnRead]:
    """Yield the column reads in a tree of steps without types, from left to right.

    A step that is a column read is yielded itself.
    """
    if isinstance(step, ColumnRead):
        yield step
    elif isinstance(step, CombinedStep):
        for operand in step.operands:
            yield from find_column_reads(operand)
