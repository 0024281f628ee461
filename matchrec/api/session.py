"""`session`: return the running session, or start one that understands the clause."""

from __future__ import annotations

from pyspark.sql import SparkSession

from matchrec.arguments import COUNT, check_arguments
from matchrec.errors import machine as errors
from matchrec.loading import pause_garbage_collection
from matchrec.public_names import public
from matchrec.spark.start.engine_choice import ENGINE
from matchrec.spark.start.limits import MEMORY_SIZE, describe_limits
from matchrec.spark.start.running_session import describe_engine, find_unmet_arguments
from matchrec.spark.start.sessions import start_session


@public
@check_arguments(
    engine=ENGINE.allow_none(), cores=COUNT.allow_none(), memory=MEMORY_SIZE.allow_none()
)
def session(
    engine: str | None = None, *, cores: int | None = None, memory: str | None = None
) -> SparkSession:
    """Return the running session, or start a new one: on Sail if it is installed, else on Spark.

    Sail is an engine with PySpark's calls and SQL, which the extra `sail` installs. It runs in this
    program, without Java, and starts in a second. The page *Spark and Sail* of the documentation
    compares both engines. Spark takes several seconds to start, so matchrec first prints a line on
    stderr.

    A new session ends with the program and has the settings of `tune`. Its `spark.sql` understands
    MATCH_RECOGNIZE, as after `enable`. A running session is returned unchanged, so you can run a
    notebook cell again. If you pass an engine or limits, the running session must have them.

    Args:
        engine: where the session runs: `"sail"`, `"spark"`, or the address of a Spark Connect
            server, `"sc://host:port"`. Without it, the running session is returned. If none is
            running, SPARK_REMOTE and `spark-submit` decide first, then what is installed.
        cores: how many tasks run at once. None means one for each core of the machine. It is not
            allowed with the address of a server, or if `spark-submit` has chosen the master.
        memory: a limit such as `"4g"`. On Spark, it is the heap of the JVM. On Sail, it limits the
            memory of Sail's own operators, such as joins. On both engines, the search needs further
            memory. None leaves the limit to the engine. It is not allowed with the address of a
            server, or in a program that `spark-submit` has started.

    Raises:
        MatchRecognizePlanError: the running session has another engine or other limits than you
            pass, or the new session cannot have these limits.
        MatchRecognizeError: the engine cannot start, for example Spark while SPARK_REMOTE is set.

    >>> spark = matchrec.session()
    >>> spark.range(3).count()
    3
    >>> matchrec.session() is spark
    True
    """
    running_session = SparkSession.getActiveSession()
    if running_session is None:
        new_session = start_session(engine, cores=cores, memory=memory)
        # Imported here, because Spark's start loads most of what it imports, while it waits.
        with pause_garbage_collection():
            from matchrec.api.enable import enable

        enable(new_session)
        return new_session
    unmet = list(find_unmet_arguments(running_session, engine, cores, memory))
    if unmet:
        raise errors.session_already_runs(
            arguments=unmet,
            engine=describe_engine(running_session),
            limits=describe_limits(running_session, unmet),
        )
    return running_session
