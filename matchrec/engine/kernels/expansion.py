"""One row of one run: the choices that are open to it become runs at the next row.

A condition that fails (overflow, division by zero) does not end the search at once: what is
preferred to it may still match, and depth-first search would then never have asked it. It waits in
the place of its run.
"""

from matchrec.engine.kernels.layout import (
    ACCEPT,
    BEST_END,
    BEST_NODE,
    BEST_START,
    CHOICE,
    CONDITION_FAILED,
    GUARD,
    MASK,
    MEMO,
    MEMO_FROM,
    MEMO_FULL,
    NEEDED,
    NODE_CHOICE,
    NODE_PREDECESSOR,
    NODES,
    NODES_FULL,
    NOT_REMEMBERED,
    ROW,
    RUN_NODE,
    RUN_START,
    RUN_STATE,
    RUNS,
    RUNS_FULL,
    SEEN_AT,
    SEEN_WINDOW,
    STAMP,
    START,
    TARGET,
    TOO_MANY_STEPS,
    WORD,
    ByteArray,
    ChoiceArray,
    RunArray,
)
from matchrec.engine.kernels.mapping import is_asked_too_often, map_row
from matchrec.engine.kernels.memo import has_failed, remember_failure
from matchrec.engine.kernels.merging import NONE, find_twin_in_window
from matchrec.engine.kernels.starts import end_of_window, is_anchored
from matchrec.engine.partitions import IntArray
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inlined, inner

# What `expand` answers, beside the statuses of `layout`.
GOES_ON = 0
CUTS_OFF = -1  # no less preferred run matters any more


@inlined
def expand(
    state: int,
    node: int,
    start: int,
    place: int,
    row: int,
    first: IntArray,
    program: IntArray,
    satisfied: IntArray,
    window_end: IntArray,
    merge_runs: bool,
    runs: IntArray,
    bank: int,
    nodes: ChoiceArray,
    seen: IntArray,
    memo: ByteArray,
    progress: IntArray,
    lower: int,
    upper: int,
    instructions: RunArray,
    registers: RunArray,
    columns: RunArray,
    valid: RunArray,
    stack: RunArray,
    live_first: RunArray,
    live: RunArray,
    table: RunArray,
) -> int:
    """Add what follows from a run at `row` to the runs in `bank`; GOES_ON, CUTS_OFF or a status."""
    if state < 0:
        return wait(state, node, start, runs, bank, progress)
    bound = end_of_window(window_end, start, upper)
    for choice in range(first[state], first[state + 1]):
        guard = program[choice, GUARD]
        if guard != 0 and not is_anchored(guard, row, lower, upper):
            continue
        target = program[choice, TARGET]
        if target == ACCEPT:
            progress[BEST_START] = start
            progress[BEST_END] = row
            progress[BEST_NODE] = node
            progress[MEMO_FROM] = max(progress[MEMO_FROM], row + 1)
            return CUTS_OFF
        mask = program[choice, MASK]
        if row >= bound or satisfied[row, program[choice, WORD]] & mask != mask:
            continue
        bit = program[choice, MEMO] if window_end.shape[0] == 0 else NOT_REMEMBERED
        if bit >= 0 and has_failed(memo, progress, bit, row + 1):
            continue
        run = progress[RUNS]
        if run == runs.shape[1]:
            return RUNS_FULL
        runs[bank, run, RUN_STATE] = target
        runs[bank, run, RUN_START] = start
        if registers is None:
            same_row = seen[target, SEEN_AT] == progress[STAMP]
            if merge_runs and same_row and seen[target, SEEN_WINDOW] == bound:
                continue
            seen[target, SEEN_AT] = progress[STAMP]
            seen[target, SEEN_WINDOW] = bound
        else:
            if is_asked_too_often(progress):
                return TOO_MANY_STEPS
            answer = map_row(
                program,
                choice,
                place,
                bank * runs.shape[1] + run,
                row,
                lower,
                upper,
                instructions,
                registers,
                columns,
                valid,
                stack,
            )
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                progress[ROW] = row
                return wait(-(CONDITION_FAILED + answer), choice, start, runs, bank, progress)
            if merge_runs:
                twin = find_twin_in_window(
                    runs,
                    bank,
                    run,
                    registers,
                    bank * runs.shape[1],
                    live_first,
                    live,
                    table,
                    progress[STAMP],
                    window_end,
                )
                if twin != NONE:
                    continue
        if progress[NODES] == nodes.shape[0]:
            return NODES_FULL
        remembered = bit < 0 or progress[BEST_START] < 0
        if not remembered and not remember_failure(memo, progress, bit, row + 1):
            progress[NEEDED] = row + 2 - progress[START]
            return MEMO_FULL
        nodes[progress[NODES], NODE_CHOICE] = choice
        nodes[progress[NODES], NODE_PREDECESSOR] = node
        runs[bank, run, RUN_NODE] = progress[NODES]
        progress[NODES] += 1
        progress[RUNS] += 1
    return GOES_ON


@inner
def wait(state: int, choice: int, start: int, runs: IntArray, bank: int, progress: IntArray) -> int:
    """Keep a run whose condition has failed behind the runs before it, or fail with the last.

    It cuts all behind it off, so only one is ever kept; progress[ROW] says where it has failed.
    """
    run = progress[RUNS]
    if run == 0:
        progress[CHOICE] = choice
        return -state
    if run == runs.shape[1]:
        return RUNS_FULL
    runs[bank, run, RUN_STATE] = state
    runs[bank, run, RUN_NODE] = choice
    runs[bank, run, RUN_START] = start
    progress[RUNS] += 1
    return CUTS_OFF
