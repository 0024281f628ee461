"""What is done with a finished match: it is tested as a whole, and written out.

A run that shares its rows leads from its last pointer to its matches: to one, or where runs have
merged to one for each.

Source: SASE+, "The shared versioned match buffer" (retrieval) and "Merging equivalent runs".
"""

from __future__ import annotations

import numpy as np

from matchrec.automaton.program import A_MATCH
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.conditions.evaluate.kernels.machine import holds
from matchrec.jit.decorators import inner, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.buffer import is_expired
from matchrec.search.kernels.layout import (
    FoundArrays,
    Hook,
    NegationArrays,
    Progress,
    RowArrays,
    Rules,
    Work,
)
from matchrec.search.kernels.mapping import OnRun, is_anchored, note_failure, on_run_of
from matchrec.search.kernels.starts import add_match, has_room
from matchrec.search.partitions import IntArray

FORBIDDEN = -1  # what `is_match` answers of a path that is only as a whole no match

# For what is asked less often than whether a row may be mapped.
holds_apart = inner(holds.py_func)  # type: ignore[attr-defined]


@spliced
def closes(row: int, place: int, negation: Hook, satisfied: IntArray, on_run: OnRun) -> int:
    """Whether the run at `place`, whose last row is `row`, is a match: HOLDS or another answer."""
    closing = negation.closing
    if closing.shape[0] == 0:
        return HOLDS
    mask = closing[0, layout.CLOSING_MASK]
    if satisfied[row, closing[0, layout.CLOSING_WORD]] & mask != mask:
        return HOLDS_NOT
    begin, end = closing[0, layout.CLOSING_CODE], closing[0, layout.CLOSING_CODE_END]
    return evaluate(begin, end, place, row, on_run)


@spliced
def evaluate(begin: int, end: int, place: int, row: int, on_run: OnRun) -> int:
    """What the instructions begin .. end - 1 answer of the registers at `place`: HOLDS, HOLDS_NOT
    or an error.
    """
    instructions, registers, stack = on_run.instructions, on_run.registers, on_run.stack
    return int(holds_apart(instructions, begin, end, registers[place], row, on_run.given, stack))


@spliced
def lacks_absent(
    first: int, length: int, place: int, negation: Hook, rules: Rules, rows: RowArrays, work: Work
) -> int:
    """Whether nothing is there that must not be: HOLDS or another answer.

    The match is in `path` from column `first` on, its registers are at `place`. Of what is asked
    for before and after it, its first and its last row are enough.
    """
    absent, following, on_run = negation.absent, negation.following, on_run_of(rules, rows, work)
    program, window_end, path = rules.program, rows.window_end, work.path
    lower = work.progress.lower
    for index in range(absent.shape[0]):
        code, code_end = absent[index, layout.ABSENT_CODE], absent[index, layout.ABSENT_CODE_END]
        begin, end = enclosed_rows(index, first, length, lower, negation, program, window_end, path)
        row = following[index, begin] if begin < end else end
        while row < end:
            answer = evaluate(code, code_end, place, row, on_run)
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
    """The rows among which an absence is looked for: the first, and the one after the last."""
    members, kind = negation.members, negation.absent[index, layout.ABSENT_KIND]
    last = first + length - 1
    start, end = path[layout.PATH_ROWS, first], path[layout.PATH_ROWS, last]
    if kind == layout.AT_THE_END:
        return end + 1, window_end[start]
    if kind == layout.AT_THE_BEGINNING:
        return first_with_window(window_end, lower, start, end), start
    choices = path[layout.PATH_CHOICES]
    at = last
    while at >= first and not members[index, 0, program[choices[at], layout.VARIABLE]]:
        at -= 1
    after = at
    at += 1
    while at <= last and not members[index, 1, program[choices[at], layout.VARIABLE]]:
        at += 1
    if after < first or at > last:
        return 0, 0
    return path[layout.PATH_ROWS, after] + 1, path[layout.PATH_ROWS, at]


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
def keep_better(first: int, length: int, path: IntArray, progress: Progress) -> None:
    """Make the match in `path` the best one, unless one is there whose rows come before its own."""
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
    index = np.int64(0)
    while index < length and index < best_length:
        if path[layout.PATH_ROWS, first + index] != path[layout.PATH_BEST_ROWS, index]:
            return bool(path[layout.PATH_ROWS, first + index] < path[layout.PATH_BEST_ROWS, index])
        index += 1
    return length < best_length


@spliced
def write_path(which: int, length: int, work: Work) -> int:
    return write_match(which, np.int64(0), length, work.path, work.progress, work.output)


@inner
def write_match(
    which: int, first: int, length: int, path: IntArray, progress: Progress, output: FoundArrays
) -> int:
    """Add the match in row `which` of `path`, from column `first` on; DONE or OUTPUT_FULL."""
    found, match, mapped = output.found, progress.matches, progress.mapped
    if not has_room(length, output, progress):
        return layout.OUTPUT_FULL
    rows, choices = path[which, first : first + length], path[which + 1, first : first + length]
    to_rows = output.rows[mapped : mapped + length]
    to_choices = output.taken[mapped : mapped + length]
    for index in range(length):
        to_rows[index] = rows[index]
        to_choices[index] = choices[index]
    add_match(found, progress, rows[0] if length > 0 else progress.start, length)
    found[layout.FOUND_COMPLETED, match] = progress.completed
    found[layout.FOUND_KIND, match] = progress.match_kind
    progress.mapped = mapped + length
    return layout.DONE


@spliced
def unwind_matches(
    node: int, row: int, place: int, rules: Rules, rows: RowArrays, work: Work, negation: Hook
) -> int:
    """Write out, or compare with the best, each match that ends at `node` with its row `row`.

    A match is written to `path` from its end: what comes after a join serves both of its sides.
    One whose window has ended is left out. DONE or a status.
    """
    nodes, path, ways, window_end = work.nodes, work.path, work.ways, rows.window_end
    progress, asked, output = work.progress, rules.output, work.output
    size = path.shape[1]
    ways[0, 0], ways[0, 1] = node, 0
    top = np.int64(1)
    while top > 0:
        top -= 1
        at, length = ways[top, 0], ways[top, 1]
        expired = is_expired(nodes, at, row, window_end)
        while at >= 0 and not expired:
            choice = nodes[at, layout.NODE_CHOICE]
            if choice != layout.JOIN:
                if length == size:
                    return layout.PATH_FULL
                length += 1
                path[layout.PATH_ROWS, size - length] = nodes[at, layout.NODE_ROW]
                path[layout.PATH_CHOICES, size - length] = choice
                at = nodes[at, layout.NODE_BEFORE]
                continue
            if top == ways.shape[0]:
                return layout.PATH_FULL
            ways[top, 0], ways[top, 1] = nodes[at, layout.NODE_OTHER], length
            top += 1
            at = nodes[at, layout.NODE_BEFORE]
            expired = is_expired(nodes, at, row, window_end)
        if expired:
            continue
        if negation is not None:
            answer = lacks_absent(size - length, length, place, negation, rules, rows, work)
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                return layout.CONDITION_FAILED + answer
        if asked == layout.GRAPH:
            nodes[node, layout.NODE_OTHER] = layout.COMPLETES
            continue
        if asked == layout.NON_OVERLAPPING:
            keep_better(size - length, length, path, progress)
            continue
        status = write_match(layout.PATH_ROWS, size - length, length, path, progress, output)
        if status != layout.DONE:
            return status
    return layout.DONE


@spliced
def complete(kind: int, row: int, depth: int, work: Work) -> int:
    """Write out the path as what `kind` says, complete at a row; DONE or OUTPUT_FULL."""
    work.progress.completed = row
    work.progress.match_kind = kind
    return write_path(layout.PATH_ROWS, depth, work)


@spliced
def is_match(
    choice: int, row: int, depth: int, rules: Rules, rows: RowArrays, work: Work, negation: Hook
) -> int:
    """Whether the path is a match whose last row is the one before `row`, and none is better.

    HOLDS, HOLDS_NOT, FORBIDDEN if only as a whole it is none, or a status.
    """
    path, progress = work.path, work.progress
    guard = rules.program[choice, layout.GUARD]
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
        answer = closes(last, depth, negation, rows.satisfied, on_run_of(rules, rows, work))
        if answer == HOLDS:
            answer = lacks_absent(0, depth, depth, negation, rules, rows, work)
        if answer == HOLDS_NOT:
            return FORBIDDEN
        if answer != HOLDS:
            return note_failure(answer, path[layout.PATH_CHOICES, depth - 1], last, progress)
    return HOLDS


@spliced
def keep_match(row: int, depth: int, rules: Rules, work: Work) -> int:
    """Write out the path as a match, or make it the best one; DONE or OUTPUT_FULL."""
    path, progress = work.path, work.progress
    if rules.output == layout.ALL:
        return complete(A_MATCH, row - 1, depth, work)
    if row - 1 != progress.best_end:
        progress.best_start = -1
    keep_better(0, depth, path, progress)
    progress.best_end = row - 1
    return layout.DONE
