"""Windows in disguise: conditions on the order column that bound a match as WITHIN does.

    PATTERN (V X*? C) DEFINE C AS C.ts - V.ts <= 1800 AND C.kind = 'c', X AS X.ts - V.ts <= 1800
    PATTERN (V X*? C) DEFINE C AS C.kind = 'c'        and a window of 1800, inclusive

Where the last row of every match lies no further than so much after the first one, all rows of it
do, as they ascend; so what such a window implies need not be asked of the run. Which variables are
first and last the row pattern says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from matchrec.conditions.split import ConditionSplitter
from matchrec.conditions.types import TIMES, Family
from matchrec.conditions.within import OrderType
from matchrec.dataclass import dataclass
from matchrec.nfa.facts import FollowSets
from matchrec.plan.clauses import (
    ConditionWindow,
    Definition,
    MatchOutput,
    RowExpression,
    Within,
)
from matchrec.plan.combined import conjuncts, joined
from matchrec.plan.expression import (
    ColumnReference,
    End,
    Navigation,
    Reference,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import negations
from matchrec.pruning.distances import Bound, NotBefore, Row, RowOf, read_distance
from matchrec.pruning.limits import Limit, interval_of, limit_of

Said = Mapping[str, tuple[Bound | NotBefore | None, ...]]
"""By variable what each conjunct of its condition says."""


def find_condition_window(
    plan: MatchPlan, follow: FollowSets, type_of_order: Callable[[str], OrderType]
) -> MatchPlan:
    """The plan with the window that its conditions say, without what the window implies.

    plan: resolved. type_of_order: of the text of an order column, asked only where it matters.
    """
    if not may_have_one(plan):
        return plan
    said: Said = {
        one.variable: tuple(
            read_distance(part, row_of(plan, follow, one.variable))
            for part in conjuncts(one.condition)
        )
        for one in plan.definitions
    }
    names = plan.variables
    last = [names[one] for one in sorted(follow.last) if follow.before(one)]
    first = frozenset(names[one] for one in follow.first)
    if not last or not all(map(bounds, (said.get(name, ()) for name in last))):
        return plan
    order = type_of_order(plan.order_by[0].expression.text)
    window = widest([narrowest(said[name], order) for name in last])
    return plan if window is None else Recognised(plan, said, order, first, window).plan_of_window()


def may_have_one(plan: MatchPlan) -> bool:
    """Whether a window that conditions say could be the window of a plan."""
    has_own = plan.within is not None or plan.within_rows is not None
    has_absent = bool(plan.absences or negations(plan.pattern))
    is_plain = plan.staging is None and plan.closing is None and plan.partial is None
    ascends = plan.order_by and not plan.order_by[0].descending
    chosen = plan.output is not MatchOutput.GRAPH
    return bool(ascends and is_plain and chosen and not has_absent and not has_own)


def row_of(plan: MatchPlan, follow: FollowSets, variable: str) -> RowOf:
    """Whose order value a reference reads in the condition of a variable."""
    order, splitter = plan.order_by[0].expression.text, ConditionSplitter(plan, variable)

    def find(reference: Reference) -> Row | None:
        if not isinstance(reference, ColumnReference) or reference.argument != order:
            return None
        if splitter.distance(reference) == 0:
            return Row.CURRENT
        return Row.FIRST if is_first_row(plan, follow, reference.navigation) else None

    return find


def is_first_row(plan: MatchPlan, follow: FollowSets, navigation: Navigation) -> bool:
    """Whether it leads to the first row of every match."""
    members = plan.members(navigation.variable)
    moves = navigation.logical_offset or navigation.physical_offset
    once = navigation.end is End.FIRST or not any(map(follow.before, members))
    return not moves and once and follow.first <= members


def bounds(parts: tuple[Bound | NotBefore | None, ...]) -> list[Bound]:
    """Those that bound the distance."""
    return [one for one in parts if isinstance(one, Bound)]


def narrowest(
    parts: tuple[Bound | NotBefore | None, ...], order: OrderType
) -> tuple[Limit, Bound] | None:
    """The narrowest of the bounds that all hold of a variable's rows, with its limit."""
    known = ((limit_of(one, order), one) for one in bounds(parts))
    limits = [(limit, one) for limit, one in known if limit is not None]
    is_one_form = len({limit.form for limit, _ in limits}) == 1
    return min(limits, key=lambda one: one[0].reach) if is_one_form else None


def widest(found: list[tuple[Limit, Bound] | None]) -> tuple[Limit, Bound] | None:
    """The widest of the bounds of several variables; None where one has none."""
    limits = [one for one in found if one is not None]
    is_one_form = len({limit.form for limit, _ in limits}) == 1
    if len(limits) < len(found) or not is_one_form:
        return None
    return max(limits, key=lambda one: one[0].reach)


@dataclass(frozen=True, slots=True)
class Recognised:
    """A window that conditions say. first: variables of first rows."""

    plan: MatchPlan
    said: Said
    order: OrderType
    first: frozenset[str]
    window: tuple[Limit, Bound]

    def plan_of_window(self) -> MatchPlan:
        """The plan with the window."""
        definitions = (self.rest_of(one) for one in self.plan.definitions)
        return replace(
            self.plan,
            within=self.within(),
            definitions=tuple(one for one in definitions if one is not None),
        )

    def within(self) -> Within:
        limit, bound = self.window
        type_ = self.order.type
        found = ConditionWindow(
            limit.form,
            limit.value,
            limit.strict,
            self.tests_first,
            type_.bits if type_.family is Family.INTEGER else 0,
            tuple(name for name in self.said if self.is_implied_in(name)),
            f"{'less than' if bound.strict else 'at most'} {bound.written}",
        )
        return Within(RowExpression(interval_of(limit, self.order)), found)

    @property
    def tests_first(self) -> bool:
        """Whether the conditions of all variables of first rows say it of these rows as well."""
        return all(self.is_implied_in(name) for name in self.first)

    def rest_of(self, definition: Definition) -> Definition | None:
        """What is left of a condition, if anything is."""
        name, parts = definition.variable, conjuncts(definition.condition)
        if name in self.first and not self.tests_first:
            return definition
        said = zip(parts, self.said[name], strict=True)
        left = tuple(part for part, one in said if one is None or not self.implies(one))
        if len(left) == len(parts):
            return definition
        if not left:
            return None
        whole = definition.condition
        return replace(definition, condition=joined("AND", left, whole.span))

    def is_implied_in(self, variable: str) -> bool:
        """Whether the window implies a bound of a variable."""
        return any(map(self.implies, bounds(self.said.get(variable, ()))))

    def implies(self, part: Bound | NotBefore) -> bool:
        """Whether a conjunct holds of all rows in a window, but perhaps of a first row."""
        if isinstance(part, NotBefore):
            return part.zero is None or part.zero.is_time is (self.order.type.family in TIMES)
        limit, window = limit_of(part, self.order), self.window[0]
        return limit is not None and limit.form is window.form and limit.reach >= window.reach
