"""What both engines do with a finished match: its conditions as a whole, and writing it out."""

from matchrec.engine.kernels.layout import (
    BEST_START,
    DONE,
    FOUND_OFFSET,
    FOUND_PARTITION,
    FOUND_START,
    MAPPED,
    MATCHES,
    NEEDED,
    OUTPUT_FULL,
    PARTITION,
    START,
    VARIABLE,
    ChoiceArray,
    RunArray,
)
from matchrec.engine.kernels.selection.layout import (
    ABSENT_CODE,
    ABSENT_CODE_END,
    AT_THE_BEGINNING,
    AT_THE_END,
    BEST_CHOICES,
    BEST_LENGTH,
    BEST_ROWS,
    CHOICES,
    CLOSING_CODE,
    CLOSING_CODE_END,
    CLOSING_MASK,
    CLOSING_WORD,
    KIND,
    ROWS,
)
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.evaluate.jit import inner
from matchrec.evaluate.kernels import holds


@inner
def closes(
    row: int,
    place: int,
    satisfied: IntArray,
    closing: IntArray,
    lower: int,
    upper: int,
    instructions: RunArray,
    registers: RunArray,
    columns: RunArray,
    valid: RunArray,
    stack: RunArray,
) -> int:
    """Whether the run at `place`, whose last row is `row`, is a match: HOLDS or another answer."""
    if closing.shape[0] == 0:
        return HOLDS
    mask = closing[0, CLOSING_MASK]
    if satisfied[row, closing[0, CLOSING_WORD]] & mask != mask:
        return HOLDS_NOT
    if registers is None:
        return HOLDS
    return holds(
        instructions,
        closing[0, CLOSING_CODE],
        closing[0, CLOSING_CODE_END],
        registers,
        place,
        row,
        lower,
        upper,
        columns,
        valid,
        stack,
    )


@inner
def lacks_absent(
    path: IntArray,
    first: int,
    length: int,
    place: int,
    program: IntArray,
    window_end: RunArray,
    absent: IntArray,
    members: BoolArray,
    following: IntArray,
    lower: int,
    upper: int,
    instructions: RunArray,
    registers: RunArray,
    columns: RunArray,
    valid: RunArray,
    stack: RunArray,
) -> int:
    """Whether nothing is there that must not be: HOLDS or another answer.

    The match is in `path` from column `first` on, its registers are at `place`.
    """
    last_row = path[ROWS, first + length - 1]
    for index in range(absent.shape[0]):
        kind = absent[index, KIND]
        begin, end = lower, upper
        if kind == AT_THE_END:
            begin = last_row + 1
            if window_end is not None:
                end = window_end[path[ROWS, first]]
        elif kind == AT_THE_BEGINNING:
            end = path[ROWS, first]
            if window_end is not None:
                begin = first_with_window(window_end, lower, end, last_row)
        else:
            at = first + length - 1
            while at >= first and not members[index, 0, program[path[CHOICES, at], VARIABLE]]:
                at -= 1
            after = at
            at += 1
            while (
                at < first + length and not members[index, 1, program[path[CHOICES, at], VARIABLE]]
            ):
                at += 1
            if after < first or at == first + length:
                continue
            begin, end = path[ROWS, after] + 1, path[ROWS, at]
        if begin >= end:
            continue
        row = following[index, begin]
        while row < end:
            code, code_end = absent[index, ABSENT_CODE], absent[index, ABSENT_CODE_END]
            if registers is None or code == code_end:
                return HOLDS_NOT
            answer = holds(
                instructions,
                code,
                code_end,
                registers,
                place,
                row,
                lower,
                upper,
                columns,
                valid,
                stack,
            )
            if answer != HOLDS_NOT:
                return HOLDS_NOT if answer == HOLDS else answer
            row = following[index, row + 1]
    return HOLDS


@inner
def first_with_window(window_end: IntArray, begin: int, end: int, row: int) -> int:
    """The first of the rows begin .. end - 1 whose window holds `row`, else `end`."""
    while begin < end:
        middle = (begin + end) // 2
        if window_end[middle] > row:
            end = middle
        else:
            begin = middle + 1
    return end


@inner
def keep_better(path: IntArray, first: int, length: int, progress: IntArray) -> None:
    """Make the match in `path` the best one if it starts earlier, or its rows come earlier."""
    if progress[BEST_START] >= 0 and not comes_before(path, first, length, progress[BEST_LENGTH]):
        return
    progress[BEST_START] = path[ROWS, first]
    progress[BEST_LENGTH] = length
    for index in range(length):
        path[BEST_ROWS, index] = path[ROWS, first + index]
        path[BEST_CHOICES, index] = path[CHOICES, first + index]


@inner
def comes_before(path: IntArray, first: int, length: int, best_length: int) -> bool:
    """Whether a match is lexicographically less than the best one by its row positions."""
    index = 0
    while index < length and index < best_length:
        if path[ROWS, first + index] != path[BEST_ROWS, index]:
            return bool(path[ROWS, first + index] < path[BEST_ROWS, index])
        index += 1
    return length < best_length


@inner
def write_match(
    path: IntArray,
    rows: int,
    first: int,
    length: int,
    found: IntArray,
    taken: ChoiceArray,
    taken_rows: IntArray,
    progress: IntArray,
) -> int:
    """Add the match in rows `rows` and `rows + 1` of `path` to the output; DONE or OUTPUT_FULL."""
    match, mapped = progress[MATCHES], progress[MAPPED]
    if match == found.shape[1] - 1 or mapped + length > taken.shape[0]:
        progress[NEEDED] = mapped + length
        return OUTPUT_FULL
    for index in range(length):
        taken_rows[mapped + index] = path[rows, first + index]
        taken[mapped + index] = path[rows + 1, first + index]
    found[FOUND_PARTITION, match] = progress[PARTITION]
    found[FOUND_START, match] = path[rows, first] if length > 0 else progress[START]
    found[FOUND_OFFSET, match + 1] = mapped + length
    progress[MATCHES] = match + 1
    progress[MAPPED] = mapped + length
    return DONE
