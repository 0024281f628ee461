"""The kernels of `search.skipping`: one run at a time, if rows can be skipped.

The search of one starting row, `search_from`, has three users:

    search_matches     the kernel for matches
    search_live_runs   the kernel for runs that are output in addition: see `partial`
    explain.tracing    traces, for which Python runs it and records each test

`selection_coverage` has the same loop, which also finds how far each starting row came.

From each starting row the search goes depth first. In a state at a row, it

1. tries the choices in preferment order; the first one by which the row can be mapped takes the run
   to the next row;
2. otherwise skips the row, if that is allowed;
3. otherwise goes back to the last row that was mapped, and tries the choices after the one that
   mapped it.

All matches of SEQ(A a, B b) with skip till any match, rows A B B:

    row 0 A, row 1 B: match A0 B1
    back to row 1: skip it; row 2 B: match A0 B2
    back to row 2: skip it; no row is left; back to row 0: no other choice

`path` is the stack of the rows that the run has mapped, with the choice of each row, from which the
search goes on when it comes back. registers[d] is the computation state after d rows. If the rest
of a search depends on the data only, a pair of a state and a row that has led to no match is
remembered.

Cost: exponential at worst, because each run reads rows that other runs have read. `search.skipping`
says when the cost is lower. A search for live runs can keep the computation states that a starting
row has reached in `table`. Then the search of a starting row takes at most one step for each
different computation state.

Sources: SASE+, "Backtracking algorithm", "Merging equivalent runs".
"""

from typing import NamedTuple, Protocol

import numpy as np

from matchrec.automaton.run_endings import A_MATCH, NOTHING, UNFINISHED
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inlined, spliced, stoppable_kernel
from matchrec.search.kernel_input import SearchInput
from matchrec.search.kernel_search import Shapes
from matchrec.search.kernels import layout
from matchrec.search.kernels.finished_matches import (
    SelectionProgress,
    is_match,
    keep_match,
    write_completed,
    write_path_row,
)
from matchrec.search.kernels.layout import (
    ByteArray,
    NegationArrays,
    OutputArrays,
    Progress,
    ReachedStates,
    RememberedRows,
    RowArrays,
    Rules,
    RunConditions,
    RunStarts,
    SelectionRules,
)
from matchrec.search.kernels.mapping import (
    can_map_row,
    is_failure_status,
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
from matchrec.search.kernels.search_loop import (
    begin_start,
    go_to_next_partition,
    seek_start,
    set_next_start,
    skip_match,
)
from matchrec.search.partitions import IntArray
from matchrec.search.path_search import PathSearch
from matchrec.search.progress import make_last_live, needs_release_times
from matchrec.search.task import Capacity, Task

# The values of `block_level`: what a run can do with a row. A greater value allows less.
FREE = 0  # the run can map the row and skip the row
BLOCKED = 1  # the run can map the row, but not skip it
STOPPED = 2  # the run can map the row only if the row completes the run

# The status of `search_from` if the search of the starting row is over.
ACCEPTED = -1


class SkippingProgress(SelectionProgress, RememberedRows, ReachedStates):
    """The progress of a search for matches that skip rows, one run at a time.

    There is a best match only if matches are not allowed to overlap. `best_length` is also the
    number of rows in `path` after ACCEPTED. Reached states are kept only in a search for live runs.
    """


class SkippingWork(NamedTuple):
    """The arrays and records in which the search works."""

    progress: SkippingProgress
    output: OutputArrays
    # int64[5, d], the run that is followed, and the best match: see `layout`.
    path: IntArray
    # uint8[r, b], the failures that are remembered: see `memo`.
    memo: ByteArray
    # int64[COUNTER_COUNT], the counters: see `layout`. Work that is repeated with more room counts
    # once.
    counters: IntArray
    # int64[n], for each starting row the last row at which a run from it is live; int64[0] if this
    # is not needed.
    last_live_rows: IntArray


class Tracing(Protocol):
    """A recorder of each test of a search that Python runs: see `explain.tracing.search`.

    `depth` is how many rows the run has mapped before the row. Answers are HOLDS or HOLDS_NOT. The
    answer of an acceptance can also be REJECTED: see `is_match`.
    """

    @property
    def is_full(self) -> bool:
        """Return whether no more tests are recorded, so that the search can end."""

    def note_answer(self, answer: int, choice: int, row: int, depth: int) -> None:
        """Record the answer of the condition of a choice, unless the choice maps the row."""

    def note_taken(self, answer: int, choice: int, row: int, depth: int) -> None:
        """Record that a choice maps a row. The answer is whether the run must be followed."""

    def note_skipped(self, row: int, depth: int) -> None:
        """Record that a row is skipped."""

    def note_no_row(self, choice: int, row: int, depth: int) -> None:
        """Record that a choice cannot be tried, because no row is left."""

    def note_acceptance(self, answer: int, choice: int, row: int, depth: int) -> None:
        """Record whether the path is a match."""

    def note_end(self, kind: int, row: int, depth: int) -> None:
        """Record that the path is a match, or a run whose window has ended."""


@spliced
def search_from(
    first_state: int,
    end: int,
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: SkippingWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
    table: IntArray | None,
    tracing: Tracing | None,
) -> int:
    """Search from progress.start in a state, and write out matches or find the preferred one.

    Steps 1 to 5 are one loop, so that its variables stay in machine registers. Each test of
    `tracing` or `table` is an `if` without other conditions. So the code below it is not compiled
    for a search without them.

    Args:
        first_state: the state in which the run begins.
        end: the row before which runs end.
        rules: the part of the query that every search needs.
        selection_rules: the part of the query for event selection.
        rows: the partitions.
        work: the arrays and records of the search.
        conditions: the conditions on the run.
        negation: the tests of a match as a whole; None if there are none.
        table: the computation states that the starting row has reached, so that each is searched
            only once; None if they are not kept.
        tracing: the recorder of each test, with which no match is written out; None in a kernel.

    Returns:
        DONE if all choices were tried; ACCEPTED if the first progress.best_length rows of `path`
        are the match that is sought; or another status.
    """
    program = rules.program
    path = work.path
    progress = work.progress
    first_choice = rules.first_choice
    states_after_skip = selection_rules.states_after_skip
    ending_kinds = selection_rules.ending_kinds
    start = progress.start
    last_live_rows = work.last_live_rows
    row = start
    state = first_state
    depth = np.int64(0)
    choice = first_choice[first_state]
    block_level = match_count = read_count = fork_count = max_depth = np.int64(0)
    status = np.int64(layout.DONE)
    while True:
        if last_live_rows.shape[0] > 0:
            last_live_rows[start] = max(last_live_rows[start], row)
        if progress.best_start >= 0:
            # Only a match that is complete before the best one is better. From the same starting
            # row, one that is complete together with it can be, too, if its rows come earlier.
            end = min(end, progress.best_last_row + int(progress.best_start == start))
        # 1. Try choices.
        position = Position(row, end, state, choice, depth, block_level, match_count)
        choice, block_level, match_count, status = try_choices(
            position, rules, selection_rules, rows, work, conditions, negation, table, tracing
        )
        if tracing is not None:
            if tracing.is_full:
                status = ACCEPTED
        if status == ACCEPTED:
            progress.best_length = depth
            break
        if status != layout.DONE:
            return status
        read_count += 1
        # 2. A choice has mapped the row: go on with the next row.
        if choice < first_choice[state + 1]:
            depth = depth + 1
            row = row + 1
            max_depth = max(max_depth, depth)
            state = program[choice, layout.TARGET]
            block_level = np.int64(FREE if selection_rules.can_continue[state] else BLOCKED)
            choice = first_choice[state]
            continue
        # 3. Skip the row.
        if depth > 0 and row < end and block_level == FREE and states_after_skip[state] >= 0:
            if tracing is not None:
                tracing.note_skipped(row, depth)
            row = row + 1
            state = states_after_skip[state]
            choice = first_choice[state]
            continue
        # 4. The window has ended: output the run, if runs in this state are output then.
        if depth > 0 and row >= end and ending_kinds[state] != NOTHING:
            if rules.output == layout.PREFERRED:
                progress.best_length = depth
                status = np.int64(ACCEPTED)
                break
            if tracing is not None:
                tracing.note_end(ending_kinds[state], row, depth)
            elif write_completed(ending_kinds[state], row, depth, work) != layout.DONE:
                return layout.OUTPUT_FULL
            match_count += 1
        # 5. Go back to the last mapped row. Its choice has failed if no match was found since then.
        if depth == 0:
            break
        depth -= 1
        row = path[layout.PATH_ROWS, depth]
        choice = path[layout.PATH_CHOICES, depth]
        mark = path[layout.PATH_MARKS, depth]
        memo_number = program[choice, layout.MEMO]
        if unpack_match_count(mark) == match_count and memo_number >= 0:
            if not remember_failure(work.memo, progress, memo_number, row + 1):
                return layout.MEMO_FULL
        state = program[choice, layout.SOURCE]
        block_level = unpack_block_level(mark)
        choice = choice + 1
        fork_count += 1
    count_search(read_count, fork_count, depth, max_depth, work.counters)
    return int(status)


@spliced
def count_search(
    read_count: int, fork_count: int, depth: int, max_depth: int, counters: IntArray
) -> None:
    """Add the counts of the search from a starting row to the counters.

    Args:
        read_count: how often the run has come to a row.
        fork_count: how often the search has gone back, so that it has followed one more run.
        depth: how many rows the path has at the end.
        max_depth: how many rows the path has had at most.
        counters: int64[COUNTER_COUNT], which are changed: see `layout`.
    """
    counters[layout.READS] += read_count
    counters[layout.FORKS] += fork_count
    counters[layout.RUNS_CREATED] += fork_count + 1
    counters[layout.NODES_CREATED] += fork_count + depth
    counters[layout.MAX_LIVE] = max(counters[layout.MAX_LIVE], max_depth)


class Position(NamedTuple):
    """The position of a run in a search: at a row, in a state, before it tries a choice."""

    row: int
    end: int  # the row before which the run ends
    state: int
    choice: int  # the choice of the state that is tried next
    depth: int  # how many rows the run has mapped
    block_level: int  # what the run can do with the row: FREE, BLOCKED or STOPPED
    match_count: int  # how many matches have been found from the starting row


@spliced
def try_choices(
    position: Position,
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: SkippingWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
    table: IntArray | None,
    tracing: Tracing | None,
) -> tuple[int, int, int, int]:
    """Try the choices of a state from `position.choice` on, until one maps the row.

    A choice can

    1. accept: the path is a match;
    2. map the row, so that the run goes on with the next row, which is put onto the path;
    3. have an effect without mapping the row: the run is completed, times out or ends, or it
       must not skip the row.

    Returns:
        The choice that maps the row, or the index after the last choice; the new values of
        `block_level` and `match_count`; and DONE, ACCEPTED if the search is over, or another
        status.
    """
    program = rules.program
    path = work.path
    row = position.row
    end = position.end
    depth = position.depth
    choice = position.choice
    block_level = position.block_level
    match_count = position.match_count
    end_of_choices = rules.first_choice[position.state + 1]
    ending_kind = selection_rules.ending_kinds[position.state]
    status = np.int64(layout.DONE)
    while choice < end_of_choices:
        target = program[choice, layout.TARGET]
        if target == layout.ACCEPT:
            answer = is_match(choice, row, depth, rules, rows, work, conditions, negation)
            if is_failure_status(answer):
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
                    match_count += int(rules.output != layout.LONGEST)
                elif keep_match(row, depth, rules, work) == layout.DONE:
                    match_count += 1
                else:
                    status = np.int64(layout.OUTPUT_FULL)
                    break
        elif row < end and (
            block_level != STOPPED or target < 0 or not selection_rules.can_continue[target]
        ):
            answer = evaluate_choice(
                choice, row, depth, program, rows.condition_bits, path, work.progress, conditions
            )
            if answer < 0:
                status = np.int64(-answer)
                break
            if tracing is not None:
                tracing.note_answer(answer, choice, row, depth)
            if answer == HOLDS and target >= 0:
                block_level = max(block_level, program[choice, layout.BLOCKS])
                push_row(choice, row, depth, pack_mark(match_count, block_level), path)
                answer = is_worth_following(choice, row, depth, program, work, conditions, table)
                if answer < 0:
                    status = np.int64(-answer)
                    break
                if tracing is not None:
                    tracing.note_taken(answer, choice, row, depth)
                if answer == HOLDS:
                    break
            elif answer == HOLDS:
                output_kind = find_output_kind(target, ending_kind)
                if output_kind != NOTHING:
                    if tracing is not None:
                        tracing.note_end(output_kind, row, depth)
                    elif write_completed(output_kind, row, depth, work) != layout.DONE:
                        status = np.int64(layout.OUTPUT_FULL)
                        break
                    match_count += 1
                if target == layout.IGNORE_LATER_CHOICES:
                    choice = end_of_choices
                    break
                if target == layout.END_RUN or target == layout.TIME_OUT:
                    block_level = max(block_level, BLOCKED)
                    choice = end_of_choices
                    break
                block_level = (
                    STOPPED if target == layout.END_UNLESS_COMPLETED else max(block_level, BLOCKED)
                )
        elif tracing is not None:
            if row >= end:
                tracing.note_no_row(choice, row, depth)
        choice += 1
    return choice, block_level, match_count, status


@spliced
def find_output_kind(effect: int, ending_kind: int) -> int:
    """Return the kind of output of a run on which a row has an effect; NOTHING for no output.

    Kinds are numbers of `automaton.run_endings`. `ending_kind` is the kind if the run times out.
    """
    kind = np.int64(NOTHING)
    if effect == layout.COMPLETE_RUN:
        kind = np.int64(A_MATCH)
    elif effect == layout.TIME_OUT:
        kind = np.int64(ending_kind)
    return int(kind)


@spliced
def evaluate_choice(
    choice: int,
    row: int,
    depth: int,
    program: IntArray,
    condition_bits: IntArray,
    path: IntArray,
    progress: Progress,
    conditions: RunConditions,
) -> int:
    """Return whether a run of `depth` rows can map a row by a choice: HOLDS, HOLDS_NOT or -status.

    A search for live runs gives up with TOO_MANY_STEPS after a limited number of evaluations.
    """
    answer = np.int64(HOLDS)
    if depth == path.shape[1]:
        answer = np.int64(-layout.PATH_FULL)
    elif takes_too_many_steps(progress):
        answer = np.int64(-layout.TOO_MANY_STEPS)
    else:
        answer = np.int64(
            can_map_row(
                choice, depth, depth + 1, row, program, condition_bits, progress, conditions
            )
        )
        if answer != HOLDS and answer != HOLDS_NOT:
            answer = -note_failure(answer, choice, row, progress)
    return int(answer)


@spliced
def is_worth_following(
    choice: int,
    row: int,
    depth: int,
    program: IntArray,
    work: SkippingWork,
    conditions: RunConditions,
    table: IntArray | None,
) -> int:
    """Return whether a run that has mapped a row must be followed: HOLDS, HOLDS_NOT or -status.

    The run need not be followed if it is known to fail, or if a run with the same future has
    entered its state at the row. `path` has `depth` rows before this row.
    """
    progress = work.progress
    memo_number = program[choice, layout.MEMO]
    answer = np.int64(HOLDS)
    if memo_number >= 0 and has_failed(work.memo, progress, memo_number, row + 1):
        answer = np.int64(HOLDS_NOT)
    if table is not None:
        if answer == HOLDS and memo_number < 0:
            answer = np.int64(note_state(choice, row, depth, program, conditions, table, progress))
    return int(answer)


@inlined
def pack_mark(match_count: int, block_level: int) -> int:
    """Return the mark of a row of the path: two numbers in one.

    `block_level` takes the lowest two bits.

    Args:
        match_count: how many matches had been found from the starting row when the row was mapped.
        block_level: what else the run can do with the row: FREE, BLOCKED or STOPPED.
    """
    return 4 * match_count + block_level


@inlined
def unpack_match_count(mark: int) -> int:
    """Return the number of matches in a mark of `pack_mark`."""
    return mark >> 2


@inlined
def unpack_block_level(mark: int) -> int:
    """Return `block_level` in a mark of `pack_mark`."""
    return mark & 3


@spliced
def push_row(choice: int, row: int, depth: int, mark: int, path: IntArray) -> None:
    """Put a mapped row into column `depth` of `path`. For `mark`, see `pack_mark`."""
    path[layout.PATH_ROWS, depth] = row
    path[layout.PATH_CHOICES, depth] = choice
    path[layout.PATH_MARKS, depth] = mark


@stoppable_kernel
def search_matches(
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: SkippingWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> int:
    """Search for matches from `progress` on; return a status. `search_loop` explains this loop."""
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
        begin_partition(work)
    return layout.DONE


@stoppable_kernel
def search_live_runs(
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: SkippingWork,
    conditions: RunConditions,
    table: IntArray,
    starts: RunStarts,
) -> int:
    """Search for live runs from `progress` on; return a status. `search_loop` explains this loop.

    For a starting row without a match, the kernel finds the most preferred run that is live where
    the window ends. The rules of such a search have no choice that accepts. So the first run that
    comes to the end of the window, in a state from which a match could still be reached, ends the
    search.

    A run that is live at the end of a window is live at all rows before, and windows end in the
    order of their starting rows. So if no run from a state at a row is live at the end of one
    window, no run from there is live at the end of a later window. The failure of such a state at
    such a row is remembered for all starting rows of a partition.

    Cost: linear in the rows, and in the rows of the runs that are output, if conditions depend on
    the data only.
    """
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and seek_start(rows.can_begin, progress):
            status = np.int64(
                find_live_run(rules, selection_rules, rows, work, conditions, table, starts)
            )
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@spliced
def begin_partition(work: SkippingWork) -> None:
    """Forget the failures of the previous partition."""
    forget(work.progress.start, work.progress)


@spliced
def search_from_start(
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: SkippingWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> int:
    """Write out the matches that begin with progress.start, and set the next starting row.

    Returns:
        DONE, or another status. After another status, nothing has been written.
    """
    progress = work.progress
    start = progress.start
    end = begin_start(rows.window_end, progress)
    match_count_before = progress.match_count
    mapped_count_before = progress.mapped_count
    status = np.int64(layout.DONE)
    for first_state in range(selection_rules.start_count):
        if status == layout.DONE:
            status = np.int64(
                search_from(
                    first_state,
                    end,
                    rules,
                    selection_rules,
                    rows,
                    work,
                    conditions,
                    negation,
                    None,
                    None,
                )
            )
    if status == ACCEPTED:
        length = progress.best_length
        status = np.int64(write_path_row(layout.PATH_ROWS, length, work))
        if status == layout.DONE:
            path_choices = work.path[layout.PATH_CHOICES, :length]
            path_rows = work.path[layout.PATH_ROWS]
            status = np.int64(skip_match(path_choices, start, path_rows, rules, progress))
    if status == layout.DONE and progress.start == start:
        status = np.int64(go_on_after(start, work))
    if status != layout.DONE:
        progress.match_count = match_count_before
        progress.mapped_count = mapped_count_before
    return int(status)


@spliced
def go_on_after(start: int, work: SkippingWork) -> int:
    """Set the next starting row after a search that has set none.

    If no later match can be better than the best match, the best match is written out, and the
    search goes on after it. Otherwise it goes on with the row after `start`.

    Returns:
        DONE or OUTPUT_FULL.
    """
    progress = work.progress
    last_row = min(progress.best_last_row, progress.partition_end - 1)
    if progress.best_start < 0 or start < last_row:
        progress.start = start + 1
        return layout.DONE
    progress.completing_row = progress.best_last_row
    status = write_path_row(layout.PATH_BEST_ROWS, progress.best_length, work)
    if status == layout.DONE:
        forget(progress.best_last_row + 1, progress)
        set_next_start(progress.best_last_row + 1, progress)
        progress.best_start = -1
    return status


@spliced
def find_live_run(
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: SkippingWork,
    conditions: RunConditions,
    table: IntArray,
    starts: RunStarts,
) -> int:
    """Find the live run that begins with progress.start, write it out, and set the next start.

    Nothing is written if no live run is sought from this row, or if there is none. Of the
    unfinished runs of a partition, only the first is sought. If failures depend on the match number
    and the match number has changed, the failures are forgotten.

    Returns:
        DONE or another status.
    """
    progress = work.progress
    start = work.progress.start
    kind = starts.ending_kind[start]
    end = rows.window_end[start]
    status = np.int64(layout.DONE)
    has_unfinished_run = starts.last_unfinished_partition[0] == progress.partition
    if kind != NOTHING and (kind != UNFINISHED or not has_unfinished_run):
        if rules.forgets_after_match and starts.match_number[start] != progress.match_number:
            forget(start, progress)
        progress.match_number = starts.match_number[start]
        progress.completing_row = end
        progress.match_kind = kind
        begin_states(progress)
        status = np.int64(
            search_from(0, end, rules, selection_rules, rows, work, conditions, None, table, None)
        )
        if status == ACCEPTED:
            status = np.int64(write_path_row(layout.PATH_ROWS, progress.best_length, work))
            if status == layout.DONE and kind == UNFINISHED:
                starts.last_unfinished_partition[0] = progress.partition
    if status == layout.DONE:
        progress.start = start + 1
    return int(status)


class SkippingSearch(PathSearch[SkippingWork]):
    """A search of one run at a time that can skip rows."""

    progress: SkippingProgress
    progress_class = SkippingProgress

    def __init__(
        self, task: Task, arrays: SearchInput, capacity: Capacity, counters: IntArray | None = None
    ) -> None:
        self.last_live_rows = make_last_live(task, arrays)
        super().__init__(task, arrays, capacity, counters)
        if task.absences or needs_release_times(task):
            # A state at a row that leads to no match must be searched again: with another first
            # row, a negation perhaps does not forbid the match, and release times need the last
            # live rows.
            self.remember_nothing()

    @property
    def shapes(self) -> Shapes:
        """Return the arrays of `PathSearch`, with the rows of the path and the best match."""
        path: Shapes = {"path": ((layout.PATH_SIZE, self.sizes[layout.PATH_FULL]), np.int64)}
        return super().shapes | path

    def make_work(self) -> SkippingWork:
        """Return what the kernel works in."""
        return SkippingWork(
            progress=self.progress,
            output=self.output,
            path=self.working_arrays["path"],
            memo=self.working_arrays["memo"],
            counters=self.search_counters,
            last_live_rows=self.last_live_rows,
        )


class MatchSearch(SkippingSearch):
    """A search of one run at a time, for preferred matches or for all matches."""

    kernel = search_matches

    def build_arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        rules = self.rules
        selection_rules = self.selection_rules
        rows = self.arrays.rows
        return rules, selection_rules, rows, self.work, self.conditions, self.arrays.negation
