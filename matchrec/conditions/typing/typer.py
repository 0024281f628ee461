"""The base of the typer of steps: read columns, and bring two values to one type.

Types follow Spark. Two numbers of different types are brought to one type, see `numbers`; two other
values must have one type already. If Spark would convert a value in a way that the search cannot
repeat, an error says which CAST to write. A run condition that would become too large is rejected.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from typing_extensions import assert_never

from matchrec.conditions.functions.function import SessionSettings
from matchrec.conditions.residual import (
    ColumnRead,
    Step,
    TypedOperation,
    TypedStep,
    find_column_reads,
)
from matchrec.conditions.row_column import RowColumn, assemble, build_row_column, cast_column
from matchrec.conditions.run_condition import (
    Arithmetic,
    BasicOperator,
    Constant,
    ListItem,
    PythonAggregate,
    PythonCall,
    ReadValue,
    RunAggregate,
    RunExpression,
    RunOperation,
    build_operation,
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
    find_comparison_type,
    is_ranked,
    is_wide_decimal,
    number_fields,
)
from matchrec.conditions.typing.numbers import find_common_nested, widen
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.errors.conditions import not_boolean, types_cannot_be_combined
from matchrec.plan import operations
from matchrec.plan.expression import COMPARISONS, Navigation
from matchrec.plan.operations import find_operator_operations
from matchrec.plan.operators import OPERATORS, Failure, OperatorKind

DEFAULT_SETTINGS = SessionSettings()

# A constant column. The search reads it to find out whether a row exists: if not, it reads NULL.
TRUE_COLUMN = build_row_column("TRUE")


def find_constant(step: ColumnRead, type_: ValueType) -> TypedStep | None:
    """Return a column as a constant, if it is a number or an interval that the user wrote.

    None if the column is anything else, or if the type does not hold the value exactly.

    Args:
        step: the read of the column.
        type_: the type of the constant.
    """
    amount = step.column.amount
    if step.navigation is not None or amount is None:
        return None
    if amount.is_time is not (type_.family is Family.INTERVAL):
        return None
    if type_ == DOUBLE:
        return TypedStep(Constant(float(amount.value), Kind.FLOATING), DOUBLE)
    if type_.family is Family.DECIMAL and not is_wide_decimal(type_):
        integer = amount.value * 10**type_.scale
        limit = 10**type_.precision
    elif type_.family in (Family.INTEGER, Family.INTERVAL):
        integer = amount.value
        limit = 2 ** (type_.bits - 1)
    else:
        return None
    is_exact = integer.denominator == 1
    if not is_exact or abs(integer) >= limit:
        return None
    return TypedStep(Constant(integer.numerator, Kind.INTEGER), type_)


@dataclass(slots=True)
class RunColumns:
    """The columns that run conditions read, in the order in which the search holds them."""

    # The index of each column that the search holds as integers.
    integers: dict[RowColumn, int] = field(default_factory=dict)
    # The index of each column that the search holds as floats, counted from 0 again.
    floats: dict[RowColumn, int] = field(default_factory=dict)
    # The integer columns that hold ranks: each value is replaced by its rank among the values of
    # all these columns.
    ranked: set[RowColumn] = field(default_factory=set)


class DraftedColumn(NamedTuple):
    """A column that a typed step reads."""

    column: RowColumn
    # Whether the search has ranks instead of the column's values.
    by_rank: bool


@dataclass(frozen=True)
class Typer(ABC):
    """A typer of the steps of all conditions of one query.

    While a condition is typed, its expression reads `drafted` columns. If Spark then casts one of
    them to another type, the expression reads a new column instead. Once the whole condition is
    typed, `place_columns` replaces the drafted columns that remain with the `columns` of the
    search.
    """

    # The type of every column that the steps read.
    types: Mapping[RowColumn, ValueType]
    # Whether the session is in ANSI mode.
    ansi: bool
    # The other settings of the session.
    settings: SessionSettings = DEFAULT_SETTINGS
    # The columns that the typed conditions read.
    columns: RunColumns = field(default_factory=RunColumns)
    # The columns that typed steps read, one for each read.
    drafted: list[DraftedColumn] = field(default_factory=list)

    @abstractmethod
    def type_step(self, step: Step) -> TypedStep:
        """Return a step of any sort with its type.

        Raises:
            MatchRecognizePlanError: a value that must be a truth value is not boolean.
            MatchRecognizeUnsupportedError: an operation is too large or too deep, or its types do
                not allow it.
        """

    @abstractmethod
    def type_operation(self, step: TypedOperation) -> TypedStep:
        """Return an operation with its type, and with its size and depth.

        Raises:
            MatchRecognizePlanError: an operand that must be a truth value is not boolean.
            MatchRecognizeUnsupportedError: it is too large or too deep, or the types do not allow
                it.
        """

    def type_condition(self, step: Step) -> RunExpression:
        """Return the expression of a whole condition, over the columns that the search reads.

        Raises:
            MatchRecognizePlanError: the condition is not boolean.
            MatchRecognizeUnsupportedError: the types do not allow an operation.
        """
        return self.place_columns(self.type_truth(self.type_step(step)))

    def type_truth(self, typed: TypedStep) -> RunExpression:
        """Return the expression of a truth value.

        Raises:
            MatchRecognizePlanError: the value is not boolean.
        """
        if typed.type.family is not Family.BOOLEAN and typed.type != VOID:
            raise not_boolean(typed.span, type_name=typed.type.name)
        return typed.expression

    def place_columns(self, expression: RunExpression) -> RunExpression:
        """Return an expression over drafted columns as one over the columns of the search."""
        match expression:
            case ReadValue(column=int(column)) | RunAggregate(column=int(column)):
                return replace(expression, column=self.number_column(column, expression.kind))
            case PythonAggregate():
                items_by_variable = map(self.place_listed_columns, expression.items_by_variable)
                return replace(expression, items_by_variable=tuple(items_by_variable))
            case (
                RunOperation(operands=operands)
                | Arithmetic(operands=operands)
                | PythonCall(operands=operands)
            ):
                return replace(expression, operands=tuple(map(self.place_columns, operands)))
            case _:
                return expression

    def place_listed_columns(self, items: Iterable[ListItem]) -> tuple[ListItem, ...]:
        """Return the values that an aggregate keeps of a row, over the columns of the search."""
        return tuple(
            replace(item, expression=self.place_columns(item.expression)) for item in items
        )

    def number_column(self, drafted: int, kind: Kind) -> int:
        """Return the index of a drafted column in `columns`, to which it is added on first use."""
        column, by_rank = self.drafted[drafted]
        if by_rank:
            self.columns.ranked.add(column)
        columns = self.columns.integers if kind is Kind.INTEGER else self.columns.floats
        return columns.setdefault(column, len(columns))

    def read_value(self, step: ColumnRead, type_: ValueType) -> RunExpression:
        """Return the expression that reads a column on its row.

        If there is no such row, it has the value of `step.missing`.
        """
        value = self.read_column(step.column, type_, step.navigation)
        if step.missing is None:
            return value
        true_on_row = self.read_column(TRUE_COLUMN, BOOLEAN, step.navigation)
        has_row = build_operation(
            BasicOperator.NOT, build_operation(BasicOperator.IS_NULL, true_on_row)
        )
        missing = self.read_column(step.missing, type_)
        return build_operation(BasicOperator.CHOOSE, has_row, value, missing)

    def read_column(
        self, column: RowColumn, type_: ValueType, navigation: Navigation | None = None
    ) -> ReadValue:
        """Draft a column, and return the expression that reads it on one row.

        Args:
            column: the column.
            type_: its type.
            navigation: finds the row; None for the current row.
        """
        self.drafted.append(DraftedColumn(column, is_ranked(type_)))
        return ReadValue(len(self.drafted) - 1, type_.kind, navigation)

    def unify(
        self, step: TypedOperation, left: TypedStep, right: TypedStep
    ) -> tuple[TypedStep, TypedStep]:
        """Return two operands as values of one type, to which Spark would bring them.

        Raises:
            MatchRecognizeUnsupportedError: there is no such type, or the search cannot repeat what
                Spark does.
        """
        left_type = left.type
        right_type = right.type
        if left_type.family in NUMBERS and right_type.family in NUMBERS:
            return self.unify_numbers(step, left, right)
        if left_type.family is Family.STRING and right_type.family in NUMBERS:
            return self.unify_numbers(step, self.cast_compared_text(step, left, right_type), right)
        if right_type.family is Family.STRING and left_type.family in NUMBERS:
            return self.unify_numbers(step, left, self.cast_compared_text(step, right, left_type))
        if left_type == VOID:
            return make_null(right_type), right
        if right_type == VOID:
            return left, make_null(left_type)
        if are_different_times(left_type, right_type):
            return self.unify_times(step, left, right)
        if left_type.family is not right_type.family or left_type.family is Family.OTHER:
            raise types_cannot_be_combined(
                step.operator, left_type.name, right_type.name, step.span
            )
        if left_type.family not in NESTED or left_type == right_type:
            return left, right
        if step.operator in COMPARISONS and number_fields(left_type) == number_fields(right_type):
            return left, right  # the names of fields do not matter
        common = find_common_nested(left_type, right_type, ansi=self.ansi)
        if common is None:
            raise types_cannot_be_combined(
                step.operator, left_type.name, right_type.name, step.span
            )
        return self.convert(step, left, common), self.convert(step, right, common)

    def cast_compared_text(
        self, step: TypedOperation, text: TypedStep, number: ValueType
    ) -> TypedStep:
        """Return a text as the number that Spark makes of it to compare it with a number.

        Args:
            step: the comparison.
            text: the text, one of the operands.
            number: the type of the other operand.

        Source: Spark's AnsiTypeCoercion, findWiderTypeForString; TypeCoercion,
        findCommonTypeForBinaryComparison.

        Raises:
            MatchRecognizeUnsupportedError: the operation does not compare.
        """
        if step.operator not in COMPARISONS:
            raise types_cannot_be_combined(step.operator, text.type.name, number.name, step.span)
        if self.ansi:
            target = "BIGINT" if number.family is Family.INTEGER else "DOUBLE"
        else:
            target = "DOUBLE" if number.family is Family.DECIMAL else number.name.upper()
        return self.type_operation(TypedOperation("CAST", (text,), step.span, (target,)))

    def convert(self, step: TypedOperation, operand: TypedStep, type_: ValueType) -> TypedStep:
        """Return an operand as another type. Spark casts a column.

        Raises:
            MatchRecognizeUnsupportedError: the search cannot convert the value.
        """
        if operand.type == type_:
            return operand
        if operand.type == VOID:
            return make_null(type_)
        if operand.column_read is not None:
            return self.cast_column(operand, type_)
        if has_same_values(operand.type, type_):
            return TypedStep(operand.expression, type_)
        if operand.type.family in NUMBERS and type_.family in NUMBERS:
            return self.convert_number(step, operand, type_)
        left, right = step.operands[-2:]
        raise types_cannot_be_combined(step.operator, left.type.name, right.type.name, step.span)

    def unify_numbers(
        self, step: TypedOperation, left: TypedStep, right: TypedStep
    ) -> tuple[TypedStep, TypedStep]:
        """Return two numbers as values of one type.

        If both are columns, Spark casts them to decimals too wide for an int64, and the search has
        their ranks. If the search computed one of them, it fits an int64 or is an error.

        Raises:
            MatchRecognizeUnsupportedError: there is no such type, or the search cannot convert one
                of the numbers.
        """
        common = find_comparison_type(left.type, right.type, ansi=self.ansi)
        if common is None:
            raise types_cannot_be_combined(
                step.operator, left.type.name, right.type.name, step.span
            )
        if is_wide_decimal(common) and are_columns(left, right):
            return self.cast_column(left, common), self.cast_column(right, common)
        return self.convert_number(step, left, common), self.convert_number(step, right, common)

    def unify_times(
        self, step: TypedOperation, left: TypedStep, right: TypedStep
    ) -> tuple[TypedStep, TypedStep]:
        """Return two times of different types as one type, to which Spark casts a column.

        A date becomes its midnight. Source: Spark's TypeCoercion, findWiderDateTimeType.

        Raises:
            MatchRecognizeUnsupportedError: a value that must be cast is not a column.
        """
        has_timestamp = TIMESTAMP in (left.type, right.type)
        common = TIMESTAMP if has_timestamp else TIMESTAMP_NTZ
        if not all(operand.type == common or are_columns(operand) for operand in (left, right)):
            raise types_cannot_be_combined(
                step.operator, left.type.name, right.type.name, step.span
            )
        return self.cast_column(left, common), self.cast_column(right, common)

    def convert_number(
        self, step: TypedOperation, operand: TypedStep, type_: ValueType
    ) -> TypedStep:
        """Return a number as another type of numbers.

        Spark casts a column of decimals to double, the search converts anything else.

        Raises:
            MatchRecognizeUnsupportedError: the number is a decimal too wide for an int64.
        """
        is_decimal = operand.type.family is Family.DECIMAL
        if is_decimal and type_.family is Family.FLOATING and operand.column_read is not None:
            return self.cast_column(operand, type_)
        if is_wide_decimal(operand.type) and operand.type != type_:
            raise types_cannot_be_combined(step.operator, operand.type.name, type_.name, step.span)
        return widen(operand, type_)

    def cast_column(self, operand: TypedStep, type_: ValueType) -> TypedStep:
        """Return a column as another type. Spark casts it before the match.

        A value that has the type already is returned as it is. It need not be a column.
        """
        if operand.type == type_:
            return operand
        step = operand.column_read
        assert step is not None
        constant = find_constant(step, type_) if type_.family in NUMBERS else None
        if constant is not None:
            return constant
        is_instant_to_local = operand.type.family is Family.TIMESTAMP and type_ == TIMESTAMP_NTZ
        must_shift = is_instant_to_local and self.settings.casts_in_utc

        def recast(column: RowColumn) -> RowColumn:
            """Return a column cast to the type, shifted to UTC before if it must be."""
            return cast_column(shift_to_utc(column) if must_shift else column, type_.name)

        missing = None if step.missing is None else recast(step.missing)
        cast_step = ColumnRead(recast(step.column), step.navigation, missing, step.span)
        return TypedStep(self.read_value(cast_step, type_), type_)


def shift_to_utc(instant: RowColumn) -> RowColumn:
    """Return the instant at which clocks in UTC show the local time of the session's zone."""
    return assemble(("from_utc_timestamp(", instant, ", current_timezone())"))


def are_different_times(left: ValueType, right: ValueType) -> bool:
    """Return whether both types are dates or timestamps, but of different families."""
    return left.family is not right.family and {left.family, right.family} <= TIMES


def has_same_values(source: ValueType, target: ValueType) -> bool:
    """Return whether Python holds all values of one type as it holds them in another type.

    So they need no cast. Python has integers of any width.
    """
    if source in (target, VOID) or source.family is target.family is Family.INTEGER:
        return True
    if source.family is not target.family or source.family not in NESTED:
        return False
    return all(map(has_same_values, source.parts, target.parts))


def are_columns(*operands: TypedStep) -> bool:
    """Return whether all operands are columns, which Spark can cast."""
    return all(operand.column_read is not None for operand in operands)


def make_null(type_: ValueType) -> TypedStep:
    """Return NULL as a value of a type."""
    return TypedStep(Constant(None, type_.kind), type_)


# Columns that the search computes instead of Spark.
#
# Spark computes a column for every row before the match. If an expression can fail, and guards over
# other rows decide whether it is evaluated, the search computes it during the match:
#
#     A.ok AND CAST(B.s AS INT) > A.x    a row whose `s` is not a number must not fail after an A
#                                        that is not ok
#
# Only types tell whether an expression can fail at all: sums of integers can, sums of doubles
# cannot.


def type_formula(typer: Typer, step: ColumnRead) -> TypedStep | None:
    """Return the value of a formula of integers and doubles, which the search computes.

    None if the step has no formula, or if only Spark can compute it.
    """
    type_ = typer.types[step.column]
    if step.formula is None or not is_plain(type_):
        return None
    for value in find_column_reads(step.formula):
        value_type = typer.types[value.column]
        if not is_plain(value_type) and find_constant(value, value_type) is None:
            return None
    typed = typer.type_step(step.formula)
    return typed if typed.type == type_ else None


def is_plain(type_: ValueType) -> bool:
    """Return whether the search holds all values of a type and computes with them as Spark does."""
    return type_ == DOUBLE or type_.family is Family.INTEGER


def type_deferred(typer: Typer, step: ColumnRead) -> TypedStep | None:
    """Return the value of a step as the search computes it during the match, if it can fail.

    None if it cannot fail, or if the search cannot compute it. Spark then computes the column.
    """
    if step.deferred is None or not typer.ansi:
        return None
    try:
        typed = typer.type_step(step.deferred)
    except MatchRecognizeUnsupportedError:
        return None
    return typed if typed.may_fail else None


def may_fail(step: TypedOperation, type_: ValueType) -> bool:
    """Return whether an operation itself can raise an error, its operands left aside.

    Args:
        step: the operation.
        type_: the type of its result.
    """
    entry = OPERATORS.get(step.operator)
    if entry is None:
        return operations.may_fail(find_operator_operations(step.operator))
    match entry.failure:
        case Failure.NEVER | Failure.OTHER_CALLS:
            return False
        case Failure.TOO_LARGE:
            # FLOOR and CEIL of a number that is too large return the nearest BIGINT.
            return entry.kind is not OperatorKind.MATHEMATICS and can_overflow(type_)
        case Failure.DIVISION:
            return can_overflow(type_) or not is_nonzero_constant(step.operands[1])
        case Failure.CAST:
            return cast_may_fail(step.operands[0].type, type_)
        case Failure.PATTERN | Failure.POSSIBLE:
            return True
        case _:
            assert_never(entry.failure)


def is_nonzero_constant(operand: TypedStep) -> bool:
    """Return whether an operand is a number that the user wrote, other than zero."""
    if operand.column_read is None or not isinstance(operand.expression, Constant):
        return False
    return operand.expression.value != 0


def can_overflow(type_: ValueType) -> bool:
    """Return whether the result of a sum or difference may be too large for its type.

    Dates and timestamps are left out, because they hardly ever are too large.
    """
    if type_.family is Family.DECIMAL:
        # A narrower type has one digit more than the operands.
        return type_.precision == MOST_DIGITS
    return type_.family is Family.INTEGER


def cast_may_fail(source: ValueType, target: ValueType) -> bool:
    """Return whether a value of one type may have no value of another type."""
    if source == target or target.family is Family.STRING:
        return False
    if source.family in NUMBERS and target.family in NUMBERS:
        are_integers = source.family is target.family is Family.INTEGER
        is_wider = are_integers and source.bits <= target.bits
        return not (is_wider or target.family is Family.FLOATING)
    return not {source.family, target.family} <= TIMES
