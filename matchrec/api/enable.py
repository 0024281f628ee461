"""`enable` and `disable`: let Spark's own `spark.sql` run queries with clauses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from matchrec.api.argument_kinds import ARGUMENTS, HOLE_VALUE, PARAMETER_VALUES
from matchrec.api.dialects import has_clause_in_dialect
from matchrec.api.front_end import resolve_options
from matchrec.api.inputs import FramesByName
from matchrec.api.query import Query, run_clauses
from matchrec.api.sql_texts import SqlText, convert_frames
from matchrec.arguments import Arguments, DialectName, check_arguments
from matchrec.public_names import public
from matchrec.spark.environment import check_session
from matchrec.spark.request import Options
from matchrec.spark.sql_replacement import SqlHandler, replace_sql, restore_sql


@public
@check_arguments(**ARGUMENTS)
def enable(
    spark: SparkSession, *, dialect: DialectName = "spark", options: Options | None = None
) -> None:
    """Let `spark.sql` understand MATCH_RECOGNIZE, in every session of this application.

    An application is a SparkContext, or the Spark Connect server. Its sessions include the sessions
    that `newSession` returns. If Spark runs in this program, they also include the sessions of the
    DataFrames in `foreachBatch`. Over Spark Connect, the function of `foreachBatch` runs in another
    process and must call `enable` itself. A second call of `enable` replaces the dialect and the
    options of the first.

    A query without a clause is passed to Spark unchanged, whatever the dialect.

    Args:
        spark: any session of the application.
        dialect: the product whose SQL the queries are written in, as in `sql`.
        options: how the queries run. None means the defaults. Counters are not allowed, because
            they belong to one query.

    >>> matchrec.enable(spark)
    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> spark.sql('''SELECT * FROM {ticks} MATCH_RECOGNIZE (
    ...     ORDER BY day
    ...     MEASURES FIRST(day) AS first_day, LAST(price) AS lowest
    ...     PATTERN (FALL+)
    ...     DEFINE FALL AS price < PREV(price)
    ... )''', ticks=ticks).show()
    +---------+------+
    |first_day|lowest|
    +---------+------+
    |        2|    70|
    +---------+------+
    >>> matchrec.disable(spark)
    """
    check_session(spark)
    resolved_options = resolve_options("enable", options, unsupported=("counters",))
    replace_sql(spark, build_sql_handler(dialect, resolved_options))


@public
@check_arguments(**ARGUMENTS)
def disable(spark: SparkSession) -> None:
    """Restore `spark.sql` as it was before `enable`. Do nothing if `enable` was not called.

    Args:
        spark: any session of the application.

    >>> matchrec.enable(spark)
    >>> matchrec.disable(spark)
    """
    restore_sql(spark)


def build_sql_handler(dialect: DialectName, options: Options) -> SqlHandler:
    """Return the function that `spark.sql` calls first for each query once `enable` was called.

    Args:
        dialect: the product whose SQL the queries with clauses are written in.
        options: how these queries run.
    """

    def handle(
        session: SparkSession, query: Any, args: Any, frames: FramesByName
    ) -> DataFrame | None:
        """Return the result of a query; None for a query without a clause, which Spark runs."""
        if not isinstance(query, str):
            return None
        # Spark checks the arguments of a query without a clause itself.
        query_dialect: DialectName = "spark"
        known_args: Arguments | None = None
        if has_clause_in_dialect(session, query, dialect):
            query_dialect = dialect
            known_args = dict(args) if isinstance(args, Mapping) else args
            PARAMETER_VALUES.check("`spark.sql`", "args", known_args)
            frames = convert_frames(session, frames)
            for name, frame in frames.items():
                HOLE_VALUE.check("`spark.sql`", name, frame)
        sql_query = Query(
            text=query,
            language="SQL",
            dialect=query_dialect,
            options=options,
            _front_end=SqlText(session, query, known_args, frames),
        )
        return run_clauses(sql_query)

    return handle
