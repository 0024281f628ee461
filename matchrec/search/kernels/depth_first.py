"""Depth-first search in preferment order: the first run that accepts is the match.

It is used for the preferred match of consecutive rows, by the strategies `Memoised` and `Plain`. If
conditions depend on the data only and there are windows, `distances` is used instead.

1. Try the choices of the state in preferment order. The first one by which the row can be mapped
   takes the run to the next row.
2. If a choice accepts, the path is the match.
3. If no choice is left, go back one row and try the choices after the one in the path.

`path` holds the choice taken at each row and is the only stack. registers[d] is the computation
state after d rows, so going back restores it.

    PATTERN (A B+ C)   rows A B B X

    row 0 A, row 1 B, row 2 B, row 3: neither B nor C
    back to row 2: C does not hold; back to row 1: C does not hold; back to row 0: no match

A pair of a state and a row whose choices have all been tried has failed. It fails for every
starting row, unless what follows depends on the registers. If the pair can be reached again, the
failure is remembered; with windows, it is remembered for starting rows whose windows end together.

`coverage` has the same loop, which also finds how far each starting row came.

Cost: rows x choices if conditions depend on the data only; exponential at worst if they depend on
the run.

Sources: SASE+, "Backtracking algorithm" and "Merging equivalent runs"; failures are remembered as
in RE2's BitState.
"""

import numpy as np

from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import Hook, RowArrays, Rules, Work
from matchrec.search.kernels.mapping import (
    has_failed,
    holds_at,
    is_anchored,
    note_failure,
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
def search_start(rules: Rules, rows: RowArrays, work: Work, registers: Hook, _totals: None) -> int:
    """Write out the match at progress.start, and set the next starting row; return a status."""
    progress = work.progress
    bound = begin_start(rows.window_end, progress)
    length = find_match(bound, rules, rows, work, registers)
    if length < 0:
        return go_on_without(length, progress)
    return write_path(length, rules, work)


search = searching(search_start)


@spliced
def find_match(bound: int, rules: Rules, rows: RowArrays, work: Work, registers: Hook) -> int:
    """Return the length of the preferred match at progress.start, NO_MATCH, or NO_MATCH - status.

    `bound` is the row before which a match ends. All is one loop over choices, forward and back, so
    that its variables stay in machine registers.
    """
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    path, memo, progress = work.path, work.memo, work.progress
    start, edge = progress.start, progress.edge
    row = start
    state = np.int64(0)
    choice = first[0]
    tried_further = False  # whether the search has been beyond this pair of state and row
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
                    if bit < 0 or not has_failed(memo, progress, bit, row + 1):
                        answer = np.int64(HOLDS)
                        if registers is not None:
                            answer = np.int64(evaluate_choice(choice, row, rules, rows, work))
                            if answer < 0:
                                return int(answer)
                        if answer == HOLDS:
                            break
            choice += 1
        if choice < end_of_choices:
            if row - start == path.shape[0]:
                return NO_MATCH - layout.PATH_FULL
            path[row - start] = choice
            row += 1
            state = program[choice, layout.TARGET]
            choice = first[state]
            tried_further = False
            continue
        if row == start:
            return NO_MATCH
        row -= 1
        choice = path[row - start]
        bit = program[choice, layout.MEMO]
        if tried_further and bit >= 0:
            if not remember_failure(memo, progress, bit, row + 1):
                return NO_ROOM
        state = program[choice, layout.SOURCE]
        choice += 1
        tried_further = True


@spliced
def evaluate_choice(choice: int, row: int, rules: Rules, rows: RowArrays, work: Work) -> int:
    """Return whether the condition on the run lets a choice map a row.

    Returns:
        HOLDS, HOLDS_NOT or NO_MATCH - status.
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
    if answer != HOLDS and answer != HOLDS_NOT:
        answer = NO_MATCH - note_failure(answer, choice, row, progress)
    return int(answer)
