"""The input of a clause, and queries over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql.types import DataType

from matchrec.dataclass import dataclass
from matchrec.plan.text.sql_text import quoted
from matchrec.plan.text.template import Template, template
from matchrec.spark.session import SUBQUERY, Runner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SelectFrom = Callable[[Template], Template]


@dataclass(frozen=True)
class Relation:
    """The input of a clause: how to select from it.

    all_rows: makes the DataFrame of the rows themselves; asked once.
    """

    runner: Runner
    select_from: SelectFrom
    all_rows: Callable[[], DataFrame] | None = None

    @cached_property
    def rows(self) -> DataFrame:
        """The DataFrame of the input."""
        return self.select(["*"]) if self.all_rows is None else self.all_rows()

    def query(self, items: Iterable[str]) -> Template:
        """The query of a select list over the input."""
        return self.select_from(self.runner.written(", ".join(items)))

    def select(self, items: Iterable[str]) -> DataFrame:
        """The DataFrame of a select list over the input."""
        return self.runner.sql(self.query(items))

    def over(
        self, query: Template, items: Iterable[str], where: str = "", inner: str = ""
    ) -> DataFrame:
        """The DataFrame of a select list over a query; one text, which Spark analyses once.

        inner: what of the user's is in the query, beside what the relation itself has selected.
        """
        text = ", ".join(items)
        behind = f") AS __rows WHERE {where}" if where else ")"
        whole = template("SELECT ", self.runner.written(text), " FROM (", query, behind)
        return self.runner.sql(
            self.runner.in_scope(whole) if SUBQUERY.search(text + inner) else whole
        )

    def type_of(self, text: str) -> DataType:
        """The type of an expression over the input; of a plain column the rows tell it."""
        fields = self.rows.schema.fields
        named = [one.dataType for one in fields if quoted(one.name).lower() == text.lower()]
        if len(named) == 1:
            return named[0]
        return self.select([text]).schema[0].dataType

    def name_of(self, text: str) -> str:
        """The name that Spark gives to an expression over the input."""
        return str(self.select([text]).columns[0])
