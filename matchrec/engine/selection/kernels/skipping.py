"""After-match skip strategies over the matches of a partition, in the order of their first rows.

A match is kept if it does not begin before the start bound, the next start of the matches kept
before it; then it moves the bound to its own next start. It is released when no run is live that
began before it. That matters to runs whose window ends meanwhile: they are kept if they do not
begin before the bound of that time.

Source: Flink CEP, "After Match Skip Strategy".
"""

from typing import NamedTuple

from matchrec.engine.kernels.next_start import NO_ROW
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.jit.decorators import kernel


class Ranked(NamedTuple):
    """Matches of some partitions, by first row, then in the order of completion.

    groups: int64[g + 1], partition g has matches groups[g] .. groups[g + 1] - 1. lowers: int64[g],
    its first row. target: int64[m], the next start of each match, or NO_ROW.
    """

    groups: IntArray
    lowers: IntArray
    start: IntArray
    completed: IntArray
    target: IntArray


@kernel
def mark_kept(
    ranked: Ranked, fails_on_miss: bool, kept: BoolArray, bounds: IntArray, last_live: IntArray
) -> int:
    """Mark in `kept` which matches are kept; the first one that misses its target, or -1.

    bounds: int64[m, 2], the row at which a match is released, and the start bound from then on.
    last_live: int64[n or 0], for each row the last at which a run is live that began there, if it
    matters when matches are released.
    """
    groups, start, target = ranked.groups, ranked.start, ranked.target
    for group in range(groups.shape[0] - 1):
        bound, time, former = -1, -1, ranked.lowers[group]
        for match in range(groups[group], groups[group + 1]):
            first = start[match]
            if first >= bound:
                if fails_on_miss and (target[match] == NO_ROW or target[match] == first):
                    return match
                kept[match] = True
                time = max(time, ranked.completed[match])
                if last_live.shape[0] > 0:
                    for row in range(max(former, bound), first):
                        time = max(time, last_live[row])
                former = first
                bound = max(bound, target[match])
            bounds[match, 0] = time
            bounds[match, 1] = bound
    return -1
