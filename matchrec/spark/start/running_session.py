"""Compare a running session with the arguments of `matchrec.session`, and describe its engine."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

from pyspark.sql import SparkSession

from matchrec.spark.backends import find_backend
from matchrec.spark.sail import server
from matchrec.spark.session import find_application, is_connect
from matchrec.spark.start.addresses import find_host_and_port
from matchrec.spark.start.engine_names import SAIL, SPARK
from matchrec.spark.start.limits import find_limits, read_memory_size


def find_unmet_arguments(
    session: SparkSession, engine: str | None, cores: int | None, memory: str | None
) -> Iterator[str]:
    """Yield the names of the arguments that a running session does not fulfil.

    Args:
        session: the running session.
        engine: the engine that the caller asks for, if any.
        cores: the number of cores that the caller asks for, if any.
        memory: the memory that the caller asks for, if any.
    """
    limits = find_limits(session)
    if engine is not None and not runs_on(session, engine):
        yield "engine"
    if cores is not None and cores != limits.cores:
        yield "cores"
    if memory is not None and read_memory_size(memory) != limits.memory:
        yield "memory"


def runs_on(session: SparkSession, engine: str) -> bool:
    """Return whether a session runs on an engine.

    Args:
        session: the session.
        engine: `sail`, `spark`, or the address of a server. A session on a server runs on two of
            them: the address, and the engine of the server.
    """
    if engine in (SAIL, SPARK):
        return find_backend(session).engine.lower() == engine
    if not is_connect(session):
        return False
    session_address = str(find_application(session))
    return find_host_and_port(session_address) == find_host_and_port(engine)


def describe_engine(session: SparkSession) -> str:
    """Describe the engine of a session: `Spark 4.0.1, in this program`."""
    if find_application(session) in server.started_applications:
        return f"Sail {version('pysail')}, in this program"
    if is_connect(session):
        return f"the server at {find_application(session)}"
    return f"Spark {session.version}, in this program"
