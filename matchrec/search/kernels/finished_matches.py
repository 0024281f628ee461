"""Test a finished match as a whole, compare it with the best match, and write it out.

The match is in `path`. A search of one run at a time has its run there. A search of all runs at
once unwinds its matches from the shared buffer into `path`, one by one.
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
from matchrec.search.kernels.search_loop import add_match, request_room
from matchrec.search.partitions import IntArray

# The answer of `is_match` if a path would be a match, but fails a test of the match as a whole.
REJECTED = -1

# The conditions of a match as a whole are evaluated less often than the conditions of choices. So
# this function is called, while `evaluate_condition` is compiled again at each place that uses it.
evaluate_out_of_line = inner(evaluate_condition.py_func)  # type: ignore[attr-defined]


@spliced
def satisfies_closing_condition(
    row: int,
    slot: int,
    negation: NegationArrays,
    condition_bits: IntArray,
    conditions: RunConditions,
) -> int:
    """Return whether a run satisfies the closing condition: HOLDS, HOLDS_NOT or an error.

    `row` is the last row of the run, and `slot` has its registers.
    """
    closing_conditions = negation.closing_conditions
    if closing_conditions.shape[0] == 0:
        return HOLDS
    mask = closing_conditions[0, layout.CLOSING_MASK]
    if condition_bits[row, closing_conditions[0, layout.CLOSING_WORD]] & mask != mask:
        return HOLDS_NOT
    begin = closing_conditions[0, layout.CLOSING_CODE]
    end = closing_conditions[0, layout.CLOSING_CODE_END]
    return evaluate_code(begin, end, slot, row, conditions)


@spliced
def evaluate_code(begin: int, end: int, slot: int, row: int, conditions: RunConditions) -> int:
    """Evaluate the instructions begin .. end - 1 on a row and the registers of a slot.

    Returns:
        HOLDS, HOLDS_NOT or an error.
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

    A negation is satisfied if none of its enclosed rows satisfies its condition.

    Args:
        first_column: the column of `path` with the first row of the match.
        length: the number of rows of the match. For negations before and after the match, two
            columns suffice: the first and the last row.
        slot: the slot with the registers of the match.
        negation: the arrays of the negations.
        program: the choices of the query.
        window_end: see `RowArrays`.
        path: int64[5, d], with the match in the columns from `first_column` on.
        partition_begin: the first row of the partition.
        conditions: the conditions on the run.
    """
    absences = negation.absences
    next_satisfying_rows = negation.next_satisfying_rows
    for index in range(absences.shape[0]):
        code = absences[index, layout.ABSENCE_CODE]
        code_end = absences[index, layout.ABSENCE_CODE_END]
        begin, end = find_enclosed_rows(
            index, first_column, length, partition_begin, negation, program, window_end, path
        )
        row = next_satisfying_rows[index, begin] if begin < end else end
        while row < end:
            answer = evaluate_code(code, code_end, slot, row, conditions)
            if answer != HOLDS_NOT:
                return HOLDS_NOT if answer == HOLDS else answer
            row = next_satisfying_rows[index, row + 1]
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
    """Return the range of rows in which no row is allowed to satisfy the condition of a negation.

    These are the rows after the match, up to the end of its window; the rows before the match whose
    windows contain its last row; or the rows between two rows of the match: the last row of the
    variables before the negation, and the next row of the variables after it.

    Args:
        index: the index of the negation.
        first_column: the column of `path` with the first row of the match.
        length: the number of rows of the match.
        partition_begin: the first row of the partition.
        negation: the arrays of the negations.
        program: the choices of the query.
        window_end: see `RowArrays`.
        path: see `satisfies_negations`.

    Returns:
        The first row, and the row after the last. (0, 0) if the match lacks one of the two rows
        between which a negation is.
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
    column_before = last
    while column_before >= first_column:
        variable = program[choices[column_before], layout.VARIABLE]
        if members[index, layout.BEFORE_ABSENCE, variable]:
            break
        column_before -= 1
    column_after = column_before + 1
    while column_after <= last:
        variable = program[choices[column_after], layout.VARIABLE]
        if members[index, layout.AFTER_ABSENCE, variable]:
            break
        column_after += 1
    if column_before < first_column or column_after > last:
        return 0, 0
    return path[layout.PATH_ROWS, column_before] + 1, path[layout.PATH_ROWS, column_after]


@inner
def find_first_with_window(window_end: IntArray, begin: int, end: int, row: int) -> int:
    """Return the first of the rows begin .. end - 1 whose window contains `row`, or else `end`.

    A binary search finds this row, because a later window never ends earlier.
    """
    while begin < end:
        middle = (begin + end) // 2
        if window_end[middle] > row:
            end = middle
        else:
            begin = middle + 1
    return end


@inner
def keep_better_match(first_column: int, length: int, path: IntArray, progress: BestMatch) -> None:
    """Make the match in `path` the best match, unless the best match so far `comes_before` it.

    The match has `length` rows in `path` from `first_column` on.
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
    """Return whether the match in `path` comes before the best match, which has `best_length` rows.

    Of two matches, the one with the earlier row at the first difference comes first. If all rows of
    one match begin the other, the shorter one comes first.
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

    Its `length` rows are in row `path_row` of `path`, from `first_column` on, and its choices in
    the next row of `path`.
    """
    matches = output.matches
    match = progress.match_count
    begin = progress.mapped_count
    if not request_room(length, output, progress):
        return layout.OUTPUT_FULL
    rows = path[path_row, first_column : first_column + length]
    choices = path[path_row + 1, first_column : first_column + length]
    output_rows = output.rows[begin : begin + length]
    output_choices = output.choices[begin : begin + length]
    for index in range(length):
        output_rows[index] = rows[index]
        output_choices[index] = choices[index]
    add_match(matches, progress, rows[0] if length > 0 else progress.start, length)
    matches[layout.MATCH_COMPLETED, match] = progress.completing_row
    matches[layout.MATCH_KIND, match] = progress.match_kind
    progress.mapped_count = begin + length
    return layout.DONE


class SelectionProgress(BestMatch, Completion):
    """The progress of a search with event selection, with the fields about finished matches."""

    # The last row of the best match, in a search of one run at a time.
    best_last_row: int


class SelectionWork(Protocol):
    """The fields of a record of work that the functions of this module read and fill."""

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
    """Write out the `depth` rows of the path as complete at `row`; return DONE or OUTPUT_FULL.

    `match_kind` is the kind of output, such as A_MATCH: see `automaton.run_endings`.
    """
    work.progress.completing_row = row
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
    """Return whether the path is a match whose last row is `row` - 1.

    The path has `depth` rows, and `choice` is the choice that accepts. A match that is certainly
    worse than the best match does not count.

    Returns:
        HOLDS; HOLDS_NOT; REJECTED if only a test of the match as a whole fails; or a status, see
        `mapping.is_failure_status`.
    """
    path = work.path
    progress = work.progress
    program = rules.program
    guard = program[choice, layout.GUARD]
    if guard != 0 and not is_anchored(guard, row, progress):
        return HOLDS_NOT
    if depth == 0:
        # An empty match counts only if one match of each starting row is sought.
        is_one_match = rules.output == layout.PREFERRED or rules.output == layout.LONGEST
        return HOLDS if is_one_match else HOLDS_NOT
    start = path[layout.PATH_ROWS, 0]
    last = path[layout.PATH_ROWS, depth - 1]
    if last != row - 1 or rows.window_end[start] < row:
        return HOLDS_NOT
    if progress.best_start >= 0:
        # The best match is complete earlier; or both are complete at the same row, and the best
        # match begins earlier.
        if last > progress.best_last_row or (
            last == progress.best_last_row and start != progress.best_start
        ):
            return HOLDS_NOT
    if negation is not None:
        answer = satisfies_closing_condition(last, depth, negation, rows.condition_bits, conditions)
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
    """Write out the path as a match, or compare it with the best match; return DONE or OUTPUT_FULL.

    The path has `depth` rows, and its last row is `row` - 1. `is_match` must hold for it.
    """
    progress = work.progress
    if rules.output == layout.ALL:
        return write_completed(A_MATCH, row - 1, depth, work)
    if row - 1 != progress.best_last_row:  # the path is complete earlier, so it is better
        progress.best_start = -1
    keep_better_match(0, depth, work.path, progress)
    progress.best_last_row = row - 1
    return layout.DONE
