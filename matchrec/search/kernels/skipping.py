"""One run at a time, if rows may be skipped or all matches are asked for.

It is used by the strategy `SelectionByOneRun`, for live runs (`partial`) and, run by Python, for
traces. `selection_coverage` has the same loop, which also finds how far each starting row came.

From each starting row the search goes depth first. In a state at a row, it

1. tries the choices in preferment order; the first one by which the row can be mapped takes the run
   to the next row;
2. otherwise skips the row, if that is allowed;
3. otherwise goes back to the last row that was mapped, and tries what comes after its choice.

    SEQ(A a, B b) with skip till any match, rows A B B

    row 0 A, row 1 B: match A0 B1
    back to row 1: skip it; row 2 B: match A0 B2
    back to row 2: skip it; no row is left; back to row 0: no other choice

`path` is the stack of what is still to be tried. registers[d] is the computation state after d
rows. If what follows depends on the data only, a pair of a state and a row that has led to no match
is remembered.

The two kernels at the end go from starting row to starting row.

Cost: exponential at worst; rows are read again by each run that comes past them. If computation
states are kept, it is the number of different states.

Sources: SASE+, "Backtracking algorithm", "Merging equivalent runs".
"""

from typing import NamedTuple

import numpy as np

from matchrec.automaton.program import A_MATCH, NOTHING, UNFINISHED
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import Hook, RowArrays, Rules, RunStarts, Work
from matchrec.search.kernels.mapping import (
    forget,
    has_failed,
    may_map,
    note_failure,
    note_state,
    on_run_of,
    remember_failure,
    takes_too_many_steps,
)
from matchrec.search.kernels.matches import is_match, keep_match, write_completed, write_path
from matchrec.search.kernels.starts import begin_at, begin_start, searching, skip_match
from matchrec.search.partitions import IntArray

BLOCKED = 1  # the run may not skip the row
STOPPED = 3  # the run may neither skip the row nor go on with it, only be completed by it
ACCEPTED = -1  # `search_from` returns it if the search is over


@spliced
def search_from(
    first: int, end: int, rules: Rules, rows: RowArrays, work: Work, negation: Hook, tracing: Hook
) -> int:
    """Search from progress.start in state `first`; `end` is the row before which runs end.

    The search is over at the preferred match. Then progress.best_length is how many rows the path
    has. With `tracing`, each test is recorded, and no match is written out.

    All is one loop over choices, forward, over skipped rows, and back, so that its variables stay
    in machine registers. Where there are two nested `if` instead of an `and`, the first one leaves
    out code that is not needed without tracing.

    Returns:
        DONE; ACCEPTED if the search is over; or another status.
    """
    program, path, progress = rules.program, work.path, work.progress
    states, goes_on, waits, ends = rules.first, rules.goes_on, rules.waits, rules.ends
    start, last_live = progress.start, work.last_live
    row, state, depth = start, first, np.int64(0)
    choice = states[first]
    blocked = matches = reads = forks = deepest = np.int64(0)
    status = np.int64(layout.DONE)
    while True:
        end_of_choices, kind = states[state + 1], ends[state]
        if last_live.shape[0] > 0:
            last_live[start] = max(last_live[start], row)
        best = progress.best_start
        if best >= 0:
            # A match that is complete earlier is better; with the same start, earlier positions.
            end = min(end, progress.best_end + int(best == start))
        position = Position(row, end, state, choice, depth, blocked, matches)
        result = try_choices(position, rules, rows, work, negation, tracing)
        choice, blocked, matches, status = result
        if tracing is not None:
            if tracing.is_full:
                status = ACCEPTED
        if status == ACCEPTED:
            progress.best_length = depth
            break
        if status != layout.DONE:
            return status
        reads += 1
        if choice < end_of_choices:
            depth, row = depth + 1, row + 1
            if depth > deepest:
                deepest = depth
            state = program[choice, layout.TARGET]
            blocked = np.int64(0 if goes_on[state] else BLOCKED)
            choice = states[state]
            continue
        if depth > 0 and row < end and blocked == 0 and waits[state] >= 0:
            if tracing is not None:
                tracing.note(tracing.SKIPPED, -1, row, depth)
            row, state = row + 1, waits[state]
            choice = states[state]
            continue
        if depth > 0 and row >= end and kind != 0:
            if rules.output == layout.PREFERRED:
                progress.best_length = depth
                status = np.int64(ACCEPTED)
                break
            if tracing is not None:
                tracing.note_end(kind, row, depth)
            elif write_completed(kind, row, depth, work) != layout.DONE:
                return layout.OUTPUT_FULL
            matches += 1
        if depth == 0:
            break
        depth -= 1
        row, choice = path[layout.PATH_ROWS, depth], path[layout.PATH_CHOICES, depth]
        marks = path[layout.PATH_MARKS, depth]
        bit = program[choice, layout.MEMO]
        if marks >> 2 == matches and bit >= 0:
            if not remember_failure(work.memo, progress, bit, row + 1):
                return layout.MEMO_FULL
        state, blocked, choice = program[choice, layout.SOURCE], marks & 3, choice + 1
        forks += 1
    counters = work.counters  # the search has gone back once for each fork
    counters[layout.READS] += reads
    counters[layout.FORKS] += forks
    counters[layout.RUNS_CREATED] += forks + 1
    counters[layout.NODES_CREATED] += forks + depth
    counters[layout.MOST_LIVE] = max(counters[layout.MOST_LIVE], deepest)
    return int(status)


class Position(NamedTuple):
    """Where a run is: on a row, in a state, about to try a choice."""

    row: int
    end: int  # the row before which the run ends
    state: int
    choice: int
    depth: int  # how many rows the run has mapped
    blocked: int  # 0 if the run may skip the row, or else BLOCKED or STOPPED
    matches: int  # how many matches were found from the starting row


@spliced
def try_choices(
    position: Position, rules: Rules, rows: RowArrays, work: Work, negation: Hook, tracing: Hook
) -> tuple[int, int, int, int]:
    """Try the choices of a state from one on, until one maps the row; it is in the path then.

    Returns:
        The choice that maps the row, or the index after the last choice; the new values of
        `blocked` and `matches`; and DONE, ACCEPTED if the search is over, or another status.
    """
    program, path = rules.program, work.path
    row, end, depth, choice = position.row, position.end, position.depth, position.choice
    blocked, matches = position.blocked, position.matches
    end_of_choices, kind = rules.first[position.state + 1], rules.ends[position.state]
    status = np.int64(layout.DONE)
    while choice < end_of_choices:
        target = program[choice, layout.TARGET]
        if target == layout.ACCEPT:
            answer = is_match(choice, row, depth, rules, rows, work, negation)
            if answer > layout.CONDITION_FAILED:
                status = np.int64(answer)
                break
            if tracing is not None:
                tracing.note_acceptance(answer, choice, row, depth)
            if answer == HOLDS:
                if rules.output == layout.PREFERRED:
                    status = np.int64(ACCEPTED)
                    break
                if tracing is not None:
                    # For the longest match, a state that is entered again leads to no longer one.
                    matches += int(rules.output != layout.LONGEST)
                elif keep_match(row, depth, rules, work) == layout.DONE:
                    matches += 1
                else:
                    status = np.int64(layout.OUTPUT_FULL)
                    break
        elif row < end and (blocked != STOPPED or target < 0 or not rules.goes_on[target]):
            answer = evaluate_choice(choice, row, depth, rules, rows, work)
            if answer < 0:
                status = np.int64(-answer)
                break
            if tracing is not None:
                tracing.note_answer(answer, choice, row, depth)
            if answer == HOLDS and target >= 0:
                blocked = max(blocked, program[choice, layout.BLOCKS])
                push(choice, row, depth, 4 * matches + blocked, path)
                answer = is_worth_following(choice, row, depth, rules, work)
                if answer < 0:
                    status = np.int64(-answer)
                    break
                if tracing is not None:
                    outcome_of_row = tracing.TAKEN if answer == HOLDS else tracing.KNOWN
                    tracing.note(outcome_of_row, choice, row, depth)
                if answer == HOLDS:
                    break
            elif answer == HOLDS:
                outcome = np.int64(kind if target == layout.TIMES_OUT else 0)
                if target == layout.COMPLETES_HERE:
                    outcome = np.int64(A_MATCH)
                if outcome != 0:
                    if tracing is not None:
                        tracing.note_end(outcome, row, depth)
                    elif write_completed(outcome, row, depth, work) != layout.DONE:
                        status = np.int64(layout.OUTPUT_FULL)
                        break
                    matches += 1
                if target != layout.CUTS:
                    blocked = STOPPED if target == layout.STOPS else max(blocked, BLOCKED)
                if target == layout.ENDS or target == layout.TIMES_OUT or target == layout.CUTS:
                    choice = end_of_choices
                    break
        elif tracing is not None:
            if row >= end:
                tracing.note(tracing.NO_ROW, choice, row, depth)
        choice += 1
    return choice, blocked, matches, status


@spliced
def evaluate_choice(
    choice: int, row: int, depth: int, rules: Rules, rows: RowArrays, work: Work
) -> int:
    """Return whether a run of `depth` rows may map a row by a choice: HOLDS, HOLDS_NOT or -status.

    The number of evaluations is limited for live runs.
    """
    progress = work.progress
    answer = np.int64(HOLDS)
    if depth == work.path.shape[1]:
        answer = np.int64(-layout.PATH_FULL)
    elif takes_too_many_steps(progress):
        answer = np.int64(-layout.TOO_MANY_STEPS)
    else:
        on_run = on_run_of(rules, rows, work)
        answer = np.int64(may_map(choice, depth, depth + 1, row, rules, rows.satisfied, on_run))
        if answer != HOLDS and answer != HOLDS_NOT:
            answer = -note_failure(answer, choice, row, progress)
    return int(answer)


@spliced
def is_worth_following(choice: int, row: int, depth: int, rules: Rules, work: Work) -> int:
    """Return whether a run that has mapped a row must be followed: HOLDS, HOLDS_NOT or -status.

    It need not be if it is known to fail, or if a run with the same future has come there. The row
    is the one in the path after `depth` others.
    """
    progress, bit = work.progress, rules.program[choice, layout.MEMO]
    answer = np.int64(HOLDS)
    if bit >= 0 and has_failed(work.memo, progress, bit, row + 1):
        answer = np.int64(HOLDS_NOT)
    if answer == HOLDS and bit < 0:
        answer = np.int64(note_state(choice, row, depth, rules, work))
    return int(answer)


@spliced
def push(choice: int, row: int, depth: int, marks: int, path: IntArray) -> None:
    """Put a row that is mapped onto the path."""
    path[layout.PATH_ROWS, depth] = row
    path[layout.PATH_CHOICES, depth] = choice
    path[layout.PATH_MARKS, depth] = marks


# The kernels that go from starting row to starting row.
#
# `search_matches`: the matches that are asked for.
#
# `search_live_runs`: for a starting row without a match, the most preferred run that is live where
# its window ends. By its rules no other run is a match, and the search is over with the first run
# that comes to that row in a state from which a match could still be reached. A run that is live at
# the end of a window is live before that, and windows end in the order of their starting rows. So
# if no run from a state at a row is live at the end of one window, none is at the end of a later
# one. That is remembered for all starting rows of a partition. Cost: linear in the rows, and in the
# rows of the runs that are output, if conditions depend on the data only.


@spliced
def search_start(rules: Rules, rows: RowArrays, work: Work, negation: Hook, _totals: None) -> int:
    """Write out what is sought from progress.start on, and set the next starting row.

    Returns:
        DONE, or another status; then nothing has been written.
    """
    progress = work.progress
    start, end = progress.start, begin_start(rows.window_end, progress)
    matches, mapped = progress.matches, progress.mapped
    status = np.int64(layout.DONE)
    for first in range(rules.starts):
        if status == layout.DONE:
            status = np.int64(search_from(first, end, rules, rows, work, negation, None))
    if status == ACCEPTED:
        length = progress.best_length
        status = np.int64(write_path(layout.PATH_ROWS, length, work))
        if status == layout.DONE:
            path_choices = work.path[layout.PATH_CHOICES, :length]
            path_rows = work.path[layout.PATH_ROWS]
            status = np.int64(skip_match(path_choices, start, path_rows, rules, progress))
    if status == layout.DONE and progress.start == start:
        status = np.int64(go_on_after(start, work))
    if status != layout.DONE:
        progress.matches, progress.mapped = matches, mapped
    return int(status)


search_matches = searching(search_start)


@spliced
def go_on_after(start: int, work: Work) -> int:
    """Go on to the next row, after writing out the best match if none can be complete earlier.

    Returns:
        DONE or OUTPUT_FULL.
    """
    progress = work.progress
    best_end = min(progress.best_end, progress.upper - 1)
    if progress.best_start < 0 or start < best_end:
        progress.start = start + 1
        return layout.DONE
    progress.completed = progress.best_end
    status = write_path(layout.PATH_BEST_ROWS, progress.best_length, work)
    if status == layout.DONE:
        forget(progress.best_end + 1, progress)
        begin_at(progress.best_end + 1, progress)
        progress.best_start = -1
    return status


@spliced
def find_live_run(
    rules: Rules, rows: RowArrays, work: Work, negation: Hook, starts: RunStarts
) -> int:
    """Write out the live run of the starting row progress.start, if one is sought.

    Failures are forgotten if they depend on the match number and that has changed.

    Returns:
        DONE or another status.
    """
    progress, start = work.progress, work.progress.start
    kind, end = starts.kind[start], rows.window_end[start]
    status = np.int64(layout.DONE)
    if kind != NOTHING and (kind != UNFINISHED or progress.unfinished_in != progress.partition):
        if rules.forgets and starts.number[start] != progress.number:
            forget(start, progress)
        progress.number = starts.number[start]
        progress.completed, progress.match_kind = end, kind
        progress.stamp += 1
        progress.runs = 0
        status = np.int64(search_from(0, end, rules, rows, work, negation, None))
        if status == ACCEPTED:
            status = np.int64(write_path(layout.PATH_ROWS, progress.best_length, work))
            if status == layout.DONE and kind == UNFINISHED:
                progress.unfinished_in = progress.partition
    if status == layout.DONE:
        progress.start = start + 1
    return int(status)


search_live_runs = searching(find_live_run)
