"""Find operands of incompatible types by the form of an expression, before a query runs.

Sail compares a date with a number, and takes a number as the condition of IF, without an error.
Spark's analysis rejects both. So on Sail, `find_incompatible_operands` rejects these operations:

    size > day                number and date
    day IN (1, 2)             date and numbers
    IF(price, 1, 2)           a number that is used as a condition

On every engine, `find_unreadable_literals` rejects a string that is compared with a number and does
not look like a number, because the comparison fails on every row: `price > 'abc'`.

An operand is checked only if its form shows the kind of its type: see `operand_kinds`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql.refused_parts import find_time_fault
from matchrec.errors.sql.type_kinds import LENGTHS_OF_TIME, TIMES, TypeKind
from matchrec.errors.sql.written_times import read_times
from matchrec.errors.sql.wrong_types import (
    incompatible_types,
    unreadable_literal,
    unreadable_parameter,
)
from matchrec.plan.expression import COMPARED_CHOICES, Operation, Scalar, split_branches
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operators import Coercion, find_coercing_operators
from matchrec.spark.errors.operand_kinds import (
    BRANCHING_OPERATORS,
    CHOOSING_FUNCTIONS,
    KindFinder,
    list_operations,
    read_string_literal,
    read_string_parameter,
)
from matchrec.spark.errors.refused_operations import type_operand
from matchrec.spark.relation import Relation

# Kinds of types that are never converted to a date or a time.
NEVER_CONVERTED_TO_TIMES = LENGTHS_OF_TIME | {TypeKind.NUMBER, TypeKind.BOOLEAN}
# Operators whose operands are compared with each other.
COMPARING_OPERATORS = find_coercing_operators(Coercion.COMPARED) | {
    *("NOT BETWEEN", "NOT IN", "NULLIF")
}
# Strings that are numbers without a digit.
NUMBERS_IN_LETTERS = frozenset(("nan", "inf", "infinity"))
# A number as CAST reads it.
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?[df]?", re.IGNORECASE)
# Functions that add a number of days or months to a date.
DATE_ADDITIONS = frozenset(("DATE_ADD", "DATE_SUB", "ADD_MONTHS"))


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

    The string is a literal or the value of a parameter.

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
    relation = kind_finder.relation
    for operand in operation.operands:
        literal = read_string_literal(operand)
        parameter = read_string_parameter(operand, relation.runner.args)
        if literal is not None:
            text = literal[1:-1]
        elif parameter is not None:
            text = parameter.value
        else:
            continue
        if looks_like_number_or_time(text, is_number=is_number):
            continue
        value = type_operand(compared_operand, relation)
        if value is None:
            continue
        if literal is not None:
            columns = relation.rows.columns
            return unreadable_literal(
                literal, operand.span, clause=clause, value=value, columns=columns
            )
        if parameter is not None:
            return unreadable_parameter(
                operand.span, name=parameter.name, text=text, clause=clause, value=value
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


def looks_like_number_or_time(text: str, *, is_number: bool) -> bool:
    """Return whether a string looks as if it could be converted to a number, or to a time.

    Args:
        text: the string, without its quotes.
        is_number: whether it must be a number; otherwise it must be a time.

    >>> [looks_like_number_or_time(text, is_number=True) for text in ("7", "nan", "abc", "5 EUR")]
    [True, True, False, False]
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
    return NUMBER.fullmatch(text.strip()) is not None
