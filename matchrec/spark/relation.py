"""Running SQL text over DataFrames: the session of a query, and the input of a clause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructField

from matchrec.plan.text import AVERAGE_OR_NULL, SUM_OR_NULL, Template, View, quoted, template
from matchrec.source import Source
from matchrec.spark.errors import users_terms
from matchrec.spark.session import (
    OF_TEXTS,
    SUBQUERY,
    create_views,
    formatted,
    holes,
    plain_sql,
    quiet_analysis,
)

# The settings of a session on which the meaning of a query depends.
SETTINGS = (
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.ansi.enabled",
    "spark.sql.caseSensitive",
    "spark.sql.legacy.statisticalAggregate",
    "spark.sql.session.timeZone",
    "spark.sql.timestampType",
)


class TextBackend(Protocol):
    """What differs between engines in running texts: see `spark.backend.Backend`."""

    spark: SparkSession
    engine: str

    def write_sums(self, text: str) -> str: ...
    def run(self, runner: Runner, text: Template) -> DataFrame: ...
    def send(
        self, text: str, args: Any, frames: Mapping[str, Any], *, is_complete: bool
    ) -> DataFrame: ...
    def analyse(self, runner: Runner, frame: DataFrame, text: Template | None) -> DataFrame: ...
    def fields(self, frame: DataFrame, text: str | None) -> list[StructField]: ...
    def with_value_types(self, frame: DataFrame, text: str) -> DataFrame: ...
    def settings(self, names: Sequence[str]) -> list[Any]: ...


@dataclass(frozen=True)
class Runner:
    """A session, the arguments of the user's query, and the DataFrames that may fill its holes.

    written: finds the holes in the text of one of the user's expressions. in_scope: puts before it
    of a query what its subqueries may name, the WITH clauses around the user's clause. source: the
    user's query, where a text to run has its layout: Spark's errors are put in its terms.
    """

    backend: TextBackend
    args: dict[str, Any] | list[Any] | None = None
    frames: Mapping[str, Any] = field(default_factory=dict)
    written: Callable[[str], Template] = template
    in_scope: Callable[[Template], Template] = template
    source: Source | None = None

    @property
    def spark(self) -> SparkSession:
        return self.backend.spark

    def sql(self, text: Template) -> DataFrame:
        """The DataFrame of a query text; analysed now, run later."""
        return self.backend.run(self, text)

    def stored(self, text: Template) -> DataFrame:
        """As `sql`, with views that stay in the session.

        For text that Spark stores, as in CREATE TEMPORARY VIEW, and reads again later; and for a
        client of Connect that cannot send DataFrames along.
        """
        with ExitStack() as views:
            names = create_views(self.spark, self.frames, holes(text), views)
            found = self.filled(text, names)
            views.pop_all()
            return found

    def filled(self, text: Template, names: Mapping[str, str]) -> DataFrame:
        """The DataFrame of a text with views in its holes; Spark's errors in the user's terms."""
        if self.source is None:
            return self._spark_sql(text, names)
        with quiet_analysis():
            try:
                return self.analyse(self._spark_sql(text, names), text)
            except OF_TEXTS as error:
                filled = users_terms.Filled(text, names, self.source)
                raise users_terms.in_users_terms(
                    error, filled, self.tables, self.functions
                ) from None

    def _spark_sql(self, text: Template, names: Mapping[str, str]) -> DataFrame:
        """Spark's own `sql`, also on a session where `enable` put another in its place."""
        frames = {hole: self.frames[hole] for hole in holes(text) if hole not in names}
        pieces = [users_terms.fill(piece, names) for piece in text]
        whole = "".join(map(partial(formatted, frames=frames) if frames else str, pieces))
        readable = self.readable(whole)
        is_complete = not (self.args or holes(text))
        return self.backend.send(readable, self.args, frames, is_complete=is_complete)

    def select(self, frame: DataFrame, items: Sequence[str]) -> DataFrame:
        """The DataFrame of a select list over another DataFrame."""
        text = ", ".join(items)
        select_list = self.written(text)
        # markers, holes and subqueries must go through `sql`, which costs a view
        if not (holes(select_list) or self.args or SUBQUERY.search(text)):
            return frame.selectExpr(*map(self.readable, items))
        query = template("SELECT ", select_list, " FROM ", View("matchrec_frame"))
        return self.having(matchrec_frame=frame).sql(self.in_scope(query))

    def readable(self, text: str) -> str:
        """Return SQL with our own sums and averages as the engine computes them."""
        if SUM_OR_NULL not in text and AVERAGE_OR_NULL not in text:
            return text
        return self.backend.write_sums(text)

    def analyse(self, frame: DataFrame, text: Template | None = None) -> DataFrame:
        """Return a DataFrame once the engine has analysed it, and found no mistake in it.

        Over Connect, a DataFrame is not analysed before something asks.

        Args:
            frame: the DataFrame.
            text: what a mistake may be in; None for anything. If it depends on nothing but tables,
                it is not looked at again for columns of the same types.
        """
        return self.backend.analyse(self, frame, text)

    def fields(self, frame: DataFrame, text: str | None = None) -> list[StructField]:
        """Return the fields of a DataFrame, analysed now, with the types that its values have.

        Args:
            frame: the DataFrame.
            text: its expressions over rows whose types are known; None for anything else.
        """
        return self.backend.fields(frame, text)

    def select_typed(self, frame: DataFrame, items: Sequence[str]) -> DataFrame:
        """Like `select`, over rows of known types: the schema has the types of the values."""
        return self.backend.with_value_types(self.select(frame, items), ", ".join(items))

    def tables(self) -> list[str]:
        """The names of the tables and views in reach; none where the engine does not tell."""
        with suppress(*OF_TEXTS):
            return [row["tableName"] for row in plain_sql(self.spark)("SHOW TABLES").collect()]
        return []

    def functions(self) -> list[str]:
        """Return the names of the functions of the session; none if the engine does not tell."""
        with suppress(*OF_TEXTS):
            return [str(row[0]) for row in plain_sql(self.spark)("SHOW FUNCTIONS").collect()]
        return []

    def having(self, **frames: DataFrame) -> Runner:
        return replace(self, frames={**self.frames, **frames})

    @cached_property
    def settings(self) -> dict[str, str]:
        """The `SETTINGS` of the session, in lower case."""
        values = self.backend.settings(SETTINGS)
        return {name: str(value).lower() for name, value in zip(SETTINGS, values, strict=True)}


@dataclass(frozen=True)
class Relation:
    """The input of a clause: how to select from it. all_rows: makes the rows themselves; once."""

    runner: Runner
    select_from: Callable[[Template], Template]
    all_rows: Callable[[], DataFrame] | None = None

    @cached_property
    def rows(self) -> DataFrame:
        return self.select(["*"]) if self.all_rows is None else self.all_rows()

    def query(self, items: Iterable[str]) -> Template:
        return self.select_from(self.runner.written(", ".join(items)))

    def select(self, items: Iterable[str]) -> DataFrame:
        return self.runner.sql(self.query(items))

    def over(self, query: Template, items: Iterable[str]) -> Template:
        """The query of a select list over a query; one text, which Spark analyses once."""
        text = ", ".join(items)
        whole = template("SELECT ", self.runner.written(text), " FROM (", query, ")")
        return self.runner.in_scope(whole) if SUBQUERY.search(text) else whole

    @cached_property
    def _known(self) -> dict[str, StructField]:
        """The fields of expressions, by their texts; first those of the plain columns."""
        schema = self.rows.schema
        names = Counter(map(str.lower, schema.names))
        return {quoted(one.name): one for one in schema if names[one.name.lower()] == 1}

    def fields(self, texts: Iterable[str]) -> list[StructField]:
        """The fields of expressions over the input. Spark is asked once for all that are new."""
        wanted = tuple(texts)
        new = tuple(dict.fromkeys(text for text in wanted if text not in self._known))
        if new:
            fields = self.runner.fields(self.select(new), " ".join(new))
            self._known.update(zip(new, fields, strict=True))
        return [self._known[text] for text in wanted]

    def type_of(self, text: str) -> DataType:
        return self.fields([text])[0].dataType

    def name_of(self, text: str) -> str:
        return self.fields([text])[0].name
