"""Find what measures read for each output row: positions of rows, counts, and lists of rows.

The functions are array arithmetic over many matches at once. Rows are numbered in three ways, each
from 0. In arrays, -1 stands for no row:

    output row    one of the r rows of the result
    mapped row    one of the k rows of all matches, match after match
    row position  the position of an input row in the table

An output row sees the mapped rows of its match: with running semantics those up to its current row,
with final semantics all. For example, for two matches of A B and ALL ROWS PER MATCH:

    mapped row                    0    1    2    3
    classifier                    A    B    A    B
    row position                  5    6    8    9
    RUNNING LAST(B.price) reads   -1   6    -1   9
    FINAL LAST(B.price) reads     6    6    9    9

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
    classifiers: Variables, belongs: BoolArray, begin: IntArray, end: IntArray, ordinal: int
) -> IntArray:
    """Return for each output row the nth of the mapped rows that count, or -1: int64[r].

    A mapped row counts if its variable does, and if the output row sees it.

    Args:
        classifiers: int16[k], the id of the variable of each mapped row.
        belongs: bool[v], for each variable by id, whether its rows count.
        begin: int64[r], the first mapped row that each output row sees.
        end: int64[r], the end of the mapped rows that each output row sees.
        ordinal: which of the rows that count, as a Python index: 0 for the first, -1 for the last.
    """
    before = np.empty(len(classifiers) + 1, np.int32)  # number of counted rows before each row
    # The counted rows. One element more, because the loop also writes a row that does not count,
    # and the next row replaces it.
    counted = np.empty(len(classifiers) + 1, np.int32)
    count = 0
    for index in range(len(classifiers)):  # without a branch, which is six times as fast
        before[index] = count
        counted[count] = index
        count += int(belongs[classifiers[index]])
    before[len(classifiers)] = count
    mapped = np.full(len(begin), -1)
    for row in range(len(begin)):
        first, past_last = before[begin[row]], before[end[row]]
        nth = (first if ordinal >= 0 else past_last) + ordinal
        if first <= nth < past_last:
            mapped[row] = counted[nth]
    return mapped


# For matches that share their rows (`search.matches.Chains`). In a match, indices of mapped rows
# decrease, so the rows after a mapped row are visited before it.


@allocating
def find_first_marked(mask: BoolArray, following: Links) -> IntArray:
    """Return for each mapped row the first marked row at or after it in its match: int64[k].

    -1 if there is none.

    Args:
        mask: bool[k], which mapped rows are marked.
        following: int32[k], the next row of the match, which has a smaller index; -1 for none.
    """
    first_marked = np.empty(len(mask), np.int64)
    for mapped in range(len(mask)):
        if mask[mapped]:
            first_marked[mapped] = mapped
        elif following[mapped] >= 0:
            first_marked[mapped] = first_marked[following[mapped]]
        else:
            first_marked[mapped] = -1
    return first_marked


@allocating
def find_marked_before_end(mask: BoolArray, following: Links, later: int) -> IntArray:
    """Return for each mapped row the marked row after which `later` marked rows follow: int64[k].

    The marked row is at or after the mapped row, in the same match. -1 if there is none.

    Args:
        mask: bool[k], which mapped rows are marked.
        following: int32[k], the next row of the match, which has a smaller index; -1 for none.
        later: the number of marked rows that come after the returned row in the match: 0 for the
            last marked row.
    """
    marked = np.empty(len(mask), np.int64)
    counts = np.empty(len(mask), np.int64)  # of marked rows at or after each mapped row
    for mapped in range(len(mask)):
        marked_row = np.int64(-1)
        count = np.int64(0)
        if following[mapped] >= 0:
            marked_row = marked[following[mapped]]
            count = counts[following[mapped]]
        if mask[mapped]:
            if count == later:
                marked_row = np.int64(mapped)
            count += 1
        marked[mapped] = marked_row
        counts[mapped] = count
    return marked


@dataclass(frozen=True)
class MatchReader:
    """A reader of what the measures of a query read, for r output rows and k mapped rows.

    If matches share their rows (`search.matches.Chains`), there is one output row for each match,
    and running and final semantics are the same.
    """

    matches: Matches
    # The output rows, for which values are read.
    rows: OutputRows
    # The partitions of the input rows.
    partitions: Partitions
    # For the name of each variable of the query, the ids of its primary variables.
    members: dict[str, frozenset[int]]
    # The frame of a row pattern window, which begins with the match's first row. Measures can read
    # no rows outside of the frame. None for other queries.
    frame: Frame | None = None

    def select_rows(self, begin: int, end: int) -> MatchReader:
        """Return the reader for the output rows from `begin` up to, but not including, `end`."""
        return replace(self, rows=self.rows.take(slice(begin, end)))

    def mark_mapped_rows(self, variable: str | None) -> BoolArray:
        """Return which mapped rows belong to a variable: bool[k].

        Args:
            variable: the variable; None for the universal variable, to which all rows belong.
        """
        if variable is None:
            return np.ones(len(self.matches.classifiers), np.bool_)
        return np.asarray(self.mark_members(variable)[self.matches.classifiers], np.bool_)

    def mark_members(self, variable: str) -> BoolArray:
        """Return, for each primary variable by id, whether it belongs to a variable: bool[v]."""
        belongs = np.zeros(1 + max(map(max, self.members.values())), np.bool_)
        belongs[list(self.members[variable])] = True
        return belongs

    def find_visible_rows(self, semantics: Semantics) -> tuple[IntArray, IntArray]:
        """Return begin and end of the mapped rows that each output row sees: int64[r] each.

        Begin and end are equal if the output row sees no row.
        """
        return self.running_rows if semantics is Semantics.RUNNING else self.final_rows

    @cached_property
    def running_rows(self) -> tuple[IntArray, IntArray]:
        """Return where the mapped rows up to the current one begin and end: int64[r] each.

        An output row without a current row sees none.
        """
        begin, end = self.final_rows
        return begin, np.where(self.rows.current >= 0, self.rows.current + 1, end)

    @cached_property
    def final_rows(self) -> tuple[IntArray, IntArray]:
        """Return where the mapped rows of the match begin and end: int64[r] each.

        An output row without a current row sees none.
        """
        sees_rows = self.rows.current >= 0
        offsets = self.matches.offsets
        begin = offsets[self.rows.match]
        end = offsets[self.rows.match + 1]
        return np.where(sees_rows, begin, 0), np.where(sees_rows, end, 0)

    @cached_property
    def shifts(self) -> IntArray:
        """Return for each output row what to add to a mapped row to get its row position: int64[r].

        The result is right only if no rows were skipped, so that the rows of a match are
        neighbours.
        """
        return take_or_default(self.matches.start - self.matches.offsets[:-1], self.rows.match, 0)

    def take_physical_step(self, positions: IntArray, navigation: Navigation) -> IntArray:
        """Return the row positions to which PREV or NEXT of a navigation leads: int64[r].

        -1 if the step leaves the partition or the frame.

        Args:
            positions: int64[r], the row positions from which PREV or NEXT steps, or -1.
            navigation: the navigation.
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
        """Return the mapped row that FIRST or LAST of a navigation finds, or -1: int64[r]."""
        offset = navigation.logical_offset
        is_first = navigation.end is End.FIRST
        if self.matches.chains is not None:
            return self.find_mapped_in_chains(navigation, self.matches.chains.following)
        begin, end = self.find_visible_rows(navigation.semantics)
        if navigation.variable is None:
            nth = begin + offset if is_first else end - 1 - offset
            return np.where((nth >= begin) & (nth < end), nth, -1)
        ordinal = offset if is_first else -1 - offset
        belongs = self.mark_members(navigation.variable)
        return find_nth_mapped(self.matches.classifiers, belongs, begin, end, ordinal)

    def find_mapped_in_chains(self, navigation: Navigation, following: Links) -> IntArray:
        """Return what `find_mapped_rows` does if matches share their rows.

        The current row is the first row of the match, from which the match is read.

        Args:
            navigation: the navigation.
            following: int32[k], the next row of each mapped row in its match.
        """
        mask = self.mark_mapped_rows(navigation.variable)
        if navigation.end is End.LAST:
            marked = find_marked_before_end(mask, following, navigation.logical_offset)
            return take_or_default(marked, self.rows.current, -1)
        first_marked = find_first_marked(mask, following)
        mapped = take_or_default(first_marked, self.rows.current, -1)
        if navigation.logical_offset:
            # Go from marked row to marked row.
            next_marked = take_or_default(first_marked, following.astype(np.int64), -1)
            for _ in range(navigation.logical_offset):
                mapped = take_or_default(next_marked, mapped, -1)
        return mapped

    def find_positions(self, navigation: Navigation) -> IntArray:
        """Return the row position that a navigation reads, or -1: int64[r]."""
        mapped = self.find_mapped_rows(navigation)
        if self.matches.rows is None:
            positions = np.where(mapped >= 0, mapped + self.shifts, -1)
        else:
            positions = take_or_default(self.matches.rows, mapped, -1)
        return self.take_physical_step(positions, navigation)

    def find_classifiers(self, navigation: Navigation) -> Variables:
        """Return the id of the variable of the row that a navigation finds: int16[r].

        -1 if there is no such row, or if the match does not map the row.

        A row to which PREV or NEXT leads has a variable if the same match maps the row, even after
        the current row: NEXT may step beyond the rows that running semantics sees.
        """
        mapped = self.find_mapped_rows(navigation)
        if navigation.physical_offset:
            mapped = self.find_mapped_at_distance(mapped, navigation.physical_offset)
        return take_or_default(self.matches.classifiers, mapped, -1)

    def find_mapped_at_distance(self, mapped: IntArray, distance: int) -> IntArray:
        """Return the mapped row of the same match at a distance from another one: int64[r].

        -1 if the match does not map the row at this distance.

        Args:
            mapped: int64[r], the mapped row of each output row, or -1.
            distance: the number of row positions; negative for rows before.
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
        width = self.partitions.row_count + abs(distance) + 1
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

    def collect_rows(self, mask: BoolArray, semantics: Semantics) -> tuple[IntArray, IntArray]:
        """Collect the marked mapped rows that each output row sees.

        If rows 0 and 2 are marked, and two output rows see rows 0 .. 1 and 0 .. 2, the result is
        [0, 0, 2] and [0, 1, 3].

        Args:
            mask: bool[k], which mapped rows are marked.
            semantics: which rows an output row sees.

        Returns:
            The collected mapped rows, output row after output row. And int64[r + 1]: where the rows
            of each output row begin, then the number of all rows.
        """
        marked_before = add_up_before(mask)  # number of marked rows before each mapped row
        begin, end = self.find_visible_rows(semantics)
        first = marked_before[begin]
        counts = marked_before[end] - first
        collected = np.flatnonzero(mask)[list_positions(first, counts)]
        return collected, find_group_starts(counts)

    def add_up_values(self, values: BoolArray | IntArray, semantics: Semantics) -> IntArray:
        """Return the sum of values over the mapped rows that each output row sees: int64[r].

        Args:
            values: int64[k] or bool[k], the value of each mapped row.
            semantics: which rows an output row sees.
        """
        before = add_up_before(values)  # sum of the values before each mapped row
        begin, end = self.find_visible_rows(semantics)
        return np.asarray(before[end] - before[begin], np.int64)
