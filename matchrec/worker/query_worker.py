"""The worker of a query: from the batches of a task to batches of output rows.

The driver imports this module to build and pickle workers. What a worker needs to run, such as
kernels and the sort, is imported only when it runs, so the driver never loads it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.lookaround import Lookaround
from matchrec.shortcuts import current_shortcuts
from matchrec.worker import wire
from matchrec.worker.failing import hold_garbage_collection
from matchrec.worker.wire import OrderColumn, PlannedColumn, Sorting, Struct

if TYPE_CHECKING:
    import pyarrow as pa

    from matchrec.worker.arrays import Batches
    from matchrec.worker.pieces import Piece


@dataclass(frozen=True, slots=True)
class TaskInput:
    """The form in which the rows of a task reach its worker. Picklable.

    `spark.columns` makes it together with the query of the rows. The worker of a query adds
    `Sorting.needed_bits`.
    """

    # How the worker must sort the rows; None if the engine has sorted them.
    sorting: Sorting | None = None
    # Columns of structs whose fields are sent as columns of their own.
    structs: tuple[Struct, ...] = ()
    # The number of tasks that share the memory of a process.
    task_count: int = 1
    # The number of rows that make a search worth its fixed cost.
    rows_per_call: int = field(default_factory=lambda: current_shortcuts().rows_per_call)
    # The columns as they were when the query was built, to be compared with those that arrive.
    # Empty if the session analyses a query only once, so that they cannot differ.
    planned: tuple[PlannedColumn, ...] = ()
    # The ORDER BY keys, whose values errors show; empty if a key is not sent.
    orders: tuple[OrderColumn, ...] = ()

    def read_pieces(
        self,
        batches: Batches,
        lookaround: Lookaround | None,
        needed_bits: tuple[int, ...] = (),
        never_null: Collection[str] = (),
    ) -> Iterator[Piece]:
        """Check and sort the rows of a task, and yield them in pieces for the search.

        Args:
            batches: the rows of the task.
            lookaround: see `pieces.split_into_pieces`.
            needed_bits: see `Sorting.needed_bits`.
            never_null: see `planned.check_batches`.

        Raises:
            MatchRecognizeRunError: a column has another type than it was planned with.
            PartitionWithoutRoom: there is too little memory for the rows of a partition.
        """
        with hold_garbage_collection():
            from matchrec.worker.pieces import split_into_pieces
            from matchrec.worker.planned import check_batches
            from matchrec.worker.sorting.sort import sort_batches

        if self.planned:
            batches = check_batches(batches, self.planned, never_null)
        if self.sorting is not None:
            sorting = replace(self.sorting, needed_bits=needed_bits)
            batches = sort_batches(batches, sorting, self.rows_per_call, task_count=self.task_count)
        return split_into_pieces(
            batches, lookaround, rows_per_call=self.rows_per_call, structs=self.structs
        )


@dataclass(frozen=True, slots=True)
class QueryWorker:
    """A worker that runs a compiled query over the batches of one task. Picklable."""

    compiled_query: CompiledQuery
    task_input: TaskInput = TaskInput()
    # The schema of the output if it ends with counters, see `Tally`; None without counters.
    counted_schema: pa.Schema | None = None

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield output batches in the order of the partitions, then the batch of the counters."""
        with hold_garbage_collection():
            from matchrec.output.reads import ReadRow
            from matchrec.worker.count import Tally
            from matchrec.worker.match import PieceWorker

        # counters count all rows, so no partition may be dropped
        has_counters = self.counted_schema is not None
        needed_bits = () if has_counters else self.compiled_query.needed_bits
        reads = self.compiled_query.reads
        never_null = {wire.name_column(read.column) for read in reads if isinstance(read, ReadRow)}
        lookaround = self.compiled_query.lookaround
        pieces = self.task_input.read_pieces(batches, lookaround, needed_bits, never_null)
        worker = PieceWorker(
            self.compiled_query, Tally(self.counted_schema), orders=self.task_input.orders
        )
        return worker.run(pieces)
