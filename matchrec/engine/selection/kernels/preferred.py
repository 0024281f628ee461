"""All runs at once, row by row, for the preferred match of the first row that can start one.

As `breadth_first`, but the first run that accepts, in the order of depth-first search, beats all
behind it, and its match is final when no run before it lives. Acceptance has its own place among
the ways on from a state, so a run accepts one row after its last one. Of two runs with the same
future the first goes on. A condition that fails ends the search only where all before it is done.

Source: SASE+, "Basic algorithm"; the preferment order of ISO/IEC 19075-5.
"""

from matchrec.engine.contiguous.kernels.expansion import CUTS_OFF, wait
from matchrec.engine.contiguous.kernels.starts import is_anchored
from matchrec.engine.kernels.layout import (
    ACCEPT,
    BEST_NODE,
    BEST_START,
    BLOCKS,
    CONDITION_FAILED,
    DONE,
    GUARD,
    NODES,
    NODES_FULL,
    PARTITION,
    PATH_FULL,
    ROW,
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
from matchrec.engine.selection.kernels.backtracking import skip
from matchrec.engine.selection.kernels.buffer import add_node, compact
from matchrec.engine.selection.kernels.choosing import may_map
from matchrec.engine.selection.kernels.layout import (
    BANK,
    BEST_LENGTH,
    CHOICES,
    COMPLETES,
    COUNT,
    MATCHES_FOUND,
    MERGES,
    MOST_ALIVE,
    NODE_BEFORE,
    NODE_CHOICE,
    NODE_OTHER,
    NODE_ROW,
    READS,
    ROWS,
    RUNS_CREATED,
    Found,
    Rows,
    Rules,
    Work,
)
from matchrec.engine.selection.kernels.matches import write_path
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inner, kernel


@kernel
def search(rules: Rules, rows: Rows, work: Work, output: Found) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    progress = work.progress
    while progress[PARTITION] < rows.starts.shape[0] - 1:
        lower = rows.starts[progress[PARTITION]]
        upper = rows.starts[progress[PARTITION] + 1]
        while progress[START] < upper:
            status = find_match(lower, upper, rules, rows, work)
            start = progress[BEST_START]
            if status == DONE and start < 0:
                break
            if status == DONE:
                status = lay_out(progress[BEST_NODE], work)
            if status == DONE:
                progress[START] = start  # so that a search for more room need not begin before it
                status = write_path(progress[BEST_LENGTH], work, output)
            if status == DONE:
                status = skip(start, rules, work)
                work.counters[0, MATCHES_FOUND] += 1
            if status != DONE:
                return status
        progress[PARTITION] += 1
        progress[START] = upper
    return DONE


@inner
def find_match(lower: int, upper: int, rules: Rules, rows: Rows, work: Work) -> int:
    """Find the first match from progress[START] on, see progress[BEST_...]; DONE or a status."""
    progress, counters = work.progress, work.counters
    row = progress[START]
    progress[BEST_START] = -1
    progress[BANK] = 0
    progress[COUNT] = 0
    progress[NODES] = 0
    while row <= upper and (progress[COUNT] > 0 or progress[BEST_START] < 0):
        if 2 * progress[NODES] > work.nodes.shape[0]:
            compact(progress[BANK], row - 1, rows.window_end, work)  # a run may still accept
            if progress[BEST_START] >= 0 and progress[BEST_NODE] >= 0:
                progress[BEST_NODE] = work.moved[progress[BEST_NODE]]
            if 4 * progress[NODES] > work.nodes.shape[0]:
                return NODES_FULL
        status = step(row, lower, upper, rules, rows, work)
        if status > DONE:
            return status
        progress[BANK] = 1 - progress[BANK]
        progress[COUNT] = progress[RUNS]
        counters[0, MOST_ALIVE] = max(counters[0, MOST_ALIVE], progress[COUNT])
        row += 1
    return DONE


@inner
def step(row: int, lower: int, upper: int, rules: Rules, rows: Rows, work: Work) -> int:
    """Give a row, or the end of the partition, to all runs and to a new one; DONE or a status."""
    progress, runs = work.progress, work.runs
    bank = progress[BANK]
    progress[RUNS] = 0
    progress[STAMP] += 1
    begins = int(progress[BEST_START] < 0 and row < upper)
    for run in range(progress[COUNT] + begins):
        state, node, start, place = 0, -1, row, 2 * runs.shape[1]
        if run < progress[COUNT]:
            state, node = runs[bank, run, RUN_STATE], runs[bank, run, RUN_NODE]
            start, place = runs[bank, run, RUN_START], bank * runs.shape[1] + run
        work.counters[0, READS] += 1
        if state < 0:
            status = wait(state, node, start, 1 - bank, runs, progress)
        else:
            status = expand(state, node, start, place, row, lower, upper, rules, rows, work)
        if status != DONE:
            return status
    return DONE


@inner
def expand(
    state: int,
    node: int,
    start: int,
    place: int,
    row: int,
    lower: int,
    upper: int,
    rules: Rules,
    rows: Rows,
    work: Work,
) -> int:
    """Add what follows from a run at `row` to the runs behind it; DONE, CUTS_OFF or a status."""
    progress, runs, program = work.progress, work.runs, rules.program
    bank = 1 - progress[BANK]
    is_open = row < upper and row < rows.window_end[start]
    blocked = False
    for choice in range(rules.first[state], rules.first[state + 1]):
        if program[choice, TARGET] == ACCEPT:
            arrived = node < 0 or work.nodes[node, NODE_ROW] == row - 1
            guard = program[choice, GUARD]
            if arrived and (guard == 0 or is_anchored(guard, row, lower, upper)):
                keep_best(start, node, work)
                return CUTS_OFF
            continue
        if not is_open:
            continue
        run = progress[RUNS]
        if run == runs.shape[1]:
            return RUNS_FULL
        after = bank * runs.shape[1] + run
        answer = may_map(choice, place, after, row, lower, upper, rules, rows, work)
        if answer == HOLDS_NOT:
            continue
        if answer != HOLDS:
            progress[ROW] = row
            return wait(-(CONDITION_FAILED + answer), choice, start, bank, runs, progress)
        blocked = blocked or program[choice, BLOCKS] != 0
        chosen = add_node(choice, row, node, -1, start, work)
        if chosen < 0:
            return NODES_FULL
        go_on(program[choice, TARGET], chosen, start, bank, rules, rows, work)
    if node >= 0 and is_open and not blocked and rules.waits[state] >= 0:
        if progress[RUNS] == runs.shape[1]:
            return RUNS_FULL
        after = bank * runs.shape[1] + progress[RUNS]
        for register in range(work.registers.shape[1]):
            work.registers[after, register] = work.registers[place, register]
        go_on(state, node, start, bank, rules, rows, work)
    return DONE


@inner
def go_on(
    state: int, node: int, start: int, bank: int, rules: Rules, rows: Rows, work: Work
) -> None:
    """Add a run, whose registers stand in their place, unless one before it has its future."""
    runs, run = work.runs, work.progress[RUNS]
    runs[bank, run, RUN_STATE] = state
    runs[bank, run, RUN_NODE] = node
    runs[bank, run, RUN_START] = start
    work.counters[0, RUNS_CREATED] += 1
    twin = find_twin(bank, run, rules, work, None) if rules.merge_runs else NONE
    if twin != NONE:
        arrived = work.nodes[node, NODE_ROW] == work.nodes[runs[bank, twin, RUN_NODE], NODE_ROW]
        same_end = rows.window_end[start] == rows.window_end[runs[bank, twin, RUN_START]]
        if same_end and arrived:
            work.counters[0, MERGES] += 1
            return
    work.progress[RUNS] = run + 1


@inner
def keep_best(start: int, node: int, work: Work) -> None:
    """Make the run at a node the best match; its nodes are kept as those of a match."""
    progress, nodes = work.progress, work.nodes
    if progress[BEST_START] >= 0 and progress[BEST_NODE] >= 0:
        nodes[progress[BEST_NODE], NODE_OTHER] = -1
    if node >= 0:
        nodes[node, NODE_OTHER] = COMPLETES
    progress[BEST_START] = start
    progress[BEST_NODE] = node


@inner
def lay_out(node: int, work: Work) -> int:
    """Write the match that ends at a node to `path`, first row first; DONE or PATH_FULL."""
    nodes, path = work.nodes, work.path
    length = 0
    at = node
    while at >= 0:
        length += 1
        at = nodes[at, NODE_BEFORE]
    if length > path.shape[1]:
        return PATH_FULL
    at = node
    for index in range(length - 1, -1, -1):
        path[ROWS, index] = nodes[at, NODE_ROW]
        path[CHOICES, index] = nodes[at, NODE_CHOICE]
        at = nodes[at, NODE_BEFORE]
    work.progress[BEST_LENGTH] = length
    return DONE
