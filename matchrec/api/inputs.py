"""The inputs of a query: its rows, the values of its parameters, and the DataFrames that it names.

Users pass SQL texts, Columns, values and DataFrames. The functions of this module check and convert
these arguments. Frames of other libraries have been converted before, by `frames.to_dataframe`.

    from                       by                 to
    order_by, partition_by     write_terms        SQL texts
    a DataFrame                build_relation     the `Relation` that a clause reads
    args and frames            build_runner       the `Runner` of the parts of a query
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql import Column, DataFrame, SparkSession

from matchrec.arguments import Arguments, NamedArguments, is_dataframe
from matchrec.errors import frames as errors
from matchrec.errors.kinds import with_source
from matchrec.errors.machine import stopped_session
from matchrec.errors.parameters import wrong_number_of_values
from matchrec.errors.wording import describe_value, show_count
from matchrec.plan.parameters import name_parameter
from matchrec.plan.templates import View
from matchrec.plan.text import quote_name
from matchrec.spark.backends import find_backend, make_runner
from matchrec.spark.relation import Relation
from matchrec.spark.runner import Runner
from matchrec.spark.session import is_stopped, shares_views
from matchrec.syntax.locate import QueryNode
from matchrec.syntax.query_pieces import fill_frames
from matchrec.syntax.tokens import SPARK, QuoteDialect

if TYPE_CHECKING:
    from matchrec.api.frames import Frame

# An argument that sorts or divides rows: SQL over one row, a Column that names a column of the
# DataFrame, or several of both.
ColumnsOrSql: TypeAlias = "str | Column | Sequence[str | Column]"

# A value that is written into the text of a query.
LiteralValue: TypeAlias = str | bool | int | float | Decimal

# A value that may replace `{name}` in a query: a frame, or what is written into the text.
FrameOrLiteral: TypeAlias = "Frame | Column | LiteralValue | Sequence[LiteralValue]"


def find_quote_dialect(spark: SparkSession, *texts: object) -> QuoteDialect:
    """Return what double quotes enclose in texts of a session: strings or names.

    The settings of the session are read only if a text has double quotes.
    """
    if not any('"' in str(text) for text in texts):
        return SPARK
    settings = make_runner(spark).settings
    # Spark reads the second setting only in ANSI mode.
    for setting in ("spark.sql.ansi.enabled", "spark.sql.ansi.doubleQuotedIdentifiers"):
        if settings[setting] != "true":
            return SPARK
    return QuoteDialect.QUOTED_NAMES


def write_terms(df: DataFrame, argument: str, terms: ColumnsOrSql) -> list[str]:
    """Return the SQL texts and Columns of an argument as SQL texts.

    Args:
        df: the DataFrame that the Columns belong to.
        argument: the name of the argument, for the error.
        terms: the value of the argument.

    Raises:
        MatchRecognizePlanError: a Column is computed, so it does not name a column of `df`.
    """
    texts = []
    for term in terms if isinstance(terms, list | tuple) else (terms,):
        if isinstance(term, str):
            texts.append(term)
            continue
        column_text = str(term).removeprefix("Column<'").removesuffix("'>")
        name = find_column_name(column_text, df.columns)
        if name is None:
            raise errors.computed_column(argument=argument, column=column_text)
        texts.append(quote_name(name))
    return texts


def find_column_name(column_text: str, names: Sequence[str]) -> str | None:
    """Return the name of the column that a Column stands for; None if it is anything else.

    Only the printed form of a Column shows what it is. A column is printed as `at` or, after
    `df.alias("t")`, as `t.at`. A field of a struct is printed as `place.at`, and is not a column.

    Args:
        column_text: the printed form of the Column.
        names: the names of the columns of the DataFrame.

    >>> texts = ("at", "t.at", "place.at", "upper(at)")
    >>> [find_column_name(text, ["at", "place"]) for text in texts]
    ['at', 'at', None, None]
    """
    if column_text in names:
        return column_text
    qualifier, _, name = column_text.rpartition(".")
    is_field = qualifier.split(".")[0].lower() in {column.lower() for column in names}
    return name if name in names and not is_field else None


def build_relation(df: DataFrame, args: NamedArguments | None = None) -> Relation:
    """Return a DataFrame as the input of a clause.

    Args:
        df: the DataFrame.
        args: the values of the `:name` parameters of the clause.
    """
    backend = find_backend(df.sparkSession)
    rows = backend.keep_sent_rows(df)
    runner = Runner(backend, None if args is None else dict(args), {"df": rows})
    return Relation(runner, (View("df"),), create_rows=lambda: rows)


# The DataFrames, Columns and values that a query names as `{name}`, by their names.
FramesByName = dict[str, Any]


def build_runner(
    spark: SparkSession, query: QueryNode, args: Arguments | None, frames: FramesByName
) -> Runner:
    """Return the object that runs the parts of a query.

    Raises:
        MatchRecognizePlanError: the values do not fit the parameters, or a clause reads a `{name}`
            that is not a DataFrame of this session.
    """
    check_frames(spark, query, frames)
    values = name_values(query, args)
    return Runner(find_backend(spark), values, frames, partial(fill_frames, frames=frames))


def check_frames(spark: SparkSession, query: QueryNode, frames: FramesByName) -> None:
    """Check the values of the `{name}`s of a query.

    Raises:
        MatchRecognizePlanError: the input of a clause is not a DataFrame, or a DataFrame is of
            another session.
    """
    starts_of_inputs = {site.relation.start for site in query.sites}
    for name, span in query.frames:
        frame = frames[name]
        if is_dataframe(frame):
            if shares_views(spark, frame.sparkSession):
                continue
            if is_stopped(frame.sparkSession):
                raise stopped_session()
            raise with_source(errors.dataframe_of_another_session(span, name=name), query.source)
        if span.start in starts_of_inputs:
            error = errors.not_a_dataframe(span, name=name, value=describe_value(frame))
            raise with_source(error, query.source)


def name_values(query: QueryNode, args: Arguments | None) -> dict[str, Any] | None:
    """Return the values of a query's parameters, with their names as keys.

    The values of `?` get names, because the query is run in parts, and each part has only some of
    the parameters.

    Raises:
        MatchRecognizePlanError: there are more or fewer values than positional parameters.
    """
    check_positional_values(query, args)
    if isinstance(args, list):
        names = [name_parameter(parameter) for parameter in query.positional_parameters]
        return dict(zip(names, args, strict=True))
    return None if args is None else dict(args)


def check_positional_values(query: QueryNode, args: Arguments | None) -> None:
    """Check that `args` is a list with a value for each `?` of a query, if it has some.

    Raises:
        MatchRecognizePlanError: there are more or fewer values than positional parameters.
    """
    parameters = query.positional_parameters
    values = args if isinstance(args, list) else []
    if len(values) == len(parameters):
        return
    if isinstance(args, Mapping):
        problem = "is a dict"
    elif values:
        problem = f"has {show_count(len(values), 'value')}"
    else:
        problem = "has no values"
    first_without_value = parameters[len(values)] if len(values) < len(parameters) else None
    error = wrong_number_of_values(problem, len(parameters), first_without_value)
    raise with_source(error, query.source)
