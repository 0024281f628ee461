"""The plain searches, which skip no row and find one match at each start: what they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from matchrec.engine.compiled import (
    columns_of,
    compile_task,
    frontier_of,
    plain,
    satisfied_of,
    window_end_of,
)
from matchrec.engine.contiguous.kernels.coverage_layout import CoverageWork
from matchrec.engine.contiguous.search import doubled, matches_of, new_progress
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.evaluate.mathematics.functions import mathematics_of
from matchrec.evaluate.values import Source
from matchrec.plan.clauses import MatchOutput

if TYPE_CHECKING:
    from matchrec.evaluate.python_calls import PythonCalls


class PlainSearch:
    """The query and the rows as kernels read them, and an output of matches with rows of their own.

    linked: what depends on the run, None where nothing does. kernel: what searches, in `work`.
    """

    kernel: ClassVar[Callable[..., int]]
    work: layout.AnyWork | CoverageWork

    def __init__(self, task: Task, partitions: Partitions) -> None:
        compiled = compile_task(task, len(partitions.integers))
        self.tables = compiled.tables
        self.memo_bytes = compiled.memo_bytes
        self.linked = linked = compiled.linked
        self.progress = new_progress(task)
        self.rules = layout.Rules(
            compiled.tables.first,
            compiled.program,
            compiled.skip,
            True,
            compiled.counts_matches,
            task.output is MatchOutput.LONGEST,
            linked.instructions if linked else None,
            linked.live_first if linked else None,
            linked.live_registers if linked else None,
        )
        columns, valid = columns_of(partitions) if linked else (None, None)
        self.python = self.begin_python_calls(partitions, columns, valid)
        self.rows = layout.Rows(
            plain(partitions.starts, np.int64),
            frontier_of(partitions),
            satisfied_of(partitions),
            window_end_of(partitions),
            columns,
            valid,
            mathematics_of(linked) if linked else None,
            self.python.pointer if self.python else None,
        )

    def begin_python_calls(
        self, partitions: Partitions, columns: layout.RunArray, valid: layout.RunArray
    ) -> PythonCalls | None:
        """What Python computes for conditions on the run; None without such.

        Runs of different starting rows, of different partitions, are never searched at once.
        """
        if self.linked is None:
            return None
        from matchrec.evaluate.python_calls import PythonCalls  # loads all functions

        source = Source(columns, valid, partitions.ranked)
        progress = self.progress
        calls = PythonCalls(
            self.linked, source, lambda: (progress[layout.PARTITION], progress[layout.START])
        )
        calls.registers = lambda: self.registers
        calls.match_number = lambda: int(progress[layout.NUMBER]) + 1
        return calls

    @property
    def registers(self) -> layout.RunArray:
        """The registers of all runs; None where no condition depends on the run."""
        assert isinstance(self.work, layout.PathWork | layout.RunsWork | CoverageWork)
        return self.work.registers

    def advance(self, output: layout.Found) -> int:
        """Call the kernel on an output; return its status."""
        return int(self.kernel(self.rules, self.rows, self.work, output, self.registers))

    def new_stack(self) -> layout.RunArray:
        """The stack on which conditions on the run are evaluated."""
        return self.python.stack if self.python else None

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


class RingSearch(PlainSearch, ABC):
    """A search whose memory is one ring of rows, which it loses when that grows."""

    work: layout.DistanceWork | layout.ChainWork

    def advance(self, output: layout.Found) -> int:
        """Call the kernel, which asks no condition on the run."""
        return int(self.kernel(self.rules, self.rows, self.work, output))

    @abstractmethod
    def new_work(self, rows: int) -> layout.DistanceWork | layout.ChainWork:
        """Empty memory for so many rows, a power of two."""

    def grow(self, status: int) -> None:
        """At least double the memory; the search of the starting row begins again."""
        assert status == layout.MEMO_FULL
        self.work = self.new_work(doubled(len(self.work.path), int(self.progress[layout.NEEDED])))
        self.progress[layout.MEMO_TO] = self.progress[layout.START]
