"""What both algorithms do with a finished match: test it as a whole, and write it out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ChoiceArray
from matchrec.engine.kernels.mapping import OnRun
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.layout import Found, Negation
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.evaluate.kernels.conditions import holds
from matchrec.jit.decorators import inner, kernel, spliced

Values = npt.NDArray[np.generic]

# For what is asked less often than whether a row may be mapped.
holds_apart = inner(holds.py_func)  # type: ignore[attr-defined]


@spliced
def closes(
    row: int, place: int, negation: Negation | None, satisfied: IntArray, on_run: OnRun
) -> int:
    """Whether the run at `place`, whose last row is `row`, is a match: HOLDS or another answer."""
    if negation is None:
        return HOLDS
    closing = negation.closing
    if closing.shape[0] == 0:
        return HOLDS
    mask = closing[0, own.CLOSING_MASK]
    if satisfied[row, closing[0, own.CLOSING_WORD]] & mask != mask:
        return HOLDS_NOT
    code = Code(closing[0, own.CLOSING_CODE], closing[0, own.CLOSING_CODE_END])
    return evaluate(code, place, row, on_run)


class Code(NamedTuple):
    """The instructions begin .. end - 1."""

    begin: int
    end: int


@spliced
def evaluate(code: Code, place: int, row: int, on_run: OnRun) -> int:
    """The answer of a condition on the registers at `place`: HOLDS, HOLDS_NOT or an error."""
    instructions, registers, stack = on_run.instructions, on_run.registers, on_run.stack
    begin, end, given = code.begin, code.end, on_run.given
    return int(holds_apart(instructions, begin, end, registers, place, row, given, stack))


@spliced
def lacks_absent(
    first: int,
    length: int,
    place: int,
    negation: Negation | None,
    program: IntArray,
    window_end: IntArray,
    path: IntArray,
    on_run: OnRun,
) -> int:
    """Whether nothing is there that must not be: HOLDS or another answer.

    The match is in `path` from column `first` on, its registers are at `place`.
    """
    if negation is None:
        return HOLDS
    absent, following, lower = negation.absent, negation.following, on_run.given.lower
    for index in range(absent.shape[0]):
        begin, end = enclosed_rows(index, first, length, lower, negation, program, window_end, path)
        if begin >= end:
            continue
        code = Code(absent[index, own.ABSENT_CODE], absent[index, own.ABSENT_CODE_END])
        row = following[index, begin]
        while row < end:
            answer = evaluate(code, place, row, on_run)
            if answer != HOLDS_NOT:
                return HOLDS_NOT if answer == HOLDS else answer
            row = following[index, row + 1]
    return HOLDS


@inner
def enclosed_rows(
    index: int,
    first: int,
    length: int,
    lower: int,
    negation: Negation,
    program: IntArray,
    window_end: IntArray,
    path: IntArray,
) -> tuple[int, int]:
    """The rows among which an absence is looked for: the first, and the one after the last."""
    members, kind = negation.members, negation.absent[index, own.KIND]
    last = first + length - 1
    if kind == own.AT_THE_END:
        return path[own.ROWS, last] + 1, window_end[path[own.ROWS, first]]
    if kind == own.AT_THE_BEGINNING:
        end = path[own.ROWS, first]
        return first_with_window(window_end, lower, end, path[own.ROWS, last]), end
    choices = path[own.CHOICES]
    at = last
    while at >= first and not members[index, 0, program[choices[at], layout.VARIABLE]]:
        at -= 1
    after = at
    at += 1
    while at <= last and not members[index, 1, program[choices[at], layout.VARIABLE]]:
        at += 1
    if after < first or at > last:
        return 0, 0
    return path[own.ROWS, after] + 1, path[own.ROWS, at]


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
def keep_better(first: int, length: int, path: IntArray, progress: IntArray) -> None:
    """Make the match in `path` the best one, unless one is there whose rows come before its own."""
    best_length = progress[own.BEST_LENGTH]
    if progress[layout.BEST_START] >= 0 and not comes_before(path, first, length, best_length):
        return
    progress[layout.BEST_START] = path[own.ROWS, first]
    progress[own.BEST_LENGTH] = length
    for index in range(length):
        path[own.BEST_ROWS, index] = path[own.ROWS, first + index]
        path[own.BEST_CHOICES, index] = path[own.CHOICES, first + index]


@spliced
def comes_before(path: IntArray, first: int, length: int, best_length: int) -> bool:
    """Whether a match is lexicographically less than the best one by its row positions."""
    index = np.int64(0)
    while index < length and index < best_length:
        if path[own.ROWS, first + index] != path[own.BEST_ROWS, index]:
            return bool(path[own.ROWS, first + index] < path[own.BEST_ROWS, index])
        index += 1
    return length < best_length


@spliced
def write_path(length: int, path: IntArray, progress: IntArray, output: Found) -> int:
    """Add the match in `path` to the output; DONE or OUTPUT_FULL."""
    return write_match(own.ROWS, np.int64(0), length, path, progress, output)


@spliced
def write_best(path: IntArray, progress: IntArray, output: Found) -> int:
    """Add the best match so far to the output; DONE or OUTPUT_FULL."""
    length = progress[own.BEST_LENGTH]
    return write_match(own.BEST_ROWS, np.int64(0), length, path, progress, output)


@inner
def write_match(
    which: int, first: int, length: int, path: IntArray, progress: IntArray, output: Found
) -> int:
    """Add a match to the output; DONE or OUTPUT_FULL.

    which: the row of `path` with its rows, before that with its choices. first: its first column.
    """
    match, mapped = progress[layout.MATCHES], progress[layout.MAPPED]
    if match == output.found.shape[1] - 1 or mapped + length > output.rows.shape[0]:
        progress[layout.NEEDED] = mapped + length
        return layout.OUTPUT_FULL
    rows, choices = path[which, first : first + length], path[which + 1, first : first + length]
    to_rows = output.rows[mapped : mapped + length]
    to_choices = output.taken[mapped : mapped + length]
    for index in range(length):
        to_rows[index] = rows[index]
        to_choices[index] = choices[index]
    output.found[layout.FOUND_PARTITION, match] = progress[layout.PARTITION]
    output.found[layout.FOUND_START, match] = rows[0] if length > 0 else progress[layout.START]
    output.found[layout.FOUND_OFFSET, match + 1] = mapped + length
    output.found[own.FOUND_COMPLETED, match] = progress[own.COMPLETED]
    output.found[own.FOUND_KIND, match] = progress[own.MATCH_KIND]
    progress[layout.MATCHES] = match + 1
    progress[layout.NUMBER] += 1
    progress[layout.MAPPED] = mapped + length
    return layout.DONE


@kernel
def look_up(choices: ChoiceArray, of_choice: Values, target: Values) -> None:
    """Fill `target` with what is known of each choice."""
    for index in range(target.shape[0]):
        target[index] = of_choice[choices[index]]
