"""The options that several commands have, and decorators for the commands that have them.

An option is a decorator: `@arguments.ENGINE_OPTION` adds `--engine` to a command. Groups of options
are decorators, too. `@arguments.pass_request` gives a command the `QueryRequest` that the options
of `QUERY_OPTIONS` describe, instead of the options themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from matchrec.arguments import AggregatePer, Algorithm, DialectName, PatternOutput, SaseOutput, Sort
from matchrec.cli.argument_types import (
    SETTING_TYPE,
    ParsedType,
    WholeNumber,
    check_named_once,
    parse_engine,
    parse_parameter,
    parse_setting,
)
from matchrec.cli.failures import print_tracebacks, report_failures
from matchrec.cli.files import parse_delimiter
from matchrec.cli.queries import (
    OptionValues,
    QueryRequest,
    build_clause_request,
    build_query_request,
)
from matchrec.cli.query_sources import QueryLanguage, QuerySource
from matchrec.cli.session import SettingPairs
from matchrec.cli.table_arguments import parse_schema, parse_table
from matchrec.cli.tables import EmptyTable, Table
from matchrec.cli.usage_errors import WordChoice
from matchrec.errors import command as errors
from matchrec.errors.language import CHECKED_COMMAND_LINE, COMMAND_LINE, Surface, use_surface
from matchrec.source import use_paths

# An option that may be repeated; the command gets a tuple of its values.
make_repeatable_option = partial(click.option, multiple=True)

Tables = tuple[Table, ...]

# A function that becomes a command, and a decorator that adds an option to it.
F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]


def combine_options(*options: Decorator[Any]) -> Decorator[Any]:
    """Return several options as one decorator. The help shows them in this order."""

    def decorate(function: Any) -> Any:
        """Add all of the options to a command, in their order."""
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def handle_failures(
    function: Callable[..., None], surface: Surface = COMMAND_LINE
) -> Callable[..., None]:
    """Let a command end with a message and an exit code if it fails, and add --traceback to it.

    Args:
        function: the command.
        surface: the words of its messages.
    """

    @click.option("--traceback", is_flag=True, help="Also show the Python traceback of an error.")
    @wraps(function)
    def command(*args: Any, traceback: bool, **options: Any) -> None:
        """Run the command and report its failures, with a traceback if the user wants one."""
        printing = print_tracebacks() if traceback else nullcontext()
        with use_surface(surface), use_paths(), report_failures(), printing:
            function(*args, **options)

    return command


def reject_repeated_tables(tables: Sequence[Table], schemas: Sequence[EmptyTable]) -> None:
    """Raise click.UsageError if two tables, of --table or of --schema, have the same name."""
    used_names = set[str]()
    for name in [table.name for table in tables] + [schema.name for schema in schemas]:
        if name.upper() in used_names:
            raise click.UsageError(str(errors.duplicate_table(name=name)))
        used_names.add(name.upper())


# Builds the request from the query, the tables, the settings and all other options.
BuildRequest = Callable[[QuerySource, Tables, SettingPairs, OptionValues], QueryRequest]


def make_request_decorator(
    build_request: BuildRequest, surface: Surface = COMMAND_LINE
) -> Decorator[Callable[..., None]]:
    """Return a decorator of commands: they get a `QueryRequest` as their first argument.

    The request has the options that describe the query and its input. The command gets the others.

    Args:
        build_request: builds the request from these options.
        surface: the words of the command's messages.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        """Return a command that builds the request, and calls the function with it."""
        own_options = signature(function).parameters

        @partial(handle_failures, surface=surface)
        @wraps(function)
        def command(query: QuerySource, tables: Tables, conf: SettingPairs, **options: Any) -> None:
            """Build the request from the options, and pass the function its own options."""
            passed = {name: options.pop(name) for name in own_options if name in options}
            reject_repeated_tables(tables, options.get("schemas", ()))
            own_surface = replace(surface, csv_delimiter=options.get("delimiter") or "")
            request = build_request(query, tables, conf, options)
            with use_surface(own_surface):
                function(request, **passed)

        return command

    return decorate


# For commands about a query in any language.
pass_request = make_request_decorator(build_query_request)
# For `check`, which needs no file for a table.
pass_checked_request = make_request_decorator(build_query_request, CHECKED_COMMAND_LINE)
# For commands about a clause alone.
pass_clause_request = make_request_decorator(build_clause_request)


def make_choice_option(
    option: str, words: Sequence[str], help_text: str, name: str | None = None, **attributes: Any
) -> Decorator[Any]:
    """Return an option with one of a few values.

    Args:
        option: the option, such as `--result`.
        words: the values.
        help_text: what the help says about the option.
        name: its name in Python; None for the one that follows from the option.
        attributes: other arguments of `click.option`.
    """
    names = (option,) if name is None else (option, name)
    return click.option(*names, type=WordChoice(words), help=help_text, **attributes)


def name_query_source(ctx: click.Context, _: click.Parameter, path: str | None) -> QuerySource:
    """Return the source of the query.

    Raises:
        click.UsageError: there is no query, or there are two.
    """
    text = ctx.params.pop("text", None)
    if path is None and text is None:
        raise click.UsageError(str(errors.missing_query()))
    if path is not None and text is not None:
        raise click.UsageError(str(errors.two_queries(path=path)))
    return QuerySource("-c" if path is None else path, text)


# Groups of options, from those that most commands have to those that few have.

# The query: the argument QUERY, or the option -c.
QUERY_ARGUMENTS = combine_options(
    click.argument("query", metavar="[QUERY]", required=False, callback=name_query_source),
    click.option(
        "-c", "text", metavar="TEXT", is_eager=True, help="Text of the query, instead of a file."
    ),
)


def complete_parameters(ctx: click.Context, _: click.Parameter, typed: str) -> list[str]:
    """Return the completions that a shell offers after `--arg`: the parameters of the query."""
    # click leaves the query in `args` if an option without a value follows it.
    query = ctx.params.get("query")
    if query is None and ctx.args:
        query = QuerySource(ctx.args[0])
    if query is None or not (query.text or Path(query.path).is_file()):
        return []
    from matchrec.api.parameters import find_clause_parameters

    names = dict.fromkeys(name for name, _ in find_clause_parameters(query.read(QueryLanguage.SQL)))
    return [f"{name}=" for name in names if name.startswith(typed)]


# The order, the partitions and the types of events, which SASE+ texts and Patterns do not say.
EVENT_OPTIONS = combine_options(
    make_repeatable_option(
        "--order-by",
        metavar="SQL",
        help="Column or expression that sorts the events. May be repeated.",
    ),
    make_repeatable_option(
        "--partition-by",
        metavar="SQL",
        help="Column or expression that partitions the events. May be repeated.",
    ),
    click.option(
        "--type-column",
        metavar="SQL",
        help="Column or expression with the type of each event. [default: event_type]",
    ),
)
EVENTS_OPTION = click.option(
    "--events", metavar="NAME", help="Table that holds the events. [default: the only --table]"
)
ENGINE_OPTION = click.option(
    "--engine",
    metavar="sail|spark|sc://HOST:PORT",
    type=ParsedType("ENGINE", parse_engine),
    help="Engine that runs the query. [default: sail if it is installed, else spark]",
)
# The tables and the engine.
SESSION_OPTIONS = combine_options(
    make_repeatable_option(
        "--table",
        "tables",
        type=ParsedType("NAME=PATH", parse_table),
        help="Read a table from a parquet, csv, tsv or json file, from a folder, or from the files"
        " that match a pattern such as 'day-*.csv'. May be repeated.",
    ),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        type=ParsedType("CHARACTER", parse_delimiter),
        help="Field separator of csv files. [default: detected in the first line]",
    ),
    click.option(
        "--header/--no-header",
        default=True,
        help="Whether the first line of csv files holds the column names. [default: --header]",
    ),
    ENGINE_OPTION,
    make_repeatable_option(
        "--conf",
        type=SETTING_TYPE,
        help="Set a Spark property, such as spark.sql.session.timeZone=UTC. May be repeated.",
    ),
)
ALGORITHM_OPTION = make_choice_option(
    "--algorithm", get_args(Algorithm), "Algorithm that searches for matches. [default: auto]"
)
DIALECT_OPTION = make_choice_option(
    "--dialect", get_args(DialectName), "SQL dialect of the query. [default: spark]"
)
# A query in any language: its text, its parameters and its tables.
QUERY_OPTIONS = combine_options(
    QUERY_ARGUMENTS,
    SESSION_OPTIONS,
    make_choice_option(
        "--language",
        [language.value for language in QueryLanguage],
        "Language of the query. [default: by the name of its file, else sql]",
    ),
    DIALECT_OPTION,
    make_repeatable_option(
        "--arg",
        "args",
        type=ParsedType("NAME=VALUE", parse_parameter),
        callback=check_named_once,
        shell_complete=complete_parameters,
        help="Set the parameter :NAME of the query to a number, true, false, null,"
        " DATE'2026-01-31' or a string. May be repeated.",
    ),
    EVENTS_OPTION,
    EVENT_OPTIONS,
)
SORT_OPTION = make_choice_option(
    "--sort",
    get_args(Sort),
    "Who sorts the rows of each partition: engine (Sail or Spark), worker (the Python processes"
    " that search for matches), ranges (the same processes, which also share one large partition),"
    " or auto (the fastest for the query). [default: auto]",
)
MAX_STEPS_OPTION = click.option(
    "--max-steps",
    type=WholeNumber(),
    help="Stop with an error after N tests, in one partition, of conditions that depend on earlier"
    " rows of the match.",
)
CLAUSE_TABLE_OPTION = click.option(
    "--events",
    "clause_table",
    metavar="NAME",
    help="Table that the clause reads. [default: the only --table]",
)
# A clause alone, as `sweep` takes it.
CLAUSE_OPTIONS = combine_options(
    QUERY_ARGUMENTS,
    SESSION_OPTIONS,
    DIALECT_OPTION,
    SORT_OPTION,
    MAX_STEPS_OPTION,
    ALGORITHM_OPTION,
    CLAUSE_TABLE_OPTION,
)
# A query whose rows are searched, by whichever algorithm the command has.
SEARCH_OPTIONS = combine_options(QUERY_OPTIONS, SORT_OPTION, MAX_STEPS_OPTION)


def make_clause_option(use: str) -> Decorator[Any]:
    """Return the option that chooses one of several clauses; `use` is what the command does."""
    return click.option(
        "--clause", metavar="NUMBER|ALIAS", help=f"Clause to {use}, if the query has several."
    )


def make_result_options(aggregate_help: str) -> Decorator[Any]:
    """Return the options of a query whose result is shown or explained.

    They choose which matches are the result, or which aggregates over them.

    Args:
        aggregate_help: what `--aggregate` does, as sentences.
    """
    return combine_options(
        SEARCH_OPTIONS,
        ALGORITHM_OPTION,
        make_choice_option(
            "--result",
            tuple(dict.fromkeys((*get_args(SaseOutput), *get_args(PatternOutput)))),
            "Return all matches; for SASE+, matches without overlaps or the graph that all matches"
            " share; or for Patterns, the events of the matches. [default: matches]",
            name="output",
        ),
        click.option(
            "--timeouts", is_flag=True, help="Also return the runs of a Pattern that timed out."
        ),
        make_repeatable_option(
            "--aggregate",
            "aggregates",
            type=ParsedType("NAME=AGGREGATE", parse_setting),
            help=f"{aggregate_help} May be repeated. [default with --per: matches=count(*)]",
        ),
        make_choice_option(
            "--per",
            get_args(AggregatePer),
            "Rows of the aggregates: one for each partition, one for each row at which matches"
            " start, or one for each row at which matches end. [default: partition]",
        ),
    )


SCHEMA_OPTION = make_repeatable_option(
    "--schema",
    "schemas",
    type=ParsedType("'NAME: COLUMNS'", parse_schema),
    help="Declare a table without a file, such as 't: id INT, ts TIMESTAMP'. May be repeated.",
)
