"""Cut partitions into ranges along their order, so that several tasks share a large partition.

If matches have a window, rows that are further apart than the window are never in the same match.
So a partition can be cut wherever no match has rows on both sides:

1. Divide the order into stretches, several for each window: `Ranges.write_stretch_number`.
2. Let Spark count the rows of each stretch, and find out which of the conditions that every match
   needs hold for some row in the stretch: `Ranges.find_kept_stretches`.
3. In `worker.ranges`, find the stretches in which a match can begin, and keep those that can have
   rows of a match. Cut the partition between stretches that no match can join.
4. Join the rows with the kept stretches: `Ranges.assign`. The join is broadcast. Rows of other
   stretches are not shuffled.

For instance, if every match needs one condition, and a window is two stretches long:

    stretch       0  1  2  3  4  5  6  7  8  9 10 11 12
    condition        x  x                       x         x: the condition holds for some row
    begin         b  b  b                 b  b  b         b: it holds here or in the next two
    range         0  0  0  0  0  -  -  -  1  1  1  1  1   -: the stretch is not kept

Any data is cut correctly: if matches can begin everywhere, there is one range, and the rows were
read once more than necessary. If the query has PARTITION BY, only large partitions are cut.

Source: Zhu, Huang, Chaudhuri, "High-Performance Row Pattern Recognition Using Joins", PVLDB 16(5),
2023, on buckets as wide as the window. docs/contributing/decisions/partitions.md says what was
tried before.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr
from pyspark.sql.types import LongType

from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.templates import Template, View, join_template
from matchrec.shortcuts import current_shortcuts
from matchrec.spark.environment import use_own_interpreter
from matchrec.spark.order_numbers import OrderConverter
from matchrec.spark.runner import Runner
from matchrec.spark.transport import make_task_function
from matchrec.spark.types import make_struct_type
from matchrec.worker import internal_names

# The view of the rows with their key classes and positions.
POSITIONED_ROWS = View("matchrec_positioned")

# The number of key classes. A key class is all keys whose hashes have the same remainder. Large
# partitions are found by the rows of their classes.
CLASS_COUNT = 1 << 12

# The largest number of stretches along a partition. The table of stretches is sent to each
# executor, so it must stay small.
MAX_STRETCHES = 1 << 19

# The number of stretches in a window. More stretches show more precisely where matches can be.
STRETCHES_PER_WINDOW = 2


@dataclass(frozen=True)
class Ranges:
    """How the partitions of a query are cut.

    The position of a row is its value in the first ORDER BY column, as a whole number. Masks select
    bits of the column FIRST_BITS of `worker.internal_names`, which are the truth values of
    conditions.
    """

    # Converts values of the first ORDER BY column to positions.
    order: OrderConverter
    # The length of the window, in positions. Every row of a match is less than this length after
    # the first row of the match.
    window: int
    # A mask of the conditions that hold for some row of every match.
    needed_mask: int
    # The part of this mask for conditions that hold for the first row of every match.
    first_row_mask: int

    def describe(self, plan: MatchPlan) -> str:
        """Return the line about ranges in the explanation of a plan."""
        order = plan.order_by[0].expression.text
        return f"cut into ranges of {order} for several tasks; no match spans two ranges"

    def assign(self, runner: Runner, rows: DataFrame, keys: list[str], order: str) -> DataFrame:
        """Return the rows that can be in a match, with the number of their range in a new column.

        1. Give each row the class of its key, and its position along ORDER BY.
        2. Give each row of a large class the number of its stretch.
        3. Find the stretches that can have rows of a match, and group them into ranges: see
           `worker.ranges`.
        4. Drop the rows of all other stretches.

        The number of the range is NULL for rows of partitions that are not cut.

        Args:
            runner: runs the query.
            rows: the rows that would be shuffled.
            keys: the PARTITION BY keys, as SQL. Equal keys have the same bytes.
            order: the name of the first ORDER BY column.
        """
        key_class = f"pmod(hash({', '.join(keys)}), {CLASS_COUNT})" if keys else "0"
        position = self.order.write_number(order)
        positioned = rows.selectExpr(
            "*",
            f"{key_class} AS {internal_names.KEY_CLASS}",
            f"{position} AS {internal_names.ORDER_POSITION}",
        )
        query = join_template(
            "SELECT *, ",
            self.write_stretch_number(),
            f" AS {internal_names.STRETCH} FROM ",
            POSITIONED_ROWS,
        )
        in_stretches = runner.with_frames(matchrec_positioned=positioned).sql(query)
        columns = ", ".join(f"rows.{column}" for column in rows.columns)
        joined = join_template(
            f"SELECT /*+ BROADCAST(kept) */ {columns}, kept.{internal_names.RANGE} FROM ",
            View("matchrec_in_stretches"),
            " AS rows LEFT JOIN ",
            View("matchrec_kept"),
            f" AS kept ON rows.{internal_names.KEY_CLASS} = kept.{internal_names.KEY_CLASS}"
            f" AND rows.{internal_names.STRETCH} = kept.{internal_names.STRETCH}"
            f" WHERE rows.{internal_names.STRETCH} IS NULL"
            f" OR kept.{internal_names.RANGE} IS NOT NULL",
        )
        kept_stretches = self.find_kept_stretches(in_stretches)
        return runner.with_frames(
            matchrec_in_stretches=in_stretches, matchrec_kept=kept_stretches
        ).sql(joined)

    def write_stretch_number(self) -> Template:
        """Return SQL of the number of a row's stretch; NULL if its partition is not cut.

        Stretches are so wide that a class has at most MAX_STRETCHES of them. For the rows of the
        view POSITIONED_ROWS, the SQL is, abridged:

            position DIV element_at(
                (SELECT a map from each large class to the width of its stretches), class)
        """
        position = internal_names.ORDER_POSITION
        # A decimal, because the difference of two positions need not fit into a BIGINT.
        span = f"CAST(max({position}) AS DECIMAL(38, 0)) - min({position})"
        # A window can have the length 0: its matches are empty. But a stretch must have a width.
        least_width = max(1, ceil_divide(self.window, STRETCHES_PER_WINDOW))
        return join_template(
            f"{position} DIV element_at("
            "(SELECT map_from_entries(collect_list(struct(class, width))) FROM ("
            f"SELECT {internal_names.KEY_CLASS} AS class,"
            " count(*) AS size, sum(count(*)) OVER () AS total,"
            f" greatest({least_width}L, CAST(({span}) / {MAX_STRETCHES} AS BIGINT)) AS width"
            " FROM ",
            POSITIONED_ROWS,
            f" WHERE {position} IS NOT NULL GROUP BY {internal_names.KEY_CLASS})",
            f" WHERE size * {current_shortcuts().large_key_one_in} >= total),"
            f" {internal_names.KEY_CLASS})",
        )

    def find_kept_stretches(self, in_stretches: DataFrame) -> DataFrame:
        """Return the stretches whose rows are kept, each with the number of its range.

        Args:
            in_stretches: all rows, with the class of their key, the number of their stretch, and
                their bits.

        Returns:
            A DataFrame with the columns KEY_CLASS, STRETCH and RANGE of `worker.internal_names`.
        """
        from matchrec.worker.ranges import RangeWorker

        cut_rows = in_stretches.where(f"{internal_names.STRETCH} IS NOT NULL")
        # For each stretch, the bits of the conditions that hold for some row, and the row count. If
        # no condition is needed, the rows can lack the column of bits.
        bits = "0L"
        if self.needed_mask:
            bits = f"bit_or({internal_names.FIRST_BITS} & {self.needed_mask}L)"
        stretch_bits = expr(f"{bits} AS {internal_names.FIRST_BITS}")
        row_count = expr(f"count(*) AS {internal_names.STRETCH_ROWS}")
        stretches = cut_rows.groupBy(internal_names.KEY_CLASS, internal_names.STRETCH).agg(
            stretch_bits, row_count
        )
        worker = RangeWorker(
            STRETCHES_PER_WINDOW,
            self.needed_mask,
            self.first_row_mask,
            current_shortcuts().min_rows_of_range,
        )
        run = make_task_function(worker)
        run.__name__ = "ranges"  # the name of the operator in Spark's plan
        schema = make_struct_type(
            dict.fromkeys(
                (internal_names.KEY_CLASS, internal_names.STRETCH, internal_names.RANGE), LongType()
            )
        )
        with use_own_interpreter(in_stretches.sparkSession):
            return stretches.repartition(1).mapInArrow(run, schema)


def ceil_divide(number: int, divisor: int) -> int:
    """Return the quotient of two whole numbers, rounded up.

    >>> ceil_divide(7, 2)
    4
    """
    return -(-number // divisor)
