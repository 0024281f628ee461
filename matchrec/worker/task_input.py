"""The form in which the rows of a task reach its worker, and how a worker reads them.

`spark.preparations` makes a `TaskInput` together with the query that sends the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from matchrec.compile.lookaround import Lookaround
from matchrec.shortcuts import current_shortcuts
from matchrec.worker.column_roles import PlannedColumn, ShownColumn, Sorting, Struct
from matchrec.worker.error_reports import hold_garbage_collection

if TYPE_CHECKING:  # the module is loaded while a query is planned, without kernels
    from matchrec.worker.arrays import Batches
    from matchrec.worker.pieces import Piece


@dataclass(frozen=True, slots=True)
class TaskInput:
    """The form in which the rows of a task reach its worker. Picklable."""

    # How the worker must sort the rows; None if the engine has sorted them.
    sorting: Sorting | None = None
    # Columns of structs whose fields are sent as columns of their own.
    structs: tuple[Struct, ...] = ()
    # The number of tasks that share the memory of a process.
    task_count: int = 1
    # The number of rows that make a search worth its fixed cost.
    rows_per_call: int = field(default_factory=lambda: current_shortcuts().rows_per_call)
    # The columns as they were when the query was built, to be compared with the columns that
    # arrive. Empty if the session analyses a query only once, so that columns cannot differ.
    planned_columns: tuple[PlannedColumn, ...] = ()
    # The columns of the ORDER BY keys, whose values errors show; empty if a key is not sent.
    order_columns: tuple[ShownColumn, ...] = ()

    def read_pieces(
        self,
        batches: Batches,
        lookaround: Lookaround | None,
        bits_needed_for_output: tuple[int, ...] = (),
        never_null: Collection[str] = (),
    ) -> Iterator[Piece]:
        """Check and sort the rows of a task, and yield them in pieces for the search.

        Args:
            batches: the rows of the task.
            lookaround: see `pieces.split_into_pieces`.
            bits_needed_for_output: see `Sorting.bits_needed_for_output`.
            never_null: see `planned_columns.check_batches`.

        Raises:
            MatchRecognizeRunError: a column has another type than planned, or a NULL that the
                schema of the result excludes; or a file for spilled rows cannot be written.
            PartitionWithoutRoom: there is too little memory for the rows of a partition.
        """
        with hold_garbage_collection():
            from matchrec.worker.pieces import split_into_pieces
            from matchrec.worker.planned_columns import check_batches
            from matchrec.worker.sorting.sort import sort_batches

        if self.planned_columns:
            batches = check_batches(batches, self.planned_columns, never_null)
        if self.sorting is not None:
            sorting = replace(self.sorting, bits_needed_for_output=bits_needed_for_output)
            batches = sort_batches(batches, sorting, self.rows_per_call, task_count=self.task_count)
        return split_into_pieces(
            batches, lookaround, rows_per_call=self.rows_per_call, structs=self.structs
        )
