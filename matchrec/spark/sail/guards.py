"""Guards that are kept: `x <> 0 AND 1 / x > 2`, where the session asks each part of every row."""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.conditions.split import guard, guards_of, is_truth
from matchrec.plan.expression import Operation, Scalar, with_operations
from matchrec.plan.match_plan import MatchPlan, with_expressions
from matchrec.plan.operations import is_partial
from matchrec.spark.eager_operators import find_one_row

GUARDING = frozenset({"AND", "OR", "CASE", "IF", "COALESCE", "NVL", "IFNULL"})


def with_guards(plan: MatchPlan) -> MatchPlan:
    """Return a plan in which what may fail is computed only if the parts before it allow it.

    Spark does so by itself, except for the operators of `spark.eager_operators`. Sail may turn a
    CASE of truth values into AND and OR, and compute each part of AND and OR for all rows. It
    computes a CASE of numbers row by row:

        x <> 0 AND 1 / x > 2   →   x <> 0 AND CASE WHEN x <> 0 THEN CAST(1 / x > 2 AS INT) END = 1
    """
    return with_expressions(plan, lambda one, name: with_operations(one, Guards(name).written))


def can_fail(plan: MatchPlan) -> bool:
    """Return whether a condition or a measure may fail on some rows."""
    conditions = (one.condition for one in plan.definitions)
    values = (one.value for one in plan.measures)
    return any(is_partial(scalar.operations) for scalar in (*conditions, *values))


@dataclass(frozen=True)
class Guards:
    """Writes guards into an expression. variable: in whose condition it is, None in a measure."""

    variable: str | None

    def written(self, operation: Operation) -> Operation:
        """The operation, in which each truth value that may fail has its guards."""
        if operation.operator not in GUARDING:
            return operation
        found: dict[int, Scalar] = {}
        earlier: list[Scalar] = []
        for part, own, passed in guards_of(operation):
            guards = self.of_same_row(part, [*earlier, *own])
            if guards and is_partial(part.operations) and is_truth(part):
                found[id(part)] = guard(guards, part)
            earlier += passed
        return operation.of_operands(lambda one: found.get(id(one), one)) if found else operation

    def of_same_row(self, part: Scalar, conditions: list[Scalar]) -> list[Scalar]:
        """Return the conditions that read the same single row as `part`."""
        row = find_one_row(part, self.variable)
        if row is None:
            return []
        return [one for one in conditions if find_one_row(one, self.variable) == row]
