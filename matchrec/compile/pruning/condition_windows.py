"""Replace conditions that bound the length of a match by a window, as if WITHIN were written.

    PATTERN (V X*? C) DEFINE C AS C.ts - V.ts <= 1800 AND C.kind = 'c', X AS X.ts - V.ts <= 1800

becomes

    PATTERN (V X*? C) DEFINE C AS C.kind = 'c'        with a window of 1800, inclusive

A window is cheaper. Its end is found once for each first row, and conditions that read only the
current row can be computed before the search.

The matches are the same, because rows ascend along the order column:

- The window excludes no match. Every match ends with a row of C, which is at most 1800 after the
  row of V. All rows between them are also at most 1800 after the row of V.
- The removed conditions exclude no match, because every row in the window satisfies them. A
  condition with a smaller limit than the window, such as `X.ts - V.ts <= 60`, is kept.

The steps are:

1. `distance_facts` reads what each conjunct of DEFINE says about the distance from the first row of
   the match.
2. `window_limits` converts each bound to units of the order column.
3. Choose the window. A row of C satisfies all bounds of C, so the narrowest of them counts. If a
   match can end with C or with D, only the wider of the two bounds holds for every match.
4. `WindowRewrite` adds the window to the plan and removes the conjuncts that the window implies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from matchrec.automaton.follow_sets import FollowSets
from matchrec.compile.pruning.distance_facts import (
    DistanceBound,
    DistanceFact,
    NotBefore,
    read_distances,
)
from matchrec.compile.pruning.window_limits import Limit, find_integer_bits, find_limit
from matchrec.conditions.types import TIMES
from matchrec.conditions.window_columns import OrderType
from matchrec.plan.build_expressions import join_conditions
from matchrec.plan.clauses import Definition, Distance, MatchOutput, RowExpression, Within
from matchrec.plan.expression import ColumnReference, split_conjuncts
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import list_negations

# For each variable with a condition, the fact that each of its conjuncts states. None for a
# conjunct that says nothing about the distance from the first row.
FactsByVariable = Mapping[str, tuple[DistanceFact | None, ...]]


class MeasuredBound(NamedTuple):
    """A bound from DEFINE, and the same bound in units of the order column."""

    limit: Limit
    bound: DistanceBound


# The interval of a window that the user did not write.
_NO_INTERVAL = RowExpression("")


def replace_conditions_by_window(
    plan: MatchPlan, follow: FollowSets, find_order_type: Callable[[str], OrderType]
) -> MatchPlan:
    """Return the plan with a window instead of the conditions that bound every match.

    If conditions do not bound every match, the plan is returned unchanged.

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
    bounds_of_last_rows = [
        select_bounds(facts.get(plan.variables[variable_id], ()))
        for variable_id in sorted(follow.last)
        if follow.find_predecessors(variable_id)  # A match of a single row needs no bound.
    ]
    has_unbounded_matches = any(not bounds for bounds in bounds_of_last_rows)
    if not bounds_of_last_rows or has_unbounded_matches:
        return plan
    order = find_order_type(plan.order_by[0].expression.text)
    window = choose_window(bounds_of_last_rows, order)
    if window is None:
        return plan
    first_variables = frozenset(plan.variables[variable_id] for variable_id in follow.first)
    return WindowRewrite(plan, facts, order, first_variables, window).build_plan()


def can_have_condition_window(plan: MatchPlan) -> bool:
    """Return whether a window may replace conditions of a plan, whatever their bounds are.

    The result is False

    - if the plan already has a window, or has NOT, stages, a condition on the whole match, partial
      matches or a graph as output,
    - if rows do not ascend along the order column,
    - if no condition reads the order column, because then no condition bounds a match.
    """
    has_window = plan.within is not None or plan.within_rows is not None
    if has_window or plan.absences or list_negations(plan.pattern):
        return False
    has_special_ends = (
        plan.staging is not None or plan.match_condition is not None or plan.partial is not None
    )
    if has_special_ends or plan.output is MatchOutput.GRAPH:
        return False
    if not plan.order_by or plan.order_by[0].is_descending:
        return False
    order = plan.order_by[0].expression.text
    return any(
        isinstance(reference, ColumnReference) and reference.argument == order
        for definition in plan.definitions
        for reference in definition.condition.references
    )


def select_bounds(facts: tuple[DistanceFact | None, ...]) -> list[DistanceBound]:
    """Return the facts that are bounds."""
    return [fact for fact in facts if isinstance(fact, DistanceBound)]


def choose_window(
    bounds_of_last_rows: list[list[DistanceBound]], order: OrderType
) -> MeasuredBound | None:
    """Return the narrowest bound that the last row of every match satisfies.

    Args:
        bounds_of_last_rows: for each variable with which a match can end, the bounds of its rows.
        order: the type of the order column.

    Returns:
        The bound; None if a variable has no bound that is known in units of the order column, or if
        bounds cannot be compared because they round in different ways.
    """
    narrowest_bounds = []
    for bounds in bounds_of_last_rows:
        measured_bounds = measure_bounds(bounds, order)
        if not measured_bounds or not have_one_form(measured_bounds):
            return None
        narrowest_bounds.append(min(measured_bounds, key=lambda measured: measured.limit.width))
    if not have_one_form(narrowest_bounds):
        return None
    return max(narrowest_bounds, key=lambda measured: measured.limit.width)


def measure_bounds(bounds: list[DistanceBound], order: OrderType) -> list[MeasuredBound]:
    """Return the bounds whose limits are known in units of the order column."""
    measured_bounds = []
    for bound in bounds:
        limit = find_limit(bound, order)
        if limit is not None:
            measured_bounds.append(MeasuredBound(limit, bound))
    return measured_bounds


def have_one_form(bounds: list[MeasuredBound]) -> bool:
    """Return whether all bounds have the same form, so that `Limit.width` can compare them."""
    return len({bound.limit.form for bound in bounds}) <= 1


@dataclass(frozen=True, slots=True)
class WindowRewrite:
    """The rewrite of a plan: a window is added, and the conditions that it implies are removed."""

    # The plan before the rewrite.
    plan: MatchPlan
    # What the conditions say about the distance from the first row of a match.
    facts: FactsByVariable
    # The type of the order column.
    order: OrderType
    # The variables to which the first row of a match can be mapped.
    first_variables: frozenset[str]
    # The bound that becomes the window: all rows of every match satisfy it.
    window: MeasuredBound

    def build_plan(self) -> MatchPlan:
        """Return the plan with the window, and without the conditions that it implies."""
        definitions = []
        for definition in self.plan.definitions:
            kept_definition = self.remove_implied(definition)
            if kept_definition is not None:
                definitions.append(kept_definition)
        within = Within(_NO_INTERVAL, self.build_distance())
        return replace(self.plan, within=within, definitions=tuple(definitions))

    def build_distance(self) -> Distance:
        """Return the length of the window, with the variables whose conditions it replaces."""
        limit, bound = self.window
        comparison = "less than" if bound.is_strict else "at most"
        implied_forms = [
            fact.form
            for facts in self.facts.values()
            for fact in select_bounds(facts)
            if self.implies(fact)
        ]
        return Distance(
            limit=limit.value,
            text=f"{comparison} {bound.text}",
            variables=tuple(name for name in self.facts if self.implies_bound_of(name)),
            forms=tuple(dict.fromkeys(implied_forms)),
            excludes_limit=limit.is_strict,
            first_must_be_inside=self.first_must_be_inside,
            bits=find_integer_bits(self.order),
        )

    @property
    def first_must_be_inside(self) -> bool:
        """Return whether the first row of a match must be inside its own window.

        The row is outside if its order value is NULL, because NULL is within no distance of NULL:

            PATTERN (X+) DEFINE X AS X.ts - FIRST(X.ts) <= 1800

        Here, the condition of X excludes such a first row, so a window that replaces the condition
        must exclude it, too. In `PATTERN (V X*)`, where V has no bound, the row of V may begin a
        match, so the window must not exclude it.
        """
        return all(self.implies_bound_of(name) for name in self.first_variables)

    def remove_implied(self, definition: Definition) -> Definition | None:
        """Return a condition without the conjuncts that the window implies; None if none remains.

        The condition of a first row is kept if first rows need not be in their windows, because it
        may exclude rows whose order value is NULL.
        """
        name = definition.variable
        if name in self.first_variables and not self.first_must_be_inside:
            return definition
        conjuncts = split_conjuncts(definition.condition)
        kept_conjuncts = tuple(
            conjunct
            for conjunct, fact in zip(conjuncts, self.facts[name], strict=True)
            if fact is None or not self.implies(fact)
        )
        if len(kept_conjuncts) == len(conjuncts):
            return definition
        if not kept_conjuncts:
            return None
        condition = join_conditions("AND", kept_conjuncts, definition.condition.span)
        return replace(definition, condition=condition)

    def implies_bound_of(self, variable: str) -> bool:
        """Return whether the window implies a bound of a variable, so that it can replace it."""
        return any(self.implies(bound) for bound in select_bounds(self.facts.get(variable, ())))

    def implies(self, fact: DistanceFact) -> bool:
        """Return whether every row inside the window satisfies the conjunct that states a fact.

        The first row of a match may be outside its window: see `first_must_be_inside`.
        """
        if isinstance(fact, NotBefore):
            is_time_order = self.order.type.family in TIMES
            # If the zero has another type than differences of the order, Spark decides about it.
            return fact.zero is None or fact.zero.is_time == is_time_order
        limit = find_limit(fact, self.order)
        window = self.window.limit
        return limit is not None and limit.form is window.form and limit.width >= window.width
