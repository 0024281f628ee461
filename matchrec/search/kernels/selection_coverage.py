"""Depth-first event selection that also counts how far each starting row without a match came.

`search.coverage` runs it if rows can be skipped or all matches are output, whichever strategy runs
the query. It has the loop of `skipping`, with additional code that counts and two differences:

- The first match of a starting row ends its search, because a starting row can have exponentially
  many matches. Skip strategies and the order of matches do not apply.
- Negations between two rows of a match that depend on the data only are tested as soon as the row
  after them is mapped, so that the nearest run is one that no such negation forbids.

If a starting row has no match, its nearest run is counted: see `nearest_runs`. The computation
states that a starting row has reached are kept, because equal states have the same future. Failures
are not remembered: a run can fail only because an equal run was not followed.

    SEQ(A a, B b, C c) with skip till next match, rows A X B

    row 0 A, row 1 skipped, row 2 B: needs 1 row more
    no row is left: the nearest run of row 0 is A0 B2, which ended because the partition ended

Cost: for each starting row, the rows of its window or partition, times the number of different
computation states.
"""

from typing import NamedTuple

import numpy as np

from matchrec.automaton.run_endings import NOTHING
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import spliced, stoppable_kernel
from matchrec.search.kernels import layout, nearest_runs
from matchrec.search.kernels.finished_matches import (
    REJECTED,
    SelectionProgress,
    is_match,
    satisfies_negations,
    write_path_row,
)
from matchrec.search.kernels.layout import (
    NegationArrays,
    OutputArrays,
    ReachedStates,
    RowArrays,
    Rules,
    RunConditions,
    SelectionRules,
)
from matchrec.search.kernels.mapping import is_failure_status
from matchrec.search.kernels.memo import begin_states, note_state
from matchrec.search.kernels.nearest_runs import (
    END_STATE,
    END_UNTIL,
    UNKNOWN,
    RunCounts,
    begin_nearest,
    count_match,
    count_start,
    ends_here,
    is_nearer,
    keep_nearer,
    note_reason,
)
from matchrec.search.kernels.search_loop import go_to_next_partition, seek_start
from matchrec.search.kernels.skipping import (
    ACCEPTED,
    BLOCKED,
    FREE,
    STOPPED,
    Position,
    evaluate_choice,
    pack_mark,
    push_row,
    unpack_block_level,
)
from matchrec.search.partitions import IntArray


class SelectionCoverageProgress(SelectionProgress, ReachedStates):
    """The progress of a search with event selection that counts matches and nearest runs.

    `best_length` is the number of rows in `path` after ACCEPTED; the other fields of the best match
    are not used.
    """


class SelectionCoverageWork(NamedTuple):
    """The arrays and records in which the search works."""

    progress: SelectionCoverageProgress
    output: OutputArrays
    # int64[5, d], the run that is followed: see `layout`.
    path: IntArray
    # int64[t, 4 + r], the computation states that the starting row has reached, if a run has r
    # registers: see `memo`. It is empty if they are not kept.
    table: IntArray
    # The counts, and the nearest runs.
    counts: RunCounts
    # The negations between two rows of a match that depend on the data only; there can be none.
    middle_absences: NegationArrays


@stoppable_kernel
def search(
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: SelectionCoverageWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> int:
    """Search from `progress` on; return a status. `search_loop` explains this loop."""
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and seek_start(rows.can_begin, progress):
            status = np.int64(
                search_from_start(rules, selection_rules, rows, work, conditions, negation)
            )
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
    return layout.DONE


@spliced
def search_from_start(
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: SelectionCoverageWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> int:
    """Write out and count a match that begins with progress.start, or count the nearest run.

    Set the next starting row.

    Returns:
        DONE, or another status. After another status, no match has been written.
    """
    progress = work.progress
    counts = work.counts
    start = progress.start
    end = rows.window_end[progress.start]
    match_count_before = progress.match_count
    mapped_count_before = progress.mapped_count
    begin_states(progress)
    status = np.int64(layout.DONE)
    for first_state in range(selection_rules.start_count):
        if status == layout.DONE:
            status = np.int64(
                search_from(
                    first_state, end, rules, selection_rules, rows, work, conditions, negation
                )
            )
    if status == layout.DONE:
        # If the nearest run needed no more rows, a negation has kept it from being a match.
        needed_rows = counts.remaining_rows[counts.ends[0, END_STATE]]
        default_reason = nearest_runs.ANCHORED if needed_rows > 0 else nearest_runs.FORBIDDEN
        count_start(default_reason, end, rules.program, rows, progress, counts)
    if status == ACCEPTED:
        length = progress.best_length
        status = np.int64(write_path_row(layout.PATH_ROWS, length, work))
        if status == layout.DONE and length > 0:
            count_match(length, work.path[layout.PATH_CHOICES], counts)
    if status == layout.DONE:
        progress.start = start + 1
    else:
        progress.match_count = match_count_before
        progress.mapped_count = mapped_count_before
    return int(status)


@spliced
def search_from(
    first_state: int,
    end: int,
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: SelectionCoverageWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> int:
    """Search from progress.start in state `first_state`; `end` is the row before which runs end.

    Returns:
        ACCEPTED if the first progress.best_length rows of `path` are a match; DONE if there is no
        match, and `counts` has the nearest run; or another status.
    """
    program = rules.program
    path = work.path
    counts = work.counts
    first_choice = rules.first_choice
    can_continue = selection_rules.can_continue
    states_after_skip = selection_rules.states_after_skip
    ending_kinds = selection_rules.ending_kinds
    row = work.progress.start
    state = first_state
    depth = np.int64(0)
    choice = first_choice[first_state]
    block_level = np.int64(FREE)
    status = np.int64(layout.DONE)
    if first_state == 0 or is_nearer(depth, state, depth, counts):
        begin_nearest(depth, state, row, depth, np.int64(UNKNOWN), counts)
    while True:
        end_of_choices = first_choice[state + 1]
        position = Position(row, end, state, choice, depth, block_level, np.int64(0))
        choice, block_level, status = try_choices(
            position, rules, selection_rules, rows, work, conditions, negation
        )
        if status == ACCEPTED:
            break
        if status != layout.DONE:
            return status
        if choice < end_of_choices:
            depth = depth + 1
            row = row + 1
            state = program[choice, layout.TARGET]
            begin_nearest(depth, state, row, depth, np.int64(UNKNOWN), counts)
            block_level = np.int64(FREE if can_continue[state] else BLOCKED)
            choice = first_choice[state]
            continue
        if depth > 0 and row < end and block_level == FREE and states_after_skip[state] >= 0:
            row = row + 1
            state = states_after_skip[state]
            choice = first_choice[state]
            continue
        if depth > 0 and row >= end and ending_kinds[state] != NOTHING:
            status = np.int64(ACCEPTED)
            break
        if ends_here(depth, counts):
            counts.ends[depth, END_UNTIL] = min(row, end) + 1
        if depth == 0:
            break
        depth -= 1
        row = path[layout.PATH_ROWS, depth]
        choice = path[layout.PATH_CHOICES, depth]
        block_level = unpack_block_level(path[layout.PATH_MARKS, depth])
        keep_nearer(depth, choice, counts)
        state = program[choice, layout.SOURCE]
        choice = choice + 1
    work.progress.best_length = depth
    return int(status)


@spliced
def try_choices(
    position: Position,
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: SelectionCoverageWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> tuple[int, int, int]:
    """Try the choices of a state from `position.choice` on, until one maps the row.

    The choice and the row are then put onto the path, as in `skipping.try_choices`.

    Returns:
        The choice that maps the row, or the index after the last choice; the new value of
        `block_level`; and DONE, ACCEPTED if the search is over, or another status.
    """
    program = rules.program
    path = work.path
    counts = work.counts
    row = position.row
    end = position.end
    depth = position.depth
    choice = position.choice
    block_level = position.block_level
    end_of_choices = rules.first_choice[position.state + 1]
    status = np.int64(layout.DONE)
    while choice < end_of_choices:
        target = program[choice, layout.TARGET]
        if target == layout.ACCEPT:
            answer = is_match(choice, row, depth, rules, rows, work, conditions, negation)
            if is_failure_status(answer):
                status = np.int64(answer)
                break
            if answer == HOLDS:
                status = np.int64(ACCEPTED)
                break
            if answer == REJECTED:
                note_reason(nearest_runs.FORBIDDEN, depth, counts)
        elif row < end and (
            block_level != STOPPED or target < 0 or not selection_rules.can_continue[target]
        ):
            answer = evaluate_choice(
                choice, row, depth, program, rows.condition_bits, path, work.progress, conditions
            )
            if answer < 0:
                status = np.int64(-answer)
                break
            if answer == HOLDS and target >= 0:
                block_level = max(block_level, program[choice, layout.BLOCKS])
                push_row(choice, row, depth, pack_mark(0, block_level), path)
                answer = is_worth_following(choice, row, depth, program, rows, work, conditions)
                if answer < 0:
                    status = np.int64(-answer)
                    break
                if answer == HOLDS:
                    break
            elif answer == HOLDS:
                if target == layout.COMPLETE_RUN:
                    status = np.int64(ACCEPTED)
                    break
                if target == layout.TIME_OUT:
                    note_reason(nearest_runs.OUT_OF_WINDOW, depth, counts)
                if target == layout.END_RUN or target == layout.END_UNLESS_COMPLETED:
                    note_reason(nearest_runs.FORBIDDEN, depth, counts)
                if target != layout.IGNORE_LATER_CHOICES:
                    block_level = (
                        STOPPED
                        if target == layout.END_UNLESS_COMPLETED
                        else max(block_level, BLOCKED)
                    )
                if (
                    target == layout.END_RUN
                    or target == layout.TIME_OUT
                    or target == layout.IGNORE_LATER_CHOICES
                ):
                    choice = end_of_choices
                    break
        choice += 1
    return choice, block_level, status


@spliced
def is_worth_following(
    choice: int,
    row: int,
    depth: int,
    program: IntArray,
    rows: RowArrays,
    work: SelectionCoverageWork,
    conditions: RunConditions,
) -> int:
    """Return whether a run that has mapped a row must be followed: HOLDS, HOLDS_NOT or -status.

    The run need not be followed if a negation already forbids it, or if a run with the same future
    has entered its state at the row. `path` has `depth` rows before this row.
    """
    length = depth + 1  # the registers after `length` rows are in the slot of that number
    answer = satisfies_negations(
        0,
        length,
        length,
        work.middle_absences,
        program,
        rows.window_end,
        work.path,
        work.progress.partition_begin,
        conditions,
    )
    if answer != HOLDS:
        note_reason(nearest_runs.FORBIDDEN, depth, work.counts)
        return HOLDS_NOT
    return int(note_state(choice, row, depth, program, conditions, work.table, work.progress))
