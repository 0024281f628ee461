"""Of a starting row without a match, the most preferred run that is live where its window ends.

One run at a time, in preferment order, as in `selection.kernels.backtracking`, but no run is
accepted: the search is over with the first one that comes to the row where the window ends, in a
state from which a match could still be reached.

A run that is live at the end of a window is live before it, and windows end in the order of their
starting rows. So a state and row from which no run lives to the end of one window have none for
those after it, and that is remembered for all starting rows of a partition. Where the ways through
the pattern multiply and conditions depend on the run, the computation states that a starting row
has seen are kept, as equal ones have the same future.

Cost: linear in the rows and in the rows of the runs that come out, where conditions look only at
the data.
"""

from typing import NamedTuple

from matchrec.engine.contiguous.kernels.starts import whole_partition
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import Partition
from matchrec.engine.kernels.mapping import Places, on_run_of, takes_too_many_steps
from matchrec.engine.kernels.memo import forget, has_failed
from matchrec.engine.kernels.seen import Seen, is_seen
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.backtracking import remember
from matchrec.engine.selection.kernels.choosing import may_map, note_failure
from matchrec.engine.selection.kernels.layout import Found, Rows, Rules, Work
from matchrec.engine.selection.kernels.matches import write_path
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inlined, kernel, spliced
from matchrec.nfa.outcomes import UNFINISHED

# A search from a starting row answers how many rows the run has mapped, this, or NO_RUN - status.
NO_RUN = -1


class Wanted(NamedTuple):
    """The starting rows to search from, by partition and row: int64[s] each.

    end: where the window ends. number: how many matches there were before. kind: what the run is.
    live: int64[p], whether a match may be reached from a state by further rows. seen: see
    `engine.kernels.seen`; empty where computation states are not kept.
    """

    partition: IntArray
    start: IntArray
    end: IntArray
    number: IntArray
    kind: IntArray
    live: IntArray
    seen: IntArray


@kernel
def search(wanted: Wanted, rules: Rules, rows: Rows, work: Work, output: Found) -> int:
    """Search from progress[COUNT] on until all is done or something is full; return the status."""
    progress = work.progress
    while progress[layout.COUNT] < wanted.start.shape[0]:
        begin(progress[layout.COUNT], wanted, rules, work)
        kind = progress[own.MATCH_KIND]
        if kind != UNFINISHED or progress[layout.BEST_START] != progress[layout.PARTITION]:
            partition = whole_partition(rows.starts, progress)
            length = find_run(wanted, partition, rules, rows, work)
            if length < NO_RUN:
                return NO_RUN - length
            if length != NO_RUN:
                status = write_path(length, work.path, progress, output)
                if status != layout.DONE:
                    return status
                if kind == UNFINISHED:
                    progress[layout.BEST_START] = progress[layout.PARTITION]
        progress[layout.COUNT] += 1
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
    progress[own.COMPLETED] = wanted.end[place]
    progress[own.MATCH_KIND] = wanted.kind[place]
    progress[layout.STAMP] += 1
    progress[layout.RUNS] = 0


@spliced
def find_run(wanted: Wanted, partition: Partition, rules: Rules, rows: Rows, work: Work) -> int:
    """How many rows the run has that is sought from progress[START] on; it is in `path`.

    NO_RUN, or NO_RUN - status. One loop over choices, forward, over skipped rows, and back, as in
    `selection.kernels.backtracking`.
    """
    program, path, progress = rules.program, work.path, work.progress
    satisfied, on_run = rows.satisfied, on_run_of(partition, rules, rows, work)
    end = progress[own.COMPLETED]
    row, state, depth = progress[layout.START], 0, 0
    choice = rules.first[0]
    blocked = 0
    while True:
        last = rules.first[state + 1]
        if row == end:
            if wanted.live[state] != 0:
                return depth
            choice = last
        while choice < last:
            target = program[choice, layout.TARGET]
            if target >= 0:
                if depth == path.shape[1]:
                    return NO_RUN - layout.PATH_FULL
                if rules.instructions.shape[0] > 0 and takes_too_many_steps(progress):
                    return NO_RUN - layout.TOO_MANY_STEPS
                places = Places(depth, depth + 1)
                answer = may_map(choice, places, row, rules, satisfied, on_run)
                if answer == HOLDS:
                    blocked = max(blocked, program[choice, layout.BLOCKS])
                    bit = program[choice, layout.MEMO]
                    if bit >= 0:
                        if not has_failed(work.memo, progress, bit, row + 1):
                            break
                    elif wanted.seen.shape[0] == 0:
                        break
                    else:
                        if 2 * progress[layout.RUNS] >= wanted.seen.shape[0]:
                            return NO_RUN - layout.RUNS_FULL
                        seen = Seen(progress, work.registers, wanted.seen)
                        if not is_seen(depth + 1, target, row + 1, rules, seen):
                            break
                elif answer != HOLDS_NOT:
                    return NO_RUN - note_failure(answer, choice, row, progress)
            choice += 1
        if choice < last:
            path[own.ROWS, depth] = row
            path[own.CHOICES, depth] = choice
            path[own.MARKS, depth] = blocked
            depth, row = depth + 1, row + 1
            state, blocked = program[choice, layout.TARGET], 0
            choice = rules.first[state]
            continue
        if depth == 0:
            return NO_RUN
        if row < end and blocked == 0 and rules.waits[state] >= 0:
            row, state = row + 1, rules.waits[state]
            choice = rules.first[state]
            continue
        depth -= 1
        row, choice = path[own.ROWS, depth], path[own.CHOICES, depth]
        blocked = path[own.MARKS, depth]
        if not remember(choice, row, rules, work):
            return NO_RUN - layout.MEMO_FULL
        state, choice = program[choice, layout.SOURCE], choice + 1
