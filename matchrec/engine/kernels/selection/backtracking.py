"""One run at a time, where rows may be skipped or all matches are asked for.

From each starting row the search goes depth first: the choices that a row satisfies in preferment
order, then skipping it. `path` is the stack of what is postponed: going back, the search tries what
comes after the choice in it. registers[d] is the computation state after d rows. Where what comes
looks only at the data, a state and row that have led to no match are remembered.

Cost: exponential at worst; rows are read again for each way that leads past them.
Source: SASE+, "Backtracking algorithm".
"""

from matchrec.engine.kernels.layout import (
    ACCEPT,
    BEST_END,
    BEST_START,
    BLOCKS,
    CHOICE,
    CONDITION_FAILED,
    DONE,
    GUARD,
    MAPPED,
    MASK,
    MATCHES,
    MEMO,
    MEMO_FROM,
    MEMO_FULL,
    MEMO_TO,
    NEEDED,
    PARTITION,
    PAST_LAST_ROW,
    PATH_FULL,
    ROW,
    SKIP_HERE,
    SKIP_TO_FIRST_ROW,
    SKIP_TO_NO_ROW,
    SOURCE,
    START,
    TARGET,
    TO_FIRST,
    TO_NEXT_ROW,
    WORD,
    ByteArray,
    ChoiceArray,
    RunArray,
)
from matchrec.engine.kernels.mapping import map_row
from matchrec.engine.kernels.memo import has_failed, remember_failure
from matchrec.engine.kernels.selection.layout import (
    ALL,
    BEST_CHOICES,
    BEST_LENGTH,
    BEST_ROWS,
    CHOICES,
    FORKS,
    MARKS,
    MATCHES_FOUND,
    MOST_ALIVE,
    NODES_CREATED,
    PREFERRED,
    READS,
    ROWS,
    RUNS_CREATED,
    STRICT,
    TILL_ANY,
)
from matchrec.engine.kernels.selection.matches import closes, lacks_absent, write_match
from matchrec.engine.kernels.starts import is_anchored
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.evaluate.jit import inner, kernel

ACCEPTED = -1  # what `search_from` answers at the preferred match, beside a status


@kernel
def search(
    first: IntArray,
    program: IntArray,
    starts: IntArray,
    satisfied: IntArray,
    window_end: RunArray,
    selection: int,
    output: int,
    skip_to: int,
    path: IntArray,
    memo: ByteArray,
    found: IntArray,
    taken: ChoiceArray,
    taken_rows: IntArray,
    progress: IntArray,
    counters: RunArray,
    absent: IntArray,
    members: BoolArray,
    following: IntArray,
    closing: IntArray,
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
        while progress[START] < upper or progress[BEST_START] >= 0:
            start = progress[START]
            kept_matches, kept_mapped = progress[MATCHES], progress[MAPPED]
            if counters is not None:
                counters[1, :] = counters[0, :]
            status = DONE
            best_is_final = progress[BEST_START] >= 0 and start > min(progress[BEST_END], upper - 1)
            if not best_is_final:
                if window_end is not None:
                    progress[MEMO_FROM] = start
                    progress[MEMO_TO] = start
                status = search_from(
                    start,
                    lower,
                    upper,
                    first,
                    program,
                    satisfied,
                    window_end,
                    selection,
                    output,
                    path,
                    memo,
                    found,
                    taken,
                    taken_rows,
                    progress,
                    counters,
                    absent,
                    members,
                    following,
                    closing,
                    instructions,
                    registers,
                    columns,
                    valid,
                    stack,
                )
            length = progress[BEST_LENGTH]
            if best_is_final:
                status = write_match(path, BEST_ROWS, 0, length, found, taken, taken_rows, progress)
            elif status == ACCEPTED:
                status = write_match(path, ROWS, 0, length, found, taken, taken_rows, progress)
                if status == DONE:
                    status = skip(program, skip_to, path, progress, start, length)
                    if status != DONE:
                        return status
            elif status == DONE:
                progress[START] = start + 1
            if status != DONE:
                progress[MATCHES] = kept_matches
                progress[MAPPED] = kept_mapped
                if counters is not None:
                    counters[0, :] = counters[1, :]
                return status
            if best_is_final:
                progress[START] = progress[BEST_END] + 1
                progress[BEST_START] = -1
                progress[MEMO_FROM] = progress[START]
                progress[MEMO_TO] = progress[START]
            if counters is not None:
                counters[0, MATCHES_FOUND] += progress[MATCHES] - kept_matches
        progress[PARTITION] += 1
        progress[START] = upper
        progress[MEMO_FROM] = upper
        progress[MEMO_TO] = upper
    return DONE


@inner
def skip(
    program: IntArray, skip_to: int, path: IntArray, progress: IntArray, start: int, length: int
) -> int:
    """AFTER MATCH SKIP: set the next starting row behind the match in `path`."""
    progress[START] = start + 1
    if length == 0 or skip_to == TO_NEXT_ROW:
        return DONE
    index = length - 1
    if skip_to == PAST_LAST_ROW:
        progress[START] = path[ROWS, index] + 1
        return DONE
    step = -1
    if skip_to == TO_FIRST:
        index, step = 0, 1
    while 0 <= index < length and program[path[CHOICES, index], SKIP_HERE] == 0:
        index += step
    progress[ROW] = start
    if index < 0 or index == length:
        return SKIP_TO_NO_ROW
    if index == 0:
        return SKIP_TO_FIRST_ROW
    progress[START] = path[ROWS, index]
    return DONE


@inner
def search_from(
    start: int,
    lower: int,
    upper: int,
    first: IntArray,
    program: IntArray,
    satisfied: IntArray,
    window_end: RunArray,
    selection: int,
    output: int,
    path: IntArray,
    memo: ByteArray,
    found: IntArray,
    taken: ChoiceArray,
    taken_rows: IntArray,
    progress: IntArray,
    counters: RunArray,
    absent: IntArray,
    members: BoolArray,
    following: IntArray,
    closing: IntArray,
    instructions: RunArray,
    registers: RunArray,
    columns: RunArray,
    valid: RunArray,
    stack: RunArray,
) -> int:
    """Search for matches that start at a row: DONE, ACCEPTED, or a status.

    One loop over choices, forward, over skipped rows, and back.
    """
    end = upper
    if window_end is not None:
        end = window_end[start]
    if progress[BEST_START] >= 0:
        end = min(end, progress[BEST_END])
    row, state, depth = start, 0, 0
    choice = first[0]
    blocked = 0
    matches = 0
    if counters is not None:
        counters[0, RUNS_CREATED] += 1
    while True:
        last = first[state + 1]
        while choice < last:
            target = program[choice, TARGET]
            guard = program[choice, GUARD]
            if guard != 0 and not is_anchored(guard, row, lower, upper):
                choice += 1
                continue
            if target == ACCEPT:
                arrived = depth == 0 or path[ROWS, depth - 1] == row - 1
                if arrived and (depth > 0 or output == PREFERRED):
                    answer = HOLDS
                    if depth > 0:
                        answer = closes(
                            row - 1,
                            depth,
                            satisfied,
                            closing,
                            lower,
                            upper,
                            instructions,
                            registers,
                            columns,
                            valid,
                            stack,
                        )
                        if answer == HOLDS:
                            answer = lacks_absent(
                                path,
                                0,
                                depth,
                                depth,
                                program,
                                window_end,
                                absent,
                                members,
                                following,
                                lower,
                                upper,
                                instructions,
                                registers,
                                columns,
                                valid,
                                stack,
                            )
                    if answer == HOLDS:
                        progress[BEST_LENGTH] = depth
                        if output == PREFERRED:
                            return ACCEPTED
                        matches += 1
                        if output == ALL:
                            status = write_match(
                                path, ROWS, 0, depth, found, taken, taken_rows, progress
                            )
                            if status != DONE:
                                return status
                        else:
                            for index in range(depth):
                                path[BEST_ROWS, index] = path[ROWS, index]
                                path[BEST_CHOICES, index] = path[CHOICES, index]
                            progress[BEST_START] = start
                            progress[BEST_END] = row - 1
                            end = row - 1  # only what completes earlier is better
                    elif answer != HOLDS_NOT:
                        progress[ROW] = row - 1
                        progress[CHOICE] = path[CHOICES, depth - 1]
                        return CONDITION_FAILED + answer
                choice += 1
                continue
            mask = program[choice, MASK]
            if row >= end or satisfied[row, program[choice, WORD]] & mask != mask:
                choice += 1
                continue
            if depth == path.shape[1]:
                return PATH_FULL
            if registers is not None:
                answer = map_row(
                    program,
                    choice,
                    depth,
                    depth + 1,
                    row,
                    lower,
                    upper,
                    instructions,
                    registers,
                    columns,
                    valid,
                    stack,
                )
                if answer == HOLDS_NOT:
                    choice += 1
                    continue
                if answer != HOLDS:
                    progress[ROW] = row
                    progress[CHOICE] = choice
                    return CONDITION_FAILED + answer
            if program[choice, BLOCKS] != 0:
                blocked = 1
            bit = program[choice, MEMO]
            if bit >= 0 and has_failed(memo, progress, bit, row + 1):
                choice += 1
                continue
            break
        if choice < last:
            path[ROWS, depth] = row
            path[CHOICES, depth] = choice
            path[MARKS, depth] = 2 * matches + blocked
            depth += 1
            row += 1
            state = program[choice, TARGET]
            choice = first[state]
            blocked = 0
            if counters is not None:
                counters[0, NODES_CREATED] += 1
                counters[0, READS] += 1
                counters[0, MOST_ALIVE] = max(counters[0, MOST_ALIVE], depth)
            continue
        if (
            depth > 0
            and row < end
            and selection != STRICT
            and (selection == TILL_ANY or blocked == 0)
        ):
            row += 1
            choice = first[state]
            blocked = 0
            if counters is not None:
                counters[0, READS] += 1
            continue
        if depth == 0:
            return DONE
        depth -= 1
        row = path[ROWS, depth]
        choice = path[CHOICES, depth]
        blocked = path[MARKS, depth] & 1
        bit = program[choice, MEMO]
        if bit >= 0 and path[MARKS, depth] >> 1 == matches:
            if not remember_failure(memo, progress, bit, row + 1):
                progress[NEEDED] = row + 2 - start
                return MEMO_FULL
        state = program[choice, SOURCE]
        choice += 1
        if counters is not None:
            counters[0, FORKS] += 1
            counters[0, RUNS_CREATED] += 1
