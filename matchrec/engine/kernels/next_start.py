"""Where the search goes on after a match, by two numbers that say what a skip strategy is.

The search goes on `past` rows after the first or the last target. A target is a row of the match:
any row, or where the strategy names a variable one that is mapped to it.

    strategy         backwards  past  targets
    TO NEXT ROW      False      1     all rows
    PAST LAST ROW    True       1     all rows
    TO FIRST v       False      0     rows mapped to v
    TO LAST v        True       0     rows mapped to v

A strategy of this form needs nothing here. Any other one is a branch of `next_start`, and of
`distance_to_next_start`, which says the same row by row for matches that share their rows.

Source: ISO/IEC 19075-5, AFTER MATCH SKIP; Flink CEP, "After Match Skip Strategy".
"""

from typing import Any

from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import SkipRule
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.jit.decorators import inlined, kernel, spliced

NO_ROW = -1  # where the search goes on if the match has no target


@spliced
def next_start(
    skip: SkipRule, is_target: Any, mapped: Any, start: int, rows: IntArray | None
) -> int:
    """The row from which the search goes on after a match, NO_ROW where the match has no target.

    mapped: int[k], the choice or the variable by which each row is mapped. is_target: bool or int
    array, whether rows mapped by each of these are targets. start: the match's starting row. rows:
    int64[k], positions of the rows, None where they follow the starting row without a gap.
    """
    length = mapped.shape[0]
    if length == 0:
        return start + 1
    index = length - 1 if skip.backwards else 0
    step = -1 if skip.backwards else 1
    while 0 <= index < length and not is_target[mapped[index]]:
        index += step
    if index < 0 or index == length:
        return NO_ROW
    row = start + index if rows is None else rows[index]
    return int(row + skip.past)


@inlined
def distance_to_next_start(skip: SkipRule, is_target: bool, rest: int) -> int:
    """How many rows after a row of a match the search goes on, if from `rest` rows after the next.

    NO_ROW where neither the row nor those after it are targets.
    """
    if is_target and (rest == NO_ROW or not skip.backwards):
        return skip.past
    return rest if rest == NO_ROW else rest + 1


@spliced
def go_on_from(row: int, start: int, progress: IntArray) -> int:
    """Set the next starting row after the match that starts at `start`: DONE or a failure."""
    if row > start:
        progress[layout.START] = row
        return layout.DONE
    progress[layout.ROW] = start
    return layout.SKIP_TO_NO_ROW if row == NO_ROW else layout.SKIP_TO_FIRST_ROW


@kernel
def next_starts(
    skip: SkipRule,
    is_target: BoolArray,
    start: IntArray,
    offsets: IntArray,
    mapped: Any,
    rows: Any,
    found: IntArray,
) -> None:
    """Fill `found` with the `next_start` of each match; arrays as in `matches.Matches`."""
    for match in range(start.shape[0]):
        begin, end = offsets[match], offsets[match + 1]
        own = None if rows is None else rows[begin:end]
        found[match] = next_start(skip, is_target, mapped[begin:end], start[match], own)
