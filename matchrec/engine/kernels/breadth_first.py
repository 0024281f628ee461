"""All runs at once, row by row: one pass over the rows for all starting rows.

Runs are kept in preferment order, and those of earlier starting rows come first, so the first one
that accepts beats all behind it, and the match is final when no run before it lives. Until a run
has accepted, each row starts a run of its own, the least preferred one.

What was reached behind the best match and died has failed; that is remembered, because the next
search comes there again. A failing condition ends the search only when all runs before it died:
depth-first search would not have met it earlier. With windows, whose ends never go back, a run that
began later lives longer: runs merge where their windows end together, and nothing is remembered.

Cost: rows x choices where conditions look only at the data, in windows times the rows of a window,
else rows x runs; runs of equal computation states merge. Sources: SASE+, "Basic algorithm" and
"Merging equivalent runs"; with nothing that depends on the run, it is the machine of Pike and
Thompson.
"""

from matchrec.engine.kernels.buffer import compact, unwind
from matchrec.engine.kernels.expansion import GOES_ON, expand
from matchrec.engine.kernels.layout import (
    ASKED,
    BEST_END,
    BEST_NODE,
    BEST_START,
    DONE,
    FAILED_START,
    MAPPED,
    MEMO_FROM,
    MEMO_TO,
    MORE_ROWS,
    NEEDED,
    NO_EDGE,
    NODES,
    NODES_FULL,
    NUMBER,
    OUTPUT_FULL,
    PARTITION,
    RUN_NODE,
    RUN_START,
    RUN_STATE,
    RUNS,
    STAMP,
    START,
    ByteArray,
    ChoiceArray,
    RunArray,
)
from matchrec.engine.kernels.starts import edge_of, finish_match, has_room
from matchrec.engine.partitions import IntArray
from matchrec.jit.decorators import inlined, inner, kernel


@kernel
def search(
    first: IntArray,
    program: IntArray,
    starts: IntArray,
    searched: IntArray,
    satisfied: IntArray,
    window_end: IntArray,
    skip_to: int,
    merge_runs: bool,
    runs: IntArray,
    nodes: ChoiceArray,
    moved: ChoiceArray,
    seen: IntArray,
    memo: ByteArray,
    found: IntArray,
    taken: ChoiceArray,
    progress: IntArray,
    instructions: RunArray,
    registers: RunArray,
    columns: RunArray,
    valid: RunArray,
    stack: RunArray,
    live_first: RunArray,
    live: RunArray,
    table: RunArray,
) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    while progress[PARTITION] < starts.shape[0] - 1:
        lower = starts[progress[PARTITION]]
        upper = starts[progress[PARTITION] + 1]
        edge = edge_of(starts, progress)
        until = searched[1, progress[PARTITION]]
        while progress[START] < until:
            status = find_match(
                first,
                program,
                satisfied,
                window_end,
                merge_runs,
                runs,
                nodes,
                moved,
                seen,
                memo,
                progress,
                edge,
                lower,
                upper,
                until,
                instructions,
                registers,
                columns,
                valid,
                stack,
                live_first,
                live,
                table,
            )
            if status != DONE:
                return status
            start = progress[BEST_START]
            if start < 0:
                break
            length = progress[BEST_END] - start
            if not has_room(found, taken, progress, length):
                progress[START] = start
                progress[NEEDED] = length
                return OUTPUT_FULL
            unwind(nodes, progress[BEST_NODE], taken, progress[MAPPED], length)
            status = finish_match(program, skip_to, found, taken, progress, start, length)
            if status != DONE:
                return status
        if edge != NO_EDGE:
            return MORE_ROWS
        progress[PARTITION] += 1
        progress[START] = searched[0, progress[PARTITION]]
        progress[NUMBER] = 0
        progress[ASKED] = 0
        progress[MEMO_FROM] = progress[START]
        progress[MEMO_TO] = progress[START]
    return DONE


@inlined
def find_match(
    first: IntArray,
    program: IntArray,
    satisfied: IntArray,
    window_end: IntArray,
    merge_runs: bool,
    runs: IntArray,
    nodes: ChoiceArray,
    moved: ChoiceArray,
    seen: IntArray,
    memo: ByteArray,
    progress: IntArray,
    edge: int,
    lower: int,
    upper: int,
    until: int,
    instructions: RunArray,
    registers: RunArray,
    columns: RunArray,
    valid: RunArray,
    stack: RunArray,
    live_first: RunArray,
    live: RunArray,
    table: RunArray,
) -> int:
    """Find the first match from progress[START] on that begins before `until`. DONE or a status.

    It is progress[BEST_...].
    """
    row = progress[START]
    bank = 0
    count = 0
    progress[BEST_START] = -1
    progress[NODES] = 0
    while True:
        if row >= edge:
            return forget(progress, runs, bank, count, row, MORE_ROWS)
        if count == 0 and progress[BEST_START] < 0:
            progress[NODES] = 0
            if row >= until:
                progress[START] = row
                return DONE
        elif 2 * progress[NODES] > nodes.shape[0]:
            compact(nodes, moved, runs, bank, count, progress)
            if 4 * progress[NODES] > nodes.shape[0]:
                return forget(progress, runs, bank, count, row, NODES_FULL)
        progress[STAMP] += 1
        progress[RUNS] = 0
        answer = GOES_ON
        new_run = int(progress[BEST_START] < 0 and row < until)
        for run in range(count + new_run):
            state, node, start, place = 0, -1, row, 2 * runs.shape[1]
            if run < count:
                state = runs[bank, run, RUN_STATE]
                node = runs[bank, run, RUN_NODE]
                start = runs[bank, run, RUN_START]
                place = bank * runs.shape[1] + run
            answer = expand(
                state,
                node,
                start,
                place,
                row,
                first,
                program,
                satisfied,
                window_end,
                merge_runs,
                runs,
                1 - bank,
                nodes,
                seen,
                memo,
                progress,
                lower,
                upper,
                instructions,
                registers,
                columns,
                valid,
                stack,
                live_first,
                live,
                table,
            )
            if answer != GOES_ON:
                progress[FAILED_START] = start
                break
        if answer > GOES_ON:
            return forget(progress, runs, bank, count, row, answer)
        bank = 1 - bank
        count = progress[RUNS]
        if count == 0 and progress[BEST_START] >= 0:
            return DONE
        row += 1


@inner
def forget(progress: IntArray, runs: IntArray, bank: int, count: int, row: int, status: int) -> int:
    """The status of a search that must begin again, from the first starting row that lives.

    What it has remembered of runs that still live is no failure yet.
    """
    if count > 0:
        row = runs[bank, 0, RUN_START]
    elif progress[BEST_START] >= 0:
        row = progress[BEST_START]
    progress[START] = row
    progress[MEMO_FROM] = row
    progress[MEMO_TO] = row
    return status
