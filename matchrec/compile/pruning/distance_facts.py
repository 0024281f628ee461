"""Read what a conjunct of DEFINE says about how far a row is after the first row of its match.

    C.ts - V.ts <= 1800        C.ts < V.ts + INTERVAL '1' HOUR        C.ts - 1800 <= FIRST(ts)

Rows ascend along the order, and so do differences and sums, rounded or not. So for a given first
row, each of these conditions holds for all rows up to some row, and for no row after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.automaton.follow_sets import FollowSets
from matchrec.conditions.rows_read import find_distance, is_single_reference
from matchrec.plan.amounts import Amount
from matchrec.plan.clauses import Definition, DistanceForm
from matchrec.plan.expression import (
    ColumnReference,
    End,
    Navigation,
    Operation,
    Scalar,
    find_amount,
    render,
    split_conjuncts,
)
from matchrec.plan.match_plan import MatchPlan

# For each comparison, the operator to use once the smaller value is on the left.
SMALLER_LEFT = {"<": "<", "<=": "<=", ">": "<", ">=": "<="}

# Products of INT constants must be smaller than this, so that they do not overflow.
PRODUCT_LIMIT = 2**31


@dataclass(frozen=True, slots=True)
class DistanceBound:
    """A conjunct that bounds how far the current row is after the first row of the match."""

    # The operation by which the two rows are compared.
    form: DistanceForm
    # How far the current row may be after the first row.
    amount: Amount
    # The amount as the user wrote it.
    text: str
    # Whether the distance must be less than the amount; otherwise it may be equal.
    is_strict: bool


@dataclass(frozen=True, slots=True)
class NotBefore:
    """A conjunct which says that the current row is not before the first row of the match."""

    # The zero in `0 <= C.ts - V.ts`; None for `V.ts <= C.ts`.
    zero: Amount | None


# A fact about the distance of the current row from the first row of the match.
DistanceFact = DistanceBound | NotBefore


def read_distances(
    plan: MatchPlan, follow: FollowSets, definition: Definition
) -> tuple[DistanceFact | None, ...]:
    """Return, for each conjunct of a condition, the fact that it states about the distance.

    The distance is from the first row of the match to the current row. The fact is None for a
    conjunct that states nothing about it.

    Args:
        plan: a plan whose names are resolved.
        follow: the follow sets of its row pattern.
        definition: the condition.
    """
    reader = DistanceReader(plan, follow, definition.variable)
    return tuple(
        reader.read_conjunct(conjunct) for conjunct in split_conjuncts(definition.condition)
    )


@dataclass(frozen=True, slots=True)
class DistanceReader:
    """A reader of the conjuncts of one variable's condition."""

    plan: MatchPlan
    # The follow sets of the row pattern.
    follow: FollowSets
    # The variable of the condition.
    variable: str

    def read_conjunct(self, conjunct: Scalar) -> DistanceFact | None:
        """Return the fact that a conjunct states about the distance to the first row, or None."""
        if not isinstance(conjunct, Operation):
            return None
        if conjunct.operator == "BETWEEN":
            return self.read_between(conjunct)
        if conjunct.operator not in SMALLER_LEFT:
            return None
        left, right = conjunct.operands
        is_ascending = conjunct.operator in ("<", "<=")
        smaller, larger = (left, right) if is_ascending else (right, left)
        return self.read_comparison(SMALLER_LEFT[conjunct.operator], smaller, larger)

    def read_between(self, between: Operation) -> DistanceBound | None:
        """Return the bound in `C.ts - V.ts BETWEEN 0 AND 1800`, whose lower bound always holds."""
        value, low, high = between.operands
        lower = self.read_comparison("<=", low, value)
        upper = self.read_comparison("<=", value, high)
        if not isinstance(lower, NotBefore) or not isinstance(upper, DistanceBound):
            return None
        has_same_type = lower.zero is None or lower.zero.is_time is upper.amount.is_time
        return upper if has_same_type else None

    def read_comparison(
        self, operator: str, smaller: Scalar, larger: Scalar
    ) -> DistanceFact | None:
        """Return the fact that `smaller < larger` or `smaller <= larger` states, or None."""
        for form, length in self.find_lengths(smaller, larger):
            amount = read_constant(length)
            if amount is not None:
                text = render(length, str).strip("() ")
                return DistanceBound(form, amount, text, is_strict=operator == "<")
        return self.read_not_before(smaller, larger) if operator == "<=" else None

    def find_lengths(
        self, smaller: Scalar, larger: Scalar
    ) -> Iterator[tuple[DistanceForm, Scalar]]:
        """Yield each part of `smaller < larger` that can be a length, with the form of the bound.

        `C.ts - V.ts < 1800` yields `(DistanceForm.DIFFERENCE, 1800)`.
        """
        match smaller:
            case Operation(operator="TRY_SUBTRACT", operands=(left, right)):
                if self.is_row_and_first(left, right):
                    yield DistanceForm.TRY_DIFFERENCE, larger
            case Operation(operator="-", operands=(left, right)):
                if self.is_row_and_first(left, right):
                    yield DistanceForm.DIFFERENCE, larger
                if self.is_row_and_first(left, larger):
                    yield DistanceForm.LESS, right
            case Operation(operator="DATEDIFF", operands=(left, right), words=()):
                if self.is_row_and_first(left, right):
                    yield DistanceForm.DAYS, larger
        match larger:
            case Operation(operator="+", operands=(left, right)):
                if self.is_row_and_first(smaller, left):
                    yield DistanceForm.SUM, right
                if self.is_row_and_first(smaller, right):
                    yield DistanceForm.SUM, left

    def read_not_before(self, smaller: Scalar, larger: Scalar) -> NotBefore | None:
        """Return the fact that `V.ts <= C.ts` or `0 <= C.ts - V.ts` states, or None."""
        if self.is_row_and_first(larger, smaller):
            return NotBefore(None)
        zero = read_constant(smaller)
        if zero is None or zero.value:
            return None
        match larger:
            case Operation(operator="-", operands=(left, right)):
                if self.is_row_and_first(left, right):
                    return NotBefore(zero)
        return None

    def is_row_and_first(self, current: Scalar, first: Scalar) -> bool:
        """Return whether these are the order values of the current row and of the first row."""
        if not (is_single_reference(current) and is_single_reference(first)):
            return False
        current_reference = current.references[0]
        first_reference = first.references[0]
        if not isinstance(current_reference, ColumnReference):
            return False
        if not isinstance(first_reference, ColumnReference):
            return False
        order = self.plan.order_by[0].expression.text
        if not current_reference.argument == first_reference.argument == order:
            return False
        return (
            find_distance(self.plan, self.variable, current_reference) == 0
            and find_distance(self.plan, self.variable, first_reference) != 0
            and self.finds_first_row(first_reference.navigation)
        )

    def finds_first_row(self, navigation: Navigation) -> bool:
        """Return whether a navigation finds the first row of the match, in every match.

        `FIRST(ts)` does. So does `V.ts` if V is the only variable with which a match can begin, and
        only the first row of a match can be mapped to it.
        """
        members = self.plan.members[navigation.variable]
        if navigation.logical_offset or navigation.physical_offset:
            return False
        is_earliest = navigation.end is End.FIRST or not any(
            self.follow.find_predecessors(member) for member in members
        )
        return is_earliest and self.follow.first <= members


def read_constant(scalar: Scalar) -> Amount | None:
    """Return the value of a number, an interval or a product of whole numbers; otherwise None."""
    if scalar.references:
        return None
    if not (isinstance(scalar, Operation) and scalar.operator == "*"):
        return find_amount(scalar)
    left, right = (read_constant(operand) for operand in scalar.operands)
    if left is None or right is None or left.is_time or right.is_time:
        return None
    product = left.value * right.value
    are_whole = left.value.denominator == right.value.denominator == 1
    return Amount(product) if are_whole and abs(product) < PRODUCT_LIMIT else None
