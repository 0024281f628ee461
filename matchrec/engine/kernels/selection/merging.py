"""Runs in the same state whose live registers are equal have the same future: one stands for both.

Source: SASE+, "Merging equivalent runs".
"""

from matchrec.engine.kernels.layout import STAMP
from matchrec.engine.kernels.selection.layout import RUN_STATE, Rules, Work
from matchrec.evaluate.arithmetic import wrapped_product
from matchrec.evaluate.jit import inlined

NONE = -1


@inlined
def find_twin(bank: int, run: int, rules: Rules, work: Work) -> int:
    """The run before `run` in the bank that is its equal, or NONE; then `run` is noted.

    The table has open addressing; an entry counts if its first column is this row's stamp.
    """
    runs, registers, live = work.runs, work.registers, rules.live
    table, stamp = work.table, work.progress[STAMP]
    state = runs[bank, run, RUN_STATE]
    begin, end, place = rules.live_first[state], rules.live_first[state + 1], bank * runs.shape[1]
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
