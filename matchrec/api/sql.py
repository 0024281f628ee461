"""The public functions for SQL: `sql`, `match_recognize` and `explode_matches`.

`sql` runs a query with clauses in it, and `match_recognize` runs one clause over a DataFrame. Both
build a `Query` and return its DataFrame.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession
from typing_extensions import overload  # in Python 3.10, only this one is found by `help`

from matchrec.api.argument_kinds import ARGUMENTS, NAMED_VALUES
from matchrec.api.frames import Frame, cast_to_dataframe
from matchrec.api.inputs import FrameOrLiteral
from matchrec.api.running_session import with_running_session
from matchrec.api.sql_texts import build_clause_query, build_sql_query
from matchrec.arguments import (
    DATAFRAME,
    SESSION,
    TEXT,
    Arguments,
    DialectName,
    NamedArguments,
    check_arguments,
)
from matchrec.public_names import public
from matchrec.spark.after.matched_rows import explode_rows
from matchrec.spark.request import Options

# The arguments of `sql` and `match_recognize` whose errors say which other function may be meant.
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
            "snowflake", "oracle", "trino", "flink", "bigquery" or "azure". "standard" is Spark SQL
            with the clause of SQL:2016, without matchrec's extensions.
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
