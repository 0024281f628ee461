"""The longest match of each starting row, where conditions look only at the data.

`distances` says how many rows a run in a state is away from the farthest acceptance that it can
reach, from a row on. The search steps to the first choice that keeps that distance, row by row, and
never goes back: of the longest matches this is the preferred one.

A value holds for every starting row whose window ends at the same row, so without windows each pair
of state and row is looked at once.

Cost: rows x choices, in windows times the rows of a window; and the rows of the matches.
"""

import numpy as np

from matchrec.engine.contiguous.kernels.starts import (
    NO_MATCH,
    NO_ROOM,
    UNDECIDED,
    UNKNOWN,
    begin_start,
    go_on_without,
    is_anchored,
    note,
    search_partitions,
    write_path,
)
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import DistanceWork, Found, Partition, Rows, Rules
from matchrec.jit.decorators import inlined, kernel, spliced

NEVER = NO_MATCH  # no acceptance can be reached


@kernel
def search(rules: Rules, rows: Rows, work: DistanceWork, output: Found) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    return search_partitions(search_start, rules, rows, work, output, None)


@spliced
def search_start(
    partition: Partition, rules: Rules, rows: Rows, work: DistanceWork, output: Found, _: None
) -> int:
    """Write out the longest match at progress[START], and go on to the next starting row."""
    bound = begin_start(rows, partition, work.progress)
    length = explore(bound, partition, rules, rows, work)
    if length < 0:
        return go_on_without(length, work.progress)
    walk(length, bound, partition, rules, rows, work)
    return write_path(length, rules, work, output)


@inlined
def explore(bound: int, partition: Partition, rules: Rules, rows: Rows, work: DistanceWork) -> int:
    """How many rows the farthest acceptance is away from progress[START].

    NO_MATCH where there is none; NO_ROOM; UNDECIDED where rows from `edge` on decide. Depth first,
    so that what comes later is known when a pair of state and row is left.
    """
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    path, most, progress = work.path, work.best_before, work.progress
    start = progress[layout.START]
    if start >= partition.edge:
        return UNDECIDED
    row = start
    state = np.int64(0)
    choice = first[0]
    best = np.int64(NEVER)
    while True:
        while choice < first[state + 1]:
            guard = program[choice, layout.GUARD]
            mask = program[choice, layout.MASK]
            if guard != 0 and not is_anchored(guard, row, partition.lower, partition.upper):
                choice += 1
                continue
            target = program[choice, layout.TARGET]
            if target == layout.ACCEPT:
                best = max(best, np.int64(0))
            elif row < bound and satisfied[row, program[choice, layout.WORD]] & mask == mask:
                away = look(target, row + 1, work)
                if away == UNKNOWN:
                    break
                best = max(best, one_more(away))
            choice += 1
        if choice < first[state + 1]:
            if row + 1 - start == path.shape[0]:
                progress[layout.NEEDED] = row + 2 - start
                return NO_ROOM
            path[row - start] = choice
            most[row - start] = best
            row += 1
            if row == partition.edge:
                return UNDECIDED
            state = program[choice, layout.TARGET]
            choice = first[state]
            best = np.int64(NEVER)
            continue
        note(work.distances, progress, state, row, best)
        if row == start:
            return int(best)
        row -= 1
        choice = path[row - start]
        state = program[choice, layout.SOURCE]
        best = max(np.int64(most[row - start]), one_more(best))
        choice += 1


@inlined
def walk(
    length: int, bound: int, partition: Partition, rules: Rules, rows: Rows, work: DistanceWork
) -> None:
    """Write the choices of the preferred match of that length to `path`; `explore` knows of it."""
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    start = work.progress[layout.START]
    state = np.int64(0)
    for index in range(length):
        row = start + index
        for choice in range(first[state], first[state + 1]):
            guard = program[choice, layout.GUARD]
            mask = program[choice, layout.MASK]
            if (
                program[choice, layout.TARGET] != layout.ACCEPT
                and (guard == 0 or is_anchored(guard, row, partition.lower, partition.upper))
                and row < bound
                and satisfied[row, program[choice, layout.WORD]] & mask == mask
                and look(program[choice, layout.TARGET], row + 1, work) == length - index - 1
            ):
                work.path[index] = choice
                break
        state = program[work.path[index], layout.TARGET]


@inlined
def one_more(away: int) -> int:
    """The distance from one row before."""
    return away if away == NEVER else away + 1


@inlined
def look(state: int, row: int, work: DistanceWork) -> int:
    """What is known of a state and row: a distance, NEVER or UNKNOWN."""
    if row >= work.progress[layout.MEMO_TO]:
        return UNKNOWN
    return int(work.distances[row & (work.distances.shape[0] - 1), state])
