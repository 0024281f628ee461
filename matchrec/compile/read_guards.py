"""Guard expressions that can raise an error: compute them only for rows of their variable.

    MEASURES sum(10 / A.z) ... DEFINE A AS z > 0   →   sum(CASE WHEN z > 0 THEN 10 / z END)

Spark computes the argument for every row, before the search. On a row that is in no match, the
argument must not raise an error. So Spark computes it only for rows that can be mapped to A.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.conditions.guards import add_guards_to_expression
from matchrec.conditions.mapped_rows import find_mapped_row_condition
from matchrec.plan.change_expressions import map_inputs, map_references
from matchrec.plan.expression import (
    MATCHED_ROWS,
    Aggregate,
    ColumnReference,
    Reference,
    Scalar,
    reads_columns_only,
    write_row_sql,
)
from matchrec.plan.match_plan import MatchPlan, map_expressions
from matchrec.plan.operations import can_fail, can_fail_besides_overflow


def guard_reads(plan: MatchPlan) -> MatchPlan:
    """Return the plan with guards around expressions that can raise an error on rows in no match.

    Aggregates get guards wherever they are written; columns get guards only in measures.
    """

    def guard_scalar(scalar: Scalar, variable: str | None) -> Scalar:
        """Return a measure, or the condition of a variable, with guards."""
        in_measure = variable is None
        return map_references(
            scalar, lambda reference: guard_reference(plan, reference, in_measure=in_measure)
        )

    return map_expressions(plan, guard_scalar)


def guard_reference(plan: MatchPlan, reference: Reference, *, in_measure: bool) -> Reference:
    """Return a reference, with a guard if it can raise an error.

    Args:
        plan: the plan, which has the conditions of variables.
        reference: a reference of a measure or of a condition.
        in_measure: whether the reference is in a measure.
    """
    if isinstance(reference, ColumnReference) and in_measure:
        return guard_column(plan, reference)
    if (
        isinstance(reference, Aggregate)
        and reference.frame is None
        and reference.function != MATCHED_ROWS
    ):
        return guard_aggregate(plan, reference)
    return reference


def guard_column(plan: MatchPlan, reference: ColumnReference) -> ColumnReference:
    """Return a column that a measure reads on a mapped row, with a guard if it can raise an error.

    A column that is read at a distance from a mapped row gets no guard, because that row may be
    mapped to no variable.
    """
    navigation = reference.navigation
    if navigation.physical_offset or not can_fail_besides_overflow(reference.operations):
        return reference
    condition = find_mapped_row_condition(plan, navigation.variable)
    if condition is None:
        return reference
    argument = f"CASE WHEN {write_row_sql(condition)} THEN {reference.argument} END"
    return replace(reference, argument=argument, column_path=())


def guard_aggregate(plan: MatchPlan, aggregate: Aggregate) -> Aggregate:
    """Return an aggregate with guards around the inputs that can raise an error.

    A guarded input is computed only for rows that can be mapped to the variable of the aggregate
    and that pass its FILTER. An input that can only overflow is guarded only by FILTER.
    """
    condition_of_rows = find_mapped_row_condition(plan, aggregate.variable)
    row_filter = aggregate.condition
    if row_filter is not None and not reads_columns_only(row_filter):
        row_filter = None

    def guard_input(scalar: Scalar) -> Scalar:
        """Return an input that is computed only on the rows that the aggregate reads."""
        reads_only_columns = bool(scalar.references) and reads_columns_only(scalar)
        if not reads_only_columns or not can_fail(scalar.operations):
            return scalar
        conditions = []
        if condition_of_rows is not None and can_fail_besides_overflow(scalar.operations):
            conditions.append(condition_of_rows)
        if row_filter is not None and scalar is not row_filter:
            conditions.append(row_filter)
        return add_guards_to_expression(conditions, scalar)

    return map_inputs(aggregate, guard_input)
