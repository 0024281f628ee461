"""Runs in the same state whose live registers are equal have the same future: one goes on.

The more preferred run comes first and stays. Where no register is live, the state alone decides.

Source: SASE+, "Merging equivalent runs".
"""

from typing import NamedTuple

import numpy as np

from matchrec.engine.contiguous.kernels.starts import end_of_window
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import RunArray
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import layout as own
from matchrec.evaluate.kernels.wrapping import wrapped_product
from matchrec.jit.decorators import spliced

Rules = layout.Rules | own.Rules
Work = layout.RunsWork | own.Work

NONE = -1


class Merging(NamedTuple):
    """What tells runs apart.

    live_first, live: live_first[s] .. live_first[s + 1] are the live registers of state s. table:
    int64[t, 2], t a power of two, a hash table with open addressing of runs; an entry counts if its
    first column is the stamp.
    """

    runs: IntArray
    registers: RunArray
    table: RunArray
    live_first: RunArray
    live: RunArray


@spliced
def merging_of(rules: Rules, work: Work) -> Merging:
    """What of the records tells runs apart."""
    return Merging(work.runs, work.registers, work.table, rules.live_first, rules.live)


@spliced
def find_twin(
    bank: int, run: int, state: int, merging: Merging, stamp: int, window_end: RunArray
) -> int:
    """The run before `run` in the bank that is its equal, or NONE; then `run` is noted.

    state: of the run. window_end: only runs whose windows end together are equal; empty where there
    are no windows, None whatever the windows.
    """
    runs, registers, table, live = merging.runs, merging.registers, merging.table, merging.live
    place = bank * runs.shape[1]  # of the registers of run 0
    begin, end = merging.live_first[state], merging.live_first[state + 1]
    code = state
    window = np.int64(0)
    if window_end is not None:
        window = end_of_window(window_end, runs[bank, run, layout.RUN_START], window)
        code = wrapped_product(code ^ window, 0x2545F4914F6CDD1D)
    for index in range(begin, end):
        code = wrapped_product(code ^ registers[place + run, live[index]], 0x2545F4914F6CDD1D)
        code ^= code >> 29
    slot = code & (table.shape[0] - 1)
    while table[slot, 0] == stamp:
        other = table[slot, 1]
        same = runs[bank, other, layout.RUN_STATE] == state
        if window_end is not None:
            start = runs[bank, other, layout.RUN_START]
            same &= end_of_window(window_end, start, np.int64(0)) == window
        if same:
            for index in range(begin, end):
                if registers[place + run, live[index]] != registers[place + other, live[index]]:
                    break
            else:
                return int(other)
        slot = (slot + 1) & (table.shape[0] - 1)
    table[slot, 0] = stamp
    table[slot, 1] = run
    return NONE
