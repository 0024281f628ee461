"""What the searches share in which no row is skipped and one match is asked for at each start."""

from __future__ import annotations

import numpy as np

from matchrec.engine.compiled import (
    columns_of,
    compile_task,
    plain,
    satisfied_of,
    searched_of,
    window_end_of,
)
from matchrec.engine.contiguous.search import matches_of, new_progress
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray, Partitions


class PlainSearch:
    """The query and the rows as kernels read them, and an output of matches with rows of their own.

    linked: what depends on the run, None where nothing does.
    """

    def __init__(self, task: Task, partitions: Partitions) -> None:
        compiled = compile_task(task, len(partitions.integers))
        self.tables = compiled.tables
        self.memo_bytes = compiled.memo_bytes
        self.linked = linked = compiled.linked
        self.progress = new_progress(task, partitions)
        self.rules = layout.Rules(
            compiled.tables.first,
            compiled.program,
            compiled.skip,
            True,
            linked.instructions if linked else None,
            linked.live_first if linked else None,
            linked.live_registers if linked else None,
        )
        self.rows = layout.Rows(
            plain(partitions.starts, np.int64),
            searched_of(partitions),
            satisfied_of(partitions),
            window_end_of(partitions),
            *(columns_of(partitions) if linked else (None, None)),
        )

    def new_stack(self) -> layout.RunArray:
        """The stack on which conditions on the run are evaluated."""
        return np.zeros((2, self.linked.depth), np.int64) if self.linked else None

    def new_registers(self, places: int, initial: int) -> layout.RunArray:
        """Registers for so many runs, at one place those of a run before its first row."""
        if self.linked is None:
            return None
        registers: IntArray = np.empty((places, len(self.linked.initial)), np.int64)
        registers[initial] = self.linked.initial
        return registers

    def output(self, matches: int, rows: int) -> layout.Found:
        return layout.Found(np.empty((4, matches + 1), np.int64), np.empty(rows, np.int32))

    def matches(self, output: layout.Found) -> Matches:
        choices = output.taken[: self.progress[layout.MAPPED]]
        return matches_of(output.found, int(self.progress[layout.MATCHES]), choices, self.tables)
