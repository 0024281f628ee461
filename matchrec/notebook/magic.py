"""`%%matchrec`: the query of a cell, with arguments in its first line."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from pyspark.errors import PySparkException, PythonException

from matchrec.api.questions.coverage import coverage
from matchrec.api.questions.why import why
from matchrec.api.sql import explain, sql
from matchrec.arguments import is_dataframe
from matchrec.charts.over_series import plot
from matchrec.charts.plot import Plot
from matchrec.cli.failures import sentence_of_spark
from matchrec.cli.queries import plain_value_of
from matchrec.errors import MatchRecognizeRunError
from matchrec.errors import pictures as errors
from matchrec.frontends.dialects.products import PRODUCTS
from matchrec.notebook.failures import warnings_told
from matchrec.notebook.session import frames_in, session_of, values_in
from matchrec.notebook.table import first_rows
from matchrec.spark.session import quiet_analysis

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SHOWN_ROWS = 20


@magics_class
class MatchrecMagics(Magics):
    """The magic of the extension."""

    @magic_arguments("matchrec")
    @argument("-o", "--output", metavar="NAME", help="variable that gets the DataFrame")
    @argument("-n", "--limit", type=int, default=SHOWN_ROWS, metavar="N", help="rows shown")
    @argument("--explain", action="store_true", help="how the query runs, in place of its rows")
    @argument("--why", action="store_true", help="why a partition has its matches, or has none")
    @argument("--partition", nargs="+", metavar="NAME=VALUE", default=(), help="which, for --why")
    @argument("--row", nargs="+", metavar="VALUE", help="a starting row by its order, for --why")
    @argument("--coverage", action="store_true", help="how far starting rows come, over all rows")
    @argument(
        "--plot",
        nargs="+",
        metavar="NAME",
        help="rows x y [by]: draw matches over the rows of a table or DataFrame",
    )
    @argument("--dialect", choices=tuple(PRODUCTS), default="spark", help="whose SQL it is")
    @argument("--engine", default="auto", help="auto, backtracking or breadth_first")
    @cell_magic
    def matchrec(self, line: str, cell: str) -> Any:
        """Run a query that may contain MATCH_RECOGNIZE.

        `:name` is the value of the Python variable of that name, `{name}` its DataFrame.
        """
        try:
            asked = parse_argstring(self.matchrec, line)
        except UsageError as error:
            raise errors.wrong_arguments(str(error)) from None
        if asked.limit < 1:
            raise errors.wrong_limit(asked.limit)
        try:
            with quiet_analysis(), warnings_told():
                return self.answer(asked, cell)
        except PySparkException as error:
            carries = MatchRecognizeRunError.from_exception(error) is not None
            if carries or isinstance(error, PythonException):
                raise
            raise UsageError(sentence_of_spark(str(error))) from error

    def answer(self, asked: Namespace, query: str) -> Any:
        """What the cell shows."""
        assert self.shell is not None, "IPython has registered it"
        variables = self.shell.user_ns
        spark = session_of(variables)
        named = frames_in(query, variables)
        options = {name: getattr(asked, name) for name in ("dialect", "engine")}
        values = values_in(query, variables)
        if asked.explain:
            return explain(spark, query, values, **options, **named)
        if asked.why:
            return why(
                spark,
                query,
                values,
                partition=partition_of(asked.partition),
                row=row_of(asked.row),
                dialect=asked.dialect,
                engine=asked.engine,
                **named,
            )
        if asked.coverage:
            return coverage(spark, query, values, dialect=asked.dialect, **named)
        frame = sql(spark, query, values, **options, **named)
        if asked.output:
            variables[asked.output] = frame
        if asked.plot:
            return drawn(frame, asked.plot, variables)
        return first_rows(frame, asked.limit)


def partition_of(given: Sequence[str]) -> dict[str, object] | None:
    """The values of the key columns, by name."""
    for one in given:
        if "=" not in one:
            raise errors.wrong_partition(one)
    named = (one.split("=", 1) for one in given)
    return {name: plain_value_of(value) for name, value in named} or None


def row_of(given: Sequence[str] | None) -> tuple[object, ...] | None:
    """The values of a row's ORDER BY columns."""
    return tuple(map(plain_value_of, given)) if given else None


def drawn(matches: DataFrame, named: list[str], variables: Mapping[str, Any]) -> Plot:
    """The matches over the rows of the first name, which are those of a variable or of a table."""
    if not 3 <= len(named) <= 4:
        raise errors.wrong_plot(named)
    rows, x, y, *by = named
    known: Any = variables.get(rows)
    data = known if is_dataframe(known) else matches.sparkSession.table(rows)
    return plot(matches, data, x=x, y=y, by=by[0] if by else None)
