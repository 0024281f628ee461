"""The kernels of `search.merging`: all runs at once, row by row, for one match of each start.

Runs are kept in preferment order, runs of earlier starting rows first. So the first run that
accepts beats all runs after it, and its match is final when no run before it is live. Until a run
has accepted, each row begins a new run, which is the least preferred run.

    PATTERN (A B* C | A), rows A B B X

    row 0 A     runs: the loop of B; and A alone, which accepts after row 0
    row 1 B     the loop goes on; it is preferred to the best match, row 0, which is not final yet
    row 3 X     the loop dies: the match is row 0, and the next search begins at row 1

Once there is a best match, each pair of a state and a row that a run reaches is noted as failed,
because the next search comes there again. If a run accepts after all, the failures up to its last
row are dropped. With windows, a run that began later lives longer, because a later window never
ends earlier. Then runs merge only if their windows end together, and no failure is remembered.

If a condition raises an error (overflow, division by zero), the *failed run* stays among the runs
and waits, because a run that is preferred to it can still match. The error ends the search only
when all runs before it have died: depth-first search would not have met it earlier.

With a `SkippingInput`, rows can be skipped. Then the last thing that a run does with a row is to
skip it, and the run accepts only on the row after its last mapped row. So runs merge only if their
last mapped rows are equal as well.

There are three kernels with the same loop:

    search_data        conditions depend on the data only
    search_runs        conditions depend on the run
    search_with_gaps   rows can be skipped

They pass None for the arguments that they do not need, and code that uses these arguments is not
compiled. All go from match to match by `find_match`, which gives each row to all runs by
`expand_run`.

If the longest match of a starting row is sought, a run that accepts beats only the runs of later
starting rows, and the other runs of its own starting row go on until all of them have died.

The mapped rows of all runs are nodes of a shared buffer, each with a pointer to the node of the row
before. When a run splits, the new runs share the nodes before. Each node has one predecessor,
because a computation state is kept for its most preferred run only. A node has a greater number
than its predecessor, also after `compact` has moved the live nodes together.

Cost: rows x choices if conditions depend on the data only and no row can be skipped; with windows,
rows x choices x the rows of a window. Otherwise rows x runs, where runs with equal computation
states merge. If rows can be skipped, there can be a run for each earlier row.

Sources: SASE+, "Basic algorithm", "Merging equivalent runs" and "The shared versioned match
buffer". If nothing depends on the run, it is the machine of Pike and Thompson.
"""

from typing import NamedTuple

import numpy as np

from matchrec.automaton.run_endings import A_MATCH
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inner, spliced, stoppable_kernel
from matchrec.search.buffer_search import BufferSearch
from matchrec.search.kernel_input import SearchInput
from matchrec.search.kernel_search import Shapes
from matchrec.search.kernels import layout
from matchrec.search.kernels.buffer import count_rows, put_run, unwind
from matchrec.search.kernels.layout import (
    BufferState,
    ByteArray,
    ChoiceArray,
    OutputArrays,
    RememberedRows,
    RowArrays,
    Rules,
    RunConditions,
)
from matchrec.search.kernels.mapping import (
    copy_registers,
    find_slot,
    find_window_end,
    is_anchored,
    make_failure_status,
    takes_too_many_steps,
    test_run_condition,
)
from matchrec.search.kernels.memo import (
    NOT_FOUND,
    find_or_add_state,
    forget,
    get_live_registers,
    has_failed,
    remember_failure,
)
from matchrec.search.kernels.search_loop import (
    finish_match,
    go_to_next_partition,
    request_room,
    seek_start,
)
from matchrec.search.partitions import IntArray
from matchrec.search.task import Capacity, Task


class MergingProgress(RememberedRows, BufferState):
    """The progress of a search for one match of each start, of all runs at once."""

    # The row with which the search goes on after NODES_FULL, if there are runs: if `run_count` is
    # not 0. Otherwise the search goes on with the starting row.
    next_row: int
    # The row after the last one of the best match.
    best_end: int


class MergingWork(NamedTuple):
    """The arrays and records in which the search works."""

    progress: MergingProgress
    output: OutputArrays
    # uint8[r, b], the failures that are remembered: see `memo`.
    memo: ByteArray
    # int64[2, r, 3], the runs: see `layout`.
    runs: IntArray
    # int32[n, 2 or 3], the shared buffer: see `layout`.
    nodes: ChoiceArray
    # int64[t, 4 + r], a hash table of computation states, if a run has r registers: see `memo`. If
    # it has none, int64[s, 2], the stamp and the entry of each state.
    table: IntArray


class SkippingInput(NamedTuple):
    """The additional arrays of a search in which rows can be skipped."""

    # int64[s], the state in which a run waits after it skips a row; -1 if it cannot skip rows.
    states_after_skip: IntArray
    # int64[COUNTER_COUNT], the counters: see `layout`. Work that is repeated with more room counts
    # again.
    counters: IntArray


# What `expand_run` returns, apart from the statuses of `layout`.
GOES_ON = 0  # the next run gets the row
CUTS_OFF = -1  # the runs after this one are dropped, because they are less preferred


class LiveRun(NamedTuple):
    """A run that gets a row: the columns of `runs`, and where its registers are."""

    state: int
    node: int  # the node of the row that it has mapped last, or -1
    start: int  # its starting row
    slot: int  # the slot of its registers
    bank: int  # the half of `runs` for the runs after the row


@spliced
def expand_run(
    run: LiveRun,
    row: int,
    rules: Rules,
    rows: RowArrays,
    work: MergingWork,
    conditions: RunConditions | None,
    skipping: SkippingInput | None,
) -> int:
    """Give a row to a run: add the runs that follow from this run to the runs after the row.

    For each choice, in preferment order:

    1. If it accepts, the run is the best match, and CUTS_OFF is returned.
    2. If the row does not satisfy its conditions, or its target is known to fail at the next row,
       the next choice is tried.
    3. Otherwise a run is added that has mapped the row, unless a preferred run has the same future.

    Then the run skips the row, if that is allowed.

    Returns:
        GOES_ON, CUTS_OFF or a status.
    """
    first_choice = rules.first_choice
    program = rules.program
    condition_bits = rows.condition_bits
    runs = work.runs
    nodes = work.nodes
    progress = work.progress
    memo = work.memo
    seeks_longest = rules.output == layout.LONGEST
    bank = run.bank
    latest_end = find_window_end(rows.window_end, run.start, progress)
    must_not_skip = np.int64(0)  # 1 once a choice keeps the run from skipping the row
    has_mapped_last_row = True
    if skipping is not None:
        has_mapped_last_row = run.node < 0 or nodes[run.node, layout.NODE_ROW] == row - 1
    for choice in range(first_choice[run.state], first_choice[run.state + 1]):
        guard = program[choice, layout.GUARD]
        if guard != 0 and not is_anchored(guard, row, progress):
            continue
        target = program[choice, layout.TARGET]
        # 1. Accept.
        if target == layout.ACCEPT:
            if has_mapped_last_row and accept_run(run, row, seeks_longest, progress) == CUTS_OFF:
                return CUTS_OFF
            continue
        # 2. Test the row. The condition on the run comes last, because it takes longest.
        if row >= latest_end:
            continue
        if row >= progress.edge:
            return layout.MORE_ROWS
        mask = program[choice, layout.MASK]
        if condition_bits[row, program[choice, layout.WORD]] & mask != mask:
            continue
        target_memo = program[choice, layout.MEMO]
        if rows.window_end.shape[0] > 0 or seeks_longest:
            target_memo = layout.NOT_REMEMBERED
        if target_memo >= 0 and has_failed(memo, progress, target_memo, row + 1):
            continue
        new_run = progress.next_run_count
        if new_run == runs.shape[1]:
            return layout.RUNS_FULL
        if conditions is not None:
            if skipping is None:
                if takes_too_many_steps(progress):
                    return layout.TOO_MANY_STEPS
            new_slot = find_slot(new_run, bank)
            answer = test_run_condition(choice, run.slot, new_slot, row, program, conditions)
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                progress.row = row
                failed_status = -make_failure_status(answer)
                return keep_failed_run(failed_status, choice, run.start, runs, progress)
        if skipping is not None:
            must_not_skip |= program[choice, layout.BLOCKS]
        # 3. Add the run that has mapped the row.
        node = progress.node_count
        put_run(runs[bank, new_run], target, node, run.start)
        if has_twin(bank, row, latest_end, rules, work, conditions, skipping):
            continue
        # Once there is a best match, the next search comes to this state and row again.
        needs_memo = target_memo >= 0 and progress.best_start >= 0
        if needs_memo and not remember_failure(memo, progress, target_memo, row + 1):
            return layout.MEMO_FULL
        nodes[node, layout.NODE_CHOICE] = choice
        nodes[node, layout.NODE_BEFORE] = run.node
        if skipping is not None:
            nodes[node, layout.NODE_ROW] = row
        progress.node_count += 1
        progress.next_run_count += 1
    if skipping is not None:
        if (
            run.node >= 0
            and row < latest_end
            and must_not_skip == 0
            and skipping.states_after_skip[run.state] >= 0
        ):
            return skip_row(run, latest_end, rules, work, conditions, skipping)
    return GOES_ON


@spliced
def accept_run(run: LiveRun, row: int, seeks_longest: bool, progress: MergingProgress) -> int:
    """Make a run that accepts before `row` the best match; return GOES_ON or CUTS_OFF.

    If the longest match is sought, a longer match is better, and no other run is cut off.
    """
    if seeks_longest:
        # Runs of one starting row come one after the other, and none of these began later than the
        # best match.
        if progress.best_start == run.start and progress.best_end >= row:
            return GOES_ON
    elif progress.memo_from <= row:
        progress.memo_from = row + 1
    progress.best_start = run.start
    progress.best_end = row
    progress.best_node = run.node
    return GOES_ON if seeks_longest else CUTS_OFF


@spliced
def skip_row(
    run: LiveRun,
    latest_end: int,
    rules: Rules,
    work: MergingWork,
    conditions: RunConditions | None,
    skipping: SkippingInput,
) -> int:
    """Add a run that skips the row to the runs after the row; return GOES_ON or RUNS_FULL.

    `latest_end` is the row before which the run must end.
    """
    runs = work.runs
    progress = work.progress
    new_run = progress.next_run_count
    bank = run.bank
    if new_run == runs.shape[1]:
        return layout.RUNS_FULL
    if conditions is not None:
        copy_registers(run.slot, find_slot(new_run, bank), conditions.registers)
    put_run(runs[bank, new_run], skipping.states_after_skip[run.state], run.node, run.start)
    last_row = work.nodes[run.node, layout.NODE_ROW]
    if not has_twin(bank, last_row, latest_end, rules, work, conditions, skipping):
        progress.next_run_count += 1
    return GOES_ON


@spliced
def has_twin(
    bank: int,
    last_row: int,
    latest_end: int,
    rules: Rules,
    work: MergingWork,
    conditions: RunConditions | None,
    skipping: SkippingInput | None,
) -> bool:
    """Return whether an earlier run has the same future as the new run, and note the new run.

    The new run is already in `runs` behind the runs after the row, but does not count yet. If rows
    can be skipped and several runs differ only in their last rows, only the first of them is noted.
    So a twin can be missed, which costs time but changes no match.

    Args:
        bank: the half of `runs` for the runs after the row.
        last_row: the row that the new run has mapped last.
        latest_end: the row before which the new run must end.
        rules: the part of the query that every search needs.
        work: the arrays and records of the search.
        conditions: the conditions on the run.
        skipping: the additional arrays if rows can be skipped; otherwise None.
    """
    runs = work.runs
    progress = work.progress
    table = work.table
    new_run = progress.next_run_count
    stamp = progress.stamp
    state = runs[bank, new_run, layout.RUN_STATE]
    if conditions is None:
        is_noted = table[state, layout.TABLE_STAMP] == stamp
        is_noted = is_noted and table[state, layout.TABLE_ENTRY] == latest_end
        table[state, layout.TABLE_STAMP] = stamp
        table[state, layout.TABLE_ENTRY] = latest_end
        return bool(is_noted)
    if not rules.merges_runs:
        return False
    run_registers = conditions.registers[find_slot(new_run, bank)]
    live_registers = get_live_registers(state, conditions)
    twin = find_or_add_state(
        state, latest_end, run_registers, live_registers, new_run, stamp, table
    )
    if skipping is None:
        return twin != NOT_FOUND
    if twin == NOT_FOUND:
        return False
    # A run accepts only on the row after its last one, so the last rows must be equal as well.
    row_of_twin = work.nodes[runs[bank, twin, layout.RUN_NODE], layout.NODE_ROW]
    skipping.counters[layout.MERGES] += row_of_twin == last_row
    return bool(row_of_twin == last_row)


@inner
def keep_failed_run(
    failed_state: int, choice: int, start: int, runs: IntArray, progress: BufferState
) -> int:
    """Add a failed run to the runs after the row, behind the runs that are preferred to it.

    A failed run cuts off all runs after it, so at most one is kept. progress.row is the row at
    which it has failed.

    Args:
        failed_state: the negative status of the error, which is stored instead of a state.
        choice: the choice whose condition has raised it, which is stored instead of a node.
        start: the starting row of the run.
        runs: the runs.
        progress: the progress of the search.

    Returns:
        CUTS_OFF; the status of the error if no run is preferred to it; or RUNS_FULL.
    """
    run = progress.next_run_count
    bank = 1 - progress.bank
    if run == 0:
        progress.choice = choice
        return -failed_state
    if run == runs.shape[1]:
        return layout.RUNS_FULL
    put_run(runs[bank, run], failed_state, choice, start)
    progress.next_run_count += 1
    return CUTS_OFF


@spliced
def search_from_start(
    rules: Rules,
    rows: RowArrays,
    work: MergingWork,
    conditions: RunConditions | None,
    skipping: SkippingInput | None,
) -> int:
    """Find the next match, write it out, and set the next starting row; return a status."""
    status = find_match(rules, rows, work, conditions, skipping)
    if status != layout.DONE or work.progress.best_start < 0:
        return int(status)
    return write_best(rules, work, skipping)


@spliced
def begin_partition(work: MergingWork) -> None:
    """Forget the failures of the previous partition."""
    forget(work.progress.start, work.progress)


@stoppable_kernel
def search_data(rules: Rules, rows: RowArrays, work: MergingWork) -> int:
    """Search from `progress` on, if conditions depend on the data only; return a status.

    `search_loop` explains this loop.
    """
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and seek_start(rows.can_begin, progress):
            status = np.int64(search_from_start(rules, rows, work, None, None))
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@stoppable_kernel
def search_runs(rules: Rules, rows: RowArrays, work: MergingWork, conditions: RunConditions) -> int:
    """Search as `search_data` does, with conditions on the run."""
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and seek_start(rows.can_begin, progress):
            status = np.int64(search_from_start(rules, rows, work, conditions, None))
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@stoppable_kernel
def search_with_gaps(
    rules: Rules,
    rows: RowArrays,
    work: MergingWork,
    conditions: RunConditions,
    skipping: SkippingInput,
) -> int:
    """Search as `search_runs` does, if rows can be skipped.

    If a query has no conditions on the run, `conditions` has no instructions.
    """
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and seek_start(rows.can_begin, progress):
            status = np.int64(search_from_start(rules, rows, work, conditions, skipping))
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@spliced
def write_best(rules: Rules, work: MergingWork, skipping: SkippingInput | None) -> int:
    """Write out the best match, and set the next starting row by AFTER MATCH SKIP.

    Returns:
        DONE, OUTPUT_FULL or a failure of AFTER MATCH SKIP.
    """
    progress = work.progress
    nodes = work.nodes
    output = work.output
    node = progress.best_node
    start = progress.best_start
    mapped = progress.mapped_count
    length = progress.best_end - start
    if skipping is not None:
        length = count_rows(nodes, node)
    if not request_room(length, output, progress):
        progress.start = start
        return layout.OUTPUT_FULL
    unwind(nodes, node, layout.NODE_CHOICE, output.choices, mapped, length)
    if skipping is not None:
        unwind(nodes, node, layout.NODE_ROW, output.rows, mapped, length)
        output.matches[layout.MATCH_KIND, progress.match_count] = A_MATCH
        rows = output.rows[mapped : mapped + length]
        return finish_match(start, length, rules, output, progress, rows)
    return finish_match(start, length, rules, output, progress, None)


@spliced
def find_match(
    rules: Rules,
    rows: RowArrays,
    work: MergingWork,
    conditions: RunConditions | None,
    skipping: SkippingInput | None,
) -> int:
    """Find the first match from progress.start on that begins before progress.start_limit.

    The fields progress.best_... describe the match. If there is no match, progress.start becomes
    the row after all starting rows. A call after NODES_FULL goes on where the search was. A call
    after another status begins again from the first starting row that has a live run.

    Returns:
        DONE or another status.
    """
    runs = work.runs
    progress = work.progress
    seeks_longest = rules.output == layout.LONGEST
    run_count = progress.run_count
    row = progress.next_row
    edge = progress.edge
    progress.run_count = 0
    if run_count == 0:
        row = progress.start
        progress.best_start = -1
    answer = np.int64(GOES_ON)
    while True:
        # 1. Is the search over, or is there too little room for a row?
        has_best = progress.best_start >= 0
        if run_count == 0 and has_best:
            return layout.DONE
        if run_count == 0:
            progress.node_count = 0
        if progress.node_count + runs.shape[1] > work.nodes.shape[0]:
            progress.run_count = run_count
            progress.next_row = row
            return layout.NODES_FULL
        begins = int(not has_best and row < progress.start_limit)
        if run_count + begins == 0:
            progress.start = min(row, edge)
            return int(layout.MORE_ROWS if row >= edge else layout.DONE)
        # 2. Give the row to all runs.
        progress.stamp += 1
        progress.next_run_count = 0
        bank = progress.bank
        for index in range(run_count + begins):
            # The last run is new, and less preferred than the live runs before it.
            run = LiveRun(np.int64(0), np.int64(-1), row, np.int64(0), 1 - bank)
            if index < run_count:
                state = runs[bank, index, layout.RUN_STATE]
                node = runs[bank, index, layout.RUN_NODE]
                start = runs[bank, index, layout.RUN_START]
                run = LiveRun(state, node, start, find_slot(index, bank), 1 - bank)
            if seeks_longest and 0 <= progress.best_start < run.start:
                break
            if run.state < 0:
                answer = np.int64(keep_failed_run(run.state, run.node, run.start, runs, progress))
            else:
                answer = np.int64(expand_run(run, row, rules, rows, work, conditions, skipping))
            if answer != GOES_ON:
                break
        if skipping is not None:
            counters = skipping.counters
            counters[layout.READS] += run_count + begins
            counters[layout.RUNS_CREATED] += progress.next_run_count
            counters[layout.MAX_LIVE] = max(counters[layout.MAX_LIVE], progress.next_run_count)
        # 3. Go on with the next row, unless a status interrupts the search.
        if answer > GOES_ON:
            break
        progress.bank = 1 - bank
        run_count = progress.next_run_count
        row += 1
    # The interrupted search begins again with the first starting row that has a live run. A state
    # noted as failed from there on has perhaps not failed, because its runs were interrupted.
    if run_count > 0:
        row = runs[progress.bank, 0, layout.RUN_START]
    elif progress.best_start >= 0:
        row = progress.best_start
    progress.start = row
    forget(row, progress)
    return int(answer)


class MergingSearch(BufferSearch[MergingWork]):
    """A search of all runs at once, for the preferred or longest match of each starting row."""

    progress: MergingProgress
    progress_class = MergingProgress

    def __init__(
        self, task: Task, arrays: SearchInput, capacity: Capacity, counters: IntArray | None = None
    ) -> None:
        self.kernel = search_data
        if arrays.uses_event_selection:
            self.kernel = search_with_gaps
        elif arrays.compiled_task.linked_conditions is not None:
            self.kernel = search_runs
        super().__init__(task, arrays, capacity, counters)

    @property
    def shapes(self) -> Shapes:
        """Return the arrays of `BufferSearch`, with a memo and smaller nodes.

        If no rows are skipped, nodes have no column for the row, because it follows from the place
        of the node in the match. Without registers, the table is indexed by the state.
        """
        node_count = self.sizes[layout.NODES_FULL]
        state_count = len(self.rules.first_choice) - 1
        shapes = super().shapes | self.shape_memo()
        if "registers" not in shapes:
            shapes["table"] = ((state_count, layout.TABLE_STATE), np.int64)
        # With event selection, NODE_ROW is one more column.
        node_size = layout.NODE_ROW + int(self.arrays.uses_event_selection)
        return shapes | {"nodes": ((node_count, node_size), np.int32)}

    @property
    def pruning(self) -> None:
        """Return None: only live runs and the best match decide which nodes are kept.

        All nodes of a run have the same starting row, so none expires before the run does.
        """
        return

    def make_work(self) -> MergingWork:
        """Return what the kernel works in."""
        return MergingWork(
            progress=self.progress,
            output=self.output,
            memo=self.working_arrays["memo"],
            runs=self.working_arrays["runs"],
            nodes=self.working_arrays["nodes"],
            table=self.working_arrays["table"],
        )

    def build_arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel that searches."""
        if self.selection_rules is not None:
            skipping = SkippingInput(self.selection_rules.states_after_skip, self.search_counters)
            return self.rules, self.arrays.rows, self.work, self.conditions, skipping
        if self.arrays.compiled_task.linked_conditions is not None:
            return self.rules, self.arrays.rows, self.work, self.conditions
        return self.rules, self.arrays.rows, self.work

    def grow_arrays(self, status: int) -> None:
        """Make the full arrays larger. If there are more runs, add room for their nodes as well."""
        if status == layout.RUNS_FULL:
            least_nodes = 8 * self.sizes[layout.RUNS_FULL]
            self.sizes[layout.NODES_FULL] = max(self.sizes[layout.NODES_FULL], least_nodes)
        super().grow_arrays(status)
