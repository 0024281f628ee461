"""The backend of a session, chosen by asking the session what it is."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame, SparkSession

from matchrec.spark.backend import Backend, SparkConnect
from matchrec.spark.errors import users_terms
from matchrec.spark.relation import Runner
from matchrec.spark.sail.backend import Sail
from matchrec.spark.session import OF_TEXTS, is_connect

_backends: WeakKeyDictionary[SparkSession, Backend] = WeakKeyDictionary()


def backend_of(spark: SparkSession) -> Backend:
    """Return the backend of a session. A server is asked once, at the first call, what it is."""
    if (found := _backends.get(spark)) is None:
        found = _backends[spark] = choose_backend(spark)
    return found


def choose_backend(spark: SparkSession) -> Backend:
    if not is_connect(spark):
        return Backend(spark)
    return SparkConnect(spark) if is_spark(spark) else Sail(spark)


def is_spark(spark: SparkSession) -> bool:
    """Return whether the server of a session is Spark.

    A session says which version of Spark it speaks; the function `version` says what the engine
    calls itself. Sail has a version of its own.
    """
    own = spark.range(1).selectExpr("version()").collect()[0][0]
    return bool(own.startswith(spark.version))


def runner_of(spark: SparkSession) -> Runner:
    """Return what runs texts that have neither arguments nor DataFrames."""
    return Runner(backend_of(spark))


def table_of(spark: SparkSession, name: str) -> DataFrame:
    """A table by its name; Spark's errors in plain words, with the name of one that is near."""
    runner = runner_of(spark)
    try:
        return runner.analyse(spark.table(name))
    except OF_TEXTS as error:
        raise users_terms.in_plain_words(error, runner.tables) from None
