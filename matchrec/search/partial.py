"""Runs that come out beside the matches: live where their window, or their partition, ends.

Goes in: a task, its partitions, and the matches that an algorithm has found. Comes out: the matches
and, of starting rows that begin none, the most preferred run that is live at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from matchrec.automaton.closure import live_states
from matchrec.automaton.program import A_MATCH, NOTHING, TIMED_OUT, UNFINISHED
from matchrec.plan.clauses import MatchOutput
from matchrec.search.interface import Room, Task
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import Wanted
from matchrec.search.kernels.skipping import search_live_runs
from matchrec.search.matches import Matches, next_starts
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.records import prepare_input
from matchrec.search.search import PathSearch


def find_starts(task: Task, partitions: Partitions, begun: IntArray, until: IntArray) -> Wanted:
    """The starting rows that a search comes to, where it finds no match and looks for a run.

    begun, until: of all matches, the starting row, and the row from which the search goes on,
    before which a match covers all.
    """
    partial = task.partial
    assert partial is not None
    starts, size = partitions.starts, partitions.rows + 1
    here = np.bincount(begun, minlength=size)
    covered = np.cumsum(here - np.bincount(until, minlength=size))[:-1]
    before = np.cumsum(here) - here
    first, upper = (np.repeat(border, np.diff(starts)) for border in (starts[:-1], starts[1:]))
    end = upper if partitions.window_end is None else partitions.window_end
    open_at_end = partial.unfinished & (end == upper)
    wanted = (covered == 0) & (end > np.arange(len(end))) & (open_at_end | partial.timed_out)
    kind = np.where(wanted, np.where(open_at_end, UNFINISHED, TIMED_OUT), NOTHING)
    return Wanted(kind, before[:-1] - before[first])


def with_runs(
    found: Iterator[Matches], task: Task, partitions: Partitions, room: Room
) -> Iterator[Matches]:
    """The matches of a task in chunks, as they are found, then all runs. Raises RunFailure."""
    begun, until = ([np.zeros(0, np.int64)] for _ in range(2))
    for matches in found:
        upper = partitions.starts[matches.partition + 1]
        begun.append(matches.start)
        until.append(np.minimum(next_starts(task.after_match, task.members, matches), upper))
        yield replace(matches, kind=np.full(matches.count, A_MATCH))
    starts = find_starts(task, partitions, np.concatenate(begun), np.concatenate(until))
    for runs in PartialSearch(task, partitions, room, starts).find_matches():
        yield replace(runs, number=np.full(runs.count, -1))


class PartialSearch(PathSearch):
    """The path of one run, with what is remembered of the runs before it."""

    kernel = staticmethod(search_live_runs)

    def __init__(self, task: Task, partitions: Partitions, room: Room, starts: Wanted) -> None:
        limit = None if task.selects or task.looks_only_at_data else task.max_steps
        plain = replace(task, output=MatchOutput.PREFERRED, max_steps=limit)
        super().__init__(plain, prepare_input(plain, partitions), room)
        self.starts = starts
        # no run is a match but one that is live where its window ends
        program = self.rules.program[self.rules.program[:, layout.TARGET] != layout.ACCEPT]
        first = np.searchsorted(program[:, layout.SOURCE], np.arange(len(self.rules.first)))
        ends = np.array(live_states(task.pattern.folding.choices), np.int64)
        self.rules = self.rules._replace(program=program, first=first, ends=ends)

    @property
    def keeps_states(self) -> bool:
        compiled = self.arrays.compiled
        return compiled.linked is not None and not compiled.remembers_all

    @property
    def hooks(self) -> tuple[Any, Any]:
        """No negation, as no match is looked for, and the starting rows."""
        return None, self.starts
