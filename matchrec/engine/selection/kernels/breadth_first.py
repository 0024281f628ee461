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
from matchrec.engine.kernels.mapping import OnRun, Places, copy_registers, on_run_of
from matchrec.engine.kernels.merging import NONE, Merging, find_twin, merging_of
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.buffer import add_node
from matchrec.engine.selection.kernels.choosing import may_map, note_failure
from matchrec.engine.selection.kernels.layout import Found, Negation, Rows, Rules, Work
from matchrec.engine.selection.kernels.matches import closes, copy, write_best
from matchrec.engine.selection.kernels.skipping import next_row_alone
from matchrec.engine.selection.kernels.unwinding import unwind_matches
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import kernel, spliced
from matchrec.nfa.closure import GUARD_END
from matchrec.nfa.outcomes import A_MATCH

ROWS_APART = 8  # how many rows apart runs are told apart


@kernel
def search(rules: Rules, rows: Rows, work: Work, output: Found, negation: Negation | None) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    progress, counters, nodes, path = work.progress, work.counters, work.nodes, work.path
    flushes, asked = int(rules.flushes), rules.output
    while progress[layout.PARTITION] < rows.starts.shape[0] - 1:
        partition = whole_partition(rows.starts, progress)
        on_run = on_run_of(partition, rules, rows, work)
        end = partition.upper + flushes if progress[own.STOP] < 0 else progress[own.STOP]
        while progress[layout.START] < end:
            row = progress[layout.START]
            if progress[layout.COUNT] == 0 and asked != own.GRAPH:
                progress[own.ALONE_FROM] = row
                counters[0, own.NODES_PRUNED] += progress[layout.NODES]
                progress[layout.NODES] = 0
            elif 2 * progress[layout.NODES] > nodes.shape[0]:
                return layout.NODES_FULL
            noted = progress[layout.NODES]
            matches, mapped = progress[layout.MATCHES], progress[layout.MAPPED]
            copy(counters[0], counters[1])
            status = step(row, rules, rows, work, output, negation, on_run)
            if status == layout.DONE and progress[layout.BEST_START] >= 0:
                status = write_best(path, progress, output)
                progress[layout.RUNS] = 0  # the search goes on after the match
            progress[layout.BEST_START] = -1
            if status != layout.DONE:
                progress[layout.NODES] = noted
                progress[layout.MATCHES] = matches
                progress[layout.MAPPED] = mapped
                copy(counters[1], counters[0])
                return status
            progress[layout.BANK] = 1 - progress[layout.BANK]
            progress[layout.COUNT] = progress[layout.RUNS]
            progress[layout.START] = row + 1
            if progress[own.ALONE] != 0:
                next_row_alone(end, matches, rules, work, output)
            counters[0, own.MATCHES_FOUND] += progress[layout.MATCHES] - matches
            if counters[0, own.MOST_LIVE] < progress[layout.COUNT]:
                counters[0, own.MOST_LIVE] = progress[layout.COUNT]
        if progress[own.STOP] >= 0:
            return layout.DONE
        progress[layout.PARTITION] += 1
        progress[layout.NUMBER] = 0
        progress[layout.START] = partition.upper
        progress[layout.COUNT] = 0
    return layout.DONE


@spliced
def step(
    row: int,
    rules: Rules,
    rows: Rows,
    work: Work,
    output: Found,
    negation: Negation | None,
    on_run: OnRun,
) -> int:
    """Give a row, or the end of the partition, to all runs and to new ones; DONE or a status."""
    progress, runs, nodes, counters = work.progress, work.runs, work.nodes, work.counters
    program, states, goes_on = rules.program, rules.first, rules.goes_on
    waits, ends, merging = rules.waits, rules.ends, merging_of(rules, work)
    satisfied, run_end, last_live = rows.satisfied, rows.run_end, work.last_live
    bank, count = progress[layout.BANK], progress[layout.COUNT]
    progress[layout.RUNS] = 0
    progress[layout.STAMP] += 1
    progress[own.COMPLETED] = row
    merges = rules.merge_runs and (row % ROWS_APART == 0 or count >= 2 * progress[own.MERGED])
    begins = row < on_run.given.upper and (count == 0 or progress[own.ALONE] == 0)
    for run in range(count + (rules.starts if begins else 0)):
        state, node, start, place = run - count, -1, row, 2 * runs.shape[1]
        if run < count:
            live, place = runs[bank, run], bank * runs.shape[1] + run
            state, node = live[layout.RUN_STATE], live[layout.RUN_NODE]
            start = live[layout.RUN_START]
            if last_live.shape[0] > 0:
                last_live[start] = row
        ended = run_end[start] <= row
        if ended and (run >= count or ends[state] == 0):
            continue
        counters[0, own.READS] += not ended
        ways, blocked, stopped = 0, False, False
        last = states[state + 1]
        choice = (last if ended else states[state]) - 1
        while choice < last:  # the place after the choices is that of a run without the row
            choice += 1
            if progress[layout.RUNS] == runs.shape[1]:
                return layout.RUNS_FULL
            after = (1 - bank) * runs.shape[1] + progress[layout.RUNS]
            chosen, onward, is_match = node, -1, ended
            progress[own.MATCH_KIND] = ends[state] if ended else A_MATCH
            if choice == last and not ended and not blocked and run < count:
                onward = waits[state]
                copy_registers(place, after, on_run.registers)
            elif choice < last:
                onward = program[choice, layout.TARGET]
                if onward == layout.ACCEPT or (stopped and onward >= 0 and goes_on[onward]):
                    continue
                answer = may_map(choice, Places(place, after), row, rules, satisfied, on_run)
                if answer == HOLDS_NOT:
                    continue
                if answer != HOLDS:
                    return note_failure(answer, choice, row, progress)
                if onward == own.CUTS:
                    choice = last - 1
                    continue
                if onward >= 0:
                    blocked = blocked or program[choice, layout.BLOCKS] != 0
                    chosen = add_node(choice, row, node, -1, start, nodes, progress, counters)
                    if chosen < 0:
                        return layout.NODES_FULL
                    guard = rules.accepts[onward]
                    is_match = guard == 0 or (guard == GUARD_END and row + 1 == on_run.given.upper)
                else:
                    blocked, stopped = True, stopped or onward == own.STOPS
                    if onward == own.TIMES_OUT:
                        progress[own.MATCH_KIND] = ends[state]
                    is_match = completes(onward, ends[state])
            ways += onward >= 0
            if is_match:
                arrived = place if ended else after
                status = accept(
                    chosen, arrived, row - ended, rules, rows, work, output, negation, on_run
                )
                if status < layout.DONE:
                    return note_failure(-status, choice, row, progress)
                if status != layout.DONE:
                    return status
            if onward == own.ENDS or onward == own.TIMES_OUT:
                break
            lives_on = onward >= 0 and (choice == last or goes_on[onward])
            if lives_on and not add_run(onward, chosen, start, merges, 1 - bank, merging, work):
                return layout.NODES_FULL
        more_ways = ways - int(ways > 0)
        counters[0, own.FORKS] += more_ways
        counters[0, own.RUNS_CREATED] += ways if run == count else more_ways
    if merges:
        progress[own.MERGED] = progress[layout.RUNS]
    return layout.DONE


@spliced
def completes(effect: int, end: int) -> bool:
    """Whether what a row does that is not mapped completes a run.

    end: what a run is whose window ends in its state.
    """
    return effect == own.COMPLETES_HERE or (effect == own.TIMES_OUT and end != 0)


@spliced
def accept(
    node: int,
    place: int,
    row: int,
    rules: Rules,
    rows: Rows,
    work: Work,
    output: Found,
    negation: Negation | None,
    on_run: OnRun,
) -> int:
    """Take the matches of a run that has arrived in an accepting state.

    DONE, a status, or minus an answer of a condition that has failed.
    """
    answer = closes(row, place, negation, rows.satisfied, on_run)
    if answer == HOLDS_NOT:
        return layout.DONE
    if answer != HOLDS:
        return -answer
    if rules.output == own.COUNT_ONLY:
        work.counters[0, own.MATCHES_FOUND] += 1
        return layout.DONE
    return unwind_matches(node, row, place, rows.window_end, rules, work, output, negation, on_run)


@spliced
def add_run(
    state: int,
    node: int,
    start: int,
    merges: bool,
    bank: int,
    merging: Merging,
    work: Work,
) -> bool:
    """Add a run, whose registers stand in their place, or merge it; false if nodes are full."""
    runs, nodes, progress, counters = work.runs, work.nodes, work.progress, work.counters
    run = progress[layout.RUNS]
    added = runs[bank, run]
    added[layout.RUN_STATE] = state
    added[layout.RUN_NODE] = node
    added[layout.RUN_START] = start
    twin = find_twin(bank, run, merging, progress[layout.STAMP], None) if merges else NONE
    if twin == NONE:
        progress[layout.RUNS] = run + 1
        return True
    other = runs[bank, twin]
    if start < other[layout.RUN_START]:
        start = other[layout.RUN_START]
    joined = add_node(own.JOIN, 0, other[layout.RUN_NODE], node, start, nodes, progress, counters)
    if joined < 0:
        return False
    other[layout.RUN_NODE] = joined
    other[layout.RUN_START] = start
    counters[0, own.MERGES] += 1
    return True
