"""The kernel of `search.all_matches`: all runs at once, row by row, for all matches.

It is used for streams, too. `totals` goes over the runs by the same functions.

1. Each row goes to every live run and to a new one. For each choice whose conditions the row
   satisfies, a run goes on with the row. If the row may be skipped, the run also waits.
2. A run that accepts leads from its last node to its matches: to one, or, if runs have merged, to
   one for each of these. They are unwound to `path`, tested and written out: see `matches`. For
   totals, what the run carries is added to its group instead.
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

If a skip strategy leaves out matches, the runs of one starting row are followed alone: see `order`.
Then rows are read again for each starting row, but not for those that are left out.

Cost: rows x runs, plus the rows of the matches. The number of runs is polynomial; with skip till
any match it is exponential unless runs merge.

Source: SASE+, "Basic algorithm", "The shared versioned match buffer" (retrieval) and "Merging
equivalent runs".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from matchrec.automaton.program import A_MATCH, GUARD_END
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import kernel, spliced
from matchrec.search.graph import number_versions
from matchrec.search.interface import Room, Task
from matchrec.search.kernels import layout
from matchrec.search.kernels.buffer import add_node, is_expired, put_run
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
    NONE,
    copy_registers,
    find_equal,
    live_in,
    may_map,
    note_failure,
)
from matchrec.search.kernels.matches import (
    SelectionProgress,
    keep_better,
    lacks_absent,
    satisfies_closing,
    write_match,
    write_path,
)
from matchrec.search.kernels.order import first_next_start
from matchrec.search.kernels.starts import find_start, go_to_next_partition
from matchrec.search.kernels.ways import carry_totals, join_totals, merge_ways
from matchrec.search.live_runs import LiveRuns
from matchrec.search.matches import Matches, Pointers, make_one_row_matches
from matchrec.search.partitions import IntArray
from matchrec.search.records import SearchInput
from matchrec.search.search import BufferSearch, Kernel, Shapes, find_last_live

ROWS_APART = 8  # every how many rows equal runs merge, a power of two


class AllMatchesProgress(SelectionProgress, BufferState):
    """How far the search has come, and how it goes on.

    There is a best match if matches may not overlap: the best one that is complete at the row.
    """

    # How many runs went on from the last row at which equal runs merged.
    merged: int
    # Whether runs are kept at the end of the rows, because more will arrive: see `incremental`.
    goes_on: int
    # How many reads of rows there may be while runs of one starting row are followed alone, 0 if
    # they are not; and that row.
    alone: int
    alone_from: int


class AllMatchesWork(NamedTuple):
    """What the search works in."""

    progress: AllMatchesProgress
    output: OutputArrays
    # int64[2, r, 3], the runs: see `layout`.
    runs: IntArray
    # int64[n, 5], the shared buffer: see `layout`. For totals, nodes have more columns: see `ways`.
    nodes: IntArray
    # int64[t, 4 + r], a hash table of computation states: see `mapping`.
    table: IntArray
    # int64[5, d], the match that is written out, and the best one: see `layout`.
    path: IntArray
    # int64[q, 2], joins whose other side is still to be unwound, and how many rows come after them.
    ways: IntArray
    # int64[COUNTERS], what has been done and need not be done again.
    counters: IntArray
    # int64[n or 0], for each row the last row at which a run is live that began there, if needed.
    last_live: IntArray


@kernel
def search(
    rules: Rules,
    selecting: SelectionRules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> int:
    """Search from `progress` on; return a status. `starts` explains this loop."""
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and find_start(rows.begins, progress):
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
    if progress.partition > 0 and progress.goes_on == 0:
        progress.count = 0


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
    progress, counters, nodes = work.progress, work.counters, work.nodes
    row, number = progress.start, progress.number
    if number >= progress.match_limit:
        return layout.MORE_ROWS
    if progress.count == 0 and rules.output != layout.GRAPH:
        progress.alone_from = row
        counters[layout.NODES_PRUNED] += progress.nodes
        progress.nodes = 0
    elif 2 * progress.nodes > nodes.shape[0]:
        return layout.NODES_FULL
    node_count, matches, mapped = progress.nodes, progress.matches, progress.mapped
    progress.stamp += 1
    progress.completed = row
    status = step_runs(row, rules, selecting, rows, work, conditions, negation, None)
    progress.best_start = -1
    if status != layout.DONE:
        progress.nodes, progress.number = node_count, number
        progress.matches, progress.mapped = matches, mapped
        return status
    progress.bank = 1 - progress.bank
    progress.count = progress.runs
    progress.start = row + 1
    if progress.alone != 0:
        next_row_alone(progress.until, matches, rules, work)
    return layout.DONE


@spliced
def next_row_alone(end: int, matches: int, rules: Rules, work: AllMatchesWork) -> None:
    """Set the row that comes next while the runs of one starting row are followed alone.

    It is the next start of the first match that has one after its starting row, because no run of
    that starting row is needed then. Without such a match, it is the row after the starting row, as
    soon as no run is live. If runs have read rows too often, all are followed at once from there
    on, because runs of several starting rows may merge.

    `end` is the row after the last one, and `matches` is how many matches there were before the
    last row.
    """
    progress, start = work.progress, work.progress.alone_from
    next_row = first_next_start(matches, rules.skip, rules.program, progress, work.output)
    if next_row <= start:
        if progress.count > 0 and progress.start < end:
            return
        next_row = start + 1
        if work.counters[layout.READS] > progress.alone:
            progress.alone = 0
    progress.count = 0
    progress.start = next_row


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
    """Give a row to all runs, old and new; return DONE or a status."""
    progress, runs, last_live = work.progress, work.runs, work.last_live
    program, states = rules.program, rules.first
    satisfied, window_end = rows.satisfied, rows.window_end
    goes_on, waits, ends = selecting.goes_on, selecting.waits, selecting.ends
    bank, count, noted, upper = progress.bank, progress.count, progress.nodes, progress.upper
    alive = offered = reads = forks = begun = np.int64(0)
    merges = merges_at(row, count, rules, progress, totals)
    begins = row < upper and (count == 0 or progress.alone == 0)
    for run in range(count + selecting.starts if begins else count):
        state, node, start, slot = run - count, -1, row, np.int64(0)
        if run < count:
            live, slot = runs[bank, run], 1 + 2 * run + bank
            state, node = live[layout.RUN_STATE], live[layout.RUN_NODE]
            start = live[layout.RUN_START]
            if last_live.shape[0] > 0:
                last_live[start] = row
        ended, kind = window_end[start] <= row, ends[state]
        if ended and (run >= count or kind == 0):
            continue
        reads += not ended
        way_count = blocked = stopped = np.int64(0)
        end_of_choices = states[state + 1]
        choice = (end_of_choices if ended else states[state]) - 1
        while choice < end_of_choices:  # the index after the choices is for the run without the row
            choice += 1
            if alive == runs.shape[1]:
                return layout.RUNS_FULL
            new_slot = 2 + 2 * alive - bank
            new_node, target, is_match = node, -1, ended
            progress.match_kind = kind if ended else A_MATCH
            if choice == end_of_choices and not ended and blocked == 0 and run < count:
                target = waits[state]
                copy_registers(slot, new_slot, conditions.registers)
            elif choice < end_of_choices:
                target = program[choice, layout.TARGET]
                if target == layout.ACCEPT or (stopped and target >= 0 and goes_on[target]):
                    continue
                answer = may_map(
                    choice, slot, new_slot, row, program, satisfied, progress, conditions
                )
                if answer == HOLDS_NOT:
                    continue
                if answer != HOLDS:
                    return note_failure(answer, choice, row, progress)
                if target == layout.CUTS:
                    choice = end_of_choices - 1
                    continue
                if target >= 0:
                    blocked |= program[choice, layout.BLOCKS]
                    new_node = add_row(choice, row, node, start, work, totals)
                    if new_node < 0:
                        return layout.NODES_FULL
                    guard = selecting.accepts[target]
                    is_match = guard == 0 or (guard == GUARD_END and row + 1 == upper)
                else:
                    blocked = np.int64(1)
                    stopped |= target == layout.STOPS
                    is_match = target == layout.COMPLETES_HERE
                    if target == layout.TIMES_OUT:
                        progress.match_kind, is_match = kind, kind != 0
            way_count += target >= 0
            if is_match:
                progress.row, progress.choice = row, choice  # if it fails
                at_slot = slot if ended else new_slot
                status = accept(
                    new_node, at_slot, row - ended, rules, rows, work, conditions, negation, totals
                )
                if status != layout.DONE:
                    return status
            if target == layout.ENDS or target == layout.TIMES_OUT:
                break
            if target >= 0 and (choice == end_of_choices or goes_on[target]):
                offered += 1
                alive = add_run(target, new_node, start, merges, alive, work, conditions, totals)
                if alive < 0:
                    return layout.NODES_FULL
        forks += way_count - int(way_count > 0)
        begun += int(way_count > 0 and run == count)
    return finish_step(alive, offered, reads, forks, begun, noted, merges, work)


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

    `alive` runs go on; `offered` would go on if none had merged. `begun` runs began with the row,
    `forks` is how many more runs there are than before, and `nodes_before` how many nodes there
    were. `merges` says whether equal runs have merged.
    """
    progress, counters = work.progress, work.counters
    if merges:
        progress.merged = alive
    new_nodes, merged = progress.nodes - nodes_before, offered - alive
    if progress.best_start >= 0:
        if write_path(layout.PATH_BEST_ROWS, progress.best_length, work) != layout.DONE:
            return layout.OUTPUT_FULL
        alive = np.int64(0)  # the search goes on after the match
    progress.runs = alive
    counters[layout.READS] += reads
    if new_nodes + merged > 0:  # which is seldom so
        counters[layout.MERGES] += merged
        counters[layout.FORKS] += forks
        counters[layout.RUNS_CREATED] += forks + begun
        counters[layout.NODES_CREATED] += new_nodes
        counters[layout.MOST_LIVE] = max(counters[layout.MOST_LIVE], alive)
    return layout.DONE


@spliced
def merges_at(
    row: int, count: int, rules: Rules, progress: AllMatchesProgress, totals: TotalArrays | None
) -> bool:
    """Return whether equal runs merge at a row. Those that carry totals do at each row."""
    if totals is not None:
        return True
    is_time = row & (ROWS_APART - 1) == 0 or count >= 2 * progress.merged
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
    """Take the matches of a run that accepts and whose last row is `row`; return DONE or a status.

    `node` is the node of that row, and `slot` has the registers of the run.
    """
    if negation is not None:
        answer = satisfies_closing(row, slot, negation, rows.satisfied, conditions)
        if answer == HOLDS_NOT:
            return layout.DONE
        if answer != HOLDS:
            return layout.CONDITION_FAILED + answer
    if totals is not None:
        last_node, path, lower = work.nodes[node], work.path, work.progress.lower
        start = last_node[layout.NODE_START]
        path[layout.PATH_ROWS, 0], path[layout.PATH_ROWS, 1] = start, row  # only these two matter
        if negation is not None:
            answer = lacks_absent(
                0, 2, slot, negation, rules.program, rows.window_end, path, lower, conditions
            )
            if answer != HOLDS:
                return layout.DONE if answer == HOLDS_NOT else layout.CONDITION_FAILED + answer
        group = row if totals.grouped == layout.BY_END else work.progress.partition
        if totals.grouped == layout.BY_START:
            group = start
        merge_ways(totals.groups[group], last_node[layout.NODE_SIZE :], totals)
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
    runs, nodes, progress = work.runs, work.nodes, work.progress
    bank = 1 - progress.bank
    put_run(runs[bank, run], state, node, start)
    twin = np.int64(NONE)
    if merge:
        key = np.int64(0)
        if totals is not None:
            key = totals.apart[start]
        run_registers = conditions.registers[1 + 2 * run + bank]
        live_registers = live_in(state, conditions)
        twin = np.int64(
            find_equal(state, key, run_registers, live_registers, run, progress.stamp, work.table)
        )
    if twin == NONE:
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
    `path` from its end, so that what comes after a join serves both of its sides. A match whose
    window has ended is left out.
    """
    nodes, path, ways, window_end = work.nodes, work.path, work.ways, rows.window_end
    progress, output_kind, output = work.progress, rules.output, work.output
    size = path.shape[1]
    ways[0, 0], ways[0, 1] = node, 0
    top = np.int64(1)
    while top > 0:
        top -= 1
        at_node, length = ways[top, 0], ways[top, 1]
        expired = is_expired(nodes, at_node, row, window_end)
        while at_node >= 0 and not expired:
            choice = nodes[at_node, layout.NODE_CHOICE]
            if choice != layout.JOIN:
                if length == size:
                    return layout.PATH_FULL
                length += 1
                path[layout.PATH_ROWS, size - length] = nodes[at_node, layout.NODE_ROW]
                path[layout.PATH_CHOICES, size - length] = choice
                at_node = nodes[at_node, layout.NODE_BEFORE]
                continue
            if top == ways.shape[0]:
                return layout.PATH_FULL
            ways[top, 0], ways[top, 1] = nodes[at_node, layout.NODE_OTHER], length
            top += 1
            at_node = nodes[at_node, layout.NODE_BEFORE]
            expired = is_expired(nodes, at_node, row, window_end)
        if expired:
            continue
        if negation is not None:
            first, lower = size - length, progress.lower
            answer = lacks_absent(
                first, length, slot, negation, rules.program, window_end, path, lower, conditions
            )
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                return layout.CONDITION_FAILED + answer
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
    """All runs at once, for all matches.

    Besides the runs and the buffer, it works in the path of the match that is written out.
    """

    kernel = Kernel(search, search_start, begin_partition)
    progress: AllMatchesProgress
    progress_kind = AllMatchesProgress

    def __init__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None = None
    ) -> None:
        self.last_live = find_last_live(task, arrays)
        super().__init__(task, arrays, room, counters)
        # If runs are output that are live at the end of the partition, that end is one more step
        # after the last row.
        until = arrays.rows.starts[1:] + arrays.compiled.flushes
        arrays.rows.frontier.until[:] = until

    @property
    def shapes(self) -> Shapes:
        """Return the arrays of `BufferSearch`, the path, and the joins still to be unwound."""
        length = self.sizes[layout.PATH_FULL]
        arrays: Shapes = {
            "path": ((layout.PATH_SIZE, length), np.int64),
            "ways": ((length, 2), np.int64),
        }
        return super().shapes | arrays

    def make_work(self) -> AllMatchesWork:
        """Return what the kernel works in."""
        return AllMatchesWork(
            progress=self.progress,
            output=self.output,
            runs=self.memory["runs"],
            nodes=self.memory["nodes"],
            table=self.memory["table"],
            path=self.memory["path"],
            ways=self.memory["ways"],
            counters=self.counted,
            last_live=self.last_live,
        )

    def arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        rules, selecting, rows = self.rules, self.selecting, self.arrays.rows
        return rules, selecting, rows, self.work, self.conditions, self.arrays.negation

    def live_runs(self) -> LiveRuns:
        """Return a copy of the live runs, and of the nodes in the buffer."""
        bank = int(self.progress.bank)
        count = int(self.progress.count)
        return LiveRuns(
            runs=self.memory["runs"][bank, :count].copy(),
            registers=self.memory["registers"][1 + bank :: 2][:count].copy(),
            nodes=self.memory["nodes"][: self.progress.nodes].copy(),
        )

    def restore(self, live: LiveRuns) -> None:
        """Go on with these runs and their nodes."""
        needed = {layout.RUNS_FULL: 2 * len(live.runs), layout.NODES_FULL: 4 * len(live.nodes)}
        for status, least in needed.items():
            while self.sizes[status] < least:
                self.sizes[status] *= 2
        self.make_room()
        bank = self.progress.bank
        count = len(live.runs)
        self.memory["runs"][bank, :count] = live.runs
        self.memory["registers"][1 + bank :: 2][:count] = live.registers
        self.memory["nodes"][: len(live.nodes)] = live.nodes
        self.progress.count = count
        self.progress.nodes = len(live.nodes)

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
        nodes = self.memory["nodes"][: self.progress.nodes]
        row = nodes[:, layout.NODE_ROW].copy()
        choice = nodes[:, layout.NODE_CHOICE].copy()
        before = nodes[:, layout.NODE_BEFORE].copy()
        completes = nodes[:, layout.NODE_OTHER] == layout.COMPLETES
        partition = np.searchsorted(self.arrays.rows.starts, row, side="right") - 1
        program = self.rules.program
        variable = program[choice, layout.VARIABLE].astype(np.int16)
        looping_variables = program[program[:, layout.AGAIN] != 0, layout.VARIABLE]
        is_loop = np.isin(np.arange(len(self.task.variables)), looping_variables)
        # In this graph, each variable is a state.
        state = variable.astype(np.int64)
        versions = number_versions(partition, row, state, before, is_loop)
        pointers = Pointers(before, completes, *versions)
        yield replace(make_one_row_matches(partition, row, variable), pointers=pointers)
