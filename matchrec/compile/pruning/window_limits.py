"""Find how far a window reaches, exactly, in the units of the order column.

Integers, decimals, dates and times are whole numbers of units, so every form of a condition has the
same limit. Along a DOUBLE, the forms round in different ways, so a limit belongs to one form.

Some conditions have no limit, because Spark's result is not the same for all rows: if clocks are
changed, differences of local times, and sums of local times and intervals of days.

    C.ts - V.ts <= 1800                    along a BIGINT            1800
    C.ts < V.ts + INTERVAL '1' HOUR        along a TIMESTAMP         3599999999 microseconds
    C.x - V.x < 0.5                        along a DECIMAL(10, 2)    49 hundredths
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, nextafter

from matchrec.compile.pruning.distance_facts import DistanceBound
from matchrec.conditions.types import DOUBLE, Family, is_wide_decimal
from matchrec.conditions.window_columns import OrderType
from matchrec.plan.amounts import MICROSECONDS, Amount
from matchrec.plan.clauses import Distance, DistanceForm, RowExpression
from matchrec.plan.match_plan import MatchPlan

# A limit must be less than this number of units. Along dates and times, that is more than 2,200
# years, in days or microseconds.
UNIT_BOUNDS = {Family.DATE: 10**6, Family.TIMESTAMP: 2**56, Family.TIMESTAMP_NTZ: 2**56}
# The same for all other families: the largest int64.
OTHER_UNIT_BOUND = 2**63 - 1

# The widths in bits of integer order columns along which distances are measured.
INTEGER_WIDTHS = (32, 64)


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit of a window: the distance that it reaches after its first row."""

    # The greatest distance from the first row, in units of the order column.
    value: int | float
    # The operation by which rows are compared, which matters only along a DOUBLE.
    form: DistanceForm = DistanceForm.DIFFERENCE
    # Whether a row at the limit is outside the window.
    is_strict: bool = False

    @property
    def width(self) -> tuple[float, bool]:
        """Return a key that compares limits of one form: a larger key is a wider window."""
        return self.value, not self.is_strict


def find_limit(bound: DistanceBound, order: OrderType) -> Limit | None:
    """Return the limit of a bound along an order column.

    The result is None if the bound is not the same limit for all rows, or if no row can satisfy it.
    """
    if order.type == DOUBLE:
        return find_double_limit(bound)
    unit = find_order_unit(bound, order)
    if unit is None:
        return None
    units = bound.amount.value / unit
    limit = ceil(units) - 1 if bound.is_strict else floor(units)
    is_possible = 0 <= limit < UNIT_BOUNDS.get(order.type.family, OTHER_UNIT_BOUND)
    return Limit(limit) if is_possible else None


def find_double_limit(bound: DistanceBound) -> Limit | None:
    """Return the limit of a bound along a DOUBLE; None as in `find_limit`."""
    if bound.amount.is_time or bound.form in (DistanceForm.DAYS, DistanceForm.TRY_DIFFERENCE):
        return None
    value = float(bound.amount.value)
    strict = bound.is_strict
    if bound.form is DistanceForm.DIFFERENCE and strict:
        value = nextafter(value, -1)
        strict = False
    is_possible = value > 0 if strict else value >= 0
    return Limit(value, bound.form, strict) if is_possible else None


def find_order_unit(bound: DistanceBound, order: OrderType) -> Fraction | None:
    """Return how long a unit of the order column is, in the units of a bound's amount.

    For example, a unit is 1/100 along a DECIMAL(10, 2). If an interval is a bound along a DATE, a
    unit is the number of microseconds of a day. The result is None if the bound is not the same
    limit for all rows.
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
            # An interval of less than a day is added as elapsed time, whatever the clocks show.
            is_elapsed = (
                bound.form is not DistanceForm.DIFFERENCE and length.value < MICROSECONDS["DAY"] - 1
            )
            return Fraction(1) if order.has_fixed_offset or is_elapsed else None
    return None


def find_date_unit(form: DistanceForm, length: Amount) -> Fraction | None:
    """Return how long a day is, in the units of a length; None as in `find_order_unit`.

    Two dates differ by an interval. A number of days can be added to a date.
    """
    if form is DistanceForm.DIFFERENCE or length.is_days:
        return Fraction(MICROSECONDS["DAY"]) if length.is_time else None
    is_whole_number = not length.is_time and length.value.denominator == 1
    return Fraction(1) if is_whole_number else None


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
    """Return the width of an integer order column in bits; 0 for other types."""
    return order.type.bits if order.type.family is Family.INTEGER else 0


def measure_interval(interval: RowExpression, order: OrderType) -> Distance | None:
    """Return how far a window of this length reaches; None if that is not known.

    Along a DOUBLE it is not known, because the sum of an order value and the interval is rounded.
    """
    length = interval.amount
    if length is None or order.type == DOUBLE:
        return None
    limit = find_limit(
        DistanceBound(DistanceForm.SUM, length, interval.text, is_strict=True), order
    )
    return None if limit is None else Distance(limit.value, f"less than {interval.text}")
