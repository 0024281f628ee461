"""The kernels of `search.merging`: all runs at once, row by row, for the preferred match.

Runs are kept in preferment order, those of earlier starting rows first. So the first run that
accepts beats all runs after it, and its match is final when no run before it is live. Until a run
has accepted, each row starts a run of its own, which is the least preferred one.

    PATTERN (A B* C | A), rows A B B X

    row 0 A     runs: the loop of B; and A alone, which accepts after row 0
    row 1 B     the loop goes on; it is before the best match, so that is not final
    row 3 X     the loop dies: the match is row 0, and the next search begins at row 1

What was reached after the best match and died has failed. That is remembered, because the next
search comes there again. With windows, a run that began later lives longer, as ends of windows
never go back. Then runs merge only if their windows end together, and no failure is remembered.

A condition that raises an error (overflow, division by zero) takes the place of its run and waits,
because what is preferred to it may still match. The error ends the search only when all runs before
it have died: depth-first search would not have met it earlier.

With `skipping`, rows may be skipped. A run then goes on waiting after all else that it does with a
row, and it accepts only on the row after its last one.

There are three kernels of one text, with what each of them needs: `search_data`, if conditions
depend on the data only; `search_runs`, under conditions on the run; and `search_with_gaps`, if rows
may be skipped. Code for what a kernel passes as None is not compiled.

If the longest match of a starting row is sought, a run that accepts beats only the runs of later
starting rows, and the other runs of its own starting row go on until all of them have died.

The rows of all runs are nodes of a shared buffer, which point back to the row before. Runs that
part share the nodes before they part. Each node has one predecessor, because there is one preferred
way to a computation state. A node comes after its predecessor, and it still does after `compact`
has moved the live nodes together.

Cost: rows x choices if conditions depend on the data only, in windows times the rows of a window;
otherwise rows x runs, where runs of equal computation states merge.

Sources: SASE+, "Basic algorithm", "Merging equivalent runs" and "The shared versioned match
buffer". If nothing depends on the run, it is the machine of Pike and Thompson.
"""

from typing import NamedTuple

import numpy as np

from matchrec.automaton.program import A_MATCH
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inner, kernel, spliced
from matchrec.search.interface import Room, Task
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
    NONE,
    ask_run,
    copy_registers,
    end_of_window,
    find_equal,
    forget,
    has_failed,
    is_anchored,
    live_in,
    remember_failure,
    takes_too_many_steps,
)
from matchrec.search.kernels.starts import find_start, finish_match, go_to_next_partition, has_room
from matchrec.search.partitions import IntArray
from matchrec.search.records import SearchInput
from matchrec.search.search import BufferSearch, Kernel, Shapes


class MergingProgress(RememberedRows, BufferState):
    """How far the search has come, and where it goes on if it was interrupted."""

    # If the search is to go on with the runs before a row, that row. `count` is 0 otherwise.
    next_row: int


class MergingWork(NamedTuple):
    """What the search works in."""

    progress: MergingProgress
    output: OutputArrays
    # uint8[r, b], the failures that are remembered: see `mapping`.
    memo: ByteArray
    # int64[2, r, 3], the runs: see `layout`.
    runs: IntArray
    # int32[n, 2 or 3], the shared buffer: see `layout`.
    nodes: ChoiceArray
    # A hash table of computation states: see `mapping`. If the state alone tells them apart, it is
    # int64[s, 2], by state.
    table: IntArray


class Skipping(NamedTuple):
    """What a search needs in addition if rows may be skipped."""

    # int64[s], the state in which a run waits after it skips a row; -1 if it may not skip one.
    waits: IntArray
    # int64[COUNTERS], what has been done: see `layout`.
    counters: IntArray


# What `expand_run` returns, apart from the statuses of `layout`.
GOES_ON = 0
CUTS_OFF = -1  # no less preferred run matters any more


class Run(NamedTuple):
    """A run: a row of `runs`, and where its registers are."""

    state: int
    node: int  # of the row that it has mapped last, or -1
    start: int
    slot: int  # the slot of its registers
    bank: int  # the half of `runs` for the runs after the row


@spliced
def expand_run(
    run: Run,
    row: int,
    rules: Rules,
    rows: RowArrays,
    work: MergingWork,
    conditions: RunConditions | None,
    skipping: Skipping | None,
) -> int:
    """Add what follows from a run at `row` to the runs after it.

    Returns:
        GOES_ON, CUTS_OFF or a status.
    """
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    runs, nodes, progress = work.runs, work.nodes, work.progress
    memo = work.memo
    longest = rules.output == layout.LONGEST
    bank = run.bank
    bound = end_of_window(rows.window_end, run.start, progress)
    blocked = np.int64(0)
    arrived = True
    if skipping is not None:
        arrived = run.node < 0 or nodes[run.node, layout.NODE_ROW] == row - 1
    for choice in range(first[run.state], first[run.state + 1]):
        guard = program[choice, layout.GUARD]
        if guard != 0 and not is_anchored(guard, row, progress):
            continue
        target = program[choice, layout.TARGET]
        if target == layout.ACCEPT and longest:
            # Runs of one starting row come one after the other, and none of these began later
            # than the best match.
            if progress.best_start != run.start or progress.best_end < row:
                progress.best_start = run.start
                progress.best_end = row
                progress.best_node = run.node
            continue
        if target == layout.ACCEPT:
            if not arrived:
                continue
            progress.best_start = run.start
            progress.best_end = row
            progress.best_node = run.node
            if progress.memo_from <= row:
                progress.memo_from = row + 1
            return CUTS_OFF
        if row >= bound:
            continue
        if row >= progress.edge:
            return layout.MORE_ROWS
        mask = program[choice, layout.MASK]
        if satisfied[row, program[choice, layout.WORD]] & mask != mask:
            continue
        bit = program[choice, layout.MEMO]
        if rows.window_end.shape[0] > 0 or longest:
            bit = layout.NOT_REMEMBERED
        if bit >= 0 and has_failed(memo, progress, bit, row + 1):
            continue
        new_run = progress.runs
        if new_run == runs.shape[1]:
            return layout.RUNS_FULL
        if conditions is not None:
            if skipping is None:
                if takes_too_many_steps(progress):
                    return layout.TOO_MANY_STEPS
            new_slot = 1 + 2 * new_run + bank
            answer = ask_run(choice, run.slot, new_slot, row, program, conditions)
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                progress.row = row
                failed_status = -(layout.CONDITION_FAILED + answer)
                return wait_with_failure(failed_status, choice, run.start, runs, progress)
        if skipping is not None:
            blocked |= program[choice, layout.BLOCKS]
        node = progress.nodes
        put_run(runs[bank, new_run], target, node, run.start)
        if has_twin(bank, row, bound, rules, work, conditions, skipping):
            continue
        needs_no_memo = bit < 0 or progress.best_start < 0
        if not needs_no_memo and not remember_failure(memo, progress, bit, row + 1):
            return layout.MEMO_FULL
        nodes[node, layout.NODE_CHOICE] = choice
        nodes[node, layout.NODE_BEFORE] = run.node
        if skipping is not None:
            nodes[node, layout.NODE_ROW] = row
        progress.nodes += 1
        progress.runs += 1
    if skipping is not None:
        if run.node >= 0 and row < bound and blocked == 0 and skipping.waits[run.state] >= 0:
            return skip_row(run, bound, rules, work, conditions, skipping)
    return GOES_ON


@spliced
def skip_row(
    run: Run,
    bound: int,
    rules: Rules,
    work: MergingWork,
    conditions: RunConditions | None,
    skipping: Skipping,
) -> int:
    """Add the run as it is to the runs after the row: GOES_ON or RUNS_FULL."""
    runs, progress = work.runs, work.progress
    new_run, bank = progress.runs, run.bank
    if new_run == runs.shape[1]:
        return layout.RUNS_FULL
    if conditions is not None:
        copy_registers(run.slot, 1 + 2 * new_run + bank, conditions.registers)
    put_run(runs[bank, new_run], skipping.waits[run.state], run.node, run.start)
    last_row = work.nodes[run.node, layout.NODE_ROW]
    if not has_twin(bank, last_row, bound, rules, work, conditions, skipping):
        progress.runs += 1
    return GOES_ON


@spliced
def has_twin(
    bank: int,
    row: int,
    bound: int,
    rules: Rules,
    work: MergingWork,
    conditions: RunConditions | None,
    skipping: Skipping | None,
) -> bool:
    """Return whether a run has the same future as the one that is added next; if not, note it.

    `row` is the row that it has mapped last, `bound` the end of its window.
    """
    runs, progress, table = work.runs, work.progress, work.table
    new_run, stamp = progress.runs, progress.stamp
    state = runs[bank, new_run, layout.RUN_STATE]
    if conditions is None:
        has_come = table[state, layout.TABLE_STAMP] == stamp
        has_come = has_come and table[state, layout.TABLE_ENTRY] == bound
        table[state, layout.TABLE_STAMP] = stamp
        table[state, layout.TABLE_ENTRY] = bound
        return bool(has_come)
    if not rules.merge_runs:
        return False
    run_registers = conditions.registers[1 + 2 * new_run + bank]
    live_registers = live_in(state, conditions)
    twin = find_equal(state, bound, run_registers, live_registers, new_run, stamp, table)
    if skipping is None:
        return twin != NONE
    if twin == NONE:
        return False
    other = work.nodes[runs[bank, twin, layout.RUN_NODE], layout.NODE_ROW]
    skipping.counters[layout.MERGES] += other == row
    return bool(other == row)


@inner
def wait_with_failure(
    state: int, choice: int, start: int, runs: IntArray, progress: BufferState
) -> int:
    """Keep a run whose condition has failed after the runs preferred to it, or fail with the last.

    It cuts off all runs after it, so only one is ever kept; progress.row says where it has failed.
    """
    run, bank = progress.runs, 1 - progress.bank
    if run == 0:
        progress.choice = choice
        return -state
    if run == runs.shape[1]:
        return layout.RUNS_FULL
    put_run(runs[bank, run], state, choice, start)
    progress.runs += 1
    return CUTS_OFF


@spliced
def search_start(
    rules: Rules,
    rows: RowArrays,
    work: MergingWork,
    conditions: RunConditions | None,
    skipping: Skipping | None,
) -> int:
    """Find the next match, write it out, and set the next starting row; return a status."""
    status = find_match(rules, rows, work, conditions, skipping)
    if status != layout.DONE or work.progress.best_start < 0:
        return int(status)
    return write_best(rules, work, skipping)


@spliced
def search_start_on_data(rules: Rules, rows: RowArrays, work: MergingWork) -> int:
    """Do as `search_start`, if conditions depend on the data only and no row may be skipped."""
    return search_start(rules, rows, work, None, None)


@spliced
def search_start_on_runs(
    rules: Rules, rows: RowArrays, work: MergingWork, conditions: RunConditions
) -> int:
    """Do as `search_start`, under conditions on the run, if no row may be skipped."""
    return search_start(rules, rows, work, conditions, None)


@spliced
def begin_partition(work: MergingWork) -> None:
    """Forget the failures of the partition before."""
    forget(work.progress.start, work.progress)


@kernel
def search_data(rules: Rules, rows: RowArrays, work: MergingWork) -> int:
    """Search from `progress` on, if conditions depend on the data only; return a status.

    `starts` explains this loop.
    """
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and find_start(rows.begins, progress):
            status = np.int64(search_start_on_data(rules, rows, work))
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@kernel
def search_runs(rules: Rules, rows: RowArrays, work: MergingWork, conditions: RunConditions) -> int:
    """Do as `search_data`, under conditions on the run."""
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and find_start(rows.begins, progress):
            status = np.int64(search_start_on_runs(rules, rows, work, conditions))
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@kernel
def search_with_gaps(
    rules: Rules, rows: RowArrays, work: MergingWork, conditions: RunConditions, skipping: Skipping
) -> int:
    """Do as `search_runs`, if rows may be skipped. The conditions may be none."""
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and find_start(rows.begins, progress):
            status = np.int64(search_start(rules, rows, work, conditions, skipping))
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@spliced
def write_best(rules: Rules, work: MergingWork, skipping: Skipping | None) -> int:
    """Write out the best match, and skip.

    Returns:
        DONE, OUTPUT_FULL or a failure of AFTER MATCH SKIP.
    """
    progress, nodes, output = work.progress, work.nodes, work.output
    node, start, mapped = progress.best_node, progress.best_start, progress.mapped
    length = progress.best_end - start
    if skipping is not None:
        length = count_rows(nodes, node)
    if not has_room(length, output, progress):
        progress.start = start
        return layout.OUTPUT_FULL
    unwind(nodes, node, layout.NODE_CHOICE, output.choices, mapped, length)
    if skipping is not None:
        unwind(nodes, node, layout.NODE_ROW, output.rows, mapped, length)
        output.found[layout.FOUND_KIND, progress.matches] = A_MATCH
        rows = output.rows[mapped : mapped + length]
        return finish_match(start, length, rules, output, progress, rows)
    return finish_match(start, length, rules, output, progress, None)


@spliced
def find_match(
    rules: Rules,
    rows: RowArrays,
    work: MergingWork,
    conditions: RunConditions | None,
    skipping: Skipping | None,
) -> int:
    """Find the first match from progress.start on that begins before progress.until.

    It is in the fields progress.best_... If there is none, progress.start is the row after all
    starts. After NODES_FULL, the search goes on where it was. After another status, it begins again
    from the first starting row that has a live run.

    Returns:
        DONE or another status.
    """
    runs, progress = work.runs, work.progress
    longest = rules.output == layout.LONGEST
    count, row, edge = progress.count, progress.next_row, progress.edge
    progress.count = 0
    if count == 0:
        row = progress.start
        progress.best_start = -1
    answer = np.int64(GOES_ON)
    while True:
        wants_more = progress.best_start < 0
        if count == 0 and not wants_more:
            return layout.DONE
        if count == 0:
            progress.nodes = 0
        if progress.nodes + runs.shape[1] > work.nodes.shape[0]:
            progress.count = count
            progress.next_row = row
            return layout.NODES_FULL
        begins = int(wants_more and row < progress.until)
        if count + begins == 0:
            progress.start = min(row, edge)
            return int(layout.MORE_ROWS if row >= edge else layout.DONE)
        progress.stamp += 1
        progress.runs = 0
        bank = progress.bank
        for index in range(count + begins):
            run = Run(np.int64(0), np.int64(-1), row, np.int64(0), 1 - bank)
            if index < count:
                state, node = (
                    runs[bank, index, layout.RUN_STATE],
                    runs[bank, index, layout.RUN_NODE],
                )
                start = runs[bank, index, layout.RUN_START]
                run = Run(state, node, start, 1 + 2 * index + bank, 1 - bank)
            if longest and 0 <= progress.best_start < run.start:
                break
            if run.state < 0:
                answer = np.int64(wait_with_failure(run.state, run.node, run.start, runs, progress))
            else:
                answer = np.int64(expand_run(run, row, rules, rows, work, conditions, skipping))
            if answer != GOES_ON:
                break
        if skipping is not None:
            counters = skipping.counters
            counters[layout.READS] += count + begins
            counters[layout.RUNS_CREATED] += progress.runs
            counters[layout.MOST_LIVE] = max(counters[layout.MOST_LIVE], progress.runs)
        if answer > GOES_ON:
            break
        progress.bank = 1 - bank
        count = progress.runs
        row += 1
    # Go back to the first starting row that has a live run. What is remembered from there on may
    # not have failed.
    if count > 0:
        row = runs[progress.bank, 0, layout.RUN_START]
    elif progress.best_start >= 0:
        row = progress.best_start
    progress.start = row
    forget(row, progress)
    return int(answer)


class MergingSearch(BufferSearch[MergingWork]):
    """All runs at once, for the preferred match of each starting row, or for its longest one."""

    progress: MergingProgress
    progress_kind = MergingProgress

    def __init__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None = None
    ) -> None:
        self.kernel = Kernel(search_data, search_start_on_data, begin_partition)
        if arrays.selects:
            self.kernel = Kernel(search_with_gaps, search_start, begin_partition)
        elif arrays.compiled.linked is not None:
            self.kernel = Kernel(search_runs, search_start_on_runs, begin_partition)
        super().__init__(task, arrays, room, counters)

    @property
    def shapes(self) -> Shapes:
        """Return the arrays of `BufferSearch`, with a memo and smaller nodes.

        A node has no row if no rows are skipped, because then its row follows from its place in the
        match. Without registers, the table is indexed by the state.
        """
        nodes = self.sizes[layout.NODES_FULL]
        states = len(self.rules.first) - 1
        shapes = super().shapes | self.shape_memo()
        if "registers" not in shapes:
            shapes["table"] = ((states, layout.TABLE_STATE), np.int64)
        columns = layout.NODE_ROW + self.arrays.selects
        return shapes | {"nodes": ((nodes, columns), np.int32)}

    @property
    def pruned(self) -> None:
        """Return None: a node leads to one match only, and its run ends with the window."""
        return

    def make_work(self) -> MergingWork:
        """Return what the kernel works in."""
        return MergingWork(
            progress=self.progress,
            output=self.output,
            memo=self.memory["memo"],
            runs=self.memory["runs"],
            nodes=self.memory["nodes"],
            table=self.memory["table"],
        )

    def arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel that searches."""
        if self.selecting is not None:
            skipping = Skipping(self.selecting.waits, self.counted)
            return self.rules, self.arrays.rows, self.work, self.conditions, skipping
        if self.arrays.compiled.linked is not None:
            return self.rules, self.arrays.rows, self.work, self.conditions
        return self.rules, self.arrays.rows, self.work

    def grow(self, status: int) -> None:
        """Grow as any buffer does; more runs also get room for the nodes that they create."""
        if status == layout.RUNS_FULL:
            least = 8 * self.sizes[layout.RUNS_FULL]
            self.sizes[layout.NODES_FULL] = max(self.sizes[layout.NODES_FULL], least)
        super().grow(status)
        if status == layout.MEMO_FULL:  # a row is elsewhere in a larger ring
            self.progress.memo_to = self.progress.start
