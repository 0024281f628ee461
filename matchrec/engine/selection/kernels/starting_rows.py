"""The kernels that go the ways of `backtracking` from starting row to starting row.

*Matches*: those that are asked for.

*Coverage*: of each starting row whether it begins a match, and otherwise how far its nearest run
came. The first match ends the search of its starting row, and without one the nearest run is
counted. The computation states that a starting row has seen are kept, as equal ones have the same
future. Cost: the rows of a window, or of a partition without one, for each starting row, times the
computation states that differ.

*Live runs*: of a starting row without a match, the most preferred run that is live where its window
ends. No run is accepted: the search is over with the first one that comes to that row, in a state
from which a match could still be reached. A run that is live at the end of a window is live before
it, and windows end in the order of their starting rows. So a state and row from which no run lives
to the end of one window have none for those after it, and that is remembered for all starting rows
of a partition. Cost: linear in the rows and in the rows of the runs that come out, where conditions
depend on the data only.
"""

import numpy as np

from matchrec.engine.kernels import layout
from matchrec.engine.kernels.counting import (
    ANCHORED,
    END_STATE,
    FORBIDDEN,
    StartCounting,
    count_match,
    count_start,
)
from matchrec.engine.kernels.layout import (
    FoundArrays,
    NegationArrays,
    Partition,
    RowArrays,
    Rules,
    Wanted,
    Work,
)
from matchrec.engine.kernels.mapping import forget
from matchrec.engine.kernels.starts import begin_start, search_partitions, skip_match
from matchrec.engine.selection.kernels.backtracking import ACCEPTED, search_from
from matchrec.engine.selection.kernels.matches import write_best, write_path
from matchrec.jit.decorators import inlined, kernel, spliced
from matchrec.nfa.program import UNFINISHED


@kernel
def search_matches(
    rules: Rules,
    rows: RowArrays,
    work: Work,
    output: FoundArrays,
    negation: NegationArrays | None,
    counting: StartCounting | None,
) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    return search_partitions(search_start, rules, rows, work, output, negation, counting)


@spliced
def search_start(
    partition: Partition,
    rules: Rules,
    rows: RowArrays,
    work: Work,
    output: FoundArrays,
    negation: NegationArrays | None,
    counting: StartCounting | None,
) -> int:
    """Write out what is sought from progress[START] on, and go on to the next starting row.

    DONE, or a status: then nothing has been written.
    """
    progress = work.progress
    start, end = progress[layout.START], begin_start(rows, partition, progress)
    matches, mapped = progress[layout.MATCHES], progress[layout.MAPPED]
    if counting is not None:
        progress[layout.STAMP] += 1
        progress[layout.RUNS] = 0
    status = np.int64(layout.DONE)
    for first in range(rules.starts):
        if status == layout.DONE:
            status = np.int64(
                search_from(first, end, rules, rows, work, output, negation, counting, None)
            )
    if counting is not None:
        if status == layout.DONE:
            remaining = counting.remaining[counting.ends[0, END_STATE]]
            otherwise = ANCHORED if remaining > 0 else FORBIDDEN
            count_start(otherwise, partition.upper, end, rules, rows, progress, counting)
    if status == ACCEPTED:
        length = progress[layout.BEST_LENGTH]
        status = np.int64(write_path(length, work.path, progress, output))
        if counting is not None:
            if status == layout.DONE and length > 0:
                count_match(length, work.path[layout.PATH_CHOICES], counting)
        elif status == layout.DONE:
            is_target, forgets = rules.program[:, layout.IS_TARGET], rules.forgets
            choices, at = work.path[layout.PATH_CHOICES, :length], work.path[layout.PATH_ROWS]
            status = np.int64(
                skip_match(rules.skip, is_target, forgets, choices, start, at, progress)
            )
    if status == layout.DONE and progress[layout.START] == start:
        status = np.int64(go_on_after(start, partition, work, output))
    if status != layout.DONE:
        progress[layout.MATCHES], progress[layout.MAPPED] = matches, mapped
    work.counters[layout.MATCHES_FOUND] += progress[layout.MATCHES] - matches
    return int(status)


@spliced
def go_on_after(start: int, partition: Partition, work: Work, output: FoundArrays) -> int:
    """Go on to the next starting row, after the best match if none can be better: DONE or a status.

    A match is better that is complete earlier.
    """
    progress = work.progress
    best_end = min(progress[layout.BEST_END], partition.upper - 1)
    if progress[layout.BEST_START] < 0 or start < best_end:
        progress[layout.START] = start + 1
        return layout.DONE
    progress[layout.COMPLETED] = progress[layout.BEST_END]
    status = write_best(work.path, progress, output)
    if status == layout.DONE:
        progress[layout.START] = progress[layout.BEST_END] + 1
        progress[layout.BEST_START] = -1
        forget(progress[layout.START], progress)
    return status


@kernel
def search_live_runs(
    rules: Rules, rows: RowArrays, work: Work, output: FoundArrays, wanted: Wanted
) -> int:
    """Search from progress[WANTED] on until all is done or something is full; return the status."""
    progress = work.progress
    while progress[layout.WANTED] < wanted.start.shape[0]:
        begin(progress[layout.WANTED], wanted, rules, work)
        kind, end = progress[layout.MATCH_KIND], progress[layout.COMPLETED]
        if kind != UNFINISHED or progress[layout.UNFINISHED_IN] != progress[layout.PARTITION]:
            status = search_from(0, end, rules, rows, work, output, None, None, wanted)
            if status == ACCEPTED:
                status = write_path(progress[layout.BEST_LENGTH], work.path, progress, output)
                if status == layout.DONE and kind == UNFINISHED:
                    progress[layout.UNFINISHED_IN] = progress[layout.PARTITION]
            if status != layout.DONE:
                return int(status)
        progress[layout.WANTED] += 1
    return layout.DONE


@inlined
def begin(place: int, wanted: Wanted, rules: Rules, work: Work) -> None:
    """Go to a starting row; failures that hold for it no longer are forgotten."""
    progress = work.progress
    number, start = wanted.number[place], wanted.start[place]
    other = wanted.partition[place] != progress[layout.PARTITION]
    if other:
        progress[layout.STEP_COUNT] = 0
    if other or (rules.forgets and number != progress[layout.NUMBER]):
        forget(start, progress)
    progress[layout.PARTITION] = wanted.partition[place]
    progress[layout.START] = start
    progress[layout.NUMBER] = number
    progress[layout.COMPLETED] = wanted.end[place]
    progress[layout.MATCH_KIND] = wanted.kind[place]
    progress[layout.STAMP] += 1
    progress[layout.RUNS] = 0
