"""Guards that are kept: `x <> 0 AND 1 / x > 2`, where the session asks each part of every row."""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.conditions.split import guard, guards_of, is_truth
from matchrec.plan import expression
from matchrec.plan.expression import Navigation, Operation, Scalar, with_operations
from matchrec.plan.match_plan import MatchPlan, with_expressions
from matchrec.plan.operations import is_partial

GUARDING = frozenset({"AND", "OR", "CASE", "IF", "COALESCE", "NVL", "IFNULL"})


def with_guards(plan: MatchPlan) -> MatchPlan:
    """Return a plan in which what may fail is computed only if the parts before it allow it.

    Spark does so by itself. Some sessions make AND and OR of a CASE of truth values, and ask each
    part of AND and OR of all rows; a CASE of numbers they compute row by row:

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
            rows = self.rows(part)
            known = [one for one in (*earlier, *own) if rows and self.rows(one) == rows]
            if known and is_partial(part.operations) and is_truth(part):
                found[id(part)] = guard(known, part)
            earlier += passed
        return operation.of_operands(lambda one: found.get(id(one), one)) if found else operation

    def rows(self, scalar: Scalar) -> frozenset[Navigation]:
        """The one row that it looks at, nothing where there are several, or none."""
        if not expression.looks_at_columns_only(scalar):
            return frozenset()
        columns = [one for one in scalar.references if isinstance(one, expression.ColumnReference)]
        own, here = Navigation(variable=self.variable), Navigation()
        # `x` and `B.x` are of one row in the condition of B
        found = {here if one.navigation == own else one.navigation for one in columns}
        return frozenset(found if len(found) == 1 else ())
