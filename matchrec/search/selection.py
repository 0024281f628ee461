"""Event selection: rows can be skipped, and all matches can be output.

`find_matches_run_by_run` and `find_matches_of_all_runs` run the search of a task. They return its
matches in order, each once and numbered, without the matches that a skip strategy leaves out. The
search follows one run at a time (`MatchSearch`) or all runs at once (`MergingSearch` for preferred
matches, `RunsSearch` for all matches). For streams, a `RunsSearch` can also be stopped and resumed
with its live runs: see `incremental`.

`match_lists` puts the matches in order, and `skip_strategies` applies skip strategies.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.plan.clauses import MatchOutput
from matchrec.search.kernel_input import SearchInput
from matchrec.search.kernels.merging import MergingSearch
from matchrec.search.kernels.skipping import MatchSearch
from matchrec.search.match_lists import (
    concatenate_matches,
    join_chunks,
    number_chunks,
    sort_matches,
)
from matchrec.search.matches import Matches, make_empty_matches
from matchrec.search.partitions import IntArray
from matchrec.search.progress import needs_release_times
from matchrec.search.runs_search import RunsSearch
from matchrec.search.skip_strategies import SkipStrategySearch
from matchrec.search.task import Capacity, Task

# A search with a skip strategy decides on its matches after each chunk. Chunks are small if
# decisions are frequent, and large if decisions are rare. See `SkipStrategySearch`.
SMALL_CAPACITY = Capacity(mapped_rows=1 << 16, matches=1 << 12)
LARGE_CAPACITY = Capacity(mapped_rows=1 << 19, matches=1 << 15)
# The search follows the runs of one starting row alone until it has read each row this many times
# on average. Then it follows all runs at once.
SOLO_READS_PER_ROW = 8


def find_matches_run_by_run(
    task: Task, arrays: SearchInput, capacity: Capacity, counters: IntArray | None
) -> Iterator[Matches]:
    """Yield the matches of a task in order, numbered, from a search of one run at a time.

    Preferred matches are found in the order of their starting rows, which is their order. If all
    matches are sought, they are not found in the order in which they are complete. So they are kept
    until the end and sorted, unless a skip strategy decides on them.

    Args:
        task: a task with event selection.
        arrays: the task and its partitions, as kernels read them.
        capacity: how much a chunk can hold.
        counters: see `KernelSearch`.

    Raises:
        RunFailure: the search has failed because of the rows.
    """
    search = MatchSearch(task, arrays, capacity, counters)
    if task.output is MatchOutput.PREFERRED:
        return number_chunks(task, search.find_matches())
    if task.skip is not None:
        # A search of one run at a time has no live runs that frequent decisions could drop.
        skip_search = SkipStrategySearch(search, small_capacity=capacity, large_capacity=capacity)
        return number_chunks(task, join_chunks(skip_search.find_matches()))
    # Search to the end, even if only the first matches are wanted: matches are not found in the
    # order in which they are complete.
    search.remove_match_limit()
    matches = concatenate_matches([make_empty_matches(), *search.find_matches()])
    return number_chunks(task, iter([sort_matches(matches)]))


def find_matches_of_all_runs(
    task: Task, arrays: SearchInput, capacity: Capacity, counters: IntArray | None
) -> Iterator[Matches]:
    """Yield the matches of a task in order, numbered, from a search of all runs at once.

    If all matches are sought without a skip strategy, each match is found at the row that completes
    it, so chunks are in order and only the matches within a chunk are sorted. With a skip strategy,
    `SkipStrategySearch` puts the matches in order.

    For MatchOutput.GRAPH, yield the pointers of the graph of all matches instead, without numbers:
    see `RunsSearch.find_graph`.

    Args:
        task: a task with event selection.
        arrays: the task and its partitions, as kernels read them.
        capacity: how much a chunk can hold.
        counters: see `KernelSearch`.

    Raises:
        RunFailure: the search has failed because of the rows.
    """
    if task.output is MatchOutput.PREFERRED:
        preferred = MergingSearch(task, arrays, capacity, counters)
        return number_chunks(task, preferred.find_matches())
    if task.skip is not None:
        small_capacity = capacity.limit_output(SMALL_CAPACITY)
        large_capacity = capacity.limit_output(LARGE_CAPACITY)
        search = RunsSearch(task, arrays, small_capacity, counters)
        # If runs that time out are output, whether such a run is left out depends on matches of
        # other starting rows, which the search must have found by then.
        if not needs_release_times(task):
            search.follow_starts_alone(SOLO_READS_PER_ROW)
        skip_search = SkipStrategySearch(
            search, small_capacity=small_capacity, large_capacity=large_capacity
        )
        return number_chunks(task, join_chunks(skip_search.find_matches()))
    search = RunsSearch(task, arrays, capacity, counters)
    if task.output is MatchOutput.GRAPH:
        return search.find_graph()
    return number_chunks(task, map(sort_matches, search.find_matches()))
