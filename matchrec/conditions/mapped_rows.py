"""Conditions that every row mapped to a variable satisfies.

Spark computes a column for all rows, even if the search reads the column only on rows that are
mapped to a certain variable. Such a row satisfies the variable's condition. So if computing the
column might fail, the condition can guard the column:

    A AS z > 0, B AS 1 / LAST(A.z) < 2    →    the column CASE WHEN z > 0 THEN 1 / z END at LAST(A)
"""

from __future__ import annotations

from matchrec.conditions.rows_read import find_distances
from matchrec.plan.build_expressions import join_conditions
from matchrec.plan.expression import (
    Scalar,
    Term,
    reads_columns_only,
    split_conjuncts,
    write_row_sql,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operations import NO_OPERATIONS, can_take_long


def find_mapped_row_condition(plan: MatchPlan, variable: str | None) -> Scalar | None:
    """Return a condition over one row that every row mapped to a variable satisfies.

    None if there is no such condition. A row of a union variable satisfies the condition of one of
    its members, so the result joins their conditions by OR.

    Args:
        plan: the plan of the query.
        variable: a primary or union variable; None for the universal variable.
    """
    row_conditions: list[Scalar] = []
    for member in sorted(plan.members[variable]):
        row_condition = join_row_conjuncts(plan, plan.variables[member])
        if row_condition is None:
            return None
        if row_condition not in row_conditions:
            row_conditions.append(row_condition)
    return join_conditions("OR", row_conditions) if row_conditions else None


def join_row_conjuncts(plan: MatchPlan, variable: str) -> Term | None:
    """Return the conjuncts of a variable's condition that read only the row itself, joined by AND.

    Conjuncts that take long are left out, because the result is evaluated once more for each row.
    None if there are no other conjuncts.

    Args:
        plan: the plan of the query.
        variable: a primary variable.
    """
    conjuncts: list[Scalar] = []
    for definition in plan.definitions:
        if definition.variable == variable:
            conjuncts += split_conjuncts(definition.condition)
    row_conjuncts = []
    for conjunct in conjuncts:
        distances = find_distances(plan, variable, conjunct)
        reads_only_row_itself = distances is not None and distances <= {0}
        is_quick = not can_take_long(conjunct.operations)
        if reads_columns_only(conjunct) and reads_only_row_itself and is_quick:
            row_conjuncts.append(conjunct)
    if not row_conjuncts:
        return None
    texts = [write_row_sql(conjunct) for conjunct in row_conjuncts]
    text = texts[0] if len(texts) == 1 else " AND ".join(f"({text})" for text in texts)
    operations = NO_OPERATIONS.union(*(conjunct.operations for conjunct in row_conjuncts))
    return Term((text,), conjuncts[0].span, operations)
