"""Runs in the same state whose live registers are equal have the same future: one stands for both.

Source: SASE+, "Merging equivalent runs".
"""

from matchrec.engine.kernels.layout import RunArray
from matchrec.engine.kernels.selection.layout import RUN_START, RUN_STATE
from matchrec.engine.partitions import IntArray
from matchrec.evaluate.arithmetic import wrapped_product
from matchrec.evaluate.jit import inner

NONE = -1


@inner
def find_twin(
    runs: IntArray,
    bank: int,
    run: int,
    same_start: bool,
    registers: RunArray,
    live_first: RunArray,
    live: RunArray,
    table: IntArray,
    stamp: int,
) -> int:
    """The run before `run` in the bank that is its equal, or NONE; then `run` is noted.

    same_start: whether the start must be equal too. table: int64[t, 2], t a power of two, a hash
    table with open addressing of runs; an entry counts if its first column is `stamp`.
    """
    state = runs[bank, run, RUN_STATE]
    code = state
    if same_start:
        code = wrapped_product(code ^ runs[bank, run, RUN_START], 0x2545F4914F6CDD1D)
        code ^= code >> 29
    begin, end, place = 0, 0, bank * runs.shape[1]
    if registers is not None:
        begin, end = live_first[state], live_first[state + 1]
        for index in range(begin, end):
            code = wrapped_product(code ^ registers[place + run, live[index]], 0x2545F4914F6CDD1D)
            code ^= code >> 29
    slot = code & (table.shape[0] - 1)
    while table[slot, 0] == stamp:
        other = table[slot, 1]
        if runs[bank, other, RUN_STATE] == state and not (
            same_start and runs[bank, other, RUN_START] != runs[bank, run, RUN_START]
        ):
            index = begin
            if registers is not None:
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
