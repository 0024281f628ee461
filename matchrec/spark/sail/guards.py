"""Guards that are kept: `x <> 0 AND 1 / x > 2`, where the session asks each part of every row."""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.conditions.split import guard, guards_of, is_truth
from matchrec.plan import expression
from matchrec.plan.expression import Navigation, Operation, Scalar, with_operations
from matchrec.plan.match_plan import MatchPlan, with_expressions
from matchrec.plan.operations import is_partial
from matchrec.spark.sail.probes import asks_every_part
from matchrec.spark.session import Runner, is_connect

GUARDING = frozenset({"AND", "OR", "CASE", "IF", "COALESCE", "NVL", "IFNULL"})


def with_guards(plan: MatchPlan, runner: Runner) -> MatchPlan:
    """The plan, in which what may fail is asked where the parts before it say so.

    Spark does so by itself. Some sessions make AND and OR of a CASE of truth values, and ask each
    part of AND and OR of all rows; a CASE of numbers they compute row by row:

        x <> 0 AND 1 / x > 2   →   x <> 0 AND CASE WHEN x <> 0 THEN CAST(1 / x > 2 AS INT) END = 1
    """
    if not is_eager(plan, runner):
        return plan
    return with_expressions(plan, lambda one, name: with_operations(one, Guards(name).written))


def is_eager(plan: MatchPlan, runner: Runner) -> bool:
    """Whether the session asks what may fail of more rows than it has to."""
    conditions = (one.condition for one in plan.definitions)
    values = (one.value for one in plan.measures)
    may_fail = any(is_partial(one.operations) for one in (*conditions, *values))
    return may_fail and is_connect(runner.spark) and asks_every_part(runner.spark)


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
