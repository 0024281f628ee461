"""Running SQL text over DataFrames through `spark.sql` and nothing else.

`spark.sql(text, frame=df)` makes a view for each `{frame}` and drops it again, in Classic and over
Connect. It runs Python's `str.format` over the text, so every other brace is doubled here.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MethodType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from matchrec.plan.template import Template, View, template

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


REPLACED = "_matchrec_replaced"
SUBQUERY = re.compile(r"\(\s*(SELECT|WITH|FROM|VALUES|TABLE)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Runner:
    """A session, the arguments of the user's query, and the DataFrames that may fill its holes.

    written: finds the holes in the text of one of the user's expressions. in_scope: puts in front
    of a query what its subqueries may name, the WITH clauses around the user's clause.
    """

    spark: SparkSession
    args: dict[str, Any] | None = None
    frames: Mapping[str, Any] = field(default_factory=dict)
    written: Callable[[str], Template] = template
    in_scope: Callable[[Template], Template] = template

    def sql(self, text: Template) -> DataFrame:
        """The DataFrame of a query text; analysed now, run later."""
        views = {piece.name for piece in text if isinstance(piece, View)}
        if not views:
            return self._spark_sql("".join(str(piece) for piece in text))
        formatted = "".join(
            f"{{{piece.name}}}" if isinstance(piece, View) else escape_braces(piece)
            for piece in text
        )
        used = {name: self.frames[name] for name in views}
        return self._spark_sql(formatted, **used)

    def _spark_sql(self, text: str, **frames: Any) -> DataFrame:
        """Spark's own `sql`, also on a session where `install` put another in its place."""
        found: DataFrame = plain_sql(self.spark)(text, self.args, **frames)
        return found

    def select(self, frame: DataFrame, items: Sequence[str]) -> DataFrame:
        """The DataFrame of a select list over another DataFrame.

        Text with parameter markers, holes or subqueries must go through `sql`, which costs a view.
        """
        text = ", ".join(items)
        select_list = self.written(text)
        plain = all(isinstance(piece, str) for piece in select_list)
        if plain and not self.args and not SUBQUERY.search(text):
            return frame.selectExpr(*items)
        query = template("SELECT ", select_list, " FROM ", View("matchrec_frame"))
        return self.having(matchrec_frame=frame).sql(self.in_scope(query))

    def analysed(self, frame: DataFrame) -> DataFrame:
        """The same DataFrame, analysed now; over Connect that waits until something asks."""
        if is_connect(self.spark):
            _ = frame.schema
        return frame

    def kept(self, text: Template) -> Template:
        """The text with each hole filled by a temporary view that stays in the session.

        For text that Spark stores, as in CREATE TEMPORARY VIEW, and reads again later.
        """
        return tuple(self._kept_view(one) if isinstance(one, View) else one for one in text)

    def _kept_view(self, view: View) -> str:
        name = f"matchrec_{view.name}_{uuid4().hex}"
        self.frames[view.name].createTempView(name)
        return name

    def having(self, **frames: DataFrame) -> Runner:
        """The same runner with more DataFrames."""
        return replace(self, frames={**self.frames, **frames})

    def setting(self, name: str) -> str:
        """A setting of the session, lower case."""
        return str(self.spark.conf.get(name)).lower()


def plain_sql(spark: SparkSession) -> Callable[..., DataFrame]:
    """The session's own `sql`, also where `install` has put another in its place."""
    found: Any = spark.sql
    original = original_of(getattr(found, "__func__", None))
    bound: Callable[..., DataFrame] = MethodType(original, found.__self__) if original else found
    return bound


def original_of(function: object) -> Callable[..., DataFrame] | None:
    """What `install` has put this function in the place of, or None.

    The mark names the function, as others who wrap it copy the mark.
    """
    marked, original = getattr(function, REPLACED, (None, None))
    return original if marked is function else None


def is_stopped(spark: SparkSession) -> bool:
    """Whether the session cannot run anything any more."""
    if is_connect(spark):
        return bool(getattr(spark, "is_stopped", False))
    return getattr(spark.sparkContext, "_jsc", spark) is None


def is_connect(spark: SparkSession) -> bool:
    """Whether the session, or what it wraps or extends, is a client of Spark Connect."""
    session = getattr(spark.sql, "__self__", spark)
    return any(".connect." in f"{cls.__module__}." for cls in type(session).__mro__)


def query_context_logger() -> logging.Logger:
    """PySpark's logger of failed analyses; before 4.0 there is none, and this one is silent."""
    name = "SQLQueryContextLogger"
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        return logging.getLogger(name)
    return PySparkLogger.getLogger(name)


@contextmanager
def quiet_analysis() -> Iterator[None]:
    """No log line of PySpark for a failed analysis: whoever asks words the error."""
    logger = query_context_logger()
    was_disabled = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = was_disabled


def escape_braces(text: str) -> str:
    """The text as `str.format` needs it to leave its braces alone."""
    return text.replace("{", "{{").replace("}", "}}")
