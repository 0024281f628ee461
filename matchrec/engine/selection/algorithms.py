"""The algorithms of event selection: each begins a search and hands its matches on in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from matchrec.engine.contiguous.search import Room
from matchrec.engine.interface import Task
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.selection import backtracking, breadth_first
from matchrec.engine.selection.ordering import number_chunks
from matchrec.engine.selection.records import SearchInput, arrange_chunks, prepare_input

Begin = Callable[[Task, SearchInput, Room, IntArray | None], Iterator[Matches]]


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
        arrays = prepare_input(task, partitions, merge_runs=self.merge_runs)
        return self.begin(task, arrays, self.room, counters)


def try_one_run(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Matches are found by their starting rows, so all of them are held to be put in order."""
    search = backtracking.Search(task, arrays, room)
    return arrange_chunks(task, search.find_matches(counters), arrays, search.work)


def advance_all_runs(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Matches are found when they are complete, those of a chunk in some order."""
    search = breadth_first.Search(task, arrays, room, counters)
    return arrange_chunks(task, search.find_matches(), arrays, search.work)


def skip_runs(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """As all runs, without those that a skip strategy leaves no room for."""
    most = breadth_first.ROOM
    rows, matches = min(room.rows, most.rows), min(room.matches, most.matches)
    room = replace(room, rows=rows, matches=matches)
    search = breadth_first.Search(task, arrays, room, counters)
    return number_chunks(breadth_first.ReleasingSearch(search).find_matches())


def build_graph(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """The pointers of all matches."""
    return breadth_first.Search(task, arrays, room, counters).find_graph()
