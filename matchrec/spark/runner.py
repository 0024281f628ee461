"""Run SQL texts in a session: the texts that belong to one query of the user.

A text is a template: SQL with holes for DataFrames, and perhaps with parameters. The steps:

1. The backend makes views of the DataFrames, or PySpark sends the DataFrames along.
2. The names of the views fill the holes.
3. The engine gets the text, with the values of the parameters that occur in it.
4. An error of the engine is rewritten in the user's terms, and points into the user's query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField

from matchrec.plan.templates import Template, View, join_template, write_select
from matchrec.plan.text import AVERAGE_OR_NULL, SUM_OR_NULL
from matchrec.source import Source
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.errors import filled_template, rewritten_errors
from matchrec.spark.holes import create_lasting_views, escape_for_pyspark, list_holes
from matchrec.spark.session_errors import REFUSALS, TEXT_ERRORS
from matchrec.spark.sql_replacement import find_plain_sql

# The settings of a session on which the meaning of a query depends.
SETTINGS = (
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.ansi.enabled",
    "spark.sql.caseSensitive",
    "spark.sql.legacy.statisticalAggregate",
    "spark.sql.session.timeZone",
    "spark.sql.timestampType",
)

# The values of parameters: a dict by the names of the parameters, or a list with a value for each
# `?`; None if the query has no parameters.
SqlArguments = dict[str, Any] | list[Any] | None

# The first character of a parameter. A text without it has no parameter.
PARAMETER_SIGN = re.compile("[:?]")

# The beginning of a subquery.
SUBQUERY_START = re.compile(r"\(\s*(SELECT|WITH|FROM|VALUES|TABLE)\b", re.IGNORECASE)


class TextBackend(Protocol):
    """The methods of `spark.backend.Backend` that a runner calls, which are described there.

    `Backend` cannot be imported here, because its module imports this one.
    """

    spark: SparkSession
    engine: str

    def adapt_sums(self, text: str) -> str:
        """Return SQL with our own sums and averages as the engine computes them."""

    def open_views(
        self, frames: Mapping[str, Any], text: Template
    ) -> AbstractContextManager[Mapping[str, str]]:
        """Make views of DataFrames that a text names, for as long as the text is analysed."""

    def send_text(self, text: str, args: SqlArguments, frames: Mapping[str, Any]) -> DataFrame:
        """Send a text to the engine, and return its DataFrame."""

    def analyse(self, runner: Runner, frame: DataFrame, text: Template | None) -> DataFrame:
        """Let the engine analyse a DataFrame, and return the DataFrame."""

    def find_fields(self, frame: DataFrame, text: str | None) -> list[StructField]:
        """Return the fields of a DataFrame with the types that its values have."""

    def set_schema(self, frame: DataFrame, fields: Sequence[StructField]) -> None:
        """Give a DataFrame the schema that it is known to have."""

    def cast_to_value_types(self, frame: DataFrame, text: str) -> DataFrame:
        """Return the DataFrame with the types that its values have."""

    def read_settings(self, names: Sequence[str]) -> list[Any]:
        """Return the values of settings of the session, in the order of their names."""

    def count_tasks(self, input_rows: DataFrame) -> int | None:
        """Return the number of tasks to divide rows into; None if the engine decides."""


@dataclass(frozen=True)
class Runner:
    """A runner of the SQL texts of one query of the user."""

    backend: TextBackend
    # The values of the parameters in the user's query.
    args: SqlArguments = None
    # The DataFrames and values that fill the holes of texts, by the names of the holes. PySpark
    # writes values as literals.
    frames: Mapping[str, Any] = field(default_factory=dict)
    # Cuts up the text of one of the user's expressions at its holes.
    find_holes: Callable[[str], Template] = join_template
    # The WITH clauses around the user's clause, outermost first. A query that matchrec writes
    # begins with them if it can name their tables.
    with_clauses: tuple[Template, ...] = ()
    # The user's query, if the texts have its layout: then errors of the engine point into it. None
    # for texts that matchrec has written.
    source: Source | None = None

    @property
    def spark(self) -> SparkSession:
        """Return the session."""
        return self.backend.spark

    def sql(self, text: Template) -> DataFrame:
        """Return the DataFrame of a query text. The text is analysed now and run later.

        Raises:
            pyspark.errors.AnalysisException: the text is wrong. If the runner has a `source`, the
                error is in the user's terms, and it can also be another one of `REFUSALS`.
        """
        with self.backend.open_views(self.frames, text) as view_names:
            return self._run_with_views(text, view_names)

    def run_stored(self, text: Template) -> DataFrame:
        """Run a text as `sql` does, but with views that stay in the session.

        This is for a text that Spark stores and reads again later, as in CREATE TEMPORARY VIEW.

        Raises as `sql`.
        """
        with create_lasting_views(self.spark, self.frames, list_holes(text)) as view_names:
            return self._run_with_views(text, view_names)

    def _run_with_views(self, text: Template, view_names: Mapping[str, str]) -> DataFrame:
        """Return the DataFrame of a text, with views for some of its holes.

        Args:
            text: the query text.
            view_names: the name of the view for each hole that a view fills. PySpark fills the
                other holes.

        Raises as `sql`.
        """
        if self.source is None:
            return self._send_to_engine(text, view_names)
        with silence_analysis():
            try:
                return self.analyse(self._send_to_engine(text, view_names), text)
            except REFUSALS as error:
                filled = filled_template.FilledTemplate(text, view_names, self.source)
                raise rewritten_errors.rewrite_engine_error(
                    error, filled, self.list_tables, self.list_functions
                ) from None

    def _send_to_engine(self, text: Template, view_names: Mapping[str, str]) -> DataFrame:
        """Return the DataFrame that the engine itself makes of a text.

        The backend calls Spark's own `sql`, even if `enable` has replaced this method.

        Args:
            text: the query text.
            view_names: see `_run_with_views`.
        """
        frames = {hole: self.frames[hole] for hole in list_holes(text) if hole not in view_names}
        pieces = [filled_template.fill_piece(piece, view_names) for piece in text]
        if frames:
            sql = "".join(escape_for_pyspark(piece, frames) for piece in pieces)
        else:  # PySpark does not format a text without frames, so braces are not escaped
            sql = "".join(str(piece) for piece in pieces)
        return self.backend.send_text(
            self.write_for_engine(sql), self.find_parameter_values(sql), frames
        )

    def find_parameter_values(self, sql: str) -> SqlArguments:
        """Return the values to send with a text; None if the text has no parameter.

        The plan of a text that is sent without values does not depend on them, and can be used
        again.
        """
        if self.args and PARAMETER_SIGN.search(sql):
            return self.args
        return None

    def select(self, frame: DataFrame, items: Sequence[str]) -> DataFrame:
        """Return the DataFrame of a select list over another DataFrame.

        Args:
            frame: the other DataFrame.
            items: the items of the select list, as SQL.
        """
        text = ", ".join(items)
        select_list = self.find_holes(text)
        # `selectExpr` reads no parameters, holes or subqueries. `sql` reads them, but needs a view.
        has_parameter = self.find_parameter_values(text) is not None
        if not (list_holes(select_list) or has_parameter or SUBQUERY_START.search(text)):
            return frame.selectExpr(*(self.write_for_engine(item) for item in items))
        query = write_select(select_list, (View("matchrec_frame"),), self.with_clauses)
        return self.with_frames(matchrec_frame=frame).sql(query)

    def write_for_engine(self, text: str) -> str:
        """Return SQL with our own sums and averages as the engine computes them."""
        if SUM_OR_NULL not in text and AVERAGE_OR_NULL not in text:
            return text
        return self.backend.adapt_sums(text)

    def analyse(self, frame: DataFrame, text: Template | None = None) -> DataFrame:
        """Let the engine analyse a DataFrame to find mistakes in it, and return the DataFrame.

        Over Connect, a DataFrame is not analysed before its schema is read.

        Args:
            frame: the DataFrame.
            text: the only text in the DataFrame that can have a mistake; None if any part can. The
                backend can skip a text that was already analysed for columns of the same types.

        Raises:
            pyspark.errors.AnalysisException: the DataFrame has a mistake.
        """
        return self.backend.analyse(self, frame, text)

    def find_fields(self, frame: DataFrame, text: str | None = None) -> list[StructField]:
        """Return the fields of a DataFrame with the types that its values have.

        Args:
            frame: the DataFrame, which is analysed now.
            text: its expressions, if the DataFrame is a select list over rows whose types are
                known; otherwise None.
        """
        return self.backend.find_fields(frame, text)

    def select_with_value_types(self, frame: DataFrame, items: Sequence[str]) -> DataFrame:
        """Select as `select` does, and cast columns to the types that their values have.

        Sail gives CASE, IF and UNION the type of their first value. Here they have the common type
        of all their values.

        Args:
            frame: rows whose types are known.
            items: the select list.
        """
        return self.backend.cast_to_value_types(self.select(frame, items), ", ".join(items))

    def list_tables(self) -> list[str]:
        """Return the names of the tables and views of the session; empty if they are not known."""
        with suppress(*TEXT_ERRORS):
            rows = find_plain_sql(self.spark)("SHOW TABLES").collect()
            return [row["tableName"] for row in rows]
        return []

    def list_functions(self) -> list[str]:
        """Return the names of the functions of the session; empty if they are not known."""
        with suppress(*TEXT_ERRORS):
            rows = find_plain_sql(self.spark)("SHOW FUNCTIONS").collect()
            return [str(row[0]) for row in rows]
        return []

    def with_frames(self, **frames: DataFrame) -> Runner:
        """Return a runner that can fill holes with these DataFrames as well."""
        return replace(self, frames={**self.frames, **frames})

    def with_source(self, source: Source) -> Runner:
        """Return a runner for texts with the layout of the user's query, which errors show."""
        return replace(self, source=source)

    @cached_property
    def settings(self) -> dict[str, str]:
        """Return the values of `SETTINGS` in the session, in lower case, by their names."""
        values = self.backend.read_settings(SETTINGS)
        return {name: str(value).lower() for name, value in zip(SETTINGS, values, strict=True)}
