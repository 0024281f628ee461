"""The worker of a query: from the batches of a task to batches of output rows.

The driver imports this module to build and pickle workers. What a worker needs to run, such as
kernels and the sort, is imported only when the worker runs, so that the driver never loads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.worker import internal_names
from matchrec.worker.error_reports import hold_garbage_collection
from matchrec.worker.task_input import TaskInput

if TYPE_CHECKING:
    import pyarrow as pa

    from matchrec.worker.arrays import Batches


@dataclass(frozen=True, slots=True)
class QueryWorker:
    """A worker that runs a compiled query over the batches of one task. Picklable."""

    compiled_query: CompiledQuery
    # How the rows arrive.
    task_input: TaskInput = TaskInput()
    # The schema of the output if it ends with counters, see `Tally`; None without counters.
    counted_schema: pa.Schema | None = None

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield output batches in the order of the partitions, then the batch of the counters.

        Raises:
            MatchRecognizeRunError: the rows do not fit the plan, a condition or a measure cannot be
                computed, or there is too little memory.
        """
        with hold_garbage_collection():
            from matchrec.output.reads import ReadRow
            from matchrec.worker.match import PieceWorker
            from matchrec.worker.tally import Tally

        # counters count all rows, so no partition may be dropped
        has_counters = self.counted_schema is not None
        bits_needed_for_output = () if has_counters else self.compiled_query.bits_needed_for_output
        reads = self.compiled_query.reads
        # The output has the values of these columns as they are, so it has their NULLs, too.
        never_null = {
            internal_names.name_column(read.column) for read in reads if isinstance(read, ReadRow)
        }
        lookaround = self.compiled_query.lookaround
        pieces = self.task_input.read_pieces(
            batches, lookaround, bits_needed_for_output, never_null
        )
        worker = PieceWorker(
            self.compiled_query,
            Tally(self.counted_schema),
            order_columns=self.task_input.order_columns,
        )
        return worker.run(pieces)
