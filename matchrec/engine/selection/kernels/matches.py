"""What both algorithms do with a finished match: test it as a whole, and write it out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ChoiceArray, Partition
from matchrec.engine.kernels.mapping import input_of
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.layout import Found, Rows, Rules, Work
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.evaluate.kernels.conditions import holds
from matchrec.jit.decorators import inlined, inner, kernel, spliced

Values = npt.NDArray[np.generic]

# For what is asked less often than whether a row may be mapped.
holds_apart = inner(holds.py_func)  # type: ignore[attr-defined]


@spliced
def closes(row: int, place: int, partition: Partition, rules: Rules, rows: Rows, work: Work) -> int:
    """Whether the run at `place`, whose last row is `row`, is a match: HOLDS or another answer."""
    closing = rules.closing
    if closing.shape[0] == 0:
        return HOLDS
    mask = closing[0, own.CLOSING_MASK]
    if rows.satisfied[row, closing[0, own.CLOSING_WORD]] & mask != mask:
        return HOLDS_NOT
    code = Code(closing[0, own.CLOSING_CODE], closing[0, own.CLOSING_CODE_END])
    return evaluate(code, place, row, partition, rules, rows, work)


class Code(NamedTuple):
    """The instructions begin .. end - 1."""

    begin: int
    end: int


@spliced
def evaluate(
    code: Code, place: int, row: int, partition: Partition, rules: Rules, rows: Rows, work: Work
) -> int:
    """The answer of a condition on the registers at `place`: HOLDS, HOLDS_NOT or an error."""
    source = input_of(partition, rows, work)
    begin, end, registers = code.begin, code.end, work.registers
    answer = holds_apart(rules.instructions, begin, end, registers, place, row, source, work.stack)
    return int(answer)


@spliced
def lacks_absent(
    first: int, length: int, place: int, partition: Partition, rules: Rules, rows: Rows, work: Work
) -> int:
    """Whether nothing is there that must not be: HOLDS or another answer.

    The match is in `path` from column `first` on, its registers are at `place`.
    """
    for index in range(rules.absent.shape[0]):
        begin, end = enclosed_rows(index, first, length, partition.lower, rules, rows, work)
        if begin >= end:
            continue
        code = Code(rules.absent[index, own.ABSENT_CODE], rules.absent[index, own.ABSENT_CODE_END])
        row = rows.following[index, begin]
        while row < end:
            answer = evaluate(code, place, row, partition, rules, rows, work)
            if answer != HOLDS_NOT:
                return HOLDS_NOT if answer == HOLDS else answer
            row = rows.following[index, row + 1]
    return HOLDS


@inner
def enclosed_rows(
    index: int, first: int, length: int, lower: int, rules: Rules, rows: Rows, work: Work
) -> tuple[int, int]:
    """The rows among which an absence is looked for: the first, and the one after the last."""
    path, kind = work.path, rules.absent[index, own.KIND]
    last = first + length - 1
    if kind == own.AT_THE_END:
        return path[own.ROWS, last] + 1, rows.window_end[path[own.ROWS, first]]
    if kind == own.AT_THE_BEGINNING:
        end = path[own.ROWS, first]
        return first_with_window(rows.window_end, lower, end, path[own.ROWS, last]), end
    members, choices = rules.members, path[own.CHOICES]
    at = last
    while at >= first and not members[index, 0, rules.program[choices[at], layout.VARIABLE]]:
        at -= 1
    after = at
    at += 1
    while at <= last and not members[index, 1, rules.program[choices[at], layout.VARIABLE]]:
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
    """Make the match in `path` the best one if it starts earlier, or its rows come earlier."""
    best_length = progress[own.BEST_LENGTH]
    if progress[layout.BEST_START] < 0 or comes_before(path, first, length, best_length):
        keep(first, length, path, progress)


@inner
def keep(first: int, length: int, path: IntArray, progress: IntArray) -> None:
    """Make the match in `path` the best one."""
    progress[layout.BEST_START] = path[own.ROWS, first]
    progress[own.BEST_LENGTH] = length
    copy(path[own.ROWS, first : first + length], path[own.BEST_ROWS, :length])
    copy(path[own.CHOICES, first : first + length], path[own.BEST_CHOICES, :length])


@inner
def comes_before(path: IntArray, first: int, length: int, best_length: int) -> bool:
    """Whether a match is lexicographically less than the best one by its row positions."""
    index = 0
    while index < length and index < best_length:
        if path[own.ROWS, first + index] != path[own.BEST_ROWS, index]:
            return bool(path[own.ROWS, first + index] < path[own.BEST_ROWS, index])
        index += 1
    return length < best_length


@inner
def write_path(length: int, path: IntArray, progress: IntArray, output: Found) -> int:
    """Add the match in `path` to the output; DONE or OUTPUT_FULL."""
    return write_match(path[own.ROWS, :length], path[own.CHOICES, :length], progress, output)


@spliced
def write_best(path: IntArray, progress: IntArray, output: Found) -> int:
    """Add the best match so far to the output; DONE or OUTPUT_FULL."""
    length = progress[own.BEST_LENGTH]
    rows, choices = path[own.BEST_ROWS, :length], path[own.BEST_CHOICES, :length]
    return write_match(rows, choices, progress, output)


@inner
def write_match(rows: IntArray, choices: IntArray, progress: IntArray, output: Found) -> int:
    """Add a match to the output; DONE or OUTPUT_FULL."""
    length = rows.shape[0]
    match, mapped = progress[layout.MATCHES], progress[layout.MAPPED]
    if match == output.found.shape[1] - 1 or mapped + length > output.rows.shape[0]:
        progress[layout.NEEDED] = mapped + length
        return layout.OUTPUT_FULL
    copy(rows, output.rows[mapped : mapped + length])
    copy(choices, output.taken[mapped : mapped + length])
    output.found[layout.FOUND_PARTITION, match] = progress[layout.PARTITION]
    output.found[layout.FOUND_START, match] = rows[0] if length > 0 else progress[layout.START]
    output.found[layout.FOUND_OFFSET, match + 1] = mapped + length
    output.found[own.FOUND_COMPLETED, match] = progress[own.COMPLETED]
    output.found[own.FOUND_KIND, match] = progress[own.MATCH_KIND]
    progress[layout.MATCHES] = match + 1
    progress[layout.NUMBER] += 1
    progress[layout.MAPPED] = mapped + length
    return layout.DONE


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
