"""Read pieces and make batches for the workers of coverage and of backtests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from matchrec.compile.coverage import CoverageTask
from matchrec.search.nearby import add_nearby_bits
from matchrec.search.partitions import Partitions
from matchrec.worker.encode import encode_partitions
from matchrec.worker.pieces import Piece
from matchrec.worker.row_locations import check_and_locate, name_large_partitions
from matchrec.worker.task_input import TaskInput


def read_pieces(
    task: CoverageTask, task_input: TaskInput, batches: Iterable[pa.RecordBatch]
) -> Iterator[Piece]:
    """Yield the rows of a task in pieces for the search.

    Raises:
        MatchRecognizeRunError: there is too little memory for the rows of a partition.
    """
    compiled_query = task.compiled_query
    pieces = task_input.read_pieces(batches, compiled_query.lookaround)
    return name_large_partitions(compiled_query, pieces)


@contextmanager
def prepare_partitions(
    task: CoverageTask, task_input: TaskInput, piece: Piece
) -> Iterator[Partitions]:
    """Return a context in which to search the partitions of a piece, which it yields.

    The partitions have the bits of all conditions.

    Raises:
        MatchRecognizeRunError: the rows do not allow the search in the context. The error names the
            row.
    """
    compiled_query = task.compiled_query
    partitions = encode_partitions(compiled_query, piece.table, piece.starts, piece.frontier)
    with check_and_locate(compiled_query, piece, partitions, task_input.order_columns):
        yield add_nearby_bits(partitions, compiled_query.nearby_conditions)


def cast_to_batch(columns: Sequence[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    """Return columns as a batch, cast to the types of a schema."""
    arrays = [
        values.cast(data_type) for values, data_type in zip(columns, schema.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
