"""What every search does around a match: go from partition to partition and write matches out."""

from __future__ import annotations

from typing import Any

import numpy as np

from matchrec.jit.decorators import inlined, inner, kernel, kernel_with, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import (
    ChoiceArray,
    FoundArrays,
    Hook,
    Progress,
    RowArrays,
    Rules,
    SkipRule,
    Work,
)
from matchrec.search.kernels.mapping import end_of_window, forget
from matchrec.search.partitions import BoolArray, Frontier, IntArray

# A search from a starting row answers how many rows it has gone, this, or NO_MATCH - status.
NO_MATCH = -1
NO_ROOM = NO_MATCH - layout.MEMO_FULL
UNDECIDED = NO_MATCH - layout.MORE_ROWS

UNKNOWN = -2  # of a state and row nothing has been found out


# What `search_partitions` calls: another function in each kernel that `searching` makes of it.
search_start: Any = None


def searching(search_start: Any) -> Any:
    """The kernel of a search, of a part that searches from progress.start on and sets the next
    starting row and answers DONE, or answers another status.
    """
    return kernel_with(search_partitions, "search_start", search_start)


def search_partitions(
    rules: Rules, rows: RowArrays, work: Work, first_hook: Hook, second_hook: Hook
) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    progress = work.progress
    partitions = rows.starts.shape[0] - 1
    while progress.partition < partitions:
        if progress.partition >= 0:
            until = progress.until
            status = np.int64(layout.DONE)
            while status == layout.DONE:
                if rows.begins.shape[0] > 0:
                    pass_over(rows.begins, until, progress)
                if progress.start >= until:
                    break
                status = np.int64(search_start(rules, rows, work, first_hook, second_hook))
            if status != layout.DONE and status != layout.MORE_ROWS:
                return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
    return layout.DONE


@spliced
def pass_over(begins: BoolArray, until: int, progress: Progress) -> None:
    """Go on to the first starting row with which a match may begin: one whose search has not ended
    is such a row.
    """
    start = progress.start
    while start < until and not begins[start]:
        start += 1
    progress.start = start


@inner
def go_to_next_partition(starts: IntArray, frontier: Frontier, progress: Progress) -> None:
    """Note how far the search of a partition has come, and go on to the next one, if any."""
    number = progress.partition
    if number >= 0:
        start, until = progress.start, frontier.until[number]
        frontier.start[number] = start if start < until else until
        frontier.number[number] = progress.number
        frontier.steps[number] = progress.step_count
        progress.count = progress.count if progress.goes_on != 0 else 0
    number += 1
    progress.partition = number
    if number == starts.shape[0] - 1:
        return
    start, edge = frontier.start[number], frontier.edge[number]
    progress.lower = starts[number]
    progress.upper = starts[number + 1] + int(edge <= starts[number + 1])
    progress.edge = edge
    progress.until = min(frontier.until[number], edge)
    progress.number = frontier.number[number]
    begin_at(start, progress)
    progress.step_count = frontier.steps[number]
    forget(start, progress)
    progress.horizon = start


@spliced
def begin_at(row: int, progress: Progress) -> None:
    """Set the next starting row: none where as many matches are found as are sought."""
    is_enough = progress.number >= progress.match_limit
    progress.start = layout.NO_LIMIT if is_enough else row


@spliced
def go_on_without(answer: int, progress: Progress) -> int:
    """Status of a search that answered less than a length; without a match, the next row starts."""
    if answer == NO_MATCH:
        progress.start += 1
        return layout.DONE
    return NO_MATCH - answer


@spliced
def write_path(length: int, rules: Rules, work: Work) -> int:
    """Write out the match in `path`, as `finish_match`: DONE, OUTPUT_FULL or a failure."""
    path, taken, progress = work.path, work.output.taken, work.progress
    if not has_room(length, work.output, progress):
        return layout.OUTPUT_FULL
    mapped = progress.mapped
    for index in range(length):
        taken[mapped + index] = path[index]
    return finish_match(progress.start, length, rules, work.output, progress, None)


@spliced
def has_room(length: int, output: FoundArrays, progress: Progress) -> bool:
    """Whether one more match of so many rows fits into the output; if not, what does is noted."""
    needed = progress.mapped + length
    if progress.matches < output.found.shape[1] - 1 and needed <= output.taken.shape[-1]:
        return True
    progress.needed = needed
    return False


@spliced
def finish_match(
    start: int, length: int, rules: Rules, output: FoundArrays, progress: Progress, rows: Hook
) -> int:
    """Add the match whose choices end the output, and skip, as `skip_match`: DONE or a failure."""
    begin = progress.mapped
    progress.mapped = begin + length
    add_match(output.found, progress, start, length)
    return skip_match(output.taken[begin : begin + length], start, rows, rules, progress)


@spliced
def add_match(found: IntArray, progress: Progress, start: int, length: int) -> None:
    match = progress.matches
    progress.number += 1
    found[layout.FOUND_PARTITION, match] = progress.partition
    found[layout.FOUND_NUMBER, match] = progress.number
    found[layout.FOUND_START, match] = start
    found[layout.FOUND_OFFSET, match + 1] = found[layout.FOUND_OFFSET, match] + length
    progress.matches = match + 1


@inlined
def note(known: ChoiceArray, progress: Progress, state: int, row: int, what: int) -> None:
    """Note in a ring what a state and row lead to; rows that are new are unknown but for that."""
    size, states = known.shape
    if row >= progress.memo_to:
        for new in range(max(progress.memo_to, progress.start), row + 1):
            for other in range(states):
                known[new & (size - 1), other] = UNKNOWN
        progress.memo_to = row + 1
    known[row & (size - 1), state] = what


@spliced
def begin_start(window_end: IntArray, progress: Progress) -> int:
    """The row before which a match ends that starts now; forget what held in another window."""
    start = progress.start
    bound = end_of_window(window_end, start, progress)
    if bound != progress.memo_window:
        forget(start, progress)
        progress.memo_window = bound
    return bound


# Where the search goes on after a match, by two numbers that say what a skip strategy is.
#
# The search goes on `past` rows after the first or the last target. A target is a row of the match:
# any row, or where the strategy names a variable one that is mapped to it.
#
#     strategy         backwards  past  targets
#     TO NEXT ROW      False      1     all rows
#     PAST LAST ROW    True       1     all rows
#     TO FIRST v       False      0     rows mapped to v
#     TO LAST v        True       0     rows mapped to v
#
# A strategy of this form needs nothing here. Any other one is a branch of `next_start`, and of
# `distance_to_next_start`, which says the same row by row for matches that share their rows.
#
# Source: ISO/IEC 19075-5, AFTER MATCH SKIP; Flink CEP, "After Match Skip Strategy".

NO_ROW = -1  # where the search goes on if the match has no target


@spliced
def next_start(skip: SkipRule, is_target: Any, mapped: Any, start: int, rows: Hook) -> int:
    """The row from which the search goes on after a match, NO_ROW where the match has no target.

    mapped: int[k], the choice or the variable by which each row is mapped. is_target: bool or int
    array, whether rows mapped by each of these are targets. start: the match's starting row. rows:
    int64[k], positions of the rows, None where they follow the starting row without a gap.
    """
    length = mapped.shape[0]
    if length == 0:
        return start + 1
    index = length - 1 if skip.backwards else 0
    step = -1 if skip.backwards else 1
    while 0 <= index < length and not is_target[mapped[index]]:
        index += step
    if index < 0 or index == length:
        return NO_ROW
    row = start + index if rows is None else rows[index]
    return int(row + skip.past)


@inlined
def distance_to_next_start(skip: SkipRule, is_target: bool, rest: int) -> int:
    """How many rows after a row the search goes on, if `rest` rows after the next; or NO_ROW."""
    if is_target and (rest == NO_ROW or not skip.backwards):
        return skip.past
    return rest if rest == NO_ROW else rest + 1


@spliced
def skip_match(mapped: Any, start: int, rows: Hook, rules: Rules, progress: Progress) -> int:
    """AFTER MATCH SKIP, arguments as of `next_start`: set the next starting row, or a failure."""
    is_target = rules.program[:, layout.IS_TARGET]
    row = next_start(rules.skip, is_target, mapped, start, rows)
    if rules.forgets:
        forget(row, progress)
    return go_on_from(row, start, progress)


@spliced
def go_on_from(row: int, start: int, progress: Progress) -> int:
    """Set the next starting row after the match that starts at `start`: DONE or a failure."""
    if row > start:
        begin_at(row, progress)
        return layout.DONE
    progress.row = start
    return layout.SKIP_TO_NO_ROW if row == NO_ROW else layout.SKIP_TO_FIRST_ROW


@kernel
def next_starts(
    skip: SkipRule,
    is_target: BoolArray,
    start: IntArray,
    offsets: IntArray,
    mapped: Any,
    rows: Any,
    found: IntArray,
) -> None:
    """Fill `found` with the `next_start` of each match; arrays as in `matches.Matches`."""
    for match in range(start.shape[0]):
        begin, end = offsets[match], offsets[match + 1]
        own = mapped[begin:end]
        if rows is None:
            found[match] = next_start(skip, is_target, own, start[match], None)
        else:
            found[match] = next_start(skip, is_target, own, start[match], rows[begin:end])
