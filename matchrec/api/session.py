"""`session`: return the running session, or start one that understands the clause."""

from __future__ import annotations

from pyspark.sql import SparkSession

from matchrec.api.sql import enable
from matchrec.arguments import COUNT, check_arguments
from matchrec.errors import machine as errors
from matchrec.spark.sail.start import (
    ENGINE,
    MEMORY_SIZE,
    describe_engine,
    find_unmet_arguments,
    start,
)


@check_arguments(engine=ENGINE.or_none(), cores=COUNT.or_none(), memory=MEMORY_SIZE.or_none())
def session(
    engine: str | None = None, *, cores: int | None = None, memory: str | None = None
) -> SparkSession:
    """Return the running session, or start a new one: on Sail if it is installed, else on Spark.

    The extra `sail` installs Sail, an engine with PySpark's calls and SQL. It runs in this program,
    without Java, and starts in a second. The page "Spark and Sail" of the reference compares both.

    Spark takes several seconds to start, so matchrec prints a line on stderr before.

    A new session ends with the program and has the settings of `tune`. Its `spark.sql` understands
    MATCH_RECOGNIZE, as after `enable`. A session that is already running is returned unchanged, so
    a cell of a notebook can be run again. Its engine and limits must be those that you pass.

    Args:
        engine: where the session runs: `"sail"`, `"spark"`, or the address of a Spark Connect
            server, `"sc://host:port"`. Without it, the running session is returned. If none is
            running, SPARK_REMOTE and `spark-submit` decide first, then what is installed.
        cores: how many tasks run at once. A server decides this when it starts.
        memory: how much memory the engine may use, such as `"4g"`. A server decides this when it
            starts.

    Raises:
        MatchRecognizePlanError: the session that is running has another engine or other limits
            than you pass.

    >>> spark = matchrec.session()
    >>> spark.range(3).count()
    3
    >>> matchrec.session() is spark
    True
    """
    running_session = SparkSession.getActiveSession()
    if running_session is None:
        new_session = start(engine, None, cores, memory)
        enable(new_session)
        return new_session
    unmet = list(find_unmet_arguments(running_session, engine, cores, memory))
    if unmet:
        raise errors.session_already_runs(arguments=unmet, engine=describe_engine(running_session))
    return running_session
