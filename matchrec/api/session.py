"""`session`: return the running session, or start one that understands the clause."""

from __future__ import annotations

from pyspark.sql import SparkSession

from matchrec.api.sql import enable
from matchrec.arguments import COUNT, checked
from matchrec.errors import calls as errors
from matchrec.spark.sail.start import ENGINE, MEMORY_SIZE, start


@checked(engine=ENGINE.or_none(), cores=COUNT.or_none(), memory=MEMORY_SIZE.or_none())
def session(
    engine: str | None = None, *, cores: int | None = None, memory: str | None = None
) -> SparkSession:
    """Return the running session, or start a new one: on Sail if it is installed, else on Spark.

    The extra `sail` installs Sail, an engine that takes PySpark's calls and SQL, runs
    in this program without Java, and starts in a second (Spark and Sail: docs/reference).

    Before Spark starts, which takes several seconds, matchrec prints a line on stderr.

    A new session ends with the program and has the settings of `tune`. Its `spark.sql` understands
    MATCH_RECOGNIZE, as after `enable`. A session that is already running is returned unchanged.

    Args:
        engine: where a new session runs: `"sail"`, `"spark"`, or the address of a server of Spark
            Connect, `"sc://host:port"`. Without it, SPARK_REMOTE and `spark-submit` decide first,
            then what is installed.
        cores: how many tasks run at once. A server decides this when it starts.
        memory: the most memory that the engine may use, such as `"4g"`. A server decides this when
            it starts.

    Raises:
        MatchRecognizePlanError: a session is already running, and you passed an argument.

    >>> spark = matchrec.session()
    >>> spark.range(3).count()
    3
    """
    if (running := SparkSession.getActiveSession()) is None:
        started = start(engine, None, cores, memory)
        enable(started)
        return started
    asked = {"engine": engine, "cores": cores, "memory": memory}
    if given := [name for name, value in asked.items() if value is not None]:
        raise errors.session_runs(given=given)
    return running
