"""What differs between Spark, Spark Connect and Sail: a class for each of them.

The rest of matchrec never asks which engine a session belongs to. It calls a method of `Backend`,
whose defaults are what Spark itself does. `backends.find_backend` chooses the class, by asking the
session what it is:

    Backend        Spark, with session and engine in this program
    SparkConnect   the engine is behind a server: a DataFrame is analysed again for every action
    Sail           a server that is not Spark: see `spark.sail.backend`

A server of Spark Connect that is not Sail is never treated as Sail.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from inspect import signature
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import DataType, StructField, StructType

from matchrec.errors.conditions import clauses_nested_too_deep
from matchrec.plan.text import AVERAGE_OR_NULL, SUM_OR_NULL
from matchrec.spark.relation import Relation, Runner, Values
from matchrec.spark.sail.probes import tries_to_add
from matchrec.spark.session import (
    create_lasting_views,
    create_views,
    find_plain_sql,
    is_dataframe,
    list_holes,
    takes_keyword_arguments,
)

if TYPE_CHECKING:
    from matchrec.compile.split_query import SplitQuery
    from matchrec.conditions.functions.function import SessionSettings
    from matchrec.conditions.window_columns import OrderType
    from matchrec.plan.clauses import RowExpression, SortItem
    from matchrec.plan.match_plan import MatchPlan
    from matchrec.plan.resolve import InputColumns
    from matchrec.plan.templates import Template

# The setting of whether PySpark sends the rows of a pandas frame by Arrow.
ARROW_SETTING = "spark.sql.execution.arrow.pyspark.enabled"

_changing_settings = Lock()

# Finds a text that changes nothing. WITH does not count, because an INSERT may follow it.
BEGINS_WITH_SELECT = re.compile(r"\s*SELECT\b", re.IGNORECASE)

# The message of gRPC if it cannot read an answer because the answer is too deeply nested.
UNREADABLE_ANSWER = "Exception deserializing response!"


class Backend:
    """Spark, with the session and the engine in this program; the base class of all backends."""

    engine = "Spark"  # the name of the engine in messages

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    # SQL texts and their DataFrames.

    @property
    def reads_sql_of_spark(self) -> bool:
        """Return whether the engine reads all spellings of SQL that Spark reads."""
        return True

    def write_sums(self, text: str) -> str:
        """Return SQL with our own sums and averages as the engine computes them.

        `try_add` and `try_avg` return NULL if the result does not fit its type. An old version of
        Spark has only `+` and `avg`.
        """
        if tries_to_add(self.spark):
            return text
        return text.replace(SUM_OR_NULL, "`+`").replace(AVERAGE_OR_NULL, "avg")

    @contextmanager
    def open_views(self, frames: Mapping[str, Any], text: Template) -> Iterator[Mapping[str, str]]:
        """Make views of DataFrames that a text names, for as long as the text is analysed inside.

        Args:
            frames: what fills the holes of the text, by their names.
            text: a query text.

        Yields:
            The name of the view for each hole that has one. PySpark fills the other holes.
        """
        frame_names = [name for name in list_holes(text) if is_dataframe(frames[name])]
        with ExitStack() as views:
            yield create_views(self.spark, frames, frame_names, views)

    def send(self, text: str, args: Values, frames: Mapping[str, Any]) -> DataFrame:
        """Send a text to the engine, and return its DataFrame.

        Args:
            text: the SQL.
            args: the values of its parameters; None if it has none.
            frames: what PySpark fills in for each `{name}`.
        """
        return find_plain_sql(self.spark)(text, args, **frames)

    def finish(self, rows: DataFrame, *, keeps_text: bool) -> DataFrame:
        """Return the result of the user's query, from a plan that names no views of ours.

        `writeTo` and `mergeInto` analyse the text of a DataFrame again, when its views are gone.
        They do not if the DataFrame is a projection.

        Args:
            rows: the DataFrame of the query's text.
            keeps_text: whether the engine stores the text. Its views then stay.
        """
        return rows if keeps_text else rows.select("*")

    def analyse(self, runner: Runner, frame: DataFrame, text: Template | None) -> DataFrame:
        """Return a DataFrame once it has been analysed, as `Runner.analyse` does."""
        return frame

    @property
    def keeps_fields(self) -> bool:
        """Return whether `keep_fields` saves a question to the engine."""
        return False

    def keep_fields(self, frame: DataFrame, fields: Sequence[StructField]) -> None:
        """Let a DataFrame have fields that are known, so that nobody asks for its schema.

        Does nothing in a session that analyses each DataFrame when it is made.
        """

    @contextmanager
    def translate_server_errors(self) -> Iterator[None]:
        """Raise MatchRecognizeError inside for an error of the server that is not Spark's."""
        yield

    def find_fields(self, frame: DataFrame, text: str | None) -> list[StructField]:
        """Return the fields of a DataFrame with the types that its values have.

        Args:
            frame: the DataFrame, which is analysed now.
            text: its expressions over rows whose types are known; None for anything else.
        """
        with self.translate_server_errors():
            fields: list[StructField] = frame.schema.fields
        return fields

    def with_value_types(self, frame: DataFrame, text: str) -> DataFrame:
        """Return the DataFrame of the expressions in `text` with the types that its values have."""
        return frame

    def read_settings(self, names: Sequence[str]) -> list[Any]:
        """Return the values of settings of the session, in the order of their names."""
        return [self.spark.conf.get(name) for name in names]

    @property
    def analyses_again(self) -> bool:
        """Return whether a DataFrame is analysed again for every action.

        Its types may then change.
        """
        return False

    # Rows that this program sends to the engine.

    def create_frame(self, rows: Any) -> DataFrame:
        """Send the rows of a pandas frame or an Arrow table once, and return their DataFrame.

        Raises:
            MatchRecognizePlanError: a row is too long to be sent.
            Exception: as `createDataFrame` raises it.
        """
        from matchrec.spark.sail.sent import is_arrow, sample_row

        names = [str(name) for name in (rows.column_names if is_arrow(rows) else rows.columns)]
        if len(set(names)) < len(names):
            # PySpark and views accept no name twice, but `toDF` does
            unique_names = [f"_{index}" for index in range(len(names))]
            if is_arrow(rows):
                renamed = rows.rename_columns(unique_names)
            else:
                renamed = rows.set_axis(unique_names, axis=1)
            return self.create_frame(renamed).toDF(*names)
        if not len(rows):
            return self.spark.createDataFrame(sample_row(rows)).where("FALSE")
        return self.send_rows(rows)

    def send_rows(self, rows: Any) -> DataFrame:
        """Send at least one row, whose columns have distinct names, and return the DataFrame."""
        from matchrec.spark.sail.sent import combine_chunks, is_arrow

        return self.spark.createDataFrame(rows if is_arrow(rows) else combine_chunks(rows))

    @contextmanager
    def use_arrow(self) -> Iterator[None]:
        """Send rows by Arrow inside, so that a missing number of pandas becomes NULL.

        Over Connect it always does. Without Arrow, PySpark makes it NaN, the greatest of all
        numbers. Only one thread can be inside at a time: another one would restore the value that
        is set here, instead of the one before.
        """
        with _changing_settings:
            value_before = str(self.spark.conf.get(ARROW_SETTING))
            self.spark.conf.set(ARROW_SETTING, "true")
            try:
                yield
            finally:
                self.spark.conf.set(ARROW_SETTING, value_before)

    def keep_sent_rows(self, frame: DataFrame) -> DataFrame:
        """Return a DataFrame whose rows are not sent again for every action."""
        return frame

    # Plans that make the engine compute what Spark would.

    def rewrite_input(self, relation: Relation, alias: str | None) -> Relation:
        """Return the input with the types and time zones that Spark would give its columns."""
        return relation

    def rewrite_plan(self, plan: MatchPlan, relation: Relation, columns: InputColumns) -> MatchPlan:
        """Return a plan for which the engine computes Spark's values.

        A condition must also still guard the expressions after it in AND: they are not computed on
        rows for which it is false.
        """
        from matchrec.spark.eager_operators import write_out_eager_operators

        return write_out_eager_operators(plan)

    def complete_settings(self, settings: SessionSettings, relation: Relation) -> SessionSettings:
        """Return the settings, with those added that matter only for some types of the input."""
        return settings

    def evaluates_eagerly(self, plan: MatchPlan) -> bool:
        """Return whether a part of AND may fail on rows for which a part before it is false."""
        return False

    def check_types(self, plan: MatchPlan, relation: Relation) -> None:
        """Raise MatchRecognizeError for types that the engine accepts and Spark does not."""

    def find_windows_in_hours(
        self, plan: MatchPlan, find_order_type: Callable[[str], OrderType]
    ) -> list[RowExpression]:
        """Return the windows of days that the engine measures in hours.

        Spark measures them by the clock: a day may have 23 or 25 hours.

        Args:
            plan: the plan, with its windows.
            find_order_type: returns the type of an ORDER BY expression.
        """
        return []

    @property
    def keeps_cached_rows(self) -> bool:
        """Return whether `cache` keeps rows, so that a second action does not compute them."""
        return True

    # How rows are sorted, and divided among tasks.

    def count_tasks(self, input_rows: DataFrame) -> int | None:
        """Return the number of tasks to divide rows into; None if the engine decides.

        Args:
            input_rows: the input of the clause, whose size may matter. It is not run.
        """
        return None

    def repartition(self, rows: DataFrame, keys: Sequence[Column], tasks: int | None) -> DataFrame:
        """Bring the rows of equal keys together in one task; without keys, all rows.

        Args:
            rows: the rows.
            keys: the keys, in a form in which equal keys have the same bits.
            tasks: what `count_tasks` returns; 1 without keys.
        """
        return rows.repartition(*keys) if keys else rows.repartition(1)

    @property
    def running_frame(self) -> str:
        """Return the text of the frame that functions like `row_number` need in their window."""
        return ""

    def write_window_keys(self, keys: str) -> str:
        """Return the text after PARTITION BY for a window divided by some keys; "" for none."""
        return keys

    def order_key(self, key: str, item: SortItem, type_: DataType) -> str:
        """Return an item of ORDER BY as SQL.

        Args:
            key: SQL of the expression.
            item: its direction.
            type_: its type.
        """
        return f"{key} {item.direction}"

    # Failures, streams and counters.

    def watch_errors(self) -> None:
        """Let the errors of workers have the text that users need, from now on."""
        from matchrec.spark.errors.failed_actions import watch_java

        watch_java()

    def watch_rows(self, rows: DataFrame, relation: Relation, queries: Iterable[SplitQuery]) -> str:
        """Prepare to explain why a query fails, also which expression over the input has failed.

        Returns:
            a token that the workers of the query carry; "" if the engine's error names the
            expression.
        """
        self.watch_errors()
        return ""

    @property
    def has_watermarks(self) -> bool:
        """Return whether the engine knows streams with watermarks."""
        return True

    def make_observation(self, name: str) -> Any:
        """Return an Observation, with which a DataFrame counts."""
        from pyspark.sql import Observation

        return Observation(name)

    def make_observable(self, result: DataFrame) -> DataFrame:
        """Return the result of SQL text such that its action finds the observations in it.

        An action on the result itself finds none under the names of its views. An action on a
        projection of the result finds them.
        """
        return result.select("*")

    def run_unread(self, result: DataFrame) -> None:
        """Run a query only for what it counts. Its rows are dropped."""
        result.write.format("noop").mode("overwrite").save()

    def read_counts(self, result: DataFrame, name: str) -> dict[str, Any]:
        """Return the counters of an action on `result` under a name, if its Observation has none.

        Returns an empty dict if nothing is found.
        """
        return {}


class SparkConnect(Backend):
    """Spark behind a server of Spark Connect, in another process or on another machine."""

    @contextmanager
    def open_views(self, frames: Mapping[str, Any], text: Template) -> Iterator[Mapping[str, str]]:
        """Make no views if PySpark can send DataFrames along with a text. Otherwise they stay.

        The server reads the text again for every action, so it must find the views then.
        """
        plain = find_plain_sql(self.spark)
        can_send_frames = takes_keyword_arguments(getattr(plain, "__func__", plain))
        if can_send_frames:
            yield {}
            return
        with create_lasting_views(self.spark, frames, list_holes(text)) as view_names:
            yield view_names  # as for PySpark 3.5

    def send(self, text: str, args: Values, frames: Mapping[str, Any]) -> DataFrame:
        """Return the DataFrame of a text, without a message to the server for a SELECT.

        The server would only answer that the plan of a SELECT is its text. It reads the text again
        whenever the DataFrame is analysed or run.
        """
        with self.translate_server_errors():
            if not frames and BEGINS_WITH_SELECT.match(text):
                plan = plan_text(text, args)
                if plan is not None:
                    frame = self.spark.range(1)
                    cast("Any", frame)._plan = plan
                    return frame
            return find_plain_sql(self.spark)(text, args, **frames)

    def finish(self, rows: DataFrame, *, keeps_text: bool) -> DataFrame:
        """Return the rows as they are."""
        return rows  # its plan names no views

    def analyse(self, runner: Runner, frame: DataFrame, text: Template | None) -> DataFrame:
        """Let the server analyse a DataFrame, so that it raises its errors here."""
        with self.translate_server_errors():
            _ = frame.schema  # asks the server, which analyses the DataFrame
        return frame

    @property
    def keeps_fields(self) -> bool:
        """Return True: otherwise each schema is a message to the server."""
        return True

    def keep_fields(self, frame: DataFrame, fields: Sequence[StructField]) -> None:
        """Let a DataFrame have these fields, so that nobody asks the server for its schema.

        PySpark copies the schema whenever it is read. It copies a pickled one ten times as fast.
        """
        schema = StructType(list(fields))
        vars(frame)["_cached_schema"] = schema
        vars(frame)["_cached_schema_serialized"] = pickle.dumps(schema)

    @contextmanager
    def translate_server_errors(self) -> Iterator[None]:
        """Raise an error about clauses that are too deeply nested if an answer cannot be read."""
        from google.protobuf.message import DecodeError
        from pyspark.errors.exceptions.connect import SparkConnectGrpcException

        try:
            yield
        except (DecodeError, SparkConnectGrpcException) as error:
            if isinstance(error, DecodeError) or UNREADABLE_ANSWER in str(error):
                raise clauses_nested_too_deep() from error
            raise

    def read_settings(self, names: Sequence[str]) -> list[Any]:
        """Return the values of settings of the session."""
        client: Any = self.spark.client
        return list(client.get_configs(*names))  # all in one message

    @property
    def analyses_again(self) -> bool:
        """Return True: the server analyses a plan again for every action."""
        return True

    def send_rows(self, rows: Any) -> DataFrame:
        """Return a DataFrame of local rows, which are sent to the server."""
        from matchrec.spark.sail.sent import combine_chunks, with_types_of_all_rows

        rows = with_types_of_all_rows(rows)
        return self.keep_sent_rows(self.spark.createDataFrame(combine_chunks(rows)))

    @contextmanager
    def use_arrow(self) -> Iterator[None]:
        """Change nothing, because Spark Connect always sends rows by Arrow."""
        yield  # PySpark always uses Arrow

    def keep_sent_rows(self, frame: DataFrame) -> DataFrame:
        """Return a DataFrame whose rows are sent once and kept by the server."""
        from matchrec.spark.sail.sent import keep_rows

        return keep_rows(frame)

    def watch_errors(self) -> None:
        """Let the client show the errors of workers as users read them."""
        from matchrec.spark.errors.failed_actions import watch_client

        watch_client(self.spark)

    def make_observation(self, name: str) -> Any:
        """Return an Observation of Spark Connect."""
        from pyspark.sql.connect.observation import Observation

        return Observation(name)

    def make_observable(self, result: DataFrame) -> DataFrame:
        """Return the result as it is."""
        return result  # it knows what its own action has counted; a projection of it does not

    def run_unread(self, result: DataFrame) -> None:
        """Run the result for its counters only."""
        result.collect()  # the server sends the counters only together with the rows

    def read_counts(self, result: DataFrame, name: str) -> dict[str, Any]:
        """Return the counters that the result's own action has reported; empty before that."""
        information = getattr(result, "executionInfo", None)
        if information is None:
            return {}
        counts: dict[str, Any] = dict(cast("Any", information).flows).get(name, {})
        return counts


def plan_text(text: str, args: Values) -> Any:
    """Return the plan of Spark Connect that consists of a text.

    Args:
        text: the text of a query.
        args: the values of its parameters, with their names as keys; None if it has none.

    Returns:
        The plan; None if this PySpark makes such plans in another way.
    """
    from pyspark.sql.connect.functions import lit
    from pyspark.sql.connect.plan import SQL

    parameters = list_parameters(SQL)
    if args is None and "query" in parameters:
        return SQL(text)
    if isinstance(args, dict) and "named_args" in parameters:  # not in PySpark 3.5
        return SQL(text, named_args={name: lit(value) for name, value in args.items()})
    return None


@cache
def list_parameters(function: Callable[..., object]) -> frozenset[str]:
    """Return the names of the parameters of a function or class."""
    return frozenset(signature(function).parameters)
