"""Warnings about conditions and windows that no row or match can satisfy, whatever the rows are.

    price > 10 AND price < 5          no number is both
    sym = 'X' AND sym = 'Y'           OR was meant
    price BETWEEN 100 AND 50          the lower bound comes first
    price NOT IN (1, NULL)            `price <> NULL` is NULL
    PATTERN (A B{9,}) WITHIN 3 ROWS   a match has at least ten rows

NULL makes no difference: a comparison with NULL is not true either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from matchrec.errors import condition_warnings, warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan.clauses import Definition
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    Operation,
    Reference,
    Scalar,
    TextPiece,
    find_amount,
    is_null,
    list_inputs,
    split_conjuncts,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operators import OPERATORS, OperatorKind
from matchrec.plan.row_counts import count_rows
from matchrec.plan.warning_rules.comparisons import normalize_operand
from matchrec.plan.warning_rules.constants import (
    ComparedConstant,
    is_certainly_different,
    is_certainly_equal,
    is_certainly_less,
    read_constant,
)
from matchrec.plan.warning_rules.references import MIRRORED, find_only_reference, show_users_operand

_LOWER_BOUNDS = frozenset({">", ">="})
_UPPER_BOUNDS = frozenset({"<", "<="})


@dataclass(frozen=True, slots=True)
class ConstantTest:
    """A test of a value by comparison with a constant: `< 5`."""

    # `=`, `<>` or an inequality.
    operator: str
    constant: ComparedConstant


@dataclass(frozen=True, slots=True)
class Requirement:
    """A part of a condition that compares a value with constants: `price < 5`."""

    # The value, in a form in which equivalent values are equal.
    value: tuple[TextPiece, ...]
    # The value satisfies the part only if it passes one of these tests: several for `IN (1, 2)`.
    tests: tuple[ConstantTest, ...]
    part: Operation


def warn_about_contradictions(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each part of a condition that no row can satisfy."""
    for definition in plan.definitions:
        for conjuncts in list_conjunctions(definition.condition):
            operations = [part for part in conjuncts if isinstance(part, Operation)]
            requirements: list[Requirement] = []
            for operation in operations:
                if is_membership_with_null(operation):
                    yield make_membership_warning(operation)
                else:
                    requirements += find_requirements(operation, definition, plan)
            yield from warn_about_pairs(requirements)


def warn_about_short_windows(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning if every match of PATTERN has more rows than WITHIN allows."""
    least_rows = count_rows(plan.pattern).least
    if plan.within_rows is not None and least_rows > plan.within_rows:
        yield warnings.window_shorter_than_pattern(
            plan.pattern.span, least=least_rows, most=plan.within_rows
        )


def list_conjunctions(condition: Scalar) -> Iterator[tuple[Scalar, ...]]:
    """Yield the parts of each AND in a condition, and each part that is in no AND.

    `a AND b AND (c OR d)` has the conjunctions (a, b, `c OR d`), (c) and (d).
    """
    conjuncts = split_conjuncts(condition)
    yield conjuncts
    for part in conjuncts:
        if isinstance(part, Operation):
            for operand in part.operands:
                yield from list_conjunctions(operand)


# Two parts that contradict each other.


def warn_about_pairs(requirements: Iterable[Requirement]) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for two requirements that no value can satisfy, once for each value."""
    reported_values: set[tuple[TextPiece, ...]] = set()
    for first, second in combinations(requirements, 2):
        is_same_value = first.value == second.value
        if not is_same_value or first.value in reported_values:
            continue
        if not do_contradict(first, second):
            continue
        reported_values.add(first.value)
        if first.part is second.part:
            value, lower_bound, upper_bound = first.part.operands
            yield condition_warnings.swapped_bounds(
                first.part.span,
                value=show_users_operand(value),
                least=show_users_operand(upper_bound),
                most=show_users_operand(lower_bound),
            )
        else:
            yield condition_warnings.contradicting_comparisons(
                second.part.span,
                first=show_users_operand(first.part),
                second=show_users_operand(second.part),
            )


def find_requirements(
    operation: Operation, definition: Definition, plan: MatchPlan
) -> list[Requirement]:
    """Return the requirements of a comparison, BETWEEN or IN of a value with constants.

    BETWEEN has two requirements. The result is empty if another operand than the value is not a
    constant, or if the value can differ each time it is computed.
    """
    operands = operation.operands
    operator = operation.operator
    if operator in MIRRORED and operands[1].references and not operands[0].references:
        operands = operands[::-1]
        operator = MIRRORED[operator]
    if len(operands) < 2 or not is_repeatable(operands[0]):
        return []
    constants = [read_constant(operand) for operand in operands[1:]]
    known_constants = [constant for constant in constants if constant is not None]
    if len(known_constants) < len(constants):
        return []
    tests_of_requirements: list[tuple[ConstantTest, ...]]
    match operator:
        case "BETWEEN":
            tests_of_requirements = [
                (ConstantTest(">=", known_constants[0]),),
                (ConstantTest("<=", known_constants[1]),),
            ]
        case "IN":
            tests_of_requirements = [
                tuple(ConstantTest("=", constant) for constant in known_constants)
            ]
        case _ if operator in MIRRORED:
            tests_of_requirements = [
                (ConstantTest("=" if operator == "<=>" else operator, known_constants[0]),)
            ]
        case _:
            return []
    value = normalize_operand(operands[0], definition, plan)
    return [Requirement(value, tests, operation) for tests in tests_of_requirements]


def is_repeatable(scalar: Scalar) -> bool:
    """Return whether a value reads the match, and is the same each time it is computed.

    This is certain for columns, aggregates and arithmetic with constants: no function is called
    that may be random.
    """
    if isinstance(scalar, Operation):
        entry = OPERATORS.get(scalar.operator)
        is_arithmetic = entry is not None and entry.kind is OperatorKind.ARITHMETIC
        return is_arithmetic and all(
            find_amount(operand) is not None or is_repeatable(operand)
            for operand in scalar.operands
        )
    reference = find_only_reference(scalar)
    return reference is not None and is_repeatable_reference(reference)


def is_repeatable_reference(reference: Reference) -> bool:
    """Return whether the value of a reference is the same each time it is computed."""
    match reference:
        case ColumnReference():
            return bool(reference.column_path)
        case Aggregate():
            return all(map(is_repeatable, list_inputs(reference)))
        case _:
            return True


def do_contradict(first: Requirement, second: Requirement) -> bool:
    """Return whether no value satisfies two requirements."""
    return all(
        are_disjoint(left, right) or are_disjoint(right, left)
        for left in first.tests
        for right in second.tests
    )


def are_disjoint(left: ConstantTest, right: ConstantTest) -> bool:
    """Return whether it is certain that no value satisfies both tests.

    Call this with both orders of the tests, because either can give True.
    """
    match left.operator, right.operator:
        case "=", "=":
            return is_certainly_different(left.constant, right.constant)
        case "=", "<>":
            return is_certainly_equal(left.constant, right.constant)
        case _:
            is_lower = left.operator in _LOWER_BOUNDS or left.operator == "="
            is_upper = right.operator in _UPPER_BOUNDS or right.operator == "="
            if not is_lower or not is_upper:
                return False
            if is_certainly_less(right.constant, left.constant):
                return True
            is_strict = left.operator == ">" or right.operator == "<"
            return is_strict and is_certainly_equal(left.constant, right.constant)


# NOT IN with NULL.


def is_membership_with_null(operation: Operation) -> bool:
    """Return whether an operation is NOT IN with NULL in its list: `x NOT IN (1, NULL)`."""
    membership = operation
    if operation.operator == "NOT" and isinstance(operation.operands[0], Operation):
        membership = operation.operands[0]
        if membership.operator != "IN":
            return False
    elif operation.operator != "NOT IN":
        return False
    return any(map(is_null, membership.operands[1:]))


def make_membership_warning(operation: Operation) -> MatchRecognizeWarning:
    """Return the warning for NOT IN with NULL in its list."""
    membership = operation.operands[0] if operation.operator == "NOT" else operation
    assert isinstance(membership, Operation), membership
    value, *candidates = membership.operands
    values = [show_users_operand(candidate) for candidate in candidates if not is_null(candidate)]
    return condition_warnings.not_in_with_null(
        operation.span, value=show_users_operand(value), candidates=values
    )
