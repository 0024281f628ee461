"""Depth-first search in preferment order: the first way that reaches acceptance is the match.

`path` holds the choice taken at each row and is the only stack: going back a row, the search tries
the choices after the one in the path. registers[d] is the computation state after d rows, so going
back restores it. A pair of state and row whose choices are all exhausted has failed for every
starting row, unless what comes depends on the registers; where it can be reached again, that is
remembered, with windows for the starting rows whose windows end together. Where there are windows
and conditions depend on the data only, `distances` takes the place of this kernel.

With `counting` the search also tells how far each starting row came that begins no match; without,
nothing of that is compiled. Where the ways through the pattern multiply and no failure can be
remembered, as conditions depend on the run, it keeps the computation states that a starting row has
seen: equal ones have the same future.

Cost: rows x choices where conditions depend on the data only; exponential at worst where they
depend on the run. Counting: times the words of a trail. Sources: SASE+, "Backtracking algorithm"
and "Merging equivalent runs"; failures are remembered as in RE2's BitState.
"""

import numpy as np

from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.counting import (
    ANCHORED,
    begin,
    count_match,
    count_start,
    go_back,
    recall,
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
def search_start(rules: Rules, rows: RowArrays, work: Work, registers: Hook, counting: Hook) -> int:
    progress = work.progress
    bound = begin_start(rows.window_end, progress)
    length = find_match(bound, rules, rows, work, registers, counting)
    if counting is not None:
        if length == NO_MATCH:
            count_start(ANCHORED, bound, rules, rows, progress, counting)
    if length < 0:
        return go_on_without(length, progress)
    status = write_path(length, rules, work)
    if counting is not None:
        if status == layout.DONE:
            count_match(length, work.path, counting)
    return status


search = searching(search_start)


@spliced
def find_match(
    bound: int, rules: Rules, rows: RowArrays, work: Work, registers: Hook, counting: Hook
) -> int:
    """Length of the preferred match at progress.start, NO_MATCH, or NO_MATCH - status.

    One loop over choices, forward and back, so that all of it stays in machine registers. Where two
    `if` stand in place of one `and`, the first leaves out what is not counted.
    """
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    path, memo, progress = work.path, work.memo, work.progress
    start, edge = progress.start, progress.edge
    row = start
    state = np.int64(0)
    choice = first[0]
    tried_further = False  # whether the search has been beyond this pair of state and row
    if counting is not None:
        begin(np.int64(0), state, row, row, row + 1, counting)
        progress.stamp += 1
        progress.runs = 0
    while True:
        last = first[state + 1]
        while choice < last:
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
                    asked = not failed
                    if counting is not None:
                        asked = True  # what has failed may come nearer from here
                    if asked:
                        answer = np.int64(HOLDS)
                        if registers is not None:
                            answer = np.int64(ask(choice, row, failed, rules, rows, work, counting))
                            if answer < 0:
                                return int(answer)
                        if answer == HOLDS and not failed:
                            break
                        if counting is not None:
                            if answer == HOLDS:
                                recall(row - start, choice, bit, row + 1, counting)
            choice += 1
        if choice < last:
            if row - start == path.shape[0]:
                return NO_MATCH - layout.PATH_FULL
            path[row - start] = choice
            row += 1
            state = program[choice, layout.TARGET]
            choice = first[state]
            tried_further = False
            if counting is not None:
                begin(row - start, state, row, row, row + 1, counting)
            continue
        if row == start:
            return NO_MATCH
        row -= 1
        choice = path[row - start]
        bit = program[choice, layout.MEMO]
        if tried_further and bit >= 0:
            if not remember_failure(memo, progress, bit, row + 1):
                return NO_ROOM
            if counting is not None:
                remember_nearest(row + 1 - start, bit, row + 1, counting)
        if counting is not None:
            go_back(row - start, choice, counting)
        state = program[choice, layout.SOURCE]
        choice += 1
        tried_further = True


@spliced
def ask(
    choice: int, row: int, failed: bool, rules: Rules, rows: RowArrays, work: Work, counting: Hook
) -> int:
    """Whether the condition on the run lets a choice map a row.

    HOLDS, HOLDS_NOT, or NO_MATCH - status. HOLDS_NOT, too, of a run with the same future as one
    before it. failed: whether it is known that no match follows: then an error is none.
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
    if counting is not None:
        if answer == HOLDS and program[choice, layout.MEMO] < 0:
            answer = note_state(choice, row, depth, rules, work)
            if answer < 0:
                answer = NO_MATCH + answer
    return int(answer)
