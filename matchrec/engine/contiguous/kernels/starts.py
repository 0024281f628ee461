"""What every search does around a match: go from partition to partition and write matches out."""

from typing import Any

import numpy as np

from matchrec.engine.contiguous.kernels.coverage_layout import CoverageWork
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import (
    AnyWork,
    ChoiceArray,
    DistanceWork,
    Found,
    Partition,
    PathWork,
    Rows,
    Rules,
    RunArray,
    SkipRule,
)
from matchrec.engine.kernels.next_start import go_on_from, next_start
from matchrec.engine.partitions import NO_EDGE, IntArray
from matchrec.jit.decorators import inlined, inner, spliced
from matchrec.nfa.closure import GUARD_END, GUARD_START

# A search from a starting row answers how many rows it has gone, this, or NO_MATCH - status.
NO_MATCH = -1
NO_ROOM = NO_MATCH - layout.MEMO_FULL
UNDECIDED = NO_MATCH - layout.MORE_ROWS

UNKNOWN = -2  # of a state and row nothing has been found out


@spliced
def search_partitions(
    search_start: Any,
    rules: Rules,
    rows: Rows,
    work: AnyWork | CoverageWork,
    output: Found,
    registers: RunArray,
) -> int:
    """Search from `progress` on until all is done or something is full; return the status.

    search_start: a compiled function that searches from progress[START] on and either sets the next
    starting row and answers DONE, or answers another status.
    """
    progress = work.progress
    partitions = rows.starts.shape[0] - 1
    while progress[layout.PARTITION] < partitions:
        if progress[layout.PARTITION] >= 0:
            partition = partition_at(rows, progress)
            status = np.int64(layout.DONE)
            while status == layout.DONE and progress[layout.START] < partition.until:
                status = np.int64(search_start(partition, rules, rows, work, output, registers))
            if status != layout.DONE and status != layout.MORE_ROWS:
                return int(status)
        go_to_next_partition(rows.frontier, progress)
    return layout.DONE


@spliced
def partition_at(rows: Rows, progress: IntArray) -> Partition:
    """The partition that is searched."""
    number = progress[layout.PARTITION]
    edge = rows.frontier[layout.FRONTIER_EDGE, number]
    until = rows.frontier[layout.FRONTIER_UNTIL, number]
    return Partition(rows.starts[number], rows.starts[number + 1], edge, until)


@spliced
def whole_partition(starts: IntArray, progress: IntArray) -> Partition:
    """The partition that is searched, of which all rows are here and may begin a match."""
    number = progress[layout.PARTITION]
    lower, upper = starts[number], starts[number + 1]
    return Partition(lower, upper, np.int64(NO_EDGE), upper)


@inner
def go_to_next_partition(frontier: IntArray, progress: IntArray) -> None:
    """Note how far the search of a partition has come, and go on to the next one, if any.

    A search that follows all runs at once counts the rows that it has looked at.
    """
    number = progress[layout.PARTITION]
    if number >= 0:
        start, until = progress[layout.START], frontier[layout.FRONTIER_UNTIL, number]
        frontier[layout.FRONTIER_START, number] = start if start < until else until
        frontier[layout.FRONTIER_NUMBER, number] = progress[layout.NUMBER]
        frontier[layout.FRONTIER_STEPS, number] = progress[layout.STEP_COUNT]
    number += 1
    progress[layout.PARTITION] = number
    if number == frontier.shape[1]:
        return
    start = frontier[layout.FRONTIER_START, number]
    progress[layout.START] = start
    progress[layout.NUMBER] = frontier[layout.FRONTIER_NUMBER, number]
    progress[layout.STEP_COUNT] = frontier[layout.FRONTIER_STEPS, number]
    progress[layout.MEMO_FROM] = start
    progress[layout.MEMO_TO] = start
    progress[layout.HORIZON] = start


@spliced
def go_on_without(answer: int, progress: IntArray) -> int:
    """Status of a search that answered less than a length; without a match, the next row starts."""
    if answer == NO_MATCH:
        progress[layout.START] += 1
        return layout.DONE
    return NO_MATCH - answer


@spliced
def write_path(
    length: int, rules: Rules, work: PathWork | DistanceWork | CoverageWork, output: Found
) -> int:
    """Write out the match that `path` leads through from the starting row on, as `finish_match`.

    DONE, OUTPUT_FULL or a failure.
    """
    path, taken, progress = work.path, output.taken, work.progress
    start = progress[layout.START]
    if not has_room(output.found, taken, progress, length):
        progress[layout.NEEDED] = length
        return layout.OUTPUT_FULL
    mapped = progress[layout.MAPPED]
    for index in range(length):
        taken[mapped + index] = path[index]
    is_target = rules.program[:, layout.IS_TARGET]
    skip, forgets, found = rules.skip, rules.forgets, output.found
    return finish_match(skip, is_target, forgets, found, taken, progress, start, length)


@spliced
def has_room(found: IntArray, taken: ChoiceArray, progress: IntArray, length: int) -> bool:
    """Whether one more match of `length` rows fits into the output."""
    return bool(
        progress[layout.MATCHES] < found.shape[1] - 1
        and progress[layout.MAPPED] + length <= taken.shape[0]
    )


@inner
def finish_match(
    skip: SkipRule,
    is_target: IntArray,
    forgets: bool,
    found: IntArray,
    taken: ChoiceArray,
    progress: IntArray,
    start: int,
    length: int,
) -> int:
    """Count the match whose choices are at the end of the output; set the next starting row."""
    begin = progress[layout.MAPPED]
    progress[layout.MAPPED] = begin + length
    mapped = taken[begin : begin + length]
    row = next_start(skip, is_target, mapped, start, None)
    if forgets:
        progress[layout.MEMO_FROM] = row
        progress[layout.MEMO_TO] = row
    return count_match(found, progress, start, length, row)


@spliced
def count_match(found: IntArray, progress: IntArray, start: int, length: int, row: int) -> int:
    """Count a match of `length` rows; go on from `row`: DONE or a failure."""
    match = progress[layout.MATCHES]
    progress[layout.NUMBER] += 1
    found[layout.FOUND_PARTITION, match] = progress[layout.PARTITION]
    found[layout.FOUND_NUMBER, match] = progress[layout.NUMBER]
    found[layout.FOUND_START, match] = start
    found[layout.FOUND_OFFSET, match + 1] = found[layout.FOUND_OFFSET, match] + length
    progress[layout.MATCHES] = match + 1
    return go_on_from(row, start, progress)


@inlined
def note(known: ChoiceArray, progress: IntArray, state: int, row: int, what: int) -> None:
    """Note in a ring what a state and row lead to; rows that are new are unknown but for that."""
    size, states = known.shape
    if row >= progress[layout.MEMO_TO]:
        for new in range(max(progress[layout.MEMO_TO], progress[layout.START]), row + 1):
            for other in range(states):
                known[new & (size - 1), other] = UNKNOWN
        progress[layout.MEMO_TO] = row + 1
    known[row & (size - 1), state] = what


@spliced
def end_of_window(window_end: IntArray, start: int, upper: int) -> int:
    """The row before which a match ends that starts at `start`."""
    return upper if window_end.shape[0] == 0 else window_end[start]


@spliced
def begin_start(rows: Rows, partition: Partition, progress: IntArray) -> int:
    """The row before which a match ends that starts at progress[START].

    What has been found out in a window with another end is forgotten.
    """
    start = progress[layout.START]
    bound = end_of_window(rows.window_end, start, partition.upper)
    if bound != progress[layout.MEMO_WINDOW]:
        progress[layout.MEMO_FROM] = start
        progress[layout.MEMO_TO] = start
        progress[layout.MEMO_WINDOW] = bound
    return bound


@spliced
def is_anchored(guard: int, row: int, lower: int, upper: int) -> bool:
    """Whether the anchors in `guard` hold before `row` of the partition lower .. upper - 1."""
    if guard & GUARD_START and row != lower:
        return False
    return not (guard & GUARD_END and row != upper)
