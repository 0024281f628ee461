"""All runs at once, row by row, where rows may be skipped or all matches are asked for.

Each row goes to every run: for each choice that the row satisfies a run goes on with it, and where
the row may be skipped the run waits. Runs stand in the order of depth-first search: earlier starts
first, a row taken before the same row skipped. Runs of equal computation state stay equal, so they
are told apart and merged only every few rows, and where they have become many. A step either
completes its row or leaves the runs before it as they are, so that it can be done again with more
room.

Where a skip strategy leaves matches out, the runs of one starting row are followed alone, see
`skipping`; then rows are read again for each starting row, but not for those that are left out.

Cost: rows x runs, plus the rows of the matches. Without skip till any match there are polynomially
many runs, with it exponentially many unless they merge.
Source: SASE+, "Basic algorithm", "Merging equivalent runs".
"""

from matchrec.engine.contiguous.kernels.starts import whole_partition
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import Partition
from matchrec.engine.kernels.mapping import Places, copy_registers
from matchrec.engine.kernels.merging import NONE, find_twin
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.buffer import add_node, compact
from matchrec.engine.selection.kernels.choosing import may_map, note_failure
from matchrec.engine.selection.kernels.layout import Found, Rows, Rules, Work
from matchrec.engine.selection.kernels.matches import closes, copy, write_best
from matchrec.engine.selection.kernels.skipping import next_row_alone
from matchrec.engine.selection.kernels.unwinding import unwind_matches
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inlined, kernel, spliced
from matchrec.nfa.closure import GUARD_END
from matchrec.nfa.places import A_MATCH

ROWS_APART = 8  # how many rows apart runs are told apart


@kernel
def search(rules: Rules, rows: Rows, work: Work, output: Found) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    progress, counters = work.progress, work.counters
    while progress[layout.PARTITION] < rows.starts.shape[0] - 1:
        partition = whole_partition(rows.starts, progress)
        end = partition.upper + int(rules.flushes) if progress[own.STOP] < 0 else progress[own.STOP]
        while progress[layout.START] < end:
            row = progress[layout.START]
            if progress[own.COUNT] == 0 and rules.output != own.GRAPH:
                counters[0, own.NODES_PRUNED] += progress[layout.NODES]
                progress[layout.NODES] = 0
            elif 2 * progress[layout.NODES] > work.nodes.shape[0]:
                compact(progress[own.BANK], row - int(rules.flushes), rows.window_end, work)
                if 4 * progress[layout.NODES] > work.nodes.shape[0]:
                    return layout.NODES_FULL
            nodes = progress[layout.NODES]
            matches, mapped = progress[layout.MATCHES], progress[layout.MAPPED]
            copy(counters[0], counters[1])
            status = step(row, partition, rules, rows, work, output)
            if status == layout.DONE and progress[layout.BEST_START] >= 0:
                status = write_best(work.path, progress, output)
                progress[layout.RUNS] = 0  # the search goes on after the match
            progress[layout.BEST_START] = -1
            if status != layout.DONE:
                progress[layout.NODES] = nodes
                progress[layout.MATCHES] = matches
                progress[layout.MAPPED] = mapped
                copy(counters[1], counters[0])
                return status
            progress[own.BANK] = 1 - progress[own.BANK]
            progress[own.COUNT] = progress[layout.RUNS]
            progress[layout.START] = row + 1
            if progress[own.ALONE] != 0:
                next_row_alone(end, matches, rules, work, output)
            counters[0, own.MATCHES_FOUND] += progress[layout.MATCHES] - matches
            counters[0, own.MOST_LIVE] = max(counters[0, own.MOST_LIVE], progress[own.COUNT])
        if progress[own.STOP] >= 0:
            compact(progress[own.BANK], end - 1, rows.window_end, work)
            return layout.DONE
        progress[layout.PARTITION] += 1
        progress[layout.NUMBER] = 0
        progress[layout.START] = partition.upper
        progress[own.COUNT] = 0
    if rules.output == own.GRAPH:
        last = rows.starts[rows.starts.shape[0] - 1]
        compact(progress[own.BANK], last, rows.window_end, work)
    return layout.DONE


@spliced
def step(
    row: int, partition: Partition, rules: Rules, rows: Rows, work: Work, output: Found
) -> int:
    """Give a row, or the end of the partition, to all runs and to new ones; DONE or a status."""
    progress, runs, counters = work.progress, work.runs, work.counters
    bank, count = progress[own.BANK], progress[own.COUNT]
    progress[layout.RUNS] = 0
    progress[layout.STAMP] += 1
    progress[own.COMPLETED] = row
    merges = rules.merge_runs and (row % ROWS_APART == 0 or count >= 2 * progress[own.MERGED])
    begins = row < partition.upper and (count == 0 or progress[own.ALONE] == 0)
    if count == 0:
        progress[own.ALONE_FROM] = row
    for run in range(count + (rules.starts if begins else 0)):
        state, node, start, place = run - count, -1, row, 2 * runs.shape[1]
        if run < count:
            state, node = runs[bank, run, layout.RUN_STATE], runs[bank, run, layout.RUN_NODE]
            start, place = runs[bank, run, layout.RUN_START], bank * runs.shape[1] + run
            if work.last_live.shape[0] > 0:
                work.last_live[start] = row
        if rows.run_end[start] <= row:
            if run < count and rules.ends[state] != 0:
                progress[own.MATCH_KIND] = rules.ends[state]
                status = unwind_matches(node, row - 1, place, partition, rules, rows, work, output)
                if status != layout.DONE:
                    return status
            continue
        counters[0, own.READS] += 1
        ways = 0
        blocked, stopped = False, False
        for choice in range(rules.first[state], rules.first[state + 1]):
            target = rules.program[choice, layout.TARGET]
            if target == layout.ACCEPT or (stopped and target >= 0 and rules.goes_on[target]):
                continue
            if progress[layout.RUNS] == runs.shape[1]:
                return layout.RUNS_FULL
            after = (1 - bank) * runs.shape[1] + progress[layout.RUNS]
            answer = may_map(choice, Places(place, after), row, partition, rules, rows, work)
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                return note_failure(answer, choice, row, work)
            progress[own.MATCH_KIND] = A_MATCH
            if target >= 0:
                ways += 1
                blocked = blocked or rules.program[choice, layout.BLOCKS] != 0
                chosen = add_node(choice, row, node, -1, start, work)
                if chosen < 0:
                    return layout.NODES_FULL
                guard = rules.accepts[target]
                is_match = guard == 0 or (guard == GUARD_END and row + 1 == partition.upper)
            elif target == own.CUTS:
                break
            else:
                blocked, stopped, chosen = True, stopped or target == own.STOPS, node
                if target == own.TIMES_OUT:
                    progress[own.MATCH_KIND] = rules.ends[state]
                is_match = completes(target, state, rules)
            if is_match:
                status = accept(chosen, after, row, partition, rules, rows, work, output)
                if status < layout.DONE:
                    return note_failure(-status, choice, row, work)
                if status != layout.DONE:
                    return status
            if target == own.ENDS or target == own.TIMES_OUT:
                break
            goes_on = target >= 0 and rules.goes_on[target]
            if goes_on and not add_run(target, chosen, start, merges, 1 - bank, rules, work):
                return layout.NODES_FULL
        if run < count and not blocked and rules.waits[state] >= 0:
            ways += 1
            if progress[layout.RUNS] == runs.shape[1]:
                return layout.RUNS_FULL
            copy_registers(place, (1 - bank) * runs.shape[1] + progress[layout.RUNS], work)
            if not add_run(rules.waits[state], node, start, merges, 1 - bank, rules, work):
                return layout.NODES_FULL
        counters[0, own.FORKS] += max(0, ways - 1)
        counters[0, own.RUNS_CREATED] += ways if run == count else max(0, ways - 1)
    if merges:
        progress[own.MERGED] = progress[layout.RUNS]
    return layout.DONE


@inlined
def completes(effect: int, state: int, rules: Rules) -> bool:
    """Whether what a row does that is not mapped completes a run that waits in a state."""
    return effect == own.COMPLETES_HERE or (effect == own.TIMES_OUT and rules.ends[state] != 0)


@spliced
def accept(
    node: int,
    place: int,
    row: int,
    partition: Partition,
    rules: Rules,
    rows: Rows,
    work: Work,
    output: Found,
) -> int:
    """Take the matches of a run that has arrived in an accepting state.

    DONE, a status, or minus an answer of a condition that has failed.
    """
    answer = closes(row, place, partition, rules, rows, work)
    if answer == HOLDS_NOT:
        return layout.DONE
    if answer != HOLDS:
        return -answer
    if rules.output == own.COUNT_ONLY:
        work.counters[0, own.MATCHES_FOUND] += 1
        return layout.DONE
    return unwind_matches(node, row, place, partition, rules, rows, work, output)


@spliced
def add_run(
    state: int, node: int, start: int, merges: bool, bank: int, rules: Rules, work: Work
) -> bool:
    """Add a run, whose registers stand in their place, or merge it; false if nodes are full."""
    runs, progress = work.runs, work.progress
    run = progress[layout.RUNS]
    runs[bank, run, layout.RUN_STATE] = state
    runs[bank, run, layout.RUN_NODE] = node
    runs[bank, run, layout.RUN_START] = start
    twin = find_twin(bank, run, rules, work, None) if merges else NONE
    if twin == NONE:
        progress[layout.RUNS] = run + 1
        return True
    latest = max(runs[bank, twin, layout.RUN_START], start)
    joined = add_node(own.JOIN, 0, runs[bank, twin, layout.RUN_NODE], node, latest, work)
    if joined < 0:
        return False
    runs[bank, twin, layout.RUN_NODE] = joined
    runs[bank, twin, layout.RUN_START] = latest
    work.counters[0, own.MERGES] += 1
    return True
