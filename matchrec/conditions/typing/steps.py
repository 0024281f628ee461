"""Residual condition → run condition: each kind of step gets its type, columns get places."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter

from typing_extensions import assert_never

from matchrec.conditions.residual import (
    COMPARISONS,
    LOGIC,
    ZERO,
    Combined,
    RunningAggregate,
    Step,
    Typed,
    TypedOperation,
    Value,
    VariableAt,
    rewrite,
)
from matchrec.conditions.run_condition import (
    Basic,
    Comparison,
    Constant,
    Operate,
    ReadClassifier,
    RunExpression,
    operate,
)
from matchrec.conditions.types import BOOLEAN, INT, Kind
from matchrec.conditions.typing import arithmetic, typer
from matchrec.conditions.typing.calls import needs_python, type_call, type_chosen
from matchrec.conditions.typing.running_aggregates import type_running_aggregate
from matchrec.errors.conditions import (
    cannot_combine,
    operations_nested_too_deep,
    too_many_operations,
)
from matchrec.plan.expression import DEEPEST

MOST_OPERATIONS = 200_000


@dataclass(frozen=True)
class StepTyper(typer.Typer):
    def type_step(self, step: Step) -> Typed:
        match step:
            case Typed():
                return step
            case Value():
                type_ = INT if step.column == ZERO else self.types[step.column]
                typed = typer.constant_of(step, type_) or typer.type_formula(self, step)
                typed = typed or typer.type_deferred(self, step)
                typed = typed or Typed(self.read_value(step, type_), type_)
                found = replace(typed, value=step, parts=())
            case Combined():
                operands = tuple(map(self.type_step, step.operands))
                whole = TypedOperation(step.operator, operands, step.span, step.words)
                found = self.type_operation(whole)
            case RunningAggregate():
                found = type_running_aggregate(self, step)
            case VariableAt():
                found = self.by_variable(step)
            case _:
                assert_never(step)
        return replace(found, span=step.span)

    def type_operation(self, step: TypedOperation) -> Typed:
        size = 1 + sum(map(attrgetter("size"), step.operands))
        depth = 1 + max(map(attrgetter("depth"), step.operands), default=0)
        if size > MOST_OPERATIONS:
            raise too_many_operations(step.span, limit=MOST_OPERATIONS)
        if depth > DEEPEST:
            raise operations_nested_too_deep(step.span, limit=DEEPEST)
        found = self.combine(step)
        return Typed(
            found.expression,
            found.type,
            step.span,
            parts=step.operands,
            size=max(size, found.size),
            depth=max(depth, found.depth),
            fails=typer.may_fail(step, found.type) or any(map(attrgetter("fails"), step.operands)),
        )

    def by_variable(self, step: VariableAt) -> Typed:
        """The value that belongs to the row's variable, NULL and all."""
        here, type_ = ReadClassifier(step.navigation), self.types[step.by_variable[0]]
        *known, absent = (self.read_column(column, type_, None) for column in step.by_variable)
        expression: RunExpression = absent
        for variable, value in enumerate(known):
            is_here = operate(Comparison.EQUAL, here, Constant(variable, Kind.INTEGER))
            expression = operate(Basic.CHOOSE, is_here, value, expression)
        return Typed(expression, type_)

    def combine(self, step: TypedOperation) -> Typed:
        if step.operator in arithmetic.MATHEMATICAL:
            return arithmetic.type_mathematics(self, step)
        step = arithmetic.in_38_digits(self, step)
        if needs_python(self, step):
            return type_call(self, step)
        basic = rewrite(arithmetic.with_floats(self, step))
        if basic is not None:
            return self.type_step(basic)
        operator = step.operator
        if operator in arithmetic.TRYING:
            return arithmetic.type_trying(self, step)
        if operator in LOGIC:
            return Typed(Operate(Basic(operator), tuple(map(self.truth, step.operands))), BOOLEAN)
        if operator == "IS NULL":
            return Typed(operate(Basic.IS_NULL, step.operands[0].expression), BOOLEAN)
        if operator == "IF":
            return self.choice(step)
        if operator in COMPARISONS:
            left, right = arithmetic.type_compared(self, step)
            if not left.type.is_ordered:
                raise cannot_combine(operator, left.type.name, right.type.name, step.span)
            return Typed(operate(Comparison(operator), left.expression, right.expression), BOOLEAN)
        return arithmetic.type_arithmetic(self, step)

    def choice(self, step: TypedOperation) -> Typed:
        """IF(condition, then, otherwise); without a last operand it is NULL."""
        condition = self.truth(step.operands[0])
        then = step.operands[1]
        otherwise = typer.null(then.type)
        if len(step.operands) > 2:
            then, otherwise = type_chosen(self, step)
        values = then.expression, otherwise.expression
        return Typed(operate(Basic.CHOOSE, condition, *values), then.type)
