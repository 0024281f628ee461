"""Find conditions on the order column that bound a match as WITHIN does, and windows as conditions.

    PATTERN (V X*? C) DEFINE C AS C.ts - V.ts <= 1800 AND C.kind = 'c', X AS X.ts - V.ts <= 1800

becomes

    PATTERN (V X*? C) DEFINE C AS C.kind = 'c'        with a window of 1800, inclusive

Rows ascend along the order. So if the last row of every match is at most some distance after the
first one, all rows of the match are, and the search need not test the conditions that this implies.
The row pattern tells which variables are the first and the last ones of a match.

Windows that the user wrote are measured, too: their intervals become distances. A worker compares
the difference of two order values with a distance. It never adds an interval to an order value,
because the sum could overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, nextafter
from typing import NamedTuple

from matchrec.automaton.facts import FollowSets
from matchrec.automaton.program import VariableId
from matchrec.conditions.rows_read import find_distance, is_single_reference
from matchrec.conditions.types import BIGINT, DOUBLE, INT, TIMES, Family, is_wide_decimal
from matchrec.conditions.window_columns import OrderType
from matchrec.plan.amounts import MICROSECONDS, Amount
from matchrec.plan.clauses import (
    Definition,
    Distance,
    DistanceForm,
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
    build_difference_test,
    compare_scalars,
    find_amount,
    join_conditions,
    make_column,
    make_literal,
    make_number,
    render,
    split_conjuncts,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import always_precedes, list_negated_names, list_negations

# What a conjunct of DEFINE says about how far a row is after the first row, along the order.
#
#     C.ts - V.ts <= 1800        C.ts < V.ts + INTERVAL '1' HOUR        C.ts - 1800 <= FIRST(ts)
#
# Rows ascend, and so do differences and sums, rounded or not. So for a given first row, each of
# these conditions holds for all rows up to some row, and for none after it.

# For each comparison, the one to use once the smaller value is on the left.
SMALLER_LEFT = {"<": "<", "<=": "<=", ">": "<", ">=": "<="}

# Products of INT constants must be smaller than this, so that they do not overflow.
PRODUCT_LIMIT = 2**31

# Returns whether the first scalar is the order value of the current row, and the second one is the
# order value of the first row of the match.
InOrder = Callable[[Scalar, Scalar], bool]


@dataclass(frozen=True, slots=True)
class Bound:
    """A conjunct that bounds how far the current row is after the first row of the match."""

    # The operation by which the two rows are compared.
    form: DistanceForm
    # How far the current row may be after the first one.
    amount: Amount
    # The amount as the user wrote it.
    text: str
    # Whether the distance must be less than the amount; otherwise it may be equal.
    strict: bool


@dataclass(frozen=True, slots=True)
class NotBefore:
    """A conjunct which says that the current row is not before the first row of the match."""

    # The zero in `0 <= C.ts - V.ts`; None for `V.ts <= C.ts`.
    zero: Amount | None


DistanceFact = Bound | NotBefore


def read_distance(conjunct: Scalar, in_order: InOrder) -> DistanceFact | None:
    """Return the fact that a conjunct states about the distance to the first row, or None.

    Args:
        conjunct: a conjunct of the condition of a variable.
        in_order: recognises the order values in this condition.
    """
    if not isinstance(conjunct, Operation):
        return None
    if conjunct.operator == "BETWEEN":
        return read_between(conjunct, in_order)
    if conjunct.operator not in SMALLER_LEFT:
        return None
    left, right = conjunct.operands
    is_ascending = conjunct.operator in ("<", "<=")
    smaller, larger = (left, right) if is_ascending else (right, left)
    return read_comparison(SMALLER_LEFT[conjunct.operator], smaller, larger, in_order)


def read_between(between: Operation, in_order: InOrder) -> Bound | None:
    """Return the bound in `C.ts - V.ts BETWEEN 0 AND 1800`, whose lower bound always holds."""
    value, low, high = between.operands
    lower = read_comparison("<=", low, value, in_order)
    upper = read_comparison("<=", value, high, in_order)
    if not isinstance(lower, NotBefore) or not isinstance(upper, Bound):
        return None
    has_same_type = lower.zero is None or lower.zero.is_time is upper.amount.is_time
    return upper if has_same_type else None


def read_comparison(
    operator: str, smaller: Scalar, larger: Scalar, in_order: InOrder
) -> DistanceFact | None:
    """Return the fact that `smaller < larger` or `smaller <= larger` states about the distance."""
    for form, length in find_lengths(smaller, larger, in_order):
        amount = read_constant(length)
        if amount is not None:
            text = render(length, str).strip("() ")
            return Bound(form, amount, text, strict=operator == "<")
    if operator != "<=":
        return None
    if in_order(larger, smaller):
        return NotBefore(None)
    zero = read_constant(smaller)
    if zero is not None and not zero.value:
        match larger:
            case Operation(operator="-", operands=(left, right)) if in_order(left, right):
                return NotBefore(zero)
    return None


def find_lengths(
    smaller: Scalar, larger: Scalar, in_order: InOrder
) -> Iterator[tuple[DistanceForm, Scalar]]:
    """Yield the length in `smaller < larger`, with its form, if it is a constant.

    For example, `C.ts - V.ts < 1800` yields `Form.DIFFERENCE, 1800`.
    """
    match smaller:
        case Operation(operator="TRY_SUBTRACT", operands=(left, right)):
            if in_order(left, right):
                yield DistanceForm.TRY_DIFFERENCE, larger
        case Operation(operator="-", operands=(left, right)):
            if in_order(left, right):
                yield DistanceForm.DIFFERENCE, larger
            if in_order(left, larger):
                yield DistanceForm.LESS, right
        case Operation(operator="DATEDIFF", operands=(left, right), words=()):
            if in_order(left, right):
                yield DistanceForm.DAYS, larger
    match larger:
        case Operation(operator="+", operands=(left, right)):
            if in_order(smaller, left):
                yield DistanceForm.SUM, right
            if in_order(smaller, right):
                yield DistanceForm.SUM, left


def read_constant(scalar: Scalar) -> Amount | None:
    """Return the value of a number, an interval or a product of whole numbers; else None."""
    if scalar.references:
        return None
    if not (isinstance(scalar, Operation) and scalar.operator == "*"):
        return find_amount(scalar)
    left, right = (read_constant(operand) for operand in scalar.operands)
    if left is None or right is None or left.is_time or right.is_time:
        return None
    product = left.value * right.value
    are_whole = left.value.denominator == right.value.denominator == 1
    return Amount(product) if are_whole and abs(product) < PRODUCT_LIMIT else None


# How far a window of conditions reaches, exactly, in the units of the order column.
#
# Integers, decimals, dates and times are whole numbers of units, so that every form of a condition
# has the same limit. Along a DOUBLE, the forms round in different ways, so a limit belongs to one
# form. If Spark's own result is not the same limit for all rows, there is no limit: differences of
# local times if clocks are changed, and intervals of days that are added to such times.

# Limits of each family of types must be less than this, in units.
LIMITS_OF_UNITS = {Family.DATE: 10**6, Family.TIMESTAMP: 2**56, Family.TIMESTAMP_NTZ: 2**56}
LIMIT_OF_NUMBERS = 2**63 - 1

# The widths in bits of integer order columns along which distances are measured.
INTEGER_WIDTHS = (32, 64)


@dataclass(frozen=True, slots=True)
class Limit:
    """How far after its first row a window reaches."""

    # In units of the order column.
    value: int | float
    # The operation by which rows are compared. It matters along a DOUBLE only.
    form: DistanceForm = DistanceForm.DIFFERENCE
    # Whether a row at the limit is outside of the window.
    strict: bool = False

    @property
    def reach(self) -> tuple[float, bool]:
        """Return a key that compares limits of one form: a larger key is a wider window."""
        return self.value, not self.strict


class MeasuredBound(NamedTuple):
    """A bound with its limit along the order column of a query."""

    limit: Limit
    bound: Bound


def find_limit(bound: Bound, order: OrderType) -> Limit | None:
    """Return the limit of a bound along an order column.

    None if the bound is not the same limit for all rows, or if no row can satisfy it.
    """
    if order.type == DOUBLE:
        return find_double_limit(bound)
    unit = find_unit(bound, order)
    if unit is None:
        return None
    units = bound.amount.value / unit
    limit = ceil(units) - 1 if bound.strict else floor(units)
    is_possible = 0 <= limit < LIMITS_OF_UNITS.get(order.type.family, LIMIT_OF_NUMBERS)
    return Limit(limit) if is_possible else None


def find_double_limit(bound: Bound) -> Limit | None:
    """Return the limit of a bound along a DOUBLE; None as in `find_limit`."""
    if bound.amount.is_time or bound.form in (DistanceForm.DAYS, DistanceForm.TRY_DIFFERENCE):
        return None
    value = float(bound.amount.value)
    strict = bound.strict
    if bound.form is DistanceForm.DIFFERENCE and strict:
        value = nextafter(value, -1)
        strict = False
    is_possible = value > 0 if strict else value >= 0
    return Limit(value, bound.form, strict) if is_possible else None


def find_unit(bound: Bound, order: OrderType) -> Fraction | None:
    """Return how long a unit of the order column is, as a part of a bound's amount.

    For example, 1/100 along a DECIMAL(10, 2). None if the bound is not the same limit for all rows.
    """
    length = bound.amount
    family = order.type.family
    if bound.form is DistanceForm.DAYS:
        return Fraction(1) if family is Family.DATE and not length.is_time else None
    match family:
        case Family.INTEGER if order.type.bits in INTEGER_WIDTHS and not length.is_time:
            return Fraction(1)
        case Family.DECIMAL if not is_wide_decimal(order.type) and not length.is_time:
            return Fraction(1, 10**order.type.scale)
        case Family.DATE:
            return find_date_unit(bound.form, length)
        case Family.TIMESTAMP_NTZ if length.is_time:
            return Fraction(1)
        case Family.TIMESTAMP if length.is_time:
            # Less than a day is added as elapsed time, whatever the clocks show.
            is_elapsed = (
                bound.form is not DistanceForm.DIFFERENCE and length.value < MICROSECONDS["DAY"] - 1
            )
            return Fraction(1) if order.has_fixed_offset or is_elapsed else None
    return None


def find_date_unit(form: DistanceForm, length: Amount) -> Fraction | None:
    """Return how long a day is, as a part of a length; None as in `find_unit`.

    Two dates differ by an interval. A number of days can be added to a date.
    """
    if form is DistanceForm.DIFFERENCE or length.is_days:
        return Fraction(MICROSECONDS["DAY"]) if length.is_time else None
    is_whole_number = not length.is_time and length.value.denominator == 1
    return Fraction(1) if is_whole_number else None


# For each variable, what each conjunct of its condition says about the distance.
FactsByVariable = Mapping[str, tuple[DistanceFact | None, ...]]


def measure_windows(plan: MatchPlan, order: OrderType) -> MatchPlan:
    """Return the plan with the distances of the windows that the user wrote, if they are known.

    Args:
        plan: a plan with WITHIN.
        order: the type of its first ORDER BY column.
    """
    bits = find_integer_bits(order)
    within = plan.within
    if within is not None:
        within = replace(within, distance=measure_interval(within.interval, order))
    gaps = tuple(
        replace(gap, distance=measure_interval(gap.interval, order), bits=bits) for gap in plan.gaps
    )
    return replace(plan, within=within, gaps=gaps)


def find_integer_bits(order: OrderType) -> int:
    """Return the width of an integer order column in bits, 0 for other types."""
    return order.type.bits if order.type.family is Family.INTEGER else 0


def measure_interval(interval: RowExpression, order: OrderType) -> Distance | None:
    """Return how far a window of this length reaches; None if that is not known.

    It is not known along a DOUBLE, because the sum of an order value and the interval is rounded.
    """
    length = interval.amount
    if length is None or order.type == DOUBLE:
        return None
    limit = find_limit(Bound(DistanceForm.SUM, length, interval.text, strict=True), order)
    return None if limit is None else Distance(limit.value, f"less than {interval.text}")


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
        definition.variable: read_definition(plan, follow, definition)
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


def read_definition(
    plan: MatchPlan, follow: FollowSets, definition: Definition
) -> tuple[DistanceFact | None, ...]:
    """Return the facts that conjuncts of a condition state about the distance to the first row."""
    in_order = make_order_check(plan, follow, definition.variable)
    return tuple(
        read_distance(conjunct, in_order) for conjunct in split_conjuncts(definition.condition)
    )


def make_order_check(plan: MatchPlan, follow: FollowSets, variable: str) -> InOrder:
    """Return the function that recognises order values in the condition of a variable."""
    order = plan.order_by[0].expression.text

    def in_order(current: Scalar, first: Scalar) -> bool:
        """Return whether these are the order values of the current row and of a first row."""
        if not (is_single_reference(current) and is_single_reference(first)):
            return False
        current_reference = current.references[0]
        first_reference = first.references[0]
        if not isinstance(current_reference, ColumnReference):
            return False
        if not isinstance(first_reference, ColumnReference):
            return False
        if not current_reference.argument == first_reference.argument == order:
            return False
        return (
            find_distance(plan, variable, current_reference) == 0
            and find_distance(plan, variable, first_reference) != 0
            and finds_first_row(plan, follow, first_reference.navigation)
        )

    return in_order


def finds_first_row(plan: MatchPlan, follow: FollowSets, navigation: Navigation) -> bool:
    """Return whether a navigation finds the first row of the match, in every match.

    `FIRST(ts)` does. So does `V.ts` if V is the only variable with which a match can begin, and
    only the first row of a match can be mapped to it.
    """
    members = plan.members[navigation.variable]
    if navigation.logical_offset or navigation.physical_offset:
        return False
    is_earliest = navigation.end is End.FIRST or not any(
        follow.find_predecessors(member) for member in members
    )
    return is_earliest and follow.first <= members


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


# Windows inside of a match, as conditions, if rows alone do not tell where they end.
#
#     WITHIN 10 FROM A TO C            C AS C.ts < A.ts + 10, if a row of A comes before
#     WITHIN 5 BETWEEN ROWS, skipping  each variable AS ts < LAST(ts, 1) + 5, except the first row
#
# Along a BIGINT the sum could overflow, so it is C AS try_subtract(C.ts, A.ts) < 10. Rows ascend,
# so a difference that does not fit into a BIGINT is too large for the window.
#
# If the rows of a match follow each other in the partition, WITHIN ... BETWEEN ROWS needs no
# condition: a row that is too far after the row before it ends the window of all rows before.


def replace_gaps_by_conditions(plan: MatchPlan, follow: FollowSets) -> MatchPlan:
    """Return the plan with windows inside of a match as conditions, if rows alone do not tell them.

    Args:
        plan: a plan whose names are resolved.
        follow: the follow sets of its row pattern.
    """
    gap_conditions = list(build_gap_conditions(plan, follow))
    if not gap_conditions:
        return plan
    definitions = {definition.variable: definition for definition in plan.definitions}
    for variable, gap_condition in gap_conditions:
        definition = definitions.get(variable)
        if definition is None:
            definitions[variable] = Definition(variable, gap_condition)
        else:
            parts = (definition.condition, gap_condition)
            condition = join_conditions("AND", parts, definition.condition.span)
            definitions[variable] = Definition(variable, condition, definition.span)
    remaining_gaps = () if plan.row_gap is None or plan.needs_event_selection else (plan.row_gap,)
    return replace(
        plan,
        definitions=tuple(definitions[name] for name in plan.variables if name in definitions),
        gaps=remaining_gaps,
    )


def build_gap_conditions(plan: MatchPlan, follow: FollowSets) -> Iterator[tuple[str, Scalar]]:
    """Yield conditions that replace windows inside of a match, with the names of their variables.

    A variable may have several conditions.
    """
    for gap in plan.gaps:
        if gap.to is not None:
            for member in sorted(plan.members[gap.to]):
                yield plan.variables[member], build_variable_gap(plan, gap, member, follow)
        elif plan.needs_event_selection:
            is_near = build_distance_test(plan, gap, Navigation(logical_offset=1))
            is_first_row = build_count_test(None, 1, gap)
            is_first_or_near = join_conditions("OR", (is_first_row, is_near))
            for variable in sorted(plan.members[None]):
                if follow.find_predecessors(variable):
                    can_be_first = variable in follow.first
                    yield plan.variables[variable], is_first_or_near if can_be_first else is_near


def build_variable_gap(
    plan: MatchPlan, gap: Gap, variable: VariableId, follow: FollowSets
) -> Scalar:
    """Return the test that a row is near enough to the last row of `gap.after`, if there is one.

    If that is always the row before, the test reads it as `PREV`, so that it does not depend on the
    run.

    Args:
        plan: the plan of the query.
        gap: a window from one variable to another.
        variable: the variable of the row, one of `gap.to`.
        follow: the follow sets of the row pattern.
    """
    members = plan.members[gap.after]
    name = plan.variables[variable]
    # A row that NOT tests is not mapped to the variable under NOT, so the row pattern does not tell
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

    It is `ts < <ts of the row> + interval`, or `try_subtract(ts, <ts of the row>) < interval` along
    a BIGINT, so that nothing overflows.

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
        text += "L"  # the sum of two INTs could overflow; the sum of an INT and a BIGINT does not
    length = make_literal(text, span, gap.interval.amount)
    if gap.bits == BIGINT.bits:
        return build_difference_test(current_order, other_order, length)
    end = Operation("+", (other_order, " + ", length), span)
    return Operation("<", (current_order, " < ", end), span)


def build_count_test(variable: str | None, number: int, gap: Gap) -> Scalar:
    """Return `count(variable.*) = number`, which counts the current row, too.

    Args:
        variable: the variable, or None for all rows of the match.
        number: the number of rows.
        gap: the window whose place in the query the test gets.
    """
    span = gap.interval.span_or_start
    count = Aggregate("count", variable, (), span=span)
    return compare_scalars("=", Term((count,), span), make_number(number, span))
