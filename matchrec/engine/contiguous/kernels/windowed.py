"""Preferred matches inside windows, where conditions look only at the data.

`distances` says how many rows a run in a state is away from the nearest acceptance, from a row on.
A run leads to a match inside its window if that is no further than the window's end, so the search
steps to the first choice that does, row by row, and never goes back.

A value holds for every starting row. It is found out when it is asked for, and no further than to a
horizon after the window's end: a window that ends after the horizon sets a new one, twice as far,
and then only what was too far is asked again. So each pair of state and row is looked at a few
times, however long the windows are.

Cost: rows x choices, and the rows of the matches.
"""

import numpy as np

from matchrec.engine.contiguous.kernels.starts import (
    NO_MATCH,
    NO_ROOM,
    UNDECIDED,
    UNKNOWN,
    go_on_without,
    is_anchored,
    note,
    search_partitions,
    write_path,
)
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import DistanceWork, Found, Partition, Rows, Rules
from matchrec.engine.partitions import IntArray
from matchrec.jit.decorators import inlined, kernel, spliced

NEVER = 2**31 - 1  # no acceptance can be reached
TOO_FAR = NEVER - 1  # none up to the horizon
NONE_FROM_HERE = UNKNOWN - 1  # NONE_FROM_HERE - k is kept of a state: none up to k rows on


@kernel
def search(rules: Rules, rows: Rows, work: DistanceWork, output: Found) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    return search_partitions(search_start, rules, rows, work, output, None)


@spliced
def search_start(
    partition: Partition, rules: Rules, rows: Rows, work: DistanceWork, output: Found, _: None
) -> int:
    """Write out the preferred match at progress[START], and go on to the next starting row."""
    progress = work.progress
    start = progress[layout.START]
    bound = rows.window_end[start]
    if bound > progress[layout.HORIZON]:
        end = min(partition.upper, partition.edge)
        progress[layout.HORIZON] = min(end, 2 * bound - start + 16)
    length = walk(bound, partition, rules, rows, work)
    if length < 0:
        return go_on_without(length, progress)
    return write_path(length, rules, work, output)


@inlined
def walk(bound: int, partition: Partition, rules: Rules, rows: Rows, work: DistanceWork) -> int:
    """Length of the preferred match at progress[START] that ends at `bound` or before it.

    Its choices are in `path`. NO_MATCH where there is none; NO_ROOM; UNDECIDED where rows from
    `edge` on decide.
    """
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    path, progress = work.path, work.progress
    start = progress[layout.START]
    row = start
    state = np.int64(0)
    while True:
        if row >= partition.edge:
            return UNDECIDED
        chosen = -1
        for choice in range(first[state], first[state + 1]):
            guard = program[choice, layout.GUARD]
            if guard != 0 and not is_anchored(guard, row, partition.lower, partition.upper):
                continue
            target = program[choice, layout.TARGET]
            if target == layout.ACCEPT:
                return int(row - start)
            mask = program[choice, layout.MASK]
            if row >= bound or satisfied[row, program[choice, layout.WORD]] & mask != mask:
                continue
            away = look(target, row + 1, partition, rules, work)
            if away == UNKNOWN:
                away = explore(target, row + 1, partition, rules, rows, work)
                if away == NO_ROOM:
                    return NO_ROOM
            if away == TOO_FAR and bound >= partition.edge:
                return UNDECIDED
            if row + 1 + away <= bound:
                chosen = choice
                break
        if chosen < 0:
            return NO_MATCH
        if row - start == path.shape[0]:
            return no_room(progress)
        path[row - start] = chosen
        row += 1
        state = program[chosen, layout.TARGET]


@inlined
def explore(
    state: int, row: int, partition: Partition, rules: Rules, rows: Rows, work: DistanceWork
) -> int:
    """How many rows a run in `state` at `row` is away from the nearest acceptance, or NO_ROOM.

    Depth first, so that what comes later is known when a pair of state and row is left.
    """
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    path, least, progress = work.path, work.best_before, work.progress
    start = progress[layout.START]
    begin = row
    choice = first[state]
    best = np.int64(NEVER)
    if row - start >= path.shape[0]:
        return no_room(progress)
    while True:
        while choice < first[state + 1]:
            mask = program[choice, layout.MASK]
            guard = program[choice, layout.GUARD]
            if (
                program[choice, layout.TARGET] != layout.ACCEPT
                and satisfied[row, program[choice, layout.WORD]] & mask == mask
                and (guard == 0 or is_anchored(guard, row, partition.lower, partition.upper))
            ):
                target = program[choice, layout.TARGET]
                away = look(target, row + 1, partition, rules, work)
                if away == UNKNOWN:
                    break
                best = min(best, one_more(away))
            choice += 1
        if choice < first[state + 1]:
            path[row - start] = choice
            least[row - start] = best
            row += 1
            if row - start == path.shape[0]:
                return no_room(progress)
            state = program[choice, layout.TARGET]
            choice = first[state]
            best = NEVER
            continue
        keep(state, row, best, work)
        if row == begin:
            return int(best)
        row -= 1
        choice = path[row - start]
        state = program[choice, layout.SOURCE]
        best = min(least[row - start], one_more(best))
        choice += 1


@inlined
def no_room(progress: IntArray) -> int:
    """Say how many rows the arrays must hold."""
    progress[layout.NEEDED] = progress[layout.HORIZON] + 1 - progress[layout.START]
    return NO_ROOM


@inlined
def one_more(away: int) -> int:
    """The distance from one row before."""
    return away if away >= TOO_FAR else away + 1


@inlined
def look(state: int, row: int, partition: Partition, rules: Rules, work: DistanceWork) -> int:
    """What is known of a state and row: a distance, NEVER, TOO_FAR or UNKNOWN."""
    first, program = rules.first, rules.program
    nearest, progress = work.distances, work.progress
    if row < progress[layout.MEMO_TO]:
        away = nearest[row & (nearest.shape[0] - 1), state]
        if away >= 0:
            return int(away)
        if row - away + NONE_FROM_HERE == progress[layout.HORIZON]:
            return TOO_FAR
    if row >= partition.edge:
        return TOO_FAR
    for choice in range(first[state], first[state + 1]):
        if program[choice, layout.TARGET] == layout.ACCEPT:
            guard = program[choice, layout.GUARD]
            if guard == 0 or is_anchored(guard, row, partition.lower, partition.upper):
                return 0
    if row == progress[layout.HORIZON]:
        return NEVER if row == partition.upper else TOO_FAR
    return UNKNOWN


@inlined
def keep(state: int, row: int, away: int, work: DistanceWork) -> None:
    """Note what has been found out: a distance, or up to which row there is none."""
    progress = work.progress
    kept = away if away != TOO_FAR else NONE_FROM_HERE - (progress[layout.HORIZON] - row)
    note(work.distances, progress, state, row, kept)
