"""Find the server of the engine behind a gateway, or start a session that has one.

The arguments `spark` and `engine` of `serve` decide which server is used:

    a session of Spark Connect or Sail    the session's server
    a classic session of Spark            the server that the session runs in this program
    "sail", "spark" or neither            the server of the running session, or of a new one
    "sc://host:port"                      the server at this address
"""

from __future__ import annotations

import os
import sys
from typing import Any, cast

from pyspark.sql import SparkSession

from matchrec.errors import gateway as errors
from matchrec.errors.machine import session_already_runs
from matchrec.spark.session import find_application, is_connect, unwrap_session
from matchrec.spark.start.addresses import check_server
from matchrec.spark.start.engine_choice import choose_engine
from matchrec.spark.start.engine_names import SPARK
from matchrec.spark.start.running_session import describe_engine, runs_on
from matchrec.spark.start.sessions import start_session

# Settings with which a session of Spark in this program starts a server of Spark Connect, at any
# free port.
PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"
SPARK_SERVER_SETTINGS = {
    "spark.plugins": PLUGIN,
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.sql.artifact.isolation.enabled": "true",
    "spark.sql.artifact.isolation.alwaysApplyClassloader": "true",
}


def find_or_start_server(spark: SparkSession | None, engine: str | None) -> str:
    """Return the address of an engine's server. Start the server if it must run here.

    The address has the parameters that its clients need, such as a token.

    Raises:
        MatchRecognizePlanError: the engine is a classic session of Spark, without a server; both
            arguments are passed; or a session runs on another engine.
    """
    if spark is not None and engine is not None:
        raise errors.session_and_engine(engine=engine)
    if engine is not None and engine.startswith("sc://"):
        check_server(engine)
        return engine
    session = find_or_start_session(engine) if spark is None else spark
    return find_address(session) if is_connect(session) else find_server_of_spark(session)


def find_or_start_session(engine: str | None) -> SparkSession:
    """Return the running session, or a new one that has a server.

    Args:
        engine: "sail" or "spark"; None for the engine of the running session, or for the default.

    Raises:
        MatchRecognizePlanError: the running session is on another engine.
    """
    running_session = SparkSession.getActiveSession()
    if running_session is not None:
        if engine is not None and not runs_on(running_session, engine):
            raise session_already_runs(
                arguments=["engine"], engine=describe_engine(running_session), limits=""
            )
        return running_session
    if choose_engine(engine, {}) != SPARK:
        return start_session(engine, {})
    # Otherwise the server's workers would run the first `python3` in PATH.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    return start_session(engine, SPARK_SERVER_SETTINGS)


def find_server_of_spark(spark: SparkSession) -> str:
    """Return the address of the server that a classic session of Spark has in this program.

    Raises:
        MatchRecognizePlanError: the session has no server.
    """
    if PLUGIN not in (spark.conf.get("spark.plugins", "") or ""):
        raise errors.session_without_server()
    java: Any = spark.sparkContext._jvm
    # An object of Scala, as Java names it.
    service = getattr(java, "org.apache.spark.sql.connect.service.SparkConnectService$")
    return f"sc://localhost:{getattr(service, 'MODULE$').localPort()}"


def find_address(spark: SparkSession) -> str:
    """Return the address of a session of Spark Connect, with the parameters that it was made with.

    A session with a custom builder of channels has only the host and the port.
    """
    client: Any = cast("Any", unwrap_session(spark)).client
    url = getattr(client._builder, "url", None)
    if url is not None:
        return str(url._replace(scheme="sc").geturl())
    endpoint = str(find_application(spark))
    return endpoint if endpoint.startswith("sc://") else f"sc://{endpoint}"
