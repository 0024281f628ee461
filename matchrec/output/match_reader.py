"""Find what measures read for each output row: row positions, counts and sums of rows.

All of it is array arithmetic over the classifiers of many matches at once. With running semantics
an output row sees its match up to the current row, with final semantics the whole match.

Source: ISO/IEC 19075-5, row pattern navigation operations; running and final semantics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from matchrec.jit.decorators import allocating
from matchrec.output.rows import OutputRows
from matchrec.plan.expression import End, Frame, Navigation, Semantics
from matchrec.search.matches import Matches
from matchrec.search.partitions import (
    BoolArray,
    IntArray,
    Partitions,
    add_up_before,
    find_group_starts,
    list_positions,
    take_or_default,
)

Links = npt.NDArray[np.int32]
Variables = npt.NDArray[np.int16]


@allocating
def find_nth_mapped(
    classifiers: Variables, belongs: BoolArray, begin: IntArray, end: IntArray, step: int
) -> IntArray:
    """Return for each output row the index of a mapped row that counts, or -1: int64[r].

    Args:
        classifiers: int16[k], the variable of each mapped row.
        belongs: for each variable, whether its rows count.
        begin: int64[r], the first mapped row of the search.
        end: int64[r], the end of the mapped rows of the search.
        step: which of the counted rows: 0 for the first, 1 for the one after it, -1 for the last.
    """
    before = np.empty(len(classifiers) + 1, np.int32)  # number of counted rows before each row
    counted = np.empty(len(classifiers) + 1, np.int32)  # indices of counted rows
    count = 0
    for index in range(len(classifiers)):  # without a branch, which is six times as fast
        before[index] = count
        counted[count] = index
        count += int(belongs[classifiers[index]])
    before[len(classifiers)] = count
    mapped = np.full(len(begin), -1)
    for row in range(len(begin)):
        first, past_last = before[begin[row]], before[end[row]]
        nth = (first if step >= 0 else past_last) + step
        if first <= nth < past_last:
            mapped[row] = counted[nth]
    return mapped


FIRST_MARKED = -1  # the value of `later` in `find_marked` for the first marked row


@allocating
def find_marked(mask: BoolArray, following: Links, later: int) -> IntArray:
    """Return for each mapped row a marked row of its match, at or after it, or -1: int64[k].

    Args:
        mask: bool[k], which mapped rows are marked.
        following: int32[k], the next row of the match, which has a smaller index; -1 for none.
        later: FIRST_MARKED for the first of these marked rows. Otherwise, how many marked rows come
            after it in the match: 0 for the last one.
    """
    marked = np.empty(len(mask), np.int64)
    # The number of marked rows among each row and those after it.
    counts = np.empty(len(mask), np.int64)
    for node in range(len(mask)):
        marked_row = np.int64(-1)
        count = np.int64(0)
        if following[node] >= 0:
            marked_row = marked[following[node]]
            count = counts[following[node]]
        if mask[node]:
            if later < 0 or count == later:
                marked_row = np.int64(node)
            count += 1
        marked[node] = marked_row
        counts[node] = count
    return marked


@dataclass(frozen=True)
class MatchReader:
    """A reader of matches: what a query's measures read, for r output rows and k mapped rows.

    Matches may share their rows (`Chains`). Then there is one output row for each match, and
    running and final semantics are the same.
    """

    matches: Matches
    rows: OutputRows
    partitions: Partitions
    # For the name of each variable, the ids of its primary variables.
    members: dict[str, frozenset[int]]
    # The frame of a row pattern window, which begins with the match's first row. Measures can read
    # no rows outside of it.
    frame: Frame | None = None

    def select_rows(self, begin: int, end: int) -> MatchReader:
        """Return the reader for the output rows `begin` .. `end`."""
        return replace(self, rows=self.rows.take(slice(begin, end)))

    def find_mask(self, variable: str | None) -> BoolArray:
        """Return which mapped rows belong to a variable: bool[k]. None is the universal one."""
        if variable is None:
            return np.ones(len(self.matches.classifiers), np.bool_)
        return np.asarray(self.find_members(variable)[self.matches.classifiers], np.bool_)

    def find_members(self, variable: str) -> BoolArray:
        """Return which primary variables belong to a variable, by id: bool[v]."""
        belongs = np.zeros(1 + max(map(max, self.members.values())), np.bool_)
        belongs[list(self.members[variable])] = True
        return belongs

    def find_visible_rows(self, semantics: Semantics) -> tuple[IntArray, IntArray]:
        """Return begin and end of the mapped rows that each output row sees: int64[r] each.

        They are equal if it sees none.
        """
        return self.running_rows if semantics is Semantics.RUNNING else self.final_rows

    @cached_property
    def running_rows(self) -> tuple[IntArray, IntArray]:
        """Return begin and end of the mapped rows up to the current one: int64[r] each."""
        begin, end = self.final_rows
        return begin, np.where(self.rows.current >= 0, self.rows.current + 1, end)

    @cached_property
    def final_rows(self) -> tuple[IntArray, IntArray]:
        """Return begin and end of the mapped rows of the match: int64[r] each."""
        sees_rows = self.rows.current >= 0
        offsets = self.matches.offsets
        begin = offsets[self.rows.match]
        end = offsets[self.rows.match + 1]
        return np.where(sees_rows, begin, 0), np.where(sees_rows, end, 0)

    @cached_property
    def shifts(self) -> IntArray:
        """Return what to add to the index of a mapped row to get its row position: int64[r].

        It may be used only if no rows were skipped, so that the rows of a match are neighbours.
        """
        return take_or_default(self.matches.start - self.matches.offsets[:-1], self.rows.match, 0)

    def take_step(self, positions: IntArray, navigation: Navigation) -> IntArray:
        """Take the physical step of a navigation.

        Args:
            positions: int64[r], the row positions that the logical step finds, or -1.
            navigation: the navigation.

        Returns:
            int64[r], the row positions; -1 outside of the partition or the frame.
        """
        if navigation.physical_offset == 0:
            return positions
        partition = take_or_default(self.matches.partition, self.rows.match, 0)
        first = self.partitions.starts[partition]
        end = self.partitions.starts[partition + 1]
        if self.frame is not None:
            first = take_or_default(self.matches.start, self.rows.match, 0)
            if self.frame.end is not None:
                end = np.minimum(end, first + self.frame.end + 1)
        target = positions + navigation.physical_offset
        return np.where((positions >= 0) & (target >= first) & (target < end), target, -1)

    def find_mapped_rows(self, navigation: Navigation) -> IntArray:
        """Return the index of the mapped row that the logical step finds, or -1: int64[r]."""
        offset = navigation.logical_offset
        is_first = navigation.end is End.FIRST
        if self.matches.chains is not None:
            return self.find_mapped_in_chains(self.matches.chains.following, navigation)
        begin, end = self.find_visible_rows(navigation.semantics)
        if navigation.variable is None:
            nth = begin + offset if is_first else end - 1 - offset
            return np.where((nth >= begin) & (nth < end), nth, -1)
        step = offset if is_first else -1 - offset
        belongs = self.find_members(navigation.variable)
        return find_nth_mapped(self.matches.classifiers, belongs, begin, end, step)

    def find_mapped_in_chains(self, following: Links, navigation: Navigation) -> IntArray:
        """Return what `find_mapped_rows` does if matches share their rows.

        Args:
            following: int32[k], the next row of each mapped row in its match.
            navigation: the navigation.
        """
        mask = self.find_mask(navigation.variable)
        if navigation.end is End.LAST:
            marked = find_marked(mask, following, navigation.logical_offset)
            return take_or_default(marked, self.rows.current, -1)
        marked = find_marked(mask, following, FIRST_MARKED)
        mapped = take_or_default(marked, self.rows.current, -1)
        if navigation.logical_offset:
            # for each mapped row, the first marked row after it
            marked_after = take_or_default(marked, following.astype(np.int64), -1)
            for _ in range(navigation.logical_offset):
                mapped = take_or_default(marked_after, mapped, -1)
        return mapped

    def find_positions(self, navigation: Navigation) -> IntArray:
        """Return the row position that a navigation reads, or -1: int64[r]."""
        mapped = self.find_mapped_rows(navigation)
        if self.matches.rows is not None:
            return self.take_step(take_or_default(self.matches.rows, mapped, -1), navigation)
        return self.take_step(np.where(mapped >= 0, mapped + self.shifts, -1), navigation)

    def find_classifiers(self, navigation: Navigation) -> Variables:
        """Return the variable of the row that a navigation finds, -1 if it has none: int16[r].

        A row that a physical step reaches has a classifier if the same match maps it, even after
        the current row: NEXT may step beyond the rows that running semantics sees.
        """
        mapped = self.find_mapped_rows(navigation)
        if navigation.physical_offset:
            mapped = self.find_neighbours(mapped, navigation.physical_offset)
        return take_or_default(self.matches.classifiers, mapped, -1)

    def find_neighbours(self, mapped: IntArray, distance: int) -> IntArray:
        """Return the mapped row at a physical distance from another one, or -1: int64[r].

        Args:
            mapped: int64[r], indices of mapped rows, or -1.
            distance: the number of row positions.
        """
        target = mapped + distance
        if self.matches.rows is None:
            begin, end = self.find_visible_rows(Semantics.FINAL)
            inside = (mapped >= 0) & (target >= begin) & (target < end)
            return np.where(inside, target, -1)
        rows = self.matches.rows
        if not len(rows):
            return mapped
        # Rows were skipped, so neighbours in a match may be further apart. Search for the position
        # by keys of match and position, which ascend.
        lengths = np.diff(self.matches.offsets)
        width = self.partitions.rows + abs(distance) + 1
        keys = np.repeat(np.arange(self.matches.count), lengths) * width + rows
        target_keys = self.rows.match * width + rows[mapped] + distance
        indices = np.minimum(np.searchsorted(keys, target_keys), len(keys) - 1)
        return np.where((mapped >= 0) & (keys[indices] == target_keys), indices, -1)

    def find_match_numbers(self) -> IntArray:
        """Return the match number, -1 for an unmatched row: int64[r]."""
        return take_or_default(self.matches.number, self.rows.match, -1)

    def find_positions_in_match(self) -> IntArray:
        """Return the position of each mapped row in its match, from 0: int64[k]."""
        lengths = np.diff(self.matches.offsets)
        first = np.repeat(self.matches.offsets[:-1], lengths)
        return np.asarray(np.arange(len(self.matches.classifiers)) - first, np.int64)

    def find_current_positions(self) -> IntArray:
        """Return the position of the current row in its match, from 0, or -1: int64[r]."""
        begin, _ = self.find_visible_rows(Semantics.FINAL)
        return np.where(self.rows.current >= 0, self.rows.current - begin, -1)

    def collect(self, mask: BoolArray, semantics: Semantics) -> tuple[IntArray, IntArray]:
        """Collect the marked mapped rows that each output row sees.

        Args:
            mask: bool[k], which mapped rows are marked.
            semantics: which rows an output row sees.

        Returns:
            The indices of the rows, output row after output row. And int64[r + 1]: where
            the rows of each output row begin, then the number of all rows.
        """
        before = add_up_before(mask)  # number of marked rows before each mapped row
        begin, end = self.find_visible_rows(semantics)
        first = before[begin]
        counts = before[end] - first
        return np.flatnonzero(mask)[list_positions(first, counts)], find_group_starts(counts)

    def add_up(self, values: BoolArray | IntArray, semantics: Semantics) -> IntArray:
        """Return the sum of values over the mapped rows that each output row sees: int64[r].

        Args:
            values: int64[k] or bool[k], the value of each mapped row.
            semantics: which rows an output row sees.
        """
        before = add_up_before(values)  # sum of the values before each mapped row
        begin, end = self.find_visible_rows(semantics)
        return np.asarray(before[end] - before[begin], np.int64)
