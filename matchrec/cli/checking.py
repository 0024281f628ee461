"""The command `check`: find the mistakes in queries without running them.

1. The texts of all queries are checked, before an engine starts.
2. The tables become views without rows, so that the engine knows their columns.
3. Each statement is planned, which runs no job. A statement that creates a temporary view runs,
   because later statements can read the view. Of other statements only the syntax is checked.

The mistakes of one query do not stop the check of the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import click

from matchrec.cli import common_options
from matchrec.cli.command_decorators import pass_checked_requests
from matchrec.cli.failures import ExitCode, label_errors, print_tracebacks, report_failures
from matchrec.cli.messages import ignore_warnings, print_notice, report_warnings
from matchrec.cli.queries import QueryContent, QueryRequest, QueryTable
from matchrec.cli.query_command import QueryCommand
from matchrec.cli.query_sources import QueryLanguage
from matchrec.cli.statements import Statement
from matchrec.cli.tables import EmptyTable
from matchrec.cli.values import read_argument_value
from matchrec.errors.kinds import locate_errors
from matchrec.errors.parameters import unbound_parameter
from matchrec.errors.surface import current_surface, use_surface
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.errors.wording import show_count, write_name
from matchrec.source import Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField


@click.command(cls=QueryCommand)
@common_options.SEVERAL_QUERIES_OPTIONS
@common_options.SCHEMA_OPTION
@common_options.IGNORE_OPTION
@click.option("--strict", is_flag=True, help="Also exit with code 1 if there is a warning.")
@pass_checked_requests
def check(requests: list[QueryRequest], ignore: Sequence[str], strict: bool) -> None:
    """Check queries for mistakes without running them.

    The exit code is 1 if there is a mistake. No file is needed for a table whose columns --schema
    declares. QUERY is a file, a folder of .sql and .sase files, or - for standard input. Several
    queries have the same tables and options.

    \b
    Examples:
      matchrec check v_shapes.sql --schema 'stocks: ticker STRING, date DATE, close DOUBLE'
      matchrec check queries/*.sql --table stocks=stocks.csv
    """
    declares_columns = any(isinstance(table, EmptyTable) for table in requests[0].tables)
    surface = replace(
        current_surface(), advice_on_column="add {name} to --schema" if declares_columns else ""
    )
    with use_surface(surface), report_warnings() as shown_warnings:
        warnings.simplefilter("always", MatchRecognizeWarning)  # whatever PYTHONWARNINGS says
        with ignore_warnings(ignore):
            if len(requests) == 1 and not requests[0].label:
                check_single_query(requests[0])
                exit_codes = []
            else:
                exit_codes = check_several_queries(requests, shown_warnings)
    if exit_codes:
        raise click.exceptions.Exit(max(exit_codes))
    if strict:
        fail_if_warned(shown_warnings)


def check_single_query(request: QueryRequest) -> None:
    """Check the query of a command with one query.

    Raises:
        MatchRecognizeError: the query has a mistake.
    """
    content = request.load_content()
    with request.start_session() as spark:
        tables = CheckedTables(spark)
        tables.register((*request.tables, *request.file_tables))
        check_statements(request, spark, content)


def check_several_queries(
    requests: Sequence[QueryRequest], shown_warnings: Sequence[Warning | str]
) -> list[int]:
    """Check all queries in one session, report their errors and print how many have mistakes.

    Mistakes that the texts alone show are reported before an engine starts.

    Args:
        requests: the queries.
        shown_warnings: the warnings that were printed so far, to which the check appends.

    Returns:
        The exit code of each query that has a mistake.
    """
    reject_unused_args(requests)
    exit_codes: list[int] = []
    contents: list[tuple[QueryRequest, QueryContent]] = []
    for request in requests:
        with collect_failure(request, exit_codes):
            contents.append((request, request.load_content()))
    if contents:
        with requests[0].start_session() as spark:
            tables = CheckedTables(spark)
            # All queries use the tables of the first request, because a pipe can be read only once.
            common_tables = requests[0].tables
            tables.register(common_tables)
            for request, content in contents:
                with collect_failure(request, exit_codes), tables.drop_views_after(request):
                    tables.register((*common_tables, *request.file_tables))
                    check_statements(request, spark, content)
    warning_count = count_warnings(shown_warnings)
    print_notice(describe_outcome(len(requests), len(exit_codes), warning_count))
    return exit_codes


def count_warnings(shown_warnings: Sequence[Warning | str]) -> int:
    """Return how many of the warnings are matchrec's own."""
    return sum(isinstance(warning, MatchRecognizeWarning) for warning in shown_warnings)


def fail_if_warned(shown_warnings: Sequence[Warning | str]) -> None:
    """End the program as for a mistake, with a notice, if matchrec has given a warning.

    Raises:
        click.exceptions.Exit: matchrec has given a warning.
    """
    count = count_warnings(shown_warnings)
    if count == 0:
        return
    print_notice(f"{show_count(count, 'warning')}; --strict exits with code {ExitCode.REFUSED:d}")
    raise click.exceptions.Exit(ExitCode.REFUSED)


def describe_outcome(query_count: int, failure_count: int, warning_count: int) -> str:
    """Return a sentence about the check of several queries.

    >>> describe_outcome(3, 0, 0), describe_outcome(3, 1, 2)
    ('3 queries checked, no mistakes', '3 queries checked, 1 with a mistake; 2 warnings')
    """
    match failure_count:
        case 0:
            outcome = "no mistakes"
        case 1:
            outcome = "1 with a mistake"
        case _:
            outcome = f"{failure_count} with mistakes"
    sentence = f"{show_count(query_count, 'query', 'queries')} checked, {outcome}"
    return f"{sentence}; {show_count(warning_count, 'warning')}" if warning_count else sentence


def reject_unused_args(requests: Sequence[QueryRequest]) -> None:
    """Check that each value of `--arg` is for a parameter of a query.

    If a query is a Pattern, no value is rejected: a Pattern has no text in which to look for names.

    Raises:
        MatchRecognizeError: no query has the parameter.
    """
    from matchrec.api.parameters import reject_unused_values

    if all(request.language is not QueryLanguage.PATTERN for request in requests):
        texts = "\n".join(request.whole_text for request in requests)
        reject_unused_values(texts, dict(requests[0].args))


@contextmanager
def collect_failure(request: QueryRequest, exit_codes: list[int]) -> Iterator[None]:
    """Report an error that is raised in the `with` block, and append its exit code to a list.

    Raises:
        click.exceptions.Exit: the user pressed Ctrl-C.
    """
    shows_traceback = click.get_current_context().params["traceback"]
    traceback_printer = print_tracebacks() if shows_traceback else nullcontext()
    try:
        with report_failures(), traceback_printer, label_errors(request.label):
            yield
    except click.exceptions.Exit as failure:
        if failure.exit_code == ExitCode.INTERRUPTED:
            raise
        exit_codes.append(failure.exit_code)


@dataclass(frozen=True, slots=True)
class CheckedTables:
    """The tables of a session in which queries are checked. They have columns but no rows.

    A table is read only once, even if several queries use it.
    """

    spark: SparkSession
    # The tables that are views of the session, by their names in lower case.
    by_name: dict[str, QueryTable] = field(default_factory=dict)

    def register(self, tables: Sequence[QueryTable]) -> None:
        """Make tables views of the session, unless they already are."""
        for table in tables:
            name = table.name.lower()
            if self.by_name.get(name) != table:
                table.register(self.spark, only_schema=True)
                self.by_name[name] = table

    @contextmanager
    def drop_views_after(self, request: QueryRequest) -> Iterator[None]:
        """Drop the views that the statements of a query make in the `with` block.

        Other queries must not see these views.
        """
        if not any(statement.creates_view for statement in request.statements):
            yield
            return
        views_before = self.list_views()
        try:
            yield
        finally:
            for name in self.list_views() - views_before:
                self.spark.catalog.dropTempView(name)
            self.by_name.clear()  # a statement may have replaced one of the tables

    def list_views(self) -> set[str]:
        """Return the names of the temporary views of the session."""
        return {table.name for table in self.spark.catalog.listTables() if table.isTemporary}


def check_statements(request: QueryRequest, spark: SparkSession, content: QueryContent) -> None:
    """Check the statements of a query in a session with its tables.

    Args:
        request: the query.
        spark: the session with the tables of the query.
        content: the text of the query or the Pattern.
    """
    for statement in request.statements:
        # Several statements are texts. A Pattern is the only statement.
        statement_content = statement.text if request.earlier_statements else content
        with label_errors(request.label_statement(statement)):
            check_statement(request, spark, statement, statement_content)


def check_statement(
    request: QueryRequest, spark: SparkSession, statement: Statement, content: QueryContent
) -> None:
    """Plan one statement and print the columns of its result.

    A temporary view is created, because later statements can read it. The engine would execute
    other statements that are not queries, such as INSERT, to plan them: only their syntax is
    checked.

    Args:
        request: the query.
        spark: a session with the tables.
        statement: the statement.
        content: the text of the statement, or the Pattern.

    Raises:
        MatchRecognizeError: the statement has a mistake.
    """
    from matchrec.spark.backends import make_runner

    label = request.label_statement(statement)
    prefix = f"{label}: " if label else ""
    # In SQL of other products, `:name` is not always a parameter: Snowflake's `v:name` is a field.
    if request.language is QueryLanguage.SQL and request.dialect == "spark":
        reject_parameters_without_value(request, statement.text)
    creates_view = request.language is QueryLanguage.SQL and statement.creates_view
    if request.language is QueryLanguage.SQL and not (statement.is_query or creates_view):
        print_notice(f"{prefix}{check_other_statement(request, spark, statement)}")
        return
    frame = request.build_query(spark, content).to_df()
    make_runner(spark).analyse(frame)
    # Sail returns a row for a statement that creates a view, and Spark none.
    fields = () if creates_view else frame.schema.fields
    columns = ", ".join(write_column(field) for field in fields)
    print(f"{prefix}ok; columns of the result: {columns}" if columns else f"{prefix}ok")


def check_other_statement(request: QueryRequest, spark: SparkSession, statement: Statement) -> str:
    """Check a statement that is not a query, and return a sentence about what was checked.

    Raises:
        MatchRecognizeError: the statement has a syntax error.
    """
    from matchrec.api.statement_syntax import check_statement_syntax

    args = {name: read_argument_value(text) for name, text in request.select_args(statement.text)}
    if check_statement_syntax(spark, statement.text, args or None, request.dialect):
        return "not a query; only its syntax was checked"
    return "not a query, and the engine cannot parse it; only its brackets and clauses were checked"


def reject_parameters_without_value(request: QueryRequest, text: str) -> None:
    """Check that each parameter of a statement in Spark SQL has a value.

    For a query without a clause, Sail reports this only when the query runs, and Spark's sentence
    is about an argument of Python.

    Raises:
        MatchRecognizeError: a parameter has no value.
    """
    from matchrec.api.parameters import find_clause_parameters

    names = [name for name, _ in request.args]
    with locate_errors(Source(text)):
        for name, span in find_clause_parameters(text):
            if name not in names:
                raise unbound_parameter(span, name=name, parameters=names)


def write_column(field: StructField) -> str:
    """Return the name and type of a column, as CREATE TABLE and --schema have them."""
    from matchrec.spark.types import write_type

    # The parts with an odd index are names of struct fields in backticks, which keep their case.
    parts = write_type(field.dataType).split("`")
    parts[::2] = [part.upper() for part in parts[::2]]
    return f"{write_name(field.name)} {'`'.join(parts)}"
