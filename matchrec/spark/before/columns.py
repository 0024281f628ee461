"""What Spark computes before the match: sorted partitions with the columns and bits that cross.

    SELECT <SQL over one row> AS __c0, ..., AS __x0, ... FROM <the user's relation> [WHERE ...]
    SELECT *, row_number() OVER w AS __n, lag(__x0, 1) OVER w AS __s0, ... FROM that
    SELECT __c0, ..., <bits> AS __bits0 FROM that [without rows that no match contains]

The inner query narrows the rows before the shuffle. The window's row_number makes Spark shuffle
and sort by its own rules and marks where partitions start by its own notion of equal keys; lag and
lead over the same window read rows at a fixed distance, each once. A column keeps its name from the
inner query on: Spark would send a renamed one through the shuffle a second time. A text by which
rows are partitioned crosses once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.conditions.row_column import Neighbours, RowColumn
from matchrec.dataclass import dataclass
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text.template import Template, template
from matchrec.spark import wire
from matchrec.spark.before.bits import bit_columns, may_be_matched
from matchrec.spark.before.names import Names
from matchrec.spark.relation import Relation
from matchrec.spark.wire import SelectItem, select_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from matchrec.compile.draft import Draft

FIRST_ROW = f"{wire.ROW_NUMBER} = 1"


@dataclass(frozen=True)
class Preparation:
    """Computes columns and bits for one plan over one relation.

    keys: SQL over one row that must hold of it; each decides on whole partitions. reason: why it is
    Spark that sorts, if that is known.
    """

    relation: Relation
    plan: MatchPlan
    keys: tuple[str, ...] = ()
    reason: str = ""

    def dataframe(self, columns: tuple[RowColumn, ...], drafted: Draft) -> DataFrame:
        """Columns __c0, __c1, ..., then __bits0, ...; sorted partitions, nothing else.

        What stays behind is as the draft says: irrelevant rows before the sort; rows that no match
        contains, by their neighbours, after the sort, and then a last column __n has each row's
        number in its partition.
        Raises one of Spark's `REFUSALS` for what Spark cannot make sense of.
        """
        names = self.names(columns, drafted)
        conditions = map(names.over_window, drafted.row_conditions)
        items = names.crossing(columns) + bit_columns(FIRST_ROW, conditions)
        numbered = self.number_rows(names, drafted)
        if not drafted.neighbours:
            return self.relation.over(numbered, map(str, items))
        return self.may_match_items(names, numbered, items, drafted.neighbours)

    def shuffled(self, columns: tuple[RowColumn, ...], drafted: Draft) -> tuple[Template, Template]:
        """The query of all rows, and that of what is shuffled of them."""
        names = self.names(columns, drafted)
        return self.relation.query(["*"]), self.source(names, drafted)

    @property
    def sorts(self) -> str:
        """Who sorts the rows of each partition, and why; empty of a stream."""
        return f"Spark: {self.reason}"

    @property
    def is_stream(self) -> bool:
        """Whether its rows come little by little."""
        return False

    def sending(self, drafted: Draft) -> Draft:
        """The draft without tests that leave out what must cross."""
        return drafted

    def names(self, columns: tuple[RowColumn, ...], drafted: Draft) -> Names:
        """The names of all that is computed over one row or read on another one."""
        keys = [part.text for part in self.plan.keys]
        keys += [item.expression.text for item in self.plan.order_by]
        tests = [test.text for test in drafted.relevant]
        return Names.of(columns, drafted.row_conditions, (*keys, *self.keys, *tests))

    def source(self, names: Names, drafted: Draft) -> Template:
        """The query of what Spark computes over one row, without rows that stay behind."""
        query = self.relation.query(map(str, names.rows()))
        where = self.kept_rows_filter(names, drafted)
        return template("SELECT * FROM (", query, f") AS __rows {where}") if where else query

    def kept_rows_filter(self, names: Names, drafted: Draft) -> str:
        """The WHERE that leaves irrelevant rows and unused partitions out, if any are."""
        tests = [names.inner[test] for test in self.keys]
        if drafted.relevant:
            tests.append(f"({' OR '.join(names.inner[one.text] for one in drafted.relevant)})")
        return f"WHERE {' AND '.join(tests)}" if tests else ""

    def key_names(self, names: Names) -> list[str]:
        """The columns by which rows are partitioned."""
        return [names.inner[part.text] for part in self.plan.keys]

    def order_names(self, names: Names) -> list[str]:
        """The columns by which a partition is sorted."""
        return [names.inner[item.expression.text] for item in self.plan.order_by]

    def window(self, names: Names) -> str:
        """The window that puts equal keys together and sorts them, as SQL."""
        items = zip(self.order_names(names), self.plan.order_by, strict=True)
        order = ", ".join(f"{name} {item.direction}" for name, item in items)
        keys = ", ".join(self.key_names(names))
        partition = f"PARTITION BY {keys} " if keys else ""
        return f"{partition}ORDER BY {order or '1'}"

    def number_rows(self, names: Names, drafted: Draft) -> Template:
        """Query the sorted rows with their numbers and the values that they read on other rows."""
        window = self.window(names)
        number = SelectItem(f"row_number() OVER ({window})", wire.ROW_NUMBER)
        items = select_list([number, *names.other_rows(window)])
        return template(f"SELECT *, {items} FROM (", self.source(names, drafted), ")")

    def may_match_items(
        self,
        names: Names,
        numbered: Template,
        items: list[SelectItem],
        neighbours: tuple[Neighbours, ...],
    ) -> DataFrame:
        """The items, and __n, of rows that may match by their own and their neighbours' bits."""
        crossing = {item.name for item in items}
        kept = (wire.ROW_NUMBER, *names.inner.values())
        stays = [SelectItem(name, name) for name in kept if name not in crossing]
        window, bits = f"OVER ({self.window(names)})", wire.FIRST_BITS
        before = SelectItem(f"lag({bits}, 1, 0) {window}", wire.BITS_BEFORE)
        after = SelectItem(f"lead({bits}, 1, 0) {window}", wire.BITS_AFTER)
        inner = select_list([*items, *stays])
        query = template(
            f"SELECT *, {before}, {after} FROM (SELECT ",
            self.relation.runner.written(inner),
            " FROM (",
            numbered,
            "))",
        )
        sent = [*(item.name for item in items), wire.ROW_NUMBER]
        return self.relation.over(query, sent, may_be_matched(neighbours), inner)


def with_keys_once(frame: DataFrame, once: tuple[int, ...]) -> DataFrame:
    """The columns that cross, those of `once` NULL but for the first row of each partition."""
    if not once:
        return frame
    keys = {wire.column(index) for index in once}
    first = f"CASE WHEN {wire.FIRST_BITS} & 1 <> 0 THEN {{0}} END AS {{0}}"
    return frame.selectExpr(*(first.format(c) if c in keys else c for c in frame.columns))
