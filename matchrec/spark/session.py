"""Running SQL text over DataFrames through `spark.sql` and nothing else.

A DataFrame becomes a temporary view for as long as Spark analyses the text that names it. Over
Connect, where analysis is repeated later, `spark.sql(text, frame=df)` must do that, for each
`{frame}`. It runs Python's `str.format` over the text, so every other brace is doubled here.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial, wraps
from threading import Lock
from types import MethodType
from typing import Any, TypeVar, cast
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
from pyspark.sql.types import DataType, StructField

from matchrec.errors.conditions import clauses_nested_too_deep
from matchrec.errors.language import holding
from matchrec.plan.text import AVERAGE_OR_NULL, SUM_OR_NULL, Template, View, quoted, template
from matchrec.shortcuts import once
from matchrec.source import Source
from matchrec.spark.errors import users_terms
from matchrec.spark.sail.words import CRASH, sentence_of
from matchrec.spark.types import sql_type, with_nulls

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

# The settings of a session on which the meaning of a query depends.
SETTINGS = (
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.ansi.enabled",
    "spark.sql.caseSensitive",
    "spark.sql.legacy.statisticalAggregate",
    "spark.sql.session.timeZone",
    "spark.sql.timestampType",
)

T = TypeVar("T")

SENT, PLANNED = "_matchrec_sent", "_matchrec_planned"
UNREADABLE = "Exception deserializing response!"  # what gRPC says of an answer with too many parts

# Where the plan of a text keeps its DataFrames: what is known of them is known of the text, too, of
# which a server may have given no more than a copy. See `spark.errors.second_look`.
FRAMES = "_matchrec_frames"

# How a text begins that does nothing but ask: after WITH, Spark takes INSERT.
SELECTS = re.compile(r"\s*SELECT\b", re.IGNORECASE)

CHOICE = re.compile(r"\b(CASE|IF|UNION)\b", re.IGNORECASE)  # what chooses one of several values

SUBQUERY = re.compile(r"\(\s*(SELECT|WITH|FROM|VALUES|TABLE)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Runner:
    """A session, the arguments of the user's query, and the DataFrames that may fill its holes.

    written: finds the holes in the text of one of the user's expressions. in_scope: puts before it
    of a query what its subqueries may name, the WITH clauses around the user's clause. source: the
    user's query, where a text to run has its layout: Spark's errors are put in its terms.
    """

    spark: SparkSession
    args: dict[str, Any] | list[Any] | None = None
    frames: Mapping[str, Any] = field(default_factory=dict)
    written: Callable[[str], Template] = template
    in_scope: Callable[[Template], Template] = template
    source: Source | None = None

    def sql(self, text: Template) -> DataFrame:
        """The DataFrame of a query text; analysed now, run later."""
        if is_connect(self.spark):  # where PySpark fills every hole, else those without a DataFrame
            plain = plain_sql(self.spark)
            fills = _has_keywords(getattr(plain, "__func__", plain))  # not in PySpark 3.5
            return self.filled(text, {}) if fills else self.stored(text)
        with ExitStack() as views:
            filled = (one for one in holes(text) if is_dataframe(self.frames[one]))
            return self.filled(text, self.create_views(filled, views))

    def stored(self, text: Template) -> DataFrame:
        """As `sql`, with views that stay in the session.

        For text that Spark stores, as in CREATE TEMPORARY VIEW, and reads again later; and for a
        client of Connect that cannot send DataFrames along.
        """
        with ExitStack() as views:
            found = self.filled(text, self.create_views(holes(text), views))
            views.pop_all()
            return found

    def create_views(self, filled: Iterable[str], views: ExitStack) -> dict[str, str]:
        """The names of new temporary views of what fills some holes, which `views` drops."""
        # unlike any name in use: a view hides a table of its name from the whole session
        names = {hole: f"{hole}_{uuid4().hex[:8]}" for hole in filled}
        for hole, name in names.items():
            self.frames[hole].createTempView(name)
            views.callback(self.spark.catalog.dropTempView, name)
        return names

    def filled(self, text: Template, names: Mapping[str, str]) -> DataFrame:
        """The DataFrame of a text with views in its holes; Spark's errors in the user's terms."""
        if self.source is None:
            return self._spark_sql(text, names)
        with quiet_analysis():
            try:
                return self.analyse(self._spark_sql(text, names), text)
            except OF_TEXTS as error:
                filled = users_terms.Filled(text, names, self.source)
                raise users_terms.in_users_terms(error, filled, self.tables) from None

    def _spark_sql(self, text: Template, names: Mapping[str, str]) -> DataFrame:
        """Spark's own `sql`, also on a session where `enable` put another in its place."""
        frames = {hole: self.frames[hole] for hole in holes(text) if hole not in names}
        pieces = [users_terms.fill(piece, names) for piece in text]
        whole = "".join(map(partial(formatted, frames=frames) if frames else str, pieces))
        readable = self.readable(whole)
        is_alone = is_connect(self.spark) and not (self.args or holes(text))
        if is_alone and SELECTS.match(readable):  # which the server reads anew when it runs
            sent = once_a_session(self.spark, SENT, lambda one: plain_sql(self.spark)(one, None))
            return sent(readable).select("*")  # asks for its schema anew
        with refusing(self.spark):
            found: DataFrame = plain_sql(self.spark)(readable, self.args, **frames)
        if frames and is_connect(self.spark):
            vars(cast("Any", found)._plan)[FRAMES] = tuple(frames.values())
        return found

    def select(self, frame: DataFrame, items: Sequence[str]) -> DataFrame:
        """The DataFrame of a select list over another DataFrame."""
        text = ", ".join(items)
        select_list = self.written(text)
        # markers, holes and subqueries must go through `sql`, which costs a view
        if not (holes(select_list) or self.args or SUBQUERY.search(text)):
            return frame.selectExpr(*map(self.readable, items))
        query = template("SELECT ", select_list, " FROM ", View("matchrec_frame"))
        return self.having(matchrec_frame=frame).sql(self.in_scope(query))

    def readable(self, text: str) -> str:
        """SQL as the session reads it: sums and averages by `+` and `avg` where it lacks others."""
        if SUM_OR_NULL not in text and AVERAGE_OR_NULL not in text:
            return text
        from matchrec.spark.sail.probes import tries_to_add

        if tries_to_add(self.spark):
            return text
        return text.replace(SUM_OR_NULL, "`+`").replace(AVERAGE_OR_NULL, "avg")

    def analyse(self, frame: DataFrame, text: Template | None = None) -> DataFrame:
        """Analyse a DataFrame now, and return it; over Connect that waits until something asks.

        Some sessions find a mistake only where they plan how a query runs, and tell it as the plan.
        text: what such a mistake may be in, None for anything. Where columns of the same types came
        out of it before, and it depends on nothing but tables, nobody looks for one again.
        """
        if is_connect(self.spark):
            from matchrec.spark.sail.probes import analyses_late, check_plan

            with refusing(self.spark):
                schema = frame.schema
            if not analyses_late(self.spark):
                return frame
            is_alone = text is not None and not (self.args or holes(text))
            known = once_a_session(self.spark, PLANNED, lambda *_: [])
            looked_at: list[bool] = known(str(text), schema.json()) if is_alone else []
            if not looked_at:
                check_plan(cast("Any", frame)._explain_string())
                looked_at.append(True)
        return frame

    def fields(self, frame: DataFrame, text: str | None = None) -> list[StructField]:
        """The fields of a DataFrame, analysed now, with the types that its values have.

        Some sessions give CASE, IF and UNION the type of the first value, until they plan how they
        run, and to the end what it says of NULL inside of it. text: of expressions over a relation
        that has its types, None of anything else.
        """
        with refusing(self.spark):
            found: list[StructField] = frame.schema.fields
        if not is_connect(self.spark):
            return found
        from matchrec.spark.sail.probes import analyses_late, check_plan, types_in

        if not analyses_late(self.spark):
            return found
        found = with_nulls(found)
        if not (text is None or CHOICE.search(text)):
            return found
        plan = cast("Any", frame)._explain_string(extended=True)
        try:
            check_plan(plan)
        except AnalysisException:
            if frame.isStreaming:  # which is refused later, by name
                return found
            raise
        planned = types_in(plan, [one.dataType for one in found])
        return [
            StructField(one.name, type_, one.nullable, one.metadata)
            for one, type_ in zip(found, planned, strict=True)
        ]

    def select_typed(self, frame: DataFrame, items: Sequence[str]) -> DataFrame:
        """As `select`, from rows that have their types: the schema has those of the values."""
        frame, text = self.select(frame, items), ", ".join(items)
        if not (is_connect(self.spark) and CHOICE.search(text)):
            return frame
        fields = self.fields(frame, text)
        if fields == with_nulls(frame.schema.fields):
            return frame
        named = ((quoted(one.name), sql_type(one.dataType)) for one in fields)
        return frame.selectExpr(*(f"CAST({name} AS {type_}) AS {name}" for name, type_ in named))

    def tables(self) -> list[str]:
        """The names of the tables and views in reach; none where the engine does not tell."""
        with suppress(*OF_TEXTS):
            return [row["tableName"] for row in plain_sql(self.spark)("SHOW TABLES").collect()]
        return []

    @property
    def tasks(self) -> int | None:
        """Into how many tasks of one process rows are divided; None of Spark, which says it itself.

        Half as many again as there are cores, as keys have unlike numbers of rows: all end alike.
        """
        if not is_connect(self.spark):
            return None
        from matchrec.spark.sail.probes import tasks_at_once

        cores = tasks_at_once(self.spark)
        return None if cores is None else cores + cores // 2

    def having(self, **frames: DataFrame) -> Runner:
        return replace(self, frames={**self.frames, **frames})

    @cached_property
    def settings(self) -> dict[str, str]:
        """The `SETTINGS` of the session, lower case; over Connect all are asked for at once."""
        if is_connect(self.spark):
            client: Any = self.spark.client
            found = client.get_configs(*SETTINGS)
        else:
            found = map(self.spark.conf.get, SETTINGS)
        return {name: str(value).lower() for name, value in zip(SETTINGS, found, strict=True)}


def plain_sql(spark: SparkSession) -> Callable[..., DataFrame]:
    """The session's own `sql`, also where `enable` has put another in its place."""
    found: Any = spark.sql
    original = original_of(getattr(found, "__func__", None))
    bound: Callable[..., DataFrame] = MethodType(original, found.__self__) if original else found
    return bound


@contextmanager
def refusing(spark: SparkSession) -> Iterator[None]:
    """Raises MatchRecognizeError for more DataFrames in one another than Connect sends, and
    AnalysisException for a text at which the server's analysis ends without an answer.
    """
    if not is_connect(spark):
        yield
        return
    from google.protobuf.message import DecodeError
    from pyspark.errors.exceptions.connect import SparkConnectGrpcException

    from matchrec.spark.sail.probes import analyses_late

    try:
        yield
    except (DecodeError, SparkConnectGrpcException) as error:
        if isinstance(error, DecodeError) or UNREADABLE in str(error):
            raise clauses_nested_too_deep() from error
        if CRASH not in str(error) or not analyses_late(spark):
            raise
        raise AnalysisException(sentence_of(str(error))) from error


def table_of(spark: SparkSession, name: str) -> DataFrame:
    """A table by its name; Spark's errors in plain words, with the name of one that is near."""
    runner = Runner(spark)
    try:
        return runner.analyse(spark.table(name))
    except OF_TEXTS as error:
        raise users_terms.in_plain_words(error, runner.tables) from None


@cache
def _has_keywords(function: Callable[..., object]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


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


def formatted(piece: str | View, frames: Mapping[str, Any]) -> str:
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


@dataclass(frozen=True)
class Relation:
    """The input of a clause: how to select from it. all_rows: makes the rows themselves; once."""

    runner: Runner
    select_from: Callable[[Template], Template]
    all_rows: Callable[[], DataFrame] | None = None

    @cached_property
    def rows(self) -> DataFrame:
        return self.select(["*"]) if self.all_rows is None else self.all_rows()

    def query(self, items: Iterable[str]) -> Template:
        return self.select_from(self.runner.written(", ".join(items)))

    def select(self, items: Iterable[str]) -> DataFrame:
        return self.runner.sql(self.query(items))

    def over(self, query: Template, items: Iterable[str]) -> Template:
        """The query of a select list over a query; one text, which Spark analyses once."""
        text = ", ".join(items)
        whole = template("SELECT ", self.runner.written(text), " FROM (", query, ")")
        return self.runner.in_scope(whole) if SUBQUERY.search(text) else whole

    @cached_property
    def _known(self) -> dict[str, StructField]:
        """The fields of expressions, by their texts; first those of the plain columns."""
        schema = self.rows.schema
        names = Counter(map(str.lower, schema.names))
        return {quoted(one.name): one for one in schema if names[one.name.lower()] == 1}

    def fields(self, texts: Iterable[str]) -> list[StructField]:
        """The fields of expressions over the input. Spark is asked once for all that are new."""
        wanted = tuple(texts)
        new = tuple(dict.fromkeys(text for text in wanted if text not in self._known))
        if new:
            fields = self.runner.fields(self.select(new), " ".join(new))
            self._known.update(zip(new, fields, strict=True))
        return [self._known[text] for text in wanted]

    def type_of(self, text: str) -> DataType:
        return self.fields([text])[0].dataType

    def name_of(self, text: str) -> str:
        return self.fields([text])[0].name


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
