"""The nearest run from each row of the path on, and those that are remembered with failures.

ends[d]    the nearest run from d rows after the starting row on: what a match would still need,
           the row after its last one, the choice of its last row, NONE where it has no more
trails[d]  the occurrences that its rows took, as bits
"""

import numpy as np

from matchrec.engine.contiguous.kernels import coverage_layout as own
from matchrec.engine.contiguous.kernels.coverage_layout import CoverageWork
from matchrec.jit.decorators import inlined

NONE = -1


@inlined
def begin(depth: int, state: int, row: int, work: CoverageWork) -> None:
    """The nearest run from a state and row on, before any choice is tried: it ends here."""
    work.ends[depth, own.END_REMAINING] = work.remaining[state]
    work.ends[depth, own.END_ROW] = row
    work.ends[depth, own.END_CHOICE] = NONE
    for word in range(work.trails.shape[1]):
        work.trails[depth, word] = 0


@inlined
def is_nearer(depth: int, remaining: int, row: int, work: CoverageWork) -> bool:
    """Whether a run is nearer than the nearest one from `depth` on so far."""
    known = work.ends[depth, own.END_REMAINING]
    return bool(remaining < known or (remaining == known and row > work.ends[depth, own.END_ROW]))


@inlined
def take(depth: int, choice: int, end: int, row: int, work: CoverageWork) -> None:
    """Make the run whose first row `choice` maps the nearest one; its trail has the other rows."""
    last = choice if end == NONE else end
    work.ends[depth, own.END_REMAINING] = work.remaining[work.targets[last]]
    work.ends[depth, own.END_ROW] = row
    work.ends[depth, own.END_CHOICE] = last
    taken = work.taken[choice]
    work.trails[depth, taken >> 6] |= np.int64(1) << (taken & 63)


@inlined
def go_back(depth: int, choice: int, work: CoverageWork) -> None:
    """Compare the nearest run from the next row on with that from `depth` on."""
    after = depth + 1
    end, row = work.ends[after, own.END_CHOICE], work.ends[after, own.END_ROW]
    if is_nearer(depth, work.ends[after, own.END_REMAINING], row, work):
        for word in range(work.trails.shape[1]):
            work.trails[depth, word] = work.trails[after, word]
        take(depth, choice, end, row, work)


@inlined
def recall(depth: int, choice: int, bit: int, row: int, work: CoverageWork) -> None:
    """As `go_back`, where the nearest run from the state and row on is remembered."""
    found = work.nearest[row & (work.nearest.shape[0] - 1), bit]
    end = found[own.NEAREST_CHOICE]
    last = choice if end == NONE else end
    if is_nearer(depth, work.remaining[work.targets[last]], found[own.NEAREST_ROW], work):
        for word in range(work.trails.shape[1]):
            work.trails[depth, word] = found[own.NEAREST_TRAIL + word]
        take(depth, choice, end, found[own.NEAREST_ROW], work)


@inlined
def remember_nearest(depth: int, bit: int, row: int, work: CoverageWork) -> None:
    """Remember the nearest run beside the failure of a state and row."""
    found = work.nearest[row & (work.nearest.shape[0] - 1), bit]
    found[own.NEAREST_CHOICE] = work.ends[depth, own.END_CHOICE]
    found[own.NEAREST_ROW] = work.ends[depth, own.END_ROW]
    for word in range(work.trails.shape[1]):
        found[own.NEAREST_TRAIL + word] = work.trails[depth, word]
