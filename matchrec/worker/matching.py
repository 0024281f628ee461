"""What the workers of a clause are asked, and how the rows of a task come to them.

What it takes to do so is loaded where they do it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from matchrec.compile.executable import Executable, Lookaround
from matchrec.shortcuts import taken
from matchrec.worker import wire
from matchrec.worker.failing import loading
from matchrec.worker.wire import PlannedColumn, Sorting, Struct

if TYPE_CHECKING:
    import pyarrow as pa

    from matchrec.worker.arrays import Batches
    from matchrec.worker.batches import Piece


@dataclass(frozen=True, slots=True)
class Incoming:
    """How rows come. Picklable.

    sorting: how they are to be sorted; None of rows that Spark has sorted. structs: columns that
    cross in parts. tasks: how many share the memory of a process. rows_a_call: how many rows are
    worth a call of the engine. token: by which the query is known again in the plan of a DataFrame;
    empty where nobody asks. planned: the columns as they were when the query was built; none if the
    session analyses a query only once.
    """

    sorting: Sorting | None = None
    structs: tuple[Struct, ...] = ()
    tasks: int = 1
    rows_a_call: int = field(default_factory=lambda: taken().rows_a_call)
    token: str = ""
    planned: tuple[PlannedColumn, ...] = ()

    def pieces(
        self,
        batches: Batches,
        lookaround: Lookaround | None,
        needed: tuple[int, ...] = (),
        never_null: Collection[str] = (),
    ) -> Iterator[Piece]:
        """The rows in pieces. lookaround: as of `worker.batches`. needed: as of `Sorting`.
        never_null: as of `worker.planned`.
        """
        with loading():
            from matchrec.worker.batches import pieces
            from matchrec.worker.planned import checked_batches
            from matchrec.worker.sorting.sort import sorted_batches

        if self.planned:
            batches = checked_batches(batches, self.planned, never_null)
        if self.sorting is not None:
            sorting = replace(self.sorting, needed=needed)
            batches = sorted_batches(batches, sorting, self.rows_a_call, tasks=self.tasks)
        return pieces(batches, lookaround, rows_a_call=self.rows_a_call, structs=self.structs)


@dataclass(frozen=True, slots=True)
class QueryWorker:
    """Runs an executable over one task's stream of batches. counted: as of `Tally`."""

    executable: Executable
    incoming: Incoming = Incoming()
    counted: pa.Schema | None = None

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Output batches, in the order of the partitions; the counters are the last one."""
        with loading():
            from matchrec.output.reads import ReadRow
            from matchrec.worker.count import Tally
            from matchrec.worker.match import Worker

        needed = self.executable.needed if self.counted is None else ()  # counters count all rows
        reads = self.executable.reads
        never_null = {wire.column(read.column) for read in reads if isinstance(read, ReadRow)}
        lookaround = self.executable.lookaround
        pieces = self.incoming.pieces(batches, lookaround, needed, never_null)
        return Worker(self.executable, Tally(self.counted)).run(pieces)
