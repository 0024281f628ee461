"""Add guards to conditions, for sessions that compute each part of a condition for all rows.

In `x <> 0 AND 1 / x > 2`, the part `x <> 0` is a guard: it keeps the division from failing.
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.conditions.guards import (
    add_guards_to_expression,
    find_guarded_operands,
    is_truth_value,
)
from matchrec.plan.change_expressions import map_operations
from matchrec.plan.expression import Operation, Scalar
from matchrec.plan.match_plan import MatchPlan, map_expressions
from matchrec.plan.operations import can_fail_besides_overflow
from matchrec.spark.eager_operators import find_only_row

# Operators that compute an operand only if the operands before it have certain values.
GUARDING_OPERATORS = frozenset({"AND", "OR", "CASE", "IF", "COALESCE", "NVL", "IFNULL"})


def add_guards(plan: MatchPlan) -> MatchPlan:
    """Return a plan in which operands that can fail are computed only if their guards hold.

    Spark computes them in this way by itself, except for the operators of `spark.eager_operators`.
    Sail computes each part of AND and OR for all rows, and can turn a CASE of truth values into AND
    and OR. But it computes a CASE of numbers row by row:

        x <> 0 AND 1 / x > 2   →   x <> 0 AND CASE WHEN x <> 0 THEN CAST(1 / x > 2 AS INT) END = 1
    """
    return map_expressions(
        plan, lambda scalar, variable: map_operations(scalar, GuardWriter(variable).write)
    )


@dataclass(frozen=True)
class GuardWriter:
    """A writer of guards into the operations of one expression."""

    # The variable to whose condition the expression belongs; None for a measure.
    variable: str | None

    def write(self, operation: Operation) -> Operation:
        """Return the operation with guards for each operand that is a truth value and can fail."""
        if operation.operator not in GUARDING_OPERATORS:
            return operation
        guarded_operands: dict[int, Scalar] = {}  # by the id of the operand without guards
        earlier_guards: list[Scalar] = []  # guards of all operands from the current one on
        for guarded_part in find_guarded_operands(operation):
            operand = guarded_part.part
            guards = self.select_same_row(operand, [*earlier_guards, *guarded_part.guards])
            if guards and can_fail_besides_overflow(operand.operations) and is_truth_value(operand):
                guarded_operands[id(operand)] = add_guards_to_expression(guards, operand)
            earlier_guards += guarded_part.later_guards
        if not guarded_operands:
            return operation
        return operation.map_operands(lambda operand: guarded_operands.get(id(operand), operand))

    def select_same_row(self, operand: Scalar, guards: list[Scalar]) -> list[Scalar]:
        """Return the guards that read the same row as an operand.

        The list is empty if the operand does not read exactly one row.
        """
        row = find_only_row(operand, self.variable)
        if row is None:
            return []
        return [guard for guard in guards if find_only_row(guard, self.variable) == row]
