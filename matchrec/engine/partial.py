"""Runs that come out beside the matches: live where their window, or their partition, ends.

Goes in: a task, its partitions, and the matches that an algorithm has found. Comes out: the matches
and, of starting rows that begin none, the most preferred run that is live at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from matchrec.dataclass import dataclass
from matchrec.engine.interface import Room, Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import Wanted
from matchrec.engine.matches import Matches, next_starts
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.records import prepare_input
from matchrec.engine.search import PathSearch
from matchrec.engine.selection.kernels.starting_rows import search_live_runs
from matchrec.nfa.facts import live_states
from matchrec.nfa.program import A_MATCH, TIMED_OUT, UNFINISHED
from matchrec.plan.clauses import MatchOutput


@dataclass(frozen=True, slots=True)
class Covered:
    """Where matches have been found, filled chunk by chunk.

    begun: int64[n], how many matches begin at each row. change: int64[n + 1], by how many matches
    more than the row before a row is covered: matches cover the rows from their starting row to
    the one from which the search goes on.
    """

    begun: IntArray
    change: IntArray

    @classmethod
    def of(cls, partitions: Partitions) -> Covered:
        """Nothing has been found yet."""
        return cls(np.zeros(partitions.rows, np.int64), np.zeros(partitions.rows + 1, np.int64))

    def add(self, task: Task, partitions: Partitions, matches: Matches) -> None:
        """Add the matches of a chunk."""
        upper = partitions.starts[matches.partition + 1]
        until = np.minimum(next_starts(task.after_match, task.members, matches), upper)
        self.begun[matches.start] += 1
        np.add.at(self.change, matches.start, 1)
        np.add.at(self.change, until, -1)


def find_starts(task: Task, partitions: Partitions, covered: Covered) -> Wanted:
    """The starting rows that a search comes to, where it finds no match and looks for a run.

    In order; a kind says what a run is that is live at the end. covered: by all matches.
    """
    partial = task.partial
    assert partial is not None
    starts = partitions.starts
    row = np.flatnonzero(np.cumsum(covered.change[:-1]) == 0)
    partition = np.searchsorted(starts, row, side="right") - 1
    upper = starts[partition + 1]
    end = upper if partitions.window_end is None else partitions.window_end[row]
    open_at_end = partial.unfinished & (end == upper)
    kind = np.where(open_at_end, UNFINISHED, TIMED_OUT)
    wanted = (end > row) & (open_at_end | partial.timed_out)
    before = np.append(0, np.cumsum(covered.begun))
    number = before[row] - before[starts[partition]]
    live = np.array(live_states(task.pattern.folding.choices), np.int64)
    found = (one[wanted] for one in (partition, row, end, number, kind))
    return Wanted(*(np.ascontiguousarray(one, np.int64) for one in (*found, live)))


def with_runs(
    found: Iterator[Matches], task: Task, partitions: Partitions, room: Room
) -> Iterator[Matches]:
    """The matches of a task in chunks, as they are found, then all runs. Raises RunFailure."""
    covered = Covered.of(partitions)
    for matches in found:
        covered.add(task, partitions, matches)
        yield replace(matches, kind=np.full(matches.count, A_MATCH))
    starts = find_starts(task, partitions, covered)
    yield from PartialSearch(task, partitions, room).find_runs(starts)


class PartialSearch(PathSearch):
    """The path of one run, with what is remembered of the runs before it."""

    kernel = staticmethod(search_live_runs)

    def __init__(self, task: Task, partitions: Partitions, room: Room) -> None:
        limit = None if task.selects else task.max_steps
        plain = replace(task, output=MatchOutput.PREFERRED, max_steps=limit)
        super().__init__(plain, prepare_input(plain, partitions), room)

    @property
    def keeps_states(self) -> bool:
        """Where not all failures can be remembered."""
        compiled = self.arrays.compiled
        return compiled.linked is not None and not compiled.remembers_all

    def find_runs(self, starts: Wanted) -> Iterator[Matches]:
        """The runs from some starting rows, in chunks, without numbers. Raises RunFailure."""
        self.starts = starts
        self.progress[[layout.WANTED, layout.MATCHES, layout.MAPPED]] = 0
        for found in self.find_matches():
            yield replace(found, number=np.full(found.count, -1))

    @property
    def extras(self) -> tuple[Any, ...]:
        """The starting rows."""
        return (self.starts,)
