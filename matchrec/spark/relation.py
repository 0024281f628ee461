"""Run SQL text over DataFrames: the runner of a query's texts, and the input of a clause."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
)

from matchrec.conditions.types import ValueType
from matchrec.plan.templates import Template, View, join_template, write_select
from matchrec.plan.text import AVERAGE_OR_NULL, SUM_OR_NULL, quote_name
from matchrec.source import Source
from matchrec.spark.errors import filled_template, users_terms
from matchrec.spark.session import (
    SUBQUERY_START,
    TEXT_ERRORS,
    create_lasting_views,
    escape_for_pyspark,
    find_plain_sql,
    list_holes,
    silence_analysis,
)
from matchrec.spark.types import to_value_type

# The settings of a session on which the meaning of a query depends.
SETTINGS = (
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.ansi.enabled",
    "spark.sql.caseSensitive",
    "spark.sql.legacy.statisticalAggregate",
    "spark.sql.session.timeZone",
    "spark.sql.timestampType",
)


# The values of parameters: a dict from names, or a list for each `?`; None without parameters.
Values = dict[str, Any] | list[Any] | None

# The types that PySpark gives to values of some classes.
LITERAL_TYPES = {bool: BooleanType(), float: DoubleType(), str: StringType()}
FIRST_LONG = 1 << 31  # the least positive integer that does not fit an INT

# The first character of a parameter. A text without it has no parameter.
PARAMETER_SIGN = re.compile("[:?]")


class TextBackend(Protocol):
    """The part of `spark.backend.Backend` that runs texts; see there for details."""

    spark: SparkSession
    engine: str

    def write_sums(self, text: str) -> str:
        """Return SQL with our own sums and averages as the engine computes them."""

    def open_views(
        self, frames: Mapping[str, Any], text: Template
    ) -> AbstractContextManager[Mapping[str, str]]:
        """Make views of DataFrames that a text names, for as long as the text is analysed."""

    def send_text(self, text: str, args: Values, frames: Mapping[str, Any]) -> DataFrame:
        """Send a text to the engine, and return its DataFrame."""

    def analyse(self, runner: Runner, frame: DataFrame, text: Template | None) -> DataFrame:
        """Return a DataFrame once it has been analysed."""

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
    args: Values = None
    # What fills the holes of texts, by the name of the hole: DataFrames, and values that PySpark
    # writes as literals.
    frames: Mapping[str, Any] = field(default_factory=dict)
    # Finds the holes in the text of one of the user's expressions.
    find_holes: Callable[[str], Template] = join_template
    # The WITH clauses around the user's clause, outermost first. A query of ours begins with them
    # if its relation or its subqueries may name their tables.
    with_clauses: tuple[Template, ...] = ()
    # The user's query, if the texts have its layout. Spark's errors then point into it.
    source: Source | None = None

    @property
    def spark(self) -> SparkSession:
        """Return the session."""
        return self.backend.spark

    def sql(self, text: Template) -> DataFrame:
        """Return the DataFrame of a query text, which is analysed now and run later.

        Raises:
            pyspark.errors.AnalysisException: the text is wrong. If the runner has a `source`, the
                error says so in the user's terms.
        """
        with self.backend.open_views(self.frames, text) as view_names:
            return self._run_with_views(text, view_names)

    def run_stored(self, text: Template) -> DataFrame:
        """Run a text as `sql` does, but with views that stay in the session.

        This is for text that Spark stores and reads again later, as in CREATE TEMPORARY VIEW.
        """
        with create_lasting_views(self.spark, self.frames, list_holes(text)) as view_names:
            return self._run_with_views(text, view_names)

    def _run_with_views(self, text: Template, view_names: Mapping[str, str]) -> DataFrame:
        """Return the DataFrame of a text in some of whose holes views are named. Raises as `sql`.

        Args:
            text: the query text.
            view_names: the name of a view for each hole that it fills. PySpark fills the others.
        """
        if self.source is None:
            return self._send_to_engine(text, view_names)
        with silence_analysis():
            try:
                return self.analyse(self._send_to_engine(text, view_names), text)
            except TEXT_ERRORS as error:
                filled = filled_template.FilledTemplate(text, view_names, self.source)
                raise users_terms.rewrite_engine_error(
                    error, filled, self.list_tables, self.list_functions
                ) from None

    def _send_to_engine(self, text: Template, view_names: Mapping[str, str]) -> DataFrame:
        """Run a text with Spark's own `sql`, even if `enable` has replaced the session's."""
        frames = {hole: self.frames[hole] for hole in list_holes(text) if hole not in view_names}
        pieces = [filled_template.fill_piece(piece, view_names) for piece in text]
        if frames:
            sql = "".join(escape_for_pyspark(piece, frames) for piece in pieces)
        else:  # PySpark formats no text that comes without frames, so nothing is escaped
            sql = "".join(str(piece) for piece in pieces)
        return self.backend.send_text(self.write_for_engine(sql), self.find_values(sql), frames)

    def find_values(self, sql: str) -> Values:
        """Return the values of the parameters; None if a text has no parameter.

        Such a text is the same for all values, so it is planned only once.
        """
        return self.args if self.args and PARAMETER_SIGN.search(sql) else None

    def select(self, frame: DataFrame, items: Sequence[str]) -> DataFrame:
        """Return the DataFrame of a select list over another DataFrame."""
        text = ", ".join(items)
        select_list = self.find_holes(text)
        # parameters, holes and subqueries must go through `sql`, which costs a view
        has_parameter = self.find_values(text) is not None
        if not (list_holes(select_list) or has_parameter or SUBQUERY_START.search(text)):
            return frame.selectExpr(*(self.write_for_engine(item) for item in items))
        query = write_select(select_list, (View("matchrec_frame"),), self.with_clauses)
        return self.with_frames(matchrec_frame=frame).sql(query)

    def write_for_engine(self, text: str) -> str:
        """Return SQL with our own sums and averages as the engine computes them."""
        if SUM_OR_NULL not in text and AVERAGE_OR_NULL not in text:
            return text
        return self.backend.write_sums(text)

    def analyse(self, frame: DataFrame, text: Template | None = None) -> DataFrame:
        """Return a DataFrame once the engine has analysed it, and found no mistake in it.

        Over Connect, a DataFrame is not analysed before something asks.

        Args:
            frame: the DataFrame.
            text: the text that may have a mistake; None if anything may. A text that depends on
                nothing but tables is not checked again for columns of the same types.
        """
        return self.backend.analyse(self, frame, text)

    def find_fields(self, frame: DataFrame, text: str | None = None) -> list[StructField]:
        """Return the fields of a DataFrame, analysed now, with the types that its values have.

        Args:
            frame: the DataFrame.
            text: its expressions over rows whose types are known; None for anything else.
        """
        return self.backend.find_fields(frame, text)

    def select_typed(self, frame: DataFrame, items: Sequence[str]) -> DataFrame:
        """Select as `select` does; the schema of the result has the types of the values.

        Some engines give CASE, IF and UNION the type of their first value. Here they have the type
        that all their values have.

        Args:
            frame: rows whose types are known.
            items: the select list.
        """
        return self.backend.cast_to_value_types(self.select(frame, items), ", ".join(items))

    def list_tables(self) -> list[str]:
        """Return the names of the tables and views in reach; none if the engine lists none."""
        with suppress(*TEXT_ERRORS):
            return [row["tableName"] for row in find_plain_sql(self.spark)("SHOW TABLES").collect()]
        return []

    def list_functions(self) -> list[str]:
        """Return the names of the functions of the session; none if the engine lists none."""
        with suppress(*TEXT_ERRORS):
            return [str(row[0]) for row in find_plain_sql(self.spark)("SHOW FUNCTIONS").collect()]
        return []

    def with_frames(self, **frames: DataFrame) -> Runner:
        """Return a runner that can fill holes with these DataFrames as well."""
        return replace(self, frames={**self.frames, **frames})

    def with_source(self, source: Source) -> Runner:
        """Return a runner for texts with the layout of the user's query, which is `source`."""
        return replace(self, source=source)

    @cached_property
    def settings(self) -> dict[str, str]:
        """Return the values of `SETTINGS` in the session, in lower case, by their names."""
        values = self.backend.read_settings(SETTINGS)
        return {name: str(value).lower() for name, value in zip(SETTINGS, values, strict=True)}


@dataclass(frozen=True)
class Relation:
    """The input of a clause."""

    runner: Runner
    # What follows FROM in a query over the input.
    text: Template
    # Makes the DataFrame of the input's rows; None if it is `SELECT *`. It is called once.
    all_rows: Callable[[], DataFrame] | None = None

    @cached_property
    def rows(self) -> DataFrame:
        """Return the DataFrame of the input."""
        return self.select(["*"]) if self.all_rows is None else self.all_rows()

    @cached_property
    def tasks(self) -> int | None:
        """Return the number of tasks to divide the rows into; None if the engine decides."""
        return self.runner.backend.count_tasks(self.rows)

    def write_query(self, items: Iterable[str]) -> Template:
        """Return the query of a select list over the input."""
        select_list = self.runner.find_holes(", ".join(items))
        return write_select(select_list, self.text, self.runner.with_clauses)

    def select(self, items: Iterable[str]) -> DataFrame:
        """Return the DataFrame of a select list over the input."""
        return self.runner.sql(self.write_query(items))

    def write_query_over(self, query: Template, items: Iterable[str]) -> Template:
        """Return the query of a select list over another query.

        It is one text, so that Spark analyses it once.
        """
        select_list = ", ".join(items)
        has_subquery = SUBQUERY_START.search(select_list) is not None
        return write_select(
            self.runner.find_holes(select_list),
            join_template("(", query, ")"),
            self.runner.with_clauses if has_subquery else (),
        )

    @cached_property
    def known_fields(self) -> dict[str, StructField]:
        """Return the fields of the plain columns, by their quoted names.

        `find_fields` adds the fields of other expressions, by their texts. Columns that share a
        name are left out, because an expression that names them is ambiguous.
        """
        schema = self.rows.schema
        name_counts = Counter(name.lower() for name in schema.names)
        return {
            quote_name(column.name): column
            for column in schema
            if name_counts[column.name.lower()] == 1
        }

    def find_fields(self, texts: Iterable[str]) -> list[StructField]:
        """Return the fields of expressions over the input.

        Spark is asked at most once, for all expressions that are new.
        """
        texts = tuple(texts)
        new_texts = tuple(dict.fromkeys(text for text in texts if text not in self.known_fields))
        if new_texts:
            new_fields = self.runner.find_fields(self.select(new_texts), " ".join(new_texts))
            self.known_fields.update(zip(new_texts, new_fields, strict=True))
        return [self.known_fields[text] for text in texts]

    def find_type(self, text: str) -> DataType:
        """Return the type of an expression over the input."""
        return self.find_fields([text])[0].dataType

    def find_known_type(self, text: str) -> ValueType | None:
        """Return the type of a column or of a parameter, if it is known without asking Spark."""
        type_: DataType | None = None
        values = self.runner.args
        if text in self.known_fields:
            type_ = self.known_fields[text].dataType
        elif text.startswith(":") and isinstance(values, dict):
            type_ = find_parameter_type(values.get(text[1:]))
        return None if type_ is None else to_value_type(type_)

    def find_name(self, text: str) -> str:
        """Return the name that Spark gives to an expression over the input."""
        return self.find_fields([text])[0].name


def find_parameter_type(value: object) -> DataType | None:
    """Return the type that the value of a parameter has; None if its class does not decide that.

    >>> find_parameter_type(-(1 << 31)), find_parameter_type(1 << 31), find_parameter_type(None)
    (IntegerType(), LongType(), None)
    """
    if type(value) is int:
        return IntegerType() if -FIRST_LONG <= value < FIRST_LONG else LongType()
    return LITERAL_TYPES.get(type(value))
