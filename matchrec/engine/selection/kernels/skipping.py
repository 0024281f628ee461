"""After-match skip strategies over the matches of a partition, in the order of their first rows.

A match comes out if none that came out before has put the bar behind its first row, and puts the
bar itself. It is held back while a run is alive that began earlier; that matters to runs whose
window ends meanwhile, which come out if the bar is not behind their first row by then.

Source: Flink CEP, "After Match Skip Strategy".
"""

from typing import NamedTuple

from matchrec.engine.kernels.next_start import NO_ROW
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.jit.decorators import kernel


class Ranked(NamedTuple):
    """Matches of some partitions, by first row, then in the order of completion.

    groups: int64[g + 1], partition g has matches groups[g] .. groups[g + 1] - 1. lowers: int64[g],
    its first row. target: int64[m], the first row that a match leaves to others.
    """

    groups: IntArray
    lowers: IntArray
    start: IntArray
    completed: IntArray
    target: IntArray


@kernel
def come_out(
    ranked: Ranked,
    throws: bool,
    kept: BoolArray,
    bars: IntArray,
    times: IntArray,
    alive: IntArray,
) -> int:
    """Mark in `kept` which matches come out; the first one that misses its target, or -1.

    bars: the bar when a match has come out; times: the row at which it does. alive: int64[n or 0],
    for each row the last at which a run is alive that began there, if times matter.
    """
    groups, start, target = ranked.groups, ranked.start, ranked.target
    for group in range(groups.shape[0] - 1):
        bar, time, former = -1, -1, ranked.lowers[group]
        for match in range(groups[group], groups[group + 1]):
            first = start[match]
            if first < bar:
                bars[match], times[match] = bar, time
                continue
            if throws and (target[match] == NO_ROW or target[match] == first):
                return match
            kept[match] = True
            time = max(time, ranked.completed[match])
            if alive.shape[0] > 0:
                for row in range(max(former, bar), first):
                    time = max(time, alive[row])
            former = first
            bar = max(bar, target[match])
            bars[match], times[match] = bar, time
    return -1
