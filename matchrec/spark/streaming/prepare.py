"""What Spark computes of a stream's events before the match: one projection, no window.

    SELECT <SQL over one row> AS __c0, ..., AS __x0, ... FROM <the user's relation>
    SELECT __c0, ..., <keys and order that are no __c>, <bits> AS __bits0, __time, __bucket
    FROM that
    SELECT <the same, structs as their fields, as pandas holds it>, __time, __t, __null0 FROM that

`__time` is the column with the watermark, as it is: Spark's operator finds the watermark by it.
Spark groups by `__bucket`, a number that many keys share: to call the worker for each key costs
a hundred times what the search of its few new events does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types
from pyspark.sql.types import StructType

from matchrec.compile.executable import Executable
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.run_condition import Aggregated
from matchrec.errors import streams
from matchrec.output.reads import ReadAt
from matchrec.plan.clauses import MatchOutput, RowsPerMatch
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import PartitionEnd, negations, walk
from matchrec.plan.text import Template
from matchrec.search.incremental import keeps_values
from matchrec.search.records import compile_task
from matchrec.spark import types
from matchrec.spark.columns import KnownFields, Preparation, RowColumns, add_columns
from matchrec.spark.environment import able_workers
from matchrec.spark.question import Options
from matchrec.spark.streaming.arrival import Arriving, ColumnMap
from matchrec.spark.streaming.bucket import bucket_of
from matchrec.spark.transport import (
    MakeWorker,
    PandasColumn,
    PandasEncoding,
    Sent,
    arrow_schema,
    runner_in_worker,
    unpacker,
)
from matchrec.worker import wire
from matchrec.worker.wire import SelectItem, packed_columns

WATERMARK = "spark.watermarkDelayMs"  # in the metadata of a column that has one
NO_KEY = wire.key(0)  # the same value for all events that nothing divides
MARKER = re.compile(r":\s*(\w+)")  # of a parameter
BUCKETS = 64  # the state depends on it; so many tasks at most have something to do


@dataclass(frozen=True)
class EventPreparation(Preparation):
    def build_query(self, columns: RowColumns) -> Template:
        """Columns __c0, ..., those of keys and order that are not there yet, __bits0, ..., __time
        and __bucket. Raises MatchRecognizeError for what is not of one row.
        """
        conditions = self.draft.row_conditions
        check_one_row((*columns, *conditions), self.plan)
        names = self.name_columns(columns)
        sorting = self.build_sorting(names)
        keys, (time, *order) = sorting.keys, (one.name for one in sorting.order)
        items = add_columns(names.select_sent(columns), (*keys, *order))
        items += packed_columns(["FALSE", *map(names.write_column, conditions)], wire.bits)
        items += [] if keys else [SelectItem("0", NO_KEY)]
        # equal keys have equal hashes, also 0.0 and -0.0
        bucket = f"pmod(hash({', '.join(keys)}), {BUCKETS})" if keys else "0"
        items += [SelectItem(time, wire.EVENT_TIME), SelectItem(bucket, wire.BUCKET)]
        return self.relation.over(self.build_source(names), map(str, items))

    def run_query(self, query: Template, columns: RowColumns) -> DataFrame:
        """Events without a time are left out, and no others: Spark would put such a filter before
        the watermark, which must move on with every event.
        Raises one of Spark's `REFUSALS`, and MatchRecognizeError without a watermark.
        """
        frame = super().run_query(query, columns)
        if WATERMARK not in frame.schema[wire.EVENT_TIME].metadata:
            first_item = self.plan.order_by[0].expression
            raise streams.no_watermark(first_item.span, order=first_item.text)
        return frame.filter(f"{wire.EVENT_TIME} IS NOT NULL")

    def send(self, columns: RowColumns, _: KnownFields, rows: DataFrame | None = None) -> Sent:
        prepared = self.dataframe(columns) if rows is None else rows
        names = self.name_columns(columns)
        frame, apart = types.encode_columns(prepared), (wire.BUCKET, wire.EVENT_TIME)
        fields = [field for field in frame.schema.fields if field.name not in apart]
        held = [PandasColumn.build(field.name, field.name, field.dataType) for field in fields]
        texts = {name: text for text, name in names.inner.items()}
        kinds = [pa.field(column.name, arrow_kind(column, texts)) for column in held]
        time_type = prepared.schema[wire.EVENT_TIME].dataType
        time = types.OrderTimes(time_type).number_of_column(wire.EVENT_TIME)
        held.append(PandasColumn(wire.MICROSECONDS, time, spark_types.LongType()))
        schema = pa.schema([*kinds, pa.field(wire.MICROSECONDS, pa.int64())])
        sorting = self.build_sorting(names)
        keys = tuple(dict.fromkeys(sorting.keys)) or (NO_KEY,)
        encoding = PandasEncoding(tuple(held), texts)
        own, column_map = prepared.schema.fields[: len(columns)], self.column_map(texts, schema)
        arriving = Arriving(encoding, schema, keys, sorting.order[1:], column_map)
        return SentEvents(encoding.encode(frame, *apart), tuple(own), arriving=arriving)

    def column_map(self, texts: Mapping[str, str], schema: pa.Schema) -> ColumnMap:
        """What the rows have. texts: of columns, by their names."""
        packed = wire.bit_columns_of(len(self.draft.row_conditions))
        bits = {wire.bits(number) for number in range(packed)}
        names = [name for name in schema.names if name not in bits]
        columns = {name: self.asked(texts.get(name, name)) for name in names}
        conditions = (self.asked(one.text) for one in self.draft.row_conditions)
        return ColumnMap(columns, tuple(conditions))

    def asked(self, text: str) -> str:
        """SQL over one row and the values of its parameters, as `x > :p {'p': 7}`: a row that is
        kept has those of a start of the stream, another start may have others.
        """
        args = self.relation.runner.args
        if not isinstance(args, dict):
            return text
        known = {name: args[name] for name in MARKER.findall(text) if name in args}
        return f"{text} {known}" if known else text


def check_one_row(columns: Iterable[RowColumn], plan: MatchPlan) -> None:
    """Raises MatchRecognizeUnsupportedError for columns that Spark computes of several rows."""
    if not all(column.looks_at_one_row for column in columns):
        raise streams.neighbours_over_stream() if plan.selects else streams.frame_over_stream()


@dataclass(frozen=True, kw_only=True)
class SentEvents(Sent):
    arriving: Arriving

    def run(
        self, worker: MakeWorker, schema: StructType, name: str, _: Executable | None = None
    ) -> DataFrame:
        """What a worker makes of the events of all keys.

        Its rows leave Spark's operator as bytes of Arrow, which `mapInArrow` reads after it: pandas
        would alter them, and Spark's own way to nested columns differs with its version.
        """
        sends = types.crossing_schema(schema)
        run = runner_in_worker(bucket_of(worker(arrow_schema(sends)), self.arriving))

        def search(key: Any, frames: Iterable[pd.DataFrame], group: Any) -> Iterator[pd.DataFrame]:
            return run(key, frames, group)

        search.__name__ = name
        groups = self.rows.groupBy(wire.BUCKET)
        with able_workers(self.rows.sparkSession):
            found = groups.applyInPandasWithState(
                search, "rows binary", "state binary", "append", "EventTimeTimeout"
            )
            return types.decode_columns(found.mapInArrow(unpacker(), sends), schema)


def arrow_kind(column: PandasColumn, texts: dict[str, str]) -> pa.DataType:
    try:
        return column.find_arrow_type()
    except ValueError as altered:
        text = texts.get(column.name, column.name)
        raise streams.altered_in_stream(column=text, type_name=str(altered)) from None


# Which plans and executables can take their rows little by little; others are refused by name.


def check_plan(plan: MatchPlan) -> None:
    """Raises MatchRecognizeError for a plan whose rows cannot come little by little."""
    if not plan.order_by:
        raise streams.no_time(plan.pattern.span)
    first = plan.order_by[0]
    if first.descending:
        raise streams.backwards_in_time(first.expression.span, order=first.expression.text)
    if plan.rows_per_match is RowsPerMatch.EACH_ROW:
        raise streams.window_over_stream(plan.pattern.span)
    if plan.output is MatchOutput.GRAPH:
        raise streams.graph_over_stream()
    # what only the last row of a partition decides
    if plan.partial is not None:
        raise streams.partial_over_stream(plan.partial.span, words=plan.partial.words)
    if any(isinstance(one, PartitionEnd) for one in walk(plan.pattern)):
        raise streams.end_over_stream(plan.pattern.span)
    if negations(plan.pattern) and not plan.selects:
        raise streams.negation_over_stream(plan.pattern.span)
    if plan.selects and plan.output is MatchOutput.PREFERRED:
        raise streams.preferred_over_stream(plan.pattern.span)
    if plan.row_gap is not None and not plan.selects:
        raise streams.row_gap_over_stream(plan.row_gap.span)


def check_options(options: Options) -> None:
    if options.transport == "arrow":
        raise streams.arrow_over_stream()
    if options.counters is not None:
        raise streams.counters_over_stream()
    if options.sort != "auto":
        raise streams.sort_over_stream(sort=options.sort)


def check_executable(executable: Executable) -> None:
    """Raises MatchRecognizeError for what needs all rows at once."""
    task, crossing = executable.task, executable.crossing
    if executable.aggregates:
        raise streams.aggregate_over_stream()
    if not task.selects:
        return
    if executable.strategy.algorithm != "breadth_first":
        raise streams.algorithm_over_stream(algorithm=executable.strategy.algorithm)
    if any(isinstance(call, Aggregated) for call in task.calls()):
        raise streams.list_over_stream()
    integers = enumerate(crossing.integers)
    if keeps_values(task, frozenset(n for n, one in integers if one in crossing.ranked)):
        raise streams.rank_over_stream()
    reads = (one.navigation.physical_offset for one in executable.reads if isinstance(one, ReadAt))
    if any(compile_task(task, len(crossing.integers)).offsets) or any(reads):
        raise streams.skipped_over_stream()
