"""Runs in the same state whose live registers are equal have the same future: one goes on.

The more preferred run comes first and stays. Where no register is live, the state alone decides.

Source: SASE+, "Merging equivalent runs".
"""

import numpy as np

from matchrec.engine.kernels.layout import RUN_START, RUN_STATE, RunArray
from matchrec.engine.kernels.starts import end_of_window
from matchrec.engine.partitions import IntArray
from matchrec.evaluate.arithmetic import wrapped_product
from matchrec.jit.decorators import inlined

NONE = -1


@inlined
def find_twin(
    runs: IntArray,
    bank: int,
    run: int,
    registers: IntArray,
    place: int,
    live_first: IntArray,
    live: IntArray,
    table: IntArray,
    stamp: int,
) -> int:
    """As `find_twin_in_window`, whatever the windows."""
    return find_twin_in_window(
        runs, bank, run, registers, place, live_first, live, table, stamp, None
    )


@inlined
def find_twin_in_window(
    runs: IntArray,
    bank: int,
    run: int,
    registers: IntArray,
    place: int,
    live_first: IntArray,
    live: IntArray,
    table: IntArray,
    stamp: int,
    window_end: RunArray,
) -> int:
    """The run before `run` in the bank that is its equal, or NONE; then `run` is noted.

    place: of the registers of run 0 of the bank. live: live_first[s] .. live_first[s + 1] are the
    live registers of state s. table: int64[t, 2], t a power of two, a hash table with open
    addressing of runs; an entry counts if its first column is `stamp`. window_end: only runs whose
    windows end together are equal; None or empty where there are no windows.
    """
    state = runs[bank, run, RUN_STATE]
    begin, end = live_first[state], live_first[state + 1]
    code = state
    window = np.int64(0)
    if window_end is not None:
        window = end_of_window(window_end, runs[bank, run, RUN_START], 0)
        code = wrapped_product(code ^ window, 0x2545F4914F6CDD1D)
    for index in range(begin, end):
        code = wrapped_product(code ^ registers[place + run, live[index]], 0x2545F4914F6CDD1D)
        code ^= code >> 29
    slot = code & (table.shape[0] - 1)
    while table[slot, 0] == stamp:
        other = table[slot, 1]
        same = runs[bank, other, RUN_STATE] == state
        if window_end is not None:
            same &= end_of_window(window_end, runs[bank, other, RUN_START], 0) == window
        if same:
            index = begin
            while index < end and (
                registers[place + run, live[index]] == registers[place + other, live[index]]
            ):
                index += 1
            if index == end:
                return int(other)
        slot = (slot + 1) & (table.shape[0] - 1)
    table[slot, 0] = stamp
    table[slot, 1] = run
    return NONE
