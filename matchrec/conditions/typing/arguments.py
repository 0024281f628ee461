"""The arguments of a formula: what the engine computes of the run before it asks Python."""

from __future__ import annotations

from dataclasses import field

from matchrec.conditions.functions.formula import (
    Apply,
    Argument,
    Calculated,
    Formula,
    with_arguments,
)
from matchrec.conditions.functions.function import FunctionUse
from matchrec.conditions.run_condition import (
    Call,
    Choose,
    Collect,
    Constant,
    RunExpression,
    kind_of,
    operands_of,
    with_operands,
)
from matchrec.conditions.types import BIGINT, BOOLEAN, DOUBLE, Kind, ValueType, is_ranked
from matchrec.conditions.typing.numbers import Typed
from matchrec.dataclass import dataclass


@dataclass(slots=True)
class Arguments:
    """The arguments of a formula, as they are found."""

    expressions: list[RunExpression | Collect] = field(default_factory=list)
    types: list[ValueType] = field(default_factory=list)

    def add(self, typed: Typed) -> Formula:
        """What stands for a value in the formula: a formula of its own is a part of it."""
        one = typed.expression
        if isinstance(one, Call):
            pairs = zip(one.arguments, one.types, strict=True)
            return with_arguments(one.formula, [self.new(*pair) for pair in pairs])
        return self.new(one, typed.type)

    def new(self, expression: RunExpression | Collect, type_: ValueType) -> Argument:
        """One more argument."""
        self.expressions.append(expression)
        self.types.append(type_)
        return Argument(len(self.expressions) - 1, type_)

    def within(self, expression: RunExpression | Collect, type_: ValueType) -> Formula:
        """What stands for a value in the body of a lambda function.

        It is computed when it is asked for, so the arguments are no more than what is read.
        """
        if isinstance(expression, Call):
            pairs = zip(expression.arguments, expression.types, strict=True)
            return with_arguments(expression.formula, [self.within(*pair) for pair in pairs])
        if isinstance(expression, Collect) or not operands_of(expression):
            return self.new(expression, type_)
        if isinstance(expression, Choose) and is_ranked(type_):  # of ranks, Python has the values
            return self.choice(expression, type_)
        parts: list[Formula] = []
        return Calculated(self.calculated(expression, parts), tuple(parts), type_)

    def choice(self, expression: Choose, type_: ValueType) -> Formula:
        """One of two values that an engine knows by their ranks."""
        types = (BOOLEAN, type_, type_)
        pairs = zip(operands_of(expression), types, strict=True)
        return Apply("IF", tuple(self.within(*pair) for pair in pairs), FunctionUse(types), type_)

    def calculated(self, expression: RunExpression, parts: list[Formula]) -> RunExpression:
        """The expression over parts, to which those that it needs are added."""
        if isinstance(expression, Constant):
            return expression
        operands = operands_of(expression)
        if not isinstance(expression, Call) and operands:
            new = [self.calculated(operand, parts) for operand in operands]
            return with_operands(expression, new)
        type_ = BIGINT if kind_of(expression) is Kind.INTEGER else DOUBLE
        if isinstance(expression, Call):
            type_ = expression.formula.type
        parts.append(self.within(expression, type_))
        return Call(Argument(len(parts) - 1, type_), (), ())

    def call(self, formula: Formula) -> Typed:
        """The value of a formula over these arguments."""
        return Typed(Call(formula, tuple(self.expressions), tuple(self.types)), formula.type)
