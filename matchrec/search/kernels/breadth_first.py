"""All runs at once, row by row, for all matches.

It is used by the strategies `SelectionByAllRuns` and `TotalsOfAllRuns`, and for streams.

1. Each row goes to every live run and to a new one. For each choice whose conditions the row
   satisfies, a run goes on with the row. If the row may be skipped, the run also waits.
2. A run that accepts is unwound to its matches: see `matches`. For totals over all matches, what it
   carries is added to its group instead: see `totals`.
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

Source: SASE+, "Basic algorithm", "Merging equivalent runs".
"""

from __future__ import annotations

import numpy as np

from matchrec.automaton.program import A_MATCH, GUARD_END
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.buffer import add_node, put_run
from matchrec.search.kernels.layout import Hook, Progress, RowArrays, Rules, Work
from matchrec.search.kernels.mapping import (
    NONE,
    copy_registers,
    find_equal,
    live_in,
    may_map,
    note_failure,
    on_run_of,
)
from matchrec.search.kernels.matches import (
    lacks_absent,
    satisfies_closing,
    unwind_matches,
    write_path,
)
from matchrec.search.kernels.order import next_row_alone
from matchrec.search.kernels.starts import searching
from matchrec.search.kernels.totals import carry_totals, join_totals, merge_ways

ROWS_APART = 8  # every how many rows equal runs merge, a power of two


@spliced
def search_start(rules: Rules, rows: RowArrays, work: Work, negation: Hook, totals: Hook) -> int:
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
    if totals is not None:  # what is added to a group cannot be taken back, so room comes first
        most_runs = totals.widest * (progress.count + rules.starts)
        if most_runs > work.runs.shape[1]:
            return layout.RUNS_FULL
        if progress.nodes + 2 * most_runs > nodes.shape[0]:
            return layout.NODES_FULL
    node_count, matches, mapped = progress.nodes, progress.matches, progress.mapped
    progress.stamp += 1
    progress.completed = row
    status = step_runs(row, rules, rows, work, negation, totals)
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


search = searching(search_start)


@spliced
def step_runs(
    row: int, rules: Rules, rows: RowArrays, work: Work, negation: Hook, totals: Hook
) -> int:
    """Give a row to all runs, old and new; return DONE or a status."""
    progress, runs = work.progress, work.runs
    program, states, goes_on = rules.program, rules.first, rules.goes_on
    waits, ends = rules.waits, rules.ends
    satisfied, window_end, last_live = rows.satisfied, rows.window_end, work.last_live
    bank, count, noted = progress.bank, progress.count, progress.nodes
    on_run, upper = on_run_of(rules, rows, work), progress.upper
    alive = offered = reads = forks = begun = np.int64(0)
    merges = merges_at(row, count, rules, progress, totals)
    begins = row < upper and (count == 0 or progress.alone == 0)
    for run in range(count + rules.starts if begins else count):
        state, node, start = run - count, -1, row
        slot = np.int64(0)
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
                copy_registers(slot, new_slot, on_run.registers)
            elif choice < end_of_choices:
                target = program[choice, layout.TARGET]
                if target == layout.ACCEPT or (stopped and target >= 0 and goes_on[target]):
                    continue
                answer = may_map(choice, slot, new_slot, row, rules, satisfied, on_run)
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
                    guard = rules.accepts[target]
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
                status = accept(new_node, at_slot, row - ended, rules, rows, work, negation, totals)
                if status != layout.DONE:
                    return status
            if target == layout.ENDS or target == layout.TIMES_OUT:
                break
            if target >= 0 and (choice == end_of_choices or goes_on[target]):
                offered += 1
                alive = add_run(target, new_node, start, merges, alive, rules, work, totals)
                if alive < 0:
                    return layout.NODES_FULL
        forks += way_count - int(way_count > 0)
        begun += int(way_count > 0 and run == count)
    if merges:
        progress.merged = alive
    return finish_step(alive, offered, reads, forks, begun, noted, work)


@spliced
def finish_step(
    alive: int, offered: int, reads: int, forks: int, begun: int, nodes_before: int, work: Work
) -> int:
    """Write out the best match of a row, if any, and count what was done; return a status.

    `alive` runs go on; `offered` would go on if none had merged. `begun` runs began with the row,
    `forks` is how many more runs there are than before, and `nodes_before` how many nodes there
    were.
    """
    progress, counters = work.progress, work.counters
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
def merges_at(row: int, count: int, rules: Rules, progress: Progress, totals: Hook) -> bool:
    """Return whether equal runs merge at a row. Those that carry totals do at each row."""
    if totals is not None:
        return True
    is_time = row & (ROWS_APART - 1) == 0 or count >= 2 * progress.merged
    return bool(rules.merge_runs and is_time)


@spliced
def add_row(choice: int, row: int, node: int, start: int, work: Work, totals: Hook) -> int:
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
    work: Work,
    negation: Hook,
    totals: Hook,
) -> int:
    """Take the matches of a run that accepts and whose last row is `row`; return DONE or a status.

    `node` is the node of that row, and `slot` has the registers of the run.
    """
    if negation is not None:
        answer = satisfies_closing(
            row, slot, negation, rows.satisfied, on_run_of(rules, rows, work)
        )
        if answer == HOLDS_NOT:
            return layout.DONE
        if answer != HOLDS:
            return layout.CONDITION_FAILED + answer
    if totals is not None:
        last_node, path = work.nodes[node], work.path
        start = last_node[layout.NODE_START]
        path[layout.PATH_ROWS, 0], path[layout.PATH_ROWS, 1] = start, row  # only these two matter
        if negation is not None:
            answer = lacks_absent(0, 2, slot, negation, rules, rows, work)
            if answer != HOLDS:
                return layout.DONE if answer == HOLDS_NOT else layout.CONDITION_FAILED + answer
        group = row if totals.grouped == layout.BY_END else work.progress.partition
        if totals.grouped == layout.BY_START:
            group = start
        merge_ways(totals.groups[group], last_node[layout.NODE_SIZE :], totals)
        return layout.DONE
    return unwind_matches(node, row, slot, rules, rows, work, negation)


@spliced
def add_run(
    state: int, node: int, start: int, merge: bool, run: int, rules: Rules, work: Work, totals: Hook
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
        run_registers, live = work.registers[1 + 2 * run + bank], live_in(state, rules)
        twin = np.int64(
            find_equal(state, key, run_registers, live, run, progress.stamp, work.table)
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
