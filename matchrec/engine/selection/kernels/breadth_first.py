"""All runs at once, row by row, where rows may be skipped or all matches are asked for.

Each row goes to every run: for each choice that the row satisfies a run goes on with it, and where
the row may be skipped the run waits. Runs stand in the order of depth-first search: earlier starts
first, a row taken before the same row skipped. Runs of equal computation state stay equal, so they
are told apart and merged only every few rows, and where they have become many. A step either
completes its row or leaves the runs before it as they are, so that it can be done again with more
room.

Cost: rows x runs, plus the rows of the matches. Without skip till any match there are polynomially
many runs, with it exponentially many unless they merge.
Source: SASE+, "Basic algorithm", "Merging equivalent runs".
"""

from matchrec.engine.kernels.layout import (
    ACCEPT,
    BEST_START,
    BLOCKS,
    DONE,
    MAPPED,
    MATCHES,
    NODES,
    NODES_FULL,
    PARTITION,
    RUN_NODE,
    RUN_START,
    RUN_STATE,
    RUNS,
    RUNS_FULL,
    STAMP,
    START,
    TARGET,
)
from matchrec.engine.kernels.merging import NONE, find_twin
from matchrec.engine.selection.kernels.buffer import add_node, compact
from matchrec.engine.selection.kernels.choosing import failed, may_map
from matchrec.engine.selection.kernels.layout import (
    BANK,
    COMPLETED,
    COMPLETES_HERE,
    COUNT,
    COUNT_ONLY,
    CUTS,
    ENDS,
    FORKS,
    GRAPH,
    JOIN,
    MATCH_KIND,
    MATCHES_FOUND,
    MERGED,
    MERGES,
    MOST_ALIVE,
    NODES_PRUNED,
    READS,
    RUNS_CREATED,
    STOP,
    STOPS,
    TIMES_OUT,
    Found,
    Rows,
    Rules,
    Work,
)
from matchrec.engine.selection.kernels.matches import closes, copy, write_best
from matchrec.engine.selection.kernels.unwinding import unwind_matches
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inlined, kernel
from matchrec.nfa.closure import GUARD_END
from matchrec.nfa.places import A_MATCH

ROWS_APART = 8  # how many rows apart runs are told apart


@kernel
def search(rules: Rules, rows: Rows, work: Work, output: Found) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    progress, counters = work.progress, work.counters
    while progress[PARTITION] < rows.starts.shape[0] - 1:
        lower = rows.starts[progress[PARTITION]]
        upper = rows.starts[progress[PARTITION] + 1]
        end = upper + int(rules.flushes) if progress[STOP] < 0 else progress[STOP]
        while progress[START] < end:
            row = progress[START]
            if progress[COUNT] == 0 and rules.output != GRAPH:
                counters[0, NODES_PRUNED] += progress[NODES]
                progress[NODES] = 0
            elif 2 * progress[NODES] > work.nodes.shape[0]:
                compact(progress[BANK], row - int(rules.flushes), rows.window_end, work)
                if 4 * progress[NODES] > work.nodes.shape[0]:
                    return NODES_FULL
            nodes, matches, mapped = progress[NODES], progress[MATCHES], progress[MAPPED]
            copy(counters[0], counters[1])
            status = step(row, lower, upper, rules, rows, work, output)
            if status == DONE and progress[BEST_START] >= 0:
                status = write_best(work, output)
                progress[RUNS] = 0  # the search goes on behind the match
            progress[BEST_START] = -1
            if status != DONE:
                progress[NODES] = nodes
                progress[MATCHES] = matches
                progress[MAPPED] = mapped
                copy(counters[1], counters[0])
                return status
            progress[BANK] = 1 - progress[BANK]
            progress[COUNT] = progress[RUNS]
            progress[START] = row + 1
            counters[0, MATCHES_FOUND] += progress[MATCHES] - matches
            counters[0, MOST_ALIVE] = max(counters[0, MOST_ALIVE], progress[COUNT])
        if progress[STOP] >= 0:
            compact(progress[BANK], end - 1, rows.window_end, work)
            return DONE
        progress[PARTITION] += 1
        progress[START] = upper
        progress[COUNT] = 0
    if rules.output == GRAPH:
        last = rows.starts[rows.starts.shape[0] - 1]
        compact(progress[BANK], last, rows.window_end, work)
    return DONE


@inlined
def step(
    row: int, lower: int, upper: int, rules: Rules, rows: Rows, work: Work, output: Found
) -> int:
    """Give a row, or the end of the partition, to all runs and to new ones; DONE or a status."""
    progress, runs, counters = work.progress, work.runs, work.counters
    bank, count = progress[BANK], progress[COUNT]
    progress[RUNS] = 0
    progress[STAMP] += 1
    progress[COMPLETED] = row
    merges = rules.merge_runs and (row % ROWS_APART == 0 or count >= 2 * progress[MERGED])
    for run in range(count + (rules.starts if row < upper else 0)):
        state, node, start, place = run - count, -1, row, 2 * runs.shape[1]
        if run < count:
            state, node = runs[bank, run, RUN_STATE], runs[bank, run, RUN_NODE]
            start, place = runs[bank, run, RUN_START], bank * runs.shape[1] + run
            if work.alive.shape[0] > 0:
                work.alive[start] = row
        if rows.run_end[start] <= row:
            if run < count and rules.ends[state] != 0:
                progress[MATCH_KIND] = rules.ends[state]
                status = unwind_matches(
                    node, row - 1, place, lower, upper, rules, rows, work, output
                )
                if status != DONE:
                    return status
            continue
        counters[0, READS] += 1
        ways = 0
        blocked, stopped = False, False
        for choice in range(rules.first[state], rules.first[state + 1]):
            target = rules.program[choice, TARGET]
            if target == ACCEPT or (stopped and target >= 0 and rules.goes_on[target]):
                continue
            if progress[RUNS] == runs.shape[1]:
                return RUNS_FULL
            after = (1 - bank) * runs.shape[1] + progress[RUNS]
            answer = may_map(choice, place, after, row, lower, upper, rules, rows, work)
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                return failed(answer, choice, row, work)
            progress[MATCH_KIND] = A_MATCH
            if target >= 0:
                ways += 1
                blocked = blocked or rules.program[choice, BLOCKS] != 0
                chosen = add_node(choice, row, node, -1, start, work)
                if chosen < 0:
                    return NODES_FULL
                guard = rules.accepts[target]
                is_match = guard == 0 or (guard == GUARD_END and row + 1 == upper)
            elif target == CUTS:
                break
            else:
                blocked, stopped, chosen = True, stopped or target == STOPS, node
                if target == TIMES_OUT:
                    progress[MATCH_KIND] = rules.ends[state]
                is_match = target == COMPLETES_HERE or (
                    target == TIMES_OUT and rules.ends[state] != 0
                )
            if is_match:
                status = accept(choice, chosen, after, row, lower, upper, rules, rows, work, output)
                if status != DONE:
                    return status
            if target == ENDS or target == TIMES_OUT:
                break
            goes_on = target >= 0 and rules.goes_on[target]
            if goes_on and not go_on(target, chosen, start, merges, 1 - bank, rules, work):
                return NODES_FULL
        if run < count and not blocked and rules.waits[state] >= 0:
            ways += 1
            if progress[RUNS] == runs.shape[1]:
                return RUNS_FULL
            after = (1 - bank) * runs.shape[1] + progress[RUNS]
            for register in range(work.registers.shape[1]):
                work.registers[after, register] = work.registers[place, register]
            if not go_on(rules.waits[state], node, start, merges, 1 - bank, rules, work):
                return NODES_FULL
        counters[0, FORKS] += max(0, ways - 1)
        counters[0, RUNS_CREATED] += ways if run == count else max(0, ways - 1)
    if merges:
        progress[MERGED] = progress[RUNS]
    return DONE


@inlined
def accept(
    choice: int,
    node: int,
    place: int,
    row: int,
    lower: int,
    upper: int,
    rules: Rules,
    rows: Rows,
    work: Work,
    output: Found,
) -> int:
    """Take the matches of a run that has arrived in an accepting state; DONE or a status."""
    answer = closes(row, place, lower, upper, rules, rows, work)
    if answer == HOLDS_NOT:
        return DONE
    if answer != HOLDS:
        return failed(answer, choice, row, work)
    if rules.output == COUNT_ONLY:
        work.counters[0, MATCHES_FOUND] += 1
        return DONE
    status = unwind_matches(node, row, place, lower, upper, rules, rows, work, output)
    return status if status >= DONE else failed(-status, choice, row, work)


@inlined
def go_on(
    state: int, node: int, start: int, merges: bool, bank: int, rules: Rules, work: Work
) -> bool:
    """Add a run, whose registers stand in their place, or merge it; false if nodes are full."""
    runs, progress = work.runs, work.progress
    run = progress[RUNS]
    runs[bank, run, RUN_STATE] = state
    runs[bank, run, RUN_NODE] = node
    runs[bank, run, RUN_START] = start
    twin = find_twin(bank, run, rules, work, None) if merges else NONE
    if twin == NONE:
        progress[RUNS] = run + 1
        return True
    latest = max(runs[bank, twin, RUN_START], start)
    joined = add_node(JOIN, 0, runs[bank, twin, RUN_NODE], node, latest, work)
    if joined < 0:
        return False
    runs[bank, twin, RUN_NODE] = joined
    runs[bank, twin, RUN_START] = latest
    work.counters[0, MERGES] += 1
    return True
