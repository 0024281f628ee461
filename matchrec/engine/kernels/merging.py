"""Runs in the same state whose live registers are equal have the same future: one goes on.

The more preferred run comes first and stays. Where no register is live, the state alone decides.

Source: SASE+, "Merging equivalent runs".
"""

from matchrec.engine.kernels.layout import RUN_STATE
from matchrec.engine.partitions import IntArray
from matchrec.evaluate.arithmetic import wrapped_product
from matchrec.evaluate.jit import inlined

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
    """The run before `run` in the bank that is its equal, or NONE; then `run` is noted.

    place: of the registers of run 0 of the bank. live: live_first[s] .. live_first[s + 1] are the
    live registers of state s. table: int64[t, 2], t a power of two, a hash table with open
    addressing of runs; an entry counts if its first column is `stamp`.
    """
    state = runs[bank, run, RUN_STATE]
    begin, end = live_first[state], live_first[state + 1]
    code = state
    for index in range(begin, end):
        code = wrapped_product(code ^ registers[place + run, live[index]], 0x2545F4914F6CDD1D)
        code ^= code >> 29
    slot = code & (table.shape[0] - 1)
    while table[slot, 0] == stamp:
        other = table[slot, 1]
        if runs[bank, other, RUN_STATE] == state:
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
