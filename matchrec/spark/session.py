"""Find the kind, the application and the context of a SparkSession, and keep objects in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

from matchrec.shortcuts import keep_parsed

if TYPE_CHECKING:
    from pyspark import SparkContext  # which a client of Connect alone does not have
    from pyspark.sql import SparkSession

T = TypeVar("T")


def is_connect(spark: SparkSession) -> bool:
    """Return whether the session, or what it wraps or extends, is a client of Spark Connect."""
    return _has_connect_class(type(unwrap_session(spark)).__mro__)


@cache
def _has_connect_class(classes: tuple[type, ...]) -> bool:
    """Return whether one of some classes belongs to Spark Connect."""
    return any(".connect." in f"{cls.__module__}." for cls in classes)


def unwrap_session(spark: SparkSession) -> Any:
    """Return PySpark's session, which a platform may have wrapped in its own class."""
    return getattr(spark.sql, "__self__", spark)


def is_stopped(spark: SparkSession) -> bool:
    """Return whether the session has ended and can run nothing any more."""
    if is_connect(spark):
        return bool(getattr(spark, "is_stopped", False))
    return getattr(spark.sparkContext, "_jsc", spark) is None


def find_context(spark: SparkSession) -> SparkContext | None:
    """Return the context of a session in this program; None over Connect."""
    return None if is_connect(spark) else spark.sparkContext


def find_application(spark: SparkSession) -> Hashable:
    """Return the key of a session's application, which all of its sessions share.

    The key is the context of an application in this program, or the address of a server.
    """
    if is_connect(spark):
        client: Any = spark.client
        return str(getattr(client._builder, "endpoint", None) or client.host)
    return ref(spark.sparkContext)


def shares_views(spark: SparkSession, other: SparkSession) -> bool:
    """Return whether one session has the views of another.

    A client of Connect sends DataFrames along instead of views, so the result is True. In Classic,
    several objects may be the same session.
    """
    if spark is other or is_connect(spark) or is_connect(other):
        return True
    java_session = unwrap_session(spark)._jsparkSession
    other_java_session = unwrap_session(other)._jsparkSession
    return java_session is other_java_session or bool(java_session.equals(other_java_session))


def cache_per_session(spark: SparkSession, name: str, read: Callable[..., T]) -> Callable[..., T]:
    """Return a function that calls another one once in a session for each value of its arguments.

    For the same arguments, it later returns the same object.

    Args:
        spark: the session. It holds the function and its results, because a result may refer to
            the session.
        name: the attribute of the session that holds the function.
        read: the other function. It is ignored if the session already has this attribute.
    """
    read_once: Callable[..., T] = vars(spark).setdefault(name, keep_parsed(read))
    return read_once
