"""How batches reach the worker function: mapInArrow, or mapInPandas where asked for.

Arrow keeps every value. Pandas has one mark for NULL and NaN, turns integers beside a NULL into
floats and instants into wall clocks; so over mapInPandas a number crosses as a number that is never
NULL with its NULL marks packed in bits, instants and intervals as microseconds. What pandas would
still alter is refused by name. "auto" is Arrow, which is also the faster one.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types
from pyspark.sql.types import DateType, DoubleType, FloatType, StructType, TimestampType

from matchrec.compile.executable import Executable
from matchrec.conditions.row_column import show_column
from matchrec.errors.calls import altered_by_pandas
from matchrec.errors.run.failures import column_of_other_type
from matchrec.loading import makes_queries
from matchrec.plan.text import quoted
from matchrec.shortcuts import taken
from matchrec.spark.environment import able_workers
from matchrec.spark.types import crossing_schema, decode_columns, microseconds, struct_of
from matchrec.worker import wire
from matchrec.worker.matching import Incoming
from matchrec.worker.wire import SelectItem, bits_a_column, packed_columns

# Types that cross unaltered, beside decimals and intervals.
UNALTERED = {"boolean", "tinyint", "smallint", "int", "bigint", "float", "double"} | {
    *("string", "binary", "date", "timestamp")
}

# An array leaves pandas element by element: NaN as NULL, an instant as a wall clock.
ALTERED_IN_ARRAYS = (FloatType, DoubleType, DateType, TimestampType)

MakeWorker = Callable[[pa.Schema], Any]


@dataclass(frozen=True)
class Sent:
    """Rows as they cross. fields: also of structs in parts. incoming: how a worker reads them."""

    rows: DataFrame
    fields: tuple[spark_types.StructField, ...]
    incoming: Incoming = Incoming()

    def run(
        self, worker: MakeWorker, schema: StructType, name: str, in_pandas: Executable | None = None
    ) -> DataFrame:
        """What a worker makes of the rows. worker: it, by the schema of the rows it gives. schema:
        of these once they are here. name: what Spark's own plan shows. in_pandas: of the query
        whose rows cross in pandas; None where they cross in Arrow.
        """
        rows, sends = self.rows, crossing_schema(schema)
        run = runner_in_worker(worker(arrow_schema(sends)))
        if in_pandas is not None:
            encoding = encoding_of(rows, in_pandas)
            rows, run = encoding.encode(rows), encoding.over_pandas(run)
        run.__name__ = name
        with able_workers(rows.sparkSession):
            mapped: Any = rows.mapInArrow if in_pandas is None else rows.mapInPandas
            return decode_columns(mapped(run, sends), schema)


def runner_in_worker(worker: Any) -> Callable[..., Iterator[Any]]:
    """What the `run` of a worker does; it says so in plain words where this package is lacking. It
    travels as bytes: read with the function, it would fail before a word of ours.
    """
    makes_queries.set()
    payload, shortcuts = pickle.dumps(worker), taken()
    workers: list[Any] = []

    def run(*given: Any) -> Iterator[Any]:
        try:
            from matchrec.shortcuts import each_under
            from matchrec.worker.failing import read, report_errors, unpickle

            def output() -> Iterator[Any]:
                if not workers:
                    workers.append(unpickle(payload))
                passed = (read(one) if isinstance(one, Iterator) else one for one in given)
                return workers[0].run(*passed)  # type: ignore[no-any-return]

            yield from each_under(shortcuts, lambda: report_errors(output))
        except ModuleNotFoundError as missing:
            raise RuntimeError(
                f"a Spark worker lacks the Python package {missing.name}: install matchrec on "
                f"every worker, for the interpreter {sys.executable}"
            ) from missing

    return run


def unpacker() -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that takes rows out of bytes, the one column; a worker needs Arrow alone."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for rows in batch.column(0):
                with pa.ipc.open_stream(rows.as_buffer()) as reader:
                    yield from reader

    return run


def arrow_schema(schema: spark_types.StructType) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    options: dict[str, Any] = {"timezone": "UTC"} if _asks_for_zone(to_arrow_schema) else {}
    return to_arrow_schema(schema, **options)


@cache
def _asks_for_zone(to_arrow_schema: Callable[..., pa.Schema]) -> bool:
    """Whether PySpark's function asks for a time zone; older ones say UTC themselves."""
    return "timezone" in signature(to_arrow_schema).parameters


@dataclass(frozen=True)
class PandasColumn:
    """A column on its way through pandas. name: of it, which its fields extend. path: SQL. kind:
    its type in Spark. fields: of a struct, each with its name there; then `name`_n says where the
    struct is NULL.
    """

    name: str
    path: str
    kind: spark_types.DataType
    fields: tuple[tuple[str, PandasColumn], ...] = ()

    @staticmethod
    def of(name: str, path: str, kind: spark_types.DataType) -> PandasColumn:
        own = kind.fields if isinstance(kind, spark_types.StructType) else ()
        fields = tuple(
            (one.name, PandasColumn.of(f"{name}_{i}", f"{path}.{quoted(one.name)}", one.dataType))
            for i, one in enumerate(own)
        )
        return PandasColumn(name, path, kind, fields)

    def leaves(self) -> Iterator[tuple[str, str, spark_types.DataType]]:
        """Path, name and type of each column that crosses."""
        if self.fields:
            yield f"{self.path} IS NULL", f"{self.name}_n", spark_types.BooleanType()
            for _, column in self.fields:
                yield from column.leaves()
        else:
            yield self.path, self.name, self.kind

    def arrow(self) -> pa.DataType:
        """The Arrow type. Raises ValueError with the name of the first type that has none."""
        if self.fields:
            return pa.struct([pa.field(name, column.arrow()) for name, column in self.fields])
        if (kind := arrow_type(self.kind)) is None:
            raise ValueError(self.kind.simpleString())
        return kind

    def array(self, crossed: Mapping[str, pa.Array]) -> pa.Array:
        if not self.fields:
            return crossed[self.name]
        absent = crossed[f"{self.name}_n"]
        arrays = [column.array(crossed) for _, column in self.fields]
        return pa.StructArray.from_arrays(arrays, [name for name, _ in self.fields], mask=absent)


@dataclass(frozen=True)
class PandasEncoding:
    """Rows on their way through pandas. Picklable. texts: what the user wrote for a column, by its
    name.
    """

    columns: tuple[PandasColumn, ...]
    texts: Mapping[str, str] = field(default_factory=dict)

    def leaves(self) -> list[tuple[str, str, spark_types.DataType]]:
        return [leaf for column in self.columns for leaf in column.leaves()]

    def encode(self, rows: DataFrame, *others: str) -> DataFrame:
        """The columns as pandas can hold them, others as they are, and packed marks of NULLs."""
        leaves = self.leaves()
        apart = [SelectItem(path, name) for path, name, _ in leaves]
        if any(one.sql != one.name for one in apart):
            rows = rows.selectExpr(*map(str, apart), *others)
        values = [SelectItem(encoded_value(name, kind), name) for _, name, kind in leaves]
        marks = packed_columns([f"{name} IS NULL" for _, name, _ in leaves], wire.nulls)
        return rows.selectExpr(*map(str, [*values, *others, *marks]))

    def batch(self, frame: pd.DataFrame) -> pa.RecordBatch:
        """The rows as they were before they crossed. Raises MatchRecognizeRunError for values of
        other types than those for which the query was built: the input may have changed.
        """
        crossed = {}
        for index, (path, name, kind) in enumerate(self.leaves()):
            word, bit = divmod(index, bits_a_column())
            marks = frame[wire.nulls(word)].to_numpy().astype(np.int64)
            absent = (marks >> bit) & 1 == 1
            values, type_ = frame[name].to_numpy(), arrow_type(kind)
            in_microseconds = pa.types.is_timestamp(type_) or pa.types.is_duration(type_)
            held = pa.int64() if in_microseconds else type_
            try:
                is_other = is_number(held) and pa.from_numpy_dtype(values.dtype) != held
                array = pa.array(values, held, mask=absent, from_pandas=False)
            except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
                is_other = True
            if is_other:
                from matchrec.worker.planned import sql_name  # which no planning loads

                arrived, column = pa.array(values, mask=absent).type, path.partition(".")[0]
                raise column_of_other_type(
                    column=self.texts.get(column, column),
                    planned=kind.simpleString(),
                    arrived=sql_name(arrived),
                )
            crossed[name] = array.cast(type_)
        arrays = [column.array(crossed) for column in self.columns]
        return pa.RecordBatch.from_arrays(arrays, [column.name for column in self.columns])

    def over_pandas(self, run: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """The mapped function: decodes, matches, and answers in Arrow-backed pandas columns."""

        def over_pandas(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
            for batch in run(map(self.batch, frames)):
                yield batch.to_pandas(types_mapper=pd.ArrowDtype)

        return over_pandas


def encoding_of(rows: DataFrame, executable: Executable) -> PandasEncoding:
    """How rows cross. Raises MatchRecognizeUnsupportedError for what pandas would alter."""
    fields, in_arrays = rows.schema.fields, set[int]()  # of which the output holds arrays
    for read in executable.reads:
        if read.row_list is not None:
            in_arrays.update(read.row_list.columns)
    pairs = zip(fields, executable.crossing.columns, strict=False)
    for place, (crossing, column) in enumerate(pairs):
        name, type_ = str(column.pieces[0]), crossing.dataType.simpleString()
        if arrow_type(crossing.dataType) is None:
            raise altered_by_pandas(column=name, type_name=type_)
        if place in in_arrays and isinstance(crossing.dataType, ALTERED_IN_ARRAYS):
            raise altered_by_pandas(column=name, type_name=f"{type_} in an array")
    columns = (PandasColumn.of(field.name, field.name, field.dataType) for field in fields)
    texts = {wire.column(i): show_column(c) for i, c in enumerate(executable.crossing.columns)}
    return PandasEncoding(tuple(columns), texts)


def is_number(kind: pa.DataType) -> bool:
    """Return whether pandas holds values of a type as numbers or truth values, not as objects."""
    is_boolean = pa.types.is_boolean(kind)
    return bool(is_boolean or pa.types.is_integer(kind) or pa.types.is_floating(kind))


@cache  # a stream asks batch after batch
def arrow_type(type_: spark_types.DataType) -> pa.DataType | None:
    """The Arrow type of a type that crosses unaltered, or None for one that does not."""
    sized = isinstance(type_, spark_types.DecimalType | spark_types.DayTimeIntervalType)
    if not sized and type_.simpleString() not in UNALTERED:
        return None
    return arrow_schema(struct_of({"": type_})).field(0).type


def encoded_value(name: str, type_: spark_types.DataType) -> str:
    """A column as SQL of a type that pandas holds exactly; NULL becomes zero where that matters."""
    match type_:
        case spark_types.BooleanType():
            return f"coalesce({name}, FALSE)"
        case spark_types.TimestampType():
            return f"coalesce(unix_micros({name}), 0L)"
        case spark_types.DayTimeIntervalType():
            return f"coalesce({microseconds(name)}, 0L)"
        case spark_types.IntegralType() | spark_types.FloatType() | spark_types.DoubleType():
            return f"coalesce({name}, CAST(0 AS {type_.simpleString()}))"
    return name


# Tables of Arrow that a user passes: some types Spark has not.


def write_at_once(frame: DataFrame, path: Path) -> int:
    """Writes all rows of a DataFrame to a Parquet file, in their order; returns how many."""
    table = frame.toArrow()
    parquet.write_table(table, path)
    return table.num_rows  # type: ignore[no-any-return]


def with_known_types(table: pa.Table) -> pa.Table:
    from matchrec.worker.arrays import read_as

    return table.cast(pa.schema([one.with_type(read_as(one.type)) for one in table.schema]))
