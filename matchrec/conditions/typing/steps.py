"""Residual condition → run condition: each kind of step gets its type, columns get places."""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property

from typing_extensions import assert_never

from matchrec.conditions.functions.function import LambdaValue
from matchrec.conditions.residual import (
    BITS,
    COMPARISONS,
    LOGIC,
    Combined,
    Lambda,
    LambdaRead,
    ListAggregate,
    NumberOfMatch,
    RunningAggregate,
    Step,
    Value,
    VariableAt,
    rewrite,
)
from matchrec.conditions.run_condition import (
    And,
    Call,
    Choose,
    Compare,
    Comparison,
    Constant,
    IsNull,
    Not,
    Or,
    ReadClassifier,
    RunExpression,
    TriedMatchNumber,
)
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    Kind,
)
from matchrec.conditions.typing.arithmetic import (
    AS_FLOAT,
    TRYING,
    check_common_type,
    is_mathematics,
    is_positive_remainder,
    type_arithmetic,
    type_bits,
    type_compared,
    type_mathematics,
    type_positive_remainder,
    type_trying,
    with_floats,
)
from matchrec.conditions.typing.calls import is_pythons, type_call
from matchrec.conditions.typing.numbers import Typed
from matchrec.conditions.typing.running_aggregates import type_list, type_running_aggregate
from matchrec.conditions.typing.typer import Typer, constant_of, null, type_formula, type_late
from matchrec.dataclass import dataclass
from matchrec.errors.conditions import cannot_combine, not_known_during_the_match


@dataclass(frozen=True)
class StepTyper(Typer):
    """Types a step as what it is: a value, an aggregate, an operation."""

    def type_by_kind(self, step: Step) -> Typed:
        match step:
            case Value():
                return self.value(step)
            case RunningAggregate():
                return type_running_aggregate(self, step)
            case VariableAt():
                return self.by_variable(step)
            case ListAggregate():
                return type_list(self, step)
            case NumberOfMatch():
                return Typed(TriedMatchNumber(), BIGINT)
            case Combined():
                return self.combine(step)
            case LambdaRead(variable):
                type_ = self.bound[variable]
                return Typed(Call(LambdaValue(variable, type_), (), ()), type_)
            case Lambda():
                raise not_known_during_the_match("->", step.span)
            case _:
                assert_never(step)

    @cached_property
    def draft(self) -> DraftTyper:
        """What types steps before it is known whether their columns will be read as they are."""
        return DraftTyper(
            self.types,
            self.ansi,
            self.settings,
            effort=self.effort,
            bound=self.bound,
        )

    def value(self, step: Value) -> Typed:
        literal = step.column.text.strip("() ") if step.column.looks_at_one_row else ""
        if step.navigation is None and re.fullmatch(r"[0-9]{1,9}", literal):
            return Typed(Constant(int(literal), Kind.INTEGER), INT)
        type_ = self.types[step.column]
        found = constant_of(step, type_) or type_formula(self, step) or type_late(self, step)
        return found or Typed(self.read_value(step, type_), type_)

    def by_variable(self, step: VariableAt) -> Typed:
        """The condition that belongs to the row's variable, NULL and all."""
        here = ReadClassifier(step.navigation)
        *known, absent = (self.read(column, BOOLEAN, None) for column in step.by_variable)
        expression: RunExpression = absent
        for variable, condition in enumerate(known):
            expression = Choose(is_variable(here, variable), condition, expression)
        return Typed(expression, BOOLEAN)

    def combine(self, step: Combined) -> Typed:
        if is_mathematics(step):
            return type_mathematics(self, step)
        if is_pythons(self, step):
            return type_call(self, step)
        if is_positive_remainder(self, step):
            return type_positive_remainder(self, step)
        basic = self.draft.basic(step)
        if basic is not step:
            return self.combine(basic)
        operator = step.operator
        if operator in BITS:
            return type_bits(self, step)
        if operator == AS_FLOAT:
            target = FLOAT if step.words == (FLOAT.name,) else DOUBLE
            return self.as_number(step, step.operands[0], target)
        if operator in TRYING:
            return type_trying(self, step)
        if operator in LOGIC:
            return self.logic(step)
        if operator == "IS NULL":
            return Typed(IsNull(self.type_step(step.operands[0]).expression), BOOLEAN)
        if operator == "IF":
            return self.choice(step)
        if operator in COMPARISONS:
            left, right = type_compared(self, step)
            if not left.type.is_ordered:
                raise cannot_combine(operator, left.type.name, right.type.name, step.span)
            return Typed(Compare(Comparison(operator), left.expression, right.expression), BOOLEAN)
        return type_arithmetic(self, step)

    def logic(self, step: Combined) -> Typed:
        parts = tuple(self.condition(part) for part in step.operands)
        match step.operator:
            case "AND":
                return Typed(And(parts), BOOLEAN)
            case "OR":
                return Typed(Or(parts), BOOLEAN)
            case _:
                return Typed(Not(parts[0]), BOOLEAN)

    def choice(self, step: Combined) -> Typed:
        """IF(condition, then, otherwise); without a last operand it is NULL."""
        condition = self.condition(step.operands[0])
        if len(step.operands) == 2:
            then = self.type_step(step.operands[1])
            return Typed(Choose(condition, then.expression, null(then.type).expression), then.type)
        then, otherwise = self.unify(step, step.operands[1], step.operands[2])
        return Typed(Choose(condition, then.expression, otherwise.expression), then.type)


@dataclass(frozen=True)
class DraftTyper(StepTyper):
    """Types each step once, over columns of its own.

    known, forms: by the ids of steps, which are kept so that no other step gets their ids.
    """

    known: dict[int, tuple[Step, Typed]] = field(default_factory=dict)
    forms: dict[int, tuple[Step, Combined]] = field(default_factory=dict)

    @cached_property
    def draft(self) -> DraftTyper:
        return self

    def type_step(self, step: Step) -> Typed:
        if id(step) not in self.known:
            self.known[id(step)] = step, super().type_step(step)
        return self.known[id(step)][1]

    def basic(self, step: Combined) -> Combined:
        """The same value by basic operations, always the same steps."""
        if id(step) not in self.forms:
            check_common_type(self, step)
            self.forms[id(step)] = step, rewrite(with_floats(self, step))
        return self.forms[id(step)][1]


def is_variable(here: ReadClassifier, variable: int) -> RunExpression:
    return Compare(Comparison.EQUAL, here, Constant(variable, Kind.INTEGER))
