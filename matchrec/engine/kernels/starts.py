"""What every search does around a match: write it out and find the next starting row."""

from matchrec.engine.kernels.layout import (
    DONE,
    EDGE,
    FOUND_NUMBER,
    FOUND_OFFSET,
    FOUND_PARTITION,
    FOUND_START,
    MAPPED,
    MATCHES,
    NO_EDGE,
    NUMBER,
    PARTITION,
    PAST_LAST_ROW,
    ROW,
    SKIP_HERE,
    SKIP_TO_FIRST_ROW,
    SKIP_TO_NO_ROW,
    START,
    TO_FIRST,
    TO_NEXT_ROW,
    ChoiceArray,
)
from matchrec.engine.partitions import IntArray
from matchrec.jit.decorators import inlined, inner
from matchrec.nfa.closure import GUARD_END, GUARD_START


@inner
def has_room(found: IntArray, taken: ChoiceArray, progress: IntArray, length: int) -> bool:
    """Whether one more match of `length` rows fits into the output."""
    return bool(
        progress[MATCHES] < found.shape[1] - 1 and progress[MAPPED] + length <= taken.shape[0]
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
    mapped = progress[MAPPED]
    progress[MAPPED] = mapped + length
    target = 0
    if skip_to != TO_NEXT_ROW and skip_to != PAST_LAST_ROW:
        target = skip_target(program, skip_to, taken[mapped : mapped + length])
    return int(finish(skip_to, found, progress, start, length, target))


@inner
def finish(
    skip_to: int, found: IntArray, progress: IntArray, start: int, length: int, target: int
) -> int:
    """Count a match; set the next starting row. target: which of its rows SKIP TO v goes to."""
    match = progress[MATCHES]
    progress[NUMBER] += 1
    found[FOUND_PARTITION, match] = progress[PARTITION]
    found[FOUND_NUMBER, match] = progress[NUMBER]
    found[FOUND_START, match] = start
    found[FOUND_OFFSET, match + 1] = found[FOUND_OFFSET, match] + length
    progress[MATCHES] = match + 1
    if length == 0 or skip_to == TO_NEXT_ROW:
        progress[START] = start + 1
        return DONE
    if skip_to == PAST_LAST_ROW:
        progress[START] = start + length
        return DONE
    progress[ROW] = start
    if target < 0:
        return SKIP_TO_NO_ROW
    if target == 0:
        return SKIP_TO_FIRST_ROW
    progress[START] = start + target
    return DONE


@inner
def skip_target(program: IntArray, skip_to: int, choices: ChoiceArray | IntArray) -> int:
    """Which of a match's rows, mapped by `choices`, SKIP TO FIRST or LAST goes to; -1 for none."""
    index = 0 if skip_to == TO_FIRST else choices.shape[0] - 1
    step = 1 if skip_to == TO_FIRST else -1
    while 0 <= index < choices.shape[0]:
        if program[choices[index], SKIP_HERE] != 0:
            return index
        index += step
    return -1


@inlined
def edge_of(starts: IntArray, progress: IntArray) -> int:
    """From which row on the partition that is searched may not be looked at."""
    return progress[EDGE] if progress[PARTITION] == starts.shape[0] - 2 else NO_EDGE


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
