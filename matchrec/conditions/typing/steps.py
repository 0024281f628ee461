"""Type residual conditions: give each step its type, and build the run condition."""

from __future__ import annotations

from dataclasses import dataclass, replace

from typing_extensions import assert_never

from matchrec.conditions.residual import (
    ZERO,
    ClassifierChoice,
    ColumnRead,
    CombinedStep,
    RunningAggregate,
    Step,
    TypedOperation,
    TypedStep,
    rewrite_operation,
)
from matchrec.conditions.run_condition import (
    BasicOperator,
    Comparison,
    Constant,
    ReadClassifier,
    RunExpression,
    RunOperation,
    build_operation,
)
from matchrec.conditions.types import BOOLEAN, INT, Kind
from matchrec.conditions.typing import arithmetic, typer
from matchrec.conditions.typing.calls import needs_python, type_branches, type_call
from matchrec.conditions.typing.running_aggregates import type_running_aggregate
from matchrec.errors.conditions import (
    operations_nested_too_deep,
    too_many_operations,
    types_cannot_be_combined,
)
from matchrec.plan.expression import MOST_NESTED
from matchrec.plan.operators import OPERATORS, OperatorKind

# The most operations of the search that a condition may consist of.
MOST_OPERATIONS = 200_000


@dataclass(frozen=True)
class StepTyper(typer.Typer):
    """A typer of all kinds of steps. The other modules of this package type one kind each."""

    def type_step(self, step: Step) -> TypedStep:
        """Return a step of any kind with its type, see `Typer.type_step`."""
        match step:
            case TypedStep():
                return step
            case ColumnRead():
                typed = replace(self.type_value(step), column_read=step, operands=())
            case CombinedStep():
                operands = tuple(self.type_step(operand) for operand in step.operands)
                operation = TypedOperation(step.operator, operands, step.span, step.words)
                typed = self.type_operation(operation)
            case RunningAggregate():
                typed = type_running_aggregate(self, step)
            case ClassifierChoice():
                typed = self.type_classifier_choice(step)
            case _:
                assert_never(step)
        return replace(typed, span=step.span)

    def type_value(self, step: ColumnRead) -> TypedStep:
        """Return a column with its type.

        The result is a constant, a formula that the search computes from other columns, or a read
        of the column.
        """
        type_ = INT if step.column == ZERO else self.types[step.column]
        constant = typer.find_constant(step, type_)
        if constant is not None:
            return constant
        formula = typer.type_formula(self, step)
        if formula is not None:
            return formula
        deferred = typer.type_deferred(self, step)
        if deferred is not None:
            return deferred
        return TypedStep(self.read_value(step, type_), type_)

    def type_operation(self, step: TypedOperation) -> TypedStep:
        """Return an operation with its type, see `Typer.type_operation`."""
        size = 1 + sum(operand.size for operand in step.operands)
        depth = 1 + max((operand.depth for operand in step.operands), default=0)
        if size > MOST_OPERATIONS:
            raise too_many_operations(step.span, limit=MOST_OPERATIONS)
        if depth > MOST_NESTED:
            raise operations_nested_too_deep(step.span, limit=MOST_NESTED)
        typed = self.combine(step)
        operand_fails = any(operand.may_fail for operand in step.operands)
        return TypedStep(
            expression=typed.expression,
            type=typed.type,
            span=step.span,
            operands=step.operands,
            size=max(size, typed.size),
            depth=max(depth, typed.depth),
            may_fail=operand_fails or typer.may_fail(step, typed.type),
        )

    def type_classifier_choice(self, step: ClassifierChoice) -> TypedStep:
        """Return a choice by CLASSIFIER as nested IFs, with its type.

        IF(variable = 1, value of 1, IF(variable = 0, value of 0, value without a row))
        """
        classifier = ReadClassifier(step.navigation)
        type_ = self.types[step.columns_by_variable[0]]
        *variable_values, value_without_row = [
            self.read_column(column, type_) for column in step.columns_by_variable
        ]
        expression: RunExpression = value_without_row
        for variable, value in enumerate(variable_values):
            is_variable = build_operation(
                Comparison.EQUAL, classifier, Constant(variable, Kind.INTEGER)
            )
            expression = build_operation(BasicOperator.CHOOSE, is_variable, value, expression)
        return TypedStep(expression, type_)

    def combine(self, step: TypedOperation) -> TypedStep:
        """Return an operation with its type. Its size, depth and operands are left to the caller.

        Raises:
            MatchRecognizeUnsupportedError: the types do not allow the operation.
        """
        entry = OPERATORS.get(step.operator)
        kind = None if entry is None else entry.kind
        if kind is OperatorKind.MATHEMATICS:
            return arithmetic.type_mathematics(self, step)
        step = arithmetic.limit_to_38_digits(self, step)
        if needs_python(self, step):
            return type_call(self, step)
        rewritten = rewrite_operation(arithmetic.unify_with_floats(self, step))
        if rewritten is not None:
            return self.type_step(rewritten)
        match kind:
            case OperatorKind.TRY:
                return arithmetic.type_try_function(self, step)
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
            case _:
                return arithmetic.type_arithmetic(self, step)

    def type_comparison(self, step: TypedOperation) -> TypedStep:
        """Return a comparison with its type.

        Raises:
            MatchRecognizeUnsupportedError: the values cannot be compared.
        """
        left, right = arithmetic.unify_compared_operands(self, step)
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
            then, otherwise = type_branches(self, step)
        else:
            then = step.operands[1]
            otherwise = typer.make_null(then.type)
        chosen = build_operation(
            BasicOperator.CHOOSE, condition, then.expression, otherwise.expression
        )
        return TypedStep(chosen, then.type)
