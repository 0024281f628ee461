"""A session: its own `sql`, another function instead of it, temporary views, quiet analysis.

A DataFrame becomes a temporary view for as long as Spark analyses the text that names it. Over
Connect, where analysis is repeated later, `spark.sql(text, frame=df)` must do that, for each
`{frame}`. It runs Python's `str.format` over the text, so every other brace is doubled here.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
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

from matchrec.errors.language import holding
from matchrec.plan.text import Template, View
from matchrec.shortcuts import once
from matchrec.spark.errors import users_terms

if TYPE_CHECKING:
    from pyspark import SparkContext  # which a client of Connect alone does not have

# What is raised where Java has failed, if there is any.
try:
    from py4j.protocol import Py4JError
except ModuleNotFoundError:  # a client of Connect has no Java to speak to
    OF_JAVA: tuple[type[Exception], ...] = ()
else:
    OF_JAVA = (Py4JError,)

FAILURES: tuple[type[Exception], ...] = (PySparkException, *OF_JAVA)

# What is raised where Spark's own plan is looked into, and is not as it was in another version.
OF_ANOTHER_SPARK: tuple[type[Exception], ...] = (*OF_JAVA, TypeError)

REPLACED = "_matchrec_replaced"
OF_TEXTS = (AnalysisException, IllegalArgumentException, UnsupportedOperationException)

# What is raised for a query text that a session cannot make sense of, some of it by its parser; the
# first ones are about words of the text.
REFUSALS = (*OF_TEXTS, ArithmeticException, NumberFormatException, SparkRuntimeException)

T = TypeVar("T")

# Where the plan of a text keeps its DataFrames: what is known of them is known of the text, too, of
# which a server may have given no more than a copy. See `spark.errors.second_look`.
FRAMES = "_matchrec_frames"

SUBQUERY = re.compile(r"\(\s*(SELECT|WITH|FROM|VALUES|TABLE)\b", re.IGNORECASE)


def plain_sql(spark: SparkSession) -> Callable[..., DataFrame]:
    """The session's own `sql`, also where `enable` has put another in its place."""
    found: Any = spark.sql
    original = original_of(getattr(found, "__func__", None))
    bound: Callable[..., DataFrame] = MethodType(original, found.__self__) if original else found
    return bound


@cache
def has_keywords(function: Callable[..., object]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


def create_views(
    spark: SparkSession, frames: Mapping[str, Any], names: Iterable[str], views: ExitStack
) -> dict[str, str]:
    """Create temporary views of some DataFrames, which the exit of `views` drops.

    Returns:
        the name of the view of each, unlike any name in use: a view hides a table of its name from
        the whole session.
    """
    created = {name: f"{name}_{uuid4().hex[:8]}" for name in names}
    for name, view in created.items():
        frames[name].createTempView(view)
        views.callback(spark.catalog.dropTempView, view)
    return created


def original_of(function: object) -> Callable[..., DataFrame] | None:
    """What `enable` has put this function in the place of, or None."""
    marked, original = getattr(function, REPLACED, (None, None))
    return original if marked is function else None  # others who wrap it copy the mark


def is_stopped(spark: SparkSession) -> bool:
    if is_connect(spark):
        return bool(getattr(spark, "is_stopped", False))
    return getattr(spark.sparkContext, "_jsc", spark) is None


def shares_views(spark: SparkSession, other: SparkSession) -> bool:
    """Whether a session has the views of another one. A client of Connect sends them along.

    One session of Classic may have several objects.
    """
    if spark is other or is_connect(spark) or is_connect(other):
        return True
    own, others = (unwrapped(one)._jsparkSession for one in (spark, other))
    return own is others or bool(own.equals(others))


def context_of(spark: SparkSession) -> SparkContext | None:
    """Return the context of a session in this program; None over Connect, which has none here."""
    return None if is_connect(spark) else spark.sparkContext


def unwrapped(spark: SparkSession) -> Any:
    """PySpark's session, where a platform's own is around it."""
    return getattr(spark.sql, "__self__", spark)


def is_connect(spark: SparkSession) -> bool:
    """Whether the session, or what it wraps or extends, is a client of Spark Connect."""
    return _are_of_connect(type(unwrapped(spark)).__mro__)


@cache
def _are_of_connect(classes: tuple[type, ...]) -> bool:
    return any(".connect." in f"{cls.__module__}." for cls in classes)


def query_context_logger() -> logging.Logger:
    """PySpark's logger of failed analyses; before 4.0 there is none, and this one is silent."""
    name = "SQLQueryContextLogger"
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        return logging.getLogger(name)
    return PySparkLogger.getLogger(name)


_IS_QUIET: ContextVar[bool] = ContextVar("failed analyses are not logged", default=False)


def is_logged(_: logging.LogRecord) -> bool:
    return not _IS_QUIET.get()


def quiet_analysis() -> AbstractContextManager[None]:
    """No log line of PySpark for a failed analysis of this thread: whoever asks words the error."""
    query_context_logger().addFilter(is_logged)
    return holding(_IS_QUIET, True)


def holes(text: Template) -> tuple[str, ...]:
    return tuple(dict.fromkeys(piece.name for piece in text if isinstance(piece, View)))


def escape_for_pyspark(piece: str | View, frames: Mapping[str, Any]) -> str:
    """A piece as `str.format` needs it: with its braces doubled, or to be filled by a frame."""
    if isinstance(piece, str):
        return piece.replace("{", "{{").replace("}", "}}")
    if not is_dataframe(frames[piece.name]):
        return f"{{{piece.name}}}"
    return f"{{{piece.name}:<{max(piece.width, users_terms.PYSPARK_LENGTH)}}}"


def once_a_session(spark: SparkSession, name: str, read: Callable[..., T]) -> Callable[..., T]:
    """What reads texts, each once, with all that it has read. Kept at the session under a name, as
    what was read may hold the session.
    """
    known: Callable[..., T] = vars(spark).setdefault(name, once(read))
    return known


def is_dataframe(value: object) -> bool:
    """Whether PySpark would fill a hole with a view; other values become literals."""
    return hasattr(value, "createTempView")


# `SparkSession.sql` with another function in its place, for the sessions of some applications.
#
# The function stands at the class, as Spark makes further objects for one session and further
# sessions for one application: in `foreachBatch`, by `newSession`, by `getOrCreate`. Sessions of
# other applications meet it as well and are sent on to Spark's own.

Answer = Callable[["SparkSession", Any, Any, dict[str, Any]], "DataFrame | None"]

# In place of a session: all that there are and that come, unless their application has its own.
EVERY = None

_installed: dict[Hashable, Answer] = {}
_classes: set[type] = set()
_changing = Lock()


def replace_sql(spark: SparkSession | None, answer: Answer) -> None:
    """From now on `answer` is asked first for `sql` of every session of this one's application.

    spark: or EVERY. Where `answer` gives None, Spark's own `sql` answers.
    """
    classes = all_classes() if spark is EVERY else type(spark).__mro__
    with _changing:
        _installed[EVERY if spark is EVERY else application(spark)] = answer
        for cls in classes:
            if inspect.isfunction(original := cls.__dict__.get("sql")):
                _classes.add(cls)
                if original_of(original) is None:
                    setattr(cls, "sql", sql_in_place_of(original))  # noqa: B010 -- mypy knows the class


def restore_sql(spark: SparkSession | None) -> None:
    """Spark's own `sql` answers again; nothing happens where it always did. spark: or EVERY."""
    with _changing:
        _installed.pop(EVERY if spark is EVERY else application(spark), None)
        if not _installed:
            for cls in _classes:
                if (original := original_of(cls.__dict__["sql"])) is not None:
                    setattr(cls, "sql", original)  # noqa: B010 -- mypy knows the class
            _classes.clear()


def sql_in_place_of(original: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    """A method `sql` that asks whether something is installed for its session's application."""

    @wraps(original)
    def sql(
        self: SparkSession,
        sqlQuery: str,  # noqa: N803 -- Spark's name of it
        args: Any = None,
        **kwargs: Any,
    ) -> DataFrame:
        installed = _installed.get(application(self)) if _installed else None
        answer = installed or _installed.get(EVERY)
        answered = answer(self, sqlQuery, args, kwargs) if answer else None
        return original(self, sqlQuery, args, **kwargs) if answered is None else answered

    setattr(sql, REPLACED, (sql, original))
    return sql


def all_classes() -> Iterator[type]:
    yield SparkSession
    try:
        from pyspark.sql.connect.session import SparkSession as OverConnect
    except ImportError:  # so that there can be no session over Connect
        return
    yield OverConnect


def application(spark: SparkSession) -> Hashable:
    """What all sessions of one application share: the context, or the server's address."""
    if is_connect(spark):
        client: Any = spark.client
        return str(getattr(client._builder, "endpoint", None) or client.host)
    return ref(spark.sparkContext)
