"""`session`: return the running session, or start one that understands the clause."""

from __future__ import annotations

from pyspark.sql import SparkSession

from matchrec.api.sql import enable
from matchrec.arguments import COUNT, check_arguments
from matchrec.errors import machine as errors
from matchrec.spark.sail.start import ENGINE, MEMORY_SIZE, start


@check_arguments(engine=ENGINE.or_none(), cores=COUNT.or_none(), memory=MEMORY_SIZE.or_none())
def session(
    engine: str | None = None, *, cores: int | None = None, memory: str | None = None
) -> SparkSession:
    """Return the running session, or start a new one: on Sail if it is installed, else on Spark.

    The extra `sail` installs Sail, an engine with PySpark's calls and SQL. It runs in this program,
    without Java, and starts in a second. The page "Spark and Sail" of the reference compares both.

    Spark takes several seconds to start, so matchrec prints a line on stderr before.

    A new session ends with the program and has the settings of `tune`. Its `spark.sql` understands
    MATCH_RECOGNIZE, as after `enable`. A session that is already running is returned unchanged.

    Args:
        engine: where a new session runs: `"sail"`, `"spark"`, or the address of a Spark Connect
            server, `"sc://host:port"`. Without it, SPARK_REMOTE and `spark-submit` decide first,
            then what is installed.
        cores: how many tasks run at once. A server decides this when it starts.
        memory: how much memory the engine may use, such as `"4g"`. A server decides this when it
            starts.

    Raises:
        MatchRecognizePlanError: a session is already running, and you passed an argument.

    >>> spark = matchrec.session()
    >>> spark.range(3).count()
    3
    """
    running_session = SparkSession.getActiveSession()
    if running_session is None:
        new_session = start(engine, None, cores, memory)
        enable(new_session)
        return new_session
    arguments = {"engine": engine, "cores": cores, "memory": memory}
    passed = [name for name, value in arguments.items() if value is not None]
    if passed:
        raise errors.session_already_runs(arguments=passed)
    return running_session
