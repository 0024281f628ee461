"""The values of measures over matches that a trace made up, one for each trial to be explained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from matchrec.engine.matches import Matches
from matchrec.output.measures import Reader
from matchrec.output.rows import OutputRows
from matchrec.spark.after.schema import schema_of_reads
from matchrec.spark.crossing import crossing_schema, decode_columns
from matchrec.spark.execute import projected
from matchrec.spark.sessions.interpreter import able_workers
from matchrec.spark.tracing.partition import CollectedPartition
from matchrec.spark.worker.gather import Gatherer

Values = dict[int, tuple[str | None, ...]]


def measure_values(partition: CollectedPartition, matches: Matches) -> Values:
    """The values of the plan's measures over some matches, by the first of them. Runs a job.

    With final semantics a measure sees all rows of its match, with running semantics all but the
    last one.
    """
    executable, task = partition.executable, partition.executable.task
    rows = before_the_last(matches)
    reader = Reader(matches, rows, partition.partitions, task.members, len(task.variables))
    batch = Gatherer(executable, partition.table, reader).batch()
    schema = schema_of_reads(executable, partition.fields)
    spark = partition.relation.runner.spark
    with able_workers(spark):
        sent = spark.range(0, 1, 1, 1).mapInArrow(
            partial(unpack, packed=pack(batch)), crossing_schema(schema)
        )
    found = projected(partition.relation, executable, decode_columns(sent, schema))
    first = len(executable.outputs) - len(partition.plan.measures)
    collected = [tuple(row)[first:] for row in found.collect()]
    return {int(row[0]): row for row in collected}


def before_the_last(matches: Matches) -> OutputRows:
    """One output row for each match, which looks from the row before the last, if there is one."""
    lengths = np.diff(matches.offsets)
    current = matches.offsets[1:] - np.minimum(lengths, 2)
    return OutputRows(matches.start, np.arange(matches.count), current)


def pack(batch: pa.RecordBatch) -> bytes:
    """A batch as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def unpack(batches: Iterable[pa.RecordBatch], packed: bytes) -> Iterator[pa.RecordBatch]:
    """The batch, whatever the rows are."""
    for _ in batches:
        yield from pa.ipc.open_stream(packed)
