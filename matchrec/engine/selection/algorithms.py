"""The algorithms of event selection: each begins a search and hands its matches on in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from matchrec.engine.contiguous.search import Room
from matchrec.engine.interface import Task
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.selection import backtracking, breadth_first
from matchrec.engine.selection.ordering import numbered_chunks
from matchrec.engine.selection.records import Given, chunks, given

Begin = Callable[[Task, Given, Room, IntArray | None], Iterator[Matches]]


@dataclass(frozen=True, slots=True)
class SelectionAlgorithm:
    """An algorithm for matches that may skip rows, or of which all are asked for.

    begin: begins a search; no part of the text of an algorithm, in which it would have an address.
    """

    engine: str
    name: str
    begin: Begin = field(repr=False)
    room: Room
    merge_runs: bool = False

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """All matches, in chunks, in the order in which they are complete. Raises RunFailure."""
        records = given(task, partitions, merge_runs=self.merge_runs)
        return self.begin(task, records, self.room, counters)


def try_one_run(
    task: Task, records: Given, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Matches are found by their starting rows, so all of them are held to be put in order."""
    search = backtracking.Search(task, records, room)
    return chunks(task, search.found(counters), records, search.work)


def advance_all_runs(
    task: Task, records: Given, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Matches are found when they are complete, those of a chunk in some order."""
    search = breadth_first.Search(task, records, room, counters)
    return chunks(task, search.found(), records, search.work)


def skip_runs(
    task: Task, records: Given, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """As all runs, without those that a skip strategy leaves no room for."""
    most = breadth_first.ROOM
    rows, matches = min(room.rows, most.rows), min(room.matches, most.matches)
    room = replace(room, rows=rows, matches=matches)
    search = breadth_first.Search(task, records, room, counters)
    return numbered_chunks(breadth_first.Skipping(search).coming_out())


def build_graph(
    task: Task, records: Given, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """The pointers of all matches."""
    return breadth_first.Search(task, records, room, counters).graph()
