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

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import types as spark_types

from matchrec.conditions.row_column import RowColumn
from matchrec.dataclass import dataclass
from matchrec.errors.streaming import altered_in_stream, cannot_stream, no_watermark
from matchrec.plan.match_plan import MatchPlan
from matchrec.spark import wire
from matchrec.spark.before.bits import bit_columns, null_columns
from matchrec.spark.before.columns import Preparation
from matchrec.spark.crossing import encode_columns
from matchrec.spark.streaming.arrival import Arriving, Order
from matchrec.spark.streaming.flat import Flat, flat
from matchrec.spark.transport import encoded_field
from matchrec.spark.wire import SelectItem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from matchrec.compile.draft import Draft

WATERMARK = "spark.watermarkDelayMs"  # in the metadata of a column that has one
EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
BUCKETS = 64  # the state depends on it; so many tasks at most have something to do


@dataclass(frozen=True)
class Events(Preparation):
    """Computes columns and bits of a stream's events for one plan."""

    @property
    def is_stream(self) -> bool:
        return True

    def sending(self, drafted: Draft) -> Draft:
        """The draft without tests of rows: any row moves the watermark."""
        return replace(drafted, relevant=(), neighbours=())

    def dataframe(self, columns: tuple[RowColumn, ...], drafted: Draft) -> DataFrame:
        """Columns __c0, ..., __bits0, ..., __o1, ..., __time, __k0, ... of keys that are none of
        the first, and __bucket. Events without a time are left out, and no others: Spark would put
        such a filter before the watermark, which must move on with every event.
        Raises one of Spark's `REFUSALS`, and MatchRecognizeError without a watermark.
        """
        conditions = drafted.row_conditions
        check_one_row((*columns, *conditions), self.plan)
        names = self.names(columns, drafted)
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


@dataclass(frozen=True)
class Crossed:
    """Events as they cross to Spark's operator.

    frame: what crosses. columns: what it stands for, without the time. arriving: what events are
    in the worker, with the time.
    """

    frame: DataFrame
    columns: tuple[Flat, ...]
    arriving: Arriving


def send_events(prepared: DataFrame, columns: tuple[RowColumn, ...], plan: MatchPlan) -> Crossed:
    """Raises MatchRecognizeUnsupportedError for a column that pandas would alter."""
    frame = encode_columns(prepared)
    keys = key_columns(columns, plan)
    orders = [wire.further_order(index) for index in range(len(plan.order_by) - 1)]
    names = [name for name in prepared.columns if name not in (wire.BUCKET, wire.EVENT_TIME)]
    texts = keys | {wire.column(i): str(column.pieces[0]) for i, column in enumerate(columns)}
    texts |= {
        name: item.expression.text for name, item in zip(orders, plan.order_by[1:], strict=True)
    }
    flats = tuple(flat(name, name, frame.schema[name].dataType) for name in names)
    fields = [held(one, texts) for one in flats]
    leaves = [leaf for one in flats for leaf in one.leaves()]
    as_they_are = [SelectItem(name, name) for name in (wire.EVENT_TIME, wire.BUCKET)]
    time = SelectItem(microseconds(prepared.schema[wire.EVENT_TIME]), wire.MICROSECONDS)
    apart = [*(SelectItem(path, name) for path, name, _ in leaves), time, *as_they_are]
    encoded = [encoded_field(spark_types.StructField(name, kind)) for _, name, kind in leaves]
    marks = [*(f"{name} IS NULL" for _, name, _ in leaves), "FALSE"]  # the time is never NULL
    items = [*encoded, SelectItem(time.name, time.name), *as_they_are, *null_columns(marks)]
    schema = pa.schema([*fields, pa.field(time.name, pa.int64())])
    events = frame.selectExpr(*map(str, apart)).selectExpr(*map(str, items))
    items_of = zip(orders, plan.order_by[1:], strict=True)
    ordered = tuple(Order(name, one.descending, one.puts_nulls_last) for name, one in items_of)
    return Crossed(events, flats, Arriving(schema, tuple(keys), ordered))


def held(column: Flat, texts: dict[str, str]) -> pa.Field:
    """The field of a column in the worker."""
    try:
        return pa.field(column.name, column.arrow())
    except ValueError as altered:
        text = texts.get(column.name, column.name)
        raise altered_in_stream(text, str(altered)) from None


def microseconds(field: spark_types.StructField) -> str:
    """The time as SQL of a number, as Spark's watermark counts it."""
    if isinstance(field.dataType, spark_types.TimestampNTZType):
        return f"timestampdiff(MICROSECOND, {EPOCH}, {field.name})"
    return f"unix_micros({field.name})"
