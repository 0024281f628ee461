"""`query`: one public function for all languages, which returns a `Query` that has not run.

`query` passes its arguments on to the function that builds the queries of one language. The first
two arguments, a session or rows and a text or Pattern, decide which function that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession
from typing_extensions import overload  # in Python 3.10, only this one is found by `help`

from matchrec.api.argument_kinds import QUERY, QUERY_INPUT, is_pattern
from matchrec.api.frames import Frame
from matchrec.api.inputs import ColumnsOrSql, FrameOrLiteral
from matchrec.api.query import Query
from matchrec.api.running_session import (
    find_running_session,
    lacks_only_session,
    move_session_to_front,
)
from matchrec.api.sql import match_recognize, sql
from matchrec.api.sql_texts import build_clause_query, build_sql_query, reject_clause_as_query
from matchrec.api.text_kinds import CLAUSE_OR_SASE_START, CLAUSE_START, SASE_START
from matchrec.arguments import (
    Arguments,
    DialectName,
    NamedArguments,
    PatternOutput,
    SaseOutput,
    bind_call,
    is_session,
)
from matchrec.errors.calls import missing_query_text, order_by_with_clause
from matchrec.errors.kinds import with_source
from matchrec.public_names import public
from matchrec.source import Source, Span
from matchrec.spark.request import Options

if TYPE_CHECKING:
    from matchrec.api.event_input import Events
    from matchrec.patterns.stages.builder import Pattern


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
    args = insert_running_session(args, kwargs)
    session_or_rows, text_or_pattern = find_first_arguments(args, kwargs)
    if is_session(session_or_rows):
        return build_sql_query(**bind_call(sql, "query", args, kwargs))
    if is_pattern(text_or_pattern):
        return bind_pattern_query(args, kwargs)
    if SASE_START.match(str(text_or_pattern)) or "order_by" in kwargs:
        reject_clause_with_order_by(text_or_pattern)
        return bind_sase_query(args, kwargs)
    # The message puts backticks around the name of the argument, which may be either of two.
    QUERY_INPUT.check("`query`", "spark` or `df", session_or_rows)
    if text_or_pattern is None:
        raise missing_query_text()
    QUERY.check("`query`", "query", text_or_pattern)
    return build_clause_query(**bind_call(match_recognize, "query", args, kwargs))


def make_keyword(name: str, annotation: str, default: object) -> Parameter:
    """Return a parameter that is passed by its name."""
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


# The parameters of all overloads of `query`. The first two are positional, because their names
# differ between the overloads. `order_by` has a default, because SQL and clauses do not have it.
QUERY_PARAMETERS = (
    Parameter("spark_or_df", Parameter.POSITIONAL_ONLY, annotation="SparkSession | Frame"),
    Parameter("query_or_pattern", Parameter.POSITIONAL_ONLY, annotation="str | Pattern"),
    Parameter("args", Parameter.POSITIONAL_OR_KEYWORD, annotation="Arguments | None", default=None),
    make_keyword("dialect", "DialectName", "spark"),
    make_keyword("options", "Options | None", None),
    make_keyword("order_by", "ColumnsOrSql", ()),
    make_keyword("partition_by", "ColumnsOrSql", ()),
    make_keyword("type_column", "str", "event_type"),
    make_keyword("output", "SaseOutput | PatternOutput", "matches"),
    make_keyword("timeouts", "bool", False),
    Parameter("frames", Parameter.VAR_KEYWORD, annotation="FrameOrLiteral"),
)

# Editors complete these parameters instead of `*args, **kwargs`: see `matchrec.signatures`. `help`
# shows the overloads.
vars(query)["__signature__"] = Signature(QUERY_PARAMETERS, return_annotation="Query")


def insert_running_session(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the positional arguments of `query`, with the running session before a SQL query.

    The other languages need a DataFrame instead of a session, so their arguments are not changed.

    Raises:
        MatchRecognizePlanError: no session is running, or the only argument is a SASE+ text without
            the word PATTERN.
    """
    if "df" in kwargs or not lacks_only_session(args, kwargs):
        return args
    text = args[0] if args else kwargs["query"]
    if not isinstance(text, str):
        return args
    beginning = CLAUSE_OR_SASE_START.match(text)
    if beginning is None:
        return (find_running_session(), *args)
    if beginning["word"].upper() == "SEQ":
        reject_clause_as_query(text)
    return args


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
