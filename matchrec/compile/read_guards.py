"""Guard what can raise an error: compute it only for rows that can be mapped to its variable.

    MEASURES sum(10 / A.z) ... DEFINE A AS z > 0   →   sum(CASE WHEN z > 0 THEN 10 / z END)

Spark computes the argument for every row, before the search. So it must not raise an error on rows
that are in no match.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.conditions.guards import add_guards_to_expression
from matchrec.conditions.mapped_rows import find_condition_of_rows
from matchrec.plan.expression import (
    MATCHED_ROWS,
    Aggregate,
    ColumnReference,
    Reference,
    Scalar,
    map_inputs,
    map_references,
    reads_columns_only,
    write_row_sql,
)
from matchrec.plan.match_plan import MatchPlan, map_expressions
from matchrec.plan.operations import can_fail_besides_overflow, may_fail


def guard_reads(plan: MatchPlan) -> MatchPlan:
    """Return the plan with guards around what can raise an error on rows that are in no match.

    Aggregates get guards wherever they are written; columns get guards in measures only.
    """

    def guard_scalar(scalar: Scalar, variable: str | None) -> Scalar:
        """Return an expression with guards; `variable` is the one that it defines, if any."""
        guard = guard_measure_reference if variable is None else guard_condition_reference
        return map_references(scalar, lambda reference: guard(plan, reference))

    return map_expressions(plan, guard_scalar)


def guard_measure_reference(plan: MatchPlan, reference: Reference) -> Reference:
    """Return a reference of a measure, with a guard if it can raise an error."""
    if isinstance(reference, ColumnReference):
        return guard_column(plan, reference)
    return guard_condition_reference(plan, reference)


def guard_condition_reference(plan: MatchPlan, reference: Reference) -> Reference:
    """Return a reference of a condition, with a guard if it can raise an error."""
    match reference:
        case Aggregate(frame=None) if reference.function != MATCHED_ROWS:
            return guard_aggregate(plan, reference)
    return reference


def guard_column(plan: MatchPlan, reference: ColumnReference) -> ColumnReference:
    """Return a column that a measure reads on a mapped row, with a guard if it can raise.

    A column that is read at a distance from a mapped row gets no guard, because that row may be
    mapped to no variable.
    """
    navigation = reference.navigation
    if navigation.physical_offset or not can_fail_besides_overflow(reference.operations):
        return reference
    condition = find_condition_of_rows(plan, navigation.variable)
    if condition is None:
        return reference
    argument = f"CASE WHEN {write_row_sql(condition)} THEN {reference.argument} END"
    return replace(reference, argument=argument, names=())


def guard_aggregate(plan: MatchPlan, aggregate: Aggregate) -> Aggregate:
    """Return an aggregate with guards around the inputs that can raise.

    A guarded input is computed only for rows that can be mapped to the variable of the aggregate
    and that pass its FILTER.
    """
    mapped_condition = find_condition_of_rows(plan, aggregate.variable)
    row_filter = aggregate.condition
    if row_filter is not None and not reads_columns_only(row_filter):
        row_filter = None

    def guard_input(scalar: Scalar) -> Scalar:
        """Return an input that is computed only on the rows that the aggregate reads."""
        reads_only_columns = bool(scalar.references) and reads_columns_only(scalar)
        if not reads_only_columns or not may_fail(scalar.operations):
            return scalar
        conditions = []
        if mapped_condition is not None and can_fail_besides_overflow(scalar.operations):
            conditions.append(mapped_condition)
        if row_filter is not None and scalar is not row_filter:
            conditions.append(row_filter)
        return add_guards_to_expression(conditions, scalar)

    return map_inputs(aggregate, guard_input)
