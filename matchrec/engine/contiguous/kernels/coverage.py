"""The depth-first search of `backtracking`, which also tells how far each starting row came.

A starting row that begins no match is told by one of its runs, the *nearest*: the one after which a
match needed the fewest rows more, of several the one with the most rows, of several the most
preferred one. So each way ends where nothing that would have brought it nearer was true. The
nearest run from a state and row on does not depend on how it was reached, so it is remembered with
the failure; but where a run ends at once, its last row is the one by which it came there.

Where the ways through the pattern multiply and no failure can be remembered, as conditions depend
on the run, the computation states that a starting row has seen are kept: equal ones have the same
future.

Cost: that of `backtracking`, times the words of a trail; where computation states are kept, that of
all that differ. Source: SASE+, "Merging equivalent runs".
"""

import numpy as np

from matchrec.engine.contiguous.kernels import coverage_layout as own
from matchrec.engine.contiguous.kernels.coverage_layout import CoverageWork
from matchrec.engine.contiguous.kernels.nearest_runs import (
    NONE,
    begin,
    go_back,
    recall,
    remember_nearest,
)
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
from matchrec.engine.kernels.layout import Found, Partition, Rows, Rules, RunArray
from matchrec.engine.kernels.mapping import Places, map_row, on_run_of, takes_too_many_steps
from matchrec.engine.kernels.memo import has_failed, remember_failure
from matchrec.engine.kernels.seen import is_seen
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inlined, inner, kernel, spliced


@kernel
def search(rules: Rules, rows: Rows, work: CoverageWork, output: Found, registers: RunArray) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    return search_partitions(search_start, rules, rows, work, output, registers)


@spliced
def search_start(
    partition: Partition,
    rules: Rules,
    rows: Rows,
    work: CoverageWork,
    output: Found,
    registers: RunArray,
) -> int:
    """Write out the preferred match at progress[START] or count how far its runs came."""
    bound = begin_start(rows, partition, work.progress)
    length = find_match(bound, partition, rules, rows, work, registers)
    if length == NO_MATCH:
        count_nearest(bound, partition, rules, rows, work)
    if length < 0:
        return go_on_without(length, work.progress)
    status = write_path(length, rules, work, output)
    if status == layout.DONE:
        count_match(length, work)
    return status


@spliced
def find_match(
    bound: int,
    partition: Partition,
    rules: Rules,
    rows: Rows,
    work: CoverageWork,
    registers: RunArray,
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
    begin(0, state, row, work)
    progress[layout.STAMP] += 1
    progress[layout.RUNS] = 0
    tried_further = False
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
                    known = bit >= 0 and has_failed(memo, progress, bit, row + 1)
                    answer = np.int64(HOLDS)
                    if registers is not None:
                        depth = row - start
                        if depth == path.shape[0]:
                            return NO_MATCH - layout.PATH_FULL
                        if takes_too_many_steps(progress):
                            return NO_MATCH - layout.TOO_MANY_STEPS
                        places = Places(depth, depth + 1)
                        on_run = on_run_of(partition, rules, rows, work)
                        answer = map_row(choice, places, row, program, on_run)
                        if answer != HOLDS and answer != HOLDS_NOT and not known:
                            progress[layout.ROW] = row
                            progress[layout.CHOICE] = choice
                            return NO_MATCH - (layout.CONDITION_FAILED + answer)
                        if answer == HOLDS and bit < 0 and rules.merge_runs:
                            if 2 * progress[layout.RUNS] >= work.seen.shape[0]:
                                return NO_MATCH - layout.RUNS_FULL
                            target = work.targets[choice]
                            if is_seen(depth + 1, target, row + 1, rules, work):
                                answer = np.int64(HOLDS_NOT)
                    if answer == HOLDS and not known:
                        break
                    if answer == HOLDS:
                        recall(row - start, choice, bit, row + 1, work)
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
            begin(row - start, state, row, work)
            tried_further = False
            continue
        if row == start:
            return NO_MATCH
        row -= 1
        choice = path[row - start]
        bit = program[choice, layout.MEMO]
        if tried_further and bit >= 0:
            if not remember_failure(memo, progress, bit, row + 1):
                progress[layout.NEEDED] = row + 2 - start
                return NO_ROOM
            remember_nearest(row + 1 - start, bit, row + 1, work)
        go_back(row - start, choice, work)
        state = program[choice, layout.SOURCE]
        choice += 1
        tried_further = True


@inner
def count_match(length: int, work: CoverageWork) -> None:
    """Count the occurrences that the rows of a match have taken."""
    for word in range(work.trails.shape[1]):
        work.trails[0, word] = 0
    for index in range(length):
        taken = work.taken[work.path[index]]
        work.trails[0, taken >> 6] |= np.int64(1) << (taken & 63)
    count_trail(work)


@inlined
def count_trail(work: CoverageWork) -> None:
    """Count a starting row at each occurrence of the trail of its run."""
    for occurrence in range(work.came.shape[0]):
        work.came[occurrence] += (work.trails[0, occurrence >> 6] >> (occurrence & 63)) & 1


@inlined
def count_nearest(
    bound: int, partition: Partition, rules: Rules, rows: Rows, work: CoverageWork
) -> None:
    """Count where the nearest run of a starting row ended, and what ended it."""
    row, choice = work.ends[0, own.END_ROW], work.ends[0, own.END_CHOICE]
    state = np.int64(0) if choice == NONE else work.targets[choice]
    count_trail(work)
    remaining = work.ends[0, own.END_REMAINING]
    if choice != NONE and remaining < work.best[own.BEST_REMAINING]:
        work.best[own.BEST_REMAINING] = remaining
        work.best[own.BEST_START] = work.progress[layout.START]
    reason = own.ANCHORED
    for index in range(work.nearer_first[state], work.nearer_first[state + 1]):
        other = work.nearer[index]
        guard = rules.program[other, layout.GUARD]
        if guard == 0 or is_anchored(guard, row, partition.lower, partition.upper):
            reason = own.FALSE
            if row >= bound:
                reason = own.NO_ROW if bound == partition.upper else own.OUT_OF_WINDOW
            else:
                count_parts(other, choice, row, rules, rows, work)
    work.ended[choice + 1, reason] += 1


@inlined
def count_parts(
    other: int, choice: int, row: int, rules: Rules, rows: Rows, work: CoverageWork
) -> None:
    """Count which parts of the condition of a choice were not true for a row.

    What depends on the run is to blame where all else was true.
    """
    program, satisfied = rules.program, rows.satisfied
    place = 0 if choice == NONE else work.taken[choice] + 1
    variable = program[other, layout.VARIABLE]
    mask = program[other, layout.MASK]
    holds = satisfied[row, program[other, layout.WORD]] & mask == mask
    for part in range(work.parts_first[variable], work.parts_first[variable + 1]):
        mask = work.parts[part, own.PART_MASK]
        false = satisfied[row, work.parts[part, own.PART_WORD]] & mask != mask
        if mask == 0:
            false = holds
        if false and work.parts[part, own.PART_START] != work.progress[layout.START]:
            work.parts[part, own.PART_START] = work.progress[layout.START]
            work.parts_false[place, part] += 1
