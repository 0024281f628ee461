"""Forms: how an operation is written with other operations that have the same value.

The table of `operators` has the form of each operation that is rewritten. `call` and `call_on_all`
make forms:

    NVL2(a, b, c)      call("IF", call("IS NOT NULL", FIRST), SECOND, THIRD)
    a NOT IN (b, c)    call("NOT", call_on_all("IN"))

If the operation may have any number of operands, a `FormFunction` builds the other operations
instead, such as the nested IFs of COALESCE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

# The type of operands and of the operations that a form builds from them: steps of a condition, or
# texts in tests.
Built = TypeVar("Built")


class Combine(Protocol[Built]):
    """A function that builds an operation from an operator and its operands."""

    def __call__(self, operator: str, *operands: Built) -> Built:
        """Return the operation."""


@dataclass(frozen=True, slots=True)
class OperandForm:
    """An operand of the rewritten operation."""

    # The index of the operand, from 0.
    index: int


@dataclass(frozen=True, slots=True)
class ZeroForm:
    """The number zero."""


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

    def __call__(self, operands: Sequence[Built], combine: Combine[Built]) -> Built:
        """Return the operation for these operands. `combine` builds each operation in it."""


def call(operator: str, *operands: Form) -> OperationForm:
    """Return the form of an operation with these operands."""
    return OperationForm(operator, operands)


def call_on_all(operator: str) -> SameOperandsForm:
    """Return the form of an operation with the operands of the rewritten operation."""
    return SameOperandsForm(operator)


def apply_form(
    form: Form | FormFunction, operands: Sequence[Built], combine: Combine[Built], zero: Built
) -> Built:
    """Return the operation that a form makes of operands.

    Args:
        form: the form, or the function that builds the operation.
        operands: the operands of the rewritten operation.
        combine: builds each operation in the form.
        zero: the number zero.

    >>> def combine(operator, *operands):
    ...     return f"{operator}({', '.join(operands)})"
    >>> nanvl = call("IF", call("ISNAN", FIRST), SECOND, FIRST)
    >>> apply_form(nanvl, ["a", "b"], combine, zero="0")
    'IF(ISNAN(a), b, a)'
    >>> apply_form(call("NOT", call_on_all("=")), ["a", "b"], combine, zero="0")
    'NOT(=(a, b))'
    """
    match form:
        case OperandForm(index):
            return operands[index]
        case ZeroForm():
            return zero
        case SameOperandsForm(operator):
            return combine(operator, *operands)
        case OperationForm(operator, operand_forms):
            inner_operands = [apply_form(inner, operands, combine, zero) for inner in operand_forms]
            return combine(operator, *inner_operands)
        case _:
            return form(operands, combine)


def build_coalesce(operands: Sequence[Built], combine: Combine[Built]) -> Built:
    """Return COALESCE(a, b, c) as IF(a IS NOT NULL, a, IF(b IS NOT NULL, b, c))."""
    *earlier_operands, value = operands
    for operand in reversed(earlier_operands):
        value = combine("IF", combine("IS NOT NULL", operand), operand, value)
    return value


def build_extreme(comparison: str) -> FormFunction:
    """Return the form of GREATEST or LEAST. Both ignore NULLs.

    `GREATEST(a, b)` becomes `IF(b IS NULL, a, IF(a IS NULL OR b > a, b, a))`.

    Args:
        comparison: `>` for GREATEST, `<` for LEAST.
    """
    is_second_taken = call("OR", call("IS NULL", FIRST), call(comparison, SECOND, FIRST))
    taken_operand = call("IF", is_second_taken, SECOND, FIRST)
    form_of_two = call("IF", call("IS NULL", SECOND), FIRST, taken_operand)

    def build_from_halves(operands: Sequence[Built], combine: Combine[Built]) -> Built:
        """Return the extreme of the operands, built from the extremes of both halves."""
        # The form repeats each of its two operands. Combining halves, rather than one operand after
        # the other, keeps the depth low, and so the number of repetitions.
        if len(operands) == 1:
            return operands[0]
        middle = len(operands) // 2
        first_half = build_from_halves(operands[:middle], combine)
        second_half = build_from_halves(operands[middle:], combine)
        halves = (first_half, second_half)
        # The form has no zero, so any operand will do for it.
        return apply_form(form_of_two, halves, combine, zero=operands[0])

    return build_from_halves


def build_membership(operands: Sequence[Built], combine: Combine[Built]) -> Built:
    """Return `x IN (a, b)` as `x = a OR x = b`."""
    value, *candidates = operands
    comparisons = [combine("=", value, candidate) for candidate in candidates]
    return combine("OR", *comparisons)


def build_case(operands: Sequence[Built], combine: Combine[Built]) -> Built:
    """Return CASE WHEN a THEN x WHEN b THEN y ELSE z END as IF(a, x, IF(b, y, z)).

    The operands are a, x, b, y, z. Without ELSE, the last IF has no third operand.
    """
    condition, result, *later_operands = operands
    has_more_branches = len(later_operands) > 1
    if has_more_branches:
        return combine("IF", condition, result, build_case(later_operands, combine))
    return combine("IF", condition, result, *later_operands)


def build_compared_case(comparison: str) -> FormFunction:
    """Return the form of a CASE that compares one value with others.

    `CASE x WHEN a THEN y ELSE z END`, whose operands are x, a, y and z, becomes
    `CASE WHEN x = a THEN y ELSE z END`.

    Args:
        comparison: `=` for CASE; `<=>` for DECODE(x, a, y, z), which also finds NULL.
    """

    def build_searched_case(operands: Sequence[Built], combine: Combine[Built]) -> Built:
        """Return a CASE whose conditions compare the value."""
        value, *case_operands = operands
        for index in range(0, len(case_operands) - 1, 2):  # without the operand of ELSE
            case_operands[index] = combine(comparison, value, case_operands[index])
        return combine("CASE", *case_operands)

    return build_searched_case
