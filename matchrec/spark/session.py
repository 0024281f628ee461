"""What matchrec asks of a SparkSession and changes in it, on every engine.

- The errors that a session raises: `SESSION_ERRORS`, `QUERY_ERRORS` and others.
- Its kind: `is_connect`, `is_stopped`, `find_application`.
- Its `sql`: `replace_sql` puts a function in front of it, which `find_plain_sql` leaves out.
- Texts that name DataFrames. A DataFrame becomes a temporary view for as long as Spark analyses the
  text: see `create_views`. Over Connect, where analysis is repeated later, `spark.sql(text,
  frame=df)` must do that, for each `{frame}`. It runs Python's `str.format` over the text, so
  `escape_for_pyspark` doubles every other brace.
- The log of failed analyses: `silence_analysis`.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from threading import Lock
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4
from weakref import ref

from pyspark.errors import (
    AnalysisException,
    ArithmeticException,
    IllegalArgumentException,
    NumberFormatException,
    PySparkException,
    SparkRuntimeException,
    UnsupportedOperationException,
)
from pyspark.sql import DataFrame, SparkSession

from matchrec.errors.language import set_variable
from matchrec.plan.templates import Template, View
from matchrec.shortcuts import keep_parsed
from matchrec.spark.errors import filled_template

if TYPE_CHECKING:
    from pyspark import SparkContext  # which a client of Connect alone does not have

# What is raised if a call of Java fails.
try:
    from py4j.protocol import Py4JError
except ModuleNotFoundError:  # a client of Connect has no Java to speak to
    JAVA_ERRORS: tuple[type[Exception], ...] = ()
else:
    JAVA_ERRORS = (Py4JError,)

# What is raised if a query or a call of the session fails.
SESSION_ERRORS: tuple[type[Exception], ...] = (PySparkException, *JAVA_ERRORS)

# What is raised if code reads Spark's own plan, which is different in another version of Spark.
OTHER_VERSION_ERRORS: tuple[type[Exception], ...] = (*JAVA_ERRORS, TypeError)

# What is raised for words of a query text that a session cannot make sense of.
TEXT_ERRORS = (AnalysisException, IllegalArgumentException, UnsupportedOperationException)

# What is raised for any query text that a session cannot make sense of. Some of it is raised by its
# parser.
QUERY_ERRORS = (*TEXT_ERRORS, ArithmeticException, NumberFormatException, SparkRuntimeException)

# The attribute of a `sql` that replaces another one: a pair of itself and the function that it
# replaces. See `find_original`.
REPLACED = "_matchrec_replaced"

# The attribute of the plan of a text that keeps the DataFrames in the text alive. The plan itself
# may have only a server's copy of them, and what `errors.second_look` knows of a DataFrame is lost
# with the DataFrame.
KEPT_FRAMES = "_matchrec_frames"

# Finds the beginning of a subquery.
SUBQUERY_START = re.compile(r"\(\s*(SELECT|WITH|FROM|VALUES|TABLE)\b", re.IGNORECASE)

T = TypeVar("T")


def find_plain_sql(spark: SparkSession) -> Callable[..., DataFrame]:
    """Return the session's own `sql`, even if `enable` has replaced it."""
    current: Any = spark.sql
    original = find_original(getattr(current, "__func__", None))
    plain: Callable[..., DataFrame] = (
        MethodType(original, current.__self__) if original else current
    )
    return plain


@cache
def takes_keyword_arguments(function: Callable[..., object]) -> bool:
    """Return whether a function accepts any keyword argument.

    A `sql` that does can fill `{frame}` with a DataFrame. PySpark 3.5 over Connect cannot.
    """
    parameters = inspect.signature(function).parameters.values()
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


def create_views(
    spark: SparkSession, frames: Mapping[str, Any], names: Iterable[str], views: ExitStack
) -> dict[str, str]:
    """Create temporary views of some DataFrames.

    Args:
        spark: the session.
        frames: DataFrames and other values, by their names.
        names: the names of the DataFrames that get a view.
        views: drops the views when it is closed.

    Returns:
        The name of the view of each of these DataFrames. It is unlike any name in use, because a
        view hides a table of its name from the whole session.
    """
    view_names = {name: f"{name}_{uuid4().hex[:8]}" for name in names}
    for name, view_name in view_names.items():
        frames[name].createTempView(view_name)
        views.callback(spark.catalog.dropTempView, view_name)
    return view_names


@contextmanager
def create_lasting_views(
    spark: SparkSession, frames: Mapping[str, Any], names: Iterable[str]
) -> Iterator[dict[str, str]]:
    """Create temporary views as `create_views` does. They stay, unless an error is raised inside.

    Yields:
        The name of the view of each DataFrame.
    """
    with ExitStack() as views:
        yield create_views(spark, frames, names, views)
        views.pop_all()  # so that nothing drops the views


def find_original(function: object) -> Callable[..., DataFrame] | None:
    """Return the `sql` that a function of ours replaces; None if the function is not ours.

    A function of another library that wraps ours by `functools.wraps` has a copy of the attribute.
    The attribute names our function, so such a copy is recognized.
    """
    replacement, original = getattr(function, REPLACED, (None, None))
    return original if replacement is function else None


def is_stopped(spark: SparkSession) -> bool:
    """Return whether the session has ended and can run nothing any more."""
    if is_connect(spark):
        return bool(getattr(spark, "is_stopped", False))
    return getattr(spark.sparkContext, "_jsc", spark) is None


def shares_views(spark: SparkSession, other: SparkSession) -> bool:
    """Return whether one session has the views of another.

    A client of Connect sends them along. In Classic, several objects may be the same session.
    """
    if spark is other or is_connect(spark) or is_connect(other):
        return True
    java_session = unwrap_session(spark)._jsparkSession
    other_java_session = unwrap_session(other)._jsparkSession
    return java_session is other_java_session or bool(java_session.equals(other_java_session))


def find_context(spark: SparkSession) -> SparkContext | None:
    """Return the context of a session in this program; None over Connect, which has none here."""
    return None if is_connect(spark) else spark.sparkContext


def unwrap_session(spark: SparkSession) -> Any:
    """Return PySpark's session, which a platform may have wrapped in its own class."""
    return getattr(spark.sql, "__self__", spark)


def is_connect(spark: SparkSession) -> bool:
    """Return whether the session, or what it wraps or extends, is a client of Spark Connect."""
    return _has_connect_class(type(unwrap_session(spark)).__mro__)


@cache
def _has_connect_class(classes: tuple[type, ...]) -> bool:
    """Return whether one of some classes belongs to Spark Connect."""
    return any(".connect." in f"{cls.__module__}." for cls in classes)


def find_analysis_logger() -> logging.Logger:
    """Return PySpark's logger of failed analyses.

    Before 4.0 there is none. The logger that is returned then is silent.
    """
    name = "SQLQueryContextLogger"
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        return logging.getLogger(name)
    return PySparkLogger.getLogger(name)


_IS_QUIET: ContextVar[bool] = ContextVar("failed analyses are not logged", default=False)


def is_logged(_: logging.LogRecord) -> bool:
    """Return whether a failed analysis is logged, as a filter of a logger."""
    return not _IS_QUIET.get()


def silence_analysis() -> AbstractContextManager[None]:
    """Keep PySpark from logging the analyses that fail inside, in this thread.

    The caller raises a clearer error.
    """
    find_analysis_logger().addFilter(is_logged)
    return set_variable(_IS_QUIET, True)


def list_holes(text: Template) -> tuple[str, ...]:
    """Return the names of the holes in a text, each once.

    >>> list_holes(("SELECT * FROM ", View("a"), " JOIN ", View("b"), " JOIN ", View("a")))
    ('a', 'b')
    """
    return tuple(dict.fromkeys(piece.name for piece in text if isinstance(piece, View)))


def escape_for_pyspark(piece: str | View, frames: Mapping[str, Any]) -> str:
    """Return a piece of a text as PySpark needs it, which runs `str.format` over the text.

    A hole is as wide as in the user's query, so that positions in errors of Spark can be found.

    Args:
        piece: SQL, whose braces are doubled, or a hole that PySpark fills.
        frames: what fills the holes: DataFrames and other values.

    >>> escape_for_pyspark("SELECT '{}'", {})
    "SELECT '{{}}'"
    >>> escape_for_pyspark(View("limit"), {"limit": 3})
    '{limit}'
    """
    if isinstance(piece, str):
        return piece.replace("{", "{{").replace("}", "}}")
    if not is_dataframe(frames[piece.name]):
        return f"{{{piece.name}}}"
    return f"{{{piece.name}:<{max(piece.width, filled_template.PYSPARK_LENGTH)}}}"


def keep_once_per_session(
    spark: SparkSession, name: str, read: Callable[..., T]
) -> Callable[..., T]:
    """Return a function that reads each text once in a session, and returns the same object again.

    Args:
        spark: the session. It keeps the function and what it has read, because that may hold the
            session.
        name: the attribute of the session under which it is kept.
        read: reads a text. It is ignored if the session has a function of this name already.
    """
    read_once: Callable[..., T] = vars(spark).setdefault(name, keep_parsed(read))
    return read_once


def is_dataframe(value: object) -> bool:
    """Return whether PySpark would fill a hole with a view; other values become literals."""
    return hasattr(value, "createTempView")


# Replacing `SparkSession.sql` for the sessions of some applications.
#
# The function is set on the class, because Spark makes further objects for one session and further
# sessions for one application: in `foreachBatch`, by `newSession`, by `getOrCreate`. Sessions of
# other applications call it as well; it passes their calls on to Spark's own.

# Handles a call of `sql`. Takes the session, the text, its arguments and its keyword arguments.
# Returns None if Spark's own `sql` should handle the call.
SqlHandler = Callable[["SparkSession", Any, Any, dict[str, Any]], "DataFrame | None"]

# An argument instead of a session. It means all sessions, also future ones, unless their
# application has called `replace_sql` with a session.
ALL_SESSIONS = None

# The handlers, by `find_application` of their sessions, or by ALL_SESSIONS.
_handlers: dict[Hashable, SqlHandler] = {}
# The classes of sessions whose `sql` is replaced at the moment.
_changed_classes: set[type] = set()
# Held while the two above and the classes are changed.
_change_lock = Lock()


def replace_sql(spark: SparkSession | None, handler: SqlHandler) -> None:
    """Let `handler` handle `sql` first, in every session of an application, from now on.

    Args:
        spark: a session of the application, or ALL_SESSIONS.
        handler: the handler. If it returns None, Spark's own `sql` handles the call.
    """
    classes = iterate_session_classes() if spark is ALL_SESSIONS else type(spark).__mro__
    with _change_lock:
        _handlers[ALL_SESSIONS if spark is ALL_SESSIONS else find_application(spark)] = handler
        for cls in classes:
            current = cls.__dict__.get("sql")
            if not inspect.isfunction(current):
                continue
            _changed_classes.add(cls)
            if find_original(current) is None:
                setattr(cls, "sql", make_replacement(current))  # noqa: B010 -- mypy knows the class


def restore_sql(spark: SparkSession | None) -> None:
    """Let Spark's own `sql` handle calls again. Does nothing if it always did.

    Args:
        spark: a session of the application, or ALL_SESSIONS, as `replace_sql` got it.
    """
    with _change_lock:
        _handlers.pop(ALL_SESSIONS if spark is ALL_SESSIONS else find_application(spark), None)
        if _handlers:
            return
        for cls in _changed_classes:
            original = find_original(cls.__dict__["sql"])
            if original is not None:
                setattr(cls, "sql", original)  # noqa: B010 -- mypy knows the class
        _changed_classes.clear()


def make_replacement(original: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    """Return a method `sql` that first calls the handler of its session's application, if any.

    If no handler has a result, it calls the original method.
    """

    @wraps(original)
    def sql(
        self: SparkSession,
        sqlQuery: str,  # noqa: N803 -- Spark's name of it
        args: Any = None,
        **kwargs: Any,
    ) -> DataFrame:
        """Run a query with matchrec if it is enabled for the session, else with Spark."""
        application_handler = _handlers.get(find_application(self)) if _handlers else None
        handler = application_handler or _handlers.get(ALL_SESSIONS)
        result = handler(self, sqlQuery, args, kwargs) if handler else None
        return original(self, sqlQuery, args, **kwargs) if result is None else result

    setattr(sql, REPLACED, (sql, original))
    return sql


def iterate_session_classes() -> Iterator[type]:
    """Yield PySpark's classes of sessions, Classic and Connect."""
    yield SparkSession
    try:
        from pyspark.sql.connect.session import SparkSession as ConnectSession
    except ImportError:  # then there can be no session over Connect
        return
    yield ConnectSession


def find_application(spark: SparkSession) -> Hashable:
    """Return the key of a session's application, which all of its sessions share.

    The key is the context of an application in this program, or the address of a server.
    """
    if is_connect(spark):
        client: Any = spark.client
        return str(getattr(client._builder, "endpoint", None) or client.host)
    return ref(spark.sparkContext)
