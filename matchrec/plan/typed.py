"""Steps of a condition → glue: every value gets a type, and the columns it reads get their place.

Types follow Spark: an integer beside a float is widened, dates and timestamps subtract to
intervals, two decimals are brought to one scale by Spark itself before the match. What Spark would
coerce in a way that the engine cannot repeat is an error that says which CAST to write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from typing_extensions import assert_never

from matchrec.errors.conditions import cannot_combine, not_a_number, not_boolean
from matchrec.plan.expression import Navigation
from matchrec.plan.glue import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Compare,
    Comparison,
    Constant,
    Glue,
    IsNull,
    Kind,
    Not,
    Or,
    Read,
    ReadClassifier,
    Reduce,
    Reduction,
    Widen,
)
from matchrec.plan.row_column import RowColumn, cast, row_column
from matchrec.plan.split import COMPARISONS, Combined, Grown, Step, Value, VariableAt
from matchrec.plan.types import (
    BIGINT,
    BOOLEAN,
    COMPUTED,
    DOUBLE,
    INT,
    INTERVAL,
    Family,
    ValueType,
)

MICROSECONDS_A_DAY = 86_400_000_000
TRUE_COLUMN = row_column("TRUE")


@dataclass(frozen=True, slots=True)
class Typed:
    """Glue and the type of its value."""

    glue: Glue
    type: ValueType


@dataclass(slots=True)
class GlueColumns:
    """The columns that glue reads, in the order in which the engine holds them.

    ranked: columns whose values are replaced by their rank among all values of these columns.
    """

    integers: list[RowColumn] = field(default_factory=list)
    floats: list[RowColumn] = field(default_factory=list)
    ranked: set[RowColumn] = field(default_factory=set)

    def place(self, column: RowColumn, kind: Kind) -> int:
        """The index of a column among those of its kind; it is added on first use."""
        columns = self.integers if kind is Kind.INTEGER else self.floats
        if column not in columns:
            columns.append(column)
        return columns.index(column)


@dataclass(frozen=True, slots=True)
class Typer:
    """Types the steps of one query's conditions.

    types: of every column that the steps read. ansi: whether overflow is an error. known: the types
    of steps that were asked for.
    """

    types: Mapping[RowColumn, ValueType]
    ansi: bool
    columns: GlueColumns = field(default_factory=GlueColumns)
    known: dict[Step, ValueType] = field(default_factory=dict)

    def condition(self, step: Step) -> Glue:
        """The glue of a whole condition."""
        typed = self.truth(step)
        if typed.type.family is not Family.BOOLEAN:
            raise not_boolean(typed.type.name, step.span)
        return typed.glue

    def truth(self, step: Step) -> Typed:
        """The typed step as a condition, where a missing row may have a truth value of its own."""
        if isinstance(step, Value) and step.missing is not None and step.navigation is not None:
            found = Not(IsNull(self.read(TRUE_COLUMN, BOOLEAN, step.navigation)))
            there = self.read(step.column, BOOLEAN, step.navigation)
            absent = self.read(step.missing, BOOLEAN, None)
            return Typed(Or((And((found, there)), And((Not(found), absent)))), BOOLEAN)
        return self.typed(step)

    def typed(self, step: Step) -> Typed:
        match step:
            case Value():
                return self.value(step) if step.missing is None else self.truth(step)
            case Grown():
                return self.grown(step)
            case VariableAt():
                return self.by_variable(step)
            case Combined():
                return self.combined(step)
            case _:
                assert_never(step)

    def value(self, step: Value) -> Typed:
        literal = step.column.text.strip("() ") if step.column.looks_at_one_row else ""
        if step.navigation is None and re.fullmatch(r"[0-9]{1,9}", literal):
            return Typed(Constant(int(literal), Kind.INTEGER), INT)
        type_ = self.types[step.column]
        return Typed(self.read(step.column, type_, step.navigation), type_)

    def read(self, column: RowColumn, type_: ValueType, navigation: Navigation | None) -> Read:
        if type_.family in (Family.STRING, Family.DECIMAL, Family.OTHER):
            self.columns.ranked.add(column)
        kind = Kind.FLOATING if type_.family is Family.FLOATING else Kind.INTEGER
        return Read(self.columns.place(column, kind), kind, navigation)

    def grown(self, step: Grown) -> Typed:
        """An aggregate; SUM of integers is bigint, AVG is double, as in Spark."""
        function = Reduction(step.function)
        if function is Reduction.COUNT:
            return Typed(self.count(step), BIGINT)
        assert step.column is not None
        type_ = self.types[step.column]
        extreme = function in (Reduction.MIN, Reduction.MAX)
        if type_.family not in COMPUTED and not (extreme and type_.family is not Family.OTHER):
            raise not_a_number(step.function, type_.name, step.span)
        column = step.column
        if function is Reduction.AVG and type_.family is Family.INTEGER:
            column, type_ = cast(column, "DOUBLE"), DOUBLE
        read = self.read(column, type_, None)
        reduced = Reduce(function, step.variable, read.column, read.kind)
        if extreme:
            return Typed(reduced, type_)
        return Typed(reduced, DOUBLE if type_.family is Family.FLOATING else BIGINT)

    def count(self, step: Grown) -> Glue:
        if step.column is None:
            return Reduce(Reduction.COUNT, step.variable, None, Kind.INTEGER)
        type_ = self.types[step.column]
        column = step.column
        if type_.family not in COMPUTED:
            column = RowColumn(("IF((", *column.pieces, ") IS NULL, NULL, 1)"))
            type_ = INT
        read = self.read(column, type_, None)
        return Reduce(Reduction.COUNT, step.variable, read.column, read.kind)

    def by_variable(self, step: VariableAt) -> Typed:
        """The condition that belongs to the row's variable, NULL and all."""
        here = ReadClassifier(step.navigation)
        *known, absent = (self.read(column, BOOLEAN, None) for column in step.by_variable)
        cases: list[Glue] = [
            And((is_variable(here, variable), condition))
            for variable, condition in enumerate(known)
        ]
        return Typed(Or((*cases, And((IsNull(here), absent)))), BOOLEAN)

    def combined(self, step: Combined) -> Typed:
        operator, parts = step.operator, step.operands
        if operator in ("AND", "OR", "NOT"):
            return self.logic(step)
        if operator in ("IS NULL", "IS NOT NULL"):
            null = IsNull(self.typed(parts[0]).glue)
            return Typed(null if operator == "IS NULL" else Not(null), BOOLEAN)
        if operator.startswith("NOT "):
            positive = Combined(operator.removeprefix("NOT "), parts, step.span)
            return Typed(Not(self.combined(positive).glue), BOOLEAN)
        if operator == "BETWEEN":
            low = Combined(">=", parts[:2], step.span)
            high = Combined("<=", (parts[0], parts[2]), step.span)
            return Typed(And((self.combined(low).glue, self.combined(high).glue)), BOOLEAN)
        if operator == "IN":
            equal = (Combined("=", (parts[0], part), step.span) for part in parts[1:])
            return Typed(Or(tuple(self.combined(one).glue for one in equal)), BOOLEAN)
        if operator in COMPARISONS:
            return self.comparison(step)
        return self.arithmetic(step)

    def logic(self, step: Combined) -> Typed:
        parts = tuple(self.condition(part) for part in step.operands)
        match step.operator:
            case "AND":
                return Typed(And(parts), BOOLEAN)
            case "OR":
                return Typed(Or(parts), BOOLEAN)
            case _:
                return Typed(Not(parts[0]), BOOLEAN)

    def comparison(self, step: Combined) -> Typed:
        one, other = (self.type_of(part) for part in step.operands)
        families = {one.family, other.family}
        if Family.DECIMAL in families and one != other:
            left, right = self.to_one_decimal(step, one, other)
        elif families == COMPUTED:
            left, right = (widened(self.typed(part)) for part in step.operands)
        elif len(families) > 1 or (Family.OTHER in families and one != other):
            raise cannot_combine(step.operator, one.name, other.name, step.span)
        else:
            left, right = (self.typed(part) for part in step.operands)
        return Typed(Compare(Comparison(step.operator), left.glue, right.glue), BOOLEAN)

    def type_of(self, step: Step) -> ValueType:
        """The type of a step, before it is known whether its columns will be read as they are."""
        if step not in self.known:
            self.known[step] = Typer(self.types, self.ansi, known=self.known).typed(step).type
        return self.known[step]

    def to_one_decimal(
        self, step: Combined, left: ValueType, right: ValueType
    ) -> tuple[Typed, Typed]:
        """Both sides as decimals of one scale, or as doubles where one of them is a double."""
        type_ = common_decimal(left, right)
        if type_ is None:
            raise cannot_combine(step.operator, left.name, right.name, step.span)
        one, other = (self.recast(part, type_) for part in step.operands)
        if one is None or other is None:
            raise cannot_combine(step.operator, left.name, right.name, step.span)
        return one, other

    def recast(self, step: Step, type_: ValueType) -> Typed | None:
        """The step as another type, cast by Spark before the match; None where it is computed."""
        if isinstance(step, Value):
            column = cast(step.column, type_.name)
            return Typed(self.read(column, type_, step.navigation), type_)
        typed = self.typed(step)
        if type_.family is Family.FLOATING and typed.type.family in COMPUTED:
            return widened(typed)
        return None

    def arithmetic(self, step: Combined) -> Typed:
        if step.operator == "NEG":
            return self.negated(step)
        if step.operator in ("DATEDIFF", "DATE_DIFF"):
            return self.days_between(step)
        one, other = (self.type_of(part) for part in step.operands)
        if {one.family, other.family} == {Family.DECIMAL, Family.FLOATING}:
            left, right = self.to_one_decimal(step, one, other)
        else:
            left, right = (self.typed(part) for part in step.operands)
        if {left.type.family, right.type.family} <= COMPUTED:
            return self.computed(step.operator, left, right)
        return self.on_times(step, left, right)

    def negated(self, step: Combined) -> Typed:
        """`-x`, for numbers and intervals."""
        value = self.typed(step.operands[0])
        zero = Constant(0, Kind.INTEGER)
        if value.type.family is Family.FLOATING:
            return self.computed("-", Typed(zero, INT), value)
        if value.type.family not in (Family.INTEGER, Family.INTERVAL):
            raise not_a_number("-", value.type.name, step.span)
        glue = Arithmetic(
            ArithmeticOperator.SUBTRACT, zero, value.glue, Kind.INTEGER, value.type.bits, self.ansi
        )
        return Typed(glue, value.type)

    def computed(self, operator: str, left: Typed, right: Typed) -> Typed:
        """Arithmetic on integers and floats."""
        if operator == "/" or Family.FLOATING in (left.type.family, right.type.family):
            left, right = widened(left), widened(right)
        kind = Kind.FLOATING if left.type.family is Family.FLOATING else Kind.INTEGER
        type_ = left.type if left.type.bits >= right.type.bits else right.type
        glue = Arithmetic(
            ArithmeticOperator(operator), left.glue, right.glue, kind, type_.bits, self.ansi
        )
        return Typed(glue, type_)

    def days_between(self, step: Combined) -> Typed:
        """DATEDIFF(end, start), whole days; timestamps are cast to dates by Spark."""
        date = ValueType(Family.DATE, "date")
        left, right = (self.recast(part, date) for part in step.operands)
        if left is None or right is None:
            raise cannot_combine(step.operator, "a computed value", "a date", step.span)
        return Typed(whole(ArithmeticOperator.SUBTRACT, left.glue, right.glue), INT)

    def on_times(self, step: Combined, left: Typed, right: Typed) -> Typed:
        """Arithmetic of dates, timestamps and day-time intervals."""
        one, other = left.type.family, right.type.family
        rule = TIME_RULES.get((one, step.operator, other))
        if rule is None:
            raise cannot_combine(step.operator, left.type.name, right.type.name, step.span)
        operator = ArithmeticOperator(step.operator)
        return rule(whole(operator, left.glue, right.glue), left.type, right.type)


def is_variable(here: ReadClassifier, variable: int) -> Glue:
    return Compare(Comparison.NULL_SAFE_EQUAL, here, Constant(variable, Kind.INTEGER))


def widened(typed: Typed) -> Typed:
    """An integer value as a float; a float as it is."""
    if typed.type.family is Family.FLOATING:
        return typed
    return Typed(Widen(typed.glue), DOUBLE)


def whole(operator: ArithmeticOperator, left: Glue, right: Glue) -> Glue:
    """64-bit integer arithmetic in which overflow is an error."""
    return Arithmetic(operator, left, right, Kind.INTEGER)


def common_decimal(left: ValueType, right: ValueType) -> ValueType | None:
    """The decimal (or double) that holds both, as Spark compares them; None where there is none."""
    if Family.FLOATING in (left.family, right.family):
        return DOUBLE
    both = [as_decimal(left), as_decimal(right)]
    if None in both:
        return None
    parts = [part for part in both if part is not None]
    scale = max(part.scale for part in parts)
    precision = max(part.precision - part.scale for part in parts) + scale
    if precision > 38:
        return None
    return ValueType(Family.DECIMAL, f"decimal({precision},{scale})", 64, precision, scale)


DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}


def as_decimal(type_: ValueType) -> ValueType | None:
    """A decimal as it is, an integer as the decimal that holds it, else None."""
    if type_.family is Family.INTEGER:
        return ValueType(Family.DECIMAL, "", 64, DIGITS[type_.bits], 0)
    return type_ if type_.family is Family.DECIMAL else None


TimeRule = Callable[[Glue, ValueType, ValueType], Typed]


def _as_left(glue: Glue, left: ValueType, _right: ValueType) -> Typed:
    return Typed(glue, left)


def _as_right(glue: Glue, _left: ValueType, right: ValueType) -> Typed:
    return Typed(glue, right)


def _as_interval(glue: Glue, _left: ValueType, _right: ValueType) -> Typed:
    return Typed(glue, INTERVAL)


def _days_as_interval(glue: Glue, _left: ValueType, _right: ValueType) -> Typed:
    day = Constant(MICROSECONDS_A_DAY, Kind.INTEGER)
    return Typed(whole(ArithmeticOperator.MULTIPLY, glue, day), INTERVAL)


TIME_RULES: Mapping[tuple[Family, str, Family], TimeRule] = {
    (Family.DATE, "-", Family.DATE): _days_as_interval,
    (Family.DATE, "-", Family.INTEGER): _as_left,
    (Family.DATE, "+", Family.INTEGER): _as_left,
    (Family.TIMESTAMP, "-", Family.TIMESTAMP): _as_interval,
    (Family.TIMESTAMP_NTZ, "-", Family.TIMESTAMP_NTZ): _as_interval,
    (Family.TIMESTAMP, "-", Family.INTERVAL): _as_left,
    (Family.TIMESTAMP, "+", Family.INTERVAL): _as_left,
    (Family.TIMESTAMP_NTZ, "-", Family.INTERVAL): _as_left,
    (Family.TIMESTAMP_NTZ, "+", Family.INTERVAL): _as_left,
    (Family.INTERVAL, "+", Family.TIMESTAMP): _as_right,
    (Family.INTERVAL, "+", Family.TIMESTAMP_NTZ): _as_right,
    (Family.INTERVAL, "+", Family.INTERVAL): _as_left,
    (Family.INTERVAL, "-", Family.INTERVAL): _as_left,
}
