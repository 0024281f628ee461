"""All runs at once, row by row, for the preferred match: one pass over the rows for all starts.

Runs are kept in preferment order, and those of earlier starting rows come first, so the first one
that accepts beats all after it, and the match is final when no run before it lives. Until a run
has accepted, each row starts a run of its own, the least preferred one.

What was reached after the best match and died has failed; that is remembered, because the next
search comes there again. A failing condition ends the search only when all runs before it died:
depth-first search would not have met it earlier. With windows, whose ends never go back, a run that
began later lives longer: runs merge where their windows end together, and nothing is remembered.

With `waits` rows may be skipped: a run goes on waiting after all that it does with a row, and it
accepts only on the row after its last one. Without, nothing of that is compiled.

Where the longest match of a starting row is asked for, a run that accepts beats those of later
starting rows only, and the others of its own row go on until all of them died.

A condition that fails (overflow, division by zero) waits in the place of its run: what is preferred
to it may still match.

Rows of all runs are nodes of a shared buffer that point back to the row before. Runs that part
share the nodes before they part; each node has one predecessor, as there is one preferred way to a
computation state. A node comes after its predecessor, also where the living ones slide together.

Cost: rows x choices where conditions depend on the data only, in windows times the rows of a
window, else rows x runs; runs of equal computation states merge. Sources: SASE+, "Basic algorithm",
"Merging equivalent runs" and "The shared versioned match buffer"; with nothing that depends on the
run, it is the machine of Pike and Thompson.
"""

from typing import NamedTuple

import numpy as np

from matchrec.automaton.program import A_MATCH
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inner, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.buffer import count_rows, put_run, unwind
from matchrec.search.kernels.layout import Hook, Progress, RowArrays, Rules, Work
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
    on_run_of,
    remember_failure,
    takes_too_many_steps,
)
from matchrec.search.kernels.starts import finish_match, has_room, searching
from matchrec.search.partitions import IntArray

# What `expand` answers, beside the statuses of `layout`.
GOES_ON = 0
CUTS_OFF = -1  # no less preferred run matters any more


class Run(NamedTuple):
    """A run: a row of `runs`, and the place of its registers. bank: of the runs after the row."""

    state: int
    node: int
    start: int
    place: int
    bank: int


@spliced
def expand(
    run: Run, row: int, rules: Rules, rows: RowArrays, work: Work, registers: Hook, waits: Hook
) -> int:
    """Add what follows from a run at `row` to the runs after it; GOES_ON, CUTS_OFF or a status."""
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    runs, nodes, progress = work.runs, work.nodes, work.progress
    longest = rules.output == layout.LONGEST
    bank = run.bank
    bound = end_of_window(rows.window_end, run.start, progress)
    blocked = np.int64(0)
    arrived = True
    if waits is not None:
        arrived = run.node < 0 or nodes[run.node, layout.NODE_ROW] == row - 1
    for choice in range(first[run.state], first[run.state + 1]):
        guard = program[choice, layout.GUARD]
        if guard != 0 and not is_anchored(guard, row, progress):
            continue
        target = program[choice, layout.TARGET]
        if target == layout.ACCEPT and longest:
            # runs of one start come one after the other, none is of a later one than the best match
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
        if bit >= 0 and has_failed(work.memo, progress, bit, row + 1):
            continue
        place = progress.runs
        if place == runs.shape[1]:
            return layout.RUNS_FULL
        if registers is not None:
            if waits is None:
                if takes_too_many_steps(progress):
                    return layout.TOO_MANY_STEPS
            after = 1 + 2 * place + bank
            on_run = on_run_of(rules, rows, work)
            answer = ask_run(choice, run.place, after, row, rules, on_run)
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                progress.row = row
                failed = -(layout.CONDITION_FAILED + answer)
                return wait(failed, choice, run.start, runs, progress)
        if waits is not None:
            blocked |= program[choice, layout.BLOCKS]
        node = progress.nodes
        put_run(runs[bank, place], target, node, run.start)
        if has_twin(bank, row, bound, rules, work, registers, waits):
            continue
        remembered = bit < 0 or progress.best_start < 0
        if not remembered and not remember_failure(work.memo, progress, bit, row + 1):
            return layout.MEMO_FULL
        nodes[node, layout.NODE_CHOICE] = choice
        nodes[node, layout.NODE_BEFORE] = run.node
        if waits is not None:
            nodes[node, layout.NODE_ROW] = row
        progress.nodes += 1
        progress.runs += 1
    if waits is not None:
        if run.node >= 0 and row < bound and blocked == 0 and waits[run.state] >= 0:
            return skip_row(run, bound, rules, work, registers, waits)
    return GOES_ON


@spliced
def skip_row(run: Run, bound: int, rules: Rules, work: Work, registers: Hook, waits: Hook) -> int:
    """Add the run as it is to the runs after the row: GOES_ON or RUNS_FULL."""
    runs, progress = work.runs, work.progress
    place, bank = progress.runs, run.bank
    if place == runs.shape[1]:
        return layout.RUNS_FULL
    copy_registers(run.place, 1 + 2 * place + bank, registers)
    put_run(runs[bank, place], waits[run.state], run.node, run.start)
    last = work.nodes[run.node, layout.NODE_ROW]
    if not has_twin(bank, last, bound, rules, work, registers, waits):
        progress.runs += 1
    return GOES_ON


@spliced
def has_twin(
    bank: int, row: int, bound: int, rules: Rules, work: Work, registers: Hook, waits: Hook
) -> bool:
    """Whether a run has the future of the one added next, which mapped `row`; if not, note it."""
    runs, progress, table = work.runs, work.progress, work.table
    place, stamp = progress.runs, progress.stamp
    state = runs[bank, place, layout.RUN_STATE]
    if registers is None:
        known = table[state, layout.TABLE_STAMP] == stamp
        known = known and table[state, layout.TABLE_ENTRY] == bound
        table[state, layout.TABLE_STAMP] = stamp
        table[state, layout.TABLE_ENTRY] = bound
        return bool(known)
    if not rules.merge_runs:
        return False
    own, live = registers[1 + 2 * place + bank], live_in(state, rules)
    twin = find_equal(state, bound, own, live, place, stamp, table)
    if waits is None:
        return twin != NONE
    if twin == NONE:
        return False
    other = work.nodes[runs[bank, twin, layout.RUN_NODE], layout.NODE_ROW]
    work.counters[layout.MERGES] += other == row
    return bool(other == row)


@inner
def wait(state: int, choice: int, start: int, runs: IntArray, progress: Progress) -> int:
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
def search_start(rules: Rules, rows: RowArrays, work: Work, registers: Hook, waits: Hook) -> int:
    status = find_match(rules, rows, work, registers, waits)
    if status != layout.DONE or work.progress.best_start < 0:
        return int(status)
    return write_best(rules, work, waits)


search = searching(search_start)


@spliced
def write_best(rules: Rules, work: Work, waits: Hook) -> int:
    """Write out the best match, as `finish_match`: DONE, OUTPUT_FULL or a failure."""
    progress, nodes, output = work.progress, work.nodes, work.output
    node, start, mapped = progress.best_node, progress.best_start, progress.mapped
    length = progress.best_end - start
    if waits is not None:
        length = count_rows(nodes, node)
    if not has_room(length, output, progress):
        progress.start = start
        return layout.OUTPUT_FULL
    unwind(nodes, node, layout.NODE_CHOICE, output.taken, mapped, length)
    if waits is not None:
        unwind(nodes, node, layout.NODE_ROW, output.rows, mapped, length)
        output.found[layout.FOUND_KIND, progress.matches] = A_MATCH
        rows = output.rows[mapped : mapped + length]
        return finish_match(start, length, rules, output, progress, rows)
    return finish_match(start, length, rules, output, progress, None)


@spliced
def find_match(rules: Rules, rows: RowArrays, work: Work, registers: Hook, waits: Hook) -> int:
    """Find the first match from progress.start on that begins before `until`. DONE or a status.

    It is progress.best_.... Where there is none, progress.start is the row after all starts.
    After NODES_FULL the search goes on where it was, after another status it begins again from the
    first starting row that lives.
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
                answer = np.int64(wait(run.state, run.node, run.start, runs, progress))
            else:
                answer = np.int64(expand(run, row, rules, rows, work, registers, waits))
            if answer != GOES_ON:
                break
        if waits is not None:
            work.counters[layout.READS] += count + begins
            work.counters[layout.RUNS_CREATED] += progress.runs
            most = max(work.counters[layout.MOST_LIVE], progress.runs)
            work.counters[layout.MOST_LIVE] = most
        if answer > GOES_ON:
            break
        progress.bank = 1 - bank
        count = progress.runs
        row += 1
    # back to the first starting row that lives; what is remembered of it is no failure yet
    if count > 0:
        row = runs[progress.bank, 0, layout.RUN_START]
    elif progress.best_start >= 0:
        row = progress.best_start
    progress.start = row
    forget(row, progress)
    return int(answer)
