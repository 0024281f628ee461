"""The commands `explain`, `why`, `coverage`, `backtest` and `sweep`, which answer with a report.

Except for `explain`, the answer is a text or a table, and perhaps a picture: see `print_answer`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import click

import matchrec
from matchrec.cli import common_options
from matchrec.cli.argument_types import (
    CANDIDATES_TYPE,
    FILE_TYPE,
    PICTURE_TYPE,
    SVG_TYPE,
    ParsedType,
    WholeNumber,
    check_unique_names,
)
from matchrec.cli.command_decorators import pass_clause_request, pass_request
from matchrec.cli.failures import blame_option
from matchrec.cli.formats import OUTPUT_FORMATS
from matchrec.cli.messages import print_notice, report_warnings
from matchrec.cli.partition_option import parse_partition
from matchrec.cli.queries import QueryRequest
from matchrec.cli.query_command import QueryCommand, write_other_command
from matchrec.cli.query_requests import make_missing_events_error
from matchrec.cli.rows import write_rows
from matchrec.cli.table_arguments import parse_labels
from matchrec.cli.values import read_plain_value
from matchrec.cli.written_files import replace_when_complete, write_text
from matchrec.errors import command as errors
from matchrec.errors.surface import current_surface, use_surface

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The values of `--grid`: for each parameter, its name and the values to try.
GridOption = Sequence[tuple[str, list[Any]]]

# An answer with a text, a table and a picture.
TabularAnswer: TypeAlias = "matchrec.Why | matchrec.Coverage | matchrec.Backtest | matchrec.Sweep"


def make_picture_option(picture: str) -> common_options.OptionDecorator[Any]:
    """Return the option `--picture`, which writes a picture that matplotlib draws to a file.

    Args:
        picture: what the picture shows, for the help.
    """
    help_text = f"Write a picture of {picture} to FILE, by its name as svg, png or pdf."
    return click.option("--picture", "picture_file", type=PICTURE_TYPE, help=help_text)


def check_drawing(picture_file: Path | None) -> None:
    """Check that a picture can be drawn. Commands call this before an engine starts.

    Args:
        picture_file: the file for the picture; None if the user wants no picture.

    Raises:
        MatchRecognizeError: matplotlib is not installed.
    """
    from matchrec.explain.pictures.figures import check_matplotlib

    if picture_file is not None:
        check_matplotlib()


@click.command(cls=QueryCommand)
@common_options.make_result_options("Explain how an aggregate, such as days=sum(n), is computed.")
@common_options.make_clause_option("explain")
@click.option(
    "--analyze", is_flag=True, help="Also run the query and show counters. Only on Spark."
)
@click.option("--dot", type=FILE_TYPE, help="Write the states of the search to FILE, for Graphviz.")
@click.option(
    "--picture",
    "picture_file",
    type=SVG_TYPE,
    help="Write a picture of the row pattern to FILE, as svg.",
)
@pass_request
def explain(
    request: QueryRequest, analyze: bool, dot: Path | None, picture_file: Path | None
) -> None:
    """Explain how a query runs.

    QUERY is a file, or - for standard input, as in `matchrec run`.

    \b
    Example:
      matchrec explain v_shapes.sql --table stocks=stocks.csv --picture pattern.svg
    """
    with request.open_query() as (spark, query):
        with matchrec.progress(spark) if analyze else nullcontext():
            explanation = query.explain(
                analyze=analyze, clause=request.clause, **request.aggregates
            )
        print(explanation)
    if dot:
        write_text(dot, explanation.dot())
    if picture_file:
        write_pictures(explanation, picture_file)


# The option that prints the table of an answer instead of its text.
ANSWER_FORMAT_OPTION = common_options.make_choice_option(
    "--format",
    ("text", *(name for name in OUTPUT_FORMATS if name != "table")),
    "Format of the answer",
    name="format_name",
    default="text",
)


def print_answer(
    spark: SparkSession, answer: TabularAnswer, format_name: str, picture_file: Path | None
) -> None:
    """Print an answer, and write its picture if the user named a file.

    Args:
        spark: the session, which computes the texts of the table.
        answer: the answer to print.
        format_name: "text", or the format of the table: a name in `OUTPUT_FORMATS`.
        picture_file: the file for the picture; None for no picture.
    """
    if format_name == "text":
        print(answer)
    else:
        from matchrec.api.frames import to_dataframe  # which loads Spark

        rows = cast("DataFrame", to_dataframe(spark, "answer", answer.toPandas()))
        write_rows(rows, OUTPUT_FORMATS[format_name], sys.stdout)
    if picture_file:
        with replace_when_complete(picture_file) as temporary_file:
            answer.save(temporary_file)
        print_notice(f"picture written to {picture_file}")


def write_pictures(explanation: matchrec.Explanation, file: Path) -> None:
    """Write a picture of the row pattern of each clause.

    The picture of the first clause goes to the file `name.svg`, the second picture to `name.2.svg`,
    and so on.
    """
    for number, clause in enumerate(explanation.clauses.values(), 1):
        path = file if number == 1 else file.with_suffix(f".{number}{file.suffix}")
        write_text(path, clause.svg())
        print_notice(f"picture written to {path}")


@click.command(cls=QueryCommand)
@common_options.QUERY_OPTIONS
@common_options.ALGORITHM_OPTION
@common_options.make_repeatable_option(
    "--partition",
    metavar="NAME=VALUE",
    help="Value of a PARTITION BY column. Repeat it for each column. Required if there are"
    " several partitions.",
)
@common_options.make_repeatable_option(
    "--row",
    metavar="VALUE",
    help="Value of the ORDER BY column in the starting row. Repeat it for each column. [default:"
    " all rows]",
)
@click.option(
    "--limit",
    type=WholeNumber(),
    default=5,
    help="Explain at most N attempts to find a match. [default: 5]",
)
@common_options.make_clause_option("explain")
@ANSWER_FORMAT_OPTION
@make_picture_option("the attempts")
@pass_request
def why(  # noqa: PLR0913 -- one for each option
    request: QueryRequest,
    partition: Sequence[str],
    row: Sequence[str],
    limit: int,
    format_name: str,
    picture_file: Path | None,
) -> None:
    """Explain why rows match or do not match.

    QUERY is a file, or - for standard input, as in `matchrec run`.

    \b
    Example:
      matchrec why v_shapes.sql --table stocks=stocks.csv --partition ticker=MSFT
    """
    check_drawing(picture_file)
    pairs = parse_partition(partition, request)
    values = {name: read_plain_value(value) for name, value in pairs} or None
    order_values = tuple(read_plain_value(value) for value in row) or None
    with request.open_query() as (spark, query):
        answer = query.why(partition=values, row=order_values, limit=limit, clause=request.clause)
        print_answer(spark, answer, format_name, picture_file)


@click.command(cls=QueryCommand)
@common_options.SEARCH_OPTIONS
@common_options.make_clause_option("look at")
@ANSWER_FORMAT_OPTION
@make_picture_option("the counts")
@pass_request
def coverage(request: QueryRequest, format_name: str, picture_file: Path | None) -> None:
    """Count how far starting rows get, and what stops them.

    QUERY is a file, or - for standard input, as in `matchrec run`.

    \b
    Example:
      matchrec coverage v_shapes.sql --table stocks=stocks.csv
    """
    check_drawing(picture_file)
    surface = replace(current_surface(), why_command=write_other_command("why"))
    with request.open_query() as (spark, query), use_surface(surface):
        answer = query.coverage(clause=request.clause)
        print_answer(spark, answer, format_name, picture_file)


@click.command(cls=QueryCommand)
@common_options.SEARCH_OPTIONS
@common_options.ALGORITHM_OPTION
@click.option(
    "--labels", required=True, type=ParsedType("NAME", parse_labels), help="Table of the incidents."
)
@click.option(
    "--start", required=True, metavar="COLUMN", help="Column with the start of each incident."
)
@click.option(
    "--end", required=True, metavar="COLUMN", help="Column with the end of each incident."
)
@common_options.make_repeatable_option(
    "--key",
    metavar="COLUMN",
    help="Column of the incidents for a PARTITION BY column. Repeat it for each column. [default:"
    " those with the same names]",
)
@common_options.make_clause_option("look at")
@ANSWER_FORMAT_OPTION
@make_picture_option("the incidents and matches")
@pass_request
def backtest(  # noqa: PLR0913 -- one for each option
    request: QueryRequest,
    labels: str,
    start: str,
    end: str,
    key: Sequence[str],
    format_name: str,
    picture_file: Path | None,
) -> None:
    """Compare the matches with labelled incidents.

    QUERY is a file, or - for standard input, as in `matchrec run`.

    \b
    Example:
      matchrec backtest falls.sql --table stocks=stocks.csv --table crises=crises.csv \\
        --labels crises --start first_day --end last_day
    """
    from matchrec.spark.backends import read_table

    check_drawing(picture_file)
    with request.open_query() as (spark, query):
        with blame_option("--labels"):
            labels_frame = read_table(spark, labels)
        answer = query.backtest(
            labels_frame, key=list(key) or None, start=start, end=end, clause=request.clause
        )
        print_answer(spark, answer, format_name, picture_file)


@click.command(cls=QueryCommand)
@common_options.CLAUSE_OPTIONS
@common_options.make_repeatable_option(
    "--grid",
    required=True,
    type=CANDIDATES_TYPE,
    callback=check_unique_names,
    shell_complete=common_options.complete_parameters,
    help="Values of the parameter :NAME, such as days=3,5,8. Repeatable.",
)
@ANSWER_FORMAT_OPTION
@make_picture_option("the numbers of matches")
@pass_clause_request
def sweep(
    request: QueryRequest,
    clause_table: str | None,
    grid: GridOption,
    format_name: str,
    picture_file: Path | None,
) -> None:
    """Count the matches for each combination of parameter values.

    CLAUSE is a file, or - for standard input. It has only the text between the parentheses of
    MATCH_RECOGNIZE, with a parameter :NAME for each --grid. The matches are searched in the table
    of --table, or of --events if there are several.

    \b
    Example:
      matchrec sweep --table stocks=stocks.csv --grid days=3,5,8 \\
        -c "PARTITION BY ticker ORDER BY date
            PATTERN (FALL{:days,}) DEFINE FALL AS close < PREV(close)"
    """
    from matchrec.api.early_checks import check_clause
    from matchrec.api.text_kinds import is_query
    from matchrec.spark.backends import read_table

    check_drawing(picture_file)
    clause_text = request.query_statement.text
    if is_query(clause_text):
        raise click.UsageError(str(errors.query_for_clause()))
    table_name = clause_table or request.events
    if not table_name:
        raise make_missing_events_error("a clause", request.tables)
    if request.dialect == "spark":
        check_clause(clause_text)
    with report_warnings(), request.open_session() as spark:
        with blame_option("--events"):
            rows = read_table(spark, table_name)
        answer = matchrec.sweep(
            rows, clause_text, dict(grid), dialect=request.dialect, options=request.run_options
        )
        print_answer(spark, answer, format_name, picture_file)
