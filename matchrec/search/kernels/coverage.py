"""Depth-first search that also counts how far each starting row came that begins no match.

`coverage` runs it for the preferred match of consecutive rows, whichever strategy runs the query.
It is the loop of `depth_first`, written out with what is counted, so that searches which count
nothing have nothing of it:

1. When the search enters a state at a row, the nearest run from there on ends there.
2. When it goes back a row, it compares the nearest run from the next row on with the one from this
   row, and keeps the nearer one.
3. When it remembers that a state fails at a row, it remembers the nearest run from there on, too.
   When it comes there again, it recalls that run instead of searching again.
4. At a starting row without a match, it counts the nearest run: see `counting`.

If the ways through the pattern multiply and no failure can be remembered, because conditions depend
on the run, it keeps the computation states that a starting row has reached: equal ones have the
same future.

    PATTERN (A B+ C)   rows A B B X

    row 0 A: needs 2 rows more; row 1 B: 1 row more; row 2 B: 1 row more, and longer
    back to row 0: the nearest run is A0 B1 B2, it needs 1 row more; C was false on row 3

Cost: that of `depth_first`, times the words of a trail.
"""

import numpy as np

from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.counting import (
    ANCHORED,
    RunCounts,
    begin_nearest,
    count_match,
    count_start,
    keep_nearer,
    recall_nearest,
    remember_nearest,
)
from matchrec.search.kernels.layout import Hook, RowArrays, Rules, Work
from matchrec.search.kernels.mapping import (
    has_failed,
    holds_at,
    is_anchored,
    note_failure,
    note_state,
    on_run_of,
    remember_failure,
    takes_too_many_steps,
    update_copy,
)
from matchrec.search.kernels.starts import (
    NO_MATCH,
    NO_ROOM,
    UNDECIDED,
    begin_start,
    go_on_without,
    searching,
    write_path,
)


@spliced
def search_start(
    rules: Rules, rows: RowArrays, work: Work, registers: Hook, counts: RunCounts
) -> int:
    """Write out and count the match at progress.start, or count its nearest run; return a status.

    It sets the next starting row.
    """
    progress = work.progress
    bound = begin_start(rows.window_end, progress)
    length = find_match(bound, rules, rows, work, registers, counts)
    if length == NO_MATCH:
        count_start(ANCHORED, bound, rules, rows, progress, counts)
    if length < 0:
        return go_on_without(length, progress)
    status = write_path(length, rules, work)
    if status == layout.DONE:
        count_match(length, work.path, counts)
    return status


search = searching(search_start)


@spliced
def find_match(
    bound: int, rules: Rules, rows: RowArrays, work: Work, registers: Hook, counts: RunCounts
) -> int:
    """Return the length of the preferred match at progress.start, NO_MATCH, or NO_MATCH - status.

    If there is no match, `counts` has the nearest run. `bound` is the row before which a match
    ends.
    """
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    path, memo, progress = work.path, work.memo, work.progress
    start, edge = progress.start, progress.edge
    row = start
    state = np.int64(0)
    choice = first[0]
    tried_further = False  # whether the search has been beyond this pair of state and row
    begin_nearest(np.int64(0), state, row, row, row + 1, counts)
    progress.stamp += 1
    progress.runs = 0
    while True:
        end_of_choices = first[state + 1]
        while choice < end_of_choices:
            guard = program[choice, layout.GUARD]
            if guard == 0 or is_anchored(guard, row, progress):
                if program[choice, layout.TARGET] == layout.ACCEPT:
                    return int(row - start)
                if row == edge and row < bound:
                    return UNDECIDED
                mask = program[choice, layout.MASK]
                if row < bound and satisfied[row, program[choice, layout.WORD]] & mask == mask:
                    bit = program[choice, layout.MEMO]
                    failed = bit >= 0 and has_failed(memo, progress, bit, row + 1)
                    answer = np.int64(HOLDS)
                    if registers is not None:
                        answer = np.int64(evaluate_choice(choice, row, failed, rules, rows, work))
                        if answer < 0:
                            return int(answer)
                    if answer == HOLDS and not failed:
                        break
                    # A run that fails may still come nearer from here.
                    if answer == HOLDS:
                        recall_nearest(row - start, choice, bit, row + 1, counts)
            choice += 1
        if choice < end_of_choices:
            if row - start == path.shape[0]:
                return NO_MATCH - layout.PATH_FULL
            path[row - start] = choice
            row += 1
            state = program[choice, layout.TARGET]
            choice = first[state]
            tried_further = False
            begin_nearest(row - start, state, row, row, row + 1, counts)
            continue
        if row == start:
            return NO_MATCH
        row -= 1
        choice = path[row - start]
        bit = program[choice, layout.MEMO]
        if tried_further and bit >= 0:
            if not remember_failure(memo, progress, bit, row + 1):
                return NO_ROOM
            remember_nearest(row + 1 - start, bit, row + 1, counts)
        keep_nearer(row - start, choice, counts)
        state = program[choice, layout.SOURCE]
        choice += 1
        tried_further = True


@spliced
def evaluate_choice(
    choice: int, row: int, failed: bool, rules: Rules, rows: RowArrays, work: Work
) -> int:
    """Return whether the condition on the run lets a choice map a row.

    If `failed`, it is known that no match follows, and an error does not count.

    Returns:
        HOLDS, HOLDS_NOT or NO_MATCH - status. HOLDS_NOT as well if a run with the same future came
        before.
    """
    progress, program = work.progress, rules.program
    depth = row - progress.start
    if depth == work.path.shape[0]:
        return NO_MATCH - layout.PATH_FULL
    if takes_too_many_steps(progress):
        return NO_MATCH - layout.TOO_MANY_STEPS
    on_run = on_run_of(rules, rows, work)
    update_copy(choice, depth, depth + 1, row, program, on_run)
    answer = holds_at(choice, depth + 1, row, program, on_run)
    if answer != HOLDS and answer != HOLDS_NOT and not failed:
        answer = NO_MATCH - note_failure(answer, choice, row, progress)
    if answer == HOLDS and program[choice, layout.MEMO] < 0:
        answer = note_state(choice, row, depth, rules, work)
        if answer < 0:
            answer = NO_MATCH + answer
    return int(answer)
