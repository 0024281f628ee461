"""Matches by how far acceptance is, where conditions depend on the data only.

`known` says how many rows a run in a state is away from an acceptance, from a row on: from the
nearest one, for preferred matches inside windows, or from the farthest one, for the longest match
of each starting row. It is found out when it is asked for, depth first. The search then steps row
by row to the first choice from which the goal can be reached, and never goes back.

*Nearest*: the goal is the window's end or a row before it. A distance holds for every starting row.
It is found out no further than to a horizon after the window's end: a window that ends after that
sets a new one, twice as far, and then only what was too far is asked again. So each pair of state
and row is looked at a few times, however long the windows are.

*Farthest*: the goal is where the longest match ends. The horizon is where the window does, and a
distance holds for the starting rows whose windows end together.

Cost: rows x choices, and the rows of the matches; farthest, in windows, times the rows of a window.
"""

import numpy as np

from matchrec.jit.decorators import inlined, inner, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import Progress, RowArrays, Rules, Work
from matchrec.search.kernels.mapping import is_anchored
from matchrec.search.kernels.starts import (
    NO_MATCH,
    NO_ROOM,
    UNDECIDED,
    UNKNOWN,
    begin_start,
    go_on_without,
    note,
    searching,
    write_path,
)

NEVER = 2**31 - 1  # no acceptance can be reached, of nearest ones
NONE = -1  # the same, of farthest ones
TOO_FAR = NEVER - 1  # none up to the horizon, or rows from the edge on decide
NONE_FROM_HERE = UNKNOWN - 1  # NONE_FROM_HERE - k is kept of a state: none up to k rows on


@spliced
def search_start(rules: Rules, rows: RowArrays, work: Work, _registers: None, _counts: None) -> int:
    length = find_goal(rules, rows, work)
    if length >= 0:
        length = np.int64(walk(length, rules, rows, work))
    if length < 0:
        return go_on_without(length, work.progress)
    return write_path(length, rules, work)


search = searching(search_start)


@spliced
def find_goal(rules: Rules, rows: RowArrays, work: Work) -> int:
    """The row before which the match ends, or of nearest ones its window; or NO_MATCH, NO_ROOM, or
    UNDECIDED, where rows from `edge` on decide: these are below 0.
    """
    progress = work.progress
    start, edge = progress.start, progress.edge
    if rules.output != layout.LONGEST:
        bound = rows.window_end[start]
        if bound > progress.horizon:
            end = min(progress.upper, edge)
            progress.horizon = min(end, 2 * bound - start + 16)
        return int(bound)
    progress.horizon = begin_start(rows.window_end, progress)
    away = measure(np.int64(0), start, rules, rows, work)
    if away == NO_ROOM:
        return NO_ROOM
    if away == TOO_FAR:
        return UNDECIDED
    return NO_MATCH if away == NONE else int(start + away)


@spliced
def walk(goal: int, rules: Rules, rows: RowArrays, work: Work) -> int:
    """Length of the preferred match at progress.start that ends at `goal`; nearest: or before it.

    Its choices are in `path`. NO_MATCH where there is none; NO_ROOM; UNDECIDED.
    """
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    path, progress = work.path, work.progress
    start, edge = progress.start, progress.edge
    longest = rules.output == layout.LONGEST
    row = start
    state = np.int64(0)
    while True:
        chosen = -1
        for choice in range(first[state], first[state + 1]):
            guard = program[choice, layout.GUARD]
            if guard != 0 and not is_anchored(guard, row, progress):
                continue
            target = program[choice, layout.TARGET]
            if target == layout.ACCEPT:
                if longest and row < goal:
                    continue
                return int(row - start)
            if row >= goal:
                continue
            if row >= edge:
                return UNDECIDED
            mask = program[choice, layout.MASK]
            if satisfied[row, program[choice, layout.WORD]] & mask != mask:
                continue
            away = measure(target, row + 1, rules, rows, work)
            if away == NO_ROOM:
                return NO_ROOM
            if away == TOO_FAR and goal > edge:
                return UNDECIDED
            end = row + 1 + away
            if end == goal or (end < goal and not longest):
                chosen = choice
                break
        if chosen < 0:
            return NO_MATCH
        if row - start == path.shape[0]:
            return no_room(row, progress)
        path[row - start] = chosen
        row += 1
        state = program[chosen, layout.TARGET]


@inlined
def measure(state: int, row: int, rules: Rules, rows: RowArrays, work: Work) -> int:
    """How many rows a run in `state` at `row` is away from the acceptance, or NO_ROOM."""
    away = look(state, row, rules, work)
    return explore(state, row, rules, rows, work) if away == UNKNOWN else away


@inner
def explore(state: int, row: int, rules: Rules, rows: RowArrays, work: Work) -> int:
    """How many rows a run in `state` at `row` is away, where it is unknown; or NO_ROOM."""
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    path, before, progress = work.path, work.best_before, work.progress
    longest = rules.output == layout.LONGEST
    nothing = np.int64(NONE if longest else NEVER)
    start = progress.start
    begin = row
    choice = first[state]
    best = nothing
    if row - start >= path.shape[0]:
        return no_room(row, progress)
    while True:
        while choice < first[state + 1]:
            mask = program[choice, layout.MASK]
            guard = program[choice, layout.GUARD]
            if satisfied[row, program[choice, layout.WORD]] & mask == mask and (
                guard == 0 or is_anchored(guard, row, progress)
            ):
                target = program[choice, layout.TARGET]
                away = np.int64(0)
                if target != layout.ACCEPT:
                    away = np.int64(look(target, row + 1, rules, work))
                    if away == UNKNOWN:
                        break
                    away = np.int64(one_more(away, longest))
                best = max(best, away) if longest else min(best, away)
            choice += 1
        if choice < first[state + 1]:
            path[row - start] = choice
            before[row - start] = best
            row += 1
            if row - start == path.shape[0]:
                return no_room(row, progress)
            state = program[choice, layout.TARGET]
            choice = first[state]
            best = nothing
            continue
        kept = best if best != TOO_FAR else NONE_FROM_HERE - (progress.horizon - row)
        note(work.known, progress, state, row, kept)
        if row == begin:
            return int(best)
        row -= 1
        choice = path[row - start]
        state = program[choice, layout.SOURCE]
        away, known = one_more(best, longest), np.int64(before[row - start])
        best = max(known, away) if longest else min(known, away)
        choice += 1


@inlined
def no_room(row: int, progress: Progress) -> int:
    progress.needed = row + 2 - progress.start
    return NO_ROOM


@inlined
def one_more(away: int, longest: bool) -> int:
    return away if away >= TOO_FAR or (longest and away == NONE) else away + 1


@inlined
def look(state: int, row: int, rules: Rules, work: Work) -> int:
    """What is known of a state and row: a distance, that there is none, TOO_FAR or UNKNOWN."""
    first, program = rules.first, rules.program
    known, progress = work.known, work.progress
    longest = rules.output == layout.LONGEST
    if row < progress.memo_to:
        away = known[row & (known.shape[0] - 1), state]
        if away >= 0 or (longest and away == NONE):
            return int(away)
        if row - away + NONE_FROM_HERE == progress.horizon:
            return TOO_FAR
    ends_here = row == progress.horizon
    if longest and not ends_here and row < progress.edge:
        return UNKNOWN
    accepts = False
    for choice in range(first[state], first[state + 1]):
        guard = program[choice, layout.GUARD]
        if guard == 0 or is_anchored(guard, row, progress):
            if program[choice, layout.TARGET] == layout.ACCEPT:
                accepts = True
            elif longest and not ends_here:
                return TOO_FAR
    if accepts:
        return 0
    if longest:
        return NONE
    if not ends_here:
        return UNKNOWN
    return NEVER if row == progress.upper else TOO_FAR
