"""One run at a time, where rows may be skipped or all matches are asked for.

From each starting row the search goes depth first: the choices that a row satisfies in preferment
order, then skipping it. `path` is the stack of what is postponed: going back, the search tries what
comes after the choice in it. registers[d] is the computation state after d rows. Where what comes
looks only at the data, a state and row that have led to no match are remembered.

Cost: exponential at worst; rows are read again for each way that leads past them.
Source: SASE+, "Backtracking algorithm".
"""

import numpy as np

from matchrec.engine.contiguous.kernels.starts import is_anchored, whole_partition
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.mapping import OnRun, Places, on_run_of
from matchrec.engine.kernels.memo import forget, has_failed, remember_failure
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.choosing import may_map, note_failure
from matchrec.engine.selection.kernels.layout import Found, Negation, Rows, Rules, Work
from matchrec.engine.selection.kernels.matches import (
    closes,
    keep_better,
    lacks_absent,
    write_best,
    write_path,
)
from matchrec.engine.selection.kernels.skipping import skip
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import kernel, spliced
from matchrec.nfa.outcomes import A_MATCH

BLOCKED = 1  # the run may not skip the row
STOPPED = 3  # nor go on with it, it may only be completed by it
ACCEPTED = -1  # what `search_from` answers at the preferred match, beside a status


@kernel
def search(rules: Rules, rows: Rows, work: Work, output: Found, negation: Negation | None) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    progress, counters, window_end = work.progress, work.counters, rows.window_end
    while progress[layout.PARTITION] < rows.starts.shape[0] - 1:
        partition = whole_partition(rows.starts, progress)
        on_run = on_run_of(partition, rules, rows, work)
        while progress[layout.START] < partition.upper or progress[layout.BEST_START] >= 0:
            start = progress[layout.START]
            matches, mapped = progress[layout.MATCHES], progress[layout.MAPPED]
            best_end = min(progress[layout.BEST_END], partition.upper - 1)
            if progress[layout.BEST_START] >= 0 and start > best_end:
                status = finish_best(work, output)
            else:
                if window_end[start] != progress[own.WINDOW]:
                    forget(start, progress)  # what failed was in a smaller one
                    progress[own.WINDOW] = window_end[start]
                status = layout.DONE
                for first in range(rules.starts):
                    if status == layout.DONE:
                        status = search_from(first, rules, rows, work, output, negation, on_run)
                if status == layout.DONE:
                    progress[layout.START] = start + 1
                elif status == ACCEPTED:
                    status = write_path(progress[own.BEST_LENGTH], work.path, progress, output)
                    if status == layout.DONE:
                        status = skip(start, rules, work)
            if status != layout.DONE:
                progress[layout.MATCHES], progress[layout.MAPPED] = matches, mapped
                return status
            counters[own.MATCHES_FOUND] += progress[layout.MATCHES] - matches
        progress[layout.PARTITION] += 1
        progress[layout.NUMBER] = 0
        progress[layout.START] = partition.upper
        forget(partition.upper, progress)
    return layout.DONE


@spliced
def finish_best(work: Work, output: Found) -> int:
    """Write out the best match and go on after it; DONE or OUTPUT_FULL."""
    progress = work.progress
    progress[own.COMPLETED] = progress[layout.BEST_END]
    status = write_best(work.path, progress, output)
    if status == layout.DONE:
        progress[layout.START] = progress[layout.BEST_END] + 1
        progress[layout.BEST_START] = -1
        forget(progress[layout.START], progress)
    return status


@spliced
def search_from(
    first: int,
    rules: Rules,
    rows: Rows,
    work: Work,
    output: Found,
    negation: Negation | None,
    on_run: OnRun,
) -> int:
    """Search for matches from progress[START] and state `first` on: DONE, ACCEPTED or a status.

    One loop over choices, forward, over skipped rows, and back.
    """
    program, path, progress = rules.program, work.path, work.progress
    states, goes_on, waits, ends = rules.first, rules.goes_on, rules.waits, rules.ends
    memo, last_live, satisfied = work.memo, work.last_live, rows.satisfied
    start = progress[layout.START]
    end = rows.run_end[start]
    row, state, depth = start, first, np.int64(0)
    choice = states[first]
    blocked = matches = reads = forks = deepest = np.int64(0)
    status = np.int64(layout.DONE)
    while True:
        last, kind = states[state + 1], ends[state]
        if last_live.shape[0] > 0:
            last_live[start] = max(last_live[start], row)
        if progress[layout.BEST_START] >= 0:
            # What completes earlier is better, or with the same start the least positions.
            end = min(end, progress[layout.BEST_END] + int(progress[layout.BEST_START] == start))
        while choice < last:
            target = program[choice, layout.TARGET]
            if target == layout.ACCEPT:
                status = accept(row, depth, choice, rules, rows, work, output, negation, on_run)
                if status == ACCEPTED:
                    matches += 1
                    if rules.output == own.PREFERRED:
                        break
                elif status != layout.DONE:
                    return status
            elif row < end and (blocked != STOPPED or target < 0 or not goes_on[target]):
                if depth == path.shape[1]:
                    return layout.PATH_FULL
                answer = may_map(choice, Places(depth, depth + 1), row, rules, satisfied, on_run)
                if answer == HOLDS and target >= 0:
                    blocked = max(blocked, program[choice, layout.BLOCKS])
                    bit = program[choice, layout.MEMO]
                    if bit < 0 or not has_failed(memo, progress, bit, row + 1):
                        break
                elif answer == HOLDS:
                    before = progress[layout.MATCHES]
                    blocked = react(target, kind, row, depth, blocked, path, progress, output)
                    if blocked < 0:
                        return layout.OUTPUT_FULL
                    matches += progress[layout.MATCHES] - before
                    if target == own.ENDS or target == own.TIMES_OUT or target == own.CUTS:
                        choice = last
                        break
                elif answer != HOLDS_NOT:
                    return note_failure(answer, choice, row, progress)
            choice += 1
        if status == ACCEPTED and rules.output == own.PREFERRED:
            break
        reads += 1
        if choice < last:
            push(choice, row, depth, 4 * matches + blocked, path)
            depth, row = depth + 1, row + 1
            if depth > deepest:
                deepest = depth
            state = program[choice, layout.TARGET]
            blocked = 0 if goes_on[state] else BLOCKED
            choice = states[state]
            continue
        if depth == 0:
            status = np.int64(layout.DONE)
            break
        if row < end and blocked == 0 and waits[state] >= 0:
            row, state = row + 1, waits[state]
            choice = states[state]
            continue
        if row >= end and kind != 0:
            if complete(kind, row, depth, path, progress, output) != layout.DONE:
                return layout.OUTPUT_FULL
            matches += 1
        depth -= 1
        row, choice = path[own.ROWS, depth], path[own.CHOICES, depth]
        blocked = path[own.MARKS, depth] & 3
        if path[own.MARKS, depth] >> 2 == matches and not remember(choice, row, rules, work):
            return layout.MEMO_FULL
        state, choice = program[choice, layout.SOURCE], choice + 1
        forks += 1
    count_steps(reads, forks, depth, deepest, work.counters)
    return int(status)


@spliced
def count_steps(reads: int, forks: int, depth: int, deepest: int, counters: IntArray) -> None:
    """Count what a search from one starting row has done, which went back for each fork."""
    counters[own.READS] += reads
    counters[own.FORKS] += forks
    counters[own.RUNS_CREATED] += forks + 1
    counters[own.NODES_CREATED] += forks + depth
    counters[own.MOST_LIVE] = max(counters[own.MOST_LIVE], deepest)


@spliced
def push(choice: int, row: int, depth: int, marks: int, path: IntArray) -> None:
    """Map a row in the path."""
    path[own.ROWS, depth] = row
    path[own.CHOICES, depth] = choice
    path[own.MARKS, depth] = marks


@spliced
def remember(choice: int, row: int, rules: Rules, work: Work) -> bool:
    """Note that the way on from a choice leads to no match; false where there is no room."""
    bit, progress, memo = rules.program[choice, layout.MEMO], work.progress, work.memo
    if bit < 0 or remember_failure(memo, progress, bit, row + 1):
        return True
    progress[layout.NEEDED] = row + 2 - progress[layout.START]
    return False


@spliced
def react(
    target: int,
    end: int,
    row: int,
    depth: int,
    blocked: int,
    path: IntArray,
    progress: IntArray,
    output: Found,
) -> int:
    """What a row that is not mapped makes of `blocked`; a match that it completes is written out.

    end: what a run is whose window ends in its state. -1 where the output is full.
    """
    if target == own.CUTS:
        return blocked
    if target == own.COMPLETES_HERE or (target == own.TIMES_OUT and end != 0):
        kind = A_MATCH if target == own.COMPLETES_HERE else end
        if complete(kind, row, depth, path, progress, output) != layout.DONE:
            return -1
    return STOPPED if target == own.STOPS else max(blocked, BLOCKED)


@spliced
def complete(
    kind: int, row: int, depth: int, path: IntArray, progress: IntArray, output: Found
) -> int:
    """Write out the path as what `kind` says, complete at a row; DONE or OUTPUT_FULL."""
    progress[own.COMPLETED] = row
    progress[own.MATCH_KIND] = kind
    return write_path(depth, path, progress, output)


@spliced
def accept(
    row: int,
    depth: int,
    choice: int,
    rules: Rules,
    rows: Rows,
    work: Work,
    output: Found,
    negation: Negation | None,
    on_run: OnRun,
) -> int:
    """The path as a match, if its last row is the one before `row`: ACCEPTED, DONE or a status."""
    path, progress = work.path, work.progress
    program, asked = rules.program, rules.output
    window_end, satisfied = rows.window_end, rows.satisfied
    guard = program[choice, layout.GUARD]
    if guard != 0 and not is_anchored(guard, row, on_run.given.lower, on_run.given.upper):
        return layout.DONE
    if depth == 0 and asked == own.PREFERRED:
        progress[own.BEST_LENGTH] = 0
        return ACCEPTED
    if depth == 0:
        return layout.DONE
    if path[own.ROWS, depth - 1] != row - 1 or window_end[path[own.ROWS, 0]] < row:
        return layout.DONE
    tie = progress[layout.BEST_START] >= 0 and row - 1 == progress[layout.BEST_END]
    if tie and path[own.ROWS, 0] != progress[layout.BEST_START]:
        return layout.DONE
    if progress[layout.BEST_START] >= 0 and row - 1 > progress[layout.BEST_END]:
        return layout.DONE
    answer = closes(row - 1, depth, negation, satisfied, on_run)
    if answer == HOLDS:
        answer = lacks_absent(0, depth, depth, negation, program, window_end, path, on_run)
    if answer == HOLDS_NOT:
        return layout.DONE
    if answer != HOLDS:
        return note_failure(answer, path[own.CHOICES, depth - 1], row - 1, progress)
    if asked == own.ALL:
        status = complete(A_MATCH, row - 1, depth, path, progress, output)
        return ACCEPTED if status == layout.DONE else status
    if asked == own.PREFERRED:
        progress[own.BEST_LENGTH] = depth
    else:
        if not tie:
            progress[layout.BEST_START] = -1
        keep_better(0, depth, path, progress)
        progress[layout.BEST_END] = row - 1
    return ACCEPTED
