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

from matchrec.engine.kernels.layout import (
    ACCEPT,
    ASKED,
    CHOICE,
    CONDITION_FAILED,
    DONE,
    FAILED_START,
    GUARD,
    MAPPED,
    MASK,
    MEMO,
    MEMO_FROM,
    MEMO_FULL,
    MEMO_TO,
    MEMO_WINDOW,
    MORE_ROWS,
    NEEDED,
    NO_EDGE,
    NUMBER,
    OUTPUT_FULL,
    PARTITION,
    PATH_FULL,
    ROW,
    SOURCE,
    START,
    TARGET,
    TOO_MANY_STEPS,
    WORD,
    ByteArray,
    ChoiceArray,
    RunArray,
)
from matchrec.engine.kernels.mapping import is_asked_too_often, map_row
from matchrec.engine.kernels.memo import has_failed, remember_failure
from matchrec.engine.kernels.starts import (
    edge_of,
    end_of_window,
    finish_match,
    has_room,
    is_anchored,
)
from matchrec.engine.partitions import IntArray
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inlined, kernel

NO_MATCH = -1  # find_match returns a length, this, or less: NO_MATCH - status


@kernel
def search(
    first: IntArray,
    program: IntArray,
    starts: IntArray,
    searched: IntArray,
    satisfied: IntArray,
    window_end: IntArray,
    skip_to: int,
    path: ChoiceArray,
    memo: ByteArray,
    found: IntArray,
    taken: ChoiceArray,
    progress: IntArray,
    instructions: RunArray,
    registers: RunArray,
    columns: RunArray,
    valid: RunArray,
    stack: RunArray,
) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    while progress[PARTITION] < starts.shape[0] - 1:
        lower = starts[progress[PARTITION]]
        upper = starts[progress[PARTITION] + 1]
        edge = edge_of(starts, progress)
        while progress[START] < searched[1, progress[PARTITION]]:
            start = progress[START]
            bound = end_of_window(window_end, start, upper)
            if bound != progress[MEMO_WINDOW]:  # what failed was in another one
                progress[MEMO_FROM] = start
                progress[MEMO_TO] = start
                progress[MEMO_WINDOW] = bound
            length = find_match(
                first,
                program,
                satisfied,
                path,
                memo,
                progress,
                bound,
                edge,
                lower,
                upper,
                instructions,
                registers,
                columns,
                valid,
                stack,
            )
            if length == NO_MATCH:
                progress[START] = start + 1
                continue
            if length < NO_MATCH:
                return NO_MATCH - length
            if not has_room(found, taken, progress, length):
                progress[NEEDED] = length
                return OUTPUT_FULL
            mapped = progress[MAPPED]
            for index in range(length):
                taken[mapped + index] = path[index]
            status = finish_match(program, skip_to, found, taken, progress, start, length)
            if status != DONE:
                return status
        if edge != NO_EDGE:
            return MORE_ROWS
        progress[PARTITION] += 1
        progress[START] = searched[0, progress[PARTITION]]
        progress[NUMBER] = 0
        progress[ASKED] = 0
        progress[MEMO_FROM] = progress[START]
        progress[MEMO_TO] = progress[START]
    return DONE


@inlined
def find_match(
    first: IntArray,
    program: IntArray,
    satisfied: IntArray,
    path: ChoiceArray,
    memo: ByteArray,
    progress: IntArray,
    bound: int,
    edge: int,
    lower: int,
    upper: int,
    instructions: RunArray,
    registers: RunArray,
    columns: RunArray,
    valid: RunArray,
    stack: RunArray,
) -> int:
    """Length of the preferred match at progress[START], NO_MATCH, or NO_MATCH - status.

    One loop over choices, forward and back, so that all of it stays in machine registers.
    """
    start = progress[START]
    if start >= edge:
        return NO_MATCH - MORE_ROWS
    row = start
    state = 0
    choice = first[0]
    tried_further = False  # whether the search has been beyond this pair of state and row
    while True:
        last = first[state + 1]
        while choice < last:
            guard = program[choice, GUARD]
            if guard == 0 or is_anchored(guard, row, lower, upper):
                if program[choice, TARGET] == ACCEPT:
                    return int(row - start)
                mask = program[choice, MASK]
                if row < bound and satisfied[row, program[choice, WORD]] & mask == mask:
                    bit = program[choice, MEMO]
                    if bit < 0 or not has_failed(memo, progress, bit, row + 1):
                        if registers is None:
                            break
                        if row - start == path.shape[0]:
                            return NO_MATCH - PATH_FULL
                        if is_asked_too_often(progress):
                            return NO_MATCH - TOO_MANY_STEPS
                        answer = map_row(
                            program,
                            choice,
                            row - start,
                            row - start + 1,
                            row,
                            lower,
                            upper,
                            instructions,
                            registers,
                            columns,
                            valid,
                            stack,
                        )
                        if answer == HOLDS:
                            break
                        if answer != HOLDS_NOT:
                            progress[ROW] = row
                            progress[CHOICE] = choice
                            progress[FAILED_START] = start
                            return NO_MATCH - (CONDITION_FAILED + answer)
            choice += 1
        if choice < last:
            if row - start == path.shape[0]:
                return NO_MATCH - PATH_FULL
            path[row - start] = choice
            row += 1
            if row == edge:
                return NO_MATCH - MORE_ROWS
            state = program[choice, TARGET]
            choice = first[state]
            tried_further = False
            continue
        if row == start:
            return NO_MATCH
        row -= 1
        choice = path[row - start]
        bit = program[choice, MEMO]
        if tried_further and bit >= 0 and not remember_failure(memo, progress, bit, row + 1):
            progress[NEEDED] = row + 2 - start
            return NO_MATCH - MEMO_FULL
        state = program[choice, SOURCE]
        choice += 1
        tried_further = True
