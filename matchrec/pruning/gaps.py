"""Windows inside of a match that rows alone do not tell, as conditions.

    WITHIN 10 FROM A TO C            C AS C.ts < A.ts + 10, where a row of A stands before
    WITHIN 5 BETWEEN ROWS, skipping  each variable AS ts < LAST(ts, 1) + 5, but of the first row

Along a BIGINT, where the sum could overflow, C AS try_subtract(C.ts, A.ts) < 10: rows ascend, so
what differs by more than a BIGINT holds is not near.

Rows of a match that follow each other in the partition need none of it: a row that lies too far
after the one before it ends the window of all rows before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.conditions.types import BIGINT
from matchrec.nfa.closure import FollowSets
from matchrec.nfa.program import VariableId
from matchrec.plan.clauses import Definition, Gap
from matchrec.plan.expression import (
    Aggregate,
    Navigation,
    Operation,
    Scalar,
    Term,
    column_term,
    comparison,
    differs_by_less,
    joined,
    literal,
    number_term,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import always_precedes, negated_names


def gaps_as_conditions(plan: MatchPlan, follow: FollowSets) -> MatchPlan:
    """The plan whose only windows are those that rows tell. plan: resolved."""
    conditions = list(conditions_of_gaps(plan, follow))
    if not conditions:
        return plan
    definitions = {definition.variable: definition for definition in plan.definitions}
    for variable, condition in conditions:
        known = definitions.get(variable)
        if known is None:
            definitions[variable] = Definition(variable, condition)
        else:
            both = joined("AND", (known.condition, condition), known.condition.span)
            definitions[variable] = replace(known, condition=both)
    in_order = (definitions[name] for name in plan.variables if name in definitions)
    left = () if plan.row_gap is None or plan.selects else (plan.row_gap,)
    return replace(plan, definitions=tuple(in_order), gaps=left)


def conditions_of_gaps(plan: MatchPlan, follow: FollowSets) -> Iterator[tuple[str, Scalar]]:
    """Variables with what must hold of their rows."""
    for gap in plan.gaps:
        if gap.to is not None:
            for member in sorted(plan.members(gap.to)):
                yield plan.variables[member], after_variable(plan, gap, member, follow)
        elif plan.selects:
            for variable in sorted(plan.members(None)):
                if follow.before(variable):
                    is_first = variable in follow.first
                    yield plan.variables[variable], after_row_before(plan, gap, is_first=is_first)


def after_variable(plan: MatchPlan, gap: Gap, to: VariableId, follow: FollowSets) -> Scalar:
    """Less than the interval after the last row of a variable, if there is one.

    Where that is always the row before, it is read there, so that Spark computes it. A row that
    must not follow has other rows before it than those that are mapped to its variable.
    """
    members, name = plan.members(gap.after), plan.variables[to]
    is_mapped = name not in negated_names(plan.pattern)
    is_next = follow.before(to) <= members and to not in follow.first and not plan.selects
    row = Navigation(physical_offset=-1) if is_mapped and is_next else Navigation(gap.after)
    near = less_after(plan, gap, row)
    names = frozenset(plan.variables[member] for member in members)
    if is_mapped and (is_next or always_precedes(plan.pattern, names, name)):
        return near
    return joined("OR", (count_is(gap.after, 0, gap), near))


def after_row_before(plan: MatchPlan, gap: Gap, *, is_first: bool) -> Scalar:
    """Less than the interval after the row mapped before it. is_first: whether one may be."""
    near = less_after(plan, gap, Navigation(logical_offset=1))
    return joined("OR", (count_is(None, 1, gap), near)) if is_first else near


def less_after(plan: MatchPlan, gap: Gap, row: Navigation) -> Scalar:
    """`ts < <ts of the row> + interval`, or `try_subtract(ts, <ts of the row>) < interval`."""
    order, span = plan.order_by[0].expression.text, gap.interval.place
    here, there = (column_term(navigation, order, span) for navigation in (Navigation(), row))
    length = literal(gap.interval.text, span, gap.interval.amount)
    if gap.bits == BIGINT.bits:
        return differs_by_less(here, there, length)
    end = Operation("+", (there, " + ", length), span)
    return Operation("<", (here, " < ", end), span)


def count_is(variable: str | None, number: int, gap: Gap) -> Scalar:
    """`count(variable.*) = number`, with the current row. gap: whose place it has."""
    span = gap.interval.place
    count = Aggregate("count", variable, (), span=span)
    return comparison("=", Term((count,), span), number_term(number, span))
