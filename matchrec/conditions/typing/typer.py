"""What typing any kind of step needs: columns are read, two values brought to one type.

Types follow Spark. Where two types meet, numbers are brought to one kind (see `numbers`), any other
two must be one type. What Spark would coerce in a way that the engine cannot repeat is an
error that says which CAST to write. So is a run condition that would become too large.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from matchrec.conditions.functions import functions
from matchrec.conditions.functions.function import Settings
from matchrec.conditions.residual import (
    BASIC,
    COMPARISONS,
    CONVERSIONS,
    Step,
    Typed,
    TypedOperation,
    Value,
    values_in,
)
from matchrec.conditions.row_column import RowColumn, assembled, cast, row_column
from matchrec.conditions.run_condition import (
    Aggregated,
    Apply,
    Arithmetic,
    Basic,
    Constant,
    Operate,
    ReadValue,
    Reduce,
    RunExpression,
    operate,
)
from matchrec.conditions.types import (
    BOOLEAN,
    DOUBLE,
    MOST_DIGITS,
    NESTED,
    NUMBERS,
    TIMES,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    Family,
    Kind,
    ValueType,
    common_type,
    is_ranked,
    is_wide_decimal,
    unnamed,
)
from matchrec.conditions.typing.numbers import common_nested, widen
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.errors.conditions import cannot_combine, not_boolean
from matchrec.plan.expression import Navigation


def constant_of(step: Value, type_: ValueType) -> Typed | None:
    """A column as a constant of a type, if a number or an interval is all that it is."""
    found = step.column.amount
    if step.navigation is not None or found is None:
        return None
    if found.is_time is not (type_.family is Family.INTERVAL):
        return None
    if type_ == DOUBLE:
        return Typed(Constant(float(found.value), Kind.FLOATING), DOUBLE)
    if type_.family is Family.DECIMAL and not is_wide_decimal(type_):
        held, limit = found.value * 10**type_.scale, 10**type_.precision
    elif type_.family in (Family.INTEGER, Family.INTERVAL):
        held, limit = found.value, 2 ** (type_.bits - 1)
    else:
        return None
    fits = held.denominator == 1 and abs(held) < limit
    return Typed(Constant(held.numerator, Kind.INTEGER), type_) if fits else None


TRUE_COLUMN = row_column("TRUE")
IN_UTC = Settings()


@dataclass(slots=True)
class RunColumns:
    """The columns that run conditions read, each with its index. ranked: those read by rank."""

    integers: dict[RowColumn, int] = field(default_factory=dict)
    floats: dict[RowColumn, int] = field(default_factory=dict)
    ranked: set[RowColumn] = field(default_factory=set)


@dataclass(frozen=True)
class Typer(ABC):
    """Types the steps of one query's conditions, each kind of step by a function of its own.

    types: of every column that the steps read. drafted: the columns of steps that have been typed,
    and whether by their ranks; Spark may still cast one, or compute what they are of.
    """

    types: Mapping[RowColumn, ValueType]
    ansi: bool
    settings: Settings = IN_UTC
    columns: RunColumns = field(default_factory=RunColumns)
    drafted: list[tuple[RowColumn, bool]] = field(default_factory=list)

    @abstractmethod
    def type_step(self, step: Step) -> Typed: ...

    @abstractmethod
    def type_operation(self, step: TypedOperation) -> Typed:
        """An operation with its type. Raises where it would be too large or too deep."""

    def condition(self, step: Step) -> RunExpression:
        return self.placed(self.truth(self.type_step(step)))

    def truth(self, typed: Typed) -> RunExpression:
        if typed.type.family is not Family.BOOLEAN and typed.type != VOID:
            raise not_boolean(typed.span, type_name=typed.type.name)
        return typed.expression

    def placed(self, expression: RunExpression) -> RunExpression:
        """The expression over the columns that conditions read, in place of those drafted."""
        match expression:
            case ReadValue(column=int(column)) | Reduce(column=int(column)):
                return replace(expression, column=self.place(column, expression.kind))
            case Aggregated():
                columns = tuple(
                    tuple(replace(one, expression=self.placed(one.expression)) for one in row)
                    for row in expression.columns
                )
                return replace(expression, columns=columns)
            case Operate(parts=parts) | Arithmetic(parts=parts) | Apply(parts=parts):
                return replace(expression, parts=tuple(map(self.placed, parts)))
            case _:
                return expression

    def place(self, drafted: int, kind: Kind) -> int:
        column, by_rank = self.drafted[drafted]
        if by_rank:
            self.columns.ranked.add(column)
        columns = self.columns.integers if kind is Kind.INTEGER else self.columns.floats
        return columns.setdefault(column, len(columns))

    def read_value(self, step: Value, type_: ValueType) -> RunExpression:
        """The column at its row, or what takes its place where there is no such row."""
        there = self.read(step.column, type_, step.navigation)
        if step.missing is None:
            return there
        is_missing = operate(Basic.IS_NULL, self.read(TRUE_COLUMN, BOOLEAN, step.navigation))
        found = operate(Basic.NOT, is_missing)
        return operate(Basic.CHOOSE, found, there, self.read(step.missing, type_, None))

    def read(self, column: RowColumn, type_: ValueType, navigation: Navigation | None) -> ReadValue:
        self.drafted.append((column, is_ranked(type_)))
        return ReadValue(len(self.drafted) - 1, type_.kind, navigation)

    def unify(self, step: TypedOperation, left: Typed, right: Typed) -> tuple[Typed, Typed]:
        one, other = left.type, right.type
        if one.family in NUMBERS and other.family in NUMBERS:
            return self.numbers(step, left, right)
        if one.family is Family.STRING and other.family in NUMBERS:
            return self.numbers(step, self.as_compared(step, left, other), right)
        if other.family is Family.STRING and one.family in NUMBERS:
            return self.numbers(step, left, self.as_compared(step, right, one))
        if one == VOID:
            return null(other), right
        if other == VOID:
            return left, null(one)
        if are_other_times(one, other):
            return self.times(step, left, right)
        if one.family is not other.family or one.family is Family.OTHER:
            raise cannot_combine(step.operator, one.name, other.name, step.span)
        is_compared = step.operator in COMPARISONS and unnamed(one) == unnamed(other)
        if one.family in NESTED and one != other and not is_compared:
            common = common_nested(one, other, self.ansi)
            if common is None:
                raise cannot_combine(step.operator, one.name, other.name, step.span)
            return self.as_type(step, left, common), self.as_type(step, right, common)
        return left, right

    def as_compared(self, step: TypedOperation, text: Typed, number: ValueType) -> Typed:
        """A text as the number that Spark makes of it where it is compared with a number.

        Source: Spark's AnsiTypeCoercion, findWiderTypeForString; TypeCoercion,
        findCommonTypeForBinaryComparison.
        """
        if step.operator not in COMPARISONS:
            raise cannot_combine(step.operator, text.type.name, number.name, step.span)
        is_whole = number.family is Family.INTEGER
        in_ansi = "BIGINT" if is_whole else "DOUBLE"
        lenient = "DOUBLE" if number.family is Family.DECIMAL else number.name.upper()
        words = (in_ansi if self.ansi else lenient,)
        return self.type_operation(TypedOperation("CAST", (text,), step.span, words))

    def as_type(self, step: TypedOperation, part: Typed, type_: ValueType) -> Typed:
        """A value as another type: Spark casts a column; integers are the same in any width."""
        if part.type == type_:
            return part
        if part.type == VOID:
            return null(type_)
        if part.value is not None:
            return self.cast_column(part, type_)
        if holds_the_same(part.type, type_):
            return Typed(part.expression, type_)
        if part.type.family in NUMBERS and type_.family in NUMBERS:
            return self.as_number(step, part, type_)
        one, other = (operand.type.name for operand in step.operands[-2:])
        raise cannot_combine(step.operator, one, other, step.span)

    def numbers(self, step: TypedOperation, left: Typed, right: Typed) -> tuple[Typed, Typed]:
        """Two numbers as one type.

        Decimals too wide for an int64 are cast by Spark, and ranked, where both are columns; where
        the engine computed one of them, it fits an int64 or is an error.
        """
        common = common_type(left.type, right.type, self.ansi)
        if common is None:
            raise cannot_combine(step.operator, left.type.name, right.type.name, step.span)
        if is_wide_decimal(common) and are_columns(left, right):
            return self.cast_column(left, common), self.cast_column(right, common)
        return self.as_number(step, left, common), self.as_number(step, right, common)

    def times(self, step: TypedOperation, left: Typed, right: Typed) -> tuple[Typed, Typed]:
        """Two times of other families as one type, to which Spark casts a column.

        A date is its midnight. Source: Spark's TypeCoercion, findWiderDateTimeType.
        """
        one, other = left.type, right.type
        common = TIMESTAMP if TIMESTAMP in (one, other) else TIMESTAMP_NTZ
        if not are_columns(*(part for part in (left, right) if part.type != common)):
            raise cannot_combine(step.operator, one.name, other.name, step.span)
        return self.cast_column(left, common), self.cast_column(right, common)

    def as_number(self, step: TypedOperation, part: Typed, type_: ValueType) -> Typed:
        """A number as another type; Spark casts a decimal column to double, the engine the rest."""
        own = part.type
        to_double = own.family is Family.DECIMAL and type_.family is Family.FLOATING
        if to_double and part.value is not None:
            return self.cast_column(part, type_)
        if is_wide_decimal(own) and own != type_:
            raise cannot_combine(step.operator, own.name, type_.name, step.span)
        return widen(part, type_)

    def cast_column(self, part: Typed, type_: ValueType) -> Typed:
        """A column as another type, cast by Spark before the match; what has the type as it is."""
        if part.type == type_:
            return part
        step = part.value
        assert step is not None
        constant = constant_of(step, type_) if type_.family in NUMBERS else None
        if constant is not None:
            return constant
        is_local = part.type.family is Family.TIMESTAMP and type_ == TIMESTAMP_NTZ

        def recast_column(column: RowColumn) -> RowColumn:
            if is_local and self.settings.casts_in_utc:  # an instant with the same time in UTC
                column = assembled(("from_utc_timestamp(", column, ", current_timezone())"))
            return cast(column, type_.name)

        missing = step.missing and recast_column(step.missing)
        recast = Value(recast_column(step.column), step.navigation, missing, step.span)
        return Typed(self.read_value(recast, type_), type_)


def are_other_times(one: ValueType, other: ValueType) -> bool:
    return one.family is not other.family and {one.family, other.family} <= TIMES


def holds_the_same(own: ValueType, type_: ValueType) -> bool:
    """Whether values of one type are the same to Python as values of another."""
    if own in (type_, VOID) or own.family is type_.family is Family.INTEGER:
        return True
    alike_in_form = own.family is type_.family and own.family in NESTED
    return alike_in_form and all(map(holds_the_same, own.parts, type_.parts))


def are_columns(*parts: Typed) -> bool:
    """Whether Spark may cast all of them."""
    return all(part.value is not None for part in parts)


def null(type_: ValueType) -> Typed:
    return Typed(Constant(None, type_.kind), type_)


# Columns that the engine computes instead of Spark.
#
# What may fail, where other rows tell whether it is asked, is computed then, not before the match:
#
#     A.ok AND CAST(B.s AS INT) > A.x    on a row whose `s` is no number, after an A that is not ok
#
# Spark computes a column for every row; it would fail there. Types tell what may fail at all, such
# as sums of integers, but not of doubles.


def type_formula(typer: Typer, step: Value) -> Typed | None:
    """The value of a formula of integers and doubles; None where it is Spark's to compute."""
    type_ = typer.types[step.column]
    if step.formula is None or not is_plain(type_):
        return None
    for value in values_in(step.formula):
        own = typer.types[value.column]
        if not is_plain(own) and constant_of(value, own) is None:
            return None
    found = typer.type_step(step.formula)
    return found if found.type == type_ else None


def is_plain(type_: ValueType) -> bool:
    """Whether the engine computes with values of a type as Spark does, and holds the results."""
    return type_ == DOUBLE or type_.family is Family.INTEGER


SUMS = frozenset({"+", "-", "*", "NEG", "NEGATIVE", "ABS"})
QUOTIENTS = frozenset({"/", "%", "DIV", "MOD"})


def type_deferred(typer: Typer, step: Value) -> Typed | None:
    """The value as the engine computes it; None where it cannot fail, or is Spark's alone."""
    if step.deferred is None or not typer.ansi:
        return None
    try:
        found = typer.type_step(step.deferred)
    except MatchRecognizeUnsupportedError:
        return None
    return found if found.fails else None


def may_fail(step: TypedOperation, type_: ValueType) -> bool:
    """Whether an operation of a type may have no result; its operands are not looked at."""
    if step.operator in SUMS:
        return overflows(type_)
    if step.operator in QUOTIENTS:
        divisor = step.operands[1]
        written = divisor.expression if divisor.value is not None else None
        is_nonzero = isinstance(written, Constant) and written.value != 0
        return overflows(type_) or not is_nonzero
    if step.operator == "CAST" or step.operator in CONVERSIONS:
        return cast_may_fail(step.operands[0].type, type_)
    if step.operator in BASIC:  # without the table of functions, which loads all of them
        return False
    function = functions().get(step.operator)
    return function is not None and function.fails


def overflows(type_: ValueType) -> bool:
    """Whether sums of a type may have too many digits for it; those of times hardly have."""
    wide = type_.family is Family.DECIMAL and type_.precision == MOST_DIGITS
    return wide or type_.family is Family.INTEGER


def cast_may_fail(own: ValueType, target: ValueType) -> bool:
    if own == target or target.family in (Family.STRING, Family.BINARY):
        return False
    if own.family in NUMBERS and target.family in NUMBERS:
        is_wider = own.family is target.family is Family.INTEGER and own.bits <= target.bits
        return not (is_wider or target.family is Family.FLOATING)
    return not {own.family, target.family} <= TIMES
