"""What Spark computes before the match where the workers sort: one projection, and a shuffle.

    SELECT <SQL over one row> AS __c0, ..., AS __x0, ... FROM <the user's relation> [WHERE ...]
    SELECT __c0, ..., <keys and order that are no __c>, <bits> AS __bits0 FROM that
    that, shuffled by the keys

There is no window, so every column and every bit is of one row. Bits are packed before the shuffle:
what the workers do not need does not go through it. Where there is none, the workers make the
column that marks the first row of a partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.types import StructField, StructType

from matchrec.conditions.row_column import RowColumn
from matchrec.dataclass import dataclass
from matchrec.plan.text.sql_text import struct_fields
from matchrec.plan.text.template import Template, template
from matchrec.spark import wire
from matchrec.spark.before.bits import bit_columns
from matchrec.spark.before.columns import Preparation
from matchrec.spark.before.names import Names
from matchrec.spark.sorting.sorting import SortColumn, Sorting
from matchrec.spark.wire import SelectItem, Struct, select_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from matchrec.compile.draft import Draft


@dataclass(frozen=True)
class Unsorted(Preparation):
    """Computes columns and bits for one plan, of rows that come together by their keys."""

    def dataframe(self, columns: tuple[RowColumn, ...], drafted: Draft) -> DataFrame:
        """Columns __c0, ..., then those of keys and order that are not there yet, then __bits0, ...

        Rows of one partition are in one task, in no order. Irrelevant rows are left out.

        Raises one of Spark's `REFUSALS` for what Spark cannot make sense of.
        """
        names = self.names(columns, drafted)
        return self.select(names, self.items(columns, names, drafted), drafted)

    def in_parts(self, columns: tuple[RowColumn, ...], drafted: Draft) -> DataFrame:
        """The same with the fields of structs in place of the structs: each column is sent once."""
        names = self.names_of_parts(columns, drafted)
        return self.select(names, self.parts(columns, names, drafted), drafted)

    def select(self, names: Names, items: Iterable[SelectItem], drafted: Draft) -> DataFrame:
        """Items of the rows, shuffled by the keys."""
        rows = self.relation.over(self.source(names, drafted), map(str, items))
        keys = self.key_names(names)
        return rows.repartition(*keys) if keys else rows.repartition(1)

    def shuffled(self, columns: tuple[RowColumn, ...], drafted: Draft) -> tuple[Template, Template]:
        """The query of all rows, and that of what is shuffled of them."""
        names = self.names_of_parts(columns, drafted)
        items = select_list(self.parts(columns, names, drafted))
        shuffled = template(f"SELECT {items} FROM (", self.source(names, drafted), ")")
        return self.relation.query(["*"]), shuffled

    @property
    def sorts(self) -> str:
        """Who sorts the rows of each partition."""
        return "the workers: Spark only brings the rows of a partition together"

    def sorted_by(self, columns: tuple[RowColumn, ...], drafted: Draft) -> Sorting:
        """How the workers sort these columns."""
        names = self.names(columns, drafted)
        items = zip(self.order_names(names), self.plan.order_by, strict=True)
        order = (SortColumn(name, one.descending, not one.puts_nulls_last) for name, one in items)
        return Sorting(tuple(self.key_names(names)), tuple(order))

    def structs(
        self, known: Sequence[StructField], columns: tuple[RowColumn, ...], drafted: Draft
    ) -> tuple[Struct, ...]:
        """The structs that the workers put together. known: the columns' fields."""
        names = self.names_of_parts(columns, drafted)
        types = {wire.column(place): field.dataType for place, field in enumerate(known)}
        return tuple(
            Struct(name, tuple(type_.names), tuple(names.inner[field] for field in fields))
            for name, fields in fields_by_name(columns).items()
            if isinstance(type_ := types[name], StructType)
        )

    def names_of_parts(self, columns: tuple[RowColumn, ...], drafted: Draft) -> Names:
        """The names of all columns, also of the fields of structs."""
        fields = (field for one in fields_by_name(columns).values() for field in one)
        return self.names(columns, drafted).having(fields)

    def parts(
        self, columns: tuple[RowColumn, ...], names: Names, drafted: Draft
    ) -> list[SelectItem]:
        """All that crosses, each once, the fields of structs in place of the structs."""
        structs = fields_by_name(columns)
        items = [one for one in self.items(columns, names, drafted) if one.name not in structs]
        sent = {item.name for item in items}
        fields = dict.fromkeys(names.inner[field] for one in structs.values() for field in one)
        return [*(SelectItem(name, name) for name in fields if name not in sent), *items]

    def items(
        self, columns: tuple[RowColumn, ...], names: Names, drafted: Draft
    ) -> list[SelectItem]:
        """All that crosses, each once; bits only where there is one, or nothing else."""
        items = names.crossing(columns)
        sent = {item.name for item in items}
        needed = dict.fromkeys((*self.key_names(names), *self.order_names(names)))
        items += [SelectItem(name, name) for name in needed if name not in sent]
        if items and not drafted.row_conditions:
            return items
        return items + bit_columns("FALSE", map(names.over_window, drafted.row_conditions))


def fields_by_name(columns: tuple[RowColumn, ...]) -> dict[str, tuple[str, ...]]:
    """The columns of each struct of columns that crosses, by its name."""
    found = {
        wire.column(place): struct_fields(one.text)
        for place, one in enumerate(columns)
        if one.looks_at_one_row
    }
    return {name: fields for name, fields in found.items() if fields}
