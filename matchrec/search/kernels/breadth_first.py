"""All runs at once, row by row, where all matches are asked for.

Each row goes to every run: for each choice that the row satisfies a run goes on with it, and where
the row may be skipped the run waits. Runs stand in the order of depth-first search: earlier starts
first, a row taken before the same row skipped. Runs of equal computation state stay equal, so they
are told apart and merged only every few rows, and where they have become many. A step either
completes its row or leaves the runs before it as they are, to be done again with more room.

Where a skip strategy leaves matches out, the runs of one starting row are followed alone, see
`order`; then rows are read again for each starting row, but not for those that are left out.

Cost: rows x runs, plus the rows of the matches. Without skip till any match there are polynomially
many runs, with it exponentially many unless they merge.
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
from matchrec.search.kernels.matches import closes, lacks_absent, unwind_matches, write_path
from matchrec.search.kernels.order import next_row_alone
from matchrec.search.kernels.starts import searching
from matchrec.search.kernels.totals import carry, join, put_together

ROWS_APART = 8  # how many rows apart runs are told apart, a power of two


@spliced
def search_start(rules: Rules, rows: RowArrays, work: Work, negation: Hook, totals: Hook) -> int:
    """Give the row progress.start, or the end of the partition, to all runs and to new ones.

    DONE, or a status: then nothing has been done.
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
    if totals is not None:  # a match that is added up is not left out again
        most = totals.widest * (progress.count + rules.starts)
        if most > work.runs.shape[1]:
            return layout.RUNS_FULL
        if progress.nodes + 2 * most > nodes.shape[0]:
            return layout.NODES_FULL
    noted, matches, mapped = progress.nodes, progress.matches, progress.mapped
    progress.stamp += 1
    progress.completed = row
    status = step(row, rules, rows, work, negation, totals)
    progress.best_start = -1
    if status != layout.DONE:
        progress.nodes, progress.number = noted, number
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
def step(row: int, rules: Rules, rows: RowArrays, work: Work, negation: Hook, totals: Hook) -> int:
    """Give a row to all runs; DONE or a status."""
    progress, runs = work.progress, work.runs
    program, states, goes_on = rules.program, rules.first, rules.goes_on
    waits, ends = rules.waits, rules.ends
    satisfied, window_end, last_live = rows.satisfied, rows.window_end, work.last_live
    bank, count, noted = progress.bank, progress.count, progress.nodes
    on_run, upper = on_run_of(rules, rows, work), progress.upper
    alive = offered = reads = forks = begun = np.int64(0)
    merges = are_told_apart(row, count, rules, progress, totals)
    begins = row < upper and (count == 0 or progress.alone == 0)
    for run in range(count + rules.starts if begins else count):
        state, node, start = run - count, -1, row
        place = np.int64(0)
        if run < count:
            live, place = runs[bank, run], 1 + 2 * run + bank
            state, node = live[layout.RUN_STATE], live[layout.RUN_NODE]
            start = live[layout.RUN_START]
            if last_live.shape[0] > 0:
                last_live[start] = row
        ended, kind = window_end[start] <= row, ends[state]
        if ended and (run >= count or kind == 0):
            continue
        reads += not ended
        ways = blocked = stopped = np.int64(0)
        last = states[state + 1]
        choice = (last if ended else states[state]) - 1
        while choice < last:  # the place after the choices is that of a run without the row
            choice += 1
            if alive == runs.shape[1]:
                return layout.RUNS_FULL
            after = 2 + 2 * alive - bank
            chosen, onward, is_match = node, -1, ended
            progress.match_kind = kind if ended else A_MATCH
            if choice == last and not ended and blocked == 0 and run < count:
                onward = waits[state]
                copy_registers(place, after, on_run.registers)
            elif choice < last:
                onward = program[choice, layout.TARGET]
                if onward == layout.ACCEPT or (stopped and onward >= 0 and goes_on[onward]):
                    continue
                answer = may_map(choice, place, after, row, rules, satisfied, on_run)
                if answer == HOLDS_NOT:
                    continue
                if answer != HOLDS:
                    return note_failure(answer, choice, row, progress)
                if onward == layout.CUTS:
                    choice = last - 1
                    continue
                if onward >= 0:
                    blocked |= program[choice, layout.BLOCKS]
                    chosen = add_row(choice, row, node, start, work, totals)
                    if chosen < 0:
                        return layout.NODES_FULL
                    guard = rules.accepts[onward]
                    is_match = guard == 0 or (guard == GUARD_END and row + 1 == upper)
                else:
                    blocked = np.int64(1)
                    stopped |= onward == layout.STOPS
                    is_match = onward == layout.COMPLETES_HERE
                    if onward == layout.TIMES_OUT:
                        progress.match_kind, is_match = kind, kind != 0
            ways += onward >= 0
            if is_match:
                progress.row, progress.choice = row, choice  # if it fails
                at = place if ended else after
                status = accept(chosen, at, row - ended, rules, rows, work, negation, totals)
                if status != layout.DONE:
                    return status
            if onward == layout.ENDS or onward == layout.TIMES_OUT:
                break
            if onward >= 0 and (choice == last or goes_on[onward]):
                offered += 1
                alive = add_run(onward, chosen, start, merges, alive, rules, work, totals)
                if alive < 0:
                    return layout.NODES_FULL
        forks += ways - int(ways > 0)
        begun += int(ways > 0 and run == count)
    if merges:
        progress.merged = alive
    return finish_step(alive, offered, reads, forks, begun, noted, work)


@spliced
def finish_step(
    alive: int, offered: int, reads: int, forks: int, begun: int, noted: int, work: Work
) -> int:
    """Write out the best match of a row, if any, and count what was done; DONE or OUTPUT_FULL.

    alive, offered: how many runs go on, and how many would if none had merged. noted: how many
    nodes there were.
    """
    progress, counters = work.progress, work.counters
    nodes, merged = progress.nodes - noted, offered - alive
    if progress.best_start >= 0:
        if write_path(layout.PATH_BEST_ROWS, progress.best_length, work) != layout.DONE:
            return layout.OUTPUT_FULL
        alive = np.int64(0)  # the search goes on after the match
    progress.runs = alive
    counters[layout.READS] += reads
    if nodes + merged > 0:  # which is seldom so
        counters[layout.MERGES] += merged
        counters[layout.FORKS] += forks
        counters[layout.RUNS_CREATED] += forks + begun
        counters[layout.NODES_CREATED] += nodes
        counters[layout.MOST_LIVE] = max(counters[layout.MOST_LIVE], alive)
    return layout.DONE


@spliced
def are_told_apart(row: int, count: int, rules: Rules, progress: Progress, totals: Hook) -> bool:
    """Whether equal runs merge at a row; those that carry totals do at each."""
    if totals is not None:
        return True
    is_time = row & (ROWS_APART - 1) == 0 or count >= 2 * progress.merged
    return bool(rules.merge_runs and is_time)


@spliced
def add_row(choice: int, row: int, node: int, start: int, work: Work, totals: Hook) -> int:
    """The number of a new node for a row that is mapped after `node`, or -1 without room."""
    nodes = work.nodes
    added = add_node(choice, row, node, -1, start, nodes, work.progress)
    if totals is not None:
        if added >= 0:
            carry(nodes[added], nodes[node], node < 0, row, totals)
    return int(added)


@spliced
def accept(
    node: int,
    place: int,
    row: int,
    rules: Rules,
    rows: RowArrays,
    work: Work,
    negation: Hook,
    totals: Hook,
) -> int:
    """Take the matches of a run that is accepted with its last row, `row`; DONE or a status."""
    if negation is not None:
        answer = closes(row, place, negation, rows.satisfied, on_run_of(rules, rows, work))
        if answer == HOLDS_NOT:
            return layout.DONE
        if answer != HOLDS:
            return layout.CONDITION_FAILED + answer
    if totals is not None:
        arrived, path = work.nodes[node], work.path
        start = arrived[layout.NODE_START]
        path[layout.PATH_ROWS, 0], path[layout.PATH_ROWS, 1] = start, row  # no row between matters
        if negation is not None:
            answer = lacks_absent(0, 2, place, negation, rules, rows, work)
            if answer != HOLDS:
                return layout.DONE if answer == HOLDS_NOT else layout.CONDITION_FAILED + answer
        group = row if totals.grouped == layout.BY_END else work.progress.partition
        if totals.grouped == layout.BY_START:
            group = start
        put_together(totals.groups[group], arrived[layout.NODE_SIZE :], totals)
        return layout.DONE
    return unwind_matches(node, row, place, rules, rows, work, negation)


@spliced
def add_run(
    state: int, node: int, start: int, merge: bool, run: int, rules: Rules, work: Work, totals: Hook
) -> int:
    """Add a run, whose registers stand in their place, to `run` others, or merge it: how many there
    are then, or -1 where there is no room for nodes.
    """
    runs, nodes, progress = work.runs, work.nodes, work.progress
    bank = 1 - progress.bank
    put_run(runs[bank, run], state, node, start)
    twin = np.int64(NONE)
    if merge:
        key = np.int64(0)
        if totals is not None:
            key = totals.apart[start]
        own, live = work.registers[1 + 2 * run + bank], live_in(state, rules)
        twin = np.int64(find_equal(state, key, own, live, run, progress.stamp, work.table))
    if twin == NONE:
        return run + 1
    other = runs[bank, twin]
    if start < other[layout.RUN_START]:
        start = other[layout.RUN_START]
    joined = add_node(layout.JOIN, 0, other[layout.RUN_NODE], node, start, nodes, progress)
    if joined < 0:
        return -1
    if totals is not None:
        join(nodes[joined], nodes[other[layout.RUN_NODE]], nodes[node], totals)
    other[layout.RUN_NODE] = joined
    other[layout.RUN_START] = start
    return run
