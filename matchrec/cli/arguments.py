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
from matchrec.errors.language import (
    ADVICE_ON_NO_HEADER,
    CHECKED_COMMAND_LINE,
    COMMAND_LINE,
    Surface,
    use_surface,
)
from matchrec.errors.wording import join_alternatives
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


def use_csv_words(surface: Surface, options: OptionValues) -> Surface:
    """Return a surface whose advice suits the options for CSV files that the user passed."""
    with_delimiter = replace(surface, csv_delimiter=options.get("delimiter") or "")
    if options.get("header", True):
        return with_delimiter
    return replace(with_delimiter, advice_on_header=ADVICE_ON_NO_HEADER)


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
            own_surface = use_csv_words(surface, options)
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


def make_choice_option(  # noqa: PLR0913 -- as many as an option has parts
    option: str,
    words: Sequence[str],
    topic: str,
    *,
    name: str | None = None,
    default: str | None = None,
    shown_default: str = "",
) -> Decorator[Any]:
    """Return an option with one of a few words as its value. The help lists the words.

    Args:
        option: the option, such as `--result`.
        words: the values.
        topic: what the words are, for the help, such as "Format of the rows".
        name: its name in Python; None for the one that follows from the option.
        default: the word without the option; None if the command chooses it.
        shown_default: what the help says of the default, if that is not a word.
    """
    names = (option,) if name is None else (option, name)
    shown = shown_default or default or words[0]
    help_text = f"{topic}: {join_alternatives(words)}. [default: {shown}]"
    return click.option(
        *names, type=WordChoice(words), metavar="NAME", default=default, help=help_text
    )


def name_query_source(
    ctx: click.Context, argument: click.Parameter, path: str | None
) -> QuerySource:
    """Return the source of the query.

    Raises:
        click.UsageError: there is no query, or there are two.
    """
    text = ctx.params.pop("text", None)
    if path is None and text is None:
        noun = argument.make_metavar(ctx).strip("[]").lower()
        raise click.UsageError(str(errors.missing_query(noun=noun)))
    if path is not None and text is not None:
        raise click.UsageError(str(errors.two_queries(path=path)))
    return QuerySource("-c" if path is None else path, text)


# Groups of options, from those that most commands have to those that few have.


def make_query_arguments(noun: str) -> Decorator[Any]:
    """Return the argument of a command for its query, and the option -c for the text itself.

    Args:
        noun: what the command takes: "query", or "clause" for a clause alone.
    """
    metavar = noun.upper()
    text_help = f"Text of the {noun}, instead of {metavar}."
    return combine_options(
        click.argument("query", metavar=f"[{metavar}]", required=False, callback=name_query_source),
        click.option("-c", "text", metavar="TEXT", is_eager=True, help=text_help),
    )


QUERY_ARGUMENTS = make_query_arguments("query")


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
        "--order-by", metavar="SQL", help="Column or expression that sorts the events. Repeatable."
    ),
    make_repeatable_option(
        "--partition-by",
        metavar="SQL",
        help="Column or expression that partitions them. Repeatable.",
    ),
    click.option(
        "--type-column",
        metavar="SQL",
        help="Column or expression with their types. [default: event_type]",
    ),
)
EVENTS_OPTION = click.option(
    "--events", metavar="TABLE", help="Table of the events. [default: the only --table]"
)
ENGINE_OPTION = click.option(
    "--engine",
    type=ParsedType("ENGINE", parse_engine),
    help="Engine: sail, spark, or sc://HOST:PORT for a server. [default: sail if it is "
    "installed, else spark]",
)
# The tables and the engine.
SESSION_OPTIONS = combine_options(
    make_repeatable_option(
        "--table",
        "tables",
        type=ParsedType("NAME=PATH", parse_table),
        help="Table, and its parquet, csv, tsv or json file, folder, or pattern such as"
        " 'day-*.csv'. Repeatable.",
    ),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        type=ParsedType("CHARACTER", parse_delimiter),
        help="Field separator of csv files. [default: detected]",
    ),
    click.option(
        "--header/--no-header",
        default=True,
        help="Whether csv files begin with column names. [default: they do]",
    ),
    ENGINE_OPTION,
    make_repeatable_option(
        "--conf",
        type=SETTING_TYPE,
        help="Spark setting, such as spark.sql.session.timeZone=UTC. Repeatable.",
    ),
)
ALGORITHM_OPTION = make_choice_option(
    "--algorithm", get_args(Algorithm), "How to search for matches"
)
DIALECT_OPTION = make_choice_option(
    "--dialect", get_args(DialectName), "Product whose SQL the query is"
)
# A query in any language: its text, its parameters and its tables.
QUERY_OPTIONS = combine_options(
    QUERY_ARGUMENTS,
    SESSION_OPTIONS,
    make_choice_option(
        "--language",
        [language.value for language in QueryLanguage],
        "Language of the query",
        shown_default="by the file name",
    ),
    DIALECT_OPTION,
    make_repeatable_option(
        "--arg",
        "args",
        type=ParsedType("NAME=VALUE", parse_parameter),
        callback=check_named_once,
        shell_complete=complete_parameters,
        help="Value of the parameter :NAME. Repeatable.",
    ),
    EVENTS_OPTION,
    EVENT_OPTIONS,
)
SORT_OPTION = make_choice_option("--sort", get_args(Sort), "Who sorts each partition")
MAX_STEPS_OPTION = click.option(
    "--max-steps",
    type=WholeNumber(),
    help="Stop with an error after N steps of a search in one partition.",
)
CLAUSE_TABLE_OPTION = click.option(
    "--events",
    "clause_table",
    metavar="TABLE",
    help="Table that the clause searches. [default: the only --table]",
)
# A clause alone, as `sweep` takes it.
CLAUSE_OPTIONS = combine_options(
    make_query_arguments("clause"),
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
            "Rows of the result",
            name="output",
        ),
        click.option(
            "--timeouts", is_flag=True, help="Also return the runs of a Pattern that timed out."
        ),
        make_repeatable_option(
            "--aggregate",
            "aggregates",
            type=ParsedType("NAME=AGGREGATE", parse_setting),
            help=f"{aggregate_help} Repeatable. [default with --per: matches=count(*)]",
        ),
        make_choice_option("--per", get_args(AggregatePer), "Rows of the aggregates, one for each"),
    )


SCHEMA_OPTION = make_repeatable_option(
    "--schema",
    "schemas",
    type=ParsedType("'NAME: COLUMNS'", parse_schema),
    help="Table without a file, such as 't: id INT, ts TIMESTAMP'. Repeatable.",
)
