"""One row of one run: the choices that are open to it become runs at the next row.

A condition that fails (overflow, division by zero) does not end the search at once: what is
preferred to it may still match, and depth-first search would then never have asked it. It waits in
the place of its run.
"""

from typing import NamedTuple

from matchrec.engine.contiguous.kernels.starts import end_of_window, is_anchored
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import Partition, Rows, Rules, RunArray, RunsWork
from matchrec.engine.kernels.mapping import OnRun, Places, map_row, takes_too_many_steps
from matchrec.engine.kernels.memo import has_failed, remember_failure
from matchrec.engine.kernels.merging import NONE, find_twin, merging_of
from matchrec.engine.partitions import IntArray
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inner, spliced

# What `expand` answers, beside the statuses of `layout`.
GOES_ON = 0
CUTS_OFF = -1  # no less preferred run matters any more


class Run(NamedTuple):
    """A run: a row of `runs`, and the place of its registers."""

    state: int
    node: int
    start: int
    place: int


@spliced
def expand(
    run: Run,
    bank: int,
    row: int,
    partition: Partition,
    rules: Rules,
    rows: Rows,
    work: RunsWork,
    registers: RunArray,
    on_run: OnRun,
) -> int:
    """Add what follows from a run at `row` to the runs in `bank`; GOES_ON, CUTS_OFF or a status."""
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    runs, nodes, memo, progress = work.runs, work.nodes, work.memo, work.progress
    window_end, longest, merges = rows.window_end, rules.longest, rules.merge_runs
    merging, stamp = merging_of(rules, work), progress[layout.STAMP]
    if run.state < 0:
        return wait(run.state, run.node, run.start, bank, runs, progress)
    bound = end_of_window(window_end, run.start, partition.upper)
    for choice in range(first[run.state], first[run.state + 1]):
        guard = program[choice, layout.GUARD]
        if guard != 0 and not is_anchored(guard, row, partition.lower, partition.upper):
            continue
        target = program[choice, layout.TARGET]
        if target == layout.ACCEPT and longest:
            note_longer(run, row, progress)
            continue
        if target == layout.ACCEPT:
            progress[layout.BEST_START] = run.start
            progress[layout.BEST_END] = row
            progress[layout.BEST_NODE] = run.node
            if progress[layout.MEMO_FROM] <= row:
                progress[layout.MEMO_FROM] = row + 1
            return CUTS_OFF
        mask = program[choice, layout.MASK]
        if row >= bound or satisfied[row, program[choice, layout.WORD]] & mask != mask:
            continue
        bit = program[choice, layout.MEMO]
        if window_end.shape[0] > 0 or longest:
            bit = layout.NOT_REMEMBERED
        if bit >= 0 and has_failed(memo, progress, bit, row + 1):
            continue
        place = progress[layout.RUNS]
        if place == runs.shape[1]:
            return layout.RUNS_FULL
        runs[bank, place, layout.RUN_STATE] = target
        runs[bank, place, layout.RUN_START] = run.start
        if registers is None:
            if merges and is_seen(target, bound, work.seen, stamp):
                continue
        else:
            if takes_too_many_steps(progress):
                return layout.TOO_MANY_STEPS
            places = Places(run.place, bank * runs.shape[1] + place)
            answer = map_row(choice, places, row, program, on_run)
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                progress[layout.ROW] = row
                failed = -(layout.CONDITION_FAILED + answer)
                return wait(failed, choice, run.start, bank, runs, progress)
            if merges and find_twin(bank, place, target, merging, stamp, window_end) != NONE:
                continue
        remembered = bit < 0 or progress[layout.BEST_START] < 0
        if not remembered and not remember_failure(memo, progress, bit, row + 1):
            progress[layout.NEEDED] = row + 2 - progress[layout.START]
            return layout.MEMO_FULL
        nodes[progress[layout.NODES], layout.NODE_CHOICE] = choice
        nodes[progress[layout.NODES], layout.NODE_PREDECESSOR] = run.node
        runs[bank, place, layout.RUN_NODE] = progress[layout.NODES]
        progress[layout.NODES] += 1
        progress[layout.RUNS] += 1
    return GOES_ON


@spliced
def note_longer(run: Run, row: int, progress: IntArray) -> None:
    """Make a run that accepts the best match, unless one is before it that is as long.

    Of the runs that are looked at, those of one starting row come one after the other, and none is
    of a later starting row than the best match.
    """
    if progress[layout.BEST_START] != run.start or progress[layout.BEST_END] < row:
        progress[layout.BEST_START] = run.start
        progress[layout.BEST_END] = row
        progress[layout.BEST_NODE] = run.node


@spliced
def is_seen(state: int, bound: int, seen: IntArray, stamp: int) -> bool:
    """Whether a run has come to a state at this row, with a window that ends there; now one has."""
    if seen[state, layout.SEEN_AT] == stamp and seen[state, layout.SEEN_WINDOW] == bound:
        return True
    seen[state, layout.SEEN_AT] = stamp
    seen[state, layout.SEEN_WINDOW] = bound
    return False


@inner
def wait(state: int, choice: int, start: int, bank: int, runs: IntArray, progress: IntArray) -> int:
    """Keep a run whose condition has failed after the runs preferred to it, or fail with the last.

    It cuts off all runs after it, so only one is ever kept; progress[ROW] says where it has failed.
    """
    run = progress[layout.RUNS]
    if run == 0:
        progress[layout.CHOICE] = choice
        return -state
    if run == runs.shape[1]:
        return layout.RUNS_FULL
    runs[bank, run, layout.RUN_STATE] = state
    runs[bank, run, layout.RUN_NODE] = choice
    runs[bank, run, layout.RUN_START] = start
    progress[layout.RUNS] += 1
    return CUTS_OFF
