"""Forms: how an operation is written with other operations that have the same value.

The table of `operators` has the form of each operation that is rewritten. `make_form` and
`make_same_operands_form` make the forms:

    NVL2(a, b, c)      make_form("IF", make_form("IS NOT NULL", FIRST), SECOND, THIRD)
    a NOT IN (b, c)    make_form("NOT", make_same_operands_form("IN"))

If the operation may have any number of operands, a `FormFunction` builds the other operations
instead, such as the nested IFs of COALESCE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

# The type of operands, and of the operations that are built from them: a step of a condition, or a
# text in tests.
OperandValue = TypeVar("OperandValue")


class OperationBuilder(Protocol[OperandValue]):
    """A function that builds an operation from an operator and its operands."""

    def __call__(self, operator: str, *operands: OperandValue) -> OperandValue:
        """Return the operation."""


@dataclass(frozen=True, slots=True)
class OperandForm:
    """An operand of the rewritten operation."""

    # The index of the operand, from 0.
    index: int


@dataclass(frozen=True, slots=True)
class ZeroForm:
    """The number zero, the only literal in a form: NULLIFZERO(a) is NULLIF(a, 0)."""


@dataclass(frozen=True, slots=True)
class OperationForm:
    """Another operation, whose operands are forms."""

    operator: str
    operands: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class SameOperandsForm:
    """Another operation with all operands of the rewritten operation, in the same order."""

    operator: str


Form = OperandForm | ZeroForm | OperationForm | SameOperandsForm

FIRST = OperandForm(0)
SECOND = OperandForm(1)
THIRD = OperandForm(2)
ZERO = ZeroForm()


class FormFunction(Protocol):
    """A form that depends on the number of operands: a function that builds the operation."""

    def __call__(
        self, operands: Sequence[OperandValue], build_operation: OperationBuilder[OperandValue]
    ) -> OperandValue:
        """Return the operation for these operands, which `build_operation` builds."""


def make_form(operator: str, *operands: Form) -> OperationForm:
    """Return the form of an operation with these operands, which are forms, too."""
    return OperationForm(operator, operands)


def make_same_operands_form(operator: str) -> SameOperandsForm:
    """Return the form of an operation with the same operands as the rewritten operation."""
    return SameOperandsForm(operator)


def apply_form(
    form: Form | FormFunction,
    operands: Sequence[OperandValue],
    build_operation: OperationBuilder[OperandValue],
    zero: OperandValue | None = None,
) -> OperandValue:
    """Build the operation that a form stands for, with some operands.

    Args:
        form: the form, or the function that builds the operation.
        operands: the operands of the rewritten operation.
        build_operation: builds each operation in the form.
        zero: the number zero; None if the form has no `ZERO`.

    >>> def build_operation(operator, *operands):
    ...     return f"{operator}({', '.join(operands)})"
    >>> nanvl = make_form("IF", make_form("ISNAN", FIRST), SECOND, FIRST)
    >>> apply_form(nanvl, ["a", "b"], build_operation, zero="0")
    'IF(ISNAN(a), b, a)'
    >>> is_different = make_form("NOT", make_same_operands_form("="))
    >>> apply_form(is_different, ["a", "b"], build_operation)
    'NOT(=(a, b))'
    """
    match form:
        case OperandForm(index):
            return operands[index]
        case ZeroForm():
            assert zero is not None, "the form has a zero"
            return zero
        case SameOperandsForm(operator):
            return build_operation(operator, *operands)
        case OperationForm(operator, operand_forms):
            inner_operands = [
                apply_form(inner, operands, build_operation, zero) for inner in operand_forms
            ]
            return build_operation(operator, *inner_operands)
        case _:  # a FormFunction
            return form(operands, build_operation)


def build_coalesce(
    operands: Sequence[OperandValue], build_operation: OperationBuilder[OperandValue]
) -> OperandValue:
    """Return COALESCE(a, b, c) as IF(a IS NOT NULL, a, IF(b IS NOT NULL, b, c))."""
    *earlier_operands, value = operands
    for operand in reversed(earlier_operands):
        value = build_operation("IF", build_operation("IS NOT NULL", operand), operand, value)
    return value


def make_extreme_form(comparison: str) -> FormFunction:
    """Return the form of GREATEST or LEAST. Both ignore NULLs.

    `GREATEST(a, b)` becomes `IF(b IS NULL, a, IF(a IS NULL OR b > a, b, a))`.

    Args:
        comparison: `>` for GREATEST, `<` for LEAST.
    """
    # IF(second IS NULL, first, IF(first IS NULL OR second > first, second, first))
    takes_second = make_form(
        "OR", make_form("IS NULL", FIRST), make_form(comparison, SECOND, FIRST)
    )
    greater_or_present = make_form("IF", takes_second, SECOND, FIRST)
    form_of_two = make_form("IF", make_form("IS NULL", SECOND), FIRST, greater_or_present)

    def build_from_halves(
        operands: Sequence[OperandValue], build_operation: OperationBuilder[OperandValue]
    ) -> OperandValue:
        """Return the extreme of the operands, built from the extremes of both halves."""
        # The form has each of its two operands three or four times. From halves, n operands become
        # about n^3 operations; one operand after the other, they would become more than 3^n.
        if len(operands) == 1:
            return operands[0]
        middle = len(operands) // 2
        first_half = build_from_halves(operands[:middle], build_operation)
        second_half = build_from_halves(operands[middle:], build_operation)
        halves = (first_half, second_half)
        return apply_form(form_of_two, halves, build_operation)

    return build_from_halves


def build_membership(
    operands: Sequence[OperandValue], build_operation: OperationBuilder[OperandValue]
) -> OperandValue:
    """Return `x IN (a, b)` as `x = a OR x = b`."""
    value, *candidates = operands
    comparisons = [build_operation("=", value, candidate) for candidate in candidates]
    return build_operation("OR", *comparisons)


def build_case(
    operands: Sequence[OperandValue], build_operation: OperationBuilder[OperandValue]
) -> OperandValue:
    """Return CASE WHEN a THEN x WHEN b THEN y ELSE z END as IF(a, x, IF(b, y, z)).

    The operands are a, x, b, y, z. Without ELSE, the last IF has no third operand, so it is NULL.
    """
    condition, result, *later_operands = operands
    has_more_branches = len(later_operands) > 1
    if has_more_branches:
        return build_operation("IF", condition, result, build_case(later_operands, build_operation))
    return build_operation("IF", condition, result, *later_operands)


def make_compared_case_form(comparison: str) -> FormFunction:
    """Return the form of a CASE that compares one value with others.

    `CASE x WHEN a THEN y ELSE z END`, whose operands are x, a, y and z, becomes
    `CASE WHEN x = a THEN y ELSE z END`.

    Args:
        comparison: `=` for CASE; `<=>` for DECODE(x, a, y, z), which also finds NULL.
    """

    def build_searched_case(
        operands: Sequence[OperandValue], build_operation: OperationBuilder[OperandValue]
    ) -> OperandValue:
        """Return a CASE whose conditions compare the value."""
        value, *case_operands = operands
        for index in range(0, len(case_operands) - 1, 2):  # without the operand of ELSE
            case_operands[index] = build_operation(comparison, value, case_operands[index])
        return build_operation("CASE", *case_operands)

    return build_searched_case
