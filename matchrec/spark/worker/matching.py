"""What the workers of a clause are asked; what it takes to do so is loaded where they do it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from matchrec.compile.executable import Executable
from matchrec.dataclass import dataclass
from matchrec.spark import wire
from matchrec.spark.errors.failing import loading
from matchrec.spark.sorting.sorting import Sorting
from matchrec.spark.wire import Struct

if TYPE_CHECKING:
    import pyarrow as pa

    from matchrec.spark.worker.count import Tally

ROWS_A_CALL = 1 << 17


@dataclass(frozen=True, slots=True)
class Matching:
    """Runs an executable over one task's stream of batches.

    sorting: how the rows are to be sorted; None of rows that Spark has sorted. structs: columns
    that cross in parts. tally: counts, if anyone asks. rows_a_call: see `spark.worker.batches`.
    """

    executable: Executable
    sorting: Sorting | None = None
    structs: tuple[Struct, ...] = ()
    tally: Tally | None = None
    rows_a_call: int = ROWS_A_CALL

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Output batches, in the order of the partitions; the counters are the last one."""
        with loading():
            from matchrec.spark.sorting.sort import sorted_batches
            from matchrec.spark.worker.batches import pieces
            from matchrec.spark.worker.match import Worker

        keys = tuple(map(wire.column, self.executable.crossing.once))
        if self.sorting is not None:
            batches = sorted_batches(batches, self.sorting)
        found = pieces(batches, self.executable.lookaround, keys, rows_a_call=self.rows_a_call)
        return Worker(self.executable, self.tally).run(found, self.structs)
