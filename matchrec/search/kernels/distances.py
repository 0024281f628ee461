"""The kernel of `search.distances`: search by distance to acceptance.

`known` holds how many rows a run in a state, at a row, is away from an acceptance: from the nearest
one for preferred matches, from the farthest one for longest matches. A distance is found out when
it is needed, depth first. The search then goes row by row to the first choice from which the goal
can be reached, and never goes back.

    PATTERN (A B* C)   rows A B B C   distances in the loop of B: 3 at row 1, 2 at row 2, 1 at row 3

*Nearest*: the goal is the end of the window or a row before it. A distance holds for every starting
row. It is found out only up to a horizon after the end of the window. A window that ends after the
horizon sets a new one, twice as far, and then only what was too far is found out again. So each
pair of a state and a row is looked at a few times, however long the windows are.

*Farthest*: the goal is where the longest match ends. The horizon is the end of the window, and a
distance holds for the starting rows whose windows end together.

Cost: rows x choices, and the rows of the matches. For farthest ones in windows, times the rows of a
window.
"""

from typing import NamedTuple

import numpy as np

from matchrec.jit.decorators import inlined, inner, kernel, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import (
    ChoiceArray,
    OutputArrays,
    Progress,
    RememberedRows,
    RowArrays,
    Rules,
)
from matchrec.search.kernels.mapping import forget, is_anchored
from matchrec.search.kernels.starts import (
    NO_MATCH,
    NO_ROOM,
    UNDECIDED,
    UNKNOWN,
    begin_start,
    find_start,
    go_on_without,
    go_to_next_partition,
    note_value,
    write_path,
)
from matchrec.search.search import Kernel, KernelSearch, Shapes

NEVER = 2**31 - 1  # nearest: no acceptance can be reached
NONE = -1  # farthest: no acceptance can be reached
TOO_FAR = NEVER - 1  # there is no acceptance up to the horizon, or rows from the edge on decide
NONE_FROM_HERE = UNKNOWN - 1  # NONE_FROM_HERE - k is noted: there is none in the next k rows


class DistanceProgress(RememberedRows):
    """How far the search has come, and the rows for which it knows distances."""

    # Up to which row distances are known.
    horizon: int


class DistanceWork(NamedTuple):
    """What the search works in."""

    progress: DistanceProgress
    output: OutputArrays
    # int32[d], the choice taken at each row from the starting row on.
    path: ChoiceArray
    # int32[d], the best distance that was found before the choice in the path.
    best_before: ChoiceArray
    # int32[r, s], r a power of two, what is known of each state at the rows of a ring.
    known: ChoiceArray


@kernel
def search(rules: Rules, rows: RowArrays, work: DistanceWork) -> int:
    """Search from `progress` on; return a status. `starts` explains this loop."""
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and find_start(rows.begins, progress):
            status = np.int64(search_start(rules, rows, work))
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@spliced
def begin_partition(work: DistanceWork) -> None:
    """Forget the distances in the partition before."""
    forget(work.progress.start, work.progress)
    work.progress.horizon = work.progress.start


@spliced
def search_start(rules: Rules, rows: RowArrays, work: DistanceWork) -> int:
    """Write out the match at progress.start, and set the next starting row; return a status."""
    length = find_goal(rules, rows, work)
    if length >= 0:
        length = np.int64(follow_distances(length, rules, rows, work))
    if length < 0:
        return go_on_without(length, work.progress)
    return write_path(length, work.path, rules, work.output, work.progress)


@spliced
def find_goal(rules: Rules, rows: RowArrays, work: DistanceWork) -> int:
    """Return the row before which the match ends, or for nearest ones its window.

    NO_MATCH, NO_ROOM, or UNDECIDED if rows from the edge on decide. These are negative.
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
    away = get_distance(np.int64(0), start, rules, rows, work)
    if away == NO_ROOM:
        return NO_ROOM
    if away == TOO_FAR:
        return UNDECIDED
    return NO_MATCH if away == NONE else int(start + away)


@spliced
def follow_distances(goal: int, rules: Rules, rows: RowArrays, work: DistanceWork) -> int:
    """Return the length of the preferred match at progress.start that ends at `goal`, or before it.

    It ends at the goal if the longest match is sought. Its choices are written to `path`. NO_MATCH
    if there is none; NO_ROOM; UNDECIDED.
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
            away = get_distance(target, row + 1, rules, rows, work)
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
            return note_needed_rows(row, progress)
        path[row - start] = chosen
        row += 1
        state = program[chosen, layout.TARGET]


@inlined
def get_distance(state: int, row: int, rules: Rules, rows: RowArrays, work: DistanceWork) -> int:
    """Return how many rows a run in `state` at `row` is away from acceptance, or NO_ROOM."""
    away = look_up_distance(state, row, rules, work)
    return find_distance(state, row, rules, rows, work) if away == UNKNOWN else away


@inner
def find_distance(state: int, row: int, rules: Rules, rows: RowArrays, work: DistanceWork) -> int:
    """Find how many rows a run in `state` at `row` is away from acceptance; or return NO_ROOM.

    It is called if the distance is unknown. It goes depth first, so that all distances behind a
    pair of a state and a row are known when the search leaves the pair. `path` and `best_before`
    are its stack.
    """
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    path, before, progress = work.path, work.best_before, work.progress
    longest = rules.output == layout.LONGEST
    nothing = np.int64(NONE if longest else NEVER)
    start = progress.start
    begin = row
    choice = first[state]
    best = nothing
    if row - start >= path.shape[0]:
        return note_needed_rows(row, progress)
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
                    away = np.int64(look_up_distance(target, row + 1, rules, work))
                    if away == UNKNOWN:
                        break
                    away = np.int64(distance_from_row_before(away, longest))
                best = max(best, away) if longest else min(best, away)
            choice += 1
        if choice < first[state + 1]:
            path[row - start] = choice
            before[row - start] = best
            row += 1
            if row - start == path.shape[0]:
                return note_needed_rows(row, progress)
            state = program[choice, layout.TARGET]
            choice = first[state]
            best = nothing
            continue
        noted = best if best != TOO_FAR else NONE_FROM_HERE - (progress.horizon - row)
        note_value(work.known, progress, state, row, noted)
        if row == begin:
            return int(best)
        row -= 1
        choice = path[row - start]
        state = program[choice, layout.SOURCE]
        away, distance_before = (
            distance_from_row_before(best, longest),
            np.int64(before[row - start]),
        )
        best = max(distance_before, away) if longest else min(distance_before, away)
        choice += 1


@inlined
def note_needed_rows(row: int, progress: Progress) -> int:
    """Say how many rows the arrays must hold, and return NO_ROOM."""
    progress.needed = row + 2 - progress.start
    return NO_ROOM


@inlined
def distance_from_row_before(away: int, longest: bool) -> int:
    """Return the distance from one row before."""
    return away if away >= TOO_FAR or (longest and away == NONE) else away + 1


@inlined
def look_up_distance(state: int, row: int, rules: Rules, work: DistanceWork) -> int:
    """Return what is known of a state at a row without looking at later rows.

    A distance, that there is none (NEVER or NONE), TOO_FAR or UNKNOWN.
    """
    first, program = rules.first, rules.program
    known_distances, progress = work.known, work.progress
    longest = rules.output == layout.LONGEST
    if row < progress.memo_to:
        away = known_distances[row & (known_distances.shape[0] - 1), state]
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


class DistanceSearch(KernelSearch[DistanceWork]):
    """How far acceptance is from each state and row, and the path of one run."""

    kernel = Kernel(search, search_start, begin_partition)
    begins_anew = True

    progress: DistanceProgress
    progress_kind = DistanceProgress

    @property
    def shapes(self) -> Shapes:
        """Return rings of rows: the path, the best path before it, and the distances."""
        rows = self.sizes[layout.MEMO_FULL]
        states = len(self.rules.first) - 1
        return {
            "path": ((rows,), np.int32),
            "best_before": ((rows,), np.int32),
            "known": ((rows, states), np.int32),
        }

    def make_work(self) -> DistanceWork:
        """Return what the kernel works in."""
        return DistanceWork(
            progress=self.progress,
            output=self.output,
            path=self.memory["path"],
            best_before=self.memory["best_before"],
            known=self.memory["known"],
        )

    def arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        return self.rules, self.arrays.rows, self.work

    def grow(self, status: int) -> None:
        """Make the rings larger, and forget what they hold: a row is elsewhere in a larger one."""
        super().grow(status)
        self.progress.memo_to = self.progress.start
