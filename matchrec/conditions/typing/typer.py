"""Residual condition → run condition: values get types, the columns that are read get places.

Types follow Spark. Where two types meet, numbers are brought to one kind (see `numbers`), any other
two must be one type. What Spark would coerce in a way that the engine cannot repeat is an
error that says which CAST to write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from typing_extensions import assert_never

from matchrec.conditions.functions.function import Settings
from matchrec.conditions.operations import Comparison
from matchrec.conditions.residual import (
    COMPARISONS,
    LOGIC,
    Combined,
    ListAggregate,
    NumberOfMatch,
    RunningAggregate,
    Step,
    Value,
    VariableAt,
)
from matchrec.conditions.rewrite import rewrite
from matchrec.conditions.row_column import RowColumn, cast, row_column
from matchrec.conditions.run_condition import (
    And,
    Choose,
    Compare,
    Constant,
    IsNull,
    Not,
    Or,
    Read,
    ReadClassifier,
    ReadMatchNumber,
    RunExpression,
)
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    INT,
    NUMBERS,
    VOID,
    Family,
    Kind,
    ValueType,
    is_ranked,
    is_wide_decimal,
)
from matchrec.conditions.typing.arithmetic import (
    check_common_type,
    is_positive_remainder,
    type_arithmetic,
    type_compared,
    type_positive_remainder,
)
from matchrec.conditions.typing.calls import is_pythons, type_call, type_list
from matchrec.conditions.typing.effort import Effort
from matchrec.conditions.typing.formulas import constant_of, type_formula
from matchrec.conditions.typing.mathematics import is_mathematics, type_mathematics
from matchrec.conditions.typing.numbers import Typed, common_type, widen
from matchrec.conditions.typing.run_columns import RunColumns
from matchrec.conditions.typing.running_aggregates import type_running_aggregate
from matchrec.errors.conditions import cannot_combine, not_boolean
from matchrec.plan.expression import Navigation

TRUE_COLUMN = row_column("TRUE")
IN_UTC = Settings()


@dataclass(frozen=True)
class Typer:
    """Types the steps of one query's conditions.

    types: of every column that the steps read. ansi: whether overflow is an error. settings: of the
    session.
    """

    types: Mapping[RowColumn, ValueType]
    ansi: bool
    settings: Settings = IN_UTC
    columns: RunColumns = field(default_factory=RunColumns)
    effort: Effort = field(default_factory=Effort)

    def condition(self, step: Step) -> RunExpression:
        """The expression of a whole condition."""
        typed = self.type_step(step)
        if typed.type.family is not Family.BOOLEAN:
            raise not_boolean(typed.type.name, step.span)
        return typed.expression

    def type_step(self, step: Step) -> Typed:
        """A step with its type. Raises where the expression would be too large or too deep."""
        self.effort.enter(step.span)
        found = self.type_by_kind(step)
        self.effort.leave()
        return found

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
                return Typed(ReadMatchNumber(), BIGINT)
            case Combined():
                return self.combine(step)
            case _:
                assert_never(step)

    @cached_property
    def draft(self) -> Draft:
        """What types steps before it is known whether their columns will be read as they are."""
        return Draft(
            self.types,
            self.ansi,
            self.settings,
            effort=self.effort,
        )

    def type_of(self, step: Step) -> ValueType:
        """The type of a step; nothing is read for it."""
        return self.draft.type_step(step).type

    def value(self, step: Value) -> Typed:
        literal = step.column.text.strip("() ") if step.column.looks_at_one_row else ""
        if step.navigation is None and re.fullmatch(r"[0-9]{1,9}", literal):
            return Typed(Constant(int(literal), Kind.INTEGER), INT)
        type_ = self.types[step.column]
        found = constant_of(step, type_) or type_formula(self, step)
        return found or Typed(self.read_value(step, type_), type_)

    def read_value(self, step: Value, type_: ValueType) -> RunExpression:
        """The column at its row, or what takes its place where there is no such row."""
        there = self.read(step.column, type_, step.navigation)
        if step.missing is None:
            return there
        found = Not(IsNull(self.read(TRUE_COLUMN, BOOLEAN, step.navigation)))
        return Choose(found, there, self.read(step.missing, type_, None))

    def read(self, column: RowColumn, type_: ValueType, navigation: Navigation | None) -> Read:
        if is_ranked(type_):
            self.columns.ranked.add(column)
        return Read(self.columns.place(column, type_.kind), type_.kind, navigation)

    def by_variable(self, step: VariableAt) -> Typed:
        """The condition that belongs to the row's variable, NULL and all."""
        here = ReadClassifier(step.navigation)
        *known, absent = (self.read(column, BOOLEAN, None) for column in step.by_variable)
        expression: RunExpression = absent
        for variable, condition in enumerate(known):
            expression = Choose(is_variable(here, variable), condition, expression)
        return Typed(expression, BOOLEAN)

    def combine(self, step: Combined) -> Typed:
        if is_mathematics(self, step):
            return type_mathematics(self, step)
        if is_pythons(self, step):
            return type_call(self, step)
        if is_positive_remainder(self, step):
            return type_positive_remainder(self, step)
        basic = self.draft.basic(step)
        if basic is not step:
            return self.combine(basic)
        operator = step.operator
        if operator in LOGIC:
            return self.logic(step)
        if operator == "IS NULL":
            return Typed(IsNull(self.type_step(step.operands[0]).expression), BOOLEAN)
        if operator == "IF":
            return self.choice(step)
        if operator in COMPARISONS:
            left, right = type_compared(self, step)
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

    def unify(self, step: Combined, left: Step, right: Step) -> tuple[Typed, Typed]:
        """Both values as one type, as Spark would bring them together."""
        one, other = self.type_of(left), self.type_of(right)
        if one.family in NUMBERS and other.family in NUMBERS:
            return self.numbers(step, left, right)
        if one == VOID:
            return null(other), self.type_step(right)
        if other == VOID:
            return self.type_step(left), null(one)
        if one.family is not other.family or one.family is Family.OTHER:
            raise cannot_combine(step.operator, one.name, other.name, step.span)
        return self.type_step(left), self.type_step(right)

    def numbers(self, step: Combined, left: Step, right: Step) -> tuple[Typed, Typed]:
        """Two numbers as one type.

        Decimals too wide for an int64 are cast by Spark, and ranked, where both are columns; where
        the engine computed one of them, it fits an int64 or is an error.
        """
        one, other = self.type_of(left), self.type_of(right)
        common = common_type(one, other, self.ansi)
        if common is None:
            raise cannot_combine(step.operator, one.name, other.name, step.span)
        columns = isinstance(left, Value) and isinstance(right, Value)
        if is_wide_decimal(common) and columns:
            return self.cast_column(left, common), self.cast_column(right, common)
        return self.as_number(step, left, common), self.as_number(step, right, common)

    def as_number(self, step: Combined, part: Step, type_: ValueType) -> Typed:
        """A number as another type; Spark casts a decimal column to double, the engine the rest."""
        own = self.type_of(part)
        to_double = own.family is Family.DECIMAL and type_.family is Family.FLOATING
        if is_wide_decimal(own) and isinstance(part, Value) and not to_double:
            raise cannot_combine(step.operator, own.name, type_.name, step.span)
        if to_double and isinstance(part, Value):
            return self.cast_column(part, type_)
        return widen(self.type_step(part), type_)

    def cast_column(self, step: Step, type_: ValueType) -> Typed:
        """A column as another type, cast by Spark before the match."""
        assert isinstance(step, Value), step
        if self.type_of(step) == type_:
            return self.type_step(step)
        constant = constant_of(step, type_) if type_.family in NUMBERS else None
        if constant is not None:
            return constant
        missing = step.missing and cast(step.missing, type_.name)
        recast = Value(cast(step.column, type_.name), step.navigation, missing, step.span)
        return Typed(self.read_value(recast, type_), type_)


@dataclass(frozen=True)
class Draft(Typer):
    """Types each step once, over columns of its own.

    known, forms: by the ids of steps, which are kept so that no other step gets their ids.
    """

    known: dict[int, tuple[Step, Typed]] = field(default_factory=dict)
    forms: dict[int, tuple[Step, Combined]] = field(default_factory=dict)

    @cached_property
    def draft(self) -> Draft:
        return self

    def type_step(self, step: Step) -> Typed:
        if id(step) not in self.known:
            self.known[id(step)] = step, super().type_step(step)
        return self.known[id(step)][1]

    def basic(self, step: Combined) -> Combined:
        """The same value by basic operations, always the same steps."""
        if id(step) not in self.forms:
            check_common_type(self, step)
            self.forms[id(step)] = step, rewrite(step)
        return self.forms[id(step)][1]


def null(type_: ValueType) -> Typed:
    """NULL as a value of a type."""
    return Typed(Constant(None, type_.kind), type_)


def is_variable(here: ReadClassifier, variable: int) -> RunExpression:
    return Compare(Comparison.EQUAL, here, Constant(variable, Kind.INTEGER))
