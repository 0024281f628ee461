"""The command `check`: find the mistakes in a query without running it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from matchrec.cli import common_options
from matchrec.cli.command_decorators import pass_checked_request
from matchrec.cli.failures import ExitCode, label_errors
from matchrec.cli.messages import print_notice, report_warnings
from matchrec.cli.queries import QueryContent, QueryRequest
from matchrec.cli.query_command import QueryCommand
from matchrec.cli.query_sources import QueryLanguage
from matchrec.cli.statements import Statement
from matchrec.cli.tables import EmptyTable
from matchrec.errors.language import current_surface, use_surface
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.errors.wording import show_count, write_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField


@click.command(cls=QueryCommand)
@common_options.QUERY_OPTIONS
@common_options.SCHEMA_OPTION
@click.option("--strict", is_flag=True, help="Also exit with code 1 if there is a warning.")
@pass_checked_request
def check(request: QueryRequest, strict: bool) -> None:
    """Check a query for mistakes without running it.

    The exit code is 1 if there is a mistake. No file is needed for a table whose columns --schema
    declares. QUERY is a file, or - for standard input, as in `matchrec run`.

    \b
    Example:
      matchrec check v_shapes.sql --schema 'stocks: ticker STRING, date DATE, close DOUBLE'
    """
    request = replace(request, only_schema=True)
    declares_columns = any(isinstance(table, EmptyTable) for table in request.tables)
    surface = replace(
        current_surface(), advice_on_column="add {name} to --schema" if declares_columns else ""
    )
    with (
        use_surface(surface),
        report_warnings() as shown_warnings,
        request.open_content() as (spark, query_content),
    ):
        warnings.simplefilter("always", MatchRecognizeWarning)  # whatever PYTHONWARNINGS says
        for statement in request.statements:
            # Several statements are texts. A Pattern is the only statement.
            content = statement.text if request.earlier_statements else query_content
            with label_errors(statement.label):
                check_statement(request, spark, statement, content)
    if strict:
        fail_if_warned(shown_warnings)


def fail_if_warned(shown_warnings: Sequence[Warning | str]) -> None:
    """Exit with a notice and a code, as for a mistake, if matchrec has given a warning."""
    count = sum(isinstance(warning, MatchRecognizeWarning) for warning in shown_warnings)
    if count == 0:
        return
    print_notice(f"{show_count(count, 'warning')}; --strict exits with code {ExitCode.REFUSED:d}")
    raise click.exceptions.Exit(ExitCode.REFUSED)


def check_statement(
    request: QueryRequest, spark: SparkSession, statement: Statement, content: QueryContent
) -> None:
    """Plan one statement and print the columns of its result.

    A temporary view is created, because later statements may read it. The engine would execute
    other statements that are not queries, such as INSERT, to plan them: only their clauses are
    checked, which `QueryRequest.open_content` has done.

    Args:
        request: the query.
        spark: a session with the tables.
        statement: the statement.
        content: the text of the statement, or the Pattern.
    """
    from matchrec.spark.backends import make_runner
    from matchrec.syntax.misspelt_clauses import reject_misspelt_text

    prefix = f"{statement.label}: " if statement.label else ""
    if request.language is QueryLanguage.SQL and not (statement.is_query or statement.creates_view):
        reject_misspelt_text(statement.text)
        print_notice(f"{prefix}not a query; only its MATCH_RECOGNIZE clauses were checked")
        return
    frame = request.build_query(spark, content).to_df()
    make_runner(spark).analyse(frame)
    columns = ", ".join(write_column(field) for field in frame.schema.fields)
    print(f"{prefix}ok; columns of the result: {columns}" if columns else f"{prefix}ok")


def write_column(field: StructField) -> str:
    """Return the name and type of a column, as CREATE TABLE and --schema have them."""
    from matchrec.spark.types import write_type

    # Parts with an odd index are names of struct fields in backticks: they keep their case.
    parts = write_type(field.dataType).split("`")
    parts[::2] = [part.upper() for part in parts[::2]]
    return f"{write_name(field.name)} {'`'.join(parts)}"
