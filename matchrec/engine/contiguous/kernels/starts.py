"""What every search does around a match: write it out and find the next starting row."""

import numpy as np

from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ChoiceArray, Found, PathWork, Rules, WindowWork
from matchrec.engine.partitions import IntArray
from matchrec.jit.decorators import inlined, inner
from matchrec.nfa.closure import GUARD_END, GUARD_START


@inner
def next_partition(edge: int, searched: IntArray, progress: IntArray) -> int:
    """Go on to the next partition: DONE; MORE_ROWS where the end of this one is not here."""
    if edge != layout.NO_EDGE:
        return layout.MORE_ROWS
    progress[layout.PARTITION] += 1
    start = searched[0, progress[layout.PARTITION]]
    progress[layout.START] = start
    progress[layout.NUMBER] = 0
    progress[layout.ASKED] = 0
    progress[layout.MEMO_FROM] = start
    progress[layout.MEMO_TO] = start
    progress[layout.HORIZON] = start
    return layout.DONE


@inlined
def write_path(length: int, rules: Rules, work: PathWork | WindowWork, output: Found) -> int:
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
    return finish_match(rules.program, rules.skip_to, output.found, taken, progress, start, length)


@inner
def has_room(found: IntArray, taken: ChoiceArray, progress: IntArray, length: int) -> bool:
    """Whether one more match of `length` rows fits into the output."""
    return bool(
        progress[layout.MATCHES] < found.shape[1] - 1
        and progress[layout.MAPPED] + length <= taken.shape[0]
    )


@inner
def finish_match(
    program: IntArray,
    skip_to: int,
    found: IntArray,
    taken: ChoiceArray,
    progress: IntArray,
    start: int,
    length: int,
) -> int:
    """Count the match whose choices are at the end of the output; set the next starting row."""
    mapped = progress[layout.MAPPED]
    progress[layout.MAPPED] = mapped + length
    target = np.int64(0)
    if skip_to != layout.TO_NEXT_ROW and skip_to != layout.PAST_LAST_ROW:
        target = skip_target(program, skip_to, taken[mapped : mapped + length])
    return finish(skip_to, found, progress, start, length, target)


@inner
def finish(
    skip_to: int, found: IntArray, progress: IntArray, start: int, length: int, target: int
) -> int:
    """Count a match; set the next starting row. target: which of its rows SKIP TO v goes to."""
    match = progress[layout.MATCHES]
    progress[layout.NUMBER] += 1
    found[layout.FOUND_PARTITION, match] = progress[layout.PARTITION]
    found[layout.FOUND_NUMBER, match] = progress[layout.NUMBER]
    found[layout.FOUND_START, match] = start
    found[layout.FOUND_OFFSET, match + 1] = found[layout.FOUND_OFFSET, match] + length
    progress[layout.MATCHES] = match + 1
    if length == 0 or skip_to == layout.TO_NEXT_ROW:
        progress[layout.START] = start + 1
        return layout.DONE
    if skip_to == layout.PAST_LAST_ROW:
        progress[layout.START] = start + length
        return layout.DONE
    progress[layout.ROW] = start
    if target < 0:
        return layout.SKIP_TO_NO_ROW
    if target == 0:
        return layout.SKIP_TO_FIRST_ROW
    progress[layout.START] = start + target
    return layout.DONE


@inner
def skip_target(program: IntArray, skip_to: int, choices: ChoiceArray | IntArray) -> int:
    """Which of a match's rows, mapped by `choices`, SKIP TO FIRST or LAST goes to; -1 for none."""
    index = 0 if skip_to == layout.TO_FIRST else choices.shape[0] - 1
    step = 1 if skip_to == layout.TO_FIRST else -1
    while 0 <= index < choices.shape[0]:
        if program[choices[index], layout.SKIP_HERE] != 0:
            return index
        index += step
    return -1


@inlined
def edge_of(starts: IntArray, progress: IntArray) -> int:
    """From which row on the partition that is searched may not be looked at."""
    is_last = progress[layout.PARTITION] == starts.shape[0] - 2
    return progress[layout.EDGE] if is_last else layout.NO_EDGE


@inlined
def end_of_window(window_end: IntArray, start: int, upper: int) -> int:
    """The row before which a match ends that starts at `start`."""
    return upper if window_end.shape[0] == 0 else window_end[start]


@inlined
def is_anchored(guard: int, row: int, lower: int, upper: int) -> bool:
    """Whether the anchors in `guard` hold before `row`."""
    if guard & GUARD_START and row != lower:
        return False
    return not (guard & GUARD_END and row != upper)
