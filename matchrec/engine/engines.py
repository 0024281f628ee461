"""The engines: which tasks each can run, and by which of its algorithms it runs one fastest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from matchrec.dataclass import dataclass
from matchrec.engine.algorithms import (
    Chained,
    ContiguousAlgorithm,
    SelectionAlgorithm,
    WithPartial,
)
from matchrec.engine.interface import Algorithm, Engine, Room, Task
from matchrec.plan.clauses import MatchOutput

if TYPE_CHECKING:
    from matchrec.engine.compiled import CompiledTask

NAMES: Mapping[MatchOutput, str] = {
    MatchOutput.PREFERRED: "preferred matches that skip rows",
    MatchOutput.ALL: "all matches",
    MatchOutput.NON_OVERLAPPING: "matches that do not overlap",
    MatchOutput.GRAPH: "graph of all matches",
}
"""What algorithms of event selection are called that find such matches, without a skip strategy."""


@dataclass(frozen=True, slots=True)
class Backtracking:
    """Depth-first search. Linear in the rows where conditions look only at the data."""

    room: Room = Room()
    name: str = field(default="backtracking", init=False)

    def supports(self, task: Task) -> str | None:
        """Why a task cannot be searched depth-first, or None."""
        if task.output is MatchOutput.GRAPH:
            return "the compressed form is the shared buffer of the breadth-first engine"
        if task.output is MatchOutput.LONGEST and not task.looks_only_at_data:
            return "the longest match under conditions on the run is found by all runs at once"
        return refuse_negation(task)

    def choose(self, task: Task) -> Algorithm:
        """The fastest algorithm for a task that it supports."""
        if task.searches_twice:
            return WithPartial(self.choose(replace(task, partial=None)), self.room)
        if task.selects:
            return SelectionAlgorithm(self.name, name_of_selection(task), self.room)
        if task.output is MatchOutput.LONGEST:
            return ContiguousAlgorithm(self.name, "longest", self.room)
        if task.looks_only_at_data and task.windowed:
            return ContiguousAlgorithm(self.name, "windowed", self.room)
        if task.shares_rows:
            return Chained(self.room)
        remembers = task.looks_only_at_data or compiled(task).remembers_all
        name = "memoised" if remembers else "plain"
        return ContiguousAlgorithm(self.name, name, self.room)


@dataclass(frozen=True, slots=True)
class BreadthFirst:
    """One pass over the rows. merge_runs: whether runs with the same future are searched once."""

    merge_runs: bool = True
    room: Room = Room()
    name: str = field(default="breadth_first", init=False)

    def supports(self, task: Task) -> str | None:
        """Why a task cannot be searched breadth-first, or None."""
        return refuse_negation(task)

    def choose(self, task: Task) -> Algorithm:
        """The fastest algorithm for a task that it supports."""
        if task.searches_twice:
            return WithPartial(self.choose(replace(task, partial=None)), self.room)
        if task.selects:
            shows_runs = task.output is MatchOutput.GRAPH
            merges = self.merge_runs and not shows_runs
            return SelectionAlgorithm(self.name, name_of_selection(task), self.room, merges)
        if task.output is MatchOutput.LONGEST:
            name = "longest" if self.merge_runs else "longest without merging"
            return ContiguousAlgorithm(self.name, name, self.room)
        name = "merging" if self.merge_runs else "plain"
        return ContiguousAlgorithm(self.name, name, self.room)


ENGINES: dict[str, Engine] = {engine.name: engine for engine in (Backtracking(), BreadthFirst())}


def name_of_selection(task: Task) -> str:
    """What the algorithm of event selection is called that finds what a task asks for."""
    if task.stages is not None and task.stages.skip is not None:
        return "matches that a skip strategy leaves"
    return NAMES[task.output]


def refuse_negation(task: Task) -> str | None:
    """Why no engine can search a task with negation for preferred matches, or None."""
    if task.output is MatchOutput.PREFERRED and (task.absent or task.closing is not None):
        return "negation is tested on all matches, not on the preferred ones"
    return None


def compiled(task: Task) -> CompiledTask:
    """The arrays of a task, which say more of conditions on the run than their form does."""
    from matchrec.engine.compiled import compile_task  # loads all that conditions on the run need

    return compile_task(task, 0)
