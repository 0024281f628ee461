"""What differs between Spark, Spark Connect and Sail: one class each, chosen by asking the session.

The rest of matchrec never asks which engine a session belongs to. It calls a method of `Backend`,
whose defaults are what Spark itself does:

    Backend        Spark, with session and engine in this program
    SparkConnect   the engine is behind a server: a DataFrame is analysed again for every action
    Sail           a server that is not Spark: see `spark.sail.backend`

A server of Spark Connect that is not Sail is never treated as Sail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import DataType, StructField

from matchrec.errors.conditions import clauses_nested_too_deep
from matchrec.plan.text import AVERAGE_OR_NULL, SUM_OR_NULL
from matchrec.spark.relation import Relation, Runner
from matchrec.spark.sail.probes import tries_to_add
from matchrec.spark.session import (
    create_views,
    holes,
    is_dataframe,
    once_a_session,
    plain_sql,
    takes_keyword_arguments,
)

if TYPE_CHECKING:
    from matchrec.compile.path import Draft
    from matchrec.conditions.functions.function import Settings
    from matchrec.conditions.row_column import OrderType
    from matchrec.plan.clauses import RowExpression, SortItem
    from matchrec.plan.match_plan import MatchPlan
    from matchrec.plan.resolve import InputColumns
    from matchrec.plan.text import Template

ARROW = "spark.sql.execution.arrow.pyspark.enabled"

_SETTING = Lock()

SENT = "_matchrec_sent"  # where a session keeps the plans of texts that were sent

# The beginning of a text that changes nothing. After WITH there may be an INSERT.
SELECTS = re.compile(r"\s*SELECT\b", re.IGNORECASE)

# What gRPC says of an answer that it cannot read because it is nested too deep.
UNREADABLE = "Exception deserializing response!"


class Backend:
    """Spark, with the session and the engine in this program; and the base of all others."""

    engine = "Spark"  # as messages name it

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    # Texts and their DataFrames.

    @property
    def reads_sql_of_spark(self) -> bool:
        """Whether the engine reads all spellings of SQL that Spark reads."""
        return True

    def write_sums(self, text: str) -> str:
        """Return SQL with our own sums and averages as the engine computes them.

        `try_add` and `try_avg` are NULL beyond the type. An old engine has `+` and `avg` alone.
        """
        if tries_to_add(self.spark):
            return text
        return text.replace(SUM_OR_NULL, "`+`").replace(AVERAGE_OR_NULL, "avg")

    def run(self, runner: Runner, text: Template) -> DataFrame:
        """Return the DataFrame of a query text, whose holes stand for DataFrames."""
        with ExitStack() as views:
            frames = [name for name in holes(text) if is_dataframe(runner.frames[name])]
            return runner.run_with_views(
                text, create_views(self.spark, runner.frames, frames, views)
            )

    def send(
        self, text: str, args: Any, frames: Mapping[str, Any], *, is_complete: bool
    ) -> DataFrame:
        """Return the DataFrame of a text that the engine reads.

        Args:
            text: the SQL.
            args: the values of its markers.
            frames: DataFrames for the `{name}`s that PySpark fills.
            is_complete: whether the text depends on no argument and no DataFrame.
        """
        return plain_sql(self.spark)(text, args, **frames)

    def finish(self, rows: DataFrame, *, keeps_text: bool) -> DataFrame:
        """Return the result of the query around the clauses.

        `writeTo` and `mergeInto` analyse the text of a DataFrame again, when the views in it are
        gone; they do not if it is a projection.

        Args:
            rows: the result as the text gives it.
            keeps_text: whether the engine stores the text, whose views therefore stay.
        """
        return rows if keeps_text else rows.select("*")

    def analyse(self, runner: Runner, frame: DataFrame, text: Template | None) -> DataFrame:
        """Return a DataFrame once it has been analysed, as `Runner.analyse` does."""
        return frame

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Raise MatchRecognizeError inside for what a server refuses and Spark does not."""
        yield

    def fields(self, frame: DataFrame, text: str | None) -> list[StructField]:
        """Return the fields of a DataFrame with the types that its values have.

        Args:
            frame: the DataFrame, which is analysed now.
            text: its expressions over rows whose types are known; None for anything else.
        """
        with self.refusing():
            found: list[StructField] = frame.schema.fields
        return found

    def with_value_types(self, frame: DataFrame, text: str) -> DataFrame:
        """Return the DataFrame of the expressions in `text` with the types that its values have."""
        return frame

    def settings(self, names: Sequence[str]) -> list[Any]:
        """Return the values of some settings of the session."""
        return [self.spark.conf.get(name) for name in names]

    @property
    def analyses_again(self) -> bool:
        """Whether a DataFrame is analysed again for every action, so that its types may change."""
        return False

    # Rows of this program that are sent to the engine.

    def create_frame(self, rows: Any) -> DataFrame:
        """Return the DataFrame of a pandas frame or an Arrow table, whose rows are sent once.

        Raises what `createDataFrame` raises, and MatchRecognizePlanError for a row that is too
        long.
        """
        from matchrec.spark.sail.sent import is_arrow, sample_row

        names = [str(name) for name in (rows.column_names if is_arrow(rows) else rows.columns)]
        if len(set(names)) < len(names):  # PySpark and views take no name twice
            numbers = [f"_{index}" for index in range(len(names))]
            rows = (
                rows.rename_columns(numbers) if is_arrow(rows) else rows.set_axis(numbers, axis=1)
            )
            return self.create_frame(rows).toDF(*names)
        if not len(rows):
            return self.spark.createDataFrame(sample_row(rows)).where("FALSE")
        return self.send_rows(rows)

    def send_rows(self, rows: Any) -> DataFrame:
        """Return the DataFrame of one row or more whose columns have distinct names."""
        from matchrec.spark.sail.sent import combine_chunks, is_arrow

        return self.spark.createDataFrame(rows if is_arrow(rows) else combine_chunks(rows))

    @contextmanager
    def creating_frames(self) -> Iterator[None]:
        """Make a missing number of pandas NULL inside, as over Connect.

        Without Arrow, PySpark makes it NaN, the greatest of all numbers. One thread at a time:
        another one would take what is set here for what was set before.
        """
        with _SETTING:
            before = str(self.spark.conf.get(ARROW))
            self.spark.conf.set(ARROW, "true")
            try:
                yield
            finally:
                self.spark.conf.set(ARROW, before)

    def keep_sent_rows(self, frame: DataFrame) -> DataFrame:
        """Return a DataFrame whose rows are not sent again for every action."""
        return frame

    # What a plan needs so that the engine computes what Spark would.

    def rewrite_input(self, relation: Relation, alias: str | None) -> Relation:
        """Return the input with the types and time zones that Spark would give its columns."""
        return relation

    def rewrite_plan(self, plan: MatchPlan, relation: Relation, columns: InputColumns) -> MatchPlan:
        """Return a plan for which the engine computes the values of Spark, and keeps guards."""
        from matchrec.spark.eager_operators import write_out_eager_operators

        return write_out_eager_operators(plan)

    def complete_settings(self, settings: Settings, relation: Relation) -> Settings:
        """Return the settings, with what only the input's types make important."""
        return settings

    def evaluates_eagerly(self, plan: MatchPlan) -> bool:
        """Return whether a part of AND may fail on rows that the parts before it rule out."""
        return False

    def check_types(self, plan: MatchPlan, relation: Relation) -> None:
        """Raise MatchRecognizeError for types that the engine accepts and Spark does not."""

    def windows_in_hours(
        self, plan: MatchPlan, type_of_order: Callable[[str], OrderType]
    ) -> list[RowExpression]:
        """Return the windows of days that the engine measures in hours, and Spark by the clock."""
        return []

    @property
    def keeps_cached_rows(self) -> bool:
        """Whether `cache` keeps rows, so that a second action need not compute them again."""
        return True

    # How rows are sorted, and divided among tasks.

    @property
    def tasks(self) -> int | None:
        """The number of tasks to divide rows into; None if the engine decides."""
        return None

    def repartition(self, rows: DataFrame, keys: Sequence[Column]) -> DataFrame:
        """Return the rows with those of equal keys in one task; without keys, all in one."""
        return rows.repartition(*keys) if keys else rows.repartition(1)

    @property
    def running_frame(self) -> str:
        """The frame that `row_number` and the like need in their window."""
        return ""

    def window_keys(self, keys: str) -> str:
        """Return what PARTITION BY of a window over some keys says, which may be nothing."""
        return keys

    def order_key(self, key: str, item: SortItem, type_: DataType) -> str:
        """Return an item of ORDER BY as SQL. `key`: its expression, of the type `type_`."""
        return f"{key} {item.direction}"

    # What fails, and what is counted.

    def watch_rows(self, rows: DataFrame, relation: Relation, drafts: Iterable[Draft]) -> str:
        """Prepare to find out which expression over the input failed, if the query fails.

        Returns:
            a token that the workers of the query carry; "" if the engine's error names the
            expression.
        """
        return ""

    @property
    def has_watermarks(self) -> bool:
        """Whether the engine knows streams with watermarks."""
        return True

    def observation(self, name: str) -> Any:
        """Return an Observation, with which a DataFrame counts."""
        from pyspark.sql import Observation

        return Observation(name)

    def observed(self, result: DataFrame) -> DataFrame:
        """Return the result of SQL text so that its action finds the observations in it.

        An action of the result itself finds none under the names of its views; one of a projection
        of the result does.
        """
        return result.select("*")

    def run_unread(self, result: DataFrame) -> None:
        """Run a query for what it counts. Its rows are dropped."""
        result.write.format("noop").mode("overwrite").save()

    def seen_by(self, result: DataFrame, name: str) -> dict[str, Any]:
        """Return what an action of `result` counted, if its Observation `name` has no values."""
        return {}


class SparkConnect(Backend):
    """Spark behind a server of Spark Connect, in another process or on another machine."""

    def run(self, runner: Runner, text: Template) -> DataFrame:
        plain = plain_sql(self.spark)
        if takes_keyword_arguments(getattr(plain, "__func__", plain)):  # PySpark fills every hole
            return runner.run_with_views(text, {})
        return runner.stored(text)  # PySpark 3.5 cannot send DataFrames along

    def send(
        self, text: str, args: Any, frames: Mapping[str, Any], *, is_complete: bool
    ) -> DataFrame:
        if is_complete and SELECTS.match(text):
            # A text is sent once in a session: its plan is the text, which the server reads again
            # whenever the DataFrame runs. The projection asks for its own schema, which may change.
            sent = once_a_session(self.spark, SENT, lambda sql: plain_sql(self.spark)(sql, None))
            return sent(text).select("*")
        with self.refusing():
            return plain_sql(self.spark)(text, args, **frames)

    def finish(self, rows: DataFrame, *, keeps_text: bool) -> DataFrame:
        return rows

    def analyse(self, runner: Runner, frame: DataFrame, text: Template | None) -> DataFrame:
        with self.refusing():
            _ = frame.schema
        return frame

    @contextmanager
    def refusing(self) -> Iterator[None]:
        from google.protobuf.message import DecodeError
        from pyspark.errors.exceptions.connect import SparkConnectGrpcException

        try:
            yield
        except (DecodeError, SparkConnectGrpcException) as error:
            if isinstance(error, DecodeError) or UNREADABLE in str(error):
                raise clauses_nested_too_deep() from error
            raise

    def settings(self, names: Sequence[str]) -> list[Any]:
        client: Any = self.spark.client
        return list(client.get_configs(*names))  # in one message

    @property
    def analyses_again(self) -> bool:
        return True

    def send_rows(self, rows: Any) -> DataFrame:
        from matchrec.spark.sail.sent import combine_chunks, with_types_of_all_rows

        rows = with_types_of_all_rows(rows)
        return self.keep_sent_rows(self.spark.createDataFrame(combine_chunks(rows)))

    @contextmanager
    def creating_frames(self) -> Iterator[None]:
        yield  # always by Arrow

    def keep_sent_rows(self, frame: DataFrame) -> DataFrame:
        from matchrec.spark.sail.sent import kept

        return kept(frame)

    def observation(self, name: str) -> Any:
        from pyspark.sql.connect.observation import Observation

        return Observation(name)

    def observed(self, result: DataFrame) -> DataFrame:
        return result  # it knows what its own action has counted; a projection of it does not

    def run_unread(self, result: DataFrame) -> None:
        result.collect()  # the server sends the counters only together with the rows

    def seen_by(self, result: DataFrame, name: str) -> dict[str, Any]:
        information = getattr(result, "executionInfo", None)
        return {} if information is None else dict(cast("Any", information).flows).get(name, {})
