"""The notebook extension: the magics `%%matchrec` and `%matchrec`, and short errors in cells.

`%%matchrec` runs the query of a cell, with arguments in its first line. `%matchrec` runs a query
that follows its arguments in one line. Once the extension is loaded, `spark.sql` also accepts
MATCH_RECOGNIZE in every session.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from pyspark.errors import PySparkException, PythonException

from matchrec.api.enable import build_sql_handler
from matchrec.cli.engine_errors import shorten_engine_message
from matchrec.cli.messages import report_warnings
from matchrec.cli.rows import SHOWN_ROWS
from matchrec.dialects.products import PRODUCTS
from matchrec.errors import MatchRecognizeError, MatchRecognizeRunError
from matchrec.errors import cells as errors
from matchrec.errors.surface import CELL, Surface, use_surface
from matchrec.notebook.arguments import CellArguments, build_why_line, remove_quotes, split_line
from matchrec.notebook.cells import run_cell
from matchrec.notebook.messages import print_notice, show_failure
from matchrec.notebook.variables import find_or_start_session, list_frames, list_values
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.interrupts import Interrupted, cancel_on_interrupt
from matchrec.spark.request import NO_OPTIONS
from matchrec.spark.session_errors import SESSION_ERRORS
from matchrec.spark.sql_replacement import Sessions, replace_sql, restore_sql

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


# What `argument` gets for an option that takes several values: `--row 1 2` or `--row 1 --row 2`.
SEVERAL_VALUES: dict[str, Any] = {"nargs": "+", "action": "extend"}

# argparse's sentence for an option that a cell does not have: "unrecognized arguments: --limits 3".
UNKNOWN_OPTION = re.compile(r"unrecognized arguments: (--?[a-zA-Z][\w-]*)")


@dataclass(frozen=True, slots=True)
class EarlierHandler:
    """The custom exception handler that the shell had before the extension was loaded."""

    # The classes of the exceptions that it handled; empty if the shell had no custom handler.
    exceptions: tuple[type[BaseException], ...]
    # The method of the shell that it was. It returns the lines to show for an exception.
    show: Callable[..., list[str]]


@magics_class
class MatchrecMagics(Magics):
    """The magics `%%matchrec` and `%matchrec`.

    IPython reads the decorators of `matchrec` as its arguments, and its docstring as the help.
    """

    # `load` sets it, and `unload` restores it.
    earlier_handler: EarlierHandler

    @magic_arguments("matchrec")
    @argument(
        "-o",
        "--output",
        metavar="NAME",
        type=remove_quotes,
        help="save the result as a DataFrame in the variable NAME",
    )
    @argument(
        "-n",
        "--limit",
        type=int,
        default=SHOWN_ROWS,
        metavar="N",
        help=f"show at most N rows (default: {SHOWN_ROWS})",
    )
    @argument(
        "--explain", action="store_true", help="show how the query would run, instead of its rows"
    )
    @argument(
        "--why", action="store_true", help="show why the rows of a partition match or do not match"
    )
    # Without remove_quotes: `CellArguments` reads the quotes, because a value in single quotes is a
    # string. So it does for --row.
    @argument(
        "--partition",
        **SEVERAL_VALUES,
        metavar="NAME=VALUE",
        help="with --why: the partition to explain, by its PARTITION BY values",
    )
    @argument(
        "--row",
        **SEVERAL_VALUES,
        metavar="VALUE",
        help="with --why: the starting row to explain, by its ORDER BY values",
    )
    @argument(
        "--coverage",
        action="store_true",
        help="show how far each starting row gets, and what stops it",
    )
    @argument(
        "--plot",
        nargs="+",
        type=remove_quotes,
        metavar="COLUMN",
        help="draw the matches over the input rows: columns for x, y and, optionally, the series",
    )
    @argument(
        "--between",
        nargs=2,
        type=remove_quotes,
        metavar=("FIRST", "LAST"),
        help="with --plot: result columns with the first and the last x of a match",
    )
    @argument(
        "--events",
        metavar="NAME",
        type=remove_quotes,
        help="read the events from the DataFrame in the variable NAME; the cell then has a clause, "
        "SASE+ or a Pattern",
    )
    @argument(
        "--order-by",
        **SEVERAL_VALUES,
        metavar="SQL",
        type=remove_quotes,
        help="for SASE+ and Patterns: columns that sort the events",
    )
    @argument(
        "--partition-by",
        **SEVERAL_VALUES,
        metavar="SQL",
        type=remove_quotes,
        help="for SASE+ and Patterns: columns that partition the events",
    )
    @argument(
        "--type-column",
        metavar="SQL",
        type=remove_quotes,
        help="for SASE+: column with the type of each event",
    )
    @argument("--dialect", choices=tuple(PRODUCTS), help="SQL dialect of the query")
    @argument(
        "--algorithm", default="auto", help="search algorithm: auto, backtracking or breadth_first"
    )
    @no_var_expand
    @line_cell_magic
    def matchrec(self, line: str, cell: str | None = None) -> Any:
        """Run a query that may contain MATCH_RECOGNIZE.

        In the query, `:name` stands for the value of the Python variable `name`, and `{name}` for
        the DataFrame in this variable. With --events, the cell holds a clause (the text between
        the parentheses of MATCH_RECOGNIZE), a SASE+ query, or the name of a Pattern.
        """
        if cell is None:
            line, cell = split_line(line)
        with use_surface(CELL):
            arguments = self.read_arguments(line)
            if not cell.strip():
                raise errors.empty_cell()
        assert self.shell is not None, "IPython has registered the magics"
        variables = self.shell.user_ns
        try:
            with use_surface(build_surface(line, variables)):
                spark = find_or_start_session(variables)
                with silence_analysis(), report_warnings(print_notice), cancel_on_interrupt(spark):
                    return run_cell(arguments, cell, spark, variables)
        except PySparkException as error:
            contains_our_error = MatchRecognizeRunError.from_exception(error) is not None
            if contains_our_error or isinstance(error, PythonException):
                # `show_failure` shows our error. IPython shows the traceback of a PythonException,
                # which is an error in the user's own function.
                raise
            raise UsageError(shorten_engine_message(str(error))) from error

    def read_arguments(self, line: str) -> CellArguments:
        """Return the arguments in the first line of a cell.

        Raises:
            MatchRecognizeError: an argument is wrong, or needs another argument.
        """
        try:
            namespace: Namespace = parse_argstring(self.matchrec, line)
        except UsageError as error:
            unknown_option = UNKNOWN_OPTION.match(str(error))
            if unknown_option is not None:
                options = list_options(self.matchrec.parser)
                raise errors.unknown_cell_option(
                    option=unknown_option[1], options=options
                ) from None
            raise errors.wrong_cell_arguments(sentence=str(error)) from None
        arguments = CellArguments(**vars(namespace))
        arguments.check()
        return arguments


def build_surface(line: str, variables: dict[str, Any]) -> Surface:
    """Return the words of messages for a cell, which may name the notebook's variables.

    Args:
        line: the arguments in the first line of the cell. A message repeats them if it advises to
            explain the query with --why.
        variables: the variables of the notebook, by their names.
    """
    return replace(
        CELL,
        notebook_frames=list_frames(variables),
        notebook_values=list_values(variables),
        why_command=build_why_line(line),
    )


def list_options(parser: ArgumentParser) -> list[str]:
    """Return all option names of a parser, such as `-n` and `--limit`."""
    # argparse has no public list of its options.
    return [name for action in parser._actions for name in action.option_strings]


def load(shell: InteractiveShell) -> None:
    """Load the extension, as `%load_ext matchrec` does.

    Register the magics, make the shell show our errors without tracebacks, and make `spark.sql` of
    every session accept MATCH_RECOGNIZE.
    """
    magics = MatchrecMagics(shell)
    magics.earlier_handler = EarlierHandler(shell.custom_exceptions, shell.CustomTB)
    shell.register_magics(magics)
    shell.set_custom_exc((MatchRecognizeError, *SESSION_ERRORS, Interrupted), show_failure)
    replace_sql(Sessions.ALL, build_sql_handler("spark", NO_OPTIONS))


def unload(shell: InteractiveShell) -> None:
    """Remove the magics, and restore the shell's earlier exception handler and `spark.sql`."""
    magics = shell.magics_manager.registry.pop(MatchrecMagics.__name__)
    for magic_kind in ("line", "cell"):
        shell.magics_manager.magics[magic_kind].pop("matchrec", None)
    # Set the attributes directly: `set_custom_exc` would wrap the earlier method again.
    shell.custom_exceptions = magics.earlier_handler.exceptions
    shell.CustomTB = magics.earlier_handler.show
    restore_sql(Sessions.ALL)
