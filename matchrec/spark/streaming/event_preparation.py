"""Prepare the events of a stream: the columns that Spark computes, and the operator after them.

Spark computes the columns of the events by projections, without a window, because it cannot sort a
stream. `EventPreparation` writes the first two projections, `PandasEncoding` the third:

    SELECT <SQL over one row> AS __c0, ..., AS __x0, ... FROM <the user's relation>
    SELECT __c0, ..., <keys and order that are not among __c0, ...>, <bits> AS __bits0, __time,
           __bucket FROM <the first projection>
    SELECT <the same columns, structs as their fields, in types that pandas keeps>, __time, __t,
           __null0 FROM <the second projection>

`__time` is the column with the watermark, unchanged: Spark's operator finds the watermark by it.
Spark groups by `__bucket`, a number that many keys share. Calling the worker for each key would
cost a hundred times what it takes to search the few new events of a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types
from pyspark.sql.types import StructType
from typing_extensions import override

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.errors import streams
from matchrec.plan.templates import Template
from matchrec.spark import substitutes
from matchrec.spark.environment import use_own_interpreter
from matchrec.spark.order_numbers import find_order_converter
from matchrec.spark.pandas_encoding import PandasColumn, PandasEncoding
from matchrec.spark.preparations.column_names import add_columns
from matchrec.spark.preparations.preparation import Preparation, RowColumns
from matchrec.spark.request import MatchRequest
from matchrec.spark.select_items import SelectItem, pack_bit_columns
from matchrec.spark.streaming.arrival import EventLayout
from matchrec.spark.streaming.bucket_state import ColumnMap
from matchrec.spark.streaming.stream_worker import (
    StreamWorker,
    build_query_worker,
    build_rules_worker,
)
from matchrec.spark.transport import make_task_function, make_unpacker
from matchrec.worker import internal_names
from matchrec.worker.rule_set import RuleSetOutput

if TYPE_CHECKING:
    import pandas as pd

# The name of the entry in the metadata of a column that says that it has a watermark.
WATERMARK = "spark.watermarkDelayMs"
# The column that replaces the keys if the query has none: it has the same value for all events.
CONSTANT_KEY = internal_names.name_rule_key(0)
# A parameter in SQL, such as `:p`.
PARAMETER = re.compile(r":\s*(\w+)")
# The columns that Spark's operator reads, which are not encoded for pandas.
UNENCODED_COLUMNS = (internal_names.BUCKET, internal_names.EVENT_TIME)
# The number of buckets, and so the largest number of tasks that search events. It must not change,
# because the stored state of a stream depends on it.
BUCKET_COUNT = 64


@dataclass(frozen=True)
class EventPreparation(Preparation):
    """A preparation that computes columns and bits over the events of a stream."""

    def build_query(self, columns: RowColumns) -> Template:
        """Return the query of the columns __c0, ..., __bits0, ..., __time and __bucket.

        Columns of keys and order are added if they are not among these columns.
        """
        names = self.name_columns(columns)
        sorting = self.build_sorting(names)
        keys = sorting.keys
        time, *order_after_time = (column.name for column in sorting.order)
        items = add_columns(names.select_sent(columns), (*keys, *order_after_time))
        conditions = [names.write_column(condition) for condition in self.joined.row_conditions]
        # In a batch, the first bit marks the first rows of partitions. Here it is unused.
        items += pack_bit_columns(["FALSE", *conditions], internal_names.name_bits)
        if keys:
            # Equal keys have equal hashes, even 0.0 and -0.0.
            bucket = f"pmod(hash({', '.join(keys)}), {BUCKET_COUNT})"
        else:
            bucket = "0"
            items.append(SelectItem("0", CONSTANT_KEY))
        items.append(SelectItem(time, internal_names.EVENT_TIME))
        items.append(SelectItem(bucket, internal_names.BUCKET))
        return self.relation.write_query_over(self.build_inner_query(names), map(str, items))

    @override
    def finish_rows(self, rows: DataFrame, columns: RowColumns) -> DataFrame:
        """Return the events that have a time.

        No other events are left out here: Spark would apply the filter before it computes the
        watermark, which must move on with every event.
        """
        return rows.filter(f"{internal_names.EVENT_TIME} IS NOT NULL")

    def check_watermark(self) -> None:
        """Check that the time of the events has a watermark.

        Raises:
            MatchRecognizeError: the time has no watermark.
        """
        rows = self.build_rows(self.joined.columns)
        if WATERMARK not in rows.schema[internal_names.EVENT_TIME].metadata:
            first_item = self.joined.order_by[0].expression
            raise streams.missing_watermark(first_item.span, order=first_item.text)

    @override
    def plan_query(
        self, request: MatchRequest, compiled_query: CompiledQuery, schema: StructType, name: str
    ) -> DataFrame:
        """Return the DataFrame of the reads that the workers return for one query. Nothing runs."""
        columns = compiled_query.sent_columns.columns
        events = self.build_events(columns)
        worker = build_query_worker(compiled_query, self.build_event_layout(events, columns))
        return plan_stream_output(events, worker, schema, name)

    @override
    def plan_rules(self, output: RuleSetOutput, schema: StructType, name: str) -> DataFrame:
        """Return the DataFrame of the output rows of a rule set. Nothing runs."""
        columns = output.rule_set.columns
        events = self.build_events(columns)
        worker = build_rules_worker(output, self.build_event_layout(events, columns))
        return plan_stream_output(events, worker, schema, name)

    def build_events(self, columns: RowColumns) -> DataFrame:
        """Return the DataFrame of the events with these columns, not yet encoded for pandas.

        Nothing runs.

        Raises one of Spark's `QUERY_ERRORS`.
        """
        self.backend.shorten_worker_errors()
        return substitutes.encode_columns(self.build_rows(columns))

    def build_event_layout(self, events: DataFrame, columns: RowColumns) -> EventLayout:
        """Return what the columns of the events are for, and how pandas carries them to a worker.

        Args:
            events: what `build_events` has returned for the columns.
            columns: the columns.

        Raises:
            MatchRecognizeUnsupportedError: pandas would alter a column.
        """
        names = self.name_columns(columns)
        texts = names.texts
        pandas_columns = [
            PandasColumn.build(field.name, field.name, field.dataType)
            for field in events.schema.fields
            if field.name not in UNENCODED_COLUMNS
        ]
        arrow_fields = [
            pa.field(column.name, find_arrow_type(column, texts)) for column in pandas_columns
        ]
        time_type = events.schema[internal_names.EVENT_TIME].dataType
        times = find_order_converter(time_type)
        assert times is not None, "a watermark has a time"
        microseconds = times.write_number(internal_names.EVENT_TIME)
        pandas_columns.append(
            PandasColumn(internal_names.EVENT_MICROSECONDS, microseconds, spark_types.LongType())
        )
        arrow_fields.append(pa.field(internal_names.EVENT_MICROSECONDS, pa.int64()))

        schema = pa.schema(arrow_fields)
        sorting = self.build_sorting(names)
        return EventLayout(
            encoding=PandasEncoding(tuple(pandas_columns), texts),
            schema=schema,
            keys=tuple(dict.fromkeys(sorting.keys)) or (CONSTANT_KEY,),
            order_after_time=sorting.order[1:],
            column_map=self.build_column_map(texts, schema),
        )

    def build_column_map(self, texts: Mapping[str, str], schema: pa.Schema) -> ColumnMap:
        """Return the SQL of the columns and bits of the events, by which stored rows are converted.

        Args:
            texts: the SQL of columns, by their names.
            schema: the columns that are sent.
        """
        conditions = self.joined.row_conditions
        bit_column_count = internal_names.count_bit_columns(len(conditions))
        bit_columns = {internal_names.name_bits(index) for index in range(bit_column_count)}
        columns = {
            name: self.append_parameter_values(texts.get(name, name))
            for name in schema.names
            if name not in bit_columns
        }
        bits = [self.append_parameter_values(condition.text) for condition in conditions]
        return ColumnMap(columns, tuple(bits))

    def append_parameter_values(self, text: str) -> str:
        """Return SQL over one row with the values of its parameters, as `x > :p {'p': 7}`.

        The columns of stored rows were computed with the values with which the stream was started.
        The stream can be started again with other values.
        """
        arguments = self.relation.runner.args
        if not isinstance(arguments, dict):
            return text
        values = {name: arguments[name] for name in PARAMETER.findall(text) if name in arguments}
        return f"{text} {values}" if values else text


def plan_stream_output(
    events: DataFrame, worker: StreamWorker, schema: StructType, name: str
) -> DataFrame:
    """Return the DataFrame of the output rows for the events of all keys. Nothing runs.

    The worker gets the events of one bucket of keys after the other.

    Output rows leave Spark's operator as the bytes of Arrow streams, which `mapInArrow` reads after
    it. Pandas would alter them, and Spark's own conversion of nested columns differs between its
    versions.

    Args:
        events: the events, not yet encoded for pandas.
        worker: the worker, which has the encoding.
        schema: the schema of the DataFrame.
        name: the name of the operator in Spark's plan.
    """
    run_worker = make_task_function(worker)

    def search(bucket: Any, frames: Iterable[pd.DataFrame], group: Any) -> Iterator[pd.DataFrame]:
        """Run the worker for a bucket of keys."""
        return run_worker(bucket, frames, group)

    search.__name__ = name
    encoded_events = worker.event_layout.encoding.encode(events, *UNENCODED_COLUMNS)
    groups = encoded_events.groupBy(internal_names.BUCKET)
    with use_own_interpreter(events.sparkSession):
        packed = groups.applyInPandasWithState(
            search, "rows binary", "state binary", "append", "EventTimeTimeout"
        )
        unpacked = packed.mapInArrow(make_unpacker(), substitutes.build_sent_schema(schema))
        return substitutes.decode_columns(unpacked, schema)


def find_arrow_type(column: PandasColumn, texts: Mapping[str, str]) -> pa.DataType:
    """Return the Arrow type of a column of the events.

    Args:
        column: the column.
        texts: the user's SQL of columns, by their names.

    Raises:
        MatchRecognizeUnsupportedError: pandas would alter the column.
    """
    altered_type = column.find_altered_type()
    if altered_type is not None:
        text = texts.get(column.name, column.name)
        raise streams.column_altered_in_stream(column=text, type_name=altered_type.simpleString())
    return column.find_arrow_type()
