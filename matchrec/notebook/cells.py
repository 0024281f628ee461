"""Run a cell: build its query, and return the first rows or, with arguments, an answer about it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import matchrec
from matchrec.api.frames import to_dataframe
from matchrec.api.text_kinds import SASE_START
from matchrec.arguments import is_dataframe, is_foreign_table
from matchrec.cli.query_sources import QueryLanguage
from matchrec.cli.rows import fetch_first_texts
from matchrec.errors import cells as errors
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import show_count
from matchrec.notebook.arguments import CellArguments
from matchrec.notebook.messages import print_notice
from matchrec.notebook.result import Result
from matchrec.notebook.variables import find_frames, find_values
from matchrec.spark.sql_replacement import find_plain_sql
from matchrec.syntax.locate import may_have_clause

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The arguments that `matchrec.query` gets.
QUERY_ARGUMENTS = ("dialect", "order_by", "partition_by", "type_column")

# For each language, the arguments that it does not accept.
UNFIT_ARGUMENTS = {
    QueryLanguage.SQL: ("order_by", "partition_by", "type_column"),
    QueryLanguage.SASE: ("dialect",),
    QueryLanguage.PATTERN: ("dialect", "type_column"),
}


def run_cell(
    arguments: CellArguments, text: str, spark: SparkSession, variables: dict[str, Any]
) -> Any:
    """Return the output of a cell: the first rows of its query, or an answer about the query.

    Args:
        arguments: the arguments of the magic.
        text: the query, or the name of a variable with a Pattern.
        spark: the session.
        variables: the variables of the notebook. `--output` sets one of them in place, to the
            DataFrame of the result.

    Returns:
        An object that the notebook shows: a `Result`, or what a method of `Query` returns.

    Raises:
        MatchRecognizeError: an argument or the query has a mistake.
    """
    query = build_query(arguments, text, spark, variables)
    if arguments.output:
        variables[arguments.output] = query.to_df()
    if arguments.explain:
        return query.explain()
    if arguments.why:
        return query.why(partition=arguments.read_partition(), row=arguments.read_row())
    if arguments.coverage:
        return query.coverage()
    # A plot needs `to_df`, too: `to_df` issues the warnings about the query, and `plot` does not.
    frame = variables[arguments.output] if arguments.output else query.to_df()
    if arguments.plot:
        return plot_matches(query, arguments.plot, arguments.between)
    has_matches = bool(arguments.events) or may_have_clause(text)
    return fetch_result(frame, arguments.limit, has_matches=has_matches)


def plot_matches(
    query: matchrec.Query, columns: list[str], between: list[str] | None
) -> matchrec.Plot:
    """Return the picture of the matches over the input rows.

    Args:
        query: the query.
        columns: the columns for x and y and, if the user wants series, for the series.
        between: the two result columns with the first and the last x of a match; None if
            `Query.plot` must find these columns.

    Raises:
        MatchRecognizeError: there are fewer than two or more than three columns.
    """
    if not 2 <= len(columns) <= 3:
        names = show_count(len(columns), "name")
        raise errors.wrong_plot_columns(value=" ".join(columns), names=names)
    x, y = columns[:2]
    series = columns[2] if len(columns) == 3 else None
    if between is None:
        return query.plot(x=x, y=y, by=series)
    first, last = between
    return query.plot(x=x, y=y, by=series, between=(first, last))


def fetch_result(frame: DataFrame, limit: int, *, has_matches: bool) -> Result:
    """Return the first rows of a DataFrame, as the notebook shows them.

    Args:
        frame: the result of the query.
        limit: how many rows are shown. One more row is read, to see whether there are more.
        has_matches: whether the rows of the result come from matches, so that the result may be
            empty because nothing matched.
    """
    rows = [
        tuple("NULL" if value is None else value for value in row)
        for row in fetch_first_texts(frame, limit)
    ]
    return Result(
        dataframe=frame,
        names=tuple(frame.columns),
        rows=tuple(rows[:limit]),
        has_more_rows=len(rows) > limit,
        has_matches=has_matches,
    )


def build_query(
    arguments: CellArguments, text: str, spark: SparkSession, variables: Mapping[str, Any]
) -> matchrec.Query:
    """Return the query of a cell, given the arguments of `run_cell`.

    Raises:
        MatchRecognizeError: `--events` does not name a DataFrame, an argument does not fit the
            language of the text, or a name in braces is not allowed.
    """
    if arguments.events is None:
        source: SparkSession | DataFrame = spark
        content: str | matchrec.Pattern = text
        frames = find_frames(text, variables)
        check_names_in_braces(frames, spark)
    else:
        source = find_events(arguments.events, spark, variables)
        pattern = variables.get(text.strip())
        content = pattern if isinstance(pattern, matchrec.Pattern) else text
        frames = {}
    query_arguments = select_query_arguments(arguments, find_language(content))
    values = find_values(str(content), variables)
    options = matchrec.Options(algorithm=arguments.algorithm)
    query: matchrec.Query = matchrec.query(
        source, content, values, options=options, **query_arguments, **frames
    )
    return query


def check_names_in_braces(names: Iterable[str], spark: SparkSession) -> None:
    """Check that no name in braces is an argument of `matchrec.sql` or of PySpark's `sql`.

    Frames are keyword arguments of `matchrec.query`, which passes them on to `matchrec.sql` and to
    PySpark's `sql`. So the frame `{options}` would be taken for the argument `options`.

    Raises:
        MatchRecognizeError: a name is such an argument.
    """
    functions = {
        "matchrec.sql": list_argument_names(matchrec.sql),
        "SparkSession.sql": list_argument_names(find_plain_sql(spark)) | {"self"},
    }
    for name in names:
        for function, arguments in functions.items():
            if name in arguments:
                raise errors.argument_name_in_braces(name=name, function=function)


def list_argument_names(function: Callable[..., Any]) -> set[str]:
    """Return the names of the arguments of a function, without `**frames`."""
    parameters = inspect.signature(function).parameters.values()
    return {
        parameter.name
        for parameter in parameters
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }


def find_events(name: str, spark: SparkSession, variables: Mapping[str, Any]) -> DataFrame:
    """Return the DataFrame in the variable that `--events` names.

    A table of pandas, Polars or Arrow is sent to the engine, and a notice says so.

    Raises:
        MatchRecognizeError: there is no such variable, or it holds no DataFrame.
    """
    events: Any = variables.get(name)
    if is_foreign_table(events):
        events = to_dataframe(spark, name, events)
        print_notice(f"sent `{name}` to the engine: {show_count(events.count(), 'row')}")
    if not is_dataframe(events):
        raise errors.unknown_dataframe(name=name, dataframes=current_surface().notebook_frames)
    frame: DataFrame = events
    return frame


def find_language(content: str | matchrec.Pattern) -> QueryLanguage:
    """Return the language of a query. A clause over a DataFrame is SQL, too."""
    if isinstance(content, matchrec.Pattern):
        return QueryLanguage.PATTERN
    return QueryLanguage.SASE if SASE_START.match(content) else QueryLanguage.SQL


def select_query_arguments(arguments: CellArguments, language: QueryLanguage) -> dict[str, Any]:
    """Return the arguments that the user passed for `matchrec.query`, by their names.

    Raises:
        MatchRecognizeError: an argument does not fit the language, or `--order-by` is missing.
    """
    selected = {}
    for name in QUERY_ARGUMENTS:
        value = getattr(arguments, name)
        if value is None:
            continue
        if name in UNFIT_ARGUMENTS[language]:
            option = f"--{name.replace('_', '-')}"
            raise errors.option_not_for_cell(option=option, what=language.display_name)
        selected[name] = value
    if language is not QueryLanguage.SQL and arguments.order_by is None:
        raise errors.order_by_missing_in_cell(events=arguments.events or "NAME")
    return selected
