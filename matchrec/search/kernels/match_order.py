"""Order matches, find equal ones, and decide which matches a skip strategy keeps.

A skip strategy goes over the matches of a partition in the order of their first rows.

1. A match is kept if it does not begin before the start bound: the next start of the matches kept
   before it. Then it moves the bound to its own next start.
2. While a run is live that began before a match, the match is held, because a match of this run can
   move the bound. Afterwards, the match is released if it is kept.
3. A run whose window ends is kept if it does not begin before the start bound at that row.

    SKIP PAST LAST ROW, matches by rows: 0-3, 1-2, 4-5

    0-3 is kept, and the bound becomes 4; 1-2 begins before it and is left out; 4-5 is kept

If no run is output when its window ends, the search can follow one starting row after the other. It
goes on at the next start of each kept match, because matches that begin before are left out.

Source: Flink CEP, "After Match Skip Strategy".
"""

from typing import NamedTuple

import numpy as np

from matchrec.jit.decorators import inner, linear_kernel, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import OutputArrays, Progress
from matchrec.search.kernels.search_loop import NO_TARGET, MappingArray, find_next_start
from matchrec.search.partitions import BoolArray, IntArray


class MappedRows(NamedTuple):
    """The mapped rows of matches, as in `matches.Matches`."""

    offsets: IntArray
    rows: IntArray
    # How each row is mapped: its variable; in the output of a running search, its choice.
    mappings: MappingArray


@linear_kernel
def mark_repeated_matches(
    groups: IntArray, order: IntArray, is_repeated: BoolArray, matches: MappedRows
) -> bool:
    """Mark each match that equals the match before it in its group.

    Args:
        groups: int64[g + 1], group i has the matches order[groups[i]] .. order[groups[i + 1] - 1].
        order: int64[m], indices of matches, in the order of `compare_matches` within each group.
        is_repeated: bool[m], by index in `order`. It is set to whether the match equals the match
            before it in its group; for the first match of a group, it stays as it is.
        matches: the rows of the matches.

    Returns:
        Whether the matches of each group are in order. If not, some matches are not marked.
    """
    for group in range(groups.shape[0] - 1):
        for index in range(groups[group] + 1, groups[group + 1]):
            comparison = compare_matches(order[index - 1], order[index], matches, None)
            if comparison > 0:
                return False
            is_repeated[index] = comparison == 0
    return True


@linear_kernel
def sort_groups(groups: IntArray, order: IntArray, spare: IntArray, matches: MappedRows) -> None:
    """Sort the matches of each group as `compare_matches` does. This is a merge sort.

    Searches find most matches in this order, so this function is seldom called.

    Args:
        groups: see `mark_repeated_matches`.
        order: int64[m], indices of matches, which are sorted in place.
        spare: int64[m], is overwritten.
        matches: the rows of the matches.
    """
    for group in range(groups.shape[0] - 1):
        begin = groups[group]
        end = groups[group + 1]
        width = 1  # each block of `width` matches is sorted
        while width < end - begin:
            for left in range(begin, end, 2 * width):
                middle = min(left + width, end)
                right = min(left + 2 * width, end)
                left_index = left
                right_index = middle
                for index in range(left, right):
                    if right_index == right or (
                        left_index < middle
                        and compare_matches(order[left_index], order[right_index], matches, None)
                        <= 0
                    ):
                        spare[index] = order[left_index]
                        left_index += 1
                    else:
                        spare[index] = order[right_index]
                        right_index += 1
            for index in range(begin, end):
                order[index] = spare[index]
            width *= 2


@spliced
def compare_matches(left: int, right: int, matches: MappedRows, program: IntArray | None) -> int:
    """Compare two matches, given by their indices, by row positions, then by variables.

    Of two matches whose shared rows are equal, the shorter one comes first.

    Args:
        left: the index of a match.
        right: the index of another match.
        matches: the rows of the matches.
        program: the choices of the query, if rows are mapped by choices; None if `matches` has
            variables.

    Returns:
        A negative number if `left` comes first, 0 if they are equal, otherwise a positive number.
    """
    offsets = matches.offsets
    rows = matches.rows
    mappings = matches.mappings
    left_begin = offsets[left]
    right_begin = offsets[right]
    left_length = offsets[left + 1] - left_begin
    right_length = offsets[right + 1] - right_begin
    shared_length = min(left_length, right_length)
    for index in range(shared_length):
        if rows[left_begin + index] != rows[right_begin + index]:
            return int(rows[left_begin + index] - rows[right_begin + index])
    if left_length != right_length:
        return int(left_length - right_length)
    for index in range(shared_length):
        left_variable = int(mappings[left_begin + index])
        right_variable = int(mappings[right_begin + index])
        if program is not None:
            left_variable = int(program[left_variable, layout.VARIABLE])
            right_variable = int(program[right_variable, layout.VARIABLE])
        if left_variable != right_variable:
            return left_variable - right_variable
    return 0


class SortedMatches(NamedTuple):
    """Matches sorted by partition, by first row, then by the row at which they are complete."""

    # The first row of the first partition that has a match.
    partition_begin: int
    # int64[m], the first row of each match.
    first_rows: IntArray
    # int64[m], the row at which each match is complete.
    completing_rows: IntArray
    # int64[m], the next start after each match by the skip strategy, or NO_TARGET.
    next_starts: IntArray


class SearchPosition(NamedTuple):
    """The point at which a search has stopped. All rows are positions."""

    # The next row that the search would read.
    stop: int
    # int64[r], the rows with which live runs begin; empty if starting rows are searched one after
    # the other.
    live_first_rows: IntArray
    # int64[n], for each starting row, the last row at which a run from it was live since the search
    # went on; int64[0] if it does not matter when matches are released.
    last_live_rows: IntArray
    # int64[b, 2], the start bounds so far: see the columns below.
    start_bounds: IntArray
    # int64[p + 1], see `Partitions`.
    starts: IntArray


# Columns of start bounds, which ascend in both.
SET_AT = 0  # the row at which the match that sets the bound is released
EARLIEST_START = 1  # the row before which no match can begin from then on
BOUND_SIZE = 2
NO_BOUND = -1  # in both columns, before the first bound

# The outcomes for a match.
LEFT_OUT = 0
KEPT = 1
HELD = 2  # undecided until a live run that began earlier has ended


@linear_kernel
def choose_outcomes(
    matches: SortedMatches,
    position: SearchPosition,
    fails_on_miss: bool,
    outcomes: IntArray,
    bounds: IntArray,
) -> int:
    """Decide which matches are kept and which are held.

    Args:
        matches: the matches.
        position: where the search has stopped; its `live_first_rows` are sorted.
        fails_on_miss: whether it is a failure if a match that is kept has no next start, or if its
            next start is its first row.
        outcomes: int64[m], LEFT_OUT for each match. Values are set to KEPT or HELD.
        bounds: int64[m + 1, 2], start bounds: see SET_AT. Entry 0 is the bound before the first
            match. Entry i + 1 is filled with the bound after match i. A bound is at most the first
            row of the next partition, so it has no effect there.

    Returns:
        The index of the first match that is such a failure, or -1.
    """
    first_rows = matches.first_rows
    next_starts = matches.next_starts
    live_first_rows = position.live_first_rows
    last_live_rows = position.last_live_rows
    last_kept_start = matches.partition_begin
    live_index = np.int64(0)
    for match in range(first_rows.shape[0]):
        first_row = first_rows[match]
        released_at = bounds[match, SET_AT]
        bound = bounds[match, EARLIEST_START]
        while live_index < live_first_rows.shape[0] and live_first_rows[live_index] < bound:
            live_index += 1
        # A match that begins after this row is held for a live run that began earlier.
        last_decided = position.stop
        if live_index < live_first_rows.shape[0]:
            last_decided = live_first_rows[live_index]
        if first_row >= bound and first_row > last_decided:
            outcomes[match] = HELD
        elif first_row >= bound:
            next_start = next_starts[match]
            if fails_on_miss and (next_start == NO_TARGET or next_start == first_row):
                return match
            outcomes[match] = KEPT
            released_at = max(released_at, matches.completing_rows[match])
            if last_live_rows.shape[0] > 0:
                # `released_at` already waits for runs that began before the last kept match.
                for row in range(max(last_kept_start, bound), first_row):
                    released_at = max(released_at, last_live_rows[row])
            last_kept_start = first_row
            bound = max(bound, next_start)
        bounds[match + 1, SET_AT] = released_at
        bounds[match + 1, EARLIEST_START] = bound
    return -1


@inner
def find_first_next_start(
    match_count_before: int,
    skip: layout.SkipRule,
    program: IntArray,
    progress: Progress,
    output: OutputArrays,
) -> int:
    """Return the next start after the first match whose next start is after its own first row.

    Only the matches in the output from index `match_count_before` on count. They begin at the same
    row and are complete at the same row. They can be out of order, but they are compared only if
    their next starts differ.

    Returns:
        The next start, or NO_TARGET if no match has a later one.
    """
    is_target = program[:, layout.IS_TARGET]
    matches = MappedRows(output.matches[layout.MATCH_OFFSET], output.rows, output.choices)
    next_start = np.int64(NO_TARGET)
    first_match = -1  # the first match so far whose next start is after its own first row
    next_starts_differ = False
    for match in range(match_count_before, progress.match_count):
        row = np.int64(find_later_start(match, skip, is_target, matches))
        if row == NO_TARGET:
            continue
        if first_match < 0:
            first_match = match
            next_start = row
        next_starts_differ |= row != next_start
    if not next_starts_differ:
        return int(next_start)
    for match in range(first_match + 1, progress.match_count):
        row = np.int64(find_later_start(match, skip, is_target, matches))
        if row != NO_TARGET and compare_matches(match, first_match, matches, program) < 0:
            first_match = match
            next_start = row
    return int(next_start)


@inner
def find_later_start(
    match: int, skip: layout.SkipRule, is_target: IntArray, matches: MappedRows
) -> int:
    """Return the next start after a match; NO_TARGET if it is not after the match's first row.

    `match` is an index. The matches have choices instead of variables, and none of them is empty.
    """
    begin = matches.offsets[match]
    end = matches.offsets[match + 1]
    rows = matches.rows[begin:end]
    row = np.int64(find_next_start(skip, is_target, matches.mappings[begin:end], rows[0], rows))
    return int(row if row > rows[0] else np.int64(NO_TARGET))
