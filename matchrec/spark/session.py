"""Tell sessions apart: their kind, their application and their views; and cache results in them.

A session is *Classic*, with Spark in the Java process of this program, or a client of Spark
Connect. All sessions of one application share one `SparkContext`, or one server.
"""

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
    """Return PySpark's session, which some platforms wrap in a class of their own."""
    return getattr(spark.sql, "__self__", spark)


def is_stopped(spark: SparkSession) -> bool:
    """Return whether the session has ended and can run nothing any more."""
    if is_connect(spark):
        return bool(getattr(spark, "is_stopped", False))
    context = spark.sparkContext
    # PySpark sets this attribute, the Java context, to None when the context stops.
    return hasattr(context, "_jsc") and context._jsc is None


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
    several Python objects can be the same session of Java.
    """
    if spark is other or is_connect(spark) or is_connect(other):
        return True
    java_session = unwrap_session(spark)._jsparkSession
    other_java_session = unwrap_session(other)._jsparkSession
    return java_session is other_java_session or bool(java_session.equals(other_java_session))


def cache_per_session(
    spark: SparkSession, name: str, function: Callable[..., T]
) -> Callable[..., T]:
    """Return a function that returns cached results of another one, from the cache of a session.

    For the same arguments, it returns the same object, as long as the object is cached: old texts
    and very long texts are dropped, see `shortcuts.keep_parsed`.

    Args:
        spark: the session. It holds the cache, because a result can refer to the session.
        name: the attribute of the session for the cache.
        function: the other function, whose first argument is a text, and whose other arguments are
            hashable. It is ignored if the session already has this attribute.
    """
    cached_function: Callable[..., T] = vars(spark).setdefault(name, keep_parsed(function))
    return cached_function
