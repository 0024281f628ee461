"""`query`, `sql`, `match_recognize`: the clause in a query, or over a DataFrame; and `install`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from pyspark.sql import DataFrame, SparkSession

from matchrec.api.clauses import Clause, QueryText
from matchrec.api.dialects import parse_clause_of, parse_query
from matchrec.api.inputs import (
    Arguments,
    Frame,
    Frames,
    NamedValues,
    Terms,
    as_dataframe,
    relation_of,
    runner_for,
)
from matchrec.api.query import OF_RULES, Query, how_to_run
from matchrec.api.signatures import ARGS, ARGUMENTS, FRAMES, NAMED, QUERIED, QUERY, is_pattern
from matchrec.arguments import (
    DATAFRAME,
    SESSION,
    TEXT,
    DialectName,
    PatternForm,
    SaseForm,
    bound,
    checked,
    is_session,
)
from matchrec.errors import calls as errors
from matchrec.errors.kinds import shown_in
from matchrec.frontends.sql.locate import may_have_clause
from matchrec.frontends.sql.lower import lower
from matchrec.source import Source, Span
from matchrec.spark.after.expand import explode_rows
from matchrec.spark.environment import check_session
from matchrec.spark.question import OPTIONS, Options
from matchrec.spark.session import Answer, Runner, replace_sql, restore_sql

if TYPE_CHECKING:
    from matchrec.frontends.pattern.builder import Pattern

BLANKS = r"(\s|--[^\n]*\n|/\*([^*]|\*(?!/))*\*/)*"

# How a SASE+ text begins; in a clause of SQL a parenthesis follows PATTERN.
IS_SASE = re.compile(rf"{BLANKS}PATTERN\s+SEQ\b", re.IGNORECASE)

# How a clause or a SASE+ text begins, and no statement of Spark.
NO_QUERY = re.compile(
    rf"{BLANKS}(?P<word>PARTITION\s+BY|ORDER\s+BY|MEASURES|PATTERN|MATCH_RECOGNIZE)\b",
    re.IGNORECASE,
)
SESSION_OF_SQL = replace(
    SESSION,
    cure="pass the session: matchrec.session(); a clause over a DataFrame goes to"
    " matchrec.match_recognize(df, clause)",
)
CLAUSE_TEXT = replace(
    TEXT,
    cure='write "ORDER BY ... PATTERN ..."; a Pattern goes to'
    " matchrec.detect(df, pattern, order_by=...)",
)


@checked(**{**ARGUMENTS, "spark": SESSION_OF_SQL, "query": TEXT})
def sql(
    spark: SparkSession,
    query: str,
    args: Arguments = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
    **frames: Any,
) -> DataFrame:
    """The result of a Spark SQL query that may contain MATCH_RECOGNIZE clauses, anywhere.

    args: values of `:name` markers. frames: DataFrames that the query names as `{name}`, as in
    `spark.sql`, or frames of pandas, Polars and Arrow. dialect: the product whose SQL the query is:
    "spark", "databricks", "snowflake", "oracle", "trino", "flink", "bigquery" or "azure". options:
    how the query runs.

    Runs no job. Raises MatchRecognizeError for a mistake in a clause, and Spark's own errors
    for the rest of the query. It is the same as `query(...).dataframe()`.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> matchrec.sql(spark, '''
    ...     SELECT 95 - lowest AS rise FROM {ticks} MATCH_RECOGNIZE (
    ...         ORDER BY day
    ...         MEASURES LAST(DOWN.price) AS lowest
    ...         PATTERN (DOWN+ UP)
    ...         DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)
    ...     )''', ticks=ticks).show()
    +----+
    |rise|
    +----+
    |  25|
    +----+
    """
    return of_sql(spark, query, args, dialect, options, frames).dataframe()


@checked(**{**ARGUMENTS, "clause": CLAUSE_TEXT, "args": NAMED})
def match_recognize(
    df: Frame,
    clause: str,
    args: dict[str, Any] | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
) -> DataFrame:
    """The rows of a MATCH_RECOGNIZE clause over a DataFrame.

    df: of Spark, pandas, Polars or Arrow. What is not of Spark is sent to the session that runs, or
    to a new one of `matchrec.session()`; the result is a DataFrame of Spark in any case. clause:
    the text between the parentheses, from PARTITION BY to DEFINE. args: values of its `:name`s.

    Everything else is as for `sql`.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> matchrec.match_recognize(ticks, '''
    ...     ORDER BY day
    ...     MEASURES FIRST(day) AS first_day, LAST(price) AS lowest
    ...     PATTERN (DOWN+)
    ...     DEFINE DOWN AS price < PREV(price)
    ... ''').show()
    +---------+------+
    |first_day|lowest|
    +---------+------+
    |        2|    70|
    +---------+------+
    """
    return of_clause(df, clause, args, dialect, options).dataframe()


@checked(result=DATAFRAME, column=TEXT.or_none())
def rows_of(result: DataFrame, column: str | None = None) -> DataFrame:
    """The rows of matches that come as arrays, one row each, as ALL ROWS PER MATCH gives them.

    column: the array of rows, which MATCHED_ROWS() in MEASURES makes, or `detect` for a stage; None
    for the only column of MATCHED_ROWS(). First come the other columns of the result, then the
    columns of the row that the result lacks. An empty match has no row.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> falls = matchrec.match_recognize(ticks, '''
    ...     ORDER BY day
    ...     MEASURES FIRST(price) - LAST(price) AS loss, MATCHED_ROWS() AS rows
    ...     PATTERN (STRT DOWN+)
    ...     DEFINE DOWN AS price < PREV(price)
    ... ''')
    >>> matchrec.rows_of(falls.where("loss > 10")).orderBy("day").show()
    +----+---+-----+----------+
    |loss|day|price|classifier|
    +----+---+-----+----------+
    |  20|  1|   90|      STRT|
    |  20|  2|   80|      DOWN|
    |  20|  3|   70|      DOWN|
    +----+---+-----+----------+
    """
    return explode_rows(result, column)


# What these functions ask, before they ask for a DataFrame.


def of_sql(  # noqa: PLR0913 -- the arguments of `sql`
    spark: SparkSession,
    query: str,
    args: Arguments,
    dialect: DialectName,
    options: Options | None,
    frames: Frames,
) -> Query:
    """A query of SQL. Raises for what the query does not name."""
    for name in frames:
        if not re.search(rf"{{\s*{re.escape(name)}\b", query):
            raise errors.unused_name(name, ("args", "dialect", "options"), OPTIONS)
    taken = as_dataframes(spark, frames)
    return query_of(spark, query, dialect, how_to_run("sql", options, *OF_RULES), (args, taken))


def as_dataframes(spark: SparkSession, frames: Frames) -> Frames:
    """What a query names as `{name}`, with frames of other libraries as DataFrames of Spark."""
    return {name: as_dataframe(spark, name, frame) for name, frame in frames.items()}


def query_of(
    spark: SparkSession, text: str, dialect: DialectName, options: Options, values: Values
) -> Query:
    args, frames = values

    def read(product: str, how: Options) -> QueryText:
        if no_query := NO_QUERY.match(text):
            call = "sase" if IS_SASE.match(text) else "match_recognize"
            span = Span(*no_query.span("word"))
            raise errors.no_query(span, word=no_query["word"], call=call).located(Source(text))
        parsed = parse_query(spark, text, args, frames, product)
        if parsed.sites or parsed.source.text != text:
            return QueryText(parsed, runner_for(spark, parsed, args, frames), how)
        return QueryText(parsed, Runner(spark), how, partial(spark.sql, text, args, **frames))

    return Query(text, "SQL", dialect, options, spark, read, {})


# The values of a query's markers, and the DataFrames that it names.
Values = tuple[Arguments, Frames]


def of_clause(
    df: DataFrame, clause: str, args: NamedValues, dialect: DialectName, options: Options | None
) -> Query:

    def read(product: str, how: Options) -> Clause:
        node, source = parse_clause_of(df, clause, product)
        with shown_in(source):
            return Clause(lower(node, args or {}), relation_of(df, args), how, source)

    how = how_to_run("match_recognize", options, *OF_RULES)
    return Query(clause, "a clause", dialect, how, df.sparkSession, read, {})


# The same, of which one asks more than a DataFrame.


@overload
def query(
    source: SparkSession,
    query: str,
    args: Arguments = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
    **frames: Any,
) -> Query: ...


@overload
def query(
    source: Frame,
    query: str,
    args: dict[str, Any] | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
) -> Query: ...


@overload
def query(
    source: Frame,
    query: str,
    args: dict[str, Any] | None = None,
    *,
    order_by: Terms,
    partition_by: Terms = (),
    type_column: str = "event_type",
    form: SaseForm = "all",
    options: Options | None = None,
) -> Query: ...


@overload
def query(
    source: Frame,
    query: Pattern,
    args: dict[str, Any] | None = None,
    *,
    order_by: Terms,
    partition_by: Terms = (),
    form: PatternForm = "matches",
    options: Options | None = None,
) -> Query: ...


def query(source: Any, query: Any, *args: Any, **arguments: Any) -> Query:
    """A query that has not run yet: ask for its DataFrame, its plan, or why rows match.

    `source` and `query` take what one of four functions takes, with that function's arguments:

        a session, SQL text               sql
        a DataFrame, a clause             match_recognize
        a DataFrame, a text of SASE+      sase; the text begins with PATTERN SEQ
        a DataFrame, a Pattern            detect

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> falls = matchrec.query(spark, '''
    ...     SELECT * FROM {ticks} MATCH_RECOGNIZE (
    ...         ORDER BY day MEASURES COUNT(*) AS days
    ...         PATTERN (DOWN+) DEFINE DOWN AS price < PREV(price))''', ticks=ticks)
    >>> falls.dataframe().show()
    +----+
    |days|
    +----+
    |   2|
    +----+
    >>> print(falls.why(row=1))
    PATTERN (DOWN+)
    ...
    >>> print(falls.to_sql("snowflake").text)
    <BLANKLINE>
        SELECT * FROM {ticks} MATCH_RECOGNIZE (
            ORDER BY day NULLS FIRST MEASURES COUNT(*) AS days
    ...
    """
    given = (source, query, *args)
    if is_session(source):
        return of_sql(**bound(sql, "query", given, arguments))
    if is_pattern(query) or IS_SASE.match(str(query)) or "order_by" in arguments:
        from matchrec.api import events  # of no use in SQL

        function: Callable[..., Any] = events.detect if is_pattern(query) else events.sase
        make: Callable[..., Query] = events.of_pattern if is_pattern(query) else events.of_sase
        found = bound(function, "query", given, arguments)
        streams = (found.pop(name) for name in ("df", "order_by", "partition_by"))
        return make(events.Events.of(*streams), **found)
    QUERIED.check("`query`", "source", source)
    QUERY.check("`query`", "query", query)
    return of_clause(**bound(match_recognize, "query", given, arguments))


# `spark.sql` itself understands the clause.


@checked(**ARGUMENTS)
def install(
    spark: SparkSession, *, dialect: DialectName = "spark", options: Options | None = None
) -> None:
    """From now on `spark.sql` understands MATCH_RECOGNIZE, in every session of this application.

    An application is a SparkContext, or the server of Spark Connect. Its sessions include those of
    `newSession` and, in Classic, of the DataFrames in `foreachBatch`. Over Connect the function of
    `foreachBatch` runs in another process and must install by itself. dialect, options: as
    for `sql`, but without counters, which belong to one query. If you install again, these change.

    Every query without a clause passes through untouched, whatever the dialect.

    >>> matchrec.install(spark)
    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> spark.sql('''SELECT * FROM {ticks} MATCH_RECOGNIZE (
    ...     ORDER BY day
    ...     MEASURES FIRST(day) AS first_day, LAST(price) AS lowest
    ...     PATTERN (DOWN+)
    ...     DEFINE DOWN AS price < PREV(price)
    ... )''', ticks=ticks).show()
    +---------+------+
    |first_day|lowest|
    +---------+------+
    |        2|    70|
    +---------+------+
    >>> matchrec.uninstall(spark)
    """
    check_session(spark)
    replace_sql(spark, answering(dialect, how_to_run("install", options, "counters", *OF_RULES)))


@checked(**ARGUMENTS)
def uninstall(spark: SparkSession) -> None:
    """Makes `spark.sql` again what it was before `install`. Without an `install`, does nothing.

    >>> matchrec.install(spark)
    >>> matchrec.uninstall(spark)
    """
    restore_sql(spark)


def answering(dialect: DialectName, options: Options) -> Answer:
    """What is asked for the result of every query: None for what is Spark's alone."""

    def answer(session: SparkSession, query: Any, args: Any, frames: Frames) -> DataFrame | None:
        if not isinstance(query, str):
            return None
        own: DialectName = "spark"
        if may_have_clause(query):
            own, frames = dialect, as_dataframes(session, frames)
        asked = query_of(session, query, own, options, (args, frames))
        with asked._naming_dialect(), asked._reading(options) as reading:
            if not reading.names:
                return None
            ARGS.check("`spark.sql`", "args", args)
            for name, frame in frames.items():
                FRAMES.check("`spark.sql`", name, frame)
            check_session(session)
            return asked._result(reading)

    return answer
