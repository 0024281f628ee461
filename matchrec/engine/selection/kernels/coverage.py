"""Of each starting row whether it begins a match, and otherwise how far its nearest run came.

One run at a time, depth first, as in `backtracking`, where rows may be skipped or all matches are
asked for; the first run that is accepted ends the search of its starting row. Without such a run
the nearest one is counted. A run ends with its window or its partition, or at a
row that it may not skip. The computation states that a starting row has seen are kept, as equal
ones have the same future.

Cost: the rows of a window, or of a partition without one, for each starting row, times the
computation states that differ. Source: SASE+, "Merging equivalent runs".
"""

import numpy as np

from matchrec.engine.contiguous.kernels import coverage_layout as counted
from matchrec.engine.contiguous.kernels.starts import is_anchored, whole_partition
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.mapping import OnRun, Places, on_run_of, takes_too_many_steps
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.backtracking import BLOCKED, STOPPED
from matchrec.engine.selection.kernels.choosing import may_map, note_failure
from matchrec.engine.selection.kernels.layout import Found, Negation, Rows, Rules, Work
from matchrec.engine.selection.kernels.matches import closes, lacks_absent, write_path
from matchrec.engine.selection.kernels.nearest_run import (
    DEPTH,
    NO_CHOICE,
    UNKNOWN,
    UNTIL,
    Counting,
    arrive,
    count_nearest,
    count_trail,
    is_full,
    is_nearest,
    is_new,
    note,
    put,
    react,
    take,
)
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inner, kernel, spliced
from matchrec.nfa.outcomes import A_MATCH

# A search from a starting row answers how many rows its match has, this, or NO_MATCH - status.
NO_MATCH = -1


@kernel
def search(
    between: Negation | None,
    rules: Rules,
    rows: Rows,
    work: Work,
    counting: Counting,
    output: Found,
    negation: Negation | None,
) -> int:
    """Search from `progress` on until all is done or something is full; return the status.

    between: only those absences that are decided when a row is mapped.
    """
    progress = work.progress
    while progress[layout.PARTITION] < rows.starts.shape[0] - 1:
        partition = whole_partition(rows.starts, progress)
        on_run = on_run_of(partition, rules, rows, work)
        while progress[layout.START] < partition.upper:
            status = search_start(between, rules, rows, work, counting, output, negation, on_run)
            if status != layout.DONE:
                return status
            progress[layout.START] += 1
        progress[layout.PARTITION] += 1
        progress[layout.STEP_COUNT] = 0
    return layout.DONE


@spliced
def search_start(
    between: Negation | None,
    rules: Rules,
    rows: Rows,
    work: Work,
    counting: Counting,
    output: Found,
    negation: Negation | None,
    on_run: OnRun,
) -> int:
    """Write out a match from progress[START] on, or count its nearest run; DONE or a status."""
    progress = work.progress
    progress[layout.STAMP] += 1
    progress[layout.RUNS] = 0
    counting.nearest[DEPTH] = UNKNOWN
    length = np.int64(NO_MATCH)
    for first in range(rules.starts):
        if length == NO_MATCH:
            length = search_from(first, between, rules, rows, work, counting, negation, on_run)
    if length < NO_MATCH:
        return int(NO_MATCH - length)
    if length == NO_MATCH:
        count_nearest(on_run.given.lower, on_run.given.upper, rules, rows, work, counting)
        return layout.DONE
    status = write_path(length, work.path, progress, output)
    if status == layout.DONE:
        count_trail(length, counting)
    return int(status)


@spliced
def search_from(
    first: int,
    between: Negation | None,
    rules: Rules,
    rows: Rows,
    work: Work,
    counting: Counting,
    negation: Negation | None,
    on_run: OnRun,
) -> int:
    """Length of a match from progress[START] and state `first` on, NO_MATCH, or NO_MATCH - status.

    One loop over choices, forward, over skipped rows, and back: it has the length of 80 lines that
    a kernel may have, as what it keeps from row to row is in machine registers.
    """
    program, path, progress = rules.program, work.path, work.progress
    start, nearest = progress[layout.START], counting.nearest
    satisfied, window_end = rows.satisfied, rows.window_end
    end = rows.run_end[start]
    row, state, depth, blocked = start, first, np.int64(0), np.int64(0)
    choice = rules.first[first]
    arrive(np.int64(NO_CHOICE), state, row, depth, counting)
    while True:
        last = rules.first[state + 1]
        while choice < last:
            target = program[choice, layout.TARGET]
            if target == layout.ACCEPT:
                answer = accept(choice, row, depth, rules, rows, work, negation, on_run)
                if answer == HOLDS:
                    return int(depth)
                if answer == own.ENDS:
                    note(counted.FORBIDDEN, depth, path, nearest)
                elif answer != HOLDS_NOT:
                    return NO_MATCH - answer
            elif row < end and (blocked != STOPPED or target < 0 or not rules.goes_on[target]):
                if depth == path.shape[1]:
                    return NO_MATCH - layout.PATH_FULL
                if takes_too_many_steps(progress):
                    return NO_MATCH - layout.TOO_MANY_STEPS
                places = Places(depth, depth + 1)
                answer = may_map(choice, places, row, rules, satisfied, on_run)
                if answer == HOLDS and target >= 0:
                    blocked = max(blocked, program[choice, layout.BLOCKS])
                    put(choice, row, depth, blocked, path)
                    if is_full(progress, counting.seen):
                        return NO_MATCH - layout.RUNS_FULL
                    length = places.after
                    answer = lacks_absent(
                        0, length, length, between, program, window_end, path, on_run
                    )
                    if answer != HOLDS:
                        note(counted.FORBIDDEN, depth, path, nearest)
                    elif is_new(target, row, depth, rules, work, counting):
                        break
                elif answer == HOLDS:
                    if target == own.COMPLETES_HERE:
                        return int(depth)
                    blocked = react(target, depth, blocked, path, nearest)
                    if target == own.ENDS or target == own.TIMES_OUT or target == own.CUTS:
                        choice = last
                        break
                elif answer != HOLDS_NOT:
                    return NO_MATCH - note_failure(answer, choice, row, progress)
            choice += 1
        if choice < last:
            take(choice, depth, counting)
            depth, row = depth + 1, row + 1
            state = program[choice, layout.TARGET]
            arrive(choice, state, row, depth, counting)
            blocked = 0 if rules.goes_on[state] else BLOCKED
            choice = rules.first[state]
            continue
        if depth > 0 and row < end and blocked == 0 and rules.waits[state] >= 0:
            row, state = row + 1, rules.waits[state]
            choice = rules.first[state]
            continue
        if depth > 0 and row >= end and rules.ends[state] == A_MATCH:
            return int(depth)
        if is_nearest(depth, path, nearest):
            nearest[UNTIL] = min(row, end) + 1
        if depth == 0:
            return NO_MATCH
        depth -= 1
        row, choice = path[own.ROWS, depth], path[own.CHOICES, depth]
        blocked = path[own.MARKS, depth]
        state, choice = program[choice, layout.SOURCE], choice + 1


@inner
def accept(
    choice: int,
    row: int,
    depth: int,
    rules: Rules,
    rows: Rows,
    work: Work,
    negation: Negation | None,
    on_run: OnRun,
) -> int:
    """Whether the path is a match: HOLDS, HOLDS_NOT, ENDS if only as a whole not, or a status."""
    path, program, window_end = work.path, rules.program, rows.window_end
    guard = program[choice, layout.GUARD]
    if guard != 0 and not is_anchored(guard, row, on_run.given.lower, on_run.given.upper):
        return HOLDS_NOT
    if depth == 0:
        return HOLDS if rules.output == own.PREFERRED else HOLDS_NOT
    if path[own.ROWS, depth - 1] != row - 1 or window_end[path[own.ROWS, 0]] < row:
        return HOLDS_NOT
    answer = closes(row - 1, depth, negation, rows.satisfied, on_run)
    if answer == HOLDS:
        answer = lacks_absent(0, depth, depth, negation, program, window_end, path, on_run)
    if answer == HOLDS_NOT:
        return own.ENDS
    if answer == HOLDS:
        return HOLDS
    return int(note_failure(answer, path[own.CHOICES, depth - 1], row - 1, work.progress))
