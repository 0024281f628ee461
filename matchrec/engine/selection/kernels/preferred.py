"""All runs at once, row by row, for the preferred match of the first row that can start one.

As `breadth_first`, but the first run that accepts, in the order of depth-first search, beats all
after it, and its match is final when no run before it lives. Acceptance has its own place among
the ways on from a state, so a run accepts one row after its last one. Of two runs with the same
future the first goes on. A condition that fails ends the search only where all before it is done.

Source: SASE+, "Basic algorithm"; the preferment order of ISO/IEC 19075-5.
"""

import numpy as np

from matchrec.engine.contiguous.kernels.expansion import CUTS_OFF, Run, wait
from matchrec.engine.contiguous.kernels.starts import is_anchored, whole_partition
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.mapping import OnRun, Places, copy_registers, on_run_of
from matchrec.engine.kernels.merging import NONE, find_twin, merging_of
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.buffer import add_node, compact
from matchrec.engine.selection.kernels.choosing import may_map
from matchrec.engine.selection.kernels.layout import Found, Rows, Rules, Work
from matchrec.engine.selection.kernels.matches import write_path
from matchrec.engine.selection.kernels.skipping import skip
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import kernel, spliced


@kernel
def search(rules: Rules, rows: Rows, work: Work, output: Found) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    path, progress, counters = work.path, work.progress, work.counters
    while progress[layout.PARTITION] < rows.starts.shape[0] - 1:
        partition = whole_partition(rows.starts, progress)
        on_run = on_run_of(partition, rules, rows, work)
        while progress[layout.START] < partition.upper:
            status = find_match(rules, rows, work, on_run)
            start = progress[layout.BEST_START]
            if status == layout.DONE and start < 0:
                break
            if status == layout.DONE:
                status = lay_out(progress[layout.BEST_NODE], work)
            if status == layout.DONE:
                progress[layout.START] = start  # a search for more room need not begin before it
                status = write_path(progress[own.BEST_LENGTH], path, progress, output)
            if status == layout.DONE:
                status = skip(start, rules, work)
                counters[own.MATCHES_FOUND] += 1
            if status != layout.DONE:
                return status
        progress[layout.PARTITION] += 1
        progress[layout.NUMBER] = 0
        progress[layout.START] = partition.upper
    return layout.DONE


@spliced
def find_match(rules: Rules, rows: Rows, work: Work, on_run: OnRun) -> int:
    """Find the first match from progress[START] on, see progress[BEST_...]; DONE or a status."""
    progress, counters = work.progress, work.counters
    runs, nodes, moved = work.runs, work.nodes, work.moved
    window_end, upper = rows.window_end, on_run.given.upper
    row = progress[layout.START]
    progress[layout.BEST_START] = -1
    progress[layout.BANK] = 0
    progress[layout.COUNT] = 0
    progress[layout.NODES] = 0
    while row <= upper and (progress[layout.COUNT] > 0 or progress[layout.BEST_START] < 0):
        if 2 * progress[layout.NODES] > nodes.shape[0]:
            compact(
                progress[layout.BANK], row - 1, window_end, runs, nodes, moved, progress, counters
            )  # a run may still accept
            if progress[layout.BEST_START] >= 0 and progress[layout.BEST_NODE] >= 0:
                progress[layout.BEST_NODE] = moved[progress[layout.BEST_NODE]]
            if 4 * progress[layout.NODES] > nodes.shape[0]:
                return layout.NODES_FULL
        noted = progress[layout.NODES]
        status = step(row, rules, rows, work, on_run)
        counters[own.NODES_CREATED] += progress[layout.NODES] - noted
        if status > layout.DONE:
            return status
        progress[layout.BANK] = 1 - progress[layout.BANK]
        progress[layout.COUNT] = progress[layout.RUNS]
        counters[own.MOST_LIVE] = max(counters[own.MOST_LIVE], progress[layout.COUNT])
        row += 1
    return layout.DONE


@spliced
def step(row: int, rules: Rules, rows: Rows, work: Work, on_run: OnRun) -> int:
    """Give a row, or the end of the partition, to all runs and to a new one; DONE or a status."""
    progress, runs, counters = work.progress, work.runs, work.counters
    bank = progress[layout.BANK]
    progress[layout.RUNS] = 0
    progress[layout.STAMP] += 1
    begins = int(progress[layout.BEST_START] < 0 and row < on_run.given.upper)
    for run in range(progress[layout.COUNT] + begins):
        one = Run(np.int64(0), np.int64(-1), row, 2 * runs.shape[1])
        if run < progress[layout.COUNT]:
            one = Run(
                runs[bank, run, layout.RUN_STATE],
                runs[bank, run, layout.RUN_NODE],
                runs[bank, run, layout.RUN_START],
                bank * runs.shape[1] + run,
            )
        counters[own.READS] += 1
        if one.state < 0:
            status = wait(one.state, one.node, one.start, 1 - bank, runs, progress)
        else:
            status = expand(one, row, rules, rows, work, on_run)
        if status != layout.DONE:
            return status
    return layout.DONE


@spliced
def expand(one: Run, row: int, rules: Rules, rows: Rows, work: Work, on_run: OnRun) -> int:
    """Add what follows from a run at `row` to the next row's runs: DONE, CUTS_OFF or a status."""
    state, node, start, place = one.state, one.node, one.start, one.place
    progress, runs, nodes, waits = work.progress, work.runs, work.nodes, rules.waits
    program, states, satisfied = rules.program, rules.first, rows.satisfied
    lower, upper = on_run.given.lower, on_run.given.upper
    bank = 1 - progress[layout.BANK]
    is_open = row < upper and row < rows.window_end[start]
    blocked = False
    last = states[state + 1]
    for choice in range(states[state], last + 1):  # the place after the choices is that of waiting
        if choice < last and program[choice, layout.TARGET] == layout.ACCEPT:
            arrived = node < 0 or nodes[node, own.NODE_ROW] == row - 1
            guard = program[choice, layout.GUARD]
            if arrived and (guard == 0 or is_anchored(guard, row, lower, upper)):
                keep_best(start, node, work)
                return CUTS_OFF
            continue
        if not is_open or (choice == last and (node < 0 or blocked or waits[state] < 0)):
            continue
        if progress[layout.RUNS] == runs.shape[1]:
            return layout.RUNS_FULL
        after = bank * runs.shape[1] + progress[layout.RUNS]
        onward, chosen = state, node
        if choice == last:
            copy_registers(place, after, on_run.registers)
        else:
            answer = may_map(choice, Places(place, after), row, rules, satisfied, on_run)
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                progress[layout.ROW] = row
                failed = -(layout.CONDITION_FAILED + answer)
                return wait(failed, choice, start, bank, runs, progress)
            onward = program[choice, layout.TARGET]
            blocked = blocked or program[choice, layout.BLOCKS] != 0
            chosen = add_node(choice, row, node, -1, start, nodes, progress)
            if chosen < 0:
                return layout.NODES_FULL
        add_run(onward, chosen, start, bank, rules, rows, work)
    return layout.DONE


@spliced
def add_run(
    state: int, node: int, start: int, bank: int, rules: Rules, rows: Rows, work: Work
) -> None:
    """Add a run, whose registers stand in their place, unless one before it has its future."""
    runs, nodes = work.runs, work.nodes
    progress, counters = work.progress, work.counters
    window_end, merges, merging = rows.window_end, rules.merge_runs, merging_of(rules, work)
    run = progress[layout.RUNS]
    runs[bank, run, layout.RUN_STATE] = state
    runs[bank, run, layout.RUN_NODE] = node
    runs[bank, run, layout.RUN_START] = start
    counters[own.RUNS_CREATED] += 1
    twin = find_twin(bank, run, state, merging, progress[layout.STAMP], None) if merges else NONE
    if twin != NONE:
        other = runs[bank, twin, layout.RUN_NODE]
        arrived = nodes[node, own.NODE_ROW] == nodes[other, own.NODE_ROW]
        same_end = window_end[start] == window_end[runs[bank, twin, layout.RUN_START]]
        if same_end and arrived:
            counters[own.MERGES] += 1
            return
    progress[layout.RUNS] = run + 1


@spliced
def keep_best(start: int, node: int, work: Work) -> None:
    """Make the run at a node the best match; its nodes are kept as those of a match."""
    progress, nodes = work.progress, work.nodes
    if progress[layout.BEST_START] >= 0 and progress[layout.BEST_NODE] >= 0:
        nodes[progress[layout.BEST_NODE], own.NODE_OTHER] = -1
    if node >= 0:
        nodes[node, own.NODE_OTHER] = own.COMPLETES
    progress[layout.BEST_START] = start
    progress[layout.BEST_NODE] = node


@spliced
def lay_out(node: int, work: Work) -> int:
    """Write the match that ends at a node to `path`, first row first; DONE or PATH_FULL."""
    nodes, path = work.nodes, work.path
    length = 0
    at = node
    while at >= 0:
        length += 1
        at = nodes[at, own.NODE_BEFORE]
    if length > path.shape[1]:
        return layout.PATH_FULL
    at = node
    for index in range(length - 1, -1, -1):
        path[own.ROWS, index] = nodes[at, own.NODE_ROW]
        path[own.CHOICES, index] = nodes[at, own.NODE_CHOICE]
        at = nodes[at, own.NODE_BEFORE]
    work.progress[own.BEST_LENGTH] = length
    return layout.DONE
