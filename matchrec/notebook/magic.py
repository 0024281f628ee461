"""The notebook extension: the magics `%%matchrec` and `%matchrec`, and short errors in cells.

`%%matchrec` runs the query of a cell, with arguments in its first line. `%matchrec` runs a query
that follows its arguments in one line. Once the extension is loaded, `spark.sql` understands the
clause, too, in every session.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from pyspark.errors import PySparkException, PythonException
from pyspark.sql import SparkSession

import matchrec
from matchrec.api.inputs import to_dataframe
from matchrec.api.sql import IS_SASE, build_answer
from matchrec.arguments import COUNT, is_dataframe, is_frame
from matchrec.cli.arguments import suggest_setting
from matchrec.cli.engine_errors import shorten_engine_message
from matchrec.cli.messages import report_warnings
from matchrec.cli.rows import SHOWN_ROWS, fetch_first_texts
from matchrec.cli.values import PlainValue, read_plain_value
from matchrec.dialects.products import PRODUCTS
from matchrec.errors import MatchRecognizeError, MatchRecognizeRunError
from matchrec.errors import command as errors
from matchrec.errors.language import CELL, current_surface, use_surface
from matchrec.errors.wording import show_count
from matchrec.notebook.messages import print_notice, show_failure
from matchrec.notebook.result import Result
from matchrec.notebook.variables import find_frames, find_or_start_session, find_values, list_frames
from matchrec.spark.actions import Interrupted, cancelled_by_interrupt
from matchrec.spark.request import NO_OPTIONS
from matchrec.spark.session import (
    ALL_SESSIONS,
    SESSION_ERRORS,
    replace_sql,
    restore_sql,
    silence_analysis,
)
from matchrec.syntax.locate import may_have_clause

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def remove_quotes(text: str) -> str:
    """Return an argument without the quotes around it, which IPython leaves.

    >>> remove_quotes('"abs(x), y"'), remove_quotes("x")
    ('abs(x), y', 'x')
    """
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if is_quoted else text


# An argument that takes several values: `--row 1 2` or `--row 1 --row 2`.
SEVERAL: dict[str, Any] = {"nargs": "+", "action": "extend"}


@magics_class
class MatchrecMagics(Magics):
    """The magics of the extension."""

    @magic_arguments("matchrec")
    @argument(
        "-o",
        "--output",
        metavar="NAME",
        type=remove_quotes,
        help="save the result as a DataFrame in the variable NAME",
    )
    @argument(
        "-n", "--limit", type=int, default=SHOWN_ROWS, metavar="N", help="show at most N rows"
    )
    @argument(
        "--explain", action="store_true", help="show how the query would run, instead of its rows"
    )
    @argument(
        "--why", action="store_true", help="show why the rows of a partition match or do not match"
    )
    @argument(
        "--partition",
        **SEVERAL,
        metavar="NAME=VALUE",
        help="with --why: the partition to explain, by its PARTITION BY values",
    )
    @argument(
        "--row",
        **SEVERAL,
        metavar="VALUE",
        help="with --why: the starting row to explain, by its ORDER BY values",
    )
    @argument(
        "--coverage",
        action="store_true",
        help="show how far all starting rows get, and what stops them",
    )
    @argument(
        "--plot",
        nargs="+",
        type=remove_quotes,
        metavar="COLUMN",
        help="draw the matches over the input rows: columns for x, y and, if wanted, the series",
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
        help="variable with the DataFrame that a clause, a SASE+ query or a Pattern reads",
    )
    @argument(
        "--order-by",
        **SEVERAL,
        metavar="SQL",
        type=remove_quotes,
        help="for SASE+ and Patterns: columns that sort the events",
    )
    @argument(
        "--partition-by",
        **SEVERAL,
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
        assert self.shell is not None, "IPython has registered it"
        variables = self.shell.user_ns
        try:
            spark = find_or_start_session(variables)
            surface = replace(CELL, frames=list_frames(variables), asking=write_why_line(line))
            with (
                use_surface(surface),
                silence_analysis(),
                report_warnings(print_notice),
                cancelled_by_interrupt(spark),
            ):
                return run_cell(arguments, cell, spark, variables)
        except PySparkException as error:
            brings_our_error = MatchRecognizeRunError.from_exception(error) is not None
            if brings_our_error or isinstance(error, PythonException):
                raise  # `show_failure` shows the first, and IPython the traceback of the second
            raise UsageError(shorten_engine_message(str(error))) from error

    def read_arguments(self, line: str) -> Namespace:
        """Return the arguments in the first line of a cell.

        Raises:
            MatchRecognizeError: an argument is wrong, or needs another one.
        """
        try:
            arguments: Namespace = parse_argstring(self.matchrec, line)
        except UsageError as error:
            raise errors.wrong_cell_arguments(sentence=str(error)) from None
        COUNT.check("%%matchrec", "--limit", arguments.limit)
        for name, needed in (("between", "plot"), ("partition", "why"), ("row", "why")):
            if getattr(arguments, name) and not getattr(arguments, needed):
                raise errors.argument_needs_another(argument=f"--{name}", other=f"--{needed}")
        return arguments


def run_cell(
    arguments: Namespace, text: str, spark: SparkSession, variables: dict[str, Any]
) -> Any:
    """Return the output of a cell: the first rows of its query, or an answer about the query.

    Args:
        arguments: the arguments of the magic.
        text: the query.
        spark: the session.
        variables: the variables of the notebook. One may get the DataFrame.
    """
    query = build_query(arguments, text, spark, variables)
    if arguments.output:
        variables[arguments.output] = query.to_df()
    if arguments.explain:
        return query.explain()
    if arguments.why:
        row = None
        if arguments.row:
            row = tuple(read_value(value) for value in arguments.row)
        return query.why(partition=read_partition(arguments.partition), row=row)
    if arguments.coverage:
        return query.coverage()
    frame = variables[arguments.output] if arguments.output else query.to_df()
    if arguments.plot:
        if not 2 <= len(arguments.plot) <= 3:
            names = show_count(len(arguments.plot), "name")
            raise errors.wrong_plot_columns(value=" ".join(arguments.plot), names=names)
        x, y, *by = arguments.plot
        return query.plot(x=x, y=y, by=by[0] if by else None, between=arguments.between)
    limit = arguments.limit
    rows = [
        tuple("NULL" if value is None else value for value in row)
        for row in fetch_first_texts(frame, limit)
    ]
    return Result(
        dataframe=frame,
        names=tuple(frame.columns),
        rows=tuple(rows[:limit]),
        more=len(rows) > limit,
        asks_for_matches=bool(arguments.events) or may_have_clause(text),
    )


def read_value(text: str) -> PlainValue:
    """Return the value of an argument; in single quotes it is a text, as on the command line."""
    return read_plain_value(remove_quotes(text) if text.startswith('"') else text)


BEGINNING = re.compile(r"\b(SELECT|WITH|FROM|VALUES|PATTERN|PARTITION|ORDER)\s", re.IGNORECASE)


def split_line(line: str) -> tuple[str, str]:
    """Return the arguments of a line and its query, which may be the name of a Pattern.

    >>> split_line("-n 5 SELECT * FROM t"), split_line("--events t --order-by at rises")
    (('-n 5 ', 'SELECT * FROM t'), ('--events t --order-by at', 'rises'))
    """
    beginning = BEGINNING.search(line)
    if beginning is not None:
        return line[: beginning.start()], line[beginning.start() :]
    arguments, _, query = line.rpartition(" ")
    return arguments, query


def build_query(
    arguments: Namespace, text: str, spark: SparkSession, variables: Mapping[str, Any]
) -> matchrec.Query:
    """Return the query of a cell.

    Args:
        arguments: the arguments of the magic.
        text: the query, or the name of a Pattern.
        spark: the session.
        variables: the variables of the notebook.

    Raises:
        MatchRecognizeError: `--events` does not name a DataFrame, or an argument does not fit the
            language of the text.
    """
    source: Any = spark if arguments.events is None else variables.get(arguments.events)
    if is_frame(source):
        source = to_dataframe(spark, arguments.events, source)
        print_notice(
            f"sent `{arguments.events}` to the engine: {show_count(source.count(), 'row')}"
        )
    if arguments.events and not is_dataframe(source):
        raise errors.unknown_dataframe(name=arguments.events, dataframes=current_surface().frames)

    query: Any = variables.get(text.strip()) if arguments.events else text
    is_pattern = isinstance(query, matchrec.Pattern)
    if not is_pattern:
        query = text
    if is_pattern:
        language = "a Pattern"
    else:
        language = "SQL" if IS_SASE.match(text) is None else "SASE+"
    options = select_options(arguments, language)

    frames = {} if arguments.events else find_frames(text, variables)
    return matchrec.query(
        source,
        query,
        find_values(str(query), variables),
        options=matchrec.Options(algorithm=arguments.algorithm),
        **options,
        **frames,
    )


# The arguments that `matchrec.query` has, too, and for each language the ones that do not fit it.
QUERY_OPTIONS = ("dialect", "order_by", "partition_by", "type_column")
UNFIT_OPTIONS = {
    "SQL": ("order_by", "partition_by", "type_column"),
    "SASE+": ("dialect",),
    "a Pattern": ("dialect", "type_column"),
}


def select_options(arguments: Namespace, language: str) -> dict[str, Any]:
    """Return the arguments that are passed on to `matchrec.query`.

    Args:
        arguments: the arguments of the magic.
        language: the language of the cell, as in `UNFIT_OPTIONS`.

    Raises:
        MatchRecognizeError: one does not fit the language, or `--order-by` is missing.
    """
    options = {}
    for name in QUERY_OPTIONS:
        value = getattr(arguments, name)
        if value is None:
            continue
        if name in UNFIT_OPTIONS[language]:
            raise errors.option_not_for_cell(option=f"--{name.replace('_', '-')}", what=language)
        options[name] = value
    if language != "SQL" and arguments.order_by is None:
        raise errors.order_by_missing_in_cell(events=arguments.events)
    return options


def write_why_line(line: str) -> str:
    """Return the first line of a cell that asks why, made from that line of another cell.

    >>> write_why_line("--events loads --order-by at --coverage"), write_why_line("")
    ('%%matchrec --events loads --order-by at --why', '%%matchrec --why')
    """
    other_arguments = re.sub(r"--(?:coverage|explain|why)(?!\S)", "", line)
    return " ".join(["%%matchrec", *other_arguments.split(), "--why"])


def read_partition(arguments: Sequence[str] | None) -> dict[str, PlainValue] | None:
    """Return the names and values of the PARTITION BY columns, from arguments such as `sym=A`.

    Returns:
        The values, or None if there are no arguments.

    Raises:
        MatchRecognizeError: an argument has no `=`.
    """
    texts = [remove_quotes(argument) for argument in arguments or ()]
    for text in texts:
        if "=" not in text:
            raise errors.partition_without_value(value=text, example=suggest_setting(text))
    values = {}
    for text in texts:
        name, _, value = text.partition("=")
        values[name] = read_value(value)
    return values or None


def load(shell: InteractiveShell) -> None:
    """Load the extension, as `%load_ext matchrec` does.

    Registers the magics, shows our errors without tracebacks, and lets `spark.sql` of every session
    understand the clause.
    """
    shell.register_magics(MatchrecMagics)
    shell.set_custom_exc((MatchRecognizeError, *SESSION_ERRORS, Interrupted), show_failure)
    replace_sql(ALL_SESSIONS, build_answer("spark", NO_OPTIONS))


def unload(shell: InteractiveShell) -> None:
    """Undo everything that `load` did."""
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("matchrec", None)
    shell.set_custom_exc((), None)
    restore_sql(ALL_SESSIONS)
