"""What the kernel of `coverage` works in, and the columns and indices of its arrays."""

from typing import NamedTuple

from matchrec.engine.kernels.layout import ByteArray, ChoiceArray, RunArray
from matchrec.engine.partitions import IntArray


class CoverageWork(NamedTuple):
    """What a search works in that tells how far starting rows came.

    The first five are those of `PathWork`. ends: int64[p + 1, 3] and trails: int64[p + 1, t], by
    rows after the starting row. nearest: int64[r, b, 2 + t], beside the failures of `memo`.
    remaining: int64[s], how many rows a match needs from a state at least. nearer_first:
    int64[s + 1], the choices by which it would need fewer are entries of `nearer`. taken, targets:
    int64[c], of each choice its occurrence in PATTERN and its target. parts_first: int64[v + 1],
    the parts of a variable's condition are rows of `parts`, int64[k, 3]. seen: see
    `engine.kernels.seen`; None where no condition depends on the run.

    Counts: came: int64[o], starting rows by occurrence. ended: int64[c + 1, 5], by choice, then
    reason. parts_false: int64[o + 1, k], by occurrence. In the last two the first entry is that of
    starting rows without any row. best: int64[2], the nearest run of all that began no match.
    """

    progress: IntArray
    path: ChoiceArray
    memo: ByteArray
    registers: RunArray
    stack: RunArray
    ends: IntArray
    trails: IntArray
    nearest: IntArray
    remaining: IntArray
    nearer_first: IntArray
    nearer: IntArray
    taken: IntArray
    targets: IntArray
    parts_first: IntArray
    parts: IntArray
    came: IntArray
    ended: IntArray
    parts_false: IntArray
    best: IntArray
    seen: RunArray


# Columns of `ends`.
END_REMAINING = 0
END_ROW = 1
END_CHOICE = 2
END_SIZE = 3

# Columns of `nearest`; the last ones are a trail.
NEAREST_CHOICE = 0
NEAREST_ROW = 1
NEAREST_TRAIL = 2

# Why a run ended, columns of `ended`: no condition that would have brought it nearer to a match was
# true; there was no further row; or none in its window; or only an anchor could have held.
FALSE = 0
NO_ROW = 1
OUT_OF_WINDOW = 2
ANCHORED = 3
FORBIDDEN = 4  # where rows may be skipped: something was there that must not be
REASONS = 5

# Columns of `parts`: as in `program`, mask 0 is what depends on the run; for which starting row it
# was counted last, as two choices of a state may be of one variable.
PART_WORD = 0
PART_MASK = 1
PART_START = 2
PART_SIZE = 3

# Indices of `best`.
BEST_REMAINING = 0
BEST_START = 1
BEST_SIZE = 2
