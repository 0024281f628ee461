"""The function that runs inside Spark's Python workers: batches in, batches of output rows out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa

from matchrec.engine.match import FailureKind, Matches, RunFailure
from matchrec.engine.partitions import BoolArray, IntArray, Partitions
from matchrec.errors.running import (
    Place,
    division_by_zero,
    overflow_in_condition,
    skip_to_first_row,
    skip_to_no_row,
    stage_is_first,
    stage_missed,
    sum_too_large,
)
from matchrec.executable import Executable
from matchrec.output.aggregates import SumOverflow
from matchrec.output.measures import Reader
from matchrec.output.rows import OutputRows, matched_rows, output_rows, unmatched_rows
from matchrec.plan.clauses import RowsPerMatch
from matchrec.spark.batches import whole_partitions
from matchrec.spark.encode import partitions_of
from matchrec.spark.gather import Gatherer
from matchrec.spark.stretches import stretches_of
from matchrec.spark.tally import ENCODING, GATHERING, WAITING, Tally

T = TypeVar("T")

WORDING = {
    FailureKind.SKIP_TO_NO_ROW: skip_to_no_row,
    FailureKind.SKIP_TO_FIRST_ROW: skip_to_first_row,
    FailureKind.STAGE_MISSED: stage_missed,
    FailureKind.STAGE_IS_FIRST: stage_is_first,
    FailureKind.OVERFLOW: overflow_in_condition,
    FailureKind.DIVISION_BY_ZERO: division_by_zero,
}


@dataclass(frozen=True)
class Worker:
    """Runs an executable over one task's stream of batches. tally: counts, if anyone asks."""

    executable: Executable
    tally: Tally | None = None

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Output batches, in the order of the partitions; the counters are the last one."""
        for table, starts in self.timed(WAITING, whole_partitions(batches)):
            for batch in self.matched(table, starts):
                yield batch if self.tally is None else self.tally.beside(batch)
        if self.tally is not None:
            yield self.tally.row()

    def matched(self, table: pa.Table, starts: IntArray) -> Iterator[pa.RecordBatch]:
        """The output rows of whole partitions."""
        executable = self.executable
        with self.spent_on(ENCODING):
            stretches = stretches_of(table, starts) if executable.neighbours else None
            partitions = partitions_of(executable, table, stretches.starts if stretches else starts)
        covered = np.zeros(table.num_rows, np.bool_)
        with_unmatched = executable.rows_per_match is RowsPerMatch.ALL_ROWS_WITH_UNMATCHED
        try:
            found = self.found(partitions, len(starts) - 1)
            for matches in stretches.numbered(found) if stretches else found:
                if with_unmatched:
                    covered |= matched_rows(matches, table.num_rows)
                with self.spent_on(GATHERING):
                    rows = output_rows(matches, executable.rows_per_match)
                yield from self.gathered(table, partitions, matches, rows)
        except RunFailure as failure:
            place = self.place(failure.row, table, partitions)
            raise WORDING[failure.kind](failure.detail, place) from failure
        if with_unmatched:
            yield from self.unmatched(table, partitions, covered)

    def found(self, partitions: Partitions, count: int) -> Iterator[Matches]:
        """The matches of `count` whole partitions, in chunks."""
        engine, task, tally = self.executable.engine, self.executable.task, self.tally
        if tally is None:
            return engine.search(task, partitions)
        found = engine.search(task, partitions, tally.of_kernels)
        return tally.counted(found, partitions.rows, count)

    def timed(self, stage: int, items: Iterator[T]) -> Iterator[T]:
        """The same items, timed if anyone asks."""
        return items if self.tally is None else self.tally.timed(stage, items)

    def spent_on(self, stage: int) -> AbstractContextManager[None]:
        """Times what is done inside, if anyone asks."""
        return nullcontext() if self.tally is None else self.tally.spent_on(stage)

    def unmatched(
        self, table: pa.Table, partitions: Partitions, covered: BoolArray
    ) -> Iterator[pa.RecordBatch]:
        """The rows that no match covers, with every measure NULL."""
        yield from self.gathered(
            table, partitions, no_matches(), unmatched_rows(covered, partitions)
        )

    def gathered(
        self, table: pa.Table, partitions: Partitions, matches: Matches, rows: OutputRows
    ) -> Iterator[pa.RecordBatch]:
        if not rows.count:
            return
        task = self.executable.task
        reader = Reader(matches, rows, partitions, task.members, len(task.variables))
        try:
            with self.spent_on(GATHERING):
                batch = Gatherer(self.executable, table, reader).batch()
            yield batch
        except SumOverflow as overflow:
            raise sum_too_large(self.place(overflow.row, table, partitions)) from overflow

    def place(self, row: int, table: pa.Table, partitions: Partitions) -> Place:
        """A row as its partition's keys and its number there."""
        keys = {
            name: table.column(f"__c{column}")[row].as_py() for name, column in self.executable.keys
        }
        if self.executable.neighbours:
            number = table.column("__n")[row].as_py()
        else:
            partition = int(np.searchsorted(partitions.starts, row, side="right")) - 1
            number = row - int(partitions.starts[partition]) + 1
        return Place(keys, number, bool(self.executable.relevant))


def no_matches() -> Matches:
    """Matches of nothing."""
    none = np.zeros(0, np.int64)
    return Matches(
        none, none, none, np.zeros(1, np.int64), np.zeros(0, np.int16), np.zeros(0, np.bool_)
    )
