"""The query of a command, with the tables that it reads and its options.

1. `build_query_request`, or `build_clause_request` for a clause alone, checks that the arguments of
   the command fit together, and returns a `QueryRequest`.
2. `QueryRequest.open_query` checks the texts, starts the session, makes the tables and builds the
   `matchrec.Query`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

import click

import matchrec
from matchrec.arguments import AggregatePer, DialectName
from matchrec.cli.failures import blame_option, label_errors
from matchrec.cli.messages import report_warnings
from matchrec.cli.piped_tables import PipedTable
from matchrec.cli.query_sources import QueryLanguage, QuerySource, load_pattern
from matchrec.cli.session import SettingPairs, open_local_session
from matchrec.cli.statements import Statement, replace_file_names, split_statements
from matchrec.cli.tables import EmptyTable, Table
from matchrec.cli.values import read_argument_value, read_plain_value
from matchrec.errors import MatchRecognizeError
from matchrec.errors import command as errors
from matchrec.syntax.amounts import read_whole_number

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QueryTable: TypeAlias = Table | PipedTable | EmptyTable

# A query as `matchrec.query` takes it: a text, or a Pattern that was loaded.
QueryContent: TypeAlias = "str | matchrec.Pattern"

# The values of options of a command, by the names of the options in Python.
OptionValues: TypeAlias = dict[str, Any]

# Groups of options, by the names of the options in Python.

# The options for aggregates over all matches.
AGGREGATE_OPTION_NAMES = ("aggregates", "per")
# The options that SASE+ and Patterns have in common.
EVENT_OPTION_NAMES = (
    "events",
    "args",
    "algorithm",
    "sort",
    "order_by",
    "partition_by",
    "output",
    *AGGREGATE_OPTION_NAMES,
)
# The options that each language has.
OPTION_NAMES_BY_LANGUAGE = {
    QueryLanguage.SQL: (
        "algorithm",
        "dialect",
        "args",
        "sort",
        "max_steps",
        "clause",
        *AGGREGATE_OPTION_NAMES,
    ),
    QueryLanguage.SASE: (*EVENT_OPTION_NAMES, "type_column"),
    QueryLanguage.PATTERN: (*EVENT_OPTION_NAMES, "timeouts"),
}
# The text to write in SQL instead of each option for SASE+ and Patterns.
REPLACEMENTS_IN_SQL = {
    "events": "the table in FROM",
    "order_by": "ORDER BY in the clause",
    "partition_by": "PARTITION BY in the clause",
    "output": "AFTER MATCH SKIP in the clause",
}
# The options that are fields of `matchrec.Options`.
RUN_OPTION_NAMES = ("algorithm", "sort", "max_steps")
# The options that are fields of `Table`, for all CSV files.
CSV_OPTION_NAMES = ("delimiter", "header")
# The options about the content of tables: those for CSV files, and the format of all pipes.
INPUT_OPTION_NAMES = (*CSV_OPTION_NAMES, "input_format")


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
        """The last statement, which is the query."""
        return self.statements[-1]

    @property
    def earlier_statements(self) -> tuple[Statement, ...]:
        """The statements before the query."""
        return self.statements[:-1]

    @property
    def has_rows(self) -> bool:
        """Return whether the query has rows to print."""
        return self.language is not QueryLanguage.SQL or self.query_statement.has_rows

    @property
    def dialect(self) -> DialectName:
        """The product whose SQL the query is."""
        dialect: DialectName = self.query_arguments.get("dialect", "spark")
        return dialect

    @property
    def text_language(self) -> str:
        """The language of the text, as `check_query` has it: a dialect of SQL, or SASE+."""
        return self.dialect if self.language is QueryLanguage.SQL else self.language.value

    @property
    def run_options(self) -> matchrec.Options:
        """The options that say how the query runs."""
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
        """The texts of all statements, one below the other."""
        return "\n".join(statement.text for statement in self.statements)

    def label_statement(self, statement: Statement) -> str:
        """Return the name of a statement in messages; "" if there is only one statement."""
        return ": ".join(label for label in (self.label, statement.label) if label)


def build_query_request(
    source: QuerySource, tables: Sequence[QueryTable], settings: SettingPairs, options: OptionValues
) -> QueryRequest:
    """Return the request of a command that takes a query in any language.

    Args:
        source: where the query comes from.
        tables: the tables of `--table`.
        settings: the settings of `--conf`.
        options: all other options of the query and its input, as click passes them. An option that
            the user did not set is None, False or empty.

    Raises:
        click.UsageError: the arguments do not fit together, or there is no such query.
    """
    input_options, other_options = split_options(options, INPUT_OPTION_NAMES)
    values = drop_unset(other_options)
    tables = (*tables, *values.pop("schemas", ()))
    engine = values.pop("engine", None)
    language = QueryLanguage(values.pop("language", source.language))
    source.check_exists(language)
    check_options(values, language, source)
    events = find_events(values.pop("events", None), language, tables)

    statements, file_tables = read_statements(source, language, tables)
    all_tables = set_input_options((*tables, *file_tables), input_options)
    clause = read_clause_name(values.pop("clause", None))
    args = values.pop("args", ())
    run_option_values, values = split_options(values, RUN_OPTION_NAMES)
    aggregate_values, query_arguments = split_options(values, AGGREGATE_OPTION_NAMES)
    return QueryRequest(
        language=language,
        statements=statements,
        tables=all_tables[: len(tables)],
        file_tables=all_tables[len(tables) :],
        settings=settings,
        engine=engine,
        events=events,
        args=args,
        run_option_values=run_option_values,
        query_arguments=query_arguments,
        clause=clause,
        aggregates=read_aggregates(aggregate_values),
    )


def build_query_requests(
    sources: Sequence[QuerySource],
    tables: Sequence[QueryTable],
    settings: SettingPairs,
    options: OptionValues,
) -> list[QueryRequest]:
    """Return the requests of a command that takes several queries, in any languages.

    Each query gets the options that its language has. The other arguments are as for
    `build_query_request`.

    Args:
        sources: where the queries come from, at least one.
        tables: the tables of `--table`, which all queries can read.
        settings: the settings of `--conf`.
        options: all other options, as click passes them. An option that no query's language has is
            an error.

    Raises:
        click.UsageError: the arguments do not fit together, or there is no such query.
    """
    if len(sources) == 1:
        return [build_query_request(sources[0], tables, settings, options)]
    language = options.get("language")
    languages = [QueryLanguage(language or source.language) for source in sources]
    used_names: set[str] = set()
    for query_language in languages:
        used_names.update(OPTION_NAMES_BY_LANGUAGE[query_language])
    requests = []
    for source, source_language in zip(sources, languages, strict=True):
        unused_names = used_names.difference(OPTION_NAMES_BY_LANGUAGE[source_language])
        _, language_options = split_options(options, tuple(unused_names))
        request = build_query_request(source, tables, settings, language_options)
        requests.append(replace(request, label=source.path))
    return requests


def build_clause_request(
    source: QuerySource, tables: Sequence[QueryTable], settings: SettingPairs, options: OptionValues
) -> QueryRequest:
    """Return the request of a command that takes only a clause of SQL.

    The clause searches the table `events` of the request: the only table, unless the command names
    another.

    Args:
        source: where the clause comes from.
        tables: the tables of `--table`.
        settings: the settings of `--conf`.
        options: all other options, as for `build_query_request`.

    Raises:
        click.UsageError: the file is not for SQL, or does not exist.
    """
    if source.language is not QueryLanguage.SQL:
        language_name = source.language.display_name
        raise click.UsageError(str(errors.language_not_for_command(language=language_name)))
    input_options, other_options = split_options(options, INPUT_OPTION_NAMES)
    values = drop_unset(other_options)
    engine = values.pop("engine", None)
    run_option_values, query_arguments = split_options(values, RUN_OPTION_NAMES)
    return QueryRequest(
        language=QueryLanguage.SQL,
        statements=(Statement(source.read(QueryLanguage.SQL, "clause")),),
        tables=set_input_options(tables, input_options),
        settings=settings,
        engine=engine,
        events=find_only_table(tables),
        args=(),
        run_option_values=run_option_values,
        query_arguments=query_arguments,
    )


def drop_unset(options: OptionValues) -> OptionValues:
    """Return the options that the user set: those that are not None, False or empty.

    No option of a query may have 0 as its value, because 0 equals False.
    """
    return {name: value for name, value in options.items() if value not in (None, (), False)}


def split_options(values: OptionValues, names: Sequence[str]) -> tuple[OptionValues, OptionValues]:
    """Return the options with these names, and the other options."""
    selected = {name: value for name, value in values.items() if name in names}
    others = {name: value for name, value in values.items() if name not in names}
    return selected, others


def read_statements(
    source: QuerySource, language: QueryLanguage, tables: Sequence[QueryTable]
) -> tuple[tuple[Statement, ...], list[Table]]:
    """Read a query, and return its statements and the tables of the files in its FROM clauses.

    A SASE+ text or a Pattern is one statement, and has no FROM.

    Args:
        source: where the query comes from.
        language: the language of the query.
        tables: the tables of the command. A table of a file in FROM gets another name.

    Raises:
        click.UsageError: the query cannot be read, or a file in FROM does not exist.
    """
    text = source.read(language)
    if language is not QueryLanguage.SQL:
        return (Statement(text),), []
    text_with_names, file_tables = replace_files(text, tables)
    statements = split_statements(text_with_names)
    # Errors show the text that the user wrote. But if a table's name is longer than the path of its
    # file, positions differ after the name, and errors show the text with the names.
    is_aligned = len(text_with_names) == len(text)
    written_statements = split_statements(text) if is_aligned else statements
    for statement, written_statement in zip(statements, written_statements, strict=True):
        source.record(statement.text, written_statement.text)
    return statements, file_tables


def find_events(
    name: str | None, language: QueryLanguage, tables: Sequence[QueryTable]
) -> str | None:
    """Return the table with the events: the table that `--events` names, or else the only table.

    The result is None if a SQL query has no table or several, and the user named none.

    Args:
        name: the value of `--events`; None if the user did not set it.
        language: the language of the query.
        tables: the tables of `--table` and `--schema`.

    Raises:
        click.UsageError: a query in SASE+ or a Pattern has no table, or several.
    """
    events = name or find_only_table(tables)
    if language is not QueryLanguage.SQL and not events:
        raise make_missing_events_error(language.display_name, tables)
    return events


def find_only_table(tables: Sequence[QueryTable]) -> str | None:
    """Return the name of the only table; None if there are no tables or several."""
    return tables[0].name if len(tables) == 1 else None


def make_missing_events_error(reader: str, tables: Sequence[QueryTable]) -> click.UsageError:
    """Return the error for a text that reads one table, if there are no tables or several.

    Args:
        reader: what reads the table, such as "a clause".
        tables: the tables of the command.
    """
    option = "--table"
    value = "NAME=PATH"
    if tables:
        option = "--events"
        value = " or --events ".join(table.name for table in tables)
    return click.UsageError(str(errors.missing_option(option=option, value=value, reader=reader)))


def read_aggregates(values: OptionValues) -> AggregateArguments:
    """Return the arguments of `Query.aggregate` for the options `aggregates` and `per`.

    `--per` without `--aggregate` counts the matches.

    >>> read_aggregates({"per": "end"})
    {'per': 'end', 'aggregates': {'matches': 'count(*)'}}
    >>> read_aggregates({})
    {}
    """
    if not values:
        return {}
    aggregates: AggregateArguments = {}
    if "per" in values:
        aggregates["per"] = values["per"]
    aggregates["aggregates"] = dict(values.get("aggregates", [("matches", "count(*)")]))
    return aggregates


def read_clause_name(name: str | None) -> int | str | None:
    """Return the number or alias of --clause, as `Query` takes it; None if the user named none.

    >>> read_clause_name("2"), read_clause_name("m")
    (2, 'm')
    """
    number = read_whole_number(name) if name and name.isdecimal() else None
    return name if number is None else number


def reject_sase_as_sql(text: str) -> None:
    """Check that the text of -c is not SASE+ that is read as SQL.

    Raises:
        click.UsageError: the text is SASE+.
    """
    if re.match(r"(?i)\s*PATTERN\s+SEQ\b", text):
        raise click.UsageError(str(errors.sase_text_as_sql()))


def check_options(values: OptionValues, language: QueryLanguage, source: QuerySource) -> None:
    """Check that the options fit the language of the query.

    Args:
        values: the options that the user set.
        language: the language of the query.
        source: where the query comes from.

    Raises:
        click.UsageError: the language does not have an option, `--order-by` is missing, or a SASE+
            text is read as SQL.
    """
    if language is QueryLanguage.SQL:
        reject_sase_as_sql(source.text or "")
    for name in values:
        if name not in OPTION_NAMES_BY_LANGUAGE[language]:
            is_sql = language is QueryLanguage.SQL
            error = errors.option_not_for_language(
                option=find_option(name),
                language=language.display_name,
                replacement=REPLACEMENTS_IN_SQL.get(name) if is_sql else None,
            )
            raise click.UsageError(str(error))
    if language is not QueryLanguage.SQL and "order_by" not in values:
        error = errors.missing_option(
            option="--order-by", value="COLUMN", reader=language.display_name
        )
        raise click.UsageError(str(error))


def find_option(name: str) -> str:
    """Return an option of the current command as users write it: `--order-by` for `order_by`.

    Args:
        name: the name of the option in Python.
    """
    parameters = click.get_current_context().command.params
    return next(parameter.opts[0] for parameter in parameters if parameter.name == name)


def replace_files(text: str, tables: Sequence[QueryTable]) -> tuple[str, list[Table]]:
    """Call `replace_file_names`, and report its error as one about the arguments of the command.

    Raises:
        click.UsageError: a file does not exist.
    """
    try:
        return replace_file_names(text, [table.name for table in tables])
    except MatchRecognizeError as error:
        raise click.UsageError(str(error)) from error


def set_input_options(
    tables: Sequence[QueryTable], input_options: OptionValues
) -> tuple[QueryTable, ...]:
    """Return the tables with the options about their content.

    Args:
        tables: all tables that the query reads.
        input_options: the values of `INPUT_OPTION_NAMES`.

    Raises:
        click.UsageError: there is `--input-format`, but no table is a pipe.
    """
    csv_options, _ = split_options(input_options, CSV_OPTION_NAMES)
    changed_tables: list[QueryTable] = []
    for table in tables:
        match table:
            case Table():
                changed_tables.append(replace(table, **csv_options))
            case PipedTable():
                changed_tables.append(replace(table, **input_options))
            case EmptyTable():
                changed_tables.append(table)
    has_pipe = any(isinstance(table, PipedTable) for table in tables)
    if input_options.get("input_format") is not None and not has_pipe:
        error = errors.argument_needs_another(argument="--input-format", other="--table NAME=-")
        raise click.UsageError(str(error))
    return tuple(changed_tables)
