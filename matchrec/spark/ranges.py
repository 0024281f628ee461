"""One partition in ranges of its order, each of which is a task's.

Where a window bounds matches, rows that lie further apart are in no common match. The order is
divided into stretches, several to a window, and Spark notes of each stretch how many rows it has,
and which of the conditions that every match needs hold of some row in it. Then `worker.ranges`
tells in which stretches a match may begin, so

    which rows no match can have              they are not shuffled
    between which stretches no match can lie    there the partition is cut

Both are one broadcast join of the rows with the stretches that are kept. Nothing is assumed of the
data: where matches may begin everywhere, there is one range, and the rows are read once more than
they had to be. Of partitions with keys only large ones are cut.

Sources: Zhu, Huang, Chaudhuri, "High-Performance Row Pattern Recognition Using Joins", PVLDB 16(5),
2023, on buckets as wide as the window. docs/contributing/decisions/partitions.md
says what was tried before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr
from pyspark.sql.types import DateType, IntegralType, LongType

from matchrec.compile.executable import Executable
from matchrec.compile.pruning.locality import Shortcut, why_not
from matchrec.errors.calls import cannot_cut
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import MICROSECONDS, Amount, Template, View, template
from matchrec.shortcuts import taken
from matchrec.spark.environment import able_workers
from matchrec.spark.relation import Runner
from matchrec.spark.session import OTHER_VERSION_ERRORS
from matchrec.spark.transport import runner_in_worker
from matchrec.spark.types import OrderTimes, struct_of
from matchrec.worker import wire

if TYPE_CHECKING:
    from matchrec.spark.question import Question

PLACED_ROWS = View("matchrec_placed")
CLASSES = 1 << 12  # into which keys are divided to find large ones
MOST_STRETCHES = 1 << 19  # along a partition: the table of them is sent to each executor
PARTS = 2  # stretches to a window: more tell more precisely where matches may be
DAY = MICROSECONDS["DAY"]
LONGEST = 2**60

# The nodes of plans that it costs little to run three times.
READS = {
    *("Filter", "Project", "SubqueryAlias", "View", "LogicalRelation", "DataSourceV2Relation"),
    *("DataSourceV2ScanRelation", "HiveTableRelation", "InMemoryRelation", "Range"),
}

NO_WINDOW = "no window of time bounds a match"


@dataclass(frozen=True)
class Ranges:
    """How partitions are cut. order: of the column that says where a row lies. window: how much
    further than its first row a match may reach, in units of positions. needed: the first bits of
    conditions that hold of some row of every match; first: of its first row.
    """

    order: OrderTimes
    window: int
    needed: int
    first: int

    def assign(self, runner: Runner, rows: DataFrame, keys: list[str], order: str) -> DataFrame:
        """The rows that some match may have, with the number of their range, NULL of those not cut.
        keys: SQL that is alike for equal keys. order: a column.
        """
        key = f"pmod(hash({', '.join(keys)}), {CLASSES})" if keys else "0"
        place = self.order.number_of_column(order)
        placed = rows.selectExpr("*", f"{key} AS {wire.CLASS}", f"{place} AS {wire.PLACE}")
        query = template("SELECT *, ", self.stretch(), f" AS {wire.PLACED} FROM ", PLACED_ROWS)
        in_stretches = runner.having(matchrec_placed=placed).sql(query)
        columns = ", ".join(f"rows.{column}" for column in rows.columns)
        joined = template(
            f"SELECT /*+ BROADCAST(kept) */ {columns}, kept.{wire.RANGE} FROM ",
            View("matchrec_in_stretches"),
            " AS rows LEFT JOIN ",
            View("matchrec_kept"),
            f" AS kept ON rows.{wire.CLASS} = kept.{wire.CLASS}"
            f" AND rows.{wire.PLACED} = kept.{wire.PLACED}"
            f" WHERE rows.{wire.PLACED} IS NULL OR kept.{wire.RANGE} IS NOT NULL",
        )
        kept = self.kept(in_stretches)
        return runner.having(matchrec_in_stretches=in_stretches, matchrec_kept=kept).sql(joined)

    def stretch(self) -> Template:
        """SQL of a row's stretch, of MOST_STRETCHES at most; NULL where nothing is cut."""
        lies = wire.PLACE
        span = f"CAST(max({lies}) AS DECIMAL(38, 0)) - min({lies})"
        least = max(1, -(-self.window // PARTS))  # a window of no length has empty matches
        return template(
            f"{lies} DIV element_at("
            "(SELECT map_from_entries(collect_list(struct(class, width))) FROM ("
            f"SELECT {wire.CLASS} AS class, count(*) AS size, sum(count(*)) OVER () AS total,"
            f" greatest({least}L, CAST(({span}) / {MOST_STRETCHES} AS BIGINT)) AS width FROM ",
            PLACED_ROWS,
            f" WHERE {lies} IS NOT NULL GROUP BY {wire.CLASS})",
            f" WHERE size * {taken().large} >= total), {wire.CLASS})",
        )

    def kept(self, in_stretches: DataFrame) -> DataFrame:
        from matchrec.worker.ranges import Cutting

        cut = in_stretches.where(f"{wire.PLACED} IS NOT NULL")
        # what is known of a stretch: the bits of conditions that hold in it, and its rows
        bits = f"bit_or({wire.FIRST_BITS} & {self.needed}L)" if self.needed else "0L"
        facts = expr(f"{bits} AS {wire.FIRST_BITS}"), expr(f"count(*) AS {wire.ROW_NUMBER}")
        counted = cut.groupBy(wire.CLASS, wire.PLACED).agg(*facts).repartition(1)
        names = wire.CLASS, wire.PLACED, wire.RANGE
        run = runner_in_worker(Cutting(PARTS, self.needed, self.first, taken().range_rows))
        run.__name__ = "ranges"
        with able_workers(in_stretches.sparkSession):
            return counted.mapInArrow(run, struct_of(dict.fromkeys(names, LongType())))


def find_ranges(question: Question, plan: MatchPlan, executable: Executable) -> Ranges | str:
    """How the partitions of a query are cut; or why they are not. Raises
    MatchRecognizeUnsupportedError where that was asked for and cannot be.
    """
    options = question.options
    if options.sort == "worker":
        return "the workers were asked to sort it"
    if not taken().ranges:
        return "no partition is to be cut"
    if options.counters is not None:
        return "all rows are counted"
    found = cutting(question, plan, executable)
    if isinstance(found, str):
        check_whole(question, found)
    elif options.sort == "auto":
        found = next(why_not_unasked(question, plan, executable), found)
    return found


def check_whole(question: Question, reason: str) -> None:
    """Raises MatchRecognizeUnsupportedError where partitions are to be cut and cannot be."""
    if question.options.sort == "ranges":
        raise cannot_cut(reason=reason)


def cutting(question: Question, plan: MatchPlan, executable: Executable) -> Ranges | str:
    """How partitions are cut by the window, whatever the options say; or why not."""
    if reason := next(why_whole(plan, executable), None):
        return reason
    assert plan.within is not None
    order = OrderTimes(question.relation.type_of(plan.order_by[0].expression.text))
    if order.kind is None:
        return (
            f"an order of type {order.type.simpleString()} is not a whole number, a date or a time"
        )
    if (window := window_of(plan, order)) is None:
        return f"no length is known of {plan.within.interval.text}"
    needed = bits_of(executable.needed)
    return Ranges(order, window, needed, needed & first_bit(plan, executable))


def window_of(plan: MatchPlan, order: OrderTimes) -> int | None:
    """How much less than this a match may reach beyond its first row, in units of its order."""
    assert plan.within is not None
    if plan.within.distance is not None:
        limit = plan.within.distance.limit
        return int(limit) + 1 if limit < LONGEST else None
    length = plan.within.interval.amount
    found = None if length is None else units_of(length, order)
    return found if found is not None and 0 <= found < LONGEST else None


def units_of(length: Amount, order: OrderTimes) -> int | None:
    """The least whole number of units that is no less."""
    if order.kind is DateType:
        return ceil(length.value / DAY) + 1 if length.is_time else ceil(length.value)
    if length.is_time is (order.kind is IntegralType):
        return None
    # days of a zone have 23 to 25 hours; where one leaves out a date, 48
    return ceil(length.value) + (DAY if length.is_time and length.value >= DAY else 0)


def bits_of(conditions: tuple[int, ...]) -> int:
    """The mask of some conditions in the first column of bits, as far as they are in it."""
    return sum(2 << condition for condition in conditions if condition + 1 < wire.bits_a_column())


def first_bit(plan: MatchPlan, executable: Executable) -> int:
    """The bit of what Spark computes of the condition of each variable of a first row, or 0."""
    task, known = executable.task, len(executable.conditions)
    of_spark = {condition.bit: condition.row_condition for condition in executable.nearby}
    if plan.staging is not None:
        return 0
    asked = (task.conditions[one].row_condition for one in task.pattern.follow.first)
    found = {of_spark.get(one, one) if one is not None else None for one in asked}
    bit = found.pop() if len(found) == 1 else None
    return 0 if bit is None or bit >= known else bits_of((bit,))


def why_whole(plan: MatchPlan, executable: Executable) -> Iterator[str]:
    """Why what comes out of a range would not be what comes out of the partition."""
    if plan.within is None:
        yield NO_WINDOW
    if executable.task.max_steps is not None:
        yield "max_steps counts those of a partition"
    if reason := why_not(Shortcut.RANGES, plan, executable.task.pattern.follow):
        yield reason


def why_not_unasked(question: Question, plan: MatchPlan, executable: Executable) -> Iterator[str]:
    """Why it might not pay, or what is read three times might differ."""
    if executable.relevant:
        yield "few rows are sent to it anyway"
    if plan.keys:
        yield "partitions have keys; Options(sort='ranges') cuts large ones"
    if (size := size_of(question.relation.rows)) is None:
        yield "the input would be computed three times; Options(sort='ranges') does so"
    elif size < taken().range_bytes:
        yield "the input is small"


def size_of(rows: DataFrame) -> int | None:
    """The bytes of an input that costs little to read three times; None of any other."""
    frame: Any = getattr(rows, "_jdf", None)  # as PySpark has no call that tells it
    if frame is None:
        return None
    try:
        plan = frame.queryExecution().optimizedPlan()
        is_cheap = plan.deterministic() and names_of_nodes(plan) <= READS
        return int(str(plan.stats().sizeInBytes())) if is_cheap else None
    except OTHER_VERSION_ERRORS:
        return None


def names_of_nodes(plan: Any) -> set[str]:
    below = plan.children()
    found = {str(plan.getClass().getSimpleName())}
    return found.union(*(names_of_nodes(below.apply(place)) for place in range(below.size())))
