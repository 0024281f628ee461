"""Find operands of incompatible types by the form of an expression, without asking the engine.

Sail compares a date with a number, and takes a number as the condition of IF, without an error.
Spark's analysis rejects both. So on Sail, these operations are rejected before a query runs:

    size > day                number and date
    day IN (1, 2)             date and numbers
    IF(price, 1, 2)           a number that is used as a condition

On every engine, a string that is compared with a number is rejected if it does not look like a
number, because the comparison fails on every row: `price > 'abc'`.

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
from matchrec.errors.sql.refused_parts import find_time_fault
from matchrec.errors.sql.type_kinds import LENGTHS_OF_TIME, TIMES, TypeKind, classify_type
from matchrec.errors.sql.written_times import read_times
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
# Operators that choose one of their results by a test: IF and CASE.
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
# Functions that add a number of days or months to a date.
DATE_ADDITIONS = frozenset(("DATE_ADD", "DATE_SUB", "ADD_MONTHS"))
# Aggregates whose value has the kind of their argument.
AGGREGATES_OF_SAME_KIND = frozenset(
    ("min", "max", "first", "last", "any_value", "first_value", "last_value")
)

# Literals, perhaps in parentheses: numbers, strings, and dates and times.
NUMBER_LITERAL = re.compile(r"[-+\s(]*(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?:bd|[dflsy])?[\s)]*", re.I)
STRING_LITERAL = re.compile(r"""\s*(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")\s*""")
TIME_LITERAL = re.compile(r"\s*(?P<type>DATE|TIMESTAMP|TIMESTAMP_NTZ)\s*'[^']*'\s*", re.I)
# Strings that are numbers without a digit.
NUMBERS_IN_LETTERS = frozenset(("nan", "inf", "infinity"))


@dataclass(frozen=True)
class KindFinder:
    """Finds the kinds of types that operands have over an input."""

    # The input.
    relation: Relation

    def find(self, scalar: Scalar) -> TypeKind | None:
        """Return the kind of an expression's type; None if its form does not show it."""
        if isinstance(scalar, Operation):
            return self._find_of_operation(scalar)
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
            case (Aggregate(function, _, (argument,)),) if function in AGGREGATES_OF_SAME_KIND:
                return self.find(argument)
        return None

    def find_column_type(self, argument: str, names: tuple[str, ...]) -> DataType | None:
        """Return the type of a reference's column; None if it is not just a column of the input.

        Args:
            argument: the SQL of the reference.
            names: its names, see `ColumnReference.names`.
        """
        field = self.relation.known_fields.get(argument)
        if field is not None:
            return field.dataType
        if len(names) != 1:
            return None
        return self.column_types.get(names[0].lower())

    @cached_property
    def column_types(self) -> dict[str, DataType]:
        """Return the types of the columns of the input, by their names in lower case."""
        return {field.name.lower(): field.dataType for field in self.relation.rows.schema.fields}

    def _find_of_operation(self, operation: Operation) -> TypeKind | None:
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
        """Return the common kind of all operands that are not NULL; None if their kinds differ."""
        kinds = {self.find(operand) for operand in operands} - {TypeKind.NULL}
        return kinds.pop() if len(kinds) == 1 else None


def find_kind_of_sum(
    operator: str, left: TypeKind | None, right: TypeKind | None
) -> TypeKind | None:
    """Return the kind of a sum or a difference that begins with a time; None if it is not known.

    Args:
        operator: "+" or "-".
        left: the kind of the first operand.
        right: the kind of the second operand.

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
    """Yield all operations of conditions and measures, innermost first, each with its clause.

    The operations in arguments of aggregates come first.
    """
    for clause, scalar in list_scalars(plan):
        scalars = [scalar]
        for reference in scalar.references:
            if isinstance(reference, Aggregate):
                scalars += list_inputs(reference)
        parts = [part for inner in scalars for part in walk_scalar(inner)]
        for part in reversed(parts):
            if isinstance(part, Operation):
                yield clause, part


def group_operands(operation: Operation) -> Iterator[tuple[Scalar, ...]]:
    """Yield the groups of operands that must have one type.

    For `CASE v WHEN a THEN x ELSE y END` the groups are `v, a` and `x, y`.
    """
    operator = operation.operator
    if operator in DATE_ADDITIONS:
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
    kind_finder = KindFinder(relation)
    not_boolean = (TIMES | NEVER_CONVERTED_TO_TIMES) - {TypeKind.BOOLEAN}
    for clause, operation in list_operations(plan):
        for condition in list_conditions(operation):
            if kind_finder.find(condition) in not_boolean:
                yield make_error(operation, (condition,), clause, kind_finder)
        for operands in group_operands(operation):
            kinds = {kind_finder.find(operand) for operand in operands}
            if are_incompatible(operation, kinds):
                # The group of a date addition is only the date. The error also shows the number.
                is_addition = operation.operator in DATE_ADDITIONS
                shown_operands = operation.operands if is_addition else operands
                yield make_error(operation, shown_operands, clause, kind_finder)


def are_incompatible(operation: Operation, kinds: Set[TypeKind | None]) -> bool:
    """Return whether Spark rejects an operation because of the kinds of its operands.

    Args:
        operation: the operation.
        kinds: the kinds of the operands that must have one type, with None for an unknown kind.
    """
    if operation.operator in ("DATEDIFF", *DATE_ADDITIONS):
        return bool(kinds & NEVER_CONVERTED_TO_TIMES)
    has_length_and_number = TypeKind.NUMBER in kinds and bool(kinds & LENGTHS_OF_TIME)
    has_time_and_other = bool(kinds & TIMES) and bool(kinds & NEVER_CONVERTED_TO_TIMES)
    return has_length_and_number or has_time_and_other


def make_error(
    operation: Operation, operands: Sequence[Scalar], clause: str, kind_finder: KindFinder
) -> MatchRecognizeError:
    """Return the error of an operation whose operands have incompatible types.

    The error shows the difference of two dates as an interval, even if the engine says that it is a
    number.

    Args:
        operation: the operation.
        operands: the operands that the error shows.
        clause: the name of the clause of the operation.
        kind_finder: finds the kinds of the operands.
    """
    typed_operands = []
    for operand in operands:
        typed_operand = type_operand(operand, kind_finder.relation)
        if typed_operand is None:
            continue
        is_interval = kind_finder.find(operand) is TypeKind.INTERVAL
        if is_interval and typed_operand.kind is TypeKind.NUMBER:
            typed_operand = typed_operand._replace(type_name="interval day")
        typed_operands.append(typed_operand)
    return incompatible_types(operation.operator, typed_operands, operation.span, clause=clause)


def find_unreadable_literals(plan: MatchPlan, relation: Relation) -> Iterator[MatchRecognizeError]:
    """Yield the errors of strings that are used as numbers or times and look like neither.

    In ANSI mode a comparison with such a string fails on every row. Without ANSI mode the
    comparison is NULL, so there are no errors.
    """
    kind_finder = KindFinder(relation)
    for clause, operation in list_operations(plan):
        error = find_unreadable_literal(operation, clause, kind_finder)
        if error is None and has_unreadable_days(operation):
            error = make_error(operation, operation.operands, clause, kind_finder)
        # The setting is read last: most plans have no such string, so they need no request for it.
        if error is not None and relation.runner.settings["spark.sql.ansi.enabled"] == "true":
            yield error


def find_unreadable_literal(
    operation: Operation, clause: str, kind_finder: KindFinder
) -> MatchRecognizeError | None:
    """Return the error of a string in a comparison that cannot be converted.

    Returns None if no operand is a number or a time, so that no string is converted, or if all
    strings look as if they could be converted.

    Args:
        operation: the operation.
        clause: the name of its clause.
        kind_finder: finds the kinds of the operands.
    """
    if operation.operator not in COMPARING_OPERATORS:
        return None
    compared_operand = find_number_or_time(operation.operands, kind_finder)
    if compared_operand is None:
        return None
    is_number = kind_finder.find(compared_operand) is TypeKind.NUMBER
    for operand in operation.operands:
        literal = read_string_literal(operand)
        if literal is None or looks_like_number_or_time(literal[1:-1], is_number=is_number):
            continue
        value = type_operand(compared_operand, kind_finder.relation)
        if value is not None:
            columns = kind_finder.relation.rows.columns
            return unreadable_literal(
                literal, operand.span, clause=clause, value=value, columns=columns
            )
    return None


def has_unreadable_days(operation: Operation) -> bool:
    """Return whether an operation adds a string that is not a number to a date."""
    if operation.operator not in DATE_ADDITIONS or len(operation.operands) != 2:
        return False
    literal = read_string_literal(operation.operands[1])
    return literal is not None and not looks_like_number_or_time(literal[1:-1], is_number=True)


def find_number_or_time(operands: Iterable[Scalar], kind_finder: KindFinder) -> Scalar | None:
    """Return the first operand that is a number or a time; None if no operand is.

    Strings that are compared with this operand are converted to its type.
    """
    for operand in operands:
        kind = kind_finder.find(operand)
        if kind is TypeKind.NUMBER or kind in TIMES:
            return operand
    return None


def read_string_literal(scalar: Scalar) -> str | None:
    """Return a string literal with its quotes; None for any other expression."""
    if scalar.references or not isinstance(scalar, Term):
        return None
    literal = STRING_LITERAL.fullmatch(render(scalar, str))
    return None if literal is None else literal["quoted"]


def looks_like_number_or_time(text: str, *, is_number: bool) -> bool:
    """Return whether a string looks as if it could be converted to a number, or to a time.

    Args:
        text: the string, without its quotes.
        is_number: whether it must be a number; otherwise it must be a time.

    >>> [looks_like_number_or_time(text, is_number=True) for text in ("7", "nan", "abc")]
    [True, True, False]
    >>> [looks_like_number_or_time(text, is_number=False) for text in ("2026-01", "31.01.2026")]
    [True, False]
    """
    if is_number and text.strip().lower().lstrip("+-") in NUMBERS_IN_LETTERS:
        return True
    if not is_number:
        times = read_times(text)
        is_iso = any(time.letters.startswith("yyyy-MM-dd") for time in times)
        if (times and not is_iso) or find_time_fault(text):
            return False
    return any(letter.isdigit() for letter in text)
