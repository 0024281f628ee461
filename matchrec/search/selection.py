"""Event selection: rows may be skipped, and all matches may be output.

`find_by_one_run` and `find_by_all_runs` run the search of a task and return its matches in order,
each once and numbered, without those that a skip strategy leaves out. The search follows one run at
a time (`MatchSearch`) or all runs at once (`RunsSearch`). The second kind can be stopped; its live
runs can then be taken out and put back, as a stream needs it.

`release_matches` applies a skip strategy while the search goes on. A match can be released as soon
as no live run that began before it can still become a match. A released match sets a *start bound*:
no later match may begin before that row. So a decision is a pair, the row at which the match was
released and the start bound from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from matchrec.automaton.program import A_MATCH
from matchrec.errors.run import failures
from matchrec.plan.clauses import MatchOutput
from matchrec.search.kernel_input import SearchInput
from matchrec.search.kernel_search import needs_release_times
from matchrec.search.kernels import layout
from matchrec.search.kernels.all_matches import RunsSearch
from matchrec.search.kernels.match_order import (
    HELD,
    KEPT,
    LEFT_OUT,
    MappedRows,
    RankedMatches,
    SearchPosition,
    mark_equal,
    mark_kept,
    settle_ties,
)
from matchrec.search.kernels.merging import MergingSearch
from matchrec.search.kernels.search_loop import NO_TARGET
from matchrec.search.kernels.skipping import MatchSearch
from matchrec.search.matches import (
    Matches,
    Numbering,
    RunFailure,
    find_next_starts,
    make_empty_matches,
)
from matchrec.search.partitions import BoolArray, IntArray, take_or_default
from matchrec.search.task import Capacity, Task

# Matches in order


def sort_matches(matches: Matches, *, by_start: bool = False) -> Matches:
    """Sort matches, and return equal ones once.

    They are sorted by partition, kind, completing row, first row, row positions, then variables.

    Args:
        matches: matches of event selection.
        by_start: whether the first row counts before the completing row.
    """
    assert matches.rows is not None
    assert matches.completed is not None
    if matches.count < 2:
        return matches
    assert matches.kind is not None
    if by_start:
        keys = np.stack([matches.partition, matches.kind, matches.start, matches.completed])
    else:
        keys = np.stack([matches.partition, matches.kind, matches.completed, matches.start])
    order = np.lexsort(keys[::-1]).astype(np.int64)
    keys = keys[:, order]
    # Groups of matches with equal keys: only in these do rows and variables decide.
    begins_group = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    later_groups = np.flatnonzero(begins_group) + 1
    group_bounds = np.concatenate([[0], later_groups, [matches.count]]).astype(np.int64)
    has_equal_keys = len(group_bounds) - 1 < matches.count
    if has_equal_keys:
        is_repeated = np.zeros(matches.count, np.bool_)
        mapped = MappedRows(matches.offsets, matches.rows, matches.classifiers)
        if not mark_equal(group_bounds, order, is_repeated, mapped):
            settle_ties(group_bounds, order, np.empty_like(order), mapped)
            mark_equal(group_bounds, order, is_repeated, mapped)
        order = order[~is_repeated]
    return take_matches(matches, order)


def take_matches(matches: Matches, order: IntArray) -> Matches:
    """Return the matches with these indices, in this order."""
    is_all_in_order = len(order) == matches.count and bool(np.all(order[1:] > order[:-1]))
    if is_all_in_order:
        return matches
    lengths = np.diff(matches.offsets)[order]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    # How far each mapped row is moved.
    shifts = np.repeat(matches.offsets[:-1][order] - offsets[:-1], lengths)
    indices = np.arange(offsets[-1]) + shifts
    return replace(
        matches,
        offsets=offsets,
        partition=matches.partition[order],
        number=matches.number[order],
        start=matches.start[order],
        completed=take_from(matches.completed, order),
        kind=take_from(matches.kind, order),
        totals=take_from(matches.totals, order),
        classifiers=matches.classifiers[indices],
        excluded=matches.excluded[indices],
        rows=take_from(matches.rows, indices),
    )


def take_from(column: IntArray | None, indices: IntArray) -> IntArray | None:
    """Return the elements at these indices; None if there is no column."""
    return None if column is None else column[indices]


def number_chunks(task: Task, ordered: Iterator[Matches]) -> Iterator[Matches]:
    """Number the matches of sorted chunks, and drop those that the task does not output."""
    numbering = Numbering()
    for matches in ordered:
        yield keep_first_matches(task, numbering.number_matches(matches))


def keep_first_matches(task: Task, numbered: Matches) -> Matches:
    """Return the numbered matches without those whose number is above `Task.most_matches`."""
    if task.most_matches is None:
        return numbered
    return filter_matches(numbered, numbered.number <= task.most_matches)


def filter_matches(matches: Matches, is_kept: BoolArray) -> Matches:
    """Return the matches that are marked."""
    return take_matches(matches, np.flatnonzero(is_kept))


def concatenate_matches(parts: Sequence[Matches]) -> Matches:
    """Return the matches of several parts, one part after the other."""
    parts = [part for part in parts if part.count] or parts[:1]
    first = parts[0]
    if len(parts) == 1:
        return first
    sizes = [part.offsets[-1] for part in parts]
    rows_before = np.cumsum([0, *sizes[:-1]])
    offsets = [part.offsets[:-1] + rows for part, rows in zip(parts, rows_before, strict=True)]
    return replace(
        first,
        offsets=np.concatenate([*offsets, [sum(sizes)]]).astype(np.int64),
        partition=np.concatenate([part.partition for part in parts]),
        number=np.concatenate([part.number for part in parts]),
        start=np.concatenate([part.start for part in parts]),
        completed=join_columns([part.completed for part in parts]),
        kind=join_columns([part.kind for part in parts]),
        totals=join_columns([part.totals for part in parts]),
        classifiers=np.concatenate([part.classifiers for part in parts]),
        excluded=np.concatenate([part.excluded for part in parts]),
        rows=join_columns([part.rows for part in parts]),
    )


def join_columns(columns: Sequence[IntArray | None]) -> IntArray | None:
    """Return columns one after the other; None if there are none."""
    present = [column for column in columns if column is not None]
    return np.concatenate(present) if present else None


# Skip strategies


@dataclass(frozen=True, slots=True)
class Release:
    """The matches that a skip strategy has decided on, and what limits later ones."""

    # The matches that are released, in order.
    matches: Matches
    # The matches that must wait for a run that began earlier.
    held: Matches
    # int64[b, 2], the start bounds that are still needed: the last one that was set before the row
    # at which the search stopped, and those after it.
    start_bounds: IntArray
    # The row before which no match may begin from `stop` on, by the start bounds; -1 if there is
    # none. Live runs that began before it can no longer be released.
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
    assert matches.kind is not None
    ranked = sort_matches(filter_matches(matches, matches.kind == A_MATCH), by_start=True)
    outcome, new_bounds = decide_matches(task, ranked, position)
    bounds = np.concatenate([position.start_bounds, new_bounds[outcome == KEPT]])
    kept = filter_matches(ranked, outcome == KEPT)
    held = filter_matches(ranked, outcome == HELD)

    timed_out = sort_matches(filter_matches(matches, matches.kind != A_MATCH))
    assert timed_out.completed is not None
    set_at, first_allowed = bounds.T  # the rows at which bounds were set, and the bounds
    bound_index = np.searchsorted(set_at, timed_out.completed, side="left") - 1
    is_in_bounds = timed_out.start >= take_or_default(first_allowed, bound_index, -1)

    released = concatenate_matches([kept, filter_matches(timed_out, is_in_bounds)])
    released = take_matches(released, np.argsort(released.partition, kind="stable"))
    last_bound = int(np.searchsorted(set_at, position.stop, side="left")) - 1
    return Release(
        matches=released,
        held=held,
        start_bounds=bounds[max(0, last_bound) :],
        earliest_start=int(first_allowed[last_bound]) if last_bound >= 0 else -1,
    )


def decide_matches(
    task: Task, ranked: Matches, position: SearchPosition
) -> tuple[IntArray, IntArray]:
    """Decide on each match whether it is kept, held or left out.

    Args:
        task: a task with a skip strategy.
        ranked: matches in the order of their first rows.
        position: where the search has stopped.

    Returns:
        int64[m], KEPT, HELD or LEFT_OUT for each match; and int64[m, 2], the start bound after it.

    Raises:
        RunFailure: a match has no row to which the strategy could skip.
    """
    skip = task.skip
    assert skip is not None
    assert ranked.completed is not None
    outcome = np.full(ranked.count, LEFT_OUT, np.int64)
    # The bound before the first match, then the bound after each match.
    bounds = np.full((ranked.count + 1, 2), -1)
    if not ranked.count:
        return outcome, bounds[1:]
    last_bound = position.start_bounds[-1:]
    bounds[: len(last_bound)] = last_bound
    target = find_next_starts(skip, task.members, ranked)
    matches = RankedMatches(
        lower=int(position.starts[ranked.partition[0]]),
        start=np.ascontiguousarray(ranked.start),
        completed=np.ascontiguousarray(ranked.completed),
        target=target,
    )
    position = position._replace(first_rows=np.sort(position.first_rows))
    missed = mark_kept(matches, position, skip.fails_on_miss, outcome, bounds)
    if missed >= 0:
        is_first_row = target[missed] != NO_TARGET  # the target is the match's own first row
        make_error = (
            failures.skip_to_first_event if is_first_row else failures.skip_to_missing_stage
        )
        raise RunFailure(make_error, int(matches.start[missed]), {"stage": skip.variable})
    return outcome, bounds[1:]


# Searches

# The number of mapped rows from which on `join_chunks` yields a chunk.
LARGE_CHUNK = 1 << 16


def find_by_one_run(
    task: Task, arrays: SearchInput, capacity: Capacity, counters: IntArray | None
) -> Iterator[Matches]:
    """Yield the matches of a task in order, numbered, by one run at a time.

    Preferred matches are found in the order of their starting rows. All matches are not found in
    the order in which they are complete. So they are kept until the end and sorted, unless a skip
    strategy decides on them.

    Args:
        task: a task with event selection.
        arrays: the task and its partitions, as kernels read them.
        capacity: how much a chunk may hold.
        counters: see `KernelSearch`.

    Raises:
        RunFailure: the search has failed because of the rows.
    """
    search = MatchSearch(task, arrays, capacity, counters)
    if task.output is MatchOutput.PREFERRED:
        return number_chunks(task, search.find_matches())
    if task.skip is not None:
        chunks = ReleasingSearch(search, capacity, capacity).find_matches()
        return number_chunks(task, join_chunks(chunks))
    # The first matches that are found need not be the first ones that are complete.
    search.progress.match_limit = layout.NO_LIMIT
    chunks_found = list(search.find_matches())
    if not chunks_found:
        return number_chunks(task, iter([]))
    return number_chunks(task, iter([sort_matches(concatenate_matches(chunks_found))]))


def find_by_all_runs(
    task: Task, arrays: SearchInput, capacity: Capacity, counters: IntArray | None
) -> Iterator[Matches]:
    """Yield the matches of a task in order, numbered, by all runs at once.

    All matches are found when they are complete; within a chunk, the order is arbitrary. Arguments
    as `find_by_one_run`.

    Raises:
        RunFailure: the search has failed because of the rows.
    """
    if task.output is MatchOutput.PREFERRED:
        preferred = MergingSearch(task, arrays, capacity, counters)
        return number_chunks(task, preferred.find_matches())
    if task.skip is not None:
        small = capacity.limit(SMALL_CAPACITY)
        large = capacity.limit(LARGE_CAPACITY)
        search = RunsSearch(task, arrays, small, counters)
        if not needs_release_times(task):
            search.progress.solo_read_limit = READS_ALONE * int(arrays.rows.starts[-1])
        chunks = ReleasingSearch(search, small, large).find_matches()
        return number_chunks(task, join_chunks(chunks))
    search = RunsSearch(task, arrays, capacity, counters)
    if task.output is MatchOutput.GRAPH:
        return search.find_graph()
    return number_chunks(task, map(sort_matches, search.find_matches()))


def join_chunks(chunks: Iterator[Matches]) -> Iterator[Matches]:
    """Yield the matches in fewer chunks, because the output of each chunk has a fixed cost."""
    joined: list[Matches] = []
    for matches in chunks:
        joined.append(matches)
        if sum(int(chunk.offsets[-1]) for chunk in joined) >= LARGE_CHUNK:
            yield concatenate_matches(joined)
            joined = []
    if joined:
        yield concatenate_matches(joined)


# The sizes of chunks after which a search with a skip strategy decides on its matches: the small
# one if decisions are frequent, the large one if they are rare. See `ReleasingSearch`.
SMALL_CAPACITY = Capacity(mapped_rows=1 << 16, matches=1 << 12)
LARGE_CAPACITY = Capacity(mapped_rows=1 << 19, matches=1 << 15)
# From this share of the matches that were found on, many of them are released.
MIN_SHARE_OF_MANY = 1 / 8
# How often a row may be read, on average, while the runs of one starting row are followed alone.
READS_ALONE = 8


@dataclass(slots=True)
class ReleasingSearch:
    """A search with a skip strategy, which decides on its matches after each chunk.

    It holds matches only until they are decided on, and drops runs that can no longer be released.
    Each decision has a fixed cost. So chunks are large, and decisions rare, if no run waits and
    many of the matches found are released, or if the runs of one starting row are followed alone.
    Otherwise chunks are small, because each decision will drop most runs.
    """

    search: MatchSearch | RunsSearch
    # The size of a chunk if decisions are frequent, and if they are rare.
    small_capacity: Capacity
    large_capacity: Capacity
    # The matches that are not decided on yet.
    held: Matches = field(default_factory=make_empty_matches)
    # See `SearchPosition`.
    start_bounds: IntArray = field(default_factory=lambda: np.zeros((0, 2), np.int64))

    def find_matches(self) -> Iterator[Matches]:
        """Yield the released matches, partition by partition, by first rows.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        search = self.search
        assert search.selecting is not None
        can_wait = (search.selecting.waiting_states >= 0).any()
        for matches in search.find_matches():
            released = self.release(matches)
            yield released
            releases_many = not can_wait and released.count >= MIN_SHARE_OF_MANY * matches.count
            # If the runs of one starting row are followed alone, few matches are left out.
            is_rare = releases_many or self.follows_one_start
            search.capacity = self.large_capacity if is_rare else self.small_capacity
        yield self.release(make_empty_matches())

    @property
    def follows_one_start(self) -> bool:
        """Return whether the runs of one starting row are followed alone."""
        search = self.search
        return isinstance(search, RunsSearch) and search.progress.solo_read_limit != 0

    def release(self, new_matches: Matches) -> Matches:
        """Return which of the held and the new matches can be released now.

        Raises:
            RunFailure: a match has no row to which the strategy could skip.
        """
        search = self.search
        runs = search if isinstance(search, RunsSearch) else None
        first_rows = np.zeros(0, np.int64)
        if runs is not None:
            runs.prune()
            first_rows = runs.copy_live_runs().first_rows
        position = SearchPosition(
            stop=int(search.progress.start),
            first_rows=first_rows,
            last_live=search.last_live,
            start_bounds=self.start_bounds,
            starts=search.arrays.rows.starts,
        )
        release = release_matches(
            search.task, concatenate_matches([self.held, new_matches]), position
        )
        self.held = release.held
        self.start_bounds = release.start_bounds
        if runs is not None and not self.follows_one_start:
            live = runs.copy_live_runs()
            runs.restore(live.keep(live.starts >= release.earliest_start))
        return release.matches
