"""Depth-first search that also counts how far each starting row without a match came.

`search.coverage` runs it for the preferred match of consecutive rows, whichever strategy runs the
query. It has the loop of `memoised` and `plain`, with additional code that counts. The loop is
written out again, so that searches that count nothing do not pay for this code:

1. When the search enters a state at a row, the nearest run from there on ends there.
2. When the search goes back a row, it compares the nearest run from the next row on with the
   nearest run from this row, and keeps the nearer one.
3. When the search remembers that a state fails at a row, it also remembers the nearest run from
   there on. When it comes to the state and row again, it recalls that run.
4. At a starting row without a match, the search counts the nearest run: see `nearest_runs`.

If the ways through the pattern multiply and no failure can be remembered, because conditions depend
on the run, the search keeps the computation states that a starting row has reached, because equal
states have the same future.

    PATTERN (A B+ C)   rows A B B X

    row 0 A: needs 2 rows more; row 1 B: 1 row more; row 2 B: 1 row more, and longer
    back to row 0: the nearest run is A0 B1 B2, it needs 1 row more; C was false on row 3

Cost: that of `memoised` or `plain`, times the words of a trail.
"""

from typing import NamedTuple

import numpy as np

from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import spliced, stoppable_kernel
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import (
    ByteArray,
    ChoiceArray,
    OutputArrays,
    ReachedStates,
    RememberedRows,
    RowArrays,
    Rules,
    RunConditions,
)
from matchrec.search.kernels.mapping import (
    evaluate_run_condition,
    is_anchored,
    map_row_in_copy,
    note_failure,
    takes_too_many_steps,
)
from matchrec.search.kernels.memo import (
    begin_states,
    forget,
    has_failed,
    note_state,
    remember_failure,
)
from matchrec.search.kernels.nearest_runs import (
    ANCHORED,
    RunCounts,
    begin_nearest,
    count_match,
    count_start,
    keep_nearer,
    recall_nearest,
    remember_nearest,
)
from matchrec.search.kernels.search_loop import (
    NO_MATCH,
    NO_ROOM,
    UNDECIDED,
    begin_start,
    encode_status,
    finish_without_match,
    go_to_next_partition,
    seek_start,
    write_path,
)
from matchrec.search.partitions import IntArray


class CoverageProgress(RememberedRows, ReachedStates):
    """The progress of a search that counts matches and nearest runs."""


class CoverageWork(NamedTuple):
    """The arrays and records in which the search works."""

    progress: CoverageProgress
    output: OutputArrays
    # int32[d], the choice taken at each row from the starting row on.
    path: ChoiceArray
    # uint8[r, b], the failures that are remembered: see `memo`.
    memo: ByteArray
    # int64[t, 4 + r], the computation states that the starting row has reached, if a run has r
    # registers: see `memo`. It is empty if they are not kept.
    table: IntArray
    # The counts, and the nearest runs.
    counts: RunCounts


@stoppable_kernel
def search(
    rules: Rules, rows: RowArrays, work: CoverageWork, conditions: RunConditions | None
) -> int:
    """Search from `progress` on; return a status. `search_loop` explains this loop."""
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and seek_start(rows.can_begin, progress):
            status = np.int64(search_from_start(rules, rows, work, conditions))
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@spliced
def begin_partition(work: CoverageWork) -> None:
    """Forget the failures of the previous partition."""
    forget(work.progress.start, work.progress)


@spliced
def search_from_start(
    rules: Rules, rows: RowArrays, work: CoverageWork, conditions: RunConditions | None
) -> int:
    """Search from progress.start, write and count the match, or count the nearest run.

    Set the next starting row.

    Returns:
        DONE or another status.
    """
    progress = work.progress
    counts = work.counts
    latest_end = begin_start(rows.window_end, progress)
    length = find_match(latest_end, rules, rows, work, conditions)
    if length == NO_MATCH:
        count_start(ANCHORED, latest_end, rules.program, rows, progress, counts)
    if length < 0:
        return finish_without_match(length, progress)
    status = write_path(length, work.path, rules, work.output, progress)
    if status == layout.DONE:
        count_match(length, work.path, counts)
    return status


@spliced
def find_match(
    latest_end: int,
    rules: Rules,
    rows: RowArrays,
    work: CoverageWork,
    conditions: RunConditions | None,
) -> int:
    """Return the length of the preferred match at progress.start, NO_MATCH, or an encoded status.

    If there is no match, `counts` has the nearest run. `latest_end` is the row before which the
    match must end.
    """
    first_choice = rules.first_choice
    program = rules.program
    condition_bits = rows.condition_bits
    path = work.path
    memo = work.memo
    progress = work.progress
    counts = work.counts
    start = progress.start
    edge = progress.edge
    row = start
    state = np.int64(0)
    choice = first_choice[0]
    # Whether a choice of this pair of state and row has mapped the row, and has failed later.
    has_tried_mapping = False
    begin_nearest(np.int64(0), state, row, row, row + 1, counts)
    begin_states(progress)
    while True:
        end_of_choices = first_choice[state + 1]
        while choice < end_of_choices:
            guard = program[choice, layout.GUARD]
            if guard == 0 or is_anchored(guard, row, progress):
                if program[choice, layout.TARGET] == layout.ACCEPT:
                    return int(row - start)
                # This test comes after the accept test, because accepting needs no further row.
                if row == edge and row < latest_end:
                    return UNDECIDED
                mask = program[choice, layout.MASK]
                if (
                    row < latest_end
                    and condition_bits[row, program[choice, layout.WORD]] & mask == mask
                ):
                    # The memo number of the target; -1 if its failures are not remembered.
                    target_memo = program[choice, layout.MEMO]
                    failed = target_memo >= 0 and has_failed(memo, progress, target_memo, row + 1)
                    answer = np.int64(HOLDS)
                    if conditions is not None:
                        answer = np.int64(
                            evaluate_choice(choice, row, failed, program, work, conditions)
                        )
                        if answer < 0:
                            return int(answer)
                    if answer == HOLDS and not failed:
                        break
                    # The run fails from here on, but can come nearer to a match before it does.
                    if answer == HOLDS:
                        recall_nearest(row - start, choice, target_memo, row + 1, counts)
            choice += 1
        if choice < end_of_choices:
            if row - start == path.shape[0]:
                return encode_status(layout.PATH_FULL)
            path[row - start] = choice
            row += 1
            state = program[choice, layout.TARGET]
            choice = first_choice[state]
            has_tried_mapping = False
            begin_nearest(row - start, state, row, row, row + 1, counts)
            continue
        if row == start:
            return NO_MATCH
        row -= 1
        choice = path[row - start]
        target_memo = program[choice, layout.MEMO]
        if has_tried_mapping and target_memo >= 0:
            if not remember_failure(memo, progress, target_memo, row + 1):
                return NO_ROOM
            remember_nearest(row + 1 - start, target_memo, row + 1, counts)
        keep_nearer(row - start, choice, counts)
        state = program[choice, layout.SOURCE]
        choice += 1
        has_tried_mapping = True


@spliced
def evaluate_choice(
    choice: int,
    row: int,
    failed: bool,
    program: IntArray,
    work: CoverageWork,
    conditions: RunConditions,
) -> int:
    """Return whether the condition on the run lets a choice map a row.

    Args:
        choice: the choice.
        row: the row.
        failed: whether the target is known to fail at the next row. Then an error of the condition
            is no failure, because the search of the query does not evaluate the condition.
        program: the choices of the query.
        work: the arrays and records of the search.
        conditions: the conditions on the run.

    Returns:
        HOLDS, HOLDS_NOT or an encoded status. HOLDS_NOT also if a run with the same future has
        entered the target before.
    """
    progress = work.progress
    depth = row - progress.start
    if depth == work.path.shape[0]:
        return encode_status(layout.PATH_FULL)
    if takes_too_many_steps(progress):
        return encode_status(layout.TOO_MANY_STEPS)
    map_row_in_copy(choice, depth, depth + 1, row, program, conditions)
    answer = evaluate_run_condition(choice, depth + 1, row, program, conditions)
    if answer != HOLDS and answer != HOLDS_NOT and not failed:
        answer = encode_status(note_failure(answer, choice, row, progress))
    if answer == HOLDS and program[choice, layout.MEMO] < 0:
        answer = note_state(choice, row, depth, program, conditions, work.table, progress)
        if answer < 0:
            answer = encode_status(-answer)
    return int(answer)
