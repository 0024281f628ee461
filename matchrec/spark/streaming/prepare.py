"""What Spark computes of a stream's events before the match: one projection, no window.

    SELECT <SQL over one row> AS __c0, ..., AS __x0, ... FROM <the user's relation>
    SELECT __c0, ..., <bits> AS __bits0, <order> AS __o1, ..., <key> AS __k0, ..., __bucket
    FROM that
    SELECT <the same, structs as their fields, as pandas holds it>, __time, __t, __null0 FROM that

`__time` is the column with the watermark, as it is: Spark's operator finds the watermark by it.
Spark groups by `__bucket`, a number that many keys share: to call the worker for each key costs
a hundred times what the search of its few new events does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import types as spark_types

from matchrec.conditions.row_column import RowColumn
from matchrec.dataclass import dataclass
from matchrec.errors.calls import altered_in_stream, cannot_stream, no_watermark
from matchrec.plan.match_plan import MatchPlan
from matchrec.spark import wire
from matchrec.spark.columns import Preparation
from matchrec.spark.crossing import crossing_schema, decode_columns, encode_columns
from matchrec.spark.environment import able_workers
from matchrec.spark.names import bit_columns
from matchrec.spark.streaming.arrival import Arriving
from matchrec.spark.streaming.bucket import Bucket, StreamWorker
from matchrec.spark.transport import (
    PandasColumn,
    PandasEncoding,
    Sent,
    arrow_schema,
    runner_in_worker,
    unpacker,
)
from matchrec.spark.wire import SelectItem, SortColumn
from matchrec.spark.worker.matching import Incoming

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from matchrec.compile.executable import Executable
    from matchrec.compile.path import Draft

WATERMARK = "spark.watermarkDelayMs"  # in the metadata of a column that has one
EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
BUCKETS = 64  # the state depends on it; so many tasks at most have something to do


@dataclass(frozen=True)
class Events(Preparation):
    """Computes columns and bits of a stream's events for one draft."""

    @property
    def is_stream(self) -> bool:
        return True

    def with_draft(self, drafted: Draft) -> Events:
        """The same for another draft, without its tests of rows: any row moves the watermark."""
        return replace(self, drafted=replace(drafted, relevant=()))

    def dataframe(self, columns: tuple[RowColumn, ...]) -> DataFrame:
        """Columns __c0, ..., __bits0, ..., __o1, ..., __time, __k0, ... of keys that are none of
        the first, and __bucket. Events without a time are left out, and no others: Spark would put
        such a filter before the watermark, which must move on with every event.
        Raises one of Spark's `REFUSALS`, and MatchRecognizeError without a watermark.
        """
        conditions = self.drafted.row_conditions
        check_one_row((*columns, *conditions), self.plan)
        names = self.names(columns)
        inner = self.relation.select(map(str, names.rows()))
        first, *others = self.order_names(names)
        items = names.crossing(columns) + bit_columns("FALSE", map(names.over_window, conditions))
        items += [SelectItem(name, wire.further_order(i)) for i, name in enumerate(others)]
        items += [SelectItem(first, wire.EVENT_TIME)]
        held = (
            (names.inner.get(text, text), key)
            for key, text in key_columns(columns, self.plan).items()
        )
        items += [SelectItem(name, key) for name, key in held if name != key]
        items += [SelectItem(bucket_of(self.key_names(names)), wire.BUCKET)]
        frame = inner.selectExpr(*map(str, items))
        if WATERMARK not in frame.schema[wire.EVENT_TIME].metadata:
            first_item = self.plan.order_by[0].expression
            raise no_watermark(first_item.text, first_item.span)
        return frame.filter(f"{wire.EVENT_TIME} IS NOT NULL")


def key_columns(columns: tuple[RowColumn, ...], plan: MatchPlan) -> dict[str, str]:
    """The columns by which events are partitioned, at least one, and what each holds, as SQL.

    columns: those that cross; a key that is none of them has a column of its own.
    """
    crossing = {c.text: wire.column(i) for i, c in enumerate(columns) if c.looks_at_one_row}
    texts = [part.text for part in plan.keys] or ["0"]
    return {crossing.get(text, wire.key(i)): text for i, text in enumerate(texts)}


def bucket_of(keys: list[str]) -> str:
    """The number of the bucket of keys, as SQL. Equal keys have equal hashes, also 0.0 and -0.0."""
    return f"pmod(hash({', '.join(keys)}), {BUCKETS})" if keys else "0"


def check_one_row(columns: Iterable[RowColumn], plan: MatchPlan) -> None:
    """Raises MatchRecognizeUnsupportedError for columns that Spark computes of several rows."""
    if all(one.looks_at_one_row for one in columns):
        return
    if plan.selects:
        raise cannot_stream(
            "a condition on neighbouring rows",
            "an event's neighbours may not have come yet",
            "write it as a stage with `next`",
        )
    raise cannot_stream(
        "an aggregate OVER rows of the partition",
        "Spark has no such window functions over a stream",
        "aggregate the rows of a pattern variable, as in avg(A.x)",
    )


@dataclass(frozen=True, kw_only=True)
class SentEvents(Sent):
    """Events as they cross to Spark's operator.

    encoding: what crosses. arriving: what events are in the worker.
    """

    encoding: PandasEncoding
    arriving: Arriving

    def run(
        self,
        worker: Callable[[pa.Schema], Any],
        schema: spark_types.StructType,
        name: str,
        _: Executable | None = None,
    ) -> DataFrame:
        """What a worker, which has a `bucket`, makes of the events of all keys."""
        bucket = worker(arrow_schema(crossing_schema(schema))).bucket(self.arriving)
        return self.run_on_buckets(bucket, schema, name)

    def run_on_buckets(
        self, bucket: Bucket, schema: spark_types.StructType, name: str
    ) -> DataFrame:
        """The rows that come out of buckets of keys.

        They leave Spark's operator as bytes of Arrow, which `mapInArrow` reads after it: pandas
        would alter them, and Spark's own way to nested columns differs with its version.
        """
        run = runner_in_worker(StreamWorker(bucket, self.encoding))

        def search(key: Any, frames: Iterable[pd.DataFrame], group: Any) -> Iterator[pd.DataFrame]:
            return run(key, frames, group)

        search.__name__ = name
        groups = self.rows.groupBy(wire.BUCKET)
        with able_workers(self.rows.sparkSession):
            found = groups.applyInPandasWithState(
                search, "rows binary", "state binary", "append", "EventTimeTimeout"
            )
            return decode_columns(found.mapInArrow(unpacker(), crossing_schema(schema)), schema)


def send_events(prepared: DataFrame, columns: tuple[RowColumn, ...], plan: MatchPlan) -> SentEvents:
    """Raises MatchRecognizeUnsupportedError for a column that pandas would alter."""
    frame = encode_columns(prepared)
    keys = key_columns(columns, plan)
    further = [(wire.further_order(i), item) for i, item in enumerate(plan.order_by[1:])]
    texts = keys | {wire.column(i): str(column.pieces[0]) for i, column in enumerate(columns)}
    texts |= {name: item.expression.text for name, item in further}
    apart = (wire.BUCKET, wire.EVENT_TIME)
    held = [
        PandasColumn.of(one.name, one.name, one.dataType)
        for one in frame.schema.fields
        if one.name not in apart
    ]
    kinds = [pa.field(one.name, arrow_kind(one, texts)) for one in held]
    time = microseconds(prepared.schema[wire.EVENT_TIME])
    held.append(PandasColumn(wire.MICROSECONDS, time, spark_types.LongType()))
    schema = pa.schema([*kinds, pa.field(wire.MICROSECONDS, pa.int64())])
    orders = tuple(
        SortColumn(name, one.descending, not one.puts_nulls_last) for name, one in further
    )
    encoding = PandasEncoding(tuple(held))
    asked = tuple(prepared.schema.fields[: len(columns)])
    arriving = Arriving(schema, tuple(keys), orders)
    rows = encoding.encode(frame, *apart)
    return SentEvents(rows, asked, Incoming(), encoding=encoding, arriving=arriving)


def arrow_kind(column: PandasColumn, texts: dict[str, str]) -> pa.DataType:
    """The type of a column in the worker."""
    try:
        return column.arrow()
    except ValueError as altered:
        text = texts.get(column.name, column.name)
        raise altered_in_stream(text, str(altered)) from None


def microseconds(field: spark_types.StructField) -> str:
    """The time as SQL of a number, as Spark's watermark counts it."""
    if isinstance(field.dataType, spark_types.TimestampNTZType):
        return f"timestampdiff(MICROSECOND, {EPOCH}, {field.name})"
    return f"unix_micros({field.name})"
