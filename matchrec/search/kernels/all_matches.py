"""The kernel of `search.all_matches`: all runs at once, row by row, for all matches.

It is used for streams, too. `totals` goes over the runs by the same functions.

1. Each row goes to every live run and to a new one. For each choice whose conditions the row
   satisfies, a run goes on with the row. If the row may be skipped, the run also waits.
2. A run that accepts leads from its last node to its matches: to one, or, if runs have merged, to
   one for each of these. They are unwound to `path`, tested and written out: see
   `finished_matches`. For totals, what the run carries is added to its group instead.
3. Runs with equal computation states merge: see `buffer`.

    SEQ(A a, B b) with skip till any match, rows A B B

    row 0 A     run 1 (A) begins
    row 1 B     run 1 goes on with B: match A0 B1; it also skips the row and waits
    row 2 B     run 1 goes on with B: match A0 B2; and so on

Runs are in the order of depth-first search: earlier starts first, a row taken before the same row
skipped. Equal runs stay equal, so runs are compared and merged only every few rows, and when they
have become many.

A row is either completed, or the runs before it are left as they are, and the row is searched again
with more room.

If a skip strategy leaves out matches, the runs of one starting row are followed alone: see
`match_order`. Then rows are read again for each starting row, but not for those that are left out.

Cost: rows x runs, plus the rows of the matches. Runs multiply with the ways through the pattern,
and with skip till any match also with the choice to map a row or to skip it. Equal ones merge.

Source: SASE+, "Basic algorithm", "The shared versioned match buffer" (retrieval) and "Merging
equivalent runs".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from matchrec.automaton.program import GUARD_END
from matchrec.automaton.run_endings import A_MATCH
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.cached_function import CachedFunction
from matchrec.jit.decorators import spliced, stoppable_kernel
from matchrec.search.graph import number_versions
from matchrec.search.kernel_input import SearchInput
from matchrec.search.kernel_search import BufferSearch, Shapes, make_last_live
from matchrec.search.kernels import layout
from matchrec.search.kernels.buffer import add_node, is_expired, put_run
from matchrec.search.kernels.carried_totals import add_totals, carry_totals, join_totals
from matchrec.search.kernels.finished_matches import (
    SelectionProgress,
    keep_better,
    satisfies_closing,
    satisfies_negations,
    write_match,
    write_path_row,
)
from matchrec.search.kernels.layout import (
    BufferState,
    NegationArrays,
    OutputArrays,
    RowArrays,
    Rules,
    RunConditions,
    SelectionRules,
    TotalArrays,
)
from matchrec.search.kernels.mapping import (
    copy_registers,
    find_slot,
    make_failure_status,
    may_map,
    note_failure,
)
from matchrec.search.kernels.match_order import find_first_next_start
from matchrec.search.kernels.memo import NOT_FOUND, find_live_registers, find_or_add_state
from matchrec.search.kernels.search_loop import find_start, go_to_next_partition
from matchrec.search.live_runs import LiveRuns
from matchrec.search.matches import Matches, Pointers, make_one_row_matches
from matchrec.search.partitions import IntArray
from matchrec.search.task import Capacity, Task

ROWS_APART = 8  # every how many rows equal runs merge, a power of two


class AllMatchesProgress(SelectionProgress, BufferState):
    """The progress of a search for all matches, of all runs at once.

    There is a best match if matches may not overlap: the best one that is complete at the row.
    """

    # How many runs there were after equal runs merged last.
    merged_run_count: int
    # Whether runs are kept at the end of the rows, because more will arrive: see `incremental`.
    keeps_runs: int
    # While the runs of one starting row are followed alone: after how many reads of rows that ends.
    # 0 if all runs are followed at once.
    solo_read_limit: int
    # The starting row whose runs are followed alone.
    solo_start: int


class AllMatchesWork(NamedTuple):
    """The arrays and records in which the search works."""

    progress: AllMatchesProgress
    output: OutputArrays
    # int64[2, r, 3], the runs: see `layout`.
    runs: IntArray
    # int64[n, 5], the shared buffer: see `layout`. For totals, nodes have more columns: see
    # `carried_totals`.
    nodes: IntArray
    # int64[t, 4 + r], a hash table of computation states: see `memo`.
    table: IntArray
    # int64[5, d], the match that is written out, and the best one: see `layout`.
    path: IntArray
    # int64[q, 2], the sides of joins that are still to be unwound: the node, and how many rows come
    # after it.
    pending_sides: IntArray
    # int64[COUNTERS], what was counted: see `layout`. Work that is repeated with more room counts
    # once.
    counters: IntArray
    # int64[n or 0], for each row the last row at which a run is live that began there, if needed.
    last_live: IntArray


@stoppable_kernel
def search(
    rules: Rules,
    selecting: SelectionRules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> int:
    """Search from `progress` on; return a status. `search_loop` explains this loop."""
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and find_start(rows.may_begin, progress):
            status = np.int64(search_start(rules, selecting, rows, work, conditions, negation))
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@spliced
def begin_partition(work: AllMatchesWork) -> None:
    """Drop the runs of the partition before, unless more of its rows will arrive.

    The first partition has no partition before it: its runs are those with which a search goes on.
    """
    progress = work.progress
    if progress.partition > 0 and progress.keeps_runs == 0:
        progress.run_count = 0


@spliced
def search_start(
    rules: Rules,
    selecting: SelectionRules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> int:
    """Give the row progress.start, or the end of the partition, to all runs and to new ones.

    Returns:
        DONE, or another status; then nothing has been changed.
    """
    progress = work.progress
    counters = work.counters
    nodes = work.nodes
    row = progress.start
    number = progress.match_number
    if number >= progress.match_limit:
        return layout.MORE_ROWS
    if progress.run_count == 0 and rules.output != layout.GRAPH:
        progress.solo_start = row
        counters[layout.NODES_PRUNED] += progress.node_count
        progress.node_count = 0
    elif 2 * progress.node_count > nodes.shape[0]:
        return layout.NODES_FULL
    node_count = progress.node_count
    matches = progress.match_count
    mapped = progress.mapped_count
    progress.stamp += 1
    progress.completed = row
    status = step_runs(row, rules, selecting, rows, work, conditions, negation, None)
    progress.best_start = -1
    if status != layout.DONE:
        progress.node_count = node_count
        progress.match_number = number
        progress.match_count = matches
        progress.mapped_count = mapped
        return status
    progress.bank = 1 - progress.bank
    progress.run_count = progress.next_run_count
    progress.start = row + 1
    if progress.solo_read_limit != 0:
        set_next_solo_row(progress.until, matches, rules, work)
    return layout.DONE


@spliced
def set_next_solo_row(end: int, matches: int, rules: Rules, work: AllMatchesWork) -> None:
    """Set the next row while the runs of one starting row are followed alone.

    It is the next start of the first match that has one after its starting row, because no run of
    that starting row is needed then. Without such a match, it is the row after the starting row, as
    soon as no run is live. If runs have read rows too often, all are followed at once from there
    on, because runs of several starting rows may merge.

    `end` is the row after the last one, and `matches` is how many matches there were before the
    last row.
    """
    progress = work.progress
    start = work.progress.solo_start
    next_row = find_first_next_start(matches, rules.skip, rules.program, progress, work.output)
    if next_row <= start:
        if progress.run_count > 0 and progress.start < end:
            return
        next_row = start + 1
        if work.counters[layout.READS] > progress.solo_read_limit:
            progress.solo_read_limit = 0
    progress.run_count = 0
    progress.start = next_row


class LiveRun(NamedTuple):
    """A run before a row, live or new."""

    state: int
    node: int  # the node of the row that it has mapped last; -1 for a new run
    start: int  # the latest first row of the runs that it stands for
    slot: int  # the slot of its registers


@spliced
def get_run(index: int, row: int, work: AllMatchesWork) -> LiveRun:
    """Return a live run by its index; after the live runs, a new run for each first state."""
    count = work.progress.run_count
    run = LiveRun(np.int64(index - count), np.int64(-1), np.int64(row), np.int64(0))
    if index < count:
        bank = work.progress.bank
        live = work.runs[bank, index]
        state = live[layout.RUN_STATE]
        node = live[layout.RUN_NODE]
        start = live[layout.RUN_START]
        run = LiveRun(state, node, start, find_slot(index, bank))
    return run


@spliced
def step_runs(
    row: int,
    rules: Rules,
    selecting: SelectionRules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
    totals: TotalArrays | None,
) -> int:
    """Give a row to all runs, and begin new runs with it; return DONE or a status.

    `row` may be the row after the last one: then only runs that are output at the end get it.
    """
    progress = work.progress
    last_live = work.last_live
    window_end = rows.window_end
    ending_kinds = selecting.ending_kinds
    count = progress.run_count
    nodes_before = progress.node_count
    next_count = offered_count = read_count = fork_count = begun_count = np.int64(0)
    merges = is_merging_row(row, count, rules, progress, totals)
    begins = row < progress.partition_end and (count == 0 or progress.solo_read_limit == 0)
    for index in range(count + selecting.start_count if begins else count):
        run = get_run(index, row, work)
        is_live = index < count
        if is_live and last_live.shape[0] > 0:
            last_live[run.start] = row
        has_ended = window_end[run.start] <= row
        if has_ended and (not is_live or ending_kinds[run.state] == 0):
            continue
        read_count += not has_ended
        status, next_count, offered, ways = step_run(
            run,
            row,
            has_ended,
            next_count,
            merges,
            rules,
            selecting,
            rows,
            work,
            conditions,
            negation,
            totals,
        )
        if status != layout.DONE:
            return int(status)
        offered_count += offered
        fork_count += ways - int(ways > 0)
        begun_count += int(ways > 0 and index == count)
    return finish_step(
        next_count, offered_count, read_count, fork_count, begun_count, nodes_before, merges, work
    )


@spliced
def step_run(
    run: LiveRun,
    row: int,
    has_ended: bool,
    next_count: int,
    merges: bool,
    rules: Rules,
    selecting: SelectionRules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
    totals: TotalArrays | None,
) -> tuple[int, int, int, int]:
    """Give a row to one run: write out its matches, and add the runs that follow from it.

    Args:
        run: the run.
        row: the row.
        has_ended: whether the window of the run has ended before the row.
        next_count: how many runs there are after the row so far.
        merges: whether equal runs merge at the row.
        rules: the query.
        selecting: the query, for event selection.
        rows: the partitions.
        work: what the search works in.
        conditions: the conditions on the run.
        negation: what a match as a whole is tested by.
        totals: the aggregates over all matches.

    Returns:
        DONE or a status; how many runs there are after the row then; how many there would be more
        if none had merged; and in how many ways the run goes on.
    """
    progress = work.progress
    program = rules.program
    may_continue = selecting.may_continue
    kind = selecting.ending_kinds[run.state]
    status = np.int64(layout.DONE)
    offered = way_count = blocked = stopped = np.int64(0)
    end_of_choices = rules.first_choice[run.state + 1]
    choice = (end_of_choices if has_ended else rules.first_choice[run.state]) - 1
    # The index after the choices stands for what the run does without mapping the row: it waits, or
    # it is output because its window has ended.
    while choice < end_of_choices:
        choice += 1
        if next_count == work.runs.shape[1]:
            status = np.int64(layout.RUNS_FULL)
            break
        new_slot = find_slot(next_count, 1 - progress.bank)
        new_node = run.node
        target = -1
        is_match = has_ended
        progress.match_kind = kind if has_ended else A_MATCH
        if choice == end_of_choices and not has_ended and blocked == 0 and run.node >= 0:
            target = selecting.waiting_states[run.state]
            copy_registers(run.slot, new_slot, conditions.registers)
        elif choice < end_of_choices:
            target = program[choice, layout.TARGET]
            if target == layout.ACCEPT or (stopped and target >= 0 and may_continue[target]):
                continue
            answer = may_map(
                choice, run.slot, new_slot, row, program, rows.satisfied, progress, conditions
            )
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                status = np.int64(note_failure(answer, choice, row, progress))
                break
            if target == layout.IGNORE_LATER_CHOICES:
                choice = end_of_choices - 1
                continue
            if target >= 0:
                blocked |= program[choice, layout.BLOCKS]
                new_node = add_row(choice, row, run.node, run.start, work, totals)
                if new_node < 0:
                    status = np.int64(layout.NODES_FULL)
                    break
                is_match = is_accepting(target, row, selecting, progress)
            else:
                blocked = np.int64(1)
                stopped |= target == layout.END_UNLESS_COMPLETED
                is_match = is_completed(target, kind, progress)
        way_count += target >= 0
        if is_match:
            # For the error, if a test of the match as a whole fails.
            progress.row = row
            progress.choice = choice
            last_slot = run.slot if has_ended else new_slot
            last_row = row - has_ended
            status = np.int64(
                accept(
                    new_node, last_slot, last_row, rules, rows, work, conditions, negation, totals
                )
            )
            if status != layout.DONE:
                break
        if target == layout.END_RUN or target == layout.TIME_OUT:
            break
        if target >= 0 and (choice == end_of_choices or may_continue[target]):
            offered += 1
            next_count = add_run(
                target, new_node, run.start, merges, next_count, work, conditions, totals
            )
            if next_count < 0:
                status = np.int64(layout.NODES_FULL)
                break
    return status, next_count, offered, way_count


@spliced
def is_accepting(
    state: int, row: int, selecting: SelectionRules, progress: AllMatchesProgress
) -> bool:
    """Return whether a run that has mapped a row and entered a state is a match."""
    guard = selecting.accepts[state]
    return bool(guard == 0 or (guard == GUARD_END and row + 1 == progress.partition_end))


@spliced
def is_completed(effect: int, kind: int, progress: AllMatchesProgress) -> bool:
    """Return whether a row with an effect completes a run, as a match or because it times out.

    `kind` is what the run is output as if it times out.
    """
    if effect == layout.TIME_OUT:
        progress.match_kind = kind
        return bool(kind != 0)
    return effect == layout.COMPLETE_RUN


@spliced
def finish_step(
    alive: int,
    offered: int,
    reads: int,
    forks: int,
    begun: int,
    nodes_before: int,
    merges: bool,
    work: AllMatchesWork,
) -> int:
    """Write out the best match of a row, if any, and count what was done; return a status.

    Args:
        alive: how many runs go on.
        offered: how many runs would go on if none had merged.
        reads: how many runs have read the row.
        forks: how many runs were added because a run went on in several ways.
        begun: how many runs began with the row.
        nodes_before: how many nodes there were before the row.
        merges: whether equal runs have merged.
        work: what the search works in.
    """
    progress = work.progress
    counters = work.counters
    if merges:
        progress.merged_run_count = alive
    new_nodes = progress.node_count - nodes_before
    merged = offered - alive
    if progress.best_start >= 0:
        if write_path_row(layout.PATH_BEST_ROWS, progress.best_length, work) != layout.DONE:
            return layout.OUTPUT_FULL
        alive = np.int64(0)  # the search goes on after the match
    progress.next_run_count = alive
    counters[layout.READS] += reads
    if new_nodes + merged > 0:  # seldom, so most rows do not pay for the counters
        counters[layout.MERGES] += merged
        counters[layout.FORKS] += forks
        counters[layout.RUNS_CREATED] += forks + begun
        counters[layout.NODES_CREATED] += new_nodes
        counters[layout.MOST_LIVE] = max(counters[layout.MOST_LIVE], alive)
    return layout.DONE


@spliced
def is_merging_row(
    row: int, count: int, rules: Rules, progress: AllMatchesProgress, totals: TotalArrays | None
) -> bool:
    """Return whether equal runs are compared and merged at a row.

    Runs that carry totals merge at each row.
    """
    if totals is not None:
        return True
    is_time = row & (ROWS_APART - 1) == 0 or count >= 2 * progress.merged_run_count
    return bool(rules.merge_runs and is_time)


@spliced
def add_row(
    choice: int, row: int, node: int, start: int, work: AllMatchesWork, totals: TotalArrays | None
) -> int:
    """Add a node for a row that is mapped after `node`; return its number, or -1 without room."""
    nodes = work.nodes
    new_node = add_node(choice, row, node, -1, start, nodes, work.progress)
    if totals is not None:
        if new_node >= 0:
            carry_totals(nodes[new_node], nodes[node], node < 0, row, totals)
    return int(new_node)


@spliced
def accept(
    node: int,
    slot: int,
    row: int,
    rules: Rules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
    totals: TotalArrays | None,
) -> int:
    """Write out the matches of a run that accepts, or add up its totals; return DONE or a status.

    `row` is the last row of the run, `node` is the node of that row, and `slot` has the registers
    of the run.
    """
    if negation is not None:
        answer = satisfies_closing(row, slot, negation, rows.satisfied, conditions)
        if answer == HOLDS_NOT:
            return layout.DONE
        if answer != HOLDS:
            return make_failure_status(answer)
    if totals is not None:
        last_node = work.nodes[node]
        path = work.path
        lower = work.progress.partition_begin
        start = last_node[layout.NODE_START]
        # Negations read only the first and the last row of these matches.
        path[layout.PATH_ROWS, 0] = start
        path[layout.PATH_ROWS, 1] = row
        if negation is not None:
            answer = satisfies_negations(
                0, 2, slot, negation, rules.program, rows.window_end, path, lower, conditions
            )
            if answer != HOLDS:
                return layout.DONE if answer == HOLDS_NOT else make_failure_status(answer)
        group = row if totals.grouping == layout.BY_END else work.progress.partition
        if totals.grouping == layout.BY_START:
            group = start
        add_totals(totals.groups[group], last_node[layout.NODE_SIZE :], totals)
        return layout.DONE
    return unwind_matches(node, row, slot, rules, rows, work, conditions, negation)


@spliced
def add_run(
    state: int,
    node: int,
    start: int,
    merge: bool,
    run: int,
    work: AllMatchesWork,
    conditions: RunConditions,
    totals: TotalArrays | None,
) -> int:
    """Add a run to `run` others, or merge it with one of them. Its registers are in their slot.

    Returns:
        How many runs there are then, or -1 if there is no room for nodes.
    """
    runs = work.runs
    nodes = work.nodes
    progress = work.progress
    bank = 1 - progress.bank
    put_run(runs[bank, run], state, node, start)
    twin = np.int64(NOT_FOUND)
    if merge:
        # Runs whose windows end at different rows may merge: see `memo`.
        key = np.int64(0)
        if totals is not None:
            key = totals.merge_keys[start]
        run_registers = conditions.registers[find_slot(run, bank)]
        live_registers = find_live_registers(state, conditions)
        twin = np.int64(
            find_or_add_state(
                state, key, run_registers, live_registers, run, progress.stamp, work.table
            )
        )
    if twin == NOT_FOUND:
        return run + 1
    other = runs[bank, twin]
    if start < other[layout.RUN_START]:
        start = other[layout.RUN_START]
    join = add_node(layout.JOIN, 0, other[layout.RUN_NODE], node, start, nodes, progress)
    if join < 0:
        return -1
    if totals is not None:
        join_totals(nodes[join], nodes[other[layout.RUN_NODE]], nodes[node], totals)
    other[layout.RUN_NODE] = join
    other[layout.RUN_START] = start
    return run


@spliced
def unwind_matches(
    node: int,
    row: int,
    slot: int,
    rules: Rules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> int:
    """Write out each match that ends at `node`, or compare it with the best one; DONE or a status.

    `row` is the last row of the matches, and `slot` has their registers. A match is written to
    `path` from its end, so that the rows after a join serve both of its sides. A match whose window
    has ended is left out.
    """
    nodes = work.nodes
    path = work.path
    pending_sides = work.pending_sides
    window_end = rows.window_end
    progress = work.progress
    output_kind = rules.output
    output = work.output
    size = path.shape[1]
    pending_sides[0, 0] = node
    pending_sides[0, 1] = 0
    top = np.int64(1)
    while top > 0:
        top -= 1
        current = pending_sides[top, 0]
        length = pending_sides[top, 1]
        expired = is_expired(nodes, current, row, window_end)
        while current >= 0 and not expired:
            choice = nodes[current, layout.NODE_CHOICE]
            if choice != layout.JOIN:
                if length == size:
                    return layout.PATH_FULL
                length += 1
                path[layout.PATH_ROWS, size - length] = nodes[current, layout.NODE_ROW]
                path[layout.PATH_CHOICES, size - length] = choice
                current = nodes[current, layout.NODE_BEFORE]
                continue
            if top == pending_sides.shape[0]:
                return layout.PATH_FULL
            pending_sides[top, 0] = nodes[current, layout.NODE_OTHER]
            pending_sides[top, 1] = length
            top += 1
            current = nodes[current, layout.NODE_BEFORE]
            expired = is_expired(nodes, current, row, window_end)
        if expired:
            continue
        if negation is not None:
            first = size - length
            lower = progress.partition_begin
            answer = satisfies_negations(
                first, length, slot, negation, rules.program, window_end, path, lower, conditions
            )
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                return make_failure_status(answer)
        if output_kind == layout.GRAPH:
            nodes[node, layout.NODE_OTHER] = layout.COMPLETES
            continue
        if output_kind == layout.NON_OVERLAPPING:
            keep_better(size - length, length, path, progress)
            continue
        status = write_match(layout.PATH_ROWS, size - length, length, path, progress, output)
        if status != layout.DONE:
            return status
    return layout.DONE


class RunsSearch(BufferSearch[AllMatchesWork]):
    """A search of all runs at once, for all matches.

    Besides the runs and the buffer, it works in the path of the match that is written out.
    """

    kernel: CachedFunction[..., int] = search
    progress: AllMatchesProgress
    progress_class = AllMatchesProgress

    def __init__(
        self, task: Task, arrays: SearchInput, capacity: Capacity, counters: IntArray | None = None
    ) -> None:
        self.last_live = make_last_live(task, arrays)
        super().__init__(task, arrays, capacity, counters)
        # If runs are output that are live at the end of the partition, that end is one more step
        # after the last row.
        until = arrays.rows.starts[1:] + arrays.compiled.outputs_ended_runs
        arrays.rows.frontier.until[:] = until

    @property
    def shapes(self) -> Shapes:
        """Return the arrays of `BufferSearch`, the path, and the joins still to be unwound."""
        length = self.sizes[layout.PATH_FULL]
        arrays: Shapes = {
            "path": ((layout.PATH_SIZE, length), np.int64),
            "pending_sides": ((length, 2), np.int64),
        }
        return super().shapes | arrays

    def make_work(self) -> AllMatchesWork:
        """Return what the kernel works in."""
        return AllMatchesWork(
            progress=self.progress,
            output=self.output,
            runs=self.working_arrays["runs"],
            nodes=self.working_arrays["nodes"],
            table=self.working_arrays["table"],
            path=self.working_arrays["path"],
            pending_sides=self.working_arrays["pending_sides"],
            counters=self.search_counters,
            last_live=self.last_live,
        )

    def build_arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        rules = self.rules
        selecting = self.selecting
        rows = self.arrays.rows
        return rules, selecting, rows, self.work, self.conditions, self.arrays.negation

    def copy_live_runs(self) -> LiveRuns:
        """Return a copy of the live runs, and of the nodes in the buffer."""
        bank = int(self.progress.bank)
        count = int(self.progress.run_count)
        return LiveRuns(
            runs=self.working_arrays["runs"][bank, :count].copy(),
            registers=self.working_arrays["registers"][1 + bank :: 2][:count].copy(),
            nodes=self.working_arrays["nodes"][: self.progress.node_count].copy(),
        )

    def restore(self, live: LiveRuns) -> None:
        """Go on with these runs and their nodes."""
        needed = {layout.RUNS_FULL: 2 * len(live.runs), layout.NODES_FULL: 4 * len(live.nodes)}
        for status, least in needed.items():
            while self.sizes[status] < least:
                self.sizes[status] *= 2
        self.allocate_arrays()
        bank = self.progress.bank
        count = len(live.runs)
        self.working_arrays["runs"][bank, :count] = live.runs
        self.working_arrays["registers"][1 + bank :: 2][:count] = live.registers
        self.working_arrays["nodes"][: len(live.nodes)] = live.nodes
        self.progress.run_count = count
        self.progress.node_count = len(live.nodes)

    def run_to_end(self) -> None:
        """Run the search for what it leaves in its arrays: the nodes, or the totals of groups.

        `find_matches` is a generator, which searches only as it is read. Here it yields nothing
        that is needed, because no match is written out.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        for _ in super().find_matches():
            pass

    def find_graph(self) -> Iterator[Matches]:
        """Yield the pointers of all matches, each as a match of one row: see `graph`.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        self.run_to_end()
        self.prune()
        nodes = self.working_arrays["nodes"][: self.progress.node_count]
        row = nodes[:, layout.NODE_ROW].copy()
        choice = nodes[:, layout.NODE_CHOICE].copy()
        before = nodes[:, layout.NODE_BEFORE].copy()
        completes = nodes[:, layout.NODE_OTHER] == layout.COMPLETES
        partition = np.searchsorted(self.arrays.rows.starts, row, side="right") - 1
        program = self.rules.program
        variable = program[choice, layout.VARIABLE].astype(np.int16)
        looping_variables = program[program[:, layout.REPEATS_LOOP] != 0, layout.VARIABLE]
        is_loop = np.isin(np.arange(len(self.task.variables)), looping_variables)
        # In this graph, each variable is a state.
        state = variable.astype(np.int64)
        versions = number_versions(partition, row, state, before, is_loop)
        pointers = Pointers(before, completes, *versions)
        yield replace(make_one_row_matches(partition, row, variable), pointers=pointers)
