"""What differs between Spark, Spark Connect and Sail: a class for each of them.

The rest of matchrec never checks which engine a session belongs to. It calls a method of `Backend`,
which is the class for Spark itself. Each subclass overrides what its engine does differently:

    Backend        here             Spark, with session and engine in this program
    SparkConnect   `connect`        Spark behind a server, which analyses a plan for every action
    Sail           `sail.backend`   a server that is not Spark

`backends.find_backend` chooses the class by inspecting the session. A server of Spark
Connect that is not Sail is never treated as Sail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import DataType, LongType, StructField

from matchrec.plan.text import AVERAGE_OR_NULL, SUM_OR_NULL
from matchrec.spark.frames import is_arrow_table
from matchrec.spark.holes import create_views, is_dataframe, list_holes
from matchrec.spark.relation import Relation
from matchrec.spark.runner import Runner, SqlArguments
from matchrec.spark.sail.probes import has_try_add
from matchrec.spark.sql_replacement import find_plain_sql

if TYPE_CHECKING:
    from matchrec.compile.split_query import SplitQuery
    from matchrec.conditions.functions.function import SessionSettings
    from matchrec.conditions.window_columns import OrderType
    from matchrec.errors.run.origins import SqlOrigin
    from matchrec.plan.clauses import RowExpression, SortItem
    from matchrec.plan.match_plan import MatchPlan
    from matchrec.plan.resolve import InputColumns
    from matchrec.plan.templates import Template
    from matchrec.spark.select_items import SelectItem

# The setting of whether PySpark sends the rows of a pandas frame by Arrow.
ARROW_SETTING = "spark.sql.execution.arrow.pyspark.enabled"

# A thread holds this lock while it has changed `ARROW_SETTING`.
_arrow_setting_lock = Lock()


class Backend:
    """Spark, with the session and the engine in this program; the base class of all backends."""

    # The name of the engine in messages.
    engine = "Spark"

    def __init__(self, spark: SparkSession) -> None:
        """Create the backend of a session."""
        self.spark = spark

    # SQL texts and their DataFrames.

    @property
    def can_read_spark_sql(self) -> bool:
        """Return whether the engine can read every SQL text that Spark reads."""
        return True

    @property
    def can_reset_settings(self) -> bool:
        """Return whether the engine has the statement RESET."""
        return True

    def has_reliable_syntax_errors(self, text: str) -> bool:
        """Return whether the engine's parser rejects a statement only if its syntax is wrong.

        Args:
            text: a statement that is not a query, and does not begin with blanks or comments.
        """
        return True

    def adapt_sums(self, text: str) -> str:
        """Return SQL in which the engine can compute the sums and averages that matchrec wrote.

        These are `try_add` and `try_avg`, which return NULL if the result does not fit its type. An
        old version of Spark has only `+` and `avg`.
        """
        if has_try_add(self.spark):
            return text
        return text.replace(SUM_OR_NULL, "`+`").replace(AVERAGE_OR_NULL, "avg")

    @contextmanager
    def open_views(self, frames: Mapping[str, Any], text: Template) -> Iterator[Mapping[str, str]]:
        """Create views of the DataFrames in a text. They exist in the `with` block.

        Args:
            frames: the DataFrames and other values that fill the holes of the text, by the names of
                the holes.
            text: a query text, which is analysed in the block.

        Yields:
            The name of the view for each hole that has one. PySpark fills the other holes.
        """
        frame_names = [name for name in list_holes(text) if is_dataframe(frames[name])]
        with ExitStack() as views:
            yield create_views(self.spark, frames, frame_names, views)

    def send_text(self, text: str, args: SqlArguments, frames: Mapping[str, Any]) -> DataFrame:
        """Send a query text to the engine, and return its DataFrame.

        Args:
            text: the SQL.
            args: the values of its parameters; None if it has no parameters.
            frames: the DataFrame or value that PySpark fills in for each `{name}`.
        """
        return find_plain_sql(self.spark)(text, args, **frames)

    def detach_from_views(self, rows: DataFrame) -> DataFrame:
        """Return the result of a text in a form that can be used once its views are gone.

        `writeTo` and `mergeInto` analyse the text of a DataFrame again, and would miss the views.
        They do not analyse the text of a projection again.
        """
        return rows.select("*")

    def analyse(self, runner: Runner, frame: DataFrame, text: Template | None) -> DataFrame:
        """Let the engine analyse a DataFrame to find mistakes in it, and return the DataFrame.

        Spark itself analyses a DataFrame when it is created, so nothing is left to do here.

        Args:
            runner: the runner of the texts of the user's query.
            frame: the DataFrame.
            text: see `Runner.analyse`.

        Raises:
            pyspark.errors.AnalysisException: the DataFrame has a mistake.
        """
        return frame

    @property
    def requests_schemas(self) -> bool:
        """Return whether reading the schema of a new DataFrame sends a request to a server.

        `set_schema` saves the request.
        """
        return False

    def set_schema(self, frame: DataFrame, fields: Sequence[StructField]) -> None:
        """Give a DataFrame the schema that it is known to have, so that reading it is no request.

        Does nothing in a session that analyses each DataFrame when it is created.
        """

    @contextmanager
    def translate_server_errors(self) -> Iterator[None]:
        """Replace errors of the server that users would not understand, in the `with` block."""
        yield

    def find_fields(self, frame: DataFrame, text: str | None) -> list[StructField]:
        """Return the fields of a DataFrame with the types that its values have.

        Args:
            frame: the DataFrame, which is analysed now.
            text: its expressions as SQL, if the DataFrame is a select list over rows whose types
                are known; otherwise None.
        """
        with self.translate_server_errors():
            fields: list[StructField] = frame.schema.fields
        return fields

    def cast_to_value_types(self, frame: DataFrame, text: str) -> DataFrame:
        """Return a DataFrame whose schema has the types that its values have.

        Args:
            frame: a DataFrame. Its schema can differ from the types of its values.
            text: its expressions as SQL.
        """
        return frame

    def read_settings(self, names: Sequence[str]) -> list[Any]:
        """Return the values of settings of the session, in the order of their names."""
        return [self.spark.conf.get(name) for name in names]

    @property
    def analyses_every_action(self) -> bool:
        """Return whether a DataFrame is analysed again for every action.

        If it is, its types follow changes of the types in its tables.
        """
        return False

    @property
    def uses_shuffle_partitions(self) -> bool:
        """Return whether `spark.sql.shuffle.partitions` is the number of tasks after a shuffle."""
        return True

    @property
    def starts_with_settings(self) -> bool:
        """Return whether the engine sets settings when it starts, as if the user had set them."""
        return False

    # Rows that the engine reads, or that this program sends to it.

    def cast_unreadable_columns(self, frame: DataFrame, path: Path) -> DataFrame:
        """Return the rows of Parquet files, with casts of columns whose types cannot be read.

        Args:
            frame: the rows of the files, as the engine declares them.
            path: one of the files. All of them have the same columns.
        """
        return frame

    def create_frame(self, rows: Any) -> DataFrame:
        """Send the rows of a pandas frame or an Arrow table once, and return their DataFrame.

        Raises:
            MatchRecognizePlanError: a row is too long to be sent. Only engines with a limit for
                messages raise it.
            Exception: any error that `createDataFrame` raises.
        """
        from matchrec.spark.sent_rows import make_sample_row

        names = list_column_names(rows)
        if len(set(names)) < len(names):
            # `createDataFrame` and views accept no name twice, but `toDF` does.
            unique_names = [f"_{index}" for index in range(len(names))]
            return self.create_frame(rename_columns(rows, unique_names)).toDF(*names)
        if not len(rows):
            return self.spark.createDataFrame(make_sample_row(rows)).where("FALSE")
        return self.send_rows(rows)

    def send_rows(self, rows: Any) -> DataFrame:
        """Send rows to the engine, and return their DataFrame.

        Args:
            rows: a pandas frame or an Arrow table with at least one row. The names of its columns
                are distinct.
        """
        from matchrec.spark.sent_rows import combine_chunks

        return self.spark.createDataFrame(rows if is_arrow_table(rows) else combine_chunks(rows))

    @contextmanager
    def use_arrow(self) -> Iterator[None]:
        """Send rows by Arrow in the `with` block, so that missing numbers in pandas become NULL.

        Without Arrow, PySpark makes them NaN, the greatest of all numbers. Only one thread can be
        in the block at a time. Otherwise a second thread would read the value that the first thread
        has set, and at the end restore this value instead of the user's.
        """
        with _arrow_setting_lock:
            value_before = str(self.spark.conf.get(ARROW_SETTING))
            self.spark.conf.set(ARROW_SETTING, "true")
            try:
                yield
            finally:
                self.spark.conf.set(ARROW_SETTING, value_before)

    def keep_sent_rows(self, frame: DataFrame) -> DataFrame:
        """Return a DataFrame with the same rows, which actions on it do not send again."""
        return frame

    # Changes to a plan so that the engine computes the same values as Spark.

    def rewrite_input(self, relation: Relation, alias: str | None) -> Relation:
        """Return the input with the types and time zones that Spark would give its columns."""
        return relation

    def rewrite_plan(self, plan: MatchPlan, relation: Relation, columns: InputColumns) -> MatchPlan:
        """Return a plan from which the engine computes the same values as Spark.

        An operand of AND is still not computed on rows for which an operand before it is false.
        """
        from matchrec.spark.eager_operators import write_out_eager_operators

        return write_out_eager_operators(plan)

    def complete_settings(self, settings: SessionSettings, relation: Relation) -> SessionSettings:
        """Add the settings that depend on the input's types to the settings of a session."""
        return settings

    def has_eager_operands(self, plan: MatchPlan) -> bool:
        """Return whether an operand of AND can fail on a row for which an earlier operand is false.

        On Spark it cannot, because Spark does not evaluate it on such a row.
        """
        return False

    def check_types(self, plan: MatchPlan, relation: Relation) -> None:
        """Reject a query that the engine's analysis accepts, although it fails on every row.

        Raises:
            MatchRecognizeError: the plan compares a number or a time with a text that cannot be
                converted, or has an invalid regular expression or format of dates and times. On an
                engine other than Spark, also for a type that Spark would reject.
        """
        from matchrec.spark.errors.datetime_formats import find_invalid_formats
        from matchrec.spark.errors.operand_checks import find_unreadable_literals
        from matchrec.spark.errors.regular_expressions import find_invalid_patterns

        for find_errors in (find_unreadable_literals, find_invalid_patterns, find_invalid_formats):
            error = next(find_errors(plan, relation), None)
            if error is not None:
                raise error

    def find_windows_in_hours(
        self, plan: MatchPlan, find_order_type: Callable[[str], OrderType]
    ) -> list[RowExpression]:
        """Return the windows of days that the engine measures in hours.

        Spark measures them by the clock: a day can have 23 or 25 hours.

        Args:
            plan: the plan, with its windows.
            find_order_type: returns the type of an ORDER BY expression.
        """
        return []

    @property
    def can_cache_rows(self) -> bool:
        """Return whether `cache` keeps rows, so that a second action does not compute them."""
        return True

    @property
    def has_shared_files(self) -> bool:
        """Return whether this program can open the files that the engine writes.

        It cannot if a server or a cluster writes them, because other machines have other disks.
        """
        return (self.spark.sparkContext.master or "").startswith("local")

    # How rows are divided among tasks and sorted.

    def count_tasks(self, input_rows: DataFrame) -> int | None:
        """Return the number of tasks to divide rows into; None if the engine decides.

        Args:
            input_rows: the input of the clause. Its estimated size can matter. It is not run.
        """
        return None

    def repartition(
        self, rows: DataFrame, keys: Sequence[Column], task_count: int | None
    ) -> DataFrame:
        """Bring the rows of equal keys together in one task; without keys, all rows.

        Args:
            rows: the rows.
            keys: the keys, in a form in which equal keys have the same bits.
            task_count: what `count_tasks` returns; 1 without keys.
        """
        return rows.repartition(*keys) if keys else rows.repartition(1)

    def choose_bit_column_type(self, bit_count: int) -> DataType:
        """Return the type of a column whose bits are truth values.

        On Spark it is BIGINT, because most keys and numbers are BIGINT: the cost of sending columns
        to Python depends on the number of different types, not on the number of bytes
        (docs/contributing/decisions/bytes_of_a_batch.md).

        Args:
            bit_count: the number of truth values in the column, at most 62.
        """
        return LongType()

    @property
    def running_frame(self) -> str:
        """Return the frame of `row_number`, `lag` and `lead` as SQL; "" if they need none."""
        return ""

    def write_window_keys(self, keys: str) -> str:
        """Return the keys of a window as SQL after PARTITION BY.

        Args:
            keys: the keys as SQL; "" for a window without keys.

        Returns:
            SQL for the same partitions; "" if the window needs no PARTITION BY.
        """
        return keys

    def write_order_key(self, key: str, item: SortItem, type_: DataType) -> str:
        """Return an item of ORDER BY as SQL, such as `ts DESC NULLS LAST`.

        Args:
            key: the expression as SQL.
            item: the item, with its direction.
            type_: the type of the expression.
        """
        return f"{key} {item.direction}"

    # Failures, streams and counters.

    def shorten_worker_errors(self) -> None:
        """Shorten the errors of workers to the text that users need, from now on."""
        from matchrec.spark.errors.failed_actions import watch_java

        watch_java()

    def mark_rows_for_errors(
        self, rows: DataFrame, relation: Relation, queries: Iterable[SplitQuery]
    ) -> DataFrame:
        """Prepare to explain why a query fails, and which expression over the input failed.

        Args:
            rows: the rows that are sent to the workers.
            relation: the input of the clause.
            queries: the split queries over the rows.

        Returns:
            The rows. They are marked unless the engine's error names the expression.
        """
        self.shorten_worker_errors()
        return rows

    def mark_matches_for_errors(
        self,
        output_rows: DataFrame,
        runner: Runner,
        items: Sequence[SelectItem],
        origins: Sequence[SqlOrigin | None],
    ) -> DataFrame:
        """Prepare to find out which expression over the matches of a query failed, if it fails.

        Args:
            output_rows: the rows that the expressions are computed from.
            runner: runs the expressions in the session of the query, which has its functions.
            items: the expressions, as SQL over `output_rows`.
            origins: where the user wrote each expression; None for one that cannot fail.

        Returns:
            The rows to compute the expressions from. They are marked unless the engine's error
            names the expression.
        """
        return output_rows

    @property
    def has_watermarks(self) -> bool:
        """Return whether the engine supports streams with watermarks."""
        return True

    def make_observation(self, name: str) -> Any:
        """Return a new Observation. An action on an observed DataFrame fills it with counters.

        Args:
            name: the name of the Observation, which no other Observation has.
        """
        from pyspark.sql import Observation

        return Observation(name)

    def make_observable(self, result: DataFrame) -> DataFrame:
        """Return the result of a text as a DataFrame whose actions fill its observations.

        An action on the result itself does not fill observations in views that the text names. An
        action on a projection of the result does.
        """
        return result.select("*")

    def run_for_counters(self, result: DataFrame) -> None:
        """Run a query for its counters only. Its rows are dropped."""
        result.write.format("noop").mode("overwrite").save()

    def read_counts(self, result: DataFrame, name: str) -> dict[str, Any]:
        """Return the counters that an action has reported elsewhere than in its Observation.

        Args:
            result: the DataFrame of the action.
            name: the name of the Observation.

        Returns:
            The value of each counter. Empty if there are none.
        """
        return {}


def list_column_names(rows: Any) -> list[str]:
    """Return the names of the columns of a pandas frame or an Arrow table, as texts."""
    return [str(name) for name in (rows.column_names if is_arrow_table(rows) else rows.columns)]


def rename_columns(rows: Any, names: list[str]) -> Any:
    """Return a pandas frame or an Arrow table with other names for all of its columns."""
    return rows.rename_columns(names) if is_arrow_table(rows) else rows.set_axis(names, axis=1)
