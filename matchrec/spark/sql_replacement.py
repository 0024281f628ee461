"""Replace `SparkSession.sql` by a method that first calls a handler.

`replace_sql` sets a handler for the sessions of an application, or for all sessions. It replaces
the method of the class, because Spark creates further objects for one session and further sessions
for one application: in `foreachBatch`, by `newSession`, by `getOrCreate`. The sessions of other
applications call the replacement as well; it passes their calls on to Spark's own method.

    session.sql(text)    calls the replacement, which calls
        the handler of the session's application, or else the handler of all sessions, then,
        if there is no handler or it returns None, Spark's own `sql`

`find_plain_sql` returns Spark's own `sql`, which our own queries call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Iterator
from enum import Enum
from functools import wraps
from threading import Lock
from types import MethodType
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession

from matchrec.spark.session import find_application

# The attribute of a replacement: a pair of the replacement itself and the method that it replaces.
# `find_original` reads it.
REPLACEMENT_AND_ORIGINAL = "_matchrec_replaced"


class Sessions(Enum):
    """A group of sessions, which an argument names instead of a session."""

    # All sessions, including future ones. A handler of one application is called instead of the
    # handler of all sessions.
    ALL = "all"


class SqlHandler(Protocol):
    """A function that handles a call of `sql` before Spark does."""

    def __call__(
        self, session: SparkSession, query: Any, args: Any, frames: dict[str, Any], /
    ) -> DataFrame | None:
        """Return the result of a query; None if Spark's own `sql` should handle the call.

        Args:
            session: the session whose method was called.
            query: the first argument of the call, which need not be a text.
            args: the second argument of the call: the values of parameters.
            frames: the keyword arguments of the call.
        """


# The handlers, by `find_application` of their sessions, or by `Sessions.ALL`.
_handlers: dict[Hashable, SqlHandler] = {}
# The classes of sessions whose `sql` is replaced at the moment.
_changed_classes: set[type] = set()
# Held while `_handlers`, `_changed_classes` or the classes are changed.
_change_lock = Lock()


def find_plain_sql(spark: SparkSession) -> Callable[..., DataFrame]:
    """Return Spark's own method `sql` of a session, even if it is replaced."""
    bound_method: Any = spark.sql
    original = find_original(getattr(bound_method, "__func__", None))
    if original is not None:
        return MethodType(original, bound_method.__self__)
    plain_method: Callable[..., DataFrame] = bound_method
    return plain_method


def replace_sql(sessions: SparkSession | Sessions, handler: SqlHandler) -> None:
    """Let a handler handle calls of `sql` first, in every session of an application, from now on.

    Args:
        sessions: a session of the application, or `Sessions.ALL`.
        handler: the handler. It replaces an earlier handler of the same sessions.
    """
    classes: Iterable[type]
    if isinstance(sessions, Sessions):
        classes = iterate_session_classes()
    else:
        classes = type(sessions).__mro__
    with _change_lock:
        _handlers[find_handler_key(sessions)] = handler
        for cls in classes:
            method = cls.__dict__.get("sql")
            if not inspect.isfunction(method):
                continue
            _changed_classes.add(cls)
            if find_original(method) is None:
                setattr(cls, "sql", make_replacement(method))  # noqa: B010 -- mypy knows the class


def restore_sql(sessions: SparkSession | Sessions) -> None:
    """Let Spark's own `sql` handle calls again. Does nothing if no handler was set.

    Args:
        sessions: a session of the application, or `Sessions.ALL`, as `replace_sql` got it.
    """
    with _change_lock:
        _handlers.pop(find_handler_key(sessions), None)
        if _handlers:
            return
        for cls in _changed_classes:
            original = find_original(cls.__dict__["sql"])
            if original is not None:
                setattr(cls, "sql", original)  # noqa: B010 -- mypy knows the class
        _changed_classes.clear()


def find_handler_key(sessions: SparkSession | Sessions) -> Hashable:
    """Return the key in `_handlers` of the application of a session, or of all sessions."""
    return sessions if isinstance(sessions, Sessions) else find_application(sessions)


def make_replacement(original: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    """Return a method `sql` that first calls the handler of its session.

    The method calls the original method if the session has no handler, or if the handler returns
    None.
    """

    @wraps(original)
    def sql(
        self: SparkSession,
        sqlQuery: str,  # noqa: N803 -- Spark's name of it
        args: Any = None,
        **kwargs: Any,
    ) -> DataFrame:
        """Return the result of the session's handler, or else of Spark's own `sql`."""
        application_handler = _handlers.get(find_application(self)) if _handlers else None
        handler = application_handler or _handlers.get(Sessions.ALL)
        result = None
        if handler is not None:
            result = handler(self, sqlQuery, args, kwargs)
        if result is None:
            return original(self, sqlQuery, args, **kwargs)
        return result

    setattr(sql, REPLACEMENT_AND_ORIGINAL, (sql, original))
    return sql


def find_original(function: object) -> Callable[..., DataFrame] | None:
    """Return the `sql` that a function of ours replaces; None if the function is not ours.

    A function of another library that wraps ours by `functools.wraps` has a copy of our attribute.
    The first item of the copy is our function, not the wrapper, so the wrapper is not taken for
    ours.
    """
    replacement, original = getattr(function, REPLACEMENT_AND_ORIGINAL, (None, None))
    return original if replacement is function else None


def iterate_session_classes() -> Iterator[type]:
    """Yield PySpark's classes of sessions, Classic and Connect."""
    yield SparkSession
    try:
        from pyspark.sql.connect.session import SparkSession as ConnectSession
    except ImportError:  # then there can be no session over Connect
        return
    yield ConnectSession
