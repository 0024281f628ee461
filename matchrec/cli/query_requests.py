"""Build the request of a command from its arguments, as click passes them.

1. Options that the user did not set are dropped, and the options about the content of tables are
   set aside.
2. The other options are checked: each must be one of the query's language.
3. The query is read. Files in its FROM clauses become tables, too.
4. The options are divided among the fields of the `QueryRequest`.

No engine is needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import click

from matchrec.cli.piped_tables import PipedTable
from matchrec.cli.queries import AggregateArguments, OptionValues, QueryRequest, QueryTable
from matchrec.cli.query_sources import QueryLanguage, QuerySource
from matchrec.cli.session import SettingPairs
from matchrec.cli.statements import Statement, replace_file_names, split_statements
from matchrec.cli.tables import EmptyTable, Table
from matchrec.errors import MatchRecognizeError
from matchrec.errors import command as errors
from matchrec.syntax.amounts import read_whole_number

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


def build_query_request(
    source: QuerySource,
    tables: Sequence[QueryTable],
    settings: SettingPairs,
    options: OptionValues,
    label: str = "",
) -> QueryRequest:
    """Return the request of a command that takes a query in any language.

    Args:
        source: where the query comes from.
        tables: the tables of `--table`.
        settings: the settings of `--conf`.
        options: all other options of the query and its input, as click passes them. An option that
            the user did not set is None, False or empty.
        label: the name of the query in messages; "" if the command has only one query.

    Raises:
        click.UsageError: the arguments do not fit together, or there is no such query.
    """
    input_options, other_options = split_options(options, INPUT_OPTION_NAMES)
    values = drop_unset(other_options)
    tables = (*tables, *values.pop("schemas", ()))
    engine = values.pop("engine", None)
    language = QueryLanguage(values.pop("language", source.language))
    source.check_exists(language)
    check_options(values, language, source, label)
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
        label=label,
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
    if len(sources) == 1 and not sources[0].is_in_folder:
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
        requests.append(
            build_query_request(source, tables, settings, language_options, source.path)
        )
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


def check_options(
    values: OptionValues, language: QueryLanguage, source: QuerySource, label: str
) -> None:
    """Check that the options fit the language of the query.

    Args:
        values: the options that the user set.
        language: the language of the query.
        source: where the query comes from.
        label: the name of the query in messages; "" if the command has only one query.

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
        value = "COLUMN, or check the other files alone" if label else "COLUMN"
        error = errors.missing_option(
            option="--order-by", value=value, reader=language.display_name
        )
        raise click.UsageError(f"{label}: {error}" if label else str(error))


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
