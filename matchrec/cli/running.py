"""The command `run`: run a query over files, and print or write its rows."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

import matchrec
from matchrec.cli import common_options
from matchrec.cli.argument_types import ParsedType, WholeNumber
from matchrec.cli.command_decorators import pass_request
from matchrec.cli.engine_errors import raise_run_errors
from matchrec.cli.failures import label_errors
from matchrec.cli.formats import OUTPUT_FORMATS
from matchrec.cli.messages import ignore_warnings, is_terminal, print_notice, report_warnings
from matchrec.cli.plot_options import PLOT_OPTIONS, PlotOptions, read_plot_options
from matchrec.cli.queries import QueryRequest
from matchrec.cli.query_command import QueryCommand, write_other_command
from matchrec.cli.query_sources import QueryLanguage
from matchrec.cli.rows import SHOWN_ROWS, ProgressDisplay, write_rows
from matchrec.cli.statements import Statement
from matchrec.cli.written_files import name_rows_format, parse_rows_file, write_rows_file
from matchrec.errors import command as errors
from matchrec.errors import written_files as output_errors
from matchrec.errors.wording import show_count

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The largest limit. Spark counts rows in 32 bits, and a table asks for one row more than its limit.
MAX_ROWS = 2**31 - 2

# The format of printed rows without --format, a name in `OUTPUT_FORMATS`. By default, it shows only
# `SHOWN_ROWS` rows.
TABLE = "table"
# The formats that people read.
FORMATS_FOR_PEOPLE = (TABLE, "markdown")
# The formats that need no empty line between the rows of several statements.
JSON_FORMATS = ("json", "jsonl")

# The end of a query with words after the clause, and perhaps its alias, that change which matches
# the query returns.
PART_AFTER_CLAUSE = re.compile(
    r"\)\s*(?:(?:AS\s+)?\w+\s+)??(?P<part>WHERE|GROUP\s+BY|HAVING|LIMIT)\b[^()]*;?\s*$",
    re.IGNORECASE,
)


def check_new_file(ctx: click.Context, _: click.Parameter, file: Path | None) -> Path | None:
    """Return the file of --output; None without this option.

    Raises:
        click.BadParameter: the file exists, and --overwrite is missing.
        click.UsageError: there is --overwrite, but no file.
    """
    is_overwriting = ctx.params.pop("overwrite", False)
    if file is None and is_overwriting:
        error = errors.argument_needs_another(argument="--overwrite", other="--output FILE")
        raise click.UsageError(str(error))
    if file is not None and file.exists() and not is_overwriting:
        raise click.BadParameter(str(output_errors.file_exists(path=str(file))))
    return file


@click.command(cls=QueryCommand)
@common_options.make_result_options(
    "Return an aggregate over all matches of the clause, such as days=sum(n). WHERE and GROUP BY "
    "around it have no effect."
)
@common_options.make_clause_option("aggregate")
@common_options.make_choice_option(
    "--format", tuple(OUTPUT_FORMATS), "Format of printed rows", name="format_name"
)
@click.option(
    "--output",
    "file",
    type=ParsedType("FILE", parse_rows_file),
    callback=check_new_file,
    help="Write all rows to FILE, by its name as parquet, csv, tsv or json, instead of printing"
    " them.",
)
@click.option(
    "--overwrite", is_flag=True, is_eager=True, help="Replace the file of --output if it exists."
)
@click.option(
    "--limit",
    type=WholeNumber(most=MAX_ROWS),
    help="Print or write at most N rows. [default: 20 as a table, else all]",
)
@PLOT_OPTIONS
@common_options.IGNORE_OPTION
@pass_request
def run(  # noqa: PLR0913 -- one for each option
    request: QueryRequest,
    format_name: str | None,
    file: Path | None,
    limit: int | None,
    picture: Path | None,
    x: str | None,
    y: str | None,
    by: str | None,
    between: tuple[str, str] | None,
    match: str | None,
    page: int | None,
    panels: int | None,
    ignore: Sequence[str],
) -> None:
    """Run a query over files, and print or write its rows.

    QUERY is a file, or - for standard input. It has SQL, or SASE+ if its name ends with .sase.
    FILE.py:NAME is a Pattern, and so is MODULE:NAME with --language pattern. SQL can have several
    statements, which end with semicolons and run in order.

    \b
    Examples:
      matchrec run v_shapes.sql --table stocks=stocks.csv
      matchrec run v_shapes.sql --table stocks=stocks.csv --output falls.parquet
      matchrec run shelves.sase --table events=shelves.json --order-by ts
    """
    if request.clause is not None and not request.aggregates:
        error = errors.argument_needs_another(argument="--clause", other="--aggregate or --per")
        raise click.UsageError(str(error))
    plot = read_plot_options(
        picture,
        {
            "x": x,
            "y": y,
            "by": by,
            "between": between,
            "match": match,
            "page": page,
            "panels": panels,
        },
    )
    if file is not None and format_name is not None:
        check_format_of_file(format_name, file)
    output = RowDestination(format_name or TABLE, file, limit)
    with ignore_warnings(ignore):
        if request.aggregates or not request.earlier_statements:
            run_last_statement(request, output, plot)
        else:
            run_statements(request, output, plot)


def check_format_of_file(format_name: str, file: Path) -> None:
    """Check that --format agrees with the name of the file of --output.

    Raises:
        click.UsageError: the name of the file chooses another format.
    """
    file_format = name_rows_format(file)
    if format_name != file_format:
        error = output_errors.format_not_for_file(
            option_value=format_name, path=str(file), file_format=file_format
        )
        raise click.UsageError(str(error))


@dataclass(frozen=True, slots=True)
class RowDestination:
    """The destination, format and limit of the output rows."""

    # The format of printed rows: a name in `OUTPUT_FORMATS`.
    format_name: str
    # The file to which the rows are written; None to print them.
    file: Path | None
    # The largest number of rows; None for the default, which is `SHOWN_ROWS` for a table, else all.
    limit: int | None

    def write(self, spark: SparkSession, frame: DataFrame) -> int:
        """Compute the rows, write or print them, and return their number.

        Raises:
            MatchRecognizeError: the query fails, or the file cannot be written.
        """
        from matchrec.spark.backends import make_runner

        make_runner(spark).analyse(frame)
        progress = matchrec.progress(spark)
        if self.file is None:
            return self.print_rows(frame, progress)
        return self.write_to_file(frame, self.file, progress)

    def write_to_file(self, frame: DataFrame, file: Path, progress: ProgressDisplay) -> int:
        """Write the rows to a file, print a notice with their number, and return this number."""
        limited_frame = frame if self.limit is None else frame.limit(self.limit)
        with progress, raise_run_errors():
            count = write_rows_file(limited_frame, file)
        print_notice(f"{show_count(count, 'row')} written to {file}")
        return count

    def print_rows(self, frame: DataFrame, progress: ProgressDisplay) -> int:
        """Print the rows, and return their number.

        Print a notice if the result has more rows, unless the user has set the limit.
        """
        limit = self.limit
        if limit is None and self.format_name == TABLE:
            limit = SHOWN_ROWS
        with raise_run_errors():
            written = write_rows(
                frame, OUTPUT_FORMATS[self.format_name], sys.stdout, limit=limit, progress=progress
            )
        if written.has_more and self.limit is None:
            rows = show_count(written.count, "row")
            print_notice(f"showing {rows}; --limit N shows more, --output FILE writes all")
        return written.count

    def print_separator(self) -> None:
        """Print an empty line between the rows of two statements; JSON needs none."""
        if self.format_name not in JSON_FORMATS:
            print()


def run_last_statement(
    request: QueryRequest, output: RowDestination, plot: PlotOptions | None
) -> None:
    """Run the only statement, or compute the aggregates over the matches of the last statement."""
    aggregates = request.aggregates
    has_rows = bool(aggregates) or request.has_rows
    if output.file and not has_rows:
        raise click.UsageError(str(output_errors.not_one_query(count="none")))
    with request.open_query() as (spark, query):
        if aggregates:
            notify_of_ignored_part(request.query_statement.text)
            frame = query.aggregate(**aggregates, clause=request.clause)
        else:
            frame = query.to_df()
        # The picture is drawn before any row is printed, so that an error in --x comes first.
        if plot:
            plot.draw(query)
        if has_rows and output.write(spark, frame) == 0:
            report_no_rows(request, output, request.query_statement)


def notify_of_ignored_part(text: str) -> None:
    """Print a notice if the query has WHERE or GROUP BY after the clause: aggregates ignore it.

    Args:
        text: the query.
    """
    part = PART_AFTER_CLAUSE.search(text)
    if part is not None and "MATCH_RECOGNIZE" in text.upper():
        words = " ".join(part["part"].upper().split())
        print_notice(
            f"The aggregates are over all matches of the clause, without {words} after it."
        )


def run_statements(request: QueryRequest, output: RowDestination, plot: PlotOptions | None) -> None:
    """Run several statements in order. Print the rows of each, or write the rows of the only query.

    The picture shows the matches of the last query.

    Raises:
        click.UsageError: the rows go to a file, but the statements have no query or several.
    """
    queries = [statement for statement in request.statements if statement.is_query]
    # SHOW TABLES has rows, too, but a file is for the rows of the only query.
    written_statements = queries
    if output.file is None:
        written_statements = [statement for statement in request.statements if statement.has_rows]
    elif len(queries) != 1:
        raise click.UsageError(str(output_errors.not_one_query(count=len(queries) or "none")))
    # If no statement is a query, drawing the last statement raises an error that says so.
    drawn_statement = queries[-1] if queries else request.query_statement
    with report_warnings(), request.open_content() as (spark, _):
        for statement in request.statements:
            with label_errors(statement.label):
                query = request.build_query(spark, statement.text)
                frame = query.to_df()
                # The picture is drawn before the rows are printed, so that an error in --x comes
                # first, and before later statements, which can drop a view that the query reads.
                if plot and statement == drawn_statement:
                    plot.draw(query)
                if statement in written_statements:
                    if statement != written_statements[0]:
                        output.print_separator()
                    if output.write(spark, frame) == 0:
                        report_no_rows(request, output, statement)


def report_no_rows(request: QueryRequest, output: RowDestination, statement: Statement) -> None:
    """Print a notice that the result of a statement has no rows.

    At a terminal, suggest `matchrec coverage` if nothing matched. Otherwise print nothing for the
    formats that programs read, nor for a file, whose notice has the number of rows.

    Args:
        request: the query.
        output: the destination of the rows.
        statement: the statement whose result has no rows.
    """
    from matchrec.syntax.locate import may_have_clause

    has_clause = request.language is not QueryLanguage.SQL or may_have_clause(statement.text)
    # `matchrec coverage` is about the last statement, too.
    is_last = statement == request.query_statement
    if has_clause and is_last and not request.aggregates and is_terminal():
        command = write_other_command("coverage")
        print_notice(f"0 rows; to see how far rows get and what stops them, run\n{command}")
    elif output.file is None and output.format_name in FORMATS_FOR_PEOPLE:
        print_notice("0 rows")
