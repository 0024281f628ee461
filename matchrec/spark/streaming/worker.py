"""What runs inside Spark's Python workers: pandas in, Arrow between, bytes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd
import pyarrow as pa
from pyspark.sql import types as spark_types

from matchrec.dataclass import dataclass
from matchrec.spark import wire
from matchrec.spark.streaming.bucket import Bucket, Group
from matchrec.spark.streaming.flat import Flat
from matchrec.spark.transport import arrow_type, decode


@dataclass(frozen=True)
class StreamWorker:
    """Searches the events of a bucket. columns: those that cross, beside the time. Picklable."""

    bucket: Bucket
    columns: tuple[Flat, ...]

    def run(self, frames: Iterable[pd.DataFrame], group: Group) -> Iterator[pd.DataFrame]:
        """Output rows of what is complete now, as the bytes of an Arrow stream."""
        batches = (self.batch(frame) for frame in frames if len(frame))
        for batch in self.bucket.batch(batches, group):
            out = pa.BufferOutputStream()
            with pa.ipc.new_stream(out, batch.schema) as writer:
                writer.write_batch(batch)
            yield pd.DataFrame({"rows": [out.getvalue().to_pybytes()]})

    def batch(self, frame: pd.DataFrame) -> pa.RecordBatch:
        """The events as they were before they crossed."""
        time = Flat(wire.MICROSECONDS, wire.MICROSECONDS, spark_types.LongType())
        columns = (*self.columns, time)
        leaves = [leaf for one in columns for leaf in one.leaves()]
        kinds = [arrow_type(kind) for _, _, kind in leaves]
        flat = decode(frame, [name for _, name, _ in leaves], [one for one in kinds if one])
        arrays = [one.array(flat) for one in columns]
        return pa.RecordBatch.from_arrays(arrays, schema=self.bucket.schema)
