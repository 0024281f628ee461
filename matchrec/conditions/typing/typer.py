"""The base of the typer of steps: read columns, and bring two values to one type.

Types follow Spark. If Spark would convert a value in a way that the search cannot repeat, an error
says which CAST to write.

    day < LAST(A.ts)      read CAST(day AS timestamp) < read ts at LAST(A)
    i = LAST(A.price)     read i * 100 = read price at LAST(A)

In the first condition, Spark casts a column of dates before the match. In the second one, the
search converts an integer to a decimal with two digits after the point, which it holds as an
integer, too: as its digits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from matchrec.conditions.functions.function import DEFAULT_SETTINGS, FunctionUse, SessionSettings
from matchrec.conditions.residual import ColumnRead, Step, TypedOperation, TypedStep
from matchrec.conditions.row_column import RowColumn, assemble_column, cast_column
from matchrec.conditions.run_condition import (
    BasicOperator,
    ReadValue,
    RunExpression,
    build_operation,
)
from matchrec.conditions.types import (
    BOOLEAN,
    NESTED,
    NUMBERS,
    TIMES,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    Family,
    ValueType,
    find_common_nested_type,
    find_comparison_type,
    is_ranked,
    is_wide_decimal,
    remove_field_names,
)
from matchrec.conditions.typing.constants import find_constant, make_null
from matchrec.conditions.typing.numbers import widen
from matchrec.conditions.typing.run_columns import TRUE_COLUMN, DraftedColumn, RunColumns
from matchrec.errors import MatchRecognizeError
from matchrec.errors.conditions import not_boolean, types_cannot_be_combined
from matchrec.plan.expression import COMPARISONS, Navigation


@dataclass(frozen=True)
class Typer(ABC):
    """A typer of the steps of all conditions of one query.

    While a condition is typed, its expression reads `drafts`. Once the whole condition is typed, it
    reads `columns`: `run_columns` says why.

    This class has what all modules of the package need: it reads columns, and brings values to one
    type. `steps.StepTyper` adds how each step is typed.
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
    drafts: list[DraftedColumn] = field(default_factory=list)

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
        return self.index_columns(self.type_truth(self.type_step(step)))

    def type_truth(self, typed_step: TypedStep) -> RunExpression:
        """Return the expression of a truth value.

        Raises:
            MatchRecognizePlanError: the value is not boolean.
        """
        if typed_step.type.family is not Family.BOOLEAN and typed_step.type != VOID:
            raise not_boolean(typed_step.span, type_name=typed_step.type.name)
        return typed_step.expression

    def describe_call(self, types: Iterable[ValueType], words: tuple[str, ...] = ()) -> FunctionUse:
        """Return what is known of a call in this session before there are values.

        Args:
            types: the types of the arguments.
            words: the arguments that are not values, such as the type of CAST.
        """
        return FunctionUse(tuple(types), words, self.ansi, self.settings.time_zone)

    def index_columns(self, expression: RunExpression) -> RunExpression:
        """Return an expression over `drafts` as one over `columns`, to which it adds new ones."""
        return self.columns.index_columns(expression, self.drafts)

    def read_value(self, step: ColumnRead, type_: ValueType) -> RunExpression:
        """Return the expression that reads a column on its row.

        If there is no such row, it has the value of `step.column_without_row`.
        """
        value = self.read_column(step.column, type_, step.navigation)
        if step.column_without_row is None:
            return value
        true_on_row = self.read_column(TRUE_COLUMN, BOOLEAN, step.navigation)
        has_row = build_operation(
            BasicOperator.NOT, build_operation(BasicOperator.IS_NULL, true_on_row)
        )
        value_without_row = self.read_column(step.column_without_row, type_)
        return build_operation(BasicOperator.CHOOSE, has_row, value, value_without_row)

    def read_column(
        self, column: RowColumn, type_: ValueType, navigation: Navigation | None = None
    ) -> ReadValue:
        """Draft a column, and return the expression that reads it on one row.

        Args:
            column: the column.
            type_: its type.
            navigation: finds the row; None for the current row.
        """
        self.drafts.append(DraftedColumn(column, is_ranked(type_)))
        return ReadValue(len(self.drafts) - 1, type_.kind, navigation)

    def unify(
        self, step: TypedOperation, left: TypedStep, right: TypedStep
    ) -> tuple[TypedStep, TypedStep]:
        """Return two operands as values of one type, to which Spark would bring them.

            two numbers                  see `unify_numbers`
            a text and a number          two numbers, if the operation compares them
            NULL and another value       the type of the other value
            two times of different type  timestamps
            two nested values            see `unify_nested`
            two other values             unchanged, if they are of one family

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
            raise make_types_error(step, left_type, right_type)
        if left_type.family in NESTED and left_type != right_type:
            return self.unify_nested(step, left, right)
        return left, right

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
            raise make_types_error(step, left.type, right.type)
        if is_wide_decimal(common) and are_columns(left, right):
            return self.cast_column(left, common), self.cast_column(right, common)
        return self.convert_number(step, left, common), self.convert_number(step, right, common)

    def cast_compared_text(
        self, step: TypedOperation, text: TypedStep, number_type: ValueType
    ) -> TypedStep:
        """Return a text as the number that Spark makes of it to compare it with a number.

        Source: Spark's AnsiTypeCoercion, findWiderTypeForString; TypeCoercion,
        findCommonTypeForBinaryComparison.

        Args:
            step: the comparison.
            text: the text, one of the operands.
            number_type: the type of the other operand.

        Raises:
            MatchRecognizeUnsupportedError: the operation does not compare.
        """
        if step.operator not in COMPARISONS:
            raise make_types_error(step, text.type, number_type)
        if self.ansi:
            target = "BIGINT" if number_type.family is Family.INTEGER else "DOUBLE"
        elif number_type.family is Family.DECIMAL:
            target = "DOUBLE"
        else:
            target = number_type.name.upper()
        return self.type_operation(TypedOperation("CAST", (text,), step.span, (target,)))

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
            raise make_types_error(step, left.type, right.type)
        return self.cast_column(left, common), self.cast_column(right, common)

    def unify_nested(
        self, step: TypedOperation, left: TypedStep, right: TypedStep
    ) -> tuple[TypedStep, TypedStep]:
        """Return two arrays, structs or maps as values of one type.

        Raises:
            MatchRecognizeUnsupportedError: there is no such type, or the search cannot convert one
                of the values.
        """
        have_same_fields = remove_field_names(left.type) == remove_field_names(right.type)
        if step.operator in COMPARISONS and have_same_fields:
            return left, right  # the names of fields do not matter
        common = find_common_nested_type(left.type, right.type, ansi=self.ansi)
        if common is None:
            raise make_types_error(step, left.type, right.type)
        return self.convert(step, left, common), self.convert(step, right, common)

    def convert(self, step: TypedOperation, operand: TypedStep, type_: ValueType) -> TypedStep:
        """Return an operand as another type.

        Spark casts a column. The search converts any other number, and leaves a value as it is if
        both types hold it alike.

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
        left, right = step.operands[-2:]  # the first operand of IF is the condition
        raise make_types_error(step, left.type, right.type)

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
            raise make_types_error(step, operand.type, type_)
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
        # Such a session's CAST returns the time in UTC instead of the local time.
        must_shift = is_instant_to_local and self.settings.casts_in_utc

        def recast(column: RowColumn) -> RowColumn:
            """Return a column cast to the type."""
            return cast_column(shift_to_utc(column) if must_shift else column, type_.name)

        without_row = step.column_without_row
        recast_read = ColumnRead(
            column=recast(step.column),
            navigation=step.navigation,
            column_without_row=None if without_row is None else recast(without_row),
            span=step.span,
        )
        return TypedStep(self.read_value(recast_read, type_), type_)


def make_types_error(
    step: TypedOperation, left: ValueType, right: ValueType
) -> MatchRecognizeError:
    """Return the error for an operation on values of two types that it cannot combine."""
    return types_cannot_be_combined(step.operator, left.name, right.name, step.span)


def shift_to_utc(instant: RowColumn) -> RowColumn:
    """Return the instant at which clocks in UTC show the local time of the session's zone."""
    return assemble_column(("from_utc_timestamp(", instant, ", current_timezone())"))


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
