"""How batches reach the worker function: mapInArrow, or mapInPandas where asked for.

Arrow keeps every value. Pandas has one mark for NULL and NaN, turns integers beside a NULL into
floats and instants into wall clocks; so over mapInPandas a number crosses as a number that is never
NULL with its NULL marks packed in bits, instants and intervals as microseconds. What pandas would
still alter is refused by name. "auto" is Arrow, which is also the faster one.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import types as spark_types

from matchrec.compile.executable import Executable
from matchrec.errors.calls import altered_by_pandas, altered_in_arrays
from matchrec.output.reads import Read, ReadCollected, ReadMatch, ReadMatchedRows
from matchrec.spark import wire
from matchrec.spark.crossing import crossing_schema, decode_columns, microseconds
from matchrec.spark.environment import able_workers
from matchrec.spark.names import BITS_A_COLUMN, null_columns
from matchrec.spark.wire import SelectItem
from matchrec.spark.worker.matching import Matching

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Run = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class RunsBatches(Protocol):
    """What a worker runs. Picklable."""

    def run(self, batches: Iterable[pa.RecordBatch], /) -> Iterator[pa.RecordBatch]:
        """Batches of the result."""


TRANSPORTS = ("auto", "arrow", "pandas")
NUMBERS: dict[type[spark_types.DataType], pa.DataType] = {
    spark_types.BooleanType: pa.bool_(),
    spark_types.ByteType: pa.int8(),
    spark_types.ShortType: pa.int16(),
    spark_types.IntegerType: pa.int32(),
    spark_types.LongType: pa.int64(),
    spark_types.FloatType: pa.float32(),
    spark_types.DoubleType: pa.float64(),
}


# An array leaves pandas element by element: NaN as NULL, an instant as a wall clock.
ALTERED_IN_ARRAYS = (
    spark_types.FloatType,
    spark_types.DoubleType,
    spark_types.DateType,
    spark_types.TimestampType,
)


def map_partitions(
    prepared: DataFrame, matching: Matching, schema: spark_types.StructType, transport: str
) -> DataFrame:
    """The output rows of `prepared`, matched inside Spark's Python workers."""
    executable = matching.executable
    name = f"match_recognize[PATTERN ({executable.pattern})]"  # what Spark's own plan shows
    run = runner_in_worker(matching)
    if transport != "pandas":
        return map_in_arrow(prepared, run, schema, name)
    encoding = PandasEncoding(prepared, executable)
    over_pandas = encoding.function(run)
    over_pandas.__name__ = name
    with able_workers(prepared.sparkSession):
        return encoding.encode().mapInPandas(over_pandas, schema)


def map_rows(
    rows: DataFrame,
    worker: Callable[[pa.Schema], RunsBatches],
    schema: spark_types.StructType,
    name: str,
) -> DataFrame:
    """What a worker makes of rows that cross. worker: it, by the schema of the rows it gives.

    schema: of these once they are here. name: what Spark's own plan shows.
    """
    sends = crossing_schema(schema)
    run = runner_in_worker(worker(arrow_schema(sends)))
    return decode_columns(map_in_arrow(rows, run, sends, name), schema)


def map_in_arrow(
    prepared: DataFrame, run: Run, schema: spark_types.StructType, name: str
) -> DataFrame:
    """What `run` makes of the rows of each task. name: what Spark's own plan shows."""

    def over_arrow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run(batches)

    over_arrow.__name__ = name
    with able_workers(prepared.sparkSession):
        return prepared.mapInArrow(over_arrow, schema)


def runner_in_worker(worker: RunsBatches) -> Run:
    """What a worker does; it says so in plain words where a worker lacks this package.

    It travels as bytes: read with the function, it would fail before a word of ours.
    """
    payload = pickle.dumps(worker)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            from matchrec.spark.errors.failing import report_errors, unpickle

            yield from report_errors(lambda: unpickle(payload).run(batches))
        except ModuleNotFoundError as missing:
            raise RuntimeError(
                f"a Spark worker lacks the Python package {missing.name}: install matchrec on "
                f"every worker, for the interpreter {sys.executable}"
            ) from missing

    return run


def arrow_schema(schema: spark_types.StructType) -> pa.Schema:
    """The Arrow types in which a worker gives values of Spark's types."""
    from pyspark.sql.pandas.types import to_arrow_schema

    asked = "timezone" in signature(to_arrow_schema).parameters  # older ones say UTC themselves
    options: dict[str, Any] = {"timezone": "UTC"} if asked else {}
    return to_arrow_schema(schema, **options)


class PandasEncoding:
    """One DataFrame on its way through pandas."""

    def __init__(self, prepared: DataFrame, executable: Executable) -> None:
        """Raises MatchRecognizeUnsupportedError for a column that pandas would alter."""
        self.prepared = prepared
        self.fields = prepared.schema.fields
        in_arrays = columns_in_arrays(executable.reads)
        for place, (field, column) in enumerate(
            zip(self.fields, executable.crossing.columns, strict=False)
        ):
            name, type_ = str(column.pieces[0]), field.dataType.simpleString()
            if arrow_type(field.dataType) is None:
                raise altered_by_pandas(name, type_)
            if place in in_arrays and isinstance(field.dataType, ALTERED_IN_ARRAYS):
                raise altered_in_arrays(name, type_)
        self.types = [arrow_type(field.dataType) for field in self.fields]

    def encode(self) -> DataFrame:
        """The columns as pandas can hold them, then the packed marks of NULLs."""
        marks = [f"{field.name} IS NULL" for field in self.fields]
        items = [*(encoded_field(field) for field in self.fields), *null_columns(marks)]
        return self.prepared.selectExpr(*map(str, items))

    def function(self, run: Run) -> Callable[[Iterator[pd.DataFrame]], Iterator[pd.DataFrame]]:
        """The mapped function: decodes, matches, and answers in Arrow-backed pandas columns."""
        names, types = [field.name for field in self.fields], list(self.types)

        def over_pandas(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
            for batch in run(decode(frame, names, types) for frame in frames):
                yield batch.to_pandas(types_mapper=pd.ArrowDtype)

        return over_pandas


def columns_in_arrays(reads: Iterable[Read]) -> frozenset[int]:
    """The columns of which the output holds arrays: those that Spark aggregates over each match."""
    places: set[int] = set()
    for read in reads:
        match read:
            case ReadCollected(column=column) | ReadMatch(column=column):
                places.add(column)
            case ReadMatchedRows(columns):
                places.update(columns)
    return frozenset(places)


def arrow_type(type_: spark_types.DataType) -> pa.DataType | None:
    """The Arrow type of a type that crosses unaltered, or None for one that does not."""
    if type(type_) in NUMBERS:
        return NUMBERS[type(type_)]
    if isinstance(type_, spark_types.DecimalType):
        return pa.decimal128(type_.precision, type_.scale)
    if isinstance(type_, spark_types.DayTimeIntervalType):
        return pa.duration("us")
    match type_.simpleString():
        case "string":
            return pa.string()
        case "binary":
            return pa.binary()
        case "date":
            return pa.date32()
        case "timestamp":
            return pa.timestamp("us", tz="UTC")
        case _:
            return None


def encoded_field(field: spark_types.StructField) -> SelectItem:
    """A column as a type that pandas holds exactly; NULL becomes zero where that matters."""
    return SelectItem(encoded_value(field), field.name)


def encoded_value(field: spark_types.StructField) -> str:
    """The same, as SQL."""
    if isinstance(field.dataType, spark_types.BooleanType):
        return f"coalesce({field.name}, FALSE)"
    if type(field.dataType) in NUMBERS:
        zero = f"CAST(0 AS {field.dataType.simpleString()})"
        return f"coalesce({field.name}, {zero})"
    if isinstance(field.dataType, spark_types.TimestampType):
        return f"coalesce(unix_micros({field.name}), 0L)"
    if isinstance(field.dataType, spark_types.DayTimeIntervalType):
        return f"coalesce({microseconds(field.name)}, 0L)"
    return field.name


def decode(frame: pd.DataFrame, names: list[str], types: list[pa.DataType]) -> pa.RecordBatch:
    """The batch that Spark's rows were, out of their encoded form."""
    arrays = []
    for index, (name, type_) in enumerate(zip(names, types, strict=True)):
        word, bit = divmod(index, BITS_A_COLUMN)
        marks = frame[wire.nulls(word)].to_numpy().astype(np.int64)
        absent = (marks >> bit) & 1 == 1
        values = frame[name].to_numpy()
        in_microseconds = pa.types.is_timestamp(type_) or pa.types.is_duration(type_)
        held = pa.int64() if in_microseconds else type_
        arrays.append(pa.array(values, held, mask=absent, from_pandas=False).cast(type_))
    return pa.RecordBatch.from_arrays(arrays, names)
