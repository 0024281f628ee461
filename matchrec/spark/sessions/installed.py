"""`SparkSession.sql` with another function in its place, for the sessions of some applications.

The function stands at the class, as Spark makes further objects for one session and further
sessions for one application: in `foreachBatch`, by `newSession`, by `getOrCreate`. Sessions of
other applications meet it as well and are sent on to Spark's own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import ref

from matchrec.spark.session import REPLACED, is_connect, original_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Answer = Callable[["SparkSession", Any, Any, dict[str, Any]], "DataFrame | None"]

_installed: dict[Hashable, Answer] = {}
_classes: set[type] = set()
_changing = Lock()


def put(spark: SparkSession, answer: Answer) -> None:
    """From now on `answer` is asked first for `sql` of every session of this one's application.

    It is given session, text, args and the named values; where it has no answer, Spark's own does.
    """
    with _changing:
        _installed[application(spark)] = answer
        for cls in type(spark).__mro__:
            original = cls.__dict__.get("sql")
            if inspect.isfunction(original):
                _classes.add(cls)
                if original_of(original) is None:
                    setattr(cls, "sql", in_place_of(original))  # noqa: B010 -- mypy knows the class


def take_away(spark: SparkSession) -> None:
    """Spark's own `sql` answers again; nothing happens where it always did."""
    with _changing:
        _installed.pop(application(spark), None)
        if not _installed:
            for cls in _classes:
                original = original_of(cls.__dict__["sql"])
                if original is not None:
                    setattr(cls, "sql", original)  # noqa: B010 -- mypy knows the class
            _classes.clear()


def in_place_of(original: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    """A method `sql` that asks whether something is installed for its session's application."""

    @wraps(original)
    def sql(
        self: SparkSession,
        sqlQuery: str,  # noqa: N803 -- Spark's name of it
        args: Any = None,
        **kwargs: Any,
    ) -> DataFrame:
        answer = _installed.get(application(self)) if _installed else None
        answered = answer(self, sqlQuery, args, kwargs) if answer else None
        return original(self, sqlQuery, args, **kwargs) if answered is None else answered

    setattr(sql, REPLACED, (sql, original))
    return sql


def application(spark: SparkSession) -> Hashable:
    """What all sessions of one application share: the context, or the server's address."""
    if is_connect(spark):
        client: Any = spark.client
        return str(getattr(client._builder, "endpoint", None) or client.host)
    return ref(spark.sparkContext)
