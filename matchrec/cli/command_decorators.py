"""Decorators of commands: report failures, and build the `QueryRequest` that the options describe.

A command about a query is declared like this, with the options of `common_options`. Other commands
have only `@handle_failures`:

    @click.command(cls=QueryCommand)
    @common_options.QUERY_OPTIONS
    @click.option("--analyze", is_flag=True)
    @pass_request
    def explain(request: QueryRequest, analyze: bool) -> None:
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import Any

import click

from matchrec.cli.failures import print_tracebacks, report_failures
from matchrec.cli.files import find_table_file
from matchrec.cli.piped_tables import PipedTable
from matchrec.cli.pipes import is_same_pipe
from matchrec.cli.queries import OptionValues, QueryRequest
from matchrec.cli.query_requests import (
    build_clause_request,
    build_query_request,
    build_query_requests,
    split_options,
)
from matchrec.cli.query_sources import QuerySource
from matchrec.cli.session import SettingPairs
from matchrec.cli.tables import EmptyTable, Table
from matchrec.errors import tables as errors
from matchrec.errors.surface import (
    ADVICE_ON_NO_HEADER,
    CHECKED_COMMAND_LINE,
    COMMAND_LINE,
    SWEEP_COMMAND_LINE,
    Surface,
    use_surface,
)
from matchrec.source import use_read_texts

Tables = tuple[Table | PipedTable, ...]
# The query of a command, or the queries of a command that takes several.
Queries = QuerySource | tuple[QuerySource, ...]

# What a command gets: a request, or one for each of its queries.
Request = QueryRequest | list[QueryRequest]
# A function that builds a request from the query or queries, the tables, the settings and all other
# options.
BuildRequest = Callable[[Any, Tables, SettingPairs, OptionValues], Request]


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
        traceback_printer = print_tracebacks() if traceback else nullcontext()
        with use_surface(surface), use_read_texts(), report_failures(), traceback_printer:
            function(*args, **options)

    return command


def make_request_decorator(
    build_request: BuildRequest, surface: Surface = COMMAND_LINE
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command a request as its first argument.

    The other arguments of the command are the options that are parameters of its function. All
    other options describe the query and its input, and become a part of the request. A command that
    takes several queries gets a list of requests.

    Args:
        build_request: builds the request.
        surface: the words of the command's messages.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        """Return a command that builds the request, and calls the function with it."""
        command_option_names = tuple(signature(function).parameters)

        @partial(handle_failures, surface=surface)
        @wraps(function)
        def command(query: Queries, tables: Tables, conf: SettingPairs, **options: Any) -> None:
            """Build the request, and call the function with it and with the command's options."""
            command_options, request_options = split_options(options, command_option_names)
            reject_repeated_tables(tables, request_options.get("schemas", ()))
            queries = query if isinstance(query, tuple) else (query,)
            reject_repeated_pipes([source.path for source in queries], tables)
            request = build_request(query, tables, conf, request_options)
            folders = (Path(), *(Path(source.path).parent for source in queries))
            find_file = partial(find_table_file, folders=folders)
            surface_with_files = replace(surface, find_table_file=find_file)
            with use_surface(use_csv_words(surface_with_files, request_options)):
                function(request, **command_options)

        return command

    return decorate


# For commands about a query in any language.
pass_request = make_request_decorator(build_query_request)
# For `check`, which takes several queries and needs no file for a table.
pass_checked_requests = make_request_decorator(build_query_requests, CHECKED_COMMAND_LINE)
# For commands about a clause alone.
pass_clause_request = make_request_decorator(build_clause_request, SWEEP_COMMAND_LINE)


def reject_repeated_tables(tables: Tables, schemas: Sequence[EmptyTable]) -> None:
    """Check that no two tables, of --table or of --schema, have the same name.

    Raises:
        click.UsageError: two tables have the same name, in the same or another case.
    """
    used_names = set[str]()
    for name in [table.name for table in tables] + [schema.name for schema in schemas]:
        if name.upper() in used_names:
            raise click.UsageError(str(errors.duplicate_table(name=name)))
        used_names.add(name.upper())


def reject_repeated_pipes(query_paths: Sequence[str], tables: Tables) -> None:
    """Check that no two tables, and no query and table, read the same pipe.

    Args:
        query_paths: the files of the queries; empty for a command without a query.
        tables: the tables of `--table`.

    Raises:
        click.UsageError: two of them read the same pipe.
    """
    used_paths = list(query_paths)
    for table in tables:
        if not isinstance(table, PipedTable):
            continue
        if any(is_same_pipe(table.path, used_path) for used_path in used_paths):
            raise click.UsageError(str(errors.repeated_pipe(path=table.path, name=table.name)))
        used_paths.append(table.path)


def use_csv_words(surface: Surface, options: OptionValues) -> Surface:
    """Return a surface with advice for the options for CSV files that the user passed.

    Args:
        surface: the surface of the command.
        options: the options `delimiter` and `header`, which can be missing, among others.
    """
    with_delimiter = replace(surface, csv_delimiter=options.get("delimiter") or "")
    if options.get("header", True):
        return with_delimiter
    return replace(with_delimiter, advice_on_header=ADVICE_ON_NO_HEADER)
