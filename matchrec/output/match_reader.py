"""Find what measures read for each output row: positions of rows, counts, and lists of rows.

The functions are array arithmetic over many matches at once. Rows are numbered in four ways, each
from 0. In arrays, -1 stands for no row:

    output row          one of the r rows of the result
    mapped row          one of the k rows of all matches, match after match
    row position        the position of an input row in the table
    position in match   the number of rows of the match before a mapped row

The *current row* of an output row (`OutputRows.current_rows`) is the mapped row from which measures
look. An output row sees mapped rows of its match: with running semantics those up to its current
row, with final semantics all. For example, for two matches of A B and ALL ROWS PER MATCH:

    output row, current row       0    1    2    3
    classifier                    A    B    A    B
    row position                  5    6    8    9
    RUNNING LAST(B.price) reads   -1   6    -1   9
    FINAL LAST(B.price) reads     6    6    9    9

If matches share their rows (`search.matches.Chains`), mapped rows are in another order: a mapped
row has a link to the next row of its match, which has a smaller index. Only a few functions accept
such matches. `Read.can_read_chains` says which values can be read from them.

Source: ISO/IEC 19075-5, row pattern navigation operations; running and final semantics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.jit.decorators import allocating
from matchrec.output.rows import OutputRows
from matchrec.plan.expression import End, Frame, Navigation, Semantics
from matchrec.search.flat_arrays import (
    add_up_before,
    find_group_starts,
    list_positions,
    overwrite_few,
    take_or_default,
)
from matchrec.search.matches import Chains, Matches
from matchrec.search.partitions import BoolArray, IntArray, Partitions

# int32[k], for each mapped row a mapped row of a smaller index that is next to it in its match: the
# next one if matches share their rows (see `Chains`), else the one before; -1 for none.
Links = npt.NDArray[np.int32]
# int16[n], the id of a variable for each of n rows, or -1.
Classifiers = npt.NDArray[np.int16]


class RowRanges(NamedTuple):
    """For each of r output rows, a range of mapped rows: from `begin` up to, but without, `end`."""

    begin: IntArray  # int64[r]
    end: IntArray  # int64[r], equal to `begin` if the range is empty


class CollectedRows(NamedTuple):
    """Some mapped rows for each of r output rows, c rows in all.

    If an output row has the rows 0 and 1, and the next one the rows 0, 1 and 2, `rows` is
    [0, 1, 0, 1, 2], and `offsets` is [0, 2, 5].
    """

    rows: IntArray  # int64[c], the mapped rows, output row after output row
    offsets: IntArray  # int64[r + 1], where the rows of each output row begin in `rows`, then c


# Kernels. Some mapped rows are marked: mostly, the rows that are mapped to one variable.


@allocating
def find_last_marked(
    classifiers: Classifiers, is_marked_variable: BoolArray, begin: IntArray, end: IntArray
) -> IntArray:
    """Return for each output row the last of the marked rows that it sees, or -1: int64[r].

    This is what a bare `A.x` reads. `find_nth_marked` finds the same rows, but takes twice as long.

    Args:
        classifiers: int16[k], the id of the variable of each mapped row.
        is_marked_variable: bool[v], which variables are marked, by id.
        begin: int64[r], the first mapped row that each output row sees.
        end: int64[r], the end of the mapped rows that each output row sees.
    """
    # The last marked row before each mapped row, and at the end the last of all.
    last_rows_before = np.empty(len(classifiers) + 1, np.int32)
    last_row = -1
    for index in range(len(classifiers)):
        last_rows_before[index] = last_row
        last_row = index if is_marked_variable[classifiers[index]] else last_row
    last_rows_before[len(classifiers)] = last_row
    mapped_rows = np.full(len(begin), -1)
    for row in range(len(begin)):
        last_row = last_rows_before[end[row]]
        if last_row >= begin[row]:
            mapped_rows[row] = last_row
    return mapped_rows


@allocating
def find_nth_marked(
    classifiers: Classifiers,
    is_marked_variable: BoolArray,
    begin: IntArray,
    end: IntArray,
    ordinal: int,
) -> IntArray:
    """Return for each output row the nth of the marked rows that it sees, or -1: int64[r].

    A mapped row is marked if its variable is.

    Args:
        classifiers: int16[k], the id of the variable of each mapped row.
        is_marked_variable: bool[v], which variables are marked, by id.
        begin: int64[r], the first mapped row that each output row sees.
        end: int64[r], the end of the mapped rows that each output row sees.
        ordinal: which of the marked rows, as a Python index: 0 for the first, -1 for the last.
    """
    # The number of marked rows before each mapped row, and at the end the number of all.
    marked_counts_before = np.empty(len(classifiers) + 1, np.int32)
    # The marked rows in ascending order, then elements that are not read.
    marked_rows = np.empty(len(classifiers), np.int32)
    marked_count = 0
    # A row that is not marked is written, too, and the next row replaces it. So the loop has no
    # branch, and is twice as fast if classifiers alternate without a rule.
    for index in range(len(classifiers)):
        marked_counts_before[index] = marked_count
        marked_rows[marked_count] = index
        marked_count += int(is_marked_variable[classifiers[index]])
    marked_counts_before[len(classifiers)] = marked_count
    mapped_rows = np.full(len(begin), -1)
    for row in range(len(begin)):
        # The marked rows that the output row sees are marked_rows[first_index:end_index].
        first_index, end_index = marked_counts_before[begin[row]], marked_counts_before[end[row]]
        nth_index = (first_index if ordinal >= 0 else end_index) + ordinal
        if first_index <= nth_index < end_index:
            mapped_rows[row] = marked_rows[nth_index]
    return mapped_rows


# Kernels for matches that share their rows. The next row of a match has a smaller index, so one
# pass in the order of indices visits the rows after a mapped row before the row itself.


@allocating
def find_first_marked(is_marked: BoolArray, next_rows: Links) -> IntArray:
    """Return for each mapped row the first marked row at or after it in its match: int64[k].

    -1 if there is none.

    Args:
        is_marked: bool[k], which mapped rows are marked.
        next_rows: int32[k], for each mapped row, the next one of its matches, which has a smaller
            index; -1 for none.
    """
    first_marked_rows = np.empty(len(is_marked), np.int64)
    for mapped_row in range(len(is_marked)):
        if is_marked[mapped_row]:
            first_marked_rows[mapped_row] = mapped_row
        elif next_rows[mapped_row] >= 0:
            first_marked_rows[mapped_row] = first_marked_rows[next_rows[mapped_row]]
        else:
            first_marked_rows[mapped_row] = -1
    return first_marked_rows


@allocating
def find_nth_last_marked(is_marked: BoolArray, next_rows: Links, rows_after: int) -> IntArray:
    """Return for each mapped row the nth last marked row of its match: int64[k].

    -1 if the nth last marked row comes before the mapped row, or if there is none.

    Args:
        is_marked: bool[k], which mapped rows are marked.
        next_rows: int32[k], for each mapped row, the next one of its matches, which has a smaller
            index; -1 for none.
        rows_after: how many marked rows come after the returned row in the match: 0 for the last
            marked row.
    """
    nth_last_marked_rows = np.empty(len(is_marked), np.int64)
    # The number of marked rows at or after each mapped row in its match.
    marked_counts = np.empty(len(is_marked), np.int64)
    for mapped_row in range(len(is_marked)):
        nth_last_row = np.int64(-1)
        marked_count = np.int64(0)
        if next_rows[mapped_row] >= 0:
            nth_last_row = nth_last_marked_rows[next_rows[mapped_row]]
            marked_count = marked_counts[next_rows[mapped_row]]
        if is_marked[mapped_row]:
            if marked_count == rows_after:
                nth_last_row = np.int64(mapped_row)
            marked_count += 1
        nth_last_marked_rows[mapped_row] = nth_last_row
        marked_counts[mapped_row] = marked_count
    return nth_last_marked_rows


@dataclass(frozen=True)
class MatchReader:
    """Looks up rows and counts for r output rows of matches with k mapped rows.

    If matches share their rows (`search.matches.Chains`), there is one output row for each match,
    so that running and final semantics are the same. Then only `find_mapped_rows`,
    `find_row_positions`, `mark_mapped_rows` and `find_match_numbers` can be called, and
    `find_classifiers` for a navigation without a physical offset.
    """

    matches: Matches
    output_rows: OutputRows
    # The partitions of the input rows.
    partitions: Partitions
    # For the name of each variable of the query, the ids of its primary variables, at least one.
    members: dict[str, frozenset[int]]
    # The frame of a row pattern window, which begins with the match's first row. Measures can read
    # no rows outside of the frame. None for other queries.
    frame: Frame | None = None

    def select_rows(self, begin: int, end: int) -> MatchReader:
        """Return the reader for the output rows from `begin` up to, but not including, `end`."""
        return replace(self, output_rows=self.output_rows.take(slice(begin, end)))

    def mark_mapped_rows(self, variable: str | None) -> BoolArray:
        """Return which mapped rows are mapped to a variable: bool[k].

        Args:
            variable: a name in `members`; None for the universal variable, to which all rows are
                mapped.
        """
        if variable is None:
            return np.ones(len(self.matches.classifiers), np.bool_)
        return np.asarray(self.mark_members(variable)[self.matches.classifiers], np.bool_)

    def mark_members(self, variable: str) -> BoolArray:
        """Return which primary variables are members of a variable: bool[v], by id.

        Args:
            variable: the name of a primary variable, its only member, or of a union variable.
        """
        is_member = np.zeros(self.variable_count, np.bool_)
        is_member[list(self.members[variable])] = True
        return is_member

    @cached_property
    def variable_count(self) -> int:
        """Return the number v of primary variables: one more than the greatest id."""
        greatest_ids = [max(variable_ids) for variable_ids in self.members.values()]
        return 1 + max(greatest_ids, default=-1)

    def find_visible_rows(self, semantics: Semantics) -> RowRanges:
        """Return the mapped rows that each output row sees. Matches must not share their rows."""
        return self.running_rows if semantics is Semantics.RUNNING else self.final_rows

    @cached_property
    def running_rows(self) -> RowRanges:
        """Return the rows of the match up to the current row; none without a current row."""
        begin, end = self.final_rows
        current_rows = self.output_rows.current_rows
        return RowRanges(begin, end=np.where(current_rows >= 0, current_rows + 1, end))

    @cached_property
    def final_rows(self) -> RowRanges:
        """Return all rows of the match; none for an output row without a current row."""
        assert self.matches.chains is None
        offsets = self.matches.offsets
        begin = offsets[self.output_rows.match_indices]
        end = offsets[self.output_rows.match_indices + 1]
        sees_nothing = self.output_rows.current_rows < 0
        overwrite_few(begin, sees_nothing, 0)
        overwrite_few(end, sees_nothing, 0)
        return RowRanges(begin, end)

    @cached_property
    def position_offsets(self) -> IntArray:
        """Return for each output row what to add to a mapped row to get its row position: int64[r].

        The rows of each match must follow each other without a gap.
        """
        assert self.matches.rows is None
        offset_by_match = self.matches.start - self.matches.offsets[:-1]
        return take_or_default(offset_by_match, self.output_rows.match_indices, 0)

    def find_physical_targets(self, positions: IntArray, navigation: Navigation) -> IntArray:
        """Return the row positions that PREV or NEXT finds: int64[r].

        -1 if the row is outside of the partition or of the frame.

        Args:
            positions: int64[r], the row positions from which PREV or NEXT counts, or -1.
            navigation: has the distance, which is 0 if the user wrote neither PREV nor NEXT.
        """
        if navigation.physical_offset == 0:
            return positions
        partition_ids = take_or_default(self.matches.partition, self.output_rows.match_indices, 0)
        first_positions = self.partitions.starts[partition_ids]
        end_positions = self.partitions.starts[partition_ids + 1]
        if self.frame is not None:
            first_positions = take_or_default(self.matches.start, self.output_rows.match_indices, 0)
            if self.frame.end is not None:
                end_positions = np.minimum(end_positions, first_positions + self.frame.end + 1)
        targets = positions + navigation.physical_offset
        return np.where(
            (positions >= 0) & (targets >= first_positions) & (targets < end_positions), targets, -1
        )

    def find_mapped_rows(self, navigation: Navigation) -> IntArray:
        """Return the mapped row that FIRST or LAST of a navigation finds, or -1: int64[r]."""
        chains = self.matches.chains
        if chains is not None:
            return self.find_mapped_in_chains(navigation, chains)
        begin, end = self.find_visible_rows(navigation.semantics)
        offset = navigation.logical_offset
        is_first = navigation.end is End.FIRST
        if navigation.variable is None:
            nth_rows = begin + offset if is_first else end - 1 - offset
            return np.where((nth_rows >= begin) & (nth_rows < end), nth_rows, -1)
        is_member = self.mark_members(navigation.variable)
        if not is_first and offset == 0:
            return find_last_marked(self.matches.classifiers, is_member, begin, end)
        ordinal = offset if is_first else -1 - offset
        return find_nth_marked(self.matches.classifiers, is_member, begin, end, ordinal)

    def find_mapped_in_chains(self, navigation: Navigation, chains: Chains) -> IntArray:
        """Return the result of `find_mapped_rows` for matches that share their rows.

        The current row is the first row of the match, from which all of its rows can be reached.

        Args:
            navigation: FIRST or LAST; its semantics make no difference.
            chains: the chains of the matches.
        """
        next_rows = chains.next_mapped_rows
        is_marked = self.mark_mapped_rows(navigation.variable)
        if navigation.end is End.LAST:
            nth_last_marked_rows = find_nth_last_marked(
                is_marked, next_rows, navigation.logical_offset
            )
            return take_or_default(nth_last_marked_rows, self.output_rows.current_rows, -1)
        first_marked_rows = find_first_marked(is_marked, next_rows)
        mapped_rows = take_or_default(first_marked_rows, self.output_rows.current_rows, -1)
        if navigation.logical_offset:
            # Go from marked row to marked row.
            next_marked_rows = take_or_default(first_marked_rows, next_rows.astype(np.int64), -1)
            for _ in range(navigation.logical_offset):
                mapped_rows = take_or_default(next_marked_rows, mapped_rows, -1)
        return mapped_rows

    def find_row_positions(self, navigation: Navigation) -> IntArray:
        """Return the row position that a navigation reads, or -1: int64[r]."""
        mapped_rows = self.find_mapped_rows(navigation)
        if self.matches.rows is None:
            positions = mapped_rows + self.position_offsets
            overwrite_few(positions, mapped_rows < 0, -1)
        else:
            positions = take_or_default(self.matches.rows, mapped_rows, -1)
        return self.find_physical_targets(positions, navigation)

    def find_classifiers(self, navigation: Navigation) -> Classifiers:
        """Return the id of the variable of the row that a navigation finds: int16[r].

        -1 if the navigation finds no row, or a row that the match does not map.

        A row that PREV or NEXT finds has a variable if the same match maps the row, even after the
        current row: NEXT may find rows that running semantics does not see.
        """
        mapped_rows = self.find_mapped_rows(navigation)
        if navigation.physical_offset:
            mapped_rows = self.find_mapped_rows_at_distance(mapped_rows, navigation.physical_offset)
        return take_or_default(self.matches.classifiers, mapped_rows, -1)

    def find_mapped_rows_at_distance(self, mapped_rows: IntArray, distance: int) -> IntArray:
        """Return the mapped row at a distance from a mapped row of the same match: int64[r].

        -1 if the match does not map the row at this distance. Matches must not share their rows.

        Args:
            mapped_rows: int64[r], a mapped row of the match of each output row, or -1.
            distance: how many row positions after `mapped_rows`; negative for rows before.
        """
        targets = mapped_rows + distance
        if self.matches.rows is None:
            begin, end = self.find_visible_rows(Semantics.FINAL)
            is_in_match = (mapped_rows >= 0) & (targets >= begin) & (targets < end)
            return np.where(is_in_match, targets, -1)
        assert self.matches.chains is None, "without chains, the keys below ascend"
        rows = self.matches.rows
        if not len(rows):
            return mapped_rows  # no row is mapped, so all elements are -1
        # Rows were skipped, so neighbours in a match can be further apart. Search for the position
        # by keys of match and position, which ascend. `width` is so great that the target keys of
        # one match are not keys of another match.
        lengths = np.diff(self.matches.offsets)
        width = self.partitions.row_count + abs(distance) + 1
        keys = np.repeat(np.arange(self.matches.count), lengths) * width + rows
        # Where `mapped_rows` is -1, the target key belongs to some other row. It is not used.
        target_keys = self.output_rows.match_indices * width + rows[mapped_rows] + distance
        indices = np.minimum(np.searchsorted(keys, target_keys), len(keys) - 1)
        return np.where((mapped_rows >= 0) & (keys[indices] == target_keys), indices, -1)

    def find_match_numbers(self) -> IntArray:
        """Return the match number, -1 for an unmatched row: int64[r]."""
        return take_or_default(self.matches.number, self.output_rows.match_indices, -1)

    def find_positions_in_match(self) -> IntArray:
        """Return the position of each mapped row in its match: int64[k].

        Matches must not share their rows.
        """
        assert self.matches.chains is None
        lengths = np.diff(self.matches.offsets)
        first_rows = np.repeat(self.matches.offsets[:-1], lengths)
        return np.asarray(np.arange(len(self.matches.classifiers)) - first_rows, np.int64)

    def find_current_positions_in_match(self) -> IntArray:
        """Return the position of the current row in its match, or -1: int64[r]."""
        begin, _ = self.find_visible_rows(Semantics.FINAL)
        current_rows = self.output_rows.current_rows
        return np.where(current_rows >= 0, current_rows - begin, -1)

    def collect_rows(self, is_marked: BoolArray, semantics: Semantics) -> CollectedRows:
        """Return the marked mapped rows that each output row sees, in ascending order.

        Matches must not share their rows.

        Args:
            is_marked: bool[k], which mapped rows are marked.
            semantics: which rows an output row sees.
        """
        # The number of marked rows before each mapped row.
        marked_counts_before = add_up_before(is_marked)
        begin, end = self.find_visible_rows(semantics)
        first_indices = marked_counts_before[begin]
        counts = marked_counts_before[end] - first_indices
        collected_rows = np.flatnonzero(is_marked)[list_positions(first_indices, counts)]
        return CollectedRows(collected_rows, offsets=find_group_starts(counts))

    def add_up_values(self, values: BoolArray | IntArray, semantics: Semantics) -> IntArray:
        """Return the sum of values over the mapped rows that each output row sees: int64[r].

        Args:
            values: int64[k] or bool[k], the value of each mapped row.
            semantics: which rows an output row sees.
        """
        sums_before = add_up_before(values)
        begin, end = self.find_visible_rows(semantics)
        return np.asarray(sums_before[end] - sums_before[begin], np.int64)
