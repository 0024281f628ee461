"""The backend of Sail: the methods of `spark.backend.Backend` in which Sail differs from Spark.

A probe finds out whether the session has a difference, because versions of Sail vary: see `probes`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import AnalysisException, SparkRuntimeException
from pyspark.sql import Column, DataFrame
from pyspark.sql.types import ByteType, DataType, LongType, StructField

from matchrec.plan.expression import Frame
from matchrec.plan.operations import can_fail_besides_overflow
from matchrec.plan.show import show_frame
from matchrec.plan.text import quote_name
from matchrec.shortcuts import current_shortcuts
from matchrec.spark.connect import SparkConnect
from matchrec.spark.holes import is_dataframe, list_holes
from matchrec.spark.relation import find_parameter_type
from matchrec.spark.sail import plan_text, probes
from matchrec.spark.sail.refusals import STREAM_RESET, simplify_refusal
from matchrec.spark.session import cache_per_session
from matchrec.spark.types import allow_inner_nulls, is_nested, write_type

if TYPE_CHECKING:
    from matchrec.compile.split_query import SplitQuery
    from matchrec.conditions.functions.function import SessionSettings
    from matchrec.conditions.window_columns import OrderType
    from matchrec.errors.run.origins import SqlOrigin
    from matchrec.plan.clauses import RowExpression, SortItem
    from matchrec.plan.match_plan import MatchPlan
    from matchrec.plan.resolve import InputColumns
    from matchrec.plan.templates import Template
    from matchrec.spark.relation import Relation
    from matchrec.spark.runner import Runner, SqlArguments
    from matchrec.spark.select_items import SelectItem

# The attribute of a session that holds an event for each text that was planned: see `Sail.analyse`.
PLANNED_TEXTS = "_matchrec_planned"

# The attribute of the plan of a text that keeps the DataFrames in the text alive. The plan itself
# can have only a server's copy of them, and the second look at a DataFrame, see
# `errors.second_look`, is deleted with the DataFrame.
KEPT_FRAMES = "_matchrec_frames"

# About how many rows a task of a large input has, and how many tasks there are at most.
ROWS_PER_TASK = 1 << 21
MAX_TASKS = 128
# A TINYINT holds this many truth values. Its highest bit is the sign.
BITS_OF_TINYINT = 7

# Found in expressions that choose one of several values. If the types of the values differ, Sail's
# schema is wrong.
CHOICE = re.compile(r"\b(CASE|IF|UNION)\b", re.IGNORECASE)


class Sail(SparkConnect):
    """Sail, in this program or behind a server."""

    engine = "Sail"

    # Texts and their DataFrames.

    @property
    def can_read_spark_sql(self) -> bool:
        """Return False: Sail's SQL differs from Spark's, see `syntax.spellings`."""
        return False

    @property
    def can_reset_settings(self) -> bool:
        """Return False: Sail has no RESET."""
        return False

    def has_reliable_syntax_errors(self, text: str) -> bool:
        """Return False for a kind of statement of Spark that Sail's parser does not know."""
        from matchrec.spark.sail.statements import is_rejected_like_spark

        return is_rejected_like_spark(text)

    def adapt_sums(self, text: str) -> str:
        """Return SQL whose window ends and averages Sail computes as Spark does."""
        from matchrec.spark.sail.sums import rewrite_sums

        return super().adapt_sums(rewrite_sums(text))

    def send_text(self, text: str, args: SqlArguments, frames: Mapping[str, Any]) -> DataFrame:
        """Send a text to Sail, and return its DataFrame, whose plan keeps the frames alive.

        So the second looks at the frames, see `errors.second_look`, live as long as the DataFrame.
        """
        frame = super().send_text(text, args, frames)
        if frames:
            vars(cast("Any", frame)._plan)[KEPT_FRAMES] = tuple(frames.values())
        return frame

    def analyse(self, runner: Runner, frame: DataFrame, text: Template | None) -> DataFrame:
        """Let Sail analyse and plan a DataFrame, and return the DataFrame.

        Sail finds some mistakes only when it plans how a query runs, and then returns the error as
        the text of the plan. A text is planned again only if it has other inputs: see
        `describe_inputs`.
        """
        with self.translate_server_errors():
            schema = frame.schema
        if not probes.analyses_late(self.spark):
            return frame
        inputs = None if text is None else describe_inputs(runner, text)
        if inputs is None:
            check_by_planning(frame)
            return frame
        # The session has one event for each text and its inputs. It is set once they were planned.
        find_event = cache_per_session(self.spark, PLANNED_TEXTS, lambda *_: Event())
        was_planned = find_event(str(text), schema.json(), inputs)
        if not was_planned.is_set():
            check_by_planning(frame)
            was_planned.set()
        return frame

    @contextmanager
    def translate_server_errors(self) -> Iterator[None]:
        """Replace errors as on any server, and the error of a crash by an AnalysisException."""
        from pyspark.errors.exceptions.connect import SparkConnectGrpcException

        with super().translate_server_errors():
            try:
                yield
            except SparkConnectGrpcException as error:
                if STREAM_RESET not in str(error) or not probes.analyses_late(self.spark):
                    raise
                raise AnalysisException(simplify_refusal(str(error)).text) from error

    def find_fields(self, frame: DataFrame, text: str | None) -> list[StructField]:
        """Return the fields with the types that the values have.

        In the schema, CASE, IF and UNION have the type of their first value; only the plan has the
        right type. The schema is also wrong about whether NULL is allowed inside of values.
        """
        fields = super().find_fields(frame, text)
        if not probes.analyses_late(self.spark):
            return fields
        fields = allow_inner_nulls(fields)
        if text is not None and not CHOICE.search(text):
            return fields
        from matchrec.spark.sail.sizes import remember_plan

        plan = cast("Any", frame)._explain_string(mode="formatted")  # with schemas and statistics
        try:
            plan_text.check_is_plan(plan)
        except AnalysisException:
            if frame.isStreaming:  # a later error says that streams are not supported
                return fields
            raise
        # Sail has no plans of streams, so this is not a stream. PySpark keeps the server's answer
        # in this attribute, so the server is not asked.
        vars(frame)["isStreaming"] = False
        remember_plan(frame, plan)
        types = plan_text.read_types(plan, fields)
        return [
            StructField(field.name, type_, field.nullable, field.metadata)
            for field, type_ in zip(fields, types, strict=True)
        ]

    def cast_to_value_types(self, frame: DataFrame, text: str) -> DataFrame:
        """Cast the columns to the types of their values if Sail declares other types."""
        if not CHOICE.search(text):
            return frame
        fields = self.find_fields(frame, text)
        if fields == allow_inner_nulls(frame.schema.fields):
            return frame
        items = []
        for field in fields:
            name = quote_name(field.name)
            items.append(f"CAST({name} AS {write_type(field.dataType)}) AS {name}")
        return frame.selectExpr(*items)

    @property
    def can_cache_rows(self) -> bool:
        """Return False: Sail does not keep the rows of a cached DataFrame."""
        return False

    @property
    def uses_shuffle_partitions(self) -> bool:
        """Return False: `count_tasks` chooses the number of tasks."""
        return False

    @property
    def starts_with_settings(self) -> bool:
        """Return True: Sail sets some settings when it starts."""
        return True

    # Rows that Sail reads, or that this program sends to it.

    def cast_unreadable_columns(self, frame: DataFrame, path: Path) -> DataFrame:
        """Cast the columns whose types Sail does not read, such as times in nanoseconds."""
        from matchrec.spark.sail.files import find_casts

        casts = find_casts(path)
        return frame.withColumns(casts) if casts else frame

    def send_rows(self, rows: Any) -> DataFrame:
        """Return the DataFrame of some rows. Many rows are sent in several calls."""
        from matchrec.spark.sent_rows import is_large, send_in_several_calls, with_types_of_all_rows

        rows = with_types_of_all_rows(rows)
        return (
            send_in_several_calls(self.spark, rows, 0)
            if is_large(rows)
            else super().send_rows(rows)
        )

    # Plans that make Sail compute what Spark would.

    def rewrite_input(self, relation: Relation, alias: str | None) -> Relation:
        """Return the input with the types and time zones that Spark would give its columns."""
        from matchrec.spark.sail.zones import correct_columns

        return correct_columns(relation, alias)

    def rewrite_plan(self, plan: MatchPlan, relation: Relation, columns: InputColumns) -> MatchPlan:
        """Rewrite the conditions and measures that Sail evaluates differently."""
        from matchrec.spark.sail.doubles import correct_decimals
        from matchrec.spark.sail.guards import add_guards
        from matchrec.spark.sail.negation import correct_negations
        from matchrec.spark.sail.strings import correct_strings

        plan = correct_negations(plan, relation)
        plan = correct_strings(plan, relation, columns)
        plan = correct_decimals(plan, relation, columns)
        return add_guards(plan) if self.has_eager_operands(plan) else plan

    def complete_settings(self, settings: SessionSettings, relation: Relation) -> SessionSettings:
        """Add to the settings whether a CAST converts instants to local times in UTC."""
        from matchrec.spark.sail.zones import add_zone_of_casts

        return add_zone_of_casts(settings, relation)

    def has_eager_operands(self, plan: MatchPlan) -> bool:
        """Return whether Sail evaluates operands that Spark skips, and one of them can fail."""
        can_fail = any(can_fail_besides_overflow(scalar.operations) for scalar in plan.expressions)
        return can_fail and probes.computes_every_part(self.spark)

    def check_types(self, plan: MatchPlan, relation: Relation) -> None:
        """Check types as on Spark, and whether conditions are boolean if this Sail does not."""
        from matchrec.spark.errors.type_checks import check_types

        super().check_types(plan, relation)
        if probes.takes_any_condition(self.spark):
            check_types(plan, relation)

    def find_windows_in_hours(
        self, plan: MatchPlan, find_order_type: Callable[[str], OrderType]
    ) -> list[RowExpression]:
        """Return the windows of a day or more that Sail measures in hours."""
        from matchrec.spark.sail.zones import find_windows_in_hours

        return list(find_windows_in_hours(plan, self.spark, find_order_type))

    # How rows are divided among tasks and sorted.

    def count_tasks(self, input_rows: DataFrame) -> int | None:
        """Return the number of tasks to divide rows into; None if Sail's plan does not show cores.

        The number is at least 1.5 times the number of cores, so that tasks end at about the same
        time although keys have different numbers of rows. A large input has more tasks, so that the
        rows of each task stay in memory. A few rows are one task, because each task takes some
        milliseconds.
        """
        from matchrec.spark.sail.sizes import estimate_input_rows, has_few_rows

        cores = probes.count_tasks_at_once(self.spark)
        if cores is None:
            return None
        file_row_count = estimate_input_rows(input_rows)
        if has_few_rows(input_rows, file_row_count, current_shortcuts().max_rows_of_single_task):
            return 1
        tasks_for_cores = cores + cores // 2
        tasks_for_memory = min(MAX_TASKS, (file_row_count or 0) // ROWS_PER_TASK)
        return max(tasks_for_cores, tasks_for_memory)

    def repartition(
        self, rows: DataFrame, keys: Sequence[Column], task_count: int | None
    ) -> DataFrame:
        """Divide the rows by keys among tasks; without keys, move them to one task."""
        # Without a number, Sail keeps the number of tasks of the input.
        return (
            rows.repartition(*keys) if task_count is None else rows.repartition(task_count, *keys)
        )

    def choose_bit_column_type(self, bit_count: int) -> DataType:
        """Return TINYINT if it is wide enough, because each byte of a row is copied many times."""
        return ByteType() if bit_count <= BITS_OF_TINYINT else LongType()

    @property
    def running_frame(self) -> str:
        """Return the window frame from the first row to the current one."""
        # Sail's default is a range of values, which it does not support for bytes, intervals and
        # structs.
        return show_frame(Frame(None, 0))

    def write_window_keys(self, keys: str) -> str:
        """Return the keys of a window; a constant if there are none."""
        return keys or "0"  # without a key, Sail would divide the sorted rows again among tasks

    def write_order_key(self, key: str, item: SortItem, type_: DataType) -> str:
        """Return an item of ORDER BY as SQL.

        NULLS FIRST and NULLS LAST on Sail also apply to NULL inside of arrays and structs, which
        Spark always sorts before all other values. So whether the whole value is NULL becomes a
        separate key, and the key of the value has no such words.
        """
        is_last = item.puts_nulls_last
        if is_last is item.is_descending or not is_nested(type_):
            return super().write_order_key(key, item, type_)
        item_without_nulls = replace(item, nulls_first=None)
        null_key = f"{key} IS NULL {'ASC' if is_last else 'DESC'}"
        return f"{null_key}, {key} {item_without_nulls.direction}"

    # Failures, streams and counters.

    def mark_rows_for_errors(
        self, rows: DataFrame, relation: Relation, queries: Iterable[SplitQuery]
    ) -> DataFrame:
        """Prepare to find out which expression over the input failed, if the query fails."""
        from matchrec.spark.errors.marked_rows import mark_input_rows

        self.shorten_worker_errors()
        return mark_input_rows(rows, relation, queries)

    def mark_matches_for_errors(
        self,
        output_rows: DataFrame,
        runner: Runner,
        items: Sequence[SelectItem],
        origins: Sequence[SqlOrigin | None],
    ) -> DataFrame:
        """Prepare to find out which expression over the matches failed, if the query fails."""
        from matchrec.spark.errors.marked_rows import mark_match_rows

        return mark_match_rows(output_rows, runner, items, origins)

    @property
    def has_watermarks(self) -> bool:
        """Return whether this Sail supports watermarks."""
        return probes.has_watermarks(self.spark)


def check_by_planning(frame: DataFrame) -> None:
    """Let Sail plan how a query runs, to find mistakes in it. Nothing runs.

    Raises:
        AnalysisException: Sail has no plan for the query.
    """
    try:
        plan = cast("Any", frame)._explain_string()
    except SparkRuntimeException as error:  # nothing has run: Sail has only planned
        raise AnalysisException(str(error)) from error
    plan_text.check_is_plan(plan)


def describe_inputs(runner: Runner, text: Template) -> tuple[str, ...] | None:
    """Return the types of the DataFrames and parameters in a text.

    If a session has planned a text without an error, the same text with the same types has no error
    either.

    Returns:
        The schema of each DataFrame as JSON, then the name of each parameter with its type, such as
        `n int`; None if a type is not known, or if the parameters have no names.
    """
    inputs = []
    for hole in list_holes(text):
        frame = runner.frames[hole]
        if not is_dataframe(frame):
            return None
        inputs.append(frame.schema.json())
    values = runner.find_parameter_values("".join(map(str, text))) or {}
    if isinstance(values, list):
        return None
    for name, value in values.items():
        type_ = find_parameter_type(value)
        if type_ is None:
            return None
        inputs.append(f"{name} {type_}")
    return tuple(inputs)
