"""Windows in disguise: conditions on the order column that bound a match as WITHIN does.

    PATTERN (V X*? C) DEFINE C AS C.ts - V.ts <= 1800 AND C.kind = 'c', X AS X.ts - V.ts <= 1800
    PATTERN (V X*? C) DEFINE C AS C.kind = 'c'        and a window of 1800, inclusive

Where the last row of every match lies no further than so much after the first one, all rows of it
do, as they ascend; so what such a window implies need not be asked of the run. Which variables are
first and last the row pattern says. A window that is written says how far it reaches as well: what
is a distance is compared as one, and is never added to a value of the order, which could overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, nextafter

from matchrec.automaton.closure import FollowSets
from matchrec.automaton.program import VariableId
from matchrec.conditions.row_column import OrderType
from matchrec.conditions.split import ConditionSplitter, is_bare
from matchrec.conditions.types import BIGINT, DOUBLE, INT, TIMES, Family, is_wide_decimal
from matchrec.plan.clauses import (
    Definition,
    Distance,
    Form,
    Gap,
    MatchOutput,
    RowExpression,
    Within,
)
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    End,
    Navigation,
    Operation,
    Scalar,
    Term,
    amount_of,
    column_term,
    comparison,
    conjuncts,
    differs_by_less,
    joined,
    literal,
    number_term,
    render,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import always_precedes, negated_names, negations
from matchrec.plan.text import MICROSECONDS, Amount

# What a conjunct of DEFINE says of how far a row lies after the first one, along the order.
#
#     C.ts - V.ts <= 1800        C.ts < V.ts + INTERVAL '1' HOUR        C.ts - 1800 <= FIRST(ts)
#
# For a first row each of them holds of the rows up to some row after it: rows ascend, and so do
# differences and sums, rounded or not.

# How two values compare, once the smaller one stands first.
NEAR_FIRST = {"<": "<", "<=": "<=", ">": "<", ">=": "<="}
MOST = 2**31  # a product of INT is smaller


# Whether two scalars are the order values of the current row and of the first row of the match.
InOrder = Callable[[Scalar, Scalar], bool]


@dataclass(frozen=True, slots=True)
class Bound:
    """The current row lies so far after the first one at most, or less where it is strict."""

    form: Form
    amount: Amount
    written: str
    strict: bool


@dataclass(frozen=True, slots=True)
class NotBefore:
    """The current row does not lie before the first one; zero: with what that is compared."""

    zero: Amount | None


Meaning = Bound | NotBefore | None


def read_distance(conjunct: Scalar, in_order: InOrder) -> Meaning:
    if not isinstance(conjunct, Operation):
        return None
    if conjunct.operator == "BETWEEN":
        value, low, high = conjunct.operands
        least, most = compared("<=", low, value, in_order), compared("<=", value, high, in_order)
        if not isinstance(least, NotBefore) or not isinstance(most, Bound):
            return None
        alike = least.zero is None or least.zero.is_time is most.amount.is_time
        return most if alike else None
    if conjunct.operator not in NEAR_FIRST:
        return None
    left, right = conjunct.operands
    near, far = (left, right) if conjunct.operator in ("<", "<=") else (right, left)
    return compared(NEAR_FIRST[conjunct.operator], near, far, in_order)


def compared(operator: str, near: Scalar, far: Scalar, in_order: InOrder) -> Meaning:
    """What `near < far` or `near <= far` says."""
    for form, length in lengths(near, far, in_order):
        found = constant(length)
        if found is not None:
            return Bound(form, found, render(length, str).strip("() "), operator == "<")
    if operator == "<=" and in_order(far, near):
        return NotBefore(None)
    zero = constant(near)
    if operator == "<=" and zero is not None and not zero.value:
        match far:
            case Operation(operator="-", operands=(left, right)) if in_order(left, right):
                return NotBefore(zero)
    return None


def lengths(near: Scalar, far: Scalar, in_order: InOrder) -> Iterator[tuple[Form, Scalar]]:
    """What would be the distance in `near < far`, by the forms that it may have."""
    match near:
        case Operation(operator="TRY_SUBTRACT", operands=(left, right)):
            if in_order(left, right):
                yield Form.TRIED, far
        case Operation(operator="-", operands=(left, right)):
            if in_order(left, right):
                yield Form.DIFFERENCE, far
            if in_order(left, far):
                yield Form.LESS, right
        case Operation(operator="DATEDIFF", operands=(left, right), words=()):
            if in_order(left, right):
                yield Form.DAYS, far
    match far:
        case Operation(operator="+", operands=(left, right)):
            if in_order(near, left):
                yield Form.SUM, right
            if in_order(near, right):
                yield Form.SUM, left


def constant(scalar: Scalar) -> Amount | None:
    """How much a constant is: a number, an interval or a product of whole numbers."""
    if scalar.references:
        return None
    if not (isinstance(scalar, Operation) and scalar.operator == "*"):
        return amount_of(scalar)
    left, right = (constant(operand) for operand in scalar.operands)
    if left is None or right is None or left.is_time or right.is_time:
        return None
    product = left.value * right.value
    exact = left.value.denominator == right.value.denominator == 1 and abs(product) < MOST
    return Amount(product) if exact else None


# How far a window of conditions reaches, exactly, in the units in which its order is held.
#
# Integers, decimals, dates and times have whole numbers of units, so each form of a condition is
# one limit there. With a DOUBLE the forms round in different ways. Where Spark's own result is not
# one limit for all rows, there is none: local times that go back, an interval of days along them.

MOST_UNITS = {Family.DATE: 10**6, Family.TIMESTAMP: 2**56, Family.TIMESTAMP_NTZ: 2**56}
LONGEST = 2**63 - 1  # of numbers
HELD = (32, 64)  # widths of integers, of which a difference is as wide as its order


@dataclass(frozen=True, slots=True)
class Limit:
    """Rows are in a window up to this distance, or less where it is strict."""

    value: int | float
    form: Form = Form.DIFFERENCE
    strict: bool = False

    @property
    def reach(self) -> tuple[float, bool]:
        return self.value, not self.strict


def limit_of(bound: Bound, order: OrderType) -> Limit | None:
    """The limit that a bound is along an order column; None where it is none, or below zero."""
    if order.type == DOUBLE:
        if bound.amount.is_time or bound.form in (Form.DAYS, Form.TRIED):
            return None
        value, strict = float(bound.amount.value), bound.strict
        if bound.form is Form.DIFFERENCE and strict:
            value, strict = nextafter(value, -1), False
        is_limit = value >= 0 and not (strict and not value)
        return Limit(value, bound.form, strict) if is_limit else None
    unit = unit_of(bound, order)
    if unit is None:
        return None
    units = bound.amount.value / unit
    limit = ceil(units) - 1 if bound.strict else floor(units)
    return Limit(limit) if 0 <= limit < MOST_UNITS.get(order.type.family, LONGEST) else None


def unit_of(bound: Bound, order: OrderType) -> Fraction | None:
    """How much a unit of the order is in an amount's; None where Spark does not count in it.

    Dates differ by intervals, and days are added to them.
    """
    length, family = bound.amount, order.type.family
    if bound.form is Form.DAYS:
        return Fraction(1) if family is Family.DATE and not length.is_time else None
    match family:
        case Family.INTEGER if order.type.bits in HELD and not length.is_time:
            return Fraction(1)
        case Family.DECIMAL if not is_wide_decimal(order.type) and not length.is_time:
            return Fraction(1, 10**order.type.scale)
        case Family.DATE if bound.form is Form.DIFFERENCE or length.is_days:
            return Fraction(MICROSECONDS["DAY"]) if length.is_time else None
        case Family.DATE if not length.is_time and length.value.denominator == 1:
            return Fraction(1)
        case Family.TIMESTAMP_NTZ if length.is_time:
            return Fraction(1)
        case Family.TIMESTAMP if length.is_time:
            in_hours = bound.form is not Form.DIFFERENCE and length.value < MICROSECONDS["DAY"] - 1
            return Fraction(1) if order.has_one_offset or in_hours else None
    return None


Window = tuple[Limit, Bound]
# By variable what each conjunct of its condition says.
Said = Mapping[str, tuple[Meaning, ...]]


def measure_windows(plan: MatchPlan, order: OrderType) -> MatchPlan:
    """The plan whose written windows say how far they reach, where that is known."""
    within = plan.within and replace(plan.within, distance=distance(plan.within.interval, order))
    bits = bits_of(order)
    gaps = (replace(gap, distance=distance(gap.interval, order), bits=bits) for gap in plan.gaps)
    return replace(plan, within=within, gaps=tuple(gaps))


def bits_of(order: OrderType) -> int:
    return order.type.bits if order.type.family is Family.INTEGER else 0


def distance(interval: RowExpression, order: OrderType) -> Distance | None:
    """How far a window reaches; None along a DOUBLE, where a sum is rounded."""
    length = interval.amount
    if length is None or order.type == DOUBLE:
        return None
    limit = limit_of(Bound(Form.SUM, length, interval.text, strict=True), order)
    return None if limit is None else Distance(limit.value, f"less than {interval.text}")


def find_condition_window(
    plan: MatchPlan, follow: FollowSets, type_of_order: Callable[[str], OrderType]
) -> MatchPlan:
    """The resolved plan with the window that its conditions say, without what that implies."""
    if not may_have_one(plan):
        return plan
    said: Said = {
        definition.variable: tuple(
            read_distance(part, order_in(plan, follow, definition.variable))
            for part in conjuncts(definition.condition)
        )
        for definition in plan.definitions
    }
    names = plan.variables
    last = [names[one] for one in sorted(follow.last) if follow.before(one)]
    first = frozenset(names[one] for one in follow.first)
    if not last or not all(map(bounds, (said.get(name, ()) for name in last))):
        return plan
    order = type_of_order(plan.order_by[0].expression.text)
    found = [narrowest(said[name], order) for name in last]
    limits = [one for one in found if one is not None]
    window = of_one_form(max, limits) if len(limits) == len(found) else None  # the widest
    return plan if window is None else Recognised(plan, said, order, first, window).plan_of_window()


def may_have_one(plan: MatchPlan) -> bool:
    """Whether a window that conditions say could be the window of a plan."""
    has_own = plan.within is not None or plan.within_rows is not None
    has_absent = bool(plan.absences or negations(plan.pattern))
    is_plain = plan.staging is None and plan.closing is None and plan.partial is None
    ascends = plan.order_by and not plan.order_by[0].descending
    chosen = plan.output is not MatchOutput.GRAPH
    if not (ascends and is_plain and chosen) or has_absent or has_own:
        return False
    order = plan.order_by[0].expression.text
    read = (one for asked in plan.definitions for one in asked.condition.references)
    return any(isinstance(one, ColumnReference) and one.argument == order for one in read)


def order_in(plan: MatchPlan, follow: FollowSets, variable: str) -> InOrder:
    """What tells order values in the condition of a variable."""
    order, splitter = plan.order_by[0].expression.text, ConditionSplitter(plan, variable)

    def in_order(current: Scalar, first: Scalar) -> bool:
        if not (is_bare(current) and is_bare(first)):
            return False
        here, there = current.references[0], first.references[0]
        if not (isinstance(here, ColumnReference) and isinstance(there, ColumnReference)):
            return False
        is_current, is_other = splitter.distance(here) == 0, splitter.distance(there) != 0
        leads_to_first = is_other and is_first_row(plan, follow, there.navigation)
        return here.argument == there.argument == order and is_current and leads_to_first

    return in_order


def is_first_row(plan: MatchPlan, follow: FollowSets, navigation: Navigation) -> bool:
    members = plan.members[navigation.variable]
    moves = navigation.logical_offset or navigation.physical_offset
    once = navigation.end is End.FIRST or not any(map(follow.before, members))
    return not moves and once and follow.first <= members


def bounds(parts: tuple[Meaning, ...]) -> list[Bound]:
    return [part for part in parts if isinstance(part, Bound)]


def narrowest(parts: tuple[Meaning, ...], order: OrderType) -> Window | None:
    """The narrowest of the bounds that all hold of a variable's rows, with its limit."""
    known = ((limit_of(bound, order), bound) for bound in bounds(parts))
    return of_one_form(min, [(limit, bound) for limit, bound in known if limit is not None])


def of_one_form(pick: Callable[..., Window], limits: list[Window]) -> Window | None:
    """The least or the greatest of limits; None of none, and of several forms."""
    is_one_form = len({limit.form for limit, _ in limits}) == 1
    return pick(limits, key=lambda one: one[0].reach) if is_one_form else None


@dataclass(frozen=True, slots=True)
class Recognised:
    """A window that conditions say. first: variables of first rows."""

    plan: MatchPlan
    said: Said
    order: OrderType
    first: frozenset[str]
    window: Window

    def plan_of_window(self) -> MatchPlan:
        left = tuple(filter(None, map(self.rest_of, self.plan.definitions)))
        limit, bound = self.window
        said = (one for parts in self.said.values() for one in bounds(parts))
        forms = tuple(dict.fromkeys(one.form for one in said if self.implies(one)))
        names, bits = tuple(filter(self.is_implied_in, self.said)), bits_of(self.order)
        written = f"{'less than' if bound.strict else 'at most'} {bound.written}"
        found = Distance(limit.value, written, names, forms, limit.strict, self.tests_first, bits)
        within = Within(RowExpression(""), found)
        return replace(self.plan, within=within, definitions=left)

    @property
    def tests_first(self) -> bool:
        """Whether the conditions of all variables of first rows say it of these rows as well."""
        return all(self.is_implied_in(name) for name in self.first)

    def rest_of(self, definition: Definition) -> Definition | None:
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
        return any(map(self.implies, bounds(self.said.get(variable, ()))))

    def implies(self, part: Bound | NotBefore) -> bool:
        """Whether a conjunct holds of all rows in a window, but perhaps of a first row."""
        if isinstance(part, NotBefore):
            return part.zero is None or part.zero.is_time is (self.order.type.family in TIMES)
        limit, window = limit_of(part, self.order), self.window[0]
        return limit is not None and limit.form is window.form and limit.reach >= window.reach


# Windows inside of a match that rows alone do not tell, as conditions.
#
#     WITHIN 10 FROM A TO C            C AS C.ts < A.ts + 10, where a row of A stands before
#     WITHIN 5 BETWEEN ROWS, skipping  each variable AS ts < LAST(ts, 1) + 5, but of the first row
#
# Along a BIGINT, where the sum could overflow, C AS try_subtract(C.ts, A.ts) < 10: rows ascend, so
# what differs by more than a BIGINT holds is not near.
#
# Rows of a match that follow each other in the partition need none of it: a row that lies too far
# after the one before it ends the window of all rows before.


def gaps_as_conditions(plan: MatchPlan, follow: FollowSets) -> MatchPlan:
    """The plan whose only windows are those that rows tell. plan: resolved."""
    conditions = list(conditions_of_gaps(plan, follow))
    if not conditions:
        return plan
    definitions = {definition.variable: definition for definition in plan.definitions}
    for variable, condition in conditions:
        known = definitions.get(variable)
        parts = (condition,) if known is None else (known.condition, condition)
        both = joined("AND", parts, parts[0].span)
        definitions[variable] = Definition(variable, both, known.span if known else None)
    in_order = (definitions[name] for name in plan.variables if name in definitions)
    left = () if plan.row_gap is None or plan.selects else (plan.row_gap,)
    return replace(plan, definitions=tuple(in_order), gaps=left)


def conditions_of_gaps(plan: MatchPlan, follow: FollowSets) -> Iterator[tuple[str, Scalar]]:
    for gap in plan.gaps:
        if gap.to is not None:
            for member in sorted(plan.members[gap.to]):
                yield plan.variables[member], after_variable(plan, gap, member, follow)
        elif plan.selects:
            near = less_after(plan, gap, Navigation(logical_offset=1))
            unless_first = joined("OR", (count_is(None, 1, gap), near))
            for variable in filter(follow.before, sorted(plan.members[None])):
                yield plan.variables[variable], unless_first if variable in follow.first else near


def after_variable(plan: MatchPlan, gap: Gap, to: VariableId, follow: FollowSets) -> Scalar:
    """Less than the interval after the last row of a variable, if there is one.

    Where that is always the row before, it is read there, so that Spark computes it. A row that
    must not follow has other rows before it than those that are mapped to its variable.
    """
    members, name = plan.members[gap.after], plan.variables[to]
    is_mapped = name not in negated_names(plan.pattern)
    is_next = follow.before(to) <= members and to not in follow.first and not plan.selects
    row = Navigation(physical_offset=-1) if is_mapped and is_next else Navigation(gap.after)
    near = less_after(plan, gap, row)
    names = frozenset(plan.variables[member] for member in members)
    if is_mapped and (is_next or always_precedes(plan.pattern, names, name)):
        return near
    return joined("OR", (count_is(gap.after, 0, gap), near))


def less_after(plan: MatchPlan, gap: Gap, row: Navigation) -> Scalar:
    """`ts < <ts of the row> + interval`, or `try_subtract(ts, <ts of the row>) < interval`."""
    order, span = plan.order_by[0].expression.text, gap.interval.place
    here, there = (column_term(navigation, order, span) for navigation in (Navigation(), row))
    text = gap.interval.text
    if gap.bits == INT.bits and text.isdigit():
        text += "L"  # no sum of a BIGINT is too large, as one of two INTs may be
    length = literal(text, span, gap.interval.amount)
    if gap.bits == BIGINT.bits:
        return differs_by_less(here, there, length)
    end = Operation("+", (there, " + ", length), span)
    return Operation("<", (here, " < ", end), span)


def count_is(variable: str | None, number: int, gap: Gap) -> Scalar:
    """`count(variable.*) = number`, with the current row. gap: whose place it has."""
    span = gap.interval.place
    count = Aggregate("count", variable, (), span=span)
    return comparison("=", Term((count,), span), number_term(number, span))
