"""Depth-first search in preferment order: the first way that reaches acceptance is the match.

`path` holds the choice taken at each row and is the only stack: going back a row, the search tries
the choices after the one in the path. registers[d] is the computation state after d rows, so going
back restores it. A pair of state and row whose choices are all exhausted has failed for every
starting row, unless what comes depends on the registers; where it can be reached again, that is
remembered, with windows for the starting rows whose windows end together. Where there are windows
and conditions look only at the data, `windowed` takes the place of this kernel.

Cost: rows x choices where conditions look only at the data; exponential at worst where they depend
on the run. Source: SASE+, "Backtracking algorithm"; failures are remembered as in RE2's BitState.
"""

import numpy as np

from matchrec.engine.contiguous.kernels.starts import (
    NO_MATCH,
    NO_ROOM,
    UNDECIDED,
    begin_start,
    go_on_without,
    is_anchored,
    search_partitions,
    write_path,
)
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import Found, Partition, PathWork, Rows, Rules, RunArray
from matchrec.engine.kernels.mapping import Places, map_row, on_run_of, takes_too_many_steps
from matchrec.engine.kernels.memo import has_failed, remember_failure
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import kernel, spliced


@kernel
def search(rules: Rules, rows: Rows, work: PathWork, output: Found, registers: RunArray) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    return search_partitions(search_start, rules, rows, work, output, registers)


@spliced
def search_start(
    partition: Partition,
    rules: Rules,
    rows: Rows,
    work: PathWork,
    output: Found,
    registers: RunArray,
) -> int:
    """Write out the preferred match at progress[START], and go on to the next starting row."""
    bound = begin_start(rows, partition, work.progress)
    length = find_match(bound, partition, rules, rows, work, registers)
    if length < 0:
        return go_on_without(length, work.progress)
    return write_path(length, rules, work, output)


@spliced
def find_match(
    bound: int, partition: Partition, rules: Rules, rows: Rows, work: PathWork, registers: RunArray
) -> int:
    """Length of the preferred match at progress[START], NO_MATCH, or NO_MATCH - status.

    One loop over choices, forward and back, so that all of it stays in machine registers.
    """
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    path, memo, progress = work.path, work.memo, work.progress
    start = progress[layout.START]
    if start >= partition.edge:
        return UNDECIDED
    row = start
    state = np.int64(0)
    choice = first[0]
    tried_further = False  # whether the search has been beyond this pair of state and row
    while True:
        last = first[state + 1]
        while choice < last:
            guard = program[choice, layout.GUARD]
            if guard == 0 or is_anchored(guard, row, partition.lower, partition.upper):
                if program[choice, layout.TARGET] == layout.ACCEPT:
                    return int(row - start)
                mask = program[choice, layout.MASK]
                if row < bound and satisfied[row, program[choice, layout.WORD]] & mask == mask:
                    bit = program[choice, layout.MEMO]
                    if bit < 0 or not has_failed(memo, progress, bit, row + 1):
                        if registers is None:
                            break
                        depth = row - start
                        if depth == path.shape[0]:
                            return NO_MATCH - layout.PATH_FULL
                        if takes_too_many_steps(progress):
                            return NO_MATCH - layout.TOO_MANY_STEPS
                        places = Places(depth, depth + 1)
                        on_run = on_run_of(partition, rules, rows, work)
                        answer = map_row(choice, places, row, program, on_run)
                        if answer == HOLDS:
                            break
                        if answer != HOLDS_NOT:
                            progress[layout.ROW] = row
                            progress[layout.CHOICE] = choice
                            return NO_MATCH - (layout.CONDITION_FAILED + answer)
            choice += 1
        if choice < last:
            if row - start == path.shape[0]:
                return NO_MATCH - layout.PATH_FULL
            path[row - start] = choice
            row += 1
            if row == partition.edge:
                return UNDECIDED
            state = program[choice, layout.TARGET]
            choice = first[state]
            tried_further = False
            continue
        if row == start:
            return NO_MATCH
        row -= 1
        choice = path[row - start]
        bit = program[choice, layout.MEMO]
        if tried_further and bit >= 0 and not remember_failure(memo, progress, bit, row + 1):
            progress[layout.NEEDED] = row + 2 - start
            return NO_ROOM
        state = program[choice, layout.SOURCE]
        choice += 1
        tried_further = True
