"""What both engines do with a finished match: its conditions as a whole, and writing it out."""

import numpy as np
import numpy.typing as npt

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
)
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels.layout import (
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
    COMPLETED,
    FOUND_COMPLETED,
    FOUND_KIND,
    KIND,
    MATCH_KIND,
    ROWS,
    Found,
    Rows,
    Rules,
    Work,
)
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.evaluate.kernels import Input, holds
from matchrec.jit.decorators import inlined, inner, kernel

Values = npt.NDArray[np.generic]


@inner
def closes(
    row: int, place: int, lower: int, upper: int, rules: Rules, rows: Rows, work: Work
) -> int:
    """Whether the run at `place`, whose last row is `row`, is a match: HOLDS or another answer."""
    closing = rules.closing
    if closing.shape[0] == 0:
        return HOLDS
    mask = closing[0, CLOSING_MASK]
    if rows.satisfied[row, closing[0, CLOSING_WORD]] & mask != mask:
        return HOLDS_NOT
    begin, end = closing[0, CLOSING_CODE], closing[0, CLOSING_CODE_END]
    return evaluated(begin, end, place, row, lower, upper, rules, rows, work)


@inner
def evaluated(
    begin: int,
    end: int,
    place: int,
    row: int,
    lower: int,
    upper: int,
    rules: Rules,
    rows: Rows,
    work: Work,
) -> int:
    """The answer of the code begin .. end on the registers at `place`."""
    given = Input(rows.columns, rows.valid, lower, upper)
    return holds(rules.instructions, begin, end, work.registers, place, row, given, work.stack)


@inner
def lacks_absent(
    first: int,
    length: int,
    place: int,
    lower: int,
    upper: int,
    rules: Rules,
    rows: Rows,
    work: Work,
) -> int:
    """Whether nothing is there that must not be: HOLDS or another answer.

    The match is in `path` from column `first` on, its registers are at `place`.
    """
    for index in range(rules.absent.shape[0]):
        begin, end = enclosed(index, first, length, lower, rules, rows, work)
        if begin >= end:
            continue
        code, code_end = rules.absent[index, ABSENT_CODE], rules.absent[index, ABSENT_CODE_END]
        row = rows.following[index, begin]
        while row < end:
            answer = evaluated(code, code_end, place, row, lower, upper, rules, rows, work)
            if answer != HOLDS_NOT:
                return HOLDS_NOT if answer == HOLDS else answer
            row = rows.following[index, row + 1]
    return HOLDS


@inner
def enclosed(
    index: int, first: int, length: int, lower: int, rules: Rules, rows: Rows, work: Work
) -> tuple[int, int]:
    """The rows, first and behind the last, in which an absence is looked for."""
    path, kind = work.path, rules.absent[index, KIND]
    last = first + length - 1
    if kind == AT_THE_END:
        return path[ROWS, last] + 1, rows.window_end[path[ROWS, first]]
    if kind == AT_THE_BEGINNING:
        end = path[ROWS, first]
        return first_with_window(rows.window_end, lower, end, path[ROWS, last]), end
    at = last
    while at >= first and not rules.members[index, 0, rules.program[path[CHOICES, at], VARIABLE]]:
        at -= 1
    after = at
    at += 1
    while at <= last and not rules.members[index, 1, rules.program[path[CHOICES, at], VARIABLE]]:
        at += 1
    if after < first or at > last:
        return 0, 0
    return path[ROWS, after] + 1, path[ROWS, at]


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
def keep_better(first: int, length: int, work: Work) -> None:
    """Make the match in `path` the best one if it starts earlier, or its rows come earlier."""
    path, progress = work.path, work.progress
    if progress[BEST_START] >= 0 and not comes_before(path, first, length, progress[BEST_LENGTH]):
        return
    keep(first, length, work)


@inner
def keep(first: int, length: int, work: Work) -> None:
    """Make the match in `path` the best one."""
    path = work.path
    work.progress[BEST_START] = path[ROWS, first]
    work.progress[BEST_LENGTH] = length
    copy(path[ROWS, first : first + length], path[BEST_ROWS, :length])
    copy(path[CHOICES, first : first + length], path[BEST_CHOICES, :length])


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
def write_path(length: int, work: Work, output: Found) -> int:
    """Add the match in `path` to the output; DONE or OUTPUT_FULL."""
    return write_match(work.path[ROWS, :length], work.path[CHOICES, :length], work, output)


@inner
def write_best(work: Work, output: Found) -> int:
    """Add the best match so far to the output; DONE or OUTPUT_FULL."""
    path, length = work.path, work.progress[BEST_LENGTH]
    return write_match(path[BEST_ROWS, :length], path[BEST_CHOICES, :length], work, output)


@inner
def write_match(rows: IntArray, choices: IntArray, work: Work, output: Found) -> int:
    """Add a match to the output; DONE or OUTPUT_FULL."""
    progress, length = work.progress, rows.shape[0]
    match, mapped = progress[MATCHES], progress[MAPPED]
    if match == output.found.shape[1] - 1 or mapped + length > output.rows.shape[0]:
        progress[NEEDED] = mapped + length
        return OUTPUT_FULL
    copy(rows, output.rows[mapped : mapped + length])
    copy(choices, output.taken[mapped : mapped + length])
    output.found[FOUND_PARTITION, match] = progress[PARTITION]
    output.found[FOUND_START, match] = rows[0] if length > 0 else progress[START]
    output.found[FOUND_OFFSET, match + 1] = mapped + length
    output.found[FOUND_COMPLETED, match] = progress[COMPLETED]
    output.found[FOUND_KIND, match] = progress[MATCH_KIND]
    progress[MATCHES] = match + 1
    progress[MAPPED] = mapped + length
    return DONE


@inlined
def copy(source: IntArray, target: IntArray | ChoiceArray) -> None:
    """Fill one array from another: a loop without an index to check becomes vector moves."""
    for index in range(target.shape[0]):
        target[index] = source[index]


@kernel
def look_up(choices: ChoiceArray, of_choice: Values, target: Values) -> None:
    """Fill `target` with what is known of each choice."""
    for index in range(target.shape[0]):
        target[index] = of_choice[choices[index]]
