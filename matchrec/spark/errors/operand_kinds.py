"""Find operands of incompatible types by the form of an expression, without asking the engine.

Sail compares a date with a number, and takes a number as the condition of IF, without an error.
Spark's analysis rejects both. So these operations are rejected before a query runs:

    size > day                number and date
    day IN (1, 2)             date and numbers
    IF(price, 1, 2)           a number that is used as a condition

A string that is compared with a number, and does not look like a number, is rejected on each
engine, because no row can be compared with it: `price > 'abc'`.

The kind of an operand's type (number, date, ...) is known if the operand is a column, a literal, or
an operation or an aggregate of these. Other operands are not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql.types import DataType

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql.type_kinds import LENGTHS_OF_TIME, TIMES, TypeKind, classify_type
from matchrec.errors.sql.wrong_types import incompatible_types, unreadable_literal
from matchrec.plan.expression import (
    COMPARED_CHOICES,
    Aggregate,
    Classifier,
    ColumnReference,
    MatchFunction,
    MatchValue,
    Operation,
    Scalar,
    Term,
    list_inputs,
    render,
    split_branches,
    walk_scalar,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operators import (
    OPERATORS,
    Coercion,
    OperatorKind,
    find_coercing_operators,
    find_operator_names,
)
from matchrec.spark.errors.refused_operations import type_operand
from matchrec.spark.errors.row_expressions import list_scalars
from matchrec.spark.relation import Relation

# Kinds of types that are never converted to a date or a time.
NEVER_CONVERTED_TO_TIMES = LENGTHS_OF_TIME | {TypeKind.NUMBER, TypeKind.BOOLEAN}

# Operators whose operands are compared with each other.
COMPARING_OPERATORS = find_coercing_operators(Coercion.COMPARED) | {
    *("NOT BETWEEN", "NOT IN", "NULLIF")
}
# Functions that return one of their arguments: COALESCE.
CHOOSING_FUNCTIONS = find_coercing_operators(Coercion.CHOSEN)
# Operators that return one of their results after a test: IF and CASE.
BRANCHING_OPERATORS = find_coercing_operators(Coercion.BRANCHES)

# Functions whose value is a date, a time or a number, whatever their arguments are.
DATE_FUNCTIONS = (
    *("TO_DATE", "DATE_ADD", "DATE_SUB", "LAST_DAY", "NEXT_DAY", "ADD_MONTHS", "MAKE_DATE"),
    *("CURRENT_DATE", "TRUNC", "DATE_FROM_UNIX_DATE"),
)
TIMESTAMP_FUNCTIONS = (
    *("DATE_TRUNC", "CURRENT_TIMESTAMP", "NOW", "TIMESTAMP_SECONDS"),
    *("TIMESTAMP_MILLIS", "TIMESTAMP_MICROS"),
)
NUMBER_FUNCTIONS = (
    *("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "QUARTER", "DAYOFWEEK", "LENGTH"),
    *("UNIX_DATE", "UNIX_TIMESTAMP", "DATEDIFF", "SIZE", "DIV"),
    *(find_operator_names(OperatorKind.MATHEMATICS) - {"ISNAN"}),
)
KINDS_OF_FUNCTIONS = {
    **dict.fromkeys(DATE_FUNCTIONS, TypeKind.DATE),
    **dict.fromkeys(TIMESTAMP_FUNCTIONS, TypeKind.TIMESTAMP),
    **dict.fromkeys(NUMBER_FUNCTIONS, TypeKind.NUMBER),
}
# Operators whose value is a number if all operands are numbers.
ARITHMETIC_OPERATORS = ("+", "-", "*", "/", "%", "NEG", "ABS")
# Functions of a date and a number of days or months.
DAYS_ADDED = frozenset(("DATE_ADD", "DATE_SUB", "ADD_MONTHS"))
# Aggregates whose value has the kind of their argument.
AGGREGATES_OF_ONE_KIND = frozenset(
    ("min", "max", "first", "last", "any_value", "first_value", "last_value")
)

# Literals, perhaps in parentheses: numbers, strings, and dates and times.
NUMBER_LITERAL = re.compile(r"[-+\s(]*(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?:bd|[dflsy])?[\s)]*", re.I)
STRING_LITERAL = re.compile(r"""\s*(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")\s*""")
TIME_LITERAL = re.compile(r"\s*(?P<type>DATE|TIMESTAMP|TIMESTAMP_NTZ)\s*'[^']*'\s*", re.I)
# Strings that are numbers without a digit.
NUMBERS_IN_LETTERS = frozenset(("nan", "inf", "infinity"))


@dataclass(frozen=True)
class OperandKinds:
    """Finds the kinds of the types of operands over an input."""

    # The input.
    relation: Relation

    def find(self, scalar: Scalar) -> TypeKind | None:
        """Return the kind of an expression's type; None if its form does not show it."""
        if isinstance(scalar, Operation):
            return self._find_kind_of_operation(scalar)
        if not scalar.references:
            return find_kind_of_literal(render(scalar, str))
        match scalar.pieces:
            case (ColumnReference(argument=argument, names=names),):
                type_ = self.find_column_type(argument, names)
                return None if type_ is None else classify_type(type_.simpleString())
            case (Classifier(),):
                return TypeKind.STRING
            case (MatchValue(function=MatchFunction.NUMBER | MatchFunction.ROW_NUMBER),):
                return TypeKind.NUMBER
            case (Aggregate(function="count" | "count_if"),):
                return TypeKind.NUMBER
            case (Aggregate(function, _, (argument,)),) if function in AGGREGATES_OF_ONE_KIND:
                return self.find(argument)
        return None

    def find_column_type(self, argument: str, names: tuple[str, ...]) -> DataType | None:
        """Return the type of a column; None if the SQL is not just a column.

        Args:
            argument: the SQL of a reference.
            names: its names, see `ColumnReference.names`.
        """
        field = self.relation.known_fields.get(argument)
        if field is not None:
            return field.dataType
        return self.column_types.get(names[0].lower()) if len(names) == 1 else None

    @cached_property
    def column_types(self) -> dict[str, DataType]:
        """Return the types of the columns of the input, by their names in lower case."""
        return {field.name.lower(): field.dataType for field in self.relation.rows.schema.fields}

    def _find_kind_of_operation(self, operation: Operation) -> TypeKind | None:
        """Return the kind of the value of an operation; None if its form does not show it."""
        operator = operation.operator
        operands = operation.operands
        entry = OPERATORS.get(operator)
        if entry is not None and entry.is_truth:
            return TypeKind.BOOLEAN
        if operator in ("CAST", "TRY_CAST"):
            return classify_type(operation.words[0]) if operation.words else None
        if operator in KINDS_OF_FUNCTIONS:
            return KINDS_OF_FUNCTIONS[operator]
        if operator in BRANCHING_OPERATORS:
            return self.find_common(split_branches(operation).results)
        if operator in CHOOSING_FUNCTIONS:
            return self.find_common(operands)
        kinds = [self.find(operand) for operand in operands]
        if operator in ARITHMETIC_OPERATORS and set(kinds) == {TypeKind.NUMBER}:
            return TypeKind.NUMBER
        if operator in ("+", "-") and len(kinds) == 2:
            left, right = kinds
            return find_kind_of_sum(operator, left, right)
        return None

    def find_common(self, operands: Iterable[Scalar]) -> TypeKind | None:
        """Return the common kind of all operands that are not NULL; None if kinds differ."""
        kinds = {self.find(operand) for operand in operands} - {TypeKind.NULL}
        return kinds.pop() if len(kinds) == 1 else None


def find_kind_of_sum(
    operator: str, left: TypeKind | None, right: TypeKind | None
) -> TypeKind | None:
    """Return the kind of a sum or a difference that begins with a time; None if it is not known.

    >>> find_kind_of_sum("-", TypeKind.DATE, TypeKind.DATE).name
    'INTERVAL'
    >>> find_kind_of_sum("+", TypeKind.DATE, TypeKind.NUMBER).name
    'DATE'
    """
    if left in TIMES and right in TIMES and operator == "-":
        return TypeKind.INTERVAL
    if left is TypeKind.DATE and right is TypeKind.NUMBER:
        return TypeKind.DATE
    if left in (TypeKind.TIMESTAMP, TypeKind.TIMESTAMP_NTZ) and right in LENGTHS_OF_TIME:
        return left
    return None


def find_kind_of_literal(text: str) -> TypeKind | None:
    """Return the kind of a literal; None for any other text.

    >>> literals = ("5", "'a'", "DATE'2026-01-31'", "NULL")
    >>> [find_kind_of_literal(text).name for text in literals]
    ['NUMBER', 'STRING', 'DATE', 'NULL']
    >>> find_kind_of_literal("f(x)")
    """
    word = text.strip("() \n").upper()
    if word in ("TRUE", "FALSE"):
        return TypeKind.BOOLEAN
    if word == "NULL":
        return TypeKind.NULL
    if NUMBER_LITERAL.fullmatch(text):
        return TypeKind.NUMBER
    time = TIME_LITERAL.fullmatch(text)
    if time is not None:
        return classify_type(time["type"])
    return TypeKind.STRING if STRING_LITERAL.fullmatch(text) else None


def list_operations(plan: MatchPlan) -> Iterator[tuple[str, Operation]]:
    """Yield all operations of conditions and measures with their clauses, innermost first."""
    for clause, scalar in list_scalars(plan):
        scalars = [scalar]
        for reference in scalar.references:
            if isinstance(reference, Aggregate):
                scalars += list_inputs(reference)
        for part in reversed([node for inner in scalars for node in walk_scalar(inner)]):
            if isinstance(part, Operation):
                yield clause, part


def group_operands(operation: Operation) -> Iterator[tuple[Scalar, ...]]:
    """Yield the groups of operands that must have one type.

    For `CASE v WHEN a THEN x ELSE y END` the groups are `v, a` and `x, y`.
    """
    operator = operation.operator
    if operator in DAYS_ADDED:
        yield operation.operands[:1]
    elif operator in BRANCHING_OPERATORS:
        branches = split_branches(operation)
        if operator in COMPARED_CHOICES:
            yield branches.tests
        yield branches.results
    elif operator in COMPARING_OPERATORS | CHOOSING_FUNCTIONS or operator == "DATEDIFF":
        yield operation.operands


def list_conditions(operation: Operation) -> Sequence[Scalar]:
    """Return the operands of IF and CASE that must be conditions."""
    return split_branches(operation).tests if operation.operator in ("IF", "CASE") else ()


def find_incompatible_operands(
    plan: MatchPlan, relation: Relation
) -> Iterator[MatchRecognizeError]:
    """Yield the errors of operations that Spark rejects because of the types of operands."""
    kinds = OperandKinds(relation)
    not_boolean = (TIMES | NEVER_CONVERTED_TO_TIMES) - {TypeKind.BOOLEAN}
    for clause, operation in list_operations(plan):
        for condition in list_conditions(operation):
            if kinds.find(condition) in not_boolean:
                yield make_error(operation, (condition,), clause, kinds)
        for operands in group_operands(operation):
            if are_incompatible(operation, {kinds.find(operand) for operand in operands}):
                has_other_operands = operation.operator in DAYS_ADDED
                shown_operands = operation.operands if has_other_operands else operands
                yield make_error(operation, shown_operands, clause, kinds)


def are_incompatible(operation: Operation, kinds: Set[TypeKind | None]) -> bool:
    """Return whether Spark rejects an operation because of the kinds of its operands.

    Args:
        operation: the operation.
        kinds: the kinds of the operands that must have one type, with None for an unknown kind.
    """
    if operation.operator in ("DATEDIFF", *DAYS_ADDED):
        return bool(kinds & NEVER_CONVERTED_TO_TIMES)
    has_length_and_number = TypeKind.NUMBER in kinds and bool(kinds & LENGTHS_OF_TIME)
    has_time_and_other = bool(kinds & TIMES) and bool(kinds & NEVER_CONVERTED_TO_TIMES)
    return has_length_and_number or has_time_and_other


def make_error(
    operation: Operation, operands: Sequence[Scalar], clause: str, kinds: OperandKinds
) -> MatchRecognizeError:
    """Return the error of an operation whose operands have incompatible types.

    The error shows the difference of two dates as an interval, even if the engine says that it is a
    number.
    """
    typed_operands = []
    for operand in operands:
        typed = type_operand(operand, kinds.relation)
        if typed is None:
            continue
        if kinds.find(operand) is TypeKind.INTERVAL and typed.kind is TypeKind.NUMBER:
            typed = typed._replace(type_name="interval day")
        typed_operands.append(typed)
    return incompatible_types(operation.operator, typed_operands, operation.span, clause=clause)


def find_unreadable_literals(plan: MatchPlan, relation: Relation) -> Iterator[MatchRecognizeError]:
    """Yield the errors of strings that are used as numbers or times and look like neither.

    In ANSI mode a comparison with such a string fails on each row. Without ANSI mode the comparison
    is NULL, so there are no errors.
    """
    kinds = OperandKinds(relation)
    for clause, operation in list_operations(plan):
        error = find_unreadable_literal(operation, clause, kinds)
        if error is None and has_unreadable_days(operation):
            error = make_error(operation, operation.operands, clause, kinds)
        # Most plans have no such string, and then the session is not asked for its settings.
        if error is not None and relation.runner.settings["spark.sql.ansi.enabled"] == "true":
            yield error


def find_unreadable_literal(
    operation: Operation, clause: str, kinds: OperandKinds
) -> MatchRecognizeError | None:
    """Return the error of a string in a comparison that cannot be converted.

    Returns None if all strings may be converted, or if nothing shows that they must be.
    """
    if operation.operator not in COMPARING_OPERATORS:
        return None
    compared_operand = find_number_or_time(operation.operands, kinds)
    if compared_operand is None:
        return None
    is_number = kinds.find(compared_operand) is TypeKind.NUMBER
    for operand in operation.operands:
        string = read_string_literal(operand)
        if string is None or may_be_number_or_time(string[1:-1], is_number=is_number):
            continue
        value = type_operand(compared_operand, kinds.relation)
        if value is not None:
            columns = kinds.relation.rows.columns
            return unreadable_literal(
                string, operand.span, clause=clause, value=value, columns=columns
            )
    return None


def has_unreadable_days(operation: Operation) -> bool:
    """Return whether an operation adds a string that is not a number to a date."""
    if operation.operator not in DAYS_ADDED or len(operation.operands) != 2:
        return False
    string = read_string_literal(operation.operands[1])
    return string is not None and not may_be_number_or_time(string[1:-1], is_number=True)


def find_number_or_time(operands: Iterable[Scalar], kinds: OperandKinds) -> Scalar | None:
    """Return the first operand that is a number or a time; None if no operand is.

    Strings that are compared with this operand are converted to its type.
    """
    for operand in operands:
        kind = kinds.find(operand)
        if kind is TypeKind.NUMBER or kind in TIMES:
            return operand
    return None


def read_string_literal(scalar: Scalar) -> str | None:
    """Return a string with its quotes; None for any other expression."""
    if scalar.references or not isinstance(scalar, Term):
        return None
    literal = STRING_LITERAL.fullmatch(render(scalar, str))
    return None if literal is None else literal["quoted"]


def may_be_number_or_time(text: str, *, is_number: bool) -> bool:
    """Return whether a string looks as if it could be converted to a number, or to a time.

    Args:
        text: the string.
        is_number: whether it must be a number; otherwise it must be a time.

    >>> may_be_number_or_time("nan", is_number=True), may_be_number_or_time("abc", is_number=True)
    (True, False)
    >>> may_be_number_or_time("2026-01", is_number=False)
    True
    """
    if is_number and text.strip().lower().lstrip("+-") in NUMBERS_IN_LETTERS:
        return True
    return any(letter.isdigit() for letter in text)
