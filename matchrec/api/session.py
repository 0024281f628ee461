"""`matchrec.session`: a session for whoever has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.arguments import ArgumentKind, checked
from matchrec.errors.calls import session_runs
from matchrec.spark.start import ADDRESS, SAIL, SIZE, SPARK, start

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENGINE = ArgumentKind(
    "'sail', 'spark' or the address of a server",
    lambda one: isinstance(one, str) and (one in (SAIL, SPARK) or bool(ADDRESS.fullmatch(one))),
    "write {argument}='sail', {argument}='spark', or {argument}='sc://localhost:15002'",
)
CORES = ArgumentKind(
    "a number of cores, 1 or more",
    lambda one: isinstance(one, int) and not isinstance(one, bool) and one >= 1,
    "write {argument}=4, or leave it out for all of them",
)
MEMORY_SIZE = ArgumentKind(
    "a size, such as '4g'",
    lambda one: isinstance(one, str) and bool(SIZE.fullmatch(one)),
    "write {argument}='4g' or {argument}='512m', or leave it out",
)


@checked(on=ENGINE.or_none(), cores=CORES.or_none(), memory=MEMORY_SIZE.or_none())
def session(
    on: str | None = None, *, cores: int | None = None, memory: str | None = None
) -> SparkSession:
    """The session that runs, else a new one: on Sail where that is installed, else on Spark.

    `pip install "matchrec[sail]"` brings Sail, an engine that takes PySpark's calls and SQL, runs
    in this program without Java, and starts in a second (Spark and Sail: docs/reference).

    on: the engine of a new session: `"sail"`, `"spark"`, or the address of a server of Spark
    Connect, `"sc://host:port"`. Without it SPARK_REMOTE and `spark-submit` decide before what is
    installed. cores: how many tasks run at once. memory: that the engine takes at most, `"4g"`.
    On a server both are settled when it starts.

    The session ends with the program, and is tuned as by `tune`. Raises MatchRecognizePlanError
    where a session runs already and any of these is asked for.

    >>> spark = matchrec.session()
    >>> spark.range(3).count()
    3
    """
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is None:
        return start(on, None, cores, memory)
    asked = {"on": on, "cores": cores, "memory": memory}
    given = [name for name, value in asked.items() if value is not None]
    if given:
        raise session_runs(given)
    return running
