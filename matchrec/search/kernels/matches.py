"""What is done with a finished match: it is tested as a whole, and written out.

The match is in `path`, from which it is tested and written. A search of one run at a time has its
run there. A search of all runs at once unwinds its matches from the shared buffer to it, one by
one.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from matchrec.automaton.program import A_MATCH
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.conditions.evaluate.kernels.machine import holds
from matchrec.jit.decorators import inner, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import (
    BestMatch,
    Completion,
    NegationArrays,
    OutputArrays,
    RowArrays,
    Rules,
    RunConditions,
)
from matchrec.search.kernels.mapping import is_anchored, note_failure
from matchrec.search.kernels.starts import add_match, has_room
from matchrec.search.partitions import IntArray

FORBIDDEN = -1  # `is_match`: it would be a match, but a test of it as a whole fails

# For conditions that are evaluated less often than those on mapping a row: compiled once, not at
# each call.
holds_apart = inner(holds.py_func)  # type: ignore[attr-defined]


@spliced
def satisfies_closing(
    row: int, slot: int, negation: NegationArrays, satisfied: IntArray, conditions: RunConditions
) -> int:
    """Return whether the run in `slot`, whose last row is `row`, satisfies the closing condition.

    HOLDS, HOLDS_NOT or an error.
    """
    closing = negation.closing
    if closing.shape[0] == 0:
        return HOLDS
    mask = closing[0, layout.CLOSING_MASK]
    if satisfied[row, closing[0, layout.CLOSING_WORD]] & mask != mask:
        return HOLDS_NOT
    begin, end = closing[0, layout.CLOSING_CODE], closing[0, layout.CLOSING_CODE_END]
    return evaluate_code(begin, end, slot, row, conditions)


@spliced
def evaluate_code(begin: int, end: int, slot: int, row: int, conditions: RunConditions) -> int:
    """Run the instructions begin .. end - 1 on a slot: HOLDS, HOLDS_NOT or an error."""
    instructions, stack = conditions.instructions, conditions.stack
    registers, machine_input = conditions.registers[slot], conditions.machine_input
    return int(holds_apart(instructions, begin, end, registers, row, machine_input, stack))


@spliced
def lacks_absent(
    first: int,
    length: int,
    slot: int,
    negation: NegationArrays,
    program: IntArray,
    window_end: IntArray,
    path: IntArray,
    lower: int,
    conditions: RunConditions,
) -> int:
    """Return whether a match satisfies all negations: HOLDS, HOLDS_NOT or an error.

    The match is in `path` from column `first` on, its registers are in `slot`. Negations before and
    after the match read only its first and its last row. `lower` is the first row of the partition.
    """
    absent, following = negation.absent, negation.following
    for index in range(absent.shape[0]):
        code, code_end = absent[index, layout.ABSENT_CODE], absent[index, layout.ABSENT_CODE_END]
        begin, end = enclosed_rows(index, first, length, lower, negation, program, window_end, path)
        row = following[index, begin] if begin < end else end
        while row < end:
            answer = evaluate_code(code, code_end, slot, row, conditions)
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
    negation: NegationArrays,
    program: IntArray,
    window_end: IntArray,
    path: IntArray,
) -> tuple[int, int]:
    """Return the rows in which an absence is looked for: the first, and the one after the last.

    For a negation between two rows of the match, the rows lie between the last row of the variables
    before it and the next row of the variables after it. (0, 0) if the match lacks one of the two.
    """
    members, kind = negation.members, negation.absent[index, layout.ABSENT_KIND]
    last = first + length - 1
    start, end = path[layout.PATH_ROWS, first], path[layout.PATH_ROWS, last]
    if kind == layout.AT_THE_END:
        return end + 1, window_end[start]
    if kind == layout.AT_THE_BEGINNING:
        return first_with_window(window_end, lower, start, end), start
    choices = path[layout.PATH_CHOICES]
    index_in_path = last
    while (
        index_in_path >= first
        and not members[index, 0, program[choices[index_in_path], layout.VARIABLE]]
    ):
        index_in_path -= 1
    last_before = index_in_path
    index_in_path += 1
    while (
        index_in_path <= last
        and not members[index, 1, program[choices[index_in_path], layout.VARIABLE]]
    ):
        index_in_path += 1
    if last_before < first or index_in_path > last:
        return 0, 0
    return path[layout.PATH_ROWS, last_before] + 1, path[layout.PATH_ROWS, index_in_path]


@inner
def first_with_window(window_end: IntArray, begin: int, end: int, row: int) -> int:
    """Return the first of the rows begin .. end - 1 whose window contains `row`, or else `end`.

    It is a binary search, because ends of windows never go back.
    """
    while begin < end:
        middle = (begin + end) // 2
        if window_end[middle] > row:
            end = middle
        else:
            begin = middle + 1
    return end


@inner
def keep_better(first: int, length: int, path: IntArray, progress: BestMatch) -> None:
    """Make the match in `path` the best one, unless the best one comes before it.

    See `comes_before`.
    """
    best_length = progress.best_length
    if progress.best_start >= 0 and not comes_before(path, first, length, best_length):
        return
    progress.best_start = path[layout.PATH_ROWS, first]
    progress.best_length = length
    for index in range(length):
        path[layout.PATH_BEST_ROWS, index] = path[layout.PATH_ROWS, first + index]
        path[layout.PATH_BEST_CHOICES, index] = path[layout.PATH_CHOICES, first + index]


@spliced
def comes_before(path: IntArray, first: int, length: int, best_length: int) -> bool:
    """Return whether the match in `path` comes before the best one.

    It does if its row is earlier where they first differ, or if its rows begin the other one.
    """
    index = np.int64(0)
    while index < length and index < best_length:
        if path[layout.PATH_ROWS, first + index] != path[layout.PATH_BEST_ROWS, index]:
            return bool(path[layout.PATH_ROWS, first + index] < path[layout.PATH_BEST_ROWS, index])
        index += 1
    return length < best_length


@inner
def write_match(
    which: int, first: int, length: int, path: IntArray, progress: Completion, output: OutputArrays
) -> int:
    """Add a match to the output; return DONE or OUTPUT_FULL.

    It is in row `which` of `path`, from column `first` on; its choices are in the row after that.
    """
    found, match, mapped = output.found, progress.matches, progress.mapped
    if not has_room(length, output, progress):
        return layout.OUTPUT_FULL
    rows, choices = path[which, first : first + length], path[which + 1, first : first + length]
    to_rows = output.rows[mapped : mapped + length]
    to_choices = output.choices[mapped : mapped + length]
    for index in range(length):
        to_rows[index] = rows[index]
        to_choices[index] = choices[index]
    add_match(found, progress, rows[0] if length > 0 else progress.start, length)
    found[layout.FOUND_COMPLETED, match] = progress.completed
    found[layout.FOUND_KIND, match] = progress.match_kind
    progress.mapped = mapped + length
    return layout.DONE


class SelectionProgress(BestMatch, Completion):
    """The progress of a search with event selection that finished matches read and update."""


class SelectionWork(Protocol):
    """The arrays of a search with event selection that finished matches read and fill."""

    @property
    def progress(self) -> SelectionProgress:
        """The record of how far the search has come."""

    @property
    def output(self) -> OutputArrays:
        """The output."""

    @property
    def path(self) -> IntArray:
        """int64[5, d], the run that is followed, and the best match: see `layout`."""


@spliced
def write_path(which: int, length: int, work: SelectionWork) -> int:
    """Add the match in row `which` of `path` to the output; return DONE or OUTPUT_FULL."""
    return write_match(which, np.int64(0), length, work.path, work.progress, work.output)


@spliced
def write_completed(kind: int, row: int, depth: int, work: SelectionWork) -> int:
    """Write out the path as what `kind` says, complete at a row; DONE or OUTPUT_FULL."""
    work.progress.completed = row
    work.progress.match_kind = kind
    return write_path(layout.PATH_ROWS, depth, work)


@spliced
def is_match(
    choice: int,
    row: int,
    depth: int,
    rules: Rules,
    rows: RowArrays,
    work: SelectionWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> int:
    """Return whether the path is a match that ends before `row`, and no better one is known.

    Returns:
        HOLDS; HOLDS_NOT; FORBIDDEN if it is not a match only because of a test of it as a whole; or
        a status.
    """
    path, progress, program = work.path, work.progress, rules.program
    guard = program[choice, layout.GUARD]
    if guard != 0 and not is_anchored(guard, row, progress):
        return HOLDS_NOT
    if depth == 0:
        return HOLDS if rules.output <= layout.LONGEST else HOLDS_NOT
    start, last = path[layout.PATH_ROWS, 0], path[layout.PATH_ROWS, depth - 1]
    if last != row - 1 or rows.window_end[start] < row:
        return HOLDS_NOT
    if progress.best_start >= 0:
        if last > progress.best_end or (last == progress.best_end and start != progress.best_start):
            return HOLDS_NOT
    if negation is not None:
        answer = satisfies_closing(last, depth, negation, rows.satisfied, conditions)
        if answer == HOLDS:
            answer = lacks_absent(
                0,
                depth,
                depth,
                negation,
                program,
                rows.window_end,
                path,
                progress.lower,
                conditions,
            )
        if answer == HOLDS_NOT:
            return FORBIDDEN
        if answer != HOLDS:
            return note_failure(answer, path[layout.PATH_CHOICES, depth - 1], last, progress)
    return HOLDS


@spliced
def keep_match(row: int, depth: int, rules: Rules, work: SelectionWork) -> int:
    """Write out the path as a match, or make it the best one; return DONE or OUTPUT_FULL."""
    progress = work.progress
    if rules.output == layout.ALL:
        return write_completed(A_MATCH, row - 1, depth, work)
    if row - 1 != progress.best_end:
        progress.best_start = -1
    keep_better(0, depth, work.path, progress)
    progress.best_end = row - 1
    return layout.DONE
