"""The kernel of `search.plain`: one run at a time, with conditions on the run.

The kernel has the loop of `memoised`. It also evaluates conditions on the run and keeps matches
within their windows. The strategy of `search.memoised` uses it, too, if conditions depend on the
run but no failure does.

Slot d of the registers has the computation state after d rows, so going back restores it. A failure
is remembered only if what follows does not depend on the registers.

    PATTERN (A B+)   DEFINE B AS x > SUM(A.x)   rows A B B

    slot 0    nothing is mapped
    slot 1    row 0 is mapped to A: the sum of A
    slot 2    a copy of slot 1 in which row 1 is mapped to B; then B's condition is evaluated on it
"""

import numpy as np

from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import spliced, stoppable_kernel
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import Progress, RowArrays, Rules, RunConditions
from matchrec.search.kernels.mapping import (
    evaluate_run_condition,
    is_anchored,
    map_row_in_copy,
    note_failure,
    takes_too_many_steps,
)
from matchrec.search.kernels.memo import has_failed, remember_failure
from matchrec.search.kernels.memoised import PathWork, begin_partition
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
from matchrec.search.path_search import PathSearch


@stoppable_kernel
def search(rules: Rules, rows: RowArrays, work: PathWork, conditions: RunConditions) -> int:
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
def search_from_start(
    rules: Rules, rows: RowArrays, work: PathWork, conditions: RunConditions
) -> int:
    """Search from progress.start, write the match, if any, and set the next starting row.

    Returns:
        DONE or another status.
    """
    progress = work.progress
    latest_end = begin_start(rows.window_end, progress)
    length = find_match(latest_end, rules, rows, work, conditions)
    if length < 0:
        return finish_without_match(length, progress)
    return write_path(length, work.path, rules, work.output, progress)


@spliced
def find_match(
    latest_end: int, rules: Rules, rows: RowArrays, work: PathWork, conditions: RunConditions
) -> int:
    """Return the length of the preferred match at progress.start, NO_MATCH, or an encoded status.

    `latest_end` is the row before which the match must end. A single loop goes forward and back
    over the choices, so that its variables stay in machine registers.
    """
    first_choice = rules.first_choice
    program = rules.program
    condition_bits = rows.condition_bits
    path = work.path
    memo = work.memo
    progress = work.progress
    start = progress.start
    edge = progress.edge
    row = start
    state = np.int64(0)
    choice = first_choice[0]
    # Whether a choice of this pair of state and row has mapped the row, and has failed later.
    has_tried_mapping = False
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
                    if target_memo < 0 or not has_failed(memo, progress, target_memo, row + 1):
                        depth = row - start
                        if depth == path.shape[0]:
                            return encode_status(layout.PATH_FULL)
                        answer = np.int64(
                            evaluate_choice(choice, depth, row, program, progress, conditions)
                        )
                        if answer < 0:
                            return int(answer)
                        if answer == HOLDS:
                            break
            choice += 1
        if choice < end_of_choices:
            path[row - start] = choice
            row += 1
            state = program[choice, layout.TARGET]
            choice = first_choice[state]
            has_tried_mapping = False
            continue
        if row == start:
            return NO_MATCH
        row -= 1
        choice = path[row - start]
        target_memo = program[choice, layout.MEMO]
        if has_tried_mapping and target_memo >= 0:
            if not remember_failure(memo, progress, target_memo, row + 1):
                return NO_ROOM
        state = program[choice, layout.SOURCE]
        choice += 1
        has_tried_mapping = True


@spliced
def evaluate_choice(
    choice: int,
    depth: int,
    row: int,
    program: IntArray,
    progress: Progress,
    conditions: RunConditions,
) -> int:
    """Return whether the condition on the run lets a choice map a row after `depth` others.

    Returns:
        HOLDS, HOLDS_NOT or an encoded status.
    """
    if takes_too_many_steps(progress):
        return encode_status(layout.TOO_MANY_STEPS)
    map_row_in_copy(choice, depth, depth + 1, row, program, conditions)
    answer = evaluate_run_condition(choice, depth + 1, row, program, conditions)
    if answer != HOLDS and answer != HOLDS_NOT:
        answer = encode_status(note_failure(answer, choice, row, progress))
    return int(answer)


class PlainSearch(PathSearch[PathWork]):
    """A search of one run at a time, with conditions on the run."""

    kernel = search
    can_skip_starts = True

    def make_work(self) -> PathWork:
        """Return the records and arrays that the kernel changes."""
        return PathWork(
            progress=self.progress,
            output=self.output,
            path=self.working_arrays["path"],
            memo=self.working_arrays["memo"],
        )

    def build_arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        return self.rules, self.arrays.rows, self.work, self.conditions
