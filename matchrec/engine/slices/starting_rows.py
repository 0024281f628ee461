"""From which rows a slice of a partition is searched, where that depends on the rows before.

A search goes from one starting row to the next: from a match to where AFTER MATCH SKIP says, else
one row on. Where it goes on from a row depends on that row alone, so two ways that meet stay
together; and no leap is longer than a match. So the search of the whole partition comes to one of
the first rows that are here, within one leap, whichever it is. The leaps from all rows before
the slice's own are found by one search; where the ways from each of those first rows arrive at the
same own row, the search of the whole partition arrives there too. Where not, the slice cannot know.

A condition that fails before the own rows is taken for "no match". If the search of the whole
comes to that row, it fails in the slice that owns it.

Cost: a search from each row before the slice's own, and steps for each, by the logarithm of
how many there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matchrec.engine.interface import Algorithm, Task
from matchrec.engine.matches import FailureKind, RunFailure
from matchrec.engine.partitions import BoolArray, Frontier, IntArray, Partitions
from matchrec.engine.skipping import next_starts

# What a row of a slice is.
OWN = 0
LENT = 1
LENT_EARLY = 2  # before the own ones, and in the window of a row that is not here


@dataclass(frozen=True, slots=True)
class SliceOverlap:
    """How far a query looks from the first row of a match, which is what slices overlap by.

    before: how many rows before it decide what is found from it. after: how many rows after it;
    None where its window is the bound. leap: how many rows further on the next starting row is at
    most; None where the window is the bound. leaps: how many of the longest ones have room before
    a slice, so that ways meet.
    """

    before: int
    after: int | None
    leap: int | None
    leaps: int

    @property
    def borrowed_before(self) -> int:
        """How many rows a slice borrows before its own, or all of them if there are fewer.

        Where windows are the bound of leaps, it borrows those of the last windows too.
        """
        if self.leap is None or self.leap == 1:
            return self.before
        return self.before + self.leaps * self.leap


@dataclass(frozen=True, slots=True)
class SliceSearch:
    """How the starting rows of slices are found.

    every_row: the task without skipping, which finds a match from each row; algorithm: runs it.
    """

    overlap: SliceOverlap
    every_row: Task
    algorithm: Algorithm


@dataclass(frozen=True, slots=True)
class Slices:
    """Partitions that are slices, or parts of them with rows between that no match contains.

    kinds: int64[n], what each row is. passed: int64[p], how many rows of its slice lie before
    each partition's first row.
    """

    partitions: Partitions
    kinds: IntArray
    passed: IntArray

    @property
    def first(self) -> IntArray:
        """int64[p], the first row of each partition."""
        return self.partitions.starts[:-1]

    def own(self) -> tuple[IntArray, IntArray]:
        """From where to where each partition's own rows go; nowhere where none is here.

        Those before the frontier have been searched.
        """
        own = np.flatnonzero(self.kinds == OWN)
        frontier = self.partitions.frontier
        if frontier is not None:
            own = own[own >= frontier.start]
        begin, end = (np.searchsorted(own, at) for at in (self.first, self.partitions.starts[1:]))
        own, has = np.append(own, 0), end > begin
        return np.where(has, own[begin], self.first), np.where(has, own[end - 1] + 1, self.first)

    def entries(self, overlap: SliceOverlap, own: IntArray) -> tuple[IntArray, IntArray]:
        """Between which rows, both included, the search of the whole comes to each partition first.

        own: the first row that is the slice's own. The rows before it are all of the partition
        that is cut, or as many as a slice borrows, or none of a window that ends after them.
        """
        lent = self.passed + own - self.first
        unknown = (lent >= overlap.borrowed_before) & (self.passed <= overlap.before)
        if overlap.leap is None and not overlap.before:
            unknown &= self.kinds[self.first] == LENT_EARLY
        first = self.first + np.where(unknown, np.maximum(overlap.before - self.passed, 0), 0)
        last = first + overlap.leap - 1 if overlap.leap else self.windows_before(overlap, first)
        return first, np.where(unknown, np.maximum(first, last), first)

    def windows_before(self, overlap: SliceOverlap, rows: IntArray) -> IntArray:
        """The first rows outside of all windows that begin before some rows."""
        ends = self.partitions.window_end
        assert ends is not None
        last = ends[np.maximum(rows - 1, self.first)]
        if overlap.before:
            return last
        late = np.append(np.flatnonzero(self.kinds != LENT_EARLY), self.partitions.rows)
        return np.asarray(np.minimum(last, late[np.searchsorted(late, rows)]))


def find_starting_rows(task: Task, search: SliceSearch, slices: Slices) -> IntArray:
    """`Partitions.searched`; the frontier says whether the last partition's beginning is known.

    As long as rows that decide on it are still to come, nothing is searched there. Raises
    RunFailure for a partition whose beginning cannot be known.
    """
    frontier = slices.partitions.frontier or Frontier(0)
    overlap = search.overlap
    begin, until = slices.own()
    known = begin < until
    if overlap.leap != 1:
        first, last = slices.entries(overlap, begin)
        if frontier.known:
            first[0] = last[0] = begin[0]
        first, last = np.where(known, first, begin), np.where(known, last, begin)
        arrival, decided = follow_leaps(task, search, slices.partitions, np.stack([first, begin]))
        least, most = extremes(arrival, first, last)
        known &= decided
        unclear = np.flatnonzero(known & (least != np.minimum(most, slices.partitions.starts[1:])))
        if len(unclear):
            place = int(unclear[0])
            raise RunFailure(FailureKind.UNKNOWN_START, place, int(begin[place]), "")
        begin = least
    frontier.known = bool(known[-1])
    return np.where(known, np.stack([begin, until]), slices.first)


def follow_leaps(
    task: Task, search: SliceSearch, partitions: Partitions, ranges: IntArray
) -> tuple[IntArray, BoolArray]:
    """Where the search of the whole arrives after each partition's range, if it comes to a row.

    ranges: int64[2, p]. int64[n + 1]; a row outside of the ranges is where it arrives. And
    bool[p], whether all rows are here that decide on that.
    """
    begin, end = ranges
    arrival = np.arange(partitions.rows + 1)
    decided = np.ones(len(begin), np.bool_)
    sizes = end - begin
    if not sizes.any():
        return arrival, decided
    rows = np.repeat(begin - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    arrival[rows] += 1
    frontier = Frontier(0, edge=None if partitions.frontier is None else partitions.frontier.edge)
    here = replace(partitions, frontier=frontier, searched=ranges, lenient=True)
    for matches in search.algorithm.search(search.every_row, here):
        following = next_starts(task.after_match, task.members, matches)
        arrival[matches.start] = np.maximum(following, matches.start + 1)
    if frontier.edge is not None:
        decided[-1] = frontier.start >= end[-1]
    bound = np.repeat(end, sizes)
    while len(rows):  # twice as many leaps each time
        within = arrival[rows] < bound
        rows, bound = rows[within], bound[within]
        arrival[rows] = arrival[arrival[rows]]
    return arrival, decided


def extremes(values: IntArray, first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """The least and the greatest of the values first .. last, both included."""
    places = np.stack([first, last + 1], axis=1).ravel()
    padded = np.append(values, 0)
    return np.minimum.reduceat(padded, places)[::2], np.maximum.reduceat(padded, places)[::2]
