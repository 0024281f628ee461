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

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import types as spark_types

from matchrec.conditions.row_column import RowColumn
from matchrec.dataclass import dataclass
from matchrec.errors.calls import altered_in_stream, cannot_stream, no_watermark
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quoted
from matchrec.spark import wire
from matchrec.spark.columns import Preparation
from matchrec.spark.crossing import encode_columns
from matchrec.spark.names import bit_columns, null_columns
from matchrec.spark.sorting.sorting import SortColumn
from matchrec.spark.streaming.arrival import Arriving
from matchrec.spark.transport import arrow_type, encoded_field
from matchrec.spark.wire import SelectItem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from matchrec.compile.path import Draft

WATERMARK = "spark.watermarkDelayMs"  # in the metadata of a column that has one
EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
BUCKETS = 64  # the state depends on it; so many tasks at most have something to do


@dataclass(frozen=True)
class Flat:
    """A column. name: of it, which its fields extend. path: SQL. kind: its type in Spark.

    fields: of a struct, each with its name there; then `name`_n says where the struct is NULL.
    """

    name: str
    path: str
    kind: spark_types.DataType
    fields: tuple[tuple[str, Flat], ...] = ()

    @property
    def is_struct(self) -> bool:
        """Whether it has fields, though it may be none of them."""
        return isinstance(self.kind, spark_types.StructType)

    def leaves(self) -> Iterator[tuple[str, str, spark_types.DataType]]:
        """Path, name and type of each column that crosses."""
        if self.is_struct:
            yield f"{self.path} IS NULL", f"{self.name}_n", spark_types.BooleanType()
            for _, one in self.fields:
                yield from one.leaves()
        else:
            yield self.path, self.name, self.kind

    def arrow(self) -> pa.DataType:
        """The Arrow type. Raises ValueError with the name of the first type that has none."""
        if self.is_struct:
            return pa.struct([pa.field(name, one.arrow()) for name, one in self.fields])
        kind = arrow_type(self.kind)
        if kind is None:
            raise ValueError(self.kind.simpleString())
        return kind

    def array(self, batch: pa.RecordBatch) -> pa.Array:
        """The column out of those that crossed."""
        if not self.is_struct:
            return batch.column(self.name)
        absent = batch.column(f"{self.name}_n")
        if not self.fields:
            nothing: list[dict[str, object] | None] = [
                None if one else {} for one in absent.to_pylist()
            ]
            return pa.array(nothing, pa.struct([]))
        arrays = [one.array(batch) for _, one in self.fields]
        names = [name for name, _ in self.fields]
        mask = pa.array(np.asarray(absent.to_numpy(zero_copy_only=False), np.bool_))
        return pa.StructArray.from_arrays(arrays, names, mask=mask)


def flat(name: str, path: str, kind: spark_types.DataType) -> Flat:
    """A column with its fields."""
    if not isinstance(kind, spark_types.StructType):
        return Flat(name, path, kind)
    fields = tuple(
        (one.name, flat(f"{name}_{i}", f"{path}.{quoted(one.name)}", one.dataType))
        for i, one in enumerate(kind.fields)
    )
    return Flat(name, path, kind, fields)


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


@dataclass(frozen=True)
class Crossed:
    """Events as they cross to Spark's operator.

    frame: what crosses. columns: what it stands for, without the time. arriving: what events are
    in the worker, with the time. fields: of the columns that were asked for.
    """

    frame: DataFrame
    columns: tuple[Flat, ...]
    arriving: Arriving
    fields: tuple[spark_types.StructField, ...]


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
    ordered = tuple(
        SortColumn(name, one.descending, not one.puts_nulls_last) for name, one in items_of
    )
    asked = tuple(prepared.schema.fields[: len(columns)])
    return Crossed(events, flats, Arriving(schema, tuple(keys), ordered), asked)


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
