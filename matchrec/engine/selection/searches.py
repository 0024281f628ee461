"""The searches of event selection: what begins each, and hands its matches on in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from matchrec.engine.interface import Room, Task
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection import backtracking, breadth_first
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.ordering import number_chunks, sort_matches
from matchrec.engine.selection.records import SearchInput, needs_release_times
from matchrec.engine.selection.skip import concatenate, keep_by_partition

LARGE_CHUNK = 1 << 16  # mapped rows

Begin = Callable[[Task, SearchInput, Room, IntArray | None], Iterator[Matches]]


def try_one_run(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Preferred matches, which are found in the order of their starting rows."""
    return number_chunks(backtracking.Search(task, arrays, room).find_matches(counters))


def try_every_run(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Matches are found by their starting rows, so all of them are held to be put in order."""
    found = backtracking.Search(task, arrays, room).find_matches(counters)
    return number_chunks(map(sort_matches, found))


def try_and_skip(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """As every run, but those that a skip strategy leaves no room for."""
    search = backtracking.Search(task, arrays, room)
    found, last_live = search.find_matches(counters), search.work.last_live
    return number_chunks(keep_by_partition(task, found, arrays.rows.starts, last_live))


def advance_preferred_runs(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Preferred matches, which are found in the order of their starting rows."""
    search = breadth_first.PreferredSearch(task, arrays, room, counters)
    return number_chunks(search.find_matches())


def advance_all_runs(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """Matches are found when they are complete, those of a chunk in some order."""
    search = breadth_first.Search(task, arrays, room, counters)
    return number_chunks(map(sort_matches, search.find_matches()))


def skip_runs(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """As all runs, without those that a skip strategy leaves no room for."""
    soon, rarely = (at_most(room, one) for one in (breadth_first.ROOM, breadth_first.LARGE_ROOM))
    search = breadth_first.Search(task, arrays, soon, counters)
    if not needs_release_times(task):
        search.work.progress[own.ALONE] = breadth_first.READS_ALONE * arrays.rows.starts[-1]
    released = breadth_first.ReleasingSearch(search, (soon, rarely)).find_matches()
    return number_chunks(in_large_chunks(released))


def at_most(room: Room, most: Room) -> Room:
    """The room, for no more matches and their rows than another one has."""
    rows, matches = min(room.rows, most.rows), min(room.matches, most.matches)
    return replace(room, rows=rows, matches=matches)


def in_large_chunks(found: Iterator[Matches]) -> Iterator[Matches]:
    """The same matches in fewer chunks: to make output rows of a chunk takes time by itself."""
    held: list[Matches] = []
    for matches in found:
        held.append(matches)
        if sum(int(one.offsets[-1]) for one in held) >= LARGE_CHUNK:
            yield concatenate(held)
            held = []
    if held:
        yield concatenate(held)


def build_graph(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """The pointers of all matches."""
    return breadth_first.Search(task, arrays, room, counters).find_graph()


SEARCHES: Mapping[tuple[str, str], Begin] = {
    ("backtracking", "preferred matches that skip rows"): try_one_run,
    ("backtracking", "all matches"): try_every_run,
    ("backtracking", "matches that do not overlap"): try_every_run,
    ("backtracking", "matches that a skip strategy leaves"): try_and_skip,
    ("breadth_first", "preferred matches that skip rows"): advance_preferred_runs,
    ("breadth_first", "all matches"): advance_all_runs,
    ("breadth_first", "matches that do not overlap"): advance_all_runs,
    ("breadth_first", "matches that a skip strategy leaves"): skip_runs,
    ("breadth_first", "graph of all matches"): build_graph,
}
"""What begins the search of an algorithm, by its engine and its name."""
