"""`install`: `spark.sql` itself understands the clause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matchrec.api.signatures import ARGS, ARGUMENTS, FRAMES
from matchrec.api.sql import query_of
from matchrec.arguments import DialectName, checked
from matchrec.frontends.sql.locate import may_have_clause
from matchrec.spark.environment import check_session
from matchrec.spark.question import NO_OPTIONS, Options
from matchrec.spark.session import Answer, replace_sql, restore_sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@checked(**ARGUMENTS)
def install(
    spark: SparkSession, *, dialect: DialectName = "spark", options: Options | None = None
) -> None:
    """From now on `spark.sql` understands MATCH_RECOGNIZE, in every session of this application.

    An application is a SparkContext, or the server of Spark Connect. Its sessions are also those of
    `newSession` and, in Classic, of the DataFrames in `foreachBatch`; over Connect the function of
    `foreachBatch` runs in another process and must install by itself. dialect, options: as
    of `sql`, but for counters, which are of one query.

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
    how = options or NO_OPTIONS
    how.check_unused("install", "counters", "on_error", "event_columns")
    replace_sql(spark, answering(dialect, how))


@checked(**ARGUMENTS)
def uninstall(spark: SparkSession) -> None:
    """`spark.sql` is again what it was before `install`; nothing happens without one.

    >>> matchrec.install(spark)
    >>> matchrec.uninstall(spark)
    """
    restore_sql(spark)


def answering(dialect: DialectName, options: Options) -> Answer:
    """What is asked for the result of every query: None for what is Spark's alone."""

    def sql(
        session: SparkSession, query: Any, args: Any, frames: dict[str, Any]
    ) -> DataFrame | None:
        if not isinstance(query, str):
            return None
        own: DialectName = dialect if may_have_clause(query) else "spark"
        asked = query_of(session, query, own, options, (args, frames))
        with asked._naming_dialect(), asked._reading(options) as reading:
            if not reading.names:
                return None
            ARGS.check("spark.sql", "args", args)
            for name, frame in frames.items():
                FRAMES.check("spark.sql", name, frame)
            check_session(session)
            return asked._result(reading)

    return sql
