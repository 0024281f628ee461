"""Type steps of every sort: `StepTyper` sends each step to the function that types it.

A step is typed from the bottom up. An operation is typed once its operands have types, because
these decide whether the search or Python computes it, and to which type its operands are brought:

    step      > (i: int, 2 * LAST(A.d): double)
    result    GREATER(WIDEN(read i), read 2 * d at LAST(A)): boolean

Spark computes a column for every row before the match. There are two reasons not to let it:

1. The column is arithmetic of other columns, which the search has anyway: see
   `type_column_arithmetic`.
2. The expression can fail, and guards over other rows decide whether it is evaluated. Then it must
   be computed during the match: see `type_deferred`.

       A.ok AND CAST(B.s AS INT) > A.x    a row whose `s` is not a number must not fail after an A
                                          that is not ok

Operations that the search does not have are rewritten with the few basic ones that it has. The
table of operators in `plan.operators` says how:

    NVL(a, b)        →   IF(a IS NOT NULL, a, b)
    BIGINT(a)        →   CAST(a AS BIGINT)
    ZEROIFNULL(a)    →   COALESCE(a, 0)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from typing_extensions import assert_never

from matchrec.conditions.residual import (
    ClassifierChoice,
    ColumnRead,
    CombinedStep,
    RunningAggregate,
    Step,
    TypedOperation,
    TypedStep,
    find_column_reads,
    read_current_row,
)
from matchrec.conditions.row_column import build_row_column
from matchrec.conditions.run_condition import (
    BasicOperator,
    Comparison,
    Constant,
    ReadClassifier,
    RunExpression,
    RunOperation,
    build_operation,
)
from matchrec.conditions.types import BOOLEAN, DOUBLE, INT, Family, Kind, ValueType
from matchrec.conditions.typing.arithmetic import type_arithmetic, type_try_function
from matchrec.conditions.typing.calls import type_call
from matchrec.conditions.typing.constants import find_constant, make_null
from matchrec.conditions.typing.failures import operation_can_fail
from matchrec.conditions.typing.mathematics import type_mathematics
from matchrec.conditions.typing.operand_types import (
    limit_to_38_digits,
    unify_branches,
    unify_compared_operands,
    unify_with_floats,
)
from matchrec.conditions.typing.python_values import needs_python
from matchrec.conditions.typing.running_aggregates import type_running_aggregate
from matchrec.conditions.typing.typer import Typer
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.errors.conditions import (
    operations_nested_too_deep,
    too_many_operations,
    types_cannot_be_combined,
)
from matchrec.plan.amounts import Amount
from matchrec.plan.expression import MAX_NESTED
from matchrec.plan.forms import apply_form
from matchrec.plan.operators import OPERATORS, OperatorKind

# The most operations of the search that a condition can consist of.
MAX_OPERATIONS = 200_000
# The number zero in rewritten functions. Its type is known, so Spark is not asked for it as for the
# columns of the query.
ZERO = build_row_column("0", Amount(Fraction(0)))


@dataclass(frozen=True)
class StepTyper(Typer):
    """The typer of steps. It implements `Typer` with the functions of this package's modules."""

    def type_step(self, step: Step) -> TypedStep:
        """Return a step of any sort with its type, as `Typer.type_step` says."""
        match step:
            case TypedStep():
                return step
            case ColumnRead():
                typed_step = self.type_column_read(step)
            case CombinedStep():
                operands = tuple(self.type_step(operand) for operand in step.operands)
                operation = TypedOperation(step.operator, operands, step.span, step.words)
                typed_step = self.type_operation(operation)
            case RunningAggregate():
                typed_step = type_running_aggregate(self, step)
            case ClassifierChoice():
                typed_step = self.type_classifier_choice(step)
            case _:
                assert_never(step)
        return replace(typed_step, span=step.span)

    def type_column_read(self, step: ColumnRead) -> TypedStep:
        """Return a column with its type."""
        # Even if the search computes the value, it is a column: Spark can cast it to another type.
        return replace(self.find_column_value(step), column_read=step, operands=())

    def find_column_value(self, step: ColumnRead) -> TypedStep:
        """Return what the search has for a column.

        In order of preference, that is a constant, arithmetic of other columns, an operation that
        must not be computed before the match, or a read of the column itself.
        """
        type_ = INT if step.column == ZERO else self.types[step.column]
        constant = find_constant(step, type_)
        if constant is not None:
            return constant
        arithmetic = type_column_arithmetic(self, step)
        if arithmetic is not None:
            return arithmetic
        deferred = type_deferred(self, step)
        if deferred is not None:
            return deferred
        return TypedStep(self.read_value(step, type_), type_)

    def type_classifier_choice(self, step: ClassifierChoice) -> TypedStep:
        """Return a choice by CLASSIFIER as nested IFs, with its type.

        For two variables with the ids 0 and 1:

            IF(id = 1, value of 1, IF(id = 0, value of 0, value without a row))
        """
        variable_id = ReadClassifier(step.navigation)
        # All values are one SQL expression with different constants, so they have one type.
        type_ = self.types[step.columns_by_variable[0]]
        values = [self.read_column(column, type_) for column in step.columns_by_variable]
        expression: RunExpression = self.read_column(step.column_without_row, type_)
        for id_, value in enumerate(values):
            has_id = build_operation(Comparison.EQUAL, variable_id, Constant(id_, Kind.INTEGER))
            expression = build_operation(BasicOperator.CHOOSE, has_id, value, expression)
        return TypedStep(expression, type_)

    def type_operation(self, step: TypedOperation) -> TypedStep:
        """Return an operation with its type, as `Typer.type_operation` says."""
        size = 1 + sum(operand.size for operand in step.operands)
        depth = 1 + max((operand.depth for operand in step.operands), default=0)
        if size > MAX_OPERATIONS:
            raise too_many_operations(step.span, limit=MAX_OPERATIONS)
        if depth > MAX_NESTED:
            raise operations_nested_too_deep(step.span, limit=MAX_NESTED)
        typed_step = self.type_checked_operation(step)
        operand_can_fail = any(operand.can_fail for operand in step.operands)
        return TypedStep(
            expression=typed_step.expression,
            type=typed_step.type,
            span=step.span,
            operands=step.operands,
            # A rewritten operation consists of more operations than the user wrote.
            size=max(size, typed_step.size),
            depth=max(depth, typed_step.depth),
            can_fail=operand_can_fail or operation_can_fail(step, typed_step.type),
        )

    def type_checked_operation(self, step: TypedOperation) -> TypedStep:
        """Return the expression and the type of an operation within the limits of size.

        1. A mathematical function is typed on its own: it converts its arguments, and decides
           whether the search or Python computes it.
        2. Decimals that need too many digits together are rounded. Rounding is done by Python, so
           it comes before the choice between the search and Python.
        3. Python computes the operation if the search has no such operation or no such values.
        4. If one of several numbers is a float, all become floats. This comes before rewriting: in
           `x IN (1, 0.5D)`, which becomes `x = 1 OR x = 0.5D`, the float also decides how x is
           compared with 1.
        5. An operation that the search does not have is rewritten and typed again.
        6. All others are basic operations of the search.

        Raises:
            MatchRecognizePlanError: an operand that must be a truth value is not boolean.
            MatchRecognizeUnsupportedError: the types do not allow the operation.
        """
        entry = OPERATORS.get(step.operator)
        kind = None if entry is None else entry.kind
        if kind is OperatorKind.MATHEMATICS:
            return type_mathematics(self, step)
        step = limit_to_38_digits(self, step)
        if needs_python(self, step):
            return type_call(self, step)
        step_with_floats = unify_with_floats(self, step)
        rewritten = rewrite_operation(step_with_floats)
        if rewritten is not None:
            return self.type_step(rewritten)
        return self.type_basic_operation(step, kind)

    def type_basic_operation(self, step: TypedOperation, kind: OperatorKind | None) -> TypedStep:
        """Return the expression and the type of an operation that the search itself computes.

        Raises:
            MatchRecognizePlanError: an operand that must be a truth value is not boolean.
            MatchRecognizeUnsupportedError: the types do not allow the operation.
        """
        match kind:
            case OperatorKind.LOGIC:
                truth_values = tuple(self.type_truth(operand) for operand in step.operands)
                return TypedStep(RunOperation(BasicOperator(step.operator), truth_values), BOOLEAN)
            case OperatorKind.NULL_TEST:
                value = step.operands[0].expression
                return TypedStep(build_operation(BasicOperator.IS_NULL, value), BOOLEAN)
            case OperatorKind.CHOICE:
                return self.type_if(step)
            case OperatorKind.COMPARISON:
                return self.type_comparison(step)
            case OperatorKind.TRY:
                return type_try_function(self, step)
            case OperatorKind.ARITHMETIC | OperatorKind.DAYS:
                return type_arithmetic(self, step)
            case _:
                raise AssertionError(step)

    def type_comparison(self, step: TypedOperation) -> TypedStep:
        """Return a comparison with its type.

        Raises:
            MatchRecognizeUnsupportedError: the values cannot be compared.
        """
        left, right = unify_compared_operands(self, step)
        if not left.type.is_ordered:
            raise types_cannot_be_combined(
                step.operator, left.type.name, right.type.name, step.span
            )
        comparison = build_operation(Comparison(step.operator), left.expression, right.expression)
        return TypedStep(comparison, BOOLEAN)

    def type_if(self, step: TypedOperation) -> TypedStep:
        """Return IF(condition, then, otherwise) with its type; `otherwise` is NULL by default."""
        condition = self.type_truth(step.operands[0])
        if len(step.operands) > 2:
            then, otherwise = unify_branches(self, step)
        else:
            then = step.operands[1]
            otherwise = make_null(then.type)
        chosen = build_operation(
            BasicOperator.CHOOSE, condition, then.expression, otherwise.expression
        )
        return TypedStep(chosen, then.type)


# Columns that the search computes instead of Spark.


def type_column_arithmetic(typer: Typer, step: ColumnRead) -> TypedStep | None:
    """Return the value of a column that is arithmetic of other columns, which the search computes.

    None if the column is anything else, or if the search does not compute with the types of the
    columns that it reads.
    """
    type_ = typer.types[step.column]
    if step.arithmetic is None or not can_compute(type_):
        return None
    for read in find_column_reads(step.arithmetic):
        read_type = typer.types[read.column]
        if not can_compute(read_type) and find_constant(read, read_type) is None:
            return None
    typed_step = typer.type_step(step.arithmetic)
    return typed_step if typed_step.type == type_ else None


def can_compute(type_: ValueType) -> bool:
    """Return whether the search holds all values of a type and computes with them as Spark does."""
    return type_ == DOUBLE or type_.family is Family.INTEGER


def type_deferred(typer: Typer, step: ColumnRead) -> TypedStep | None:
    """Return the value of a step as the search computes it during the match, if it can fail.

    None if the expression cannot fail, as outside of ANSI mode, or if the search cannot compute it.
    Spark then computes the column.
    """
    if step.deferred_operation is None or not typer.ansi:
        return None
    try:
        typed_step = typer.type_step(step.deferred_operation)
    except MatchRecognizeUnsupportedError:
        return None
    return typed_step if typed_step.can_fail else None


# Operations that the search does not have.


def rewrite_operation(step: TypedOperation) -> Step | None:
    """Return an operation rewritten with other operations, closer to the basic ones.

    The result can contain operations that must be rewritten in turn: NOT IN becomes NOT of IN. None
    if the operation is not rewritten.
    """
    entry = OPERATORS.get(step.operator)
    if entry is None:
        return None
    if entry.kind is OperatorKind.CAST:
        assert entry.cast_type is not None
        return CombinedStep("CAST", step.operands, step.span, words=(entry.cast_type,))
    if entry.kind is not OperatorKind.REWRITTEN:
        return None
    assert entry.form is not None

    def combine(operator: str, *operands: Step) -> Step:
        """Return a step for an operation of the form."""
        return CombinedStep(operator, operands, step.span)

    zero: Step = read_current_row(ZERO, step.span)
    return apply_form(entry.form, step.operands, combine, zero)
