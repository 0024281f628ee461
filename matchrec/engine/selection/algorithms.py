"""The algorithms of event selection, and what each does with the matches that its search finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from matchrec.engine.contiguous.search import Room
from matchrec.engine.interface import Task
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.selection import backtracking, breadth_first
from matchrec.engine.selection.ordering import numbered_chunks
from matchrec.engine.selection.records import chunks, given
from matchrec.plan.clauses import MatchOutput

NAMES = {
    MatchOutput.PREFERRED: "preferred matches that skip rows",
    MatchOutput.ALL: "all matches",
    MatchOutput.NON_OVERLAPPING: "matches that do not overlap",
}


@dataclass(frozen=True, slots=True)
class BacktrackingSelection:
    """One run at a time."""

    room: Room
    engine: str = field(default="backtracking", init=False)
    name: str = field(default="event selection", init=False)

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """See `Algorithm.search`."""
        return backtracking.search(task, partitions, self.room, counters)


@dataclass(frozen=True, slots=True)
class BreadthFirstSelection:
    """All runs at once; the matches of each moment are put in order when it is over."""

    room: Room
    merge_runs: bool
    output: MatchOutput
    engine: str = field(default="breadth_first", init=False)

    @property
    def name(self) -> str:
        """What tells it from the engine's other algorithms."""
        return NAMES[self.output]

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """See `Algorithm.search`."""
        records = given(task, partitions, merge_runs=self.merge_runs)
        search = breadth_first.Search(task, records, self.room, counters)
        return chunks(task, search.found(), records, search.work)


@dataclass(frozen=True, slots=True)
class SkippingSelection:
    """All runs at once, but for those that a skip strategy leaves no room for."""

    room: Room
    merge_runs: bool
    engine: str = field(default="breadth_first", init=False)
    name: str = field(default="matches that a skip strategy leaves", init=False)

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """See `Algorithm.search`."""
        records = given(task, partitions, merge_runs=self.merge_runs)
        most = breadth_first.ROOM
        room = replace(
            self.room,
            rows=min(self.room.rows, most.rows),
            matches=min(self.room.matches, most.matches),
        )
        search = breadth_first.Search(task, records, room, counters)
        return numbered_chunks(breadth_first.Skipping(search).coming_out())


@dataclass(frozen=True, slots=True)
class GraphSelection:
    """The graph of all matches, in which no run may merge with another."""

    room: Room
    engine: str = field(default="breadth_first", init=False)
    name: str = field(default="graph of all matches", init=False)

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """See `Algorithm.search`."""
        return breadth_first.Search(task, given(task, partitions), self.room, counters).graph()
