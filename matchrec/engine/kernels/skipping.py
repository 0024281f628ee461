"""Depth-first search where rows may be skipped or all matches are asked for: one run at a time.

From each starting row the search goes depth first: the choices that a row satisfies in preferment
order, then skipping it. `path` is the stack of what is postponed: going back, the search tries what
comes after the choice in it. registers[d] is the computation state after d rows. Where what comes
depends on the data only, a state and row that have led to no match are remembered.

Two kernels, at the end, go from starting row to starting row. What only one of them needs,
`counting` or `wanted`, is compiled for it alone.

Cost: exponential at worst; rows are read again for each way that leads past them. Where computation
states are kept, that of those that differ. Sources: SASE+, "Backtracking algorithm", "Merging
equivalent runs".
"""

from typing import NamedTuple

import numpy as np

from matchrec.engine.kernels import counting as counted
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.counting import (
    END_STATE,
    END_UNTIL,
    UNKNOWN,
    StartCounting,
    begin,
    count_match,
    count_start,
    ends_here,
    go_back,
    is_nearer,
    note_reason,
)
from matchrec.engine.kernels.layout import (
    FoundArrays,
    NegationArrays,
    Partition,
    RowArrays,
    Rules,
    Wanted,
    Work,
)
from matchrec.engine.kernels.mapping import (
    OnRun,
    RegisterPlaces,
    forget,
    has_failed,
    may_map,
    note_failure,
    note_state,
    on_run_of,
    partition_at,
    remember_failure,
    takes_too_many_steps,
)
from matchrec.engine.kernels.matches import (
    FORBIDDEN,
    complete,
    is_match,
    keep_match,
    lacks_absent,
    write_best,
    write_path,
)
from matchrec.engine.kernels.starts import begin_at, begin_start, search_partitions, skip_match
from matchrec.engine.partitions import IntArray
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inlined, inner, kernel, spliced
from matchrec.nfa.program import A_MATCH, UNFINISHED

BLOCKED = 1  # the run may not skip the row
STOPPED = 3  # nor go on with it, it may only be completed by it
ACCEPTED = -1  # what `search_from` answers where it is over, beside a status


@spliced
def search_from(
    first: int,
    end: int,
    rules: Rules,
    rows: RowArrays,
    work: Work,
    output: FoundArrays,
    negation: NegationArrays | None,
    counting: StartCounting | None,
    wanted: Wanted | None,
) -> int:
    """Search from progress.start and state `first` on: DONE, a status, or ACCEPTED if it is over.

    Then progress.best_length is how many rows the path has. It is over at the preferred match;
    with `counting` at any match, and without one the nearest run is kept; with `wanted` at the
    preferred run that is live at `end`, and no match is looked for. end: the row before which runs
    end.

    One loop over choices, forward, over skipped rows, and back, so that what it keeps from row to
    row is in machine registers. Where two `if` stand in place of one `and`, the first leaves out
    what is not asked for.
    """
    program, path, progress = rules.program, work.path, work.progress
    states, goes_on, waits, ends = rules.first, rules.goes_on, rules.waits, rules.ends
    start, last_live = progress.start, work.last_live
    row, state, depth = start, first, np.int64(0)
    choice = states[first]
    blocked = matches = reads = forks = deepest = np.int64(0)
    status = np.int64(layout.DONE)
    if counting is not None:
        if first == 0 or is_nearer(depth, state, depth, counting):
            begin(depth, state, row, depth, np.int64(UNKNOWN), counting)
    while True:
        last, kind = states[state + 1], ends[state]
        if wanted is None:
            if last_live.shape[0] > 0:
                last_live[start] = max(last_live[start], row)
            best = progress.best_start
            if best >= 0:
                # What completes earlier is better, or with the same start the least positions.
                end = min(end, progress.best_end + int(best == start))
        at = Position(row, state, choice, depth, blocked, matches)
        tried = try_choices(at, end, rules, rows, work, output, negation, counting, wanted)
        choice, blocked, matches, status = tried.choice, tried.blocked, tried.matches, tried.status
        if status == ACCEPTED:
            progress.best_length = depth
            break
        if status != layout.DONE:
            return status
        reads += 1
        if choice < last:
            depth, row = depth + 1, row + 1
            if depth > deepest:
                deepest = depth
            state = program[choice, layout.TARGET]
            if counting is not None:
                begin(depth, state, row, depth, np.int64(UNKNOWN), counting)
            blocked = np.int64(0 if goes_on[state] else BLOCKED)
            choice = states[state]
            continue
        if depth > 0 and row < end and blocked == 0 and waits[state] >= 0:
            row, state = row + 1, waits[state]
            choice = states[state]
            continue
        if counting is not None:
            if depth > 0 and row >= end and kind == A_MATCH:
                progress.best_length = depth
                status = np.int64(ACCEPTED)
                break
            if ends_here(depth, counting):
                counting.ends[depth, END_UNTIL] = min(row, end) + 1
        elif depth > 0 and row >= end and kind != 0:
            if complete(kind, row, depth, path, progress, output) != layout.DONE:
                return layout.OUTPUT_FULL
            matches += 1
        if depth == 0:
            break
        depth -= 1
        row, choice = path[layout.PATH_ROWS, depth], path[layout.PATH_CHOICES, depth]
        marks = path[layout.PATH_MARKS, depth]
        if counting is not None:
            go_back(depth, choice, counting)
        if marks >> 2 == matches and not remember(choice, row, rules, work):
            return layout.MEMO_FULL
        state, blocked, choice = program[choice, layout.SOURCE], marks & 3, choice + 1
        forks += 1
    count_steps(reads, forks, depth, deepest, work.counters)
    return int(status)


class Position(NamedTuple):
    """Where a run is: on a row, in a state, about to try a choice.

    depth: how many rows it has mapped. blocked: whether it may skip the row. matches: how many were
    found from its starting row.
    """

    row: int
    state: int
    choice: int
    depth: int
    blocked: int
    matches: int


class Tried(NamedTuple):
    """What has come of the choices of a state.

    choice: that has mapped the row; the one after the last if none has. status: DONE, ACCEPTED
    where the search is over, or another one.
    """

    choice: int
    blocked: int
    matches: int
    status: int


@spliced
def try_choices(
    at: Position,
    end: int,
    rules: Rules,
    rows: RowArrays,
    work: Work,
    output: FoundArrays,
    negation: NegationArrays | None,
    counting: StartCounting | None,
    wanted: Wanted | None,
) -> Tried:
    """Try the choices of a state from one on, until one maps the row; it is in the path then."""
    program, path, progress = rules.program, work.path, work.progress
    on_run = on_run_of(partition_at(rows, progress), rules, rows, work)
    row, depth, choice, blocked, matches = at.row, at.depth, at.choice, at.blocked, at.matches
    last, kind = rules.first[at.state + 1], rules.ends[at.state]
    status = np.int64(layout.DONE)
    if wanted is not None:
        if row == end:
            choice = last
            if wanted.live[at.state] != 0:
                status = np.int64(ACCEPTED)
    while choice < last:
        target = program[choice, layout.TARGET]
        if target == layout.ACCEPT:
            if wanted is None:
                answer = is_match(choice, row, depth, rules, rows, work, negation, on_run)
                if answer > layout.CONDITION_FAILED:
                    status = np.int64(answer)
                    break
                if answer == HOLDS:
                    matches += 1
                    if counting is not None or rules.output == layout.PREFERRED:
                        status = np.int64(ACCEPTED)
                        break
                    if keep_match(row, depth, rules, work, output) != layout.DONE:
                        status = np.int64(layout.OUTPUT_FULL)
                        break
                if counting is not None:
                    if answer == FORBIDDEN:
                        note_reason(counted.FORBIDDEN, depth, counting)
        elif row < end and (blocked != STOPPED or target < 0 or not rules.goes_on[target]):
            answer = ask(choice, row, depth, rules, rows, work, on_run, counting, wanted)
            if answer < 0:
                status = np.int64(-answer)
                break
            if answer == HOLDS and target >= 0:
                blocked = max(blocked, program[choice, layout.BLOCKS])
                push(choice, row, depth, 4 * matches + blocked, path)
                answer = open_way(choice, row, depth, rules, rows, work, on_run, counting, wanted)
                if answer < 0:
                    status = np.int64(-answer)
                    break
                if answer == HOLDS:
                    break
            elif answer == HOLDS:
                if counting is not None:
                    if target == layout.COMPLETES_HERE:
                        status = np.int64(ACCEPTED)
                        break
                    if target == layout.TIMES_OUT:
                        note_reason(counted.OUT_OF_WINDOW, depth, counting)
                    if target == layout.ENDS or target == layout.STOPS:
                        note_reason(counted.FORBIDDEN, depth, counting)
                else:
                    outcome = outcome_of(target, kind)
                    if outcome != 0:
                        if complete(outcome, row, depth, path, progress, output) != layout.DONE:
                            status = np.int64(layout.OUTPUT_FULL)
                            break
                        matches += 1
                blocked = block(target, blocked)
                if target == layout.ENDS or target == layout.TIMES_OUT or target == layout.CUTS:
                    choice = last
                    break
        choice += 1
    return Tried(choice, blocked, matches, status)


@spliced
def ask(
    choice: int,
    row: int,
    depth: int,
    rules: Rules,
    rows: RowArrays,
    work: Work,
    on_run: OnRun,
    counting: StartCounting | None,
    wanted: Wanted | None,
) -> int:
    """Whether a run of `depth` rows may map a row by a choice: HOLDS, HOLDS_NOT, or - status.

    How often that is asked is limited where starting rows are counted, and for live runs.
    """
    progress = work.progress
    answer = np.int64(HOLDS)
    if depth == work.path.shape[1]:
        answer = np.int64(-layout.PATH_FULL)
    if counting is not None:
        if takes_too_many_steps(progress):
            answer = np.int64(-layout.TOO_MANY_STEPS)
    if wanted is not None:
        if rules.instructions.shape[0] > 0 and takes_too_many_steps(progress):
            answer = np.int64(-layout.TOO_MANY_STEPS)
    if answer == HOLDS:
        places = RegisterPlaces(depth, depth + 1)
        answer = np.int64(may_map(choice, places, row, rules, rows.satisfied, on_run))
        if answer != HOLDS and answer != HOLDS_NOT:
            answer = -note_failure(answer, choice, row, progress)
    return int(answer)


@spliced
def open_way(
    choice: int,
    row: int,
    depth: int,
    rules: Rules,
    rows: RowArrays,
    work: Work,
    on_run: OnRun,
    counting: StartCounting | None,
    wanted: Wanted | None,
) -> int:
    """Whether it matters how a run goes on that has mapped a row: HOLDS, HOLDS_NOT or - status.

    Not where that is known to fail, where something is there that must not be, or where one with
    the same future has come there. The row is the one in the path after `depth` others.
    """
    progress, bit = work.progress, rules.program[choice, layout.MEMO]
    answer = np.int64(HOLDS)
    if bit >= 0 and has_failed(work.memo, progress, bit, row + 1):
        answer = np.int64(HOLDS_NOT)
    if counting is not None:
        if is_forbidden(depth + 1, rules.program, rows.window_end, work.path, counting, on_run):
            note_reason(counted.FORBIDDEN, depth, counting)
            answer = np.int64(HOLDS_NOT)
        else:
            answer = np.int64(note_state(choice, row, depth, rules, work))
    if wanted is not None:
        if answer == HOLDS and bit < 0:
            answer = np.int64(note_state(choice, row, depth, rules, work))
    return int(answer)


@inner
def is_forbidden(
    length: int,
    program: IntArray,
    window_end: IntArray,
    path: IntArray,
    counting: StartCounting,
    on_run: OnRun,
) -> bool:
    """Whether something that must not be is among the rows of a run, as far as that is decided."""
    return lacks_absent(0, length, length, counting.between, program, window_end, path, on_run) != (
        HOLDS
    )


@spliced
def count_steps(reads: int, forks: int, depth: int, deepest: int, counters: IntArray) -> None:
    """Count what a search from one starting row has done, which went back for each fork."""
    counters[layout.READS] += reads
    counters[layout.FORKS] += forks
    counters[layout.RUNS_CREATED] += forks + 1
    counters[layout.NODES_CREATED] += forks + depth
    counters[layout.MOST_LIVE] = max(counters[layout.MOST_LIVE], deepest)


@spliced
def push(choice: int, row: int, depth: int, marks: int, path: IntArray) -> None:
    """Map a row in the path."""
    path[layout.PATH_ROWS, depth] = row
    path[layout.PATH_CHOICES, depth] = choice
    path[layout.PATH_MARKS, depth] = marks


@spliced
def remember(choice: int, row: int, rules: Rules, work: Work) -> bool:
    """Note that the way on from a choice leads to no match; false where there is no room."""
    bit, progress, memo = rules.program[choice, layout.MEMO], work.progress, work.memo
    if bit < 0 or remember_failure(memo, progress, bit, row + 1):
        return True
    progress.needed = row + 2 - progress.start
    return False


@spliced
def outcome_of(target: int, end: int) -> int:
    """What a run is that a row which is not mapped completes, 0 where it completes none.

    end: what a run is whose window ends in its state.
    """
    if target == layout.COMPLETES_HERE:
        return A_MATCH
    return end if target == layout.TIMES_OUT else 0


@spliced
def block(target: int, blocked: int) -> int:
    """What a row that is not mapped makes of `blocked`."""
    if target == layout.CUTS:
        return blocked
    return STOPPED if target == layout.STOPS else max(blocked, BLOCKED)


# The kernels that go from starting row to starting row.
#
# *Matches*: those that are asked for.
#
# *Coverage*: of each starting row whether it begins a match, and otherwise how far its nearest run
# came. The first match ends the search of its starting row, and without one the nearest run is
# counted. The computation states that a starting row has seen are kept, as equal ones have the same
# future. Cost: the rows of a window, or of a partition without one, for each starting row, times
# the computation states that differ.
#
# *Live runs*: of a starting row without a match, the most preferred run that is live where its
# window ends. No run is accepted: the search is over with the first one that comes to that row, in
# a state from which a match could still be reached. A run that is live at the end of a window is
# live before it, and windows end in the order of their starting rows. So a state and row from which
# no run lives to the end of one window have none for those after it, and that is remembered for all
# starting rows of a partition. Cost: linear in the rows and in the rows of the runs that come out,
# where conditions depend on the data only.


@kernel
def search_matches(
    rules: Rules,
    rows: RowArrays,
    work: Work,
    output: FoundArrays,
    negation: NegationArrays | None,
    counting: StartCounting | None,
) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    return search_partitions(search_start, rules, rows, work, output, negation, counting)


@spliced
def search_start(
    partition: Partition,
    rules: Rules,
    rows: RowArrays,
    work: Work,
    output: FoundArrays,
    negation: NegationArrays | None,
    counting: StartCounting | None,
) -> int:
    """Write out what is sought from progress.start on, and go on to the next starting row.

    DONE, or a status: then nothing has been written.
    """
    progress = work.progress
    start, end = progress.start, begin_start(rows, partition, progress)
    matches, mapped = progress.matches, progress.mapped
    if counting is not None:
        progress.stamp += 1
        progress.runs = 0
    status = np.int64(layout.DONE)
    for first in range(rules.starts):
        if status == layout.DONE:
            status = np.int64(
                search_from(first, end, rules, rows, work, output, negation, counting, None)
            )
    if counting is not None:
        if status == layout.DONE:
            remaining = counting.remaining[counting.ends[0, END_STATE]]
            otherwise = counted.ANCHORED if remaining > 0 else counted.FORBIDDEN
            count_start(otherwise, partition.upper, end, rules, rows, progress, counting)
    if status == ACCEPTED:
        length = progress.best_length
        status = np.int64(write_path(length, work.path, progress, output))
        if counting is not None:
            if status == layout.DONE and length > 0:
                count_match(length, work.path[layout.PATH_CHOICES], counting)
        elif status == layout.DONE:
            is_target, forgets = rules.program[:, layout.IS_TARGET], rules.forgets
            choices, at = work.path[layout.PATH_CHOICES, :length], work.path[layout.PATH_ROWS]
            status = np.int64(
                skip_match(rules.skip, is_target, forgets, choices, start, at, progress)
            )
    if status == layout.DONE and progress.start == start:
        status = np.int64(go_on_after(start, partition, work, output))
    if status != layout.DONE:
        progress.matches, progress.mapped = matches, mapped
    work.counters[layout.MATCHES_FOUND] += progress.matches - matches
    return int(status)


@spliced
def go_on_after(start: int, partition: Partition, work: Work, output: FoundArrays) -> int:
    """Go on to the next starting row, after the best match if none can be better: DONE or a status.

    A match is better that is complete earlier.
    """
    progress = work.progress
    best_end = min(progress.best_end, partition.upper - 1)
    if progress.best_start < 0 or start < best_end:
        progress.start = start + 1
        return layout.DONE
    progress.completed = progress.best_end
    status = write_best(work.path, progress, output)
    if status == layout.DONE:
        forget(progress.best_end + 1, progress)
        begin_at(progress.best_end + 1, progress)
        progress.best_start = -1
    return status


@kernel
def search_live_runs(
    rules: Rules, rows: RowArrays, work: Work, output: FoundArrays, wanted: Wanted
) -> int:
    """Search from progress.wanted on until all is done or something is full; return the status."""
    progress = work.progress
    while progress.wanted < wanted.start.shape[0]:
        go_to_start(progress.wanted, wanted, rules, work)
        kind, end = progress.match_kind, progress.completed
        if kind != UNFINISHED or progress.unfinished_in != progress.partition:
            status = search_from(0, end, rules, rows, work, output, None, None, wanted)
            if status == ACCEPTED:
                status = write_path(progress.best_length, work.path, progress, output)
                if status == layout.DONE and kind == UNFINISHED:
                    progress.unfinished_in = progress.partition
            if status != layout.DONE:
                return int(status)
        progress.wanted += 1
    return layout.DONE


@inlined
def go_to_start(place: int, wanted: Wanted, rules: Rules, work: Work) -> None:
    """Go to a starting row; failures that hold for it no longer are forgotten."""
    progress = work.progress
    number, start = wanted.number[place], wanted.start[place]
    other = wanted.partition[place] != progress.partition
    if other:
        progress.step_count = 0
    if other or (rules.forgets and number != progress.number):
        forget(start, progress)
    progress.partition = wanted.partition[place]
    progress.start = start
    progress.number = number
    progress.completed = wanted.end[place]
    progress.match_kind = wanted.kind[place]
    progress.stamp += 1
    progress.runs = 0
