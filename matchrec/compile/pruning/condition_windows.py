"""Find conditions on the order column that bound a match as WITHIN does, and make them a window.

    PATTERN (V X*? C) DEFINE C AS C.ts - V.ts <= 1800 AND C.kind = 'c', X AS X.ts - V.ts <= 1800

becomes

    PATTERN (V X*? C) DEFINE C AS C.kind = 'c'        with a window of 1800, inclusive

Rows ascend along the order. So if the last row of every match is at most some distance after the
first one, all rows of the match are, and the search need not test the conditions that this implies.
The row pattern tells which variables are the first and the last ones of a match.

1. `distance_facts` reads what each conjunct of DEFINE says about the distance to the first row.
2. `window_limits` finds the limit of each bound, in units of the order column.
3. The window is the widest of the bounds of the last variables, each of which has its narrowest.
4. `ConditionWindow` removes the conjuncts that the window implies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from matchrec.automaton.facts import FollowSets
from matchrec.compile.pruning.distance_facts import Bound, DistanceFact, NotBefore, read_distances
from matchrec.compile.pruning.window_limits import Limit, find_integer_bits, find_limit
from matchrec.conditions.types import TIMES
from matchrec.conditions.window_columns import OrderType
from matchrec.plan.clauses import Definition, Distance, MatchOutput, RowExpression, Within
from matchrec.plan.expression import ColumnReference, join_conditions, split_conjuncts
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import list_negations

# For each variable, what each conjunct of its condition says about the distance.
FactsByVariable = Mapping[str, tuple[DistanceFact | None, ...]]


class MeasuredBound(NamedTuple):
    """A bound with its limit along the order column of a query."""

    limit: Limit
    bound: Bound


def find_condition_window(
    plan: MatchPlan, follow: FollowSets, find_order_type: Callable[[str], OrderType]
) -> MatchPlan:
    """Return the plan with its conditions as a window, if they bound every match.

    The conditions that the window implies are removed.

    Args:
        plan: a plan whose names are resolved.
        follow: the follow sets of its row pattern.
        find_order_type: returns the type of an order column, given as text. It is called only if
            the last row of every match is bounded, because it may ask Spark.
    """
    if not can_have_condition_window(plan):
        return plan
    facts = {
        definition.variable: read_distances(plan, follow, definition)
        for definition in plan.definitions
    }
    names = plan.variables
    first_variables = frozenset(names[variable] for variable in follow.first)
    # A last row that is also the first row of its match needs no bound.
    last_variables = [
        names[variable] for variable in sorted(follow.last) if follow.find_predecessors(variable)
    ]
    bounds_of_last = [select_bounds(facts.get(name, ())) for name in last_variables]
    if not bounds_of_last or not all(bounds_of_last):
        return plan
    order = find_order_type(plan.order_by[0].expression.text)
    window = find_widest([find_narrowest(bounds, order) for bounds in bounds_of_last])
    if window is None:
        return plan
    return ConditionWindow(plan, facts, order, first_variables, window).build_plan()


def can_have_condition_window(plan: MatchPlan) -> bool:
    """Return whether the clauses of a plan allow that a window replaces conditions."""
    has_window = plan.within is not None or plan.within_rows is not None
    if has_window or plan.absences or list_negations(plan.pattern):
        return False
    has_special_ends = (
        plan.staging is not None or plan.match_condition is not None or plan.partial is not None
    )
    if has_special_ends or plan.output is MatchOutput.GRAPH:
        return False
    if not plan.order_by or plan.order_by[0].descending:
        return False
    order = plan.order_by[0].expression.text
    return any(
        isinstance(reference, ColumnReference) and reference.argument == order
        for definition in plan.definitions
        for reference in definition.condition.references
    )


def select_bounds(facts: tuple[DistanceFact | None, ...]) -> list[Bound]:
    """Return the facts that are bounds."""
    return [fact for fact in facts if isinstance(fact, Bound)]


def find_narrowest(bounds: list[Bound], order: OrderType) -> MeasuredBound | None:
    """Return the narrowest of the bounds that all hold for the rows of a variable.

    Bounds without a limit are ignored. None if none is left, or if they have several forms.
    """
    measured = []
    for bound in bounds:
        limit = find_limit(bound, order)
        if limit is not None:
            measured.append(MeasuredBound(limit, bound))
    return min(measured, key=find_reach) if have_one_form(measured) else None


def find_widest(bounds: list[MeasuredBound | None]) -> MeasuredBound | None:
    """Return the widest of the bounds of several variables.

    None if a variable has no bound, or if they have several forms.
    """
    measured = [bound for bound in bounds if bound is not None]
    if len(measured) < len(bounds) or not have_one_form(measured):
        return None
    return max(measured, key=find_reach)


def have_one_form(bounds: list[MeasuredBound]) -> bool:
    """Return whether there are bounds, and all of them have the same form."""
    return len({bound.limit.form for bound in bounds}) == 1


def find_reach(bound: MeasuredBound) -> tuple[float, bool]:
    """Return the key by which bounds of one form are compared."""
    return bound.limit.reach


@dataclass(frozen=True, slots=True)
class ConditionWindow:
    """A window that replaces conditions of a plan."""

    plan: MatchPlan
    facts: FactsByVariable
    order: OrderType
    # The variables of first rows.
    first_variables: frozenset[str]
    # The bound that all rows of every match satisfy.
    window: MeasuredBound

    def build_plan(self) -> MatchPlan:
        """Return the plan with the window, and without the conditions that it implies."""
        definitions = []
        for definition in self.plan.definitions:
            remaining = self.remove_implied(definition)
            if remaining is not None:
                definitions.append(remaining)
        within = Within(RowExpression(""), self.build_distance())
        return replace(self.plan, within=within, definitions=tuple(definitions))

    def build_distance(self) -> Distance:
        """Return how far the window reaches, and whose conditions it replaces."""
        limit, bound = self.window
        implied_forms = [
            fact.form
            for facts in self.facts.values()
            for fact in select_bounds(facts)
            if self.implies(fact)
        ]
        return Distance(
            limit=limit.value,
            text=f"{'less than' if bound.strict else 'at most'} {bound.text}",
            variables=tuple(name for name in self.facts if self.implies_bound_of(name)),
            forms=tuple(dict.fromkeys(implied_forms)),
            strict=limit.strict,
            first_must_be_inside=self.first_must_be_inside,
            bits=find_integer_bits(self.order),
        )

    @property
    def first_must_be_inside(self) -> bool:
        """Return whether the window is tested on first rows, because their conditions require it.

        A first row is outside of the window that begins with it only if its order value is NULL.
        """
        return all(self.implies_bound_of(name) for name in self.first_variables)

    def remove_implied(self, definition: Definition) -> Definition | None:
        """Return a condition without the conjuncts that the window implies; None if none is left.

        The condition of a first row stays if the window is not tested on first rows.
        """
        name = definition.variable
        if name in self.first_variables and not self.first_must_be_inside:
            return definition
        parts = split_conjuncts(definition.condition)
        remaining = tuple(
            part
            for part, fact in zip(parts, self.facts[name], strict=True)
            if fact is None or not self.implies(fact)
        )
        if len(remaining) == len(parts):
            return definition
        if not remaining:
            return None
        condition = join_conditions("AND", remaining, definition.condition.span)
        return replace(definition, condition=condition)

    def implies_bound_of(self, variable: str) -> bool:
        """Return whether the window implies a bound in the condition of a variable."""
        return any(self.implies(bound) for bound in select_bounds(self.facts.get(variable, ())))

    def implies(self, fact: DistanceFact) -> bool:
        """Return whether a conjunct holds for all rows in the window, except perhaps the first."""
        if isinstance(fact, NotBefore):
            is_time_order = self.order.type.family in TIMES
            return fact.zero is None or fact.zero.is_time is is_time_order
        limit = find_limit(fact, self.order)
        window = self.window.limit
        return limit is not None and limit.form is window.form and limit.reach >= window.reach
