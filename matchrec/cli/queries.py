"""The query of a command, with the tables that it reads and its options.

`query_requests` builds a `QueryRequest` from the arguments of a command. Then
`QueryRequest.open_query` checks the texts, starts the session, makes the tables and builds the
`matchrec.Query`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

import matchrec
from matchrec.arguments import AggregatePer, DialectName
from matchrec.cli.failures import blame_option, label_errors
from matchrec.cli.messages import report_warnings
from matchrec.cli.piped_tables import PipedTable
from matchrec.cli.query_sources import QueryLanguage, load_pattern
from matchrec.cli.session import SettingPairs, open_local_session
from matchrec.cli.statements import Statement
from matchrec.cli.tables import EmptyTable, Table
from matchrec.cli.values import read_argument_value, read_plain_value
from matchrec.errors import MatchRecognizeError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QueryTable: TypeAlias = Table | PipedTable | EmptyTable

# A query as `matchrec.query` takes it: a text, or a Pattern that was loaded.
QueryContent: TypeAlias = "str | matchrec.Pattern"

# The values of options of a command, by the names of the options in Python.
OptionValues: TypeAlias = dict[str, Any]


class AggregateArguments(TypedDict, total=False):
    """The arguments of `Query.aggregate`; empty if the matches themselves are the result."""

    # The aggregates by the names of their columns, such as `{"days": "sum(n)"}`.
    aggregates: dict[str, str]
    # What each row of the result is for, such as "partition": see `Query.aggregate`.
    per: AggregatePer


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """The query of a command, with the statements before it and the tables that they read."""

    language: QueryLanguage
    # The statements of a SQL text; the last one is the query. For SASE+, the only statement is
    # the query. For a Pattern, the only statement has its location as text.
    statements: tuple[Statement, ...]
    # The tables of `--table` and `--schema`.
    tables: tuple[QueryTable, ...]
    # The settings of Spark that `--conf` sets.
    settings: SettingPairs
    # The engine that runs the query; None if the user named none.
    engine: str | None
    # The table of the events: the table that the user named, or the only table. None if a SQL query
    # has no table or several, and the user named none.
    events: str | None
    # The names and the values, as texts, that `--arg` passes to the parameters of the query.
    args: tuple[tuple[str, str], ...]
    # The fields of `matchrec.Options` that the user set.
    run_option_values: OptionValues
    # The other arguments of `matchrec.query` that the user set, such as `order_by` and `dialect`.
    query_arguments: OptionValues
    # The number or alias of the clause that the command is about; None if the user named none.
    clause: int | str | None = None
    aggregates: AggregateArguments = field(default_factory=AggregateArguments)
    # The tables of the files in FROM clauses.
    file_tables: tuple[QueryTable, ...] = ()
    # The file of the query, for messages, if the command has several queries; empty otherwise.
    label: str = ""

    @property
    def query_statement(self) -> Statement:
        """Return the last statement, which is the query."""
        return self.statements[-1]

    @property
    def earlier_statements(self) -> tuple[Statement, ...]:
        """Return the statements before the query."""
        return self.statements[:-1]

    @property
    def has_rows(self) -> bool:
        """Return whether the query has rows to print."""
        return self.language is not QueryLanguage.SQL or self.query_statement.has_rows

    @property
    def dialect(self) -> DialectName:
        """Return the product whose SQL the query is; "spark" for SASE+ and Patterns, too."""
        dialect: DialectName = self.query_arguments.get("dialect", "spark")
        return dialect

    @property
    def text_language(self) -> str:
        """Return the language of the text for `check_query`: a dialect of SQL, or "sase"."""
        return self.dialect if self.language is QueryLanguage.SQL else self.language.value

    @property
    def run_options(self) -> matchrec.Options:
        """Return the options that say how the query runs."""
        return matchrec.Options(**self.run_option_values)

    @contextmanager
    def open_query(self) -> Iterator[tuple[SparkSession, matchrec.Query]]:
        """Yield a session with the tables, and the query.

        Earlier statements run first, except queries, whose rows are not needed. Warnings are
        printed as notices.

        Raises:
            MatchRecognizeError: a text or a table has a mistake.
        """
        with report_warnings(), self.open_content() as (spark, content):
            for statement in self.earlier_statements:
                if not statement.is_query:
                    with label_errors(self.label_statement(statement)):
                        self.build_query(spark, statement.text).to_df()
            with label_errors(self.label_statement(self.query_statement)):
                yield spark, self.build_query(spark, content)

    @contextmanager
    def open_content(self) -> Iterator[tuple[SparkSession, QueryContent]]:
        """Yield a session with the tables, and the text of the query or the Pattern.

        The texts are checked before an engine starts, because the start takes seconds.

        Raises:
            MatchRecognizeError: a text or a table has a mistake.
        """
        content = self.load_content()
        with self.open_session() as spark:
            yield spark, content

    def load_content(self) -> QueryContent:
        """Check the texts, and return the text of the query or the Pattern. No engine is needed.

        Raises:
            MatchRecognizeError: a text has a mistake, or the Pattern cannot be loaded.
        """
        if self.language is QueryLanguage.PATTERN:
            return load_pattern(self.query_statement.text)
        self.check_texts()
        return self.query_statement.text

    @contextmanager
    def open_session(self) -> Iterator[SparkSession]:
        """Yield a session in which the files are tables."""
        with self.start_session() as spark:
            for table in (*self.tables, *self.file_tables):
                table.register(spark)
            yield spark

    @contextmanager
    def start_session(self) -> Iterator[SparkSession]:
        """Yield a session without tables."""
        from matchrec.spark.analysis_log import silence_analysis

        with open_local_session(self.settings, self.engine) as spark, silence_analysis():
            yield spark

    def build_query(self, spark: SparkSession, content: QueryContent) -> matchrec.Query:
        """Return the query of a statement, or of a SASE+ text or Pattern over the events."""
        from matchrec.spark.backends import read_table

        rows: SparkSession | DataFrame = spark
        if self.language is not QueryLanguage.SQL:
            assert self.events is not None, "build_query_request has checked it"
            with blame_option("--events"):
                rows = read_table(spark, self.events)
        args = {name: read_argument_value(text) for name, text in self.select_args(content)}
        # The overloads of `query` are for arguments that are known when the code is written.
        build: Any = matchrec.query
        query: matchrec.Query = build(
            rows, content, args or None, options=self.run_options, **self.query_arguments
        )
        return query

    def select_args(self, content: QueryContent) -> list[tuple[str, str]]:
        """Return the names and values of `--arg` that are for a statement or a Pattern.

        If the command has several statements or queries, each of them gets only the values of its
        own parameters. The only query gets all values, so that unused ones are rejected.
        """
        is_alone = not self.earlier_statements and not self.label
        if is_alone or not isinstance(content, str):
            return list(self.args)
        from matchrec.api.parameters import find_possible_parameters

        names = find_possible_parameters(content)
        return [(name, text) for name, text in self.args if name in names]

    def list_partition_keys(self) -> list[str]:
        """Return the columns that name a partition of the query. No engine is needed.

        The list is empty if the query has no PARTITION BY, several clauses or a mistake, or if it
        is in the SQL of another product.
        """
        from matchrec.api.early_checks import list_partition_keys

        text = self.query_statement.text
        keys = list(self.query_arguments.get("partition_by", ()))
        if self.language is not QueryLanguage.PATTERN:
            args = {name: read_plain_value(value) for name, value in self.select_args(text)}
            with suppress(MatchRecognizeError):  # a mistake is reported when the query is checked
                keys += list_partition_keys(text, self.text_language, args)
        return keys

    def check_texts(self) -> None:
        """Check in the texts of all statements what can be checked without a session.

        Raises:
            MatchRecognizeError: a text has a mistake, or no text has the parameter of an `--arg`.
        """
        from matchrec.api.early_checks import check_query
        from matchrec.api.parameters import reject_unused_values

        for statement in self.statements:
            args = {name: read_plain_value(text) for name, text in self.select_args(statement.text)}
            with label_errors(self.label_statement(statement)):
                check_query(statement.text, self.text_language, args)
        # With one statement, `check_query` rejects unused values. With several queries, another
        # query can use a value.
        if self.earlier_statements and not self.label:
            reject_unused_values(self.whole_text, dict(self.args))

    @property
    def whole_text(self) -> str:
        """Return the texts of all statements, one below the other."""
        return "\n".join(statement.text for statement in self.statements)

    def label_statement(self, statement: Statement) -> str:
        """Return the name of a statement in messages; "" if there is only one statement."""
        return ": ".join(label for label in (self.label, statement.label) if label)
