"""Choose whether the partitions of a query are cut into ranges, and how: see `spark.ranges`.

`find_ranges` returns `Ranges`, or `WholePartitions` with the reason. Partitions are cut if all of
these are true:

1. The options allow it.
2. It cannot change the result: see `find_obstacles`.
3. The length of the window is known in positions along the order: see `find_window`.
4. It pays, or the user asks for it: see `find_costs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.pruning.proven_shortcuts import Shortcut, find_obstacle
from matchrec.errors.calls import partitions_cannot_be_cut
from matchrec.plan.amounts import MICROSECONDS, Amount
from matchrec.plan.match_plan import MatchPlan
from matchrec.shortcuts import current_shortcuts
from matchrec.spark.order_numbers import (
    DateConverter,
    IntegerConverter,
    OrderConverter,
    find_order_converter,
)
from matchrec.spark.ranges import Ranges
from matchrec.spark.session_errors import OTHER_VERSION_ERRORS
from matchrec.worker import internal_names

if TYPE_CHECKING:
    from matchrec.spark.request import MatchRequest

# A number of positions. Partitions are cut only if the window is shorter.
WINDOW_LIMIT = 2**60

MICROSECONDS_PER_DAY = MICROSECONDS["DAY"]

# The classes of the nodes of Spark's plans that are cheap enough to run three times.
CHEAP_NODES = {
    "DataSourceV2Relation",
    "DataSourceV2ScanRelation",
    "Filter",
    "HiveTableRelation",
    "InMemoryRelation",
    "LogicalRelation",
    "Project",
    "Range",
    "SubqueryAlias",
    "View",
}

# The reason why partitions are not cut if a query has no window.
NO_WINDOW = "no WITHIN limits the distance along ORDER BY"


@dataclass(frozen=True)
class WholePartitions:
    """Partitions that are not cut: one task has all rows of a partition."""

    reason: str = ""  # why they are not cut; empty if nobody would expect that they are
    # Whether the only reason is that the query has counters, which count all rows.
    because_counted: bool = False

    def describe(self, plan: MatchPlan) -> str:
        """Return the line about ranges in the explanation of a plan.

        It is empty if nobody would expect that partitions are cut.
        """
        is_expected = plan.within is not None or not plan.partition_keys
        if self.reason and is_expected:
            return f"one task searches a whole partition, because {self.reason}"
        return ""


# Partitions of a query without a window.
WHOLE_WITHOUT_WINDOW = WholePartitions(NO_WINDOW)

# Partitions that are not cut because the query has counters.
WHOLE_WITH_COUNTERS = WholePartitions(
    "counters count all rows; without counters, it is cut into ranges", because_counted=True
)


def find_ranges(
    request: MatchRequest, plan: MatchPlan, compiled_query: CompiledQuery
) -> Ranges | WholePartitions:
    """Return how the partitions of a query are cut, or the reason they are not.

    Raises:
        MatchRecognizeUnsupportedError: the user asked for ranges, and partitions cannot be cut.
    """
    if not request.can_cut_partitions:
        return WholePartitions("the option sort is worker")
    if not current_shortcuts().ranges:
        return WholePartitions("ranges are switched off")
    ranges = plan_ranges(request, plan, compiled_query)
    if isinstance(ranges, WholePartitions):
        check_ranges_not_required(request, ranges.reason)
        return ranges
    if not request.must_cut_partitions:
        cost = next(find_costs(request, plan, compiled_query), None)
        if cost is not None:
            return WholePartitions(cost)
    return ranges if request.options.counters is None else WHOLE_WITH_COUNTERS


def check_ranges_not_required(request: MatchRequest, reason: str) -> None:
    """Check that the user has not asked for ranges, because partitions cannot be cut.

    Args:
        request: the query.
        reason: why its partitions cannot be cut.

    Raises:
        MatchRecognizeUnsupportedError: the user asked for ranges.
    """
    if request.must_cut_partitions:
        raise partitions_cannot_be_cut(reason=reason)


def plan_ranges(
    request: MatchRequest, plan: MatchPlan, compiled_query: CompiledQuery
) -> Ranges | WholePartitions:
    """Return how partitions can be cut, or the reason they cannot. Ignores the option `sort`."""
    reason = next(find_obstacles(plan, compiled_query), None)
    if reason is not None:
        return WholePartitions(reason)
    assert plan.within is not None, "otherwise, `find_obstacles` has yielded NO_WINDOW"
    order_type = request.relation.find_type(plan.order_by[0].expression.text)
    order = find_order_converter(order_type)
    if order is None:
        type_name = order_type.simpleString()
        return WholePartitions(
            f"ORDER BY has type {type_name}, which is not an integer, a date or a timestamp"
        )
    window = find_window(plan, order)
    if window is None:
        return WholePartitions(f"the length of {plan.within.interval.text} is not known")
    needed_mask = pack_conditions(compiled_query.bits_needed_for_output)
    first_row_mask = needed_mask & find_first_row_mask(plan, compiled_query)
    return Ranges(order, window, needed_mask, first_row_mask)


def find_obstacles(plan: MatchPlan, compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield the reasons why ranges could give another result than whole partitions."""
    if plan.within is None:
        yield NO_WINDOW
    if compiled_query.task.max_steps is not None:
        yield "max_steps counts the steps of a whole partition"
    reason = find_obstacle(Shortcut.RANGES, plan, compiled_query.task.pattern.follow_sets)
    if reason is not None:
        yield reason


def find_costs(
    request: MatchRequest, plan: MatchPlan, compiled_query: CompiledQuery
) -> Iterator[str]:
    """Yield the reasons not to cut partitions unless the user asks for it.

    Ranges read the input three times. So they do not always pay, and an input that has other rows
    each time it is computed gives wrong results.
    """
    if compiled_query.row_filters:
        yield "few of its rows are sent to the workers"
    if plan.partition_keys:
        yield "PARTITION BY gives many tasks; Options(sort='ranges') cuts large partitions"
    size = estimate_bytes(request.relation.rows)
    if size is None:
        yield "ranges would read the input three times; Options(sort='ranges') allows that"
    elif size < current_shortcuts().min_bytes_to_cut:
        yield "the input is small"


def find_window(plan: MatchPlan, order: OrderConverter) -> int | None:
    """Return the length of the window: see `Ranges.window`. None if it is not known or too long.

    Args:
        plan: the plan, which has a window.
        order: converts values of the first ORDER BY column to positions.
    """
    assert plan.within is not None
    if plan.within.distance is not None:
        limit = plan.within.distance.limit  # the greatest distance of a row in the window
        return int(limit) + 1 if limit < WINDOW_LIMIT else None
    length = plan.within.interval.amount
    if length is None:
        return None
    window = count_positions(length, order)
    return window if window is not None and 0 <= window < WINDOW_LIMIT else None


# The window, and the conditions of a match.


def count_positions(length: Amount, order: OrderConverter) -> int | None:
    """Convert the length of a window to positions. The result is the longest that it can be.

    A day has 23 to 25 hours, and 48 hours where a time zone once left out a date. So one day is
    added to a length of time along dates, and to a length of a day or more along instants.

    Returns None if the order has no such lengths: a length of time along numbers, or a number along
    instants.

    Args:
        length: the length of the window. A length of time has microseconds.
        order: converts values of the first ORDER BY column to positions.
    """
    if isinstance(order, DateConverter):
        if length.is_time:
            return ceil(length.value / MICROSECONDS_PER_DAY) + 1
        return ceil(length.value)
    is_order_of_numbers = isinstance(order, IntegerConverter)
    if length.is_time == is_order_of_numbers:
        return None
    if length.is_time and length.value >= MICROSECONDS_PER_DAY:
        return ceil(length.value) + MICROSECONDS_PER_DAY
    return ceil(length.value)


def pack_conditions(conditions: tuple[int, ...]) -> int:
    """Return a mask of the bits of some conditions in the first column of bits.

    Bit 0 of that column marks the first row of a partition, so condition 0 has bit 1. Conditions
    whose bits are in other columns are left out.

    Args:
        conditions: the numbers of conditions that Spark computes.

    >>> bin(pack_conditions((0, 2)))
    '0b1010'
    """
    mask = 0
    for condition in conditions:
        bit = condition + 1
        if bit < internal_names.count_bits_per_column():
            mask |= 1 << bit
    return mask


def find_first_row_mask(plan: MatchPlan, compiled_query: CompiledQuery) -> int:
    """Return the mask of a condition that holds for the first row of every match; 0 for none.

    Such a condition belongs to every variable to which the first row can be mapped, and Spark
    computes it.
    """
    if plan.staging is not None:
        return 0
    task = compiled_query.task
    # For each condition that the worker computes, the condition that Spark computes as its part.
    parts_in_spark = {nearby.bit: nearby.spark_bit for nearby in compiled_query.nearby_conditions}
    first_row_conditions = set()
    for variable in task.pattern.follow_sets.first:
        condition = task.conditions[variable].row_bit
        if condition is not None:
            condition = parts_in_spark.get(condition, condition)
        first_row_conditions.add(condition)
    if len(first_row_conditions) != 1:
        return 0
    common_condition = first_row_conditions.pop()
    if common_condition is None or common_condition >= len(compiled_query.row_conditions):
        return 0
    return pack_conditions((common_condition,))


# The size of the input.


def estimate_bytes(rows: DataFrame) -> int | None:
    """Return Spark's estimate of the bytes of an input.

    Returns None if the input is expensive to read three times, and over Connect. PySpark has no
    call that returns the estimate, so it is read from Spark's own plan.
    """
    java_frame: Any = getattr(rows, "_jdf", None)
    if java_frame is None:
        return None
    try:
        plan = java_frame.queryExecution().optimizedPlan()
        is_cheap = plan.deterministic() and collect_node_names(plan) <= CHEAP_NODES
        return int(str(plan.stats().sizeInBytes())) if is_cheap else None
    except OTHER_VERSION_ERRORS:
        return None


def collect_node_names(plan: Any) -> set[str]:
    """Return the names of the classes of the nodes in a plan of Spark, a Java object."""
    names = {str(plan.getClass().getSimpleName())}
    children = plan.children()
    for index in range(children.size()):
        names |= collect_node_names(children.apply(index))
    return names
