"""The public functions for SQL: `sql`, `match_recognize`, `query` and `explode_matches`.

`sql` runs a query with clauses in it, and `match_recognize` runs one clause over a DataFrame. Both
build a `Query` and return its DataFrame. `query` returns the `Query` itself, in any language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from typing_extensions import overload  # in Python 3.10, only this one is found by `help`

from matchrec.api.argument_kinds import ARGUMENTS, NAMED_VALUES, QUERY, QUERY_INPUT, is_pattern
from matchrec.api.frames import Frame, cast_to_dataframe
from matchrec.api.inputs import ColumnsOrSql, FrameOrLiteral
from matchrec.api.query import Query
from matchrec.api.sql_texts import build_clause_query, build_sql_query, reject_clause_as_query
from matchrec.api.text_kinds import CLAUSE_OR_SASE_START, CLAUSE_START, SASE_START
from matchrec.arguments import (
    DATAFRAME,
    SESSION,
    TEXT,
    Arguments,
    DialectName,
    NamedArguments,
    PatternOutput,
    SaseOutput,
    bind_call,
    check_arguments,
    is_session,
)
from matchrec.errors.calls import missing_query_text, order_by_with_clause
from matchrec.errors.kinds import with_source
from matchrec.errors.machine import missing_session
from matchrec.public_names import public
from matchrec.source import Source, Span
from matchrec.spark.after.expand import explode_rows
from matchrec.spark.request import Options

if TYPE_CHECKING:
    from matchrec.api.event_input import Events
    from matchrec.patterns.stages.builder import Pattern


SESSION_OF_SQL = replace(
    SESSION,
    hint="pass the session: matchrec.session(); a clause over a DataFrame goes to"
    " matchrec.match_recognize(df, clause)",
    find_hint=lambda value: (
        "pass the session first, and then this text" if isinstance(value, str) else None
    ),
)
QUERY_OF_SQL = replace(TEXT, hint='write query="SELECT ..."')
CLAUSE_TEXT = replace(
    TEXT,
    hint='write "ORDER BY ... PATTERN ..."; a Pattern goes to'
    " matchrec.match_pattern(df, pattern, order_by=...)",
)


def with_running_session(function: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    """Let a function with the parameters `spark, query, ...` be called without `spark`."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> DataFrame:
        """Call the function, with the running session if the first argument is a query."""
        args = move_session_to_front(args, kwargs)
        if begins_with_query(args, kwargs):
            args = (find_running_session(), *args)
        elif not args and "spark" not in kwargs:
            # The session may be left out, so the error must be about the missing query.
            kwargs["spark"] = None
        return function(*args, **kwargs)

    return call


def move_session_to_front(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the positional arguments of a call, with the keyword argument `spark` before a query.

    In `sql("SELECT 1", spark=spark)`, the query is the first positional argument, because the
    session may be left out there.

    Args:
        args: positional arguments.
        kwargs: keyword arguments. The function removes `spark` if it returns the session.
    """
    if args and isinstance(args[0], str) and "spark" in kwargs and "query" not in kwargs:
        return (kwargs.pop("spark"), *args)
    return args


def begins_with_query(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Return whether the arguments `spark, query, ...` of a call lack `spark`.

    A text that another text or a session follows was passed as `spark` by mistake. The result is
    False for this call, so that the error is about the argument `spark`.
    """
    if "spark" in kwargs:
        return False
    if not args:
        return "query" in kwargs
    is_misplaced = len(args) > 1 and (isinstance(args[1], str) or is_session(args[1]))
    return isinstance(args[0], str) and not is_misplaced


def find_running_session() -> SparkSession:
    """Return the running session.

    Raises:
        MatchRecognizePlanError: no session is running.
    """
    session = SparkSession.getActiveSession()
    if session is None:
        raise missing_session()
    return session


@overload
def sql(
    spark: SparkSession,
    query: str,
    args: Arguments | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
    **frames: FrameOrLiteral,
) -> DataFrame: ...


@overload
def sql(
    query: str,
    args: Arguments | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
    **frames: FrameOrLiteral,
) -> DataFrame: ...


@public
@with_running_session
@check_arguments(**{**ARGUMENTS, "spark": SESSION_OF_SQL, "query": QUERY_OF_SQL})
def sql(
    spark: SparkSession,
    query: str,
    args: Arguments | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
    **frames: FrameOrLiteral,
) -> DataFrame:
    """Run a Spark SQL query that may contain MATCH_RECOGNIZE clauses, and return its result.

    Args:
        spark: the session. You may leave it out if a session is running.
        query: the text of the query.
        args: a dict with the values of the `:name` parameters, or a list with a value for each `?`.
            None means that the query has no parameters.
        dialect: the product whose SQL the query is written in: "spark", "standard", "databricks",
            "snowflake", "oracle", "trino", "flink", "bigquery" or "azure".
        options: how the query runs. None means the defaults.
        frames: the DataFrames that the query names as `{name}`, as in `spark.sql`. Frames of
            pandas, Polars and Arrow are accepted, too.

    Returns:
        A DataFrame, the same as `query(...).to_df()`. Nothing runs until you call an action.

    Raises:
        MatchRecognizeError: the query has a mistake. For a mistake outside of clauses, the error
            also has the class of Spark's own error, such as `AnalysisException`.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> matchrec.sql(spark, '''
    ...     SELECT 95 - lowest AS rise FROM {ticks} MATCH_RECOGNIZE (
    ...         ORDER BY day
    ...         MEASURES LAST(FALL.price) AS lowest
    ...         PATTERN (FALL+ RISE)
    ...         DEFINE FALL AS price < PREV(price), RISE AS price > PREV(price)
    ...     )''', ticks=ticks).show()
    +----+
    |rise|
    +----+
    |  25|
    +----+
    """
    return build_sql_query(spark, query, args, dialect, options, frames).to_df()


@public
@check_arguments(**{**ARGUMENTS, "clause": CLAUSE_TEXT, "args": NAMED_VALUES})
def match_recognize(
    df: Frame,
    clause: str,
    args: NamedArguments | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
) -> DataFrame:
    """Run a MATCH_RECOGNIZE clause over a DataFrame, and return its rows.

    Args:
        df: a DataFrame of Spark, pandas, Polars or Arrow. A frame of another library than Spark is
            sent to the running session, or to a new one of `matchrec.session()`.
        clause: the text between the parentheses, from PARTITION BY to DEFINE.
        args: a dict with the values of the `:name` parameters in the clause, or None if it has
            none.
        dialect: the product whose SQL the clause is written in, as in `sql`.
        options: how the query runs. None means the defaults.

    Returns:
        The rows of the clause, always as a DataFrame of Spark. Nothing runs until you call an
        action.

    Raises:
        MatchRecognizeError: the clause has a mistake.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> matchrec.match_recognize(ticks, '''
    ...     ORDER BY day
    ...     MEASURES FIRST(day) AS first_day, LAST(price) AS lowest
    ...     PATTERN (FALL+)
    ...     DEFINE FALL AS price < PREV(price)
    ... ''').show()
    +---------+------+
    |first_day|lowest|
    +---------+------+
    |        2|    70|
    +---------+------+
    """
    return build_clause_query(cast_to_dataframe(df), clause, args, dialect, options).to_df()


@public
@check_arguments(df=DATAFRAME, column=TEXT.allow_none())
def explode_matches(df: DataFrame, column: str | None = None) -> DataFrame:
    """Return a row for each row of each match, as ALL ROWS PER MATCH does.

    An empty match has no row.

    Args:
        df: a result that has the rows of each match in an array.
        column: the name of this array. MATCHED_ROWS() in MEASURES makes such a column, and so does
            `match_pattern` for each stage. None means the only column of MATCHED_ROWS().

    Returns:
        The other columns of `df`, then the columns of the matched row that `df` lacks.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> falls = matchrec.match_recognize(ticks, '''
    ...     ORDER BY day
    ...     MEASURES FIRST(price) - LAST(price) AS loss, MATCHED_ROWS() AS rows
    ...     PATTERN (TOP FALL+)
    ...     DEFINE FALL AS price < PREV(price)
    ... ''')
    >>> matchrec.explode_matches(falls.where("loss > 10")).orderBy("day").show()
    +----+---+-----+----------+
    |loss|day|price|classifier|
    +----+---+-----+----------+
    |  20|  1|   90|       TOP|
    |  20|  2|   80|      FALL|
    |  20|  3|   70|      FALL|
    +----+---+-----+----------+
    """
    return explode_rows(df, column)


# `query`: one function for all languages, which returns a query that has not run.


@overload
def query(
    spark: SparkSession,
    query: str,
    args: Arguments | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
    **frames: FrameOrLiteral,
) -> Query: ...


@overload
def query(
    query: str,
    args: Arguments | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
    **frames: FrameOrLiteral,
) -> Query: ...


@overload
def query(
    df: Frame,
    clause: str,
    args: NamedArguments | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
) -> Query: ...


@overload
def query(
    df: Frame,
    text: str,
    args: NamedArguments | None = None,
    *,
    order_by: ColumnsOrSql,
    partition_by: ColumnsOrSql = (),
    type_column: str = "event_type",
    output: SaseOutput = "matches",
    options: Options | None = None,
) -> Query: ...


@overload
def query(
    df: Frame,
    pattern: Pattern,
    args: NamedArguments | None = None,
    *,
    order_by: ColumnsOrSql,
    partition_by: ColumnsOrSql = (),
    output: PatternOutput = "matches",
    timeouts: bool = False,
    options: Options | None = None,
) -> Query: ...


@public
def query(*args: Any, **kwargs: Any) -> Query:  # noqa: D417 -- the overloads have the arguments
    """Return a query that has not run: SQL, a clause, a SASE+ query or a Pattern.

    Its methods return its rows, show how it runs, and show why rows match.

    `query` takes the arguments of one of four functions. The first two arguments decide which:

        a session and SQL text            sql; you may leave out the session if one is running
        a DataFrame and a clause          match_recognize
        a DataFrame and a SASE+ query     match_sase; the text begins with PATTERN SEQ
        a DataFrame and a Pattern         match_pattern

    Args:
        spark: the session. Without it, the running session.
        query: a Spark SQL query that may contain MATCH_RECOGNIZE.
        df: the rows to search: a DataFrame of Spark, or a frame of pandas, Polars or Arrow.
        clause: the text between the parentheses of MATCH_RECOGNIZE.
        text: a SASE+ query.
        pattern: a Pattern.
        args: the values of the parameters, as in `sql`.
        dialect: the product whose SQL the query or the clause is written in, as in `sql`.
        order_by: the columns or SQL expressions that sort the events of SASE+ or a Pattern.
        partition_by: the columns or SQL expressions that partition the events. Without it, all
            events are one partition.
        type_column: the column with the types of events, for SASE+.
        output: what the result of SASE+ or a Pattern contains, as in `match_sase` and
            `match_pattern`.
        timeouts: also return the runs of a Pattern that timed out, as in `match_pattern`.
        options: how the query runs. None means the defaults.
        frames: the DataFrame or value for each `{name}` of the SQL query.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> falls = matchrec.query(ticks, '''
    ...     ORDER BY day MEASURES COUNT(*) AS days
    ...     PATTERN (FALL+) DEFINE FALL AS price < PREV(price)''')
    >>> falls.show()
    +----+
    |days|
    +----+
    |   2|
    +----+
    >>> print(falls.why(row=1))
    PATTERN (FALL+)
    ...
    >>> print(falls.to_sql("snowflake", events="ticks").text)
    SELECT * FROM ticks MATCH_RECOGNIZE (
        ORDER BY day NULLS FIRST MEASURES COUNT(*) AS days
        PATTERN (FALL+) DEFINE FALL AS price < LAG(price))
    """
    args = move_session_to_front(args, kwargs)
    if "df" not in kwargs and begins_with_query(args, kwargs):
        text = args[0] if args else kwargs["query"]
        beginning = CLAUSE_OR_SASE_START.match(text) if isinstance(text, str) else None
        if beginning is not None and beginning["word"].upper() == "SEQ":
            reject_clause_as_query(text)
        if isinstance(text, str) and beginning is None:
            args = (find_running_session(), *args)
    session_or_rows, text_or_pattern = find_first_arguments(args, kwargs)
    if is_session(session_or_rows):
        return build_sql_query(**bind_call(sql, "query", args, kwargs))
    if is_pattern(text_or_pattern):
        return bind_pattern_query(args, kwargs)
    if SASE_START.match(str(text_or_pattern)) or "order_by" in kwargs:
        reject_clause_with_order_by(text_or_pattern)
        return bind_sase_query(args, kwargs)
    QUERY_INPUT.check("`query`", "spark` or `df", session_or_rows)
    if text_or_pattern is None:
        raise missing_query_text()
    QUERY.check("`query`", "query", text_or_pattern)
    return build_clause_query(**bind_call(match_recognize, "query", args, kwargs))


# The keyword arguments of all overloads of `query`, each with its type and its default. `order_by`
# has a default because only SASE+ queries and Patterns have this argument.
KEYWORDS_OF_QUERY = {
    "dialect": ("DialectName", "spark"),
    "options": ("Options | None", None),
    "order_by": ("ColumnsOrSql", ()),
    "partition_by": ("ColumnsOrSql", ()),
    "type_column": ("str", "event_type"),
    "output": ("SaseOutput | PatternOutput", "matches"),
    "timeouts": ("bool", False),
}


def make_query_signature() -> Signature:
    """Return the signature of `query` for completion. `help` shows the overloads.

    The first two arguments are positional, because their names differ between the overloads.
    """
    parameters = [
        Parameter("spark_or_df", Parameter.POSITIONAL_ONLY, annotation="SparkSession | Frame"),
        Parameter("query_or_pattern", Parameter.POSITIONAL_ONLY, annotation="str | Pattern"),
        Parameter(
            "args", Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation="Arguments | None"
        ),
    ]
    parameters += [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=type_)
        for name, (type_, default) in KEYWORDS_OF_QUERY.items()
    ]
    parameters.append(Parameter("frames", Parameter.VAR_KEYWORD, annotation="FrameOrLiteral"))
    return Signature(parameters, return_annotation="Query")


# Editors complete its parameters instead of `*args, **kwargs`: see `matchrec.signatures`.
vars(query)["__signature__"] = make_query_signature()


def find_first_arguments(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the first two arguments of `query`, passed by position or as keywords.

    Returns:
        The session or DataFrame, and the text or Pattern. None for an argument that is missing.
    """
    session_or_rows = find_named(kwargs, "spark", "df")
    text_or_pattern = find_named(kwargs, "query", "clause", "text", "pattern")
    if args:
        session_or_rows = args[0]
    if len(args) > 1:
        text_or_pattern = args[1]
    return session_or_rows, text_or_pattern


def find_named(kwargs: Mapping[str, Any], *names: str) -> Any:
    """Return the argument with the first of these names that is present, or None."""
    for name in names:
        if name in kwargs:
            return kwargs[name]
    return None


def reject_clause_with_order_by(text: Any) -> None:
    """Check that a query with the argument `order_by` is not a clause, which has its own ORDER BY.

    Args:
        text: the query. Anything but a text is checked later.

    Raises:
        MatchRecognizePlanError: the text is a clause.
    """
    beginning = CLAUSE_START.match(text) if isinstance(text, str) else None
    if beginning is not None:
        span = Span(*beginning.span("word"))
        raise with_source(order_by_with_clause(span), Source(text))


# The modules for events are imported by these functions, because queries in SQL do not need them.


def bind_sase_query(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Query:
    """Return the query of a SASE+ text, given the arguments of `query`.

    Raises:
        MatchRecognizeError: an argument is wrong.
        TypeError: the arguments are not the arguments of `match_sase`.
    """
    from matchrec.api.events import match_sase
    from matchrec.api.sase_query import build_sase_query

    arguments = bind_call(match_sase, "query", args, kwargs)
    return build_sase_query(pop_events(arguments), **arguments)


def bind_pattern_query(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Query:
    """Return the query of a Pattern, given the arguments of `query`.

    Raises:
        MatchRecognizeError: an argument is wrong.
        TypeError: the arguments are not the arguments of `match_pattern`.
    """
    from matchrec.api.events import match_pattern
    from matchrec.api.pattern_query import build_pattern_query

    arguments = bind_call(match_pattern, "query", args, kwargs)
    return build_pattern_query(pop_events(arguments), **arguments)


def pop_events(arguments: dict[str, Any]) -> Events:
    """Remove `df`, `order_by` and `partition_by` from the arguments, and return them as events."""
    from matchrec.api.event_input import Events

    df = arguments.pop("df")
    order_by = arguments.pop("order_by")
    partition_by = arguments.pop("partition_by")
    return Events.build(df, order_by, partition_by)
