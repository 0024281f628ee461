"""Apply skip strategies of event selection: decide which matches are released during a search.

A match is *released*, which means output, as soon as no live run that began before it can still
become a match. Until then it is *held*. A released match sets a *start bound*: a row before which
no later match can begin.

`kernels.match_order` has the rules, an example, and the columns of start bounds, such as SET_AT.
`release_matches` decides on the matches found so far. `SkipStrategySearch` runs a search, and
decides after each chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from matchrec.automaton.run_endings import A_MATCH
from matchrec.errors.run import failures
from matchrec.search.flat_arrays import take_or_default
from matchrec.search.kernels.match_order import (
    BOUND_SIZE,
    EARLIEST_START,
    HELD,
    KEPT,
    LEFT_OUT,
    NO_BOUND,
    SET_AT,
    SearchPosition,
    SortedMatches,
    choose_outcomes,
)
from matchrec.search.kernels.search_loop import NO_TARGET
from matchrec.search.kernels.skipping import MatchSearch
from matchrec.search.match_lists import (
    concatenate_matches,
    filter_matches,
    sort_matches,
    take_matches,
)
from matchrec.search.matches import Matches, RunFailure, find_next_starts, make_empty_matches
from matchrec.search.partitions import IntArray
from matchrec.search.runs_search import RunsSearch
from matchrec.search.task import Capacity, Task

# Many matches of a chunk are released if the share of released matches is at least this.
MIN_SHARE_OF_MANY = 1 / 8


@dataclass(frozen=True, slots=True)
class Release:
    """The decisions of a skip strategy: released and held matches, and bounds for later matches."""

    # The matches that are released, in order.
    matches: Matches
    # The matches that must wait for a run that began earlier, in the order of their first rows.
    held_matches: Matches
    # int64[b, 2], the start bounds that are still needed: the last bound that was set before the
    # row at which the search stopped, and the bounds after it.
    start_bounds: IntArray
    # The start bound at the row at which the search stopped, or NO_BOUND. Live runs that began
    # before this row can no longer be released.
    earliest_start: int


def release_matches(task: Task, matches: Matches, position: SearchPosition) -> Release:
    """Decide which matches are released, which are held and which are left out.

    In each partition, the kept matches are released first, then the runs that timed out. A run that
    timed out is released unless it began before the start bound that held at that time. See
    `kernels.match_order` for the rules and an example.

    Args:
        task: a task with a skip strategy.
        matches: the matches that were held or have been found, and runs that timed out.
        position: where the search has stopped.

    Raises:
        RunFailure: a match has no row to which the strategy could skip.
    """
    # 1. Decide on the matches.
    assert matches.kind is not None
    candidates = sort_matches(filter_matches(matches, matches.kind == A_MATCH), by_start=True)
    outcomes, new_bounds = decide_matches(task, candidates, position)
    kept_matches = filter_matches(candidates, outcomes == KEPT)
    bounds = np.concatenate([position.start_bounds, new_bounds[outcomes == KEPT]])
    bound_set_at = bounds[:, SET_AT]
    earliest_starts = bounds[:, EARLIEST_START]

    # 2. Decide on the runs that timed out. For each of them, find the index of the last bound that
    # was set before; -1 if there is none.
    timed_out_runs = sort_matches(filter_matches(matches, matches.kind != A_MATCH))
    assert timed_out_runs.completing_rows is not None
    bound_indices = np.searchsorted(bound_set_at, timed_out_runs.completing_rows, side="left") - 1
    can_begin = timed_out_runs.start >= take_or_default(earliest_starts, bound_indices, NO_BOUND)

    # 3. Put the results in order of partition, and keep the bounds that later decisions need.
    released = concatenate_matches([kept_matches, filter_matches(timed_out_runs, can_begin)])
    released = take_matches(released, np.argsort(released.partition, kind="stable"))
    current_bound = int(np.searchsorted(bound_set_at, position.stop, side="left")) - 1
    return Release(
        matches=released,
        held_matches=filter_matches(candidates, outcomes == HELD),
        start_bounds=bounds[max(0, current_bound) :],
        earliest_start=int(earliest_starts[current_bound]) if current_bound >= 0 else NO_BOUND,
    )


class Decisions(NamedTuple):
    """The decisions of a skip strategy on m matches."""

    # int64[m], KEPT, HELD or LEFT_OUT for each match.
    outcomes: IntArray
    # int64[m, 2], the start bound that holds after each match.
    bounds: IntArray


def decide_matches(task: Task, matches: Matches, position: SearchPosition) -> Decisions:
    """Decide on each match whether it is kept, held or left out.

    Args:
        task: a task with a skip strategy.
        matches: matches in the order of their first rows, without runs that timed out.
        position: where the search has stopped.

    Raises:
        RunFailure: a match has no row to which the strategy could skip.
    """
    skip = task.skip
    assert skip is not None
    assert matches.completing_rows is not None
    outcomes = np.full(matches.count, LEFT_OUT, np.int64)
    # The bound before the first match, then the bound after each match.
    bounds = np.full((matches.count + 1, BOUND_SIZE), NO_BOUND)
    if not matches.count:
        return Decisions(outcomes, bounds[1:])
    last_bound = position.start_bounds[-1:]
    bounds[: len(last_bound)] = last_bound
    next_starts = find_next_starts(skip, task.members, matches)
    sorted_matches = SortedMatches(
        partition_begin=int(position.starts[matches.partition[0]]),
        first_rows=np.ascontiguousarray(matches.start),
        completing_rows=np.ascontiguousarray(matches.completing_rows),
        next_starts=next_starts,
    )
    position = position._replace(live_first_rows=np.sort(position.live_first_rows))
    failed_match = choose_outcomes(sorted_matches, position, skip.fails_on_miss, outcomes, bounds)
    if failed_match >= 0:
        # The match has no target, or the target is its own first row.
        if next_starts[failed_match] == NO_TARGET:
            make_error = failures.skip_to_missing_stage
        else:
            make_error = failures.skip_to_first_event
        raise RunFailure(make_error, int(matches.start[failed_match]), {"stage": skip.variable})
    return Decisions(outcomes, bounds[1:])


@dataclass(slots=True)
class SkipStrategySearch:
    """A search with a skip strategy, which decides on its matches after each chunk.

    Undecided matches are held until a later decision, and runs that can no longer be released are
    dropped. Each decision has a fixed cost. So chunks are large, and decisions rare, if no run can
    wait and many of the matches found are released, or if the runs of one starting row are followed
    alone. Otherwise chunks are small, because each decision will drop most runs.
    """

    search: MatchSearch | RunsSearch
    # The size of a chunk if decisions are frequent.
    small_capacity: Capacity
    # The size of a chunk if decisions are rare.
    large_capacity: Capacity
    # The matches that are undecided.
    held_matches: Matches = field(default_factory=make_empty_matches)
    # See `SearchPosition`.
    start_bounds: IntArray = field(default_factory=lambda: np.zeros((0, BOUND_SIZE), np.int64))

    def find_matches(self) -> Iterator[Matches]:
        """Yield the released matches, partition by partition, in the order of their first rows.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        search = self.search
        assert search.selection_rules is not None
        can_wait = (search.selection_rules.states_after_skip >= 0).any()
        for matches in search.find_matches():
            released = self.release(matches)
            yield released
            releases_many = not can_wait and released.count >= MIN_SHARE_OF_MANY * matches.count
            decides_rarely = releases_many or self.follows_starts_alone
            search.capacity = self.large_capacity if decides_rarely else self.small_capacity
        yield self.release(make_empty_matches())

    @property
    def follows_starts_alone(self) -> bool:
        """Return whether the search follows the runs of one starting row alone at the moment."""
        return isinstance(self.search, RunsSearch) and self.search.follows_starts_alone

    def release(self, new_matches: Matches) -> Matches:
        """Decide on the held and new matches, and return the released ones.

        Undecided matches are held. Runs that can no longer become a released match are dropped.

        Raises:
            RunFailure: a match has no row to which the strategy could skip.
        """
        search = self.search
        runs_search = search if isinstance(search, RunsSearch) else None
        live_first_rows = np.zeros(0, np.int64)
        if runs_search is not None:
            runs_search.prune()
            live_first_rows = runs_search.copy_live_runs().first_rows
        position = SearchPosition(
            stop=int(search.progress.start),
            live_first_rows=live_first_rows,
            last_live_rows=search.last_live_rows,
            start_bounds=self.start_bounds,
            starts=search.arrays.rows.starts,
        )
        release = release_matches(
            search.task, concatenate_matches([self.held_matches, new_matches]), position
        )
        self.held_matches = release.held_matches
        self.start_bounds = release.start_bounds
        if runs_search is not None and not runs_search.follows_starts_alone:
            live_runs = runs_search.copy_live_runs()
            runs_search.restore(live_runs.keep(live_runs.starts >= release.earliest_start))
        return release.matches
