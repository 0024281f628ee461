"""`install`: `spark.sql` itself understands the clause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matchrec.api.query_call import QueryCall
from matchrec.api.signatures import ARGS, ARGUMENTS, FRAMES
from matchrec.arguments import checked
from matchrec.frontends.sql import Query, may_have_clause
from matchrec.spark.environment import check_session
from matchrec.spark.question import Options
from matchrec.spark.session import Answer, replace_sql, restore_sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@checked(**ARGUMENTS)
def install(
    spark: SparkSession,
    engine: str = "auto",
    *,
    dialect: str = "spark",
    sort: str = "auto",
    max_steps: int | None = None,
) -> None:
    """From now on `spark.sql` understands MATCH_RECOGNIZE, in every session of this application.

    An application is a SparkContext, or the server of Spark Connect. Its sessions are also those of
    `newSession` and, in Classic, of the DataFrames in `foreachBatch`; over Connect the function of
    `foreachBatch` runs in another process and must install by itself. engine, dialect, sort,
    max_steps: as of `sql`.

    Every other query passes through untouched, whatever the dialect. Installing again changes them.

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
    options = Options(engine, sort=sort, max_steps=max_steps)
    replace_sql(spark, answering(dialect, options))


@checked(**ARGUMENTS)
def uninstall(spark: SparkSession) -> None:
    """`spark.sql` is again what it was before `install`; nothing happens without one.

    >>> matchrec.install(spark)
    >>> matchrec.uninstall(spark)
    """
    restore_sql(spark)


def answering(dialect: str, options: Options) -> Answer:
    """What is asked for the result of every query."""

    def sql(
        session: SparkSession, query: Any, args: Any, frames: dict[str, Any]
    ) -> DataFrame | None:
        if not isinstance(query, str):
            return None
        own = dialect if may_have_clause(query) else "spark"  # any other query is Spark's

        call = QueryCall(session, query, args, frames)
        with call.naming_dialect(own):
            return answer(call, call.read(own), options)

    return sql


def answer(call: QueryCall, parsed: Query, options: Options) -> DataFrame | None:
    """The result of a query with clauses, None for any other."""
    if not parsed.sites:
        return None
    ARGS.check("spark.sql", "args", call.args)
    for name, frame in call.frames.items():
        FRAMES.check("spark.sql", name, frame)
    check_session(call.spark)
    return call.evaluation(parsed, options).dataframe()
