"""One run at a time, where rows may be skipped or all matches are asked for.

From each starting row the search goes depth first: the choices that a row satisfies in preferment
order, then skipping it. `path` is the stack of what is postponed: going back, the search tries what
comes after the choice in it. registers[d] is the computation state after d rows. Where what comes
looks only at the data, a state and row that have led to no match are remembered.

Cost: exponential at worst; rows are read again for each way that leads past them.
Source: SASE+, "Backtracking algorithm".
"""

import numpy as np

from matchrec.engine.contiguous.kernels.starts import is_anchored, skip_target
from matchrec.engine.kernels.layout import (
    ACCEPT,
    BEST_END,
    BEST_START,
    BLOCKS,
    DONE,
    GUARD,
    MAPPED,
    MATCHES,
    MEMO,
    MEMO_FROM,
    MEMO_FULL,
    MEMO_TO,
    NEEDED,
    OUTPUT_FULL,
    PARTITION,
    PAST_LAST_ROW,
    PATH_FULL,
    ROW,
    SKIP_TO_FIRST_ROW,
    SKIP_TO_NO_ROW,
    SOURCE,
    START,
    TARGET,
    TO_NEXT_ROW,
)
from matchrec.engine.kernels.memo import has_failed, remember_failure
from matchrec.engine.selection.kernels.choosing import failed, may_map
from matchrec.engine.selection.kernels.layout import (
    ALL,
    BEST_LENGTH,
    CHOICES,
    COMPLETED,
    COMPLETES_HERE,
    CUTS,
    ENDS,
    FORKS,
    MARKS,
    MATCH_KIND,
    MATCHES_FOUND,
    MOST_ALIVE,
    NODES_CREATED,
    PREFERRED,
    READS,
    ROWS,
    RUNS_CREATED,
    STOPS,
    TIMES_OUT,
    WINDOW,
    Found,
    Rows,
    Rules,
    Work,
)
from matchrec.engine.selection.kernels.matches import (
    closes,
    comes_before,
    copy,
    keep,
    lacks_absent,
    write_best,
    write_path,
)
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inlined, inner, kernel
from matchrec.nfa.places import A_MATCH

BLOCKED = 1  # the run may not skip the row
STOPPED = 3  # nor go on with it, it may only be completed by it
ACCEPTED = -1  # what `search_from` answers at the preferred match, beside a status


@kernel
def search(rules: Rules, rows: Rows, work: Work, output: Found) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    progress, counters = work.progress, work.counters
    while progress[PARTITION] < rows.starts.shape[0] - 1:
        lower = rows.starts[progress[PARTITION]]
        upper = rows.starts[progress[PARTITION] + 1]
        while progress[START] < upper or progress[BEST_START] >= 0:
            start = progress[START]
            matches, mapped = progress[MATCHES], progress[MAPPED]
            copy(counters[0], counters[1])
            if progress[BEST_START] >= 0 and start > min(progress[BEST_END], upper - 1):
                status = finish_best(work, output)
            else:
                if rows.window_end[start] != progress[WINDOW]:  # what failed was in a smaller one
                    forget(start, work)
                    progress[WINDOW] = rows.window_end[start]
                status = DONE
                for first in range(rules.starts):
                    if status == DONE:
                        status = search_from(start, first, lower, upper, rules, rows, work, output)
                if status == DONE:
                    progress[START] = start + 1
                elif status == ACCEPTED:
                    status = write_path(progress[BEST_LENGTH], work, output)
                    if status == DONE:
                        status = skip(start, rules, work)
            if status != DONE:
                progress[MATCHES] = matches
                progress[MAPPED] = mapped
                copy(counters[1], counters[0])
                return status
            counters[0, MATCHES_FOUND] += progress[MATCHES] - matches
        progress[PARTITION] += 1
        progress[START] = upper
        forget(upper, work)
    return DONE


@inlined
def forget(row: int, work: Work) -> None:
    """Remember failures from `row` on only."""
    work.progress[MEMO_FROM] = row
    work.progress[MEMO_TO] = row


@inner
def finish_best(work: Work, output: Found) -> int:
    """Write out the best match and go on behind it; DONE or OUTPUT_FULL."""
    progress = work.progress
    progress[COMPLETED] = progress[BEST_END]
    status = write_best(work, output)
    if status == DONE:
        progress[START] = progress[BEST_END] + 1
        progress[BEST_START] = -1
        forget(progress[START], work)
    return status


@inner
def skip(start: int, rules: Rules, work: Work) -> int:
    """AFTER MATCH SKIP: set the next starting row after the match in `path`."""
    path, progress, length = work.path, work.progress, work.progress[BEST_LENGTH]
    progress[START] = start + 1
    if length == 0 or rules.skip_to == TO_NEXT_ROW:
        return DONE
    if rules.skip_to == PAST_LAST_ROW:
        progress[START] = path[ROWS, length - 1] + 1
        return DONE
    progress[ROW] = start
    index = skip_target(rules.program, rules.skip_to, path[CHOICES, :length])
    if index < 0:
        return SKIP_TO_NO_ROW
    if index == 0:
        return SKIP_TO_FIRST_ROW
    progress[START] = path[ROWS, index]
    return DONE


@inlined
def search_from(
    start: int,
    first: int,
    lower: int,
    upper: int,
    rules: Rules,
    rows: Rows,
    work: Work,
    output: Found,
) -> int:
    """Search for matches that start at a row in state `first`: DONE, ACCEPTED, or a status.

    One loop over choices, forward, over skipped rows, and back.
    """
    program, path, progress, counters = rules.program, work.path, work.progress, work.counters
    end = rows.run_end[start]
    row, state, depth = start, first, np.int64(0)
    choice = rules.first[first]
    blocked, matches = np.int64(0), np.int64(0)
    counters[0, RUNS_CREATED] += 1
    while True:
        last = rules.first[state + 1]
        if work.alive.shape[0] > 0:
            work.alive[start] = max(work.alive[start], row)
        if progress[BEST_START] >= 0:
            # What completes earlier is better, or with the same start the least positions.
            end = min(end, progress[BEST_END] + int(progress[BEST_START] == start))
        while choice < last:
            target = program[choice, TARGET]
            if target == ACCEPT:
                status = accept(row, depth, choice, lower, upper, rules, rows, work, output)
                if status == ACCEPTED:
                    if rules.output == PREFERRED:
                        return ACCEPTED
                    matches += 1
                elif status != DONE:
                    return status
            elif row < end and (blocked != STOPPED or target < 0 or not rules.goes_on[target]):
                if depth == path.shape[1]:
                    return PATH_FULL
                answer = may_map(choice, depth, depth + 1, row, lower, upper, rules, rows, work)
                if answer == HOLDS and target >= 0:
                    blocked = max(blocked, program[choice, BLOCKS])
                    bit = program[choice, MEMO]
                    if bit < 0 or not has_failed(work.memo, progress, bit, row + 1):
                        break
                elif answer == HOLDS:
                    before = progress[MATCHES]
                    blocked = react(target, state, row, depth, blocked, rules, work, output)
                    if blocked < 0:
                        return OUTPUT_FULL
                    matches += progress[MATCHES] - before
                    if target == ENDS or target == TIMES_OUT or target == CUTS:
                        choice = last
                        break
                elif answer != HOLDS_NOT:
                    return failed(answer, choice, row, work)
            choice += 1
        counters[0, READS] += 1
        if choice < last:
            path[ROWS, depth] = row
            path[CHOICES, depth] = choice
            path[MARKS, depth] = 4 * matches + blocked
            depth += 1
            row += 1
            state = program[choice, TARGET]
            blocked = 0 if rules.goes_on[state] else BLOCKED
            choice = rules.first[state]
            counters[0, NODES_CREATED] += 1
            counters[0, MOST_ALIVE] = max(counters[0, MOST_ALIVE], depth)
            continue
        if depth == 0:
            return DONE
        if row < end and blocked == 0 and rules.waits[state] >= 0:
            row += 1
            state = rules.waits[state]
            choice = rules.first[state]
            continue
        if row >= end and rules.ends[state] != 0:
            if complete(rules.ends[state], row, depth, work, output) != DONE:
                return OUTPUT_FULL
            matches += 1
        depth -= 1
        row, choice = path[ROWS, depth], path[CHOICES, depth]
        blocked = path[MARKS, depth] & 3
        bit = program[choice, MEMO]
        in_vain = bit >= 0 and path[MARKS, depth] >> 2 == matches
        if in_vain and not remember_failure(work.memo, progress, bit, row + 1):
            progress[NEEDED] = row + 2 - start
            return MEMO_FULL
        state = program[choice, SOURCE]
        choice += 1
        counters[0, FORKS] += 1
        counters[0, RUNS_CREATED] += 1


@inner
def react(
    target: int,
    state: int,
    row: int,
    depth: int,
    blocked: int,
    rules: Rules,
    work: Work,
    output: Found,
) -> int:
    """What a row that is not mapped makes of `blocked`; a match that it completes is written out.

    -1 where the output is full.
    """
    if target == CUTS:
        return blocked
    if target == COMPLETES_HERE or (target == TIMES_OUT and rules.ends[state] != 0):
        kind = A_MATCH if target == COMPLETES_HERE else rules.ends[state]
        if complete(kind, row, depth, work, output) != DONE:
            return -1
    return STOPPED if target == STOPS else max(blocked, BLOCKED)


@inner
def complete(kind: int, row: int, depth: int, work: Work, output: Found) -> int:
    """Write out the path as what `kind` says, complete at a row; DONE or OUTPUT_FULL."""
    work.progress[COMPLETED] = row
    work.progress[MATCH_KIND] = kind
    return write_path(depth, work, output)


@inlined
def accept(
    row: int,
    depth: int,
    choice: int,
    lower: int,
    upper: int,
    rules: Rules,
    rows: Rows,
    work: Work,
    output: Found,
) -> int:
    """The path as a match, if its last row is the one before `row`: ACCEPTED, DONE or a status."""
    path, progress = work.path, work.progress
    guard = rules.program[choice, GUARD]
    if guard != 0 and not is_anchored(guard, row, lower, upper):
        return DONE
    if depth == 0 and rules.output == PREFERRED:
        progress[BEST_LENGTH] = 0
        return ACCEPTED
    if depth == 0:
        return DONE
    if path[ROWS, depth - 1] != row - 1 or rows.window_end[path[ROWS, 0]] < row:
        return DONE
    tie = progress[BEST_START] >= 0 and row - 1 == progress[BEST_END]
    if tie and path[ROWS, 0] != progress[BEST_START]:
        return DONE
    if progress[BEST_START] >= 0 and row - 1 > progress[BEST_END]:
        return DONE
    answer = closes(row - 1, depth, lower, upper, rules, rows, work)
    if answer == HOLDS:
        answer = lacks_absent(0, depth, depth, lower, upper, rules, rows, work)
    if answer == HOLDS_NOT:
        return DONE
    if answer != HOLDS:
        return failed(answer, path[CHOICES, depth - 1], row - 1, work)
    if rules.output == ALL:
        status = complete(A_MATCH, row - 1, depth, work, output)
        return ACCEPTED if status == DONE else status
    if rules.output == PREFERRED:
        progress[BEST_LENGTH] = depth
    elif not tie or comes_before(path, 0, depth, progress[BEST_LENGTH]):
        keep(0, depth, work)
        progress[BEST_END] = row - 1
    return ACCEPTED
