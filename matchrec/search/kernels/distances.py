"""The kernel of `search.distances`: search by the distance to an acceptance.

The *distance* of a state at a row is the number of rows that a run in the state must still map
before it accepts: the smallest possible number for preferred matches, the greatest for longest
matches. A distance is computed when it is needed, depth first, and remembered. At each row, the
search then takes the first choice from which the goal can be reached, so it never goes back.

    PATTERN (A B* C)   rows A B B C   distances in the loop of B: 3 at row 1, 2 at row 2, 1 at row 3

*Nearest*: the goal is the end of the window or a row before it. A distance holds for every starting
row. It is computed only up to a *horizon* after the end of the window. A window that ends after the
horizon sets a new horizon, twice as far. Then only distances that were too far are computed again.
So each pair of a state and a row is looked at a few times, even if windows are long.

*Farthest*: the goal is the row before which the longest match ends. The horizon is the end of the
window, and a distance holds for the starting rows whose windows end together.

Cost: rows x choices, and the rows of the matches. For longest matches in windows, rows x choices x
the rows of a window.
"""

from typing import NamedTuple

import numpy as np

from matchrec.jit.decorators import inlined, inner, spliced, stoppable_kernel
from matchrec.search.kernel_search import KernelSearch, Shapes
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import (
    ChoiceArray,
    OutputArrays,
    Progress,
    RememberedRows,
    RowArrays,
    Rules,
)
from matchrec.search.kernels.mapping import is_anchored
from matchrec.search.kernels.memo import find_in_ring, forget
from matchrec.search.kernels.search_loop import (
    NO_MATCH,
    NO_ROOM,
    NOT_NOTED,
    UNDECIDED,
    begin_start,
    finish_without_match,
    go_to_next_partition,
    note_value,
    seek_start,
    write_path,
)

# A distance is a number of rows, 0 or more. These values are used instead of a distance:
#
#     value        meaning                                              in `distances`
#     NO_NEAREST   no acceptance can be reached; the nearest is sought  as it is
#     NO_FARTHEST  no acceptance can be reached; the farthest is sought as it is
#     TOO_FAR      none can be reached up to the horizon, or rows       packed: see `pack_too_far`
#                  from the edge on decide
#     NOT_NOTED    the distance has not been computed                   as it is
#     NO_ROOM      an array was full, so it could not be computed       never
#
# Results are compared by `min` if the nearest acceptance is sought, and by `max` if the farthest
# is. NO_NEAREST and NO_FARTHEST lose every comparison. TOO_FAR is greater than every distance.
NO_NEAREST = 2**31 - 1
NO_FARTHEST = -1
TOO_FAR = NO_NEAREST - 1
# A new horizon is at least this many rows after the end of the window. Without a margin, each short
# window would set a new horizon.
HORIZON_MARGIN = 16
# TOO_FAR holds for one horizon only. So the noted value says how many rows the horizon was away:
# FIRST_PACKED_TOO_FAR for 0 rows, and one less for each further row. NOT_NOTED is the least of the
# other values.
FIRST_PACKED_TOO_FAR = NOT_NOTED - 1


class DistanceProgress(RememberedRows):
    """The progress of a search by distances, with the rows for which distances are noted."""

    # The last row at which acceptances are looked for. A later acceptance is TOO_FAR.
    horizon: int


class DistanceWork(NamedTuple):
    """The arrays and records in which the search works."""

    progress: DistanceProgress
    output: OutputArrays
    # int32[d], the choice taken at each row from the starting row on.
    path: ChoiceArray
    # int32[d], for each row of the path, the best distance among the choices of its state that were
    # tried before the choice in the path.
    best_before: ChoiceArray
    # int32[r, s], r a power of two, the distance of each state at the rows of a ring: row position
    # p is at distances[p & (r - 1)].
    distances: ChoiceArray


@stoppable_kernel
def search(rules: Rules, rows: RowArrays, work: DistanceWork) -> int:
    """Search from `progress` on; return a status. `search_loop` explains this loop."""
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and seek_start(rows.can_begin, progress):
            status = np.int64(search_from_start(rules, rows, work))
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@spliced
def begin_partition(work: DistanceWork) -> None:
    """Forget the distances in the previous partition."""
    forget(work.progress.start, work.progress)
    work.progress.horizon = work.progress.start


@spliced
def search_from_start(rules: Rules, rows: RowArrays, work: DistanceWork) -> int:
    """Search from progress.start, write the match, if any, and set the next starting row.

    Returns:
        DONE or another status.
    """
    # First the goal, then the length of the match. Both functions can return a negative answer.
    length = find_goal(rules, rows, work)
    if length >= 0:
        length = np.int64(follow_distances(length, rules, rows, work))
    if length < 0:
        return finish_without_match(length, work.progress)
    return write_path(length, work.path, rules, work.output, work.progress)


@spliced
def find_goal(rules: Rules, rows: RowArrays, work: DistanceWork) -> int:
    """Return the goal of the search from progress.start, and move the horizon if needed.

    Returns:
        For the longest match, the row before which it ends; for the preferred match, the row before
        which its window ends. Or a negative number: NO_MATCH, NO_ROOM, or UNDECIDED if rows from
        the edge on decide.
    """
    progress = work.progress
    start = progress.start
    edge = progress.edge
    if rules.output != layout.LONGEST:
        latest_end = rows.window_end[start]
        if latest_end > progress.horizon:
            end_of_rows = min(progress.partition_end, edge)
            # Twice as far from the starting row as the end of the window, and a margin.
            progress.horizon = min(end_of_rows, 2 * latest_end - start + HORIZON_MARGIN)
        return int(latest_end)
    progress.horizon = begin_start(rows.window_end, progress)
    distance = get_distance(np.int64(0), start, rules, rows, work)
    if distance == NO_ROOM:
        return NO_ROOM
    if distance == TOO_FAR:
        return UNDECIDED
    return NO_MATCH if distance == NO_FARTHEST else int(start + distance)


@spliced
def follow_distances(goal: int, rules: Rules, rows: RowArrays, work: DistanceWork) -> int:
    """Write the choices of the preferred match to `path`, and return its length.

    At each row, take the first choice from which the goal can be reached. The match ends at the row
    `goal` if the longest match is sought, otherwise at the goal or before it.

    Returns:
        The length, NO_MATCH, NO_ROOM or UNDECIDED.
    """
    first_choice = rules.first_choice
    program = rules.program
    condition_bits = rows.condition_bits
    path = work.path
    progress = work.progress
    start = progress.start
    edge = progress.edge
    seeks_longest = rules.output == layout.LONGEST
    row = start
    state = np.int64(0)
    while True:
        chosen_choice = -1
        for choice in range(first_choice[state], first_choice[state + 1]):
            guard = program[choice, layout.GUARD]
            if guard != 0 and not is_anchored(guard, row, progress):
                continue
            target = program[choice, layout.TARGET]
            if target == layout.ACCEPT:
                if seeks_longest and row < goal:
                    continue
                return int(row - start)
            if row >= goal:
                continue
            if row >= edge:
                return UNDECIDED
            mask = program[choice, layout.MASK]
            if condition_bits[row, program[choice, layout.WORD]] & mask != mask:
                continue
            distance = get_distance(target, row + 1, rules, rows, work)
            if distance == NO_ROOM:
                return NO_ROOM
            if distance == TOO_FAR and goal > edge:
                return UNDECIDED
            end = row + 1 + distance
            if end == goal or (end < goal and not seeks_longest):
                chosen_choice = choice
                break
        if chosen_choice < 0:
            return NO_MATCH
        if row - start == path.shape[0]:
            return note_needed_rows(row, progress)
        path[row - start] = chosen_choice
        row += 1
        state = program[chosen_choice, layout.TARGET]


@inlined
def get_distance(state: int, row: int, rules: Rules, rows: RowArrays, work: DistanceWork) -> int:
    """Return how many rows a run in `state` at `row` is away from acceptance.

    Returns:
        A distance; NO_NEAREST, NO_FARTHEST, TOO_FAR or NO_ROOM.
    """
    distance = look_up_distance(state, row, rules, work)
    return compute_distance(state, row, rules, rows, work) if distance == NOT_NOTED else distance


@inner
def compute_distance(
    state: int, row: int, rules: Rules, rows: RowArrays, work: DistanceWork
) -> int:
    """Compute and note how many rows a run in `state` at `row` is away from acceptance.

    It is called if this distance is not noted, and goes depth first: a pair of a state and a row
    gets a distance when all pairs to which its choices lead have one. `path` and `best_before` are
    its stack: the choice followed at each row, and the best distance of the choices before it.

    For PATTERN (A B* C) and rows A B B C, from the loop of B at row 1:

        row 1: B leads to the loop at row 2, which has no distance: go there
        row 2: B leads to the loop at row 3, which has no distance: go there
        row 3: C leads to acceptance after one row: note 1, go back
        row 2: one row more: note 2, go back
        row 1: one row more: note 3

    Returns:
        A distance; NO_NEAREST, NO_FARTHEST, TOO_FAR or NO_ROOM.
    """
    first_choice = rules.first_choice
    program = rules.program
    condition_bits = rows.condition_bits
    path = work.path
    best_before = work.best_before
    progress = work.progress
    seeks_longest = rules.output == layout.LONGEST
    no_distance = np.int64(NO_FARTHEST if seeks_longest else NO_NEAREST)
    start = progress.start
    first_row = row
    choice = first_choice[state]
    best = no_distance
    if row - start >= path.shape[0]:
        return note_needed_rows(row, progress)
    while True:
        # 1. Try choices until one leads to a distance that is not noted.
        while choice < first_choice[state + 1]:
            mask = program[choice, layout.MASK]
            guard = program[choice, layout.GUARD]
            if condition_bits[row, program[choice, layout.WORD]] & mask == mask and (
                guard == 0 or is_anchored(guard, row, progress)
            ):
                target = program[choice, layout.TARGET]
                distance = np.int64(0)
                if target != layout.ACCEPT:
                    distance = np.int64(look_up_distance(target, row + 1, rules, work))
                    if distance == NOT_NOTED:
                        break
                    distance = np.int64(add_row_to_distance(distance, seeks_longest))
                best = max(best, distance) if seeks_longest else min(best, distance)
            choice += 1
        # 2. If there is one, compute that distance first.
        if choice < first_choice[state + 1]:
            path[row - start] = choice
            best_before[row - start] = best
            row += 1
            if row - start == path.shape[0]:
                return note_needed_rows(row, progress)
            state = program[choice, layout.TARGET]
            choice = first_choice[state]
            best = no_distance
            continue
        # 3. Otherwise the distance is known: note it, and go back to the row before.
        noted_value = best if best != TOO_FAR else pack_too_far(progress.horizon - row)
        note_value(work.distances, progress, state, row, noted_value)
        if row == first_row:
            return int(best)
        row -= 1
        choice = path[row - start]
        state = program[choice, layout.SOURCE]
        distance = add_row_to_distance(best, seeks_longest)
        distance_before = np.int64(best_before[row - start])
        best = max(distance_before, distance) if seeks_longest else min(distance_before, distance)
        choice += 1


@inlined
def pack_too_far(rows_to_horizon: int) -> int:
    """Return the value that is noted for TOO_FAR, from the distance of the horizon in rows."""
    return FIRST_PACKED_TOO_FAR - rows_to_horizon


@inlined
def unpack_too_far(noted_value: int) -> int:
    """Return how many rows away the horizon was when `noted_value` was packed by `pack_too_far`."""
    return FIRST_PACKED_TOO_FAR - noted_value


@inlined
def note_needed_rows(row: int, progress: Progress) -> int:
    """Set progress.needed_rows for a run that has come to `row`, and return NO_ROOM.

    It is the number of rows that the arrays must hold.
    """
    progress.needed_rows = row + 2 - progress.start
    return NO_ROOM


@inlined
def add_row_to_distance(distance: int, seeks_longest: bool) -> int:
    """Return `distance` plus one row; NO_NEAREST, NO_FARTHEST and TOO_FAR stay as they are.

    `seeks_longest` is whether the longest match, and so the farthest acceptance, is sought.
    """
    return (
        distance
        if distance >= TOO_FAR or (seeks_longest and distance == NO_FARTHEST)
        else distance + 1
    )


@inlined
def look_up_distance(state: int, row: int, rules: Rules, work: DistanceWork) -> int:
    """Return the distance of a state at a row, unless `compute_distance` must compute it.

    The distance need not be computed in three cases:

    - It is noted.
    - The nearest acceptance is sought, and the state accepts at the row.
    - No later row is looked at, because the row is at the horizon or at the edge.

    At the edge, the farthest acceptance is TOO_FAR if a choice could map the row there.

    Returns:
        A distance; NO_NEAREST, NO_FARTHEST or TOO_FAR; NOT_NOTED if it must be computed.
    """
    first_choice = rules.first_choice
    program = rules.program
    distances = work.distances
    progress = work.progress
    seeks_longest = rules.output == layout.LONGEST
    if row < progress.memo_to:
        distance = distances[find_in_ring(row, distances.shape[0]), state]
        if distance >= 0 or (seeks_longest and distance == NO_FARTHEST):
            return int(distance)
        if row + unpack_too_far(distance) == progress.horizon:
            return TOO_FAR
    ends_here = row == progress.horizon
    if seeks_longest and not ends_here and row < progress.edge:
        return NOT_NOTED
    accepts = False
    for choice in range(first_choice[state], first_choice[state + 1]):
        guard = program[choice, layout.GUARD]
        if guard == 0 or is_anchored(guard, row, progress):
            if program[choice, layout.TARGET] == layout.ACCEPT:
                accepts = True
            elif seeks_longest and not ends_here:
                return TOO_FAR  # a choice could map the row at the edge, and lead farther
    if accepts:
        return 0
    if seeks_longest:
        return NO_FARTHEST
    if not ends_here:
        return NOT_NOTED
    return NO_NEAREST if row == progress.partition_end else TOO_FAR


class DistanceSearch(KernelSearch[DistanceWork]):
    """A search by distances, with a ring of noted distances and the path of one run."""

    kernel = search
    can_skip_starts = True

    progress: DistanceProgress
    progress_class = DistanceProgress

    @property
    def shapes(self) -> Shapes:
        """Return rings of rows: the two stacks of a search, and the distances of all states."""
        row_count = self.sizes[layout.MEMO_FULL]
        state_count = len(self.rules.first_choice) - 1
        return {
            "path": ((row_count,), np.int32),
            "best_before": ((row_count,), np.int32),
            "distances": ((row_count, state_count), np.int32),
        }

    def make_work(self) -> DistanceWork:
        """Return what the kernel works in."""
        return DistanceWork(
            progress=self.progress,
            output=self.output,
            path=self.working_arrays["path"],
            best_before=self.working_arrays["best_before"],
            distances=self.working_arrays["distances"],
        )

    def build_arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        return self.rules, self.arrays.rows, self.work
