"""What is read of a row because it is mapped to a variable: computed where that may be.

    MEASURES sum(10 / A.z) ... DEFINE A AS z > 0   →   sum(CASE WHEN z > 0 THEN 10 / z END)

Spark computes it for every row, before the match; it must not fail on rows that no match has.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.conditions.guards import holds_of_rows, is_partial, may_fail, under
from matchrec.plan.expression import (
    MATCHED_ROWS,
    Aggregate,
    ColumnReference,
    Reference,
    Scalar,
    looks_at_columns_only,
    references,
    row_text,
    with_references,
)
from matchrec.plan.match_plan import MatchPlan


def guard_reads(plan: MatchPlan) -> MatchPlan:
    """The plan with guards around what may fail: in aggregates, and in navigation of measures."""

    def guard(reference: Reference) -> Reference:
        match reference:
            case ColumnReference():
                return guard_column(plan, reference)
            case Aggregate(frame=None) if reference.function != MATCHED_ROWS:
                return guard_aggregate(plan, reference)
            case _:
                return reference

    def guard_aggregates(reference: Reference) -> Reference:
        return guard(reference) if isinstance(reference, Aggregate) else reference

    measures = (replace(one, value=with_references(one.value, guard)) for one in plan.measures)
    definitions = (
        replace(one, condition=with_references(one.condition, guard_aggregates))
        for one in plan.definitions
    )
    return replace(plan, measures=tuple(measures), definitions=tuple(definitions))


def guard_column(plan: MatchPlan, reference: ColumnReference) -> ColumnReference:
    """What is read on a mapped row; a row at a distance from one may be mapped to no variable."""
    navigation, argument = reference.navigation, reference.argument
    if navigation.physical_offset or not is_partial(argument):
        return reference
    known = holds_of_rows(plan, navigation.variable)
    if known is None:
        return reference
    return replace(reference, argument=f"CASE WHEN {row_text(known)} THEN {argument} END")


def guard_aggregate(plan: MatchPlan, aggregate: Aggregate) -> Aggregate:
    """Its terms, of rows that are mapped to its variable and that its FILTER lets pass."""
    known = holds_of_rows(plan, aggregate.variable)
    mapped = [] if known is None else [known]
    condition = aggregate.condition
    passing = [] if condition is None or not looks_at_columns_only(condition) else [condition]

    def guarded(term: Scalar, others: list[Scalar]) -> Scalar:
        if not looks_at_columns_only(term) or not references(term) or not may_fail(term):
            return term
        return under([*(mapped if is_partial(row_text(term)) else ()), *others], term)

    return replace(
        aggregate,
        arguments=tuple(guarded(one, passing) for one in aggregate.arguments),
        condition=None if condition is None else guarded(condition, []),
        ordering=tuple((guarded(one, passing), by) for one, by in aggregate.ordering),
    )
