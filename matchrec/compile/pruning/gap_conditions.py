"""Replace windows inside a match by conditions, unless rows alone show where the windows end.

    WITHIN 10 FROM A TO C                 C AS C.ts < A.ts + 10, if a row of A comes before
    WITHIN 5 BETWEEN ROWS, SKIP TILL ...  each variable AS ts < LAST(ts, 1) + 5, except on the first
                                          row of the match

Along a BIGINT the sum could overflow, so the condition is C AS try_subtract(C.ts, A.ts) < 10. Rows
ascend, so a difference that does not fit into a BIGINT is too large for the window.

If the rows of a match follow each other in the partition, WITHIN ... BETWEEN ROWS needs no
condition: a row that is too far after the row before it ends the window of all rows before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.automaton.follow_sets import FollowSets
from matchrec.automaton.program import VariableId
from matchrec.conditions.types import BIGINT, INT
from matchrec.plan.build_expressions import (
    join_conditions,
    make_column,
    make_comparison,
    make_difference_test,
    make_literal,
    make_number,
)
from matchrec.plan.clauses import Definition, Gap
from matchrec.plan.expression import Aggregate, Navigation, Operation, Scalar, Term
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import always_precedes, list_negated_names


def replace_gaps_by_conditions(plan: MatchPlan, follow: FollowSets) -> MatchPlan:
    """Return the plan with conditions instead of windows inside a match.

    A window between neighbouring rows stays if matches skip no rows.

    Args:
        plan: a plan whose names are resolved.
        follow: the follow sets of its row pattern.
    """
    gap_conditions = list(build_gap_conditions(plan, follow))
    if not gap_conditions:
        return plan
    definitions = {definition.variable: definition for definition in plan.definitions}
    for gap_condition in gap_conditions:
        variable = gap_condition.variable
        earlier = definitions.get(variable)
        definitions[variable] = (
            gap_condition if earlier is None else add_condition(earlier, gap_condition)
        )
    remaining_gaps = () if plan.row_gap is None or plan.needs_event_selection else (plan.row_gap,)
    return replace(
        plan,
        definitions=tuple(definitions[name] for name in plan.variables if name in definitions),
        gaps=remaining_gaps,
    )


def add_condition(definition: Definition, gap_condition: Definition) -> Definition:
    """Return the definition of a variable with a gap's condition added to its own condition."""
    conditions = (definition.condition, gap_condition.condition)
    joined_condition = join_conditions("AND", conditions, definition.condition.span)
    return Definition(definition.variable, joined_condition, definition.span)


def build_gap_conditions(plan: MatchPlan, follow: FollowSets) -> Iterator[Definition]:
    """Yield conditions of variables that replace windows inside a match.

    For one variable, several conditions may be yielded.
    """
    for gap in plan.gaps:
        if gap.to is not None:
            for member in sorted(plan.members[gap.to]):
                condition = build_variable_gap(plan, gap, member, follow)
                yield Definition(plan.variables[member], condition)
        elif plan.needs_event_selection:
            yield from build_row_gaps(plan, gap, follow)


def build_row_gaps(plan: MatchPlan, gap: Gap, follow: FollowSets) -> Iterator[Definition]:
    """Yield, for each variable, the test that its row is near enough to the row before it.

    The row before it is the previous row of the match. Variables to which only the first row of a
    match can be mapped are left out.

    Args:
        plan: a plan whose matches may skip rows.
        gap: a window from each row to the next one.
        follow: the follow sets of the row pattern.
    """
    is_near = build_distance_test(plan, gap, Navigation(logical_offset=1))
    is_first_row = build_count_test(None, 1, gap)
    is_first_or_near = join_conditions("OR", (is_first_row, is_near))
    for variable in sorted(plan.members[None]):
        if follow.find_predecessors(variable):
            condition = is_first_or_near if variable in follow.first else is_near
            yield Definition(plan.variables[variable], condition)


def build_variable_gap(
    plan: MatchPlan, gap: Gap, variable: VariableId, follow: FollowSets
) -> Scalar:
    """Return the test that a row is near enough to the last row of `gap.after`.

    The test also holds if no row of `gap.after` comes before. If the last row of `gap.after` is
    always the previous row, the test reads it by PREV, so that it does not depend on the run.

    Args:
        plan: the plan of the query.
        gap: a window from one variable to another.
        variable: the variable of the row, one of `gap.to`.
        follow: the follow sets of the row pattern.
    """
    members = plan.members[gap.after]
    name = plan.variables[variable]
    # A row that NOT tests is not mapped to the variable under NOT, so the row pattern does not show
    # which rows come before it.
    is_mapped = name not in list_negated_names(plan.pattern)
    follows_directly = (
        is_mapped
        and not plan.needs_event_selection
        and variable not in follow.first
        and follow.find_predecessors(variable) <= members
    )
    row = Navigation(physical_offset=-1) if follows_directly else Navigation(gap.after)
    is_near = build_distance_test(plan, gap, row)
    member_names = frozenset(plan.variables[member] for member in members)
    if follows_directly or (is_mapped and always_precedes(plan.pattern, member_names, name)):
        return is_near
    return join_conditions("OR", (build_count_test(gap.after, 0, gap), is_near))


def build_distance_test(plan: MatchPlan, gap: Gap, row: Navigation) -> Scalar:
    """Return the test that the current row is less than a window's length after another row.

    The test is `ts < <ts of the row> + interval`. Along a BIGINT, where this could overflow, it is
    `try_subtract(ts, <ts of the row>) < interval`.

    Args:
        plan: the plan of the query.
        gap: the window.
        row: the navigation to the other row.
    """
    order = plan.order_by[0].expression.text
    span = gap.interval.span_or_start
    current_order = make_column(Navigation(), order, span)
    other_order = make_column(row, order, span)
    text = gap.interval.text
    if gap.bits == INT.bits and text.isdigit():
        text += "L"  # The sum of two INTs could overflow, the sum of an INT and a BIGINT cannot.
    length = make_literal(text, span, gap.interval.amount)
    if gap.bits == BIGINT.bits:
        return make_difference_test(current_order, other_order, length)
    end = Operation("+", (other_order, " + ", length), span)
    return Operation("<", (current_order, " < ", end), span)


def build_count_test(variable: str | None, number: int, gap: Gap) -> Scalar:
    """Return the test `count(variable.*) = number`. The current row counts, too.

    Args:
        variable: the variable, or None for all rows of the match.
        number: the number of rows.
        gap: the window from which the test comes: errors show its location.
    """
    span = gap.interval.span_or_start
    count = Aggregate("count", variable, (), span=span)
    return make_comparison("=", Term((count,), span), make_number(number, span))
