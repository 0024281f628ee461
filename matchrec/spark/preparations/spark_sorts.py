"""The query before the match if Spark sorts the rows of each partition.

It returns sorted partitions. For example, for

    PARTITION BY sym ORDER BY ts MEASURES LAST(A.price * 2) AS x PATTERN (A B+)
    DEFINE A AS price > 10, B AS price < PREV(price)

it is this query, whose names `worker.internal_names` explains. Bit 0 marks the first row of a
partition, and bit 1 is `price > 10`. The workers compare a price with the previous one.

    SELECT __c0, __c1, __c2, __x4 | CASE WHEN __n = 1 THEN 1 ELSE 0 END AS __bits0
    FROM (SELECT *, row_number() OVER (PARTITION BY __c0 ORDER BY __x3) AS __n
          FROM (SELECT sym AS __c0, price * 2 AS __c1, price AS __c2, ts AS __x3,
                       CASE WHEN price > 10 THEN 2 ELSE 0 END AS __x4
                FROM ticks))

- The inner query narrows the rows before the shuffle: it leaves out irrelevant rows and columns.
- The row_number makes Spark shuffle and sort by its own rules. It also marks where partitions
  start, so that Spark decides which keys are equal.
- If only Spark can compute a value of several rows, lag and lead over the same window read the rows
  at a fixed distance, each of them once. The workers compute all other values of neighbouring rows.
- A column has the same name in the inner query and the outer one. Spark would send a renamed column
  through the shuffle a second time.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from matchrec.errors.run.origins import mark_origin
from matchrec.plan.clauses import SortItem
from matchrec.plan.templates import Template, join_template
from matchrec.spark.preparations.column_names import ColumnNames
from matchrec.spark.preparations.preparation import PartitionPreparation, RowColumns
from matchrec.spark.select_items import SelectItem, pack_bit_columns
from matchrec.worker import internal_names


@dataclass(frozen=True)
class SortedPreparation(PartitionPreparation):
    """A preparation whose rows Spark sorts."""

    @override
    def build_query(self, columns: RowColumns) -> Template:
        """Return the query of the columns __c0, __c1, ..., then __bits0, ...

        The query returns sorted partitions. Irrelevant rows are left out before the sort. The bits
        of conditions on one row are packed before the sort. The bits of conditions on several rows
        are packed after it, and both are joined by `|`.
        """
        conditions = self.joined.row_conditions
        bits_before_sort = self.pack_conditions_of_one_row()
        names = self.build_names(
            columns,
            tuple(condition for condition in conditions if not condition.reads_one_row),
            [bit_column.sql for bit_column in bits_before_sort],
        )
        tests_after_sort = [
            "FALSE" if condition.reads_one_row else names.write_column(condition)
            for condition in conditions
        ]
        is_first_row = f"{internal_names.ROW_NUMBER} = 1"
        bits_after_sort = pack_bit_columns(
            [is_first_row, *tests_after_sort], internal_names.name_bits
        )
        bits = [
            SelectItem(f"{names.by_text[before.sql]} | {after.sql}", after.name)
            for before, after in zip(bits_before_sort, bits_after_sort, strict=True)
        ]
        items = names.select_sent(columns) + bits
        return self.relation.write_query_over(self.build_sorted_query(names), map(str, items))

    def pack_conditions_of_one_row(self) -> list[SelectItem]:
        """Return the columns of bits in which conditions on several rows are false."""
        origins = self.origins
        tests = [
            mark_origin(condition.text, origins.get(condition.text))
            if condition.reads_one_row
            else "FALSE"
            for condition in self.joined.row_conditions
        ]
        # The first bit marks the first row of a partition, which only the window can find.
        return pack_bit_columns(["FALSE", *tests], internal_names.name_bits)

    def build_sorted_query(self, names: ColumnNames) -> Template:
        """Return the query that sorts the rows, and adds row numbers and values of other rows."""
        frame = self.backend.running_frame
        window = self.write_window(names)
        number = SelectItem(f"row_number() OVER ({window} {frame})", internal_names.ROW_NUMBER)
        items = [number, *names.select_window_values(window, frame)]
        select_list = ", ".join(str(item) for item in items)
        return join_template(f"SELECT *, {select_list} FROM (", self.build_inner_query(names), ")")

    def write_order_item(self, names: ColumnNames, item: SortItem) -> str:
        """Return an item of ORDER BY as SQL."""
        text = item.expression.text
        key = self.write_key(names, text)
        return self.backend.write_order_key(key, item, self.relation.find_type(text))

    def write_window(self, names: ColumnNames) -> str:
        """Return the window as SQL, for instance `PARTITION BY __c0 ORDER BY __x3`."""
        order = ", ".join(self.write_order_item(names, item) for item in self.joined.order_by)
        keys = ", ".join(self.write_key(names, key.text) for key in self.joined.partition_keys)
        keys = self.backend.write_window_keys(keys)
        partition = f"PARTITION BY {keys} " if keys else ""
        return f"{partition}ORDER BY {order or '1'}"  # `row_number` needs an order
