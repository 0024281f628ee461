"""What is done with a finished match: it is tested as a whole, and written out.

The match is in `path`, from which it is tested and written. A search of one run at a time has its
run there. A search of all runs at once unwinds its matches from the shared buffer to it, one by
one.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from matchrec.automaton.run_endings import A_MATCH
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.conditions.evaluate.kernels.machine import evaluate_condition
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
from matchrec.search.kernels.search_loop import add_match, has_room
from matchrec.search.partitions import IntArray

# What `is_match` returns if a path would be a match, but a test of it as a whole fails.
REJECTED = -1

# Conditions of a match as a whole are evaluated less often than conditions on mapping a row. So the
# code for them is compiled once, and not again at each call.
evaluate_out_of_line = inner(evaluate_condition.py_func)  # type: ignore[attr-defined]


@spliced
def satisfies_closing(
    row: int, slot: int, negation: NegationArrays, satisfied: IntArray, conditions: RunConditions
) -> int:
    """Return whether a run satisfies the closing condition: HOLDS, HOLDS_NOT or an error.

    `row` is the last row of the run, and `slot` has its registers.
    """
    closing = negation.closing
    if closing.shape[0] == 0:
        return HOLDS
    mask = closing[0, layout.CLOSING_MASK]
    if satisfied[row, closing[0, layout.CLOSING_WORD]] & mask != mask:
        return HOLDS_NOT
    begin = closing[0, layout.CLOSING_CODE]
    end = closing[0, layout.CLOSING_CODE_END]
    return evaluate_code(begin, end, slot, row, conditions)


@spliced
def evaluate_code(begin: int, end: int, slot: int, row: int, conditions: RunConditions) -> int:
    """Evaluate a condition on a row and on the registers of a slot: HOLDS, HOLDS_NOT or an error.

    Its instructions are begin .. end - 1.
    """
    instructions = conditions.instructions
    stack = conditions.stack
    registers = conditions.registers[slot]
    machine_input = conditions.machine_input
    return int(evaluate_out_of_line(instructions, begin, end, registers, row, machine_input, stack))


@spliced
def satisfies_negations(
    first_column: int,
    length: int,
    slot: int,
    negation: NegationArrays,
    program: IntArray,
    window_end: IntArray,
    path: IntArray,
    partition_begin: int,
    conditions: RunConditions,
) -> int:
    """Return whether a match satisfies all negations: HOLDS, HOLDS_NOT or an error.

    It does if no row that a negation is about satisfies the negation's condition. The match has
    `length` rows in `path` from `first_column` on, and its registers are in `slot`. Negations
    before and after the match read only its first and its last row. `partition_begin` is the first
    row of the partition.
    """
    absences = negation.absences
    following = negation.following
    for index in range(absences.shape[0]):
        code = absences[index, layout.ABSENCE_CODE]
        code_end = absences[index, layout.ABSENCE_CODE_END]
        begin, end = find_enclosed_rows(
            index, first_column, length, partition_begin, negation, program, window_end, path
        )
        row = following[index, begin] if begin < end else end
        while row < end:
            answer = evaluate_code(code, code_end, slot, row, conditions)
            if answer != HOLDS_NOT:
                return HOLDS_NOT if answer == HOLDS else answer
            row = following[index, row + 1]
    return HOLDS


@inner
def find_enclosed_rows(
    index: int,
    first_column: int,
    length: int,
    partition_begin: int,
    negation: NegationArrays,
    program: IntArray,
    window_end: IntArray,
    path: IntArray,
) -> tuple[int, int]:
    """Return the rows in which an absence is looked for: the first, and the one after the last.

    For a negation between two rows of the match, the rows lie between the last row of the variables
    before it and the next row of the variables after it. (0, 0) if the match lacks one of the two.
    """
    members = negation.members
    kind = negation.absences[index, layout.ABSENCE_KIND]
    last = first_column + length - 1
    start = path[layout.PATH_ROWS, first_column]
    end = path[layout.PATH_ROWS, last]
    if kind == layout.AT_THE_END:
        return end + 1, window_end[start]
    if kind == layout.AT_THE_BEGINNING:
        return find_first_with_window(window_end, partition_begin, start, end), start
    choices = path[layout.PATH_CHOICES]
    before = last
    while before >= first_column:
        if members[index, layout.BEFORE_ABSENCE, program[choices[before], layout.VARIABLE]]:
            break
        before -= 1
    after = before + 1
    while after <= last:
        if members[index, layout.AFTER_ABSENCE, program[choices[after], layout.VARIABLE]]:
            break
        after += 1
    if before < first_column or after > last:
        return 0, 0
    return path[layout.PATH_ROWS, before] + 1, path[layout.PATH_ROWS, after]


@inner
def find_first_with_window(window_end: IntArray, begin: int, end: int, row: int) -> int:
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
def keep_better(first_column: int, length: int, path: IntArray, progress: BestMatch) -> None:
    """Make the match in `path` the best one, unless the best one comes before it.

    See `comes_before`.
    """
    best_length = progress.best_length
    if progress.best_start >= 0 and not comes_before(path, first_column, length, best_length):
        return
    progress.best_start = path[layout.PATH_ROWS, first_column]
    progress.best_length = length
    for index in range(length):
        path[layout.PATH_BEST_ROWS, index] = path[layout.PATH_ROWS, first_column + index]
        path[layout.PATH_BEST_CHOICES, index] = path[layout.PATH_CHOICES, first_column + index]


@spliced
def comes_before(path: IntArray, first_column: int, length: int, best_length: int) -> bool:
    """Return whether the match in `path` comes before the best one.

    It does if its row is earlier where they first differ, or if the other one begins with its rows.
    """
    index = np.int64(0)
    while index < length and index < best_length:
        if path[layout.PATH_ROWS, first_column + index] != path[layout.PATH_BEST_ROWS, index]:
            return bool(
                path[layout.PATH_ROWS, first_column + index] < path[layout.PATH_BEST_ROWS, index]
            )
        index += 1
    return length < best_length


@inner
def write_match(
    path_row: int,
    first_column: int,
    length: int,
    path: IntArray,
    progress: Completion,
    output: OutputArrays,
) -> int:
    """Add a match to the output; return DONE or OUTPUT_FULL.

    It is in row `path_row` of `path`, from `first_column` on. Its choices are in the next row.
    """
    matches = output.matches
    match = progress.match_count
    begin = progress.mapped_count
    if not has_room(length, output, progress):
        return layout.OUTPUT_FULL
    rows = path[path_row, first_column : first_column + length]
    choices = path[path_row + 1, first_column : first_column + length]
    output_rows = output.rows[begin : begin + length]
    output_choices = output.choices[begin : begin + length]
    for index in range(length):
        output_rows[index] = rows[index]
        output_choices[index] = choices[index]
    add_match(matches, progress, rows[0] if length > 0 else progress.start, length)
    matches[layout.MATCH_COMPLETED, match] = progress.completed
    matches[layout.MATCH_KIND, match] = progress.match_kind
    progress.mapped_count = begin + length
    return layout.DONE


class SelectionProgress(BestMatch, Completion):
    """The progress of a search with event selection that finished matches read and update."""

    # The last row of the best match, in a search of one run at a time.
    best_last_row: int


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
def write_path_row(path_row: int, length: int, work: SelectionWork) -> int:
    """Add the match in row `path_row` of `path` to the output; return DONE or OUTPUT_FULL."""
    return write_match(path_row, np.int64(0), length, work.path, work.progress, work.output)


@spliced
def write_completed(match_kind: int, row: int, depth: int, work: SelectionWork) -> int:
    """Write out the `depth` rows of the path, as complete at a row; return DONE or OUTPUT_FULL.

    `match_kind` is what they are written out as, such as A_MATCH: see `automaton.run_endings`.
    """
    work.progress.completed = row
    work.progress.match_kind = match_kind
    return write_path_row(layout.PATH_ROWS, depth, work)


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
    """Return whether the path is a match that ends before `row`, and could be the best one.

    The path has `depth` rows. A match does not count if it cannot be better than the best one.

    Returns:
        HOLDS; HOLDS_NOT; REJECTED if all but a test of the match as a whole holds; or a status, see
        `mapping.is_failure_status`.
    """
    path = work.path
    progress = work.progress
    program = rules.program
    guard = program[choice, layout.GUARD]
    if guard != 0 and not is_anchored(guard, row, progress):
        return HOLDS_NOT
    if depth == 0:
        # An empty match counts only if one match of a starting row is asked for.
        is_one_match = rules.output == layout.PREFERRED or rules.output == layout.LONGEST
        return HOLDS if is_one_match else HOLDS_NOT
    start = path[layout.PATH_ROWS, 0]
    last = path[layout.PATH_ROWS, depth - 1]
    if last != row - 1 or rows.window_end[start] < row:
        return HOLDS_NOT
    if progress.best_start >= 0:
        # The best match is complete earlier, or it is complete together and begins earlier.
        if last > progress.best_last_row or (
            last == progress.best_last_row and start != progress.best_start
        ):
            return HOLDS_NOT
    if negation is not None:
        answer = satisfies_closing(last, depth, negation, rows.satisfied, conditions)
        if answer == HOLDS:
            answer = satisfies_negations(
                0,
                depth,
                depth,
                negation,
                program,
                rows.window_end,
                path,
                progress.partition_begin,
                conditions,
            )
        if answer == HOLDS_NOT:
            return REJECTED
        if answer != HOLDS:
            return note_failure(answer, path[layout.PATH_CHOICES, depth - 1], last, progress)
    return HOLDS


@spliced
def keep_match(row: int, depth: int, rules: Rules, work: SelectionWork) -> int:
    """Write out the path as a match, or make it the best one; return DONE or OUTPUT_FULL.

    `is_match` holds for the path. The last row of the path is `row` - 1.
    """
    progress = work.progress
    if rules.output == layout.ALL:
        return write_completed(A_MATCH, row - 1, depth, work)
    if row - 1 != progress.best_last_row:  # it is complete earlier, so it is better
        progress.best_start = -1
    keep_better(0, depth, work.path, progress)
    progress.best_last_row = row - 1
    return layout.DONE
