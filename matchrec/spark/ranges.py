"""Cut partitions into ranges of their order, so that several tasks share a large partition.

If a window bounds matches, two rows that are further apart than the window are never in the same
match. So a partition can be cut wherever no match has rows on both sides:

1. Divide the order into stretches, several to a window: `Ranges.write_stretch_number`.
2. Let Spark count the rows of each stretch, and find out which of the conditions that every match
   needs hold for some row in the stretch: `Ranges.find_kept_stretches`.
3. Find the stretches in which a match may begin, in `worker.ranges`. Rows that cannot be in a match
   are not shuffled. The partition is cut between stretches that no match can join.
4. Join the rows with the stretches that are kept: `Ranges.assign`. The join is broadcast.

For instance, if every match needs one condition, and a window is two stretches long:

    stretch       0  1  2  3  4  5  6  7  8  9 10 11 12
    condition        x  x                       x         x: the condition holds for some row
    begin         b  b  b                 b  b  b         b: it holds here or in the next two
    range         0  0  0  0  0  -  -  -  1  1  1  1  1   -: the rows are not shuffled

Nothing is assumed about the data: if matches may begin everywhere, there is one range, and the rows
were read once more than necessary. If the query has PARTITION BY, only large partitions are cut.

Source: Zhu, Huang, Chaudhuri, "High-Performance Row Pattern Recognition Using Joins", PVLDB 16(5),
2023, on buckets as wide as the window. docs/contributing/decisions/partitions.md says what was
tried before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr
from pyspark.sql.types import LongType

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.pruning.proven_shortcuts import Shortcut, find_obstacle
from matchrec.errors.calls import partitions_cannot_be_cut
from matchrec.plan.amounts import MICROSECONDS, Amount
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.templates import Template, View, join_template
from matchrec.shortcuts import current_shortcuts
from matchrec.spark.environment import use_own_interpreter
from matchrec.spark.order_numbers import (
    DateConverter,
    IntegerConverter,
    OrderConverter,
    find_order_converter,
)
from matchrec.spark.runner import Runner
from matchrec.spark.session_errors import OTHER_VERSION_ERRORS
from matchrec.spark.transport import make_task_function
from matchrec.spark.types import make_struct_type
from matchrec.worker import wire

if TYPE_CHECKING:
    from matchrec.spark.request import MatchRequest

POSITIONED_ROWS = View("matchrec_positioned")

# Keys are divided into classes by their hash, to find large partitions.
CLASS_COUNT = 1 << 12

# The most stretches along a partition. The table of stretches is sent to each executor, so that it
# must stay small.
MAX_STRETCHES = 1 << 19

# The number of stretches in a window. More stretches show more precisely where matches may be.
STRETCHES_PER_WINDOW = 2

MICROSECONDS_PER_DAY = MICROSECONDS["DAY"]

# A number of positions: partitions are not cut by windows that are as long as this or longer.
LONGEST_WINDOW = 2**60

# The nodes of Spark's plans that are cheap enough to run three times.
CHEAP_NODES = {
    *("Filter", "Project", "SubqueryAlias", "View", "LogicalRelation", "DataSourceV2Relation"),
    *("DataSourceV2ScanRelation", "HiveTableRelation", "InMemoryRelation", "Range"),
}

NO_WINDOW = "no WITHIN limits the distance along ORDER BY"


@dataclass(frozen=True)
class Ranges:
    """How the partitions of a query are cut.

    The position of a row is its value in the first ORDER BY column, as a whole number.
    """

    # Converts values of the first ORDER BY column to positions.
    order: OrderConverter
    # Every row of a match is less than this many positions after the first row of the match.
    window: int
    # A mask of bits in the first column of bits: the conditions that hold for some row of every
    # match.
    needed_mask: int
    # The part of this mask for the conditions that hold for the first row of every match.
    first_row_mask: int

    def describe(self, plan: MatchPlan) -> str:
        """Return the line about ranges in the explanation of a plan."""
        order = plan.order_by[0].expression.text
        return f"cut into ranges of {order} for several tasks; no match spans two ranges"

    def assign(self, runner: Runner, rows: DataFrame, keys: list[str], order: str) -> DataFrame:
        """Return the rows that may be in a match, with the number of their range in a new column.

        1. Give each row the class of its key, and its position along ORDER BY.
        2. Give each row of a large class the number of its stretch.
        3. Find the stretches that may have a match, and join them to ranges: see `worker.ranges`.
        4. Drop the rows of all other stretches.

        The number is NULL for rows of partitions that are not cut.

        Args:
            runner: runs the query.
            rows: the rows that would be shuffled.
            keys: the PARTITION BY keys, as SQL with the same bits for equal keys.
            order: the name of the first ORDER BY column.
        """
        key_class = f"pmod(hash({', '.join(keys)}), {CLASS_COUNT})" if keys else "0"
        position = self.order.write_number(order)
        positioned = rows.selectExpr(
            "*", f"{key_class} AS {wire.KEY_CLASS}", f"{position} AS {wire.ORDER_POSITION}"
        )
        query = join_template(
            "SELECT *, ", self.write_stretch_number(), f" AS {wire.STRETCH} FROM ", POSITIONED_ROWS
        )
        in_stretches = runner.with_frames(matchrec_positioned=positioned).sql(query)
        columns = ", ".join(f"rows.{column}" for column in rows.columns)
        joined = join_template(
            f"SELECT /*+ BROADCAST(kept) */ {columns}, kept.{wire.RANGE} FROM ",
            View("matchrec_in_stretches"),
            " AS rows LEFT JOIN ",
            View("matchrec_kept"),
            f" AS kept ON rows.{wire.KEY_CLASS} = kept.{wire.KEY_CLASS}"
            f" AND rows.{wire.STRETCH} = kept.{wire.STRETCH}"
            f" WHERE rows.{wire.STRETCH} IS NULL OR kept.{wire.RANGE} IS NOT NULL",
        )
        kept_stretches = self.find_kept_stretches(in_stretches)
        return runner.with_frames(
            matchrec_in_stretches=in_stretches, matchrec_kept=kept_stretches
        ).sql(joined)

    def write_stretch_number(self) -> Template:
        """Return SQL of the number of a row's stretch; NULL if its partition is not cut.

        Stretches are so wide that a partition has at most MAX_STRETCHES of them.
        """
        position = wire.ORDER_POSITION
        span = f"CAST(max({position}) AS DECIMAL(38, 0)) - min({position})"
        # A window may have the length 0: its matches are empty. But a stretch must have a width.
        least_width = max(1, ceil_divide(self.window, STRETCHES_PER_WINDOW))
        return join_template(
            f"{position} DIV element_at("
            "(SELECT map_from_entries(collect_list(struct(class, width))) FROM ("
            f"SELECT {wire.KEY_CLASS} AS class, count(*) AS size, sum(count(*)) OVER () AS total,"
            f" greatest({least_width}L, CAST(({span}) / {MAX_STRETCHES} AS BIGINT)) AS width"
            " FROM ",
            POSITIONED_ROWS,
            f" WHERE {position} IS NOT NULL GROUP BY {wire.KEY_CLASS})",
            f" WHERE size * {current_shortcuts().large_key_one_in} >= total), {wire.KEY_CLASS})",
        )

    def find_kept_stretches(self, in_stretches: DataFrame) -> DataFrame:
        """Return the stretches whose rows are kept, each with the number of its range.

        Args:
            in_stretches: all rows, with the class of their key and the number of their stretch.

        Returns:
            A DataFrame with the columns KEY_CLASS, STRETCH and RANGE of `worker.wire`.
        """
        from matchrec.worker.ranges import RangeWorker

        cut_rows = in_stretches.where(f"{wire.STRETCH} IS NOT NULL")
        # For each stretch, the bits of the conditions that hold for some row, and the row count.
        bits = f"bit_or({wire.FIRST_BITS} & {self.needed_mask}L)" if self.needed_mask else "0L"
        stretch_bits = expr(f"{bits} AS {wire.FIRST_BITS}")
        stretch_size = expr(f"count(*) AS {wire.STRETCH_ROWS}")
        stretches = cut_rows.groupBy(wire.KEY_CLASS, wire.STRETCH).agg(stretch_bits, stretch_size)
        cutting = RangeWorker(
            STRETCHES_PER_WINDOW,
            self.needed_mask,
            self.first_row_mask,
            current_shortcuts().min_rows_of_range,
        )
        run = make_task_function(cutting)
        run.__name__ = "ranges"
        schema = make_struct_type(
            dict.fromkeys((wire.KEY_CLASS, wire.STRETCH, wire.RANGE), LongType())
        )
        with use_own_interpreter(in_stretches.sparkSession):
            return stretches.repartition(1).mapInArrow(run, schema)


def ceil_divide(number: int, divisor: int) -> int:
    """Return the quotient of two whole numbers, rounded up.

    >>> ceil_divide(7, 2)
    4
    """
    return -(-number // divisor)


# Whether partitions are cut.


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
        check_may_stay_whole(request, ranges.reason)
        return ranges
    if not request.must_cut_partitions:
        cost = next(find_costs(request, plan, compiled_query), None)
        if cost is not None:
            return WholePartitions(cost)
    return ranges if request.options.counters is None else WHOLE_WITH_COUNTERS


def check_may_stay_whole(request: MatchRequest, reason: str) -> None:
    """Check that partitions may stay whole.

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
    assert plan.within is not None
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
    needed_mask = pack_conditions(compiled_query.needed_bits)
    first_row_mask = needed_mask & find_first_row_bit(plan, compiled_query)
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

    Ranges may not pay, or the input may have other rows each time it is computed: it is read three
    times.
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


# The window, and the conditions of a match.


def find_window(plan: MatchPlan, order: OrderConverter) -> int | None:
    """Return a number of positions such that every match spans fewer; None if it is not known.

    Args:
        plan: the plan, which has a window.
        order: converts values of the first ORDER BY column to positions.
    """
    assert plan.within is not None
    if plan.within.distance is not None:
        limit = plan.within.distance.limit
        return int(limit) + 1 if limit < LONGEST_WINDOW else None
    length = plan.within.interval.amount
    if length is None:
        return None
    window = count_positions(length, order)
    return window if window is not None and 0 <= window < LONGEST_WINDOW else None


def count_positions(length: Amount, order: OrderConverter) -> int | None:
    """Convert the length of a window to positions, rounded up to the longest that it can be.

    Returns None if the order has no such lengths: a length of time along numbers, or a number
    along instants.
    """
    if isinstance(order, DateConverter):
        days = length.value / MICROSECONDS_PER_DAY
        return ceil(days) + 1 if length.is_time else ceil(length.value)
    if length.is_time is isinstance(order, IntegerConverter):
        return None
    if length.is_time and length.value >= MICROSECONDS_PER_DAY:
        # A day has 23 to 25 hours, and 48 where a time zone once left out a date.
        return ceil(length.value) + MICROSECONDS_PER_DAY
    return ceil(length.value)


def pack_conditions(conditions: tuple[int, ...]) -> int:
    """Return the bits of some conditions in the first column of bits.

    Bit 0 of that column marks the first row of a partition, so condition 0 has bit 1. Conditions
    whose bits are in other columns are left out.

    >>> bin(pack_conditions((0, 2)))
    '0b1010'
    """
    return sum(
        2 << condition for condition in conditions if condition + 1 < wire.count_bits_per_column()
    )


def find_first_row_bit(plan: MatchPlan, compiled_query: CompiledQuery) -> int:
    """Return the bit of a condition that holds for the first row of every match; 0 for none.

    Such a condition belongs to every variable to which the first row can be mapped, and Spark
    computes it.
    """
    if plan.staging is not None:
        return 0
    task = compiled_query.task
    # By the bit of a condition that the worker computes: the part of it that Spark computes.
    spark_conditions = {nearby.bit: nearby.spark_bit for nearby in compiled_query.nearby}
    first_conditions = set()
    for variable in task.pattern.follow_sets.first:
        condition = task.conditions[variable].row_bit
        if condition is not None:
            condition = spark_conditions.get(condition, condition)
        first_conditions.add(condition)
    if len(first_conditions) != 1:
        return 0
    common_condition = first_conditions.pop()
    if common_condition is None or common_condition >= len(compiled_query.row_conditions):
        return 0
    return pack_conditions((common_condition,))


# The size of the input.


def estimate_bytes(rows: DataFrame) -> int | None:
    """Return Spark's estimate of the size of an input; None if it is expensive to read three times.

    PySpark has no call that returns it, so this reads Spark's own plan.
    """
    frame: Any = getattr(rows, "_jdf", None)
    if frame is None:
        return None
    try:
        plan = frame.queryExecution().optimizedPlan()
        is_cheap = plan.deterministic() and collect_node_names(plan) <= CHEAP_NODES
        return int(str(plan.stats().sizeInBytes())) if is_cheap else None
    except OTHER_VERSION_ERRORS:
        return None


def collect_node_names(plan: Any) -> set[str]:
    """Return the names of the classes of a plan's nodes."""
    names = {str(plan.getClass().getSimpleName())}
    children = plan.children()
    for index in range(children.size()):
        names |= collect_node_names(children.apply(index))
    return names
