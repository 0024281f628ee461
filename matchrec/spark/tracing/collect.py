"""Rows of a DataFrame on the driver as one table of Arrow.

A function in a worker packs them, as Arrow's bytes, so that every type arrives as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from matchrec.errors.run import tracing as errors
from matchrec.spark import wire
from matchrec.spark.crossing import encode_columns
from matchrec.spark.sessions.interpreter import able_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_ROWS = 100_000


def collect_table(prepared: DataFrame, most: int = MOST_ROWS) -> pa.Table:
    """The rows of one partition, in their order. Raises where there are too many."""
    with able_workers(prepared.sparkSession):
        packed = encode_columns(prepared).mapInArrow(partial(pack, most=most), "packed binary")
    tables = [pa.ipc.open_stream(row.packed).read_all() for row in packed.collect()]
    if not tables:
        return pa.table({wire.FIRST_BITS: pa.array([], pa.int64())})
    table = pa.concat_tables(tables).combine_chunks()
    if table.num_rows > most:
        raise errors.partition_too_large(most)
    return table


def pack(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    """The batches as one value, up to the first in which there are more than `most` rows."""
    sink, rows = pa.BufferOutputStream(), 0
    writer = None
    for batch in batches:
        if batch.num_rows and rows <= most:
            writer = writer or pa.ipc.new_stream(sink, batch.schema)
            writer.write_batch(batch)
            rows += batch.num_rows
    if writer is not None:
        writer.close()
        packed = pa.array([sink.getvalue().to_pybytes()], pa.binary())
        yield pa.RecordBatch.from_arrays([packed], ["packed"])
