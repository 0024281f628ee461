"""Any algorithm for one match of each starting row, and then the runs of the rows without one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from matchrec.engine.contiguous.search import larger, raise_failure
from matchrec.engine.interface import Algorithm, Room, Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.seen import SEEN_REGISTERS
from matchrec.engine.matches import Matches
from matchrec.engine.partial.kernels import live_run
from matchrec.engine.partial.starts import Covered, Starts, find_starts
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.selection import backtracking
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.records import matches_of, new_output, prepare_input
from matchrec.nfa.facts import live_states
from matchrec.nfa.outcomes import A_MATCH
from matchrec.plan.clauses import MatchOutput


def find_all(
    matching: Algorithm,
    task: Task,
    partitions: Partitions,
    room: Room,
    counters: IntArray | None,
) -> Iterator[Matches]:
    """All matches in chunks, as they are found, then all runs. Raises RunFailure.

    matching: finds the matches.
    """
    covered = Covered.of(partitions)
    for matches in matching.search(replace(task, partial=None), partitions, counters):
        covered.add(task, partitions, matches)
        yield replace(matches, kind=np.full(matches.count, A_MATCH))
    starts = find_starts(task, partitions, covered)
    yield from PartialSearch(task, partitions, room).find_runs(starts)


class PartialSearch(backtracking.Search):
    """The path of one run, with what is remembered of the runs before it."""

    def __init__(self, task: Task, partitions: Partitions, room: Room) -> None:
        plain = replace(task, output=MatchOutput.PREFERRED)
        super().__init__(plain, prepare_input(plain, partitions), room)
        limit = None if task.selects else task.max_steps
        self.work.progress[layout.STEP_LIMIT] = min(limit or layout.NO_LIMIT, layout.NO_LIMIT)
        self.live = np.array(live_states(self.arrays.compiled.folding.choices), np.int64)
        self.seen = self.new_seen(room.memory)

    def new_seen(self, states: int) -> IntArray:
        """An empty table of computation states, which is full with half as many; or no table."""
        compiled = self.arrays.compiled
        keeps = compiled.linked is not None and not compiled.remembers_all
        registers = self.work.registers.shape[1]
        return np.zeros((states if keeps else 0, SEEN_REGISTERS + registers), np.int64)

    def find_runs(self, starts: Starts) -> Iterator[Matches]:
        """The runs from some starting rows, in chunks. Raises RunFailure."""
        progress, arrays = self.work.progress, self.arrays
        progress[layout.COUNT] = 0
        rows, status = self.room.rows, layout.OUTPUT_FULL
        while status == layout.OUTPUT_FULL:
            output = new_output(self.room.matches, rows)
            status = self.advance(starts, output)
            while layout.OUTPUT_FULL < status < layout.SKIP_TO_NO_ROW:
                self.grow(status)
                status = self.advance(starts, output)
            raise_failure(status, progress, arrays.compiled.tables, self.task, arrays.python)
            rows = max(rows, int(progress[layout.NEEDED]))
            yield self.take(output)

    def advance(self, starts: Starts, output: own.Found) -> int:
        """Call the kernel on an output; return its status."""
        wanted = live_run.Wanted(
            starts.partition,
            starts.start,
            starts.end,
            starts.number,
            starts.kind,
            self.live,
            self.seen,
        )
        return int(live_run.search(wanted, self.rules, self.arrays.rows, self.work, output))

    def take(self, output: own.Found) -> Matches:
        """The runs in an output, which is empty then. They have no numbers."""
        progress = self.work.progress
        found = matches_of(output, progress, self.arrays)
        progress[[layout.MATCHES, layout.MAPPED]] = 0
        return replace(found, number=np.full(found.count, -1))

    def grow(self, status: int) -> None:
        """At least double what is full; the search of the starting row begins again."""
        if status == layout.MEMO_FULL:
            memo = larger(self.work.memo, int(self.work.progress[layout.NEEDED]))
            self.work = self.work._replace(memo=memo)
            self.work.progress[layout.MEMO_TO] = self.work.progress[layout.START]
        elif status == layout.RUNS_FULL:
            self.seen = self.new_seen(2 * len(self.seen))
        else:
            assert status == layout.PATH_FULL, status
            self.enlarge_path(2 * self.work.path.shape[1])
