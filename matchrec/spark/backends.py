"""Choose the backend of a session: Spark, Spark Connect or Sail."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame, SparkSession

from matchrec.spark.backend import Backend
from matchrec.spark.connect import SparkConnect
from matchrec.spark.errors import rewritten_errors
from matchrec.spark.runner import Runner
from matchrec.spark.sail.backend import Sail
from matchrec.spark.session import is_connect
from matchrec.spark.session_errors import TEXT_ERRORS

_backends: WeakKeyDictionary[SparkSession, Backend] = WeakKeyDictionary()


def find_backend(spark: SparkSession) -> Backend:
    """Return the backend of a session, which is the same object for each call.

    If the session has a server, the first call runs a query.
    """
    backend = _backends.get(spark)
    if backend is None:
        backend = choose_backend(spark)
        _backends[spark] = backend
    return backend


def choose_backend(spark: SparkSession) -> Backend:
    """Return a new backend for a session. Runs a query if the session has a server."""
    if not is_connect(spark):
        return Backend(spark)
    return SparkConnect(spark) if is_spark(spark) else Sail(spark)


def is_spark(spark: SparkSession) -> bool:
    """Return whether the server of a session is Spark.

    `spark.version` is the version of Spark whose protocol the server speaks. The SQL function
    `version` returns the version of the engine, and Sail numbers its versions differently.
    """
    engine_version = spark.range(1).selectExpr("version()").collect()[0][0]
    return bool(engine_version.startswith(spark.version))


def make_runner(spark: SparkSession) -> Runner:
    """Return a runner for texts that have neither arguments nor DataFrames."""
    return Runner(find_backend(spark))


def read_table(spark: SparkSession, name: str) -> DataFrame:
    """Return the DataFrame of a table.

    Raises:
        pyspark.errors.AnalysisException: the session has no such table. The error lists the tables
            that exist, and suggests one with a similar name.
    """
    runner = make_runner(spark)
    try:
        return runner.analyse(spark.table(name))
    except TEXT_ERRORS as error:
        raise rewritten_errors.put_in_plain_words(error, runner.list_tables) from None
