"""All runs at once, row by row: one pass over the rows for all starting rows.

Runs are kept in preferment order, and those of earlier starting rows come first, so the first one
that accepts beats all after it, and the match is final when no run before it lives. Until a run
has accepted, each row starts a run of its own, the least preferred one.

What was reached after the best match and died has failed; that is remembered, because the next
search comes there again. A failing condition ends the search only when all runs before it died:
depth-first search would not have met it earlier. With windows, whose ends never go back, a run that
began later lives longer: runs merge where their windows end together, and nothing is remembered.

Where the longest match of a starting row is asked for, a run that accepts beats those of later
starting rows only, and the others of its own row go on until all of them died.

Cost: rows x choices where conditions look only at the data, in windows times the rows of a window,
else rows x runs; runs of equal computation states merge. Sources: SASE+, "Basic algorithm" and
"Merging equivalent runs"; with nothing that depends on the run, it is the machine of Pike and
Thompson.
"""

import numpy as np

from matchrec.engine.contiguous.kernels.expansion import GOES_ON, Run, expand
from matchrec.engine.contiguous.kernels.starts import finish_match, has_room, search_partitions
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.buffer import unwind
from matchrec.engine.kernels.layout import Found, Partition, Rows, Rules, RunArray, RunsWork
from matchrec.engine.kernels.mapping import on_run_of
from matchrec.engine.partitions import IntArray
from matchrec.jit.decorators import kernel, spliced


@kernel
def search(rules: Rules, rows: Rows, work: RunsWork, output: Found, registers: RunArray) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    return search_partitions(search_start, rules, rows, work, output, registers)


@spliced
def search_start(
    partition: Partition,
    rules: Rules,
    rows: Rows,
    work: RunsWork,
    output: Found,
    registers: RunArray,
) -> int:
    """Write out the first match from progress[START] on, and go on to the next starting row."""
    status = find_match(partition, rules, rows, work, registers)
    if status != layout.DONE or work.progress[layout.BEST_START] < 0:
        return int(status)
    return write_best(rules, work, output)


@spliced
def write_best(rules: Rules, work: RunsWork, output: Found) -> int:
    """Write out the best match, as `finish_match`: DONE, OUTPUT_FULL or a failure."""
    progress = work.progress
    start = progress[layout.BEST_START]
    length = progress[layout.BEST_END] - start
    found, taken = output.found, output.taken
    if not has_room(found, taken, progress, length):
        progress[layout.START] = start
        progress[layout.NEEDED] = length
        return layout.OUTPUT_FULL
    node, mapped = progress[layout.BEST_NODE], progress[layout.MAPPED]
    unwind(work.nodes, node, taken, mapped, length)
    is_target = rules.program[:, layout.IS_TARGET]
    skip, forgets = rules.skip, rules.forgets
    return finish_match(skip, is_target, forgets, found, taken, progress, start, length)


@spliced
def find_match(
    partition: Partition, rules: Rules, rows: Rows, work: RunsWork, registers: RunArray
) -> int:
    """Find the first match from progress[START] on that begins before `until`. DONE or a status.

    It is progress[BEST_...]. Where there is none, progress[START] is the row after all starts.
    After NODES_FULL the search goes on where it was, after another status it begins again from the
    first starting row that lives.
    """
    runs, progress, longest = work.runs, work.progress, rules.longest
    on_run = on_run_of(partition, rules, rows, work)
    bank, count, row = progress[layout.BANK], progress[layout.COUNT], progress[layout.NEXT_ROW]
    progress[layout.COUNT] = 0
    if count == 0:
        row = progress[layout.START]
        progress[layout.BEST_START] = -1
    answer = np.int64(GOES_ON)
    while True:
        wants_more = progress[layout.BEST_START] < 0
        if count == 0 and not wants_more:
            return layout.DONE
        if count == 0:
            progress[layout.NODES] = 0
        if progress[layout.NODES] + runs.shape[1] > work.nodes.shape[0]:
            progress[layout.BANK] = bank
            progress[layout.COUNT] = count
            progress[layout.NEXT_ROW] = row
            return layout.NODES_FULL
        if row >= partition.edge:
            answer = np.int64(layout.MORE_ROWS)
            break
        begins = int(wants_more and row < partition.until)
        if count + begins == 0:
            progress[layout.START] = row
            return layout.DONE
        progress[layout.STAMP] += 1
        progress[layout.RUNS] = 0
        for index in range(count + begins):
            run = Run(np.int64(0), np.int64(-1), row, 2 * runs.shape[1])
            if index < count:
                run = Run(
                    runs[bank, index, layout.RUN_STATE],
                    runs[bank, index, layout.RUN_NODE],
                    runs[bank, index, layout.RUN_START],
                    bank * runs.shape[1] + index,
                )
            if longest and 0 <= progress[layout.BEST_START] < run.start:
                break
            answer = expand(run, 1 - bank, row, partition, rules, rows, work, registers, on_run)
            if answer != GOES_ON:
                break
        if answer > GOES_ON:
            break
        bank = 1 - bank
        count = progress[layout.RUNS]
        row += 1
    begin_again(bank, count, row, runs, progress)
    return int(answer)


@spliced
def begin_again(bank: int, count: int, row: int, runs: IntArray, progress: IntArray) -> None:
    """Go back to the first starting row that lives, of a search that cannot look at `row`.

    What it has remembered of runs that still live is no failure yet.
    """
    if count > 0:
        row = runs[bank, 0, layout.RUN_START]
    elif progress[layout.BEST_START] >= 0:
        row = progress[layout.BEST_START]
    progress[layout.START] = row
    progress[layout.MEMO_FROM] = row
    progress[layout.MEMO_TO] = row
