"""What Spark computes of a stream's events before the match: one projection, no window.

    SELECT <SQL over one row> AS __c0, ..., AS __x0, ... FROM <the user's relation>
    SELECT __c0, ..., <bits> AS __bits0, <order> AS __o1, ..., <key> AS __k0, ... FROM that
    SELECT <the same, structs as their fields, as pandas holds it>, __time, __t, __null0 FROM that

`__time` is the column with the watermark, as it is: Spark's operator finds the watermark by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import types as spark_types

from matchrec.conditions.row_column import RowColumn
from matchrec.errors.streaming import altered_in_stream, cannot_stream, no_watermark
from matchrec.plan.match_plan import MatchPlan
from matchrec.spark.before.columns import BITS_A_COLUMN, Preparation, Relation, bit_columns, packed
from matchrec.spark.crossing import sent
from matchrec.spark.streaming.flat import Flat, flat
from matchrec.spark.streaming.keyed import TIME
from matchrec.spark.transport import encoded_field

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from matchrec.compile.executable import Draft

WATERMARK = "spark.watermarkDelayMs"  # in the metadata of a column that has one
EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


@dataclass(frozen=True)
class Events:
    """Computes columns and bits of a stream's events for one plan."""

    preparation: Preparation
    keys: tuple[str, ...] = ()

    @property
    def relation(self) -> Relation:
        """The stream."""
        return self.preparation.relation

    @property
    def plan(self) -> MatchPlan:
        """The plan."""
        return self.preparation.plan

    def dataframe(self, columns: tuple[RowColumn, ...], drafted: Draft) -> DataFrame:
        """Columns __c0, ..., __bits0, ..., __o1, ..., __time, __k0, ...; events without a time are
        left out, and no others: Spark would put such a filter before the watermark, which must
        move on with every event.
        Raises one of Spark's `REFUSALS`, and MatchRecognizeError without a watermark.
        """
        conditions = drafted.row_conditions
        if any(not one.looks_at_one_row for one in (*columns, *conditions)):
            raise cannot_stream(
                "a condition on neighbouring rows",
                "an event's neighbours may not have come yet",
                "write it as a stage with `next`",
            )
        names = self.preparation.inner_names(columns, conditions)
        inner = self.preparation.relation.select(f"{text} AS {n}" for text, n in names.items())
        first, *others = (names[item.expression.text] for item in self.plan.order_by)
        keys = [names[key.text] for key in self.plan.keys] or ["0"]
        items = [f"__c{i}" for i in range(len(columns))]
        items += bit_columns([names[one.text] for one in conditions], first="FALSE")
        items += [f"{name} AS __o{i}" for i, name in enumerate(others)]
        items += [f"{first} AS __time", *(f"{key} AS __k{i}" for i, key in enumerate(keys))]
        frame = inner.selectExpr(*items)
        if WATERMARK not in frame.schema["__time"].metadata:
            raise no_watermark(self.plan.order_by[0].expression.text)
        return frame.filter("__time IS NOT NULL")


@dataclass(frozen=True)
class Crossed:
    """Events as they cross to Spark's operator.

    frame: what crosses. columns: what it stands for, without time and keys; schema: of these and
    the time. orders: those that put events of one time in order.
    """

    frame: DataFrame
    columns: tuple[Flat, ...]
    schema: pa.Schema
    keys: tuple[str, ...]
    orders: tuple[str, ...]


def crossed(prepared: DataFrame, columns: tuple[RowColumn, ...], plan: MatchPlan) -> Crossed:
    """Raises MatchRecognizeUnsupportedError for a column that pandas would alter."""
    frame = sent(prepared)
    keys = [name for name in prepared.columns if name.startswith("__k")]
    names = [name for name in prepared.columns if name not in (*keys, "__time")]
    texts = {f"__c{i}": str(column.pieces[0]) for i, column in enumerate(columns)}
    texts |= {f"__o{i}": item.expression.text for i, item in enumerate(plan.order_by[1:])}
    flats = tuple(flat(name, name, frame.schema[name].dataType) for name in names)
    fields = [held(one, texts) for one in flats]
    leaves = [leaf for one in flats for leaf in one.leaves()]
    marks = [f"{name} IS NULL" for _, name, _ in leaves]
    time = f"{microseconds(prepared.schema['__time'])} AS {TIME}"
    apart = frame.selectExpr(
        *(f"{path} AS {name}" for path, name, _ in leaves), time, "__time", *keys
    )
    encoded = apart.selectExpr(
        *(encoded_field(spark_types.StructField(name, kind)) for _, name, kind in leaves),
        TIME,
        "__time",
        *keys,
        *null_columns(marks),
    )
    orders = tuple(name for name in names if name.startswith("__o"))
    schema = pa.schema([*fields, pa.field(TIME, pa.int64())])
    return Crossed(encoded, flats, schema, tuple(keys), orders)


def null_columns(marks: list[str]) -> list[str]:
    """The packed marks of NULLs: of the leaves in their order, then of the time, which has none."""
    marks = [*marks, "FALSE"]
    chunks = [marks[i : i + BITS_A_COLUMN] for i in range(0, len(marks), BITS_A_COLUMN)]
    return [f"{packed(chunk)} AS __null{i}" for i, chunk in enumerate(chunks)]


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
