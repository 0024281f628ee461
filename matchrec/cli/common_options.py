"""The options that several commands have.

An option is a decorator: `@common_options.ENGINE_OPTION` adds `--engine` to a command. Groups of
options are decorators, too, such as `@common_options.QUERY_OPTIONS`. With `@pass_request` of
`command_decorators`, a command gets the `QueryRequest` that these options describe instead of the
options themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from matchrec.arguments import AggregatePer, Algorithm, DialectName, PatternOutput, SaseOutput, Sort
from matchrec.cli.argument_types import (
    AGGREGATE_TYPE,
    PARAMETER_TYPE,
    SETTING_TYPE,
    ParsedType,
    WholeNumber,
    check_unique_names,
    parse_engine,
)
from matchrec.cli.files import parse_delimiter
from matchrec.cli.pipes import PIPED_FORMATS
from matchrec.cli.query_sources import QueryLanguage, QuerySource, find_query_files
from matchrec.cli.table_arguments import parse_schema, parse_table
from matchrec.cli.usage_errors import WordChoice
from matchrec.errors import command as errors
from matchrec.errors.warning_classes import list_warning_classes
from matchrec.errors.wording import join_alternatives

# An option that can be repeated; the command gets a tuple of its values.
make_repeatable_option = partial(click.option, multiple=True)

# A function that becomes a command, and a decorator that adds an option to it.
CommandFunction = TypeVar("CommandFunction", bound=Callable[..., Any])
OptionDecorator = Callable[[CommandFunction], CommandFunction]


def combine_options(*options: OptionDecorator[Any]) -> OptionDecorator[Any]:
    """Return several options as one decorator. The help shows them in this order."""

    def decorate(function: Any) -> Any:
        """Add all of the options to a command, in their order."""
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def make_choice_option(  # noqa: PLR0913 -- one for each part of an option
    option: str,
    words: Sequence[str],
    topic: str,
    *,
    name: str | None = None,
    default: str | None = None,
    shown_default: str = "",
) -> OptionDecorator[Any]:
    """Return an option with one of a few words as its value. The help lists the words.

    Args:
        option: the option, such as `--result`.
        words: the values.
        topic: what the words are, for the help, such as "Format of the rows".
        name: the name of the option in Python; None for the name that click derives from the
            option.
        default: the value without the option; None lets the command choose.
        shown_default: the default as the help describes it; "" for `default`, or else for the
            first word.
    """
    names = (option,) if name is None else (option, name)
    default_text = shown_default or default or words[0]
    help_text = f"{topic}: {join_alternatives(words)}. [default: {default_text}]"
    return click.option(
        *names, type=WordChoice(words), metavar="NAME", default=default, help=help_text
    )


def read_query_source(
    context: click.Context, argument: click.Parameter, path: str | None
) -> QuerySource:
    """Return the source of the query: the argument, or the text of -c.

    Args:
        context: click's context. The option -c is eager, so its text is already among the
            parameters; the text is removed from them.
        argument: the argument QUERY or CLAUSE.
        path: the value of the argument; None if the user passed none.

    Raises:
        click.UsageError: there is no query, or there are two.
    """
    text = context.params.pop("text", None)
    if path is not None and text is not None:
        raise click.UsageError(str(errors.two_queries(path=path, text=text)))
    if path is not None:
        return QuerySource(path)
    if text is not None:
        return QuerySource("-c", text)
    noun = argument.make_metavar(context).strip("[].").lower()
    raise click.UsageError(str(errors.missing_query(noun=noun)))


def read_query_sources(
    context: click.Context, argument: click.Parameter, paths: tuple[str, ...]
) -> tuple[QuerySource, ...]:
    """Return the sources of the queries of a command that takes several.

    A folder stands for the files of queries in it. A file that is named twice counts once.

    Args:
        context: click's context, as for `read_query_source`.
        argument: the argument QUERY.
        paths: the values of the argument; empty if the user passed none.

    Raises:
        click.UsageError: there is no query, a folder has none, or there are files and -c.
    """
    sources = [
        QuerySource(file, is_in_folder=file != path)
        for path in paths
        for file in find_query_files(path)
    ]
    if not sources or context.params["text"] is not None:
        return (read_query_source(context, argument, sources[0].path if sources else None),)
    return tuple(dict.fromkeys(sources))


# Options, from those that most commands have to those that few commands have.


def make_query_arguments(noun: str) -> OptionDecorator[Any]:
    """Return the argument of a command for its query, and the option -c for the text itself.

    Args:
        noun: what the command takes: "query", or "clause" for a clause alone.
    """
    metavar = noun.upper()
    return combine_options(
        click.argument("query", metavar=f"[{metavar}]", required=False, callback=read_query_source),
        make_text_option(noun),
    )


def make_text_option(noun: str) -> OptionDecorator[Any]:
    """Return the option -c, whose value is the text of a query or a clause.

    Args:
        noun: as for `make_query_arguments`.
    """
    text_help = f"Text of the {noun}, instead of {noun.upper()}."
    return click.option("-c", "text", metavar="TEXT", is_eager=True, help=text_help)


QUERY_ARGUMENTS = make_query_arguments("query")
# The arguments of a command that takes several queries.
SEVERAL_QUERIES_ARGUMENTS = combine_options(
    click.argument(
        "query", metavar="[QUERY]...", nargs=-1, required=False, callback=read_query_sources
    ),
    make_text_option("query"),
)


def complete_parameters(context: click.Context, _: click.Parameter, typed_text: str) -> list[str]:
    """Return the completions that a shell offers after `--arg`: the parameters of the query.

    Args:
        context: click's context, with the arguments so far.
        _: the option.
        typed_text: the beginning of the value, which the user has typed.
    """
    query = context.params.get("query")
    if query is None and context.args:
        # click leaves the query in `args` if an option without a value follows it.
        query = QuerySource(context.args[0])
    from matchrec.api.parameters import find_clause_parameters

    sources = query if isinstance(query, tuple) else (query,)
    names: dict[str, None] = {}  # in the order of the queries, each once
    for source in sources:
        if source is not None and (source.text or Path(source.path).is_file()):
            for name, _span in find_clause_parameters(source.read(QueryLanguage.SQL)):
                names[name] = None
    return [f"{name}=" for name in names if name.startswith(typed_text)]


# The order, the partitions and the types of events, which are not a part of SASE+ and Patterns.
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
        help="Table, and its parquet, csv, tsv or json file, folder, pattern such as"
        " 'day-*.csv', or - for standard input. Repeatable.",
    ),
    make_choice_option(
        "--input-format",
        PIPED_FORMATS,
        "Format of standard input and other pipes",
        shown_default="by the first bytes",
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
DIALECT_OPTION = make_choice_option("--dialect", get_args(DialectName), "Product whose SQL is read")
# What a query in any language needs: its parameters and its tables.
OPTIONS_OF_ANY_QUERY = combine_options(
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
        type=PARAMETER_TYPE,
        callback=check_unique_names,
        shell_complete=complete_parameters,
        help="Value of the parameter :NAME. Repeatable.",
    ),
    EVENTS_OPTION,
    EVENT_OPTIONS,
)
QUERY_OPTIONS = combine_options(QUERY_ARGUMENTS, OPTIONS_OF_ANY_QUERY)
# Several queries, which have the same parameters and tables.
SEVERAL_QUERIES_OPTIONS = combine_options(SEVERAL_QUERIES_ARGUMENTS, OPTIONS_OF_ANY_QUERY)
SORT_OPTION = make_choice_option("--sort", get_args(Sort), "Who sorts each partition")
MAX_STEPS_OPTION = click.option(
    "--max-steps",
    type=WholeNumber(example=1_000_000),
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


def make_clause_option(verb: str) -> OptionDecorator[Any]:
    """Return the option that chooses one of several clauses.

    Args:
        verb: what the command does with the clause, such as "explain".
    """
    return click.option(
        "--clause", metavar="NUMBER|ALIAS", help=f"Clause to {verb}, if the query has several."
    )


def make_result_options(aggregate_help: str) -> OptionDecorator[Any]:
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
            "--timeouts", is_flag=True, help="Include the runs of a Pattern that timed out."
        ),
        make_repeatable_option(
            "--aggregate",
            "aggregates",
            type=AGGREGATE_TYPE,
            help=f"{aggregate_help} Repeatable. [default with --per: matches=count(*)]",
        ),
        make_choice_option("--per", get_args(AggregatePer), "Rows of the aggregates, one for each"),
    )


IGNORE_OPTION = make_repeatable_option(
    "--ignore",
    type=WordChoice(list_warning_classes()),
    metavar="NAME",
    help="Do not show this warning, such as NoOrderWarning. Repeatable.",
)
SCHEMA_OPTION = make_repeatable_option(
    "--schema",
    "schemas",
    type=ParsedType("'NAME: COLUMNS'", parse_schema),
    help="Table without a file, such as 't: id INT, ts TIMESTAMP'. Repeatable.",
)
